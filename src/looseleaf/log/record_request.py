"""Requests to record a trace: checked and stripped of secrets before any byte is on disk."""

from __future__ import annotations

from looseleaf.base.errors import Invalid
from looseleaf.base.immutable import Replaceable, frozen
from looseleaf.base.messages import FARTHEST, MAY_BE_TEXT
from looseleaf.base.values import NOT_GIVEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from looseleaf.base.messages import TraceType

INTERRUPTED = "interrupted"
"""The tag of a trace that was cut short."""

_MEDIA = ("images", "audio", "video")
_LONGEST_NAME = 1000


@frozen
class RecordRequest(Replaceable):
    """A trace to record, before it has an id and a turn."""

    trace_type: TraceType
    content: str = ""
    turn_id: str | None = None
    source_event: str | None = None
    media: Any = None
    reasoning: str | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_args: Any = None
    tool_result: Any = None
    tool_error: str | None = None
    tool_result_ref: str | None = None
    correlation_id: str | None = None
    opaque: Any = None
    tags: Sequence[str] = ()
    interrupted: bool = False
    ts: float | None = None
    origin: str | None = None
    """Where it entered, if its type does not say. Only `imported` sets it."""
    session: str | None = None
    """Its session, if not the recorder's own. Only `imported` sets it."""


def given_in(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords that a caller gave to `record`, from its `locals()`."""
    names = ("user", "assistant", "tool_call", "tool_result", *_MORE)
    given = {name: arguments[name] for name in names if name in arguments}
    named = {name: value for name, value in given.items() if value is not None or name == "tool_result"}
    return {**named, **arguments["unknown"]}


def copy_of(value: Any) -> Any:
    """Return a JSON value that its caller can no longer change."""
    try:
        return _copy_value(value)
    except RecursionError:
        return value  # refused when it is written


def _copy_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy_value(each) for key, each in value.items()}
    return type(value)(map(_copy_value, value)) if type(value) in (list, tuple) else value


def ask(
    *,
    user: str | None = None,
    assistant: str | None = None,
    tool_call: str | None = None,
    tool_result: Any = NOT_GIVEN,
    **more: Any,
) -> RecordRequest:
    """Make a request from one of the four; `more` are further members. A tool's error alone is a result too."""
    unknown = sorted(more.keys() - _MORE)
    if unknown:
        from difflib import get_close_matches

        known = ("user", "assistant", "tool_call", "tool_result", *_MORE)
        near = get_close_matches(unknown[0], known, 1)
        advice = f"Did you mean {near[0]!r}?" if near else f"Leave it out; there are: {', '.join(known)}."
        raise Invalid(f"Nothing was recorded: a trace has no {unknown[0]!r}. {advice}")
    every: dict[TraceType, Any] = {"user": user, "assistant": assistant, "tool_call": tool_call}
    given = [(kind, value) for kind, value in every.items() if value is not None]
    if tool_result is not NOT_GIVEN or (not given and more.get("tool_error") is not None):
        given.append(("tool_result", None if tool_result is NOT_GIVEN else tool_result))
    if len(given) != 1:
        kinds = " and ".join(kind for kind, _ in given)
        what = f"{kinds} were given at once" if given else "nothing was given"
        raise Invalid(f"Nothing was recorded: {what}. Give one of user, assistant, tool_call, tool_result.")
    [(kind, value)] = given
    own = _OWN[kind]
    if own in more:
        raise Invalid(f"Nothing was recorded: {own} was given twice, once as {kind}. Leave one of them out.")
    return _check_request(RecordRequest(kind, **{own: value}, **more))


_OWN: dict[TraceType, str] = {
    "user": "content",
    "assistant": "content",
    "tool_call": "tool_name",
    "tool_result": "tool_result",
}
_STAMPED = ("origin", "session")
"""Members that callers may not set: a trace is trusted by its origin."""

_MORE = dict.fromkeys(
    name for name in RecordRequest.__match_args__ if name not in ("trace_type", "tool_result", *_STAMPED)
)


def imported(origin: str | None, session: str, **asked: Any) -> RecordRequest:
    """Make a request, as `ask`, for talk from elsewhere that a person's command imports: in its own session, and as
    data (`import:<format>`) or, without an origin, as the words of its speakers."""
    return ask(**asked).but(origin=origin, session=session)


def _check_request(asked: RecordRequest) -> RecordRequest:
    for name in ("content", "turn_id", "source_event", *MAY_BE_TEXT):
        value = getattr(asked, name)
        if value is not None and not isinstance(value, str):
            kind = type(value).__name__
            raise Invalid(f"Nothing was recorded: {name} must be text, not {kind}. Give it as text.")
    if not isinstance(asked.tags, (list, tuple)) or not all(isinstance(tag, str) for tag in asked.tags):
        raise Invalid("Nothing was recorded: tags must be a list of strings. Give one.")
    for name in ("tool_name", "tool_call_id", "source_event", "correlation_id"):
        if len(getattr(asked, name) or "") > _LONGEST_NAME:
            raise Invalid(
                f"Nothing was recorded: {name} is a name and has more than {_LONGEST_NAME:,} characters. "
                "Give a shorter one; long texts belong in content, tool_args or tool_result."
            )
    is_number = isinstance(asked.ts, (int, float)) and not isinstance(asked.ts, bool)
    if asked.ts is not None and not (is_number and abs(asked.ts) < FARTHEST):
        raise Invalid(
            "Nothing was recorded: ts must be epoch seconds. Give a number, or leave it out for now."
        )
    if asked.trace_type == "tool_call" and not asked.tool_name:
        raise Invalid("Nothing was recorded: a tool call needs the name of its tool. Give it as tool_call=…")
    if asked.opaque is not None and not isinstance(asked.opaque, dict):
        raise Invalid(
            "Nothing was recorded: opaque must be an object. Give it as the provider's dialect made it."
        )
    _check_media(asked.media)
    return asked


def redacted(asked: RecordRequest, key: bytes) -> RecordRequest:
    """Return the request with every secret replaced."""
    from looseleaf.text.secrets import redact, redact_value

    tags = (*asked.tags, INTERRUPTED) if asked.interrupted and INTERRUPTED not in asked.tags else asked.tags
    changed: dict[str, Any] = {
        "media": redact_value(_check_media(asked.media), key) if asked.media is not None else None,
        "tags": redact_value(list(tags), key) if tags else [],
    }
    for name in ("content", "source_event", *MAY_BE_TEXT):
        value = getattr(asked, name)
        changed[name] = redact(value, key) if value else value
    for name in ("tool_args", "tool_result"):
        value = getattr(asked, name)
        try:
            changed[name] = redact_value(value, key) if value is not None else None
        except (ValueError, RecursionError) as error:
            raise Invalid(
                f"Nothing was recorded: {name} cannot be written out ({error}). Give such a number as text, and "
                "nest less deeply."
            ) from error
    # `opaque` stays: it looks like one long secret, and its provider would refuse it changed.
    return asked.but(**changed)


def _check_media(given: Any) -> dict[str, list[str]] | None:
    if given is None:
        return None
    if not isinstance(given, dict) or not given.keys() <= set(_MEDIA):
        raise Invalid(f"Nothing was recorded: media must be an object with lists under {', '.join(_MEDIA)}.")
    media = {kind: given.get(kind) or [] for kind in _MEDIA}
    if not all(
        isinstance(own, (list, tuple)) and all(isinstance(each, str) for each in own)
        for own in media.values()
    ):
        raise Invalid("Nothing was recorded: media must hold addresses, as text. Give paths or URLs.")
    return {kind: list(own) for kind, own in media.items()}
