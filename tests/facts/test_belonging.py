"""Where a fact belongs: what is about the user at home, what is about the work in the project, in doubt the nearer."""

from __future__ import annotations

import pytest

from looseleaf.distill.statements import statements
from looseleaf.facts.belonging import belongs_home, is_about_user, private_kinds_of_line

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
    assert not is_about_user("I usually squash my commits before I merge to main.")
    assert not is_about_user("The harbour opens at nine.")


def test_a_line_is_private_by_its_label_or_by_its_words() -> None:
    assert private_kinds_of_line("- Allergy: peanuts\n", "ana") == {"health"}
    assert private_kinds_of_line("- Address: 10.0.0.1\n", "server") == frozenset()
    assert private_kinds_of_line("- The user's wife is ill.\n", "project") == {"family"}
    assert private_kinds_of_line("Home: Lyon", "user") == {"address"}
    assert private_kinds_of_line("Port: 8080", "project") == frozenset()


PRIVATE_LINES = """
Wife: Ana
Home address: 12 Baker Street, London
Mortgage: 300000 euros at ING
Mortgage: 300k
Diabetes: yes
Diabetes: yes, insulin daily
Insulin: daily
Medical history: leukemia
Lesson: his wife has cancer
Zhang San: has diabetes
Daughter: Emma, born 3.5.2019
Kids: Mia and Leo
Parents: Maria and Josef
Sibling: Ana
Sister's birthday: May 3
The user's home address: 12 Baker Street
**Wife**: Ana
> Summary: the user has diabetes
Salary: 4.200 a month
Salary expectation: 80k
Debt: 12000 euros
Rent: 900 euros
IBAN: DE89 3704 0044 0532 0130 00
Phone: +33 6 12 34 56 78
Address: 12 Baker Street
Therapist: Dr. Kim
Doctor: Dr. Kim, Tuesdays
Medication: lithium
Blood type: A+
Condition: asthma
Diagnosis: ADHD
Ehefrau: Ana
Töchter: Anna und Lea
Wohnadresse: Bergstraße 5, Wien
Krankheit: Diabetes
Gehalt: 3200 Euro
Femme: Claire
Diabète: oui
Salaire: 2500 euros
Hija: Lucía
Sueldo: 1900 euros
Moglie: Giulia
Stipendio: 1800 euro
Filha: Ana
Salário: 2000 euros
Dochter: Sanne
Medicijnen: elke dag
妻子: 王芳
妻子：王芳
住址: 上海静安区
工资: 一万元
妻: 花子
給料: 30万円
아내: 지영
연봉: 5천만원
""".strip().split("\n")

WORK_LINES = """
Port: 8080
Address: 10.0.0.1
Address: 0x7fff5694dc58
Address: localhost:3000
Base address: 0x4000
Email address: required in the form
Street: a column in addresses
Home: /usr/share/app
Home page: index.html
Mobile: iOS 17 and up
Phone: a field of the contact form
Parent: base.html
Parent: the main window
Parent: PROJ-123
Parents: two commits
Child: worker process
Child process: forked at start
Children: the nodes of a tree
Sibling: the next element
Kind: Deployment
País: España
Partner: Acme Corp
Font family: Arial
Model family: Llama
Family: Helvetica
Doctor: the doctor command
Doctor: checks the folder
Health: GET /healthz
Health check: every 30 seconds
Condition: the queue is empty
Condition: x > 5
Operation: rename
Symptom: the test hangs
Patient: the table of patients
Salary: decimal(10,2)
Salary service: port 8080
Income: a column of the report
Mortgage: the calculator module
Technical debt: the old parser
Debt: technical, in the parser
Rent: endpoint for rental prices
Account: 123456789012
Budget: 5000 euros
Credit card: Stripe handles it
Bank: the fixture of the tests
Database: Postgres
Runner: pytest
Owner: Kim
Location: eu-west-1
Deploy: on Fridays
Plan: Address the review
""".strip().split("\n")


@pytest.mark.parametrize("line", PRIVATE_LINES)
def test_a_line_is_private_on_any_page_by_its_label(line: str) -> None:
    for topic in ("project", "server", "health"):
        assert private_kinds_of_line(f"- {line}\n", topic)


@pytest.mark.parametrize("line", WORK_LINES)
def test_a_line_of_the_work_is_not_private_by_a_label_that_people_have_too(line: str) -> None:
    for topic in ("project", "server"):
        assert private_kinds_of_line(f"- {line}\n", topic) == frozenset()
