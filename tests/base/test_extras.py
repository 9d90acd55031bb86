"""Extras: what a hint tells somebody to install is what pyproject.toml asks for, and what is looked for afterwards."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from looseleaf.base.errors import EXTRAS, hint, is_there, package_of, to_get
from tables import check_rows

ROOT = Path(__file__).parents[2]


def test_every_extra_is_hinted_at_as_pyproject_has_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {name: tuple(each) for name, each in project["optional-dependencies"].items() if name != "dev"}
    assert asked == EXTRAS


def test_a_hint_names_packages_that_an_index_has() -> None:
    def check(extra: str) -> None:
        assert hint(extra) == "pip install " + " ".join(f"'{each}'" for each in EXTRAS[extra])
        assert to_get(extra) == f"`{hint(extra)}` (the extra `{extra}`)"
        assert re.fullmatch("[a-z-]+", package_of(extra))

    check_rows(check, EXTRAS)


def test_no_hint_asks_for_this_program_itself() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        assert "install 'looseleaf[" not in path.read_text(), path


@pytest.mark.parametrize(
    ("extra", "module"),
    [("mcp", "mcp"), ("mcp", "mcp_types"), ("gemini", "google.genai"), ("semantic", "numpy")],
)
def test_what_cannot_be_imported_is_not_there(
    extra: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_there(extra):
        pytest.skip(f"the extra `{extra}` is not installed")
    monkeypatch.setitem(sys.modules, module, None)
    assert not is_there(extra)


def test_a_package_without_the_one_around_it_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "google.genai", raising=False)
    monkeypatch.setitem(sys.modules, "google", None)
    assert not is_there("gemini")
