"""Who must not see each other's things has separate memories: whatever happens, no word of one reaches another.

Every memory has words that occur nowhere else. People and agents talk, remember, write, decide, ask and probe, at
random; after each answer, whatever it is, none of another's words may stand in it.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from looseleaf import Memory
from looseleaf.base.errors import NotFound, Refused
from looseleaf.memory.layers import Layers, nothing
from looseleaf.memory.memory import on_behalf
from looseleaf.serve.access import Token
from looseleaf.serve.serving import Serving
from resting import Api, Asker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from postgres import Running

pytest.importorskip("fastapi", reason="the server's packages are missing")

OVER = {
    "heron-team": "shared = true\n",
    "crane-team": "shared = true\n",
    "nest-mira": 'over = ["heron-team"]\n',
    "nest-jonas": 'over = ["heron-team"]\n',
    "nest-kim": 'over = ["crane-team"]\n',
    "nest-lee": 'over = ["nest-mira", "heron-team"]\n',  # which no token of Lee names
}
"""The memories, and what their settings say."""

MAY: dict[str, dict[str, Any]] = {
    "Mira": {"memories": ["nest-mira", "heron-team"], "only": {"heron-team": ["read", "write"]}},
    "Jonas": {"memories": ["nest-jonas", "heron-team"]},
    "Kim": {"memories": ["nest-kim", "crane-team"], "only": {"crane-team": ["read"]}},
    "Lee": {"memories": ["nest-lee"]},
}
"""Who has which memories: Jonas reviews in his team, Mira only proposes, Kim only reads, Lee has no team."""

PRIVATE = (
    "My sister {0} lives with me and the kids.",
    "I can't stand {0}, it makes me sick.",
    "My therapist {0} says I should sleep more.",
    "I earn 4,300 a month at {0}.",
    "Our flat is in {0}, on the third floor.",
)
OF_THE_TEAM = (
    "We deploy {0} on Thursdays.",
    "Never merge into {0} without a green build.",
    "The staging server is {0}.",
    "Our customer {0} pays in Norwegian crowns.",
)
PAGES = ("USER.md", "facts/project.md", "facts/user.md", "facts/mira.md", "review/pending.md", "state.json")
TOOLS: tuple[tuple[str, dict[str, str]], ...] = (
    ("memory_list", {}),
    ("memory_read", {"path": "facts/project.md"}),
    ("recall", {"query": "sister kids staging customer"}),
    ("recall", {"topic": "mira"}),
    ("memory_forget", {"what": "sister"}),
)


@dataclass
class Told:
    """An answer, and who got it."""

    who: str
    asked: str
    text: str


@dataclass
class World:
    """A server with these memories; who may know which of the words that were said."""

    api: Api
    people: dict[str, Asker]
    knows: dict[str, set[str]] = field(default_factory=dict)
    last: list[str] = field(default_factory=list)

    def word(self, *memories: str) -> str:
        """A word that only those know who may read one of these memories."""
        made = f"Zq{'bcdfghjklm'[len(self.knows) % 10]}{len(self.knows):03d}"
        self.knows[made] = {who for who, may in MAY.items() if set(memories) & set(may["memories"])}
        return made

    def look(self, told: Told) -> None:
        """No answer has a word, or the name of a memory, that its reader must not know."""
        leaked = [word for word, who in self.knows.items() if told.who not in who and word in told.text]
        hidden = [name for name in OVER if name not in MAY[told.who]["memories"]]
        leaked += [name for name in hidden if name in told.text and name not in told.asked]
        assert not leaked, f"{told.who} was told {leaked} by {told.asked}: {told.text[:2000]}"

    def ask(self, who: str, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        answer = self.people[who](method, path, body, **headers)
        self.look(Told(who, path, f"{answer.text}{dict(answer.headers)}"))
        assert answer.status_code != 500, answer.text
        return answer

    # --- what they do ----------------------------------------------------------------------

    def talk(self, who: str, number: int) -> None:
        memory = _pick(MAY[who]["memories"], number)
        under = [name for name in re.findall(r'"([\w-]+)"', OVER[memory]) if name in MAY[who]["memories"]]
        is_private = number % 3 > 0
        word = self.word(memory, *(() if is_private else under))
        said = _pick(PRIVATE if is_private else OF_THE_TEAM, number // 3).format(word)
        talk = [{"user": said}, {"assistant": f"I see, {word}."}]
        self.ask(
            who,
            "POST",
            f"/memories/{memory}/traces?session=s{number % 4}-{who.lower()}-{len(self.knows)}",
            talk,
        )
        self.ask(who, "POST", f"/memories/{memory}/distill", {})

    def remember(self, who: str, number: int) -> None:
        memory = _pick(MAY[who]["memories"], number)
        said = _pick(PRIVATE, number // 2).format(self.word(memory))
        self.ask(who, "POST", f"/memories/{memory}/remember", {"text": said})

    def write(self, who: str, number: int) -> None:
        memory, page = _pick(MAY[who]["memories"], number), _pick(PAGES[:3], number // 2)
        text = f"# Notes\n\n- {_pick(PRIVATE, number).format(self.word(memory))}\n"
        self.ask(who, "PUT", f"/memories/{memory}/pages/{page}", {"text": text}, if_match="*")

    def decide(self, who: str, number: int) -> None:
        memory = _pick(MAY[who]["memories"], number)
        answer = self.ask(who, "GET", f"/memories/{memory}/review")
        waiting = answer.json()["items"] if answer.status_code == 200 else []
        self.last += [each["id"] for each in waiting]
        name = _pick(self.last, number) if self.last else "f_0123456789ab"
        act = _pick(("approve", "reject"), number // 2)
        self.ask(who, "POST", f"/memories/{memory}/facts/{name}/{act}")
        for layer in OVER:
            self.ask(who, "POST", f"/memories/{memory}/facts/{layer}:{name}/{act}")

    def ask_for(self, who: str, number: int) -> None:
        base = f"/memories/{_pick(list(OVER), number)}"
        self.ask(who, "POST", f"{base}/recall", {"query": "sister kids staging customer month", "sure": 0.0})
        self.ask(
            who, "POST", f"{base}/prompts?dry_run=true", {"task": "What about the kids and the customer?"}
        )
        self.ask(who, "POST", f"{base}/prompts", {"task": "And now?"})
        for path in (
            "facts",
            "facts?status=pending",
            "topics",
            "sessions",
            "state",
            "pages",
            "window",
            "health",
        ):
            self.ask(who, "GET", f"{base}/{path}")

    def probe(self, who: str, number: int) -> None:
        base = f"/memories/{_pick(MAY[who]['memories'], number)}"
        for layer in OVER:
            page = _pick(PAGES, number)
            for path in (
                f"pages/{layer}:{page}",
                f"pages/{layer}:{page}/history",
                f"pages/{layer}:{page}/who",
            ):
                self.ask(who, "GET", f"{base}/{path}")
            self.ask(who, "GET", f"{base}/facts/{layer}:f_")
            if layer not in MAY[who]["memories"]:  # one that is there is like one that is not
                there, nowhere = (
                    self.ask(who, "GET", f"{base}/pages/{name}:USER.md").text.replace(name, "")
                    for name in (layer, "no-layer")
                )
                assert there == nowhere
        for name in self.last[-3:]:
            for path in ("", "/history", "/sources"):
                self.ask(who, "GET", f"{base}/facts/{name}{path}")
        for path in ("/memories", "/tokens", "/audit", "/openapi.json", f"{base}/jobs", f"{base}/costs"):
            self.ask(who, "GET", path)

    def use_tools(self, who: str, number: int) -> None:
        memory = _pick(list(OVER), number)
        calls = [("tools/call", {"name": name, "arguments": given}) for name, given in TOOLS]
        calls += [
            ("tools/call", {"name": "memory_read", "arguments": {"path": f"{layer}:{page}"}})
            for layer in OVER
            for page in PAGES[:2]
        ]
        calls += [("resources/list", {}), ("resources/read", {"uri": "looseleaf://index"})]
        for method, params in calls:
            self.mcp(who, memory, method, params)

    def mcp(self, who: str, memory: str, method: str, params: dict[str, Any]) -> None:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        head = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
        client = self.people[who].client
        answer = client.post(f"{self.api.address}/mcp/{memory}", json=body, headers=head)
        self.look(Told(who, f"{memory} {json.dumps(params)}", answer.text))

    def listen(self, who: str) -> None:
        """Hear the events of some memories for a moment."""
        for memory in list(OVER)[::2]:
            heard = ""
            try:
                with self.people[who].client.stream(
                    "GET", f"/memories/{memory}/events", timeout=0.2
                ) as answer:
                    for part in answer.iter_text():
                        heard += part
            except httpx.TimeoutException:
                pass
            self.look(Told(who, memory, heard))


def _pick(from_these: Any, number: int) -> Any:
    return from_these[number % len(from_these)]


ACTS: tuple[Callable[[World, str, int], None], ...] = (
    World.talk,
    World.talk,
    World.remember,
    World.write,
    World.decide,
    World.ask_for,
    World.probe,
    World.use_tools,
)
HISTORIES = st.lists(
    st.tuples(st.sampled_from(ACTS), st.sampled_from(list(MAY)), st.integers(0, 59)), min_size=12, max_size=24
)


@contextmanager
def world(folder: Path, database: str = "") -> Iterator[World]:
    folder.mkdir(parents=True, exist_ok=True)
    api = Api(folder, database=database)
    api.start()
    try:
        admin = api.asker("*", voice="user")
        for name, text in OVER.items():
            admin.ok("POST", "/memories", {"name": name})
            settle(api.where(name), text)
        people = {}
        for number, (who, may) in enumerate(MAY.items()):
            made: dict[str, Any] = {
                "name": who,
                "person": who,
                "voice": "user",
                "agent": ("claude", "codex")[number % 2],
            }
            made |= {"scopes": ["read", "write", "review"], **may}
            people[who] = api.asker_with(admin.ok("POST", "/tokens", made)["token"])
        yield World(api, people)
    finally:
        api.stop()


def settle(where: str, text: str) -> None:
    """Write the settings of a memory, which no program can do over the API."""
    with Memory(where) as memory:
        store = memory.parts.store
        document = store.get("looseleaf.toml")
        store.put("looseleaf.toml", text.encode(), base=document.sha256 if document is not None else None)


def play(there: World, history: list[tuple[Callable[[World, str, int], None], str, int]]) -> None:
    for act, who, number in history:
        act(there, who, number)
    for number, (who, may) in enumerate(MAY.items()):  # at the end, everybody looks at what there is
        for memory in (*may["memories"], _pick(list(OVER), len(history) + number)):
            there.ask_for(who, list(OVER).index(memory))
        there.probe(who, len(history) + number)
        there.listen(who)


_NUMBERS = iter(range(10**9))


def _runs(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )


@_runs(1)
@given(history=HISTORIES)
def test_no_word_of_a_memory_reaches_who_may_not_read_it(tmp_path: Path, history: list[Any]) -> None:
    with world(tmp_path / str(next(_NUMBERS))) as there:
        play(there, history)


@pytest.mark.long
@_runs(60)
@given(history=HISTORIES)
def test_nor_in_many_histories(tmp_path: Path, history: list[Any]) -> None:
    with world(tmp_path / str(next(_NUMBERS))) as there:
        play(there, history)


@_runs(1)
@given(history=HISTORIES)
def test_nor_where_all_memories_are_in_one_database(
    tmp_path: Path, postgres: Running, history: list[Any]
) -> None:
    database = postgres.address(postgres.database(), "looseleaf", "")
    with world(tmp_path / str(next(_NUMBERS)), database) as there:
        play(there, history)


SHORT = [
    (World.talk, "Mira", 2),
    (World.write, "Mira", 0),
    (World.talk, "Kim", 1),
    (World.use_tools, "Lee", 5),
    (World.use_tools, "Lee", 3),
    (World.ask_for, "Lee", 5),
    (World.ask_for, "Lee", 2),
]
"""Mira talks and writes to her own memory; Lee, whose memory lies over hers, asks for it in every way."""


def test_a_short_history_leaks_nothing(tmp_path: Path) -> None:
    with world(tmp_path) as there:
        play_short(there)


def play_short(there: World) -> None:
    for act, who, number in SHORT:
        act(there, who, number)


@pytest.mark.parametrize(
    ("where", "name", "without"),
    [
        (Layers, "may", lambda self, layer, scope: True),
        (Serving, "_walls", lambda self, token: None),
        (Token, "sees", lambda self, memory: True),
    ],
    ids=["every layer is read", "a request has no walls", "a token sees all"],
)
def test_without_a_wall_it_leaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: type, name: str, without: Any
) -> None:
    monkeypatch.setattr(where, name, without)
    with world(tmp_path) as there, pytest.raises(AssertionError, match="Lee was told"):
        play_short(there)


def test_the_walls_hold_for_a_program_too(tmp_path: Path) -> None:
    """The same in Python: a memory that is opened for somebody reads the layers that they may read."""
    settle(str(tmp_path / "heron"), "shared = true\n")
    settle(str(tmp_path / "mira"), 'over = ["heron"]\n')
    with Memory(tmp_path / "heron") as memory:
        memory.remember("The staging server is Zqbravo.")
    with Memory(tmp_path / "mira") as mira:
        heron = str(tmp_path / "heron")
        assert [fact.layer for fact in mira.facts()] == ["heron"]
        with on_behalf(mira, "Lee", nothing):
            assert mira.facts() == []
            assert mira.parts.farther(lambda far: far.context.where) == []
            for ask in (mira.fact, mira.pages.read, mira.explain.who):
                with pytest.raises(NotFound) as told:
                    ask("heron:facts/project.md:5")
                assert heron not in str(told.value)
        with on_behalf(mira, "Mira", lambda where, scope: scope == "read"):
            assert mira.parts.team() is None
            [found] = mira.facts()
            with pytest.raises(Refused, match="only a reviewer decides"):
                mira.review.reject(f"heron:{found.id}")
