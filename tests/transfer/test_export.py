"""Exports: whoever has one has the memory. What goes out comes back equal, and nothing else is written.

The tests are round trips: a tar unpacked, a copy, facts and messages read again, are what the memory holds.
"""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from faults import CountedDisk
from looseleaf.base.errors import Refused
from looseleaf.base.ids import new_id
from looseleaf.base.messages import Trace
from looseleaf.base.policy import Policy
from looseleaf.base.values import Fact
from looseleaf.cli.main import main
from looseleaf.explain import sources as words
from looseleaf.log.turns import trace_text
from looseleaf.memory import Memory
from looseleaf.store import files
from looseleaf.store.disk import Disk
from looseleaf.store.records import to_json
from looseleaf.transfer import export_folder as whole
from looseleaf.transfer.export_folder import Copy, ExportTarget, TarWriter, Whole, export_whole, private
from looseleaf.transfer.export_rows import _messages_of, _pair_with_past, fact_lines, message_lines
from looseleaf.transfer.formats import detect, format_named
from looseleaf.transfer.import_run import run as import_from
from looseleaf.transfer.source import ImportSource
from talking import conversations, trace

SMALL = Policy(segment_bytes=2_000, body_bytes=1_500)
"""So that a short talk has sealed segments and bodies."""

NOT_IN_A_COPY = ("views", "log/lock", "log/turn", "log/writer", "log/staged", "log/aside/late")


def fill(memory: Memory) -> None:
    """Something of everything: sealed segments, bodies, entries, facts with a past, one that waits, pages, others."""
    memory.record(user="My name is Zhang San. I live in Lyon.")
    memory.record(tool_call="look", tool_args={"at": "the map"}, tool_call_id="c1")
    memory.record(tool_result={"found": "Lyon", "words": "w" * 3000}, tool_call_id="c1")
    memory.record(assistant="Noted, Zhang San.")
    memory.distill()
    memory.parts.context.store.rotate("traces/main")
    memory.record(user="I moved. I live in Paris now. 从今天起我住在巴黎。")
    memory.record(assistant="Paris it is.")
    memory.distill()
    memory.distill("My manager is Anna Weiss. The printer is in room 12.", topic="office")[0]
    memory.pages.edit("PROJECT.md", "# Rules\n\nSmall commits.\n", reason="rules")
    Path(memory.path, "days", "2026-01-05.md").write_text("- It rained.\n")
    Path(memory.path, "sketch.bin").write_bytes(bytes(range(256)))
    Path(memory.path, "photos").mkdir()
    Path(memory.path, "photos", "été.txt").write_text("a note of mine")


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "memory"
    with Memory(str(path), policy=SMALL) as memory:
        fill(memory)
        memory.views.build_index()
    return path


@pytest.fixture
def filled(once: Path, folder: Path) -> Path:
    """A memory of the test's own."""
    shutil.rmtree(folder)
    shutil.copytree(once, folder)
    return folder


def bytes_of(folder: Path) -> dict[str, bytes]:
    """All files that an export must have, by name."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in found.items()
        if not any(name == each or name.startswith(f"{each}/") for each in NOT_IN_A_COPY)
    }


def unpacked(tar: Path, where: Path) -> Path:
    with tarfile.open(tar) as file:
        safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # since 3.11.4
        file.extractall(where, **safely)
    (only,) = where.iterdir()
    return only


def known(path: Path) -> tuple[Any, ...]:
    """All that a memory answers: facts of every status, what recall finds, what pages say, what was said."""
    with Memory(str(path)) as memory:
        assert [str(problem) for problem in memory.check() if problem.severity == "error"] == []
        facts = [
            [each.to_dict() for each in memory.facts(status=status)]
            for status in ("current", "superseded", "pending", "rejected")
        ]
        hits = [
            (hit.where, hit.text)
            for asked in ("where do I live?", "printer")
            for hit in memory.recall(asked, quick=True)
        ]
        pages = [(each, memory.pages.read(each).text) for each in memory.pages.list()]
        return (
            facts,
            hits,
            pages,
            [trace_text(trace) for turn in memory.talk.turns(100) for trace in turn.traces],
        )


# --- the whole memory ------------------------------------------------------------------


def test_a_tar_that_is_unpacked_is_the_same_memory(filled: Path, run: Run, tmp_path: Path) -> None:
    code, out, err = run("export", str(tmp_path / "m.tar.gz"), "--json")

    told = json.loads(out)
    assert (code, err) == (0, "")
    assert told["path"] == str(tmp_path / "m.tar.gz")
    assert told["bytes"] == os.path.getsize(tmp_path / "m.tar.gz")
    copy = unpacked(tmp_path / "m.tar.gz", tmp_path / "there")
    assert bytes_of(copy) == bytes_of(filled)
    assert told["files"] == len(bytes_of(copy))
    assert any("/archive/" in name for name in bytes_of(copy)), "no segment was sealed"
    assert any(name.startswith("log/bodies/") for name in bytes_of(copy)), "nothing was long"
    assert known(copy) == known(filled)


def test_a_folder_is_the_same_memory(filled: Path, run: Run, tmp_path: Path) -> None:
    code, out, _ = run("export", str(tmp_path / "copy"), "--as", "folder")

    assert code == 0
    assert "Only you may read it." in out
    assert bytes_of(tmp_path / "copy") == bytes_of(filled)
    assert known(tmp_path / "copy") == known(filled)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "copy").rglob("*") if path.is_file()}
    assert modes == {0o600}
    page = "days/2026-01-05.md"
    assert int((tmp_path / "copy" / page).stat().st_mtime) == int((filled / page).stat().st_mtime)


def test_the_same_memory_gives_the_same_bytes(filled: Path, run: Run, tmp_path: Path) -> None:
    os.utime(filled / "PROJECT.md", (1_600_000_000, 1_600_000_000))
    run("show", "PROJECT.md")
    for name in ("one.tar.gz", "two.tar.gz"):
        assert run("export", str(tmp_path / name))[0] == 0

    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()
    assert stat.S_IMODE((tmp_path / "one.tar.gz").stat().st_mode) == 0o600
    with tarfile.open(tmp_path / "one.tar.gz") as file:
        found = {member.name: member for member in file}
    assert {(each.uid, each.gid, each.uname, each.gname) for each in found.values()} == {(0, 0, "", "")}
    assert {each.mode for each in found.values()} == {0o600, 0o700}
    assert found["memory/PROJECT.md"].mtime == 1_600_000_000
    names = {name.removeprefix("memory/") for name in found}
    assert not [name for name in names if name.startswith(NOT_IN_A_COPY)]


def test_without_a_path_the_name_has_the_day_in_it(filled: Path, run: Run, place: Path) -> None:
    assert run("export")[0] == run("export", "--as", "folder")[0] == 0

    (tar,) = place.glob("memory-????-??-??.tar.gz")
    (copy,) = (each for each in place.glob("memory-????-??-??") if each.is_dir())
    assert bytes_of(unpacked(tar, place / "there")) == bytes_of(copy) == bytes_of(filled)
    assert run("export")[0] == run("export")[0] == 0
    assert len({*place.glob("memory-????-??-??-[23].tar.gz")}) == 2, "a later one has the next free name"


def test_an_export_that_git_would_commit_says_so(filled: Path, run: Run, place: Path) -> None:
    said = f"It lies in the git repository {place}, which would commit it, with all that was said."
    assert said not in run("export")[1]
    (place / ".git").mkdir()
    assert said in run("export")[1]
    assert said in run("export", "--as", "folder")[1]
    assert said not in run("export", "facts.jsonl", "--as", "facts")[1]


def test_a_tar_goes_through_a_pipe_but_not_to_a_terminal(
    filled: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = io.TextIOWrapper(io.BytesIO())
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", piped)
        assert run("export", "-")[0] == 0
    (tmp_path / "p.tar.gz").write_bytes(piped.buffer.getvalue())
    assert bytes_of(unpacked(tmp_path / "p.tar.gz", tmp_path / "there")) == bytes_of(filled)

    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    code, _, err = run("export", "-")
    assert (code, "a terminal cannot show a packed file" in err) == (2, True)
    code, out, err = run("export", "-", "--json")
    assert (code, [*json.loads(out)], "a packed file is not JSON" in err) == (2, ["error"], True)
    code, _, err = run("export", "-", "--as", "folder")
    assert (code, "a folder does not fit in a pipe" in err) == (2, True)


@pytest.mark.parametrize("form", ["tar", "folder", "facts", "messages"])
def test_nothing_is_written_over_or_into_the_memory(filled: Path, run: Run, place: Path, form: str) -> None:
    taken = place / "taken"
    taken.write_text("mine")
    (place / "link").symlink_to(filled)
    (place / "dangling").symlink_to(place / "nowhere")
    before = sorted(place.rglob("*"))
    for path, why in (
        (taken, "already exists"),
        (place / "dangling", "already exists"),
        (filled / "log" / "x", "lies inside the memory"),
        (filled / "x", "lies inside the memory"),
        (place / "link" / "facts" / "x", "lies inside the memory"),
        (place / "no" / "x", "there is no folder"),
        ("", "the path is empty"),
    ):
        code, out, err = run("export", str(path), "--as", form)
        assert (code, out) == (2, "")
        assert err.startswith("looseleaf: Nothing was exported: ")
        assert why in err
    assert taken.read_text() == "mine"
    views = filled / "views"
    assert [each for each in sorted(place.rglob("*")) if views not in each.parents] == [
        each for each in before if views not in each.parents
    ]


def test_a_name_that_says_another_packing_is_refused(filled: Path, run: Run, place: Path) -> None:
    code, _, err = run("export", str(place / "x.zip"))
    assert (code, "packed as a .tar.gz, and x.zip says otherwise" in err) == (2, True)
    assert not (place / "x.zip").exists()


def test_a_copy_is_not_put_into_another_memory(filled: Path, run: Run, place: Path) -> None:
    with Memory(str(place / "other")):
        pass
    code, _, err = run("export", str(place / "other" / "copy"), "--as", "folder")

    assert code == 2
    assert "memories do not nest" in err
    assert not (place / "other" / "copy").exists()


def test_what_leads_out_of_the_memory_is_passed_over_and_named(
    filled: Path, run: Run, tmp_path: Path
) -> None:
    (filled / "secret").symlink_to("/etc/passwd")
    (filled / "photos" / "away").symlink_to("/")
    os.mkfifo(filled / "pipe")
    (tmp_path / "twin.txt").write_text("twin")
    os.link(tmp_path / "twin.txt", filled / "twin.txt")

    code, out, _ = run("export", str(tmp_path / "m.tar.gz"), "--json")

    assert code == 0
    assert sorted(json.loads(out)["left_out"]) == ["photos/away", "pipe", "secret", "twin.txt"]
    with tarfile.open(tmp_path / "m.tar.gz") as file:
        assert {member.type for member in file} == {tarfile.REGTYPE, tarfile.DIRTYPE}
    _, out, _ = run("export", str(tmp_path / "n.tar.gz"))
    assert "Skipped, because they lead out of the memory or cannot be read: " in out


def test_a_log_that_cannot_be_read_refuses_the_whole(filled: Path, run: Run, tmp_path: Path) -> None:
    os.link(filled / "log" / "key", tmp_path / "twin")

    code, _, err = run("export", str(tmp_path / "m.tar.gz"))

    assert code == 2
    assert "log/key has a second name" in err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["twin"]


# --- while it changes ------------------------------------------------------------------


class Watched(Copy):
    """A copy in whose midst something happens: `act` is called when a file is taken."""

    def __init__(self, path: Path, act: Callable[[str, int], None]) -> None:
        super().__init__(str(path))
        self._act = act
        self.begun = 0

    def begin(self) -> None:
        self.begun += 1
        super().begin()

    def file(self, path: str, size: int, mtime: int, stream: BinaryIO) -> None:
        super().file(path, size, mtime, stream)
        self._act(path, self.begun)


def exported(path: Path, sink: Watched) -> Whole:
    with Memory(str(path), policy=SMALL) as memory:
        return export_whole(memory, sink)


def saves(path: Path, page: str, text: str) -> Callable[[str, int], None]:
    """A person saves a page when its former text was just taken, the first time."""

    def act(taken: str, begun: int) -> None:
        if taken == page and begun == 1:
            (path / page).write_text(text)

    return act


def test_a_page_that_is_saved_meanwhile_is_taken_as_it_is_then(filled: Path, tmp_path: Path) -> None:
    sink = Watched(tmp_path / "copy", saves(filled, "PROJECT.md", "# Rules\n\nLarge commits.\n"))

    exported(filled, sink)

    assert sink.begun == 2
    assert (tmp_path / "copy" / "PROJECT.md").read_text() == "# Rules\n\nLarge commits.\n"
    assert bytes_of(tmp_path / "copy") == bytes_of(filled)


def test_without_looking_again_the_copy_would_be_of_no_moment(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant of the test above: who believes what was listed first has a page that is no longer there."""
    walk, seen = whole._walk, list[Any]()

    def listed_once(root: Any, strangers: list[str]) -> Iterator[Any]:
        if not seen:
            seen.extend(walk(root, strangers))
        return iter(seen)

    monkeypatch.setattr(whole, "_walk", listed_once)
    sink = Watched(tmp_path / "copy", saves(filled, "PROJECT.md", "# Rules\n\nLarge commits.\n"))

    exported(filled, sink)

    assert sink.begun == 1
    assert (tmp_path / "copy" / "PROJECT.md").read_text() != (filled / "PROJECT.md").read_text()


def test_others_may_write_while_what_lasts_is_copied(filled: Path, tmp_path: Path) -> None:
    """They need no lock for that, nothing is begun anew, and what they wrote is in the copy."""
    with Memory(str(filled), policy=SMALL) as other:

        def act(taken: str, begun: int) -> None:
            if taken.startswith("log/bodies/") and other.talk.session is None:
                other.record(user="In the midst. " * 200)
                other.parts.context.store.rotate("traces/main")
                other.record(assistant="And after it was sealed.")

        sink = Watched(tmp_path / "copy", act)
        exported(filled, sink)

    assert other.talk.session is not None, "nobody wrote"
    assert sink.begun == 1
    assert bytes_of(tmp_path / "copy") == bytes_of(filled)
    assert "And after it was sealed." in known(tmp_path / "copy")[3]


def test_what_lasts_and_was_taken_and_is_gone_is_not_in_the_copy(filled: Path, tmp_path: Path) -> None:
    """As a forgetting does: it rewrites what is sealed."""
    sealed = filled / "log/traces/main/archive/000001.jsonl"
    rewritten = b"\n".join(sealed.read_bytes().split(b"\n")[1:])

    def act(taken: str, begun: int) -> None:
        if begun == 1 and taken == str(sealed.relative_to(filled)):
            sealed.write_bytes(rewritten)

    sink = Watched(tmp_path / "copy", act)
    exported(filled, sink)

    assert sink.begun == 2
    assert (tmp_path / "copy" / sealed.relative_to(filled)).read_bytes() == rewritten


def test_what_goes_away_while_it_is_looked_at_is_not_in_the_copy(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file between the list and the look, a folder before it is opened, a file before it is read."""

    class Going(Disk):
        def __init__(self) -> None:
            super().__init__()
            self.gone: list[str] = []

        def stat(self, folder: int, path: str) -> os.stat_result:
            if path == "sketch.bin" and path not in self.gone:
                self.gone.append(path)
                (filled / path).unlink()
            found = super().stat(folder, path)
            if path == "photos" and path not in self.gone:
                self.gone.append(path)
                shutil.rmtree(filled / path)
            return found

        def open(self, root: int, path: str, flags: int, mode: int = 0o600) -> int:
            if path == "PROJECT.md" and path not in self.gone:
                self.gone.append(path)
                (filled / path).rename(filled / "RULES.md")
            return super().open(root, path, flags, mode)

    disk = Going()
    monkeypatch.setattr(whole, "this_disk", lambda: disk)
    sink = Watched(tmp_path / "copy", lambda *_: None)
    exported(filled, sink)

    assert sorted(disk.gone) == ["PROJECT.md", "photos", "sketch.bin"]
    assert sink.begun > 1
    assert bytes_of(tmp_path / "copy") == bytes_of(filled)


def test_a_folder_that_cannot_be_read_is_said(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(Disk):
        def names(self, folder: int) -> list[str]:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(whole, "this_disk", Failing)
    with pytest.raises(Refused, match=r"could not be read \(Input/output error\)"):
        exported(filled, Watched(tmp_path / "copy", lambda *_: None))


def test_a_memory_that_never_rests_is_not_exported(filled: Path, place: Path) -> None:
    def act(taken: str, begun: int) -> None:
        if taken == "sketch.bin":
            with open(filled / taken, "ab") as file:
                file.write(b"more")

    with (
        pytest.raises(Refused, match="the memory changed during all 4 attempts"),
        ExportTarget("x", str(filled)) as new,
    ):
        exported(filled, Watched(Path(new.draft), act))

    assert sorted(each.name for each in place.iterdir() if each.name != "home") == ["memory"]


def test_a_file_that_shrinks_while_it_is_packed_breaks_nothing(filled: Path, tmp_path: Path) -> None:
    class Shrinking(TarWriter):
        def file(self, path: str, size: int, mtime: int, stream: BinaryIO) -> None:
            if path == "sketch.bin" and os.path.getsize(filled / path) == 256:
                os.truncate(filled / path, 3)
            super().file(path, size, mtime, stream)

    with os.fdopen(private(str(tmp_path / "m.tar.gz")), "w+b") as file, Memory(str(filled)) as memory:
        export_whole(memory, Shrinking(file, "m"))

    copy = unpacked(tmp_path / "m.tar.gz", tmp_path / "there")
    assert (copy / "sketch.bin").read_bytes() == bytes(range(3))
    assert bytes_of(copy) == bytes_of(filled)


class ReadOnly(CountedDisk):
    """A disk that nobody may write to."""

    refused = 0

    def called(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if name == "open" and args[2] & (os.O_WRONLY | os.O_RDWR):
            self.refused += 1
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), args[1])
        return real(*args)


def test_a_memory_that_may_only_be_read_can_be_exported(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = ReadOnly()
    monkeypatch.setattr(files, "this_disk", lambda: disk)

    exported(filled, Watched(tmp_path / "copy", lambda *_: None))

    assert disk.refused
    assert bytes_of(tmp_path / "copy") == bytes_of(filled)


def draft(path: str, memory: Path, then: Callable[[], object]) -> None:
    with ExportTarget(path, str(memory)) as new:
        Path(new.draft).write_text("draft")
        then()


def test_a_disk_that_is_full_or_a_name_that_was_taken_leaves_nothing_behind(
    filled: Path, place: Path
) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(Refused, match=r"x was not written \(No space left on device\)"):
        draft("x", filled, full)
    with pytest.raises(Refused, match=r"another program made .* meanwhile"):
        draft("y", filled, lambda: Path("y").write_text("theirs"))
    with pytest.raises(Refused, match=r"z was not written"):
        draft("z", filled, lambda: next(place.glob(".looseleaf-*.part")).unlink())

    assert Path("y").read_text() == "theirs"
    assert sorted(each.name for each in place.iterdir() if each.name != "home") == ["memory", "y"]


def test_what_an_export_that_was_killed_left_is_removed_by_the_next_one(
    filled: Path, run: Run, place: Path
) -> None:
    """A real one, killed while it writes; what another writes now, or somebody else has, stays."""
    begins = (
        "import sys, time\nfrom looseleaf.transfer.export_folder import ExportTarget, private\n"
        "with ExportTarget('killed', sys.argv[1]) as new:\n    private(new.draft)\n    print('begun', flush=True)\n"
        "    sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", begins, filled], cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"begun\n"
        (left,) = place.glob(".looseleaf-*.part")
        assert run("export", "meanwhile", "--as", "folder")[::2] == (0, "")
        assert left.exists()
        other.kill()
    old = place / ".looseleaf-01ARZ3NDEKTSV4RRFFQ69G5FAV.part"  # of years ago, as a folder
    (old / "log").mkdir(parents=True)
    strangers = [
        place / ".looseleaf-notes.part",
        place / ".looseleaf-ILOU1111111111111111111111.part",
        place / f".looseleaf-{new_id()}-1@elsewhere.part",
        place / f".looseleaf-{new_id()}.part",
    ]
    for each in strangers:
        each.touch()
    link = place / ".looseleaf-01ARZ3NDEKTSV4RRFFQ69G5FAW.part"
    link.symlink_to(filled / "USER.md")
    code, _, err = run("export", "facts.jsonl", "--as", "facts")
    assert (code, sorted(err.splitlines()[:-1])) == (
        0,
        sorted(f"looseleaf: {each} was removed: a killed export left it." for each in (left, old)),
    )
    assert not left.exists()
    assert not old.exists()
    assert all(each.exists() for each in (*strangers, link, filled / "log"))
    assert run("export", "again.jsonl", "--as", "facts")[2].startswith("Next: `jq ")


def test_what_was_left_and_cannot_be_removed_stops_no_export(
    filled: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / ".looseleaf-01ARZ3NDEKTSV4RRFFQ69G5FAV.part").touch()

    def fails(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    for name in ("unlink", "lstat", "listdir"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, fails)
            assert ExportTarget(str(place / "x"), str(filled)).removed == []
    assert len(ExportTarget(str(place / "x"), str(filled)).removed) == 1


def test_a_large_file_is_never_held_whole(filled: Path, tmp_path: Path) -> None:
    size = 12_000_000
    (filled / "large.bin").write_bytes(os.urandom(1000) * (size // 1000))
    with Memory(str(filled)) as memory:
        for sink in (TarWriter(io.BytesIO(), "m"), Copy(str(tmp_path / "copy"))):
            memory.pages.absorb()
            tracemalloc.start()
            export_whole(memory, sink)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert peak < size / 2


# --- facts -----------------------------------------------------------------------------


def told_facts(memory: Memory) -> list[dict[str, Any]]:
    return [json.loads(line) for line in fact_lines(memory)]


def as_facts(told: list[dict[str, Any]]) -> list[Fact]:
    """The facts of an export, also those of the past, as values again."""
    everything = [each for line in told for each in (line, *line["past"])]
    return [
        Fact.from_dict(each | {"sources": [source["source"] for source in each["sources"]]})
        for each in everything
    ]


def test_every_fact_is_told_once_with_its_words_and_its_past(filled: Path) -> None:
    with Memory(str(filled)) as memory:
        memory.review.reject(memory.facts(status="pending")[0].id or "")
        told = told_facts(memory)
        held = [
            fact
            for status in ("current", "superseded", "pending", "rejected")
            for fact in memory.facts(status=status)
        ]

    home = next(line for line in told if line["relation"] == "Home")
    assert (home["object"], home["status"], home["schema"]) == ("Paris", "current", "fact.v1")
    assert [(each["object"], each["status"]) for each in home["past"]] == [("Lyon", "superseded")]
    assert [source["text"] for source in home["past"][0]["sources"]] == [
        "My name is Zhang San. I live in Lyon."
    ]
    assert {source["origin"] for source in home["sources"]} == {"user"}
    assert set(Fact.__match_args__) <= set(home)
    again = as_facts(told)
    assert sorted(again, key=repr) == sorted(held, key=repr)
    assert len(again) == len({fact.id for fact in again})


def test_of_an_edit_the_line_is_told_that_says_the_fact(folder: Path) -> None:
    with Memory(str(folder)) as memory:
        memory.pages.edit(
            "facts/garden.md", "# Garden\n\n- Tomato: red\n- Basil: green\n", reason="x", author="person"
        )
        memory.pages.edit(
            "facts/garden.md", lambda text: text.replace("red", "yellow"), reason="y", author="person"
        )
        told = told_facts(memory)

    tomato = next(line for line in told if line["relation"] == "Tomato")
    assert [(each["origin"], each["text"]) for each in tomato["sources"]] == [("person", "- Tomato: yellow")]
    assert [each["sources"][0]["text"] for each in tomato["past"]] == ["- Tomato: red"]


def test_words_that_are_gone_stop_nothing(filled: Path) -> None:
    for entry in (filled / "log" / "entries" / "sessions").iterdir():
        shutil.rmtree(entry)
    with Memory(str(filled)) as memory:
        told = told_facts(memory)
        home = next(line for line in told if line["relation"] == "Home")
        assert "I live in Paris now" in home["sources"][0]["text"], "the log has them still"
    (filled / "log/traces/main/raw_traces.jsonl").unlink()
    with Memory(str(filled)) as memory:
        home = next(line for line in told_facts(memory) if line["relation"] == "Home")
    assert home["sources"][0]["text"] == ""


def test_the_words_of_many_facts_are_those_of_each(folder: Path) -> None:
    with Memory(str(folder)) as memory:
        for town in ("Lyon", "Paris"):
            memory.record(user=f"I live in {town}. My favourite colour is the grey of {town}.")
            memory.distill()
        facts = [*memory.facts(), *memory.facts(status="superseded")]
        held = words.FactWords(memory.parts, words.SourcePlaces(memory.parts.context, facts))
        assert len({fact.entry_id for fact in facts}) == 2
        for fact in facts:
            assert [source.text for source in held.of(fact)] == [
                source.text for source in memory.explain.sources(fact)
            ]


def test_a_fact_on_two_pages_is_told_once_and_a_forgotten_one_never(folder: Path) -> None:
    with Memory(str(folder)) as memory:
        memory.record(user="My name is Zhang San.")
        memory.distill()
        line = next(line for line in memory.pages.read("USER.md").text.split("\n") if "Zhang" in line)
        fact = memory.facts()[0]
        told = told_facts(memory)
    copy = fact.but(id=whole_copy(fact), path="facts/user.md", line=3)
    gone = fact.but(id="f_000000000001", status="forgotten", object="Zhang Si")

    assert line == "- Name: Zhang San"
    assert [each["id"] for each in told] == [fact.id]
    assert list(_pair_with_past([fact, copy, gone])) == [(fact, [])]


def whole_copy(fact: Fact) -> str:
    from looseleaf.facts.ledger import copy_id

    return copy_id(fact.id or "")


@given(st.lists(st.integers(-1, 12), max_size=12), st.data())
def test_whatever_replaced_what_each_fact_stands_in_the_file_once(
    after: list[int], data: st.DataObject
) -> None:
    """Also where the journal says that two replaced each other, or that something unknown did."""
    facts = [
        Fact(
            "user",
            "user",
            "Home",
            f"place {number}",
            id=f"f_{number:012x}",
            status="superseded"
            if by >= 0
            else data.draw(st.sampled_from(["current", "rejected", "pending"])),
            superseded_by=f"f_{by:012x}" if by >= 0 else None,
            recorded_at=float(number),
        )
        for number, by in enumerate(after)
    ]
    told = [each.id for fact, past in _pair_with_past(facts) for each in (fact, *past)]

    assert len(told) == len(set(told))
    in_a_ring = {fact.id for fact in facts} - set(told)
    assert all(fact.status == "superseded" for fact in facts if fact.id in in_a_ring)
    assert not in_a_ring


def test_facts_go_to_a_file_or_to_standard_output(filled: Path, run: Run, tmp_path: Path) -> None:
    code, out, err = run("export", "--as", "facts")
    assert (code, err) == (0, "")
    assert run("export", "-", "--as", "facts")[1] == out
    code, told, err = run("export", str(tmp_path / "f.jsonl"), "--as", "facts")
    assert code == 0
    assert err.startswith(f"Next: `jq -r '.relation + \": \" + .object' {tmp_path}/f.jsonl` lists them; ")
    assert run("export", str(tmp_path / "m.jsonl"), "--as", "messages")[2] == (
        f"Next: `looseleaf --memory OTHER import {tmp_path}/m.jsonl --as messages` imports it into another memory.\n"
    )
    assert (tmp_path / "f.jsonl").read_text() == out
    assert stat.S_IMODE((tmp_path / "f.jsonl").stat().st_mode) == 0o600
    assert told == f"{tmp_path}/f.jsonl: {out.count(chr(10))} facts, {len(out.encode()):,} bytes.\n"
    code, told, err = run("export", str(tmp_path / "g.jsonl"), "--as", "facts", "--json")
    assert err == ""
    assert json.loads(told) == {
        "path": str(tmp_path / "g.jsonl"),
        "format": "facts",
        "bytes": len(out.encode()),
        "lines": out.count("\n"),
    }


def test_as_json_the_lines_are_one_document(filled: Path, run: Run) -> None:
    with Memory(str(filled), session="another") as memory:
        memory.record(user="Good morning.")
    for form in ("facts", "messages"):
        lines = [json.loads(line) for line in run("export", "--as", form)[1].splitlines()]
        assert len(lines) > 1
        assert json.loads(run("export", "--as", form, "--json")[1]) == lines
        assert json.loads(run("export", "-", "--as", form, "--json")[1]) == lines
    code, out, _ = run("export", "--as", "messages", "--agent", "nobody", "--json")
    assert (code, [*json.loads(out)]) == (2, ["error"])


def test_on_a_terminal_no_fact_steers_it(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "facts" / "x.md").write_text("- Del: a\x7fb\n")
    assert "\x7f" in run("export", "--as", "facts")[1]
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    assert "\x7f" not in run("export", "--as", "facts")[1]


# --- messages --------------------------------------------------------------------------


def sessions_of(memory: Memory, agent: str | None = None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(message_lines(memory, agent)).splitlines()]


def test_a_session_is_a_line_of_messages_with_calls_and_results(folder: Path) -> None:
    with Memory(str(folder), session="s1") as memory:
        memory.record(user="Look twice.", media={"images": ["https://example.org/a.png"]})
        memory.record(tool_call="look", tool_args={"at": "右"}, tool_call_id="c1", reasoning="Hm.", ts=5.5)
        memory.record(tool_call="look", tool_call_id="c2")
        memory.record(tool_result=["a", 1], tool_call_id="c1")
        memory.record(tool_error="no light", tool_call_id="c2")
        memory.record(assistant="One of two.", reasoning="So.", ts=9.0)
        memory.record(tool_call="wait", tool_call_id="c3")
        found = sessions_of(memory)

    def call(name: str, given: str) -> dict[str, Any]:
        return {"id": name, "type": "function", "function": {"name": "look", "arguments": given}}

    (line,) = found
    assert (line["session"], line["agent"], [*line]) == ("s1", "main", ["session", "agent", "messages"])
    told = line["messages"]
    assert [type(message.pop("ts")) for message in told] == [float] * 6
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    waiting = call("c3", "{}")
    waiting["function"]["name"] = "wait"
    assert told == [
        {"role": "user", "content": [{"type": "text", "text": "Look twice."}, picture]},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "Hm.",
            "tool_calls": [call("c1", '{"at": "右"}'), call("c2", "{}")],
        },
        {"role": "tool", "tool_call_id": "c1", "name": "look", "content": '["a",1]'},
        {"role": "tool", "tool_call_id": "c2", "name": "look", "content": "error: no light"},
        {"role": "assistant", "content": "One of two.", "reasoning_content": "So."},
        {"role": "assistant", "content": None, "tool_calls": [waiting]},
    ]


def test_sessions_that_take_turns_are_told_apart(folder: Path, run: Run) -> None:
    with (
        Memory(str(folder), session="a", policy=SMALL) as one,
        Memory(str(folder), session="b", policy=SMALL) as two,
        Memory(str(folder), agent="other", session="a") as three,
    ):
        for number in range(30):
            (one if number % 3 else two).record(user=f"{number} " + "x" * 200)
        three.record(user="Mine.")
        found = sessions_of(one)
        other = sessions_of(one, "other")

    assert [(line["agent"], line["session"]) for line in found] == [
        ("main", "b"),
        ("main", "a"),
        ("other", "a"),
    ]
    numbers = [[int(each["content"].split()[0]) for each in line["messages"]] for line in found[:2]]
    assert numbers == [list(range(0, 30, 3)), [number for number in range(30) if number % 3]]
    assert other == found[2:]
    assert [json.loads(line) for line in run("export", "--as", "messages")[1].splitlines()] == found
    told = run("export", "-", "--as", "messages", "--agent", "other")[1]
    assert [json.loads(line) for line in told.splitlines()] == other
    assert (
        "no agent 'nobody' has recorded anything" in run("export", "--as", "messages", "--agent", "nobody")[2]
    )


def test_where_nothing_was_said_there_is_nothing_to_export(folder: Path, run: Run) -> None:
    assert run("export", "--as", "messages") == (0, "", "")
    assert run("export", "--as", "facts") == (0, "", "")
    assert run("export", "--as", "facts", "--json") == (0, "[]\n", "")
    assert "Record something first." in run("export", "--as", "messages", "--agent", "main")[2]


def test_lines_that_are_no_traces_are_passed_over(folder: Path) -> None:
    with Memory(str(folder)) as memory:
        memory.record(user="One.")
        memory.talk.start_turn()
        memory.record(assistant="Two.")
    with open(folder / "log/traces/main/raw_traces.jsonl", "ab") as file:
        file.write(b'{"made":"by hand"}\nno JSON\n')
    with Memory(str(folder)) as memory:
        (line,) = sessions_of(memory)
    assert [each["content"] for each in line["messages"]] == ["One.", "Two."]


WORDS = st.text(max_size=20)


@given(conversations(WORDS, max_turns=3))
def test_messages_hold_every_word_in_the_order_of_the_log(asked: list[dict[str, Any]]) -> None:
    log = list(traces_of(asked))
    told: list[str] = []
    for message in map(json.loads, map(to_json, _messages_of(iter(log)))):
        calls = message.get("tool_calls", ())
        told += [f"{call['function']['name']} {json.loads(call['function']['arguments'])}" for call in calls]
        told += [] if calls else [message["content"]]
    assert told == [
        f"{each.tool_name} {each.tool_args}" if each.trace_type == "tool_call" else trace_text(each)
        for each in log
    ]


def traces_of(asked: list[dict[str, Any]]) -> Iterator[Trace]:
    turn = 0
    for each in asked:
        kind = next(iter(each))
        turn += kind == "user"
        if kind == "tool_call":
            yield trace("tool_call", "", turn, each["tool_call_id"], tool_args=each["tool_args"])
        elif kind.startswith("tool_"):
            yield trace("tool_result", "", turn, each["tool_call_id"], **{kind: each[kind]})
        else:
            yield trace("user" if kind == "user" else "assistant", each[kind], turn)


def test_messages_that_are_imported_elsewhere_say_the_same(filled: Path, run: Run, place: Path) -> None:
    """The same words in the same order, with their times, calls and results; and once, however often."""
    with Memory(str(filled), session="later") as memory:
        memory.record(user="And now?", ts=1_700_000_000.5)
        memory.record(tool_call="look", tool_args={"at": ["the", {"sky": None}]}, tool_call_id="c9")
        memory.record(tool_error="clouds", tool_call_id="c9")
        memory.record(assistant="Clouds.\n\n从今天起")
        heard = spoken(memory, "main")
    assert run("export", str(place / "said.jsonl"), "--as", "messages")[0] == 0

    with Memory(str(place / "empty"), agent="import") as memory:
        for _ in range(2):
            with ImportSource(place / "said.jsonl") as source:
                assert detect(source).format.NAME == "messages"
                import_from(memory, source, format_named("messages"), mine=True)
        again = spoken(memory, "import")
    assert len(heard) == 2
    assert again == heard


def spoken(memory: Memory, agent: str) -> list[list[Any]]:
    """What each session said, as its words say it."""
    found: dict[str, list[Any]] = {}
    for line in memory.parts.context.store.read(f"traces/{agent}"):
        each = Trace.from_record(line.record)
        if each is not None:
            told = (
                each.ts,
                each.trace_type,
                each.origin,
                trace_text(each),
                each.tool_name,
                each.tool_call_id,
            )
            found.setdefault(each.session_id, []).append(told)
    return list(found.values())


def test_a_long_session_is_never_held_whole(folder: Path) -> None:
    """Four times the talk, not twice the memory."""
    peaks = []
    for many in (60, 180):
        with Memory(str(folder)) as memory:
            with memory.batch() as batch:
                for number in range(many):
                    batch.record(user=f"{number} " + "word " * 2000)
            tracemalloc.start()
            size = sum(len(piece) for piece in message_lines(memory))
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        peaks.append(peak)
        assert size > many * 10_000
    assert peaks[1] < 2 * peaks[0]


# --- the long run ----------------------------------------------------------------------

WRITING = """
import sys, time
from looseleaf.memory import Memory
from looseleaf.base.policy import Policy
with Memory(sys.argv[1], policy=Policy(segment_bytes=20_000, body_bytes=1_500)) as memory:
    for number in range(100_000):
        if number == 1:  # all modules are loaded: from here on it writes without a pause
            print("begun", flush=True)
        memory.record(user=f"I live in Town{number}. " + "w" * (number % 7 * 500))
        memory.record(assistant="Noted.")
        memory.pages.edit("facts/diary.md", lambda text: text + f"- Day {number}: done\\n", reason="x", author="person")
        if number % 5 == 0:
            memory.distill()
"""


@pytest.mark.long
def test_a_copy_that_is_made_while_another_process_writes_is_sound(folder: Path, place: Path) -> None:
    """Each is of one moment, and no earlier than the one before it."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITING, str(folder)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "begun\n"
        sizes: list[int] = []
        try:
            for number in range(12):
                form = ("tar", "folder")[number % 2]
                to = place / f"copy{number}"
                assert main(["--memory", str(folder), "export", str(to), "--as", form]) == 0
                copy = unpacked(to, place / f"there{number}") if form == "tar" else to
                with Memory(str(copy)) as memory:
                    assert [str(each) for each in memory.check() if each.severity == "error"] == []
                    sizes.append(sum(1 for _ in memory.parts.context.store.read("traces/main")))
            assert writer.poll() is None, "nobody wrote any more"
        finally:
            writer.kill()
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]


RESIDENT = """
import os, resource, sys
from looseleaf.cli.main import main
sys.stdout = open(os.devnull, "w")
assert main(sys.argv[1:]) == 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


@pytest.mark.long
def test_ten_times_the_talk_takes_hardly_more_memory(folder: Path, place: Path) -> None:
    def resident(number: int, *arguments: str) -> int:
        to = place / f"out{number}-{arguments[-1]}"
        command = [sys.executable, "-c", RESIDENT, "--memory", str(folder), "export", str(to), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return int(done.stderr.split()[-1])

    found: list[list[int]] = []
    for many in (150, 1500):  # both are more than a segment, which is what is held of a log
        with Memory(str(folder)) as memory:
            for start in range(0, many, 100):
                with memory.batch() as batch:
                    for number in range(start, min(many, start + 100)):
                        batch.record(user=f"{number} " + "some words " * 10_000)
        found.append([resident(many, "--as", form) for form in ("messages", "tar", "folder")])
    assert sum(path.stat().st_size for path in (folder / "log").rglob("*") if path.is_file()) > 100_000_000
    for small, large in zip(*found, strict=True):
        assert large < 1.5 * small


def test_one_is_not_many(run: Run, folder: Path, place: Path) -> None:
    with Memory(str(folder)) as memory:
        memory.record(user="Hello.")
        memory.pages.edit("facts/tea.md", "# Tea\n\n- Kind: green\n", reason="x", author="person")
    assert " 1 fact, " in run("export", str(place / "f.jsonl"), "--as", "facts")[1]
    assert " 1 session, " in run("export", str(place / "m.jsonl"), "--as", "messages")[1]


@pytest.mark.parametrize("form", ["tar", "folder"])
def test_what_is_to_be_typed_next_can_be(filled: Path, run: Run, place: Path, form: str) -> None:
    _, out, _ = run("export", str(place / "my memory"), "--as", form)
    packed = "tar -xzf 'my memory', then looseleaf --memory memory check"
    assert (packed if form == "tar" else f"--memory '{place}/my memory' check") in out
