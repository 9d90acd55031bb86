"""The verbs of facts: list, correct, score, pin, approve, reject; their history, and why each is believed.

Arguments and printing only.
"""

from __future__ import annotations

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.cli.output import (
    SHORT_ID,
    choose_fact,
    clipped,
    dates_of,
    edit_dict,
    edit_line,
    hung,
    line_of,
    marks_of,
    name_of,
    next_step,
    open_memory,
    place_of,
    print_answer,
    print_json,
    print_notes,
    say,
    span_of,
    table,
    when,
    words_of,
)
from looseleaf.text.lines import is_said_on, lazy, undoubted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from looseleaf.base.values import Fact, Record
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.memory import Memory
    from looseleaf.place.notebook import FactSource

_PAST = ("pending", "superseded", "rejected")


def facts(options: CliOptions) -> int:
    wanted = [status for status in _PAST if getattr(options, status)]
    if options.as_of is not None and wanted:
        raise Invalid(
            f"Nothing was shown: --as-of lists facts that were true then, and --{wanted[0]} others. Leave one out."
        )
    about = {"topic": options.topic, "kind": options.kind, "as_of": options.as_of}
    with open_memory(options) as memory:
        found = [fact for status in wanted or ["current"] for fact in memory.facts(status=status, **about)]
        if not found and options.topic is not None and options.topic not in memory.views.topics():
            raise NotFound(
                f"Nothing was shown: there is no topic {options.topic!r}. `looseleaf topics` lists them."
            )
        if options.json:
            print_json([fact.to_dict() for fact in found])
        elif found:
            rows = (
                (clipped(topic) if fact is facts[0] else "", *_cells(fact))
                for topic, facts in _group_by_topic(found)
                for fact in facts
            )
            table(("topic", "id", "level", "dates", "where", "fact"), rows, lines=fact_list(found))
        else:
            from looseleaf.pages.deleted import last_deleted, told

            gone = {} if wanted or options.as_of else last_deleted(memory.history.edits())
            say(f"Nothing is known now. {told(gone)}" if gone else _empty_line(options, wanted))
            memory.notes[:] = [note for note in memory.notes if not gone or note != told(gone)]
        print_notes(memory)
        if found:
            next_step(options, _THEN.get(wanted[0] if wanted else "", _PUT_RIGHT))
    return 0


_PUT_RIGHT = "`looseleaf why ID` shows why one is believed; `looseleaf correct ID TEXT` corrects one."
_LOOK_BACK = "`looseleaf history ID` shows what replaced it, and whose words it rests on."
_THEN = {
    "pending": "`looseleaf review` goes through the facts that wait for your yes.",
    "superseded": _LOOK_BACK,
    "rejected": _LOOK_BACK,
}


def _empty_line(options: CliOptions, wanted: Sequence[str]) -> str:
    if wanted:
        return f"Nothing is {' or '.join(wanted)}{' of this kind' if options.kind else ''}."
    known = "Nothing of this kind is known" if options.kind else "Nothing is known"
    if options.as_of is not None:
        return f"{known.replace('is', 'was')} as of {options.as_of}."
    return f"{known} yet. `looseleaf distill` makes facts of what was said; or write `- Name: …` on USER.md."


def fact_list(found: Sequence[Fact]) -> Iterator[str]:
    for topic, facts in _group_by_topic(found):
        yield clipped(topic)
        for fact in facts:
            value, said_on = split_mark(fact.object)
            yield f"  {line_of(fact.but(object=value), *said_on, *dates_of(fact))}"


def split_mark(said: str) -> tuple[str, list[str]]:
    """Return a contested value without its mark, and the mark: `from desk on 2026-03-02`."""
    value = undoubted(said) if is_said_on(said) else said
    return value, [said[len(value) + 2 : -1]] if value != said else []


def _group_by_topic(found: Sequence[Fact]) -> list[tuple[str, list[Fact]]]:
    topics: dict[str, list[Fact]] = {}
    for fact in found:
        topics.setdefault(fact.topic, []).append(fact)
    return sorted(topics.items(), key=lambda item: (item[0] != "user", item[0]))


def _cells(fact: Fact) -> tuple[str, str, str, str, str]:
    value, said_on = split_mark(fact.object)
    marks, dates = ", ".join(marks_of(fact)), ", ".join((*said_on, *dates_of(fact)))
    return (fact.id or "")[:SHORT_ID], marks, dates, place_of(fact), words_of(fact.but(object=value))


def score(options: CliOptions) -> int:
    try:
        given = float(options.score)
    except ValueError:
        raise Invalid(
            f"Nothing was scored: {options.score!r} is not a score. Give a number from 0 to 10."
        ) from None
    return _change_fact(options, "scored", lambda memory, fact: memory.review.score(fact, given))


def correct(options: CliOptions) -> int:
    def change(memory: Memory, fact: str) -> Fact:
        return memory.review.correct(fact, options.text, here=options.here)

    return _change_fact(options, "corrected", change)


def reject(options: CliOptions) -> int:
    return _change_fact(options, "rejected", lambda memory, fact: memory.review.reject(fact))


def approve(options: CliOptions) -> int:
    first = ("pending", "current", "superseded", "rejected")
    with open_memory(options) as memory:
        before = {fact.id for fact in memory.facts()}
        named = choose_fact(memory, options, options.fact, done="approved", first=first)
        kinds = memory.review.private_kinds(named) if not options.home else ""
        fact = memory.review.approve(name_of(named), where="home" if options.home else None)
        options.done = "it was approved; "
        past = [each for status in first[2:] for each in memory.facts(topic=fact.topic, status=status)]
        # The value itself may have stood with a mark (`from desk on …`), which is gone now.
        words = undoubted(fact.object)
        gone = [each for each in past if each.id in before and undoubted(each.object) != words]
        undo = undo_of(memory, fact)
        lines = (f"\n  instead of: {line_of(each)}; `{undo}` brings it back" for each in gone)
        print_answer(options, fact.to_dict(), f"approved: {line_of(fact)}{''.join(lines)}")
        if fact.layer and not gone:
            next_step(options, f"`{undo}` undoes it.")
        if kinds:
            next_step(
                options,
                f"it is private ({kinds}), and stands where git looks. `looseleaf undo`, then `looseleaf approve "
                f"{(named.id or '')[:SHORT_ID]} --home`, keeps it in the home memory.",
            )
        print_notes(memory)
    return 0


def pin(options: CliOptions) -> int:
    done = "unpinned" if options.off else "pinned"
    return _change_fact(options, done, lambda memory, fact: memory.review.pin(fact, pinned=not options.off))


def _change_fact(options: CliOptions, done: str, change: Callable[[Memory, str], Fact]) -> int:
    with open_memory(options) as memory:
        named = choose_fact(memory, options, options.fact, done=done)
        fact = change(memory, name_of(named))
        options.done = f"it was {done}; "
        print_answer(options, fact.to_dict(), f"{done}: {line_of(fact)}")
        print_notes(memory)
        if fact.layer:
            next_step(options, f"`{undo_of(memory, fact)}` undoes it.")
    return 0


def undo_of(memory: Memory, fact: Fact | None) -> str:
    """Return the command that undoes what was last done to a fact: in its own memory."""
    layers = memory.parts.layers
    layer = layers.named(fact.layer) if layers is not None and fact is not None and fact.layer else None
    return f"{layer.command if layer is not None else 'looseleaf'} undo"


def show_fact(memory: Memory, options: CliOptions) -> None:
    """Print one fact: `show` with the name of a fact."""
    fact = choose_fact(memory, options, options.page, done="shown")
    print_answer(options, fact.to_dict(), "\n  ".join([_heading(fact), *fact_details(fact)]))


def history(options: CliOptions) -> int:
    with open_memory(options) as memory:
        named = choose_fact(memory, options, options.fact, done="shown")
        values = [(fact, memory.explain.sources(fact)) for fact in memory.history.fact(name_of(named))]
        rows = [fact.to_dict() | {"words": [each.to_dict() for each in said]} for fact, said in values]
        texts = ("\n  ".join((line_of(fact), *history_lines(fact, said))) for fact, said in values)
        print_answer(options, rows, "\n".join(texts))
        print_notes(memory)
    return 0


def history_lines(fact: Fact, said: Sequence[FactSource]) -> Iterator[str]:
    yield f"{'waits' if fact.status == 'pending' else 'held'}: {span_of(fact)}"
    if fact.superseded_by:
        yield f"replaced by: {fact.superseded_by}"
    if fact.quote:
        yield f"quote: “{clipped(fact.quote)}”"
    for each in said:
        yield f"{source_line(each)}: {clipped(each.text)}"


def source_line(source: FactSource) -> str:
    """Return where words are and whose they are; the words follow."""
    if source.ts is None:
        return f"source: {clipped(source.source)}, which is not in the log"
    return f"source: {clipped(source.source)}, {clipped(source.origin)}, {when(source.ts)}"


def why(options: CliOptions) -> int:
    """Explain a fact by its id or place; other words are looked up in a prompt."""
    with open_memory(options) as memory:
        fact = _find_exact(memory, options.what)
        if fact is None:
            from looseleaf.cli.verbs.prompt import why_in_prompt

            return why_in_prompt(memory, options)
        said, made = memory.explain.sources(fact), _journal_of(memory, fact)
        entry, distiller = _entry_of(memory, fact)
        about: Record = {
            "fact": fact.to_dict(),
            "why": reason_of_level(fact),
            "entry": entry,
            "distiller": distiller,
        }
        about |= {"words": [each.to_dict() for each in said], "made_by": [each for each, _ in made]}
        lines = [_heading(fact), *fact_details(fact)]
        lines += (f"{source_line(each)}:\n    {hung(each.text, 4)}" for each in said)
        if entry is not None:
            lines += [
                f"entry: log/entries/{clipped(entry)}",
                f"distiller: {clipped(distiller or 'not known')}",
            ]
        lines += [f"journal: {line}" for _, line in made]
        print_answer(options, about, "\n  ".join(lines))
        print_notes(memory)
        before = f"`looseleaf history {name_of(fact)}` shows its earlier values"
        next_step(options, f"{before}; `looseleaf correct {name_of(fact)} TEXT` corrects it.")
    return 0


_NAME = lazy(r"(?:[\w-]+:)?f_[0-9a-z]*|[^\n]+\.md:[0-9]{1,7}")
_MAY_BE_ID = lazy("[0-9a-f]{4,12}")


def _find_exact(memory: Memory, what: str) -> Fact | None:
    """Return the fact of an id or place; None: other words, also those that only look like an id."""
    if _NAME.fullmatch(what):
        try:
            return memory.fact(what)
        except Refused:
            if what.rpartition(":")[0] in memory.pages.list():  # a line that is not a fact
                return None
            raise
    try:
        return memory.fact(what) if _MAY_BE_ID.fullmatch(what) else None
    except Refused:
        return None


def _heading(fact: Fact) -> str:
    return hung(f"{fact.relation}: {fact.object}", 4)


def fact_details(fact: Fact) -> Iterator[str]:
    yield f"id: {fact.id}"
    yield f"topic: {clipped(fact.topic)}"
    yield f"kind: {fact.kind or 'not known'}{f', {fact.time_span}' if fact.time_span else ''}"
    at = place_of(fact)
    again = f", again {when(fact.said_at)}" if fact.said_at else ""
    yield f"status: {fact.status}, {span_of(fact)}{again}{f', on {at}' if at else ''}"
    yield f"level: {fact.level}: {reason_of_level(fact)}"
    for name, value in (("confidence", fact.confidence), ("salience", fact.salience)):
        if value is not None:
            yield f"{name}: {value:g}"
    if fact.user_fact_score is not None:
        yield f"score: {fact.user_fact_score:g} of 10, by a person"
    if fact.tags:
        yield f"tags: {clipped(', '.join(fact.tags))}"
    if fact.quote:
        yield f"quote: “{clipped(fact.quote)}”"


_ORIGINS = {"document": "a document", "tool": "a tool", "import": "an import", "external": "an edit on disk"}
"""By origin, its name for people."""


def reason_of_level(fact: Fact) -> str:
    """Return why a fact has its level."""
    match fact.level:
        case "confirmed":
            return "a person wrote or approved it"
        case "said":
            return "the user said it, and the words are in the log"
        case "inferred" if fact.origin == "unknown":
            return "the journal does not say who wrote it; `looseleaf vouch` says that you did"
        case "inferred" if "unverified" in fact.tags:
            return "the words it was made of do not quite say this"
        case "inferred":
            return "an assistant concluded or wrote it; the user did not say it"
    origin = fact.origin or "elsewhere"
    return f"it comes from {clipped(_ORIGINS.get(origin, origin))}, which no person vouches for"


def _entry_of(memory: Memory, fact: Fact) -> tuple[str | None, str | None]:
    """Return the entry that a fact was placed from, and its distiller."""
    if fact.entry_id is None:
        return None, None
    try:
        entry = memory.parts.of_layer(fact.layer).conversation.entry(fact.entry_id)
    except NotFound:
        return None, None  # who reads its words says so
    except Refused as refused:
        memory.notes.append(str(refused))
        return None, None
    return entry.reference, str(entry.meta.get("distiller"))


def _journal_of(memory: Memory, fact: Fact) -> list[tuple[Record, str]]:
    """Return the journal on a fact, oldest first: edits that wrote or ended it, and a person's acts on it."""
    parts = memory.parts.of_layer(fact.layer)
    own = {source.partition("@")[2] for source in fact.sources if "@" in source}
    found: list[tuple[Record, str]] = [
        (edit_dict(edit), edit_line(edit).strip())
        for edit in parts.pages.log()
        if edit.id in own
        or any(told.get("id") == fact.id for told in edit.facts)
        or any(ended[0] == fact.id for ended in edit.ended)
    ]
    names = ("id", "ts", "fact", "author", "reason", "set", "was", "undoes")
    for record in (line.record for line in parts.context.store.read("journal")):
        if record.get("kind") == "fact" and record.get("fact") == fact.id:
            word = {name: record.get(name) for name in names}
            found.append((word, _act_line(word)))
    return sorted(found, key=lambda each: float(each[0]["ts"]))


def _act_line(word: Record) -> str:
    new = ", ".join(f"{name} = {value}" for name, value in word["set"].items())
    about = clipped(f"{word['author']}: {word['reason']} ({new})")
    return f"{when(word['ts'])}  {word['id']}  {about}"
