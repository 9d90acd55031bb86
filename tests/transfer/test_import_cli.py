"""The command `import`: what a person reads, and what a program does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Run
from importing import SAMPLES, conversation, export, open_memory, take, zip_of
from looseleaf.transfer.import_ledger import NAMED


def told(out: str) -> list[str]:
    return out.splitlines()


def test_a_person_is_told_what_it_is_what_is_new_and_what_to_do_next(run: Run) -> None:
    code, out, err = run("import", str(SAMPLES / "chatgpt"), "--dry-run")
    assert code == 0
    assert told(out) == [
        "format: chatgpt, detected (ChatGPT's data export: a zip or folder with conversations.json)",
        "conversations: 3 new",
        "documents: 1 new",
        "traces: 13 would be recorded for the agent import, from 2025-01-01 to 2025-01-03",
        "  Tomatoes on a balcony",
        "  Average of a column",
        "  A voice talk",
        "  Custom instructions",
    ]
    assert err == (
        "Next: run it without --dry-run; add --mine if you vouch for it: then your words in it count as yours.\n"
    )
    code, out, err = run("import", str(SAMPLES / "chatgpt"))
    assert told(out)[3] == "traces: 13 recorded for the agent import, from 2025-01-01 to 2025-01-03"
    assert err.startswith('Next: `looseleaf recall "…"` finds any of it. It is untrusted data')
    code, out, err = run("import", str(SAMPLES / "chatgpt"))
    assert told(out)[1:] == ["conversations: 3 there already", "documents: 1 there already"]
    assert err == "Next: there is nothing to do: all of it is there already.\n"
    code, out, _ = run("recall", "which", "tomatoes", "need", "least", "sun")
    assert code == 0
    assert "tomatoes" in out


def test_a_person_who_vouches_gets_facts_and_pages(run: Run, folder: Path) -> None:
    code, out, err = run("import", str(SAMPLES / "chatgpt"), "--mine")
    assert code == 0
    assert told(out)[4:6] == ["pages: facts/instructions.md written, as yours", "distilled: 3 entries"]
    assert err.startswith("Next: `looseleaf facts` lists the facts")
    assert "Name: Ada" in run("facts")[1]
    assert (
        (folder / "facts/instructions.md").read_text(encoding="utf-8").startswith("I am a gardener in Lyon.")
    )


def test_who_looks_and_vouches_already_is_not_told_to_vouch(run: Run) -> None:
    _, _, err = run("import", str(SAMPLES / "chatgpt"), "--mine", "--dry-run")
    assert err == "Next: run it without --dry-run.\n"


def test_what_waits_for_a_person_is_said(run: Run) -> None:
    _, out, err = run("import", str(SAMPLES / "mem0.json"))
    assert "review: 4 wait for your yes" in told(out)
    assert err.startswith("Next: `looseleaf review` shows what waits for your yes; `looseleaf recall")


def test_what_an_import_left_undistilled_is_distilled_by_the_next(run: Run, folder: Path) -> None:
    with open_memory(folder) as memory:
        take(memory, SAMPLES / "chatgpt", mine=True)
    assert "distilled: 3 entries" in told(run("import", str(SAMPLES / "chatgpt"), "--mine")[1])


def test_a_program_gets_one_object(run: Run) -> None:
    code, out, err = run("import", str(SAMPLES / "claude"), "--mine", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["talks"] == {"new": 2, "grown": 0, "known": 0, "forgotten": 0, "bad": 0}
    assert found["documents"]["new"] == len(found["pages"]) == 4
    assert (found["format"], found["mine"], found["dry_run"], found["agent"]) == (
        "claude",
        True,
        False,
        "import",
    )
    assert (found["traces"], found["entries"], found["passed_over"]) == (10, 2, 0)


def test_another_format_and_another_agent_may_be_named(run: Run, place: Path) -> None:
    path = export(place / "anything.json", conversation("c", ("user", "hello")))
    code, out, _ = run("import", str(path), "--as", "chatgpt", "--agent", "old", "--mine")
    assert code == 0
    assert told(out)[0].startswith("format: chatgpt, as given")
    assert "recorded for the agent old" in out
    code, _, err = run("import", str(path), "--as", "word")
    assert (code, "there is no format 'word'. Choose one of chatgpt" in err) == (2, True)


def test_data_is_refused_for_another_agent(run: Run, place: Path) -> None:
    path = export(place / "conversations.json", conversation("c", ("user", "hello")))
    code, _, err = run("import", str(path), "--agent", "main")
    assert (code, "recorded for the agent `import` only" in err, "--mine" in err) == (2, True, True)


def test_who_vouches_later_is_told_of_the_first_copies(run: Run, place: Path) -> None:
    path = export(place / "conversations.json", conversation("c", ("user", "hello")))
    run("import", str(path))
    _, out, _ = run("import", str(path), "--mine")
    assert "conversations: 1 new" in told(out)
    [line] = [
        line
        for line in told(out)
        if "1 of the conversations was imported as data before: it is recorded again" in line
    ]
    assert "`looseleaf forget --session chatgpt-" in line
    out = run("import", str(path), "--mine")[1]
    assert told(out)[1:] == ["conversations: 1 there already"]
    two = [conversation(name, ("user", name)) for name in "de"]
    run("import", str(export(path, *two)))
    assert "forget --origin import:chatgpt`" in run("import", str(path), "--mine")[1]


def test_a_changed_page_and_what_was_forgotten_are_said(run: Run, place: Path) -> None:
    note = place / "note.md"
    note.write_text("One thing. The zebra was here.\n", encoding="utf-8")
    run("import", str(note), "--mine")
    note.write_text("Another thing. The zebra was here.\n", encoding="utf-8")
    assert "1 of these is a page of yours whose source has changed" in run("import", str(note))[1]
    run("forget", "--match", "zebra", "--yes")
    other = place / "other.md"
    other.write_text("Third thing. The zebra was here.\n", encoding="utf-8")
    assert "left out: 1 part that was forgotten, and stays so" in run("import", str(other))[1]
    other.write_text("The zebra was here.\n", encoding="utf-8")
    code, out, err = run("import", str(other))
    assert (code, told(out)[1]) == (0, "documents: 1 forgotten, and stay so")
    assert err == "Next: there is nothing to do: all of it is there already, or was forgotten.\n"


def test_where_nothing_could_be_taken_that_is_said(run: Run, place: Path) -> None:
    (place / "c.json").write_text("[{]", encoding="utf-8")
    code, out, err = run("import", str(place / "c.json"), "--as", "chatgpt")
    assert (code, "passed over: 2" in told(out)) == (1, True)
    assert err == "Next: nothing was imported: see the reasons above.\n"
    (place / "c.json").write_text("[]", encoding="utf-8")
    code, _, err = run("import", str(place / "c.json"), "--as", "chatgpt")
    assert (code, err) == (1, "Next: nothing was imported: there is nothing in it to import.\n")
    good = json.dumps([conversation("c", ("user", "hello")), 7])
    (place / "c.json").write_text(good, encoding="utf-8")
    run("import", str(place / "c.json"))
    code, _, err = run("import", str(place / "c.json"))
    assert code == 0
    assert err == "Next: there is nothing to do: every readable part is there already.\n"


def test_what_is_passed_over_is_counted_and_named_and_steers_no_terminal(run: Run, place: Path) -> None:
    files = {f"../\x1b[31mevil{number}.json": b"x" for number in range(30)}
    good = json.dumps([conversation("c", ("user", "hello"), title="A \x1b[2Jtitle")])
    code, out, _ = run("import", str(zip_of(place / "it.zip", {**files, "conversations.json": good})))
    assert code == 0
    assert "conversations: 1 new" in told(out)
    assert "passed over: 30" in told(out)
    assert sum("leads out of the archive" in line for line in told(out)) == NAMED
    assert "\x1b" not in out


def test_many_pages_are_counted(run: Run, place: Path) -> None:
    (place / "notes").mkdir()
    for number in range(12):
        (place / "notes" / f"n{number:02d}.md").write_text(f"note {number}\n", encoding="utf-8")
    _, out, _ = run("import", str(place / "notes"), "--mine")
    assert any(
        line.startswith("pages: facts/n00.md, ") and "and 2 more written, as yours" in line
        for line in told(out)
    )


@pytest.mark.parametrize("what", ["nothing", "empty", "picture.png"])
def test_what_cannot_be_imported_is_refused_in_a_sentence(run: Run, place: Path, what: str) -> None:
    (place / "empty").mkdir()
    (place / "picture.png").write_bytes(b"\x89PNG")
    code, out, err = run("import", str(place / what))
    assert (code, out) == (2, "")
    assert err.startswith("looseleaf: Nothing was imported: ")
    assert len(err.splitlines()) == 1
