"""What searching costs in PostgreSQL, against the index in SQLite with the same items. In one run, taking turns.

    python benchmarks/postgres_search.py              prints the table, with a server of its own
    python benchmarks/postgres_search.py ADDRESS      in migrated tables, as the role that memories are used by:
                                                      postgresql://looseleaf@host/database
    python benchmarks/postgres_search.py --quick
    python benchmarks/postgres_search.py ADDRESS --keep FOLDER   keeps the index in SQLite there, and the memories

One memory has all items; as many again are in 200 other memories of the same database. The talk is that of
benchmarks/recall.py.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.postgres import database  # noqa: E402
from benchmarks.recall import Talk, high, lines, ms, of  # noqa: E402
from benchmarks.report import NO_GOAL, Row, options, report  # noqa: E402
from benchmarks.window import folder  # noqa: E402

from looseleaf.base.messages import Trace  # noqa: E402
from looseleaf.base.values import Position  # noqa: E402
from looseleaf.index.postgres import PostgresIndex  # noqa: E402
from looseleaf.index.protocol import IndexItem, Only  # noqa: E402
from looseleaf.index.said import parts_of, said_words  # noqa: E402
from looseleaf.index.sqlite import SqliteIndex  # noqa: E402
from looseleaf.recall.items import trace_items, trace_text  # noqa: E402
from looseleaf.recall.question import choose_terms, read_question  # noqa: E402
from looseleaf.store.postgres.address import Address, parse_address  # noqa: E402
from looseleaf.store.postgres.store import PostgresStore  # noqa: E402

SIZE, OTHERS, ROUNDS = 100_000, 200, 300
LIMIT = 100
STREAM = "traces/main"

Batch = tuple[list[IndexItem], list[tuple[int, int, str]]]


def batches(talk: Talk, size: int, at_once: int) -> Iterator[Batch]:
    """What a memory gives its index, item by item as it is read."""
    found: Batch = ([], [])
    for number, record in enumerate(lines(talk, size)):
        trace = Trace.from_record(record)
        assert trace is not None
        position = Position(1, 200 * number)
        found[0].extend(trace_items(trace, position, STREAM))
        found[1].append((*position, said_words(f"{trace.session_id} {trace.turn_id} {trace_text(trace)}")))
        if len(found[0]) >= at_once:
            yield found
            found = ([], [])
    yield found


def fill(index: Any, given: Iterable[Batch]) -> float:
    """Take it in, and return the seconds that it took."""
    spent = 0.0
    for number, (items, said) in enumerate(given):
        began = time.perf_counter()
        index.take(STREAM, f"{number}", items, said=said)
        spent += time.perf_counter() - began
    return spent


def index_at(address: Address, namespace: str) -> PostgresIndex:
    store = PostgresStore.open(address.of(namespace), make=True)
    assert store.tables is not None
    return PostgresIndex(*store.tables)


def both(
    rounds: int, ours: Callable[[int], object], theirs: Callable[[int], object]
) -> tuple[list[float], list[float]]:
    """Let both do the same, in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        for side, job in zip(times, (ours, theirs), strict=True):
            began = time.perf_counter()
            job(number)
            side.append(time.perf_counter() - began)
    return times


def told(what: str, times: tuple[list[float], list[float]], goal: str = NO_GOAL) -> Row:
    ours, theirs = times
    middle = f"p50 {ms(median(ours))} against {ms(median(theirs))}"
    figure = f"{of(ours, theirs):.2f} ({middle}, p99 {ms(high(ours))} against {ms(high(theirs))})"
    return what, figure, goal


def bytes_of(index: PostgresIndex) -> dict[str, int]:
    """Bytes of each table with its indexes, of all memories together."""
    query = (
        "SELECT c.relname, sum(pg_total_relation_size(p.oid))::bigint FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_inherits i ON i.inhparent = c.oid "
        "JOIN pg_class p ON p.oid = coalesce(i.inhrelid, c.oid) "
        "WHERE n.nspname = 'looseleaf' AND c.relkind IN ('r', 'p') AND NOT c.relispartition GROUP BY c.relname"
    )
    return {str(row[0]): int(row[1]) for row in index._database.run(None, query)}


def search(
    address: Address, path: Path, size: int, others: int, rounds: int, note: Callable[[str], None] = print
) -> Iterator[Row]:
    """Yield the figures of the search. `path`: a folder for the index in SQLite."""
    index = index_at(address, f"search/{size}")
    reference = SqliteIndex(str(path / f"search-{size}.sqlite"))
    reference.open(make=True)
    with closing(reference):
        talk = Talk()
        if not reference.last() or not index.last():
            before = bytes_of(index)
            spent = [0.0, 0.0]
            for batch in batches(talk, size, 500):
                spent[0] += fill(index, [batch])
                spent[1] += fill(reference, [batch])
            grown = {name: each - before[name] for name, each in bytes_of(index).items()}
            note(f"bytes: {grown}")
            items, theirs = index.last(), os.path.getsize(path / f"search-{size}.sqlite")
            rate = items / spent[0]
            yield (
                "in bulk, items a second",
                f"{rate / (items / spent[1]):.2f} ({rate:,.0f} of {items:,})",
                NO_GOAL,
            )
            yield (
                "KB of an item",
                f"{sum(grown.values()) / items / 1024:.2f} ({theirs / items / 1024:.2f} in SQLite)",
                NO_GOAL,
            )
            without = sum(each for name, each in grown.items() if name not in ("words", "postings"))
            yield "KB of an item without postings", f"{without / items / 1024:.2f}", NO_GOAL
            for number in range(others):
                fill(index_at(address, f"other/{size}/{number}"), batches(Talk(number), size // others, 500))
        questions = [
            talk.question(text)
            for text in islice(
                (record["content"] for record in lines(Talk(5), size)), 0, size, max(1, size // rounds)
            )
        ]
        terms = []
        for question in questions:
            with index.look():
                terms.append(choose_terms(*read_question(question, [reference])))
        rounds = min(rounds, len(questions))
        for side in (index, reference):
            for number in range(20):
                side.candidates(terms[number % rounds], Only(), LIMIT)

        def candidates(side: Any, only: Only) -> Callable[[int], object]:
            return lambda number: side.candidates(terms[number % rounds], only, LIMIT)

        def block(side: Any, work: Callable[[Any, int], object]) -> Callable[[int], object]:
            def run(number: int) -> None:
                with side.look():
                    work(side, number)

            return run

        def answer(side: Any, number: int) -> None:
            side.mark("terms")
            asking, corpus = read_question(questions[number % rounds], [side])
            docs = side.candidates(choose_terms(asking, corpus), Only(), LIMIT)
            near = side.near(docs, 2)
            side.found([doc.id for doc in (*docs, *near)][:20])

        def with_neighbors(side: Any, number: int) -> None:
            side.near(side.candidates(terms[number % rounds], Only(), LIMIT), 2)

        for what, only in (
            ("candidates", Only()),
            ("candidates among few", Only(kinds=("fact",))),
            ("candidates since the last month", Only(since=1.7565e9)),
        ):
            goal = "≤ 1" if only == Only() else NO_GOAL
            yield told(what, both(rounds, candidates(index, only), candidates(reference, only)), goal)
        sides = block(index, with_neighbors), block(reference, with_neighbors)
        yield told("candidates and their neighbours", both(rounds, *sides))
        best = [
            {doc.terms for doc in side.candidates(each, Only(), 10)}
            for each in terms
            for side in (index, reference)
        ]
        same = [
            len(ours & theirs) / max(len(theirs), 1)
            for ours, theirs in zip(best[::2], best[1::2], strict=True)
        ]
        yield "of the ten best, the same", f"{sum(same) / len(same):.3f}", NO_GOAL
        wanted = [sorted(each) for each in terms]
        yield told(
            "frequencies",
            both(rounds, lambda n: index.corpus(wanted[n]), lambda n: reference.corpus(wanted[n])),
        )
        docs = [index.candidates(each, Only(), LIMIT) for each in terms]
        there = [reference.candidates(each, Only(), LIMIT) for each in terms]
        yield told(
            "neighbours of 100",
            both(rounds, lambda n: index.near(docs[n], 2), lambda n: reference.near(there[n], 2)),
        )
        yield told(
            "of a time",
            both(
                rounds,
                lambda n: index.within(1.6e9 + n * 1e5, 1.7e9, Only(), 100),
                lambda n: reference.within(1.6e9 + n * 1e5, 1.7e9, Only(), 100),
            ),
        )
        odd = [max(each, key=len)[:-1] + "x" for each in wanted if each]
        for what, of_side in (("spelt like", "spelt_like"), ("holding", "holding")):

            def spell(side: Any, of_side: str = of_side) -> Callable[[int], object]:
                return block(side, lambda s, n: getattr(s, of_side)(odd[n % len(odd)]))

            yield told(what, both(rounds, spell(index), spell(reference)))
        yield told("a whole question", both(rounds, block(index, answer), block(reference, answer)))
        trips = index._database.trips
        block(index, answer)(0)
        yield "round trips of a question", f"{index._database.trips - trips}", "≤ 4"
        told_words = [
            parts_of(" ".join(record["content"].split()[2:5]))
            for record in islice(lines(Talk(5), size), 0, size, max(1, size // 40))
        ]
        yield told(
            "a line, word for word",
            both(
                40,
                lambda n: next(iter(index.lines_with(told_words[n % 40], STREAM) or ()), 0),
                lambda n: next(iter(reference.lines_with(told_words[n % 40], STREAM) or ()), 0),
            ),
        )
        more = list(islice(batches(Talk(99), 10_000, 1), 2 * rounds))

        def add(side: Any) -> Callable[[int], object]:
            def run(number: int) -> None:
                items, said = more[number]
                side.take(STREAM, f"more {number}", items, said=said)

            return run

        yield told("adding one", both(rounds, add(index), add(reference)))
        small = index_at(address, f"other/{size}/0")
        few = SqliteIndex(None)
        few.open(make=True)
        with closing(few):
            fill(few, batches(Talk(0), size // others, 500))
            yield told("adding one to a small memory", both(rounds, add(small), add(few)))
            sides = candidates(small, Only()), candidates(few, Only())
            yield told("candidates of a small memory", both(rounds, *sides))
            block(small, answer)(0)
            yield told(
                "a whole question to a small memory", both(rounds, block(small, answer), block(few, answer))
            )


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("address", nargs="?")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--size", type=int, default=SIZE)
    chosen = parser.parse_args()
    size, others, rounds = (2_500, 4, 20) if chosen.quick else (chosen.size, OTHERS, ROUNDS)
    with ExitStack() as held:
        path = Path(chosen.keep) if chosen.keep else held.enter_context(folder())
        path.mkdir(parents=True, exist_ok=True)
        address = held.enter_context(database(chosen.address))
        report(
            "postgres_search",
            search(parse_address(address), path, size, others, rounds),
            save=chosen.save,
        )


if __name__ == "__main__":
    main()
