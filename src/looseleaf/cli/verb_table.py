"""The table of verbs: help, arguments, an example. `arguments.parse` reads it, `main` runs it."""

from __future__ import annotations

from looseleaf.base.values import FOUND, KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Arguments = dict[str, dict[str, Any]]
    """By name, the keywords for argparse; names that begin with `-` are options."""

LAST = 20
"""Turns and sessions that are listed without a given number."""

SHARED: Arguments = {
    "--memory": {"metavar": "PATH", "help": "the folder of the memory"},
    "--agent": {"metavar": "NAME", "help": "the agent whose memory it is (main)"},
    "--json": {"action": "store_true", "help": "print one JSON document"},
}
"""Options that go before or after the verb."""

SHORT = {"-n": "--limit", "-k": "--k"}

_ROLES = ("user", "assistant", "tool_call", "tool_result", "jsonl")
_HOOKS = ("session-start", "user-prompt", "pre-tool", "pre-compact", "stop", "distill", "install", "remove")
_SPENT_BY = ("day", "purpose", "model", "agent")
_EXPORTS = ("tar", "folder", "facts", "messages")
_SHELLS = ("bash", "zsh", "fish")
_NAMED = ("pages", "topics", "facts", "sessions", "agents")
_STATE_ACTS = ("set", "task", "decide", "block", "unblock", "restore")
_LAST = {"metavar": "N", "type": int, "default": LAST, "help": f"at most this many ({LAST})"}
_MODEL = {"metavar": "NAME", "help": "for the context window of this model (else the one in the settings)"}
_AS_OF = {"metavar": "DATE", "help": "as it was on a day, or at a time"}
_PAGE = {"help": "its path, such as USER.md or facts/garden.md"}
_FACT = {"metavar": "FACT", "help": "its relation, words of it, its id, or `page.md:line`"}


def _switch(help: str) -> dict[str, Any]:
    return {"action": "store_true", "help": help}


VERBS: dict[str, tuple[str, str, Arguments, str]] = {
    "init": (
        "pages.init",
        "make a folder a memory",
        {"path": {"nargs": "?", "help": "the folder (else --memory, else ./.looseleaf)"}},
        "init notes",
    ),
    "remember": (
        "everyday.remember",
        "remember something in your own words, now",
        {
            "text": {"nargs": "+", "help": "the words to remember"},
            "--topic": {"metavar": "TOPIC", "help": "its topic (else found in the words)"},
        },
        'remember "I prefer green tea."',
    ),
    "log": (
        "pages.log",
        "show edits, who made them and why, newest first",
        {
            "page": {"nargs": "?", "help": "only this page"},
            "--limit": {"metavar": "N", "type": int, "default": 50, "help": "at most this many (50)"},
        },
        "log USER.md -n 5",
    ),
    "show": (
        "pages.show",
        "show a page, or a fact",
        {
            "page": {
                "help": "its path, such as USER.md or facts/garden.md; or a fact, by its relation or words"
            },
            "--as-of": _AS_OF,
            "--who": _switch("for each line: who wrote it, when, its level, when it was last said"),
        },
        "show USER.md --as-of 2026-02-24",
    ),
    "diff": (
        "pages.diff",
        "show what the last edit of a page changed",
        {"page": _PAGE, "--since": {"metavar": "DATE", "help": "show changes since a day or time instead"}},
        "diff USER.md --since 2026-02-24",
    ),
    "undo": (
        "pages.undo",
        "undo the last edit; again, the one before it",
        {"page": {"nargs": "?", "help": "the last edit of this page"}},
        "undo USER.md",
    ),
    "record": (
        "everyday.record",
        "record a message, a tool call or its result",
        {
            "role": {"choices": _ROLES, "help": "whose words; jsonl: many at once, one JSON object per line"},
            "text": {"nargs": "?", "help": "the words, the tool's name or its result; else standard input"},
            "--args": {"metavar": "JSON", "help": "the arguments of a tool call"},
            "--result": {"metavar": "JSON", "help": "a tool's result that is not plain text"},
            "--call-id": {"metavar": "ID", "help": "the id of a tool call, for the call and its result"},
            "--name": {"metavar": "TOOL", "help": "the tool of a result without a call id"},
            "--error": _switch("the call failed; the text says why"),
            "--session": {"metavar": "ID", "help": "in this session (else the last one, if it is recent)"},
            "--turn": {"metavar": "ID", "help": "in this turn (else the current one)"},
        },
        'record user "I live in Lyon now."',
    ),
    "turns": (
        "window.turns",
        "show the last turns, or one turn whole",
        {
            "turn": {"nargs": "?", "help": "this turn, whole"},
            "--limit": _LAST,
            "--session": {"metavar": "ID", "help": "only this session"},
        },
        "turns 17",
    ),
    "sessions": ("window.sessions", "list the last sessions", {"--limit": _LAST}, "sessions -n 5"),
    "chat": (
        "chat.chat",
        (
            "talk to a model that has the memory; in a pipe, a line is a question; its commands:\n/help /memory /why "
            "/forget /undo /state /compact /cost /quit"
        ),
        {
            "--model": {
                "metavar": "PROVIDER/NAME",
                "help": "this model (else the one in the settings, else of a provider that the environment names: "
                "ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY, DEEPSEEK_API_KEY, OLLAMA_HOST; "
                "OPENAI_BASE_URL, or LOOSELEAF_BASE_URL with LOOSELEAF_API_KEY, is the address of another)",
            },
            "--no-tools": _switch("the model only reads the memory in its prompt"),
        },
        "chat --model ollama/qwen3",
    ),
    "prompt": (
        "prompt.prompt",
        "build the prompt for a task within a budget, or show an old one; with the reason for each part",
        {
            "task": {
                "nargs": "?",
                "help": "the request (-: standard input); with --diff ID, the other prompt",
            },
            "--budget": {"metavar": "N", "type": int, "help": "at most this many tokens (else the model's)"},
            "--model": _MODEL,
            "--explain": _switch("show its parts, their tokens, and what was left out (or --json)"),
            "--dry-run": _switch("compact and log nothing"),
            "--messages": _switch("print the messages as JSON, without --explain (--json: both)"),
            "--replay": {"metavar": "ID", "help": "an old prompt, byte for byte (last: the last one)"},
            "--diff": {"metavar": "ID", "help": "what changed from this old prompt to another (the last)"},
        },
        'prompt "Refactor the parser" --budget 4000 --explain',
    ),
    "analyze": (
        "prompt.analyze",
        "show the tokens of a prompt now, with other choices, and of the last prompts",
        {"--last": {"metavar": "N", "type": int, "default": LAST, "help": f"this many prompts ({LAST})"}},
        "analyze --last 5",
    ),
    "window": (
        "window.window",
        "show the messages a model sees now, and their tokens",
        {"--model": _MODEL},
        "window --model gpt-4o",
    ),
    "compact": (
        "window.compact",
        "shorten the window, and report what it lost",
        {"--dry-run": _switch("only report"), "--model": _MODEL},
        "compact --dry-run",
    ),
    "expand": (
        "window.expand",
        "list what left the window, or show one item of it whole",
        {"entry": {"nargs": "?", "help": "an entry, a turn or a trace, by its id (else: list the entries)"}},
        "expand turn_0003",
    ),
    "recall": (
        "everyday.recall",
        "find answers to a question in all that was said and written, or report that there are none",
        {
            "query": {"nargs": "+", "help": "the question, or words to look for"},
            "--k": {
                "metavar": "N",
                "type": int,
                "help": "at most this many (10; with a budget, as many as fit)",
            },
            "--budget": {
                "metavar": "N",
                "type": int,
                "help": "at most about this many tokens; texts are shortened",
            },
            "--topic": {"metavar": "TOPIC", "help": "only pages and entries of this topic"},
            "--kind": {"metavar": "KIND", "choices": FOUND, "help": f"only of this kind: {', '.join(FOUND)}"},
            "--as-of": {"metavar": "DATE", "help": "as known on a day, or at a time"},
            "--since": {"metavar": "DATE", "help": "only from this day on"},
            "--until": {"metavar": "DATE", "help": "only up to this day"},
            "--now": {"metavar": "DATE", "help": 'the day that "last week" counts from (today)'},
            "--all": _switch("also hits that are not sure enough to be an answer"),
            "--raw": _switch("only messages and tool calls, each whole"),
            "--explain": _switch("show the parts of each score"),
        },
        'recall "which language for code?" --budget 800',
    ),
    "open": (
        "everyday.open_hit",
        "show the context of a hit of recall: the talk, the page, the entry",
        {"where": {"metavar": "HIT", "help": "as recall names it: an id, an entry, `page.md#5-9`"}},
        "open facts/garden.md#3-3",
    ),
    "test": (
        "everyday.test",
        "run your own recall tests (recall.tests.toml): what recall must find, and must not",
        {"path": {"nargs": "?", "help": "the file (else recall.tests.toml of the memory)"}},
        "test",
    ),
    "tool": (
        "pages.tool",
        "call a memory tool as a model would, or list the tools with their schemas",
        {
            "name": {"nargs": "?", "help": "the tool (else: list all)"},
            "args": {"nargs": "?", "metavar": "JSON", "help": "its arguments (-: from standard input)"},
        },
        'tool memory_read \'{"path": "USER.md"}\'',
    ),
    "receipts": (
        "pages.receipts",
        "list what agents wrote; for a turn, also what was promised and not written",
        {
            "turn": {"nargs": "?", "help": "a turn, or `last`: what it wrote, and what it only promised"},
            "--limit": _LAST,
        },
        "receipts last",
    ),
    "mcp": (
        "setup.mcp",
        "serve the memory to any MCP client, over standard input and output or over HTTP",
        {
            "--http": _switch("over HTTP, on this machine only"),
            "--host": {"metavar": "HOST", "help": "the address to listen on (127.0.0.1)"},
            "--port": {"metavar": "N", "type": int, "help": "the port (8765; 0: any)"},
            "--allow-host": {"metavar": "NAMES", "help": "more names of this server, separated by commas"},
            "--allow-origin": {
                "metavar": "ORIGINS",
                "help": "origins that programs may send, separated by commas",
            },
            "--token-file": {"metavar": "PATH", "help": "the file of the token (made if missing)"},
            "--read-only": _switch("serve only tools that change nothing"),
        },
        "mcp",
    ),
    "hook": (
        "setup.hook",
        "run by a coding agent at its events (JSON on standard input); install and remove write its settings",
        {
            "event": {
                "choices": _HOOKS,
                "help": "the event; distill: started by them in the background; or install, or remove",
            },
            "--claude": _switch("for Claude Code"),
            "--user": _switch("in your own settings, not those of this project"),
            "--yes": _switch("write the settings without asking"),
            "--distill-with": {
                "metavar": "MODEL",
                "help": "have this model distill after each answer: claude-code, codex or gemini-cli (their own "
                "command lines, with their login), PROVIDER/NAME, model (the one of the settings), or rules",
            },
        },
        "hook install --claude\nhook install --claude --distill-with claude-code",
    ),
    "distill": (
        "views.distill",
        "make facts of what was said since the last time, and report each",
        {"--topic": {"metavar": "TOPIC", "help": "its topic"}},
        "distill",
    ),
    "write": (
        "views.write",
        "make facts of a text; they wait in review, unless the words are yours",
        {
            "path": {"nargs": "?", "help": "a file (else, or for -: standard input)"},
            "--topic": {"metavar": "TOPIC", "help": "its topic"},
            "--mine": _switch("these are my own words"),
        },
        "write notes.txt --topic garden --mine",
    ),
    "facts": (
        "facts.facts",
        "list the facts, topic by topic",
        {
            "--topic": {"metavar": "TOPIC", "help": "only this topic"},
            "--kind": {"metavar": "KIND", "choices": KINDS, "help": f"only of this kind: {', '.join(KINDS)}"},
            "--pending": _switch("instead, facts that wait for your yes"),
            "--superseded": _switch("instead, facts that are no longer true"),
            "--rejected": _switch("instead, facts that you rejected"),
            "--as-of": {"metavar": "DATE", "help": "as true on a day, or at a time"},
        },
        "facts --topic user --as-of 2026-02-24",
    ),
    "score": (
        "facts.score",
        "set how much a fact matters; that outranks every rule",
        {"fact": _FACT, "score": {"metavar": "SCORE", "help": "from 0 to 10"}},
        "score Home 9",
    ),
    "correct": (
        "facts.correct",
        "correct a fact; the old value stays in the history",
        {"fact": _FACT, "text": {"metavar": "TEXT", "help": "the value, or `Relation: value`"}},
        'correct Home "Lyon"',
    ),
    "review": (
        "review.review",
        "go through what waits for your yes, one by one",
        {},
        "review",
    ),
    "reject": (
        "facts.reject",
        "reject a fact: it goes, and does not come back by itself",
        {"fact": _FACT},
        "reject f_1f2e3d4c",
    ),
    "approve": (
        "facts.approve",
        "approve a fact: one that waits in review goes to its page",
        {"fact": _FACT},
        "approve f_1f2e3d4c",
    ),
    "pin": (
        "facts.pin",
        "keep a fact among those that prompts must not leave out",
        {"fact": _FACT, "--off": _switch("unpin it")},
        "pin USER.md:5",
    ),
    "history": (
        "facts.history",
        "show every value that a fact ever had, and whose words each rests on",
        {"fact": _FACT},
        "history Home",
    ),
    "why": (
        "facts.why",
        "show why a fact is believed, or why words are in a prompt or not: who said them, what was made of them",
        {
            "what": {"metavar": "WHAT", "help": "a fact by its id or `page.md:line`; or words of a prompt"},
            "--prompt": {"metavar": "ID", "help": "the words are looked for in this prompt (else the last)"},
        },
        'why "English code"',
    ),
    "topics": ("views.topics", "list the topics", {}, "topics"),
    "topic": (
        "views.topic",
        "show the memory of one topic",
        {"name": {"metavar": "NAME", "help": "as `looseleaf topics` lists it"}, "--as-of": _AS_OF},
        "topic user --as-of 2026-02-24",
    ),
    "global": (
        "views.whole",
        "show the active topics, and the essential facts",
        {"--as-of": _AS_OF},
        "global --as-of 2026-02-24",
    ),
    "build": (
        "views.build",
        "bring the views of topics up to date",
        {
            "--full": _switch("rebuild all of them, also from entries that another program left"),
            "--pages": _switch("first restore pages that are gone from the folder"),
        },
        "build --full",
    ),
    "redistill": (
        "views.redistill",
        "show what another distiller makes of the same words, or switch to it",
        {
            "--with": {
                "metavar": "DISTILLER",
                "dest": "distiller",
                "required": True,
                "help": "rules, model, or package.module:attribute",
            },
            "--apply": _switch("switch to it"),
            "--yes": _switch("send entries to a model without asking"),
        },
        "redistill --with rules",
    ),
    "tidy": (
        "views.tidy",
        "move less essential facts from USER.md to facts/user.md, if it is too long for a prompt",
        {"--dry-run": _switch("only show what would move")},
        "tidy --dry-run",
    ),
    "index": ("views.index", "list the pages, one per line, as a prompt does", {}, "index"),
    "state": (
        "status.state",
        "show the goal, tasks and decisions of the work, or change them",
        {
            "act": {
                "nargs": "?",
                "choices": _STATE_ACTS,
                "help": "set FIELD VALUE; task add TITLE; task done ID; decide TITLE; block TEXT; unblock TEXT; "
                "restore (else: show)",
            },
            "what": {"nargs": "?", "help": "goal, now or conventions.NAME; add or done; the title or text"},
            "value": {"nargs": "?", "help": "the value (empty: remove it), the task's title or id"},
            "--why": {"metavar": "TEXT", "help": "why it was decided"},
            "--toon": _switch("show it as a prompt carries it"),
        },
        'state task add "Write the importer"',
    ),
    "cost": (
        "status.cost",
        "show the use of models: calls, tokens, US dollars (--agent: of one agent); and what is left today",
        {
            "--days": {"metavar": "N", "type": int, "default": 7, "help": "the last N days (7)"},
            "--by": {"choices": _SPENT_BY, "default": "day", "help": "group by this (day)"},
        },
        "cost --days 30 --by model",
    ),
    "import": (
        "transfer.import_",
        "import a history: conversations, notes, other memories; known parts are skipped",
        {
            "path": {"help": "a file, a folder, a zip or a tar"},
            "--as": {"metavar": "FORMAT", "dest": "format", "help": "its format (else detected)"},
            "--dry-run": _switch("only report what would be imported"),
            "--mine": _switch("I vouch for it: my words in it count as mine, pages become pages"),
        },
        "import chatgpt-export.zip --dry-run",
    ),
    "export": (
        "transfer.export",
        "write the memory to one file or folder, its facts with their history, or what was said as messages",
        {
            "path": {"nargs": "?", "help": "the target (else a name with the date; -: standard output)"},
            "--as": {
                "dest": "format",
                "choices": _EXPORTS,
                "default": "tar",
                "help": f"{', '.join(_EXPORTS)} (tar)",
            },
        },
        "export facts.jsonl --as facts",
    ),
    "forget": (
        "review.forget",
        "remove something from everywhere, its history too, and prove that it is gone",
        {
            "what": {
                "nargs": "?",
                "metavar": "FACT",
                "help": "this fact (its relation, words of it, its id, or `page.md:line`): its line, its quotes, all "
                "that was made of them",
            },
            "--fact": {"metavar": "FACT", "help": "the same"},
            "--topic": {"metavar": "TOPIC", "help": "everything known of a topic, and its page"},
            "--session": {"metavar": "ID", "help": "everything said in a session"},
            "--origin": {
                "metavar": "ORIGIN",
                "help": "everything from there: tool, import, import:chatgpt, document",
            },
            "--match": {"metavar": "TEXT", "help": "every sentence and line with these words"},
            "--dry-run": _switch("only show what would go"),
            "--yes": _switch("without asking"),
        },
        'forget soil --dry-run\nforget --match "Project Nightingale" --dry-run',
    ),
    "demo": (
        "demo.demo",
        "see it work on a story of three sessions; no key, no network, a few seconds",
        {
            "path": {"nargs": "?", "help": "the folder to leave behind (./looseleaf-demo)"},
            "--plain": _switch("no colors, no pauses"),
        },
        "demo",
    ),
    "doctor": (
        "doctor.doctor",
        "check the machine, the memory, hooks and models, and say what to do",
        {},
        "doctor",
    ),
    "completion": (
        "completion.completion",
        "print a script that completes verbs, options and names in a shell",
        {
            "shell": {"nargs": "?", "choices": _SHELLS, "help": f"for which shell: {', '.join(_SHELLS)}"},
            "--list": {
                "metavar": "WHAT",
                "dest": "names",
                "choices": _NAMED,
                "help": f"names in the memory instead, one per line: {', '.join(_NAMED)}",
            },
        },
        "completion bash\ncompletion --list pages",
    ),
    "check": ("pages.check", "re-read and re-hash everything", {}, "check"),
    "repair": (
        "pages.repair",
        "repair what check found, keeping a copy of every byte that is moved",
        {},
        "repair",
    ),
}
"""Of each verb: the function that carries it out, its help, its arguments, an example."""


class CliOptions:
    """The parsed arguments: `run`, and a value for every option and argument of the verb."""

    run: str
    memory: str | None
    agent: str | None
    json: bool
    path: str | None
    page: Any  # text, or None where it is optional
    limit: int
    as_of: str | None
    since: str | None
    role: str
    text: Any  # as page
    args: str | None
    result: str | None
    call_id: str | None
    name: Any  # as page
    error: bool
    session: str | None
    turn: str | None
    model: str | None
    dry_run: bool
    entry: str | None
    topic: str | None
    mine: bool
    kind: str | None
    pending: bool
    superseded: bool
    rejected: bool
    fact: Any  # as page
    score: str
    off: bool
    full: bool
    pages: bool
    distiller: str
    apply: bool
    act: str | None
    what: Any  # as page
    value: Any  # as page
    why: str | None
    toon: bool
    task: str | None
    budget: int | None
    explain: bool
    messages: bool
    replay: str | None
    diff: str | None
    prompt: str | None
    last: int
    query: list[str]
    all: bool
    k: int | None
    until: str | None
    now: str | None
    raw: bool
    where: str
    who: bool
    http: bool
    host: str | None
    port: int | None
    allow_host: str | None
    allow_origin: str | None
    token_file: str | None
    read_only: bool
    event: str
    claude: bool
    user: bool
    yes: bool
    distill_with: str | None
    no_tools: bool
    days: int
    by: Any  # one of costs.WHATS
    format: str | None
    origin: str | None
    match: str | None
    plain: bool
    shell: str | None
    names: str | None

    done = ""
    """What the command did, once that is durable: printed if the answer cannot be written."""
