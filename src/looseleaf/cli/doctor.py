"""The command `doctor`: everything that may keep a memory from working, in a table. Arguments and printing only."""

from __future__ import annotations

import os

from looseleaf.cli.examine import examine
from looseleaf.cli.output import PROBLEMS, first_path, next_step, print_json
from looseleaf.cli.table import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.cli.arguments import Options


def doctor(options: Options) -> int:
    from looseleaf.cli.progress import progress
    from looseleaf.pages.folder import find
    from looseleaf.text.secrets import redact_value

    named = "--memory" if options.memory is not None else None
    named = named or ("LOOSELEAF_HOME" if os.environ.get("LOOSELEAF_HOME") else None)
    path = first_path(options.memory) or find()
    with progress("looking"):
        found = [each.to_dict() for each in examine(path, options.agent or "main", named)]
    # No value of a key is looked at above; what an address or a file holds is somebody else's.
    found = redact_value(found, os.urandom(16))
    counts = {verdict: sum(each["verdict"] == verdict for each in found) for verdict in ("broken", "look")}
    if options.json:
        print_json({"broken": counts["broken"], "look": counts["look"], "findings": found})
    else:
        rows = [(each["verdict"], each["name"], _sentences(each["says"], each["then"])) for each in found]
        table(("", "what", "how it is, and what to do"), rows)
        next_step(options, _next(counts))
    return PROBLEMS if counts["broken"] else 0


def _sentences(*said: str) -> str:
    """Each with one full stop, whether it came with one or not."""
    return " ".join(f"{each.rstrip('.')}." for each in said if each)


def _next(counts: dict[str, int]) -> str:
    if counts["broken"]:
        return f"mend what is broken ({counts['broken']}), then `looseleaf doctor` again."
    if counts["look"]:
        return f"nothing is broken; {counts['look']} to look at."
    return "nothing is to be done."
