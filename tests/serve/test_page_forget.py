"""The screen Forget: choose, preview, type the word, watch, and read the proof; the words are in no address or file."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from compacted_story import looking_at
from looseleaf import Memory
from looseleaf.cli.main import main
from looseleaf.serve.jobs import DIED, FORGOTTEN
from looseleaf.serve.web.screens import forget
from paging import Person, Screen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import Server


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Person]]:
    with looking_at(tmp_path_factory) as found:
        with Memory(found[0].root / "mira", session="teas") as memory:
            memory.record(user="Once I bought lapsang at the market.")
        with Memory(found[0].root / "other", session="o") as memory:
            memory.record(user="Nothing here.")
        yield found


@pytest.fixture(scope="module")
def person(visit: tuple[Server, Person]) -> Person:
    return visit[1]


def job_of(shown: Screen) -> str:
    return shown.url.partition("?")[0].rpartition("/")[2]


def preview(visit: tuple[Server, Person], what: str, by: str = "match") -> Screen:
    """Ask what would go, and wait until that is known."""
    server, person = visit
    shown = person.send(person.get("/forget"), "/forget", by=by, what=what)
    if job_of(shown) == "forget":
        return shown
    server.serving.jobs.wait(job_of(shown), 60)
    return person.get(f"/forget/{job_of(shown)}")


def really(visit: tuple[Server, Person], shown: Screen, word: str = "forget") -> Screen:
    """Type the word, and wait until it is done."""
    server, person = visit
    begun = person.send(shown, job_of(shown), really=word)
    if begun.status != 200:
        return begun
    server.serving.jobs.wait(job_of(begun), 60)
    return Screen(person.http.get(begun.url))


class Told:
    """A forget from its preview to its proof, and what was tried on the way."""

    def __init__(self, visit: tuple[Server, Person], export: Path) -> None:
        path = visit[0].root / "mira"
        with Memory(path) as memory:
            role = next(fact for fact in memory.facts() if fact.object == "data engineer")
        self.export = export
        assert main(["--memory", str(path), "export", str(export)]) == 0
        self.along = preview(visit, role.id or "", "fact")
        self.stale = preview(visit, "lapsang")
        self.preview = preview(visit, "Northwind")
        self.refused = [really(visit, self.preview, word) for word in ("", "yes", "forgive")]
        with ThreadPoolExecutor(2) as threads:  # a double click
            self.done, self.also = threads.map(lambda _: really(visit, self.preview, " FORGET "), range(2))
        self.twice = really(visit, self.preview)
        self.late = really(visit, self.stale)
        self.again = preview(visit, "Northwind")


@pytest.fixture(scope="module")
def told(visit: tuple[Server, Person], tmp_path_factory: pytest.TempPathFactory) -> Told:
    return Told(visit, tmp_path_factory.mktemp("export") / "mira.tar")


def test_a_preview_counts_and_shows_what_would_go(told: Told) -> None:
    words = told.preview.words
    assert "What would go Words: Northwind" in words
    assert "I live in Lyon and I work as a data engineer at Northwind." in words
    assert re.search(r"1 message or tool call .* 1 entry .* 3 facts .* prompt in the log", words)
    assert "Backups, git and what a provider was sent are not reached." in words
    assert "Northwind" not in told.preview.url
    assert told.preview.problems == []


def test_what_goes_along_is_named_with_its_reason(told: Told) -> None:
    assert "The fact: Role: data engineer" in told.along.words
    assert "f_" not in told.along.words
    assert re.search(r"goes with it .* the same sentence said it", told.along.words)


def test_only_the_word_forgets(told: Told) -> None:
    for refused in told.refused:
        assert refused.status == 422
        assert "Nothing was forgotten: type the word forget" in refused.words
        assert "data engineer at Northwind" in refused.words


def test_the_proof_says_what_was_read_and_what_was_not_reached(told: Told) -> None:
    words = told.done.words
    assert re.search(r"Every byte was read \([\d,]+ files, [\d,]+ bytes\): 0 hits", words)
    assert "Receipt: " in words
    assert "What a model’s provider was sent before." in words
    assert f"may still hold it: {told.export}" in words
    assert "Northwind" not in told.done.html
    assert told.done.problems == []


def test_the_words_are_gone_from_every_file_and_screen(visit: tuple[Server, Person], told: Told) -> None:
    server, person = visit
    assert told.done.status == 200
    for path in (*server.root.rglob("*"), *server.root.parent.glob("access/**/*")):
        assert not path.is_file() or b"Northwind" not in path.read_bytes(), path
    for screen in ("/talk/session/heron-february", "/memory", "/pages/USER.md/history", "/settings"):
        assert "Northwind" not in person.get(screen).html


def test_yes_twice_is_one_forget(visit: tuple[Server, Person], told: Told) -> None:
    assert "this preview has ended" in told.twice.words
    done = [job for job in visit[0].serving.jobs.of("mira") if job.kind == "forget" and not job.is_dry]
    assert [job.id for job in done] == [job_of(told.done)] == [job_of(told.also)]


def test_a_preview_from_before_another_forget_is_not_carried_out(
    visit: tuple[Server, Person], told: Told
) -> None:
    assert told.late.status == 422
    assert "this preview has ended" in told.late.words
    assert "This preview has ended: something has been forgotten since." in told.late.words
    with Memory(visit[0].root / "mira") as memory:
        assert any("lapsang" in trace.content for trace in memory.talk.tail(20))


def test_what_was_forgotten_before_is_said(told: Told) -> None:
    assert "Nothing is left of this: it was forgotten before." in told.again.words
    assert "0 hits" in told.again.words


def test_nothing_to_forget_is_said_with_what_was_typed(visit: tuple[Server, Person]) -> None:
    refused = preview(visit, "unheard-of words")
    assert refused.status == 422
    assert "Nothing was forgotten: this memory holds nothing of the match" in refused.words
    assert refused.form("/forget").fields["what"] == "unheard-of words"


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"what": ""}, "say what is to be forgotten"),
        ({"by": "magic", "what": "tea"}, "say whether these are words"),
        ({"what": "tea", "token": "wrong"}, "the form is from an earlier visit"),
        ({"what": "x" * 100_000}, "holds nothing"),
    ],
)
def test_a_form_that_says_nothing_is_shown_as_it_was_filled_in(
    visit: tuple[Server, Person], typed: dict[str, str], sentence: str
) -> None:
    person = visit[1]
    refused = person.send(person.get("/forget"), "/forget", **typed)
    assert refused.status == 422
    assert sentence in refused.words
    assert refused.form("/forget").fields["what"] == typed["what"]


def test_a_fact_is_asked_about_in_its_own_words_and_other_ways_are_folded(
    visit: tuple[Server, Person],
) -> None:
    server, person = visit
    with Memory(server.root / "mira") as memory:
        fact = next(each for each in memory.facts() if each.object == "Lisbon")
    asked = person.get("/forget", fact=fact.id or "")
    assert "Forget this, and the words that said it? Home: Lisbon" in asked.words
    first, second = [each for each in asked.forms if each.action.endswith("/forget")]
    assert (first.fields["by"], first.fields["what"]) == ("fact", fact.id)
    assert asked.words.index("Show what would go") < asked.words.index("Another way")
    assert second.fields["by"] == "fact"
    assert asked.problems == []
    unknown = person.get("/forget", fact="f_nowhere")
    assert "Another way" not in unknown.words
    assert unknown.form("/forget").fields["what"] == "f_nowhere"


def test_a_line_that_is_only_written_again_does_not_look_removed() -> None:
    line = "- 10:42 My headteacher is called Rui. (3 facts; entry 01M7HZ6YZ20J9E86SKJ8EWKGD3)"
    told = {"first": {"traces": ["My favourite tea is rooibos."]}, "counts": {"traces": 1}}
    assert forget.is_kept(line, told)
    assert not forget.is_kept(
        line, {"first": {"traces": ["My headteacher is called Rui."]}, "counts": {"traces": 1}}
    )
    assert not forget.is_kept(line, {**told, "counts": {"traces": 9}})  # not all that goes is known
    assert not forget.is_kept("- Partner: Jonas", told)


def test_other_screens_name_what_is_to_be_forgotten(person: Person) -> None:
    fields = person.get("/forget", session="heron-may").form("/forget").fields
    assert (fields["by"], fields["what"]) == ("session", "heron-may")
    assert person.get("/forget").form("/forget").fields["by"] == "match"


def test_a_screen_under_way_loads_itself_again_and_says_what_came_of_it(
    visit: tuple[Server, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, person = visit
    monkeypatch.setattr(forget, "PATIENCE", 0.0)
    job = job_of(person.send(person.get("/forget"), "/forget", by="match", what="unheard-of again"))
    answer = person.http.get(f"{person.home}/forget/{job}")
    assert answer.headers["refresh"] == forget.REFRESH
    assert "You may leave it: the work goes on." in Screen(answer).words
    early = person.post(f"{person.home}/forget/{job}", token=token_of(person), really="forget")
    assert "Nothing was forgotten: " in early.words
    server.serving.jobs.wait(job, 60)
    answer = person.http.get(f"{person.home}/forget/{job}")
    assert "refresh" not in answer.headers
    assert "It was not done." in answer.text
    assert "this memory holds nothing" in answer.text


def token_of(person: Person) -> str:
    return person.get("/forget").form("/forget").fields["token"]


def test_another_memorys_preview_is_not_here(visit: tuple[Server, Person], told: Told) -> None:
    job = job_of(told.stale)
    with Person(visit[0], "other") as other:
        assert other.get(f"/forget/{job}").status == 404
        refused = other.post(f"{other.home}/forget/{job}", token=token_of(other), really="forget")
        assert refused.status == 404
    assert "There is no such job here." in refused.words
    assert visit[1].get("/forget/nonsense").status == 404


def test_a_forget_that_was_lost_or_is_incomplete_says_so(visit: tuple[Server, Person], told: Told) -> None:
    """What a result may also say, shown from a job as a server finds it after a restart."""
    server, person = visit
    job = server.serving.jobs.get(job_of(told.done))
    before, state = dict(job.result or {}), job.state
    left = {"hits": ["log/x"], "theirs": ["notes.txt"], "machines": ["desk"], "elsewhere": [], "left": 1}
    job.result = {
        **before,
        "is_complete": False,
        "mentions": 2,
        "names": 1,
        "unwritten": 1,
        "unheard": ["lap"],
        "layers": [{**before, "layer": "home"}],
        "probe": {**before["probe"], **left},
    }
    words = person.get(f"/forget/{job.id}").words
    for part in (
        "Forgotten, but not everywhere",
        "1 hit",
        "log/x",
        "notes.txt",
        "in the logs of desk",
        "in the logs of lap",
        "1 memory under this one could not be written",
        "named in 2 other places, which stay",
        "1 name with these words stays",
        "In the memory home, under this one",
    ):
        assert part in words
    job.result, job.state, job.error = None, "lost", DIED
    assert "Nobody knows whether it was done." in person.get(f"/forget/{job.id}").words
    job.state, job.error = "refused", FORGOTTEN
    assert "Preview it again to see why." in person.get(f"/forget/{job.id}").words
    job.result, job.state, job.error = before, state, ""
