"""What REST adds to a verb of `Memory`: recall and record over HTTP, against the same without.

    python benchmarks/rest.py               prints the table
    python benchmarks/rest.py --save        keeps the figures in results.json as well
    python benchmarks/rest.py --quick       a few requests: whether it runs, not what it costs

Two memories with the same 1,000 turns: one behind the server, in a thread of this process and asked on one connection
for each batch; the other opened here. They take turns, batch by batch, because machines are noisy; the ratio is the
median of what each batch took of the one next to it. Then eight connections at once, against one.
"""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.prompt import filled  # noqa: E402
from benchmarks.recall import Times  # noqa: E402
from benchmarks.report import NO_GOAL, Row, options, report  # noqa: E402
from benchmarks.window import folder  # noqa: E402

from looseleaf import Memory  # noqa: E402
from looseleaf.serve.access import Access  # noqa: E402
from looseleaf.serve.app import app  # noqa: E402
from looseleaf.serve.audit import Audit  # noqa: E402
from looseleaf.serve.http import allowed_hosts, listen  # noqa: E402
from looseleaf.serve.pool import Pool  # noqa: E402
from looseleaf.serve.runner import runner  # noqa: E402
from looseleaf.serve.serving import Limits, Serving  # noqa: E402

SIZE, QUICK = (100, 1_000), (20, 20)
BATCH, AT_ONCE = 20, 8
QUESTIONS = ("what is left to do", "which file holds the parser", "where do I live", "what was decided")


@contextmanager
def served(root: Path, access_folder: Path) -> Iterator[tuple[int, str]]:
    """Serve the memories of a folder; yield the port, and a token that may ask as often as it likes."""
    access = Access(str(access_folder))
    _, secret = access.make_token("benchmark", ["*"], ["read", "write"], voice="user")
    serving = Serving(Pool(str(root)), access, Audit(str(access_folder)))
    serving.limits = Limits(rate=1e9)
    with listen("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        server = runner(app(serving, allowed_hosts(port)), serving)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
        thread.start()
        try:
            yield port, secret
        finally:
            server.should_exit = True
            thread.join()


class Client:
    """One connection."""

    def __init__(self, port: int, secret: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", port)
        self._headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}

    def begin(self) -> None:
        """Connect anew: the server ends a connection that was idle while others were asked."""
        self._connection.close()

    def __call__(self, verb: str, body: dict[str, Any] | list[dict[str, Any]]) -> Any:
        self._connection.request("POST", f"/v1/memories/bench/{verb}", json.dumps(body), self._headers)
        answer = self._connection.getresponse()
        told = json.loads(answer.read())
        assert answer.status in (200, 201), told
        return told

    def close(self) -> None:
        self._connection.close()


def repeated(act: Callable[[int], object], begin: Callable[[], None] = lambda: None) -> Callable[[], None]:
    def batch() -> None:
        begin()
        for number in range(BATCH):
            act(number)

    return batch


def question(number: int) -> str:
    return QUESTIONS[number % len(QUESTIONS)]


def per_second(times: Times) -> str:
    return f"{BATCH / median(times.clock):,.0f} a second"


def measured(port: int, secret: str, memory: Memory, rounds: int) -> Iterator[Row]:
    client = Client(port, secret)
    pairs: dict[str, tuple[Callable[[], None], Callable[[], None], str]] = {
        "recall": (
            repeated(lambda number: client("recall", {"query": question(number)}), client.begin),
            repeated(lambda number: memory.recall(question(number))),
            "≤ 1.5",
        ),
        "record": (
            repeated(lambda number: client("traces", {"assistant": f"Line {number}."}), client.begin),
            repeated(lambda number: memory.record(assistant=f"Line {number}.")),
            NO_GOAL,
        ),
        "record many": (
            lambda: record_many_over_rest(client),
            lambda: record_many(memory),
            NO_GOAL,
        ),
    }
    times = {name: (Times(), Times()) for name in pairs}
    for name, (ours, bare, _) in pairs.items():
        ours(), bare()  # what is loaded once
        for _ in range(rounds):
            times[name][0].run(ours)
            times[name][1].run(bare)
    for name, (_, _, goal) in pairs.items():
        over, beside = times[name]
        told = f"{over.against(beside)}, {per_second(over)} against {per_second(beside)}"
        yield f"{name} over REST, {BATCH} at a time, against bare `Memory`", told, goal
    client.close()
    yield from at_once(port, secret, rounds)


def record_many_over_rest(client: Client) -> None:
    client.begin()
    client("traces", [{"assistant": f"Line {number}."} for number in range(BATCH)])


def record_many(memory: Memory) -> None:
    with memory.batch() as batch:
        for number in range(BATCH):
            batch.record(assistant=f"Line {number}.")


def at_once(port: int, secret: str, rounds: int) -> Iterator[Row]:
    clients = [Client(port, secret) for _ in range(AT_ONCE)]
    verbs: dict[str, Callable[[int], dict[str, Any]]] = {
        "recall": lambda number: {"query": question(number)},
        "traces": lambda number: {"assistant": f"Line {number}."},
    }
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for verb, body in verbs.items():
            one, many = Times(), Times()

            def share(client: Client, count: int, verb: str = verb, body: Any = body) -> None:
                client.begin()
                for number in range(count):
                    client(verb, body(number))

            for _ in range(rounds):
                one.run(share, clients[0], AT_ONCE * 4)
                many.run(lambda share=share: list(threads.map(lambda each: share(each, 4), clients)))
            yield f"`{verb}` on {AT_ONCE} connections at once, against one", many.against(one), NO_GOAL
    for client in clients:
        client.close()


def main(arguments: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args(arguments)
    with folder() as path, ExitStack() as stack:
        bare = filled(path, QUICK if asked.quick else SIZE)
        root = path / "root"
        root.mkdir()
        shutil.copytree(bare, root / "bench")
        port, secret = stack.enter_context(served(root, path / "access"))
        memory = stack.enter_context(Memory(bare))
        report("rest", measured(port, secret, memory, 1 if asked.quick else 15), save=asked.save)


if __name__ == "__main__":
    main()
