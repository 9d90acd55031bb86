"""Why words are in a prompt, back to who said them; and why they are not in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf import Distilled
from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.policy import Policy
from looseleaf.base.values import sha256
from looseleaf.explain.trail import Needle, Step, Trail
from looseleaf.explain.why import Explanation
from looseleaf.index.said import fold
from looseleaf.log import said_lines
from looseleaf.memory import Memory
from looseleaf.prompt.slot_forms import HEADING, HEADINGS, LISTED, READ
from tables import check_rows
from wiring import untyped

SAID = "My name is Zhang San. Write code in English."
LONG = "with many words " * 20
SMALL = Policy(context_tokens=1200, max_tokens=100, safety_margin_tokens=50, index_pages=2)

Steps = list[tuple[str, str, str]]


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    """A memory in which something was said, distilled and shown in a prompt."""
    with Memory(place / "memory") as memory:
        (place / "memory" / "SOUL.md").write_text("# Soul\n\nYou are kind.\n")
        memory.record(user=SAID)
        memory.record(assistant="Hello.")
        memory.record(user="We decided to use PostgreSQL. Is that fine?")
        memory.record(assistant="It is.")
        memory.distill()
        yield memory


def write(memory: Memory, path: str, text: str, *, more: bool = False) -> None:
    file = Path(memory.path, path)
    file.write_text(file.read_text() + text if more else text)


def told(memory: Memory, text: str, name: str = "last") -> list[Steps]:
    """The steps of each chain behind the first, which is the prompt."""
    answer = memory.explain.why(text, name)
    assert all(chain.steps[0].what == "prompt" for chain in answer.chains)
    assert {chain.is_in for chain in answer.chains} == {answer.is_in}
    return [[(step.what, step.where, step.text) for step in chain.steps[1:]] for chain in answer.chains]


def names(steps: Steps) -> list[str]:
    return [what for what, _, _ in steps]


def traces(memory: Memory) -> dict[str, str]:
    return {trace.content: trace.id for turn in memory.talk.turns(1000) for trace in turn.traces}


# --- finding ---------------------------------------------------------------------------

WORDS = st.text(st.characters(codec="utf-8"), max_size=12)


@given(WORDS, st.text(st.sampled_from("aAß [:]\\\n\tİé"), max_size=40), WORDS)
def test_words_are_found_however_they_are_spaced_cased_or_escaped(before: str, text: str, after: str) -> None:
    needle = Needle(text)
    spelt = "".join(f"\\{each}" if each == "[" else each for each in text.upper()).replace(" ", " \n ")
    whole = f"{before} {spelt} {after}"
    if needle.folded and fold(spelt) == needle.folded:  # not every upper case has the lower one it came from
        assert needle.is_in(whole)
    places = needle.places(whole) if needle.folded else []
    assert bool(places) == (bool(needle.folded) and needle.is_in(whole))
    assert all(needle.folded in fold(whole[start:end]) for start, end in places)
    assert places == sorted(places)


def test_a_long_text_is_shown_around_the_words() -> None:
    text = f"{'before ' * 100}the needle is here{' after' * 100}"
    assert "the needle is here" in Needle("Needle  is").excerpt(text)
    assert "the needle is here" in Needle("nothing").excerpt(text, "", "needle")
    assert Needle("nothing").excerpt(text).startswith("before")
    assert len(Needle("needle").excerpt(text)) < 300
    assert Needle("needle").excerpt("a  needle\n b") == "a needle b"


# --- in the prompt ---------------------------------------------------------------------


def test_a_prompt_that_was_never_made_is_followed_as_it_would_be(memory: Memory) -> None:
    (steps,) = told(memory, "Hello.")
    assert names(steps) == ["window", "trace"]
    assert steps[1][1] == traces(memory)["Hello."]
    write(memory, "state.json", "{ broken")
    (steps,) = told(memory, "we decided to use postgresql.")[:1]
    assert steps[0][0] == "state"  # the last sound one is shown
    assert not (Path(memory.path) / "log" / "prompts").exists()


@pytest.mark.parametrize("logged", [True, False])
def test_a_line_of_the_profile_leads_to_the_trace_in_which_it_was_said(memory: Memory, logged: bool) -> None:
    if logged:
        memory.prompt("Refactor the parser", budget=4000)
    (steps,) = told(memory, "Language: English")
    assert names(steps) == ["profile", "page", "fact", "entry", "trace"]
    assert steps[1][1:] == ("USER.md:6", "- Code language: English")
    assert steps[2][1] == memory.fact("USER.md:6").id
    assert (
        steps[3][1] == f"log/entries/{memory.talk.entry(memory.fact('USER.md:6').entry_id or '').reference}"
    )
    assert steps[4][1] == traces(memory)[SAID]
    assert steps[4][2].startswith("user, 20")
    assert steps[4][2].endswith(SAID)
    answer = memory.explain.why("Language: English")
    made = answer.chains[0].steps[0].text
    assert made.startswith("as it would be now") is not logged
    assert json.loads(json.dumps(answer.to_dict()))["chains"][0]["steps"][1]["what"] == "profile"


def test_every_line_of_a_prompt_leads_to_who_said_or_wrote_it(memory: Memory) -> None:
    write(memory, "facts/tea.md", "# Tea\n\n> Summary: on tea\n\nOolong is fine.\n\n- Likes: sencha\n")
    write(memory, "episodes/2026-01.md", "## Moved\n\n- Summary: to the coast\n- Lesson: pack early\n")
    write(memory, "USER.md", "\nProse of mine.\n", more=True)
    memory.state.update(goal="a parser", conventions={"style": "tabs"})
    memory.record(user="Look.")
    memory.record(tool_call="read", tool_args={"path": "a.py"}, tool_call_id="c1")
    memory.record(tool_result="def a(): ...", tool_call_id="c1")
    memory.prompt("First", budget=4000)
    memory.state.add_task("write tests")
    write(memory, "USER.md", "- Home: Rome\n", more=True)
    write(memory, "facts/new.md", "- Part: engine\n")
    prompt = memory.prompt("Second", budget=4000)
    ours = (*HEADINGS.values(), HEADING, LISTED, READ, "[system]", "[user]", "[assistant]", "[tool]")
    seen = 0
    for line in prompt.text.splitlines():
        if not line.strip() or line in ours or line.endswith(":"):
            continue
        answer = memory.explain.why(line)
        assert answer.is_in, line
        ends = {chain.steps[-1].what for chain in answer.chains}
        assert ends <= {"trace", "edit", "task", "episodes"}, (line, ends)
        assert all(step.text for chain in answer.chains for step in chain.steps)
        seen += 1
    assert seen > 20


def test_a_line_of_the_charter_leads_to_its_page_and_its_last_edit(memory: Memory) -> None:
    memory.prompt(budget=4000)
    (steps,) = told(memory, "are KIND")
    assert names(steps) == ["charter", "page", "edit"]
    assert steps[1][1:] == ("SOUL.md:3", "You are kind.")
    assert steps[2][1] == next(memory.history.edits("SOUL.md")).id
    write(memory, "SOUL.md", "# Soul\n\nNew.\n\nYou are kind.\n")
    later = told(memory, "are kind")[0]
    assert later[2] == ("changed since", "SOUL.md", "it says this on line 5 now")
    assert later[3] == steps[2]


def test_a_page_that_changed_since_still_leads_to_the_fact_by_its_words(memory: Memory) -> None:
    memory.prompt(budget=4000)
    fact = memory.fact("USER.md:6").id
    memory.review.correct("USER.md:6", "Greek")
    (steps,) = told(memory, "Language: English")
    assert names(steps) == ["profile", "page", "changed since", "fact", "entry", "trace"]
    assert steps[2][2] == "it no longer says this"
    assert steps[3][1] == fact
    assert "superseded" in steps[3][2]
    assert steps[5][1] == traces(memory)[SAID]


def test_a_member_of_the_state_leads_to_its_edit_and_on_to_what_was_said(memory: Memory) -> None:
    memory.state.update(now="measuring the lexer")
    memory.prompt(budget=4000)
    decided = told(memory, "use PostgreSQL.")[0]
    assert names(decided) == ["state", "state", "edit", "entry", "trace"]
    assert decided[1][1:] == ("state.json: decisions_recent D-1", "We decided to use PostgreSQL.")
    assert decided[4][1] == traces(memory)["We decided to use PostgreSQL. Is that fine?"]
    (now,) = told(memory, "the lexer")
    assert names(now) == ["state", "state", "edit"]
    assert now[1][1:] == ("state.json: now", "measuring the lexer")
    assert now[2][2].startswith("agent:main, ")
    assert names(told(memory, '"title":"We')[0])[-1] == "edit"  # of no one member: the last edit


def test_what_must_not_be_forgotten_leads_to_its_page_and_its_words(memory: Memory) -> None:
    memory.prompt(budget=4000)
    (steps,) = told(memory, "database: postgresql")
    assert names(steps) == ["essentials", "page", "fact", "entry", "trace"]
    assert steps[1][1] == "facts/project.md:5"


def test_a_line_of_the_index_leads_to_the_page_and_its_edit(memory: Memory) -> None:
    write(memory, "facts/tea.md", "# Tea\n\n> Summary: on tea\n\nOolong is fine.\n")
    memory.prompt(budget=4000)
    (named,) = told(memory, "facts/tea.md")
    assert named[1] == ("page", "facts/tea.md", "on tea")
    (steps,) = told(memory, "on tea")
    assert names(steps) == ["index", "page", "edit"]
    assert steps[1][1:] == ("facts/tea.md:3", "> Summary: on tea")
    assert steps[2][1] == next(memory.history.edits("facts/tea.md")).id


class Telling:
    """A distiller that makes an episode of whatever it reads."""

    name = "telling/1"

    def distill(self, material: Any, tokens: int) -> Distilled:
        first = next(iter(material.traces())).content
        return Distilled("It was told.", {"title": first, "summary": first, "lesson": first})


def test_an_episode_leads_to_its_entry_and_what_was_said(place: Path) -> None:
    with Memory(place / "memory", distiller=Telling()) as memory:
        memory.record(user="The lexer was split in two.")
        memory.record(assistant="Yes.")
        memory.distill()
        write(memory, "episodes/2026-01.md", "## Moved\n\n- Summary: to the coast\n")
        memory.prompt(budget=4000)
        steps = next(each for each in told(memory, "lexer was split") if each[0][0] == "episodes")
        assert names(steps) == ["episodes", "page", "entry", "trace"]
        assert steps[1][1].startswith("episodes/")
        assert steps[3][1] == traces(memory)["The lexer was split in two."]
        by_hand = told(memory, "to the coast")[0]
        assert names(by_hand) == ["episodes", "page", "edit"]
        assert by_hand[1][1] == "episodes/2026-01.md:3"
        write(memory, "episodes/2026-01.md", "# January\n")
        memory.prompt("again", budget=4000)
        assert names(told(memory, "to the coast")[0]) == ["episodes"]  # the page says it no more


def test_what_was_said_is_named_by_its_trace_also_behind_changes(memory: Memory) -> None:
    memory.prompt("One", budget=4000)
    write(memory, "USER.md", "- Home: Rome\n", more=True)
    memory.record(user="One")
    memory.record(assistant="First answer.")
    memory.prompt("Two", budget=4000)
    memory.record(user="Two")
    memory.record(tool_call="look", tool_args={"at": "the moon"}, tool_call_id="c1")
    memory.record(tool_call="look", tool_args={"at": "the sun"}, tool_call_id="c2")
    memory.record(tool_result="bright", tool_call_id="c2")
    memory.record(tool_result={"is": "grey"}, tool_call_id="c1")
    memory.record(user="Three")
    memory.prompt("Three", budget=4000)
    known = {trace.id: trace for turn in memory.talk.turns(100) for trace in turn.traces}
    for words, kind in (
        ("First answer.", "assistant"),
        ("the moon", "tool_call"),
        ("the sun", "tool_call"),
        ("bright", "tool_result"),
        ("grey", "tool_result"),
        ("Three", "user"),
        ("Hello.", "assistant"),
    ):
        (steps,) = told(memory, words)
        assert names(steps)[1:] == ["trace"], words
        trace = known[steps[1][1]]
        assert (trace.trace_type, words in str(trace.to_record())) == (kind, True)


def test_the_request_itself_is_said_to_be_that(memory: Memory) -> None:
    memory.prompt("Refactor the parser", budget=4000)
    ((item, task),) = told(memory, "refactor the")
    assert item[:2] == ("task", "task")
    assert task[0] == "task"


def test_a_change_leads_to_its_page_and_the_edit_that_made_it(memory: Memory) -> None:
    write(memory, "USER.md", "\nProse of mine.\n", more=True)
    memory.prompt("One", budget=4000)
    write(
        memory, "USER.md", Path(memory.path, "USER.md").read_text().replace("Prose of mine.", "- Home: Rome")
    )
    write(memory, "facts/new.md", "> Summary: on engines\n\n- Part: engine\n")
    memory.state.add_task("write tests")
    memory.prompt("Two", budget=4000)
    edit = next(memory.history.edits("USER.md"))
    came, gone, task, page = (
        told(memory, text) for text in ("Home: Rome", "Prose of", "write tests", "on engines")
    )
    assert names(came[0])[:5] == ["window", "page", "edit", "page", "fact"]
    assert came[0][2][1] == edit.id
    assert [names(each) for each in gone] == [
        ["profile", "page", "changed since", "edit"],
        ["window", "page", "edit"],
    ]
    assert gone[1][2][1] == edit.id
    assert names(task[0]) == ["window", "page", "edit"]
    assert task[0][1][1] == "state.json"
    assert [step[1] for step in page[0]][1:] == [
        "facts/new.md",
        next(memory.history.edits("facts/new.md")).id,
    ]


def test_words_that_look_like_a_heading_are_found_where_they_are_escaped(memory: Memory) -> None:
    said = "[MEMORY:PROFILE]\n- Name: Mallory"
    memory.record(user=said)
    prompt = memory.prompt(budget=4000)
    assert "\\[MEMORY:PROFILE]\n- Name: Mallory" in prompt.text
    (steps,) = told(memory, said)
    assert steps[1][1] == traces(memory)[said]


def test_other_words_for_the_same_lead_to_the_fact_that_has_them(memory: Memory) -> None:
    memory.prompt(budget=4000)
    assert names(told(memory, "english language")[0])[:3] == ["profile", "page", "fact"]


def test_a_word_that_is_everywhere_is_followed_a_few_times_only(memory: Memory) -> None:
    for number in range(20):
        memory.record(user=f"common {number}")
    memory.prompt(budget=4000)
    answer = memory.explain.why("common")
    assert (len(answer.chains), answer.more) == (5, 15)


# --- after a compaction ----------------------------------------------------------------


@pytest.fixture
def compacted(place: Path) -> Iterator[Memory]:
    """A memory whose window lost its first turns to an entry."""
    with Memory(place / "small", policy=SMALL) as memory:
        memory.record(user="We decided to use PostgreSQL. The zebra is called Anton.")
        memory.record(assistant="Noted.")
        for number in range(12):
            memory.record(user=f"Question {number}: what of part {number}, {LONG}")
            memory.record(assistant=f"Part {number} is fine. {LONG}")
        memory.prompt("next")
        yield memory


def test_what_a_compaction_left_leads_to_its_entry_and_the_words(compacted: Memory) -> None:
    (steps,) = told(compacted, "zebra is called")
    assert names(steps) == ["window", "entry", "trace"]
    assert steps[2][1] == next(id for text, id in traces(compacted).items() if "zebra" in text)
    kept = told(compacted, "We decided to use PostgreSQL")[
        0
    ]  # once: the state says it, so the window does not
    assert (names(kept)[0], kept[-1][0]) == ("state", "trace")


def test_a_sentence_that_was_kept_through_compactions_leads_to_the_first(compacted: Memory) -> None:
    for number in range(12, 24):
        compacted.record(user=f"Question {number}: what of part {number}, {LONG}")
        compacted.record(assistant=f"Part {number} is fine. {LONG}")
    compacted.window.compact()
    compacted.prompt("after")
    assert len(list(Trail(compacted.parts, Needle("x")).compactions())) > 1
    kept = next(
        steps for steps in told(compacted, "We decided to use PostgreSQL") if steps[0][1] == "summary"
    )
    assert kept[-1][0] == "trace"
    assert "PostgreSQL" in compacted.talk.traces(kept[-1][1])[0].content


def test_what_left_the_window_is_said_to_be_in_its_entry(compacted: Memory) -> None:
    assert not compacted.explain.why("Question 3:").is_in
    (steps,) = told(compacted, "Question 3:")
    assert names(steps) == ["compacted", "trace"]
    assert compacted.talk.traces(steps[0][2].rpartition(" ")[2])
    assert "Question 3" in compacted.talk.traces(steps[1][1])[0].content


def test_an_entry_that_cannot_be_read_is_said_so(compacted: Memory) -> None:
    (steps,) = told(compacted, "zebra is called")
    (Path(compacted.path) / steps[1][1] / "meta.json").unlink()
    (broken,) = told(compacted, "zebra is called")
    assert names(broken) == ["window", "entry"]
    assert "it is no longer in the log" in broken[1][2]
    assert names(told(compacted, "Question 3:")[0]) == ["window", "trace"]
    assert any("there is no entry" in note for note in compacted.notes)


def test_turns_that_are_shown_as_they_were_lead_to_their_traces(place: Path) -> None:
    policy = Policy(context_tokens=3000, max_tokens=100, safety_margin_tokens=50, compact_to=0.9)
    with Memory(place / "tail", policy=policy) as memory:
        for number in range(16):
            memory.record(user=f"Question {number}: what of part {number}, {LONG}")
            memory.record(assistant=f"Part {number} is fine. {LONG}")
        memory.window.compact()
        prompt = memory.prompt("next")
        summary = next(item for item in prompt.manifest.items if item.id == "summary")
        assert "[RECENT TURNS]" in prompt.text_of(summary)
        for number, item in ((13, "summary"), (15, "conversation")):
            (steps,) = told(memory, f"Part {number} is fine.")
            assert names(steps) == ["window", "trace"]
            assert steps[0][1] == item
            assert f"Part {number} is" in memory.talk.traces(steps[1][1])[0].content


def test_a_window_that_was_trimmed_is_followed_all_the_same(memory: Memory) -> None:
    for number in range(8):
        memory.record(user=f"Question {number}: {LONG}")
        memory.record(assistant=f"Part {number} is fine.")
    prompt = memory.prompt("next", budget=150)
    assert any(each.slot == "window" for each in prompt.manifest.omitted)
    shown = [number for number in range(8) if f"Part {number} is" in prompt.text]
    assert shown
    for number in shown:
        (steps,) = told(memory, f"Part {number} is")
        assert memory.talk.traces(steps[1][1])[0].content == f"Part {number} is fine."
    (left,) = told(memory, "Question 0:")
    assert names(left) == ["over_budget", "trace"]
    (early,) = told(memory, "Hello.")
    assert names(early) == ["over_budget", "trace"]


# --- not in the prompt -----------------------------------------------------------------


def prompted(change: Callable[[Memory], object]) -> Callable[[Memory], None]:
    """After a change, and with a prompt that could show it."""

    def do(memory: Memory) -> None:
        change(memory)
        memory.prompt("now", budget=4000)

    return do


def prose(memory: Memory) -> None:
    write(memory, "facts/tea.md", "# Tea\n\nOolong is fine.\n")


def pend(memory: Memory) -> None:
    memory.distill("The user lives in Oolong. I live in Oolong.")[0]


def reject(memory: Memory) -> None:
    memory.pages.edit("facts/tea.md", "- Drinks: Oolong\n", author="person", reason="a test")
    memory.review.reject("facts/tea.md:1")


def later(memory: Memory) -> None:
    memory.prompt("now", budget=4000)
    write(memory, "USER.md", "- Drinks: Oolong\n", more=True)


def said_later(memory: Memory) -> None:
    memory.prompt("now", budget=4000)
    memory.record(user="Oolong?")


def day(memory: Memory) -> None:
    write(memory, "days/2026-01-02.md", "# 2026-01-02\n\n- Oolong was drunk.\n")


@pytest.mark.parametrize(
    ("change", "first", "where", "word"),
    [
        (prompted(prose), "read_on_demand", "index: facts/tea.md", "on demand"),
        (prompted(pend), "waits_for_a_person", "review/pending.md", "looseleaf approve f_"),
        (prompted(reject), "rejected", "f_", "a person rejected it"),
        (prompted(day), "only_searched", "index: days", "only searched"),
        (later, "later", "USER.md", "when the prompt began"),
        (said_later, "later", "", "after the prompt was made"),
        (prompted(lambda memory: None), "nowhere", "", "No page, fact or trace"),
    ],
)
def test_what_is_not_in_the_prompt_is_known_elsewhere_or_nowhere(
    memory: Memory, change: Callable[[Memory], None], first: str, where: str, word: str
) -> None:
    change(memory)
    answer = memory.explain.why("oolong")
    assert not answer.is_in
    step = answer.chains[0].steps[1]
    assert step.what == first
    assert step.where.startswith(where)
    assert word in step.text


@pytest.mark.parametrize(
    "said",
    [
        "I am allergic to basil, so what else goes with tomatoes?",
        "I am allergic to basil. What else goes with it?",
    ],
)
def test_the_words_that_are_shown_for_a_fact_are_those_that_it_was_made_of(place: Path, said: str) -> None:
    with Memory(place / "memory") as memory:
        for who, text in (("user", "Hello there."), ("assistant", "Okay then."), ("user", said)):
            memory.record(**untyped({who: text}))
        memory.distill()
        (chain,) = told(memory, "Allergy: basil")
        assert [(where, text.rpartition(": ")[2]) for what, where, text in chain if what == "trace"] == [
            (traces(memory)[said], said)
        ]


def test_a_fact_for_which_nobody_s_words_are_found_says_that(place: Path) -> None:
    class Dreaming:
        name = "dreaming/1"

        def distill(self, material: Any, tokens: int) -> Distilled:
            return Distilled("Hello.", facts=({"relation": "Owns", "object": "a boat", "quote": "my boat"},))

    with Memory(place / "memory", distiller=Dreaming()) as memory:
        memory.record(user="Hello there.")
        memory.distill()
        (fact,) = memory.facts()
        assert (fact.level, fact.sources) == ("inferred", ())
        (chain,) = told(memory, "Owns: a boat")
        assert chain[-1] == ("trace", "", "no words were found for it: the distiller inferred it")


def test_what_was_said_with_another_agent_is_found_and_said_to_be_theirs(memory: Memory) -> None:
    with Memory(memory.path, agent="import") as other:
        other.record(user="I am allergic to oolong.")
        other.record(assistant="Noted.")
        (own,) = (trace.id for trace in other.talk.turns(1)[0].traces if trace.trace_type == "user")
    for prompted in (False, True):
        if prompted:
            memory.prompt("now", budget=4000)
        (chain,) = told(memory, "allergic")
        assert chain[0] == (
            "another_agent",
            "import",
            "it was recorded for the agent import, and a prompt for main shows what was said with main",
        )
        assert (chain[1][:2], chain[1][2].endswith("I am allergic to oolong.")) == (("trace", own), True)
    assert memory.recall("allergic oolong")[0].agent == "import"


def test_what_is_true_no_more_says_by_what_it_was_replaced_and_since_when(memory: Memory) -> None:
    home = memory.fact("USER.md:6").id
    memory.review.correct("USER.md:6", "Greek")
    memory.prompt("now", budget=4000)
    chain = told(memory, "Language: English")[0]
    now = memory.fact("USER.md:6")
    assert chain[0][:2] == ("superseded", now.id)
    assert "“Code language: Greek” stands in its place since 20" in chain[0][2]
    assert chain[1][1] == home
    assert chain[-1][1] == traces(memory)[SAID]
    answer = Trail(memory.parts, Needle("x"))
    assert [fact.status for fact in answer.facts][:1] == ["current"]


def test_what_ended_without_another_value_is_said_to_be_over(memory: Memory) -> None:
    memory.record(user="I work at Acme.")
    memory.record(assistant="Fine.")
    memory.distill()
    memory.record(user="I don't work at Acme anymore.")
    memory.record(assistant="Fine.")
    memory.distill()
    memory.prompt("now", budget=90)
    chain = next(each for each in told(memory, "Employer: Acme") if each[0][0] == "superseded")
    assert "it is no longer true" in chain[0][2]


def test_pages_that_an_index_does_not_list_and_facts_without_room_say_so(place: Path) -> None:
    with Memory(place / "small", policy=SMALL) as memory:
        for number in range(6):
            write(memory, f"facts/topic{number}.md", f"# T\n\nProse {number}.\n\n- Part: engine {number}\n")
        write(memory, "USER.md", f"# Me\n\n{LONG}\n\n- Name: Ada\n- Drinks: oolong\n")
        memory.prompt("now", budget=1000)
        first = [told(memory, f"Prose {number}")[0][0] for number in range(6)]
        assert sorted(step[0] for step in first) == ["further_down"] * 4 + ["read_on_demand"] * 2
        memory.prompt("now", budget=40)
        for words in ("oolong", "with many words", "engine 3"):
            steps = told(memory, words)[0]
            assert steps[0][0] == "over_budget", words
            assert steps[0][2] == "there was no room for it within the budget"


def test_a_page_that_cannot_be_read_is_noted_and_passed_over(memory: Memory) -> None:
    write(memory, "facts/tea.md", "# Tea\n\nOolong is fine.\n")
    write(memory, "facts/zoo.md", "# Zoo\n")
    memory.prompt("now", budget=4000)
    Path(memory.path, "facts/zoo.md").write_text("x" * 2_000_000)
    assert told(memory, "oolong")[0][0][0] == "read_on_demand"


def test_a_text_that_was_written_leads_to_its_own_words(memory: Memory) -> None:
    memory.distill("I live in Lyon. We decided to go with SQLite for the shop.", author="person")[0]
    memory.prompt("now", budget=4000)
    home, decided = told(memory, "Home: Lyon")[0], told(memory, "decided to go with SQLite")[0]
    assert names(home) == ["profile", "page", "fact", "entry", "trace"]
    assert names(decided) == ["state", "state", "edit", "entry", "trace"]
    assert home[-1][1] == decided[-1][1]
    raw = Path(memory.path, decided[-1][1].partition("#")[0])
    assert raw.read_text() == "I live in Lyon. We decided to go with SQLite for the shop."
    raw.unlink()
    assert "its raw.md is missing" in told(memory, "decided to go with SQLite")[0][-1][2]


# --- asking ----------------------------------------------------------------------------


def test_an_old_prompt_is_asked_by_its_id(memory: Memory) -> None:
    old = memory.prompt("Refactor the parser", budget=4000).manifest.id
    memory.record(user="Something else")
    memory.prompt("Something else", budget=4000)
    assert memory.explain.why("Refactor the parser", old).is_in
    assert not memory.explain.why("Refactor the parser").is_in
    with pytest.raises(Refused, match="There is no prompt 'nothing'"):
        memory.explain.why("Refactor", "nothing")
    with pytest.raises(Invalid, match="The text is empty"):
        memory.explain.why(" \\\n")


def test_a_last_prompt_that_cannot_be_rendered_again_is_made_anew(memory: Memory) -> None:
    memory.prompt("Refactor the parser", budget=4000)
    log = Path(memory.path, "log/traces/main/raw_traces.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[1:]))
    with Memory(memory.path) as again:
        answer = again.explain.why("Language: English")
        assert answer.is_in
        assert answer.chains[0].steps[0].text.startswith("as it would be now")
        assert any("as it would be now" in note for note in again.notes)
        with pytest.raises(Refused, match="was not rendered again"):
            again.explain.why("Language: English", again.parts.prompts.log.find("last")["id"])


def test_a_revision_that_cannot_be_rebuilt_is_said_so(memory: Memory) -> None:
    trail = Trail(memory.parts, Needle("x"))
    assert list(trail.page("USER.md", "0" * 64, "x")) == [
        Step("page", "USER.md", "what it said then cannot be rebuilt from the journal")
    ]
    assert list(trail.page("USER.md", memory.pages.read("USER.md").sha256 or "", "x")) == [
        Step("page", "USER.md", "the prompt's own words about it")
    ]


def test_an_answer_is_plain_values(memory: Memory) -> None:
    answer = memory.explain.why("zebra")
    assert isinstance(answer, Explanation)
    assert json.loads(json.dumps(answer.to_dict())) == {
        "text": "zebra",
        "prompt": answer.prompt,
        "is_in": False,
        "more": 0,
        "chains": [{"is_in": False, "steps": [step.to_dict() for step in answer.chains[0].steps]}],
    }


# --- pages and lines of them -----------------------------------------------------------


def test_a_page_that_is_no_utf_8_is_followed_all_the_same(memory: Memory) -> None:
    path = Path(memory.path, "USER.md")
    path.write_bytes(path.read_bytes() + b"\nProse in caf\xe9.\n")
    memory.review.settle("USER.md", "accept")
    memory.prompt("now", budget=4000)
    (steps,) = told(memory, "Prose in")
    assert names(steps) == ["profile", "page", "edit"]
    assert steps[1][1] == "USER.md:9"
    edit = next(memory.history.edits("USER.md"))
    assert steps[2][1] == edit.id
    assert told(memory, "Language: English")[0][-1][1] == traces(memory)[SAID]
    path.write_bytes(path.read_bytes() + b"\nMore.\n")
    later = told(memory, "Prose in")[0]
    assert names(later) == ["profile", "page", "changed since", "edit"]
    assert later[3][1] == edit.id


@pytest.mark.parametrize("of_bytes", [True, False])
def test_a_revision_is_known_by_its_bytes_and_by_its_text(memory: Memory, of_bytes: bool) -> None:
    path = Path(memory.path, "facts/tea.md")
    data = b"# Tea\n\nCaf\xe9 too.\n"
    path.write_bytes(data)
    memory.pages.absorb()
    path.write_bytes(b"# Tea\n")
    memory.pages.absorb()
    text = data.decode("utf-8", "replace")
    trail = Trail(memory.parts, Needle("too"))
    revision = sha256(data if of_bytes else text.encode())
    assert trail.revision_of("facts/tea.md", revision) == (sha256(data), text)
    assert [step.what for step in trail.page("facts/tea.md", revision, "x")] == [
        "page",
        "changed since",
        "edit",
    ]


def test_a_page_is_asked_for_by_its_path(memory: Memory) -> None:
    write(memory, "facts/tea.md", "# Tea\n\n> Summary: on tea\n\nOolong is fine.\n")
    write(memory, "days/2026-01-02.md", "# 2026-01-02\n\nTea was drunk.\n")
    write(memory, "episodes/2026-01.md", "## Moved\n\n- Summary: to the coast\n")
    memory.state.update(goal="a parser")
    memory.prompt("now", budget=4000)
    write(memory, "facts/new.md", "# New\n")
    write(memory, "PROJECT.md", "")
    for path, is_in, first, word in (
        ("SOUL.md", True, "charter", "it is shown whole"),
        ("USER.md", True, "profile", "it is shown whole"),
        ("state.json", True, "state", "it is shown whole"),
        ("facts/tea.md", True, "index", "on tea"),
        ("episodes/2026-01.md", True, "episodes", "its last episodes are shown"),
        ("days/2026-01-02.md", False, "only_searched", "it is not shown"),
        ("facts/new.md", False, "later", "it is not shown"),
    ):
        answer = memory.explain.why(path)
        chain = next(each for each in answer.chains if each.steps[1].what == first)
        assert answer.is_in is is_in, path
        assert (chain.steps[2].what, chain.steps[2].where, chain.steps[2].text) == ("page", path, word)
        assert chain.steps[-1].what == "edit"
        assert chain.steps[-1].where == next(memory.history.edits(path)).id
    assert "there was no page facts/new.md when" in memory.explain.why("facts/new.md").chains[0].steps[1].text
    assert [step.text for step in memory.explain.why("PROJECT.md").chains[0].steps[1:]] == ["it says nothing"]


def test_a_page_that_changed_or_came_since_is_said_to(memory: Memory) -> None:
    memory.prompt("one", budget=4000)
    write(memory, "USER.md", "- Home: Rome\n", more=True)
    write(memory, "facts/tea.md", "# Tea\n\nOolong is fine.\n")
    memory.pages.absorb()
    memory.prompt("two", budget=4000)
    (profile, changes) = told(memory, "USER.md")
    assert names(profile) == ["profile", "page", "changed since", "edit"]
    assert changes[1] == ("page", "USER.md", "its changes are listed")
    assert told(memory, "facts/tea.md")[0][1][2] == "it is listed as added or removed"
    assert told(memory, "facts/tea.md:3")[0][0][0] == "read_on_demand"
    (line,) = told(memory, "USER.md:1")
    assert line[1] == ("page", "USER.md:1", "# User Facts")


def test_a_line_of_a_page_is_asked_for_by_its_number(memory: Memory) -> None:
    write(memory, "facts/tea.md", "# Tea\n\nOolong is fine.\n\\\n")
    write(memory, "review/pending.md", "# Waits\n")
    write(memory, "SOUL.md", "# Soul\n\nEnglish code.\n")
    memory.prompt("now", budget=4000)
    ((item, page, *_),) = told(memory, "USER.md:6")  # and not the charter, which has the same words
    assert (item[1], page[1]) == ("USER.md", "USER.md:6")
    ((why, line, edit),) = told(memory, "facts/tea.md:3")
    assert (why[0], line[1:], edit[0]) == ("read_on_demand", ("facts/tea.md:3", "Oolong is fine."), "edit")
    assert told(memory, "facts/tea.md:2") == told(memory, "facts/tea.md:4") == told(memory, "facts/tea.md")
    assert told(memory, "review/pending.md:1")[0][0][0] == "waits_for_a_person"
    assert memory.explain.why("facts/none.md:1").chains[0].steps[1].what == "nowhere"
    with pytest.raises(NotFound, match=r"facts/tea\.md has 4 lines, and no line 9"):
        memory.explain.why("facts/tea.md:9")


def test_a_line_of_a_page_whose_changes_are_told_is_said_to_be_no_part_of_them(place: Path) -> None:
    with Memory(place / "small") as memory:
        memory.prompt("one", budget=4000)
        memory.state.update(goal="a parser")
        memory.prompt("two", budget=4000)
        assert Path(memory.path, "state.json").read_text().startswith("{\n")
        (steps,) = told(memory, "state.json:1")
        assert (steps[0][0], steps[0][1][:8]) == ("changed_since", "changes/")
        assert "this line is not one of them" in steps[0][2]


def test_the_end_of_a_page_that_was_shortened_is_said_to_have_had_no_room(place: Path) -> None:
    with Memory(place / "small") as memory:
        write(
            memory, "USER.md", "# Me\n\n" + "".join(f"Line {n} of prose on thing {n}.\n" for n in range(60))
        )
        prompt = memory.prompt("now", budget=120)
        assert [each.id for each in prompt.manifest.omitted] == ["the end of USER.md"]
        (steps,) = told(memory, "Line 50 of prose")
        assert steps[0][:2] == ("over_budget", "profile: the end of USER.md")
        assert steps[1][1] == "USER.md:53"
        (page,) = told(memory, "USER.md")
        assert (page[1][2], page[2][0]) == ("it is shown in part", "over_budget")


def test_of_names_on_one_line_the_page_that_was_asked_for_is_followed(place: Path) -> None:
    with Memory(place / "small") as memory:
        for name in ("tea", "coffee", "cocoa"):
            write(memory, f"facts/{name}.md", f"# {name}\n\n> Summary: all about {name} {LONG}\n")
        prompt = memory.prompt("now", budget=100)
        assert next(item for item in prompt.manifest.items if item.slot == "index").format == "names"
        for name in ("tea", "coffee", "cocoa"):
            assert told(memory, f"facts/{name}")[0][1][1] == f"facts/{name}.md"


def test_a_step_stands_under_the_one_it_follows_from(memory: Memory) -> None:
    """Also where two follow from the same: an edit and a fact from a line, several traces from an entry."""
    memory.prompt("one", budget=4000)
    write(memory, "USER.md", "- Home: Rome\n", more=True)
    memory.prompt("two", budget=4000)
    steps = memory.explain.why("Home: Rome").chains[0].steps[1:]
    assert [(step.what, step.depth) for step in steps][:5] == [
        ("window", 0),
        ("page", 1),
        ("edit", 2),
        ("page", 2),
        ("fact", 3),
    ]
    for number in range(3):
        memory.record(user=f"I live in Lyon, {number}.")
        memory.record(assistant="Fine.")
        memory.distill()
    memory.prompt("three", budget=4000)
    for chain in memory.explain.why("Lyon").chains:
        depths = [step.depth for step in chain.steps[1:]]
        assert depths[0] == 0
        assert all(new <= old + 1 for old, new in pairwise(depths))
        assert len({step.depth for step in chain.steps[1:] if step.what == "trace"}) <= 1


def test_what_is_no_text_is_not_looked_for(memory: Memory) -> None:
    def check(given: Any) -> None:
        memory.prompt("now", budget=4000)
        with pytest.raises(Invalid, match="A search must be text, not "):
            memory.explain.why(given)
        with pytest.raises(Invalid, match="The id of a prompt must be text, not "):
            memory.explain.why("now", given)

    check_rows(check, [5, None, b"x", float("nan"), ["x"]])


# --- with an index and without -----------------------------------------------------------

SAYINGS = (
    "We chose Postgres",
    "The kettle is green",
    "Straße am Fluß",
    "I like tea",
    "a_b c\\d",
    "好茶 is good tea",
)
ASKED = (
    *("ostgre", "strasse", "tea", "b c", "cd", "茶", "likes tea", "chose we", "nowhere at all"),
    *("facts/plants.md:3", "note 3", "Owner: person 2", "…", "-"),
)


def without_index(memory: Memory) -> None:
    memory.parts.recall.keep.close()
    for path in Path(memory.path).glob("views/index.sqlite*"):
        path.unlink()


@pytest.mark.parametrize("has_prompt", [True, False])
def test_what_the_index_has_or_lacks_changes_no_answer(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, has_prompt: bool
) -> None:
    monkeypatch.setattr(said_lines, "_NEAR", 1)
    if has_prompt:
        memory.prompt("Refactor the parser", budget=4000)

    def go_on(number: int) -> None:
        memory.record(user=f"{SAYINGS[number % 6]}, no. {number}.")
        memory.record(assistant="So it is.")
        memory.pages.edit(
            f"facts/plants{'-2' * (number % 2)}.md",
            f"# Plants\n\n- Owner: person {number % 5}\n- Note {number}\n\nSome prose of {SAYINGS[number % 6]}.\n",
            reason="more",
            author="person",
        )

    def check() -> None:
        found = [told(memory, text) for text in ASKED]
        without_index(memory)
        assert [told(memory, text) for text in ASKED] == found

    for number in range(8):
        go_on(number)
    memory.recall("tea")
    check()
    memory.recall("tea")
    for number in range(8, 12):
        go_on(number)
    memory.remember("I like green tea.")
    memory.forget(match="The kettle is green, no. 7.")
    check()


def test_of_many_places_only_those_that_are_told_are_followed(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "".join(f"- Owner: person {number}\n" for number in range(300))
    memory.prompt("Refactor the parser", budget=4000)
    memory.pages.edit("facts/plants.md", f"# Plants\n\n{lines}", reason="more", author="person")
    followed: list[object] = []
    real = Trail.fact

    def counted(self: Trail, *asked: Any, **more: Any) -> Iterator[Step]:
        followed.append(asked)
        return real(self, *asked, **more)

    monkeypatch.setattr(Trail, "fact", counted)
    answer = memory.explain.why("owner: person")
    assert not answer.is_in
    assert (len(answer.chains), answer.more) == (5, 295)
    assert len(followed) == 5
