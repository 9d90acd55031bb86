"""Three people and two agents on one memory, for a week: who sees what, nothing lost, nothing leaked."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf import Memory
from looseleaf.base import ids
from resting import Api, Asker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from postgres import Running

pytest.importorskip("fastapi", reason="the server's packages are missing")


class Clock:
    """The program's clock, as the story sets it: a day and an hour in March. Each look takes a millisecond."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._looks, self._start = count(), 0.0
        monkeypatch.setattr(ids, "time", self)
        monkeypatch.setattr(ids, "_last", [0])

    def set(self, day: int, hour: int = 9) -> None:
        self._looks, self._start = count(), datetime(2026, 3, day, hour, tzinfo=UTC).timestamp()

    def time(self) -> float:
        return self._start + next(self._looks) / 1000

    def time_ns(self) -> int:
        return int(self.time() * 1e9)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


PEOPLE = ("mira", "jonas", "noa")


class Team:
    """A server with the memory of a team, and one over it for each of its people."""

    def __init__(self, api: Api) -> None:
        self.api = api
        admin = api.asker("*", voice="user")
        for name in ("heron", *PEOPLE):
            admin.ok("POST", "/memories", {"name": name})
        self._settle("heron", "shared = true\n")
        agents = {"mira": "claude", "jonas": "codex", "noa": "claude"}
        self.people: dict[str, Asker] = {}
        for name in PEOPLE:
            self._settle(name, 'over = ["heron"]\n')
            less = {} if name == "noa" else {"heron": ["read", "write"]}
            made = {"name": name, "memories": [name, "heron"], "scopes": ["read", "write", "review"]}
            more = {"voice": "user", "person": name.capitalize(), "agent": agents[name], "only": less}
            self.people[name] = api.asker_with(admin.ok("POST", "/tokens", made | more)["token"])

    def _settle(self, name: str, settings: str) -> None:
        where = self.api.where(name)
        if not self.api.database:
            with open(f"{where}/looseleaf.toml", "w", encoding="utf-8") as file:
                file.write(settings)
            return
        from looseleaf.pages.in_database import open_store

        with open_store(where) as store:
            document = store.get("looseleaf.toml")
            base = document.sha256 if document is not None else None
            store.put("looseleaf.toml", settings.encode(), base=base)

    def say(self, who: str, *said: str, to: str = "") -> None:
        """Somebody talks, to an own memory or the team's, and goes."""
        base, person = f"/memories/{to or who}", self.people[who]
        talk = [each for text in said for each in ({"user": text}, {"assistant": "All right."})]
        person.ok("POST", f"{base}/traces?session={ids.new_id()}", talk)
        person.ok("POST", f"{base}/distill", {})

    def facts(self, who: str, memory: str = "", status: str = "current") -> list[str]:
        """What somebody sees: the layer, the topic, the words, who said it."""
        found = self.people[who].listed(f"/memories/{memory or who}/facts?status={status}", 200)
        return sorted(_line(each) for each in found)

    def traces(self, memory: str) -> list[dict[str, Any]]:
        """All that was said in a memory, from its log."""
        with Memory(self.api.where(memory)) as opened:
            store = opened.parts.store
            streams = [each for each in store.streams() if each.startswith("traces/")]
            return [
                line.record for each in streams for line in store.read(each) if "trace_type" in line.record
            ]

    def waiting(self, who: str) -> list[str]:
        return sorted(_line(each) for each in self.people[who].listed("/memories/heron/review", 200))

    def everything(self, who: str) -> str:
        """All that somebody is told of both memories, as text."""
        asker, told = self.people[who], []
        for memory in (who, "heron"):
            base = f"/memories/{memory}"
            told += [
                asker.ok("POST", f"{base}/prompts?dry_run=true", {"task": "What is up?", "budget": 8000})
            ]
            for question in (
                "Where does Mira live?",
                "when is the deploy",
                "how is the mother",
                "tabs or spaces",
            ):
                told.append(asker.ok("POST", f"{base}/recall", {"query": question, "sure": 0.0})["hits"])
            pages = asker.listed(f"{base}/pages", 200)
            told += [asker.ok("GET", f"{base}/pages/{each['path']}") for each in pages]
            told += [asker.listed(f"{base}/{each}", 200) for each in ("facts", "topics", "sessions")]
            told.append(asker.ok("GET", f"{base}/state"))
            for page in ("USER.md", "facts/project.md", "facts/user.md", "days/2026-03-09.md"):
                told.append(asker("GET", f"{base}/pages/heron:{page}").text)
        return json.dumps(told, ensure_ascii=False)


def _line(fact: dict[str, Any]) -> str:
    layer = f"{fact['layer']}:" if fact.get("layer") else ""
    return f"{layer}{fact['topic']} | {fact['relation']}: {fact['object']} | {fact.get('person')}"


@pytest.fixture(params=[pytest.param("folders", marks=pytest.mark.long), "database"])
def team(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Team]:
    clock.set(9, 7)
    database = ""
    if request.param == "database":
        postgres: Running = request.getfixturevalue("postgres")
        database = postgres.address(postgres.database(), "looseleaf", "")
    api = Api(tmp_path, database=database)
    api.start()
    try:
        yield Team(api)
    finally:
        api.stop()


THURSDAYS = "We deploy Heron on Thursdays, after the stand-up"
CHAOS = "We moved the deploy to Wednesdays, Thursday was always chaos"


def test_a_week(team: Team, clock: Clock) -> None:
    """Monday to Friday. What each of them sees is asserted whole, day by day."""
    ours: list[str] = []  # what all three see of the team's memory
    own: dict[str, list[str]] = {name: [] for name in PEOPLE}

    def all_see_theirs_and_the_teams() -> None:
        for who in PEOPLE:
            assert team.facts(who) == sorted((*own[who], *(f"heron:{each}" for each in ours))), who
            assert team.facts(who, "heron") == sorted(ours)

    # Monday: Mira talks to her own memory, Jonas to the team's.
    clock.set(9)
    team.say(
        "mira",
        "Morning! I'm at my mum's in Annecy this week, she had a small operation, so I'll be in and out.",
        f"{THURSDAYS}.",
        "Our customer Northwind pays in Norwegian crowns.",
    )
    team.say("jonas", "The staging server is heron-stage-2.", to="heron")
    ours += [
        f"project | note: {THURSDAYS} | Mira",
        "project | note: Our customer Northwind pays in Norwegian crowns | Mira",
        "project | note: The staging server is heron-stage-2 | Jonas",
    ]
    own["mira"] += [
        "user | note: I'm at my mum's in Annecy this week [the week of 2026-03-09], she had a small operation | Mira"
    ]
    all_see_theirs_and_the_teams()
    assert team.waiting("noa") == []

    # Tuesday: rules. Each holds for who said it, and waits for all others.
    clock.set(10)
    team.say("noa", "Never deploy on Fridays.", "I'm vegetarian.")
    team.say("mira", "Always answer me in French, please.", "I can't stand phone calls before ten.")
    team.say("jonas", "Never merge without a green build.", "I live in Ghent now.", to="heron")
    ours += ["jonas | Home: Ghent | Jonas"]
    own["noa"] += ["user | Diet: vegetarian | Noa", "user | note: Never deploy on Fridays | Noa"]
    own["mira"] += [
        "user | Language: French | Mira",
        "user | note: Always answer me in French | Mira",
        "user | note: I can't stand phone calls before ten | Mira",
    ]
    all_see_theirs_and_the_teams()
    assert team.waiting("noa") == [
        "project | note: Never deploy on Fridays | Noa",
        "project | note: Never merge without a green build | Jonas",
    ]
    for who in ("mira", "jonas"):
        assert "Fridays" not in team.everything(who)
        assert team.people[who]("GET", "/memories/heron/review").status_code == 403
        assert team.facts(who, status="pending") == []
    assert team.facts("noa", status="pending") == [f"heron:{each}" for each in team.waiting("noa")]

    # Wednesday: Noa reviews; the others only propose.
    clock.set(11)
    waiting = {each["object"]: each["id"] for each in team.people["noa"].listed("/memories/heron/review")}
    fridays, green = waiting["Never deploy on Fridays"], waiting["Never merge without a green build"]
    for who in ("mira", "jonas"):
        assert team.people[who]("POST", f"/memories/heron/facts/{green}/approve").status_code == 403
        for name in (green, f"heron:{green}"):
            assert team.people[who]("POST", f"/memories/{who}/facts/{name}/approve").status_code in (404, 409)
    approved = team.people["noa"].ok("POST", f"/memories/heron/facts/{fridays}/approve")
    assert (approved["person"], approved["decided_by"], approved["level"]) == ("Noa", "Noa", "confirmed")
    rejected = team.people["noa"].ok("POST", f"/memories/heron/facts/{green}/reject")
    assert (rejected["person"], rejected["decided_by"], rejected["status"]) == ("Jonas", "Noa", "rejected")
    ours += ["project | note: Never deploy on Fridays | Noa"]
    all_see_theirs_and_the_teams()
    assert team.waiting("noa") == []

    # Thursday: what the team knows changes by another's word, and the first stays in sight.
    clock.set(12)
    team.say("jonas", f"{CHAOS}.", "My landlord raised the rent again, 1,150 a month now.")
    ours.remove(f"project | note: {THURSDAYS} | Mira")
    ours += [
        f"project | note: {THURSDAYS} (may have changed on 2026-03-12: “{CHAOS[:59]}…”) | Mira",
        f"project | note: {CHAOS} | Jonas",
    ]
    own["jonas"] += ["user | note: My landlord raised the rent again, 1,150 a month now | Jonas"]
    all_see_theirs_and_the_teams()

    # Friday.
    clock.set(13)
    team.say("mira", "The audit is due on 27 March.", "I don't work on Fridays from April on.")
    ours += [
        "project | Deadline: 27 March [2026-03-27] | Mira",
        "project | note: The audit is due on 27 March [2026-03-27] | Mira",
    ]
    own["mira"] += ["user | note: I don't work on Fridays from April [2026-04] on | Mira"]
    all_see_theirs_and_the_teams()

    # A prompt has what is one's own, and what is everybody's; who nobody told, nobody is told of.
    said = {name: team.everything(name) for name in PEOPLE}
    secrets = {
        "mira": ("Annecy", "operation", "French", "phone calls"),
        "jonas": ("landlord", "1,150"),
        "noa": ("vegetarian",),
    }
    for whose, words in secrets.items():
        for word in words:
            assert [who for who in PEOPLE if word in said[who]] == [whose], word
    for who in PEOPLE:
        prompt = team.people[who].ok("POST", f"/memories/{who}/prompts?dry_run=true", {"task": "What now?"})
        text = json.dumps(prompt["messages"], ensure_ascii=False)
        assert "- Never deploy on Fridays" in text
        assert f"- {CHAOS}" in text
        assert "Ghent" not in text  # what Jonas said of himself is on his page, and in nobody's prompt

    # Nothing is lost: each word stands where it was said, with who said it, and the logs are whole.
    logs = {name: team.traces(name) for name in ("heron", *PEOPLE)}
    assert {name: {each["person"] for each in log} for name, log in logs.items()} == {
        "heron": {"Jonas"},
        "mira": {"Mira"},
        "jonas": {"Jonas"},
        "noa": {"Noa"},
    }
    assert {name: sum(each["trace_type"] == "user" for each in log) for name, log in logs.items()} == {
        "heron": 3,
        "mira": 7,
        "jonas": 2,
        "noa": 2,
    }
    for name in ("heron", *PEOPLE):
        with Memory(team.api.where(name)) as memory:
            assert memory.check() == []
