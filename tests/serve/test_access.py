"""Who may come in: what is kept of a token opens nothing, nor does what has ended; only the owner reads the file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.serve import access as access_module
from looseleaf.serve.access import (
    CODE_SECONDS,
    EVERY,
    PERSON,
    SCOPES,
    VISIT_SECONDS,
    Access,
    Token,
    access_folder,
)
from looseleaf.serve.state import replace


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def access(tmp_path: Path, clock: Clock) -> Access:
    return Access(str(tmp_path / "access"), clock)


def test_a_token_is_shown_once_and_only_its_hash_is_kept(access: Access, clock: Clock) -> None:
    made, secret = access.make_token(
        "codex", ["mira"], ["write", "read"], agent="codex", voice="user", expires=2e6
    )
    assert secret.startswith(f"ll_{made.id}_")
    assert made == Token(made.id, "codex", ("mira",), ("read", "write"), "codex", "user", clock.now, 2e6)
    kept = Path(access.folder, "access.json").read_text()
    assert secret not in kept
    assert secret.split("_")[2] not in kept
    assert access.tokens() == [made]
    assert Access(access.folder, clock).token_of(secret) == made
    assert access.token_of(secret[:-1]) is None
    assert access.token_of("") is None


@given(st.text())
def test_no_other_text_is_a_token(text: str) -> None:
    access = Access("/nonexistent")
    assert access.token_of(text) is None
    assert not access.is_visit(text)
    assert not access.is_code(text)
    assert access.tokens() == []


def test_a_token_that_ended_or_was_revoked_opens_nothing(access: Access, clock: Clock) -> None:
    made, secret = access.make_token("a", ["mira"], ["read"], expires=clock.now + 10)
    other, kept = access.make_token("b", ["mira"], ["read"])
    clock.now += 10
    assert access.token_of(secret) is None
    assert [each.id for each in access.tokens()] == [made.id, other.id], "a list can say that it has ended"
    assert access.token_of(kept) == other
    assert access.revoke(other.id) == other
    assert access.token_of(kept) is None
    with pytest.raises(NotFound):
        access.revoke(other.id)


def test_a_token_sees_and_may_what_it_names(access: Access) -> None:
    token, _ = access.make_token("a", ["mira"], ["read"])
    assert token.sees("mira")
    assert not token.sees("noa")
    assert not token.sees(EVERY)
    assert [scope for scope in SCOPES if token.may(scope)] == ["read"]
    assert PERSON.sees("anything")
    assert all(PERSON.may(scope) for scope in SCOPES)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"scopes": []}, "one or more"),
        ({"scopes": ["root"]}, "the scopes are"),
        ({"memories": []}, "name its memories"),
        ({"voice": "person"}, "the voice is"),
        ({"expires": 1.0}, "ended already"),
    ],
)
def test_a_token_that_makes_no_sense_is_not_made(access: Access, more: dict[str, object], why: str) -> None:
    given: dict[str, object] = {"name": "a", "memories": ["mira"], "scopes": ["read"]} | more
    with pytest.raises(Invalid, match=why):
        access.make_token(**given)  # type: ignore[arg-type]
    assert access.tokens() == []


def test_a_link_is_spent_once_and_soon(access: Access, clock: Clock) -> None:
    code, late = access.make_code(), access.make_code()
    assert access.is_code(code)
    assert access.is_code(code), "looking at it spends nothing"
    visit = access.spend(code)
    assert visit is not None
    assert access.is_visit(visit)
    assert not access.is_code(code)
    assert access.spend(code) is None
    clock.now += CODE_SECONDS
    assert access.spend(late) is None
    clock.now += VISIT_SECONDS - CODE_SECONDS
    assert not access.is_visit(visit)


def test_a_wrong_code_writes_nothing(access: Access, clock: Clock) -> None:
    code = access.make_code()
    path = Path(access.folder, "access.json")
    before = path.stat()
    for wrong in ("x", code[:-1], code.swapcase()):
        assert access.spend(wrong) is None
    clock.now += CODE_SECONDS
    assert access.spend(code) is None
    assert path.stat() == before


def test_of_many_who_spend_a_link_at_once_one_gets_in(access: Access) -> None:
    code = access.make_code()
    got: list[str | None] = []

    def spend() -> None:
        got.append(Access(access.folder, access._clock).spend(code))

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(got) == 8
    assert sum(visit is not None for visit in got) == 1


def test_signing_out_ends_one_visit_or_all_of_them(access: Access) -> None:
    visits = [access.spend(access.make_code()) or "" for _ in range(3)]
    code = access.make_code()
    access.end_visit(visits[0])
    assert [access.is_visit(each) for each in visits] == [False, True, True]
    access.end_visit()
    assert not any(access.is_visit(each) for each in visits)
    assert not access.is_code(code)


def test_each_secret_opens_its_own_door(access: Access) -> None:
    _, token = access.make_token("a", ["mira"], ["read"])
    code = access.make_code()
    visit = access.spend(access.make_code()) or ""
    assert [access.token_of(each) is not None for each in (token, code, visit)] == [True, False, False]
    assert [access.is_code(each) for each in (token, code, visit)] == [False, True, False]
    assert [access.is_visit(each) for each in (token, code, visit)] == [False, False, True]


# --- the file -----------------------------------------------------------------------------


def test_only_its_owner_may_read_the_file(access: Access) -> None:
    access.make_token("a", ["mira"], ["read"])
    file = Path(access.folder, "access.json")
    assert file.stat().st_mode & 0o777 == 0o600
    assert Path(access.folder).stat().st_mode & 0o777 == 0o700
    file.chmod(0o640)
    with pytest.raises(Refused, match="can be read by other users"):
        Access(access.folder).tokens()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"tokens": []}'])
def test_a_damaged_file_lets_nobody_in(access: Access, text: str) -> None:
    _, secret = access.make_token("a", ["mira"], ["read"])
    file = Path(access.folder, "access.json")
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(Refused, match="Nobody was let in"):
        Access(access.folder).token_of(secret)


def test_what_another_process_changes_is_seen_at_once(access: Access) -> None:
    made, secret = access.make_token("a", ["mira"], ["read"])
    assert access.token_of(secret) is not None
    code = "import sys; from looseleaf.serve.access import Access; Access(sys.argv[1]).revoke(sys.argv[2])"
    subprocess.run([sys.executable, "-c", code, access.folder, made.id], check=True)
    assert access.token_of(secret) is None


def test_many_processes_lose_no_token(tmp_path: Path) -> None:
    code = """
import sys
from looseleaf.serve.access import Access
for number in range(8):
    Access(sys.argv[1]).make_token(sys.argv[2] + str(number), ["mira"], ["read"])
"""
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in "abc"]
    assert [each.wait() for each in running] == [0, 0, 0]
    assert sorted(each.name for each in Access(str(tmp_path)).tokens()) == sorted(
        f"{name}{number}" for name in "abc" for number in range(8)
    )


def test_there_is_an_end_to_how_many_are_kept(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_module, "_MOST", 2)
    for _ in range(2):
        access.make_token("a", ["mira"], ["read"])
        access.make_code()
    with pytest.raises(Refused, match="Revoke some"):
        access.make_token("a", ["mira"], ["read"])
    with pytest.raises(Refused, match="No link was made"):
        access.make_code()


def test_a_write_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    replace(str(path), b"one")

    def fail(*_: object) -> None:
        raise OSError("full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="full"):
        replace(str(path), b"two")
    assert path.read_bytes() == b"one"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_the_folder_is_in_the_settings_and_not_in_a_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = access_folder("/a/memory")
    assert folder.startswith(f"{tmp_path}/looseleaf/serve/")
    assert folder != access_folder("/another/memory")
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/mira")
    assert access_folder("/a/memory").startswith("/home/mira/.config/looseleaf/serve/")


def test_rows_of_a_later_version_are_read(access: Access) -> None:
    made, secret = access.make_token("a", ["mira"], ["read"])
    file = Path(access.folder, "access.json")
    told = json.loads(file.read_text())
    told["tokens"][0]["colour"] = "red"
    file.write_text(json.dumps(told))
    assert Access(access.folder, access._clock).token_of(secret) == made


# --- people, and what is less in one memory -------------------------------------------------


def test_a_token_has_a_person_and_may_do_less_in_a_memory(access: Access) -> None:
    made, secret = access.make_token(
        "mira",
        ["mira", "heron"],
        ["read", "write", "review"],
        agent="claude",
        person="Mira",
        only={"heron": ["read"]},
    )
    assert (made.person, made.agent) == ("Mira", "claude@mira")
    assert access.token_of(secret) == made
    assert made.at("mira").scopes == ("read", "write", "review")
    assert made.at("heron").scopes == ("read",)
    assert made.at("heron").at("heron") == made.at("heron")
    assert access.may_as("claude@mira", "heron", "read")
    assert not access.may_as("claude@mira", "heron", "write")
    assert not access.may_as("claude", "heron", "read")
    access.leave("heron")
    assert access.tokens()[0].only == ()
    access.revoke(made.id)
    assert not access.may_as("claude@mira", "mira", "read")


@pytest.mark.parametrize(
    "name", ["user", "I", "project", "Mira K", "mira@home", "-mira", "7", "a" * 41, "person", "m.k"]
)
def test_what_is_no_persons_name_is_refused(access: Access, name: str) -> None:
    with pytest.raises(Invalid, match="person's name"):
        access.make_token("mira", ["mira"], ["read"], person=name)
    assert access.tokens() == []


def test_a_person_has_one_spelling(access: Access) -> None:
    access.make_token("one", ["mira"], ["read"], person="Mira")
    access.make_token("two", ["heron"], ["read"], person="Mira")
    with pytest.raises(Invalid, match="Mira in others"):
        access.make_token("three", ["heron"], ["read"], person="mira")


@pytest.mark.parametrize("only", [{"heron": ["review"]}, {"heron": []}, {"heron": ["all"]}])
def test_a_limit_gives_nothing_more(access: Access, only: dict[str, list[str]]) -> None:
    with pytest.raises(Invalid):
        access.make_token("mira", ["heron"], ["read"], only=only)
