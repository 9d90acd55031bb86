"""A question to the person at the terminal, before something that is not done unasked."""

from __future__ import annotations

import sys

from looseleaf.base.errors import Refused
from looseleaf.cli.output import plain


def ask(question: str, *, nobody: str, no: str) -> None:
    """Return if the answer is yes. `nobody`: the sentence where there is no terminal to ask at; `no`: for any other
    answer."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise Refused(nobody)
    sys.stderr.write(f"{plain(question)} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Refused(no)
