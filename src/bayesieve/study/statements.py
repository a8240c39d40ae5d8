"""The statements of section 6 and of Theorems 2 and 3 about the study, each checked against its numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesieve.errors import OptionError
from bayesieve.study.claims import (
    NOTHING,
    Finding,
    Row,
    Rows,
    Verdict,
    ahead,
    alike,
    closing,
    costs_as,
    differences,
    distances,
    expected_errors,
    first_place,
    intervals,
    larger_lists,
    reliable,
    together,
    vanishing,
)
from bayesieve.study.scene import Role, Scene

if TYPE_CHECKING:
    from bayesieve.study.store import StudyResults


FIGURE_1A = 1000.0  # the text about Figure 1(a) ends there
LARGE, VERY_LARGE = 500.0, 3000.0  # samples
ALIKE = 1.0  # features
NEAR = 0.1  # as a share of the markers
MANY = float("inf")

MNC_JP, MNC_PP, CMNC_JP, CMNC_PP = ("obf-jp", "mnc"), ("obf-pp", "mnc"), ("obf-jp", "top"), ("obf-pp", "top")
BD, WELCH, LIMMA, MI, NMC = (("bd", "top"), ("welch", "top"), ("limma", "top"), ("mi", "top"), ("nmc", "top"))
_OBF = (MNC_JP, MNC_PP, CMNC_JP, CMNC_PP)


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that is said about a study.

    Parameters
    ----------
    name
        Short name.
    claim
        What is said.
    source
        Where it is said, or that it is a question of ours.
    needs
        Methods without which it cannot be checked, as pairs of scores and rule.
    check
        The check.
    on_costs
        Whether it is about time, for studies that measure it; other statements are for other studies.
    """

    name: str
    claim: str
    source: str
    needs: tuple[Role, ...]
    check: Callable[[Scene], Finding]
    on_costs: bool = False


@dataclass(frozen=True, slots=True)
class CheckedStatement:
    """A statement and what the numbers of a study say about it.

    Parameters
    ----------
    name, claim, source
        The statement.
    verdict
        Holds, does not hold, or cannot tell.
    found
        By how much: sentences, with standard errors in brackets.
    rows
        The numbers behind it; none if the study has nothing to say about it.
    """

    name: str
    claim: str
    source: str
    verdict: Verdict
    found: tuple[str, ...]
    rows: Rows = ()

    @property
    def examined(self) -> bool:
        """Whether the study has anything to say about it."""
        return bool(self.rows)

    def __str__(self) -> str:
        return f"{self.verdict.capitalize()}: {self.claim} ({self.source}). {' '.join(self.found)}"


def check_statements(
    results: StudyResults | Scene, names: Sequence[str] | None = None
) -> tuple[CheckedStatement, ...]:
    """Check the statements of the paper against the results of a study.

    A difference counts if it exceeds four Monte Carlo standard errors. Differences between methods are taken
    within iterations, since all methods of an iteration see the same data.

    Parameters
    ----------
    results
        Results of a study.
    names
        Some of the statements; all by default.
    """
    known = {statement.name: statement for statement in STATEMENTS}
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise OptionError(f"There is no statement {unknown[0]!r}. There are {', '.join(known)}.")
    scene = Scene.of(results)
    return tuple(_checked(known[name], scene) for name in (known if names is None else names))


def _checked(statement: Statement, scene: Scene) -> CheckedStatement:
    absent = [f"{scores} ({rule})" for scores, rule in statement.needs if scene.named(scores, rule) is None]
    elsewhere = statement.source.startswith(_TEXT) and not scene.on_data_of_the_paper
    if elsewhere or statement.on_costs != ("costs" in scene.design.measures):
        found = NOTHING
    elif absent:
        found = Finding(Verdict.UNDECIDED, (f"The study does without {', '.join(absent)}.",))
    else:
        found = statement.check(scene)
    return CheckedStatement(
        statement.name, statement.claim, statement.source, found.verdict, found.words, found.rows
    )


def _name(scene: Scene, role: Role) -> str:
    name = scene.named(*role)
    assert name is not None  # checked before
    return name


def _rows(scene: Scene, first: Role, second: Role, low: float = 0.0, high: float = MANY) -> Rows:
    return differences(scene.measured(), _name(scene, first), _name(scene, second), low, high)


def _ahead(name: str, claim: str, source: str, *pairs: tuple[Role, Role],
           low: float = 0.0, high: float = MANY) -> Statement:  # fmt: skip
    def check(scene: Scene) -> Finding:
        return together(ahead(_rows(scene, first, second, low, high)) for first, second in pairs)

    return Statement(name, claim, source, tuple(dict.fromkeys(role for pair in pairs for role in pair)), check)


def _first(name: str, claim: str, source: str, *roles: Role, high: float = MANY) -> Statement:
    def check(scene: Scene) -> Finding:
        return first_place(scene.measured(), {_name(scene, role) for role in roles}, high)

    return Statement(name, claim, source, roles, check)


def _alike(name: str, claim: str, source: str, first: Role, second: Role) -> Statement:
    return Statement(name, claim, source, (first, second), lambda scene: alike(_rows(scene, first, second), ALIKE))


def _consistent(name: str, claim: str, source: str, *roles: Role) -> Statement:
    """Wrong labels vanish."""

    def check(scene: Scene) -> Finding:
        measured = scene.measured()
        return together(
            vanishing(_wrong(scene, role, measured.titles[_name(scene, role)]), NEAR * scene.n_markers)
            for role in roles
        )

    return Statement(name, claim, source, roles, check)


def _wrong(scene: Scene, role: Role, title: str) -> Rows:
    return distances(scene.measured(), _name(scene, role), scene.n_features, f"Wrong labels of {title}", -1)


def _both_errors(role: Role) -> Callable[[Scene], Finding]:
    """False positives and missed markers vanish, each for itself."""

    def check(scene: Scene) -> Finding:
        name, near = _name(scene, role), NEAR * scene.n_markers
        title = scene.measured().titles[name]
        false = distances(scene.measured("false_positives"), name, 0.0, f"False positives of {title}")
        sizes = scene.measured().sizes(name)
        missed = tuple(Row(f"Markers missed by {title}", n, scene.missed(name, n)) for n in sizes)
        return together(vanishing(rows, near) for rows in (false, missed))

    return check


def _beats_nothing(role: Role) -> Callable[[Scene], Finding]:
    def check(scene: Scene) -> Finding:
        name = _name(scene, role)
        label = f"{scene.measured().titles[name]} minus nothing selected"
        return ahead(tuple(Row(label, n, scene.gain(name, n)) for n in scene.measured().sizes(name)))

    return check


def _poorest(scene: Scene) -> Finding:
    """The best of the spacing estimates of mutual information is behind every other method."""
    own = _name(scene, MI)
    others = [each.name for each in scene.methods if not each.scores.startswith("mi")]
    return together(ahead(differences(scene.measured(), other, own)) for other in others)


def _gains(scene: Scene) -> Finding:
    rows = _rows(scene, WELCH, CMNC_JP)
    return closing(rows) if rows and rows[-1].n >= VERY_LARGE else NOTHING


_TEXT, _1A, _1B = "section 6", "section 6, Figure 1(a)", "section 6, Figure 1(b)"
_OURS = "our own question"
_PROMISED = "promised by the model where it is right, as for data drawn from its prior"

STATEMENTS: tuple[Statement, ...] = (
    _first("pp-mnc-best", "MNC-OBF-PP is the best method up to n = 1,000", _1A, MNC_PP, high=FIGURE_1A),
    _ahead("order-of-obf", "MNC-OBF-PP is followed by MNC-OBF-JP, then CMNC-OBF-PP, then CMNC-OBF-JP, up to "
           "n = 1,000", _1A, (MNC_PP, MNC_JP), (MNC_JP, CMNC_PP), (CMNC_PP, CMNC_JP), high=FIGURE_1A),
    _ahead("mnc-pp-above-jp", "Under MNC, PP outperforms JP", _1A, (MNC_PP, MNC_JP), high=FIGURE_1A),
    _ahead("cmnc-pp-above-jp", "Under CMNC, PP outperforms JP", _1A, (CMNC_PP, CMNC_JP), high=FIGURE_1A),
    _ahead("jp-mnc-above-cmnc", "Under JP, MNC outperforms CMNC up to n = 1,000", _1A, (MNC_JP, CMNC_JP),
           high=FIGURE_1A),
    _ahead("pp-mnc-above-cmnc", "Under PP, MNC outperforms CMNC up to n = 1,000", _1A, (MNC_PP, CMNC_PP),
           high=FIGURE_1A),
    _ahead("cmnc-above-mnc-late", "For large samples (n of 3,000 and more) CMNC slightly outperforms MNC", _TEXT,
           (CMNC_JP, MNC_JP), (CMNC_PP, MNC_PP), low=VERY_LARGE),
    _alike("bd-like-cmnc", "CMNC-OBF-JP and BD perform alike (within one feature)", _1A, BD, CMNC_JP),
    _ahead("bd-above-t", "BD is above the t-test up to n = 1,000", _1A, (BD, WELCH), high=FIGURE_1A),
    _ahead("t-above-nmc", "For large samples (n of 500 and more) NMC is below the t-test", _1A, (WELCH, NMC),
           low=LARGE),
    Statement("mi-poorest", "MI is the poorest method at every n", _1A, (MI,), _poorest),
    _first("obf-best", "The best method is an OBF up to n = 1,000", f"{_TEXT}, on Table 1", *_OBF, high=FIGURE_1A),
    _first("obf-best-throughout", "The best method is an OBF at every n of the study", _OURS, *_OBF),
    Statement("t-gains", "The t-test becomes more competitive for very large n", _1B, (WELCH, CMNC_JP),
              _gains),
    _alike("moderation", "Moderating the t-test changes little (less than one feature)", _OURS, LIMMA, WELCH),
    _consistent("consistent", "The curves of OBF, BD, t-test and moderated t-test approach the number of features "
                "(at most a tenth of the markers wrong at the end)", f"Theorems 2 and 3; {_1B}", *_OBF, BD, WELCH,
                LIMMA),
    Statement("jp-errors-vanish", "Under MNC-OBF-JP false positives and missed markers both vanish",
              "Theorems 2 and 3", (MNC_JP,), _both_errors(MNC_JP)),
    Statement("pp-errors-vanish", "Under MNC-OBF-PP false positives and missed markers both vanish",
              "Theorems 2 and 3", (MNC_PP,), _both_errors(MNC_PP)),
    Statement("jp-beats-nothing", "MNC-OBF-JP is better than selecting nothing, at every n", _OURS, (MNC_JP,),
              _beats_nothing(MNC_JP)),
    Statement("pp-beats-nothing", "MNC-OBF-PP is better than selecting nothing, at every n", _OURS, (MNC_PP,),
              _beats_nothing(MNC_PP)),
    Statement("expected-errors", "Expected false positives agree with true ones to 10% (or a tenth of a feature)",
              _PROMISED, (), expected_errors),
    Statement("intervals", "90% intervals hold the true number of false positives at least as often", _PROMISED,
              (), intervals),
    Statement("reliable", "Of features with a probability p, a share p are markers",
              _PROMISED, (), reliable),
    Statement("larger-lists", "Larger prior probabilities and larger L select more features", _TEXT, (),
              larger_lists),
    Statement("cost-of-t-and-bd", "BD and t-tests take about the time of OBF (within a factor of 2)", "Table 1",
              (CMNC_JP,), costs_as(("bd", "welch", "limma"), 0.5, 2.0), on_costs=True),
    Statement("cost-of-mi-and-nmc", "MI and NMC take several times the time of OBF (2 times and more)", "Table 1",
              (CMNC_JP,), costs_as(("mi", "nmc"), 2.0, MANY), on_costs=True),
)  # fmt: skip
