"""What is the same fact, which one is true now: properties of keys and slots, of decisions, and of true_at."""

from __future__ import annotations

import importlib.util
import json
import sys
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import core
from growth import LINEAR, growth
from looseleaf.base.errors import Refused
from looseleaf.base.values import Fact
from looseleaf.facts.identity import Decision, decide
from looseleaf.facts.ledger import true_at
from looseleaf.language.relations import BY_LABEL, RELATIONS, SYNONYMS, relation_of, slot
from looseleaf.language.value_keys import key, near, same
from looseleaf.language.words import american, fold, singular, stem
from looseleaf.text.times import TICK, last_moment, moment, with_iso_dates
from tables import check_rows

if TYPE_CHECKING:
    from looseleaf.base.values import Level, Status

LEVELS: tuple[Level, ...] = ("tainted", "inferred", "said", "confirmed")
STATUSES: tuple[Status, ...] = ("current", "superseded", "pending", "rejected", "forgotten")
LABELS = [relation.label for relation in RELATIONS]


def fact(relation: str, object: str, topic: str = "user", level: Level | None = "said", **known: Any) -> Fact:
    return Fact(topic, topic, relation, object, level=level, **known)


def act(new: Fact, *held: Fact, **said: Any) -> str:
    return decide(new, held, **said).act


# what stands for what

labels = st.sampled_from(LABELS + sorted(SYNONYMS)) | st.text(max_size=20)
objects = st.text(max_size=40) | st.lists(
    st.sampled_from(
        "the a tea green Teas never always don't over instead of to in Berlin, Germany and & 2026-03-05 March 5 34 "
        "thirty-four hiking hikes colour color organise JS Node.js C++ 3 pm 5km $20 likes uses is 住在上海 喜欢 café "
        "no push main branch vs. U.S.A. older brother".split(" ")
    ),
    max_size=8,
).map(" ".join)


@given(objects, labels)
def test_a_key_is_its_own_key(value: str, relation: str) -> None:
    assert key(key(value, relation), relation) == key(value, relation)


@given(st.text(max_size=20), labels)
def test_a_slot_is_its_own_slot(topic: str, relation: str) -> None:
    address = slot(topic, relation)
    topic_part = address[: len(address) - len(address.partition("/")[2]) - 1] if "/" not in topic else None
    if topic_part is not None:
        assert slot(topic_part, address.partition("/")[2]) == address


@given(labels)
def test_the_label_of_a_relation_names_the_same_slot_as_the_label_it_was_made_from(label: str) -> None:
    assert slot("user", relation_of(label).label) == slot("user", label)


@core
@given(objects, objects, objects, labels)
def test_same_is_an_equivalence_and_near_is_symmetric_and_never_of_the_same(
    a: str, b: str, c: str, relation: str
) -> None:
    assert same(a, a, relation)
    assert same(a, b, relation) == same(b, a, relation)
    assert not (same(a, b, relation) and same(b, c, relation)) or same(a, c, relation)
    assert near(a, b, relation) == near(b, a, relation)
    assert not (near(a, b, relation) and same(a, b, relation))


variants = st.sampled_from(
    [
        str,
        str.upper,
        str.lower,
        lambda text: f"  {text} ",
        lambda text: f"the {text}",
        lambda text: f"{text}.",
        lambda text: text.replace("our", "or"),
        lambda text: text.replace(" ", "  "),
        lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    ]
)


@given(
    st.sampled_from(
        ["green teas", "colourful birds", "black coffee", "sailing boats", "neighbourhood walks"]
    ),
    variants,
    variants,
)
def test_variants_of_a_value_are_the_same(value: str, first: Any, second: Any) -> None:
    assert same(first(value), second(value), "Likes")
    assert same(first(second(value)), value, "Likes")


SAME = [
    ("Home", "Lives in Lyon, France", "lyon"),
    ("Home", "NYC", "New York City"),
    ("Home", "住在上海", "Shanghai"),
    ("Home", "Zürich", "zurich"),
    ("Role", "works as a software engineer", "Software Engineer"),
    ("Age", "34 years old", "thirty-four"),
    ("Birthday", "March 5, 1990", "5th of March 1990"),
    ("Birthday", "1990年3月5日", "5.3.1990"),
    ("生日", "5月20日", "May 20"),
    ("Likes", "hiking in the mountains", "mountain hikes"),
    ("Likes", "tea & coffee", "Coffee, tea"),
    ("Dislikes", "doesn't like jazz", "jazz"),
    ("Prefers", "tabs over spaces", "tabs rather than spaces"),
    ("Rule", "never push to main", "Don't push to the main branch"),
    ("Rule", "always answer in bullet points", "answer in bullets"),
    ("Rule", "no emojis", "avoid using emoji"),
    ("Name", "Schmidt, Anna", "Anna Schmidt"),
    ("Pet", "Rex (dog)", "a dog named Rex"),
    ("Sibling", "my older brother Tom", "Tom"),
    ("Database", "Postgres", "PostgreSQL database"),
    ("Language", "prefers Chinese discussion, English code", "English for code and Chinese for discussion"),
    ("Language", "answers in German", "Deutsch"),
    ("Pronouns", "they/them", "they/them/theirs"),
    ("Phone", "+49 (0)30 1234567", "0049 30 123-4567"),
    ("Email", "Anna@Example.org", "mailto:anna@example.org"),
    ("Repository", "https://www.example.org/a/b.git", "example.org/a/b/"),
    ("Time zone", "UTC+1", "GMT+01:00"),
    ("Time zone", "UTC", "gmt"),
    ("Allergy", "allergic to peanuts", "peanut allergy"),
    ("Event", "adopted a cat on 2026-02-21", "on Saturday 21 February 2026: adopted a cat"),
    ("Deadline", "2026-05-01, grant proposal", "grant proposal due by 1 May 2026"),
    ("Employer", "works at Acme, Inc.", "ACME"),
    ("Employer", "Smith & Sons", "Smith and Sons"),
    ("Goal", "save $1,000", "save 1000 dollars"),
    ("Appointment", "dentist at 3 PM", "dentist at 15:00"),
    ("Version", "v1.2", "1.2"),
    ("Hobby", "playing video games", "playing videogames"),
    ("Rule", "ask before deleting files", "always ask before you delete a file"),
    ("Prefers", "short answers", "concise replies"),
    ("Pet", "Rex (dog)", "Rex, a dog"),
    ("Education", "MSc Physics, ETH", "M.Sc. in Physics from ETH"),
    ("shoe size", "forty two", "42"),
    ("", "two hundred", "200"),
]


def test_other_words_for_a_value_are_the_same_value() -> None:
    def check(relation: str, a: str, b: str) -> None:
        assert key(a, relation) == key(b, relation)
        assert same(a, b, relation)

    check_rows(check, SAME)


APART = [
    ("Likes", "coffee with milk", "coffee without milk"),
    ("Likes", "wins", "wine"),
    ("Likes", "love songs", "songs"),
    ("Dislikes", "not jazz", "jazz"),
    ("Skill", "C", "C++"),
    ("Skill", "C++", "C#"),
    ("Uses", "Windows", "window"),
    ("Uses", "Python 2", "Python 3"),
    ("Friend", "Kim Lee", "Lee Kim"),
    ("Friend", "James", "Jame"),
    ("Sibling", "an older brother", "a younger brother"),
    ("Rule", "use 2 spaces", "use 4 spaces"),
    ("Rule", "ask before pushing", "ask after pushing"),
    ("Rule", "only answer in German", "answer in German"),
    ("Rule", "never answer in German", "answer in German"),
    ("Rule", "call me at 3pm", "call me at 3am"),
    ("Event", "Anna visited Bob", "Bob visited Anna"),
    ("Event", "moved in January 2025", "moved in January 2026"),
    ("Plan", "move from Paris to Rome", "move from Rome to Paris"),
    ("Event", "it was -5 degrees", "it was 5 degrees"),
    ("Trait", "can swim", "can't swim"),
    ("Home", "Mexico City", "Mexico"),
    ("Home", "Paris, Texas", "Paris"),
    ("Home", "京都", "東京"),
    ("Likes", "かき", "がき"),
    ("Likes", "papas", "papás"),
    ("Birthday", "03/04/1990", "1990-03-04"),
    ("Age", "8 months", "8 years"),
    ("Phone", "ask", "none"),
    ("Email", "none", "ask"),
    ("Appointment", "at 13 pm", "at 1 pm"),
    ("Rule", "stay under -3", "stay under 3"),
    ("Time zone", "Europe/Berlin (UTC+1)", "Europe/Paris (UTC+1)"),
    ("Name", "Nguyễn", "Nguyen"),
    ("Prefers", "tea over coffee", "coffee over tea"),
]


def test_what_differs_in_meaning_is_not_the_same() -> None:
    def check(relation: str, a: str, b: str) -> None:
        assert not same(a, b, relation)

    check_rows(check, APART)


def test_values_that_are_only_alike_are_near() -> None:
    def check(relation: str, a: str, b: str, doubtful: bool) -> None:
        assert near(a, b, relation) == doubtful

    check_rows(
        check,
        [
            ("Likes", "coffee", "cofee", True),
            ("Uses", "keyboard", "keybaord", True),
            ("Friend", "Anna", "Anna Schmidt", True),
            ("Uses", "Python", "Python 3.12", True),
            ("Rule", "never push to main", "never push to main without asking", True),
            ("Rule", "run all unit tests before each push", "run all unit tests before every push", True),
            ("Likes", "黑咖啡", "咖啡", True),
            ("Hobby", "bird-watching", "birdwatching", True),
            ("Uses", "Python 3.11", "Python 3.12", False),
            ("Friend", "Anna", "Anne", False),
            ("Friend", "Maria", "Martin", False),
            ("Likes", "green tea", "black tea", False),
            ("Likes", "tea", "coffee", False),
            ("Rule", "never use tabs", "use tabs", False),
            ("Likes", "wine", "red wine from the south of France", False),
            ("Skill", "c1234", "c12345", False),
        ],
    )


def test_a_relation_has_one_name_whatever_it_is_called() -> None:
    def check(label: str, name: str) -> None:
        assert slot("User", label) == f"user/{name}"

    check_rows(
        check,
        [
            ("Full name", "name"),
            ("姓名", "name"),
            ("The user's name", "name"),
            ("Lives in", "home"),
            ("city", "home"),
            ("Wohnort", "home"),
            ("Job title", "role"),
            ("PROFESSION", "role"),
            ("Languages spoken", "speaks"),
            ("Hobbies", "hobby"),
            ("my hobbies", "hobby"),
            ("Children", "child"),
            ("Correo electrónico", "email"),
            ("誕生日", "birthday"),
            ("notes", "note"),
            ("sister's home", "sister's home"),
            ("Sister’s city", "sister's home"),
            ("My sisters' city", "sister's home"),
            ("Birthday of my wife", "partner's birthday"),
            ("Wife's date of birth", "partner's birthday"),
            ("my sister's husband's name", "sister's partner's name"),
            ("狗的名字", "dog's name"),
            ("Favourite colours", "favorite color"),
            ("favorite color", "favorite color"),
            ("Favourite things", "favourite"),
            ("Shoe sizes", "shoe size"),
            ("Ｓｈｏｅ size", "shoe size"),
            ("part of the whole", "part of the whole"),
            ("", ""),
        ],
    )


def test_topics_of_the_user_are_one_and_others_are_told_by_their_words() -> None:
    assert slot("me", "Name") == slot("the user", "Name") == slot("USER", "name") == "user/name"
    assert slot("My Garden", "Name") == slot("my-garden", "name") == slot("my_garden", "NAME")
    assert slot("project", "Name") != slot("user", "Name")


def test_relations_keep_their_label_kind_and_number() -> None:
    for relation in RELATIONS:
        assert relation_of(relation.label.upper()) == relation
    assert relation_of("sister’s city").label == "Sister's home"
    assert not relation_of("Sister's home").many
    assert relation_of("Sister's hobbies").many
    assert relation_of("Dog's weight").kind == "trait"
    assert relation_of(" Shoe size ").label == "Shoe size"
    assert not relation_of("Shoe size").many
    assert relation_of("Favourite colour").kind == "preference"


def test_every_synonym_names_a_relation_of_the_table() -> None:
    assert {label.casefold() for label in SYNONYMS.values()} == set(BY_LABEL)
    assert all(name == name.casefold() for name in SYNONYMS)


def test_a_word_has_one_form() -> None:
    def check(word: str, form: str) -> None:
        assert stem(american(word)) == form

    check_rows(
        check,
        [
            ("hiking", "hike"),
            ("hiked", "hike"),
            ("swimming", "swim"),
            ("running", "run"),
            ("cooking", "cook"),
            ("visiting", "visit"),
            ("juggling", "juggle"),
            ("organising", "organiz"),
            ("organizes", "organiz"),
            ("delete", "delet"),
            ("deleting", "delet"),
            ("coffee", "coffee"),
            ("calling", "call"),
            ("travelling", "travel"),
            ("creating", "create"),
            ("eating", "eat"),
            ("tried", "try"),
            ("skiing", "ski"),
            ("evening", "evening"),
            ("spring", "spring"),
            ("seed", "seed"),
            ("boxes", "box"),
            ("berries", "berry"),
            ("glasses", "glasses"),
            ("bus", "bus"),
            ("children", "child"),
            ("galleria", "galleria"),
            ("catalogues", "catalog"),
            ("theatres", "theater"),
            ("größen", "größen"),
            ("stopped", "stop"),
        ],
    )


def test_nouns_are_made_singular_only_where_english_does() -> None:
    assert [singular(word) for word in ("classes", "is", "men", "women", "quizzes")] == [
        "class", "is", "man", "woman", "quiz",
    ]  # fmt: skip
    assert fold(" Straße\t’s ") == "strasse 's"


# what becomes of a new fact

days = st.integers(0, 60).map(lambda day: str((datetime(2026, 1, 1, tzinfo=UTC) + timedelta(day)).date()))
some_facts = st.builds(
    fact,
    st.sampled_from("Home,City,Likes,Loves,Dislikes,Rule,Event,Sister's home,Prefers,Deadline,Favourite".split(",")),
    st.sampled_from(
        "Lyon,lyon,Munich,green tea,tea,green teas,always use tabs,never use tabs,use tabs,tabs over spaces,"
        "spaces over tabs,broke a leg on 2026-01-05,colour: green,color: blue,".split(",")
    ),
    level=st.sampled_from((*LEVELS, None)),
    status=st.sampled_from(STATUSES),
    valid_from=st.none() | days,
    valid_to=st.none() | days,
    entry_ts=st.none() | st.floats(1.767e9, 1.772e9),
    tags=st.sampled_from([(), ("unverified",)]),
)  # fmt: skip
held_facts = st.lists(some_facts, max_size=6).map(
    lambda facts: [fact(f.relation, f.object, level=f.level, status=f.status, valid_from=f.valid_from,
                        valid_to=f.valid_to, entry_ts=f.entry_ts, id=f"f{n}") for n, f in enumerate(facts)]
)  # fmt: skip
flags = st.fixed_dictionaries(
    {"correction": st.booleans(), "was": st.sampled_from([None, "", "Lyon", "tea"]), "ended": st.booleans()}
)


def rank(level: Level | None) -> int:
    return LEVELS.index(level) if level else -1


@core
@given(some_facts, held_facts, flags)
def test_no_fact_replaces_or_ends_one_of_a_higher_level_or_without_its_words(
    new: Fact, held: list[Fact], said: dict[str, Any]
) -> None:
    decision = decide(new, held, **said)
    if decision.act in ("supersede", "end"):
        assert decision.facts
        for old in decision.facts:
            assert old.status == "current"
            assert old.level is not None or (new.level == "confirmed" and "unverified" not in new.tags)
            assert rank(old.level) <= (rank(new.level) if new.level else rank("said"))
            assert "unverified" not in new.tags or rank(old.level) <= rank("inferred")


@given(some_facts, held_facts, flags, st.randoms())
def test_the_order_of_what_is_held_does_not_matter(
    new: Fact, held: list[Fact], said: dict[str, Any], random: Any
) -> None:
    shuffled = list(held)
    random.shuffle(shuffled)
    assert decide(new, shuffled, **said) == decide(new, held, **said)


@given(some_facts, held_facts, flags)
def test_a_decision_concerns_only_what_is_held_in_the_slot_or_its_opposite(
    new: Fact, held: list[Fact], said: dict[str, Any]
) -> None:
    decision = decide(new, held, **said)
    opposite = {"user/likes": "user/dislikes", "user/dislikes": "user/likes"}
    here = slot("user", new.relation)
    assert set(decision.facts) <= set(held)
    assert {slot("user", old.relation) for old in decision.facts} <= {here, opposite.get(here, here)}
    assert decision.why
    assert decision.act in ("add", "drop", "older") or decision.facts


@given(some_facts, held_facts)
def test_saying_again_what_is_current_adds_nothing(new: Fact, held: list[Fact]) -> None:
    current = [old for old in held if old.status == "current"]
    for old in current:
        again = fact(old.relation, old.object.upper(), level=new.level, valid_from=new.valid_from)
        decision = decide(again, held)
        assert decision.act == "restate"
        assert decision.facts[0].status == "current"
        assert same(decision.facts[0].object, old.object, old.relation)


LYON = fact("Home", "Lyon", id="lyon", valid_from="2026-01-01")
MUNICH = fact("Lives in", "Munich", valid_from="2026-02-01")


def test_a_newer_value_supersedes_in_a_slot_of_one_and_an_older_one_is_history() -> None:
    assert decide(MUNICH, [LYON]) == Decision("supersede", (LYON,), "in place of “Home: Lyon”")
    assert decide(LYON, [MUNICH]) == Decision("older", (MUNICH,), "“Lives in: Munich” is newer")
    assert decide(MUNICH, []).act == "add"
    assert decide(MUNICH, [fact("Hometown", "Lyon"), fact("Home", "Lyon", topic="sister")]).act == "add"


def test_what_was_said_later_is_newer_where_the_words_name_no_time() -> None:
    earlier, later = fact("Home", "Lyon", entry_ts=1.0), fact("Home", "Munich", entry_ts=2.0)
    assert act(later, earlier) == "supersede"
    assert act(earlier, later) == "older"
    assert act(fact("Home", "Munich"), later) == "restate"
    assert act(fact("Home", "Rome"), later) == "supersede"


def test_a_value_that_was_over_when_it_was_said_is_history() -> None:
    past = fact("Home", "Berlin", valid_to="2018", entry_ts=1.77e9)
    assert act(past) == act(past, LYON) == "older"
    assert act(fact("Home", "Berlin", valid_from="2015", valid_to="2018"), LYON) == "older"
    assert (
        act(fact("Home", "Berlin", valid_from="2026-02", valid_to="2027", entry_ts=1.77e9), LYON)
        == "supersede"
    )
    assert act(fact("Event", "a holiday in May 2018", valid_to="2018-06", entry_ts=1.77e9)) == "add"


def test_what_is_heard_late_does_not_begin_anew() -> None:
    ended = fact("Likes", "jazz", status="superseded", valid_from="2026-01-01", valid_to="2026-03-01")
    late = fact("Likes", "jazz", valid_from="2026-02-01")
    assert decide(late, [ended]) == Decision("restate", (ended,), "known of that time, and no longer true")
    assert act(fact("Likes", "jazz", valid_from="2026-04-01"), ended) == "add"
    assert act(fact("Likes", "jazz"), ended) == "add"
    before = fact("Home", "Rome", status="superseded", valid_from="2025-01-01", valid_to="2026-02-01")
    assert act(fact("Home", "Rome", valid_from="2025-05-01"), before, MUNICH) == "restate"
    assert act(fact("Home", "Rome", valid_from="2026-05-01"), before, MUNICH) == "supersede"


def test_between_an_older_and_a_newer_value_a_person_decides() -> None:
    assert act(fact("Home", "Rome", valid_from="2026-01-15"), LYON, MUNICH) == "review"


@pytest.mark.parametrize("level", LEVELS)
def test_what_a_person_wrote_is_replaced_only_by_a_person(level: Level) -> None:
    written = fact("Home", "Lyon", level="confirmed")
    decision = decide(fact("Home", "Munich", level=level), [written])
    # A tool's word is put beside it, without a question.
    assert decision.act == {"confirmed": "supersede", "tainted": "contest"}.get(level, "review")
    if decision.act == "review":
        assert decision.why == "a person wrote “Home: Lyon”"


def test_a_lower_level_stands_beside_a_higher_one_and_an_unverified_fact_replaces_only_its_like() -> None:
    assert act(fact("Home", "Munich", level="inferred"), LYON) == "contest"
    assert act(fact("Home", "Munich", level="tainted"), LYON) == "contest"
    assert act(fact("Home", "Munich", level="said"), fact("Home", "Lyon", level="inferred")) == "supersede"
    unverified = fact("Home", "Munich", tags=("unverified",), valid_from="2026-03-01")
    assert act(unverified, LYON) == "contest"
    assert act(unverified, fact("Home", "Lyon", level="inferred", tags=("unverified",))) == "supersede"
    assert act(unverified) == "add"


def test_what_is_not_said_and_much_alike_is_added_and_nobody_is_asked() -> None:
    tea = fact("Likes", "tea")
    assert act(fact("Likes", "green tea", level="inferred"), tea) == "add"
    assert act(fact("Likes", "green tea"), tea) == "review"


def test_a_slot_of_many_takes_another_value_and_asks_about_one_that_is_much_alike() -> None:
    tea, green = fact("Likes", "tea"), fact("Likes", "green tea")
    assert act(fact("Likes", "coffee"), tea) == "add"
    assert decide(green, [tea]) == Decision("review", (tea,), "much like “Likes: tea”")
    assert act(fact("Likes", "green tea", level="confirmed"), tea) == "add"
    assert act(green, fact("Likes", "tea", status="superseded")) == "add"


def test_a_value_that_is_named_as_gone_is_superseded() -> None:
    vim, emacs = fact("Uses", "the vim editor", id="vim"), fact("Uses", "Emacs", id="emacs")
    assert decide(emacs, [vim], correction=True, was="vim").facts == (vim,)
    assert act(emacs, fact("Uses", "nano"), correction=True, was="vim") == "add"
    assert act(emacs, vim, was="  ") == "add"
    assert act(fact("Likes", "茶"), fact("Likes", "黑咖啡"), was="咖啡") == "supersede"
    both = decide(fact("Uses", "emacs"), [vim, emacs], was="vim editor")
    assert both.act == "supersede"
    assert set(both.facts) == {vim, emacs}


def test_a_correction_replaces_the_one_value_it_is_much_like() -> None:
    tea = fact("Likes", "green tea from Japaan")
    assert act(fact("Likes", "green tea from Japan"), tea) == "review"
    assert act(fact("Likes", "green tea from Japan"), tea, correction=True) == "supersede"
    two = [fact("Likes", "green tea"), fact("Likes", "hot tea")]
    assert act(fact("Likes", "tea"), *two, correction=True) == "review"


def test_liking_ends_disliking_of_the_same_and_of_nothing_else() -> None:
    jazz = fact("Dislikes", "jazz", valid_from="2026-01-01")
    assert decide(fact("Loves", "Jazz", valid_from="2026-02-01"), [jazz]).facts == (jazz,)
    assert act(fact("Likes", "jazz", valid_from="2025-01-01"), jazz) == "older"
    assert act(fact("Likes", "rock"), jazz) == "add"
    assert act(fact("Sister's likes", "jazz"), jazz) == "add"
    assert act(fact("Sister's likes", "jazz"), fact("sister's dislikes", "jazz")) == "supersede"


def test_only_the_exact_reverse_of_a_preference_replaces_it() -> None:
    tabs = fact("Prefers", "tabs over spaces")
    assert act(fact("Prefers", "spaces over tabs"), tabs) == "supersede"
    assert act(fact("Prefers", "spaces instead of tabs"), tabs) == "supersede"
    assert act(fact("Prefers", "tabs over commas and columns"), tabs) != "supersede"
    assert act(fact("Prefers", "long answers"), fact("Prefers", "short answers")) == "supersede"
    assert act(fact("Likes", "long walks"), fact("Likes", "short walks")) == "add"


def test_a_rule_is_replaced_by_its_opposite() -> None:
    always = fact("Rule", "always push to main", valid_from="2026-01-01")
    assert act(fact("Rule", "never push to main", valid_from="2026-01-02"), always) == "supersede"
    assert act(fact("Rule", "never push to main", valid_from="2025-01-02"), always) == "older"
    assert act(fact("Rule", "never push to develop"), always) == "add"


def test_favourites_and_deadlines_live_apart_by_their_thing() -> None:
    green = fact("Favourite", "colour: green")
    assert act(fact("Favourite", "color: blue"), green) == "supersede"
    assert act(fact("Favorite colour", "blue"), green) == "supersede"
    assert act(fact("Favorite color", "Green"), green) == "restate"
    assert act(fact("Favourite", "food: ramen"), green) == "add"
    grant = fact("Deadline", "2026-05-01, grant proposal")
    assert act(fact("Deadline", "grant proposal by 2026-06-01"), grant) == "supersede"
    assert act(fact("Deadline", "2026-06-01, tax return"), grant) == "add"


def test_a_pet_may_have_its_species_in_the_label() -> None:
    assert act(fact("Dog", "Rex"), fact("Pet", "Rex (dog)")) == "restate"
    assert act(fact("Cat", "Rex"), fact("Pet", "Rex (dog)")) != "restate"


def test_events_on_different_days_are_two() -> None:
    run = fact("Event", "ran the city marathon on 2026-01-05")
    assert act(fact("Event", "ran the city marathon on 5 January 2026"), run) == "restate"
    assert act(fact("Event", "ran the city marathon on 2026-02-05"), run) == "add"
    assert act(fact("Event", "ran the whole city marathon on 2026-01-05"), run) == "review"
    assert act(fact("Event", "ran the city marathon"), run) == "add"


def test_what_waits_for_a_person_is_not_put_before_them_twice() -> None:
    waiting = fact("Home", "Munich", status="pending")
    assert decide(MUNICH, [LYON, waiting]).facts == (waiting,)
    assert act(MUNICH, LYON, waiting) == "restate"
    assert act(fact("Home", "Rome"), waiting) == "add"


def test_what_a_person_rejected_does_not_come_back_by_itself() -> None:
    gone = fact("Home", "Munich", status="rejected", valid_to="2026-03-01T12:00:00Z")
    assert decide(MUNICH, [gone]) == Decision("drop", (gone,), "rejected by a person")
    assert act(fact("Home", "munich", valid_from="2026-03-02"), gone) == "review"
    assert act(fact("Home", "munich"), gone) == "drop"
    assert (
        act(fact("Home", "munich", valid_from="2026-03-02"), fact("Home", "Munich", status="rejected"))
        == "drop"
    )
    assert act(fact("Home", "Rome"), gone) == "add"
    assert act(fact("Home", "Munich", level="confirmed"), gone) == "add"
    assert act(MUNICH, gone, fact("Home", "Munich")) == "restate"


def test_what_was_forgotten_may_be_said_anew() -> None:
    assert act(MUNICH, fact("Home", "Munich", status="forgotten")) == "add"


def test_of_several_alike_the_highest_is_restated() -> None:
    low, high = (
        fact("Likes", "tea", level="inferred", id="a"),
        fact("Likes", "Tea", level="confirmed", id="b"),
    )
    assert all(decide(fact("Likes", "teas"), held).facts == (high,) for held in permutations((low, high)))


def test_an_end_ends_what_holds_and_nothing_else() -> None:
    acme = fact("Employer", "Acme Robotics", valid_from="2026-01-01")
    left = fact("Works at", "Acme", valid_from="2026-02-01")
    assert decide(left, [acme], ended=True) == Decision(
        "end", (acme,), "“Employer: Acme Robotics” no longer holds"
    )
    assert act(fact("Employer", ""), acme, ended=True) == "end"
    assert act(fact("Employer", "Initech"), acme, ended=True) == "drop"
    assert act(left, ended=True) == "drop"
    assert act(fact("Employer", "Acme", valid_from="2025-01-01"), acme, ended=True) == "drop"
    assert act(fact("Employer", "Acme", tags=("unverified",)), acme, ended=True) == "doubt"
    assert act(fact("Employer", "Acme", level="inferred"), acme, ended=True) == "doubt"
    assert act(fact("Employer", "Acme", level="tainted"), acme, ended=True) == "drop"
    written = fact("Employer", "Acme Robotics", valid_from="2026-01-01", level="confirmed")
    assert act(fact("Employer", "Acme", level="inferred"), written, ended=True) == "review"
    jazz = fact("Likes", "modern jazz")
    assert act(fact("Likes", "modern jazz"), jazz, fact("Likes", "tea"), ended=True) == "end"
    assert act(fact("Likes", "jazz"), jazz, ended=True) == "review"
    assert act(fact("Likes", "tea"), jazz, ended=True) == "drop"


# what is true at a time

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: int) -> str:
    return str((FIRST + timedelta(number)).date())


@core
@given(
    st.lists(st.integers(0, 100), min_size=1, max_size=8, unique=True).map(sorted),
    st.integers(0, 120),
    st.booleans(),
    st.randoms(),
)
def test_a_chain_of_values_has_exactly_one_at_any_time(
    starts: list[int], asked: int, ends_are_written: bool, random: Any
) -> None:
    last = len(starts) - 1
    chain = [
        fact(
            "Home" if number % 2 else "Lives in",
            f"City {number}",
            valid_from=day(start),
            valid_to=day(starts[number + 1]) if ends_are_written and number < last else None,
            status="superseded" if number < last else "current",
        )
        for number, start in enumerate(starts)
    ]
    random.shuffle(chain)
    wanted = [number for number, start in enumerate(starts) if start <= asked][-1:]
    assert [one.object for one in true_at(chain, day(asked))] == [f"City {number}" for number in wanted]
    assert [one.object for one in true_at(chain)] == [f"City {last}"]


@given(held_facts, days, st.integers(0, 10**6))
def test_a_date_is_its_last_moment_and_what_is_pending_or_forgotten_is_never_true(
    facts: list[Fact], when: str, part: int
) -> None:
    midnight = moment(when)
    assert midnight is not None
    assert true_at(facts, when) == true_at(facts, midnight + 86400 - TICK)
    for found in (true_at(facts), true_at(facts, when), true_at(facts, midnight + part % 86400)):
        assert {one.status for one in found} <= {"current", "superseded", "rejected"}
        assert [one for one in facts if one in found] == found
    assert {one.status for one in true_at(facts)} <= {"current"}


def test_bounds_are_half_open() -> None:
    stay = fact(
        "Home", "Lyon", valid_from="2026-01-02", valid_to="2026-01-04T12:00:00+02:00", status="superseded"
    )
    assert not true_at([stay], "2026-01-01")
    assert true_at([stay], "2026-01-02")
    assert true_at([stay], "2026-01-04T09:59:59Z")
    assert not true_at([stay], "2026-01-04T10:00:00Z")


def test_a_time_that_names_none_is_refused_and_not_read_as_nothing() -> None:
    with pytest.raises(Refused, match="'someday' is not a time"):
        true_at([LYON], "someday")


def test_without_a_time_a_plan_is_held_and_what_was_over_is_not() -> None:
    plan = fact("Home", "Rome", valid_from="2030-01-01")
    until = fact("Uses", "vim", valid_to="2030-01-01", recorded_at=1.77e9)
    over = fact("Uses", "nano", valid_to="2020-01-01", recorded_at=1.77e9)
    unknown = fact("Uses", "ed", valid_to="2020-01-01")
    assert true_at([plan, until, over, unknown]) == [plan, until]
    assert true_at([plan, until, over, unknown], "2029-12-31") == [until]


def test_that_something_happened_stays_true_after_it_was_over() -> None:
    trip = fact("Event", "a trip to Rome", valid_from="2026-01-01", valid_to="2026-01-08", recorded_at=1.78e9)
    fair = fact("Went to", "the book fair", kind="event", valid_from="2026-01-01", valid_to="2026-01-02")
    assert true_at([trip, fair]) == true_at([trip, fair], "2026-05-01") == [trip, fair]
    assert true_at([trip, fair], "2025-05-01") == []
    mistaken = fact("Event", "a trip", status="rejected", valid_from="2026-01-01", valid_to="2026-01-08")
    assert true_at([mistaken], "2026-05-01") == []


def test_a_fact_without_a_beginning_holds_from_when_it_was_recorded() -> None:
    told = fact("Name", "Zhang San", recorded_at=1.77e9)
    assert true_at([told], 1.77e9) == [told]
    assert true_at([told], 1.77e9 - 1) == []
    assert true_at([fact("Name", "Zhang San")], 0.0) == [fact("Name", "Zhang San")]


def test_what_was_rejected_or_replaced_counts_only_where_its_end_is_known() -> None:
    believed = fact("Home", "Lyon", status="rejected", valid_from="2026-01-01", valid_to="2026-02-01")
    assert true_at([believed], "2026-01-15") == [believed]
    assert true_at([fact("Home", "Lyon", status="rejected", valid_from="2026-01-01")], "2026-01-15") == []
    replaced = fact("Likes", "tea", status="superseded", valid_from="2026-01-01")
    assert true_at([replaced, fact("Likes", "milk", valid_from="2026-02-01")], "2026-01-15") == []


def test_a_favourite_colour_has_one_value_at_a_time() -> None:
    green = fact("Favourite", "colour: green", status="superseded", valid_from="2026-01-01")
    blue = fact("Favorite color", "blue", valid_from="2026-02-01")
    food = fact("Favourite", "food: ramen", valid_from="2026-01-01")
    music = fact("Favourite", "jazz", valid_from="2026-01-01")
    assert true_at([green, blue, food, music], "2026-01-15") == [green, food, music]
    assert true_at([green, blue, food, music], "2026-02-15") == [blue, food, music]


def test_two_values_that_a_person_wrote_into_a_slot_of_one_are_both_given() -> None:
    two = [fact("Home", "Lyon", valid_from="2026-01-01"), fact("Home", "Munich", valid_from="2026-02-01")]
    assert true_at(two) == true_at(two, "2026-03-01") == two


# times


@given(st.datetimes(datetime(1800, 1, 1), datetime(2199, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_a_moment_is_what_the_calendar_says(when: datetime) -> None:
    assert moment(when.isoformat(timespec="seconds")) == when.replace(microsecond=0).timestamp()
    midnight = when.replace(hour=0, minute=0, second=0, microsecond=0)
    assert moment(str(when.date())) == midnight.timestamp()
    assert last_moment(str(when.date())) == (midnight + timedelta(1)).timestamp() - TICK


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("2024", "2024-01-01", "2025-01-01"),
        ("2024-02", "2024-02-01", "2024-03-01"),
        ("2023-12", "2023-12-01", "2024-01-01"),
    ],
)
def test_a_month_and_a_year_have_a_first_and_a_last_moment(text: str, first: str, after: str) -> None:
    assert moment(text) == moment(first)
    assert last_moment(text) == (moment(after) or 0) - TICK


def test_what_names_no_time_gives_none() -> None:
    def check(text: str | None) -> None:
        assert moment(text) is None
        assert last_moment(text or "") is None

    check_rows(
        check, ["", None, "soon", "2026-13", "2025-02-29", "2026-04-31", "2026-01-01T25:00", "20260101"]
    )


def test_times_with_a_zone_are_in_utc() -> None:
    assert moment("2026-01-01T01:00:00+01:00") == moment("2026-01-01") == moment("2025-12-31T19:00-0500")


def test_dates_in_words_are_written_as_iso() -> None:
    def check(text: str, iso: str) -> None:
        assert with_iso_dates(text) == iso

    check_rows(
        check,
        [
            ("on friday, march 6, 2026", "2026-03-06"),
            ("the 5th of march", "03-05"),
            ("5. märz 2026", "2026-03-05"),
            ("5 de marzo de 2026", "2026-03-05"),
            ("sept 2026", "2026-09"),
            ("2026/3/5", "2026-03-05"),
            ("31.12.2025", "2025-12-31"),
            ("99月3日", "99月3日"),
            ("03/04/2026", "03/04/2026"),
            ("march on", "march on"),
        ],
    )


# the work


@pytest.mark.parametrize(
    "piece", ["push to main, ", "a ", "1", "é", "住在", "don't.", "2026-03-05 ", "sister's ", "x@", "over "]
)
def test_a_key_and_a_slot_take_time_linear_in_their_text(piece: str) -> None:
    def work(size: int) -> Any:
        text = piece * size
        count = iter(range(100))
        return lambda: (key(text + str(next(count)), "Rule"), slot("user", text + str(next(count))))

    assert growth(work, 100) < LINEAR


def test_a_decision_takes_time_linear_in_what_is_held() -> None:
    def work(size: int) -> Any:
        held = [fact("Likes", f"thing {number}", id=str(number)) for number in range(size)]
        return lambda: (decide(fact("Likes", "something else"), held), true_at(held, "2026-01-01"))

    assert growth(work, 40) < LINEAR


# the measure


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks/identity.py"
    spec = importlib.util.spec_from_file_location("identity_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_the_matcher_keeps_its_precision_and_recall(benchmark: ModuleType) -> None:
    if not benchmark.PAIRS.exists():
        pytest.skip("benchmarks/data/pairs.jsonl is not there")
    found = benchmark.figures(benchmark.judged())
    assert found.pairs >= 100
    assert found.precision >= benchmark.PRECISION
    assert found.recall >= benchmark.RECALL


def test_the_benchmark_counts_what_it_says(benchmark: ModuleType, tmp_path: Path) -> None:
    held = {"topic": "user", "relation": "Home", "object": "Lyon"}
    rows = [
        json.dumps({"id": "1", "a": held, "b": held | {"object": city}, "label": label})
        for city, label in [("lyon", "same"), ("lyon", "other"), ("Rome", "same"), ("Rome", "replaces")]
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    found = benchmark.figures(benchmark.judged(tmp_path / "pairs.jsonl"))
    assert (found.pairs, found.precision, found.recall, found.replaced) == (4, 0.5, 0.5, 1.0)
    assert list(benchmark.table(found))[3].split() == ["same", "1", "1", "0", "0"]
