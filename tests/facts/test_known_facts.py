"""The views of facts: whatever happens to them, to the journal or to the page of review, reading gives what the pages
say, and no unearned level."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drawing import few
from facts.test_ledger import HASTY
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.values import Document
from looseleaf.facts.known_facts import FOLDER, INDEX, Facts
from looseleaf.facts.ledger import fact_id
from looseleaf.facts.page_lines import Shard
from looseleaf.pages.pages import Rewritten
from looseleaf.store import JOURNAL, records
from looseleaf.store.files import FileStore
from wiring import lone_pages

TEXT = "# Work\n\n- Database: Postgres\n- Port: 5432\n"


class Desk:
    """A store with its pages, and whatever reads facts from it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.store = FileStore(folder, HASTY)
        self.pages = lone_pages(self.store, HASTY)

    def facts(self, store: Any = None, *, trusts: bool = True) -> Facts:
        """A reader, as another process would be."""
        facts = Facts(store or self.store, self.pages.absorb.head_bytes, trusts=trusts)
        facts.catch_up()
        return facts

    def edit(self, path: str, text: str, author: str = "agent:main") -> None:
        self.pages.edit(path, text, reason="a test", author=author)

    def save_outside(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")
        self.pages.absorb()

    def tell(self, path: str, relation: str, said: str, level: str) -> None:
        told = {"id": fact_id(path, relation, said), "relation": relation, "object": said, "level": level}
        line = f"- {relation}: {said}\n"
        self.pages.rewrite(path, lambda text: Rewritten(text + line, (told,)), reason="told")

    def views(self) -> dict[str, bytes]:
        found = [self.folder / INDEX, *(self.folder / FOLDER).rglob("*.json")]
        return {str(file.relative_to(self.folder)): file.read_bytes() for file in found if file.exists()}

    def remove_views(self) -> None:
        (self.folder / INDEX).unlink(missing_ok=True)
        shutil.rmtree(self.folder / FOLDER, ignore_errors=True)

    def anew(self) -> dict[str, bytes]:
        """The views as they are when they are made from nothing."""
        self.remove_views()
        self.facts()
        return self.views()

    def lines_are_facts(self, facts: Facts) -> None:
        known = sorted((fact.path, fact.line, fact.object) for fact in facts.all() if fact.line is not None)
        paths = [path for path in self.pages.paths() if path == "USER.md" or path.startswith("facts/")]
        wanted = [(path, fact.line, fact.object) for path in paths for fact in self.pages.page(path).facts]
        assert known == sorted(wanted)


@pytest.fixture
def desk(place: Path) -> Iterator[Desk]:
    desk = Desk(place / "memory")
    yield desk
    desk.store.close()


@pytest.fixture
def busy(desk: Desk) -> Desk:
    """Three topics, a page that was moved, a fact that was told, one that was rejected."""
    desk.edit("facts/work.md", TEXT)
    desk.edit("facts/tea.md", "- Sugar: none\n- Milk: some\n", "person")
    desk.tell("USER.md", "Home", "Rome", "said")
    desk.save_outside("facts/tea.md", "- Sugar: none\n")
    desk.facts()
    return desk


# --- views that are no good --------------------------------------------------------------


def checked(data: bytes) -> bytes:
    """A foreign record, whole and with a right checksum."""
    return records.encode(json.loads(data))


FOREIGN: tuple[Callable[[bytes], bytes], ...] = (
    lambda data: b"",
    lambda data: b"{}",
    lambda data: b"\xff\xfe",
    lambda data: checked(b'{"a":1}'),
    lambda data: checked(b'{"schema":"facts_index.v1"}'),
    lambda data: checked(b'{"schema":"facts.v1","name":"work","position":[0,0],"facts":[1],"sheets":[[]]}'),
    lambda data: data.replace(b"facts.v1", b"facts.v0").replace(b"facts_index.v1", b"facts_index.v0"),
    lambda data: data[: len(data) // 2],
    lambda data: data + data,
    lambda data: records.encode(dict.fromkeys(records.decode(data.rstrip(b"\n"))[0], None)),
    lambda data: records.encode(
        records.decode(data.rstrip(b"\n"))[0] | {"topics": {"work": [1]}, "facts": [[]]}
    ),
    lambda data: records.encode(records.decode(data.rstrip(b"\n"))[0] | {"position": [99, 99]}),
    lambda data: records.encode(records.decode(data.rstrip(b"\n"))[0] | {"position": "x", "name": "tea"}),
    lambda data: records.encode(records.decode(data.rstrip(b"\n"))[0] | {"moved": [[1]], "sheets": [["a"]]}),
    lambda data: records.encode(records.decode(data.rstrip(b"\n"))[0] | {"last": "another"}),
)


@pytest.mark.parametrize("which", ["index", "work", "user"])
def test_a_view_that_is_no_good_is_made_again(busy: Desk, which: str) -> None:
    wanted = busy.views()
    path = INDEX if which == "index" else f"{FOLDER}/{which}.json"
    for make in FOREIGN:
        (busy.folder / path).write_bytes(make(wanted[path]))
        facts = busy.facts()
        busy.lines_are_facts(facts)
        assert busy.views() == wanted


@settings(max_examples=few(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_view_with_any_byte_flipped_cut_or_zeroed_is_made_again(busy: Desk, data: st.DataObject) -> None:
    wanted = busy.views()
    path = data.draw(st.sampled_from(sorted(wanted)))
    at = data.draw(st.integers(0, len(wanted[path]) - 1))
    how = data.draw(st.sampled_from(["flip", "cut", "zero", "gone"]))
    raw = bytearray(wanted[path])
    if how == "flip":
        raw[at] ^= 1 << data.draw(st.integers(0, 7))
    elif how == "zero":
        raw[at] = 0
    elif how == "cut":
        del raw[at:]
    (busy.folder / path).write_bytes(raw)
    if how == "gone":
        (busy.folder / path).unlink()
    facts = busy.facts()
    busy.lines_are_facts(facts)
    assert [path for path, view in busy.views().items() if view != wanted[path]] in ([], [INDEX])
    assert busy.views().keys() == wanted.keys()
    busy.anew()
    assert busy.views() == wanted


def test_views_deleted_under_a_reader_are_written_again_whole(busy: Desk) -> None:
    reader = busy.facts()
    reader.of("work")
    busy.remove_views()
    busy.edit("facts/work.md", f"{TEXT}- Branch: main\n")
    reader.catch_up()
    kept = busy.views()
    assert kept == busy.anew()
    assert [fact.object for fact in reader.of("tea") if fact.line] == ["none"]


def test_a_shard_deleted_beside_its_index_is_written_again(busy: Desk) -> None:
    wanted = busy.views()
    (busy.folder / FOLDER / "work.json").unlink()
    busy.lines_are_facts(busy.facts())
    assert busy.views() == wanted


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_views_in_a_folder_that_may_only_be_read_are_read(busy: Desk) -> None:
    busy.edit("facts/work.md", f"{TEXT}- Branch: main\n")
    (busy.folder / "views").chmod(0o500)
    try:
        busy.lines_are_facts(busy.facts())
    finally:
        (busy.folder / "views").chmod(0o700)


class Unwritable:
    """A store on a disk that takes no view."""

    def __init__(self, store: FileStore, *, after: int = 0, locked: bool = False) -> None:
        self._store, self._left, self._locked = store, after, locked

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def lock(self) -> Any:
        if self._locked:
            raise Refused("Nothing was done: the lock could not be taken.")
        return self._store.lock()

    def view(self, path: str, data: bytes) -> None:
        self._left -= 1
        if self._left < 0:
            raise Refused(f"{path} was not written: the disk is full.")
        self._store.view(path, data)


@pytest.mark.parametrize("locked", [False, True])
def test_where_no_view_can_be_written_everything_is_read(busy: Desk, locked: bool) -> None:
    before = busy.views()
    busy.edit("facts/work.md", f"{TEXT}- Branch: main\n")
    facts = busy.facts(Unwritable(busy.store, locked=locked))
    busy.lines_are_facts(facts)
    assert busy.views() == before
    busy.edit("facts/work.md", TEXT)
    facts.catch_up()
    busy.lines_are_facts(facts)


@pytest.mark.parametrize("written", range(4))
def test_a_disk_that_fills_up_between_two_views_leaves_nothing_that_lies(busy: Desk, written: int) -> None:
    busy.edit("facts/work.md", f"{TEXT}- Branch: main\n")
    busy.edit("facts/tea.md", "- Milk: none\n")
    busy.edit("USER.md", "- Name: Li\n", "person")
    busy.facts(Unwritable(busy.store, after=written))
    facts = busy.facts()
    busy.lines_are_facts(facts)
    views = busy.views()
    assert views == busy.anew()


# --- two that read and write ---------------------------------------------------------------


@settings(max_examples=few(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=14))
def test_whoever_reads_and_writes_between_nobody_leaves_files_that_do_not_belong_together(
    place: Path, steps: list[tuple[int, int]]
) -> None:
    """Three readers that catch up, look at a topic, stop half-way through saving, or lose their views."""
    folder = place / "memory"
    shutil.rmtree(folder, ignore_errors=True)
    desk = Desk(folder)
    topics = ("work", "tea", "user")
    readers = [desk.facts() for _ in range(3)]
    for number, (what, which) in enumerate(steps):
        match what:
            case 0:
                desk.edit(f"facts/{topics[which]}.md", f"- Count: {number}\n")
            case 1:
                readers[which].catch_up()
            case 2:
                readers[which].catch_up()
                desk.lines_are_facts(readers[which])
            case 3:
                desk.facts(Unwritable(desk.store, after=which))
            case 4:
                readers[which] = desk.facts()
        belongs_together(desk)
    for reader in readers:
        reader.catch_up()
        desk.lines_are_facts(reader)
    desk.facts().all()
    assert desk.views() == desk.anew()
    desk.store.close()


def belongs_together(desk: Desk) -> None:
    """What a new reader makes of the views is what the journal says."""
    views = desk.views()
    facts = desk.facts()
    desk.lines_are_facts(facts)
    desk.remove_views()
    for path, data in views.items():
        (desk.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (desk.folder / path).write_bytes(data)


class Paused:
    """A store where another process gets ahead of the next write of a view."""

    def __init__(self, store: FileStore, meanwhile: Callable[[], None], at: str) -> None:
        self._store, self._meanwhile, self._at = store, meanwhile, at

    def __getattr__(self, name: str) -> Any:
        if name == self._at:
            self._at = ""
            self._meanwhile()
        return getattr(self._store, name)


@pytest.mark.parametrize("at", ["lock", "read_back", "get", "read"])
def test_a_reader_that_is_overtaken_writes_nothing_older(busy: Desk, at: str) -> None:
    def meanwhile() -> None:
        busy.edit("facts/work.md", "- Database: SQLite\n")
        busy.edit("facts/tea.md", "- Sugar: two\n")
        busy.facts().all()

    busy.edit("facts/work.md", "- Database: MySQL\n")
    slow = busy.facts(Paused(busy.store, meanwhile, at))
    views = busy.views()
    busy.lines_are_facts(busy.facts())
    assert views == busy.anew()
    slow.catch_up()
    busy.lines_are_facts(slow)


def test_a_reader_that_finds_a_newer_shard_than_its_index_reads_both_again(busy: Desk) -> None:
    slow = busy.facts()  # has the index, and no shard yet
    busy.edit("facts/work.md", "- Database: SQLite\n")
    busy.facts().all()
    assert [fact.object for fact in slow.of("work") if fact.line] == ["SQLite"]
    busy.lines_are_facts(slow)


class Careless(Facts):
    """The mutant: takes each file for what it says it is, whichever index it was written for."""

    def _read_shard(self, name: str) -> Shard:
        document = self._store.get(f"{FOLDER}/{name}.json")
        assert document is not None
        return Shard.from_record(records.decode(document.data.rstrip(b"\n"))[0])


class Dying:
    """A store of a process that dies before it writes the index."""

    def __init__(self, store: FileStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def view(self, path: str, data: bytes) -> None:
        if path == INDEX:
            raise Refused("Nothing was written: the process died.")
        self._store.view(path, data)


@pytest.mark.parametrize(("made", "is_right"), [(Facts, True), (Careless, False)])
def test_files_of_two_readings_are_not_read_together(busy: Desk, made: type[Facts], is_right: bool) -> None:
    busy.edit("facts/work.md", "- Database: MySQL\n- Port: 1\n")
    busy.facts(Dying(busy.store))
    found = made(busy.store, busy.pages.absorb.head_bytes, trusts=True)
    found.catch_up()
    known = [fact.to_dict() for fact in found.of("work")]
    busy.remove_views()
    assert (known == [fact.to_dict() for fact in busy.facts().of("work")]) == is_right


# --- what is read ----------------------------------------------------------------------------


class Counted:
    """A store that counts which documents are asked for."""

    def __init__(self, store: FileStore) -> None:
        self._store = store
        self.asked: list[str] = []
        self.written: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def get(self, path: str, limit: int | None = None) -> Document | None:
        self.asked.append(path)
        return self._store.get(path, limit)

    def view(self, path: str, data: bytes) -> None:
        self.written.append(path)
        self._store.view(path, data)


def test_one_edit_reads_and_writes_the_index_and_its_own_topic(busy: Desk) -> None:
    for number in range(10):
        busy.edit(f"facts/topic-{number}.md", "- A: x\n")
    busy.facts()
    busy.edit("facts/work.md", f"{TEXT}- Branch: main\n")
    counted = Counted(busy.store)
    busy.facts(counted)
    assert set(counted.asked) == {INDEX, f"{FOLDER}/work.json"}
    assert counted.written == [f"{FOLDER}/work.json", INDEX]
    again = Counted(busy.store)
    busy.facts(again)
    assert (set(again.asked), again.written) == ({INDEX}, [])


def test_a_journal_of_a_format_that_is_not_known_is_not_read_past(busy: Desk) -> None:
    reader = busy.facts()
    busy.store.append(JOURNAL, [{"schema": "journal.v9", "id": "x", "ts": 0.0, "kind": "edit"}])
    for facts in (reader, Facts(busy.store, busy.pages.absorb.head_bytes, trusts=True)):
        with pytest.raises(Refused, match="format"):
            facts.catch_up()
    assert busy.views() != {}


def test_a_fact_is_found_by_its_id_and_by_its_place(busy: Desk) -> None:
    facts = busy.facts()
    home = next(fact for fact in facts.of("user"))
    assert facts.find(home.id or "") == facts.find((home.id or "")[2:9]) == facts.find("USER.md:1") == home
    for name in ("", "zz", "USER.md:9", "SOUL.md:1", "f_zzzzzz"):
        with pytest.raises(Refused, match="there is no fact"):
            facts.find(name)
    with pytest.raises(Refused, match="facts begin with f_"):
        facts.find("f_")


# --- a journal with holes ----------------------------------------------------------------------


def rows(desk: Desk) -> list[bytes]:
    return (desk.folder / "log/journal.jsonl").read_bytes().splitlines(keepends=True)


def written_again(desk: Desk, lines: list[bytes]) -> Desk:
    """The same memory with this journal, opened anew without any view."""
    desk.store.close()
    shutil.rmtree(desk.folder / "views")
    (desk.folder / "log/journal.jsonl").write_bytes(b"".join(lines))
    return Desk(desk.folder)


def history(desk: Desk) -> None:
    """Agents, people and the program at two pages; only lines that begin with `- Mine` are a person's."""
    desk.edit("facts/work.md", "- Guess a: x\n")
    desk.edit("facts/tea.md", "- Guess t: x\n")
    desk.edit("facts/work.md", "- Guess a: x\n- Guess b: x\n")
    desk.save_outside("facts/work.md", "- Guess a: x\n- Guess b: x\n- Mine c: x\n")
    desk.tell("facts/work.md", "Told d", "x", "said")
    desk.pages.undo("facts/work.md", author="person")
    desk.edit("facts/work.md", "- Guess e: x\n```\n- Guess b: x\n- Mine c: x\n")
    desk.pages.delete("facts/tea.md", reason="a test")
    desk.edit("facts/tea.md", "- Guess t: x\n- Guess u: x\n")
    desk.edit("facts/work.md", "- Guess e: x\n- Guess b: x\n- Mine c: x\n")


def nothing_rose(facts: Facts) -> None:
    for fact in facts.all():
        assert fact.level != "confirmed" or fact.relation.startswith("Mine"), fact
        assert fact.level != "said" or fact.relation.startswith("Told"), fact


@pytest.mark.parametrize("damage", ["lost", "zeroed", "nonsense", "two"])
def test_with_a_record_missing_facts_are_still_the_lines_and_nothing_rises(desk: Desk, damage: str) -> None:
    history(desk)
    whole = rows(desk)
    for number in range(len(whole)):
        lines = list(whole)
        if damage == "zeroed":
            lines[number] = b"\0" * (len(lines[number]) - 1) + b"\n"
        elif damage == "nonsense":
            record = records.decode(lines[number].rstrip(b"\n"))[0]
            lines[number] = records.encode(record | {"diff": [{"at": 7, "del": ["no\n"], "add": ["a\nb\n"]}]})
        else:
            del lines[number : number + 1]
            if damage == "two" and number + 2 < len(lines):
                del lines[number + 2]
        desk = written_again(desk, lines)
        if any(edit.author == "external" for edit in desk.pages.absorb()):
            assert damage in ("lost", "two")  # cut as if it was never written: no trace is left
            continue
        facts = desk.facts()
        desk.lines_are_facts(facts)
        nothing_rose(facts)
        views = desk.views()
        assert views == desk.anew()
        desk.edit("facts/work.md", lambda text: f"{text}- Guess z: x\n")  # type: ignore[arg-type]
        facts.catch_up()
        desk.lines_are_facts(facts)
        nothing_rose(facts)
        views = desk.views()
        assert views == desk.anew()
        desk.pages.undo("facts/work.md")


def test_what_a_person_wrote_after_a_hole_is_still_a_persons(desk: Desk) -> None:
    history(desk)
    desk.save_outside("facts/work.md", "- Guess e: x\n- Guess b: x\n- Mine c: x\n- Mine f: x\n")
    lines = rows(desk)
    del lines[2]
    desk = written_again(desk, lines)
    desk.pages.absorb()
    found = {fact.relation: fact.level for fact in desk.facts().of("work") if fact.line is not None}
    assert found == {
        "Guess e": "inferred",
        "Guess b": "inferred",
        "Mine c": "confirmed",
        "Mine f": "confirmed",
    }


def test_an_edit_that_did_not_happen_is_not_taken_however_late_that_is_known(desk: Desk) -> None:
    desk.edit("facts/work.md", "- Database: Postgres\n")
    kept = desk.facts()
    edit = next(desk.pages.history.back("facts/work.md"))
    base = edit.new
    desk.edit("facts/work.md", "- Database: MySQL\n")
    kept.catch_up()
    kept.all()
    taken = next(desk.pages.history.back("facts/work.md"))
    (desk.folder / "facts/work.md").write_text("- Database: Postgres\n", encoding="utf-8")
    void = {"schema": "journal.v1", "id": "v", "ts": 1.0, "kind": "void", "path": "facts/work.md"}
    desk.store.append(JOURNAL, [void | {"edit": taken.id, "reason": "a test"}])
    assert taken.base == base
    desk.pages.absorb()
    for facts in (kept, desk.facts()):
        facts.catch_up()
        assert [(fact.object, fact.status) for fact in facts.of("work")] == [("Postgres", "current")]
    views = desk.views()
    assert views == desk.anew()


def test_a_void_that_comes_while_the_journal_is_read_is_not_overlooked(desk: Desk) -> None:
    desk.edit("facts/work.md", "- Database: Postgres\n")
    desk.facts()
    desk.edit("facts/work.md", "- Database: MySQL\n")
    taken = next(desk.pages.history.back("facts/work.md"))

    class Between:
        """A store whose journal grows between the first reading of it and the second."""

        def __init__(self) -> None:
            self.readings = 0

        def __getattr__(self, name: str) -> Any:
            if name == "read":
                self.readings += 1
                if self.readings == 2:
                    (desk.folder / "facts/work.md").write_text("- Database: Postgres\n", encoding="utf-8")
                    void = {"schema": "journal.v1", "id": "v", "ts": 1.0, "kind": "void", "edit": taken.id}
                    desk.store.append(JOURNAL, [void | {"path": "facts/work.md", "reason": "a test"}])
            return getattr(desk.store, name)

    facts = desk.facts(Between())
    facts.catch_up()
    assert [fact.object for fact in facts.of("work")] == ["Postgres"]


def test_an_index_of_a_longer_journal_than_there_is_does_not_stay(busy: Desk) -> None:
    lines = rows(busy)
    views = busy.views()
    busy.store.close()
    (busy.folder / "log/journal.jsonl").write_bytes(b"".join(lines[:-2]))
    desk = Desk(busy.folder)
    desk.facts().all()
    assert desk.views() != views
    counted = Counted(desk.store)
    desk.facts(counted)
    assert counted.asked == [INDEX]
    desk.store.close()


# --- untrusted edits on disk ---------------------------------------------------------------------


def test_with_the_setting_changed_all_is_read_again(busy: Desk) -> None:
    levels = {fact.object: fact.level for fact in busy.facts().of("tea")}
    busy.save_outside("facts/tea.md", "- Sugar: none\n- Lemon: one\n")
    for trusts, level, status in ((True, "confirmed", "rejected"), (False, "inferred", "superseded")) * 2:
        facts = busy.facts(trusts=trusts)
        found = {fact.object: (fact.level, fact.status) for fact in facts.of("tea")}
        assert found["one"] == (level, "current")
        assert found["some"] == (levels["some"], status)


def test_what_is_kept_at_hand_of_the_facts_is_what_is_true_now(place: Path) -> None:
    with Memory(place / "memory") as memory, Memory(place / "memory") as other:

        def told() -> list[str]:
            found = memory.facts()
            with Memory(place / "memory") as fresh:
                assert found == memory.facts() == fresh.facts()
            said = [each.object for each in found]
            found.clear()  # whose list it is may do with it what they like
            return said

        assert told() == []
        memory.remember("I live in Lyon.")
        assert told() == ["Lyon"]
        other.remember("Favourite tea: assam")
        assert told() == ["Lyon", "assam"]
        other.remember("I live in Lisbon.")
        assert told() == ["Lisbon", "assam"]
        memory.history.undo()
        assert told() == ["Lyon", "assam"]
        other.forget(match="assam")
        assert told() == ["Lyon"]
        page = place / "memory" / "USER.md"
        page.write_text(page.read_text().replace("Lyon", "Porto"))
        assert told() == ["Porto"]
