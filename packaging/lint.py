"""Fill the recipes with the facts of a build; run the linters that are installed on them and on the workflows."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

import yaml
from fill import facts, fill, write_test_data

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ("check-jsonschema", "--builtin-schema")


def linters(recipes: Path) -> list[tuple[str, ...]]:
    """Commands: the program, and what it looks at."""
    workflows = sorted(map(str, (ROOT / ".github" / "workflows").glob("*.yml")))
    return [
        (*SCHEMA, "vendor.github-workflows", *workflows),
        ("actionlint", *workflows),
        ("hadolint", str(recipes / "Dockerfile")),
        ("snakefmt", "--check", str(recipes / "snakemake" / "test" / "Snakefile")),
        ("planemo", "lint", "--fail_level", "error", str(recipes / "galaxy" / "bayesieve_screen.xml")),
    ]


def check_conda(recipe: Path) -> None:
    """Read the conda recipe as conda does after its template: fields in their place, nothing left to fill."""
    lines = [line for line in recipe.read_text(encoding="utf-8").splitlines() if not line.startswith("{%")]
    found = yaml.safe_load("\n".join(lines).replace("{{", "").replace("}}", ""))
    for part in ("package", "source", "build", "requirements", "test", "about", "extra"):
        if part not in found:
            raise SystemExit(f"{recipe}: no {part}.")
    if "@" in recipe.read_text(encoding="utf-8"):
        raise SystemExit(f"{recipe}: a place was not filled.")


def main() -> None:
    """Fill and lint."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sdist", type=Path, required=True)
    asked.add_argument("--all", action="store_true", help="a linter that is missing is an error")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        recipes = Path(folder)
        fill(
            facts(given.sdist, f"https://example.org/{given.sdist.name}", "https://example.org", "maintainer"),
            recipes,
        )
        write_test_data(recipes)
        check_conda(recipes / "bioconda" / "meta.yaml")
        for command in linters(recipes):
            if shutil.which(command[0]) is None:
                print(f"{command[0]}: not installed")
                if given.all:
                    raise SystemExit(1)
                continue
            done = subprocess.run(command, check=False)
            print(f"{command[0]}: {'passed' if done.returncode == 0 else 'FAILED'}")
            if done.returncode:
                raise SystemExit(1)


if __name__ == "__main__":
    main()
