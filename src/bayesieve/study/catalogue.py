"""The studies that come with the package."""

from __future__ import annotations

from collections.abc import Callable

from bayesieve.errors import OptionError
from bayesieve.study.design import Method, StudyDesign

_PROBABILITIES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
_RATIOS = (0.01, 0.1, 0.4, "n_decay", "bic")


def built_in_names() -> tuple[str, ...]:
    """Names of the studies that come with the package.

    Examples
    --------
    >>> from bayesieve.study import built_in_names
    >>> built_in_names()
    ('figure-1a', 'figure-1b', 'table-1', 'calibration', 'sensitivity')
    """
    return tuple(_STUDIES)


def built_in(name: str) -> StudyDesign:
    """Return a study that comes with the package.

    Examples
    --------
    >>> from bayesieve.study import built_in
    >>> built_in("figure-1b").sizes[:3], built_in("figure-1b").iterations
    ((100, 200, 300), 600)
    """
    if name not in _STUDIES:
        raise OptionError(f"There is no study {name!r}. Studies are {', '.join(_STUDIES)}, or a TOML file.")
    return _STUDIES[name]()


def _obf() -> tuple[Method, ...]:
    return (
        Method("mnc-obf-jp", "MNC-OBF-JP", "obf-jp", "mnc"),
        Method("mnc-obf-pp", "MNC-OBF-PP", "obf-pp", "mnc"),
        Method("cmnc-obf-jp", "CMNC-OBF-JP", "obf-jp"),
        Method("cmnc-obf-pp", "CMNC-OBF-PP", "obf-pp"),
    )


def _moment_rivals() -> tuple[Method, ...]:
    return (
        Method("bd", "Bhattacharyya", "bd"),
        Method("welch", "Welch t", "welch"),
        Method("limma", "Moderated t", "limma"),
        Method("pearson-neyman", "Pearson-Neyman", "pearson-neyman"),
    )


def _value_rivals() -> tuple[Method, ...]:
    return (
        Method("mi", "Mutual information", "mi"),
        Method("nmc", "Nearest mean", "nmc"),
        Method("wilcoxon", "Wilcoxon", "wilcoxon"),
    )


def _figure_1b() -> StudyDesign:
    return StudyDesign(
        "figure-1b",
        (*_obf(), *_moment_rivals()),
        sizes=tuple(range(100, 5001, 100)),
        iterations=600,
        title="Correctly labelled features of the synthetic microarray: univariate filters up to n = 5,000",
    )


def _figure_1a() -> StudyDesign:
    return StudyDesign(
        "figure-1a",
        (*_obf(), *_moment_rivals(), *_value_rivals()),
        sizes=tuple(range(50, 1001, 50)),
        iterations=600,
        raw=True,
        title="Correctly labelled features of the synthetic microarray: all methods up to n = 1,000",
    )


def _table_1() -> StudyDesign:
    first, *others = (_obf()[2], _obf()[3], *_moment_rivals(), *_value_rivals())
    more = (Method("student", "Student t", "student"), Method("f-classif", "scikit-learn F", "f-classif"))
    return StudyDesign(
        "table-1",
        (first, *others, *more),
        sizes=(200,),
        iterations=10,
        raw=True,
        measures=("labels", "costs"),
        title="Time and memory of each method from 200 samples of 20,000 features to its list, on one thread",
    )


def _calibration() -> StudyDesign:
    options = {"prior_probability": 0.005}
    rules = (
        ("mnc", "MNC"),
        ("mr:0.9", "MR 0.9"),
        ("np:5", "NP 5"),
        ("fdr:0.1", "FDR 0.1"),
        ("fdp:0.1:0.9", "FDP 0.1, 90% sure"),
    )
    methods = tuple(
        Method(rule.replace(":", "-"), title, "obf-pp", rule, options=options) for rule, title in rules
    )
    top = Method("cmnc-100", "CMNC 100", "obf-pp", options=options)
    return StudyDesign(
        "calibration",
        (*methods, top),
        sizes=(20, 50, 100, 200, 500, 1000),
        iterations=200,
        data="prior",
        constants=options,
        measures=("labels", "errors", "reliability"),
        title="Expected and true errors of each rule where the model is right",
    )


def _sensitivity() -> StudyDesign:
    by_probability = tuple(
        Method(f"pi={p:g}", f"prior probability {p:g}", "obf-jp", "mnc", options={"prior_probability": p})
        for p in _PROBABILITIES
    )
    by_ratio = tuple(
        Method(f"L={ratio}", f"L = {ratio}", "obf-jp", "mnc", options={"prior_ratio": ratio}) for ratio in _RATIOS
    )
    return StudyDesign(
        "sensitivity",
        (*by_probability, *by_ratio),
        sizes=(50, 100, 200, 300, 500, 1000, 2000, 3000, 5000),
        iterations=200,
        title="MNC-OBF-JP on the synthetic microarray under other prior probabilities and other L",
    )


_STUDIES: dict[str, Callable[[], StudyDesign]] = {
    "figure-1a": _figure_1a,
    "figure-1b": _figure_1b,
    "table-1": _table_1,
    "calibration": _calibration,
    "sensitivity": _sensitivity,
}
