"""Recall gives what is there and true, as it stands there, once, within its budget; or says that there is nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clocks import WrongClock
from drawing import few
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.policy import Ranking
from looseleaf.models.tokens import estimate
from looseleaf.recall import index_sync as sources
from looseleaf.recall.index_sync import IndexKeeper
from looseleaf.recall.items import speaker_of
from looseleaf.recall.question import Question
from looseleaf.recall.recall import Recall
from placing import THEN, one, tell
from recalling import ANYTHING, begin, go_on, open_memory, recall, texts
from tables import check_rows
from talking import trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.recall.hits import Hit

DAY = 86_400.0


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with open_memory(place / "memory", counter=words) as memory:
        yield memory


def words(text: str) -> int:
    """A counter that anybody can check."""
    return len(text.split())


@pytest.fixture
def full(memory: Memory) -> Memory:
    begin(memory)
    go_on(memory)
    return memory


def hit_of(memory: Memory, query: str, kind: str, **asked: Any) -> Hit:
    return next(hit for hit in recall(memory, query, **asked) if hit.kind == kind)


# --- what is true ----------------------------------------------------------------------


def test_a_superseded_value_is_never_given_as_current(memory: Memory) -> None:
    tell(memory, "I live in Berlin and I'm Zhang San.")
    tell(memory, "I moved from Berlin to Paris.", at=THEN + 10 * DAY)
    for query in (
        "home Berlin",
        "lives in Berlin",
        "Home: Berlin",
        "Berlin",
        "Paris",
        "where does he live, home",
    ):
        hits = recall(memory, query)
        facts = [hit for hit in hits if hit.kind == "fact"]
        assert all("Berlin" not in hit.text for hit in facts), query
        assert all(hit.status == "current" for hit in facts), query


def test_a_trace_that_tells_what_was_is_labelled_with_what_is(memory: Memory) -> None:
    tell(memory, "I live in Berlin these days.")
    assert hit_of(memory, "live Berlin days", "trace").status == ""
    tell(memory, "I moved from Berlin to Paris.", at=THEN + 10 * DAY)
    old = hit_of(memory, "live in Berlin these days", "trace")
    assert old.text == "I live in Berlin these days."
    assert (old.status, old.now) == ("superseded", "Home: Paris")
    memory.review.correct(one(memory, "Home").id or "", "Lyon")
    old = hit_of(memory, "live in Berlin these days", "trace")
    assert (old.status, old.now) == ("superseded", "Home: Lyon")


def test_a_label_is_given_also_by_what_only_memory_knows(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the file cannot be written, it does not know yet what is over."""
    tell(memory, "I live in Berlin these days.")
    texts(memory, "Berlin")
    tell(memory, "I moved from Berlin to Paris.", at=THEN + 10 * DAY)

    def refuse() -> bool:
        raise OSError("no room")

    monkeypatch.setattr(memory.parts.recall.keep, "_take_batch", refuse)
    old = hit_of(memory, "live in Berlin these days", "trace")
    assert (old.status, old.now) == ("superseded", "Home: Paris")
    assert all(hit.text != "Home: Berlin" for hit in recall(memory, "Home Berlin"))
    assert any("no room" in note for note in memory.notes)


def test_as_of_a_time_gives_what_was_true_and_said_then(memory: Memory) -> None:
    tell(memory, "I live in Berlin these days.", at=THEN)
    tell(memory, "I moved from Berlin to Paris.", at=THEN + 10 * DAY)

    def homes(when: float) -> list[str]:
        return [hit.text for hit in recall(memory, "home Berlin Paris", as_of=when) if hit.kind == "fact"]

    assert homes(THEN - DAY) == []
    assert homes(THEN + DAY) == ["Home: Berlin"]
    assert homes(THEN + 11 * DAY) == ["Home: Paris"]
    said = texts(memory, "moved Berlin Paris", as_of=THEN + DAY)
    assert "I moved from Berlin to Paris." not in said
    assert [hit.text for hit in recall(memory, "home Berlin Paris") if hit.kind == "fact"] == ["Home: Paris"]
    past = hit_of(memory, "home Berlin", "fact", as_of=THEN + DAY)
    assert past.now == "Home: Paris"
    for when in (THEN - DAY, THEN, THEN + 5 * DAY, THEN + 10 * DAY, THEN + 11 * DAY):
        held = {f"{fact.relation}: {fact.object}" for fact in memory.facts(as_of=when)}
        assert set(homes(when)) == held


def test_what_waits_or_was_rejected_or_forgotten_is_not_found(memory: Memory) -> None:
    memory.distill("I like jazz.")[0]
    assert memory.facts(status="pending")
    assert Path(memory.path, "review").exists()
    for query in ("Likes jazz", "jazz", "review like jazz pending"):
        assert all(hit.kind in ("trace", "entry") for hit in recall(memory, query)), query
        assert all("review/" not in hit.path for hit in recall(memory, query)), query
    memory.review.approve(memory.facts(status="pending")[0].id or "")
    assert "Likes: jazz" in texts(memory, "Likes jazz")
    memory.review.reject(one(memory, "Likes").id or "")
    assert "Likes: jazz" not in texts(memory, "Likes jazz")


@pytest.mark.parametrize("tool", ["remember", "mcp__looseleaf__remember"])
def test_what_our_own_tools_were_told_and_answered_is_not_found(memory: Memory, tool: str) -> None:
    memory.record(user="Please look at the page.")
    memory.record(tool_call=tool, tool_args={"content": "quartz zeppelin"}, tool_call_id="a")
    memory.record(tool_result="It waits in review: quartz zeppelin", tool_call_id="a")
    memory.record(tool_call="web", tool_args={"url": "opal zeppelin"}, tool_call_id="b")
    memory.record(tool_result="An amber zeppelin", tool_call_id="b")
    found = texts(memory, "zeppelin")
    assert not [text for text in found if "quartz" in text]
    assert {word for word in ("opal", "amber") if any(word in text for text in found)} == {"opal", "amber"}


def test_an_index_that_took_other_things_is_made_anew(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that was made before our own tools were passed over."""
    memory.record(tool_call="remember", tool_args={"content": "quartz zeppelin"}, tool_call_id="a")
    memory.record(user="An amber zeppelin.")
    with monkeypatch.context() as before:
        before.setattr(sources, "_TAKEN", "before")
        before.setattr(sources, "is_own", lambda _: False)
        assert any("quartz" in text for text in texts(memory, "zeppelin"))
    assert texts(memory, "zeppelin") == ["An amber zeppelin."]
    assert texts(memory, "zeppelin") == ["An amber zeppelin."]


def test_a_line_that_a_person_deletes_is_known_no_longer(memory: Memory) -> None:
    tell(memory, "I like tea. I live in Paris.")
    assert "Likes: tea" in texts(memory, "likes tea")
    page = Path(memory.path, "USER.md")
    page.write_text(page.read_text().replace("- Likes: tea\n", ""))
    assert "Likes: tea" not in texts(memory, "likes tea")
    assert "Home: Paris" in texts(memory, "home Paris")


# --- what is said ------------------------------------------------------------------------


def test_what_says_the_same_is_told_once(memory: Memory) -> None:
    for number in range(5):
        memory.record(user="The violet lantern hangs in the old harbour.", ts=THEN + number)
    memory.record(user="Violet lanterns hang in the old harbour!", ts=THEN + 9)
    memory.record(user="The violet lantern was sold to a sailor from Genoa.", ts=THEN + 10)
    found = texts(memory, "violet lantern harbour")
    assert len([text for text in found if "old harbour" in text]) == 1
    assert len([text for text in found if "Genoa" in text]) == 1


def test_each_hit_says_what_stands_where_it_says_and_opens(full: Memory) -> None:
    seen: set[str] = set()
    questions = (
        "Home Paris",
        "violet lantern",
        "frost roses",
        "quarterly bakery numbers",
        "kettle shelf",
        "2025",
    )
    for query in questions:
        for hit in recall(full, query, k=50):
            seen.add(hit.kind)
            opened = full.open(hit.where)
            assert opened.kind in (hit.kind, "page")
            for line in hit.text.splitlines():
                assert line.strip() in opened.text
            if "#" in hit.path:
                path, _, lines = hit.path.partition("#")
                first, last = map(int, lines.split("-"))
                stands = full.pages.read(path).text.splitlines()[first - 1 : last]
                assert hit.text in "\n".join(stands)
            assert hit.is_whole
            assert hit.to_dict()["where"] == hit.where
    assert {"fact", "trace", "prose", "entry"} <= seen


def test_an_episode_and_a_day_are_found_and_open(memory: Memory) -> None:
    text = "# Sailing\n\n## Crossing the sound\n\n- Date: 2025-10-09\n- Task: sail the ketch to Kiel\n"
    memory.pages.edit("episodes/sailing.md", text, reason="notes", author="person")
    memory.pages.edit(
        "days/2025-10-09.md",
        "# 2025-10-09\n\n- Painted the dinghy green\n- Slept\n",
        reason="x",
        author="person",
    )
    kinds = {
        hit.kind: hit
        for query in ("ketch Kiel sail", "dinghy green painted")
        for hit in recall(memory, query)
    }
    assert kinds["day"].text == "- Painted the dinghy green"
    assert kinds["day"].date == "2025-10-09"
    for hit in kinds.values():
        assert hit.text.splitlines()[-1] in memory.open(hit.where).text


def test_a_long_text_is_found_by_its_passages_and_each_trace_told_once(memory: Memory) -> None:
    parts = [
        f"Paragraph {n} tells of the q{n}z river and its ferry.\n" + "It is long. " * 60 for n in range(20)
    ]
    memory.record(assistant="\n\n".join(parts), ts=THEN)
    for number in (0, 11, 19):
        [hit] = [hit for hit in recall(memory, f"q{number}z river ferry") if hit.kind == "trace"]
        assert f"q{number}z river" in hit.text
        assert len(hit.text) < 2000


def test_hits_are_limited_and_best_first(full: Memory) -> None:
    hits = recall(full, "copper kettle on a shelf", k=50)
    assert len(hits) > 5
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0.0 <= hit.score <= 1.0 for hit in hits)
    assert [hit.where for hit in recall(full, "copper kettle on a shelf", k=3)] == [
        hit.where for hit in hits[:3]
    ]
    assert hits.best == hits[0].score


def test_only_what_was_asked_for_is_found(full: Memory) -> None:
    query = "Paris Postgres kettle lantern roses bakery"
    for kind in ("fact", "prose", "entry", "trace"):
        hits = recall(full, query, kinds=kind, k=50)
        assert hits
        assert {hit.kind for hit in hits} == {kind}
    assert {hit.topic for hit in recall(full, query, topic="garden", k=50)} == {"garden"}
    late = recall(full, query, since=THEN + 150, kinds="trace", k=50)
    assert late
    assert all((hit.ts or 0) >= THEN + 150 for hit in late)
    early = recall(full, query, until=THEN + 50, kinds="trace", k=50)
    assert early
    assert all((hit.ts or 0) <= THEN + 50 for hit in early)
    assert recall(full, query, agent="nobody", kinds="trace") == ()
    assert {hit.agent for hit in recall(full, query, agent="main", kinds="trace")} == {"main"}


# --- the budget ------------------------------------------------------------------------


@pytest.fixture
def with_a_long_text(full: Memory) -> Memory:
    text = "The q0z river has a ferry and a bridge. " + "It is long and slow. " * 80
    full.record(assistant=text, ts=THEN + 300)
    return full


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=few(20))
@given(
    budget=st.integers(1, 120),
    query=st.sampled_from(("copper kettle shelf", "river ferry", "lantern Paris home")),
)
def test_a_budget_is_never_exceeded_and_leaves_at_least_one(
    with_a_long_text: Memory, budget: int, query: str
) -> None:
    full = with_a_long_text
    hits = recall(full, query, budget=budget)
    assert hits
    assert words("\n\n".join(hit.text for hit in hits)) <= budget
    assert hits.tokens == words("\n\n".join(hit.text for hit in hits))
    assert [hit.tokens for hit in hits] == [words(hit.text) for hit in hits]
    whole = {hit.where: hit.text for hit in recall(full, query, k=200)}
    for hit in hits:
        assert hit.is_whole == (hit.text == whole[hit.where])


def test_an_estimate_is_kept_to_as_well(full: Memory) -> None:
    for budget in (5, 20, 80):
        question = Question("copper kettle shelf", budget=budget, weights=ANYTHING)
        hits = full.parts.recall(question, quick=True)
        assert hits
        assert estimate("\n\n".join(hit.text for hit in hits)) <= budget


# --- nothing ---------------------------------------------------------------------------


def test_an_empty_memory_answers_with_nothing_and_says_why(memory: Memory) -> None:
    found = memory.recall("violet lantern harbour")
    assert len(found) == 0
    assert found.best == 0.0
    assert found.why == "Nothing that is remembered has these words. Other words may find it."
    assert found.to_dict() == {"hits": [], "best": 0.0, "why": found.why, "tokens": 0}


def test_below_the_threshold_there_is_nothing_and_it_says_so(full: Memory) -> None:
    strict = full.parts.recall(Question("copper kettle shelf", weights=Ranking(abstain=1.1)))
    assert len(strict) == 0
    assert strict.best > 0.0
    assert strict.why.startswith("Nothing clearly bears on this")


def test_what_is_not_there_any_more_is_not_shown(full: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is believed of where things stand, never of what they say."""
    assert texts(full, "violet lantern harbour")
    monkeypatch.setattr("looseleaf.recall.hits.HitReader._read_trace", lambda self, found: None)
    monkeypatch.setattr(
        "looseleaf.recall.hits.HitReader._read_entry",
        lambda self, found: (_ for _ in ()).throw(Refused("gone")),
    )
    hits = recall(full, "violet lantern harbour", kinds=("trace", "entry"))
    assert len(hits) == 0
    assert hits.why == "What bears on this is not true, or not there, at the time asked for."


# --- times and speakers ------------------------------------------------------------------


def test_a_time_that_is_named_brings_what_is_of_that_time_first(memory: Memory) -> None:
    for days in (0, 60, 120):
        memory.record(user=f"We met the harbour master {days} and talked of the pier.", ts=THEN + days * DAY)
    now = THEN + 130 * DAY
    best = recall(memory, "What did the harbour master say two weeks ago?", now=now)[0]
    assert best.ts == THEN + 120 * DAY


def test_a_speaker_is_who_is_named_first_or_in_a_tag() -> None:
    def check(text: str, tags: tuple[str, ...], speaker: str) -> None:
        assert speaker_of(trace("user", text, tags=tags)) == speaker

    check_rows(
        check,
        [
            ("Ann: I sold the boat.", (), "ann"),
            ("Ann Lee: I sold the boat.", (), "ann lee"),
            ("I said: sold.", (), ""),
            ("Correction: it was sold.", (), ""),
            ("李雷: 船卖了。", (), "李雷"),
            ("http://x.example is down", (), ""),
            ("Ann:no space", (), ""),
            ("I sold the boat.", ("speaker:Bo Ek",), "bo ek"),
            ("Ann: I sold it.", ("x", "speaker: Bo "), "bo"),
            ("Ann: I sold it.", ("speaker:",), ""),
            ("", (), ""),
        ],
    )


def test_who_is_named_in_a_question_is_heard_first(memory: Memory) -> None:
    memory.record(user="Ann: I sold the green boat last week.", ts=THEN)
    memory.record(user="Bo: I sold the green boat last week, too.", ts=THEN + 1)
    assert hit_of(memory, "Which boat did Bo sell?", "trace").speaker == "bo"
    assert hit_of(memory, "Which boat did Ann's friends sell, Ann?", "trace").speaker == "ann"


# --- opening ---------------------------------------------------------------------------


def test_a_trace_opens_with_its_turn_also_of_another_agent(memory: Memory) -> None:
    memory.record(user="Where is the ferry?", ts=THEN)
    memory.record(assistant="The ferry is at the pier.", ts=THEN + 1)
    with open_memory(memory.path, agent="scout") as scout:
        scout.record(user="Where is the heron?", ts=THEN + 2)
        scout.record(assistant="The heron is on the roof.", ts=THEN + 3)
    ferry = memory.open(hit_of(memory, "ferry pier", "trace").where)
    assert "Where is the ferry?" in ferry.text
    assert "The ferry is at the pier." in ferry.text
    heron = memory.open(hit_of(memory, "heron roof", "trace").where)
    assert "The heron is on the roof." in heron.text
    assert "ferry" not in heron.text


def test_the_index_is_made_once_and_tells_how_far_it_is(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("looseleaf.recall.index_sync._AT_ONCE", 50)
    with memory.batch() as batch:
        for number in range(1200):
            batch.record(user=f"Parcel q{number}z waits.", ts=THEN + number)
    told: list[tuple[int, int]] = []
    memory.views.watch_index(lambda done, whole: told.append((done, whole)))
    assert "Parcel q1199z waits." in texts(memory, "parcel q1199z")
    assert len(told) >= 2
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert all(0 <= done <= whole for done, whole in told)
    told.clear()
    texts(memory, "parcel q3z")
    assert told == []


def test_any_number_of_sources_is_taken_a_part_at_a_time(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part goes on where the last one ended, whatever it is of."""
    monkeypatch.setattr("looseleaf.recall.index_sync._AT_ONCE", 5)
    for number in range(12):
        memory.distill(f"The q{number}z heron nests by the weir.", topic=f"birds{number % 3}")[0]
        text = f"# P{number}\n\nThe x{number}y ibis wades.\n"
        memory.pages.edit(f"facts/p{number}.md", text, reason="notes", author="person")
    parts = 0
    keep = memory.parts.recall.keep
    assert isinstance(keep, IndexKeeper)
    take = keep._take_batch

    def counted() -> bool:
        nonlocal parts
        parts += 1
        assert parts < 60, "it does not come to an end"
        return take()

    monkeypatch.setattr(keep, "_take_batch", counted)
    assert any("q11z heron" in text for text in texts(memory, "q11z heron weir"))
    assert any("x0y ibis" in text for text in texts(memory, "x0y ibis wades"))
    assert parts > 5
    before, parts = parts, 0
    Path(memory.path, "log", "journal.jsonl").write_bytes(_without_first(memory))
    with open_memory(memory.path) as other:
        keep = other.parts.recall.keep
        assert isinstance(keep, IndexKeeper)
        take = keep._take_batch
        monkeypatch.setattr(keep, "_take_batch", counted)
        assert any("q11z heron" in text for text in texts(other, "q11z heron weir"))
    assert 0 < parts <= before + 20


def _without_first(memory: Memory) -> bytes:
    """The journal, as if it had begun a record later: places in it are other ones now."""
    data = Path(memory.path, "log", "journal.jsonl").read_bytes()
    return data[data.index(b"\n") + 1 :]


def test_recall_is_brought_up_to_date_by_itself_when_asked_to(full: Memory) -> None:
    assert isinstance(full.parts.recall, Recall)
    full.parts.recall.up_to_date()
    [(index, hidden)] = full.parts.recall.keep.indexes()
    assert full.parts.recall.sources.is_complete(index)
    assert hidden == ()


def test_one_wrong_clock_does_not_make_everything_else_look_old(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = WrongClock(monkeypatch)

    def fresh(name: str, off: float) -> float:
        """How much of the strength of what was said just now is its freshness."""
        with open_memory(place / name) as memory:
            clock.set(off)
            memory.record(user="The boiler was repaired by Anton.")
        with open_memory(place / name) as memory:
            clock.set(0)
            memory.record(user="The boiler broke down again.")
            [hit] = [each for each in memory.recall("the boiler", k=9) if "again" in each.text]
            return float(hit.parts.get("recency", 0.0))

    assert fresh("wrong", 26_000) == pytest.approx(fresh("right", 0), rel=0.01) != 0.0


def test_a_word_of_time_is_found_where_nothing_is_of_that_time(memory: Memory) -> None:
    memory.record(user="MAÑANA")
    assert texts(memory, "mañana") == ["MAÑANA"]
    assert texts(memory, "tomorrow") == []


def test_a_question_about_an_empty_day_is_not_answered_by_a_mention_of_that_day(memory: Memory) -> None:
    memory.record(user="I wrote to Ana yesterday.")
    assert texts(memory, "What did we talk about yesterday?") == []
