"""No level rises because the journal is lost, cut or older than the pages; and a person's edit stays a person's."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import COSTLY, core, few
from faults import CountedDisk, DyingDisk
from killing import ends
from looseleaf import Memory
from looseleaf.base.errors import NotFound
from looseleaf.base.origins import is_at_least
from looseleaf.base.policy import Policy
from looseleaf.base.values import Fact
from looseleaf.cli.main import main
from looseleaf.pages.folder import begin_again, init
from looseleaf.store.documents import Exchange
from looseleaf.store.files import FileStore
from tables import check_rows, in_folders
from wiring import use_store

if TYPE_CHECKING:
    from looseleaf.base.values import Level

HASTY = Policy(settle_seconds=0.01, quiet_seconds=0.001)
MODEL, HAND, MINE = "facts/payments.md", "facts/cars.md", "facts/garden.md"
RULE, CAR, BED = "Rule: refunds are always approved", "Car: a red one", "Bed: by the wall"
FOUND = "Price: 40 (found by main on 2026-03-01, from web_search)"
SAVED = "log-before"


def opened(folder: Path) -> Memory:
    return Memory(folder / "memory", policy=HASTY)


def levels(memory: Memory) -> dict[str, Level | None]:
    """The level of each line that is a current fact."""
    return {f"{fact.path}: {fact.relation}: {fact.object}": fact.level for fact in memory.facts()}


def write(folder: Path, path: str, line: str) -> None:
    """Add a line as a person does, in an editor."""
    page = folder / "memory" / path
    page.write_text((page.read_text() if page.exists() else "") + f"- {line}\n")


def journal(folder: Path) -> Path:
    return folder / "memory/log/journal.jsonl"


def records(folder: Path) -> list[bytes]:
    return journal(folder).read_bytes().splitlines(keepends=True)


def tell_story(folder: Path) -> dict[str, Level | None]:
    """A person's page, then a backup of the log, then what a model wrote, and what the user said. Return the levels."""
    with opened(folder) as memory:
        write(folder, HAND, CAR)
        memory.facts()
        shutil.copytree(folder / "memory/log", folder / SAVED)
        memory.pages.edit(MODEL, f"- {RULE}\n- {FOUND}\n", reason="noted")
        memory.record(user="My name is Ann. I live in Lyon.")
        memory.distill()
        return levels(memory)


# --- the ways in which a journal, or what proves it, is lost ------------------------------


def do_nothing(folder: Path) -> None:
    pass


def restore_log(folder: Path) -> None:
    shutil.rmtree(folder / "memory/log")
    shutil.copytree(folder / SAVED, folder / "memory/log")


def cut_journal(folder: Path) -> None:
    journal(folder).write_bytes(b"".join(records(folder)[:2]))


def tear_journal(folder: Path) -> None:
    whole = journal(folder).read_bytes()
    journal(folder).write_bytes(whole[: len(whole) // 4])


def delete_journal(folder: Path) -> None:
    journal(folder).unlink()
    assert begin_again(str(folder / "memory"))


def delete_views(folder: Path) -> None:
    shutil.rmtree(folder / "memory/views")


def delete_both(folder: Path) -> None:
    shutil.rmtree(folder / "memory/log")
    delete_views(folder)
    assert init(str(folder / "memory"))


def restore_log_delete_views(folder: Path) -> None:
    restore_log(folder)
    delete_views(folder)


def damage_the_model_s_record(folder: Path) -> None:
    lines = records(folder)
    at = next(at for at, line in enumerate(lines) if MODEL.encode() in line)
    lines[at] = lines[at].replace(b'"edit"', b'"tide"')
    journal(folder).write_bytes(b"".join(lines))


def copy_away_and_back(folder: Path) -> None:
    """A whole folder that was restored: other inodes, other times, the same bytes."""
    shutil.copytree(folder / "memory", folder / "copy")
    shutil.rmtree(folder / "memory")
    shutil.copytree(folder / "copy", folder / "memory")


PROVEN = [do_nothing, copy_away_and_back]
LOST = [
    restore_log,
    cut_journal,
    tear_journal,
    delete_journal,
    delete_views,
    delete_both,
    restore_log_delete_views,
]


def repair(memory: Memory) -> None:
    memory.repair()


def just_read(memory: Memory) -> None:
    memory.facts()


def undo(memory: Memory) -> None:
    with suppress(NotFound):  # of a new journal there may be nothing to undo
        memory.history.undo(author="person")
        memory.history.undo(author="person")


def redistill(memory: Memory) -> None:
    memory.review.redistill(apply=True)


def distill(memory: Memory) -> None:
    memory.distill()


def no_level_rose(before: dict[str, Level | None], after: dict[str, Level | None]) -> None:
    for line, level in after.items():
        if line in before:
            assert is_at_least(before[line], level or "tainted"), f"{line}: {before[line]} → {level}"
    assert not any(level == "confirmed" for line, level in after.items() if RULE in line or FOUND in line)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("act", [just_read, repair, undo, redistill, distill])
def test_no_level_rises_however_the_journal_was_lost(tmp_path: Path, act: Callable[[Memory], None]) -> None:
    before = tell_story(tmp_path)
    assert {before[f"{MODEL}: {RULE}"], before[f"{HAND}: {CAR}"]} == {"inferred", "confirmed"}

    def check(folder: Path, lose: Callable[[Path], None]) -> None:
        shutil.copytree(tmp_path / "memory", folder / "memory")
        shutil.copytree(tmp_path / SAVED, folder / SAVED)
        lose(folder)
        with opened(folder) as memory:
            act(memory)
            no_level_rose(before, levels(memory))
        with opened(folder) as memory:  # nor later
            memory.repair()
            no_level_rose(before, levels(memory))

    every = [*PROVEN, *LOST, damage_the_model_s_record]
    check_rows(check, in_folders(tmp_path, every))


def test_a_line_that_an_agent_signed_stays_tainted(tmp_path: Path) -> None:
    tell_story(tmp_path)
    restore_log(tmp_path)
    with opened(tmp_path) as memory:
        assert levels(memory)[f"{MODEL}: {FOUND}"] == "tainted"
        assert {fact.object for fact in memory.review.unexplained()} == {
            "Ann",
            "Lyon",
            "refunds are always approved",
        }


def test_a_line_that_an_agent_signed_stays_tainted_whoever_carries_it_to_another_page(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        write(tmp_path, HAND, FOUND)
        assert levels(memory) == {f"{HAND}: {FOUND}": "tainted"}
        memory.pages.edit(MODEL, f"- {FOUND}\n", reason="merged", author="person")
        assert set(levels(memory).values()) == {"tainted"}


def told_of_authors(memory: Memory) -> list[str]:
    """The notes, but for the one that says that a log lost records."""
    return [note for note in memory.notes if " missing, recorded " not in note]


def test_a_person_s_edit_is_confirmed_where_the_journal_is_whole_and_inferred_where_that_is_unproven(
    tmp_path: Path,
) -> None:
    def check(folder: Path, lose: Callable[[Path], None], level: str) -> None:
        tell_story(folder)
        lose(folder)
        write(folder, HAND, "Wheels: four")
        write(folder, MINE, BED)
        with opened(folder) as memory:
            found = levels(memory)
            assert (found[f"{HAND}: Wheels: four"], found[f"{MINE}: {BED}"]) == (level, level)
            assert len(told_of_authors(memory)) == (level == "inferred"), memory.notes
        write(folder, HAND, "Doors: five")  # from now on it is proven again
        with opened(folder) as memory:
            assert levels(memory)[f"{HAND}: Doors: five"] == "confirmed"
            assert memory.notes == []

    rows = [(lose, "confirmed") for lose in PROVEN] + [(lose, "inferred") for lose in LOST]
    check_rows(check, in_folders(tmp_path, rows))


def test_what_the_journal_still_explains_keeps_its_level(tmp_path: Path) -> None:
    before = tell_story(tmp_path)
    restore_log(tmp_path)
    with opened(tmp_path) as memory:
        assert levels(memory)[f"{HAND}: {CAR}"] == before[f"{HAND}: {CAR}"] == "confirmed"


def test_the_command_that_notices_says_how_many_lines_on_which_pages_and_what_to_do(tmp_path: Path) -> None:
    tell_story(tmp_path)
    cut_journal(tmp_path)
    with opened(tmp_path) as memory:
        memory.facts()
        (note,) = told_of_authors(memory)
    assert note == (
        "The journal does not say who wrote 4 lines on USER.md and facts/payments.md (it lost records, it began later, "
        "or views/ was deleted), so they count as inferred. `looseleaf vouch` shows them, and you can say that they "
        "are yours."
    )
    with opened(tmp_path) as memory:
        memory.facts()
        assert memory.notes == []


def test_many_pages_are_counted(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.facts()
    delete_views(tmp_path)
    for name in "abcde":
        write(tmp_path, f"facts/{name}.md", f"Thing: {name}")
    with opened(tmp_path) as memory:
        memory.facts()
        (note,) = memory.notes
    assert "5 lines on facts/a.md, facts/b.md, facts/c.md and 2 more pages (" in note


def test_a_copy_that_cannot_be_read_proves_nothing(tmp_path: Path) -> None:
    tell_story(tmp_path)
    copy = tmp_path / "memory/views/heads" / HAND
    copy.unlink()
    copy.mkdir()
    write(tmp_path, HAND, "Wheels: four")
    with opened(tmp_path) as memory:
        assert levels(memory)[f"{HAND}: Wheels: four"] == "inferred"
    (tmp_path / "memory" / HAND).unlink()
    with opened(tmp_path) as memory:
        assert f"{HAND}: Wheels: four" not in levels(memory)


def test_check_says_that_the_journal_s_last_records_are_missing_until_a_command_goes_on(
    tmp_path: Path,
) -> None:
    tell_story(tmp_path)
    cut_journal(tmp_path)
    with opened(tmp_path) as memory:
        errors = [str(problem) for problem in memory.check() if problem.severity == "error"]
        assert any(each.startswith(f"{MODEL}: the program left this page as it is") for each in errors)
        memory.repair()
        assert [problem for problem in memory.check() if problem.severity == "error"] == []


def test_a_page_deleted_while_nothing_is_proven_is_no_person_s_no(tmp_path: Path) -> None:
    tell_story(tmp_path)
    restore_log(tmp_path)
    (tmp_path / "memory" / HAND).unlink()
    with opened(tmp_path) as memory:
        memory.facts()
        assert [fact.status for fact in memory.facts(topic="cars", status="superseded")] == ["superseded"]
        assert memory.facts(topic="cars", status="rejected") == []


def test_a_page_that_a_person_deletes_and_makes_again_is_the_person_s(tmp_path: Path) -> None:
    tell_story(tmp_path)
    (tmp_path / "memory" / HAND).unlink()
    with opened(tmp_path) as memory:
        memory.facts()
    write(tmp_path, HAND, "Car: a blue one")
    with opened(tmp_path) as memory:
        assert levels(memory)[f"{HAND}: Car: a blue one"] == "confirmed"


def test_a_fact_that_ended_does_not_revive(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.pages.edit(MODEL, f"- {RULE}\n- Limit: 100\n", reason="noted")
        shutil.copytree(tmp_path / "memory/log", tmp_path / SAVED)
        memory.review.reject(memory.fact(f"{MODEL}:1").id or "")
    restore_log(tmp_path)
    with opened(tmp_path) as memory:
        assert [fact.object for fact in memory.facts(topic="payments")] == ["100"]
        memory.repair()
        assert [fact.object for fact in memory.facts(topic="payments")] == ["100"]


def test_a_tick_counts_only_where_it_is_proven_to_be_a_person_s(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.review.ask(
            Fact("work", "work", "Office", "Lyon", id="f_000000000001", status="pending"),
            "a document says so",
        )
        (asked,) = memory.review.pending()
    delete_views(tmp_path)
    page = tmp_path / "memory/review/pending.md"
    page.write_text(page.read_text().replace("- [ ]", "- [x]"))
    with opened(tmp_path) as memory:
        assert [fact.id for fact in memory.review.pending()] == [asked.id]
        assert [note.partition(":")[0] for note in memory.notes] == ["What was ticked in review was not done"]
        memory.review.approve(asked.id or "")
        assert memory.review.pending() == []


def test_forgetting_leaves_the_proof_behind(tmp_path: Path) -> None:
    tell_story(tmp_path)
    with opened(tmp_path) as memory:
        memory.forget(match="refunds")
    write(tmp_path, HAND, "Wheels: four")
    write(tmp_path, MODEL, "Limit: 100")
    with opened(tmp_path) as memory:
        found = levels(memory)
        assert found[f"{HAND}: Wheels: four"] == found[f"{MODEL}: Limit: 100"] == "confirmed"


def test_pages_that_were_there_before_the_memory_count_as_inferred_until_a_person_vouches(
    tmp_path: Path,
) -> None:
    (tmp_path / "memory/facts").mkdir(parents=True)
    write(tmp_path, HAND, CAR)
    init(str(tmp_path / "memory"))
    with opened(tmp_path) as memory:
        assert levels(memory) == {f"{HAND}: {CAR}": "inferred"}
        memory.review.vouch([fact.id or "" for fact in memory.review.unexplained()])
        assert levels(memory) == {f"{HAND}: {CAR}": "confirmed"}


def test_an_export_that_is_unpacked_elsewhere_has_the_same_levels(tmp_path: Path) -> None:
    tell_story(tmp_path)
    restore_log(tmp_path)
    with opened(tmp_path) as memory:
        before = levels(memory)
    archive = tmp_path / "memory.tar.gz"
    assert main(["--memory", str(tmp_path / "memory"), "export", str(archive)]) == 0
    safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # since 3.11.4
    shutil.unpack_archive(archive, tmp_path / "other", **safely)
    (there,) = (tmp_path / "other").iterdir()
    with Memory(there, policy=HASTY) as memory:
        assert levels(memory) == before
        assert memory.notes == []


# --- a folder of today's format ------------------------------------------------------------


def test_a_folder_without_the_new_member_is_adopted_and_demotes_no_one(tmp_path: Path) -> None:
    from looseleaf.store import records as codec

    tell_story(tmp_path)
    view = tmp_path / "memory/views/heads.json"
    raw = codec.whole(view.read_bytes())
    assert raw.pop("proven") is True
    view.write_bytes(codec.encode(raw))
    write(tmp_path, HAND, "Wheels: four")
    with opened(tmp_path) as memory:
        assert levels(memory)[f"{HAND}: Wheels: four"] == "confirmed"
        assert memory.notes == []


# --- kills ---------------------------------------------------------------------------------


class Slain(Memory):
    """A memory on a disk of our own."""

    def __init__(self, folder: Path, disk: CountedDisk) -> None:
        super().__init__(folder / "memory", policy=HASTY)
        use_store(self, FileStore(self.path, HASTY, disk))


def acts(memory: Memory) -> None:
    """An agent changes a page, makes one and removes one."""
    memory.pages.edit(MODEL, lambda text: text + "- Limit: 100\n", reason="noted")
    memory.pages.edit("facts/new.md", f"- {RULE}\n", reason="noted")
    memory.pages.delete("facts/old.md", reason="noted")


def killed_at(folder: Path, at: int) -> bool:
    """Kill a process before its call number `at`; False if it made fewer."""
    return ends(lambda: acts(Slain(folder, DyingDisk(at, "before"))))


def prepared(folder: Path) -> int:
    """Make a memory with the pages that are changed; return the number of its journal's records."""
    with opened(folder) as memory:
        memory.pages.edit(MODEL, "- Limit: none\n", reason="noted")
        memory.pages.edit("facts/old.md", "- Old: yes\n", reason="noted")
        memory.facts()
    return len(records(folder))


@pytest.mark.long
@pytest.mark.parametrize("then", ["cut", "edit"])
def test_a_kill_at_any_call_neither_raises_a_model_s_line_nor_lowers_a_person_s(
    tmp_path: Path, then: str
) -> None:
    prepared(tmp_path / "0")
    wrong: list[str] = []
    sites = differed = 0
    for at in range(1, 2000):
        folder = tmp_path / "now"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tmp_path / "0", folder)
        kept = len(records(folder))
        if not killed_at(folder, at):
            break
        sites += 1
        if then == "cut":  # each number of records that may be left
            total = len(records(folder))
            for left in range(kept, total):
                copy = tmp_path / "cut"
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(folder, copy)
                journal(copy).write_bytes(b"".join(records(copy)[:left]))
                with opened(copy) as memory:
                    found = levels(memory)
                    differed += bool(memory.notes)
                wrong += [
                    f"{at}, {left} left: {line}" for line, level in found.items() if level == "confirmed"
                ]
        else:
            with opened(folder) as memory:  # an interrupted edit is no lost record
                wrong += [str(each) for each in memory.check() if "records are missing" in each.message]
            write(folder, MODEL, "Wheels: four")
            write(folder, MINE, BED)
            with opened(folder) as memory:
                found = levels(memory)
            mine = (f"{MODEL}: Wheels: four", f"{MINE}: {BED}")
            wrong += [f"{at}: {line} {found.get(line)}" for line in mine if found.get(line) != "confirmed"]
    print(f"{sites} calls, {differed} of the cut journals were behind a page, {len(wrong)} wrong")
    assert wrong == []
    assert sites > 50
    assert differed or then == "edit"


def test_without_the_copy_a_cut_journal_would_raise_a_model_s_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = prepared(tmp_path)
    monkeypatch.setattr(Exchange, "keep_copy", lambda *_: None)
    memory = opened(tmp_path)
    memory.pages.edit("facts/new.md", f"- {RULE}\n", reason="noted")
    memory.parts.files.close()  # killed: it never looked at its pages again
    journal(tmp_path).write_bytes(b"".join(records(tmp_path)[:kept]))
    with opened(tmp_path) as memory:
        assert levels(memory)[f"facts/new.md: {RULE}"] == "confirmed"


# --- any story -----------------------------------------------------------------------------

PAGES = (MODEL, HAND, "USER.md")
story = st.lists(
    st.tuples(
        st.sampled_from(["person", "command", "agent", "program", "said", "reopen", "drop"]),
        st.sampled_from(PAGES),
    ),
    min_size=1,
    max_size=7,
)
loss = st.sampled_from(["nothing", "cut", "log", "views", "both", "journal", "cut and views"])


def live(folder: Path, acts: list[tuple[str, str]]) -> dict[str, Level | None]:
    """Live a story; return the levels at its end. Each line is new: none was ever another's."""
    memory = opened(folder)
    found: dict[str, Level | None] = {}
    try:
        for number, (who, path) in enumerate(acts):
            line = f"Thing {number}: {who} {number}"
            if who == "person":
                write(folder, path, line)
            elif who == "said":
                memory.record(user=f"My dog is called Rex{number}.")
                memory.distill()
            elif who == "reopen":
                memory.close()
                memory = opened(folder)
            elif who == "drop":
                memory.pages.edit(path, lambda text: text.partition("\n")[2], reason="less")
            else:
                author = {"command": "person", "program": "program"}.get(who)

                def added(text: str, line: str = line) -> str:
                    return f"{text}- {line}\n"

                memory.pages.edit(path, added, reason="more", author=author)
            found = levels(memory)
    finally:
        memory.close()
    return found


def lose(folder: Path, how: str, at: int) -> None:
    lines = records(folder)
    if how.startswith("cut"):
        journal(folder).write_bytes(b"".join(lines[: 1 + at % len(lines)]))
    if how == "journal":
        journal(folder).unlink()
        begin_again(str(folder / "memory")) or init(str(folder / "memory"))
    if how in ("log", "both"):
        shutil.rmtree(folder / "memory/log")
    if how in ("views", "both", "cut and views"):
        shutil.rmtree(folder / "memory/views")
    if how in ("log", "both"):
        init(str(folder / "memory"))


@settings(core, max_examples=few(100, COSTLY))
@given(story, loss, st.integers(0, 50), st.booleans())
def test_after_any_story_and_any_loss_no_level_is_higher_and_an_edit_with_proof_is_a_person_s(
    acts: list[tuple[str, str]], how: str, at: int, is_repaired: bool
) -> None:
    import tempfile

    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    try:
        before = live(folder, acts)
        for line, level in before.items():
            assert (
                level == "confirmed" if ": person " in line or ": command " in line else level != "confirmed"
            )
        is_whole = how == "nothing" or (
            how == "cut" and at % len(records(folder)) == len(records(folder)) - 1
        )
        lose(folder, how, at)
        write(folder, MINE, BED)
        with opened(folder) as memory:
            if is_repaired:
                memory.repair()
            after = levels(memory)
        for line, level in after.items():
            assert line not in before or is_at_least(before[line], level or "tainted"), (
                line,
                before[line],
                level,
            )
        assert after[f"{MINE}: {BED}"] == "confirmed" or not is_whole
        assert is_whole <= (before.items() <= after.items())
        with opened(folder) as memory:
            assert levels(memory) == after
    finally:
        shutil.rmtree(folder)
