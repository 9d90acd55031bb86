"""Which model is chosen, and where keys may go: settings may come with a folder that somebody else made."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf import models
from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.messages import Message
from looseleaf.base.policy import Policy, policy_from
from looseleaf.models import choice, model_table
from looseleaf.models.failures import check_address, is_here, is_loopback, origin
from providing import Provider
from tables import check_rows

KEYS = {
    "ANTHROPIC_API_KEY": "key-of-anthropic",
    "OPENAI_API_KEY": "key-of-openai",
    "GEMINI_API_KEY": "key-of-gemini",
    "OPENROUTER_API_KEY": "key-of-openrouter",
    "DEEPSEEK_API_KEY": "key-of-deepseek",
    "OLLAMA_API_KEY": "key-of-ollama",
}
ASK = (Message("user", "Hi"),)


@pytest.fixture(autouse=True)
def no_server_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Port 9 is nobody's: a developer's own servers have no say here."""
    monkeypatch.setattr(choice, "LOCAL", "http://127.0.0.1:9")
    monkeypatch.setattr(choice, "SERVERS", ())


def chosen(policy: Policy, name: str | None = None, **environ: str) -> Any:
    return models.choose(policy, name, environ)


def told(model: Any) -> tuple[str, str, str | None, str | None]:
    return type(model).__name__, model.name, model._base_url, model._api_key


# --- who ------------------------------------------------------------------------------------


def test_nothing_to_be_had_is_none() -> None:
    assert chosen(Policy()) is None
    assert chosen(Policy(), LANG="C.UTF-8") is None


def test_the_environment_says_who_is_there() -> None:
    def check(environ: dict[str, str], expected: tuple[str, str, str | None, str | None]) -> None:
        assert told(chosen(Policy(), **environ)) == expected

    check_rows(
        check,
        [
            ({"ANTHROPIC_API_KEY": "a"}, ("Anthropic", "claude-sonnet-5-5", None, "a")),
            ({"OPENAI_API_KEY": "o"}, ("OpenAI", "gpt-5.5", None, "o")),
            ({"GEMINI_API_KEY": "g"}, ("Gemini", "gemini-3.8-flash", None, "g")),
            ({"GOOGLE_API_KEY": "g"}, ("Gemini", "gemini-3.8-flash", None, "g")),
            (
                {"OPENROUTER_API_KEY": "r"},
                ("OpenAIChat", "openrouter/auto", "https://openrouter.ai/api/v1", "r"),
            ),
            ({"DEEPSEEK_API_KEY": "d"}, ("OpenAIChat", "deepseek-flash", "https://api.deepseek.com", "d")),
            (
                {"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"},
                ("Anthropic", "claude-sonnet-5-5", None, "a"),
            ),
            (
                {"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://10.0.0.7:8000/v1"},
                ("OpenAIChat", "gpt-5.5", "http://10.0.0.7:8000/v1", "o"),
            ),
        ],
    )


def test_a_name_says_whose_it_is() -> None:
    def check(name: str, expected: tuple[str, str]) -> None:
        assert told(chosen(Policy(), name, **KEYS))[:2] == expected

    check_rows(
        check,
        [
            ("gpt-5", ("OpenAI", "gpt-5")),
            ("o3", ("OpenAI", "o3")),
            ("o4-mini", ("OpenAI", "o4-mini")),
            ("chatgpt-4o-latest", ("OpenAI", "chatgpt-4o-latest")),
            ("claude-opus-5", ("Anthropic", "claude-opus-5")),
            ("gemini-3.8-flash", ("Gemini", "gemini-3.8-flash")),
            ("deepseek-chat", ("OpenAIChat", "deepseek-chat")),
            ("anthropic/claude-opus-5", ("Anthropic", "claude-opus-5")),
            ("anthropic:claude-opus-5", ("Anthropic", "claude-opus-5")),
            ("openai-chat/gpt-5", ("OpenAIChat", "gpt-5")),
            ("ollama/llama3.2:3b", ("Ollama", "llama3.2:3b")),
            ("ollama:qwen3:4b", ("Ollama", "qwen3:4b")),
            ("openrouter/anthropic/claude-opus-5", ("OpenAIChat", "anthropic/claude-opus-5")),
            ("meta-llama/llama-3.3-70b", ("OpenAIChat", "meta-llama/llama-3.3-70b")),
        ],
    )


LISTED = (
    "anthropic, openai, openai-chat, gemini, openrouter, deepseek, ollama, claude-code, codex, gemini-cli"
)


def test_a_name_that_nobody_knows_is_refused_whoever_gives_it() -> None:
    for policy, name in ((Policy(), "qwen3:4b"), (Policy(model="qwen3:4b"), None)):
        with pytest.raises(Refused) as refused:
            chosen(policy, name, ANTHROPIC_API_KEY="a")
        assert str(refused.value) == (
            "No model was chosen: no known provider has 'qwen3:4b'. Name the provider, as in `ollama/qwen3:4b`. "
            f"Providers are {LISTED}."
        )


def test_a_provider_that_nobody_knows_is_answered_with_those_that_are() -> None:
    with pytest.raises(Refused) as refused:
        chosen(Policy(), "foo/bar", OPENAI_API_KEY="o")
    assert str(refused.value) == (
        f"No model was chosen: 'foo' is not a provider. Give `provider/model` with one of {LISTED}; for a model of "
        "OpenRouter's, `openrouter/foo/bar`."
    )


@pytest.mark.parametrize("name", ["", " ", "\n"])
def test_an_empty_name_is_no_name(name: str) -> None:
    number: Any = 5
    with pytest.raises(Invalid, match="5 is not a name"):
        chosen(Policy(), number)
    with pytest.raises(Invalid, match=r"its name is empty\. Give one, as in `anthropic/claude"):
        chosen(Policy(model="gpt-5"), name, **KEYS)


def test_a_provider_without_a_model_is_refused_with_an_example_that_works() -> None:
    def check(provider: str) -> None:
        for name in (provider, f"{provider}/", f"{provider}:", f"{provider}/ "):
            with pytest.raises(Refused) as refused:
                chosen(Policy(), name, **KEYS)
            assert f"{name!r} names a provider without a model" in str(refused.value)
            example = str(refused.value).split("`")[1]
            assert example.startswith(provider + "/")
            assert chosen(Policy(), example, **KEYS) is not None
            with pytest.raises(Invalid, match="without a model"):
                chosen(Policy(model=name), **KEYS)
        # Where the settings say who, it may be the name of a model.
        assert told(chosen(Policy(provider="openai-chat"), provider, **KEYS))[:2] == ("OpenAIChat", provider)

    check_rows(check, choice.PROVIDERS)


MISSING = {
    "claude-opus-5": "ANTHROPIC_API_KEY",
    "gpt-5": "OPENAI_API_KEY",
    "gemini-3.8-flash": "GEMINI_API_KEY or GOOGLE_API_KEY",
    "deepseek-chat": "DEEPSEEK_API_KEY",
    "openai-chat/my-own": "OPENAI_API_KEY",
    "openrouter/x": "OPENROUTER_API_KEY",
    "deepseek/x": "DEEPSEEK_API_KEY",
}


def test_what_is_named_and_has_no_key_is_told_which_variable_to_set() -> None:
    def check(name: str, variables: str) -> None:
        others = {key: value for key, value in KEYS.items() if key not in variables}
        for policy, asked in ((Policy(), name), (Policy(model=name), None)):
            for environ in ({}, others, others | {"LOOSELEAF_API_KEY": "mine-alone"}):
                with pytest.raises(Refused) as refused:
                    chosen(policy, asked, **environ)
                assert f"Set {variables} in the environment" in str(refused.value)
                assert not [key for key in (*KEYS.values(), "mine-alone") if key in str(refused.value)]
            assert chosen(policy, asked, **KEYS) is not None

    check_rows(check, MISSING.items())


def test_a_provider_of_the_settings_without_its_key_is_told_which() -> None:
    def check(provider: str) -> None:
        with pytest.raises(
            Refused, match=f"no key for '{provider}'. Set {choice.PROVIDERS[provider].keys[0]}"
        ):
            chosen(policy_from({"provider": provider}))
        with pytest.raises(Refused, match=f"no key for '{provider}/m'"):
            chosen(policy_from({"provider": provider, "model": "m"}))
        assert chosen(policy_from({"provider": provider}), **KEYS) is not None

    check_rows(check, [each for each in choice.PROVIDERS if each != "ollama"])


def test_whoever_is_let_in_without_a_key_needs_none(tmp_path: Path) -> None:
    claude = Policy(model="claude-opus-5")
    for known in choice.PROVIDERS["anthropic"].instead:
        assert told(chosen(claude, **{known: "x"}))[0] == "Anthropic"
    with pytest.raises(Refused, match="ANTHROPIC_API_KEY"):
        chosen(claude, HOME=str(tmp_path))
    (tmp_path / ".config" / "anthropic").mkdir(parents=True)
    assert told(chosen(claude, HOME=str(tmp_path)))[0] == "Anthropic"
    assert told(chosen(Policy(), "gemini-3.8-flash", GOOGLE_GENAI_USE_VERTEXAI="true"))[0] == "Gemini"
    # Elsewhere than at home, nobody knows whether a key is asked for.
    for where in (
        {"OPENAI_BASE_URL": "http://10.0.0.7:8000/v1"},
        {"LOOSELEAF_BASE_URL": "http://[::1]:8/v1"},
    ):
        assert told(chosen(Policy(model="gpt-5"), **where))[0] == "OpenAIChat"
    with pytest.raises(Refused, match="Set OLLAMA_API_KEY"):
        chosen(Policy(), "ollama/gpt-oss:120b", OLLAMA_HOST="https://ollama.com")
    assert told(chosen(Policy(), "ollama/gpt-oss:20b"))[:2] == ("Ollama", "gpt-oss:20b")


def test_an_ollama_that_is_named_and_not_there_is_to_be_started() -> None:
    with pytest.raises(Refused) as refused:
        chosen(Policy(provider="ollama"))
    assert str(refused.value) == (
        "No model was chosen: no Ollama with a model answers at http://127.0.0.1:9. Start it with `ollama serve`, and "
        "get a model with `ollama pull llama3.2`."
    )


def test_whoever_answers_elsewhere_than_openai_is_asked_as_most_are() -> None:
    at = "http://127.0.0.1:8000/v1"
    elsewhere = {"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": at}
    for policy, name, model in (
        (Policy(), None, "gpt-5.5"),
        (Policy(), "gpt-5", "gpt-5"),
        (Policy(model="gpt-5"), None, "gpt-5"),
        (Policy(), "qwen3", "qwen3"),
    ):
        assert told(chosen(policy, name, **elsewhere)) == ("OpenAIChat", model, at, "o")
    for policy, name in ((Policy(), "openai/gpt-5"), (Policy(provider="openai"), "gpt-5")):
        assert told(chosen(policy, name, **elsewhere)) == ("OpenAI", "gpt-5", at, "o")
    # Also where the address is one that somebody else is known for: it was given for OpenAI's key.
    for other in ("http://127.0.0.1:11434/v1", "https://openrouter.ai/api/v1"):
        there = elsewhere | {"OPENAI_BASE_URL": other}
        assert told(chosen(Policy(), **there)) == ("OpenAIChat", "gpt-5.5", other, "o")
    own = elsewhere | {"OPENAI_BASE_URL": "https://api.openai.com/v1"}
    assert told(chosen(Policy(), "gpt-5", **own))[0] == told(chosen(Policy(), **own))[0] == "OpenAI"


def test_the_settings_say_who_and_how_long() -> None:
    policy = Policy(provider="openai", model="my-tuned", model_seconds=7.0, model_retries=2)
    model = chosen(policy, **KEYS)
    assert told(model) == ("OpenAI", "my-tuned", None, "key-of-openai")
    assert (model.seconds, model.retries) == (7.0, 2)
    assert told(chosen(policy, "anthropic/claude-opus-5", **KEYS))[:2] == ("Anthropic", "claude-opus-5")
    by_router = Policy(provider="openrouter", model="anthropic/claude-opus-5")
    assert told(chosen(by_router, **KEYS))[:2] == ("OpenAIChat", "anthropic/claude-opus-5")
    assert told(chosen(by_router, "openai/gpt-5", **KEYS))[:2] == ("OpenAIChat", "openai/gpt-5")


def test_the_settings_take_the_providers_that_a_name_takes() -> None:
    for provider in (*choice.PROVIDERS, *choice.COMMAND_LINES):
        assert policy_from({"provider": provider}).provider == provider
    with pytest.raises(Refused, match=f"must be one of {LISTED}, not 'opnai'"):
        policy_from({"provider": "opnai"})
    assert ", ".join((*choice.PROVIDERS, *choice.COMMAND_LINES)) == LISTED


def test_a_provider_that_is_none_is_refused() -> None:
    with pytest.raises(
        Invalid, match=r"'opnai' is not a provider. Set `provider` to one of anthropic, openai"
    ):
        chosen(Policy(provider="opnai"))


def test_every_default_is_a_model_that_is_known() -> None:
    from anthropic.types import Model as Claude
    from openai.types import ChatModel

    names = {provider: known.model for provider, known in choice.PROVIDERS.items() if known.model}
    assert names["anthropic"] in str(Claude)
    assert names["openai"] in str(ChatModel)
    del names["openrouter"]  # which chooses by itself
    for name in names.values():
        row = model_table.model(name)
        assert row.name in model_table.known_models()
        # Not just the row for those of its family that nobody knows.
        assert row.name not in ("gpt", "claude", "gemini", "deepseek")


def test_an_ollama_that_answers_is_asked_for_its_first_model() -> None:
    with Provider(models=["qwen3:4b", "llama3.2:3b"]) as provider:
        model = chosen(Policy(), OLLAMA_HOST=provider.address)
        assert told(model)[:2] == ("Ollama", "qwen3:4b")
        assert model.send(ASK).text == "You said: Hi"
        bare = provider.address.removeprefix("http://")
        assert told(chosen(Policy(), OLLAMA_HOST=bare))[:2] == ("Ollama", "qwen3:4b")
        assert told(chosen(Policy(), "gpt-oss:20b", OLLAMA_HOST=bare))[:2] == ("Ollama", "gpt-oss:20b")
        assert told(chosen(Policy(provider="ollama"), OLLAMA_HOST=bare))[:2] == ("Ollama", "qwen3:4b")
        provider.models = []
        assert chosen(Policy(), OLLAMA_HOST=bare) is None


def test_a_local_ollama_is_found_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    with Provider() as provider:
        monkeypatch.setattr(choice, "LOCAL", provider.address)
        assert told(chosen(Policy()))[:2] == ("Ollama", "llama3.2:latest")
        assert told(chosen(Policy(), ANTHROPIC_API_KEY="a"))[0] == "Anthropic"


class Models(BaseHTTPRequestHandler):
    """A server that speaks as OpenAI does, as far as its list of models goes, or as odd as it is told to be."""

    told: bytes = b""
    status = 200
    asked: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        type(self).asked.append((self.path, self.headers.get("Authorization")))
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.told)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(Models, "asked", [])
    with ThreadingHTTPServer(("127.0.0.1", 0), Models) as serving:
        threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True).start()
        where = f"http://127.0.0.1:{serving.server_port}/v1"
        monkeypatch.setattr(choice, "SERVERS", ("http://127.0.0.1:9/v1", where))
        yield where
        serving.shutdown()


def listed(*names: str) -> bytes:
    return json.dumps(
        {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}
    ).encode()


def test_a_server_of_this_machine_that_answers_is_found_by_itself(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Models, "told", listed("text-embedding-nomic", "qwen3-8b", "gemma"))
    found = ("OpenAIChat", "qwen3-8b", server, "none")
    assert told(chosen(Policy())) == found
    assert told(chosen(Policy(), "gemma")) == ("OpenAIChat", "gemma", server, "none")
    with pytest.raises(NotFound, match="no known provider has 'mistral'"):
        chosen(Policy(), "mistral")
    assert {path for path, _ in Models.asked} == {"/v1/models"}
    assert {key for _, key in Models.asked} == {None}


def test_a_key_of_the_environment_comes_before_a_server_and_never_goes_there(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Models, "told", listed("qwen3-8b"))
    assert told(chosen(Policy(), ANTHROPIC_API_KEY="a"))[0] == "Anthropic"
    assert Models.asked == []
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    model = chosen(Policy(), LOOSELEAF_API_KEY="key-of-another")
    assert model._get_client().api_key == "none"


def test_whatever_else_answers_there_is_no_model(server: str) -> None:
    def check(answer: bytes) -> None:
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(Models, "asked", [])
            monkeypatch.setattr(Models, "told", answer)
            assert chosen(Policy()) is None
            assert len(Models.asked) == 1
            monkeypatch.setattr(Models, "told", listed("m"))
            monkeypatch.setattr(Models, "status", 401)
            assert chosen(Policy()) is None

    check_rows(check, [b"", b"<html>", b"[]", b'{"data": 3}', b'{"data": [{}]}', listed(), b"[" * 99999])


def test_only_this_machine_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert len(choice.SERVERS) == 2
    assert all(map(is_loopback, choice.SERVERS))


# --- where keys go ---------------------------------------------------------------------------

HOSTILE = "https://models.evil.example/v1"


def test_an_address_in_the_settings_gets_no_key_and_no_word() -> None:
    def check(provider: str) -> None:
        policy = Policy(provider=provider, model="m", base_url=HOSTILE)
        with pytest.raises(Refused) as refused:
            chosen(policy, **KEYS)
        assert HOSTILE in str(refused.value)
        assert "LOOSELEAF_BASE_URL" in str(refused.value)
        assert not [key for key in KEYS.values() if key in str(refused.value)]

    check_rows(check, choice.PROVIDERS)


def test_what_is_allowed_in_the_environment_is_allowed() -> None:
    policy = Policy(provider="openai", model="m", base_url=HOSTILE)
    both = {"LOOSELEAF_BASE_URL": HOSTILE, "LOOSELEAF_API_KEY": "mine"}
    assert told(chosen(policy, **both, **KEYS)) == ("OpenAI", "m", HOSTILE, "mine")
    for variable in ("LOOSELEAF_BASE_URL", "OPENAI_BASE_URL"):
        assert told(chosen(policy, **{variable: HOSTILE}, **KEYS))[2:] == (HOSTILE, "key-of-openai")
    elsewhere = {"LOOSELEAF_BASE_URL": "https://gate.example/v1"}
    assert told(chosen(policy, **elsewhere, **KEYS))[2:] == ("https://gate.example/v1", "key-of-openai")


def test_our_own_key_goes_nowhere_that_only_the_settings_name() -> None:
    def check(provider: str) -> None:
        policy = Policy(provider=provider, model="m", base_url=HOSTILE)
        for environ in (
            {},
            KEYS,
            dict.fromkeys(choice.PROVIDERS[provider].addresses, "https://gate.example/v1"),
        ):
            with pytest.raises(Refused, match="set LOOSELEAF_BASE_URL=https://models") as refused:
                chosen(policy, LOOSELEAF_API_KEY="mine-alone", **environ)
            assert "LOOSELEAF_API_KEY to its key" in str(refused.value)
            assert "mine-alone" not in str(refused.value)
        gate = chosen(
            policy, LOOSELEAF_API_KEY="mine-alone", LOOSELEAF_BASE_URL="https://gate.example/v1", **KEYS
        )
        assert told(gate)[2:] == ("https://gate.example/v1", "mine-alone")

    check_rows(check, choice.PROVIDERS)


def test_our_own_key_is_for_its_address_and_else_for_where_no_other_is() -> None:
    for base_url in ("https://api.openai.com/v1", "http://localhost:1234/v1"):
        policy = Policy(provider="openai", model="m", base_url=base_url)
        assert told(chosen(policy, LOOSELEAF_API_KEY="mine", **KEYS))[2:] == (base_url, "key-of-openai")
        assert told(chosen(policy, LOOSELEAF_API_KEY="mine"))[2:] == (base_url, "mine")
    # An address of the environment's own is for the key of the environment's own.
    gate = {"OPENAI_BASE_URL": "https://gate.example/v1", "LOOSELEAF_API_KEY": "mine"}
    for base in (None, "https://gate.example/v1"):
        policy = Policy(provider="openai", model="m", base_url=base)
        assert told(chosen(policy, **gate))[2:] == ("https://gate.example/v1", None)


def test_the_own_address_of_a_provider_and_this_machine_are_trusted() -> None:
    for base_url in (
        "https://api.openai.com/v1",
        "http://localhost:1234/v1",
        "http://127.0.0.1:8080/v1",
        "http://[::1]:9/v1",
    ):
        policy = Policy(provider="openai-chat", model="m", base_url=base_url)
        assert told(chosen(policy, **KEYS))[2:] == (base_url, "key-of-openai")


def test_no_key_goes_to_an_address_that_only_looks_right() -> None:
    def check(base_url: str) -> None:
        policy = Policy(provider="openai", model="m", base_url=base_url)
        if base_url:
            with pytest.raises(Refused):
                chosen(policy, **KEYS)
        else:
            assert told(chosen(policy, **KEYS))[2:] == (None, "key-of-openai")

    check_rows(
        check,
        [
            "http://api.openai.com/v1",
            "https://api.openai.com:8443/v1",
            "https://api.openai.com.evil.example/v1",
            "https://evil.example/api.openai.com",
            "https://localhost.evil.example/v1",
            "http://127.0.0.1.evil.example/v1",
            "https://127.0.0.1@evil.example/v1",
            "https://api.openai.com@evil.example/v1",
            "https://evil.example\\@127.0.0.1/v1",
            "https://evil.example#@127.0.0.1/",
            "https://evil.example?127.0.0.1",
            "https://api.openai.com\t.evil.example/",
            "https://api.openai.com\u3002evil.example/",
            "https://0x7f.evil.example",
            "http://0.0.0.0:80/v1",
            "http://192.168.1.20:8000/v1",
            "https://169.254.169.254/v1",
            "http://evil.example/v1",
            "ftp://127.0.0.1/",
            "file:///etc/passwd",
            "//127.0.0.1/",
            "127.0.0.1:11434",
            "https://",
            "",
            " https://api.openai.com/v1",
        ],
    )


HOSTS = st.one_of(
    st.sampled_from(
        ["api.openai.com", "localhost", "127.0.0.1", "[::1]", "evil.example", "10.1.2.3", "1.2.3.4"]
    ),
    st.from_regex(r"[a-z0-9.@:%\\-]{1,20}", fullmatch=True),
)


@given(
    scheme=st.sampled_from(["http", "https", "HTTP", "ws"]),
    before=st.sampled_from(["", "a@", "localhost@", "api.openai.com:443@", "\\", "//"]),
    host=HOSTS,
    after=st.sampled_from(
        ["", ":443", ":8000", ":0x1", "/v1", "?q=1", "#localhost", ".evil.example", "\\.localhost"]
    ),
)
def test_a_key_goes_only_where_the_http_library_also_sees_a_trusted_host(
    scheme: str, before: str, host: str, after: str
) -> None:
    base_url = f"{scheme}://{before}{host}{after}"
    try:
        model = chosen(Policy(provider="openai", model="m", base_url=base_url), **KEYS)
    except Refused:
        return
    import httpx2

    url = httpx2.URL(model._base_url)
    assert url.userinfo == b""
    assert (url.scheme, url.host, url.port) == ("https", "api.openai.com", None) or url.host in (
        "localhost",
        "::1",
        "127.0.0.1",
    )


def test_over_http_an_untrusted_server_sees_nothing() -> None:
    with Provider() as provider:
        # The same machine under an address that is not this machine's by its words.
        base_url = provider.base_url("openai").replace("127.0.0.1", "127.0.0.1.nip.example")
        with pytest.raises(Invalid, match="http can be read by everyone on the way"):
            chosen(Policy(provider="openai", model="m", base_url=base_url), LOOSELEAF_API_KEY="mine")
        policy = Policy(provider="openai-chat", model="m", base_url=provider.base_url("openai"))
        assert chosen(policy, OPENAI_API_KEY="key-of-openai").send(ASK).text == "You said: Hi"
        assert provider.asked[0].headers["authorization"] == "Bearer key-of-openai"


def test_an_own_key_replaces_that_of_the_environment_on_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)  # the SDKs look there by themselves
    monkeypatch.setattr(
        choice, "is_loopback", lambda url: False
    )  # so that this server counts as a stranger's
    with Provider() as provider:
        for wire in ("openai", "openai-chat", "anthropic", "gemini", "ollama"):
            policy = Policy(provider=wire, model="m", base_url=provider.base_url(wire))
            with pytest.raises(Refused):
                models.choose(policy)
            with pytest.raises(Refused):
                models.choose(Policy(provider=wire, base_url=provider.base_url(wire)))
            assert provider.looks == 0
            monkeypatch.setenv("LOOSELEAF_API_KEY", "my-own-key-for-it")
            with pytest.raises(Refused):
                models.choose(policy)
            assert provider.requests == len(provider.asked)
            monkeypatch.setenv("LOOSELEAF_BASE_URL", provider.base_url(wire))
            model: Any = models.choose(policy)
            model.send(ASK)
            monkeypatch.delenv("LOOSELEAF_API_KEY")
            monkeypatch.delenv("LOOSELEAF_BASE_URL")
    assert len(provider.asked) == 5
    for asked in provider.asked:
        assert "my-own-key-for-it" in str(asked.headers)
        assert not [key for key in KEYS.values() if key in str(asked.headers) + asked.path + str(asked.body)]


def test_settings_for_one_provider_say_nothing_of_another() -> None:
    policy = Policy(provider="ollama", model="llama3.2", base_url=HOSTILE)
    assert told(chosen(policy, "anthropic/claude-opus-5", **KEYS)) == (
        "Anthropic",
        "claude-opus-5",
        None,
        "key-of-anthropic",
    )


def test_an_address_without_a_provider_is_taken_for_what_most_speak() -> None:
    assert told(chosen(Policy(model="m", base_url="http://127.0.0.1:8000/v1"), **KEYS))[0] == "OpenAIChat"
    assert told(chosen(Policy(model="m", base_url="http://127.0.0.1:11434"), **KEYS))[0] == "Ollama"
    assert told(chosen(Policy(model="m", base_url="https://api.anthropic.com"), **KEYS))[0] == "Anthropic"
    with pytest.raises(Refused, match="LOOSELEAF_BASE_URL"):
        chosen(Policy(model="gpt-5", base_url=HOSTILE), **KEYS)


def test_addresses_are_read_without_looking_anything_up() -> None:
    assert origin("https://Example.org./v1") == ("https", "example.org", 443)
    assert origin("http://[::1]:8080/") == ("http", "::1", 8080)
    assert origin("http://a b/") is None
    assert is_loopback("http://127.8.8.8/")
    assert is_loopback("http://[::ffff:127.0.0.1]/")
    assert not is_loopback("http://2130706433.example/")
    assert check_address("http://192.168.1.20:8000/v1", "base_url") == "http://192.168.1.20:8000/v1"
    assert all(
        map(
            is_here,
            ("http://me:pw@127.0.0.1:9/v1?q", "localhost", ":1234", "http://[::1]/", "http://0.0.0.0:8"),
        )
    )
    assert is_here("http://box.localhost./")
    assert not any(
        map(
            is_here, ("http://127.0.0.1.evil.example", "http://[::1", "box", "https://localhost@evil.example")
        )
    )
    with pytest.raises(Invalid, match="not a plain address"):
        check_address("https://me:secret@example.org", "base_url")
