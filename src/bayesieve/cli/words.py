"""What the library says to Python programmers, in the words of the command line."""

from __future__ import annotations

_INSTEAD = {
    "NegativeBinomialModel()": "--model negative-binomial",
    "what each block says in posterior.block_evidence": "what each block says in the columns block_...",
    "X holds ": "The table holds ",
    "block_model='shift' says what blocks share, but": "--block-model says what blocks share (--blocks), but",
    "patterns='distinct', patterns='one-versus-rest' or a list of patterns": (
        "--patterns distinct, --patterns one-versus-rest, or given ones"
    ),
    "block_model='own'": "--block-model own",
    "block_model='shift'": "--block-model shift",
    "informative_missing": "--informative-missing",
    "leave the model (or the prior) out": "leave --prior out",
    "FixedSize(n) takes the n best, MinimalRisk with a lower threshold accepts": (
        "--n-selected 20 takes the 20 best, --threshold 0.2 accepts"
    ),
    "with_prior() re-weighs": "a larger --prior-probability re-weighs",
    "compare with permutations()": "compare with --permutations 1000",
    "GaussianModel.proper(...)": "--prior proper",
    "GaussianModel.jeffreys()": "--prior jeffreys",
    "FixedSize(n)": "--n-selected N",
    "degenerate='floor' or 'exclude'": "--degenerate floor or exclude",
    "--missing omit (in Python missing='omit')": "--missing omit",
    "missing='omit'": "--missing omit",
    "they are flagged in .degenerate": "they are flagged in the column degenerate",
    "Give data=X and labels=y, the table that was screened": (
        "Draw the figures of the manifest that screen --manifest wrote: bayesieve figures MANIFEST reads the data "
        "again"
    ),
    "set variance_scale (and mean_strength) to fit": "give a --prior file whose scale fits",
}


def for_the_command_line(text: str) -> str:
    """Replace the names of Python objects by those of options."""
    for spoken, option in _INSTEAD.items():
        text = text.replace(spoken, option)
    return text
