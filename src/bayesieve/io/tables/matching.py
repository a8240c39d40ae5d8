"""Sample ids that two files write differently: matched where that is one-to-one, and said aloud."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bayesieve.utils import LabelError, Message, SampleIds, plural

Fold = Callable[[str], str]
_SIGNS = re.compile(r"[^0-9a-z\u0080-\uffff]+")
_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")
_LETTER_OF_R = re.compile(r"^x(?=-?[0-9])")
_QUANTITIES = (  # of software for proteomics, the one to be compared first
    r"\b(max)?lfq\b", r"normali[sz]ed", r"\babundances?\b(?!.*\b(ratio|count|grouped|scaled))",
    r"^reporter.*corrected", r"\bintensity\b", r"\bibaq\b", r"\btpm\b", r"\bcounts?\b",
)  # fmt: skip
_TRIED, _MOST_AROUND, _LONGEST = 25, 100, 200_000  # ids and affixes tried, in tables of so many columns


def _case(name: str) -> str:
    return " ".join(name.split()).casefold()


def _signs(name: str) -> str:
    return _SIGNS.sub("-", name.casefold()).strip("-")


_FOLDS: tuple[tuple[str, Fold], ...] = (
    ("the case of letters or spaces", _case),
    ("signs such as . - _", _signs),
    ("signs, and the X that R puts before digits", lambda name: _LETTER_OF_R.sub("", _signs(name))),
    ("leading zeros", lambda name: _ZEROS.sub("", _signs(name))),
    ("the X of R and leading zeros", lambda name: _ZEROS.sub("", _LETTER_OF_R.sub("", _signs(name)))),
)


@dataclass(frozen=True, slots=True, eq=False)
class IdMatch:
    """A way in which ids of a table are those of another file.

    Parameters
    ----------
    words
        In what they differ.
    key
        The id in the other file, of an id of the table; None if there is none.
    pairs
        Ids of the table that were looked at, and theirs in the file.
    """

    words: str
    key: Callable[[str], str | None]
    pairs: dict[str, str] = field(default_factory=dict)

    def describe(self, pairs: dict[str, str], source: str) -> Message:
        """Say how many ids were matched, and how."""
        shown = tuple(f"{name!r} is {key!r}" for name, key in pairs.items())
        return Message.of(
            f"{plural(len(pairs), 'sample')} {'is' if len(pairs) == 1 else 'are'} known to {source} by ids that "
            f"differ in {self.words}",
            SampleIds(shown, ": ", 2),
            ".",
            kind="matched-ids",
        )

    def clash(self, path: str, name: str, key: str, source: str) -> LabelError:
        """Say that two samples would become one."""
        return LabelError(
            f"{path}: two samples are the same one in {source} if {self.words} are left aside",
            SampleIds((f"{name!r} is {key!r}",), ": "),
            ". Write their ids alike in both files.",
        )


def find_match(table_ids: Iterable[str], file_ids: Iterable[str]) -> IdMatch | None:
    """Return the mildest way in which most ids of a table are ids of a file, one-to-one; None if there is none.

    Nothing is matched unless more ids are found than as they are written, at least two, and at least half of
    those of the smaller of both files.
    """
    mine, theirs = list(dict.fromkeys(filter(None, table_ids))), list(dict.fromkeys(filter(None, file_ids)))
    known = set(theirs)
    exact = sum(name in known for name in mine)
    least = max(exact + 1, 2, (min(len(mine), len(theirs)) + 1) // 2)
    if exact == len(mine) or exact == len(theirs):
        return None
    best: IdMatch | None = None
    own = set(mine)
    mine, theirs = [name for name in mine if name not in known], [name for name in theirs if name not in own]
    for match in (*_by_folds(mine, theirs), *_by_affixes(mine, theirs), *_by_affixes_of_file(mine, theirs)):
        if len(match.pairs) + exact >= least:
            best, least = match, len(match.pairs) + exact + 1
    return best


def _by_folds(mine: Sequence[str], theirs: Sequence[str]) -> Iterator[IdMatch]:
    for words, fold in _FOLDS:
        groups: dict[str, list[str]] = defaultdict(list)
        for name in theirs:
            groups[fold(name)].append(name)
        groups.pop("", None)
        found = [(name, groups[fold(name)]) for name in mine if fold(name) in groups]
        pairs = {name: keys[0] for name, keys in found}
        if len(set(pairs.values())) == len(pairs) and all(len(keys) == 1 for _, keys in found):
            single = {folded: keys[0] for folded, keys in groups.items() if len(keys) == 1}
            yield IdMatch(words, _by_fold(fold, single), pairs)


def _by_fold(fold: Fold, groups: dict[str, str]) -> Callable[[str], str | None]:
    return lambda name: groups.get(fold(name))


def _by_affixes(mine: Sequence[str], theirs: Sequence[str]) -> Iterator[IdMatch]:
    """Find ids with the same beginning and ending before and after those of the file, then with any ending."""
    if len(mine) > _LONGEST:
        return
    for fold in (str, _signs):
        folded = {fold(name): name for name in theirs}
        if len(folded) < len(theirs):
            continue
        around: Counter[tuple[str, str]] = Counter()
        ids = sorted(filter(None, folded), key=len, reverse=True)[:_TRIED]
        for name in mine:
            around.update({pair for key in ids for pair in _around(fold(name), key)})
        common = [pair for pair, n in around.most_common(_MOST_AROUND) if any(pair)]
        made = [_with_affix(mine, folded, fold, *pair) for pair in common]
        matches = [match for match in made if match is not None]
        several = any(len(match.pairs) > 1 for match in matches)  # else every id has an ending of its own
        chosen = _preferred(matches) if several else None
        if chosen is not None:
            yield chosen
        elif not several:
            free = _with_any_ending(mine, folded, fold)
            if free is not None:
                yield free


def _around(name: str, key: str) -> Iterator[tuple[str, str]]:
    """What stands before and after an id, wherever a name holds it between signs."""
    place = name.find(key)
    while place >= 0:
        before, after = name[:place], name[place + len(key) :]
        if not (before[-1:].isalnum() or after[:1].isalnum()):
            yield before, after
        place = name.find(key, place + 1)


def _with_affix(
    mine: Sequence[str], theirs: dict[str, str], fold: Fold, before: str, after: str
) -> IdMatch | None:
    def key(name: str) -> str | None:
        text = fold(name)
        if not (text.startswith(before) and text.endswith(after)) or len(text) < len(before) + len(after):
            return None
        return theirs.get(text[len(before) : len(text) - len(after)])

    found = [(name, key(name)) for name in mine]
    pairs = {name: other for name, other in found if other is not None}
    if len(set(pairs.values())) < len(pairs):
        return None
    return IdMatch(_affix_words(before, after), key, pairs)


def _affix_words(before: str, after: str) -> str:
    parts = [f"the beginning {before!r}"] if before else []
    parts += [f"the ending {after!r}"] if after else []
    return " and ".join(parts)


def _preferred(matches: Sequence[IdMatch]) -> IdMatch | None:
    """Choose the way that matches most; of several columns for the same samples by the quantity they name."""
    if not matches:
        return None
    most = max(matches, key=lambda match: len(match.pairs))
    taken = set(most.pairs.values())
    rivals = [match for match in matches if taken.intersection(match.pairs.values())]
    if len(rivals) == 1:
        return most
    for pattern in _QUANTITIES:
        named = [match for match in rivals if re.search(pattern, match.words.casefold())]
        if named:
            longest = [match for match in named if len(match.pairs) == len(most.pairs)]
            return longest[0] if len(longest) == 1 else None
    return None


def _with_any_ending(mine: Sequence[str], theirs: dict[str, str], fold: Fold) -> IdMatch | None:
    lengths = sorted({len(key) for key in theirs}, reverse=True)

    def key(name: str) -> str | None:
        text = fold(name)
        for n in lengths:
            if text[:n] in theirs and not text[n : n + 1].isalnum():
                return theirs[text[:n]]
        return None

    found = [(name, key(name)) for name in mine]
    pairs = {name: other for name, other in found if other is not None}
    return IdMatch("their endings", key, pairs) if len(set(pairs.values())) == len(pairs) else None


def _by_affixes_of_file(mine: Sequence[str], theirs: Sequence[str]) -> Iterator[IdMatch]:
    """Find ids of the file with the same beginning and ending around those of the table, then with any ending."""
    if len(theirs) > _LONGEST:
        return
    for fold in (str, _signs):
        own = sorted({fold(name) for name in mine if fold(name)}, key=len, reverse=True)[:_TRIED]
        around: Counter[tuple[str, str]] = Counter()
        for name in theirs:
            around.update({pair for key in own for pair in _around(fold(name), key)})
        common = [pair for pair, n in around.most_common(_MOST_AROUND) if any(pair) and n > 1]
        made = [_with_affix_of_file(mine, theirs, fold, *pair) for pair in common]
        matches = [match for match in made if match is not None and len(match.pairs) > 1]
        several = [match for match in matches if set(match.pairs).intersection(matches[0].pairs)]
        if len(several) == 1:
            yield several[0]
        elif not matches:
            free = _from_index(mine, _beginnings(theirs, fold), fold, "their endings")
            if free is not None:
                yield free


def _with_affix_of_file(
    mine: Sequence[str], theirs: Sequence[str], fold: Fold, before: str, after: str
) -> IdMatch | None:
    index: dict[str, list[str]] = defaultdict(list)
    for name in theirs:
        text = fold(name)
        if text.startswith(before) and text.endswith(after) and len(text) > len(before) + len(after):
            index[text[len(before) : len(text) - len(after)]].append(name)
    return _from_index(mine, index, fold, _affix_words(before, after))


def _beginnings(names: Sequence[str], fold: Fold) -> dict[str, list[str]]:
    """Names by all their beginnings that end before a sign."""
    index: dict[str, list[str]] = defaultdict(list)
    for name in names:
        text = fold(name)
        for k in range(1, len(text)):
            if not text[k].isalnum() and text[k - 1].isalnum():
                index[text[:k]].append(name)
    return index


def _from_index(mine: Sequence[str], index: dict[str, list[str]], fold: Fold, words: str) -> IdMatch | None:
    found = {name: index[fold(name)] for name in mine if fold(name) in index}
    if any(len(names) > 1 for names in found.values()):
        return None
    pairs = {name: names[0] for name, names in found.items()}
    single = {text: names[0] for text, names in index.items() if len(names) == 1}
    return IdMatch(words, _by_fold(fold, single), pairs) if len(set(pairs.values())) == len(pairs) > 0 else None


def explain_collision(
    path: str, table_ids: Iterable[str], source: str, file_ids: Iterable[str]
) -> LabelError | None:
    """Say which ids collide, if most ids of a table would be known to a file but for several that are one."""
    mine, theirs = list(dict.fromkeys(filter(None, table_ids))), list(dict.fromkeys(filter(None, file_ids)))
    least = max(2, (min(len(mine), len(theirs)) + 1) // 2)
    best: dict[str, tuple[list[str], list[str]]] = {}
    words = ""
    for how, groups in _groups(mine, theirs):
        if sum(len(names) for names, _ in groups.values()) >= least:
            collided = {key: both for key, both in groups.items() if max(map(len, both)) > 1}
            if collided and not best:
                best, words = collided, how
    if not best:
        return None
    names, keys = next(iter(best.values()))
    several = len(names) > 1
    n, what = len(best), "id" if several else "sample"
    each = f"{keys[0]!r} there would be {_listed(names)}" if several else f"{names[0]!r} could be {_listed(keys)}"
    more = f", and so for {plural(n - 1, what)} more" if n > 1 else ""
    one = "several samples of the table would be one" if several else "a sample of the table would be several"
    return LabelError(
        f"{path}: samples could be found in {source} if {words} were left aside, but then {one}: ",
        SampleIds((f"{each}{more}",), ""),
        ".",
        hint=f"Write the ids of {source} as in the table, one line for each sample that is meant; others are left "
        "out.",
        kind="colliding-ids",
    )


def _listed(names: Sequence[str]) -> str:
    shown = [repr(name) for name in names[:3]]
    return " and ".join([*shown[:-1], shown[-1]]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _groups(
    mine: Sequence[str], theirs: Sequence[str]
) -> Iterator[tuple[str, dict[str, tuple[list[str], list[str]]]]]:
    """Ids of the table and of the file that are the same one way or another, however many."""

    def joined(left: dict[str, list[str]], right: dict[str, list[str]]) -> dict[str, tuple[list[str], list[str]]]:
        return {key: (left[key], right[key]) for key in left if key and key in right}

    def by(names: Sequence[str], fold: Fold) -> dict[str, list[str]]:
        made: dict[str, list[str]] = defaultdict(list)
        for name in names:
            made[fold(name)].append(name)
        return made

    for words, fold in _FOLDS:
        yield words, joined(by(mine, fold), by(theirs, fold))
    if max(len(mine), len(theirs)) <= _LONGEST:
        for fold in (str, _signs):
            yield "endings", joined(_beginnings(mine, fold), by(theirs, fold))
            yield "endings", joined(by(mine, fold), _beginnings(theirs, fold))
