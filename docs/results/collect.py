"""Copy what the commands of this folder's page wrote: figures as PNG, means as CSV, the summary as Markdown.

Run by hand: ``python docs/results/collect.py RUNS``, where RUNS holds the folders ``figure-1b``, ``figure-1a`` and
so on; those that are not there keep their old files. Tables in README.md are written anew; its words are not.
"""

from __future__ import annotations

import csv
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIZES = {"figure-1b": (100, 200, 300, 500, 1000, 2000, 3000, 5000), "figure-1a": (50, 100, 200, 500, 1000)}
STUDIES = ("figure-1b", "figure-1a", "table-1", "calibration", "sensitivity", "stopping", "trust", "correlations")
LISTS = {"calibrated-mnc": "calibrated", "jp-mnc": "JP", "limma": "moderated t, BH"}


def main() -> None:
    runs = Path(sys.argv[1])
    for name in STUDIES:
        folder = runs / name
        if not (folder / "summary.md").is_file():
            print(f"{name}: nothing in {folder}")
            continue
        for picture in sorted(folder.glob(f"{name}*.png")):
            shutil.copyfile(picture, HERE / picture.name)
        shutil.copyfile(folder / "results.csv", HERE / f"{name}.csv")
        text = (folder / "summary.md").read_text(encoding="utf-8").replace("results.csv", f"{name}.csv")
        (HERE / f"{name}.md").write_text(text, encoding="utf-8")
        print(f"{name}: collected")
    page = HERE / "README.md"
    page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


def with_tables(page: str) -> str:
    """The page with the tables between its comments taken from the CSV files."""
    for name, sizes in SIZES.items():
        if (HERE / f"{name}.csv").is_file():
            begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
            written = f"{begin}{table(name, sizes)}{end}"
            page = re.sub(f"{begin}.*?{end}", written.replace("\\", r"\\"), page, flags=re.DOTALL)
    if (HERE / "trust.csv").is_file():
        begin, end = "<!-- trust -->\n", "<!-- end of trust -->"
        page = re.sub(f"{begin}.*?{end}", f"{begin}{trust_table()}{end}", page, flags=re.DOTALL)
    return page


def trust_table() -> str:
    """Claimed and true false positives where markers differ in both, by shape and size."""
    with (HERE / "trust.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            row for row in csv.DictReader(file) if row["scenario"].endswith("-both") or row["scenario"] == "paper"
        ]
    sizes = sorted({int(row["n"]) for row in rows})
    cells = {
        (row["scenario"], int(row["n"]), row["method"]): f"{float(row['claimed_false_positives']):.1f} / "
        f"{float(row['false_positives']):.1f}"
        for row in rows
    }
    heads = [f"{title}, {n // 2} + {n // 2}" for n in sizes for title in LISTS.values()]
    lines = [["noise", *heads], ["---", *["--:"] * len(heads)]]
    for name in dict.fromkeys(row["scenario"] for row in rows):
        values = (cells.get((name, n, method), "") for n in sizes for method in LISTS)
        lines.append([name.removesuffix("-both"), *values])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def table(name: str, sizes: tuple[int, ...]) -> str:
    """Means of right labels and their standard errors at some numbers of samples."""
    with (HERE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    titles = list(dict.fromkeys(row["title"] for row in rows))
    cells = {
        (row["title"], int(row["n"])): f"{float(row['correct']):,.1f} ({float(row['correct_standard_error']):.2f})"
        for row in rows
    }
    lines = [["n", *titles], ["--:"] * (len(titles) + 1)]
    lines += [[f"{n:,}", *(cells.get((title, n), "") for title in titles)] for n in sizes]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    main()
