"""What a person says about the team's work goes from the person's own memory to the shared one under it
(docs/TEAMS.md).

It goes the way facts about the user go home (`send_home.py`): as an entry of the shared memory's own, with the sentence
that says it, its time and level, the person's name, and the way back. In doubt it stays. A rule stays here, too: here
it holds at once, there a reviewer decides.
"""

from __future__ import annotations

import os

from looseleaf.base.origins import is_trusted
from looseleaf.base.paths import PROJECT, is_address
from looseleaf.facts.belonging import belongs_home
from looseleaf.facts.gate import judge, proposal_of
from looseleaf.facts.team import belongs_to_team, is_rule
from looseleaf.place.send_home import HomeSender, sentence_of
from looseleaf.text.lines import NOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Proposal
    from looseleaf.facts.gate import Witness
    from looseleaf.log.entries import Entry
    from looseleaf.place.send_home import Home, Needs
    from looseleaf.store.context import Context


def bare_name(where: str) -> str:
    """Return what a memory is called among those beside it: its namespace, or its folder's name."""
    if not is_address(where):
        return os.path.basename(os.path.normpath(where))
    from looseleaf.pages.in_database import read_address

    return read_address(where).namespace


class TeamSender(HomeSender):
    topic = PROJECT
    told = "What is about the team's work stays in this memory: the shared one was not changed."
    member = "team"

    def __init__(self, context: Context, parts: Needs) -> None:
        super().__init__(context, parts)
        self._name = bare_name(context.where)  # the team need not know where it lies

    def _target(self) -> Home | None:
        found = self._parts.team()
        return found[1] if found is not None else None

    def _choose(self, entry: Entry, witnesses: Sequence[Witness]) -> Iterator[tuple[int, Proposal, Witness]]:
        chosen = list(self._choose_sure(entry, witnesses))
        yield from chosen
        # A note that only repeats a sentence which goes is said there.
        gone = {(sentence_of(proposal, witness), witness.source): witness for _, proposal, witness in chosen}
        known = {number for number, _, _ in chosen}
        for number, raw in enumerate(entry.summary.get("facts", ())):
            proposal = proposal_of(raw)
            if proposal is None or number in known or proposal.relation != NOTE or is_rule(proposal):
                continue
            for (sentence, _), witness in gone.items():
                if proposal.quote.strip() in (sentence, sentence.rstrip(".!")) and not belongs_home(proposal):
                    yield number, proposal, witness
                    break

    def _choose_sure(
        self, entry: Entry, witnesses: Sequence[Witness]
    ) -> Iterator[tuple[int, Proposal, Witness]]:
        said = {each.source: each for each in witnesses}
        for number, raw in enumerate(entry.summary.get("facts", ())):
            proposal = proposal_of(raw)
            if proposal is None or proposal.ended or self._is_held_here(proposal):
                continue
            verdict = judge(proposal, witnesses)
            witness = said.get(verdict.source)
            if (
                witness is None
                or witness.person is None
                or not (verdict.verified and is_trusted(verdict.level))
            ):
                continue
            if belongs_to_team(proposal, sentence_of(proposal, witness)):
                yield number, proposal, witness

    def _stays(self, proposal: Proposal) -> bool:
        return is_rule(proposal)

    def _meta(self, witness: Witness) -> dict[str, Any]:
        return {"person": witness.person}
