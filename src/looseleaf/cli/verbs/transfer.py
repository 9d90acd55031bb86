"""The verbs `import`, `export`, `merge` and `sync`. Arguments and printing only."""

from __future__ import annotations

import os
import sys
import time

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.paths import is_address, is_page
from looseleaf.cli.output import (
    PROBLEMS,
    clipped,
    next_step,
    open_memory,
    plain,
    print_json,
    print_notes,
    progress,
    require_postgres,
    say,
    shell_word,
)
from looseleaf.transfer.export_folder import Copy, ExportTarget, TarWriter, export_whole, note_copy, private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.base.values import Fact
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.memory import Memory
    from looseleaf.memory.merge import Merged
    from looseleaf.sync.sync import Synced
    from looseleaf.transfer.import_ledger import Imported


def import_(options: CliOptions) -> int:
    from looseleaf.base.paths import IMPORTER
    from looseleaf.integrations.detached import read_all_tails
    from looseleaf.transfer.formats import detect, format_named
    from looseleaf.transfer.import_run import run
    from looseleaf.transfer.source import ImportSource

    options.agent = options.agent or IMPORTER
    with ImportSource(options.path or "") as source, open_memory(options) as memory:
        format_ = format_named(options.format) if options.format is not None else detect(source).format
        if not options.json:
            by = "as given" if options.format is not None else "detected"
            say(f"format: {format_.NAME}, {by} ({format_.ABOUT})")
        if getattr(format_, "HOOKED", False) and not options.dry_run:
            read_all_tails(memory)
        with progress("looking" if options.dry_run else "importing", unit="items") as step:
            given = {"mine": options.mine, "here": options.here, "dry_run": options.dry_run}
            done = run(memory, source, format_, **given, step=step)
        placed = 0
        if options.mine and not options.dry_run:  # also the leftovers of an interrupted import
            with progress("distilling"):
                placed = len(memory.distill())
        if not options.dry_run and not done.is_nothing:
            options.done = "it was imported; "
            with progress("indexing", unit="bytes") as step:
                memory.views.build_index(progress=step)
        if options.json:
            print_json(done.to_dict() | {"entries": placed})
        else:
            _print_import(done, placed)
            next_step(options, _step_after_import(done))
        print_notes(memory)
    return 1 if done.is_useless else 0


def _print_import(done: Imported, placed: int) -> None:
    said = "would be " if done.is_dry else ""
    kinds = {"conversations": done.talks, "documents": done.documents, "claims": done.claims}
    for name, counts in kinds.items():
        found = [f"{count:,} {_STANDINGS[each]}" for each, count in counts.to_dict().items() if count]
        if found:
            say(f"{name}: {', '.join(found)}")
    if done.traces:
        say(f"traces: {done.traces:,} {said}recorded for the agent {done.agent}{_time_range(done)}")
    if done.pages:
        more = f" and {len(done.pages) - 10} more" if len(done.pages) > 10 else ""
        say(f"pages: {', '.join(map(clipped, done.pages[:10]))}{more} {said}written, as yours")
    if placed:
        say(f"distilled: {placed:,} {'entry' if placed == 1 else 'entries'}")
    if done.waiting:
        say(f"review: {done.waiting:,} wait{'s' * (done.waiting == 1)} for your yes")
    for title in done.titles:
        say(f"  {clipped(title)}")
    if done.copies:
        is_one = len(done.copies) == 1
        were, they, copies = ("was", "it", "copy stays") if is_one else ("were", "they", "copies stay")
        again = "would be recorded" if done.is_dry else f"{'is' if is_one else 'are'} recorded"
        remove = f"--session {done.copies[0]}" if is_one else f"--origin import:{done.format}"
        say(
            f"{len(done.copies):,} of the conversations {were} imported as data before: {they} {again} again as yours, "
            f"and the first {copies} data. `looseleaf forget {remove}` removes what is there as data."
        )
    if done.outdated:
        is_one = done.outdated == 1
        are, them = ("is a page", "it") if is_one else ("are pages", "them")
        say(
            f"{done.outdated:,} of these {are} of yours whose source has changed: the new text was added as data "
            f"beside {them}. With --mine the {'page follows' if is_one else 'pages follow'}."
        )
    if done.forgotten:
        is_one = done.forgotten == 1
        parts = "part that was forgotten, and stays so" if is_one else "parts that were forgotten"
        say(f"left out: {done.forgotten:,} {parts}")
    if done.passed_over:
        say(f"passed over: {done.passed_over:,}")
        for note in done.notes:
            say(f"  {clipped(note)}")


_STANDINGS = {
    "new": "new",
    "grown": "gone on",
    "known": "there already",
    "forgotten": "forgotten, and stay so",
    "bad": "that could not be imported",
}


def _time_range(done: Imported) -> str:
    from looseleaf.text.times import day

    if done.since is None or done.until is None:
        return ""
    return f", from {day(done.since)} to {day(done.until)}"


def _step_after_import(done: Imported) -> str:
    if done.is_useless:
        why = "see the reasons above" if done.passed_over else "there is nothing in it to import"
        return f"nothing was imported: {why}."
    review = "`looseleaf review` shows what waits for your yes; " if done.waiting else ""
    if done.is_nothing and not review:
        much = "every readable part" if done.passed_over else "all of it"
        kinds = (done.talks, done.documents, done.claims)
        gone = ", or was forgotten" if any(each.forgotten for each in kinds) else ""
        return f"there is nothing to do: {much} is there already{gone}."
    if done.is_dry:
        vouch = "; add --mine if you vouch for it: then your words in it count as yours"
        return f"run it without --dry-run{'' if done.is_mine else vouch}."
    if done.is_mine:
        return '`looseleaf facts` lists the facts, `looseleaf recall "…"` finds any of it.'
    return (
        f'{review}`looseleaf recall "…"` finds any of it. It is untrusted data: nothing of it is in a prompt '
        "or was distilled."
    )


STDOUT = "-"
_USES = {
    "facts": "`jq -r '.relation + \": \" + .object' {}` lists them; each line is a whole fact.",
    "messages": "`looseleaf --memory OTHER import {} --as messages` imports it into another memory.",
}
"""By format, the next step with a file of lines."""
LISTED = 5
"""How many files are named."""


def export(options: CliOptions) -> int:
    with open_memory(options) as memory:
        told = (_export_whole if options.format in ("tar", "folder") else _export_lines)(memory, options)
        print_notes(memory)
    if told is not None:
        if options.json:
            print_json(told)
        else:
            _print_export(told)
        if "lines" in told:
            from shlex import quote

            next_step(options, _USES[told["format"]].format(quote(told["path"])))
    return 0


# --- the whole memory ------------------------------------------------------------------


def _export_whole(memory: Memory, options: CliOptions) -> dict[str, Any] | None:
    name = os.path.basename(memory.name).lstrip(".") or "memory"
    if options.format == "tar" and options.path == STDOUT:
        if options.json:
            raise Invalid(
                "Nothing was exported: a packed file is not JSON. Leave out --json, or name a file."
            )
        _pipe_tar(memory, name)
        return None
    if options.path == STDOUT:
        raise Invalid(
            "Nothing was exported: a folder does not fit in a pipe. Name a new folder, or use --as tar."
        )
    path = options.path if options.path is not None else _free_name(name, options.format)
    if options.format == "tar" and path.lower().endswith((".zip", ".7z", ".rar")):
        raise Invalid(
            f"Nothing was exported: the whole memory is packed as a .tar.gz, and {os.path.basename(path)} says "
            "otherwise. Choose a name that ends in .tar.gz."
        )
    with _new_target(path, memory) as new, progress("exporting", unit="bytes") as step:
        if options.format == "folder":
            new.refuse_nesting()
            taken = export_whole(memory, Copy(new.draft), step)
        else:
            with os.fdopen(private(new.draft), "w+b") as file:
                taken = export_whole(memory, TarWriter(file, name), step)
                file.flush()
                os.fsync(file.fileno())
    size = os.path.getsize(new.path) if options.format == "tar" else taken.bytes
    note_copy(memory, new.path)
    options.done = f"{new.path} was written, but "
    told = {"path": new.path, "format": options.format, "bytes": size}
    return told | {"files": taken.files, "left_out": list(taken.left_out), "folder": name}


def _free_name(name: str, format: str | None) -> str:
    """Return a name with the date that is free here."""
    from itertools import count

    suffix = ".tar.gz" if format == "tar" else ""
    dated = f"{name}-{time.strftime('%Y-%m-%d')}"
    names = (f"{dated}{f'-{number}' if number > 1 else ''}{suffix}" for number in count(1))
    return next(each for each in names if not os.path.lexists(each))


def _pipe_tar(memory: Memory, name: str) -> None:
    """Pack to a temporary file first: an export that starts over cannot take bytes back from a pipe."""
    from shutil import copyfileobj
    from tempfile import TemporaryFile

    if sys.stdout.isatty():
        raise Refused(
            "Nothing was exported: a terminal cannot show a packed file. Name a file, or pipe it to a program."
        )
    with TemporaryFile() as file:
        export_whole(memory, TarWriter(file, name))
        file.seek(0)
        sys.stdout.flush()
        copyfileobj(file, sys.stdout.buffer)


def _export_lines(memory: Memory, options: CliOptions) -> dict[str, Any] | None:
    from looseleaf.transfer.export_rows import fact_lines, message_lines

    lines = fact_lines(memory) if options.format == "facts" else message_lines(memory, options.agent)
    if options.path in (None, STDOUT):
        sys.stdout.flush()
        for piece in _json_array(lines) if options.json else lines:
            if sys.stdout.isatty():
                sys.stdout.write(plain(piece.decode(), keep="\n"))
            else:
                sys.stdout.buffer.write(piece)
        return None
    count = size = 0
    with _new_target(str(options.path), memory) as new, os.fdopen(private(new.draft), "wb") as file:
        for piece in lines:
            file.write(piece)
            size += len(piece)
            count += piece.endswith(b"\n")
        file.flush()
        os.fsync(file.fileno())
    options.done = f"{new.path} was written, but "
    return {"path": new.path, "format": options.format, "bytes": size, "lines": count}


def _json_array(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines as one JSON array, a piece at a time."""
    before = b"["
    for piece in lines:
        yield before + piece.removesuffix(b"\n")
        before = b",\n" if piece.endswith(b"\n") else b""
    yield b"]\n" if before != b"[" else b"[]\n"


def _new_target(path: str, memory: Memory) -> ExportTarget:
    new = ExportTarget(path, memory.path if memory.parts.store.edited_outside else None)
    for each in new.removed:
        print(f"looseleaf: {plain(each)} was removed: a killed export left it.", file=sys.stderr)
    return new


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _print_export(told: dict[str, Any]) -> None:
    from shlex import quote

    if "lines" in told:
        what = "fact" if told["format"] == "facts" else "session"
        say(f"{told['path']}: {_plural(told['lines'], what)}, {_plural(told['bytes'], 'byte')}.")
        return
    much = f"{_plural(told['files'], 'file')}, {_plural(told['bytes'], 'byte')}"
    say(f"{told['path']}: {much}. Only you may read it.")
    if told["left_out"]:
        names = ", ".join(told["left_out"][:LISTED])
        more = len(told["left_out"]) - LISTED
        rest = f" and {more} more" if more > 0 else ""
        say(f"Skipped, because they lead out of the memory or cannot be read: {names}{rest}.")
    if told["format"] == "tar":
        name = quote(os.path.basename(told["path"]))
        say(f"To use it elsewhere: tar -xzf {name}, then looseleaf --memory {quote(told['folder'])} check")
    else:
        say(f"To use it: looseleaf --memory {quote(told['path'])} check")
    _warn_of_git(told["path"])


def _warn_of_git(path: str) -> None:
    """Say that git would commit an export: it holds all that was said."""
    from looseleaf.cli.doctor_checks import is_ignored, repository_of

    folder, name = os.path.split(path)
    inside = repository_of(folder)
    if inside is not None and not is_ignored(folder, name):
        say(
            f"It lies in the git repository {inside}, which would commit it, with all that was said. Move it out, or "
            "name a place elsewhere next time: looseleaf export PATH"
        )


# --- another copy ----------------------------------------------------------------------


def move(options: CliOptions) -> int:
    from looseleaf.transfer.move import move as move_memory

    if is_address(options.path) != is_address(options.to):
        require_postgres()
    with progress("moving", unit="bytes") as step:
        moved = move_memory(options.path or "", options.to, step)
    if options.json:
        print_json(moved.to_dict())
        return 0
    say(
        f"The memory is now at {moved.to}: {_plural(moved.files, 'file')}, {moved.bytes:,} bytes, each read back."
    )
    if moved.left_out:
        say(f"Left behind, because of their names: {_named(moved.left_out)}")
    told = f"what is at {plain(moved.source)} stays as it was, and tells writers where to go. "
    if is_address(moved.source):
        told += f"`looseleaf database clear {shell_word(moved.source)}` removes it."
    else:
        told += "Remove it when you like."
    next_step(options, told)
    return 0


def merge(options: CliOptions) -> int:
    with open_memory(options) as memory:
        with progress("looking" if options.dry_run else "merging"):
            merged = memory.merge(options.path or "", dry_run=options.dry_run)
        if not options.dry_run:
            options.done = "it was merged; "
        if options.json:
            print_json(merged.to_dict())
        else:
            _print_merge(merged)
            next_step(options, _step_after_merge(merged))
        print_notes(memory)
    return 0


def _print_facts(merged: Merged | Synced, said: str = "") -> None:
    shown = (
        ("added", [_fact_line(fact) for fact in merged.added]),
        ("replaced", [f"{_fact_line(old)} → {plain(new.object)}" for old, new in merged.replaced]),
        ("ended", [_fact_line(fact) for fact in merged.ended]),
        ("contested", [_fact_line(fact) for fact in merged.contested]),
    )
    for what, lines in shown:
        if lines:
            say(f"{said}{what}: {_plural(len(lines), 'fact')}")
            for line in lines[:_MERGED]:
                say(f"  {clipped(line)}")
            if len(lines) > _MERGED:
                say(f"  … and {len(lines) - _MERGED:,} more")
    if merged.forgotten:
        say(f"{said}forgotten: {_plural(merged.forgotten, 'fact')}, as on the other machine")


def _print_pages(merged: Merged | Synced, said: str) -> None:
    if merged.pages:
        say(f"{said}changed: {_plural(len(merged.pages), 'page')}: {_named(merged.pages)}")


def _print_merge(merged: Merged) -> None:
    said = "would be " if merged.is_dry else ""
    _print_facts(merged, said)
    if merged.talk.turns:
        talk = f"{_plural(merged.talk.turns, 'turn')} in {_plural(merged.talk.sessions, 'session')}"
        say(f"talk: {talk} {said}brought")
    if merged.edited:
        taken = "would be taken in" if said else "was taken in"
        say(f"changed by hand there: {_named(merged.edited)}; that {taken}")
    _print_pages(merged, said)
    if merged.held:
        wait, stay = ("waits", "stays") if len(merged.held) == 1 else ("wait", "stay")
        say(f"{_plural(len(merged.held), 'file')} there {wait} for a person, and {stay} there:")
        for held in merged.held[:LISTED]:
            say(f"  {clipped(held.path)} {held.says}")
        if len(merged.held) > LISTED:
            say(f"  … and {len(merged.held) - LISTED:,} more")
    if merged.machines and not merged.pages and not merged.talk.turns:
        say(f"No page {'would change' if said else 'changed'}: only the history there is new.")
    say(f"machines: {', '.join(merged.machines)}" if merged.machines else "Nothing there is new.")


_MERGED = 20
"""How many facts of each kind are listed."""


def _named(names: tuple[str, ...]) -> str:
    return f"{', '.join(map(clipped, names[:LISTED]))}{_and_more(names)}"


def _and_more(names: tuple[str, ...]) -> str:
    return f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""


def _fact_line(fact: Fact) -> str:
    return f"{fact.relation}: {fact.object}"


def _step_after_merge(merged: Merged) -> str:
    if merged.is_nothing:
        return "there is nothing to do: this memory has all that the other copy has."
    if merged.is_dry:
        return "run it without --dry-run."
    if merged.contested:
        return '`looseleaf correct FACT "…"` decides where several values stand.'
    return "merge this memory into the other copy too, and both are equal."


def sync(options: CliOptions) -> int:
    with open_memory(options) as memory:
        with progress("looking" if options.dry_run else "syncing"):
            done = memory.sync(
                options.path,
                branch=options.branch,
                new_branch=options.new_branch,
                join=options.join,
                dry_run=options.dry_run,
            )
        options.done = "" if options.dry_run else "it was synced; "
        if options.json:
            print_json(done.to_dict())
        else:
            _print_sync(done)
            if options.dry_run and not done.is_nothing:
                next_step(options, "nothing has changed. Run it without `--dry-run` to do it.")
        print_notes(memory)
    return PROBLEMS if done.left else 0


def _print_sync(done: Synced) -> None:
    said = "would be " if done.is_dry else ""
    _print_facts(done, said)
    if done.turns:
        say(f"talk: {_plural(done.turns, 'turn')} {'would come' if said else 'came'}")
    if done.edited:
        say(f"changed by hand there: {_named(done.edited)}; that {said or 'was '}taken in")
    _print_pages(done, said)
    if done.files:
        pages = sum(map(is_page, done.files))
        went = [_plural(pages, "page")] if pages else []
        logs = len(done.files) - pages
        went += [_plural(logs, "file") + " of logs"] if logs else []
        say(f"{said}sent: {' and '.join(went)}")
    for sentence in done.left:
        say(f"left alone: {plain(sentence)}")
    where = plain(done.where)
    are = "would be" if said else "are" if done.is_nothing else "are now"
    if done.is_new:
        was = "did not exist" if done.was_missing else "was empty"
        say(
            f"{where} {'does not exist' if said and done.was_missing else 'is empty' if said else was}, and "
            f"{'would be' if said else 'is now'} a whole copy."
        )
    elif done.left:
        say(f"Apart from that, this memory and {where} {are} equal.")
    elif done.is_nothing:
        say(f"There is nothing to do: this memory and {where} are equal.")
    else:
        say(f"This memory and {where} {are} equal.")
