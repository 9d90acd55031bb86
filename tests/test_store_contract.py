"""The store in a folder keeps the contract, and its files are what FORMAT says they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from looseleaf.policy import Policy
from looseleaf.store.files import FileStore
from store_contract import OpenStore, StoreContract


class TestFileStore(StoreContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> OpenStore:
        return lambda: FileStore(tmp_path)


class TestFileStoreOfTinySegments(StoreContract):
    """Almost every append rotates, and most texts become bodies."""

    @pytest.fixture
    def open_store(self, tmp_path: Path) -> OpenStore:
        return lambda: FileStore(tmp_path, Policy(segment_bytes=200, body_bytes=300))
