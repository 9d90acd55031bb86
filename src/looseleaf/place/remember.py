"""Remember: what a person says to the memory itself becomes memory now, as the person's own word.

Facts that the rules read in it are placed like any others, and are confirmed. What they cannot read is kept as it was
said: a note, which is a bullet on the page of its topic. Either way something is written, or was known already.
"""

from __future__ import annotations

from looseleaf.core.adding import stated, with_facts
from looseleaf.core.heads import PERSON
from looseleaf.core.lines import NOTE
from looseleaf.core.placing import USER
from looseleaf.errors import Refused
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.pages import Pages
    from looseleaf.place.notebook import Notebook
    from looseleaf.place.place import Placed
    from looseleaf.values import Receipt


@frozen
class Remembered:
    """What became of it: facts that were placed, or the edit that noted it."""

    placed: Placed | None
    noted: Receipt | None

    def to_dict(self) -> dict[str, Any]:
        placed = {"entry": None, "outcomes": []} if self.placed is None else self.placed.to_dict()
        return placed | {"noted": self.noted.to_dict() if self.noted is not None else None}


def remember(book: Notebook, pages: Pages, text: str, topic: str | None = None) -> Remembered:
    said = text.strip()
    if not any(map(str.isalnum, said)):
        raise Refused("Nothing was remembered: there are no words in it. Say what is to be remembered.")
    if topic is not None and not any(map(str.isalnum, topic)):
        raise Refused(f"Nothing was remembered: {topic!r} is no name for a topic. Give a word or two.")
    placed = book.remember(said, topic)
    if placed is not None and any(each.act != "drop" for each in placed.outcomes):
        return Remembered(placed, None)
    path = book.page_of(USER if topic is None else topic)
    line = " ".join(said.split())
    facts = stated(said) or stated(line) or [(NOTE, line.lstrip("#>-*+ \t"))]
    receipt = pages.edit(path, lambda old: with_facts(path, old, facts), reason="remembered", author=PERSON)
    return Remembered(placed, receipt)
