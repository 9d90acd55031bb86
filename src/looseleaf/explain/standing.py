"""Standing: where a page stands in a prompt and why, or why it is not in it; the same of one line of a page."""

from __future__ import annotations

import re
from itertools import islice

from looseleaf.base.errors import Refused
from looseleaf.base.page_paths import STATE
from looseleaf.explain.trail import Needle, Step, Trail, under
from looseleaf.explain.why_not import Absent
from looseleaf.text.diff import split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.base.values import Record
    from looseleaf.memory import Memory
    from looseleaf.prompt.manifest import Item, Prompt

    Steps = tuple[Step, ...]

_LINE = re.compile(r"(.+\.(?:md|json)):([0-9]{1,7})")

_SHOWN = {
    "markdown": "it is shown whole",
    "json": "it is shown whole",
    "toon": "it is shown whole, as a table",
    "lines": "its facts are shown",
}


def named(memory: Memory, text: str) -> tuple[str, str | None] | None:
    """The page that a text names (`USER.md`), and the line (`USER.md:3`), if it does; None: it is words."""
    text = text.strip()
    pages = memory.pages()
    if text in pages:
        return text, None
    found = _LINE.fullmatch(text)
    if found is None or found[1] not in pages:
        return None
    lines = split_lines(memory.page(found[1]).text)
    number = int(found[2])
    if not 1 <= number <= len(lines):
        raise Refused(
            f"Nothing was looked for: {found[1]} has {len(lines):,} line{'s' * (len(lines) != 1)}, and no line "
            f"{number:,}. `looseleaf show {found[1]}` shows it."
        )
    line = lines[number - 1].strip()
    return found[1], line if Needle(line).folded else None


def is_of(item: Item, path: str) -> bool:
    """Whether an item was made of a page: of a revision of it, of a part of it, or as one of several."""
    return any(each == path or each.startswith((f"{path}@", f"{path}:")) for each in item.of)


class Standing:
    """Of one page in one prompt. `record` is what the log has of it; None: it was made for the question."""

    def __init__(self, memory: Memory, prompt: Prompt, record: Record | None, path: str) -> None:
        self._memory = memory
        self._prompt = prompt
        self._path = path
        needle = Needle(path)
        self._trail = Trail(memory, needle)
        self._absent = Absent(memory, prompt, record, needle)

    def chains(self) -> tuple[bool, list[Steps]]:
        """Whether the prompt shows or names the page, and the trails that lead to it."""
        found = [tuple(self._steps(item)) for item in self._prompt.manifest.items if is_of(item, self._path)]
        return (True, found) if found else (False, [tuple(self._why_not())])

    def _steps(self, item: Item) -> Iterator[Step]:
        path = self._path
        revision = next((each.rpartition("@")[2] for each in item.of if each.startswith(f"{path}@")), None)
        yield Step(item.slot, item.id, f"{item.reason}, {item.tokens:,} tokens as {item.format}")
        yield from under(self._page(item, revision))

    def _page(self, item: Item, revision: str | None) -> Iterator[Step]:
        path = self._path
        match item.slot:
            case "index":
                told = self._memory.page(path).summary or "it is listed to be read"
            case "episodes":
                told = "its last episodes are shown"
            case "window":
                told = "what changed on it is told" if "/" not in path else "it is told that it came or went"
            case _:
                told = _SHOWN.get(item.format, f"it is shown as {item.format}")
        cut = self._absent.cut(item.slot) if item.slot in ("profile", "state") else []
        yield Step("page", path, "it is shown in part" if cut else told)
        yield from under(cut)
        if revision and self._trail.true_revision(path, revision) != self._memory.page(path).sha256:
            yield Step("changed since", path, "it says something else now", 1)
        yield from under(islice(self._trail.last_edit(path, revision), 1))

    def _why_not(self) -> Iterator[Step]:
        path = self._path
        page = self._memory.page(path)
        if not page.text.strip() or (path == STATE and page.text.split() == ["{}"]):
            yield Step("page", path, "it says nothing")
            return
        yield from self._absent.left_out("page", path, path)
        yield Step("page", path, "it is not shown", 1)
        yield from under(islice(self._trail.last_edit(path), 1), 2)
