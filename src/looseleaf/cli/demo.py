"""The command that shows all of it: a story told to a memory in a folder that stays."""

from __future__ import annotations

import os
import sys

from looseleaf.cli.output import first_path, plain, print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.cli.arguments import Options

FOLDER = "looseleaf-demo"


def demo(options: Options) -> int:
    from contextlib import nullcontext

    from looseleaf.cli.demo_folder import end, make_room
    from looseleaf.cli.demo_scenes import play
    from looseleaf.cli.demo_stage import Stage, plain_output
    from looseleaf.cli.main import main

    home = first_path(options.path, options.memory) or FOLDER
    make_room(home)
    with plain_output() if options.plain else nullcontext(sys.stdout) as out:
        stage = Stage(main, None if options.json else out)
        with at_home(home):
            play(stage, home, [plain(line) for line in for_a_shell(home)])
        end(home)
        steps = next_steps(home)
        stage.scene("Yours")
        stage.tell(f"The folder stays: {plain(os.path.abspath(home))}")
        stage.aside("Look into it with anything; then, for example:")
        for step in steps:
            stage.show(f"  {plain(step)}")
    if options.json:
        shown = [{"command": each.command, "code": each.code, "output": each.output} for each in stage.shown]
        print_json({"memory": os.path.abspath(home), "commands": shown, "next": steps})
    return 0


class at_home:
    """For a while, the memory of the demo is the one that commands mean; no other is ever touched."""

    def __init__(self, home: str) -> None:
        self._home = home

    def __enter__(self) -> None:
        self._before = os.environ.get("LOOSELEAF_HOME")
        os.environ["LOOSELEAF_HOME"] = self._home

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            del os.environ["LOOSELEAF_HOME"]
        else:
            os.environ["LOOSELEAF_HOME"] = self._before


def for_a_shell(home: str) -> list[str]:
    """What makes the commands of the demo work as they are shown."""
    from shlex import quote

    lines = [f"export LOOSELEAF_HOME={quote(os.path.abspath(home))}"]
    program = _program()
    return (
        lines
        if program == "looseleaf"
        else [*lines, f"alias looseleaf={quote(os.path.abspath(sys.argv[0]))}"]
    )


def next_steps(home: str) -> list[str]:
    from shlex import quote

    program = f"{_program()} --memory {quote(home)}"
    return [
        f'{program} remember "I prefer green tea."',
        f'{program} recall "what did we learn about dates?"',
        f"{program} review",
    ]


def _program() -> str:
    """What has to be typed for this very program."""
    import shutil
    from shlex import quote

    started = sys.argv[0]
    if os.path.basename(started) != "looseleaf" or shutil.which("looseleaf") == os.path.abspath(started):
        return "looseleaf"
    return quote(started)
