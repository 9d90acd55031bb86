"""In a project's folder that git tracks, every door keeps private lines out, unless a person says that they belong."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from layering import Layered, bytes_of
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.cli.main import main
from looseleaf.transfer.formats import detect
from looseleaf.transfer.import_run import run
from looseleaf.transfer.source import ImportSource

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

ILL = "My wife is ill"


@pytest.fixture
def heron(layered: Layered) -> Path:
    """A project with a memory that git tracks."""
    folder = layered.place / "heron"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return layered.project_path("heron")


def shown(path: Path) -> str:
    """Return what git would show of a memory."""
    return b"\n".join(bytes_of(path, "log", "review").values()).decode()


@pytest.mark.parametrize(
    "change",
    [
        lambda state, here: state.update(goal=ILL, here=here),
        lambda state, here: state.update(now=ILL, here=here),
        lambda state, here: state.update(conventions={"tone": ILL}, here=here),
        lambda state, here: state.update(blockers=[ILL], here=here),
        lambda state, here: state.add_task(ILL, here=here),
        lambda state, here: state.decide("Ship later", ILL, here=here),
        lambda state, here: state.block(ILL, here=here),
    ],
)
def test_the_state_takes_nothing_private_unless_told(heron: Path, change) -> None:  # type: ignore[no-untyped-def]
    with Memory(heron) as memory:
        memory.state.add_task("Write the importer")
        with pytest.raises(Refused, match=r"state.json was not changed: this is private \(family\)"):
            change(memory.state, here=False)
        assert ILL not in shown(heron)
        change(memory.state, here=True)
        assert ILL in shown(heron)
        memory.state.add_task("Write the tests")  # what stands there is in no one's way
        memory.state.done("Write the tests")


def test_a_memory_that_git_does_not_track_takes_all(layered: Layered) -> None:
    with layered.project() as memory:
        memory.state.add_task(ILL)
        assert [task["title"] for task in memory.state.tasks_open] == [ILL]


def test_a_correction_brings_nothing_private_unless_told(heron: Path) -> None:
    with Memory(heron) as memory:
        memory.remember("The deploy runs on Fridays.")
        (fact,) = memory.facts()
        with pytest.raises(Refused, match=r"was not corrected: this is private \(family\)"):
            memory.review.correct(fact.id or "", ILL)
        assert ILL not in shown(heron)
        fact = memory.review.correct(fact.id or "", ILL, here=True)
        assert ILL in shown(heron)
        # A private line that a person put there is corrected where it stands.
        memory.review.correct(fact.id or "", "My wife is well")
        assert "My wife is well" in shown(heron)


def test_an_import_leaves_out_what_is_private_unless_told(heron: Path, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "home.md").write_text(f"# Home\n\n{ILL}.\n", encoding="utf-8")
    (vault / "deploy.md").write_text("# Deploy\n\nIt runs on Fridays.\n", encoding="utf-8")

    def take(*, here: bool = False, dry_run: bool = False) -> list[str]:
        with ImportSource(str(vault)) as source, Memory(heron, agent="import") as memory:
            done = run(memory, source, detect(source).format, mine=True, here=here, dry_run=dry_run)
            return list(done.notes)

    for dry_run in (True, False):
        (note,) = take(dry_run=dry_run)
        assert "is private (family), and git tracks the folder" in note
    assert "It runs on Fridays." in shown(heron)
    assert ILL not in shown(heron)
    assert take(here=True) == []
    assert ILL in shown(heron)


def test_a_merge_keeps_what_is_private_and_says_where_it_stands(heron: Path, layered: Layered) -> None:
    with Memory(heron) as memory:
        memory.remember("The deploy runs on Fridays.")
    other = layered.place / "copy"
    shutil.copytree(heron, other)
    (other / "views/machine.json").unlink(missing_ok=True)
    with Memory(other) as copy:
        copy.remember("My wife is Ana.")
        copy.state.add_task(ILL)
    with Memory(heron) as memory:
        memory.merge(other, dry_run=True)
        assert [note for note in memory.notes if "Private lines came in" in note]
    with Memory(heron) as memory:
        memory.merge(other)
        (note,) = [note for note in memory.notes if "Private lines came in" in note]
        assert "USER.md:" in note
        assert "(family)" in note
        assert "state.json:" in note
        assert ILL in shown(heron)
    with Memory(heron) as memory:
        memory.merge(other)
        assert memory.notes == []


def test_the_commands_have_the_switch(heron: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def call(*words: str) -> int:
        return main(["--memory", str(heron), *words])

    assert call("state", "task", "add", ILL) == 2
    assert "`--here` writes it here all the same" in capsys.readouterr().err
    assert call("state", "task", "add", ILL, "--here") == 0
    assert call("remember", "The deploy runs on Fridays.") == 0
    assert call("correct", "deploy", ILL) == 2
    assert call("correct", "deploy", ILL, "--here") == 0


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remember", {"topic": "user", "content": "Wife: Ana"}),
        ("remember", {"topic": "user", "content": "Home address: 12 Baker Street, London"}),
        ("remember", {"topic": "care", "content": "Diabetes: yes, insulin daily"}),
        ("memory_write", {"path": "facts/care.md", "content": "# Care\n\n- Mortgage: 300000 euros\n"}),
        (
            "memory_write",
            {
                "path": "facts/care.md",
                "content": "# Care\n\n> Summary: the user has diabetes\n\n- Time: in the morning\n",
            },
        ),
        (
            "memory_append",
            {
                "path": "facts/care.md",
                "entry": "- Time: in the morning",
                "summary": "the user has diabetes",
            },
        ),
        ("memory_append", {"path": "facts/the-user-has-diabetes.md", "entry": "- Time: in the morning"}),
        ("memory_state", {"patch": {"goal": "Our daughter Emma has leukemia"}}),
        ("memory_state", {"patch": {"tasks_open": ["Wife: Ana"]}}),
    ],
)
def test_a_models_private_lines_summaries_and_names_are_refused(
    heron: Path, tool: str, arguments: dict[str, object]
) -> None:
    from looseleaf.tools.toolset import call

    with Memory(heron) as memory:
        memory.record(user="My wife is Ana, our daughter Emma has leukemia. The user has diabetes.")
        answer = call(memory, tool, arguments)
        assert "is private (" in answer.text
        done = call(memory, "memory_append", {"path": "facts/server.md", "entry": "- Address: 10.0.0.1"})
        assert "is private (" not in done.text
    for word in ("Ana", "Baker", "iabetes", "300000", "leukemia"):
        assert word not in shown(heron)
        assert word not in " ".join(map(str, heron.rglob("facts/*")))


def wait_for_mia(heron: Path) -> str:
    """Let a private fact wait in review; return its id."""
    with Memory(heron) as memory:
        memory.record(user="My daughter is Mia.")
        memory.record(assistant="Noted.")
        memory.distill()
        (fact,) = memory.review.pending()
        return fact.id or ""


def test_a_yes_to_what_is_private_says_where_it_stands_and_home_is_another_place_for_it(
    heron: Path, layered: Layered, capsys: pytest.CaptureFixture[str]
) -> None:
    def call(*words: str) -> tuple[int, str]:
        code = main(["--memory", str(heron), *words])
        told = capsys.readouterr()
        return code, f"{told.out}{told.err}"

    shutil.rmtree(layered.home_path)
    name = wait_for_mia(heron)
    assert "approve ID --home` keeps it in the home memory" in call("review")[1]
    code, told = call("approve", name, "--home")
    assert code == 2
    assert "`looseleaf init ~/.looseleaf` makes one" in told
    code, told = call("approve", name)
    assert "private (family), and stands where git looks" in told
    assert "Mia" in shown(heron)
    assert call("undo")[0] == 0
    assert "Mia" not in shown(heron)
    layered.make_home()
    code, told = call("approve", name, "--home")
    assert (code, "home:USER.md" in told) == (0, True)
    assert "Mia" not in shown(heron)
    with layered.home() as home:
        assert [(fact.object, fact.level) for fact in home.facts()] == [("My daughter is Mia", "confirmed")]
    with Memory(heron) as memory:
        assert memory.review.pending() == []
        memory.distill()
        assert memory.review.pending() == []
        with pytest.raises(Refused, match="does not wait in review"):
            memory.review.approve(name, where="home")


def test_review_asks_whether_what_is_private_is_to_be_kept_at_home(
    heron: Path, layered: Layered, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    import sys

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def reconfigure(self, **given: str) -> None:
            """Stay as it is."""

    shutil.rmtree(layered.home_path)
    wait_for_mia(heron)
    layered.make_home()
    out = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal("h\n"))
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["--memory", str(heron), "review"]) == 0
    told = out.getvalue()
    assert "This is private (family): yes puts it where git looks" in told
    assert "1 approved (1 at home), 0 rejected, 0 left." in told
    assert "Mia" not in shown(heron)
