"""Coding agents as models: their command lines, called once in headless mode, with their own login.

Each call is one child process in its own empty folder. It has no tools, no MCP servers and none of the user's hooks,
and `LOOSELEAF_INSIDE` stops any looseleaf that it starts: these questions are never recorded as a user's words. The
conversation goes in by standard input, where other users of the machine cannot read it.

The options and outputs were checked with the programs themselves: Claude Code 2.1.197, Codex 0.169.0, Gemini CLI
0.61.0.
"""

from __future__ import annotations

import json
import os
import re

from looseleaf.base.errors import Cancelled, Invalid, PromptTooLong, Refused
from looseleaf.base.replies import Reply, TextDelta, Usage
from looseleaf.base.values import INSIDE
from looseleaf.models.call import Caller, cancelled_error
from looseleaf.models.dialect import TOO_LONG, Rendered, is_strict
from looseleaf.models.failures import Failure
from looseleaf.models.message_repair import media_as_text, media_of
from looseleaf.models.stream_parts import at

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Generator, Sequence
    from typing import Any

    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Event, Extension
    from looseleaf.models.call import ModelCall, StreamOptions
    from looseleaf.models.stream_parts import PartialReply

_NAME = re.compile(r"[A-Za-z0-9][\w.:@/\[\]-]*")
"""Names of models: nothing that a program could take for an option."""

_LOOKING = 0.05
"""Seconds between two looks at `cancel` while the program works."""

_NO_LOGIN = re.compile(
    r"/login|log(?:ged)?[ -]?in\b|auth method|invalid api key|unauthori[sz]ed|401|authenticat|oauth|credentials",
    re.IGNORECASE,
)

_OF_SESSIONS = frozenset(
    "CLAUDECODE CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SSE_PORT CLAUDE_CODE_SESSION_ID CLAUDE_CODE_CHILD_SESSION "
    "CLAUDE_PROJECT_DIR CLAUDE_ENV_FILE GEMINI_CLI GEMINI_CLI_IDE_SERVER_PORT GEMINI_CLI_IDE_WORKSPACE_PATH".split()
)
"""Variables by which a coding agent tells its children their session. This call belongs to none."""

_PLAIN = "You answer what you are asked, and do nothing else."
"""Replaces the agent's own instructions, which are about writing code, if no others are given."""

_CODEX_OFF = (
    "hooks shell_tool unified_exec multi_agent goals view_image image_generation apps plugins skill_search memories "
    "unbounded_connection_retries"
).split()


class CommandLine(Caller):
    """A coding agent's program. `name` is a model that it knows, or "" for its default.

    It is called once: the programs retry by themselves. Tools are described and called in the text.
    """

    program = ""
    sends_to = ""
    """The company whose servers read the conversation."""
    to_install = ""
    to_log_in = ""

    def __init__(
        self,
        name: str = "",
        *,
        seconds: float | None = None,
        extensions: Sequence[Extension] = (),
        calls: str = "json",
    ) -> None:
        if name and not _NAME.fullmatch(name):
            raise Invalid(
                f"No model was chosen: {name!r} is not a model's name. Give one that {self.title} knows, or leave it "
                "out."
            )
        self._asked_for = name
        super().__init__(name or self.dialect, seconds=seconds, retries=0, extensions=extensions, calls=calls)

    def ready(self) -> None:
        """Check that the program is installed, without running it."""
        self._find_program()

    def _find_program(self) -> str:
        """Return the program's path. One that is only found from the current folder is not run."""
        from shutil import which

        if os.environ.get(INSIDE):
            raise Refused(
                f"No model was asked: this already runs inside a coding agent that is called as a model ({INSIDE} is "
                "set)."
            )
        found = which(self.program)
        if found is None or not os.path.isabs(found):
            raise Refused(
                f"No model was asked: the program `{self.program}` of {self.title} is not on PATH. {self.to_install}"
            )
        return found

    def _render(self, call: ModelCall) -> Rendered:
        told = [message.to_dict() for message in call.messages]
        return Rendered({"program": self.program, "model": self.name, "messages": told})

    def _attempt(self, call: ModelCall, rendered: Rendered, heard: PartialReply) -> Generator[Event]:
        from tempfile import TemporaryDirectory

        path, wanted = self._find_program(), call.wanted
        system, asked = _conversation_text(call.messages)
        if wanted.schema is not None and not self._takes_schema(wanted.schema):
            schema = json.dumps(wanted.schema, ensure_ascii=False)
            rule = "Answer with one JSON object that keeps to this schema, and nothing else"
            asked += f"\n\n({rule}: {schema})"
        with TemporaryDirectory(prefix="looseleaf-", ignore_cleanup_errors=True) as folder:
            empty = os.path.join(folder, "empty")
            os.mkdir(empty)
            instructions = _write_file(folder, "instructions.md", system or _PLAIN)
            arguments = self._arguments(folder, instructions, wanted)
            more = self._environment(instructions) | {INSIDE: "1"}
            environ = {name: value for name, value in os.environ.items() if name not in _OF_SESSIONS}
            try:
                out = self._run([path, *arguments], asked, self._work_folder(empty), environ | more, wanted)
            except (Cancelled, KeyboardInterrupt):
                heard.is_answered = True  # it may have answered by then
                raise
        reply = self._read_reply(out)
        if not reply.text.strip():
            raise self._failure("its answer is empty")
        yield TextDelta(reply.text)
        yield reply

    def _run(
        self, command: list[str], asked: str, folder: str, environ: dict[str, str], wanted: StreamOptions
    ) -> str:
        """Return the program's output. It is killed, with all that it started, at the time limit, by `cancel`, and when
        the caller is gone."""
        import subprocess
        from time import monotonic

        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=environ, start_new_session=True
            )
        except OSError as error:
            raise Refused(
                f"No model was asked: {command[0]} could not be started ({error.strerror or error}). {self.to_install}"
            ) from error
        seconds = self._time_limit(wanted)
        until = monotonic() + seconds
        given: bytes | None = asked.encode("utf-8", "replace")
        try:
            while True:
                if wanted.cancel is not None and wanted.cancel.is_set():
                    raise cancelled_error(self.title)
                left = until - monotonic()
                if left <= 0:
                    raise Failure(
                        f"{self.title} did not answer within {seconds:g} seconds.",
                        "Ask again later, or give it more time (`model_seconds`).",
                        may_cost=True,
                    )
                pause = left if wanted.cancel is None else min(left, _LOOKING)
                try:
                    out, err = process.communicate(given, pause)
                    break
                except subprocess.TimeoutExpired:
                    given = None  # it keeps its input
        finally:
            _end_process(process)
        said, wrong = (each.decode("utf-8", "replace") for each in (out, err))
        if not said.strip():
            raise self._failure(wrong.strip() or f"it ended with code {process.returncode}")
        return said

    def _failure(self, said: object) -> Failure:
        """Return the failure for the program's error message."""
        quoted, why = self._provider().quote(said), f"{self.title} did not answer"
        if TOO_LONG.search(quoted):
            why = f"{why}: what it was sent is longer than it takes ({quoted})."
            return Failure(why, "Compact the conversation, or send less of it.", kind=PromptTooLong)
        if _NO_LOGIN.search(quoted):
            return Failure(f"{why}: it is not logged in ({quoted}).", self.to_log_in)
        return Failure(f"{why}: it failed ({quoted}).", f"Run `{self.program}` by hand; it says more.")

    def _unreadable_output(self, said: str) -> Failure:
        return Failure(
            f"{self.title} did not answer: its output is not in a known format ({self._provider().quote(said)}).",
            f"Update it. {self.to_install}",
            may_cost=True,
        )

    def _address(self) -> str:
        return self.sends_to

    def _takes_schema(self, schema: dict[str, Any]) -> bool:
        """True if the program enforces a schema; else words ask for it."""
        raise NotImplementedError

    def _arguments(self, folder: str, instructions: str, wanted: StreamOptions) -> list[str]:
        raise NotImplementedError

    def _environment(self, instructions: str) -> dict[str, str]:
        """Return the variables to set for it."""
        return {}

    def _work_folder(self, empty: str) -> str:
        return empty

    def _read_reply(self, out: str) -> Reply:
        """Return the reply in its output. Raises `Failure`."""
        raise NotImplementedError


class ClaudeCode(CommandLine):
    """Claude Code (`claude -p`).

        ClaudeCode("haiku", seconds=60)

    With a subscription, the reported cost is what the call would have cost with a key.
    """

    dialect = "claude-code"
    title = "Claude Code"
    program = "claude"
    sends_to = "Anthropic"
    to_install = "Install it with `npm install -g @anthropic-ai/claude-code`."
    to_log_in = "Run `claude` once and log in."

    def _takes_schema(self, schema: dict[str, Any]) -> bool:
        return True

    def _arguments(self, folder: str, instructions: str, wanted: StreamOptions) -> list[str]:
        made = [
            "-p",
            "--output-format",
            "json",
            "--tools",
            "",
            "--strict-mcp-config",
            "--setting-sources",
            "",
        ]
        # An administrator's hooks remain: looseleaf's among them do nothing inside.
        made += ["--settings", '{"disableAllHooks": true}', "--disable-slash-commands"]
        made += ["--no-session-persistence", "--system-prompt-file", instructions]
        made += ["--model", self._asked_for] if self._asked_for else []
        made += ["--effort", wanted.effort] if wanted.effort in ("low", "medium", "high") else []
        if wanted.schema is not None:
            schema = {name: value for name, value in wanted.schema.items() if name != "$schema"}
            made += ["--json-schema", json.dumps(schema)]
        return made

    def _environment(self, instructions: str) -> dict[str, str]:
        return {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}

    def _read_reply(self, out: str) -> Reply:
        told = _parse_object(out)
        if told is None or told.get("type") != "result":
            raise self._unreadable_output(out)
        structured = told.get("structured_output")
        if told.get("is_error") or (structured is None and told.get("subtype") != "success"):
            raise self._failure(told.get("result") or told.get("errors") or told.get("subtype"))
        text = json.dumps(structured, ensure_ascii=False) if structured is not None else told.get("result")
        models = told.get("modelUsage")
        named = [str(name).partition("[")[0] for name in models] if isinstance(models, dict) else []
        cached, written = (_count(told, f"cache_{how}_input_tokens") for how in ("read", "creation"))
        read, output = _count(told, "input_tokens") + cached + written, _count(told, "output_tokens")
        raw_cost = told.get("total_cost_usd")
        cost = float(raw_cost) if isinstance(raw_cost, int | float) and 0 <= raw_cost < 1e6 else None
        usage = Usage(read, cached, written, output, is_estimated=not read, cost=cost)
        return Reply(str(text or ""), usage=usage, model=named[-1] if named else "")


class Codex(CommandLine):
    """Codex (`codex exec`). It does not report costs."""

    dialect = "codex"
    title = "Codex"
    program = "codex"
    sends_to = "OpenAI"
    to_install = "Install it with `npm install -g @openai/codex`."
    to_log_in = "Run `codex login`."

    def _takes_schema(self, schema: dict[str, Any]) -> bool:
        return is_strict(schema)  # the provider refuses any other

    def _arguments(self, folder: str, instructions: str, wanted: StreamOptions) -> list[str]:
        made = ["exec", "--json", "--ephemeral", "--skip-git-repo-check", "--sandbox", "read-only"]
        # Its settings name MCP servers, and this is the only way to leave those out. The login is kept elsewhere.
        made += ["--ignore-user-config", "--ignore-rules", "-c", 'web_search="disabled"']
        made += ["-c", "project_doc_max_bytes=0", "-c", f"model_instructions_file={json.dumps(instructions)}"]
        for feature in _CODEX_OFF:
            made += ["-c", f"features.{feature}=false"]
        made += ["--model", self._asked_for] if self._asked_for else []
        if wanted.schema is not None and self._takes_schema(wanted.schema):
            made += ["--output-schema", _write_file(folder, "schema.json", json.dumps(wanted.schema))]
        return [*made, "-"]

    def _read_reply(self, out: str) -> Reply:
        events = [each for each in map(_parse_object, out.splitlines()) if each is not None]
        said = [
            str(at(each, "item", "text")) for each in events if at(each, "item", "type") == "agent_message"
        ]
        done = next((each for each in events if each.get("type") == "turn.completed"), None)
        if done is None or not said:
            if not events:
                raise self._unreadable_output(out)
            wrong = [each for each in events if each.get("type") in ("error", "turn.failed")]
            last = wrong[-1] if wrong else {}
            raise self._failure(last.get("message") or last.get("error") or "it gave no answer")
        read, cached = _count(done, "input_tokens"), _count(done, "cached_input_tokens")
        written, output = _count(done, "cache_write_input_tokens"), _count(done, "output_tokens")
        thought = _count(done, "reasoning_output_tokens")
        return Reply(said[-1], usage=Usage(read, cached, written, output, thought, is_estimated=not read))


class GeminiCLI(CommandLine):
    """The Gemini CLI (`gemini -p`). It keeps a copy of the conversation in its own folder, and reports no costs."""

    dialect = "gemini-cli"
    title = "Gemini CLI"
    program = "gemini"
    sends_to = "Google"
    to_install = "Install it with `npm install -g @google/gemini-cli`."
    to_log_in = "Run `gemini` once and log in."

    def _takes_schema(self, schema: dict[str, Any]) -> bool:
        return False

    def _arguments(self, folder: str, instructions: str, wanted: StreamOptions) -> list[str]:
        made = ["--output-format", "json", "--skip-trust", "--approval-mode", "default"]
        made += ["--allowed-mcp-server-names", "none", "--extensions", "none"]
        made += ["--model", self._asked_for] if self._asked_for else []
        return [*made, "--prompt", ""]

    def _environment(self, instructions: str) -> dict[str, str]:
        return {"GEMINI_SYSTEM_MD": instructions, "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def _work_folder(self, empty: str) -> str:
        """Return the same folder each time, with its settings: Gemini CLI keeps data for each folder it worked in."""
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        folder = os.path.join(cache, "looseleaf", "gemini-cli")
        settings = os.path.join(folder, ".gemini")
        try:
            os.makedirs(settings, 0o700, exist_ok=True)
            _write_file(settings, "settings.json", json.dumps(_GEMINI_SETTINGS))
        except OSError as error:
            raise Refused(
                f"No model was asked: {settings} could not be written ({error.strerror or error}). Check its "
                "permissions."
            ) from error
        return folder

    def _read_reply(self, out: str) -> Reply:
        told = _parse_object(out[out.find("{") :])
        if told is None:
            raise self._unreadable_output(out)
        wrong = told.get("error")
        if wrong or not isinstance(told.get("response"), str):
            said_wrong = wrong.get("message") if isinstance(wrong, dict) else wrong
            raise self._failure(said_wrong or "it gave no answer")
        models = at(told, "stats", "models")
        took = models if isinstance(models, dict) else {}
        names = ("prompt", "cached", "candidates", "thoughts")
        read, cached, said, thought = (
            sum(_count(each, name, "tokens") for each in took.values()) for name in names
        )
        usage = Usage(read, cached, 0, said + thought, thought, is_estimated=not read)
        return Reply(str(told["response"]), usage=usage, model=str(next(reversed(took), "")))


_GEMINI_SETTINGS: dict[str, Any] = {
    "tools": {"core": ["none"]},
    "mcp": {"allowed": ["none"]},
    "hooksConfig": {"enabled": False},
    "context": {"fileName": ["none.md"]},
    "skills": {"enabled": False},
    "experimental": {"enableAgents": False},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False},
}
"""Laid over the user's own."""


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill the process, with all that it started, unless it has ended."""
    import signal

    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:  # it just ended
            pass
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            try:
                stream.close()
            except OSError:  # unwritten input
                pass


def _conversation_text(messages: Sequence[Message]) -> tuple[str, str]:
    """Return the instructions, and the conversation as one text; a single message as it is. Media become text: the
    programs take none this way."""

    def text_of(message: Message) -> str:
        media = [media_as_text(kind, address) for kind, address in media_of(message)]
        return "\n".join(filter(None, (message.content, *media)))

    system = "\n\n".join(text_of(each) for each in messages if each.role == "system")
    said = [each for each in messages if each.role != "system"]
    if len(said) == 1:
        return system, text_of(said[0])
    parts = [f"## {each.role.capitalize()}\n\n{text_of(each)}" for each in said]
    return system, "\n\n".join([*parts, "(Answer the last message, as the assistant.)"])


def _write_file(folder: str, name: str, text: str) -> str:
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return path


def _parse_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _count(told: Any, name: str, place: str = "usage") -> int:
    value = at(told, place, name)
    return value if type(value) is int and value > 0 else 0
