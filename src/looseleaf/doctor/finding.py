"""What was found of one thing that was looked at."""

from __future__ import annotations

from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

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
