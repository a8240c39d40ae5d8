"""Write the recipes of a release: what pyproject.toml knows, and the address and hash of the source archive."""

from __future__ import annotations

import argparse
import hashlib
import random
import re
import tarfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECIPES = ("bioconda", "galaxy", "snakemake", "nf-core", "Dockerfile")
_PLACE = re.compile(r"@([a-z_0-9]+)@")
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*([^;\[]*)")


def facts(sdist: Path, url: str, home: str, maintainer: str) -> dict[str, str]:
    """Return what the recipes have places for."""
    with tarfile.open(sdist) as archive:
        folder = sdist.name.removesuffix(".tar.gz")
        file = archive.extractfile(f"{folder}/pyproject.toml")
        if file is None:
            raise SystemExit(f"{sdist} holds no pyproject.toml.")
        project = tomllib.loads(file.read().decode("utf-8"))["project"]
    needed = [_REQUIREMENT.match(each) for each in project["dependencies"]]
    conda = sorted(f"    - {found[1].lower()} {found[2].strip()}".rstrip() for found in needed if found)
    return {
        "name": project["name"],
        "version": folder.removeprefix(f"{project['name']}-"),
        "summary": project["description"],
        "licence": project["license"],
        "python": project["requires-python"],
        "conda_dependencies": "\n".join(conda),
        "url": url,
        "sha256": hashlib.sha256(sdist.read_bytes()).hexdigest(),
        "home": home,
        "maintainer": maintainer,
    }


def fill(known: dict[str, str], out: Path) -> list[Path]:
    """Write every recipe with its places filled; return the files."""
    written = []
    for recipe in RECIPES:
        source = HERE / recipe
        for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
            if not path.is_file():
                continue
            target = out / path.relative_to(HERE)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding="utf-8")
            target.write_text(_PLACE.sub(lambda found: known[found[1]], text), encoding="utf-8", newline="\n")
            written.append(target)
    return written


def write_test_data(out: Path) -> None:
    """Write the made tables that tests of the recipes read: 24 samples x 40 features, 4 of them markers."""
    rng = random.Random(1)
    classes = ["control", "case"] * 12
    rows = [[rng.gauss(8.0 + 3.0 * (j < 4 and label == "case"), 1.0) for j in range(40)] for label in classes]
    genes = [f"gene{j}" for j in range(40)]
    table = [["sample", "class", *genes]]
    table += [[f"S{i}", classes[i], *(f"{x:.3f}" for x in row)] for i, row in enumerate(rows)]
    matrix = [["gene_id", *(f"S{i}" for i in range(24))]]
    matrix += [[gene, *(f"{row[j]:.3f}" for row in rows)] for j, gene in enumerate(genes)]
    sheet = [["sample", "condition", "batch"], *([f"S{i}", classes[i], "AB"[i // 12]] for i in range(24))]
    contrasts = [
        ["id", "variable", "reference", "target", "blocking"],
        ["plain", "condition", "control", "case", ""],
        ["blocked", "condition", "control", "case", "batch"],
    ]
    for name, lines, mark in (
        ("galaxy/test-data/table.csv", table, ","),
        ("snakemake/test/table.csv", table, ","),
        ("nf-core/tests/matrix.tsv", matrix, "\t"),
        ("nf-core/tests/samplesheet.csv", sheet, ","),
        ("nf-core/tests/contrasts.csv", contrasts, ","),
    ):
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(mark.join(line) + "\n" for line in lines), encoding="utf-8", newline="\n")


def main() -> None:
    """Read the command line."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sdist", type=Path, required=True)
    asked.add_argument("--url", required=True, help="where the source archive can be fetched")
    asked.add_argument("--home", help="page of the project; the address of the archive if not given")
    asked.add_argument("--maintainer", default="bayesieve-developers")
    asked.add_argument("--out", type=Path, required=True)
    given = asked.parse_args()
    known = facts(given.sdist, given.url, given.home or given.url, given.maintainer)
    print("\n".join(map(str, fill(known, given.out))))
    write_test_data(given.out)


if __name__ == "__main__":
    main()
