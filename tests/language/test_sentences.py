"""Sentences, and what they are taken for."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.language.sentences import (
    closes,
    content,
    is_conclusion,
    is_constraint,
    is_decision,
    is_done,
    is_fault,
    is_filler,
    is_intention,
    is_lesson,
    is_phatic,
    is_question,
    is_request,
    is_sure_lesson,
    is_task,
    pieces,
    sentences,
)
from tables import check_rows, some

LONG = "This line is so long that whoever wrote it let it wrap"


def test_text_is_split_where_a_sentence_ends() -> None:
    def check(text: str, expected: list[str] | None) -> None:
        if expected is None:
            expected = ["Apples, pears, etc.", "Then more.", "At 5 p.m.", "Bring it."]
        assert sentences(text) == expected

    check_rows(
        check,
        [
            ("", []),
            (" \n ... \n--- ", []),
            ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
            (
                "Dr. Smith paid 3.14 in file.py v1.2, e.g. twice. J. R. Doe left.",
                ["Dr. Smith paid 3.14 in file.py v1.2, e.g. twice.", "J. R. Doe left."],
            ),
            ('"Really?" he said. (Yes.) So do I. No.', ['"Really?" he said.', "(Yes.)", "So do I.", "No."]),
            ("Well... maybe. Well... Then no.", ["Well... maybe.", "Well...", "Then no."]),
            ("Apples, pears, etc. Then more. At 5 p.m. Bring it.", None),
            ("it fails. please fix it", ["it fails.", "please fix it"]),
            (
                "Am 3. Mai kam z. B. Herr Dr. Müller. Es war der 12. Er blieb.",
                ["Am 3. Mai kam z. B. Herr Dr. Müller.", "Es war der 12.", "Er blieb."],
            ),
            ("Ça va ? Oui ! M. Dupont est là.", ["Ça va ?", "Oui !", "M. Dupont est là."]),
            ("¿Qué tal? ¡Bien! El Sr. García vino.", ["¿Qué tal?", "¡Bien!", "El Sr. García vino."]),
            ("我们用新的。好吗？好！", ["我们用新的。", "好吗？", "好！"]),
            ("「本当？」はい。行きます", ["「本当？」", "はい。", "行きます"]),
        ],
    )


def test_lists_headings_and_rows_are_sentences_of_their_own() -> None:
    text = "# Plan\nIntro.\n- one\n  - two. Three.\n3) four\n| a | b |\n|---|---|\n***\nend"
    assert sentences(text) == ["Plan", "Intro.", "one", "two.", "Three.", "four", "| a | b |", "end"]


def test_a_full_line_goes_on_in_the_next_one_and_a_short_one_does_not() -> None:
    assert sentences(f"{LONG}\naround.\nshort\nnext") == [f"{LONG} around.", "short", "next"]
    assert sentences(f"{LONG}\n- item\n{LONG}\n\n{LONG}") == [LONG, "item", LONG, LONG]
    assert sentences("short,\nbut unfinished") == ["short, but unfinished"]
    wide = "这一行很长，写它的人让它自动换行到了下一行，因为屏幕太窄了放不下"
    assert sentences(f"{wide}\n所以。") == [f"{wide}所以。"]


def test_code_and_quoted_lines_are_kept_apart() -> None:
    text = "Before.\n> Quoted. Lines.\n```python\nx = 1.\n\ny = 2.\n```\nAfter.\n~~~\nopen end"
    assert [(piece.kind, piece.text) for piece in pieces(text)] == [
        ("sentence", "Before."),
        ("quote", "Quoted."),
        ("quote", "Lines."),
        ("code", "x = 1.\n\ny = 2."),
        ("sentence", "After."),
        ("code", "open end"),
    ]


@given(
    st.text(alphabet=st.sampled_from("aB3.!?…。！ \n\t-*>#|`~\"')(,\ud800\u2028"), max_size=200) | st.text()
)
def test_every_letter_stays_and_stays_in_order(text: str) -> None:
    # Code is left out of this: its fence is no part of it.
    text = text.replace("`", "").replace("~", "")
    found = list(pieces(text))
    letters = "".join(filter(str.isalpha, text))
    assert "".join(filter(str.isalpha, "".join(piece.text for piece in found))) == letters
    assert all(piece.text == piece.text.strip() and "\n" not in piece.text for piece in found)


DECISIONS = """
We decided to keep SQLite.
After some discussion we have finally agreed on tabs.
Let's use Postgres instead of MySQL.
Ok, we'll go with option B.
Decision: no vectors in the core.
Please use ruff instead of flake8.
We're sticking with React.
Go with the second one.
The plan is to move to Kubernetes.
The team picked Kafka over RabbitMQ.
It was decided that the API stays synchronous.
Yes, let’s go with the economy class for this option, please.
Wir haben uns für Rust entschieden.
Lass uns lieber das kleine Modell nehmen.
Wir bleiben bei SQLite.
Nous avons finalement choisi la version courte.
On part sur la première option.
Hemos decidido usar Python.
Vamos a usar la segunda opción.
我们决定使用新的数据库。
还是改用旧的接口吧。
新しい方式を使うことにしました。
これに決めました。
"""
NO_DECISIONS = """
Let's keep in touch.
I'll take care of it.
We'll keep pushing.
Should we use Postgres instead of MySQL?
Have we decided on a name?
If we decided to move, what would it cost.
We have not decided yet.
We haven't decided on the name.
Maybe we'll use Redis.
The docs say "let's use tabs".
The README of that project says we decided on tabs.
He wrote: "we decided to ship".
Suppose we agreed on that.
I like apples.
We could have chosen better.
Noch haben wir uns vielleicht nicht entschieden.
如果我们决定使用它，会怎样。
我们还没决定。
もし採用することにしたら困る。
"""
CONSTRAINTS = """
Never push to main.
Please never call me before nine.
You must not delete the log.
Always run the tests first.
Don't ever store passwords.
From now on, answer in German.
Make sure that the cache is never shared.
Do not use tabs.
If the build fails, never deploy.
All passwords must be hashed.
Under no circumstances should this run twice.
Could you always answer in English?
We never deploy on Fridays.
Rule: no network in tests.
Only use the standard library.
Avoid global state.
Keep the summary under 200 words.
No emojis, please.
Niemals ohne Rückfrage löschen.
Antworte immer auf Deutsch.
Das darf auf keinen Fall passieren.
Ab jetzt bitte nur noch kurz.
N'utilise jamais cette clé.
Il ne faut pas toucher au journal.
Nunca borres el registro.
A partir de ahora responde en español.
不要删除日志。
必须先备份。
本番では実行しないでください。
今後は日本語で答えてください。
"""
NO_CONSTRAINTS = """
You can always count on me.
That must have been fun.
They must be thrilled.
Always good to see you.
Don't give up!
I never got the email.
It never works on my machine.
I have never been to Paris.
Never mind.
Don't worry about it.
I don't know.
It must be broken.
Should we never use tabs?
The manual says never to do that.
He shouted "never touch this".
What if we never ship?
Don't forget to run the linter.
Immer wenn ich starte, stürzt es ab.
要不要删除它？
"""
TASKS = """
TODO: write the docs.
We still need to fix the importer.
Next we have to measure it.
Remaining: the web page.
This is not done yet.
I'll add the tests later.
[ ] write the changelog
Don't forget to renew the certificate.
The migration has yet to be written.
Das muss ich noch prüfen.
Es fehlt noch ein Test.
Il reste à écrire les tests.
Queda por hacer la página.
还需要写测试。
テストはまだ書いていません。
"""
NO_TASKS = """
Nothing is left to do: all TODOs are done.
Is there a TODO?
Everything is done.
I like apples.
The string "TODO: x" is in the file.
Es ist nichts mehr offen.
"""


def lines(block: str) -> list[str]:
    return block.strip().splitlines()


def test_a_sentence_is_taken_for_what_it_is() -> None:
    def check(detect: Callable[[str], bool], yes: str, no: str) -> None:
        assert [line for line in lines(yes) if not detect(line)] == []
        assert [line for line in lines(no) if detect(line)] == []

    check_rows(
        check,
        [
            (is_decision, DECISIONS, NO_DECISIONS),
            (is_constraint, CONSTRAINTS, NO_CONSTRAINTS),
            (is_task, TASKS, NO_TASKS),
            (
                is_question,
                "Why?\nReally?)\nそうですか。\n好吗？\n你好吗\nWarum nicht? \n¿Por qué?",
                "Why.\nNo!\n? is a mark.\nはい。",
            ),
            (
                is_intention,
                "I'll run the tests next.\nLet me check.\nNext, the docs.\nAls Nächstes prüfe ich es.\n接下来测试。",
                "I ran it.\nLet me know if it works.\nShall I? I'll wait?\nI'll be happy to help.",
            ),
            (
                is_conclusion,
                "The test failed because of a typo.\nIt works now.\n已经完成了。",
                "Here you are.\nA list follows.",
            ),
            (is_filler, "Feel free to ask!\nCould you please provide your ID?", "The ID is 42.\nIt failed."),
            (
                is_phatic,
                "Hi!\nThank you so much for your help!\nDanke schön.\n谢谢！\nHello there,\nPerfect, thanks.",
                "Hi, delete it.\nYes.\nNo\nPlease help.\nThanks, now book HAT069.\n" + "thanks " * 40,
            ),
        ],
    )


def test_what_an_assistant_will_do_is_no_decision_of_its_own() -> None:
    assert is_decision("I'll use the credit card.")
    assert not is_decision("I'll use the credit card.", by_user=False)
    assert is_decision("We decided to use the credit card.", by_user=False)


DETECTORS = (
    is_decision,
    is_constraint,
    is_task,
    is_question,
    is_intention,
    is_conclusion,
    is_filler,
    is_phatic,
)


@given(st.text())
def test_no_text_is_too_strange_for_the_detectors(text: str) -> None:
    assert {type(detect(text)) for detect in DETECTORS} == {bool}


def test_splitting_and_detecting_take_linear_time() -> None:
    def check(unit: str) -> None:
        def work(size: int) -> Callable[[], object]:
            text = unit * size
            return lambda: [[detect(piece.text) for detect in DETECTORS] for piece in (*pieces(text),)[:50]]

        assert growth(work, 1000) < LINEAR

    check_rows(
        check,
        some(
            [
                "a",
                ". ",
                "a. ",
                "\n",
                "> ",
                "- ",
                '"',
                "。",
                "a\n",
                "|a",
                "...",
                "*",
                "? ",
                "never ",
                "we will use ",
                "| a |\n",
            ],
            7,
        ),
    )


# --- how work ends ---------------------------------------------------------------------


def test_the_end_of_work_is_taken_for_what_it_is() -> None:
    def check(detect: Callable[[str], bool], yes: str, no: str) -> None:
        assert [line for line in lines(yes) if not detect(line)] == []
        assert [line for line in lines(no) if detect(line)] == []

    check_rows(
        check,
        [
            (
                is_done,
                "The parser is fixed.\nI merged it.\nDas ist erledigt.\nC'est fait.\nYa está hecho.\n完成了。",
                (
                    "It is not done.\nIs it done?\nOnce it is merged, we go on.\nTODO: get it done.\nI like apples.\n"
                    'He wrote "done".\nNoch nicht erledigt.\n还没完成。\nWe will have it fixed.'
                ),
            ),
            (
                is_lesson,
                "Turns out the cache was stale.\nThe root cause was a typo.\nNext time, run the linter.\n原因是时区。",
                "Was it because of me?\nI like apples.",
            ),
            (
                is_request,
                "Fix the parser.\nCould you look at it?\nOk, please run the tests\nHelp me write it.\n请检查一下。",
                "The parser is broken.\nI like apples.\nThanks!",
            ),
            (is_fault, "It crashes.\nThe build is broken.\n报错了。", "It works.\nA good day."),
            (is_sure_lesson, "Lesson: test first.", "It failed because of me."),
        ],
    )


def test_a_sentence_closes_a_task_when_it_names_nearly_all_of_it() -> None:
    task = content("We still need to write the importer tests.")
    assert closes(content("The importer tests are written."), task)
    assert closes(content("All tests for the importer and the parser are done."), task)
    assert not closes(content("The importer docs are done."), task)
    assert not closes(content("Done."), task)
    assert not closes(content("Everything about the importer tests"), content("TODO"))


@given(st.text(), st.text())
def test_no_text_is_too_strange_for_an_end(text: str, other: str) -> None:
    assert {type(detect(text)) for detect in (is_done, is_lesson, is_request, is_fault)} == {bool}
    assert closes(content(text), content(text)) is bool(content(text))
    assert closes(content(text), content(other)) in (True, False)
