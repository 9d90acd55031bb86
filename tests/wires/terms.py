"""Plain terms for what comes over a provider's wire and goes back: a request, an answer, a fault."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from looseleaf.base.replies import Usage

WIRES = ("openai", "openai-chat", "anthropic", "gemini", "ollama")


@dataclass(frozen=True)
class Asked:
    """A request. `texts` are (role, text) in order, roles as the wire names them; `results` are (tool, text) of every
    result in it; `calls` (tool, arguments) of every call in it; `tools` the schemas of those that are offered. `course`
    is all three in one order: a role or `call` or `result`, and the text or the tool's name."""

    wire: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    model: str
    streams: bool
    system: str = ""
    texts: list[tuple[str, str]] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)
    calls: list[tuple[str, Any]] = field(default_factory=list)
    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    course: list[tuple[str, str]] = field(default_factory=list)
    number: int = 0
    """Which request of this server it is, from 1."""

    def add_text(self, role: str, text: str) -> None:
        self.texts.append((role, text))
        self.course.append((role, text))

    def add_call(self, name: str, arguments: Any) -> None:
        self.calls.append((name, arguments))
        self.course.append(("call", name))

    def add_result(self, name: str, text: str) -> None:
        self.results.append((name, text))
        self.course.append(("result", text))

    @property
    def said(self) -> str:
        """What the user said last."""
        return next((text for role, text in reversed(self.texts) if role == "user"), "")

    @property
    def everything(self) -> str:
        """All that the model can read."""
        told = [self.system, *(text for _, text in self.texts), *(text for _, text in self.results)]
        return "\n".join(told)


class Fault:
    """Something that goes wrong on the wire."""


@dataclass(frozen=True)
class Cut(Fault):
    """The connection is closed after so many bytes of the body; None: before anything is answered."""

    after: int | None = None


@dataclass(frozen=True)
class Status(Fault):
    """The request is refused. `retry_after` in seconds; `by_date`: said as a date. `location`: where to go instead."""

    code: int
    retry_after: float | None = None
    by_date: bool = False
    message: str = ""
    location: str = ""


@dataclass(frozen=True)
class ContextExceeded(Fault):
    """The prompt is longer than the model takes."""


@dataclass(frozen=True)
class InStream(Fault):
    """A stream that begins well and then says that the server has failed."""


@dataclass(frozen=True)
class Malformed(Fault):
    """The arguments of every call lack their end."""


@dataclass(frozen=True)
class NoJson(Fault):
    """After so many events comes one that is no JSON, or not what it should be."""

    after: int = 1
    sent: bytes = b"this is no JSON {"


@dataclass(frozen=True)
class Short(Fault):
    """So many events, and then an end as it should be, as if that were all."""

    after: int = 2


@dataclass(frozen=True)
class Stall(Fault):
    """Nothing more comes after so many bytes of the body (None: not even a status), until it is let go."""

    after: int | None = 0


@dataclass(frozen=True)
class Answer:
    """What the model answers. `pieces`: the text as it is cut up for the stream; `stop`: end, length or refused.

    `usage` None: counted from what was asked and answered.
    """

    text: str = ""
    reasoning: str = ""
    calls: Sequence[tuple[str, Any]] = ()
    usage: Usage | None = None
    pieces: Sequence[str] | None = None
    stop: str = "end"
    fault: Fault | None = None

    @property
    def parts(self) -> list[str]:
        return list(self.pieces) if self.pieces is not None else words(self.text)


def words(text: str) -> list[str]:
    """The text in pieces, each a word with the space behind it."""
    cut = text.split(" ")
    return [piece for piece in [word + " " for word in cut[:-1]] + cut[-1:] if piece]


def arguments_of(answer: Answer, arguments: Any) -> str:
    written = json.dumps(arguments, ensure_ascii=False)
    return written[:-1] if isinstance(answer.fault, Malformed) else written


def counted(asked: Asked, answer: Answer) -> Usage:
    """What the server says that it took: a count that depends on nothing but the two."""
    if answer.usage is not None:
        return answer.usage
    prompt = 8 + len(json.dumps(asked.body, ensure_ascii=False)) // 4
    thought = len(answer.reasoning.split())
    said = len(answer.text.split()) + sum(3 + len(json.dumps(args)) // 4 for _, args in answer.calls)
    return Usage(
        prompt_tokens=prompt,
        cached_tokens=prompt // 3,
        written_tokens=prompt // 5,
        output_tokens=1 + said + thought,
        reasoning_tokens=thought,
    )


def reportable(wire: str, usage: Usage) -> Usage:
    """As much of it as that wire has members for."""
    if wire == "ollama":
        return Usage(prompt_tokens=usage.prompt_tokens, output_tokens=usage.output_tokens)
    if wire == "gemini":
        return Usage(
            prompt_tokens=usage.prompt_tokens,
            cached_tokens=usage.cached_tokens,
            output_tokens=usage.output_tokens,
            reasoning_tokens=usage.reasoning_tokens,
        )
    return usage
