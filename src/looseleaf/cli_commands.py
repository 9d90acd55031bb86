"""The commands of a chat. Most are verbs of the command line, on the same memory; what they do is a person's act."""

from __future__ import annotations

import shlex

from looseleaf.cli import clipped, main, say
from looseleaf.core.heads import PERSON
from looseleaf.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.cli_chat import Chat
    from looseleaf.memory import Memory
    from looseleaf.values import Fact

COMMANDS = {
    "help": ("", "this list"),
    "memory": ("", "what is known: USER.md, and a line for each page"),
    "why": ("TEXT", "why words are in the last prompt or not, back to who said them"),
    "forget": ("TEXT", "say no to a fact (by its words, id or `page.md:line`), or remove a page"),
    "undo": ("[PAGE]", "take back the last edit"),
    "state": ("[…]", "the goal, tasks and decisions; or change them, as `looseleaf state` does"),
    "compact": ("", "make the window shorter, and say what it lost"),
    "cost": ("[…]", "what models took"),
    "quit": ("", "end; Ctrl-D does too"),
}
"""By name: what it takes, what it does."""

_SHOWN = 20
"""Facts that are listed to be forgotten. Who finds more says more."""


def carry_out(chat: Chat, name: str, given: str) -> None:
    """What comes of it is an answer, and is shown as one."""
    try:
        match name:
            case "help":
                say("\n".join(_help()))
            case "memory":
                _known(chat.memory)
            case "why" if given:
                _verb(chat.memory, "why", "--", given)
            case "forget" if given:
                _forget(chat, given)
            case "undo" | "state" | "cost":
                _verb(chat.memory, name, *_words(given))
            case "compact":
                _verb(chat.memory, name, *_words(given), "--model", chat.agent.model.name)
            case "why" | "forget":
                say(f"Nothing was done: /{name} wants words. Write them behind it, as in: /{name} Lyon")
            case _:
                say(
                    f"Nothing was done: there is no command /{clipped(name)}. /help lists them; a question that begins "
                    "with a slash is asked with something before it."
                )
    except Refused as refused:
        say(str(refused))


def _help() -> Iterator[str]:
    for name, (takes, about) in COMMANDS.items():
        yield f"{f'/{name} {takes}':<14}  {about}"
    yield "Ctrl-C ends an answer; what was said is kept. At an empty prompt it ends the chat."
    yield "A line that ends with \\ goes on on the next; what is pasted is one message."


def _words(given: str) -> list[str]:
    try:
        return shlex.split(given)
    except ValueError:
        raise Refused(
            f"Nothing was done: a quotation mark is open in {clipped(given)!r}. Close it."
        ) from None


def _verb(memory: Memory, *arguments: str) -> None:
    """The command line's own, in this process. It says itself what went wrong."""
    try:
        main(["--memory", memory.path, "--agent", memory.agent, *arguments])
    except SystemExit:  # help, or arguments that it does not know: argparse has explained
        pass


def _known(memory: Memory) -> None:
    page = memory.page("USER.md")
    say(page.text.rstrip("\n") if page.text.strip() else "USER.md says nothing yet.")
    say("")
    _verb(memory, "index")


# --- forgetting ------------------------------------------------------------------------


def _forget(chat: Chat, given: str) -> None:
    memory = chat.memory
    if given in memory.pages():
        if _is_yes(chat.face.ask(f"Remove the page {given}? [y/N]"), f"looseleaf undo {given}"):
            receipt = memory.delete(given, reason="removed in a chat", author=PERSON)
            say(f"{given} is removed ({receipt.id}); its history stays. /undo {given} brings it back.")
        return
    from looseleaf.cli_facts import line_of

    found = _found(memory, given)
    if not found:
        say(f"Nothing was forgotten: no fact says {clipped(given)!r}. /memory shows what is known.")
        return
    for number, fact in enumerate(found[:_SHOWN], 1):
        say(f"{number}. {line_of(fact)}")
    if len(found) > _SHOWN:
        say(f"Nothing was forgotten: {len(found):,} facts say that. Give more of the words.")
        return
    question = "Forget it? [y/N]" if len(found) == 1 else "Forget which? [numbers, all, none]"
    for fact in _chosen(found, chat.face.ask(question)):
        gone = memory.reject(fact.id or "")
        say(f"forgotten: {line_of(gone)}; it does not come back by itself. /undo brings it back.")


def _is_yes(answer: str | None, how: str) -> bool:
    if answer is None:
        say("Nothing was done: there is nobody to be asked. On a terminal, this asks.")
    elif answer.strip().lower() not in ("y", "yes"):
        say("Nothing was forgotten.")
    else:
        return True
    return False


def _found(memory: Memory, given: str) -> list[Fact]:
    """By name, else by words: a fact that has all of them."""
    try:
        return [memory.fact(given)]
    except Refused:
        words = given.casefold().split()
        facts = [*memory.facts(), *memory.facts(status="pending")]
        return [fact for fact in facts if all(word in _said(fact) for word in words)]


def _said(fact: Fact) -> str:
    return f"{fact.topic} {fact.relation}: {fact.object}".casefold()


def _chosen(found: Sequence[Fact], answer: str | None) -> list[Fact]:
    """What a person chose: nothing, unless it is clear."""
    if answer is None:
        say("Nothing was forgotten: there is nobody to be asked. `looseleaf reject ID` forgets one.")
        return []
    said = answer.strip().lower().replace(",", " ").split()
    if len(found) == 1 and said in (["y"], ["yes"]):
        return list(found)
    if len(found) > 1 and said == ["all"]:
        return list(found)
    numbers = {int(each) for each in said if each.isascii() and each.isdecimal()}
    if len(found) > 1 and said and len(numbers) == len(said) and numbers <= set(range(1, len(found) + 1)):
        return [found[number - 1] for number in sorted(numbers)]
    say("Nothing was forgotten.")
    return []
