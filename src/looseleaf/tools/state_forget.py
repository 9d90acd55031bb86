"""Two tools: one changes the working state (goal, now, tasks, decisions) at once, one asks to forget a fact.

The state is in every prompt, so only what the user said in this session goes into it. A model's own goal, decisions and
tasks wait in review; its own `now` is left out, as it is over before a person looks. A model may report that a task is
done. To forget is only a proposal in review.
"""

from __future__ import annotations

import re
import time

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.origins import CONFIDENCE
from looseleaf.base.paths import STATE
from looseleaf.base.values import Fact
from looseleaf.facts.layered import unite
from looseleaf.facts.ledger import fact_id, true_at
from looseleaf.facts.placement import PROJECT
from looseleaf.language.value_keys import key
from looseleaf.log.journal import AGENT
from looseleaf.pages.grammar import parse
from looseleaf.place.placer import FORGET, PATH
from looseleaf.text.lines import escape, worded
from looseleaf.tools.tool import (
    WAITS,
    ToolAnswer,
    write_answer,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from looseleaf.facts.gate import Spoken
    from looseleaf.memory import Memory
    from looseleaf.memory.parts import Parts


_MOST = 5
"""The most facts named where the words fit several."""

_FOUND = 50
"""The most facts that the words choose, for their topics."""

_LONGEST = 300
_NAMED = re.compile(r"(?:[\w-]+:)?f_[0-9a-f]{1,12}|.+\.md:[0-9]{1,7}", re.ASCII)


def forget(memory: Memory, arguments: Mapping[str, Any]) -> ToolAnswer:
    what = escape(str(arguments["what"]))[:_LONGEST]
    if not what:
        raise Invalid("Nothing was proposed: `what` is empty. Give the fact's words, or its id.")
    facts = _find_facts(memory, what)
    if not facts:
        raise NotFound(
            f"Nothing was proposed: no fact says “{what}”. Find it with recall, and give the words of one fact."
        )
    if len(facts) > 1:
        named = "; ".join(
            f"{_in_layer(fact, fact.id)} {_text_of(fact)} ({_in_layer(fact, fact.path)}:{fact.line})"
            for fact in facts[:_MOST]
        )
        more = f" and {len(facts) - _MOST} more" if len(facts) > _MOST else ""
        raise Invalid(
            f"Nothing was proposed: several facts say “{what}”: {named}{more}. Give the id of one, or its place."
        )
    fact = facts[0]
    proposal = Fact(
        fact.topic,
        fact.subject,
        "Forget",
        _text_of(fact),
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
        layer=fact.layer,
    )
    asked = memory.review.ask(proposal, f"{AGENT}{memory.agent} asks to forget it")
    place = _in_layer(fact, fact.path)
    if asked.rejected:
        raise Refused(
            f"Nothing was proposed: the user was asked to forget “{_text_of(fact)}” and said no. Do not ask again; the "
            f"user can delete its line on {place}."
        )
    if asked.full:
        review = memory.pages.read(_in_layer(fact, PATH))
        waiting = len(parse(PATH, review.text).facts)
        wait = f"{waiting} proposals wait" if waiting != 1 else "1 proposal waits"
        raise Refused(
            f"Nothing was proposed: {wait} in {_in_layer(fact, PATH)} already, and it is full. Ask the user to decide "
            "some of them, then try again."
        )
    state = "Nothing is" if asked.added else "That was proposed before, and nothing is"
    note = WAITS
    if fact.layer is not None:  # nothing of it is written to this memory
        note = (
            f"Tell the user that it waits for a yes in {_in_layer(fact, PATH)}: `looseleaf approve "
            f"{_in_layer(fact, proposal.id)}` says it; and do not write it again."
        )
    text = f"{state} forgotten yet: “{_text_of(fact)}” on {place} goes when the user says yes. {note}"
    data = {"success": True, "fact": fact.id or "", "receipt": asked.edit, "waits": True, "note": note}
    return ToolAnswer({"success": True}, data, text)


def _in_layer(fact: Fact, name: str | None) -> str:
    """Return a name with the layer that the fact is of: `home:USER.md`."""
    return f"{fact.layer}:{name}" if fact.layer else name or ""


def _find_facts(memory: Memory, what: str) -> list[Fact]:
    """Return the facts of an id, a place, or words: those that say exactly this, else those with all the words."""
    if _NAMED.fullmatch(what):
        try:
            found = memory.fact(what)
        except Refused:
            return []
        return [found] if found.status == "current" and found.path else []

    def read(parts: Parts) -> list[Fact]:
        topics = parts.recall.topics_saying(what, _FOUND)  # no other topic is read
        parts.notebook.catch_up()  # once, not per topic: it scans every page
        return [fact for topic in topics for fact in true_at(parts.known.of(topic)) if fact.path]

    current = unite([("", read(memory.parts)), *memory.parts.farther(read)])
    wanted = key(what, "note")
    same = [fact for fact in current if wanted in (key(_text_of(fact), "note"), key(fact.object, "note"))]
    if same:
        return same
    words = set(wanted.casefold().split())
    return [
        fact for fact in current if words and words <= set(key(_text_of(fact), "note").casefold().split())
    ]


def _text_of(fact: Fact) -> str:
    return worded(fact.relation, fact.object)


# --- the working state -------------------------------------------------------------------


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(each)


def _refuse_private(memory: Memory, patch: Mapping[str, Any]) -> None:
    """Refuse private words, if git tracks the state."""
    kinds = memory.parts.kept_out("", _texts_in(patch))
    if kinds:
        raise Refused(
            f"{STATE} was not changed: this is private ({kinds}), and git tracks the folder. Say it "
            "without that."
        )


def revise(memory: Memory, arguments: Mapping[str, Any]) -> ToolAnswer:
    patch: Mapping[str, Any] = arguments["patch"]
    if not patch:
        raise Invalid(
            f"{STATE} was not changed: the patch is empty. Give goal, now, tasks_open, tasks_done or decisions_recent."
        )
    _refuse_private(memory, patch)
    spoken = memory.parts.spoken()
    for name in ("goal", "now"):
        text = str(patch.get(name) or "")
        if name in patch and not text and spoken.is_doubtful and getattr(memory.state, name):
            raise Refused(
                f"{STATE} was not changed: its {name} is the user's, and a tool may have influenced this call. "
                "Ask the user, or give a new one in the user's own words."
            )
    goal, now = (_said(spoken, patch.get(name)) for name in ("goal", "now"))
    if memory.policy.shared:  # one person's aim is not everybody's
        goal, now = goal if patch.get("goal") == "" else None, now if patch.get("now") == "" else None
    is_left = bool(patch.get("now")) and now is None
    if is_left and len(patch) == 1:
        why = f"the user did not say “{patch['now']}”. Use the user's own words, or write"
        if memory.policy.shared:
            why = "several people read this memory. Write"
        raise Refused(
            f"{STATE} was not changed: every prompt shows `now`, and {why} it on facts/{PROJECT}.md with memory_append."
        )
    tasks = [_title_of(each) for each in patch.get("tasks_open", ())]
    decided = [(_title_of(each), _reason_of(each)) for each in patch.get("decisions_recent", ())]
    held = [("Goal", str(patch["goal"]))] if patch.get("goal") and goal is None else []
    held += [("Task", title) for title in tasks if not spoken.has(title)]
    held += [("Decision", title) for title, why in decided if not spoken.has(f"{title} {why}".strip())]
    waiting = {title for _, title in held}
    receipt = memory.state.revise(
        goal=goal,
        now=now,
        tasks=[title for title in tasks if title not in waiting],
        done=[str(each) for each in patch.get("tasks_done", ())],
        decided=[(title, why) for title, why in decided if title not in waiting],
        author=f"{AGENT}{memory.agent}",
    )
    if held:
        asked, sentences = memory.parts.hold(f"facts/{PROJECT}.md", held)
        receipt = receipt.but(id=receipt.id or asked, held=(*receipt.held, *sentences))
    if is_left:
        left = f"was left out, as every prompt would show it, and the user did not say it: “{patch['now']}”"
        receipt = receipt.but(held=(*receipt.held, left))
    return write_answer(receipt)


def _said(spoken: Spoken, text: Any) -> str | None:
    """Return a text that the user said; also an empty one, which takes away. None: it is left as it is."""
    return str(text) if text is not None and (not text or spoken.has(str(text))) else None


def _title_of(given: Any) -> str:
    return str(given["title"] if isinstance(given, dict) else given)


def _reason_of(given: Any) -> str:
    return str(given.get("why") or "") if isinstance(given, dict) else ""
