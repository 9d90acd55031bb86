"""Servers of folders and of a database: tests of what both do take the fixture `database`.

In the default run, only tests with the mark `both` run on a database too; the long run has all of them there.
"""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", params=["folder", "postgres"])
def database(request: pytest.FixtureRequest) -> str:
    """The address of a database with the tables and no memory; "": folders are served."""
    if request.param == "folder":
        return ""
    running = request.getfixturevalue("postgres")
    return str(running.address(running.database()))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        chosen = getattr(item, "callspec", None)
        is_far = chosen is not None and chosen.params.get("database") == "postgres"
        if is_far and item.get_closest_marker("both") is None:
            item.add_marker(pytest.mark.long)
