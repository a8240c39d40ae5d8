"""What the paper says about its application, held against its own numbers and against this run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bayesieve.study.colon.published import TITLES, known_genes, least_bound, published
from bayesieve.study.colon.run import ColonResults
from bayesieve.study.colon.steps import Result
from bayesieve.study.colon.tables import known_counts, paper_counts, same_platform, share_of
from bayesieve.study.colon.work import LEVELS, REGRESSIONS
from bayesieve.study.verdicts import Verdict
from bayesieve.utils import plural

_S2 = "supplement, section 2"


def statements_of(results: ColonResults) -> Iterator[dict[str, Any]]:
    """Yield statements with a verdict and words, as the page takes them."""
    yield from _of_the_paper()
    yield from _of_the_run(results)


def _said(verdict: Verdict, claim: str, source: str, *words: str) -> dict[str, Any]:
    return {"verdict": str(verdict), "claim": claim, "source": source, "words": list(words)}


def _of_the_paper() -> Iterator[dict[str, Any]]:
    """Statements that the paper's own numbers decide."""
    paper, table = published()["data"], published()["table_s2"]
    off = [
        (TITLES[method], row["top"])
        for k, row in enumerate(table["rows"])
        for method, count in zip(table["methods"], row["counts"], strict=True)
        if int(paper_counts(method).count[k]) != count
    ]
    yield _said(
        Verdict.FAILS if off else Verdict.HOLDS,
        "The counts of Table S2 follow from the ranks of Table S1", f"{_S2}, Tables S1 and S2",
        f"All {len(table['methods']) * len(table['rows'])} counts do." if not off else f"Not those of {off}.",
        f"At N = 5,000 the methods behind the first phase rank at most {paper['prescreened_genes']:,} genes, so "
        "that their 15 known genes are those that BD let through, and say nothing about the methods.",
    )  # fmt: skip
    one = paper_counts("obf-jp")
    yield _said(
        Verdict.FAILS, "Table S2 gives the p-values of an over-representation test", f"{_S2}, Table S2",
        "All 18 printed values are P(X > k), that is, for one known gene more than was found (1 - hygecdf(k)). "
        f"The p-value is P(X >= k): for OBF's {int(one.count[0])} among the first 1,000 it is "
        f"{one.p_value[0]:.2g} and not {one.p_value_paper[0]:.2g}.",
    )  # fmt: skip
    yield _said(
        Verdict.FAILS, f"The platform has {paper['probes_printed']:,} probes", _S2,
        f"GPL570 has {paper['probes']:,}: two digits are exchanged.",
    )  # fmt: skip
    yield _said(
        Verdict.FAILS, "28 patients with stage 1 or an adenoma are class 0, 210 with stages 2 to 4 class 1", _S2,
        "GEO lists 28 patients with stage 1, 204 with stages 2 to 4, and 6 adenomas. The numbers 28 and 210 "
        "arise if the adenomas are in class 1, where an early lesion does not belong; by the words the classes "
        "are 34 and 204.",
        "The shares that the paper gives for single genes fit the numbers: 28.1% is 59 of 210 (57 or 58 of 204 "
        "would be 27.9% or 28.4%), 22.4% is 47 of 210, 8.6% is 18 of 210, and 17.9% is 5 of 28. So the paper "
        "was computed with the adenomas in the late class.",
    )  # fmt: skip
    words = [
        f"{found['title']}: q is at least the sum of the selection shares, which the printed counts bound from "
        f"below; the share of false probes at {found['bound_threshold']:g} is then bounded by "
        f"{least_bound(method):.2g} or more, not by {found['false_share_printed']:g}."
        for method, found in published()["regressions"].items()
    ]
    yield _said(
        Verdict.FAILS, "At a threshold of 0.51 at most a share of 0.00071 and 0.00089 of the probes is false", _S2,
        *words, "The theorem needs halves of the samples; with 90% of them the number guarantees nothing.",
    )  # fmt: skip
    yield _said(
        Verdict.FAILS, "The net effect on SLC14A1 is a slight under-expression in late stages", _S2,
        "The means printed are 4.15 (early) and 4.36 (late): a slight over-expression.",
    )  # fmt: skip
    yield _said(
        Verdict.FAILS, "The adjusted p-values of Table S5 bound the FDR", f"{_S2}, Table S5",
        "They are p x 163 / rank without the step-up minimum: the row with p = 0.0011 has a smaller one "
        "(0.0358) than the row with p = 0.00097 (0.0397). The ranks used skip the second place, so that a set "
        "is not shown. The first four sets stay below 0.05 all the same.",
    )  # fmt: skip
    yield _said(
        Verdict.UNDECIDED, "The values were normalised with the package affy under default settings", _S2,
        "affy offers RMA and MAS5 among others, and which one is the default depends on the function that is "
        "called. Ranks by variance, and with them OBF's and BD's, depend on it more than those of the t-test.",
    )  # fmt: skip
    yield _said(
        Verdict.UNDECIDED, "Penalties are those of MATLAB's lassoglm", _S2,
        "Its documentation puts the penalty beside the mean deviance, where a number means half as much as "
        "beside the mean loss (ours, and glmnet's). Counts of probes at a given penalty may differ for that "
        "reason alone.",
    )  # fmt: skip


def _of_the_run(results: ColonResults) -> Iterator[dict[str, Any]]:
    """Statements that this run decides, for its own data."""
    data = "these data, which are made" if results.design.synthetic else "these data"
    source = f"{_S2}; tried on {data}"
    obf, bd, t = (results.of_method(name) for name in ("obf-jp", "bd", "welch"))
    if obf is not None and bd is not None and t is not None and results.known_names:
        counts = {each.method: known_counts(results, each).count.tolist() for each in (obf, bd, t)}
        gains = [a - c for a, c in zip(counts["obf-jp"], counts["welch"], strict=True)]
        words = [f"{TITLES[name]}: {', '.join(map(str, found))} known genes" for name, found in counts.items()]
        chance = {name: results.shuffles[name].mean(axis=0) for name in counts if name in results.shuffles}
        words += [
            f"{TITLES[name]} with shuffled stages: {', '.join(f'{x:.1f}' for x in found)}"
            for name, found in chance.items()
        ]  # fmt: skip
        tops = ", ".join(f"{top:,}" for top in results.tops)
        yield _said(
            _sign(gains),
            f"OBF ranks known genes better than the t-test (among the first {tops})", source, *words,
        )  # fmt: skip
        yield _multiplicity(results, source)
    yield from _readings(results, source)
    for method in REGRESSIONS:
        found = results.regressions.get(method)
        if found is not None:
            yield _prediction(method, found, source)
    yield from _doubt(results, source)


def _sign(gains: Sequence[int]) -> Verdict:
    """Nowhere fewer and somewhere more holds; the other way round fails; anything else cannot be told."""
    if any(gains) and min(gains) >= 0:
        return Verdict.HOLDS
    return Verdict.FAILS if any(gains) and max(gains) <= 0 else Verdict.UNDECIDED


def _multiplicity(results: ColonResults, source: str) -> dict[str, Any]:
    """Whether all genes are as likely to come far by chance, as the hypergeometric distribution has it."""
    of_known, of_all = results.known_rows.n_probes
    mean, n = results.by_chance.mean(axis=0), len(results.known_names)
    expected = [n * top / results.n_genes for top in results.tops]
    same = abs(of_known - of_all) < 0.1
    words = [
        f"A known gene has {of_known:.1f} probes on average, any gene {of_all:.1f}.",
        "Known genes among the first "
        + ", ".join(f"{top:,}: {a:.1f} (hypergeometric {b:.1f})"
                    for top, a, b in zip(results.tops, mean, expected, strict=True))
        + ", on average over random orders of the probes.",
    ]  # fmt: skip
    if of_known > of_all and not same:
        words.append("Hypergeometric p-values are therefore too small.")
    if same_platform(results):
        printed = paper_counts("obf-jp")
        shares = [share_of(results.by_chance[:, k], int(count)) for k, count in enumerate(printed.count)]
        words.append(
            "With the probes of this platform the paper's counts for OBF have probabilities of "
            + ", ".join(f"{p:.2g} ({q:.2g})" for p, q in zip(shares, printed.p_value, strict=True))
            + " by chance (in brackets: hypergeometric)."
        )
    claim = "By chance every gene is as likely to be among the first, as Table S2's test takes it"
    return _said(Verdict.HOLDS if same else Verdict.FAILS, claim, source, *words)


def _prediction(method: str, found: Result, source: str) -> dict[str, Any]:
    """Whether cross-validation finds anything that predicts."""
    gain = max(found["accuracy"]) - found["baseline"]
    place = int(np.argmin(np.abs(found["penalties"] - found["best"])))
    n_chosen = int((found["place"] == place).sum())
    verdict = Verdict.UNDECIDED
    if n_chosen == 0 or gain <= 0:
        verdict = Verdict.FAILS
    elif gain > found["error"]:
        verdict = Verdict.HOLDS
    title = published()["regressions"][method]["title"]
    return _said(
        verdict, f"Cross-validation of the {title} finds a penalty that predicts better than no feature", source,
        f"Accuracy {max(found['accuracy']):.3f} (standard error {found['error']:.3f}) at a penalty of "
        f"{found['best']:g}, which selects {plural(n_chosen, 'probe')}, against {found['baseline']:.3f} for "
        f"always guessing the larger class; balanced accuracy at its best {max(found['balanced_accuracy']):.3f}.",
    )  # fmt: skip


def _readings(results: ColonResults, source: str) -> Iterator[dict[str, Any]]:
    """Whether the six adenomas matter."""
    pair = [results.rankings.get(("obf-jp", reading)) for reading in ("numbers", "words")]
    first, second = pair
    if first is None or second is None:
        return
    words = []
    for top in (20, 100, *results.tops[:1]):
        shared = len({*first.genes.genes[:top]} & {*second.genes.genes[:top]})
        words.append(f"{shared:,} of the first {top:,} genes by OBF are the same in both readings")
    moved = sorted(
        (abs(first.known[gene.symbol] - second.known[gene.symbol]), gene.symbol)
        for gene in known_genes() if gene.symbol in first.known
    )[::-1]  # fmt: skip
    if moved:
        words.append(
            "The known genes that move most: "
            + ", ".join(f"{name} ({first.known[name]:,} to {second.known[name]:,})" for _, name in moved[:3])
        )
    shared = len({*first.genes.genes[:100]} & {*second.genes.genes[:100]})
    yield _said(
        Verdict.HOLDS if shared >= 90 else Verdict.FAILS,
        "Where the six adenomas are put makes no difference to the list of OBF", source, *words,
    )  # fmt: skip


def _doubt(results: ColonResults, source: str) -> Iterator[dict[str, Any]]:
    """Whether lists of OBF differ from those of shuffled stages."""
    for method in ("obf-jp", "obf"):
        found, chance = results.of_method(method), results.shuffles.get(f"{method}-levels")
        if found is None or chance is None or found.probability is None:
            continue
        real = [int((found.probability > level).sum()) for level in LEVELS]
        as_many = int((chance[:, 0] >= real[0]).sum())
        mean = chance.mean(axis=0)
        stands = as_many == 0
        words = [
            f"Above {level:g}: {plural(count, 'probe')} with the true stages, {mean[k]:.1f} on average with "
            "shuffled ones"
            for k, (level, count) in enumerate(zip(LEVELS, real, strict=True))
        ]
        if real[0]:
            words.append(f"So about {min(mean[0] / real[0], 1.0):.0%} of the list above {LEVELS[0]:g} are false.")
        words.append(
            f"{as_many} of {len(chance)} shuffles give as many: the list "
            + ("is more than chance." if stands else "cannot be told from chance.")
        )
        yield _said(
            Verdict.HOLDS if stands else Verdict.UNDECIDED,
            f"The stages have to do with the probes that {TITLES[method]} finds", source, *words,
        )  # fmt: skip
