"""A log that goes back, or vanishes: it is told, what was learned stays, and what is said next is kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Displaced, NotFound, Refused
from looseleaf.base.policy import Policy
from looseleaf.cli import main as cli
from looseleaf.memory.thread import MemoryThread, outcome
from looseleaf.pages.folder import LogGone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TALK = [
    ("I live in Lyon.", "Noted."),
    ("My sister is called Ada.", "A fine name."),
    ("I work as a baker.", "Early mornings, then."),
    ("I am allergic to nuts.", "I will remember."),
    ("I play the cello.", "Lovely."),
    ("My favourite colour is green.", "Green it is."),
]

LEARNED = {"Home": "Lyon", "Role": "baker", "Allergy": "nuts", "note": "My sister is called Ada"}


def talk(folder: Path, turns: list[tuple[str, str]], agent: str = "main") -> None:
    with Memory(folder, agent=agent) as memory:
        for user, assistant in turns:
            memory.record(user=user)
            memory.record(assistant=assistant)


def traces(folder: Path, agent: str = "main") -> Path:
    return folder / f"log/traces/{agent}/raw_traces.jsonl"


def facts(memory: Memory) -> dict[str, str]:
    return {fact.relation: fact.object for fact in memory.facts()}


def errors(folder: Path) -> list[str]:
    with Memory(folder) as memory:
        return [str(each) for each in memory.check() if each.severity == "error"]


def cut(file: Path, old: bytes) -> None:
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-3]))


def remove_one(file: Path, old: bytes) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:4] + lines[5:]))


WAYS: dict[str, Callable[[Path, bytes], object]] = {
    "deleted": lambda file, old: file.unlink(),
    "an older copy": lambda file, old: file.write_bytes(old),
    "its last lines cut": cut,
    "a line removed": remove_one,
}


@pytest.fixture(params=WAYS)
def went_back(request: pytest.FixtureRequest, place: Path) -> Path:
    """A memory whose talk was distilled and prompted, and whose log then went back."""
    folder = place / "memory"
    talk(folder, TALK[:3])
    old = traces(folder).read_bytes()
    talk(folder, TALK[3:])
    with Memory(folder) as memory:
        memory.distill()
        memory.recall("cello")
        memory.prompt("Where do I live?", budget=3000)
        assert facts(memory) == LEARNED
    (place / "whole").write_bytes(traces(folder).read_bytes())
    WAYS[request.param](traces(folder), old)
    return folder


@pytest.mark.sampled(3)
@pytest.mark.parametrize("views", ["kept", "deleted"])
def test_a_log_that_went_back_is_told_and_the_next_talk_is_distilled(went_back: Path, views: str) -> None:
    if views == "deleted":
        shutil.rmtree(went_back / "views")
    assert len(errors(went_back)) == 1
    with Memory(went_back) as memory:
        memory.record(user="I moved to Oslo. My cat is called Tom.")
        memory.distill()
        assert len([note for note in memory.notes if "missing" in note]) == 1
        assert facts(memory) == LEARNED | {"Home": "Oslo", "Pet": "Tom"}
        assert "Oslo" in memory.recall("moved to Oslo")[0].text
        assert "Oslo" in memory.prompt("Where do I live?", budget=3000).text
    with Memory(went_back) as memory:
        assert memory.distill() == []
        assert memory.notes == []
    assert len(errors(went_back)) == 1
    assert cli.main(["--memory", str(went_back), "repair"]) == 0
    assert errors(went_back) == []
    assert cli.main(["--memory", str(went_back), "check"]) == 0


@pytest.mark.sampled(5)
@pytest.mark.parametrize("views", ["kept", "deleted"])
@pytest.mark.parametrize("end", ["put back", "accepted"])
def test_status_says_what_a_log_lost_until_it_is_put_back_or_accepted(
    went_back: Path, views: str, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def status() -> str:
        capsys.readouterr()
        assert cli.main(["--memory", str(went_back)]) == 0
        return "".join(capsys.readouterr().out)

    if views == "deleted":
        shutil.rmtree(went_back / "views")
    is_gone = not traces(went_back).exists()
    for _ in range(2):
        (lost,) = (line for line in status().splitlines() if line.startswith("  lost "))
        assert f"of {traces(Path('.'))}" in lost
        assert lost.endswith(", which is gone") == is_gone
        assert "has said nothing yet" not in status()
        cli.main(["--memory", str(went_back), "recall", "cello"])
    assert cli.main(["--memory", str(went_back), "check"]) == 1
    said = capsys.readouterr().out
    assert "not an agent's log" not in said
    assert ("this log is gone: " in said) == is_gone
    if end == "put back":
        traces(went_back).write_bytes((went_back.parent / "whole").read_bytes())
    else:
        assert cli.main(["--memory", str(went_back), "repair"]) == 0
    assert "  lost " not in status()
    shutil.rmtree(went_back / "views")
    assert "  lost " not in status()
    assert errors(went_back) == []


def test_check_changes_nothing_where_a_log_went_back(went_back: Path) -> None:
    def everything() -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in went_back.rglob("*") if file.is_file()}

    before = everything()
    assert len(errors(went_back)) == 1
    assert everything() == before


def test_talk_after_a_compaction_is_shown_though_the_log_before_it_is_gone(place: Path) -> None:
    with Memory(place / "memory") as memory:
        for turn in range(20):
            memory.record(user=f"Question {turn}: " + "word " * 50)
            memory.record(assistant=f"Answer {turn}: " + "word " * 50)
        memory.window.compact()
    shutil.rmtree(place / "memory/log/traces/main")
    with Memory(place / "memory") as memory:
        memory.record(user="I moved to Oslo.")
        assert "I moved to Oslo." in str(memory.window.messages())
    shutil.rmtree(place / "memory/views")
    with Memory(place / "memory") as memory:
        assert "I moved to Oslo." in str(memory.window.messages())


def test_one_agent_s_log_that_went_back_is_told_to_that_agent_and_by_check(place: Path) -> None:
    folder = place / "memory"
    for agent in ("main", "other"):
        talk(folder, TALK, agent)
    cut(traces(folder, "other"), b"")
    with Memory(folder) as memory:
        assert memory.notes == []
    with Memory(folder, agent="other") as memory:
        assert ["log/traces/other" in note for note in memory.notes] == [True]
    (problem,) = errors(folder)
    assert problem.startswith(
        "log/traces/other/raw_traces.jsonl: this log is older than before: 3 records are missing"
    )


def test_a_journal_that_went_back_is_told(place: Path) -> None:
    folder = place / "memory"
    with Memory(folder) as memory:
        memory.remember("My sister is called Ada.")
    old = (folder / "log/journal.jsonl").read_bytes()
    with Memory(folder) as memory:
        memory.remember("I live in Lyon.")
    (folder / "log/journal.jsonl").write_bytes(old)
    with Memory(folder) as memory:
        assert ["log/journal.jsonl is older than before" in note for note in memory.notes] == [True]


def test_forgetting_and_repair_are_no_loss(place: Path) -> None:
    folder = place / "memory"
    talk(folder, TALK[:4])
    with Memory(folder) as other:
        other.record(user="The weather is fine.")
        with Memory(folder) as memory:
            memory.distill()
            memory.forget(match="allergic")
        other.record(user="The weather is bad.")
        other.distill()
    assert errors(folder) == []
    file = traces(folder)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([lines[0].replace(b"Lyon", b"Rome"), *lines[1:]]))
    with Memory(folder) as memory:
        assert memory.repair() != []
        assert memory.notes == []
        memory.record(user="My cat is called Tom.")
        memory.distill()
        assert facts(memory)["Pet"] == "Tom"
    with Memory(folder) as memory:
        assert (memory.notes, memory.distill()) == ([], [])
    assert errors(folder) == []


def test_a_copy_from_before_a_forgetting_is_found_by_check(place: Path) -> None:
    folder = place / "memory"
    talk(folder, TALK)
    old = traces(folder).read_bytes()
    with Memory(folder) as memory:
        memory.distill()
        memory.forget(match="allergic")
    assert errors(folder) == []
    assert len(old) == traces(folder).stat().st_size
    traces(folder).write_bytes(old)
    assert ["are not the ones that were there" in each for each in errors(folder)] == [True]


# --- a log that vanishes under an open memory ----------------------------------------------


CHILD = """
import sys
from looseleaf import Memory
from looseleaf.base.errors import Refused
memory = Memory(sys.argv[1])
for line in sys.stdin:
    try:
        print("ok", memory.record(user=line.strip()).id, flush=True)
    except Refused as refused:
        print(type(refused).__name__, refused, flush=True)
"""


class Recording:
    """Another process that has the memory open, and records what it is told."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def record(self, text: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{text}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait() == 0


@pytest.fixture
def recording(place: Path) -> Iterator[Recording]:
    talk(place / "memory", TALK[:2])
    process = Recording(place / "memory")
    assert process.record("The first one.").startswith("ok ")
    yield process
    process.close()


def said(folder: Path) -> list[str]:
    with Memory(folder) as memory:
        return [trace.content for turn in memory.talk.turns() for trace in turn.traces]


GONE: dict[str, Callable[[Path], object]] = {
    "the log removed": lambda folder: shutil.rmtree(folder / "log"),
    "the log moved": lambda folder: (folder / "log").rename(folder.with_name("elsewhere")),
    "the folder removed": shutil.rmtree,
    "the folder moved": lambda folder: folder.rename(folder.with_name("elsewhere")),
}


@pytest.mark.parametrize("how", GONE)
def test_nothing_is_acknowledged_into_a_log_that_is_gone(place: Path, recording: Recording, how: str) -> None:
    GONE[how](place / "memory")
    for _ in range(2):
        answer = recording.record("The lost one.")
        assert answer.startswith("Displaced Nothing was written: the log of ")
        assert "Put it back from a copy" in answer
    assert not (place / "memory/log").exists()
    for moved in place.rglob("raw_traces.jsonl"):
        assert b"The lost one." not in moved.read_bytes()


def test_a_log_that_is_moved_away_and_back_is_written_to_again(place: Path, recording: Recording) -> None:
    log = place / "memory/log"
    log.rename(place / "elsewhere")
    assert recording.record("The lost one.").startswith("Displaced ")
    (place / "elsewhere").rename(log)
    assert recording.record("The second one.").startswith("ok ")
    assert [text for text in said(place / "memory") if text.endswith("one.")] == [
        "The first one.",
        "The second one.",
    ]


@pytest.mark.parametrize("what", ["memory", "memory/log"])
def test_nothing_is_acknowledged_into_a_folder_that_another_replaced(
    place: Path, recording: Recording, what: str
) -> None:
    shutil.copytree(place / what, place / "copy")
    (place / what).rename(place / "before")
    (place / "copy").rename(place / what)
    answer = recording.record("The lost one.")
    assert answer.startswith("Displaced Nothing was written: ")
    assert "Open the memory again." in answer
    assert "The lost one." not in said(place / "memory")
    again = Recording(place / "memory")
    assert again.record("The second one.").startswith("ok ")
    again.close()
    assert said(place / "memory")[-1] == "The second one."


@pytest.mark.parametrize("what", ["log/lock", "log/traces/main/raw_traces.jsonl", "log/traces"])
def test_a_file_of_the_log_that_is_removed_is_made_again_and_the_record_is_there(
    place: Path, recording: Recording, what: str
) -> None:
    target = place / "memory" / what
    shutil.rmtree(target) if target.is_dir() else target.unlink()
    assert recording.record("The second one.").startswith("ok ")
    assert said(place / "memory")[-1] == "The second one."
    recording.close()
    is_lost = "traces" in what
    assert len(errors(place / "memory")) == is_lost
    recording.__init__(place / "memory")  # type: ignore[misc]


def test_a_lock_that_was_moved_away_is_held_by_one_writer_only(place: Path, recording: Recording) -> None:
    lock = place / "memory/log/lock"
    lock.rename(place / "elsewhere")
    with Memory(place / "memory", policy=Policy(lock_seconds=0.2)) as memory:
        memory.record(user="Here.")
        assert recording.record("There.").startswith("ok ")
        with memory.parts.context.store.lock():
            assert os.stat(lock).st_ino != os.stat(place / "elsewhere").st_ino
            import threading

            answers: list[str] = []
            waiting = threading.Thread(target=lambda: answers.append(recording.record("Later.")))
            waiting.start()
            waiting.join(0.5)
            assert answers == []  # it waits for the lock that we hold
        waiting.join()
        assert answers[0].startswith("ok ")


def test_a_server_s_memory_begins_again_with_the_folder_that_is_there(place: Path) -> None:
    folder = place / "memory"
    talk(folder, TALK[:1])
    shutil.copytree(folder, place / "copy")

    def record(memory: Memory) -> Any:
        return memory.record(user="I play the cello.")

    with MemoryThread(lambda: Memory(folder)) as keeper:
        outcome(keeper.submit(record))
        shutil.rmtree(folder / "log")
        with pytest.raises(LogGone):
            outcome(keeper.submit(record))
        shutil.rmtree(folder)
        (place / "copy").rename(folder)
        outcome(keeper.submit(record))
    assert said(folder) == ["I live in Lyon.", "Noted.", "I play the cello."]


# --- going on without the journal ----------------------------------------------------------------


@pytest.fixture
def without_journal(place: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A memory whose journal was lost, and repaired, after its profile had changed since the last prompt."""
    folder = place / "memory"
    with Memory(folder) as memory:
        memory.remember("I live in Lyon.")
        memory.state.update(goal="Bake bread", author="person")
        memory.prompt("Hello.", budget=3000)
        memory.remember("I work as a baker.")
        memory.state.update(goal="Bake rolls", author="person")
    (folder / "log/journal.jsonl").unlink()
    assert cli.main(["--memory", str(folder), "repair"]) == 0
    return folder


def test_the_first_sight_of_a_page_is_not_undone(without_journal: Path) -> None:
    with Memory(without_journal) as memory:
        pages = {path: memory.pages.read(path).data for path in memory.pages.list()}
        assert len(pages) >= 3
        for path in (None, *pages):
            with pytest.raises(NotFound, match="no edit left to undo"):
                memory.history.undo(path, author="person")
        assert len(memory.review.vouch([fact.id or "" for fact in memory.review.unexplained()])) == 2
        memory.remember("I play the cello.")
        memory.history.undo(author="person")  # what was done since is undone
        memory.history.undo(author="person")
        assert {fact.level for fact in memory.facts()} == {"inferred"}
        with pytest.raises(NotFound):
            memory.history.undo(author="person")
        after = {path: memory.pages.read(path).data for path in pages}
    assert after == pages


def test_repair_does_not_ask_for_what_it_has_just_accepted(
    without_journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = capsys.readouterr()
    assert "what is missing is accepted" in out
    assert "Put a copy" not in err
    assert "The journal does not say who wrote" in err


def test_a_prompt_begins_anew_where_the_journal_lost_what_the_last_one_showed(without_journal: Path) -> None:
    with Memory(without_journal) as memory:
        prompt = memory.prompt("Who am I?", budget=3000)
        assert prompt.manifest.epoch == "lost"
        assert "[MEMORY:CHANGES]" not in prompt.text
        assert prompt.text.count("Lyon") == prompt.text.count("baker") == prompt.text.count("rolls") == 1
        following = memory.prompt("Who am I?", budget=3000)
        assert following.manifest.epoch == "lost"
        assert following.manifest.prefix_hash == prompt.manifest.prefix_hash


# --- opening what `git clean` left -----------------------------------------------------------


def test_opening_pages_without_their_log_says_what_is_gone_and_what_to_do(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = place / "memory"
    with Memory(folder) as memory:
        memory.remember("I live in Lyon.")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "clean", "-fdXq"], check=True)
    assert not (folder / "log").exists()
    with pytest.raises(LogGone, match=r"memory without its log: pages are there, and log/ is gone"):
        Memory(folder)
    assert not (folder / "log").exists()
    assert cli.main(["--memory", str(folder), "doctor"]) != 0
    assert "`git clean -x` removes it" in " ".join(capsys.readouterr().out.split())
    assert cli.main(["init", str(folder)]) == 0
    assert "Lyon" in (folder / "USER.md").read_text()
    with Memory(folder) as memory:
        assert facts(memory)["Home"] == "Lyon"


def _empty(log: Path) -> None:
    shutil.rmtree(log)
    log.mkdir()


def _leave_key(log: Path) -> None:
    key = (log / "key").read_bytes()
    _empty(log)
    (log / "key").write_bytes(key)


EMPTIED: dict[str, Callable[[Path], object]] = {
    "removed": shutil.rmtree,
    "emptied": _empty,
    "all but its key": _leave_key,
}


@pytest.mark.parametrize("way", EMPTIED)
def test_every_command_says_that_the_log_is_gone_and_names_init_last(
    place: Path, capsys: pytest.CaptureFixture[str], way: str
) -> None:
    folder = place / "memory"
    with Memory(folder) as memory:
        memory.remember("I live in Lyon.")
    EMPTIED[way](folder / "log")
    for verb in ([], ["check"], ["repair"], ["recall", "Lyon"], ["remember", "I play the cello."]):
        assert cli.main(["--memory", str(folder), *verb]) == 2
        said = capsys.readouterr().err
        assert "memory without its log" in said
        assert said.index("Put log/ back, from an export or a backup") < said.index("looseleaf init")
    assert not (folder / "log/journal.jsonl").exists()
    assert cli.main(["init", str(folder)]) == 0
    assert "the new log begins without what was said" in capsys.readouterr().out
    assert cli.main(["--memory", str(folder), "recall", "Lyon"]) == 0


def test_making_a_memory_anew_says_nothing_of_a_lost_log(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "notes").mkdir()
    (place / "notes/USER.md").write_text("- Home: Lyon\n")
    for folder in ("fresh", "notes"):
        assert cli.main(["init", str(place / folder)]) == 0
        assert "the new log begins without" not in capsys.readouterr().out


def test_a_memory_of_talk_alone_that_lost_its_log_is_not_made_anew(place: Path) -> None:
    talk(place / "memory", TALK[:1])
    shutil.rmtree(place / "memory/log")
    with pytest.raises(LogGone):
        Memory(place / "memory")


def test_a_fresh_clone_of_an_empty_memory_is_made_one(place: Path) -> None:
    folder = place / "memory"
    Memory(folder).close()
    for name in ("log", "views", "review", "facts", "episodes", "days"):
        shutil.rmtree(folder / name)
    Memory(folder).close()
    assert (folder / "log/journal.jsonl").exists()


def test_a_displaced_memory_can_still_be_closed(place: Path) -> None:
    with Memory(place / "memory") as memory:
        memory.record(user="The first one.")
        shutil.rmtree(place / "memory")
        with pytest.raises(Displaced):
            memory.record(user="The lost one.")
        with pytest.raises(Refused):
            memory.remember("I live in Lyon.")
    assert not (place / "memory").exists()
