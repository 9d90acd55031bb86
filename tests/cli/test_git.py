"""A memory in git: merged by its facts where the driver is, held back where it is not, with its log where that is
wanted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

import looseleaf
from cli.test_main import HEAVY, modules_after
from conftest import Run
from looseleaf.cli.main import main

pytestmark = pytest.mark.skipif(which("git") is None, reason="git is not installed")

USER = "# User Facts\n\n- Name: Ada\n- City: Paris\n- Updated: 2026-03-01\n"
OURS = USER.replace("Ada\n", "Ada\n- Likes: tea\n").replace("03-01", "03-02")
THEIRS = USER.replace("Paris\n", "Paris\n- Likes: the sea\n").replace("03-01", "03-03")
MERGED = "# User Facts\n\n- Name: Ada\n- Likes: tea\n- City: Paris\n- Likes: the sea\n- Updated: 2026-03-03\n"


class Repository:
    """A memory that is a repository, or lies in one."""

    def __init__(self, memory: Path, top: Path) -> None:
        self.memory, self.top = memory, top

    def git(self, *words: str, code: int | None = 0) -> str:
        done = subprocess.run(["git", *words], cwd=self.top, capture_output=True, text=True, check=False)
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def commit(self, page: str, text: str | bytes | None) -> None:
        path = self.memory / page
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(exist_ok=True)  # git keeps no empty folder
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.git("add", "--all")
        self.git("commit", "-qm", page)

    def branches(
        self, page: str, base: str | bytes, ours: str | bytes | None, theirs: str | bytes | None
    ) -> None:
        """Commit a version before both, and one on each of two branches."""
        self.commit(page, base)
        self.git("switch", "-qc", "other")
        self.commit(page, theirs)
        self.git("switch", "-q", "-")
        self.commit(page, ours)

    def read(self, page: str) -> str:
        return (self.memory / page).read_text()

    def has_conflict(self) -> bool:
        return "\nU" in f"\n{self.git('status', '--short')}" or "AA" in self.git("status", "--short")


@pytest.fixture
def program(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program, on the path that git looks for commands on."""
    path = place / "bin" / "looseleaf"
    path.parent.mkdir()
    source = Path(looseleaf.__file__).parent.parent
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{source}" exec "{sys.executable}" -m looseleaf "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
    return path


def make_repository(memory: Path, top: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    made = Repository(memory, top)
    made.git("init", "-q")
    return made


@pytest.fixture
def repository(folder: Path, program: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    return make_repository(folder, folder, monkeypatch)


@pytest.fixture
def merging(repository: Repository, run: Run) -> Repository:
    """One with the driver."""
    assert run("hook", "install", "--git", "--yes")[0] == 0
    return repository


# --- with the driver -----------------------------------------------------------------------


def test_two_branches_are_merged_by_their_facts(merging: Repository, run: Run) -> None:
    merging.branches("USER.md", USER, OURS, THEIRS)
    merging.git("merge", "-qm", "both", "other")
    assert merging.read("USER.md") == MERGED
    assert merging.git("status", "--short") == ""
    facts = run("facts")[1]
    assert "Likes: tea" in facts
    assert "Likes: the sea" in facts
    assert json.loads(run("settle", "--json")[1]) == []


def test_two_values_are_both_kept_and_git_knows_where_each_is_from(merging: Repository) -> None:
    merging.branches("USER.md", USER, USER.replace("Paris", "Rome"), USER.replace("Paris", "Lyon"))
    said = merging.git("merge", "-m", "both", "other")
    assert "contested: 2 lines" in said
    lines = [line for line in merging.read("USER.md").splitlines() if line.startswith("- City: ")]
    for city, line in zip(("Rome", "Lyon"), sorted(lines, reverse=True), strict=True):
        name = line.partition("(from git-")[2].partition(" ")[0]
        assert f"- City: {city}\n" in merging.git("cat-file", "blob", name)


def test_a_page_that_both_branches_began_becomes_one(merging: Repository) -> None:
    merging.commit("SOUL.md", "Calm.\n")
    merging.git("switch", "-qc", "other")
    merging.commit("facts/it's a %P -- test.md", "# Garden\n\n- Pond: small\n")
    merging.git("switch", "-q", "-")
    merging.commit("facts/it's a %P -- test.md", "# Garden\n\n- Soil: clay\n")
    merging.git("merge", "-qm", "both", "other")
    text = merging.read("facts/it's a %P -- test.md")
    assert sorted(text.split("\n")) == ["", "", "# Garden", "- Pond: small", "- Soil: clay"]


def test_the_state_is_merged_by_its_rows(merging: Repository) -> None:
    base, ours, theirs = (
        json.dumps({"goal": "Ship", "tasks_open": [{"id": "T-1", "title": each}] if each else []})
        for each in ("", "Write", "Read")
    )
    merging.branches("state.json", base, ours, theirs)
    merging.git("merge", "-qm", "both", "other")
    tasks = json.loads(merging.read("state.json"))["tasks_open"]
    assert tasks == [{"id": "T-1", "title": "Write"}, {"id": "T-2", "title": "Read"}]


def test_rows_with_one_id_or_one_title_leave_no_markers(merging: Repository) -> None:
    rows = [{"id": "T-1", "title": each} for each in ("Write", "Read", "Read")]
    base, ours, theirs = (
        json.dumps({"tasks_open": [*rows, *more]}, indent=2)
        for more in ([], [{"id": "T-1", "title": "Plan"}], [{"id": "T-1", "title": "Rest"}])
    )
    merging.branches("state.json", base, ours, theirs)
    merging.git("merge", "-qm", "both", "other")
    found = json.loads(merging.read("state.json"))["tasks_open"]
    assert found == [*rows, {"id": "T-1", "title": "Plan"}, {"id": "T-2", "title": "Rest"}]
    assert merging.git("status", "--short") == ""


@pytest.mark.parametrize("base", ["<<<<<<< ours\n", "{"])
def test_two_sound_states_are_merged_whatever_was_before_them(merging: Repository, base: str) -> None:
    merging.branches("state.json", base, '{"goal": "Ship"}', '{"now": "Test"}')
    merging.git("merge", "-qm", "both", "other")
    assert json.loads(merging.read("state.json")) == {"goal": "Ship", "now": "Test"}


def test_a_state_that_was_always_empty_takes_what_the_other_side_has(merging: Repository) -> None:
    merging.branches("state.json", "", "\n", '{"goal": "Ship"}')
    merging.git("merge", "-qm", "both", "other")
    assert json.loads(merging.read("state.json")) == {"goal": "Ship"}


@pytest.mark.parametrize("how", [("rebase", "-q", "other"), ("cherry-pick", "other")])
def test_a_rebase_and_a_cherry_pick_merge_by_facts_too(merging: Repository, how: tuple[str, ...]) -> None:
    merging.branches("USER.md", USER, OURS, THEIRS)
    merging.git(*how)
    assert merging.read("USER.md") == MERGED
    assert merging.git("status", "--short") == ""


def test_a_memory_below_the_top_of_a_repository_is_merged_by_facts(
    place: Path, run: Run, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = place / "work" / ".looseleaf"
    main(["init", str(memory)])
    repository = make_repository(memory, memory.parent, monkeypatch)
    assert main(["--memory", str(memory), "hook", "install", "--git", "--yes"]) == 0
    (memory.parent / "README.md").write_text("a\n")
    repository.branches("facts/user.md", USER, USER.replace("Paris", "Rome"), USER.replace("Paris", "Lyon"))
    repository.git("merge", "-qm", "both", "other")
    assert repository.read("facts/user.md").count("(from git-") == 2
    assert "merge: looseleaf" not in repository.git("check-attr", "merge", "README.md")


# --- where git merges as text ---------------------------------------------------------------


def conflicting(repository: Repository) -> None:
    repository.branches("USER.md", USER, USER.replace("Paris", "Rome"), USER.replace("Paris", "Lyon"))


def test_without_the_driver_markers_are_held_back_and_named(repository: Repository, run: Run) -> None:
    """The lines for the driver came with the repository; the driver itself is missing in this clone."""
    run("hook", "install", "--git", "--yes")
    repository.git("config", "--remove-section", "merge.looseleaf")
    conflicting(repository)
    assert "City: Rome" in run("facts")[1]
    assert "CONFLICT" in repository.git("merge", "other", code=1)
    assert "<<<<<<<" in repository.read("USER.md")
    _, out, err = run("facts")
    assert "City: Rome" in out
    assert "<<<<<<<" not in out
    assert "USER.md" in out + err
    held = json.loads(run("settle", "--json")[1])
    assert [(each["path"], each["why"]) for each in held] == [("USER.md", "conflict")]
    out = run("settle", "USER.md", "--theirs")[1]
    left = f"`git add {repository.memory / 'USER.md'}`, and then `git commit`"
    assert f"Git still waits for its merge: {left}" in out
    repository.git("add", str(repository.memory / "USER.md"))
    repository.git("commit", "-qm", "both")
    (repository.memory / "USER.md").write_text("")
    assert "Git still waits" not in run("settle", "USER.md", "--keep")[1]


def test_a_program_that_is_gone_leaves_the_merge_to_git_which_calls_it_a_conflict(
    merging: Repository, program: Path
) -> None:
    conflicting(merging)
    program.unlink()
    merging.git("merge", "other", code=1)
    text = merging.read("USER.md")
    assert "<<<<<<< ours\n- City: Rome\n=======\n- City: Lyon\n>>>>>>> theirs\n" in text
    assert merging.has_conflict()


UNSOUND = [
    ("facts/a.md", b"- a\n", b"- \xff\n", b"- b\n"),
    ("facts/a.md", b"- a\n", b"- b\n", b"<<<<<<< x\n- b\n=======\n- c\n>>>>>>> y\n"),
    ("facts/a.md", b"- a\n", b"- b\n", b"- c\n" * 300_000),
    ("state.json", b"{}", b'{"goal": "a"}', b'{"goal": '),
    ("state.json", b"{}", b'{"goal": "a"}', b'{"tasks_open": 5}'),
    ("state.json", b"{}\n", b'{"goal": "a"}', b"\n"),
]


@pytest.mark.parametrize(("page", "base", "ours", "theirs"), UNSOUND)
def test_what_is_no_text_or_no_state_is_left_to_git_and_a_person(
    merging: Repository, page: str, base: bytes, ours: bytes, theirs: bytes
) -> None:
    merging.branches(page, base, ours, theirs)
    said = merging.git("merge", "other", code=1)
    assert f"{page} was not merged by its facts" in said
    assert merging.has_conflict()
    data = (merging.memory / page).read_bytes()
    assert all(each in data for side in (ours, theirs) for each in side.splitlines())


def test_zero_bytes_are_left_as_git_leaves_them(merging: Repository) -> None:
    merging.branches("facts/a.md", b"- a\n", b"- b\0\n", b"- c\n")
    merging.git("merge", "other", code=1)
    assert (merging.memory / "facts/a.md").read_bytes() == b"- b\0\n"
    assert merging.git("show", ":3:facts/a.md") == "- c\n"


def test_a_page_that_one_side_deleted_is_git_s_question_and_keeps_its_changes(merging: Repository) -> None:
    merging.branches("USER.md", USER, OURS, None)
    assert "CONFLICT (modify/delete)" in merging.git("merge", "other", code=1)
    assert merging.read("USER.md") == OURS


# --- the command that git runs ---------------------------------------------------------------


@pytest.fixture
def versions(place: Path) -> list[str]:
    for name, text in (("base", USER), ("ours", OURS), ("theirs", THEIRS)):
        (place / name).write_text(text)
    return [str(place / name) for name in ("base", "ours", "theirs")]


def test_the_merged_page_is_in_the_place_of_ours(run: Run, place: Path, versions: list[str]) -> None:
    code, out, err = run("merge-file", *versions, "notes/USER.md")
    assert (code, out, err) == (0, "notes/USER.md has the changes of both sides.\n", "")
    assert (place / "ours").read_text() == MERGED
    assert sorted(path.name for path in place.iterdir() if path.is_file()) == ["base", "ours", "theirs"]


@pytest.mark.parametrize(("page", "base", "ours", "theirs"), [*UNSOUND, ("USER.md", b"", b"a\0", b"b")])
def test_what_cannot_be_merged_stays_as_it_is(
    run: Run, versions: list[str], page: str, base: bytes, ours: bytes, theirs: bytes
) -> None:
    for name, data in zip(versions, (base, ours, theirs), strict=True):
        Path(name).write_bytes(data)
    code, out, err = run("merge-file", *versions, page, "--json")
    assert (code, err) == (1, f"looseleaf: {json.loads(out)['error']}\n")
    assert Path(versions[1]).read_bytes() == ours


def test_what_was_merged_is_also_told_as_json(run: Run, versions: list[str]) -> None:
    for name, city in zip(versions, ("Paris", "Rome", "Lyon"), strict=True):
        Path(name).write_text(USER.replace("Paris", city))
    assert json.loads(run("merge-file", *versions, "USER.md", "--json")[1]) == {
        "path": "USER.md",
        "contested": 2,
    }
    for name, goal in zip(versions, "abc", strict=True):
        Path(name).write_text(json.dumps({"goal": goal}))
    assert run("merge-file", *versions, "state.json")[0] == 0
    assert json.loads(Path(versions[1]).read_text()) == {"goal": "b"}


def test_one_side_that_changed_nothing_gives_the_other_whatever_its_bytes_are(
    run: Run, place: Path, versions: list[str]
) -> None:
    base, ours, theirs = versions
    Path(theirs).write_bytes(b"\xff\0")
    assert run("merge-file", base, base, theirs, "USER.md")[0] == 0
    assert Path(base).read_bytes() == b"\xff\0"
    assert run("merge-file", ours, theirs, ours, "USER.md")[0] == 0
    assert Path(theirs).read_bytes() == b"\xff\0"


def test_a_version_that_is_missing_or_cannot_be_written_is_refused(
    run: Run, place: Path, versions: list[str]
) -> None:
    base, ours, theirs = versions
    code, _, err = run("merge-file", str(place / "none"), ours, theirs, "USER.md")
    assert (code, "Nothing was merged" in err) == (2, True)
    Path(f"{ours}.looseleaf").mkdir()
    code, _, err = run("merge-file", base, ours, theirs, "USER.md")
    assert (code, "could not be written" in err) == (2, True)
    assert Path(ours).read_text() == OURS


def test_git_does_not_wait_for_what_a_merge_does_not_need(place: Path, versions: list[str]) -> None:
    command = "from looseleaf.cli.main import main\nmain(sys.argv[1:])"
    loaded = modules_after(command, "merge-file", *versions, "USER.md")
    assert "looseleaf.facts.three_way" in loaded
    apart = {*HEAVY, "argparse", "rich", "jsonschema_rs", "looseleaf.store.files", "looseleaf.memory.memory"}
    assert sorted(loaded & apart) == []


# --- what git is told -------------------------------------------------------------------------


def test_the_driver_is_shown_first_written_with_a_yes_and_taken_out_to_the_byte(
    repository: Repository, run: Run, program: Path
) -> None:
    config, attributes = repository.top / ".git/config", repository.memory / ".gitattributes"
    attributes.write_text("*.png binary")
    before = config.read_bytes()
    code, out, err = run("hook", "install", "--git")
    assert (code, config.read_bytes(), attributes.read_text()) == (2, before, "*.png binary")
    assert "+/*.md merge=looseleaf" in out
    assert "--yes" in err
    _, out, _ = run("hook", "install", "--git", "--yes")
    assert f"merge.looseleaf.driver = {program} merge-file" in out
    assert "each clone must run" in out
    assert "merge=looseleaf" in attributes.read_text()
    written = config.read_bytes(), attributes.read_bytes()
    _, out, _ = run("hook", "install", "--git", "--yes")
    assert out.count("already") == 2
    assert (config.read_bytes(), attributes.read_bytes()) == written
    told = json.loads(run("hook", "remove", "--git", "--yes", "--json")[1])["settings"]
    assert [each["written"] for each in told] == [True, True]
    assert (config.read_bytes(), attributes.read_text()) == (before, "*.png binary")
    assert "no driver" in run("hook", "remove", "--git", "--yes")[1]
    attributes.unlink()
    run("hook", "install", "--git", "--yes")
    code, _, err = run("hook", "remove", "--git")
    assert code == 2
    assert "whether to delete" in err
    assert "Give --yes to delete it." in err
    assert attributes.is_file()


def test_without_a_repository_or_a_memory_there_is_nothing_to_install(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run("hook", "install", "--git", "--yes")
    assert (code, "not a git repository" in err) == (2, True)
    assert main(["hook", "install", "--git", "--yes"]) == 2
    assert "there is no memory here" in capsys.readouterr().err
    monkeypatch.setenv("PATH", "")
    code, _, err = run("hook", "install", "--git", "--yes")
    assert (code, "Install git first" in err) == (2, True)


# --- a log in git ------------------------------------------------------------------------------


def test_a_log_goes_into_git_without_what_is_of_the_moment(repository: Repository, run: Run) -> None:
    code, out, _ = run("init", "--git-log")
    assert (code, "everything that was said" in out) == (0, True)
    assert "nothing was changed" in run("init", "--git-log")[1]
    run("record", "user", "I live in Lyon.")
    for name in ("staged", "aside", "on/lap/staged"):
        (repository.memory / "log" / name).mkdir(parents=True, exist_ok=True)
        (repository.memory / "log" / name / "x").write_text("x")
    repository.git("add", "--all")
    tracked = repository.git("ls-files").splitlines()
    assert {"log/journal.jsonl", "log/traces/main/raw_traces.jsonl", ".gitattributes"} <= set(tracked)
    parts = {part for path in tracked for part in path.split("/")}
    assert not parts & {"lock", "turn", "writer", "forgetter", "staged", "aside", "views", "review"}
    assert "log/ is in it" in run("doctor")[1]


def test_a_new_memory_says_that_its_history_goes_into_git(run: Run, place: Path) -> None:
    _, out, _ = run("init", "new", "--git-log")
    assert "keeps views/ and review/ out of git" in out
    assert "The history is then in git" in out
    assert "log/" not in (place / "new/.gitignore").read_text().split("\n")


def test_a_log_that_is_gone_is_noticed_where_git_keeps_it_too(run: Run, place: Path) -> None:
    run("init", "new", "--git-log")
    (place / "new/USER.md").write_text(USER)
    for path in sorted((place / "new/log").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert main(["--memory", str(place / "new"), "facts"]) == 2


def test_git_never_puts_markers_into_a_log(repository: Repository, run: Run) -> None:
    """Two branches on one machine: its log has two ends, which is for `looseleaf merge`, not for git."""
    run("init", "--git-log")
    repository.git("add", "--all")
    repository.git("commit", "-qm", "begun")
    repository.git("switch", "-qc", "other")
    run("record", "user", "I live in Lyon.")
    repository.git("add", "--all")
    repository.git("commit", "-qm", "theirs")
    repository.git("switch", "-q", "-")
    run("record", "user", "I live in Rome.")
    repository.git("add", "--all")
    repository.git("commit", "-qm", "ours")
    ours = {path: path.read_bytes() for path in (repository.memory / "log").rglob("*.jsonl")}
    repository.git("merge", "other", code=1)
    assert {path: path.read_bytes() for path in ours} == ours


def test_two_machines_share_a_log_through_git(
    repository: Repository, run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOSELEAF_MACHINE", "desk")
    run("init", "--git-log")
    run("hook", "install", "--git", "--yes")
    run("remember", "My name is Ada.")
    repository.git("add", "--all")
    repository.git("commit", "-qm", "desk")
    repository.git("clone", "-q", str(repository.top), str(place / "clone"))
    clone = Repository(place / "clone", place / "clone")
    monkeypatch.setenv("LOOSELEAF_MACHINE", "lap")
    here = ["--memory", str(clone.memory)]
    assert main([*here, "hook", "install", "--git", "--yes"]) == 0
    assert main([*here, "remember", "I like green tea."]) == 0
    clone.git("add", "--all")
    clone.git("commit", "-qm", "lap")
    assert any(path.startswith("log/on/lap/") for path in clone.git("ls-files").splitlines())
    monkeypatch.setenv("LOOSELEAF_MACHINE", "desk")
    run("remember", "I live in Lyon.")
    repository.git("add", "--all")
    repository.git("commit", "-qm", "desk again")
    repository.git("pull", "-q", "--no-rebase", "--no-edit", str(clone.top), "HEAD")
    facts = run("facts")[1]
    assert all(each in facts for each in ("Ada", "green tea", "Lyon"))
    assert run("check")[0] == 0
