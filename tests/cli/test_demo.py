"""The demo: what it says is so. Its output and the folder that it leaves are golden.

`python tests/cli/test_demo.py` makes both again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.cli import demo as folder
from looseleaf.cli import demo as scenes
from looseleaf.cli.arguments import parse
from looseleaf.cli.demo import FEBRUARY, MAY, PLANTED, SEPTEMBER, SESSIONS, Plain, Stage, User, plain_output
from looseleaf.cli.main import main
from looseleaf.pages.folder import init
from looseleaf.store.this_machine import VARIABLE
from looseleaf.text.times import parse_when
from masks import masked

GOLDEN = Path(__file__).parents[1] / "golden/demo.txt"
FOLDER = Path(__file__).parents[1] / "golden/folder.txt"


@dataclass(frozen=True)
class Played:
    """A demo that was run once, in a pipe: its folder, and all that was seen."""

    home: Path
    output: str

    def after(self, command: str) -> str:
        """What a command printed, the first time that it was run."""
        shown = self.output.partition(f"$ looseleaf {command}\n")[2]
        return re.split(r"\n\n(?:──|\S[^\n]*\n\$)|\n\$ looseleaf", shown, maxsplit=1)[0]


@contextmanager
def somewhere(path: Path) -> Iterator[None]:
    """In a folder, in one time zone, and with no memory of one's own."""
    before, zone, home = os.getcwd(), os.environ.get("TZ"), os.environ.pop("LOOSELEAF_HOME", None)
    os.environ["TZ"] = "UTC"
    time.tzset()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)
        for name, value in (("TZ", zone), ("LOOSELEAF_HOME", home)):
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        time.tzset()


def play(path: Path, *arguments: str) -> str:
    """What `looseleaf demo` prints to a pipe, with warnings and all."""
    kept = io.BytesIO()
    with somewhere(path), redirect_stdout(Plain(kept, encoding="utf-8", write_through=True)):
        assert main(["demo", *arguments]) == 0
        return kept.getvalue().decode()


def use_home(played: Played) -> str:
    """The output, in a folder of Mira's own."""
    return played.output.replace(str(played.home.parent), "/home/mira")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    path = tmp_path_factory.mktemp("demo")
    return Played(path / "looseleaf-demo", play(path))


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Another one, elsewhere, as one document."""
    path = tmp_path_factory.mktemp("again")
    return Played(path / "here", play(path, "here", "--json"))


@pytest.fixture(scope="module")
def memory(played: Played) -> Iterator[Memory]:
    with Memory(played.home) as memory:
        yield memory


# --- what it shows -----------------------------------------------------------------------


def test_the_output_is_the_golden_one(played: Played) -> None:
    """Ids, and the counts of tokens in which such an id is counted, are made alike first: they follow from how often
    an id is asked for, which is nobody's business."""
    assert masked(use_home(played)) == masked(GOLDEN.read_text("utf-8"))


def test_masks_leave_what_the_story_says() -> None:
    left = masked(GOLDEN.read_text("utf-8"))
    assert '$ looseleaf recall "Where do I live?" --as-of 2025-03-01 -k 1\n1. Home: Lyon\n' in left
    assert "20YY-MM-DD" not in left  # the story has its own dates, and today is none of them
    assert masked(left) == left


def test_the_story_is_recorded_with_the_times_of_then(memory: Memory) -> None:
    assert [each.session_id for each in memory.talk.sessions()] == [each.id for each in SESSIONS]
    for session in SESSIONS:
        turns = memory.talk.turns(20, session=session.id)
        first = turns[0].traces[0].ts
        with somewhere(Path.cwd()):
            assert 0 < first - parse_when(session.begins, start=True) < 60
        said = [trace.content for turn in turns for trace in turn.traces if trace.trace_type == "user"]
        assert said == [line.text for line in session.happened if isinstance(line, User)]


def test_nothing_that_the_demo_leaves_is_of_another_time_than_the_story(played: Played) -> None:
    journal = [json.loads(line) for line in (played.home / "log/journal.jsonl").read_text().splitlines()]
    prompts = [json.loads(line) for line in (played.home / "log/prompts/main.jsonl").read_text().splitlines()]
    entries = [json.loads(path.read_text()) for path in played.home.glob("log/entries/*/*/meta.json")]
    times = [float(record["ts"]) for record in [*journal, *prompts, *entries] if "ts" in record]
    with somewhere(Path.cwd()):
        begin, end = (parse_when(day, start=True) for day in ("2025-02-11", "2025-09-10"))
    assert len(times) > 20
    assert [ts for ts in times if not begin < ts < end] == []
    assert [record["ts"] for record in journal] == sorted(record["ts"] for record in journal)
    pages = "".join(path.read_text() for path in played.home.glob("*.md"))
    assert "- Updated: 2025-09-09\n" in pages
    assert " on 2025-05-20, from " in (played.home / "facts/user-archive.md").read_text()


def test_a_page_can_be_read_as_it_was_after_a_session(memory: Memory) -> None:
    """An edit is found by its time: the demo's are those of the story."""
    assert "- Home: Lyon\n" in memory.history.page_at("USER.md", scenes.EARLIER).text
    assert not memory.history.page_at("USER.md", "2025-02-01").exists


def contents(home: Path) -> dict[str, bytes]:
    """All but what is made of chance on purpose, and of where it is: a key, a lock, the machine, the views."""
    files = (path for path in home.rglob("*") if path.is_file())
    named = {path.relative_to(home).as_posix(): path for path in files}
    made = (folder.MARK, "views/", "log/key", "log/lock", "log/machine")
    return {name: path.read_bytes() for name, path in named.items() if not name.startswith(made)}


def hashes(home: Path) -> str:
    """A line for each file of a demo: its hash and its path."""
    found = sorted(contents(home).items())
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in found)


def test_two_demos_are_the_same_to_the_byte(played: Played, again: Played) -> None:
    one, other = contents(played.home), contents(again.home)
    assert {"USER.md", "state.json", "log/journal.jsonl", "log/prompts/main.jsonl"} < one.keys()
    assert [name for name in one if one[name] != other.get(name)] == []
    assert one.keys() == other.keys()


def test_every_file_of_the_folder_is_the_golden_one(played: Played) -> None:
    """A change of the code that is not meant to change a memory changes no byte of this one."""
    assert hashes(played.home) == FOLDER.read_text("utf-8")


def test_the_facts_are_those_that_mira_said(memory: Memory) -> None:
    found = [fact for fact in memory.facts() if fact.level != "tainted"]
    facts = {f"{fact.topic}: {fact.relation}: {fact.object}" for fact in found}
    assert facts == {
        "user: Name: Mira Okafor",
        "user: Home: Lisbon",
        "user: Role: data engineer",
        "user: Employer: Bluefin",
        "user: Code language: English",
        "user: note: I discuss in French but write code in English, and I prefer pytest over unittest",
        "user: note: Never push to main without a review",
        "user: note: I moved from Lyon to Lisbon last week [the week of 2025-09-01]",
        "project: Database: DuckDB",
        "project: Deadline: 30 September 2025",
        "project: note: We decided to support Python 3.11 and newer only",
        "project: note: We decided to use DuckDB instead of SQLite: a month of logs takes too long to query",
    }
    assert {fact.level for fact in found} == {"said"}


def test_a_change_of_mind_and_a_move_replace_and_keep_the_history(memory: Memory) -> None:
    over = [fact for fact in memory.facts(status="superseded") if fact.level != "tainted"]
    before = {(fact.relation, fact.object) for fact in over}
    assert before == {("Home", "Lyon"), ("Employer", "Northwind"), ("Database", "SQLite")}
    then = {(fact.relation, fact.object) for fact in memory.facts(as_of=scenes.EARLIER)}
    assert before < then
    assert {"Lisbon", "Bluefin", "DuckDB"} & {value for _, value in then} == set()


def test_the_planted_rule_stands_apart_and_is_told_to_no_model_as_memory(
    played: Played, memory: Memory
) -> None:
    assert memory.facts(status="pending") == []
    (found,) = (fact for fact in memory.facts() if fact.level == "tainted")
    assert found.object == f"{PLANTED} (found by main on 2025-05-20, from fetch_url)"
    assert found.path == "facts/user-archive.md", "nothing used it from May to September"
    shown = played.after("show facts/user.md")
    assert f"## Found by agents\n- Rule: {PLANTED} (found by main" in shown
    top = [*played.home.glob("*.md"), played.home / "state.json", played.home / "facts/user.md"]
    assert not any(PLANTED in path.read_text() for path in top)
    prompt = memory.prompt(scenes.TASK, budget=scenes.BUDGET, dry_run=True)
    talk = prompt.text.index(MAY.happened[0].text)  # type: ignore[union-attr]
    assert PLANTED not in prompt.text[:talk]
    assert PLANTED in prompt.text[talk:]  # as what a page said, in the conversation
    assert "stands in a drawer (facts/user.md)" in played.after(f"turns --session {MAY.id}")


def test_a_compaction_loses_nothing_that_must_be_kept(played: Played) -> None:
    report = played.after("compact")
    counts = re.findall(r"^([\w ]+): (\d+) in, (\d+) out$", report, re.MULTILINE)
    assert {name: int(count) for name, count, _ in counts} == {
        "open tool calls": 0,
        "decisions": 1,
        "constraints": 1,
        "unresolved work": 1,
        "open questions": 0,
    }
    assert [each for each in counts if each[1] != each[2]] == []
    sizes = re.search(r"window: ([\d,]+) → ([\d,]+) tokens", report)
    assert sizes is not None
    before, after = (int(each.replace(",", "")) for each in sizes.groups())
    assert after < 0.6 * before


def test_questions_are_answered_as_of_now_and_of_then_or_not_at_all(played: Played) -> None:
    assert played.after('recall "Where do I live?" -k 1').startswith("1. Home: Lisbon\n")
    then = played.after(f'recall "Where do I live?" --as-of {scenes.EARLIER} -k 1')
    assert then.startswith("1. Home: Lyon\n")
    assert "Database: DuckDB" in played.after('recall "Which database do we use?" -k 1')
    assert "date bug" in played.after('recall "What did we learn about dates?" -k 1')
    assert played.after('recall "What is Mira\'s blood type?"').startswith("Nothing clearly bears on this")


def test_the_prompt_is_within_its_budget_and_each_part_has_a_reason(played: Played, memory: Memory) -> None:
    logged = memory.explain.replay().manifest
    assert logged.total_tokens <= logged.budget_tokens == scenes.BUDGET
    assert sum(item.tokens for item in logged.items) <= logged.total_tokens
    assert all(item.reason for item in logged.items)
    slots = {item.slot for item in logged.items}
    assert slots == {"charter", "profile", "state", "essentials", "index", "episodes", "window", "task"}
    shown = played.after(f'prompt "{scenes.TASK}" --budget {scenes.BUDGET} --explain')
    assert f"{logged.total_tokens:,} of {scenes.BUDGET:,} tokens" in played.output
    assert all(item.id in shown for item in logged.items)


def test_what_was_done_is_an_episode_of_its_month(played: Played) -> None:
    assert sorted(path.name for path in played.home.glob("episodes/*")) == ["2025-02.md", "2025-09.md"]
    titles = re.findall(
        r"^## (.*)$", "".join(map(Path.read_text, played.home.glob("episodes/*"))), re.MULTILINE
    )
    assert sorted(titles) == [
        "Fix the date bug in the parser first",
        "Write the importer for databases of version 0.4",
    ]


def test_every_file_is_drawn_or_counted(played: Played) -> None:
    drawn = folder.tree(str(played.home))
    assert drawn in played.output
    for path in played.home.rglob("*.md"):
        if path.relative_to(played.home).parts[0] not in ("log", "views"):
            assert path.name in drawn
    assert ".demo.json" not in drawn


def test_the_memory_is_sound_and_the_next_steps_are_commands(played: Played, memory: Memory) -> None:
    assert list(memory.check()) == []
    steps = [line for line in played.output.splitlines() if line.startswith("  looseleaf --memory ")]
    assert len(steps) == 4
    assert steps[-1].endswith(" serve")
    for step in steps:
        import shlex

        assert parse(shlex.split(step)[1:]).memory == "looseleaf-demo"


# --- where it is shown -------------------------------------------------------------------


def test_with_json_it_is_one_document(again: Played) -> None:
    told = json.loads(again.output)
    assert told["memory"] == str(again.home)
    assert [each["code"] for each in told["commands"]].count(scenes.ABSTAINED) == 1
    assert told["commands"][0]["command"] == "looseleaf init here"
    assert all(each["output"] for each in told["commands"])
    assert len(told["next"]) == 4


def test_on_a_terminal_it_is_coloured_and_ends_by_itself(tmp_path: Path) -> None:
    pexpect = pytest.importorskip("pexpect", reason="terminals are opened with pexpect")
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME", "LOOSELEAF_MACHINE") if name in os.environ
    }
    child = pexpect.spawn(
        sys.executable,
        ["-m", "looseleaf", "demo"],
        cwd=str(tmp_path),
        env=environment | {"TERM": "xterm-256color", "PYTHONDONTWRITEBYTECODE": "1"},
        dimensions=(50, 120),
        timeout=120,
        encoding="utf-8",
        use_poll=True,
    )
    child.expect(pexpect.EOF)
    child.close()
    seen = str(child.before)
    assert child.exitstatus == 0
    assert "\x1b[1;36m$ looseleaf distill\x1b[0m" in seen
    assert "Home: Lisbon" in seen
    assert (tmp_path / "looseleaf-demo/USER.md").exists()


def test_what_is_shown_can_be_typed_after_the_lines_that_it_names(played: Played) -> None:
    shell = re.findall(r"^export .*$", played.output, re.MULTILINE)
    assert shell == [f"export LOOSELEAF_HOME={played.home}"]
    asked = (
        f"cd /; {shell[0]}; {sys.executable} -m looseleaf recall 'Which database do we use?' -k 1 2>/dev/null"
    )
    answer = subprocess.run(
        asked, shell=True, capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]}
    )
    assert answer.stdout.startswith("1. project: Database: DuckDB\n")


def done(arguments: list[str]) -> int:
    print("done")
    return 0


def test_plain_output_is_no_terminal_even_on_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        assert terminal.isatty()
        with plain_output() as out:
            stage = Stage(done, out)
            stage.scene("A scene")
            stage.command("check")
        assert not terminal.closed
        terminal.write("after\n")
        terminal.flush()
        seen = ""
        while "after" not in seen:
            seen += os.read(ours, 4096).decode()
    os.close(ours)
    assert "$ looseleaf check\r\ndone\r\nafter\r\n" in seen
    assert "\x1b" not in seen


def test_colours_are_left_out_where_they_are_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def seen() -> str:
        out = Terminal()
        Stage(lambda arguments: 0, out).tell("A sentence.")
        return out.getvalue()

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1mA sentence." in seen()
    monkeypatch.setenv("NO_COLOR", "1")
    assert seen() == "\nA sentence.\n"


def test_commands_are_shown_as_a_shell_would_read_them() -> None:
    import shlex

    stage = Stage(lambda arguments: 0, None)
    odd = ["two words", "it's", 'a "quote"', "$HOME", "", "plain", "back\\slash"]
    for argument in odd:
        stage.command("recall", argument)
    assert [shlex.split(each.command) for each in stage.shown] == [
        ["looseleaf", "recall", each] for each in odd
    ]


def test_a_command_that_does_not_end_as_told_stops_the_demo() -> None:
    with pytest.raises(Refused, match=r"`looseleaf check` ended with 1 instead of 0"):
        Stage(lambda arguments: 1, None).command("check")


def test_who_stops_a_command_stops_the_demo() -> None:
    with pytest.raises(KeyboardInterrupt):
        Stage(lambda arguments: 130, None).command("check")


# --- the folder that it leaves -----------------------------------------------------------


def demo_of(path: Path) -> Path:
    """A small folder that a demo could have left."""
    path.mkdir()
    folder.begin(str(path))
    (path / "USER.md").write_text("# User Facts\n")
    (path / "views").mkdir()
    folder.end(str(path))
    return path


def test_a_demo_that_nobody_changed_is_made_again(tmp_path: Path) -> None:
    path = demo_of(tmp_path / "demo")
    (path / "views/index.sqlite").write_text("looking at it changes views")
    folder.make_room(str(path))
    assert not path.exists()


def test_a_demo_that_was_interrupted_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    folder.begin(str(tmp_path / "demo"))
    (tmp_path / "demo/USER.md").write_text("half\n")
    folder.make_room(str(tmp_path / "demo"))
    assert not (tmp_path / "demo").exists()


@pytest.mark.parametrize("change", ["edited", "added", "deleted"])
def test_a_demo_that_somebody_works_with_is_not_touched(tmp_path: Path, change: str) -> None:
    path = demo_of(tmp_path / "demo")
    match change:
        case "edited":
            (path / "USER.md").write_text("# User Facts\n\n- Name: Zhang San\n")
        case "added":
            (path / "facts.md").write_text("mine\n")
        case "deleted":
            (path / "USER.md").unlink()
    with pytest.raises(Refused, match="was changed"):
        folder.make_room(str(path))
    assert (path / folder.MARK).exists()


def test_a_changed_demo_stays_and_the_next_one_goes_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert folder.free_folder() == "looseleaf-demo"
    demo_of(tmp_path / "looseleaf-demo")
    assert folder.free_folder() == "looseleaf-demo", "it can be made again"
    for number in (2, 3):
        path = tmp_path / folder.free_folder()
        (path / "USER.md").write_text("- Name: Zhang San\n")
        assert folder.free_folder() == f"looseleaf-demo-{number}"
        demo_of(tmp_path / f"looseleaf-demo-{number}")


@pytest.mark.parametrize("mark", [None, "", "[]", '{"schema": "other.v1"}', "\udcff"])
def test_a_folder_that_is_no_demo_is_not_touched(tmp_path: Path, mark: str | None) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    if mark is not None:
        (tmp_path / folder.MARK).write_bytes(mark.encode("utf-8", "surrogateescape"))
    with pytest.raises(Refused, match="is not a demo"):
        folder.make_room(str(tmp_path))
    assert (tmp_path / "letter.txt").read_text() == "dear"


def test_an_empty_folder_and_none_are_free_and_a_file_is_not(tmp_path: Path) -> None:
    folder.make_room(str(tmp_path))
    folder.make_room(str(tmp_path / "new"))
    (tmp_path / "file").write_text("dear")
    with pytest.raises(Refused, match="is not a demo"):
        folder.make_room(str(tmp_path / "file"))


def test_where_no_memory_can_be_made_the_demo_says_so_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A memory does not stand within another one."""
    monkeypatch.chdir(tmp_path)
    init(str(tmp_path / "mine"))
    assert main(["demo", "mine/demo"]) == 2
    assert "The demo stopped: `looseleaf init mine/demo` ended with 2" in capsys.readouterr().err
    assert main(["demo", "mine/demo", "--json"]) == 2
    assert "Choose a folder outside it" in json.loads(capsys.readouterr().out)["error"]
    assert not (tmp_path / "mine/demo").exists()


def test_the_memory_of_the_reader_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from looseleaf.cli.demo import use_home

    monkeypatch.setenv("LOOSELEAF_HOME", "mine")
    with use_home("demo"):
        assert os.environ["LOOSELEAF_HOME"] == "demo"
    assert os.environ["LOOSELEAF_HOME"] == "mine"


@pytest.mark.parametrize(
    ("started", "typed"),
    [
        ("/usr/bin/looseleaf", "looseleaf"),
        (".venv/bin/looseleaf", ".venv/bin/looseleaf"),
        ("/a b/looseleaf", "'/a b/looseleaf'"),
        ("/lib/looseleaf/__main__.py", "looseleaf"),
    ],
)
def test_the_next_steps_name_the_program_that_is_running(
    monkeypatch: pytest.MonkeyPatch, started: str, typed: str
) -> None:
    from looseleaf.cli import demo

    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/looseleaf")
    monkeypatch.setattr(sys, "argv", [started])
    assert [step.startswith(f"{typed} --memory ") for step in demo.next_steps("demo")] == [True] * 4
    aliases = [line for line in demo.for_a_shell("demo") if line.startswith("alias looseleaf=")]
    assert len(aliases) == (typed != "looseleaf")


def test_the_package_can_be_installed_without_the_checkout() -> None:
    """What the demo needs is in the package: it runs where there is nothing else."""
    code = "from looseleaf.cli import demo; print(len(demo.SESSIONS))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, cwd="/"
    )
    assert done.stdout == "3\n"
    assert (FEBRUARY, MAY, SEPTEMBER) == SESSIONS


if __name__ == "__main__":
    os.environ[VARIABLE] = "here"  # as the tests have it: the journal names the machine
    with tempfile.TemporaryDirectory() as place:
        made = Played(Path(place) / "looseleaf-demo", play(Path(place)))
        GOLDEN.write_text(use_home(made), "utf-8")
        FOLDER.write_text(hashes(made.home), "utf-8")
