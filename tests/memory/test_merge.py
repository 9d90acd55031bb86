"""Another copy of a memory is merged into it: nothing that either learned is lost, the result is the same whichever is
merged into which, the other copy is left alone, and a dry run writes nothing."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drawing import few
from looseleaf import Memory
from looseleaf.base.errors import Busy, Refused
from looseleaf.base.policy import Policy
from looseleaf.cli.main import main
from looseleaf.log.talk_streams import talk_streams
from looseleaf.memory.merge import Merged
from looseleaf.store.root import Root
from looseleaf.transfer.export_folder import Copy, TarWriter, export_whole
from machines import FIRST, HASTY, Machines, unname

LAP, PHONE = "lap", "phone"


@pytest.fixture
def machines(place: Path) -> Iterator[Machines]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOSELEAF_MACHINE", FIRST)
        yield Machines(place)


def hashes(folder: Path) -> dict[str, tuple[str, int]]:
    """The bytes and the times of every file and folder."""
    return {
        str(file.relative_to(folder)): (
            hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "",
            file.stat().st_mtime_ns,
        )
        for file in folder.rglob("*")
    }


def values(memory: Memory) -> set[str]:
    return {fact.object for fact in memory.facts()}


def said(memory: Memory) -> list[str]:
    """What was said, in every log, as often as it is there."""
    store = memory.parts.context.store
    found = (line.record for stream in talk_streams(store, "main") for line in store.read(stream))
    return sorted(str(record.get("content")) for record in found)


def pages(memory: Memory) -> dict[str, bytes]:
    return {path: memory.pages.read(path).data for path in memory.pages.list()}


def errors(memory: Memory) -> list[str]:
    return [str(each) for each in memory.check() if each.severity == "error"]


def learn(machines: Machines) -> None:
    """Two machines learn facts that agree, that are replaced and that are contested; and there is talk."""
    for name, city, tool in ((FIRST, "Lyon", "a saw"), (LAP, "Rome", "a drill")):
        with machines.open(name) as memory:
            memory.remember(f"I live in {city}.")
            memory.remember(f"My {name} is old.")
            memory.record(user=f"Good morning, {name}.")
            memory.record(assistant="Good morning.")
            text = f"# Work\n\n- Employer: {tool}\n"
            memory.pages.edit("facts/work.md", text, author="agent:main", reason="found")


def told(merged: Merged) -> tuple[object, ...]:
    return (
        sorted(fact.object for fact in merged.added),
        sorted((old.object, new.object) for old, new in merged.replaced),
        sorted(fact.object for fact in merged.contested),
        sorted(fact.object for fact in merged.ended),
        merged.talk,
        merged.edited,
    )


# --- what it says, and a dry run -----------------------------------------------------------


def test_a_dry_run_says_what_a_merge_then_does_and_writes_not_one_byte(machines: Machines) -> None:
    learn(machines)
    (machines[FIRST] / "SOUL.md").write_text("# Soul\n\nA line by hand, here.\n")
    (machines[LAP] / "facts" / "garden.md").write_text("# Garden\n\n- Tree: an oak\n")
    here, there = hashes(machines[FIRST]), hashes(machines[LAP])
    with machines.open(FIRST) as memory:
        dry = memory.merge(machines[LAP], dry_run=True)
    assert (hashes(machines[FIRST]), hashes(machines[LAP])) == (here, there)
    with machines.open(FIRST) as memory:
        merged = memory.merge(machines[LAP])
    assert hashes(machines[LAP]) == there
    assert told(dry) == told(merged)
    assert (dry.is_dry, merged.is_dry) == (True, False)
    assert ("Lyon", "Rome") in {(old.object, new.object) for old, new in merged.replaced}
    contested = [fact.object.partition(" (from ")[::2] for fact in merged.contested]
    assert {(value, rest.partition(" on ")[0]) for value, rest in contested} == {
        ("a saw", FIRST),
        ("a drill", LAP),
    }
    assert (merged.talk.turns, merged.talk.sessions) == (1, 1)
    assert merged.edited == ("facts/garden.md",)
    assert "an oak" in {fact.object for fact in merged.added}


def test_a_dry_run_says_what_ends_because_it_was_forgotten_in_the_other_copy(machines: Machines) -> None:
    with machines.open(FIRST) as memory:
        memory.record(user="I live in Zanzibarium. I own a boat.")
        memory.distill()
        memory.remember("My sister lives in Zanzibarium.")
    shutil.rmtree(machines[LAP])
    shutil.copytree(machines[FIRST], machines[LAP])
    with machines.open(LAP) as memory:
        memory.remember("I saw Zanzibarium twice.")
        memory.remember("My dog is called Rex.")
    with machines.open(FIRST) as memory:
        memory.forget(match="Zanzibarium")
    before = hashes(machines[LAP])
    with machines.open(LAP) as memory:
        dry = memory.merge(machines[FIRST], dry_run=True)
    assert hashes(machines[LAP]) == before
    with machines.open(LAP) as memory:
        merged = memory.merge(machines[FIRST])
    assert told(dry) == told(merged)
    assert dry.forgotten == merged.forgotten
    assert merged.forgotten + len(merged.ended) >= 2


def test_the_command_shows_people_and_programs_what_was_merged(
    machines: Machines, capsys: pytest.CaptureFixture[str]
) -> None:
    learn(machines)

    def call(*words: str) -> tuple[int, str, str]:
        os.environ["LOOSELEAF_MACHINE"] = FIRST
        code = main(["--memory", str(machines[FIRST]), "merge", str(machines[LAP]), *words])
        return (code, *capsys.readouterr())

    before = hashes(machines[FIRST])
    code, out, err = call("--dry-run")
    assert code == 0
    assert "would be added: 1 fact\n  " in out
    assert "would be replaced: 1 fact\n  Home: Lyon → Rome\n" in out
    assert "would be contested: 2 facts\n" in out
    assert f"Employer: a saw (from {FIRST} on " in out
    assert f"Employer: a drill (from {LAP} on " in out
    assert "talk: 1 turn in 1 session would be brought\n" in out
    assert "without --dry-run" in err
    assert hashes(machines[FIRST]) == before
    code, out, _ = call("--json")
    made = json.loads(out)
    assert code == 0
    assert (made["turns"], made["sessions"], made["machines"], made["dry_run"]) == (1, 1, [LAP], False)
    assert [(each["old"]["object"], each["new"]["object"]) for each in made["replaced"]] == [("Lyon", "Rome")]
    code, out, err = call()
    assert (code, out) == (0, "Nothing there is new.\n")
    assert "nothing to do" in err


def test_pages_that_change_without_a_fact_are_named(
    machines: Machines, capsys: pytest.CaptureFixture[str]
) -> None:
    with machines.open(LAP) as memory:
        memory.pages.edit("facts/garden.md", "# Garden\n\nIt is green.\n", author="person", reason="x")

    def call(*more: str) -> str:
        os.environ["LOOSELEAF_MACHINE"] = FIRST
        assert main(["--memory", str(machines[FIRST]), "merge", str(machines[LAP]), *more]) == 0
        return capsys.readouterr().out

    assert "would be changed: 1 page: facts/garden.md\n" in call("--dry-run")
    told = json.loads(call("--dry-run", "--json"))
    assert (told["added"], told["pages"]) == ([], ["facts/garden.md"])
    assert "changed: 1 page: facts/garden.md\n" in call()
    with machines.open(LAP) as memory:
        memory.parts.context.store.append("journal", [{"schema": "journal.v1", "kind": "nothing"}])
    assert "No page would change: only the history there is new.\n" in call("--dry-run")


def test_long_lists_are_cut_and_files_that_wait_there_are_named(
    machines: Machines, capsys: pytest.CaptureFixture[str]
) -> None:
    with machines.open(LAP) as memory:
        text = "# Garden\n\n" + "".join(f"- Tree: an oak, number {number}\n" for number in range(30))
        memory.pages.edit("facts/garden.md", text, author="person", reason="x")
    copy = machines[LAP] / "USER.sync-conflict-20261118-101010-ABCDEFG.md"
    copy.write_text((machines[LAP] / "USER.md").read_text() + "- Likes: rain\n")
    for number in range(7):
        (machines[LAP] / "facts" / f"new-{number}.md").write_text(f"# New {number}\n\nBy hand.\n")
    os.environ["LOOSELEAF_MACHINE"] = FIRST
    assert main(["--memory", str(machines[FIRST]), "merge", str(machines[LAP])]) == 0
    out, _ = capsys.readouterr()
    assert "added: 30 facts\n" in out
    assert "  … and 10 more\n" in out
    assert (
        f"1 file there waits for a person, and stays there:\n  {copy.name} is a conflict copy of USER.md"
        in out
    )
    assert "changed by hand there: facts/new-0.md," in out
    assert "facts/new-4.md and 2 more; that was taken in" in out
    assert copy.exists()


# --- exports, and what is no copy ----------------------------------------------------------


@pytest.mark.parametrize("form", ["folder", "tar"])
def test_an_export_is_merged_like_the_copy_it_is_of(machines: Machines, tmp_path: Path, form: str) -> None:
    learn(machines)
    target = tmp_path / "export"
    with machines.open(LAP) as memory:
        if form == "folder":
            export_whole(memory, Copy(str(target)))
        else:
            with open(target, "w+b") as file:
                export_whole(memory, TarWriter(file, "notes"))
    before = hashes(tmp_path)
    with machines.open(FIRST) as memory:
        merged = memory.merge(target)
        assert (merged.machines, merged.edited) == ((LAP,), ())
        assert {"Rome", "green tea"} <= values(memory)
        assert "Good morning, lap." in said(memory)
        assert memory.merge(target).is_nothing
    assert hashes(tmp_path) == before
    machines.carry_all()
    assert machines.pages(FIRST) == machines.pages(LAP)


def _bomb(path: Path) -> None:
    with tarfile.open(path, "w:gz", compresslevel=9) as tar:
        for number in range(2):
            info = tarfile.TarInfo(f"m/log/{number}")
            info.size = 50 * 1024**2
            tar.addfile(info, io.BytesIO(bytes(info.size)))


def _leading_out(path: Path) -> None:
    with tarfile.open(path, "w:gz") as tar:
        info = tarfile.TarInfo("m/../../outside")
        info.size = 1
        tar.addfile(info, io.BytesIO(b"x"))


NO_COPIES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: None, "there is no"),
    "notes": (lambda path: path.mkdir(), "it has no log.*`looseleaf import`"),
    "facts": (
        lambda path: path.write_text('{"relation": "Home"}\n'),
        "not an export of a whole.*`looseleaf import`",
    ),
    "broken": (lambda path: path.write_bytes(b"\x1f\x8bxxxx"), "could not be unpacked"),
    "bomb": (_bomb, "far more than its size"),
    "outside": (_leading_out, "leads out of it"),
    "another archive": (lambda path: tarfile.open(path, "w:gz").close(), "it has no log"),
}


@pytest.mark.parametrize("kind", NO_COPIES)
def test_what_is_no_copy_is_refused_in_a_sentence(machines: Machines, tmp_path: Path, kind: str) -> None:
    make, sentence = NO_COPIES[kind]
    make(tmp_path / "given")
    with machines.open(FIRST) as memory:
        memory.facts()
    before = hashes(machines[FIRST])
    with machines.open(FIRST) as memory:
        for dry_run in (True, False):
            with pytest.raises(Refused, match=sentence) as refused:
                memory.merge(tmp_path / "given", dry_run=dry_run)
            assert str(refused.value).startswith("Nothing was merged: ")
    assert hashes(machines[FIRST]) == before
    assert not (tmp_path / "outside").exists()


def test_the_memory_itself_is_refused_under_any_name(machines: Machines, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(machines[FIRST])
    with machines.open(FIRST) as memory:
        for path in (machines[FIRST], tmp_path / "link"):
            with pytest.raises(Refused, match="this memory itself"):
                memory.merge(path)


@pytest.mark.parametrize("stream", ["journal.jsonl", "traces/main/raw_traces.jsonl"])
def test_a_damaged_log_is_refused_before_anything_is_written(machines: Machines, stream: str) -> None:
    learn(machines)
    path = machines.log(LAP, LAP) / stream
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)
    with machines.open(FIRST) as memory:
        memory.facts()
        before = hashes(machines[FIRST] / "log" / "on") if (machines[FIRST] / "log/on").exists() else {}
        with pytest.raises(Refused, match=f"{stream}.* is damaged .*repair"):
            memory.merge(machines[LAP])
        after = hashes(machines[FIRST] / "log" / "on") if (machines[FIRST] / "log/on").exists() else {}
        assert after == before
        assert "Rome" not in values(memory)


WRITES = """
import os, sys
from looseleaf import Memory
with Memory(sys.argv[1]) as memory, memory.parts.files.lock():
    print("in the middle", flush=True)
    sys.stdin.read()
"""


def test_a_copy_that_another_process_writes_to_is_waited_for_and_then_refused(machines: Machines) -> None:
    learn(machines)
    hasty = Policy(settle_seconds=0.0, quiet_seconds=0.0, lock_seconds=0.3)
    environment = os.environ | {"LOOSELEAF_MACHINE": LAP}
    command = [sys.executable, "-c", WRITES, str(machines[LAP])]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        assert writer.stdout.readline() == "in the middle\n"
        os.environ["LOOSELEAF_MACHINE"] = FIRST
        with Memory(machines[FIRST], policy=hasty) as memory:
            with pytest.raises(Busy, match="another process has been writing"):
                memory.merge(machines[LAP])
            assert "Rome" not in values(memory)
            writer.stdin.close()
            assert writer.wait() == 0
            assert memory.merge(machines[LAP]).machines == (LAP,)


def test_a_forget_that_is_not_finished_there_is_reported(machines: Machines) -> None:
    (machines[LAP] / "log" / "forgetting.json").write_text("{}\n")
    with machines.open(FIRST) as memory, pytest.raises(Busy, match=r"a forget in .* is not finished"):
        memory.merge(machines[LAP])


# --- pages that people changed -------------------------------------------------------------

LINES = ("- Likes: rain\n", "- City: Oslo\n", "- City: Bern\n", "Just words.\n", "- Sister: Zoe\n")
changes = st.lists(st.tuples(st.sampled_from(LINES), st.integers(0, 5), st.booleans()), max_size=3)


def by_hand(machines: Machines, name: str, change: list[tuple[str, int, bool]], when: int) -> None:
    page = machines[name] / "USER.md"
    lines = page.read_text().splitlines(keepends=True)
    for line, at, takes_away in change:
        if takes_away and len(lines) > 1:
            del lines[at % len(lines)]
        lines.insert(at % (len(lines) + 1), line)
    page.write_text("".join(lines))
    os.utime(page, (1_700_000_000 + when, 1_700_000_000 + when))


@settings(max_examples=few(200), deadline=None, suppress_health_check=list(HealthCheck))
@given(changes, changes, st.integers(0, 2), st.booleans())
def test_changes_by_hand_come_out_alike_whichever_copy_is_merged_into_which(
    here: list[tuple[str, int, bool]], there: list[tuple[str, int, bool]], when: int, learns: bool
) -> None:
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LOOSELEAF_MACHINE", FIRST)
            (folder / "one").mkdir()
            one = Machines(folder / "one")
            if learns:
                learn(one)
            for name in (FIRST, LAP):
                with one.open(name) as memory:
                    memory.facts()
            by_hand(one, FIRST, here, 1)
            by_hand(one, LAP, there, when)
            shutil.copytree(folder / "one", folder / "two")
            two = Machines.__new__(Machines)
            two.folder = folder / "two"
            with one.open(FIRST) as memory:
                memory.merge(one[LAP])
                assert memory.merge(one[LAP]).is_nothing
                first = pages(memory)
                assert errors(memory) == []
            with two.open(LAP) as memory:
                memory.merge(two[FIRST])
                assert pages(memory) == first
    finally:
        shutil.rmtree(folder)


def test_a_change_by_hand_is_a_persons_word_and_comes_once_however_often_it_is_found(
    machines: Machines,
) -> None:
    for name in (FIRST, LAP):
        with machines.open(name) as memory:
            memory.facts()
    page = machines[LAP] / "USER.md"
    page.write_text(page.read_text() + "- Likes: rain\nA line with a tpyo.\n")
    before = hashes(machines[LAP])
    with machines.open(FIRST) as memory:
        assert memory.merge(machines[LAP]).edited == ("USER.md",)
        assert hashes(machines[LAP]) == before
        assert [fact.level for fact in memory.facts() if fact.object == "rain"] == ["confirmed"]
        page.write_text(page.read_text().replace("tpyo", "typo"))
        assert memory.merge(machines[LAP]).edited == ("USER.md",)
        text = memory.pages.read("USER.md").text
        assert ("A line with a typo." in text, "tpyo" in text, text.count("rain")) == (True, False, 1)
        assert memory.merge(machines[LAP]).is_nothing
    with machines.open(LAP) as memory:  # it journals the same change itself
        memory.facts()
    page.write_text(page.read_text() + "Last words.\n")
    with machines.open(FIRST) as memory:
        memory.merge(machines[LAP])
        text = memory.pages.read("USER.md").text
        assert [text.count(each) for each in ("rain", "typo", "Last words.")] == [1, 1, 1]
    with machines.open(LAP) as memory:
        memory.merge(machines[FIRST])
        assert memory.pages.read("USER.md").text == text
        assert errors(memory) == []


def test_a_page_deleted_by_hand_there_goes_and_pages_that_vanished_together_stay(machines: Machines) -> None:
    for topic in ("garden", "boat", "house", "tools"):
        with machines.open(LAP) as memory:
            memory.pages.edit(f"facts/{topic}.md", f"# {topic}\n\n- Part: {topic}\n", reason="x")
    (machines[LAP] / "facts" / "boat.md").unlink()
    with machines.open(FIRST) as memory:
        assert memory.merge(machines[LAP]).edited == ("facts/boat.md",)
        assert "facts/boat.md" not in memory.pages.list()
        assert memory.merge(machines[LAP]).is_nothing
    for page in (machines[LAP] / "facts").glob("*.md"):
        page.unlink()
    (machines[LAP] / "USER.md").unlink()
    with machines.open(FIRST) as memory:
        merged = memory.merge(machines[LAP])
        assert (merged.edited, {held.why for held in merged.held}) == ((), {"gone"})
        assert "facts/garden.md" in memory.pages.list()


def copied_with_views(machines: Machines) -> None:
    for name in (LAP, PHONE):
        shutil.rmtree(machines[name])
        shutil.copytree(machines[FIRST], machines[name])


def logs(machines: Machines, name: str) -> set[str]:
    """The machines that have a log in a folder, but the first."""
    return {path.name for path in (machines[name] / "log" / "on").glob("*")}


def test_no_machine_is_invented_where_a_copy_was_taken_with_its_views(machines: Machines) -> None:
    copied_with_views(machines)
    with machines.open(LAP) as memory:
        memory.remember("I work at Acme.")
    with machines.open(PHONE) as memory:
        memory.merge(machines[LAP])
    with machines.open(FIRST) as memory:
        merged = memory.merge(machines[PHONE])
        assert (set(merged.machines), merged.edited) == ({LAP, PHONE}, ())
        assert memory.merge(machines[PHONE]).is_nothing
    page = machines[PHONE] / "USER.md"
    page.write_text(page.read_text() + "- Likes: rain\n")
    with machines.open(FIRST) as memory:  # a change by hand follows what its own machine wrote
        merged = memory.merge(machines[PHONE])
        assert merged.edited == ("USER.md",)
        assert [fact.object for fact in merged.added] == ["rain"]
    assert {each.partition("-")[0] for each in logs(machines, FIRST)} == {LAP, PHONE}


def test_merging_old_copies_to_and_fro_ends(machines: Machines) -> None:
    unname(machines[FIRST])
    copied_with_views(machines)
    for name, words in ((LAP, "I live in Zanzi."), (PHONE, "I work at Acme.")):
        os.environ["LOOSELEAF_MACHINE"] = FIRST
        with Memory(machines[name], policy=HASTY) as memory:
            memory.remember(words)
    one, two = machines.folder / "one", machines.folder / "two"
    for made, name in ((one, LAP), (two, PHONE)):
        shutil.copytree(machines[name], made)
    for machine, folder, other in ((FIRST, one, machines[PHONE]), (LAP, two, machines[LAP])) + 2 * (
        (FIRST, one, two),
        (LAP, two, one),
    ):
        with machines.open(machine, folder) as memory:
            merged = memory.merge(other)
            assert merged.edited == ()
    assert merged.is_nothing
    with machines.open(FIRST, one) as memory, machines.open(LAP, two) as other_memory:
        assert pages(memory) == pages(other_memory)


# --- logs that went apart ------------------------------------------------------------------


def old_copies(machines: Machines) -> None:
    """Copies from before machines had names, which went apart."""
    for name in (FIRST, LAP, PHONE):
        unname(machines[name])
    for name, words in ((FIRST, "I live in Lyon."), (LAP, "I live in Rome."), (PHONE, "My name is Bea.")):
        with machines.open(name) as memory:
            memory.remember(words)
            memory.record(user=f"Hello, {name}.")
            memory.record(assistant="Hello.")
        (machines[name] / "log" / "machine").unlink()


@pytest.mark.parametrize("is_chain", [True, False])
@pytest.mark.parametrize("names", [(FIRST, LAP, PHONE), (PHONE, FIRST, LAP), (LAP, PHONE, FIRST)])
def test_old_copies_with_two_heads_merge_in_any_order_and_no_word_is_lost_or_doubled(
    machines: Machines, names: tuple[str, str, str], is_chain: bool
) -> None:
    with machines.open(FIRST) as memory:
        memory.record(user="Said before the copies were made.")
    for name in (LAP, PHONE):
        shutil.rmtree(machines[name])
        shutil.copytree(machines[FIRST], machines[name])
    old_copies(machines)
    wanted = sorted(
        [*(f"Hello, {name}." for name in names), *["Hello."] * 3, "Said before the copies were made."]
    )
    first, second, third = names
    if is_chain:
        with machines.open(second) as memory:
            memory.merge(machines[third])
    with machines.open(first) as memory:
        for _ in range(2):
            memory.merge(machines[second])
            memory.merge(machines[third])
        assert said(memory) == wanted
        assert {"Rome", "Bea", "green tea"} <= values(memory)
        assert "Lyon" not in values(memory)
        assert errors(memory) == []
        assert memory.merge(machines[second]).is_nothing
        assert memory.merge(machines[third]).is_nothing
        made = pages(memory)
    for other in (second, third):
        with machines.open(other) as memory:
            memory.merge(machines[first])
            assert (said(memory), pages(memory)) == (wanted, made)
            assert errors(memory) == []
    with machines.open(first) as memory:
        for other in (second, third):
            memory.merge(machines[other])
        assert (said(memory), pages(memory)) == (wanted, made)


def test_what_was_merged_before_a_copy_had_a_name_goes_on_under_it_without_doubling(
    machines: Machines,
) -> None:
    old_copies(machines)
    with machines.open(FIRST) as memory:
        memory.merge(machines[LAP])
    with machines.open(LAP) as memory:  # names its log now
        memory.record(user="Once more.")
    with machines.open(FIRST) as memory:
        merged = memory.merge(machines[LAP])
        assert (merged.machines, merged.talk.turns) == ((LAP,), 1)
        assert said(memory).count("Hello, lap.") == said(memory).count("Once more.") == 1
        assert memory.merge(machines[LAP]).is_nothing


def test_long_talk_that_went_apart_is_brought_from_its_segments(machines: Machines) -> None:
    with machines.open(FIRST) as memory:
        memory.record(user="Common.")
        memory.parts.files.rotate("traces/main")
        memory.record(user="Common, too.")
    shutil.copytree(machines[FIRST], machines.folder / "twin")
    for path, word in ((machines[FIRST], "here"), (machines.folder / "twin", "there")):
        with Memory(path, policy=HASTY) as memory:
            memory.record(user=f"One {word}.")
            memory.parts.files.rotate("traces/main")
            memory.record(user=f"Two {word}.")
    with machines.open(FIRST) as memory:
        assert memory.merge(machines.folder / "twin").talk.turns == 2
        assert said(memory) == [
            "Common, too.",
            "Common.",
            "One here.",
            "One there.",
            "Two here.",
            "Two there.",
        ]
        assert memory.merge(machines.folder / "twin").is_nothing
    with Memory(machines.folder / "twin", policy=HASTY) as memory:
        memory.record(user="Three there.")
    with machines.open(FIRST) as memory:
        assert memory.merge(machines.folder / "twin").talk.turns == 1
        assert len(said(memory)) == 7


def test_a_log_that_goes_on_is_brought_with_its_segments_and_seals(machines: Machines) -> None:
    for number in range(3):
        with machines.open(LAP) as memory:
            memory.record(user=f"Segment {number}.")
            memory.remember(f"My part {number} is old.")
            for stream in ("traces/main", "journal"):
                memory.parts.files.rotate(stream)
            memory.record(user=f"Segment {number}, then.")
        if number != 1:
            with machines.open(FIRST) as memory:
                memory.merge(machines[LAP])
                assert errors(memory) == []
    for file in machines.log(LAP, LAP).rglob("*.jsonl"):
        brought = machines.log(FIRST, LAP) / file.relative_to(machines.log(LAP, LAP))
        assert brought.read_bytes() == file.read_bytes()
        seals = file.parent / "SHA256SUMS"
        assert not seals.exists() or (brought.parent / "SHA256SUMS").read_bytes() == seals.read_bytes()


@pytest.mark.long
def test_a_merge_that_was_cut_short_anywhere_is_finished_by_the_next(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn(machines)
    with machines.open(LAP) as memory:
        for stream in ("traces/main", "journal"):
            memory.parts.files.rotate(stream)
        memory.record(user="After the seal.")
        memory.remember("My boat is red.")
    (machines[LAP] / "SOUL.md").write_text("# Soul\n\nA line by hand, there.\n")
    with machines.open(FIRST) as memory:
        memory.facts()
    shutil.copytree(machines[FIRST], machines.folder / "start")
    real, replaced = Root.replace, [0]
    fired = []

    def replace(
        self: Root, path: str, data: bytes, *, durable: bool = True, when: float | None = None
    ) -> None:
        if path.startswith("log/on/"):
            replaced[0] -= 1
            if replaced[0] == 0:
                fired.append(path)
                raise OSError(28, "No space left on device")
        real(self, path, data, durable=durable, when=when)

    monkeypatch.setattr(Root, "replace", replace)
    wanted: dict[str, bytes] = {}
    for at in range(20):
        shutil.rmtree(machines[FIRST])
        shutil.copytree(machines.folder / "start", machines[FIRST])
        replaced[0] = at
        with machines.open(FIRST) as memory:
            if at:
                with suppress(Refused):
                    memory.merge(machines[LAP])
                    assert len(fired) < at
            replaced[0] = 0
            memory.merge(machines[LAP])
            wanted = wanted or pages(memory)
            assert pages(memory) == wanted
            assert said(memory).count("After the seal.") == said(memory).count("Good morning, lap.") == 1
            assert errors(memory) == []
            assert memory.merge(machines[LAP]).is_nothing
        if at > len(fired):
            break
    assert len(fired) > 5


def test_long_texts_entries_and_odd_names_come_too(machines: Machines) -> None:
    long = "word " * 80_000
    shutil.copytree(machines[FIRST], machines.folder / "twin")
    for path in (machines[LAP], machines.folder / "twin"):
        os.environ["LOOSELEAF_MACHINE"] = LAP if path == machines[LAP] else FIRST
        with Memory(path, policy=HASTY) as memory:
            memory.record(user=f"{path.name} {long}")
            memory.record(assistant="I see.")
            memory.record(user="I work at Acme.")
            memory.record(user="Bye.")
            memory.distill()
        (path / "log" / "traces" / "-odd").mkdir(parents=True, exist_ok=True)
        (path / "log" / "prompts").mkdir(exist_ok=True)
        (path / "log" / "prompts" / "main.jsonl").write_bytes(b'{"id": "handmade"}\n\n')
        with (path / "log" / "journal.jsonl").open("ab") as file:
            file.write(b'{"half' + b" " * 100_000)
    with machines.open(FIRST) as memory:
        for path in (machines[LAP], machines.folder / "twin"):
            dry = memory.merge(path, dry_run=True)
            merged = memory.merge(path)
            assert told(dry) == told(merged)
            assert merged.talk.turns == 3
            assert any(each.startswith(f"{path.name} word ") and len(each) > 300_000 for each in said(memory))
            assert memory.merge(path).is_nothing
        assert "Acme" in values(memory)
        assert errors(memory) == []


def test_copies_that_one_machine_used_become_equal(machines: Machines) -> None:
    copies = [machines.folder / name for name in ("one", "two", "three")]
    for copy in copies:
        shutil.copytree(machines[FIRST], copy)
        with machines.open(FIRST, copy) as memory:
            memory.state.add_task(f"Task of {copy.name}")
    for copy in copies:
        shutil.copytree(copy, machines.folder / f"{copy.name} as it was")
    for copy in copies:
        with machines.open(FIRST, copy) as memory:
            for other in copies:
                if other != copy:
                    memory.merge(machines.folder / f"{other.name} as it was")
    for _ in range(2):
        states = [(copy / "state.json").read_bytes() for copy in copies]
        assert states == [states[0]] * 3
        assert [task["id"] for task in json.loads(states[0])["tasks_open"]] == [
            "T-1",
            "T-1-desk",
            "T-1-desk-2",
        ]
        for copy in copies:
            with machines.open(FIRST, copy) as memory:
                for other in copies:
                    if other != copy:
                        memory.merge(other)


def test_the_key_of_the_other_copy_is_taken_if_there_is_none(machines: Machines) -> None:
    with machines.open(LAP) as memory:
        memory.record(user="My key is sk-ant-api03-" + "a1B2" * 24)
    key = machines[LAP] / "log" / "key"
    assert key.exists()
    (machines[FIRST] / "log" / "key").unlink(missing_ok=True)
    with machines.open(FIRST) as memory:
        memory.merge(machines[LAP])
    assert (machines[FIRST] / "log" / "key").read_bytes() == key.read_bytes()


def test_a_page_there_that_cannot_be_read_is_named(machines: Machines) -> None:
    with machines.open(LAP) as memory:
        memory.facts()
    page = machines[LAP] / "USER.md"
    os.link(page, machines[LAP] / "second-name.txt")
    (machines[LAP] / "SOUL.md").write_text("# Soul\n\nBy hand.\n")
    with machines.open(FIRST) as memory:
        merged = memory.merge(machines[LAP])
        assert merged.edited == ("SOUL.md",)
        assert [(held.path, held.why) for held in merged.held] == [("USER.md", "unread")]


@pytest.mark.parametrize(
    ("there", "why"),
    [
        (b"", "emptied"),
        (b"\xff\xfe\0 binary", "garbled"),
        (b"# Boat\n\n<<<<<<< ours\n- One: red\n=======\n- One: blue\n>>>>>>> theirs\n", "conflict"),
        (b"# Boat\n\n- Boat one is r", "cut"),
    ],
)
def test_a_page_that_only_a_further_log_there_has_is_held_too(
    machines: Machines, there: bytes, why: str
) -> None:
    with machines.open(LAP) as memory:
        memory.pages.edit("facts/boat.md", "# Boat\n\n- Boat one is red.\n- Boat two is old.\n", reason="x")
    (machines[LAP] / "facts/boat.md").write_bytes(there)
    for _ in range(2):
        with machines.open(FIRST) as memory:
            merged = memory.merge(machines[LAP])
            assert [(held.path, held.why) for held in merged.held] == [("facts/boat.md", why)]
            assert merged.edited == ()
            assert "two is old" in memory.pages.read("facts/boat.md").text
            assert {*memory.parts.files.machines()} == {LAP}
    (machines[LAP] / "facts/boat.md").write_text("# Boat\n\n- Boat one is red.\n- Boat two is new.\n")
    with machines.open(FIRST) as memory:
        assert memory.merge(machines[LAP]).edited == ("facts/boat.md",)
        assert "two is new" in memory.pages.read("facts/boat.md").text


def test_a_page_that_an_editor_is_saving_there_is_waited_for(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    with machines.open(LAP) as memory:
        memory.facts()
    page = machines[LAP] / "USER.md"
    text = page.read_text()
    page.unlink()

    def saved(seconds: float) -> None:
        page.write_text(text)

    monkeypatch.setattr("looseleaf.pages.unjournaled.time.sleep", saved)
    os.environ["LOOSELEAF_MACHINE"] = FIRST
    with Memory(machines[FIRST], policy=Policy(quiet_seconds=0.0)) as memory:
        assert memory.merge(machines[LAP]).edited == ()


def test_a_trial_of_a_memory_that_never_rests_is_refused_and_one_that_does_is_made(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn(machines)
    real, left = shutil.copy2, [0]

    def copied(source: str, target: str, *, follow_symlinks: bool) -> str:
        if source.endswith("USER.md") and left[0]:
            left[0] -= 1
            with (machines[FIRST] / "SOUL.md").open("a") as file:
                file.write("More.\n")
            if left[0] == 1:
                raise FileNotFoundError
        return real(source, target, follow_symlinks=follow_symlinks)

    monkeypatch.setattr("looseleaf.memory.trial.shutil.copy2", copied)
    with machines.open(FIRST) as memory:
        left[0] = 2
        assert memory.merge(machines[LAP], dry_run=True).machines == (LAP,)
        left[0] = 99
        with pytest.raises(Busy, match="kept changing"):
            memory.merge(machines[LAP], dry_run=True)
