"""HTML from templates. Invariant: what a memory says is escaped; a template cannot switch that off (a test looks)."""

from __future__ import annotations

import hashlib
import re
import time
from functools import cache, lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from looseleaf.base.immutable import frozen
from looseleaf.base.paths import PINNED, USER
from looseleaf.serve.pool import in_address
from looseleaf.serve.sign import form_token
from looseleaf.serve.web.wording import ago, cut, cut_at, first_sentence, lasting, plural
from looseleaf.text.lines import is_found, undoubted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.base.values import Fact
    from looseleaf.serve.serving import Serving

HERE = Path(__file__).parent

MARKS = {"confirmed": "✓", "said": "“", "inferred": "~", "tainted": "!"}
"""The sign of each level; it never stands without its word."""
MEANING = {
    "confirmed": "You confirmed it, or wrote it yourself.",
    "said": "Your own words say it.",
    "inferred": "A model concluded it, or it is not quite your words.",
    "tainted": "It came from a tool, a web page or an import. You never said it.",
    None: "Nobody knows who wrote it.",
}
MEANS = {
    "pinned": "It counts as essential: an agent is told it among the first.",
    "doubtful": "Something that you said later may have changed it.",
    "contested": "Machines noted different values, and no person said which is right.",
    "unverified": "A model wrote it, and nobody found it in your words.",
    "waits": "No model sees it before you say yes, in Review.",
    "no longer so": "Another value took its place, or it ended.",
    "rejected": "You said that it is wrong.",
}
"""What a tag means."""
KINDS = {
    "learnt": "learnt",
    "found": "found",
    "ended": "ended",
    "talk": "talk",
    "edit": "changed",
    "decided": "decided",
    "distilled": "distilled",
    "kept": "kept",
    "compacted": "compacted",
    "forgotten": "forgotten",
}
"""What the lines of a day are called."""
NAVIGATION = (
    ("", "Today"),
    ("memory", "Memory"),
    ("review", "Review"),
    ("search", "Search"),
    ("talk", "Talk"),
    ("forget", "Forget"),
    ("prompt", "Prompt"),
    ("pages", "Pages"),
    ("costs", "Costs"),
    ("health", "Health"),
    ("settings", "Settings"),
)
"""The screens, as the navigation lists them: the first part of an address, and what it is called."""
_BELONGS = {"fact": "memory", "day": ""}
"""Addresses that belong to a screen of another name."""


@cache
def environment() -> Environment:
    """Return the templates, which know nothing of a request."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        "MARKS": MARKS,
        "MEANS": MEANS,
        "KINDS": KINDS,
        "SCREENS": NAVIGATION,
        "static": static_address,
    }
    made.filters |= {
        "shown": shown,
        "visible": visible,
        "day": day,
        "moment": moment,
        "clock": clock,
        "long_day": long_day,
        "dates": dates,
        "tags": tags,
        "fact_name": fact_name,
        "said": said,
        "in_address": in_address,
        "cut": cut,
        "cut_at": cut_at,
        "first_sentence": first_sentence,
        "plural": plural,
        "lasting": lasting,
        "ago": ago,
    }
    return made


@cache
def static_address(name: str) -> str:
    """Return the address of a file of ours: it changes with the file, so that browsers may keep it."""
    return f"/static/{hashlib.sha256((HERE / 'static' / name).read_bytes()).hexdigest()[:12]}/{name}"


# --- texts of a memory -----------------------------------------------------------------


@lru_cache(maxsize=1)
def _markdown() -> Any:
    from markdown_it import MarkdownIt

    # `commonmark` would take HTML along; pictures become links, so that nothing is asked for elsewhere.
    made = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    made.validateLink = lambda address: address.lower().startswith(("http://", "https://", "#"))
    made.renderer.rules["image"] = _image_as_link
    made.core.ruler.push("lower_headings", _lower_headings)
    return made


def _lower_headings(state: Any) -> None:
    """Put the headings of a page below the heading of the screen."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + 1)}"


def _image_as_link(tokens: Any, at: int, *_: object) -> str:
    from html import escape

    token = tokens[at]
    return f'<a href="{escape(str(token.attrs.get("src", "")), quote=True)}">{escape(token.content or "picture")}</a>'


def markdown(text: str) -> Markup:
    """Return a page's Markdown as HTML: without its own HTML, without pictures, with links to the web only."""
    return Markup(_markdown().render(text))  # markdown-it escapes what it is given


def prose(text: str) -> Markup:
    """Return a page's text for reading: as HTML, or plain where that would take long. Even so it may take a second:
    call it in a thread of its own."""
    named = shown(text)
    if not is_heavy(named):
        return Markup('<div class="prose">%s</div>') % markdown(named)
    return Markup('<p class="hint">%s</p>\n<pre>%s</pre>') % (_PLAIN, named)


_PLAIN = "This page is shown as plain text: with its headings and links, it would take too long."
_LONGEST = 100_000
_BRACKETS = 1_000
_CELLS = 20_000


def is_heavy(text: str) -> bool:
    """Return whether a text would take long as HTML: it is long, or has more brackets in one paragraph, or more cells
    of tables, than people write. The time that these take grows with their square."""
    if len(text) > _LONGEST:
        return True
    cells = 0
    for block in _BLANK.split(text):
        if block.count("[") > _BRACKETS:
            return True
        lines = block.split("\n")
        cells += len(lines) * max(line.count("|") for line in lines)
    return cells > _CELLS


_BLANK = re.compile(r"\n[ \t]*\n")


_UNSEEN = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U0001d173-\U0001d17a\U000e0100-\U000e01ef"
)
"""Characters that Unicode counts as printable, and that nobody sees."""
_PICTURE = "[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff]"
_EMOJI = re.compile(f"(?<={_PICTURE})\ufe0f|(?<=[{_PICTURE[1:-1]}\ufe0f])\u200d(?={_PICTURE})")
"""The joiners inside a picture of several signs: there they are part of what is seen."""
_NAMED = re.compile(f"[{_UNSEEN}]")


def shown(text: object) -> str:
    """Return a text with its invisible characters named: `<U+200B>`."""
    return _with_unseen(str(text), lambda each: f"<U+{ord(each):04X}>")


def visible(text: str) -> str:
    """Return a text without its invisible characters, for a person to edit: what they send is what they saw."""
    return _with_unseen(text, lambda each: "")


def _with_unseen(text: str, put: Callable[[str], str]) -> str:
    """Return a text with something in place of each invisible character."""
    unseen = "".join(each for each in set(text) if not _is_visible(each))
    if not unseen:
        return text
    kept = {found.start() for found in _EMOJI.finditer(text)}
    return re.sub(
        f"[{re.escape(unseen)}]",
        lambda found: found[0] if found.start() in kept else put(found[0]),
        text,
    )


def _is_visible(each: str) -> bool:
    return (each.isprintable() and not _NAMED.match(each)) or each in "\n\t\u00a0\u3000"


# --- times, in the clock of this machine -------------------------------------------------


@lru_cache(1 << 16)
def day(ts: float | None) -> str:
    """Return the day of a moment: `2025-02-11`."""
    return _written(ts, "%Y-%m-%d")


def long_day(name: str) -> str:
    """Return a day as people write it: `11 February 2025`; of a month `February 2025`; anything else as it is."""
    found = _DATE.fullmatch(name)
    if found is None:
        return name
    year, month, number = found.groups()
    return f"{f'{int(number)} ' if number else ''}{_MONTHS[int(month) - 1]} {int(year)}"


_DATE = re.compile(r"(\d{4})-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?", re.ASCII)
_MONTHS = ("January February March April May June July August September October November December").split()


def clock(ts: float | None) -> str:
    """Return the time of day: `09:02`."""
    return _written(ts, "%H:%M")


def moment(ts: float | None) -> str:
    """Return the day and the time of day: `11 February 2025, 09:02`."""
    name, at = long_day(day(ts)), clock(ts)
    return f"{name}, {at}" if name != at else name


def _written(ts: float | None, form: str) -> str:
    if ts is None:
        return ""
    try:
        return time.strftime(form, time.localtime(ts))
    except (OverflowError, ValueError, OSError):
        return f"{ts:g}"  # no calendar has it


@lru_cache(1 << 16)  # each of thousands of facts is asked on every screen
def _date_of(text: str) -> str:
    """Return the local day of a start or an end; a date is one already."""
    from looseleaf.text.times import moment as moment_of

    ts = moment_of(text) if "T" in text else None
    return day(ts) if ts is not None else text


# --- facts -------------------------------------------------------------------------------


def fact_name(fact: Fact) -> str:
    """Return the name of a fact in an address, with its layer: `home:f_1a2b3c4d5e6f`."""
    return f"{fact.layer}:{fact.id}" if fact.layer else fact.id or ""


def since(fact: Fact) -> str:
    """Return the day since which a fact holds; "" if nothing says."""
    return _date_of(fact.valid_from) if fact.valid_from else day(fact.entry_ts or fact.recorded_at)


def until(fact: Fact) -> str:
    """Return the day on which a fact ended; "" if it did not."""
    return _date_of(fact.valid_to) if fact.valid_to else ""


def dates(fact: Fact) -> Iterator[str]:
    """Yield since when a fact holds, until when it did, and when it was last repeated."""
    if fact.person:
        yield f"said by {shown(fact.person)}"
    if fact.decided_by:
        yield f"decided by {shown(fact.decided_by)}"
    if start := since(fact):
        yield f"since {long_day(start)}"
    if end := until(fact):
        yield f"until {long_day(end)}"
    elif fact.said_at and day(fact.said_at) != start:
        yield f"again {long_day(day(fact.said_at))}"


_STATUS = {"pending": ("waits", "warn"), "superseded": ("no longer so", ""), "rejected": ("rejected", "bad")}
_TAGS = {PINNED: "pinned", "unverified": "unverified", "doubtful": "doubtful"}


def tags(fact: Fact) -> Iterator[tuple[str, str]]:
    """Yield what else is said of a fact in a word, each with the class of its tag."""
    if fact.status in _STATUS:
        yield _STATUS[fact.status]
    elif fact.valid_to is not None and fact.status == "current":
        yield "no longer so", ""
    for tag, word in _TAGS.items():
        if tag in fact.tags:
            yield word, "" if tag == PINNED else "warn"
    if fact.user_fact_score is not None:
        yield f"score {fact.user_fact_score:g}", ""


def author(name: str) -> str:
    """Return who made an edit, in a word or two."""
    return {"person": "You", "external": "You, in the folder", "program": "The program"}.get(
        name, f"Agent {name.removeprefix('agent:')}" if name.startswith("agent:") else name
    )


def topic(name: str) -> str:
    """Return the heading of a topic: that of the person has a name of its own."""
    return "About you" if name == USER else name


def said(fact: Fact) -> str:
    """Return the value of a fact, without the signature of the agent that found it."""
    return undoubted(fact.object) if is_found(fact.object) else fact.object


_SIGNED = re.compile(r"(?<=\bon )\d{4}-\d\d-\d\d", re.ASCII)


def origin(fact: Fact) -> str:
    """Return where words come from that no person said here, as the beginning of a sentence."""
    given = fact.origin or ""
    if is_found(fact.object):
        sign = fact.object[len(undoubted(fact.object)) :].strip(" ()")
        sign = _SIGNED.sub(lambda day: long_day(day[0]), sign)
        return sign[:1].upper() + sign[1:]
    if given.startswith("agent:"):
        return f"Asked by agent {given.removeprefix('agent:')}"
    if given.startswith("import"):
        return "Came with an import"
    if given.startswith("tool"):
        return "Came from a tool"
    if given == "document":
        return "Came from a text that was given"
    return "Nobody said this here"


# --- a screen ----------------------------------------------------------------------------

LOOK = "looseleaf-look"
"""The cookie that says how the page looks: a theme, and whether single keys do something. It opens nothing."""
THEMES = ("", "light", "dark")


@frozen
class Look:
    """How a person wants the page. `theme`: "" as the system says. `keys`: single keys do something."""

    theme: str = ""
    keys: bool = True

    @property
    def cookie(self) -> str:
        return f"{self.theme or 'system'}.{'keys' if self.keys else 'no-keys'}"


def look_of(request: Request) -> Look:
    """Return the look that a browser asks for."""
    theme, _, keys = request.cookies.get(LOOK, "").partition(".")
    return Look(theme if theme in THEMES else "", keys != "no-keys")


def page(request: Request, template: str, *, status: int = 200, **told: Any) -> Response:
    """Return a screen. `request.state` has the visit; `memory` and its names are of the address."""
    serving: Serving = request.app.state.serving
    visit = getattr(request.state, "visit", "")
    name, part = getattr(request.state, "memory", ""), request.path_params.get("name", "")
    names = serving.pool.names() if visit else []
    place = request.url.path.removeprefix("/m/").partition("/")[2].partition("/")[0]
    wanted, edition = request.query_params.get("note", ""), getattr(request.state, "edition", None)
    given = {
        "request": request,
        "name": name,
        "names": names,
        "is_there": name in names,
        "here": _BELONGS.get(place, place),
        "waiting": getattr(request.state, "waiting", 0),
        "since": getattr(request.state, "since", ""),
        "look": look_of(request),
        "naming": getattr(request.state, "naming", None),
        "token": form_token(visit) if visit else "",
        "home": f"/m/{part}",
        "note": request.app.state.notes.take(visit, wanted, edition) if visit else None,
        "error": "",
        "is_signed_in": bool(visit),
        "is_database": serving.joined is not None,
    }
    text = environment().get_template(template).render(given | told)
    return HTMLResponse(text, status)
