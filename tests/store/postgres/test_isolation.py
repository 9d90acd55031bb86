"""Nobody reads or writes another's memory: not by a hostile name, and not by SQL of a session set to its own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from looseleaf.base.errors import NotFound, Refused
from looseleaf.store.postgres.address import Address, parse_address
from looseleaf.store.postgres.check_database import SHARED
from looseleaf.store.postgres.embedded import APPLICATION, OWNER, SUPERUSER
from looseleaf.store.postgres.store import PostgresStore
from store_contract import record_of, records
from tables import check_rows

if TYPE_CHECKING:
    from postgres import Running

NOT_A_MEMORY_S = {
    "schema": "which migrations were applied",
    "vectors_tried": "whether vectors may be searched on this server",
}
"""Tables without rows of any memory, and why they have no policy."""

NOT_FORCED = {"memories": "the door `find_memory` runs as its owner, and must see all names"}

# --- what the catalog says ---------------------------------------------------------------------

TABLES = """
SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity,
    ARRAY(SELECT pg_get_expr(p.polqual, p.polrelid)
            || coalesce(' CHECK ' || pg_get_expr(p.polwithcheck, p.polrelid), '')
        FROM pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive AND p.polcmd = '*'),
    (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid),
    ARRAY(SELECT (SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = i.indkey[0])
        FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique)
FROM pg_class c WHERE c.relnamespace = 'looseleaf'::regnamespace AND c.relkind IN ('r', 'p', 'm', 'f', 'v') ORDER BY 1
"""


def open_tables(running: Running, database: str) -> list[str]:
    """Return what is wrong with the tables, each by its name: partitions too."""
    wrong = []
    rows = running.execute(TABLES, database=database)
    assert len(rows) > 100
    for name, is_on, is_forced, policies, count, firsts in rows:
        if name in NOT_A_MEMORY_S:
            continue
        if not is_on or (not is_forced and name not in NOT_FORCED):
            wrong.append(f"{name} has no row security, or its owner passes it")
        if count != 1 or [re.sub(r"looseleaf\.", "", each) for each in policies] != ["(memory = own())"]:
            wrong.append(f"{name} has {count} policies: {policies}")
        if name != "memories" and (not firsts or {*firsts} != {"memory"}):
            wrong.append(f"{name} has keys that begin with {firsts}")
    return wrong


FUNCTIONS = """
SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'looseleaf'::regnamespace AND p.prosecdef ORDER BY 1
"""

DOORS = {
    "find_memory": "a memory by its whole name",
    "list_memories": "the names of a server's memories",
    "aside_before": "the memories that were put aside",
    "end_memory": "remove the row of a memory that was put aside",
}
"""Functions that run as the owner of the tables, and so see all memories."""


def test_each_table_shows_a_session_one_memory_only(postgres: Running) -> None:
    name = postgres.database()
    assert set(NOT_A_MEMORY_S) == set(SHARED)
    assert open_tables(postgres, name) == []


def test_the_doors_that_pass_row_security_are_known_and_find_nothing_but_their_own(postgres: Running) -> None:
    name = postgres.database()
    found = {row[0] for row in postgres.execute(FUNCTIONS, database=name)}
    # The queue of jobs is the server's: its functions see all jobs, and are listed where they are tested.
    jobs = {each for each in found if "job" in each or "work" in each or "queue" in each}
    assert found - jobs == set(DOORS)
    config = (
        "SELECT proname, proconfig FROM pg_proc WHERE pronamespace = 'looseleaf'::regnamespace AND prosecdef"
    )
    for each, settings in postgres.execute(config, database=name):
        assert any("search_path" in setting for setting in settings or ()), each


# --- raw SQL ---------------------------------------------------------------------------------


class Two:
    """Two memories of a database, and a session of the application's role that is set to the first."""

    def __init__(self, running: Running) -> None:
        self.name = running.database()
        self.admin = psycopg.connect(running.address(self.name, SUPERUSER), autocommit=True)
        self.session = psycopg.connect(running.address(self.name), autocommit=True)
        self.stores = [self.fill(running, namespace) for namespace in ("mine", "theirs")]
        self.mine, self.theirs = (store.memory for store in self.stores)
        tables = "SELECT relname FROM pg_class WHERE relnamespace = 'looseleaf'::regnamespace AND relkind IN ('r', 'p')"
        names = [str(name) for (name,) in self.admin.execute(tables) if name not in NOT_A_MEMORY_S]
        whole = [name for name in names if not re.search(r"_\d+$", name)]
        for name in whole:
            self.seed(name)
        self.tables = [name for name in names if name in whole or self.count(name)]

    def fill(self, running: Running, namespace: str) -> PostgresStore:
        store = PostgresStore.open(parse_address(running.address(self.name, namespace=namespace)), make=True)
        store.append("traces/main", [record_of(f"said in {namespace}")])
        store.put("facts/tea.md", namespace.encode(), base=None)
        return store

    def seed(self, table: str) -> None:
        """Have a row of each memory in a table, whatever it means."""
        ((names, values),) = self.admin.execute(SEED, (f"looseleaf.{table}",)).fetchall()
        for memory in () if self.count(table) else (self.mine, self.theirs):
            with suppress(psycopg.Error):  # a condition of its own
                query = f"INSERT INTO looseleaf.{table} ({names}) VALUES ({values})"
                self.admin.execute(query.encode(), (memory,))

    def count(self, table: str) -> int:
        query = f"SELECT count(*) FROM looseleaf.{table} WHERE memory = %s"
        ((count,),) = self.admin.execute(query.encode(), (self.theirs,)).fetchall()
        return int(count)

    def ask(self, query: str, memory: object = None, values: Any = None) -> Any:
        """As the application's role, set to a memory; None: to none."""
        if memory is None:
            self.session.execute("RESET looseleaf.memory")
        else:
            self.session.execute("SELECT set_config('looseleaf.memory', %s, false)", (str(memory),))
        cursor = self.session.execute(query.encode(), values)
        return cursor.fetchall() if cursor.description is not None else cursor.rowcount

    def close(self) -> None:
        for store in self.stores:
            store.close()
        self.admin.close()
        self.session.close()


SEED = """
SELECT string_agg(quote_ident(attname), ', '), string_agg(CASE WHEN attname = 'memory' THEN '%%s'
    WHEN t.typcategory = 'A' THEN '''{}''' WHEN t.typcategory = 'N' THEN '1' WHEN t.typcategory = 'B' THEN 'true'
    WHEN t.typcategory = 'D' THEN 'now()' WHEN typname = 'jsonb' THEN '''{}''' ELSE '''x''' END, ', ')
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity = ''
"""


@pytest.fixture(scope="module")
def two(postgres: Running) -> Iterator[Two]:
    two = Two(postgres)
    yield two
    two.close()


NO = (
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.UndefinedObject,
    psycopg.errors.InvalidTextRepresentation,
    psycopg.errors.NumericValueOutOfRange,
    psycopg.errors.CheckViolation,
)


def refused_or(expected: object, ask: Callable[[], object]) -> bool:
    try:
        return ask() == expected
    except NO:
        return True


def test_no_table_shows_or_takes_rows_of_another_memory(two: Two) -> None:
    filled: set[str] = set()

    def check(table: str) -> None:
        before = two.count(table)
        if before:
            filled.add(table)
        theirs = f"FROM looseleaf.{table} WHERE memory = {two.theirs}"
        take = f"UPDATE looseleaf.{table} SET memory = {two.mine} WHERE memory = {two.theirs}"
        give = f"UPDATE looseleaf.{table} SET memory = {two.theirs} WHERE memory = {two.mine}"
        for expected, query in (
            ([(0,)], f"SELECT count(*) {theirs}"),
            ([], f"SELECT memory FROM looseleaf.{table} WHERE memory <> {two.mine}"),
            (0, f"DELETE {theirs}"),
            (0, take),
            (0, give),
        ):
            assert refused_or(expected, partial(two.ask, query, two.mine)), query
        for setting in (None, "", "x", "-1", f"{two.theirs} OR true", "9" * 40):
            assert refused_or([], partial(two.ask, f"SELECT * FROM looseleaf.{table}", setting)), setting
        assert two.count(table) == before

    check_rows(check, two.tables)
    print(f"\ntables={len(two.tables)} filled={len(filled)}")
    assert {"records", "documents", "streams", "memories", "items", "words", "postings"} <= filled


def test_the_functions_do_not_write_for_another_memory(two: Two) -> None:
    def check(call: str) -> None:
        assert refused_or([(None,)], partial(two.ask, f"SELECT looseleaf.{call}", two.mine, (two.theirs,)))

    before = [two.count(table) for table in two.tables]
    check_rows(
        check,
        [
            "append_line(%s, 'traces/main', 'x', 1000, NULL, NULL)",
            "append_lines(%s, 'traces/main', '{x}', '{0}', 1, 1000, NULL, NULL)",
            "put(%s, 'facts/x.md', 'facts', 'x', 'x', 'x', NULL, NULL, 1000, NULL, NULL)",
            "view(%s, 'views/x', 'views', 'x', 'x', NULL)",
            "publish(%s, 'e', '{e/x}', '{e}', '{x}', '{x}', NULL)",
        ],
    )
    for call in ("clear_views(%s)", "put_aside(%s, '.removed/1/x')", "end_memory(%s)"):
        with suppress(*NO):
            two.ask(f"SELECT looseleaf.{call}", two.mine, (two.theirs,))
    delete = (
        "SELECT outcome FROM looseleaf.put(%s, 'facts/tea.md', '', '', NULL, NULL, sha256('theirs'), NULL, 1, "
        "NULL, NULL)"
    )
    assert refused_or([("stale",)], partial(two.ask, delete, two.mine, (two.theirs,)))
    assert [two.count(table) for table in two.tables] == before
    state = two.admin.execute(
        "SELECT namespace, state FROM looseleaf.memories WHERE memory = %s", (two.theirs,)
    )
    assert state.fetchall() == [("theirs", "here")]


def test_the_role_cannot_read_the_list_of_memories_and_changes_no_table(two: Two) -> None:
    assert two.ask("SELECT namespace FROM looseleaf.memories", two.mine) == [("mine",)]
    with pytest.raises(psycopg.Error):
        two.ask("SELECT namespace FROM looseleaf.memories")
    assert two.ask("SELECT memory FROM looseleaf.find_memory('their%', false)") == []
    assert two.ask("SELECT memory FROM looseleaf.find_memory('theirs'' OR true --', false)") == []
    for query in (
        "ALTER TABLE looseleaf.records DISABLE ROW LEVEL SECURITY",
        "DROP POLICY own ON looseleaf.records",
        "CREATE POLICY more ON looseleaf.records USING (true)",
        "SET ROLE looseleaf_owner",
        "SET SESSION AUTHORIZATION looseleaf_owner",
        "SET session_replication_role = replica",
        "CREATE TABLE looseleaf.x ()",
        "CREATE FUNCTION looseleaf.own() RETURNS bigint LANGUAGE sql RETURN 1",
        "INSERT INTO looseleaf.memories (namespace) VALUES ('x')",
        "DELETE FROM looseleaf.memories",
        "TRUNCATE looseleaf.records",
        "COPY looseleaf.records TO PROGRAM 'cat'",
    ):
        with pytest.raises(psycopg.Error):
            two.ask(query, two.mine)
    two.session.execute("SET row_security = off")  # asks for all, or an error
    with pytest.raises(psycopg.Error, match="row-level security"):
        two.ask("SELECT * FROM looseleaf.records", two.mine)
    two.session.execute("RESET row_security")


def test_statistics_say_nothing_of_other_memories(two: Two) -> None:
    """The planner's samples are of all memories. The view on them leaves out tables with row security."""
    two.admin.execute("ANALYZE looseleaf.records, looseleaf.documents, looseleaf.items, looseleaf.words")
    query = "SELECT DISTINCT tablename FROM pg_stats WHERE schemaname = 'looseleaf'"
    assert {name for (name,) in two.ask(query, two.mine)} <= set(NOT_A_MEMORY_S)
    for query in ("SELECT * FROM pg_statistic", "SELECT * FROM pg_stats_ext"):
        assert refused_or([], partial(two.ask, query, two.mine))


# --- databases that must fail it -------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        "DROP POLICY own ON looseleaf.records",
        "DROP POLICY own ON looseleaf.documents_17",
        "ALTER TABLE looseleaf.streams DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE looseleaf.items NO FORCE ROW LEVEL SECURITY",
        "CREATE POLICY more ON looseleaf.words USING (true)",
        "ALTER POLICY own ON looseleaf.memories USING (true)",
        "ALTER POLICY own ON looseleaf.streams USING (memory = looseleaf.own()) WITH CHECK (true)",
        "CREATE UNIQUE INDEX more ON looseleaf.streams (name, memory)",
        "CREATE TABLE looseleaf.more (memory bigint PRIMARY KEY)",
        "CREATE VIEW looseleaf.seen AS SELECT * FROM looseleaf.records",
    ],
)
def test_a_database_that_lets_others_in_is_found_out(postgres: Running, fault: str) -> None:
    name = postgres.database()
    postgres.execute(fault, database=name)
    assert len(open_tables(postgres, name)) >= 1


def test_without_policies_the_other_memory_is_read(postgres: Running) -> None:
    """What the tests above would see, were there none."""
    two = Two(postgres)
    two.admin.execute("ALTER TABLE looseleaf.records DISABLE ROW LEVEL SECURITY")
    query = f"SELECT count(*) FROM looseleaf.records WHERE memory = {two.theirs}"
    assert two.ask(query, two.mine) == [(1,)]
    two.close()


# --- names -----------------------------------------------------------------------------------

NAMES = (
    "a'b",
    'a"b',
    "a%b",
    "a%s%(x)s",
    "a_b",
    "a\\b",
    "a;DROP TABLE looseleaf.records",
    "$1",
    "a/b/c",
    "a b",
    "ａ",
    "а",
    "A",
    "ä",
    "a\u0308",
    "a\u200b",
    "\u202ea",
    "x" * 200,
    "é" * 100,
    "🦔",
    "null",
    "0",
    "-1",
    "ﬁ",
    "fi",
    "main",
    "Main",
    "MAIN",
    "public",
    "looseleaf",
    "a--",
    "/*a*/",
    "a\u00a0b",
    "％",
    "${HOME}",
    "{}",
    "~",
    "con",
)
HOSTILE = (
    "..",
    "../a",
    "a/../b",
    "a/",
    "/a",
    "a//b",
    "",
    ".",
    "./a",
    ".server",
    ".removed/1/x",
    "a\0b",
    "a\nb",
    "x" * 201,
    "é" * 101,
    "a/.",
    "a\ud800",
    "C:a",
    "a\x7f",
)


def test_each_name_is_a_memory_of_its_own(postgres: Running) -> None:
    name = postgres.database()
    address = parse_address(postgres.address(name))
    made: dict[str, str] = {}
    for each in NAMES:
        try:
            where = address.of(each)
        except Refused:
            continue  # no folder could have it
        if where.namespace in made.values():
            assert unicodedata.normalize("NFC", each) == where.namespace  # the same name, spelt otherwise
            continue
        with PostgresStore.open(parse_address(where.where), make=True) as store:
            assert records(store, "traces/main") == [], f"{each!r} is {made}"
            store.append("traces/main", [record_of(each)])
        made[each] = where.namespace
    assert len(made) > 25
    assert len(set(made.values())) == len(made)
    for each, namespace in made.items():
        with PostgresStore.open(address.of(namespace)) as store:
            assert [record["content"] for record in records(store, "traces/main")] == [each]


def test_a_hostile_name_is_refused_and_makes_nothing(postgres: Running) -> None:
    name = postgres.database()
    address = parse_address(postgres.address(name))

    def check(each: str) -> None:
        with pytest.raises(Refused) as refused:
            PostgresStore.open(address.of(each), make=True)
        assert "\n" not in str(refused.value)
        assert postgres.execute("SELECT namespace FROM looseleaf.memories", database=name) == []

    check_rows(check, HOSTILE)


def test_a_name_that_was_not_made_is_not_found(postgres: Running) -> None:
    name = postgres.database()
    where = postgres.address(name, namespace="made")
    PostgresStore.open(parse_address(where), make=True).close()
    for other in ("mad", "made2", "Made", "made/x", "ma%e", "mad_"):
        with pytest.raises(NotFound, match="There is no memory at"):
            PostgresStore.open(Address(parse_address(where).url, other))


def test_a_store_that_is_set_to_another_memory_reads_and_writes_nothing(two: Two) -> None:
    """A number that got mixed up: the connection is set to one memory, and the query names the other."""
    mine, theirs = two.stores
    with mine.database.wire() as wire:
        wire.execute("SELECT set_config('looseleaf.memory', %s, false)", (str(two.mine),))
        wire.memory = two.theirs  # what a fault would believe
        run = theirs.database.run
        assert (
            run(two.theirs, "SELECT line FROM looseleaf.records WHERE memory = %s", (two.theirs,), on=wire)
            == []
        )
        with pytest.raises(Refused):
            run(
                two.theirs,
                "SELECT looseleaf.append_line(%s, 'x', 'x', 1000, NULL, NULL)",
                (two.theirs,),
                on=wire,
            )
        wire.memory = None
    assert [each["content"] for each in records(theirs, "traces/main")] == ["said in theirs"]


def test_the_roles_are_who_they_are(two: Two, postgres: Running) -> None:
    rows = postgres.execute(
        "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole FROM pg_roles WHERE rolname IN (%s, %s) ORDER BY 1",
        (APPLICATION, OWNER),
    )
    assert rows == [(APPLICATION, False, False, False), (OWNER, False, False, False)]
