"""Processes that record, distill and decide, and what must be true of a memory in which one of them was ended.

Started by the tests in two ways. `python -I -S -B place_work.py FOLDER` carries out the orders of `crash_work`, with
the work below in place of its own; `"flaw"` in an order names what it does wrong. `python place_work.py FUNCTION
ARGUMENTS` runs one function of this module; see `actors`.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
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

from actors import Actor, say  # noqa: E402
from looseleaf import Memory  # noqa: E402
from looseleaf.base.errors import Refused  # noqa: E402
from looseleaf.base.ids import new_id  # noqa: E402
from looseleaf.base.messages import Trace  # noqa: E402
from looseleaf.distill.make_entry import EntryWriter  # noqa: E402
from looseleaf.facts.placement import PlacePlan  # noqa: E402
from looseleaf.place.placer import Placer  # noqa: E402
from looseleaf.store import files  # noqa: E402
from placing import RULES, THEN, Stub, entries, journal, pages  # noqa: E402
from scripts import crash_work  # noqa: E402
from workload import Verdict  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from looseleaf.base.messages import Material
    from looseleaf.distill.make_entry import MadeEntry
    from looseleaf.place.placer import Placed
    from looseleaf.store.disk import Disk

NOTES = (("use Postgres", "decisions", "use Postgres"), ("TODO", "tasks", "write the importer"))

FIRST: tuple[dict[str, Any], ...] = (
    {"user": "I live in Berlin and I'm Zhang San. TODO: write the importer."},
    {"assistant": "So I note that you like tea."},
)
SECOND: tuple[dict[str, Any], ...] = (
    {"user": "I like tea, and I moved from Berlin to Paris. We use Postgres."},
    {"tool_call": "web", "tool_args": {}, "tool_call_id": "c1"},
    {"tool_result": "He said: I like jazz", "tool_call_id": "c1"},
)


def distiller() -> Stub:
    return Stub(RULES, notes=NOTES, episode={"title": "Zhang San", "task": "talk"})


def open_memory(folder: str | os.PathLike[str], disk: Disk | None = None) -> Memory:
    real = vars(files)["this_disk"]
    if disk is not None:
        vars(files)["this_disk"] = lambda: disk
    try:
        return Memory(folder, distiller=distiller(), session="work")
    finally:
        vars(files)["this_disk"] = real


# --- the work --------------------------------------------------------------------------


def steps(memory: Memory) -> Iterator[object]:
    """All of it, or what is left of it: nothing is done that was done before."""
    traces = (Trace.from_record(line.record) for line in memory.parts.context.store.read("traces/main"))
    there = [trace.trace_type for trace in traces if trace is not None]
    for number, told in enumerate((FIRST, SECOND)):
        begun = len(FIRST) * number
        for at, asked in enumerate(told[max(0, len(there) - begun) :], max(0, len(there) - begun)):
            yield memory.record(**asked, ts=THEN + 100 * number + at)
        if number or len(there) <= len(FIRST):  # else it was distilled before the next thing was said
            yield memory.distill()
    for fact in memory.facts():
        if fact.level == "tainted":
            yield memory.review.approve(fact.id or "")
    for fact in memory.facts():
        if (fact.relation, fact.object) == ("Home", "Paris"):
            yield memory.review.correct(fact.id or "", "Lyon")


def work(folder: str | os.PathLike[str], disk: Disk | None = None) -> Iterator[object]:
    memory = open_memory(folder, disk)
    yield from steps(memory)
    memory.close()


# --- the verdict -----------------------------------------------------------------------

_NEW = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b|\bf_[0-9a-f]{12}\b|\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?")


def seen(memory: Memory) -> dict[str, Any]:
    """What a memory says, without ids and times that are new in each run."""
    facts = [each for status in _STATUS for each in memory.facts(status=status)]
    return {
        "pages": {path: _NEW.sub("<new>", data.decode()) for path, data in pages(memory).items()},
        "facts": sorted(
            [each.relation, each.object, each.status, str(each.level), str(len(each.sources))]
            for each in facts
        ),
        "entries": len(entries(memory)),
        "placed": len({record["entry"] for record in journal(memory, "placed") if record.get("entry")}),
    }


_STATUS = ("current", "superseded", "pending", "rejected")
_expected: dict[str, Any] = {}


def expected() -> dict[str, Any]:
    """What the undisturbed work leaves."""
    if not _expected:
        with tempfile.TemporaryDirectory() as folder:
            list(work(folder))
            with open_memory(folder) as memory:
                _expected.update(seen(memory))
    return _expected


def make(folder: str | os.PathLike[str]) -> None:
    """Nothing is there before the work; what it leaves is found out while nothing is wrong with it."""
    expected()


def judge(folder: str | os.PathLike[str], told: str = "") -> Verdict:
    """A new process does what is left: then all must be as if nothing had happened."""
    verdict = Verdict()
    wanted = expected()
    try:
        with open_memory(folder) as memory:
            verdict.lost += _doubled(memory)
            list(steps(memory))
            found = seen(memory)
            verdict.lost += [
                f"{name}: {found[name]} and not {wanted[name]}"
                for name in wanted
                if found[name] != wanted[name]
            ]
            verdict.lost += _doubled(memory)
            before = pages(memory), len(journal(memory))
            if memory.distill() or (pages(memory), len(journal(memory))) != before:
                verdict.lost.append("distilling again changes something")
            verdict.lost += [str(each) for each in memory.check() if each.severity == "error"]
        with open_memory(folder) as memory:
            if seen(memory) != found:
                verdict.lost.append("another process sees something else")
    except (OSError, Refused) as error:
        verdict.shut.append(f"the memory does not go on by itself: {type(error).__name__}: {error}")
    return verdict


def _doubled(memory: Memory) -> list[str]:
    current, waiting = (
        [(each.relation, each.object) for each in memory.facts(status=status)]
        for status in ("current", "pending")
    )
    twice = {each for each in current if current.count(each) > 1}
    return [f"twice: {each}" for each in sorted(twice | (set(current) & set(waiting)))]


# --- flaws -----------------------------------------------------------------------------

_entry, _lines, _stretch = Placer.entry, PlacePlan._held_in, EntryWriter.stretch


def _placed_first(self: Placer, entry: Any, through: Any = None, lost: Any = None) -> Placed:
    """That it was placed is journaled before it is done."""
    if through is not None:
        self.pass_over(str(entry.meta["agent"]), through)
    return _entry(self, entry, None, lost)


def _left_alone(self: PlacePlan, topic: str) -> Any:
    """A line whose fact has ended is left where a crash left it."""
    if topic not in self._held:
        self._held[topic] = self._load(topic)
    return self._held[topic]


def _any_id(self: EntryWriter, *args: Any) -> MadeEntry:
    """An entry has another id each time it is made."""
    made = _stretch(self, *args)
    topic, _, entry = made.reference.rpartition("/")
    new = new_id()
    given = {name: data.replace(entry.encode(), new.encode()) for name, data in (made.files or {}).items()}
    return type(made)(f"{topic}/{new}", given)


FLAWS: dict[str, Callable[[], None]] = {
    "": lambda: None,
    "placed first": lambda: setattr(Placer, "entry", _placed_first),
    "left alone": lambda: setattr(PlacePlan, "_held_in", _left_alone),
    "any id": lambda: setattr(EntryWriter, "stretch", _any_id),
}


def mend() -> None:
    """Without any flaw again."""
    Placer.entry, PlacePlan._held_in, EntryWriter.stretch = _entry, _lines, _stretch  # type: ignore[method-assign]


# --- orders ----------------------------------------------------------------------------


def do_the_work(memory: str, told: str, order: dict[str, Any], here: int, go: int) -> None:
    """In a child: get ready, say so, and begin when strace has hold of it."""
    ctypes.CDLL(None).prctl(crash_work._PR_SET_PTRACER, crash_work._ANY, 0, 0, 0)
    Path(told).touch()
    FLAWS[order.get("flaw", "")]()
    os.write(here, b"!")
    os.read(go, 1)
    list(work(memory))


def warm_up(folder: str) -> None:
    expected()
    with tempfile.TemporaryDirectory(dir=folder) as place:
        judge(place)


def main() -> None:
    vars(crash_work).update(do_the_work=do_the_work, warm_up=warm_up, judge=judge)
    crash_work.main()


# --- two at once -----------------------------------------------------------------------


class Distilling(Actor):
    """A process that runs one function of this module."""

    script = __file__


class Patient(Stub):
    """A distiller that works until another one is at work too, if it comes."""

    def __init__(self, path: str, number: int) -> None:
        super().__init__(RULES)
        self._own, self._other = (Path(f"{path}-distills-{each}") for each in (number, 1 - number))

    def distill(self, material: Material, tokens: int) -> Any:
        self._own.touch()
        for _ in range(2000):
            if self._other.exists():
                break
            time.sleep(0.001)
        return super().distill(material, tokens)


def distill_here(path: str, number: int) -> None:
    """Distill, and say how many entries were placed, and whether both were at work at once: as on a share, where the
    claim of the one may not keep the other from it."""
    with Memory(path, distiller=Patient(path, number)) as memory:
        memory.parts.claim = lambda chore: nullcontext(True)  # type: ignore[method-assign]
        placed = memory.distill()
        say([len(placed), Path(f"{path}-distills-{1 - number}").exists()])


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main()
    else:
        globals()[sys.argv[1]](*json.loads(sys.argv[2]))
