"""The page in a real browser: keys, slider, live updates; nothing of a memory runs; axe finds nothing."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf import Memory
from paging import make_held, make_hostile, make_story
from serving import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from serving import Server

SCREENS = (
    "",
    "memory",
    "review",
    "search",
    "talk",
    "prompt",
    "forget",
    "pages",
    "costs",
    "health",
    "settings",
    "words",
)
QUESTIONS = ("search?q=Where+do+I+live%3F&less=1", "memory?as_of=2025-03-01", "memory?as_of=2001-01-01")
MUST = "LOOSELEAF_PAGE"
"""Set by `make test-page`."""
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("browser")) as made:
        for name, make in (("story", make_story), ("hostile", make_hostile), ("held", make_held)):
            make(made.root / name)
        yield made


class Watch:
    """What a window asked for, and what went wrong in it."""

    def __init__(self, page: Any, server: Server) -> None:
        self.elsewhere: list[str] = []
        self.wrong: list[str] = []
        page.on("request", lambda request: self._note(request.url, server.address))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("dialog", self._dismiss)
        page.on("console", lambda message: self._hear(message.type, message.text))

    def _note(self, url: str, own: str) -> None:
        if not url.startswith(f"{own}/"):
            self.elsewhere.append(url)

    def _dismiss(self, dialog: Any) -> None:
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _hear(self, kind: str, text: str) -> None:
        if kind == "error":
            self.wrong.append(text)


@pytest.mark.parametrize(
    ("width", "dark"), [(1280, False), (320, True)], ids=["wide and light", "narrow and dark"]
)
def test_axe_finds_nothing_and_nothing_is_wider_than_the_window(
    server: Server, context: Callable[..., Any], axe: str, width: int, dark: bool
) -> None:
    with Memory(server.root / "story") as memory:
        fact = next(each.id for each in memory.facts() if each.object == "Lisbon")
    addresses = [f"story/{path}" for path in (*SCREENS, *QUESTIONS, f"fact/{fact}")]
    addresses += ["held/review", "hostile/memory", "hostile/review"]
    if MUST not in os.environ:  # each of them once; `make test-page` looks at all of them both ways
        addresses = addresses[int(dark) :: 2]
    found: dict[str, list[str]] = {}
    with context(server, width, dark=dark) as window:
        page = window.new_page()
        for address in addresses:
            page.goto(f"{server.address}/m/{address}", wait_until="load")
            page.evaluate(axe)
            result = page.evaluate("tags => axe.run(document, {runOnly: tags})", list(RULES))
            assert len(result["passes"]) > 20
            problems = [f"{each['id']}: {each['nodes'][0]['html'][:160]}" for each in result["violations"]]
            over = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            problems += [f"{over} px too wide"] if over > 0 else []
            if problems:
                found[address] = problems
    assert found == {}


def test_what_an_attacker_wrote_runs_nothing_and_asks_nobody(
    server: Server, context: Callable[..., Any]
) -> None:
    with context(server) as window:
        page = window.new_page()
        watch = Watch(page, server)
        for path in (
            "",
            "memory",
            "review",
            "search?q=onerror&less=1",
            "talk",
            "pages/facts/evil.md",
            "pages/USER.md",
        ):
            page.goto(f"{server.address}/m/hostile/{path}", wait_until="load")
            assert "owned" not in page.title()
            assert (
                page.evaluate("document.querySelectorAll('main img, main script, main iframe').length") == 0
            )
            for address in page.evaluate(
                "[...document.querySelectorAll('main a')].map(each => each.protocol)"
            ):
                assert address in ("http:", "https:"), path
        assert watch.wrong == []
        assert watch.elsewhere == []


def test_review_goes_by_keys_alone(server: Server, context: Callable[..., Any]) -> None:
    with Memory(server.root / "story") as memory:
        names = [each.id for each in memory.review.pending()]
    assert len(names) >= 3
    with context(server) as window:
        page = window.new_page()
        watch = Watch(page, server)
        page.goto(f"{server.address}/m/story/review")

        def shown() -> str:
            return str(page.locator("article").get_attribute("id"))

        def press(key: str) -> None:
            with page.expect_navigation():
                page.keyboard.press(key)

        press("j")
        assert shown() == names[1]
        press("k")
        assert shown() == names[0]
        press("n")
        assert shown() == names[1]
        assert "Rejected" in page.locator(".note").inner_text()
        press("u")
        assert shown() == names[0]
        page.keyboard.press("e")
        field = page.locator("#text")
        assert field.evaluate("node => node === document.activeElement")
        page.keyboard.type("yn")
        assert shown() == names[0]  # keys are letters in a field
        assert field.input_value() == "yn"
        field.fill("Rule: ask first")
        page.keyboard.press("Tab")
        press("Enter")
        assert "Corrected: Rule: ask first" in page.locator(".note").inner_text()
        press("u")
        assert watch.wrong == []
    with Memory(server.root / "story") as memory:
        assert [each.id for each in memory.review.pending()] == names


def test_keys_move_between_rows_and_can_be_switched_off(server: Server, context: Callable[..., Any]) -> None:
    with context(server) as window:
        page = window.new_page()
        page.goto(f"{server.address}/m/story/memory")
        focused = "document.activeElement.id"
        page.keyboard.press("j")
        first = page.evaluate(focused)
        page.keyboard.press("j")
        second = page.evaluate(focused)
        page.keyboard.press("k")
        assert first.startswith("f_")
        assert page.evaluate(focused) == first != second
        page.keyboard.press("Control+j")
        assert page.evaluate(focused) == first
        with page.expect_navigation():
            page.keyboard.press("/")
        assert page.url.endswith("/search")
        page.keyboard.press("/")
        assert page.evaluate(focused) == "q"
        window.add_cookies([{"name": "looseleaf-look", "value": "system.no-keys", "url": server.address}])
        page.goto(f"{server.address}/m/story/memory")
        page.keyboard.press("j")
        assert page.evaluate(focused) == ""


def test_the_slider_goes_to_a_day_of_change_and_keeps_the_focus(
    server: Server, context: Callable[..., Any]
) -> None:
    with context(server) as window:
        page = window.new_page()
        page.goto(f"{server.address}/m/story/memory")
        slide = page.locator("#slide")
        slide.focus()
        with page.expect_navigation():
            page.keyboard.press("Home")
        assert "as_of=2025-02-11" in page.url
        assert "Home: Lyon" in page.locator("main").inner_text()
        assert page.evaluate("document.activeElement.id") == "slide"
        assert page.locator("#slid").inner_text() == "11 February 2025"
        slide.focus()
        slide.evaluate("node => { node.value = 1; node.dispatchEvent(new Event('input')) }")
        assert re.fullmatch(r"\d+ [A-Z][a-z]+ 2025", page.locator("#slid").inner_text())


def test_what_is_new_is_said_and_moves_nothing(server: Server, context: Callable[..., Any]) -> None:
    with context(server) as window:
        page = window.new_page()
        page.goto(f"{server.address}/m/held/memory", wait_until="load")
        page.evaluate("window.scrollTo(0, 40); document.getElementById('as_of').focus()")
        page.wait_for_timeout(1_000)
        assert page.locator("#live").inner_text() == ""
        with Memory(server.root / "held") as memory:
            memory.remember("I like rain.")
        page.get_by_text("Something new was written.").wait_for()
        assert page.locator("#live").get_attribute("role") == "status"
        assert page.evaluate("[window.scrollY, document.activeElement.id]") == [40, "as_of"]
        assert "I like rain" not in page.locator("main").inner_text()
        with page.expect_navigation():
            page.get_by_role("link", name="Show it").click()
        assert "I like rain" in page.locator("main").inner_text()
        page.route("**/events", lambda route: route.abort())
        page.clock.install()
        with page.expect_event("requestfailed"):
            page.reload(wait_until="load")
        page.clock.run_for(10_000)
        page.get_by_text(
            re.compile(r"The server is gone\. This is what it said at \d\d:\d\d\.|told nothing new")
        ).wait_for()


def test_all_of_it_works_without_script(server: Server, context: Callable[..., Any]) -> None:
    with context(server, script=False) as window:
        page = window.new_page()
        page.goto(f"{server.address}/m/story/")
        page.keyboard.press("Tab")
        assert page.locator(":focus").inner_text() == "Skip to the content"
        page.keyboard.press("Enter")
        assert page.url.endswith("#main")
        page.get_by_role("link", name=re.compile("Memory")).first.click()
        assert not page.locator(".slider").is_visible()
        page.locator("#as_of").fill("2025-03-01")
        page.get_by_role("button", name="Show").click()
        assert "Home: Lyon" in page.locator("main").inner_text()
        page.get_by_role("link", name=re.compile("^Review")).click()
        before = page.locator("article").get_attribute("id")
        assert page.locator("#text").is_visible()
        assert not page.locator("kbd").first.is_visible()
        page.get_by_role("button", name="No", exact=True).click()
        assert "Rejected" in page.locator(".note").inner_text()
        page.get_by_role("button", name="Undo").click()
        assert page.locator("article").get_attribute("id") == before


def test_the_note_is_in_view_where_one_is_and_hides_no_focus(
    server: Server, context: Callable[..., Any]
) -> None:
    with context(server, 320, script=False) as window:
        page = window.new_page()
        page.goto(f"{server.address}/m/story/memory")
        pin = page.get_by_role("button", name=re.compile("^pin")).last
        pin.click()
        assert page.url.partition("#")[2].startswith("f_")
        note, row = page.locator(".note").bounding_box(), page.locator(":target").bounding_box()
        assert page.evaluate("scrollY") > 400
        assert 0 <= note["y"] <= note["y"] + note["height"] <= row["y"] + 1 < 900
        assert page.locator(".note button").is_visible()
        page.locator(":target a").first.focus()
        for _ in range(12):  # back up the list
            page.keyboard.press("Shift+Tab")
            hidden = page.evaluate(
                """() => { const focus = document.activeElement.getBoundingClientRect();
                const note = document.querySelector(".note").getBoundingClientRect();
                return focus.bottom <= note.bottom && focus.top < note.bottom && focus.top >= 0; }"""
            )
            assert not hidden or page.evaluate("document.activeElement.closest('.note') !== null")
        page.get_by_role("button", name="Undo").click()
        assert "Undone" in page.locator(".note").inner_text()


def test_the_navigation_stays_in_its_place_and_so_do_the_acts_of_a_row(
    server: Server, context: Callable[..., Any]
) -> None:
    with context(server) as window:
        page = window.new_page()
        places = set()
        for path in ("", "memory", "review", "forget", "words", "settings"):
            page.goto(f"{server.address}/m/story/{path}", wait_until="load")
            script = "[...document.querySelectorAll('.nav a')].map(each => each.getBoundingClientRect().left)"
            places.add(str([round(each) for each in page.evaluate(script)]))
        assert len(places) == 1, places
        page.goto(f"{server.address}/m/story/memory")
        tops = page.evaluate(
            """() => [...document.querySelectorAll(".acts.side")].map(row => {
                const words = [...row.querySelectorAll("a, button")].map(each => {
                    const range = document.createRange();
                    range.selectNodeContents(each.firstChild);
                    return range.getBoundingClientRect().top;
                });
                return new Set(words).size;
            })"""
        )
        assert set(tops) == {1}


def test_what_is_focused_is_seen_and_large_enough(server: Server, context: Callable[..., Any]) -> None:
    with context(server, 320) as window:
        page = window.new_page()
        page.goto(f"{server.address}/m/story/memory")
        small = []
        for _ in range(40):
            page.keyboard.press("Tab")
            told = page.evaluate(
                """() => { const node = document.activeElement, box = node.getBoundingClientRect();
                const style = getComputedStyle(node);
                return [node.outerHTML.slice(0, 80), box.height, style.outlineStyle, style.display]; }"""
            )
            assert told[2] != "none", told
            if told[1] < 24 and told[3] != "inline":
                small.append(told)
        assert small == []


def test_two_people_in_two_browsers_and_an_agent_save_one_page_and_nothing_is_lost(
    server: Server, context: Callable[..., Any]
) -> None:
    name = "facts/tea.md"
    with Memory(server.root / "story") as memory:
        memory.pages.edit(name, "# Tea\n\n- Pot: none\n- Cups: two\n", reason="began", author="person")
    with context(server) as ann, context(server, script=False) as bob:
        people = [window.new_page() for window in (ann, bob)]
        for page in people:
            page.goto(f"{server.address}/m/story/pages/{name}/edit")
        for page, line in zip(people, ("- Ann: drinks green\n", "- Bob: drinks black\n"), strict=True):
            field = page.locator("#text")
            field.fill(field.input_value() + line)
        with Memory(server.root / "story", agent="codex") as memory:
            memory.pages.patch(name, [("- Pot: none", "- Pot: silver")], reason="noted")
        for page in people:
            page.get_by_role("button", name="Save", exact=True).click()
            assert "Yours is not saved." in page.get_by_role("alert").inner_text()
        first, second = people
        first.get_by_role("button", name="Save both").click()
        assert "Undo" in first.locator(".note").inner_text()
        second.get_by_role("button", name="Save both").click()
        assert "Changed since you began" in second.get_by_role("alert").inner_text()  # Ann was faster
        both = second.locator("#both").input_value()
        assert both.count("drinks") == 2
        second.get_by_role("button", name=re.compile("Save (both|this)")).click()
        assert "Undo" in second.locator(".note").inner_text()
    text = (server.root / "story" / name).read_text()
    for line in ("- Pot: silver", "- Cups: two", "- Ann: drinks green", "- Bob: drinks black"):
        assert text.count(f"{line}\n") == 1, text
