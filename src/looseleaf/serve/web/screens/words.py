"""The screen of words: what the marks mean, and the words that the other screens use."""

from __future__ import annotations

from looseleaf.serve.web.ask import ask
from looseleaf.serve.web.naming import naming_of
from looseleaf.serve.web.render import page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.serve.web.ask import Screen
    from looseleaf.serve.web.naming import Naming

WORDS = (
    (
        "What you can do",
        (
            ("confirm", "Say that a fact is so. It then counts as your own word."),
            ("correct", "Say what is right instead. The old words stay in the history."),
            ("reject", "Say that a fact is wrong. No agent is told it any more; its history keeps it."),
            ("pin", "Call a fact essential: an agent is told it among the first."),
            ("score", "Say how much a fact matters, from 0 to 10."),
            ("forget", "Have something removed from everywhere, for good. It cannot be undone."),
            ("undo", "Take back the last thing that you did here."),
        ),
    ),
    (
        "What is kept",
        (
            ("memory", "All that is kept for you: one folder of files on this machine."),
            ("fact", "One thing that is known, with the words that said it and its dates."),
            ("page", "A file of text with facts and notes. You can change it."),
            ("topic", "What facts are about. Each topic has its page; “About you” is one."),
            ("message", "What you or an agent said, as it was said."),
            ("turn", "A message of yours, with all that the agent did and said to answer it."),
            ("session", "One sitting with an agent: turns, one after the other."),
            ("review", "Where things wait for your yes or no. No agent is told them before."),
            ("source", "Where words come from: a message, a page, or what was given."),
        ),
    ),
    (
        "What happens to it",
        (
            ("agent", "The program that you talk to, which uses this memory."),
            ("model", "What an agent thinks with. It sees a prompt, and nothing else."),
            ("prompt", "All that a model is told before it answers."),
            ("window", "The part of the talk that is still in the prompt, word for word."),
            ("compact", "Tell old talk in short, so that the prompt has room. Every word stays in Talk."),
            ("distill", "Read talk, and note the facts in it."),
            ("token, in a prompt or a cost", "A piece of a word. Models count and charge in these."),
            ("token, in Settings", "A key with which a program uses this memory."),
            ("index", "What makes the search quick. It can be built again at any time."),
        ),
    ),
)
"""Words by their headings, each with what it means here."""
SHARED = {
    "memory": "All that is kept for the people who share it.",
    "topic": "What facts are about. Each topic has its page.",
    "message": "What a person or an agent said, as it was said.",
    "turn": "A message of a person, with all that the agent did and said to answer it.",
}
"""What these mean where several people share a memory."""


def words_of(naming: Naming) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the words by their headings, for the people of a memory."""
    other = SHARED if naming.is_shared() else {}
    return [(heading, [(word, other.get(word, means)) for word, means in found]) for heading, found in WORDS]


async def _words(request: Request) -> Response:
    naming = await ask(request, naming_of)
    return page(request, "words.html", words=words_of(naming))


ROUTES: list[Screen] = [("/words", ["GET"], _words)]
