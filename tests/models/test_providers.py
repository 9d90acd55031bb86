"""Models over HTTP, with the providers' own SDKs: what is asked arrives, what is answered comes back, nothing stays."""

from __future__ import annotations

import contextlib
import gc
import inspect
import json
import re
import secrets
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from looseleaf import models
from looseleaf.base.errors import Invalid, ModelFailed, Refused, SpendingLimit, to_get
from looseleaf.base.messages import Message, ToolCallPayload, ToolCallSpec, ToolResultPayload
from looseleaf.base.replies import (
    Called,
    Extension,
    Model,
    Repaired,
    Reply,
    Retrying,
    TextDelta,
    Thought,
    ToolSpec,
    Usage,
)
from looseleaf.models.call import StreamOptions
from looseleaf.models.stream_parts import TokenUsage, replace_objects
from providing import KEY, KINDS, WIRES, Answer, Asked, Cut, Malformed, NoJson, Provider, Status, shared
from tables import check_rows, some

LOOK = ToolSpec(
    "look",
    "Looks something up.",
    {
        "type": "object",
        "properties": {
            "where": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
            "many": {"type": "integer"},
        },
        "required": ["where"],
    },
)
COUNT = ToolSpec("count", "Counts.", {"type": "object", "properties": {}})
ASK = (Message("system", "You are brief."), Message("user", "Which tea?"))
FULL = Answer(
    'In Zürich: 茶, "oolong" \\ and 🍵.',
    "The user wants tea. It is late.",
    [("look", {"where": {"city": "Zürich"}, "many": 2}), ("count", {})],
)


def joined(events: list[Any], kind: type[TextDelta] | type[Thought]) -> str:
    return "".join(event.text for event in events if isinstance(event, kind))


# --- what is said ------------------------------------------------------------------------


def test_what_comes_piece_by_piece_is_what_comes_whole() -> None:
    def check(wire: str) -> None:
        with shared(wire, lambda asked: FULL) as (provider, model):
            events = list(model.stream(ASK, [LOOK, COUNT]))
        reply = events[-1]
        assert isinstance(reply, Reply)
        assert not any(isinstance(event, Reply | Retrying | Repaired) for event in events[:-1])
        assert joined(events, TextDelta) == reply.text == FULL.text
        assert joined(events, Thought) == reply.reasoning == FULL.reasoning
        assert tuple(event.call for event in events if isinstance(event, Called)) == reply.calls
        assert [(call.name, call.arguments) for call in reply.calls] == FULL.calls
        assert len({call.id for call in reply.calls}) == 2
        assert reply.stop == "tools"
        assert reply.model == "tea-1"
        assert provider.complaints == []

    check_rows(check, WIRES)


def test_usage_is_what_the_server_counted() -> None:
    def check(wire: str) -> None:
        tally = TokenUsage()
        with shared(wire, lambda asked: FULL, extensions=[tally]) as (provider, model):
            first = model.send(ASK, [LOOK])
            assert first.usage == provider.usage
            model.send((*ASK, Message("assistant", "Oolong."), Message("user", "Why?")), [LOOK])
        assert tally.total == provider.usage
        assert tally.by_model == {"tea-1": provider.usage}
        assert tally.calls == {"tea-1": 2}
        assert not tally.total.is_estimated
        assert tally.total.prompt_tokens > first.usage.prompt_tokens > 0

    check_rows(check, WIRES)


def test_a_call_and_its_result_go_round_with_what_only_the_provider_can_read() -> None:
    def check(wire: str) -> None:
        def brain(asked: Asked) -> Answer:
            return Answer(f"It is {asked.results[-1][1]}") if asked.results else FULL

        with shared(wire, brain) as (provider, model):
            first = model.send(ASK, [LOOK, COUNT])
            said = Message(
                "assistant",
                first.text,
                first.reasoning,
                tool_payload=ToolCallPayload(first.calls),
                opaque=first.opaque,
            )
            results = [
                Message("tool", tool_payload=ToolResultPayload(call.id, call.name, f"{call.name}: oolong"))
                for call in first.calls
            ]
            events = list(model.stream((*ASK, said, *results), [LOOK, COUNT]))
        asked = provider.asked[-1]
        assert not [event for event in events if isinstance(event, Repaired)]
        assert provider.complaints == []
        assert asked.system == "You are brief."
        assert asked.calls == FULL.calls
        assert [name for name, _ in asked.results] == ["look", "count"]
        assert "count: oolong" in events[-1].text
        sent = json.dumps(asked.body)
        if wire in ("openai", "anthropic", "gemini"):
            # The server signs a thought with a hash of it.
            import base64
            import hashlib

            signed = base64.b64encode(hashlib.sha256(FULL.reasoning.encode()).digest()).decode()
            assert signed in sent or signed.replace("/", "_").replace("+", "-") in sent

    check_rows(check, WIRES)


def test_the_schema_of_a_tool_arrives_whole() -> None:
    def check(wire: str) -> None:
        with shared(wire) as (provider, model):
            model.send(ASK, [LOOK])
        found = provider.asked[0].tools["look"]
        assert found["required"] == ["where"]
        if wire == "ollama":
            # Its server reads the members of the first level; what is below them is told in words.
            assert '"city"' in found["properties"]["where"]["description"]
        else:
            assert found["properties"]["where"]["properties"]["city"]["type"] == "string"

    check_rows(check, WIRES)


EXTRA: dict[str, dict[str, Any]] = {
    "openai": {"service_tier": "flex"},
    "openai-chat": {"top_k": 3, "chat_template_kwargs": {"enable_thinking": False}},
    "anthropic": {"top_k": 3},
    "ollama": {"keep_alive": "5m"},
}


def test_extra_members_reach_the_provider_as_they_are() -> None:
    def check(wire: str) -> None:
        with shared(wire) as (provider, model):
            model.send(ASK, extra=EXTRA[wire])
        assert provider.bodies[0].items() >= EXTRA[wire].items()

    check_rows(check, EXTRA)


def test_an_option_that_nobody_knows_is_refused() -> None:
    with Provider() as provider:
        for model in (provider.model("openai"), models.ScriptedModel(["hi"])):
            for ask in (model.stream, model.send):
                with pytest.raises(
                    Refused, match=r"no option 'temprature'\. There are max_tokens, temperature, .*extra"
                ):
                    ask(ASK, temprature=1)
            with pytest.raises(Refused, match="no option 'a', 'b'"):
                model.stream(ASK, b=1, a=2, max_tokens=3)
    assert provider.requests == 0


def test_a_stop_at_the_limit_is_said() -> None:
    def check(wire: str) -> None:
        with shared(wire, lambda asked: Answer("Half an ans", stop="length")) as (_, model):
            assert model.send(ASK).stop == "length"

    check_rows(check, WIRES)


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"x": value}
    return value


def test_arguments_that_no_log_can_hold_are_the_text_that_came() -> None:
    def check(wire: str, given: Any) -> None:
        with shared(wire, lambda asked: Answer("Well.", calls=[("look", given), ("count", {})])) as (
            provider,
            model,
        ):
            reply = model.send(ASK, [LOOK, COUNT])
        assert [(call.name, call.arguments) for call in reply.calls] == [
            ("look", json.dumps(given)),
            ("count", {}),
        ]
        assert provider.requests == 1

    check_rows(
        check,
        [
            (wire, given)
            for wire in WIRES
            for given in [{"x": float("inf")}, {"x": [float("nan")]}, _nested(300), _nested(91)]
        ],
    )


def test_arguments_called_as_malformed_ones_are_told_are_what_they_are() -> None:
    def check(wire: str) -> None:
        given = [{"malformed": "{}"}, {"malformed": "x", "args": {"arguments": {}}}, {"malformed": None}]
        calls: Any = [("look", each) for each in given]
        with shared(wire, lambda asked: Answer("", calls=calls)) as (_, model):
            assert [call.arguments for call in model.send(ASK, [LOOK]).calls] == given

    check_rows(check, WIRES)


@pytest.mark.parametrize(
    "raw", ['{"x": 1e999}', '{"a":' * 3000 + "1" + "}" * 3000, '{"n": ' + "9" * 5000 + "}"]
)
def test_a_line_is_read_though_the_arguments_in_it_cannot_be(raw: str) -> None:
    line = (
        '{"text": "say \\"args\\": {", "args" : '
        + raw
        + ', "other": {"args": {"fine": {"args": {}}}}, "args": 3}'
    )
    seen: list[str] = []

    def stands_for(text: str) -> str | None:
        seen.append(text)
        return text if text == raw else None

    made = json.loads(replace_objects(line, "args", stands_for))
    assert seen == [raw, '{"fine": {"args": {}}}']
    assert made == {"text": 'say "args": {', "args": 3, "other": {"args": {"fine": {"args": {}}}}}
    assert json.loads(replace_objects(line[:-12] + "}", "args", stands_for))["args"] == raw
    assert replace_objects(line, "arguments", stands_for) == line


def test_arguments_that_stop_a_parser_stop_no_answer() -> None:
    def check(wire: str, raw: str) -> None:
        event = {
            "gemini": '{"candidates": [{"content": {"parts": [{"functionCall": {"name": "look", "args": %s}}]}}]}',
            "ollama": '{"message": {"tool_calls": [{"function": {"name": "look", "arguments": %s}}]}, "done": false}',
        }[wire]
        sent = NoJson(0, (event % raw).encode())
        with shared(wire, faults=[sent]) as (provider, model):
            reply = model.send(ASK, [LOOK])
        assert provider.fired == [sent]
        assert provider.requests == 1
        assert [(call.name, call.arguments) for call in reply.calls] == [("look", raw)]
        assert reply.text == "You said: Which tea?"

    check_rows(
        check,
        [
            (wire, raw)
            for wire in ["gemini", "ollama"]
            for raw in ['{"a":' * 3000 + "1" + "}" * 3000, '{"n": ' + "9" * 5000 + "}", '{"x":1e999}']
        ],
    )


def test_the_arguments_of_a_script_are_those_that_a_provider_could_give() -> None:
    calls = tuple(
        ToolCallSpec(str(n), "look", given) for n, given in enumerate(({"x": float("inf")}, {"x": 1}, None))
    )
    reply = models.ScriptedModel([Reply("", calls=calls)]).send(ASK, [LOOK])
    assert [call.arguments for call in reply.calls] == ['{"x": Infinity}', {"x": 1}, None]


@pytest.mark.parametrize("wire", ["openai", "openai-chat", "anthropic"])
def test_malformed_arguments_are_the_text_that_came(wire: str) -> None:
    with shared(wire, lambda asked: FULL, faults=[Malformed()]) as (provider, model):
        reply = model.send(ASK, [LOOK])
    assert provider.fired == [Malformed()]
    assert reply.calls[0].arguments == json.dumps(FULL.calls[0][1], ensure_ascii=False)[:-1]
    assert provider.requests == 1


@pytest.mark.parametrize("wire", ["gemini", "ollama"])
def test_a_provider_that_cannot_read_its_own_call_is_asked_again(wire: str) -> None:
    with shared(wire, lambda asked: FULL, faults=[Malformed()]) as (provider, model):
        events = list(model.stream(ASK, [LOOK]))
    assert provider.fired == [Malformed()]
    assert [type(event) for event in events if isinstance(event, Retrying)] == [Retrying]
    assert [(call.name, call.arguments) for call in events[-1].calls] == FULL.calls
    assert provider.requests == 2


def test_tools_can_be_offered_and_called_in_text() -> None:
    def check(wire: str, form: str) -> None:
        blocks = {
            "json": '<tool_call>{"name": "look", "arguments": {"where": {"city": "Bern"}, "many": 2}}</tool_call>',
            "xml": '<tool name="look"><arg name="where">{"city": "Bern"}</arg><arg name="many">2</arg></tool>',
        }
        answer = Answer(f"I look. {blocks[form]}")
        with shared(wire, lambda asked: answer, calls=form) as (provider, model):
            events = list(model.stream(ASK, [LOOK]))
        reply = events[-1]
        assert [(call.name, call.arguments) for call in reply.calls] == [
            ("look", {"where": {"city": "Bern"}, "many": 2})
        ]
        assert "tool" not in joined(events, TextDelta)
        assert reply.stop == "tools"
        assert provider.asked[0].tools == {}
        assert "Looks something up." in provider.asked[0].system
        assert provider.asked[0].system.startswith("You are brief.")

    check_rows(check, [(wire, form) for form in ["json", "xml"] for wire in WIRES])


def test_a_form_of_calls_that_is_none_is_refused() -> None:
    with pytest.raises(Refused, match="native, json, xml"):
        models.OpenAI("gpt-5", calls="yaml")
    with Provider() as provider, pytest.raises(Refused, match="native, json, xml"):
        provider.model("openai").send(ASK, calls="yaml")


# --- nothing stays -----------------------------------------------------------------------


def reachable(root: object) -> Iterator[object]:
    """Everything that is held by `root`, but for what belongs to modules."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, types.ModuleType | types.FrameType):
            continue
        if isinstance(each, dict) and "__spec__" in each:
            continue
        seen.add(id(each))
        yield each
        waiting.extend(gc.get_referents(each))


def held(root: object, words: list[str]) -> list[str]:
    """Which of the words stand in a text that `root` holds."""
    texts = [each for each in reachable(root) if isinstance(each, str | bytes | bytearray)]
    everything = "\n".join(each if isinstance(each, str) else each.decode("latin-1") for each in texts)
    return [word for word in words if word in everything]


def check_holds_nothing(wire: str) -> None:
    words = [secrets.token_hex(12) for _ in range(4)]
    asked, answered, thought, argued = words
    answer = Answer(f"{answered} it is.", f"{thought}, hm.", [("look", {"where": {"city": argued}})])
    told = (Message("user", f"What is {asked}?"),)

    def stays() -> list[str]:
        gc.collect()
        assert any(each is model._client for each in reachable(model) if each is not None)
        return held(model, words)

    with Provider(lambda _: answer, faults=[Status(503), Cut(900)]) as provider:
        model = provider.model(wire)
        assert answered in model.send(told, [LOOK]).text
        assert len(provider.fired) == 2
        assert stays() == []
        stream = model.stream(told, [LOOK])
        assert thought in next(stream).text
        stream.close()
        assert stays() == []
        provider.faults = [Cut(900)]
        model.retries = 0
        with pytest.raises(ModelFailed, match="cut"):
            model.send(told, [LOOK])
        assert stays() == []


def test_a_model_holds_nothing_of_what_was_said() -> None:
    check_holds_nothing("openai")


@pytest.mark.long
def test_no_model_holds_anything_of_what_was_said() -> None:
    check_rows(check_holds_nothing, WIRES)


def test_a_text_that_a_model_holds_would_be_found() -> None:
    word = secrets.token_hex(12)
    with Provider() as provider:
        model = provider.model("anthropic")
        model.send((Message("user", "Hi"),))
        model._client.last = {"body": [f"so {word} it is".encode()]}
        assert held(model, [word]) == [word]


def test_two_conversations_share_a_model_and_do_not_mix() -> None:
    def check(wire: str) -> None:
        def brain(asked: Asked) -> Answer:
            return Answer(f"{asked.said} {len(asked.texts)} " * 5, "thinking of " + asked.said)

        replies: dict[str, list[Reply]] = {"mango": [], "papaya": []}

        def talk(word: str) -> None:
            told: tuple[Message, ...] = ()
            for turn in range(4):
                told = (*told, Message("user", f"{word}-{turn}"))
                reply = model.send(told)
                replies[word].append(reply)
                told = (*told, Message("assistant", reply.text))

        with shared(wire, brain, split=16) as (provider, model):
            threads = [threading.Thread(target=talk, args=(word,)) for word in replies]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        for word, heard in replies.items():
            assert [reply.text for reply in heard] == [
                f"{word}-{turn} {2 * turn + 1} " * 5 for turn in range(4)
            ]
            assert [reply.reasoning for reply in heard] == [f"thinking of {word}-{turn}" for turn in range(4)]
        for asked in provider.asked:
            assert len({text.partition("-")[0] for _, text in asked.texts}) == 1
        assert provider.complaints == []

    check_rows(check, WIRES)


def test_importing_models_imports_no_sdk_and_no_threads() -> None:
    code = (
        "import sys, looseleaf.models\n"
        "heavy = ('openai', 'anthropic', 'google.genai', 'ollama', 'httpx', 'httpx2', 'threading', 'queue', 'pydantic',"
        " 'typing', 'dataclasses', 'asyncio')\n"
        "print([name for name in heavy if name in sys.modules])\n"
        "from looseleaf.models import Anthropic, Gemini, Ollama, OpenAI, OpenAIChat, ScriptedModel, choose\n"
        "made = [kind('m') for kind in (Anthropic, Gemini, Ollama, OpenAI, OpenAIChat)]\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    told = subprocess.run(
        [sys.executable, "-S", "-c", code], check=True, capture_output=True, text=True, env=_bare()
    )
    assert told.stdout.split("\n")[:2] == ["[]", "[]"]


def _bare() -> dict[str, str]:
    """Without what starts coverage, which threads."""
    return {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}


# --- keys and SDKs that are missing ---------------------------------------------------------

VARIABLES = {
    "openai": "OPENAI_API_KEY",
    "openai-chat": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "gemini": "GEMINI_API_KEY",
}
PACKAGES = {
    "openai": ("openai", "openai"),
    "openai-chat": ("openai", "openai"),
    "anthropic": ("anthropic", "anthropic"),
    "gemini": ("google.genai", "gemini"),
    "ollama": ("ollama", "ollama"),
}


def test_without_a_key_the_variable_is_named(tmp_path: Path) -> None:
    def check(wire: str) -> None:
        with pytest.MonkeyPatch.context() as monkeypatch:
            for name in (*VARIABLES.values(), "GOOGLE_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_ADMIN_KEY"):
                monkeypatch.delenv(name, raising=False)
            monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
            monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # nothing may leave this machine
            with pytest.raises(
                ModelFailed, match=f"was not asked: there is no key for it. Set {VARIABLES[wire]}"
            ):
                getattr(models, KINDS[wire])("m", retries=0).send(ASK)

    check_rows(check, VARIABLES)


def test_without_its_sdk_a_model_says_what_to_install() -> None:
    def check(wire: str) -> None:
        with pytest.MonkeyPatch.context() as monkeypatch:
            package, extra = PACKAGES[wire]
            monkeypatch.setitem(sys.modules, package, None)
            if package == "google.genai":
                import google

                monkeypatch.delattr(google, "genai", raising=False)
            with Provider() as provider:
                model = provider.model(wire)
                for ask in (model.ready, lambda: model.send(ASK), model.ready):
                    with pytest.raises(Refused) as refused:
                        ask()
                    assert f"Install it with {to_get(extra)}." in str(refused.value)
                    assert not isinstance(refused.value, ModelFailed)
                assert provider.requests == 0

    check_rows(check, WIRES)


# --- ready before it is asked ----------------------------------------------------------------


def test_a_model_that_is_ready_has_asked_nobody_and_its_client_stays() -> None:
    def check(wire: str) -> None:
        with Provider() as provider:
            model = provider.model(wire)
            assert model._client is None
            model.ready()
            client = model._client
            assert client is not None
            assert (provider.requests, provider.looks) == (0, 0)
            model.ready()
            assert model.send(ASK).text == "You said: Which tea?"
            assert model._client is client

    check_rows(check, WIRES)


def test_whoever_is_first_makes_the_client_and_everybody_else_waits() -> None:
    entered: list[threading.Thread] = []
    second = threading.Event()
    with Provider() as provider:
        model = provider.model("ollama")
        connect = model._create_client

        def slow() -> Any:
            entered.append(threading.current_thread())
            if len(entered) > 1:
                second.set()
            second.wait(0.3)  # time for a second one, if any is let in
            return connect()

        model._create_client = slow
        begin = threading.Barrier(6)
        heard: list[str] = []

        def ready() -> None:
            begin.wait()
            model.ready()

        def send() -> None:
            begin.wait()
            heard.append(model.send(ASK).text)

        threads = [threading.Thread(target=job) for job in (ready, send) * 3]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(entered) == 1
    assert heard == ["You said: Which tea?"] * 3


def test_a_client_that_could_not_be_made_is_made_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    model = models.OpenAI("gpt-5")
    for _ in range(2):
        with pytest.raises(ModelFailed, match=r"was not asked: there is no key for it\. Set OPENAI_API_KEY"):
            model.ready()
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model.ready()


def test_a_script_is_always_ready() -> None:
    model = models.ScriptedModel(["one"])
    model.ready()
    assert model.send(ASK).text == "one"


@pytest.mark.parametrize(
    ("base_url", "variable"),
    [
        ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ("https://api.deepseek.com", "DEEPSEEK_API_KEY"),
        ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    ],
)
def test_a_server_that_is_known_is_not_asked_without_its_own_key(
    base_url: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENROUTER_API_KEY", "DEEPSEEK_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.delenv(variable)
    with Provider() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.address)  # nothing may leave this machine
        with pytest.raises(ModelFailed, match=f"there is no key for it. Set {variable}"):
            models.OpenAIChat("m", base_url=base_url, retries=0).send(ASK)
        assert proxy.requests + proxy.looks + len(proxy.complaints) == 0


# --- what a person sees who asks for help ------------------------------------------------------


def test_help_shows_what_a_model_takes() -> None:
    def check(wire: str) -> None:
        kind: Any = getattr(models, KINDS[wire])
        parameters = inspect.signature(kind).parameters
        assert [*parameters][:3] == ["name", "api_key", "base_url"]
        assert not [each for each in parameters.values() if each.kind is inspect.Parameter.VAR_KEYWORD]
        told = inspect.getdoc(kind) or ""
        assert [name for name in parameters if name != "name" and name not in told] == []
        assert f"{kind.__name__}(" in told
        assert kind.variable in told
        assert kind.place in told

    check_rows(check, WIRES)


def test_help_shows_what_options_a_call_takes() -> None:
    told = inspect.getdoc(models.OpenAI.stream) or ""
    assert [name for name in StreamOptions.__match_args__ if name not in told] == []
    assert "looseleaf.base.replies.Model" in told
    assert "`stream`" in (inspect.getdoc(models.OpenAI.send) or "")


def test_what_is_no_list_of_messages_is_refused_before_anybody_is_asked() -> None:
    def check(given: Any, what: str) -> None:
        with shared("openai") as (provider, model):
            for asked in (model, models.ScriptedModel(["no"])):
                for ask in (asked.send, asked.stream):
                    with pytest.raises(Refused) as refused:
                        ask(given)
                    assert str(refused.value) == (
                        f"No model was asked: it got {what}. Give a list of messages, as in "
                        '[Message("user", "Hello")], with `from looseleaf import Message`.'
                    )
            assert provider.requests == 0
            assert model.send(iter(ASK)).text == "You said: Which tea?"

    check_rows(
        check,
        [
            ([{"role": "user", "content": "Hi"}], "a list with a dict in it"),
            ([*ASK, "Hi"], "a list with a str in it"),
            ([None], "a list with a NoneType in it"),
            ("Hi", "a str"),
            ({"role": "user"}, "a dict"),
            (Message("user", "Hi"), "a Message"),
            (None, "a NoneType"),
        ],
    )


def test_wrong_arguments_are_invalid_and_say_what_is_right() -> None:
    def check(given: dict[str, Any], sentence: str) -> None:
        with pytest.raises(Invalid, match=re.escape(sentence)):
            models.ScriptedModel(["no"]).send(ASK, **given)

    check_rows(
        check,
        [
            (
                {"tools": [{"name": "look"}]},
                "it got a list with a dict in it. Give a list of tools, as in [ToolSpec(",
            ),
            ({"max_tokens": "9"}, "`max_tokens` is '9'. Give a whole number, or leave it out."),
            ({"max_tokens": True}, "`max_tokens` is True. Give a whole number, or leave it out."),
            ({"temperature": "hot"}, "`temperature` is 'hot'. Give a number, or leave it out."),
            ({"seconds": "9"}, "`seconds` is '9'. Give a number, or leave it out."),
            ({"schema": "object"}, "`schema` is 'object'. Give a JSON Schema, or leave it out."),
            ({"effort": 3}, "`effort` is 3. Give text, or leave it out."),
            ({"extra": []}, "`extra` is []. Give an object, or leave it out."),
            ({"calls": "yaml"}, "'yaml' is not a way to call tools. Use one of native, json, xml."),
            ({"tokens": 1}, "there is no option 'tokens'."),
        ],
    )


def test_a_key_is_never_shown() -> None:
    def check(wire: str) -> None:
        provider_error = Status(401, message=f"Incorrect API key provided: {KEY}. Header was Bearer {KEY}")
        odd = "a-token-of-no-known-shape"
        again = Status(500, message=f"cannot use x-extra {odd}")
        with Provider(faults=[provider_error, again]) as provider:
            model = provider.model(wire, headers={"X-Extra": odd}, retries=0)
            for expected in (provider_error, again):
                with pytest.raises(ModelFailed) as failed:
                    model.send(ASK)
                assert expected in provider.fired
                shown = f"{failed.value!r} {failed.value.__cause__!r} {failed.value.__context__!r} {model!r}"
                assert KEY not in shown
                assert odd not in shown
        assert provider.asked[0].headers["x-extra"] == odd
        assert KEY in str(provider.asked[0].headers)

    check_rows(check, WIRES)


def test_what_stays_on_this_machine_passes_no_proxy() -> None:
    def check(wire: str, given_by: str) -> None:
        with pytest.MonkeyPatch.context() as monkeypatch, Provider() as proxy, Provider() as provider:
            for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.address)
                monkeypatch.setenv(name.lower(), proxy.address)
            for name in ("NO_PROXY", "no_proxy"):
                monkeypatch.delenv(name, raising=False)
            kind: Any = getattr(models, KINDS[wire])
            where = {"base_url": provider.base_url(wire)}
            if given_by == "environment":
                monkeypatch.setenv(kind.place, where.pop("base_url"))
            assert kind("tea-1", api_key=KEY, retries=0, **where).send(ASK).text == "You said: Which tea?"
            assert (provider.requests, proxy.requests) == (1, 0)
            # The environment's proxy is one: what goes elsewhere goes through it.
            far = "http://models.example" + ("/v1" if wire.startswith("openai") else "")
            with contextlib.suppress(ModelFailed):
                kind("tea-1", api_key=KEY, base_url=far, retries=0, seconds=20).send(ASK)
            assert proxy.requests + proxy.looks + len(proxy.complaints) > 0

    check_rows(check, some([(wire, given_by) for wire in WIRES for given_by in ["caller", "environment"]], 4))


def test_a_key_does_not_follow_a_redirect() -> None:
    def check(wire: str) -> None:
        with Provider() as elsewhere:
            path = {
                "openai": "/v1/responses",
                "openai-chat": "/v1/chat/completions",
                "anthropic": "/v1/messages",
            }
            away = Status(307, location=elsewhere.address + path.get(wire, "/api/chat"))
            with shared(wire, faults=[away], retries=0) as (provider, model), pytest.raises(ModelFailed):
                model.send(ASK)
            assert provider.fired == [away]
        assert elsewhere.requests == 0

    check_rows(check, WIRES)


# --- extensions --------------------------------------------------------------------------


class Told:
    """Writes down what it is told; raises where it should."""

    def __init__(self, before: Exception | None = None, after: Exception | None = None) -> None:
        self.before, self.after = before, after
        self.begun: list[tuple[Any, dict[str, Any], dict[str, Any]]] = []
        self.ended: list[tuple[Any, Reply, dict[str, Any]]] = []

    def before_invoke(self, messages: Any, payload: dict[str, Any], **about: Any) -> None:
        self.begun.append((messages, payload, about))
        if self.before is not None:
            raise self.before

    def after_invoke(self, messages: Any, response: Reply, **about: Any) -> None:
        self.ended.append((messages, response, about))
        if self.after is not None:
            raise self.after


def test_extensions_are_told_of_each_attempt_and_of_the_answer() -> None:
    def check(wire: str) -> None:
        own, of_call = Told(), Told()
        with shared(wire, lambda asked: FULL, faults=[Status(503)], extensions=[own]) as (_, model):
            reply = model.send(ASK, [LOOK], purpose="distill", extensions=[of_call])
        for told in (own, of_call):
            assert [about["attempt"] for _, _, about in told.begun] == [1, 2]
            messages, payload, about = told.begun[0]
            assert messages == ASK
            assert "Which tea?" in json.dumps(payload)
            assert KEY not in json.dumps(payload)
            assert about == {"model": "tea-1", "dialect": wire, "purpose": "distill", "attempt": 1}
            assert told.ended == [(ASK, reply, about | {"attempt": 2})]

    check_rows(check, WIRES)


def test_an_extension_that_raises_before_stops_the_call() -> None:
    ceiling = Told(before=SpendingLimit("No more today."))
    with Provider() as provider, pytest.raises(SpendingLimit, match="No more today"):
        provider.model("anthropic", extensions=[ceiling]).send(ASK)
    assert provider.requests == 0
    assert ceiling.ended == []


def test_an_extension_that_raises_afterwards_is_a_note_and_no_lost_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken, fix_surrogates = Told(after=OSError("the disk is full")), Told()
    with Provider(lambda asked: "Oolong.") as provider:
        reply = provider.model("ollama", extensions=[broken, fix_surrogates]).send(ASK)
    assert reply.text == "Oolong."
    assert [entry[1] for entry in fix_surrogates.ended] == [reply]
    assert "the disk is full" in caplog.text


def test_where_a_provider_counts_nothing_the_messages_are_counted() -> None:
    def count(text: str) -> int:
        return 1000 * len(text.split())

    tally, guess = TokenUsage(count), TokenUsage()
    model = models.ScriptedModel(
        ["Two words", Reply("As told.", usage=Usage(7, 0, 0, 3))], extensions=[tally, guess]
    )
    model.send(ASK)
    assert tally.total.prompt_tokens == 5000
    assert tally.total.is_estimated
    assert 0 < guess.total.prompt_tokens < 5000
    assert guess.total.output_tokens > 0
    before = tally.total
    model.send(ASK)
    assert tally.total.prompt_tokens == before.prompt_tokens + 7
    assert tally.total.output_tokens == before.output_tokens + 3


def test_token_usage_adds_up_from_many_threads_and_keeps_no_message() -> None:
    word = secrets.token_hex(12)
    tally = TokenUsage()
    model = models.ScriptedModel(
        lambda messages, tools: Reply("x", usage=Usage(3, 1, 0, 2)), extensions=[tally]
    )
    asked = (Message("user", word),)
    threads = [threading.Thread(target=lambda: [model.send(asked) for _ in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tally.total == Usage(1200, 400, 0, 800)
    assert tally.calls == {"scripted": 400}
    assert held(tally, [word]) == []


# --- by a script --------------------------------------------------------------------------


def test_a_script_is_texts_replies_exceptions_and_functions() -> None:
    call = ToolCallSpec("c1", "look", {"where": {"city": "Bern"}})
    model = models.ScriptedModel(
        [
            "Good morning, Zhang San.",
            Reply("Let me see.", "It is early.", (call,)),
            ModelFailed("It is closed."),
            lambda messages, tools: f"{messages[-1].content} {tools[0].name}",
            lambda messages, tools: lambda *_: KeyError("deep"),
        ]
    )
    events: list[Any] = list(model.stream(ASK))
    assert [event.text for event in events[:-1] if isinstance(event, TextDelta)] == [
        "Good ",
        "morning, ",
        "Zhang ",
        "San.",
    ]
    assert events[-1].text == "Good morning, Zhang San."
    second: list[Any] = list(model.stream(ASK, [LOOK]))
    assert joined(second, Thought) == "It is early."
    assert Called(call) in second
    assert second[-1].stop == "tools"
    with pytest.raises(ModelFailed, match="closed"):
        model.send(ASK)
    assert model.send(ASK, [LOOK]).text == "Which tea? look"
    with pytest.raises(KeyError, match="deep"):
        model.send(ASK)
    with pytest.raises(ModelFailed, match="its script has 5 replies, and this is call 6"):
        model.send(ASK)


def test_every_model_is_one() -> None:
    made: list[Model] = [
        models.ScriptedModel([]),
        models.Anthropic("m"),
        models.Gemini("m"),
        models.Ollama("m"),
        models.OpenAI("m"),
        models.OpenAIChat("m"),
    ]
    assert [model.dialect for model in made[1:]] == ["anthropic", "gemini", "ollama", "openai", "openai-chat"]
    told: Extension = TokenUsage()
    assert told is not None
    with pytest.raises(AttributeError, match="has no attribute 'Oracle'"):
        _ = models.Oracle


def test_a_scripted_text_is_streamed_without_a_loss() -> None:
    text = "  two  spaces,\na line\n\n\tand a tab "
    events: list[Any] = list(models.ScriptedModel([text]).stream(ASK))
    assert joined(events, TextDelta) == events[-1].text == text


def test_calls_from_many_threads_take_each_reply_once() -> None:
    script = [f"reply {number}" for number in range(200)]
    model = models.ScriptedModel(script)
    heard: list[str] = []
    threads = [
        threading.Thread(target=lambda: heard.extend(model.send(ASK).text for _ in range(25)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(heard) == sorted(script)


def test_a_scripted_model_calls_in_text_and_heeds_cancel() -> None:
    block = '<tool_call>{"name": "count", "arguments": {}}</tool_call>'
    model = models.ScriptedModel([f"Now. {block}", "one two three four"], calls="json")
    assert [call.name for call in model.send(ASK, [COUNT]).calls] == ["count"]
    cancel, told = threading.Event(), Told()
    events = model.stream(ASK, cancel=cancel, extensions=[told])
    assert next(events) == TextDelta("one ")
    cancel.set()
    with pytest.raises(ModelFailed, match="cancelled"):
        next(events)
    assert [(reply.text, reply.stop) for _, reply, _ in told.ended] == [("one ", "cut")]
