"""What a model is asked to answer when it distills: one small JSON object, and how that is read.

Small enough for weak models: five words for each fact, no ids, no certainty of its own. Where the words of a fact stand
is looked up by code afterwards, so a model cannot vouch for what it says.
"""

from __future__ import annotations

from looseleaf.core.clauses import spelled
from looseleaf.core.gate import LONGEST
from looseleaf.core.levels import LEVELS, level_of
from looseleaf.core.window import said
from looseleaf.talk import Distilled, Noted, Proposal
from looseleaf.values import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from looseleaf.talk import Trace

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_EPISODE = ("title", "problem", "solution", "lesson")

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "distill_answer.v1",
    "type": "object",
    "additionalProperties": False,
    "required": ["summary", "facts"],
    "properties": {
        "summary": {
            "type": "string",
            "description": "What happened and what came of it, in a few sentences.",
        },
        "facts": {
            "type": "array",
            "description": "What will still matter in another conversation; most talk holds none.",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["topic", "relation", "object", "kind", "quote"],
                "properties": {
                    "topic": {**_TEXT, "description": "`user`, `project`, or what it is about."},
                    "relation": {**_TEXT, "description": "`Name`, `Home`, `Prefers`, `Rule`, …"},
                    "object": {**_TEXT, "maxLength": LONGEST, "description": "The value, in few words."},
                    "kind": {"enum": list(KINDS)},
                    "quote": {**_TEXT, "description": "The words that say it, copied exactly."},
                },
            },
        },
        "decisions": {**_TEXTS, "description": "What was decided, in the words used."},
        "tasks": {**_TEXTS, "description": "Work that is left, in the words used."},
        "open_questions": {**_TEXTS, "description": "What was asked and not answered."},
        "episode": {
            "type": "object",
            "additionalProperties": False,
            "required": ["title"],
            "properties": dict.fromkeys(_EPISODE, _TEXT),
            "description": "Only when a task was done: what it was, how it was solved, what was learnt.",
        },
    },
}


def read_answer(answer: Any, traces: Iterable[Trace]) -> Distilled | None:
    """What an answer says, as far as it keeps to the schema; None if it is nothing of the kind."""
    if (
        not isinstance(answer, dict)
        or not isinstance(answer.get("summary"), str)
        or not answer["summary"].strip()
    ):
        return None
    words = Words(traces)

    def noted(name: str) -> tuple[Noted, ...]:
        texts = answer.get(name)
        found = (
            [each for each in texts if isinstance(each, str) and each.strip()]
            if isinstance(texts, list)
            else []
        )
        return tuple(Noted(text, words.where(text)) for text in found)

    given = answer.get("episode")
    episode = (
        {name: given[name] for name in _EPISODE if isinstance(given.get(name), str)}
        if isinstance(given, dict) and isinstance(given.get("title"), str)
        else None
    )
    facts = answer.get("facts")
    proposed = [_proposal(each, words) for each in facts] if isinstance(facts, list) else []
    return Distilled(
        answer["summary"],
        episode,
        tuple(each.to_dict() for each in proposed if each is not None),
        decisions=noted("decisions"),
        tasks=noted("tasks"),
        open_questions=noted("open_questions"),
    )


def _proposal(raw: Any, words: Words) -> Proposal | None:
    names = ("relation", "object", "quote", "topic")
    if not isinstance(raw, dict) or not all(
        isinstance(raw.get(name), str) and raw[name].strip() for name in names
    ):
        return None
    kind = raw.get("kind") if raw.get("kind") in KINDS else None
    return Proposal(
        raw["relation"], raw["object"], raw["quote"], raw["topic"], kind, words.where(raw["quote"])
    )


class Words:
    """What was said, and where: exactly, or else in another spelling, as the gate looks for it. Of several places the
    one counts whose speaker can be believed most, and of these the first. Time is linear in what was said."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        placed = [(level_of(trace.origin), trace.id, trace.content or said(trace)) for trace in traces]
        placed.sort(key=lambda each: -LEVELS.index(each[0]))
        self._texts = [(name, text) for _, name, text in placed]
        self._flat: list[tuple[str, str]] | None = None

    def where(self, quote: str) -> str:
        """The trace in which the words stand; nothing if they stand nowhere."""
        exact = next((name for name, text in self._texts if quote in text), "")
        wanted = _flat(quote)
        if exact or not wanted:
            return exact
        if self._flat is None:
            self._flat = [(name, _flat(text)) for name, text in self._texts]
        return next((name for name, text in self._flat if wanted in text), "")


def _flat(text: str) -> str:
    return " ".join(spelled(text).split())
