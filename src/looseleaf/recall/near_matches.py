"""Terms that stand for a word which no text has: misspelt, within a compound, or a compound itself.

The index has the vocabulary and finds candidates; here is said which of them count, and how much (a factor below 1).
What was asked for exactly is never here: a term is not its own misspelling, nor its own part.
"""

from __future__ import annotations

from looseleaf.language import stems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_COMPOUNDING = ("german", "dutch", "swedish", "danish", "norwegian", "finnish")
_LINKS = ("es", "en", "er", "s", "n", "e")
"""What stands between the words of a compound: Arbeit-s-vertrag, Sonne-n-schirm."""

_SHORTEST = 9
"""A word of fewer letters is not taken for a compound."""

_LONG = 6
"""A part of fewer letters stands in the middle of a word by chance."""


def close(term: str, candidates: Iterable[str]) -> list[tuple[str, float]]:
    """The candidates that `term` may be a misspelling of, the likeliest first."""
    allowed = _errors(term)
    if not allowed:
        return []
    found = []
    for candidate in dict.fromkeys(candidates):
        if abs(len(candidate) - len(term)) > allowed or not candidate.isalpha():
            continue
        same_start = candidate[:1] == term[:1]
        errors = distance(term, candidate, allowed)
        if errors == 1 and same_start:
            found.append((candidate, 0.8 if len(term) > 4 else 0.6))
        elif errors == 1 and len(term) > 5:
            found.append((candidate, 0.7))  # few people get the first letter wrong
        elif errors == 2 <= allowed and same_start:
            found.append((candidate, 0.6))
    return sorted(found, key=lambda each: (-each[1], each[0]))


def _errors(term: str) -> int:
    """How many letters may be wrong: none in a number or a word of two or three letters."""
    if len(term) < 4 or not term.isalpha():
        return 0
    return 1 if len(term) < 8 else 2


def distance(first: str, second: str, most: int) -> int:
    """Letters left out, put in, changed or swapped with the next; `most + 1` stands for all that is more."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    start = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        start += 1
    first, second = first[start:], second[start:]
    while first and second and first[-1] == second[-1]:
        first, second = first[:-1], second[:-1]
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first):
        last, before, row = before, row, [i + 1] + [0] * len(second)
        for j, other in enumerate(second):
            cost = min(row[j] + 1, before[j + 1] + 1, before[j] + (letter != other))
            if i and j and letter == second[j - 1] and first[i - 1] == other:
                cost = min(cost, last[j - 1] + 1)
            row[j + 1] = cost
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def parts(term: str, candidates: Iterable[str]) -> list[tuple[str, float]]:
    """The compounds among the candidates that end or begin with `term` or hold a long one; the closest first."""
    if len(term) < 4 or not term.isalpha():
        return []
    least = 3 if len(term) > 4 else 4
    found = []
    for candidate in dict.fromkeys(candidates):
        if len(candidate) - len(term) < least or not candidate.isalpha():
            continue
        # The end is what a compound is (a Hausschlüssel is a key); the beginning only says of what sort.
        if candidate.endswith(term):
            found.append((candidate, 0.7))
        elif candidate.startswith(term):
            found.append((candidate, 0.6))
        elif len(term) >= _LONG and term in candidate[least:-least]:
            found.append((candidate, 0.5))  # Donau-dampfschifffahrt-s-museum
    return sorted(found, key=lambda each: (-each[1], len(each[0]), each[0]))


def pieces(word: str) -> list[str]:
    """The terms to look for in the vocabulary, of which a long word (as it was asked) may be made."""
    return list(dict.fromkeys(term for _, _, term in _pieces(word)))


def made_of(word: str, known: Collection[str]) -> list[tuple[str, float]]:
    """Those of `pieces(word)` that are known terms and together are most of the word. The factor is a piece's share.

    The pieces are chosen so that they cover the most letters, with as few pieces as that takes.
    """
    spans: dict[tuple[int, int], str] = {}
    for start, end, term in _pieces(word):
        if term in known:
            spans.setdefault((start, end), term)
    length = len(stems.fold(word))
    best: list[tuple[int, list[tuple[int, int]]]] = [(0, [])] * (length + 1)
    for at in range(1, length + 1 if spans else 0):
        choices = [best[at - 1]]
        for start, end in spans:
            if end == at and len(best[start][1]) < 3:
                covered, chosen = best[start]
                choices.append((covered + end - start, [*chosen, (start, end)]))
        best[at] = max(choices, key=lambda choice: (choice[0], -len(choice[1])))
    covered, chosen = best[-1]
    if covered * 2 < length:
        return []
    return [(spans[span], round(0.8 * (span[1] - span[0]) / length, 3)) for span in chosen]


def _pieces(word: str) -> list[tuple[int, int, str]]:
    """Where a piece begins and ends in the folded word, and its term."""
    plain = stems.fold(word)
    if not _SHORTEST <= len(plain) <= 40 or not plain.isalpha():
        return []
    cuts = range(4, len(plain) - 3)
    spans = [(0, cut) for cut in cuts] + [(cut, len(plain)) for cut in cuts]
    spans += [(start, end) for start in cuts for end in cuts if end - start >= 4]
    found = []
    for start, end in spans:
        piece = plain[start:end]
        found.append((start, end, piece))
        if start == 0 or end == len(plain):
            found += [(start, end, stems.stem(piece, tongue)) for tongue in _COMPOUNDING[: 2 if start else 1]]
        if start == 0:
            found += [
                (start, end, piece[: -len(link)])
                for link in _LINKS
                if piece.endswith(link) and end - len(link) >= 4
            ]
    return [each for each in found if len(each[2]) >= 4]
