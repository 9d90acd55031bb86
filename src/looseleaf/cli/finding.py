"""What was found of one thing that was looked at."""

from __future__ import annotations

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from looseleaf.base.errors import Refused

    Verdict = Literal["ok", "look", "broken"]


@frozen
class Finding:
    """`ok`: nothing is to be done; `look`: it works, and a person should look at it; `broken`: it does not work.
    `then` says what to do."""

    name: str
    verdict: Verdict
    says: str
    then: str = ""

    def to_dict(self) -> dict[str, str]:
        return {"name": self.name, "verdict": self.verdict, "says": self.says, "then": self.then}


def refused(name: str, verdict: Verdict, error: Refused, asked: str) -> Finding:
    """Of a thing that was refused: why, and what its last sentence says to do. `asked`: how the refusal begins for
    whoever asked for more than a look."""
    says, _, then = str(error).removeprefix(asked).rstrip(".").rpartition(". ")
    return Finding(name, verdict, says, f"{then}.")
