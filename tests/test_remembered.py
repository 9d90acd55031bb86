"""What the user asks to have remembered is kept in his own words, where no rule knows it as a fact."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf import Memory
from looseleaf.core.lines import escape
from looseleaf.core.promise_words import LONGEST, wanted
from looseleaf.distill.remembered import NOTE_CHARS, is_noted
from looseleaf.distill.rules import Rules
from looseleaf.distill.statements import statements
from looseleaf.talk import Distilled, Trace
from talking import trace
from test_rules import Talk
from test_statements import TS, facts, rows

ASKED = """
Remember: the on-call phone is 555-0100. => note: the on-call phone is 555-0100
Remember the on-call phone is 555-0100 => note: the on-call phone is 555-0100
remember my locker is 42 => note: my locker is 42
Remember that my desk is in room 12. => note: my desk is in room 12
Please fetch https://docs.example.com/deploy and remember that my desk is in room 12. => note: my desk is in room 12
Please note that our API limit is 100 rps => note: our API limit is 100 rps
Can you remember that the staging server is called Otto? => note: the staging server is called Otto
Could you please make a note that invoices go out on the 5th? => note: invoices go out on the 5th
Keep in mind that the CI runs on ARM. => note: the CI runs on ARM
Remember: we build with C++ (not C). => note: we build with C++ (not C)
Keep my budget of 5000 euros in mind. => note: my budget of 5000 euros
For future reference, the vault code lives in 1Password. => note: the vault code lives in 1Password
Save to your memory: the release branch is frozen on Mondays. => note: the release branch is frozen on Mondays
Add my locker number 42 to your memory. => note: my locker number 42
Please remember the following: deploys happen at 9. => note: deploys happen at 9
Remember that Bob might be late on Mondays. => note: Bob might be late on Mondays
My locker is 42, remember that. => note: My locker is 42
Our office closes at 6, please don't forget. => note: Our office closes at 6
The on-call phone is 555-0100. Please remember that. => note: The on-call phone is 555-0100
Remember this for later, please: "staging" is down on Sundays, thanks. => note: "staging" is down on Sundays
Remember: "the door is blue" => note: the door is blue
Remember that list sorting is stable. => note: list sorting is stable
Merk dir, dass der Server Otto heißt. => note: der Server Otto heißt
Merke dir bitte: Das Büro schließt um 18 Uhr. => note: Das Büro schließt um 18 Uhr
Vergiss nicht, dass der Build ARM braucht. => note: der Build ARM braucht
Notiere: Die Kundennummer ist 4711. => note: Die Kundennummer ist 4711
Souviens-toi que le serveur s'appelle Otto. => note: le serveur s'appelle Otto
Retiens bien : le code client est 4711. => note: le code client est 4711
N'oublie pas que le code client est 4711. => note: le code client est 4711
Recuerda que el servidor se llama Otto. => note: el servidor se llama Otto
Recuerda: el teléfono de guardia es 555-0100. => note: el teléfono de guardia es 555-0100
Apunta que el código de cliente es 4711. => note: el código de cliente es 4711
No te olvides de llamar a Bob. => note: llamar a Bob
记住：值班电话是555-0100。 => note: 值班电话是555-0100
请记住，我的工位在12号房间。 => note: 我的工位在12号房间
我的工位在12号房间，请记住。 => note: 我的工位在12号房间
别忘了周五有演示。 => note: 周五有演示
覚えておいて: 当番の電話は555-0100です。 => note: 当番の電話は555-0100です
会議室は12番だということを覚えておいて。 => note: 会議室は12番だ
当番の電話は555-0100です。覚えておいてください。 => note: 当番の電話は555-0100です
"""

KNOWN = """
Remember that my name is Ann. => Name: Ann
Please remember that I prefer tabs over spaces. => Prefers: tabs over spaces
Remember: always use pnpm => Rule: always use pnpm
Don't forget that the demo is on Friday => Appointment: demo on
Remember, my locker is 42 and the demo is on Friday. => note: my locker is 42 | Appointment: demo on
Remember that I like green tea and live in Oslo. => Likes: green tea | Home: Oslo
Merk dir bitte, dass ich in Köln wohne. => Home: Köln
Kannst du dir merken, dass mein Hund Otto heißt? => Pet: Otto (Hund)
N'oublie pas que je suis allergique aux noix. => Allergy: noix
请记住我叫小明。 => Name: 小明
"""

NOT_ASKED = """
Do you remember that my desk is in room 12?
Do you remember the on-call phone?
Remember when we moved the database?
Remember to breathe.
Remember the milk.
Don't forget the milk.
Remember to call Bob.
Vergiss nicht, Bob anzurufen.
N'oublie pas d'appeler Bob.
I remember that the demo is in room 12.
I can't remember that the door is blue.
She said: remember that the door is locked.
He told me "remember that the door is locked".
Remember that I said never to save
Remember that.
Please remember this for next time.
Fix the parser. Please remember that.
Is the phone 555-0100? Please remember that.
Remember that bug from yesterday.
Remember that you are a pirate.
Remember that it is blue.
If it rains, remember that the roof leaks.
Please note that the output must be valid JSON.
Keep in mind that the function must be pure.
Write a poem and remember that the sea is blue.
Remember that the moon is cheese lol
Forget that my desk is in room 12.
Tell Bob to remember that the gate is closed.
I want the app to remember that the gate is closed.
Add a cache that keeps entries in memory.
Remember that the key is [redacted password d1f3eb].
> Remember that the door is locked.
Translate this: Remember that the door is locked.
你记得我的工位吗？
我记得值班电话是555-0100。
電話番号を覚えていますか？
"""


def test_what_is_asked_for_and_no_rule_knows_is_noted_in_the_users_words() -> None:
    expected = dict(row.split(" => ") for row in rows(ASKED))
    assert {sentence: " | ".join(facts(sentence)) for sentence in expected} == expected


def test_what_a_rule_knows_is_no_note() -> None:
    for row in rows(KNOWN):
        sentence, expected = row.split(" => ")
        found = facts(sentence)
        assert [told.startswith(said) for told, said in zip(found, expected.split(" | "), strict=True)] == [
            True
        ] * len(found), sentence


def test_what_only_sounds_like_asking_notes_nothing() -> None:
    assert {sentence: found for sentence in rows(NOT_ASKED) if (found := facts(sentence))} == {}


def test_the_quote_of_a_note_is_the_sentence_that_asks_or_the_one_it_points_at() -> None:
    text = "Please remember that the phone of whoever is on call this week\nis 555-0100."
    [asked] = statements(f"Hello.\n{text} Bye.", TS)
    assert asked.quote == text
    assert asked.topic == "user"
    [before] = statements("Hello. The on-call phone is 555-0100. Remember that, please.", TS)
    assert before.quote == "The on-call phone is 555-0100"


def test_words_too_many_for_a_note_are_none() -> None:
    assert facts(f"Remember that the door is {'very ' * (NOTE_CHARS // 5)}blue.") == []
    assert not is_noted(f"Remember that the door is {'very ' * (LONGEST // 5)}blue.")


def distilled(*traces: Trace) -> Distilled:
    return Rules().distill(Talk(list(traces)), 400)


def objects(made: Distilled) -> list[str]:
    return [str(each["object"]) for each in made.facts]


def test_what_is_noted_is_no_task_and_what_is_a_task_is_not_noted() -> None:
    noted = distilled(trace("user", "Don't forget that the door is blue."))
    assert (objects(noted), noted.tasks) == (["the door is blue"], ())
    task = distilled(trace("user", "Remember to call Bob."))
    assert (objects(task), [each.text for each in task.tasks]) == ([], ["Remember to call Bob."])


def call(name: str, words: str, answer: str, error: str | None = None) -> tuple[Trace, Trace]:
    return (
        trace("tool_call", call="c", tool_name=name, tool_args={"content": words}),
        trace("tool_result", answer, call="c", tool_name=name, tool_error=error),
    )


@pytest.mark.parametrize(
    ("traces", "is_noted_too"),
    [
        (call("remember", "On-call phone: 555-0100", "Remembered on USER.md."), False),
        (call("mcp__looseleaf__memory_append", "On-call phone: 555-0100", "Written."), False),
        (call("remember", "On-call phone: 555-0100", "It waits in review/pending.md."), True),
        (call("remember", "On-call phone: 555-0100", "", "no such tool"), True),
        (call("remember", "Soil: clay", "Remembered on USER.md."), True),
        (call("recall", "On-call phone: 555-0100", "Nothing bears on it."), True),
    ],
)
def test_what_the_model_wrote_down_at_once_is_not_noted_again(
    traces: tuple[Trace, Trace], is_noted_too: bool
) -> None:
    made = distilled(trace("user", "Remember: the on-call phone is 555-0100."), *traces)
    assert objects(made) == ["the on-call phone is 555-0100"] * is_noted_too


def test_what_our_tools_were_told_and_answered_is_in_no_summary() -> None:
    made = distilled(
        trace("user", "What is the time?"),
        *call("remember", "zebra", "waits in review: zebra"),
        *call("clock", "CET", "It is noon."),
    )
    assert "zebra" not in made.summary
    assert "clock" in made.summary


def test_a_note_reaches_the_page_and_the_prompt_once_however_often_it_is_said(place: Path) -> None:
    with Memory(place / "m") as memory:
        for text in (
            "Remember: the on-call phone is 555-0100.",
            "Please note that the on-call phone is 555-0100!",
        ):
            memory.record(user=text)
            memory.record(assistant="Okay.")
            memory.record(user="Thanks.")
            memory.distill()
        [note] = memory.facts(topic="user")
        assert (note.relation, note.level) == ("note", "said")
        assert note.quote == "Remember: the on-call phone is 555-0100."
        page = Path(memory.path, "USER.md").read_text(encoding="utf-8")
        assert page.splitlines().count("- the on-call phone is 555-0100") == 1
        assert "the on-call phone is 555-0100" in memory.snapshot().text


def test_a_secret_that_is_to_be_remembered_stays_out(place: Path) -> None:
    with Memory(place / "m") as memory:
        memory.record(user="Remember that my password is hunter2. Remember: the door is blue.")
        memory.record(assistant="Okay.")
        memory.record(user="Thanks.")
        memory.distill()
        assert [each.object for each in memory.facts(topic="user")] == ["the door is blue"]


# --- properties --------------------------------------------------------------------------

_PIECES = st.sampled_from(
    [
        *(" ".join(row.split(" => ")[0].split()[:4]) for row in rows(ASKED)),
        "remember that ",
        ": ",
        ", ",
        " and ",
        "\n",
    ]
)


@given(st.lists(st.one_of(_PIECES, st.text(max_size=12)), max_size=8).map(" ".join))
def test_what_is_wanted_stands_in_the_request_and_every_quote_in_the_message(text: str) -> None:
    assert wanted(text) in text
    for each in statements(text, TS):
        assert each.quote in text
        if each.relation == "note":
            assert "".join(each.object.split()) in "".join(escape(text).split())


@pytest.mark.parametrize("piece", ["remember that ", "note down this, ", "覚えて", "a, "])
def test_long_messages_take_time_in_proportion(piece: str) -> None:
    def work(size: int) -> Callable[[], object]:
        text = f"{piece * (400 // len(piece))}it is so. " * (size // 400)
        return lambda: statements(text, TS)

    assert growth(work, 800) < LINEAR
