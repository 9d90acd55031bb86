"""The screen Review: what waits for a person, one at a time; contested values, unexplained lines, held files.

There is no yes to all. Words of others can be rejected by their source, all at once.
"""

from __future__ import annotations

from functools import partial
from urllib.parse import quote

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import REVIEW
from looseleaf.facts.ledger import address_of
from looseleaf.facts.placement import page_of
from looseleaf.pages.held import TAKES, new_lines
from looseleaf.pages.settle import both_texts
from looseleaf.place.placer import under
from looseleaf.serve.problems import status_of
from looseleaf.serve.web.ask import ask
from looseleaf.serve.web.deciding import decide, newest
from looseleaf.serve.web.forms import Note, done, read_form
from looseleaf.serve.web.naming import naming_of
from looseleaf.serve.web.render import fact_name, page, shown
from looseleaf.serve.web.screens.known import place_of, show_source
from looseleaf.serve.web.wording import cut
from looseleaf.text.diff import diff
from looseleaf.text.lines import DOUBTFUL, is_found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Fact
    from looseleaf.memory import Memory
    from looseleaf.pages.held import Held
    from looseleaf.serve.web.ask import Screen
    from looseleaf.serve.web.forms import Form
    from looseleaf.serve.web.naming import Naming
    from looseleaf.serve.web.screens.known import Source

ANSWERS = {"yes": "confirm", "no": "reject", "edit": "correct"}
_TALK = 6
"""Messages of the talk around a proposal."""
_LONGEST = 600
_SHOWN = 200
"""Lines of a difference, and of a list."""


# --- one card ----------------------------------------------------------------------------


@frozen
class Said:
    """A message of the talk around a proposal."""

    who: str
    text: str
    is_own: bool


@frozen
class Card:
    """A proposal, and all that a person needs to decide on it. `replaces`: what would no longer be so; `beside`: what
    stays beside it. `source`: where its words are from, to say no to all of that; `alike`: how many are from there."""

    fact: Fact
    page: str
    why: str
    replaces: tuple[Fact, ...]
    beside: tuple[Fact, ...]
    words: tuple[Source, ...]
    talk: tuple[Said, ...]
    talk_at: str
    private: str
    source: str
    alike: int


def make_card(memory: Memory, fact: Fact, waiting: Sequence[Fact]) -> Card:
    """Return the card of a fact that waits."""
    why, naming = _reason(memory, fact), naming_of(memory)
    rivals = [each for each in memory.history.fact(fact_name(fact)) if each.status == "current"]
    at = address_of(fact)
    known = [each for each in rivals if address_of(each).within == at.within and not is_found(each.object)]
    source = source_of(fact)
    sources = memory.explain.sources(fact)
    trace = next((each.source for each in sources if "/" not in each.source and "@" not in each.source), "")
    return Card(
        fact,
        page_of(fact.but(level="confirmed")),
        why,
        () if at.many else tuple(known),
        tuple(known) if at.many else (),
        tuple(show_source(each, fact.quote, naming=naming, layer=fact.layer) for each in sources),
        talk_around(memory, trace, naming) if trace else (),
        place_of(trace) if trace else "",
        memory.review.private_kinds(fact),
        source,
        sum(source_of(each) == source for each in waiting) if source else 0,
    )


def _reason(memory: Memory, fact: Fact) -> str:
    """Return why a fact waits, in the program's words."""
    path = f"{fact.layer}:{REVIEW}" if fact.layer else REVIEW
    told = under(memory.pages.read(path).text).get(fact.id or "", "")
    # For which page, from whom, when: these have places of their own on the card.
    parts = [each for each in told.split(" · ") if not each.startswith(("for ", "from ", "“"))]
    return " · ".join(parts)


def talk_around(memory: Memory, trace: str, naming: Naming) -> tuple[Said, ...]:
    """Return the messages of the turn in which a trace was recorded."""
    try:
        first = memory.talk.traces(trace)[0]
        traces = list(memory.talk.turn(first.turn_id).traces)
    except Refused:
        return ()
    at = next((place for place, each in enumerate(traces) if each.id == trace), 0)
    begin = max(0, min(at - _TALK // 2, len(traces) - _TALK))
    return tuple(_said(each, naming) for each in traces[begin : begin + _TALK])


def _said(trace: Trace, naming: Naming) -> Said:
    from looseleaf.log.turns import LABELS, trace_text

    text = trace_text(trace)
    text = cut(text, _LONGEST)
    if trace.trace_type == "user":
        who = naming.who(trace.person)
    else:
        who = "Assistant" if trace.trace_type == "assistant" else LABELS[trace.trace_type].capitalize()
    return Said(who, text, trace.origin in ("user", "assistant"))


def source_of(fact: Fact) -> str:
    """Return what a fact came from, if no person said it: the text of an import, or else who asked."""
    if fact.origin in ("user", "person", "external", None):
        return ""
    for each in fact.sources:
        if each.startswith("log/entries/"):
            return each.partition("/raw.md")[0]
    return fact.origin or ""


# --- the screen --------------------------------------------------------------------------


async def _review(request: Request) -> Response:
    return await show_review(request, request.query_params.get("at", ""))


async def show_review(
    request: Request, at: str = "", *, error: str = "", status: int = 200, typed: str | None = None
) -> Response:
    """Show the card `at` (else the first), and what else needs a word; after a refusal with its sentence."""
    found = await ask(request, partial(_read, at=at))
    if at and not error and found["card"] is not None and fact_name(found["card"].fact) != at:
        error, status = await ask(request, partial(_explain_absence, at=at)), 404
    is_editing = typed is not None or request.query_params.get("edit", "") == "1"
    return page(
        request, "review.html", status=status, error=error, typed=typed, is_editing=is_editing, **found
    )


def _read(memory: Memory, at: str) -> dict[str, Any]:
    waiting = memory.review.pending()
    names = [fact_name(each) for each in waiting]
    place = names.index(at) if at in names else 0
    contested = memory.review.contested()
    # A fact says itself that it may be out of date. All facts are read only where nothing else is shown.
    doubtful = (
        []
        if waiting
        else [each for each in memory.facts() if DOUBTFUL in each.tags and each.level != "tainted"]
    )
    return {
        "doubtful": doubtful,
        "card": make_card(memory, waiting[place], waiting) if waiting else None,
        "place": place,
        "line": names,
        "contested": contested,
        "unexplained": memory.review.unexplained()[:_SHOWN],
        "held": [show_held(memory, each) for each in memory.review.held()],
    }


def _explain_absence(memory: Memory, at: str) -> str:
    try:
        fact = memory.fact(at)
    except Refused:
        return "No longer waiting: there is no such fact any more."
    from looseleaf.serve.web.render import moment

    status = {"current": "approved", "superseded": "replaced"}.get(fact.status, fact.status)
    when = f" at {moment(fact.decided_at)}" if fact.decided_at else ""
    return f"No longer waiting: {status}{when}."


async def _answer(request: Request) -> Response:
    form = await read_form(request)
    name, answer = request.path_params["fact"], request.path_params["answer"]
    home = f"/m/{request.path_params['name']}"

    def act(memory: Memory) -> tuple[Any, str]:
        names = [fact_name(each) for each in memory.review.pending()]
        if name not in names:
            raise Refused(_explain_absence(memory, name))
        place = names.index(name)
        decided = decide(memory, ANSWERS[answer], name, form)
        left = [fact_name(each) for each in memory.review.pending()]
        following = [each for each in names[place + 1 :] if each in left] or left
        return decided, following[0] if following else ""

    try:
        if answer not in ANSWERS:
            raise Invalid(f"Nothing was decided: answer with {', '.join(ANSWERS)}.")
        decided, following = await ask(request, act)
    except Refused as error:
        typed = form["text"] if answer == "edit" else None
        return await show_review(request, name, error=str(error), status=status_of(error)[0], typed=typed)
    here = f"{home}/review"
    to = f"{here}?at={quote(following, safe='')}" if following else here
    return done(request, to, decided.note(home, f"{here}?at={quote(name, safe='')}"))


async def _no_to_source(request: Request) -> Response:
    """Say no to all that waits from one source."""
    form = await read_form(request)

    def act(memory: Memory) -> int:
        found = [
            each for each in memory.review.pending() if form["source"] and source_of(each) == form["source"]
        ]
        if not found:
            raise NotFound("Nothing was rejected: nothing from this source waits any more.")
        for each in found:
            memory.review.reject(fact_name(each))
        return len(found)

    try:
        count = await ask(request, act)
    except Refused as error:
        return await show_review(request, error=str(error), status=status_of(error)[0])
    what = "1 proposal" if count == 1 else f"{count:,} proposals"
    return done(
        request,
        f"/m/{request.path_params['name']}/review",
        Note(f"Rejected: {what} from one source. Each has its page, and is listed in Search."),
    )


async def _vouch(request: Request) -> Response:
    form = await read_form(request)
    home = f"/m/{request.path_params['name']}"

    def act(memory: Memory) -> tuple[int, str]:
        return len(memory.review.vouch([form["fact"]])), newest(memory)

    try:
        _, last = await ask(request, act)
    except Refused as error:
        return await show_review(request, error=str(error), status=status_of(error)[0])
    fields = (("after", last), ("back", f"{home}/review#unexplained"))
    return done(
        request,
        f"{home}/review#unexplained",
        Note("Vouched for: it counts as yours.", f"{home}/undo", fields),
    )


# --- held files --------------------------------------------------------------------------


MEANS = {
    "keep": "Go on with the last good version",
    "accept": "The file is right as it is",
    "ours": "The upper side of each conflict",
    "theirs": "The lower side of each conflict",
    "both": "Both sides of each conflict",
}
MEANS_COPY = {
    "keep": "The page stays as it is, and the copy goes",
    "theirs": "The copy takes the place of the page",
    "both": "The page gets the lines that only the copy has",
    "accept": "It is no copy, but a page of its own",
}


@frozen
class ShownHeld:
    """A held file: what is wrong with it, the lines that differ from the last good version, and what may be decided.
    `new`: the lines that only a copy has, to choose from."""

    held: Held
    lines: tuple[tuple[str, str], ...]
    rest: int
    takes: tuple[tuple[str, str], ...]
    new: tuple[str, ...]


def show_held(memory: Memory, held: Held) -> ShownHeld:
    """Return a held file as it is shown."""
    good, found = both_texts(memory.parts, held)
    lines: list[tuple[str, str]] = []
    for hunk in diff(good, found):
        lines += [("removed", each.rstrip("\r\n")) for each in hunk.removed]
        lines += [("added", each.rstrip("\r\n")) for each in hunk.added]
    means = MEANS_COPY if held.of else MEANS
    new = tuple(new_lines(good, found)[:_SHOWN]) if held.of else ()
    return ShownHeld(
        held,
        tuple(lines[:_SHOWN]),
        max(len(lines) - _SHOWN, 0),
        tuple((take, means[take]) for take in TAKES[held.why]),
        new,
    )


async def _settle(request: Request) -> Response:
    form = await read_form(request)
    path, take = form["path"], form["take"]

    def act(memory: Memory) -> str:
        chosen = _chosen_lines(memory, path, form) if take == "both" else None
        settled = memory.review.settle(path, take, lines=chosen)
        kept = f" Its bytes are kept in {settled.aside}." if settled.aside else ""
        return f"Settled: {shown(path)}.{kept}"

    try:
        if not take:
            raise Invalid(f"Nothing was settled: choose what becomes of {path}.")
        sentence = await ask(request, act)
    except Refused as error:
        return await show_review(request, error=str(error), status=status_of(error)[0])
    return done(request, f"/m/{request.path_params['name']}/review#held", Note(sentence))


def _chosen_lines(memory: Memory, path: str, form: Form) -> list[str] | None:
    """Return the lines of a copy that a person ticked; None where there was nothing to tick."""
    held = next((each for each in memory.review.held() if each.path == path), None)
    if held is None or not held.of:
        return None
    good, found = both_texts(memory.parts, held)
    return [line for at, line in enumerate(new_lines(good, found)) if form[f"line-{at}"] == line]


ROUTES: list[Screen] = [
    ("/review", ["GET"], _review),
    ("/review/no-to-source", ["POST"], _no_to_source),
    ("/review/vouch", ["POST"], _vouch),
    ("/review/settle", ["POST"], _settle),
    ("/review/{fact}/{answer}", ["POST"], _answer),
]
