"""The screen Settings: what is set and why, the look, tokens that are shown once, signing out, the audit."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest

from compacted_story import looking_at
from looseleaf.base.policy import Policy
from looseleaf.pages.folder import init
from looseleaf.serve.access import PERSON
from looseleaf.serve.web.routes import SCREENS
from looseleaf.serve.web.screens.settings import PHRASES, phrase, settings_of
from looseleaf.serve.web.wording import ago, lasting, plural
from looseleaf.store.context import shown_name
from paging import SCRIPT, Person
from serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postgres import Running
    from serving import Server

MAKE = {"name": "codex", "scope_read": "on", "scope_write": "on", "agent": "codex", "days": "30"}


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Person]]:
    with looking_at(tmp_path_factory) as found:
        yield found


@pytest.fixture(scope="module")
def person(visit: tuple[Server, Person]) -> Person:
    return visit[1]


def test_every_setting_has_its_reason() -> None:
    changed, groups = settings_of(Policy(day_cost=2.0, layers=False, over=("a", "b")))
    assert [(each.name, each.value, each.usual) for each in changed] == [
        ("layers", "off", "on"),
        ("over", "a, b", "not set"),
        ("day_cost", "2.0", "not set"),
    ]
    others = [each for _, found in groups for each in found]
    assert {each.name for each in (*changed, *others)} == set(Policy.__match_args__)
    assert all(each.why for each in (*changed, *others))
    assert all(heading for heading, _ in groups)


def test_what_is_set_here_stands_first(person: Person) -> None:
    words = person.get("/settings").words
    assert words.index("tail_turns 1") < words.index("All the others, as usual")
    assert "Usually 4." in words
    assert "These are set in looseleaf.toml, in the memory’s folder, and read when it is opened." in words


def test_in_a_database_the_verb_that_sets_them_is_named(
    postgres: Running, tmp_path_factory: pytest.TempPathFactory
) -> None:
    database = postgres.address(postgres.database())
    with serving(tmp_path_factory.mktemp("page"), database=database) as server:
        where = server.where("mira")
        init(where)
        with Person(server, "mira") as person:
            words = person.get("/settings").words
    verb = f"looseleaf --memory {shown_name(where)} settings FILE replaces it"
    assert f"These are set in looseleaf.toml of this memory ({verb}) and read when it is opened." in words


def test_a_token_is_made_and_shown_once(visit: tuple[Server, Person], person: Person) -> None:
    server = visit[0]
    form = person.get("/settings")
    made = person.send(form, "/settings/tokens", **MAKE)
    secret = re.search(r"ll_\w{6}_[\w-]+", made.words)
    assert secret is not None
    token = server.access.token_of(secret[0])
    assert token is not None
    assert (token.name, token.memories, token.scopes) == ("codex", ("mira",), ("read", "write"))
    assert (token.agent, token.voice) == ("codex", "")
    assert token.expires is not None
    assert token.expires < time.time() + 31 * 86_400
    assert secret[0] not in person.get("/settings").html
    assert secret[0] not in person.http.get(made.url).text
    twice = person.send(form, "/settings/tokens", **MAKE)
    assert secret[0] not in twice.html
    assert [each.name for each in server.access.tokens()] == ["codex"]
    assert made.problems == []


def test_to_look_at_the_head_of_the_screen_does_not_spend_a_secret(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with looking_at(tmp_path_factory) as (server, person):
        fields = person.get("/settings").form("/settings/tokens").fields | MAKE
        sent = {"data": fields, "headers": {"origin": server.address}, "follow_redirects": False}
        at = person.http.post(f"{person.home}/settings/tokens", **sent).headers["location"]
        assert person.http.head(at).status_code == 200
        assert re.search(r"ll_\w{6}_[\w-]+", person.http.get(at).text)
        assert not re.search(r"ll_\w{6}_[\w-]+", person.http.get(at).text)


def test_a_token_may_be_for_all_and_speak_for_the_user_without_end(
    visit: tuple[Server, Person], person: Person
) -> None:
    fields = {**MAKE, "name": "all", "memories": "*", "voice": "user", "days": "", "agent": ""}
    person.send(person.get("/settings"), "/settings/tokens", **fields)
    token = visit[0].access.tokens()[-1]
    assert (token.memories, token.voice, token.expires, token.agent) == (("*",), "user", None, "main")
    words = person.get("/settings").words
    assert "all memories" in words
    assert "its users’ words count" in words
    assert "does not end" in words


def test_a_revoked_token_opens_nothing(visit: tuple[Server, Person], person: Person) -> None:
    made = person.send(person.get("/settings"), "/settings/tokens", **{**MAKE, "name": SCRIPT})
    secret = re.search(r"ll_\w{6}_[\w-]+", made.words)
    assert secret is not None
    token = visit[0].access.token_of(secret[0])
    assert token is not None
    form = next(
        each
        for each in made.forms
        if each.action.endswith("/tokens/revoke") and each.fields["id"] == token.id
    )
    revoked = person.post(form.action, **form.fields)
    assert "opens nothing any more" in revoked.words
    assert visit[0].access.token_of(secret[0]) is None
    again = person.post(form.action, **form.fields)
    assert again.status == 404
    assert "No token was revoked" in again.words


def test_a_token_that_has_ended_is_said_to_have(visit: tuple[Server, Person], person: Person) -> None:
    server = visit[0]
    now, clock = time.time(), server.access._clock
    server.access._clock = lambda: now - 1000
    server.access.make_token("old", ["mira"], ["read"], expires=now - 500)
    server.access._clock = clock
    assert "old has ended" in person.get("/settings").words


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"name": ""}, "give it a name"),
        ({"name": "x" * 100_000}, "give it a name"),
        ({"scope_read": ""}, "the scopes are read, write, review, admin"),
        ({"days": "soon"}, "it can hold for 1 to 3,650 days"),
        ({"days": "0"}, "it can hold for 1 to 3,650 days"),
        ({"days": "٣"}, "it can hold for 1 to 3,650 days"),
        ({"agent": "../main"}, "contains a slash"),
        ({"token": "x"}, "the form is from an earlier visit"),
    ],
)
def test_a_form_that_makes_no_token_is_shown_as_it_was_filled_in(
    visit: tuple[Server, Person], person: Person, typed: dict[str, str], sentence: str
) -> None:
    before = visit[0].access.tokens()
    given = {"name": "mine", "scope_read": "on", "scope_review": "on", "days": "7", "agent": "mine", **typed}
    if "scope_read" in typed:
        del given["scope_review"]
    refused = person.send(person.get("/settings"), "/settings/tokens", **given)
    assert refused.status == 422
    assert sentence in refused.words
    fields = refused.form("/settings/tokens").fields
    for name in ("name", "days", "agent"):
        assert fields[name] == given[name]
    assert ("scope_review" in fields) == ("scope_review" in given)
    assert visit[0].access.tokens() == before


def test_the_look_is_kept_in_the_browser(person: Person) -> None:
    dark = person.send(person.get("/settings"), "/look", theme="dark", keys="")
    assert 'data-theme="dark"' in dark.html
    assert 'data-keys="off"' in dark.html
    light = person.send(dark, "/look", theme="", keys="on")
    assert "data-theme" not in light.html
    assert "data-keys" not in light.html


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            {"route": "/m/{name}/fact/{fact}/{act}", "token": PERSON.id, "status": 303},
            "You decided on a fact",
        ),
        (
            {"route": "/m/{name}/remember", "token": PERSON.id, "status": 422},
            "You told it something: refused",
        ),
        ({"act": "login", "status": 303}, "You signed in"),
        ({"act": "export", "status": 200}, "export"),
        ({"route": "/v1/memories/{m}/remember", "token": "7Q2M", "status": 201}, "A program asked"),
        ({"route": "/m/{name}/novel", "token": PERSON.id}, "You did something"),
    ],
)
def test_a_line_of_the_audit_is_a_sentence(line: dict[str, object], told: str) -> None:
    assert phrase(line) == told


def test_each_act_of_a_person_has_a_sentence() -> None:
    acts = {path for screen in SCREENS for path, methods, _ in screen.ROUTES if "POST" in methods}
    assert acts == set(PHRASES)


def test_one_signs_out_from_every_screen_and_is_told_how_to_come_back(visit: tuple[Server, Person]) -> None:
    with Person(visit[0], "mira") as other:
        for path in ("/", "/memory", "/words", "/costs", "/nowhere"):
            assert other.get(path).form("/sign-out").fields["token"], path
        out = other.send(other.get("/words"), "/sign-out")
    assert "To come back, give this command in a terminal" in out.words
    assert "looseleaf login" in out.words
    assert out.forms == []


def test_the_audit_says_what_was_done_without_words(visit: tuple[Server, Person], person: Person) -> None:
    person.send(person.get("/pages"), "/pages", path="a-very-secret-topic")
    person.post(f"{person.home}/pages", path="a-very-secret-topic")
    lines = list(visit[0].serving.audit.read_back())[:2]
    assert [(each["route"], each["method"], each["status"]) for each in lines] == [
        ("/m/{name}/pages", "POST", 422),
        ("/m/{name}/pages", "POST", 303),
    ]
    assert "secret" not in str(lines)
    assert "POST /m/{name}/pages" in person.get("/settings").words
    person.post(f"{person.home}/pages", path="x" * (5 << 20))
    assert "secret" not in str(next(visit[0].serving.audit.read_back()))


def test_one_may_sign_out_here_or_everywhere(visit: tuple[Server, Person]) -> None:
    with Person(visit[0], "mira") as here, Person(visit[0], "mira") as there:
        here.send(here.get("/settings"), "/sign-out")
        assert "signed-out" in here.get("/settings").url
        assert "signed-out" not in there.get("/settings").url
        form = next(each for each in there.get("/settings").forms if "everywhere" in each.fields)
        there.post(form.action, **form.fields)
        assert "signed-out" in there.get("/settings").url
        assert "signed-out" in visit[1].get("/settings").url


def test_counts_and_ages_are_worded() -> None:
    assert plural(1, "line") == "1 line"
    assert plural(2_000, "line") == "2,000 lines"
    assert plural(2, "memory", "memories") == "2 memories"
    assert [lasting(each) for each in (0.5, 1.0, 90, 7_200, 200_000)] == [
        "less than a second",
        "1 second",
        "1 minute",
        "2 hours",
        "2 days",
    ]
    assert ago(time.time() - 120) == "2 minutes ago"
