"""Gather what there is to show of a memory, from its folder."""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import is_trusted
from looseleaf.base.paths import PROFILE, STATE, USER
from looseleaf.base.values import sha256
from looseleaf.facts.layered import unite
from looseleaf.facts.ledger import true_at
from looseleaf.pages.grammar import without_agents_episodes
from looseleaf.prompt import slot_forms
from looseleaf.prompt.farther import line_of
from looseleaf.prompt.manifest import ManifestItem, Omitted
from looseleaf.text import untrusted
from looseleaf.views.essentials import rank, shown_bullet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any, Protocol, TypeVar

    from looseleaf.base.values import Episode, Fact
    from looseleaf.facts.known_facts import Facts
    from looseleaf.log.turns import Mark
    from looseleaf.pages.pages import Pages
    from looseleaf.prompt.manifest import Slot
    from looseleaf.prompt.slot_forms import SlotText
    from looseleaf.state.state import State
    from looseleaf.store.context import Context
    from looseleaf.views.build import Topics
    from looseleaf.views.page_index import PageIndex

    T = TypeVar("T")

    class Needs(Protocol):
        def farther(self, read: Callable[[Any], T]) -> list[tuple[str, T]]:
            """Read something of each memory under this one (as `Needs`), with its name."""

        @property
        def walls(self) -> object:
            """None: whoever asks may know of all memories under this one."""

        @property
        def known(self) -> Facts: ...
        @property
        def page_index(self) -> PageIndex: ...
        @property
        def pages(self) -> Pages: ...
        @property
        def state(self) -> State: ...
        @property
        def topics(self) -> Topics: ...


CHARTER = ("SOUL.md", "PROJECT.md", "PROJECT.local.md")
"""The system message, in this order (seed 003: the soul first, unchanged)."""

LISTED = ("facts/", "episodes/")
NEVER = "only_searched"
WAITS = "waits_for_a_person"


@frozen
class Charter:
    """The system message and its parts: where each ends, and its page's revision."""

    text: str
    ends: tuple[tuple[str, int, str], ...]


class SlotReader:
    def __init__(self, context: Context, parts: Needs) -> None:
        self._policy, self._note = context.policy, context.note
        self._parts = parts
        self.trusts = context.policy.trust_external_edits
        self.farther = FartherLines(parts)

    def text(self, path: str) -> str | None:
        """Return what a top page says, as last absorbed; None if there is none."""
        data = self._parts.pages.absorb.read(path)
        return None if data is None else data.decode("utf-8", "replace")

    def _revision_of(self, path: str, text: str) -> str:
        """Return a page's last journaled revision; for a newer text, its hash."""
        head = self._parts.pages.absorb.heads.get(path).sha256
        return f"{path}@{head or sha256(text.encode('utf-8', 'surrogatepass'))}"

    def charter(self) -> Charter:
        """Return the system message. Refuse if a page of it is unreadable: half a charter is worse than none."""
        text = ""
        ends: list[tuple[str, int, str]] = []
        for path in CHARTER:
            own = self.text(path)
            if own is not None and own.strip():
                text += ("\n" if text.endswith("\n") else "\n\n") if text else ""
                text += own
                ends.append((path, len(text), self._revision_of(path, own)))
                if not self.trusts and self.untrusted_lines(path):
                    self._note(
                        f"{path} was changed on disk by an unknown author, and is in every prompt as it is. Check "
                        "it, and keep agents from writing it."
                    )
        return Charter(text, tuple(ends))

    def slots(self, mark: Mark | None) -> tuple[list[SlotText], list[Omitted]]:
        """Return what the memory shows beside a window that begins with this mark; and what it never shows."""
        from looseleaf.text.notation import encode

        rows = self._parts.topics.essentials()
        self.farther.look(rows)
        profile = self._read_profile()
        seen = {piece.id for form in profile.forms for piece in form.pieces} if profile is not None else set()
        told, revision = self.state()
        lines, further = self._parts.page_index.newest(self._policy.index_pages)
        found = (
            profile,
            *self.farther.slots("profile"),
            self._fence_untrusted(
                slot_forms.show_state(told, encode(told) if told else None, revision), STATE
            ),
            slot_forms.show_essentials([row for row in rows if not self.farther.is_over(row)], seen, told),
            *self.farther.slots("essentials"),
            slot_forms.show_index(
                [*((each.path, each.size, each.summary) for each in lines), *self.farther.pages()], further
            ),
            self._read_episodes(mark),
        )
        days, review = self._list_pages("days/"), self._list_pages("review/")
        never = Omitted("days", "index", NEVER, days), Omitted("review", "index", WAITS, review)
        return [each for each in found if each is not None], [each for each in never if each.of]

    def facts_elsewhere(self) -> list[str]:
        """Return the user's facts that hold and stand on another page than the profile, as lines."""
        self._parts.known.catch_up()
        facts = true_at(self._parts.known.of(USER))
        return [f"- {shown_bullet(fact.relation, fact.object)}" for fact in facts if fact.path != PROFILE]

    def untrusted_lines(self, path: str) -> list[str]:
        """Return the untrusted lines of a page or the state: those from edits found on disk, if these are not
        trusted."""
        return self._parts.state.provenance.doubtful(path)

    def _fence_untrusted(self, slot: SlotText | None, *paths: str) -> SlotText | None:
        """Return a slot as it is; as data, if these pages have an untrusted line."""
        if slot is None or not any(map(self.untrusted_lines, paths)):
            return slot
        # Edit ids are drawn after their pages are written, so no page can contain the fence's word.
        edits = (self._parts.pages.absorb.heads.get(path).edit or "" for path in paths)
        return slot_forms.fence_slot(slot, untrusted.word(slot.slot, *edits))

    def _read_profile(self) -> SlotText | None:
        try:
            text = self.text(PROFILE) or ""
        except Refused as refused:
            self._note(f"{refused} The prompt shows what it said before.")
            text = (self._parts.pages.absorb.head_bytes(PROFILE) or b"").decode("utf-8", "replace")
        on_page = [fact for fact in true_at(self._parts.known.of(USER)) if fact.path == PROFILE]
        facts = sorted((fact for fact in on_page if is_trusted(fact.level)), key=rank)
        revision = self._revision_of(PROFILE, text)
        edit = self._parts.pages.absorb.heads.get(PROFILE).edit or ""  # drawn after the page was written
        is_foreign = not self.trusts or bool(self.untrusted_lines(PROFILE))
        foreign = untrusted.word(revision, edit) if is_foreign else ""
        over = {fact.line for fact in on_page if self.farther.is_over({"topic": USER, "id": fact.id})}
        return slot_forms.show_profile(PROFILE, text, facts, revision, foreign=foreign, over=over)

    def state(self) -> tuple[dict[str, object], str]:
        """Return the state as a prompt shows it, and its revision."""
        head = self._parts.pages.absorb.heads.get(STATE)
        return self._parts.state.shown(), f"{STATE}@{head.sha256}" if head.sha256 else ""

    def _read_episodes(self, mark: Mark | None) -> SlotText | None:
        """Show the last episodes, except those whose summaries are in the window."""
        in_window = {entry.rpartition("/")[2] for entry, _ in mark.episodic} if mark is not None else set()
        found: list[tuple[str, Episode]] = []
        left: list[str] = []
        for path, episode in self._read_last_episodes(len(in_window) + self._policy.max_episodic_items):
            if episode.get("Entry") in in_window:
                left.append(f"{path}:{episode.line}")
            elif len(found) < self._policy.max_episodic_items:
                found.append((path, episode))
        omitted = [Omitted("window", "episodes", slot_forms.SHOWN, tuple(left))] if left else []
        return self._fence_untrusted(
            slot_forms.show_episodes(found, omitted), *dict.fromkeys(path for path, _ in found)
        )

    def _read_last_episodes(self, count: int) -> list[tuple[str, Episode]]:
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
            # An agent's episodes are read on demand: they are untrusted.
            found += [(path, episode) for episode in reversed(without_agents_episodes(page.parsed).episodes)]
        return found[:count]

    def _list_pages(self, *folders: str) -> tuple[str, ...]:
        """Return the pages in some folders, as the journal knows them."""
        there = self._parts.pages.absorb.heads.pages.there()
        return tuple(sorted(path for path in there if path.startswith(folders)))

    def drawers(self) -> set[str]:
        """Return the pages that an index lists."""
        return set(self._list_pages(*LISTED))

    def keep_trusted(self, paths: set[str]) -> set[str]:
        """Return those of these pages that a prompt may name."""
        if self.trusts or not paths:
            return paths
        self._parts.known.catch_up()
        return {path for path in paths if self._parts.page_index.is_vouched_for(path)}

    def summaries(self, paths: Collection[str]) -> list[tuple[str, str]]:
        return [(each.path, each.summary) for each in self._parts.page_index.lines(paths)]


_DRAWER = f"facts/{USER}.md"


class FartherLines:
    """What a prompt shows of the memories under this one: the user's facts, and what must not be forgotten. Each is a
    fact of a trusted level, in one line; in a slot of one value the rule of layers decides (`facts/layered.py`)."""

    def __init__(self, parts: Needs) -> None:
        self._parts = parts
        self._shown: dict[str, dict[str, list[Fact]]] = {}
        """For each layer: its facts on the profile, and its essentials, weightiest first."""
        self._over: set[tuple[str, str]] = set()
        """The facts of the memory itself, by topic and id, that a farther layer knows better."""
        self._drawers: dict[str, int] = {}
        """For each layer that has it, the bytes of the page with the user's further facts."""
        self._read: object = None
        self._facts: dict[str, dict[str | None, Fact]] = {}
        """All facts of each layer, as last read for `read_line`."""

    def look(self, own: Sequence[Mapping[str, Any]] = ()) -> None:
        """Read the layers. `own`: the essentials of the memory itself."""
        self._shown, self._over, self._drawers = {}, set(), {}
        read = self._parts.farther(_read_farther)
        if not read:
            return
        found = [(name, facts) for name, (facts, _) in read]
        self._drawers = {name: size for name, (_, size) in read if size}
        topics = {USER, *(str(row["topic"]) for row in own)}
        topics.update(fact.topic for _, facts in found for fact in facts)
        known = self._parts.known
        near = [fact for topic in sorted(topics) for fact in true_at(known.of(topic))]
        facts = unite([("", near), *found])
        stays = {fact.id for fact in facts if fact.layer is None}
        self._over = {(fact.topic, fact.id or "") for fact in near if fact.id not in stays}
        for name, _ in found:
            here = sorted((fact for fact in facts if fact.layer == name), key=rank)
            profile = [fact for fact in here if fact.path == PROFILE]
            self._shown[name] = {
                "profile": profile,
                "essentials": [each for each in here if each not in profile],
            }

    def is_over(self, row: Mapping[str, Any]) -> bool:
        """True if a farther layer has a newer word of a person in the slot of this fact."""
        return (row["topic"], row["id"]) in self._over

    def slots(self, slot: Slot) -> Iterable[SlotText]:
        for layer, shown in self._shown.items():
            rows = [(_name_of(fact), line_of(fact), fact.topic) for fact in shown[slot]]
            made = slot_forms.show_farther(slot, layer, rows)
            if made is not None:
                yield made

    def pages(self) -> list[tuple[str, int, str]]:
        """Return a row of the index for each layer's further facts of the user. Only this page has a name that is no
        word of the layer: the log of prompts keeps the index."""
        return [(f"{layer}:{_DRAWER}", size, "") for layer, size in self._drawers.items()]

    def lines(self, items: Iterable[ManifestItem]) -> tuple[tuple[str, str], ...]:
        """Return the lines of farther layers that these items show, and their facts."""
        named = {name for item in items if item.layer for name in item.of}
        shown = (fact for each in self._shown.values() for facts in each.values() for fact in facts)
        return tuple((line_of(fact), name) for fact in shown if (name := _name_of(fact)) in named)

    def profile(self) -> Iterable[tuple[str, str]]:
        """Yield the names of the user's facts of farther layers, and their lines."""
        for shown in self._shown.values():
            yield from ((_name_of(fact), line_of(fact)) for fact in shown["profile"])

    def position(self) -> list[tuple[str, object]]:
        """Return how far the journals of the layers are read now."""
        return self._parts.farther(_read_position)

    def compare(self, known: Collection[str]) -> Iterable[tuple[str, dict[str, str], dict[str, str]]]:
        """Yield, for each layer whose user's facts are not those `known`, what came and what went: names and lines."""
        self.look()
        now = dict(self.profile())
        for layer in self._shown:
            mine = f"{layer}:"
            came = {name: line for name, line in now.items() if name.startswith(mine) and name not in known}
            lost = [name for name in known if name.startswith(mine) and name not in now]
            gone: dict[str, str] = {}
            for name in lost:
                try:
                    gone[name] = self.read_line(name)
                except Refused:
                    continue  # forgotten: what it said is not repeated
            if came or gone:
                yield layer, came, gone

    def read_line(self, name: str) -> str:
        """Return the line of a fact of a farther layer, held or past: `home:f_…`. Refuse if its layer is missing, or
        lacks it."""
        layer, _, fact_id = name.partition(":")
        position = self.position()
        if self._read != position:
            self._read, self._facts = position, dict(self._parts.farther(_read_facts))
        if layer not in self._facts:
            of = f"the layer {layer!r}, which" if self._parts.walls is None else "a layer that"
            raise Refused(
                f"The prompt was not rendered: it shows lines of {of} is missing, or cannot be read now."
            )
        fact = self._facts[layer].get(fact_id)
        if fact is None:
            raise Refused(
                f"The prompt was not rendered: it shows a line of the layer {layer!r} that was forgotten there, or is "
                f"in another copy of it: {fact_id}."
            )
        return line_of(fact)


def _name_of(fact: Fact) -> str:
    return f"{fact.layer}:{fact.id}"


def _read_position(parts: Needs) -> object:
    parts.known.catch_up()
    return parts.known.position


def _read_farther(parts: Needs) -> tuple[list[Fact], int]:
    """Return the trusted facts that a memory under another contributes: the user's profile, and the essentials; and the
    bytes of the page with further facts of the user, if one of them is trusted."""
    parts.pages.absorb_to_read()
    parts.known.catch_up()
    wanted = {(str(row["topic"]), row["id"]) for row in parts.topics.essentials()}
    about = true_at(parts.known.of(USER))
    user = [fact for fact in about if fact.path == PROFILE]
    is_more = any(fact.path == _DRAWER and is_trusted(fact.level) for fact in about)
    others = [
        fact
        for topic in sorted({topic for topic, _ in wanted})
        for fact in true_at(parts.known.of(topic))
        if (topic, fact.id) in wanted and fact.path != PROFILE
    ]
    size = len(parts.pages.absorb.head_bytes(_DRAWER) or b"") if is_more else 0
    return [fact for fact in (*user, *others) if is_trusted(fact.level)], size


def _read_facts(parts: Needs) -> dict[str | None, Fact]:
    parts.known.catch_up()
    return {fact.id: fact for fact in parts.known.all() if fact.status != "forgotten"}


def items_of(charter: Charter, tokens: list[int]) -> list[ManifestItem]:
    """Return the items of the system message; `tokens` is its cost up to the end of each."""
    items: list[ManifestItem] = []
    start = cost = 0
    for (path, end, revision), upto in zip(charter.ends, tokens, strict=True):
        own, of = upto - cost, (revision,)
        items.append(
            ManifestItem(path, "charter", "system", "markdown", own, "always_included", 0, 1, start, end, of)
        )
        start, cost = end, upto
    return items
