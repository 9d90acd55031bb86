"""What a compaction may not lose, and the report that says whether it did."""

from __future__ import annotations

from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Distilled, Noted
from looseleaf.log.trace_messages import guard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any


CONSTRAINT, DECISION, WORK, QUESTION = "Constraint", "Decision", "Open work", "Open question"

_REPORTED = {
    DECISION: "decisions",
    CONSTRAINT: "constraints",
    WORK: "unresolved work",
    QUESTION: "open questions",
}
_RANKS = (CONSTRAINT, DECISION, WORK, QUESTION)
"""The most important first."""


@frozen
class Kept:
    """One kind of thing that a compaction may not lose: how many went in, how many are still told, which are not."""

    what: str
    before: int
    after: int
    missing: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"what": self.what, "in": self.before, "out": self.after, "missing": list(self.missing)}


@frozen
class Loss:
    """What a compaction kept and dropped, and where to find it again."""

    entry: str | None
    level: str
    distiller: str
    tokens_before: int
    tokens_after: int
    turns: int
    traces: int
    tool_results: int
    tokens_dropped: int
    shortened: tuple[tuple[str, int], ...] = ()
    kept: tuple[Kept, ...] = ()
    failures: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        names = ("entry", "level", "distiller", "tokens_before", "tokens_after")
        return {name: getattr(self, name) for name in names} | {
            "dropped": {
                "turns": self.turns,
                "traces": self.traces,
                "tool_results": self.tool_results,
                "tokens": self.tokens_dropped,
            },
            "shortened": [{"trace": trace, "tokens": tokens} for trace, tokens in self.shortened],
            "kept": [each.to_dict() for each in self.kept],
            "failures": list(self.failures),
            "expand": self.expand,
        }

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> Loss:
        """As an entry has it. KeyError or TypeError for what is no report."""
        dropped = raw["dropped"]
        return cls(
            raw["entry"],
            raw["level"],
            raw["distiller"],
            raw["tokens_before"],
            raw["tokens_after"],
            dropped["turns"],
            dropped["traces"],
            dropped["tool_results"],
            dropped["tokens"],
            tuple((each["trace"], each["tokens"]) for each in raw["shortened"]),
            tuple(
                Kept(each["what"], each["in"], each["out"], tuple(each["missing"])) for each in raw["kept"]
            ),
            tuple(raw["failures"]),
        )

    def __str__(self) -> str:
        return self.text

    @property
    def expand(self) -> str | None:
        return f"looseleaf expand {self.entry.rpartition('/')[2]}" if self.entry else None

    @property
    def text(self) -> str:
        """For people."""
        results = _many(self.tool_results, "tool result")
        dropped = f"{_many(self.turns, 'turn')}, {_many(self.traces, 'trace')} ({results})"
        lines = [
            f"window: {self.tokens_before:,} → {self.tokens_after:,} tokens ({self.level}, {self.distiller})",
            f"dropped: {dropped}, {self.tokens_dropped:,} tokens",
        ]
        if self.shortened:
            tokens = sum(tokens for _, tokens in self.shortened)
            lines.append(f"shortened in place: {len(self.shortened)} traces, {tokens:,} tokens left out")
        lines += [f"{each.what}: {each.before} in, {each.after} out" for each in self.kept]
        lines += [f"  not told any more: {text}" for each in self.kept for text in each.missing]
        lines += [f"failed: {failure}" for failure in self.failures]
        if self.expand:
            lines.append(f"everything is still there: {self.expand}")
        return "\n".join(lines)


def kept(what: str, before: Sequence[Noted], told: str) -> Kept:
    """Which of the sentences are still told in a text, by their words."""
    words = _words(told)
    missing = tuple(each.text for each in before if _words(guard(each.text)).strip() not in words)
    return Kept(what, len(before), len(before) - len(missing), missing)


def _many(count: int, name: str) -> str:
    return f"{count:,} {name}{'s' * (count != 1)}"


def _words(text: str) -> str:
    return f" {' '.join(text.casefold().split())} "


# --- what must be kept -------------------------------------------------------------------


def must_keep(before: Sequence[str], *found: Distilled) -> tuple[str, ...]:
    """Each thing once, as a line with its label, in the order in which it was said: what was kept so far, then what
    was found."""
    lines = list(before)
    for distilled in found:
        lines += [f"{label}: {' '.join(each.text.split())}" for label, each in _labelled(distilled)]
    return tuple({_words(line): line for line in lines}.values())


def by_rank(lines: Sequence[str]) -> list[str]:
    """The most important first; of two that matter the same, the newer."""

    def rank(line: str) -> int:
        label = line.partition(": ")[0]
        return _RANKS.index(label) if label in _RANKS else len(_RANKS)

    newest_first = list(reversed(lines))
    newest_first.sort(key=rank)
    return newest_first


def told_of(found: Distilled, told: str) -> Distilled:
    """Only those of the noted sentences that a text tells, by their words."""
    words = _words(told)

    def own(noted: tuple[Noted, ...]) -> tuple[Noted, ...]:
        return tuple(each for each in noted if _words(guard(each.text)).strip() in words)

    return Distilled(
        "",
        decisions=own(found.decisions),
        tasks=own(found.tasks),
        open_questions=own(found.open_questions),
        constraints=own(found.constraints),
    )


def still_told(
    found: Distilled,
    before: Sequence[str],
    told: str,
    is_outdated: Callable[[str], bool] = lambda line: False,
) -> list[Kept]:
    """Of each kind, what is still told after a compaction. What was taken back in the meantime need not be."""
    every = [*_labelled(found), *(_unlabelled(line) for line in before)]
    noted = [(label, each) for label, each in every if not is_outdated(each.text)]
    return [
        kept(what, list({_words(each.text): each for name, each in noted if name == label}.values()), told)
        for label, what in _REPORTED.items()
    ]


def _labelled(distilled: Distilled) -> Iterator[tuple[str, Noted]]:
    for label, own in (
        (CONSTRAINT, distilled.constraints),
        (DECISION, distilled.decisions),
        (WORK, distilled.tasks),
        (QUESTION, distilled.open_questions),
    ):
        for each in own:
            yield label, each


def _unlabelled(line: str) -> tuple[str, Noted]:
    label, _, text = line.partition(": ")
    return label, Noted(text, "")
