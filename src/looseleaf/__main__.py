"""`python -m looseleaf` is the command `looseleaf`."""

from __future__ import annotations

from looseleaf.cli.main import run

run()
