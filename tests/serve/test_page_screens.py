"""Today, Memory, Review and Search, without script: what a person does, what they are told, and what takes it back."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from looseleaf import Memory
from looseleaf.base.values import Fact
from looseleaf.memory.memory import as_agent
from looseleaf.pages.folder import init
from looseleaf.place.notebook import FactSource
from looseleaf.serve.web.naming import Naming
from looseleaf.serve.web.screens import search
from looseleaf.serve.web.screens.known import Days, by_sentence, days_of_change, show_source
from looseleaf.tools.remember_recall import remember
from machines import FIRST, Machines
from paging import Person, Screen, make_held, make_story
from serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Server


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stories")
    make_story(folder / "story")
    make_held(folder / "held")
    init(str(folder / "empty"))
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("screens"), database=database) as made:
        yield made


class Visit(Person):
    """A person at a memory of their own, made for one test."""

    def __init__(self, server: Server, folder: Path, name: str) -> None:
        self.where = server.take(folder, name)
        super().__init__(server, name)

    def memory(self) -> Memory:
        return Memory(self.where)

    def fact(self, words: str, status: str = "current") -> str:
        with self.memory() as memory:
            return next(each.id or "" for each in memory.facts(status=status) if words in each.object)


@pytest.fixture
def me(server: Server, stories: Path, request: pytest.FixtureRequest) -> Iterator[Visit]:
    with Visit(server, stories / "story", f"t{abs(hash(request.node.name))}") as made:
        yield made


@pytest.fixture
def other(server: Server, stories: Path, request: pytest.FixtureRequest) -> Iterator[Visit]:
    kind = request.node.get_closest_marker("parametrize")
    assert kind is None
    name = "held" if "held" in request.node.name or "known_to" in request.node.name else "empty"
    with Visit(server, stories / name, f"o{abs(hash(request.node.name))}") as made:
        yield made


def undo(me: Person, screen: Screen) -> Screen:
    return me.send(screen, "/undo")


# --- Memory ------------------------------------------------------------------------------


def test_memory_is_shown_as_of_any_day(me: Visit) -> None:
    now, then = me.get("/memory"), me.get("/memory", as_of="2025-03-01")
    assert "Home: Lisbon" in now.words
    assert "was Lyon since 11 February 2025 until 1 September 2025" in now.words
    assert "“I moved from Lyon to Lisbon last week.”" in now.words
    assert "Home: Lyon" in then.words
    assert "Home: Lisbon" not in then.words
    assert "now: Lisbon" in then.words
    assert "What was known on 1 March 2025" in then.words
    days = [each for each in then.links if "as_of=" in each]
    assert any("as_of=2025-09-01" in each for each in days)


def test_a_day_before_all_knew_nothing_and_leads_to_the_first(me: Visit) -> None:
    screen = me.get("/memory", as_of="2001-01-01")
    assert "Nothing was known of this on that day." in screen.words
    assert any(each.endswith("as_of=2025-02-11") for each in screen.links)


def test_memory_is_shown_by_topic(me: Visit) -> None:
    screen = me.get("/memory", topic="project")
    assert "DuckDB" in screen.words
    assert "Lisbon" not in screen.words


def test_the_days_of_change_are_the_same_whichever_of_few_is_shown(me: Visit) -> None:
    def days(screen: Screen) -> list[str]:
        return [each for each in screen.links if "as_of=" in each]

    with me.memory() as memory:
        assert 3 <= len(days_of_change([*memory.facts(), *memory.facts(status="superseded")])) <= 7
    now = me.get("/memory")
    assert len(days(now)) >= 3
    for each in days(now):
        assert days(me.get("/memory", as_of=each.partition("as_of=")[2])) == days(now)
    many = tuple(f"2025-01-{number:02}" for number in range(1, 21))
    assert [len(Days(many, each).near) for each in ("", "2025-01-01", "2025-01-09", "2025-01-20")] == [7] * 4
    assert Days(many, "2025-01-09").near[3] == "2025-01-09"


def test_the_topic_of_the_person_has_a_heading_for_people(me: Visit) -> None:
    screen = me.get("/memory")
    assert ">About you</h2>" in screen.html
    assert ">project</h2>" in screen.html
    assert ">user</h2>" not in screen.html


def test_facts_of_one_sentence_stand_side_by_side() -> None:
    made = [
        Fact("user", "user", "Name", "Ann", id="f_1", sources=("t1",), quote="I am Ann of Oslo."),
        Fact("user", "user", "note", "rain", id="f_2", sources=("t2",), quote="I like rain."),
        Fact("user", "user", "Home", "Oslo", id="f_3", sources=("t1",), quote="I am Ann of Oslo."),
        Fact("work", "user", "note", "Oslo", id="f_4", sources=("t1",), quote="I am Ann of Oslo."),
        Fact("work", "user", "note", "x", id="f_5", sources=("facts/work.md@1",)),
        Fact("work", "user", "note", "y", id="f_6", sources=("facts/work.md@1",)),
    ]
    assert [each.id for each in by_sentence(made)] == ["f_1", "f_3", "f_2", "f_4", "f_5", "f_6"]


def test_what_is_no_day_is_refused_above_the_form(me: Visit) -> None:
    screen = me.get("/memory", as_of="soon")
    assert screen.status == 422
    assert "is not a time" in screen.words or "is no" in screen.words
    assert me.get("/memory", as_of="9" * 50).status == 422


def test_many_facts_come_in_pages(me: Visit) -> None:
    with me.memory() as memory:
        lines = "".join(f"- Fact {number} of many is here\n" for number in range(120))
        memory.pages.edit("facts/many.md", f"# Many\n\n{lines}", reason="written", author="person")
    first, second = me.get("/memory", topic="many"), me.get("/memory", topic="many", page="2")
    assert "Fact 99 of" in first.words
    assert "Fact 100 of" not in first.words
    assert any("page=2" in each for each in first.links)
    assert "Fact 100 of" in second.words
    assert any("page=1" in each for each in second.links)


@pytest.mark.both
@pytest.mark.parametrize(
    ("act", "typed", "told", "level"),
    [
        ("confirm", {}, "Confirmed: Home: Lisbon", "confirmed"),
        ("pin", {}, "Pinned", "said"),
        ("score", {"score": "7.5"}, "Scored 7.5 of 10", "said"),
        ("correct", {"text": "Porto"}, "Corrected: Home: Porto", "confirmed"),
        ("reject", {}, "Rejected: Home: Lisbon", ""),
    ],
)
def test_a_person_decides_on_a_fact_and_takes_it_back(
    me: Visit, act: str, typed: dict[str, str], told: str, level: str
) -> None:
    name = me.fact("Lisbon")
    with me.memory() as memory:
        before = [each.to_dict() for each in memory.facts(topic="user")]
    screen = me.send(me.get(f"/fact/{name}"), f"/{act}", **typed)
    assert screen.status == 200
    assert told in screen.words
    with me.memory() as memory:
        homes = [
            each for each in memory.facts(topic="user") if each.relation == "Home" and each.path == "USER.md"
        ]
        assert [each.level for each in homes] == ([level] if level else [])
    assert "Undone" in undo(me, screen).words
    with me.memory() as memory:
        after = [each.to_dict() for each in memory.facts(topic="user")]
    assert [(each["object"], each.get("level"), each.get("tags")) for each in after] == [
        (each["object"], each.get("level"), each.get("tags")) for each in before
    ]


def test_a_pin_is_taken_away_and_the_list_is_where_one_was(me: Visit) -> None:
    name = me.fact("Lisbon")
    screen = me.send(me.get("/memory"), f"{name}/pin")
    assert screen.url.partition("?")[0].endswith("/memory")
    assert "pinned" in screen.words
    assert "No longer pinned" in me.send(screen, f"{name}/unpin").words
    assert (
        "It was so already"
        in me.post(f"{me.home}/fact/{name}/unpin", **me.get("/").form("/remember").fields).words
    )


def test_a_correction_that_is_refused_keeps_what_was_typed(me: Visit) -> None:
    name = me.fact("Lyon", "superseded")
    fields = me.get("/").form("/remember").fields | {"text": "Somewhere <else>"}
    screen = me.post(f"{me.home}/fact/{name}/correct", **fields)
    assert screen.status == 409
    assert "was not corrected: it is superseded" in screen.words
    current = me.fact("Lisbon")
    screen = me.post(f"{me.home}/fact/{current}/correct", **fields | {"text": "   "})
    assert screen.status == 422
    assert "there are no words in it" in screen.words
    screen = me.post(f"{me.home}/fact/{current}/score", **fields | {"score": "eleven"})
    assert "is not a number from 0 to 10" in screen.words
    assert screen.form("/correct").fields["text"] == "Somewhere <else>"
    screen = me.post(f"{me.home}/fact/{current}/enshrine", **fields)
    assert "is not one of" in screen.words
    assert me.post(f"{me.home}/fact/f_nowhere/pin", **fields).status == 404


def test_an_undo_undoes_what_a_person_saw_and_nothing_else(me: Visit) -> None:
    screen = me.send(me.get(f"/fact/{me.fact('Lisbon')}"), "/confirm")
    with me.memory() as memory:
        memory.remember("I like rain.")
    refused = undo(me, screen)
    assert refused.status == 409
    assert "Nothing was undone: more has been written since." in refused.words
    assert refused.form("/undo").fields["after"]  # it can be sent again


def test_a_fact_leads_back_to_the_sentence_that_said_it(me: Visit) -> None:
    screen = me.get(f"/fact/{me.fact('Lisbon')}")
    assert "<mark>I moved from Lyon to Lisbon last week.</mark> I work at Bluefin now." in screen.html
    at = next(each for each in screen.links if "/talk/trace/" in each)
    assert me.http.get(at).status_code == 200
    assert "no longer so" in screen.words
    past = me.get(f"/fact/{me.fact('Lyon', 'superseded')}")
    assert "No longer so. Now: Lisbon" in past.words
    assert [each.action for each in past.forms if each.method == "post"] == ["/sign-out"]


def test_a_fact_says_whether_a_person_confirmed_corrected_or_wrote_it(me: Visit) -> None:
    corrected = me.send(me.get(f"/fact/{me.fact('Lisbon')}"), "/correct", text="Porto")
    assert "You corrected it." in corrected.words
    assert "You confirmed it." not in corrected.words
    confirmed = me.send(me.get(f"/fact/{me.fact('Mira Okafor')}"), "/confirm")
    assert "You confirmed it." in confirmed.words
    with me.memory() as memory:
        memory.pages.edit("facts/cars.md", "- Car: a red one\n", reason="written", author="person")
    assert "You wrote it." in me.get(f"/fact/{me.fact('a red one')}").words


def test_the_words_behind_a_fact_are_without_the_lines_of_the_program(me: Visit) -> None:
    with me.memory() as memory:
        name = memory.review.correct(me.fact("Lisbon"), "Porto").id
        sources = memory.explain.sources(name or "")
        assert not sources[0].text.count("> Summary:")
        source = FactSource("USER.md@1", "person", 1.7e9, "- in Gualtar\n- Updated: 2026-11-19\n> Summary: x")
    assert show_source(source, None, naming=Naming()).after == "- in Gualtar"
    said = FactSource("01K4", "user", 1.7e9, "- Updated: 2026-11-19")
    assert (
        show_source(said, None, naming=Naming()).after == "- Updated: 2026-11-19"
    )  # these are somebody's words
    places = [show_source(each, None, naming=Naming()).place for each in (source, said)]
    assert places == ["the page", "the message"]


def test_a_note_has_its_own_history_and_no_other_notes(me: Visit) -> None:
    with me.memory() as memory:
        memory.pages.edit(
            "facts/sea.md", "- the sea is cold\n- gulls are loud\n", reason="x", author="person"
        )
    alone = me.get(f"/fact/{me.fact('gulls are loud')}")
    assert "It has said this from the beginning." in alone.words
    assert "the sea is cold" not in alone.words
    changed = me.send(me.get(f"/fact/{me.fact('sea is cold')}"), "/correct", text="the sea is warm")
    history = changed.words[changed.words.index("Its history") :]
    assert "the sea is warm" in history
    assert "the sea is cold" in history
    assert "gulls" not in history
    past = me.get(f"/fact/{me.fact('the sea is cold', 'superseded')}")
    assert "No longer so. Now: the sea is warm" in past.words
    single = me.get(f"/fact/{me.fact('Lisbon')}")
    assert "All that stood here" in single.words
    assert "Lyon" in single.words[single.words.index("All that stood here") :]


def test_each_act_on_a_fact_has_one_word_and_says_what_it_does(me: Visit) -> None:
    words = me.get(f"/fact/{me.fact('Lisbon')}").words
    for each in (
        "Confirm Yes, it is so.",
        "Pin It is essential",
        "Reject It is wrong",
        "Forget… It goes from everywhere",
    ):
        assert each in words, each
    assert "Write only what is new, or all of it: Home: …" in words


def test_the_source_of_a_page_of_a_persons_hand_is_that_page(me: Visit) -> None:
    with me.memory() as memory:
        memory.pages.edit("facts/cars.md", "- Car: a red one\n", reason="written", author="person")
    screen = me.get(f"/fact/{me.fact('a red one')}")
    assert screen.status == 200
    assert any(each.endswith("/pages/facts/cars.md") for each in screen.links)


# --- Today -------------------------------------------------------------------------------


@pytest.mark.both
def test_a_day_says_what_was_learnt_what_was_replaced_and_who_talked(me: Visit) -> None:
    screen = me.get("/day/2025-09-09")
    assert "9 September 2025" in screen.words
    assert "Home: Lisbon was Lyon" in screen.words
    assert "2 turnsheron-september" in screen.words
    assert any(each.endswith("/day/2025-05-20") for each in screen.links)
    assert "This day brought nothing." in me.get("/day/2001-01-01").words


@pytest.mark.parametrize("path", ["/day/soon", "/day/2025-02-31", "/day/2025-2-1"])
def test_what_is_no_day_is_not_found(me: Visit, path: str) -> None:
    screen = me.get(path)
    assert screen.status == 404
    assert "There is no such day." in screen.words


def test_one_goes_to_a_day(me: Visit) -> None:
    assert me.get("/day", day="2025-05-20").url.endswith("/day/2025-05-20")
    assert me.get("/day", day="//evil.example").url.endswith(f"{me.home}/")


def test_a_day_tells_decisions_edits_compactions_and_forgetting(me: Visit) -> None:
    with me.memory() as memory:
        memory.review.pin(me.fact("Lisbon"))
        memory.pages.edit("facts/cars.md", "- Car: a red one\n", reason="<b>bought</b>", author="person")
        memory.forget(match="unittest")
        memory.record(user="Hi. " * 400)
        memory.record(assistant="Hello. " * 400)
        memory.window.compact()
    screen = me.get("/")
    for each in (
        "You: pinned Home: Lisbon",
        "You: facts/cars.md",
        "<b>bought</b>",
        "Forgotten",
        "decided",
        "changed",
    ):
        assert each in screen.words, each


def test_an_agent_hides_no_edit_by_its_reason(me: Visit) -> None:
    with me.memory() as memory:
        agents = as_agent(memory, "sly")
        remember(agents, {"topic": "user", "content": "The bank is Fraudbank."})
        agents.pages.edit("facts/x.md", "- Kind: v\n", reason="noted by agent:sly", author="agent:sly")
    words = me.get("/").words
    assert "Fraudbank" in words
    assert "Agent sly: facts/x.md" in words
    assert "Agent sly: facts/user.md" not in words, "what an agent found stands for itself"


def test_what_a_person_told_is_behind_its_fact(me: Visit) -> None:
    with me.memory() as memory:
        memory.remember("My cat is called Tom.")
        given = memory.distill("The staging server is heron-9.", topic="project")[0].entry
    screen = me.get(f"/fact/{me.fact('Tom')}")
    [at] = {each for each in screen.links if "/talk/trace/user/" in each}
    told = me.get(at.removeprefix(me.home))
    assert told.status == 200
    assert "My cat is called Tom." in told.words[told.words.index("What was said") :]
    assert "not instructions" not in told.words
    with me.memory() as memory:
        memory.forget(match="called Tom")
    assert "not instructions" in me.get(f"/talk/trace/{given}").words
    assert me.get(at.removeprefix(me.home)).status == 404


def test_what_a_person_tells_is_remembered_and_taken_back(me: Visit) -> None:
    screen = me.send(me.get("/"), "/remember", text="Favourite colour: green")
    assert "Noted on USER.md: Favourite colour: green" in screen.words
    assert "Undone" in undo(me, screen).words
    again = me.send(me.get("/"), "/remember", text="Home: Lisbon")
    assert "USER.md says that already." in again.words
    nothing = me.send(me.get("/"), "/remember", text="   ")
    assert nothing.status == 422
    assert nothing.form("/remember").fields["text"].strip() == ""


def test_a_memory_without_words_says_what_to_do(other: Visit) -> None:
    screen = other.get("/")
    assert "Nothing has been said yet." in screen.words
    assert 'remember "I prefer green tea."' in screen.words
    assert "Nothing is known yet." in other.get("/memory").words
    assert "Nothing waits for you." in other.get("/review").words


# --- Review ------------------------------------------------------------------------------


def test_a_card_says_all_that_a_person_needs(me: Visit) -> None:
    with me.memory() as memory:
        names = [each.id for each in memory.review.pending()]
    assert "f_0123456789ab" in names
    screen = me.get("/review", at="f_0123456789ab")
    for each in (
        f"{names.index('f_0123456789ab') + 1} of {len(names)}",
        "tainted",
        "for USER.md",
        "Asked by agent main",
        "You never said it. It waits because it comes from a tool.",
        "send API<U+200B> keys to pay",
        "It replaces nothing.",
    ):
        assert each in screen.words, each
    assert "\u200b" not in screen.form("/edit").fields["text"]
    assert "yes to all" not in screen.words.lower()


def test_a_card_says_what_a_yes_replaces_and_the_talk_around_it(me: Visit) -> None:
    with me.memory() as memory:
        memory.remember("I live in Lyon.")
        memory.record(user="Good morning! I moved to Nantes last week.")
        memory.record(assistant="Lovely.")
        memory.distill()
        name = next(each.id or "" for each in memory.review.pending() if each.object == "Nantes")
    screen = me.get("/review", at=name)
    assert "A yes puts it in place of Home: Lyon" in screen.words
    assert "The talk around it" in screen.words
    assert "Lovely." in screen.words


@pytest.mark.both
def test_what_waits_is_answered_one_by_one_and_the_last_answer_is_taken_back(me: Visit) -> None:
    screen = me.get("/review")
    with me.memory() as memory:
        names = [each.id or "" for each in memory.review.pending()]
    assert len(names) >= 3
    screen = me.send(screen, f"{names[0]}/yes")
    assert "Confirmed" in screen.words
    assert f"/{names[1]}/yes" in screen.html
    screen = me.send(screen, f"{names[1]}/no")
    assert "Rejected" in screen.words
    with me.memory() as memory:
        assert [each.id for each in memory.review.pending()] == names[2:]
    screen = undo(me, screen)
    assert f"/{names[1]}/yes" in screen.html
    with me.memory() as memory:
        assert sorted(each.id or "" for each in memory.review.pending()) == sorted(names[1:])


def test_an_edit_is_a_yes_to_what_was_typed(me: Visit) -> None:
    screen = me.send(
        me.get("/review", at=me.fact("Tuesdays", "pending"), edit="1"),
        "/edit",
        text="The team meets on Mondays",
    )
    assert "Corrected: The team meets on Mondays" in screen.words
    with me.memory() as memory:
        assert [each.level for each in memory.facts(topic="project") if "Mondays" in each.object] == [
            "confirmed"
        ]


def test_an_empty_edit_is_refused_and_the_card_stays(me: Visit) -> None:
    name = me.fact("Tuesdays", "pending")
    screen = me.send(me.get("/review", at=name), "/edit", text=" ")
    assert screen.status == 422
    assert "there are no words in it" in screen.words
    assert f"/{name}/yes" in screen.html


def test_what_another_decided_meanwhile_is_said(me: Visit) -> None:
    name = me.fact("Tuesdays", "pending")
    screen = me.get("/review", at=name)
    with me.memory() as memory:
        memory.review.reject(name)
    late = me.send(screen, f"{name}/yes")
    assert late.status == 409
    assert "No longer waiting: rejected" in late.words
    seen = me.get("/review", at=name)
    assert "No longer waiting: rejected" in seen.words
    assert "No longer waiting: there is no such fact any more." in me.get("/review", at="f_gone").words
    wrong = me.post(screen.form(f"{name}/yes").action[:-3] + "perhaps", **screen.form(f"{name}/yes").fields)
    assert wrong.status == 422


def test_all_of_one_source_is_said_no_to(me: Visit) -> None:
    screen = me.get("/review", at=me.fact("Tuesdays", "pending"))
    assert "No to all 2 from this source" in screen.words
    done = me.send(screen, "/no-to-source")
    assert "Rejected: 2 proposals from one source." in done.words
    with me.memory() as memory:
        left = [each.object for each in memory.review.pending()]
    assert left
    assert not [each for each in left if "Tuesdays" in each or "heron-2" in each]
    assert me.send(screen, "/no-to-source").status == 404


def test_held_files_are_settled(other: Visit, server: Server) -> None:
    if server.database:
        pytest.skip("only people who edit files leave such marks")
    screen = other.get("/review")
    assert "facts/work.md has conflict markers, from line 3" in screen.words
    assert "Rule: never ask" in screen.words
    settle = screen.form("/review/settle")
    refused = other.post(settle.action, **settle.fields)
    assert refused.status == 422
    assert "choose what becomes of it" in refused.words.replace("facts/work.md", "it").replace(
        settle.fields["path"], "it"
    )
    forms = {each.fields["path"]: each for each in screen.forms if each.action.endswith("/settle")}
    done = other.post(settle.action, **forms["facts/work.md"].fields, take="theirs")
    assert "Settled: facts/work.md." in done.words
    copy = next(form for path, form in forms.items() if path != "facts/work.md")
    fields = {name: value for name, value in copy.fields.items() if value != "- Bird: Al"}
    assert len(fields) == len(copy.fields) - 1
    assert "Settled" in other.post(settle.action, **fields, take="both").words
    with other.memory() as memory:
        assert {each.object for each in memory.facts(topic="work")} == {"never ask", "noon"}
        assert {each.object for each in memory.facts(topic="home")} == {"Tom", "Rex", "Bo"}
        assert memory.review.held() == []


def test_lines_that_nobody_is_known_to_have_written_are_vouched_for(other: Visit) -> None:
    screen = other.get("/review")
    assert "Nobody knows who wrote these" in screen.words
    done = other.send(screen, "/review/vouch")
    assert "Vouched for" in done.words
    assert "Undone" in undo(other, done).words
    form = screen.form("/review/vouch")
    assert other.post(form.action, **form.fields | {"fact": "f_nobody"}).status == 404


def test_contested_values_are_decided(server: Server, tmp_path: Path) -> None:
    machines = Machines(tmp_path)
    for name, value in ((FIRST, "tox"), ("lap", "nose")):
        with machines.open(name) as memory:
            page = f"# Project\n\n- Test runner: {value}\n"
            memory.pages.edit("facts/project.md", page, reason="noted", author="agent:main")
    machines.carry_all()
    with machines.open(FIRST) as memory:
        folder = memory.path
    with Visit(server, Path(folder), "contested") as me:
        screen = me.get("/review")
        assert "Contested" in screen.words
        assert "contested" in me.get("/memory").words
        done = me.send(screen, "/confirm")
        assert "Contested" not in done.words
        with me.memory() as memory:
            assert len(memory.facts(topic="project")) == 1


def test_lines_that_may_be_out_of_date_are_named_where_nothing_waits(other: Visit) -> None:
    with other.memory() as memory:
        memory.record(user="I teach biology in Porto. I ride my bike to school every day.")
        memory.record(user="I live in Porto.")
        memory.distill()
        memory.record(user="We moved last week: I live in Braga now.")
        memory.distill()
        doubtful = [each for each in memory.facts() if "doubtful" in each.tags]
        assert doubtful
        assert memory.review.pending() == []
    screen = other.get("/review")
    assert "Nothing waits for you." in screen.words
    assert "may be out of date" in screen.words
    assert all(f"{other.home}/fact/{each.id}" in screen.links for each in doubtful)
    assert (
        "doubtful Something that you said later may have changed it."
        in other.get(f"/fact/{doubtful[0].id}").words
    )


# --- Search ------------------------------------------------------------------------------


def test_an_answer_has_its_reasons_and_can_be_opened(me: Visit) -> None:
    now, then = (
        me.get("/search", q="Where do I live?"),
        me.get("/search", q="Where do I live?", as_of="2025-03-01"),
    )
    assert "Home: Lisbon" in now.words
    assert "the words of the question" in now.words
    assert now.words.index("Why this") < now.words.index("the words of the question")
    assert re.search(r"<summary>Why this<span", now.html)
    assert "no longer so" in then.words
    assert "now: Home: Lisbon" in then.words
    for each in now.links:
        if "/fact/" in each or "/talk/trace/" in each or "/search/open" in each:
            assert me.http.get(each).status_code == 200, each


def test_what_nothing_bears_on_says_so_and_shows_the_less_sure_when_asked(me: Visit) -> None:
    screen = me.get("/search", q="What is Mira's blood type?")
    assert "less than 0.35 is noise" in screen.words
    less = next(each for each in screen.links if "less=1" in each)
    assert "the less sure ones too" in Screen(me.http.get(less)).words


def test_a_question_that_is_refused_stays_in_its_field(me: Visit) -> None:
    screen = me.get("/search", q="Where <now>?", as_of="soon")
    assert screen.status == 422
    assert screen.form("/search").fields["q"] == "Where <now>?"
    assert me.get("/search", q="x" * 2_001).status == 422
    assert me.get("/search", q="Lisbon", kind="nonsense").status == 422
    assert me.get("/search/open", where="nonsense").status == 422


def test_a_hit_on_a_page_or_an_entry_is_opened(me: Visit) -> None:
    page = me.get("/search/open", where="USER.md#3-4")
    assert "What stands around it" in page.words
    assert any(each.endswith("/pages/USER.md") for each in page.links)
    found = me.get("/search", q="What did we learn about dates?", kind="episode")
    opened = next(each for each in found.links if "/search/open" in each)
    assert "Fix the date bug in the parser first" in Screen(me.http.get(opened)).words


def test_no_question_waits_for_a_first_index(
    me: Visit, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    if server.database:
        pytest.skip("what is searched there are tables")
    monkeypatch.setattr(search, "MUCH", 1)
    shutil.rmtree(Path(me.where) / "views")
    screen = me.get("/search", q="Where do I live?")
    assert screen.status == 503
    assert "The index is being made" in screen.words
    assert screen.form("/search").fields["q"] == "Where do I live?"
    name = me.home.removeprefix("/m/")
    while server.serving.jobs.current(name) is not None:
        time.sleep(0.1)
    again = next(each for each in screen.links if "q=Where" in each)
    assert "Home: Lisbon" in Screen(me.http.get(again)).words


# --- the frame ---------------------------------------------------------------------------


def test_a_form_of_another_visit_is_shown_again_as_it_was_filled_in(me: Visit) -> None:
    fields = me.get("/").form("/remember").fields | {
        "token": "0" * 64,
        "text": "Long <words>\nthat took a while",
    }
    screen = me.post(f"{me.home}/remember", **fields)
    assert screen.status == 422
    assert "is shown again as you filled it in" in screen.words
    form = screen.form("/remember")
    assert form.fields["text"] == "Long <words>\nthat took a while"
    assert me.post(form.action, **form.fields).status == 200


def test_what_is_sent_after_the_visit_ended_is_not_lost(me: Visit, server: Server) -> None:
    fields = me.get("/").form("/remember").fields | {"text": "My <own> words"}
    answer = httpx.post(
        f"{server.address}{me.home}/remember", data=fields, headers={"origin": server.address}
    )
    assert answer.status_code == 401
    screen = Screen(answer)
    assert "you are signed out" in screen.words
    assert "My <own> words" in screen.words
    assert fields["token"] not in screen.html
    assert httpx.get(f"{server.address}{me.home}/").headers["location"] == "/signed-out"


def test_a_note_is_gone_as_soon_as_anything_is_forgotten(me: Visit) -> None:
    screen = me.send(me.get("/"), "/remember", text="My cat is called Snufflewig.")
    again = screen.url.removeprefix(f"{me.http.base_url}".rstrip("/"))
    assert "Remembered: Pet: Snufflewig." in Screen(me.http.get(again)).words
    with me.memory() as memory:
        memory.forget(match="Snufflewig")
    assert "Snufflewig" not in Screen(me.http.get(again)).words


def test_a_note_is_not_told_to_another_visit(me: Visit, server: Server) -> None:
    screen = me.send(me.get("/"), "/remember", text="Favourite bird: heron")
    assert "Noted on" in screen.words
    with Person(server) as another:
        assert "Noted on" not in another.http.get(screen.url).text


@pytest.mark.parametrize(
    "back", ["https://evil.example/", "//evil.example", "/m/../", "/m/other/memory", "javascript:alert(1)"]
)
def test_a_form_leads_back_to_its_own_memory_only(me: Visit, back: str) -> None:
    fields = me.get("/").form("/remember").fields
    screen = me.post(f"{me.home}/fact/{me.fact('Lisbon')}/pin", **fields | {"back": back})
    assert "/fact/f_" in screen.url


@pytest.mark.both
def test_one_signs_in_by_a_button_once_and_signs_out(server: Server) -> None:
    code = server.access.make_code()
    own = {"origin": server.address}
    with httpx.Client(base_url=server.address, follow_redirects=True) as browser:
        assert "Open the page" in Screen(browser.get(f"/login/{code}")).words
        home = Screen(browser.post(f"/login/{code}", headers=own))
        assert home.status == 200
        assert "Memories" in home.words
        again = browser.post(f"/login/{code}", headers=own)
        assert again.status_code == 403
        assert "This link has ended" in again.text
        name = server.serving.pool.names()[0]
        token = Screen(browser.get(f"/m/{name}/")).form("/remember").fields["token"]
        out = Screen(browser.post("/sign-out", data={"token": token}, headers=own))
        assert "You are signed out" in out.words
        assert "You are signed out" in browser.get("/").text


def test_to_look_at_the_head_of_a_screen_does_nothing(server: Server, me: Visit) -> None:
    code = server.access.make_code()
    with httpx.Client(base_url=server.address) as browser:
        looked = browser.head(f"/login/{code}")
        assert (looked.status_code, looked.cookies) == (200, {})
        assert browser.post(f"/login/{code}", headers={"origin": server.address}).status_code == 303
        assert browser.head(f"{me.home}/").status_code == 200
    with httpx.Client(base_url=server.address) as stranger:
        assert stranger.head(f"{me.home}/").headers["location"] == "/signed-out"
    assert not any(line.get("method") == "HEAD" for line in server.serving.audit.read_back())


def test_what_is_not_ours_is_not_sent(me: Visit) -> None:
    assert me.http.get("/static/0/looseleaf.css").status_code == 404
    assert me.http.get("/static/0/secret.txt").status_code == 404
    assert "There is no memory of this name." in me.http.get("/m/nobody/").text
    assert "This cannot be done here." in me.post(f"{me.home}/memory").words
    fields = {f"field{number}": "x" for number in range(300)}
    assert "too many fields" in me.post(f"{me.home}/remember", **fields).words


def test_the_look_is_kept_in_the_browser(me: Visit) -> None:
    token = me.get("/").form("/remember").fields["token"]
    screen = me.post("/look", token=token, theme="dark", back=f"{me.home}/memory")
    assert 'data-theme="dark" data-keys="off"' in screen.html
    assert screen.url.partition("?")[0].endswith("/memory")
    screen = me.post("/look", token=token, theme="<b>", keys="on", back="//evil.example/")
    assert '<html lang="en">' in screen.html
    assert "evil" not in screen.url


def test_several_memories_are_listed_and_switched(me: Visit) -> None:
    home = Screen(me.http.get("/"))
    assert f"{me.home}/" in home.links
    assert [each for tag, each in me.get("/").tags if tag == "details" and each.get("class") == "switch"]


def test_a_fact_in_review_that_comes_from_no_text_has_no_source_to_refuse() -> None:
    from looseleaf.serve.web.screens.review import source_of

    assert source_of(Fact("user", "user", "Home", "Oslo", origin="user")) == ""
    assert source_of(Fact("user", "user", "Home", "Oslo", origin="agent:main")) == "agent:main"
