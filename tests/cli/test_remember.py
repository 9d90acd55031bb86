"""The command `remember`: a person's own words become memory at once, and are the person's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf.base.errors import Refused
from looseleaf.memory import Memory

if TYPE_CHECKING:
    from conftest import Run

FINDS = "Next: `looseleaf recall` with some of the words finds it; `looseleaf undo` undoes it.\n"
KEY = "sk-ant-api03-" + "abcdefghij0123456789" * 4 + "-AAAA"


def facts(run: Run, *more: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("facts", "--json", *more)[1])
    return found


def said(run: Run) -> list[tuple[str, str, str]]:
    return [(fact["relation"], fact["object"], fact["level"]) for fact in facts(run)]


def test_what_the_rules_read_stands_on_its_page_and_is_confirmed(run: Run, folder: Path) -> None:
    code, out, err = run("remember", "I", "live", "in", "Lyon.")
    assert (code, err) == (0, FINDS)
    assert re.fullmatch(
        r"added            f_[0-9a-f]{8}  Home: Lyon  \(confirmed\): nothing like it is held\n", out
    )
    assert said(run) == [("Home", "Lyon", "confirmed")]
    assert "- Home: Lyon\n" in (folder / "USER.md").read_text()
    assert "a person wrote or approved it" in run("why", "USER.md:5")[1]
    assert run("topics")[1] == "user  1 fact\n"  # and no topic for the words that said it


def test_it_is_found_and_its_words_are_its_source(run: Run) -> None:
    run("remember", "I live in Lyon.")
    hits = json.loads(run("recall", "where do I live", "--json")[1])["hits"]
    assert any(hit["text"] == "Home: Lyon" for hit in hits)
    assert '"text": "I live in Lyon."' in run("why", "USER.md:5", "--json")[1]


def test_another_value_takes_the_place_of_the_old_one_also_back_again(run: Run) -> None:
    for home in ("Lyon", "Paris", "Lyon"):
        run("remember", f"I live in {home}.")
        assert said(run) == [("Home", home, "confirmed")]
    assert [fact["object"] for fact in json.loads(run("history", "USER.md:5", "--json")[1])] == [
        "Lyon",
        "Paris",
        "Lyon",
    ]


def test_what_is_said_again_is_known_already(run: Run) -> None:
    run("remember", "I live in Lyon.")
    code, out, _ = run("remember", "I live in Lyon.")
    assert (code, out.split("  ")[0]) == (0, "known already")
    run("remember", "The boiler is behind the stairs")
    assert run("remember", "The boiler is behind the stairs") == (
        0,
        "known already: USER.md says it.\n",
        "Next: `looseleaf show USER.md` shows it.\n",
    )
    assert len(said(run)) == 2


def test_what_is_over_goes_from_its_page(run: Run) -> None:
    run("remember", "I live in Lyon.")
    assert "ended" in run("remember", "I don't live in Lyon anymore.")[1]
    assert not any(relation == "Home" for relation, _, _ in said(run))


def test_a_taste_that_is_over_goes_from_its_page(run: Run) -> None:
    run("remember", "I like jazz.")
    assert "ended" in run("remember", "I no longer like jazz.")[1]
    assert said(run) == []


def test_what_no_rule_reads_is_kept_as_it_was_said(run: Run, folder: Path) -> None:
    code, out, err = run("remember", "The boiler is behind the stairs")
    assert (code, err) == (0, FINDS)
    assert out == "noted on USER.md, in your own words.\n"
    assert said(run) == [("note", "The boiler is behind the stairs", "confirmed")]
    run("remember", "Tomatoes want sun", "--topic", "garden")
    assert (folder / "facts" / "garden.md").read_text().endswith("- Tomatoes want sun\n")
    run("remember", "Editor: vim")
    assert ("Editor", "vim", "confirmed") in said(run)
    assert not list((folder / "log").glob("entries/*/*"))  # what states no fact makes no entry


def test_a_sentence_that_no_rule_reads_is_noted_beside_the_facts_and_that_is_said(
    run: Run, folder: Path
) -> None:
    code, out, err = run("remember", "My name is Bob. I live in Oslo. The build is red on Mondays.")
    assert (code, err) == (0, FINDS)
    assert [line.split()[0] for line in out.splitlines()] == ["added", "added", "noted"]
    assert out.endswith("note: The build is red on Mondays  (confirmed): as you said it\n")
    assert said(run) == [
        ("Name", "Bob", "confirmed"),
        ("Home", "Oslo", "confirmed"),
        ("note", "The build is red on Mondays", "confirmed"),
    ]
    again = run("remember", "My name is Bob. The build is red on Mondays.")[1]
    assert [line.split("  ")[0] for line in again.splitlines()] == ["known already"] * 2
    run("remember", "I live in Oslo. Tomatoes want sun.", "--topic", "garden")
    assert "\n- Tomatoes want sun\n" in (folder / "facts" / "garden.md").read_text()


def test_what_is_only_thought_or_asked_is_noted_and_a_greeting_is_passed_over(run: Run) -> None:
    """No "maybe" is learnt from talk; a person's own word is kept all the same."""
    code, out, _ = run("remember", "Hello! I live in Oslo. Maybe we go to Rome.")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["added", "noted", "passed"]
    assert out.endswith("note: Maybe we go to Rome  (confirmed): as you said it\npassed over: Hello!\n")
    out = run("remember", "I live in Oslo. Maybe we go to Rome.")[1]
    assert [line.split("  ")[0] for line in out.splitlines()] == ["known already"] * 2
    done = json.loads(run("remember", "Hello! I live in Oslo. Is the door open?", "--json")[1])
    assert (done["rest"], done["passed_over"], done["noted"]) == ([], ["Hello!"], None)
    assert {each[:2] for each in said(run)} == {
        ("Home", "Oslo"),
        ("note", "Is the door open?"),
        ("note", "Maybe we go to Rome"),
    }


def test_sentences_that_are_alike_are_a_note_each_and_none_takes_the_place_of_another(run: Run) -> None:
    words = [f"Row number {number} of the field is wet" for number in range(5)]
    run("remember", f"I live in Oslo. {'. '.join(words)}.")
    assert [each[:2] for each in said(run)] == [("Home", "Oslo"), *(("note", each) for each in words)]


def test_what_is_over_said_twice_is_no_doubt_of_itself(run: Run) -> None:
    for words in ("I don't live in Lyon anymore.", "I live in Lyon.", "I don't live in Lyon anymore."):
        run("remember", words)
    assert not any("may have changed" in words for _, words, _ in said(run))


def test_many_sentences_that_no_rule_reads_are_one_note(run: Run) -> None:
    words = [f"Row number {number} of the field is wet." for number in range(41)]
    run("remember", f"I live in Oslo. {' '.join(words)}")
    assert [each[:2] for each in said(run)] == [("Home", "Oslo"), ("note", " ".join(words))]


def test_a_sentence_that_is_too_long_for_a_fact_is_kept_whole(run: Run) -> None:
    long = f"The fence has {'oak and ' * 60}ivy."
    out, err = run("remember", f"I live in Oslo. {long}")[1:]
    assert out.splitlines()[1].startswith("noted on USER.md: The fence has oak")
    assert "`looseleaf undo`, twice, undoes it" in err
    assert [each[:2] for each in said(run)] == [("Home", "Oslo"), ("note", long)]
    out = run("remember", f"I live in Oslo. {long}")[1]
    assert out.splitlines()[1].startswith("known already on USER.md: The fence has oak")
    run("remember", f"I live in Rome and the gate has {'oak and ' * 60}ivy.")
    assert said(run)[-1][1].endswith("oak and ivy.")  # also beside a fact of the same sentence


def test_one_undo_takes_all_of_it_back(run: Run, folder: Path) -> None:
    for words in (
        "I live in Lyon. I like jazz.",
        "The boiler is behind the stairs",
        "I live in Lyon. The boiler is behind the stairs.",
    ):
        run("remember", words)
        assert said(run)
        assert run("undo")[0] == 0
        assert said(run) == []


def test_many_lines_come_from_standard_input(run: Run, folder: Path) -> None:
    done = json.loads(run("remember", "-", "--json", stdin=b"- Fence: oak\n- Gate: iron\n")[1])
    assert (done["entry"], done["outcomes"], done["noted"]["added"]) == (None, [], 4)
    assert [each[:2] for each in said(run)] == [("Fence", "oak"), ("Gate", "iron")]
    assert run("remember", "-", stdin=b"\xff")[0] == 2


def test_as_json_it_says_what_became_of_it(run: Run) -> None:
    code, out, err = run("remember", "I live in Lyon.", "--json")
    done = json.loads(out)
    assert (code, err, done["noted"]) == (0, "", None)
    (outcome,) = done["outcomes"]
    assert (outcome["act"], outcome["fact"]["object"], outcome["fact"]["level"]) == (
        "add",
        "Lyon",
        "confirmed",
    )


def test_no_secret_is_written(run: Run, folder: Path) -> None:
    code, out, err = run("remember", f" {KEY}")
    assert (code, out, "it was only a secret" in err) == (2, "", True)
    out = run("remember", f"The key of the shop is {KEY}")[1]
    assert out == (
        "noted on USER.md, except for a secret.\n"
        "A secret was removed before anything was written: it is kept nowhere.\n"
    )
    out = run("remember", f"I use the key {KEY} at work and I live in Lyon.")[1]
    assert out.endswith("A secret was removed before anything was written: it is kept nowhere.\n")
    assert "secret" not in run("remember", "I like jazz.")[1]
    run("build")
    everything = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert KEY.encode() not in everything
    assert b"[redacted" in everything


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["remember", " … "], "there are no words in it"),
        (["remember", "I like tea.", "--topic", "!!"], "'!!' is not a topic name"),
    ],
)
def test_what_cannot_be_remembered_is_refused(run: Run, folder: Path, arguments: list[str], why: str) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("looseleaf: Nothing was remembered: ")
    assert why in err
    assert {path: path.read_bytes() for path in before} == before


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80))
def test_whatever_is_said_is_written_or_known_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    """And the page stays a page: what is read off it is what was said, on one bullet or more."""
    with Memory(tmp_path_factory.mktemp("words") / "memory") as memory:
        if not any(map(str.isalnum, text)):
            with pytest.raises(Refused, match="no words"):
                memory.remember(text)
            return
        done = memory.remember(text)
        assert (done.noted is not None and done.noted.changed) or (
            done.placed is not None and any(each.act != "drop" for each in done.placed.outcomes)
        )
        assert memory.facts()
        again = memory.remember(text)
        assert again.noted is None or not again.noted.changed
        assert memory.check() == []


PARTS = (
    "I live in Oslo.",
    "My name is Bob.",
    "The build is red.",
    "Is the door open?",
    "Tomatoes want sun.",
    "Hi!",
)
KEPT = ("Oslo", "Bob", "The build is red", "Is the door open?", "Tomatoes want sun", "")


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=6))
def test_every_sentence_is_a_fact_a_note_or_passed_over(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    with Memory(tmp_path_factory.mktemp("parts") / "memory") as memory:
        done = memory.remember(" ".join(parts))
        held = " ".join(fact.object for fact in memory.facts())
        for part, kept in zip(PARTS, KEPT, strict=True):
            if part in parts:
                assert kept in held
                assert part not in done.passed_over or not kept


# --- what a sentence says beyond its facts --------------------------------------------------


def test_the_rest_of_a_sentence_is_noted_beside_the_fact_in_it(run: Run) -> None:
    run("remember", "I live in Oslo and the gate code is 4411.")
    assert said(run) == [("Home", "Oslo", "confirmed"), ("note", "the gate code is 4411", "confirmed")]
    run("remember", "I prefer tea, but only in the morning.")
    assert ("note", "I prefer tea, but only in the morning.", "confirmed") in said(run)
    run("remember", "My manager is Bob, who sits in Oslo.")
    assert ("note", "My manager is Bob, who sits in Oslo", "confirmed") in said(run)


def test_what_stays_true_is_not_called_false_for_the_sentence_that_it_was_said_in(run: Run) -> None:
    run("remember", "I live in Oslo and the gate code is 4411.")
    run("remember", "I live in Nice now.")
    first, *others = json.loads(run("recall", "gate code", "--json")[1])["hits"]
    assert (first["text"], first["status"]) == ("the gate code is 4411", "current")
    whole = [hit["status"] for hit in others if "Oslo and the gate" in hit["text"]]
    assert set(whole) <= {"partly superseded"}


def test_what_is_said_again_keeps_the_words_of_both_times(run: Run) -> None:
    run("remember", "I am allergic to peanuts.")
    code, out, err = run("remember", "I am allergic to peanuts.")
    assert (code, out.startswith("known already")) == (0, True)
    assert "undo" not in err
    assert run("why", "USER.md:5")[1].count("    I am allergic to peanuts.\n") == 2
    assert "not in the log" not in run("history", "USER.md:5")[1] + run("why", "peanuts")[1]


def test_a_summary_tells_nothing_that_was_taken_back(run: Run) -> None:
    run("remember", "I prefer green tea.")
    run("remember", "I am allergic to peanuts.")
    assert "allergic to peanuts" in run("global")[1]
    run("reject", next(fact["id"] for fact in facts(run) if fact["relation"] == "Allergy"))
    assert "peanuts" not in run("global")[1]
    run("remember", "I live in Oslo. I prefer coffee over green tea.")
    assert "coffee" in run("global")[1]
    run("undo")
    assert "coffee" not in run("global")[1]


@pytest.mark.parametrize(
    "sentence",
    [
        "My dog is called Rex.",
        "I'm 42 years old.",
        "I work at Acme.",
        "btw my name is Anna, thanks",
    ],
)
def test_a_sentence_that_is_all_facts_is_not_noted_as_well(run: Run, sentence: str) -> None:
    run("remember", sentence)
    assert "note" not in {relation for relation, _, _ in said(run)}


def test_each_rest_is_noted_once(run: Run) -> None:
    run("remember", "My mother's name is Eva and my father's is Karl.")
    assert [relation for relation, _, _ in said(run)].count("note") == 1


def test_a_note_that_says_a_fact_again_ends_with_it(run: Run, folder: Path) -> None:
    run("remember", "My manager is Bob, who sits in Oslo.")
    run("remember", "My manager is Eve.")
    assert not any("Bob" in value for _, value, _ in said(run))
    run("remember", "My manager is Karl, who sits in Bergen.")
    assert len(said(run)) == 2
    wanted = next(fact["id"] for fact in facts(run) if fact["object"] == "Karl")
    run("reject", wanted)
    assert not any("Karl" in value for _, value, _ in said(run))
    assert "Karl" not in (folder / "USER.md").read_text()


def test_a_note_that_stands_alone_outlives_the_fact_beside_it(run: Run) -> None:
    run("remember", "I live in Oslo and the gate code is 4411.")
    run("remember", "I live in Rome.")
    assert said(run) == [("Home", "Rome", "confirmed"), ("note", "the gate code is 4411", "confirmed")]
    assert "Oslo" not in run("global")[1]
