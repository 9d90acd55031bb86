"""Forget: remove everywhere, and prove it. The memory becomes what it would have been without the source.

A plan is made and the new files are staged while others go on writing. Then, under the lock, what was said meanwhile is
added, and many files are replaced as one act. The views are rebuilt, and every byte of the folder is read. Nothing that
is forgotten is written anywhere on the way.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager

from looseleaf.base.errors import Busy, Invalid, NotFound, Refused
from looseleaf.base.ids import new_id, now
from looseleaf.base.immutable import frozen, members_of
from looseleaf.facts.known_facts import (
    FILE,
    KEY,
    Tombstones,
    tombstone_hash,
)
from looseleaf.facts.stones import HEARD, Buried
from looseleaf.forget.cut import cut_for, read_selector
from looseleaf.forget.heard import find_heard, read_elsewhere
from looseleaf.forget.held_files import cut_held, find_taken
from looseleaf.forget.log_snapshot import LogMoved, LogSnapshot
from looseleaf.forget.plan import ForgetPlan
from looseleaf.forget.probe import Needles, Probe, probe, probe_rows
from looseleaf.log.journal import SCHEMA
from looseleaf.store import JOURNAL, TOMBSTONES, records
from looseleaf.store.machines import is_branch_of
from looseleaf.store.root import FORGETTER, unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from looseleaf.base.values import Record
    from looseleaf.forget.plan import Needs
    from looseleaf.store.protocol import Switch

_SHOWN = 3
"""Lines of each kind that an answer shows."""

_LONGEST = 80
_TRIES = 4
"""How often to plan anew while others change the memory; after that, under the lock."""

_BRIEF = 0.25
"""Seconds: what is planned faster than this is planned under the lock, once a plan was in vain."""

_LITTLE = 1 << 16
"""Bytes that may be left to rewrite while others wait."""

_PAUSE = 0.05

COUNTED = {
    "traces": ("message or tool call", "messages and tool calls"),
    "entries": ("entry", "entries"),
    "facts": ("fact", "facts"),
    "lines": ("line of pages, now or in their history", "lines of pages, now or in their history"),
    "prompts": ("prompt in the log", "prompts in the log"),
    "others": (
        "file that holds it elsewhere: in a reason, a damaged line, or a copy",
        "files that hold it elsewhere: in a reason, a damaged line, or a copy",
    ),
    "elsewhere": ("sentence in what other machines recorded", "sentences in what other machines recorded"),
}
"""What goes, and how it is counted."""


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
    layer: str = ""
    """The farther memory that it went from; "": the memory itself."""
    layers: tuple[Forgotten, ...] = ()
    """What went from the memories under this one."""
    unwritten: tuple[str, ...] = ()
    """Those that could not be searched or written, and why: then it is not forgotten everywhere."""
    unheard: tuple[str, ...] = ()
    """Machines in whose logs it may still be, where its words are not known any more, so that nobody can look."""

    def but(self, **changes: Any) -> Forgotten:
        """Return the same, except for these members."""
        return Forgotten(**members_of(self) | changes)

    @property
    def is_nothing(self) -> bool:
        return not any(self.counts.values()) and all(each.is_nothing for each in self.layers)

    @property
    def is_complete(self) -> bool:
        """True if nothing of it was found afterwards, and every layer could be written. Other machines that have still
        to hear of it do so by themselves."""
        found = self.probe is not None and bool(self.probe.hits)
        return not found and not self.unwritten and all(each.is_complete for each in self.layers)

    def to_dict(self) -> dict[str, Any]:
        layered = {"layer": self.layer, "layers": [each.to_dict() for each in self.layers]}
        layered |= {"unwritten": list(self.unwritten), "unheard": list(self.unheard)}
        told: dict[str, Any] = {
            name: getattr(self, name) for name in self.__match_args__ if name not in layered
        }
        told |= {name: value for name, value in layered.items() if value}
        told |= {"mentions": list(self.mentions), "names": list(self.names)}
        told["first"] = {name: list(texts) for name, texts in self.first.items()}
        return told | {"probe": self.probe.to_dict() if self.probe is not None else None}


_Made = tuple[Forgotten, "ForgetPlan | None"]


def forget(
    parts: Needs, given: dict[str, str | None], agent: str | None = None, *, dry_run: bool = False
) -> Forgotten:
    by, what = read_selector(given, agent)
    if agent is not None and by not in ("session", "origin"):
        raise Invalid(
            f"Nothing was forgotten: a {by} goes from everywhere, whichever agent said it. Leave the agent out, or "
            "name a session or an origin of that agent."
        )
    if not dry_run:
        parts.hear()
    done, plan = _try_again(parts, lambda: _forget(parts, by, what, agent, dry_run=dry_run))
    if plan is not None:
        parts.hear()  # in the logs that a merge made of this machine's own
    return _prove(parts, done, plan)


def heed_others(parts: Needs, buried: Buried) -> Forgotten:
    """Forget what other machines forgot."""
    made = _try_again(parts, lambda: _forget(parts, HEARD, "", None, dry_run=False, buried=buried))
    return _prove(parts, *made, buried)


def look_for(parts: Needs, buried: Buried) -> Forgotten:
    """Return what would go from a log, opened to be read, because other machines forgot it."""
    parts.known.catch_up()
    logs = LogSnapshot(parts.store)
    elsewhere = read_elsewhere(parts.store, parts.stones, buried)
    cut = find_heard(logs, parts.known, (), buried, elsewhere.again)
    counts, first = ForgetPlan(parts, cut, logs, None, elsewhere).count(_SHOWN)
    return Forgotten(HEARD, "", counts, first, (), "", None)


def _try_again(parts: Needs, forget: Callable[[], _Made]) -> _Made:
    """Forget, again if others change the memory meanwhile."""
    with _turn(parts):
        for _ in range(_TRIES):
            began = time.monotonic()
            try:
                return forget()
            except LogMoved:  # something was edited, distilled or forgotten meanwhile
                if time.monotonic() - began < _BRIEF:
                    break
        with _locked(parts):  # so that only an editor, which knows no lock, may still save a page
            for _ in range(_TRIES):
                try:
                    return forget()
                except LogMoved:
                    continue
    raise Busy(
        "Nothing was forgotten: pages are being saved all the time. Wait until that is done, and repeat the command."
    )


def _locked(parts: Needs) -> AbstractContextManager[object]:
    held = ExitStack()
    held.enter_context(parts.pages.absorb.threads)
    held.enter_context(parts.context.store.lock())
    return held


@contextmanager
def _turn(parts: Needs) -> Iterator[None]:
    """Let only one process or thread prepare a forget at a time. The others wait, as they would for the lock."""
    seconds = parts.context.policy.lock_seconds
    until = time.monotonic() + seconds
    alone = parts.store.alone(FORGETTER)
    with alone as is_alone:
        while not is_alone:
            if time.monotonic() > until:
                raise Busy(
                    f"Nothing was forgotten: another process has been forgetting for {seconds:g} seconds. Wait until "
                    "it is done, and repeat the command."
                )
            time.sleep(_PAUSE)
            is_alone = alone.try_again()
        yield


def _forget(
    parts: Needs, by: str, what: str, agent: str | None, *, dry_run: bool, buried: Buried | None = None
) -> _Made:
    """Forget; return what went, and the plan if it was carried out, and is still to be proven. Raise LogMoved, with
    nothing changed, if the memory changed while this was prepared. `buried`: what other machines forgot."""
    with _locked(parts):
        parts.context.store.recover()
        parts.pages.absorb()
        parts.placer.catch_up()
        if not dry_run:
            parts.context.redact("")  # creates the memory's key, if it has none
            parts.store.mend_ends()
        was_asked = Tombstones(parts.context.store).holds("asked", f"{by}\n{what}")
        if was_asked and by == "fact" and ".md:" in what:
            _refuse_moved_line(parts, what)
        logs = LogSnapshot(parts.store)
    switch = None if dry_run else parts.store.switch(new_id())
    try:
        try:
            if buried is not None:
                elsewhere = read_elsewhere(parts.store, parts.stones, buried)
                cut = find_heard(logs, parts.known, parts.pages.absorb.held, buried, elsewhere.again)
                plan = ForgetPlan(parts, cut, logs, switch, elsewhere)
                _drop_aside(parts, plan, buried)
                if not plan.changes_anything and switch is not None:
                    return _note_heard(parts, switch.name, buried), None
            else:
                cut = cut_for(logs, parts.known, by, what, agent)
                plan = ForgetPlan(parts, cut, logs, switch)
        except Refused:
            if not was_asked:
                raise
            read = _probe(parts, Needles(()))
            unheard = tuple(name for name in parts.store.machines() if parts.stones.unheard(name))
            return Forgotten(by, what, {}, {}, (), "", read, unheard=unheard), None
        counts, first = plan.count(_SHOWN)
        taken = (*find_taken(parts, plan.cut),)
        if taken:
            counts, first = {**counts, "others": len(taken)}, {**first, "others": taken[:_SHOWN]}
        if plan.lost_elsewhere:
            told = tuple(plan.lost_elsewhere[:_SHOWN])
            counts, first = {**counts, "elsewhere": len(plan.lost_elsewhere)}, {**first, "elsewhere": told}
        if buried is None and not any(counts.values()):
            # Unsaid words may still stand somewhere: in a reason, a damaged line, a file set aside.
            found = _read_all(parts, plan.needles)
            if not found.hits or plan.names:
                if was_asked:
                    return Forgotten(by, what, {}, {}, (), "", found, plan.names), None
                raise NotFound(_explain_nothing(by, what, plan.names))
            counts, first = {**counts, "others": len(found.hits)}, {"others": found.hits[:_SHOWN]}
        if switch is None:
            return Forgotten(by, what, counts, first, plan.mentions, "", None, plan.names), None
        _apply_plan(parts, plan, logs, switch, by, what, counts, buried)
    except OSError as error:
        raise unwritten("The memory without the forgotten text", error) from error
    finally:
        if switch is not None:
            switch.drop()
    return Forgotten(by, what, counts, first, plan.mentions, switch.name, None, plan.names), plan


def _apply_plan(
    parts: Needs,
    plan: ForgetPlan,
    logs: LogSnapshot,
    switch: Switch,
    by: str,
    what: str,
    counts: dict[str, int],
    heard: Buried | None,
) -> None:
    """Stage the new files, and put them in place."""
    stone: Record = {"schema": SCHEMA, "id": switch.name, "ts": now(), "kind": "forgotten"}
    stone |= {"by": by, "counts": counts}
    plan.stage(stone)
    key = parts.context.store.get(KEY)
    secret = key.data if key else b""
    buried = Buried(
        (secret,),
        frozenset(tombstone_hash(secret, kind, text) for kind, text in plan.list_buried()),
        frozenset(plan.gone_ids),
        frozenset(len(words.split()) for words in plan.cut.words),
    )
    if heard is not None:
        buried = buried.with_all(heard)
    else:
        asked = {tombstone_hash(secret, "asked", f"{by}\n{what}")}
        buried = buried.with_all(Buried((secret,), frozenset(asked), frozenset(), frozenset()))
    requests = plan.changed_requests
    line = records.encode(stone | buried.members | ({"requests": requests} if requests else {}))
    for _ in range(_TRIES):
        if plan.follow() < _LITTLE:
            break
    with _locked(parts):
        parts.context.store.recover()
        parts.pages.absorb()
        parts.store.mend_ends()
        if not logs.is_current():
            raise LogMoved
        plan.follow()
        views = plan.finish()
        cut_held(parts, plan, switch)
        before = parts.context.store.get(FILE)
        switch.put(FILE, (before.data if before is not None else b"") + line)
        for path in switch.pages:
            parts.context.store.get(path)  # refuses a link or a folder in place of a page before any change
        held = parts.pages.absorb.held_pages()
        parts.close_views()
        switch.commit(FILE)  # first: processes watch this file to know that they must read again
        parts.store.adopt_ends()
        parts.pages.absorb.heads.forget()
        for path, data in views.items():
            parts.context.store.view(path, data)
        parts.pages.absorb.keep_copies(held)


def _prove(parts: Needs, done: Forgotten, plan: ForgetPlan | None, heard: Buried | None = None) -> Forgotten:
    """Build the views, and prove that it is gone. Others may forget meanwhile, and this machine may hear of that."""
    if plan is None:
        return done
    parts.build()
    _drop_aside(parts, plan, heard)
    return done.but(probe=_read_all(parts, plan.needles))


def _read_all(parts: Needs, needles: Needles) -> Probe:
    """Read every byte. The logs that a merge made of this machine's own are its own."""
    others = parts.store.machines()

    def owner(path: str) -> str | None:
        name = parts.store.owner(path)
        if name and path.startswith("log/"):
            return "" if is_branch_of(name, parts.store.machine) else name if name in others else None
        return name

    return _probe(parts, needles, owner)


def _probe(parts: Needs, needles: Needles, owner: Callable[[str], str | None] = lambda path: "") -> Probe:
    if parts.store.tables is None:
        return probe(parts.context.path, needles, owner)
    from looseleaf.index.opening import all_rows

    return probe_rows(all_rows(parts.store), needles, owner)


def _drop_aside(parts: Needs, plan: ForgetPlan, heard: Buried | None) -> None:
    """Remove what other machines set aside, and what was forgotten is in. Only copies of it are here."""
    topics = parts.known.topics

    def is_told(data: bytes) -> bool:
        return bool(plan.needles.hits(data)) or (heard is not None and heard.is_in(data, topics))

    parts.store.drop_aside(is_told)


def _note_heard(parts: Needs, name: str, buried: Buried) -> Forgotten:
    """Note that what others forgot is not here."""
    stone: Record = {
        "schema": SCHEMA,
        "id": name,
        "ts": now(),
        "kind": "forgotten",
        "by": HEARD,
        "counts": {},
    }
    with _locked(parts):
        parts.context.store.append(JOURNAL, [stone])
        parts.context.store.append(TOMBSTONES, [stone | buried.members])
    return Forgotten(HEARD, "", {}, {}, (), name, None)


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
