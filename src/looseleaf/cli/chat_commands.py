"""The commands of a chat. Most are verbs of the command line, on the same memory; what they do is a person's act.

What stands behind a command is text, as it was typed: nothing has to be quoted.
"""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr, redirect_stdout

from looseleaf.base.errors import Refused
from looseleaf.cli.main import main
from looseleaf.cli.output import clipped, say
from looseleaf.log.journal import PERSON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.values import Fact
    from looseleaf.cli.chat import Chat
    from looseleaf.memory import Memory

COMMANDS = {
    "help": ("", "this list"),
    "memory": ("", "what is known: USER.md, and a line for each page"),
    "why": ("TEXT", "why words are in the last prompt or not, back to who said them"),
    "forget": ("TEXT", "say no to a fact (by its words, id or `page.md:line`), or remove a page"),
    "undo": ("[PAGE]", "take back the last edit"),
    "state": (
        "[…]",
        "the goal, tasks and decisions; or change them, as in: /state goal TEXT, /state task TEXT",
    ),
    "compact": ("", "make the window shorter, and say what it lost"),
    "cost": ("[by WHAT]", "what models took, by day, model, purpose or agent"),
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
                _known(chat)
            case "why" if given:
                _verb(chat, "why", "--", given)
            case "forget" if given:
                _forget(chat, given)
            case "undo":
                _verb(chat, "undo", *(("--", _unquoted(given)) if given else ()))
            case "state":
                _verb(chat, "state", *_state(given))
            case "cost":
                _cost(chat.memory, given)
            case "compact":
                _compact(chat, given)
            case "why" | "forget":
                say(f"Nothing was done: /{name} wants words. Write them behind it, as in: /{name} Lyon")
            case _:
                say(
                    f"Nothing was done: there is no command /{clipped(name)}. /help lists them; a question that begins "
                    "with a slash is asked with something before it."
                )
    except Refused as refused:
        say(_in_chat(str(refused)))


def _help() -> Iterator[str]:
    for name, (takes, about) in COMMANDS.items():
        yield f"{f'/{name} {takes}':<15}  {about}"
    yield "Ctrl-C ends an answer; what was said is kept. At an empty prompt it ends the chat."
    yield "A line that ends with \\ goes on on the next; what is pasted is one message."


def _known(chat: Chat) -> None:
    page = chat.memory.pages.read("USER.md")
    say(page.text.rstrip("\n") if page.text.strip() else "USER.md says nothing yet.")
    say("")
    _verb(chat, "index")


# --- verbs -----------------------------------------------------------------------------


def _verb(chat: Chat, name: str, *arguments: str) -> None:
    """The command line's own, in this process; where it names a command, that of the chat is named."""
    memory = chat.memory
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n", write_through=True) for _ in "oe")
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(["--memory", memory.path, "--agent", memory.agent, name, *arguments])
        except SystemExit:
            raise Refused(
                f"Nothing was done: /{name} does not take that. /help lists what it takes."
            ) from None
    if said := _written(out):
        say(said if name in _OF_OTHERS else _in_chat(said))
    if told := _written(err):
        told = re.sub("(?m)^looseleaf: |^Next: .*\n?", "", told)  # the next step is one of the shell's
        if told.strip():
            chat.face.tell(_in_chat(told))


_OF_OTHERS = ("why", "index")
"""Verbs that show what others said, and name no command."""

_SHELL = re.compile(
    r"`looseleaf (state set (?=goal\b|now\b|conventions\.)|state task add |(?:state|undo|why|compact|cost)\b)"
)
_SHORTER = {"state set ": "state ", "state task add ": "state task "}


def _written(file: io.TextIOWrapper) -> str:
    file.seek(0)
    return file.read().removesuffix("\n")


def _in_chat(text: str) -> str:
    """A sentence for the shell, as one says it here."""
    return _SHELL.sub(lambda found: f"`/{_SHORTER.get(found[1], found[1])}", text)


def _unquoted(text: str) -> str:
    """Without the quotation marks around all of it, which a shell would want."""
    is_quoted = len(text) > 1 and text[0] in "\"'" and text[0] == text[-1] and text.count(text[0]) == 2
    return text[1:-1] if is_quoted else text


_FORMS = {
    "goal": "/state goal TEXT",
    "now": "/state now TEXT",
    "set": "/state set FIELD TEXT, where FIELD is goal, now or conventions.NAME",
    "task": "/state task TEXT, or /state task done ID",
    "decide": "/state decide TEXT, with --why TEXT behind it if you like",
    "block": "/state block TEXT",
    "unblock": "/state unblock TEXT, or its number",
    "restore": "/state restore",
}
"""What can be done to the state, and how that is written."""


def _state(given: str) -> list[str]:
    """The arguments of the verb."""
    act, rest = _first(given)
    act = act if "." in act else act.lower()
    word, behind = _first(rest)
    match act:
        case "" | "--toon":
            if not rest:
                return [act] if act else []
        case "goal" | "now" if rest:
            return ["--", "set", act, _unquoted(rest)]
        case "set" if behind:
            return ["--", "set", word, _unquoted(behind)]
        case "task" if word.lower() in ("add", "done"):
            if behind:
                return ["--", "task", word.lower(), _unquoted(behind)]
        case "task" if rest:
            return ["--", "task", "add", _unquoted(rest)]
        case "decide" if rest:
            title, is_given, why = rest.partition(" --why ")
            reason = [f"--why={_unquoted(why.strip()).lstrip('- ')}"] if is_given else []
            return [*reason, "--", "decide", _unquoted(title.strip())]
        case "block" | "unblock" if rest:
            return ["--", act, _unquoted(rest)]
        case "restore" if not rest:
            return ["restore"]
        case _ if act.startswith("conventions.") and rest:
            return ["--", "set", act, _unquoted(rest)]
    if act in _FORMS:
        raise Refused(f"Nothing was changed: write {_FORMS[act]}.")
    raise Refused(
        f"Nothing was changed: there is no /state {clipped(act)}. Behind /state stands one of {', '.join(_FORMS)}; as "
        "in: /state goal TEXT"
    )


def _first(text: str) -> tuple[str, str]:
    """The first word, and what is behind it."""
    word, *rest = text.split(None, 1) or [""]
    return word, rest[0] if rest else ""


def _cost(memory: Memory, given: str) -> None:
    """Of this memory itself: its ledger has what was spent a moment ago."""
    from looseleaf.cli.arguments import parse
    from looseleaf.cli.verbs.status import tell
    from looseleaf.models.costs import WHATS

    asked = {"by": "day", "days": "7"}
    words = iter(given.replace("=", " ").split())
    for word in words:
        name = word.removeprefix("--")
        if name in asked or name == "agent":
            asked[name] = next(words, "")
        else:
            asked["by"] = name
    days = asked["days"]
    is_number = days.isascii() and days.isdecimal() and len(days) < 10 and int(days) > 0
    if asked["by"] not in WHATS or not is_number or asked.get("agent", "main")[:1] in ("", "-"):
        raise Refused(
            "Nothing was shown: write /cost, /cost by model (or day, purpose, agent), or /cost days 30."
        )
    tell(memory, parse(["cost", *(f"--{name}={value}" for name, value in asked.items())]))


def _compact(chat: Chat, given: str) -> None:
    if given not in ("", "--dry-run"):
        raise Refused(
            "Nothing was compacted: write /compact, or /compact --dry-run to see what would be lost."
        )
    model = chat.agent.model.name
    if not given and (sizes := _no_gain(chat.memory, model)):
        before, after = sizes
        say(
            f"Nothing was compacted, for there is nothing to gain: the window has {before:,} tokens, and would have "
            f"{after:,}."
        )
        return
    _verb(chat, "compact", *given.split(), "--model", model)


def _no_gain(memory: Memory, model: str) -> tuple[int, int] | None:
    """The tokens of the window before and after a compaction that would not make it shorter. Only the rules look, so
    that nothing is paid for it."""
    from looseleaf.distill.rules import Rules
    from looseleaf.memory import Memory

    rules = Rules() if memory.policy.distiller != "rules" else None
    with Memory(memory.path, agent=memory.agent, distiller=rules) as looking:
        loss = looking.window.compact(model=model, dry_run=True)
    if loss is None or loss.tokens_after < loss.tokens_before:
        return None
    return loss.tokens_before, loss.tokens_after


# --- forgetting ------------------------------------------------------------------------


def _forget(chat: Chat, given: str) -> None:
    memory = chat.memory
    if given in memory.pages.list():
        if _is_yes(chat.face.ask(f"Remove the page {given}? [y/N]")):
            receipt = memory.pages.delete(given, reason="removed in a chat", author=PERSON)
            say(f"{given} is removed ({receipt.id}); its history stays. /undo {given} brings it back.")
        return
    from looseleaf.cli.verbs.facts import line_of

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
        gone = memory.review.reject(fact.id or "")
        say(f"forgotten: {line_of(gone)}; it does not come back by itself. /undo brings it back.")


def _is_yes(answer: str | None) -> bool:
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
