"""Whose words a message holds: what was pasted or quoted is nobody's memory, whatever it says, in any language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import few
from growth import LINEAR, growth
from looseleaf import Memory
from looseleaf.language import own_words as module
from looseleaf.language.own_words import READ_CHARS, mask_quotes, own_zones, strip_pasted
from placing import THEN, tell
from tables import check_rows

PIECES = (
    "I live in Oslo.", "can you fix this?", "translate: I am Bob", "> quoted", "```", "~~~", "Subject: hello",
    "From: a@b.example", "Best regards,", "2026-03-01 10:00:01 INFO up", "diff --git a b", "+ added", "- taken",
    'she said "I live in Rome and love it" today', "„ich wohne in Köln und bin froh“", "“", '"', "# Title", "Hi Tom,",
    "Bob: hi", "Ann: hello there", "<memory>", "</memory>", "    indented", "here is the log:",
    "「私は東京に住んでいます」",    "", " ", "\t", "x = 3", "\r", "\x1c", "the error says: no",
    "总结一下：", "她说：“我住在上海，我是医生。”",
    "how do you say I am old", "·",
)  # fmt: skip
MESSAGES = st.one_of(st.lists(st.sampled_from(PIECES), max_size=12).map("\n".join), st.text(max_size=300))


TALK_OF_A_TEXT = (
    ("We never ship on fridays. We use Zephyr.\n\ndoes this fit me?", ["loose", "after"]),
    ("We never ship on fridays. We use Zephyr.\n\nwhat do you think of them?", ["loose", "after"]),
    ("We use Zephyr.\nwhat else is there?", ["own", "own"]),
    ("can you help?\nwe use Zephyr and this is slow", ["own", "own"]),
    ("my setup:\n- we use Zephyr", ["own", "own"]),
    ("my gran dictated it like so:\nI live at number 88", ["own", "after"]),
)


def test_a_text_that_is_spoken_of_is_not_surely_the_users() -> None:
    def check(message: str, names: list[str]) -> None:
        assert [zone.name for zone in own_zones(message)] == names

    check_rows(check, TALK_OF_A_TEXT)


# --- properties --------------------------------------------------------------------------


@settings(deadline=None)
@given(MESSAGES)
def test_masking_keeps_the_length_and_every_line_and_masks_nothing_twice(message: str) -> None:
    shown = mask_quotes(message)
    assert len(shown) == len(message)
    assert [at for at, each in enumerate(shown) if each == "\n"] == [
        at for at, each in enumerate(message) if each == "\n"
    ]
    assert all(one in (two, " ") for one, two in zip(shown, message, strict=True))
    assert mask_quotes(shown) == shown


@settings(deadline=None, max_examples=few(500, 60))
@given(MESSAGES)
def test_own_words_are_no_longer_than_the_message_and_are_their_own_own_words(message: str) -> None:
    """Where something was taken out of the middle, its mark vouches for nothing: less may be left behind it."""
    kept = strip_pasted(message)
    assert len(kept) <= len(message)
    again = strip_pasted(kept)
    assert again == kept or (module._PASTED in kept and len(again) < len(kept))
    assert strip_pasted(again) == again or module._PASTED in again


@settings(deadline=None)
@given(MESSAGES)
def test_own_words_are_stretches_of_the_message(message: str) -> None:
    shown = mask_quotes(message)
    for part in strip_pasted(message).split(module._PASTED):
        assert part in shown


@settings(deadline=None)
@given(MESSAGES)
def test_zones_stand_in_their_order_and_overlap_nowhere(message: str) -> None:
    at = 0
    for zone in own_zones(message):
        assert at <= zone.start <= zone.end <= len(message)
        assert zone.name in ("own", "loose", "after")
        at = zone.end


def test_a_filter_that_keeps_what_stands_behind_a_pasted_text_fails_the_test_of_pasted_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant: everything is the user's own."""
    text = "review this\ndiff --git a/x b/x\n+I live in Antwerp."
    assert "Antwerp" not in strip_pasted(text)
    monkeypatch.setattr(module, "_HARD", re.compile(r"\Z(?!)"))
    monkeypatch.setattr(module, "_CHANGED", re.compile(r"\Z(?!)"))
    monkeypatch.setattr(module, "_WORKS_ON", re.compile(r"\Z(?!)"))
    monkeypatch.setattr(module, "_BRING", re.compile(r"\Z(?!)"))
    own_zones.cache_clear()
    strip_pasted.cache_clear()
    try:
        assert "Antwerp" in strip_pasted(text)
    finally:
        own_zones.cache_clear()
        strip_pasted.cache_clear()


def test_of_a_very_long_message_the_beginning_and_the_end_are_read() -> None:
    first, last = READ_CHARS
    message = "I live in Oslo.\n" + "x " * first + "\nmiddle\n" + "y " * first + "\nI work at Acme."
    told = own_zones(message)
    assert strip_pasted(message).startswith("I live in Oslo.")
    assert message[told[-1].start : told[-1].end] == "I work at Acme."
    assert told[-1].name == "after"
    assert not any(message.index("middle") in range(zone.start, zone.end) for zone in told)
    assert own_zones("x" * 2 * (first + last))[0].end == first


def check_time(piece: str) -> None:
    def work(size: int):  # type: ignore[no-untyped-def]
        text = (f"{piece}\n" * size)[:size]
        return lambda: (
            mask_quotes.__wrapped__(text),
            list(module._split_zones(text, 0)),
            strip_pasted.__wrapped__(text),
        )

    assert growth(work, 1200) < LINEAR


def test_the_time_is_linear_in_the_message() -> None:
    check_rows(check_time, PIECES[::9])


@pytest.mark.long
def test_the_time_is_linear_in_every_message() -> None:
    check_rows(check_time, PIECES)


# --- examples --------------------------------------------------------------------------------


def test_what_is_anothers_is_left_out() -> None:
    def check(message: str, own: str) -> None:
        assert strip_pasted(message) == own

    check_rows(
        check,
        [
            ("I live in Oslo.", "I live in Oslo."),
            ("fix it\n```\nI live in Rome\n```", "fix it\n"),
            ("> I live in Rome\nI live in Oslo", "I live in Oslo"),
            ("<memory>\nI live in Rome\n</memory>\nI live in Oslo", "I live in Oslo"),
            ('my "Red Book" is old', 'my "Red Book" is old'),
            ("how do you say I live in Rome", ""),
            ("she said: I live in Rome", "she said:"),
            ("Ann: I live in Rome\nBob: me too", ""),
            ("why?\n    I live in Rome", "why?\n"),
            ("Dear Tom, I live in Rome\nand I like it", ""),
            ("I live in Oslo\n> no\nand it rains", "I live in Oslo\n\n·\nand it rains"),
            ('he said: "I live in Rome and I like it" so I left', "he said:\n·\n so I left"),
        ],
    )


MAIL = {
    "en": ("From", "Subject", "Dear Tom,\nI moved to Antwerp. My name is Quorra now.\nBest regards,\nPetra"),
    "de": ("Von", "Betreff", "Liebe Toni,\nich wohne jetzt in Antwerp und heiße Quorra.\nViele Grüße\nPetra"),
    "fr": ("De", "Objet", "Cher Tom,\nj'habite à Antwerp et je m'appelle Quorra.\nCordialement,\nPetra"),
    "es": ("De", "Asunto", "Querido Tom,\nvivo en Antwerp y me llamo Quorra.\nSaludos,\nPetra"),
    "zh": ("发件人", "主题", "亲爱的小明：\n我住在安特卫普，我叫阔拉。\n祝好\nPetra"),
}
SAYS = {
    "en": (
        "I live in Antwerp. My name is Quorra.",
        "what is this?",
        "summarize this text:",
        "Translate to French: ",
    ),
    "de": (
        "Ich wohne in Antwerp. Ich heiße Quorra.",
        "was ist das?",
        "fass diesen Text zusammen:",
        "Übersetze ins Englische: ",
    ),
    "fr": (
        "J'habite à Antwerp. Je m'appelle Quorra.",
        "c'est quoi ?",
        "résume ce texte :",
        "Traduis en anglais : ",
    ),
    "es": ("Vivo en Antwerp. Me llamo Quorra.", "¿qué es esto?", "resume este texto:", "Traduce al inglés: "),
    "zh": ("我住在安特卫普。我叫阔拉。", "这是什么？", "总结一下：", "翻译成英文："),
}


def pasted(language: str) -> dict[str, str]:
    says, asks, sums, translates = SAYS[language]
    sender, subject, letter = MAIL[language]
    return {
        "mail": f"{asks}\n\n{sender}: Petra <p@z.example>\n{subject}: hello\n\n{letter}",
        "log": f"{asks}\n2026-03-01 10:00:01 INFO {says}\n2026-03-01 10:00:02 ERROR {says}",
        "diff": f"{asks}\ndiff --git a/x b/x\n@@ -1 +1 @@\n-old\n+{says}",
        "readme": f"{sums}\n\n# Quorra\n\n{says}\n\n## Install\n- {says}",
        "quote": f"{asks} “{says}”",
        "fence": f"{asks}\n```\n{says}\n```",
        "translation": f"{translates}{says}",
    }


@pytest.mark.parametrize("language", SAYS)
def test_what_is_pasted_reaches_neither_the_profile_nor_the_state(place: Path, language: str) -> None:
    with Memory(place / "memory") as memory:
        for number, (what, message) in enumerate(pasted(language).items()):
            tell(memory, message, at=THEN + 1000 * number)
            top = [place / "memory" / name for name in ("USER.md", "state.json")]
            told = "\n".join(path.read_text(encoding="utf-8") for path in top if path.exists())
            assert not re.search("Antwerp|Quorra|安特卫普|阔拉", told), what
        tell(memory, SAYS[language][0], at=THEN + 100_000)
        told = (place / "memory" / "USER.md").read_text(encoding="utf-8")
        assert re.search("Antwerp|安特卫普", told), "the user's own word is believed"
