"""The arguments of the command line: `parse` reads the table of verbs in a few lines; argparse prints help and errors.

Invariant: what `parse` accepts, argparse reads the same; the rest argparse explains.
"""

from __future__ import annotations

import re
import sys

from looseleaf.cli.output import REFUSED, plain, print_json
from looseleaf.cli.verb_table import SHARED, SHORT, VERBS, CliOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from looseleaf.cli.verb_table import Arguments


# --- mistakes: one sentence, and perhaps the verb that was meant ------------------------

_UNKNOWN = re.compile(r"argument VERB: invalid choice: (.+?) \(choose from ", re.DOTALL)

MEANT = dict(
    each.split("=")
    for each in (
        "add=remember ask=recall backup=export config=doctor delete=forget dump=export find=recall "
        "get=recall grep=recall help=--help install=hook list=facts load=import ls=index note=remember "
        "purge=forget query=recall remove=forget revert=undo rm=forget save=remember search=recall "
        "start=init stats=analyze status= tell=remember ui=serve verify=check "
        "version=--version web=serve"
    ).split()
)
"""Names that other programs have for our verbs."""


def nearest(word: str) -> str | None:
    """Return the verb that was probably meant, by spelling or by meaning; None if unclear."""
    from difflib import get_close_matches

    folded = word.casefold().lstrip("-")
    near = get_close_matches(folded, [*VERBS, *MEANT], 1, 0.7)
    return MEANT.get(near[0], near[0]) if near else None


def end_with_mistake(message: str, arguments: Sequence[str]) -> NoReturn:
    """Print one sentence, also as JSON if asked for, and end the program."""
    unknown = _UNKNOWN.match(message)
    if unknown is not None:
        word = next((each for each in arguments if repr(each) == unknown[1]), unknown[1])
        verb = nearest(word)
        meant = f" Did you mean `{f'looseleaf {verb}'.strip()}`?" if verb is not None else ""
        why = f"there is no verb {word!r}.{meant} `looseleaf --help` lists them all."
    else:
        verb = next((each for each in arguments if each in VERBS), None)
        program = f"looseleaf {verb}" if verb else "looseleaf"
        why = f"{message.rstrip('.')}. `{program} --help` says what it takes."
    said = f"Nothing was done: {why}"
    if "--json" in arguments:
        print_json({"error": said})
    print(f"looseleaf: {plain(said)}", file=sys.stderr)
    raise SystemExit(REFUSED)


ALONE = "status.status"
"""The function that runs without a verb."""


def parse(arguments: Sequence[str]) -> CliOptions:
    """Read the arguments by the table.

    argparse with its imports takes a third as long as starting Python; a hook runs a command for every prompt.
    """
    options = CliOptions()
    verb = ""
    own: Arguments = {}
    free: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        if argument == "--" and verb:
            rest = list(waiting)  # after `--` nothing is an option
            if rest and free and _is_many(own[free[0]]):
                setattr(options, free[0], [*getattr(options, free[0], ()), *rest])
                break
            if not 0 < len(rest) <= len(free) or not all(
                _is_choice(own[name], each) for name, each in zip(free, rest, strict=False)
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
            if not _is_choice(own[free[0]], argument):
                return explain(arguments)
            if _is_many(own[free[0]]):
                setattr(options, free[0], [*getattr(options, free[0], ()), argument])
            else:
                setattr(options, free.pop(0), argument)
        elif known is None or (equals and "action" in known):
            return explain(arguments)
        elif "action" in known:
            setattr(options, _attribute(name, known), True)
        else:
            value = value if equals else next(waiting, "--")
            if (value.startswith("-") and value != "-") or not _is_choice(known, value):
                return explain(arguments)
            if "type" in known and not (value.isdecimal() and len(value) < 10):
                return explain(arguments)
            setattr(options, _attribute(name, known), known.get("type", str)(value))
    for name, known in (SHARED | own).items():
        if not hasattr(options, _attribute(name, known)):
            if known.get("required") or (known.get("nargs") not in ("?", "*") and not name.startswith("-")):
                return explain(arguments)
            nothing: object = False if "action" in known else [] if known.get("nargs") == "*" else None
            otherwise = known.get("default", nothing)
            setattr(options, _attribute(name, known), otherwise)
    if not verb:
        options.run = ALONE
    return options


def _is_many(known: dict[str, Any]) -> bool:
    return known.get("nargs") in ("+", "*")


def _is_choice(known: dict[str, Any], value: str) -> bool:
    return value in known.get("choices", (value,))


def _attribute(name: str, known: dict[str, Any]) -> str:
    return str(known.get("dest") or name.lstrip("-").replace("-", "_"))


_EPILOG = "Without a verb it shows where the memory is, and its state."


def _example_lines(given: str) -> str:
    lines = given.split("\n")
    return "\n  ".join([f"example{'s' * (len(lines) > 1)}:", *(f"looseleaf {line}" for line in lines)])


def explain(arguments: Sequence[str]) -> CliOptions:
    """Read the same table with argparse, which prints help or an error and ends the program."""
    import argparse  # not at the top, for the reason above

    from looseleaf.base.version import VERSION

    class Arguments(argparse.ArgumentParser):
        """A parser whose errors are one sentence."""

        def error(self, message: str) -> NoReturn:
            end_with_mistake(message, arguments)

    class Mixed(Arguments):
        """A parser that takes options between arguments, also between a required and an optional one."""

        is_mixing = False

        def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
            if self.is_mixing:
                return super().parse_known_args(args, namespace)
            self.is_mixing = True
            return self.parse_known_intermixed_args(args, namespace)

    about = "A memory for LLM agents: a folder of Markdown that never loses what was written."
    parser = Arguments(prog="looseleaf", description=about, epilog=_EPILOG, allow_abbrev=False)
    parser.set_defaults(run=ALONE)
    parser.add_argument("--version", action="version", version=f"looseleaf {VERSION}")
    verbs = parser.add_subparsers(metavar="VERB", required=False, parser_class=Mixed)
    for name, shared in SHARED.items():
        parser.add_argument(name, **shared)
    for verb, (run, help, own, example) in VERBS.items():
        each = verbs.add_parser(
            verb,
            help=help,
            description=help,
            epilog=_example_lines(example),
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        each.set_defaults(run=run)
        for name, shared in SHARED.items():
            each.add_argument(name, **shared | {"default": argparse.SUPPRESS})
        for name, option in own.items():
            each.add_argument(name, *(short for short, long in SHORT.items() if long == name), **option)
    return parser.parse_args(arguments, CliOptions())
