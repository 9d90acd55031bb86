"""What is known, and a person's word on it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path, Query

from looseleaf.base.errors import Invalid, NotFound
from looseleaf.base.values import Fact
from looseleaf.log.journal import DISTILLED
from looseleaf.log.talk_streams import agent_of
from looseleaf.serve.problems import NotAllowed
from looseleaf.serve.rest import values
from looseleaf.serve.rest.cursors import Listing
from looseleaf.serve.rest.routes import Answer, Asking, Name, Read, Write, route
from looseleaf.store import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.base.values import Record
    from looseleaf.memory import Memory
    from looseleaf.memory.parts import Parts
    from looseleaf.place.notebook import FactSource

FactName = Annotated[
    str,
    Path(
        min_length=1,
        max_length=200,
        description="The id of a fact, the start of one, or its place (`USER.md:5`).",
        examples=["f_b893c1d2e4f5a607"],
    ),
]
Topic = Annotated[str | None, Query(max_length=200)]
AsOf = Annotated[
    str | None, Query(max_length=200, description="A date, or a date and time: what was true then.")
]


def _key(fact: Fact) -> list[Any]:
    return [fact.recorded_at or 0.0, fact.id or "", fact.layer or "", fact.path or "", fact.line or 0]


def _listed(part: Listing, facts: list[Fact]) -> dict[str, Any]:
    return part.of(sorted(facts, key=_key), _key, Fact.to_dict)


@route("GET", "/memories/{memory}/facts", "read", values.listed(values.Fact))
async def list_facts(
    memory: Name,
    asking: Read,
    part: Listing,
    topic: Topic = None,
    kind: values.Kind | None = None,
    status: Literal["current", "superseded", "pending", "rejected"] = "current",
    as_of: AsOf = None,
) -> Answer:
    """List what is true now, or was at a time; or what is superseded or rejected. The first to be learnt come
    first."""
    if status == "pending" and not asking.is_person:
        raise NotAllowed("Nothing was read: what waits in review is shown only to a token that may review.")

    def read(memory: Memory) -> dict[str, Any]:
        found = memory.facts(topic=topic, kind=kind, status=status, as_of=as_of)
        return _listed(part, [each for each in found if _may_see(memory, each, asking)])

    return Answer(await asking.read(read))


def _may_see(memory: Memory, fact: Fact, asking: Asking) -> bool:
    """True unless a fact waits in review, here or in a memory under this one, and another decides there."""
    return fact.status != "pending" or (asking.is_person and memory.parts.may_in(fact.layer, "review"))


_NO_FACT = "There is no fact of this name. List the facts for their ids."
_NOT_ONE = "Nothing was done: the name is not that of one fact. Give more of its id, or `page.md:line`."


def _find(memory: Memory, name: str, asking: Asking) -> Fact:
    """Find a fact. For who may not see what waits in review, a fact there is like none, whatever the name was."""
    try:
        fact = memory.fact(name)
    except NotFound:
        if asking.is_person:
            raise
        raise NotFound(_NO_FACT) from None
    except Invalid:
        if asking.is_person:
            raise
        raise Invalid(_NOT_ONE) from None
    if not _may_see(memory, fact, asking):
        raise NotFound(_NO_FACT)
    return fact


@route("GET", "/memories/{memory}/facts/{fact}", "read", values.Fact)
async def get_fact(memory: Name, fact: FactName, asking: Read) -> Answer:
    """Get one fact."""
    return Answer(await asking.read(lambda memory: _find(memory, fact, asking).to_dict()))


@route("GET", "/memories/{memory}/facts/{fact}/history", "read", values.listed(values.Fact))
async def list_fact_history(memory: Name, fact: FactName, asking: Read, part: Listing) -> Answer:
    """List every value that the slot of a fact ever had."""

    def read(memory: Memory) -> dict[str, Any]:
        _find(memory, fact, asking)
        found = [each for each in memory.history.fact(fact) if _may_see(memory, each, asking)]
        return _listed(part, found)

    return Answer(await asking.read(read))


@route("GET", "/memories/{memory}/facts/{fact}/sources", "read", values.listed(values.Source))
async def list_sources(memory: Name, fact: FactName, asking: Read, part: Listing) -> Answer:
    """List the words that a fact rests on. An agent sees those of its own talk, and of pages."""

    def read(memory: Memory) -> dict[str, Any]:
        of = _find(memory, fact, asking)
        decides = asking.is_person and memory.parts.may_in(of.layer, "review")
        parts = memory.parts.of_layer(of.layer)

        def show(source: FactSource) -> dict[str, Any]:
            told = source.to_dict()
            return told if decides or _is_own(parts, source.source) else told | {"text": ""}

        found = memory.explain.sources(of)
        found.sort(key=lambda each: each.source)
        return part.of(found, lambda each: [each.source], show)

    return Answer(await asking.read(read))


def _is_own(parts: Parts, source: str) -> bool:
    """True for words on a page, and for those of the agent's own talk."""
    if "@" in source:
        return not source.startswith("review/")
    found = parts.recall.trace(source) if "/" not in source else None
    return found is not None and agent_of(found[1]) == parts.context.agent


@route("GET", "/memories/{memory}/topics", "read", values.listed(values.Topic))
async def list_topics(memory: Name, asking: Read, part: Listing) -> Answer:
    """List the topics, by name."""
    names = await asking.read(lambda memory: memory.views.topics())
    return Answer(part.of(names, lambda name: [name], lambda name: {"name": name}))


@route("GET", "/memories/{memory}/state", "read", values.State)
async def get_state(memory: Name, asking: Read) -> Answer:
    """Get the working state: goal, now, decisions, tasks."""
    return Answer(await asking.read(lambda memory: memory.state.to_dict()))


@route("GET", "/memories/{memory}/review", "review", values.listed(values.Fact))
async def list_review(memory: Name, asking: Read, part: Listing) -> Answer:
    """List what waits for a person."""
    return Answer(await asking.read(lambda memory: _listed(part, memory.review.pending())))


# --- a person's word ---------------------------------------------------------------------


async def _decide(asking: Asking, decide: Callable[[Memory], Fact]) -> Answer:
    def again(memory: Memory, found: list[Record]) -> Fact | None:
        said = [each for each in found if each.get("kind") == "fact" and each.get("author") == "person"]
        return memory.fact(str(said[-1]["fact"])) if said else None

    fact = await asking.write(decide, again)
    asking.made(fact.id)
    return Answer(fact.to_dict())


@route("POST", "/memories/{memory}/facts/{fact}/approve", "review", values.Fact)
async def approve_fact(memory: Name, fact: FactName, asking: Write) -> Answer:
    """Say yes to a fact: it leaves review for its page, and counts as confirmed."""
    return await _decide(asking, lambda memory: memory.review.approve(fact))


@route("POST", "/memories/{memory}/facts/{fact}/reject", "review", values.Fact)
async def reject_fact(memory: Name, fact: FactName, asking: Write) -> Answer:
    """Say no to a fact: it goes, and does not come back by itself."""

    def again(memory: Memory, found: list[Record]) -> Fact | None:
        now = memory.fact(fact)
        return now if found and now.status == "rejected" else None

    done = await asking.write(lambda memory: memory.review.reject(fact), again)
    asking.made(done.id)
    return Answer(done.to_dict())


@route("POST", "/memories/{memory}/facts/{fact}/pin", "review", values.Fact)
async def pin_fact(memory: Name, fact: FactName, asking: Write, body: values.Pin) -> Answer:
    """Keep a fact among the essentials, or no longer."""
    return await _decide(asking, lambda memory: memory.review.pin(fact, pinned=body.pinned))


@route("POST", "/memories/{memory}/facts/{fact}/score", "review", values.Fact)
async def score_fact(memory: Name, fact: FactName, asking: Write, body: values.Score) -> Answer:
    """Say how much a fact matters, from 0 to 10: this outranks every rule."""
    return await _decide(asking, lambda memory: memory.review.score(fact, body.score))


@route("POST", "/memories/{memory}/facts/{fact}/correct", "review", values.Fact)
async def correct_fact(memory: Name, fact: FactName, asking: Write, body: values.Correct) -> Answer:
    """Say what is right. The old value stays in the history."""

    def again(memory: Memory, found: list[Record]) -> Fact | None:
        said = [each for each in found if each.get("kind") == "fact" and each.get("author") == "person"]
        if said:
            return memory.fact(str(said[-1]["fact"]))
        edits = [f"{each.get('path')}@{each['id']}" for each in found if each.get("reason") == "corrected"]
        new = (each for each in memory.facts() if not set(edits).isdisjoint(each.sources))
        return next(new, None)

    done = await asking.write(lambda memory: memory.review.correct(fact, body.text), again)
    asking.made(done.id)
    return Answer(done.to_dict())


@route("POST", "/memories/{memory}/undo", "review", values.Undone)
async def undo(memory: Name, asking: Write, body: values.Undo) -> Answer:
    """Undo the last change, or the last edit of a page, that has not been undone yet."""

    def act(memory: Memory) -> dict[str, Any]:
        edit, receipt = memory.history.undo(body.path, author="person")
        return {"id": edit.id, "path": edit.path, "reason": edit.reason, "by": receipt.id}

    def again(memory: Memory, found: list[Record]) -> dict[str, Any] | None:
        done = [each for each in found if each.get("undoes")]
        return _undone(memory, done[-1], by_page=body.path is not None) if done else None

    done = await asking.write(act, again)
    asking.made(done["by"])
    return Answer(done)


def _undone(memory: Memory, last: Record, *, by_page: bool) -> dict[str, Any] | None:
    """Return what an undo answered, from the last record that it wrote; None if it was cut off before that."""
    name = str(last["undoes"])
    for line in memory.parts.context.store.read_back(JOURNAL):
        each, kind = line.record, line.record.get("kind")
        if kind == "fact" and last.get("kind") == "edit" and not by_page and name in each.get("edits", ()):
            return None
        if kind == "placed" and not by_page and name in each.get("edits", ()):
            reason = f"{DISTILLED}{each['entry']}"
            return {"id": each["id"], "path": each["entry"], "reason": reason, "by": last["id"]}
        if each.get("id") == name:
            path = each["fact"] if kind == "fact" else each["path"]
            return {"id": name, "path": path, "reason": str(each.get("reason") or ""), "by": last["id"]}
    return None
