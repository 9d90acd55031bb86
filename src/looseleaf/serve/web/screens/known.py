"""The screen Memory: all that is known, on any day; and one fact, with its words, its past, and a person's say."""

from __future__ import annotations

import re
from functools import partial
from itertools import groupby, islice
from urllib.parse import quote, urlencode

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.immutable import frozen
from looseleaf.explain.trail import strip_bullet
from looseleaf.facts.ledger import address_of
from looseleaf.log.journal import EXTERNAL, PERSON
from looseleaf.serve.problems import status_of
from looseleaf.serve.web.ask import ask
from looseleaf.serve.web.deciding import decide, undo
from looseleaf.serve.web.forms import Note, back_of, done, read_form
from looseleaf.serve.web.naming import Naming, naming_of
from looseleaf.serve.web.render import fact_name, page, since, until
from looseleaf.serve.web.wording import cut
from looseleaf.store import JOURNAL
from looseleaf.text.lines import worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.base.values import Fact
    from looseleaf.memory import Memory
    from looseleaf.place.notebook import FactSource
    from looseleaf.serve.web.ask import Screen

FACTS = 100
"""Facts of one page."""
DAYS = 2_000
"""Days that the slider has; of more, the newest."""
_NEAR = 3
"""Days of change that are linked before and after the one that is shown."""


# --- all of it, on a day -----------------------------------------------------------------


@frozen
class Known:
    """A fact as the list shows it. `was`: the values that it replaced, newest first; `now`: on a day that is past, what
    is so today instead."""

    fact: Fact
    was: tuple[Fact, ...] = ()
    is_contested: bool = False
    now: Fact | None = None


@frozen
class Days:
    """The days on which something began or ended, oldest first, and where among them is the one that is shown."""

    all: tuple[str, ...]
    shown: str
    """"" for today."""

    @property
    def at(self) -> int:
        """The number of days up to the one that is shown; one more than all for today."""
        if not self.shown:
            return len(self.all)
        return max(sum(each <= self.shown for each in self.all) - 1, 0)

    @property
    def near(self) -> tuple[str, ...]:
        """The days around the one that is shown: always as many, so that a list of few days stays the same."""
        begin = max(min(self.at - _NEAR, len(self.all) - 2 * _NEAR - 1), 0)
        return self.all[begin : begin + 2 * _NEAR + 1]


async def _memory(request: Request) -> Response:
    asked = request.query_params
    as_of, topic = asked.get("as_of", "").strip(), asked.get("topic", "")
    number = int(asked["page"]) if asked.get("page", "").isdecimal() and len(asked["page"]) < 6 else 1

    def read(memory: Memory, as_of: str) -> dict[str, Any]:
        now, past = memory.facts(), memory.facts(status="superseded")
        found = memory.facts(as_of=as_of) if as_of else now
        topics = list(dict.fromkeys(fact.topic for fact in found))
        some = by_sentence(fact for fact in found if not topic or fact.topic == topic)
        begin = (max(number, 1) - 1) * FACTS
        shown = some[begin : begin + FACTS]
        before = replaced(past)
        contested = {each.id for values in memory.review.contested() for each in values}
        after = follow(now, past) if as_of else {}
        known = [
            Known(fact, before.get(fact.id, ()), fact.id in contested, after.get(fact.id)) for fact in shown
        ]
        return {
            "groups": [(name, list(each)) for name, each in groupby(known, key=lambda one: one.fact.topic)],
            "days": Days(days_of_change([*now, *past])[-DAYS:], as_of),
            "topics": topics,
            "count": len(some),
            "older": begin + FACTS < len(some),
        }

    told: dict[str, Any] = {"topic": topic, "number": number, "typed": as_of}
    try:
        if len(as_of) > 40:
            raise Invalid("Nothing was shown: that is not a day. Give one as 2026-03-05.")
        told |= await ask(request, partial(read, as_of=as_of))
    except Invalid as error:
        told |= await ask(request, partial(read, as_of=""))
        return page(request, "memory.html", status=422, error=str(error), **told, address=_address)
    return page(request, "memory.html", **told, address=_address)


def _address(**asked: object) -> str:
    given = {name: value for name, value in asked.items() if value}
    return f"?{urlencode(given)}" if given else "?"


def by_sentence(facts: Iterable[Fact]) -> list[Fact]:
    """Return facts in their order, those of one topic that one sentence said side by side."""
    found: dict[tuple[str, object, str | None], list[Fact]] = {}
    for fact in facts:
        sentence = fact.sources[0] if fact.sources and fact.quote else fact.id
        found.setdefault((fact.topic, sentence, fact.quote), []).append(fact)
    return [fact for each in found.values() for fact in each]


def replaced(past: Iterable[Fact]) -> dict[str | None, tuple[Fact, ...]]:
    """Return what each fact replaced, directly and before that, newest first; by its id."""
    direct: dict[str, list[Fact]] = {}
    for fact in past:
        if fact.superseded_by and fact.superseded_by != fact.id:
            direct.setdefault(fact.superseded_by, []).append(fact)
    found: dict[str | None, tuple[Fact, ...]] = {}
    for name, first in direct.items():
        chain: list[Fact] = []
        left, seen = [*first], {name}
        while left:
            each = left.pop(0)
            if each.id not in seen:
                seen.add(each.id or "")
                chain.append(each)
                left += direct.get(each.id or "", ())
        found[name] = tuple(sorted(chain, key=lambda each: each.valid_from or "", reverse=True))
    return found


def follow(now: Iterable[Fact], past: Iterable[Fact]) -> dict[str | None, Fact]:
    """Return what is so today in place of each past fact, by its id."""
    names = {fact.id: fact for fact in now}
    return {old.id: names[name] for name, chain in replaced(past).items() if name in names for old in chain}


def days_of_change(facts: Iterable[Fact]) -> tuple[str, ...]:
    """Return the days on which a fact began or ended."""
    return tuple(sorted({each for fact in facts for each in (since(fact)[:10], until(fact)[:10]) if each}))


# --- one fact ----------------------------------------------------------------------------


@frozen
class Source:
    """Words behind a fact: before, in and after its quote; whose they are; and the address where they stand, below the
    memory's, with a word for what is there (`place`)."""

    before: str
    quote: str
    after: str
    who: str
    ts: float | None
    at: str
    place: str
    is_own: bool


_PEOPLE = ("user", PERSON, EXTERNAL)


def show_source(
    source: FactSource, quote: str | None, line: str = "", *, naming: Naming, layer: str | None = None
) -> Source:
    """Return the words behind a fact of a layer, as they are shown: cut around the quote where they are long; of a page
    the fact's own `line`, if it is among them."""
    text, words = _text_of(source, line), (quote or "").strip()
    at = text.find(words) if words else -1
    before, found, after = ("", "", text) if at < 0 else (text[:at], words, text[at + len(words) :])
    if len(before) > _AROUND:
        before = f"… {before[-_AROUND:].partition(' ')[2] or before[-_AROUND:]}"
    after = cut(after, _AROUND)
    origin, name = source.origin, ""
    if origin == EXTERNAL:
        who = f"{naming.who(None, layer)}, on the page"  # found on disk: nobody knows of whom
    elif origin in _PEOPLE:
        who = naming.who(source.person, layer)
    else:
        kind, _, name = origin.partition(":")
        who = _OTHERS.get(kind, origin or "Nobody")
    address = place_of(source.source)
    if address.startswith(_TALK):
        place = "what was distilled" if "/" in address.removeprefix(_TALK) else "the message"
    else:
        place = "the page"
    is_own = origin in (*_PEOPLE, "assistant")
    return Source(before, found, after, f"{who} {name}".strip(), source.ts, address, place, is_own)


_OTHERS = {"assistant": "The assistant", "agent": "Agent", "tool": "The tool", "import": "An import"}
_AROUND = 600
_TALK = "/talk/trace/"


def _text_of(source: FactSource, own: str) -> str:
    """Return the words of a source; of a page only its own line, else all but what the program keeps there."""
    if "@" not in source.source:
        return source.text
    lines = [each for each in source.text.split("\n") if not _KEPT.match(each)]
    is_there = own and any(strip_bullet(each) == strip_bullet(own) for each in lines)
    return own if is_there else "\n".join(lines).strip()


_KEPT = re.compile(r"- Updated: \d{4}-\d\d-\d\d|> Summary:")
"""Lines of a page that nobody said."""


def place_of(source: str) -> str:
    """Return the address of a source: a trace's, an entry's, a page's."""
    if source.startswith("log/entries/"):
        entry = source.removeprefix("log/entries/").partition("/raw.md")[0]
        return f"{_TALK}{quote(entry)}"
    path, is_edit, _ = source.partition("@")
    if is_edit or path.endswith(".md"):
        return f"/pages/{quote(path)}"
    return f"{_TALK}{quote(source, safe='')}"


async def _fact(request: Request) -> Response:
    return await show_fact(request)


async def show_fact(
    request: Request, *, error: str = "", status: int = 200, typed: str | None = None
) -> Response:
    """Show one fact; after a refusal with its sentence, and with what was typed."""
    name = request.path_params["fact"]

    def read(memory: Memory) -> dict[str, Any]:
        fact, naming = memory.fact(name), naming_of(memory)
        history = memory.history.fact(fact_name(fact))
        later = next((each for each in history if each.id == fact.superseded_by), None)
        if is_many := address_of(fact).many:
            history = own_history(fact, history)
        sources = memory.explain.sources(fact)
        contested = {each.id for values in memory.review.contested() for each in values}
        return {
            "fact": fact,
            "meaning": meaning_of(memory, fact, naming),
            "is_many": is_many,
            "history": history[::-1],
            "sources": [
                show_source(
                    each, fact.quote, worded(fact.relation, fact.object), naming=naming, layer=fact.layer
                )
                for each in sources
            ],
            "is_contested": fact.id in contested,
            "private": memory.review.private_kinds(fact),
            "later": later,
        }

    found = await ask(request, read)
    return page(request, "fact.html", status=status, error=error, typed=typed, **found)


def own_history(fact: Fact, held: Sequence[Fact]) -> list[Fact]:
    """Return what became this fact, and what it became, in the order of `held`: not the other values beside it."""
    after = {each.id: each.superseded_by for each in held}
    before: dict[str | None, list[str | None]] = {}
    for name, later in after.items():
        before.setdefault(later, []).append(name)
    found, left = set(), [fact.id]
    while left:
        name = left.pop()
        if name is not None and name not in found:
            found.add(name)
            left += [after.get(name), *before.get(name, ())]
    return [each for each in held if each.id in found]


def meaning_of(memory: Memory, fact: Fact, naming: Naming) -> str:
    """Return what a fact's level means, in a sentence; of a person's own line, how it came there."""
    if fact.level != "confirmed":
        return naming.meaning(fact.level, fact)
    if not naming.is_shared(fact.layer):
        is_confirmed, by = fact.decided_at is not None or fact.origin not in (PERSON, EXTERNAL), None
    else:
        is_confirmed, by = _confirmed_by(memory, fact)
    if is_confirmed:
        return f"{naming.who(by, fact.layer)} confirmed it."
    path, _, name = (fact.sources[0] if fact.sources else "").partition("@")
    edits = islice(memory.history.edits(path), _EDITS) if name and not fact.layer else ()
    edit = next((each for each in edits if each.id == name), None)
    did = "corrected" if edit is not None and edit.reason == "corrected" else "wrote"
    return f"{naming.who(fact.person, fact.layer)} {did} it."


def _confirmed_by(memory: Memory, fact: Fact) -> tuple[bool, str | None]:
    """Return whether a person said yes to a fact, and who did, if that is known. The fact itself has only who decided
    on it last, which may have been to pin it."""
    is_written = fact.origin in (PERSON, EXTERNAL)
    if fact.layer:
        return not is_written, None
    for line in islice(memory.parts.context.store.read_back(JOURNAL), _RECORDS):
        record = line.record
        if record.get("kind") == "fact" and record.get("fact") == fact.id:
            given, person = record.get("set"), record.get("person")
            if isinstance(given, dict) and given.get("level") == "confirmed":
                return True, person if isinstance(person, str) else None
    return not is_written, None


_EDITS = 500
"""Edits of a page, the newest, among which the one of a line is looked for."""
_RECORDS = 5_000
"""Records of the journal, the newest, among which a yes is looked for."""


async def _decide(request: Request) -> Response:
    form = await read_form(request)
    name, act = request.path_params["fact"], request.path_params["act"]
    home = f"/m/{request.path_params['name']}"
    try:
        decided = await ask(request, lambda memory: decide(memory, act, name, form))
    except NotFound:
        raise
    except Refused as error:
        return await show_fact(
            request, error=str(error), status=status_of(error)[0], typed=form["text"] or None
        )
    back = back_of(request, form, f"{home}/fact/{quote(fact_name(decided.fact), safe='')}")
    return done(request, back, decided.note(home, back))


async def _undo(request: Request) -> Response:
    form = await read_form(request)
    home = f"/m/{request.path_params['name']}/"
    sentence = await ask(request, lambda memory: undo(memory, form["after"]))
    return done(request, back_of(request, form, home), Note(sentence))


ROUTES: list[Screen] = [
    ("/memory", ["GET"], _memory),
    ("/fact/{fact}", ["GET"], _fact),
    ("/fact/{fact}/{act}", ["POST"], _decide),
    ("/undo", ["POST"], _undo),
]
