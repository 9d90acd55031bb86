"""Archive: what agents found and nothing has used for a season goes to an archive page, where it can still be found.

Used is what was found or said again, or shown to a model by a tool of ours. The archive is written first: a crash
between leaves a line on both pages, and the next archiving takes one of them away.
"""

from __future__ import annotations

from functools import partial

from looseleaf.base import clock
from looseleaf.base.errors import Busy, Refused, Unwritten
from looseleaf.base.own_tools import is_own
from looseleaf.base.paths import ARCHIVE
from looseleaf.facts.ledger import fact_id
from looseleaf.log.read_turns import traces_back
from looseleaf.pages.grammar import add_fact, new_page, parse, remove_line
from looseleaf.pages.page import Rewritten
from looseleaf.place.placer import known, line_on
from looseleaf.text.lines import is_found, undoubted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from looseleaf.base.values import Fact
    from looseleaf.facts.known_facts import Facts
    from looseleaf.pages.pages import Pages
    from looseleaf.store.protocol import Store

UNUSED = 90 * 86_400.0
"""Seconds after which what nothing has used is archived."""
REASON = "archived: not used for 90 days"


class Archive:
    """`stream`: the traces in which it is looked for what a tool showed."""

    def __init__(
        self, store: Store, pages: Pages, facts: Facts, stream: str, note: Callable[[str], None]
    ) -> None:
        self._store, self._pages, self._facts = store, pages, facts
        self._stream, self._note = stream, note

    def __call__(self) -> int:
        """Move what is unused; how many lines."""
        since = clock.now() - UNUSED
        old = [fact for fact in self._facts.all() if _is_finding(fact) and _used(fact) < since]
        if not old:
            return 0
        shown = self._shown(since)
        idle = [fact for fact in old if undoubted(fact.object).casefold() not in shown]
        moved = 0
        for topic in dict.fromkeys(fact.topic for fact in idle):
            try:
                moved += self._move(topic, [fact for fact in idle if fact.topic == topic])
            except (Unwritten, Busy):
                raise
            except Refused as refused:
                self._note(str(refused))
        return moved

    def _shown(self, since: float) -> str:
        """What tools of ours showed since then."""
        found: list[str] = []
        for trace in traces_back(self._store, self._stream):
            if trace.ts < since:
                break
            if trace.trace_type == "tool_result" and is_own(trace.tool_name):
                found.append(f"{trace.content}{trace.tool_result or ''}".casefold())
        return "\n".join(found)

    def _move(self, topic: str, facts: Sequence[Fact]) -> int:
        target, source = f"facts/{topic}{ARCHIVE}.md", f"facts/{topic}.md"
        with self._pages.absorb.threads, self._store.lock():
            self._pages.rewrite(target, partial(_added, target, facts), reason=REASON)
            self._pages.rewrite(source, partial(_removed, source, facts), reason=REASON)
            self._facts.catch_up()
        return len(facts)


def _is_finding(fact: Fact) -> bool:
    is_here = fact.path == f"facts/{fact.topic}.md" and not fact.topic.endswith(ARCHIVE)
    return fact.status == "current" and is_here and fact.level == "tainted" and is_found(fact.object)


def _used(fact: Fact) -> float:
    return max(fact.recorded_at or 0.0, fact.said_at or 0.0)


def _added(path: str, facts: Sequence[Fact], text: str) -> Rewritten:
    new = text or new_page(path)
    there = {(fact.relation, fact.object) for fact in parse(path, new).facts}
    topic = path.removeprefix("facts/").removesuffix(".md")
    told = []
    for fact in facts:
        if (fact.relation, fact.object) not in there:
            new = add_fact(new, path, fact.relation, fact.object, found=True)
            told.append(known(fact.but(id=fact_id(fact.id or "", path), topic=topic, subject=topic)))
    return Rewritten(new if told else text, tuple(told))


def _removed(path: str, facts: Sequence[Fact], text: str) -> Rewritten:
    for fact in facts:
        text = remove_line(text, line_on(fact, path, text))
    return Rewritten(text)
