"""A coding agent whose hooks run in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from hooking import Agent


@pytest.fixture
def hook(run: Run, distills_here: None) -> Callable[[str, bytes], Any]:
    """A hook in this process: it always ends well, and says one JSON object or nothing."""

    def call(event: str, data: bytes) -> Any:
        code, out, err = run("hook", event, stdin=data)
        assert (code, err) == (0, "")
        return json.loads(out) if out else None

    return call


@pytest.fixture
def begin(hook: Callable[[str, bytes], Any], place: Path) -> Callable[[str], Agent]:
    """A session of that name."""
    return lambda name: Agent(hook, place / f"{name}.jsonl", f"{name}-1111-2222")
