"""The five page tools of seed 002: list, read, write, patch, append. Each write names the hash of the page it read.

Every write goes through `Memory.propose`: line by line, journaled, with a receipt.
"""

from __future__ import annotations

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.ids import new_id
from looseleaf.base.paths import page_path, quoted
from looseleaf.base.values import ANY
from looseleaf.facts.placement import PROFILE
from looseleaf.pages.grammar import (
    LABEL,
    drawer,
    new_page,
    parse,
    remove_line,
    set_summary,
    topic_of,
    without_known,
)
from looseleaf.text import untrusted
from looseleaf.text.diff import diff, patched, split_lines
from looseleaf.text.lines import FOUND, body
from looseleaf.tools.tool import (
    ToolAnswer,
    write_answer,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from looseleaf.memory import Memory
    from looseleaf.memory.layers import Layer
    from looseleaf.memory.parts import Parts
    from looseleaf.pages.pages import Page

_LISTED = 500
"""The most pages in a list: past that, a question is shorter than reading names."""

_CUT = " [this line is longer than an answer, and was cut here]\n"
_NAMED = 12
"""The most pages named in reply to a wrong path."""


def list_pages(memory: Memory, arguments: Mapping[str, Any]) -> ToolAnswer:
    lines, more = page_rows(memory)
    rows = [
        {"path": path, "summary": summary, "size": size, "tokens": tokens}
        for path, size, summary, tokens in lines
    ]
    text = "\n".join(
        f"- {path} ({size:,} bytes, {tokens:,} tokens){f': {summary}' if summary else ''}"
        for path, size, summary, tokens in lines
    )
    further = f"\nThere are {more} more; recall finds what they say." if more else ""
    return ToolAnswer(rows, {"pages": rows, "more": more}, (text or "There are no pages yet.") + further)


def page_rows(memory: Memory) -> tuple[list[tuple[str, int, str, int]], int]:
    """Return path, size, summary and tokens of the pages that a model may read, the profile first, and the number of
    further pages. Each summary is the page's own: a prompt lists only what the user said or a person wrote of it."""
    pages = [("", memory.parts, path) for path in _readable_paths(memory.parts)]
    for layer, (parts, paths) in memory.parts.farther(lambda far: (far, _readable_paths(far))):
        pages += [(f"{layer}:", parts, path) for path in paths]
    chosen = pages[:_LISTED]
    texts = [parts.pages.texts([path])[0] for _, parts, path in chosen]
    tokens = memory.window.count(texts)
    rows = [
        (f"{layer}{path}", len(text.encode("utf-8", "surrogatepass")), parse(path, text).summary or "", count)
        for (layer, _, path), text, count in zip(chosen, texts, tokens, strict=True)
    ]
    return rows, len(pages) - len(rows)


def _readable_paths(parts: Parts) -> list[str]:
    return [
        path for path in parts.pages.paths() if path == PROFILE or path.startswith(("facts/", "episodes/"))
    ]


def read(memory: Memory, arguments: Mapping[str, Any]) -> ToolAnswer:
    first = int(arguments.get("from_line", 1))
    layer, path = memory.parts.split_place(arguments["path"])
    if layer is None:
        return show(memory, readable(memory, path), first)
    return read_farther(memory, layer, path, first)


def read_farther(memory: Memory, layer: Layer, path: str, first: int = 1) -> ToolAnswer:
    """Return a page of a memory under this one."""
    far = memory.parts.of_layer(layer.name)
    _refuse_review(path)
    page = far.pages.page(path)
    if not page.exists:
        raise NotFound(
            f"Nothing was read: the layer {layer.name} has no page {path}. memory_list lists its pages."
        )
    return show(memory, page, first, layer.name, far)


def readable(memory: Memory, path: str) -> Page:
    """Return an existing page that a model may read."""
    path = page_path(path)
    _refuse_review(path)
    page = memory.pages.read(path)
    if not page.exists:
        known = _readable_paths(memory.parts)
        there = ", ".join(known[:_NAMED]) + (" …" if len(known) > _NAMED else "")
        raise NotFound(
            f"Nothing was read: there is no page {path}. "
            + (f"There are: {there}. recall searches all pages." if known else "There are none yet.")
        )
    return page


def _refuse_review(path: str) -> None:
    if page_path(path).startswith("review/"):
        raise Refused(f"{path} was not read: it waits for a person's yes. Ask the user about it.")


def show(
    memory: Memory, page: Page, first: int = 1, layer: str = "", parts: Parts | None = None
) -> ToolAnswer:
    """Return a page from a line on, as much as fits into an answer. `layer`, `parts`: the farther memory it is of."""
    lines = split_lines(page.text)
    path = f"{layer}:{page.path}" if layer else page.path
    if first > max(1, len(lines)):
        count = f"{len(lines)} line{'s' * (len(lines) != 1)}"
        raise Invalid(f"Nothing was read: {path} has only {count}, not {first}. Give a smaller from_line.")
    shown, notice = _set_apart(parts or memory.parts, page, lines)
    content, last = _clip_lines(shown[first - 1 :], memory.policy.tool_bytes)
    content = f"{notice}\n{content}" if notice and untrusted.opened("") in content else content
    end = first - 1 + last
    data = {"path": path, "content": content, "sha256": page.sha256 or "", "lines": len(lines)}
    notes = [f"{path}: sha256 {page.sha256}"]
    if end < len(lines) or first > 1:
        data["from_line"] = first
        notes.append(f"lines {first} to {end} of {len(lines)}")
    if end < len(lines):
        data["next_line"] = end + 1
        notes.append(f"from_line={end + 1} reads on")
    if page.text.encode() != page.data:
        notes.append(
            "some bytes are not UTF-8 and show as �; the page cannot be changed until a person saves it as UTF-8"
        )
    joint = "" if content.endswith("\n") or not content else "\n"
    return ToolAnswer(content, data, f"{content}{joint}[{'; '.join(notes)}]")


def _set_apart(parts: Parts, page: Page, lines: Sequence[str]) -> tuple[Sequence[str], str]:
    """Fence untrusted lines, and return the lines with a notice on fences, if there are any. Each line has its own
    fence, so that any part of the page can be read."""
    places = _find_untrusted(parts, page, lines)
    if not places:
        return lines, ""
    word = untrusted.word("page", page.sha256 or page.path, new_id())
    shown = list(lines)
    for at in places:
        line = lines[at - 1]
        end = "\n" if line.endswith("\n") else ""
        words = body(line).lstrip()
        mark = "- " if words.startswith(("- ", "* ", "+ ")) else ""
        shown[at - 1] = f"{mark}{untrusted.fenced(words.lstrip('-*+ ') if mark else words, word)}{end}"
    return shown, untrusted.notice(word)


def _find_untrusted(parts: Parts, page: Page, lines: Sequence[str]) -> list[int]:
    """Return the numbers of the untrusted lines: what agents found; in episodes, a model's own words; in a day, a
    model's summary."""
    read = parse(page.path, page.text)
    if drawer(page.path) == "facts":
        known = parts.notebook.facts(topic=topic_of(page.path))
        tainted = {(fact.relation, fact.object) for fact in known if fact.level == "tainted"}
        return [fact.line or 0 for fact in read.facts if (fact.relation, fact.object) in tainted]
    if page.path.startswith("days/"):
        return [at for at, line in enumerate(lines, 1) if line.startswith("  ") and line.strip()]
    if drawer(page.path) != "episodes":
        return []
    signed = {at for each in read.episodes if each.get(LABEL) for at in range(each.line, each.end + 1)}
    found = {at for at, line in enumerate(lines, 1) if line.startswith("- Found: ")}
    return sorted(at for at in signed | found if lines[at - 1].strip())


def _clip_lines(lines: Sequence[str], most: int) -> tuple[str, int]:
    """Return whole lines of at most so many bytes, at least one, and their number. A longer line is cut."""
    size = count = 0
    for line in lines:
        size += len(line.encode("utf-8", "surrogatepass"))
        if size > most and count:
            break
        count += 1
    text = "".join(lines[:count])
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= most:
        return text, count
    return f"{data[: most - len(_CUT)].decode('utf-8', 'ignore')}{_CUT}", count


def _own_path(memory: Memory, given: str) -> str:
    """Return the path of a page that a tool may write: of this memory, not of one under it."""
    layer, _ = memory.parts.split_place(given)
    if layer is not None:
        raise Refused(
            f"{given} was not changed: it is of the layer {layer.name}, which tools only read. Write to a page of this "
            "memory; memory_forget asks the user to forget a fact of any layer."
        )
    return page_path(given)


def write(memory: Memory, arguments: Mapping[str, Any]) -> ToolAnswer:
    path, content = _own_path(memory, arguments["path"]), untrusted.unfenced(str(arguments["content"]))
    if not content.strip():
        raise Invalid(
            f"{path} was not changed: the content is empty. memory_patch removes lines; memory_forget asks the user to "
            "forget something."
        )
    refuse_long(memory, path, content)
    bare, summary = without_summary(path, content)
    if summary == memory.pages.read(path).summary:
        summary = ""  # the model read it with the page, and did not change it
    base = arguments.get("base", ANY)
    receipt = memory.pages.propose(
        path, lambda old: with_summary(bare, old, path), base=base, reason="memory_write", summary=summary
    )
    return write_answer(receipt)


def without_summary(path: str, content: str) -> tuple[str, str]:
    """Return a page's text without its summary line, and the summary: the program keeps that line."""
    page = parse(path, content)
    if page.summary is None:
        return content, ""
    at = page.roles.index("summary") + 1
    bare = remove_line(content, at)
    return bare.replace("\n\n\n", "\n\n", 1), page.summary


def with_summary(bare: str, old: str, path: str) -> str:
    """Return the new text with the summary line of the old one, which the write does not cover."""
    summary = parse(path, old).summary
    return set_summary(bare, summary) if summary else bare


def patch(memory: Memory, arguments: Mapping[str, Any]) -> ToolAnswer:
    path = _own_path(memory, arguments["path"])
    given = [(str(each["oldText"]), str(each["newText"])) for each in arguments["patches"]]
    patches = [(untrusted.unfenced(old), untrusted.unfenced(new)) for old, new in given]
    if not patches:
        raise Invalid(f"{path} was not changed: there are no patches. Give at least one oldText and newText.")
    page = memory.pages.read(path)
    if not page.exists:
        raise NotFound(f"{path} was not changed: there is no such page. memory_write makes one.")

    added = 0

    def change(old: str) -> str:
        nonlocal added
        new = patched(path, old, patches)
        refuse_long(memory, path, new, before=old)
        added = sum(bool(line.strip()) for hunk in diff(old, new) for line in hunk.added)
        return new

    summary = "" if page.summary is not None else None  # a page without a summary stays so
    receipt = memory.pages.propose(
        path, change, base=arguments.get("base", ANY), reason="memory_patch", summary=summary, whole=True
    )
    is_applied = receipt.changed or not receipt.held
    return write_answer(receipt, {"appliedCount": len(patches) if is_applied else 0}, wanted=max(1, added))


def append(memory: Memory, arguments: Mapping[str, Any]) -> ToolAnswer:
    path, entry = _own_path(memory, arguments["path"]), untrusted.unfenced(str(arguments["entry"]))
    summary = str(arguments.get("summary") or "")
    if not entry.strip():
        raise Invalid(f"{path} was not changed: the entry is empty. Give a block of Markdown.")
    receipt = memory.pages.propose(
        path, lambda old: appended(memory, path, old, entry), reason="memory_append", summary=summary
    )
    return write_answer(receipt)


def appended(memory: Memory, path: str, old: str, entry: str) -> str:
    """Return a page with a block added at its end; a bullet follows a bullet, anything else a blank line."""
    text, mark, found = (old if old.strip() else new_page(path)).partition(f"\n## {FOUND}\n")
    text = text if text.endswith("\n") else f"{text}\n"
    block = (without_known(path, text, entry) if drawer(path) == "facts" else entry).strip("\r\n")
    if not block:
        return old  # the page says all of it
    last = text.rstrip("\r\n").rpartition("\n")[2]
    is_list = block.startswith(("- ", "* ", "+ ")) and last.startswith(("- ", "* ", "+ "))
    gap = "" if is_list or text.endswith("\n\n") else "\n"
    new = f"{text}{gap}{block}\n{mark}{found}"
    refuse_long(memory, path, new, before=old)
    return new


def refuse_long(memory: Memory, path: str, text: str, before: str = "") -> None:
    """Refuse a page that a model could not read in one piece. A page that is too long already may get shorter."""
    size, most = len(text.encode("utf-8", "surrogatepass")), memory.policy.tool_bytes
    if size > most and size > len(before.encode("utf-8", "surrogatepass")):
        stem = path.removesuffix(".md")
        raise Refused(
            f"{path} was not changed: it would have {size:,} bytes, and a page written by a tool has at most {most:,}. "
            f"Split it: one topic for each page. Put what belongs together on a page of its own, such as {stem}-2.md, "
            f"and name that page on {quoted(path)[1:-1]}."
        )
