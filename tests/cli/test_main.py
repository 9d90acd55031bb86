"""The commands: what they print, their exit codes, and what they say when they do nothing."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forking import start_child_on_terminal
from looseleaf.base.errors import Unreadable
from looseleaf.base.ids import new_id
from looseleaf.cli import arguments as cli_parse
from looseleaf.cli import verb_table as cli_verbs
from looseleaf.cli.main import main
from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.store import files
from looseleaf.store.disk import Disk
from looseleaf.store.files import FileStore
from tables import check_rows

SCRIPT = Path(sys.executable).with_name("looseleaf")
NOBODY = 65534
ID = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
HASH = re.compile(r"\b[0-9a-f]{64}\b")

ONE = "# Ada\n\n- Name: Ada\n"
TWO = "# Ada\n\n- Name: Ada Lovelace\n- City: London\n"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory with two edits of USER.md and one of facts/tea.md, in a place where no other memory is found."""
    monkeypatch.delenv("LOOSELEAF_HOME", raising=False)
    monkeypatch.setenv("HOME", str(place / "home"))
    monkeypatch.chdir(place)
    path = place / "memory"
    init(str(path))
    with Memory(path) as memory:
        memory.pages.edit("USER.md", ONE, author="person", reason="met Ada")
        memory.pages.edit("facts/tea.md", "- Likes: tea\n", reason="she said so")
        memory.pages.edit("USER.md", TWO, author="person", reason="her whole name")
    return path


@pytest.fixture
def run(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run a command in this process, on the memory: exit code, output and errors. A next step names the memory as this
    command did; that is left out here."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(["--memory", str(folder), *arguments])
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        said = err.decode().replace(f"`looseleaf --memory {folder}", "`looseleaf")
        return code, out.decode("utf-8", "surrogateescape"), said

    return call


def plain(text: str) -> str:
    return HASH.sub("<sha256>", TIME.sub("<time>", ID.sub("<id>", text)))


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file but the views, which anybody may make or delete."""
    found: dict[str, tuple[int, bytes]] = {}
    for top, folders, names in os.walk(folder):
        if "views" in folders:
            folders.remove("views")
        for name in [*folders, *names]:
            path = Path(top, name)
            mode = path.lstat().st_mode
            data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            found[str(path.relative_to(folder))] = (mode, data)
    return found


# --- init ------------------------------------------------------------------------------


def test_init_makes_the_folder_and_says_what_to_do_with_it(run: Run, place: Path) -> None:
    assert run("init", "new") == (
        0,
        (
            "new is a memory now. Its pages are Markdown, for any editor: SOUL.md describes the agent,\n"
            "PROJECT.md the rules of the work; USER.md and facts/<topic>.md hold facts such as `- Name: Zhang San`.\n"
            ".gitignore there keeps log/, views/ and review/ out of git; the pages, with your words, go in.\n"
            "To keep all of it out: echo '*' > new/.gitignore\n"
        ),
        (
            'Next: `looseleaf --memory new remember "I prefer green tea."` adds a fact; '
            "`looseleaf --memory new setup` connects coding agents.\n"
        ),
    )
    names = sorted(str(path.relative_to(place / "new")) for path in (place / "new").rglob("*"))
    assert [name for name in names if not name.startswith("log/")] == (
        ".gitignore days episodes facts log review views views/ends views/ends/journal.json views/heads.json".split()
    )
    assert (place / "new" / ".gitignore").read_text() == "PROJECT.local.md\nlog/\nviews/\nreview/\n"
    assert run("init", "new") == (
        0,
        "new is a memory already; nothing was changed.\n",
        "Next: `looseleaf --memory new` shows its contents.\n",
    )
    assert run("init", "new", "--json") == (0, '{\n  "path": "new",\n  "made": false\n}\n', "")


def test_init_takes_the_path_then_the_option_then_the_environment_then_here(
    folder: Path, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--memory", "two", "init", "one"]) == 0
    assert main(["init", "--memory", "two"]) == 0
    assert main(["init"]) == 0
    monkeypatch.setenv("LOOSELEAF_HOME", str(place / "three"))
    assert main(["init"]) == 0
    for name in ("one", "two", ".looseleaf", "three"):
        assert (place / name / "log" / "journal.jsonl").is_file()
    said = capsys.readouterr().out
    assert [line.split(" is a memory")[0] for line in said.splitlines()[::4]] == [
        "one",
        "two",
        ".looseleaf",
        str(place / "three"),
    ]


@pytest.mark.parametrize("ending", ["", "\n"])
def test_init_says_what_a_gitignore_lacks_and_the_command_adds_it(run: Run, place: Path, ending: str) -> None:
    folder = place / "notes"
    folder.mkdir()
    (folder / ".gitignore").write_text(f"mine\n/views{ending}", encoding="utf-8")
    _, out, _ = run("init", "notes")
    assert "keeps log/" not in out
    assert "git would take in PROJECT.local.md, log/, review/, with all that was said." in out
    command = next(line for line in out.splitlines() if line.startswith("To keep these out: "))
    subprocess.run(command.partition(": ")[2], shell=True, check=True, cwd=place)
    text = (folder / ".gitignore").read_text(encoding="utf-8")
    assert [line for line in text.split("\n") if line] == "mine /views PROJECT.local.md log/ review/".split()


@pytest.mark.parametrize("text", ["*\n", "/log\nreview\nviews/\nPROJECT.local.md\n"])
def test_init_accepts_a_gitignore_that_covers_all_in_its_own_way(run: Run, place: Path, text: str) -> None:
    (place / "notes").mkdir()
    (place / "notes/.gitignore").write_text(text, encoding="utf-8")
    assert ".gitignore there keeps log/, views/ and review/ out of git" in run("init", "notes")[1]


def test_init_keeps_what_is_in_the_folder(run: Run, place: Path) -> None:
    (place / "notes" / "facts").mkdir(parents=True)
    (place / "notes" / ".gitignore").write_text("mine\n")
    (place / "notes" / "facts" / "old.md").write_text("- Old: fact\n")
    assert run("init", "notes")[0] == 0
    assert (place / "notes" / ".gitignore").read_text() == "mine\n"
    assert main(["--memory", "notes", "show", "facts/old.md"]) == 0


def test_init_refuses_a_folder_inside_a_memory_and_a_file(run: Run, folder: Path, place: Path) -> None:
    before = snapshot(place)
    code, out, err = run("init", "memory/facts/inner")
    assert (code, out) == (2, "")
    assert err == (
        f"looseleaf: memory/facts/inner was not made a memory: it lies inside the memory {folder}, and memories "
        "do not nest. Choose a folder outside it.\n"
    )
    assert run("init", "memory/USER.md/x")[0] == 2
    assert snapshot(place) == before
    (place / "file").write_text("mine")
    (place / "way").symlink_to("nowhere")
    before = snapshot(place)
    for name in ("file", "way"):
        assert run("init", name) == (
            2,
            "",
            f"looseleaf: {name} was not made a memory: it is not a folder. Choose one.\n",
        )
    assert run("init", ".") == (
        2,
        "",
        "looseleaf: . was not made a memory: ./memory in it is one, and memories do not nest. Choose another folder.\n",
    )
    assert snapshot(place) == before


# --- log, show, diff, undo -------------------------------------------------------------


def test_log_shows_the_newest_edit_first(run: Run) -> None:
    code, out, err = run("log")
    assert (code, err) == (0, "")
    assert plain(out) == (
        "<time>  <id>     +2 -1  USER.md  person: her whole name\n"
        "<time>  <id>     +1 -0  facts/tea.md  agent:main: she said so\n"
        "<time>  <id>     +3 -0  USER.md  person: met Ada\n"
    )


def test_log_shows_one_page_and_at_most_so_many(run: Run) -> None:
    assert plain(run("log", "facts/tea.md")[1]).endswith("facts/tea.md  agent:main: she said so\n")
    assert plain(run("log", "USER.md", "-n", "1")[1]) == (
        "<time>  <id>     +2 -1  USER.md  person: her whole name\nThere are more; -n shows them.\n"
    )
    assert len(run("log", "-n", "4")[1].splitlines()) == 3
    assert len(json.loads(run("log", "-n", "1", "--json")[1])) == 1


def test_log_of_a_memory_without_edits_says_so(run: Run) -> None:
    assert run("init", "new")[0] == 0
    assert run("log", "--memory", "new") == (0, "No edits yet.\n", "")
    assert run("log", "--memory", "new", "--json") == (0, "[]\n", "")
    assert run("show", "USER.md", "--memory", "new") == (
        2,
        "",
        "looseleaf: Nothing was shown: there is no page USER.md. There is none yet: write one with any editor.\n",
    )


def test_log_shows_a_deletion_and_an_edit_from_outside(run: Run, folder: Path) -> None:
    with Memory(folder) as memory:
        memory.pages.delete("facts/tea.md", reason="she prefers coffee")
    (folder / "USER.md").write_text(ONE)
    assert plain(run("log", "-n", "2")[1]) == (
        "<time>  <id>     +1 -2  USER.md  external: changed outside\n"
        "<time>  <id>   deleted  facts/tea.md  agent:main: she prefers coffee\n"
        "There are more; -n shows them.\n"
    )


def test_log_as_json_is_a_list_of_edits(run: Run) -> None:
    code, out, _ = run("log", "--json", "-n", "2")
    edits = json.loads(out)
    assert code == 0
    assert [list(edit) for edit in edits] == [
        "id ts path author reason base new added removed undoes".split()
    ] * 2
    assert [(edit["path"], edit["author"], edit["added"], edit["removed"]) for edit in edits] == [
        ("USER.md", "person", 2, 1),
        ("facts/tea.md", "agent:main", 1, 0),
    ]
    assert edits[0]["ts"] == pytest.approx(time.time(), abs=60)


def test_log_shows_an_edit_whose_time_is_of_no_world(run: Run, folder: Path) -> None:
    with Memory(folder) as memory:
        (last, *_) = (line.record for line in memory.parts.context.store.read_back("journal"))
        memory.parts.context.store.append(
            "journal", [last | {"id": new_id(), "ts": 1e300, "base": last["new"], "diff": []}]
        )
    code, out, _ = run("log", "-n", "1")
    assert (code, plain(out)) == (
        0,
        (
            "             1e+300  <id>     +0 -0  USER.md  person: her whole name\n"
            "There are more; -n shows them.\n"
        ),
    )


def test_show_gives_the_page(run: Run) -> None:
    assert run("show", "USER.md") == (0, TWO, "")
    code, out, _ = run("show", "USER.md", "--json")
    assert code == 0
    shown = json.loads(out)
    assert (shown["path"], shown["as_of"], shown["text"]) == ("USER.md", None, TWO)
    assert HASH.fullmatch(shown["sha256"])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no end",
        b"\r\nDOS\r\n",
        b"\xef\xbb\xbfbom\n",
        b"\xff\xfe\x00no text\n",
        b"\x1b[31mred\x07\n",
        "\u4f60\u597d\n".encode(),
    ],
)
def test_show_gives_a_pipe_the_bytes_of_the_page(
    run: Run, folder: Path, capfdbinary: pytest.CaptureFixture[bytes], data: bytes
) -> None:
    (folder / "facts" / "odd.md").write_bytes(data)
    assert main(["--memory", str(folder), "show", "facts/odd.md"]) == 0
    assert capfdbinary.readouterr() == (data, b"")
    script = subprocess.run(
        [SCRIPT, "--memory", folder, "show", "facts/odd.md"], capture_output=True, check=True
    )
    assert (script.stdout, script.stderr) == (data, b"")


def test_show_as_of_gives_the_page_of_that_time(run: Run, folder: Path) -> None:
    with Memory(folder) as memory:
        first = list(memory.history.edits("USER.md"))[-1]
    at = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.localtime(int(first.ts)))}.{int(first.ts % 1 * 1e6) + 1:06d}"
    assert run("show", "USER.md", "--as-of", at) == (0, ONE, "")
    assert json.loads(run("show", "USER.md", "--as-of", at, "--json")[1])["as_of"] == at
    today = time.strftime("%Y-%m-%d")
    assert run("show", "USER.md", "--as-of", today) == (0, TWO, "")
    code, out, err = run("show", "USER.md", "--as-of", "2001-01-01")
    assert (code, out) == (2, "")
    assert plain(err) == (
        "looseleaf: Nothing was shown: USER.md did not exist as of 2001-01-01; its edits are from <time> to <time>. "
        "`looseleaf log USER.md` shows them.\n"
    )


def test_show_of_a_page_that_is_gone_tells_when_it_was(run: Run, folder: Path) -> None:
    (folder / "facts" / "tea.md").unlink()
    code, out, err = run("show", "facts/tea.md")
    assert (code, out) == (2, "")
    with Memory(folder) as memory:
        times = [
            time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(edit.ts))
            for edit in memory.history.edits("facts/tea.md")
        ]
    assert len(times) == 2
    assert err == (
        f"looseleaf: Nothing was shown: facts/tea.md no longer exists; its edits are from {times[-1]} to "
        f"{times[0]}. `looseleaf log facts/tea.md` shows them.\n"
    )


def test_diff_shows_the_last_edit(run: Run) -> None:
    code, out, err = run("diff", "USER.md")
    assert (code, err) == (0, "")
    assert plain(out) == (
        "--- USER.md before <id>\n+++ USER.md after <id>\n@@ -1,3 +1,4 @@\n # Ada\n \n"
        "-- Name: Ada\n+- Name: Ada Lovelace\n+- City: London\n"
    )
    shown = json.loads(run("diff", "USER.md", "--json")[1])
    assert list(shown) == ["path", "from", "to", "diff"]
    assert shown["diff"] == out


def test_diff_since_shows_what_changed_since(run: Run, folder: Path) -> None:
    (folder / "USER.md").write_text("# Ada\n")
    assert plain(run("diff", "USER.md", "--since", "2001-01-01")[1]) == (
        "--- USER.md 2001-01-01\n+++ USER.md now\n@@ -0,0 +1 @@\n+# Ada\n"
    )
    with Memory(folder) as memory:
        (last, *_) = memory.history.edits("USER.md")
    after = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(last.ts + 2))
    assert run("diff", "USER.md", "--since", after) == (0, "", "")


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"])
def test_diff_since_begins_and_show_as_of_ends_with_the_time_given(run: Run, folder: Path, form: str) -> None:
    with Memory(folder) as memory:
        (first,) = memory.history.edits("facts/tea.md")
    when = time.strftime(form, time.localtime(first.ts))
    assert run("diff", "facts/tea.md", "--since", when) == (
        0,
        f"--- facts/tea.md {when}\n+++ facts/tea.md now\n@@ -0,0 +1 @@\n+- Likes: tea\n",
        "",
    )
    assert run("show", "facts/tea.md", "--as-of", when) == (0, "- Likes: tea\n", "")


def test_diff_of_a_new_or_deleted_page_has_an_empty_side(run: Run, folder: Path) -> None:
    assert "@@ -0,0 +1 @@\n+- Likes: tea\n" in run("diff", "facts/tea.md")[1]
    (folder / "facts" / "tea.md").unlink()
    assert "@@ -1 +0,0 @@\n-- Likes: tea\n" in run("diff", "facts/tea.md")[1]


@pytest.mark.skipif(not shutil.which("patch"), reason="there is no patch on this machine")
def test_diff_gives_a_pipe_what_patch_can_read(run: Run, folder: Path, place: Path) -> None:
    page = folder / "facts" / "odd.md"
    old, new = b"caf\xe9\r\nsame\n\x1b[0m\n", b"caf\xe8\r\nsame\n\x1b[1m"
    page.write_bytes(old)
    assert main(["--memory", str(folder), "show", "facts/odd.md"]) == 0
    page.write_bytes(new)
    run("log")
    code, out, _ = run("diff", "facts/odd.md")
    assert code == 0
    (place / "copy.md").write_bytes(old)
    patch = out.encode("utf-8", "surrogateescape")
    subprocess.run(["patch", "--binary", "copy.md"], input=patch, cwd=place, check=True, capture_output=True)
    assert (place / "copy.md").read_bytes() == new
    assert "caf\ufffd" in json.loads(run("diff", "facts/odd.md", "--json")[1])["diff"]


NO = "What is gone does not come back by itself: you said no to it."


def test_undo_takes_back_the_last_edit_of_all_or_of_a_page(run: Run) -> None:
    code, out, _ = run("undo")
    assert code == 0
    assert plain(out) == (
        "Undone: her whole name (edit <id>), by <id>.\n"
        "USER.md says again: “Name: Ada”\n"
        "USER.md says no longer: “Name: Ada Lovelace”; “City: London”\n"
        f"{NO}\n"
    )
    assert plain(run("log", "-n", "1")[1]).splitlines()[0].partition("USER.md  ")[2].startswith("person: ")
    assert run("show", "USER.md")[1] == ONE
    done = json.loads(run("undo", "facts/tea.md", "--json")[1])
    assert (done["undone"]["path"], done["receipt"]["new"]) == ("facts/tea.md", None)
    assert list(done["receipt"]) == "id path base new added removed changed".split()
    (change,) = done["changes"]
    assert (change["path"], change["is_gone"], change["back"]) == ("facts/tea.md", True, [])
    code, out, _ = run("undo")
    assert (code, plain(out)) == (
        0,
        f"Undone: met Ada (edit <id>), by <id>.\nUSER.md says no longer: “Name: Ada”\nUSER.md is gone.\n{NO}\n",
    )
    code, out, err = run("undo")
    assert (code, out) == (2, "")
    assert err.startswith("looseleaf: Nothing was undone: this memory has no edit left to undo. ")
    assert [edit["undoes"] is not None for edit in json.loads(run("log", "--json")[1])] == [True] * 3 + [
        False
    ] * 3


def test_undo_says_what_is_back_and_what_is_gone_of_all_that_an_entry_brought(run: Run, place: Path) -> None:
    mine = ("--memory", str(place / "mine"))
    more = "I am allergic to nuts. I work at Acme. My name is Bob. I'm vegan. Write code in English."
    for said in ("I live in Graz.", f"We decided to use Postgres. I moved to Rome. {more}"):
        with Memory(place / "mine") as memory:
            memory.record(user=said)
            memory.distill()
    out = run("undo", *mine)[1]
    first, *lines = plain(out).splitlines()
    assert first == "Undone: distilled from sessions/<id>, by <id>."
    assert lines == [
        "state.json is gone.",
        "facts/project.md says no longer: “Database: Postgres”; “We decided to use Postgres”",
        "facts/project.md is gone.",
        "USER.md says again: “Home: Graz”",
        (
            "USER.md says no longer: “Home: Rome”; “Name: Bob”; “Code language: English”; “Employer: Acme”; "
            "“Allergy: nuts”; and 1 more"
        ),
        NO,
    ]
    for goal in ("Ship it", "Ship it soon"):
        run("state", "set", "goal", goal, *mine)
    assert run("undo", "state.json", *mine)[1].splitlines()[1:] == ["state.json is as it was."]


# --- check, repair ---------------------------------------------------------------------


def damage(folder: Path) -> None:
    journal = folder / "log" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"she said so", b"she said no"))


def test_check_is_content_with_a_whole_memory(run: Run) -> None:
    assert run("check") == (0, "0 problems\n", "")
    assert run("check", "--json") == (0, '{\n  "errors": 0,\n  "problems": []\n}\n', "")
    assert run("repair") == (0, "Nothing to repair.\n", "")
    assert json.loads(run("repair", "--json")[1]) == {"done": [], "left": []}


def test_check_names_each_problem_by_path_and_line(run: Run, folder: Path) -> None:
    damage(folder)
    (folder / "facts" / "odd.md").write_bytes(b"fine\nnot \xff fine\n")
    code, out, err = run("check")
    repair = "Next: `looseleaf repair` repairs what it can; it keeps a copy of every byte it moves.\n"
    assert (code, err) == (1, repair)
    first, *_, last = out.splitlines()
    assert first == "log/journal.jsonl:3: this record is damaged: its checksum does not match"
    assert (
        "facts/odd.md:2: this line is not UTF-8 text; save the page as UTF-8 with an editor"
        in out.splitlines()
    )
    assert last == "2 problems"
    told = json.loads(run("check", "--json")[1])
    assert told["errors"] == 2
    assert told["problems"][0] == {
        "path": "log/journal.jsonl",
        "line": 3,
        "message": "this record is damaged: its checksum does not match",
        "severity": "error",
    }


def lose_the_talk(folder: Path) -> None:
    with Memory(folder) as memory:
        memory.record(user="I live in Graz.")
    (folder / "log/traces/main/raw_traces.jsonl").unlink()


def test_check_ends_with_the_step_that_mends_what_is_wrong(place: Path, run: Run, folder: Path) -> None:
    settle = "`looseleaf settle` shows the files that are held, and asks what to do with each"
    repair = "`looseleaf repair` repairs what it can; it keeps a copy of every byte it moves"
    lost = "put back what was lost, from an export or a backup; "
    by_hand = (
        "put these right as they say, or put the files back from an export or a backup; "
        "`looseleaf repair` cannot mend them"
    )
    odd = (folder / "facts/odd.md").write_bytes

    def check(spoil: Callable[[], object], step: str) -> None:
        shutil.rmtree(folder)
        shutil.copytree(place / "whole", folder)
        spoil()
        code, _, err = run("check")
        assert (code, err) == (1, f"Next: {step}.\n")

    def damage_and_empty() -> None:
        damage(folder)
        (folder / "USER.md").write_text("")

    shutil.copytree(folder, place / "whole")
    check_rows(
        check,
        [
            (lambda: (folder / "USER.md").write_text(""), settle),
            (lambda: (folder / "USER (conflicted copy).md").write_text(TWO + "- Age: 36\n"), settle),
            (lambda: damage(folder), repair),
            (damage_and_empty, f"{settle}; {repair}"),
            (
                lambda: lose_the_talk(folder),
                f"{lost}without a copy, `looseleaf repair` goes on without it",
            ),
            (lambda: odd(b"\xff\n"), by_hand),
        ],
    )


def test_undo_says_that_what_it_removes_does_not_come_back_by_itself(run: Run, folder: Path) -> None:
    run("remember", "I live in Graz.")
    _, out, err = run("undo")
    assert out.endswith(f"\n{NO}\n")
    assert err == "Next: `looseleaf remember` with the same words brings it back.\n"
    assert "Home: Graz" in run("remember", "I live in Graz.")[1]
    (folder / "facts/tea.md").unlink()
    run("facts")
    _, out, err = run("undo")
    assert out.endswith("facts/tea.md says again: “Likes: tea”\n")
    assert err == ""


def test_a_page_that_was_deleted_outside_is_told_until_something_else_happens(run: Run, folder: Path) -> None:
    told = "USER.md (2 facts) was deleted outside the program. `looseleaf undo USER.md` brings it back."
    (folder / "USER.md").unlink()
    assert f"looseleaf: {told}\n" in run("log")[2]
    for _ in range(2):
        _, out, err = run()
        assert "\n  gone     USER.md, deleted outside, with 2 facts\n" in out
        assert err == f"Next: {told}\n"
    (folder / "facts/tea.md").rename(folder / "facts/teas.md")
    assert "deleted" not in run("log")[2], "it only has another name"
    (folder / "facts/teas.md").unlink()
    assert run("facts")[1].startswith("Nothing is known now. ")
    for page in ("USER.md", "facts/teas.md"):
        assert run("undo", page)[0] == 0
    assert (folder / "USER.md").read_text() == TWO
    assert "gone" not in run()[1]


def test_repair_says_what_it_did_and_what_it_could_not(run: Run, folder: Path) -> None:
    damage(folder)
    (folder / "facts" / "odd.md").write_bytes(b"fine\nnot \xff fine\n")
    code, out, err = run("repair")
    assert (code, err) == (1, "")
    done, left = out.splitlines()
    assert plain(done) == (
        "log/journal.jsonl: 1 damaged record set aside; "
        "the original file is kept as log/aside/<id>-damaged-log.journal.jsonl"
    )
    assert left == (
        "not repaired: facts/odd.md:2: this line is not UTF-8 text; save the page as UTF-8 with an editor"
    )
    assert run("repair") == (1, f"Nothing could be repaired.\n{left}\n", "")
    told = json.loads(run("repair", "--json")[1])
    assert (told["done"], [problem["path"] for problem in told["left"]]) == ([], ["facts/odd.md"])


# --- options ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["--memory", "memory", "--json", "show", "USER.md"],
        ["show", "USER.md", "--memory", "memory", "--json"],
        ["--json", "show", "--memory", "memory", "USER.md"],
        ["--memory", "elsewhere", "show", "--json", "--memory", "memory", "USER.md"],
        ["--agent", "one", "show", "--agent", "two", "--json", "--memory=memory", "USER.md"],
    ],
)
def test_global_options_stand_before_or_after_the_verb(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["text"] == TWO


def test_the_memory_is_found_upward_from_here_then_at_home_unless_the_environment_names_one(
    folder: Path, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def mine(path: Path, text: str) -> None:
        with Memory(path) as memory:
            memory.pages.edit("USER.md", text, reason="mine")

    (place / "work" / "deep").mkdir(parents=True)
    monkeypatch.chdir(place / "work" / "deep")
    assert main(["show", "USER.md"]) == 2
    home = place / "home" / ".looseleaf"
    assert capsys.readouterr().err == (
        "looseleaf: Nothing was done: there is no memory here, above, or at ~/.looseleaf. `looseleaf init` makes one "
        "here; or name one with --memory PATH.\n"
    )
    home.mkdir(parents=True)
    (home / "USER.md").write_text("mine\n")
    assert main(["show", "USER.md"]) == 2
    assert capsys.readouterr().err == (
        f"looseleaf: Nothing was done: there is no memory at {home}. Name another with --memory PATH, or make one "
        f"there (existing pages stay) with: looseleaf init {home}\n"
    )
    (home / "USER.md").unlink()
    for path, text in ((home, "home\n"), (place / "work" / ".looseleaf", "work\n")):
        mine(path, text)
        assert main(["show", "USER.md"]) == 0
        assert capsys.readouterr().out == text
    monkeypatch.setenv("LOOSELEAF_HOME", str(folder))
    assert main(["show", "USER.md"]) == 0
    assert capsys.readouterr().out == TWO


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["frobnicate"], "there is no verb 'frobnicate'. `looseleaf --help` lists them all."),
        (
            ["recal", "tea"],
            "there is no verb 'recal'. Did you mean `looseleaf recall`? `looseleaf --help` lists them all.",
        ),
        (
            ["Search", "tea"],
            "there is no verb 'Search'. Did you mean `looseleaf recall`? `looseleaf --help` lists them all.",
        ),
        (
            ["show"],
            "the following arguments are required: page. `looseleaf show --help` says what it takes.",
        ),
        (
            ["show", "a.md", "b\x1b.md"],
            "unrecognized arguments: b\x1b.md. `looseleaf show --help` says what it takes.",
        ),
        (
            ["log", "-n", "many"],
            "argument --limit/-n: invalid int value: 'many'. `looseleaf log --help` says what it takes.",
        ),
        (["--colour", "log"], "unrecognized arguments: --colour. `looseleaf log --help` says what it takes."),
        (["--colour"], "unrecognized arguments: --colour. `looseleaf --help` says what it takes."),
    ],
)
def test_arguments_that_make_no_sense_end_with_2_and_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    before = snapshot(folder)
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit) as ended:
            main([*more, "--memory", str(folder), *arguments])
        assert ended.value.code == 2
        out, err = capsys.readouterr()
        assert err == f"looseleaf: Nothing was done: {why}\n".replace("\x1b", "\\x1b")
        assert (json.loads(out) if more else out) == ({"error": f"Nothing was done: {why}"} if more else "")
    assert snapshot(folder) == before


def test_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    verbs = (
        "init settings remember log show diff undo record turns sessions chat prompt analyze window compact expand "
        "recall open test tool receipts mcp serve login token worker database setup hook merge-file distill write "
        "facts score correct review settle reject "
        "approve vouch pin history why topics topic global build redistill tidy index state "
        "cost import export move merge sync forget demo doctor completion check repair"
    ).split()
    assert list(cli_verbs.VERBS) == verbs
    assert all(f"\n    {verb} " in out for verb in verbs)
    assert out.splitlines()[0] == "usage: looseleaf [-h] [--version] [--memory PATH] [--agent NAME] [--json]"


# --- bad input -------------------------------------------------------------------------


class ShareDisk(Disk):
    """A disk that is a network share."""

    def network_type(self, root: int) -> str | None:
        return "nfs4"


def no_change(folder: Path) -> None:
    """As it is."""


def unknown_format(folder: Path) -> None:
    with FileStore(folder) as store:
        store.append("journal", [{"schema": "journal.v9", "id": new_id(), "ts": 0.0, "kind": "edit"}])


def other_host(folder: Path) -> None:
    (folder / "log" / "writer").write_text("elsewhere 17\n")


def big_page(folder: Path) -> None:
    (folder / "facts" / "big.md").write_bytes(b"- Fact: x\n" * 110_000)


def a_folder(folder: Path) -> None:
    (folder / "facts" / "odd.md").mkdir()


def settings(text: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "looseleaf.toml").write_text(text)

    return write


KNOWN = "There are: USER.md, facts/tea.md."
NAMES = (
    "Use the name of a page, such as USER.md, facts/<topic>.md, episodes/<yyyy-mm>.md or "
    "days/<yyyy-mm-dd>.md."
)
DATES = "Write a date as 2026-02-24, or a time as 2026-02-24T15:30."
BAD: list[tuple[Callable[[Path], None], list[str], str]] = [
    (
        no_change,
        ["show", "../USER.md"],
        f"Nothing was done: the path '../USER.md' has an empty, `.` or `..` part. {NAMES}",
    ),
    (no_change, ["log", "/etc/passwd"], f"Nothing was done: the path '/etc/passwd' is absolute. {NAMES}"),
    (
        no_change,
        ["undo", "log/lock"],
        f"Nothing was done: the path 'log/lock' is not the place of a page. {NAMES}",
    ),
    (
        no_change,
        ["diff", "facts/a%2fb.md"],
        f"Nothing was done: the path 'facts/a%2fb.md' contains a percent-encoded character. {NAMES}",
    ),
    (no_change, ["show", "facts/milk.md"], f"Nothing was shown: there is no page facts/milk.md. {KNOWN}"),
    (no_change, ["log", "facts/milk.md"], f"Nothing was shown: there is no page facts/milk.md. {KNOWN}"),
    (no_change, ["diff", "facts/milk.md"], f"Nothing was shown: there is no page facts/milk.md. {KNOWN}"),
    (
        no_change,
        ["diff", "facts/milk.md", "--since", "2026-01-01"],
        f"Nothing was shown: there is no page facts/milk.md. {KNOWN}",
    ),
    (
        no_change,
        ["undo", "facts/milk.md"],
        "Nothing was undone: facts/milk.md has no edit left to undo. `looseleaf log` shows all.",
    ),
    (
        no_change,
        ["show", "USER.md", "--as-of", "yesterday"],
        f"'yesterday' is not a date. {DATES}",
    ),
    (no_change, ["show", "USER.md", "--as-of", ""], f"'' is not a date. {DATES}"),
    (
        no_change,
        ["show", "USER.md", "--as-of", "2026-02-30"],
        f"'2026-02-30' is not a date. {DATES}",
    ),
    (
        no_change,
        ["show", "USER.md", "--as-of", "2026-02-24T25:00"],
        f"'2026-02-24T25:00' is not a date. {DATES}",
    ),
    (
        no_change,
        ["diff", "USER.md", "--since", "9999-13-31"],
        f"'9999-13-31' is not a date. {DATES}",
    ),
    (
        no_change,
        ["log", "-n", "0"],
        "Nothing was shown: --limit must be at least 1. Without it, the last 50 are shown.",
    ),
    (
        no_change,
        ["check", "--agent", "../x"],
        "Nothing was done: the agent's name '../x' contains a slash. Use a plain name of letters and digits.",
    ),
    (
        no_change,
        ["check", "--memory", ""],
        "The memory path is empty. Give a folder, or leave it out.",
    ),
    (
        no_change,
        ["check", "--memory", "nowhere"],
        (
            "Nothing was done: there is no memory at nowhere. Name another with --memory PATH, or make one "
            "there (existing pages stay) with: looseleaf init nowhere"
        ),
    ),
    (
        unknown_format,
        ["show", "USER.md"],
        (
            "Nothing was done: the journal holds a record of the format 'journal.v9', and this looseleaf knows "
            "journal.v1, lost.v1. Use the looseleaf that wrote it, or a newer one."
        ),
    ),
    (
        unknown_format,
        ["undo"],
        (
            "Nothing was done: the journal holds a record of the format 'journal.v9', and this looseleaf knows "
            "journal.v1, lost.v1. Use the looseleaf that wrote it, or a newer one."
        ),
    ),
    (
        big_page,
        ["show", "facts/big.md"],
        (
            "facts/big.md was not read: it is larger than 1,048,576 bytes, the size cap of a page. "
            "Split it into several pages, or raise `page_bytes` in looseleaf.toml."
        ),
    ),
    (
        a_folder,
        ["show", "facts/odd.md"],
        "facts/odd.md is not a regular file. Move it out of the memory.",
    ),
    (
        settings("page_byte = 5"),
        ["log"],
        (
            "The memory was not opened: <memory>/looseleaf.toml sets 'page_byte', which is not a setting. Did you mean "
            "`page_bytes`? Fix that line, or delete it."
        ),
    ),
    (
        settings("page_bytes = 'many'"),
        ["check"],
        (
            "The memory was not opened: in <memory>/looseleaf.toml, `page_bytes` must be a whole number, not 'many'. "
            "Fix that line, or delete it to use the default, 1048576."
        ),
    ),
    (
        settings("page_bytes = "),
        ["repair"],
        (
            "The memory was not opened: <memory>/looseleaf.toml could not be read (Invalid value (at end of document))"
            ". Fix it, or delete it to use the defaults."
        ),
    ),
]


def refuses(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    """Run a command that must do nothing: its sentence, the same as text and as JSON."""
    before = snapshot(folder.parent)
    assert main(["--memory", str(folder), *arguments]) == 2
    out, err = capsys.readouterr()
    assert snapshot(folder.parent) == before
    assert out == ""
    assert main(["--json", "--memory", str(folder), *arguments]) == 2
    assert json.loads(capsys.readouterr().out) == {
        "error": err.removeprefix("looseleaf: ").removesuffix("\n")
    }
    assert snapshot(folder.parent) == before
    return err.replace(str(folder), "<memory>")


@pytest.mark.parametrize(("prepare", "arguments", "sentence"), BAD)
def test_bad_input_gets_a_sentence_and_changes_nothing(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    prepare: Callable[[Path], None],
    arguments: list[str],
    sentence: str,
) -> None:
    prepare(folder)
    assert refuses(folder, capsys, arguments) == f"looseleaf: {sentence}\n"


@pytest.fixture
def nobody(folder: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[], None]]:
    """Become somebody whom file permissions bind: root reads everything."""

    if os.geteuid() == 0 and not folder.parent.parent.stat().st_mode & 0o001:
        pytest.skip("root's temporary folder may be entered by nobody else")

    def become() -> None:
        if os.geteuid() == 0:
            for top, folders, names in os.walk(folder.parent):
                for path in (top, *(os.path.join(top, name) for name in [*folders, *names])):
                    os.chown(path, NOBODY, NOBODY)
            os.seteuid(NOBODY)

    yield become
    os.seteuid(os.getuid())


@pytest.mark.parametrize(
    "unreadable", ["USER.md", "log/journal.jsonl", "facts", "looseleaf.toml", "views/heads.json"]
)
def test_an_unreadable_file_is_never_taken_for_an_empty_one(
    folder: Path, capsys: pytest.CaptureFixture[str], nobody: Callable[[], None], unreadable: str
) -> None:
    (folder / "looseleaf.toml").write_text("late_seconds = 5\n")
    main(["--memory", str(folder), "show", "USER.md"])  # loads what it needs, while that can be read
    before = {name: data for name, (_, data) in snapshot(folder).items()}
    (folder / unreadable).chmod(0)
    nobody()
    capsys.readouterr()
    code = main(["--memory", str(folder), "show", "USER.md"])
    out, err = capsys.readouterr()
    os.seteuid(os.getuid())
    (folder / unreadable).chmod(0o700)
    if unreadable == "views/heads.json":  # a view: made again
        assert (code, out) == (0, TWO)
    else:
        assert (code, out) == (2, "")
        assert err.endswith(
            f"{unreadable} could not be read (Permission denied), so nothing was changed. "
            "Check the file's permissions and the disk, then repeat the command.\n"
        )
    assert {name: data for name, (_, data) in snapshot(folder).items()} == before


@pytest.mark.parametrize("closed", ["memory", "memory/log"])
def test_a_memory_that_cannot_be_looked_at_is_not_taken_for_absent(
    folder: Path, capsys: pytest.CaptureFixture[str], nobody: Callable[[], None], closed: str
) -> None:
    main(["--memory", str(folder), "show", "USER.md"])  # loads what it needs, while that can be read
    before = {name: data for name, (_, data) in snapshot(folder).items()}
    (folder.parent / closed).chmod(0)
    nobody()
    capsys.readouterr()
    said = [
        (main(["--memory", str(folder), *arguments]), *capsys.readouterr())
        for arguments in (["show", "USER.md"], ["init"], ["repair"])
    ]
    with pytest.raises(Unreadable, match=r"was not opened \(Permission denied\)"):
        Memory(folder)
    os.seteuid(os.getuid())
    (folder.parent / closed).chmod(0o700)
    sentence = f"looseleaf: {folder} was not opened (Permission denied). Give the path of a folder that you may read.\n"
    assert said == [(2, "", sentence)] * 3
    assert {name: data for name, (_, data) in snapshot(folder).items()} == before


def test_a_second_writer_on_a_network_share_is_refused_and_a_reader_is_not(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "this_disk", ShareDisk)
    time.sleep(0.2)
    main(["--memory", str(folder), "show", "USER.md"])
    capsys.readouterr()
    other_host(folder)
    assert refuses(folder, capsys, ["undo"]) == (
        "looseleaf: The memory lies on a network share (nfs4), and process 17 on elsewhere is writing to it. Locks may "
        "not hold between hosts there, so only one process may write. End that process (or delete log/writer in the "
        "memory if it is gone), or move the memory to a local disk.\n"
    )
    assert main(["--memory", str(folder), "show", "USER.md"]) == 0
    assert capsys.readouterr().out == TWO


def test_an_unknown_page_among_many_names_only_some(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(40):
        (folder / "facts" / f"topic-{number:02}.md").write_text("- A: b\n")
    assert main(["--memory", str(folder), "show", "facts/none.md"]) == 2
    err = capsys.readouterr().err
    assert err.endswith("facts/topic-16.md, facts/topic-17.md and 22 more.\n")


# --- terminals and pipes ---------------------------------------------------------------

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
EVIL = "red \x1b[31m title \x1b]0;evil\x07 back\rover c1 \x9b2J \u202egnp.exe\u2066 nul \x00 del \x7f end"


BAR = re.compile(r"(?:\r[a-z ]+ (?:…|\[)[^\r\n]*)+\r +\r")
"""How far something is, wiped away at the end."""


def on_a_terminal(*arguments: str | Path) -> tuple[int, str]:
    """Exit code, and all that a terminal was sent; without colours, which are ours and steer it too."""

    def run() -> None:
        os.environ["NO_COLOR"] = "1"
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
        code = main([str(each) for each in arguments])
        sys.stdout.flush()
        sys.stderr.flush()
        sys.exit(code)

    child, ours = start_child_on_terminal(run)  # it has imported everything already
    sent = all_of(ours)
    return child.wait(), sent


def started_on_a_terminal(*arguments: str | Path) -> tuple[int, str]:
    """The same of the installed command, which reads its environment when it starts."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"NO_COLOR": "1"}
    with subprocess.Popen(
        [SCRIPT, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as command:
        os.close(theirs)
        sent = all_of(ours)
    return command.returncode, sent


def all_of(terminal: int) -> str:
    sent = b""
    while True:
        try:
            block = os.read(terminal, 65536)
        except OSError:  # Linux says so when the last one has closed the other end
            break
        if not block:
            break
        sent += block
    os.close(terminal)
    return BAR.sub("", sent.decode().replace("\r\n", "\n"))


def test_nothing_in_a_memory_steers_a_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(folder) as memory:
        # Another program may write any author into the journal.
        monkeypatch.setattr(memory.parts.pages, "_check_author", str)
        memory.pages.edit("facts/evil.md", f"# {EVIL}\n\ttab\r\n", author=EVIL, reason=EVIL)
    (folder / "facts" / "e\x1b[2Jvil\u202e.md").write_text("- A: b\n")
    (folder / "facts" / "odd.md").write_bytes(b"\xff\x9b \xc2\x9b\n")
    base = ("--memory", folder)
    seen = {
        name: on_a_terminal(*base, *arguments)
        for name, arguments in {
            "show": ["show", "facts/evil.md"],
            "show bytes": ["show", "facts/odd.md"],
            "show as json": ["show", "facts/evil.md", "--json"],
            "log": ["log"],
            "log as json": ["log", "--json"],
            "diff": ["diff", "facts/evil.md"],
            "check": ["check"],
            "path": ["show", f"facts/{EVIL.replace(chr(0), '')}.md"],
            "memory": ["--memory", "no\x1b[2Jwhere\u202e", "log"],
            "init": ["init", str(folder.parent / "n\x1b[2Jew")],
            "undo": ["undo", "facts/evil.md"],
        }.items()
    }
    assert {name: STEERING.findall(sent) for name, (_, sent) in seen.items()} == {name: [] for name in seen}
    assert {name: code for name, (code, _) in seen.items() if code} == {"check": 1, "path": 2, "memory": 2}
    written = EVIL.translate({code: f"\\x{code:02x}" for code in (*range(32), 0x7F, 0x9B)}).translate(
        {0x202E: "\\u202e", 0x2066: "\\u2066"}
    )
    assert seen["show"][1] == f"# {written}\n\ttab\n"
    # On as many lines as it takes there.
    assert "".join(written.split()) in "".join(seen["log"][1].split())
    assert f"+# {written}\n+\ttab\n" in seen["diff"][1]
    assert "facts/e\\x1b[2Jvil\\u202e.md: this is not read as a page" in seen["check"][1]


def test_a_terminal_shows_every_script(folder: Path) -> None:
    text = "\u4f60\u597d\u3000\u4e16\u754c caf\u00e9 \u05e9\u05dc\u05d5\u05dd \U0001f469\u200d\U0001f680 100\u00a0%\n"
    (folder / "facts" / "hello.md").write_text(text, encoding="utf-8")
    assert started_on_a_terminal("--memory", folder, "show", "facts/hello.md") == (0, text)


def test_a_terminal_of_an_old_encoding_shows_the_rest_written_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "facts" / "hello.md").write_text("caf\u00e9 \u4f60\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("PYTHONUTF8", "0")
    assert started_on_a_terminal("--memory", folder, "show", "facts/hello.md") == (0, "caf\\xe9 \\u4f60\n")


@pytest.mark.parametrize("arguments", [["log"], ["log", "--json"], ["show", "facts/long.md"]])
def test_a_reader_who_has_enough_ends_a_command_quietly(folder: Path, arguments: list[str]) -> None:
    with Memory(folder) as memory:
        memory.pages.edit("facts/long.md", "- Line: of many\n" * 30_000, reason="long")
        for number in range(20):
            memory.pages.edit("USER.md", f"{number}\n", reason=f"{number} " + "because " * 2000)
    command: list[str | Path] = [SCRIPT, "--memory", folder, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize("arguments", [["show", "facts/no.md"], ["show", "facts/no.md", "--json"]])
def test_a_refusal_is_told_also_where_nobody_reads_the_answer(folder: Path, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(
            [SCRIPT, "--memory", folder, *arguments], stdout=closed, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"looseleaf: Nothing was shown: there is no page facts/no.md.")


def test_an_interrupted_command_says_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(memory: Memory) -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(Memory, "check", interrupt)
    assert main(["--memory", str(folder), "check"]) == 130


@pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="there is no disk that is always full on this machine"
)
@pytest.mark.parametrize("arguments", [["show", "USER.md"], ["log"], ["log", "--json"], ["check"]])
def test_an_answer_that_cannot_be_written_gets_a_sentence(folder: Path, arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [SCRIPT, "--memory", folder, *arguments], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (
        2,
        b"looseleaf: the answer could not be written (No space left on device).\n",
    )


@pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="there is no disk that is always full on this machine"
)
@pytest.mark.parametrize(
    ("arguments", "done"),
    [
        (["record", "user", "hi"], "it was recorded"),
        (["record", "user", "hi", "--json"], "it was recorded"),
        (["undo"], "it was undone"),
        (["init", "new"], "the memory is made"),
    ],
)
def test_what_was_done_is_said_to_be_done_though_the_answer_cannot_be_written(
    folder: Path, place: Path, arguments: list[str], done: str
) -> None:
    before = snapshot(place)
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [SCRIPT, "--memory", folder, *arguments], stdout=full, stderr=subprocess.PIPE, check=False
        )
    said = f"looseleaf: {done}; the answer could not be written (No space left on device).\n"
    assert (ended.returncode, ended.stderr.decode()) == (2, said)
    assert snapshot(place) != before


def test_a_disk_that_cannot_be_written_is_noted_and_the_page_shown(
    folder: Path, capsys: pytest.CaptureFixture[str], nobody: Callable[[], None]
) -> None:
    main(["--memory", str(folder), "log"])
    (folder / "USER.md").write_text(ONE)
    for path in (folder / "log").rglob("*"):
        path.chmod(0o500 if path.is_dir() else 0o400)
    (folder / "log").chmod(0o500)
    nobody()
    capsys.readouterr()
    code = main(["--memory", str(folder), "show", "USER.md"])
    out, err = capsys.readouterr()
    assert (code, out) == (0, ONE)
    assert err.startswith("looseleaf: The memory's lock, log/lock, could not be opened")


# --- the cold start --------------------------------------------------------------------

HEAVY = "ctypes dataclasses datetime hashlib inspect logging pathlib random shutil socket subprocess typing".split()


def modules_after(code: str, *arguments: str | Path) -> set[str]:
    # -I: no coverage and no site packages of this run; -S is not used, because it hides the installed package.
    program = f"import sys; sys.argv[1:1] = []\n{code}\nprint(*sorted(sys.modules), file=sys.stderr)"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return set(done.stderr.split())


def test_importing_the_package_loads_nothing_of_it() -> None:
    bare = modules_after("pass")
    loaded = modules_after("import looseleaf") - bare
    assert loaded <= {"__future__", "looseleaf"}
    used = modules_after("import looseleaf; looseleaf.Memory")
    assert {"looseleaf.memory", "looseleaf.store.files"} <= used


def test_showing_a_page_loads_nothing_heavy(folder: Path) -> None:
    show = "from looseleaf.cli.main import main\nmain(sys.argv[1:])"
    for late in (folder / "log" / "aside" / "late").iterdir():
        late.unlink()  # half a minute later nothing is watched any more
    time.sleep(0.2)  # a page changed a moment ago is hashed, because its times prove nothing yet
    main(["--memory", str(folder), "show", "USER.md"])
    loaded = modules_after(show, "--memory", folder, "show", "USER.md") - modules_after("pass")
    assert "looseleaf.memory" in loaded
    assert sorted(loaded.intersection(HEAVY)) == []


WORDS = (
    "init log show diff undo check repair USER.md facts/a.md --json --memory --memory=m --agent x --agent=y "
    "--limit -n 3 --limit=2 --as-of 2026-01-02 --since --since=2026 --json=1 -- -h -x"
).split()
VALUES = ["user", "jsonl", "x", "3", "", "-", "--", "-n", "-n3", "-5", "two words", "- a list", '{"a": 1}']


@st.composite
def commands(draw: st.DrawFn) -> list[str]:
    """A verb with words that mean something to it, if they stand in the right places."""
    verb = draw(st.sampled_from(list(cli_verbs.VERBS)))
    own = [*cli_verbs.SHARED, *cli_verbs.VERBS[verb][2]]
    word = (
        st.sampled_from(own)
        | st.sampled_from(VALUES)
        | st.builds("{}={}".format, *map(st.sampled_from, (own, VALUES)))
    )
    before = draw(st.lists(word, max_size=2)) if draw(st.integers(0, 4)) == 0 else []
    role = ["user"] if verb == "record" and draw(st.booleans()) else []
    return [*before, verb, *role, *draw(st.lists(word, max_size=4))]


ARGUMENTS = st.lists(st.sampled_from(WORDS) | st.just(""), max_size=6) | commands() | commands()


@given(ARGUMENTS)
@example(["record", "robot"])
@example(["record", "role", "user"])
@example(["record", "user", "--session", "s", "hello"])
@example(["record", "user", "-"])
@example(["record", "user", "-5"])
@example(["record", "user", "--", "-x"])
@example(["record", "tool_result", "--result", "-"])
@example(["expand", "x", "--memory"])
@example(["sessions", "--"])
@example(["expand", "--"])
@example(["init", "--", "--json"])
@example(["facts", "--kind", "identity", "--as-of", "2026-01-02", "--pending"])
@example(["facts", "--kind", "robot"])
@example(["redistill"])
@example(["redistill", "--with", "rules", "--apply"])
@example(["score", "f_1", "9", "--json"])
@example(["topic", "--as-of", "2026", "user"])
@example(["--version"])
def test_arguments_are_read_as_argparse_reads_them(arguments: list[str]) -> None:
    def outcome(read: Callable[[Sequence[str]], cli_verbs.CliOptions]) -> object:
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as errors:
            try:
                return vars(read(arguments))
            except SystemExit as stop:
                return stop.code, out.getvalue(), errors.getvalue()

    ours, theirs = outcome(cli_parse.parse), outcome(cli_parse.explain)
    if "--" in arguments and isinstance(ours, dict):
        return  # argparse takes what stands behind `--` for an option, or loses it, once options may be mixed in
    assert ours == theirs
