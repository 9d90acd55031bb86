"""The Model Context Protocol, as far as a memory speaks it: a message in, an answer out.

Both eras are served: the handshake (`initialize`, to 2025-11-25), and the envelope in each request (2026-07-28). Each
request says which it is of, so a client may begin again in the other. Invariant: every request gets one answer, with a
sentence if it is an error; every notification gets none.
"""

from __future__ import annotations

import json

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.serve.offered import CAPABILITIES, INFO, INSTRUCTIONS, PROMPTS, READING, TEMPLATES, list_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Id = str | int
    Json = dict[str, Any]

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = ("2026-07-28",)
WITH_BATCHES = "2025-03-26"
"""The one version in which a line may hold several messages."""

NOT_JSON = -32700
NO_MESSAGE = -32600
NO_METHOD = -32601
WRONG_PARAMS = -32602
NO_SUCH_VERSION = -32022

_META = "io.modelcontextprotocol/"
_VERSION, _ABILITIES = f"{_META}protocolVersion", f"{_META}clientCapabilities"

_LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""What only the memory answers, and the text that it must be given."""
_METHODS = frozenset((*_LISTS, *_NAMES))
_CACHEABLE = frozenset((*_LISTS, "resources/read", "server/discover"))


class Fault(Exception):
    """The reason why a message is answered with an error."""

    def __init__(self, code: int, sentence: str, data: Any = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.data = data


@frozen
class MemoryRequest:
    """A request whose result only the memory has."""

    id: Id
    method: str
    params: Mapping[str, Any]
    is_modern: bool


@frozen
class Cancellation:
    """A client's word that it no longer wants the answer to a request."""

    id: Id


def read_line(line: bytes) -> Any:
    """Return the JSON of a line."""
    try:
        message = json.loads(line.decode("utf-8", "replace"))
        if b"\\u" in line:
            json.dumps(message, ensure_ascii=False).encode()  # half of a surrogate pair is no text
    except (ValueError, RecursionError):
        raise Fault(NOT_JSON, "Nothing was done: a line was not JSON.") from None
    return message


def write_line(message: Json | list[Json]) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def error_message(fault: Fault, name: Id | None = None) -> Json:
    error = {"code": fault.code, "message": str(fault)} | (
        {"data": fault.data} if fault.data is not None else {}
    )
    return {"jsonrpc": "2.0", "id": name, "error": error}


def result_message(name: Id, method: str, result: Json, *, is_modern: bool) -> Json:
    if is_modern:
        result = result | {"resultType": "complete", "_meta": {f"{_META}serverInfo": INFO}}
        result |= {"ttlMs": 0, "cacheScope": "private"} if method in _CACHEABLE else {}
    return {"jsonrpc": "2.0", "id": name, "result": result}


class Session:
    """One client's session. `version` is that of its handshake, if there was one; `find_memory` returns the memory's
    path."""

    def __init__(self, find_memory: Callable[[], str], *, read_only: bool = False) -> None:
        self.version: str | None = None
        self._find_memory = find_memory
        self._read_only = read_only

    def answer(self, message: Any) -> Json | MemoryRequest | Cancellation | None:
        """Return the answer to a message, or what is to be done for it; None if it needs neither."""
        name = message.get("id") if isinstance(message, dict) else None
        name = name if is_id(name) else None
        try:
            if not _is_message(message):
                raise Fault(NO_MESSAGE, "Nothing was done: a line was JSON, but not a JSON-RPC 2.0 message.")
            if "method" not in message:
                return None  # an answer, and this server asks nothing
            method, params = message["method"], message.get("params") or {}
            if name is not None:
                return self._answer_request(name, method, params)
        except Fault as fault:
            return error_message(fault, name)
        if method == "notifications/initialized" and self.version is None:
            self.version = HANDSHAKES[
                -1
            ]  # a client that had its handshake with another process of this server
        if method == "notifications/cancelled" and is_id(params.get("requestId")):
            return Cancellation(params["requestId"])
        return None

    def _answer_request(self, name: Id, method: str, params: Json) -> Json | MemoryRequest:
        is_modern = method != "initialize" and _has_envelope(params)
        if is_modern:
            _check_envelope(params["_meta"])
        if method not in _METHODS and method not in (
            ("server/discover",) if is_modern else ("initialize", "ping")
        ):
            raise Fault(NO_METHOD, f"Nothing was done: there is no method {method[:80]!r} here.", method)
        _check_params(method, params)
        if method == "initialize":
            result = self._initialize(params)
        elif not is_modern and method != "ping" and self.version is None:
            raise Fault(
                WRONG_PARAMS,
                "Nothing was done: a session begins with `initialize`, or each request has its envelope.",
            )
        elif method in _NAMES:
            return MemoryRequest(name, method, params, is_modern)
        else:
            result = self._look_up(method)
        return result_message(name, method, result, is_modern=is_modern)

    def _initialize(self, params: Json) -> Json:
        asked = params["protocolVersion"]
        self.version = asked if asked in HANDSHAKES else HANDSHAKES[-1]
        return {
            "protocolVersion": self.version,
            "capabilities": CAPABILITIES,
            "serverInfo": INFO,
            "instructions": self._instructions,
        }

    def _look_up(self, method: str) -> Json:
        if method == "tools/list":
            return {"tools": list_tools(read_only=self._read_only)}
        if method == "prompts/list":
            return {"prompts": PROMPTS}
        if method == "resources/list":
            return {"resources": self._list_resources()}
        if method == "resources/templates/list":
            return {"resourceTemplates": TEMPLATES}
        if method == "server/discover":
            return {
                "supportedVersions": list(MODERN),
                "capabilities": CAPABILITIES,
                "instructions": self._instructions,
            }
        return {}  # ping

    def _list_resources(self) -> list[Json]:
        from looseleaf.serve.page_list import list_resources  # after the tools: it takes longer

        try:
            return list_resources(self._find_memory())
        except Refused as refused:
            raise Fault(WRONG_PARAMS, str(refused)) from refused

    @property
    def _instructions(self) -> str:
        return READING if self._read_only else INSTRUCTIONS


# --- the shape of messages ---------------------------------------------------------------


def is_id(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _is_message(message: Any) -> bool:
    """True for a request, a notification or an answer. Some clients give a notification the id `null`."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return False
    if "method" not in message:
        return "result" in message or "error" in message
    is_named = message.get("id") is None or is_id(message["id"])
    return is_named and isinstance(message["method"], str) and _is(dict, message.get("params"))


def _has_envelope(params: Json) -> bool:
    meta = params.get("_meta")
    return isinstance(meta, dict) and _VERSION in meta


def _check_envelope(meta: Json) -> None:
    version = meta[_VERSION]
    if not isinstance(version, str) or not isinstance(meta.get(_ABILITIES), dict):
        raise Fault(
            WRONG_PARAMS,
            f"Nothing was done: `_meta` needs a text {_VERSION!r} and an object {_ABILITIES!r}.",
        )
    if version not in MODERN:
        raise Fault(
            NO_SUCH_VERSION,
            f"Nothing was done: this server does not speak version {version[:80]!r}.",
            {"supported": list(MODERN), "requested": version},
        )


def _check_params(method: str, params: Json) -> None:
    def check(is_fit: bool, name: str, kind: str) -> None:
        if not is_fit:
            raise Fault(WRONG_PARAMS, f"Nothing was done: in {method}, `{name}` must be {kind}.")

    meta = params.get("_meta")
    check(_is(dict, meta), "_meta", "an object")
    token = (meta or {}).get("progressToken")
    check(token is None or is_id(token), "progressToken", "a text or a whole number")
    if method in _NAMES:
        check(isinstance(params.get(_NAMES[method]), str), _NAMES[method], "a text")
    if method in _LISTS:
        check(_is(str, params.get("cursor")), "cursor", "a text")
    if method in ("tools/call", "prompts/get"):
        given = params.get("arguments")
        is_fit = _is(dict, given) and (
            method == "tools/call" or all(_is(str, each) for each in (given or {}).values())
        )
        check(is_fit, "arguments", "an object" if method == "tools/call" else "an object of texts")
    if method == "initialize":
        check(isinstance(params.get("protocolVersion"), str), "protocolVersion", "a text")
        check(isinstance(params.get("capabilities"), dict), "capabilities", "an object")
        about = params.get("clientInfo")
        is_named = isinstance(about, dict) and all(
            isinstance(about.get(each), str) for each in ("name", "version")
        )
        check(is_named, "clientInfo", "an object with a name and a version")


def _is(kind: type, value: object) -> bool:
    """True for a value of this kind, or none."""
    return value is None or isinstance(value, kind)
