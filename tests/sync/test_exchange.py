"""What the exchange with a folder rests on: which files are carried, which log is behind, and what happens
meanwhile."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.policy import Policy
from looseleaf.store.disk import this_disk
from looseleaf.store.root import Root
from looseleaf.sync import programs
from looseleaf.sync.carried import is_carried, stage_of
from looseleaf.sync.exchange import Exchange, Exchanged, take_in
from looseleaf.sync.log_files import LogFiles
from looseleaf.sync.sync import kind_of
from machines import FIRST, HASTY, Machines
from syncing import git, make_place, needs, objects, pages_at, say, sync

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def machines(place: Path) -> Iterator[Machines]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOSELEAF_MACHINE", FIRST)
        yield Machines(place)


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        ("/media/stick/notes", ("folder", "/media/stick/notes")),
        ("notes", ("folder", "notes")),
        ("git@example.org:me/notes.git", ("git", "git@example.org:me/notes.git")),
        ("https://example.org/me/notes", ("git", "https://example.org/me/notes")),
        ("git:/srv/notes", ("git", "/srv/notes")),
        ("host:notes", ("rsync", "host:notes")),
        ("ana@host:/srv/notes", ("rsync", "ana@host:/srv/notes")),
        ("rsync:/srv/notes", ("rsync", "/srv/notes")),
        ("rsync:host:notes", ("rsync", "host:notes")),
        ("rsync://host/notes", ("rsync", "rsync://host/notes")),
    ],
)
def test_the_kind_of_a_place_is_told_by_its_name(where: str, kind: tuple[str, str]) -> None:
    assert kind_of(where) == kind


CARRIED = (
    "USER.md state.json facts/garden.md review/a.md log/machine log/key log/journal.jsonl log/archive/000001.jsonl "
    "log/archive/SHA256SUMS log/calls.jsonl log/traces/main/raw_traces.jsonl log/traces/main/archive/000002.jsonl "
    "log/prompts/main.jsonl log/prompts/archive/main/SHA256SUMS log/entries/user/01/meta.json log/on/lap/machine "
    "log/on/lap/key "
    f"log/on/lap/journal.jsonl log/bodies/{'a' * 64} log/on/lap/bodies/{'b' * 64} log/tombstones.jsonl"
)
NOT_CARRIED = (
    "looseleaf.toml .gitignore notes.txt views/heads.json log/lock log/turn log/writer log/staged/x.put log/aside/x "
    "log/on/lap/lock log/on/-x/journal.jsonl log/on/UP/journal.jsonl log/bodies/x ../USER.md "
    "/etc/passwd facts/deep/a.md log/on/lap log/../USER.md log/traces/../journal.jsonl log/entries/a/b/c/d"
)


def test_logs_and_pages_are_carried_and_nothing_else() -> None:
    assert [path for path in CARRIED.split() if not is_carried(path)] == []
    assert [path for path in NOT_CARRIED.split() if is_carried(path)] == []


def test_what_is_written_once_is_sent_before_what_grows_and_pages_last() -> None:
    stages = {path: stage_of(path) for path in CARRIED.split()}
    assert {path for path, stage in stages.items() if stage == 2} == {
        "USER.md",
        "state.json",
        "facts/garden.md",
        "review/a.md",
    }
    grows = {path for path, stage in stages.items() if stage == 1}
    assert all(path.endswith(".jsonl") and "/archive/" not in path for path in grows)
    assert "log/on/lap/journal.jsonl" in grows


def test_names_that_no_agent_can_have_are_no_streams(place: Path) -> None:
    (place / "log/traces/.DS_Store").mkdir(parents=True)
    (place / "log/traces/main").mkdir()
    root = Root(this_disk(), str(place))
    assert "traces/main" in LogFiles(root, "log").streams()
    assert "traces/.DS_Store" not in LogFiles(root, "log").streams()
    root.close()


def test_a_page_that_is_no_text_is_not_woven() -> None:
    with pytest.raises(Refused, match="not UTF-8"):
        take_in("USER.md", b"\xff\xfe", b"# USER\n", [])


# --- meanwhile ---------------------------------------------------------------------------------


def test_a_page_that_is_saved_while_it_is_replaced_stays(
    machines: Machines, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    say(machines, FIRST, "I live in Lyon.")
    page = place / "target/USER.md"
    saved = page.read_text("utf-8") + "- Instrument: cello\n"
    real = Exchange._put_page

    def put(self: Exchange, path: str, old: bytes | None, new: bytes | None) -> None:
        if path == "USER.md":
            page.write_text(saved, "utf-8")
        real(self, path, old, new)

    monkeypatch.setattr(Exchange, "_put_page", put)
    done = sync(machines, FIRST, where)
    assert any("saved at the same moment" in sentence for sentence in done.left)
    assert page.read_text("utf-8") == saved
    monkeypatch.undo()
    os.environ["LOOSELEAF_MACHINE"] = FIRST
    sync(machines, FIRST, where)
    assert {"cello", "Lyon"} <= objects(machines, FIRST)
    assert pages_at(place, where) == machines.pages(FIRST)


def test_a_page_that_is_made_while_it_is_put_stays(
    machines: Machines, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    with machines.open(FIRST) as memory:
        memory.pages.edit("facts/boat.md", "# Boat\n\n- Name: Argo\n", author="person", reason="mine")
    page = place / "target/facts/boat.md"
    real = Exchange._put_page

    def put(self: Exchange, path: str, old: bytes | None, new: bytes | None) -> None:
        page.parent.mkdir(exist_ok=True)
        page.write_text("# Boat\n\n- Sails: two\n")
        real(self, path, old, new)

    monkeypatch.setattr(Exchange, "_put_page", put)
    assert sync(machines, FIRST, where).left
    assert page.read_text() == "# Boat\n\n- Sails: two\n"


def test_a_log_that_goes_on_there_meanwhile_is_taken_in_as_well(
    machines: Machines, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    monkeypatch.setenv("LOOSELEAF_MACHINE", "cafe")
    with Memory(where, policy=HASTY) as memory:
        memory.remember("I like green tea a lot.")
    sync(machines, FIRST, where)
    real, waits = Exchange._bring, [True]

    def bring(self: Exchange, is_new: bool) -> bool:
        if waits:
            waits.clear()
            log = place / "target/log/on/cafe/traces/main/raw_traces.jsonl"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_bytes((machines["phone"] / "log/traces/main/raw_traces.jsonl").read_bytes())
        return real(self, is_new)

    say(machines, "phone", "I work at Acme.")
    shutil.copytree(
        machines.log("phone", "phone") / "traces", machines["phone"] / "log/traces", dirs_exist_ok=True
    )
    monkeypatch.setattr(Exchange, "_bring", bring)
    done = sync(machines, FIRST, where)
    assert not done.left
    here = machines.log(FIRST, "cafe") / "traces/main/raw_traces.jsonl"
    assert b"I work at Acme." in here.read_bytes()


def test_what_a_killed_sync_staged_is_removed_by_the_next(machines: Machines, place: Path) -> None:
    where = make_place("folder", place)
    sync(machines, FIRST, where)
    (place / "target/log/staged/0123.put").write_bytes(b"half")
    sync(machines, FIRST, where)
    assert not (place / "target/log/staged/0123.put").exists()


def test_a_place_that_cannot_be_written_is_reported(machines: Machines, place: Path) -> None:
    (place / "target").mkdir()
    (place / "target/log").write_text("no folder")
    with (
        machines.open(FIRST) as memory,
        pytest.raises(Refused, match=r"is not a folder|was not written|could not be"),
    ):
        memory.sync(place / "target")


def test_a_place_in_a_folder_that_is_not_there_is_refused(machines: Machines, place: Path) -> None:
    with machines.open(FIRST) as memory:
        with pytest.raises(Refused, match=r"there is no folder .*stik, so notes is not made in it"):
            memory.sync(place / "stik" / "notes")
        with pytest.raises(Refused, match=r"there is no git repository .*hub.git. `git init --bare"):
            memory.sync(place / "hub.git")
        assert memory.sync(place / "notes").was_missing
        (place / "empty").mkdir()
        assert not memory.sync(place / "empty").was_missing
    assert not (place / "stik").exists()
    assert not (place / "hub.git").exists()


def test_an_rsync_target_in_a_folder_that_is_not_there_is_refused(machines: Machines, place: Path) -> None:
    needs("rsync")
    with machines.open(FIRST) as memory:
        for dry_run in (True, False):
            with pytest.raises(Refused, match=r"there is no folder .*stik, so notes is not made in it"):
                memory.sync(f"rsync:{place / 'stik' / 'notes'}", dry_run=dry_run)
        assert memory.sync(f"rsync:{place / 'notes'}").was_missing
    assert not (place / "stik").exists()


def test_of_an_rsync_target_that_could_not_be_made_nothing_is_said_to_be_here(place: Path) -> None:
    needs("rsync")
    from looseleaf.sync.rsync_target import RsyncTarget

    def exchange(folder: str) -> Exchanged:
        (Path(folder) / "USER.md").write_text("# USER\n")
        return Exchanged(("USER.md",), (), is_new=True)

    target = RsyncTarget(str(place / "stik" / "notes"), str(place / "mirror"))
    with pytest.raises(
        Refused, match=r"notes/ did not exist, and is no whole copy yet: rsync failed: "
    ) as told:
        target.run(exchange)
    assert "is here now" not in str(told.value)


def test_a_remote_without_the_branch_but_with_others_is_not_given_a_second_copy(
    machines: Machines, place: Path
) -> None:
    where = make_place("git", place)
    sync(machines, FIRST, where)
    with machines.open(FIRST) as memory:
        with pytest.raises(Refused, match=r"has no branch mian. It has main: --branch takes one of them"):
            memory.sync(where, branch="mian")
        assert git(place / "target", "branch", "--list").strip() == "main"
        assert memory.sync(where, branch="mian", new_branch=True).is_new
    assert git(place / "target", "branch", "--list").split() == ["main", "mian"]


# --- programs ----------------------------------------------------------------------------------


def test_a_program_that_is_not_installed_is_named(place: Path) -> None:
    with pytest.raises(Refused, match="no-such-program is not installed"):
        programs.run(("no-such-program",), cwd=str(place))


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (b"one\n\x1b[31mtwo\n\n", "[31mtwo"),
        (b"", ""),
        (
            b"""ssh: Could not resolve hostname no.where: Name or service not known
fatal: Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.
""",
            "ssh: Could not resolve hostname no.where: Name or service not known",
        ),
        (
            b"""ana@host: Permission denied (publickey).
rsync: connection unexpectedly closed (0 bytes)
rsync error: unexplained error (code 255) at io.c(285)
""",
            "ana@host: Permission denied (publickey)",
        ),
        (b"Cloning\nfatal: bad object\nand more\n", "fatal: bad object"),
        (b"rsync: [sender] odd\nrsync error: code 23\n", "rsync: [sender] odd"),
    ],
)
def test_the_line_of_a_program_that_says_why_is_repeated_without_characters_that_do_not_print(
    said: bytes, line: str
) -> None:
    assert programs.telling_line(said).strip() == line


def test_to_sync_again_is_said_only_where_that_may_help() -> None:
    assert programs.Failed("rsync", b"rsync: connection timed out\n").may_pass
    assert not programs.Failed("git", b"ssh: Could not resolve hostname no.where\n").may_pass
    assert str(programs.Failed("git", b"", 3)) == "git failed: exit code 3"


def test_links_in_a_mirror_are_removed_before_anything_is_written(place: Path) -> None:
    (place / "tree/facts").mkdir(parents=True)
    (place / "out").mkdir()
    (place / "tree/facts/a.md").symlink_to(place / "out/a")
    (place / "tree/log").symlink_to(place / "out")
    programs.prune(str(place / "tree"), {})
    assert not (place / "tree/log").is_symlink()
    assert list((place / "tree").iterdir()) == []


def test_a_remote_that_takes_nothing_is_reported_and_what_came_stays(machines: Machines, place: Path) -> None:
    where = make_place("git", place)
    say(machines, "lap", "I work at Acme.")
    sync(machines, "lap", where)
    hook = place / "target/hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    say(machines, FIRST, "I live in Lyon.")
    with machines.open(FIRST) as memory, pytest.raises(Refused, match="but nothing was sent"):
        memory.sync(where)
    assert "Acme" in objects(machines, FIRST)


def test_a_remote_to_which_others_keep_sending_is_given_up(
    machines: Machines, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from looseleaf.sync.git_remote import GitRemote

    where = make_place("git", place)
    monkeypatch.setattr(GitRemote, "_push", lambda *_: False)
    with machines.open(FIRST) as memory, pytest.raises(Refused, match="others kept sending to it"):
        memory.sync(where)


def test_a_branch_can_be_named_and_a_name_that_is_none_is_refused(machines: Machines, place: Path) -> None:
    where = make_place("git", place)
    with machines.open(FIRST) as memory:
        memory.sync(where, branch="notes")
        with pytest.raises(Refused, match="cannot be the name of a branch"):
            memory.sync(where, branch="-x..y")
    assert git(place / "target", "branch", "--list").strip() == "notes"


def test_an_rsync_target_that_cannot_be_reached_is_reported(machines: Machines, place: Path) -> None:
    needs("rsync")
    (place / "file").write_text("no folder")
    with machines.open(FIRST) as memory, pytest.raises(Refused, match="Nothing was synced with"):
        memory.sync("rsync://localhost:1/notes")
    with machines.open(FIRST) as memory, pytest.raises(Refused, match=r"there is no folder .*file, so"):
        memory.sync(f"rsync:{place / 'file' / 'target'}")


def test_an_rsync_target_that_keeps_changing_is_given_up(
    machines: Machines, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from looseleaf.sync.rsync_target import RsyncTarget

    where = make_place("rsync", place)
    looks = iter(range(99))
    monkeypatch.setattr(RsyncTarget, "_look", lambda self: b"%d" % next(looks))
    monkeypatch.setattr(RsyncTarget, "_fetch", lambda self, is_there: programs.prune(self._tree, {}))
    with machines.open(FIRST) as memory:
        memory.record(user="One more word.")
        with pytest.raises(Refused, match="others kept sending to it"):
            memory.sync(where)


def test_a_segment_that_was_sent_before_its_stream_went_on_is_no_second_copy(
    machines: Machines, place: Path
) -> None:
    """Another machine was killed after it sent what is written once, and before it sent what grows."""
    where = make_place("rsync", place)
    small = Policy(segment_bytes=1000, settle_seconds=0.0, quiet_seconds=0.0)
    os.environ["LOOSELEAF_MACHINE"] = FIRST
    with Memory(machines[FIRST], policy=small) as memory:
        memory.record(user="Word 0.")
        memory.sync(where)
        before = (place / "target/log/traces/main/raw_traces.jsonl").read_bytes()
        for number in range(1, 9):
            memory.record(user=f"Word {number}.")
        memory.sync(where)
    archive = place / "target/log/traces/main/archive"
    for name in sorted(file.name for file in archive.iterdir())[1:]:
        (archive / name).unlink()
    assert len(list(archive.iterdir())) == 1
    (place / "target/log/traces/main/raw_traces.jsonl").write_bytes(before)
    sync(machines, "lap", where)
    with machines.open("lap") as memory:
        assert memory.parts.files.machines() == [FIRST]
    sync(machines, FIRST, where)
    assert sync(machines, "lap", where).turns
    with machines.open("lap") as memory:
        assert memory.parts.files.machines() == [FIRST]
        assert memory.check() == []


def test_another_sync_of_the_same_memory_is_waited_for(machines: Machines, place: Path) -> None:
    where = make_place("git", place)
    with Memory(machines[FIRST], policy=Policy(lock_seconds=0.2)) as memory:
        with memory.parts.files.alone("views/sync.lock") as is_alone:
            assert is_alone
            with pytest.raises(Refused, match="another process is syncing this memory"):
                memory.sync(where)
        assert memory.sync(where).is_new
