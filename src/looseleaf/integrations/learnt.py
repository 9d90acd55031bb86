"""What was learned, in one line for the user: when the next session begins, since agents show nothing when one ends.

Only ids are kept until then, so that a fact which was forgotten or replaced meanwhile is not told.
"""

from __future__ import annotations

from looseleaf.recall.items import fact_text
from looseleaf.text.lines import undoubted
from looseleaf.text.untrusted import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from looseleaf.base.values import Fact
    from looseleaf.facts.known_facts import Facts
    from looseleaf.place.placer import Placed

_NAMED = 3
"""Facts that the line names."""

_CHARS = 48
"""Characters of each."""

_NEW = ("add", "supersede", "contest")


def keys_of(placed: Iterable[Placed]) -> list[str]:
    """Return the new facts that stand on pages, each as its id and topic."""
    return [f"{fact.id} {fact.topic}" for each in placed for fact in each.of(*_NEW)]


def facts_of(keys: Sequence[str], known: Facts) -> list[Fact]:
    """Return those of these facts that hold now, newest first, each once."""
    known.catch_up()
    rows = [key.partition(" ") for key in dict.fromkeys(reversed(keys))]
    held = {topic: {fact.id: fact for fact in known.of(topic)} for topic in {row[2] for row in rows}}
    found = (held[topic].get(name) for name, _, topic in rows)
    return [fact for fact in found if fact is not None and fact.status == "current"]


def learnt_line(facts: Sequence[Fact], waiting: int = 0) -> str:
    """Return what was learned and how many lines wait, with the commands that show them; "" for nothing."""
    waits = f"{waiting} {'line waits' if waiting == 1 else 'lines wait'} for your yes" if waiting else ""
    if not facts:
        return f"{waits}. See `looseleaf review`." if waits else ""
    names = [one_line(undoubted(fact_text(fact)), _CHARS) for fact in facts[:_NAMED]]
    more = [f"{len(facts) - _NAMED} more"] if len(facts) > _NAMED else []
    told = f"Learned {len(facts)} {'thing' if len(facts) == 1 else 'things'} ({'; '.join((*names, *more))})"
    if waits:
        return f"{told}; {waits}. See `looseleaf facts` and `looseleaf review`."
    return f"{told}. See `looseleaf facts`."
