"""Making memory: distill talk, texts and a person's own words, and place the result.

Apart from the notebook, so that readers of facts never load what makes them.

A person's words to the memory itself (`remember`) become memory now, as the person's own word. Facts that the rules
read in them are placed like any others, and are confirmed; so is every sentence that says more, in its own words. Text
that makes no line (too long, or one of too many) is noted by an edit of the page. Only a greeting is skipped, and
reported.
"""

from __future__ import annotations

from functools import partial

from looseleaf.base import ids as clock
from looseleaf.base.errors import Invalid, NotFound, Refused, is_text
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.messages import Turn
from looseleaf.base.origins import may_forbid
from looseleaf.base.paths import PROFILE, PROJECT, USER, safe_name
from looseleaf.base.values import START, Position
from looseleaf.distill.make_entry import (
    MOST_NOTES,
    SESSIONS,
    EntryWriter,
    MaterialText,
    Missing,
    TurnRange,
    WholeEntryWriter,
    undistilled,
)
from looseleaf.distill.statements import NOTE_CHARS
from looseleaf.facts.known_facts import Tombstones
from looseleaf.facts.ledger import true_at
from looseleaf.facts.replacing import PLAIN
from looseleaf.language.sentences import is_phatic, sentences
from looseleaf.language.topic_words import choose, topic_name, topic_of_text, vocabulary
from looseleaf.log.entries import FOLDER, entries_in, read_entry, spots_of, traces_of
from looseleaf.log.journal import PERSON
from looseleaf.log.recorder import stream_of
from looseleaf.log.turns import through_members
from looseleaf.pages.grammar import read_stated_facts, with_facts
from looseleaf.pages.held import Unsettled
from looseleaf.place.placer import Placed
from looseleaf.store import JOURNAL
from looseleaf.store.reading import read_and_write
from looseleaf.store.streams import ASKER
from looseleaf.text.lines import NOTE, worded
from looseleaf.text.secrets import without_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, Protocol

    from looseleaf.base.messages import Distiller, Trace
    from looseleaf.base.values import Receipt, Record
    from looseleaf.distill.make_entry import MadeEntry
    from looseleaf.log.entries import Entry
    from looseleaf.log.journal import AgentHead
    from looseleaf.pages.pages import Pages
    from looseleaf.place.corrections import Obey
    from looseleaf.place.notebook import Notebook
    from looseleaf.place.placer import PlacerNeeds
    from looseleaf.place.redistill import Difference
    from looseleaf.place.tidy import Archive, Tidy
    from looseleaf.store.context import Context
    from looseleaf.views.build import Topics

    class Needs(PlacerNeeds, Protocol):
        @property
        def archive(self) -> Archive: ...
        @property
        def notebook(self) -> Notebook: ...
        @property
        def obey(self) -> Obey: ...
        @property
        def tidy(self) -> Tidy: ...
        @property
        def topics(self) -> Topics: ...
        @property
        def distiller(self) -> Distiller | None:
            """The distiller of the memory; None: the rules."""

        def claim(self, chore: str) -> AbstractContextManager[bool]: ...

    class RememberNeeds(Protocol):
        @property
        def making(self) -> MemoryMaker: ...
        @property
        def pages(self) -> Pages: ...


# --- distilling -------------------------------------------------------------------------

_CHOSEN_FROM = 200
"""The number of last changed topics from which a text's topic is chosen."""


def _is_plain_note(fact: dict[str, Any]) -> bool:
    """Return True if a fact is a line that replaces no other line."""
    is_guess = fact.get("change", 1.0) < PLAIN
    return bool(fact["relation"] == NOTE and not fact.get("was") and (is_guess or not fact.get("correction")))


def _find_prohibitions(stretch: TurnRange) -> list[Trace]:
    """Return the messages in which the user forbids to remember something."""
    from looseleaf.distill.forbidding import forbidden_by

    return [each for each in stretch.taken if forbidden_by(each) is not None]


class MemoryMaker:
    """Makes memory: distills talk and texts, and places the result."""

    def __init__(self, context: Context, parts: Needs) -> None:
        self._context, self._parts = context, parts
        self._store, self._agent = context.store, context.agent
        self._redact, self._note = context.redact, context.note

    @property
    def is_shared(self) -> bool:
        """True if several people talk to this memory."""
        return self._context.policy.shared

    def _choose_writer(self, distiller: Distiller | None = None) -> EntryWriter:
        """One with this distiller, or else with the memory's own."""
        return EntryWriter(self._context, distiller if distiller is not None else self._parts.distiller)

    def distill(self, topic: str | None = None, distiller: Distiller | None = None) -> list[Placed]:
        """Distill and place all settled turns that are not distilled yet, with the given distiller if any. Of several
        that ask at once, one distills, and the others do what is left then."""
        with self._parts.claim("distilling"):
            return self._distill_settled(self._parts.pages.absorb.agent(self._agent), topic, distiller)

    def _distill_settled(
        self, head: AgentHead, topic: str | None, distiller: Distiller | None
    ) -> list[Placed]:
        write = self._choose_writer(distiller)
        topic = self._topic_name(topic) if topic is not None else SESSIONS
        done = self.place_later()
        begin = self._find_through(head)
        if begin != head.through and head.back is None:
            self._tell_loss(head, begin)
        is_done = False
        while not is_done:
            is_done = read_and_write(self._store, partial(self._distill, write, topic, done))
        if done:
            self._parts.tidy.after_placing()
            self._parts.archive()
        return done

    def _distill(self, write: EntryWriter, topic: str, done: list[Placed]) -> bool:
        """Distill and place, stretch by stretch. No lock is held while a distiller works, so another process may move
        on meanwhile: then drop the result, and return False, to start again from where it is now."""
        since = self._find_through(self._parts.pages.absorb.agent(self._agent))
        done[:] = [each for each in done if write.has(each.entry)]  # others were forgotten meanwhile
        covered: set[str] = set()
        for entry, is_placed in self._compaction_entries(since):
            covered |= {trace.id for trace in traces_of(self._store, entry)}
            done += [] if is_placed else self._place_or_keep(entry)
        patience = self._context.policy.session_seconds
        for stretch in undistilled(self._store, self._agent, since, covered, patience, clock.now()):
            made = write.stretch(stretch, topic) if any(stretch.traces()) else None
            with self._parts.pages.absorb.threads, self._store.lock():
                if self._find_through(self._parts.pages.absorb.agent(self._agent)) != since:
                    return False
                forbids = _find_prohibitions(stretch)
                through = through_members(self._store, stream_of(self._agent), Position(*stretch.through))
                if made is not None:
                    done += self._place_or_keep(write.publish(made), None if forbids else through)
                for trace in forbids:
                    self._parts.obey(trace)
                if made is None or forbids:  # last: after a crash the next distillation obeys it
                    self._parts.placer.pass_over(self._agent, through)
            since = stretch.through
        return True

    def _find_through(self, head: AgentHead) -> tuple[int, int]:
        """Return the place up to which the agent's traces are distilled, in the log as it is now. If the last of them
        is not there any more, the log went back (FORMAT §4.5): then the last place that agrees. What was learned from
        traces after it stays; those that are there are distilled again, and what is said next is not passed over."""
        stream, place = stream_of(self._agent), Position(*head.through)
        if place == START or self._has_place(stream, place, head.last):
            return head.through
        for line in self._store.read_back(stream) if head.last is not None else ():
            if line.record.get("id") == head.last:
                return line.end.segment, line.end.offset  # repair moved it
        known = [head.back] if head.back is not None else []
        for line in self._store.read_back(JOURNAL):
            record = line.record
            if (
                record.get("kind") == "placed"
                and record.get("agent") == self._agent
                and record.get("through")
            ):
                place = Position(*map(int, record["through"]))
                if place < head.through and self._has_place(stream, place, record.get("last")):
                    known.append((place.segment, place.offset))
                    break
        return max((each for each in known if each < head.through), default=(0, 0))

    def _has_place(self, stream: str, place: Position, last: object) -> bool:
        """True if the record before a place is still the one that was there, as far as that is known."""
        found = self._store.line_before(stream, place)
        return found is not None and (last is None or not found or found.get("id") == last)

    def _tell_loss(self, head: AgentHead, now: tuple[int, int]) -> None:
        """Journal that the log went back, where nothing else remembered how far it was; unless repair moved records."""
        from looseleaf.store.losses import loss_record, told

        stream = stream_of(self._agent)
        is_moved = now != (0, 0) and self._has_place(stream, Position(*now), head.last or "")
        if not is_moved or all(line.record.get("kind") != "lost" for line in self._store.read(stream)):
            loss = loss_record(stream, [*head.through, head.last], [*now, None])
            self._store.append(JOURNAL, [loss])
            self._note(told(loss, is_gone=stream not in self._store.streams()))

    def _place_or_keep(self, entry: Entry, through: Record | None = None) -> list[Placed]:
        """Place an entry; if a page of it is held, keep it until that page is settled."""
        try:
            return [self._parts.placer.entry(entry, through)]
        except Unsettled as unsettled:
            self._keep_for_later(entry, through)
            held = unsettled.held
            self._note(f"Facts for {held.path} are kept, and placed when it is settled: it {held.says}.")
            return []

    def _keep_for_later(self, entry: Entry, through: Record | None = None) -> None:
        self._parts.placer.pass_over(str(entry.meta.get("agent")), through, entry.reference)

    def place_later(self) -> list[Placed]:
        """Place the entries that waited for a held page, as far as their pages are settled."""
        absorb = self._parts.pages.absorb
        absorb.know()
        done: list[Placed] = []
        for reference in list(absorb.heads.later):
            entry = (
                self._read_entry(reference) if self._store.stat(f"{FOLDER}/{reference}/meta.json") else None
            )
            try:
                done += [self._parts.placer.entry(entry)] if entry is not None else []
            except Unsettled:
                continue
        return done

    def _compaction_entries(self, through: tuple[int, int]) -> list[tuple[Entry, bool]]:
        """Return the entries of compactions that took traces after a place, oldest first, and whether they were placed.
        If one cannot be read, its traces are distilled like any others."""
        found: list[tuple[Entry, bool]] = []
        placed: set[str] = set()
        if self._parts.pages.absorb.agent(self._agent).mark is None:
            return []  # it never compacted: there is nothing to find in the whole journal
        for line in self._store.read_back(JOURNAL):
            record = line.record
            if record.get("agent") != self._agent:
                continue
            if record.get("kind") == "placed":
                placed |= {str(record.get("entry")), str(record.get("later"))}
            elif record.get("kind") == "mark":
                if tuple(record.get("until", ())) < through:
                    break
                if record.get("entry"):
                    entry = self._read_entry(str(record["entry"]))
                    found += [] if entry is None else [(entry, entry.reference in placed)]
        return found[::-1]

    def _read_entry(self, reference: str) -> Entry | None:
        try:
            return read_entry(self._store, reference)
        except Refused as refused:
            self._note(str(refused))
            return None

    def placed(self, reference: str) -> Placed | None:
        """Place the entry of a compaction. If that fails now, note it; the next distillation does it."""
        try:
            placed = read_and_write(self._store, lambda: self._place_entry(reference))
            self._parts.tidy.after_placing()
            self._parts.topics.build()  # refresh what the agent's views show as true
            return placed
        except Refused as refused:
            self._note(str(refused))
            return None

    def _place_entry(self, reference: str) -> Placed:
        return self._parts.placer.entry(read_entry(self._store, reference))

    def write(
        self,
        given: str | Sequence[Turn],
        topic: str | None = None,
        author: str | None = None,
        distiller: Distiller | None = None,
    ) -> Placed:
        """Distill and place a text, or turns. A text is a document, whose facts wait in review, unless its author is
        `person`: then these are the user's own words."""
        write = self._choose_writer(distiller)
        return read_and_write(self._store, lambda: self._write(write, given, topic, author))

    def _write(
        self, write: EntryWriter, given: str | Sequence[Turn], topic: str | None, author: str | None
    ) -> Placed:
        if not isinstance(given, str):
            return self._write_turns(given, topic, write)
        if not given.strip():
            raise Invalid("The text is empty. Give words to remember.")
        if author not in (None, PERSON):
            raise Invalid(f"The author {author!r} is unknown. Use person, or leave it out.")
        text = self._redact(given)
        origin = "user" if author == PERSON else "document"
        if origin == "document" and Tombstones(self._store).holds("text", text):
            raise Refused(
                "This text was forgotten, and stays so. To remember it after all, say it in your own words: "
                "`looseleaf write --mine`."
            )
        asked = self._topic_name(topic) if topic is not None else None
        entry = write.name_of(text, origin)
        reference = f"{write.topic_of(entry) or asked or self._choose_topic(text)}/{entry}"
        material = MaterialText(
            text, origin, f"{FOLDER}/{reference}/raw.md", clock.now(), ASKER.get() or None
        )
        return self._place_once(write.text(material, reference))

    def remember(
        self, given: str, topic: str | None = None, about: dict[str, Any] | None = None
    ) -> Placed | None:
        """Place a person's own words, said to the memory itself: facts that the rules read in them are confirmed, and
        so are the other sentences. None: the rules read no fact there, and nothing was written. `about`: more members
        of the entry's meta."""
        write = WholeEntryWriter(self._context)
        now = clock.now()
        # The same words may be said again when something else holds: each time is an entry of its own.
        text = self._redact(given)
        entry = write.name_of(f"{now}\n{text}", PERSON)
        about_all = PROJECT if self.is_shared else USER
        reference = f"{self._topic_name(topic) if topic is not None else about_all}/{entry}"
        material = MaterialText(text, PERSON, f"{FOLDER}/{reference}/raw.md", now, ASKER.get() or None)
        # Nothing but bullets like `- Gate: iron`, or one sentence.
        is_labelled = all(label != NOTE for label, _ in read_stated_facts(text) or [(NOTE, "")])
        is_short = is_labelled or len(sentences(text)) < 2
        if is_short and not self.is_shared and all(map(_is_plain_note, write.facts(material))):
            return None  # a note needs no entry: it stands on its page
        return read_and_write(self._store, lambda: self._place_once(write.text(material, reference, about)))

    def _place_once(self, made: MadeEntry) -> Placed:
        """Place an entry, unless another distiller's entry replaced it: then it stays replaced."""
        if made.files is None and made.reference in self._replaced_entries():
            return Placed(made.reference, ())
        entry = self._choose_writer().publish(made)
        try:
            return self._parts.placer.entry(entry)
        except Unsettled as unsettled:
            self._keep_for_later(entry)
            held = unsettled.held
            raise Refused(
                f"The text is kept, and not placed yet: {held.path} {held.says}, and waits for a person's word. It is "
                "placed when `looseleaf settle` has decided on that."
            ) from unsettled

    def _replaced_entries(self) -> set[str]:
        """Return the entries that others replaced."""
        replaced = (line.record.get("instead") for line in self._store.read(JOURNAL))
        return {str(each) for each in replaced if each}

    def _write_turns(self, turns: Sequence[Turn], topic: str | None, write: EntryWriter) -> Placed:
        given: list[object] = list(turns) if hasattr(turns, "__iter__") else []
        traces = [trace for turn in given if isinstance(turn, Turn) for trace in turn.traces]
        if not traces or not all(isinstance(turn, Turn) for turn in given):
            raise Invalid("Give a text, or turns from `memory.talk.turns()`.")
        wanted = {trace.id for trace in traces}
        spots = spots_of(self._store, stream_of(self._agent), wanted)
        missing = wanted - {spot.id for _, spot in spots}
        if missing:
            raise NotFound(
                f"Nothing was written: {len(missing)} of the traces are not in the log of {self._agent}. "
                "Record them first: what is remembered can be checked against the log."
            )
        stretch = TurnRange(tuple(trace for trace, _ in spots), tuple(spot for _, spot in spots), (0, 0))
        name = self._topic_name(topic) if topic is not None else SESSIONS
        return self._place_once(write.stretch(stretch, name))

    def _topic_name(self, topic: str, *, looks: bool = True) -> str:
        """Return the canonical name of a given topic. Without `looks`, of those known already."""
        if not is_text(topic) or not any(map(str.isalnum, topic)):
            raise Invalid(f"{topic!r} is not a topic name. Give a word or two.")
        if looks:
            self._parts.notebook.catch_up()
        known = [each for each in self._parts.known.topics if "/" not in each]
        return safe_name(topic_name(topic, known), "topic")

    def page_of(self, topic: str, *, looks: bool = True) -> str:
        """Return the page of a given topic. Without `looks`, of those known already."""
        name = self._topic_name(topic, looks=looks)
        if name == USER and self.is_shared:  # nobody is the user here
            from looseleaf.facts.team import person_topic

            name = person_topic(person) if (person := ASKER.get()) else PROJECT
        return PROFILE if name == USER else f"facts/{name}.md"

    def _choose_topic(self, text: str) -> str:
        """Choose a text's topic by its words; else make a new one, named after them."""
        self._parts.notebook.catch_up()
        latest = sorted(self._parts.known.topics.items(), key=lambda item: item[1], reverse=True)
        known = [name for name, _ in latest if "/" not in name and name != SESSIONS]

        def text_of(topic: str) -> str:
            facts = true_at(self._parts.known.of(topic))
            return " ".join((topic, *(f"{fact.relation} {fact.object}" for fact in facts)))

        pages = {name: vocabulary(text_of(name)) for name in known[:_CHOSEN_FROM]}
        return choose(text, pages) or topic_of_text(text, known)

    def adopt(self) -> list[Placed]:
        """Place entries of texts that were never placed: another program, or an older one, made them. Entries of talk
        are placed by their agents' own distilling, which knows what is distilled already."""
        self._parts.notebook.catch_up()
        placed = {*self._parts.known.placed(), *self._replaced_entries()}
        done: list[Placed] = []
        for reference in entries_in(self._store):
            entry = self._read_entry(reference) if reference not in placed else None
            if entry is not None and "traces" not in entry.meta:
                made = self.placed(reference)
                done += [made] if made is not None else []
        return done

    def redistill(
        self,
        distiller: Distiller | None,
        *,
        apply: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Difference:
        """Return what another distiller (None: the rules) would make of the same sources; `apply` switches."""
        from looseleaf.place.redistill import Redistill

        redistill = Redistill(self._context, self._parts, EntryWriter(self._context, distiller))
        return redistill(apply=apply, progress=progress)

    def redistill_failed(self) -> Difference | None:
        """Let the memory's own distiller redo what the rules made in its place; None: there are only the rules."""
        from looseleaf.place.redistill import Redistill

        distiller = self._parts.distiller
        if distiller is None or isinstance(distiller, Missing):
            return None
        return Redistill(self._context, self._parts, EntryWriter(self._context, distiller)).failed()


# --- remembering a person's words -------------------------------------------------------

_FORBIDS = 0.9
"""From this chance on, a sentence given to be remembered says not to remember it: it must be nearly sure."""


@frozen
class Remembered:
    """What became of it: placed facts and notes, the edit that noted the `rest` (or all of it), skipped greetings, and
    whether a secret was removed before."""

    placed: Placed | None
    noted: Receipt | None
    rest: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    redacted: bool = False
    layer: str = ""
    """The memory that it went to: "" for this one, `home`."""
    elsewhere: Remembered | None = None
    """What became of the sentences that went to the home memory, if others stayed here."""

    def but(self, **changes: Any) -> Remembered:
        """Return the same, except for these members."""
        return Remembered(**members_of(self) | changes)

    def of_layer(self, layer: str) -> Remembered:
        return self.but(layer=layer)

    def to_dict(self) -> dict[str, Any]:
        placed = {"entry": None, "outcomes": []} if self.placed is None else self.placed.to_dict()
        noted = self.noted.to_dict() if self.noted is not None else None
        more = {"rest": list(self.rest), "passed_over": list(self.passed_over), "redacted": self.redacted}
        more |= {"layer": self.layer} if self.layer else {}
        more |= {"elsewhere": self.elsewhere.to_dict()} if self.elsewhere is not None else {}
        return placed | {"noted": noted} | more


def _refuse_forbidden(said: str) -> None:
    """Refuse a mere order to forget, and text that surely says not to remember it."""
    if not may_forbid(said):
        return
    # The selector is loaded only for a possible prohibition.
    from looseleaf.distill.forbidding import forbidden
    from looseleaf.distill.selector import select

    found = forbidden(said)
    if found is None:
        return
    is_order = found.order is not None and len(found.words) == 1 and said == found.words[0]
    if is_order or (found.order is None and any(select(each).forbid >= _FORBIDS for each in found.words)):
        raise Refused(
            "Nothing was remembered: the text asks to forget something, or not to remember it. Leave that out, and the "
            "rest is kept; `looseleaf forget --match WORD` forgets."
        )


def remember(
    parts: RememberNeeds,
    text: str,
    topic: str | None = None,
    *,
    redacted: bool = False,
    here: bool = False,
    source: str | None = None,
    entry: str | None = None,
) -> Remembered:
    """Make memory of a person's own words. `redacted`: a secret was removed from the text before; `here`: they belong
    here, whatever they say; `source`: the memory in which they were said; `entry`: what was made of them before the
    process fell."""
    if not isinstance(text, str):
        raise Invalid(f"Nothing was remembered: {text!r} is not a text. Give words to remember.")
    said = text.strip()
    if not any(map(str.isalnum, said)):
        raise Invalid("Nothing was remembered: there are no words in it. Give words to remember.")
    if redacted and not any(map(str.isalnum, without_marks(said))):
        raise Invalid("Nothing was remembered: it was only a secret, and secrets are kept nowhere.")
    if topic is not None and (not is_text(topic) or not any(map(str.isalnum, topic))):
        raise Invalid(f"Nothing was remembered: {topic!r} is not a topic name. Give a word or two.")
    if topic is None:
        _refuse_forbidden(said)
    parts.pages.absorb.refuse_held(parts.making.page_of(USER if topic is None else topic))
    about: dict[str, Any] = {"here": True} if here else {"from": {"memory": source}} if source else {}
    placed = parts.making.remember(said, topic, about) if entry is None else parts.making.placed(entry)
    outcomes = placed.outcomes if placed is not None else ()
    kept = [_flatten(each.fact.quote or "") for each in outcomes if each.act != "drop"]
    if not kept:
        noted = _note_rest(parts, topic, _facts_or_note(said), source)
        return Remembered(placed, noted, redacted=redacted)

    def is_kept(sentence: str) -> bool:
        return len(sentence) <= NOTE_CHARS and any(sentence in one or one in sentence for one in kept)

    left = [each for each in map(_flatten, sentences(said)) if not is_kept(each)]
    greetings = tuple(each for each in left if is_phatic(each))
    notes = [each for each in left if each not in greetings]
    if len(notes) > MOST_NOTES:
        notes = [" ".join(notes)]
    facts = [fact for each in notes for fact in _facts_or_note(each)]
    rest = _note_rest(parts, topic, facts, source) if facts else None
    return Remembered(placed, rest, tuple(notes), greetings, redacted)


def _note_rest(
    parts: RememberNeeds, topic: str | None, facts: list[tuple[str, str]], source: str | None
) -> Receipt:
    if topic is None and parts.making.is_shared:
        from looseleaf.facts.belonging import is_about_user

        topic = None if all(is_about_user(worded(*each)) for each in facts) else PROJECT
    path = parts.making.page_of(USER if topic is None else topic, looks=topic is None)
    change = partial(with_facts, path, facts=facts)
    parts.pages.in_a_row = True  # naming the topic looked at the folder just now
    try:
        return parts.pages.edit(path, change, reason=remembered_in(source), author=PERSON)
    finally:
        parts.pages.in_a_row = False


def remembered_in(source: str | None) -> str:
    """Return the reason of an edit that notes a person's words; with a source, they were said in that memory."""
    return "remembered" if source is None else f"remembered in {source}"


def _facts_or_note(said: str) -> list[tuple[str, str]]:
    """Return the facts that its lines state, or else one note."""
    line = _flatten(said)
    return read_stated_facts(said) or read_stated_facts(line) or [(NOTE, line.lstrip("#>-*+ \t") or line)]


def _flatten(text: str) -> str:
    return " ".join(text.split())
