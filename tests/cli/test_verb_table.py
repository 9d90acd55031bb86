"""What holds for every verb: help with examples that can be given, an explained option, one JSON value for --json."""

from __future__ import annotations

import json
import shlex
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf.base import ids as clock
from looseleaf.cli.arguments import nearest
from looseleaf.cli.main import main
from looseleaf.cli.verb_table import SHARED, VERBS
from looseleaf.memory import Memory
from looseleaf.pages.folder import init

if TYPE_CHECKING:
    from conftest import Run

FEBRUARY = 1_771_322_400.0
"""2026-02-17, ten o'clock in the morning (UTC): some days before the day that examples name."""

ON_ITS_OWN = {"demo"}
"""Verbs that take seconds, and have tests of their own for all of this."""


def fill(path: Path) -> None:
    """A memory in which every example has something to show."""
    with clock.at(FEBRUARY, "examples"):
        init(str(path))
        with Memory(path) as memory:
            user = "# User Facts\n\n> Summary: user name, home\n\n- Name: Ada\n- Home: London\n"
            memory.pages.edit("USER.md", user, author="person", reason="met Ada")
            memory.pages.edit("facts/garden.md", "# Garden\n\n- Soil: clay\n", author="person", reason="seen")
    with Memory(path) as memory:
        for number in range(17):
            memory.record(user=f"Row {number} of the garden is for beans.", ts=FEBRUARY + 60 * number)
            memory.record(assistant="I see.", ts=FEBRUARY + 60 * number + 1)
        memory.record(user="Project Nightingale is secret.")
        memory.record(user="I always want English code.")
        memory.distill("I work at Acme. I am allergic to nuts.")[0]
        memory.prompt("Write the parser.")
    (path / "recall.tests.toml").write_text('[[test]]\nquestion = "soil garden clay"\ncontains = "clay"\n')
    (path.parent / "looseleaf.toml").write_text("tail_turns = 6\n")
    (path.parent / "notes.txt").write_text("My garden has a pond.\n")
    for name, soil in (("base", "clay"), ("ours", "sand"), ("theirs", "clay")):
        (path.parent / f"{name}.md").write_text(f"# Garden\n\n- Soil: {soil}\n- {name}\n")
    said = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    (path.parent / "chat.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in said))
    shutil.copytree(path, path.parent / "copy")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("filled")
    fill(place / "memory")
    return place


@pytest.fixture
def prepared(filled: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, where `folder` would be. No provider of a model is named there."""
    shutil.rmtree(folder)
    shutil.copytree(filled, folder.parent, dirs_exist_ok=True)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    return folder


def examples() -> Iterator[tuple[str, str]]:
    for verb, (_, _, _, example) in VERBS.items():
        yield from ((verb, each) for each in example.split("\n"))


WAITS = "f_1f2e3d4c"
"""A fact that waits, as examples name it."""

OTHERWISE = {
    "database": ["check", "postgresql://127.0.0.1:1/nowhere"],
    "chat": ["--model", "nobody/nothing"],
    "import": ["chat.jsonl", "--dry-run"],
    "merge": ["copy", "--dry-run"],
    "move": ["copy", "postgresql://127.0.0.1:1/nowhere"],
    "sync": ["copy"],
    "worker": ["--postgres", "postgresql://127.0.0.1:1/nowhere", "--once"],
}
"""What is given instead, where an example names what only its reader has."""


def words_of(verb: str, example: str, waiting: str) -> list[str]:
    if verb in OTHERWISE:
        return [verb, *OTHERWISE[verb]]
    return [waiting if word == WAITS else word for word in shlex.split(example)]


def waiting(path: Path) -> str:
    with Memory(path) as memory:
        found = memory.facts(status="pending")
        return found[0].id or "" if found else WAITS


REFUSED = {
    "chat": "is not a provider",
    "mcp": "--json",
    "serve": "--json",
    "login": "no server of this memory runs",
    "database": "cannot be reached",
    "move": "cannot be reached",
    "worker": "cannot be reached",
    "hook": "there is no terminal to ask",
}
"""Verbs whose examples want a person or a model there: each is refused with a sentence that says so."""


def test_every_example_does_what_it_says(prepared: Path, run: Run) -> None:
    """One after the other, on the same memory: none of them may need what another one has not left."""
    codes = {}
    for verb, example in examples():
        if verb in ON_ITS_OWN or verb in ("mcp", "serve"):  # a server does not end by itself
            continue
        code, out, err = run(*words_of(verb, example, waiting(prepared)))
        if verb in REFUSED:
            assert (code, out if verb != "hook" else "") == (2, ""), example
            assert REFUSED[verb] in err
            continue
        codes[example] = code
        assert out, example
    assert {example: code for example, code in codes.items() if code} == {}


# --- help ------------------------------------------------------------------------------


def test_every_option_and_argument_says_what_it_is() -> None:
    silent = [
        f"{verb} {name}"
        for verb, (_, _, own, _) in VERBS.items()
        for name, known in (own | SHARED).items()
        if not str(known.get("help", "")).strip()
    ]
    assert silent == []


def test_the_same_option_means_the_same_everywhere() -> None:
    """Whether it takes a value, and of which type: who knows one verb knows the others."""
    shapes: dict[str, set[tuple[Any, Any]]] = {}
    for _, _, own, _ in VERBS.values():
        for name, known in own.items():
            if name.startswith("-"):
                shapes.setdefault(name, set()).add((known.get("action"), known.get("type")))
    assert {name: found for name, found in shapes.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    ("word", "verb"),
    [
        ("recal", "recall"),
        ("serach", "recall"),
        ("delete", "forget"),
        ("REMEMBER", "remember"),
        ("xyzzy", None),
    ],
)
def test_the_nearest_verb_is_found_by_spelling_and_by_meaning(word: str, verb: str | None) -> None:
    assert nearest(word) == verb


def test_every_word_that_is_taken_for_a_verb_is_none_and_means_one() -> None:
    from looseleaf.cli.arguments import MEANT

    assert not MEANT.keys() & VERBS.keys()
    assert set(MEANT.values()) <= VERBS.keys() | {"", "--help", "--version"}


# --- JSON ------------------------------------------------------------------------------


def one_value(out: str) -> Any:
    """The JSON value that a text is; it is exactly one."""
    return json.loads(out)


@pytest.mark.parametrize("state", ["filled", "empty", "nowhere"])
def test_every_verb_prints_one_json_value(
    state: str, prepared: Path, place: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    if state != "filled":
        shutil.rmtree(prepared)
    if state == "empty":
        init(str(prepared))
    seen = {}
    for verb, example in examples():
        if verb in ON_ITS_OWN:
            continue
        words = words_of(verb, example, waiting(prepared) if state == "filled" else WAITS)
        code, out, err = run(*words, "--json")
        told = one_value(out)
        seen[verb] = code
        if code == 2:
            assert list(told) == ["error"], verb
            assert err == f"looseleaf: {told['error']}\n"
        else:
            assert not err.startswith("Next: "), verb
    if state == "filled":
        assert sorted(verb for verb, code in seen.items() if code == 2) == [
            "chat",
            "database",
            "hook",
            "login",
            "mcp",
            "move",
            "serve",
            "worker",
        ]
    if state == "nowhere":
        at_ease = {"init", "completion", "doctor", "tool", "hook"}
        assert {verb for verb, code in seen.items() if code != 2} <= at_ease | set(VERBS)


def test_an_event_of_a_hook_is_one_json_value_too(prepared: Path, run: Run) -> None:
    given = json.dumps({"session_id": "s", "prompt": "hello"}).encode()
    code, out, _ = run("hook", "user-prompt", "--json", stdin=given)
    assert (code, isinstance(one_value(out), dict)) == (0, True)
    code, out, _ = run("hook", "install", "--claude", "--yes", "--json")
    assert (code, one_value(out)["written"]) == (0, True)
    code, out, _ = run("hook", "install", "--claude", "--yes", "--json")
    assert (code, one_value(out)["written"]) == (0, False)
    assert "has them already" in run("hook", "install", "--claude")[1]


# --- without a verb --------------------------------------------------------------------


def test_alone_it_says_where_the_memory_is_and_what_to_do_next(prepared: Path, run: Run) -> None:
    code, out, err = run()
    assert code == 0
    first, pages, facts, session, review = out.splitlines()
    assert first == str(prepared)
    today = time.strftime("%Y-%m-%d")
    assert pages == f"  pages    4: USER.md, facts/garden.md, days/{today}.md, review/pending.md"
    assert facts == "  facts    3 in 2 topics"
    assert session.endswith(" 19 turns: Row 0 of the garden is for beans.")
    assert review == "  review   2 waiting for your yes"
    assert err == "Next: `looseleaf review` goes through the facts that wait for your yes.\n"
    told = one_value(run("--json")[1])
    assert (told["memory"], told["waiting"]) == (str(prepared), 2)


def test_alone_the_next_step_follows_from_what_there_is(run: Run) -> None:
    assert "`looseleaf remember" in run()[2]
    run("record", "user", "I live in Lyon.")
    assert run()[2] == "Next: `looseleaf distill` makes facts of what was said.\n"
    run("distill")
    assert run()[2].startswith('Next: `looseleaf recall "…"` finds; ')


def test_alone_where_there_is_no_memory_it_says_what_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("looseleaf is a memory for LLM agents: ")
    assert out.endswith("There is no memory here, above, or at ~/.looseleaf.\n")
    assert err.startswith("Next: `looseleaf init` makes a memory here; ")
    assert len(out.splitlines()) < 5
    assert main(["--json"]) == 0
    assert one_value(capsys.readouterr().out)["memory"] is None
    assert main(["--memory", "nowhere"]) == 2
    assert "there is no memory at nowhere" in capsys.readouterr().err


def test_a_next_step_names_the_memory_that_was_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path, named in (
        ("my memory", "--memory 'my memory' "),
        ("~/other", "--memory '~/other' "),
        (None, ""),
    ):
        given = ["--memory", path] if path is not None else []
        monkeypatch.setenv("HOME", str(tmp_path))
        assert main([*given, "init"]) == 0
        capsys.readouterr()
        assert main([*given, "facts"]) == 0
        assert main([*given]) == 0
        err = capsys.readouterr().err
        assert f"Next: `looseleaf {named}remember " in err
        assert f"; `looseleaf {named}doctor` checks" in err
