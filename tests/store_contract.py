"""What every store promises, as tests: a store passes them by saying how it is opened.

class TestMyStore(StoreContract):
    @pytest.fixture
    def new_memory(self, tmp_path: Path) -> NewMemory:
        return new_folders(tmp_path, MyStore)
"""

from __future__ import annotations

import hashlib
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf.base.errors import Refused, Stale
from looseleaf.base.ids import new_id
from looseleaf.base.values import START, Position, Problem
from looseleaf.store import JOURNAL
from looseleaf.store.protocol import Store
from tables import check_rows

if TYPE_CHECKING:
    from looseleaf.base.values import Record

OpenStore = Callable[[], Store]
"""Open the same memory once more, as another process would."""

NewMemory = Callable[[], OpenStore]
"""Make an empty memory, and return how to open it."""

STREAMS = (JOURNAL, "traces/main", "prompts/main")
TRACES = "traces/main"
PAGE = "facts/tea.md"

HOSTILE: dict[str, Any] = {
    "lone surrogates": "\ud800 alone, \udfff and \udc80",
    "NUL and other control characters": "".join(map(chr, range(32))) + "\x7f\x80\x9f",
    "line separators": "one\ntwo\rthree\r\nfour\u2028five\u2029six\x85seven\x0b\x0c\x1c\x1d\x1e",
    "300 KB": "ünï" * 75_000,
    "300 KB with a lone surrogate": "\ud800" + "x" * 300_000,
    "300 KB that is no text": ["x" * 1000, {"y": None}] * 300,
    "text that looks like the end of a record": '","crc":"00000000"}\n {"id":"forged","crc":"00000000"}\n',
    "an object that looks like a record": {"id": "inner", "crc": "00000000", "bodies": {"x": {"sha256": 1}}},
    "an end that looks like a beginning": ["a {", {"b {": "c {"}],
    "nested a little": json.loads("[" * 50 + "]" * 50),
    "numbers": [0, -0.0, 1e-300, 1.7976931348623157e308, 10**4000, -(2**63), True, False, None],
    "emptiness": ["", [], {}, {"": ""}],
    "a byte order mark": "\ufeff",
}


def record_of(text: object, **more: object) -> Record:
    return {"id": new_id(), "ts": 1.5, "content": text, **more}


def edit_of(path: str, base: str | None, data: bytes | None) -> Record:
    new = None if data is None else hash_of(data)
    return {
        "schema": "journal.v1",
        "id": new_id(),
        "ts": time.time(),
        "kind": "edit",
        "path": path,
        "base": base,
        "new": new,
    }


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def new_folders(place: Path, open_folder: Callable[[Path], Store]) -> NewMemory:
    """Each memory is a folder of its own in `place`."""
    numbers = itertools.count()

    def new_memory() -> OpenStore:
        folder = place / f"memory {next(numbers)}"
        folder.mkdir()
        return partial(open_folder, folder)

    return new_memory


def records(store: Store, stream: str, start: Position = START) -> list[Record]:
    return [line.record for line in store.read(stream, start)]


def records_back(store: Store, stream: str, end: Position | None = None) -> list[Record]:
    return [line.record for line in store.read_back(stream, end)]


def records_but_edits(store: Store, stream: str) -> list[Record]:
    """The records that a test appended itself, also where it appended them to the journal."""
    return [record for record in records(store, stream) if record.get("kind") != "edit"]


class StoreContract:
    """Inherit, and give `new_memory`; for a store that writes fewer streams, also `streams` and `log`."""

    streams: tuple[str, ...] = STREAMS
    log = TRACES

    @pytest.fixture
    def new_memory(self) -> NewMemory:
        raise NotImplementedError("say how a memory is made and opened")

    @pytest.fixture
    def open_store(self, new_memory: NewMemory) -> OpenStore:
        return new_memory()

    @pytest.fixture
    def store(self, open_store: OpenStore) -> Iterator[Store]:
        store = open_store()
        yield store
        store.close()

    # --- streams -------------------------------------------------------------------------

    def test_records_are_read_in_the_order_they_were_appended(self, store: Store) -> None:
        check_rows(partial(self.check_order, store), self.streams)

    def check_order(self, store: Store, stream: str) -> None:
        given = [record_of(f"number {number}") for number in range(7)]
        positions = [*store.append(stream, given[:1]), *store.append(stream, given[1:])]
        lines = list(store.read(stream))
        assert [line.record for line in lines] == given
        assert [line.position for line in lines] == positions == sorted(set(positions))
        assert [line.checked for line in lines] == [True] * 7
        for line, following in itertools.pairwise(lines):
            same_segment = line.end.segment == following.position.segment
            assert line.end == following.position if same_segment else line.end < following.position
        assert lines[-1].end == store.end(stream)
        assert list(store.read_back(stream)) == lines[::-1]

    def test_an_empty_store_has_no_streams_and_reads_nothing(self, store: Store) -> None:
        assert store.streams() == []
        assert [records(store, each) + records_back(store, each) for each in STREAMS] == [[]] * 3
        assert store.append(self.log, []) == []
        assert store.streams() == []
        assert list(store.check()) == []

    def test_streams_are_named_and_kept_apart(self, store: Store) -> None:
        for stream in ("traces/zoë", "prompts/a b", *STREAMS):
            store.append(stream, [record_of(stream)])
        assert store.streams() == [JOURNAL, "traces/main", "traces/zoë", "prompts/a b", "prompts/main"]
        assert [records(store, stream)[0]["content"] for stream in store.streams()] == store.streams()

    def test_there_is_no_stream_of_another_name(self, store: Store) -> None:
        def check(stream: str) -> None:
            for act in (
                lambda: store.append(stream, [record_of("x")]),
                lambda: list(store.read(stream)),
                lambda: list(store.read_back(stream)),
                lambda: store.end(stream),
                lambda: store.rotate(stream),
            ):
                with pytest.raises(Refused, match=r"no stream|agent's name"):
                    act()
            assert store.streams() == []

        names = ["", "traces", "traces/", "traces/a/b", "traces/..", "log", "other/x", "prompts/.x"]
        check_rows(check, names)

    def test_every_position_is_a_place_to_go_on_from(self, store: Store) -> None:
        given = [record_of(number) for number in range(9)]
        store.append(self.log, given[:4])
        store.rotate(self.log)
        store.append(self.log, given[4:])
        lines = list(store.read(self.log))
        for at, line in enumerate(lines):
            assert records(store, self.log, line.position) == given[at:]
            assert records(store, self.log, line.end) == given[at + 1 :]
            assert records_back(store, self.log, line.position) == given[:at][::-1]
            assert records_back(store, self.log, line.end) == given[: at + 1][::-1]
        assert records_back(store, self.log, START) == []

    def test_the_end_is_where_the_next_record_begins(self, store: Store) -> None:
        for rotations in (0, 1, 2):
            for _ in range(rotations):
                store.rotate(self.log)
            end = store.end(self.log)
            assert records(store, self.log, end) == []
            new = record_of("next")
            assert store.append(self.log, [new]) == [end]
            assert records(store, self.log, end) == [new]

    def test_a_rotated_stream_reads_the_same_and_goes_on_in_a_new_segment(self, store: Store) -> None:
        store.rotate(self.log)
        assert records(store, self.log) == []
        given = [record_of(number) for number in range(6)]
        segments = []
        for record in given:
            segments.append(store.append(self.log, [record])[0].segment)
            store.rotate(self.log)
            store.rotate(self.log)  # of an empty segment: nothing to seal
        assert segments == list(range(segments[0], segments[0] + 6))
        assert records(store, self.log) == given
        assert records_back(store, self.log) == given[::-1]
        assert list(store.check()) == []

    def test_reading_back_stops_where_its_reader_stops(self, store: Store) -> None:
        given = [record_of(number) for number in range(5)]
        store.append(self.log, given)
        back = store.read_back(self.log)
        assert [next(back).record, next(back).record] == [given[4], given[3]]

    def test_a_bet_is_written_only_behind_the_record_it_was_made_on(
        self, store: Store, open_store: OpenStore
    ) -> None:
        first, second, third = (record_of(number) for number in range(3))
        edition = store.edition()
        positions = store.append_after(self.log, START, [first], edition)
        assert positions is not None
        assert store.append_after(self.log, START, [second], edition) is None
        other = open_store()
        [last] = other.append(self.log, [second])
        assert store.append_after(self.log, positions[-1], [third], edition) is None
        assert store.append_after(self.log, last, [third, record_of("x")], edition) is not None
        assert store.append_after(self.log, last, [third], edition) is None
        assert [record["content"] for record in records(store, self.log)] == [0, 1, 2, "x"]
        store.rotate(self.log)
        end = list(store.read(self.log))[-1].position
        assert store.append_after(self.log, end, [record_of("after a seal")], edition) == [
            list(store.read(self.log))[-1].position
        ]
        assert store.append_after(self.log, end, [third], (*(edition or ()), 7)) is None
        if other is not store:
            other.close()

    def test_a_reader_sees_what_is_appended_while_it_reads(self, store: Store) -> None:
        first, second, third = (record_of(number) for number in range(3))
        store.append(self.log, [first])
        lines = store.read(self.log)
        assert next(lines).record == first
        seen = list(store.read(self.log))[-1].end
        store.append(self.log, [second])
        store.rotate(self.log)
        store.append(self.log, [third])
        assert records(store, self.log, seen) == [second, third]

    def test_a_batch_of_many_is_one_append(self, store: Store) -> None:
        given = [record_of(f"line {number} " + "x" * (number % 300)) for number in range(3000)]
        positions = store.append(self.log, given)
        assert len(set(positions)) == 3000
        assert records(store, self.log) == given
        assert records_back(store, self.log, positions[1500]) == given[:1500][::-1]

    def test_whatever_json_can_say_comes_back_as_it_was(self, new_memory: NewMemory) -> None:
        rows = itertools.product({JOURNAL, self.log}, HOSTILE)
        check_rows(lambda stream, what: self.check_return(new_memory(), stream, what), rows)

    def check_return(self, open_store: OpenStore, stream: str, what: str) -> None:
        before, given, after = (
            record_of("before"),
            record_of(HOSTILE[what], more=HOSTILE[what]),
            record_of("after"),
        )
        store = open_store()
        store.append(stream, [before])
        store.append(stream, [given, after])
        store.close()
        store = open_store()
        problems: list[Problem] = []
        assert [line.record for line in store.read(stream, on_problem=problems.append)] == [
            before,
            given,
            after,
        ]
        assert records_back(store, stream) == [after, given, before]
        assert problems == list(store.check()) == []
        store.close()

    def test_what_json_cannot_say_is_refused_and_nothing_is_written(self, store: Store) -> None:
        first = record_of("first")
        store.append(self.log, [first])

        def check(name: str, value: object, why: str) -> None:
            with pytest.raises(Refused, match=f"^The record was not written.*{why}"):
                store.append(self.log, [record_of("not this one either"), record_of(value)])
            assert records(store, self.log) == [first]

        rows = [
            ("nan", float("nan"), "JSON cannot"),
            ("infinity", [float("inf")], "JSON cannot"),
            ("deep", {"deep": json.loads("[" * 900 + "]" * 900)}, "nests more than"),
            ("bytes", b"bytes", "JSON cannot"),
            ("set", {1, 2}, "JSON cannot"),
            ("number key", {"a": {2: "two"}}, "the key 2 is not text"),
            ("huge number", 10**5000, "JSON cannot"),
        ]
        check_rows(check, rows)

    def test_an_endless_record_is_refused(self, store: Store) -> None:
        endless: list[object] = []
        endless += [endless, endless]
        with pytest.raises(Refused, match="nests more than"):
            store.append(self.log, [record_of(endless)])

    def test_the_log_s_own_members_are_refused(self, store: Store) -> None:
        for member in ("crc", "bodies"):
            with pytest.raises(Refused, match="belong to the log itself"):
                store.append(self.log, [{"id": "x", member: "1"}])
        with pytest.raises(Refused, match="it is empty"):
            store.append(self.log, [{}])
        assert store.streams() == []

    def test_threads_append_together_and_nothing_is_lost_or_reordered(self, store: Store) -> None:
        def write(writer: int) -> None:
            try:
                for number in range(40):
                    (position,) = store.append(self.log, [record_of([writer, number])])
                    acknowledged[writer].append(position)
            except BaseException as error:
                failed.append(error)
                raise

        acknowledged: dict[int, list[Position]] = {writer: [] for writer in range(6)}
        failed: list[BaseException] = []
        threads = [threading.Thread(target=write, args=(writer,)) for writer in acknowledged]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        found = {line.position: line.record["content"] for line in store.read(self.log)}
        assert len(found) == 240
        for writer, positions in acknowledged.items():
            assert [found[position] for position in positions] == [[writer, number] for number in range(40)]
            assert positions == sorted(positions)

    # --- documents -----------------------------------------------------------------------

    def test_a_document_comes_back_with_its_hash(self, store: Store) -> None:
        for data in (b"# Tea\n", b"", b"\x00\xff\r\n" * 1000):
            found = store.get(PAGE)
            assert store.put(PAGE, data, base=found.sha256 if found else None) == hash_of(data)
            document = store.get(PAGE)
            assert document is not None
            assert (document.path, document.data, document.sha256) == (PAGE, data, hash_of(data))

    def test_what_is_not_there_is_none(self, store: Store) -> None:
        assert store.get(PAGE) is None
        assert store.stat(PAGE) is None
        assert store.list("facts") == []

    def test_a_put_from_other_bytes_is_stale_and_says_what_is_there(self, store: Store) -> None:
        one, two = hash_of(b"one"), hash_of(b"two")
        for base, current in ((two, None), (None, one), (two, one)):
            if current and store.get(PAGE) is None:
                store.put(PAGE, b"one", base=None)
            for record in (None, edit_of(PAGE, base, b"new")):
                with pytest.raises(Stale) as stale:
                    store.put(PAGE, b"new", base=base, record=record)
                assert (stale.value.path, stale.value.base, stale.value.current) == (PAGE, base, current)
        document = store.get(PAGE)
        assert document is not None
        assert document.data == b"one"
        assert records(store, JOURNAL) == []

    def test_a_deletion_from_other_bytes_is_stale(self, store: Store) -> None:
        with pytest.raises(Stale) as stale:
            store.delete(PAGE, base=hash_of(b"one"))
        assert stale.value.current is None
        store.put(PAGE, b"one", base=None)
        with pytest.raises(Stale) as stale:
            store.delete(PAGE, base=hash_of(b"two"))
        assert stale.value.current == hash_of(b"one")
        assert store.get(PAGE) is not None
        store.delete(PAGE, base=hash_of(b"one"))
        assert store.get(PAGE) is None

    def test_a_page_s_change_and_its_record_happen_together(self, store: Store) -> None:
        steps: list[tuple[bytes | None, bytes | None]] = [
            (None, b"1"),
            (b"1", b"22"),
            (b"22", b""),
            (b"", None),
        ]
        edits = []
        for old, new in steps:
            base = None if old is None else hash_of(old)
            edits.append(edit_of(PAGE, base, new))
            if new is None:
                assert base is not None
                store.delete(PAGE, base=base, record=edits[-1])
            else:
                assert store.put(PAGE, new, base=base, record=edits[-1]) == hash_of(new)
            document = store.get(PAGE)
            assert (document and document.data) == new
            assert records(store, JOURNAL) == edits
        assert list(store.check()) == []

    def test_a_stat_changes_when_the_document_does(self, store: Store) -> None:
        marks = set()
        base = None
        for data in (b"one", b"two", b"three"):
            base = store.put(PAGE, data, base=base)
            stat = store.stat(PAGE)
            assert stat is not None
            assert (stat.path, stat.size) == (PAGE, len(data))
            assert store.stat(PAGE) == stat
            marks.add(stat.mark)
        assert len(marks) == 3

    def test_a_folder_lists_its_own_documents_by_name(self, store: Store) -> None:
        for path in ("facts/b.md", "facts/a.md", "USER.md", "days/2025-01-01.md", "facts/é.md"):
            store.put(path, path.encode(), base=None)
        assert [stat.path for stat in store.list("facts")] == ["facts/a.md", "facts/b.md", "facts/é.md"]
        assert [stat.path for stat in store.list()] == ["USER.md"]
        assert store.list("facts") == [store.stat(stat.path) for stat in store.list("facts")]

    def test_a_document_over_the_limit_is_refused_and_not_cut(self, store: Store) -> None:
        store.put(PAGE, b"x" * 100, base=None)
        assert store.get(PAGE, limit=100) == store.get(PAGE)
        with pytest.raises(Refused, match="larger than 99 bytes"):
            store.get(PAGE, limit=99)

    def test_a_view_is_replaced_without_a_base_and_only_below_views(self, store: Store) -> None:
        for data in (b"one", b"two"):
            store.view("views/topics/tea/topic_memory.md", data)
            document = store.get("views/topics/tea/topic_memory.md")
            assert document is not None
            assert document.data == data
        with pytest.raises(Refused, match="was not written"):
            store.view(PAGE, b"x")
        assert store.get(PAGE) is None

    def test_a_folder_is_published_whole_and_once(self, store: Store) -> None:
        files = {"raw.md": b"what was read", "summary.json": b'{"schema":"entry_summary.v1"}'}
        files["meta.json"] = b'{"schema":"entry.v1"}'
        folder = f"log/entries/tea/{new_id()}"
        store.publish(folder, files)
        assert [stat.path for stat in store.list(folder)] == [f"{folder}/{name}" for name in sorted(files)]
        with pytest.raises(Refused, match="never changes"):
            store.publish(folder, {"raw.md": b"something else"})
        for name, data in files.items():
            document = store.get(f"{folder}/{name}")
            assert document is not None
            assert document.data == data
        assert list(store.check()) == []

    def test_a_folder_that_is_published_again_stays_as_it_is(self, store: Store) -> None:
        folder = f"log/entries/tea/{new_id()}"
        store.publish(folder, {"raw.md": b"first"}, again=True)
        store.publish(folder, {"raw.md": b"second", "meta.json": b"{}"}, again=True)
        assert [stat.path for stat in store.list(folder)] == [f"{folder}/raw.md"]
        document = store.get(f"{folder}/raw.md")
        assert document is not None
        assert document.data == b"first"

    def test_the_folders_in_a_folder_are_listed_by_name(self, store: Store) -> None:
        assert store.folders("log/entries") == ()
        for topic in ("tea", "coffee"):
            store.publish(f"log/entries/{topic}/{new_id()}", {"raw.md": b"x"})
        store.view("views/topics.md", b"no folder")
        assert store.folders("log/entries") == ("coffee", "tea")
        assert "topics.md" not in store.folders("views")

    def test_a_folder_with_a_hostile_name_in_it_is_not_published_at_all(self, store: Store) -> None:
        folder = f"log/entries/tea/{new_id()}"
        with pytest.raises(Refused):
            store.publish(folder, {"raw.md": b"fine", "../../../escaped": b"not fine"})
        assert store.list(folder) == []
        assert store.list("log/entries/tea") == []
        store.publish(folder, {"raw.md": b"fine"})

    def test_a_hostile_path_is_refused_everywhere(self, store: Store) -> None:
        def check(path: str) -> None:
            for act in (
                lambda: store.get(path),
                lambda: store.stat(path),
                lambda: store.put(path, b"x", base=None),
                lambda: store.put(path, b"x", base=None, record=edit_of(path, None, b"x")),
                lambda: store.delete(path, base=hash_of(b"")),
                lambda: store.view(f"views/{path}", b"x"),
                lambda: store.publish(path, {"x": b"x"}),
                lambda: store.list(path),
            ):
                with pytest.raises(Refused):
                    act()
            assert records(store, JOURNAL) == []

        check_rows(check, ["../x.md", "/etc/passwd", "facts/../x.md", "facts//x.md", "a\0b.md", "c:x.md"])

    # --- the lock ------------------------------------------------------------------------

    def test_the_lock_may_be_entered_again_by_its_holder(self, store: Store) -> None:
        with store.lock(), store.lock():
            store.append(self.log, [record_of("inside")])
            with store.lock():
                store.put(PAGE, b"inside", base=None, record=edit_of(PAGE, None, b"inside"))
            store.rotate(self.log)
        store.append(self.log, [record_of("outside")])
        assert [record["content"] for record in records_but_edits(store, self.log)] == ["inside", "outside"]

    def test_another_handle_waits_for_the_lock_and_readers_do_not(
        self, store: Store, open_store: OpenStore
    ) -> None:
        other = open_store()
        order: list[str] = []

        def write() -> None:
            other.append(self.log, [record_of("other")])
            order.append("other wrote")

        thread = threading.Thread(target=write)
        with store.lock():
            thread.start()
            time.sleep(0.05)
            store.append(self.log, [record_of("mine")])
            assert [record["content"] for record in records(other, self.log)] == ["mine"]
            order.append("released")
        thread.join()
        assert order == ["released", "other wrote"]
        assert [record["content"] for record in records(store, self.log)] == ["mine", "other"]
        other.close()

    def test_two_handles_see_each_other_s_work(self, store: Store, open_store: OpenStore) -> None:
        other = open_store()
        given = [record_of(number) for number in range(12)]
        for number, record in enumerate(given):
            (store, other)[number % 2].append(self.log, [record])
            if number % 5 == 4:
                (other, store)[number % 2].rotate(self.log)
        assert records(store, self.log) == records(other, self.log) == given
        base = store.put(PAGE, b"mine", base=None)
        with pytest.raises(Stale) as stale:
            other.put(PAGE, b"theirs", base=None)
        assert stale.value.current == base
        assert other.put(PAGE, b"theirs", base=base) == hash_of(b"theirs")
        assert list(other.check()) == []
        other.close()

    # --- closing, care ---------------------------------------------------------------------

    def test_everything_is_there_after_closing_and_opening_again(self, open_store: OpenStore) -> None:
        given = [record_of("x" * (number * 37 % 400)) for number in range(60)]
        edit = edit_of(PAGE, None, b"# Tea\n")
        for number in itertools.count():
            store = open_store()
            found = records_but_edits(store, self.log)
            assert found == given[: len(found)]
            assert (store.get(PAGE) is not None) == (number > 0)
            assert list(store.check()) == []
            if number == 0:
                store.put(PAGE, b"# Tea\n", base=None, record=edit)
            if len(found) == len(given):
                break
            store.append(self.log, given[len(found) : len(found) + 7])
            if number % 3 == 2:
                store.rotate(self.log)
            store.close()
            store.close()  # twice is once
        assert [record for record in records(store, JOURNAL) if record.get("kind") == "edit"] == [edit]
        store.close()

    def test_care_changes_nothing_in_a_healthy_store(self, store: Store) -> None:
        given = [record_of("x" * 300_000), record_of("y")]
        store.append(self.log, given)
        store.rotate(self.log)
        store.append(JOURNAL, given)
        store.put(PAGE, b"# Tea\n", base=None, record=edit_of(PAGE, None, b"# Tea\n"))
        lines = {stream: list(store.read(stream)) for stream in self.streams}
        store.recover()
        assert store.repair() == []
        assert {stream: list(store.read(stream)) for stream in self.streams} == lines
        assert [line.record for line in lines[self.log]][:2] == given
        assert list(store.check()) == []
