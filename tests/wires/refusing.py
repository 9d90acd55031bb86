"""How five providers refuse: the status, and the body in which each of them says why."""

from __future__ import annotations

import json
from typing import Any

from wires.terms import ContextExceeded, Status

_SAID = {
    400: "The request is not valid.",
    401: "The key is not valid.",
    403: "This key may not do that.",
    404: "There is no such model.",
    408: "The request took too long.",
    409: "Another request is in the way.",
    429: "Rate limit reached.",
    500: "Something went wrong on our side.",
    502: "Bad gateway.",
    503: "The service is not available.",
    504: "Gateway timeout.",
    529: "Overloaded.",
}
_ANTHROPIC = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_GEMINI = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_OPENAI_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


def refusal(wire: str, fault: Status | ContextExceeded, *, model: str) -> tuple[int, dict[str, Any]]:
    if isinstance(fault, ContextExceeded):
        return 400, _context(wire)
    code = fault.code
    said = fault.message or _SAID.get(code, f"Status {code}.")
    if wire == "anthropic":
        kind = _ANTHROPIC.get(code, "api_error")
        return code, {"type": "error", "error": {"type": kind, "message": said}, "request_id": "req_test"}
    if wire == "gemini":
        return _gemini(code, said, fault)
    if wire == "ollama":
        return code, {"error": f'model "{model}" not found, try pulling it first' if code == 404 else said}
    kind = "server_error" if code >= 500 else "invalid_request_error"
    error = {"message": said, "type": kind, "param": None, "code": _OPENAI_CODES.get(code)}
    return code, {"error": error}


def _gemini(code: int, said: str, fault: Status) -> tuple[int, dict[str, Any]]:
    error: dict[str, Any] = {"code": code, "message": said, "status": _GEMINI.get(code, "INTERNAL")}
    if code == 401:
        # This is how it says that a key is not valid.
        code, said = 400, fault.message or "API key not valid. Please pass a valid API key."
        info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
        error = {"code": code, "message": said, "status": "INVALID_ARGUMENT", "details": [info]}
    elif fault.retry_after is not None:
        info = {
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": f"{fault.retry_after:g}s",
        }
        error["details"] = [info]
    return code, {"error": error}


def _context(wire: str) -> dict[str, Any]:
    if wire == "anthropic":
        said = "prompt is too long: 210000 tokens > 200000 maximum"
        return {"type": "error", "error": {"type": "invalid_request_error", "message": said}}
    if wire == "gemini":
        said = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
        return {"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}
    if wire == "ollama":
        return {"error": "prompt too long; exceeded max context length by 1024 tokens"}
    said = "Your input exceeds the context window of this model. Please adjust your input and try again."
    if wire == "openai-chat":
        said = (
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 "
            "tokens. Please reduce the length of the messages."
        )
    param = "input" if wire == "openai" else "messages"
    error = {"message": said, "type": "invalid_request_error", "param": param}
    return {"error": error | {"code": "context_length_exceeded"}}


def failure_in_stream(wire: str) -> bytes:
    """The event with which a server says in the middle of a stream that it has failed."""
    said = "The server had an error while processing your request."
    if wire == "anthropic":
        data: dict[str, Any] = {
            "type": "error",
            "error": {"type": "overloaded_error", "message": "Overloaded"},
        }
        return f"event: error\ndata: {json.dumps(data)}\n\n".encode()
    if wire == "openai":
        data = {"type": "error", "code": "server_error", "message": said, "param": None, "sequence_number": 7}
        return f"event: error\ndata: {json.dumps(data)}\n\n".encode()
    if wire == "gemini":
        data = {"error": {"code": 503, "message": said, "status": "UNAVAILABLE"}}
        return f"data: {json.dumps(data)}\r\n\r\n".encode()
    if wire == "ollama":
        return json.dumps({"error": "an error was encountered while running the model"}).encode() + b"\n"
    data = {"error": {"message": said, "type": "server_error", "param": None, "code": None}}
    return f"data: {json.dumps(data)}\n\n".encode()
