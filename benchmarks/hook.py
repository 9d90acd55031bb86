"""What a hook costs whoever waits for it, against the least that any program in Python costs: `python -c pass`.

    python benchmarks/hook.py               prints the table, for memories of 1,000 and of 100,000 turns
    python benchmarks/hook.py --save        keeps the figures in results.json as well
    python benchmarks/hook.py --keep FOLDER keeps the memories there, or takes those that are there
    python benchmarks/hook.py --quick       small sizes: whether it runs, not what it costs
    python benchmarks/hook.py --profile     where the time of a prompt's hook goes, in the largest memory

Whole processes, as a coding agent starts them, with its JSON on standard input and a transcript that grows. They and
the reference take turns, because machines are noisy; the ratio is the median of what each took of the one next to it.
`pre-compact` and `stop` have an answer to record each time, and leave it to the background to distill it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.prompt import Size, filled  # noqa: E402
from benchmarks.recall import Times, ms  # noqa: E402
from benchmarks.report import NO_GOAL, Row, options, report  # noqa: E402
from benchmarks.window import STREAM, folder  # noqa: E402

from looseleaf import Memory  # noqa: E402
from looseleaf.integrations.hook_session import is_distilled  # noqa: E402
from looseleaf.log.turns import through_members  # noqa: E402
from looseleaf.text.times import written  # noqa: E402

SIZES: tuple[Size, ...] = ((100, 1_000), (10_000, 100_000))
"""Facts and turns; ten facts a page, four messages a turn."""
QUICK: tuple[Size, ...] = ((20, 20),)

TIMES, TIMES_AFTER, MILLISECONDS = "≤ 4", "≤ 6", "≤ 150"
OWN = "mcp__looseleaf__remember"
ENDING = ("pre-compact", "stop")


def command() -> list[str]:
    """As an installation has it."""
    program = Path(sys.executable).with_name("looseleaf")
    return [str(program)] if program.exists() else [sys.executable, "-m", "looseleaf"]


def environment() -> dict[str, str]:
    """With bytecode, which an installation writes."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Agent:
    """A session of a coding agent in a memory of that size."""

    def __init__(self, path: Path, size: Size) -> None:
        self.memory = filled(path, size)
        self._transcript = path / f"{self.memory.name}-{os.getpid()}.jsonl"
        self._transcript.write_text("")
        self._session = f"session-{os.getpid()}"
        self._number = 0
        self._call = ""
        with Memory(self.memory) as memory:  # all that was said in it is distilled
            store = memory.parts.context.store
            memory.parts.placer.pass_over("main", through_members(store, STREAM, store.end(STREAM)))
            memory.parts.notebook.catch_up()
        self.prompt()
        self.hook("stop")
        self.settle()
        self.hook("session-start")

    def hook(self, event: str, **more: str) -> str:
        given = {
            "session_id": self._session,
            "transcript_path": str(self._transcript),
            "hook_event_name": event,
        }
        arguments = [*command(), "--memory", str(self.memory), "hook", event]
        done = subprocess.run(
            arguments,
            input=json.dumps(given | more),
            capture_output=True,
            text=True,
            check=True,
            env=environment(),
        )
        return done.stdout

    def prompt(self) -> None:
        self._number += 1
        self.hook("user-prompt", prompt=f"What is left to be done of part {self._number}?")

    def ask_anew(self) -> None:
        """A prompt on another subject each time."""
        self._number += 1
        words = " ".join(f"{name}{self._number}" for name in ("harvest", "violin", "quarry"))
        self.hook("user-prompt", prompt=f"Where did we put the {words} papers?")

    def settle(self) -> None:
        """Wait for the background."""
        with Memory(self.memory) as memory:
            while not is_distilled(memory):
                time.sleep(0.05)

    def works(self) -> None:
        """What the agent writes when it has answered: what its last call gave, and some lines."""
        if self._call:
            self._line("user", [{"type": "tool_result", "tool_use_id": self._call, "content": "Done."}])
            self._call = ""
        for part in range(3):
            self._line(
                "assistant", [{"type": "text", "text": f"Part {self._number} needs step {part}. " * 20}]
            )

    def calls(self) -> None:
        """What it writes after a prompt: the user's line; then the model reads something, and is about to write to the
        memory."""
        self._line("user", f"What is left to be done of part {self._number}?")
        for name, call in (("Read", os.urandom(8).hex()), (OWN, os.urandom(8).hex())):
            self._line("assistant", [{"type": "tool_use", "id": call, "name": name, "input": {}}])
            if name != OWN:
                result = f"Part {self._number} is here. " * 40
                self._line("user", [{"type": "tool_result", "tool_use_id": call, "content": result}])
        self._call = call

    def before_tool(self) -> None:
        self.hook("pre-tool", tool_name=OWN, tool_use_id=self._call)

    def _line(self, kind: str, content: object) -> None:
        message = {"role": kind, "content": content}
        made = {
            "type": kind,
            "uuid": os.urandom(8).hex(),
            "timestamp": written(time.time()),
            "message": message,
        }
        with self._transcript.open("a") as file:
            file.write(json.dumps(made) + "\n")

    def edits(self) -> None:
        """Somebody changes a page meanwhile."""
        page = self.memory / "USER.md"
        page.write_text(f"{page.read_text()}- Likes: thing {time.time_ns()}\n")


def nothing() -> None:
    subprocess.run([sys.executable, "-c", "pass"], check=True, env=environment())


# --- the rows --------------------------------------------------------------------------


def measured(agent: Agent, turns: int, rounds: int) -> Iterator[Row]:
    at = f"at {turns:,} turns"
    events = ("user-prompt", "new subject", "pre-tool", "session-start", *ENDING)
    taken = {event: Times() for event in events}
    beside = {event: Times() for event in events}

    def run(event: str, act: Callable[[], object]) -> None:
        beside[event].run(nothing)
        taken[event].run(act)

    for _ in range(rounds):
        run("user-prompt", agent.prompt)
        agent.calls()
        run("pre-tool", agent.before_tool)
        run("new subject", agent.ask_anew)
        for event in ENDING:
            agent.works()
            run(event, lambda event=event: agent.hook(event))  # type: ignore[misc]
            agent.settle()
        run("session-start", lambda: agent.hook("session-start"))
    for event in events:
        about = f"`hook {event}`" if event != "new subject" else "`hook user-prompt`, a new subject,"
        goal = TIMES_AFTER if event in ENDING else TIMES
        yield (
            f"{about} {at}, whole process, against `python -c pass`",
            taken[event].against(beside[event]),
            goal,
        )
        yield "the same, in milliseconds", f"{1000 * median(taken[event].clock):.0f}", MILLISECONDS
    changed = Times()
    for _ in range(max(1, rounds // 8)):
        agent.edits()
        changed.run(agent.hook, "session-start")
    yield f"`hook session-start` {at}, after a page was changed by hand", ms(changed.clock), NO_GOAL


def profile(agent: Agent) -> None:
    import cProfile
    import io
    import pstats

    from looseleaf.cli.main import main as run

    given = json.dumps({"session_id": "profiled", "prompt": "What is left to be done?"})
    sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()))
    profiler = cProfile.Profile()
    with profiler:
        run(["--memory", str(agent.memory), "hook", "user-prompt"])
    pstats.Stats(profiler).sort_stats("tottime").print_stats(40)


def main(arguments: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args(arguments)
    sizes = QUICK if asked.quick else SIZES
    with nullcontext(asked.keep) if asked.keep is not None else folder() as path:
        if asked.profile:
            profile(Agent(path, sizes[-1]))
            return
        rounds = 1 if asked.quick else 40
        rows = (row for size in sizes for row in measured(Agent(path, size), size[1], rounds))
        report("hook", rows, save=asked.save)


if __name__ == "__main__":
    main()
