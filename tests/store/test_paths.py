"""No path, and no trap on the disk, leads out of a memory: 0 escapes through any entrance, and none hangs."""

from __future__ import annotations

import ctypes
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle, product
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forking import start_child
from hostile import (
    HELD,
    NOT_PAGES,
    SECRET,
    TRAPPED,
    TRAPS,
    Beside,
    FollowingDisk,
    deadline,
    lay,
    never,
)
from looseleaf.base.errors import Refused
from looseleaf.base.ids import new_id
from looseleaf.base.paths import (
    DRAWERS,
    STATE,
    TOP_PAGES,
    canonical,
    is_page,
    name_fault,
    page_path,
    safe_name,
    same_name,
)
from looseleaf.base.policy import Policy
from looseleaf.cli.main import main
from looseleaf.log.journal import make_edit, record_of
from looseleaf.memory import Memory
from looseleaf.pages.pages import Page
from looseleaf.store import files
from looseleaf.store.disk import Disk
from tables import check_rows, some

EVIL = "# Evil\n"
NO_HASH = "0" * 64
TRACE = {"schema": "trace.v1", "id": "x", "ts": 0.0}

Call = Callable[[Memory, str], object]

PAGES: dict[str, Call] = {
    "page": lambda memory, path: memory.pages.read(path),
    "edit": lambda memory, path: memory.pages.edit(path, EVIL, reason="evil"),
    "edit by function": lambda memory, path: memory.pages.edit(path, lambda text: text + EVIL, reason="evil"),
    "patch": lambda memory, path: memory.pages.patch(path, [("inside", "evil")], reason="evil"),
    "delete": lambda memory, path: memory.pages.delete(path, reason="evil"),
    "page_as_of": lambda memory, path: memory.history.page_at(path, time.time()),
    "log": lambda memory, path: list(memory.history.edits(path)),
    "undo": lambda memory, path: memory.history.undo(path),
}
DOCUMENTS: dict[str, Call] = {
    "get": lambda memory, path: memory.parts.context.store.get(path),
    "stat": lambda memory, path: memory.parts.context.store.stat(path),
    "put": lambda memory, path: memory.parts.context.store.put(path, b"evil", base=None),
    "put with a record": lambda memory, path: memory.parts.context.store.put(
        path, b"evil", base=None, record=record_of(make_edit(new_id(), 0.0, path, "a", "r", None, b"evil"))
    ),
    "delete": lambda memory, path: memory.parts.context.store.delete(path, base=NO_HASH),
    "view": lambda memory, path: memory.parts.context.store.view(f"views/{path}", b"evil"),
    "view elsewhere": lambda memory, path: memory.parts.context.store.view(path, b"evil"),
    "publish": lambda memory, path: memory.parts.context.store.publish(path, {"raw.md": b"evil"}),
    "publish in an entry": lambda memory, path: memory.parts.context.store.publish(
        f"log/entries/{path}", {"raw.md": b""}
    ),
    "publish a file": lambda memory, path: memory.parts.context.store.publish(
        f"log/entries/t/{new_id()}", {path: b"evil"}
    ),
}
STREAMS: dict[str, Call] = {
    "append": lambda memory, name: memory.parts.context.store.append(name, [TRACE]),
    "append a trace": lambda memory, name: memory.parts.context.store.append(f"traces/{name}", [TRACE]),
    "append a prompt": lambda memory, name: memory.parts.context.store.append(f"prompts/{name}", [TRACE]),
    "read": lambda memory, name: list(memory.parts.context.store.read(f"traces/{name}")),
    "read back": lambda memory, name: list(memory.parts.context.store.read_back(f"traces/{name}")),
    "end": lambda memory, name: memory.parts.context.store.end(f"traces/{name}"),
    "rotate": lambda memory, name: memory.parts.context.store.rotate(f"traces/{name}"),
    "agent": lambda memory, name: Memory(memory.path, agent=name),
}


def seen(value: object) -> object:
    """What a caller can see of a returned value."""
    if isinstance(value, Page):
        return value.path, value.data
    if isinstance(value, list | tuple):
        return [seen(each) for each in value]
    return value


def is_sentence(text: str) -> bool:
    """True if the text says what is wrong, then what to do, and is short."""
    return re.search(r"\w\W*[.;] [A-Z`]", text) is not None and len(text) < 1000


def refused(call: Call, memory: Memory, path: str) -> tuple[str, object]:
    """What came of a call: the sentence of a refusal, or what it gave. Anything else flies."""
    with deadline(5):
        try:
            return "", seen(call(memory, path))
        except Refused as error:
            sentence = str(error)
    assert is_sentence(sentence), sentence
    return sentence, None


@pytest.fixture
def beside(place: Path) -> Beside:
    return Beside(place)


# --- names -----------------------------------------------------------------------------


def test_every_hostile_path_is_refused_at_every_entrance(beside: Beside) -> None:
    paths = [*never(), str(beside.outside / "canary.md"), f"facts/{beside.folder}/canary.md"]
    assert len(paths) > 300
    calls, escapes = 0, []
    with Memory(beside.memory) as memory:
        held = {path: memory.pages.read(path).data for path in memory.pages.list()}
        for path in paths:
            given: list[object] = []
            for name, call in (*PAGES.items(), *DOCUMENTS.items(), *STREAMS.items()):
                sentence, value = refused(call, memory, path)
                assert sentence, (name, path, value)
                given.append(sentence)
                calls += 1
            escapes += beside.escapes(*(sentence for sentence in given if str(beside.outside) not in path))
        assert {path: memory.pages.read(path).data for path in memory.pages.list()} == held
        assert [problem for problem in memory.check() if problem.severity == "error"] == []
    print(f"paths={len(paths)} calls={calls} escapes={len(escapes)}")
    assert escapes == []


def test_every_hostile_path_is_refused_by_every_command(
    beside: Beside, capsys: pytest.CaptureFixture[str]
) -> None:
    escapes: list[str] = []
    for path, verb in zip(never(), cycle(("show", "log", "diff", "undo")), strict=False):
        with deadline(5):
            assert main(["--memory", str(beside.memory), verb, "--", path]) == 2, (verb, path)
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("looseleaf: Nothing was done: the path ")
        assert err.removesuffix("\n").isprintable()
        assert len(err) < 1000
        escapes += beside.escapes(out, err)
    assert escapes == []


def test_what_is_no_page_is_no_page_to_anybody(place: Path) -> None:
    def check(path: str) -> None:
        beside = Beside(Path(mkdtemp(dir=place)))
        with Memory(beside.memory) as memory:
            for name, call in PAGES.items():
                sentence, _ = refused(call, memory, path)
                assert "the path" in sentence, (name, path)
        assert beside.escapes() == []

    check_rows(check, NOT_PAGES)


def test_a_path_that_is_no_text_is_refused(place: Path) -> None:
    def check(path: Any) -> None:
        beside = Beside(Path(mkdtemp(dir=place)))
        with Memory(beside.memory) as memory:
            for call in (PAGES["page"], PAGES["edit"], PAGES["delete"], DOCUMENTS["get"], DOCUMENTS["put"]):
                sentence, _ = refused(call, memory, path)
                assert sentence == (
                    f"Nothing was done: a path or a name is text, not {type(path).__name__}. "
                    "Give it as text, such as USER.md."
                )

    check_rows(check, [None, 7, b"USER.md", Path("USER.md"), ["USER.md"]])


def test_a_name_that_some_system_takes_for_another_is_not_made(place: Path) -> None:
    def check(there: str, asked: str) -> None:
        beside = Beside(Path(mkdtemp(dir=place)))
        with Memory(beside.memory) as memory:
            memory.pages.edit(there, HELD, reason="to be there")
            assert not memory.pages.read(asked).exists
            sentence, _ = refused(PAGES["edit"], memory, asked)
            name = canonical(there).rpartition("/")[2]
            assert f"{name} exists, and some systems take the two names for one" in sentence
            assert memory.pages.read(there).text == HELD

    check_rows(
        check,
        [
            ("facts/held.md", "facts/HELD.md"),
            ("facts/held.md", "facts/Held.md"),
            ("facts/caf\u00e9.md", "facts/CAF\u00c9.md"),
            ("facts/caf\u00e9.md", "facts/Cafe\u0301.md"),
            ("facts/stra\u00dfe.md", "facts/strasse.md"),
            ("facts/\ufb01le.md", "facts/file.md"),
            ("facts/\u212b.md", "facts/\u00e5.md"),
            ("facts/\u2163.md", "facts/iv.md"),
            ("facts/\uff41.md", "facts/a.md"),
            ("USER.md", "user.md"),
            ("USER.md", "User.md"),
        ],
    )


def test_both_spellings_of_a_letter_name_one_page(beside: Beside) -> None:
    with Memory(beside.memory) as memory:
        assert memory.pages.read("facts/cafe\u0301.md").path == "facts/caf\u00e9.md"
        memory.pages.edit("facts/cafe\u0301.md", "# One\n", reason="by its other spelling")
        assert memory.pages.read("facts/caf\u00e9.md").text == "# One\n"
        assert [path for path in memory.pages.list() if "caf" in path] == ["facts/caf\u00e9.md"]


def test_a_page_that_an_editor_saved_in_the_other_spelling_is_named_by_check(beside: Beside) -> None:
    (beside.memory / "facts" / "nai\u0308ve.md").write_text(HELD, encoding="utf-8")
    with Memory(beside.memory) as memory:
        assert [path for path in memory.pages.list() if "na" in path] == []
        (problem,) = memory.check()
    assert problem.path == "facts/nai\u0308ve.md"
    assert problem.message == (
        "this is not read as a page: its name is not in Unicode normal form C, the only spelling that is read"
    )


def test_names_that_people_use_are_names() -> None:
    for name in "a.md x-y_z.md C++.md 100%.md 50%_off.md caf\u00e9.md \u8bf4\u660e\uff1a\u4e00.md".split():
        assert canonical(f"facts/{name}") == f"facts/{name}"
        assert page_path(f"facts/{name}") == f"facts/{name}"
    for name in (
        "com\u00e8te.md",
        "console.md",
        "nullable.md",
        "communication.md",
        "com10.md",
        "lpt.md",
        "\U0001f4d6.md",
    ):
        assert name_fault(name) is None
    assert page_path("facts/" + "a" * 117 + ".md")
    assert canonical("a/" * 15 + "x.md")
    assert safe_name("agent-7", "agent's name") == "agent-7"


def test_the_places_of_pages() -> None:
    for path in (*TOP_PAGES, STATE, "NOTES.md", *(f"{drawer}/x.md" for drawer in DRAWERS)):
        assert is_page(path)
        assert page_path(path) == path


@given(st.text(max_size=30))
def test_a_path_that_is_taken_is_one_that_stays_inside(path: str) -> None:
    try:
        normal = canonical(path)
    except Refused:
        return
    assert canonical(normal) == normal
    assert same_name(normal, path)
    where = os.path.normpath(os.path.join("/memory", normal))
    assert where == f"/memory/{normal}"
    assert normal.isprintable()


# --- traps -----------------------------------------------------------------------------

CARE: dict[str, Call] = {
    "pages": lambda memory, path: memory.pages.list(),
    "page": lambda memory, path: memory.pages.read("facts/held.md"),
    "edit": lambda memory, path: memory.pages.edit("facts/held.md", EVIL, reason="evil"),
    "edit another": lambda memory, path: memory.pages.edit("days/2026-01-01.md", EVIL, reason="evil"),
    "page_as_of": lambda memory, path: memory.history.page_at("facts/held.md", time.time()),
    "log": lambda memory, path: list(memory.history.edits()),
    "undo": lambda memory, path: memory.history.undo(),
    "append": lambda memory, path: memory.parts.context.store.append(
        "traces/main", [TRACE | {"text": "x" * 300_000}]
    ),
    "append a prompt": lambda memory, path: memory.parts.context.store.append("prompts/main", [TRACE]),
    "read": lambda memory, path: list(memory.parts.context.store.read("traces/main")),
    "rotate": lambda memory, path: memory.parts.context.store.rotate("traces/main"),
    "rotate the journal": lambda memory, path: memory.parts.context.store.rotate("journal"),
    "publish": lambda memory, path: memory.parts.context.store.publish(
        f"log/entries/t/{new_id()}", {"raw.md": b"evil"}
    ),
    "view": lambda memory, path: memory.parts.context.store.view("views/heads/facts/held.md", b"evil"),
    "list": lambda memory, path: [
        memory.parts.context.store.list(each) for each in ("", "facts", "review", "log", "views")
    ],
    "streams": lambda memory, path: memory.parts.context.store.streams(),
    "check": lambda memory, path: memory.check(),
    "repair": lambda memory, path: memory.repair(),
    "check again": lambda memory, path: memory.check(),
}
QUICK = Policy(settle_seconds=0.01, lock_seconds=2)


def spring(beside: Beside, at: str) -> list[str]:
    """Go through every entrance with a trap in the folder; the escapes."""
    calls = [*CARE.values(), *(PAGES.values() if is_page(at) else ()), *DOCUMENTS.values()]
    given: list[object] = []
    with deadline(20):
        try:
            with Memory(beside.memory, policy=QUICK) as memory:
                given = [refused(call, memory, at) for call in calls]
        except Refused as error:
            given.append(str(error))
    return beside.escapes(*given)


def fall_into(trap: str, where: Sequence[str], place: Path) -> None:
    """Lay a trap in these places, one after the other: none of them leads out."""
    escapes: list[str] = []
    for number, at in enumerate(where):
        folder = place / str(number)
        folder.mkdir()
        beside = Beside(folder)
        lay(trap, at, beside)
        escapes += [f"{at}: {escape}" for escape in spring(beside, at)]
    print(f"trap={trap!r} places={len(where)} escapes={len(escapes)}")
    assert escapes == []


STRIDE = 24
"""Each trap is laid in every so many places, and the next trap in the places beside: each place has its traps."""


def test_no_trap_in_some_places_of_the_folder_leads_out_of_it(place: Path) -> None:
    def check(trap: str) -> None:
        fall_into(trap, TRAPPED[list(TRAPS).index(trap) % STRIDE :: STRIDE], Path(mkdtemp(dir=place)))

    check_rows(check, TRAPS)


def test_no_link_in_any_place_of_the_folder_leads_out_of_it(place: Path) -> None:
    """The trap that anybody can lay, everywhere: to a file where a file belongs, to a folder where a folder does."""

    def check(at: str) -> None:
        is_file = "." in at.rpartition("/")[2] or at in ("log/lock", "log/turn", "log/writer")
        trap = "link to a file outside" if is_file else "link to a folder outside"
        fall_into(trap, [at], Path(mkdtemp(dir=place)))

    check_rows(check, some(TRAPPED, 16))


@pytest.mark.long
@pytest.mark.parametrize("trap", TRAPS)
def test_no_trap_in_any_place_of_the_folder_leads_out_of_it(place: Path, trap: str) -> None:
    fall_into(trap, TRAPPED, place)


def test_a_disk_that_follows_links_is_caught(place: Path) -> None:
    def check(at: str) -> None:
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(files, "this_disk", FollowingDisk)
            beside = Beside(Path(mkdtemp(dir=place)))
            lay("link to a file outside" if at.endswith(".md") else "link to a folder outside", at, beside)
            assert spring(beside, at) != []

    check_rows(check, ["facts/held.md", "facts", "views", "log/staged", "log/traces"])


def test_a_page_that_became_a_link_is_not_a_deletion(beside: Beside) -> None:
    lay("link to a file outside", "facts/held.md", beside)
    with Memory(beside.memory) as memory:
        before = list(memory.history.edits())
        assert memory.pages.absorb() == []
        assert list(memory.history.edits()) == before
        with pytest.raises(Refused, match=r"facts/held\.md is, or lies behind, a symbolic link"):
            memory.pages.read("facts/held.md")
        assert [str(problem) for problem in memory.check()] == [
            "facts/held.md: this is not read: it is a link or not a regular file; put a real file in its place"
        ]


def test_check_does_not_look_behind_a_drawer_that_is_a_link(beside: Beside) -> None:
    lay("link to a folder outside", "facts", beside)
    with Memory(beside.memory) as memory:
        problems = [str(problem) for problem in memory.check()]
    assert problems[0] == "facts: this folder could not be read (Not a directory)"
    assert beside.escapes(problems) == []


def test_a_journal_that_somebody_else_made_names_no_file_outside(place: Path) -> None:
    """A folder may come from anywhere: its journal claims an edit out there, half done, which recovery would finish."""

    def check(path: str, disk: type[Disk]) -> None:
        beside = Beside(Path(mkdtemp(dir=place)))
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(files, "this_disk", disk)
            old, new = f"# {SECRET}\n".encode(), b"# Evil\n"
            edit = make_edit(new_id(), time.time(), path, "person", "evil", old, new)
            with Memory(beside.memory) as memory:
                memory.parts.context.store.append("journal", [record_of(edit)])
            staged = beside.memory / "log" / "staged"
            staged.mkdir(exist_ok=True)
            (staged / f"{edit.id}.edit").write_bytes(new)
            with Memory(beside.memory) as memory:
                assert memory.pages.read("USER.md").text == HELD
                given = [refused(PAGES["undo"], memory, path)]
                with pytest.raises(Refused):
                    memory.history.undo()
                given.append(refused(lambda memory, path: memory.history.versions(edit), memory, path))
            assert list(staged.iterdir()) == []
            assert (
                len([name for name in os.listdir(beside.memory / "log" / "aside") if name.endswith("-kept")])
                == 1
            )
            assert beside.escapes(*given) == []

    check_rows(
        check,
        product(
            ["../outside/canary.md", "/etc/passwd", "facts/../../outside/canary.md", "..", ""],
            [Disk, FollowingDisk],
        ),
    )


def test_a_view_that_somebody_else_made_names_no_file_outside(beside: Beside) -> None:
    view = beside.memory / "views" / "heads.json"
    heads = json.loads(view.read_bytes())
    heads["pages"]["../outside/canary.md"] = [NO_HASH, None, None]
    heads["marks"]["../outside/canary.md"] = [1, 2, 3, 4, 5, 6]
    view.write_text(json.dumps(heads), encoding="utf-8")
    with Memory(beside.memory) as memory:
        given = [memory.pages.list(), memory.pages.absorb(), [str(problem) for problem in memory.check()]]
    assert given[1] == []
    assert beside.escapes(*given) == []


def test_the_second_wall_stands_alone(beside: Beside) -> None:
    """The disk itself goes up by no name, whatever the rules of names would have let through."""
    here = Disk()
    root = here.open_root(str(beside.memory))
    try:
        for path in (
            "..",
            "../canary.md",
            "facts/../../canary.md",
            "facts/..",
            str(beside.folder / "canary.md"),
        ):
            for flags in (os.O_RDONLY, os.O_WRONLY | os.O_CREAT):
                with pytest.raises(OSError, match=r"cross-device|No such file"):
                    here.open(root, path, flags)
    finally:
        here.close(root)
    assert beside.escapes() == []


# --- a race ----------------------------------------------------------------------------

SWAPPED = ("facts", "USER.md", "views/heads", "log/staged", "days")

Done = tuple[int, int, list[str]]
"""How often something went well, how often it was refused, and what came from outside."""


def swap(beside: Beside, until: float) -> Done:
    """Exchange parts of the memory for links to the outside and back, as fast as it goes."""
    renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    spare = beside.folder / "spare"
    pairs = [(os.fsencode(beside.memory / at), os.fsencode(spare / at.replace("/", "-"))) for at in SWAPPED]
    swaps = 0
    while time.time() < until:
        for here, there in pairs:
            swaps += renameat2(-100, here, -100, there, 2) == 0
        if swaps % 64 == 0:
            time.sleep(0.0005)
    return swaps, 0, []


def use(beside: Beside, disk: type[Disk], kind: str, until: float) -> Done:
    """Read or edit pages all the while."""
    setattr(files, "this_disk", disk)  # noqa: B010 - this process has no other disk
    went = stopped = 0
    strange: list[str] = []
    while time.time() < until:
        try:
            with Memory(beside.memory, policy=QUICK) as memory:
                for number in range(20):
                    try:
                        given = one_use(memory, kind, number)
                        if SECRET in repr(given):
                            strange.append(f"{kind}: {given!r:.200}")
                        went += 1
                    except Refused as error:
                        stopped += 1
                        if SECRET in str(error):
                            strange.append(f"{kind}: {error}")
        except Refused:
            stopped += 1
    return went, stopped, strange


def one_use(memory: Memory, kind: str, number: int) -> object:
    path = ("facts/held.md", "USER.md", "days/2026-01-01.md")[number % 3]
    if kind == "edit":
        return memory.pages.edit(path, f"# Held\n\n- Number: {number}\n", reason="in between")
    if number % 10 == 9:
        return [str(problem) for problem in memory.check()]
    return seen(
        [
            memory.parts.context.store.get(path),
            memory.parts.context.store.list("facts"),
            memory.pages.read(path),
        ]
    )


def race(beside: Beside, disk: type[Disk], seconds: float) -> tuple[dict[str, tuple[int, int]], list[str]]:
    """What each process did, and the escapes."""
    spare = beside.folder / "spare"
    spare.mkdir()
    for at in SWAPPED:
        (beside.memory / at).parent.mkdir(exist_ok=True)
        if not (beside.memory / at).exists():
            (beside.memory / at).mkdir()
        target = beside.outside / "held.md" if at.endswith(".md") else beside.outside
        (spare / at.replace("/", "-")).symlink_to(target)
    until = time.time() + seconds
    jobs: dict[str, Callable[[], Done]] = {"swap": lambda: swap(beside, until)}
    jobs |= {kind: partial(use, beside, disk, kind, until) for kind in ("read", "edit")}
    with TemporaryDirectory() as told:

        def work(kind: str) -> None:
            Path(told, kind).write_text(json.dumps(jobs[kind]()))

        children = [start_child(partial(work, kind)) for kind in jobs]
        assert [child.wait() for child in children] == [0, 0, 0]
        results = {kind: json.loads(Path(told, kind).read_text()) for kind in jobs}
    done = {kind: (went, stopped) for kind, (went, stopped, _) in results.items()}
    return done, [each for *_, strange in results.values() for each in strange] + beside.escapes()


@pytest.mark.parametrize("seconds", [1, pytest.param(20, marks=pytest.mark.long)])
def test_links_that_are_swapped_in_while_pages_are_used_lead_nowhere(beside: Beside, seconds: int) -> None:
    done, escapes = race(beside, Disk, seconds)
    print(f"seconds={seconds} {done} escapes={len(escapes)}")
    assert escapes == []
    assert done["swap"][0] > 100 * seconds
    for kind in ("read", "edit"):
        assert min(done[kind]) > 0, "the race met both a real folder and a link"


def test_a_disk_that_follows_links_loses_the_race(beside: Beside) -> None:
    _, escapes = race(beside, FollowingDisk, 1)
    assert escapes != []
