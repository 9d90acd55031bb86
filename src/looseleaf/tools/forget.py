"""The tool that asks to forget: a proposal in review. Nothing goes before a person ticks it."""

from __future__ import annotations

import re
import time

from looseleaf.base.errors import Refused
from looseleaf.base.origins import CONFIDENCE
from looseleaf.base.values import Fact
from looseleaf.facts.ledger import fact_id
from looseleaf.facts.truth import true_at
from looseleaf.language.value_keys import key
from looseleaf.log.heads import AGENT
from looseleaf.pages.grammar import parse
from looseleaf.place.placer import FORGET
from looseleaf.place.review_page import PATH
from looseleaf.text.lines import escape, worded
from looseleaf.tools.answers import WAITS, object_of
from looseleaf.tools.tool import Answer, Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from looseleaf.memory import Memory

_TEXT = {"type": "string"}
_MOST = 5
"""Facts that are named to a model which did not say which one."""

_FOUND = 50
"""Facts that the words choose: their topics are looked at."""

_LONGEST = 300
_NAMED = re.compile(r"f_[0-9a-f]{1,12}|.+\.md:[0-9]{1,7}", re.ASCII)


def forget(memory: Memory, arguments: Mapping[str, Any]) -> Answer:
    what = escape(str(arguments["what"]))[:_LONGEST]
    if not what:
        raise Refused(
            "Nothing was proposed: it is not said what to forget. Give the fact's words, or its id."
        )
    facts = _meant(memory, what)
    if not facts:
        raise Refused(
            f"Nothing was proposed: no fact says “{what}”. recall finds what is known; give the words of one fact."
        )
    if len(facts) > 1:
        named = "; ".join(f"{fact.id} {_line(fact)} ({fact.path}:{fact.line})" for fact in facts[:_MOST])
        more = f" and {len(facts) - _MOST} more" if len(facts) > _MOST else ""
        raise Refused(
            f"Nothing was proposed: several facts say “{what}”: {named}{more}. Give the id of one, or its place."
        )
    fact = facts[0]
    proposal = Fact(
        fact.topic,
        fact.subject,
        "Forget",
        _line(fact),
        fact.kind,
        id=fact_id(FORGET, fact.id or ""),
        confidence=CONFIDENCE["inferred"],
        salience=fact.salience,
        tags=(FORGET,),
        sources=(fact.id or "",),
        origin=f"{AGENT}{memory.agent}",
        level="inferred",
        recorded_at=time.time(),
        status="pending",
    )
    asked = memory.ask(proposal, f"{AGENT}{memory.agent} asks to forget it")
    if asked.rejected:
        raise Refused(
            f"Nothing was proposed: the user was asked to forget “{_line(fact)}” and said no. Do not ask again; who "
            f"wants it gone after all deletes its line on {fact.path}."
        )
    if asked.full:
        waiting = len(parse(PATH, memory.page(PATH).text).facts)
        wait = f"{waiting} proposals wait" if waiting != 1 else "1 proposal waits"
        raise Refused(
            f"Nothing was proposed: {wait} in {PATH} already, and there is no place for another. Ask the user to "
            "decide some of them, and repeat this then."
        )
    state = (
        "Nothing is forgotten yet"
        if asked.added
        else "That was proposed before, and nothing is forgotten yet"
    )
    text = f"{state}: “{_line(fact)}” on {fact.path} goes when the user says yes. {WAITS}"
    data = {"success": True, "fact": fact.id or "", "receipt": asked.edit, "waits": True}
    return Answer({"success": True}, data, text)


def _meant(memory: Memory, what: str) -> list[Fact]:
    """The facts that are named by an id, by their place, or by their words: these exactly, else all of them."""
    if _NAMED.fullmatch(what):
        try:
            found = memory.fact(what)
        except Refused:
            return []
        return [found] if found.status == "current" and found.path else []
    current = _candidates(memory, what)
    wanted = key(what, "note")
    same = [fact for fact in current if wanted in (key(_line(fact), "note"), key(fact.object, "note"))]
    if same:
        return same
    words = set(wanted.casefold().split())
    return [fact for fact in current if words and words <= set(key(_line(fact), "note").casefold().split())]


def _candidates(memory: Memory, what: str) -> list[Fact]:
    """The facts of topics in which these words stand: no others are read, however many there are."""
    topics = memory._recall.topics_saying(what, _FOUND)
    memory._book.catch_up()  # once, not for each topic: it looks at every page
    return [fact for topic in topics for fact in true_at(memory._book.known.of(topic)) if fact.path]


def _line(fact: Fact) -> str:
    return worded(fact.relation, fact.object)


FORGET_TOOL = Tool(
    "memory_forget",
    "Ask to forget a fact",
    "Propose that a fact be forgotten. Nothing goes before the user says yes to it in review.",
    object_of(
        "what",
        what={"type": "string", "description": "the fact's words, its id, or its place such as USER.md:5"},
    ),
    object_of(
        "success",
        success={"type": "boolean"},
        fact=_TEXT,
        receipt=_TEXT,
        waits={"type": "boolean"},
        error=_TEXT,
    ),
    forget,
    repeats=True,
)
