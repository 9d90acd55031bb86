"""Forget: remove everywhere, and prove it. The memory becomes what it would have been without the source.

Everything is worked out in memory first, under the lock. Then many files are replaced as one act, the views rebuilt,
and every byte of the folder is read. Nothing to be forgotten is written anywhere on the way.
"""

from __future__ import annotations

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.ids import new_id, now
from looseleaf.base.immutable import frozen
from looseleaf.facts.known_facts import FILE, KEY, TOMBSTONES_SCHEMA, Tombstones, tombstone_hash
from looseleaf.forget.cut import cut_for, read_selector
from looseleaf.forget.held_files import cut_held
from looseleaf.forget.plan import ForgetPlan
from looseleaf.forget.probe import Needles, Probe, probe
from looseleaf.log.journal import SCHEMA
from looseleaf.store import records
from looseleaf.store.documents import Put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.base.values import Record
    from looseleaf.forget.plan import Needs

_SHOWN = 3
"""Lines of each kind that an answer shows."""

_LONGEST = 80


@frozen
class Forgotten:
    """What went, or would go: counts by kind, and the first of each (all facts). `id` is the tombstone's ("": nothing
    was done); `mentions`: other places that name a fact's value, and stay; `probe`: what reading every byte found;
    `names`: names that contain the words, and stay."""

    by: str
    what: str
    counts: dict[str, int]
    first: dict[str, tuple[str, ...]]
    mentions: tuple[str, ...]
    id: str
    probe: Probe | None
    names: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        return not any(self.counts.values())

    def to_dict(self) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in self.__match_args__}
        told |= {"mentions": list(self.mentions), "names": list(self.names)}
        told["first"] = {name: list(texts) for name, texts in self.first.items()}
        return told | {"probe": self.probe.to_dict() if self.probe is not None else None}


def forget(
    parts: Needs, given: dict[str, str | None], agent: str | None = None, *, dry_run: bool = False
) -> Forgotten:
    by, what = read_selector(given, agent)
    if agent is not None and by not in ("session", "origin"):
        raise Invalid(
            f"Nothing was forgotten: a {by} goes from everywhere, whichever agent said it. Leave the agent out, or "
            "name a session or an origin of that agent."
        )
    with parts.pages.absorb.threads, parts.context.store.lock():
        parts.context.store.recover()
        parts.pages.absorb()
        parts.placer.catch_up()
        was_asked = Tombstones(parts.context.store).holds("asked", f"{by}\n{what}")
        if was_asked and by == "fact" and ".md:" in what:
            _refuse_moved_line(parts, what)
        try:
            plan = ForgetPlan(parts, cut_for(parts.context.store, parts.known, by, what, agent))
        except Refused:
            if not was_asked:
                raise
            return Forgotten(by, what, {}, {}, (), "", probe(parts.context.path, Needles(())))
        counts, first = plan.count(_SHOWN)
        if not any(counts.values()):
            # Unsaid words may still stand somewhere: in a reason, a damaged line, a file set aside.
            found = probe(parts.context.path, plan.needles)
            if not found.hits or plan.names:
                if was_asked:
                    return Forgotten(by, what, {}, {}, (), "", found, plan.names)
                raise NotFound(_explain_nothing(by, what, plan.names))
            counts, first = {**counts, "others": len(found.hits)}, {"others": found.hits[:_SHOWN]}
        if dry_run:
            return Forgotten(by, what, counts, first, plan.mentions, "", None, plan.names)
        name = _apply_plan(parts, plan, by, what, counts)
        parts.pages.absorb.heads.forget()
        parts.context.store.recover()
        parts.build()
    found = probe(parts.context.path, plan.needles)
    return Forgotten(by, what, counts, first, plan.mentions, name, found, plan.names)


def _apply_plan(parts: Needs, plan: ForgetPlan, by: str, what: str, counts: dict[str, int]) -> str:
    """Apply the plan; return the tombstone's id."""
    name, ts = new_id(), now()
    parts.context.redact("")  # creates the memory's key, if it has none
    parts.files.mend_ends()
    key = parts.context.store.get(KEY)
    buried = [*plan.list_buried(), ("asked", f"{by}\n{what}")]
    hashes = sorted({tombstone_hash(key.data if key else b"", kind, text) for kind, text in buried})
    stone: Record = {"schema": SCHEMA, "id": name, "ts": ts, "kind": "forgotten", "by": by, "counts": counts}
    puts, removals = plan.files(stone)
    puts += cut_held(parts, plan.needles, {put.path for put in puts} | {each.path for each in removals})
    before = parts.context.store.get(FILE)
    line = records.encode({**stone, "schema": TOMBSTONES_SCHEMA, "hashes": hashes})
    # First: processes watch this file to know that they must read again.
    puts.insert(0, Put(FILE, (before.data if before is not None else b"") + line))
    pages = [put.path for put in puts if put.is_page]
    for path in (*pages, *(each.path for each in removals if each.base is not None)):
        parts.context.store.get(path)  # refuses a link or a folder in place of a page before any change
    parts.close_views()
    parts.files.replace_many(name, puts, removals)
    return name


def _refuse_moved_line(parts: Needs, what: str) -> None:
    """Refuse a repeated place: its line is forgotten, and another line moved up there."""
    try:
        fact = parts.known.find(what)
    except Refused:
        return
    raise NotFound(
        f"Nothing was forgotten: what stood at {what} is forgotten, and another line stands there now: "
        f"{shorten(f'{fact.relation}: {fact.object}')}. To forget that too, name it by its id: {fact.id}."
    )


def _explain_nothing(by: str, what: str, names: tuple[str, ...]) -> str:
    """Word that there is nothing to forget: it never was, or is only a name."""
    if names:
        why = f"no sentence and no line says {shorten(what)!r}. It is the name of {names[0]}."
    else:
        why = f"this memory holds nothing of the {by} {shorten(what)!r}. "
        why += "`looseleaf facts`, `looseleaf sessions` and `looseleaf recall` show what there is."
    return f"Nothing was forgotten: {why}"


def shorten(what: str) -> str:
    """Shorten what was asked for, to repeat it in an answer."""
    return what if len(what) <= _LONGEST else f"{what[:_LONGEST]}…"
