"""The verb `chat`: a model that has the memory, on a terminal or in a pipe. At its end the talk is distilled."""

from __future__ import annotations

import re
import sys
from contextlib import closing

from looseleaf.agent.events import AnswerEvent, Done, FailedEvent, Interrupted, Prompted, UserMessage
from looseleaf.base.errors import Invalid, Refused
from looseleaf.cli.chat_commands import Sitting, run_command
from looseleaf.cli.chat_faces import Pipe
from looseleaf.cli.output import ACTS, INTERRUPTED, PROBLEMS, clipped, open_memory, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Any

    from looseleaf.agent.events import Event
    from looseleaf.agent.loop import Agent
    from looseleaf.base.replies import Model
    from looseleaf.cli.chat_commands import RunVerb
    from looseleaf.cli.chat_faces import Face
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.memory import Memory

NO_MODEL = (
    "Nothing was asked: no model was found. Set the key of a provider in the environment (ANTHROPIC_API_KEY, "
    "OPENAI_API_KEY, GEMINI_API_KEY, …), or start Ollama, or name one: --model PROVIDER/NAME, or `provider` and "
    "`model` in looseleaf.toml."
)
_COMMAND = re.compile(r"/\s*(?:([A-Za-z]+)(?:\s+(.*))?)?", re.DOTALL)


def chat(options: CliOptions, run_verb: RunVerb) -> int:
    if options.json:
        raise Invalid("Nothing was asked: a chat is not one document. Leave out --json.")
    from looseleaf.models import choose

    with open_memory(options) as memory:
        model = choose(memory.policy, options.model)
        if model is None:
            raise Refused(NO_MODEL)
        face: Face = Pipe()
        if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
            from looseleaf.cli.chat_terminal import Terminal

            face = Terminal()
        return Chat(memory, model, face, run_verb, tools=not options.no_tools).run()


class Chat:
    """One sitting. At its end the talk is distilled."""

    def __init__(
        self, memory: Memory, model: Model, face: Face, run_verb: RunVerb, *, tools: bool = True
    ) -> None:
        from looseleaf.agent.loop import Agent

        self.memory = memory
        self.face = face
        self.agent = Agent(memory, model, memory_tools=tools, reflect=False)
        self._model = model
        self._sitting = Sitting(memory, face, model.name, run_verb)
        self._notes = 0
        self._asked = 0
        self._failed = 0
        self._code = 0
        self._is_going_on = True
        self._is_cut = False

    def run(self) -> int:
        """Answer until no more questions come; return the exit code of the program."""
        name = clipped(self._model.name)
        self.face.tell(f"{name}, with the memory {self.memory.name}. /help lists the commands; /quit ends.")
        self._preload_model()
        try:
            while self._is_going_on and (line := self.face.read()) is not None:
                if line.strip():
                    self._take_line(line)
                    self._tell_notes()
        except KeyboardInterrupt:
            self._code, self._is_cut = INTERRUPTED, True
        if self._is_cut:
            self.face.tell(f"Ended. {_LATER}")
            return self._code
        self._distill()
        return 0 if self.face.is_watched else self._code

    def _preload_model(self) -> None:
        """Load the model while the person types."""
        ready = getattr(self._model, "ready", None)
        if ready is not None and self.face.is_watched:
            from threading import Thread

            Thread(target=_load_quietly, args=(ready,), daemon=True).start()

    def _take_line(self, asked: str) -> None:
        command = _COMMAND.fullmatch(asked.strip())
        name = (command[1] or "help").lower() if command is not None else ""
        if command is None:
            self._ask(asked)
        elif name == "quit":
            self._is_going_on = False
        else:
            run_command(self._sitting, name, (command[2] or "").strip())

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
                    elif isinstance(event, FailedEvent):
                        self._code = PROBLEMS
                        self._failed += 1
                        if is_kept:
                            self.face.tell(_STAYS)
                    elif isinstance(event, Interrupted):
                        self._code = INTERRUPTED
                        # In a pipe nothing is shown meanwhile: an interrupt there ends the chat.
                        self._is_cut = not self.face.is_watched
                        self._is_going_on = not self._is_cut
        except Refused as refused:
            self._code = PROBLEMS
            self._failed += 1
            self.face.tell(str(refused))
        else:
            if status.line:
                self.face.tell(status.line)

    def _tell_notes(self, *, has_told_fallback: bool = False) -> None:
        """Show new notes; `has_told_fallback`: without the one that says why no model distilled."""
        for note in self.memory.notes[self._notes :]:
            if not (has_told_fallback and _is_fallback(note)):
                self.face.tell(note)
        self._notes = len(self.memory.notes)

    def _distill(self) -> None:
        """Distill the talk. If that fails nothing is lost: it is in the log. A model that never answered is not asked
        once more."""
        if not self._asked:
            return
        from looseleaf.distill.rules import Rules

        self.face.tell("Making memory of what was said …")
        is_by_rules = self._failed == self._asked
        try:
            placed = self.memory.distill(distiller=Rules()) if is_by_rules else self.agent.reflect()
        except KeyboardInterrupt:
            self.face.tell(f"That was cut short. {_LATER}")
            return
        except Refused as refused:
            self.face.tell(f"{refused} {_LATER}")
            return
        # A failure of the model was shown when it happened.
        new = self.memory.notes[self._notes :]
        is_by_rules = is_by_rules or (self._failed > 0 and any(map(_is_fallback, new)))
        if is_by_rules:
            self.face.tell("The rules made memory of it.")
        told = [outcome for each in placed for outcome in each.outcomes if outcome.act in _NEWS]
        for outcome in told:
            self.face.tell(f"{ACTS[outcome.act]}: {words_of(outcome.fact)}  ({outcome.fact.level})")
        if not told:
            self.face.tell("Nothing new.")
        self._tell_notes(has_told_fallback=is_by_rules)


_STAYS = "Your question stays in the conversation, and is sent again with the next one."
_LATER = "Nothing is lost: `looseleaf distill` makes memory of what was said."
_NEWS = ("add", "supersede", "end", "review")
"""Outcomes of proposals that a person wants to see."""


def _is_fallback(note: str) -> bool:
    return note.startswith("The rules distilled instead: ") and " raised " in note


def _load_quietly(ready: Callable[[], object]) -> None:
    """Preload; a failure is reported by the first question instead."""
    from contextlib import suppress

    from looseleaf.cli.verbs.views import FOREIGN_ERRORS

    with suppress(Refused, *FOREIGN_ERRORS):
        ready()


class Interrupting:
    """A guard while a model answers: Ctrl-C ends the answer, and its text so far is kept. Pressed again before that
    takes effect, it ends the program; so do SIGTERM and SIGHUP, and the text is kept then, too."""

    def __init__(self, agent: Agent) -> None:
        from queue import SimpleQueue

        self._agent = agent
        self._pressed: SimpleQueue[bool] = SimpleQueue()
        self._is_pressed = False
        self._before: list[tuple[int, Any]] = []

    def __enter__(self) -> None:
        import signal
        from threading import Thread, current_thread, main_thread

        if current_thread() is main_thread():
            Thread(target=self._wait, daemon=True).start()
            self._before = [(signal.SIGINT, signal.signal(signal.SIGINT, self._press))]
            for number in (signal.SIGTERM, signal.SIGHUP):
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
        if self._is_pressed:
            raise KeyboardInterrupt
        self._is_pressed = True
        # The interrupted code may hold any lock: another thread waits for those, and nothing here needs one.
        self._pressed.put(True)

    def _wait(self) -> None:
        if self._pressed.get():
            self._agent.interrupt()


# --- the status line -------------------------------------------------------------------


class Status:
    """The cost of an answer, in a line."""

    def __init__(self, memory: Memory, model: Model) -> None:
        self._memory = memory
        self._model = model
        self._cost: float | None = 0.0
        self._prompt = 0
        self.line = ""

    def hear(self, event: Event) -> None:
        if isinstance(event, Prompted):
            self._prompt = event.manifest.total_tokens
        elif isinstance(event, AnswerEvent):
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
        if usage.prompt_tokens:
            about = "about " if usage.is_estimated else ""
            cached = f"{100 * usage.cached_tokens / usage.prompt_tokens:.0f} % cached"
            yield f"{about}{usage.prompt_tokens:,} tokens read ({cached})"
        if usage.output_tokens:
            yield f"{usage.output_tokens:,} written"
        room = self._memory.window.budget(self._model.name).input
        yield f"{100 * min(1.0, self._prompt / room):.0f} % of the window ({room:,})"
        if self._cost and not usage.is_estimated:
            yield f"${self._cost:,.4f}"
