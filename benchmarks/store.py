"""How the store compares with the least that could do its job, measured side by side in one run, as ratios.

    python benchmarks/store.py              prints the table
    python benchmarks/store.py --save       keeps the figures in results.json as well
    python benchmarks/store.py --lines N    with another size of log (1,000,000)

Machines differ and are noisy, so nothing here is in seconds: each figure is ours against a reference that ran
in turns with it. The folder is made beside this file's repository, because /tmp is often memory and not a disk.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import median

from looseleaf import Memory
from looseleaf.base.ids import new_id
from looseleaf.base.values import sha256
from looseleaf.store import records as codec
from looseleaf.store.files import FileStore

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.report import Row, options, report  # noqa: E402
from benchmarks.window import folder, timed  # noqa: E402


def record(
    content: str = "Please refactor the parser, and say what you changed and why. " * 3,
) -> dict[str, object]:
    return {
        "id": new_id(),
        "ts": time.time(),
        "turn_id": "turn_0001",
        "seq": 1,
        "trace_type": "user",
        "content": content,
        "source_event": "LLMUserMessageReadyEvent",
        "session_id": "session_0001",
        "origin": "user",
    }


def in_turns(rounds: int, *jobs: Callable[[], object]) -> list[float]:
    """The median time of each job."""
    return [median(seen) for seen in timed(rounds, *jobs)]


# --- appending -------------------------------------------------------------------------


def append(batch: int, syncs: int) -> tuple[float, float]:
    """Our records a second over those of a loop that writes JSON lines, and of one that writes ready-made bytes."""
    with folder() as path, FileStore.make(path / "memory") as store:
        one = record()
        line = codec.encode(one)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        plain, bare = os.open(path / "plain.jsonl", flags), os.open(path / "bare.jsonl", flags)
        records = [one] * batch
        store.append("traces/main", records)

        def ours() -> None:
            for _ in range(syncs):
                store.append("traces/main", records)

        def json_lines() -> None:
            for _ in range(syncs):
                for each in records:
                    os.write(plain, (json.dumps(each, ensure_ascii=False) + "\n").encode())
                os.fdatasync(plain)

        def bytes_only() -> None:
            for _ in range(syncs):
                for _ in range(batch):
                    os.write(bare, line)
                os.fdatasync(bare)

        mine, jsonl, raw = in_turns(15, ours, json_lines, bytes_only)
        os.close(plain)
        os.close(bare)
        return jsonl / mine, raw / mine


# --- a long log ------------------------------------------------------------------------


def fill(path: Path, lines: int) -> None:
    """A memory whose trace log and journal have `lines` records each, the journal's about a hundred pages."""
    with Memory(path) as memory:
        one = record()
        for begin in range(0, lines, 10_000):
            memory.parts.context.store.append(
                "traces/main", [one | {"seq": n} for n in range(begin, min(begin + 10_000, lines))]
            )
        pages = [f"facts/topic-{n:03d}.md" for n in range(100)]
        text = b"# Topic\n\n- Name: Zhang San\n"
        for page in pages:
            (path / page).write_bytes(text)
        edit = {
            "schema": "journal.v1",
            "ts": time.time(),
            "kind": "edit",
            "author": "program",
            "reason": "benchmark",
            "base": sha256(text),
            "new": sha256(text),
            "diff": [],
        }
        for begin in range(0, lines, 10_000):
            batch = range(begin, min(begin + 10_000, lines))
            memory.parts.context.store.append(
                "journal", [edit | {"id": new_id(), "path": pages[n % 100]} for n in batch]
            )
        time.sleep(0.2)  # so that no page is too young to be trusted by its times
        memory.pages.absorb()


def last_twenty(small: Path, large: Path) -> float:
    def of(path: Path) -> Callable[[], object]:
        return lambda: list(islice(store[path].read_back("traces/main"), 20))

    with FileStore(small) as one, FileStore(large) as other:
        store = {small: one, large: other}
        few, many = in_turns(200, of(small), of(large))
    return many / few


def opening(empty: Path, large: Path) -> float:
    """How many milliseconds more it takes to open the large memory and read a page of it."""

    def of(path: Path, page: str) -> Callable[[], object]:
        def job() -> None:
            with Memory(path) as memory:
                memory.pages.read(page)

        return job

    little, much = in_turns(50, of(empty, "USER.md"), of(large, "facts/topic-000.md"))
    return (much - little) * 1000


def cold_start(memory: Path) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    script = Path(sys.executable).with_name("looseleaf")

    def run(*command: str | Path) -> Callable[[], object]:
        return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)

    show = run(script, "--memory", memory, "show", "facts/topic-000.md")
    show()  # writes the bytecode, as an installation does
    nothing, ours = in_turns(40, run(sys.executable, "-c", "pass"), show)
    return ours / nothing


def measured(lines: int) -> Iterator[Row]:
    for batch, syncs, goal in ((1, 200, 0.6), (100, 10, 0.8)):
        jsonl, raw = append(batch, syncs)
        what = "one record" if batch == 1 else f"{batch} records"
        yield (
            f"durable append, {what} a sync, against a loop of `json.dumps` + write + fdatasync",
            f"{jsonl:.2f}",
            f"≥ {goal}",
        )
        yield "the same against a loop that writes ready-made bytes + fdatasync", f"{raw:.2f}", f"≥ {goal}"
    with folder() as path:
        small, large = path / "small", path / "large"
        fill(small, 1_000)
        fill(large, lines)
        last = f"the last 20 records of {lines:,} lines against of 1,000"
        yield last, f"{last_twenty(small, large):.2f}", "≤ 1.5"
        opened = f"opening a memory of 2 × {lines:,} lines: milliseconds more than a nearly empty one"
        yield opened, f"{opening(small, large):.1f}", "≤ 20"
        yield "`looseleaf show`, whole process, against `python -c pass`", f"{cold_start(large):.2f}", "≤ 2.5"


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    asked = parser.parse_args()
    report("store", measured(asked.lines), save=asked.save)


if __name__ == "__main__":
    main()
