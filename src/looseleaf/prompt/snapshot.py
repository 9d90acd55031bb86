"""Gather: what there is to show of a memory, read from its folder."""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.hashing import sha256
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import is_trusted
from looseleaf.base.paths import PROFILE, STATE, USER
from looseleaf.facts.truth import true_at
from looseleaf.pages.line_edits import unsigned
from looseleaf.prompt import slot_forms as shown
from looseleaf.prompt.manifest import Item, Omitted
from looseleaf.text import untrusted
from looseleaf.views.essentials import rank, said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Protocol

    from looseleaf.base.values import Episode
    from looseleaf.facts.known_facts import Facts
    from looseleaf.log.trace_messages import Mark
    from looseleaf.pages.pages import Pages
    from looseleaf.prompt.slot_forms import Shown
    from looseleaf.state.state import State
    from looseleaf.store.context import Context
    from looseleaf.views.build import Topics
    from looseleaf.views.page_index import Listing

    class Needs(Protocol):
        @property
        def known(self) -> Facts: ...
        @property
        def page_index(self) -> Listing: ...
        @property
        def pages(self) -> Pages: ...
        @property
        def state(self) -> State: ...
        @property
        def topics(self) -> Topics: ...


CHARTER = ("SOUL.md", "PROJECT.md", "PROJECT.local.md")
"""The system message, in this order (seed 003: the soul first, as it is)."""

LISTED = ("facts/", "episodes/")
_DAYS, _REVIEW = "days/", "review/"
NEVER = "only_searched"
WAITS = "waits_for_a_person"


@frozen
class Charter:
    """The system message and its parts: where each ends, and which revision of which page it is."""

    text: str
    ends: tuple[tuple[str, int, str], ...]


class Gather:
    def __init__(self, context: Context, parts: Needs) -> None:
        self._policy, self._note = context.policy, context.note
        self._parts = parts
        self.trusts = context.policy.trust_external_edits

    def text(self, path: str) -> str | None:
        """What a page at the top says, as it was last absorbed; None: there is none."""
        data = self._parts.pages.absorb.read(path)
        return None if data is None else data.decode("utf-8", "replace")

    def _revision(self, path: str, text: str) -> str:
        """A page as it was last journaled; of one that is newer, what it says."""
        head = self._parts.pages.absorb.heads.get(path).sha256
        return f"{path}@{head or sha256(text.encode('utf-8', 'surrogatepass'))}"

    # --- the charter -------------------------------------------------------------------

    def charter(self) -> Charter:
        """A page of it that cannot be read is a reason to refuse: nobody is told half of who he is."""
        text = ""
        ends: list[tuple[str, int, str]] = []
        for path in CHARTER:
            own = self.text(path)
            if own is not None and own.strip():
                text += ("\n" if text.endswith("\n") else "\n\n") if text else ""
                text += own
                ends.append((path, len(text), self._revision(path, own)))
                if not self.trusts and self.foreign(path):
                    self._note(
                        f"{path} was changed on disk by nobody knows whom, and is in every prompt as it is. Look at "
                        "it, and keep it from being written by agents."
                    )
        return Charter(text, tuple(ends))

    # --- the memory --------------------------------------------------------------------

    def slots(self, mark: Mark | None) -> tuple[list[Shown], list[Omitted]]:
        """What the memory has to show beside a window that begins with this mark; and what it never shows."""
        profile = self._profile()
        seen = {piece.id for form in profile.forms for piece in form.pieces} if profile is not None else set()
        told, revision = self.state()
        found = (
            profile,
            self._vouched(shown.state(told, self._toon(told), revision), STATE),
            shown.essentials(self._parts.topics.essentials(), seen, told),
            self._index(),
            self._episodes(mark),
        )
        return [each for each in found if each is not None], self._never()

    def holding(self) -> list[str]:
        """The facts of the user that hold and stand on another page than his profile, as lines."""
        self._parts.known.catch_up()
        facts = true_at(self._parts.known.of(USER))
        return [f"- {said(fact.relation, fact.object)}" for fact in facts if fact.path != PROFILE]

    def foreign(self, path: str) -> list[str]:
        """The lines of a page (of the state: what it says) that nobody vouches for: those that came with edits found
        on disk, where these are nobody's word."""
        return self._parts.state.provenance.doubtful(path)

    def _vouched(self, slot: Shown | None, *paths: str) -> Shown | None:
        """A slot as it is; as data, if a line on these pages is nobody's."""
        if slot is None or not any(map(self.foreign, paths)):
            return slot
        edits = (
            self._parts.pages.absorb.heads.get(path).edit or "" for path in paths
        )  # drawn after they were written
        return shown.as_data(slot, untrusted.word(slot.slot, *edits))

    def _profile(self) -> Shown | None:
        try:
            text = self.text(PROFILE) or ""
        except Refused as refused:
            self._note(f"{refused} The prompt shows what it said before.")
            text = (self._parts.pages.absorb.head_bytes(PROFILE) or b"").decode("utf-8", "replace")
        on_page = [fact for fact in true_at(self._parts.known.of(USER)) if fact.path == PROFILE]
        facts = sorted((fact for fact in on_page if is_trusted(fact.level)), key=rank)
        revision = self._revision(PROFILE, text)
        edit = self._parts.pages.absorb.heads.get(PROFILE).edit or ""  # drawn after the page was written
        is_foreign = not self.trusts or bool(self.foreign(PROFILE))
        foreign = untrusted.word(revision, edit) if is_foreign else ""
        return shown.profile(PROFILE, text, facts, revision, foreign=foreign)

    def state(self) -> tuple[dict[str, object], str]:
        """The state as a prompt has it, and its revision."""
        head = self._parts.pages.absorb.heads.get(STATE)
        return self._parts.state.shown(), f"{STATE}@{head.sha256}" if head.sha256 else ""

    @staticmethod
    def _toon(told: dict[str, object]) -> str | None:
        from looseleaf.text.notation import encode

        return encode(told) if told else None

    def _index(self) -> Shown | None:
        lines, further = self._parts.page_index.newest(self._policy.index_pages)
        return shown.index([(each.path, each.size, each.summary) for each in lines], further)

    def _episodes(self, mark: Mark | None) -> Shown | None:
        """The last ones; not those whose summaries the window has already."""
        in_window = {entry.rpartition("/")[2] for entry, _ in mark.episodic} if mark is not None else set()
        found: list[tuple[str, Episode]] = []
        left: list[str] = []
        for path, episode in self._last_episodes(len(in_window) + self._policy.max_episodic_items):
            if episode.get("Entry") in in_window:
                left.append(f"{path}:{episode.line}")
            elif len(found) < self._policy.max_episodic_items:
                found.append((path, episode))
        omitted = [Omitted("window", "episodes", shown.SHOWN, tuple(left))] if left else []
        return self._vouched(shown.episodes(found, omitted), *dict.fromkeys(path for path, _ in found))

    def _last_episodes(self, count: int) -> list[tuple[str, Episode]]:
        found: list[tuple[str, Episode]] = []
        months = [path for path in self._parts.pages.absorb.heads.pages if path.startswith("episodes/")]
        for path in sorted(months, reverse=True):
            if len(found) >= count:
                break
            from looseleaf.pages.pages import Page

            try:
                page = Page(path, self._parts.pages.absorb.read(path))
            except Refused as refused:
                self._note(str(refused))
                continue
            # Those that an agent wrote are read on demand: nobody vouches for what it was told.
            found += [(path, episode) for episode in reversed(unsigned(page.parsed).episodes)]
        return found[:count]

    def _never(self) -> list[Omitted]:
        paths = [
            path for path, head in self._parts.pages.absorb.heads.pages.items() if head.sha256 is not None
        ]
        days = tuple(sorted(path for path in paths if path.startswith(_DAYS)))
        review = tuple(sorted(path for path in paths if path.startswith(_REVIEW)))
        found = [Omitted("days", "index", NEVER, days)] if days else []
        return [*found, *([Omitted("review", "index", WAITS, review)] if review else [])]

    # --- what changes ------------------------------------------------------------------

    def drawers(self) -> set[str]:
        """The pages that an index lists, as the journal knows them."""
        heads = self._parts.pages.absorb.heads.pages
        return {path for path, head in heads.items() if path.startswith(LISTED) and head.sha256 is not None}

    def vouched_for(self, paths: set[str]) -> set[str]:
        """Those of these pages that a prompt may name."""
        if self.trusts or not paths:
            return paths
        self._parts.known.catch_up()
        return {path for path in paths if self._parts.page_index.is_vouched_for(path)}

    def summaries(self, paths: Collection[str]) -> list[tuple[str, str]]:
        return [(each.path, each.summary) for each in self._parts.page_index.lines(paths)]


def items_of(charter: Charter, tokens: list[int]) -> list[Item]:
    """The items of the system message; `tokens` is what it costs up to the end of each."""
    items: list[Item] = []
    start = cost = 0
    for (path, end, revision), upto in zip(charter.ends, tokens, strict=True):
        item = Item(
            path,
            "charter",
            "system",
            "markdown",
            upto - cost,
            "always_included",
            0,
            1,
            start,
            end,
            (revision,),
        )
        items.append(item)
        start, cost = end, upto
    return items
