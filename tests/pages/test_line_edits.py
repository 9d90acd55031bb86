"""A page is edited a line at a time; no other line changes, and no content becomes structure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from drawing import core
from looseleaf.base.errors import Refused
from looseleaf.base.values import Fact, PageText
from looseleaf.pages.grammar import (
    NOTE,
    add_episode,
    add_fact,
    as_written,
    escape,
    new_page,
    parse,
    remove_line,
    replace_fact,
    set_summary,
    set_updated,
    topic_of,
)
from tables import check_rows

if TYPE_CHECKING:
    from looseleaf.base.values import Kind
from page_texts import FEBRUARY, USER, fact_paths, hostile, kinds, page_texts, paths, sayings


def bodies(page: PageText) -> list[str]:
    """The lines without their ends. A `\\r` that no `\\n` follows is no end (FORMAT §10.1)."""
    return [
        line.removesuffix("\r\n") if line.endswith("\r\n") else line.removesuffix("\n") for line in page.lines
    ]


def without_lines(facts: tuple[Fact, ...]) -> list[tuple[object, ...]]:
    return [(f.topic, f.subject, f.relation, f.object, f.kind, f.status, f.tags) for f in facts]


def inserted(old: PageText, new: PageText) -> list[int]:
    """Assert that `new` is `old` with a run of lines more, all roles kept; the places of those lines."""
    pairs = zip(old.text, new.text, strict=False)
    shared = next((n for n, (was, now) in enumerate(pairs) if was != now), len(old.text))
    assert new.text.endswith(old.text[shared:]), "bytes of the page were changed"
    more = len(new.lines) - len(old.lines)
    olds, news = (
        list(zip(bodies(old), old.roles, strict=True)),
        list(zip(bodies(new), new.roles, strict=True)),
    )
    for at in range(len(olds) + 1):
        # A line inserted at the top stands behind the byte order mark of the old first line.
        if news[:at] + news[at + more :] == olds or (
            at == 0
            and old.text.startswith("\ufeff")
            and bodies(new)[more:] == [olds[0][0][1:], *bodies(old)[1:]]
        ):
            return list(range(at, at + more))
    raise AssertionError(f"roles changed:\n{olds}\n{news}")


# --- content that would be structure ------------------------------------------------------------------


@given(hostile)
@example("\r\n\t\x0b\x0c\x1c\x85\u2028\u2029")
def test_escaped_content_is_one_visible_line_and_escaping_again_changes_nothing(content: str) -> None:
    line = escape(content)
    assert escape(line) == line == line.strip()
    assert len(line.splitlines()) <= 1
    line.encode()
    assert not any(char < " " or "\x7f" <= char <= "\x9f" or "\u202a" <= char <= "\u202e" for char in line)


def test_what_is_escaped_stays_readable() -> None:
    assert escape(" a \r\n\n b\tc\x1b[0m\ud800\U000e0041 长　d ") == "a b c\\x1b[0m\\ud800\\U000e0041 长　d"


@given(hostile, sayings)
def test_what_is_written_is_written_the_same_again(relation: str, said: str) -> None:
    written = as_written(relation, said)
    assert as_written(*written) == written
    assert escape(said) in written[1]


def test_what_could_be_read_as_anything_else_is_labelled_as_a_note() -> None:
    def check(relation: str, said: str, line: str) -> None:
        assert add_fact("# T\n", "facts/t.md", relation, said) == f"# T\n\n{line}\n"

    check_rows(
        check,
        [
            ("Name", "Zhang San", "- Name: Zhang San"),
            ("**Name:**", "Zhang San", "- Name: Zhang San"),
            ("Name：", "Zhang\nSan", "- Name: Zhang San"),
            ("", "likes tea", "- likes tea"),
            ("Note", "likes tea", "- likes tea"),
            ("note", "Name: Zhang San", "- Note: Name: Zhang San"),
            ("note", "# Title", "- Note: # Title"),
            ("note", "> Summary: x", "- Note: > Summary: x"),
            ("note", "```", "- Note: ```"),
            ("note", "- x", "- Note: - x"),
            ("note", "1. x", "- Note: 1. x"),
            ("note", "[ ] x", "- Note: [ ] x"),
            ("note", "<!-- x", "- Note: <!-- x"),
            ("note", "Name:", "- Note: Name:"),
            ("Name: x", "y", "- Note: Name: x: y"),
            ("Updated", "2026-02-24", "- Note: Updated: 2026-02-24"),
            ("Updated", "the kitchen", "- Updated: the kitchen"),
            ("# Name", "y", "- Note: # Name: y"),
            ("[link]", "https://example.org", "- Note: [link]: https://example.org"),
            ("one two three four five six seven", "y", "- one two three four five six seven: y"),
            ("name\n- Role", "y", "- name - Role: y"),
        ],
    )


@core
@given(page_texts(), fact_paths, hostile, sayings, kinds)
@example("- A: 1\n  ```\n  open", "facts/t.md", "B", "2", None)
@example("```", "facts/t.md", "B", "2", None)
@example("\ufeff```", "facts/t.md", "B", "2", None)
@example("## Events\n<!--", "facts/t.md", "B", "2", "event")
def test_adding_a_fact_adds_that_fact_and_touches_nothing_else(
    text: str, path: str, relation: str, said: str, kind: Kind | None
) -> None:
    assume(text.strip("\ufeff"))
    old, new = parse(path, text), parse(path, add_fact(text, path, relation, said, kind))
    places = inserted(old, new)
    facts = [fact for fact in new.facts if (fact.line or 0) - 1 in places]
    headed = kind if kind in _headed(old) else None
    status = "pending" if path.startswith("review/") else "current"
    topic = topic_of(path)
    assert without_lines(tuple(facts)) == [(topic, topic, *as_written(relation, said), headed, status, ())]
    others = [fact for fact in new.facts if (fact.line or 0) - 1 not in places]
    assert without_lines(tuple(others)) == without_lines(old.facts)
    assert (new.title, new.summary, new.updated) == (old.title, old.summary, old.updated)
    assert all(
        new.roles[at] == "fact" or (new.roles[at] == "prose" and not new.lines[at].strip("\ufeff\r\n"))
        for at in places
    )


def _headed(page: PageText) -> set[Kind]:
    """The kinds that have a heading on the page: told by what a bullet under each one is."""
    found: set[Kind] = set()
    for n, role in enumerate(page.roles):
        if role == "kind":
            kind = parse("facts/t.md", page.lines[n].strip("\ufeff\r\n") + "\n- x\n").facts[0].kind
            assert kind is not None
            found.add(kind)
    return found


@given(page_texts(), fact_paths, hostile, sayings)
def test_replacing_a_fact_changes_its_line_only(text: str, path: str, relation: str, said: str) -> None:
    old = parse(path, text)
    for n, fact in enumerate(old.facts):
        assert fact.line
        new = parse(path, replace_fact(text, path, fact.line, relation, said))
        assert new.roles == old.roles
        at = fact.line - 1
        assert new.lines[:at] + new.lines[at + 1 :] == old.lines[:at] + old.lines[at + 1 :]
        assert without_lines((new.facts[n],)) == [
            (fact.topic, fact.subject, *as_written(relation, said), fact.kind, fact.status, fact.tags)
        ]
        assert new.lines[at].startswith("\ufeff") == old.lines[at].startswith("\ufeff")
        assert new.lines[at].endswith("\r\n") == old.lines[at].endswith("\r\n")
        assert new.lines[at].endswith("\n") == old.lines[at].endswith("\n")
        # Put back, it says what it said.
        back = parse(path, replace_fact(new.text, path, fact.line, fact.relation, fact.object))
        assert without_lines((back.facts[n],)) in (
            without_lines((fact,)),
            [
                (
                    fact.topic,
                    fact.subject,
                    *as_written(fact.relation, fact.object),
                    fact.kind,
                    fact.status,
                    fact.tags,
                )
            ],
        )


@given(page_texts(), fact_paths)
def test_removing_a_fact_leaves_every_other_line_with_its_role(text: str, path: str) -> None:
    old = parse(path, text)
    for n, fact in enumerate(old.facts):
        assert fact.line
        new = parse(path, remove_line(text, fact.line))
        at = fact.line - 1
        kept = "\ufeff" if at == 0 and text.startswith("\ufeff") else ""
        assert new.text == kept + "".join(old.lines[:at] + old.lines[at + 1 :])
        if at > 0:  # what comes to stand first on a page may become front matter
            assert new.roles == old.roles[:at] + old.roles[at + 1 :]
            assert without_lines(new.facts) == without_lines(old.facts[:n] + old.facts[n + 1 :])


@given(page_texts(), paths, hostile)
@example("---\na: 1\n---\n", "facts/t.md", "x")
@example("---\na: 1\n---", "facts/t.md", "x")
def test_setting_the_summary_sets_it_and_touches_nothing_else(text: str, path: str, summary: str) -> None:
    assume(text.strip("\ufeff"))
    old = parse(path, text)
    result = set_summary(text, summary)
    new = parse(path, result)
    assert set_summary(result, summary) == result
    if old.summary is None and not escape(summary):
        assert result == text
        return
    assert new.summary == escape(summary)
    if old.summary is None:
        places = inserted(old, new)
        assert [new.roles[at] for at in places if new.roles[at] != "prose"] == ["summary"]
    else:
        at = old.roles.index("summary")
        assert new.roles == old.roles
        assert new.lines[:at] + new.lines[at + 1 :] == old.lines[:at] + old.lines[at + 1 :]


@given(page_texts(), fact_paths, st.dates().map(str))
def test_setting_the_date_sets_it_and_touches_nothing_else(text: str, path: str, date: str) -> None:
    assume(text.strip("\ufeff"))
    old = parse(path, text)
    result = set_updated(text, path, date)
    new = parse(path, result)
    if path.startswith("review/"):
        assert result == text
        return
    assert new.updated == date
    assert set_updated(result, path, date) == result
    assert without_lines(new.facts) == without_lines(old.facts)
    if old.updated is None:
        places = inserted(old, new)
        assert [new.roles[at] for at in places if new.roles[at] != "prose"] == ["updated"]
    else:
        assert new.roles == old.roles


@given(page_texts(), hostile, st.lists(st.tuples(hostile, hostile), max_size=4))
def test_adding_an_episode_adds_it_and_touches_nothing_else(
    text: str, title: str, fields: list[tuple[str, str]]
) -> None:
    path = "episodes/2026-02.md"
    assume(text.strip("\ufeff"))
    old = parse(path, text)
    try:
        new = parse(path, add_episode(text, path, title, fields))
    except Refused:
        assert not escape(title).strip("# \t")
        return
    places = inserted(old, new)
    added = [episode for episode in new.episodes if episode.line - 1 in places]
    written = [as_written(*pair) for pair in fields if escape(pair[1])]
    assert len(added) == 1
    assert added[0].fields == tuple(pair for pair in written if pair[0] != NOTE)
    assert added[0].notes == tuple(said for label, said in written if label == NOTE)
    assert added[0].title in escape(title)
    others = [(e.title, e.fields, e.notes) for e in new.episodes if e is not added[0]]
    assert others == [(e.title, e.fields, e.notes) for e in old.episodes]
    assert (new.title, new.summary) == (old.title, old.summary)


# --- where an edit goes -------------------------------------------------------------------------------


def test_pages_made_line_by_line_are_the_pages_of_the_format() -> None:
    path = "facts/user.md"
    text = new_page(path, "User Facts", "user name, language, role")
    text = add_fact(text, path, "Name", "Zhang San")
    text = add_fact(text, path, "Language", "prefers Chinese discussion, English code")
    text = set_updated(text, path, "2026-02-23")
    text = add_fact(text, path, "Role", "Full-stack developer")
    assert set_updated(text, path, "2026-02-24") == USER
    page = parse("episodes/2026-02.md", FEBRUARY)
    text = ""
    for episode in page.episodes:
        text = add_episode(text, "episodes/2026-02.md", episode.title, episode.fields)
    assert set_summary(text, "logger fix, short ID, config refactor") == FEBRUARY


def test_a_new_page_has_a_title_from_its_path() -> None:
    def check(path: str, title: str) -> None:
        assert new_page(path) == f"# {title}\n"
        assert new_page(path, "Mine\n# x #", " s\n ") == "# Mine # x\n\n> Summary: s\n"

    check_rows(
        check,
        [
            ("USER.md", "User Facts"),
            ("facts/daily-schedule_notes.md", "Daily Schedule Notes Facts"),
            ("facts/work/api.md", "Work Api Facts"),
            ("facts/工作.md", "工作 Facts"),
            ("episodes/2026-02.md", "2026-02 Episodes"),
            ("review/pending.md", "Pending"),
            ("days/2026-02-24.md", "2026-02-24"),
            ("", "Page"),
        ],
    )


def test_the_first_fact_of_a_page_that_does_not_exist_makes_the_page() -> None:
    assert add_fact("", "USER.md", "Name", "Zhang San") == "# User Facts\n\n- Name: Zhang San\n"
    assert add_fact("", "review/pending.md", "Name", "Zhang San") == "# Pending\n\n- [ ] Name: Zhang San\n"
    assert set_updated("", "USER.md", "2026-02-24") == "# User Facts\n\n- Updated: 2026-02-24\n"


def test_a_fact_goes_where_a_careful_person_would_put_it() -> None:
    def check(before: str, kind: Kind | None, after: str) -> None:
        assert add_fact(before, "facts/t.md", "New", "x", kind) == after

    check_rows(
        check,
        [
            ("# T", None, "# T\n\n- New: x\n"),
            ("# T\r\n", None, "# T\r\n\r\n- New: x\r\n"),
            ("# T\n\n", None, "# T\n\n- New: x\n"),
            ("- A: 1", None, "- A: 1\n- New: x\n"),
            ("- A: 1\r\n- B: 2", None, "- A: 1\r\n- B: 2\r\n- New: x\r\n"),
            ("\ufeff- A: 1\n\ntext\n", None, "\ufeff- A: 1\n- New: x\n\ntext\n"),
            ("- A: 1\n- Updated: 2026-01-01\n", None, "- A: 1\n- New: x\n- Updated: 2026-01-01\n"),
            ("# T\n\n- Updated: 2026-01-01\n", None, "# T\n\n- New: x\n- Updated: 2026-01-01\n"),
            # what continues a fact stays with it
            (
                "- A: 1\n  more\n  - nested\n\n  more\n\nend\n",
                None,
                "- A: 1\n  more\n  - nested\n\n  more\n- New: x\n\nend\n",
            ),
            ("- A: 1\nlazy\n---\n", None, "- A: 1\nlazy\n- New: x\n---\n"),
            ("- A: 1\n  ```\n- code\n  ```\n# B\n", None, "- A: 1\n  ```\n- code\n  ```\n- New: x\n# B\n"),
            ("- A: 1\n  ```\n- code\n", None, "- New: x\n- A: 1\n  ```\n- code\n"),
            # what is never closed stays last
            ("# T\n```\ncode\n", None, "# T\n\n- New: x\n\n```\ncode\n"),
            ("\ufeff<!--\n", None, "\ufeff- New: x\n\n<!--\n"),
            ("\ufeff", None, "\ufeff- New: x\n"),
            # under its kind, or under none
            ("# T\n\n## Events\n- A: 1\n", None, "# T\n\n- New: x\n\n## Events\n- A: 1\n"),
            ("# T\n\n## Events\n- A: 1\n", "trait", "# T\n\n- New: x\n\n## Events\n- A: 1\n"),
            (
                "## Events\n- A: 1\n\n## Traits\n- B: 2\n",
                "event",
                "## Events\n- A: 1\n- New: x\n\n## Traits\n- B: 2\n",
            ),
            ("## Events\n\n## Traits\n", "event", "## Events\n\n- New: x\n\n## Traits\n"),
            ("## Events\nwords\n\n\n# B\n", "event", "## Events\nwords\n\n- New: x\n\n\n# B\n"),
            ("## Events\n```\n", "event", "## Events\n\n- New: x\n\n```\n"),
            (
                "## Events\n- A: 1\n- Updated: 2026-01-01\n",
                None,
                "- New: x\n\n## Events\n- A: 1\n- Updated: 2026-01-01\n",
            ),
        ],
    )


def test_a_replaced_fact_keeps_its_bullet_and_the_look_of_its_label() -> None:
    def check(before: str, relation: str, said: str, after: str) -> None:
        assert replace_fact(before, "facts/t.md", 1, relation, said) == after

    check_rows(
        check,
        [
            ("- A: 1\r\n", "A", "2", "- A: 2\r\n"),
            ("*\tA :  1  ", "A", "2", "*\tA :  2"),
            ("\ufeff+ **A:** 1\n", "A", "2", "\ufeff+ **A:** 2\n"),
            ("- **A:** 1\n", "B", "2", "- B: 2\n"),
            ("- a note\n", "", "another", "- another\n"),
            ("- a note\n", "note", "A: 1", "- Note: A: 1\n"),
            ("- Note: A: 1\n", "note", "B", "- Note: B\n"),
            ("- a \x00\n", "note", "b", "- b\n"),
        ],
    )


def test_a_replaced_item_of_a_review_page_keeps_its_tick() -> None:
    assert replace_fact("- [x] A: 1\n", "review/pending.md", 1, "A", "2") == "- [x] A: 2\n"
    assert replace_fact("- [x] A: 1\n", "review/pending.md", 1, "B", "2") == "- [x] B: 2\n"


def test_a_line_is_removed_with_its_end_and_the_byte_order_mark_stays() -> None:
    assert remove_line("\ufeffa\r\nb\nc", 1) == "\ufeffb\nc"
    assert remove_line("\ufeffa\r\nb\nc", 2) == "\ufeffa\r\nc"
    assert remove_line("\ufeffa\r\nb\nc", 3) == "\ufeffa\r\nb\n"


def test_a_summary_goes_under_the_title_or_in_place_of_the_old_one() -> None:
    def check(before: str, after: str) -> None:
        assert set_summary(before, "s") == after

    check_rows(
        check,
        [
            ("", "> Summary: s\n"),
            ("# T", "# T\n\n> Summary: s\n"),
            ("# T\n- A: 1\n", "# T\n\n> Summary: s\n\n- A: 1\n"),
            ("# T\n\n- A: 1\n", "# T\n\n> Summary: s\n\n- A: 1\n"),
            ("text\n# T\r\n", "text\n# T\r\n\n> Summary: s\n"),
            ("\ufeff- A: 1\r\n", "\ufeff> Summary: s\r\n\r\n- A: 1\r\n"),
            ("---\na: 1\n---\n- A: 1\n", "---\na: 1\n---\n\n> Summary: s\n\n- A: 1\n"),
            ("```\ncode\n", "> Summary: s\n\n```\ncode\n"),
            ("# T\n>summary：old\r\n", "# T\n> Summary: s\r\n"),
            ("# T\n> **Summary:** s\n", "# T\n> **Summary:** s\n"),
        ],
    )


def test_a_summary_can_be_emptied() -> None:
    assert set_summary("# T\n> Summary: s\n", "\n") == "# T\n> Summary:\n"
    assert set_summary("# T\n", " ") == "# T\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- A: 1", "- A: 1\n- Updated: 2026-02-24\n"),
        ("# T\n", "# T\n\n- Updated: 2026-02-24\n"),
        (
            "- A: 1\n## Events\n- B: 2\n  more\n\nend\n",
            "- A: 1\n## Events\n- B: 2\n  more\n- Updated: 2026-02-24\n\nend\n",
        ),
        ("* **updated**: 2025-01-01 10:00  \r\n- A: 1\n", "* **updated**: 2026-02-24\r\n- A: 1\n"),
    ],
)
def test_the_date_goes_after_the_last_fact_or_in_place_of_the_old_one(before: str, after: str) -> None:
    assert set_updated(before, "facts/t.md", "2026-02-24") == after


def test_an_edit_that_cannot_be_made_says_what_to_do_instead() -> None:
    with pytest.raises(Refused, match=r"No fact was added to days/2026-02-24\.md: .* facts/<topic>\.md"):
        add_fact("", "days/2026-02-24.md", "A", "1")
    with pytest.raises(Refused, match="it is empty"):
        add_fact("", "USER.md", "A", " \n\t")
    with pytest.raises(Refused, match=r"USER\.md was not changed: its line 1 is not a fact\."):
        replace_fact("# T\n", "USER.md", 1, "A", "1")
    with pytest.raises(Refused, match="there is no line 2; the page has 1"):
        remove_line("a\n", 2)
    with pytest.raises(Refused, match="there is no line 0; the page has 0"):
        remove_line("", 0)
    with pytest.raises(Refused, match=r"episodes belong in episodes/<yyyy-mm>\.md"):
        add_episode("", "USER.md", "Title", [])
    with pytest.raises(Refused, match="it has no title"):
        add_episode("", "episodes/2026-02.md", "\n##", [])
    with pytest.raises(ValueError, match="not a date: 'today'"):
        set_updated("", "USER.md", "today")
