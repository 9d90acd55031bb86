"""Which memory a new fact belongs to: the home memory, if it is about the user; the project's, if about the work.

Topic and kind decide, and in doubt the nearer memory: a line about the work must not turn up in another project.
"""

from __future__ import annotations

import re

from looseleaf.base.paths import PROJECT, USER
from looseleaf.language.private_kinds import chances_of, private_kinds, split_sentences
from looseleaf.language.private_labels import is_of_work_line, kind_of_label, private_kind_of
from looseleaf.text.lines import NOTE, split_relation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.messages import Proposal

_OF_THE_USER = frozenset({"identity", "preference", "constraint", "trait"})
"""Kinds of facts that hold in any project; plans, events and decisions are mostly of the work."""

_STARTS = (
    "commit push merge rebase squash branch repo test deploy release lint typecheck modul package paket dependenc api "
    "endpoint schema migration datenbank server servidor docker ticket issue sprint changelog customer client kunde"
)
_WHOLE = "git pull main master trunk build builds ci database readme codebase"
_PHRASES = (
    "(?:this|the current) (?:project|repo|repository|workspace)|here we|diese[sm]? (?:projekt|repo|repository)|"
    "ce (?:projet|dépôt|repo)|(?:est|nest)[eé] (?:proyecto|projeto|repositorio|repositório|repo)|"
    "quest[oa] (?:progetto|repository|repo)|(?:dit|deze) (?:project|repo|repository)|code base|base de données"
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
_OF_THIS_PROJECT = re.compile(
    rf"(?<!\w)(?:{_PHRASES})(?!\w)|(?:这个?|這個?|本)(?:项目|專案|仓库)|このプロジェクト|이 프로젝트"
)
"""What limits a sentence to the project in which it is said."""


def is_of_work(text: str) -> bool:
    """True if a sentence names what only a project has: a branch, a test, a path."""
    return bool(_OF_THE_WORK.search(text.casefold()))


_HOME = 0.6
_PRIVATE, _DOUBTFUL = 0.5, 0.35
"""A sentence is about the user from the first chance on; from the last on if the second says that it is private."""


def is_about_user(sentence: str) -> bool:
    """Return True if a sentence is about its writer, and not about the work."""
    private, home = chances_of(sentence)
    return home >= _HOME or (private >= _PRIVATE and home >= _DOUBTFUL)


def may_be_shown(talk: str) -> bool:
    """Return True if talk may be quoted where colleagues read it: the log has it anyway, so in doubt it is not."""
    pairs = map(chances_of, split_sentences(talk))
    return not private_kinds(talk) and all(private < _QUOTED and home < _HOME for private, home in pairs)


_QUOTED = 0.15
"""From which chance on that a sentence is private it is not quoted."""


def belongs_home(proposal: Proposal) -> bool:
    """Return True if a proposed fact is about the user, and no other project's reader would wonder at it."""
    if proposal.relation == NOTE:
        return proposal.topic in (USER, PROJECT) and is_about_user(_plain(proposal))
    if proposal.topic != USER or is_of_work(proposal.object):
        return False
    if private_kinds(proposal.object, proposal.relation):
        return True
    said = _plain(proposal)
    if proposal.kind not in _OF_THE_USER or _OF_THIS_PROJECT.search(said.casefold()):
        return False
    return max(chances_of(said)) >= _DOUBTFUL


def _plain(proposal: Proposal) -> str:
    """Return a note as it was said: without the dates that were added to it."""
    return proposal.quote.strip() or proposal.object


def private_kinds_of_line(line: str, topic: str) -> frozenset[str]:
    """Return the private kinds of a line of a page: a fact with a label, a summary, or sentences."""
    words = line.strip().lstrip("-*+#> ")
    label, said = split_relation(words) or ("", "")
    if not label or not said:
        return private_kinds(words)
    if topic == USER:
        kind, _ = kind_of_label(label)
        return private_kinds(words) | private_kinds(said, label) | (frozenset({kind}) if kind else _NONE)
    kind = private_kind_of(label, said)
    if kind:
        return private_kinds(said) | {kind}
    is_of_work_here = is_of_work_line(label, said) or (kind_of_label(label)[0] and is_of_work(said))
    return private_kinds(said) if is_of_work_here else private_kinds(words) | private_kinds(said)


_NONE: frozenset[str] = frozenset()
