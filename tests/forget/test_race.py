"""What is forgotten stays forgotten, whatever else is at work: a process that read it before, and writes afterwards,
makes its work again from what is left."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from looseleaf import Distilled, Memory
from looseleaf.base.errors import Busy, Outdated, Refused
from looseleaf.base.messages import Material
from looseleaf.base.policy import Policy
from looseleaf.forget.log_snapshot import LogSnapshot
from looseleaf.store import JOURNAL, documents
from looseleaf.store.files import FileStore
from looseleaf.store.reading import read_and_write
from looseleaf.store.root import GATE, PLAN

WORD = "Nightingale"
POLICY = Policy(settle_seconds=0.01, quiet_seconds=0.0)
RACING = Path(__file__).parents[1] / "scripts" / "racing.py"

DISTILLED = ("redistill", "prompt", "build", "reader")
"""Acts that need facts to be there."""


def talk(folder: Path, *, distills: bool = False) -> None:
    with Memory(folder, policy=POLICY) as memory:
        for number in range(8):
            memory.record(user=f"My project is called {WORD} {number}. I live in Lyon.")
            memory.record(assistant=f"I will keep {WORD} in mind, {number}." + " More words." * 200)
        if distills:
            memory.distill()
            assert WORD in json.dumps([fact.to_dict() for fact in memory.facts()])
            memory.parts.build()


def holding(folder: Path) -> list[str]:
    """The files of a folder that hold the word, in any byte."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [str(path.relative_to(folder)) for path in files if WORD.casefold() in _text(path).casefold()]


def _text(path: Path) -> str:
    return path.read_bytes().decode("latin-1")


class Racing:
    """An act in another process, in its middle."""

    def __init__(self, act: str, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(RACING), act, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "reading\n", self.process.communicate()[1]
        assert self.process.poll() is None

    def finish(self) -> tuple[int, Any]:
        """Let it go on; return how often it was in its middle again, and what it returned."""
        out, err = self.process.communicate("go\n")
        assert self.process.returncode == 0, err
        *again, came = out.splitlines()
        return again.count("reading"), json.loads(came)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "act", ["distill", "write_turns", "compact", "prepare", "redistill", "prompt", "build", "agent"]
)
def test_an_act_that_has_read_before_a_forgetting_publishes_no_word_of_it(tmp_path: Path, act: str) -> None:
    folder = tmp_path / "memory"
    talk(folder, distills=act in DISTILLED)
    other = Racing(act, folder)
    with Memory(folder, policy=POLICY) as memory:
        done = memory.forget(match=WORD)
        assert done.probe is not None
        assert not done.probe.hits
        assert other.process.poll() is None  # still in its middle
        again, came = other.finish()
        assert holding(folder) == []
        assert WORD not in json.dumps(came)
        assert [hit.text for hit in memory.recall(WORD)] == []
        assert list(memory.check()) == []
    if act in ("distill", "write_turns", "compact", "agent"):
        assert again  # it was made again, from what is left


def test_a_process_that_has_read_everything_shows_no_word_of_what_another_forgot(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    talk(folder, distills=True)
    other = Racing("reader", folder)
    with Memory(folder, policy=POLICY) as memory:
        memory.forget(match=WORD)
    _, came = other.finish()
    assert [text for text in came if WORD in text and text != f"{WORD}?"] == []
    assert [
        path for path in holding(folder) if not path.startswith("log/prompts/")
    ] == []  # it asked for the word


@pytest.mark.parametrize("act", ["take", "take_notes"])
def test_an_import_that_runs_brings_nothing_back_that_is_forgotten_meanwhile(
    tmp_path: Path, act: str
) -> None:
    folder = tmp_path / "memory"
    said = [f"{WORD} has stage {number}. Tea is green." for number in range(6)]
    if act == "take":
        rows = ({"messages": [{"role": "user", "content": text}]} for text in said)
        (tmp_path / "memory.json").write_text("\n".join(map(json.dumps, rows)))
    else:
        notes = tmp_path / "memory.notes"
        notes.mkdir()
        for number, text in enumerate(said):
            (notes / f"note {number}.md").write_text(f"# Note {number}\n\n- {text}\n")
    Memory(folder, policy=POLICY).record(user=f"{WORD} is a bird.")
    other = Racing(act, folder)
    with Memory(folder, policy=POLICY) as memory:
        memory.forget(match=WORD)
    _, came = other.finish()
    assert holding(folder) == []
    assert came["traces"] or came["pages"]  # the rest is imported


# --- threads of one process ------------------------------------------------------------


class Waiting:
    """A distiller that is in its middle until it is told to go on."""

    name = "waiting/1"

    def __init__(self) -> None:
        self.reads, self.goes = threading.Event(), threading.Event()
        self.count = 0

    def distill(self, material: Material, tokens: int) -> Distilled:
        said = " ".join(str(trace.content) for trace in material.traces())
        self.count += 1
        self.reads.set()
        assert self.goes.wait(60)
        return Distilled(summary=said[:500] or "Nothing.")


def test_a_thread_that_distills_while_another_forgets_makes_its_entry_again(tmp_path: Path) -> None:
    talk(tmp_path / "memory")
    slow = Waiting()
    with Memory(tmp_path / "memory", policy=POLICY, distiller=slow) as memory:
        thread = threading.Thread(target=memory.distill)
        thread.start()
        assert slow.reads.wait(60)
        memory.forget(match=WORD)
        assert thread.is_alive()
        slow.goes.set()
        thread.join()
        assert slow.count == 2
    assert holding(tmp_path / "memory") == []


def test_a_distilling_that_is_overtaken_again_and_again_is_refused_and_publishes_nothing(
    tmp_path: Path,
) -> None:
    words = [f"{WORD}{letter}" for letter in "abcdefgh"]

    class Overtaken(Waiting):
        def distill(self, material: Material, tokens: int) -> Distilled:
            made = super().distill(material, tokens)
            with Memory(tmp_path / "memory", policy=POLICY) as other:
                other.forget(match=words.pop())
            return made

    slow = Overtaken()
    slow.goes.set()
    with Memory(tmp_path / "memory", policy=POLICY, distiller=slow) as memory:
        for word in words:
            memory.record(user=f"The {word} is a bird.")
        with pytest.raises(Refused, match="forgotten while this was made, again and again"):
            memory.distill()
        assert slow.count == 5
        assert list(memory.parts.context.store.folders("log/entries")) == []


def test_an_act_that_misses_what_was_forgotten_since_it_was_listed_is_done_again(tmp_path: Path) -> None:
    talk(tmp_path)
    tries: list[str] = []

    def act(forget: bool) -> int:
        tries.append(WORD)
        if len(tries) > 1:
            return len(tries)
        if forget:
            with Memory(tmp_path, policy=POLICY) as other:
                other.forget(match=WORD)
        raise KeyError(WORD)

    with Memory(tmp_path, policy=POLICY) as memory:
        assert read_and_write(memory.parts.files, lambda: act(forget=True)) == 2
        tries.clear()
        with pytest.raises(KeyError):
            read_and_write(memory.parts.files, lambda: act(forget=False))


# --- the store -------------------------------------------------------------------------


def _forget(store: FileStore, number: int) -> None:
    """What is seen of a forgetting: each replaces the tombstones."""
    switch = store.switch(f"01J0000000000000000000000{number}")
    switch.put("log/tombstones.jsonl", b"\n" * number)
    with store.lock():
        switch.commit("log/tombstones.jsonl")


RECORD = {"schema": "journal.v1", "id": "01J00000000000000000000009", "ts": 1.0, "kind": "init"}
WRITES = {
    "append": lambda store: store.append(JOURNAL, [RECORD]),
    "put": lambda store: store.put("facts/tea.md", b"x", base=None),
    "publish": lambda store: store.publish("log/entries/tea/01J00000000000000000000008", {"raw.md": b"x"}),
    "view": lambda store: store.view("views/x.json", b"x"),
    "rotate": lambda store: store.rotate(JOURNAL),
    "lock": lambda store: store.lock().__enter__(),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_in_a_reading_nothing_is_written_after_something_was_forgotten(tmp_path: Path, write: Any) -> None:
    with FileStore.make(tmp_path / "memory") as store, FileStore(tmp_path / "memory") as other:
        with store.lock():
            pass  # makes its files
        with store.reading() as is_first:
            assert is_first
            with store.reading() as is_second:
                assert not is_second
            _forget(other, 1)
            before = files_in(tmp_path / "memory")
            with pytest.raises(Outdated):
                write(store)
            assert files_in(tmp_path / "memory") == before
        store.append(JOURNAL, [RECORD])  # a new act, which read what is left


def files_in(memory: Path) -> list[Path]:
    return sorted(path for path in memory.rglob("*") if path.is_file() and path.name != "gate.lock")


def test_a_forget_waits_for_a_view_that_is_being_written_and_is_finished_later_if_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "GATE_SECONDS", 0.05)
    with FileStore.make(tmp_path / "memory") as store, FileStore(tmp_path / "memory") as other:
        store.view("views/x.json", b"words")
        writing = (tmp_path / "memory" / GATE).open("rb")
        fcntl.flock(writing, fcntl.LOCK_SH)  # one that is stopped in the middle
        store.view("views/y.json", b"words")  # another one does not wait for it
        before = other.edition()
        with pytest.raises(Busy, match="has been writing a view"):
            _forget(other, 1)
        assert other.edition() == before
        assert (tmp_path / "memory" / PLAN).exists()
        writing.close()
        with store.lock():
            assert store.edition() != before
        assert not (tmp_path / "memory" / PLAN).exists()
        assert not list((tmp_path / "memory" / "views").rglob("*.json"))


def test_a_thread_that_writes_for_all_writes_nothing_of_an_overtaken_one(tmp_path: Path) -> None:
    with FileStore.make(tmp_path / "memory") as store:
        goes, waits = threading.Event(), threading.Event()
        came: list[object] = []

        def write_outdated() -> None:
            with store.reading():
                waits.set()
                assert goes.wait(60)
                try:
                    store.append(JOURNAL, [RECORD])
                except Outdated as outdated:
                    came.append(outdated)

        thread = threading.Thread(target=write_outdated)
        thread.start()
        assert waits.wait(60)
        _forget(store, 1)
        with store.lock():  # it queues behind this thread, which then writes for all
            goes.set()
            thread.join(0.3)
            store.append(JOURNAL, [{**RECORD, "id": "01J00000000000000000000001"}])
        thread.join()
        assert came
        assert [line.record["id"] for line in store.read(JOURNAL)] == ["01J00000000000000000000001"]


def test_a_view_made_of_an_older_edition_is_not_written(tmp_path: Path) -> None:
    with FileStore.make(tmp_path / "memory") as store:
        before = store.edition()
        _forget(store, 1)
        store.view("views/x.json", b"x", of=before)
        assert store.get("views/x.json") is None
        store.view("views/x.json", b"x", of=store.edition())
        assert store.get("views/x.json") is not None


def test_a_record_after_a_forgetting_that_was_killed_in_its_switch_is_not_lost(tmp_path: Path) -> None:
    """The switch is finished by the process that takes the lock next, before it writes."""
    from looseleaf.store import documents

    folder = tmp_path / "memory"
    with Memory(folder, policy=POLICY) as memory:
        memory.record(user="First.")
        store = memory.parts.files
        path = "log/traces/main/raw_traces.jsonl"
        whole = (folder / path).read_bytes()
        real = documents.finish
        documents.finish = lambda root: None  # killed right after its commit
        try:
            switch = store.switch("01J00000000000000000000001")
            switch.put(path, whole)
            with store.lock():
                switch.commit(path)
        finally:
            documents.finish = real
        assert (folder / "log/forgetting.json").exists()
        memory.record(user="Second.")
        assert not (folder / "log/forgetting.json").exists()
    with Memory(folder, policy=POLICY) as memory:
        assert [trace.content for turn in memory.talk.turns(9) for trace in turn.traces] == [
            "First.",
            "Second.",
        ]


def test_a_forget_goes_on_while_an_editor_saves_and_is_refused_if_that_never_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(tmp_path)
    moved = iter([False] * 3 + [True] * 99)
    monkeypatch.setattr(LogSnapshot, "is_current", lambda self: next(moved))
    with Memory(tmp_path) as memory:
        assert memory.forget(match=WORD).probe
        assert holding(tmp_path) == []
        monkeypatch.setattr(LogSnapshot, "is_current", lambda self: False)
        with pytest.raises(Busy, match="Nothing was forgotten: pages are being saved all the time"):
            memory.forget(match="Lyon")
