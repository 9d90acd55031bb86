"""Recall, and prompts. A question is never part of an address: logs keep addresses."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

from looseleaf.serve.problems import NotAllowed
from looseleaf.serve.rest import values
from looseleaf.serve.rest.routes import Answer, Name, Read, Write, route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Record
    from looseleaf.memory import Memory
    from looseleaf.prompt.manifest import Prompt

PromptName = Annotated[
    str, Path(min_length=1, max_length=40, description="The id of a prompt, the end of its id, or `last`.")
]


@route("POST", "/memories/{memory}/recall", "read", values.Recalled, writes=False)
async def recall(memory: Name, asking: Read, body: values.Recall) -> Answer:
    """Find what bears on a question, best first; or nothing, and why. An agent finds its own talk, and no other's."""

    def read(memory: Memory) -> dict[str, Any]:
        return memory.recall(**body.model_dump(exclude_none=True)).to_dict()

    return Answer(await asking.read(read))


@route(
    "POST",
    "/memories/{memory}/prompts",
    "read",
    values.Prompt,
    writes=False,
    responses={201: {"description": "It was made, and is in the log.", "model": values.Prompt}},
    problems=(502,),
)
async def make_prompt(
    memory: Name,
    asking: Write,
    body: values.MakePrompt,
    dry_run: Annotated[
        bool, Query(description="Only look: nothing is logged, nothing is compacted.")
    ] = False,
) -> Answer:
    """Make the prompt for a task, within a budget, with the reason for each of its parts. Unless it is a dry run, the
    token must be one that may write."""
    request, budget = body.task, body.budget
    if dry_run:
        made = await asking.read(
            lambda memory: memory.prompt(request, budget=budget, model=body.model, dry_run=True)
        )
        return Answer(_prompt(made))
    if not asking.token.may("write"):
        raise NotAllowed("Nothing was done: this needs a token that may write, or `dry_run=true`.")
    asking.request.state.wrote = True

    def again(memory: Memory, found: list[Record]) -> Prompt | None:
        logged = [each for each in found if each.get("kind") == "prompt"]
        return memory.explain.replay(str(logged[-1]["id"])) if logged else None

    made = await asking.write(lambda memory: memory.prompt(request, budget=budget, model=body.model), again)
    name = made.manifest.id
    asking.made(name)
    return Answer(_prompt(made), 201, {"location": f"/v1/memories/{memory}/prompts/{name}"})


def _prompt(prompt: Prompt) -> dict[str, Any]:
    messages = [message.to_dict() for message in prompt.messages]
    return {"messages": messages, "manifest": prompt.manifest.to_dict()}


@route("GET", "/memories/{memory}/snapshot", "read", values.Snapshot)
async def get_snapshot(memory: Name, asking: Read) -> Answer:
    """Get what a session should begin with: charter, profile, state, essentials, and an index of the pages."""
    return Answer({"text": await asking.read(lambda memory: memory.views.snapshot(quick=True).text)})


@route("GET", "/memories/{memory}/prompts/{prompt}", "read", values.Prompt)
async def get_prompt(memory: Name, prompt: PromptName, asking: Read) -> Answer:
    """Get a prompt from the log again, byte for byte."""
    return Answer(_prompt(await asking.read(lambda memory: memory.explain.replay(prompt))))


@route("GET", "/memories/{memory}/prompts/{prompt}/diff", "read", values.Compared)
async def compare_prompts(
    memory: Name,
    prompt: PromptName,
    asking: Read,
    older: Annotated[
        str, Query(alias="with", min_length=1, max_length=40, description="The id of an earlier prompt.")
    ],
) -> Answer:
    """Compare a prompt with an earlier one: what they share, and what came, went and changed."""
    return Answer(await asking.read(lambda memory: memory.explain.compare(older, prompt).to_dict()))
