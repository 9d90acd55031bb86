"""The API in tests: a server with two memories, and the programs and people that ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

from serving import Server

if TYPE_CHECKING:
    from pathlib import Path

ALL = ("read", "write", "review", "admin")


class Asker:
    """Someone who asks with a token."""

    def __init__(self, address: str, secret: str) -> None:
        headers = {"authorization": f"Bearer {secret}"}
        self.client = httpx.Client(base_url=f"{address}/v1", headers=headers, timeout=60)

    def __call__(self, method: str, path: str, json: Any = None, **headers: str) -> httpx.Response:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.request(method, path, json=json, headers=given)

    def ok(self, method: str, path: str, json: Any = None, **headers: str) -> Any:
        answer = self(method, path, json, **headers)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def listed(self, path: str, limit: int = 3) -> list[Any]:
        """All items of a list, part by part."""
        found: list[Any] = []
        cursor: str | None = None
        while True:
            asked = f"{path}{'&' if '?' in path else '?'}limit={limit}"
            answer = self("GET", asked + (f"&cursor={cursor}" if cursor is not None else ""))
            assert answer.status_code == 200, answer.text
            part = answer.json()
            assert len(part["items"]) <= limit
            found += part["items"]
            cursor = part["next"]
            if cursor is None:
                return found


class Api(Server):
    """A server whose tokens may ask as often as they like."""

    def __init__(self, folder: Path, *, rate: float = 1e6, database: str = "") -> None:
        super().__init__(folder, database=database)
        self.serving.limits._rate = rate
        self._askers: list[Asker] = []

    def asker(self, *memories: str, scopes: tuple[str, ...] = ALL, **more: str) -> Asker:
        return self.asker_with(self.token(*memories, scopes=scopes, **more))

    def asker_with(self, secret: str) -> Asker:
        self._askers.append(Asker(self.address, secret))
        return self._askers[-1]

    def stop(self) -> None:
        for asker in self._askers:
            asker.client.close()
        super().stop()

    @property
    def audit(self) -> list[dict[str, Any]]:
        return list(self.serving.audit.read_back())


def filled(person: Asker, name: str) -> str:
    """Make a memory with talk, facts and a page; return its address."""
    person.ok("POST", "/memories", {"name": name})
    base = f"/memories/{name}"
    for text in ("I live in Lyon.", "My cat is called Mimi.", "I moved to Lisbon."):
        person.ok("POST", f"{base}/traces", [{"user": text}, {"assistant": "Noted."}])
        person.ok("POST", f"{base}/distill", {})
    person.ok("PUT", f"{base}/pages/facts/tea.md", {"text": "# Tea\n\n- Kind: oolong\n"}, if_none_match="*")
    return base
