"""Views: whatever of them is deleted, in whatever order and process they are made, they have the same bytes."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drawing import few
from looseleaf import Memory
from looseleaf.base.messages import Distilled, Material, Noted, Proposal
from looseleaf.base.policy import Policy
from looseleaf.store.files import FileStore
from looseleaf.views.build import Topics
from placing import THEN, stub, tell, tool_says
from tables import check_rows

T = 1_770_000_000.0
DAY = 86400.0
CACHES = ("ends/", "heads.json", "heads/", "tokens.sqlite", "redistill/", "essentials.json")
AGENT_CACHES = ("turns.json", "kept.json")

Views = dict[str, bytes]


class Lines:
    """A distiller: a line `topic/Relation: object` is a fact, `!` before it says that it corrects; others are noted."""

    name = "lines/1"

    def distill(self, material: Material, tokens: int) -> Distilled:
        facts: list[dict[str, Any]] = []
        noted: list[Noted] = []
        for trace in material.traces():
            for line in trace.content.splitlines():
                where, slash, said = line.removeprefix("!").partition("/")
                relation, colon, what = said.partition(": ")
                if slash and colon:
                    made = Proposal(relation, what, line, where, source=trace.id, correction=line[0] == "!")
                    facts.append(made.to_dict())
                elif line:
                    noted.append(Noted(line, trace.id))
        return Distilled(f"{len(facts)} facts.", None, tuple(facts), constraints=tuple(noted))


SHORT = Policy(context_tokens=3000, max_tokens=1, tail_turns=1)


def opened(path: Path, **more: Any) -> Memory:
    return Memory(path, distiller=Lines(), counter=len, policy=SHORT, **more)


def saw(path: Path) -> Views:
    """The views that are a function of the log."""
    found: Views = {}
    for file in sorted((path / "views").rglob("*")):
        name = str(file.relative_to(path / "views"))
        if (
            file.is_file()
            and file.suffix != ".lock"
            and not name.startswith(CACHES)
            and file.name not in AGENT_CACHES
        ):
            found[name] = file.read_bytes()
    return found


def live(path: Path) -> None:
    """Two agents, several topics, values that change, a person's edits and scores, compactions; built at each step."""
    for number in range(6):
        with opened(path, agent="main" if number % 3 else "other") as memory:
            memory.record(
                user=f"user/Home: town {number // 2}\nuser/Likes: tea {number}", ts=T + number * DAY
            )
            memory.record(assistant=f"Never touch file {number}.", ts=T + number * DAY + 1)
            if number % 2:
                memory.record(user=f"!user/Home: city {number}", ts=T + number * DAY + 2)
                memory.distill()
            else:
                for later in range(3, 6):
                    memory.record(user="And now?", ts=T + number * DAY + later)
                memory.window.compact()
            memory.views.build()
            memory.distill(
                f"project/Database: base {number}\nWhich port {number}?",
                topic=f"Topic {number % 3}",
                author="person",
            )[0]
            memory.distill(f"project/Port: {8000 + number}", topic="Elsewhere")[0]
            memory.views.build()
            if number == 3:
                memory.pages.edit(
                    "USER.md", lambda text: text.replace("tea 1", "coffee"), reason="taste", author="person"
                )
                memory.review.pin(memory.facts(topic="user")[0].id or "")
                memory.review.score(memory.facts(topic="user")[-1].id or "", 9)
                memory.review.approve(memory.facts(status="pending")[0].id or "")
            memory.views.build()


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Views]:
    path = tmp_path_factory.mktemp("lived") / "memory"
    live(path)
    shutil.copytree(path / "views", path.parent / "views")
    return path, saw(path)


@pytest.fixture
def folder(lived: tuple[Path, Views], tmp_path: Path) -> Path:
    """A copy of that memory."""
    return Path(shutil.copytree(lived[0], tmp_path / "memory"))


def as_it_was(path: Path) -> None:
    shutil.rmtree(path / "views", ignore_errors=True)
    shutil.copytree(path.parent / "views", path / "views")


def test_a_memory_that_lived_has_every_kind_of_view(lived: tuple[Path, Views]) -> None:
    path, views = lived
    assert {
        "GLOBAL_MEMORY.json",
        "GLOBAL_MEMORY.md",
        "topics.json",
        "facts.json",
        "facts/user.json",
        "facts/review/pending.json",
        "topics/user/topic_memory.json",
        "topics/topic-0/topic_memory.md",
        "agents/main/episodic.jsonl",
        "agents/other/semantic.jsonl",
    } <= views.keys()
    assert all(
        views[f"agents/{agent}/{name}.jsonl"]
        for agent in ("main", "other")
        for name in ("episodic", "semantic")
    )
    assert (path / "views/essentials.json").exists()


# --- the same bytes --------------------------------------------------------------------


@settings(max_examples=few(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_of_the_views_is_deleted_is_made_again_byte_for_byte(
    lived: tuple[Path, Views], data: st.DataObject
) -> None:
    path, before = lived
    as_it_was(path)
    views = path / "views"
    everything = sorted(str(each.relative_to(views)) for each in views.rglob("*") if each.suffix != ".lock")
    gone = data.draw(st.sets(st.sampled_from(everything), min_size=1, max_size=12))
    for name in gone:
        if (views / name).is_dir():
            shutil.rmtree(views / name)
        else:
            (views / name).unlink(missing_ok=True)
    with opened(path) as memory:
        memory.views.build()
    assert saw(path) == before


@pytest.mark.parametrize("seed", ["1", "2"])
def test_every_process_makes_the_same_bytes(folder: Path, lived: tuple[Path, Views], seed: str) -> None:
    shutil.rmtree(folder / "views")
    code = "import sys; from looseleaf import Memory; Memory(sys.argv[1]).views.build()"
    environment = os.environ | {"PYTHONHASHSEED": seed}
    subprocess.run([sys.executable, "-c", code, str(folder)], env=environment, check=True)
    assert saw(folder) == lived[1]


def test_the_order_in_which_topics_and_entries_are_met_makes_no_difference(
    folder: Path, lived: tuple[Path, Views], monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(5)
    met: list[str] = []

    def otherwise(name: str) -> None:
        listing = getattr(FileStore, name)

        def shuffled(self: FileStore, *given: str) -> Any:
            met.append(name)
            found = list(listing(self, *given))
            random.shuffle(found)
            return tuple(found) if name == "folders" else found

        monkeypatch.setattr(FileStore, name, shuffled)

    for name in ("list", "folders", "streams"):
        otherwise(name)
    names = vars(Topics)["names"]

    def in_any_order(self: Topics) -> list[str]:
        found: list[str] = names.fget(self)
        return random.sample(found, len(found))

    monkeypatch.setattr(Topics, "names", property(in_any_order))
    shutil.rmtree(folder / "views")
    with opened(folder) as memory:
        memory.views.build()
        memory.views.build(full=True)
    assert {"list", "folders", "streams"} <= set(met)
    assert saw(folder) == lived[1]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "name", ["topics.json", "essentials.json", "agents/main/kept.json", "agents/other/kept.json"]
)
def test_a_damaged_view_is_made_again(lived: tuple[Path, Views], tmp_path: Path, name: str) -> None:
    def check(number: int, damage: bytes | None) -> None:
        folder = Path(shutil.copytree(lived[0], tmp_path / str(number)))
        file = folder / "views" / name
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
        with opened(folder) as memory:
            memory.distill("project/Goal: one more", topic="Topic 1", author="person")[0]
            memory.views.build()
            told = memory.views.overview()
            after = saw(folder)
        assert after.keys() == lived[1].keys()
        assert after["GLOBAL_MEMORY.json"] != lived[1]["GLOBAL_MEMORY.json"]
        shutil.rmtree(folder / "views")
        with opened(folder) as memory:
            memory.views.build()
            assert memory.views.overview() == told == json.loads(after["GLOBAL_MEMORY.json"])
        assert saw(folder) == after

    check_rows(check, enumerate([b"", b"\xff{", b'{"schema":"topics.v1","topics":{}}\n', None]))


def test_a_build_with_nothing_new_writes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(folder) as memory:
        memory.views.build()
        written = counted(monkeypatch)["view"]
        assert memory.views.build().made == ()
        assert memory.views.overview()["topics_omitted"] == 0
        assert [path for path in written if not path.startswith("views/heads")] == []


def test_where_nothing_can_be_written_all_can_be_read(folder: Path, lived: tuple[Path, Views]) -> None:
    shutil.rmtree(folder / "views")
    (folder / "views").write_bytes(b"a file where a folder should be")
    with opened(folder) as memory:
        assert memory.views.overview() == json.loads(lived[1]["GLOBAL_MEMORY.json"])
        assert memory.views.topic("user") == json.loads(lived[1]["topics/user/topic_memory.json"])


def test_entries_that_are_gone_or_broken_are_passed_over(folder: Path) -> None:
    entries = sorted((folder / "log/entries/topic-1").iterdir())
    (entries[0] / "summary.json").write_bytes(b"{")
    shutil.rmtree(entries[1])
    with opened(folder) as memory:
        assert "topic-1" in memory.views.build(full=True).made
        assert memory.views.topic("topic-1")["topic"] == "topic-1"


def test_an_entry_of_a_compaction_that_is_broken_is_passed_over(folder: Path) -> None:
    episodic = folder / "views/agents/main/episodic.jsonl"
    before = [json.loads(line)["entry"] for line in episodic.read_text().splitlines()]
    shutil.rmtree(folder / "log/entries" / before[0])
    with opened(folder) as memory:
        memory.views.build(full=True)
    assert [json.loads(line)["entry"] for line in episodic.read_text().splitlines()] == before[1:]


def test_what_was_kept_of_another_journal_is_not_believed(
    folder: Path, lived: tuple[Path, Views], tmp_path: Path
) -> None:
    with opened(tmp_path / "another") as memory:
        memory.pages.edit("USER.md", "# User Facts\n", reason="begin")
        memory.record(user="Hello.")
        memory.views.build()
    for name in ("agents/main/kept.json", "essentials.json", "topics.json"):
        shutil.copy(tmp_path / "another/views" / name, folder / "views" / name)
    with opened(folder) as memory:
        memory.views.build()
    assert saw(folder) == lived[1]


def test_views_of_agents_that_cannot_be_written_keep_nobody_from_building(
    folder: Path, lived: tuple[Path, Views]
) -> None:
    shutil.rmtree(folder / "views")
    (folder / "views").mkdir()
    (folder / "views/agents").write_bytes(b"a file where a folder should be")
    with opened(folder) as memory:
        made = memory.views.build()
        assert len(made.made) == made.topics
    left = {name: data for name, data in lived[1].items() if not name.startswith("agents/")}
    assert saw(folder) == left | {"agents": b"a file where a folder should be"}


def test_a_build_says_how_far_it_is(folder: Path) -> None:
    told: list[tuple[int, int]] = []
    with opened(folder) as memory:
        topics = len(memory.views.topics())
        memory.views.build(full=True, progress=lambda done, of: told.append((done, of)))
    assert told == [(number, topics) for number in range(1, topics + 1)]


# --- pages -----------------------------------------------------------------------------


def test_pages_that_are_gone_are_restored_byte_for_byte_and_nothing_is_journaled(
    folder: Path, lived: tuple[Path, Views]
) -> None:
    with opened(folder) as memory:
        pages = {
            path: (folder / path).read_bytes() for path in memory.pages.list() if (folder / path).exists()
        }
    assert {"USER.md", "facts/topic-1.md", "review/pending.md"} <= pages.keys()
    journal = {file: file.read_bytes() for file in (folder / "log").glob("journal*")}
    for path in pages:
        (folder / path).unlink()
    with opened(folder) as memory:
        assert set(memory.history.restore()) == pages.keys()
        assert {path: (folder / path).read_bytes() for path in pages} == pages
        assert memory.history.restore() == []
        assert memory.pages.absorb() == []
        memory.views.build()
    assert {file: file.read_bytes() for file in (folder / "log").glob("journal*")} == journal
    assert saw(folder) == lived[1]


# --- one entry touches one topic ---------------------------------------------------------


def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """The paths that are read and written from now on."""
    paths: dict[str, list[str]] = {"get": [], "view": []}

    def count(name: str) -> None:
        original = getattr(FileStore, name)

        def counting(self: FileStore, path: str, *given: Any, **more: Any) -> Any:
            paths[name].append(path)
            return original(self, path, *given, **more)

        monkeypatch.setattr(FileStore, name, counting)

    for name in paths:
        count(name)
    return paths


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks/build.py"
    spec = importlib.util.spec_from_file_location("build_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("topics", [60, pytest.param(2000, marks=pytest.mark.long)])
def test_a_build_after_one_new_entry_touches_one_topic(
    bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topics: int
) -> None:
    bench.fill(tmp_path / "memory", topics, per_topic=1)
    with opened(tmp_path / "memory") as memory:
        assert len(memory.views.build().made) == topics
        memory.distill("project/Rule: never on Fridays", topic="topic-0007", author="person")[0]
        [rule] = [fact for fact in memory.facts(topic="topic-0007") if fact.object == "never on Fridays"]
        memory.review.score(rule.id or "", 10)
        paths = counted(monkeypatch)
        assert memory.views.build().made == ("topic-0007",)
        files = {f"views/topics/topic-0007/topic_memory.{end}" for end in ("json", "md")}
        touched = {path for found in paths.values() for path in found if path.startswith("views/topics/")}
        assert touched == files
        assert {path for path in paths["get"] if path.startswith("views/facts/")} == set()
        assert {path for path in paths["get"] if path.startswith("log/entries/")} == {
            f"log/entries/{name}/{file}"
            for name in memory.parts.known.entries_of("topic-0007")
            for file in ("meta.json", "summary.json")
        }
        others = {path for path in paths["view"] if not path.startswith(("views/heads", "views/agents/"))}
        assert others - files == {
            "views/GLOBAL_MEMORY.json",
            "views/GLOBAL_MEMORY.md",
            "views/essentials.json",
            "views/topics.json",
        }
        told = memory.views.overview()
        [first] = [each["object"] for each in told["do_not_forget"] if each["type"] == "constraint"][:1]
        assert first == "never on Fridays"
        monkeypatch.undo()
        memory.views.build(full=True)
        assert memory.views.overview() == told


# --- as of a time ------------------------------------------------------------------------


def test_each_value_is_told_in_turn_as_of_before_between_and_after_two_updates(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        for number, town in enumerate(("Berlin", "Paris", "Rome")):
            memory.record(user=f"{'!' * bool(number)}user/Home: {town}", ts=T + number * DAY)
            memory.distill()
        memory.views.build()
        for when, true in (
            (-1.0, ""),
            (1.0, "Berlin"),
            (DAY + 1, "Paris"),
            (2 * DAY + 1, "Rome"),
            (None, "Rome"),
        ):
            as_of = None if when is None else T + when
            topic, whole = memory.views.topic("user", as_of=as_of), memory.views.overview(as_of=as_of)
            told = (
                [each["object"] for each in topic["facts"]],
                [each["object"] for each in whole["do_not_forget"]],
            )
            assert told == (([true], [true]) if true else ([], []))
            [snapshot] = [each for each in whole["active_topics"] if each["topic"] == "user"]
            for text in (topic["state"]["summary"], snapshot["state"]["summary"]):
                assert [name for name in ("Berlin", "Paris", "Rome") if name in text] == [true] * bool(true)


# --- what compactions kept -----------------------------------------------------------------


def semantic(memory: Memory) -> list[dict[str, Any]]:
    memory.views.build()
    text = Path(memory.path, f"views/agents/{memory.agent}/semantic.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def say(memory: Memory, *texts: str) -> None:
    for text in texts:
        memory.record(user=text)
        memory.record(assistant="I see.")
    for _ in range(6):
        memory.record(user="Go on.")
        memory.record(assistant="It goes on.")


def test_a_sentence_goes_with_its_fact_and_comes_back_with_it(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        say(memory, "Keep user/Home in mind.\nuser/Home: Berlin", "Never push to main.")
        first = memory.window.compact()
        assert first is not None
        before = semantic(memory)
        assert {"Never push to main.", "Home: Berlin"} <= {line["fact"] for line in before}
        [home] = [line for line in before if line["fact"] == "Home: Berlin"]
        assert list(home)[:6] == ["id", "ts", "fact", "tags", "confidence", "salience"]
        assert home["tags"] == ["identity", "user"]
        assert {line["entry"] for line in before} == {first.entry}
        say(memory, "!user/Home: Paris")
        assert memory.window.compact() is not None
        told = [line["fact"] for line in semantic(memory)]
        assert "Home: Paris" in told
        assert not [text for text in told if "Berlin" in text]
        assert "Never push to main." in told
        assert memory.history.undo("USER.md")[0].author == "program"
        told = [line["fact"] for line in semantic(memory)]
        assert "Home: Berlin" in told
        assert not [text for text in told if "Paris" in text]


def test_a_noted_decision_that_was_superseded_is_told_no_more(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", policy=SHORT, counter=len) as memory:
        say(memory, "We decided to use MySQL as our database.", "Never touch the generated files.")
        assert memory.window.compact() is not None
        assert "We decided to use MySQL as our database." in [line["fact"] for line in semantic(memory)]
        say(memory, "We decided to use Postgres as our database instead of MySQL.")
        assert memory.window.compact() is not None
        told = [line["fact"] for line in semantic(memory)]
        assert "We decided to use MySQL as our database." not in told
        assert [text for text in told if "Postgres" in text]
        assert "Never touch the generated files." in told


@pytest.mark.parametrize("name", ["facts.json", "facts/user.json", "facts"])
def test_a_view_of_facts_that_goes_while_a_memory_is_open_comes_back_with_the_next_build(
    folder: Path, lived: tuple[Path, Views], name: str
) -> None:
    with opened(folder) as memory:
        memory.facts()
        gone = folder / "views" / name
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
        memory.views.build()
    assert saw(folder) == lived[1]


def test_what_agents_found_stands_in_no_view_until_a_person_says_yes(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", distiller=stub()) as memory:
        tell(memory, "I like tea.")
        tool_says(memory, "I like jazz.", at=THEN + 1)

        def showing(word: str) -> set[str]:
            memory.views.build()
            views = Path(memory.path, "views")
            files = [*views.glob("GLOBAL_MEMORY.*"), *(views / "topics" / "user").iterdir()]
            return {path.name for path in files if word in path.read_text()}

        everywhere = {"GLOBAL_MEMORY.json", "GLOBAL_MEMORY.md", "topic_memory.json", "topic_memory.md"}
        assert (showing("tea"), showing("jazz")) == (everywhere, set())
        [found] = [each for each in memory.facts() if each.level == "tainted"]
        memory.review.pin(found.id or "")
        memory.review.score(found.id or "", 10)
        assert showing("jazz") == set()
        memory.review.approve(found.id or "")
        assert showing("jazz") == everywhere
