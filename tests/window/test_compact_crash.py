"""A compaction that is killed, fails, or is made by two at once loses nothing, doubles nothing, and is made in the end.

With strace, a real SIGKILL before every system call of the work of `compaction`; on every system, a disk that ends
the process before, after or in the middle of every call, and one whose calls fail. Then several processes at once, and
a request that is made by one process and obeyed by another.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import traced
from compaction import (
    CROWD,
    ENTRIES,
    STEPS,
    TRACES,
    WHOLE,
    Talk,
    Template,
    cost,
    errors,
    judge_both,
    marks_of,
    open_memory,
    traces_of,
    wrongs,
)
from faults import DyingDisk, FaultyDisk
from killing import CHANGES, FaultyChanges, NamesOfCalls, ends, killed_at, orders_for, states
from looseleaf.base.errors import Refused
from looseleaf.base.ids import is_id
from looseleaf.memory.parts import Parts
from looseleaf.store.disk import Disk
from looseleaf.store.records import encode
from looseleaf.store.streams import stream_files
from scripts import compact_work
from scripts.compact_work import FLAWS, Talker, ask, compact_on, talk_on, use
from workload import JOURNAL, Verdict, tell_to
from workload import trace as made_by_hand

if TYPE_CHECKING:
    from collections.abc import Callable

    from compaction import Step
    from looseleaf.memory import Memory

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and signals")

CRASHING = ("mark first", "file by file", "any id", "unflagging")
"""Flaws that a crash brings to light."""


@dataclass
class Tally:
    """What a sweep found; prints as its figures."""

    sites: int = 0
    lost: int = 0
    doubled: int = 0
    shut: int = 0
    sentences: list[str] = field(default_factory=list)

    def count(self, where: str, verdict: Verdict) -> None:
        twice = sum("twice: " in sentence for sentence in verdict.lost)
        self.sites += 1
        self.lost += len(verdict.lost) > twice
        self.doubled += twice > 0
        self.shut += bool(verdict.shut)
        self.sentences += [f"{where}: {sentence}" for sentence in verdict.sentences]

    def __str__(self) -> str:
        return f"sites={self.sites} lost={self.lost} doubled={self.doubled} failed_opens={self.shut}"


@pytest.fixture(autouse=True)
def compaction_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a compaction's entry brings onto pages is placed after it is done, and has a sweep of its own."""
    monkeypatch.setattr(Parts, "place", lambda self, entry: None)


@pytest.fixture
def template(place: Path) -> Template:
    return Template(place / "template")


# --- strace ----------------------------------------------------------------------------


orders = orders_for(compact_work)


def kill_at(where: Iterable[tuple[str, int]], place: Path, **how: str) -> Tally:
    tally = Tally()
    for site, lost, shut in killed_at(where, place, **how):
        tally.count(site, Verdict(lost, shut))
    return tally


@pytest.mark.long
def test_a_sigkill_before_some_system_calls_of_a_compaction_harms_nothing(place: Path) -> None:
    calls = {name: count for name, count in traced.count_calls(place).items() if name != "writev"}
    # One of each kind, in the middle of the work; but `writev`, with which it tells what it did.
    tally = kill_at([(name, (count + 1) // 2) for name, count in sorted(calls.items())], place)
    print(tally)
    assert not tally.sentences
    assert tally.sites > 0.75 * len(calls)


@pytest.mark.long
def test_a_sigkill_before_every_change_of_a_compaction_harms_nothing(place: Path) -> None:
    where = traced.kill_sites(traced.count_calls(place))
    tally = kill_at(where, place)
    print(f"\n{tally}")
    assert not tally.sentences
    assert tally.sites > 0.75 * len(where)


@pytest.mark.long
def test_a_compaction_that_marks_before_it_publishes_is_found_by_a_sigkill(place: Path) -> None:
    tally = kill_at([("renameat2", 1)], place, flaw="mark first")  # its first entry would become visible
    print(tally)
    assert tally.lost > 0


@pytest.mark.long
def test_a_compaction_that_marks_before_it_publishes_fails_the_sigkill_sweep(place: Path) -> None:
    where = traced.sites(traced.count_calls(place, flaw="mark first"))
    # An entry becomes visible, a log is rotated.
    renames = [site for site in where if site[0] == "renameat2"]
    tally = kill_at(renames, place, flaw="mark first")
    print(tally)
    assert tally.lost > 0


# --- a disk that ends the process ------------------------------------------------------


class Site(NamedTuple):
    """A call of the work: its number, its name, in which step it is made, and how the process ends there."""

    number: int
    call: str
    step: Step
    how: str

    def __str__(self) -> str:
        return f"{self.how} call {self.number} ({self.call})"


def do_all(template: Template, memory: Path, told: Path, disk: Disk, flaw: str = "") -> Iterator[Step]:
    """The work, step by step."""
    fd = template.copy(memory, told)
    talk = template.talk(lambda: open_memory(memory, disk, FLAWS.get(flaw)), tell_to(fd))
    for step in STEPS:
        step(talk)
        yield step
    os.close(fd)


def dying_sites(template: Template, place: Path, flaw: str = "") -> list[Site]:
    """Every call of the undisturbed work."""
    memory, told = place / "whole", place / "told-whole"
    disk = NamesOfCalls()
    found: list[Site] = []
    done = 0
    for step in do_all(template, memory, told, disk, flaw):
        for number, name in enumerate(disk.seen[done:], done + 1):
            ways = ("before", "half", "after") if name == "write" else ("before", "after")
            found += [Site(number, name, step, how) for how in ways]
        done = len(disk.seen)
    assert judge_both(memory, told.read_text()).sentences == []
    shutil.rmtree(memory)
    return found


def end_at(
    where: Iterable[Site], template: Template, place: Path, flaw: str = "", *, until_wrong: bool = False
) -> Tally:
    tally = Tally()
    memory, told = place / "memory", place / "told"
    for site in where:
        disk = DyingDisk(site.number, site.how)
        assert ends(partial(list, do_all(template, memory, told, disk, flaw))), f"{site} did not fire"
        tally.count(str(site), judge_both(memory, told.read_text()))
        shutil.rmtree(memory)
        if until_wrong and tally.sentences:
            break
    return tally


def end_again(where: Iterable[Site], template: Template, place: Path, stride: int) -> Tally:
    """The process that comes after one that was ended is ended too, at every so many of its calls."""
    tally = Tally()
    memory, told, copy = place / "memory", place / "told", place / "again"

    def next_call(disk: Disk) -> None:
        open_memory(copy, disk).window.messages()

    for site in where:
        assert ends(partial(list, do_all(template, memory, told, DyingDisk(site.number, site.how)))), (
            f"{site} did not fire"
        )
        number, died = 1 + site.number % stride, True
        while died:
            shutil.copytree(memory, copy)
            died = ends(partial(next_call, DyingDisk(number, "after")))
            if died:
                tally.count(f"{site}, then after call {number}", judge_both(copy, told.read_text()))
            shutil.rmtree(copy)
            number += stride
        shutil.rmtree(memory)
    return tally


def changes_of_compactions(template: Template, place: Path, flaw: str = "") -> list[Site]:
    return [
        site
        for site in dying_sites(template, place, flaw)
        if site.step is Talk.messages and site.call in CHANGES and site.how != "before"
    ]


def test_a_process_that_ends_around_some_calls_harms_nothing(template: Template, place: Path) -> None:
    tally = end_at(dying_sites(template, place)[::2503], template, place)
    print(tally)
    assert not tally.sentences


def test_a_process_that_ends_in_or_after_many_a_change_that_a_compaction_makes_harms_nothing(
    template: Template, place: Path
) -> None:
    tally = end_at(changes_of_compactions(template, place)[::61], template, place)
    print(tally)
    assert not tally.sentences


def test_a_crash_in_the_compaction_after_a_crash_harms_nothing(template: Template, place: Path) -> None:
    tally = end_again(changes_of_compactions(template, place)[5::67], template, place, 211)
    print(tally)
    assert not tally.sentences
    assert tally.sites > 0


@pytest.mark.long
def test_a_crash_in_the_compaction_after_any_crash_harms_nothing(template: Template, place: Path) -> None:
    tally = end_again(changes_of_compactions(template, place), template, place, 41)
    print(f"\n{tally}")
    assert not tally.sentences


@pytest.mark.long
def test_a_process_that_ends_around_every_change_harms_nothing(template: Template, place: Path) -> None:
    where = states(dying_sites(template, place))
    tally = end_at(where, template, place)
    print(f"\n{tally}")
    assert not tally.sentences
    assert tally.sites == len(where)


@pytest.mark.parametrize(
    "flaw",
    [
        *CRASHING[:2],  # which are found at once
        *(pytest.param(flaw, marks=pytest.mark.long) for flaw in CRASHING[2:]),
    ],
)
def test_a_compaction_with_a_flaw_fails_the_sweep(template: Template, place: Path, flaw: str) -> None:
    names = ("write", "rename_new")
    where = [
        site
        for site in changes_of_compactions(template, place, flaw)
        if site.call in names and site.how == "after"
    ]
    tally = end_at(where, template, place, flaw, until_wrong=True)
    print(f"{flaw}: {tally}")
    assert tally.sentences
    print(tally.sentences[0])


def test_the_judge_sees_what_is_lost_doubled_or_not_whole(template: Template, place: Path) -> None:
    memory, told, copy = place / "memory", place / "told", place / "damaged"
    list(do_all(template, memory, told, Disk()))
    traces, journal = (copy / stream_files(stream)[0] for stream in (TRACES, JOURNAL))

    def entry() -> Path:
        return min((copy / ENTRIES).iterdir())

    def last_mark() -> bytes:
        return [line for line in journal.read_bytes().splitlines(keepends=True) if b'"mark"' in line][-1]

    damages: dict[str, Callable[[], object]] = {
        "is not where it belongs": lambda: traces.write_bytes(b""),
        "from nowhere": lambda: traces.write_bytes(traces.read_bytes() + encode(made_by_hand("And then?"))),
        "which is not there": lambda: shutil.rmtree(entry()),
        "is not whole": lambda: os.unlink(entry() / "raw.md"),
        "entries were made of": lambda: shutil.copytree(entry(), entry().with_name("Z" * 26)),
        "is named by marks": lambda: journal.write_bytes(journal.read_bytes() + last_mark()),
    }
    for sentence, damage in damages.items():
        shutil.copytree(memory, copy)
        damage()
        verdict = judge_both(copy, told.read_text())
        assert any(sentence in each for each in verdict.lost), (sentence, verdict)
        shutil.rmtree(copy)
    assert judge_both(memory, told.read_text()).sentences == []


# --- a disk whose calls fail -----------------------------------------------------------


def doubts(disk: FaultyDisk, memory: Path, paths: list[str]) -> list[str]:
    """Why what was just acknowledged may not survive a power cut. Views need not, nor what is still staged."""
    log = (path for path in (memory / "log").rglob("*") if "staged" not in path.parts)
    disk.written &= {(found.st_dev, found.st_ino) for found in map(os.stat, log)}
    return disk.doubts(str(memory), paths)


class FailingSince(FaultyDisk):
    """Fails every call after an entry became visible, as if the process were killed there: not even its folder is
    synced."""

    def called(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        done = super().called(name, real, args)
        if name == "rename_new" and is_id(args[3]):
            self.arm(errno.EIO, 1, lasting=True)
        return done


def test_an_entry_that_a_crash_left_is_made_to_last_before_a_mark_names_it(
    template: Template, place: Path
) -> None:
    path = place / "memory"
    os.close(template.copy(path, place / "told"))
    disk = FailingSince()
    with open_memory(path, disk) as memory:
        with pytest.raises(Refused):
            memory.window.messages()
        assert disk.fired
        disk.heal()
    with open_memory(path, disk) as memory:
        memory.window.messages()
        [mark] = marks_of(memory)
    assert doubts(disk, path, [f"log/entries/{mark.entry}/meta.json"]) == []


@dataclass
class Sweep:
    """The work, with one fault in every step: at its first call, then at its second, until no step has that many.

    `lasting`: it stays until the step was refused. `anew`: then another memory goes on, not the same one. `changes`:
    only calls that change something fail.
    """

    number: int
    lasting: bool = False
    anew: bool = False
    changes: bool = False
    stride: int = 1
    sites: int = 0
    refused: int = 0
    lost: int = 0
    doubled: int = 0
    sentences: list[str] = field(default_factory=list)

    def run(self, template: Template, place: Path) -> Sweep:
        at = 1
        while self._run_once(template, place, at):
            at += self.stride
        return self

    def _run_once(self, template: Template, place: Path, at: int) -> bool:
        """Whether the fault hit any step."""
        memory, told = place / "memory", place / "told"
        fd = template.copy(memory, told)
        disk = FaultyChanges() if self.changes else FaultyDisk()
        said: list[dict[str, Any]] = []
        tell = tell_to(fd)

        def tell_both(line: dict[str, Any]) -> None:
            said.append(line)
            tell(line)

        talk = template.talk(lambda: open_memory(memory, disk), tell_both, patient=True)
        hits = sum(self._do(step, talk, disk, said, memory, at) for step in STEPS)
        os.close(fd)
        if disk.open_handles:
            self.sentences.append(f"call {at}: {len(disk.open_handles)} files were left open")
        tally = Tally()
        tally.count(f"call {at}", judge_both(memory, told.read_text()))
        self.lost += tally.lost + tally.shut
        self.doubled += tally.doubled
        self.sentences += tally.sentences
        self.sites += hits
        shutil.rmtree(memory)
        return hits > 0

    def _do(
        self, step: Step, talk: Talk, disk: FaultyDisk, said: list[dict[str, Any]], memory: Path, at: int
    ) -> bool:
        disk.arm(self.number, at, lasting=self.lasting)
        refusal = self._step(step, talk, said)
        disk.heal()
        if not disk.fired:
            return False
        where = f"call {at} ({disk.fired[0]})"
        if refusal:
            self.refused += 1
            if not refusal["sentence"].endswith("."):
                self.sentences.append(f"{where}: {refusal}")
            if self.anew:
                talk.close()
                if self.lasting:
                    # The disk did not even let the file be left behind, and what a process knew of it dies with it.
                    disk.failed.clear()
            disk.written = set()
            again = self._step(step, talk, said)
            if again:
                self.sentences.append(f"{where}: the next call did not work: {again}")
        if step is not Talk.close:  # which writes nothing but views
            found = doubts(disk, memory, self._paths(step, memory))
            self.sentences += [f"{where}: acknowledged, but {doubt}" for doubt in found]
        return True

    def _step(self, step: Step, talk: Talk, said: list[dict[str, Any]]) -> dict[str, Any] | None:
        """The refusal, if it was one. Anything else that flies is a failure of the test."""
        before = len(said)
        step(talk)
        return next((line for line in said[before:] if "refused" in line), None)

    def _paths(self, step: Step, memory: Path) -> list[str]:
        """The files on whose names an acknowledgement rests."""
        if step not in (Talk.messages, Talk.usage):
            return [stream_files(TRACES)[0]]
        with open_memory(memory) as other:
            entries = [mark.entry.rpartition("/")[2] for mark in marks_of(other) if mark.entry]
        names = [f"{ENTRIES}/{entry}/{name}" for entry in entries for name in sorted(WHOLE)]
        return [stream_files(JOURNAL)[0], *names]

    @property
    def name(self) -> str:
        traits = {"from there on": self.lasting, "a new memory": self.anew, "changes": self.changes}
        return ", ".join([errno.errorcode[self.number], *(trait for trait, has in traits.items() if has)])

    def __str__(self) -> str:
        return (
            f"{self.name}: sites={self.sites} refused={self.refused} lost={self.lost} doubled={self.doubled} "
            f"wrong={len(self.sentences)}"
        )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "sweep",
    [
        Sweep(errno.ENOSPC, changes=True, stride=37),
        Sweep(errno.EIO, changes=True, lasting=True, anew=True, stride=37),
        Sweep(errno.EIO, anew=True, stride=307),
        Sweep(errno.ENOSPC, lasting=True, stride=307),
    ],
    ids=lambda sweep: sweep.name,
)
def test_an_error_of_the_disk_refuses_one_call_and_harms_nothing(
    template: Template, place: Path, sweep: Sweep
) -> None:
    sweep.run(template, place)
    print(sweep)
    assert sweep.sentences == []
    assert sweep.sites > sweep.refused > 0


@pytest.mark.long
@pytest.mark.parametrize(
    "sweep",
    [
        Sweep(errno.ENOSPC),
        Sweep(errno.ENOSPC, lasting=True),
        Sweep(errno.EIO, anew=True),
        Sweep(errno.EIO, lasting=True, anew=True),
    ],
    ids=lambda sweep: sweep.name,
)
def test_an_error_at_every_call_harms_nothing(template: Template, place: Path, sweep: Sweep) -> None:
    sweep.run(template, place)
    print(f"\n{sweep}")
    assert sweep.sentences == []


# --- several at once -------------------------------------------------------------------


@dataclass
class Together:
    """What talkers and compactors came to, and what is wrong with it."""

    traces: int = 0
    made: int = 0
    dropped: int = 0
    crowded: int = 0
    given: int = 0
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lost = sum("twice: " not in sentence for sentence in self.wrong)
        return (
            f"traces={self.traces} compactions={self.made} dropped={self.dropped} crowded={self.crowded} "
            f"prompts={self.given} lost={lost} doubled={len(self.wrong) - lost}"
        )


def together(path: Path, enough: int, flaw: str = "", *, claims: bool = False) -> Together:
    """Four processes record and two compact, until there were so many compactions."""
    with open_memory(path, policy=CROWD) as memory:
        first = [memory.record(user="Good morning.").id, memory.record(assistant="Good morning.").id]
    with ExitStack() as stack:
        talkers = [stack.enter_context(Talker(talk_on, str(path), number)) for number in range(4)]
        compactors = [
            stack.enter_context(Talker(compact_on, str(path), number, enough, flaw, claims))
            for number in range(2)
        ]
        ends = [each.let_go() for each in compactors]
        told = [first, *(each.let_go() for each in talkers)]
    found = Together(sum(map(len, told)))
    for end in ends:
        found.dropped += end["dropped"]
        found.crowded += end["crowded"]
        found.given += end["given"]
        found.wrong += end["wrong"]
    with open_memory(path, policy=CROWD) as memory:
        found.wrong += wrong_together(memory, told)
        found.made = len(marks_of(memory))
    return found


def wrong_together(memory: Memory, told: list[list[str]]) -> Iterator[str]:
    log = traces_of(memory)
    ids = [trace.id for trace in log]
    for own in told:
        known = set(own)
        if [each for each in ids if each in known] != own:
            yield "what a talker recorded is not there once, in its order"
    if len(ids) > sum(map(len, told)):
        yield "twice: there are traces that nobody recorded"
    sessions: dict[str, set[str]] = {}
    for trace in log:
        sessions.setdefault(trace.turn_id, set()).add(trace.session_id)
    if any(len(own) > 1 for own in sessions.values()):
        yield "twice: a turn was given to two sessions"
    if len(sessions) != sum(trace.trace_type == "user" for trace in log):
        yield "twice: a turn was given to two questions"
    if any(times > 1 for times in Counter((trace.turn_id, trace.seq) for trace in log).values()):
        yield "twice: a number was given to two traces of a turn"
    yield from wrongs(memory)
    if cost(memory.window.messages()) > memory.window.budget().input:
        yield "the last window does not fit"
    yield from wrongs(memory)
    answered = {trace.tool_call_id for trace in log if trace.trace_type == "tool_result"}
    waiting = {
        trace.id for trace in log if trace.trace_type == "tool_call" and trace.tool_call_id not in answered
    }
    if not waiting:
        yield "no call was left open: this shows nothing"
    if not waiting <= {trace.id for trace in memory.window.read().traces}:
        yield "an open call was summarised away"
    yield from errors(memory)


def test_two_compactors_and_four_recorders_lose_and_double_nothing(place: Path) -> None:
    found = together(place / "memory", 3)
    print(found)
    assert found.wrong == []
    assert found.dropped > 0  # they did meet


def test_of_two_compactors_one_works_at_a_time_and_none_works_in_vain(place: Path) -> None:
    found = together(place / "memory", 2, claims=True)
    print(found)
    assert found.wrong == []
    assert found.dropped == 0


@pytest.mark.long
def test_two_compactors_and_four_recorders_lose_and_double_nothing_for_long(place: Path) -> None:
    found = together(place / "memory", 200)
    print(f"\n{found}")
    assert found.wrong == []
    assert found.dropped > 10


@pytest.mark.long
def test_compactors_that_do_not_look_at_the_mark_again_go_wrong(place: Path) -> None:
    found = together(place / "memory", 3, "unchecked")
    print(f"unchecked: {found}")
    assert found.wrong


# --- one after the other ---------------------------------------------------------------


@pytest.fixture
def idle(place: Path) -> Path:
    """A memory whose window fits, and could be compacted."""
    path = place / "idle"
    with open_memory(path) as memory:
        for number in range(5):
            memory.record(user=f"Question {number}")
            memory.record(assistant=f"Answer {number}")
    return path


@pytest.mark.parametrize(
    ("over", "flag", "kill"),
    [
        ("early", "early", True),
        ("input", "hard", False),
        pytest.param("early", "early", False, marks=pytest.mark.long),
        pytest.param("input", "hard", True, marks=pytest.mark.long),
    ],
)
def test_a_request_is_obeyed_by_the_next_process_and_known_to_be_done_by_the_one_after(
    idle: Path, over: str, flag: str, kill: bool
) -> None:
    with open_memory(idle) as memory:
        room = memory.window.budget().input
        tokens = getattr(memory.window.budget(), over)
    for reported, said in ((tokens, None if flag == "early" else "early"), (tokens + 1, flag)):
        with Talker(use, str(idle), reported, kill) as first:
            assert first.hear() == said
            first.process.communicate()
            assert first.process.returncode == (-signal.SIGKILL if kill else 0)
    with Talker(ask, str(idle)) as second:
        before, after, tokens = second.let_go()
    assert before == [flag, 0]
    assert after == [None, 1]
    assert tokens <= room
    with Talker(ask, str(idle)) as third:
        assert third.let_go() == [[None, 1], [None, 1], tokens]


def test_a_weaker_request_does_not_replace_a_stronger_one_of_another_process(idle: Path) -> None:
    with open_memory(idle) as memory:
        budget = memory.window.budget()
    for tokens, said in ((budget.input + 1, "hard"), (budget.early + 1, "early")):
        with Talker(use, str(idle), tokens, False) as actor:
            assert actor.let_go() == said
    with Talker(ask, str(idle)) as actor:
        assert actor.let_go()[:2] == [["hard", 0], [None, 1]]


def test_a_request_of_a_memory_in_which_nothing_was_said_is_nothing_to_do(place: Path) -> None:
    with open_memory(place / "empty") as memory:
        memory.window.request_compaction()
        assert memory.window.messages() == []
        assert memory.window.compaction_requested is None
        assert memory.window.compact() is None


def test_without_a_request_the_next_process_compacts_nothing(idle: Path) -> None:
    with Talker(ask, str(idle)) as actor:
        assert actor.let_go()[:2] == [[None, 0], [None, 0]]
