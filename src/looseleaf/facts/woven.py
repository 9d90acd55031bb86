"""What several machines wrote on one page, made one: facts that say the same stand once. Of two values where there can
be one, the later word of a person stays; if no person said either, both stay, and say where they come from.

Every rule takes lines away or marks them, by an order that the lines themselves have. So it does not matter which
machine applies the rules, or how many machines' lines have arrived.
"""

from __future__ import annotations

from functools import lru_cache

from looseleaf.base.immutable import frozen
from looseleaf.facts.ledger import address_of
from looseleaf.pages.grammar import drawer, find_covered_lines, parse, summary_of_shown
from looseleaf.text.lines import BULLET, body, heading, is_blank, is_updated, statement
from looseleaf.text.weave import Change, Weave, change_between, joined, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Literal

    from looseleaf.base.values import PageText
    from looseleaf.text.weave import Line, LineKey

    Pair = tuple[Line, Line]
    """A line that gives way, and the one it gives way to."""
    Part = Literal["title", "summary", "updated"]
    Whose = Literal["program", "agent", "person"]


@frozen
class Word:
    """Whose word a line is, and when it was said (epoch seconds)."""

    is_persons: bool
    when: float


@frozen
class Verdict:
    """The lines of a woven page that give way, each with the line it gives way to, and those that are marked as
    contested, each with a rival."""

    drops: tuple[tuple[LineKey, LineKey], ...] = ()
    contests: tuple[tuple[LineKey, LineKey], ...] = ()


def judge(path: str, weave: Weave, word: Callable[[Line], Word]) -> Verdict:
    """Return what is to go from a woven page, and what is contested. Judging the result again finds nothing."""
    dropped: dict[LineKey, LineKey] = {}
    while True:
        lines = [line for line in weave.lines() if line.key not in dropped]
        found = _Judging(path, weave, lines, word)
        gone = found.gone()
        if not gone:
            break
        dropped |= {line.key: winner.key for line, winner in gone}
    contests = (
        (line.key, rival.key)
        for line, rival in found.contested()
        if all(known != rival.key for _, known in line.contested)
    )
    return Verdict(tuple(dropped.items()), tuple(contests))


def put_on(path: str, base: str, page: str, file: str) -> str:
    """Return a page with what a person made of another version of it, the base, in a file. Theirs is the later word."""
    changes = {"page": [change_between("0", "", base, {}), change_between("1", base, page, {})]}
    changes["file"] = [change_between("2", base, file, {"page": "0"})]
    weave = Weave(changes, hidden=repeats(path))
    found = judge(path, weave, lambda line: Word(True, float(line.writer == "file")))
    changes["page"].append(Change("3", (), {"file": "2"}, drops=found.drops))
    return Weave(changes, hidden=repeats(path)).text()


class _Judging:
    def __init__(self, path: str, weave: Weave, lines: list[Line], word: Callable[[Line], Word]) -> None:
        self._path, self._weave, self._lines, self._word = path, weave, lines, word
        text = joined(line.text for line in lines)
        self._page: PageText = parse(path, text)
        self._at = _line_numbers([line.text for line in lines])
        covered = find_covered_lines(text)
        self._plain = [line for line, at in zip(lines, self._at, strict=True) if not covered[at]]
        self._roles = [self._page.roles[at] for at in self._at]
        self._is_review = drawer(path) == "review"
        by_number = dict(zip(self._at, self._lines, strict=True))
        self._facts = {by_number[(fact.line or 1) - 1]: address_of(fact) for fact in self._page.facts}
        self._rivals = self._find_rivals() if drawer(path) == "facts" else []

    def gone(self) -> list[Pair]:
        """Return what the first rule that finds anything finds: what goes may change what the next rule sees."""
        rules = self._repeated_blocks, self._frame, self._same_facts, self._beaten
        for rule in rules:
            if found := rule():
                return found
        return []

    # --- facts ---------------------------------------------------------------------------

    def _same_facts(self) -> list[Pair]:
        """Of lines that say the same, written apart, the best word stays, or the one that goes on below; of items of
        review, a ticked one."""
        by_value: dict[tuple[str, ...], list[Line]] = {}
        for line, at in self._facts.items():
            below = self._words_below(line) if self._is_review else ()
            by_value.setdefault((at.slot, at.within, at.key, *below), []).append(line)
        found = [pair for same in by_value.values() for pair in self._all_but(same, self._worth_with_below)]
        return self._with_below(
            (line, best) for line, best in found if set(self._words_below(line)) <= {*self._words_below(best)}
        )

    def _find_rivals(self) -> list[list[Line]]:
        """Return the lines of each slot that holds one value, where several stand that were written apart."""
        by_slot: dict[tuple[str, str], list[Line]] = {}
        for line, at in self._facts.items():
            if not at.many:
                by_slot.setdefault((at.slot, at.within), []).append(line)
        return [
            lines
            for lines in by_slot.values()
            if any(
                self._weave.are_apart(one, other) and self._are_rivals(one, other)
                for n, one in enumerate(lines)
                for other in lines[n + 1 :]
            )
        ]

    def _beaten(self) -> list[Pair]:
        """A person's last word wins over what was written apart from it."""
        found: list[Pair] = []
        for lines in self._rivals:
            if self._word(max(lines, key=self._worth)).is_persons:
                found += self._all_but(lines, self._worth)
        return self._with_below((line, best) for line, best in found if self._are_rivals(line, best))

    def contested(self) -> list[Pair]:
        """Where no value is a person's word, all stay, and each says where it comes from as long as it has a rival."""
        return [
            (line, rival)
            for lines in self._rivals
            for line in lines
            for rival in lines
            if self._weave.are_apart(line, rival) and self._are_rivals(line, rival)
        ]

    def _are_rivals(self, line: Line, other: Line) -> bool:
        return self._facts[line].key != self._facts[other].key

    def _worth(self, line: Line) -> tuple[Any, ...]:
        word = self._word(line)
        is_ticked = self._is_review and "[x]" in line.text[:8].casefold()
        return is_ticked, word.is_persons, word.when, line.rank, -line.number

    def _worth_with_below(self, line: Line) -> tuple[Any, ...]:
        return bool(self._below(line)), *self._worth(line)

    def _with_below(self, pairs: Iterable[Pair]) -> list[Pair]:
        return [(each, winner) for line, winner in pairs for each in (line, *self._below(line))]

    def _below(self, line: Line) -> list[Line]:
        """Return the indented lines that continue a line and came with it."""
        found: list[Line] = []
        for each in self._lines[self._lines.index(line) + 1 :]:
            is_next = (each.change, each.number) == (line.change, line.number + 1 + len(found))
            if not is_next or is_blank(each.text) or not each.text.startswith((" ", "\t")):
                break  # a blank line before it ends what it continues
            found.append(each)
        return found

    def _words_below(self, line: Line) -> tuple[str, ...]:
        return tuple(body(each.text) for each in self._below(line))

    # --- the frame of a page ---------------------------------------------------------------

    def _repeated_blocks(self) -> list[Pair]:
        """The same lines, put in by two machines at once, stand once."""
        blocks: list[list[Line]] = []
        for line, role in zip(self._lines, self._roles, strict=True):
            if role not in ("prose", "episode") or is_blank(line.text):
                continue
            last = blocks[-1][-1] if blocks else None
            if last is not None and (last.change, last.number) == (line.change, line.number - 1):
                blocks[-1].append(line)
            else:
                blocks.append([line])
        by_text: dict[str, list[list[Line]]] = {}
        for block in blocks:
            by_text.setdefault(joined(_words(line) for line in block), []).append(block)
        found: list[Pair] = []
        for same in by_text.values():
            first = min(same, key=lambda block: (block[0].rank, block[0].number))
            for block in same:
                if block is not first and self._weave.are_apart(block[0], first[0]):
                    found += zip(block, first, strict=True)
        return found

    def _frame(self) -> list[Pair]:
        """One title, one summary, one date."""
        titles = [line for line in self._plain if (heading(_words(line)) or (0,))[0] == 1]
        summaries = [line for line in self._plain if _words(line).casefold().startswith("> summary:")]
        dates = [line for line, role in zip(self._lines, self._roles, strict=True) if role == "updated"]
        return [
            *self._all_but(titles, lambda line: -self._lines.index(line)),
            *self._all_but(summaries, lambda line: -self._lines.index(line)),
            *self._all_but(dates, lambda line: (_words(line), self._lines.index(line))),
        ]

    def _all_but(self, lines: Sequence[Line], worth: Callable[[Line], Any]) -> list[Pair]:
        """Return the lines that were written apart from the best one, each with the best."""
        if len(lines) < 2:
            return []
        best = max(lines, key=worth)
        return [(line, best) for line in lines if line is not best and self._weave.are_apart(line, best)]


def _words(line: Line) -> str:
    """Return a line without its end and the blank lines before it."""
    return body(line.text.lstrip("\r\n"))


def _line_numbers(parts: Iterable[str]) -> list[int]:
    """Return on which line of the page (from 0) each is, after its blank lines."""
    found: list[int] = []
    count = 0
    for part in parts:
        own = max(1, part.count("\n") + (not part.endswith("\n")))
        found.append(count + own - 1)
        count += own
    return found


def repeats(path: str) -> Callable[[Weave, list[Line]], dict[Line, Line]]:
    """Return a function that finds the headings of a page that only repeat the one before: two machines began that
    section."""

    def find(weave: Weave, lines: list[Line]) -> dict[Line, Line]:
        found: dict[Line, Line] = {}
        last: Line | None = None
        for line in lines:
            text = line.text.strip()
            if not text.startswith("#") or heading(text) is None or drawer(path) == "episodes":
                continue
            if last is not None and text == last.text.strip() and weave.are_apart(line, last):
                found[line] = last
            else:
                last = line
        return found

    return find


# --- what the program keeps on a page ------------------------------------------------------


def part_of(path: str, line: Line) -> Part | None:
    """Return which line of a page's frame it is: the program keeps its title, its summary and its date."""
    return part_in(path, line.text)


def part_in(path: str, text: str) -> Part | None:
    return _part_of(drawer(path), text)


@lru_cache(4096)
def _part_of(place: str, text: str) -> Part | None:
    words = body(text.lstrip("\r\n"))
    if words.startswith("#"):
        return "title" if (heading(words) or (0,))[0] == 1 else None
    if words.startswith(">"):
        return "summary" if words.casefold().startswith("> summary:") else None
    mark = BULLET.match(words) if place == "facts" and "pdated" in words.casefold() else None
    said = statement(words[mark.end() :]) if mark else None
    return "updated" if said is not None and is_updated(*said) else None


def name_of(path: str, part: str) -> str:
    """Return what a line of a page is recognized by: a line of the frame, whatever it says, by which it is."""
    return part_in(path, part) or words_of(part)


def find_doubles(path: str, lines: Sequence[Line], whose: Callable[[Line], Whose]) -> dict[Line, Line]:
    """Return the lines of the frame that are not shown, each with the one that stands for it: the program keeps one
    title, one summary and one date, whatever was written apart. What a person wrote is hidden by none of these."""
    frame: dict[Part, list[Line]] = {}
    for line in lines:
        part = part_of(path, line)
        if part is not None:
            frame.setdefault(part, []).append(line)
    found: dict[Line, Line] = {}
    for part, some in frame.items():
        if len(some) < 2:
            continue
        places = {line: number for number, line in enumerate(some)}
        own = [line for line in some if whose(line) == "program"]
        if part == "title":
            best = min(some, key=lambda line: (line.is_held, places[line]))
            own += [line for line in some if _is_repeated(line, best) and whose(line) == "agent"]
        elif part == "summary":
            persons = [line for line in some if whose(line) == "person"]
            best = persons[0] if persons else max(own or some, key=lambda line: (line.rank, -line.number))
            own += [line for line in some if whose(line) == "agent"]
        elif not own:
            continue
        else:
            best = max(own, key=lambda line: (not line.is_held, _words(line), places[line]))
        found |= {line: best for line in own if line is not best}
    return found


def _is_repeated(line: Line, best: Line) -> bool:
    return line.change != best.change and _words(line) == _words(best)


def summary_of_lines(
    path: str, lines: Sequence[Line], texts: Sequence[str], is_trusted: Callable[[Line], bool]
) -> str:
    """Return the summary by rule of a woven page, of the facts that an index line may show."""
    page = parse(path, joined(texts))
    by_number = dict(zip(_line_numbers(texts), lines, strict=True))
    shown = (fact for fact in page.facts if is_trusted(by_number[(fact.line or 1) - 1]))
    return summary_of_shown(page, tuple(shown))
