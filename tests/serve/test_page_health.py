"""The screen Health: the last check with its age, problems on their lines, and what is to be looked at now."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from compacted_story import looking_at
from looseleaf import Memory
from looseleaf.serve.web.screens import health
from paging import Person, make_held

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Server


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Person]]:
    with looking_at(tmp_path_factory) as found:
        make_held(found[0].root / "held")
        yield found


def test_a_check_is_a_job_whose_result_stays_with_its_age(visit: tuple[Server, Person]) -> None:
    server, person = visit
    first = person.get("/health")
    assert "Never checked." in first.words
    begun = person.send(first, "/health/check")
    assert "Everything is being read and hashed again." in begun.words
    job = server.serving.jobs.of("mira")[0]
    assert server.serving.jobs.wait(job.id, 60).state == "done"
    done = person.get("/health")
    assert "0 problems" in done.words
    assert "ago" in done.words
    assert done.problems == []


def test_two_posts_are_one_check(visit: tuple[Server, Person]) -> None:
    server, person = visit
    form = person.get("/health").form("/health/check")
    before = len(server.serving.jobs.of("mira"))
    for _ in range(2):
        answer = person.post(form.action, **form.fields)
        assert answer.status == 200
    jobs = server.serving.jobs.of("mira")
    assert len(jobs) <= before + 2
    assert sum(job.is_live for job in jobs) <= 1
    for job in jobs:
        server.serving.jobs.wait(job.id, 60)


def test_a_problem_leads_to_its_line(visit: tuple[Server, Person]) -> None:
    server = visit[0]
    with Person(server, "held") as person:
        person.send(person.get("/health"), "/health/check")
        server.serving.jobs.wait(server.serving.jobs.of("held")[0].id, 60)
        shown = person.get("/health")
        assert "facts/work.md:3" in shown.words
        link = next(each for each in shown.links if "/pages/facts/work.md/who#L3" in each)
        assert person.get(link.removeprefix(person.home).partition("#")[0]).status == 200
        assert shown.words.index("problem facts/") < len(shown.words)


def test_what_a_person_should_look_at_is_named(visit: tuple[Server, Person]) -> None:
    with Person(visit[0], "held") as person:
        shown = person.get("/health")
    assert "facts/work.md has conflict markers, from line 3" in shown.words
    assert "nobody knows who wrote 2 lines" in shown.words
    assert f"{person.home}/review" in shown.links
    assert "Held until you decide" in shown.words


def test_the_folder_is_looked_at(visit: tuple[Server, Person]) -> None:
    server, person = visit
    words = person.get("/health").words
    assert "only you may enter the folder" in words
    assert "only this one writes here" in words
    assert "GB are free" in words
    os.chmod(server.root / "mira", 0o755)
    assert "other users may read the folder" in person.get("/health").words
    os.chmod(server.root / "mira", 0o700)


def test_a_full_disk_and_two_values_and_another_machine_are_seen(
    visit: tuple[Server, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, person = visit
    monkeypatch.setattr(health, "_SCARCE", 1 << 62)
    with Memory(server.root / "mira") as memory:
        page = memory.pages.read("USER.md").text
        doubled = page.replace(
            "- Home: Lisbon\n", "- Home: Lisbon [desk, 2025-09-01]\n- Home: Porto [here, 2025-09-02]\n"
        )
        memory.pages.edit("USER.md", doubled, reason="two", author="person")
    desk = server.root / "mira/log/on/desk"
    desk.mkdir(parents=True)
    record = (server.root / "mira/log/journal.jsonl").read_text().splitlines()[0]
    (desk / "journal.jsonl").write_text(f"{record}\n")
    words = person.get("/health").words
    assert "Make room before the disk is full." in words
    assert "desk" in words


def test_the_index_is_built_again_by_a_job(visit: tuple[Server, Person]) -> None:
    server, person = visit
    shown = person.get("/health")
    assert "the first search builds it" in shown.words
    person.send(shown, "/health/index")
    job = next(job for job in server.serving.jobs.of("mira") if job.kind == "index")
    assert server.serving.jobs.wait(job.id, 60).state == "done"
    assert "index ok up to date" in person.get("/health").words.replace("indexok", "index ok")
    view = next((server.root / "mira/views").glob("*.sqlite"))
    view.write_bytes(b"not a database, and long enough to be read as one" * 100)
    assert "index" in person.get("/health").words


def test_a_screen_under_way_loads_itself_again_and_a_lost_check_is_said(visit: tuple[Server, Person]) -> None:
    server, person = visit
    job = server.serving.jobs.start("mira", "check", {})
    answer = person.http.get(f"{person.home}/health")
    assert ("refresh" in answer.headers) == ("loads" in answer.text or "<progress" in answer.text)
    server.serving.jobs.wait(job.id, 60)
    job.state, job.error = "lost", "Its process ended."
    words = person.get("/health").words
    assert "The last one did not finish: Its process ended." in words
    job.state, job.error, job.result = "done", "", None
    assert "What it found is not kept." in person.get("/health").words
    note: dict[str, object] = {"path": "log/x", "line": None, "message": "m", "severity": "note"}
    found = [note] * (health.SHOWN + 2)
    found.append({"path": "USER.md", "line": 2, "message": "n", "severity": "error"})
    job.result = {"errors": 1, "notes": health.SHOWN + 2, "problems": found}
    words = person.get("/health").words
    assert "1 problem, 202 notes" in words
    assert words.index("USER.md:2") < words.index("log/x")
    assert "And 3 more" in words


@pytest.mark.parametrize(("path", "fields"), [("/health/check", {}), ("/health/check", {"token": "x"})])
def test_a_form_without_its_token_begins_nothing(
    visit: tuple[Server, Person], path: str, fields: dict[str, str]
) -> None:
    server, person = visit
    before = len(server.serving.jobs.of("mira"))
    refused = person.post(person.home + path, **fields)
    assert refused.status == 422
    assert "the form is from an earlier visit" in refused.words
    assert len(server.serving.jobs.of("mira")) == before


def test_other_work_is_not_begun_here(visit: tuple[Server, Person]) -> None:
    person = visit[1]
    token = person.get("/health").form("/health/check").fields["token"]
    refused = person.post(f"{person.home}/health/forget", token=token)
    assert "there is no such work here" in refused.words
