"""A study in words and tables: its design, its numbers, what they say about the paper, and how it was made."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bayesieve.study.claims import Verdict
from bayesieve.study.measures import bin_names
from bayesieve.study.page import Block, Bullets, Command, Heading, Paragraph, Picture, Table
from bayesieve.study.scene import Scene, spread
from bayesieve.study.statements import CheckedStatement, check_statements

if TYPE_CHECKING:
    from bayesieve.study.design import Method
    from bayesieve.study.store import StudyResults


_MOST_SIZES = 14
_PACKAGES = ("numpy", "scipy", "numba", "polars", "matplotlib")
CAPTIONS = {
    "accuracy": (
        "Features labelled correctly against the number of samples. Above: means; grey lines mark all "
        "features right and nothing selected. Below: difference from the method that is best at each n. "
        "Bands are two Monte Carlo standard errors either way; below, of paired differences."
    ),
    "errors": (
        "What OBF expects and what is true; bars are two standard errors either way, and on the grey lines "
        "expectation and truth agree. (a) True against expected false positives, a point for each of some n. (b) "
        "Their quotient. (c) How often the 90% interval of false positives held their number; its ends are whole "
        "numbers, so that somewhat more than 90% is right. "
    ),
    "sensitivity": (
        "MNC-OBF-JP under other prior probabilities (left) and other L (right). Above: difference of "
        "correct labels from the paper's choice; below: number of features selected. Bars are two "
        "standard errors either way."
    ),
    "costs": (
        "Time of each method in units of the first one's, and the peak of memory that Python and NumPy "
        "allocate beyond the data."
    ),
}
_RELIABILITY = "(d) Share of markers among features of a probability, all n together."
_ALONG = (
    "(d) False positives of lists of any length: true, expected under the model, and by chance among Gaussian "
    "non-markers (known under JP only)."
)


def study_page(
    results: StudyResults | Scene, pictures: Mapping[str, tuple[str, bytes]] | None = None, command: str = ""
) -> list[Block]:
    """Compose the page of a study.

    Parameters
    ----------
    results
        Results of the study.
    pictures
        Figures by name: the file beside the page, and the figure as SVG.
    command
        Command line that made it.
    """
    scene = Scene.of(results)
    blocks: list[Block] = [Heading(f"Study {scene.design.name}", 1)]
    if scene.design.title:
        blocks.append(Paragraph(scene.design.title.rstrip(".") + "."))
    blocks += _design(scene)
    shown = pictures or {}
    if shown:
        blocks.append(Heading("Figures"))
        blocks += [Picture(file, name, _caption(name, scene), svg) for name, (file, svg) in shown.items()]
    blocks += _numbers(scene)
    blocks += _statements(check_statements(scene))
    return blocks + _origin(scene, command)


def _caption(name: str, scene: Scene) -> str:
    if name != "errors":
        return CAPTIONS[name]
    return CAPTIONS[name] + (_RELIABILITY if scene.measured(bin_names(0)[0]).methods else _ALONG)


def _design(scene: Scene) -> list[Block]:
    design, sizes = scene.design, scene.measured().sizes()
    rounds = sorted({scene.measured().mean(m.name, n).iterations for m in scene.methods
                     for n in scene.measured().sizes(m.name)})  # fmt: skip
    of_each = f"{rounds[0]:,}" if len(rounds) == 1 else f"{rounds[0]:,} to {rounds[-1]:,}"
    many = f"{len(sizes)} numbers of samples from {sizes[0]:,} to {sizes[-1]:,}"
    how = "Every value was drawn." if design.raw else "Means and variances were drawn from their exact law."
    constants = ", ".join(f"{name} = {value}" for name, value in design.constants.items())
    sets = "data set" if rounds[-1] == 1 else "data sets"
    average = " on average" if design.data == "prior" else ""
    text = (
        f"{of_each} {sets} at {many if len(sizes) > 1 else f'{sizes[0]:,} samples'}, half of the samples in "
        f"each class; {scene.n_features:,} features, of which {scene.n_markers:,.4g} are markers{average}. Data "
        f"model: {design.data}{f' ({constants})' if constants else ''}, seed {design.seed}. {how} All methods see "
        "the same data."
    )
    return [Heading("Design"), Paragraph(text), _methods(scene.methods)]


def _methods(methods: Sequence[Method]) -> Table:
    rows = []
    for method in methods:
        rule = f"top {method.n_selected:,}" if method.rule == "top" else method.rule
        options = ", ".join(f"{name} = {value}" for name, value in method.options.items())
        rows.append((method.title, method.name, method.scores, rule, options or "defaults"))
    return Table(("method", "name", "scores", "rule", "options"), tuple(rows), words=True)


def _numbers(scene: Scene) -> list[Block]:
    """Means and standard errors, at some of the numbers of samples if there are many."""
    if "costs" in scene.design.measures:
        return [Heading("Time and memory"), _costs(scene)]
    measures = [("correct", "Features labelled correctly", 1)]
    if scene.measured("expected_false_positives").methods:
        measures += [
            ("false_positives", "False positives", 2),
            ("expected_false_positives", "Expected false positives", 2),
        ]
    sizes = spread(scene.measured().sizes(), _MOST_SIZES)
    blocks: list[Block] = []
    for measure, words, digits in measures:
        blocks += [Heading(words), Paragraph(_lead(scene, sizes)), _means(scene, measure, sizes, digits)]
    return blocks


def _lead(scene: Scene, sizes: Sequence[int]) -> str:
    several = len(sizes) < len(scene.measured().sizes())
    return "Means, with Monte Carlo standard errors in brackets" + (
        "; results.csv has all numbers of samples." if several else "."
    )


def _means(scene: Scene, measure: str, sizes: Sequence[int], digits: int) -> Table:
    measured = scene.measured(measure)
    rows = []
    for n in sizes:
        cells = [f"{n:,}"]
        for method in measured.methods:
            if n not in measured.drawn[method]:
                cells.append("")
                continue
            mean = measured.mean(method, n)
            cells.append(f"{mean.mean:,.{digits}f} ({mean.standard_error:.2f})")
        rows.append(tuple(cells))
    return Table(("n", *measured.titles.values()), tuple(rows))


def _costs(scene: Scene) -> Table:
    from bayesieve.study.methods import relative_costs  # noqa: PLC0415 - one study in many

    columns = ("title", "n", "seconds", "standard_error", "times_reference", "peak_megabytes", "iterations")
    header = ("method", "n", "milliseconds", "standard error", "times the first", "peak MB", "iterations")
    rows = [
        (title, f"{n:,}", f"{1e3 * s:.2f}", f"{1e3 * error:.2f}", f"{times:.2f}", f"{peak:.2f}", f"{count:,}")
        for title, n, s, error, times, peak, count in relative_costs(scene.results).select(columns).iter_rows()
    ]
    return Table(header, tuple(rows))


def _statements(checked: Sequence[CheckedStatement]) -> list[Block]:
    known = [each for each in checked if each.examined]
    if not known:
        return []
    blocks: list[Block] = [
        Heading("What is said, and what the numbers say"),
        Paragraph(
            "A difference counts if it exceeds four standard errors, which stand in brackets. Differences between "
            "methods are taken within data sets."
        ),
    ]
    for verdict in Verdict:
        for each in (each for each in known if each.verdict is verdict):
            blocks += [
                Heading(f"{verdict.capitalize()}: {each.claim}", 3),
                Paragraph(f"Source: {each.source}."),
                Bullets(each.found),
            ]
    return blocks


def _origin(scene: Scene, command: str) -> list[Block]:
    versions = [f"bayesieve {scene.results.version}" if scene.results.version else "bayesieve"]
    versions.append(f"Python {platform.python_version()}")
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    blocks: list[Block] = [Heading("How it was made")]
    if command:
        blocks.append(Command(command))
    return [*blocks, Paragraph(f"{', '.join(versions)}; {platform.machine()}.")]
