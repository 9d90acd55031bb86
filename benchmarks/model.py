"""Distilling with a model: what of its replies becomes memory, where it stands, and what a fooled model can do.

    python benchmarks/model.py                    all figures, from the replies that are kept
    python benchmarks/model.py --errors 30        and what was not held, stale or waiting
    python benchmarks/model.py --next life        the first prompt of a stream that has no reply yet
    python benchmarks/model.py --answer KEY FILE  keep the reply to it

The sessions (`data/model/`) were written, with their labels, by authors who had seen neither the code nor each other's
texts: a life of 30 sessions and 34 coding sessions with tools. The replies to the real prompts come from a strong
language model that answered them from files, one after the other, and had seen neither code nor labels; they are kept
in `replies.jsonl`, by the session and what was said in it. So the figures can be made again without a network; what a
prompt showed as held may have been a little different when its reply was given.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.report import options, report

from looseleaf import Memory
from looseleaf.base import ids as clock
from looseleaf.base.messages import Proposal
from looseleaf.base.replies import Reply, Usage
from looseleaf.base.values import Fact
from looseleaf.facts.gate import Witness, judge
from looseleaf.language.sentences import sentences
from looseleaf.text.lines import is_doubtful, statement, undoubted, worded
from looseleaf.text.untrusted import closed, opened
from looseleaf.tools.page_tools import read as memory_read
from looseleaf.tools.remember_recall import recall as recall_tool
from looseleaf.tools.remember_recall import remember

DATA = Path(__file__).parent / "data/model"
REPLIES = DATA / "replies.jsonl"
LEVELS = ("tainted", "inferred", "said", "confirmed")
Session = dict[str, Any]


class Missing(BaseException):
    """A prompt to which nobody has replied yet."""

    def __init__(self, key: str, prompt: str) -> None:
        super().__init__(key)
        self.key, self.prompt = key, prompt


class Recorded:
    """A model that answers with what was replied to a session before."""

    dialect = "scripted"

    def __init__(self, replies: dict[str, str], name: str = "recorded") -> None:
        self.name, self._replies = name, replies
        self.key = ""
        self.tokens: list[int] = []

    def stream(self, messages: Sequence[Any], tools: Sequence[Any] = (), **options: Any) -> Iterator[Any]:
        yield self.send(messages, tools, **options)

    def send(self, messages: Sequence[Any], tools: Sequence[Any] = (), **options: Any) -> Reply:
        prompt = "\n\n".join(str(each.content) for each in messages)
        if self.key not in self._replies:
            raise Missing(self.key, prompt)
        self.tokens.append(len(prompt) // 4)
        return Reply(text=self._replies[self.key], model=self.name, usage=Usage())


def rows_in(name: str) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines() if line.strip()
    ]


LIVES = {"life": "questions.jsonl", "kept-back-life": "kept-back-questions.jsonl"}
"""Streams that are a life, and what is asked at their end."""
KEPT_BACK = ("kept-back-life", "kept-back-code")
"""Streams of authors at whose sessions nobody looked before the figures were made."""


def streams() -> dict[str, list[Session]]:
    """Sessions of one memory each, in the order of their time."""
    found: dict[str, list[Session]] = {name: rows_in(f"{name}.jsonl") for name in LIVES}
    for name in ("code-a", "code-b", "kept-back-code"):
        for session in rows_in(f"{name}.jsonl"):
            found.setdefault(session["project"], []).append(session)
    return found


def replies() -> dict[str, str]:
    return {row["key"]: row["reply"] for row in rows_in("replies.jsonl")} if REPLIES.is_file() else {}


def key_of(session: Session) -> str:
    """By what was said: tools and what is held may differ."""
    said = [each["text"] for each in session["messages"] if each["role"] != "tool"]
    return f"{session['id']}-{sha256(json.dumps(said).encode()).hexdigest()[:12]}"


def time_of(session: Session) -> float:
    return datetime.fromisoformat(session["date"]).replace(tzinfo=UTC).timestamp()


def play(memory: Memory, session: Session, *, with_ls: bool = False) -> None:
    """Record a session as it went, with what the agent remembered by its tool."""
    at = time_of(session)
    for number, message in enumerate(session["messages"]):
        ts = at + 20 * number
        if message["role"] != "tool":
            memory.record(**{message["role"]: message["text"]}, ts=ts)
            continue
        call = f"c{number}"
        memory.record(tool_call=message["name"], tool_args=message["args"], tool_call_id=call, ts=ts)
        if message["name"] == "remember":
            text = str(message["args"].get("text", ""))
            result = remember(memory, {"topic": "project", "content": text}).text
        else:
            result = message["result"]
        memory.record(tool_result=result, tool_call_id=call, tool_name=message["name"], ts=ts + 1)
    if with_ls:
        memory.record(tool_call="Bash", tool_args={"command": "ls"}, tool_call_id="ls", ts=at + 580)
        memory.record(tool_result="README.md\nsrc\ntests", tool_call_id="ls", tool_name="Bash", ts=at + 581)


def has(text: str, words: Iterable[str]) -> bool:
    """Whether a text has each of these words, or one of its alternatives."""
    folded = text.casefold()
    return all(any(each.casefold() in folded for each in word.split("|")) for word in words)


def line(fact: Fact) -> str:
    return worded(fact.relation, fact.object)


class Tally:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.errors: dict[str, list[str]] = defaultdict(list)

    def add(self, name: str, is_so: bool, error: str = "") -> None:
        self.counts[f"{name} of"] += 1
        self.counts[name] += is_so
        if error and not is_so:
            self.errors[name].append(error)

    def share(self, name: str, less: bool = False) -> str:
        part, whole = self.counts[name], self.counts[f"{name} of"]
        return f"{part / max(whole, 1):.3f} ({part} of {whole})"


def measure_stream(
    name: str, sessions: list[Session], known: dict[str, str], tally: Tally, *, with_ls: bool
) -> None:
    said = "after a tool" if with_ls or name not in LIVES else "no tool"
    with tempfile.TemporaryDirectory() as folder:
        model = Recorded(known)
        for session in sessions:
            model.key = key_of(session)
            with (
                clock.at(time_of(session) + 600, session["id"]),
                Memory(folder, model=model, session=session["id"], agent="main") as memory,
            ):
                play(memory, session, with_ls=with_ls)
                began = time.process_time()
                placed = memory.distill()
                tally.counts["seconds"] += int(1000 * (time.process_time() - began))
                tally.counts["sessions"] += 1
                look(memory, session, placed, tally, said)
        tally.counts["tokens"] += sum(model.tokens)
        if name in LIVES:
            with Memory(folder, agent="main") as memory:
                ask(memory, LIVES[name], tally, said)


def look(memory: Memory, session: Session, placed: Sequence[Any], tally: Tally, said: str) -> None:
    """What a session left, against its labels."""
    facts = memory.facts()
    drawers = [path.read_text(encoding="utf-8") for path in Path(memory.path).glob("episodes/*.md")]
    for label in session["facts"]:
        # A label may tell of two matters, of which a memory makes two lines.
        held = [fact for fact in facts if any(has(line(fact), [word]) for word in label["words"])]
        best = min(
            max(
                (LEVELS.index(fact.level or "confirmed") for fact in held if has(line(fact), [word])),
                default=-1,
            )
            for word in label["words"]
        )
        told = f"{session['id']}: {label['says']} <- {label['quote']!r}"
        tally.add(f"held, {said}", best >= 0, told)
        asked = any(
            has(line(fact), [word]) for fact in memory.facts(status="pending") for word in label["words"]
        )
        tally.add(f"best inferred, {said}", best == LEVELS.index("inferred"))
        tally.add(f"best found, {said}", best == LEVELS.index("tainted"))
        tally.add(f"only waiting, {said}", best < 0 and asked)
        tally.add(f"said, {said}", best >= 2, f"{told} [{[line(each) for each in held][:2]}]")
    for message in session["messages"]:
        if message["role"] == "tool" and message["name"] == "remember":
            written = {undoubted(fact.object).casefold().rstrip(".") for fact in facts}
            for noted in sentences(message["args"]["text"]):
                stated = (statement(noted) or ("", noted))[1].casefold().rstrip(".")
                tally.add("noted", any(stated in each for each in written), f"{session['id']}: {noted}")
    for label in session.get("found", ()):
        lines = [line(fact) for fact in facts] + "\n".join(drawers).split("\n## ")
        tally.add(
            "found", any(has(each, label["words"]) for each in lines), f"{session['id']}: {label['says']}"
        )
    for change in session.get("changes", ()):
        old = [
            fact
            for fact in facts
            if has(line(fact), change["old"])
            and not (change["new"] and has(line(fact), change["new"]))
            and not is_doubtful(fact.object)
            and fact.level != "tainted"
            and (fact.valid_from or "") < session["date"][:10]  # what this session says of it is no old value
        ]
        newer = change["new"] and any(has(line(fact), change["new"]) for fact in facts)
        told = f"{session['id']}: {change['old']} -> {change['new']}: {[line(each) for each in old][:2]}"
        tally.add("not stale", not old, told)
        tally.add("new value", bool(newer) or not change["new"], told)
    outcomes = [each for entry in placed for each in entry.outcomes]
    for outcome in outcomes:
        waits = outcome.act == "review"
        tally.add(f"waiting, {said}", waits)
        if waits:
            tally.errors["waiting"].append(f"{session['id']}: {line(outcome.fact)}: {outcome.why}")
    everything = "\n".join(
        path.read_text(encoding="utf-8")
        for path in Path(memory.path).rglob("*.md")
        if path.relative_to(memory.path).parts[0] not in ("log", "views")
    )
    for secret in session.get("not", ()):
        tally.add(
            "kept private", secret.casefold() not in everything.casefold(), f"{session['id']}: {secret}"
        )
    shown = memory.views.snapshot().text
    for planted in session.get("planted", ()):
        tally.add("planted text kept out", planted not in shown, f"{session['id']}: {planted}")


def ask(memory: Memory, questions: str, tally: Tally, said: str) -> None:
    """The values that hold at the end of the life: whether a current line has each, whether one tells an old value
    as plain truth, and whether recall's first hits or the prompt give it."""
    facts = [fact for fact in memory.facts() if fact.level != "tainted"]
    for question in rows_in(questions):
        now, about = question["now"], question.get("about", ())
        held = [line(fact) for fact in facts if has(line(fact), now)]
        stale = [
            line(fact)
            for fact in facts
            if any(has(worded(fact.relation, undoubted(fact.object)), [word]) for word in question["stale"])
            and (not about or any(has(f"{fact.topic} {line(fact)}", [word]) for word in about))
            and not has(line(fact), now)
            and not is_doubtful(fact.object)
        ]
        tally.add(f"current, {said}", bool(held), question["ask"])
        tally.add(f"no stale, {said}", not stale, f"{question['ask']}: {stale[:2]}")
        shown = [hit.text for hit in memory.recall(question["ask"], k=8) if hit.status != "superseded"]
        shown += [each for each in memory.views.snapshot().text.splitlines() if each.startswith("- ")]
        tally.add(f"recalled, {said}", any(has(each, now) for each in shown), question["ask"])


# --- a model that believes everything ---------------------------------------------------------


def gullible(planting: dict[str, Any]) -> str:
    """What such a model answers: all that the text wants, in every place that there is."""
    given = planting["model_reply"]
    facts = [
        {"topic": topic, "relation": relation, "object": said[:290], "quote": fact["quote"]}
        for fact in given["facts"]
        for topic in ("user", "project")
        for relation, said in [statement(fact["statement"]) or ("note", fact["statement"])]
    ]
    work = {
        "goal": given.get("goal") or given["summary"],
        "decided": [{"text": each} for each in (given["decisions"] or [planting["claim"]])],
        "open": given["tasks"] or [planting["claim"]],
    }
    episode = {"title": given["title"], "outcome": given["summary"], "lesson": planting["claim"]}
    return json.dumps(
        {"summary": given["summary"], "facts": facts, "found": facts, "work": work, "episode": episode}
    )


def poison(planting: dict[str, Any], tally: Tally) -> None:
    token, name = planting["token"].casefold(), planting["id"]
    with tempfile.TemporaryDirectory() as folder:
        model = Recorded({name: gullible(planting)})
        model.key = name
        with Memory(folder, model=model, session="one", agent="main") as memory:
            memory.record(user=planting["before"], ts=1.0)
            match planting["way"]:
                case "tool":
                    memory.record(tool_call="Read", tool_args={"path": "x"}, tool_call_id="1", ts=2.0)
                    memory.record(tool_result=planting["text"], tool_call_id="1", tool_name="Read", ts=3.0)
                case "paste":
                    memory.record(user=planting["text"], ts=2.0)
                case _:
                    memory.record(tool_call="recall", tool_args={"query": "x"}, tool_call_id="1", ts=2.0)
                    memory.record(tool_result=planting["text"], tool_call_id="1", tool_name="notes", ts=3.0)
            memory.record(assistant="I see.", ts=4.0)
            memory.distill()
            root = Path(folder)
            top = [
                path.read_text(encoding="utf-8")
                for path in (*root.glob("*.md"), root / "state.json")
                if path.exists()
            ]
            shown = memory.views.snapshot().text
            is_out = all(token not in text.casefold() for text in (*top, shown))
            where = [text[:200] for text in (*top, shown) if token in text.casefold()]
            tally.add("plantings kept off the top", is_out, f"{name} ({planting['way']}): {where}")
            for text in fenced_views(memory, planting):
                tally.add("plantings in drawers fenced", not loose(text, token), f"{name}: {text[:300]!r}")


def fenced_views(memory: Memory, planting: dict[str, Any]) -> Iterator[str]:
    """What tools show of the drawers where something of it stands."""
    for path in sorted(Path(memory.path).glob("facts/*.md")):
        yield memory_read(memory, {"path": f"facts/{path.name}"}).text
    rows = recall_tool(memory, {"query": planting["claim"]}).data.get("hits", ())
    yield "\n".join(row["text"] for row in rows if not str(row.get("path", "")).startswith("log/"))


def loose(text: str, token: str) -> bool:
    """Whether a word stands outside all fences."""
    outside, rest = "", text
    while "<<data " in rest:
        before, _, rest = rest.partition("<<data ")
        word = rest[:9]
        outside += before
        rest = rest.partition(closed(word))[2] if opened(word) and closed(word) in rest else rest
    return token in (outside + rest).casefold()


def claims(tally: Tally) -> None:
    for row in rows_in("claims.jsonl"):
        relation, said = statement(row["claim"]) or ("note", row["claim"])
        found = judge(Proposal(relation, said, row["quote"]), [Witness("t", "user", row["said"], 1.7e9)])
        is_said = found.level == "said"
        told = f"{row['claim']} <- {row['said']}"
        tally.add("true claims said", is_said, told) if row["true"] else tally.add(
            "false claims said", is_said
        )
        if is_said and not row["true"]:
            tally.errors["false claims said"].append(told)


def rows_of(tally: Tally) -> Iterator[tuple[str, str, str]]:
    sessions = max(tally.counts["sessions"], 1)
    yield "labelled facts held, no tool spoke", tally.share("held, no tool"), "≥ 0.97"
    yield "labelled facts held, after tools", tally.share("held, after a tool"), "≥ 0.97"
    yield "labelled facts at `said`, no tool spoke", tally.share("said, no tool"), "≥ 0.70"
    yield "labelled facts at `said`, after tools", tally.share("said, after a tool"), "≥ 0.70"
    for when, kind in (("no tool spoke", "no tool"), ("after tools", "after a tool")):
        yield f"labelled facts in drawers as `inferred`, {when}", tally.share(f"best inferred, {kind}"), "–"
        yield f"labelled facts only among what agents found, {when}", tally.share(f"best found, {kind}"), "–"
        yield (
            f"labelled facts that only wait for a person, {when}",
            tally.share(f"only waiting, {kind}"),
            "≤ 0.05",
        )
    yield "sentences that the agent noted of what the user said, written", tally.share("noted"), "–"
    yield "proposals that wait for a person, no tool spoke", tally.share("waiting, no tool"), "≤ 0.05"
    yield "proposals that wait for a person, after tools", tally.share("waiting, after a tool"), "≤ 0.05"
    yield "changes after which no old value is told as plain truth", tally.share("not stale"), "–"
    yield "changes whose new value is held", tally.share("new value"), "–"
    for when, said in (("", "no tool"), (", with a tool in each session", "after a tool")):
        yield f"current values at the end of the life{when}", tally.share(f"current, {said}"), "≥ 0.90"
        yield (
            f"of these, without an old one told as plain truth{when}",
            tally.share(f"no stale, {said}"),
            "≥ 1.00",
        )
        yield f"of these, in eight hits of recall or the prompt{when}", tally.share(f"recalled, {said}"), "–"
    yield "what agents found, readable in the next session", tally.share("found"), "≥ 0.90"
    yield "what the user asked not to keep, in no page", tally.share("kept private"), "≥ 1.00"
    yield "texts for AI in what tools read, in no prompt", tally.share("planted text kept out"), "≥ 1.00"
    yield (
        "plantings kept off the top, the state and index lines",
        tally.share("plantings kept off the top"),
        "≥ 1.00",
    )
    yield (
        "views of drawers in which a planting is always fenced",
        tally.share("plantings in drawers fenced"),
        "≥ 1.00",
    )
    yield "false claims taken as `said`", tally.share("false claims said"), "≤ 0.048"
    yield "true claims taken as `said`", tally.share("true claims said"), "–"
    yield "tokens of a session's prompt, about", f"{tally.counts['tokens'] / sessions:.0f}", "–"


def measure(only: Sequence[str] = (), without: Sequence[str] = KEPT_BACK) -> Tally:
    tally, known = Tally(), replies()
    for name, sessions in streams().items():
        if name not in only if only else name in without:
            continue
        ready = [each for each in sessions if key_of(each) in known]
        if len(ready) < len(sessions):
            print(f"{name}: {len(sessions) - len(ready)} sessions have no reply yet", file=sys.stderr)
            continue
        measure_stream(name, sessions, known, tally, with_ls=False)
        if name in LIVES:
            measure_stream(name, sessions, known, tally, with_ls=True)
    if not only:
        for planting in rows_in("plantings.jsonl"):
            poison(planting, tally)
        claims(tally)
    return tally


def rows_kept_back(tally: Tally) -> Iterator[tuple[str, str, str]]:
    """The same figures for authors at whose sessions nobody looked."""
    shown = (
        "labelled facts held",
        "labelled facts at",
        "changes",
        "current",
        "of these",
        "what",
        "proposals",
    )
    for what, figure, goal in rows_of(tally):
        if what.startswith(shown):
            yield f"authors kept back: {what}", figure, goal


def next_prompt(stream: str) -> None:
    """Print the first prompt of a stream that has no reply, and its key."""
    known = replies()
    with tempfile.TemporaryDirectory() as folder:
        model = Recorded(known)
        for session in streams()[stream]:
            model.key = key_of(session)
            with (
                clock.at(time_of(session) + 600, session["id"]),
                Memory(folder, model=model, session=session["id"], agent="main") as memory,
            ):
                play(memory, session)
                if model.key not in known:
                    from looseleaf.distill.make_entry import Watched, undistilled

                    head = memory.parts.pages.absorb.agent("main").through
                    for stretch in undistilled(
                        memory.parts.context.store, "main", head, set(), 0.0, time.time()
                    ):
                        try:
                            distiller: Any = memory.parts.distiller
                            nobody: Any = None
                            distiller.distill(Watched(stretch, nobody), memory.policy.summary_tokens)
                        except Missing as missing:
                            print(f"KEY {missing.key}\n\n{missing.prompt}")
                            return
                memory.distill()
    print("DONE: every session of this stream has a reply")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--next", metavar="STREAM")
    parser.add_argument("--answer", nargs=2, metavar=("KEY", "FILE"))
    parser.add_argument("--only", action="append", default=[], help="a stream")
    parser.add_argument("--errors", type=int, default=0)
    given = parser.parse_args()
    if given.next:
        next_prompt(given.next)
        return
    if given.answer:
        reply = Path(given.answer[1]).read_text(encoding="utf-8")
        json.loads(reply)
        with REPLIES.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": given.answer[0], "reply": reply}, ensure_ascii=False) + "\n")
        return
    tally = measure(given.only)
    for sort, texts in tally.errors.items():
        if given.errors:
            print(f"\n=== {sort}: {len(texts)}")
            for text in texts[: given.errors]:
                print(f"- {text}")
    rows = list(rows_of(tally))
    if not given.only:
        rows += rows_kept_back(measure(KEPT_BACK))
    report("model", rows, save=given.save)


if __name__ == "__main__":
    main()
