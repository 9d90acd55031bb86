"""A page is read without losing a byte, whatever it is made of."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from drawing import core
from growth import LINEAR, growth
from looseleaf.base.values import KINDS, Episode, Fact, PageText, Prose
from looseleaf.pages import grammar
from looseleaf.pages.grammar import (
    NOTE,
    add_episode,
    add_fact,
    drawer,
    escape,
    parse,
    replace_fact,
    set_summary,
    set_updated,
    summary_of,
    topic_of,
)
from tables import check_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.base.values import Kind, Role
from page_texts import FEBRUARY, USER, page_texts, paths

EDITED = st.sampled_from(
    [
        *(
            "- likes tea",
            "- Name: Ana",
            "* Home: Lyon",
            "  more",
            "text",
            "",
            "- Updated: 2026-01-02",
            "- a\r",
        ),
        *(
            "# Title",
            "## Preferences",
            "## Found by agents",
            "### Events",
            "> Summary: x",
            "- [x] c: d",
            "---",
        ),
        *(
            "...",
            "```",
            "- ~~~",
            "<!-- x",
            "-->",
            "\ufeff- mark",
            "## Two",
            "- Updated: 2026-03-04",
            "- [ ] a: b",
        ),
    ]
)


@core
@given(paths, st.lists(EDITED, max_size=12), st.data())
def test_a_page_read_again_after_edits_is_the_page_read_anew(
    path: str, lines: list[str], data: st.DataObject
) -> None:
    before, grammar._LONG = grammar._LONG, 1
    try:
        for _ in range(3):
            text = "\n".join(lines)
            assert vars(grammar._read_page(path, text)) == vars(grammar._read_whole(path, text))
            at = data.draw(st.integers(0, len(lines)))
            lines[at : at + data.draw(st.integers(0, 2))] = data.draw(st.lists(EDITED, max_size=2))
    finally:
        grammar._LONG = before
        grammar._last_read.cache_clear()


@core
@given(paths, page_texts())
@example("facts/user.md", USER)
@example("episodes/2026-02.md", FEBRUARY)
@example("facts/user.md", "")
@example("facts/user.md", "\r\n\r")
def test_reading_loses_no_byte_and_gives_every_line_one_role(path: str, text: str) -> None:
    page = parse(path, text)
    assert page.text == text
    assert len(page.roles) == len(page.lines)

    def lines(role: Role) -> list[int]:
        return [n for n, given in enumerate(page.roles, 1) if given == role]

    assert len(lines("title")) == (page.title is not None)
    assert len(lines("summary")) == (page.summary is not None)
    assert bool(lines("updated")) == (page.updated is not None)
    assert [fact.line for fact in page.facts] == lines("fact")
    spans = [range(episode.line, episode.end + 1) for episode in page.episodes]
    parts = [1 + len(episode.fields) + len(episode.notes) for episode in page.episodes]
    assert [sum(n in span for n in lines("episode")) for span in spans] == parts
    assert sum(parts) == len(lines("episode"))
    covered = [n for run in page.prose for n in range(run.line, run.end + 1)]
    assert len(covered) == len(set(covered))
    assert set(covered) <= set(lines("prose"))
    assert all(page.lines[n - 1].strip("\ufeff \t\r\n\x0b\x0c") == "" for n in {*lines("prose")} - {*covered})
    assert all(run.text == "".join(page.lines[run.line - 1 : run.end]) for run in page.prose)


@given(paths, page_texts())
def test_everything_read_off_a_page_is_one_visible_line(path: str, text: str) -> None:
    page = parse(path, text)
    said = [page.title, page.summary, page.updated, *(e.title for e in page.episodes)]
    said += [value for fact in page.facts for value in (fact.relation, fact.object)]
    said += [
        value for e in page.episodes for value in (*e.notes, *(part for pair in e.fields for part in pair))
    ]
    assert all(value == escape(value) for value in said if value is not None)
    assert all(fact.relation and fact.object for fact in page.facts)


def test_a_page_of_facts_reads_as_the_format_says() -> None:
    assert parse("facts/user.md", USER) == PageText(
        topic="user",
        lines=tuple(USER.splitlines(keepends=True)),
        roles=("title", "prose", "summary", "prose", "fact", "fact", "fact", "updated"),
        title="User Facts",
        summary="user name, language, role",
        updated="2026-02-24",
        facts=(
            Fact("user", "user", "Name", "Zhang San", None, 5),
            Fact("user", "user", "Language", "prefers Chinese discussion, English code", None, 6),
            Fact("user", "user", "Role", "Full-stack developer", None, 7),
        ),
    )


def test_a_page_of_episodes_reads_as_the_format_says() -> None:
    page = parse("episodes/2026-02.md", FEBRUARY)
    assert page.episodes == (
        Episode(
            "Logger stdout leak fix",
            5,
            10,
            (
                ("Summary", "pino pipeline stdout leak → custom JS transport"),
                ("Date", "2026-02-24"),
                ("Problem", "pino-pretty in pipeline mode leaks to stdout"),
                ("Solution", "Custom line-transport.js, removed pipeline entirely"),
                ("Lesson", "pino worker threads cannot load .ts files in Bun"),
            ),
        ),
        Episode(
            "Short ID implementation",
            12,
            17,
            (
                ("Summary", "UUID → 16-char hex short ID"),
                ("Date", "2026-02-24"),
                ("Task", "Replace full UUID with shorter IDs"),
                ("Solution", "First 64 bits of UUID v4 as 16-char hex"),
                ("Collision probability", "~1 in 2^64"),
            ),
        ),
    )
    assert (page.title, page.facts, page.prose) == ("2026-02 Episodes", (), ())
    assert page.episodes[0].get("lesson") == "pino worker threads cannot load .ts files in Bun"


def test_an_episode_keeps_free_bullets_apart_and_prose_and_fences_in_its_span() -> None:
    text = (
        "- before: any episode\n## First #\n- one\n\nprose\n```\n## no heading\n- no: field\n```\n### detail\n"
        "- Label: x\n- Empty:\n* * *\n\n##\n- nobody's\n## Second\n# Late title\n- nobody's\n"
    )
    page = parse("episodes/2026-02.md", text)
    assert page.episodes == (
        Episode("First", 2, 13, (("Label", "x"),), ("one",)),
        Episode("Second", 17, 17),
    )
    assert page.title == "Late title"
    assert [n for n, role in enumerate(page.roles, 1) if role == "episode"] == [2, 3, 11, 17]


def test_a_bullet_is_a_fact() -> None:
    def check(bullet: str, relation: str, said: str) -> None:
        page = parse("facts/topic.md", bullet + "\r\n")
        assert page.facts == (Fact("topic", "topic", relation, said, None, 1),)
        assert page.roles == ("fact",)

    check_rows(
        check,
        [
            ("- Name: Zhang San", "Name", "Zhang San"),
            ("* Name: Zhang San", "Name", "Zhang San"),
            ("+ Name: Zhang San", "Name", "Zhang San"),
            ("-\tName:\tZhang San  ", "Name", "Zhang San"),
            ("- Name : Zhang San", "Name", "Zhang San"),
            ("- **Name:** Zhang San", "Name", "Zhang San"),
            ("- **Name**: Zhang San", "Name", "Zhang San"),
            ("- __Name:__ Zhang San", "Name", "Zhang San"),
            ("- *Name*: Zhang San", "Name", "Zhang San"),
            ("- 姓名：张三", "姓名", "张三"),
            ("- 姓名:张三", "姓名", "张三"),
            ("- **姓名：**张三", "姓名", "张三"),
            ("- Prénom: Zoë", "Prénom", "Zoë"),
            ("- Site: https://example.org", "Site", "https://example.org"),
            ("- C++: since 1998", "C++", "since 1998"),
            ("- Address (home): Rue 1", "Address (home)", "Rue 1"),
            ("- `make test`: runs all", "`make test`", "runs all"),
            ("- snake_case: yes", "snake_case", "yes"),
            ("- Updated: the kitchen", "Updated", "the kitchen"),
            ("- Note: plain", NOTE, "plain"),
            ("- NOTE: plain", NOTE, "plain"),
            ("- likes tea", NOTE, "likes tea"),
            ("- see https://x.y", NOTE, "see https://x.y"),
            ("- see https://x.y: a site", NOTE, "see https://x.y: a site"),
            ("- at 10:30 we met", NOTE, "at 10:30 we met"),
            ("- 上午10：30开会", NOTE, "上午10：30开会"),
            ("- 2026-02-24: shipped", NOTE, "2026-02-24: shipped"),
            ("- std::vector is fine", NOTE, "std::vector is fine"),
            ("- C:\\folder", NOTE, "C:\\folder"),
            ("- Name:Zhang", NOTE, "Name:Zhang"),
            ("- : nothing", NOTE, ": nothing"),
            ("- one two three four five six seven: x", NOTE, "one two three four five six seven: x"),
            ("- one two three four five six: x", "one two three four five six", "x"),
            (f"- {'r' * 60}: x", "r" * 60, "x"),
            (f"- {'r' * 61}: x", NOTE, f"{'r' * 61}: x"),
            ("- He said, and I quote,: x", NOTE, "He said, and I quote,: x"),
            ("- Really?: x", NOTE, "Really?: x"),
            ("- `a: b` is code", NOTE, "`a: b` is code"),
            ('- "a: b" is quoted', NOTE, '"a: b" is quoted'),
            ("- (a: b)", NOTE, "(a: b)"),
            ("- **a** and **b:** c", NOTE, "**a** and **b:** c"),
            ("- #hashtag", NOTE, "#hashtag"),
            ("- >50% agree", NOTE, ">50% agree"),
            ("- ```inline``` code", NOTE, "```inline``` code"),
            ("- a\u2028b\x0bc\x00", NOTE, "a b c\\x00"),
            ("\ufeff- Name: Zhang San", "Name", "Zhang San"),
        ],
    )


def test_any_other_line_is_prose() -> None:
    def check(line: str) -> None:
        page = parse("facts/topic.md", line + "\n")
        assert page.roles == ("prose",)
        assert page.facts == ()
        assert page.prose == ((Prose(1, 1, line + "\n"),) if line else ())

    check_rows(
        check,
        [
            "",
            "Name: Zhang San",
            "-Name: Zhang San",
            "-",
            "- ",
            "- -",
            "- Name:",
            "- **Name:**",
            "- 姓名：",
            "  - Name: Zhang San",
            "\t- Name: Zhang San",
            "1. Name: Zhang San",
            "> - Name: Zhang San",
            "> Name: Zhang San",
            "| Name: Zhang San |",
            "\\- Name: Zhang San",
            "• Name: Zhang San",
            "- [ ] Name: Zhang San",
            "- [x] Name: Zhang San",
            "- # Name: Zhang San",
            "- > Name: Zhang San",
            "- - Name: Zhang San",
            "- ```Name: Zhang San",
            "- ~~~",
            "- <!-- Name: Zhang San -->",
            "<!-- - Name: Zhang San -->",
            "- - -",
            "***",
            "#",
            "#Name: Zhang San",
            "####### Name",
            "#### Name",
            " # Name",
        ],
    )


def test_a_fence_or_comment_is_prose_to_its_end_or_to_that_of_the_page() -> None:
    def check(opening: str, closing: str, end: str) -> None:
        hidden = [
            "# T",
            "> Summary: s",
            "## Events",
            "- Name: x",
            "- Updated: 2026-01-01",
            "``",
            "~~",
            "",
            "--",
        ]
        lines = ["- A: 1", opening, *hidden, closing, "- B: 2"]
        page = parse("facts/topic.md", end.join(lines))
        assert page.roles == ("fact", *["prose"] * 11, "fact")
        assert (page.title, page.summary, page.updated, page.unclosed) == (None, None, None, None)
        assert [fact.kind for fact in page.facts] == [None, None]
        open_page = parse("facts/topic.md", end.join(lines[:-2]))
        assert open_page.roles == ("fact", *["prose"] * 10)
        assert open_page.unclosed == 2

    fences = [
        ("```", "```"),
        ("```python", "`````  "),
        ("~~~ x `y`", "~~~"),
        ("  ```", "```"),
        ("- ```sh", "  ```"),
        ("1. ~~~", "   ~~~"),
        ("* - ````", "    ````"),
        ("<!--", "-->"),
        ("  <!-- a", "b --> c"),
    ]
    check_rows(check, [(*fence, end) for fence in fences for end in ("\n", "\r\n")])


def test_front_matter_is_prose_if_it_is_closed_and_at_the_top() -> None:
    assert parse("facts/t.md", "\ufeff---\n- A: 1\n---\n- B: 2\n").roles == (
        "prose",
        "prose",
        "prose",
        "fact",
    )
    assert parse("facts/t.md", "---\r\n# T\r\n...\r\n# T").roles == ("prose", "prose", "prose", "title")
    assert parse("facts/t.md", "---\n- A: 1\n").roles == ("prose", "fact")
    assert parse("facts/t.md", "\n---\n- A: 1\n---\n").roles == ("prose", "prose", "fact", "prose")
    assert parse("facts/t.md", "---\n```\n---\n- A: 1\n").roles == ("prose", "prose", "prose", "fact")


def test_only_the_first_title_and_the_first_summary_count_and_the_last_date() -> None:
    text = (
        "# A\n# B\n> Summary: a\n> Summary: b\n- Updated: 2026-01-01\n- Updated: 2026-01-02T10:00:00+01:00\n"
    )
    page = parse("facts/t.md", text)
    assert (page.title, page.summary, page.updated) == ("A", "a", "2026-01-02T10:00:00+01:00")
    assert page.roles == ("title", "prose", "summary", "prose", "updated", "updated")


def test_a_title_is_its_words_without_the_marks_around_them() -> None:
    def check(line: str, title: str) -> None:
        assert parse("facts/t.md", line + "\r\n").title == title

    check_rows(
        check,
        [
            ("# Title", "Title"),
            ("#\tTitle ##", "Title"),
            ("# About C#", "About C#"),
            ("# About C# #", "About C#"),
            ("# # Title", "# Title"),
            ("# 标题\u2028x", "标题 x"),
        ],
    )


def test_a_heading_gives_its_kind_until_the_next_one_of_its_level_or_above() -> None:
    text = (
        "# T\n- a\n## Preferences\n- b\n### Food\n- c\n## Other\n- d\n### identity\n- e\n## **EVENTS:**\n- f\n"
        "# Traits\n- g\n"
    )
    page = parse("facts/t.md", text)
    assert {fact.object: fact.kind for fact in page.facts} == {
        "a": None,
        "b": "preference",
        "c": "preference",
        "d": None,
        "e": "identity",
        "f": "event",
        "g": None,
    }


def test_each_kind_has_a_heading_in_singular_and_plural() -> None:
    def check(kind: Kind) -> None:
        plural = "identities" if kind == "identity" else f"{kind}s"
        for words in (kind, plural, kind.upper(), f"{plural.title()}:", f"__{plural}__"):
            page = parse("facts/t.md", f"## {words}\n- x\n")
            assert (page.roles, page.facts[0].kind) == (("kind", "fact"), kind)

    check_rows(check, KINDS)


def test_a_review_page_holds_items_that_wait_and_items_that_are_ticked() -> None:
    text = "# Pending\n- [ ] Name: Zhang San\n## Preferences\n* [X] likes tea\n- no box\n- [ ]\n- [x]tight\n"
    page = parse("review/pending.md", text)
    assert page.facts == (
        Fact("pending", "pending", "Name", "Zhang San", None, 2, status="pending"),
        Fact("pending", "pending", NOTE, "likes tea", "preference", 4, status="pending", tags=("ticked",)),
    )
    assert page.roles == ("title", "fact", "kind", "fact", "prose", "prose", "prose")


@pytest.mark.parametrize("path", ["days/2026-02-24.md", "SOUL.md", "PROJECT.md", "PROJECT.local.md"])
def test_on_other_pages_bullets_are_text(path: str) -> None:
    page = parse(path, USER)
    assert (page.title, page.summary) == ("User Facts", "user name, language, role")
    assert page.roles == ("title", "prose", "summary", "prose", "prose", "prose", "prose", "prose")
    assert page.prose == (Prose(5, 8, "".join(page.lines[4:])),)


def test_a_path_names_the_topic_and_the_part_of_the_grammar() -> None:
    named = {
        path: (drawer(path), topic_of(path)) for path in ("USER.md", "SOUL.md", "PROJECT.local.md", "facts")
    }
    for path in (
        "facts/User.md",
        "facts/work/api.md",
        "episodes/2026-02.md",
        "review/pending.md",
        "days/d.md",
    ):
        named[path] = (drawer(path), topic_of(path))
    assert named == {
        "USER.md": ("facts", "user"),
        "SOUL.md": ("text", "soul"),
        "PROJECT.local.md": ("text", "project.local"),
        "facts": ("text", "facts"),
        "facts/User.md": ("facts", "User"),
        "facts/work/api.md": ("facts", "work/api"),
        "episodes/2026-02.md": ("episodes", "2026-02"),
        "review/pending.md": ("review", "pending"),
        "days/d.md": ("text", "d"),
    }


# --- summaries ----------------------------------------------------------------------------------------


@given(paths, page_texts(), st.integers(1, 12))
def test_a_summary_is_short_and_one_line(path: str, text: str, words: int) -> None:
    summary = summary_of(parse(path, text), words)
    assert len(summary.split()) <= max(words - 1, 1)
    assert len(summary) <= 8 * words
    assert summary == escape(summary)


def test_a_summary_names_the_relations_or_the_episodes_or_the_first_words() -> None:
    def check(path: str, text: str, summary: str) -> None:
        assert summary_of(parse(path, text)) == summary

    check_rows(
        check,
        [
            ("facts/user.md", USER, "user name, language, role"),
            ("facts/user.md", "- Name: x\n- name: y\n- a note\n- API key: z\n", "user name, API key"),
            (
                "facts/t.md",
                "".join(f"- relation {c}: x\n" for c in "abcdefg"),
                "t relation a, relation b, relation c, relation d",
            ),
            ("facts/t.md", "- likes green tea\n- and cake\n", "likes green tea, and cake"),
            ("facts/t.md", f"- {'长' * 200}\n", "长" * 80),
            ("episodes/2026-02.md", FEBRUARY, "logger stdout leak fix, Short ID implementation"),
            (
                "episodes/2026-02.md",
                "".join(f"## Fixed the {c} of the thing\n" for c in "abcdef"),
                "fixed the, fixed the, fixed the, fixed the",
            ),
            ("days/2026-02-24.md", "# 2026-02-24\n\n- talked about\n- tea\n", "talked about - tea"),
            ("facts/t.md", "", ""),
            ("facts/t.md", "# T\n\n", ""),
        ],
    )


# --- time ---------------------------------------------------------------------------------------------


LINES: list[Callable[[int], str]] = [
    lambda n: "- " * (n // 2),
    lambda n: "-" + " " * n + "x",
    lambda n: "- " + "a " * (n // 2) + ":",
    lambda n: "- " + "*" * n,
    lambda n: "- " + "**a" * (n // 3) + ": x",
    lambda n: "- " + "`" * n + "x`",
    lambda n: "`" * n,
    lambda n: "~" * n,
    lambda n: "#" * n,
    lambda n: "# " + "# " * (n // 2),
    lambda n: "## " + " #" * (n // 2) + "x",
    lambda n: ">" * n,
    lambda n: "> " + ":" * n,
    lambda n: "1. " * (n // 3),
    lambda n: "1" * n,
    lambda n: "<!--" * (n // 4),
    lambda n: "- " + "(" * n + ": x",
    lambda n: "- [ ] " * (n // 6),
    lambda n: " " * n,
    lambda n: " " * n + "```" + " " * n + "`",
    lambda n: "- Updated: 2026-01-01" + "0" * n,
    lambda n: "- Updated: 2026-01-01 10:00" + ":00" * (n // 3),
    lambda n: "\u2028 " * (n // 2),
    lambda n: "- " + " \x00" * (n // 20),
    lambda n: "-\n" * (n // 64),
    lambda n: "- A: 1\n\n" * (n // 64),
    lambda n: "- A: 1\n" + "\n \n" * (n // 64),
    lambda n: "- A: 1\n" + "\n  x\n" * (n // 64),
    lambda n: "---\n" + "```\n" * (n // 64),
    lambda n: "## E\n\n" * (n // 64),
    lambda n: "## E\n" + "- x\n" * (n // 64),
    lambda n: "## Events\n" * (n // 64),
]
"""Lines, and pages of lines, that a reader could choke on; of about so many characters."""


def test_such_lines_are_read_and_edited_when_they_are_short() -> None:
    for text_of in LINES:
        read_and_edit(text_of(640))


@pytest.mark.parametrize("text_of", LINES)
def test_no_line_makes_reading_or_editing_slow(text_of: Callable[[int], str]) -> None:
    def work(size: int) -> Callable[[], object]:
        return partial(read_and_edit, text_of(size))

    assert growth(work, 6_400) < LINEAR


def read_and_edit(line: str) -> None:
    for path in ("facts/t.md", "episodes/t.md", "review/t.md"):
        page = parse(path, line)
        assert page.text == line
        summary_of(page)
    text = add_fact(line, "facts/t.md", line, line + "x", "event")
    text = set_summary(set_updated(text, "facts/t.md", "2026-01-01"), line)
    add_episode(line, "episodes/t.md", line + "x", [(line, line)])
    for fact in parse("facts/t.md", text).facts[-1:]:
        replace_fact(text, "facts/t.md", fact.line or 0, line, line + "x")
