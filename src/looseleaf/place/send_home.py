"""What is about the user goes to the home memory, also if it was said in a project (docs/LAYERS.md).

Of an entry's facts, those that the user said in so many words, and that are about the user, become entries of the home
memory's own: the sentences that say them, with the time and the level they have here, and the way back to this memory,
its entry and its trace. The home memory's gate judges them like any others. What is doubtful stays here.

An entry is sent before it is placed here, under an id that follows from it: after a crash it is sent again, once.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.ids import id_of
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Distilled
from looseleaf.base.origins import is_trusted, level_of
from looseleaf.base.paths import USER
from looseleaf.base.values import sha256
from looseleaf.facts.belonging import belongs_home
from looseleaf.facts.gate import judge, proposal_of
from looseleaf.language.clauses import spelled
from looseleaf.language.sentences import sentences
from looseleaf.log.entries import FOLDER, meta_json, read_entry, summary_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Protocol

    from looseleaf.base.messages import Proposal
    from looseleaf.base.values import Record
    from looseleaf.facts.gate import Witness
    from looseleaf.facts.known_facts import Facts
    from looseleaf.log.entries import Entry
    from looseleaf.store.context import Context

    class HomePlacer(Protocol):
        def entry(self, entry: Entry) -> Any: ...

    class Home(Protocol):
        context: Context

        @property
        def placer(self) -> HomePlacer: ...

    class Needs(Protocol):
        replays: Record | None

        @property
        def known(self) -> Facts: ...
        def home(self) -> Home | None:
            """The home memory under this one, to be written to; None if there is none."""

        def team(self) -> tuple[str, Home] | None:
            """The shared memory under this one, to be written to, with its name; None if there is none."""


FROM = "from"
"""The member of an entry's meta that says which memory, entry and trace it comes from."""


@frozen
class Sent:
    """What went to the home memory: the numbers of the entry's facts, and what became of them there."""

    facts: frozenset[int]
    placed: tuple[Any, ...] = ()


NOTHING = Sent(frozenset())


class HomeSender:
    topic = USER
    """The topic of its entries there."""
    told = "What is about you stays in this memory: the home memory was not changed."
    """What a note says where the other memory could not be written."""
    member = "home"
    """The member of a record that says that something went."""

    def __init__(self, context: Context, parts: Needs) -> None:
        self._name, self._note = context.name, context.note
        self._parts = parts

    def __call__(self, entry: Entry, witnesses: Sequence[Witness]) -> Sent:
        """Send the facts of an entry that are about the user. If the home memory cannot be written, they stay here."""
        if entry.meta.get(FROM):
            return NOTHING
        chosen = list(self._choose(entry, witnesses))
        sent = frozenset(number for number, proposal, _ in chosen if not self._stays(proposal))
        if self._parts.replays is not None:
            return Sent(sent)  # they were sent when this was done first
        try:
            home = self._target() if chosen else None
            if home is None:
                return NOTHING
            by_source: dict[str, list[tuple[int, Proposal, Witness]]] = {}
            for number, proposal, witness in chosen:
                by_source.setdefault(witness.source, []).append((number, proposal, witness))
            placed = tuple(self._send(home, entry, found) for found in by_source.values())
        except Refused as refused:
            self._note(f"{self.told} {refused}")
            return NOTHING
        return Sent(sent, placed)

    def _target(self) -> Home | None:
        return self._parts.home()

    def _stays(self, proposal: Proposal) -> bool:
        """True for a fact that is placed here as well."""
        return proposal.ended

    def _meta(self, witness: Witness) -> dict[str, Any]:
        """Return more members for the meta of its entries."""
        return {}

    def _choose(self, entry: Entry, witnesses: Sequence[Witness]) -> Iterator[tuple[int, Proposal, Witness]]:
        """Yield what goes home: each fact's number, the proposal, and the words that say it."""
        said = {each.source: each for each in witnesses}
        for number, raw in enumerate(entry.summary.get("facts", ())):
            proposal = proposal_of(raw)
            if proposal is None or not belongs_home(proposal) or self._is_held_here(proposal):
                continue
            verdict = judge(proposal, witnesses)
            witness = said.get(verdict.source)
            if verdict.verified and is_trusted(verdict.level) and witness is not None:
                yield number, proposal, witness

    def _is_held_here(self, proposal: Proposal) -> bool:
        """True if it replaces what this memory holds."""
        was = (proposal.was or "").casefold()
        facts = self._parts.known.of(USER) if was else ()
        return any(fact.status == "current" and fact.object.casefold() == was for fact in facts)

    def _send(self, home: Home, entry: Entry, found: Sequence[tuple[int, Proposal, Witness]]) -> Any:
        witness = found[0][2]
        quotes = dict.fromkeys(sentence_of(proposal, said) for _, proposal, said in found)
        text = "\n".join(quotes)
        came = {"memory": self._name, "entry": entry.reference, "trace": witness.source}
        digest = sha256(
            f"{self._name}\n{entry.reference}\n{witness.source}\n{text}".encode("utf-8", "backslashreplace")
        )
        reference = f"{self.topic}/{id_of(max(0.0, witness.ts), bytes.fromhex(digest))}"
        facts = tuple(entry.summary["facts"][number] for number, _, _ in found)
        meta: dict[str, Any] = {
            "id": reference.rpartition("/")[2],
            "ts": witness.ts,
            "topic": self.topic,
            "agent": entry.meta.get("agent"),
            "origin": witness.origin,
            "turn_ids": [],
            "distiller": entry.meta.get("distiller"),
            "level": entry.meta.get("level"),
            "trust": level_of(witness.origin),
            FROM: came,
            **self._meta(witness),
        }
        store = home.context.store
        folder = f"{FOLDER}/{reference}"
        if store.stat(f"{folder}/meta.json") is None:
            files = {
                "raw.md": text.encode("utf-8", "backslashreplace"),
                "summary.json": summary_json(Distilled(text, None, facts)),
                "meta.json": meta_json(meta),
            }
            with store.lock():
                store.publish(folder, files, again=True)
        return home.placer.entry(read_entry(store, reference))


def sentence_of(proposal: Proposal, witness: Witness) -> str:
    """Return the sentence that says a fact: what stands around a quote belongs to it. A quote of several sentences is
    returned as it is: it was found to say the fact."""
    quote = spelled(proposal.quote)
    own = next((each for each in sentences(witness.text) if quote in spelled(each)), proposal.quote)
    return " ".join(own.split())
