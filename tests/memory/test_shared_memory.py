"""A shared memory, and a person's own over it, in Python: of whom a fact is, what waits, and what keeps its name."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.memory.layers import nothing
from looseleaf.memory.memory import on_behalf, own_talk_only
from looseleaf.tools.toolset import call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def open_as(folder: Path, person: str, **more: Any) -> Iterator[Memory]:
    """Open a memory as a server does for somebody."""
    agent = f"claude@{person.lower()}" if person else "claude"
    with Memory(folder, agent=agent) as memory, on_behalf(memory, person, more.get("walls")):
        yield memory


def made(folder: Path, settings: str) -> Path:
    with Memory(folder):
        pass
    (folder / "looseleaf.toml").write_text(settings)
    return folder


@pytest.fixture
def heron(tmp_path: Path) -> Path:
    return made(tmp_path / "heron", "shared = true\n")


@pytest.fixture
def mira(tmp_path: Path, heron: Path) -> Path:
    return made(tmp_path / "mira", 'over = ["heron"]\n')


def say(folder: Path, person: str, *said: str) -> None:
    with open_as(folder, person) as memory:
        for text in said:
            memory.record(user=text)
            memory.record(assistant="All right.")
        memory.distill()


def lines(folder: Path, status: str = "current") -> list[tuple[str, str, str | None]]:
    with Memory(folder) as memory:
        return sorted((each.topic, each.object, each.person) for each in memory.facts(status=status))


def journal(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log/journal.jsonl").read_text().splitlines()]


# --- in the shared memory -------------------------------------------------------------------


def test_nobody_is_the_user_of_a_shared_memory(heron: Path) -> None:
    say(heron, "Mira", "I live in Lyon.", "We use Postgres 16 for billing.", "Please fix the importer today.")
    say(heron, "Jonas", "I live in Ghent.")
    found = lines(heron)
    assert ("mira", "Lyon", "Mira") in found
    assert ("jonas", "Ghent", "Jonas") in found
    assert ("project", "Postgres 16", "Mira") in found
    assert not (heron / "USER.md").exists()
    with open_as(heron, "Jonas") as memory:
        prompt = memory.prompt("What now?", budget=4000).text
        assert (memory.state.goal, memory.state.now) == ("", "")
    assert "Ghent\n" not in prompt.replace("I live in Ghent.", "")
    assert "Lyon" not in prompt
    assert "Database: Postgres 16" in prompt


def test_without_a_person_what_is_about_the_user_waits(heron: Path) -> None:
    say(heron, "", "I live in Lyon.", "We use Postgres 16 for billing.")
    assert ("project", "Postgres 16", None) in lines(heron)
    assert lines(heron, "pending") == [("user", "Lyon", None)]


def test_what_is_private_waits_in_a_shared_memory(heron: Path) -> None:
    say(heron, "Mira", "My son Leo is allergic to peanuts.")
    assert lines(heron) == []
    assert {topic for topic, _, _ in lines(heron, "pending")} == {"mira"}
    assert "Leo" not in "".join(page.read_text() for page in heron.glob("days/*.md"))


def test_a_rule_changes_nothing_before_a_yes_and_stands_with_both_names_after_it(heron: Path) -> None:
    say(heron, "Mira", "We deploy on Thursdays.")
    say(heron, "Jonas", "From now on we never deploy on Thursdays.")
    assert lines(heron) == [("project", "We deploy on Thursdays", "Mira")]
    [(topic, words, person)] = lines(heron, "pending")
    assert (topic, person) == ("project", "Jonas")
    assert "Jonas said it" in (heron / "review/pending.md").read_text()
    with open_as(heron, "Noa") as memory:
        approved = memory.review.approve(memory.review.pending()[0].id or "")
        assert (approved.object, approved.person, approved.decided_by) == (words, "Jonas", "Noa")
        assert approved.level == "confirmed"
        assert f"- {words}" in memory.prompt("What now?", budget=4000).text
    said = [(each.get("author"), each.get("person")) for each in journal(heron) if each["kind"] == "fact"]
    assert said == [("person", "Noa")]


def test_a_reviewers_own_rule_waits_as_well(heron: Path) -> None:
    with open_as(heron, "Noa") as memory:
        memory.remember("Never merge without a green build. The staging server is heron-stage-2.")
    assert lines(heron) == [("project", "The staging server is heron-stage-2", "Noa")]
    assert lines(heron, "pending") == [("project", "Never merge without a green build", "Noa")]


def test_remembered_words_about_oneself_stand_under_ones_name(heron: Path) -> None:
    with open_as(heron, "Mira") as memory:
        memory.remember("I prefer tea over coffee.")
        memory.remember("I live in Lyon.")
    assert {(topic, person) for topic, _, person in lines(heron)} == {("mira", "Mira")}
    assert not (heron / "USER.md").exists()


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("remember", {"topic": "user", "content": "Rule: Always answer in French"}),
        ("memory_append", {"path": "USER.md", "entry": "- Answers: in French"}),
        (
            "memory_write",
            {"path": "facts/project.md", "content": "# Project Facts\n\n- Rule: answer in French\n"},
        ),
    ],
)
def test_a_model_brings_no_rule_past_review(heron: Path, tool: str, given: dict[str, str]) -> None:
    with open_as(heron, "Mira") as memory:
        memory.record(user="Always answer in French.")
        call(memory, tool, given)
        assert [each for each in memory.facts() if "French" in each.object] == []
        assert [each.person for each in memory.review.pending()] == ["Mira"]
    assert not (heron / "USER.md").exists()


def test_a_model_notes_what_is_about_the_user_under_the_persons_name(heron: Path) -> None:
    with open_as(heron, "Mira") as memory:
        memory.record(user="I prefer tea over coffee.")
        call(memory, "remember", {"topic": "user", "content": "Prefers tea over coffee"})
        call(memory, "memory_state", {"patch": {"goal": "I prefer tea over coffee."}})
        assert memory.state.goal == ""
    assert [(topic, person) for topic, _, person in lines(heron)] == [("mira", "Mira")]


def test_forgetting_leaves_the_names_of_the_others(heron: Path) -> None:
    say(heron, "Mira", "We deploy on Thursdays.", "Our customer Northwind pays in crowns.")
    say(heron, "Jonas", "The staging server is heron-stage-2.", "Never merge without a green build.")
    with open_as(heron, "Noa") as memory:
        memory.review.approve(memory.review.pending()[0].id or "")
    before = lines(heron)
    with Memory(heron) as memory:
        assert memory.forget(match="Northwind").is_complete
        assert memory.check() == []
        [rule] = [each for each in memory.facts() if "green" in each.object]
        assert (rule.person, rule.decided_by) == ("Jonas", "Noa")
    assert lines(heron) == [each for each in before if "Northwind" not in each[1]]


# --- a memory of one's own --------------------------------------------------------------------


def test_in_a_memory_of_one_person_nothing_has_a_name(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.record(user="I live in Lyon.")
        memory.distill()
        memory.remember("I prefer tea.")
        assert all("person" not in each.to_dict() for each in memory.facts())
    for log in tmp_path.glob("log/**/*.jsonl"):
        assert '"person":' not in log.read_text()


def test_no_caller_says_who_somebody_is(heron: Path) -> None:
    with open_as(heron, "Mira") as memory:
        with pytest.raises(Invalid, match="person"):
            memory.record(user="I live in Lyon.", person="Jonas")  # type: ignore[arg-type]
        assert memory.record(user="I live in Lyon.").person == "Mira"


def test_what_is_about_the_work_goes_to_the_team_and_nothing_else(mira: Path, heron: Path) -> None:
    say(mira, "Mira", "We deploy on Thursdays.", "Our flat is on Thursday Street.", "I like Thursdays.")
    assert lines(heron) == [("project", "We deploy on Thursdays", "Mira")]
    everything = b"".join(each.read_bytes() for each in heron.rglob("*") if each.is_file())
    assert b"flat" not in everything
    assert b"I like" not in everything
    assert str(mira).encode() not in everything
    with Memory(mira) as memory:
        assert memory.check() == []


def test_a_prompt_with_lines_of_the_team_is_not_shown_to_who_may_no_longer_read_them(
    mira: Path, heron: Path
) -> None:
    say(heron, "Jonas", "We deploy on Thursdays.")
    with open_as(mira, "Mira") as memory:
        memory.record(user="Hello.")
        shown = memory.prompt("What now?", budget=4000)
        assert "- We deploy on Thursdays" in shown.text
    with open_as(mira, "Mira", walls=nothing) as memory:
        for ask in (memory.explain.replay, memory.explain.compare):
            with pytest.raises(Refused) as told:
                ask(shown.manifest.id)
            assert "heron" not in str(told.value)
        for prompt in (memory.prompt("And now?", dry_run=True), memory.prompt("And now?", budget=4000)):
            assert "Thursdays" not in prompt.text
        assert "Thursdays" not in memory.views.snapshot().text
        assert "Thursdays" not in str(memory.views.overview())
        assert [each.path for each in memory.pages.index()] == []
    with open_as(mira, "Mira") as memory:
        assert "- We deploy on Thursdays" in memory.explain.replay(shown.manifest.id).text


def test_words_without_a_person_stay(mira: Path, heron: Path) -> None:
    say(mira, "", "We deploy on Thursdays.")
    assert lines(heron) == []
    assert ("project", "We deploy on Thursdays", None) in lines(mira)


def test_who_may_not_write_to_the_team_keeps_it(mira: Path, heron: Path) -> None:
    with open_as(mira, "Mira", walls=lambda where, scope: scope == "read") as memory:
        memory.record(user="We deploy on Thursdays.")
        memory.record(assistant="All right.")
        memory.distill()
        with pytest.raises(NotFound, match="no shared memory"):
            memory.remember("We deploy on Thursdays.", where="team")
    assert lines(heron) == []
    assert [words for _, words, _ in lines(mira)] == ["We deploy on Thursdays"]


def test_a_person_may_say_where_words_belong(mira: Path, heron: Path) -> None:
    with open_as(mira, "Mira") as memory:
        assert memory.remember("The invoices go out on the first.", where="team").layer == "heron"
        memory.remember("The staging server is heron-stage-2.", where="here")
    assert [(words, person) for _, words, person in lines(heron)] == [
        ("The invoices go out on the first", "Mira")
    ]
    assert "heron-stage-2" not in (heron / "log/journal.jsonl").read_text()


def test_talk_in_the_team_is_found_by_who_said_it_and_by_reviewers(mira: Path, heron: Path) -> None:
    say(heron, "Jonas", "Yesterday I met a heron by the canal, what a bird.")

    def found(*scopes: str) -> list[str]:
        with open_as(mira, "Mira", walls=lambda where, scope: scope in scopes) as memory:
            return [each.kind for each in memory.recall("heron canal bird", sure=0.0)]

    assert "trace" in found("read", "review")
    assert "trace" not in found("read", "write")
    assert found() == []


def test_what_waits_in_the_team_is_not_approved_from_an_own_memory_without_the_scope(
    mira: Path, heron: Path
) -> None:
    say(mira, "Mira", "Never deploy on Fridays.")
    [waits] = _pending(heron)
    name = f"heron:{waits}"
    with open_as(mira, "Mira", walls=lambda where, scope: scope != "review") as memory:
        with pytest.raises(Refused, match="only a reviewer decides"):
            memory.review.approve(name)
        assert memory.review.reject(memory.facts()[0].id or "").status == "rejected"  # her own
    assert _pending(heron) == [waits]
    with open_as(mira, "Mira", walls=lambda where, scope: True) as memory:
        assert memory.review.approve(name).decided_by == "Mira"
    assert _pending(heron) == []


def _pending(folder: Path) -> list[str]:
    with Memory(folder) as memory:
        return [each.id or "" for each in memory.review.pending()]


def test_an_agent_finds_its_own_talk_with_a_person_and_no_others(mira: Path) -> None:
    for person in ("Mira", "Jonas"):
        say(mira, person, f"Yesterday {person} met a heron by the canal, what a bird.")
    with open_as(mira, "Mira") as memory, own_talk_only(memory):
        found = [
            each for each in memory.recall("heron canal bird", sure=0.0) if each.kind in ("trace", "entry")
        ]
    assert {each.person for each in found if each.kind == "trace"} == {"Mira"}
    assert all("Jonas" not in each.text for each in found)
