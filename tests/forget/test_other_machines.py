"""What one machine forgets is forgotten on all: nothing of it is shown any more, and each machine takes it out of its
own log when it hears of it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from looseleaf import Memory
from looseleaf.base.errors import Invalid, NotFound
from looseleaf.base.values import Fact
from looseleaf.forget.forget import Forgotten
from machines import FIRST, HASTY, NAMES, Machines

WORD = "quokka"
SESSIONS = "Rexington"


def told(machines: Machines) -> None:
    """Two machines record things, each its own; then all machines know all of it."""
    with machines.open(FIRST) as memory:
        memory.record(user=f"I live in {WORD.title()}ville. My dog is called {SESSIONS}.")
        memory.distill()
        memory.remember(f"My brother keeps a {WORD} at home.")
    with machines.open("lap") as memory:
        memory.record(user=f"Yesterday a {WORD} ate my lunch. It was late.")
        memory.record(user=f"x{WORD} " * 30_000)  # a body
        memory.distill()
        memory.remember("My favourite colour is teal.")
    meet(machines)


def meet(machines: Machines, rounds: int = 4) -> None:
    for _ in range(rounds):
        machines.carry_all()
        for name in NAMES:
            with machines.open(name) as memory:
                memory.facts()


def holding(machines: Machines, word: str) -> list[str]:
    """The files of all machines that hold a word, without displaced files, which are kept for a moment."""
    return [
        str(path.relative_to(machines.folder))
        for path in sorted(machines.folder.rglob("*"))
        if path.is_file()
        and "late" not in path.parts
        and word.casefold().encode() in path.read_bytes().lower()
    ]


def select(memory: Memory, by: str) -> dict[str, Any]:
    if by == "fact":
        return {"fact": next(fact.id or "" for fact in memory.facts() if WORD in fact.object)}
    if by == "session":
        return {"session": next(each.session_id for each in memory.talk.sessions() if "live" in each.opening)}
    return {"match": WORD} if by == "match" else {"origin": "user"}


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    return Machines(tmp_path)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("by", "where"),
    [("match", FIRST), ("match", "lap"), ("fact", "phone"), ("session", "lap"), ("origin", FIRST)],
)
def test_what_one_machine_forgets_is_in_no_byte_of_any_once_they_have_met(
    machines: Machines, by: str, where: str
) -> None:
    told(machines)
    gone = {"match": WORD, "fact": f"brother keeps a {WORD}", "session": SESSIONS, "origin": "my lunch"}[by]
    assert {each.split("/")[0] for each in holding(machines, gone)} == {*NAMES}
    with machines.open(where) as memory:
        done = memory.forget(**select(memory, by))
    assert done.is_complete
    meet(machines)
    assert holding(machines, gone) == []
    assert machines.pages(FIRST) == machines.pages("lap") == machines.pages("phone")
    assert machines.facts(FIRST) == machines.facts("lap") == machines.facts("phone")
    assert any("teal" in fact.object for fact in current(machines, FIRST))
    for name in NAMES:
        with machines.open(name) as memory:
            assert [str(each) for each in memory.check() if each.severity == "error"] == []


def current(machines: Machines, name: str) -> list[Fact]:
    with machines.open(name) as memory:
        return memory.facts()


def test_until_another_machine_hears_of_it_nothing_of_it_is_shown_and_the_answer_says_where_it_is(
    machines: Machines,
) -> None:
    told(machines)
    with machines.open(FIRST) as memory:
        assert any(WORD in hit.text for hit in memory.recall(f"{WORD} lunch"))
        done = memory.forget(match=WORD)
        assert done.probe is not None
        assert (done.probe.hits, done.probe.machines) == ((), ("lap", "phone"))
        assert holding(machines, WORD)  # the logs of the others are theirs
        assert not any(WORD in hit.text for hit in memory.recall(f"{WORD} lunch"))
        assert not any(WORD in each.opening for each in memory.talk.sessions())
        assert not any(WORD in fact.object for fact in memory.facts())
    assert not any(WORD.encode() in page for page in machines.pages(FIRST).values())


def test_a_machine_that_said_it_without_the_others_knowing_forgets_that_too(machines: Machines) -> None:
    told(machines)
    with machines.open(FIRST) as memory:
        memory.forget(match=WORD)
    with machines.open("lap") as memory:
        memory.record(user=f"Two {WORD}s came today! They were kind.")
        memory.remember(f"I love {WORD} stew.")
    meet(machines)
    assert holding(machines, WORD) == []
    with machines.open(FIRST) as memory:
        assert any("kind" in hit.text for hit in memory.recall("kind"))


def test_what_is_said_after_a_machine_has_heard_stays(machines: Machines) -> None:
    told(machines)
    with machines.open(FIRST) as memory:
        memory.forget(match=WORD)
    meet(machines)
    with machines.open("lap") as memory:
        memory.remember(f"I do like the {WORD}.")
    meet(machines)
    for name in NAMES:
        assert any(WORD in f"{fact.object} {fact.quote}" for fact in current(machines, name))


@pytest.mark.sampled(2)
@pytest.mark.sampled(2)
@pytest.mark.parametrize("by", ["match", "fact", "session", "topic"])
def test_what_is_said_again_stays_though_others_take_it_in_before_they_hear(
    machines: Machines, by: str
) -> None:
    told(machines)
    with machines.open("lap") as memory:
        memory.remember(f"Animal: a {WORD}", topic="zoo")
        memory.state.update(goal=f"Feed the {WORD}", author="person")
    meet(machines)
    with machines.open("lap") as memory:
        memory.forget(**({"topic": "zoo"} if by == "topic" else select(memory, by)))
        memory.remember(f"Animal: a {WORD}", topic="zoo")
        memory.remember(f"My brother keeps a {WORD} at home.")
        memory.remember(f"I live in {WORD.title()}ville.")
        memory.state.add_task(f"Feed the {WORD}", author="person")
    meet(machines)
    again = [f"a {WORD}", f"My brother keeps a {WORD} at home.", f"{WORD.title()}ville"]
    for name in NAMES:
        known = " ".join(fact.object for fact in current(machines, name))
        assert [each for each in again if each not in known] == []
        with machines.open(name) as memory:
            assert [task["title"] for task in memory.state.to_dict()["tasks_open"]] == [f"Feed the {WORD}"]
            assert [str(each) for each in memory.check() if each.severity == "error"] == []
    assert machines.pages(FIRST) == machines.pages("lap") == machines.pages("phone")
    assert bool(holding(machines, "my lunch")) == (by != "match")


def test_the_very_words_that_went_with_their_session_stay_once_they_are_said_again(
    machines: Machines,
) -> None:
    words = "My favorite color is red."
    with machines.open("lap") as memory:
        trace = memory.record(user=words)
        memory.forget(session=trace.session_id)
        memory.remember(words)
    meet(machines)
    for name in NAMES:
        assert words in [fact.object for fact in current(machines, name)]
    with machines.open("phone") as memory:
        memory.forget(match="favorite color")
    meet(machines)
    assert holding(machines, words) == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("is_early", [False, True])
@pytest.mark.parametrize("order", [NAMES, NAMES[::-1], ("lap", FIRST, "phone")])
def test_what_a_machine_says_before_it_has_heard_goes_from_all(
    machines: Machines, order: tuple[str, ...], is_early: bool
) -> None:
    words = "My favorite color is blue."
    with machines.open("lap") as memory:
        trace = memory.record(user=words)
        memory.forget(session=trace.session_id)
    with machines.open("phone") as memory:
        memory.remember(words)
    if is_early:
        machines.carry("phone", FIRST)
        assert words in [fact.object for fact in current(machines, FIRST)]
    for _ in range(4):
        machines.carry_all()
        for name in order:
            current(machines, name)
    assert holding(machines, words) == []


@pytest.mark.parametrize("first", [FIRST, "phone"])
@pytest.mark.parametrize("times", [1, 2])
def test_what_one_machine_finds_when_it_hears_takes_nothing_that_another_said_since(
    machines: Machines, first: str, times: int
) -> None:
    def say(name: str, words: str) -> None:
        with machines.open(name) as memory:
            memory.remember(words)

    stew = f"I like {WORD} stew from one."
    say(FIRST, stew)  # the first machine has not heard yet
    for _ in range(times):
        say("lap", f"My brother keeps a {WORD}.")
        with machines.open("lap") as memory:
            memory.forget(match=WORD)
    for name in (first, *{FIRST, "phone"} - {first}):
        machines.carry("lap", name)
        if name == "phone":
            say("phone", stew)
        else:
            current(machines, name)
    meet(machines)
    for name in NAMES:
        assert [fact.object for fact in current(machines, name) if WORD in fact.object] == [stew]
    stones = {name: machines.log(name, name).joinpath("tombstones.jsonl").read_bytes() for name in NAMES}
    meet(machines, 2)
    assert stones == {
        name: machines.log(name, name).joinpath("tombstones.jsonl").read_bytes() for name in NAMES
    }
    with machines.open(FIRST) as memory:
        memory.forget(match=WORD)
    meet(machines)
    assert holding(machines, WORD) == []


def test_a_sentence_beside_a_forgotten_one_is_not_forgotten_with_it(machines: Machines) -> None:
    beside = "It slept all day."
    with machines.open(FIRST) as memory:
        memory.remember(f"I saw a {WORD} at the zoo. {beside}")
    machines.carry(FIRST, "lap")
    with machines.open("lap") as memory:
        memory.facts()
        memory.forget(match=WORD)
    with machines.open(FIRST) as memory:
        memory.remember(f"I saw an ocelot at the zoo. {beside}")
    meet(machines)
    assert holding(machines, WORD) == []
    for name in NAMES:
        assert any(beside in (fact.quote or "") for fact in current(machines, name))


def test_what_another_machine_heard_too_is_not_forgotten_with_the_talk_of_one(machines: Machines) -> None:
    words = "The zoo opens at nine on Sundays."
    for name in (FIRST, "lap"):
        with machines.open(name) as memory:
            session = memory.record(user=words).session_id
    meet(machines)
    with machines.open("lap") as memory:
        memory.forget(session=session)
    meet(machines)
    for name in NAMES:
        with machines.open(name) as memory:
            assert any(words in hit.text for hit in memory.recall("zoo"))


def test_a_machine_keeps_no_views_of_the_logs_in_whose_place_it_forgets(
    machines: Machines, tmp_path: Path
) -> None:
    words = f"My brother keeps a {WORD}."
    copy = tmp_path / "copy"
    shutil.copytree(machines[FIRST], copy)
    with machines.open(FIRST, copy) as memory:
        memory.remember(words)
    with machines.open(FIRST) as memory:
        memory.remember("I like pears.")
        memory.merge(copy)
        assert [name for name in memory.parts.files.machines() if name.startswith(f"{FIRST}-")]
    shutil.rmtree(copy)
    meet(machines)
    with machines.open("lap") as memory:
        memory.forget(match=WORD)
    meet(machines)
    with machines.open(FIRST) as memory:
        memory.remember(words)
    meet(machines)
    with machines.open("phone") as memory:
        memory.forget(match=WORD)
    meet(machines)
    branch = [path for path in (machines[FIRST] / "log/on").iterdir() if path.name.startswith(f"{FIRST}-")]
    assert branch
    assert [name for name in holding(machines, WORD) if name.startswith(FIRST)] == []
    assert not (machines[FIRST] / "views/on" / branch[0].name / "machines").exists()


@pytest.mark.sampled(2)
@pytest.mark.sampled(2)
@pytest.mark.parametrize("by", ["match", "fact"])
@pytest.mark.parametrize("where", [("lap", "lap"), ("lap", FIRST), (FIRST, "phone")])
def test_what_is_said_again_is_forgotten_again(machines: Machines, by: str, where: tuple[str, str]) -> None:
    for name in where:
        told(machines)
        with machines.open(name) as memory:
            memory.forget(match=SESSIONS)
            memory.forget(**select(memory, by))
        meet(machines)
        gone = f"brother keeps a {WORD}"
        assert (holding(machines, gone), holding(machines, SESSIONS)) == ([], [])
        assert machines.pages(FIRST) == machines.pages("lap") == machines.pages("phone")
    assert all(WORD not in fact.object or by == "fact" for fact in current(machines, "lap"))


def test_hearing_ends_and_hearing_again_changes_nothing(machines: Machines) -> None:
    told(machines)
    with machines.open("lap") as memory:
        memory.forget(match=WORD)
    meet(machines)
    stones = {name: machines.log(name, name) / "tombstones.jsonl" for name in NAMES}
    before = {name: path.read_bytes() for name, path in stones.items()}
    assert all(before.values())
    meet(machines)
    assert {name: path.read_bytes() for name, path in stones.items()} == before


def test_a_journal_that_is_older_than_the_tombstones_beside_it_waits(machines: Machines) -> None:
    told(machines)
    with machines.open(FIRST) as memory:
        memory.forget(match=WORD)
    shutil.copy(
        machines.log(FIRST, FIRST) / "tombstones.jsonl", machines.log("lap", FIRST) / "tombstones.jsonl"
    )
    for _ in range(2):
        with machines.open("lap") as memory:
            assert not any(WORD in fact.object for fact in memory.facts())
    own = machines.log("lap", "lap")
    assert not any(WORD.encode() in path.read_bytes() for path in own.rglob("*") if path.is_file())


def test_an_old_page_that_a_copier_brings_back_comes_without_the_forgotten_lines(machines: Machines) -> None:
    told(machines)
    old = (machines["lap"] / "USER.md").read_bytes()
    assert WORD.encode() in old
    with machines.open(FIRST) as memory:
        memory.forget(match=WORD)
    meet(machines)
    (machines["lap"] / "USER.md").write_bytes(old + b"- Likes: rain\n")
    with machines.open("lap") as memory:
        assert any(fact.object == "rain" for fact in memory.facts())
        assert any("forgotten line" in note for note in memory.notes)
    meet(machines)
    assert holding(machines, WORD) == []


def test_another_machine_forgets_in_the_name_of_one_that_is_gone_for_good(machines: Machines) -> None:
    told(machines)
    shutil.rmtree(machines["phone"])
    shutil.rmtree(machines["lap"])
    with machines.open(FIRST) as memory:
        done = memory.forget(match=WORD)
    assert done.probe is not None
    for name in done.probe.machines:
        shutil.copytree(machines[FIRST], machines.folder / "spare")  # the folder is opened in its name
        machines.folder.joinpath("spare").rename(machines[name])
        with machines.open(name) as memory:
            memory.facts()
        shutil.rmtree(machines[FIRST])
        machines[name].rename(machines[FIRST])
    assert holding(machines, WORD) == []


def test_a_tombstone_is_made_of_hashes_ids_and_counts(machines: Machines) -> None:
    told(machines)
    with machines.open(FIRST) as memory:
        memory.forget(match=WORD)
    meet(machines)
    for name in NAMES:
        assert WORD.encode() not in (machines.log(name, name) / "tombstones.jsonl").read_bytes()


def test_the_command_names_the_machines_that_have_not_heard(machines: Machines, run: Run) -> None:
    told(machines)
    with machines.open(FIRST):
        pass
    out = run("forget", "--match", WORD, "--yes", "--memory", str(machines[FIRST]))[1]
    assert "0 hits outside the logs of lap, phone.\n" in out
    files = re.search(r"still in this folder, in (\d+) files of the logs of lap, phone \(([^)]*)\)", out)
    assert files is not None
    left = [each for each in holding(machines, WORD) if each.startswith(f"{FIRST}/")]
    assert (int(files[1]), files[2]) == (len(left), "log/on/lap, log/on/phone")
    assert all("/log/on/" in each for each in left)
    assert "`looseleaf forget --in-place-of lap` does it" in out
    code, out, _ = run("forget", "--match", WORD, "--yes", "--memory", str(machines[FIRST]))
    assert code == 0
    assert "Nothing is left of the match in what this machine wrote: it was forgotten before." in out


def test_what_cannot_be_looked_for_any_more_may_still_be_in_the_logs_of_others(
    machines: Machines, run: Run
) -> None:
    told(machines)
    with machines.open(FIRST) as memory:
        fact = next(each.id or "" for each in memory.facts() if WORD in each.object)
        memory.forget(fact=fact)
    out = run("forget", "--fact", fact, "--yes", "--memory", str(machines[FIRST]))[1]
    assert "It may still be in the logs of lap, phone, in this folder" in out
    meet(machines)
    os.environ["LOOSELEAF_MACHINE"] = FIRST
    assert "may still be" not in run("forget", "--fact", fact, "--yes", "--memory", str(machines[FIRST]))[1]


def test_a_verb_forgets_in_place_of_a_machine_and_says_what_went(machines: Machines, run: Run) -> None:
    told(machines)
    with machines.open(FIRST) as memory:
        memory.forget(match=WORD)
        before = sorted(memory.path + name for name in os.listdir(memory.path + "/log/on"))
    at = ("--memory", str(machines[FIRST]))

    def left(name: str) -> list[str]:
        return [each for each in holding(machines, WORD) if each.startswith(f"{FIRST}/log/on/{name}/")]

    assert run("forget", "--in-place-of", "lap", *at)[0] == 2  # there is nobody to ask
    logs = {path: path.read_bytes() for path in machines[FIRST].rglob("log/**/*.jsonl")}
    code, out, _ = run("forget", "--in-place-of", "lap", "--dry-run", *at)
    assert code == 0
    assert {path: path.read_bytes() for path in machines[FIRST].rglob("log/**/*.jsonl")} == logs
    assert "What would go from the log of lap:\n" in out
    assert WORD not in out
    assert left("lap")
    code, out, _ = run("forget", "--in-place-of", "lap", "--yes", *at)
    assert code == 0
    assert "Forgotten in place of lap:\n" in out
    assert re.search(r"\d+ messages? and tool calls?|\d+ messages? or tool call", out)
    assert not left("lap")
    assert left("phone")
    out = run("forget", "--in-place-of", "lap", "--yes", *at)[1]
    assert out == "The log of lap has nothing of what was forgotten.\n"
    with machines.open(FIRST) as memory:
        done = memory.forget(in_place_of="phone")
        assert done.what == "phone"
        assert not done.is_nothing
        assert [str(each) for each in memory.check() if each.severity == "error"] == []
        assert sorted(memory.path + name for name in os.listdir(memory.path + "/log/on")) == before
    assert [each for each in holding(machines, WORD) if each.startswith(f"{FIRST}/")] == []


def test_no_machine_is_made_by_a_name_that_is_mistyped(machines: Machines, run: Run) -> None:
    told(machines)
    with machines.open(FIRST) as memory:
        with pytest.raises(
            NotFound, match=r"no machine 'lapp' has a log in this memory. There are logs of lap, phone"
        ):
            memory.forget(in_place_of="lapp")
        with pytest.raises(Invalid, match="desk is this machine itself"):
            memory.forget(in_place_of=FIRST)
        with pytest.raises(Invalid, match="Name nothing else"):
            memory.forget(in_place_of="lap", match=WORD)
    assert not (machines[FIRST] / "log/on/lapp").exists()
    at = ("--memory", str(machines[FIRST]))
    assert run("forget", "--in-place-of", "lap", "--match", WORD, "--yes", *at)[0] == 2


def test_a_layer_of_one_machine_has_nobody_to_tell(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        memory.remember(f"I like the {WORD}.")
        done: Forgotten = memory.forget(match=WORD)
    assert done.probe is not None
    assert done.probe.machines == ()
    assert "machines" not in done.probe.to_dict()


@pytest.mark.parametrize("by", ["session", "topic"])
def test_what_another_machine_said_in_a_forgotten_session_or_topic_is_not_shown_and_goes(
    machines: Machines, by: str
) -> None:
    selected: dict[str, Any] = {}
    with machines.open(FIRST) as memory:
        memory.record(user="I like cats.")
        memory.distill()
        memory.remember("The garden has zinnias.", topic="garden")
        selected = (
            {"topic": "garden"} if by == "topic" else {"session": memory.talk.sessions()[-1].session_id}
        )
    machines.carry(FIRST, "lap")
    with machines.open("lap") as memory:
        memory.remember("The garden has wisteria.", topic="garden")
    if by == "session":
        with Memory(machines["lap"], session=selected["session"], policy=HASTY) as memory:
            memory.record(user="I like wisteria.")
            memory.distill()
    with machines.open(FIRST) as memory:
        memory.forget(**selected)
    machines.carry("lap", FIRST)
    gone = "garden has wisteria" if by == "topic" else "like wisteria"
    with machines.open(FIRST) as memory:
        assert not any(gone in str(fact.to_dict()) for fact in memory.facts())
        assert not any(gone in hit.text for hit in memory.recall("wisteria"))
    assert not any(gone.encode() in page for page in machines.pages(FIRST).values())
    meet(machines)
    assert holding(machines, gone) == []


def test_a_fact_that_only_a_forgotten_sentence_says_is_not_shown_before_its_machine_has_heard(
    machines: Machines,
) -> None:
    with machines.open(FIRST) as memory:
        memory.remember(f"Project {WORD.title()} is due in June.")
        memory.forget(match=f"Project {WORD}")
    with machines.open("lap") as memory:
        memory.record(user=f"My boss Hubert leads Project {WORD.title()}. I live in Lyon.")
        memory.distill()
    machines.carry("lap", FIRST)
    with machines.open(FIRST) as memory:
        facts = [str(fact.to_dict()) for fact in memory.facts()]
        assert not any("Hubert" in each or WORD in each.casefold() for each in facts)
        assert any("Lyon" in each for each in facts)
        assert WORD not in str(memory.explain.why("Hubert")).casefold()


def test_memories_that_began_apart_understand_each_others_tombstones(tmp_path: Path) -> None:
    machines = Machines(tmp_path)
    shutil.rmtree(machines["lap"])
    with machines.open("lap") as memory:
        memory.record(user=f"Project {WORD.title()} is due in June. I like jazz.")
        memory.distill()
        memory.remember("I own a boat, and my key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789.")
    with machines.open(FIRST) as memory:
        memory.remember("I like tea.")
        memory.merge(machines["lap"])
        memory.forget(match=WORD)
    with machines.open("lap") as memory:
        memory.merge(machines[FIRST])
        memory.facts()
    with machines.open(FIRST) as memory:
        memory.merge(machines["lap"])
        memory.facts()
    shutil.rmtree(machines["phone"])
    assert holding(machines, WORD) == []
    assert (machines[FIRST] / "log/key").read_bytes() != (machines["lap"] / "log/key").read_bytes()


# --- what machines set aside ----------------------------------------------------------------


def every_file(folder: Path, word: str) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and word.casefold().encode() in path.read_bytes().lower()
    ]


def copied_at_once(machines: Machines) -> None:
    """A copy is taken while displaced versions of pages are still there."""
    with machines.open(FIRST) as memory:
        memory.remember(f"I live in {WORD.title()}ville.")
        memory.remember("I like tea.")
    shutil.rmtree(machines["lap"])
    shutil.copytree(machines[FIRST], machines["lap"])
    assert [*(machines["lap"] / "log" / "aside" / "late").iterdir()]
    with machines.open("lap") as memory:
        memory.remember("I own a boat.")


@pytest.mark.parametrize("by", ["match", "fact"])
def test_copies_of_what_a_machine_set_aside_go_when_its_forgetting_comes(machines: Machines, by: str) -> None:
    copied_at_once(machines)
    aside = machines["lap"] / "log" / "aside"
    (aside / "00000000000000000000000001-collision-USER.md").write_text(
        f"# User\n\n- Home: {WORD.title()}ville\n"
    )
    (aside / "00000000000000000000000002-collision-USER.md").write_text("# User\n\n- Likes: rain\n")
    with machines.open(FIRST) as memory:
        if by == "match":
            memory.forget(match=WORD)
        else:
            memory.forget(fact=next(fact.id or "" for fact in memory.facts() if fact.relation == "Home"))
    for name, other in (("lap", FIRST), (FIRST, "lap"), ("lap", FIRST)):
        with machines.open(name) as memory:
            memory.merge(machines[other])
            memory.facts()
    assert every_file(machines["lap"], WORD) == []
    assert [path.name[25:26] for path in aside.iterdir() if path.is_file()] == ["2"]  # says nothing of it


def test_forgetting_reads_what_others_set_aside_too_and_names_what_it_leaves_to_them(
    machines: Machines,
) -> None:
    copied_at_once(machines)
    aside = machines["lap"] / "log" / "aside" / "00000000000000000000000001-kept"
    aside.write_text("A word: xylophone.\n")
    with machines.open("lap") as memory:
        assert memory.forget(match="xylophone", dry_run=True).counts["others"] == 1
        assert aside.exists()
        done = memory.forget(match="xylophone")
        assert done.is_complete
        assert every_file(machines["lap"], "xylophone") == []
        done = memory.forget(match=WORD)
        assert done.is_complete
        assert done.probe is not None
        assert done.probe.machines == (FIRST,)
        assert {*done.probe.elsewhere} == {*every_file(machines["lap"], WORD)}
        assert done.probe.elsewhere
        assert not any("/aside/" in path for path in done.probe.elsewhere)
        assert done.probe.to_dict()["elsewhere"] == [*done.probe.elsewhere]
