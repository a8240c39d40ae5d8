"""Figure of what becomes of a method under other prior probabilities and other constants L."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesieve.errors import DataError
from bayesieve.simulation.study.curves import BAND, points, round_numbers, stretched
from bayesieve.simulation.study.drawing import GREY, Look, drawn
from bayesieve.simulation.study.estimates import spread
from bayesieve.simulation.study.scene import PAPER, Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bayesieve.simulation.study.method import Method
    from bayesieve.simulation.study.store import StudyResults

_WORDS = {"n_decay": "1/(2.51 n)", "bic": "BIC"}
_LABELS = {"prior_probability": "prior probability of a marker", "prior_ratio": "L"}
_SHADES = ("#D9B300", "#A69B6C", "#7C7B78", "#4E576C", "#123570", "#00204D")  # cividis, light to dark
_MARKERS = ("o", "s", "^", "D", "v", "P")


def sensitivity(results: StudyResults | Scene) -> Figure:
    """Correct labels and the number selected under other prior probabilities and other L, for several n.

    The upper panels show the paired difference from the paper's choice (0.005 and 0.1), with two standard
    errors either way; the lower ones the mean number of features selected.

    Parameters
    ----------
    results
        Of a study such as ``sensitivity``, in which methods differ in ``prior_probability`` or ``prior_ratio``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.simulation.study import built_in, run_study
    >>> from bayesieve.simulation.study.sensitivity_figure import sensitivity
    >>> design = built_in("sensitivity").changed(sizes=[100], iterations=2)
    >>> results = run_study(design, pathlib.Path(tempfile.mkdtemp()), workers=1)
    >>> len(sensitivity(results).axes)
    4
    """
    scene = Scene.of(results)
    groups = scene.varied
    if not groups:
        raise DataError("No option is varied in these results. Run bayesieve study sensitivity.")
    sizes = spread(scene.measured().sizes(), len(_SHADES))
    with drawn(height=5.4) as figure:
        panels = figure.subplots(2, len(groups), sharex="col", sharey="row", squeeze=False)
        gaps = [
            gap
            for column, (option, methods) in enumerate(groups.items())
            for gap in _draw_option(panels[:, column], scene, methods, option, sizes)
        ]
        stretched(panels[0, 0], min(gaps), max(gaps))
        panels[0, 0].set_ylabel("correct labels: difference from\nthe paper's choice (features)")
        panels[1, 0].set_ylabel("features selected (grey: markers)")
        panels[1, 0].set_yscale("log")
        round_numbers(panels[1, 0].yaxis, *panels[1, 0].get_ylim())
        handles, labels = panels[1, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), columnspacing=1.4)
    return figure


def _draw_option(
    panels: Any, scene: Scene, methods: list[Method], option: str, sizes: tuple[int, ...]
) -> list[float]:
    """Draw both panels of an option; return the ends of the error bars of the upper one."""
    correct, selected = scene.measured(), scene.measured("n_selected")
    values = [method.options[option] for method in methods]
    centre = methods[values.index(PAPER[option]) if PAPER[option] in values else 0]
    n_numbers = sum(not isinstance(value, str) for value in values)  # named choices are not on the scale
    x, gaps = range(len(values)), []
    panels[1].axhline(scene.n_markers, color=GREY, lw=0.8, zorder=0)
    for k, n in enumerate(sizes):
        differences = [correct.difference(method.name, centre.name, n) for method in methods]
        numbers = [selected.mean(method.name, n) for method in methods]
        for part, line in ((slice(n_numbers), "-"), (slice(n_numbers, None), "")):
            look = Look(_SHADES[k], line, _MARKERS[k])
            points(panels[0], x[part], differences[part], look)
            points(panels[1], x[part], numbers[part], look, f"n = {n:,}" if line else "")
        gaps += [each.mean + sign * BAND * each.standard_error for each in differences for sign in (-1, 1)]
    panels[1].set_xticks(list(x), [_written(value) for value in values])
    panels[1].set_xlabel(_LABELS[option])
    return gaps


def _written(value: object) -> str:
    return _WORDS.get(value, value) if isinstance(value, str) else f"{value:g}"
