"""Bytes flipped, zeroed or cut anywhere in the log: only what was hit is missing, and `check` names it.

One damage is one contiguous stretch of one file. For each, a pristine log is damaged in one place and read, checked
and mended. What no reader can know is said, not hidden: whole records cut out of the *active* file leave a file that
might have been written so; such cuts are counted (`cut_as_if_never_written`). In a sealed segment the seal tells.
"""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf.base.policy import Policy
from looseleaf.store import check_repair as care
from looseleaf.store import records as codec
from looseleaf.store import streams as segments
from looseleaf.store.files import FileStore
from looseleaf.store.machines import FILE as MACHINE
from looseleaf.store.streams import SUMS
from store_contract import hash_of, record_of

if TYPE_CHECKING:
    from looseleaf.base.values import Problem, Record

STREAMS = ("journal", "traces/main")
POLICY = Policy(body_bytes=2000)
KINDS = ("flip", "random byte", "zero", "cut", "truncate", "line end", "whole records")


@dataclass(frozen=True)
class Pristine:
    """A healthy log: the bytes of its files, and what each stream says."""

    files: dict[str, bytes]
    records: dict[str, list[Record]]

    def targets(self) -> list[str]:
        """The files that are not made again by themselves, as views are, and the file that names the log's machine."""
        again = ("views/", MACHINE)
        return [name for name, data in self.files.items() if data and not name.startswith(again)]


@dataclass(frozen=True)
class Damage:
    name: str
    kind: str
    start: int
    end: int
    data: bytes

    def __str__(self) -> str:
        return f"{self.kind} of bytes {self.start} to {self.end} of {self.name}"


@dataclass
class Tally:
    """What a sweep saw."""

    places: int = 0
    silent: int = 0
    lost_only_hit: int = 0
    unknowable: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    files: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return (
            f"places={self.places} silent={self.silent} lost_only_hit={self.lost_only_hit} "
            f"cut_as_if_never_written={self.unknowable} {dict(self.kinds)} {dict(self.files)}"
        )


def make_pristine(folder: Path) -> Pristine:
    """Journal and traces, two sealed segments and an active file each, of texts of all lengths and nestings."""
    chance = random.Random(7)
    inner = json.loads(codec.encode({"id": "forged"}))
    hostile: list[Any] = [
        'a {"',
        'say "{\\"id\\":1}"',
        {"x {": [{}, inner]},
        "é\u2028\0\ud800",
        inner,
        [[" ", inner]],
    ]
    with FileStore(folder, POLICY) as store:
        for stream in STREAMS:
            for segment in range(3):
                for number in range(12):
                    content = hostile[number] if number < len(hostile) else "word " * chance.randrange(60)
                    store.append(stream, [record_of(content, turn=number, nested={"a": [1, {"b": None}]})])
                store.append(stream, [record_of("long " * (600 + segment))])
                if segment < 2:
                    store.rotate(stream)
        assert list(store.check()) == []
        records = {stream: [line.record for line in store.read(stream)] for stream in STREAMS}
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return Pristine(files, records)


def make_damage(pristine: Pristine, chance: random.Random) -> Damage:
    logs = [name for name in pristine.targets() if name.endswith(".jsonl")]
    name = chance.choice(logs if chance.random() < 0.9 else pristine.targets())
    data = pristine.files[name]
    kind = chance.choice(KINDS)
    start = chance.randrange(len(data))
    end = min(len(data), start + chance.choice([1, 2, 18, 100, 300, 1000, chance.randrange(1, 3000)]))
    ends = [at for at, byte in enumerate(data) if byte == 10]
    if not ends and kind in ("line end", "whole records"):
        kind = "cut"  # a body has no lines
    elif kind == "line end":
        start = chance.choice(ends)
        kind, end = chance.choice(["flip", "random byte", "zero", "cut"]), start + 1
    elif kind == "whole records":
        start, end = sorted(chance.sample([0, *(at + 1 for at in ends)], 2))
    if kind == "flip":
        end, new = start + 1, bytes([data[start] ^ 1 << chance.randrange(8)])
    elif kind == "random byte":
        end, new = start + 1, bytes([data[start] ^ chance.randrange(1, 256)])
    elif kind == "zero":
        new = bytes(end - start)
    else:
        new = b""
        end = len(data) if kind == "truncate" else end
    return Damage(name, kind, start, end, data[:start] + new + data[end:])


def hit_records(pristine: Pristine, damage: Damage) -> list[Record]:
    """The records of which a byte, or the line end, was hit; for a body those that name it."""
    if damage.name.startswith("log/bodies/"):
        digest = damage.name.rpartition("/")[2].encode()
        return [
            codec.decode(line)[0]
            for name in pristine.targets()
            if name.endswith(".jsonl")
            for line in pristine.files[name].splitlines()
            if digest in line
        ]
    if not damage.name.endswith(".jsonl"):
        return []
    hit, at = [], 0
    for line in pristine.files[damage.name].splitlines(keepends=True):
        if at < damage.end and damage.start < at + len(line):
            hit.append(codec.decode(line[:-1])[0])
        at += len(line)
    return hit


def is_unknowable(pristine: Pristine, damage: Damage) -> bool:
    """Whether the file could have been written just so: without its newest seal, as a crash leaves it. No record is
    touched, and the seal is made again."""
    seals = pristine.files[damage.name].splitlines(keepends=True)
    return damage.name.endswith(SUMS) and damage.data.splitlines(keepends=True) == seals[:1]


class Memory:
    """A folder with the pristine log, in which one file at a time is damaged and put back."""

    def __init__(self, folder: Path, pristine: Pristine) -> None:
        self.folder = folder
        self.pristine = pristine
        self.restore()

    def restore(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        for name, data in self.pristine.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def files(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.folder).as_posix(): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file()
        }

    def read(self, damage: Damage, tally: Tally) -> None:
        """Damage, read both ways, check; put back."""
        path = self.folder / damage.name
        path.write_bytes(damage.data)
        with FileStore(self.folder, POLICY) as store:
            self.judge(store, damage, tally)
        path.write_bytes(self.pristine.files[damage.name])

    def judge(self, store: FileStore, damage: Damage, tally: Tally) -> None:
        tally.places += 1
        tally.kinds[damage.kind] += 1
        tally.files[damage.name.rpartition("/")[2][:12]] += 1
        hit = {record["id"] for record in hit_records(self.pristine, damage)}
        told: list[Problem] = []
        for stream, given in self.pristine.records.items():
            lines = list(store.read(stream, on_problem=told.append))
            read = [line.record for line in lines]
            spared = [record for record in given if record["id"] not in hit]
            assert [record for record in read if record not in given] == [], (
                f"{damage}: other content was read"
            )
            assert [record for record in read if record["id"] not in hit] == spared, (
                f"{damage}: more was lost"
            )
            assert list(store.read_back(stream)) == lines[::-1], str(damage)
        tally.lost_only_hit += 1
        problems = list(store.check())
        errors = [problem for problem in problems if problem.severity == "error"]
        if is_unknowable(self.pristine, damage):
            tally.unknowable += 1
            return
        tally.silent += not self.names(damage, errors)

    def names(self, damage: Damage, errors: list[Problem]) -> bool:
        """Whether `check` says which file was hit, and which line of it where lines of a log were."""
        if damage.name.endswith(SUMS):
            folder = damage.name.removesuffix(SUMS)
            return any(problem.path.startswith(folder) for problem in errors)
        here = [problem for problem in errors if problem.path == damage.name]
        line = damage.data.count(b"\n", 0, damage.start) + 1
        # Where whole lines were cut nothing is left to point at: the seal or the remembered end names the file.
        pointed = any(problem.line == line for problem in here)
        named = any(problem.line is None for problem in here) and self.is_cut_of_whole_lines(damage)
        return bool(here) and (not damage.name.endswith(".jsonl") or pointed or named)

    def is_cut_of_whole_lines(self, damage: Damage) -> bool:
        lines = iter(self.pristine.files[damage.name].splitlines(keepends=True))
        return all(line in lines for line in (damage.data + b"\n").splitlines(keepends=True) if line != b"\n")

    def mend(self, damage: Damage) -> None:
        """Damage, repair, and see: no errors, nothing else lost, every byte kept, and twice is once."""
        self.restore()
        (self.folder / damage.name).write_bytes(damage.data)
        before = self.files()
        hit = {record["id"] for record in hit_records(self.pristine, damage)}
        with FileStore(self.folder, POLICY) as store:
            readable = {stream: [line.record for line in store.read(stream)] for stream in STREAMS}
            store.repair()
            assert [str(each) for each in store.check() if each.severity == "error"] == [], str(damage)
            for stream, given in self.pristine.records.items():
                own = ("lost", "back", "accepted")
                read = [line.record for line in store.read(stream) if line.record.get("kind") not in own]
                assert read == readable[stream], f"{damage}: repair made it worse"
                assert [record for record in read if record["id"] not in hit] == [
                    record for record in given if record["id"] not in hit
                ], str(damage)
            after = self.files()
            kept = [data for name, data in after.items() if name.startswith("log/aside/")]
            for name, data in before.items():
                if name.startswith("views/"):
                    continue
                now = after.get(name, b"")
                whole = now.startswith(data) or data in kept or any(now + tail == data for tail in kept)
                assert whole, f"{damage}: bytes of {name} are gone"
            assert store.repair() == []
            assert self.files() == after, f"{damage}: a second repair changed something"
            for stream in STREAMS:  # and it goes on
                store.append(stream, [new := record_of("after the repair")])
                assert [line.record for line in store.read(stream)][-1] == new
            assert [str(each) for each in store.check() if each.severity == "error"] == [], str(damage)


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Pristine:
    return make_pristine(tmp_path_factory.mktemp("pristine"))


@pytest.fixture
def memory(place: Path, pristine: Pristine) -> Memory:
    return Memory(place / "memory", pristine)


def sweep(memory: Memory, places: int, seed: int) -> Tally:
    chance, tally = random.Random(seed), Tally()
    for _ in range(places):
        memory.read(make_damage(memory.pristine, chance), tally)
    print(tally)
    return tally


def test_one_damage_costs_only_what_it_hit_and_is_named(memory: Memory) -> None:
    tally = sweep(memory, 150, seed=1)
    assert (tally.places, tally.silent, tally.lost_only_hit) == (150, 0, 150)
    assert min(tally.kinds.values()) > 10


@pytest.mark.long
def test_ten_thousand_damages_cost_only_what_they_hit_and_are_named(memory: Memory) -> None:
    tally = sweep(memory, 10_000, seed=2)
    assert (tally.places, tally.silent, tally.lost_only_hit) == (10_000, 0, 10_000)


def test_repair_mends_a_damage_and_loses_no_byte(memory: Memory) -> None:
    mend(memory, 30, seed=3)


@pytest.mark.long
def test_repair_mends_two_thousand_damages_and_loses_no_byte(memory: Memory) -> None:
    mend(memory, 2000, seed=4)


def mend(memory: Memory, places: int, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(places):
        memory.mend(make_damage(memory.pristine, chance))
    print(f"mended={places} errors=0 bytes_lost=0")


# --- single places worth a test of their own --------------------------------------------------------


def damage_at(pristine: Pristine, name: str, start: int, end: int, new: bytes) -> Damage:
    data = pristine.files[name]
    return Damage(name, "chosen", start, end, data[:start] + new + data[end:])


@pytest.mark.parametrize("name", ["log/archive/000001.jsonl", "log/traces/main/archive/000002.jsonl"])
def test_whole_records_cut_from_a_sealed_segment_are_named(memory: Memory, name: str) -> None:
    ends = [at + 1 for at, byte in enumerate(memory.pristine.files[name]) if byte == 10]
    for start, end in ((0, ends[0]), (ends[2], ends[5]), (ends[-2], ends[-1]), (0, ends[-1])):
        tally = Tally()
        damage = damage_at(memory.pristine, name, start, end, b"")
        memory.read(damage, tally)
        assert (tally.silent, tally.unknowable) == (0, 0), str(damage)
        memory.mend(damage)
        memory.restore()


def test_whole_records_cut_from_an_active_file_are_named(memory: Memory) -> None:
    name = "log/traces/main/raw_traces.jsonl"
    ends = [at + 1 for at, byte in enumerate(memory.pristine.files[name]) if byte == 10]
    tally = Tally()
    for start, end in ((0, ends[0]), (ends[2], ends[5]), (ends[-2], ends[-1]), (0, ends[-1])):
        damage = damage_at(memory.pristine, name, start, end, b"")
        memory.read(damage, tally)
        memory.mend(damage)
        memory.restore()
    assert (tally.places, tally.silent, tally.unknowable, tally.lost_only_hit) == (4, 0, 0, 4)


@pytest.mark.parametrize("name", ["log/journal.jsonl", "log/traces/main/archive/000001.jsonl"])
def test_every_line_end_may_be_hit_without_losing_a_record(memory: Memory, name: str) -> None:
    data = memory.pristine.files[name]
    ends = [at for at, byte in enumerate(data) if byte == 10]
    for at in ends[:-1]:
        for new in (b"", b"\0", b" ", b"{", b"x"):
            damage = damage_at(memory.pristine, name, at, at + 1, new)
            (memory.folder / name).write_bytes(damage.data)
            with FileStore(memory.folder, POLICY) as store:
                for stream, given in memory.pristine.records.items():
                    assert [line.record for line in store.read(stream)] == given, str(damage)
                errors = [problem for problem in store.check() if problem.severity == "error"]
                assert memory.names(damage, errors), str(damage)
    (memory.folder / name).write_bytes(data)


def test_a_damaged_body_costs_its_record_and_what_fitted_the_line_is_kept(memory: Memory) -> None:
    text = b"long " * 600
    damage = damage_at(memory.pristine, f"log/bodies/{hash_of(text)}", 10, 11, b"L")
    memory.mend(damage)
    with FileStore(memory.folder, POLICY) as store:
        losses = [line.record for stream in STREAMS for line in store.read(stream) if "kind" in line.record]
        named = [record["record"] for record in losses]
        given = [record for stream in STREAMS for record in memory.pristine.records[stream]]
        assert named == [
            {name: value for name, value in record.items() if name != "content"}
            for record in given
            if record["content"] == text.decode()
        ]
    assert text[:10] + b"L" + text[11:] in memory.files().values()


def test_a_missing_body_is_a_loss_that_repair_writes_down(memory: Memory) -> None:
    body = memory.folder / "log/bodies" / hash_of(b"long " * 601)
    body.unlink()
    with FileStore(memory.folder, POLICY) as store:
        errors = [problem for problem in store.check() if problem.severity == "error"]
        message = f"this record is damaged: its body {body.name} is missing"
        assert [problem.message for problem in errors] == [message, message]
        store.repair()
        assert [problem for problem in store.check() if problem.severity == "error"] == []


def test_repair_of_a_healthy_log_changes_nothing(memory: Memory) -> None:
    with FileStore(memory.folder, POLICY) as store:
        assert store.repair() == []
        assert memory.files() == memory.pristine.files
        store.rotate("journal")
        before = memory.files()
        assert store.repair() == []
    assert memory.files() == before


# --- stores that must fail the sweep ------------------------------------------------------------------


def test_a_store_that_ignores_checksums_would_be_found_out(
    monkeypatch: pytest.MonkeyPatch, memory: Memory
) -> None:
    monkeypatch.setattr(codec, "_is_crc", lambda digits, crc: True)
    with pytest.raises(AssertionError, match="other content was read"):
        sweep(memory, 150, seed=1)


def test_a_store_that_takes_its_own_lines_for_hand_made_ones_would_be_found_out(
    monkeypatch: pytest.MonkeyPatch, memory: Memory
) -> None:
    def trusting(line: bytes) -> tuple[Record, bool]:
        try:
            return decode(line)
        except codec.DamagedRecord:
            return decode(line.removeprefix(b" "))

    decode = codec.decode
    monkeypatch.setattr(codec, "decode", trusting)
    with pytest.raises(AssertionError, match="other content was read"):
        sweep(memory, 150, seed=1)


def test_a_store_that_drops_a_damaged_line_whole_would_be_found_out(
    monkeypatch: pytest.MonkeyPatch, memory: Memory
) -> None:
    monkeypatch.setattr(
        codec, "_salvage", lambda line, reason: iter([codec.RecordPiece(0, len(line), None, False, reason)])
    )
    with pytest.raises(AssertionError, match="more was lost"):
        sweep(memory, 150, seed=1)


def test_a_check_that_does_not_look_at_seals_would_be_found_out(
    monkeypatch: pytest.MonkeyPatch, memory: Memory
) -> None:
    monkeypatch.setattr(care, "_check_seals", lambda *_: iter(()))
    assert sweep(memory, 50, seed=1).silent > 0


def test_a_reader_that_does_not_tell_would_be_found_out(
    monkeypatch: pytest.MonkeyPatch, memory: Memory
) -> None:
    def silent(self: Any, name: str, at: Any, raw: bytes, number: int | None, on_problem: Any) -> Any:
        return records(self, name, at, raw, number, None)

    records = segments.Segments.records
    monkeypatch.setattr(segments.Segments, "records", silent)
    assert sweep(memory, 50, seed=1).silent > 0
