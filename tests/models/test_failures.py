"""What goes wrong on the way to a model: every fault is made by a real server, and every test shows that it fired."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

import pytest

from looseleaf.base.errors import Cancelled, ModelFailed, PromptTooLong
from looseleaf.base.messages import Message
from looseleaf.base.replies import Reply, Retrying, TextDelta, Thought, ToolSpec
from looseleaf.models.failures import Failure, of_status, of_transport, retry_after
from looseleaf.models.failures import Provider as Whom
from looseleaf.models.stream_parts import PartialReply, tokens_of
from looseleaf.models.stream_thread import ROOM, Pump, StreamLine, TimeUp
from providing import (
    KEY,
    KINDS,
    WIRES,
    Answer,
    ContextExceeded,
    Cut,
    Fault,
    InStream,
    NoJson,
    Short,
    Stall,
    Status,
    shared,
)
from providing import Provider as Server
from tables import check_rows, some

ASK = (Message("system", "You are brief."), Message("user", "Which tea do I like?"))
TOOL = ToolSpec("look", "Looks.", {"type": "object", "properties": {}})
ANSWER = Answer("It is oolong, as you said on Monday.", "They asked before.", [("look", {})])


class Told:
    """Counts attempts, and keeps what was heard of each that was answered."""

    def __init__(self) -> None:
        self.attempts: list[int] = []
        self.replies: list[Reply] = []

    def before_invoke(self, messages: Any, payload: dict[str, Any], **about: Any) -> None:
        self.attempts.append(about["attempt"])

    def after_invoke(self, messages: Any, response: Reply, **about: Any) -> None:
        self.replies.append(response)


def in_time(is_so: Callable[[], bool]) -> bool:
    """Whether it becomes so; generous, since machines are busy."""
    until = monotonic() + 20
    while monotonic() < until:
        if is_so():
            return True
        threading.Event().wait(0.005)
    return False


def pumps() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "looseleaf model"]


# --- what passes --------------------------------------------------------------------------

PASSING: list[Fault] = [
    Cut(),
    Cut(0),
    Cut(120),
    Status(408),
    Status(409),
    Status(429),
    Status(500),
    Status(503),
    Status(529),
    NoJson(2),
    NoJson(0, b"\xff\xfe"),
    Short(0),
    Short(2),
    InStream(),
]


def test_what_passes_is_tried_again_and_then_answered() -> None:
    def check(wire: str, fault: Fault) -> None:
        told = Told()
        with shared(wire, lambda asked: ANSWER, faults=[fault], extensions=[told]) as (provider, model):
            events = list(model.stream(ASK, [TOOL]))
        assert provider.fired == [fault]
        assert provider.requests == 2
        assert told.attempts == [1, 2]
        again = [place for place, event in enumerate(events) if isinstance(event, Retrying)]
        assert len(again) == 1
        # What was said before is void: what follows is the whole answer.
        after = events[again[0] + 1 :]
        assert "".join(event.text for event in after if isinstance(event, TextDelta)) == ANSWER.text
        assert "".join(event.text for event in after if isinstance(event, Thought)) == ANSWER.reasoning
        assert events[-1].text == ANSWER.text
        assert events[-1].usage == provider.usage
        why = events[again[0]]
        assert why.attempt == 1
        assert why.seconds == 0.001
        was_said = any(isinstance(event, TextDelta | Thought) for event in events[: again[0]])
        assert why.why.endswith("What was said so far is void.") == was_said
        assert KEY not in why.why

    check_rows(check, some([(wire, fault) for wire in WIRES for fault in PASSING], 8))


def test_json_that_is_no_object_is_no_answer() -> None:
    def check(wire: str, sent: bytes) -> None:
        with shared(wire, lambda asked: ANSWER, faults=[NoJson(0, sent)]) as (provider, model):
            events = list(model.stream(ASK, [TOOL]))
        assert provider.fired == [NoJson(0, sent)]
        assert "could not be read" in events[0].why
        assert events[-1].text == ANSWER.text

    check_rows(
        check,
        [
            (wire, sent)
            for wire in ["openai", "openai-chat", "anthropic", "ollama"]
            for sent in [b"[1, 2]", b'"text"', b"7"]
        ],
    )


def test_after_the_last_attempt_it_has_failed() -> None:
    def check(wire: str) -> None:
        with shared(wire, faults=[Status(503)] * 9, retries=2) as (provider, model):
            events = []
            with pytest.raises(ModelFailed, match="This was attempt 3") as failed:
                events.extend(model.stream(ASK))
        assert provider.requests == len(provider.fired) == 3
        assert "503" in str(failed.value)
        assert failed.value.__cause__ is None

    check_rows(check, WIRES)


def test_pauses_double_and_are_always_the_same() -> None:
    with shared("ollama", faults=[Status(500)] * 4, pause=0.002) as (provider, model):
        pauses = [event.seconds for event in model.stream(ASK) if isinstance(event, Retrying)]
    assert pauses == [0.002, 0.004, 0.008, 0.016]
    assert len(provider.fired) == 4


def test_a_provider_says_how_long_to_wait() -> None:
    def check(wire: str) -> None:
        with shared(wire, faults=[Status(429, retry_after=7)]) as (provider, model):
            events = model.stream(ASK)
            assert next(events).seconds == 7
            events.close()
        assert provider.fired == [Status(429, retry_after=7)]
        assert provider.requests == 1

    check_rows(check, WIRES)


@pytest.mark.parametrize("wire", ["openai", "openai-chat", "anthropic", "ollama"])
def test_a_provider_says_by_a_date_how_long_to_wait(wire: str) -> None:
    with shared(wire, faults=[Status(503, retry_after=40, by_date=True)]) as (provider, model):
        events = model.stream(ASK)
        assert next(events).seconds == 40
        events.close()
    assert len(provider.fired) == 1


def test_nobody_waits_longer_than_his_patience() -> None:
    def check(wire: str) -> None:
        faults = [Status(429, retry_after=3600)] * 3
        with shared(wire, faults=faults, patience=0.01) as (provider, model):
            events: list[Any] = []
            with pytest.raises(ModelFailed, match="takes no more requests"):
                events.extend(model.stream(ASK))
        # All of it was waited for after the first attempt; after the second there was none left.
        assert provider.requests == len(provider.fired) == 2

    check_rows(check, WIRES)


def test_retry_after_is_read_in_all_its_forms() -> None:
    def check(headers: dict[str, str], seconds: float | None) -> None:
        assert retry_after(headers) == seconds

    check_rows(
        check,
        [
            ({}, None),
            ({"retry-after": "3"}, 3.0),
            ({"retry-after": "0.5"}, 0.5),
            ({"retry-after": "3", "retry-after-ms": "250"}, 0.25),
            ({"retry-after": "Mon, 16 Nov 2026 10:00:30 GMT", "date": "Mon, 16 Nov 2026 10:00:00 GMT"}, 30.0),
            ({"retry-after": "Mon, 16 Nov 2026 10:00:00 GMT", "date": "Mon, 16 Nov 2026 10:00:30 GMT"}, 0.0),
            ({"retry-after": "soon"}, None),
            ({"retry-after": "-5"}, None),
            ({"retry-after": "nan"}, None),
            ({"retry-after": "1e300"}, None),
            ({"retry-after": "Mon, 99 Foo 2026 10:00:00 GMT"}, None),
        ],
    )


# --- what does not pass --------------------------------------------------------------------


def test_a_prompt_that_is_too_long_is_said_so_and_not_tried_again() -> None:
    def check(wire: str) -> None:
        with shared(wire, faults=[ContextExceeded()]) as (provider, model):
            with pytest.raises(PromptTooLong, match="longer than tea-1 takes"):
                model.send(ASK)
            assert provider.fired == [ContextExceeded()]
            assert provider.requests == 1

    check_rows(check, WIRES)


def test_what_does_not_pass_is_said_and_not_tried_again() -> None:
    def check(wire: str, code: int, said: str) -> None:
        with shared(wire, faults=[Status(code)]) as (provider, model):
            with pytest.raises(ModelFailed, match=said) as failed:
                model.send(ASK)
            assert provider.fired == [Status(code)]
            assert provider.requests == 1
        assert type(failed.value) is ModelFailed

    check_rows(
        check,
        [
            (wire, code, said)
            for wire in WIRES
            for code, said in [
                (401, "refused the key .* Set [A-Z]+_API_KEY"),
                (403, "refused the key"),
                (404, "has no tea-1 at http://127.0.0.1:"),
                (400, "refused the request with status 400"),
            ]
        ],
    )


def test_a_model_that_ollama_does_not_have_is_to_be_pulled() -> None:
    with shared("ollama", faults=[Status(404)]) as (_, model), pytest.raises(ModelFailed, match="pull tea-1"):
        model.send(ASK)


LACKS = "The address may lack /v1: try {address}/v1."
TOO_MANY = "The address may have /v1 too many: try {address}."


def test_a_path_that_is_not_there_is_a_fault_of_the_address_and_not_of_the_model() -> None:
    def check(wire: str, path: str, advice: str) -> None:
        with Server() as provider:
            model = provider.model(wire, base_url=provider.address + path)
            with pytest.raises(ModelFailed, match=f"was not found at {provider.address}{path} ") as failed:
                model.send(ASK)
            assert (provider.requests, provider.asked) == (1, [])
            assert advice.format(address=provider.address) in str(failed.value)
            assert "no such path" in str(failed.value)
            assert "it has no" not in str(failed.value)

    check_rows(
        check,
        [
            ("openai", "", LACKS),
            ("openai", "/", LACKS),
            (
                "openai",
                "/v1/x",
                "Check that address. Most servers only speak Chat Completions",
            ),
            ("openai-chat", "", LACKS),
            ("openai-chat", "/v1/x", "Check that address."),
            ("anthropic", "/v1", TOO_MANY),
            ("ollama", "/v1", TOO_MANY),
            ("gemini", "/x", "Check that address."),
        ],
    )


def test_what_a_provider_says_shows_whether_it_is_the_model_that_is_not_there() -> None:
    def check(said: str, code: str, is_of_model: bool) -> None:
        failure = of_status(Whom("Tea", "tea-1", "http://tea.example", "", "Take another."), 404, said, code)
        assert ("it has no tea-1 at http://tea.example" in failure.why) == is_of_model
        assert (failure.advice == "Take another.") == is_of_model
        assert not failure.again

    check_rows(
        check,
        [
            ("The model `tea-1` does not exist or you do not have access to it.", "model_not_found", True),
            ("This model is only supported in v1/responses and not in v1/chat/completions.", "", True),
            ("model: tea-1", "not_found_error", True),
            ("models/tea-1 is not found for API version v1beta", "NOT_FOUND", True),
            ('model "tea-1" not found, try pulling it first', "", True),
            ("No endpoints found for tea-1.", "", True),
            ("tea-1?", "", True),
            ("Not Found", "", False),
            ("404 page not found", "", False),
            ("File Not Found", "not_found_error", False),
            ("Unexpected endpoint or method. (POST /responses)", "", False),
            ("Invalid URL (POST /responses)", "invalid_request_error", False),
            ("no such path: /v1beta/models/tea-1:streamGenerateContent", "", False),
            ("see tea-15", "", False),
            ("", "", False),
        ],
    )


def test_an_empty_account_is_no_rate_limit() -> None:
    spent = Status(
        429, message="You exceeded your current quota, please check your plan and billing details."
    )
    with shared("openai", faults=[spent]) as (provider, model):
        with pytest.raises(ModelFailed, match="no credit left"):
            model.send(ASK)
        assert provider.requests == 1


def test_an_address_where_nobody_is_is_named() -> None:
    def check(wire: str) -> None:
        from looseleaf import models

        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound and not listened to: nobody else can get it
            address = f"http://127.0.0.1:{taken.getsockname()[1]}"
            kind: Any = getattr(models, KINDS[wire])
            told = Told()
            model = kind("tea-1", api_key=KEY, base_url=address, retries=4, pause=0.001, extensions=[told])
            events = model.stream(ASK)
            again = next(events)
            assert isinstance(again, Retrying)
            assert "void" not in again.why
            with pytest.raises(
                ModelFailed, match=f"could not be reached at {address}. Nothing listens"
            ) as failed:
                next(events)
            assert "`ollama serve`" in str(failed.value)
            model.retries = 0
            with pytest.raises(ModelFailed, match=r"Nothing listens there\. Start"):
                model.send(ASK)
        assert KEY not in str(failed.value)
        # Once more, for a server that is just starting, however often other faults are tried again.
        assert (told.attempts, told.replies) == ([1, 2, 1], []), "nobody was asked, so nobody is to be paid"

    check_rows(check, WIRES)


def test_a_server_elsewhere_that_refuses_is_tried_as_often_as_any() -> None:
    import httpx2

    error = httpx2.ConnectError("refused")
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    for address, most in (("http://192.168.1.20:8000", None), ("http://localhost:8000/v1", 1)):
        failure = of_transport(Whom("Tea", "tea-1", address, "", ""), error, False)
        assert failure is not None
        assert (failure.again, failure.most) == (True, most)
        assert address in failure.why


def test_the_address_that_is_named_is_the_one_that_the_sdk_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    from looseleaf import models

    asks: dict[str, Callable[[Any], object]] = {
        "openai": lambda client: client.base_url,
        "openai-chat": lambda client: client.base_url,
        "anthropic": lambda client: client.base_url,
        "gemini": lambda client: client._api_client._http_options.base_url,
        "ollama": lambda client: client._client.base_url,
    }
    for wire in WIRES:
        kind: Any = getattr(models, KINDS[wire])
        monkeypatch.delenv(kind.place, raising=False)
        for given in (None, "http://127.0.0.1:9/there"):
            if given:
                monkeypatch.setenv(kind.place, given)
            model = kind("tea-1", api_key=KEY)
            model.ready()
            assert model._provider().address == str(asks[wire](model._client)).rstrip("/")


def test_of_the_two_addresses_of_gemini_the_one_that_is_asked_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from looseleaf.models import Gemini

    for name in ("GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", Gemini.place):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    model = Gemini("tea-1")
    model.ready()
    asked = str(model._client._api_client._http_options.base_url).rstrip("/")
    assert model._provider().address == asked == "https://aiplatform.googleapis.com"


def test_only_what_was_said_can_be_void() -> None:
    cases: list[tuple[list[TextDelta | Thought], bool]] = [
        ([], False),
        ([TextDelta(""), Thought("")], False),
        ([TextDelta(""), TextDelta("x")], True),
        ([Thought("x")], True),
    ]
    for events, anything in cases:
        heard = PartialReply((), (), "gpt-5.5")
        for event in events:
            heard.hear(event)
        assert heard.anything is anything


def test_only_what_may_have_arrived_may_cost() -> None:
    def check(name: str, may_cost: bool) -> None:
        import httpx
        import httpx2

        provider = Whom("Tea", "tea-1", "http://127.0.0.1", "", "")
        for library in (httpx, httpx2):
            failure = of_transport(provider, getattr(library, name)("gone"), False)
            assert failure is not None
            assert failure.may_cost == may_cost

    check_rows(
        check,
        [
            ("ReadError", True),
            ("WriteError", True),
            ("RemoteProtocolError", True),
            ("ReadTimeout", True),
            ("ConnectError", False),
            ("ConnectTimeout", False),
            ("PoolTimeout", False),
            ("LocalProtocolError", False),
            ("ProxyError", False),
        ],
    )


def test_a_password_in_an_address_is_not_shown() -> None:
    from looseleaf.models import OpenAIChat

    model = OpenAIChat(
        "m", api_key=KEY, base_url="http://me:hunter22@127.0.0.1:9/v1?token=hunter22", retries=0
    )
    with pytest.raises(ModelFailed, match=r"could not be reached at http://127\.0\.0\.1:9/v1\. ") as failed:
        model.send(ASK)
    assert "hunter22" not in str(failed.value)


# --- what was cut short is told --------------------------------------------------------------


def test_an_extension_is_told_of_what_came_before_the_line_was_cut() -> None:
    def check(wire: str) -> None:
        told = Told()
        long = Answer(" ".join(f"word{number}" for number in range(400)))
        with shared(wire, lambda asked: long, faults=[Cut(16_000)], extensions=[told]) as (provider, model):
            events = list(model.stream(ASK))
        assert provider.fired == [Cut(16_000)]
        cut, whole = told.replies
        before = events[: next(place for place, event in enumerate(events) if isinstance(event, Retrying))]
        assert cut.stop == "cut"
        assert cut.text == "".join(event.text for event in before if isinstance(event, TextDelta))
        assert long.text.startswith(cut.text)
        assert len(cut.text) > 20
        assert cut.usage.is_estimated
        assert cut.usage.output_tokens > 0
        if wire in ("anthropic", "gemini"):
            # These say at the beginning what they have read.
            assert cut.usage.prompt_tokens == whole.usage.prompt_tokens
            assert cut.usage.cached_tokens == whole.usage.cached_tokens
        else:
            assert cut.usage.prompt_tokens > 0
        assert whole.stop == "end"
        assert whole == events[-1]

    check_rows(check, WIRES)


def test_an_attempt_that_was_refused_is_not_told_as_an_answer() -> None:
    def check(wire: str) -> None:
        told = Told()
        with shared(wire, faults=[Status(503), Status(429), Status(408)], extensions=[told]) as (
            provider,
            model,
        ):
            model.send(ASK)
        assert len(provider.fired) == 3
        assert told.attempts == [1, 2, 3, 4]
        assert [reply.stop for reply in told.replies] == ["end"]
        told.replies.clear()
        with shared(wire, faults=[Status(400)], extensions=[told]) as (provider, model):
            with pytest.raises(ModelFailed):
                model.send(ASK)
            assert provider.fired == [Status(400)]
        assert told.replies == []

    check_rows(check, WIRES)


def test_a_line_that_is_cut_before_anything_came_may_have_to_be_paid_for() -> None:
    def check(wire: str, fault: Fault) -> None:
        told = Told()
        with shared(wire, faults=[fault], extensions=[told]) as (provider, model):
            model.send(ASK, [TOOL])
        assert provider.fired == [fault]
        assert told.attempts == [1, 2]
        cut, whole = told.replies
        assert (cut.stop, cut.text, cut.calls, cut.model) == ("cut", "", (), "tea-1")
        assert cut.usage.is_estimated
        assert cut.usage.prompt_tokens == tokens_of(ASK, [TOOL]) > 0
        assert cut.usage.output_tokens == 0
        assert whole.stop == "end"

    check_rows(
        check,
        [(wire, fault) for wire in WIRES for fault in [Cut(), Cut(0), Short(0), NoJson(0, b"\xff\xfe")]],
    )


# --- ending it -----------------------------------------------------------------------------


def test_cancel_ends_a_call_while_the_server_says_nothing() -> None:
    def check(wire: str, fault: Stall) -> None:
        told, cancel = Told(), threading.Event()
        with shared(wire, lambda asked: ANSWER, faults=[fault], extensions=[told]) as (provider, model):

            def interrupt() -> None:
                provider.stalled.wait(20)
                cancel.set()

            other = threading.Thread(target=interrupt)
            other.start()
            with pytest.raises(Cancelled, match="cancelled"):
                model.send(ASK, [TOOL], cancel=cancel)
            other.join()
            assert provider.fired == [fault]
            assert provider.requests == 1
            assert [reply.stop for reply in told.replies] == ["cut"]
            if fault.after is not None:  # else there is no connection yet that could be broken
                assert provider.hung_up.wait(20)
        assert in_time(lambda: not pumps())

    check_rows(check, [(wire, fault) for wire in WIRES for fault in [Stall(600), Stall(None)]])


def test_a_call_that_is_cancelled_already_is_not_made() -> None:
    cancel = threading.Event()
    cancel.set()
    with shared("openai") as (provider, model):
        with pytest.raises(Cancelled):
            model.send(ASK, cancel=cancel)
        assert provider.requests == 0


def test_cancel_ends_the_wait_before_another_attempt() -> None:
    cancel = threading.Event()
    with shared("anthropic", faults=[Status(529, retry_after=100)]) as (provider, model):
        events = model.stream(ASK, cancel=cancel)
        assert next(events).seconds == 100
        cancel.set()
        with pytest.raises(Cancelled):
            next(events)
        assert provider.requests == 1


def test_closing_the_iterator_hangs_up() -> None:
    def check(wire: str) -> None:
        told = Told()
        # Long enough that something was said before it stalls, in every shape.
        long = Answer(" ".join(["oolong"] * 200))
        with shared(wire, lambda asked: long, faults=[Stall(9_000)], extensions=[told]) as (provider, model):
            events = model.stream(ASK)
            first = next(events)
            assert provider.stalled.wait(20)
            events.close()
            assert provider.hung_up.wait(20)
            assert provider.fired == [Stall(9_000)]
            assert [(reply.stop, reply.text) for reply in told.replies] == [("cut", first.text)]
            assert in_time(lambda: not pumps())
            # The model is as good as before.
            assert model.send(ASK).text == long.text

    check_rows(check, WIRES)


def test_a_time_limit_holds_whatever_the_server_does() -> None:
    def check(wire: str, fault: Stall) -> None:
        with shared(wire, lambda asked: ANSWER, faults=[fault]) as (provider, model):
            with pytest.raises(ModelFailed, match=r"within 0.1 seconds|in time"):
                model.send(ASK, [TOOL], seconds=0.1)
            assert provider.stalled.wait(20)
            assert provider.fired == [fault]
            assert provider.requests == 1
            if fault.after is not None:
                assert provider.hung_up.wait(20)
        assert in_time(lambda: not pumps())

    check_rows(check, [(wire, fault) for wire in WIRES for fault in [Stall(600), Stall(None)]])


def test_connections_are_used_again() -> None:
    with shared("ollama") as (_, model):
        for _ in range(3):
            model.send(ASK)
            assert in_time(lambda: not pumps())
        pool = model._client._client._transport._pool
        assert len(pool.connections) == 1


# --- the pump by itself ----------------------------------------------------------------------


def bare(error: BaseException, begun: bool) -> Failure:
    return Failure(f"{type(error).__name__} {begun}", "Ask again.")


def test_a_slow_reader_slows_the_line_down_and_loses_nothing() -> None:
    made: list[int] = []

    def chunks() -> Any:
        for number in range(5 * ROOM):
            made.append(number)
            yield {"number": number}

    pump = Pump(lambda: StreamLine(chunks()), bare)
    # It stands still when there is no room, however long the reader takes.
    assert in_time(lambda: len(made) == ROOM + 1)
    seconds = 0.05
    heard = []
    for chunk in pump.chunks(seconds, None):
        heard.append(chunk["number"])
        if chunk["number"] == 3:
            threading.Event().wait(2 * seconds)
            assert len(made) <= ROOM + 5
    assert heard == list(range(5 * ROOM))
    assert in_time(lambda: not pumps())


def test_a_pump_that_is_stopped_ends_its_thread_even_when_it_is_full() -> None:
    closed = threading.Event()

    def chunks() -> Any:
        try:
            while True:
                yield {}
        finally:
            closed.set()

    pump = Pump(lambda: StreamLine(chunks()), bare)
    assert next(iter(pump.chunks(10, None))) == {}
    pump.stop()
    assert closed.wait(20)
    assert in_time(lambda: not pumps())


@pytest.mark.parametrize(
    "error", [ValueError("no"), SystemExit(3), KeyboardInterrupt(), MemoryError()], ids=repr
)
def test_whatever_an_sdk_raises_is_carried_over(error: BaseException) -> None:
    def chunks() -> Any:
        yield {}
        raise error

    def fail() -> StreamLine:
        raise error

    begun = Pump(lambda: StreamLine(chunks()), bare).chunks(10, None)
    assert next(begun) == {}
    with pytest.raises(Failure, match=f"{type(error).__name__} True"):
        next(begun)
    with pytest.raises(Failure, match=f"{type(error).__name__} False"):
        next(Pump(fail, bare).chunks(10, None))


def test_an_error_that_cannot_be_understood_ends_the_call_all_the_same() -> None:
    def puzzled(error: BaseException, begun: bool) -> Failure:
        raise LookupError("what is this?")

    def fail() -> StreamLine:
        raise OSError("secret")

    with pytest.raises(Failure, match=r"in a way of its own \(OSError\)"):
        next(Pump(fail, puzzled).chunks(10, None))


def test_an_sdk_that_hangs_is_not_waited_for() -> None:
    let_go = threading.Event()

    def hang() -> StreamLine:
        let_go.wait(20)
        return StreamLine(iter([{}]))

    pump = Pump(hang, bare)
    with pytest.raises(TimeUp):
        next(pump.chunks(0.01, None))
    assert pumps()
    pump.stop()
    let_go.set()
    assert in_time(lambda: not pumps())
