"""A check of a database finds what would let memories be seen by others, and all else that is not as it must be."""

from __future__ import annotations

import pytest

from looseleaf.base.errors import Refused
from looseleaf.cli.main import main
from looseleaf.store.postgres.address import parse_address
from looseleaf.store.postgres.check_database import check_database
from looseleaf.store.postgres.embedded import OWNER, SUPERUSER
from looseleaf.store.postgres.migrate import newest_version
from postgres import Running
from tables import check_rows

LAST = newest_version()


def check(postgres: Running, name: str, role: str = OWNER) -> dict[str, tuple[str, str]]:
    """Return the verdict and the words of each finding."""
    return {
        each.name: (each.verdict, each.says)
        for each in check_database(parse_address(postgres.address(name, role)))
    }


def test_a_migrated_database_is_as_it_must_be_for_each_role(postgres: Running) -> None:
    name = postgres.database()
    for role in ("looseleaf", OWNER):
        found = check(postgres, name, role)
        assert {each: verdict for each, (verdict, _) in found.items()} == {
            "database": "ok",
            "durable": "look",  # as tests have it
            "role": "ok",
            "tables": "ok",
            "apart": "ok",
            "rights": "ok",
            "vectors": "ok",
            "room": "ok",
        }
    assert found["durable"][1] == "the server may lose what it acknowledged: fsync, full_page_writes off"
    assert check(postgres, name, SUPERUSER)["role"] == ("look", "postgres bypasses row security")


def test_every_way_to_lift_what_keeps_memories_apart_is_found(postgres: Running) -> None:
    policy = "CREATE POLICY own ON looseleaf.{} USING ({}memory = looseleaf.own())"

    def plant(query: str, says: str) -> None:
        name = postgres.database()
        postgres.execute(query, database=name)
        assert check(postgres, name)["apart"] == ("broken", says)

    check_rows(
        plant,
        [
            ("ALTER TABLE looseleaf.records DISABLE ROW LEVEL SECURITY", "records without row security"),
            ("ALTER TABLE looseleaf.records_7 NO FORCE ROW LEVEL SECURITY", "records_7 without row security"),
            ("ALTER TABLE looseleaf.memories DISABLE ROW LEVEL SECURITY", "memories without row security"),
            ("DROP POLICY own ON looseleaf.documents_3", "documents_3 without its one policy"),
            ("CREATE POLICY more ON looseleaf.streams USING (true)", "streams without its one policy"),
            ("ALTER POLICY own ON looseleaf.streams USING (true)", "streams without its one policy"),
            ("ALTER POLICY own ON looseleaf.streams WITH CHECK (true)", "streams without its one policy"),
            ("ALTER POLICY own ON looseleaf.streams TO looseleaf", "streams without its one policy"),
            (
                f"DROP POLICY own ON looseleaf.streams; {policy.format('streams', '')[:-1]} OR memory = 1)",
                "streams without its one policy",
            ),
            ("CREATE TABLE looseleaf.more (n int)", "more without row security"),
            (
                (
                    "CREATE TABLE looseleaf.more (n int PRIMARY KEY, memory bigint); ALTER TABLE looseleaf.more ENABLE "
                    "ROW LEVEL SECURITY; ALTER TABLE looseleaf.more FORCE ROW LEVEL SECURITY; "
                    f"{policy.format('more', '')}"
                ),
                "more with a key that does not begin with the memory",
            ),
        ],
    )


def test_tables_that_are_not_there_or_not_of_this_version_are_found(postgres: Running) -> None:
    empty = postgres.database(migrated=False)
    assert check(postgres, empty)["tables"] == ("broken", "there are none")

    def change(query: str, verdict: str, says: str) -> None:
        name = postgres.database()
        postgres.execute(query, database=name)
        assert check(postgres, name)["tables"] == (verdict, says)

    check_rows(
        change,
        [
            (
                f"DELETE FROM looseleaf.schema WHERE version = {LAST}",
                "broken",
                f"version {LAST - 1}; this looseleaf is written for {LAST}" if LAST > 1 else "there are none",
            ),
            (
                f"INSERT INTO looseleaf.schema VALUES ({LAST + 1}, 'later', '', {LAST + 1})",
                "broken",
                f"version {LAST + 1}; this looseleaf is written for {LAST}",
            ),
            (
                f"INSERT INTO looseleaf.schema VALUES ({LAST + 1}, 'later', '', 1)",
                "ok",
                f"version {LAST + 1}, {LAST + 1} migrations",
            ),
            (
                "UPDATE looseleaf.schema SET sha256 = 'x' WHERE version = 1",
                "look",
                f"version {LAST}, but not as this looseleaf has it: 0001.log",
            ),
        ],
    )


def test_a_database_that_only_its_owner_may_use_is_found(postgres: Running) -> None:
    name = postgres.database()
    postgres.execute("DROP OWNED BY looseleaf", database=name)
    assert check(postgres, name)["rights"] == ("broken", "no role but the owner may write")


def test_a_server_that_is_not_there_is_a_refusal() -> None:
    with pytest.raises(Refused, match="cannot be reached"):
        list(check_database(parse_address("postgresql://127.0.0.1:1/x")))


# --- the verb --------------------------------------------------------------------------


def test_the_verb_prepares_a_database_and_finds_it_sound(
    postgres: Running, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = postgres.database(migrated=False)
    owner = postgres.address(name, OWNER)
    assert main(["database", "check", owner]) == 1
    out = capsys.readouterr().out
    assert (
        "broken  tables    there are none. Run `looseleaf database migrate ADDRESS` as the role that owns them."
        in out
    )
    assert main(["database", "migrate", owner, "--json"]) == 0
    assert f'"after": {LAST},' in capsys.readouterr().out
    assert main(["database", "migrate", owner]) == 0
    assert capsys.readouterr().out == (
        f"The tables have version {LAST} (nothing to apply). Memories are used as the role looseleaf.\n"
    )
    monkeypatch.setenv("LOOSELEAF_HOME", postgres.address(name, namespace="a"))
    assert main(["database", "check", "--json"]) == 0
    out = capsys.readouterr().out
    assert '"broken": 0' in out
    assert '"name": "apart"' in out


def test_a_password_in_a_command_is_remarked_on_and_not_shown(
    postgres: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    name = postgres.database()
    where = postgres.address(name).replace("looseleaf@", "looseleaf:unasked@")
    assert main(["database", "check", where]) == 0
    out, err = capsys.readouterr()
    assert err == (
        "looseleaf: others on this machine can read a password in a command; keep it in ~/.pgpass or PGPASSWORD.\n"
    )
    assert "unasked" not in out
