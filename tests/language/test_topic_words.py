"""Names of topics that differ only in case; what else a name is, `tests/views/test_topic_memory.py` says."""

from __future__ import annotations

from looseleaf.language.topic_words import topic_name, topic_of_text
from tables import check_rows


def test_a_name_in_capitals_is_the_same_topic_though_a_letter_becomes_two() -> None:
    def check(text: str) -> None:
        for named in (topic_name, topic_of_text):
            name = named(text)
            assert topic_name(name) == name
            assert topic_name(name.upper(), [name]) == name

    check_rows(
        check, [("000000ßぁ",), ("ßßßßßßぁ",), ("ﬁß" * 20,), ("ß " * 31,), ("ßßß 中的ŉ",), ("straße",)]
    )
