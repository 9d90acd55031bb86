"""What recall gives back: hits, each with where it stands and why it was found; or nothing, and why."""

from __future__ import annotations

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from looseleaf.base.values import Level

    _Hits = tuple["Hit", ...]
else:
    _Hits = tuple


@frozen
class Hit:
    """One thing that bears on the question. `where` opens it: a fact's or a trace's id, `page.md#5-9`, an entry.

    `text` is what stands there, shortened around what was asked for if there is no room for all of it. `status` is
    `superseded` for what was true and is not any more, `rejected` for what a person said no to, with `partly ` before
    it for words that say what is true as well; `now` says what is true instead, if something is.
    """

    where: str
    kind: str
    text: str
    score: float
    parts: dict[str, float]
    path: str
    """The page and its lines (`USER.md#5-5`), or the log in which it stands."""
    date: str
    """The day that it is from, as an ISO date; "" if nobody knows."""
    ts: float | None
    level: Level | None
    status: str
    now: str
    topic: str
    agent: str
    session: str
    speaker: str
    is_whole: bool
    tokens: int
    """What the text costs, if a budget was given."""

    def to_dict(self) -> dict[str, Any]:
        """Members that say nothing are left out."""
        found = {name: getattr(self, name) for name in type(self).__match_args__}
        found |= {
            "score": round(self.score, 4),
            "parts": {name: round(part, 4) for name, part in self.parts.items()},
        }
        if not self.tokens:
            del found["tokens"]
        return {name: value for name, value in found.items() if value is not None and value != ""}

    @property
    def is_over(self) -> bool:
        """Whether what it says, or a part of it, is true no longer."""
        return self.status.endswith(("superseded", "rejected"))

    def but(self, *, text: str, tokens: int) -> Hit:
        """The same hit with another text, of which that is known."""
        values = {name: getattr(self, name) for name in type(self).__match_args__}
        return Hit(
            **values | {"text": text, "tokens": tokens, "is_whole": self.is_whole and text == self.text}
        )


class Recalled(_Hits):
    """The hits, best first. `best`: how sure the best was, also if it was not sure enough; `why` there is none."""

    best: float
    why: str
    tokens: int

    def __new__(
        cls, hits: Iterable[Hit] = (), *, best: float = 0.0, why: str = "", tokens: int = 0
    ) -> Recalled:
        made = tuple.__new__(cls, hits)
        made.best, made.why, made.tokens = best, why, tokens
        return made

    def to_dict(self) -> dict[str, Any]:
        return {
            "hits": [hit.to_dict() for hit in self],
            "best": self.best,
            "why": self.why,
            "tokens": self.tokens,
        }
