"""The commands of a chat. Most are verbs of the command line, on the same memory, and count as a person's acts.

The text after a command is taken as typed: nothing has to be quoted.
"""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr, redirect_stdout

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.immutable import frozen
from looseleaf.cli.output import clipped, line_of, say
from looseleaf.log.journal import PERSON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from looseleaf.base.values import Fact
    from looseleaf.cli.chat_faces import Face
    from looseleaf.memory import Memory

    RunVerb = Callable[[list[str]], int]
    """Runs a command line in this process, and returns its exit code."""


@frozen
class Sitting:
    """The parts of a chat that its commands act on."""

    memory: Memory
    face: Face
    model: str
    run_verb: RunVerb


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
"""Facts that are listed to be forgotten. If there are more, the person gives more words."""


def run_command(chat: Sitting, name: str, given: str) -> None:
    """Run a command; its result is shown as an answer."""
    try:
        match name:
            case "help":
                say("\n".join(_help()))
            case "memory":
                page = chat.memory.pages.read("USER.md")
                say(page.text.rstrip("\n") if page.text.strip() else "USER.md says nothing yet.")
                say("")
                _run_verb(chat, "index")
            case "why" if given:
                _run_verb(chat, "why", "--", given)
            case "forget" if given:
                _forget(chat, given)
            case "undo":
                _run_verb(chat, "undo", *(("--", _unquote(given)) if given else ()))
            case "state":
                _run_verb(chat, "state", *state_arguments(given))
            case "cost":
                _show_costs(chat.memory, given)
            case "compact":
                _compact(chat, given)
            case "why" | "forget":
                say(f"Nothing was done: /{name} needs words. Write them after it, as in: /{name} Lyon")
            case _:
                say(
                    f"Nothing was done: there is no command /{clipped(name)}. /help lists them. To ask a question that "
                    "begins with a slash, put something before it."
                )
    except Refused as refused:
        say(chat_spelling(str(refused)))


def _help() -> Iterator[str]:
    for name, (takes, about) in COMMANDS.items():
        yield f"{f'/{name} {takes}':<15}  {about}"
    yield "Ctrl-C ends an answer; what was said is kept. At an empty prompt it ends the chat."
    yield "A line that ends with \\ goes on on the next; what is pasted is one message."


def _run_verb(chat: Sitting, name: str, *arguments: str) -> None:
    """Run a verb of the command line in this process; commands that it names become those of the chat."""
    memory = chat.memory
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n", write_through=True) for _ in "oe")
    with redirect_stdout(out), redirect_stderr(err):
        try:
            chat.run_verb(["--memory", memory.where, "--agent", memory.agent, name, *arguments])
        except SystemExit:
            raise Invalid(
                f"Nothing was done: /{name} does not take that. /help lists what it takes."
            ) from None
    if said := _read_back(out):
        say(said if name in _OF_OTHERS else chat_spelling(said))
    if told := _read_back(err):
        told = re.sub("(?m)^looseleaf: |^Next: .*\n?", "", told)  # the next step is for a shell
        if told.strip():
            chat.face.tell(chat_spelling(told))


_OF_OTHERS = ("why", "index")
"""Verbs that show the words of others, and name no command."""

_SHELL = re.compile(
    r"`looseleaf (state set (?=goal\b|now\b|conventions\.)|state task add |(?:state|undo|why|compact|cost)\b)"
)
_SHORTER = {"state set ": "state ", "state task add ": "state task "}


def _read_back(file: io.TextIOWrapper) -> str:
    file.seek(0)
    return file.read().removesuffix("\n")


def chat_spelling(text: str) -> str:
    """Return a sentence for the shell with the commands as a chat spells them."""
    return _SHELL.sub(lambda found: f"`/{_SHORTER.get(found[1], found[1])}", text)


def _unquote(text: str) -> str:
    """Return text without quotation marks around all of it, which only a shell needs."""
    is_quoted = len(text) > 1 and text[0] in "\"'" and text[0] == text[-1] and text.count(text[0]) == 2
    return text[1:-1] if is_quoted else text


_FORMS = {
    "goal": "/state goal TEXT",
    "now": "/state now TEXT",
    "set": "/state set FIELD TEXT, where FIELD is goal, now or conventions.NAME",
    "task": "/state task TEXT, or /state task done ID",
    "decide": "/state decide TEXT, with --why TEXT after it if you like",
    "block": "/state block TEXT",
    "unblock": "/state unblock TEXT, or its number",
    "restore": "/state restore",
}
"""By act on the state, how to write it."""


def state_arguments(given: str) -> list[str]:
    """Return the arguments of the verb `state` for the text after /state."""
    act, rest = _first(given)
    act = act if "." in act else act.lower()
    word, behind = _first(rest)
    match act:
        case "" | "--toon":
            if not rest:
                return [act] if act else []
        case "goal" | "now" if rest:
            return ["--", "set", act, _unquote(rest)]
        case "set" if behind:
            return ["--", "set", word, _unquote(behind)]
        case "task" if word.lower() in ("add", "done"):
            if behind:
                return ["--", "task", word.lower(), _unquote(behind)]
        case "task" if rest:
            return ["--", "task", "add", _unquote(rest)]
        case "decide" if rest:
            title, is_given, why = rest.partition(" --why ")
            reason = [f"--why={_unquote(why.strip()).lstrip('- ')}"] if is_given else []
            return [*reason, "--", "decide", _unquote(title.strip())]
        case "block" | "unblock" if rest:
            return ["--", act, _unquote(rest)]
        case "restore" if not rest:
            return ["restore"]
        case _ if act.startswith("conventions.") and rest:
            return ["--", "set", act, _unquote(rest)]
    if act in _FORMS:
        raise Invalid(f"Nothing was changed: write {_FORMS[act]}.")
    raise NotFound(
        f"Nothing was changed: there is no /state {clipped(act)}. After /state comes one of {', '.join(_FORMS)}; as "
        "in: /state goal TEXT"
    )


def _first(text: str) -> tuple[str, str]:
    """Return the first word, and the text after it."""
    word, *rest = text.split(None, 1) or [""]
    return word, rest[0] if rest else ""


def _show_costs(memory: Memory, given: str) -> None:
    """Show the costs, from the open memory: its ledger has the latest calls."""
    from looseleaf.cli.arguments import parse
    from looseleaf.cli.verbs.status import show_costs
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
        raise Invalid(
            "Nothing was shown: write /cost, /cost by model (or day, purpose, agent), or /cost days 30."
        )
    show_costs(memory, parse(["cost", *(f"--{name}={value}" for name, value in asked.items())]))


def _compact(chat: Sitting, given: str) -> None:
    if given not in ("", "--dry-run"):
        raise Invalid(
            "Nothing was compacted: write /compact, or /compact --dry-run to see what would be lost."
        )
    if not given and (sizes := _sizes_without_gain(chat.memory, chat.model)):
        before, after = sizes
        say(
            f"Nothing was compacted: there is nothing to gain. The window has {before:,} tokens, and would have "
            f"{after:,}."
        )
        return
    _run_verb(chat, "compact", *given.split(), "--model", chat.model)


def _sizes_without_gain(memory: Memory, model: str) -> tuple[int, int] | None:
    """Return the tokens of the window before and after a compaction that would not shorten it; None: it would. Only the
    rules are asked, so that it costs nothing."""
    from looseleaf.distill.rules import Rules
    from looseleaf.memory import Memory

    rules = Rules() if memory.policy.distiller != "rules" else None
    with Memory(memory.where, agent=memory.agent, distiller=rules) as looking:
        loss = looking.window.compact(model=model, dry_run=True)
    if loss is None or loss.tokens_after < loss.tokens_before:
        return None
    return loss.tokens_before, loss.tokens_after


def _forget(chat: Sitting, given: str) -> None:
    memory = chat.memory
    if given in memory.pages.list():
        if _is_yes(chat.face.ask(f"Remove the page {given}? [y/N]")):
            receipt = memory.pages.delete(given, reason="removed in a chat", author=PERSON)
            say(f"{given} was removed ({receipt.id}); its history stays. /undo {given} brings it back.")
        return
    from looseleaf.facts.identity import matching

    found = [
        fact for status in ("current", "pending") for fact in matching(memory.facts(status=status), given)
    ]
    if not found:
        say(f"Nothing was forgotten: no fact says {clipped(given)!r}. /memory shows what is known.")
        return
    for number, fact in enumerate(found[:_SHOWN], 1):
        say(f"{number}. {line_of(fact)}")
    if len(found) > _SHOWN:
        say(f"Nothing was forgotten: {len(found):,} facts say that. Give more of the words.")
        return
    question = "Forget it? [y/N]" if len(found) == 1 else "Forget which? [numbers, all, none]"
    for fact in _choose(found, chat.face.ask(question)):
        gone = memory.review.reject(fact.id or "")
        say(f"forgotten: {line_of(gone)}; it does not come back by itself. /undo brings it back.")


def _is_yes(answer: str | None) -> bool:
    if answer is None:
        say("Nothing was done: there is no terminal to ask at. Do this in a chat at a terminal.")
    elif answer.strip().lower() not in ("y", "yes"):
        say("Nothing was forgotten.")
    else:
        return True
    return False


def _choose(found: Sequence[Fact], answer: str | None) -> list[Fact]:
    """Return the facts that a person's answer names; none, unless it is clear."""
    if answer is None:
        say("Nothing was forgotten: there is no terminal to ask at. `looseleaf reject ID` forgets one.")
        return []
    said = answer.strip().lower().replace(",", " ").split()
    if said in ((["y"], ["yes"]) if len(found) == 1 else (["all"],)):
        return list(found)
    numbers = {int(each) for each in said if each.isascii() and each.isdecimal()}
    if len(found) > 1 and said and len(numbers) == len(said) and numbers <= set(range(1, len(found) + 1)):
        return [found[number - 1] for number in sorted(numbers)]
    say("Nothing was forgotten.")
    return []
