"""What is said of a memory in a database where the packages for one are missing: never that there is no memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from looseleaf.base.errors import NotFound, Refused, to_get
from looseleaf.cli.main import main
from looseleaf.memory import Memory
from tables import check_rows

ADDRESS = "postgresql://db.example.org/memories?namespace=acme"


@pytest.fixture(autouse=True)
def no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if `psycopg` were not installed: what has loaded it is not loaded yet."""
    for name in [name for name in sys.modules if name.startswith(("psycopg", "looseleaf.store.postgres."))]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("psycopg", "psycopg_pool"):
        monkeypatch.setitem(sys.modules, name, None)


def test_each_verb_names_the_missing_extra(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def check(*words: str) -> None:
        assert main(words) == 2
        err = capsys.readouterr().err
        assert "needs packages that are missing. Install them with" in err
        assert to_get("postgres") in err
        assert "no memory" not in err

    check_rows(
        check,
        [
            ("--memory", ADDRESS, "recall", "x"),
            ("--memory", ADDRESS, "settings"),
            ("--memory", ADDRESS),
            ("init", ADDRESS),
            ("move", str(folder), ADDRESS),
            ("move", ADDRESS, str(folder.parent / "back")),
            ("database", "check", ADDRESS),
            ("worker", "--postgres", ADDRESS),
        ],
    )


def test_in_python_it_is_not_taken_for_a_memory_that_is_not_there() -> None:
    with pytest.raises(Refused) as refused:
        Memory(ADDRESS)
    assert not isinstance(refused.value, NotFound)


def test_doctor_names_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--memory", ADDRESS, "doctor"]) == 1
    assert "needs packages that are missing" in capsys.readouterr().out
