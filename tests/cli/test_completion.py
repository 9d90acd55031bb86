"""Completion: real shells are asked what they would offer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pexpect
import pytest

from cli.test_main import SCRIPT
from looseleaf.cli.verb_table import SHARED, VERBS
from looseleaf.cli.verbs.completion import bash_script, fish_script, zsh_script
from looseleaf.memory import Memory
from looseleaf.transfer.formats import FORMATS

if TYPE_CHECKING:
    from conftest import Run

EVIL = "facts/$(touch pwned) `touch pwned`;x.md"

ASK = r"""
ask() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
    _looseleaf looseleaf "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s\n' "${COMPREPLY[@]}" "--end--"
}
"""


@pytest.fixture
def named(folder: Path) -> Path:
    """A memory with pages, topics, facts and sessions; one page's name is a command."""
    with Memory(folder, session="sitting") as memory:
        memory.pages.edit("USER.md", "- Name: Ada\n", author="person", reason="met her")
        memory.pages.edit("facts/tea.md", "- Likes: tea\n", author="person", reason="she said so")
        memory.record(user="Hello.")
    return folder


def offered(
    named: Path, *asked: list[str], program: str = "looseleaf", path: str | None = None
) -> list[list[str]]:
    """What bash offers for each list of words, of which the last is being typed."""
    script = "\n".join(bash_script()) + ASK
    script += "".join(f"ask {' '.join(map(quoted, words))}\n" for words in asked)
    done = subprocess.run(
        ["bash", "--norc", "--noprofile", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=named.parent,
        env={
            "PATH": path if path is not None else f"{SCRIPT.parent}:{os.environ['PATH']}",
            "LOOSELEAF_HOME": str(named),
            "HOME": str(named.parent),
        },
    )
    assert done.stderr == ""
    answers = done.stdout.split("--end--\n")[:-1]
    return [[line for line in each.split("\n") if line] for each in answers]


def quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def test_bash_offers_verbs_options_and_values_without_starting_the_program(named: Path) -> None:
    nowhere = "/usr/bin:/bin"  # no looseleaf is found there
    verbs, options, choices, first, all_of_them, before, formats, joined = offered(
        named,
        ["looseleaf", "rec"],
        ["looseleaf", "show", "--"],
        ["looseleaf", "export", "--as", ""],
        ["looseleaf", "hook", "pre"],
        ["looseleaf", ""],
        ["looseleaf", "--memory", "x", "--agent", "y", "tid"],
        ["looseleaf", "import", "x", "--as", ""],
        ["looseleaf", "export", "--as=fol"],  # as one word, where bash was told so
        path=nowhere,
    )
    assert verbs == ["record", "recall", "receipts"]
    assert options == ["--as-of", "--who", *SHARED, "--help"]
    assert choices == ["tar", "folder", "facts", "messages"]
    assert first == ["pre-tool", "pre-compact"]
    assert all_of_them == [*VERBS, *SHARED, "--help", "--version"]
    assert before == ["tidy"]
    assert formats == [*FORMATS]
    assert joined == ["--as=folder"]


def test_bash_offers_the_names_that_are_in_the_memory(named: Path) -> None:
    other = named.parent / "other"
    with Memory(other) as memory:
        memory.pages.edit("facts/garden.md", "- Soil: clay\n", author="person", reason="seen")
    pages, topics, sessions, elsewhere, folders, tools = offered(
        named,
        ["looseleaf", "show", "facts/"],
        ["looseleaf", "recall", "x", "--topic", ""],
        ["looseleaf", "turns", "--session", "si"],
        ["looseleaf", "--memory", str(other), "show", ""],
        ["looseleaf", "--memory", "ot"],
        ["looseleaf", "tool", "memory_re"],
    )
    assert pages == ["facts/tea.md"]
    assert topics == ["tea", "user"]
    assert sessions == ["sitting"]
    assert elsewhere == ["facts/garden.md"]
    assert folders == ["other"]
    assert tools == ["memory_read"]


def test_a_name_that_is_a_command_is_quoted_and_never_run(named: Path, tmp_path: Path) -> None:
    """What a memory names may be anybody's words: here the program says so itself, whatever it would let pass."""
    fake = tmp_path / "looseleaf"
    fake.write_text(f"#!/bin/sh\ncat <<'END'\n{EVIL}\nplain.md\nEND\n")
    fake.chmod(0o700)
    path = f"{tmp_path}:{os.environ['PATH']}"
    (names,) = offered(named, ["looseleaf", "show", ""], path=path)
    assert names[1] == "plain.md"
    asked = subprocess.run(
        ["bash", "-c", f"printf %s {names[0]}"], capture_output=True, text=True, check=True
    )
    assert asked.stdout == EVIL
    assert not list(named.parent.rglob("pwned"))
    assert not list(Path.cwd().glob("pwned"))


@pytest.fixture
def spaced(named: Path) -> Path:
    """Another memory whose path has a space in it, and names that need quotes."""
    other = named.parent / "my mem"
    with Memory(other) as memory:
        for name in ("garden bed", "c$d'e`f", "w!x"):
            memory.pages.edit(f"facts/{name}.md", "- Soil: clay\n", author="person", reason="seen")
    return other


def typed(shell: pexpect.spawn[str], *lines: tuple[str, str]) -> None:
    """At a terminal: what was typed, with a tab, becomes this."""
    for before, whole in lines:
        shell.send(f"{before}\t")
        shell.expect_exact(whole)
        shell.send("\x15")  # the line is dropped


def at_terminal(program: str, *given: str, where: Path, home: Path) -> pexpect.spawn[str]:
    return pexpect.spawn(
        program,
        [*given, "-i"],
        env={
            "PATH": f"{SCRIPT.parent}:{os.environ['PATH']}",
            "LOOSELEAF_HOME": str(home),
            "HOME": str(where),
            "TERM": "dumb",
            "INPUTRC": os.devnull,
            "PS1": "",
        },
        cwd=str(where),
        encoding="utf-8",
        timeout=60,
        use_poll=True,
        dimensions=(50, 200),
    )


def test_bash_completes_what_is_quoted_escaped_or_behind_a_sign(named: Path, spaced: Path) -> None:
    """A real one, at a terminal: it says itself which words it sees, and what it makes of a name."""
    (spaced.parent / "c.bash").write_text("\n".join(bash_script()))
    shell = at_terminal("bash", "--norc", "--noprofile", where=spaced.parent, home=spaced)
    shell.sendline("bind 'set enable-bracketed-paste off'; PS1=; source c.bash; echo rea''dy")
    shell.expect("ready\r\n")
    typed(
        shell,
        ('looseleaf show "facts/g', 'show "facts/garden bed.md" '),
        ("looseleaf show 'facts/c", "show 'facts/c$d'\\''e`f.md' "),
        ('looseleaf show "facts/c', 'show "facts/c\\$d\'e\\`f.md" '),
        ("looseleaf show facts/garden\\ ", "show facts/garden\\ bed.md "),
        (f"looseleaf --memory={named} show facts/", f"--memory={named} show facts/tea.md "),
        ('looseleaf --memory "my mem" show facts/g', '--memory "my mem" show facts/garden\\ bed.md '),
        ("looseleaf --memory=my", "--memory=my\\ mem/"),
        ("looseleaf export --as=fol", "export --as=folder "),
    )
    shell.close(force=True)


def test_a_name_that_an_open_quote_would_change_is_not_offered(named: Path, spaced: Path) -> None:
    """Behind `"`, a `!` stands for an earlier command; and in the midst of a word, a quote hides where it begins."""
    home = ["looseleaf", "--memory", f"~/{spaced.name}".replace(" ", "\\ ")]
    exclaims, plain, midst = offered(
        named, [*home, "show", '"facts/w'], [*home, "show", "facts/w"], [*home, "show", 'fa"cts/']
    )
    assert (exclaims, plain, midst) == ([], ["facts/w\\!x.md"], [])


def test_names_are_listed_one_on_a_line_or_as_json(named: Path, run: Run) -> None:
    (named / "facts" / "e\x1b[2Jvil.md").write_text("- A: b\n")
    assert run("completion", "--list", "pages")[1] == "USER.md\nfacts/tea.md\n"
    assert json.loads(run("completion", "--list", "topics", "--json")[1]) == ["tea", "user"]
    assert run("completion", "--list", "agents")[1] == "main\n"
    assert run("completion", "--list", "sessions")[1] == "sitting\n"
    for shell in ("bash", "zsh", "fish"):
        script = run("completion", shell)[1]
        assert json.loads(run("completion", shell, "--json")[1]) == {"shell": shell, "script": script[:-1]}
    ids = run("completion", "--list", "facts")[1].split()
    assert [run("why", each)[0] for each in ids] == [0, 0]
    code, out, err = run("completion")
    assert (code, out) == (2, "")
    assert err.startswith("looseleaf: Nothing was printed: name a shell: ")


def test_every_script_names_every_verb_and_option() -> None:
    for script in ("\n".join(bash_script()), "\n".join(zsh_script()), "\n".join(fish_script())):
        for verb, (_, _, own, _) in VERBS.items():
            assert verb in script
            assert all(name.lstrip("-") in script for name in own if name.startswith("-"))


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish on this machine")
def test_fish_offers_the_same(named: Path, spaced: Path, tmp_path: Path) -> None:
    (tmp_path / "looseleaf.fish").write_text("\n".join(fish_script()))
    lines = [
        "looseleaf rec",
        "looseleaf export --as ",
        "looseleaf show facts/",
        f"looseleaf --memory {named} show --as",
        "looseleaf --memory='my mem' show facts/g",
        "looseleaf import x --as cla",
    ]
    ask = "".join(f"complete -C {quoted(line)}; echo --end--\n" for line in lines)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source {tmp_path / 'looseleaf.fish'}\n{ask}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=named.parent,
        env={
            "PATH": f"{SCRIPT.parent}:{os.environ['PATH']}",
            "LOOSELEAF_HOME": str(named),
            "HOME": str(tmp_path),
        },
    )
    answers = [
        [line.split("\t")[0] for line in each.splitlines()] for each in done.stdout.split("--end--\n")[:-1]
    ]
    assert answers == [
        ["recall", "receipts", "record"],
        ["facts", "folder", "messages", "tar"],
        ["facts/tea.md"],
        ["--as-of"],
        ["facts/garden bed.md"],
        ["claude", "claude-code"],
    ]


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh on this machine")
def test_zsh_offers_the_same(named: Path, spaced: Path, tmp_path: Path) -> None:
    """A real one, at a terminal: a tab completes what is clear."""
    (tmp_path / "_looseleaf").write_text("\n".join(zsh_script()))
    shell = at_terminal("zsh", "-f", where=tmp_path, home=named)
    shell.sendline(f"fpath=({tmp_path} $fpath); autoload -Uz compinit; compinit -u -D; PS1=; echo rea''dy")
    shell.expect("ready\r\n")
    typed(
        shell,
        ("looseleaf recei", "looseleaf receipts "),
        ("looseleaf export --as fol", "looseleaf export --as folder "),
        ("looseleaf export --as=fol", "looseleaf export --as=folder "),
        ("looseleaf show facts/", "looseleaf show facts/tea.md "),
        (f"looseleaf --memory='{spaced}' show facts/g", "show facts/garden\\ bed.md "),
        (f"looseleaf --memory '{spaced}' show facts/g", "show facts/garden\\ bed.md "),
        ("looseleaf show --wh", "looseleaf show --who "),
    )
    shell.close(force=True)
