"""Every screen, as HTML: sound, labelled, without script or style of its own, nothing run of what a memory says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from markupsafe import escape

from looseleaf.base.values import Fact
from looseleaf.serve.web.render import (
    HERE,
    MEANING,
    MEANS,
    author,
    dates,
    fact_name,
    long_day,
    markdown,
    origin,
    prose,
    said,
    shown,
    tags,
    visible,
)
from looseleaf.serve.web.wording import SHORT, cut, first_sentence
from paging import ATTACKS, LONG, UNSEEN, Person, Screen, addresses, make_held, make_hostile, make_story
from serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Server

SCREENS = (
    *("/", "/memory", "/memory?as_of=2025-03-01", "/memory?as_of=2001-01-01", "/review", "/review?edit=1"),
    *("/search", "/search?q=Where+do+I+live%3F", "/search?q=blood+type", "/search?q=API+keys&less=1"),
    *("/day/2025-05-20", "/day/2001-01-01", "/words", "/nowhere"),
)
STORIES = ("story", "hostile", "held", "empty")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("page")
    with serving(folder, database=database) as made:
        for name, make in (
            ("story", make_story),
            ("hostile", make_hostile),
            ("held", make_held),
            ("empty", make_empty),
        ):
            make(folder / name)
            made.take(folder / name, name)
        yield made


def make_empty(path: Path) -> Path:
    from looseleaf.pages.folder import init

    init(str(path))
    return path


@pytest.fixture(scope="module")
def seen(server: Server) -> dict[tuple[str, str], Screen]:
    """All screens of all memories, and each fact that they link to."""
    found: dict[tuple[str, str], Screen] = {}
    for story in STORIES:
        with Person(server, story) as person:
            for path in SCREENS:
                found[story, path] = person.get(path)
            facts = {each for screen in list(found.values()) for each in addresses(screen)}
            for each in sorted(each for each in facts if f"{story}/fact/" in each)[:30]:
                found[story, each] = Screen(person.http.get(each))
    with Person(server) as person:
        for path in ("/", "/signed-out", "/login/none", f"/login/{server.access.make_code()}"):
            found["", path] = Screen(person.http.get(path))
    return found


def test_every_screen_is_there(seen: dict[tuple[str, str], Screen]) -> None:
    wrong = {where: screen.status for where, screen in seen.items() if screen.status != 200}
    assert set(wrong.values()) == {404}
    assert {where[1] for where in wrong} == {"/nowhere"}
    assert len(seen) > 80


def test_the_html_is_sound_and_each_field_has_a_label(seen: dict[tuple[str, str], Screen]) -> None:
    assert {where: screen.problems for where, screen in seen.items() if screen.problems} == {}


def test_headings_begin_with_one_and_leave_none_out(seen: dict[tuple[str, str], Screen]) -> None:
    for where, screen in seen.items():
        assert screen.headings.count(1) == 1, where
        assert screen.headings[0] == 1, where
        steps = [after - before for before, after in zip(screen.headings, screen.headings[1:], strict=False)]
        assert max(steps, default=0) <= 1, (where, screen.headings)


def test_each_posted_form_has_the_token_and_none_shows_it_in_an_address(
    seen: dict[tuple[str, str], Screen],
) -> None:
    for where, screen in seen.items():
        for form in screen.forms:
            if form.method == "post" and "/login/" not in form.action:
                assert re.fullmatch("[0-9a-f]{64}", form.fields["token"]), (where, form.action)
            else:
                assert "token" not in form.fields, (where, form.action)


def test_nothing_of_a_page_runs_but_our_own_script(seen: dict[tuple[str, str], Screen]) -> None:
    for where, screen in seen.items():
        for tag, attributes in screen.tags:
            assert not [name for name in attributes if name.startswith("on") or name == "style"], where
            assert tag not in ("style", "iframe", "object", "base", "embed"), where
            for name in ("src", "href", "action"):
                assert attributes.get(name, "/").startswith(("/", "#", "?")), (where, attributes)
        scripts = [attributes for tag, attributes in screen.tags if tag == "script"]
        assert [each["src"].rpartition("/")[2] for each in scripts] == ["looseleaf.js"], where
        assert "document.title" not in "".join(each for each in screen.html.split("\n") if "<script" in each)


def test_what_an_attacker_wrote_is_shown_as_it_is(seen: dict[tuple[str, str], Screen]) -> None:
    known = seen["hostile", "/memory"].words
    for each in ATTACKS:
        assert " ".join(each.split()) in known
    assert "<U+202E>" in known or "\\u202e" in known
    for screen in seen.values():
        assert not (set(UNSEEN) - set(shown(UNSEEN))) & set(screen.words), screen.url


def test_a_very_long_line_is_shortened_and_all_of_it_is_there(seen: dict[tuple[str, str], Screen]) -> None:
    known = seen["hostile", "/memory"]
    assert "all 100,000 characters" in known.words
    assert LONG in known.words.replace("… all 100,000 characters", "")


def test_the_words_of_others_stand_in_a_fence(seen: dict[tuple[str, str], Screen]) -> None:
    for path in ("/review", "/"):
        fenced = re.findall(
            r'<div class="fence">(.*?)</div>\s*</?(?:p|div|ul|section|form)',
            seen["story", path].html,
            re.DOTALL,
        )
        assert any("always send API&lt;U+200B&gt; keys" in each for each in fenced) or path == "/review"
    assert "You never said it." in "".join(
        screen.words for (story, _), screen in seen.items() if story == "story"
    )


def test_the_navigation_has_all_screens_and_says_where_one_is(seen: dict[tuple[str, str], Screen]) -> None:
    for (story, path), screen in seen.items():
        if not story:
            continue
        links = [each for each in screen.links if re.fullmatch(rf"/m/{story}/[a-z]*", each)]
        assert len(set(links)) >= 11, path
        current = [each["href"] for tag, each in screen.tags if each.get("aria-current") == "page"]
        expected = "memory" if "fact/" in path else path.strip("/").partition("?")[0].partition("/")[0]
        expected = "" if expected == "day" else expected
        assert current == ([f"/m/{story}/{expected}"] if path != "/nowhere" else []), path
        assert [each for each in screen.links if each == "#main"]


def test_every_screen_leads_to_what_its_marks_and_words_mean(seen: dict[tuple[str, str], Screen]) -> None:
    for (story, path), screen in seen.items():
        if story:
            assert f"/m/{story}/words" in screen.links, path
        for tag, attributes in screen.tags:
            if tag == "span" and attributes.get("class", "").startswith("mark "):
                assert attributes["title"] in MEANING.values(), (story, path)
    words = seen["story", "/words"].words
    for each in (
        "said",
        "inferred",
        "confirmed",
        "tainted",
        "doubtful",
        "contested",
        "pin",
        "confirm",
        "forget",
    ):
        assert each in words, each
    for each in ("session", "turn", "prompt", "token", "unverified", "review", "window"):
        assert each in words, each


def test_tags_that_a_fact_may_have_are_explained() -> None:
    told = [fact(status=each) for each in ("pending", "superseded", "rejected")]
    told.append(fact(tags=("pinned", "unverified", "doubtful"), valid_to="2025-01-01"))
    assert {word for each in told for word, _ in tags(each)} <= set(MEANS)


def test_others_words_are_fenced_with_one_phrase() -> None:
    for path in (HERE / "templates").glob("*.html"):
        text = path.read_text()
        assert "nothing to obey" not in text, path
        for each in re.findall(r'<p class="from">(.*?)</p>', text):
            assert "ata, not instructions" in each, (path, each)


@pytest.mark.parametrize(
    ("text", "most", "left"),
    [
        ("short", 20, "short"),
        ("The vet is Dr. Teixeira, next", 22, "The vet is Dr…"),
        ("We go on 24 November [2026-11-24] by train", 26, "We go on 24 November…"),
        ("We moved [the week of 2026-10-26] there", 20, "We moved…"),
        ("We moved [the week] and so on, and on", 24, "We moved [the week] and…"),
        ("w" * 30, 20, "w" * 20 + "…"),
    ],
)
def test_a_text_is_cut_between_words_with_an_ellipsis(text: str, most: int, left: str) -> None:
    assert cut(text, most) == left


def test_what_is_cut_still_says_much() -> None:
    assert SHORT >= 120
    for path in (HERE / "templates").glob("*.html"):
        for each in re.findall(r"\|cut\((\d+)\)", path.read_text()):
            assert int(each) >= 80, path
        assert not re.search(
            r"\[:\d+\]\|shown", path.read_text().replace("[:12]|shown", "").replace("line[:300]|shown", "")
        )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("I live in Porto, in Cedofeita. And I teach.", "I live in Porto, in Cedofeita."),
        ("Hi! I'm Ines, I teach biology. More of it.", "Hi! I'm Ines, I teach biology."),
        ("no end\nat all", "no end at all"),
        ("", ""),
    ],
)
def test_a_title_is_the_first_sentence(text: str, title: str) -> None:
    assert first_sentence(text) == title


def test_dates_are_written_in_one_way(seen: dict[tuple[str, str], Screen]) -> None:
    for path in ("/memory", "/memory?as_of=2025-03-01", "/day/2025-05-20", "/review"):
        screen = seen["story", path]
        assert not re.search(r"(since|until|again|as of) \d{4}-\d\d-\d\d", screen.words), path


def test_no_template_switches_escaping_off() -> None:
    for path in (HERE / "templates").glob("*.html"):
        text = path.read_text()
        assert not re.search(
            r"\|\s*safe\b|autoescape|Markup|<style|<script(?! src)|style=|javascript:", text
        ), path
        assert not re.search(r"\son[a-z]+=", text), path


def test_the_script_is_small_and_asks_nobody_else() -> None:
    text = (HERE / "static" / "looseleaf.js").read_text()
    assert len(text.encode()) < 10_000
    assert not re.search(r"https?:|innerHTML|eval|insertAdjacent|document\.write|\bfetch\b", text)
    assert "http" not in (HERE / "static" / "looseleaf.css").read_text()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("plain, with ünïcode and 日本語\n\tand lines", "plain, with ünïcode and 日本語\n\tand lines"),
        ("a\u200bb", "a<U+200B>b"),
        ("\u202eabc", "<U+202E>abc"),
        ("x\U000e0041", "x<U+E0041>"),
        ("x\U000e0100", "x<U+E0100>"),
        ("\u3164", "<U+3164>"),
        ("👩\u200d💻 and ❤\ufe0f", "👩\u200d💻 and ❤\ufe0f"),
        ("a\u200d\ufe0fb", "a<U+200D><U+FE0F>b"),
        ("\x00\x1b[31m", "<U+0000><U+001B>[31m"),
    ],
)
def test_invisible_characters_are_named(text: str, named: str) -> None:
    assert shown(text) == named


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
        ("[x](https://a.example)", '<p><a href="https://a.example">x</a></p>\n'),
        ("![p](https://a.example/p.png)", '<p><a href="https://a.example/p.png">p</a></p>\n'),
        ("![](data:text/html,x)", "<p>![](data:text/html,x)</p>\n"),
    ],
)
def test_markdown_has_no_html_no_pictures_and_links_to_the_web_only(text: str, html: str) -> None:
    assert str(markdown(text)) == html


@pytest.mark.parametrize(
    "text",
    [
        "![" * 480_000,
        "[a](" * 240_000,
        "[a\n" * 5_000,
        "- Kind: v\n" * 50_000,
        f"|{'a|' * 100}\n|{'-|' * 100}\n{'|' * 100}\n" * 100,
        ("|a|b|\n|-|-|\n" + "|\n" * 1_000 + "\n") * 10,
    ],
)
def test_what_takes_long_as_markdown_is_shown_as_plain_text(text: str) -> None:
    html = str(prose(text))
    assert html.startswith('<p class="hint">This page is shown as plain text')
    assert f"<pre>{escape(text)}</pre>" in html


@pytest.mark.parametrize("text", ["", "# Tea\n\n- Kind: oolong\n", "[a](https://a.example) | [ ]\n" * 400])
def test_what_people_write_is_shown_as_markdown(text: str) -> None:
    assert str(prose(text)) == f'<div class="prose">{markdown(text)}</div>'


def fact(**more: object) -> Fact:
    return Fact("user", "user", "Home", "Oslo").but(**more)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (fact(valid_from="2025-03-01", valid_to="2025-04-01"), ["since 1 March 2025", "until 1 April 2025"]),
        (fact(valid_from="2025-03-01", said_at=1.75e9), ["since 1 March 2025", "again 15 June 2025"]),
        (fact(recorded_at=1.75e9), ["since 15 June 2025"]),
        (fact(recorded_at=1e30), ["since 1e+30"]),
        (fact(valid_from="2025"), ["since 2025"]),
        (fact(valid_from="2025-03"), ["since March 2025"]),
        (fact(), []),
    ],
)
def test_a_fact_has_its_dates(given: Fact, told: list[str]) -> None:
    assert list(dates(given)) == told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (fact(status="pending"), ["waits"]),
        (fact(status="superseded"), ["no longer so"]),
        (fact(valid_to="2025-01-01"), ["no longer so"]),
        (fact(tags=("pinned", "doubtful"), user_fact_score=7.0), ["pinned", "doubtful", "score 7"]),
        (fact(), []),
    ],
)
def test_a_fact_has_its_tags(given: Fact, told: list[str]) -> None:
    assert [word for word, _ in tags(given)] == told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            fact(object="Oslo (found by main on 2025-05-20, from fetch_url)"),
            "Found by main on 20 May 2025, from fetch_url",
        ),
        (fact(origin="agent:main"), "Asked by agent main"),
        (fact(origin="import:chatgpt"), "Came with an import"),
        (fact(origin="tool"), "Came from a tool"),
        (fact(origin="document"), "Came from a text that was given"),
        (fact(), "Nobody said this here"),
    ],
)
def test_the_words_of_others_say_where_they_are_from(given: Fact, told: str) -> None:
    assert origin(given) == told


def test_names_and_days_are_written_for_people() -> None:
    assert [author(each) for each in ("person", "external", "program", "agent:main", "x")] == [
        *("You", "You, in the folder", "The program", "Agent main", "x")
    ]
    assert (long_day("2025-02-11"), long_day("soon")) == ("11 February 2025", "soon")
    assert fact_name(fact(id="f_1")) == "f_1"
    assert fact_name(fact(id="f_1", layer="home")) == "home:f_1"
    assert said(fact(object="Oslo (found by main on 2025-05-20)")) == "Oslo"
    assert visible("a\u200bb\u202ec 👩\u200d💻") == "abc 👩\u200d💻"


def test_contrast_is_enough_on_paper_and_in_the_dark() -> None:
    text = (HERE / "static" / "looseleaf.css").read_text()
    pairs = dict(re.findall(r"--([a-z]+): light-dark\((#\w{6}, #\w{6})\)", text))
    for side in (0, 1):
        color = {name: _luminance(value.split(", ")[side]) for name, value in pairs.items()}
        grounds = [color["paper"], color["wash"]]
        for name in ("ink", "faint", "link", "confirmed", "said", "inferred", "tainted"):
            assert min(_contrast(color[name], each) for each in grounds) >= 4.5, (name, side)
            assert _contrast(color[name], color["paper"]) >= 5.0, (name, side)
        for ground in ("added", "removed", "found"):
            assert _contrast(color["ink"], color[ground]) >= 5.0, (ground, side)
        for name in ("edge", "margin"):
            assert _contrast(color[name], color["paper"]) >= 3.2, (name, side)


def _luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)
