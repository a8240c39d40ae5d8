"""Build twice and compare; install the wheel into a new environment, use it there, and uninstall it."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCREEN = ("screen", "practice.csv", "--labels", "class", "-p", "0.005", "--shuffles", "10")
STUDY = ("study", "figure-1b", "--iterations", "2", "--sizes", "20", "--methods", "mnc-obf-jp")


def build(source: Path, out: Path) -> dict[str, bytes]:
    """Build wheel and source archive from a copy of the tree; return the files by name."""
    copy = out / "tree"
    ignored = shutil.ignore_patterns(".git", "__pycache__", ".*_cache", ".hypothesis", "dist", "build", "*.nb[ic]")
    shutil.copytree(source, copy, ignore=ignored)
    run(sys.executable, "-m", "build", "--outdir", out / "dist", copy)
    return {path.name: path.read_bytes() for path in sorted((out / "dist").iterdir())}


def run(*command: str | Path, folder: Path | None = None, **variables: str) -> str:
    """Run a command that must succeed, and return what it printed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env={**kept, **variables}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def check_contents(wheel: Path) -> None:
    """A wheel holds the package, its licence and its types, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    stray = [name for name in names if not name.startswith(("bayesieve/", "bayesieve-"))]
    wanted = ("licenses/LICENSE", "bayesieve/py.typed", "bayesieve/__init__.pyi")
    lacking = [each for each in wanted if not any(name.endswith(each) for name in names)]
    if stray or lacking:
        raise SystemExit(f"The wheel holds {stray} besides the package, and lacks {lacking}.")


def use(wheel: Path, folder: Path) -> None:
    """Install, run demo, screen, report and study, and uninstall."""
    place = folder / "environment"
    venv.create(place, with_pip=True)
    scripts = place / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    work, cache = folder / "work", folder / "cache"
    work.mkdir()
    cache.mkdir()
    run(python, "-m", "pip", "install", "--quiet", wheel)
    command = scripts / "bayesieve"
    before = files(place)

    def bayesieve(*words: str) -> None:
        run(command, *words, folder=work, XDG_CACHE_HOME=str(cache), LOCALAPPDATA=str(cache))

    bayesieve("demo", "--write-data", "practice.csv")
    bayesieve(*SCREEN, "--out", "ranked.csv", "--report", "page.html")
    bayesieve("report", "ranked.csv", "--out", "again.html")
    bayesieve(*STUDY, "--out", "study")
    made = sorted(path.name for path in work.iterdir())
    for name in ("practice.csv", "ranked.csv", "page.html", "again.html", "study"):
        if name not in made:
            raise SystemExit(f"{name} was not written; there are {made}.")
    left_by_use = {path for path in files(place) - before if "__pycache__" not in path.parts}
    run(python, "-m", "pip", "uninstall", "--yes", "--quiet", "bayesieve")
    left = [path for path in files(place) if "bayesieve" in str(path.relative_to(place)).lower()]
    if left or left_by_use:
        raise SystemExit(f"Left behind: {left or sorted(left_by_use)}.")
    found = subprocess.run([python, "-c", "import bayesieve"], capture_output=True, cwd=work, check=False)
    if found.returncode == 0:
        raise SystemExit("bayesieve can be imported after it was uninstalled.")


def files(place: Path) -> set[Path]:
    """All files below a folder."""
    return {path for path in place.rglob("*") if path.is_file()}


def main() -> None:
    """Build, compare, check and use."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--keep", type=Path, help="folder for wheel and source archive")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        first, second = (build(ROOT, folder / each) for each in ("first", "second"))
        if first != second:
            different = [each for each in first if first[each] != second.get(each)]
            raise SystemExit(f"Two builds differ: {different}.")
        run(sys.executable, "-m", "twine", "check", "--strict", *sorted((folder / "first" / "dist").iterdir()))
        wheel = next((folder / "first" / "dist").glob("*.whl"))
        check_contents(wheel)
        use(wheel, folder)
        for each, data in first.items():
            print(f"{hashlib.sha256(data).hexdigest()}  {each}  {len(data) / 1e6:.2f} MB")
        if given.keep:
            shutil.copytree(folder / "first" / "dist", given.keep, dirs_exist_ok=True)


if __name__ == "__main__":
    main()
