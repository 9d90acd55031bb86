"""ripgrep over a folder of text: a line for each text, a file for each hundred, each line synced."""

from __future__ import annotations

import fcntl
import os
import subprocess

from benchmarks.peers.wire import Peer, Vectors, serve
from benchmarks.peers.words import by_words, lines_in, telling


class Ripgrep(Peer):
    def __init__(self, folder: str, vectors: Vectors) -> None:
        self._program = os.environ["PEER_PROGRAM"]
        self._folder = f"{folder}/texts"
        os.makedirs(self._folder, exist_ok=True)
        self._file = -1
        self._number = self._lines = 0

    def add(self, text: str) -> None:
        if self._file < 0 or self._lines >= 100:
            self._next()
        fcntl.flock(self._file, fcntl.LOCK_EX)
        os.write(self._file, f"{text}\n".encode())
        os.fdatasync(self._file)
        fcntl.flock(self._file, fcntl.LOCK_UN)
        self._lines += 1

    def _next(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._number, self._lines = self._number + 1, 0
        path = f"{self._folder}/{os.getpid()}-{self._number:04d}.txt"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def search(self, query: str, k: int) -> list[str]:
        patterns = [argument for word in telling(query) for argument in ("-e", word)]
        command = [self._program, "--no-config", "-I", "-N", "-i", "-F", *patterns, self._folder]
        done = subprocess.run(
            [*command, "--no-filename"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False
        )
        return by_words(query, done.stdout.decode().splitlines(), k)

    def all(self) -> list[str]:
        return lines_in(self._folder)

    def rss(self) -> int:
        """Nothing stays between two questions."""
        return 0

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)


if __name__ == "__main__":
    serve(Ripgrep)
