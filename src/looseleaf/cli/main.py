"""The command as a process: arguments in, an exit code out. 0: done, 1: problems found, 2: refused.

`verb_table` lists the verbs; each runs in a module that is loaded for it alone.
"""

from __future__ import annotations

import os
import sys

from looseleaf.base.errors import Refused
from looseleaf.base.paths import is_address
from looseleaf.cli.arguments import parse
from looseleaf.cli.output import INTERRUPTED, PROBLEMS, REFUSED, plain, print_json, remark_passwords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.cli.verb_table import CliOptions


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
        if not options.json and any(map(is_address, given)):
            remark_passwords(given)
        code = _run_verb(options)
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


_LAST = ("",)
"""Makes `__import__` return the last module of a path. `importlib` would take another half millisecond."""

_MODULES = {
    "database": lambda: __import__("looseleaf.cli.verbs.database", fromlist=_LAST),
    "everyday": lambda: __import__("looseleaf.cli.verbs.everyday", fromlist=_LAST),
    "facts": lambda: __import__("looseleaf.cli.verbs.facts", fromlist=_LAST),
    "git": lambda: __import__("looseleaf.cli.verbs.git", fromlist=_LAST),
    "install": lambda: __import__("looseleaf.cli.verbs.install", fromlist=_LAST),
    "pages": lambda: __import__("looseleaf.cli.verbs.pages", fromlist=_LAST),
    "prompt": lambda: __import__("looseleaf.cli.verbs.prompt", fromlist=_LAST),
    "review": lambda: __import__("looseleaf.cli.verbs.review", fromlist=_LAST),
    "settle": lambda: __import__("looseleaf.cli.verbs.settle", fromlist=_LAST),
    "serve": lambda: __import__("looseleaf.cli.verbs.serve", fromlist=_LAST),
    "settings": lambda: __import__("looseleaf.cli.verbs.settings", fromlist=_LAST),
    "setup": lambda: __import__("looseleaf.cli.verbs.setup", fromlist=_LAST),
    "completion": lambda: __import__("looseleaf.cli.verbs.completion", fromlist=_LAST),
    "status": lambda: __import__("looseleaf.cli.verbs.status", fromlist=_LAST),
    "transfer": lambda: __import__("looseleaf.cli.verbs.transfer", fromlist=_LAST),
    "views": lambda: __import__("looseleaf.cli.verbs.views", fromlist=_LAST),
    "window": lambda: __import__("looseleaf.cli.verbs.window", fromlist=_LAST),
    "worker": lambda: __import__("looseleaf.cli.verbs.worker", fromlist=_LAST),
    "doctor": lambda: __import__("looseleaf.cli.doctor", fromlist=_LAST),
    "chat": lambda: __import__("looseleaf.cli.chat", fromlist=_LAST),
    "demo": lambda: __import__("looseleaf.cli.demo", fromlist=_LAST),
}
"""By the first part of a verb's function: its module, which is loaded for it alone."""


def _run_verb(options: CliOptions) -> int:
    unit, _, name = options.run.partition(".")
    verb = getattr(_MODULES[unit](), name)
    further = (main,) if unit in ("chat", "demo") else ()  # these two run other verbs
    code: int = verb(options, *further)
    return code
