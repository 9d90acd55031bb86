"""What all that keeps vectors promises, as tests: it passes them by saying how the vectors of a model are opened.

class TestMyVectors(VectorsContract):
    @pytest.fixture
    def open_vectors(self, tmp_path: Path) -> OpenVectors:
        return lambda name="model", dimensions=None: MyVectors(tmp_path, name, dimensions)
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from hypothesis.strategies import integers, lists, sets

from drawing import few
from looseleaf.base.errors import Refused
from tables import check_rows

if TYPE_CHECKING:
    from looseleaf.index.protocol import Vectors

D = 16


class OpenVectors(Protocol):
    """Open the vectors of a model once more, as another process would; always in the same place."""

    def __call__(self, name: str = ..., dimensions: int | None = ...) -> Vectors: ...


def some(count: int, seed: int = 0, dimensions: int = D) -> Any:
    """Normalised rows, the same ones each time."""
    import numpy

    rows = numpy.random.default_rng(seed).standard_normal((count, dimensions), dtype=numpy.float32)
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def expected(rows: Any, query: Any, top: int) -> list[float]:
    import numpy

    scores: list[float] = numpy.sort(rows @ query)[::-1][:top].tolist()
    return scores


class Kept(RuleBasedStateMachine):
    """Against a dict: any order of adding, forgetting and opening again."""

    open_vectors: Any
    off: float

    @initialize()
    def nothing(self) -> None:
        self.number = getattr(type(self), "number", 0) + 1
        type(self).number = self.number
        self.wanted: dict[int, Any] = {}
        self.open_again()
        self.other = self.vectors

    @rule()
    def open_again(self) -> None:
        self.vectors = type(self).open_vectors(f"model {self.number}", D)

    @rule(hashes=lists(integers(1, 12), max_size=6), seed=integers(0, 99))
    def add(self, hashes: list[int], seed: int) -> None:
        rows = some(len(hashes), seed)
        new = 0
        for each, row in zip(hashes, rows, strict=True):
            if each not in self.wanted:
                self.wanted[each], new = row, new + 1
        assert self.vectors.add(hashes, rows) == new

    @rule(hashes=sets(integers(1, 12), max_size=6))
    def forget(self, hashes: set[int]) -> None:
        had = [each for each in hashes if self.wanted.pop(each, None) is not None]
        assert self.vectors.forget(hashes) == len(had)

    @invariant()
    def it_is_what_the_dict_is(self) -> None:
        query = some(1, 7)[0]
        wanted = {each: float(row @ query) for each, row in self.wanted.items()}
        for each in (self.vectors, self.other):
            assert dict(each.search(query, 20)) == pytest.approx(wanted, abs=self.off)
            assert each.cosines(query, range(1, 13)) == pytest.approx(wanted, abs=self.off)
        assert self.vectors.missing(range(1, 13)) == [each for each in range(1, 13) if each not in wanted]
        assert set(self.vectors.hashes()) == set(wanted)
        assert len(self.vectors) == len(wanted)


class VectorsContract:
    """Each test has a place where nothing is kept."""

    off = 1e-5
    """How much a cosine may be off."""

    @pytest.fixture
    def open_vectors(self) -> OpenVectors:
        raise NotImplementedError

    @pytest.fixture
    def kept(self, open_vectors: OpenVectors) -> tuple[Vectors, Any]:
        made, rows = open_vectors("model", D), some(50)
        assert made.add(range(1, 51), rows) == 50
        return made, rows

    def test_a_text_is_nearest_to_itself(self, kept: tuple[Vectors, Any]) -> None:
        made, rows = kept
        for place, row in enumerate(rows):
            (found, cosine), *_ = made.search(3 * row, 3)  # a question need not be normalised
            assert found == place + 1
            assert cosine == pytest.approx(1, abs=self.off)

    def test_a_search_finds_what_a_plain_product_finds(self, kept: tuple[Vectors, Any]) -> None:
        made, rows = kept
        for seed, top in ((1, 1), (2, 7), (3, 50), (4, 99)):
            query = some(1, seed)[0]
            found = [score for _, score in made.search(query, top)]
            assert found == pytest.approx(expected(rows, query, top), abs=self.off)

    def test_a_search_may_be_among_some_only(self, kept: tuple[Vectors, Any]) -> None:
        made, rows = kept
        found = made.search(rows[0], 10, among={3, 9, 27, 999})
        assert {each for each, _ in found} == {3, 9, 27}
        cosines = [score for _, score in found]
        assert cosines == sorted(cosines, reverse=True)
        assert made.search(rows[0], 2, among=[27, 3, 27, 9, 999]) == found[:2]
        assert made.cosines(rows[0], [27, 3, 9, 999]) == pytest.approx(dict(found), abs=self.off)
        assert made.search(rows[0], 10, among=[]) == []

    def test_nothing_kept_is_nothing_found(self, open_vectors: OpenVectors) -> None:
        import numpy

        made = open_vectors("model")
        assert (made.search(some(1)[0], 5), made.cosines(some(1)[0], [1]), made.hashes()) == ([], {}, [])
        assert (len(made), made.dimensions, made.missing([3, 1, 3]), made.forget([1])) == (0, None, [3, 1], 0)
        assert made.add([], numpy.empty((0, D))) == 0
        assert made.making == ""

    def test_no_room_is_nothing_found(self, kept: tuple[Vectors, Any]) -> None:
        assert kept[0].search(some(1)[0], 0) == []

    def test_a_question_of_another_model_is_refused(self, kept: tuple[Vectors, Any]) -> None:
        def check(query: list[float]) -> None:
            with pytest.raises(Refused, match="Ask with the model that made them"):
                kept[0].search(query, 5)

        check_rows(check, [([1.0] * (D + 1),), ([0.0] * D,), ([float("nan")] * D,)])

    def test_what_is_kept_is_what_was_added_and_not_forgotten(self, open_vectors: OpenVectors) -> None:
        machine = type("Kept", (Kept,), {"open_vectors": staticmethod(open_vectors), "off": self.off})
        run_state_machine_as_test(machine, settings=settings(max_examples=few(25), stateful_step_count=12))

    def test_rows_that_are_none_are_refused_and_change_nothing(self, kept: tuple[Vectors, Any]) -> None:
        made, rows = kept

        def check(hashes: list[int], matrix: list[Any], said: str) -> None:
            with pytest.raises(Refused, match=said):
                made.add([each + 1000 for each in hashes], matrix)
            assert sorted(made.hashes()) == list(range(1, 51))
            assert made.search(rows[6], 1)[0][0] == 7

        check_rows(
            check,
            [
                ([1], [[float("nan")] * D], "zero or not a number"),
                ([1], [[float("inf")] * D], "zero or not a number"),
                ([1], [[1e300] * D], "zero or not a number"),
                ([1], [[0.0] * D], "zero or not a number"),
                ([1, 2], [[1.0] * D], "a row for each of 2 texts"),
                ([1], [1.0] * D, "a row for each of 1 texts"),
                ([1], [[]], "a row for each of 1 texts"),
                ([1], [[1.0] * (D + 1)], "Give the other model another name|opened for"),
            ],
        )

    def test_the_hash_of_no_text_is_refused(self, open_vectors: OpenVectors) -> None:
        with pytest.raises(ValueError, match="text_hash"):
            open_vectors("model").add([0], some(1))

    def test_other_sizes_than_were_asked_for_are_refused(self, open_vectors: OpenVectors) -> None:
        with pytest.raises(Refused, match="opened for 8 numbers and gave 16"):
            open_vectors("model", 8).add([1], some(1))

    def test_vectors_of_two_models_are_never_mixed(self, open_vectors: OpenVectors) -> None:
        made, other = open_vectors("model"), open_vectors("other")
        made.add([1, 2], some(2))
        assert len(other) == 0
        assert other.add([1], some(1, 3, 8)) == 1
        assert (made.dimensions, other.dimensions) == (D, 8)
        assert len(made.search(some(1)[0], 5)) == 2
        assert len(other.search(some(1, 3, 8)[0], 5)) == 1
        assert open_vectors("model").making == made.making != other.making

    def test_any_name_is_a_model(self, open_vectors: OpenVectors) -> None:
        odd = ("", "a/../b", "\0", "x" * 3000, "x" * 3000 + "y", "\ue000", "ä ö;'\"")
        for number, name in enumerate(odd):
            assert open_vectors(name).add([number + 1], some(1, number)) == 1
        for number, name in enumerate(odd):
            assert open_vectors(name).hashes() == [number + 1]

    def test_hashes_are_of_64_bits(self, open_vectors: OpenVectors) -> None:
        made, wide = open_vectors("model"), [-(2**63), 2**63 - 1, -1]
        assert made.add(wide, some(3)) == 3
        assert sorted(made.hashes()) == sorted(wide)
        assert made.missing([*wide, 1]) == [1]
        assert made.search(some(3)[0], 1)[0][0] == wide[0]
        assert made.forget(wide) == 3

    def test_what_one_handle_adds_another_finds(self, open_vectors: OpenVectors) -> None:
        one, other = open_vectors("model"), open_vectors("model")
        for number in range(1, 9):
            writer, reader = (one, other) if number % 2 else (other, one)
            writer.add([number], some(1, number))
            assert reader.search(some(1, number)[0], 1)[0][0] == number
        one.forget([3])
        assert 3 not in dict(other.search(some(1)[0], 99))
        one.close()
        assert len(one.search(some(1)[0], 99)) == 7

    def test_what_threads_add_at_once_is_all_there(self, open_vectors: OpenVectors) -> None:
        made = open_vectors("model", D)

        def work(number: int) -> None:
            for each in range(10):
                made.add([1000 * number + each + 1, 5], some(2, 10 * number + each))
                made.search(some(1)[0], 3)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == 41
        for number in range(1, 5):
            for each in range(10):
                found, cosine = made.search(some(2, 10 * number + each)[0], 1)[0]
                assert found == 1000 * number + each + 1
                assert cosine == pytest.approx(1, abs=self.off)
