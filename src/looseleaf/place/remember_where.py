"""Remember a person's words in the memory they belong to: this one, or the home memory under it."""

from __future__ import annotations

from looseleaf.base.errors import Invalid, NotFound, Refused, is_text
from looseleaf.base.paths import USER
from looseleaf.facts.belonging import belongs_home, is_about_user
from looseleaf.language.private_kinds import private_kinds
from looseleaf.place.distill_and_place import Remembered, remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from looseleaf.place.distill_and_place import RememberNeeds
    from looseleaf.store.context import Context

    class Needs(RememberNeeds, Protocol):
        context: Context

        @property
        def is_project(self) -> bool: ...
        def home(self) -> RememberNeeds | None: ...
        def is_tracked(self) -> bool: ...


HERE, HOME = "here", "home"


def remember_where(
    parts: Needs, text: str, topic: str | None, where: str | None, *, redacted: bool = False
) -> Remembered:
    """Remember a text: `here`, in the `home` memory, or (None) each sentence where it belongs."""
    if where not in (None, HERE, HOME):
        raise Invalid(f"Nothing was remembered: {where!r} is no memory. Give here, home, or nothing.")
    if where == HERE or (where is None and not parts.is_project) or not is_text(text):
        return remember(parts, text, topic, redacted=redacted, here=where == HERE)
    home = parts.home()
    if where == HOME:
        if home is None:
            raise NotFound(
                "Nothing was remembered: there is no home memory under this one. "
                "`looseleaf init ~/.looseleaf` makes one."
            )
        return remember(home, text, topic, redacted=redacted, source=parts.context.path).of_layer(HOME)
    theirs, ours = _sort_sentences(parts, text, topic)
    if home is None:
        if theirs and any(private_kinds(each) for each in theirs) and parts.is_tracked():
            kinds = ", ".join(sorted({kind for each in theirs for kind in private_kinds(each)}))
            raise Refused(
                f"Nothing was remembered: it is private ({kinds}), git tracks {parts.context.path}, and there is no "
                "home memory. `looseleaf init ~/.looseleaf` makes one; `--here` keeps it here all the same."
            )
        return remember(parts, text, topic, redacted=redacted, here=True)
    if not theirs:
        return remember(parts, text, topic, redacted=redacted, here=True)
    if not ours:
        return remember(home, text, topic, redacted=redacted, source=parts.context.path).of_layer(HOME)
    here = remember(parts, "\n".join(ours), topic, redacted=redacted, here=True)
    there = remember(home, "\n".join(theirs), topic, redacted=redacted, source=parts.context.path)
    return here.but(elsewhere=there.of_layer(HOME))


def _sort_sentences(parts: Needs, text: str, topic: str | None) -> tuple[list[str], list[str]]:
    """Return the sentences for the home memory, and those for this one. With a topic of the work, only what is private
    leaves a folder that git tracks."""
    from looseleaf.language.sentences import sentences

    said = [each for each in sentences(text) if each.strip()] or [text]
    if topic is not None and topic.strip().casefold() != USER:
        theirs = [each for each in said if private_kinds(each) and parts.is_tracked()]
    else:
        theirs = [each for each in said if _is_for_home(each)]
    return theirs, [each for each in said if each not in theirs]


def _is_for_home(sentence: str) -> bool:
    from looseleaf.base import ids as clock
    from looseleaf.distill.statements import statements

    found = statements(sentence, clock.now())
    return any(map(belongs_home, found)) if found else is_about_user(sentence)
