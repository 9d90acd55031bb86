"""Where a fact belongs: what is about the user at home, what is about the work in the project, in doubt the nearer."""

from __future__ import annotations

import pytest

from looseleaf.base.values import Fact
from looseleaf.distill.statements import statements
from looseleaf.facts.belonging import belongs_home, is_about_user, private_kinds_of_line, why_private

AT_HOME = (
    "I live in Lyon.",
    "My name is Rosa.",
    "I prefer green tea.",
    "Answer in German, please.",
    "No emojis in your answers.",
    "Ich bin gegen Nüsse allergisch.",
    "Ma fille s'appelle Léa.",
    "I have a dentist appointment on Monday.",
)
IN_PROJECT = (
    "We use pytest for the tests.",
    "The deploy runs on Fridays.",
    "We decided to use Postgres.",
    "The release is due on Friday.",
    "Never push to main.",
    "I use vim.",
)


@pytest.mark.parametrize("sentence", AT_HOME)
def test_what_is_about_the_user_belongs_home(sentence: str) -> None:
    found = statements(sentence, 1.7e9)
    assert found
    assert any(map(belongs_home, found))


@pytest.mark.parametrize("sentence", IN_PROJECT)
def test_what_is_about_the_work_stays(sentence: str) -> None:
    found = statements(sentence, 1.7e9)
    assert found
    assert not any(map(belongs_home, found))


def test_a_sentence_without_a_fact_is_the_users_if_it_names_them_and_no_work() -> None:
    assert is_about_user("I usually read until midnight.")
    assert not is_about_user("I usually squash my commits.")
    assert not is_about_user("The harbour opens at nine.")


def test_a_line_is_private_by_its_label_or_by_its_words() -> None:
    assert private_kinds_of_line("- Allergy: peanuts\n", "ana") == {"health"}
    assert private_kinds_of_line("- Address: 10.0.0.1\n", "server") == frozenset()
    assert private_kinds_of_line("- The user's wife is ill.\n", "project") == {"family"}
    assert why_private(Fact("user", "user", "Home", "Lyon")) == "address"
    assert why_private(Fact("project", "project", "Port", "8080")) == ""
