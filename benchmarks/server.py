"""What a client waits for when it starts the MCP server, against the least that any program in Python costs.

    python benchmarks/server.py             prints the table
    python benchmarks/server.py --save      keeps the figures in results.json as well
    python benchmarks/server.py --quick     one round: whether it runs, not what it costs

Whole processes, as a client starts them, in a memory of 1,000 turns: `initialize` and the lists of tools, prompts and
resources, which a client wants before its first prompt; then one with a call as well, which opens the memory. They and
`python -c pass` take turns, because machines are noisy; the ratio is the median of what each took of the one next to
it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.hook import command, environment, nothing  # noqa: E402
from benchmarks.prompt import filled  # noqa: E402
from benchmarks.recall import Times  # noqa: E402
from benchmarks.report import NO_GOAL, Row, options, report  # noqa: E402
from benchmarks.window import folder  # noqa: E402

SIZE, QUICK = (100, 1_000), (20, 20)
ABOUT = {"name": "benchmark", "version": "1"}

Requests = tuple[tuple[str, dict[str, object]], ...]

OPENING: Requests = (
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": ABOUT}),
    ("tools/list", {}),
)
LISTS: Requests = (*OPENING, ("prompts/list", {}), ("resources/list", {}))
CALL: Requests = (*LISTS, ("tools/call", {"name": "recall", "arguments": {"query": "what is left"}}))


def said(requests: Requests) -> bytes:
    messages = (
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(requests)
    )
    return b"".join(json.dumps(each).encode() + b"\n" for each in messages)


def serve(memory: Path, requests: Requests) -> None:
    """From the start of the process to its end, with an answer to each request."""
    arguments = [*command(), "--memory", str(memory), "mcp"]
    done = subprocess.run(arguments, input=said(requests), capture_output=True, check=True, env=environment())
    assert sum("result" in json.loads(line) for line in done.stdout.splitlines()) == len(requests)


def megabytes(memory: Path, requests: Requests) -> str:
    """Of the process, when it has answered."""
    process = subprocess.Popen(
        [*command(), "--memory", str(memory), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdin
    assert process.stdout
    with process:
        process.stdin.write(said(requests))
        process.stdin.flush()
        for _ in requests:
            process.stdout.readline()
        status = Path(f"/proc/{process.pid}/status")
        lines = status.read_text().splitlines() if status.exists() else []
    found = [int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS")]
    return f"{found[0]:.0f}" if found else "not known on this system"


def measured(memory: Path, rounds: int) -> Iterator[Row]:
    asked: dict[str, Requests] = {
        "`initialize` and `tools/list`": OPENING,
        "all its lists": LISTS,
        "and a call": CALL,
    }
    times = {name: (Times(), Times()) for name in asked}
    for _ in range(rounds):
        for name, requests in asked.items():
            beside, own = times[name]
            beside.run(nothing)
            own.run(serve, memory, requests)
    for name, (beside, own) in times.items():
        goal = "≤ 4" if name != "and a call" else NO_GOAL
        yield (
            f"the MCP server, {name}: the whole process, against `python -c pass`",
            own.against(beside),
            goal,
        )
    yield "memory of the process that has listed its tools, in megabytes", megabytes(memory, OPENING), "≤ 40"


def main(arguments: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args(arguments)
    with folder() as path:
        memory = filled(path, QUICK if asked.quick else SIZE)
        report("server", measured(memory, 1 if asked.quick else 40), save=asked.save)


if __name__ == "__main__":
    main()
