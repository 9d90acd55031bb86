"""The command of chat: a model that has the memory, on a terminal or in a pipe.

On a terminal answers are Markdown, shown while they are written. In a pipe a line is a question, an answer goes to
standard output whole, and everything else to standard error. Nothing that a model or a tool says can steer a terminal.
"""

from __future__ import annotations

import re
import sys
from contextlib import closing

from looseleaf.agent.events import (
    Answered,
    Compacted,
    Done,
    Failed,
    Interrupted,
    Prompted,
    ToolReturned,
    UserMessage,
)
from looseleaf.base.errors import Refused
from looseleaf.base.replies import Repaired, Retrying, Said
from looseleaf.cli.output import INTERRUPTED, PROBLEMS, clipped, hung, open_memory, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Any, Protocol

    from looseleaf.agent.events import Event
    from looseleaf.agent.loop import Agent
    from looseleaf.base.replies import Model
    from looseleaf.cli.arguments import Options
    from looseleaf.memory import Memory
    from looseleaf.place.placer import Placed
else:
    Protocol = object

NO_MODEL = (
    "Nothing was asked: no model was found. Set the key of a provider in the environment (ANTHROPIC_API_KEY, "
    "OPENAI_API_KEY, GEMINI_API_KEY, …), or start Ollama, or name one: --model PROVIDER/NAME, or `provider` and "
    "`model` in looseleaf.toml."
)
_COMMAND = re.compile(r"/\s*(?:([A-Za-z]+)(?:\s+(.*))?)?", re.DOTALL)


class Face(Protocol):
    """Where a chat takes place. `is_watched`: somebody sees what happens, and can ask again."""

    is_watched: bool

    def read(self) -> str | None:
        """What is asked next; None: nothing any more."""

    def ask(self, question: str) -> str | None:
        """What somebody answers to a question of ours; None where nobody is there to be asked."""

    def hear(self, event: Event) -> None:
        """Show what happens."""

    def tell(self, text: str) -> None:
        """Show what is ours to say beside the answers."""


def chat(options: Options) -> int:
    if options.json:
        raise Refused("Nothing was asked: a chat is no one document. Leave --json out.")
    from looseleaf.models import choose

    with open_memory(options) as memory:
        model = choose(memory.policy, options.model)
        if model is None:
            raise Refused(NO_MODEL)
        is_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
        if is_terminal:
            from looseleaf.cli.chat_terminal import Terminal

            face: Face = Terminal()
        else:
            face = Pipe()
        return Chat(memory, model, face, tools=not options.no_tools).run()


class Chat:
    """One sitting. At its end what was said is distilled."""

    def __init__(self, memory: Memory, model: Model, face: Face, *, tools: bool = True) -> None:
        from looseleaf.agent.loop import Agent

        self.memory = memory
        self.face = face
        self.agent = Agent(memory, model, memory_tools=tools, reflect=False)
        self._model = model
        self._notes = 0
        self._asked = 0
        self._failed = 0
        self._code = 0
        self._is_going_on = True
        self._is_cut = False

    def run(self) -> int:
        """Until nobody asks any more; the code that the program ends with."""
        name = clipped(self._model.name)
        self.face.tell(f"{name}, with the memory {self.memory.path}. /help lists the commands; /quit ends.")
        self._get_ready()
        try:
            while self._is_going_on and (asked := self._next()) is not None:
                self._take(asked)
                self._tell_notes()
        except KeyboardInterrupt:
            self._code, self._is_cut = INTERRUPTED, True
        if self._is_cut:
            self.face.tell(f"Ended. {_LATER}")
            return self._code
        self._keep()
        return 0 if self.face.is_watched else self._code

    def _get_ready(self) -> None:
        """While somebody types, what the model needs is loaded."""
        ready = getattr(self._model, "ready", None)
        if ready is not None and self.face.is_watched:
            from threading import Thread

            Thread(target=_quietly, args=(ready,), daemon=True).start()

    def _take(self, asked: str) -> None:
        command = _COMMAND.fullmatch(asked.strip())
        name = (command[1] or "help").lower() if command is not None else ""
        if command is None:
            self._ask(asked)
        elif name == "quit":
            self._is_going_on = False
        else:
            from looseleaf.cli.chat_commands import carry_out

            carry_out(self, name, (command[2] or "").strip())

    def _next(self) -> str | None:
        while (line := self.face.read()) is not None:
            if line.strip():
                return line
        return None

    def _ask(self, text: str) -> None:
        self._asked += 1
        status = Status(self.memory, self._model)
        is_kept = False
        try:
            with Interrupting(self.agent), closing(self.agent.run(text)) as run:
                for event in run:
                    self.face.hear(event)
                    status.hear(event)
                    if isinstance(event, UserMessage):
                        is_kept = True
                    elif isinstance(event, Failed):
                        self._code = PROBLEMS
                        self._failed += 1
                        if is_kept:
                            self.face.tell(_STAYS)
                    elif isinstance(event, Interrupted):
                        self._code = INTERRUPTED
                        # Who interrupts what he does not see wants no more of it.
                        self._is_cut = not self.face.is_watched
                        self._is_going_on = not self._is_cut
        except Refused as refused:
            self._code = PROBLEMS
            self._failed += 1
            self.face.tell(str(refused))
        else:
            if status.line:
                self.face.tell(status.line)

    def _tell_notes(self, *, is_told: bool = False) -> None:
        """What is new of them; `is_told`: without why no model distilled."""
        for note in self.memory.notes[self._notes :]:
            if not (is_told and _is_fallback(note)):
                self.face.tell(note)
        self._notes = len(self.memory.notes)

    def _keep(self) -> None:
        """Distill what was said here. Whatever keeps it from that, nothing is lost: it is in the log. A model that
        never answered is not asked once more."""
        if not self._asked:
            return
        self.face.tell("Making memory of what was said …")
        is_by_rules = self._failed == self._asked
        try:
            placed = self._by_rules() if is_by_rules else self.agent.reflect()
        except KeyboardInterrupt:
            self.face.tell(f"That was cut short. {_LATER}")
            return
        except Refused as refused:
            self.face.tell(f"{refused} {_LATER}")
            return
        from looseleaf.cli.verbs.facts import words_of
        from looseleaf.cli.verbs.views import ACTS

        # Why a model could not be asked was said when it could not.
        new = self.memory.notes[self._notes :]
        is_by_rules = is_by_rules or (self._failed > 0 and any(map(_is_fallback, new)))
        if is_by_rules:
            self.face.tell("The rules made memory of it.")
        told = [outcome for each in placed for outcome in each.outcomes if outcome.act in _NEWS]
        for outcome in told:
            self.face.tell(f"{ACTS[outcome.act]}: {words_of(outcome.fact)}  ({outcome.fact.level})")
        if not told:
            self.face.tell("Nothing new.")
        self._tell_notes(is_told=is_by_rules)

    def _by_rules(self) -> list[Placed]:
        from looseleaf.distill.rules import Rules

        return self.memory.distill(distiller=Rules())


_STAYS = "Your question stays in the conversation, and is sent again with the next one."
_LATER = "Nothing is lost: `looseleaf distill` makes memory of what was said."
_NEWS = ("add", "supersede", "end", "review")
"""What became of a proposal, where a person wants to know."""


def _is_fallback(note: str) -> bool:
    return note.startswith("The rules distilled instead: ") and " raised " in note


def _quietly(ready: Callable[[], object]) -> None:
    """Whatever keeps a model from being ready is told to whoever asks it."""
    from contextlib import suppress

    from looseleaf.cli.verbs.views import STRANGERS_FAULTS

    with suppress(Refused, *STRANGERS_FAULTS):
        ready()


class Interrupting:
    """While a model answers, Ctrl-C ends the answer, and what was said is kept. Pressed again, before that has come
    about, it ends the program; so does being told to end, and what was said is kept then, too."""

    def __init__(self, agent: Agent) -> None:
        from queue import SimpleQueue

        self._agent = agent
        self._pressed: SimpleQueue[bool] = SimpleQueue()
        self._is_told = False
        self._before: list[tuple[int, Any]] = []

    def __enter__(self) -> None:
        import signal
        from threading import Thread, current_thread, main_thread

        if current_thread() is main_thread():
            Thread(target=self._wait, daemon=True).start()
            self._before = [(signal.SIGINT, signal.signal(signal.SIGINT, self._press))]
            for name in ("SIGTERM", "SIGHUP"):
                if hasattr(signal, name):
                    number = getattr(signal, name)
                    self._before.append((number, signal.signal(number, self._end)))

    def __exit__(self, *_: object) -> None:
        if self._before:
            import signal

            for number, before in self._before:
                signal.signal(number, before)
            self._pressed.put(False)

    def _end(self, number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    def _press(self, number: int, frame: FrameType | None) -> None:
        if self._is_told:
            raise KeyboardInterrupt
        self._is_told = True
        # What was interrupted may hold any lock: another thread waits for those, and here is only what needs none.
        self._pressed.put(True)

    def _wait(self) -> None:
        if self._pressed.get():
            self._agent.interrupt()


# --- what is said of an answer ---------------------------------------------------------


class Status:
    """What an answer took, in a line."""

    def __init__(self, memory: Memory, model: Model) -> None:
        self._memory = memory
        self._model = model
        self._cost: float | None = 0.0
        self._prompt = 0
        self.line = ""

    def hear(self, event: Event) -> None:
        if isinstance(event, Prompted):
            self._prompt = event.manifest.total_tokens
        elif isinstance(event, Answered):
            reply, model = event.reply, self._model
            self._prompt = reply.usage.prompt_tokens or self._prompt
            cost = self._memory.costs.cost_of(
                reply.usage, reply.model or model.name, model.dialect, asked=model.name
            )
            self._cost = None if cost is None or self._cost is None else self._cost + cost
        elif isinstance(event, Done):
            self.line = " · ".join(self._parts(event))

    def _parts(self, done: Done) -> Iterator[str]:
        usage = done.usage
        about = "about " if usage.is_estimated else ""
        read = f"{about}{usage.prompt_tokens:,} tokens read"
        if usage.prompt_tokens:
            yield f"{read} ({_percent(usage.cached_tokens / usage.prompt_tokens)} cached)"
        if usage.output_tokens:
            yield f"{usage.output_tokens:,} written"
        room = self._memory.window.budget(self._model.name).input
        yield f"{_percent(min(1.0, self._prompt / room))} of the window ({room:,})"
        if self._cost and not usage.is_estimated:
            yield f"${self._cost:,.4f}"


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %"


_VOID = " What was said so far is void."
_HASH = re.compile(r"(?<![0-9A-Za-z])([0-9a-f]{12})[0-9a-f]{28,}(?![0-9A-Za-z])")


def line_of(event: Event, *, is_said: bool = False) -> str | None:
    """What a person sees of an event that is no part of an answer, on one line; None: nothing. `is_said`: a part of
    an answer came before it."""
    match event:
        case ToolReturned(call, result, error):
            came = f"failed: {error}" if error is not None else _text(result)
            line = f"· {clipped(f'{call.name} {_text(call.arguments)}')} → {clipped(came)}"
            return _HASH.sub(r"\1…", line)
        case Retrying(why, seconds, attempt):
            cause = why.removesuffix(_VOID)
            void = _VOID if is_said or cause != why else ""
            return f"Asking again in {seconds:.0f} s (attempt {attempt}): {clipped(cause).rstrip('.')}.{void}"
        case Repaired(sentence) | Failed(sentence):
            return sentence
        case Compacted(loss):
            return f"The window was compacted.\n  {hung(loss.text, 2)}"
        case Interrupted(why):
            return f"Interrupted: {clipped(why)}. What was said is kept."
        case Done(stop=("steps" | "length" | "refused") as stop):
            return _ENDS[stop]
    return None


_ENDS = {
    "steps": "It stopped here: the model was asked as often as agent_steps allows. Ask it to go on.",
    "length": "The answer ends here: it is as long as max_tokens allows. Ask it to go on.",
    "refused": "The answer ends here: its provider held the rest back.",
}


def _text(value: Any) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# --- a pipe ----------------------------------------------------------------------------


class Pipe:
    """A question a line, an answer when it is whole: what is void after a retry never gets out."""

    is_watched = False

    def __init__(self) -> None:
        self._said: list[str] = []
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(
                errors="replace"
            )  # a line that is no UTF-8 is asked as far as it can be read

    def read(self) -> str | None:
        try:
            line = sys.stdin.readline() if sys.stdin is not None else ""
        except KeyboardInterrupt:
            return None
        return line.removesuffix("\n") if line else None

    def ask(self, question: str) -> str | None:
        return None

    def hear(self, event: Event) -> None:
        line = line_of(event, is_said=bool(self._said))
        match event:
            case Said(text):
                self._said.append(text)
            case Retrying():
                self._said.clear()
            case Answered(reply):
                self._answer(reply.text)
            case Interrupted() | Failed():
                self._answer("".join(self._said))
        if line is not None:
            self.tell(line)

    def _answer(self, text: str) -> None:
        self._said.clear()
        if text.strip():
            sys.stdout.write(f"{harmless(text.strip())}\n")
            sys.stdout.flush()

    def tell(self, text: str) -> None:
        sys.stderr.write(f"{harmless(text)}\n")
        sys.stderr.flush()


def harmless(text: str) -> str:
    """On the lines that it has, and unable to steer a terminal."""
    return plain(re.sub("\r(?=\n)", "", text), keep="\n\t")
