"""What the screens call people: whose words something rests on, and who decided.

In a memory of one person, that is "you". Invariant: where several share a memory, only the person who is signed in is
"you"; the others have their names, and one whom nobody knows has none.
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen
from looseleaf.base.paths import USER, fold_name
from looseleaf.log.journal import EXTERNAL, PERSON, PROGRAM
from looseleaf.serve.web.render import MEANING, MEANS, author, origin, shown, topic
from looseleaf.serve.web.wording import cut
from looseleaf.store.streams import ASKER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Edit, Fact, Level
    from looseleaf.explain.sources import Signed
    from looseleaf.memory import Memory
    from looseleaf.recall.hits import Hit

YOU = "You"
UNKNOWN = "A person"
"""One of several, where nobody knows which."""
_LONGEST = 60
"""Characters of a name: no server gives as many, but a log may be brought from elsewhere."""
_TAKEN = frozenset(
    {"you", "nobody", "agent", "assistant", "the assistant", "the program", "the tool", "a person"}
)
"""What screens call others: a person of such a name stands in quotes."""
_SHARED = {
    "doubtful": "Something that was said later may have changed it.",
    "unverified": "A model wrote it, and nobody found it in a person’s words.",
    "rejected": "A person said that it is wrong.",
}
"""What these tags mean where several people share a memory."""


@frozen
class Naming:
    """The names of people, for one who reads. `reader`: who is signed in; "" if that is not known. `shared`: the
    layers that several people share, "" for the memory itself."""

    reader: str = ""
    shared: frozenset[str] = frozenset()

    def is_shared(self, layer: str | None = None) -> bool:
        """True if several people share the memory, or its layer."""
        return (layer or "") in self.shared

    def who(self, person: str | None, layer: str | None = None) -> str:
        """Return who said or decided something."""
        if not self.is_shared(layer) or (person and fold_name(person) == fold_name(self.reader)):
            return YOU
        name = cut(shown(" ".join((person or "").split())), _LONGEST)
        return (f"“{name}”" if fold_name(name) in _TAKEN else name) or UNKNOWN

    def whose(self, person: str | None, layer: str | None = None) -> str:
        """Return whose words something rests on: `Your`, `Mira’s`."""
        who = self.who(person, layer)
        return "Your" if who == YOU else f"{who}’s"

    # --- facts

    def meaning(self, level: Level | None, of: Fact | Hit | Signed | None = None) -> str:
        """Return what a level means; of something that has it, with the name of the person who said it."""
        layer = getattr(of, "layer", None)
        told = MEANING.get(level, MEANING[None])
        if not self.is_shared(layer):
            return told
        whose = self.whose(of.person if of is not None else None, layer)
        return {
            "confirmed": f"{UNKNOWN} confirmed it, or wrote it.",
            "said": f"{whose} own words say it.",
            "inferred": f"A model concluded it, or it is not quite {_within(whose)} words.",
            "tainted": "It came from a tool, a web page or an import. No person said it.",
        }.get(level or "", told)

    def means(self, word: str, layer: str | None = None) -> str:
        """Return what a tag means; "" if it needs no explanation."""
        return (_SHARED.get(word) if self.is_shared(layer) else None) or MEANS.get(word, "")

    def origin(self, fact: Fact) -> str:
        """Return where a fact comes from, as the beginning of a sentence."""
        is_said = fact.level != "tainted" and fact.origin in ("user", PERSON, EXTERNAL)
        if not is_said or not self.is_shared(fact.layer):
            return origin(fact)
        return f"Said by {_within(self.who(fact.person, fact.layer))}"

    def topic(self, name: str) -> str:
        """Return the heading of a topic. Where several people share a memory, none is about the one who reads."""
        return name if name == USER and self.is_shared() else topic(name)

    # --- pages

    def author(self, edit: Edit) -> str:
        """Return who made an edit of this memory, in a word or two."""
        if not self.is_shared():
            return author(edit.author)
        # An edit found on disk has the name of the one who looked first, who need not have made it.
        if edit.author == EXTERNAL:
            return f"{UNKNOWN}, in the folder"
        return self.who(edit.person) if edit.author == PERSON else author(edit.author)

    def editor(self, edit: Edit, path: str) -> str:
        """Return who made an edit, as the history of its page names them."""
        layer = _layer_in(path)
        if edit.author != PERSON or not self.is_shared(layer):
            return edit.author.replace(":", " ")
        return self.who(edit.person, layer)

    def signer(self, line: Signed, path: str) -> str:
        """Return whose a line of a page is. What a person approved is still that of the one who said it."""
        layer, name = _layer_in(path), line.author or ""
        if (
            name not in (PERSON, PROGRAM)
            or not self.is_shared(layer)
            or (name == PROGRAM and not line.person)
        ):
            return name.replace(":", " ")
        return f"said by {_within(self.who(line.person, layer))}"


def naming_of(memory: Memory) -> Naming:
    """Return what people are called in a memory, for the person who asks it now."""
    farther = memory.parts.farther(lambda far: far.context.policy.shared)
    shared = {name for name, is_shared in farther if is_shared}
    return Naming(ASKER.get(), frozenset(shared | {""} if memory.policy.shared else shared))


def _within(words: str) -> str:
    """Return a name as it stands within a sentence."""
    is_name = words.removesuffix("’s") not in (YOU, "Your", UNKNOWN)
    return words if is_name else words[:1].lower() + words[1:]


def _layer_in(path: str) -> str:
    """Return the layer in the address of a page: `heron:facts/work.md`."""
    layer, colon, _ = path.partition(":")
    return layer if colon else ""
