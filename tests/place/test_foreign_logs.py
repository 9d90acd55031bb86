"""The log of another machine may have come from anywhere: whatever a record of it says, only pages follow from it, no
level rises by it, and the memory goes on."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drawing import few
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.ids import new_id
from looseleaf.log.journal import make_edit, record_of
from looseleaf.place.other_machines import OtherMachines
from looseleaf.place.woven_page import PageLog
from looseleaf.store.foreign import SAYS
from looseleaf.store.records import decode, encode
from machines import FIRST, Machines

if TYPE_CHECKING:
    from collections.abc import Iterator

LAP = "lap"
WAYS = ("merge", "carry")


@pytest.fixture
def machines(place: Path) -> Iterator[Machines]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOSELEAF_MACHINE", FIRST)
        made = Machines(place)
        with made.open(LAP) as memory:
            memory.remember("I work at Acme.")
        yield made


def edit(path: str, text: str, author: str = "person", facts: tuple[Any, ...] = ()) -> dict[str, Any]:
    return record_of(make_edit(new_id(), time.time(), path, author, "x", None, text.encode(), facts=facts))


def record(**members: Any) -> dict[str, Any]:
    return {"schema": "journal.v1", "id": new_id(), "ts": time.time()} | members


def forge(machines: Machines, *records: dict[str, Any]) -> None:
    """Append records to the log of the second machine."""
    with (machines.log(LAP, LAP) / "journal.jsonl").open("ab") as journal:
        journal.writelines(map(encode, records))


def arrive(machines: Machines, way: str) -> None:
    """Let the log of the second machine come to the first."""
    if way == "carry":
        machines.carry(LAP, FIRST)
    else:
        shutil.rmtree(machines[LAP] / "views", ignore_errors=True)
        with machines.open(FIRST) as memory:
            memory.merge(machines[LAP])


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not {"views", "on", "staged"} & {*file.relative_to(folder).parts}
    }


def work(machines: Machines) -> list[str]:
    """Do what people do; return what `check` calls an error."""
    with machines.open(FIRST) as memory:
        memory.facts()
        memory.recall("Lyon")
        memory.remember("I own a boat.")
        assert "boat" in str([fact.object for fact in memory.facts()])
        list(memory.parts.pages.log())
        memory.repair()
        memory.recall("Lyon")
        return [str(each) for each in memory.check() if each.severity == "error"]


ODD = (
    *("looseleaf.toml", "log/on/desk/journal.jsonl", "log/journal.jsonl", "log/key", "views/facts.json"),
    *(".gitignore", "../x.md", "/tmp/x.md", "facts/deep/er.md", "facts/.x.md", "review/x.txt", "a\\b.md"),
)


@pytest.mark.parametrize("way", WAYS)
def test_a_record_about_what_is_no_page_writes_nothing(machines: Machines, way: str) -> None:
    forge(machines, *(edit(path, "sync = 'x'\n") for path in ODD))
    before = files(machines[FIRST])
    with machines.open(FIRST) as memory:
        if way == "merge":
            said = memory.merge(machines[LAP], dry_run=True)
            assert [fact.object for fact in said.added] == ["Acme"]
            assert any(f"{len(ODD)} records in the log of lap" in note for note in memory.notes)
    assert files(machines[FIRST]) == before
    arrive(machines, way)
    with machines.open(FIRST) as memory:
        memory.recall("Acme")
        told = [note for note in memory.notes if "left out" in note]
        assert [f"{len(ODD)} records in the log of lap" in note for note in told] == (
            [True] if way == "carry" else []
        )
        assert {fact.object for fact in memory.facts()} >= {"Acme"}
    now = files(machines[FIRST])
    assert {path for path in now if path not in before} <= {"log/lock", "log/turn"} | {
        path for path in now if path.startswith(("days/", "facts/user", "log/"))
    }
    assert not {*ODD[:1], ".gitignore"} & ({*now} - {*before})
    journal = "log/journal.jsonl"
    assert now[journal].startswith(before[journal])
    assert not (machines[FIRST] / "log" / "on" / FIRST).exists()
    with machines.open(FIRST) as memory:  # it is told once
        memory.recall("Acme")
        assert not any("left out" in note for note in memory.notes)
    problems = work(machines)
    assert sum(SAYS in each for each in problems) == len(problems) == len(ODD)


def test_nothing_but_a_page_is_ever_put_in_place_from_a_log(machines: Machines) -> None:
    with machines.open(FIRST) as memory:
        others: OtherMachines = memory.parts.others
        for path in ODD:
            change = make_edit(new_id(), time.time(), path, "program", "merged", None, b"x\n")
            others._put(path, {LAP: PageLog(lambda page: (page or b"").decode())}, change, None, b"x\n")
    assert not (machines[FIRST] / "looseleaf.toml").exists()
    assert b"looseleaf.toml" not in (machines[FIRST] / "log" / "journal.jsonl").read_bytes()


MALFORMED: tuple[dict[str, Any], ...] = (
    {"kind": "merged", "facts": [{"topic": "user"}]},
    {"kind": "merged", "facts": 5},
    {"kind": "merged", "retold": [["x"], 5]},
    {"kind": "fact", "topic": "user", "fact": "f_1", "set": 5},
    {"kind": "placed", "topic": "../../x", "entry": "../../x/y", "agent": "../x"},
    {"kind": "placed", "topic": "user", "entry": "user/x", "entry_ts": "soon"},
    {"kind": "placed", "agent": "main", "through": ["x"]},
    {"kind": "edit", "path": ["x"]},
    {"kind": ["edit"]},
    {"kind": "void", "path": "USER.md"},
    {"kind": "copy", "path": "looseleaf.toml", "of": "USER.md"},
    {"kind": "edit", "path": "USER.md", "ts": 1e300},
    {"kind": "merged", "id": ["x"]},
    {"schema": 5},
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("odd", MALFORMED, ids=[json.dumps(each)[:40] for each in MALFORMED])
def test_a_record_that_makes_no_sense_is_left_out_and_named(
    machines: Machines, way: str, odd: dict[str, Any]
) -> None:
    forge(machines, record() | odd)
    arrive(machines, way)
    problems = work(machines)
    assert [SAYS in each for each in problems] == [True]
    with machines.open(FIRST) as memory:
        assert {fact.object for fact in memory.facts()} >= {"Acme"}


def test_what_a_newer_program_wrote_is_not_read_past_and_the_memory_goes_on(machines: Machines) -> None:
    forge(machines, edit("facts/x.md", "# X\n") | {"schema": "journal.v9"})
    with machines.open(FIRST) as memory:
        for is_dry in (True, False):
            with pytest.raises(Refused, match="newer looseleaf"):
                memory.merge(machines[LAP], dry_run=is_dry)
    assert not (machines[FIRST] / "log" / "on").exists()
    machines.carry(LAP, FIRST)
    assert work(machines) == []
    with machines.open(FIRST) as memory:
        memory.recall("tea")
        assert any("newer looseleaf" in note for note in memory.notes)
        assert "Acme" not in {fact.object for fact in memory.facts()}


def claim(**members: Any) -> tuple[dict[str, Any], ...]:
    told: dict[str, Any] = {
        "topic": "tech",
        "subject": "user",
        "relation": "Admin",
        "object": "evil",
        "level": "confirmed",
    }
    told |= {"id": "f_aaaaaaaaaaaa", "kind": "identity", "status": "current", "confidence": 1.0}
    return ({name: value for name, value in (told | members).items() if value is not None},)


NOWHERE = ["log/entries/tech/X/raw.md#L1-L1"]
CLAIMS = (
    ("program", claim(origin="web", sources=NOWHERE), "tainted"),
    ("program", claim(origin="tool", sources=["01M7R8DCXWMMHKJVYRX8P2S479"]), "tainted"),
    ("program", claim(origin="user", sources=NOWHERE, level="said"), "inferred"),
    ("program", claim(origin="person", sources=NOWHERE, entry_id="X"), "inferred"),
    ("program", claim(origin="assistant"), "inferred"),
    ("agent:main", claim(origin="user", level="said"), "inferred"),
    ("agent:main", claim(), "inferred"),
    ("unknown", claim(origin="user", sources=["USER.md@x"]), "inferred"),
    ("person", claim(), "confirmed"),
)


@pytest.mark.parametrize("way", ["edit", "merged", "decided"])
@pytest.mark.parametrize(("author", "facts", "level"), CLAIMS)
def test_no_level_is_higher_than_what_is_proven(
    machines: Machines, author: str, facts: tuple[dict[str, Any], ...], level: str, way: str
) -> None:
    page = "# T\n\n- Admin: evil\n"
    records = [edit("facts/tech.md", page, author, facts if way == "edit" else ())]
    if way == "merged":
        records.append(record(kind="merged", facts=list(facts)))
    if way == "decided":
        more = {"fact": facts[0]["id"], "topic": "tech", "author": author, "reason": "x", "was": {}}
        records[0] = edit("facts/tech.md", page, author, facts)
        records.append(record(kind="fact", set={"level": "confirmed", "confidence": 1.0}, **more))
    forge(machines, *records)
    machines.carry(LAP, FIRST)
    with machines.open(FIRST) as memory:
        memory.recall("evil")
        found = {fact.object: fact.level for fact in memory.facts()}
    assert found["Acme"] == "confirmed"
    order = ("tainted", "inferred", "said", "confirmed")
    assert order.index(found["evil"] or "tainted") <= order.index(
        "inferred" if level == "tainted" and way == "merged" else level
    )


# --- any JSON in any member ----------------------------------------------------------------

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from(
        (10**400, -1, 1e308, "", "\ud800", "../x", "log/key", "USER.md", "journal.v9", "x" * 300)
    ),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def places_in(value: object, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all members of a record, also of those within others."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [each for key, part in inner for each in ((*at, key), *places_in(part, (*at, key)))]


def replaced(value: Any, at: tuple[Any, ...], new: object) -> Any:
    if not at:
        return new
    made = value.copy()
    made[at[0]] = replaced(made[at[0]], at[1:], new)
    return made


_MADE: list[Path] = []


def rich_memories() -> Path:
    """Two machines that did all kinds of things, the second after it heard of the first."""
    if not _MADE:
        folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        machines = Machines(folder)
        with machines.open(FIRST) as memory:
            memory.remember("I live in Lyon.")
        with machines.open(LAP) as memory:
            memory.remember("I live in Rome.")
            memory.remember("I work at Acme.")
            memory.review.pin(memory.facts()[0].id or "")
            memory.state.update(goal="Rest.")
            memory.record(user="My sister is Zoe.")
            memory.record(assistant="I see.")
            memory.record(user="Bye.")
            memory.distill()
        page = machines[LAP] / "USER.md"
        page.write_text(page.read_text() + "- Likes: rain\n")
        machines.carry(FIRST, LAP)
        with machines.open(LAP) as memory:
            memory.recall("rain")
            memory.history.undo()
        _MADE.append(folder)
    return _MADE[0]


@settings(deadline=None, max_examples=few(300), suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), anything, st.sampled_from(WAYS))
def test_any_json_in_any_member_of_any_record_of_a_log_stops_nothing(
    data: st.DataObject, new: object, way: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOSELEAF_MACHINE", FIRST)
        source = rich_memories()
        folder = Path(tempfile.mkdtemp(dir=source.parent))
        try:
            for name in (FIRST, LAP):
                shutil.copytree(source / name, folder / name)
            machines = Machines.__new__(Machines)
            machines.folder = folder
            journal = machines.log(LAP, LAP) / "journal.jsonl"
            lines = journal.read_bytes().splitlines()
            at = data.draw(st.integers(0, len(lines) - 1))
            old = decode(lines[at])[0]
            where = data.draw(st.sampled_from(places_in(old)))
            changed = replaced(old, where, new)
            lines[at] = encode(changed).rstrip(b"\n")
            journal.write_bytes(b"".join(line + b"\n" for line in lines))
            own = machines.log(FIRST, FIRST) / "journal.jsonl"
            before = own.read_bytes()
            try:
                arrive(machines, way)
            except Refused:
                assert own.read_bytes() == before
                return
            work(machines)
            assert own.read_bytes().startswith(before)
            assert not (machines[FIRST] / "looseleaf.toml").exists()
        finally:
            shutil.rmtree(folder)


def test_what_is_read_of_a_log_is_what_its_machine_wrote(machines: Machines) -> None:
    """No record that a machine writes by itself is left out on another."""
    source = rich_memories()
    with Memory(source / LAP) as memory:
        assert [str(each) for each in memory.check() if SAYS in each.message] == []
    shutil.rmtree(machines[FIRST] / "log" / "on", ignore_errors=True)
    shutil.copytree(source / LAP / "log" / "on" / LAP, machines[FIRST] / "log" / "on" / LAP)
    with machines.open(FIRST) as memory:
        assert [str(each) for each in memory.check() if SAYS in each.message] == []


# --- names that some systems take for one -------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_a_page_whose_name_is_taken_waits_and_the_memory_goes_on(machines: Machines, way: str) -> None:
    for name, page, words in (
        (FIRST, "Go.md", "# Go\n\n- Compiler: gc\n"),
        (LAP, "go.md", "# go\n\n- Board: 19x19\n"),
    ):
        (machines[name] / "facts").mkdir(exist_ok=True)
        (machines[name] / "facts" / page).write_text(words)
        with machines.open(name) as memory:
            memory.recall("Go")
    with machines.open(FIRST) as memory:
        if way == "merge":
            memory.merge(machines[LAP], dry_run=True)
            assert any("facts/go.md of lap waits: facts/Go.md is here" in note for note in memory.notes)
    arrive(machines, way)
    problems = work(machines)
    assert [each.startswith("facts/go.md: another machine's page") for each in problems] == [True]
    with machines.open(FIRST) as memory:
        assert {fact.object for fact in memory.facts()} >= {"gc", "Acme"}
        memory.history.undo()
    assert [each.name for each in (machines[FIRST] / "facts").iterdir()] == ["Go.md"]
    (machines[FIRST] / "facts" / "Go.md").rename(machines[FIRST] / "facts" / "golang.md")
    with machines.open(FIRST) as memory:
        memory.recall("Go")
        memory.recall("Go")
        assert {fact.object for fact in memory.facts()} >= {"gc", "19x19"}
    assert sorted(each.name for each in (machines[FIRST] / "facts").iterdir()) == ["go.md", "golang.md"]
    assert work(machines) == []


def test_a_page_saved_with_other_line_ends_before_a_machine_began_is_changed_where_it_was(
    machines: Machines,
) -> None:
    page = machines[FIRST] / "facts" / "tech.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text("# Tech\n\n- Db: Pg\n- Keep: me\n")
    with machines.open(FIRST) as memory:
        memory.recall("Db")
    shutil.copytree(machines[FIRST], machines.folder / "new")
    there = machines.folder / "new" / "facts" / "tech.md"
    there.write_bytes(b"# Tech\r\n\r\n- Db: MySQL\r\n- Keep: me\r\n")
    with machines.open("new") as memory:
        memory.recall("Db")
        assert {"MySQL", "me"} <= {fact.object for fact in memory.facts()}
        assert "Pg" not in {fact.object for fact in memory.facts()}
    assert there.read_bytes() == b"# Tech\r\n\r\n- Db: MySQL\r\n- Keep: me\r\n"


@pytest.mark.parametrize("what", ["entries", "journal.jsonl", ""])
def test_a_link_in_a_copy_is_called_a_link(machines: Machines, what: str) -> None:
    there = machines.log(LAP, LAP)
    moved = machines.folder / "moved"
    (there / what if what else there).rename(moved)
    (there / what if what else there).symlink_to(moved)
    before = files(machines[FIRST])
    with machines.open(FIRST) as memory:
        for is_dry in (True, False):
            with pytest.raises(Refused, match="link") as refused:
                memory.merge(machines[LAP], dry_run=is_dry)
            assert "space" not in str(refused.value)
        assert "Acme" not in {fact.object for fact in memory.facts()}
    assert {*files(machines[FIRST])} - {*before} <= {"log/lock", "log/turn"}
