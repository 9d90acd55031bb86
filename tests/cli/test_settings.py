"""The verb `settings`, in a folder as well as in a database: what is printed, what is refused, what is replaced."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from looseleaf.base.errors import Refused
from looseleaf.cli.main import main
from looseleaf.cli.output import read_input
from looseleaf.memory import Memory
from looseleaf.pages.folder import init, open_store, settings
from looseleaf.store.context import shown_name
from postgres import Running

Call = Callable[..., tuple[int, str, str]]
NONE = "# There is no looseleaf.toml in this memory: the defaults hold.\n"
READ = "looseleaf.cli.verbs.settings.read_input"


@pytest.fixture(params=["folder", "database"])
def where(request: pytest.FixtureRequest, folder: Path) -> str:
    if request.param == "folder":
        return str(folder)
    running: Running = request.getfixturevalue("postgres")
    address = running.memory()
    init(address)
    return address


@pytest.fixture
def call(where: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(["--memory", where, "settings", *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_what_is_printed_can_be_changed_and_given_back(call: Call, where: str, place: Path) -> None:
    code, out, err = call()
    assert (code, out) == (0, NONE)
    assert "settings FILE` checks a file and makes it the settings." in err
    text = out.encode() + b"# a comment of mine\r\nshared = true\n\n[agents.main]\ntail_turns = 7\n"
    (place / "new.toml").write_bytes(text)
    written = (
        f"looseleaf.toml of {shown_name(where)} is written. Restart open sessions and servers to apply it.\n"
    )
    assert call(str(place / "new.toml")) == (0, written, "")
    assert call() == (0, text.decode(), "")
    assert settings(where).shared
    assert settings(where, "main").tail_turns == 7
    same = f"looseleaf.toml of {shown_name(where)} says so already; nothing was changed.\n"
    assert call("-", stdin=text) == (0, same, "")
    assert call("-", stdin=b"")[0] == 0
    assert call() == (0, "", "")
    assert not settings(where).shared


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            b"sharde = true",
            (
                "The settings were not changed: standard input sets 'sharde', which is not a setting. Did you mean "
                "`shared`? Fix that line, or delete it."
            ),
        ),
        (
            b"shared = 1",
            (
                "The settings were not changed: in standard input, `shared` must be true or false, not 1. Fix that "
                "line, or delete it to use the default, False."
            ),
        ),
        (
            b"shared",
            "The settings were not changed: standard input could not be read (Expected '=' after a key",
        ),
        (b"\xff", "The settings were not changed: standard input could not be read ('utf-8' codec"),
        (b"#" * 3_000_000, "The settings were not changed: standard input is larger than"),
    ],
)
def test_settings_with_which_it_would_not_open_are_refused(call: Call, text: bytes, says: str) -> None:
    code, out, err = call("-", stdin=text)
    assert (code, out) == (2, "")
    assert err.startswith(f"looseleaf: {says}")
    assert call()[1] == NONE


def test_settings_that_cannot_be_read_are_printed_and_replaced(call: Call, where: str) -> None:
    """Also where no other verb opens the memory."""
    with closing(open_store(where)) as store:
        store.put("looseleaf.toml", b"sharde = true\n", base=None)
    with pytest.raises(Refused, match="sharde"):
        Memory(where)
    assert call()[1] == "sharde = true\n"
    assert call("-", stdin=b"shared = true\n")[0] == 0
    assert call()[1] == "shared = true\n"


def test_what_was_changed_meanwhile_is_not_replaced(
    call: Call, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("-", stdin=b"shared = true\n")
    changed = []

    def read_and_change(path: str | None, done: str) -> bytes:
        data = read_input(path, done)
        monkeypatch.setattr(READ, read_input)
        changed.append(main(["--memory", where, "settings", str(other)]))
        return data

    other = Path("other.toml")
    other.write_text("tail_turns = 9\n")
    monkeypatch.setattr(READ, read_and_change)
    code, _, err = call("-", stdin=b"tail_turns = 8\n")
    assert changed == [0]
    assert code == 2
    assert "looseleaf.toml was not changed: it is no longer what you read" in err
    assert call()[1] == "tail_turns = 9\n"


def test_a_layer_that_is_not_there_is_named_at_once(call: Call, where: str) -> None:
    code, _, err = call("-", stdin=b'over = ["teams/herron"]\n')
    assert code == 0
    assert "The layer 'teams/herron' was left out: " in err


def test_a_layer_of_a_database_is_named_by_its_namespace(
    postgres: Running, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """As TEAMS.md says: `over = ["teams/heron"]` in `people/mira`."""
    database = postgres.database()
    team, own = (postgres.address(database, namespace=name) for name in ("teams/heron", "people/mira"))
    for each in (team, own):
        init(each)
    for each, text in ((team, "shared = true\n"), (own, 'over = ["teams/heron"]\n')):
        (tmp_path / "new.toml").write_text(text)
        assert main(["--memory", each, "settings", str(tmp_path / "new.toml")]) == 0
    assert capsys.readouterr().err == ""
    with Memory(own) as memory:
        assert [layer.path for layer in memory.parts.layers.found] == [shown_name(team)]  # type: ignore[union-attr]


def test_json_is_one_value(call: Call, where: str) -> None:
    _, out, _ = call("--json")
    assert json.loads(out) == {"path": "looseleaf.toml", "memory": shown_name(where), "text": None}
    _, out, _ = call("-", "--json", stdin=b"tail_turns = 8\n")
    assert json.loads(out) == {"path": "looseleaf.toml", "memory": shown_name(where), "written": True}
    _, out, _ = call("--json")
    assert json.loads(out)["text"] == "tail_turns = 8\n"


def test_without_a_memory_nothing_is_made(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--memory", str(place / "nowhere"), "settings", "-"]) == 2
    assert "there is no memory at" in capsys.readouterr().err
    assert not (place / "nowhere").exists()
