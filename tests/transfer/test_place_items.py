"""Documents and claims: as data, as pages and lines where the user vouches for them, and what waits for a person."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from importing import (
    bring,
    log_of,
    open_memory,
    traces_of,
)
from looseleaf.base.errors import Stale
from looseleaf.memory.groups import PageVerbs
from looseleaf.place import placer as review_page
from looseleaf.transfer import import_run as run_module
from looseleaf.transfer import place_items as vouched
from looseleaf.transfer.import_ledger import Imported
from looseleaf.transfer.source import ImportClaim, ImportDocument
from tables import check_rows, in_folders

# --- documents and claims ------------------------------------------------------------------------


def test_documents_and_claims_that_nobody_vouches_for_are_found_by_recall(place: Path) -> None:
    with open_memory(place / "m") as memory:
        items = (
            ImportDocument("d", "The kiln fires at 1240 degrees.", "Pottery", 1_760_000_000.0, "USER.md"),
            ImportClaim("c", "ceramics", "Prefers celadon glazes", 1_760_000_000.0),
            ImportClaim("r", "ceramics", "Jingdezhen", None, "Learned in"),
        )
        done = bring(memory, *items)
        assert (done.documents.new, done.claims.new, done.traces, done.waiting) == (1, 2, 3, 2)
        assert memory.pages.list() == ["review/pending.md"]
        assert {trace.origin for trace in traces_of(memory)} == {"import:made"}
        assert "1240" in memory.recall("At which temperature does the kiln fire?")[0].text
        waiting = memory.facts(status="pending")
        assert [(fact.topic, fact.relation, fact.object, fact.level) for fact in waiting] == [
            ("ceramics", "note", "Prefers celadon glazes", "tainted"),
            ("ceramics", "Learned in", "Jingdezhen", "tainted"),
        ]
        assert [source.origin for fact in waiting for source in memory.explain.sources(fact)] == [
            "import:made"
        ] * 2
        before = log_of(memory)
        assert bring(memory, *items).is_nothing
        assert log_of(memory) == before


def test_a_document_that_is_vouched_for_is_its_page_byte_for_byte(place: Path) -> None:
    text = "# Soul\r\n\r\nYou are *kind*.\n\n- Name: Pip"
    with open_memory(place / "m") as memory:
        done = bring(memory, ImportDocument("s", text, "Soul", page="SOUL.md"), mine=True)
        assert done.pages == ("SOUL.md",)
        assert (place / "m/SOUL.md").read_bytes() == text.encode()
        [edit] = list(memory.history.edits("SOUL.md"))
        assert (edit.author, edit.reason) == ("person", "imported from made")


def test_nobodys_page_is_overwritten(place: Path) -> None:
    def note(text: str, key: str = "n") -> ImportDocument:
        return ImportDocument(key, text, "Notes", page="USER.md")

    with open_memory(place / "m") as memory:
        memory.pages.edit("USER.md", "# Mine\n", reason="mine", author="person")
        assert bring(memory, note("one\n"), mine=True).pages == ("facts/user-imported.md",)
        assert bring(memory, note("two\n", "other"), mine=True).pages == ("facts/user-imported-2.md",)
        assert memory.pages.read("USER.md").text == "# Mine\n"
        # An import's own page follows its document, until somebody writes on it.
        assert bring(memory, note("one more\n"), mine=True).pages == ("facts/user-imported.md",)
        assert memory.pages.read("facts/user-imported.md").text == "one more\n"
        memory.pages.edit("facts/user-imported.md", "touched\n", reason="mine", author="person")
        done = bring(memory, note("one last\n"), mine=True)
        assert done.pages == ("facts/user-imported-3.md",)
        assert memory.pages.read("facts/user-imported.md").text == "touched\n"
        # What is there already is no second page.
        before = memory.pages.list()
        done = bring(memory, note("touched\n", "third"), mine=True)
        assert (done.documents.known, done.pages, memory.pages.list()) == (1, (), before)


def test_a_document_for_which_there_is_no_place_is_named(place: Path) -> None:
    with open_memory(place / "m") as memory:
        for number in range(11):
            done = bring(
                memory,
                ImportDocument(str(number), f"text {number}\n", "Same", page="facts/same.md"),
                mine=True,
            )
        assert done.documents.bad == 1
        assert "facts/same.md and the pages beside it are there" in done.notes[0]
        done = bring(memory, ImportDocument("long", "x" * 2_000_000, "Long", page="facts/long.md"), mine=True)
        assert (done.documents.bad, done.pages) == (1, ())
        assert "'Long' was passed over" in done.notes[0]


def test_a_place_that_is_none_is_made_a_page_of_facts(place: Path) -> None:
    def check(place: Path, document: ImportDocument, page: str) -> None:
        with open_memory(place / "m") as memory:
            assert bring(memory, document, mine=True, dry_run=True).pages == (page,)
            assert bring(memory, document, mine=True).pages == (page,)
            assert memory.pages.read(page).text == "text\n"

    check_rows(
        check,
        in_folders(
            place,
            [
                (ImportDocument("k", "text\n", "A title", page="../evil.md"), "facts/a-title.md"),
                (ImportDocument("k", "text\n", "A title", page="log/key"), "facts/a-title.md"),
                (ImportDocument("k", "text\n", "list.md"), "facts/list.md"),
                (ImportDocument("k", "text\n", "", topic="Herbs"), "facts/herbs.md"),
                (ImportDocument("k", "text\n", ""), "facts/imported.md"),
                (ImportDocument("k", "text\n", "x", page="days/2026-01-05.md"), "days/2026-01-05.md"),
            ],
        ),
    )


def test_claims_that_are_vouched_for_are_lines_of_one_edit(place: Path) -> None:
    claims = [ImportClaim(str(number), "user", f"Likes tea {number}") for number in range(30)]
    more = (ImportClaim("r", "user", "Oban", None, "Home"), ImportClaim("e", "evil/../x", "harmless"))
    with open_memory(place / "m") as memory:
        looked = bring(memory, *claims, *more, mine=True, dry_run=True)
        done = bring(memory, *claims, *more, mine=True)
        assert (done.claims.new, done.facts) == (looked.claims.new, looked.facts) == (32, 32)
        assert done.pages == looked.pages
        assert done.pages[0] == "facts/user.md"
        assert len(list(memory.history.edits("facts/user.md"))) == 1
        lines = memory.pages.read("facts/user.md").text.splitlines()
        assert lines[2:] == [*(f"- Likes tea {number}" for number in range(30)), "- Home: Oban"]
        assert {fact.level for fact in memory.facts(topic="user")} == {"confirmed"}
        assert bring(memory, *claims, *more, mine=True).is_nothing


def test_a_claim_that_was_reworded_takes_its_old_line(place: Path) -> None:
    with open_memory(place / "m") as memory:
        bring(memory, ImportClaim("a", "user", "Likes tea"), ImportClaim("b", "user", "Sings"), mine=True)
        done = bring(
            memory, ImportClaim("a", "user", "Likes coffee"), ImportClaim("b", "user", "Sings"), mine=True
        )
        assert (done.claims.grown, done.claims.known) == (1, 1)
        assert memory.pages.read("facts/user.md").text.splitlines()[2:] == ["- Likes coffee", "- Sings"]


def test_what_was_data_may_be_vouched_for_later(place: Path) -> None:
    items = (ImportClaim("a", "user", "Likes tea"), ImportDocument("d", "text\n", "Doc", page="facts/doc.md"))
    with open_memory(place / "m") as memory:
        bring(memory, *items)
        done = bring(memory, *items, mine=True)
        assert (done.claims.new, done.documents.new) == (1, 1)
        assert bring(memory, *items, mine=True).is_nothing
        assert bring(memory, *items).is_nothing


def test_claims_that_do_not_fit_on_a_page_stand_on_further_ones(place: Path) -> None:
    def claims(word: str) -> list[ImportClaim]:
        return [ImportClaim(str(each), "user", f"{each} {word} {'y' * 300}") for each in range(9)]

    with open_memory(place / "m") as memory:
        memory.pages.edit("facts/user.md", "x" * 1_045_500, reason="full", author="person")
        done = bring(memory, *claims("old"), mine=True)
        assert (done.claims.new, done.facts) == (9, 9)
        assert done.pages == ("facts/user.md", "facts/user-2.md")
        first, second = (memory.pages.read(page).text for page in done.pages)
        assert (first.count(" old "), second.count(" old ")) == (6, 3)
        assert bring(memory, *claims("old"), mine=True).is_nothing
        # A line that was put on a further page is said anew there.
        bring(memory, *claims("new"), mine=True)
        assert (
            memory.pages.read("facts/user.md").text,
            memory.pages.read("facts/user-2.md").text.count(" new "),
        ) == (
            first.replace(" old ", " new "),
            3,
        )


def test_claims_that_cannot_be_written_are_named(place: Path) -> None:
    with open_memory(place / "m") as memory:
        done = bring(
            memory, ImportClaim("long", "user", "y" * 2_000_000), ImportClaim("b", "user", "Sings"), mine=True
        )
        assert (done.claims.bad, done.claims.new) == (1, 1)
        assert "of 'user' was passed over: it is longer than a page may be" in done.notes[0]
        for number in range(2, 10):
            memory.pages.edit(f"facts/user-{number}.md", "x" * 1_048_000, reason="full", author="person")
        memory.pages.edit("facts/user.md", "x" * 1_048_000, reason="full", author="person")
        done = bring(memory, *(ImportClaim(str(each), "user", f"{each} tea") for each in range(3)), mine=True)
        assert done.claims.bad == 3
        assert done.notes[0].startswith(
            "3 claims, the first '0 tea', of 'user' were passed over: facts/user.md"
        )


def test_what_review_had_no_place_for_is_asked_by_another_import(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_page, "MOST", 20)
    monkeypatch.setattr(run_module, "_TRACES", 7)
    claims = [ImportClaim(str(each), "user", f"Likes tea {each}") for each in range(23)]
    with open_memory(place / "m") as memory:
        assert bring(memory, *claims).waiting == 10
        before = log_of(memory)
        assert (bring(memory, *claims).waiting, log_of(memory) == before) == (0, True)
        for fact in memory.facts(status="pending")[:3]:
            memory.review.reject(fact.id or "")
        again = bring(memory, *claims)
        assert (again.waiting, again.traces, again.claims.known) == (3, 0, 23)
        for fact in memory.facts(status="pending"):
            memory.review.reject(fact.id or "")
        assert bring(memory, *claims).waiting == 10
        before = log_of(memory)
        assert (bring(memory, *claims).waiting, log_of(memory) == before) == (0, True)
        asked = {fact.object for fact in memory.facts(status="pending")}
        assert asked == {f"Likes tea {each}" for each in range(13, 23)}


def test_a_page_whose_source_has_changed_is_taken_as_data_beside_it(place: Path) -> None:
    def note(text: str) -> ImportDocument:
        return ImportDocument("n", text, "Notes", page="facts/notes.md")

    with open_memory(place / "m") as memory:
        bring(memory, note("one\n"), mine=True)
        assert bring(memory, note("one\n")).is_nothing
        done = bring(memory, note("two\n"))
        assert (done.documents.new, done.outdated, done.traces) == (1, 1, 1)
        assert [trace.tool_result["text"] for trace in traces_of(memory)] == ["two\n"]
        assert memory.pages.read("facts/notes.md").text == "one\n"
        assert bring(memory, note("two\n")).is_nothing
        assert bring(memory, note("two\n"), mine=True).pages == ("facts/notes.md",)
        assert memory.pages.read("facts/notes.md").text == "two\n"


def test_two_vouched_imports_of_the_same_at_once_make_each_page_once(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = [ImportDocument(str(each), f"note {each}\n", "N", page=f"facts/n{each}.md") for each in range(4)]
    claims = [ImportClaim(str(each), "user", f"Likes tea {each}") for each in range(4)]
    meet = threading.Barrier(2, timeout=60)
    real = vouched.VouchedItems._write_page
    stale: list[str] = []
    edit = PageVerbs.edit

    def written(self: vouched.VouchedItems, path: str, text: str, name: str) -> bool | None:
        meet.wait()
        return real(self, path, text, name)

    def late(self: PageVerbs, path: str, *given: Any, **more: Any) -> Any:
        if path.startswith("facts/n"):
            meet.wait()  # both have looked, and found nothing
        try:
            return edit(self, path, *given, **more)
        except Stale:
            stale.append(path)
            raise

    monkeypatch.setattr(vouched.VouchedItems, "_write_page", written)
    monkeypatch.setattr(PageVerbs, "edit", late)
    done: list[Imported] = []

    def bring_all() -> None:
        with open_memory(place / "m") as memory:
            done.append(bring(memory, *notes, *claims, mine=True))

    open_memory(place / "m").close()
    threads = [threading.Thread(target=bring_all) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stale) == len(notes)
    assert sum(each.documents.new for each in done) == sum(len(each.pages) for each in done) - 1 == 4
    assert (sum(each.documents.known for each in done), sum(each.claims.new for each in done)) == (4, 4)
    with open_memory(place / "m") as memory:
        assert memory.pages.list() == sorted([*(f"facts/n{each}.md" for each in range(4)), "facts/user.md"])


def test_a_document_never_becomes_the_working_state(place: Path) -> None:
    with open_memory(place / "m") as memory:
        before = memory.state
        done = bring(memory, ImportDocument("s", "{}", "The working state", page="state.json"), mine=True)
        assert (done.pages, memory.state) == (("facts/the-working-state.md",), before)
