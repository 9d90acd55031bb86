"""The script for bash, to be filled with verbs and options: which words stand on the line, and what is offered for one.

Words are taken as they were typed, without quotes and escapes; a name is put in as the open quote wants it.
"""

from __future__ import annotations

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
