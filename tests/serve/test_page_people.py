"""People with names at the page: what was said and decided shows by whom, and only one of them is "you"."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
import pytest

from looseleaf import Memory
from looseleaf.base.values import Fact
from looseleaf.memory.memory import on_behalf
from looseleaf.serve.access import PERSON
from looseleaf.serve.web.naming import Naming
from looseleaf.serve.web.render import MEANING, MEANS
from looseleaf.serve.web.screens.settings import phrase
from paging import SCRIPT, Person, addresses
from serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import Server

EVIL = f'Eve"><{SCRIPT[1:]}'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("people")) as made:
        yield made


def make_team(server: Server, name: str, person: str, *, shared: bool = True) -> dict[str, str]:
    """Make a memory in which a person, and nobody else, said and wrote something; return their facts by a word."""
    where = server.root / name
    with Memory(where):
        (where / "looseleaf.toml").write_text(f"shared = {str(shared).lower()}\n")
    with Memory(where) as memory, on_behalf(memory, person, None):
        memory.record(user="We use Postgres 16 for orders. Never merge without a green build.")
        memory.record(assistant="All right.")
        memory.distill()
        memory.remember("The audit is due on 27 March.")
        memory.pages.edit("facts/cars.md", "# Cars\n\n- Car: a red one\n", reason="noted", author="person")
        every = (*memory.facts(), *memory.review.pending())
        words = {"database": "Postgres", "rule": "green build", "car": "a red one", "audit": "27 March"}
        return {
            key: next(each.id or "" for each in every if word in each.object) for key, word in words.items()
        }


@contextmanager
def signed_in(server: Server, memory: str, person: str) -> Iterator[Person]:
    with Person(server, memory) as made:
        if person:
            visit = server.access.spend(server.access.make_code(person)) or ""
            made.http.cookies = httpx.Cookies({"looseleaf": visit})
        yield made


def talk_of(me: Person) -> str:
    """Return the address of the first message of a memory."""
    session = next(each for each in me.get("/talk").links if "/talk/session/" in each)
    return session.removeprefix(me.home).partition("?")[0]


def test_who_said_a_rule_and_who_decided_on_it_stand_on_the_page(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        heron = server.root / "heron"
        with Memory(heron):
            (heron / "looseleaf.toml").write_text("shared = true\n")
        with Memory(heron, agent="claude@jonas") as memory, on_behalf(memory, "Jonas", None):
            memory.record(user="Never merge without a green build.")
            memory.record(assistant="All right.")
            memory.distill()
            name = memory.review.pending()[0].id
        visit = server.access.spend(server.access.make_code("Noa")) or ""
        assert server.access.person_of(visit) == "Noa"
        assert server.access.person_of(server.visit()) == ""
        with Person(server, "heron") as noa:
            noa.http.cookies = httpx.Cookies({"looseleaf": visit})
            waiting = noa.get("/review")
            assert "Jonas said it" in waiting.words
            done = noa.send(waiting, f"/review/{name}/yes")
            assert done.status == 200
            assert "said by Jonasdecided by Noa" in noa.get("/memory").words  # two tags side by side
        with Memory(heron) as memory:
            assert memory.fact(name or "").decided_by == "Noa"


def test_in_a_shared_memory_words_have_the_name_of_the_one_who_said_them(server: Server) -> None:
    facts = make_team(server, "words", "Mira")
    with signed_in(server, "words", "Noa") as noa:
        review = noa.get("/review", at=facts["rule"])
        assert "Said by Mira, " in review.words
        assert "Nobody said this here" not in review.words
        assert re.search(r"The words it rests on Mira, \d", review.words)
        assert re.search(r"The talk around it ?Mira ?We use Postgres 16", review.words)
        fact = noa.get(f"/fact/{facts['database']}")
        assert "Mira’s own words say it." in fact.words
        assert re.search(r"The words behind it [^.]* Mira We use Postgres 16", fact.words)
        assert "Mira wrote it." in noa.get(f"/fact/{facts['car']}").words
        assert "Mira wrote it." in noa.get(f"/fact/{facts['audit']}").words
        assert "Mira: facts/cars.md" in noa.get("/").words
        assert 'title="Mira’s own words say it."' in noa.get("/memory").html
        assert 'said-by">Mira</span>' in noa.get(talk_of(noa)).html
        message = next(each for each in fact.links if "/talk/trace/" in each)
        assert "<h1>Mira, " in noa.get(message.removeprefix(noa.home)).html
        hits = noa.get("/search", q="What do we use for orders?", kind="trace")
        assert "sureMira" in hits.words.replace(" ", "")
        assert "recent_turns" not in noa.get("/prompt").words
        assert 'said-by">Mira</span>' in noa.get("/prompt").html
        assert "<span>Mira</span>" in noa.get("/pages/facts/cars.md/history").html
        edit = next(each for each in noa.get("/pages/facts/cars.md/history").links if "/history/" in each)
        assert "<span>Mira</span>" in noa.get(edit.removeprefix(noa.home)).html
        assert "<span>said by Mira</span>" in noa.get("/pages/facts/cars.md/who").html
        entry = next(each for each in noa.get(f"/fact/{facts['audit']}").links if "/talk/trace/" in each)
        assert 'said-by">Mira</p>' in noa.get(entry.removeprefix(noa.home)).html


def test_in_a_shared_memory_a_decision_has_the_name_of_the_one_who_made_it(server: Server) -> None:
    facts = make_team(server, "decisions", "Mira")
    with signed_in(server, "decisions", "Noa") as noa:
        noa.send(noa.get("/review", at=facts["rule"]), f"/review/{facts['rule']}/yes")
        noa.send(noa.get(f"/fact/{facts['car']}"), "/pin")
        noa.send(noa.get(f"/fact/{facts['audit']}"), "/correct", text="28 March")
        assert "You confirmed it." in noa.get(f"/fact/{facts['rule']}").words
        assert "You: approved" in noa.get("/").words
    with signed_in(server, "decisions", "Mira") as mira:
        rule = mira.get(f"/fact/{facts['rule']}").words
        assert "Noa confirmed it." in rule
        assert re.search(r"The words behind it [^.]* You We use Postgres 16", rule)
        mira.send(mira.get(f"/fact/{facts['rule']}"), "/pin")  # a later decision, which is no yes
        assert "Noa confirmed it." in mira.get(f"/fact/{facts['rule']}").words
        assert "You wrote it." in mira.get(f"/fact/{facts['car']}").words  # Noa only pinned it
        today = mira.get("/").words
        assert "Noa: approved" in today
        assert "Noa: pinned" in today
        assert "You: pinned" in today
        with Memory(server.root / "decisions") as memory:
            new = next(each for each in memory.facts() if each.object.startswith("28 March"))
        assert "Noa corrected it." in mira.get(f"/fact/{new.id}").words


def test_in_a_shared_memory_only_the_person_who_is_signed_in_is_you(server: Server) -> None:
    facts = make_team(server, "you", "Mira")
    with signed_in(server, "you", "mira") as mira:  # the same name, as servers compare them
        assert "Said by you, " in mira.get("/review", at=facts["rule"]).words
        assert "Your own words say it." in mira.get(f"/fact/{facts['database']}").words
        assert "You: facts/cars.md" in mira.get("/").words
    taken = re.compile(r"\b(Your own words|You (never )?(said|wrote|confirmed|corrected)|You[:,]|you said)")
    same = {MEANING[None]}
    for person in ("Noa", ""):
        with signed_in(server, "you", person) as other:
            seen = ["/", "/memory", "/review", "/words", "/prompt", "/talk", "/settings", talk_of(other)]
            seen += ["/search?q=Postgres", "/pages/facts/cars.md/history", "/pages/facts/cars.md/who"]
            screens = [other.get(path) for path in seen]
            linked = {each for screen in screens for each in addresses(screen)}
            screens += [
                other.get(each.removeprefix(other.home)) for each in sorted(linked) if "/fact/" in each
            ]
            for screen in screens:
                assert screen.status == 200
                assert not taken.search(screen.words), (screen.url, taken.search(screen.words))
                titles = {attributes.get("title", "") for _, attributes in screen.tags}
                assert not titles & {*MEANING.values(), MEANS["doubtful"], MEANS["rejected"]} - same, (
                    screen.url
                )


def test_where_nobody_knows_who_it_was_it_was_a_person(server: Server) -> None:
    facts = make_team(server, "unknown", "")
    with signed_in(server, "unknown", "Noa") as noa:
        assert "Said by a person, " in noa.get("/review", at=facts["rule"]).words
        assert "A person’s own words say it." in noa.get(f"/fact/{facts['database']}").words
        assert "A person wrote it." in noa.get(f"/fact/{facts['car']}").words
        assert "A person: facts/cars.md" in noa.get("/").words
        # What is found on disk is not of the one who looks first.
        (server.root / "unknown/facts/cats.md").write_text("# Cats\n\n- Cat: Tom\n")
        noa.get("/pages")
        assert "A person, in the folder: facts/cats.md" in noa.get("/").words
        with Memory(server.root / "unknown") as memory:
            cat = next(each.id or "" for each in memory.facts() if each.object == "Tom")
        shown = noa.get(f"/fact/{cat}").words
        assert "A person wrote it." in shown
        assert "A person, on the page" in shown


def test_in_a_memory_of_ones_own_nothing_has_a_name(server: Server) -> None:
    facts = make_team(server, "own", "Mira", shared=False)
    with signed_in(server, "own", "") as me:
        assert "Your own words say it." in me.get(f"/fact/{facts['database']}").words
        assert "You wrote it." in me.get(f"/fact/{facts['car']}").words
        assert "You: facts/cars.md" in me.get("/").words
        assert 'said-by">You</span>' in me.get(talk_of(me)).html
        assert "<span>person</span>" in me.get("/pages/facts/cars.md/history").html


def test_over_a_shared_memory_only_the_words_of_the_layer_have_names(server: Server) -> None:
    under = make_team(server, "under", "Mira")
    own = make_team(server, "over", "Noa", shared=False)
    (server.root / "over/looseleaf.toml").write_text('over = ["under"]\n')
    with signed_in(server, "over", "Noa") as noa:
        fact = noa.get(f"/fact/{quote('under:' + under['database'], safe='')}").words
        assert "Mira’s own words say it." in fact
        assert re.search(r"The words behind it [^.]* Mira We use Postgres 16", fact)
        assert "Your own words say it." in noa.get(f"/fact/{own['database']}").words


def test_html_in_the_name_of_a_person_is_text(server: Server) -> None:
    facts = make_team(server, "evil", EVIL)
    with signed_in(server, "evil", "Noa") as noa:
        history = noa.get("/pages/facts/cars.md/history")
        edit = next(each for each in history.links if "/history/" in each).removeprefix(noa.home)
        paths = ["/", "/memory", f"/review?at={facts['rule']}", "/prompt", "/search?q=Postgres", talk_of(noa)]
        paths += [f"/fact/{each}" for each in facts.values()]
        paths += ["/pages/facts/cars.md/who", "/pages/facts/cars.md/history", edit]
        message = next(each for each in noa.get(f"/fact/{facts['database']}").links if "/talk/trace/" in each)
        for path in [*paths, message.removeprefix(noa.home)]:
            screen = noa.get(path)
            assert screen.status == 200
            assert 'Eve"><script>' in screen.words, path
            assert screen.problems == [], path
            assert SCRIPT not in screen.html, path


def test_a_name_that_means_another_stands_in_quotes_and_a_long_one_is_cut() -> None:
    team = Naming("Noa", frozenset({""}))
    names = [
        team.who(each) for each in ("Mira", "NOA", "", None, " ", "You", "Assistant", "a\u202eb", "w" * 99)
    ]
    assert names == [
        *("Mira", "You", "A person", "A person", "A person", "“You”", "“Assistant”", "a<U+202E>b"),
        "w" * 60 + "…",
    ]
    assert [team.whose(each) for each in ("Mira", "Noa", "")] == ["Mira’s", "Your", "A person’s"]
    assert [Naming("Noa").who(each) for each in ("Mira", None)] == ["You", "You"]


def test_a_tainted_fact_is_nobodys_whoever_asked_for_it() -> None:
    team = Naming("Noa", frozenset({""}))
    found = Fact("work", "work", "note", "pay them", level="tainted", origin="agent:main", person="Mira")
    assert team.origin(found) == "Asked by agent main"
    assert team.meaning("tainted", found).endswith("No person said it.")
    assert team.means("rejected") == "A person said that it is wrong."


def test_the_audit_of_a_shared_memory_says_that_a_person_did_it() -> None:
    line = {"route": "/m/{name}/fact/{fact}/{act}", "token": PERSON.id, "status": 303}
    assert phrase(line, is_shared=True) == "A person decided on a fact"
    assert phrase(line | {"token": "7Q2M"}, is_shared=True) == "A program asked"
