"""The scenes, in their order: what is told, which commands are run, and what the reader should see in them."""

from __future__ import annotations

import os

from looseleaf.cli.demo_folder import begin, tree
from looseleaf.cli.demo_story import FEBRUARY, MAY, PROJECT, SEPTEMBER, SETTINGS
from looseleaf.cli.demo_telling import begins, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.cli.demo_stage import Stage

TASK = "Read gzip files too"
BUDGET = 2000
EARLIER = "2025-03-01"

_BEFORE = 60.0
"""Seconds before the first session in which the memory is made."""

ABSTAINED = 1
"""How a recall ends that found nothing."""


def play(stage: Stage, home: str, typed: Sequence[str] = ()) -> None:
    """All of it, in a folder that is free, which the commands know as theirs. `typed`: what a shell must be told so
    that they do."""
    _february(stage, home, typed)
    _may(stage, home)
    _september(stage, home)
    _questions(stage)
    _prompt(stage)
    _folder(stage, home)


def _february(stage: Stage, home: str, typed: Sequence[str]) -> None:
    stage.scene("February: a first session")
    stage.now = begins(FEBRUARY) - _BEFORE
    stage.tell("A memory is a folder:")
    stage.command("init", home)
    begin(home)
    for name, text in (("looseleaf.toml", SETTINGS), ("PROJECT.md", PROJECT)):
        with open(os.path.join(home, name), "w", encoding="utf-8", newline="") as file:
            file.write(text)
    stage.tell("Commands that name no memory mean this one from here on. To type them yourself:")
    for line in typed:
        stage.show(line)
    stage.now = tell(home, FEBRUARY)
    stage.tell("Mira and her coding agent get to work. Each line is on disk when `record` returns:")
    stage.command("turns")
    stage.tell("The window of this small model gets full. It is compacted, and says what that cost:")
    stage.command("compact")
    stage.aside("Decided, forbidden, left open: as many out as in. Every word is still in the log.")
    stage.tell("What lasts becomes facts, of dropped turns already; now of the rest. No model, no network:")
    stage.command("distill")
    stage.command("show", "USER.md")


def _may(stage: Stage, home: str) -> None:
    stage.scene("May: a change of mind, and a page that gives orders")
    stage.now = tell(home, MAY)
    stage.tell("A web page tells the agent to “remember” a rule. The agent obeys:")
    stage.command("turns", "--session", MAY.id)
    stage.tell(
        "Mira never said that, so it is no part of what is known of her: it stands apart, and is read as data."
    )
    stage.command("show", "facts/user.md")
    stage.tell("What she did say replaces what she said before; the old value stays in the history:")
    stage.command("distill")


def _september(stage: Stage, home: str) -> None:
    stage.scene("September: a move")
    stage.now = tell(home, SEPTEMBER)
    stage.command("distill")
    stage.tell("Who Mira is, as every prompt will have it, and what was done:")
    stage.command("show", "USER.md")
    stage.command("show", "episodes/2025-09.md")


def _questions(stage: Stage) -> None:
    stage.scene("Questions")
    stage.tell("Mira asks: now, and as of then.")
    stage.command("recall", "Where do I live?", "-k", "1")
    stage.command("recall", "Where do I live?", "--as-of", EARLIER, "-k", "1")
    stage.command("recall", "Which database do we use?", "-k", "1")
    stage.command("recall", "What did we learn about dates?", "-k", "1")
    stage.tell("Where nothing bears on a question, that is the answer:")
    stage.command("recall", "What is Mira's blood type?", code=ABSTAINED)


def _prompt(stage: Stage) -> None:
    stage.scene("The prompt")
    stage.tell("All of it for a model, within a budget, each part with its reason:")
    stage.command("prompt", TASK, "--budget", str(BUDGET), "--explain")
    stage.tell("Any line of it goes back to the words that said it:")
    stage.command("why", "Lisbon")


def _folder(stage: Stage, home: str) -> None:
    stage.scene("The folder")
    stage.tell("That is the memory: files that you can read, edit, grep, diff and take with you.")
    stage.show(tree(home))
    stage.command("check")
