"""The verb `completion`: a script by which a shell completes verbs, options and names in a memory."""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.cli.output import open_memory, plain, print_json
from looseleaf.cli.verb_table import SHARED, SHORT, VERBS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.memory import Memory


# --- bash: the words on the line, and the offers for one --------------------------------

SCRIPT = r"""# Completion of looseleaf for bash. Put it where bash reads it:
#   looseleaf completion bash > ~/.local/share/bash-completion/completions/looseleaf
_looseleaf_bare() {
    # A word without quotes and escapes, in bare; the quote that is still open, in open. Nothing is expanded.
    local text=$1 at char
    bare= open=
    for ((at = 0; at < ${#text}; at++)); do
        char=${text:at:1}
        if [[ $char == "$open" ]]; then
            open=
        elif [[ -z $open && $char == [\"\'] ]]; then
            open=$char
        elif [[ $char == \\ && (-z $open || ($open == \" && ${text:at+1:1} == [\"\\\$\`])) ]]; then
            ((at++))
            bare+=${text:at:1}
        else
            bare+=$char
        fi
    done
}

_looseleaf_list() {
    # Names are words of others: they are compared and quoted, and never expanded.
    local name quoted
    while IFS= read -r name; do
        [[ $name == "$cur"* ]] || continue
        case $open in
            \') quoted=${name//\'/\'\\\'\'} ;;
            \")
                [[ $name != *!* ]] || continue # an earlier command would be put in its place
                quoted=${name//\\/\\\\}
                quoted=${quoted//\"/\\\"}
                quoted=${quoted//\$/\\\$}
                quoted=${quoted//\`/\\\`}
                ;;
            *) printf -v quoted %%q "$name" ;;
        esac
        COMPREPLY+=("$quoted")
    done < <("$program" "${memory[@]}" completion --list "$1" 2>/dev/null)
}

_looseleaf_offer() {
    case $prev in
        --memory) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
        --agent) _looseleaf_list agents; return ;;
    esac
    if [[ -z $verb ]]; then
        mapfile -t COMPREPLY < <(compgen -W "%(verbs)s %(shared)s --help --version" -- "$cur")
        return
    fi
%(cases)s        return
    fi
    case $verb in
%(firsts)s
    esac
}

_looseleaf() {
    local program=$1 cur= prev= verb= before= word at bare open memory=() words=()
    for ((at = 1; at <= COMP_CWORD; at++)); do
        word=${COMP_WORDS[at]}
        if [[ $word == = && $prev == --* ]]; then # bash takes --memory=x for three words
            if ((at == COMP_CWORD)); then words+=(""); fi
        elif [[ $word == --*=* ]]; then
            words+=("${word%%%%=*}" "${word#*=}")
            if ((at == COMP_CWORD)); then before=${word%%%%=*}=; fi
        else
            words+=("$word")
        fi
        prev=$word
    done
    for ((at = 0; at < ${#words[@]} - 1; at++)); do
        case ${words[at]} in
            --memory)
                ((at++))
                _looseleaf_bare "${words[at]}"
                if [[ ${words[at]} == "~/"* ]]; then bare=$HOME${bare#"~"}; fi
                memory=(--memory "$bare")
                ;;
            --agent) ((at++)) ;;
            -*) ;;
            *) if [[ -z $verb ]]; then verb=${words[at]}; fi ;;
        esac
    done
    prev=
    if ((${#words[@]} > 1)); then prev=${words[${#words[@]} - 2]}; fi
    word=${words[${#words[@]} - 1]}
    _looseleaf_bare "$word"
    cur=$bare
    COMPREPLY=()
    if [[ -n $open && $word != "$open"* ]]; then return; fi # what is put in stands behind the quote
    _looseleaf_offer
    COMPREPLY=("${COMPREPLY[@]/#/"$before"}")
}
complete -F _looseleaf looseleaf"""

OFFER = {
    "words": 'mapfile -t COMPREPLY < <(compgen -W "{}" -- "$cur")',
    "list": "_looseleaf_list {}",
    "files": 'compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur")',
    "folders": 'compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur")',
    "nothing": ":",
}


# --- the verb --------------------------------------------------------------------------

_LISTED = {
    "page": "pages",
    "--topic": "topics",
    "--session": "sessions",
    "fact": "facts",
    "--fact": "facts",
    "--agent": "agents",
}
"""By argument, the names in a memory that it takes."""

_FILES = ("path", "--token-file")
_FOLDERS = ("--memory",)

_SESSIONS = 50
"""Sessions to offer: the last ones."""


def completion(options: CliOptions) -> int:
    if options.names is not None:
        return _print_names(options)
    if options.shell is None:
        raise Refused("Nothing was printed: name a shell: `looseleaf completion bash`, zsh or fish.")
    script = "\n".join({"bash": bash_script, "zsh": zsh_script, "fish": fish_script}[options.shell]())
    if options.json:
        print_json({"shell": options.shell, "script": script})
    else:
        print(script)
    return 0


def _print_names(options: CliOptions) -> int:
    with open_memory(options) as memory:
        names = [name for name in _names(memory, str(options.names)) if plain(name) == name]
        if options.json:
            print_json(names)
        else:
            print("\n".join(names))
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


# --- offers ----------------------------------------------------------------------------


def _options(verb: str) -> list[str]:
    own = [name for name in VERBS[verb][2] if name.startswith("-")]
    return [*own, *(short for short, long in SHORT.items() if long in own), *SHARED, "--help"]


def _with_values(verb: str) -> dict[str, dict[str, Any]]:
    """Return the options that take a value."""
    return {name: known for name, known in (VERBS[verb][2] | SHARED).items() if _is_valued(name, known)}


def _is_valued(name: str, known: dict[str, Any]) -> bool:
    return name.startswith("-") and "action" not in known


def _first_argument(verb: str) -> tuple[str, dict[str, Any]] | None:
    """Return the first argument of a verb."""
    return next(((name, known) for name, known in VERBS[verb][2].items() if not name.startswith("-")), None)


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
    yield from ((name, _offer_of(verb, name, known)) for name, known in _with_values(verb).items())
    first = _first_argument(verb)
    if first is not None:
        yield "", _offer_of(verb, *first)


# --- bash ------------------------------------------------------------------------------

_CASES = """    case "$verb $prev" in
%(values)s
    esac
    if [[ $cur == -* ]]; then
        case $verb in
%(options)s
        esac
"""
"""Shared by bash and zsh: the values of an option, then the options of a verb."""


def bash_script() -> Iterator[str]:
    values, options, firsts = [], [], []
    for verb in VERBS:
        for name, (kind, what) in _offers(verb):
            offer = OFFER[kind].format(what)
            if name and name not in SHARED:
                values.append(f'        "{verb} {name}") {offer}; return ;;')
            elif not name and kind != "nothing":
                firsts.append(f"        {verb}) {offer} ;;")
        words = " ".join(_options(verb))
        options.append(f'            {verb}) mapfile -t COMPREPLY < <(compgen -W "{words}" -- "$cur") ;;')
    yield SCRIPT % {
        "verbs": " ".join(VERBS),
        "shared": " ".join(SHARED),
        "cases": _CASES % {"values": "\n".join(values), "options": "\n".join(options)},
        "firsts": "\n".join(firsts),
    }


# --- zsh -------------------------------------------------------------------------------

_ZSH = """#compdef looseleaf
# Completion of looseleaf for zsh. Put it into a folder of $fpath, as _looseleaf:
#   looseleaf completion zsh > ~/.zfunc/_looseleaf
_looseleaf_list() {
    local -a names
    names=("${(@f)$("$program" "${memory[@]}" completion --list "$1" 2>/dev/null)}")
    compadd -a names
}

_looseleaf() {
    local program=${words[1]} prev=${words[CURRENT-1]} cur=${words[CURRENT]} verb= at
    local -a memory verbs options
    for ((at = 2; at < CURRENT; at++)); do
        case ${words[at]} in
            (--memory) memory=(--memory "${(Q)words[at+1]}"); ((at++)) ;;
            (--memory=*) memory=(--memory "${(Q)words[at]#*=}") ;;
            (--agent) ((at++)) ;;
            (-*) ;;
            (*) [[ -z $verb ]] && verb=${words[at]} ;;
        esac
    done
    if [[ $cur == --*=* ]]; then
        prev=${cur%%%%=*} cur=${cur#*=}
        compset -P '*='
    fi
    case $prev in
        (--memory) _files -/; return ;;
        (--agent) _looseleaf_list agents; return ;;
    esac
    if [[ -z $verb ]]; then
        verbs=(
%(verbs)s
        )
        options=(%(shared)s --help --version)
        if [[ $cur == -* ]]; then compadd -a options; else _describe -t verbs verb verbs; fi
        return
    fi
%(cases)s        _describe -o option options
        return
    fi
    case $verb in
%(firsts)s
    esac
}
if [[ $funcstack[1] == _looseleaf ]]; then _looseleaf "$@"; else compdef _looseleaf looseleaf; fi"""

_ZSH_OFFER = {
    "words": "compadd -- {}",
    "list": "_looseleaf_list {}",
    "files": "_files",
    "folders": "_files -/",
    "nothing": ":",
}


def zsh_script() -> Iterator[str]:
    values, options, firsts = [], [], []
    for verb in VERBS:
        for name, (kind, what) in _offers(verb):
            offer = _ZSH_OFFER[kind].format(what)
            if name and name not in SHARED:
                values.append(f'        ("{verb} {name}") {offer}; return ;;')
            elif not name and kind != "nothing":
                firsts.append(f"        ({verb}) {offer} ;;")
        own = " ".join(f"'{name}{_zsh_help(verb, name)}'" for name in _options(verb))
        options.append(f"            ({verb}) options=({own}) ;;")
    described = (
        f"            '{verb}:{_safe_help(row[1]).replace(':', ';')}'" for verb, row in VERBS.items()
    )
    yield _ZSH % {
        "verbs": "\n".join(described),
        "shared": " ".join(SHARED),
        "cases": _CASES % {"values": "\n".join(values), "options": "\n".join(options)},
        "firsts": "\n".join(firsts),
    }


def _zsh_help(verb: str, name: str) -> str:
    help = (VERBS[verb][2] | SHARED).get(SHORT.get(name, name), {}).get("help", "say what it takes")
    return f":{_safe_help(help).replace(':', ';')}"


# --- fish ------------------------------------------------------------------------------

_FISH = """# Completion of looseleaf for fish. Put it where fish reads it:
#   looseleaf completion fish > ~/.config/fish/completions/looseleaf.fish
function __looseleaf_verb
    set -l words (commandline -opc)
    set -l is_value 1
    for word in $words[2..-1]
        if test $is_value -eq 0
            set is_value 1
            continue
        end
        switch $word
            case --memory --agent
                set is_value 0
            case '-*'
            case '*'
                echo $word
                return 0
        end
    end
    return 1
end

function __looseleaf_list
    set -l words (commandline -opc)
    set -l memory (string match -- '--memory=*' $words)[-1]
    if set -l at (contains -i -- --memory $words)
        set memory --memory $words[(math $at + 1)]
    end
    command $words[1] $memory completion --list $argv[1] 2>/dev/null
end

complete -c looseleaf -f
complete -c looseleaf -l memory -r -a '(__fish_complete_directories)' -d '%(memory)s'
complete -c looseleaf -l agent -x -a '(__looseleaf_list agents)' -d '%(agent)s'
complete -c looseleaf -l json -d '%(json)s'
complete -c looseleaf -l help -d 'say what it takes'
complete -c looseleaf -n 'not __looseleaf_verb >/dev/null' -l version -d 'the version'"""

_FISH_OFFER = {
    "words": "-x -a '{}'",
    "list": "-x -a '(__looseleaf_list {})'",
    "files": "-r -F",
    "folders": "-x -a '(__fish_complete_directories)'",
    "nothing": "-x",
}


def fish_script() -> Iterator[str]:
    yield _FISH % {name.lstrip("-"): _safe_help(known["help"]) for name, known in SHARED.items()}
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
