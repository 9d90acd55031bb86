"""The command as a process: arguments in, an exit code out. 0: done, 1: problems found, 2: refused.

`verb_table` lists the verbs; each runs in a module that is loaded for it alone.
"""

from __future__ import annotations

import os
import sys

from looseleaf.base.errors import Refused
from looseleaf.cli.arguments import parse
from looseleaf.cli.output import INTERRUPTED, PROBLEMS, REFUSED, plain, print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def run() -> int:
    """Run the command and end the process, without freeing memory piece by piece: a hook runs one for each prompt."""
    import gc

    gc.disable()
    # For one question at a time, threads of the linear algebra (extra `semantic`) only wait for each other.
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
        if stream is None:  # closed by the parent process
            return REFUSED
        # Pages hold every script; a terminal that lacks one shows its characters written out.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code: int = _load_verb(options.run)(options)
        sys.stdout.flush()
        return code
    except Refused as refused:
        try:
            if options.json:
                print_json({"error": str(refused)})
            sys.stdout.flush()  # the output before a refusal stays before it, also where both go to one file
        except OSError:
            _mute()
        print(f"looseleaf: {plain(str(refused))}", file=sys.stderr)
        return REFUSED
    except BrokenPipeError:
        _mute()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:  # of the output: the memory raises `Refused`
        _mute()
        # Without this the caller would repeat a command that was carried out.
        why = f"the answer could not be written ({error.strerror or error})."
        print(f"looseleaf: {options.done}{why}", file=sys.stderr)
        return REFUSED


def _mute() -> None:
    """Discard further output: the reader is gone (`looseleaf log | head`), and a flush at exit would fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _load_verb(run: str) -> Any:
    """Return the function of a verb, from a module that is loaded for it alone."""
    unit, _, name = run.partition(".")
    match unit:
        case "everyday":
            from looseleaf.cli.verbs import everyday

            return getattr(everyday, name)
        case "facts":
            from looseleaf.cli.verbs import facts

            return getattr(facts, name)
        case "pages":
            from looseleaf.cli.verbs import pages

            return getattr(pages, name)
        case "prompt":
            from looseleaf.cli.verbs import prompt

            return getattr(prompt, name)
        case "review":
            from looseleaf.cli.verbs import review

            return getattr(review, name)
        case "setup":
            from looseleaf.cli.verbs import setup

            return getattr(setup, name)
        case "completion":
            from looseleaf.cli.verbs import completion

            return getattr(completion, name)
        case "status":
            from looseleaf.cli.verbs import status

            return getattr(status, name)
        case "transfer":
            from looseleaf.cli.verbs import transfer

            return getattr(transfer, name)
        case "views":
            from looseleaf.cli.verbs import views

            return getattr(views, name)
        case "window":
            from looseleaf.cli.verbs import window

            return getattr(window, name)
        case "doctor":
            from looseleaf.cli.doctor import doctor

            return doctor
        case "chat":
            from looseleaf.cli.chat import chat

            return lambda options: chat(options, main)
        case "demo":
            from looseleaf.cli.demo import demo

            return lambda options: demo(options, main)
    raise LookupError(run)
