"""The tool of the working state: goal, now, tasks, decisions, as one change.

The state is in every prompt, so only what the user said in this session goes into it. Decisions and tasks that are the
model's own wait in review; a goal of its own is refused. That a task is done, a model may say.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.page_paths import STATE
from looseleaf.facts.placement import PROJECT
from looseleaf.log.heads import AGENT
from looseleaf.tools.answers import WRITTEN, object_of, written
from looseleaf.tools.tool import Answer, Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from looseleaf.memory import Memory

_TEXT = {"type": "string"}
_LINE = {"type": "string", "minLength": 1}


def revise(memory: Memory, arguments: Mapping[str, Any]) -> Answer:
    patch: Mapping[str, Any] = arguments["patch"]
    if not patch:
        raise Refused(
            f"{STATE} was not changed: the patch is empty. Give goal, now, tasks_open, tasks_done or decisions_recent."
        )
    spoken = memory.spoken()
    for name in ("goal", "now"):
        text = str(patch.get(name) or "")
        if name in patch and not text and spoken.is_doubtful and getattr(memory.state, name):
            raise Refused(
                f"{STATE} was not changed: its {name} is the user's, and others may have had a say in this. "
                "Ask the user, or give a new one in the user's own words."
            )
        if text and not spoken.has(text):
            raise Refused(
                f"{STATE} was not changed: every prompt shows it, so its {name} is what the user said, and “{text}” is "
                f"not. Use the user's own words, or write it on facts/{PROJECT}.md with memory_append."
            )
    tasks = [_title(each) for each in patch.get("tasks_open", ())]
    decided = [(_title(each), _why(each)) for each in patch.get("decisions_recent", ())]
    held = [("Task", title) for title in tasks if not spoken.has(title)]
    held += [("Decision", title) for title, why in decided if not spoken.has(f"{title} {why}".strip())]
    waiting = {title for _, title in held}
    receipt = memory.state.revise(
        goal=patch.get("goal"),
        now=patch.get("now"),
        tasks=[title for title in tasks if title not in waiting],
        done=[str(each) for each in patch.get("tasks_done", ())],
        decided=[(title, why) for title, why in decided if title not in waiting],
        author=f"{AGENT}{memory.agent}",
    )
    if held:
        asked, sentences = memory.hold(f"facts/{PROJECT}.md", held)
        receipt = receipt.but(id=receipt.id or asked, held=(*receipt.held, *sentences))
    return written(receipt)


def _title(given: Any) -> str:
    return str(given["title"] if isinstance(given, dict) else given)


def _why(given: Any) -> str:
    return str(given.get("why") or "") if isinstance(given, dict) else ""


_TASK = {"anyOf": [_LINE, object_of("title", title=_LINE)]}
_DECISION = {"anyOf": [_LINE, object_of("title", title=_LINE, why=_TEXT)]}

STATE_TOOL = Tool(
    "memory_state",
    "Change the working state",
    "Change the working state that every prompt shows: goal, now (what is being done), tasks and decisions, as the "
    "user said them. One change, whole or not at all. A goal that the user did not say is refused; tasks and decisions "
    "wait for a yes.",
    object_of(
        "patch",
        patch={"description": "what changes"}
        | object_of(
            goal={"type": "string", "description": "what the work is for; empty: none"},
            now={"type": "string", "description": "what is being done; empty: nothing"},
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
    revise,
    destroys=True,
    repeats=True,
)
