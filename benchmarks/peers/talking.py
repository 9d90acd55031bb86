"""An adapter that runs, and what is asked of it; a peer that fails or hangs is told apart, and stops nobody else."""

from __future__ import annotations

import json
import queue
import re
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.environments import Environment

PATIENCE = 300.0
"""Seconds that a peer may take for one answer."""


class Failed(Exception):
    """A peer did not answer, or said that it could not. Its words are told without the paths of this machine."""

    def __init__(self, words: str) -> None:
        super().__init__(without_paths(words))


def without_paths(words: str) -> str:
    return " ".join(re.sub(r"(?<![\w./:])/[\w./~+-]+", "…", words).split())[:200]


class Talking:
    """A process of an adapter, on a folder of its own."""

    def __init__(
        self,
        environment: Environment,
        adapter: str,
        folder: Path,
        vectors: Path,
        under: Sequence[str] = (),
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._errors = (folder.parent / f"{folder.name}.err").open("ab")
        self._process = subprocess.Popen(
            [*under, *environment.command(adapter), str(folder), str(vectors)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
            cwd=folder,
            env=environment.variables(),
        )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._answer()  # it is ready

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def tell(self, do: str, **more: Any) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **more}) + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:  # its pipe is gone, or was closed with it
            raise Failed(f"it ended ({error})") from error

    def answer(self) -> dict[str, Any]:
        """What it answers to the last that it was told."""
        return self._answer()

    def ask(self, do: str, **more: Any) -> dict[str, Any]:
        self.tell(do, **more)
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        try:
            line = self._answers.get(timeout=PATIENCE)
        except queue.Empty:
            self.kill()
            raise Failed(f"no answer in {PATIENCE:.0f} seconds") from None
        if not line:
            self.kill()
            raise Failed(f"it ended: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def _last_words(self) -> str:
        text = Path(self._errors.name).read_text(errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        raised = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
        return (raised or lines or ["it said nothing"])[-1]

    def close(self) -> None:
        """Closed as the peer wants it, and waited for."""
        try:
            self.ask("close")
            self._process.wait(30)
        except (Failed, subprocess.TimeoutExpired):
            pass
        self.kill()

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._listener.join(5)
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was not written to a process that ended
                    pass
