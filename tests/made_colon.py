"""Small tables of the colon application for tests."""

from __future__ import annotations

import numpy as np


def write_series(path, stages, fields=None, n_probes=40, seed=0, key="ajcc_stage", values=None):
    """Write a series matrix by hand: a stage per sample (None for none), and further characteristics."""
    n = len(stages)
    rng = np.random.default_rng(seed)
    values = rng.normal(7.0, 1.0, size=(n_probes, n)) if values is None else values
    samples = [f"GSM{i}" for i in range(n)]

    def line(name, cells):
        return "\t".join([name, *(f'"{cell}"' for cell in cells)]) + "\n"

    with open(path, "w", encoding="utf-8") as file:
        file.write(line("!Series_title", ["by hand"]))
        file.write(line("!Sample_geo_accession", samples))
        file.write(line("!Sample_characteristics_ch1", [f"gender: {'fm'[i % 2]}" for i in range(n)]))
        told = ["" if stage is None else f"{key}: {stage}" for stage in stages]
        file.write(line("!Sample_characteristics_ch1", told))
        for name, cells in (fields or {}).items():
            file.write(line("!Sample_characteristics_ch1", ["" if c is None else f"{name}: {c}" for c in cells]))
        file.write(line("!Sample_data_processing", ["RMA of affy"] * n))
        file.write("!series_matrix_table_begin\n")
        file.write(line('"ID_REF"', samples))
        for j, row in enumerate(values):
            file.write("\t".join([f'"p{j}_at"', *(f"{value:.4f}" for value in row)]) + "\n")
        file.write("!series_matrix_table_end\n")
    return path


def write_platform(path, genes):
    """Write a platform table: the genes of p0_at, p1_at, ..."""
    lines = ["ID\tGene Symbol\n", *(f"p{j}_at\t{gene}\n" for j, gene in enumerate(genes))]
    path.write_text("".join(lines), encoding="utf-8")
    return path


STAGES = ["1"] * 10 + ["2", "3", "4"] * 8 + [None] * 3
ADENOMAS = {"adenoma type": [None] * 34 + ["Tubulovillous", "Adenoma", "Villous adenoma"]}
