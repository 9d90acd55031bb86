"""What is wrong with a database, an address or a role is a sentence that says what to do, and shows no password."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from looseleaf.base.errors import Refused
from looseleaf.cli.main import main
from looseleaf.store.postgres.address import parse_address
from looseleaf.store.postgres.database import Database
from looseleaf.store.postgres.embedded import APPLICATION, OWNER, SUPERUSER
from looseleaf.store.postgres.migrate import migrate, newest_version
from looseleaf.store.postgres.store import PostgresStore
from postgres import Running
from tables import check_rows

PASSWORD = "geheim-7f3a"
LAST = newest_version()


@pytest.fixture(scope="module")
def roles(postgres: Running) -> Iterator[None]:
    """Roles that come in by their passwords."""
    for name, may in (("plain_role", ""), ("passing_role", "BYPASSRLS"), ("member_role", "")):
        postgres.execute(f"CREATE ROLE {name} LOGIN {may} PASSWORD '{PASSWORD}'")
    postgres.execute(f"GRANT {OWNER} TO member_role")
    yield
    for name in ("plain_role", "passing_role", "member_role"):
        for (database,) in postgres.execute("SELECT datname FROM pg_database WHERE datallowconn"):
            postgres.execute(f"DROP OWNED BY {name}", database=database)
        postgres.execute(f"DROP ROLE {name}")


def address(postgres: Running, database: str, role: str, password: str = PASSWORD) -> str:
    return postgres.address(database, role, "a").replace(f"//{role}@", f"//{role}:{password}@")


def refused(where: str) -> str:
    """Return what is said when a memory there is opened, in Python and on the command line."""
    with pytest.raises(Refused) as error:
        PostgresStore.open(parse_address(where))
    said = str(error.value)
    assert PASSWORD not in said
    assert "Traceback" not in said
    assert said[0].isupper()
    assert "\n" not in said
    return said


def test_each_way_in_that_is_closed_is_a_sentence(postgres: Running, roles: None) -> None:
    name, empty = postgres.database(), postgres.database(migrated=False)
    host = str(postgres.server.data)

    def check(where: str, *says: str) -> None:
        began = time.monotonic()
        said = refused(where)
        assert time.monotonic() - began < 1.5
        for each in says:
            assert each in said

    check_rows(
        check,
        [
            (
                address(postgres, name, "plain_role", PASSWORD + "x"),
                'password authentication failed for user "plain_role"',
                "Passwords are read from PGPASSWORD or ~/.pgpass.",
            ),
            (postgres.address(name, "plain_role"), "no password supplied", "PGPASSWORD or ~/.pgpass."),
            (postgres.address("nowhere"), 'database "nowhere" does not exist'),
            (postgres.address(name, "nobody_here"), "no password supplied"),
            (
                f"postgresql://u:{PASSWORD}@/{name}?host={host}/away",
                "cannot be reached",
                "Check that it runs",
            ),
            (f"postgresql://u:{PASSWORD}@127.0.0.1:1/{name}", "cannot be reached", "then repeat"),
            (f"postgresql://u:{PASSWORD}@no-such-host.invalid/{name}", "cannot be reached"),
            (f"postgresql://u:{PASSWORD}@/{name}?host={host}&sslmode=maybe", "sslmode"),
            (f"postgresql://u:{PASSWORD}@/{name}?host={host}&password={PASSWORD}&nonsense=1", "nonsense"),
            (
                postgres.address(empty),
                "no looseleaf tables",
                "as the role that owns them: looseleaf database migrate ADDRESS",
            ),
            (address(postgres, name, "plain_role"), "may not do that", "migrate ADDRESS --role ROLE"),
            (postgres.address(name, SUPERUSER), "the role 'postgres' bypasses row security"),
            (address(postgres, name, "passing_role"), "may not do that"),
            (postgres.address(name, OWNER), "the role 'looseleaf_owner' may change the tables"),
            (address(postgres, name, "member_role"), "the role 'member_role' may change the tables"),
        ],
    )


def test_a_role_that_passes_row_security_is_refused_whatever_it_was_granted(
    postgres: Running, roles: None
) -> None:
    name = postgres.database()
    postgres.execute("GRANT USAGE ON SCHEMA looseleaf TO passing_role", database=name)
    postgres.execute("GRANT ALL ON ALL TABLES IN SCHEMA looseleaf TO passing_role", database=name)
    assert "the role 'passing_role' bypasses row security" in refused(address(postgres, name, "passing_role"))


def test_tables_of_another_version_are_refused_unless_they_still_serve_this_one(postgres: Running) -> None:
    name = postgres.database()

    def change(query: str) -> None:
        postgres.execute(query, database=name)

    change(f"INSERT INTO looseleaf.schema VALUES ({LAST + 1}, 'later', '', {LAST})")
    PostgresStore.open(parse_address(postgres.address(name, namespace="a")), make=True).close()
    from looseleaf.store.postgres.database import close_all

    close_all()
    change(f"UPDATE looseleaf.schema SET serves_from = {LAST + 1} WHERE version = {LAST + 1}")
    said = refused(postgres.address(name, namespace="a"))
    assert f"which no looseleaf before {LAST + 1} understands" in said
    assert said.endswith("Install a newer looseleaf.")
    change(f"DELETE FROM looseleaf.schema WHERE version >= {LAST}")
    said = refused(postgres.address(name, namespace="a"))
    assert f"this looseleaf needs {LAST}" in said
    assert said.endswith("Run, as the role that owns them: looseleaf database migrate ADDRESS")


def test_a_database_that_has_not_every_character_is_refused_before_anything_is_made(
    postgres: Running,
) -> None:
    name = postgres.database(migrated=False, options="ENCODING 'LATIN1' TEMPLATE template0")
    with pytest.raises(Refused, match=r"keeps its text as LATIN1.*ENCODING 'UTF8' TEMPLATE template0\."):
        migrate(parse_address(postgres.address(name, OWNER)))
    assert postgres.execute("SELECT to_regnamespace('looseleaf')", database=name) == [(None,)]


def test_the_command_line_says_one_sentence_with_code_2(
    postgres: Running, roles: None, capsys: pytest.CaptureFixture[str]
) -> None:
    name = postgres.database()
    hostile = postgres.address(name) + "&namespace=%27%3B%20DROP%20SCHEMA%20looseleaf%3B--"
    cases = (
        ("--memory", address(postgres, name, "plain_role", f"{PASSWORD}x"), "facts"),
        ("--memory", f"postgresql://u:{PASSWORD}@127.0.0.1:1/x", "facts"),
        ("--memory", f"postgresql://u:se/{PASSWORD}@127.0.0.1:1/x", "facts"),
        ("--memory", f"postgresql://u:{PASSWORD}@h/x?namespace=../up", "init"),
        ("--memory", hostile, "facts"),
        ("database", "migrate", f"postgresql://u:{PASSWORD}@127.0.0.1:1/x"),
        ("database", "migrate", f"postgresql://u:{PASSWORD}@h:port/x"),
        ("database", "migrate", postgres.address(name, APPLICATION)),
        ("database", "check", address(postgres, name, "plain_role", f"{PASSWORD}x")),
        ("database", "check", address(postgres, name, "plain_role")),
        ("database", "check", "/a/folder"),
        ("database", "start", f"postgresql://u:{PASSWORD}@h/x"),
        ("database", "stop", f"postgresql://u:{PASSWORD}@h/x"),
    )

    def check(*given: str) -> None:
        for words in (given, (*given, "--json")):
            assert main(list(words)) == 2
            out, err = capsys.readouterr()
            *_notes, err = err.splitlines(keepends=True)
            assert err.startswith("looseleaf: ")
            assert len(_notes) <= 1
            assert PASSWORD not in out + err
            if "--json" in words:
                assert err == f"looseleaf: {json.loads(out)['error']}\n"

    check_rows(check, cases)


def test_a_name_that_looks_like_a_statement_is_a_name(postgres: Running) -> None:
    name = postgres.database()
    for odd in ("x'; DROP SCHEMA looseleaf; --", "%s %(a)s", "{0}", "$1", "a&namespace=b", "a/🦔", "x" * 110):
        where = parse_address(postgres.address(name)).of(odd)
        with PostgresStore.open(where, make=True) as store:
            assert store.address.namespace == odd
        with PostgresStore.open(parse_address(where.where)) as again:
            assert again.address.namespace == odd
    rows = postgres.execute("SELECT count(*) FROM looseleaf.memories", database=name)
    assert rows == [(7,)]


def test_a_server_that_is_away_is_named_without_a_password(
    postgres: Running,
) -> None:
    database = Database(parse_address(f"postgresql://u:{PASSWORD}@127.0.0.1:1/x"))
    with pytest.raises(Refused) as error:
        database.connect()
    assert str(error.value).startswith(
        "Nothing was done: the database postgresql://u@127.0.0.1:1/x cannot be reached"
    )
    assert PASSWORD not in repr(error.value) + repr(error.value.__cause__)
