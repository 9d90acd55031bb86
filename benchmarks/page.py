"""What a person waits for at the page: each screen of a large memory, and the first one after a start.

    python benchmarks/page.py                    prints the table, of 20,000 turns and 2,000 facts
    python benchmarks/page.py --turns 100000     the size of the promise, with 10,000 facts; takes minutes
    python benchmarks/page.py --save             keeps the figures in results.json as well
    python benchmarks/page.py --quick            a small memory, a few requests: whether it runs
    python benchmarks/page.py --keep FOLDER      keeps the memory there, or takes the one that is there

The server is a process, as people start it; a person signs in by its link and goes from screen to screen, to each of
them once a round. A figure is the 95th of a hundred answers in milliseconds, as the server's own log tells them; beside
it is how many times as long that is as the smallest screen takes, the one of a link to sign in. A start is measured
from the command to the screen that the person who signed in sees, over `python -c pass`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

import httpx  # noqa: E402
from benchmarks.hook import command, environment, nothing  # noqa: E402
from benchmarks.recall import Times  # noqa: E402
from benchmarks.report import NO_GOAL, Row, options, report  # noqa: E402
from benchmarks.screens import NOWHERE, PER_TOPIC, fill  # noqa: E402
from benchmarks.window import QUICK, folder  # noqa: E402

from looseleaf import Memory  # noqa: E402

SETTINGS = "XDG_CONFIG_HOME"
SLOWEST = "≤ 100"
ROUNDS = 100
PAUSE = 0.02
"""Nobody is let in more than fifty times a second."""


class Server:
    """A server of one memory, and a person who is signed in."""

    def __init__(self, path: Path, settings: Path) -> None:
        given = [*command(), "--memory", str(path), "serve", "--port", "0", "--json-log"]
        self._process = subprocess.Popen(
            given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment() | {SETTINGS: str(settings)},
        )
        assert self._process.stdout is not None
        link = self._process.stdout.readline().strip()
        host = re.sub(r"^http://([^/]+)/.*$", r"\1", link)
        self._lines: list[dict[str, object]] = []
        self._ears = threading.Thread(target=self._listen)
        self._ears.start()
        self.person = httpx.Client(
            base_url=f"http://127.0.0.1:{host.rpartition(':')[2]}",
            headers={"host": host, "origin": f"http://{host}"},
            timeout=120,
        )
        self.login = link.partition(host)[2]
        signed = self.person.post(self.login)
        assert signed.status_code == 303, signed.text
        self.person.headers["cookie"] = signed.headers["set-cookie"].partition(";")[0]
        self.start: str = signed.headers["location"]

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if line.startswith("{"):
                self._lines.append(json.loads(line))

    def screen(self, path: str) -> str:
        time.sleep(PAUSE)
        answer = self.person.get(path)
        assert answer.status_code == 200, (path, answer.status_code, answer.text[-300:])
        return str(answer.text)

    def close(self) -> list[dict[str, object]]:
        """Stop the server; return the lines of its log."""
        self.person.close()
        self._process.terminate()
        self._process.wait()
        self._ears.join()
        return self._lines


def screens(path: Path) -> dict[str, str]:
    """The address of each, with one of what it lists."""
    with Memory(path) as memory:
        fact = next(each.id for each in memory.facts() if each.relation == "Plan")
        old, last = "session_00001", memory.talk.sessions(1)[0].session_id
        memory.prompt("Plan my week.")
        prompt = memory.explain.replay().manifest.id
    return {
        "Today": "",
        "Memory": "memory",
        "Memory, as of a day before": "memory?as_of=2025-03-01",
        "Memory, of a topic": "memory?topic=topic-001",
        "a fact, with its words and its past": f"fact/{fact}",
        "Review": "review",
        "Search": "search?q=Which+tea+do+I+prefer%3F",
        "Search, where nothing bears on it": f"search?q={NOWHERE}&less=1",
        "Talk": "talk",
        "Talk, the last session": f"talk/session/{last}",
        "Talk, an old session": f"talk/session/{old}",
        "Prompt": "prompt?task=Plan+my+week",
        "Prompt, one of the log": f"prompt/{prompt}",
        "Forget": "forget",
        "Pages": "pages",
        "a page": "pages/facts/topic-001.md",
        "a page, to edit": "pages/facts/topic-001.md/edit",
        "a page's history": "pages/facts/topic-001.md/history",
        "a page, whose each line is": "pages/facts/topic-001.md/who",
        "Costs": "costs",
        "Health": "health",
        "Settings": "settings",
    }


def measured(path: Path, scratch: Path, rounds: int, size: str) -> Iterator[Row]:
    asked = screens(path)
    server = Server(path, scratch / "settings")
    try:
        prefix = server.person.get(server.start).headers["location"]
        for address in asked.values():
            server.screen(prefix + address)  # the first time is told by `screens`
        for _ in range(rounds):
            server.person.get(server.login)
            for address in asked.values():
                server.screen(prefix + address)
    finally:
        told = server.close()
    lines = [each for each in told if each["method"] == "GET"]
    step = len(asked) + 1
    lines = lines[-rounds * step :]
    took: dict[str, list[float]] = defaultdict(list)
    for number, line in enumerate(lines):
        took[["", *asked][number % step]].append(float(str(line["ms"])))
    least = max(0.1, median(took.pop("")))
    for name, times in took.items():
        slow = quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]
        figure = (
            f"{slow:,.0f} (ms; median {median(times):,.0f}; {slow / least:,.0f} times the smallest screen)"
        )
        yield f"{name}, at {size}: 95 of 100 answers are not slower", figure, SLOWEST
    beside, own = Times(), Times()
    for number in range(max(1, rounds // 20)):
        beside.run(nothing)
        own.run(first_screen, path, scratch / f"settings-{number}")
    yield (
        f"from the command to the first screen, at {size}, against `python -c pass`",
        own.against(beside),
        NO_GOAL,
    )


def first_screen(path: Path, settings: Path) -> None:
    server = Server(path, settings)
    server.screen(server.person.get(server.start).headers["location"])
    server.close()


def main(arguments: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args(arguments)
    turns = 600 if asked.quick else asked.turns
    facts = max(PER_TOPIC, turns // 10)
    os.umask(0o077)
    with folder(QUICK) as scratch:
        path = (asked.keep or scratch) / "memory"
        if not path.exists():
            fill(path, turns, facts)
        size = f"{turns:,} turns and {facts:,} facts"
        report("page", measured(path, scratch, 3 if asked.quick else ROUNDS, size), save=asked.save)


if __name__ == "__main__":
    main()
