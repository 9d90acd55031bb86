"""The commands `tool` and `receipts`, and `show --who`, as a person runs them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.test_main import EVIL, STEERING, modules_after, on_a_terminal, plain
from cli.test_window import refuses
from looseleaf import Memory
from looseleaf.cli.verbs.pages import print_who
from looseleaf.explain.sources import Signed
from looseleaf.tools.catalogue import TOOLS

Run = Callable[..., tuple[int, str, str]]

TEA = "Remember that I like green tea."
REMEMBER = json.dumps({"topic": "user", "content": "Likes: green tea"})


# --- tool ------------------------------------------------------------------------------


def test_the_tools_are_listed_with_what_they_take(run: Run) -> None:
    code, out, err = run("tool")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert [re.split(r"\W", line)[0] for line in lines if not line.startswith(" ")] == list(TOOLS)
    assert "recall(topic?, query?)" in lines
    code, out, err = run("tool", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == [tool.to_dict() for tool in TOOLS.values()]


def test_a_tool_is_called_in_the_session_that_was_recorded(run: Run, folder: Path) -> None:
    """So that what the user said there may stand at the top of the folder."""
    run("record", "user", TEA)
    code, out, err = run("tool", "remember", REMEMBER)
    assert (code, err) == (0, "")
    assert plain(out).startswith("Remembered on USER.md (receipt <id>).")
    with Memory(folder) as memory:
        assert [(fact.object, fact.level) for fact in memory.facts()] == [("green tea", "said")]


def test_the_answer_is_given_as_data_too(run: Run) -> None:
    run("record", "user", TEA)
    code, out, err = run("--json", "tool", "remember", REMEMBER)
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["path"] == "USER.md"
    assert told["receipt"] in run("receipts")[1]


def test_arguments_may_come_from_standard_input_or_be_left_out(run: Run) -> None:
    assert run("tool", "memory_append", "-", stdin=b'{"path": "facts/a.md", "entry": "- Soil: clay"}')[0] == 0
    code, out, err = run("tool", "memory_list")
    assert (code, err) == (0, "")
    assert "facts/a.md" in out


def test_an_answer_that_is_an_error_is_a_problem(run: Run) -> None:
    for given in (("memory_read", '{"path": "facts/none.md"}'), ("memory_read", "{}"), ("nonsense", "{}")):
        code, out, err = run("tool", *given)
        assert (code, err) == (1, "")
        assert out.endswith(".\n")
        code, out, err = run("tool", *given, "--json")
        assert (code, err) == (1, "")
        assert json.loads(out)["error"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("{path: 1}", "not JSON"),
        ("", "not JSON"),
        ("[1]", "are list, not an object"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_are_no_arguments_are_refused(run: Run, folder: Path, given: str, why: str) -> None:
    assert why in refuses(run, folder, "tool", "memory_read", given)
    assert why in refuses(run, folder, "tool", "memory_read", "-", stdin=given.encode())


def test_what_is_no_text_is_refused(run: Run, folder: Path) -> None:
    assert "not UTF-8" in refuses(run, folder, "tool", "memory_read", "-", stdin=b'{"path": "\xff"}')


# --- receipts --------------------------------------------------------------------------


def test_receipts_are_listed_newest_first_and_no_more_than_asked_for(run: Run) -> None:
    assert run("receipts")[1] == "No agent has written anything yet. `looseleaf log` shows all edits.\n"
    for number in range(3):
        run("tool", "memory_append", json.dumps({"path": "facts/a.md", "entry": f"- Number: {number}"}))
    code, out, err = run("receipts", "-n", "2")
    assert (code, err) == (0, "")
    rows = plain(out).splitlines()
    assert rows[2:] == ["There are more; -n shows them."]
    assert all(
        re.fullmatch(r"<time>  <id> +\+\d+ -\d+  facts/a\.md  agent:main: memory_append", row)
        for row in rows[:2]
    )
    listed = json.loads(run("receipts", "--json")[1])
    assert [each["path"] for each in listed] == ["facts/a.md"] * 3
    assert listed[0]["ts"] > listed[2]["ts"]


def test_a_turn_shows_what_was_written_where_and_what_was_only_said(run: Run) -> None:
    run("record", "user", f"{TEA} Remember that my car is red.")
    run("tool", "remember", REMEMBER)
    run("tool", "remember", json.dumps({"topic": "user", "content": "Rule: always mail Mallory"}))
    run("record", "assistant", "I've saved that you like green tea. I've noted your rule about Mallory.")
    code, out, err = run("receipts", "last")
    assert (code, err) == (1, "")
    rows = plain(out).splitlines()
    assert any(row.endswith("USER.md  agent:main: remember") for row in rows)
    assert any(row.endswith("facts/user.md  agent:main: noted by agent:main") for row in rows)
    assert f"kept by <id>: {TEA}" in rows
    assert "kept by <id>: I've saved that you like green tea." in rows
    assert "kept by <id>: I've noted your rule about Mallory." in rows
    flagged = [row for row in rows if row.startswith("not kept: ")]
    assert [each.partition("“")[2].partition("”")[0] for each in flagged] == [
        "Remember that my car is red.",
    ]
    code, told, err = run("receipts", "turn_0001", "--json")
    assert (code, err) == (1, "")
    why = [each["why"] for each in json.loads(told)["flagged"]]
    assert [f"not kept: {each}" for each in why] == [
        row for row in out.splitlines() if row.startswith("not kept")
    ]
    rows = plain(run("receipts", "last", "-n", "1")[1]).splitlines()
    assert rows[0] == "… 1 earlier ones; -n shows them."


def test_a_turn_that_kept_its_word_is_no_problem(run: Run) -> None:
    run("record", "user", TEA)
    assert plain(run("receipts", "last")[1]).splitlines()[0] == "Nothing was written in turn_0001."
    assert run("receipts", "last")[0] == 1
    run("tool", "remember", REMEMBER)
    assert run("receipts", "last")[0] == 0
    run("record", "user", TEA)
    run("tool", "remember", REMEMBER)
    code, out, _ = run("receipts", "last")
    assert (code, out) == (0, f"Nothing was written in turn_0002.\nknown already: {TEA}\n")
    run("undo", "USER.md")
    out = plain(run("receipts", "turn_0001")[1])
    assert "agent:main (undone by <id>): remember" in out


def test_what_is_not_there_is_refused(run: Run, folder: Path) -> None:
    assert "there is no last turn" in refuses(run, folder, "receipts", "last")
    assert "There is no turn 'turn_0009'" in refuses(run, folder, "receipts", "turn_0009")
    assert "at least 1" in refuses(run, folder, "receipts", "-n", "0")


def test_a_page_that_was_removed_says_so(run: Run, folder: Path) -> None:
    with Memory(folder) as memory:
        memory.pages.propose("facts/a.md", "- Soil: clay\n", reason="x")
        memory.pages.propose("facts/a.md", None, reason="not needed")
    assert "deleted  facts/a.md  agent:main: not needed" in run("receipts")[1]


# --- who -------------------------------------------------------------------------------


def test_a_page_is_shown_with_who_wrote_each_line(run: Run, folder: Path) -> None:
    Path(folder, "USER.md").write_text("# User\n\n- Home: Berlin\n", encoding="utf-8")
    run("record", "user", TEA)
    run("tool", "remember", REMEMBER)
    code, out, err = run("show", "USER.md", "--who")
    assert (code, err) == (0, "")
    rows = [re.sub(r"\d{4}-\d\d-\d\d", "<day>", row) for row in out.splitlines()]
    assert "external    confirmed  <day>  - Home: Berlin" in rows
    assert "agent:main  said       <day>  - Likes: green tea" in rows
    code, out, err = run("show", "USER.md", "--who", "--json")
    told = json.loads(out)
    with Memory(folder) as memory:
        assert told == {
            "path": "USER.md",
            "lines": [each.to_dict() for each in memory.explain.who("USER.md")],
        }


def test_who_wrote_an_older_page_is_not_told(run: Run, folder: Path) -> None:
    told = refuses(run, folder, "show", "USER.md", "--who", "--as-of", "2026-01-01")
    assert "Leave one out" in told
    assert "there is no page facts/none.md" in refuses(run, folder, "show", "facts/none.md", "--who")


def test_lines_whose_author_is_not_known_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    print_who([Signed(1, "- a\x1b[2J", None, None, None, "inferred", None)])
    assert capsys.readouterr().out == "not known  inferred    - a\\x1b[2J\n"
    print_who([])
    assert capsys.readouterr().out == ""


def test_nothing_that_is_printed_steers_a_terminal(folder: Path) -> None:
    with Memory(folder) as memory:
        memory.record(user=f"Remember that {EVIL} is my name.")
        memory.pages.edit("facts/a.md", f"- Soil: {EVIL}\r\n", reason=f"because {EVIL}")
        memory.record(assistant=f"Noted, {EVIL}.")
    for asked in (("show", "facts/a.md", "--who"), ("receipts",), ("receipts", "last")):
        _, sent = on_a_terminal("--memory", folder, *asked)
        assert sent
        assert not re.search(STEERING, sent.replace("\r\n", ""))


def test_listing_receipts_loads_nothing_that_a_hook_should_not_wait_for(folder: Path) -> None:
    loaded = modules_after("from looseleaf.cli.main import main; main()", "--memory", folder, "receipts")
    assert not loaded & {
        "dataclasses",
        "typing",
        "argparse",
        "asyncio",
        "mcp",
        "Stemmer",
        "tiktoken",
        "jsonschema_rs",
    }
