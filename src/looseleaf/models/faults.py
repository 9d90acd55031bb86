"""What goes wrong while a provider answers, as sentences. What a provider says is quoted, short, without keys."""

from __future__ import annotations

import re

from looseleaf.base.errors import ModelFailed, TooLong

TOO_LONG = re.compile(
    r"context_length_exceeded|context[ _](?:length|window|size|limit)|exceed_context_size|prompt is too long|"
    r"(?:maximum|max) (?:number of )?(?:input )?tokens|input token count|too many (?:input )?tokens|"
    r"request_too_large|input is too long|string_above_max_length",
    re.IGNORECASE,
)
"""How the providers, and the servers that speak like them, say that a prompt does not fit."""

MAY_PASS = re.compile(
    r"overload|rate.?limit|server.?error|internal|unavailable|timeout|timed out|api_error|exhausted|"
    r"\b(?:408|409|429|5\d\d)\b",
    re.IGNORECASE,
)

KEY = re.compile(r"(?i)\b(?:sk|pk|rk|gsk|xai|hf|AIza|Bearer )[-_A-Za-z0-9*.]{8,}")

QUOTED_CHARS = 400
"""What is quoted of a provider's sentence; some send a whole page."""


class Passing(ModelFailed):
    """A failure that may not happen again: the line was cut, the provider has too much to do."""


def fault(message: str, code: str = "") -> ModelFailed:
    """What a provider reports instead of an answer, as the error that it is."""
    said = KEY.sub("[key]", " ".join(message.split()))[:QUOTED_CHARS] or "it gave no reason"
    known = f"{code} {message}"
    if TOO_LONG.search(known):
        return TooLong(
            f"The model did not answer: what it was sent is longer than it takes ({said}). Compact the conversation, "
            "or send less of it."
        )
    named = f"{code[:80]}: {said}" if code else said
    if MAY_PASS.search(known):
        return Passing(
            f"The model did not answer: the provider reports a fault of its own ({named}). Ask again later."
        )
    return ModelFailed(
        f"The model did not answer: the provider reports {named}. Change what is asked, or the settings."
    )


def cut() -> Passing:
    """The stream ended before it said so."""
    return Passing("The model did not finish its answer: the line was cut before the end came. Ask again.")
