"""Processes that record and compact, and compactions that do one thing wrong.

Started by the tests in two ways. `python -I -S -B compact_work.py FOLDER` carries out the orders of `crash_work`, with
the work of `compaction` in place of its own; `"flaw"` in an order names what its compactions do wrong.
`python compact_work.py FUNCTION ARGUMENTS` runs one function of this module; see `actors`.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "src")]

if len(sys.argv) == 2:  # `-S` knows no installed package, and stemming is one
    import site

    site.main()

import ctypes  # noqa: E402

from actors import Actor, say, wait_to_be_let_go  # noqa: E402
from compaction import CROWD, STEPS, Template, cost, judge_both, marks_of, open_memory  # noqa: E402
from looseleaf.base.errors import Refused  # noqa: E402
from looseleaf.base.ids import new_id  # noqa: E402
from looseleaf.base.messages import Distilled  # noqa: E402
from looseleaf.log.journal import SCHEMA  # noqa: E402
from looseleaf.store import JOURNAL  # noqa: E402
from looseleaf.window.compact import (  # noqa: E402
    TOPIC,
    Compact,
    Draft,
)
from scripts import crash_work  # noqa: E402
from workload import tell_to  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from looseleaf.base.messages import Material
    from looseleaf.base.values import Position, Record
    from looseleaf.store.protocol import Store

CROWDED = "faster than its window can be compacted"


# --- flaws -----------------------------------------------------------------------------


class _Through:
    """A store that somebody stands before."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class _MarkFirst(_Through):
    """A mark is written before the entry that it names."""

    _late: tuple[str, Mapping[str, bytes]] | None = None

    def publish(self, folder: str, files: Mapping[str, bytes], *, again: bool = False) -> None:
        self._late = folder, files

    def append(self, stream: str, records: Sequence[Record]) -> list[Position]:
        places = self._store.append(stream, records)
        if self._late is not None:
            self._store.publish(*self._late, again=True)
            self._late = None
        return places


class _FileByFile(_Through):
    """An entry is not made visible at once."""

    def publish(self, folder: str, files: Mapping[str, bytes], *, again: bool = False) -> None:
        for name in sorted(files):
            if self._store.stat(f"{folder}/{name}") is None:
                self._store.put(f"{folder}/{name}", files[name], base=None)


class _AnyId(Draft):
    @property
    def entry(self) -> str | None:
        return f"{TOPIC}/{new_id()}" if self.plan.gone else None


class _AnyIdCompact(Compact):
    """An entry has another id each time it is made."""

    def _start_draft(self, *args: Any) -> Draft:
        draft = super()._start_draft(*args)
        draft.__class__ = _AnyId
        return draft


class _Unflagging(Compact):
    """The request is crossed out before it is done."""

    def __call__(self, *args: Any, **more: Any) -> Any:
        record = {"schema": SCHEMA, "id": new_id(), "ts": time.time(), "kind": "flag"}
        self._store.append(JOURNAL, [record | {"agent": self._agent, "flag": None}])
        return super().__call__(*args, **more)


class _Unchecked(Compact):
    """What it saw first it believes to the end: under the lock it does not look at the mark again."""

    def __call__(self, *args: Any, **more: Any) -> Any:
        look, seen = self._read_head, self._read_head()
        self._read_head = lambda: seen  # type: ignore[method-assign]
        try:
            return super().__call__(*args, **more)
        finally:
            self._read_head = look  # type: ignore[method-assign]


def _before(kind: type[_Through]) -> Callable[[Compact], None]:
    def spoil(compact: Compact) -> None:
        compact._store = kind(compact._store)

    return spoil


def _as(kind: type[Compact]) -> Callable[[Compact], None]:
    def spoil(compact: Compact) -> None:
        compact.__class__ = kind

    return spoil


FLAWS: dict[str, Callable[[Compact], None]] = {
    "mark first": _before(_MarkFirst),
    "file by file": _before(_FileByFile),
    "any id": _as(_AnyIdCompact),
    "unflagging": _as(_Unflagging),
    "unchecked": _as(_Unchecked),
}

# --- orders ----------------------------------------------------------------------------


class Orders:
    """What `crash_work` asks of the work it does."""

    def __init__(self, folder: str) -> None:
        self._place = tempfile.TemporaryDirectory(dir=folder)
        self._template = Template(Path(self._place.name, "template"))

    def warm_up(self, folder: str) -> None:
        """Once, undisturbed, for whatever is imported on use."""
        with tempfile.TemporaryDirectory(dir=folder) as place:
            memory, told = os.path.join(place, "m"), os.path.join(place, "told")
            self._work(memory, told, {}, lambda: None)
            judge_both(memory, Path(told).read_text())

    def do_the_work(self, memory: str, told: str, order: dict[str, Any], here: int, go: int) -> None:
        """In a child: get ready, say so, and begin when strace has hold of it."""
        ctypes.CDLL(None).prctl(crash_work._PR_SET_PTRACER, crash_work._ANY, 0, 0, 0)

        def wait() -> None:
            os.write(here, b"!")
            os.read(go, 1)

        self._work(memory, told, order, wait)

    def _work(self, memory: str, told: str, order: dict[str, Any], wait: Callable[[], None]) -> None:
        fd = self._template.copy(memory, told)
        spoil = FLAWS.get(order.get("flaw", ""))
        talk = self._template.talk(lambda: open_memory(memory, spoil=spoil), tell_to(fd))
        wait()
        for step in STEPS:
            step(talk)


# --- several at once -------------------------------------------------------------------


class Talker(Actor):
    """A process that runs one function of this module."""

    script = __file__


def talk_on(path: str, number: int) -> None:
    """Record in a session of its own until let go. Results come late, in any order; one never does."""
    chance = random.Random(number)
    stop = threading.Event()

    def listen() -> None:
        wait_to_be_let_go()
        stop.set()

    threading.Thread(target=listen, daemon=True).start()
    memory = open_memory(path, session=f"session-{number}", policy=CROWD)
    told: list[str] = []
    waiting: list[str] = []

    def record(**asked: Any) -> None:
        told.append(memory.record(**asked).id)
        time.sleep(chance.random() * 0.04)  # a model takes longer

    for turn in itertools.count():
        record(user=f"Talker {number}, question {turn}: never delete file_{number}_{turn}.py.")
        for each in range(chance.choice((1, 1, 2))):
            waiting.append(f"call-{number}-{turn}-{each}")
            record(tool_call="look", tool_args={"at": turn}, tool_call_id=waiting[-1])
        if stop.is_set():
            break
        while len(waiting) > chance.choice((0, 1, 2)):
            call = waiting.pop(chance.randrange(len(waiting)))
            record(tool_result=f"result of {call} " * chance.randrange(1, 6), tool_call_id=call)
        record(assistant=f"Talker {number}, answer {turn}.")
    memory.close()
    say(told)


class Slow:
    """A distiller that takes its time, as a model does; if it can, until another one is at work too."""

    name = "slow/1"

    def __init__(self, path: str, number: int) -> None:
        self._own, self._other = (Path(f"{path}-distills-{each}") for each in (number, 1 - number))

    def distill(self, material: Material, tokens: int) -> Distilled:
        count = sum(1 for _ in material.traces())
        self._own.touch()
        for _ in range(50):
            if self._other.exists():
                break
            time.sleep(0.001)
        self._own.unlink()
        return Distilled(f"They said {count} things.")


class Counted(Compact):
    """Counts those that were dropped, because another came first."""

    dropped = 0

    def __call__(self, *args: Any, **more: Any) -> Any:
        before = self._read_head().mark
        loss = super().__call__(*args, **more)
        if loss is None and self._read_head().mark != before:
            Counted.dropped += 1
        return loss


def compact_on(path: str, number: int, enough: int, flaw: str, claims: bool) -> None:
    """Ask for messages and for compactions, one after the other, until there are enough marks. Without `claims` as on
    a share, where locks may not hold: only the mark decides."""
    spoil = FLAWS[flaw] if flaw else _as(Counted)
    memory = open_memory(path, spoil=spoil, distiller=Slow(path, number), policy=CROWD)
    if not claims:
        memory.parts.claim = lambda chore: nullcontext(True)  # type: ignore[method-assign]
    told: dict[str, Any] = {"crowded": 0, "given": 0, "wrong": []}
    while len(marks_of(memory)) < enough:
        try:
            memory.window.compact()
            if cost(memory.window.messages()) > memory.window.budget().input:
                told["wrong"].append("messages were given that do not fit")
            told["given"] += 1
            if told["given"] % 3 == 0:
                memory.window.request_compaction()
        except Refused as refused:
            if CROWDED in str(refused):
                told["crowded"] += 1
            else:
                told["wrong"].append(str(refused))
    memory.close()
    say(told | {"dropped": Counted.dropped})


# --- one after the other ---------------------------------------------------------------


def use(path: str, tokens: int, kill: bool) -> None:
    """Say what a provider reported, and end, by a signal or not."""
    memory = open_memory(path)
    say(memory.window.report_usage(prompt_tokens=tokens))
    if kill:
        os.kill(os.getpid(), signal.SIGKILL)
    memory.close()


def ask(path: str) -> None:
    """Ask for messages; say what was asked for before and after, how many marks there were, and what they cost."""
    with open_memory(path) as memory:
        before = [memory.window.compaction_requested, len(marks_of(memory))]
        messages = memory.window.messages()
        say([before, [memory.window.compaction_requested, len(marks_of(memory))], cost(messages)])


def main() -> None:
    orders = Orders(sys.argv[1])
    vars(crash_work).update(do_the_work=orders.do_the_work, warm_up=orders.warm_up, judge=judge_both)
    crash_work.main()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main()
    else:
        globals()[sys.argv[1]](*json.loads(sys.argv[2]))
