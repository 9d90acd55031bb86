"""What a person writes into a file that is not of the latest version: it is their later word."""

from __future__ import annotations

from pathlib import Path

import pytest

from machines import FIRST, NAMES, Machines
from syncing import git, make_place, say, sync

KINDS = ("folder", "git", "rsync")
LAP = NAMES[1]


@pytest.fixture
def machines(place: Path) -> Machines:
    return Machines(place)


def change(place: Path, where: str, old: str, new: str) -> None:
    """As on the stick, or on the web page of a git host."""
    page = place / "target/USER.md"
    if not page.is_file():
        git(place, "clone", "-qb", "main", where, str(place / "checkout"))
        page = place / "checkout/USER.md"
    text = page.read_text("utf-8")
    assert old in text
    page.write_text(text.replace(old, new), "utf-8")
    if page.parent.name == "checkout":
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        git(page.parent, *who, "commit", "-qam", "by hand")
        git(page.parent, "push", "-q")


def homes(machines: Machines, name: str) -> list[str]:
    with machines.open(name) as memory:
        page = memory.pages.read("USER.md").text
        known = [fact.object for fact in memory.facts() if fact.relation == "Home"]
    shown = [line.removeprefix("- Home: ") for line in page.splitlines() if line.startswith("- Home: ")]
    assert known == shown
    return shown


@pytest.mark.parametrize("kind", KINDS)
def test_of_two_values_the_one_that_a_person_wrote_at_the_place_is_the_later_word(
    machines: Machines, place: Path, kind: str
) -> None:
    where = make_place(kind, place)
    say(machines, FIRST, "I live in Lyon.")
    for name in (FIRST, LAP):
        sync(machines, name, where)
    say(machines, FIRST, "I moved to Oslo.")
    sync(machines, FIRST, where)
    change(place, where, "Oslo", "Genf")
    say(machines, LAP, "I moved to Bern.")
    for name in (LAP, FIRST, LAP):
        sync(machines, name, where)
    assert homes(machines, FIRST) == homes(machines, LAP) == ["Genf"]
    with machines.open(FIRST) as memory:
        ended = {fact.object for fact in memory.facts(status="superseded") if fact.relation == "Home"}
    assert {"Lyon", "Oslo"} <= ended
