"""The caller: attempts at one call of a model. Nothing is kept of it.

The model's dialect renders a call once. Each attempt tells the extensions, streams, and ends in a `Reply` or in a
failure that says whether another attempt is worth it. A call's data lives in the generator that `stream` returns, so
threads may share a model, and it holds no conversation.
"""

from __future__ import annotations

from _thread import allocate_lock
from time import monotonic, sleep

from looseleaf.base.errors import Cancelled, Invalid, ModelFailed, Refused, package_of, to_get
from looseleaf.base.immutable import frozen
from looseleaf.base.replies import Repaired, Reply, Retrying, ToolSpec
from looseleaf.models.dialect import CallOptions, Passing, restore_names
from looseleaf.models.failures import TO_FIND_IT, TO_START_IT, Failure, Provider, full, is_here, safe_address
from looseleaf.models.stream_parts import PartialReply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from typing import Any

    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Event, Extension
    from looseleaf.models.dialect import Dialect, Rendered
    from looseleaf.models.stream_thread import Cancel, StreamLine

LONGEST_PAUSE = 30.0
"""Seconds: pauses double up to this."""

SECONDS = 300.0
"""The time limit of one attempt, where neither the call nor the model has one."""

LINE_WAITS = 2.0
"""Seconds that a silent line is kept beyond the limit of its attempt."""

_LOOKING = 0.03
"""Seconds between two looks at `cancel` while waiting."""

FORMS = ("native", "json", "xml")


@frozen
class StreamOptions:
    """The options of one call, as `Model` names them. `calls`: how tools are offered and called: `native`, or described
    and called in the text, as `json` or `xml`."""

    max_tokens: int | None = None
    temperature: float | None = None
    schema: dict[str, Any] | None = None
    effort: str | None = None
    seconds: float | None = None
    cancel: Cancel | None = None
    purpose: str = "chat"
    extensions: Sequence[Extension] = ()
    extra: dict[str, Any] | None = None
    calls: str | None = None


_NUMBER = (int, float)
_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "max_tokens": (int, "a whole number"),
    "temperature": (_NUMBER, "a number"),
    "schema": (dict, "a JSON Schema"),
    "effort": (str, "text"),
    "seconds": (_NUMBER, "a number"),
    "extra": (dict, "an object"),
}


@frozen
class ModelCall:
    """One call: its messages, the tools that the model is offered, and the options."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    wanted: StreamOptions


class Caller:
    """A model behind a provider's SDK.

    `name` is the provider's name for it. `api_key` and `base_url` default to the environment, as in the SDK. `headers`
    go with every request. `extensions` are told of every call. `calls` is how tools are called: `native`, or in the
    text as `json` or `xml`, for models without tools.

    `seconds` is the time limit of one attempt, from the request to the last byte; reaching it ends the call. Without
    one, an agent's calls have the limit of its memory's settings (`model_seconds`), and others five minutes. `retries`
    is how often to try again after a rate limit, a server's error or a cut line. Before each retry there is a pause: as
    long as the provider asks for, else `pause`, doubled each time; all pauses of a call take at most `patience`
    seconds.

    What an extension raises before an attempt ends the call: a ceiling is a ceiling. What it raises afterwards is
    logged, and the answer is returned: it was paid for.
    """

    dialect = ""
    title = ""
    variable = ""
    """The environment variable that holds the key."""
    place = ""
    """The environment variable that gives its SDK another address."""
    usual = ""
    """Its default address."""
    speaks: Dialect
    start_advice = TO_START_IT

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float | None = None,
        retries: int = 4,
        pause: float = 1.0,
        patience: float = 120.0,
        extensions: Sequence[Extension] = (),
        calls: str = "native",
    ) -> None:
        self.name, self.calls, self.extensions = name, _check_form(calls), tuple(extensions)
        self.seconds, self.retries, self.pause, self.patience = seconds, retries, pause, patience
        self._api_key, self._base_url, self._headers = api_key, base_url, dict(headers or {})
        self._client: Any = None
        self._making = allocate_lock()
        self._set_title()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), **options: Any
    ) -> Iterator[Event]:
        """Yield events as they come (`TextDelta`, `Thought`, `Called`, `Repaired`, `Retrying`); the last is the
        `Reply`. Closing the iterator cancels the call.

        The options are those of `looseleaf.base.replies.Model`: max_tokens, temperature, schema, effort, seconds,
        cancel, purpose, extensions, extra; and `calls`, for this call only.
        """
        return self._call(_check_call(messages, tools, options))

    def send(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), **options: Any) -> Reply:
        """Return the whole reply at once. The options are those of `stream`."""
        for event in self.stream(messages, tools, **options):
            if isinstance(event, Reply):
                return event
        raise ModelFailed(f"{self.title} did not answer: its answer has no end. Ask again.")

    def ready(self) -> None:
        """Import the SDK and make its client now, so that the first call does not wait for it. It may run in a thread,
        even during a call. It sends nothing. Raises what a call would raise that cannot begin."""
        from looseleaf.models.stream_thread import run_quietly

        raised = run_quietly(self._get_client)
        if isinstance(raised, Refused):
            raise raised
        if raised is not None:
            raise self._explain_error(raised, False).as_error()

    def _call(self, call: ModelCall) -> Iterator[Event]:
        messages, tools, wanted = call.messages, call.tools, call.wanted
        form = _check_form(wanted.calls or self.calls)
        sent = call if form == "native" else _call_as_text(call, form)
        rendered = self._render(sent)
        yield from map(Repaired, rendered.repairs)
        extensions = (*self.extensions, *wanted.extensions)
        about: dict[str, Any] = {"model": self.name, "dialect": self.dialect, "purpose": wanted.purpose}
        left = self.patience
        attempt = 0
        while True:
            attempt += 1
            about["attempt"] = attempt
            _check_cancel(wanted.cancel, self.title)
            for extension in extensions:
                extension.before_invoke(messages, rendered.payload, **about)
            heard, reply = PartialReply(messages, tools, self.name), None
            events = self._attempt(sent, rendered, heard)
            failure = Failure(
                f"{self.title} did not answer: its answer has no end.", "Ask again.", again=True
            )
            try:
                for event in events if sent.tools == tools else _parse_calls(events, form, tools):
                    if isinstance(event, Reply):
                        reply = heard.whole(event)
                        break
                    heard.hear(event)
                    yield event
            except Failure as failed:
                failure = failed
                heard.is_answered = heard.is_answered or failure.may_cost
            finally:
                events.close()
                # Also if the call was cancelled, or the caller is gone.
                if reply is None and heard.is_answered:
                    _notify(extensions, messages, heard.cut(), about)
            if reply is not None:
                _notify(extensions, messages, reply, about)
                yield reply
                return
            retries = self.retries if failure.most is None else min(self.retries, failure.most)
            if not failure.again or attempt > retries or left <= 0:
                raise failure.as_error(attempt) from None
            own = min(self.pause * 2 ** (attempt - 1), LONGEST_PAUSE)
            pause = min(own if failure.wait is None else failure.wait, left)
            left -= pause
            void = " What was said so far is void." if heard.anything else ""
            yield Retrying(failure.why + void, pause, attempt)
            _wait(pause, wanted.cancel, self.title)

    def _render(self, call: ModelCall) -> Rendered:
        options = CallOptions(*(getattr(call.wanted, name) for name in CallOptions.__match_args__))
        return self.speaks.render(self.name, call.messages, call.tools, options)

    def _attempt(self, call: ModelCall, rendered: Rendered, heard: PartialReply) -> Generator[Event]:
        """Yield the events of one attempt. Raises `Failure`."""
        from looseleaf.models.stream_thread import Ended, Pump, TimeUp

        seconds = self._time_limit(call.wanted)
        pump = Pump(lambda: self._open_stream(rendered.payload, seconds + LINE_WAITS), self._explain_error)
        try:
            chunks = heard.chunks(pump.chunks(seconds, call.wanted.cancel))
            yield from restore_names(self.speaks.read(chunks), rendered.names)
        except TimeUp:
            heard.is_answered = True
            raise Failure(
                f"{self.title} did not answer within {seconds:g} seconds.",
                "Ask again later, or for less, or give it more time (`model_seconds`).",
            ) from None
        except Ended:
            heard.is_answered = True
            raise cancelled_error(self.title) from None
        except KeyboardInterrupt:
            heard.is_answered = True
            raise
        except Passing as error:
            why, _, advice = str(error).partition(" Ask again")
            # Something came, even if it was empty: not a refusal.
            raise Failure(why, f"Ask again{advice or '.'}", again=True, may_cost=True) from None
        finally:
            pump.stop()

    def _time_limit(self, wanted: StreamOptions) -> float:
        """Return the seconds that one attempt may take."""
        return next((each for each in (wanted.seconds, self.seconds) if each is not None), SECONDS)

    def _provider(self) -> Provider:
        """Return the provider for a sentence."""
        keys = (self._api_key, getattr(self._client, "api_key", None), *self._headers.values())
        return Provider(
            self.title,
            self.name,
            safe_address(self._address()),
            f"Set {self.variable} to a valid key, or give `api_key`.",
            self._model_advice(),
            tuple(key for key in keys if isinstance(key, str) and len(key) > 5),
            self._address_advice(),
            self.start_advice,
        )

    def _set_title(self) -> None:
        """Set the title to the provider at the address."""

    def _address(self) -> str:
        """Return the address of the requests."""
        import os

        return full(self._base_url or os.environ.get(self.place) or self.usual)

    def _model_advice(self) -> str:
        return "Give the name of a model that it has."

    def _address_advice(self) -> str:
        where = safe_address(self._address()).rstrip("/")
        if where.endswith("/v1"):
            return f"The address may have /v1 too many: try {where.removesuffix('/v1')}."
        return TO_FIND_IT

    def _is_here(self) -> bool:
        """True if the model is on this machine: then conversations and keys pass no proxy."""
        return is_here(self._address())

    def _get_client(self) -> Any:
        """Return the SDK's client, made on first use; other callers wait meanwhile."""
        if self._client is None:
            from weakref import finalize

            with self._making:
                if self._client is None:
                    client = self._create_client()
                    finalize(self, client.close)
                    self._client = client
        return self._client

    def _create_client(self) -> Any:
        """Return a client of the SDK, with its own retries off."""
        raise NotImplementedError

    def _open_stream(self, payload: dict[str, Any], seconds: float) -> StreamLine:
        """Send the request, in the pump's thread."""
        raise NotImplementedError

    def _explain_error(self, error: BaseException, begun: bool) -> Failure:
        """Return the failure for an SDK's error. `begun`: something had arrived."""
        raise NotImplementedError


def missing_package(extra: str) -> Refused:
    """Return the error for an SDK that is not installed."""
    return Refused(
        f"No model was asked: the package {package_of(extra)!r} is not installed. Install it with {to_get(extra)}."
    )


def _check_call(messages: object, tools: object, options: dict[str, Any]) -> ModelCall:
    """Return the call; refuse anything else, such as a provider's dicts."""
    from looseleaf.base.messages import Message

    unknown = sorted(options.keys() - {*StreamOptions.__match_args__})
    if unknown:
        raise Invalid(
            f"No model was asked: there is no option {', '.join(map(repr, unknown))}. There are "
            f"{', '.join(StreamOptions.__match_args__)}; what only the provider knows goes into `extra`."
        )
    for name, (kinds, called) in _KINDS.items():
        value = options.get(name)
        if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
            raise Invalid(f"No model was asked: `{name}` is {value!r}. Give {called}, or leave it out.")
    given = _check_list(messages, Message, "messages", '[Message("user", "Hello")]')
    offered = _check_list(tools, ToolSpec, "tools", '[ToolSpec("look", "Looks.", {"type": "object"})]')
    return ModelCall(given, offered, StreamOptions(**options))


def _check_list(given: Any, kind: type, what: str, example: str) -> tuple[Any, ...]:
    is_list = hasattr(given, "__iter__") and not isinstance(given, str | dict)
    items: tuple[Any, ...] = tuple(given) if is_list else ()
    strange = [each for each in items if not isinstance(each, kind)]
    if strange or not is_list:
        got = f"a list with a {type(strange[0]).__name__} in it" if strange else f"a {type(given).__name__}"
        raise Invalid(
            f"No model was asked: it got {got}. Give a list of {what}, as in {example}, with "
            f"`from looseleaf import {kind.__name__}`."
        )
    return items


def _check_form(calls: str) -> str:
    if calls in FORMS:
        return calls
    raise Invalid(f"No model was asked: {calls!r} is not a way to call tools. Use one of {', '.join(FORMS)}.")


def _call_as_text(call: ModelCall, form: str) -> ModelCall:
    """Return the call with tools, calls and results as text in its messages; and no tools."""
    from looseleaf.base.messages import Message
    from looseleaf.models.text_calls import as_text, describe

    told = as_text(call.messages, form)
    if call.tools:
        # Behind the system messages: the beginning of a prompt should not change.
        start = next((place for place, each in enumerate(told) if each.role != "system"), len(told))
        told.insert(start, Message("system", describe(call.tools, form)))
    return ModelCall(tuple(told), (), call.wanted)


def _parse_calls(events: Iterator[Event], form: str, tools: Sequence[ToolSpec]) -> Iterator[Event]:
    from looseleaf.models.text_calls import parse

    return parse(events, form, tools)


def _notify(
    extensions: Sequence[Extension], messages: Sequence[Message], reply: Reply, about: Mapping[str, Any]
) -> None:
    """Tell every extension, whatever another does."""
    from looseleaf.models.stream_thread import run_quietly

    for extension in extensions:
        raised = run_quietly(lambda extension=extension: extension.after_invoke(messages, reply, **about))  # type: ignore[misc]
        if raised is not None:
            import logging

            names = type(extension).__name__, type(raised).__name__
            sentence = "An extension (%s) failed after a call, which stands: %s: %s"
            logging.getLogger("looseleaf").warning(sentence, *names, raised)


def cancelled_error(title: str) -> Cancelled:
    """Return the error for a call that the caller cancelled."""
    return Cancelled(
        f"{title} was not heard to the end: the call was cancelled. Ask again if it is still wanted."
    )


def _check_cancel(cancel: Cancel | None, title: str) -> None:
    if cancel is not None and cancel.is_set():
        raise cancelled_error(title)


def _wait(seconds: float, cancel: Cancel | None, title: str) -> None:
    until = monotonic() + seconds
    while (left := until - monotonic()) > 0:
        _check_cancel(cancel, title)
        sleep(left if cancel is None else min(left, _LOOKING))
