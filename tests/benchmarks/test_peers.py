"""The comparison is fair and notices: adapters really speak, losses are counted, and a peer that fails stops nobody."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from benchmarks.peers import environments, measure, shown, talking, vectors, wire, words
from benchmarks.peers.catalog import ENTRIES, Entry
from benchmarks.peers.environments import Environment, NotThere, environment, interpreter
from benchmarks.peers.environments import run as run_program
from benchmarks.peers.measure import Bench, Side, Work
from benchmarks.peers.talking import Failed, Talking
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
TEXTS = ["The cat sat on the mat.", "A dog ran home to Lyon.", "Zwölf Boxkämpfer jagen Viktor."]
HERE = Environment(home="", python=sys.executable, version="1", bytes=0)
ENTRY = {entry.name: entry for entry in ENTRIES}

PLANTED = """
import json, os, sys
sys.path.insert(0, {root!r})
from benchmarks.peers.wire import Peer, serve

class Planted(Peer):
    def __init__(self, folder, vectors):
        self.path = folder + "/all.json"
        self.held = self.read()
    def read(self):
        return json.load(open(self.path)) if os.path.exists(self.path) else []
    def add(self, text):
        {add}
    def all(self):
        return self.read()
    def search(self, query, k):
        {search}

serve(Planted)
"""
KEEPS = "self.held = [*self.read(), text]; json.dump(self.held, open(self.path, 'w'))"
OVERWRITES = (
    "self.held.append(text); own = f'{self.path}.{os.getpid()}'; "
    "file = open(own, 'w'); json.dump(self.held, file); file.close(); os.replace(own, self.path)"
)


class Planted(Environment):
    """An adapter that lies elsewhere."""

    def command(self, adapter: str) -> list[str]:
        return [self.python, "-P", adapter]


def planted(folder: Path, add: str = KEEPS, search: str = "return self.held[:k]") -> Side:
    path = folder / "planted.py"
    path.write_text(PLANTED.format(root=str(ROOT), add=add, search=search))
    entry = Entry("planted", "planted", str(path))
    return Side(entry, Planted(home="", python=sys.executable, version="1", bytes=0))


# --- adapters ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fts5", "looseleaf"])
def test_an_adapter_keeps_finds_and_reads_again_what_it_was_given(name: str, tmp_path: Path) -> None:
    talk = Talking(HERE, name, tmp_path / name, tmp_path / "none")
    told = talk.ask("add", texts=TEXTS)
    assert told["kept"] == TEXTS
    assert len(told["took"]) == 3
    assert all(seconds > 0 for seconds in told["took"])
    found = talk.ask("search", query="Who ran home to Lyon?", k=2)
    assert found["texts"][0] == TEXTS[1]
    assert len(found["texts"]) <= 2
    assert talk.ask("rss")["bytes"] > 1_000_000
    assert talk.ask("size")["bytes"] > 0
    talk.close()
    again = Talking(HERE, name, tmp_path / name, tmp_path / "none")
    assert sorted(again.ask("all")["texts"]) == sorted(TEXTS)
    again.close()


def test_one_question_is_answered_by_a_process_of_its_own(tmp_path: Path) -> None:
    side = Side(ENTRY["fts5"], HERE)
    bench = Bench([side], tmp_path, Work(items=3, more=3, questions=1, cold=1))
    opened = bench._opened([side])
    bench._add(opened, bench.texts, 3, "add")
    opened["fts5"].close()
    bench.cold()
    assert side.failed == ""
    assert len(side.figures["cold"]) == 1


def test_every_peer_has_an_adapter_that_serves_and_a_note() -> None:
    for entry in ENTRIES:
        text = (ROOT / f"benchmarks/peers/{entry.adapter}.py").read_text()
        assert "serve(" in text, entry.name
        assert entry.note
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)


def test_what_a_library_prints_is_no_answer(tmp_path: Path) -> None:
    side = planted(tmp_path, add="print('hello'); os.write(1, b'there'); " + KEEPS)
    talk = side.start(tmp_path / "memory", tmp_path / "none")
    assert talk.ask("add", texts=["a"])["kept"] == ["a"]
    talk.close()
    assert "hello" in (tmp_path / "memory.err").read_text()


# --- failing ---------------------------------------------------------------------------------------


def test_a_refused_text_is_not_acknowledged(tmp_path: Path) -> None:
    side = planted(tmp_path, add="raise ValueError('no room')")
    talk = side.start(tmp_path / "memory", tmp_path / "none")
    told = talk.ask("add", texts=["a", "b"])
    assert (told["kept"], told["took"]) == ([], [])
    assert told["refused"] == ["ValueError: no room"] * 2
    talk.close()


def test_a_peer_that_fails_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    bad = planted(tmp_path, search="raise ValueError('it is broken')")
    good = Side(ENTRY["fts5"], HERE)
    bench = Bench([bad, good], tmp_path, Work(items=4, more=4, questions=2))
    bench.warm()
    assert bad.failed == "ValueError: it is broken"
    assert good.failed == ""
    assert len(good.figures["ask"]) == 2
    assert measure.going([bad, good]) == [good]


def test_a_peer_that_ends_or_hangs_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = planted(tmp_path, add="os._exit(3)")
    talk = ends.start(tmp_path / "memory", tmp_path / "none")
    with pytest.raises(Failed, match="it ended"):
        talk.ask("add", texts=["a"])
    hangs = planted(tmp_path, add="sys.stdin.read()")
    talk = hangs.start(tmp_path / "memory", tmp_path / "none")
    monkeypatch.setattr(talking, "PATIENCE", 0.2)
    with pytest.raises(Failed, match="no answer"):
        talk.ask("add", texts=["a"])
    with pytest.raises(Failed):
        talk.ask("all")


def test_the_paths_of_this_machine_are_not_told() -> None:
    told = str(Failed("Storage folder /srv/a/.bench-x/b is locked, see https://a.org/b and 3/4"))
    assert told == "Storage folder … is locked, see https://a.org/b and 3/4"
    assert "/srv" not in talking.without_paths("RuntimeError: '/srv/main/x.py' and (/srv/y)")


def test_what_cannot_be_installed_is_skipped_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "pythons", lambda: [sys.executable, "python-that-is-not-there"])
    assert interpreter(Entry("x", "x", "x")) == sys.executable
    with pytest.raises(NotThere, match=r"no Python 9\.9 whose SQLite loads extensions"):
        interpreter(Entry("x", "x", "x", least=(9, 9), loads_extensions=True))
    with pytest.raises(NotThere, match="could not be installed: error: it is gone"):
        run_program([sys.executable, "-c", "import sys; sys.exit('error: it is gone')"])
    with pytest.raises(NotThere):
        run_program([str(tmp_path / "no-program")])


def test_an_environment_that_was_made_is_taken_again(tmp_path: Path) -> None:
    made = environment(ENTRY["fts5"], tmp_path)
    stamp = tmp_path / "fts5/installed.json"
    before = stamp.stat().st_mtime_ns
    assert environment(ENTRY["fts5"], tmp_path) == made
    assert stamp.stat().st_mtime_ns == before
    assert "SQLite" in made.version
    assert "PYTHONDONTWRITEBYTECODE" not in made.variables()


# --- losing ----------------------------------------------------------------------------------------


def test_texts_that_were_acknowledged_and_overwritten_are_counted_as_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "SETTLE", 0.0)
    side = planted(tmp_path, add=OVERWRITES)
    bench = Bench([side], tmp_path, Work(items=16, more=16, written=16))
    bench.at_once()
    told = side.figures["at_once"]
    assert (told["asked"], told["kept"], told["opened"]) == (16, 16, 4)
    assert told["lost"] >= 12  # each writer has only its own four


def test_a_store_that_locks_loses_nothing(tmp_path: Path) -> None:
    side = Side(ENTRY["fts5"], HERE)
    Bench([side], tmp_path, Work(items=16, more=16, written=16)).at_once()
    assert side.figures["at_once"] == {"asked": 16, "kept": 16, "lost": 0, "opened": 4, "refused": ""}


def test_syncs_are_counted_as_the_system_sees_them(tmp_path: Path) -> None:
    if which("strace") is None:
        pytest.skip("strace is not here")
    careless = planted(tmp_path)
    sides = [Side(ENTRY["fts5"], HERE), careless]
    Bench(sides, tmp_path, Work(items=8, more=8, synced=3)).synced()
    assert sides[0].figures["syncs"] >= 1
    assert careless.figures["syncs"] == 0


# --- what they are given -----------------------------------------------------------------------------


@given(st.lists(st.text(max_size=30), min_size=1, max_size=20, unique=True))
def test_a_vector_is_found_by_its_text_and_no_other(texts: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors"
        made = vectors.of_chance(texts)
        vectors.write(path, made)
        known = wire.Vectors(str(path))
        for text in texts:
            assert known(text) == pytest.approx(made[text], rel=1e-6)
            assert sum(number * number for number in known(text)) == pytest.approx(1, rel=1e-4)
        with pytest.raises(LookupError):
            known("".join(texts) + "?")


def test_a_question_is_asked_by_its_telling_words() -> None:
    assert words.telling("Where did the dog run to, the dog?") == ["dog", "run"]
    assert words.telling("What is it?") == ["what", "is", "it"]
    assert words.by_words("Where is the dog in Lyon?", [*TEXTS, TEXTS[0]], 2)[0] == TEXTS[1]


def test_everybody_is_told_the_same_line() -> None:
    assert measure._shown("2023-05-08 Ann: one\ntwo  three") == "2023-05-08 Ann: one two three"


# --- what is told --------------------------------------------------------------------------------------


def told(**figures: Any) -> dict[str, Any]:
    side = Side(ENTRY["chromadb"], HERE, figures)
    ours = Side(ENTRY["looseleaf"], HERE, {"ask": [0.001, 0.002, 0.004]})
    return shown.summed(side, [ours, side])


def test_times_are_told_against_ours_that_ran_next_to_them() -> None:
    made = told(ask=[0.010, 0.010, 0.010])
    assert made["figures"]["ask"] == {"ms": 10.0, "looseleaf": 5.0}
    work = {"items": 3, "more": 9, "questions": 3, "cold": 1, "written": 8, "writers": 4}
    result = {"work": work, "peers": [made], "left_out": {}}
    row = shown.against_ours(result).splitlines()[-1]
    assert row.startswith("| chromadb | – | – | 5.00ᵛ (10.0 ms) | – |")
    assert "chromadb 1" in shown.notes(result)


def test_losses_and_refusals_are_told_apart() -> None:
    at_once = {"asked": 16, "kept": 10, "lost": 2, "opened": 3, "refused": "locked"}
    made = told(at_once=at_once)
    assert shown._lost(made) == "2 (6 refused)"
    assert "With 3 of 4 writers open it refused 6 texts (locked)." in shown._refusals(made)
