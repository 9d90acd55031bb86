"""What Codex calls a hook as it is now: it runs only hooks whose hash its user has trusted.

Codex itself is asked, in a throwaway folder with only our hooks: the hash is its own affair and may change with it.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from looseleaf.integrations.agent_settings import trust_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

    from looseleaf.integrations.agent_settings import Hooks


SECONDS = 20.0
"""For starting Codex and its answer: most take one."""


def trusted_hashes(text: str, path: str, hooks: Hooks) -> dict[str, str]:
    """Return the hash of each of our hooks, by Codex's name for it; nothing if Codex cannot be asked."""
    from shutil import which
    from tempfile import TemporaryDirectory

    program = which("codex")
    if program is None:
        return {}
    with TemporaryDirectory(prefix="looseleaf-") as folder:
        folder = os.path.realpath(folder)
        copy = os.path.join(folder, "hooks.json")
        with open(copy, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            found = _ask(program, folder)
        except (OSError, ValueError, KeyError, TypeError):
            return {}  # another version: Codex itself will ask
    ours = dict(zip(trust_keys(text, copy, hooks), trust_keys(text, path, hooks), strict=True))
    return {ours[key]: value for key, value in found.items() if key in ours}


def _ask(program: str, folder: str) -> dict[str, str]:
    """Return the hash of every hook in a folder, as Codex's server for editors tells it."""
    import subprocess
    import threading

    with subprocess.Popen(
        [program, "app-server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd=folder,
        env=os.environ | {"CODEX_HOME": folder},
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(SECONDS, _end, [process.pid])
        timer.start()
        try:
            about = {"clientInfo": {"name": "looseleaf", "version": "1"}}
            _send(process.stdin, {"id": 1, "method": "initialize", "params": about})
            _answer(process.stdout, 1)
            _send(process.stdin, {"method": "initialized"})
            _send(process.stdin, {"id": 2, "method": "hooks/list", "params": {"cwds": [folder]}})
            rows = _answer(process.stdout, 2)["data"]
            return {hook["key"]: hook["currentHash"] for row in rows for hook in row["hooks"]}
        finally:
            timer.cancel()
            _end(process.pid)


def _end(process: int) -> None:
    """End Codex with everything that it started."""
    import signal

    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


def _send(pipe: IO[bytes], message: dict[str, Any]) -> None:
    pipe.write(json.dumps(message).encode() + b"\n")


def _answer(pipe: IO[bytes], number: int) -> Any:
    for line in pipe:
        message = json.loads(line)
        if message.get("id") == number and "method" not in message:
            return message["result"]
    raise ValueError("no answer")
