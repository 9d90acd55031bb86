"""Copies of a memory become equal through a folder, a git remote and an rsync target; what each had is in all."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.policy import Policy
from machines import FIRST, HASTY, NAMES, Machines
from syncing import edit_at, files_at, git, make_place, objects, pages_at, say, sync, sync_all, talk

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("folder", "git", "rsync")


@pytest.fixture
def machines(place: Path) -> Iterator[Machines]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOSELEAF_MACHINE", FIRST)
        yield Machines(place)


@pytest.fixture(params=KINDS)
def where(request: pytest.FixtureRequest, place: Path) -> str:
    """An empty place of each kind, as a person names it."""
    return make_place(str(request.param), place)


# --- until all are equal ------------------------------------------------------------------


def test_three_memories_come_to_the_same_pages_in_both_directions(
    machines: Machines, place: Path, where: str
) -> None:
    for name, words in zip(NAMES, ("I live in Lyon.", "I work at Acme.", "My name is Ana."), strict=True):
        say(machines, name, words)
    sync_all(machines, where)
    pages = machines.pages(FIRST)
    assert machines.pages("lap") == machines.pages("phone") == pages
    assert pages_at(place, where) == pages
    for name in NAMES:
        assert {"Lyon", "Acme", "Ana", "green tea"} <= objects(machines, name)
        with machines.open(name) as memory:
            assert memory.check() == []
    assert machines.facts("lap") == machines.facts("phone") == machines.facts(FIRST)


def test_a_second_sync_changes_no_byte_on_either_side(machines: Machines, place: Path, where: str) -> None:
    say(machines, "lap", "I live in Lyon.")
    sync_all(machines, where)
    before = files_at(place, where)
    head = git(place / "target", "rev-parse", "main") if (place / "target" / "HEAD").is_file() else ""
    logs = {file: file.read_bytes() for file in machines[FIRST].glob("log/**/*.jsonl")}
    for name in NAMES:
        again = sync(machines, name, where)
        assert again.is_nothing
        assert not again.left
    assert files_at(place, where) == before
    assert {file: file.read_bytes() for file in machines[FIRST].glob("log/**/*.jsonl")} == logs
    if head:
        assert git(place / "target", "rev-parse", "main") == head


def test_an_empty_place_becomes_a_whole_copy_that_opens(machines: Machines, place: Path, where: str) -> None:
    say(machines, FIRST, "I live in Lyon.")
    done = sync(machines, FIRST, where)
    assert done.is_new
    copy = place / "copy"
    if done.kind == "git":
        git(place, "clone", "-q", "-b", "main", str(place / "target"), str(copy))
    else:
        shutil.copytree(place / "target", copy)
    with Memory(copy, policy=HASTY) as memory:
        assert {"Lyon", "green tea"} <= {fact.object for fact in memory.facts()}
        assert memory.check() == []


def test_a_sync_says_what_came_and_what_went(machines: Machines, where: str) -> None:
    say(machines, "lap", "I work at Acme.")
    went = sync(machines, "lap", where)
    assert "USER.md" in went.files
    assert (went.added, went.turns) == ((), 0)
    came = sync(machines, FIRST, where)
    assert [fact.object for fact in came.added] == ["Acme"]
    assert came.turns == 1
    assert came.to_dict()["came"]["turns"] == 1
    assert not came.is_new


def test_what_was_said_on_one_machine_is_found_on_the_other(machines: Machines, where: str) -> None:
    say(machines, "lap", "I work at Acme.")
    sync_all(machines, where, (FIRST, "lap"))
    assert talk(machines, FIRST) == talk(machines, "lap")
    assert "I work at Acme. I said on lap." in talk(machines, FIRST)


def test_a_page_that_was_deleted_is_gone_everywhere(machines: Machines, place: Path, where: str) -> None:
    with machines.open(FIRST) as memory:
        memory.pages.edit("facts/garden.md", "# Garden\n\n- Roses: red\n", author="person", reason="mine")
    sync_all(machines, where, (FIRST, "lap"))
    assert (machines["lap"] / "facts/garden.md").is_file()
    with machines.open("lap") as memory:
        memory.pages.delete("facts/garden.md", author="person", reason="no garden any more")
    sync_all(machines, where, (FIRST, "lap"))
    assert "facts/garden.md" not in machines.pages(FIRST)
    assert "facts/garden.md" not in pages_at(place, where)


def test_segments_that_were_sealed_meanwhile_go_too(machines: Machines, place: Path, where: str) -> None:
    small = Policy(segment_bytes=2000, settle_seconds=0.0, quiet_seconds=0.0)
    for number in range(4):
        os.environ["LOOSELEAF_MACHINE"] = FIRST
        with Memory(machines[FIRST], policy=small) as memory:
            for each in range(5):
                memory.record(user=f"Word {number} {each}.")
            memory.sync(where)
        assert sync(machines, "lap", where).turns == 5
    with machines.open("lap") as memory:
        assert memory.check() == []
        assert memory.parts.files.machines() == [FIRST]


# --- people at the other end ----------------------------------------------------------------


def test_what_a_person_wrote_there_is_taken_in_and_stays(machines: Machines, place: Path, where: str) -> None:
    sync_all(machines, where, (FIRST, "lap"))
    text = pages_at(place, where)["USER.md"].decode()
    edit_at(place, where, "USER.md", f"{text}- Instrument: cello\n")
    say(machines, FIRST, "I live in Lyon.")
    done = sync(machines, FIRST, where)
    assert done.edited == ("USER.md",)
    assert {"cello", "Lyon", "green tea"} <= objects(machines, FIRST)
    assert sync(machines, FIRST, where).is_nothing
    sync_all(machines, where, (FIRST, "lap"))
    assert machines.pages(FIRST) == machines.pages("lap") == pages_at(place, where)
    assert "cello" in objects(machines, "lap")
    with machines.open("lap") as memory:
        assert memory.check() == []


def test_a_line_that_a_person_changed_there_takes_the_place_of_the_old_one(
    machines: Machines, place: Path, where: str
) -> None:
    say(machines, FIRST, "I live in Lyon.")
    sync_all(machines, where, (FIRST, "lap"))
    say(machines, "lap", "I work at Acme.")
    text = pages_at(place, where)["USER.md"].decode()
    assert "Lyon" in text
    edit_at(place, where, "USER.md", text.replace("Lyon", "Oslo"))
    sync_all(machines, where, ("lap", FIRST))
    for name in (FIRST, "lap"):
        assert {"Oslo", "Acme"} <= objects(machines, name)
        assert "Lyon" not in objects(machines, name)


def test_a_page_there_that_no_person_can_have_meant_is_left_and_named(
    machines: Machines, place: Path, where: str
) -> None:
    sync(machines, FIRST, where)
    torn = "# USER\n\n<<<<<<< ours\n- City: Rome\n=======\n- City: Oslo\n>>>>>>> theirs\n"
    edit_at(place, where, "USER.md", torn)
    say(machines, FIRST, "I live in Lyon.")
    done = sync(machines, FIRST, where)
    assert any("USER.md" in sentence and "conflict markers" in sentence for sentence in done.left)
    assert pages_at(place, where)["USER.md"].decode() == torn
    assert "Oslo" not in objects(machines, FIRST)


def test_a_new_page_there_is_a_page_everywhere(machines: Machines, place: Path, where: str) -> None:
    sync(machines, FIRST, where)
    if (place / "target" / "HEAD").is_file():
        git(place, "clone", "-q", "-b", "main", str(place / "target"), "clone")
        (place / "clone" / "facts").mkdir(exist_ok=True)
        (place / "clone" / "facts/boat.md").write_text("# Boat\n\n- Name: Argo\n")
        git(place / "clone", "add", "facts/boat.md")
        by = ("-c", "user.name=Ana", "-c", "user.email=ana@localhost")
        git(place / "clone", *by, "commit", "-qm", "by hand")
        git(place / "clone", "push", "-q")
    else:
        (place / "target" / "facts").mkdir(exist_ok=True)
        (place / "target" / "facts/boat.md").write_text("# Boat\n\n- Name: Argo\n")
    sync_all(machines, where, (FIRST, "lap"))
    assert "Argo" in objects(machines, "lap")


def test_a_state_that_a_person_changed_there_is_taken_in_row_by_row(machines: Machines, place: Path) -> None:
    where = make_place("folder", place)
    with machines.open(FIRST) as memory:
        memory.state.update(goal="Sail")
        memory.state.add_task("Buy a rope")
    sync(machines, FIRST, where)
    with machines.open(FIRST) as memory:
        memory.state.add_task("Paint the hull")
    file = place / "target/state.json"
    file.write_text(file.read_text("utf-8").replace("Sail", "Sail to Crete"), "utf-8")
    assert sync(machines, FIRST, where).edited == ("state.json",)
    text = (machines[FIRST] / "state.json").read_text("utf-8")
    assert "Sail to Crete" in text
    assert "Paint the hull" in text
    assert file.read_text("utf-8") == text
    file.write_text("{broken", "utf-8")
    assert any("state.json" in sentence for sentence in sync(machines, FIRST, where).left)
    assert file.read_text("utf-8") == "{broken"


def test_a_page_that_was_deleted_there_comes_back(machines: Machines, place: Path) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    (place / "target/USER.md").unlink()
    sync(machines, FIRST, where)
    assert pages_at(place, where) == machines.pages(FIRST)


def test_what_a_person_wrote_into_a_deleted_page_there_makes_it_anew(machines: Machines, place: Path) -> None:
    where = make_place("folder", place)
    with machines.open(FIRST) as memory:
        memory.pages.edit("facts/boat.md", "# Boat\n\n- Name: Argo\n", author="person", reason="mine")
    sync(machines, FIRST, where)
    edit_at(place, where, "facts/boat.md", "# Boat\n\n- Name: Argo\n- Sails: two\n")
    with machines.open(FIRST) as memory:
        memory.pages.delete("facts/boat.md", author="person", reason="sold")
    sync(machines, FIRST, where)
    assert {"Argo", "two"} <= objects(machines, FIRST)


def test_conflict_copies_and_odd_names_there_are_no_pages(machines: Machines, place: Path) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    for name in ("USER.sync-conflict-20260302-101010-ABCDEFG.md", "-odd.md", "notes.txt"):
        (place / "target" / name).write_text("# Odd\n\n- City: Rome\n")
    assert sync(machines, FIRST, where).is_nothing
    assert "Rome" not in objects(machines, FIRST)
    assert (place / "target/-odd.md").is_file()


def test_a_page_that_waits_for_a_person_here_is_not_mixed_with_one_there(
    machines: Machines, place: Path
) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    text = (machines[FIRST] / "USER.md").read_text("utf-8")
    edit_at(place, where, "USER.md", f"{text}- Instrument: cello\n")
    (machines[FIRST] / "USER.md").write_bytes(b"")
    done = sync(machines, FIRST, where)
    assert any("waits for a person's word" in sentence for sentence in done.left)
    assert "cello" in pages_at(place, where)["USER.md"].decode()
    (machines[FIRST] / "USER.md").write_text(text, "utf-8")
    sync(machines, FIRST, where)
    assert "cello" in objects(machines, FIRST)


def test_what_is_ticked_in_review_there_is_done(machines: Machines, place: Path) -> None:
    where = make_place("folder", place)
    with machines.open(FIRST) as memory:
        memory.pages.edit("review/a.md", "# A\n\nText.\n", author="person", reason="mine")
    sync(machines, FIRST, where)
    edit_at(place, where, "review/a.md", "# A\n\nText, more.\n")
    assert sync(machines, FIRST, where).edited == ("review/a.md",)


def test_a_contested_value_is_decided_on_one_machine_for_all(machines: Machines, place: Path) -> None:
    where = make_place("folder", place)
    for name, value in ((FIRST, "Acme"), ("lap", "Beta")):
        with machines.open(name) as memory:
            text = f"# Work\n\n- Employer: {value}\n"
            memory.pages.edit("facts/work.md", text, author="agent:main", reason="found")
    sync(machines, "lap", where)
    done = sync(machines, FIRST, where)
    assert {fact.object.partition(" (from")[0] for fact in done.contested} == {"Acme", "Beta"}
    with machines.open(FIRST) as memory:
        wrong = next(fact for fact in memory.facts(topic="work") if fact.object.startswith("Acme"))
        memory.review.reject(wrong.id or "")
    sync_all(machines, where, (FIRST, "lap"))
    for name in (FIRST, "lap"):
        assert {"Beta"} == {each[:4] for each in objects(machines, name)} & {"Beta", "Acme"}


# --- what a machine forgot, and copies that were used -------------------------------------------


def test_what_a_machine_forgot_goes_from_its_log_there(machines: Machines, place: Path, where: str) -> None:
    say(machines, FIRST, "I live in Lyon.")
    sync(machines, FIRST, where)
    assert any(b"Lyon" in data for data in files_at(place, where).values())
    with machines.open(FIRST) as memory:
        memory.forget(match="Lyon")
    sync(machines, FIRST, where)
    assert not any(b"Lyon" in data for data in files_at(place, where).values())
    assert "Lyon" not in objects(machines, FIRST)
    assert sync(machines, FIRST, where).is_nothing


def test_a_copy_that_the_same_machine_used_becomes_one_with_this_memory(
    machines: Machines, place: Path
) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    say(machines, FIRST, "I live in Lyon.")
    with Memory(where, policy=HASTY) as memory:
        memory.remember("I work at Acme.")
        memory.record(user="There.")
    sync(machines, FIRST, where)
    assert {"Lyon", "Acme"} <= objects(machines, FIRST)
    assert sync(machines, FIRST, where).is_nothing
    os.environ["LOOSELEAF_MACHINE"] = FIRST
    with Memory(where, policy=HASTY) as memory:
        assert {"Lyon", "Acme"} <= {fact.object for fact in memory.facts()}
        assert memory.check() == []
    assert talk(machines, FIRST).count("There.") == 1


def test_a_copy_that_another_machine_uses_in_place_is_synced_like_any_other(
    machines: Machines, place: Path
) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    os.environ["LOOSELEAF_MACHINE"] = "cafe"
    with Memory(where, policy=HASTY) as memory:
        memory.remember("I work at Acme.")
    say(machines, FIRST, "I live in Lyon.")
    sync(machines, FIRST, where)
    assert {"Lyon", "Acme"} <= objects(machines, FIRST)
    os.environ["LOOSELEAF_MACHINE"] = "cafe"
    with Memory(where, policy=HASTY) as memory:
        assert {"Lyon", "Acme"} <= {fact.object for fact in memory.facts()}
        assert memory.check() == []


def test_a_copy_from_before_logs_named_their_machine_is_named_if_it_is_ours(
    machines: Machines, place: Path
) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    (place / "target/log/machine").unlink()
    say(machines, FIRST, "I live in Lyon.")
    sync(machines, FIRST, where)
    assert (place / "target/log/machine").read_bytes() == (machines[FIRST] / "log/machine").read_bytes()


def test_a_copy_that_was_used_and_does_not_say_by_which_machine_is_only_taken_in(
    machines: Machines, place: Path
) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    with Memory(where, policy=HASTY) as memory:
        memory.remember("I work at Acme.")
    (place / "target/log/machine").unlink()
    with machines.open(FIRST) as memory:
        memory.remember("I live in Lyon.")
        with pytest.raises(Refused, match="does not say which machine"):
            memory.sync(where)
    assert {"Lyon", "Acme"} <= objects(machines, FIRST)


def test_a_forget_that_is_not_finished_there_is_waited_for(machines: Machines, place: Path) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    (place / "target/log/forgetting.json").write_bytes(b"{}")
    with machines.open(FIRST) as memory, pytest.raises(Refused, match=r"a forget in .* was interrupted"):
        memory.sync(where)


def test_what_another_machine_forgot_goes_from_its_log_here(machines: Machines, place: Path) -> None:
    where = make_place("folder", place)
    with machines.open("lap") as memory:
        memory.record(user="The word is xylophone.")
        memory.record(user="The other word is harp.")
    sync_all(machines, where, (FIRST, "lap"))
    log = machines.log(FIRST, "lap") / "traces/main/raw_traces.jsonl"
    assert b"xylophone" in log.read_bytes()
    with machines.open("lap") as memory:
        memory.forget(match="xylophone")
    sync_all(machines, where, ("lap", FIRST))
    assert b"harp" in log.read_bytes()
    assert b"xylophone" not in log.read_bytes()
    for file in (place / "target").rglob("*"):
        assert not file.is_file() or b"xylophone" not in file.read_bytes()


def test_after_a_forget_a_sync_still_says_what_came(machines: Machines, where: str) -> None:
    say(machines, "lap", "I work at Acme.")
    sync_all(machines, where, (FIRST, "lap"))
    with machines.open("lap") as memory:
        memory.forget(match="Acme")
    say(machines, "lap", "I live in Lyon.")
    sync(machines, "lap", where)
    came = sync(machines, FIRST, where)
    assert [fact.object for fact in came.added] == ["Lyon"]
    assert (came.turns, came.forgotten, came.ended, came.replaced) == (1, 1, (), ())
    assert came.to_dict()["came"]["forgotten"] == 1
    say(machines, FIRST, "I like tea.")
    sync(machines, FIRST, where)  # which has heard of the forget: its log is another one now
    came = sync(machines, "lap", where)
    assert [fact.object for fact in came.added] == ["tea"]
    assert (came.turns, came.forgotten) == (1, 0)
    assert sync(machines, "lap", where).is_nothing


def test_a_dry_run_says_the_same_and_writes_nothing(machines: Machines, place: Path, where: str) -> None:
    def carried() -> dict[Path, bytes]:
        files = (path for path in place.rglob("*") if path.is_file() and "views" not in path.parts)
        return {path: path.read_bytes() for path in files if path.name not in ("lock", "turn", "writer")}

    say(machines, "lap", "I work at Acme.")
    say(machines, FIRST, "I live in Lyon.")
    for name in ("lap", FIRST):
        with machines.open(name) as memory:
            memory.facts()
            before = carried()
            told = memory.sync(where, dry_run=True)
            assert carried() == before
            done = memory.sync(where)
        assert told.is_dry
        assert not done.is_dry
        assert (told.files, told.turns, told.is_new) == (done.files, done.turns, done.is_new)
        assert told.was_missing == done.was_missing
        assert [fact.object for fact in told.added] == [fact.object for fact in done.added]
    assert told.turns == 1
    assert sync(machines, FIRST, where).is_nothing


# --- refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad", ["-x", "ext::sh -c date", "git:--upload-pack=date", "", "rsync:-e date", "a\nb"]
)
def test_what_a_program_would_take_for_an_option_is_no_place(machines: Machines, bad: str) -> None:
    with machines.open(FIRST) as memory, pytest.raises(Refused, match="no place to sync with"):
        memory.sync(bad)


def test_a_sync_without_a_place_takes_that_of_the_settings(machines: Machines, place: Path) -> None:
    with machines.open(FIRST) as memory, pytest.raises(Refused, match="no place was named"):
        memory.sync()
    os.environ["LOOSELEAF_MACHINE"] = FIRST
    with Memory(machines[FIRST], policy=Policy(sync="../target")) as memory:
        assert memory.sync().where == "../target"
    assert (place / "target" / "USER.md").is_file()


def test_this_memory_and_folders_with_other_things_are_no_place(machines: Machines, place: Path) -> None:
    (place / "home").mkdir()
    (place / "home" / "letter.txt").write_text("Dear Ana")
    with machines.open(FIRST) as memory:
        for bad in (machines[FIRST], machines[FIRST] / "copy", place):
            with pytest.raises(Refused, match="this memory"):
                memory.sync(bad)
        with pytest.raises(Refused, match=r"other things in it \(letter.txt\)"):
            memory.sync(place / "home")
    assert [file.name for file in (place / "home").iterdir()] == ["letter.txt"]


def test_a_git_remote_that_does_not_exist_is_reported(machines: Machines, place: Path) -> None:
    with machines.open(FIRST) as memory, pytest.raises(Refused, match="Nothing was synced with"):
        memory.sync(f"git:{place / 'nowhere'}")


def test_while_a_process_writes_there_a_sync_waits_and_then_refuses(machines: Machines, place: Path) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    os.environ["LOOSELEAF_MACHINE"] = FIRST
    with open(place / "target/log/lock") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with (
            Memory(machines[FIRST], policy=Policy(lock_seconds=0.2)) as memory,
            pytest.raises(Refused, match="a process has been writing to"),
        ):
            memory.sync(where)
    assert sync(machines, FIRST, where).is_nothing


def test_a_link_there_is_not_followed(machines: Machines, place: Path) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    secret = place / "secret.md"
    secret.write_text("# Secret\n\n- Key: 1234\n")
    (place / "target/facts").mkdir(exist_ok=True)
    (place / "target/facts/secret.md").symlink_to(secret)
    (place / "target/USER.md").unlink()
    (place / "target/USER.md").symlink_to(secret)
    done = sync(machines, FIRST, where)
    assert len(done.left) == 2
    assert "1234" not in objects(machines, FIRST)
    assert secret.read_text() == "# Secret\n\n- Key: 1234\n"


def test_a_link_in_place_of_a_log_is_refused(machines: Machines, place: Path) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    shutil.rmtree(place / "target/log/bodies", ignore_errors=True)
    (place / "out").mkdir()
    (place / "target/log/bodies").symlink_to(place / "out")
    with machines.open(FIRST) as memory:
        memory.record(user="x" * 300_000)
        with pytest.raises(Refused):
            memory.sync(where)
    assert list((place / "out").iterdir()) == []


def test_a_remote_with_links_filters_and_odd_names_does_nothing(machines: Machines, place: Path) -> None:
    where = make_place("git", place)
    sync(machines, FIRST, where)
    git(place, "clone", "-q", "-b", "main", str(place / "target"), "clone")
    clone = place / "clone"
    (clone / ".gitattributes").write_text("* text eol=crlf filter=evil\n")
    (clone / "log/on").mkdir(exist_ok=True)
    (clone / "log/on/lap").symlink_to("/tmp")
    (clone / "log/on/-x").mkdir()
    (clone / "log/on/-x/journal.jsonl").write_text("{}\n")
    (clone / "facts").mkdir(exist_ok=True)
    (clone / "facts/link.md").symlink_to("/etc/passwd")
    git(clone, "add", "-A")
    by = ("-c", "user.name=Eve", "-c", "user.email=eve@localhost")
    git(clone, *by, "commit", "-qm", "evil")
    git(clone, "push", "-q")
    say(machines, "lap", "I work at Acme.")
    sync_all(machines, where, (FIRST, "lap"))
    assert machines.pages(FIRST) == machines.pages("lap")
    assert "Acme" in objects(machines, FIRST)
    assert sorted((machines[FIRST] / "log/on").iterdir()) == [machines[FIRST] / "log/on/lap"]


def test_no_place_can_put_words_into_this_machines_own_log(machines: Machines, place: Path) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    journal = machines.log(FIRST, FIRST) / "journal.jsonl"
    before = journal.read_bytes()
    forged = place / "target/log/journal.jsonl"
    forged.write_bytes(before[: len(before) // 2].rpartition(b"\n")[0] + b"\n")
    sync(machines, FIRST, where)
    assert journal.read_bytes().startswith(before)


# --- what git and rsync do meanwhile -----------------------------------------------------------


def test_a_push_that_comes_too_late_is_done_again_on_top(
    machines: Machines, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from looseleaf.sync.git_remote import GitRemote

    where = make_place("git", place)
    say(machines, "lap", "I work at Acme.")
    say(machines, FIRST, "I live in Lyon.")
    real, late = GitRemote._push, list[bool]()

    def push(self: GitRemote, there: str | None, made: str) -> bool:
        if not late:
            late.append(True)
            monkeypatch.setattr(GitRemote, "_push", real)
            sync(machines, "lap", where)
            os.environ["LOOSELEAF_MACHINE"] = FIRST
        return real(self, there, made)

    monkeypatch.setattr(GitRemote, "_push", push)
    done = sync(machines, FIRST, where)
    assert late
    assert "Acme" in {fact.object for fact in done.added}
    assert git(place / "target", "rev-list", "--count", "main").strip() == "2"
    sync(machines, "lap", where)
    assert machines.pages(FIRST) == machines.pages("lap") == pages_at(place, where)


def test_a_mirror_that_is_damaged_or_gone_is_made_again(machines: Machines, place: Path) -> None:
    where = make_place("git", place)
    sync(machines, FIRST, where)
    mirror = next((machines[FIRST] / "views/sync").iterdir())
    for file in (mirror / "objects").rglob("*"):
        if file.is_file():
            file.chmod(0o600)
            file.write_bytes(b"damaged")
    say(machines, FIRST, "I live in Lyon.")
    assert sync(machines, FIRST, where).files
    shutil.rmtree(machines[FIRST] / "views")
    assert sync(machines, FIRST, where).is_nothing
    assert pages_at(place, where) == machines.pages(FIRST)


def test_other_files_of_a_remote_stay(machines: Machines, place: Path) -> None:
    where = make_place("git", place)
    sync(machines, FIRST, where)
    git(place, "clone", "-q", "-b", "main", str(place / "target"), "clone")
    (place / "clone/LICENSE").write_text("MIT\n")
    git(place / "clone", "add", "LICENSE")
    by = ("-c", "user.name=Ana", "-c", "user.email=ana@localhost")
    git(place / "clone", *by, "commit", "-qm", "license")
    git(place / "clone", "push", "-q")
    say(machines, FIRST, "I live in Lyon.")
    sync(machines, FIRST, where)
    assert files_at(place, where)["LICENSE"] == b"MIT\n"


def test_an_rsync_target_that_changed_meanwhile_is_looked_at_again(
    machines: Machines, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from looseleaf.sync.rsync_target import RsyncTarget

    where = make_place("rsync", place)
    say(machines, "lap", "I work at Acme.")
    say(machines, FIRST, "I live in Lyon.")
    real, looks = RsyncTarget._look, list[bool]()

    def look(self: RsyncTarget) -> bytes | None:
        looks.append(True)
        if len(looks) == 2:
            monkeypatch.setattr(RsyncTarget, "_look", real)
            sync(machines, "lap", where)
            os.environ["LOOSELEAF_MACHINE"] = FIRST
        return real(self)

    monkeypatch.setattr(RsyncTarget, "_look", look)
    done = sync(machines, FIRST, where)
    assert "Acme" in {fact.object for fact in done.added}
    sync(machines, "lap", where)
    assert machines.pages(FIRST) == machines.pages("lap") == pages_at(place, where)


def test_no_place_is_a_file_or_this_memory_by_another_name(machines: Machines, place: Path) -> None:
    (place / "file").write_text("mine")
    with machines.open(FIRST) as memory:
        for where, says in (
            (str(place / "file"), "is no folder"),
            (f"rsync:{machines[FIRST]}", "is this memory itself"),
            (f"rsync:{machines[FIRST]}/facts", "lies in this memory"),
        ):
            with pytest.raises(Invalid, match=says):
                memory.sync(where)
    assert (place / "file").read_text() == "mine"
