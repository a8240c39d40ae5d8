"""Write the recipes of a release: what pyproject.toml knows, and the address and hash of the source archive."""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tarfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECIPES = ("bioconda", "galaxy", "snakemake", "nf-core", "Dockerfile")
_PLACE = re.compile(r"@([a-z_]+)@")
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
    print("\n".join(map(str, fill(known, given.out))), file=sys.stdout)


if __name__ == "__main__":
    main()
