"""Values: frozen as a dataclass would be, and what they say of themselves."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import looseleaf
from drawing import few
from looseleaf.base import errors, values
from looseleaf.base.errors import Busy, Refused, Stale, Unreadable, Unwritten
from looseleaf.base.immutable import frozen
from looseleaf.base.values import (
    KINDS,
    START,
    Document,
    Edit,
    Episode,
    Fact,
    Hunk,
    LogLine,
    PageText,
    Position,
    Problem,
    Prose,
    Receipt,
    Stat,
)
from looseleaf.log.journal import Head
from tables import check_rows

# --- frozen, beside a dataclass --------------------------------------------------------

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")
Fields = list[tuple[str, Any]]
NOTHING = object()


@st.composite
def fields(draw: st.DrawFn) -> Fields:
    """Names with their defaults; those without a default come first."""
    count = draw(st.integers(0, len(NAMES)))
    given = draw(st.integers(0, count))
    defaults = draw(st.lists(plain, min_size=count - given, max_size=count - given))
    return [*((name, NOTHING) for name in NAMES[:given]), *zip(NAMES[given:count], defaults, strict=True)]


plain = st.none() | st.integers() | st.text(max_size=5) | st.tuples(st.integers(), st.booleans())


def made(fields: Fields, decorate: Callable[[type], type]) -> Any:
    members: dict[str, Any] = {name: value for name, value in fields if value is not NOTHING}
    members["__annotations__"] = {name: "object" for name, _ in fields}
    members["__module__"] = __name__
    members["double"] = property(lambda self: [getattr(self, name) for name, _ in fields] * 2)
    return decorate(type("Made", (), members))


def pair(fields: Fields) -> tuple[Any, Any]:
    return made(fields, frozen), made(fields, dataclasses.dataclass(frozen=True, slots=True))


def outcome(call: Callable[[], object]) -> object:
    """What came of it: what it gives, as text, or the kind and words of its error."""
    try:
        return repr(call())
    except (TypeError, AttributeError, ValueError) as error:
        return type(error).__mro__[-3 if isinstance(error, AttributeError) else 0], (
            "" if isinstance(error, AttributeError) else str(error)
        )


@settings(max_examples=few(50))  # each makes two classes
@given(
    fields(),
    st.lists(plain, max_size=6),
    st.dictionaries(st.sampled_from([*NAMES, "zeta"]), plain, max_size=6),
)
def test_a_frozen_value_is_made_as_a_dataclass_is(
    fields: Fields, given: list[Any], named: dict[str, Any]
) -> None:
    ours, theirs = pair(fields)
    for _ in range(2):  # the first value compiles `__init__`, the others use it
        assert outcome(lambda: ours(*given, **named)) == outcome(lambda: theirs(*given, **named))


@settings(max_examples=few(50))  # each makes two classes
@given(fields(), st.data())
def test_a_frozen_value_compares_hashes_and_shows_itself_as_a_dataclass_does(
    fields: Fields, data: st.DataObject
) -> None:
    ours, theirs = pair(fields)
    some = [data.draw(st.lists(plain, min_size=len(fields), max_size=len(fields))) for _ in range(2)]
    one, other = (ours(*each) for each in some)
    his, her = (theirs(*each) for each in some)
    assert (one == other, one != other) == (his == her, his != her)
    assert hash(one) == hash(his)
    assert repr(one) == repr(his)
    assert one.double == his.double
    assert (one == his, one == tuple(some[0]), one == None) == (False, False, False)  # noqa: E711
    assert one.__match_args__ == his.__match_args__
    assert ours.__slots__ == theirs.__slots__
    assert copy.copy(one) == copy.deepcopy(one) == one
    assert not hasattr(one, "__dict__")


@settings(max_examples=few(50))  # each makes two classes
@given(fields().filter(bool), st.sampled_from([*NAMES, "zeta", "double"]))
def test_a_frozen_value_cannot_be_changed(fields: Fields, name: str) -> None:
    ours, theirs = pair(fields)
    # A dataclass with slots trips over itself (TypeError) when the name is none of its fields.
    for cls, kinds in ((ours, (AttributeError,)), (theirs, (AttributeError, TypeError))):
        value = cls(*range(len(fields)))
        with pytest.raises(kinds):
            setattr(value, name, 1)
        with pytest.raises(kinds):
            delattr(value, name)
        assert value == cls(*range(len(fields)))


def test_a_list_in_a_frozen_value_makes_it_unhashable_as_in_a_dataclass() -> None:
    for cls in pair([("alpha", NOTHING)]):
        assert cls([1]) == cls([1])
        with pytest.raises(TypeError, match="unhashable"):
            hash(cls([1]))


@pytest.mark.parametrize("fields", [[("alpha", 1), ("beta", NOTHING)], [("alpha", [])], [("alpha", {})]])
def test_what_a_dataclass_refuses_is_refused(fields: Fields) -> None:
    kinds = []
    for decorate in (frozen, dataclasses.dataclass(frozen=True, slots=True)):
        with pytest.raises((TypeError, ValueError)) as error:
            made(fields, decorate)
        kinds.append(error.type)
    assert kinds[0] is kinds[1]


@frozen
class Point:
    x: int
    y: int = 0

    class Inner:
        pass

    def __str__(self) -> str:
        return f"{self.x},{self.y}"


@frozen
class Loud:
    word: str

    def __repr__(self) -> str:
        return f"{self.word}!"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loud) and other.word.casefold() == self.word.casefold()

    def __hash__(self) -> int:
        return hash(self.word.casefold())


class Below(Point):
    def __init__(self, x: int) -> None:
        super().__init__(x, -1)


def test_a_frozen_value_is_matched_by_position_and_by_name() -> None:
    match Point(1, 2):
        case Point(x, y=2):
            assert x == 1
        case _:
            pytest.fail("not matched")


def test_what_a_frozen_class_says_itself_is_kept() -> None:
    assert str(Point(1)) == "1,0"
    assert repr(Loud("hey")) == "hey!"
    assert Loud("hey") == Loud("HEY")
    assert len({Loud("hey"), Loud("HEY")}) == 1
    assert (Point.__name__, Point.__qualname__, Point.__module__) == ("Point", "Point", __name__)


def test_a_class_below_a_frozen_one_may_have_its_own_beginning() -> None:
    assert (Below(5).x, Below(6).y) == (5, -1)
    assert (Point(1).x, Point(2, 3).y) == (1, 3)
    assert Below(5) != Point(5, -1)


@frozen
class Fresh:
    number: int


def test_a_frozen_value_survives_a_pickle_also_where_it_is_the_first_of_its_class() -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(Point(1, 2), protocol)) == Point(1, 2)
        assert pickle.loads(pickle.dumps(Fresh(3), protocol)) == Fresh(3)


SAMPLES: list[Any] = [
    Problem("USER.md", 3, "odd"),
    Document("USER.md", b"x"),
    Stat("USER.md", 1, 2, (3, 4)),
    Hunk(0, ("a\n",), ("b\n",)),
    Edit("id", 1.0, "USER.md", "person", "why", None, "hash", ()),
    Fact("user", "user", "likes", "tea"),
    Episode("Title", 1, 4),
    Prose(1, 2, "text"),
    PageText("user", ("a\n",)),
    Receipt("id", "USER.md", None, "hash", 1, 0),
    Head("hash"),
]


@pytest.mark.parametrize("value", SAMPLES, ids=lambda value: type(value).__name__)
def test_every_value_is_hashable_copied_pickled_and_fixed(value: Any) -> None:
    assert hash(value) == hash(copy.deepcopy(value))
    assert pickle.loads(pickle.dumps(value)) == value
    assert eval(repr(value), vars(values) | {"Head": Head}) == value
    name = type(value).__match_args__[0]
    why = (
        "can't set attribute"
        if isinstance(value, tuple)
        else f"a {type(value).__name__} does not change: {name}"
    )
    with pytest.raises(AttributeError, match=why):
        setattr(value, name, None)


# --- values ----------------------------------------------------------------------------


def test_a_problem_reads_as_path_line_message() -> None:
    assert str(Problem("facts/tea.md", 7, "this line is odd")) == "facts/tea.md:7: this line is odd"
    assert str(Problem("facts/tea.md", None, "odd")) == "facts/tea.md: odd"
    assert str(Problem("facts/tea.md", 7, "odd", "note")) == "facts/tea.md:7: note: odd"
    assert str(Problem("facts/tea.md", None, "odd", "note")) == "facts/tea.md: note: odd"


def test_a_problem_as_a_dict_has_all_of_it() -> None:
    assert Problem("a.md", 7, "odd").to_dict() == {
        "path": "a.md",
        "line": 7,
        "message": "odd",
        "severity": "error",
    }


lines = st.lists(st.text(max_size=8), max_size=4).map(tuple)
hunks = st.builds(Hunk, st.integers(0, 99), lines, lines)


@given(hunks)
def test_a_hunk_comes_back_from_its_dict_and_from_json(hunk: Hunk) -> None:
    assert Hunk.from_dict(hunk.to_dict()) == hunk
    assert Hunk.from_dict(json.loads(json.dumps(hunk.to_dict()))) == hunk


def test_what_is_no_hunk_is_not_made_one() -> None:
    def check(raw: Any) -> None:
        with pytest.raises((KeyError, TypeError)):
            Hunk.from_dict(raw)

    check_rows(
        check,
        [
            {},
            {"at": 0, "del": []},
            {"at": "0", "del": [], "add": []},
            {"at": 0.5, "del": [], "add": []},
            {"at": True, "del": [], "add": []},
            {"at": None, "del": [], "add": []},
            {"at": 0, "del": "lines", "add": []},
            {"at": 0, "del": [], "add": [1]},
            {"at": 0, "del": [], "add": [None]},
            {"at": 0, "del": [], "add": {"a": 1}},
            {"at": 0, "del": None, "add": []},
            [],
            "hunk",
            None,
        ],
    )


@given(st.lists(hunks, max_size=5).map(tuple))
def test_an_edit_counts_the_lines_of_its_hunks(each: tuple[Hunk, ...]) -> None:
    edit = Edit("id", 0.0, "a.md", "person", "why", None, None, each)
    assert edit.added == len([line for hunk in each for line in hunk.added])
    assert edit.removed == len([line for hunk in each for line in hunk.removed])


def test_a_document_is_named_by_the_hash_of_its_bytes() -> None:
    assert Document("a.md", b"").sha256 == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_an_episode_gives_its_first_field_of_a_name_in_any_case() -> None:
    episode = Episode("Title", 1, 4, (("Task", "one"), ("LESSON", "two"), ("task", "three")))
    assert (episode.get("task"), episode.get("Lesson"), episode.get("Date")) == ("one", "two", None)


def test_a_page_text_is_its_lines() -> None:
    assert PageText("user", ("a\n", "b")).text == "a\nb"


def test_a_receipt_as_a_dict_has_all_of_it() -> None:
    assert Receipt("id", "a.md", None, "h", 2, 1).to_dict() == {
        "id": "id",
        "path": "a.md",
        "base": None,
        "new": "h",
        "added": 2,
        "removed": 1,
        "changed": True,
    }


def test_positions_are_ordered_and_begin_at_the_start() -> None:
    assert START == Position(0, 0) < Position(0, 1) < Position(1, 0)
    assert Position(3, 4).segment == 3
    line = LogLine({"id": "x"}, START, Position(0, 9), True)
    assert line.end > line.position


def test_the_kinds_are_those_of_the_design() -> None:
    assert set(KINDS) == {"identity", "commitment", "constraint", "preference", "trait", "event", "decision"}


# --- what is said when a thing is not done ---------------------------------------------


def test_a_stale_page_is_told_with_the_hash_it_has_and_the_beginning_of_the_one_it_had() -> None:
    old, new = "a1b2c3d4" * 8, "e5f6a7b8" * 8
    stale = Stale("USER.md", old, new)
    assert str(stale) == (
        f"USER.md was not changed: it is no longer what you read (sha256 a1b2c3d4a1b2…); now its sha256 is {new}. "
        "Read it again and repeat the change on the new text."
    )
    assert (stale.path, stale.base, stale.current) == ("USER.md", old, new)
    assert f"it is no longer what you read (absent); now its sha256 is {new}. " in str(
        Stale("USER.md", None, new)
    )
    assert "it is no longer what you read (sha256 a1b2c3d4a1b2…); now it does not exist. " in str(
        Stale("USER.md", old, None)
    )


def test_every_refusal_is_a_refused() -> None:
    for kind in (Stale, Unreadable, Unwritten, Busy):
        assert issubclass(kind, Refused)
    assert not issubclass(Refused, OSError)


def test_the_package_has_the_names_it_lists_and_no_other() -> None:
    for name in looseleaf.__all__:
        assert getattr(looseleaf, name).__name__ == name
    assert looseleaf.Stale is errors.Stale
    with pytest.raises(AttributeError, match="module 'looseleaf' has no attribute 'Memories'"):
        looseleaf.Memories  # noqa: B018
