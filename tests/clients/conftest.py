"""The clients: where they are, and a project for each test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from clients.driver import Needs, NewProject, Project, found, project

CLIENTS = Path(os.environ.get("LOOSELEAF_CLIENTS") or Path(__file__).parents[2] / ".clients")
"""Where npm has installed them: `make test-clients` does it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.long)


@pytest.fixture
def needs() -> Needs:
    """Where a client is; skips the test if it is not there."""

    def check(client: str) -> Path:
        path = found(client, CLIENTS)
        if path is None:
            pytest.skip(f"{client} is not in {CLIENTS}: `make test-clients` installs it where there is npm")
        if client in ("gemini", "qwen") and shutil.which("node") is None:
            pytest.skip(f"{client} needs node, which is not installed")
        return path

    return check


@pytest.fixture
def new(needs: Needs) -> Iterator[NewProject]:
    """Makes projects, for clients that must be installed."""
    with ExitStack() as stack:

        def make(*names: str, **settings: Any) -> Project:
            for name in names:
                needs(name)
            return stack.enter_context(project(CLIENTS, **settings))

        yield make


@pytest.fixture
def garden(new: NewProject) -> Project:
    """A project with Claude Code in it."""
    return new("claude")


@pytest.fixture
def tmux() -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed, in which interactive sessions are run")
