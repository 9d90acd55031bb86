"""The placer: an entry's proposals become lines on pages, wait in review, or are dropped; the reasons are journaled.

An entry also writes an episode on the page of its month, a line on the page of its day, and decisions and tasks in the
state. Items that leave the state go to a page first (`tidy.py`).

An entry is placed whole under the lock, and its record comes last. Each thing is written once, however often its entry
is placed: placing it again after a crash finds what is there and changes nothing.
"""

from __future__ import annotations

import re
from functools import cached_property, partial

from looseleaf.base import ids
from looseleaf.base.errors import NotFound
from looseleaf.base.ids import new_id, now
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.origins import is_trusted, level_of
from looseleaf.base.paths import PROFILE, PROJECT, REVIEW, STATE, TICKED, USER
from looseleaf.base.values import PageText
from looseleaf.facts.evidence import forms_of
from looseleaf.facts.gate import (
    is_named_by_user,
    is_said_by_user,
    judge,
    last_heard,
    mentions,
    proposal_of,
    supports,
)
from looseleaf.facts.ledger import HIGHEST, first_known
from looseleaf.facts.page_lines import Sheet
from looseleaf.language.own_words import strip_pasted
from looseleaf.language.terms import terms
from looseleaf.log.journal import DISTILLED, PERSON, PROGRAM, SCHEMA
from looseleaf.pages.grammar import (
    add_episode,
    add_fact,
    new_page,
    parse,
    remove_line,
    replace_fact,
    set_summary,
    set_updated,
    summary_of,
    summary_of_shown,
    topic_of,
    without_agents_episodes,
)
from looseleaf.pages.pages import Rewritten, try_to
from looseleaf.state.rules import is_said_of, items_of, move, title_of
from looseleaf.store import JOURNAL
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import escape, is_found, lazy, signed_as_found, worded
from looseleaf.text.times import clock, day

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any, Protocol

    from looseleaf.base.messages import Proposal
    from looseleaf.base.values import Ended, Fact, Record
    from looseleaf.facts.gate import Witness
    from looseleaf.facts.known_facts import Facts, Tombstones
    from looseleaf.facts.placement import Outcome, PlacePlan, PlannedLine
    from looseleaf.log.entries import Entry
    from looseleaf.pages.pages import Pages
    from looseleaf.place.send_home import Home, Sent
    from looseleaf.state.state import State
    from looseleaf.store.context import Context

    class EntryPagesNeeds(Protocol):
        @property
        def pages(self) -> Pages: ...
        @property
        def state(self) -> State: ...

    class Needs(EntryPagesNeeds, Protocol):
        replays: Record | None

        @property
        def has_home(self) -> bool: ...
        @property
        def known(self) -> Facts: ...
        def home(self) -> Home | None: ...
        @property
        def has_team(self) -> bool: ...
        def team(self) -> tuple[str, Home] | None: ...
        @property
        def may_be_tracked(self) -> bool: ...
        def is_tracked(self) -> bool: ...
        def kept_out(self, topic: str, lines: Iterable[str]) -> str: ...

    class PlacerNeeds(Needs, Protocol):
        """What parts that work through the placer read."""

        @property
        def placer(self) -> Placer: ...


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
        return ReviewResult(**members_of(self) | changes)


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


# --- an entry's episode, its line of the day, and the state -----------------------------


def with_episode(path: str, text: str, title: str, fields: Sequence[tuple[str, str]]) -> str:
    """Add an episode to a page, and update a summary by rule: it names no agent's episodes."""
    new = add_episode(text, path, title, fields)
    before = without_agents_episodes(parse(path, text))
    is_by_rule = not before.summary or before.summary == summary_of(before)
    return set_summary(new, summary_of(without_agents_episodes(parse(path, new)))) if is_by_rule else new


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
        parts: EntryPagesNeeds,
        entry: Entry,
        witnesses: Sequence[Witness],
        is_outdated: Callable[[str], bool],
        heard: Sequence[Witness] = (),
        may_stand: Callable[[str], bool] = bool,
    ) -> None:
        self._note = context.note
        self._may_stand = may_stand
        self._parts = parts
        self._entry = entry
        self._witnesses = witnesses
        self._reason = f"{DISTILLED}{entry.reference}"
        self._is_outdated = is_outdated
        self._is_shared = context.policy.shared
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
        given = {name: escape(value) for name, value in texts.items() if self._may_stand(value)}
        said = {name: value for name, value in given.items() if self._is_told(value)}
        title = said.get("title") or said.get("task") or said.get("problem") or ""
        # An index line would show the title.
        if not self._is_asked(title) and not is_said_by_user(title, self._witnesses):
            title = " ".join(self._first_request().split()[:_TITLE_WORDS])
        if not title:
            return  # nothing was requested
        when = first_known(last_heard(self._witnesses), now()) or 0.0
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
        said = (" ".join(strip_pasted(each.text).split()).casefold() for each in self._users)
        return len(words) > _TITLE_WORDS and any(words in each for each in said)

    def _first_request(self) -> str:
        """Return the user's first request, in their own words."""
        from looseleaf.language.sentences import is_request, sentences

        said = (each for user in self._users for each in sentences(strip_pasted(user.text)))
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
        when = first_known(last_heard(self._witnesses), float(self._entry.meta.get("ts") or 0.0)) or 0.0
        path = f"days/{day(when)}.md"
        users = (each for each in self._witnesses if each.origin in ("user", "person"))
        shown = (each for each in users if each.source not in self._private and each.text.strip())
        first = next(shown, None)
        said = escape(first.text) if first is not None else ""
        said = f"{first.person}: {said}" if first is not None and first.person else said
        said = said if len(said) <= _DAY_CHARS else f"{said[: _DAY_CHARS - 1].rstrip()}…"
        how = _describe_fallback(self._entry)
        if not (said or facts or how):
            return  # an empty line would only clutter results
        made = f"{facts} {'fact' if facts == 1 else 'facts'}; {f'{how}; ' if how else ''}entry {self._name}"
        line = f"- {clock(when)} {said} ({made})" if said else f"- {clock(when)} {made}"
        if not self._is_by_rules:
            told = escape(str(self._entry.summary.get("summary") or ""))
            told = told if self._may_stand(told) else ""
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
            each.source: each.text if each.origin == PERSON else strip_pasted(each.text)
            for each in self._users
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
        ts = last_heard(self._witnesses) or 0.0
        # In a shared memory nobody's aim is everybody's, and a rule waits for a reviewer.
        aims = self._find_aims(list(own.values()), goals) if not self._is_shared else {}
        decided = [each for each in decided if not (self._is_shared and _is_rule(each))]
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
        spoken = [strip_pasted(each.text) if each.origin == "user" else each.text for each in heard]
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
    return text if "\n" not in text.strip() and not _QUOTES.search(text) else strip_pasted(text)


_QUOTES = lazy(r"[\"“”„«»「」『』]|(?<!\w)'")


def _is_sentence(text: str, words: str) -> bool:
    """Return True if it is, word for word, a sentence that the user wrote."""
    from looseleaf.distill.statements import sentences_of

    return any(each.is_own and each.text == text for each in sentences_of(words))


def _is_rule(text: str) -> bool:
    from looseleaf.distill.statements import sentences_of

    return any(each.scores.kind == "rule" for each in sentences_of(text))


def _closing_sentences(text: str) -> list[str]:
    from looseleaf.language.sentences import is_done, sentences

    return [sentence for sentence in sentences(text) if is_done(sentence)]


# --- placing ----------------------------------------------------------------------------

FORGET = "forget"
"""The tag of a proposal in review to forget the facts that it names as its sources."""


@frozen
class Placed:
    """What became of an entry."""

    entry: str
    outcomes: tuple[Outcome, ...]
    home: tuple[Placed, ...] = ()
    """What became of the facts that went to the home memory."""
    team: tuple[Placed, ...] = ()
    """What became of the facts that went to the shared memory."""

    def of(self, *acts: str) -> list[Fact]:
        return [outcome.fact for outcome in self.outcomes if outcome.act in acts]

    def to_dict(self) -> dict[str, Any]:
        return {
            "entry": self.entry,
            "outcomes": [
                {"act": each.act, "fact": each.fact.to_dict(), "why": each.why} for each in self.outcomes
            ],
            **({"home": [each.to_dict() for each in self.home]} if self.home else {}),
            **({"team": [each.to_dict() for each in self.team]} if self.team else {}),
        }


class Placer:
    def __init__(self, context: Context, parts: Needs) -> None:
        self._context = context
        self._store, self._note = context.store, context.note
        self._parts = parts
        self._here = False
        """Whether a person said that what is placed now belongs here, private or not."""
        self._kept_back = False
        """Whether something private was kept back, because git tracks the folder."""

    @cached_property
    def _tombstones(self) -> Tombstones:
        from looseleaf.facts.known_facts import Tombstones

        return Tombstones(self._store)

    def catch_up(self) -> None:
        """Read the pages as they are now, and apply a person's ticks."""
        self._parts.pages.absorb()
        self._parts.known.catch_up()
        if self._parts.known.is_unsettled():
            self.settle()

    # --- an entry --------------------------------------------------------------------------

    def entry(
        self,
        entry: Entry,
        through: Record | None = None,
        lost: Callable[[PlacePlan], Sequence[Fact]] | None = None,
    ) -> Placed:
        """Place an entry, once: a second time only returns what is held already. `through`: the members that say how
        far the agent's traces are distilled with it. `lost`: returns the facts that go with the entry that it
        replaces."""
        # Imported late: readers never load this.
        from looseleaf.distill.forbidding import forbidden_by
        from looseleaf.distill.make_entry import scored_witnesses, sources_of, tools_before, witnesses_of
        from looseleaf.distill.slot_tables import lexicon
        from looseleaf.facts.placement import PlacePlan, make_outdated_test
        from looseleaf.facts.team import why_it_waits

        self._here, self._kept_back = bool(entry.meta.get("here")), False
        traces = list(sources_of(self._store, entry))
        heard = tools_before(self._store, entry)
        own = read = [*witnesses_of(traces), *scored_witnesses(entry)]
        if entry.meta.get("level") != "rules" and any(map(forbidden_by, traces)):
            read = [*witnesses_of(traces, for_a_model=True), *scored_witnesses(entry)]
        witnesses = [*read, *heard]
        sent, shared = self._send_home(entry, witnesses), self._send_to_team(entry, witnesses)
        topic = entry.reference.rpartition("/")[0]
        name, ts = str(entry.meta.get("id")), float(entry.meta.get("ts") or 0.0)
        with self._parts.pages.absorb.threads, self._store.lock():
            self.catch_up()
            self._refuse_held_diary(own, ts)
            plan = PlacePlan(
                name,
                ts,
                self._parts.known.of if entry.meta.get("origin") != PERSON else self._held_beside_words,
                lambda proposal: self._choose_topic(proposal, entry, witnesses),
                topics=dict.fromkeys((USER, PROJECT, *self._parts.known.topics)),
                lexicon=lexicon(),
                agent=str(entry.meta.get("agent") or "agent"),
                now=ids.now(),
                keeps_back=self._why_private,
                needs_yes=why_it_waits if self._context.policy.shared else None,
            )
            checked = entry.meta.get("checked")
            for number, raw in enumerate(entry.summary.get("facts", ())):
                proposal = proposal_of(raw) if number not in sent.facts | shared.facts else None
                if proposal is not None and not self._was_forgotten(proposal, entry, witnesses):
                    is_checked = isinstance(checked, list) and number in checked
                    plan.take(proposal, witnesses, _read_score(entry, raw), checked=is_checked)
            if entry.reference in self._parts.known.entries_of(topic):
                if through is not None:
                    self.pass_over(str(entry.meta.get("agent")), through)
                return Placed(entry.reference, tuple(plan.outcomes), sent.placed, shared.placed)
            for fact in lost(plan) if lost is not None else ():
                plan.give_up(fact)
            plan.keep_lines()
            self._parts.pages.in_a_row = True  # the folder was looked at just now
            try:
                edits = self.apply(plan, reason=f"{DISTILLED}{entry.reference}")
                # The events of that time are already written down, or written where it was said.
                if not entry.meta.get("instead") and not entry.meta.get("from"):
                    is_outdated = make_outdated_test(
                        self._parts.known, topics=dict.fromkeys((USER, PROJECT, topic))
                    )
                    shown = [each for each in own if self._may_stand(each.text)]
                    diary = Diary(
                        self._context, self._parts, entry, shown, is_outdated, heard, self._may_stand
                    )
                    diary.write(len(plan.outcomes))
                    edits += diary.edits
            finally:
                self._parts.pages.in_a_row = False
            record: Record = {"schema": SCHEMA, "id": new_id(), "ts": ids.now(), "kind": "placed"}
            record |= {
                "entry": entry.reference,
                "entry_ts": ts,
                "topic": topic,
                "agent": str(entry.meta.get("agent")),
                "restated": [list(each) for each in plan.restated],
                "raised": [known(fact) for fact in plan.raised],
                "retold": [[old, known(fact)] for old, fact in plan.retold],
                "ended": [list(each) for each in plan.ended_there],
                "history": [fact.to_dict() for fact in plan.history],
                "dropped": [_drop_record(each) for each in plan.outcomes if each.act == "drop"],
                "edits": edits,
            }
            record |= {"home": True} if sent.facts else {}
            record |= {"team": True} if shared.facts else {}
            record |= {"tracked": True} if self._kept_back else {}
            if entry.meta.get("instead"):
                record["instead"] = str(entry.meta["instead"])
            if through is not None:
                record |= through
            self._store.append(JOURNAL, [record])
            self._parts.known.catch_up()
        return Placed(entry.reference, tuple(plan.outcomes), sent.placed, shared.placed)

    def _held_beside_words(self, topic: str) -> list[Fact]:
        """Return the facts of a topic for a person's own words, which settle what waits, whatever level that has."""
        held = self._parts.known.of(topic)
        return [each if each.status != "pending" else each.but(level="inferred") for each in held]

    def _send_home(self, entry: Entry, witnesses: Sequence[Witness]) -> Sent:
        from looseleaf.place.send_home import NOTHING, HomeSender

        if not self._parts.has_home or entry.meta.get("here"):
            return NOTHING
        return HomeSender(self._context, self._parts)(entry, witnesses)

    def _send_to_team(self, entry: Entry, witnesses: Sequence[Witness]) -> Sent:
        from looseleaf.place.send_home import NOTHING

        if not self._parts.has_team or entry.meta.get("here"):
            return NOTHING
        from looseleaf.place.send_to_team import TeamSender

        return TeamSender(self._context, self._parts)(entry, witnesses)

    def _may_stand(self, text: str) -> bool:
        """Return True unless git tracks the folder, or a team reads it, and a text tells of the user."""
        from looseleaf.facts.belonging import may_be_shown

        if self._context.policy.shared and not may_be_shown(text):
            return False
        is_kept = (
            not (self._here or not self._parts.may_be_tracked or may_be_shown(text))
            and self._parts.is_tracked()
        )
        self._kept_back = self._kept_back or is_kept
        return not is_kept

    def _why_private(self, fact: Fact) -> str:
        said = [worded(fact.relation, fact.object)]
        kinds = self._parts.kept_out(fact.topic, said) if not self._here else ""
        if not kinds:
            return ""
        self._kept_back = True
        return f"private ({kinds}), and git tracks this folder"

    def _was_forgotten(self, proposal: Proposal, entry: Entry, witnesses: Sequence[Witness]) -> bool:
        """Return True if a person had this forgotten after it was said: older words do not come back."""
        if not self._tombstones.are_there:
            return False
        from looseleaf.facts.known_facts import fact_text

        text = fact_text(self._choose_topic(proposal, entry, witnesses), proposal.relation, proposal.object)
        since = self._tombstones.since("fact", text)
        found = judge(proposal, witnesses) if since is not None else None
        return found is not None and (found.order_by(witnesses) or found.ts) <= (since or 0.0)

    def _refuse_held_diary(self, own: Sequence[Witness], ts: float) -> None:
        """Refuse an entry if the page of its day, its month or the state is held: no line of it may get lost."""
        date = day(max((each.ts for each in own), default=ts))
        self._parts.pages.absorb.refuse_held(f"days/{date}.md", f"episodes/{date[:7]}.md", STATE)

    def pass_over(self, agent: str, through: Record | None, later: str | None = None) -> None:
        """Record that an agent's traces are distilled up to a place. `later`: an entry that waits for a held page;
        without one, compactions made their entries."""
        record: Record = {"schema": SCHEMA, "id": new_id(), "ts": ids.now(), "kind": "placed", "agent": agent}
        self._store.append(
            JOURNAL, [record | (through or {}) | ({"later": later} if later is not None else {})]
        )

    def _choose_topic(self, proposal: Proposal, entry: Entry, witnesses: Sequence[Witness]) -> str:
        """Return a canonical topic, of few: the user's own page, the entry's topic, or an existing page. A new name
        comes only from the user's words."""
        from looseleaf.distill.make_entry import SESSIONS
        from looseleaf.facts.team import topic_in_team
        from looseleaf.language.topic_words import topic_name

        own = entry.reference.rpartition("/")[0]
        own = own if own != SESSIONS else PROJECT
        topics = self._parts.known.topics.items()
        known = [USER, *(topic for topic, mark in topics if "/" not in topic and mark[2])]
        name = topic_name(proposal.topic, [*known, PROJECT])
        if name in (PROJECT, SESSIONS):
            name = own
        elif not (name in known or is_said_by_user(proposal.topic, witnesses)):
            name = name if is_named_by_user(proposal.topic, witnesses) else own
        return topic_in_team(name, proposal, witnesses) if self._context.policy.shared else name

    # --- carrying out ----------------------------------------------------------------------

    def apply(self, plan: PlacePlan, *, reason: str, author: str = PROGRAM) -> list[str]:
        """Edit each page once, additions first: a crash leaves a fact twice, never nowhere. Return the edits."""
        paths = [path for path, lines in plan.lines.items() if lines]
        self._parts.pages.absorb.refuse_held(*paths, *([PATH] if plan.review or plan.settled else ()))
        ended = dict(plan.ended)
        edits: list[str] = []

        def order(path: str) -> tuple[bool, str]:
            return all(line.add is None for line in plan.lines[path]), path

        for path in sorted(plan.lines, key=order):
            lines, here = plan.lines[path], (*ended.pop(topic_of(path), ()), *ended.pop(path, ()))
            if lines:
                change = partial(self._rewrite_page, path, lines, here)
                edits.append(self._parts.pages.rewrite(path, change, reason=reason, author=author).id)
                self._parts.known.catch_up()
        if plan.review:
            self.ask(plan.review, reason)
        edits += self.clear(plan.settled)
        return [each for each in edits if each]

    def _rewrite_page(
        self, path: str, lines: Sequence[PlannedLine], ended: Sequence[Ended], text: str
    ) -> Rewritten:
        before = text
        text = text or new_page(path)
        told: list[Record] = []
        there: dict[tuple[str, str], int] = {}
        for number, line in enumerate(lines):
            # Additions only move lines that are no longer looked up.
            if not number or line.remove is not None or lines[number - 1].remove is not None:
                there = {(fact.relation, fact.object): fact.line or 0 for fact in parse(path, text).facts}
            at = there.get((line.remove.relation, line.remove.object)) if line.remove else None
            new = line.add
            if new is None:
                text = remove_line(text, at) if at is not None else text
                continue
            if at is not None:
                text = replace_fact(text, path, at, new.relation, new.object)
            elif (new.relation, new.object) in there:
                continue  # a crash came after this line was written
            else:
                above = self._line_before(path, text, new, told) if path == PROFILE else None
                is_finding = is_found(new.object)
                text = add_fact(text, path, new.relation, new.object, new.kind, above, found=is_finding)
            # Members without a record stay as they were: for a fact that waited, also that it is unverified.
            told.append(known(new) | ({"tags": list(new.tags)} if line.waited else {}))
            there[new.relation, new.object] = 0
        if text == (before or new_page(path)) and not told:
            return Rewritten(before)
        text = set_updated(text, path, day(ids.now()))
        return Rewritten(self.summarised(path, text, told), tuple(told), tuple(ended))

    def _line_before(self, path: str, text: str, fact: Fact, told: Sequence[Record]) -> int | None:
        """Return the place of a fact on USER.md: by its sort, not by its time."""
        from looseleaf.facts.placement import line_before

        here = (each for each in self._parts.known.of(USER) if each.path == path)
        known = {(each.relation, each.object): (each.kind, each.tags) for each in here}
        known |= {
            (each["relation"], each["object"]): (each.get("kind"), tuple(each.get("tags") or ()))
            for each in told
        }
        standing = []
        for each in parse(path, text).facts:
            kind, tags = known.get((each.relation, each.object), (each.kind, ()))
            standing.append(each.but(kind=kind, tags=tags))
        return line_before(fact, standing)

    def summarised(self, path: str, text: str, told: Sequence[Record] = ()) -> str:
        """Return the page with a summary by rule, of facts that an index line may show; other authors' stay."""
        page = parse(path, text)
        sheet = self._parts.known.sheet(path)
        if page.summary and (sheet is None or not sheet.is_summary_free):
            return text  # a person's own, or of an unknown author
        return set_summary(text, self.summary_of(path, page, told))

    def summary_of(self, path: str, page: PageText, told: Sequence[Record] = ()) -> str:
        """Return a summary by rule of what the user said or a person wrote on a page."""
        trusted = {(each["relation"], each["object"]) for each in told if is_trusted(each.get("level"))}
        here = (fact for fact in self._parts.known.of(topic_of(path)) if fact.path == path)
        trusted |= {(fact.relation, fact.object) for fact in here if is_trusted(fact.level)}
        shown = tuple(fact for fact in page.facts if (fact.relation, fact.object) in trusted)
        return summary_of_shown(page, shown)

    def ask(self, items: Sequence[tuple[Fact, str]], reason: str = "held back") -> ReviewResult:
        """Put facts into review, once; rejected ones stay rejected."""
        topics = dict.fromkeys(fact.topic for fact, _ in items)
        held = (each for topic in topics for each in self._parts.known.of(topic))
        no = {each.id for each in held if each.status == "rejected"}
        asked = ReviewResult(rejected=tuple(fact.id or "" for fact, _ in items if fact.id in no))
        items = [(fact, why) for fact, why in items if fact.id not in no]
        if not items:
            return asked

        def change(text: str) -> Rewritten:
            nonlocal asked
            waiting = {fact.id or "": fact for fact in self._parts.known.waiting()}
            new, found = add_waiting(text, items, waiting)
            asked = found.but(rejected=asked.rejected)
            return Rewritten(new, tuple(known(fact) for fact, _ in items if fact.id in found.added))

        receipt = self._parts.pages.rewrite(PATH, change, reason=reason)
        if asked.full:
            self._note(describe_overflow(len(asked.full)))
        return asked.but(edit=receipt.id)

    # --- what a person ticked ----------------------------------------------------------------

    def settle(self) -> None:
        """Apply the ticks in review; ask again for facts that lost their line there."""
        with self._parts.pages.absorb.threads, self._store.lock():
            self._parts.known.catch_up()
            ticked, lost, decided = self._parts.known.unsettled()
            reason = f"ticked in {PATH}"
            for fact in ticked:
                self._try(
                    partial(self.approve, fact, reason=reason), f"{fact.id}, {reason}, was not approved"
                )
            if lost:
                again = partial(self.ask, [(fact, "asked again") for fact in lost], "asked again")
                self._try(again, "No one was asked again")
                self._parts.known.catch_up()
            if decided:
                over = {fact.id for fact in self._parts.known.all() if fact.status != "pending"}
                clear = partial(self.clear, [name for name in decided if name in over])
                self._try(clear, f"{PATH} still shows what was decided")

    def _try(self, act: Callable[[], object], otherwise: str) -> None:
        """Try an act: a failure stops neither the rest nor readers. A tick stays: the next command tries again."""
        try_to(act, lambda why: self._note(f"{otherwise}: {why} It is tried again with the next command."))

    def approve(self, fact: Fact, *, reason: str, edits: Sequence[str] = ()) -> None:
        """Apply a person's yes: the fact goes to its page, whatever contradicted it. `edits`: edits already made for
        it. If it is a proposal to forget, remove what it names instead."""
        self._parts.pages.absorb.refuse_held(PATH)
        if FORGET in fact.tags:
            named = [each for each in self._parts.known.of(fact.topic) if each.id in fact.sources]
            gone = [self.remove(each, reason) for each in named if each.status == "current" and each.path]
            done = [*edits, *gone, *self.clear([fact.id or ""])]
            self.say(fact, {"status": "superseded"}, ("status",), reason, edits=done)
            return
        from looseleaf.facts.placement import PlacePlan

        facts = self._parts.known
        plan = PlacePlan(fact.entry_id or "", fact.entry_ts or 0.0, facts.of, lambda proposal: fact.topic)
        plan.confirm(fact, ids.now())
        done = self.apply(plan, reason=reason, author=PERSON)
        # The same may stand there already, by a person's own hand; then nothing is left to wait for.
        stands = any(line.add is not None for lines in plan.lines.values() for line in lines)
        new: Record = {"level": "confirmed"} if stands else {"status": "superseded"}
        done += self.clear([fact.id or ""])
        was = fact.but(tags=tuple(tag for tag in fact.tags if tag != TICKED))
        self.say(was, new, ("level", "confidence", "tags", "status"), reason, edits=[*edits, *done])

    def remove(self, fact: Fact, reason: str) -> str:
        """Remove a fact from its page on a person's word; it does not come back by itself. Return the edit."""
        path = fact.path or ""
        gone = [fact, *self.retold(fact)]

        def change(text: str) -> Rewritten:
            for each in gone:
                text = remove_line(text, find_line_on(each, path, text))
            return Rewritten(self.summarised(path, text), tuple(map(known, gone)))

        receipt = self._parts.pages.rewrite(path, change, reason=reason, author=PERSON)
        self._parts.known.catch_up()
        return receipt.id

    def retold(self, fact: Fact) -> list[Fact]:
        """Return the notes on its page that repeat it."""
        from looseleaf.facts.placement import retells

        here = (each for each in self._parts.known.of(fact.topic) if each.path == fact.path)
        return [each for each in here if each.id != fact.id and retells(each, fact)]

    def say(
        self, fact: Fact, new: Record, members: Sequence[str], reason: str, edits: Sequence[str] = ()
    ) -> None:
        """Journal a person's decision on a fact, its value before, and the edits made for it."""
        record = _decision(fact, new, members, reason)
        if edits:
            record["edits"] = list(edits)
        self._store.append(JOURNAL, [record])
        self._parts.known.catch_up()

    def say_of_all(self, facts: Sequence[Fact], new: Record, reason: str) -> None:
        """Journal one decision on several facts, as one act."""
        records = [_decision(fact, new, tuple(new), reason) for fact in facts]
        for record in records:
            record["act"] = records[0]["id"]
        self._store.append(JOURNAL, records)
        self._parts.known.catch_up()

    def clear(self, ids: Collection[str], reason: str = "decided") -> list[str]:
        """Remove lines from review. Return the ids of the edits."""
        if not ids:
            return []

        def change(text: str) -> Rewritten:
            return Rewritten(without(text, ids))

        receipt = self._parts.pages.rewrite(PATH, change, reason=reason)
        self._parts.known.catch_up()
        return [receipt.id] if receipt.id else []


def _decision(fact: Fact, new: Record, members: Sequence[str], reason: str) -> Record:
    record: Record = {"schema": SCHEMA, "id": new_id(), "ts": ids.now(), "kind": "fact"}
    record |= {"fact": fact.id, "topic": fact.topic, "author": PERSON, "reason": reason, "set": new}
    return record | {"was": {name: json_member(fact, name) for name in members}}


def find_line_on(fact: Fact, path: str, text: str) -> int:
    """Return the fact's current line number: the page may have been saved a moment ago."""
    said = (fact.relation, fact.object)
    lines = [each.line or 0 for each in parse(path, text).facts if (each.relation, each.object) == said]
    if not lines:
        raise NotFound(f"{path} was not changed: “{fact.relation}: {fact.object}” is no longer on it.")
    return min(lines, key=lambda line: abs(line - (fact.line or 0)))


def json_member(fact: Fact, member: str) -> Any:
    """Return a member as JSON has it."""
    value = getattr(fact, member)
    return list(value) if isinstance(value, tuple) else value


def known(fact: Fact) -> Record:
    """Return the journal's record of a fact beyond its line."""
    return {name: value for name, value in fact.to_dict().items() if name not in ("line", "path", "status")}


def _read_score(entry: Entry, raw: Record) -> float | None:
    """Return a person's score, in an entry of an older format. A distiller gives no scores."""
    score: Any = raw.get("user_fact_score") if "upgraded" in entry.meta else None
    return float(score) if type(score) in (int, float) and 0 <= score <= HIGHEST else None


def _drop_record(outcome: Outcome) -> Record:
    fact = outcome.fact
    return {"relation": fact.relation, "object": fact.object, "topic": fact.topic, "why": outcome.why}
