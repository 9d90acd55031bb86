"""A trial of what the settings say: the very commands are run, with a throwaway memory."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


SECONDS = 60.0
"""For one command: many times what it takes."""

_PROMPT = "I prefer green tea."


def try_hooks(commands: list[str]) -> str | None:
    """Run each hook once as an agent does; return what is wrong, or None."""
    import subprocess
    from shlex import quote
    from tempfile import TemporaryDirectory

    from looseleaf.pages.folder import init

    with TemporaryDirectory(prefix="looseleaf-") as folder:
        memory = os.path.join(folder, "memory")
        init(memory)
        event = {"session_id": "trial", "cwd": folder, "source": "startup", "prompt": _PROMPT}
        for command in dict.fromkeys(commands):
            try:
                done = subprocess.run(
                    f"{command} --memory {quote(memory)}",
                    shell=True,  # as agents run it
                    cwd=folder,
                    input=json.dumps(event).encode(),
                    capture_output=True,
                    timeout=SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return f"`{command}` did not finish"
            problem = _problem(done.returncode, done.stdout, done.stderr)
            if problem is not None:
                return f"`{command}` {problem}"
        if not any(_PROMPT in text for text in _texts(os.path.join(memory, "log"))):
            return "the hooks ran, but recorded nothing"
    return None


def _problem(code: int, out: bytes, err: bytes) -> str | None:
    if code != 0:
        return f"ended with {code}: {(err or out).decode(errors='replace').strip()[-200:]}"
    try:
        said = json.loads(out) if out.strip() else {}
    except ValueError:
        return f"printed no JSON: {out[:200].decode(errors='replace')}"
    message = str(said.get("systemMessage", "")) if isinstance(said, dict) else ""
    return f"says: {message}" if message.startswith("looseleaf: ") else None


def _texts(folder: str) -> list[str]:
    paths = [os.path.join(where, name) for where, _, names in os.walk(folder) for name in names]
    found = []
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            found.append(file.read())
    return found


def try_server(command: list[str]) -> str | None:
    """Start our server as a client does and ask for its tools; return what is wrong, or None."""
    import subprocess
    from tempfile import TemporaryDirectory

    from looseleaf.base.origins import NAMES
    from looseleaf.pages.folder import init

    about = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "looseleaf", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    with TemporaryDirectory(prefix="looseleaf-") as folder:
        memory = os.path.join(folder, "memory")
        init(memory)
        try:
            done = subprocess.run(
                [*command, "--memory", memory],
                cwd=folder,
                input="".join(json.dumps(each) + "\n" for each in messages).encode(),
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"the server could not be asked ({error})"
    try:
        answers = {each.get("id"): each for each in map(json.loads, done.stdout.splitlines())}
        offered = {each["name"] for each in answers[2]["result"]["tools"]}
    except (ValueError, KeyError, TypeError, AttributeError):
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return f"the server offers no tools{f' ({said[-1]})' if said else ''}"
    missing = [name for name in NAMES if name not in offered]
    return f"the server does not offer {', '.join(missing)}" if missing else None
