"""What the agent's loop itself costs a turn: the model answers at once, so whatever a turn takes is ours.

    python benchmarks/agent.py               prints the table
    python benchmarks/agent.py --save        keeps the figures in results.json as well
    python benchmarks/agent.py --turns N     with another length of the long history (10,000)
    python benchmarks/agent.py --quick       small sizes, in memory: whether it runs, not what it costs
    python benchmarks/agent.py --profile     where the time of a turn goes, in the long history

A turn is recorded, its prompt made and logged, the call written into the ledger of costs, its answer recorded, each of
these durable before the next. So it is measured on the machine's disk, unlike growth elsewhere, and beside the
milliseconds stands what the bare syncs of as many records take there. Both histories are talked to in turns and have a
window of the same size: the long one was compacted on its way. That a run is distilled afterwards is measured apart.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.recall import Times, ms  # noqa: E402
from benchmarks.report import NO_GOAL, Row, options, report  # noqa: E402
from benchmarks.window import QUICK, STREAM, fill, folder, timed  # noqa: E402

from looseleaf import Memory  # noqa: E402
from looseleaf.agent.events import Done, ToolReturned  # noqa: E402
from looseleaf.agent.loop import Agent  # noqa: E402
from looseleaf.base.messages import Message, ToolCallSpec, ToolResultPayload  # noqa: E402
from looseleaf.base.policy import Policy  # noqa: E402
from looseleaf.base.replies import Reply, ToolSpec, Usage  # noqa: E402
from looseleaf.log.turns import through_members  # noqa: E402
from looseleaf.models import ScriptedModel  # noqa: E402

SHORT, LONG = 10, 10_000
"""Turns that there were before. The window of both holds the last ten."""

SYNCS = 4
"""Records that a turn without tools writes one after the other: the request, its prompt, the call, the answer."""

MILLISECONDS, TIMES = "≤ 15", "≤ 1.3"
USAGE = Usage(prompt_tokens=4000, cached_tokens=3800, output_tokens=30)
"""As a provider reports it: what it says decides on compactions, and goes into the ledger."""


def look(what: str) -> str:
    """Look something up."""
    return f"{what} is here."


def plainly(messages: object, tools: object) -> Reply:
    return Reply("The part is there. What else is to be done?", usage=USAGE)


def with_tools(messages: list[Message], tools: list[ToolSpec]) -> Reply:
    """Two calls first, then an answer."""
    last = [message.tool_payload for message in messages[-3:]]
    if any(isinstance(payload, ToolResultPayload) for payload in last):
        return plainly(messages, tools)
    calls = [ToolCallSpec(os.urandom(8).hex(), "look", {"what": what}) for what in ("a", "b")]
    return Reply("I look.", calls=tuple(calls), usage=USAGE)


class Talk:
    """An agent in a memory of so many turns; calling it is one turn."""

    def __init__(
        self, path: Path, turns: int, answer: Callable[..., Reply] = plainly, *, reflect: bool = False
    ) -> None:
        where = path / str(turns)
        is_new = not where.exists()
        if is_new:
            fill(where, turns - 1, compacted_every=turns - SHORT if turns > SHORT else None)
        self.memory = Memory(where, policy=Policy(context_tokens=200_000))
        if is_new:  # all that was said in it is distilled
            store = self.memory.parts.context.store
            self.memory.parts.placer.pass_over("main", through_members(store, STREAM, store.end(STREAM)))
            self.memory.parts.notebook.catch_up()
        self._agent = Agent(self.memory, ScriptedModel(answer), (look,), reflect=reflect)
        self._number = 0
        self.returned = 0

    def __call__(self) -> None:
        self._number += 1
        events = list(self._agent.run(f"What is left to be done of part {self._number}?"))
        assert any(isinstance(event, Done) for event in events), events[-1]
        self.returned += sum(isinstance(event, ToolReturned) for event in events)


def syncs(path: Path) -> Callable[[], None]:
    """As many short records as a turn writes, each appended and synced, and nothing else."""
    file = os.open(path / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def job() -> None:
        for _ in range(SYNCS):
            os.write(file, b"x" * 400)
            os.fdatasync(file)

    return job


def measured(path: Path, turns: int, rounds: int) -> Iterator[Row]:
    few, many, bare = Talk(path, SHORT), Talk(path, turns), syncs(path)
    timed(3, few, many, bare)
    short, long, alone = Times(), Times(), Times()
    for _ in range(rounds):
        short.run(few)
        long.run(many)
        alone.run(bare)
    what = f"a turn of the agent at {turns:,} turns of history, without the model's time"
    own = f"processor {ms(long.processor)}; {SYNCS} bare syncs {ms(alone.clock)}"
    yield f"{what}: milliseconds", f"{1000 * median(long.clock):.1f} ({own})", MILLISECONDS
    yield f"the same against at {SHORT} turns", long.against(short), TIMES
    few.memory.close()
    many.memory.close()
    for name, answer, reflect in (
        ("with two tool calls", with_tools, False),
        ("distilled afterwards", plainly, True),
    ):
        talk = Talk(path, turns, answer, reflect=reflect)
        timed(2, talk)
        (times,) = timed(max(1, rounds // 3), talk)
        if answer is with_tools:
            assert talk.returned == 2 * talk._number
        talk.memory.close()
        yield f"a turn {name}, at {turns:,} turns", ms(times), NO_GOAL


def profile(path: Path, turns: int) -> None:
    import cProfile
    import pstats

    talk = Talk(path, turns)
    timed(3, talk)
    profiler = cProfile.Profile()
    with profiler:
        timed(50, talk)
    pstats.Stats(profiler).sort_stats("cumulative").print_stats(60)


def main(arguments: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--turns", type=int, default=LONG)
    asked = parser.parse_args(arguments)
    turns = min(asked.turns, 40) if asked.quick else asked.turns
    with folder(QUICK if asked.quick else HERE) as path:
        if asked.profile:
            profile(path, turns)
        else:
            report("agent", measured(path, turns, 2 if asked.quick else 90), save=asked.save)


if __name__ == "__main__":
    main()
