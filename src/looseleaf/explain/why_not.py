"""Why words are not in a prompt. They are searched in facts, pages and traces. The manifest's omissions give the
reason; words that came later are reported as later, and unknown ones as nowhere.
"""

from __future__ import annotations

import re
from itertools import chain, islice

from looseleaf.base.errors import NotFound, Refused
from looseleaf.base.messages import Trace
from looseleaf.base.paths import REVIEW, STATE, TOP_PAGES
from looseleaf.explain.trail import Needle, Step, Trail, deepen, words_of
from looseleaf.index.said import parts_of
from looseleaf.log.recorder import stream_of
from looseleaf.log.said_lines import lines_with
from looseleaf.log.talk_streams import agent_of, machine_of, own_talk, talk_elsewhere
from looseleaf.log.turns import find_by_id, trace_text, turn_number
from looseleaf.text.diff import split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.base.values import Fact, LogLine, Record
    from looseleaf.explain.sources import Needs
    from looseleaf.prompt.manifest import ManifestItem, Omitted, Prompt

    Steps = tuple[Step, ...]


_MOST = 5
"""Most answers; more are counted."""

WHY = {
    "over_budget": "there was no room for it within the budget",
    "already_shown": "it is said elsewhere in the prompt",
    "further_down": "there are more pages than an index lists",
    "only_searched": "days are never loaded, only searched",
    "compacted": "it left the window, and is told in short",
    "not_distilled": "it left a window that was too long to read, and waits in the log to be distilled",
    "waits_for_a_person": "what waits in review reaches no model before a person says yes",
}
"""What a manifest's reasons mean."""

_NEVER = {"days/": "only_searched", "review/": "waits_for_a_person"}
"""Folders that no prompt shows."""


class Absent:
    """Explains words that one prompt lacks, or one page in it. `record` is the log's; None: the prompt was made for
    this question."""

    def __init__(self, parts: Needs, prompt: Prompt, record: Record | None, trail: Trail) -> None:
        self._parts = parts
        self._manifest = prompt.manifest
        self._record = record
        self._needle = trail.needle
        self._trail = trail

    def chains(self, page: str | None = None) -> tuple[list[Steps], int]:
        """Return the answers, likeliest first, and how many more there are. With a page: why its line is absent."""
        if page is not None:
            return [tuple(steps) for steps in self._explain_pages(page)], 0
        # All are counted, and few are followed.
        found = [
            *self._explain_facts(),
            *self._explain_pages(),
            *islice(self._explain_traces(), _MOST),
            *islice(self._explain_other_agents(), _MOST),
        ]
        if not found:
            told = "No page, fact or trace of this memory has these words."
            return [(Step("nowhere", "", told),)], 0
        return [tuple(steps) for steps in found[:_MOST]], max(0, len(found) - _MOST)

    def _explain_facts(self) -> Iterator[Iterator[Step]]:
        facts = self._trail.facts_asked_for
        if not facts:
            some = self._trail.facts_with_its_words()
            facts = [fact for fact in some if self._needle.has_its_words(words_of(fact))]
        return map(self._explain_fact, facts)

    def _explain_fact(self, fact: Fact) -> Iterator[Step]:
        yield from self._explain_absence(fact)
        yield from deepen(self._trail.fact(fact))

    def _explain_absence(self, fact: Fact) -> Iterator[Step]:
        match fact.status:
            case "current":
                yield from self.left_out("fact", fact.id or "", fact.path or "")
            case "pending":
                told = f"{WHY['waits_for_a_person']}: looseleaf approve {fact.id}"
                yield Step("waits_for_a_person", REVIEW, told)
            case "superseded":
                since = f" since {fact.valid_to}" if fact.valid_to else ""
                by = self._find_successor(fact)
                told = (
                    f"“{self._needle.excerpt(words_of(by))}” stands in its place"
                    if by
                    else "it is no longer true"
                )
                yield Step("superseded", (by or fact).id or "", f"{told}{since}")
            case _:
                yield Step(fact.status, fact.id or "", f"a person rejected it: looseleaf history {fact.id}")

    def _find_successor(self, fact: Fact) -> Fact | None:
        """Return the fact that stands in place of another: mostly it is of the same topic."""
        if not fact.superseded_by:
            return None
        lists = (self._parts.notebook.of_topics(topics) for topics in ({fact.topic}, None))
        return next((each for facts in lists for each in facts if each.id == fact.superseded_by), None)

    def left_out(self, what: str, name: str, path: str) -> Iterator[Step]:
        """Explain by its own name, else by its page: left out, listed to be read, or newer than the prompt."""
        left = [each for each in self._manifest.omitted if each.reason != "already_shown"]
        own = [each for each in left if name in each.of] + [each for each in left if path in each.of]
        told = [self._step_of_omitted(each) for each in dict.fromkeys(own)]
        if any(item.slot == "index" and path in item.of for item in self._manifest.items):
            listed = f"its page {path} is listed in the prompt, to be read on demand"
            told.append(Step("read_on_demand", f"index: {path}", listed))
        for head, reason in _NEVER.items():
            if not told and path.startswith(head):
                told.append(Step(reason, path, WHY[reason]))
        for item in self._manifest.items:
            if item.type == "changes" and path in item.of and not told:
                is_named = "/" in path
                why = f"the changes on {path} are listed there, and this {what} is not one of them"
                why = f"its page {path} is named in the prompt, to be read on demand" if is_named else why
                told.append(Step("read_on_demand" if is_named else "changed_since", item.id, why))
        if not told:
            slot = "profile" if path == "USER.md" else "state" if path == STATE else "index"
            told = self.find_cut(slot)[:1]
        yield from told or [self._explain_later(what, path)]

    def find_cut(self, slot: str) -> list[Step]:
        """Return what of a slot was over budget."""
        wanted = slot, "over_budget"
        found = (each for each in self._manifest.omitted if (each.slot, each.reason) == wanted)
        return [self._step_of_omitted(each) for each in found]

    def _explain_later(self, what: str, path: str) -> Step:
        """Explain a page or its part that came after the beginning was rendered."""
        if self._record is not None:
            began = self._parts.prompts.log.epoch(self._record["snapshot"]).ts
            if self._parts.pages.page_as_of(path, began).sha256 is None:
                return Step("later", path, f"there was no page {path} when the prompt began")
        return Step("later", path, f"this {what} is not what {path} said when the prompt began")

    @staticmethod
    def _step_of_omitted(each: Omitted) -> Step:
        return Step(each.reason, f"{each.slot}: {each.id}", WHY.get(each.reason, each.reason))

    def _explain_pages(self, only: str | None = None) -> Iterator[Iterator[Step]]:
        """Yield lines that are not facts, which are explained already. `only`: any line of one page."""
        told: set[tuple[str | None, int | None]] = set()
        is_waiting = False
        if only is None:
            told = {(fact.path, fact.line) for fact in self._trail.facts_asked_for}
            is_waiting = bool(self._parts.notebook.facts(status="pending"))
        for path in [only] if only is not None else sorted(self._trail.likely_pages(), key=_sort_key):
            if path.startswith("review/") and is_waiting:
                continue
            try:
                page = self._parts.pages.page(path)
            except Refused as refused:
                self._parts.context.note(str(refused))
                continue
            number, line = self._trail.line_of(page.text, "")
            if number and (path, number) not in told:
                yield self._explain_line(path, number, line)

    def _explain_line(self, path: str, number: int, line: str) -> Iterator[Step]:
        yield from self.left_out("line", path, path)
        yield from deepen([Step("page", f"{path}:{number}", self._needle.excerpt(line))])
        yield from deepen(self._trail.edit_of(path, line), 2)

    def _find_traces(self, stream: str) -> Iterator[tuple[Trace, LogLine]]:
        """Yield the traces that have the words, newest first."""
        for line in lines_with(self._parts.context.store, stream, parts_of(self._needle.text)):
            trace = Trace.from_record(line.record)
            if trace is not None and self._needle.is_in(trace_text(trace)):
                yield trace, line

    def _explain_traces(self) -> Iterator[Iterator[Step]]:
        """Yield talk outside the window: it left, did not fit, or was said after the prompt was made."""
        store, stream = self._parts.context.store, stream_of(self._parts.context.agent)
        through = self._record["through"] if self._record is not None else None
        last: LogLine | None = None
        for trace, line in self._find_traces(stream):
            if through is not None and last is None:
                last = find_by_id(store, stream, through)
            is_later = through is not None and (last is None or line.position > last.position)
            yield self._explain_trace(trace, is_later=is_later)

    def _explain_trace(self, trace: Trace, *, is_later: bool) -> Iterator[Step]:
        if is_later:
            yield Step("later", "", "it was said after the prompt was made")
        else:
            yield from self._explain_compacted(trace)
        yield from deepen([self._trail.trace(trace)])

    def _explain_other_agents(self) -> Iterator[Iterator[Step]]:
        """Yield talk with other agents, or on other machines, or imported: recall finds it, and no prompt of this agent
        here shows it."""
        own, store = self._parts.context.agent, self._parts.context.store
        steps: list[tuple[str, Step]] = []
        for stream in sorted(own_talk(store)):
            agent = agent_of(stream)
            told = f"it was recorded for the agent {agent}, and a prompt for {own} shows what was said with {own}"
            steps += [(stream, Step("another_agent", agent, told))] if agent != own else []
        for stream in talk_elsewhere(store):
            machine = machine_of(stream)
            told = (
                f"it was recorded on {machine}, and a prompt shows the talk on the machine that it is made on"
            )
            steps.append((stream, Step("another_machine", machine, told)))
        for stream, step in steps:
            for trace, _ in self._find_traces(stream):
                yield chain([step], deepen([self._trail.trace(trace)]))

    def _explain_compacted(self, trace: Trace) -> Iterator[Step]:
        for name in self._trail.compactions():
            try:
                entry = self._parts.conversation.entry(name)
                has = _may_contain(entry.meta.get("traces"), trace.id) and any(
                    each.id == trace.id for each in self._parts.conversation.expand(name)
                )
            except Refused as refused:
                self._parts.context.note(str(refused))
                continue
            if has:
                told = f"it left the window, and is part of this entry now: looseleaf expand {name.rpartition('/')[2]}"
                yield Step("compacted", f"log/entries/{name}", told)
                return
        window = {each.reason: each for each in self._manifest.omitted if each.slot == "window"}
        waits = window.get("not_distilled")
        if waits is not None and len(waits.of) == 2 and _is_between(trace.turn_id, *waits.of):
            yield self._step_of_omitted(waits)
        elif "over_budget" in window:
            yield self._step_of_omitted(window["over_budget"])
        else:
            told = "it is in the log, and the window of this prompt shows another part of it"
            yield Step("window", "", told)

    def page_chains(self, path: str) -> tuple[bool, list[Steps]]:
        """Return whether the prompt shows or names a page, and the trails that lead to it."""
        items = [item for item in self._manifest.items if is_from_page(item, path)]
        found = [tuple(self._explain_item(item, path)) for item in items]
        return (True, found) if found else (False, [tuple(self._explain_page_absence(path))])

    def _explain_item(self, item: ManifestItem, path: str) -> Iterator[Step]:
        revision = next((each.rpartition("@")[2] for each in item.of if each.startswith(f"{path}@")), None)
        yield Step(item.slot, item.id, f"{item.reason}, {item.tokens:,} tokens as {item.format}")
        match item.slot:
            case "index":
                told = self._parts.pages.page(path).summary or "it is listed to be read"
            case "episodes":
                told = "its last episodes are shown"
            case "window":
                told = "its changes are listed" if "/" not in path else "it is listed as added or removed"
            case _:
                told = _SHOWN.get(item.format, f"it is shown as {item.format}")
        cut = self.find_cut(item.slot) if item.slot in ("profile", "state") else []
        yield Step("page", path, "it is shown in part" if cut else told, 1)
        yield from deepen(cut, 2)
        if revision and self._trail.revision_of(path, revision)[0] != self._parts.pages.page(path).sha256:
            yield Step("changed since", path, "it says something else now", 2)
        yield from deepen(islice(self._trail.last_edit(path, revision), 1), 2)

    def _explain_page_absence(self, path: str) -> Iterator[Step]:
        page = self._parts.pages.page(path)
        if not page.text.strip() or (path == STATE and page.text.split() == ["{}"]):
            yield Step("page", path, "it says nothing")
            return
        yield from self.left_out("page", path, path)
        yield Step("page", path, "it is not shown", 1)
        yield from deepen(islice(self._trail.last_edit(path), 1), 2)


def _may_contain(runs: object, name: str) -> bool:
    """True if a trace can be in these runs of the log: ids sort by time."""
    return isinstance(runs, list) and any(
        isinstance(run, list) and len(run) == 4 and str(run[2]) <= name <= str(run[3]) for run in runs
    )


def _sort_key(path: str) -> tuple[int, str]:
    """Sort the top of the folder first, days and review last."""
    order = ("facts/", "episodes/", "days/", "review/")
    if path in TOP_PAGES or path == STATE:
        return 0, path
    return next((number for number, head in enumerate(order, 1) if path.startswith(head)), 0), path


_LINE = re.compile(r"(.+\.(?:md|json)):([0-9]{1,7})")

_SHOWN = {
    "markdown": "it is shown whole",
    "json": "it is shown whole",
    "toon": "it is shown whole, as a table",
    "lines": "its facts are shown",
}


def find_page(parts: Needs, text: str) -> tuple[str, str | None] | None:
    """Return the page that a text names (`USER.md`), and its line (`USER.md:3`) if any; None if it is words."""
    text = text.strip()
    pages = parts.pages.paths()
    if text in pages:
        return text, None
    found = _LINE.fullmatch(text)
    if found is None or found[1] not in pages:
        return None
    lines = split_lines(parts.pages.page(found[1]).text)
    number = int(found[2])
    if not 1 <= number <= len(lines):
        raise NotFound(
            f"{found[1]} has {len(lines):,} line{'s' * (len(lines) != 1)}, and no line "
            f"{number:,}. `looseleaf show {found[1]}` shows it."
        )
    line = lines[number - 1].strip()
    return found[1], line if Needle(line).folded else None


def is_from_page(item: ManifestItem, path: str) -> bool:
    """True if an item was made of a page: of a revision of it, a part of it, or as one of several."""
    return any(each == path or each.startswith((f"{path}@", f"{path}:")) for each in item.of)


def _is_between(turn: str, first: str, last: str) -> bool:
    number = turn_number(turn)
    return number is not None and (turn_number(first) or 0) <= number <= (turn_number(last) or 0)
