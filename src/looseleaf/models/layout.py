"""How a reply was laid out: what `opaque` keeps, so that the provider is given back what it said as it said it.

Providers sign what their models think, and want it back unchanged and in its place. The texts themselves stand in the
message (a log may have redacted or escaped them since); kept beside them are the lengths, a short hash and the marks
(signatures, encrypted reasoning, ids). Where the text no longer fits its hash, what was thought is left out.
"""

from __future__ import annotations

import hashlib

from looseleaf.base.messages import ToolCallPayload, ToolCallSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from looseleaf.base.messages import Message
    from looseleaf.models.stream_parts import Part

    Laid = tuple[str, Any, dict[str, Any]]
    """Kind, text (or the call), marks."""

TEXT, THOUGHT, CALL = "text", "thought", "call"
LEFT_OUT = "What the model thought was left out: its text is no longer the one that was signed."
NATURAL = (THOUGHT, TEXT, CALL)
"""The order in which parts stand when nothing else is said."""


def packed(
    dialect: str, parts: Sequence[Part], reasoning: str, more: dict[str, Any]
) -> dict[str, Any] | None:
    """What has to be kept of a reply's layout; None where there is nothing that its text does not say."""
    order = [part.kind == CALL for part in parts if part.kind != THOUGHT]
    has_marks = any(part.marks for part in parts if part.kind != CALL)
    if not has_marks and order == sorted(order):
        return {"dialect": dialect} | more if more else None
    told: list[dict[str, Any]] = []
    for part in parts:
        if part.kind == CALL:
            told.append({"kind": CALL})
        elif part.pieces or part.marks:
            length = {"chars": len(part.text)} | ({"gap": part.gap} if part.gap else {})
            told.append({"kind": part.kind} | length | part.marks)
    return {"dialect": dialect, "thoughts": hash_of(reasoning), "parts": told} | more


def of_dialect(opaque: Any, dialect: str) -> dict[str, Any]:
    """What this dialect may read; nothing where another one wrote it."""
    return opaque if isinstance(opaque, dict) and opaque.get("dialect") == dialect else {}


def laid_out(message: Message, dialect: str, keeps_changed: bool = False) -> tuple[list[Laid], bool]:
    """The parts of an assistant's message as they came, and whether something thought had to be left out because its
    text has changed. What was thought without a mark of this dialect is not among them: no provider takes it.
    `keeps_changed`: the marks hold all of it, and are given back without a text that no longer fits."""
    payload = message.tool_payload
    calls = payload.tool_calls if isinstance(payload, ToolCallPayload) else ()
    told = of_dialect(message.opaque, dialect)
    parts = [
        part for part in _list(told.get("parts")) if isinstance(part, dict) and part.get("kind") in NATURAL
    ]
    reasoning, content = message.reasoning_content or "", message.content or ""
    thoughts = _slices(reasoning, [part for part in parts if part["kind"] == THOUGHT])
    if thoughts is not None and told.get("thoughts") != hash_of(reasoning):
        thoughts = None
    if thoughts is None and keeps_changed:
        thoughts = ["" for part in parts if part["kind"] == THOUGHT]
    texts = _slices(content, [part for part in parts if part["kind"] == TEXT])
    has_calls = len(calls) == sum(part["kind"] == CALL for part in parts)
    waiting: dict[str, list[Any]] = {
        THOUGHT: thoughts or [],
        TEXT: texts if texts is not None else [content] if content else [],
        CALL: list(calls),
    }
    laid: list[Laid] = []
    for part in parts:
        kind = part["kind"]
        if waiting[kind] and (kind != CALL or has_calls):
            marks = {name: value for name, value in part.items() if name not in ("kind", "chars", "gap")}
            laid.append((kind, waiting[kind].pop(0), marks))
    laid.extend((TEXT, text, {}) for text in waiting[TEXT])
    laid.extend((CALL, call, {}) for call in waiting[CALL])
    lost = thoughts is None and any(part["kind"] == THOUGHT for part in parts)
    return [part for part in laid if part[0] != THOUGHT or part[2]], lost


def calls_of(laid: Iterable[Laid]) -> list[ToolCallSpec]:
    return [part for kind, part, _ in laid if kind == CALL]


def _slices(text: str, parts: Sequence[dict[str, Any]]) -> list[Any] | None:
    """The text of each part; None where their lengths do not make up the text."""
    found, place = [], 0
    for part in parts:
        gap, chars = part.get("gap", 0), part.get("chars", 0)
        if type(gap) is not int or type(chars) is not int or gap < 0 or chars < 0:
            return None
        found.append(text[place + gap : place + gap + chars])
        place += gap + chars
    return found if place == len(text) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def hash_of(text: str) -> str:
    """Short: it only has to tell whether a text is still the same."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
