"""The cut: what is to go. Whole sources, sentences of a source, facts and topics of pages. All else that is forgotten
follows from these.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from copy import copy
from unicodedata import normalize

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.messages import Trace
from looseleaf.base.paths import STATE
from looseleaf.facts.gate import proposal_of
from looseleaf.facts.known_facts import fact_text, sentence_text
from looseleaf.facts.stones import HEARD, NOTHING_AGAIN, SAID
from looseleaf.forget.rebase_edits import cut_state
from looseleaf.language.topic_words import topic_name
from looseleaf.log.entries import FOLDER, entries_in, read_entry, traces_of
from looseleaf.pages.grammar import find_covered_lines, new_page, parse, remove_line, topic_of
from looseleaf.place import placer as review_page
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import body, fence
from looseleaf.text.spellings import (
    MASK,
    drop_sentences_with,
    each_text,
    fold_text,
    is_nothing_else,
    masked_value,
    places,
    spellings,
    worded,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence
    from typing import Any, Protocol

    from looseleaf.base.messages import Proposal
    from looseleaf.base.values import Fact, Record
    from looseleaf.facts.known_facts import Facts
    from looseleaf.facts.stones import Again
    from looseleaf.store.protocol import Store

    class Heard(Protocol):
        words: set[str]
        sessions: set[str]
        origins: set[str]
        lines: set[str]
        quotes: dict[str, set[str]]


_OWN = frozenset(
    "schema id ts turn_id seq trace_type source_event session_id origin kind crc bodies session_start flag tool_name "
    "tool_call_id tags".split()
)
"""Members of a trace that are not its words."""


def topic_of_proposal(topics: Callable[[str], str], proposal: Proposal, own: str) -> str:
    """Return the topic whose page a fact of an entry went to."""
    name = topics(proposal.topic)
    return name if name not in ("project", "sessions") or own == "sessions" else own


class Cut:
    """What is to go. `by` and `what`: how it was selected. `words`: folded; every sentence that holds them goes.
    `quotes`: by trace or text, the sentences that go from it. `facts`: by slot and value, as tombstones know them;
    `named`: their ids. `topics`: all their pages and entries. `sessions`, `origins`: all their sources. `entries`:
    by reference, made of texts that go whole. `lines`: of pages, as tombstones know sentences. `again`: what stays all
    the same."""

    def __init__(
        self,
        by: str,
        what: str,
        agent: str | None = None,
        *,
        words: tuple[str, ...] = (),
        facts: frozenset[str] = frozenset(),
        named: frozenset[str] = frozenset(),
        topics: frozenset[str] = frozenset(),
        sessions: frozenset[str] = frozenset(),
        origins: frozenset[str] = frozenset(),
        entries: frozenset[str] = frozenset(),
        lines: frozenset[str] = frozenset(),
        again: Again = NOTHING_AGAIN,
    ) -> None:
        self.by, self.what, self.agent, self.words = by, what, agent, words
        self.facts, self.named, self.topics = facts, named, topics
        self.sessions, self.origins, self.entries = sessions, origins, entries
        self.lines = lines
        self.again = again
        self.quotes: Mapping[str, tuple[str, ...]] = {}

    def with_quotes(self, more: Mapping[str, set[str]]) -> Cut | None:
        """Return the same cut with more sentences; None if it has them all."""
        new = {source: {*words, *self.quotes.get(source, ())} for source, words in more.items()}
        other = copy(self)
        other.quotes = {**self.quotes, **{source: tuple(sorted(words)) for source, words in new.items()}}
        return (
            None if all({*self.quotes.get(source, ())} == words for source, words in new.items()) else other
        )

    def takes(self, session: object, origin: object, agent: str) -> bool:
        """True if a source of this session and origin goes whole."""
        if self.agent not in (None, agent):
            return False
        if session in self.sessions:
            return True
        return any(origin == each or str(origin).startswith(f"{each}:") for each in self.origins)

    def cut_trace(self, agent: str, record: Record) -> Record | None:
        """Return what is left of a trace: itself, itself with sentences masked, or None."""
        if self.takes(record.get("session_id"), record.get("origin"), agent):
            return None
        others = {name: value for name, value in record.items() if name not in _OWN}
        if Trace.from_record(record) is None:  # a reserved turn, or a foreign line
            return None if self.holds([*each_text(others)]) else record
        words = (*self.words, *self.quotes.get(str(record.get("id")), ()))
        if not words or self.agent not in (None, agent):
            return record
        if not _say_any((*each_text([*others.values()]), *worded({"tags": record.get("tags")})), words):
            return record
        left = {name: value if name in _OWN else masked_value(value, words) for name, value in record.items()}
        if isinstance(record.get("tags"), (list, tuple)):
            left["tags"] = [tag for tag in record["tags"] if not self.holds({"tags": [tag]})]
        said = [text for name in SAID for text in each_text(left.get(name))]
        return None if all(map(is_nothing_else, said)) else left

    def holds(self, value: Any) -> bool:
        """True if the words stand in a text, or in what a record of the program says."""
        return bool(self.words) and _say_any(worded(value), self.words)

    def cut_text(self, text: str, name: str = "") -> str:
        """Return what is left of a text with this name."""
        return drop_sentences_with(text, (*self.words, *self.quotes.get(name, ())))

    def takes_fact(self, topic: str, relation: str, said: str) -> bool:
        if self.is_again(topic, relation, said):
            return False
        if topic in self.topics or self.holds(f"{relation}: {said}"):
            return True
        return bool(self.facts) and fact_text(topic, relation, said) in self.facts

    def is_again(self, topic: str, relation: str, said: str) -> bool:
        """True if a fact was said again since it was forgotten."""
        return bool(self.again.facts) and fact_text(topic, relation, said) in self.again.facts

    def takes_page(self, path: str) -> bool:
        return path.startswith("facts/") and topic_of(path) in self.topics

    def cut_page(self, path: str, text: str) -> str:
        """Return what is left of a page. Headings stay, without their words: the text below them is something else."""
        if self.takes_page(path):
            return self._left_of_page(path, text)
        if path.startswith("review/"):
            text = review_page.without(text, self.named) if self.named else text
        elif self.facts or self.topics:
            topic = topic_of(path)
            facts = parse(path, text).facts
            gone = [each.line or 0 for each in facts if self.takes_fact(topic, each.relation, each.object)]
            for line in sorted(gone, reverse=True):
                text = remove_line(text, line)
        if self.lines:
            lines = split_lines(text)
            kept = self._find_kept(path, text, lines)
            text = drop_lines(
                lines, {at for at, line in enumerate(lines) if at not in kept and self._has_line(line)}
            )
        if not self.holds(text):
            return text
        if path.startswith("review/"):
            lines = split_lines(text)
            waiting = {name: (review_page.line_of(text, name) or 1) - 1 for name in review_page.under(text)}
            # Of the line under an item, only what it quotes: the rest is the program's.
            told = {
                name: [lines[at], "\n".join(_QUOTED.findall(lines[at + 1]))] for name, at in waiting.items()
            }
            text = review_page.without(text, {name for name, texts in told.items() if self.holds(texts)})
        return self._remove_lines(path, text)

    def _left_of_page(self, path: str, text: str) -> str:
        """Return what is left of a page that goes: the frame, and what was said again."""
        lines = split_lines(text)
        if not any(self.again.has(path, line) for line in lines):
            return ""
        return drop_lines(lines, {*range(len(lines))} - self._find_kept(path, text, lines))

    def _find_kept(self, path: str, text: str, lines: Sequence[str]) -> set[int]:
        again = {at for at, line in enumerate(lines) if self.again.has(path, line)}
        return again | _find_program_lines(path, text, lines)

    def _has_line(self, line: str) -> bool:
        plain = sentence_text(line)
        return plain in self.lines or plain.removeprefix("summary: ") in self.lines

    def _remove_lines(self, path: str, text: str) -> str:
        """Remove the lines that hold the words, even across a line end."""
        lines = split_lines(text)
        kept = self._find_kept(path, text, lines)
        gone = {
            at for at, line in enumerate(lines) if at not in kept and self.holds(_strip_labels(path, line))
        }
        starts = [0]
        plain = [normalize("NFC", line) for line in lines]
        for line in plain:
            starts.append(starts[-1] + len(line))
        for word in self.words:
            for start, end in places("".join(plain), word):
                first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
                gone |= {*range(first, last + 1)} - kept if first < last else set()
        return drop_lines(lines, gone)

    def cut_version(self, path: str, data: bytes | None, before: bytes | None = None) -> bytes | None:
        """Return what is left of a page's version that follows another."""
        if data is None:
            return None
        if path == STATE:
            return cut_state(data, self._holds_row, before)
        if self.takes_page(path):
            return self.cut_page(path, data.decode("utf-8", "replace")).encode() or None
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode("latin-1")
            return self.cut_page(path, text).encode("latin-1", "replace") if self.words else data
        left = self.cut_page(path, text)
        return data if left == text else left.encode()

    def _holds_row(self, row: Any) -> bool:
        return self.holds(row) and not self.again.has_row(filter(self.holds, worded(row)))

    @property
    def is_of_sources(self) -> bool:
        """True if whole sources go, and people's own writing stays."""
        return bool(self.sessions or self.origins or self.entries)


def _say_any(texts: Iterable[str], words: tuple[str, ...]) -> bool:
    """True if one of the texts says one of these folded words, in any spelling."""
    return any(word in spelt for text in texts for spelt in spellings(text) for word in words)


_QUOTED = re.compile("“[^”]*”")
_LABEL = re.compile(
    r"> Summary: |- (?:Summary|Date|Problem|Task|Solution|Lesson|Entry): ?|- [0-9]{2}:[0-9]{2} "
)
_MADE_OF = re.compile(r"\([0-9]+ facts?; [^()]*entry [0-9A-Z]+\)\s*\Z")


def _strip_labels(path: str, line: str) -> str:
    """Return a line without the program's own additions."""
    if path.startswith(("days/", "episodes/")) or line.startswith("> "):
        line = _LABEL.sub("", line, count=1)
    return _MADE_OF.sub("", line) if path.startswith("days/") else line


def _find_program_lines(path: str, text: str, lines: Sequence[str]) -> set[int]:
    """Return the program's own lines: its title, its date, its help, and those under review items."""
    roles = parse(path, text).roles
    kept = {at for at, role in enumerate(roles) if role == "updated"}
    kept |= {at for at, line in enumerate(lines) if line in (new_page(path), review_page.HELP)}
    if path.startswith("review/"):
        kept |= {review_page.line_of(text, name) or 0 for name in review_page.under(text)}
    return kept


def _mask_heading(line: str) -> str:
    """Return what is left of a removed line: a heading stays, without its words."""
    marks = len(line) - len(line.lstrip("#"))
    return f"{'#' * marks} {MASK}\n" if 0 < marks <= 6 else ""


def drop_lines(lines: Sequence[str], gone: Container[int]) -> str:
    """Return a page without some of its lines. What opens or ends a fence or a comment stays, without its words: the
    other lines are read as before."""
    covered = find_covered_lines("".join(lines))

    def is_read_as_before(left: Sequence[str]) -> bool:
        there = (at for at, line in enumerate(left) if line)
        now = zip(there, find_covered_lines("".join(left)), strict=True)
        return all(is_covered == covered[at] for at, is_covered in now if at not in gone)

    left = [line if at not in gone else _mask_heading(line) for at, line in enumerate(lines)]
    if not is_read_as_before(left):
        left = list(lines)
        for at in (at for at in range(len(lines)) if at in gone):
            for marks in (_mask_heading(lines[at]), f"{fence(body(lines[at]))}\n", "<!--\n", "-->\n"):
                left[at] = marks
                if is_read_as_before(left):
                    break
    return "".join(left)


SELECTORS = ("fact", "topic", "session", "origin", "match")
_LEAST = 3
"""Fewest letters of words to forget wherever they stand."""

_LEAST_UNSPACED = 2
"""The same in scripts whose words are a character or two."""


def read_selector(given: Mapping[str, str | None], agent: str | None = None) -> tuple[str, str]:
    """Return the one given selector and what it names."""
    chosen = [(name, what) for name, what in given.items() if what is not None]
    for name, what in (*chosen, *([("agent", agent)] if agent is not None else ())):
        if not isinstance(what, str):
            raise Invalid(f"Nothing was forgotten: the {name} must be text, not {type(what).__name__}.")
    if len(chosen) != 1 or not chosen[0][1].strip():
        names = ", ".join(f"`--{name}`" for name in SELECTORS[:-1])
        raise Invalid(f"Nothing was forgotten: say what to forget by one of {names} or `--{SELECTORS[-1]}`.")
    return chosen[0][0], chosen[0][1].strip()


def canonical_topics(facts: Facts) -> Callable[[str], str]:
    """Return a function for a topic's name as entries use it."""
    known = [*(topic for topic in facts.topics if "/" not in topic), "user", "project"]
    return lambda name: topic_name(name, known)


def cut_for(store: Store, facts: Facts, by: str, what: str, agent: str | None) -> Cut:
    """Return the cut that a selector asks for. `facts` are up to date."""
    match by:
        case "fact":
            fact = facts.find(what)
            return _cut_facts(store, facts, by, fact.id or what, [fact], frozenset())
        case "topic":
            if what == "sessions":
                raise Invalid(
                    "Nothing was forgotten: sessions is not a topic: it keeps talk of every topic. "
                    "`looseleaf sessions` lists them; forget one by `--session`, or all talk by `--origin user`."
                )
            topics = canonical_topics(facts)
            name = what if what in facts.topics or what in store.folders(FOLDER) else topics(what)
            if name not in facts.topics and name not in store.folders(FOLDER):
                known = sorted(topic for topic in facts.topics if "/" not in topic and topic != "sessions")
                raise NotFound(
                    f"Nothing was forgotten: there is no topic {what!r}. There are: {', '.join(known) or 'none'}."
                )
            return _cut_facts(store, facts, by, name, facts.of(name), frozenset({name}))
        case "match":
            words = fold_text(what)
            least = _LEAST_UNSPACED if max(words, default="") >= "\u2e80" else _LEAST
            if sum(map(str.isalnum, words)) < least:
                raise Invalid(
                    f"Nothing was forgotten: {what!r} is too short, and would take most sentences with it. "
                    f"Give at least {_LEAST} letters."
                )
            return Cut(by, what, agent, words=(words,))
        case "session":
            return Cut(by, what, agent, sessions=frozenset({what}))
        case "entries":
            return Cut(by, what, agent, entries=frozenset(what.split()))
        case _:
            return Cut(by, what, agent, origins=frozenset({what}))


def _cut_facts(
    store: Store, facts: Facts, by: str, what: str, chosen: Iterable[Fact], topics: frozenset[str]
) -> Cut:
    """Cut these facts, from all sources: with the sentences that say them."""
    chosen = list(chosen)
    texts = frozenset(fact_text(each.topic, each.relation, each.object) for each in chosen)
    named = {
        each.id or ""
        for topic in {each.topic for each in chosen}
        for each in facts.of(topic)
        if fact_text(each.topic, each.relation, each.object) in texts
    }
    cut = Cut(by, what, facts=texts, named=frozenset(named), topics=topics)
    return cut.with_quotes(_collect_quotes(store, facts, cut, chosen)) or cut


def cut_heard(
    store: Store, facts: Facts, chosen: list[Fact], topics: frozenset[str], found: Heard, again: Again
) -> Cut:
    """Cut what was found of another machine's forgetting."""
    base = _cut_facts(store, facts, HEARD, "", chosen, topics)
    cut = Cut(
        HEARD,
        "",
        words=tuple(sorted(found.words)),
        facts=base.facts,
        named=base.named,
        topics=topics,
        sessions=frozenset(found.sessions),
        origins=frozenset(found.origins),
        lines=frozenset(found.lines),
        again=again,
    )
    quotes = {source: set(words) for source, words in base.quotes.items()}
    for source, words in found.quotes.items():
        quotes.setdefault(source, set()).update(words)
    return cut.with_quotes(quotes) or cut


def _collect_quotes(store: Store, facts: Facts, cut: Cut, chosen: list[Fact]) -> dict[str, set[str]]:
    """Return, by source, the words that say one of the facts."""
    found: dict[str, set[str]] = {}
    topics = canonical_topics(facts)
    for reference in entries_in(store):
        own = reference.rpartition("/")[0]
        try:
            entry = read_entry(store, reference)
        except Refused:
            continue
        found_in = filter(None, map(proposal_of, entry.summary.get("facts", ())))
        taken = [
            each
            for each in found_in
            if cut.takes_fact(topic_of_proposal(topics, each, own), each.relation, each.object)
        ]
        if not taken:
            continue
        if "traces" in entry.meta:
            said = {
                trace.id: fold_text(" ".join(each_text(trace.to_record())))
                for trace in traces_of(store, entry)
            }
        else:
            path = f"{FOLDER}/{entry.meta.get('raw') or reference}/raw.md"
            document = store.get(path)
            said = {path: fold_text(document.data.decode("utf-8", "replace") if document else "")}
        for proposal in taken:
            for words in (fold_text(proposal.quote), fold_text(proposal.object)):
                where = [source for source, text in said.items() if words and words in text]
                for source in where:
                    found.setdefault(source, set()).add(words)
                if where:
                    break  # the value only where the quote stands nowhere
    for fact in chosen:
        for source in fact.sources if fact.quote else ():
            found.setdefault(source.partition("#")[0], set()).add(fold_text(fact.quote or ""))
    return found
