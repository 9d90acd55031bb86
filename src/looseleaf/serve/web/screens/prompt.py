"""The screen Prompt: what a model would be told now, line by line, and what is left out.

Looking changes nothing: the prompt is made as a trial. A line of a fact leads to the sentence that said it.
"""

from __future__ import annotations

import re
from itertools import islice
from urllib.parse import quote

from looseleaf.base.errors import BudgetTooSmall, Invalid, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import ToolCallPayload, ToolResultPayload
from looseleaf.explain.trail import strip_bullet, words_of
from looseleaf.explain.why_not import WHY
from looseleaf.log.turns import as_text, texts_of
from looseleaf.prompt.manifest import Omitted
from looseleaf.serve.problems import status_of
from looseleaf.serve.web.ask import ask
from looseleaf.serve.web.naming import naming_of
from looseleaf.serve.web.render import page
from looseleaf.serve.web.screens.known import place_of
from looseleaf.serve.web.screens.talk import of_agent
from looseleaf.serve.web.wording import cut
from looseleaf.text.lines import worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.base.messages import Message
    from looseleaf.base.values import Fact
    from looseleaf.explain.prompt_costs import Compared
    from looseleaf.memory import Memory
    from looseleaf.prompt.manifest import ManifestItem, Prompt
    from looseleaf.serve.web.ask import Screen

EARLIER = 20
"""Earlier prompts to compare with."""
MESSAGES = 40
"""Messages of the window that are shown, the last ones."""
NAMED = 12
"""Things of one kind that are named where they are left out."""
_COMPARED = 200
"""Facts of one kind that are looked for in the prompt before they count as left out."""
_EDITS = 200
"""Edits of the state, the newest, among which the one that a prompt shows is looked for."""
_FOUND = ("only_searched", "further_down")
_TOLD = ("already_shown", "compacted")
"""Reasons of what is left out that mean: it can be found; it is told elsewhere in the prompt."""
WHOLE = 200_000
"""Characters of a prompt that are shown as text."""

_TURN = re.compile(r"turn_0*(\d+)", re.ASCII)
_NOW = re.compile(r"^- now says: ")
_GONE = re.compile(r"^- no longer says: (.*)", re.MULTILINE)
"""Lines about a page that changed, as a prompt words them."""

REASONS = {
    "always_included": "always included",
    "do_not_forget": "not to be forgotten",
    "read_on_demand": "listed, and read when it is needed",
    "last_episodes": "the last work that was done",
    "compacted": "talk that left the window, in short",
    "recent_turns": "the last turns, as they were said",
    "the_request": "the request itself",
    "changed_since": "changed since the beginning of the prompt was made",
}
"""Why a part is there."""


@frozen
class Line:
    """A line of a prompt. `is_new`: it was not in the prompt that is compared with. `is_gone`: a later line takes it
    back. `fact`: what it says, if that is a fact; `sentence`, where the words stand that said it."""

    text: str
    is_new: bool
    is_gone: bool
    fact: Fact | None
    sentence: str
    address: str


@frozen
class Spoken:
    """A message of the window. `tool`: what returned it, if no person and no assistant said it; "" else."""

    who: str
    tool: str
    text: str


@frozen
class Part:
    """An item of a manifest."""

    slot: str
    id: str
    tokens: int
    why: str
    lines: tuple[Line, ...]
    messages: tuple[Spoken, ...]
    earlier: int
    """Messages that are not shown."""
    sources: tuple[tuple[str, str], ...]
    """What it was made of, with addresses."""
    is_range: bool
    """True if the sources are the first and the last of several turns."""
    as_of: float | None
    """When what it says was last written, if it says what is going on."""


@frozen
class Left:
    """What a manifest leaves out."""

    what: str
    why: str
    of: tuple[tuple[str, str], ...]
    more: int


@frozen
class AllLeft:
    """What a manifest leaves out: what is not told at all, what an agent finds if it looks for it, and what another
    part of the prompt tells already."""

    out: tuple[Left, ...]
    found: tuple[Left, ...]
    told: tuple[Left, ...]


class _Shower:
    """Shows one prompt, beside an earlier one if there is one."""

    def __init__(self, memory: Memory, prompt: Prompt, old: Prompt | None) -> None:
        self._memory, self._prompt, self._old = memory, prompt, old
        self._facts: dict[str, Fact] = {}
        """Those that may be named, by id."""
        self._by_words: dict[str, Fact] = {}
        self._gone: set[str] = set()
        """What the prompt takes back further down."""
        self._shown: set[str] = set()
        """Its lines."""

    def parts(self) -> list[Part]:
        own = self._memory.facts(topic="user")
        self._facts = self._memory.parts.facts_named(self._names())
        self._by_words = {strip_bullet(words_of(fact)): fact for fact in own if fact.path == "USER.md"}
        told = (
            _GONE.findall(self._text_of(item)) for item in self._prompt.manifest.items if _is_change(item)
        )
        self._gone = {strip_bullet(each) for found in told for each in found}
        made = [self._part(item) for item in self._prompt.manifest.items]
        self._shown = {strip_bullet(line.text) for part in made for line in part.lines if not line.is_gone}
        return made

    def _names(self) -> set[str]:
        """Return what may be ids of facts in the manifest, as far as it is shown."""
        manifest = self._prompt.manifest
        inside = (name for item in manifest.items if item.slot == "essentials" for name in item.of)
        outside = (name for each in manifest.omitted for name in each.of[:_COMPARED])
        return {name for name in (*inside, *outside) if name.startswith("f_")}

    def _text_of(self, item: ManifestItem) -> str:
        return (
            (self._prompt.messages[item.first].content or "")
            if _is_change(item)
            else self._prompt.text_of(item)
        )

    def _part(self, item: ManifestItem) -> Part:
        is_talk = item.start is None and not _is_change(item)
        why = REASONS.get(item.reason, item.reason.replace("_", " "))
        if item.layer:
            why += f", from the memory {item.layer} under this one"
        messages: tuple[Spoken, ...] = ()
        earlier = 0
        if is_talk:
            found = self._prompt.messages[item.first : item.end]
            earlier = max(0, len(found) - MESSAGES)
            is_said = item.reason in ("recent_turns", "the_request")
            user = self._user(item) if is_said else ""
            messages = tuple(_spoken(each, user, is_said) for each in found[earlier:])
        lines = () if is_talk else tuple(self._lines(item))
        sources = tuple(filter(None, map(address_of, item.of))) if not item.layer else ()
        turns = [_TURN.fullmatch(text) for text, _ in sources]
        is_range = item.reason == "recent_turns" and len(turns) == 2 and all(turns)
        if is_range:
            sources = tuple(
                (turn[1], address) for turn, (_, address) in zip(turns, sources, strict=True) if turn
            )
            sources = sources[:1] if sources[0] == sources[1] else sources
            is_range = len(sources) == 2
        return Part(
            item.slot,
            item.id,
            item.tokens,
            why,
            lines,
            messages,
            earlier,
            sources[:NAMED],
            is_range,
            self._written(item) if item.slot == "state" else None,
        )

    def _user(self, item: ManifestItem) -> str:
        """Return who said the messages of the user: one person, or nobody knows who."""
        naming = naming_of(self._memory)
        if not naming.is_shared() or not item.of:
            return naming.who(None)
        try:
            turns = self._memory.talk.turns(first=item.of[0], until=item.of[-1])
        except Refused:
            return naming.who(None)  # they were forgotten
        said = {trace.person for turn in turns for trace in turn.traces if trace.trace_type == "user"}
        return naming.who(said.pop() if len(said) == 1 else None)

    def _written(self, item: ManifestItem) -> float | None:
        """Return when the state was written that a prompt shows."""
        path, _, revision = (item.of[0] if item.of else "").partition("@")
        edits = islice(self._memory.history.edits(path), _EDITS) if revision and not item.layer else ()
        return next((edit.ts for edit in edits if edit.new == revision), None)

    def _lines(self, item: ManifestItem) -> Iterator[Line]:
        old = self._old_lines(item)
        named = [self._facts.get(name) for name in item.of] if item.slot == "essentials" else []
        known = {strip_bullet(words_of(fact)): fact for fact in named if fact is not None}
        facts = self._by_words if item.slot == "profile" or _is_change(item) else known
        for text in self._text_of(item).strip("\n").split("\n"):
            is_head = text.startswith("[MEMORY:")
            fact = None if is_head else _find_fact(facts, _NOW.sub("", text))
            is_new = old is not None and bool(text.strip()) and not is_head and text not in old
            is_gone = strip_bullet(text) in self._gone
            sentence = place_of(fact.sources[0]) if fact is not None and fact.sources else ""
            address = "" if fact is not None else _address(item, text)
            yield Line(text, is_new, is_gone, fact, sentence, address)

    def _old_lines(self, item: ManifestItem) -> set[str] | None:
        if self._old is None:
            return None
        same = [each for each in self._old.manifest.items if each.id == item.id]
        return {line for each in same for line in self._old.text_of(each).split("\n")}

    def left(self) -> AllLeft:
        """Return what is left out, once the parts are known: a fact that one of them shows is not."""
        kinds = part_omitted(self._prompt.manifest.omitted, self._is_shown)
        return AllLeft(*(tuple(map(self._left, each)) for each in kinds))

    def _is_shown(self, name: str) -> bool:
        fact = self._facts.get(name)
        return fact is not None and strip_bullet(words_of(fact)) in self._shown

    def _left(self, omitted: Omitted) -> Left:
        named: list[tuple[str, str]] = []
        for name in omitted.of[:NAMED]:
            fact = self._facts.get(name)
            if fact is not None:
                named.append((cut(worded(fact.relation, fact.object)), f"/fact/{quote(name)}"))
            else:
                named.append(address_of(name) or (cut(name, 200), ""))
        why = WHY.get(omitted.reason, omitted.reason.replace("_", " "))
        return Left(f"{omitted.slot}: {omitted.id}", why, tuple(named), max(0, len(omitted.of) - NAMED))


def part_omitted(
    every: Iterable[Omitted], is_shown: Callable[[str], bool]
) -> tuple[list[Omitted], list[Omitted], list[Omitted]]:
    """Return what a manifest leaves out in three parts: not told, found if it is looked for, told already. Of facts
    that a part shows (`is_shown`, by their ids) only the last is true, whatever the reason."""
    out: list[Omitted] = []
    found: list[Omitted] = []
    told: list[Omitted] = []
    for each in every:
        if each.reason in _TOLD:
            told.append(each)
            continue
        shown = tuple(filter(is_shown, each.of[:_COMPARED]))
        own = tuple(name for name in each.of if name not in shown) if shown else each.of
        if own or not each.of:
            (found if each.reason in _FOUND else out).append(Omitted(each.id, each.slot, each.reason, own))
        if shown:
            told.append(Omitted(each.id, each.slot, _TOLD[0], shown))
    return out, found, told


def _spoken(message: Message, user: str, is_talk: bool) -> Spoken:
    """Return a message of the window. `user`: who talks with the assistant. What a tool returned is nobody's word
    here."""
    payload = message.tool_payload
    if isinstance(payload, ToolResultPayload):
        told = [*([message.content] if message.content else []), as_text(payload.tool_result or "")]
        told += [payload.tool_error] if payload.tool_error else []
        return Spoken("", payload.tool_name or "a tool", "\n".join(filter(None, told)))
    if isinstance(payload, ToolCallPayload):
        calls = [f"{call.name} {as_text(call.arguments)}" for call in payload.tool_calls]
        text = "\n".join(filter(None, [message.content, message.reasoning_content, *calls]))
    else:
        text = "\n".join(texts_of(message))
    if message.role == "tool":
        return Spoken("", "a tool", text)
    who = {"user": user, "assistant": "The assistant"}.get(message.role) if is_talk else None
    return Spoken(who or str(message.role), "", text)


def _is_change(item: ManifestItem) -> bool:
    """True for what changed since the beginning of a prompt was made."""
    return item.type == "changes"


def _find_fact(facts: dict[str, Fact], text: str) -> Fact | None:
    """Return the fact that a line says."""
    words = strip_bullet(text)
    if words in facts or not words.endswith("…"):
        return facts.get(words)
    return next((fact for said, fact in facts.items() if said.startswith(words[:-1])), None)  # it was cut off


def _address(item: ManifestItem, text: str) -> str:
    """Return where a line that is no fact stands: the page that it names."""
    if item.layer or not (_is_change(item) or item.slot in ("index", "episodes")):
        return ""
    paths = (name.partition(":")[0] for name in item.of)
    named = max((path for path in paths if path in text), key=len, default="")
    return f"/pages/{quote(named)}" if named else ""


def address_of(name: str) -> tuple[str, str] | None:
    """Return what a manifest names as a source, and where it is; None for a fact, which its line names."""
    path, _, _ = name.partition("@")
    bare = path.partition(":")[0]
    if bare.endswith((".md", ".json")):
        return path, f"/pages/{quote(bare)}"
    if name.startswith("turn_"):
        return name, f"/talk/turn/{quote(name)}"
    if "/" in name and not name.startswith("f_"):
        return name, f"/talk/trace/{quote(name)}"
    return None


# --- the screens -------------------------------------------------------------------------


async def _prompt(request: Request) -> Response:
    """Show what a model would be told now."""
    asked = {name: request.query_params.get(name, "").strip() for name in ("task", "budget", "with", "agent")}

    def read(memory: Memory) -> dict[str, Any]:
        own, agents = of_agent(memory, asked["agent"])
        told = {"agents": agents, "agent": own.agent, "earlier": earlier_prompts(own)}
        try:
            budget = _number_in(asked["budget"])
            prompt = own.prompt(asked["task"] or None, budget=budget, dry_run=True)
        except Refused as refused:
            return told | {"refused": refused}
        return told | _beside(own, prompt, asked["with"])

    return _answer(request, asked, await ask(request, read))


def _answer(request: Request, asked: dict[str, str], told: dict[str, Any], only: str = "") -> Response:
    """Show what was read of a prompt, with the sentence of what was refused, if anything was."""
    refused = told.pop("refused", None)
    needed = refused.needed if isinstance(refused, BudgetTooSmall) else 0
    error, status = str(refused or ""), 200 if refused is None else status_of(refused)[0]
    more = {"asked": asked, "needed": needed, "only": only, "error": error}
    return page(request, "prompt.html", status=status, **_EMPTY | told | more)


_EMPTY: dict[str, Any] = {
    "parts": None,
    "left": (),
    "manifest": None,
    "compared": None,
    "text": "",
    "slots": {},
    "cut": 0,
}


def _number_in(text: str) -> int | None:
    if not text:
        return None
    bare = text.replace(",", "")
    if not bare.isascii() or not bare.isdigit() or len(bare) > 9 or not int(bare):
        raise Invalid(f"No prompt was made: {text[:40]!r} is not a number of tokens. Give one such as 2,000.")
    return int(bare)


def earlier_prompts(memory: Memory) -> list[dict[str, Any]]:
    """Return the last prompts of the log, newest first."""
    return list(islice(memory.parts.prompts.log.back(), EARLIER))


def _beside(memory: Memory, prompt: Prompt, other: str) -> dict[str, Any]:
    """Return what is shown of a prompt beside an earlier one; alone, and why, if that is not there or was forgotten."""
    try:
        old = memory.explain.replay(other) if other else None
    except Refused as refused:
        return {"refused": refused} | show(memory, prompt, None)
    return show(memory, prompt, old)


def show(memory: Memory, prompt: Prompt, old: Prompt | None) -> dict[str, Any]:
    """Return what the template shows of a prompt."""
    shower = _Shower(memory, prompt, old)
    text = prompt.text
    return {
        "parts": shower.parts(),
        "left": shower.left(),
        "manifest": prompt.manifest,
        "slots": prompt.manifest.by_slot(),
        "compared": _compare(memory, old, prompt) if old is not None else None,
        "text": text[:WHOLE],
        "cut": max(0, len(text) - WHOLE),
    }


def _compare(memory: Memory, old: Prompt, new: Prompt) -> Compared:
    from looseleaf.explain.prompt_costs import compare

    return compare(old, new, memory.parts.conversation.counter(None))


async def _logged(request: Request) -> Response:
    """Show a prompt that a model was given."""
    name, other = request.path_params["prompt"], request.query_params.get("with", "").strip()
    agent = request.query_params.get("agent", "")

    def read(memory: Memory) -> dict[str, Any]:
        own, agents = of_agent(memory, agent)
        told = {"agents": agents, "agent": own.agent, "earlier": earlier_prompts(own)}
        return told | _beside(own, own.explain.replay(name), other)

    asked = {"task": "", "budget": "", "with": other, "agent": agent}
    return _answer(request, asked, await ask(request, read), only=name)


ROUTES: list[Screen] = [
    ("/prompt", ["GET"], _prompt),
    ("/prompt/{prompt}", ["GET"], _logged),
]
