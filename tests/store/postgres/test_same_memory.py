"""A memory is the same in a folder and in a database: same answers, same ids, same bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.ids import at
from looseleaf.store.postgres.store import PostgresStore
from looseleaf.transfer.move import move

if TYPE_CHECKING:
    from postgres import Running

JANUARY = 1_736_000_000.0
KEY = bytes(range(32))

Act = Callable[[Memory], object]

SAID = (
    "I live in Lyon and work as a nurse at the Croix-Rousse hospital.",
    "Please always answer in English.",
    "My sister is called Zora, she is allergic to peanuts.",
    "We decided to use DuckDB instead of SQLite for the logs.",
    "I moved to Lisbon last week.",
    "Never push to main without a review.",
    "Remind me to call the dentist on Thursday.",
    "I don't like coriander.",
    "Forget that about the dentist.",
    "What is the weather like?",
    "The deadline of the heron project is 30 September.",
    "I prefer tea over coffee, by the way.",
)


def say(text: str) -> Act:
    def act(memory: Memory) -> object:
        memory.record(user=text)
        memory.record(tool_call="search", tool_args={"q": text[:20]}, tool_call_id="c1")
        memory.record(tool_result={"found": ["Lyon", "DuckDB"]}, tool_call_id="c1")
        return memory.record(assistant=f"I will keep that in mind: {text[:30]}…").to_record()

    return act


def first_fact(memory: Memory) -> str:
    found = memory.facts()
    return str(found[0].id) if found else "f_none"


ACTS: dict[str, Act] = {
    "distill": lambda memory: memory.distill(),
    "facts": lambda memory: memory.facts(),
    "old facts": lambda memory: memory.facts(status="superseded"),
    "recall": lambda memory: list(memory.recall("Where do I live?")),
    "recall of talk": lambda memory: list(memory.recall("What did we decide about the logs?", k=3)),
    "prompt": lambda memory: memory.prompt("Plan my week.", budget=4000).messages,
    "remember": lambda memory: memory.remember("My bike is a red Gazelle."),
    "edit": lambda memory: memory.pages.edit(
        "facts/garden.md", "# Garden\n\n- Tree: an old quince\n", reason="a new page"
    ),
    "patch": lambda memory: memory.pages.patch(
        "facts/garden.md", [("an old quince", "a young quince")], reason="it was replanted"
    ),
    "undo": lambda memory: memory.history.undo(),
    "compact": lambda memory: memory.window.compact(),
    "forget": lambda memory: memory.forget(match="Zora"),
    "forget a fact": lambda memory: memory.forget(fact=first_fact(memory)),
    "build": lambda memory: memory.views.build(),
    "overview": lambda memory: memory.views.overview(),
    "tidy": lambda memory: memory.review.tidy(),
    "pin": lambda memory: memory.review.pin(first_fact(memory)),
    "why": lambda memory: memory.explain.why("Lyon"),
    "pages": lambda memory: [memory.pages.read(path).text for path in memory.pages.list()],
    "edits": lambda memory: list(memory.history.edits()),
    "sessions": lambda memory: memory.talk.sessions(),
    "check": lambda memory: list(memory.check()),
    **{text: say(text) for text in SAID},
}

STORY = (
    *(
        SAID[0],
        SAID[1],
        "distill",
        "facts",
        "prompt",
        "recall",
        SAID[2],
        SAID[3],
        "distill",
        "remember",
        "prompt",
    ),
    *("edit", "recall of talk", "patch", "undo", "pages", SAID[4], SAID[5], "distill", "facts", "old facts"),
    *("build", "overview", "pin", "compact", "prompt", SAID[8], SAID[6], "distill", "tidy", "why", "prompt"),
    *("edits", "sessions", "forget", "facts", "recall of talk", "check", "forget a fact", "facts", "check"),
)
"""What is forgotten comes last: the next message to a database is a bet that is lost then, and gets a later id."""

FORGETTING = ("forget", "forget a fact")


class Pair:
    """The same memory twice: in a folder and in a database."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address
        self.open: list[Memory] = []
        for where in (str(folder), address):
            with at(JANUARY, "begin"):
                memory = Memory(where, session="s1")
            self.open.append(memory)
            memory.parts.store.put("log/key", KEY, base=None)

    def do(self, number: int, name: str) -> tuple[object, object]:
        """Do an act in both, at the same time; return what each says."""
        return tuple(self._told(memory, number, name) for memory in self.open)  # type: ignore[return-value]

    def _told(self, memory: Memory, number: int, name: str) -> object:
        with at(JANUARY + 3600.0 * number, f"{number} {name}"):
            try:
                told = ACTS[name](memory)
            except Refused as refused:
                told = f"{type(refused).__name__}: {refused}"
        shown = repr(told).replace(memory.name, "HERE")
        return re.sub(
            r"Probe\(files=\d+, bytes=\d+", "Probe(", shown
        )  # a folder has copies and locks besides

    def files(self) -> tuple[dict[str, bytes], dict[str, bytes]]:
        store = self.open[1].parts.store
        assert isinstance(store, PostgresStore)
        in_folder = {
            path.relative_to(self.folder).as_posix(): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file()
        }
        return _truth(in_folder), _truth(dict(store.everything()))

    def close(self) -> None:
        for memory in self.open:
            memory.close()


def _truth(files: dict[str, bytes]) -> dict[str, bytes]:
    """Leave out views, locks, and what only a folder needs."""
    only = ("views/", "log/lock", "log/turn", "log/machine", "log/aside/late", "log/forgetter", ".gitignore")
    logs = (name for name, data in files.items() if name.endswith(".jsonl") and not data)
    empty = {*logs}  # a log that was just sealed may have an empty file
    return {name: data for name, data in files.items() if not name.startswith(only) and name not in empty}


@contextmanager
def pair(tmp_path: Path, postgres: Running) -> Iterator[Pair]:
    both = Pair(tmp_path / "memory", postgres.memory())
    try:
        yield both
    finally:
        both.close()


def check_story(both: Pair, story: tuple[str, ...]) -> None:
    for number, name in enumerate(story, 1):
        folder, database = both.do(number, name)
        assert database == folder, f"{number}: {name}"
    folder_files, database_files = both.files()
    assert database_files.keys() == folder_files.keys()
    assert [name for name, data in folder_files.items() if database_files[name] != data] == []


def random_story(chance: random.Random, length: int) -> tuple[str, ...]:
    acts = sorted(ACTS.keys() - {*FORGETTING})
    return (SAID[0], *chance.choices(acts, k=length), *chance.choices(FORGETTING, k=1), "facts", "check")


@pytest.fixture(autouse=True)
def one_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOSELEAF_MACHINE", "database")


def test_a_story_leaves_the_same_bytes_and_answers_in_both(tmp_path: Path, postgres: Running) -> None:
    with pair(tmp_path, postgres) as both:
        check_story(both, STORY)


@pytest.mark.parametrize("seed", range(3))
def test_any_story_does(tmp_path: Path, postgres: Running, seed: int) -> None:
    chance = random.Random(seed)
    with pair(tmp_path, postgres) as both:
        check_story(both, random_story(chance, 25))


@pytest.mark.long
def test_many_stories_do(tmp_path: Path, postgres: Running) -> None:
    for seed in range(100, 160):
        chance = random.Random(seed)
        with pair(tmp_path / str(seed), postgres) as both:
            check_story(both, random_story(chance, 40))


def test_a_memory_that_moves_to_and_fro_stays_the_same(tmp_path: Path, postgres: Running) -> None:
    folder, address = tmp_path / "memory", postgres.memory()
    with Memory(folder) as memory:
        for text in SAID[:6]:
            say(text)(memory)
        memory.distill()
        facts = [fact.to_dict() for fact in memory.facts()]
    before = _truth(
        {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
    )
    moved = move(str(folder), address)
    assert moved.left_out == ()
    with Memory(address) as memory:
        assert [fact.to_dict() for fact in memory.facts()] == facts
        assert memory.recall("Where do I live?")[0].text
    with Memory(folder) as memory:
        with pytest.raises(Refused, match="this memory moved to postgresql://"):
            memory.record(user="too late")
        assert any("moved to postgresql://" in note for note in memory.notes)
    back = tmp_path / "back"
    move(address, str(back))
    after = _truth(
        {path.relative_to(back).as_posix(): path.read_bytes() for path in back.rglob("*") if path.is_file()}
    )
    assert {name: data for name, data in after.items() if not name.startswith("log/prompts")} == {
        name: data for name, data in before.items() if name != "log/moved"
    }
    with pytest.raises(Refused, match="this memory moved to"):
        Memory(address)


def test_who_writes_to_a_database_that_was_left_is_sent_on(tmp_path: Path, postgres: Running) -> None:
    address = postgres.memory()
    with Memory(address) as memory:
        memory.record(user="I live in Lyon.")
        move(address, str(tmp_path / "there"))
        acts: list[Any] = [
            lambda: memory.record(user="too late"),
            lambda: memory.remember("I live in Bonn."),
            lambda: memory.pages.edit("facts/x.md", "# X\n", reason="r"),
        ]
        for act in acts:
            with pytest.raises(Refused, match=f"moved to {tmp_path}/there"):
                act()
    with Memory(tmp_path / "there") as memory:
        assert [trace.content for trace in memory.talk.tail()] == ["I live in Lyon."]


def test_a_move_to_another_memory_or_a_taken_folder_is_refused(tmp_path: Path, postgres: Running) -> None:
    address = postgres.memory()
    with Memory(address) as memory:
        memory.remember("I live in Lyon.")
    with Memory(tmp_path / "other") as memory:
        memory.remember("I live in Bonn.")
    with pytest.raises(Refused, match="there is another memory at"):
        move(str(tmp_path / "other"), address)
    with pytest.raises(Refused, match="is already another memory"):
        move(address, str(tmp_path / "other"))
    for one, other in ((str(tmp_path / "other"), str(tmp_path / "new")), (address, postgres.memory())):
        with pytest.raises(Refused, match="give a folder and the address"):
            move(one, other)
    with Memory(address) as memory, Memory(tmp_path / "other") as other_memory:
        assert [fact.object for fact in (*memory.facts(), *other_memory.facts())] == ["Lyon", "Bonn"]


def test_what_was_begun_in_a_database_is_its_new_machine_s_own_in_a_folder(
    tmp_path: Path, postgres: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOSELEAF_MACHINE", "desk")
    address, folder = postgres.memory(), tmp_path / "there"
    with Memory(address) as memory:
        memory.record(user="My sister is called Zora.")
        memory.distill()
    move(address, str(folder))
    with Memory(folder) as memory:
        assert memory.parts.files.machines() == []
        done = memory.forget(match="Zora")
        assert done.probe is not None
        assert (done.probe.hits, done.probe.elsewhere) == ((), ())
    assert [path for path in folder.rglob("*") if path.is_file() and b"Zora" in path.read_bytes()] == []
