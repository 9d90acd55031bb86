from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize=True, max_examples=60)
"""The same examples each time, and not too many: `make test` says the same of the same code. `make test-long` draws new
ones, and more."""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder for tests that kill and fail thousands of times: in memory where there is such a disk.

    A killed process loses nothing of what it wrote, on any disk; what a power cut loses is another test's matter.
    """
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)
