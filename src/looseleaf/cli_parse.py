"""The arguments of the command line: one table of verbs, read in a few lines; help and mistakes are argparse's.

Whatever the few lines accept, argparse reads the same; whatever they do not, it explains.
"""

from __future__ import annotations

from looseleaf.values import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Arguments = dict[str, dict[str, Any]]
    """By name, what argparse is told of each; those that begin with `-` are options."""

LAST = 20
"""How many turns and sessions are listed to a person who gives no number."""


class Options:
    """What was asked for: `run`, and a value for every option and argument of the verb."""

    run: str
    memory: str | None
    agent: str
    json: bool
    path: str | None
    page: Any  # text, or None where the verb can do without
    limit: int
    as_of: str | None
    since: str | None
    role: str
    text: Any  # as above
    args: str | None
    result: str | None
    call_id: str | None
    name: Any  # as above
    error: bool
    session: str | None
    turn: str | None
    model: str | None
    dry_run: bool
    entry: str | None
    topic: str | None
    mine: bool
    kind: str | None
    pending: bool
    superseded: bool
    rejected: bool
    fact: str
    score: str
    off: bool
    full: bool
    pages: bool
    distiller: str
    apply: bool
    act: str | None
    what: Any  # as above
    value: Any  # as above
    why: str | None
    toon: bool
    task: str | None
    budget: int | None
    explain: bool
    messages: bool
    replay: str | None
    diff: str | None
    prompt: str | None
    last: int

    done = ""
    """What a command has done, once that is durable: said if the answer cannot be written."""


def parse(arguments: Sequence[str]) -> Options:
    """The table below, read in a few lines.

    argparse with all it imports takes a third as long as starting Python; a hook runs a command for every prompt.
    """
    options = Options()
    verb = ""
    own: Arguments = {}
    free: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        if argument == "--" and verb:
            rest = list(waiting)  # whatever they look like, these are no options
            if not 0 < len(rest) <= len(free) or not all(
                _may_be(own[name], each) for name, each in zip(free, rest, strict=False)
            ):
                return explain(arguments)
            for each in rest:
                setattr(options, free.pop(0), each)
            break
        name, equals, value = SHORT.get(argument, argument).partition("=")
        known = SHARED.get(name) or (own.get(name) if name.startswith("-") else None)
        if not verb and argument in VERBS:
            verb = argument
            options.run, _, own, _ = VERBS[verb]
            free = [each for each in own if not each.startswith("-")]
        elif known is None and verb and free and (argument == "-" or not argument.startswith("-")):
            if not _may_be(own[free[0]], argument):
                return explain(arguments)
            setattr(options, free.pop(0), argument)
        elif known is None or (equals and "action" in known):
            return explain(arguments)
        elif "action" in known:
            setattr(options, _attribute(name, known), True)
        else:
            value = value if equals else next(waiting, "--")
            if (value.startswith("-") and value != "-") or not _may_be(known, value):
                return explain(arguments)
            if "type" in known and not (value.isdecimal() and len(value) < 10):
                return explain(arguments)
            setattr(options, _attribute(name, known), known.get("type", str)(value))
    for name, known in (SHARED | own).items():
        if not hasattr(options, _attribute(name, known)):
            if known.get("required") or ("nargs" not in known and not name.startswith("-")):
                return explain(arguments)
            otherwise = known.get("default", False if "action" in known else None)
            setattr(options, _attribute(name, known), otherwise)
    return options if verb else explain(arguments)


def _may_be(known: dict[str, Any], value: str) -> bool:
    return value in known.get("choices", (value,))


def _attribute(name: str, known: dict[str, Any]) -> str:
    return str(known.get("dest") or name.lstrip("-").replace("-", "_"))


def explain(arguments: Sequence[str]) -> Options:
    """The same table as argparse's: it prints help, or says what is wrong, and ends the program."""
    import argparse  # not at the top, for the reason above

    from looseleaf import __version__

    class Mixed(argparse.ArgumentParser):
        """Options may stand between arguments, also between one that must be there and one that may be left out."""

        is_mixing = False

        def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
            if self.is_mixing:
                return super().parse_known_args(args, namespace)
            self.is_mixing = True
            return self.parse_known_intermixed_args(args, namespace)

    about = "A memory for LLM agents: a folder of Markdown that never loses what was written."
    parser = argparse.ArgumentParser(prog="looseleaf", description=about, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"looseleaf {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=Mixed)
    for name, shared in SHARED.items():
        parser.add_argument(name, **shared)
    for verb, (run, help, own, example) in VERBS.items():
        each = verbs.add_parser(
            verb,
            help=help,
            description=help,
            epilog=f"example:\n  looseleaf {example}",
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        each.set_defaults(run=run)
        for name, shared in SHARED.items():
            each.add_argument(name, **shared | {"default": argparse.SUPPRESS})
        for name, option in own.items():
            each.add_argument(name, *(short for short, long in SHORT.items() if long == name), **option)
    return parser.parse_args(arguments, Options())


# --- the table of verbs ----------------------------------------------------------------

SHARED: Arguments = {
    "--memory": {"metavar": "PATH", "help": "the folder of the memory"},
    "--agent": {"metavar": "NAME", "default": "main", "help": "whose memory (main)"},
    "--json": {"action": "store_true", "help": "print one JSON document"},
}
"""Options that may stand before and after the verb."""

SHORT = {"-n": "--limit"}

_ROLES = ("user", "assistant", "tool_call", "tool_result", "jsonl")
_STATE_ACTS = ("set", "task", "decide", "block", "unblock", "restore")
_LAST = {"metavar": "N", "type": int, "default": LAST, "help": f"at most so many ({LAST})"}
_MODEL = {"metavar": "NAME", "help": "for the context of this model (else the one in the settings)"}
_AS_OF = {"metavar": "DATE", "help": "as it was on a day, or at a time"}
_FACT = {"metavar": "FACT", "help": "its id, a unique beginning of that, or `page.md:line`"}


def _switch(help: str) -> dict[str, Any]:
    return {"action": "store_true", "help": help}


VERBS: dict[str, tuple[str, str, Arguments, str]] = {
    "init": (
        "cli.init",
        "make a memory of a folder",
        {"path": {"nargs": "?", "help": "the folder (else --memory, else ./.looseleaf)"}},
        "init notes",
    ),
    "log": (
        "cli.log",
        "show what was changed, by whom and why, newest first",
        {
            "page": {"nargs": "?", "help": "only this page"},
            "--limit": {"metavar": "N", "type": int, "default": 50, "help": "at most so many (50)"},
        },
        "log USER.md -n 5",
    ),
    "show": ("cli.show", "show a page", {"page": {}, "--as-of": _AS_OF}, "show USER.md --as-of 2026-02-24"),
    "diff": (
        "cli.diff",
        "show what the last edit of a page changed",
        {"page": {}, "--since": {"metavar": "DATE", "help": "what changed since a day or time instead"}},
        "diff USER.md --since 2026-02-24",
    ),
    "undo": (
        "cli.undo",
        "take back the last edit; an undo is an edit too",
        {"page": {"nargs": "?", "help": "the last edit of this page"}},
        "undo USER.md",
    ),
    "record": (
        "cli_record.record",
        "record what was said or done",
        {
            "role": {"choices": _ROLES, "help": "whose words; jsonl: many at once, one JSON object a line"},
            "text": {"nargs": "?", "help": "the words, the tool's name or its result; else standard input"},
            "--args": {"metavar": "JSON", "help": "the arguments of a tool call"},
            "--result": {"metavar": "JSON", "help": "a tool's result that is more than text"},
            "--call-id": {"metavar": "ID", "help": "the id of a tool call, for it and its result"},
            "--name": {"metavar": "TOOL", "help": "the tool of a result, where there is no call's id"},
            "--error": _switch("the call failed; the text says why"),
            "--session": {"metavar": "ID", "help": "in this session (else the last, if it is not long ago)"},
            "--turn": {"metavar": "ID", "help": "in this turn (else the current one)"},
        },
        'record user "I live in Lyon now."',
    ),
    "turns": (
        "cli_talk.turns",
        "show what was said last, or one turn whole",
        {
            "turn": {"nargs": "?", "help": "this one, whole"},
            "--limit": _LAST,
            "--session": {"metavar": "ID", "help": "only of this session"},
        },
        "turns 17",
    ),
    "sessions": ("cli_talk.sessions", "list the last sessions", {"--limit": _LAST}, "sessions -n 5"),
    "prompt": (
        "cli_prompt.prompt",
        "make the prompt for a task, within a budget, or show an old one; with the reason for each part",
        {
            "task": {"nargs": "?", "help": "the request (-: standard input); after --diff ID the other one"},
            "--budget": {"metavar": "N", "type": int, "help": "at most so many tokens (else the model's)"},
            "--model": _MODEL,
            "--explain": _switch("show what is in it, what each part costs, what is left out (or --json)"),
            "--dry-run": _switch("compact and log nothing"),
            "--messages": _switch("print the messages as JSON, without --explain (--json: both)"),
            "--replay": {"metavar": "ID", "help": "an old prompt, byte for byte (last: the last one)"},
            "--diff": {"metavar": "ID", "help": "what changed from this old prompt to another (the last)"},
        },
        'prompt "Refactor the parser" --budget 4000 --explain',
    ),
    "analyze": (
        "cli_prompt.analyze",
        "show what a prompt costs now, what it would cost otherwise, and what the last ones cost",
        {"--last": {"metavar": "N", "type": int, "default": LAST, "help": f"so many prompts ({LAST})"}},
        "analyze --last 5",
    ),
    "window": (
        "cli_talk.window",
        "show what a model is told now, and what it costs",
        {"--model": _MODEL},
        "window --model gpt-4o",
    ),
    "compact": (
        "cli_talk.compact",
        "make the window shorter, and say what it lost",
        {"--dry-run": _switch("only say"), "--model": _MODEL},
        "compact --dry-run",
    ),
    "expand": (
        "cli_talk.expand",
        "list what left the window, or show one of it again, whole",
        {"entry": {"nargs": "?", "help": "an entry, a turn or a trace, by its id (else: the entries)"}},
        "expand turn_0003",
    ),
    "distill": (
        "cli_build.distill",
        "make facts of what was said since the last time, and say what became of each",
        {"--topic": {"metavar": "TOPIC", "help": "the topic that it was about"}},
        "distill",
    ),
    "write": (
        "cli_build.write",
        "make facts of a text; they wait in review, unless the words are yours",
        {
            "path": {"nargs": "?", "help": "a file (else, or for -: standard input)"},
            "--topic": {"metavar": "TOPIC", "help": "the topic that it is about"},
            "--mine": _switch("these are my own words"),
        },
        "write notes.txt --topic garden --mine",
    ),
    "facts": (
        "cli_facts.facts",
        "list what is known, topic by topic",
        {
            "--topic": {"metavar": "TOPIC", "help": "only of this topic"},
            "--kind": {"metavar": "KIND", "choices": KINDS, "help": f"only of this kind: {', '.join(KINDS)}"},
            "--pending": _switch("what waits for your yes instead"),
            "--superseded": _switch("what is no longer true instead"),
            "--rejected": _switch("what you said no to instead"),
            "--as-of": {"metavar": "DATE", "help": "what was true on a day, or at a time"},
        },
        "facts --topic user --as-of 2026-02-24",
    ),
    "score": (
        "cli_facts.score",
        "say how much a fact matters; that outranks every rule",
        {"fact": _FACT, "score": {"metavar": "SCORE", "help": "from 0 to 10"}},
        "score USER.md:5 9",
    ),
    "correct": (
        "cli_facts.correct",
        "say what is right; the old value stays in the history",
        {"fact": _FACT, "text": {"metavar": "TEXT", "help": "the value, or `Relation: value`"}},
        'correct USER.md:5 "Lyon"',
    ),
    "reject": (
        "cli_facts.reject",
        "say no to a fact: it goes, and does not come back by itself",
        {"fact": _FACT},
        "reject f_1f2e3d4c",
    ),
    "approve": (
        "cli_facts.approve",
        "say yes to a fact: what waits in review goes to its page",
        {"fact": _FACT},
        "approve f_1f2e3d4c",
    ),
    "pin": (
        "cli_facts.pin",
        "keep a fact among what must not be forgotten",
        {"fact": _FACT, "--off": _switch("not any more")},
        "pin USER.md:5",
    ),
    "history": (
        "cli_facts.history",
        "show every value that a fact ever had, and whose words each rests on",
        {"fact": _FACT},
        "history USER.md:5",
    ),
    "why": (
        "cli_facts.why",
        "show why a fact is believed, or why words are in a prompt or not: who said them, what was made of them",
        {
            "what": {"metavar": "WHAT", "help": "a fact by its id or `page.md:line`; or words of a prompt"},
            "--prompt": {"metavar": "ID", "help": "the words are looked for in this prompt (else the last)"},
        },
        'why "English code"',
    ),
    "topics": ("cli_build.topics", "list the topics", {}, "topics"),
    "topic": (
        "cli_build.topic",
        "show the memory of one topic",
        {"name": {"metavar": "NAME", "help": "as `looseleaf topics` lists it"}, "--as-of": _AS_OF},
        "topic user --as-of 2026-02-24",
    ),
    "global": (
        "cli_build.whole",
        "show the active topics, and what must not be forgotten",
        {"--as-of": _AS_OF},
        "global --as-of 2026-02-24",
    ),
    "build": (
        "cli_build.build",
        "bring the views of topics up to date",
        {
            "--full": _switch("make all of them again, also from entries that another program left"),
            "--pages": _switch("first make pages again that are gone from the folder"),
        },
        "build --full",
    ),
    "redistill": (
        "cli_build.redistill",
        "show what another distiller would make of the same words, or switch to it",
        {
            "--with": {
                "metavar": "DISTILLER",
                "dest": "distiller",
                "required": True,
                "help": "rules, or package.module:attribute",
            },
            "--apply": _switch("switch to it"),
        },
        "redistill --with rules",
    ),
    "tidy": (
        "cli_build.tidy",
        "move less essential facts from USER.md to facts/user.md, if it is too long for every prompt",
        {"--dry-run": _switch("only show what would move")},
        "tidy --dry-run",
    ),
    "index": ("cli_build.index", "list pages in a line each, as a prompt does", {}, "index"),
    "state": (
        "cli_state.state",
        "show the goal, tasks and decisions of the work, or change them",
        {
            "act": {
                "nargs": "?",
                "choices": _STATE_ACTS,
                "help": "set FIELD VALUE; task add TITLE; task done ID; decide TITLE; block TEXT; unblock TEXT; "
                "restore (else: show)",
            },
            "what": {"nargs": "?", "help": "goal, now or conventions.NAME; add or done; the title or text"},
            "value": {"nargs": "?", "help": "the value (empty: none any more), the task's title or id"},
            "--why": {"metavar": "TEXT", "help": "why it was decided"},
            "--toon": _switch("show it as a prompt carries it"),
        },
        'state task add "Write the importer"',
    ),
    "check": ("cli.check", "re-read and re-hash everything", {}, "check"),
    "repair": (
        "cli.repair",
        "mend what check found, keeping a copy of every byte that is moved",
        {},
        "repair",
    ),
}
"""Of each verb: the function that carries it out, what it does, its arguments, an example."""
