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
_HOOKS = (
    "session-start",
    "user-prompt",
    "pre-tool",
    "pre-compact",
    "stop",
    "distill",
    "deliver",
    "install",
    "remove",
)
_SPENT_BY = ("day", "purpose", "model", "agent")
_EXPORTS = ("tar", "folder", "facts", "messages")
_SHELLS = ("bash", "zsh", "fish")
_NAMED = ("pages", "topics", "facts", "sessions", "agents")
_NAMES_HELP = f"names in the memory instead, one per line: {', '.join(_NAMED)}"
_DISTILLERS = "rules, model, or package.module:attribute"
_TOKEN_ACTS = ("new", "list", "revoke")
_DATABASE_ACTS = ("migrate", "check", "index", "clear", "start", "stop")
_STATE_ACTS = ("set", "task", "decide", "block", "unblock", "restore")


def _switch(help: str) -> dict[str, Any]:
    return {"action": "store_true", "help": help}


def _value(metavar: str, help: str, **more: Any) -> dict[str, Any]:
    return {"metavar": metavar, "help": help, **more}


def _number(metavar: str, help: str, **more: Any) -> dict[str, Any]:
    return {"metavar": metavar, "type": int, "help": help, **more}


def _optional(help: str, **more: Any) -> dict[str, Any]:
    return {"nargs": "?", "help": help, **more}


_LAST = _number("N", f"at most this many ({LAST})", default=LAST)
_MODEL = _value("NAME", "for the context window of this model (else the one in the settings)")
_AS_OF = _value("DATE", "as it was on a day, or at a time")
_ROOT = _value("FOLDER", "a folder of memories: each folder in it is one")
_POSTGRES = _value(
    "ADDRESS",
    "the memories of a PostgreSQL database; without an address, those of a server of your own, started for it",
    nargs="?",
    const="",
)
_PAGE = {"help": "its path, such as USER.md or facts/garden.md"}
_HERE = _switch("even what is private, in a folder that git tracks")
_FACT = _value("FACT", "its relation, words of it, its id, or `page.md:line`")

VERBS: dict[str, tuple[str, str, Arguments, str]] = {
    "init": (
        "pages.init",
        "make a folder a memory",
        {
            "path": _optional("the folder (else --memory, else ./.looseleaf)"),
            "--git-log": _switch("let git have the log too: the history, with everything that was said"),
        },
        "init notes",
    ),
    "settings": (
        "settings.settings",
        "print the settings of a memory (looseleaf.toml) as they are, or check new ones and replace them",
        {"path": _optional("a file with the new settings (-: standard input)", metavar="FILE")},
        "settings\nsettings looseleaf.toml",
    ),
    "remember": (
        "everyday.remember",
        "remember something in your own words, now",
        {
            "text": {"nargs": "+", "help": "the words to remember"},
            "--topic": _value("TOPIC", "its topic (else found in the words)"),
            "--here": _switch("in this memory, whatever it is about"),
            "--home": _switch("in the home memory under this one"),
        },
        'remember "I prefer green tea."',
    ),
    "log": (
        "pages.log",
        "show edits, who made them and why, newest first",
        {"page": _optional("only this page"), "--limit": _number("N", "at most this many (50)", default=50)},
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
        {"page": _PAGE, "--since": _value("DATE", "show changes since a day or time instead")},
        "diff USER.md --since 2026-02-24",
    ),
    "undo": (
        "pages.undo",
        "undo the last edit; again, the one before it",
        {"page": _optional("the last edit of this page")},
        "undo USER.md",
    ),
    "record": (
        "everyday.record",
        "record a message, a tool call or its result",
        {
            "role": {"choices": _ROLES, "help": "whose words; jsonl: many at once, one JSON object per line"},
            "text": _optional("the words, the tool's name or its result; else standard input"),
            "--args": _value("JSON", "the arguments of a tool call"),
            "--result": _value("JSON", "a tool's result that is not plain text"),
            "--call-id": _value("ID", "the id of a tool call, for the call and its result"),
            "--name": _value("TOOL", "the tool of a result without a call id"),
            "--error": _switch("the call failed; the text says why"),
            "--session": _value("ID", "in this session (else the last one, if it is recent)"),
            "--turn": _value("ID", "in this turn (else the current one)"),
        },
        'record user "I live in Lyon now."',
    ),
    "turns": (
        "window.turns",
        "show the last turns, or one turn whole",
        {
            "turn": _optional("this turn, whole"),
            "--limit": _LAST,
            "--session": _value("ID", "only this session"),
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
            "--model": _value(
                "PROVIDER/NAME",
                "this model (else the one in the settings, else of a provider that the environment names: "
                "ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY, DEEPSEEK_API_KEY, OLLAMA_HOST; "
                "OPENAI_BASE_URL, or LOOSELEAF_BASE_URL with LOOSELEAF_API_KEY, is the address of another)",
            ),
            "--no-tools": _switch("the model only reads the memory in its prompt"),
        },
        "chat --model ollama/qwen3",
    ),
    "prompt": (
        "prompt.prompt",
        "build the prompt for a task within a budget, or show an old one; with the reason for each part",
        {
            "task": _optional("the request (-: standard input); with --diff ID, the other prompt"),
            "--budget": _number("N", "at most this many tokens (else the model's)"),
            "--model": _MODEL,
            "--explain": _switch("show its parts, their tokens, and what was left out (or --json)"),
            "--dry-run": _switch("compact and log nothing"),
            "--messages": _switch("print the messages as JSON, without --explain (--json: both)"),
            "--replay": _value("ID", "an old prompt, byte for byte (last: the last one)"),
            "--diff": _value("ID", "what changed from this old prompt to another (the last)"),
        },
        'prompt "Refactor the parser" --budget 4000 --explain',
    ),
    "analyze": (
        "prompt.analyze",
        "show the tokens of a prompt now, with other choices, and of the last prompts",
        {"--last": _number("N", f"this many prompts ({LAST})", default=LAST)},
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
        {"entry": _optional("an entry, a turn or a trace, by its id (else: list the entries)")},
        "expand turn_0003",
    ),
    "recall": (
        "everyday.recall",
        "find answers to a question in all that was said and written, or report that there are none",
        {
            "query": {"nargs": "+", "help": "the question, or words to look for"},
            "--k": _number("N", "at most this many (10; with a budget, as many as fit)"),
            "--budget": _number("N", "at most about this many tokens; texts are shortened"),
            "--topic": _value("TOPIC", "only pages and entries of this topic"),
            "--kind": _value("KIND", f"only of this kind: {', '.join(FOUND)}", choices=FOUND),
            "--as-of": _value("DATE", "as known on a day, or at a time"),
            "--since": _value("DATE", "only from this day on"),
            "--until": _value("DATE", "only up to this day"),
            "--now": _value("DATE", 'the day that "last week" counts from (today)'),
            "--all": _switch("also hits that are not sure enough to be an answer"),
            "--raw": _switch("only messages and tool calls, each whole"),
            "--explain": _switch("show the parts of each score"),
        },
        'recall "which language for code?" --budget 800',
    ),
    "open": (
        "everyday.open_hit",
        "show the context of a hit of recall: the talk, the page, the entry",
        {"where": _value("HIT", "as recall names it: an id, an entry, `page.md#5-9`")},
        "open facts/garden.md#3-3",
    ),
    "test": (
        "everyday.test",
        "run your own recall tests (recall.tests.toml): what recall must find, and must not",
        {"path": _optional("the file (else recall.tests.toml of the memory)")},
        "test",
    ),
    "tool": (
        "pages.tool",
        "call a memory tool as a model would, or list the tools with their schemas",
        {
            "name": _optional("the tool (else: list all)"),
            "args": _optional("its arguments (-: from standard input)", metavar="JSON"),
        },
        'tool memory_read \'{"path": "USER.md"}\'',
    ),
    "receipts": (
        "pages.receipts",
        "list what agents wrote; for a turn, also what was promised and not written",
        {"turn": _optional("a turn, or `last`: what it wrote, and what it only promised"), "--limit": _LAST},
        "receipts last",
    ),
    "mcp": (
        "setup.mcp",
        "serve the memory to any MCP client, over standard input and output or over HTTP",
        {
            "--http": _switch("over HTTP, on this machine only"),
            "--host": _value("HOST", "the address to listen on (127.0.0.1)"),
            "--port": _number("N", "the port (8765; 0: any)"),
            "--allow-host": _value("NAMES", "more names of this server, separated by commas"),
            "--allow-origin": _value("ORIGINS", "origins that programs may send, separated by commas"),
            "--token-file": _value("PATH", "the file of the token (made if missing)"),
            "--read-only": _switch("serve only tools that change nothing"),
        },
        "mcp",
    ),
    "serve": (
        "serve.serve",
        "serve the memory as a page in the browser, as REST and as MCP, on one port of this machine",
        {
            "--root": _ROOT,
            "--postgres": _POSTGRES,
            "--host": _value("HOST", "the address to listen on (127.0.0.1)"),
            "--port": _number("N", "the port (8765; 0: any)"),
            "--allow-host": _value("NAMES", "more names of this server, separated by commas"),
            "--tls-cert": _value("PATH", "the certificate, with its chain, as PEM"),
            "--tls-key": _value("PATH", "its key"),
            "--proxy": _value("NAME", "an HTTPS proxy serves it under this name"),
            "--json-log": _switch("a line of JSON for each request, on standard error"),
        },
        "serve\nserve --root memories\nserve --postgres",
    ),
    "login": (
        "serve.login",
        "print another link to sign in to the page of a running server",
        {
            "--root": _ROOT,
            "--postgres": _POSTGRES,
            "--person": _value("NAME", "who signs in: what they decide has this name"),
        },
        "login",
    ),
    "token": (
        "serve.token",
        "make, list and revoke the tokens by which programs use a server",
        {
            "act": {"choices": _TOKEN_ACTS, "help": "what to do"},
            "name": _optional("new: what the token is for; revoke: its id"),
            "--root": _ROOT,
            "--postgres": _POSTGRES,
            "--memories": _value(
                "NAMES",
                "the memories it sees, separated by commas (*: all; else the only one); heron=read: only to read there",
            ),
            "--person": _value("NAME", "whose it is: what comes by it was said by this person"),
            "--scopes": _value("SCOPES", "read, write, review, admin: what it may do (read)", default="read"),
            "--voice": _value(
                "WHO", "user: what it records as the user's words is believed", choices=("user",)
            ),
            "--days": _number("N", "it ends after this many days (0: never)", default=0),
        },
        "token new codex --scopes read,write --agent codex\ntoken list",
    ),
    "worker": (
        "worker.worker",
        "do the jobs of a PostgreSQL database: distill what was said, import, check, keep the index up to date",
        {
            "--postgres": _value(
                "ADDRESS", "the address of the database (else the one of --memory or LOOSELEAF_HOME)"
            ),
            "--once": _switch("end when no job is left that can be done now"),
            "--concurrency": _number("N", "this many jobs at a time (4)"),
            "--kinds": _value(
                "KINDS",
                "only these, separated by commas: distill, compact, embed, build, index, import, check, improve",
            ),
        },
        "worker --postgres postgresql://looseleaf@db.example.org/memories --once",
    ),
    "database": (
        "database.database",
        "prepare a PostgreSQL database for memories and check it, or run a server to try it out",
        {
            "act": {
                "choices": _DATABASE_ACTS,
                "help": "migrate: bring its tables to this version, as the role that owns them; check: see whether "
                "all is as it must be; index: as that role, index the vectors of memories that have many; clear: "
                "remove what a memory left that moved away; start, stop: a server of your own, in a folder",
            },
            "where": _optional(
                "the address of the database (its password: ~/.pgpass or PGPASSWORD); start, stop: the folder of the "
                "server",
                metavar="ADDRESS",
            ),
            "--role": _value(
                "ROLE", "migrate: the role that memories are used as (looseleaf)", default="looseleaf"
            ),
        },
        "database start\ndatabase migrate postgresql://owner@db.example.org/memories",
    ),
    "setup": (
        "install.setup",
        "connect the coding agents on this machine: finds them, says what it would write, asks, writes, tries it",
        {
            "agents": {
                "nargs": "*",
                "help": "only these: claude, codex, gemini, qwen, opencode, cursor, zed, vscode, windsurf",
            },
            "--project": _switch("in the settings of this project, not your own"),
            "--remove": _switch("take everything out again"),
            "--dry-run": _switch("only show the changes"),
            "--yes": _switch("write without asking"),
        },
        "setup --dry-run\nsetup claude codex --dry-run",
    ),
    "hook": (
        "setup.hook",
        "run by a coding agent at its events (JSON on standard input); install and remove write its settings",
        {
            "event": {
                "choices": _HOOKS,
                "help": "the event; distill, deliver: started by them in the background; or install, or remove",
            },
            "--claude": _switch("for Claude Code"),
            "--codex": _switch("for Codex"),
            "--gemini": _switch("for Gemini CLI"),
            "--git": _switch("for git, in this repository: it then merges pages by their facts"),
            "--user": _switch("in your own settings, not those of this project"),
            "--yes": _switch("write the settings without asking"),
            "--distill-with": _value(
                "MODEL",
                "have this model distill after each answer: claude-code, codex or gemini-cli (their own "
                "command lines, with their login), PROVIDER/NAME, model (the one of the settings), or rules",
            ),
        },
        "hook install --claude\nhook install --claude --distill-with claude-code",
    ),
    "merge-file": (
        "git.merge_file",
        "run by git: merge two versions of a page or of state.json into the first of them",
        {
            "base": {"help": "a file with the version before both (%%O)"},
            "current": {"help": "a file with one version; it becomes the merged one (%%A)"},
            "other": {"help": "a file with the other version (%%B)"},
            "path": {"help": "the page that they are versions of (%%P)"},
        },
        "merge-file base.md ours.md theirs.md facts/garden.md",
    ),
    "distill": (
        "views.distill",
        "make facts of what was said since the last time, and report each",
        {"--topic": _value("TOPIC", "its topic")},
        "distill",
    ),
    "write": (
        "views.write",
        "make facts of a text; they wait in review, unless the words are yours",
        {
            "path": _optional("a file (else, or for -: standard input)"),
            "--topic": _value("TOPIC", "its topic"),
            "--mine": _switch("these are my own words"),
        },
        "write notes.txt --topic garden --mine",
    ),
    "facts": (
        "facts.facts",
        "list the facts, topic by topic",
        {
            "--topic": _value("TOPIC", "only this topic"),
            "--kind": _value("KIND", f"only of this kind: {', '.join(KINDS)}", choices=KINDS),
            "--pending": _switch("instead, facts that wait for your yes"),
            "--superseded": _switch("instead, facts that are no longer true"),
            "--rejected": _switch("instead, facts that you rejected"),
            "--as-of": _value("DATE", "as true on a day, or at a time"),
        },
        "facts --topic user --as-of 2026-02-24",
    ),
    "score": (
        "facts.score",
        "set how much a fact matters; that outranks every rule",
        {"fact": _FACT, "score": _value("SCORE", "from 0 to 10")},
        "score Home 9",
    ),
    "correct": (
        "facts.correct",
        "correct a fact; the old value stays in the history",
        {"fact": _FACT, "text": _value("TEXT", "the value, or `Relation: value`"), "--here": _HERE},
        'correct Home "Lyon"',
    ),
    "review": ("review.review", "go through what waits for your yes, one by one", {}, "review"),
    "settle": (
        "settle.settle",
        "decide on pages that were emptied, cut off or left with conflict markers, and on conflict copies",
        {
            "page": _optional("only this page or file (else: all that wait)"),
            "--keep": _switch("go on with the last good version; a copy goes"),
            "--accept": _switch("the file is right as it is; a copy is a page of its own"),
            "--ours": _switch("the upper side of each conflict"),
            "--theirs": _switch("the lower side of each conflict; a copy takes the place of its page"),
            "--both": _switch("both sides of each conflict; the page gets the lines that only a copy has"),
        },
        "settle\nsettle --keep",
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
        {"fact": _FACT, "--home": _switch("keep one that waits in the home memory, not here")},
        "approve f_1f2e3d4c",
    ),
    "vouch": (
        "review.vouch",
        "vouch for lines whose author the journal does not know: say that they are yours",
        {
            "lines": {
                "nargs": "*",
                "metavar": "LINE",
                "help": "of a page, a line (`page.md:line` or its id), or with these words (else all)",
            },
            "--yes": _switch("without asking"),
        },
        "vouch USER.md",
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
            "what": _value("WHAT", "a fact by its id or `page.md:line`; or words of a prompt"),
            "--prompt": _value("ID", "the words are looked for in this prompt (else the last)"),
        },
        'why "English code"',
    ),
    "topics": ("views.topics", "list the topics", {}, "topics"),
    "topic": (
        "views.topic",
        "show the memory of one topic",
        {"name": _value("NAME", "as `looseleaf topics` lists it"), "--as-of": _AS_OF},
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
            "--with": _value("DISTILLER", _DISTILLERS, dest="distiller", required=True),
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
            "what": _optional("goal, now or conventions.NAME; add or done; the title or text"),
            "value": _optional("the value (empty: remove it), the task's title or id"),
            "--why": _value("TEXT", "why it was decided"),
            "--here": _HERE,
            "--toon": _switch("show it as a prompt carries it"),
        },
        'state task add "Write the importer"',
    ),
    "cost": (
        "status.cost",
        "show the use of models: calls, tokens, US dollars (--agent: of one agent); and what is left today",
        {
            "--days": _number("N", "the last N days (7)", default=7),
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
            "--here": _HERE,
        },
        "import chatgpt-export.zip --dry-run",
    ),
    "export": (
        "transfer.export",
        "write the memory to one file or folder, its facts with their history, or what was said as messages",
        {
            "path": _optional("the target (else a name with the date; -: standard output)"),
            "--as": {
                "dest": "format",
                "choices": _EXPORTS,
                "default": "tar",
                "help": f"{', '.join(_EXPORTS)} (tar)",
            },
        },
        "export facts.jsonl --as facts",
    ),
    "move": (
        "transfer.move",
        "move a memory from a folder into a database, or from a database into a folder, byte for byte",
        {
            "path": {"metavar": "FROM", "help": "a folder, or postgresql://host/database?namespace=NAME"},
            "to": {"metavar": "TO", "help": "the other of the two; a folder must be new"},
        },
        'move .looseleaf "postgresql://db.example.org/memories?namespace=acme/agent-7"',
    ),
    "merge": (
        "transfer.merge",
        "merge another copy of this memory into it: what either has learned is kept",
        {
            "path": {
                "help": "the folder of the other copy, or an export of all of it (.tar.gz); it is not changed"
            },
            "--dry-run": _switch("only show the facts that would be added, replaced and contested"),
        },
        "merge /media/stick/notes --dry-run",
    ),
    "sync": (
        "transfer.sync",
        "make this memory and a copy elsewhere equal, in both directions",
        {
            "path": _optional(
                "a folder, a git remote, or an rsync target: host:path, or rsync:PATH (else `sync` in the settings)",
                metavar="WHERE",
            ),
            "--branch": _value("NAME", "the branch of a git remote (main)", default="main"),
            "--new-branch": _switch("the branch may be made, though the remote has others"),
            "--join": _switch("join this memory with another one at the place that it never met"),
            "--dry-run": _switch("only show what would come and go"),
        },
        "sync /media/stick/notes\nsync git@example.org:me/notes.git",
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
            "--fact": _value("FACT", "the same"),
            "--topic": _value("TOPIC", "everything known of a topic, and its page"),
            "--session": _value("ID", "everything said in a session"),
            "--origin": _value("ORIGIN", "everything from there: tool, import, import:chatgpt, document"),
            "--match": _value("TEXT", "every sentence and line with these words"),
            "--in-place-of": _value(
                "MACHINE", "what was forgotten, in the log of a machine that will never come back"
            ),
            "--dry-run": _switch("only show what would go"),
            "--yes": _switch("without asking"),
        },
        'forget soil --dry-run\nforget --match "Project Nightingale" --dry-run',
    ),
    "demo": (
        "demo.demo",
        "see it work on a story of three sessions; no key, no network, a few seconds",
        {
            "path": _optional("the folder to leave behind (./looseleaf-demo)"),
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
            "shell": _optional(f"for which shell: {', '.join(_SHELLS)}", choices=_SHELLS),
            "--list": _value("WHAT", _NAMES_HELP, dest="names", choices=_NAMED),
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
    here: bool
    home: bool
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
    to: str
    branch: str
    new_branch: bool
    join: bool
    entry: str | None
    topic: str | None
    mine: bool
    kind: str | None
    pending: bool
    superseded: bool
    rejected: bool
    fact: Any  # as page
    lines: list[str]
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
    where: Any  # as page
    who: bool
    http: bool
    host: str | None
    port: int | None
    allow_host: str | None
    allow_origin: str | None
    postgres: str | None
    once: bool
    concurrency: int | None
    kinds: str | None
    token_file: str | None
    read_only: bool
    root: str | None
    tls_cert: str | None
    tls_key: str | None
    proxy: str | None
    json_log: bool
    memories: str | None
    scopes: str
    voice: str | None
    person: str | None
    event: str
    claude: bool
    codex: bool
    gemini: bool
    git: bool
    git_log: bool
    base: str
    current: str
    other: str
    user: bool
    agents: list[str] | None
    project: bool
    remove: bool
    yes: bool
    distill_with: str | None
    no_tools: bool
    days: int
    by: Any  # one of costs.WHATS
    format: str | None
    origin: str | None
    match: str | None
    in_place_of: str | None
    plain: bool
    shell: str | None
    names: str | None
    keep: bool
    accept: bool
    ours: bool
    theirs: bool
    both: bool

    done = ""
    """What the command did, once that is durable: printed if the answer cannot be written."""
