"""What every index promises, as tests: an index passes them by saying how it is opened.

class TestMyIndex(IndexContract):
    @pytest.fixture
    def index(self, tmp_path: Path) -> Index:
        return MyIndex(tmp_path)
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import strategies as st

from looseleaf.index.protocol import IndexItem, Only
from looseleaf.index.said import parts_of, said_words
from tables import check_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from looseleaf.index.protocol import Doc, Index

ANY = Only(past=True)
VOCABULARY = ("tea", "pot", "cup", "leaf", "milk", "straßenbahn", "茶", "3·11", "🍵")


def number_of(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


def item(name: str, terms: str, kind: str = "trace", **more: object) -> IndexItem:
    return IndexItem(kind, name, terms.split(), number_of(terms), **more)  # type: ignore[arg-type]


class Taken(NamedTuple):
    """What a source has, in the plainest way."""

    mark: str
    items: tuple[IndexItem, ...]
    over: tuple[tuple[str, str], ...] = ()


class Model:
    """An index as a dict: every answer is made from scratch."""

    def __init__(self) -> None:
        self.sources: dict[str, Taken] = {}

    def take(
        self,
        source: str,
        mark: str,
        items: Sequence[IndexItem],
        *,
        anew: bool = False,
        over: Iterable[tuple[str, str]] = (),
    ) -> None:
        had = self.sources.get(source, Taken("", ()))
        kept = ((), ()) if anew else (had.items, had.over)
        self.sources[source] = Taken(mark, (*kept[0], *items), (*kept[1], *over))

    def drop(self, source: str) -> None:
        self.sources.pop(source, None)

    def items(self) -> list[IndexItem]:
        return [each for taken in self.sources.values() for each in taken.items]

    def names(self, term: str) -> list[str]:
        return sorted(each.name for each in self.items() if term in each.terms)


def names(index: Index, docs: Iterable[Doc]) -> list[str]:
    return sorted(found.name for found in index.found([doc.id for doc in docs]))


def ask(index: Index, terms: str, only: Only = ANY, limit: int = 1000) -> list[str]:
    """Names of the items in which one of the terms stands."""
    known = index.corpus(terms.split()).df
    return names(index, index.candidates(known, only, limit))


def is_as(index: Index, model: Model, vocabulary: Sequence[str]) -> None:
    """Whether the index says what the model does."""
    items = model.items()
    corpus = index.corpus(vocabulary)
    assert corpus.items == len(items)
    assert corpus.terms == sum(len(each.terms) for each in items)
    assert dict(corpus.df) == Counter(
        term for each in items for term in set(each.terms) if term in vocabulary
    )
    sorts = {(each.kind, each.role) for each in items}
    assert set(corpus.means) == sorts
    for sort in sorts:
        lengths = [len(each.terms) for each in items if (each.kind, each.role) == sort]
        assert corpus.means[sort] == pytest.approx(sum(lengths) / len(lengths))
    for source, taken in model.sources.items():
        assert index.mark(source) == taken.mark
    for begin in ("traces/", "page:", "topic:", "entry:"):
        wanted = {name: taken.mark for name, taken in model.sources.items() if name.startswith(begin)}
        assert index.marks(begin) == wanted
    for term in vocabulary:
        assert ask(index, term) == model.names(term), term
    assert len(list(index.hashes(0, 10_000))) == len(items)
    by_session = _sessions(model)
    for doc in _all(index):
        [found] = index.found([doc.id])
        here = by_session[found.source, found.session] if found.session else [found.name]
        at = here.index(found.name)
        assert names(index, index.near([doc], 2)) == sorted(here[max(at - 2, 0) : at] + here[at + 1 : at + 3])
        assert doc.terms.split() == found_terms(model, found.name)


def found_terms(model: Model, name: str) -> list[str]:
    [terms] = [list(each.terms) for each in model.items() if each.name == name]
    return terms


def _all(index: Index) -> list[Doc]:
    return index.by_hash([number for _, number in index.hashes(0, 10_000)], ANY)


def _sessions(model: Model) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for source, taken in model.sources.items():
        for each in taken.items:
            found.setdefault((source, each.session), []).append(each.name)
    return found


# --- whatever it is told -----------------------------------------------------------------

Act = tuple[str, str, list[tuple[str, str, list[str]]]]

sources = st.sampled_from(("traces/a", "traces/b", "page:x", "page:facts/y", "topic:tea", "entry:z"))
rows = st.tuples(
    st.sampled_from(("", "s", "other")),
    st.sampled_from(("", "user", "assistant")),
    st.lists(st.sampled_from(VOCABULARY), max_size=6),
)
acts: st.SearchStrategy[list[Act]] = st.lists(
    st.tuples(
        st.sampled_from(("take", "anew", "drop", "again", "fail")), sources, st.lists(rows, max_size=5)
    ),
    max_size=12,
)


def carry_out(
    index: Index, model: Model, told: list[Act], open_again: Callable[[], None] | None = None
) -> None:
    """Do all of it with both. Traces are taken out only with their whole log, as the others are."""
    number = 0
    for act, source, given_rows in told:
        items = []
        for session, role, terms in given_rows:
            number += 1
            kind = "trace" if source.startswith("traces/") else "prose"
            items.append(IndexItem(kind, f"n{number}", terms, number, session=session, role=role))
        if act == "drop":
            index.drop(source)
            model.drop(source)
        elif act == "again" and open_again is not None:
            open_again()
        elif act == "fail":
            try:
                with index.change():
                    index.take(source, "lost", items, anew=True)
                    raise InterruptedError
            except InterruptedError:
                pass
        else:
            for each in (index, model):
                each.take(source, f"mark {number}", items, anew=act == "anew")


class IndexContract:
    """Each test has an index that is open and empty."""

    @pytest.fixture
    def index(self) -> Index:
        raise NotImplementedError

    # --- texts as they stand -----------------------------------------------------------

    def test_lines_are_found_by_any_part_of_their_words_newest_first(self, index: Index) -> None:
        said = [(1, number * 10, said_words(f"The kettle no. {number} is green.")) for number in range(600)]
        index.take("traces/main", "600", [], said=said)
        index.take("traces/other", "1", [], said=[(1, 0, said_words("A kettle."))])

        def check(text: str, wanted: list[int]) -> None:
            found = index.lines_with(parts_of(text), "traces/main")
            assert found is not None
            assert [place // 10 for _, place in found] == wanted, text

        rows: list[tuple[str, list[int]]] = [
            ("ettl", [*range(599, -1, -1)]),
            ("no. 25", [259, *range(258, 249, -1), 25]),
        ]
        rows += [("o. 599 i", [599]), ("kettles", []), ("599 green", [599]), ("A kettle", [])]
        check_rows(check, rows)

    def test_parts_that_stand_in_too_many_words_narrow_nothing_down(self, index: Index) -> None:
        index.take("traces/main", "1", [], said=[(1, 0, " ".join(f"x{number}" for number in range(1001)))])
        assert index.lines_with(parts_of("x"), "traces/main") is None
        assert index.sources_with(parts_of("x")) is None
        assert index.lines_with([], "traces/main") is None
        found = index.lines_with(parts_of("x x7x"), "traces/main")
        assert list(found or ()) == []

    def test_a_source_says_only_what_it_was_last_given(self, index: Index) -> None:
        index.take("page:a.md", "1", [], said=[(0, 0, "old tea")])
        index.take("topic:b", "1", [], said=[(0, 0, "green tea")])
        index.take("traces/main", "1", [], said=[(1, 0, "black tea")])
        assert index.sources_with(parts_of("te")) == {"page:a.md", "topic:b"}
        index.take("page:a.md", "2", [], anew=True, said=[(0, 0, "new tea")])
        assert index.sources_with(parts_of("old")) == set()
        assert index.sources_with(parts_of("new")) == {"page:a.md"}
        index.drop("topic:b")
        assert index.sources_with(parts_of("green")) == set()
        index.take("traces/main", "1", [], anew=True, said=[(1, 5, "black tea")])
        assert list(index.lines_with(parts_of("black"), "traces/main") or ()) == [(1, 5)]
        index.drop("traces/main")
        assert list(index.lines_with(parts_of("black"), "traces/main") or ()) == []

    # --- taking ------------------------------------------------------------------------

    def test_an_empty_index_answers_with_nothing(self, index: Index) -> None:
        is_as(index, Model(), ["tea"])
        assert index.mark("page:x") == ""
        assert index.speakers() == []
        assert index.trace("t1") is None
        assert index.over("t1") == []
        assert index.found([1, 2]) == []
        assert index.near([], 2) == []
        assert index.candidates({}, ANY, 10) == []
        assert index.within(-1e12, 1e12, ANY, 10) == []

    def test_what_is_taken_is_found_with_all_that_is_known_of_it(self, index: Index) -> None:
        one = item(
            "t1",
            "green tea",
            session="s",
            speaker="ann",
            role="user",
            ts=5.0,
            level="user",
            status="current",
            topic="tea",
            segment=3,
            byte=40,
            first=1,
            last=9,
        )
        index.take("traces/main", "3 40 t1", [one])
        [doc] = index.candidates({"green": 1}, ANY, 10)
        [found] = index.found([doc.id])
        assert (found.source, found.kind, found.name, found.hash) == ("traces/main", "trace", "t1", one.hash)
        assert found[5:] == ("s", "ann", "user", 5.0, "user", "current", "tea", 3, 40, 1, 9)
        assert (doc.terms, doc.speaker, doc.role, doc.kind) == ("green tea", "ann", "user", "trace")
        assert (doc.ts, doc.level, doc.seq) == (5.0, "user", 0)
        assert index.speakers() == []  # one colon makes no speaker
        index.take("traces/main", "4 40 t2", [item("t2", "black tea", speaker="ann")])
        assert index.speakers() == ["ann"]
        assert index.trace("t1") == found

    def test_a_second_taking_adds_and_one_anew_replaces(self, index: Index) -> None:
        model = Model()
        for each in (index, model):
            each.take("page:x", "1", [item("a", "tea cup", "prose")])
            each.take("page:x", "2", [item("b", "tea pot", "prose")])
            each.take("page:y", "1", [item("c", "tea leaf", "prose")])
        is_as(index, model, ["tea", "cup", "pot", "leaf"])
        for each in (index, model):
            each.take("page:x", "3", [item("d", "coffee", "prose")], anew=True)
        is_as(index, model, ["tea", "cup", "pot", "leaf", "coffee"])

    def test_what_is_dropped_is_as_if_it_had_never_been(self, index: Index) -> None:
        model = Model()
        for each in (index, model):
            each.take("traces/a", "1", [item("a", "tea", session="s"), item("b", "tea", session="s")])
            each.take("traces/b", "1", [item("c", "tea", session="s")])
            each.drop("traces/a")
            each.drop("traces/unheard of")
        is_as(index, model, ["tea"])
        for each in (index, model):
            each.take("traces/a", "1", [item("a", "tea", session="s")])
        is_as(index, model, ["tea"])

    def test_an_item_of_no_terms_counts_and_is_found_by_its_neighbours(self, index: Index) -> None:
        model = Model()
        for each in (index, model):
            each.take("traces/a", "1", [item("a", "tea", session="s"), item("b", "", session="s")])
        is_as(index, model, ["tea"])

    def test_a_block_that_fails_has_done_nothing(self, index: Index) -> None:
        index.take("page:x", "1", [item("a", "tea", "prose")])

        def fail() -> None:
            with index.change():
                index.take("page:x", "2", [item("b", "pot", "prose")], anew=True)
                index.drop("page:x")
                index.take("page:z", "1", [item("z", "pot", "prose", session="s")])
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        model = Model()
        model.take("page:x", "1", [item("a", "tea", "prose")])
        is_as(index, model, ["tea", "pot"])
        index.take("page:z", "1", [item("z", "pot", "prose", session="s")])
        assert ask(index, "pot") == ["z"]

    def test_an_item_that_cannot_be_taken_undoes_the_whole_taking(self, index: Index) -> None:
        def items() -> Iterable[IndexItem]:
            yield item("a", "tea", "prose")
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            index.take("page:x", "1", items())
        is_as(index, Model(), ["tea"])

    def test_the_marks_of_some_sources_are_those_that_they_have(self, index: Index) -> None:
        for name in ("traces/main", "journal", "page:x", "page:y"):
            index.take(name, f"mark of {name}", [])
        index.take("terms", "", [])
        asked = ("page:y", "traces/main", "page:unheard of", "terms", "page:y")
        assert index.marks_of(asked) == {"page:y": "mark of page:y", "traces/main": "mark of traces/main"}
        assert index.marks_of(()) == {}

    def test_in_a_block_of_one_question_its_own_changes_show(self, index: Index) -> None:
        index.take("traces/main", "1", [item("a", "tea", session="s", speaker="ann", ts=1.0)])
        model = Model()
        model.take("traces/main", "1", [item("a", "tea", session="s", speaker="ann", ts=1.0)])
        with index.look():
            is_as(index, model, ["tea", "pot"])
            assert index.spelt_like("teapots") == index.speakers() == []
            more = [item("b", "pot teapot", session="s", speaker="ann", ts=2.0)]
            for each in (index, model):
                each.take("traces/main", "2", more)
            is_as(index, model, ["tea", "pot"])
            assert (index.spelt_like("teapots"), index.speakers()) == (["teapot"], ["ann"])
            with index.look(), index.change():
                for each in (index, model):
                    each.take("page:x", "1", [item("c", "kettle", "prose")])
                is_as(index, model, ["tea", "pot", "kettle"])
                assert index.holding("kett") == ["kettle"]
                for each in (index, model):
                    each.drop("page:x")
            is_as(index, model, ["tea", "pot", "kettle"])
            assert index.holding("kett") == []
            [doc] = index.candidates({"pot": 1}, ANY, 5)
            assert [found.name for found in index.found([doc.id])] == ["b"]
            assert index.hashes_of([doc.id]) == {doc.id: number_of("pot teapot")}
        is_as(index, model, ["tea", "pot", "kettle"])

    # --- what may be found -------------------------------------------------------------

    def test_only_what_may_be_found_is_found(self, index: Index) -> None:
        facts = [
            item("fact", "green tea", "fact", status="current", topic="tea", ts=5.0),
            item("old", "black tea", "fact", status="superseded", topic="tea", ts=1.0),
        ]
        index.take("topic:tea", "1", facts)
        index.take("page:x", "1", [item("prose", "a tea", "prose", topic="tea", ts=25.0)])
        index.take("page:days/1", "1", [item("day", "the tea", "day", ts=6.0)])
        index.take("traces/main", "1", [item("t1", "my tea", session="s", ts=10.0)])
        index.take("traces/other", "1", [item("t2", "your tea", session="s", ts=30.0)])
        hashes = [number for _, number in index.hashes(0, 100)]

        def check(only: Only, wanted: str) -> None:
            assert ask(index, "tea", only) == wanted.split()
            assert names(index, index.within(0.0, 99.0, only, 10)) == wanted.split()
            assert names(index, index.by_hash(hashes, only)) == wanted.split()

        rows = [
            (Only(), "day fact prose t1 t2"),
            (Only(past=True), "day fact old prose t1 t2"),
            (Only(kinds=("trace",)), "t1 t2"),
            (Only(kinds=("fact", "day")), "day fact"),
            (Only(topic="tea"), "fact prose"),
            (Only(topic="tea", past=True), "fact old prose"),
            (Only(topic="te"), ""),
            (Only(agent="main"), "day fact prose t1"),
            (Only(agent="nobody"), "day fact prose"),
            (Only(since=20.0), "prose t2"),
            (Only(until=20.0), "day fact t1"),
            (Only(since=10.0, until=10.0), "t1"),
            (Only(until=0.0, past=True), "fact old"),
            (Only(since=20.0, until=10.0), ""),
            (Only(hidden=("traces/main", "page:x")), "day fact t2"),
            (Only(hidden=("traces/unheard of",)), "day fact prose t1 t2"),
            (Only(kinds=("trace",), agent="other", since=1.0, until=99.0, hidden=("page:x",)), "t2"),
        ]
        check_rows(check, rows)

    def test_an_item_without_a_time_is_of_no_time(self, index: Index) -> None:
        index.take("page:x", "1", [item("a", "tea", "prose")])
        assert ask(index, "tea") == ["a"]
        assert ask(index, "tea", Only(since=0.0)) == ask(index, "tea", Only(until=1e12)) == []
        assert index.within(-1e12, 1e12, ANY, 10) == []

    def test_within_a_time_the_newest_come_first(self, index: Index) -> None:
        index.take("traces/a", "1", [item(f"t{at}", "tea", ts=float(at)) for at in (3, 1, 9, 5)])
        newest = index.within(1.0, 5.0, ANY, 2)
        assert [doc.ts for doc in newest] == [5.0, 3.0]

    def test_the_likeliest_are_chosen_and_no_more_than_the_limit(self, index: Index) -> None:
        items = [item(f"t{n}", "tea " + "milk " * 50) for n in range(30)]
        index.take("traces/a", "1", [*items, item("best", "tea pot")])
        found = index.candidates({"tea": 31, "pot": 1}, ANY, 5)
        assert len(found) == 5
        assert "best" in names(index, found)

    def test_a_common_word_does_not_keep_rare_ones_from_choosing(self, index: Index) -> None:
        """However many items have it: they are not all looked at, and those with the rare word are found."""
        items = [item(f"t{n}", f"tea w{n}") for n in range(3000)]
        index.take("traces/a", "1", items)
        known = index.corpus(["tea", "w7", "w2999"]).df
        assert names(index, index.candidates(known, ANY, 200)) == ["t2999", "t7"]
        assert len(index.candidates({"tea": 3000}, ANY, 200)) == 200

    # --- neighbours --------------------------------------------------------------------

    def test_neighbours_are_found_where_sessions_interleave(self, index: Index) -> None:
        model = Model()
        rows = [item(f"{name}{at}", f"{name}{at}", session=name) for at in range(6) for name in "xyz"]
        rows += [item(f"w{at}", f"w{at}", session="w") for at in range(4)]
        for each in (index, model):
            for start in range(0, len(rows), 5):
                each.take("traces/a", str(start), rows[start : start + 5])
        is_as(index, model, [])
        docs = [doc for doc in _all(index) if doc.terms in ("x2", "y2", "w0")]
        near = [doc.terms for doc in index.near(docs, 2)]
        assert sorted(near) == ["w1", "w2", "x0", "x1", "x3", "x4", "y0", "y1", "y3", "y4"]

    def test_the_same_session_of_two_sources_is_two(self, index: Index) -> None:
        index.take("traces/a", "1", [item("a1", "one", session="s"), item("a2", "two", session="s")])
        index.take("traces/b", "1", [item("b1", "three", session="s")])
        [doc] = index.candidates({"two": 1}, ANY, 5)
        assert names(index, index.near([doc], 2)) == ["a1"]

    # --- spelling ----------------------------------------------------------------------

    def test_words_that_are_spelt_alike_or_hold_one_are_found(self, index: Index) -> None:
        index.take("page:x", "1", [item("a", "kubernetes harbour straßenbahn haltestelle", "prose")])
        assert "kubernetes" in index.spelt_like("kubernets")
        assert "harbour" in index.spelt_like("harbor")
        assert index.holding("bahn") == ["straßenbahn"]
        assert index.holding("zug") == index.spelt_like("zu") == index.holding("zu") == []

    def test_a_word_that_stands_nowhere_any_more_is_no_spelling(self, index: Index) -> None:
        index.take("page:x", "1", [item("a", "kubernetes", "prose")])
        index.drop("page:x")
        assert index.spelt_like("kubernets") == index.holding("kube") == []
        index.take("page:x", "1", [item("a", "kubernetes", "prose")])
        assert index.spelt_like("kubernets") == index.holding("kube") == ["kubernetes"]

    def test_a_word_of_the_engine_is_a_word(self, index: Index) -> None:
        def check(term: str) -> None:
            items = [item("a", f"{term} x", "prose"), item("b", "tea", "prose")]
            index.take("page:x", "1", items, anew=True)
            assert ask(index, term) == ["a"]
            assert index.spelt_like(term) == index.holding(term) == ([term] if len(term) > 3 else [])

        check_rows(check, ["and", "or", "not", "near", "terms", "rowid", "rank", "text", "null"])

    # --- what is over ------------------------------------------------------------------

    def test_what_is_over_goes_with_its_source(self, index: Index) -> None:
        index.take("topic:user", "1", [], over=[("t1", "f1"), ("t2", "f2"), ("t1", "f0")])
        assert [index.over(name) for name in ("t1", "t2", "t3")] == [["f0", "f1"], ["f2"], []]
        index.take("topic:user", "2", [], anew=True, over=[("t2", "f3")])
        assert [index.over(name) for name in ("t1", "t2")] == [[], ["f3"]]
        index.drop("topic:user")
        assert index.over("t2") == []

    def test_the_same_text_twice_is_found_twice_by_its_hash(self, index: Index) -> None:
        index.take("traces/a", "1", [item("t1", "tea"), item("t2", "tea"), item("t3", "pot")])
        assert names(index, index.by_hash([number_of("tea"), 0], ANY)) == ["t1", "t2"]
        many = [*range(1, 2000), number_of("pot")]
        assert names(index, index.by_hash(many, ANY)) == ["t3"]

    def test_hashes_come_in_order_and_from_where_one_left(self, index: Index) -> None:
        index.take("traces/a", "1", [item(f"t{n}", f"w{n}") for n in range(10)])
        first = list(index.hashes(0, 4))
        rest = list(index.hashes(first[-1][0], 100))
        assert [number for _, number in first + rest] == [number_of(f"w{n}") for n in range(10)]
        assert [each for each, _ in first + rest] == sorted(each for each, _ in first + rest)
