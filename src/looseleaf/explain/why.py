"""Why words are in a prompt, or why not, back to who said or wrote them.

For words in the prompt, each place leads from its item to the page, the fact, the entry and the traces. For others,
`why_not` says where else they are known.
"""

from __future__ import annotations

import json
import re

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import STATE
from looseleaf.explain.trail import Needle, Step, Trail, deepen, line_at, strip_bullet, words_of
from looseleaf.explain.why_not import Absent, find_page, is_from_page
from looseleaf.index.said import fold
from looseleaf.log.turns import texts_of
from looseleaf.state.rules import for_prompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.values import Edit, Record
    from looseleaf.explain.sources import Needs
    from looseleaf.prompt.manifest import ManifestItem, Prompt
    from looseleaf.window.window import Window

_MOST = 5
"""Places to follow: a word like `the` is everywhere."""

_TOLD = re.compile("- (now|no longer) says: (.*)")
"""A changed line of a page, as `prompt/slot_forms.py` words it."""


@frozen
class WhyChain:
    """One answer: the steps from the prompt (or from where else the words are known) to who said them."""

    is_in: bool
    steps: tuple[Step, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"is_in": self.is_in, "steps": [step.to_dict() for step in self.steps]}


@frozen
class Explanation:
    """Why words are in a prompt, or are not. `more` places were found and not followed."""

    text: str
    prompt: str
    is_in: bool
    chains: tuple[WhyChain, ...]
    more: int = 0

    def to_dict(self) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in ("text", "prompt", "is_in", "more")}
        return told | {"chains": [each.to_dict() for each in self.chains]}


@frozen
class _Hit:
    """Words in a prompt: their item and message, the searched part of its text, and the place in it."""

    item: ManifestItem
    message: int
    text: str
    place: tuple[int, int]

    @property
    def line(self) -> str:
        return line_at(self.text, self.place)

    def heading(self) -> str:
        """Return the line above that names a page or topic: it ends with a colon, and is no bullet."""
        above = self.text[: self.text.rfind("\n", 0, self.place[0]) + 1].splitlines()
        return next((line[:-1] for line in reversed(above) if line.endswith(":") and line[:2] != "- "), "")


def why(parts: Needs, text: str, name: str = "last") -> Explanation:
    """Explain words in a prompt of the log; if none was ever made, make one for the memory as it is now."""
    for given, what in ((text, "A search"), (name, "The id of a prompt")):
        if not isinstance(given, str):
            raise Invalid(f"{what} must be text, not {type(given).__name__}. Give some words of a prompt.")
    if not Needle(text).folded:
        raise Invalid("The text is empty. Give some words of a prompt.")
    prompt, record, window = _find_prompt(parts, name)
    page, line = find_page(parts, text) or (None, None)
    needle = Needle(text if line is None else line)
    manifest = prompt.manifest
    made = "as it would be now" if record is None else f"{manifest.timestamp[:19]}Z"
    size = f"{manifest.total_tokens:,} of {manifest.budget_tokens:,} tokens"
    first = Step("prompt", manifest.id, f"{made}, {size}")

    def answer(is_in: bool, trails: Iterable[tuple[Step, ...]], more: int = 0) -> Explanation:
        chains = tuple(WhyChain(is_in, (first, *steps)) for steps in trails)
        return Explanation(text, manifest.id, is_in, chains, more)

    if page is not None and line is None:
        return answer(*Absent(parts, prompt, record, Trail(parts, Needle(page))).page_chains(page))
    texts = _PromptTexts(prompt, window)
    trail = Trail(parts, needle)
    found = _PromptSearch(parts, texts, record, trail)
    hits = found.hits(page)
    if not hits and page is None:  # a fact with the same words in another order may stand there
        for fact in trail.facts_with_its_words():
            line = words_of(fact)
            if fact.status == "current" and needle.has_its_words(line):
                found = _PromptSearch(parts, texts, record, Trail(parts, Needle(line)))
                hits = found.hits()
                if hits:
                    break
    if hits:
        few = _choose_few(hits)
        # Two lines of a summary may lead the same way.
        return answer(True, dict.fromkeys(tuple(found.steps(hit)) for hit in few), len(hits) - len(few))
    known = list(_find_farther(parts, needle))
    absent, *more = Absent(parts, prompt, record, trail).chains(page)
    return answer(False, [*known, *absent], *more)


def _find_farther(parts: Needs, needle: Needle) -> Iterator[tuple[Step, ...]]:
    """Yield the trails of what farther layers know of words that are not in the prompt."""

    def find(far: Needs) -> list[tuple[Step, ...]]:
        trail = Trail(far, needle)
        facts = trail.facts_asked_for[:_MOST]
        return [tuple(trail.fact(fact)) for fact in facts]

    for layer, trails in parts.farther(find):
        for steps in trails:
            yield (Step("layer", layer, "not in the prompt"), *deepen(steps))


def _find_prompt(parts: Needs, name: str) -> tuple[Prompt, Record | None, Window]:
    """Return a prompt with its record, if the log has it, and its window."""
    log = parts.prompts.log
    try:
        if name != "last" or log.last() is not None:
            record = log.find(name)
            prompt, window = log.render(record)
            return prompt, record, window
    except Refused as refused:
        if name != "last":
            raise
        parts.context.note(f"{refused} A prompt as it would be now was searched instead.")
    return parts.prompts(None, None, None, dry_run=True), None, parts.conversation.window


def _choose_few(hits: Sequence[_Hit]) -> list[_Hit]:
    """Return the first place of each item, then others, in prompt order."""
    firsts: dict[str, int] = {}
    for number, hit in enumerate(hits):
        firsts.setdefault(hit.item.id, number)
    others = (number for number in range(len(hits)) if number not in firsts.values())
    return [hits[number] for number in sorted([*firsts.values(), *others][:_MOST])]


class _PromptTexts:
    """The texts of a prompt by item and message, each with its folded form, to be searched several times."""

    def __init__(self, prompt: Prompt, window: Window) -> None:
        self.prompt, self.window = prompt, window
        self.all = [
            (item, number, text, fold(text))
            for item in prompt.manifest.items
            for number, text in self._texts_of(item)
        ]

    def _texts_of(self, item: ManifestItem) -> Iterator[tuple[int, str]]:
        if item.start is not None:
            yield item.first, self.prompt.text_of(item)
            return
        for number in range(item.first, item.end):
            yield number, "\n".join(texts_of(self.prompt.messages[number]))


class _PromptSearch:
    """Explains words in one prompt. `record` is the log's; None: the prompt was made for this question."""

    def __init__(self, parts: Needs, texts: _PromptTexts, record: Record | None, trail: Trail) -> None:
        self._parts = parts
        self._texts = texts
        self._prompt = texts.prompt
        self._record = record
        self._needle = trail.needle
        self._trail = trail

    def hits(self, page: str | None = None) -> list[_Hit]:
        """Find the words in the prompt, each line once; with a page, only in what was made of it."""
        found: dict[tuple[int, str, int], _Hit] = {}
        for item, number, text, folded in self._texts.all:
            if self._needle.folded not in folded or (page is not None and not is_from_page(item, page)):
                continue
            for place in self._needle.places_in(text):
                key = number, item.id, text.rfind("\n", 0, place[0])
                found.setdefault(key, _Hit(item, number, text, place))
        return list(found.values())

    def steps(self, hit: _Hit) -> Iterator[Step]:
        item = hit.item
        yield Step(item.slot, item.id, f"{item.reason}, {item.tokens:,} tokens as {item.format}")
        if item.layer:
            yield from deepen(self._follow_layer(hit))
            return
        by_slot = {
            "charter": self._follow_page,
            "profile": self._follow_page,
            "state": self._follow_state,
            "essentials": self._follow_essential,
            "index": self._follow_listed,
            "episodes": self._follow_episode,
        }
        others = self._follow_change if item.type == "changes" else self._follow_talk
        yield from deepen(by_slot.get(item.slot, others)(hit))

    def _follow_layer(self, hit: _Hit) -> Iterator[Step]:
        """Follow a line of a farther layer, in that memory."""
        names = {name.partition(":")[2] for name in hit.item.of}
        shown = strip_bullet(hit.line).rstrip("…")

        def follow(far: Needs) -> list[Step]:
            trail = Trail(far, self._needle)
            facts = [fact for fact in trail.facts if fact.id in names]
            said = (fact for fact in facts if strip_bullet(words_of(fact)).startswith(shown))
            fact = next(said, None)
            own = list(trail.fact(fact)) if fact is not None else []
            return [Step("layer", hit.item.layer, far.context.name), *deepen(own)]

        found = dict(self._parts.farther(follow))
        yield from found.get(hit.item.layer, [Step("layer", hit.item.layer, "it cannot be read now")])

    def _follow_page(self, hit: _Hit) -> Iterator[Step]:
        path, _, revision = hit.item.of[0].rpartition("@")
        if hit.item.slot != "charter":
            yield from self._trail.page(path, revision, hit.line)
            return
        steps = self._trail.page(path, revision, hit.line, to_facts=False)
        yield from (step for step in steps if step.what in ("page", "changed since"))
        yield from deepen(self._trail.last_edit(path, revision))

    def _follow_state(self, hit: _Hit) -> Iterator[Step]:
        """Follow the member that says it, and the edit of the state that brought it."""
        revision = hit.item.of[0].rpartition("@")[2] if hit.item.of else ""
        name, value = self._find_member(self._trail.revision_of(STATE, revision)[1])
        yield Step("state", f"{STATE}: {name}" if name else STATE, self._needle.excerpt(value or hit.line))
        yield from deepen(self._follow_state_edit(value, revision))

    def _follow_state_edit(self, value: str, revision: str | None) -> Iterator[Step]:
        """Follow the edit since which the state has this value."""
        wanted = Needle(value)

        def brings(edit: Edit) -> bool:
            added = "".join(line for hunk in edit.hunks for line in hunk.added)
            removed = "".join(line for hunk in edit.hunks for line in hunk.removed)
            return bool(value) and wanted.is_in(added) and not wanted.is_in(removed)

        return self._trail.last_edit(STATE, revision, brings)

    def _find_member(self, text: str | None) -> tuple[str, str]:
        try:
            told = for_prompt(json.loads(text or "{}"))
        except (ValueError, RecursionError, TypeError, AttributeError):
            return "", ""
        for name, value in _list_values(told):
            if self._needle.is_in(value) or self._needle.is_in(f"{name.rpartition(' ')[2]}: {value}"):
                return name, value
        return "", ""

    def _follow_essential(self, hit: _Hit) -> Iterator[Step]:
        shown = [fact for fact in self._trail.facts_saying() if fact.id in hit.item.of]
        same = [fact for fact in shown if strip_bullet(words_of(fact)) == strip_bullet(hit.line)]
        near = [fact for fact in shown if self._needle.is_in(words_of(fact))]
        for fact in [*same, *near][:1]:
            yield from self._trail.fact(fact)

    def _follow_listed(self, hit: _Hit) -> Iterator[Step]:
        names = [path for path in hit.item.of if path.casefold() in strip_bullet(hit.line)]
        # If all names stand on one line, take the one with the words.
        for path in sorted(names, key=lambda name: (not self._needle.is_in(name), -len(name)))[:1]:
            if ":" in path:  # a page of a layer: its name alone is shown
                yield Step("page", path, "it is listed to be read")
                continue
            page = self._parts.pages.page(path)
            number, line = self._trail.line_of(page.text, page.summary or "")
            where = f"{path}:{number}" if number else path
            yield Step("page", where, self._needle.excerpt(line or page.summary or "it is listed to be read"))
            yield from deepen(self._trail.edit_of(path, line) if number else self._trail.last_edit(path))

    def _follow_episode(self, hit: _Hit) -> Iterator[Step]:
        for name in hit.item.of:
            path, _, at = name.rpartition(":")
            page = self._parts.pages.page(path)
            episode = next((each for each in page.episodes if str(each.line) == at), None)
            if episode is None:
                continue
            own = page.parsed.lines[episode.line - 1 : episode.end]
            for number, line in enumerate(own, episode.line):
                if self._needle.is_in(line):
                    yield Step("page", f"{path}:{number}", self._needle.excerpt(line))
                    entry = episode.get("Entry")
                    yield from deepen(self._trail.entry(entry) if entry else self._trail.edit_of(path, line))
                    return

    def _follow_change(self, hit: _Hit) -> Iterator[Step]:
        """Follow a change to its page, and the edit that made it."""
        line, path = hit.line.strip(), hit.heading()
        if line.removesuffix(":") in hit.item.of:  # the heading itself
            path = line.removesuffix(":")
        if path not in hit.item.of:  # a line about pages that came or went
            named = [each for each in hit.item.of if each in line]
            for page in named[:1]:
                yield Step("page", page, self._needle.excerpt(line))
                yield from deepen(self._trail.last_edit(page))
            return
        yield Step("page", path, self._needle.excerpt(line))
        if path == STATE:
            yield from deepen(self._follow_state_edit(self._needle.text, None))
            return
        told = _TOLD.match(line)
        if told is not None:
            own = strip_bullet(told[2])
            yield from deepen(self._trail.edit_of(path, told[2], gone=told[1] != "now"))
            facts = self._trail.facts_saying(own)
            fact = next((fact for fact in facts if strip_bullet(words_of(fact)) == own), None)
            yield from deepen(self._trail.fact(fact)) if fact is not None else ()

    def _follow_talk(self, hit: _Hit) -> Iterator[Step]:
        is_request = self._record is not None and self._record["task"] is not None
        if hit.item.slot == "task" and is_request:
            yield Step("task", "", "the request itself: it was not recorded when the prompt was made")
            return
        own = [
            number
            for item in self._prompt.manifest.items
            if item.slot in ("window", "task") and item.type != "changes"
            for number in range(item.first, item.end)
        ]
        own = own[: len(own) - is_request]
        window = self._texts.window
        if self._record is None:
            skipped = len(window.messages) - len(own)
        else:
            skipped = int((self._record.get("trimmed") or {}).get("first", 0))
        at = own.index(hit.message) + skipped
        if at < window.begins:
            yield from self._follow_snapshot(window)
        else:
            traces = [trace for trace in window.traces if window.after(trace.id) == at + 1]
            yield from self._trail.spoken(traces) or [self._trail.trace(trace) for trace in traces[:1]]

    def _follow_snapshot(self, window: Window) -> Iterator[Step]:
        """Follow what a compaction left: a turn as it was, an entry's summary, or a sentence to keep."""
        tail = self._trail.spoken(window.tail)
        if tail:
            yield from tail
            return
        episodic = window.mark.episodic if window.mark is not None else ()
        named = [entry for entry, text in episodic if self._needle.is_in(text)]
        # A kept sentence may come from any earlier compaction: take the last that has the words.
        trails = (tuple(self._trail.entry(entry)) for entry in (*named, *self._trail.compactions()))
        first = next(trails, ())
        yield from first if _has_trace(first) else next(filter(_has_trace, trails), first)


def _has_trace(steps: Sequence[Step]) -> bool:
    return any(step.what == "trace" and step.where for step in steps)


def _list_values(told: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the values of a state, each with its name."""
    for name, value in told.items():
        if isinstance(value, list):
            for each in value:
                members = each if isinstance(each, dict) else {"": each}
                title = members.get("id") or ""
                yield from ((f"{name} {title}".strip(), str(own)) for own in members.values())
        elif isinstance(value, dict):
            yield from ((f"{name}.{key}", str(each)) for key, each in value.items())
        else:
            yield name, str(value)
