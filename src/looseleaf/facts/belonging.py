"""Which memory a new fact belongs to: the home memory, if it is about the user; the project's, if about the work.

Topic and kind decide, and in doubt the nearer memory: a line about the work must not turn up in another project.
"""

from __future__ import annotations

import re

from looseleaf.base.paths import USER
from looseleaf.language.private_kinds import private_kinds, speaks_of_self

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.messages import Proposal
    from looseleaf.base.values import Fact

_OF_THE_USER = frozenset({"identity", "preference", "constraint", "trait"})
"""Kinds of facts that hold in any project; plans, events and decisions are mostly of the work."""

_OF_A_PERSON = frozenset("allergy condition diet medication child sibling parent partner spouse".split())
"""Labels that only a person has, on whatever page."""

_STARTS = (
    "commit push merge rebase squash branch repo test deploy release lint typecheck modul package paket dependenc api "
    "endpoint schema migration datenbank server servidor docker ticket issue sprint changelog customer client kunde"
)
_WHOLE = "git pull main master trunk build builds ci database readme codebase"
_PHRASES = (
    "this project|dieses projekt|ce projet|este proyecto|este projeto|questo progetto|dit project|code base|"
    "base de données"
)
_ANYWHERE = (
    "项目|仓库|分支|提交|测试|部署|プロジェクト|リポジトリ|ブランチ|コミット|テスト|デプロイ|"
    "프로젝트|저장소|브랜치|커밋|테스트|배포"
)
_OF_THE_WORK = re.compile(
    rf"(?<!\w)(?:(?:{'|'.join(_STARTS.split())})\w*|{'|'.join(_WHOLE.split())}|{_PHRASES})(?!\w)"
    rf"|[`/\\_{{}}<>]|\w\.\w|{_ANYWHERE}"
)
"""Words, signs and names that a project has and a person has not."""


def is_of_work(text: str) -> bool:
    """True if a sentence names what only a project has: a branch, a test, a path."""
    return bool(_OF_THE_WORK.search(text.casefold()))


def belongs_home(proposal: Proposal) -> bool:
    """True if a proposed fact is about the user, and no other project's reader would wonder at it."""
    if proposal.topic != USER:
        return False
    if is_of_work(proposal.object):
        return False
    return proposal.kind in _OF_THE_USER or bool(private_kinds(proposal.object, proposal.relation))


def why_private(fact: Fact) -> str:
    """Return the private kinds of a fact as its line says it; "" for most."""
    return ", ".join(sorted(_kinds_of(fact.topic, fact.relation, fact.object)))


def private_kinds_of_line(line: str, topic: str) -> frozenset[str]:
    """Return the private kinds of a line of a page: a fact with a label, or a sentence."""
    words = line.strip().lstrip("-*+# ")
    label, colon, said = words.partition(": ")
    return _kinds_of(topic, label, said) | private_kinds(words) if colon else private_kinds(words)


def _kinds_of(topic: str, relation: str, said: str) -> frozenset[str]:
    is_of_person = topic == USER or relation.casefold() in _OF_A_PERSON
    return private_kinds(said, relation if is_of_person else "")


def is_about_user(sentence: str) -> bool:
    """True if a sentence in which the rules read no fact is about its writer, and not about the work."""
    return speaks_of_self(sentence) and not is_of_work(sentence)
