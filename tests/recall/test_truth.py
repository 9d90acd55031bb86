"""What recall tells is true: as the journal has it, whatever the words of a question, of the talk or of the index."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from looseleaf import Memory
from looseleaf.recall.hits import Hit
from placing import THEN, stub, tell, tool_says
from tables import check_rows

Told = Callable[..., Memory]


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Told]:
    """A memory of some messages, each distilled before the next is said, and of pages."""
    open_memories = ExitStack()

    def tell(*texts: str, **pages: str) -> Memory:
        memory = open_memories.enter_context(Memory(tmp_path / "memory"))
        for text in texts:
            memory.record(user=text)
            memory.record(assistant="Noted.")
            memory.distill()
        for name, text in pages.items():
            memory.pages.edit(f"facts/{name}.md", text, reason="known", author="person")
        return memory

    with open_memories:
        yield tell


def texts(memory: Memory, question: str, **more: object) -> list[str]:
    return [hit.text for hit in memory.recall(question, **more)]  # type: ignore[arg-type]


def trace_of(memory: Memory, question: str) -> Hit:
    return next(hit for hit in memory.recall(question) if hit.kind == "trace")


# --- what was superseded ---------------------------------------------------------------


@pytest.mark.parametrize("question", ["Where do I live?", "Which city am I in?", "Lyon", "do I live in Lyon"])
def test_before_what_was_said_stands_what_is_true_now(told: Told, question: str) -> None:
    memory = told("I'm Ann and I live in Lyon.", "I moved to Paris.")
    assert texts(memory, question)[0] == "Home: Paris"


def test_words_that_say_what_is_true_as_well_are_over_in_part(told: Told) -> None:
    memory = told("My name is Ann and I live in Lyon.", "I moved to Paris.")
    old = trace_of(memory, "Lyon")
    assert (old.status, old.now, old.is_over) == ("partly superseded", "Home: Paris", True)


def test_of_two_things_that_are_over_the_one_that_is_asked_for_is_put_right(told: Told) -> None:
    memory = told("I live in Berlin and I work at Siemens.", "I moved to Paris.", "I work at Bosch now.")
    for question, now in (("Berlin", "Home: Paris"), ("Siemens", "Employer: Bosch")):
        assert texts(memory, question)[0] == now
        old = trace_of(memory, question)
        assert (old.status, old.now) == ("superseded", now)


def test_the_entry_and_the_day_that_tell_it_are_marked_too(told: Told) -> None:
    memory = told("I live in Lyon.", "I moved to Paris.")
    for kind in ("entry", "day"):
        found = [hit for hit in memory.recall("live in Lyon", kinds=kind) if "Lyon" in hit.text]
        assert [hit.status for hit in found] == ["superseded"]


def test_what_a_person_rejected_is_marked_in_the_talk(told: Told) -> None:
    memory = told("I work at Bosch.")
    memory.review.reject(next(fact for fact in memory.facts() if fact.relation == "Employer").id or "")
    assert trace_of(memory, "Bosch").status == "rejected"
    assert "Employer: Bosch" not in texts(memory, "Bosch")


def test_what_a_person_said_no_to_comes_after_all_that_is_true_and_never_passes_for_an_answer(
    told: Told,
) -> None:
    memory = told("I work at Bosch.", "I like the coffee machine that Bosch makes.", "I live in Graz.")
    assert "coffee" not in texts(memory, "work at Bosch")[0]
    for fact in memory.facts():
        if fact.relation in ("Employer", "Home"):
            memory.review.reject(fact.id or "")
    found = memory.recall("work at Bosch")
    marks = [hit.status == "rejected" for hit in found]
    assert marks == sorted(marks)
    assert {*marks} == {False, True}
    assert max(hit.score for hit in found if hit.status == "rejected") <= 0.5
    assert found.why == ""
    only = memory.recall("work at Bosch", k=1, kinds="trace")
    assert "coffee" in only[0].text
    found = memory.recall("Graz")
    assert found[0].status == "rejected"
    assert found.why == "Nothing that is true bears on this: a person said no to what does."


# --- what a fact is found by -----------------------------------------------------------


def test_a_relation_is_found_by_whatever_people_call_it(tmp_path: Path) -> None:
    numbers = count()

    def check(line: str, question: str) -> None:
        fresh = tmp_path / str(next(numbers))
        fresh.mkdir()
        with Memory(fresh / "memory") as memory:
            memory.pages.edit("USER.md", f"{line}\n", reason="known", author="person")
            assert texts(memory, question) == [line.removeprefix("- ")]

    check_rows(
        check,
        [
            ("- Home: Basel", "where do I live?"),
            ("- Home: Basel", "which city am I in"),
            ("- Role: nurse", "what is my job"),
            ("- Role: nurse", "my occupation?"),
            ("- Phone: 079 123", "my mobile number"),
            ("- Partner: Sara", "who is my wife"),
            ("- Likes: hiking", "what do I like"),
            ("- Home: 上海", "我住在哪里"),
        ],
    )


def test_the_words_of_a_quote_find_what_was_said_before_the_fact(told: Told) -> None:
    memory = told("I don't drink coffee anymore, only green tea.")
    assert texts(memory, "green tea")[0] == "I don't drink coffee anymore, only green tea"


def test_a_page_is_found_by_its_title_its_headings_and_its_name(told: Told) -> None:
    text = "# The machine\n\n## Descaling\n\nTakes an hour.\n"
    memory = told(**{"espresso-corner": text})
    for question in ("machine", "descaling", "espresso", "tell me about the machine"):
        assert texts(memory, question) == ["Takes an hour."]


def test_somebody_elses_fact_is_found_with_his_page(told: Told) -> None:
    memory = told(anna="# Anna\n\n- Lives in: Bern\n- Birthday: 1991-08-22\n")
    assert texts(memory, "where does Anna live")[0] == "Lives in: Bern"
    assert texts(memory, "when is Anna's birthday")[0] == "Birthday: 1991-08-22"


# --- pages as they are -----------------------------------------------------------------


def test_only_a_line_end_ends_a_line(told: Told) -> None:
    memory = told(zoo="# Zoo\n\nIntro\u2028with\x0cbreaks\x85here\n\nThe safe code of the office is 4711.\n")
    (hit,) = [hit for hit in memory.recall("safe code office") if hit.kind == "prose"][:1]
    assert (hit.text, hit.where) == ("The safe code of the office is 4711.", "facts/zoo.md#5-5")


def test_a_comment_in_code_is_no_heading_and_a_piece_of_code_is_one(told: Told) -> None:
    code = "```sh\n# restart the walrus daemon\n\nsystemctl restart walrus\n```"
    memory = told(ops=f"# Operations\n\n{code}\n\n#tapir is a tag\n")
    assert texts(memory, "walrus daemon")[0] == code
    assert texts(memory, "tapir tag")[0] == "#tapir is a tag"


# --- crowds ----------------------------------------------------------------------------


def test_what_is_said_a_hundred_times_hides_nothing(told: Told, tmp_path: Path) -> None:
    memory = told()
    with memory.batch() as batch:
        for _ in range(150):
            batch.record(user="I love sushi!")
        batch.record(user="Tuesday we had sushi at Nobu with Carla")
    assert sorted(texts(memory, "sushi")) == ["I love sushi!", "Tuesday we had sushi at Nobu with Carla"]


def test_one_endless_result_hides_nothing(told: Told) -> None:
    memory = told()
    memory.record(user="The deploy key lives in the blue cabinet.")
    memory.record(tool_call="cat")
    memory.record(tool_result="\n".join(f"deploy key {number} is rotated" for number in range(20_000)))
    assert "The deploy key lives in the blue cabinet." in texts(memory, "deploy key")


# --- a time alone ----------------------------------------------------------------------


def test_a_question_for_a_day_is_answered_by_that_day_alone(told: Told) -> None:
    memory = told()
    day = 86_400.0
    for number, text in enumerate(("We painted the fence.", "We fixed the gate.", "We sold the boat.")):
        memory.record(user=text, ts=1_772_020_000.0 + number * day)
    question = "What did we talk about yesterday?"
    assert texts(memory, question, now=1_772_020_000.0 + 2 * day) == ["We fixed the gate."]
    assert texts(memory, question, now=1_772_020_000.0 + 9 * day) == []


# --- an index that lies ----------------------------------------------------------------


def changed(memory: Memory, statement: str) -> None:
    with sqlite3.connect(Path(memory.path) / "views/index.sqlite") as index:
        index.execute(statement)
    index.close()


def test_a_status_or_level_that_the_index_makes_up_is_not_told(told: Told) -> None:
    memory = told("I live in Berlin.", "I moved to Paris.")
    memory.recall("Berlin")
    changed(memory, "UPDATE item SET status = 'current', level = 'made up' WHERE kind = 'fact'")
    facts = [hit for hit in memory.recall("home Berlin Paris") if hit.kind == "fact"]
    assert [(hit.text, hit.level) for hit in facts] == [("Home: Paris", "said")]


def test_what_waits_in_review_is_not_told_whatever_the_index_says(told: Told) -> None:
    memory = told(birds="The toucan nests in the oak.\n")
    memory.distill("I prefer vim over emacs.", topic="tools")[0]
    assert texts(memory, "toucan nests oak")
    changed(memory, "UPDATE item SET name = 'review/pending.md', first = 1, last = 9 WHERE kind = 'prose'")
    assert texts(memory, "toucan nests oak") == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE item SET byte = 'x'",
        "UPDATE item SET session = 'abc'",
        "UPDATE item SET segment = -1",
        "UPDATE item SET ts = x'00ff'",
        "UPDATE mean SET items = 'many'",
        "UPDATE source SET mark = printf('%.6000c', '9') WHERE name LIKE 'traces/%'",
    ],
)
def test_an_index_that_makes_no_sense_is_made_again(told: Told, statement: str) -> None:
    memory = told("The violet lantern hangs in the barn.")
    before = texts(memory, "violet lantern")
    changed(memory, statement)
    assert texts(memory, "violet lantern") == before
    with Memory(memory.path) as another:
        assert texts(another, "violet lantern") == before


# --- links -----------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_file_elsewhere_is_never_written_through_a_link(
    told: Told, tmp_path: Path, ending: str, link: Callable[[Path, Path], None]
) -> None:
    memory = told("The violet lantern hangs in the barn.")
    precious = tmp_path / "precious"
    precious.write_bytes(b"precious" * 1000)
    link(precious, Path(memory.path) / f"views/index.sqlite{ending}")
    assert texts(memory, "violet lantern")
    memory.record(user="A second lantern is red.")
    assert len(texts(memory, "lantern")) == 2
    assert precious.read_bytes() == b"precious" * 1000


def test_views_that_lead_elsewhere_are_not_followed(told: Told, tmp_path: Path) -> None:
    memory = told("The violet lantern hangs in the barn.")
    memory.recall("lantern")
    memory.close()
    elsewhere = tmp_path / "elsewhere"
    (Path(memory.path) / "views").rename(elsewhere)
    (Path(memory.path) / "views").symlink_to(elsewhere)
    before = (elsewhere / "index.sqlite").read_bytes()
    with Memory(memory.path) as again:
        assert texts(again, "violet lantern")
        again.views.build_index(full=True)
    assert (elsewhere / "index.sqlite").read_bytes() == before


def test_what_is_true_stands_first_also_where_another_language_asks(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory:
        memory.remember("Ich wohne in München.")
        memory.remember("I live in Lima.")
        first, second, *_ = memory.recall("Wo wohne ich?")
        assert (first.text, second.status, second.now) == ("Home: Lima", "superseded", "Home: Lima")


def test_opening_what_another_agent_recorded_shows_its_whole_turn(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", agent="other") as memory:
        memory.record(user="How do herons nest?")
        memory.record(assistant="In colonies, high in trees.")
    with Memory(tmp_path / "memory") as memory:
        memory.record(user="Something else.")
        opened = memory.open(memory.recall("herons")[0].where)
        assert "How do herons nest?" in opened.text
        assert "high in trees" in opened.text


def test_lines_of_a_day_do_not_answer_for_their_neighbours(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory:
        for text in (
            "My dog is called Rex.",
            "The gate code is 4411.",
            "Explain Rust lifetimes to me one day.",
        ):
            memory.remember(text)
        found = memory.recall("gate code")
        assert [hit.text for hit in found if "gate code" not in hit.text.casefold()] == []
        assert len(found) > 0


def test_what_was_found_comes_after_what_was_said_signed_and_with_its_level(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", distiller=stub()) as memory:
        tell(memory, "I live in Berlin.")
        tool_says(memory, "I live in Paris.", at=THEN + 86_400)
        said, found = (hit for hit in memory.recall("Where do I live?") if hit.kind == "fact")
        assert (said.text, said.level, said.status) == ("Home: Berlin", "said", "current")
        assert found.text == "Home: Paris (found by main on 2025-10-10, from web)"
        assert (found.level, found.status, found.path) == ("tainted", "current", "facts/user.md#6-6")
        asked = trace_of(memory, "I live in Berlin")
        assert (asked.text, asked.is_over) == ("I live in Berlin.", False), "a tool's word puts nothing right"
