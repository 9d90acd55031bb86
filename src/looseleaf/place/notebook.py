"""The notebook of a memory: what it knows, and how that came about. Distills, places, reads and corrects facts."""

from __future__ import annotations

from functools import cached_property

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import USER
from looseleaf.facts.truth import true_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from looseleaf.base.messages import Distiller, Trace, Turn
    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Fact
    from looseleaf.facts.gate import Spoken
    from looseleaf.facts.known_facts import Facts
    from looseleaf.log.journal import AgentHead
    from looseleaf.pages.pages import Pages
    from looseleaf.place.corrections import Curate
    from looseleaf.place.distill_and_place import Making
    from looseleaf.place.guard import Guard
    from looseleaf.place.obey import Obey
    from looseleaf.place.placer import Place, Placed
    from looseleaf.place.redistill import Difference
    from looseleaf.place.tidy import Archive, Tidy
    from looseleaf.state.state import State
    from looseleaf.store.protocol import Store
    from looseleaf.views.build import Built, Topics
    from looseleaf.views.page_index import IndexLine, Listing

TRACES = "log/traces"


@frozen
class Source:
    """Words that a fact rests on: where they stand, whose they are, and what they say."""

    source: str
    origin: str
    ts: float | None
    text: str

    def to_dict(self) -> dict[str, Any]:
        return {"source": self.source, "origin": self.origin, "ts": self.ts, "text": self.text}


class Notebook:
    def __init__(
        self,
        store: Store,
        pages: Pages,
        policy: Policy,
        agent: str,
        known: Facts,
        clean: Callable[[Any], Any],
        spoken: Callable[[], Spoken],
        distiller: Callable[[], Distiller | None],
        note: Callable[[str], None],
        count: Callable[[str], int],
        state: Callable[[], State],
    ) -> None:
        self._count = count
        self._store = store
        self._pages = pages
        self._policy = policy
        self._agent = agent
        self._clean = clean
        self._note = note
        self.known = known
        self._state = state
        self._spoken = spoken
        self._distiller = distiller

    @cached_property
    def place(self) -> Place:
        from looseleaf.place.placer import Place  # whoever only reads what is known loads nothing of it

        return Place(self._store, self._pages, self.known, self._note, self._state)

    @cached_property
    def guard(self) -> Guard:
        from looseleaf.place.guard import Guard

        return Guard(self.known, self._spoken, self.place, self._clean)

    @cached_property
    def curate(self) -> Curate:
        from looseleaf.place.corrections import Curate

        return Curate(self._store, self._pages, self.known, self.place)

    @cached_property
    def tidy(self) -> Tidy:
        from looseleaf.place.tidy import Tidy

        return Tidy(self._store, self._pages, self.known, self.place, self._policy, self._count, self._note)

    @cached_property
    def archive(self) -> Archive:
        from looseleaf.log.recorder import stream_of
        from looseleaf.place.tidy import Archive

        return Archive(self._store, self._pages, self.known, stream_of(self._agent), self._note)

    @cached_property
    def obey(self) -> Obey:
        from looseleaf.log.recorder import stream_of
        from looseleaf.place.obey import Obey

        return Obey(self._store, self._pages, self.place, self._state, stream_of(self._agent), self._note)

    # --- making memory -----------------------------------------------------------------

    @cached_property
    def making(self) -> Making:
        from looseleaf.place.distill_and_place import Making

        given = (self._store, self._pages, self._policy, self._agent, self._clean)
        return Making(self, *given, self._distiller, self._note)

    def distill(
        self, head: AgentHead, topic: str | None = None, distiller: Distiller | None = None
    ) -> list[Placed]:
        return self.making.distill(head, topic, distiller)

    def placed(self, reference: str) -> Placed | None:
        return self.making.placed(reference)

    def write(
        self, given: str | Sequence[Turn], topic: str | None = None, author: str | None = None
    ) -> Placed:
        return self.making.write(given, topic, author)

    def redistill(
        self,
        distiller: Distiller | None,
        *,
        apply: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Difference:
        return self.making.redistill(distiller, apply=apply, progress=progress)

    # --- building ----------------------------------------------------------------------

    @cached_property
    def topics(self) -> Topics:
        from looseleaf.views.build import Topics

        return Topics(self._store, self.known)

    def build(self, *, full: bool = False, progress: Callable[[int, int], None] | None = None) -> Built:
        """Bring the memory of topics, and of all of them, up to date."""
        if full:
            self.making.adopt()
        self.catch_up()
        self._build_state()
        return self.topics.build(full=full, progress=progress)

    def _build_state(self) -> None:
        from looseleaf.state.file import StateFile, build_state, schema_text

        build_state(self._store, StateFile(self._store, self._pages, self._note).now(), schema_text())

    def topic(self, name: str, as_of: float | None = None) -> dict[str, Any]:
        self.catch_up()
        if name not in self.topics.names:
            raise Refused(
                f"Nothing was shown: there is no topic {name!r}. There are: {', '.join(self.topics.names)}."
            )
        return self.topics.topic(name, as_of)

    def everything(self, as_of: float | None = None) -> dict[str, Any]:
        """The global memory."""
        self.catch_up()
        return self.topics.whole(as_of)

    @cached_property
    def listing(self) -> Listing:
        from looseleaf.views.page_index import Listing

        trusts = self._policy.trust_external_edits
        return Listing(self._pages, self.known, lambda: self.place, trusts=trusts)

    def index(self) -> list[IndexLine]:
        """A line for each page of the drawers that a prompt lists."""
        self.catch_up()
        return self.listing.lines()

    # --- reading -----------------------------------------------------------------------

    def catch_up(self) -> None:
        try:
            self._pages.absorb()
            self.known.catch_up()
            if self.known.is_unsettled():
                self.place.settle()
        except Refused as refused:  # a full or read-only disk keeps nobody from reading
            self._note(str(refused))
            self.known.catch_up()

    def facts(
        self,
        *,
        topic: str | None = None,
        kind: str | None = None,
        status: str = "current",
        as_of: float | None = None,
    ) -> list[Fact]:
        """What is true now, or was at a time; or, by `status`, what waits, is past, or was rejected."""
        self.catch_up()
        found = self.known.of(topic) if topic is not None else self.known.all()
        if as_of is not None:  # what was true then was current then
            found = [fact.but(status="current", superseded_by=None) for fact in true_at(found, as_of)]
        elif status == "current":
            found = true_at(found)
        else:
            found = [fact for fact in found if fact.status == status]
        found = [fact for fact in found if kind is None or fact.kind == kind]
        return sorted(found, key=_in_order)

    def find(self, name: str) -> Fact:
        self.catch_up()
        return self.known.find(name)

    def history(self, name: str) -> list[Fact]:
        """Every value that a fact's slot ever had, oldest first."""
        from looseleaf.language.relations import slot

        fact = self.find(name)
        address = slot(fact.topic, fact.relation)
        found = [each for each in self.known.of(fact.topic) if slot(each.topic, each.relation) == address]
        return sorted(found, key=lambda each: (each.valid_from or "", each.recorded_at or 0.0, each.id or ""))

    def sources(self, fact: Fact) -> list[Source]:
        """The words that a fact rests on, from the log."""
        from looseleaf.distill.material import sources_of
        from looseleaf.log.entries import FOLDER, read_entry

        # What was written and not said is in an entry; of a fact that was written again, in another one each time.
        written = (name.partition("/raw.md#") for name in fact.sources)
        entries = dict.fromkeys(entry.removeprefix(f"{FOLDER}/") for entry, is_raw, _ in written if is_raw)
        said: dict[str, Trace] = {}
        for entry in dict.fromkeys((fact.entry_id, *entries)):
            if entry is not None:
                try:
                    found = sources_of(self._store, read_entry(self._store, entry))
                    said |= {trace.id: trace for trace in found}
                except Refused as refused:
                    self._note(str(refused))
        return [self._source(name, said) for name in fact.sources]

    def _source(self, name: str, said: dict[str, Trace]) -> Source:
        from looseleaf.log.trace_messages import said as said_in

        if name in said:
            trace = said[name]
            return Source(name, trace.origin, trace.ts, said_in(trace))
        page, at, edit_id = name.partition("@")
        if at:
            edit = next((each for each in self._pages.log(page) if each.id == edit_id), None)
            if edit is not None:
                added = "".join(line for hunk in edit.hunks for line in hunk.added)
                return Source(name, edit.author, edit.ts, added.strip())
        agents = dict.fromkeys((self._agent, *self._store.folders(TRACES)))
        found = next((trace for agent in agents for trace, _ in self.making.spots({name}, agent)), None)
        if found is not None:
            return Source(name, found.origin, found.ts, said_in(found))
        return Source(name, "", None, "")


def _in_order(fact: Fact) -> tuple[Any, ...]:
    """The user's facts first, then topic by topic, in the order of the pages."""
    return (
        fact.topic != USER,
        fact.topic,
        fact.path or "~",
        fact.line or 0,
        fact.valid_from or "",
        fact.id or "",
    )
