"""What a memory costs in tokens: its state in several notations, and a prompt against other layouts of the same memory.

Part of `prompt.py`. The other layouts are made of the same pages, entries and turns, and are counted the same way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.learn import SETS, messages
from benchmarks.prefix import customers, encoder
from benchmarks.report import NO_GOAL, Row
from benchmarks.window import HERE, QUICK, TALKS, folder, replay

from looseleaf import Memory
from looseleaf.log.turns import MESSAGE_TOKENS
from looseleaf.prompt.slot_forms import show_state as forms_of
from looseleaf.state.rules import for_prompt
from looseleaf.text.notation import encode

LOCOMO = HERE.parent / "shared/data/locomo10.json"
PER_STATE = 200
"""Labelled messages of one memory."""

LARGE = 250
"""Tokens of a state that is worth a shorter notation."""

DAYS = 2
"""Whose logs a layout without memory on demand has in every prompt."""

BUSY = 5
"""Sessions of a busy day."""

SOUL = """# Soul

You are a companion who has known the user for a while. Be warm and direct, in a few sentences, and ask back where
something matters. Take up what was said before instead of asking for it again; say so where you do not know. Keep
private what was told in private. Do not flatter, do not lecture, and never make up what happened.
"""

State = dict[str, Any]


def tokens(text: str) -> int:
    return len(encoder()(text))


# --- notation: the state in a prompt -----------------------------------------------------------------


def worded(shown: State) -> str:
    """All that JSON says of it, in plain lines: nothing is left out, no braces, no names of members."""
    lines: list[str] = []
    for name, value in shown.items():
        if isinstance(value, list):
            rows = (" ".join(map(str, each.values())) if isinstance(each, dict) else each for each in value)
            lines += (f"{name}:", *(f"- {row}" for row in rows))
        elif isinstance(value, dict):
            lines += (f"{name}:", *(f"- {key}: {each}" for key, each in value.items()))
        else:
            lines.append(f"{name}: {value}")
    return "\n".join(lines)


def notations(shown: State) -> dict[str, str]:
    """A state as a prompt may carry it."""
    made = forms_of(shown, encode(shown), "")
    assert made is not None
    own = {form.format: form.text(form.pieces) for form in made.forms}
    return own | {"pretty": json.dumps(shown, ensure_ascii=False, indent=2), "worded": worded(shown)}


def states_of_messages(count: int | None) -> Iterator[State]:
    """What the rules leave in the state of memories that are told labelled messages."""
    said = [message.text for message in messages(SETS / "dev")]
    starts = range(0, len(said), PER_STATE)[:count]
    for start in starts:
        with folder(QUICK) as path, Memory(path / "memory") as memory:
            with memory.batch() as batch:
                for text in said[start : start + PER_STATE]:
                    batch.record(user=text)
                    batch.record(assistant="Noted.")
            memory.distill()
            memory.state.update(now=said[start][:100])
            yield memory.state.to_dict()


def states_of_agents(count: int | None) -> Iterator[State]:
    """The same of agents with tools; `now` is what the user said last."""
    for _, own in customers(count):
        with folder(QUICK) as path, Memory(path / "memory") as memory:
            talk = own[0]["traj"]
            replay(memory, talk)
            memory.distill()
            last = next(each["content"] for each in reversed(talk) if each["role"] == "user")
            memory.state.update(now=last[:100])
            yield memory.state.to_dict()


def notation(count: int | None) -> Iterator[Row]:
    found: dict[str, list[State]] = {"labelled messages": list(states_of_messages(count))}
    if TALKS.exists():
        found["agents with tools"] = list(states_of_agents(count))
    if LOCOMO.exists():
        found["small talk (LoCoMo)"] = [told.state for told in told_all(count)]
    states = [for_prompt(each) for own in found.values() for each in own]
    sizes = [{name: tokens(text) for name, text in notations(each).items()} for each in states if each]
    of = ", ".join(f"{len(own)} of {name}" for name, own in found.items())

    def ratio(one: str, other: str, few: int = 0) -> str:
        chosen = [size for size in sizes if size["json"] >= few]
        return f"{sum(size[one] for size in chosen) / max(1, sum(size[other] for size in chosen)):.2f}"

    mean = f"{fmean(size['json'] for size in sizes):.0f} tokens each as compact JSON"
    yield f"the state as TOON against compact JSON, in tokens ({of}; {mean})", ratio("toon", "json"), NO_GOAL
    if any(size["json"] >= LARGE for size in sizes):
        yield f"the same, of states of {LARGE} tokens or more", ratio("toon", "json", LARGE), NO_GOAL
    yield "the same against JSON with indents", ratio("toon", "pretty"), NO_GOAL
    yield "plain lines with all of it, against compact JSON", ratio("worded", "json"), NO_GOAL
    yield "the same against TOON", ratio("worded", "toon"), NO_GOAL
    yield (
        "lines without ids, times and status, the last form of a prompt, against TOON",
        ratio("lines", "toon"),
        NO_GOAL,
    )


# --- layout: what stands in every prompt ----------------------------------------------------------------


class Told:
    """A long conversation, session after session: what a prompt at the beginning of each takes in each layout."""

    def __init__(self) -> None:
        self.state: State = {}
        self.standing: list[int] = []
        """Ours: charter and memory."""
        self.whole: list[int] = []
        """Ours: the same with the window and the task."""
        self.logs: dict[str, list[int]] = {"entries": [], "model": [], "busy": []}
        """Soul, profile and the logs of the last days, by where the summaries are from."""
        self.everything: list[int] = []
        """Soul, profile and all that was said."""


def sessions(talk: dict[str, Any]) -> Iterator[tuple[float, list[tuple[str, str]], str]]:
    """When each began, what was said by whom, and a summary that a model wrote. The first speaker is the user."""
    said = talk["conversation"]
    number = 1
    while f"session_{number}" in said:
        began = said[f"session_{number}_date_time"]
        ts = datetime.strptime(began, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp()
        turns = [
            ("user" if each["speaker"] == said["speaker_a"] else "assistant", each["text"])
            for each in said[f"session_{number}"]
        ]
        yield ts, turns, talk["session_summary"][f"session_{number}_summary"]
        number += 1


def log_of(written: Sequence[tuple[str, str]], days: Sequence[str]) -> str:
    """The logs of these days: under each date, the summaries of its sessions."""
    parts = [f"# {day}\n\n" + "\n\n".join(text for on, text in written if on == day) for day in days]
    return "## Recent Activity\n\n" + "\n\n".join(parts)


def told(path: Path, talk: dict[str, Any]) -> Told:
    found = Told()
    entries: list[tuple[str, str]] = []
    by_model: list[tuple[str, str]] = []
    said: list[str] = []
    with Memory(path) as memory:
        (path / "SOUL.md").write_text(SOUL)
        for ts, turns, summary in sessions(talk):
            profile = (path / "USER.md").read_text() if (path / "USER.md").exists() else ""
            if len(entries) >= DAYS:
                task = next(text for who, text in turns if who == "user")
                slots = memory.prompt(task).manifest.by_slot()
                own = sum(slots.values())
                found.standing.append(own - slots.get("window", 0) - slots.get("task", 0))
                found.whole.append(own)
                days = sorted({day for day, _ in entries})[-DAYS:]
                begun = [SOUL, profile]
                found.logs["entries"].append(_cost([*begun, log_of(entries, days)]))
                found.logs["model"].append(_cost([*begun, log_of(by_model, days)]))
                busy = [("", text) for _, text in entries[-DAYS * BUSY :]]
                found.logs["busy"].append(_cost([*begun, log_of(busy, [""])]))
                found.everything.append(_cost(begun) + sum(MESSAGE_TOKENS + tokens(text) for text in said))
            with memory.batch() as batch:
                for number, (who, text) in enumerate(turns):
                    spoken: dict[str, Any] = {who: text}
                    batch.record(**spoken, ts=ts + 30 * number)
            said += [text for _, text in turns]
            loss = memory.window.compact()
            day = datetime.fromtimestamp(ts, UTC).date().isoformat()
            if loss is not None and loss.entry is not None:
                entries.append((day, memory.talk.entry(loss.entry).summary["summary"]))
                by_model.append((day, summary))
        found.state = memory.state.to_dict()
    return found


def _cost(parts: Sequence[str]) -> int:
    return MESSAGE_TOKENS + tokens("\n\n".join(part for part in parts if part))


@cache
def told_all(count: int | None) -> list[Told]:
    found = []
    for talk in json.loads(LOCOMO.read_text())[:count]:
        with folder(QUICK) as path:
            found.append(told(path / "memory", talk))
    return found


def layout(count: int | None) -> Iterator[Row]:
    goal = "≤ 0.25"
    if not LOCOMO.exists():
        yield (
            "tokens that stand in every prompt, against a layout with daily logs",
            f"skipped: no {LOCOMO.name}",
            goal,
        )
        return
    talks = told_all(count)
    standing, whole = (_mean(getattr(each, name) for each in talks) for name in ("standing", "whole"))
    logs = {name: _mean(each.logs[name] for each in talks) for name in ("entries", "model", "busy")}
    moments = sum(len(each.standing) for each in talks)
    what = (
        f"tokens before the talk at the beginning of a session ({moments} in {len(talks)} long conversations)"
    )
    yield (
        f"{what}: charter and memory against SOUL.md, USER.md and the logs of the last {DAYS} days with any",
        _ratio(standing, logs["entries"]),
        goal,
    )
    yield (
        "the same, with the sessions of these logs summed up by a model",
        _ratio(standing, logs["model"]),
        NO_GOAL,
    )
    yield f"the same, with {BUSY} sessions a day", _ratio(standing, logs["busy"]), NO_GOAL
    yield (
        "whole prompt, with what the window keeps of earlier sessions, against these logs and no window",
        _ratio(whole, logs["entries"]),
        NO_GOAL,
    )
    everything = _mean(each.everything for each in talks)
    yield (
        "whole prompt against SOUL.md, USER.md and everything that was said",
        _ratio(whole, everything),
        NO_GOAL,
    )


def _mean(figures: Iterator[list[int]]) -> float:
    return fmean(figure for own in figures for figure in own)


def _ratio(ours: float, other: float) -> str:
    return f"{ours / other:.2f} ({ours:,.0f} and {other:,.0f} tokens)"
