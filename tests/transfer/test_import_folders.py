"""Imports of folders and of stores of facts: each format on a sample in its real shape, through the whole import and
twice; and on contents that somebody made to break it.
"""

from __future__ import annotations

import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from growth import LINEAR, growth
from looseleaf.base.errors import Refused
from looseleaf.base.paths import is_page, path_fault
from looseleaf.memory import Memory
from looseleaf.pages.grammar import find_covered_lines, parse
from looseleaf.transfer.formats import FORMATS, detect, format_named, notes
from looseleaf.transfer.formats.basic_memory import convert_note
from looseleaf.transfer.import_ledger import Imported
from looseleaf.transfer.import_run import run as import_from
from looseleaf.transfer.source import ImportClaim, ImportDocument, ImportSource, Talk
from tables import check_rows, in_folders

Item = ImportClaim | ImportDocument | Talk

SAMPLES = Path(__file__).parents[1] / "exports"

FORMS = {
    "openclaw": "openclaw",
    "openclaw/workspace": "openclaw",
    "mcp_memory": "mcp-memory",
    "mcp_memory/memory.jsonl": "mcp-memory",
    "mcp_memory_graph.json": "mcp-memory",
    "mem0.json": "mem0",
    "mem0_platform.json": "mem0",
    "basic_memory": "basic-memory",
    "plain": "plain",
    "plain/ideas.rst": "plain",
    "tiers/.toebeans": "plain",
}
"""What each sample must be taken for."""


def items_of(path: Path, form: str | None = None) -> tuple[list[Item], list[str]]:
    """All that a format reads of a source, talks heard to their end, and what it passes over."""
    told: list[str] = []
    with ImportSource(path) as source:
        format_ = format_named(form) if form is not None else detect(source).format
        found = [
            Talk(item.key, item.title, tuple(item.said)) if isinstance(item, Talk) else item
            for item in format_.read(source, told.append)
        ]
    return found, told


def texts(path: Path, form: str | None = None) -> dict[str, str]:
    """What documents would be pages, and what they say."""
    return {
        each.page or each.key: each.text
        for each in items_of(path, form)[0]
        if isinstance(each, ImportDocument)
    }


def claims(path: Path, form: str | None = None) -> set[tuple[str, str | None, str]]:
    return {
        (each.topic, each.relation, each.text)
        for each in items_of(path, form)[0]
        if isinstance(each, ImportClaim)
    }


def taken(memory: Memory, path: Path, *, mine: bool = False) -> Imported:
    with ImportSource(path) as source:
        return import_from(memory, source, detect(source).format, mine=mine)


def log_of(memory: Memory) -> dict[str, bytes]:
    """What is the truth of a memory, byte for byte."""
    found = [path for path in Path(memory.path).rglob("*") if path.is_file()]
    names = {str(path.relative_to(memory.path)): path for path in found}
    return {
        name: path.read_bytes() for name, path in names.items() if not name.startswith(("views/", "log/lock"))
    }


# --- through the whole import ----------------------------------------------------------


def test_a_sample_is_known_by_what_is_in_it() -> None:
    def check(name: str) -> None:
        with ImportSource(SAMPLES / name) as source:
            assert FORMS[name] == detect(source).format.NAME
        with_another_name = {format_named(form).NAME for form in FORMATS}
        assert with_another_name == set(FORMATS)

    check_rows(check, FORMS)


def test_a_second_import_changes_nothing(place: Path) -> None:
    def check(place: Path, name: str, mine: bool) -> None:
        with Memory(str(place / "m"), agent="import") as memory:
            first = taken(memory, SAMPLES / name, mine=mine)
            before = log_of(memory)
            second = taken(memory, SAMPLES / name, mine=mine)

            assert not first.is_nothing
            assert second.is_nothing
            assert log_of(memory) == before
            assert [str(each) for each in memory.check()] == []
            assert bool(first.pages) == mine
            if not mine:
                assert memory.facts() == []
                assert {path for path in memory.pages.list() if path != "review/pending.md"} == set()

    check_rows(check, in_folders(place, product([name for name in FORMS if "/" not in name], [False, True])))


def test_what_is_vouched_for_is_a_page_byte_for_byte(place: Path) -> None:
    with Memory(str(place / "m"), agent="import") as memory:
        taken(memory, SAMPLES / "openclaw", mine=True)
        workspace = SAMPLES / "openclaw" / "workspace"
        for page, file in (
            ("SOUL.md", workspace / "SOUL.md"),
            ("USER.md", workspace / "USER.md"),
            ("facts/memory.md", workspace / "MEMORY.md"),
            ("days/2026-03-18.md", workspace / "memory" / "2026-03-18.md"),
            ("days/2026-03-19-vendor-pitch.md", workspace / "memory" / "2026-03-19-vendor-pitch.md"),
        ):
            assert memory.pages.read(page).text == file.read_text(), page
        known = {(fact.topic, fact.relation, fact.object) for fact in memory.facts()}
        assert {
            ("user", "Name", "Mara Lindqvist"),
            ("memory", "Coffee", "black, no sugar"),
            ("suppliers", "Flour", "Warbro Kvarn"),
            ("workspace-support-user", "Name", "customers"),
        } <= known
        assert {fact.level for fact in memory.facts()} == {"confirmed"}
        assert memory.recall("rye flour", quick=True)[0].where == "days/2026-03-18.md#3-3"


def test_what_nobody_vouches_for_is_found_and_believed_by_nobody(place: Path) -> None:
    with Memory(str(place / "m"), agent="import") as memory:
        taken(memory, SAMPLES / "mem0.json")
        taken(memory, SAMPLES / "plain")
        assert memory.facts() == []
        assert {fact.object for fact in memory.facts(status="pending")} == {
            "Works as a lighthouse keeper on Fair Isle",
            "Is learning the accordion",
            "fair_isle",
            "accordion",
        }
        assert "tides" in memory.recall("the clock that runs on tides", quick=True)[0].text
        origins = {line.record["origin"] for line in memory.parts.context.store.read("traces/import")}
        assert origins == {"import:mem0", "import:plain"}


def test_the_command_says_what_it_took_and_what_it_passed_over(run: Run) -> None:
    code, out, _ = run("import", str(SAMPLES / "plain"), "--json")

    assert code == 0
    told = json.loads(out)
    assert (told["format"], told["documents"]["new"], told["passed_over"]) == ("plain", 5, 2)
    assert told["notes"] == [
        "1 file was passed over: it is hidden, or in a folder that a program fills.",
        "1 file was passed over: it is not text.",
    ]


# --- each format -----------------------------------------------------------------------


def test_of_several_workspaces_the_first_speaks_for_the_memory() -> None:
    found = texts(SAMPLES / "openclaw")
    assert set(found) == {
        *(
            "SOUL.md",
            "USER.md",
            "facts/agents.md",
            "facts/heartbeat.md",
            "facts/identity.md",
            "facts/memory.md",
        ),
        *("facts/tools.md", "facts/suppliers.md", "days/2026-03-18.md", "days/2026-03-19-vendor-pitch.md"),
        *("facts/workspace-support-soul.md", "facts/workspace-support-user.md"),
        "facts/workspace-support-2026-03-18.md",
    }
    assert found["SOUL.md"] == (SAMPLES / "openclaw/workspace/SOUL.md").read_text()
    alone, told = items_of(SAMPLES / "openclaw" / "workspace")
    keys = {each.key for each in alone}
    assert keys < {each.key for each in items_of(SAMPLES / "openclaw")[0]}, "keys depend on what was given"
    assert told == ["1 of the files was passed over: skills, settings and the like are not memories."]


def test_rules_for_agents_alone_are_no_workspace(tmp_path: Path) -> None:
    for name in ("AGENTS.md", "TOOLS.md", "README.md"):
        (tmp_path / name).write_text("# Rules\n")
    with ImportSource(tmp_path) as source:
        assert detect(source).format.NAME == "plain"
    assert items_of(tmp_path, "openclaw") == (
        [],
        ["3 of the files were passed over: skills, settings and the like are not memories."],
    )


def test_a_graph_becomes_claims_of_its_things() -> None:
    assert claims(SAMPLES / "mcp_memory") == {
        ("user", None, "Prefers trains to planes"),
        ("user", None, "Is allergic to hazelnuts"),
        ("user", "Works at", "Northwind_Ferry"),
        ("northwind-ferry", "Type", "organization"),
        ("northwind-ferry", None, "Sails from Oban at 07:15"),
        ("northwind-ferry", None, "Closed in January"),
        ("ines", "Type", "person"),
        ("ines", "Sister of", "default_user"),
    }
    assert claims(SAMPLES / "mcp_memory_graph.json") == {
        ("kestrel", "Type", "project"),
        ("kestrel", None, "Kestrel is written in Zig"),
        ("kestrel", "Maintained by", "Ines"),
    }


def test_memories_of_one_user_are_about_the_user_of_several_about_each() -> None:
    assert claims(SAMPLES / "mem0.json") == {
        ("user", None, "Works as a lighthouse keeper on Fair Isle"),
        ("hobbies", None, "Is learning the accordion"),
        ("user", "Lives on", "fair_isle"),
        ("user", "Plays", "accordion"),
    }
    assert claims(SAMPLES / "mem0_platform.json") == {
        ("dev", None, "Dev works at TechCorp as a senior engineer"),
        ("arjun", None, "Arjun prefers morning meetings"),
    }
    times = [
        each.ts for each in items_of(SAMPLES / "mem0.json")[0] if isinstance(each, ImportClaim) and each.ts
    ]
    assert times == [1767547230.123456, 1769932800.0]


def test_statements_of_a_note_are_facts_of_its_page() -> None:
    text = texts(SAMPLES / "basic_memory")["facts/coffee-brewing-methods.md"]
    own = (SAMPLES / "basic_memory/notes/Coffee Brewing Methods.md").read_text()
    changed = [(old, new) for old, new in zip(own.split("\n"), text.split("\n"), strict=True) if old != new]
    assert changed == [
        (
            "- [method] Pour over gives more clarity than a French press",
            "- Method: Pour over gives more clarity than a French press",
        ),
        (
            "- [technique] Water at 96 °C extracts best #brewing",
            "- Technique: Water at 96 °C extracts best #brewing",
        ),
        (
            "- [preference] Ethiopian beans roasted light (my own taste)",
            "- Preference: Ethiopian beans roasted light (my own taste)",
        ),
        ("- [note] The kettle is slow", "- The kettle is slow"),
        ("- relates_to [[Coffee Bean Origins]]", "- Relates to: [[Coffee Bean Origins]]"),
        (
            "- requires [[Proper Grinding Technique]] (always)",
            "- Requires: [[Proper Grinding Technique]] (always)",
        ),
        ("- [[Kitchen Log]]", "- Relates to: [[Kitchen Log]]"),
    ]


def test_what_is_no_statement_stays_as_it_is() -> None:
    def check(line: str) -> None:
        assert convert_note(f"{line}\n") == f"{line}\n"

    check_rows(
        check,
        [
            "- [ ] task",
            "- [x] done",
            "- [-] given up",
            "- [text](https://example.org)",
            "  - [tech] indented",
            "- [a: b] a label with a colon",
            "- [tech] \u2028",
            "- [updated] 2026-01-01",
            "- prose with [[a link]] and more",
            "- [tech]no space",
            "- [tech] " + "x" * 20_000,
            "[tech] no bullet",
        ],
    )


LINES = (
    "- [tech] SQLite",
    "- uses [[SQLite]]",
    "- [[SQLite]]",
    "```",
    "<!--",
    "-->",
    "---",
    "# Title",
    "- [x] done",
)
"""What notes are made of."""


def test_a_statement_keeps_the_end_of_its_line_and_a_fence_its_lines() -> None:
    assert (
        convert_note("- [a] b\r\n```\r\n- [a] b\r\n```\r\n- to [[C]]")
        == "- A: b\r\n```\r\n- [a] b\r\n```\r\n- To: [[C]]"
    )


@given(
    st.lists(st.text(st.sampled_from("-*[]()x \r\t#`>aé:_\u2028\x00"), max_size=20) | st.sampled_from(LINES))
)
def test_whatever_a_note_holds_only_statements_change_and_they_are_facts(lines: list[str]) -> None:
    text = "\n".join(lines)
    made = convert_note(text).split("\n")
    facts = {fact.line for fact in parse("facts/x.md", "\n".join(made)).facts}
    inside = find_covered_lines(text)
    assert len(made) == len(text.split("\n"))
    for number, (old, new) in enumerate(zip(text.split("\n"), made, strict=True)):
        if old != new:
            assert number + 1 in facts
            assert not inside[number]
            assert "[" in old[:3] or "[[" in old


def test_a_vault_is_read_without_what_programs_put_there(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "plain", tmp_path / "vault")
    for name in (".obsidian/x.md", "node_modules/a/README.md", ".trash/old.md", "a/.hidden.md"):
        (tmp_path / "vault" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "vault" / name).write_text("no note")
    (tmp_path / "vault" / "Reading List.md").write_text("# Another\n")
    found, told = items_of(tmp_path / "vault")

    pages = {each.page: each for each in found if isinstance(each, ImportDocument)}
    assert set(pages) == {
        *("days/2026-04-02.md", "facts/ideas.md", "facts/reading-list.md", "facts/reading-list-2.md"),
        *("facts/todo.md", "facts/projects-harbour-walk.md"),
    }
    walk = pages["facts/projects-harbour-walk.md"]
    assert (walk.title, walk.ts, walk.topic) == ("Harbour Walk", 1775088000.0, "projects-harbour-walk")
    assert walk.text.startswith("---\ntitle: Harbour Walk\n")
    assert told == [
        "5 files were passed over: they are hidden, or in a folder that a program fills.",
        "1 file was passed over: it is not text.",
    ]


def test_a_vault_in_an_archive_has_the_same_keys(tmp_path: Path) -> None:
    expected = {each.key for each in items_of(SAMPLES / "plain")[0]}
    with tarfile.open(tmp_path / "v.tar.gz", "w:gz") as tar:
        tar.add(SAMPLES / "plain", "My Vault")
    with zipfile.ZipFile(tmp_path / "v.zip", "w") as packed:
        for path in (SAMPLES / "plain").rglob("*"):
            packed.write(path, Path("My Vault") / path.relative_to(SAMPLES / "plain"))
    assert {each.key for each in items_of(tmp_path / "v.tar.gz")[0]} == expected
    assert {each.key for each in items_of(tmp_path / "v.zip")[0]} == expected
    (tmp_path / "notes" / "Only").mkdir(parents=True)
    (tmp_path / "notes" / "Only" / "a.md").write_text("a")
    before = items_of(tmp_path / "notes")[0]
    (tmp_path / "notes" / "b.md").write_text("b")
    assert [each for each in items_of(tmp_path / "notes")[0] if each.key != "b.md"] == before


def test_a_folder_of_tiers_is_read_as_plain_notes() -> None:
    tiers = SAMPLES / "tiers" / ".toebeans"
    files = {
        "facts/soul.md": "SOUL.md",
        "facts/knowledge-user.md": "knowledge/USER.md",
        "facts/knowledge-anki-chinese-workflow.md": "knowledge/anki-chinese-workflow.md",
        "days/2026-02-20.md": "knowledge/2026-02-20.md",
    }
    assert texts(tiers) == {page: (tiers / file).read_text() for page, file in files.items()}


def test_a_memory_of_our_own_is_used_and_not_imported(place: Path, run: Run) -> None:
    with Memory(str(place / "other")) as memory:
        for page in ("SOUL.md", "USER.md", "facts/tea.md"):
            memory.pages.edit(page, "# Text\n", reason="x", author="person")
        memory.record(user="Hello there.")

    def check(part: str, form: str | None) -> None:
        code, _, err = run("import", str(place / "other" / part), *(["--as", form] if form else []), "--mine")
        assert code == 2
        assert ("is part of a looseleaf memory" if part else "is already a looseleaf memory") in err

    check_rows(
        check,
        product(["", "log/traces", "log/journal.jsonl", "facts", "USER.md"], [None, "plain", "messages"]),
    )


def test_what_only_lies_beside_the_pages_of_a_memory_is_imported(place: Path, run: Run, folder: Path) -> None:
    assert run("log")[0] == 0
    (folder / "old").mkdir()
    (folder / "old/note.md").write_text("The kiln is hot.\n", encoding="utf-8")
    assert run("import", str(folder / "old"))[0] == 0


# --- hostile contents ------------------------------------------------------------------

DEEP = b"[" * 20_000 + b"]" * 20_000
HOSTILE: dict[str, bytes] = {
    "nul.md": b"a\0b",
    "latin.md": "naïve".encode("latin-1"),
    "empty.md": b" \n",
    "long.md": b"x" * (notes.LONGEST + 1),
    "front.md": b"---\ntitle: never ends\n" + b"a: b\n" * 300,
    "quoted.md": b"---\ntitle: '\"'\ndate: not a day\n---\n",
    "line.md": b"- [a] " + b"[[" * 100_000,
    "con.md": b"# a device's name\n",
    "2026-99-99.md": b"# no day\n",
    "\u202egnp.md": "# \u202eturned\x1b[2J\n".encode(),
    "memory.jsonl": b'{"type":"entity","name":"x","entityType":"y","observations":["ok",5,null,"\\u2028","\\ud800"]}\n'
    b'{"type":"entity","name":7}\n{"type":"relation","from":"x"}\n5\n"text"\nno JSON\n\xff\xfe\n'
    b'{"type":"entity","deep":' + DEEP + b"}\n" + b'{"a":"' + b"y" * 2_000_000 + b'"}\n',
    "mem0.json": b'{"results":[{"id":1,"memory":"ok","user_id":["x"],"created_at":1e400,"categories":[{}]},'
    b'{"memory":5},null,[],{"memory":"\\u2028"},{"memory":"later","metadata":' + DEEP + b"}],"
    b'"relations":[{"source":"x"},{"source":"x","relationship":"y","target":5},5]}',
    "graph.json": b'{"entities":[5,{"name":"x","entityType":"","observations":[]}],"relations":[{"from":1}],"x":',
    "facts/x.md": b"\xff",
    "episodes/2026-01.md": b"# e\n",
    "knowledge/USER.md": b"- a\n",
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile")
    for name, data in HOSTILE.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def test_no_content_stops_an_import(hostile: Path, place: Path) -> None:
    """Whatever cannot be read is passed over and named; what is good beside it is taken, and a second import of it
    changes nothing."""

    def check(place: Path, form: str) -> None:
        for mine in (False, True):
            with ImportSource(hostile) as source, Memory(str(place / str(mine)), agent="import") as memory:
                first = import_from(memory, source, format_named(form), mine=mine)
                assert first.passed_over
                before = log_of(memory)
                assert import_from(memory, source, format_named(form), mine=mine).is_nothing
                assert log_of(memory) == before
                assert [str(each) for each in memory.check() if each.severity == "error"] == []

    check_rows(check, in_folders(place, sorted(set(FORMS.values()))))


def test_what_is_good_among_what_is_bad_is_taken(hostile: Path) -> None:
    found, told = items_of(hostile, "mcp-memory")
    assert [each.text for each in found if isinstance(each, ImportClaim)][:2] == ["y", "ok"]
    assert "memory.jsonl:1: an observation was passed over: it is not text." in told
    assert "memory.jsonl:2 was passed over: it is neither an entity nor a relation." in told
    found, told = items_of(hostile, "mem0")
    assert [(each.topic, each.text, each.ts) for each in found if isinstance(each, ImportClaim)] == [
        ("user", "ok", None),
    ]
    assert "mem0.json: number 1 was passed over: it is not a memory." in told
    found, told = items_of(hostile, "plain")
    by_page = {each.page for each in found if isinstance(each, ImportDocument)}
    assert all(page and path_fault(page) is None and is_page(page) for page in by_page)
    for sentence in (
        "nul.md was passed over: it is not text.",
        "latin.md was passed over: it is not UTF-8.",
        "empty.md was passed over: it is empty.",
        f"long.md was passed over: it is longer than a page may be ({notes.LONGEST:,} bytes). Split it.",
    ):
        assert sentence in told


def test_a_file_that_breaks_off_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    """In an archive whose bytes were damaged: `Broken` is said, and nothing is lost beside it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name in ("a.md", "memory.jsonl", "mem0.json", "z.md"):
            archive.writestr(name, f"{name}: MARK" + " words" * 50)
    data = packed.getvalue()
    for name in ("a.md", "memory.jsonl", "mem0.json"):
        data = data.replace(f"{name}: MARK".encode(), f"{name}: DAMG".encode())
    (tmp_path / "x.zip").write_bytes(data)

    found, told = items_of(tmp_path / "x.zip", "plain")
    assert [each.key for each in found] == ["z.md"]
    assert any("a.md" in note and "not read" in note for note in told)
    for form in ("mcp-memory", "mem0"):
        assert items_of(tmp_path / "x.zip", form)[0] == []


def test_what_stood_before_the_damage_of_a_store_is_taken(tmp_path: Path) -> None:
    lines = [
        json.dumps(
            {"type": "entity", "name": f"thing {number}", "entityType": "t", "observations": ["x" * 40]}
        )
        for number in range(1000)
    ]
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("memory.jsonl", "\n".join(lines))
    data = (tmp_path / "x.zip").read_bytes()
    (tmp_path / "x.zip").write_bytes(data.replace(b"thing 999", b"thing 998"))

    found, told = items_of(tmp_path / "x.zip", "mcp-memory")
    assert len(told) == 1
    assert "memory.jsonl was not read to its end" in told[0]
    assert {each.text for each in found if isinstance(each, ImportClaim)} <= {"t", "x" * 40}


def test_a_single_file_is_what_its_user_says(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"entities": {}}')
    assert items_of(tmp_path / "x.json", "mcp-memory")[0] == []
    (tmp_path / "y.json").write_text('{"memories": [{"memory": "Likes rye"}]}')
    assert claims(tmp_path / "y.json", "mem0") == {("user", None, "Likes rye")}
    with (
        ImportSource(tmp_path / "y.json") as source,
        pytest.raises(Refused, match="is not known"),
    ):
        detect(source)


@pytest.mark.parametrize(
    "names",
    [
        lambda many: [f"w{number}/{name}" for number in range(many) for name in ("SOUL.md", "USER.md")],
        lambda many: ["a/" * 30 + f"{number}.md" for number in range(many)],
    ],
)
def test_many_files_take_time_in_proportion(names: Callable[[int], list[str]]) -> None:
    """Of names alone: whoever sends a hundred thousand workspaces sends that many files."""

    class Names:
        kind = "zip"
        path = "x.zip"

        def __init__(self, many: int) -> None:
            self._names = tuple(names(many))

        def names(self) -> tuple[str, ...]:
            return self._names

        def __contains__(self, name: str) -> bool:
            return False

        def read(self, name: str, most: int) -> bytes:
            return b""

        def head(self, name: str, size: int = 0) -> bytes:
            return b""

    def work(many: int) -> Callable[[], object]:
        source: Any = Names(many)

        def look() -> None:
            for form in sorted(set(FORMS.values())):
                format_named(form).detect(source)
                assert not list(format_named(form).read(source, lambda _: None))

        return look

    assert growth(work, 40) < LINEAR
