"""looseleaf beside other memories, the same work for all of them in one run.

    python benchmarks/peers/run.py                prints the table
    python benchmarks/peers/run.py --save         keeps the figures in benchmarks/results.json as well
    python benchmarks/peers/run.py --envs FOLDER  where their environments are, or are made (.bench-peers)
    python benchmarks/peers/run.py --only NAME    that one and looseleaf; may be given again
    python benchmarks/peers/run.py --quick        a few texts: whether it runs, not what it costs

Each peer is installed in an environment of its own and run there by a small adapter (`wire.py` says how they talk), in
the local mode that its documentation recommends. Peers that need vectors are given them, so that no embedder is in the
times of theirs. A peer that cannot be installed or fails is told with its reason, and the others go on.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent.parent
if __name__ == "__main__":
    sys.path[0] = str(HERE)  # not the folder of this file: adapters have the names of what they import

from benchmarks.peers.catalog import ENTRIES, LEFT_OUT, Entry  # noqa: E402
from benchmarks.peers.environments import NotThere, environment  # noqa: E402
from benchmarks.peers.measure import QUICK, Side, Work, measured, say  # noqa: E402
from benchmarks.peers.shown import summed, tables  # noqa: E402
from benchmarks.report import keep, options  # noqa: E402
from benchmarks.window import folder  # noqa: E402


def installed(entries: tuple[Entry, ...], envs: Path) -> tuple[list[Side], dict[str, str]]:
    """Those that can be run, and why the others cannot."""
    sides, missing = [], {}
    for entry in entries:
        began = time.monotonic()
        try:
            made = environment(entry, envs)
        except NotThere as error:
            missing[entry.shown] = str(error)
            say(f"{entry.name} is skipped: {error}")
        else:
            sides.append(Side(entry, made))
            say(f"{entry.name} {made.version}, {made.bytes / 1e6:.1f} MB, {time.monotonic() - began:.0f} s")
    return sides, missing


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--envs", type=Path, default=HERE / ".bench-peers")
    parser.add_argument("--only", action="append", choices=[entry.name for entry in ENTRIES])
    parser.add_argument("--talks", type=int, default=Work.talks, help="conversations of LoCoMo")
    asked = parser.parse_args(arguments)
    chosen = tuple(entry for entry in ENTRIES if not asked.only or entry.name in (*asked.only, "looseleaf"))
    sides, missing = installed(chosen, asked.envs)
    work = QUICK if asked.quick else Work(talks=asked.talks)
    with folder() as path:
        told = measured(sides, path, work)
    result = {"work": told, "peers": [summed(side, sides) for side in sides], "left_out": missing | LEFT_OUT}
    print(*tables(result), sep="\n\n")
    if asked.save:
        keep("peers", result)
    return result


if __name__ == "__main__":
    main()
