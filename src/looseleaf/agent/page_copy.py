"""An overlay: what pages would say if a model's changes were made, and what these changes claim.

Pages are read from the memory when they are first asked for, and only ever changed here: the folder is not touched.
What stands on a page afterwards and did not before is read off by the page grammar as proposals, each with the words
of the talk that bear it out, where there are such. What becomes of a proposal is the gate's to decide.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused, Stale
from looseleaf.base.hashing import sha256
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Proposal
from looseleaf.base.origins import LEVELS, level_of
from looseleaf.base.paths import PROFILE, page_path, why_sealed
from looseleaf.base.values import ANY
from looseleaf.facts.gate import claim_of
from looseleaf.language.own_words import own_words
from looseleaf.language.relations import slot
from looseleaf.language.sentences import pieces
from looseleaf.log.trace_messages import said
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
"""Characters of a sentence that is quoted whole."""

_READ = 16_000
"""Characters of a page that are read at once."""

_EPISODE = ("summary", "problem", "task", "solution", "lesson")


@frozen
class Changed:
    """A page before and after."""

    path: str
    before: str
    after: str


class Overlay:
    """The tools of seed 002 on pages that are only thought of. What they refuse they say as the real ones do."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._before: dict[str, str] = {}
        self._now: dict[str, str] = {}

    def changes(self) -> list[Changed]:
        return [
            Changed(path, self._before[path], text)
            for path, text in self._now.items()
            if text != self._before[path]
        ]

    # --- the tools ---------------------------------------------------------------------

    def read(self, path: str, from_line: int = 1) -> dict[str, Any]:
        """A page from a line on; one that a model may not read, or that is not there, is refused."""
        path = self._known(path)
        if not self._now[path]:
            readable(self._memory, path)  # it says why not, and which pages there are
        lines = split_lines(self._now[path])
        end = from_line - 1
        room = _READ
        while end < len(lines) and (room := room - len(lines[end])) >= 0:
            end += 1
        content = "".join(lines[from_line - 1 : end]) or "".join(lines[end : end + 1])[:_READ]
        more = {"next_line": max(end, from_line) + 1} if max(end, from_line) < len(lines) else {}
        return {"path": path, "content": content, "sha256": self._sha256(path)} | more

    def write(self, path: str, content: str, base: str | None = ANY) -> dict[str, Any]:
        path = self._writable(path, base)
        if not content.strip():
            raise Refused(f"{path} was not changed: the content is empty. memory_patch takes lines away.")
        return self._change(path, without_summary(path, content)[0])

    def patch(self, path: str, patches: Sequence[dict[str, str]], base: str | None = ANY) -> dict[str, Any]:
        path = self._writable(path, base)
        if not patches or not self._now[path]:
            why = "there are no patches" if not patches else "there is no such page. memory_write makes one"
            raise Refused(f"{path} was not changed: {why}.")
        pairs = [(each["oldText"], each["newText"]) for each in patches]
        return self._change(path, patched(path, self._now[path], pairs)) | {"appliedCount": len(pairs)}

    def append(self, path: str, entry: str, summary: str = "") -> dict[str, Any]:
        """`summary` is taken and left: the program keeps a page's summary line."""
        path = self._writable(path, ANY)
        if not entry.strip():
            raise Refused(f"{path} was not changed: the entry is empty. Give a block of Markdown.")
        if drawer(path) == "episodes" and (told := self.episodes()):
            raise Refused(
                f"{path} was not changed: “{told[-1].title}” is told already, and one task is one episode. "
                "Use memory_patch to change what is told of it."
            )
        return self._change(path, appended(self._memory, path, self._now[path], entry))

    def _known(self, path: str) -> str:
        """The page's one name. What is about the user stands at the top of the folder, unless it has a page too."""
        path = page_path(path)
        if path == _ABOUT_THE_USER and not self._text(path):
            path = PROFILE
        self._text(path)
        return path

    def _text(self, path: str) -> str:
        if path not in self._now:
            is_hidden = path.startswith("review/")
            self._before[path] = self._now[path] = "" if is_hidden else self._memory.pages.read(path).text
        return self._now[path]

    def _writable(self, path: str, base: str | None) -> str:
        path = self._known(path)
        why = why_sealed(path)
        if why is not None:
            raise Refused(f"{path} was not changed: {why}.")
        if base not in (ANY, self._sha256(path)):
            raise Stale(path, base, self._sha256(path))
        return path

    def _sha256(self, path: str) -> str | None:
        text = self._now[path]
        return sha256(text.encode("utf-8", "surrogatepass")) if text else None

    def _change(self, path: str, text: str) -> dict[str, Any]:
        refuse_long(self._memory, path, text, before=self._now[path])
        self._now[path] = text
        return {"success": True, "path": path, "sha256": self._sha256(path)}

    # --- what they claim ---------------------------------------------------------------

    def episodes(self) -> list[Episode]:
        """Those that were not there before."""
        found: list[Episode] = []
        for change in self.changes():
            if drawer(change.path) == "episodes":
                old = {(each.title, each.fields) for each in parse(change.path, change.before).episodes}
                new = parse(change.path, change.after).episodes
                found += [each for each in new if (each.title, each.fields) not in old]
        return found

    def episode(self) -> dict[str, str] | None:
        """The last new one, as a distiller tells it."""
        told = self.episodes()
        if not told:
            return None
        members = {name: told[-1].get(name) for name in _EPISODE}
        return {"title": told[-1].title} | {name: value for name, value in members.items() if value}

    def proposals(self, traces: Iterable[Trace]) -> list[Proposal]:
        """What the pages say more, or differently. A line that is only gone claims nothing."""
        words = _Spoken(traces)
        return [
            words.borne_out(proposal)
            for change in self.changes()
            if drawer(change.path) == "facts"
            for proposal in _claimed(change)
        ]


def _claimed(change: Changed) -> list[Proposal]:
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
        topic = topic_of(change.path)
        made.append(
            Proposal(
                fact.relation, fact.object, fact.object, topic, fact.kind, correction=was is not None, was=was
            )
        )
    return made


class _Spoken:
    """What was said, the most believable first, of the same level the newest: for looking up who says a thing."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        spoken = [(LEVELS.index(level_of(trace.origin)), trace) for trace in traces]
        self._traces = [trace for _, trace in sorted(spoken, key=lambda each: (-each[0], -each[1].ts))]

    def borne_out(self, proposal: Proposal) -> Proposal:
        """With the sentence that says it, and where that stands; else with its object alone, which proves nothing."""
        claim = claim_of(proposal)
        for trace in self._traces:
            text = trace.content or said(trace)
            own = own_words(text) if trace.origin == "user" else text
            if claim.is_said_in(own, trace.ts):
                sentences = (piece.text for piece in pieces(own) if piece.kind == "sentence")
                saying = (each for each in sentences if claim.is_said_in(each, trace.ts))
                quote = next(saying, "") or own.strip()[:_LONGEST]
                return _but(proposal, quote=quote, source=trace.id)
        return proposal


def _but(proposal: Proposal, **changed: Any) -> Proposal:
    return Proposal(**{name: getattr(proposal, name) for name in Proposal.__match_args__} | changed)
