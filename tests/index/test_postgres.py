"""The index in PostgreSQL keeps the contract, with postings and without, whatever it is told and by however many."""

from __future__ import annotations

import math
import threading
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from drawing import few
from index_contract import (
    ANY,
    VOCABULARY,
    Act,
    IndexContract,
    Model,
    acts,
    ask,
    carry_out,
    is_as,
    item,
    names,
)
from looseleaf.base.errors import Refused
from looseleaf.index.choosing import ALIKE, choose_words
from looseleaf.index.protocol import IndexItem, Only
from looseleaf.index.said import parts_of, said_words
from looseleaf.index.sqlite import SqliteIndex
from postgres import Running, refuse_without_server

refuse_without_server()

from looseleaf.index import postgres as module  # noqa: E402 (needs the extra)
from looseleaf.index.postgres import PostgresIndex, original, plain  # noqa: E402
from looseleaf.store.postgres.address import database_of, parse_address  # noqa: E402
from looseleaf.store.postgres.database import Database  # noqa: E402
from looseleaf.store.postgres.store import PostgresStore  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Open = Callable[[], PostgresIndex]


class Posted(PostgresIndex):
    """An index that posts each item when it comes."""

    few = waiting = 0


class PartlyPosted(PostgresIndex):
    """An index some of whose items are posted: what is in two places must be in both or in neither."""

    few, waiting = 3, 2


KINDS = {"unposted": PostgresIndex, "posted": Posted, "partly": PartlyPosted}


def new_memory(postgres: Running, kind: type[PostgresIndex] = PostgresIndex) -> Open:
    """Make a memory, and return how to open its index."""
    store = PostgresStore.open(parse_address(postgres.memory()), make=True)
    return lambda: kind(store.database, store.memory)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> type[PostgresIndex]:
    return KINDS[request.param]


class TestIndexInPostgres(IndexContract):
    @pytest.fixture
    def index(self, postgres: Running, kind: type[PostgresIndex]) -> Iterator[PostgresIndex]:
        with closing(new_memory(postgres, kind)()) as index:
            yield index
            assert index.faults() == []


# --- whatever it is told -----------------------------------------------------------------


@settings(deadline=None, max_examples=few(100), suppress_health_check=list(HealthCheck))
@given(told=acts)
def test_after_any_acts_it_says_what_a_plain_dict_says(
    postgres: Running, kind: type[PostgresIndex], told: list[Act]
) -> None:
    open_index = new_memory(postgres, kind)
    index, model = open_index(), Model()
    carry_out(index, model, told, index.close)
    is_as(index, model, VOCABULARY)
    with index.look():
        is_as(index, model, VOCABULARY)
        docs = index.candidates(index.corpus(VOCABULARY[:3]).df, ANY, 3)
        for reach in (1, 2, 3):
            near = open_index().near(docs, reach)
            assert sorted(index.near(docs, reach)) == sorted(near)
            assert index.found([doc.id for doc in near]) == open_index().found([doc.id for doc in near])
    assert index.faults() == []
    is_as(open_index(), model, VOCABULARY)  # as another process sees it
    terms = {term for each in model.items() for term in each.terms}
    for word in ("straßenbahn", "strassenbahn"):
        expected = ["straßenbahn"] if "straßenbahn" in terms else []
        assert index.spelt_like(word) == open_index().spelt_like(word) == expected
        assert index.holding("bahn") == open_index().holding("bahn") == expected


def test_an_index_that_forgets_to_count_down_fails_the_comparison(postgres: Running) -> None:
    class Forgetful(PostgresIndex):
        def take(self, source: str, mark: str, items: object, **more: object) -> None:
            super().take(source, mark, items)  # type: ignore[arg-type]

    index, model = new_memory(postgres, Forgetful)(), Model()
    for each in (index, model):
        each.take("page:x", "1", [item("a", "tea", "prose")])
        each.take("page:x", "2", [item("b", "pot", "prose")], anew=True)
    with pytest.raises(AssertionError):
        is_as(index, model, VOCABULARY)


# --- the order of candidates -------------------------------------------------------------

TEXTS = st.lists(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=6), min_size=1, max_size=12)


def scores(items: Sequence[IndexItem], chosen: Sequence[str]) -> dict[str, float]:
    """Return what BM25 gives each item, in the plainest way."""
    mean = sum(len(each.terms) for each in items) / len(items)
    often = Counter(term for each in items for term in set(each.terms))
    found: dict[str, float] = {}
    for each in items:
        score = 0.0
        for term in chosen:
            tf, n = list(each.terms).count(term), often[term]
            rarity = max(math.log((len(items) - n + 0.5) / (n + 0.5)), 1e-6)
            score += rarity * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * len(each.terms) / mean))
        if any(term in each.terms for term in chosen):
            found[each.name] = score
    return found


@settings(deadline=None, max_examples=few(100), suppress_health_check=list(HealthCheck))
@given(
    texts=TEXTS, asked=st.sets(st.sampled_from(VOCABULARY), min_size=1, max_size=3), limit=st.integers(1, 8)
)
@example([["tea"]] * 9 + [["tea", "pot"]], {"tea"}, 3)
def test_candidates_come_in_the_order_in_which_sqlite_has_them(
    postgres: Running, kind: type[PostgresIndex], texts: list[list[str]], asked: set[str], limit: int
) -> None:
    items = [IndexItem("trace", f"t{n}", terms, hash(tuple(terms)) >> 1) for n, terms in enumerate(texts)]
    index = new_memory(postgres, kind)()
    with closing(SqliteIndex(None)) as other:
        other.open(make=True)
        answers = []
        for each in (index, other):
            for at in range(0, len(items), 4):
                each.take("traces/a", str(at), items[at : at + 4])
            known = each.corpus(asked).df
            found = each.candidates(known, ANY, limit)
            answers.append([row.name for row in each.found([doc.id for doc in found])])
        chosen, _ = choose_words(known, len(items))
        expected = scores(items, chosen)
        for answer in answers:
            here = [round(expected[name], 9) for name in answer]
            assert here == sorted(here, reverse=True)
        assert [round(expected[name], 9) for name in answers[0]] == [
            round(expected[name], 9) for name in answers[1]
        ]


def test_many_that_a_filter_forbids_leave_room_for_one_that_it_allows(
    postgres: Running, kind: type[PostgresIndex]
) -> None:
    index = new_memory(postgres, kind)()
    with index.change():
        index.take("traces/main", "1", [item(f"t{n}", f"tea w{n}", ts=1.0) for n in range(400)])
        index.take("page:x", "1", [item("late", "tea " + "milk " * 30, "prose", ts=9.0)])
        index.take("traces/other", "1", [item("own", "tea " + "milk " * 31, ts=2.0)])
    for only in (Only(since=5.0), Only(kinds=("prose",)), Only(hidden=("traces/main", "traces/other"))):
        assert ask(index, "tea", only, 5) == ["late"]
    assert ask(index, "tea", Only(agent="other"), 5) == ["late", "own"]


def test_one_text_said_many_times_does_not_crowd_out_the_others(
    postgres: Running, kind: type[PostgresIndex]
) -> None:
    index = new_memory(postgres, kind)()
    same = [item(f"s{n}", "tea") for n in range(90)]
    one = [item("long", f"tea passage p{n}") for n in range(90)]
    index.take("traces/main", "1", [*same, *one, item("other", "tea " + "milk " * 9)])
    found = Counter(names(index, index.candidates({"tea": 181}, ANY, 10)))
    assert found["long"] == sum(found[f"s{n}"] for n in range(90)) == ALIKE
    assert found["other"] == 1


def test_words_that_stand_everywhere_choose_together(
    postgres: Running, kind: type[PostgresIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    index = new_memory(postgres, kind)()
    rows = [item("a", "tea"), item("b", "tea pot"), item("c", "tea cup"), item("d", "pot cup")]
    index.take("traces/main", "1", rows)
    monkeypatch.setattr(module, "choose_words", lambda terms, size: (("tea", "pot", "cup"), "tea"))
    assert names(index, index.candidates(index.corpus(["tea", "pot", "cup"]).df, ANY, 9)) == ["b", "c"]


# --- what PostgreSQL cannot hold -----------------------------------------------------------

HOSTILE = (
    "\0",
    "a\0b",
    "\ud800",
    "\udfff\ud800",
    "\ue000",
    "\ue0000000",
    "x" * 5000,
    "é" * 3000,
    "''; DROP TABLE items; --",
    "%s %(a)s {} \\",
    '{a,"b"}',
    "NULL",
    "\u2028\x85\u00a0",
)


@given(st.text(st.one_of(st.characters(), st.sampled_from("\0\ue000\ud800\udfff0")), max_size=30))
def test_any_text_is_what_it_was_when_it_comes_back(text: str) -> None:
    held = plain(text)
    assert original(held) == text
    assert "\0" not in held
    held.encode()


@given(
    st.text(st.sampled_from("\0\ue000\ud800a0"), max_size=6),
    st.text(st.sampled_from("\0\ue000a0"), max_size=6),
)
def test_what_begins_alike_still_does(text: str, begin: str) -> None:
    assert plain(text).startswith(plain(begin)) == text.startswith(begin)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_can_stand_anywhere(postgres: Running, kind: type[PostgresIndex], text: str) -> None:
    open_index = new_memory(postgres, kind)
    index = open_index()
    source, term = f"page:{text}", "".join(text.split()) or "blank"
    about = dict.fromkeys(("session", "speaker", "role", "level", "topic"), text)
    one = IndexItem("prose", text, (term, "tea"), 7, **about, ts=1.0)  # type: ignore[arg-type]
    two = IndexItem("prose", f"{text}2", (term,), 8, **about, ts=float("nan"))  # type: ignore[arg-type]
    over = [(text, f"{text}f"), (text, text)]
    for _ in range(2):
        index.take(source, text, [one, two], anew=True, over=over, said=[(1, 2, term)])
    index.take(f"traces/{text}", text, [IndexItem("trace", text, ("tea", term), 9)])
    for each in (index, open_index()):
        assert each.marks("page:") == each.marks(source) == {source: text}
        assert (each.mark(source), each.marks_of([source])) == (text, {source: text})
        assert each.corpus([term]).df == {term: 3}
        with each.look():
            assert each.corpus([term]).df == {term: 3}
            assert each.mark(f"traces/{text}") == text
            docs = each.candidates({term: 3}, Only(topic=text), 5)
            assert sorted(doc.terms for doc in docs) == sorted([term, f"{term} tea"])
            found = sorted(each.found([doc.id for doc in docs]), key=lambda row: row.hash)
            assert found == sorted(open_index().found([doc.id for doc in docs]), key=lambda row: row.hash)
        assert [row[1:] for row in found] == [
            (source, "prose", text, 7, text, text, text, 1.0, text, "", text, 0, 0, 0, 0),
            (source, "prose", f"{text}2", 8, text, text, text, None, text, "", text, 0, 0, 0, 0),
        ]
        assert each.speakers() == [text]
        assert sorted(each.over(text)) == sorted([f"{text}f", text])
        traced = each.trace(text)
        assert traced is not None
        assert (traced.name, traced.source) == (text, f"traces/{text}")
        assert ask(each, term, Only(hidden=(source,))) == [text]
        assert ask(each, term, Only(agent=text, kinds=("trace",))) == [text]
        assert ask(each, term, Only(agent=f"{text}2", kinds=("trace",))) == []
    index.drop(source)
    assert index.faults() == []
    assert (index.marks("page:"), index.corpus([term]).df, index.over(text)) == ({}, {term: 1}, [])


def test_half_a_character_in_what_was_said_finds_nothing_and_breaks_nothing(postgres: Running) -> None:
    index = new_memory(postgres)()
    index.take("page:x", "1", [], said=[(0, 0, said_words("a \ud800 \0 tea"))])
    assert index.sources_with(parts_of("tea")) == {"page:x"}
    assert index.sources_with(parts_of("tea\0")) == {"page:x"}


# --- many at once ------------------------------------------------------------------------


def test_what_one_handle_wrote_another_reads_at_once(postgres: Running, kind: type[PostgresIndex]) -> None:
    open_index = new_memory(postgres, kind)
    one, other = open_index(), open_index()
    for number in range(20):
        writer, reader = (one, other) if number % 2 else (other, one)
        writer.take("traces/a", str(number), [item(f"t{number}", f"tea word{number}", session="s")])
        assert ask(reader, f"word{number}") == [f"t{number}"]
        assert reader.mark("traces/a") == str(number)
        assert reader.holding(f"ord{number}")[:1] == [f"word{number}"]
        with reader.look():
            assert ask(reader, f"word{number}") == [f"t{number}"]
            assert f"word{number}" in reader.spelt_like(f"wordx{number}")


def one_of(who: int, number: int) -> IndexItem:
    return item(f"{who}.{number}", f"tea t{who}n{number}", session="s")


def test_threads_that_write_at_once_lose_nothing(postgres: Running, kind: type[PostgresIndex]) -> None:
    open_index = new_memory(postgres, kind)
    shared = open_index()
    failed: list[BaseException] = []

    def write(who: int) -> None:
        try:
            index = shared if who % 2 else open_index()
            for number in range(15):
                with index.look(), index.change():
                    last = index.mark("traces/all")
                    index.take("traces/all", str(int(last or 0) + 1), ())
                    index.take(
                        f"traces/{who}",
                        str(number),
                        [item(f"{who}.{number}", f"tea t{who}n{number}", session="s")],
                    )
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    model = Model()
    for who in range(4):
        for number in range(15):
            model.take(f"traces/{who}", str(number), [one_of(who, number)])
    model.take("traces/all", "60", ())
    is_as(open_index(), model, ["tea", "t3n14"])
    assert shared.faults() == []


def test_a_change_waits_for_the_one_before_and_readers_for_nobody(postgres: Running) -> None:
    open_index = new_memory(postgres)
    one, other = open_index(), open_index()
    one.take("traces/a", "1", [item("a", "tea")])
    order: list[str] = []

    def change() -> None:
        with other.change():
            order.append("second")
            other.take("traces/a", "3", [item("c", "tea")])

    with one.change():
        one.take("traces/a", "2", [item("b", "tea")])
        assert ask(one, "tea") == ["a", "b"]
        waiting = threading.Thread(target=change)
        waiting.start()
        waiting.join(0.2)
        assert ask(other, "tea") == ["a"]
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]
    assert ask(other, "tea") == ["a", "b", "c"]


def test_two_memories_know_nothing_of_each_other(postgres: Running, kind: type[PostgresIndex]) -> None:
    one, other = new_memory(postgres, kind)(), new_memory(postgres, kind)()
    models = Model(), Model()
    for index, model, pot in zip((one, other), models, ("pot", "cup"), strict=True):
        for each in (index, model):
            each.take("traces/a", "1", [item("a", f"tea {pot}", session="s"), item("b", "tea", session="s")])
            each.take("page:x", "1", [item("c", f"{pot} kettle{pot}", "prose")])
    for index, model in zip((one, other), models, strict=True):
        is_as(index, model, ["tea", "pot", "cup"])
    assert (one.holding("kettle"), other.holding("kettle")) == (["kettlepot"], ["kettlecup"])
    one.clear()
    is_as(one, Model(), ["tea", "pot", "cup"])
    is_as(other, models[1], ["tea", "pot", "cup"])
    assert one.holding("kettle") == []
    assert one.faults() == other.faults() == []


def test_words_that_left_are_no_spellings_whoever_removed_them(
    postgres: Running, kind: type[PostgresIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_index = new_memory(postgres, kind)
    one, other = open_index(), open_index()
    for left in (10**9, 1):  # read all again at once, or after many changes
        monkeypatch.setattr(module, "_LEFT", left)
        for number in range(6):
            one.take(f"page:{number}", "1", [item("a", f"kettle{number}", "prose")], anew=True)
        assert sorted(other.holding("kettle")) == [f"kettle{number}" for number in range(6)]
        one.take("page:3", "2", [item("a", "teapot", "prose")], anew=True)
        one.drop("page:4")
        for index in (one, other):
            with index.look():
                assert sorted(index.holding("kettle")) == ["kettle0", "kettle1", "kettle2", "kettle5"]
                assert "kettle3" not in index.spelt_like("kettle3")
        one.take("page:3", "3", [item("a", "kettle3", "prose")], anew=True)
        assert "kettle3" in other.spelt_like("kettle3")
        one.clear()
        assert other.holding("kettle") == []


# --- lost answers, and a server that goes away ---------------------------------------------


def test_an_act_that_is_sent_twice_is_done_once(postgres: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    index, model = new_memory(postgres)(), Model()
    monkeypatch.setattr(module, "_random_act", lambda: 7)
    for _ in range(2):
        index.take("traces/a", "1", [item("a", "tea", session="s")])
    model.take("traces/a", "1", [item("a", "tea", session="s")])
    is_as(index, model, ["tea"])


def end_connections(postgres: Running, database: Database) -> None:
    query = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s"
    assert postgres.execute(query, (database_of(database.url),))


def test_a_connection_that_is_gone_is_replaced_and_one_lost_in_a_change_undoes_it(postgres: Running) -> None:
    open_index = new_memory(postgres)
    index, model = open_index(), Model()
    model.take("traces/a", "1", [item("a", "tea")])
    index.take("traces/a", "1", [item("a", "tea")])
    end_connections(postgres, index._database)
    is_as(index, model, ["tea"])
    end_connections(postgres, index._database)
    with index.change():
        index.take("traces/a", "2", [item("b", "tea")])
    model.take("traces/a", "2", [item("b", "tea")])

    def fail() -> None:
        with index.change():
            index.take("traces/a", "3", [item("c", "tea")])
            assert ask(index, "tea") == ["a", "b", "c"]
            end_connections(postgres, index._database)
            index.take("traces/a", "4", [item("d", "tea")])

    with pytest.raises(Refused, match="Nothing was done"):
        fail()
    is_as(index, model, ["tea"])
    with index.change():
        index.take("traces/a", "5", ())
    assert index.mark("traces/a") == "5"


# --- round trips -------------------------------------------------------------------------


def trips(index: PostgresIndex, act: Callable[[], object]) -> int:
    before = index._database.trips
    act()
    return index._database.trips - before


def test_a_question_takes_four_round_trips_and_a_look_whether_anything_is_missing_one(
    postgres: Running, kind: type[PostgresIndex]
) -> None:
    index = new_memory(postgres, kind)()
    lines = [item(f"t{n}", f"tea word{n % 7}", session="s", speaker="ann", ts=float(n)) for n in range(40)]
    index.take("traces/main", "40", lines)
    for name in ("terms", "journal", "traces/other"):
        index.take(name, f"mark of {name}", [])

    def is_complete() -> None:
        for name in ("terms", "journal", "traces/main", "traces/other", "traces/third"):
            index.mark(name)
        index.marks_of(["terms", "traces/main"])

    def answer(*, is_misspelt: bool = True) -> None:
        with index.look():
            is_complete()
            index.speakers()
            known = index.corpus(["tea", "word3", "kettle"])
            if is_misspelt:
                index.holding("word")
                index.spelt_like("kettle")
            known = index.corpus(["tea", "word3", "kettle"])
            docs = index.candidates(known.df, Only(), 10)
            near = index.near(docs, 2)
            index.found([doc.id for doc in (*docs, *near)])
            index.found([doc.id for doc in docs])

    def look() -> None:
        with index.look():
            is_complete()

    assert trips(index, look) == 1
    first = 4 if kind is not PostgresIndex else 3
    assert trips(index, lambda: answer(is_misspelt=False)) == first
    assert trips(index, answer) == (
        first + 1 if kind is not PostgresIndex else first
    )  # the words are read once
    assert trips(index, answer) == first
    for act in (
        lambda: index.take("traces/main", "41", lines[:3], over=[("t1", "f")], said=[(1, 0, "tea")]),
        lambda: index.take("page:x", "41", lines[:3], anew=True),
        lambda: index.drop("page:x"),
        lambda: index.mark("page:x"),
        lambda: index.near(index.candidates({}, ANY, 9) or [], 2) or index.marks("page:"),
        lambda: index.found([1, 2, 3]),
        lambda: index.by_hash([1, 2, 3], ANY),
        lambda: index.hashes_of([1, 2, 3]),
        lambda: index.lines_with(parts_of("tea"), "traces/main"),
    ):
        assert trips(index, act) == 1


def test_a_change_of_many_sources_takes_two_round_trips_besides_its_questions(postgres: Running) -> None:
    index = new_memory(postgres)()

    def change() -> None:
        with index.look(), index.change():
            index.mark("journal")
            index.marks_of(["terms", "traces/main"])
            for number in range(20):
                index.take(f"page:{number}", "1", [item("a", "tea", "prose")], anew=True)
            index.drop("page:3")

    assert trips(index, change) == 3
    assert len(index.marks("page:")) == 19
