"""A person with a name at the page: what was said shows by whom, and what is decided has the name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from looseleaf import Memory
from looseleaf.memory.memory import on_behalf
from paging import Person
from serving import serving

if TYPE_CHECKING:
    from pathlib import Path


def test_who_said_a_rule_and_who_decided_on_it_stand_on_the_page(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        heron = server.root / "heron"
        with Memory(heron):
            (heron / "looseleaf.toml").write_text("shared = true\n")
        with Memory(heron, agent="claude@jonas") as memory, on_behalf(memory, "Jonas", None):
            memory.record(user="Never merge without a green build.")
            memory.record(assistant="All right.")
            memory.distill()
            name = memory.review.pending()[0].id
        visit = server.access.spend(server.access.make_code("Noa")) or ""
        assert server.access.person_of(visit) == "Noa"
        assert server.access.person_of(server.visit()) == ""
        with Person(server, "heron") as noa:
            noa.http.cookies = httpx.Cookies({"looseleaf": visit})
            waiting = noa.get("/review")
            assert "Jonas said it" in waiting.words
            done = noa.send(waiting, f"/review/{name}/yes")
            assert done.status == 200
            assert "said by Jonasdecided by Noa" in noa.get("/memory").words  # two tags side by side
        with Memory(heron) as memory:
            assert memory.fact(name or "").decided_by == "Noa"
