"""What was said in a session, by which an agent's writing is judged: the user's words, and whether others spoke."""

from __future__ import annotations

from looseleaf.base.messages import Proposal
from looseleaf.facts.evidence import is_copied
from looseleaf.facts.gate import claim_of, is_drawn_from
from looseleaf.language.clauses import spelled
from looseleaf.language.own_words import own_words
from looseleaf.language.relations import BY_LABEL
from looseleaf.language.slots import relation_name, relation_of
from looseleaf.language.value_keys import SENTENCES, key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Said = tuple[str, str]

_HEARD = 200
"""Messages that are read for what they state, the last ones."""


class Spoken:
    """What was said in the session in which an agent writes: the user's messages, and whether a tool spoke. What was
    asked of it once is known: a page has many lines, and a session many messages."""

    __slots__ = ("_facts", "_own", "_said", "_stated", "read", "tools", "user")

    def __init__(
        self,
        user: Sequence[str] = (),
        tools: bool = False,
        stated: Callable[[str], Sequence[Said]] | None = None,
        read: Sequence[Said] = (),
    ) -> None:
        """`stated`: the facts that a message states, as (relation, object). `read`: what others said, as (the name of
        the tool, text)."""
        self.user = tuple(user)
        self.tools = tools
        self.read = tuple(read)
        self._stated = stated
        self._facts: dict[str, Sequence[Said]] = {}
        self._own: list[tuple[str, str]] | None = None
        self._said: dict[Said, bool] = {}

    def __repr__(self) -> str:
        return f"Spoken({self.user!r}, tools={self.tools!r})"

    @property
    def is_doubtful(self) -> bool:
        """Whether an agent may have been told something by others than the user: a tool spoke, or nobody was heard."""
        return self.tools or not self.user

    def has(self, said: str, relation: str = "note") -> bool:
        """Whether one message of the user says it, of itself or of a relation."""
        known = self._said.get((relation, said))
        if known is None:
            if self._own is None:
                self._own = [(own, spelled(own)) for own in map(own_words, self.user)]
            claim = claim_of(Proposal(relation, said, ""))
            known = any(claim.is_said_in(own, spelt=spelt) for own, spelt in self._own)
            known = (known and self._is_stated(said, relation)) or self._is_copied(said, relation)
            self._said[relation, said] = known
        return known

    def _is_copied(self, said: str, relation: str) -> bool:
        """Whether it is a rule, a plan or the like that the user wrote down word for word."""
        is_sentence = relation_name(relation) in SENTENCES
        return is_sentence and any(is_copied(said, own) for own, _ in self._own or ())

    def is_source_of(self, said: str, relation: str = "note") -> bool:
        """Whether it is a conclusion from one of the user's messages, with no word that others brought."""
        label = "" if relation_name(relation) in BY_LABEL else relation
        own = [each for text in self.user if (each := own_words(text)).strip()]
        others = [text for _, text in self.read] + [text for text in self.user if own_words(text) != text]
        return any(is_drawn_from(said, [each], others, label) for each in own)

    def _is_stated(self, said: str, relation: str) -> bool:
        """Once a tool spoke, words are not enough for a relation that needs none of its own ("Eve wrote to me" makes no
        name): somebody must read the fact off a message; and of one that holds one value, off the last that names
        any."""
        name = relation_name(relation)
        if not self.tools or self._stated is None or name == "note" or name not in BY_LABEL:
            return True
        for text in self.user[: -_HEARD - 1 : -1]:
            if text not in self._facts:
                self._facts[text] = self._stated(text)
            values = [value for label, value in self._facts[text] if relation_name(label) == name]
            if any(key(value, relation) == key(said, relation) for value in values):
                return True
            if values and not relation_of(relation).many:
                return False
        return False
