"""The word tables of `data/language/`: each line is one that its reader understands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import looseleaf
from looseleaf.language import tables
from looseleaf.language.relations import BY_LABEL
from looseleaf.language.tables import (
    read_lines,
    read_names,
    read_pattern,
    read_patterns,
    read_rows,
    read_words,
)
from tables import check_rows

FILES = sorted((Path(looseleaf.__file__).parent / "data" / "language").glob("*.txt"))
PATTERNS = ("clauses", "forbidding", "own_words", "promises", "sentences", "slot_values", "wording")
WORDS_AMONG_PATTERNS = {
    "headings",
    "hollow",
    "no item",
    "no trade",
    "short forms",
    "greetings",
    "beside greetings",
    "cues",
    "wide cues",
}


def sections_of(file: Path) -> list[str]:
    return re.findall(r"(?m)^\[([a-z ]+)\]$", file.read_text("utf-8"))


def test_no_line_has_blanks_at_its_end_and_each_section_comes_once_after_an_empty_line() -> None:
    def check(file: Path) -> None:
        text = file.read_text("utf-8")
        assert [line for line in text.splitlines() if line != line.rstrip()] == []
        sections = sections_of(file)
        assert sections == list(dict.fromkeys(sections))
        assert all(f"\n\n[{section}]\n" in text for section in sections)
        assert all(read_lines(file.stem, section) for section in sections)

    check_rows(check, FILES)


def test_every_pattern_compiles_and_none_is_left_unfilled() -> None:
    def check(file: str, section: str) -> None:
        for pattern in read_patterns(file, section):
            assert not re.search(r"\{[a-z ]+\}", pattern)
            re.compile(pattern)

    check_rows(
        check,
        [
            (file.stem, section)
            for file in FILES
            if file.stem in PATTERNS
            for section in sections_of(file)
            if section not in WORDS_AMONG_PATTERNS
        ],
    )


def test_the_names_of_relations_are_rows_of_known_labels() -> None:
    assert {
        label.casefold() for label in read_names("relation_names", "relations").values()
    } == BY_LABEL.keys()
    for section in ("leads", "tails"):
        assert read_rows("value_words", section).keys() <= BY_LABEL.keys() | {"favorite"}


def test_every_language_with_stop_words_has_a_stemmer() -> None:
    Stemmer = pytest.importorskip("Stemmer")
    named = read_rows("stop_words", "latin").keys() | read_rows("stop_words", "other").keys()
    assert named <= set(Stemmer.algorithms())


def test_a_file_is_made_of_sections_rows_and_comments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "made.txt").write_text(
        "# A comment.\nfirst words\n\n[rows]\none: a b\n    c\n\n# Another.\n\n[names]\n"
        "Home: lives | City |\n    town\n\n[part]\nx|y\n\n[pattern]\na{1,2}(?:{part})|\n    b\n[z]+\n",
        "utf-8",
    )
    monkeypatch.setattr(tables, "_FOLDER", str(tmp_path))
    assert read_words("made", "") == ["first", "words"]
    assert read_rows("made", "rows") == {"one": ["a", "b", "c"]}
    assert read_names("made", "names") == {"lives": "Home", "city": "Home", "town": "Home"}
    assert read_pattern("made", "pattern") == "a{1,2}(?:x|y)|b|[z]+"
