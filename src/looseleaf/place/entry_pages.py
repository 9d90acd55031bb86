"""The other pages of an entry: an episode on the page of its month, a line on the page of its day, decisions and tasks
for the state. Each is written once, however often its entry is placed. Items that leave the state go to a page first
(`tidy.py`)."""

from __future__ import annotations

import re
from functools import partial

from looseleaf.base.ids import now
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import is_trusted, level_of
from looseleaf.base.paths import REVIEW
from looseleaf.facts.evidence import forms_of
from looseleaf.facts.gate import is_said_by_user, mentions, supports
from looseleaf.facts.page_lines import Sheet
from looseleaf.language.own_words import own_words
from looseleaf.language.terms import terms
from looseleaf.log.journal import PERSON, PROGRAM
from looseleaf.pages.grammar import add_episode, add_fact, new_page, parse, set_summary, summary_of
from looseleaf.pages.line_edits import unsigned
from looseleaf.pages.pages import Rewritten, try_to
from looseleaf.state.rules import is_said_of, items_of, move, title_of
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import escape, signed_as_found
from looseleaf.text.patterns import lazy
from looseleaf.text.times import clock, day

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any, Protocol

    from looseleaf.base.values import Fact
    from looseleaf.facts.gate import Witness
    from looseleaf.log.entries import Entry
    from looseleaf.pages.pages import Pages
    from looseleaf.state.state import State
    from looseleaf.store.context import Context

    class Needs(Protocol):
        @property
        def pages(self) -> Pages: ...
        @property
        def state(self) -> State: ...


# --- `review/pending.md`: a line to tick or delete for each doubtful fact (FORMAT §13) ---

PATH = REVIEW
HELP = "Tick a line to say yes; delete it, with the line under it, to say no. The next looseleaf command does it.\n"

MOST = 200
"""The most lines that wait: no one reads more. Further ones stay in their entries. Half of the places are for the
user's own words: one hijacked session could fill all others, and the user's would never be asked."""

_QUOTE = 160
_TICK = re.compile(r"^([ \t]*[-*+][ \t]+)\[[xX]\]")


@frozen
class ReviewResult:
    """What became of facts meant for review, by their ids. `edit`: the edit of the page, if any."""

    edit: str = ""
    added: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    """They wait already."""
    rejected: tuple[str, ...] = ()
    """A person rejected them."""
    full: tuple[str, ...] = ()
    """Review is full."""

    def but(self, **changes: Any) -> ReviewResult:
        """Return the same, except for these members."""
        return ReviewResult(**{name: getattr(self, name) for name in type(self).__match_args__} | changes)


def add_waiting(
    text: str, items: Iterable[tuple[Fact, str]], known: Mapping[str, Fact] | None = None
) -> tuple[str, ReviewResult]:
    """Add items to the page of review. `known`: the waiting facts, by id; other lines on the page take no place."""
    text = text or f"{new_page(PATH)}\n{HELP}"
    here = set(_waiting_lines(text))
    others = sum(fact.origin != "user" for name, fact in (known or {}).items() if name in here)
    added: list[str] = []
    waiting: list[str] = []
    full: list[str] = []
    for fact, why in items:
        name = fact.id or ""
        if name in here:
            waiting.append(name)
            continue
        if len(here) >= MOST or (fact.origin != "user" and others >= MOST // 2):
            full.append(name)
            continue
        text = add_fact(text, PATH, fact.relation, fact.object)
        at = parse(PATH, text).facts[-1].line or 0
        lines = split_lines(text)
        end = "\r\n" if lines[0].endswith("\r\n") else "\n"
        text = "".join((*lines[:at], f"  {_evidence_line(fact, why)}{end}", *lines[at:]))
        here.add(name)
        others += fact.origin != "user"
        added.append(name)
    return text, ReviewResult("", tuple(added), tuple(waiting), (), tuple(full))


def describe_overflow(count: int) -> str:
    """Return the sentence about proposals that found no place."""
    return (
        f"{count} {'proposal was' if count == 1 else 'proposals were'} not put into {PATH}: as many wait there as a "
        f"person reads ({MOST}; {MOST // 2} of what the user did not say). Decide some of them."
    )


def _evidence_line(fact: Fact, why: str) -> str:
    when = f" on {day(fact.recorded_at)}" if fact.recorded_at else ""
    from looseleaf.facts.placement import page_of

    goes = page_of(fact.but(level="confirmed"))
    said = f" · “{escape(fact.quote)[:_QUOTE]}”" if fact.quote else ""
    return escape(f"{fact.id} · for {goes} · from {fact.origin or 'nobody'}{when} · {why}{said}")


def under(text: str) -> dict[str, str]:
    """Return the text under each waiting fact, without its id: where it would go, its source, and the reason."""
    lines, waiting = split_lines(text), _waiting_lines(text)
    return {name: lines[at + 1].strip().removeprefix(f"{name} · ") for name, at in waiting.items()}


def line_of(text: str, name: str) -> int | None:
    """Return the line number, from 1, of a waiting fact."""
    found = _waiting_lines(text).get(name)
    return None if found is None else found + 1


def untick(text: str, name: str) -> str:
    """Return the page with this line unticked."""
    lines = list(split_lines(text))
    at = _waiting_lines(text).get(name)
    if at is not None:
        lines[at] = _TICK.sub(r"\1[ ]", lines[at])
    return "".join(lines)


def without(text: str, ids: Collection[str]) -> str:
    """Return the page without these lines, and without the text under them."""
    gone = {line for name, at in _waiting_lines(text).items() if name in ids for line in (at, at + 1)}
    return "".join(line for at, line in enumerate(split_lines(text)) if at not in gone)


def _waiting_lines(text: str) -> dict[str, int]:
    sheet = Sheet(PATH)
    sheet.lines = list(split_lines(text))
    return {name: at for name, (at, _) in sheet.pending().items()}


def with_episode(path: str, text: str, title: str, fields: Sequence[tuple[str, str]]) -> str:
    """Add an episode to a page, and update a summary by rule: it names no agent's episodes."""
    new = add_episode(text, path, title, fields)
    before = unsigned(parse(path, text))
    is_by_rule = not before.summary or before.summary == summary_of(before)
    return set_summary(new, summary_of(unsigned(parse(path, new)))) if is_by_rule else new


_EPISODE = ("problem", "task", "solution", "outcome", "files", "lesson")
_OF_MODEL = ("title", "summary", *_EPISODE)
_FAILURES = {
    " raised SpendingLimit: ": "the ceiling of the day was reached",
    " took longer than ": "the distiller took too long",
    " raised ModelFailed: ": "the model failed",
    " raised PromptTooLong: ": "it was too long for the model",
}
"""Words of a failure (`distill/make_entry.py`), and the words for it on the page of a day."""
_FAILED = "the distiller failed"
_FOUND = "Found"
_DAY_CHARS = 120
_SUMMARY_CHARS = 600
_TITLE_WORDS = 8


class Diary:
    """The diary of one entry. `witnesses`: the words it was made of; `heard`: what tools said before in its session."""

    def __init__(
        self,
        context: Context,
        parts: Needs,
        entry: Entry,
        witnesses: Sequence[Witness],
        is_outdated: Callable[[str], bool],
        heard: Sequence[Witness] = (),
    ) -> None:
        self._note = context.note
        self._parts = parts
        self._entry = entry
        self._witnesses = witnesses
        self._reason = f"distilled from {entry.reference}"
        self._is_outdated = is_outdated
        self._heard = heard
        self._users = [each for each in witnesses if is_trusted(level_of(each.origin))]
        self._name = str(entry.meta.get("id"))
        self._is_by_rules = str(entry.meta.get("distiller", "")).startswith("rules/")
        self._private = frozenset(map(str, entry.summary.get("private", ())))
        self.edits: list[str] = []
        """The edits made."""

    def write(self, facts: int) -> None:
        """Write all pages of an entry with so many facts. A page that cannot be changed is noted, and left."""
        for part in (self.episode, self.state, partial(self.day, facts)):
            try_to(part, self._note)

    def _edit_page(self, path: str, change: Callable[[str], Rewritten]) -> None:
        receipt = self._parts.pages.rewrite(path, change, reason=self._reason)
        self.edits += [receipt.id] if receipt.changed else []

    def episode(self) -> None:
        raw = self._entry.summary.get("episode")
        if not isinstance(raw, dict):
            return
        texts = {name: value for name, value in raw.items() if isinstance(value, str) and value.strip()}
        given = {name: escape(value) for name, value in texts.items()}
        said = {name: value for name, value in given.items() if self._is_told(value)}
        title = said.get("title") or said.get("task") or said.get("problem") or ""
        # An index line would show the title.
        if not self._is_asked(title) and not is_said_by_user(title, self._witnesses):
            title = " ".join(self._first_request().split()[:_TITLE_WORDS])
        if not title:
            return  # nothing was requested
        when = max((each.ts for each in self._witnesses), default=now())
        path = f"episodes/{day(when)[:7]}.md"
        fields = [("Summary", said.get("summary", "")), ("Date", day(when))]
        labels = {"outcome": "Solution"}
        fields += [(labels.get(name, name.capitalize()), said.get(name, "")) for name in _EPISODE]
        left = [given[each] for each in _OF_MODEL if each in given and (each not in said or each == "title")]
        left = [each for each in left if each != title]
        if left and not self._is_by_rules:
            tools = (each.tool for each in self._witnesses if each.tool)
            agent = str(self._entry.meta.get("agent") or "agent")
            # In the model's own words: in the drawer, and in no prompt (`prompt/slot_forms.py` shows no such field).
            fields.append((_FOUND, signed_as_found(" · ".join(left), agent, day(when), tools)))
        fields.append(("Entry", self._name))

        def change(text: str) -> Rewritten:
            if f"- Entry: {self._name}" in text:
                return Rewritten(text)
            return Rewritten(with_episode(path, text, title, fields))

        self._edit_page(path, change)

    def _is_asked(self, title: str) -> bool:
        """Return True if a title is exactly the beginning of the user's own words."""
        words = title.rstrip("…").casefold()
        said = (" ".join(own_words(each.text).split()).casefold() for each in self._users)
        return len(words) > _TITLE_WORDS and any(words in each for each in said)

    def _first_request(self) -> str:
        """Return the user's first request, in their own words."""
        from looseleaf.language.sentences import is_request, sentences

        said = (each for user in self._users for each in sentences(own_words(user.text)))
        return next((each for each in said if is_request(each)), "")

    def _is_told(self, text: str) -> bool:
        """Return True if an episode may contain this. If tools spoke in the session, or the user pasted something, it
        must stand in the user's or the assistant's words: the last episodes are in every prompt."""
        own = [each.text if each.origin == PERSON else _text_by_user(each.text) for each in self._users]
        assistant = [each.text for each in self._witnesses if level_of(each.origin) == "inferred"]
        every = (*self._witnesses, *self._heard)
        others = [each.text for each in every if level_of(each.origin) == "tainted"]
        pairs = zip(self._users, own, strict=True)
        others += [each.text for each, words in pairs if words.strip() != each.text.strip()]
        if not others:
            return True
        # A tool's exact words are no lesson, even if repeated: perhaps to refuse them.
        is_others = any(mentions(text, each) for each in others)
        return any(mentions(text, each) for each in (own if is_others else [*own, *assistant]))

    def day(self, facts: int) -> None:
        """Add a line to the page of its day; never loaded unasked."""
        when = max((each.ts for each in self._witnesses), default=float(self._entry.meta.get("ts") or 0.0))
        path = f"days/{day(when)}.md"
        users = (each for each in self._witnesses if each.origin in ("user", "person"))
        shown = (each.text for each in users if each.source not in self._private and each.text.strip())
        said = escape(next(shown, ""))
        said = said if len(said) <= _DAY_CHARS else f"{said[: _DAY_CHARS - 1].rstrip()}…"
        how = _describe_fallback(self._entry)
        if not (said or facts or how):
            return  # an empty line would only clutter results
        made = f"{facts} {'fact' if facts == 1 else 'facts'}; {f'{how}; ' if how else ''}entry {self._name}"
        line = f"- {clock(when)} {said} ({made})" if said else f"- {clock(when)} {made}"
        if not self._is_by_rules:
            told = escape(str(self._entry.summary.get("summary") or ""))
            line += f"\n  {told[:_SUMMARY_CHARS]}" if told else ""

        def change(text: str) -> Rewritten:
            if f"entry {self._name}" in text:
                return Rewritten(text)
            text = text or f"# {day(when)}\n\n"
            return Rewritten(f"{text if text.endswith(chr(10)) else text + chr(10)}{line}\n")

        self._edit_page(path, change)

    def state(self) -> None:
        """Add the decisions and tasks that the user mentioned: the state is in every prompt."""
        own = {
            each.source: each.text if each.origin == PERSON else own_words(each.text) for each in self._users
        }

        def said(name: str) -> list[str]:
            """Return the sentences that their sources really say: a distiller may attach anything to any words."""
            noted = self._read_notes(name)
            pairs = ((str(each.get("text", "")), own.get(str(each.get("source")), "")) for each in noted)
            heard = [(text, words) for text, words in pairs if words]
            return [text for text, words in heard if _is_sentence(text, words) or supports(text, words)]

        decided, tasks, goals = said("decisions"), said("tasks"), said("goals")
        done = [text for words in own.values() for text in _closing_sentences(words)] + self._done_tasks()
        replaced = self._replaced_decisions(decided, own.values())
        ts = max((each.ts for each in self._witnesses), default=0.0)
        aims = self._find_aims(list(own.values()), goals)
        change = partial(
            move,
            aims=aims,
            ts=ts,
            decided=[(text, "") for text in decided],
            tasks=[(text, "open") for text in tasks],
            is_done=lambda task: is_said_of(done, task),
            is_outdated=lambda text: self._is_outdated(text) or text.casefold() in replaced,
        )
        self._parts.state.move(change, ts, self._reason, self.edits)

    def _read_notes(self, name: str) -> list[dict[str, Any]]:
        """Return what the entry noted under a name, as far as it makes sense."""
        return [each for each in self._entry.summary.get(name, ()) if isinstance(each, dict)]

    def _done_tasks(self) -> list[str]:
        """Return what a model reports as done, if the user or the assistant said so."""
        noted = [str(each.get("text", "")) for each in self._read_notes("done")]
        heard = (each for each in self._witnesses if level_of(each.origin) != "tainted")
        spoken = [own_words(each.text) if each.origin == "user" else each.text for each in heard]
        closing = [each for words in spoken for each in _closing_sentences(words)]
        return [text for text in noted if any(mentions(text, each) for each in closing)]

    def _replaced_decisions(self, decided: Sequence[str], own: Collection[str]) -> set[str]:
        """Return the decisions of the state that these replace. A model may claim any replacement: a new decision must
        be in the user's words, the user must say it or name the old one, and the two must share words."""
        pairs = [
            (str(each.get("text")), str(each.get("replaces") or "")) for each in self._read_notes("decisions")
        ]
        said = frozenset(term for text in own for term in terms(text))
        held = [title_of(each) for each in items_of(self._parts.state.shown(), "decisions_recent")]
        gone: set[str] = set()
        for new, old in pairs:
            words, over = frozenset(terms(new)), frozenset(terms(old))
            for title in held if over and words <= said else ():
                known = frozenset(terms(title))
                is_alike = len(forms_of(new) & forms_of(old)) > 1 and 2 * len(over) >= len(known)
                is_named = over <= said and bool(words & (known - over))
                if ((new in decided and is_alike) or is_named) and mentions(old, title):
                    gone.add(title.casefold())
        return gone

    def _find_aims(self, said: Sequence[str], goals: Sequence[str] = ()) -> dict[str, str]:
        """Return the user's first and last request; a standing rule is no aim. Anything written into the state by hand
        stays. `goals`: a model's reading of it, in the user's words."""
        from looseleaf.distill.forbidding import telling_terms
        from looseleaf.distill.slot_tables import read
        from looseleaf.distill.statements import sentences_of
        from looseleaf.language.sentences import is_request

        def asked(text: str) -> list[str]:
            return [
                each.text
                for each in sentences_of(text)
                if each.is_own
                and each.zone != "after"
                and is_request(each.text)
                and len(telling_terms(each.text)) > 1
                and (each.scores.kind != "rule" or not (each.is_kept or read(each.text)))
            ]

        first = next((found[0] for text in said if (found := asked(text))), "")
        last = next((found[-1] for text in reversed(said) if (found := asked(text))), "")
        first = goals[0] if goals else first
        if not first:
            return {}
        known = self._parts.state.provenance.values().items()
        whose = {value[0]: origin.author for value, origin in known if len(value) == 2}
        free = [name for name in ("goal", "now") if whose.get(name, PROGRAM) == PROGRAM]
        return {name: text for name, text in (("goal", first), ("now", last or first)) if name in free}


def _describe_fallback(entry: Entry) -> str:
    """Report, in our own words, that the rules distilled because a distiller failed: the failure may say anything."""
    loss = entry.meta.get("loss")
    told = entry.meta.get("failures") or (loss.get("failures") if isinstance(loss, dict) else None)
    failures = [each for each in told if isinstance(each, str)] if isinstance(told, list) else []
    if not failures:
        return ""
    why = next((why for sign, why in _FAILURES.items() if any(sign in each for each in failures)), _FAILED)
    return f"by the rules: {why}"


def _text_by_user(text: str) -> str:
    """Return what the user wrote. A single line is the user's, also after a colon: “Fix it: the logger is mute”."""
    return text if "\n" not in text.strip() and not _QUOTES.search(text) else own_words(text)


_QUOTES = lazy(r"[\"“”„«»「」『』]|(?<!\w)'")


def _is_sentence(text: str, words: str) -> bool:
    """Return True if it is, word for word, a sentence that the user wrote."""
    from looseleaf.distill.statements import sentences_of

    return any(each.is_own and each.text == text for each in sentences_of(words))


def _closing_sentences(text: str) -> list[str]:
    from looseleaf.language.sentences import is_done, sentences

    return [sentence for sentence in sentences(text) if is_done(sentence)]
