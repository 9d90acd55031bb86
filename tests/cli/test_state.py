"""The commands of the state, as a person runs them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cli.test_main import EVIL, STEERING, modules_after, snapshot
from cli.test_window import refuses
from looseleaf.memory import Memory
from tables import check_rows

Run = Callable[..., tuple[int, str, str]]

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
ULID = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")


def told(run: Run, *arguments: str) -> str:
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    return ULID.sub("<id>", MOMENT.sub("<time>", out))


def state_of(run: Run) -> dict[str, Any]:
    found = json.loads(told(run, "state", "--json"))
    assert isinstance(found, dict)
    return found


def fill(run: Run) -> None:
    for command in (
        ["set", "goal", "Ship, at last"],
        ["set", "now", "Testing"],
        ["set", "conventions.language", "Python"],
        ["task", "add", "Write the importer"],
        ["task", "add", "Write docs"],
        ["decide", "Use tea", "--why", "It is hot"],
        ["block", "No power"],
    ):
        assert run("state", *command)[0] == 0


def test_an_empty_memory_has_a_state_that_says_nothing(run: Run, folder: Path) -> None:
    before = snapshot(folder)
    assert told(run, "state") == "The state is empty. `looseleaf state set goal TEXT` begins it.\n"
    assert told(run, "state", "--toon") == ""
    assert state_of(run) == {
        "schema_version": 1,
        "goal": "",
        "now": "",
        "decisions_recent": [],
        "tasks_open": [],
        "conventions": {},
        "blockers": [],
    }
    changed = {path for path, data in snapshot(folder).items() if before.get(path) != data}
    assert not {path for path in changed if "views" not in str(path) and "log" not in str(path)}


def test_what_is_set_is_shown_as_a_table_as_toon_and_as_json(run: Run) -> None:
    fill(run)
    assert told(run, "state") == (
        "goal: Ship, at last\n"
        "now:  Testing\n"
        "decisions:\n"
        "  D-1  <time>  Use tea\n"
        "      why: It is hot\n"
        "tasks:\n"
        "  T-1  open  Write the importer\n"
        "  T-2  open  Write docs\n"
        "conventions:\n"
        "  language  Python\n"
        "blockers:\n"
        "  1  No power\n"
    )
    assert told(run, "state", "--toon") == (
        'goal: "Ship, at last"\n'
        "now: Testing\n"
        "decisions_recent[1]{id,title,ts}:\n"
        "  D-1,Use tea,<time>\n"
        "tasks_open[2]{id,title,status}:\n"
        "  T-1,Write the importer,open\n"
        "  T-2,Write docs,open\n"
        "conventions:\n"
        "  language: Python\n"
        "blockers[1]: No power\n"
    )
    assert state_of(run)["decisions_recent"][0]["why"] == "It is hot"


def test_each_change_is_told_and_is_a_persons(run: Run, folder: Path) -> None:
    assert told(run, "state", "set", "goal", "Ship") == "state.json says it now (<id>).\n"
    assert told(run, "state", "set", "goal", "Ship") == "Nothing was changed: the state says that already.\n"
    assert told(run, "state", "task", "add", "Write") == "T-1 is open: Write\n"
    assert told(run, "state", "decide", "Use tea") == "D-1 is decided: Use tea\n"
    assert told(run, "state", "task", "done", "write") == "It is done, and an episode now: write\n"
    receipt = json.loads(told(run, "state", "block", "No power", "--json"))
    assert (receipt["path"], receipt["changed"]) == ("state.json", True)
    told(run, "state", "unblock", "1")
    assert state_of(run)["blockers"] == []
    with Memory(folder) as memory:
        assert {edit.author for edit in memory.history.edits("state.json")} == {"person"}
        assert [each.title for page in memory.pages.list() for each in memory.pages.read(page).episodes] == [
            "Write"
        ]


def test_an_empty_value_clears(run: Run) -> None:
    fill(run)
    told(run, "state", "set", "goal", "")
    told(run, "state", "set", "conventions.language", "")
    found = state_of(run)
    assert (found["goal"], found["conventions"]) == ("", {})


REFUSED = [
    (("set", "colour", "red"), "'colour' is not a field to set"),
    (("set", "goal"), "write `looseleaf state set FIELD VALUE`"),
    (("set",), "write `looseleaf state set FIELD VALUE`"),
    (("task", "add"), "write `looseleaf state task add TITLE`"),
    (("task", "drop", "x"), "write `looseleaf state task add TITLE`"),
    (("task", "done", "nothing"), "no open task is called 'nothing'"),
    (("task", "done", "write"), "could be any of T-1 (Write the importer), T-2 (Write docs)"),
    (("decide",), "write `looseleaf state decide TITLE`"),
    (("decide", "a", "b"), "write `looseleaf state decide TITLE`"),
    (("decide", " "), "the decision is empty"),
    (("block",), "write `looseleaf state block TEXT`"),
    (("unblock", "7"), "There are: 1 No power"),
    (("restore",), "state.json is sound"),
    (("restore", "it"), "write `looseleaf state restore`"),
    (("block", "x", "--why", "y"), "--why goes with `decide`"),
    (("decide", "x", "--toon"), "--toon only shows the state"),
    (("--toon", "--json"), "--json and --toon exclude each other"),
]


def test_what_cannot_be_done_is_one_sentence(run: Run, folder: Path) -> None:
    def check(arguments: tuple[str, ...], sentence: str) -> None:
        fill(run)
        if "--json" in arguments:
            assert sentence in run("state", *arguments)[2]
        else:
            assert sentence in refuses(run, folder, "state", *arguments)

    check_rows(check, REFUSED)


def test_a_broken_file_is_named_checked_and_restored(run: Run, folder: Path) -> None:
    fill(run)
    good = (folder / "state.json").read_text()
    (folder / "state.json").write_text('{"goal": "Ship",\n"now": 3}\n')
    code, out, err = run("state")
    assert code == 0
    assert "goal: Ship, at last" in out
    assert err.startswith(
        "looseleaf: state.json was not read: in line 2, column 1, this is not a state (`now`: "
    )
    assert "`looseleaf state restore` brings back the version of " in err
    code, out, err = run("state", "--json")
    assert code == 2
    assert "line 2" in json.loads(out)["error"]
    assert run("state", "set", "goal", "x")[0] == 2
    code, out, _ = run("check")
    assert code == 1
    assert "state.json:2: this is not a state" in out
    assert "`looseleaf state restore` brings back the version of " in out
    assert told(run, "state", "restore").startswith("The last sound version is back.")
    assert (folder / "state.json").read_text() == good
    assert run("check")[0] == 0


def test_no_text_steers_the_terminal_or_passes_for_a_line(run: Run, folder: Path) -> None:
    (folder / "state.json").write_text(
        json.dumps(
            {"goal": EVIL, "tasks_open": [{"id": EVIL, "title": EVIL}], "blockers": [f"x\n{EVIL}\ntasks:"]}
        )
    )
    out = told(run, "state")
    assert not STEERING.search(out.replace("\n", ""))
    assert out.count("\ntasks:\n") == 1
    assert len(out.splitlines()) == 5


def test_showing_the_state_loads_nothing_heavy(run: Run, folder: Path) -> None:
    fill(run)
    code = "from looseleaf.cli.main import main\nmain(sys.argv[1:])"
    loaded = modules_after(code, "--memory", folder, "state")
    assert not loaded & {
        "jsonschema_rs",
        "splintr",
        "toons",
        "argparse",
        "dataclasses",
        "looseleaf.place.tidy",
    }


def test_the_goal_is_what_was_asked_for_and_no_rule_for_all_that_follows(run: Run) -> None:
    run("record", "user", "Write code in English. Please fix the parser of the importer.")
    run("distill")
    state = state_of(run)
    assert (state["goal"], state["now"]) == ("Please fix the parser of the importer.",) * 2
