"""The tools that models are offered: names, sentences and schemas, as plain data.

What a call does is loaded with the first call (`toolset.py`): a client lists the tools as soon as it starts.
"""

from __future__ import annotations

from looseleaf.tools.tool import COUNT, TEXT, WRITTEN, Tool, object_schema, text_schema

_PATH = text_schema("USER.md, facts/<topic>.md or episodes/<yyyy-mm>.md")
_BASE = {
    "anyOf": [{"type": "string", "pattern": "^[0-9a-f]{64}$"}, {"type": "null"}],
    "description": "the sha256 that memory_read gave (null: there was no page): what changed since is left alone",
}

_ROW = object_schema("path summary size tokens", path=TEXT, summary=TEXT, size=COUNT, tokens=COUNT)

LIST = Tool(
    "memory_list",
    "List memory pages",
    "List the pages of the memory: path, summary, size in bytes and tokens. Read a page with memory_read.",
    object_schema(),
    object_schema("pages more", pages={"type": "array", "items": _ROW}, more=COUNT),
    reads=True,
    repeats=True,
)

READ = Tool(
    "memory_read",
    "Read a memory page",
    "Read a page of the memory. Returns its text and its sha256, which memory_write and memory_patch take as `base`.",
    object_schema(
        "path",
        path=text_schema("as memory_list gives it, such as facts/user.md"),
        from_line={"type": "integer", "minimum": 1, "description": "of a long page: the line to begin with"},
    ),
    object_schema(
        "path content sha256 lines",
        path=TEXT,
        content=TEXT,
        sha256=TEXT,
        lines=COUNT,
        from_line=COUNT,
        next_line=COUNT,
    ),
    reads=True,
    repeats=True,
)

WRITE = Tool(
    "memory_write",
    "Write a memory page",
    "Create or replace a page of the memory. Facts are bullets, one each: `- Relation: value`. Lines that a person or "
    "the user put there stay. To change single lines, prefer memory_patch.",
    object_schema("path content", path=_PATH, content=text_schema("the whole page, Markdown"), base=_BASE),
    WRITTEN,
    destroys=True,
    repeats=True,
)

PATCH = Tool(
    "memory_patch",
    "Change lines of a memory page",
    "Replace pieces of a page of the memory. Each oldText must stand in the page exactly once; all patches are "
    "applied, or none.",
    object_schema(
        "path patches",
        path=_PATH,
        patches={
            "type": "array",
            "items": object_schema(
                "oldText newText",
                oldText=text_schema("a piece of the page that stands there exactly once"),
                newText=text_schema("what stands there instead"),
            ),
        },
        base=_BASE,
    ),
    WRITTEN,
    destroys=True,
)

APPEND = Tool(
    "memory_append",
    "Append to a memory page",
    "Append a block of Markdown to a page of the memory: an episode (`## Title`, then `- Summary:`, `- Problem:`, "
    "`- Solution:`, `- Lesson:`) to episodes/<yyyy-mm>.md after significant work, or facts to facts/<topic>.md.",
    object_schema(
        "path entry",
        path=_PATH,
        entry=text_schema("the block of Markdown"),
        summary=text_schema("the page's summary line from now on, under ten words"),
    ),
    WRITTEN,
)

_HIT = object_schema(
    "where kind text score",
    where=text_schema("what opens it: `looseleaf open`"),
    kind=TEXT,
    text=TEXT,
    path=TEXT,
    date=TEXT,
    level=text_schema("confirmed, said, inferred or tainted: how far to believe it"),
    status=TEXT,
    now=text_schema("what is true instead"),
    topic=TEXT,
    score={"type": "number"},
)

REMEMBER = Tool(
    "remember",
    "Remember something",
    "Remember something for good, on the page of its topic: a lasting fact, preference, decision or lesson; not small "
    "talk. `user` is the topic of who the user is. Use the user's own words, as `Relation: value`: others are "
    "kept as yours, or wait for the user's yes. The answer says where it stands.",
    object_schema(
        "topic content",
        topic=text_schema("user, or a word or two such as cooking or api-design"),
        content=text_schema("one fact such as `Editor: Helix`, or a block of Markdown"),
        append={
            "type": "boolean",
            "description": "add to the page (true, the default) or replace it (false)",
        },
    ),
    WRITTEN,
    destroys=True,
    repeats=True,
)

RECALL = Tool(
    "recall",
    "Recall from memory",
    "Recall what the memory knows. With `query`: what bears on a question, of facts, pages and past talk, best first, "
    "each with where it stands, its date and how far to believe it; says so if nothing does. With `topic` alone: its "
    "page (a date: that day). With neither: the list of pages.",
    object_schema(
        topic=text_schema("a topic, `user`, a page's path, or a date such as 2026-02-24"),
        query=text_schema("a question in plain words"),
    ),
    object_schema(
        hits={"type": "array", "items": _HIT},
        notice=text_schema("how to take what stands in fences"),
        why=text_schema("why nothing was found"),
        page={"type": "object"},
        pages={"type": "array", "items": {"type": "object"}},
        more={"type": "integer"},
        days={"type": "array", "items": TEXT},
    ),
    reads=True,
    repeats=True,
)

_LINE = {"type": "string", "minLength": 1}

_TASK = {"anyOf": [_LINE, object_schema("title", title=_LINE)]}
_DECISION = {"anyOf": [_LINE, object_schema("title", title=_LINE, why=TEXT)]}

STATE = Tool(
    "memory_state",
    "Change the working state",
    "Change the working state that every prompt shows: goal, now (what is being done), tasks and decisions, as the "
    "user said them. One change, whole or not at all. What the user did not say waits for a yes.",
    object_schema(
        "patch",
        patch={"description": "what changes"}
        | object_schema(
            goal=text_schema("what the work is for; empty: none"),
            now=text_schema("what is being done; empty: nothing"),
            tasks_open={"type": "array", "items": _TASK, "description": "tasks to take on"},
            tasks_done={
                "type": "array",
                "items": _LINE,
                "description": "ids (T-1) or titles of tasks that are done",
            },
            decisions_recent={
                "type": "array",
                "items": _DECISION,
                "description": "what was decided, and why",
            },
        ),
    ),
    WRITTEN,
    destroys=True,
    repeats=True,
)

FORGET = Tool(
    "memory_forget",
    "Ask to forget a fact",
    "Propose that a fact be forgotten. Nothing is removed before the user says yes to it in review.",
    object_schema("what", what=text_schema("the fact's words, its id, or its place such as USER.md:5")),
    object_schema(
        "success",
        success={"type": "boolean"},
        fact=TEXT,
        receipt=TEXT,
        waits={"type": "boolean"},
        note=text_schema("what to tell the user"),
        error=TEXT,
    ),
    repeats=True,
)

TOOLS: dict[str, Tool] = {
    tool.name: tool for tool in (LIST, READ, WRITE, PATCH, APPEND, REMEMBER, RECALL, STATE, FORGET)
}
