"""The screen Pages: read, edit, history, whose each line is; what two people and an agent write is all there."""

from __future__ import annotations

import asyncio
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compacted_story import looking_at
from looseleaf import Memory
from looseleaf.serve.web.screens import pages
from looseleaf.serve.web.together import together
from paging import SCRIPT, UNSEEN, Person, Screen, make_hostile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Server

EDIT = "/pages/facts/tea.md/edit"
TEA = "# Tea\n\n- Black: assam\n- Green: sencha\n- White: none\n"


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Person]]:
    with looking_at(tmp_path_factory) as found:
        make_hostile(found[0].root / "hostile")
        yield found


@pytest.fixture
def person(visit: tuple[Server, Person]) -> Person:
    """A person who finds a page about tea."""
    with Memory(visit[0].root / "mira") as memory:
        memory.pages.edit("facts/tea.md", TEA, reason="about tea", author="person")
    return visit[1]


def ended_by(line: str, text: str) -> str:
    return text + line


def text_of(server: Server, path: str = "facts/tea.md", name: str = "mira") -> str:
    with Memory(server.root / name) as memory:
        return memory.pages.read(path).text


# --- reading -----------------------------------------------------------------------------


def test_pages_are_listed_by_what_they_are_for(person: Person) -> None:
    shown = person.get("/pages")
    for part in ("Read whole in every prompt", "Facts, by topic", "What was done", "Days"):
        assert part in shown.words
    assert f"{person.home}/pages/facts/tea.md" in shown.links
    assert "project database, deadline" in shown.words


def test_a_page_is_read_as_markdown_below_the_screens_heading(person: Person) -> None:
    shown = person.get("/pages/facts/tea.md")
    assert shown.headings[:2] == [1, 2]
    assert "<li>Black: assam</li>" in shown.html


def test_a_page_is_made_readable_beside_all_other_requests(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(text: str) -> str:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return "made elsewhere"

    monkeypatch.setattr(pages, "prose", made)
    assert "made elsewhere" in person.get("/pages/facts/tea.md").words


def test_a_page_is_read_as_of_a_day(person: Person) -> None:
    shown = person.get("/pages/USER.md", as_of="2025-03-01")
    assert "Home: Lyon" in shown.words
    assert "This is the page as it was on 1 March 2025." in shown.words
    assert "Home: Lisbon" in person.get("/pages/USER.md").words
    assert "No page had this name on that day." in person.get("/pages/USER.md", as_of="2001-01-01").words
    wrong = person.get("/pages/USER.md", as_of="some day")
    assert wrong.status == 422
    assert "some day" in wrong.words
    assert wrong.form("/pages/USER.md").fields["as_of"] == "some day"


def test_a_page_that_is_not_there_can_be_made(visit: tuple[Server, Person], person: Person) -> None:
    missing = person.get("/pages/facts/cheese.md")
    assert missing.status == 404
    assert "No page has this name." in missing.words
    form = person.send(person.get("/pages"), "/pages", path="Cheese")
    assert "facts/cheese.md" in form.url
    saved = person.send(form, "/edit", text="# Cheese\n\n- Best: comté")
    assert "facts/cheese.md was saved: 3 lines added." in saved.words
    assert text_of(visit[0], "facts/cheese.md") == "# Cheese\n\n- Best: comté\n"
    gone = person.send(saved, "/undo")
    assert "Undone in facts/cheese.md" in gone.words
    assert person.get("/pages/facts/cheese.md").status == 404


@pytest.mark.parametrize("path", ["", "../../etc/passwd.md", "facts/a/b.md", "x" * 390 + ".md", "con.md"])
def test_a_wrong_path_is_refused_with_what_was_typed(person: Person, path: str) -> None:
    refused = person.send(person.get("/pages"), "/pages", path=path)
    assert refused.status == 422
    assert refused.form("/pages").fields["path"] == path
    assert any(given.get("role") == "alert" for _, given in refused.tags)


def test_a_new_page_posted_without_its_token_is_asked_for_again(person: Person) -> None:
    refused = person.post(f"{person.home}/pages", path="cheese", token="x")
    assert refused.status == 422
    assert refused.form("/pages").fields["path"] == "cheese"


def test_soul_is_a_persons_to_write(visit: tuple[Server, Person], person: Person) -> None:
    saved = person.send(person.get("/pages/SOUL.md/edit"), "/edit", text="Be brief.", reason="as I like it")
    assert "SOUL.md was saved" in saved.words
    history = person.get("/pages/SOUL.md/history").words
    assert "as I like it" in history
    assert "person" in history
    removed = person.send(person.get("/pages/SOUL.md"), "/delete")
    assert "SOUL.md was removed." in removed.words
    back = person.send(removed, "/undo")
    assert "Be brief." in back.words
    assert text_of(visit[0], "SOUL.md") == "Be brief.\n"


# --- saving ------------------------------------------------------------------------------


def test_a_change_is_saved_with_its_undo(visit: tuple[Server, Person], person: Person) -> None:
    form = person.get(EDIT)
    saved = person.send(form, "/edit", text=TEA.replace("assam", "ceylon"))
    assert "facts/tea.md was saved: 1 line added, 1 line removed." in saved.words
    assert text_of(visit[0]) == TEA.replace("assam", "ceylon")
    person.send(saved, "/undo")
    assert text_of(visit[0]) == TEA
    again = person.send(saved, "/undo")
    assert again.status == 409
    assert "Nothing was undone: this edit of facts/tea.md is undone already" in again.words


def test_the_same_form_twice_is_one_edit(visit: tuple[Server, Person], person: Person) -> None:
    form = person.get(EDIT)
    for _ in range(2):
        saved = person.send(form, "/edit", text=f"{TEA}- Red: rooibos\n")
        assert saved.status == 200
    assert "facts/tea.md says this already." in saved.words
    with Memory(visit[0].root / "mira") as memory:
        edits = [each for each in memory.history.edits("facts/tea.md") if each.reason == "edited on the page"]
        assert sum("rooibos" in "".join(hunk.added) for hunk in edits[0].hunks) == 1
        assert not any("rooibos" in "".join(hunk.added) for edit in edits[1:] for hunk in edit.hunks)


def test_changes_of_different_lines_are_saved_together(visit: tuple[Server, Person], person: Person) -> None:
    form = person.get(EDIT)
    with Memory(visit[0].root / "mira") as memory:
        memory.pages.edit("facts/tea.md", TEA.replace("sencha", "gyokuro"), reason="better")
    late = person.send(form, "/edit", text=TEA.replace("assam", "ceylon"), reason="mine")
    assert late.status == 412
    assert "Changed since you began (agent main, " in late.words
    assert "Yours is not saved." in late.words
    assert "nothing of either is lost" in late.words
    both = late.form("/edit")
    assert both.fields["reason"] == "mine"
    assert both.fields["text"] == TEA.replace("sencha", "gyokuro").replace("assam", "ceylon")
    person.post(both.action, **both.fields)
    assert text_of(visit[0]) == both.fields["text"]


def test_changes_of_the_same_line_are_a_persons_choice(visit: tuple[Server, Person], person: Person) -> None:
    form = person.get(EDIT)
    with Memory(visit[0].root / "mira") as memory:
        memory.pages.edit("facts/tea.md", TEA.replace("assam", "darjeeling"), reason="better")
    late = person.send(form, "/edit", text=TEA.replace("assam", "ceylon"))
    assert "You both changed the same lines." in late.words
    together, mine = (each for each in late.forms if each.action.endswith("/edit"))
    assert "- Black: darjeeling\n- Black: ceylon\n" in together.fields["text"]
    assert mine.fields["text"] == TEA.replace("assam", "ceylon")
    assert f"{person.home}/pages/facts/tea.md" in late.links
    person.post(mine.action, **mine.fields)
    assert text_of(visit[0]) == TEA.replace("assam", "ceylon")


def test_a_page_that_was_removed_meanwhile_can_be_saved_again(
    visit: tuple[Server, Person], person: Person
) -> None:
    form = person.get(EDIT)
    with Memory(visit[0].root / "mira") as memory:
        memory.pages.delete("facts/tea.md", reason="no tea", author="person")
    late = person.send(form, "/edit", text=f"{TEA}- Red: rooibos\n")
    assert "The page has been removed since you began" in late.words
    mine = late.form("/edit")
    person.post(mine.action, **mine.fields)
    assert text_of(visit[0]) == f"{TEA}- Red: rooibos\n"


def test_a_form_whose_beginning_nobody_knows_shows_both(visit: tuple[Server, Person], person: Person) -> None:
    late = person.send(person.get(EDIT), "/edit", text="# Tea\n\n- Mine: yes\n", base="0" * 64)
    assert late.status == 412
    assert "- Green: sencha" in late.words
    assert late.form("/edit").fields["text"] == "# Tea\n\n- Mine: yes\n"
    assert "Both together" not in late.words


@pytest.mark.parametrize(
    ("typed", "status", "sentence"),
    [
        ({"text": ""}, 422, "the text is empty"),
        ({"text": " \n"}, 422, "the text is empty"),
        ({"text": "x" * (1 << 20)}, 422, "a page has at most"),
        ({"base": "nonsense"}, 422, "the form is incomplete"),
        ({"token": "wrong"}, 422, "the form is from an earlier visit"),
    ],
)
def test_a_form_that_cannot_be_saved_is_shown_as_it_was_filled_in(
    visit: tuple[Server, Person], person: Person, typed: dict[str, str], status: int, sentence: str
) -> None:
    given = {"text": f"{TEA}- Mine: this\n", "reason": "my reason", **typed}
    refused = person.send(person.get(EDIT), "/edit", **given)
    assert refused.status == status
    assert sentence in refused.words
    again = refused.form("/edit")
    assert again.fields["text"].strip() == given["text"].strip()
    assert again.fields["reason"] == "my reason"
    assert again.fields["token"] != "wrong"
    assert text_of(visit[0]) == TEA


def test_a_form_without_its_text_saves_nothing(visit: tuple[Server, Person], person: Person) -> None:
    form = person.get(EDIT).form("/edit")
    refused = person.post(form.action, token=form.fields["token"], base=form.fields["base"])
    assert "the form is incomplete" in refused.words
    assert text_of(visit[0]) == TEA


def test_a_form_too_large_for_the_server_is_refused(person: Person) -> None:
    form = person.get(EDIT).form("/edit")
    assert person.post(form.action, **{**form.fields, "text": "x" * (5 << 20)}).status == 413


def test_another_memorys_form_saves_nothing(visit: tuple[Server, Person], person: Person) -> None:
    form = person.get(EDIT).form("/edit")
    with Person(visit[0], "hostile") as other:
        late = other.post(f"{other.home}{EDIT}", **{**form.fields, "token": token_of(other)})
        assert late.status == 412
        assert "Yours is not saved." in late.words
        with Memory(visit[0].root / "mira") as memory:
            edit = next(memory.history.edits("facts/tea.md")).id
        missing = other.get(f"/pages/facts/evil.md/history/{edit}")
        assert missing.status == 404
        assert "facts/evil.md has no edit" in missing.words


def token_of(person: Person) -> str:
    return person.get("/pages").form("/pages").fields["token"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"# Tea\n\n- Black: caf\xe9\n", "it is not UTF-8 text"),
        (b"# Tea\r\n\n- Black: assam\n", "line ends or characters that a form cannot carry"),
        (b"# Tea\n\0\n", "line ends or characters that a form cannot carry"),
    ],
)
def test_what_a_form_would_change_is_not_edited_in_one(
    visit: tuple[Server, Person], person: Person, data: bytes, sentence: str
) -> None:
    form = person.get(EDIT)
    (visit[0].root / "mira/facts/odd.md").write_bytes(data)
    refused = person.get("/pages/facts/odd.md/edit")
    assert sentence in refused.words or "was not" in refused.words
    late = person.post(
        f"{person.home}/pages/facts/odd.md/edit", **{**form.form("/edit").fields, "text": "Mine.\n"}
    )
    assert late.status >= 400
    assert (visit[0].root / "mira/facts/odd.md").read_bytes() == data
    (visit[0].root / "mira/facts/odd.md").unlink()


def test_lines_keep_their_ends(visit: tuple[Server, Person], person: Person) -> None:
    path = visit[0].root / "mira/facts/dos.md"
    path.write_bytes(b"# Dos\r\n\r\n- One: 1\r\n")
    form = person.get("/pages/facts/dos.md/edit")
    person.send(form, "/edit", text="# Dos\r\n\r\n- One: 2")
    assert path.read_bytes() == b"# Dos\r\n\r\n- One: 2\r\n"


def test_two_people_and_an_agent_lose_nothing(visit: tuple[Server, Person], person: Person) -> None:
    server, rounds = visit[0], 4
    begin = threading.Barrier(3)

    def save_until_it_is_there(name: str) -> None:
        with Person(server, "mira") as someone:
            begin.wait()
            for number in range(rounds):
                line = f"- {name} {number}: said\n"
                form = someone.get(EDIT).form("/edit")
                answer = someone.post(form.action, **{**form.fields, "text": form.fields["text"] + line})
                while answer.status == 412:
                    late = answer.form("/edit")
                    assert line in late.fields["text"]
                    answer = someone.post(late.action, **late.fields)
                assert answer.status == 200

    def write_as_an_agent() -> None:
        with Memory(server.root / "mira", agent="codex") as memory:
            begin.wait()
            for number in range(rounds):
                line = f"- Agent {number}: wrote\n"
                memory.pages.edit("facts/tea.md", partial(ended_by, line), reason="noted")

    with ThreadPoolExecutor(3) as threads:
        saving = [threads.submit(save_until_it_is_there, name) for name in ("Ann", "Bob")]
        saving.append(threads.submit(write_as_an_agent))
        for each in saving:
            each.result()
    text = text_of(server)
    for name, does in (("Ann", "said"), ("Bob", "said"), ("Agent", "wrote")):
        assert [text.count(f"- {name} {number}: {does}\n") for number in range(rounds)] == [1] * rounds
    assert text.startswith(TEA)


# --- history, and whose it is ------------------------------------------------------------


def test_the_history_leads_to_each_edit_and_back(visit: tuple[Server, Person], person: Person) -> None:
    person.send(person.get(EDIT), "/edit", text=TEA.replace("none", "silver"), reason="found one")
    history = person.get("/pages/facts/tea.md/history")
    assert "found one" in history.words
    older = next(
        each
        for each in history.links
        if "/history/" in each and person.get(each.removeprefix(person.home)).words.count("about tea")
    )
    newest = next(each for each in history.links if "/history/" in each)
    shown = person.get(newest.removeprefix(person.home))
    assert "-- White: none+- White: silver" in shown.words
    assert "The page says this now." in shown.words
    restored = person.send(person.get(older.removeprefix(person.home)), older)
    assert restored.status == 200
    assert text_of(visit[0]) == TEA


def test_a_version_is_not_brought_back_over_a_newer_one(person: Person) -> None:
    first = next(each for each in person.get("/pages/facts/tea.md/history").links if "/history/" in each)
    person.send(person.get(EDIT), "/edit", text=f"{TEA}- One: 1\n")
    form = person.get(first.removeprefix(person.home))
    person.send(person.get(EDIT), "/edit", text=f"{TEA}- Two: 2\n")
    refused = person.send(form, first)
    assert refused.status == 412
    assert "it is no longer what you read" in refused.words


def test_what_an_edit_removed_is_not_brought_back_by_it(visit: tuple[Server, Person], person: Person) -> None:
    person.send(person.get("/pages/facts/tea.md"), "/delete")
    with Memory(visit[0].root / "mira") as memory:
        edit = next(memory.history.edits("facts/tea.md")).id
    shown = person.get(f"/pages/facts/tea.md/history/{edit}")
    assert shown.status == 200
    refused = person.post(f"{person.home}/pages/facts/tea.md/history/{edit}", token=token_of(person))
    assert "this edit removed it" in refused.words
    assert person.get("/pages/facts/tea.md/who").status == 404


def test_a_page_is_not_removed_by_half_a_form_or_a_stale_one(
    visit: tuple[Server, Person], person: Person
) -> None:
    form = person.get("/pages/facts/tea.md")
    half = person.post(f"{person.home}/pages/facts/tea.md/delete", token=token_of(person))
    assert half.status == 422
    person.send(person.get(EDIT), "/edit", text=f"{TEA}- One: 1\n")
    assert person.send(form, "/delete").status == 412
    assert text_of(visit[0]) == f"{TEA}- One: 1\n"


def test_a_long_history_is_shown_in_parts(visit: tuple[Server, Person], person: Person) -> None:
    with Memory(visit[0].root / "mira") as memory:
        for number in range(60):
            memory.pages.edit("facts/many.md", f"# Many\n\n- Now: {number}\n", reason=f"edit {number}")
    first = person.get("/pages/facts/many.md/history")
    older = next(each for each in first.links if "before=" in each)
    second = person.get(older.removeprefix(person.home))
    numbers = [int(each) for each in re.findall(r"edit (\d+)", first.words.split("edit 59", 2)[2])]
    assert "edit 10" in first.words
    assert numbers[0] == 58
    assert "edit 9" in second.words
    assert "edit 10 " not in second.words


def test_whose_each_line_is_can_be_read(visit: tuple[Server, Person], person: Person) -> None:
    with Memory(visit[0].root / "mira") as memory:
        memory.pages.edit("facts/tea.md", f"{TEA}- Iced: never\n", reason="asked")
    shown = person.get("/pages/facts/tea.md/who")
    assert [given["id"] for tag, given in shown.tags if tag == "li" and given.get("id", "")[:1] == "L"] == [
        f"L{number}" for number in range(1, 7)
    ]
    assert "✓ confirmed" in shown.words
    assert "agent main" in shown.words
    assert shown.problems == []


def test_a_hostile_page_is_shown_and_runs_nothing(visit: tuple[Server, Person]) -> None:
    with Person(visit[0], "hostile") as person:
        for face in ("", "/who", "/edit", "/history"):
            shown = person.get(f"/pages/facts/evil.md{face}")
            assert shown.problems == []
            assert SCRIPT in shown.words
            assert not [each for each in shown.links if each.lower().startswith("javascript")]
            assert not [given for tag, given in shown.tags if tag == "script" and not given.get("src")]
        assert "<U+202E>" in person.get("/pages/facts/evil.md").words
        assert (
            "There are characters here that nobody can see" in person.get("/pages/facts/evil.md/edit").words
        )
        assert "<U+202E>" in person.get("/pages/USER.md/history").words


def test_what_is_typed_comes_back_as_it_was_typed(person: Person) -> None:
    typed = f"\n# {SCRIPT} </textarea>\n\n- {UNSEEN}\n&amp; &lt;"
    refused: Screen = person.send(person.get(EDIT), "/edit", text=typed, token="x")
    assert refused.form("/edit").fields["text"] == typed


# --- both together -----------------------------------------------------------------------

_LINES = st.lists(st.sampled_from([f"{each}\n" for each in "abcdefgh"]), max_size=8)


@given(_LINES, _LINES, _LINES)
def test_nothing_that_either_wrote_is_lost(base: list[str], theirs: list[str], yours: list[str]) -> None:
    both, _ = together("".join(base), "".join(theirs), "".join(yours))
    lines = both.splitlines(keepends=True)
    for line in set(theirs + yours):
        least = min(theirs.count(line) - base.count(line), 1), min(yours.count(line) - base.count(line), 1)
        assert lines.count(line) >= max(*least, 0)


@given(_LINES, _LINES)
def test_one_sides_change_is_the_text(base: list[str], yours: list[str]) -> None:
    before, after = "".join(base), "".join(yours)
    assert together(before, before, after) == (after, False)
    assert together(before, after, before) == (after, False)
    assert together(before, after, after) == (after, False)


@given(_LINES, _LINES, _LINES)
def test_whether_changes_meet_does_not_depend_on_the_side(
    base: list[str], theirs: list[str], yours: list[str]
) -> None:
    one = together("".join(base), "".join(theirs), "".join(yours))
    other = together("".join(base), "".join(yours), "".join(theirs))
    assert one[1] == other[1]
    assert set(one[0].splitlines()) == set(other[0].splitlines())


@given(st.sets(st.integers(0, 11)), st.sets(st.integers(0, 11)))
def test_changes_of_different_lines_do_not_meet(theirs: set[int], yours: set[int]) -> None:
    base = [f"{number}\n" for number in range(12)]
    one = [f"their {line}" if at in theirs else line for at, line in enumerate(base)]
    other = [f"your {line}" if at in yours - theirs else line for at, line in enumerate(base)]
    both, has_met = together("".join(base), "".join(one), "".join(other))
    assert not has_met
    assert both == "".join(
        f"their {line}" if at in theirs else f"your {line}" if at in yours else line
        for at, line in enumerate(base)
    )
