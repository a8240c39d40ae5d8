"""All figures of a screen as files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bayesieve.enrichment import Enrichment, RecoveryCurve
from bayesieve.posterior import FeaturePosterior
from bayesieve.report.figures.effects import effect_map
from bayesieve.report.figures.evidence import composition, forest
from bayesieve.report.figures.features import check_drawable, feature
from bayesieve.report.figures.gene_sets import recovery, set_dots
from bayesieve.report.figures.lists import (
    expected_roc,
    false_discovery,
    false_positives,
    log_odds_by_rank,
    probabilities,
)
from bayesieve.report.figures.style import STYLE, as_selection, on_paper, places_of
from bayesieve.selection import Selection
from bayesieve.utils import (
    FORMATS,
    FileError,
    OptionError,
    load_matplotlib,
    normalise_formats,
    render,
    write_files,
)

_DPI = 300
_OF_ALL = (effect_map, log_odds_by_rank, expected_roc, false_discovery, false_positives, probabilities)


def save_all(
    found: FeaturePosterior | Selection,
    folder: str | os.PathLike[str],
    formats: Sequence[str] = FORMATS,
    features: Sequence[str | int] = (),
    sites: Any = None,
    data: Any = None,
    labels: Any = None,
) -> list[Path]:
    """Write every figure to a file of its own, none of them if one cannot be drawn.

    The same screen gives the same files, byte for byte. Text stays text in SVG files, and many points become a
    picture of 300 dots per inch.

    Parameters
    ----------
    found
        A posterior (then features that are more probably markers than not are selected) or a selection.
    folder
        Where to; made if it is not there.
    formats
        Some of ``"svg"``, ``"pdf"`` and ``"png"``.
    features
        Features, by name or number, to be drawn one by one: values and composition of the log-odds.
    sites
        What :mod:`bayesieve.screening.sites` made, for a forest plot of every feature in ``features`` that it
        holds (without ``features``: of the strongest).
    data, labels
        What was screened, for the raw values; see :func:`bayesieve.report.figures.feature`.

    Returns
    -------
    list of pathlib.Path
        The files.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.report import figures
    >>> X = np.random.default_rng(0).normal(size=(40, 50))
    >>> files = figures.save_all(bs.screen(X, [0, 1] * 20), tempfile.mkdtemp(), formats=["png"])
    >>> [path.name for path in files][:3]
    ['effect_map.png', 'log_odds_by_rank.png', 'expected_roc.png']
    """
    selection = as_selection(found)
    wanted = normalise_formats(formats)
    if not wanted:
        raise OptionError(f"Figures are written as {', '.join(FORMATS)}, and none of them was asked for.")
    mpl = load_matplotlib()
    if Path(folder).is_file():
        raise FileError(f"Cannot make the folder {folder}: it is a file. Name another one.")
    drawings = list(_drawings(selection, features, sites, data, labels))  # a wrong name is told before any work
    for place in places_of(selection.posterior, features).tolist():
        check_drawable(selection.posterior, place, data)
    contents: dict[str, bytes] = {}
    with on_paper(), mpl.rc_context(STYLE):
        for name, draw in drawings:
            figure: Any = draw().figure
            contents |= {f"{name}.{form}": render(figure, form, STYLE, dpi=_DPI) for form in wanted}
    return list(write_files(folder, contents))


def save_genes(
    folder: str | os.PathLike[str],
    curves: Sequence[RecoveryCurve] = (),
    sets: Enrichment | None = None,
    formats: Sequence[str] = FORMATS,
) -> list[Path]:
    """Write the figures of known markers and gene sets, as far as there are any."""
    drawings: dict[str, Callable[[], Any]] = {}
    if curves:
        drawings["recovery"] = lambda: recovery(curves)
    if sets is not None:
        drawings["set_dots"] = lambda: set_dots(sets)
    mpl = load_matplotlib()
    wanted = normalise_formats(formats)
    contents: dict[str, bytes] = {}
    with on_paper(), mpl.rc_context(STYLE):
        for name, draw in drawings.items():
            figure: Any = draw().figure
            contents |= {f"{name}.{form}": render(figure, form, STYLE, dpi=_DPI) for form in wanted}
    return list(write_files(folder, contents))


def _drawings(
    selection: Selection, features: Sequence[Any], sites: Any, data: Any, labels: Any
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Names of files, and what is drawn in them."""
    for draw in _OF_ALL:
        yield draw.__name__, lambda draw=draw: draw(selection)  # type: ignore[misc]
    posterior = selection.posterior
    places = places_of(posterior, features).tolist()
    names = _file_names([posterior.names[i] for i in places])
    for place, name in zip(places, names, strict=True):
        yield f"feature_{name}", lambda i=place: feature(selection, i, data, labels)  # type: ignore[misc]
        yield f"composition_{name}", lambda i=place: composition(selection, i)  # type: ignore[misc]
    if sites is None:
        return
    held = set(sites.features)
    for place, name in zip(places, names, strict=True):
        if posterior.names[place] in held:
            yield f"forest_{name}", lambda i=place: forest(sites, posterior.names[i])  # type: ignore[misc]
    if not places:
        yield "forest", lambda: forest(sites)


def _file_names(names: Sequence[str]) -> list[str]:
    """Names of features as parts of file names that every system takes, each once."""
    found: list[str] = []
    for name in names:
        safe = (
            "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name)[:60].strip(".") or "_"
        )
        taken, free, number = {each.lower() for each in found}, safe, 2
        while free.lower() in taken:
            free, number = f"{safe}_{number}", number + 1
        found.append(free)
    return found
