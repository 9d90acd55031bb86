"""Many clients at once, on many memories: what was answered is there once, events come, and memory does not grow."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from looseleaf import Memory
from looseleaf.pages.folder import init
from looseleaf.serve.access import Access, access_folder
from looseleaf.store.files import FileStore
from serving import Process, served

MEMORIES, WRITERS, READERS, STREAMS = 100, 8, 8, 4
FLAT = 1.25
"""How much larger the server may be at the end than after a third of the time, when all memories have been opened: what
is kept at hand of the newest talk grows with it for a while."""
LISTENED = tuple(f"m{number:03d}" for number in range(STREAMS))


def megabytes(process: Process) -> float:
    for line in Path(f"/proc/{process.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no size is told")


class Load:
    """What the clients did, and what they were told."""

    def __init__(self, server: Process, access: Access) -> None:
        self.server, self.access = server, access
        self.names = [f"m{number:03d}" for number in range(MEMORIES)]
        self.acknowledged: dict[str, dict[str, str]] = defaultdict(dict)
        self.heard: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.over = threading.Event()
        self._lock = threading.Lock()

    def client(self, *scopes: str, timeout: float | None = 60.0) -> httpx.Client:
        _, secret = self.access.make_token("load", ["*"], scopes, voice="user")
        return httpx.Client(
            base_url=f"{self.server.address}/v1/memories",
            headers={"authorization": f"Bearer {secret}"},
            timeout=timeout,
        )

    def write(self, number: int) -> None:
        """Record until it is over, each with a key; now and then send one twice, or have a memory distilled."""
        chance = random.Random(number)
        with self.client("read", "write") as client:
            count = 0
            while not self.over.is_set():
                count += 1
                name = chance.choice(LISTENED if count % 4 == 0 else self.names)
                text = f"Writer {number} says line {count}."
                body, key = {"user": text}, {"idempotency-key": f"{number}-{count}"}
                answer = self._ask(client, "POST", f"/{name}/traces", body, key)
                if answer is None:
                    continue
                with self._lock:
                    self.acknowledged[name][text] = answer["traces"][0]["id"]
                if count % 10 == 0:
                    again = self._ask(client, "POST", f"/{name}/traces", body, key)
                    if again is not None and again != answer:
                        self.wrong.append(f"another answer to the same request: {again}")
                if count % 25 == 0:
                    self._ask(client, "POST", f"/{name}/distill", {}, {})

    def read(self, number: int) -> None:
        chance = random.Random(1000 + number)
        with self.client("read") as client:
            while not self.over.is_set():
                name = chance.choice(self.names)
                what = chance.randrange(5)
                if what == 0:
                    self._ask(client, "POST", f"/{name}/recall", {"query": "Where do I live?"}, {})
                elif what == 1:
                    self._ask(client, "POST", f"/{name}/prompts?dry_run=true", {"task": "Plan my week."}, {})
                else:
                    self._ask(client, "GET", f"/{name}/{('facts', 'sessions', 'pages')[what - 2]}", None, {})

    def listen(self, name: str) -> None:
        """Listen until it is over; come back with the id of the last event, as browsers do."""
        last = ""
        with self.client("read", timeout=None) as client:
            while not self.over.is_set():
                headers = {"last-event-id": last} if last else {}
                with (
                    suppress(httpx.TransportError),
                    client.stream("GET", f"/{name}/events", headers=headers) as stream,
                ):
                    for line in stream.iter_lines():
                        if line.startswith("data: "):
                            last = json.loads(line[6:])["id"]
                            self.heard[last] += 1

    def report(self, seconds: float, sizes: list[float]) -> None:
        count = sum(len(each) for each in self.acknowledged.values())
        print(f"{seconds:.0f} s: {count:,} recorded, {dict(self.done)}, {sum(self.heard.values()):,} events")
        print(f"MB, at thirty points: {', '.join(f'{size:.0f}' for size in sizes)}")

    def _ask(
        self, client: httpx.Client, method: str, path: str, body: object, headers: dict[str, str]
    ) -> dict[str, list[dict[str, str]]] | None:
        """Return the answer; ask again where the server says so. None: it is over."""
        while True:
            answer = client.request(method, path, json=body, headers=headers)
            self.done[f"{answer.status_code}"] += 1
            if answer.status_code < 300:
                self.done[method] += 1
                found: dict[str, list[dict[str, str]]] = answer.json()
                return found
            if answer.status_code not in (429, 503):
                self.wrong.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
                return None
            if self.over.wait(float(answer.headers.get("retry-after", "1"))):
                return None


@pytest.mark.long
def test_what_was_answered_under_load_is_there_once_and_the_server_does_not_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = float(os.environ.get("LOOSELEAF_LOAD_SECONDS", "60"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    root = tmp_path / "root"
    for number in range(MEMORIES):
        init(str(root / f"m{number:03d}"))
        with Memory(root / f"m{number:03d}") as memory:
            memory.remember("I live in Lyon.")
    sizes: list[float] = []
    with served("--root", str(root)) as server:
        load = Load(server, Access(access_folder(str(root))))
        threads = [threading.Thread(target=load.listen, args=(name,)) for name in LISTENED]
        threads += [threading.Thread(target=load.write, args=(number,)) for number in range(WRITERS)]
        threads += [threading.Thread(target=load.read, args=(number,)) for number in range(READERS)]
        for thread in threads:
            thread.start()
        for _ in range(30):
            load.over.wait(seconds / 30)
            sizes.append(megabytes(server))
        load.over.set()
        for thread in threads[STREAMS:]:
            thread.join()
        time.sleep(2.0)  # what was written last is told
        load.report(seconds, sizes)
        began = time.monotonic()
        assert server.end() == 0
        print(f"stopped in {time.monotonic() - began:.1f} s")
        for thread in threads:
            thread.join()
    told = {name: load.acknowledged[name] for name in load.names}
    assert load.wrong == []
    assert load.done["POST"] > 0
    assert load.done["GET"] > 0
    lost, twice, unheard = [], [], []
    for name, said in told.items():
        with FileStore(root / name) as store:
            found = Counter(str(line.record.get("content")) for line in store.read("traces/main"))
        lost += [text for text in said if not found[text]]
        twice += [text for text in said if found[text] > 1]
        unheard += [id for id in said.values() if name in LISTENED and not load.heard[id]]
    assert (lost, twice, unheard) == ([], [], [])
    assert max(sizes[20:]) < FLAT * max(sizes[8:12])
