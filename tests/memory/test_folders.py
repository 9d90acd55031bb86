"""Small broken memories, a folder per failure: what `check` says of each, what can still be read, what `repair` does.

`folders/<failure>/memory` is the memory as it was found, `transcript.txt` what the commands say of it. For a new one,
make the folder, run the tests, and read the transcript that was written. Ids and times that are new in each run stand
there as `<new>` and `<now>`.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from looseleaf.cli.main import main

FOLDERS = Path(__file__).parents[1] / "folders"
NAMES = sorted(path.name for path in FOLDERS.iterdir() if path.is_dir())
COMMANDS = (["check"], ["log"], ["show", "USER.md"], ["repair"], ["check"], ["log"], ["repair"])
ID = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")
NEW_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?=  <new>)")


@pytest.fixture
def found(request: pytest.FixtureRequest, place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of a broken memory, with a file beside it."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    shutil.copytree(FOLDERS / request.param / "memory", place / "memory")
    (place / "outside.md").write_text("secret\n")
    long_ago = time.time() - 3600
    for path in (place / "memory").rglob("*"):
        os.utime(path, (long_ago, long_ago))
    yield place / "memory"
    monkeypatch.undo()
    time.tzset()


def run(memory: Path, capfd: pytest.CaptureFixture[str], arguments: list[str]) -> tuple[int, str]:
    code = main(["--memory", str(memory), *arguments])
    out, err = capfd.readouterr()
    return code, out + err


def files(memory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(memory)): path.read_bytes()
        for path in sorted(memory.rglob("*"))
        if path.is_file() and "views" not in path.parts
    }


def ids(memory: Path) -> set[str]:
    named = {found for name in files(memory) for found in ID.findall(name)}
    return named | {
        found.decode() for data in files(memory).values() for found in re.findall(rb"\b01JP\w{22}\b", data)
    }


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("found", "name"), [(name, name) for name in NAMES], indirect=["found"], ids=NAMES)
def test_a_broken_memory_is_read_and_mended_as_its_transcript_says(
    found: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    known = ids(found)
    before = files(found)
    said = ""
    for arguments in COMMANDS:
        code, output = run(found, capfd, arguments)
        if arguments == ["check"] and not said:
            assert files(found) == before, "check changes nothing"
        output = ID.sub(lambda match: match[0] if match[0] in known else "<new>", output)
        output = NEW_TIME.sub("<now>", output).replace(f"`looseleaf --memory {found}", "`looseleaf")
        output = output.replace(str(found), "<memory>")
        said += (
            f"$ looseleaf {' '.join(arguments)}\n{output}" + (f"[exit code {code}]\n" if code else "") + "\n"
        )
    assert (found.parent / "outside.md").read_text() == "secret\n"
    transcript = FOLDERS / name / "transcript.txt"
    if not transcript.exists():
        transcript.write_text(said)
        pytest.fail(f"{transcript} was not there; it is now. Read it, and run the tests again.")
    assert said == transcript.read_text()


@pytest.mark.sampled(10)
@pytest.mark.parametrize("found", NAMES, indirect=True)
def test_repair_keeps_every_byte_and_mends_once(found: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = files(found)
    code, _ = run(found, capfd, ["repair"])
    after = files(found)
    for name, data in before.items():
        now = after.get(name, b"")
        # What a staged file or a page held is in the journal; a log file is whole, longer, kept aside, or cut with its
        # end kept aside.
        if name.startswith("log/") and not name.startswith("log/staged/") and not now.startswith(data):
            ends = [
                each for path, each in after.items() if path.startswith("log/aside/") and data.endswith(each)
            ]
            assert any(each == data or now.startswith(data[: -len(each)]) for each in ends), name
    again, said = run(found, capfd, ["repair"])
    assert again == code
    assert code == 2 or said.startswith(("Nothing to repair.\n", "Nothing could be repaired.\n"))
    assert files(found) == after


def test_every_folder_has_a_transcript_and_nothing_else() -> None:
    for name in NAMES:
        assert sorted(path.name for path in (FOLDERS / name).iterdir()) == ["memory", "transcript.txt"]
    assert len(NAMES) >= 30
