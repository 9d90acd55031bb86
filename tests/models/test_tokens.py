from __future__ import annotations

import base64
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from drawing import few
from forking import run_in_child
from growth import LINEAR, growth
from looseleaf.base.errors import Invalid
from looseleaf.models import tokens
from looseleaf.models.tokens import DEFAULT, VOCABULARIES, TokenCounts, at_most, estimate, load
from tables import check_rows

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)
"""With surrogates: a tool may return anything."""

CHANCE = random.Random(5)

PROSE = {
    "English": [
        "My sister called last night to say that the wedding has been moved to October.",
        "She asked whether I could still bring the cake, and I said yes, as long as somebody else drives.",
        "Please keep the functions small and name them after what they return.",
        "Every write has to be safe when the power fails, and a reader must never see half of a file.",
    ],
    "German": [
        "Gestern haben wir lange darüber gesprochen, wie die neue Wohnung eingerichtet werden soll.",
        "Meine Frau möchte ein großes Bücherregal, ich dagegen hätte lieber mehr Platz für die Fahrräder.",
        "Die Geschwindigkeitsbegrenzung auf der Bundesstraße wurde nach den Bauarbeiten aufgehoben.",
        "Bitte prüfe, ob die Datei vorhanden ist, bevor du sie öffnest.",
    ],
    "Chinese": [
        "今天下午我们开了一个很长的会，主要讨论下个季度的计划。",
        "大家一致认为应该先把登录页面修好，再考虑新的功能。",
        "请帮我写一段代码，读取 CSV 文件并按日期排序，然后把结果写到数据库里。",
        "我叫张三，住在上海，平时喜欢骑自行车和看电影。",
    ],
    "Japanese": [
        "今日は朝から雨が降っていたので、自転車ではなく電車で会社に行きました。",
        "昼休みに同僚と近くの定食屋で焼き魚を食べて、来週の出張について話しました。",
        "このプロジェクトでは、利用者が書いたメモをそのままファイルに保存します。",
        "設定ファイルの三行目を書き換えてから、もう一度コマンドを実行してみてください。",
    ],
    "Korean": [
        "어제는 친구와 함께 시장에 가서 과일과 채소를 샀습니다.",
        "다음 주에는 부산으로 출장을 갈 예정이라서 기차표를 미리 예매했습니다.",
    ],
}
MATERIAL = PROSE | {
    "code": [Path(file).read_text(encoding="utf-8") for file in (__file__, tokens.__file__)],
    "JSON": [
        json.dumps(
            [{"id": i, "name": f"item {i}", "tags": ["new", "sale"], "price": i * 1.25} for i in range(40)],
            indent=indent,
        )
        for indent in (None, 2)
    ],
    "base64": [base64.b64encode(CHANCE.randbytes(900)).decode("ascii") for _ in range(2)],
}
LONG = {
    "spaces": " ",
    "one letter": "a",
    "capitals": "A",
    "one emoji": "😀",
    "line ends": "\n",
    "Han": "汉",
    "rare characters": "𠀀",
    "dashes": "-",
    "marks": "\u0301",
    "indented lines": "        x\n",
    "words": "hello world, ",
}


def run(code: str, *arguments: str | Path, **options: object) -> str:
    """What a process of its own prints."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


# --- exact ---------------------------------------------------------------------------


def test_every_vocabulary_is_inside_the_package() -> None:
    def check(name: str) -> None:
        vocabulary = load(name)
        assert vocabulary is load(name)
        assert vocabulary.exact
        assert vocabulary.name == name
        assert vocabulary("") == 0
        assert vocabulary("hello world") in (2, 3)

    check_rows(check, VOCABULARIES)


def test_a_text_that_spells_a_control_token_is_only_text() -> None:
    assert load("o200k_base")("<|endoftext|>") > 3
    assert load("llama3")("<|begin_of_text|>") > 3
    assert load("gemma3")("<bos>") > 1


def test_half_a_surrogate_pair_counts_as_the_character_that_replaces_it() -> None:
    count = load()
    assert count("a \ud800 b") == count("a \ufffd b")
    assert count("\ud83d\ude00") == count("😀")


def test_an_unknown_vocabulary_is_refused() -> None:
    with pytest.raises(
        Invalid, match=r"^Nothing was counted: 'klingon' is not a vocabulary\. Use one of: cl100k_base, "
    ):
        load("klingon")


@settings(max_examples=few(200), deadline=None)
@given(ANY_TEXT)
@example("\u0fb9\u0fb9\u0344")
@example("\0")
@example("𠀀")
def test_no_vocabulary_gives_more_than_at_most(text: str) -> None:
    assert all(load(name)(text) <= at_most(text) for name in VOCABULARIES)


@pytest.mark.parametrize("name", ["o200k_base", "gemma3"])
@pytest.mark.parametrize("unit", LONG.values(), ids=LONG)
def test_a_long_text_takes_time_in_proportion(name: str, unit: str) -> None:
    count = load(name)
    count(unit * 5_000)  # tables that are made at the first long text

    def work(size: int) -> Callable[[], int]:
        text = unit * (size // len(unit))
        return lambda: count(text)

    assert growth(work, 5_000) < LINEAR


def test_a_text_in_pieces_counts_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    count = load()
    lines = "\n".join(PROSE["English"] * 20)
    long = ["a" * 10_000, " " * 10_000, "汉字" * 5_000, "x" + "\n" * 10_000, MATERIAL["base64"][0] * 10]
    whole = [count(text) for text in long]
    exact = count(lines)
    monkeypatch.setattr(tokens, "_PIECE", 1000)
    assert count(lines) == exact
    for text, least in zip(long, whole, strict=True):
        assert least <= count(text) <= least + 2 * len(text) // 1000


@given(st.text("a\n", max_size=60))
def test_the_pieces_are_the_text(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_PIECE", 7)
        pieces = list(tokens._pieces(text))
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 7
    assert len(pieces) <= len(text) // 3 + 1


WITHOUT = """
import sys
from looseleaf.models.tokens import TokenCounts, estimate, load
text = "nothing to count with"
count, counts = load(), TokenCounts(sys.argv[1])
print(count.exact, count(text) == estimate(text), counts.count([text]) == [estimate(text)], counts.exact)
"""


@pytest.mark.parametrize(
    "trouble", ["raise ImportError", "class Tokenizer: from_pretrained = staticmethod(int)"]
)
def test_without_the_package_counts_are_guesses_and_say_so(tmp_path: Path, trouble: str) -> None:
    (tmp_path / "splintr.py").write_text(trouble)  # missing; or one that knows no such vocabulary
    path = tmp_path / "tokens.sqlite"
    printed = run(WITHOUT, path, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert printed == "False True True False\n"
    assert not path.exists()


# --- a guess -------------------------------------------------------------------------


def test_a_guess_is_near_and_not_too_low() -> None:
    def check(kind: str) -> None:
        guessed = sum(map(estimate, MATERIAL[kind]))
        exact = sum(map(load(), MATERIAL[kind]))
        assert 1.0 <= guessed / exact < 1.35

    check_rows(check, MATERIAL)


def test_on_the_whole_a_guess_is_within_a_fifth() -> None:
    ratios = [sum(map(estimate, texts)) / sum(map(load(), texts)) for texts in MATERIAL.values()]
    assert 1.0 < sum(ratios) / len(ratios) < 1.2


def test_a_guess_at_a_monotonous_text_is_not_far_too_low() -> None:
    def check(unit: str) -> None:
        text = unit * 20_000
        assert estimate(text) > 0.75 * load()(text)

    check_rows(check, LONG.values())


@given(ANY_TEXT, ANY_TEXT)
def test_a_guess_adds_up(before: str, behind: str) -> None:
    together = estimate(before + behind)
    assert (together > 0) == bool(before + behind)
    assert max(estimate(before), estimate(behind)) <= together + 2
    assert together <= estimate(before) + estimate(behind) + 2


@pytest.mark.parametrize("measure", [estimate, at_most])
@pytest.mark.parametrize("unit", ["word ", "汉字", "क़", "A1-\n "])
def test_a_guess_takes_time_in_proportion(measure: Callable[[str], int], unit: str) -> None:
    def work(size: int) -> Callable[[], int]:
        text = unit * (size // len(unit))
        return lambda: measure(text)

    assert growth(work, 20_000) < LINEAR


# --- counts that stay ----------------------------------------------------------------

TEXTS = [*PROSE["English"], *PROSE["Chinese"], "hi", "", *(f"message number {i}" for i in range(30))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """As in a memory that has no views yet."""
    return tmp_path / "views" / "tokens.sqlite"


def exactly(texts: list[str]) -> list[int]:
    return [load()(text) for text in texts]


def stored(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("SELECT count(*) FROM counts").fetchone()[0])
    finally:
        connection.close()


def unloadable(_: str) -> tokens.TokenCounter:
    raise AssertionError("everything is in the view")


def all_in_view(path: Path, texts: list[str]) -> bool:
    try:
        return TokenCounts(str(path), loader=unloadable).count(texts) == exactly(texts)
    except AssertionError:
        return False


@settings(max_examples=few(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(ANY_TEXT, max_size=6), max_size=4), st.booleans())
def test_counts_are_those_of_the_vocabulary(tmp_path: Path, calls: list[list[str]], with_view: bool) -> None:
    path = str(tmp_path / "tokens.sqlite") if with_view else None
    shared = TokenCounts(path)
    for texts in calls:
        for counts in (shared, TokenCounts(path)):
            assert counts.count(texts) == exactly(texts)
            assert counts.exact
    shared.close()
    assert [shared.count(texts) for texts in calls] == [exactly(texts) for texts in calls]


READ = """
import json, sys
from looseleaf.models.tokens import TokenCounts
counts = TokenCounts(sys.argv[1])
got = counts.count(json.load(sys.stdin), quick=len(sys.argv) > 2)
print(json.dumps([got, counts.exact, "splintr" in sys.modules]))
"""


def test_a_process_that_finds_all_counts_in_the_view_loads_no_vocabulary(path: Path) -> None:
    TokenCounts(str(path)).count(TEXTS)
    printed = run(READ, path, input=json.dumps(TEXTS))
    assert json.loads(printed) == [exactly(TEXTS), True, False]


def test_a_quick_process_guesses_and_the_next_exact_one_fills_in(path: Path) -> None:
    TokenCounts(str(path)).count(TEXTS[:2])
    before = path.read_bytes()
    printed = run(READ, path, "quick", input=json.dumps(TEXTS))
    assert json.loads(printed) == [[*exactly(TEXTS[:2]), *map(estimate, TEXTS[2:])], False, False]
    assert path.read_bytes() == before
    counts = TokenCounts(str(path))
    counts.count(TEXTS, quick=True)
    assert counts.count(TEXTS) == exactly(TEXTS)
    assert counts.exact
    assert all_in_view(path, TEXTS)


def test_importing_the_modules_loads_nothing_dear() -> None:
    code = "import sys, looseleaf.models.tokens, looseleaf.models.model_table; print(*sys.modules)"
    unmeasured = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    loaded = set(run(code, env=unmeasured).split())
    assert "looseleaf.models.tokens" in loaded
    assert not {"splintr", "sqlite3", "hashlib", "re", "typing"} & loaded


def test_half_a_surrogate_pair_is_remembered_as_what_replaces_it(path: Path) -> None:
    TokenCounts(str(path)).count(["a tool said \ud800"])
    assert all_in_view(path, ["a tool said \ud800", "a tool said \ufffd"])


def test_the_view_is_private_and_stands_alone(path: Path) -> None:
    mask = os.umask(0)
    try:
        TokenCounts(str(path)).count(TEXTS)
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert os.listdir(path.parent) == [path.name]


def test_vocabularies_do_not_mix(path: Path) -> None:
    text = [PROSE["Japanese"][0]]
    for name in ("o200k_base", "cl100k_base", "llama2"):
        assert TokenCounts(str(path), name).count(text) == [load(name)(text[0])]
    assert stored(path) == 3
    assert TokenCounts(str(path), "llama2", loader=unloadable).count(text) == [load("llama2")(text[0])]


def test_a_counter_of_ones_own(path: Path) -> None:
    def words(_: str) -> Callable[[str], int]:
        return lambda text: len(text.split())

    assert TokenCounts(str(path), "words", loader=words).count(["a b c", "d"]) == [3, 1]
    assert TokenCounts(str(path), "words", loader=unloadable).count(["a b c", "d"]) == [3, 1]


@pytest.mark.parametrize("name", ["a?b#c%41 d&mode=memory", "ä 'quoted' \\ back", b"not utf-8 \xff"])
def test_any_path_will_do(tmp_path: Path, name: str | bytes) -> None:
    path = Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), os.fsencode(name))))
    TokenCounts(str(path)).count(TEXTS)
    assert os.listdir(tmp_path) == [path.name]
    assert all_in_view(path, TEXTS)


def test_the_process_remembers_a_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_REMEMBERED", 10)
    counts = TokenCounts(None)
    for start in range(0, 30, 3):
        counts.count(TEXTS[start : start + 3])
        assert 3 <= len(counts._known) <= 10


def test_a_view_that_has_grown_too_large_is_begun_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    TokenCounts(str(path)).count(TEXTS)
    monkeypatch.setattr(tokens, "_LARGEST", 1)
    assert TokenCounts(str(path)).count([*TEXTS, "one more"]) == exactly([*TEXTS, "one more"])
    assert stored(path) == 1


def test_many_texts_take_time_in_proportion(path: Path) -> None:
    texts = [f"message number {i}" for i in range(16 * 100)]
    TokenCounts(str(path)).count(texts)
    assert (
        growth(lambda size: lambda: TokenCounts(str(path), loader=unloadable).count(texts[:size]), 100)
        < LINEAR
    )


# --- what can happen to a file -------------------------------------------------------


def test_the_view_may_be_deleted_in_use(path: Path) -> None:
    counts = TokenCounts(str(path))
    counts.count(TEXTS[:5])
    path.unlink()
    assert counts.count(TEXTS[:10]) == exactly(TEXTS[:10])
    assert stored(path) == 5
    path.unlink()
    path.parent.rmdir()
    assert counts.count(TEXTS) == exactly(TEXTS)
    assert all_in_view(path, TEXTS[10:])


def test_a_deleted_memory_is_not_made_again(path: Path) -> None:
    gone = path.parent / "memory" / "views" / "tokens.sqlite"
    assert TokenCounts(str(gone)).count(TEXTS) == exactly(TEXTS)
    assert not path.parent.exists()


@settings(max_examples=few(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_view_never_gives_a_wrong_count(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "tokens.sqlite"
    path.unlink(missing_ok=True)
    TokenCounts(str(path)).count(TEXTS)
    content = bytearray(path.read_bytes())
    content = content[: data.draw(st.sampled_from([len(content), len(content), 4096, 100, 50, 0]))]
    for _ in range(data.draw(st.integers(1, 8)) if content else 0):
        start = data.draw(st.integers(0, len(content) - 1))
        new = data.draw(st.binary(min_size=1, max_size=40))
        content[start : start + len(new)] = new
    path.write_bytes(content)
    for _ in range(2):
        assert TokenCounts(str(path)).count(TEXTS) == exactly(TEXTS)


@pytest.mark.parametrize("content", [b"", b"not a database", bytes(8192), b"SQLite format 3\0" + bytes(5000)])
def test_a_damaged_view_is_replaced(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert TokenCounts(str(path)).count(TEXTS) == exactly(TEXTS)
    assert all_in_view(path, TEXTS)


@pytest.mark.parametrize("word", [b"CREATE", b"counts", b"ROWID"])
def test_a_schema_that_is_no_text_is_damage(path: Path, word: bytes) -> None:
    TokenCounts(str(path)).count(TEXTS)
    content = path.read_bytes()
    assert word in content
    path.write_bytes(content.replace(word, b"\x80" + word[1:]))
    assert TokenCounts(str(path)).count(TEXTS) == exactly(TEXTS)
    assert all_in_view(path, TEXTS)


def test_damage_that_only_a_write_meets_is_replaced(path: Path) -> None:
    TokenCounts(str(path)).count([f"text {i}" for i in range(2000)])
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))  # the tree's leaves, below its root
    view = tokens._View(str(path), DEFAULT)
    view.write({bytes(16): 7})
    assert view.read([bytes(16)]) == {bytes(16): 7}
    assert stored(path) == 1


@pytest.mark.parametrize("value", ["tokens + 1", "NULL", "'7'", "-7"])
def test_a_number_that_was_changed_is_not_believed(path: Path, value: str) -> None:
    TokenCounts(str(path)).count(TEXTS)
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE counts SET tokens = {value}")
    connection.commit()
    connection.close()
    assert not all_in_view(path, TEXTS)
    assert TokenCounts(str(path)).count(TEXTS) == exactly(TEXTS)
    assert all_in_view(path, TEXTS)


def test_a_foreign_database_is_left_alone(tmp_path: Path) -> None:
    def check(schema: str, mode: str) -> None:
        path = Path(mkdtemp(dir=tmp_path)) / "views" / "tokens.sqlite"
        path.parent.mkdir()
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute(schema)
        connection.close()
        before = path.read_bytes()
        assert TokenCounts(str(path)).count(TEXTS) == exactly(TEXTS)
        assert path.read_bytes() == before

    check_rows(
        check,
        [
            (schema, mode)
            for mode in ["delete", "wal"]
            for schema in [
                "CREATE TABLE mine (x)",
                "CREATE VIEW counts AS SELECT 1 AS vocabulary, 2 AS text, 3 AS tokens",
            ]
        ],
    )


def folder_at(path: Path) -> None:
    path.mkdir()


def pipe_at(path: Path) -> None:
    os.mkfifo(path)


def link_at(path: Path) -> None:
    other = path.with_name("other")
    other.touch()
    path.symlink_to(other)


def dangling_link_at(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


@pytest.mark.parametrize("make", [folder_at, pipe_at, link_at, dangling_link_at])
def test_what_is_no_file_is_neither_followed_nor_replaced(path: Path, make: Callable[[Path], None]) -> None:
    path.parent.mkdir()
    make(path)
    before = {name: os.lstat(path.parent / name) for name in os.listdir(path.parent)}
    assert TokenCounts(str(path)).count(TEXTS) == exactly(TEXTS)
    assert {name: os.lstat(path.parent / name) for name in os.listdir(path.parent)} == before


def test_a_folder_that_is_a_link_is_not_followed(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere"
    elsewhere.mkdir()
    path.parent.symlink_to(elsewhere)
    assert TokenCounts(str(path)).count(TEXTS) == exactly(TEXTS)
    assert os.listdir(elsewhere) == []


NOBODY = 65534


@pytest.fixture
def ours() -> Iterator[Path]:
    """A folder of somebody whom file permissions bind, and we are that: root writes everything."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if os.geteuid() == 0:
            if not all(parent.stat().st_mode & 0o001 for parent in folder.parents):
                pytest.skip("root's temporary folder may be entered by nobody else")
            os.chown(folder, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        yield folder
        os.seteuid(os.getuid())


@pytest.mark.parametrize("damaged", [False, True])
def test_a_read_only_view_is_read_and_not_written(ours: Path, damaged: bool) -> None:
    path = ours / "tokens.sqlite"
    TokenCounts(str(path)).count(TEXTS[:10])
    if damaged:
        path.write_bytes(b"no database")
    before = path.read_bytes()
    path.chmod(0o400)
    ours.chmod(0o500)
    with pytest.raises(PermissionError):
        path.write_bytes(b"")
    assert all_in_view(path, TEXTS[:10]) is not damaged
    assert TokenCounts(str(path)).count(TEXTS) == exactly(TEXTS)
    assert TokenCounts(str(ours / "missing.sqlite")).count(TEXTS) == exactly(TEXTS)
    assert path.read_bytes() == before
    assert os.listdir(ours) == [path.name]
    path.chmod(0)
    assert TokenCounts(str(path)).count(TEXTS) == exactly(TEXTS)
    ours.chmod(0)
    assert TokenCounts(str(path)).count(TEXTS) == exactly(TEXTS)


def test_a_locked_view_is_not_waited_for(path: Path) -> None:
    TokenCounts(str(path)).count(TEXTS[:3])
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert TokenCounts(str(path)).count(TEXTS) == exactly(TEXTS)
    holder.execute("ROLLBACK")
    holder.execute("BEGIN IMMEDIATE")  # others may read, and not write
    assert TokenCounts(str(path)).count(TEXTS) == exactly(TEXTS)
    holder.close()
    assert stored(path) == 3
    TokenCounts(str(path)).count(TEXTS)
    assert all_in_view(path, TEXTS)


# --- several at once -----------------------------------------------------------------

WORK = """
import sys
from looseleaf.models.tokens import TokenCounts, load
path, name = sys.argv[1:]
texts = [f"shared {i}" for i in range(60)] + [f"{name} {i}" for i in range(60)]
exact = [load()(text) for text in texts]
sys.stdin.readline()
for start in range(0, 120, 6):
    counts = TokenCounts(path)
    assert counts.count(texts[start:start + 6]) == exact[start:start + 6] and counts.exact
"""


def test_several_processes_write_at_once(path: Path) -> None:
    command = [sys.executable, "-c", WORK, str(path)]
    writers = [
        subprocess.Popen([*command, f"writer {n}"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for n in range(4)
    ]
    failed = [writer.communicate(b"go\n")[1] for writer in writers]
    assert failed == [b""] * 4
    assert [writer.returncode for writer in writers] == [0] * 4
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    shared = [f"shared {i}" for i in range(60)]
    TokenCounts(str(path)).count(shared)  # on a slow disk all four may have given one up
    assert all_in_view(path, shared)


def test_several_threads_count_at_once(path: Path) -> None:
    shared = TokenCounts(str(path))
    wrong: list[object] = []
    barrier = threading.Barrier(8)

    def work(n: int) -> None:
        texts = [f"shared {i}" for i in range(20)] + [f"thread {n} {i}" for i in range(20)]
        barrier.wait()
        for counts in (shared, TokenCounts(str(path)), shared):
            for start in range(0, 40, 8):
                some = texts[start : start + 8]
                if (got := counts.count(some)) != exactly(some):
                    wrong.append((n, start, got))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert stored(path) == 20 + 8 * 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("children", [5, pytest.param(25, marks=pytest.mark.long)])
def test_children_of_a_busy_process_count_on(path: Path, children: int) -> None:
    """Forked while another thread is in the tokenizer or in SQLite, a child must not wait for a lock it inherited."""
    stop = threading.Event()

    def busy() -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            TokenCounts(str(path)).count([f"busy {turn} " + "x" * 20_000])

    thread = threading.Thread(target=busy)
    thread.start()
    inherited = TokenCounts(str(path))
    inherited.count(TEXTS[:3])

    def count_on(text: str) -> None:
        texts = [*TEXTS, text]
        assert inherited.count(texts) == exactly(texts) == TokenCounts(str(path)).count(texts)

    try:
        for child in range(children):
            assert run_in_child(partial(count_on, f"child {child} " + "y" * 20_000)) == 0
    finally:
        stop.set()
        thread.join()
    assert all_in_view(path, TEXTS)
