"""How the figures of a study look: colours that everybody can tell apart, lines, type, and files without dates."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesieve.errors import FileError, MissingExtraError, OptionError
from bayesieve.utils import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bayesieve.study.design import Method


WIDTH = 6.5
"""Width of a figure in inches: that of a printed page, so that type keeps its size."""

FORMATS = ("svg", "png", "pdf")

_COLOURS = (BLUE, VERMILION, GREEN, BLACK, ORANGE, PURPLE, SKY, GREY, "#882255", "#999933", "#332288")
_OF_SCORES = {
    "obf-jp": BLUE, "obf-pp": VERMILION, "bd": GREEN, "welch": BLACK, "limma": ORANGE,
    "pearson-neyman": PURPLE, "mi": SKY, "nmc": GREY, "wilcoxon": "#882255",
}  # fmt: skip
_SOLID = (0, ())
_DASHES: tuple[Any, ...] = (
    (0, (4, 1.5)), (0, (6, 1.5, 1, 1.5)), (0, (1, 1)), (0, (2.5, 1)), (0, (6, 1.5, 1, 1.5, 1, 1.5)), (0, (8, 2)),
)  # fmt: skip
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")
_DPI = 120
_STYLE: Any = {
    "text.parse_math": False,  # titles are plain text, dollars and all
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.titlesize": 9.0,
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.8,
    "svg.hashsalt": "bayesieve",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}


@dataclass(frozen=True, slots=True)
class Look:
    """Colour, line and marker of a method; two methods share at most one of them."""

    colour: str
    line: Any
    marker: str


def looks(methods: Sequence[Method]) -> dict[str, Look]:
    """Give each method its look: a colour for what is scored, full lines where the number selected varies."""
    if len({method.scores for method in methods}) == 1:
        return {
            method.name: Look(_COLOURS[i % len(_COLOURS)], _SOLID, _MARKERS[i % len(_MARKERS)])
            for i, method in enumerate(methods)
        }
    found: dict[str, Look] = {}
    taken: set[tuple[str, bool]] = set()
    dashes = 0
    for i, method in enumerate(methods):
        full = method.rule != "top"
        wanted = _OF_SCORES.get(method.scores, _COLOURS[0])
        free = (each for each in (wanted, *_COLOURS) if (each, full) not in taken)
        colour = next(free, _COLOURS[i % len(_COLOURS)])
        taken.add((colour, full))
        found[method.name] = Look(
            colour, _SOLID if full else _DASHES[dashes % len(_DASHES)], _MARKERS[i % len(_MARKERS)]
        )
        dashes += not full
    return found


@contextlib.contextmanager
def drawn(width: float = WIDTH, height: float = 4.0) -> Iterator[Figure]:
    """Open an empty figure in the style of the study; matplotlib is loaded here and not before."""
    try:
        import matplotlib as mpl  # noqa: PLC0415 - optional and slow to import
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(
            'Figures need matplotlib. Install it with: pip install "bayesieve[figures]".'
        ) from error
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # every file of the figure has this one layout


def rendered(figure: Figure, form: str) -> bytes:
    """Return a figure as the bytes of a file, the same for the same figure: no date, no random name in it."""
    if form not in FORMATS:
        raise OptionError(f"Figures are written as {', '.join(FORMATS)}, not as {form!r}.")
    import matplotlib as mpl  # noqa: PLC0415 - optional and slow to import

    without = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}[form]
    target = io.BytesIO()
    with mpl.rc_context(_STYLE):
        figure.savefig(target, format=form, dpi=_DPI, metadata=without)
    return target.getvalue() if form != "png" else _in_256_colours(target)


def _in_256_colours(png: io.BytesIO) -> bytes:
    """Write a picture with a palette, which takes a third of the space and looks the same."""
    from PIL import Image  # noqa: PLC0415 - comes with matplotlib

    small = io.BytesIO()
    with Image.open(png) as image:
        image.convert("RGB").quantize(256).save(small, "PNG", optimize=True, dpi=(_DPI, _DPI))
    return small.getvalue()


def save(
    figure: Figure, folder: str | os.PathLike[str], name: str, formats: Sequence[str] = FORMATS
) -> tuple[Path, ...]:
    """Write a figure to files ``name.svg``, ``name.png`` and ``name.pdf``, each of them whole or not at all.

    Parameters
    ----------
    figure
        The figure.
    folder
        Where to; it must exist.
    name
        Name of the files, without an ending.
    formats
        Some of ``"svg"``, ``"png"``, ``"pdf"``.
    """
    paths = tuple(Path(folder) / f"{name}.{form}" for form in formats)
    for path, form in zip(paths, formats, strict=True):
        write_whole(path, rendered(figure, form))
    return paths


def write_whole(path: Path, data: bytes) -> None:
    """Write a file beside its target and then change its name: readers find the old one or the new one."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        new.write_bytes(data)
        new.replace(path)
    except OSError as error:
        reason = (error.strerror or str(error)).rstrip(".")
        raise FileError(f"Cannot write {path}: {reason}. Choose a folder that exists and has room.") from error
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
