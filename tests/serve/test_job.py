"""The process of a job, run here: what it says line by line, what it keeps, and how it ends when it is told to."""

from __future__ import annotations

import io
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from looseleaf.base.errors import Refused
from looseleaf.forget.forget import Forgotten
from looseleaf.forget.probe import Probe
from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.serve import job
from looseleaf.serve.job import Ended, Teller, told_forgotten

WORD = "Northwind"
Ask = Callable[..., tuple[list[dict[str, Any]], dict[str, Any]]]


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    init(str(tmp_path / "memory"))
    with Memory(tmp_path / "memory") as memory:
        memory.record(user=f"I work at {WORD}.")
        memory.record(assistant="Noted.")
        memory.remember(f"I work at {WORD}.")
    return tmp_path / "memory"


@pytest.fixture
def ask(memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """Run the program as its server starts it; return what it said, and what it kept."""
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    monkeypatch.setattr(os, "nice", lambda _: 0)

    def call(kind: str, **spec: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        said = io.BytesIO()
        monkeypatch.setattr(job, "_claim_output", lambda: said)
        target = tmp_path / "jobs" / "x.json"
        head = {"id": "x", "kind": kind, "asked": "hash", "is_dry": bool(spec.get("dry_run"))}
        told = {
            "kind": kind,
            "path": str(memory),
            "alone": True,
            "head": head,
            "state": {"folder": str(tmp_path)},
        } | spec
        monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(told)))
        assert job.main() == 0
        return [json.loads(line) for line in said.getvalue().splitlines()], json.loads(target.read_bytes())

    yield call
    for each, handler in before.items():
        signal.signal(each, handler)


def test_each_kind_says_what_it_did_and_keeps_it(ask: Ask) -> None:
    for kind in ("check", "analyze", "index"):
        lines, kept = ask(kind)
        assert lines[-1]["state"] == kept["state"] == "done"
        assert lines[-1]["result"] == kept["result"]
        assert len(kept["edition"][1]) == 1, "nothing was forgotten yet"
        assert lines[-1]["is_written"]


def test_an_import_says_how_far_it_is_and_removes_its_file(ask: Ask, memory: Path, tmp_path: Path) -> None:
    file = tmp_path / "said.jsonl"
    said = [{"role": "user", "content": "I moved to Porto."}, {"role": "assistant", "content": "Good."}]
    file.write_text("".join(f"{json.dumps(each)}\n" for each in said))
    lines, kept = ask("import", file=str(file), format="messages", mine=True)
    assert [line for line in lines if "done" in line]
    assert kept["result"]["traces"] == 2
    assert kept["result"]["entries"] >= 1
    assert kept["lasting"]["titles"] == len(kept["result"]["titles"])
    assert not file.exists()
    with Memory(memory) as opened:
        assert any("Porto" in fact.object for fact in opened.facts())


def test_a_forget_keeps_numbers_and_a_look_at_it_nothing(ask: Ask) -> None:
    lines, kept = ask("forget", match=WORD, dry_run=True)
    assert WORD in json.dumps(lines)
    assert WORD not in json.dumps(kept)
    lines, kept = ask("forget", match=WORD)
    assert WORD not in json.dumps([lines, kept])
    assert kept["result"]["probe"]["hits"] == []
    assert kept["edition"][1] is not None
    lines, kept = ask("forget", match="Southwind")
    assert "Southwind" in lines[-1]["error"]
    assert "Southwind" not in json.dumps(kept)
    assert (kept["state"], kept["problem"]) == ("refused", "NotFound")


def test_a_memory_that_is_gone_is_refused(ask: Ask, memory: Path) -> None:
    memory.rename(memory.parent / "elsewhere")
    assert "the memory is gone" in ask("check")[1]["error"]


@pytest.mark.parametrize("kind", ["check", "import"])
def test_a_signal_ends_what_may_end(
    ask: Ask, kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def act(memory: Memory, spec: Any, teller: Teller) -> Any:
        signal.raise_signal(signal.SIGTERM)
        teller.step(1, 2)
        raise AssertionError("it went on")

    monkeypatch.setitem(job._ACTS, kind, act)
    assert ask(kind, file=str(tmp_path / "none"))[1]["state"] == "cancelled"


def test_a_signal_does_not_end_a_forget(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = job._forget

    def act(memory: Memory, spec: Any, teller: Teller) -> Any:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        return kept(memory, spec, teller)

    monkeypatch.setitem(job._ACTS, "forget", act)
    assert ask("forget", match=WORD)[1]["state"] == "done"


def test_it_goes_on_when_nobody_listens() -> None:
    class Gone(io.BytesIO):
        def flush(self) -> None:
            raise BrokenPipeError

    teller = Teller(Gone())
    teller.say(done=1)
    teller.say(done=2)
    teller.step(1, 1)
    teller.is_ended = True
    with pytest.raises(Ended):
        teller.step(2, 3)


def test_progress_is_said_seldom_and_at_the_end() -> None:
    said = io.BytesIO()
    teller = Teller(said)
    for done in range(1, 1_001):
        teller.step(done, 1_000)
    told = [json.loads(line)["done"] for line in said.getvalue().splitlines()]
    assert told[-1] == 1_000
    assert len(told) < 100


def test_where_something_is_left_is_kept_but_not_under_a_name_that_says_it() -> None:
    read = Probe(3, 100, ("log/x.jsonl", f"facts/{WORD}.md"), (), ("other",), ())
    made = Forgotten(
        "match", WORD, {"facts": 1}, {}, (WORD,), "id", read, (f"facts/{WORD}.md",), unwritten=("why",)
    )
    told = told_forgotten(made, places=True)
    assert told["probe"] == {
        "files": 3,
        "bytes": 100,
        "left": 2,
        "hits": ["log/x.jsonl"],
        "theirs": [],
        "machines": ["other"],
        "elsewhere": [],
    }
    assert (told["names"], told["mentions"], told["unwritten"], told["is_complete"]) == (1, 1, 1, False)
    assert WORD not in json.dumps(told)
    assert "hits" not in told_forgotten(made, places=False)["probe"]
    assert issubclass(Ended, BaseException)
    assert not issubclass(Ended, Exception | Refused)
