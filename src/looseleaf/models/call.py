"""The caller: one attempt after the other at one call of a model, and nothing kept of it.

A call is rendered once by the model's dialect. Each attempt at it tells the extensions, streams, and ends in a `Reply`
or in a failure that says whether another attempt is worth it. Everything a call needs lives in the generator that
`stream` returns, so a model may be shared by threads, and holds no text of anybody's.
"""

from __future__ import annotations

from _thread import allocate_lock
from time import monotonic, sleep

from looseleaf.base.errors import Cancelled, ModelFailed, Refused, to_get
from looseleaf.base.immutable import frozen
from looseleaf.base.replies import Repaired, Reply, Retrying
from looseleaf.models.dialect import Passing
from looseleaf.models.failures import (
    TO_FIND_IT,
    TO_START_IT,
    CallFailure,
    Failure,
    Provider,
    full,
    is_here,
    shown,
)
from looseleaf.models.partial_reply import PartialReply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from typing import Any

    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Event, Extension, ToolSpec
    from looseleaf.models.dialect import Dialect, Rendered
    from looseleaf.models.stream_thread import Cancel, StreamLine

LONGEST_PAUSE = 30.0
"""Seconds: pauses double up to here."""

_LOOKING = 0.03
"""Seconds between two looks at `cancel` while waiting."""

FORMS = ("native", "json", "xml")


@frozen
class StreamOptions:
    """The options of one call, as `Model` names them. `calls`: how tools are offered and called, if not as the model
    does it by itself (`native`): described in the text, and called in it as `json` or `xml`."""

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


class Caller:
    """A model behind a provider's SDK.

    `name` is what the provider calls it. `api_key` and `base_url` are who asks, and where; what is not given is taken
    from the environment, as the SDK does it. `headers` go with every request. `extensions` are told of every call.
    `calls` is how tools are called: `native`, or in the text as `json` or `xml`, for models that cannot.

    `seconds` is the time limit of one attempt, from asking to the last byte; reaching it ends the call. `retries`: how
    often a call is made again that met a rate limit, a server's fault or a cut line. Before each there is a pause: as
    long as the provider asks for, else `pause`, doubled each time; all pauses of a call together take at most
    `patience` seconds.

    What an extension raises before an attempt ends the call: a ceiling is a ceiling. What it raises afterwards is
    logged, and the answer is given all the same: it was paid for.
    """

    dialect = ""
    title = ""
    variable = ""
    """The variable of the environment that holds the key."""
    place = ""
    """The variable of the environment by which its SDK finds it elsewhere."""
    usual = ""
    """Where it is otherwise."""

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = 300.0,
        retries: int = 4,
        pause: float = 1.0,
        patience: float = 120.0,
        extensions: Sequence[Extension] = (),
        calls: str = "native",
    ) -> None:
        self.name = name
        self.seconds = seconds
        self.retries = retries
        self.pause = pause
        self.patience = patience
        self.extensions = tuple(extensions)
        self.calls = _check_form(calls)
        self._api_key = api_key
        self._base_url = base_url
        self._headers = dict(headers or {})
        self._client: Any = None
        self._making = allocate_lock()
        self._set_title()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), **options: Any
    ) -> Iterator[Event]:
        """Events as they come (`Said`, `Thought`, `Called`, `Repaired`, `Retrying`), the last of which is the `Reply`.
        Closing the iterator cancels the call.

        The options are those of `looseleaf.base.replies.Model`: max_tokens, temperature, schema, effort, seconds,
        cancel, purpose, extensions, extra; and `calls`, for this call only.
        """
        unknown = sorted(options.keys() - {*StreamOptions.__match_args__})
        if unknown:
            raise Refused(
                f"No model was asked: there is no option {', '.join(map(repr, unknown))}. There are "
                f"{', '.join(StreamOptions.__match_args__)}; what only the provider knows goes into `extra`."
            )
        return self._call(_check_messages(messages), tuple(tools), StreamOptions(**options))

    def send(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), **options: Any) -> Reply:
        """The whole reply at once. The options are those of `stream`."""
        for event in self.stream(messages, tools, **options):
            if isinstance(event, Reply):
                return event
        raise ModelFailed(f"{self.title} did not answer: its answer has no end. Ask again.")

    def ready(self) -> None:
        """Import the SDK and make its client now, so that the first call need not wait for it. It may be called in a
        thread, also while a call is made. Nobody is asked anything. Raises what a call would that cannot begin."""
        from looseleaf.models.stream_thread import run_quietly

        self._dialect()
        raised = run_quietly(self._get_client)
        if isinstance(raised, Refused):
            raise raised
        if raised is not None:
            failure = self._explain_error(raised, False)
            raise failure.error(_error_sentence(failure, 1))

    def _call(
        self, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], wanted: StreamOptions
    ) -> Iterator[Event]:
        form = _check_form(wanted.calls or self.calls)
        told, offered = (messages, tools) if form == "native" else _render_as_text(messages, tools, form)
        rendered = self._render(told, offered, wanted)
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
            heard, reply = PartialReply(self.dialect), None
            events = self._attempt(told, offered, rendered, wanted, heard)
            try:
                for event in _parse_calls(events, form, tools) if offered != tools else events:
                    if isinstance(event, Reply):
                        reply = heard.whole(event, messages, tools, self.name)
                        break
                    heard.hear(event)
                    yield event
                failure = Failure(
                    f"{self.title} did not answer: its answer has no end.", "Ask again.", again=True
                )
            except CallFailure as failed:
                failure = failed.failure
                heard.is_answered = heard.is_answered or failure.may_cost
            finally:
                events.close()
                # Also where the call was cancelled, or whoever asked stopped listening.
                if reply is None and heard.is_answered:
                    _notify(extensions, messages, heard.cut(messages, tools, self.name), about)
            if reply is not None:
                _notify(extensions, messages, reply, about)
                yield reply
                return
            retries = self.retries if failure.most is None else min(self.retries, failure.most)
            if not failure.again or attempt > retries or left <= 0:
                raise failure.error(_error_sentence(failure, attempt)) from None
            pause = self._next_pause(failure, attempt, left)
            left -= pause
            void = " What was said so far is void." if heard.anything else ""
            yield Retrying(failure.why + void, pause, attempt)
            _wait(pause, wanted.cancel, self.title)

    def _next_pause(self, failure: Failure, attempt: int, left: float) -> float:
        by_us = min(self.pause * 2 ** (attempt - 1), LONGEST_PAUSE)
        return min(by_us if failure.wait is None else failure.wait, left)

    def _render(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], wanted: StreamOptions
    ) -> Rendered:
        from looseleaf.models.dialect import Options

        options = Options(wanted.max_tokens, wanted.temperature, wanted.schema, wanted.effort, wanted.extra)
        return self._dialect().render(self.name, messages, tools, options)

    def _attempt(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        rendered: Rendered,
        wanted: StreamOptions,
        heard: PartialReply,
    ) -> Generator[Event]:
        """The events of one attempt. Raises `Failed`."""
        from looseleaf.models.dialect import restore_names
        from looseleaf.models.stream_thread import Ended, Pump, TimeUp

        seconds = self.seconds if wanted.seconds is None else wanted.seconds
        pump = Pump(lambda: self._open_stream(rendered.payload, seconds), self._explain_error)
        try:
            chunks = heard.chunks(pump.chunks(seconds, wanted.cancel))
            yield from restore_names(self._dialect().read(chunks), rendered.names)
        except TimeUp:
            heard.is_answered = True
            raise CallFailure(
                Failure(
                    f"{self.title} did not answer within {seconds:g} seconds.",
                    "Ask again later, or for less, or give it more time (`model_seconds`).",
                )
            ) from None
        except Ended:
            heard.is_answered = True
            raise cancelled_error(self.title) from None
        except KeyboardInterrupt:
            heard.is_answered = True
            raise
        except Passing as error:
            why, _, advice = str(error).partition(" Ask again")
            # Something came, or an answer without anything in it: no refusal.
            raise CallFailure(Failure(why, f"Ask again{advice or '.'}", again=True, may_cost=True)) from None
        finally:
            pump.stop()

    def _provider(self) -> Provider:
        """Whom a sentence is about."""
        keys = (self._api_key, getattr(self._client, "api_key", None), *self._headers.values())
        return Provider(
            self.title,
            self.name,
            shown(self._address()),
            f"Set {self.variable} to a valid key, or give `api_key`.",
            self._model_advice(),
            tuple(key for key in keys if isinstance(key, str) and len(key) > 5),
            self._address_advice(),
            self._start_advice(),
        )

    def _set_title(self) -> None:
        """Be called as whoever lives at the address is called."""

    def _address(self) -> str:
        """The address that is asked."""
        import os

        return full(self._base_url or os.environ.get(self.place) or self.usual)

    def _model_advice(self) -> str:
        return "Give the name of a model that it has."

    def _address_advice(self) -> str:
        where = shown(self._address()).rstrip("/")
        if where.endswith("/v1"):
            return f"The address may have /v1 too many: try {where.removesuffix('/v1')}."
        return TO_FIND_IT

    def _start_advice(self) -> str:
        return TO_START_IT

    def _is_here(self) -> bool:
        """Whether the model is on this machine: what is said to it, and its key, pass through nobody's proxy then."""
        return is_here(self._address())

    def _get_client(self) -> Any:
        """The SDK's client, made when it is first used; whoever needs it meanwhile waits."""
        if self._client is None:
            from weakref import finalize

            with self._making:
                if self._client is None:
                    client = self._create_client()
                    finalize(self, client.close)
                    self._client = client
        return self._client

    # --- what each SDK does in its own way ----------------------------------------------

    def _dialect(self) -> Dialect:
        """The dialect, loaded when it is first spoken."""
        raise NotImplementedError

    def _create_client(self) -> Any:
        """A client of the SDK, with its own retries off."""
        raise NotImplementedError

    def _open_stream(self, payload: dict[str, Any], seconds: float) -> StreamLine:
        """Ask the provider; in the pump's thread."""
        raise NotImplementedError

    def _explain_error(self, error: BaseException, begun: bool) -> Failure:
        """What an SDK's error means. `begun`: something had come already."""
        raise NotImplementedError


def missing_package(package: str, extra: str) -> Refused:
    """An SDK that is not installed."""
    return Refused(
        f"No model was asked: the package {package!r} is not installed. Install it with {to_get(extra)}."
    )


def _check_messages(given: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, if they are some: a dict is a provider's shape."""
    from looseleaf.base.messages import Message

    is_list = hasattr(given, "__iter__") and not isinstance(given, str | dict)
    messages: tuple[Any, ...] = tuple(given) if is_list else ()
    strange = [each for each in messages if not isinstance(each, Message)]
    if strange or not is_list:
        what = f"a list with a {type(strange[0]).__name__} in it" if strange else f"a {type(given).__name__}"
        raise Refused(
            f"No model was asked: it was given {what}. Give a list of messages, as in "
            '[Message("user", "Hello")], with `from looseleaf import Message`.'
        )
    return messages


def _check_form(calls: str) -> str:
    if calls not in FORMS:
        raise Refused(
            f"No model was asked: {calls!r} is no way to call tools. Use one of {', '.join(FORMS)}."
        )
    return calls


def _render_as_text(
    messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], form: str
) -> tuple[tuple[Message, ...], tuple[ToolSpec, ...]]:
    """The messages with tools described, and calls and results told, in text; and no tools."""
    from looseleaf.base.messages import Message
    from looseleaf.models.text_calls import as_text, describe

    told = tuple(as_text(messages, form))
    if tools:
        # Behind what is always there: the beginning of a prompt should not change.
        start = next((place for place, each in enumerate(told) if each.role != "system"), len(told))
        told = (*told[:start], Message("system", describe(tools, form)), *told[start:])
    return told, ()


def _parse_calls(events: Iterator[Event], form: str, tools: Sequence[ToolSpec]) -> Iterator[Event]:
    from looseleaf.models.text_calls import parse

    return parse(events, form, tools)


def _notify(
    extensions: Sequence[Extension], messages: Sequence[Message], reply: Reply, about: Mapping[str, Any]
) -> None:
    """Every extension, whatever another does."""
    from looseleaf.models.stream_thread import run_quietly

    for extension in extensions:
        raised = run_quietly(lambda extension=extension: extension.after_invoke(messages, reply, **about))  # type: ignore[misc]
        if raised is not None:
            import logging

            logging.getLogger("looseleaf").warning(
                "An extension (%s) failed after a call, which stands: %s: %s",
                type(extension).__name__,
                type(raised).__name__,
                raised,
            )


def _error_sentence(failure: Failure, attempts: int) -> str:
    count = f" This was attempt {attempts}." if attempts > 1 else ""
    return f"{failure.why}{count} {failure.advice}"


def cancelled_error(title: str) -> Cancelled:
    """Whoever asked does not want to know any more."""
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
