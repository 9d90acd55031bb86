"""The verb `completion`: a script by which a shell completes verbs, options and names in a memory."""

from __future__ import annotations

from looseleaf.base.errors import Invalid
from looseleaf.cli.output import open_memory, plain, print_answer
from looseleaf.cli.verb_table import SHARED, SHORT, VERBS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.memory import Memory


OFFER = {
    "words": 'mapfile -t COMPREPLY < <(compgen -W "{}" -- "$cur")',
    "list": "_looseleaf_list {}",
    "files": 'compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur")',
    "folders": 'compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur")',
    "nothing": ":",
}


_LISTED = {
    "page": "pages",
    "--topic": "topics",
    "--session": "sessions",
    "fact": "facts",
    "--fact": "facts",
    "--agent": "agents",
}
"""By argument, the names in a memory that it takes."""

_FILES = ("path", "--token-file", "--tls-cert", "--tls-key")
_FOLDERS = ("--memory", "--root")

_SESSIONS = 50
"""Sessions to offer: the last ones."""


def completion(options: CliOptions) -> int:
    if options.names is not None:
        return _print_names(options)
    if options.shell is None:
        raise Invalid("Nothing was printed: name a shell: `looseleaf completion bash`, zsh or fish.")
    script = "\n".join({"bash": bash_script, "zsh": zsh_script, "fish": fish_script}[options.shell]())
    print_answer(options, {"shell": options.shell, "script": script}, script)
    return 0


def _print_names(options: CliOptions) -> int:
    with open_memory(options) as memory:
        names = [name for name in _names(memory, str(options.names)) if plain(name) == name]
        print_answer(options, names, "\n".join(names))
    return 0


def _names(memory: Memory, what: str) -> list[str]:
    match what:
        case "pages":
            return memory.pages.list()
        case "topics":
            return memory.views.topics()
        case "sessions":
            return [each.session_id for each in memory.talk.sessions(_SESSIONS)]
        case "agents":
            return sorted({*memory.talk.agents(), memory.agent})
        case _:
            return [fact.id or "" for fact in (*memory.facts(), *memory.facts(status="pending"))]


def _options(verb: str) -> list[str]:
    own = [name for name in VERBS[verb][2] if name.startswith("-")]
    return [*own, *(short for short, long in SHORT.items() if long in own), *SHARED, "--help"]


def _offer_of(verb: str, name: str, known: dict[str, Any]) -> tuple[str, str]:
    """Return what to offer: (words, …), (list, what), (files, ""), (folders, "") or (nothing, "")."""
    if known.get("choices"):
        return "words", " ".join(known["choices"])
    if verb == "tool" and name == "name":
        from looseleaf.base.origins import NAMES

        return "words", " ".join(NAMES)
    if verb == "import" and name == "--as":
        from looseleaf.transfer.formats import FORMATS

        return "words", " ".join(FORMATS)
    if verb == "topic" and name == "name":
        return "list", "topics"
    if verb == "forget" and name == "what":
        return "list", "facts"
    if name in _LISTED:
        return "list", _LISTED[name]
    if name in _FOLDERS or (verb == "init" and name == "path"):
        return "folders", ""
    return ("files", "") if name in _FILES else ("nothing", "")


def _safe_help(text: str) -> str:
    """Return help on one line, without characters that a shell interprets."""
    return " ".join(text.split()).replace("'", "’").replace("`", "").replace("\\", "").replace("$", "")


def _offers(verb: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield what to offer for each option with a value, and for the first argument ("")."""
    own = VERBS[verb][2]
    for name, known in (own | SHARED).items():
        if name.startswith("-") and "action" not in known:
            yield name, _offer_of(verb, name, known)
    for name in [each for each in own if not each.startswith("-")][:1]:
        yield "", _offer_of(verb, name, own[name])


# --- the scripts: data/completion has their fixed parts ---------------------------------


def _fixed_part(shell: str) -> str:
    from pathlib import Path

    path = Path(__file__).parents[2] / "data/completion" / f"{shell}.txt"
    return path.read_text("utf-8").removesuffix("\n")


_CASES = """    case "$verb $prev" in
%(values)s
    esac
    if [[ $cur == -* ]]; then
        case $verb in
%(options)s
        esac
"""
"""Shared by bash and zsh: the values of an option, then the options of a verb."""


def _shell_parts(offers: dict[str, str], options_of: Callable[[str], str], mark: str) -> dict[str, str]:
    """Return the parts of a script for bash or zsh that come from the table of verbs. `mark` begins a case."""
    values, options, firsts = [], [], []
    for verb in VERBS:
        for name, (kind, what) in _offers(verb):
            offer = offers[kind].format(what)
            if name and name not in SHARED:
                values.append(f'        {mark}"{verb} {name}") {offer}; return ;;')
            elif not name and kind != "nothing":
                firsts.append(f"        {mark}{verb}) {offer} ;;")
        options.append(f"            {mark}{verb}) {options_of(verb)} ;;")
    cases = _CASES % {"values": "\n".join(values), "options": "\n".join(options)}
    return {"shared": " ".join(SHARED), "cases": cases, "firsts": "\n".join(firsts)}


def bash_script() -> Iterator[str]:
    parts = _shell_parts(OFFER, lambda verb: OFFER["words"].format(" ".join(_options(verb))), "")
    yield _fixed_part("bash") % (parts | {"verbs": " ".join(VERBS)})


_ZSH_OFFER = {
    "words": "compadd -- {}",
    "list": "_looseleaf_list {}",
    "files": "_files",
    "folders": "_files -/",
    "nothing": ":",
}


def zsh_script() -> Iterator[str]:
    described = (f"            {_with_help(verb, row[1])}" for verb, row in VERBS.items())
    parts = _shell_parts(_ZSH_OFFER, _zsh_options, "(")
    yield _fixed_part("zsh") % (parts | {"verbs": "\n".join(described)})


def _zsh_options(verb: str) -> str:
    known = VERBS[verb][2] | SHARED
    helps = ((name, known.get(SHORT.get(name, name), {}).get("help")) for name in _options(verb))
    return f"options=({' '.join(_with_help(name, help or 'say what it takes') for name, help in helps)})"


def _with_help(name: str, help: str) -> str:
    return f"'{name}:{_safe_help(help).replace(':', ';')}'"


_FISH_OFFER = {
    "words": "-x -a '{}'",
    "list": "-x -a '(__looseleaf_list {})'",
    "files": "-r -F",
    "folders": "-x -a '(__fish_complete_directories)'",
    "nothing": "-x",
}


def fish_script() -> Iterator[str]:
    yield _fixed_part("fish") % {
        name.lstrip("-"): _safe_help(known["help"]) for name, known in SHARED.items()
    }
    for verb, (_, about, own, _) in VERBS.items():
        yield f"complete -c looseleaf -n 'not __looseleaf_verb >/dev/null' -a {verb} -d '{_safe_help(about)}'"
        here = f"complete -c looseleaf -n 'string match -q -- {verb} (__looseleaf_verb)'"
        for name, (kind, what) in _offers(verb):
            offer = _FISH_OFFER[kind].format(what)
            if name and name not in SHARED:
                yield f"{here}{_fish_option(name)} {offer} -d '{_safe_help(own[name]['help'])}'"
            elif not name and kind != "nothing":
                yield f"{here} {offer.removeprefix('-x ').removeprefix('-r ')}"
        for name, known in own.items():
            if name.startswith("-") and "action" in known:
                yield f"{here}{_fish_option(name)} -d '{_safe_help(known['help'])}'"


def _fish_option(name: str) -> str:
    short = next((short for short, long in SHORT.items() if long == name), None)
    return f" -l {name.lstrip('-')}" + (f" -s {short.lstrip('-')}" if short else "")
