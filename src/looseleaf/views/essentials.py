"""Essentials: the facts not to be forgotten, and the global memory that holds them (seed 001).

Invariant: only what a person confirmed or the user said is among them, and only while it is true. `Caps` bounds the
size of the global memory, whatever the history; the same digests in any order make the same memory.

The global memory is made of one small digest per topic, so its cost grows with the topics, not their entries.
"""

from __future__ import annotations

from collections import Counter

from looseleaf.base.immutable import frozen
from looseleaf.base.values import KINDS
from looseleaf.language.relations import BY_LABEL
from looseleaf.language.relations import SALIENCE as OF_KINDS
from looseleaf.text.lines import DOUBTFUL, NOTE, bullet_text, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any, Literal

    from looseleaf.base.values import Fact, Kind, Record

    Tier = Literal["core", "secondary"]
    Digest = Mapping[str, Any]


SCHEMA = "global_memory.v1"

TIERS: tuple[Tier, ...] = ("core", "secondary")
TYPES = KINDS
"""In the order of seed 001: identity, promises, prohibitions, then the rest."""

TRUSTED = frozenset(("confirmed", "said"))
"""Levels that may be essential: they are in every prompt, so only the user may put them there."""


@frozen
class Caps:
    """The limits of a topic memory and the global memory. `core`, `secondary`: the most of each type, as in TYPES."""

    core: tuple[int, ...] = (12, 8, 12, 10, 6, 4, 8)
    """Answers fail on identity and prohibitions; events matter for a while. All full, they are 60 lines: about 700
    tokens, which a prompt can always carry."""

    secondary: tuple[int, ...] = (6, 10, 6, 10, 16, 6, 10)
    """Dropped first from a prompt, so these may be wider where core is narrow. All full: 64 lines, about 800 tokens."""

    active_topics: int = 40
    """More than a person remembers; a list read from the top."""

    snapshot_chars: int = 240
    """Of a topic's summary, in the global memory: two lines."""

    snapshot_items: int = 3
    """Of a topic's open questions and next actions there: the newest. The topic has the others."""

    facts: int = 400
    """Facts of one topic: more than a person reads on a page. The others stay on the page."""

    entries: int = 200
    """The newest entries that a state is made of. Older open questions were never taken up again."""

    summary_words: int = 80
    """Of a topic's summary: half a minute's reading."""

    summary_chars: int = 560
    """The same for scripts without spaces."""

    summary_facts: int = 6
    """Facts that a summary begins with; the others are listed with it."""

    summary_entries: int = 3
    """The newest entries that a summary takes sentences from."""

    items: int = 12
    """Open questions, next actions and bounds of a topic, each. A longer list is skipped, not worked off."""

    object_chars: int = 240
    """Of one object, question or action: three lines. The page has the whole."""

    quote_chars: int = 400
    """Of a quote, and of any other text of a fact."""

    sources: int = 10
    """Of one fact: the newest. A fact repeated daily would have thousands."""

    tags: int = 10
    """Of one fact."""


CAPS = Caps()


def cut(text: str, chars: int) -> str:
    """Return `text`, or its beginning and `…`, at most `chars` long."""
    return text if len(text) <= chars else f"{text[: chars - 1].rstrip()}…"


# --- which facts -----------------------------------------------------------------------------

SALIENCE: dict[Kind | None, float] = dict([*OF_KINDS.items(), (None, 0.3)])
"""The default salience of a fact, by its kind. Without one it is a free note, or has a label of unknown kind."""

_BARS: dict[Kind, tuple[float, float]] = {
    "identity": (0.85, 0.4),
    "commitment": (0.85, 0.4),
    "constraint": (0.85, 0.4),
    "preference": (0.8, 0.4),  # standing ones; mere likes (0.6) are secondary
    "trait": (0.9, 0.4),  # an allergy marked as grave; most are secondary
    "event": (0.95, 0.5),  # what happened is history, however large
    "decision": (0.9, 0.5),  # what was settled binds, but its topic says so too
}
"""The lowest salience at which a fact of this kind is core, and secondary."""

CORE_SCORE = 7.0
NEVER_SCORE = 2.0
_NO_SCORE = 5.0
"""Scores are from 0 to 10: at 7 or more a person wants to see it, at 2 or less not; no score is neither."""

PINNED = "pinned"
UNVERIFIED = "unverified"
_OF_DOUBTFUL = 0.85
"""The factor on the salience of a fact that may have changed."""
DOUBTED = 0.5
"""A confidence below this: more likely wrong than not."""


def kind_of(fact: Fact) -> Kind | None:
    """Return a fact's kind, or its relation's; None for a note or an unknown label."""
    if fact.kind is not None or fact.relation.casefold() == NOTE:
        return fact.kind
    relation = BY_LABEL.get(fact.relation.casefold())
    return relation.kind if relation else None


def _is_about_speaker(fact: Fact) -> bool:
    """Return True for what one of several people said of themselves: a prompt for another has another reader."""
    if fact.person is None:
        return False
    from looseleaf.facts.team import is_about_speaker  # late: in most memories nobody is told apart

    return is_about_speaker(fact)


def tier(fact: Fact) -> Tier | None:
    """Return whether a fact is core, secondary or not essential. This is the rule to swap for another.

    | asked in this order                            | then                                                         |
    |------------------------------------------------|--------------------------------------------------------------|
    | not current, or neither confirmed nor said     | none: whatever its score                                     |
    | `user_fact_score` 7 or more · 2 or less        | core · none: the person's word outranks every rule           |
    | tag `pinned`                                   | core                                                         |
    | tag `unverified`, or confidence below 0.5      | none: a doubt in every prompt becomes a certainty            |
    | time span `short_term`                         | none: for days, and the state holds what is being done now   |
    | what one of several people said of themselves  | none: who reads the prompt may be another                    |
    | salience against the bars of its kind          | core, secondary or none                                      |

    There is no clock here, so events do not age: newer ones displace them, since few fit and the newest come first.
    """
    if fact.status != "current" or fact.level not in TRUSTED:
        return None
    score = _value_or(fact.user_fact_score, 10.0, _NO_SCORE)
    if score >= CORE_SCORE:
        return "core"
    if score <= NEVER_SCORE:
        return None
    if PINNED in fact.tags:
        return "core"
    if UNVERIFIED in fact.tags or _value_or(fact.confidence, 1.0, 1.0) < DOUBTED:
        return None
    if fact.time_span == "short_term" or _is_about_speaker(fact):
        return None
    kind = kind_of(fact)
    salience = _value_or(fact.salience, 1.0, SALIENCE[kind])
    core, secondary = _BARS[kind or "trait"]
    return "core" if salience >= core else "secondary" if salience >= secondary else None


def _value_or(value: float | None, most: float, otherwise: float) -> float:
    """Return the value; `otherwise` if it is missing or out of range."""
    return value if value is not None and 0 <= value <= most else otherwise


def rank(fact: Fact) -> tuple[Any, ...]:
    """Return the sort key of a fact, weightiest first: score, pinned, salience, confidence, newest, id. Unique."""
    return _sort_key(lambda name: getattr(fact, name), kind_of(fact), fact)


def _sort_key(read: Callable[[str], Any], kind: Kind | None, whole: object) -> tuple[Any, ...]:
    return (
        -_value_or(read("user_fact_score"), 10.0, _NO_SCORE),
        PINNED not in read("tags"),
        -_value_or(read("salience"), 1.0, SALIENCE[kind]) * (_OF_DOUBTFUL if DOUBTFUL in read("tags") else 1),
        -_value_or(read("confidence"), 1.0, 1.0),
        -(read("recorded_at") or read("entry_ts") or 0.0),
        read("id") or "",
        read("topic"),
        "" if read("id") else repr(whole),  # slow, and only facts that were never journaled have no id
    )


# --- of one topic ----------------------------------------------------------------------

_KEPT = (
    "id topic subject relation object time_span confidence salience user_fact_score entry_id entry_ts level valid_from "
    "valid_to recorded_at".split()
)
"""Members of a fact in the global memory. Its quote and sources are in its topic."""


def candidates(
    facts: Iterable[Fact], *, tier_of: Callable[[Fact], Tier | None] = tier, caps: Caps = CAPS
) -> list[dict[str, Any]]:
    """Return one topic's candidates for the essentials: by tier, type and rank, as many as fit."""
    found: dict[tuple[Tier, Kind], list[Fact]] = {}
    for fact in facts:
        which = tier_of(fact)
        # Checked again, because the rule can be swapped and this cannot.
        if which is not None and fact.status == "current" and fact.level in TRUSTED:
            found.setdefault((which, kind_of(fact) or "trait"), []).append(fact)
    chosen: list[dict[str, Any]] = []
    seen: set[tuple[str, ...]] = set()
    for which, kind, most in places(caps):
        ranked = sorted(found.get((which, kind), ()), key=rank)
        chosen += _take((_small_fact(fact, which, kind, caps) for fact in ranked), most, seen)
    return chosen


def places(caps: Caps) -> list[tuple[Tier, Kind, int]]:
    """Return the places of the essentials in order, and how many each holds."""
    limits = zip(TIERS, (caps.core, caps.secondary), strict=True)
    return [(which, kind, most) for which, row in limits for kind, most in zip(TYPES, row, strict=True)]


def _small_fact(fact: Fact, which: Tier, kind: Kind, caps: Caps) -> dict[str, Any]:
    small: dict[str, Any] = {"tier": which, "type": kind}
    for name in _KEPT:
        value = getattr(fact, name)
        small[name] = cut(value, caps.object_chars) if isinstance(value, str) else value
    return small | {
        # Always set, so that a fact ranks among all as in its topic.
        "salience": _value_or(fact.salience, 1.0, SALIENCE[kind_of(fact)]),
        "tags": [cut(tag, caps.object_chars) for tag in tags_of(fact.tags, caps)],
    }


def tags_of(tags: Iterable[str], caps: Caps) -> list[str]:
    """Return the tags in a fixed order, `pinned` first so that it is never cut."""
    return sorted(set(tags), key=lambda tag: (tag != PINNED, tag))[: caps.tags]


def _sameness(small: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a key that is equal for facts that say the same."""
    return tuple(" ".join(small[name].casefold().split()) for name in ("subject", "relation", "object"))


def _take(ranked: Iterable[dict[str, Any]], most: int, seen: set[tuple[str, ...]]) -> list[dict[str, Any]]:
    taken: list[dict[str, Any]] = []
    for each in ranked:
        if len(taken) == most:
            break
        if _sameness(each) not in seen:
            seen.add(_sameness(each))
            taken.append(each)
    return taken


def digest(memory: Mapping[str, Any], facts: Iterable[Fact], *, caps: Caps = CAPS) -> dict[str, Any]:
    """Return what the global memory needs of a topic: from its `topic_memory` and all its facts."""
    state = memory["state"]
    return {
        "topic": memory["topic"],
        "updated_at": memory["updated_at"],
        "summary": cut(state["summary"], caps.snapshot_chars),
        "open_questions": _first_texts(state["open_questions"], caps),
        "next_actions": _first_texts(state["next_actions"], caps),
        "facts_count": len(memory["facts"]) + memory["facts_omitted"],
        "candidates": candidates(facts, caps=caps),
    }


def _first_texts(texts: Sequence[str], caps: Caps) -> list[str]:
    return [cut(text, caps.object_chars) for text in texts[: caps.snapshot_items]]


def global_memory(topics: Iterable[Mapping[str, Any]], *, caps: Caps = CAPS) -> dict[str, Any]:
    """Make the global memory from one digest per topic."""
    known = sorted(topics, key=activity)
    updated_at = max((each["updated_at"] or 0.0 for each in known), default=0.0) or None
    chosen = essentials([each for topic in known for each in topic["candidates"]], caps)
    return snapshots(known, len(known), updated_at, chosen, caps)


def snapshots(
    active: Sequence[Digest], topics: int, updated_at: float | None, chosen: Sequence[Digest], caps: Caps
) -> dict[str, Any]:
    """Make the global memory from the most active of so many topics, and its essentials."""
    return {
        "schema": SCHEMA,
        "updated_at": updated_at,
        "active_topics": [_snapshot(each, caps) for each in active[: caps.active_topics]],
        "topics_omitted": max(0, topics - caps.active_topics),
        "do_not_forget": chosen,
    }


def activity(topic: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the sort key of a topic: newest day first, then most facts."""
    updated = topic["updated_at"] or 0.0
    return -(updated // 86400), -topic["facts_count"], -updated, topic["topic"]


def _snapshot(topic: Mapping[str, Any], caps: Caps) -> dict[str, Any]:
    return {
        "topic": topic["topic"],
        "updated_at": topic["updated_at"],
        "facts_count": topic["facts_count"],
        "state": {
            "summary": cut(topic["summary"], caps.snapshot_chars),
            "open_questions": _first_texts(topic["open_questions"], caps),
            "next_actions": _first_texts(topic["next_actions"], caps),
        },
    }


def essentials(found: Sequence[dict[str, Any]], caps: Caps) -> list[dict[str, Any]]:
    """Choose among all candidates those that have a place."""
    by_place: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for each in found:
        if each["level"] in TRUSTED:  # digests lie in a folder that others can write to
            by_place.setdefault((each["tier"], each["type"]), []).append(each)
    chosen: list[dict[str, Any]] = []
    seen: set[tuple[str, ...]] = set()
    for which, kind, most in places(caps):
        chosen += _take(sorted(by_place.get((which, kind), []), key=order_of), most, seen)
    return chosen


def order_of(small: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the sort key of a candidate, as `rank` for its fact."""
    return _sort_key(small.__getitem__, small["type"], small)


def global_md(memory: Mapping[str, Any]) -> str:
    """Return the global memory as Markdown. Every text stays on its one line."""
    lines = ["# Global memory", "", *updated_line(memory["updated_at"])]
    heading = ""
    for each in memory["do_not_forget"]:
        before, heading = heading, f"## Do not forget: {each['tier']}, {each['type']}"
        lines += ["", heading, ""] if heading != before else []
        # The topic comes last, so that no object can claim another.
        lines.append(f"- {shown_bullet(each['relation'], each['object'])} ({escape(each['topic'])})")
    for topic in memory["active_topics"]:
        state = topic["state"]
        lines += ["", f"## Topic: {escape(topic['topic'])}", ""]
        lines += [f"> Summary: {escape(state['summary'])}", ""] if escape(state["summary"]) else []
        lines += [f"- Open question: {escape(text)}" for text in state["open_questions"]]
        lines += [f"- Next: {escape(text)}" for text in state["next_actions"]]
        lines.append(f"- Facts: {topic['facts_count']}")
    if memory["topics_omitted"]:
        lines += ["", f"Topics that are not listed: {memory['topics_omitted']}"]
    return "\n".join(lines) + "\n"


def updated_line(updated_at: float | None) -> list[str]:
    return [f"- Updated: {day_of(updated_at)}"] if updated_at is not None else []


def shown_bullet(relation: str, what: str) -> str:
    """Return the text of a bullet; `…` for an object without visible text."""
    return bullet_text(relation, escape(what) or "…")


def day_of(ts: float) -> str:
    """Return the UTC day of a time, in ISO 8601."""
    from datetime import UTC, datetime  # loaded only when needed

    return datetime.fromtimestamp(min(max(ts, 0.0), _FARTHEST), UTC).date().isoformat()


_FARTHEST = 253_402_300_799.0
"""The last second of the year 9999."""


# --- the shortlist: candidates for the global memory, so that one changed topic does not need all others ---

SHORTLIST_SCHEMA = "shortlist.v1"
_ACTIVE = "active"

SPARE = 1.5
"""Candidates kept per place: the spare ones may go before all topics must be read again."""


@frozen
class Shortlist:
    """For each place (`core/identity`, or `active` for topics): the candidates in front, best first, and the sort key
    of the best one left out; None if none was."""

    front: dict[str, list[dict[str, Any]]]
    behind: dict[str, tuple[Any, ...] | None]

    def to_record(self) -> Record:
        behind = {name: each and list(each) for name, each in self.behind.items()}
        return {"front": self.front, "behind": behind}

    @classmethod
    def from_record(cls, raw: Record) -> Shortlist:
        """Read a shortlist; KeyError, TypeError or ValueError if it is malformed."""
        names = _rooms_of(CAPS)
        front = {name: [dict(each) for each in raw["front"][name]] for name in names}
        behind = {name: tuple(each) if (each := raw["behind"][name]) else None for name in names}
        return cls(front, behind)


def make_shortlist(digests: Iterable[Mapping[str, Any]], *, caps: Caps = CAPS) -> Shortlist:
    """Make the shortlist from one digest per topic."""
    names = _rooms_of(caps)
    return _add_digests(Shortlist({name: [] for name in names}, dict.fromkeys(names)), digests, caps)


def update_shortlist(
    before: Shortlist, gone: Collection[str], digests: Iterable[Mapping[str, Any]], *, caps: Caps = CAPS
) -> Shortlist:
    """Return the shortlist after topics changed or went: without their old digests, with the new ones."""
    kept = before.front.items()
    front = {name: [each for each in some if each["topic"] not in gone] for name, some in kept}
    return _add_digests(Shortlist(front, dict(before.behind)), digests, caps)


def memory_from(
    listed: Shortlist, topics: int, updated_at: float | None, *, caps: Caps = CAPS
) -> dict[str, Any] | None:
    """Make the global memory of so many topics; None if the shortlist may lack some that it needs."""
    facts = [each for name, kept in listed.front.items() if name != _ACTIVE for each in kept]
    chosen = essentials(facts, caps)
    counts = Counter(f"{each['tier']}/{each['type']}" for each in chosen)
    counts[_ACTIVE] = len(listed.front[_ACTIVE])
    for name, most in _rooms_of(caps).items():
        if listed.behind[name] is not None and counts[name] < most:
            return None
    return snapshots(listed.front[_ACTIVE], topics, updated_at, chosen, caps)


def _rooms_of(caps: Caps) -> dict[str, int]:
    return {f"{tier}/{kind}": most for tier, kind, most in places(caps)} | {_ACTIVE: caps.active_topics}


def _add_digests(listed: Shortlist, digests: Iterable[Mapping[str, Any]], caps: Caps) -> Shortlist:
    coming: dict[str, list[dict[str, Any]]] = {name: [] for name in listed.front}
    for digest in digests:
        coming[_ACTIVE].append({name: value for name, value in digest.items() if name != "candidates"})
        for each in digest["candidates"]:
            coming[f"{each['tier']}/{each['type']}"].append(each)
    front, behind = {}, {}
    for name, most in _rooms_of(caps).items():
        key: Callable[[Mapping[str, Any]], tuple[Any, ...]] = activity if name == _ACTIVE else order_of
        bar = listed.behind[name]
        # Anything ranked after the best one left out may have others before it: leave it out as well.
        ranked = sorted((*listed.front[name], *coming[name]), key=key)
        kept = [each for each in ranked if bar is None or key(each) < bar][: int(most * SPARE)]
        out = ranked[len(kept)] if len(kept) < len(ranked) else None
        bars = [each for each in (bar, key(out) if out is not None else None) if each is not None]
        front[name], behind[name] = kept, min(bars, default=None)
    return Shortlist(front, behind)
