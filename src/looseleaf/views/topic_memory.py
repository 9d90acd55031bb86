"""Topic memory: the facts of one topic, and its state (seed 001).

Invariant: a function of the facts and entries alone. The same ones in any order make the same memory; `Caps` bounds its
size; nothing from a `tainted` entry is in it. Rules make the state: they extract and count, and add nothing that no
fact or entry says. A model may write a better one from the same inputs, kept under `state_inputs_hash`.
"""

from __future__ import annotations

import json
import re

from looseleaf.base.immutable import frozen
from looseleaf.base.values import KINDS, sha256
from looseleaf.language.sentences import (
    is_conclusion,
    is_constraint,
    is_decision,
    is_filler,
    is_phatic,
    is_question,
    is_task,
    sentences,
)
from looseleaf.language.topic_words import vocabulary, wording
from looseleaf.text.lines import NOTE, escape, lazy
from looseleaf.views.essentials import (
    CAPS,
    TRUSTED,
    cut,
    day_of,
    kind_of,
    rank,
    shown_bullet,
    tags_of,
    updated_line,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from looseleaf.base.values import Fact

    Row = Mapping[str, Any]

SCHEMA = "topic_memory.v1"

_FACT = (
    "id topic subject relation object kind type time_span confidence salience user_fact_score tags entry_id entry_ts "
    "sources quote origin level valid_from valid_to recorded_at status".split()
)
_STATED = "relation object kind level valid_from valid_to entry_id entry_ts recorded_at".split()
"""Members of a fact that a state can depend on. Its rank says the rest."""

_NOTED = ("decisions", "constraints", "tasks", "next_actions", "open_questions")


def fact_dict(fact: Fact) -> dict[str, Any]:
    """Return a fact for JSON, with every member. `type` is seed 001's name for `kind`."""
    made = {name: getattr(fact, "kind" if name == "type" else name) for name in _FACT}
    layer = {"layer": fact.layer} if fact.layer else {}
    return made | {"tags": list(fact.tags), "sources": list(fact.sources)} | layer


def topic_memory(
    topic: str,
    facts: Sequence[Fact],
    entries: Sequence[Row],
    *,
    as_of: float | None = None,
) -> dict[str, Any]:
    """Make the memory of one topic. `facts` are those true at that time; entries after `as_of` are left out."""
    known, newest = _rank_facts(facts), _sort_entries(entries, as_of)
    times = [fact.recorded_at or fact.entry_ts or 0.0 for fact in known] + [each["ts"] for each in newest]
    inputs = _state_inputs(topic, known, newest)
    return {
        "schema": SCHEMA,
        "topic": topic,
        "updated_at": max(times, default=0.0) or None,
        "state": _make_state(inputs["facts"], inputs["entries"]),
        "facts": [_cut_texts(fact_dict(fact)) for fact in known[: CAPS.facts]],
        "facts_omitted": max(0, len(known) - CAPS.facts),
    }


def _rank_facts(facts: Iterable[Fact]) -> list[Fact]:
    return sorted((each for each in facts if each.status == "current" and each.level != "tainted"), key=rank)


def _sort_entries(entries: Iterable[Row], as_of: float | None) -> list[Row]:
    """Return the usable entries, newest first."""
    past = (each for each in entries if as_of is None or each["ts"] <= as_of)
    usable = (each for each in past if each["level"] != "tainted")
    return sorted(usable, key=lambda each: (-each["ts"], each["entry_id"]))


def _cut_texts(fact: dict[str, Any]) -> dict[str, Any]:
    short = {name: cut(value, CAPS.quote_chars) for name, value in fact.items() if isinstance(value, str)}
    lists = {"tags": tags_of(fact["tags"], CAPS), "sources": fact["sources"][-CAPS.sources :]}
    lists = {name: [cut(each, CAPS.quote_chars) for each in values] for name, values in lists.items()}
    return fact | short | lists


def state_inputs_hash(
    topic: str,
    facts: Sequence[Fact],
    entries: Sequence[Row],
    *,
    as_of: float | None = None,
) -> str:
    """Hash exactly the inputs of the state, so that a model's state is valid until they change."""
    inputs = _state_inputs(topic, _rank_facts(facts), _sort_entries(entries, as_of))
    return sha256(json.dumps(inputs, sort_keys=True, separators=(",", ":")).encode())


def _state_inputs(topic: str, facts: Sequence[Fact], entries: Sequence[Row]) -> dict[str, Any]:
    return {
        "topic": topic,
        "facts": [
            {name: getattr(each, name) for name in _STATED} | {"kind": kind_of(each)} for each in facts
        ],
        "entries": [_entry_input(each) for each in entries[: CAPS.entries]],
    }


def _entry_input(entry: Row) -> dict[str, Any]:
    summary = entry["summary"]
    episode = summary.get("episode")
    noted = {name: [item for each in summary.get(name) or () for item in _read_item(each)] for name in _NOTED}
    return {
        "entry_id": entry["entry_id"],
        "ts": entry["ts"],
        "summary": str(summary.get("summary") or ""),
        "episode": sorted(map(str, episode.values())) if isinstance(episode, dict) else [],
        **noted,
    }


_CLOSED = frozenset(("done", "closed", "cancelled", "canceled", "dropped"))
_TICKED = lazy(r"\[[xX]\]\s")
_BOX = lazy(r"\[[ xX]\]\s+")


def _read_item(given: object) -> Iterator[tuple[str, bool]]:
    """Yield a noted sentence and whether it marks itself as closed. Skips anything else."""
    item = given if isinstance(given, dict) else {"text": given}
    text = item.get("text")
    if isinstance(text, str) and text.strip():
        is_closed = item.get("done") is True or str(item.get("status")) in _CLOSED
        yield " ".join(_BOX.sub("", text, count=1).split()), is_closed or bool(_TICKED.match(text))


# --- the state, by rules ---------------------------------------------------------------

ENOUGH = 0.6
"""The share of a question's words that a later statement must have to count as its answer; likewise for a task and the
sentence that says it is done. With less, items that share a word would close each other."""

_LOOKED_AT = 10
"""Times as many questions and tasks are read as shown, so that enough remain without the closed ones."""

_SUMMARY_READ = 8000
"""Characters read of an entry's summary: several times what a distiller may write."""

_FINISHES = lazy(
    r"\b(?:done|finished|fixed|resolved|solved|completed?|implemented|written|merged|shipped|released|closed|cancell?ed|"
    r"dropped|added|removed|updated|booked|sent|paid|passes|works now|erledigt|fertig|abgeschlossen|behoben|gelöst|"
    r"umgesetzt|terminée?s?|finie?s?|résolue?s?|corrigée?s?|hech[oa]s?|terminad[oa]s?|resuelt[oa]s?|list[oa])\b"
    r"|完成|解决了|搞定|修好|做好|完了|解決し|終わり|済み",
    re.IGNORECASE,
)


@frozen
class _Open:
    """A question or task that an entry left open."""

    text: str
    ts: float
    entry_id: str


def _make_state(facts: Sequence[Row], entries: Sequence[Row]) -> dict[str, Any]:
    return {
        "summary": _summarize(facts, entries),
        "bounds": _find_bounds(facts, entries),
        "open_questions": _find_questions(facts, entries),
        "next_actions": _find_actions(entries),
    }


def _words_of(fact: Row) -> str:
    return str(fact["object"]) if fact["relation"] == NOTE else f"{fact['relation']}: {fact['object']}"


def _summarize(facts: Sequence[Row], entries: Sequence[Row]) -> str:
    """Return the weightiest facts, then sentences of the newest entries, whole and as many as fit."""
    parts: list[str] = []
    for fact in [fact for fact in facts if fact["level"] in TRUSTED][: CAPS.summary_facts]:
        text = "; ".join([*parts, cut(escape(_words_of(fact)), _FACT_CHARS).rstrip(".;。")])
        if len(text.split()) <= CAPS.summary_words // 2 and len(text) <= CAPS.summary_chars // 2:
            parts = [text]
    parts = [f"{text}." for text in parts]
    heard = {wording(part) for part in parts}
    for entry in entries[: CAPS.summary_entries]:
        for sentence in _best_sentences(entry["summary"]):
            text = " ".join([*parts, sentence])
            if len(text.split()) > CAPS.summary_words or len(text) > CAPS.summary_chars:
                continue
            if wording(sentence) not in heard:
                heard.add(wording(sentence))
                parts.append(sentence)
    return " ".join(parts)


_FACT_CHARS = 120
"""Of one fact in a summary: a line."""

_SPEAKER = lazy(r"(?:User|Assistant): ")
_CALL = lazy(r"(?:Earlier calls|Named earlier): |[\w.-]{1,80}\(")
_SENTENCES_EACH = 2


def _best_sentences(summary: str) -> list[str]:
    """Return the sentences of a summary that state results, in order."""
    found: list[tuple[float, int, str]] = []
    for line in summary[:_SUMMARY_READ].splitlines():
        if _CALL.match(line):
            continue
        for sentence in sentences(_SPEAKER.sub("", line, count=1)):
            if not (is_phatic(sentence) or is_question(sentence) or is_filler(sentence)):
                weight = 3 * is_decision(sentence) + 2 * is_conclusion(sentence) + is_constraint(sentence)
                found.append((-weight, len(found), escape(sentence)))
    best = sorted(found)[:_SENTENCES_EACH]
    return [sentence for _, _, sentence in sorted(best, key=lambda each: each[1])]


_DATE = lazy(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?(?![0-9])")


def _find_bounds(facts: Sequence[Row], entries: Sequence[Row]) -> list[str]:
    """Return the time that the facts cover, then constraints: facts by rank, then entries, newest first."""
    days = sorted(day for fact in facts for day in _days_of(fact))
    covered = [f"Facts from {days[0]} to {days[-1]}"] if days else []
    if days and days[0] == days[-1]:
        covered = [f"Facts of {days[0]}"]
    rules = (fact for fact in facts if fact["kind"] == "constraint" and fact["level"] in TRUSTED)
    ruled = [str(fact["object"]) for fact in rules]
    noted = [text for entry in entries for text, is_closed in entry["constraints"] if not is_closed]
    return covered + _take_distinct([*ruled, *noted], CAPS.items - len(covered))


def _days_of(fact: Row) -> Iterator[str]:
    named = [match[0] for name in ("valid_from", "valid_to") if (match := _DATE.match(fact[name] or ""))]
    ts = fact["entry_ts"] or fact["recorded_at"]
    yield from named or ([day_of(ts)] if ts else [])


def _take_distinct(texts: Iterable[str], most: int) -> list[str]:
    found: dict[str, str] = {}
    for text in texts:
        if len(found) == most:
            break
        if visible := escape(text):
            found.setdefault(wording(visible) or visible, cut(visible, CAPS.object_chars))
    return list(found.values())


def _find_questions(facts: Sequence[Row], entries: Sequence[Row]) -> list[str]:
    """Return open questions, newest first, without those that a later fact, decision or constraint answers."""
    asked = _find_open(entries, ("open_questions",), len(entries))
    answers = [
        (each["entry_ts"] or each["recorded_at"] or 0.0, each["entry_id"], _words_of(each)) for each in facts
    ]
    for entry in entries:
        noted = (*entry["decisions"], *entry["constraints"])
        answers += [(entry["ts"], entry["entry_id"], text) for text, _ in noted]
    return _take_distinct(_drop_closed(asked, answers), CAPS.items)


def _find_actions(entries: Sequence[Row]) -> list[str]:
    """Return tasks and recent intentions, newest first, without those that a later entry says are done."""
    left = _find_open(entries, ("tasks",), len(entries))
    # An assistant's next actions are done or given up some entries later.
    left += _find_open(entries, ("next_actions",), CAPS.summary_entries)
    done = [
        (entry["ts"], entry["entry_id"], sentence)
        for entry in entries
        for sentence in _finished_sentences(entry)
        if not is_task(sentence) and not is_question(sentence)
    ]
    return _take_distinct(_drop_closed(sorted(left, key=lambda each: -each.ts), done), CAPS.items)


def _finished_sentences(entry: Row) -> Iterator[str]:
    texts = (entry["summary"][:_SUMMARY_READ], *entry["episode"], *(text for text, _ in entry["decisions"]))
    for text in texts:
        if _FINISHES.search(text):
            yield from (each for each in sentences(text[:_SUMMARY_READ]) if _FINISHES.search(each))


def _find_open(entries: Sequence[Row], names: Sequence[str], reach: int) -> list[_Open]:
    """Return what entries left open, newest first. What one marks as closed is closed in all older ones."""
    found: dict[str, _Open | None] = {}
    for entry in entries[:reach]:
        for text, is_closed in (item for name in names for item in entry[name]):
            if len(found) == _LOOKED_AT * CAPS.items:
                break
            left = None if is_closed else _Open(text, entry["ts"], entry["entry_id"])
            found.setdefault(wording(text), left)
    return [each for each in found.values() if each is not None]


def _drop_closed(left: Sequence[_Open], later: Iterable[tuple[float, str | None, str]]) -> Iterator[str]:
    """Yield those that no later text answers. Without telling words ("what else?") there is nothing to keep."""
    vocabularies = [vocabulary(each.text) for each in left]
    having: dict[str, list[int]] = {}
    for place, words in enumerate(vocabularies):
        for word in words:
            having.setdefault(word, []).append(place)
    closed: set[int] = set()
    for ts, entry_id, text in later:
        shared: dict[int, int] = {}
        for word in vocabulary(text[:_SUMMARY_READ]):
            for place in having.get(word, ()):
                shared[place] = shared.get(place, 0) + 1
        for place, count in shared.items():
            each = left[place]
            if count >= ENOUGH * len(vocabularies[place]) and ts > each.ts and entry_id != each.entry_id:
                closed.add(place)
    return (each.text for place, each in enumerate(left) if vocabularies[place] and place not in closed)


def topic_md(memory: Row) -> str:
    """Return a topic memory as Markdown. Every text stays on its one line."""
    state = memory["state"]
    lines = [f"# Topic: {escape(memory['topic'])}", ""]
    lines += [f"> Summary: {summary}", ""] if (summary := escape(state["summary"])) else []
    lines += updated_line(memory["updated_at"])
    labels = {"bounds": "Bound", "open_questions": "Open question", "next_actions": "Next"}
    bullets = [f"- {label}: {escape(text)}" for name, label in labels.items() for text in state[name]]
    lines += ["", "## State", "", *bullets] if bullets else []
    for heading, facts in _group_facts(memory["facts"]):
        lines += [
            "",
            f"## {heading}",
            "",
            *(f"- {shown_bullet(fact['relation'], fact['object'])}" for fact in facts),
        ]
    if memory["facts_omitted"]:
        lines += ["", f"Facts that are not listed: {memory['facts_omitted']}"]
    return "\n".join(lines) + "\n"


def _group_facts(facts: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Group facts by kind; the assistant's conclusions stand apart from people's words."""
    sections: dict[str, list[Row]] = {kind.capitalize(): [] for kind in KINDS}
    sections |= {"Other": [], "Inferred": []}
    for fact in facts:
        place = "Inferred" if fact["level"] == "inferred" else (fact["kind"] or "other").capitalize()
        sections[place].append(fact)
    return ((heading, some) for heading, some in sections.items() if some)
