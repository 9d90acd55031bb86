"""Copies of pages that a model may change, and the claims that its changes make.

Pages are read from the memory on first use and only changed here: the folder stays untouched. The page grammar reads
what a changed page adds as proposals, each with the words of the talk that support it, if there are any. The gate
decides on each proposal.
"""

from __future__ import annotations

from looseleaf.base.errors import Invalid, Refused, Stale
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.messages import Proposal
from looseleaf.base.origins import LEVELS, level_of
from looseleaf.base.paths import PROFILE, page_path, why_sealed
from looseleaf.base.values import ANY, sha256
from looseleaf.facts.gate import claim_of
from looseleaf.language.own_words import strip_pasted
from looseleaf.language.relations import slot
from looseleaf.language.sentences import pieces
from looseleaf.log.turns import trace_text
from looseleaf.pages.grammar import drawer, parse, topic_of
from looseleaf.text.diff import patched, split_lines
from looseleaf.tools.page_tools import appended, readable, refuse_long, without_summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Episode, Fact
    from looseleaf.memory import Memory

_ABOUT_THE_USER = "facts/user.md"
_LONGEST = 300
"""Characters of the longest quote."""

_READ = 16_000
"""Characters of a page that one read returns."""

_EPISODE = ("summary", "problem", "task", "solution", "lesson")


@frozen
class Changed:
    """A page before and after."""

    path: str
    before: str
    after: str


class Overlay:
    """The page tools of seed 002, on copies. They refuse with the sentences of the real ones."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._before: dict[str, str] = {}
        self._now: dict[str, str] = {}

    def changes(self) -> list[Changed]:
        every = (Changed(path, self._before[path], text) for path, text in self._now.items())
        return [each for each in every if each.before != each.after]

    def read(self, path: str, from_line: int = 1) -> dict[str, Any]:
        """Return a page from a line on. Refuse one that a model may not read or that does not exist."""
        path = self._resolve_path(path)
        if not self._now[path]:
            readable(self._memory, path)  # refuses, with the reason and the existing pages
        lines = split_lines(self._now[path])
        end = from_line - 1
        room = _READ
        while end < len(lines) and (room := room - len(lines[end])) >= 0:
            end += 1
        content = "".join(lines[from_line - 1 : end]) or "".join(lines[end : end + 1])[:_READ]
        more = {"next_line": max(end, from_line) + 1} if max(end, from_line) < len(lines) else {}
        return {"path": path, "content": content, "sha256": self._sha256(path)} | more

    def write(self, path: str, content: str, base: str | None = ANY) -> dict[str, Any]:
        path = self._check_writable(path, base)
        if not content.strip():
            raise Invalid(f"{path} was not changed: the content is empty. memory_patch takes lines away.")
        return self._set_text(path, without_summary(path, content)[0])

    def patch(self, path: str, patches: Sequence[dict[str, str]], base: str | None = ANY) -> dict[str, Any]:
        path = self._check_writable(path, base)
        if not patches or not self._now[path]:
            why = "there are no patches" if not patches else "there is no such page. memory_write makes one"
            raise Refused(f"{path} was not changed: {why}.")
        pairs = [(each["oldText"], each["newText"]) for each in patches]
        return self._set_text(path, patched(path, self._now[path], pairs)) | {"appliedCount": len(pairs)}

    def append(self, path: str, entry: str, summary: str = "") -> dict[str, Any]:
        """Append an entry. `summary` is ignored: the program keeps a page's summary line."""
        path = self._check_writable(path, ANY)
        if not entry.strip():
            raise Invalid(f"{path} was not changed: the entry is empty. Give a block of Markdown.")
        if drawer(path) == "episodes" and (told := self.episodes()):
            raise Refused(
                f"{path} was not changed: “{told[-1].title}” is told already, and one task is one episode. "
                "Use memory_patch to change what is told of it."
            )
        return self._set_text(path, appended(self._memory, path, self._now[path], entry))

    def _resolve_path(self, path: str) -> str:
        """Return the page's canonical path. Facts about the user are in the profile, unless they have a page too."""
        path = page_path(path)
        if path == _ABOUT_THE_USER and not self._load_text(path):
            path = PROFILE
        self._load_text(path)
        return path

    def _load_text(self, path: str) -> str:
        if path not in self._now:
            is_hidden = path.startswith("review/")
            self._before[path] = self._now[path] = "" if is_hidden else self._memory.pages.read(path).text
        return self._now[path]

    def _check_writable(self, path: str, base: str | None) -> str:
        path = self._resolve_path(path)
        why = why_sealed(path)
        if why is not None:
            raise Refused(f"{path} was not changed: {why}.")
        if base not in (ANY, self._sha256(path)):
            raise Stale(path, base, self._sha256(path))
        return path

    def _sha256(self, path: str) -> str | None:
        text = self._now[path]
        return sha256(text.encode("utf-8", "surrogatepass")) if text else None

    def _set_text(self, path: str, text: str) -> dict[str, Any]:
        refuse_long(self._memory, path, text, before=self._now[path])
        self._now[path] = text
        return {"success": True, "path": path, "sha256": self._sha256(path)}

    def episodes(self) -> list[Episode]:
        """Return the new episodes."""
        found: list[Episode] = []
        for change in self.changes():
            if drawer(change.path) == "episodes":
                old = {(each.title, each.fields) for each in parse(change.path, change.before).episodes}
                new = parse(change.path, change.after).episodes
                found += [each for each in new if (each.title, each.fields) not in old]
        return found

    def episode(self) -> dict[str, str] | None:
        """Return the last new episode, as a distiller reports it."""
        told = self.episodes()
        if not told:
            return None
        members = {name: told[-1].get(name) for name in _EPISODE}
        return {"title": told[-1].title} | {name: value for name, value in members.items() if value}

    def proposals(self, traces: Iterable[Trace]) -> list[Proposal]:
        """Return what the pages add or change. A line that is only gone claims nothing."""
        words = _Quotes(traces)
        return [
            words.add_quote(proposal)
            for change in self.changes()
            if drawer(change.path) == "facts"
            for proposal in _proposals_of(change)
        ]


def _proposals_of(change: Changed) -> list[Proposal]:
    before, after = (parse(change.path, text).facts for text in (change.before, change.after))
    stood = {(fact.relation, fact.object) for fact in before}
    stands = {(fact.relation, fact.object) for fact in after}
    gone: dict[str, list[Fact]] = {}
    for fact in before:
        if (fact.relation, fact.object) not in stands:
            gone.setdefault(slot("", fact.relation), []).append(fact)
    made: list[Proposal] = []
    for fact in after:
        if (fact.relation, fact.object) in stood:
            continue
        replaced = gone.get(slot("", fact.relation), [])
        was = replaced.pop(0).object if replaced else None
        own = (fact.relation, fact.object, fact.object, topic_of(change.path), fact.kind)
        made.append(Proposal(*own, correction=was is not None, was=was))
    return made


class _Quotes:
    """The talk, the most trusted origin first, then the newest: to look up who said a thing."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        spoken = [(LEVELS.index(level_of(trace.origin)), trace) for trace in traces]
        self._traces = [trace for _, trace in sorted(spoken, key=lambda each: (-each[0], -each[1].ts))]

    def add_quote(self, proposal: Proposal) -> Proposal:
        """Return the proposal with the sentence that supports it and its source; else as it is: its object alone proves
        nothing."""
        claim = claim_of(proposal)
        for trace in self._traces:
            text = trace.content or trace_text(trace)
            own = strip_pasted(text) if trace.origin == "user" else text
            if claim.is_said_in(own, trace.ts):
                sentences = (piece.text for piece in pieces(own) if piece.kind == "sentence")
                saying = (each for each in sentences if claim.is_said_in(each, trace.ts))
                quote = next(saying, "") or own.strip()[:_LONGEST]
                members = members_of(proposal)
                return Proposal(**members | {"quote": quote, "source": trace.id})
        return proposal
