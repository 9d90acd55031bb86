"""The verbs that write settings of coding agents: `setup` for all on this machine, `hook install` for one."""

from __future__ import annotations

import os
import sys

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import is_address
from looseleaf.cli.output import (
    PROBLEMS,
    ask,
    find_memory,
    in_database_sentence,
    next_step,
    print_json,
    say,
)
from looseleaf.integrations.target import SERVER, TOKEN, target_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.integrations.agent_settings import CodingAgent
    from looseleaf.integrations.settings_files import Change, Plan
    from looseleaf.integrations.target import Target


# --- setup -------------------------------------------------------------------------------


@frozen
class _Wish:
    """What `setup` would do: the changes, the memory to be made, and what was refused, by agent."""

    agents: list[CodingAgent]
    changes: list[Change]
    memory: str | None
    refused: list[str]


def setup(options: CliOptions) -> int:
    """Connect the agents on this machine to a memory, or disconnect them."""
    if not options.remove:
        _refuse_server(options)
        own_command(options)  # refuses a memory in a database
    wish = _plan(options)
    is_done = not wish.changes and wish.memory is None
    if not options.json:
        _print_plan(options, wish)
    if options.dry_run or is_done:
        if options.json:
            print_json(_told(options, wish, {}))
        elif not wish.agents:
            next_step(options, "name the one that you use: `looseleaf setup claude`, for example.")
        return PROBLEMS if wish.refused else 0
    if not options.yes:
        ask(
            f"Write {_count(len(wish.changes), 'file')}{f' and make {_short(wish.memory)}' if wish.memory else ''}?",
            no_terminal="The settings were not changed: there is no terminal to ask at. Give --yes to write them.",
            no="The settings were not changed. Answer `y` to write them.",
        )
    _write(options, wish)
    problems = {} if options.remove else _try(options, wish)
    if options.json:
        print_json(_told(options, wish, problems))
    else:
        _print_result(options, wish, problems)
    return PROBLEMS if wish.refused or any(problems.values()) else 0


def _refuse_server(options: CliOptions) -> None:
    """Refuse where the memory is at a server: `looseleaf mcp`, which would be written, serves one of this machine."""
    target = _server_target(options)
    if target is not None:
        raise Refused(
            f"The settings were not changed: {SERVER} names a memory at a server, and `looseleaf setup` connects one "
            "of this machine. `looseleaf hook install --user` with --claude, --codex or --gemini adds the hooks; the "
            f"MCP server to name in the agent's settings is {_mcp_address(target)} (docs/HOOKS.md). To connect a "
            f"memory of this machine, unset {SERVER}."
        )


def _server_target(options: CliOptions) -> Target | None:
    """Return the memory that LOOSELEAF_SERVER names: hooks record for it, whatever else is named."""
    if not os.environ.get(SERVER):
        return None
    if options.memory and not is_address(options.memory):
        raise Invalid(
            f"The settings were not changed: {SERVER} is set, and hooks record for the memory that it names. Leave out "
            f"--memory, or unset {SERVER}."
        )
    return target_of(options.memory)


def _mcp_address(target: Target) -> str:
    return f"{target.server}/mcp/{target.name.replace('/', ':')}"


def _plan(options: CliOptions) -> _Wish:
    from looseleaf.integrations.agent_settings import AGENTS
    from looseleaf.integrations.settings_files import Plan, found_agents

    unknown = [name for name in options.agents or () if name not in AGENTS]
    if unknown:
        raise NotFound(f"No agent is called {unknown[0]!r}. These are known: {', '.join(AGENTS)}.")
    agents = [AGENTS[name] for name in dict.fromkeys(options.agents or ())]
    agents = agents or (list(AGENTS.values()) if options.remove else found_agents())
    plan = Plan(user=not options.project, remove=options.remove)
    refused: list[str] = []
    for agent in reversed(agents) if options.remove else agents:
        for part in ("server", "hooks") if options.remove else ("hooks", "server"):
            try:
                _plan_part(plan, agent, part, own_command(options))
            except Refused as error:
                refused.append(f"{agent.title}: {error}")
    changes = [each for each in plan.changes() if each.new != each.old]
    memory = _memory_to_make(options) if changes and not options.remove else None
    return _Wish(agents, changes, memory, refused)


def _plan_part(plan: Plan, agent: CodingAgent, part: str, command: list[str]) -> None:
    from shlex import join

    if part == "server":
        plan.server(agent, [*command, "mcp"])
    elif agent.hooks is not None:
        plan.hooks(agent, join(command))


def _memory_to_make(options: CliOptions) -> str | None:
    """Return the memory that the hooks would look for and not find; of a user's settings, the one at home: they are for
    every project."""
    from looseleaf.pages.folder import find, is_memory, refuse_lost_log

    path = os.path.abspath(options.memory) if options.memory else find()
    if not (options.memory or options.project or os.environ.get("LOOSELEAF_HOME")):
        path = os.path.join(os.path.expanduser("~"), ".looseleaf")
    if is_memory(path):
        return None
    refuse_lost_log(path)
    return path


def _short(path: str) -> str:
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path.startswith(f"{home}{os.sep}") else path


_WHAT = {"hooks": "hooks", "server": "MCP server", "trust": "trust in the hooks"}


_TRUSTED = "Codex runs only hooks that you trust, so its settings will say that you trust these."


def _print_plan(options: CliOptions, wish: _Wish) -> None:
    from looseleaf.integrations.agent_settings import AGENTS
    from looseleaf.text.diff import unified

    to = "out of" if options.remove else "into"
    for agent in wish.agents:
        files = {
            _short(each.path): [_WHAT[what] for name, what in each.parts if name == agent.name]
            for each in wish.changes
        }
        parts = [f"{' and '.join(whats)} {to} {path}" for path, whats in files.items() if whats]
        if parts:
            say(f"{agent.title}: {'; '.join(parts)}")
        elif options.agents or not options.remove:
            say(f"{agent.title}: {'nothing of ours' if options.remove else 'as it should be'}")
    for each in wish.refused:
        say(each)
    if options.dry_run:
        for change in wish.changes:
            end = change.path if change.new is not None else os.devnull
            say(unified(change.old or "", change.new or "", change.path, end).rstrip("\n"))
    if not options.remove and any(what == "trust" for each in wish.changes for _, what in each.parts):
        say(_TRUSTED)
    if wish.memory is not None:
        say(
            f"There is no memory at {_short(wish.memory)} yet: it will be made, for every project without one of its "
            "own."
        )
    if not wish.agents:
        say(f"No coding agent was found. These are known: {', '.join(AGENTS)}.")
    elif not wish.changes and not wish.refused:
        say("There is nothing to do.")


def _write(options: CliOptions, wish: _Wish) -> None:
    from looseleaf.integrations.settings_files import write
    from looseleaf.pages.folder import init

    if wish.memory is not None:
        init(wish.memory)
        options.done = "the memory is made; "
    for number, change in enumerate(wish.changes):
        write(change.path, change.old, change.new)
        options.done = f"{_count(number + 1, 'file')} written; "


def _try(options: CliOptions, wish: _Wish) -> dict[str, str | None]:
    """Run what was written, in a throwaway memory; return what is wrong with each agent's part."""
    from functools import cache
    from shlex import join

    from looseleaf.integrations.settings_files import our_commands
    from looseleaf.integrations.trial import try_hooks, try_server

    command = own_command(options)
    served = try_server([*command, "mcp"])
    tried = cache(lambda *commands: try_hooks(list(commands)))
    problems: dict[str, str | None] = {}
    for agent in wish.agents:
        if any(agent.title == each.partition(":")[0] for each in wish.refused):
            continue
        problems[agent.name] = served
        if agent.hooks is not None and served is None:
            wanted = sorted({f"{join(command)} hook {event}" for event in agent.hooks.events.values()})
            has_all = set(wanted) <= set(our_commands(agent, user=not options.project))
            problems[agent.name] = tried(*wanted) if has_all else "the hooks are not in its settings"
    return problems


def _print_result(options: CliOptions, wish: _Wish, problems: dict[str, str | None]) -> None:
    say(f"{_count(len(wish.changes), 'file')} written.")
    for agent in wish.agents if problems else ():
        if agent.name in problems:
            parts = "hooks and server" if agent.hooks is not None else "server"
            problem = problems[agent.name]
            say(f"{agent.title}: {f'tried the {parts}: ok' if problem is None else problem}")
    if options.remove:
        say("The memory itself stays. Restart open sessions.")
    else:
        again = "looseleaf setup --project --remove" if options.project else "looseleaf setup --remove"
        say(f"Restart open sessions to begin. `{again}` takes all of it out again.")


def _told(options: CliOptions, wish: _Wish, problems: dict[str, str | None]) -> dict[str, Any]:
    return {
        "agents": [
            {
                "agent": agent.name,
                "files": {
                    what: each.path
                    for each in wish.changes
                    for name, what in each.parts
                    if name == agent.name
                },
                "tried": agent.name in problems,
                "problem": problems.get(agent.name),
            }
            for agent in wish.agents
        ],
        "memory": wish.memory,
        "refused": wish.refused,
        "written": bool(options.done),
    }


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


# --- hook install, hook remove -----------------------------------------------------------


@frozen
class _Settings:
    """A settings file: its text now and wanted (None: no file), and the message if both are the same.
    `is_read_once`: the agent reads it only when a session begins."""

    path: str
    old: str | None
    new: str | None
    same: str
    is_read_once: bool = False


def change_settings(options: CliOptions) -> int:
    """Show the changes, ask, and write them: the agents' settings, and the distiller in ours."""
    chosen = [name for name in ("claude", "codex", "gemini") if getattr(options, name)]
    if not chosen and not options.git and (options.distill_with is None or options.event == "remove"):
        raise Invalid(
            "The settings were not changed: say which. --claude, --codex, --gemini: of that agent in this project; "
            "with --user, your own. `looseleaf setup` does it for every agent on this machine. --git: of this "
            "repository."
        )
    wanted = _distiller_change(options) if options.distill_with is not None else None
    changed = [each for name in chosen for each in _hook_changes(options, name)]
    changed += [wanted] if wanted is not None else []
    if options.git:
        from looseleaf.cli.verbs.git import attributes_change, change_driver

        changed.append(_Settings(*attributes_change(options)))
    if wanted is not None and not options.json:
        say(_privacy_notice(options))  # before the person agrees to it
    written = [_write_change(options, each) for each in changed]
    in_git = [change_driver(options, own_program())] if options.git else []
    if options.json:
        told = [
            {"path": each.path, "event": options.event, "written": is_written and each.new is not None}
            for each, is_written in zip(changed, written, strict=True)
        ] + in_git
        print_json(told[0] if len(told) == 1 else {"settings": told})
    elif options.event == "install" and chosen and any(written):
        _print_hints(options)
    return 0


def _hook_changes(options: CliOptions, name: str) -> list[_Settings]:
    from shlex import join

    from looseleaf.integrations.agent_settings import AGENTS
    from looseleaf.integrations.settings_files import Plan, hooks_path

    plan = Plan(user=options.user, remove=options.event == "remove")
    plan.hooks(AGENTS[name], join(own_command(options)))
    if name == "codex" and options.event == "install" and len(plan.changes()) > 1 and not options.json:
        say(_TRUSTED)
    has = "has them already" if options.event == "install" else "has no hooks of looseleaf"
    return [
        _Settings(each.path, each.old, each.new, has, is_read_once=True)
        for each in plan.changes()
        if each.old != each.new or each.path == hooks_path(AGENTS[name], user=options.user)
    ]


def _distiller_change(options: CliOptions) -> _Settings:
    """Return the settings with the wanted distiller. Refused without a memory, and for an unknown name."""
    from looseleaf.base.paths import SETTINGS
    from looseleaf.base.policy import COMMAND_LINES, is_distiller
    from looseleaf.integrations.settings_files import read, refusal
    from looseleaf.integrations.toml_edit import with_key

    name = str(options.distill_with)
    if _server_target(options) is not None:
        raise Invalid(
            f"The settings were not changed: {SERVER} names a memory at a server, whose own settings name what "
            "distills there (`looseleaf settings`). Leave out --distill-with."
        )
    if options.event == "remove" or not is_distiller(name) or any(each in name for each in '"\\\n'):
        raise Invalid(
            f"The settings were not changed: --distill-with {name!r} does not name a distiller. With `hook install` "
            f"give {', '.join(COMMAND_LINES)}, a model as in `ollama/llama3.2`, `model`, or `rules`."
        )
    memory = find_memory(options)
    if memory is None:
        raise NotFound(
            "The settings were not changed: there is no memory here. Make one with `looseleaf init`."
        )
    path = os.path.join(memory, SETTINGS)
    old = read(path)
    try:
        new = with_key(old or "", "distiller", None if name == "rules" else name)
    except (ValueError, RecursionError) as error:
        line = f'Write `distiller = "{name}"` into it yourself'
        raise refusal(path, f"it cannot be changed safely ({error}). {line}") from error
    return _Settings(path, old, new if new or old is not None else None, f"says so already ({name} distills)")


def _write_change(options: CliOptions, changed: _Settings) -> bool:
    """Ask, and write a settings file; return whether it was written."""
    from looseleaf.integrations.settings_files import write
    from looseleaf.text.diff import unified

    path, old, new = changed.path, changed.old, changed.new
    if new == old:
        if not options.json:
            say(f"{path} {changed.same}; nothing was changed.")
        return False
    if not options.json:
        say(unified(old or "", new or "", path, path if new is not None else os.devnull).rstrip("\n"))
    if not options.yes:
        do = "delete" if new is None else "write"
        ask(
            f"{do.capitalize()} {path}?",
            no_terminal=f"The settings were not changed: there is no terminal to ask whether to {do} {path}. "
            f"Give --yes to {do} it.",
            no=f"The settings were not changed: {path} is as it was. Answer `y` to {do} it.",
        )
    write(path, old, new)
    options.done = "the settings are written; "
    if not options.json:
        what = "written" if new is not None else "removed: it was empty"
        then = " Restart open sessions to apply it." if changed.is_read_once else ""
        say(f"{path} is {what}.{then}")
    return True


def _privacy_notice(options: CliOptions) -> str:
    """Return who will read the talk, and what that costs."""
    from shutil import which

    from looseleaf.models.choice import COMMAND_LINES
    from looseleaf.models.providers import command_line as programs

    name = str(options.distill_with)
    if name == "rules":
        return "The rules distill: nothing leaves this machine."
    what = "your prompts, the agent's answers, and the beginnings of tool results"
    after = f"After each answer, what is new ({what}) is sent"
    off = "`looseleaf hook install --distill-with rules` stops that."
    provider, _, _ = name.partition("/")
    if provider not in COMMAND_LINES:
        to = "the model of the settings and the environment" if name == "model" else name
        return f"{after} to {to}. {off}"
    kind = getattr(programs, COMMAND_LINES[provider])
    said = (
        f"{after} to {kind.sends_to} through `{kind.program}` on this machine, with the login that {kind.title} has; "
        f"it counts as use of that subscription or key. {off}"
    )
    if which(kind.program) is None:
        said += f"\n`{kind.program}` is not on PATH yet: until it is, the rules distill. {kind.to_install}"
    return said


def _print_hints(options: CliOptions) -> None:
    from shlex import join

    target = _server_target(options)
    if target is not None:
        say(
            f"The hooks record for {target.name} at {target.server}, where {SERVER} and {TOKEN} are set: set both "
            "where the agent starts."
        )
        if not target.token:
            say(f"{TOKEN} is not set here. `looseleaf token new NAME` makes a token, on the server.")
        say(
            "The model itself reads and writes it through the server, which you add to the agent's settings as an MCP "
            f"server of the name `looseleaf`, with that token (docs/HOOKS.md):\n  {_mcp_address(target)}"
        )
        return
    try:
        has_memory = find_memory(options) is not None
    except Refused:
        has_memory = False
    if not has_memory:
        say("There is no memory here yet, so the hooks do nothing. `looseleaf init` makes one.")
    say(
        "The model itself reads and writes it through the MCP server, "
        "which `looseleaf setup` adds to the agent's settings:"
    )
    say(f"  {join([*own_command(options), 'mcp'])}")


def own_command(options: CliOptions) -> list[str]:
    """Return the command line that runs this program from any folder, with the memory if one was named."""
    made = own_program()
    if options.event == "remove" if options.run.endswith("hook") else options.remove:
        return made  # what is taken out is known by its form
    is_far = _server_target(options) is not None  # then the environment names it, when the hook runs
    memory = None if is_far else options.memory or os.environ.get("LOOSELEAF_HOME")
    if is_address(memory):
        raise Refused(f"Nothing was changed: {in_database_sentence(str(memory))}")
    made += ["--memory", os.path.abspath(memory)] if memory else []
    return made + (["--agent", options.agent] if options.agent else [])


def own_program() -> list[str]:
    """Return the command line that runs this program from any folder."""
    from shutil import which

    own = os.path.abspath(sys.argv[0])
    is_program = os.path.basename(own).startswith("looseleaf") and os.access(own, os.X_OK)
    found = own if is_program else which("looseleaf")
    return [os.path.abspath(found)] if found else [sys.executable, "-m", "looseleaf"]
