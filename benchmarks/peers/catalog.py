"""Who is compared, how each is installed and run, what it says of itself; and who is not, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    name: str
    shown: str
    """As tables have it."""
    adapter: str
    """The module beside this one."""
    packages: tuple[str, ...] = ()
    kind: str = "pip"
    """How it is installed: pip, npm, program, checkout (ours), or not at all: standard library, here."""
    older: str = ""
    """What is installed where the newest cannot be."""
    least: tuple[int, int] = (3, 11)
    """The Python that it needs."""
    loads_extensions: bool = False
    """Whether its SQLite has to load extensions."""
    searches: bool = True
    is_timed: bool = True
    """Else only what it finds is measured."""
    has_vectors: bool = False
    note: str = ""

    @property
    def is_reference(self) -> bool:
        """What the others are held against, so that it does all of the work however long it takes."""
        return self.name in ("looseleaf", "fts5")


ENTRIES = (
    Entry(
        "looseleaf",
        "**looseleaf**",
        "looseleaf",
        ("looseleaf",),
        "checkout",
        note="each text is recorded as a message; found by words alone, as it is installed",
    ),
    Entry(
        "looseleaf-meaning",
        "looseleaf, `semantic`",
        "looseleaf_meaning",
        kind="here",
        is_timed=False,
        note="with the extra that compares meaning (MiniLM, in the same process); here only for what it finds",
    ),
    Entry(
        "fts5",
        "plain FTS5",
        "fts5",
        kind="standard library",
        note="the floor: a table in WAL mode with `synchronous = FULL`, words joined by OR, bm25",
    ),
    Entry(
        "ripgrep",
        "ripgrep",
        "ripgrep",
        ("ripgrep",),
        "program",
        note="a line for each text; the telling words of a question are looked for, lines with more of them come "
        "first; a process for each question, so that nothing stays in memory; each writer has files of its own",
    ),
    Entry(
        "mem0",
        "mem0",
        "mem0",
        ("mem0ai",),
        has_vectors=True,
        note="`infer=False`, no model; its default local store (Qdrant, on disk); its search of words needs a model "
        "that is downloaded, and is off",
    ),
    Entry(
        "basic-memory",
        "basic-memory",
        "basic_memory",
        ("basic-memory",),
        least=(3, 12),
        older="basic-memory==0.23.1",
        note="its MCP server; a note for each text; its vectors need a model that is downloaded, and are off; the "
        "words of a question are joined by OR",
    ),
    Entry(
        "langgraph",
        "LangGraph store",
        "langgraph",
        ("langgraph-checkpoint-sqlite",),
        loads_extensions=True,
        has_vectors=True,
        note="`SqliteStore` with its vector index; `InMemoryStore` keeps nothing when the process ends",
    ),
    Entry(
        "chromadb",
        "chromadb",
        "chromadb",
        ("chromadb",),
        has_vectors=True,
        note="`PersistentClient`, cosine; its own embedder downloads a model, so vectors are given",
    ),
    Entry(
        "server-memory",
        "MCP server-memory",
        "server_memory",
        ("@modelcontextprotocol/server-memory",),
        "npm",
        note="the reference server; an entity for each text; it matches letters, so the telling words are asked one "
        "by one, and what holds more of them comes first",
    ),
    Entry(
        "anthropic",
        "Anthropic memory tool",
        "anthropic",
        ("anthropic",),
        searches=False,
        note="`BetaLocalFilesystemMemoryTool`; lines inserted into 16 notes; a model lists and reads them, there is no "
        "search",
    ),
    Entry(
        "openai-agents",
        "openai-agents session",
        "openai_agents",
        ("openai-agents",),
        searches=False,
        note="`SQLiteSession` in a file; the last messages are read, there is no search",
    ),
)

LEFT_OUT = {
    "Letta": "it is a server to which a model has to be connected (docs.letta.com/guides/selfhosting)",
    "Graphiti": "it needs a graph database and a model (help.getzep.com/graphiti)",
    "Cognee": "its `cognify` needs a model (docs.cognee.ai)",
}
"""Without a server and a model these do not run; the reason is from their documentation."""
