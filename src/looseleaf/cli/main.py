"""The command as a process: arguments in, an exit code out. 0: done, 1: problems found, 2: refused.

`verbs` has the table of all verbs; each is carried out by a module of this folder that is loaded for it.
"""

from __future__ import annotations

import os
import sys

from looseleaf.base.errors import Refused
from looseleaf.cli.arguments import parse
from looseleaf.cli.output import INTERRUPTED, PROBLEMS, REFUSED, plain, print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from looseleaf.cli.arguments import Options


def run() -> int:
    """The command as a process: what it made is let go of with it, not piece by piece. A hook runs one each prompt."""
    import gc

    gc.disable()
    # For one question at a time, threads of the linear algebra (extra `semantic`) wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code = main()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    try:
        options = parse(given)
    except SystemExit as ended:
        if ended.code == REFUSED and "hook" in given:
            raise SystemExit(PROBLEMS) from None  # a coding agent takes 2 for a reason to stop
        raise
    for stream in (sys.stdout, sys.stderr):
        if stream is None:  # closed by whoever started us
            return REFUSED
        # Pages hold every script; a terminal that has not all of them shows the rest written out.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = _carrier(options.run)(options)
        sys.stdout.flush()
        return code
    except Refused as refused:
        try:
            if options.json:
                print_json({"error": str(refused)})
            sys.stdout.flush()  # what the refusal is about stands before it, also where both go to one file
        except OSError:
            _mute()
        print(f"looseleaf: {plain(str(refused))}", file=sys.stderr)
        return REFUSED
    except BrokenPipeError:
        _mute()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:  # of the output: the memory's own are sentences
        _mute()
        # Whoever gave the command must not give it again for want of an answer.
        why = f"the answer could not be written ({error.strerror or error})."
        print(f"looseleaf: {options.done}{why}", file=sys.stderr)
        return REFUSED


def _mute() -> None:
    """Whoever read our output has enough (`looseleaf log | head`). Nothing may be flushed to them at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _carrier(run: str) -> Callable[[Options], int]:
    """The function that carries out a verb, from a module that is loaded for it alone."""
    unit, _, name = run.partition(".")
    module: Any
    match unit:
        case "views":
            from looseleaf.cli.verbs import views

            module = views
        case "chat":
            from looseleaf.cli import chat

            module = chat
        case "completion":
            from looseleaf.cli.verbs import setup as completion

            module = completion
        case "cost":
            from looseleaf.cli.verbs import status as cost

            module = cost
        case "demo":
            from looseleaf.cli import demo

            module = demo
        case "doctor":
            from looseleaf.cli import doctor

            module = doctor
        case "exporting":
            from looseleaf.cli.verbs import transfer as exporting

            module = exporting
        case "facts":
            from looseleaf.cli.verbs import facts

            module = facts
        case "forget":
            from looseleaf.cli.verbs import review as forget

            module = forget
        case "hook":
            from looseleaf.cli.verbs import setup as hook

            module = hook
        case "importing":
            from looseleaf.cli.verbs import transfer as importing

            module = importing
        case "pages":
            from looseleaf.cli.verbs import pages

            module = pages
        case "prompt":
            from looseleaf.cli.verbs import prompt

            module = prompt
        case "recall":
            from looseleaf.cli.verbs import everyday as recall

            module = recall
        case "record":
            from looseleaf.cli.verbs import everyday as record

            module = record
        case "remember":
            from looseleaf.cli.verbs import everyday as remember

            module = remember
        case "review":
            from looseleaf.cli.verbs import review

            module = review
        case "serve":
            from looseleaf.cli.verbs import setup as serve

            module = serve
        case "status":
            from looseleaf.cli.verbs import status

            module = status
        case "state":
            from looseleaf.cli.verbs import status as state

            module = state
        case "window":
            from looseleaf.cli.verbs import window

            module = window
        case "tools":
            from looseleaf.cli.verbs import pages as tools

            module = tools
        case _:
            raise LookupError(run)
    found: Callable[[Options], int] = getattr(module, name)
    return found
