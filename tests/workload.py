"""Work for a store, and what must be true of the folder afterwards, whatever hit it.

`Work` drives a store through every kind of write and tells, before and after each call, what it asks and what was
acknowledged. `judge` reads what was told, opens the folder as a stranger would, and says everything that is wrong:
an acknowledged record that is missing, doubled, out of order or different; a page that is not what the journal says;
half an entry; an error of `check`; a next call that does not work.

The told lines are written outside the memory, by a system call that no fault is injected into.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from looseleaf.base.errors import Refused
from looseleaf.base.ids import new_id
from looseleaf.base.policy import Policy
from looseleaf.base.values import Hunk
from looseleaf.store import files
from looseleaf.store import streams as segments
from looseleaf.store.files import FileStore
from looseleaf.store.machines import FILE, Machines
from looseleaf.store.records import encode, to_json
from looseleaf.store.streams import stream_files
from looseleaf.store.this_machine import SCHEMA, VARIABLE

if TYPE_CHECKING:
    from looseleaf.base.values import Problem, Record

segments.RACY_NS = vars(files)["RACY_NS"] = 1 << 62
"""No list of an archive is remembered while faults are swept through: every run then makes the same calls."""

TINY = Policy(segment_bytes=1500, body_bytes=3000, lock_seconds=5.0)
"""Small numbers, so that a short piece of work rotates and moves texts out of their lines."""

SECOND = "LOOSELEAF_SWEEP_SECOND"
"""With this variable all sweeps do their work as the second machine of a memory, whose log is in `log/on/`."""

TRACES, JOURNAL, PROMPTS = "traces/main", "journal", "prompts/main"
Tell = Callable[[dict[str, Any]], None]
Open = Callable[[], FileStore]


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def make_folder(memory: str | os.PathLike[str]) -> None:
    """Make the folder of a memory, which has the log of another machine if this is the second one."""
    os.makedirs(memory)
    if os.environ.get(SECOND):
        claim = os.path.join(memory, FILE)
        os.mkdir(os.path.dirname(claim))
        with open(claim, "wb") as file:
            file.write(encode({"schema": SCHEMA, "id": "first", "place": [0, 0]}))


def placed(path: str) -> str:
    """Return where a file of this machine lies in such a folder."""
    return Machines(os.environ[VARIABLE], "first").place(path) if os.environ.get(SECOND) else path


def tell_to(fd: int) -> Tell:
    """Each line in one `writev`: faults are injected into `write`, and must not hit the witness."""

    def tell(line: dict[str, Any]) -> None:
        os.writev(fd, [json.dumps(line).encode() + b"\n"])

    return tell


# --- the work --------------------------------------------------------------------------


def trace(text: str) -> Record:
    return {
        "schema": "trace.v1",
        "id": new_id(),
        "ts": time.time(),
        "turn_id": "turn_0001",
        "seq": 1,
        "trace_type": "user",
        "content": text,
    }


def edit_of(path: str, old: bytes | None, new: bytes | None) -> Record:
    def lines(data: bytes | None) -> tuple[str, ...]:
        return tuple((data or b"").decode().splitlines(keepends=True))

    return {
        "schema": "journal.v1",
        "id": new_id(),
        "ts": time.time(),
        "kind": "edit",
        "path": path,
        "author": "a program",
        "reason": "to see whether it lasts",
        "base": None if old is None else digest(old),
        "new": None if new is None else digest(new),
        "diff": [Hunk(0, lines(old), lines(new)).to_dict()],
    }


def entry(text: str) -> dict[str, bytes]:
    return {
        "raw.md": f"# Raw\n\n{text}\n".encode(),
        "meta.json": to_json({"schema": "entry.v1", "id": new_id()}),
        "summary.json": to_json({"schema": "entry_summary.v1", "summary": text}),
    }


class Work:
    """Calls of a store, told before they begin and when they are acknowledged (or, if `patient`, refused)."""

    def __init__(self, open_store: Open, tell: Tell, *, patient: bool = False) -> None:
        self._open = open_store
        self._tell = tell
        self._patient = patient
        self._calls = 0
        self._store: FileStore | None = None
        self.acknowledged = 0

    @property
    def store(self) -> FileStore:
        if self._store is None:
            self._store = self._open()
        return self._store

    def reopen(self) -> None:
        if self._store is not None:
            self._store.close()
        self._store = None

    def append(self, stream: str, *texts: str) -> None:
        records = [trace(text) for text in texts]
        told = {"do": "append", "stream": stream, "records": _told(records), "bodies": _bodies(texts)}
        self._call(told, lambda: self.store.append(stream, records))

    def tear(self, stream: str) -> None:
        """Leave what a process leaves that is killed in the middle of a write."""
        try:
            path = placed(stream_files(stream)[0])
            with open(os.path.join(self.store.path, path), "ab", buffering=0) as file:
                file.write(b' {"schema":"trace.v1","id":"01')
        except (OSError, Refused):
            if not self._patient:
                raise

    def rotate(self, stream: str) -> None:
        self._call({"do": "rotate"}, lambda: self.store.rotate(stream))

    def write_page(self, path: str, text: str | None) -> None:
        """Create, edit or (None) delete a page, with its journal record."""

        def change() -> None:
            if self._patient:
                self.store.recover()  # an edit that was refused may have left the page in between
            found = self.store.get(path)
            if found is None and text is None:
                return  # deleted already, by the same step when it was refused
            old = None if found is None else found.data
            new = None if text is None else text.encode()
            record = edit_of(path, old, new)
            line = {"path": path, "base": record["base"], "new": record["new"], "edit": record["id"]}
            self._tell({"page": line, "stream": JOURNAL, "records": _told([record])})
            if new is not None:
                self.store.put(path, new, base=record["base"], record=record)
            elif found is not None:
                self.store.delete(path, base=found.sha256, record=record)

        self._call({"do": "page"}, change)

    def write_file(self, path: str, text: str | None) -> None:
        """Replace or (None) delete a document that is not journaled."""

        def change() -> None:
            found = self.store.get(path)
            if text is not None:
                self.store.put(path, text.encode(), base=None if found is None else found.sha256)
            elif found is not None:
                self.store.delete(path, base=found.sha256)

        new = None if text is None else digest(text.encode())
        self._call({"do": "file", "path": path, "new": new}, change)

    def view(self, path: str, text: str) -> None:
        told = {"do": "file", "path": path, "new": digest(text.encode())}
        self._call(told, lambda: self.store.view(path, text.encode()))

    def publish(self, text: str) -> None:
        folder = f"log/entries/tea/{new_id()}"
        files = entry(text)
        told = {
            "do": "publish",
            "folder": folder,
            "files": {name: digest(data) for name, data in files.items()},
        }
        self._call(told, lambda: self.store.publish(folder, files))

    def recover(self) -> None:
        def recover() -> None:
            self.store.recover()  # opened by now, or refused: within the call

        self._call({"do": "recover"}, recover)

    def read(self, stream: str) -> None:
        def read_all() -> None:
            forward = [line.record["id"] for line in self.store.read(stream)]
            if forward[::-1] != [line.record["id"] for line in self.store.read_back(stream)]:
                raise AssertionError(f"{stream} reads differently from its two ends")
            self.store.end(stream)

        self._call({"do": "read"}, read_all)

    def _call(self, told: dict[str, Any], act: Callable[[], object]) -> None:
        self._calls += 1
        number = self._calls
        self._tell(told | {"call": number})
        try:
            act()
        except Refused as refused:
            if not self._patient:
                raise
            self._tell({"refused": number, "as": type(refused).__name__, "sentence": str(refused)})
        else:
            self.acknowledged += 1
            self._tell({"done": number})


def _bodies(texts: Sequence[str]) -> list[str]:
    """The hashes of the texts that are too long for a line."""
    return [digest(text.encode()) for text in texts if len(text) > TINY.body_bytes]


def _told(records: Sequence[Record]) -> dict[str, str]:
    return {str(record["id"]): digest(to_json(record)) for record in records}


Step = Callable[[Work], None]

TEXT = "I take my tea without sugar, and I said so before. " * 4
LONG = "A long text that has no place in a line. " * 250

STEPS: tuple[Step, ...] = (
    lambda work: work.append(TRACES, "the first"),
    lambda work: work.append(JOURNAL, "a mark"),
    lambda work: work.append(TRACES, *(f"one of several: {n}" for n in range(5))),
    lambda work: work.write_page("facts/tea.md", "# Tea\n\n- Sugar: none\n"),
    lambda work: work.write_page("facts/tea.md", "# Tea\n\n- Sugar: one\n- Milk: none\n"),
    lambda work: work.append(TRACES, TEXT, TEXT),
    lambda work: work.append(TRACES, TEXT, TEXT, "rotated by size"),
    lambda work: work.append(TRACES, TEXT),
    lambda work: work.rotate(TRACES),
    lambda work: work.append(TRACES, "after a rotation"),
    lambda work: work.tear(TRACES),
    lambda work: work.append(TRACES, "behind a torn end"),
    lambda work: work.publish("They talked about tea."),
    lambda work: work.write_page("USER.md", "# User\n\n- Name: Zhang San\n"),
    lambda work: work.write_page("USER.md", "# User\n\n- Name: Zhang San\n- Language: English\n"),
    lambda work: work.write_page("facts/long.md", f"# Long\n\n{LONG}\n"),
    lambda work: work.append(TRACES, LONG),
    lambda work: work.append(TRACES, LONG, "the same long text again"),
    lambda work: work.write_page("facts/tea.md", None),
    lambda work: work.rotate(JOURNAL),
    lambda work: work.append(JOURNAL, "another mark"),
    lambda work: work.tear(TRACES),
    lambda work: work.tear(JOURNAL),
    lambda work: work.reopen(),
    lambda work: work.append(TRACES, "by a store opened anew"),
    lambda work: work.write_page("facts/tea.md", "# Tea\n\n- Sugar: two\n"),
    lambda work: work.append(PROMPTS, "a manifest"),
    lambda work: work.write_file("state.json", '{"goal":"tea"}\n'),
    lambda work: work.write_file("state.json", '{"goal":"more tea"}\n'),
    lambda work: work.view("views/state.toon", "goal: tea\n"),
    lambda work: work.view("views/state.toon", "goal: more tea\n"),
    lambda work: work.write_file("state.json", None),
    lambda work: work.recover(),
    lambda work: work.read(TRACES),
    lambda work: work.publish("They talked about more tea."),
    lambda work: work.write_page("USER.md", "# User\n\n- Name: Li Si\n"),
    lambda work: work.append(TRACES, "the last"),
)


# --- the verdict -----------------------------------------------------------------------


@dataclass
class Verdict:
    """What is wrong with a folder. `lost`: promises broken; `shut`: why it did not open by itself."""

    lost: list[str] = field(default_factory=list)
    shut: list[str] = field(default_factory=list)

    @property
    def sentences(self) -> list[str]:
        return self.shut + self.lost


@dataclass
class _Call:
    told: dict[str, Any]
    outcome: str = "unknown"  # then `done` or `refused`
    pages: list[dict[str, Any]] = field(default_factory=list)


def calls_told(text: str) -> list[_Call]:
    calls: dict[int, _Call] = {}
    last: _Call | None = None
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):
            break  # killed while telling
        told = json.loads(line)
        if "call" in told:
            last = calls[told["call"]] = _Call(told)
        elif "done" in told:
            calls[told["done"]].outcome = "done"
        elif "refused" in told:
            calls[told["refused"]].outcome = "refused"
        elif last is not None:
            last.pages.append(told)
    return list(calls.values())


def judge(
    folder: str | os.PathLike[str],
    told: str,
    open_store: Callable[[str], FileStore] | None = None,
    *,
    refused_is_absent: bool = False,
) -> Verdict:
    """Open the folder as a new process would, and look whether every promise was kept.

    What was not acknowledged may be there, whole, or not. With `refused_is_absent`, a refused append must have
    left nothing: the disk worked again at once, so there was no reason to leave anything.
    """
    verdict = Verdict()
    calls = calls_told(told)
    try:
        store = open_store(os.fspath(folder)) if open_store else FileStore(folder, TINY)
        with store:
            store.recover()
            _judge_streams(store, calls, verdict, refused_is_absent)
            _judge_pages(store, calls, verdict)
            _judge_files(store, calls, verdict)
            _judge_entries(store, calls, verdict)
            _judge_rest(store, verdict)
            _judge_next_calls(store, verdict)
    except (OSError, Refused) as error:
        verdict.shut.append(f"the folder does not open by itself: {type(error).__name__}: {error}")
    return verdict


def _judge_streams(store: FileStore, calls: list[_Call], verdict: Verdict, refused_is_absent: bool) -> None:
    asked: dict[str, list[tuple[str, str, str]]] = {}
    for call in calls:
        for told in (call.told, *call.pages):
            for key, value in told.get("records", {}).items():
                outcome = call.outcome
                if refused_is_absent and outcome == "refused" and told is call.told:
                    outcome = "absent"
                asked.setdefault(told["stream"], []).append((key, value, outcome))
    problems: list[Problem] = []
    for stream in {*asked, *store.streams()}:
        found = [line.record for line in store.read(stream, on_problem=problems.append)]
        back = [line.record for line in store.read_back(stream)]
        if back[::-1] != found:
            verdict.lost.append(f"{stream} reads differently from its two ends")
        ours = [record for record in found if record.get("kind") not in ("void", "late")]
        verdict.lost += _compare(stream, asked.get(stream, []), ours)
    verdict.lost += [f"a reader meets damage: {problem}" for problem in problems]


def _compare(stream: str, asked: list[tuple[str, str, str]], found: list[Record]) -> Iterator[str]:
    """Every acknowledged record once, in order and equal; the others whole or not at all."""
    at = 0
    for key, value, outcome in asked:
        here = at < len(found) and found[at].get("id") == key
        if here and digest(to_json(found[at])) != value:
            yield f"{stream}: record {key} is not what was given"
        if here and outcome == "absent":
            yield f"{stream}: record {key} was refused and is there all the same"
        if not here and outcome == "done":
            yield f"{stream}: record {key} was acknowledged and is not where it belongs"
        at += here
    for record in found[at:]:
        yield f"{stream}: record {record.get('id')} is there twice, out of order, or from nowhere"


def _judge_pages(store: FileStore, calls: list[_Call], verdict: Verdict) -> None:
    """The journal, replayed without its void edits, is exactly what the pages say."""
    journal = [line.record for line in store.read(JOURNAL)]
    void = {record["edit"] for record in journal if record.get("kind") == "void"}
    edits = [record for record in journal if record.get("kind") == "edit" and record["id"] not in void]
    state: dict[str, str | None] = {}
    for edit in edits:
        if state.get(edit["path"]) != edit["base"]:
            verdict.lost.append(f"{edit['path']}: edit {edit['id']} does not begin where the last one ended")
        state[edit["path"]] = edit["new"]
    kept = {edit["id"] for edit in edits}
    for call in calls:
        for told in call.pages:
            page = told["page"]
            state.setdefault(page["path"], None)
            if call.outcome == "done" and page["edit"] not in kept:
                verdict.lost.append(
                    f"{page['path']}: edit {page['edit']} was acknowledged and is void or gone"
                )
    for path, wanted in state.items():
        found = store.get(path)
        if (found.sha256 if found else None) != wanted:
            says = repr(found.data) if found else "gone"
            verdict.lost.append(f"{path}: the journal says sha256 {wanted}, the page is {says}")
    names = {stat.path for stat in store.list("facts")}
    strangers = names - set(state)
    if strangers:
        verdict.lost.append(f"facts/ holds files that nobody asked for: {sorted(strangers)}")


def _judge_files(store: FileStore, calls: list[_Call], verdict: Verdict) -> None:
    allowed: dict[str, set[str | None]] = {}
    for call in calls:
        if call.told.get("do") == "file":
            path, new = call.told["path"], call.told["new"]
            if call.outcome == "done":
                allowed[path] = {new}
            else:
                allowed.setdefault(path, {None}).add(new)
    for path, states in allowed.items():
        found = store.get(path)
        if (found.sha256 if found else None) not in states:
            verdict.lost.append(f"{path} is neither what was acknowledged nor what was asked for")


def _judge_entries(store: FileStore, calls: list[_Call], verdict: Verdict) -> None:
    above = os.path.join(store.path, placed("log/entries/tea"))
    there = set(os.listdir(above)) if os.path.isdir(above) else set()
    for call in calls:
        if call.told.get("do") != "publish":
            continue
        folder: str = call.told["folder"]
        files = {stat.path.rpartition("/")[2]: stat.path for stat in store.list(folder)}
        name = folder.rpartition("/")[2]
        if name not in there:
            if call.outcome == "done":
                verdict.lost.append(f"{folder} was published and is gone")
            continue
        there.discard(name)
        found = {name: store.get(path) for name, path in files.items()}
        if {name: each.sha256 if each else None for name, each in found.items()} != call.told["files"]:
            verdict.lost.append(f"{folder} is not whole: {sorted(files)}")
    if there:
        verdict.lost.append(f"log/entries holds what nobody published: {sorted(there)}")


def _judge_rest(store: FileStore, verdict: Verdict) -> None:
    # An unfinished last record is what a crash leaves. The next append cuts it; until then `check` calls it an error.
    verdict.lost += [
        f"check: {problem}"
        for problem in store.check()
        if problem.severity == "error" and "is not finished" not in problem.message
    ]
    staged = os.path.join(store.path, placed("log/staged"))
    if os.path.isdir(staged):
        verdict.lost += [
            f"recovery left {name}" for name in os.listdir(staged) if name.endswith((".edit", ".was"))
        ]


def _judge_next_calls(store: FileStore, verdict: Verdict) -> None:
    """Whatever happened before, the next calls work, and what they wrote is there."""
    for stream in (TRACES, JOURNAL, PROMPTS):
        records = [trace("the next one"), trace(TEXT)]
        store.append(stream, records)
        last = [line.record for _, line in zip(range(2), store.read_back(stream), strict=False)]
        if last[::-1] != records:
            verdict.lost.append(f"{stream}: the next append is not what is read back")
    for path, text in (("facts/tea.md", b"# Tea\n\n- Sugar: three\n"), ("facts/next.md", b"# Next\n")):
        found = store.get(path)
        base = found.sha256 if found else None
        store.put(path, text, base=base, record=edit_of(path, found.data if found else None, text))
        now = store.get(path)
        if now is None or now.data != text:
            verdict.lost.append(f"{path}: the next edit is not what is read back")
    folder = f"log/entries/tea/{new_id()}"
    store.publish(folder, entry("the next one"))
    verdict.lost += [
        f"check after the next calls: {problem}" for problem in store.check() if problem.severity == "error"
    ]
