"""The verb `worker`: take jobs from the queue of a database."""

from __future__ import annotations

import logging
import os
import sys
from functools import partial

from looseleaf.base.errors import Invalid
from looseleaf.base.paths import is_address
from looseleaf.cli.output import PROBLEMS, plain, print_answer, require_postgres

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.memory.layers import Walls
    from looseleaf.store.postgres.address import Address


def worker(options: CliOptions) -> int:
    """Do jobs until a signal ends the process; with --once, until none is left."""
    require_postgres()
    import gc

    from looseleaf.work.worker import CONCURRENCY, Worker

    gc.enable()  # other commands end before they make garbage; a worker lives long
    address = _address(options)
    kinds = [kind.strip() for kind in (options.kinds or "").split(",") if kind.strip()]
    concurrency = CONCURRENCY if options.concurrency is None else int(options.concurrency)
    _begin_logging()
    work = Worker(
        address, kinds=kinds, concurrency=concurrency, once=bool(options.once), walls=partial(_walls, address)
    )
    if not options.once:
        what = plain(", ".join(kinds)) if kinds else "all jobs"
        print(f"looseleaf: taking {what} of {plain(address.shown)}", file=sys.stderr, flush=True)
    is_done = work.run()
    told = {"done": work.done, "failed": work.failed}
    print_answer(options, told, f"{work.done} done, {work.failed} failed")
    if not is_done:  # others have its jobs now, and its threads would go on
        sys.stdout.flush()
        os._exit(0)
    return PROBLEMS if options.once and work.failed else 0


def _walls(address: Address, agent: str) -> Walls:
    """Return what an agent may do in the memories under one: what its tokens allow."""

    def may(where: str, scope: str) -> bool:
        from looseleaf.serve.access import Access
        from looseleaf.serve.shared import SharedState
        from looseleaf.store.postgres.address import parse_address

        other = parse_address(where) if is_address(where) else None
        if other is None or other.url != address.url:
            return False
        return Access(SharedState(address)).may_as(agent, other.namespace, scope)

    return may


def _begin_logging() -> None:
    """Tell on standard error which jobs fail, and nothing of what the driver says meanwhile."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("looseleaf: %(message)s"))
    log = logging.getLogger("looseleaf")
    log.addHandler(handler)
    log.propagate = False


def _address(options: CliOptions) -> Address:
    from looseleaf.store.postgres.address import parse_address

    where = options.postgres or options.memory or os.environ.get("LOOSELEAF_HOME", "")
    if not is_address(where):
        raise Invalid(
            "No worker was started: only a database has jobs. Give its address: `looseleaf worker --postgres "
            "postgresql://host/database`. In a folder, there is no worker: each command does its own work."
        )
    return parse_address(where).database
