"""A conversation that is compacted, and what must be true of its memory afterwards, whatever hit it.

`Talk` records, asks for compactions and lets them happen, and tells before and after each call what it asks and what
was acknowledged. `judge` opens the folder as another process would, and says everything that is wrong: a trace that is
lost or there twice, an entry that is not whole or made a second time, a mark that does not follow from the one before,
a trace that is neither shown nor distilled, or both; a request that was forgotten; a window that does not fit.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from looseleaf.base.errors import Refused
from looseleaf.base.messages import Trace
from looseleaf.base.policy import Policy
from looseleaf.base.values import sha256
from looseleaf.log.turns import Mark
from looseleaf.memory import Memory
from looseleaf.store import JOURNAL, files
from looseleaf.store.records import to_json
from looseleaf.window.compact import Compact
from looseleaf.window.window import count_messages
from workload import Verdict, calls_told, digest

if TYPE_CHECKING:
    from looseleaf.base.messages import Distiller, Message
    from looseleaf.store.disk import Disk
    from workload import Tell

POLICY = Policy(
    context_tokens=1000,
    max_tokens=200,
    safety_margin_tokens=50,
    tail_turns=2,
    compact_to=0.85,
    segment_bytes=6000,
    lock_seconds=20.0,
)
"""Small numbers, so that a short talk fills its window and rotates its log."""

CROWD = Policy(context_tokens=4250, max_tokens=200, safety_margin_tokens=50, tail_turns=2, segment_bytes=6000)
"""For several who talk at once: what they say while somebody compacts should find room."""

AGENT = "main"
TRACES = f"traces/{AGENT}"
ENTRIES = "log/entries/sessions"
WHOLE = {"raw.md", "meta.json", "summary.json"}


def tokens_of(text: str) -> int:
    return len(text) // 4 + 1


def cost(messages: Sequence[Message]) -> int:
    return count_messages(messages, lambda texts: [tokens_of(text) for text in texts])


def open_memory(
    folder: str | os.PathLike[str],
    disk: Disk | None = None,
    spoil: Callable[[Compact], None] | None = None,
    session: str = "work",
    distiller: Distiller | None = None,
    policy: Policy = POLICY,
) -> Memory:
    """A memory on a chosen disk, with plain counting; `spoil` may have its compactions do wrong."""
    real = vars(files)["this_disk"]
    if disk is not None:
        vars(files)["this_disk"] = lambda: disk
    try:
        memory = Memory(folder, policy=policy, session=session, counter=tokens_of, distiller=distiller)
    finally:
        vars(files)["this_disk"] = real
    if spoil is not None:
        spoil(memory.parts.conversation._compact)
    return memory


# --- the work --------------------------------------------------------------------------


class Talk:
    """Calls of a memory, told before they begin and when they are acknowledged (or, if `patient`, refused)."""

    def __init__(
        self, open_: Callable[[], Memory], tell: Tell, *, patient: bool = False, calls: int = 0
    ) -> None:
        self._open = open_
        self._tell = tell
        self._patient = patient
        self.calls = calls
        self._memory: Memory | None = None

    @property
    def memory(self) -> Memory:
        if self._memory is None:
            self._memory = self._open()
        return self._memory

    def close(self) -> None:
        memory, self._memory = self._memory, None
        if memory is not None:
            self._call({"do": "close"}, memory.close)

    def record(self, **asked: Any) -> None:
        """Every trace has a tag of its own: one that was not acknowledged has no id that anybody knows."""
        tag = f"call {self.calls + 1}"

        def record() -> None:
            trace = self.memory.record(tags=[tag], **asked)
            self._tell({"trace": digest(to_json(trace.to_record()))})

        self._call({"do": "record", "tag": tag}, record)

    def request(self) -> None:
        self._call({"do": "flag"}, self.memory.window.request_compaction)

    def usage(self) -> None:
        """Ask for a compaction of a window that would fit without one: only the flag can make it happen."""

        def use() -> None:
            budget = self.memory.window.budget()
            if self.memory.window.tokens() > budget.input:
                raise AssertionError("the window is over its budget without a flag already")
            if self.memory.window.report_usage(prompt_tokens=budget.early + 1) != "early":
                raise AssertionError("no flag was set")

        self._call({"do": "flag"}, use)

    def messages(self) -> None:
        def give() -> None:
            if cost(self.memory.window.messages()) > self.memory.window.budget().input:
                raise AssertionError("messages were given that do not fit")

        self._call({"do": "messages"}, give)

    def _call(self, told: dict[str, Any], act: Callable[[], object]) -> None:
        self.calls += 1
        number = self.calls
        self._tell(told | {"call": number})
        try:
            act()
        except Refused as refused:
            if not self._patient:
                raise
            self._tell({"refused": number, "as": type(refused).__name__, "sentence": str(refused)})
        else:
            self._tell({"done": number})


Step = Callable[[Talk], None]


def asked_in(number: int, *, answered: bool = True) -> list[dict[str, Any]]:
    """What is recorded in one turn."""
    call = f"c{number}"
    text = f"Question {number}: we decided on plan {number}. Never delete file_{number}.py."
    result = {"tool_result": f"line {number} of the file\n" * 26, "tool_call_id": call}
    return [
        {"user": text},
        {"tool_call": "read", "tool_args": {"path": f"src/file_{number}.py"}, "tool_call_id": call},
        *([result] if answered else []),
        {"assistant": f"Answer {number}, in a few words."},
    ]


def furnish(talk: Talk) -> int:
    """A window over its budget, a call that waits, and a compaction that is asked for. How many calls that took."""
    for number in range(1, 7):
        for asked in asked_in(number, answered=number != 2):
            talk.record(**asked)
    if talk.memory.window.tokens() <= talk.memory.window.budget().input:
        raise AssertionError("the window has room left")
    talk.request()
    talk.close()
    return talk.calls


def _recording(**asked: Any) -> Step:
    return lambda talk: talk.record(**asked)


STEPS: tuple[Step, ...] = (
    Talk.messages,
    _recording(tool_result="it came late", tool_call_id="c2"),
    *(_recording(**asked) for asked in asked_in(7, answered=False)),
    _recording(user="Question 8: and what is still open?"),
    _recording(assistant="The file of question 7 is."),
    Talk.usage,
    Talk.messages,
    _recording(user="And now?"),
    Talk.close,
)
"""One call each. Two compactions: of a window that is too full, and of one that would fit and is flagged."""


class Template:
    """A furnished memory to be copied, and what was told while it was made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        told: list[dict[str, Any]] = []
        self._calls = furnish(Talk(lambda: open_memory(folder), told.append))
        self.told = "".join(json.dumps(line) + "\n" for line in told)

    def copy(self, memory: str | os.PathLike[str], told: str | os.PathLike[str]) -> int:
        """A copy of both; what is told next is written to the file whose number is returned."""
        shutil.copytree(self.folder, memory, dirs_exist_ok=True)
        Path(told).write_text(self.told)
        return os.open(told, os.O_WRONLY | os.O_APPEND)

    def talk(self, open_: Callable[[], Memory], tell: Tell, *, patient: bool = False) -> Talk:
        return Talk(open_, tell, patient=patient, calls=self._calls)


# --- the verdict -----------------------------------------------------------------------


def judge(folder: str | os.PathLike[str], told: str, *, talk_first: bool = False) -> Verdict:
    """What is wrong. With `talk_first`, the next thing after the crash is not a call of the model but a trace."""
    verdict = Verdict()
    calls = calls_told(told)
    flags = [call.outcome for call in calls if call.told["do"] == "flag"]
    try:
        with open_memory(folder) as memory:
            asked = [
                (call.told["tag"], call.outcome, call.pages[0]["trace"] if call.pages else None)
                for call in calls
                if call.told["do"] == "record"
            ]
            verdict.lost += _compare(asked, traces_of(memory))
            # An unfinished last record is what a crash leaves; the next append cuts it.
            verdict.lost += [error for error in errors(memory) if "is not finished" not in error]
            if talk_first:
                memory.record(user="Where were we?")
            verdict.lost += _judge_next_call(memory, folder, flags)
            orphans = 1 if talk_first else 0
            verdict.lost += wrongs(memory, orphans=orphans)
            last = memory.record(user="Go on.")
            if memory.window.read().traces[-1] != last:
                verdict.lost.append("what is recorded next is not in the window")
            memory.window.request_compaction()
            memory.window.messages()
            if memory.window.compaction_requested is not None:
                verdict.lost.append("the next request is not obeyed")
            verdict.lost += errors(memory)
    except (OSError, Refused) as error:
        verdict.shut.append(f"the memory does not go on by itself: {type(error).__name__}: {error}")
    return verdict


def judge_both(folder: str | os.PathLike[str], told: str) -> Verdict:
    """Whatever comes next, a call of the model or a trace."""
    copy = f"{os.fspath(folder)}-copy"
    shutil.copytree(folder, copy)
    call, trace = judge(folder, told), judge(copy, told, talk_first=True)
    shutil.rmtree(copy)
    said = [f"if something is said first: {sentence}" for sentence in trace.lost]
    return Verdict(call.lost + said, call.shut + trace.shut)


def errors(memory: Memory) -> list[str]:
    return [f"check: {problem}" for problem in memory.check() if problem.severity == "error"]


def traces_of(memory: Memory) -> list[Trace]:
    found = (Trace.from_record(line.record) for line in memory.parts.context.store.read(TRACES))
    return [trace for trace in found if trace is not None]


def _compare(asked: list[tuple[str, str, str | None]], found: list[Trace]) -> Iterator[str]:
    """Every acknowledged trace once, in order and equal; the others whole or not at all."""
    at = 0
    for tag, outcome, value in asked:
        here = at < len(found) and tag in found[at].tags
        if outcome == "done" and not here:
            yield f"the trace of {tag} was acknowledged and is not where it belongs"
        if here and value is not None and digest(to_json(found[at].to_record())) != value:
            yield f"the trace of {tag} is not what was acknowledged"
        at += here
    for trace in found[at:]:
        yield f"twice: trace {trace.id} is there twice, out of order, or from nowhere ({trace.tags})"


def _judge_next_call(memory: Memory, folder: str | os.PathLike[str], flags: list[str]) -> Iterator[str]:
    """One compaction for each request, now if it was not before; and none for no request."""
    given = memory.window.messages()
    if max(cost(given), memory.window.tokens()) > memory.window.budget().input:
        yield "the window does not fit"
    if memory.window.compaction_requested is not None:
        yield "a compaction is still asked for after it was made"
    marks = len(marks_of(memory))
    least = flags.count("done")
    if not least <= marks <= least + flags.count("unknown"):
        yield f"{marks} compactions were made of {least} that were asked for"
    before = content(folder)
    if memory.window.messages() != given:
        yield "the messages are others when they are asked for again"
    with open_memory(folder) as other:
        if other.window.messages() != given:
            yield "another process is given other messages"
    if content(folder) != before:
        yield "asking for messages again changes the log"


def content(folder: str | os.PathLike[str]) -> dict[str, bytes]:
    """Every file of the log."""
    return {str(path): path.read_bytes() for path in Path(folder, "log").rglob("*") if path.is_file()}


def marks_of(memory: Memory) -> list[Mark]:
    records = (line.record for line in memory.parts.context.store.read(JOURNAL))
    return [Mark.from_record(record) for record in records if record.get("kind") == "mark"]


def wrongs(memory: Memory, *, orphans: int = 0) -> Iterator[str]:
    """What is wrong with the traces, marks, entries and window of a memory at rest.

    `orphans`: entries that no mark may name. A crash leaves one, if what was said after it led to another plan.
    """
    log = traces_of(memory)
    ids = [trace.id for trace in log]
    yield from (f"twice: trace {each} is there twice" for each, times in Counter(ids).items() if times > 1)
    places = {each: number for number, each in enumerate(ids)}
    entries: dict[str, list[Trace]] = {}
    sources: Counter[str] = Counter()
    for name in memory.parts.context.store.folders(ENTRIES):
        if {
            stat.path.rpartition("/")[2] for stat in memory.parts.context.store.list(f"{ENTRIES}/{name}")
        } != WHOLE:
            yield f"the entry {name} is not whole"
            continue
        entries[f"sessions/{name}"] = own = memory.talk.traces(name)
        source = memory.talk.entry(name).meta["source_sha256"]
        sources[source] += 1
        if source != sha256("\n".join(trace.id for trace in own).encode()):
            yield f"the entry {name} cannot be expanded to what it was made of"
        calls, results = (
            Counter(trace.tool_call_id for trace in own if trace.trace_type == kind)
            for kind in ("tool_call", "tool_result")
        )
        if calls - results:
            yield f"the entry {name} was made of calls without their results: {list(calls - results)}"
    yield from (f"twice: entries were made of {each}" for each, times in sources.items() if times > 1)
    marks = marks_of(memory)
    named = Counter(mark.entry for mark in marks if mark.entry)
    yield from (f"twice: the entry {each} is named by marks" for each, times in named.items() if times > 1)
    if len(entries.keys() - named.keys()) > orphans:
        yield f"no mark names {sorted(entries.keys() - named.keys())}"
    shown: set[str] = set()
    end = 0
    for mark in marks:
        at = places.get(mark.since, -1) + 1
        before, shown, end = shown | set(ids[end:at]), {*mark.tail, *mark.held}, max(end, at)
        if mark.entry is not None and mark.entry not in entries:
            yield f"the mark {mark.id} names the entry {mark.entry}, which is not there"
            continue
        gone = {trace.id for trace in entries.get(mark.entry or "", ())}
        if gone & shown:
            yield f"twice: the mark {mark.id} distilled and shows {sorted(gone & shown)}"
        is_cut = bool(mark.left) and mark.start[2] == mark.since  # what leaves then waits to be distilled
        if before - gone - shown and not is_cut:
            yield f"the mark {mark.id} neither distilled nor shows {sorted(before - gone - shown)}"
        if (gone | shown) - before:
            yield f"twice: the mark {mark.id} has traces that the one before it had not: it was planned from another"
    window = memory.window.read()
    seen = Counter(trace.id for trace in (*window.tail, *window.traces))
    if seen != Counter({*shown, *ids[end:]}):
        yield "the window does not show what its mark says and all that was said since"
