"""The tool that asks to forget: a proposal in review. Nothing goes before a person ticks it."""

from __future__ import annotations

import time

from looseleaf.core.heads import AGENT
from looseleaf.core.identity import key
from looseleaf.core.ledger import fact_id
from looseleaf.core.levels import CONFIDENCE
from looseleaf.core.lines import escape
from looseleaf.errors import Refused
from looseleaf.place.place import FORGET
from looseleaf.tools.answers import WAITS, object_of
from looseleaf.tools.tool import Answer, Tool
from looseleaf.values import Fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from looseleaf.memory import Memory

_TEXT = {"type": "string"}
_MOST = 5
"""Facts that are named to a model which did not say which one."""

_LONGEST = 300


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
        raise Refused(f"Nothing was proposed: several facts say “{what}”: {named}{more}. Give the id of one.")
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
    receipt = memory.ask(proposal, f"{AGENT}{memory.agent} asks to forget it")
    text = f"Nothing is forgotten yet: “{_line(fact)}” on {fact.path} goes when the user says yes. {WAITS}"
    data = {"success": True, "fact": fact.id or "", "receipt": receipt, "waits": True}
    return Answer({"success": True}, data, text)


def _meant(memory: Memory, what: str) -> list[Fact]:
    """The facts that are named by an id, by their place, or by their words: these exactly, else all of them."""
    try:
        found = memory.fact(what)
    except Refused:
        pass
    else:
        return [found] if found.status == "current" and found.path else []
    wanted = key(what, "note")
    current = [fact for fact in memory.facts() if fact.path]
    same = [fact for fact in current if wanted in (key(_line(fact), "note"), key(fact.object, "note"))]
    if same:
        return same
    words = set(wanted.casefold().split())
    return [fact for fact in current if words and words <= set(key(_line(fact), "note").casefold().split())]


def _line(fact: Fact) -> str:
    return fact.object if fact.relation == "note" else f"{fact.relation}: {fact.object}"


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
