"""Remember a person's words in the memory they belong to: this one, or the home memory under it."""

from __future__ import annotations

import os

from looseleaf.base.errors import Invalid, NotFound, Refused, is_text
from looseleaf.base.paths import PROJECT, USER
from looseleaf.facts.belonging import belongs_home, is_about_user
from looseleaf.facts.page_lines import is_same_fact
from looseleaf.facts.team import belongs_to_team, is_rule
from looseleaf.log.entries import read_entry
from looseleaf.place.distill_and_place import Remembered, remember, remembered_in
from looseleaf.place.placer import FORGET
from looseleaf.place.send_home import FROM
from looseleaf.place.send_to_team import bare_name
from looseleaf.store import JOURNAL
from looseleaf.text.lines import undoubted, worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Protocol

    from looseleaf.base.messages import Proposal
    from looseleaf.base.values import Fact
    from looseleaf.facts.known_facts import Facts
    from looseleaf.place.corrections import Corrections
    from looseleaf.place.distill_and_place import RememberNeeds
    from looseleaf.store.context import Context
    from looseleaf.store.protocol import Store

    class Named(Protocol):
        @property
        def name(self) -> str: ...

    class Home(RememberNeeds, Protocol):
        context: Context

        @property
        def known(self) -> Facts: ...
        @property
        def corrections(self) -> Corrections: ...
        def kept_out(self, topic: str, lines: Iterable[str]) -> str: ...

    class Needs(Home, Protocol):
        @property
        def is_project(self) -> bool: ...
        @property
        def may_be_tracked(self) -> bool: ...
        def home(self) -> Home | None: ...
        @property
        def has_team(self) -> bool: ...
        def team(self) -> tuple[str, Home] | None: ...
        def explain_no_home(self) -> str: ...
        def note(self, note: str) -> None: ...
        def split_topic(self, name: str) -> tuple[Named | None, str]: ...


HERE, HOME, TEAM = "here", "home", "team"
MOST = 20_000
"""The most characters that are remembered at once."""
_REMEMBERED = remembered_in("")


def remember_where(
    parts: Needs, text: str, topic: str | None, where: str | None, *, redacted: bool = False
) -> Remembered:
    """Remember a text: `here`, in the `home` memory, or (None) each sentence where it belongs."""
    if where not in (None, HERE, HOME, TEAM):
        raise Invalid(f"Nothing was remembered: {where!r} is no memory. Give here, home, team, or nothing.")
    refuse_long(text)
    layer, bare = parts.split_topic(topic) if topic is not None else (None, None)
    if layer is not None:
        raise Refused(
            f"Nothing was remembered: {topic} is of the layer {layer.name}. `looseleaf remember --home` remembers in "
            f"the home memory; give the topic alone, such as {bare or USER}."
        )
    if where == TEAM or (where is None and parts.has_team and topic is None and is_text(text)):
        return _remember_in_team(parts, text, topic, all_of_it=where == TEAM, redacted=redacted)
    is_alone = not (parts.is_project or parts.may_be_tracked)
    if where == HERE or (where is None and is_alone) or not is_text(text):
        return remember_in(parts, text, topic, redacted=redacted, here=where == HERE)
    if where == HOME:
        home = parts.home()
        if home is None:
            raise NotFound(f"Nothing was remembered: {parts.explain_no_home()}")
        return remember_in(home, text, topic, redacted=redacted, source=parts.context.name).of_layer(HOME)
    theirs, ours = _sort_sentences(parts, text, topic)
    if not theirs:  # the home memory is not even opened
        return remember_in(parts, text, topic, redacted=redacted, here=True)
    why = ""
    try:
        home = parts.home()
    except Refused as refused:
        home, why = None, f"the home memory cannot be used: {refused}"
    if kinds := (home or parts).kept_out("", theirs):
        if home is not None:
            shown = f"and git tracks the home memory, {home.context.name}."
        else:
            shown = f"git tracks {parts.context.name}, and {why or parts.explain_no_home()}"
        raise Refused(
            f"Nothing was remembered: it is private ({kinds}), {shown} `--here` keeps it here all the same."
        )
    if home is None:
        if why:
            parts.note(f"What is about you stays in this memory: {why}")
        return remember_in(parts, text, topic, redacted=redacted, here=True)
    if not ours:
        return remember_in(home, text, topic, redacted=redacted, source=parts.context.name).of_layer(HOME)
    here = remember_in(parts, "\n".join(ours), topic, redacted=redacted, here=True)
    there = remember_in(home, "\n".join(theirs), topic, redacted=redacted, source=parts.context.name)
    return here.but(elsewhere=there.of_layer(HOME))


def _remember_in_team(
    parts: Needs, text: str, topic: str | None, *, all_of_it: bool, redacted: bool
) -> Remembered:
    """Remember a text in the shared memory under this one: all of it, or the sentences that are surely about the
    team's work. A rule stays here as well: there it waits."""
    from looseleaf.language.sentences import sentences

    team = parts.team()
    if team is None:
        raise NotFound(
            "Nothing was remembered: there is no shared memory under this one that you may write to."
        )
    name, there = team
    said = [each for each in sentences(text) if each.strip()] or [text]
    theirs = said if all_of_it else [each for each in said if _is_for_team(each)]
    ours = [] if all_of_it else [each for each in said if each not in theirs or _has_rule(each)]
    if not theirs:
        return remember_in(parts, text, topic, redacted=redacted, here=True)
    source = bare_name(parts.context.where)
    sent = remember_in(there, "\n".join(theirs), topic, redacted=redacted, source=source).of_layer(name)
    if not ours:
        return sent
    return remember_in(parts, "\n".join(ours), topic, redacted=redacted, here=True).but(elsewhere=sent)


def _is_for_team(sentence: str) -> bool:
    found = _read(sentence)
    return bool(found) and all(belongs_to_team(each, sentence) for each in found)


def _has_rule(sentence: str) -> bool:
    return any(map(is_rule, _read(sentence)))


def _read(sentence: str) -> list[Proposal]:
    from looseleaf.base import ids as clock
    from looseleaf.distill.statements import statements

    return list(statements(sentence, clock.now()))


def refuse_long(text: str) -> None:
    """Refuse a text that is no fact: each of its words would be weighed."""
    if is_text(text) and len(text) > MOST:
        raise Invalid(
            f"Nothing was remembered: {len(text):,} characters are too many for facts, of which {MOST:,} are taken at "
            "once. `looseleaf import` takes a long text in, as a document."
        )


def remember_in(parts: Home, text: str, topic: str | None, **how: Any) -> Remembered:
    """Remember a text in one memory, and settle what it decides."""
    refuse_long(text)
    done = remember(parts, text, topic, **how)
    if done.noted is not None and done.noted.changed:
        parts.corrections.settle_noted(done.noted, remembered_in(how.get("source")))
    return done


def approve_at_home(parts: Needs, name: str) -> Fact:
    """Say yes to a fact that waits here, and keep it in the home memory. Return it."""
    parts.known.catch_up()
    fact = parts.known.find(name)
    if fact.status != "pending" or FORGET in fact.tags:
        raise Refused(
            f"{fact.id} was not approved: it does not wait in review. `looseleaf remember --home` keeps words in the "
            "home memory."
        )
    home = parts.home()
    if home is None:
        raise NotFound(f"{fact.id} was not approved: {parts.explain_no_home()}")
    said = worded(fact.relation, undoubted(fact.object))
    topic = fact.topic if fact.topic != PROJECT else USER
    remember_in(home, said, topic, source=parts.context.name)
    gone = parts.corrections.reject(fact.id or name)
    home.known.catch_up()
    kept = [
        each
        for each in home.known.of(topic)
        if each.status == "current" and is_same_fact(each, gone.but(topic=topic))
    ]
    return kept[0].but(layer=HOME) if kept else gone


def find_last_sent(home: Store, memory: str, since: float) -> tuple[bool, bool]:
    """Return whether the home memory has words that were said in another since a time, and are not undone; and whether
    they are the last change there."""
    undone: set[object] = set()
    is_last = True
    for record in (line.record for line in home.read_back(JOURNAL)):
        kind = record.get("kind")
        if kind == "void" or record.get("undoes") is not None:
            undone.add(record.get("edit") if kind == "void" else record["undoes"])
            continue
        if kind not in ("edit", "fact", "placed") or record.get("id") in undone:
            continue
        if float(record.get("ts") or 0.0) <= since:
            break
        if kind == "placed":
            if undone.issuperset(record.get("edits", ())):
                continue
            came = _came_from(home, str(record.get("entry")))
        else:
            said = str(record.get("reason"))
            came = said.removeprefix(_REMEMBERED) if said.startswith(_REMEMBERED) else None
        if isinstance(came, str) and os.path.realpath(came) == os.path.realpath(memory):
            return True, is_last
        is_last = False
    return False, False


def _came_from(home: Store, entry: str) -> object:
    try:
        came = read_entry(home, entry).meta.get(FROM)
    except Refused:
        return None
    return came.get("memory") if isinstance(came, dict) else None


def _sort_sentences(parts: Needs, text: str, topic: str | None) -> tuple[list[str], list[str]]:
    """Return the sentences for the home memory, and those for this one. With a topic of the work, only what is private
    leaves a folder that git tracks."""
    from looseleaf.language.sentences import sentences

    said = [each for each in sentences(text) if each.strip()] or [text]
    if topic is not None and topic.strip().casefold() != USER:
        theirs = [each for each in said if parts.kept_out("", [each])]
    else:
        theirs = [each for each in said if _is_for_home(each) or parts.kept_out("", [each])]
    return theirs, [each for each in said if each not in theirs]


def _is_for_home(sentence: str) -> bool:
    from looseleaf.base import ids as clock
    from looseleaf.distill.statements import statements

    found = statements(sentence, clock.now())
    return any(map(belongs_home, found)) if found else is_about_user(sentence)
