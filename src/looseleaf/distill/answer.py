"""What a model is asked to answer when it distills: one small JSON object, and how that is read.

Small enough for weak models: five words for each fact, no ids, no certainty of its own. Where the words of a fact stand
is looked up by code afterwards, so a model cannot vouch for what it says.
"""

from __future__ import annotations

from looseleaf.base.messages import Distilled, Noted, Proposal
from looseleaf.base.origins import LEVELS, level_of
from looseleaf.facts.gate import LONGEST
from looseleaf.language.clauses import spelled
from looseleaf.log.trace_messages import said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from looseleaf.base.messages import Trace

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_EPISODE = ("title", "outcome", "files", "lesson")


def _object(required: Iterable[str], **members: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": members,
    }


_STATED = {"topic": _TEXT, "relation": _TEXT, "object": {**_TEXT, "maxLength": LONGEST}, "quote": _TEXT}
_CHANGED = {"was": _TEXT, "ended": {"type": "boolean"}, "from": _TEXT, "until": _TEXT}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "distill_answer.v2",
    **_object(
        ("summary", "facts"),
        summary={"type": "string"},
        facts={"type": "array", "items": _object(_STATED, **_STATED, **_CHANGED)},
        work=_object(
            (),
            goal=_TEXT,
            decided={"type": "array", "items": _object(("text",), text=_TEXT, replaces=_TEXT)},
            open=_TEXTS,
            done=_TEXTS,
        ),
        episode=_object(("title",), title=_TEXT, outcome=_TEXT, files=_TEXTS, lesson=_TEXT),
        found={"type": "array", "items": _object(_STATED, **_STATED)},
        private=_TEXTS,
    ),
}
"""What each member is for is said in the instructions, once."""


def read_answer(answer: Any, traces: Iterable[Trace]) -> Distilled | None:
    """What an answer says, as far as it keeps to the schema; None if it is nothing of the kind. Nothing of what it
    names as private is taken."""
    if (
        not isinstance(answer, dict)
        or not isinstance(answer.get("summary"), str)
        or not answer["summary"].strip()
    ):
        return None
    words = Words(traces)
    private = [_flat(each) for each in _texts(answer.get("private"))]

    def is_open(*texts: str) -> bool:
        flat = [_flat(each) for each in texts if each]
        return not any(secret and (secret in each or each in secret) for secret in private for each in flat)

    def noted(rows: Iterable[tuple[str, str]]) -> tuple[Noted, ...]:
        kept = ((text, instead) for text, instead in rows if is_open(text))
        return tuple(Noted(text, words.where(text), instead) for text, instead in kept)

    given, asked = answer.get("episode"), answer.get("work")
    work: dict[str, Any] = asked if isinstance(asked, dict) else {}
    episode = (
        {name: text for name in _EPISODE if (text := _joined(given.get(name))) and is_open(text)}
        if isinstance(given, dict)
        else None
    )
    rows = [each for name in ("facts", "found") for each in _list(answer.get(name))]
    proposed = [_proposal(each, words) for each in rows]
    kept = [each for each in proposed if each is not None and is_open(each.quote, each.object)]
    return Distilled(
        answer["summary"] if is_open(answer["summary"]) else _NOTHING_TOLD,
        episode if episode and "title" in episode else None,
        tuple(each.to_dict() for each in kept),
        decisions=noted(_decided(work.get("decided"))),
        tasks=noted((each, "") for each in _texts(work.get("open"))),
        goals=noted((each, "") for each in _texts([work.get("goal")])),
        done=noted((each, "") for each in _texts(work.get("done"))),
        private=tuple(dict.fromkeys(filter(None, map(words.where, _texts(answer.get("private")))))),
    )


_NOTHING_TOLD = "A private conversation."


_MOST, _LONGEST = 200, 1000
"""Rows of a list, and characters of a text: nobody says more in one talk."""


def _list(value: Any) -> list[Any]:
    return value[:_MOST] if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [each[:_LONGEST] for each in _list(value) if isinstance(each, str) and each.strip()]


def _joined(value: Any) -> str:
    return ", ".join(_texts(value if isinstance(value, list) else [value]))[:_LONGEST]


def _decided(value: Any) -> Iterator[tuple[str, str]]:
    for each in _list(value):
        text = each.get("text") if isinstance(each, dict) else each
        instead = each.get("replaces") if isinstance(each, dict) else ""
        if isinstance(text, str) and text.strip():
            yield text, instead if isinstance(instead, str) else ""


def _proposal(raw: Any, words: Words) -> Proposal | None:
    names = ("relation", "object", "quote", "topic")
    if not isinstance(raw, dict) or not all(
        isinstance(raw.get(name), str) and raw[name].strip() for name in names
    ):
        return None
    was = raw.get("was")
    was = was if isinstance(was, str) and was.strip() else None
    ended = raw.get("ended") is True
    return Proposal(
        raw["relation"][:_LONGEST],
        raw["object"],
        raw["quote"][:_LONGEST],
        raw["topic"][:_LONGEST],
        None,
        words.where(raw["quote"]),
        valid_from=raw.get("from"),
        valid_to=raw.get("until"),
        correction=was is not None,
        was=was,
        ended=ended,
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
