"""The words that facts rest on, for many facts at once: traces of an entry and edits of a page are read once.

Of an edit, only the line that says the fact is told: one edit may have brought a page of a thousand others.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.distill.material import sources_of
from looseleaf.log.entries import read_entry
from looseleaf.log.trace_messages import said
from looseleaf.pages.grammar import parse
from looseleaf.place.notebook import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Edit, Fact
    from looseleaf.memory import Memory

    Brought = tuple[str, float, dict[tuple[str, str], str]]
    """Who made an edit, when, and its lines by what each says."""

_ENTRIES = 32
"""Entries whose traces are held: facts that stand together were mostly distilled together."""


class Words:
    """For facts of one topic."""

    def __init__(self, memory: Memory, facts: Sequence[Fact]) -> None:
        self._memory = memory
        self._edits = self._edits_of({name for fact in facts for name in fact.sources if "@" in name})
        self._said: dict[str, dict[str, Trace]] = {}

    def of(self, fact: Fact) -> list[Source]:
        traces = self._traces(fact.entry_id) if fact.entry_id is not None else {}
        return [self._source(fact, name, traces) for name in fact.sources]

    def _source(self, fact: Fact, name: str, traces: dict[str, Trace]) -> Source:
        if name in traces:
            return Source(name, traces[name].origin, traces[name].ts, said(traces[name]))
        edit = self._edits.get(name)
        if edit is None:  # said by somebody else, or at another time, than what the entry was made of
            return self._memory.sources(fact.but(sources=(name,), entry_id=None))[0]
        author, ts, lines = edit
        return Source(name, author, ts, lines.get((fact.relation, fact.object), ""))

    def _traces(self, entry: str) -> dict[str, Trace]:
        found = self._said.pop(entry, None)
        if found is None:
            try:
                read = sources_of(self._memory.store, read_entry(self._memory.store, entry))
                found = {trace.id: trace for trace in read}
            except Refused as refused:
                self._memory.note(str(refused))
                found = {}
            if len(self._said) >= _ENTRIES:  # what was not asked for longest goes
                del self._said[next(iter(self._said))]
        self._said[entry] = found
        return found

    def _edits_of(self, names: set[str]) -> dict[str, Brought]:
        found: dict[str, Brought] = {}
        for page in sorted({name.partition("@")[0] for name in names}):
            wanted = {name for name in names if name.startswith(f"{page}@")}
            for edit in self._memory.log(page):
                name = f"{page}@{edit.id}"
                if name in wanted:
                    found[name] = edit.author, edit.ts, _said_by(edit)
                    wanted.remove(name)
                    if not wanted:
                        break
        return found


def _said_by(edit: Edit) -> dict[tuple[str, str], str]:
    """The lines that an edit brought, by what each says."""
    lines = [line for hunk in edit.hunks for line in hunk.added]
    facts = parse(edit.path, "".join(lines)).facts
    return {(fact.relation, fact.object): lines[(fact.line or 1) - 1].strip() for fact in facts}
