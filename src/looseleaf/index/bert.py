"""A small BERT in numpy: turns texts into normalized vectors, without torch or another runtime.

A text is split into tokens as BERT was trained: lower case, no accents, words, and the longest pieces of words in the
vocabulary. Nothing in a text is a command: `[SEP]` in it is a bracket, a word and a bracket.

The weights stay mapped in their safetensors file, so that embedding one question reads little more than the rows of its
words. Texts are laid end to end instead of padded to one length: every product except attention covers all their tokens
at once, and none covers padding.
"""

from __future__ import annotations

import re
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from looseleaf.index.nearest import Matrix


_TOKENS = 2048
"""Tokens in one batch: more is hardly faster, and takes memory."""


class Bert:
    """A model from its weights and its `config.json`. Raises ValueError or KeyError for any other file."""

    def __init__(self, weights: str, config: dict[str, Any]) -> None:
        self._weights = _map_weights(weights)
        self._layers: int = config["num_hidden_layers"]
        self._heads: int = config["num_attention_heads"]
        self._epsilon: float = config["layer_norm_eps"]
        self._words = self._weights["embeddings.word_embeddings.weight"]
        self.dimensions = int(self._words.shape[1])
        for layer in range(self._layers):  # KeyError if the weights do not match the config
            self._weights[f"encoder.layer.{layer}.output.LayerNorm.bias"]

    def __call__(self, texts: Sequence[Sequence[int]]) -> Matrix:
        """Return a row for each text, given as its tokens (at least one)."""
        import numpy

        rows = numpy.empty((len(texts), self.dimensions), dtype=numpy.float32)
        # Texts of equal length share their attention.
        order = sorted(range(len(texts)), key=lambda each: len(texts[each]))
        while order:
            count, total = 0, 0
            while count < len(order) and (not count or total + len(texts[order[count]]) <= _TOKENS):
                total += len(texts[order[count]])
                count += 1
            some, order = order[:count], order[count:]
            rows[some] = self._run([texts[each] for each in some])
        return rows

    def _run(self, texts: list[Sequence[int]]) -> Matrix:
        import numpy

        lengths = numpy.array([len(text) for text in texts])
        starts = numpy.cumsum(lengths) - lengths
        tokens = numpy.concatenate([numpy.asarray(text) for text in texts])
        positions = numpy.arange(len(tokens)) - numpy.repeat(starts, lengths)
        weights = self._weights
        flow = self._words[tokens] + weights["embeddings.position_embeddings.weight"][positions]
        flow += weights["embeddings.token_type_embeddings.weight"][0]
        flow = self._normalize(flow, "embeddings.LayerNorm")
        for layer in range(self._layers):
            flow = self._run_layer(layer, flow, lengths)
        means = numpy.add.reduceat(flow, starts, axis=0) / lengths[:, None]
        return (means / numpy.linalg.norm(means, axis=1, keepdims=True)).astype(numpy.float32)

    def _run_layer(self, layer: int, flow: Matrix, lengths: Matrix) -> Matrix:
        name = f"encoder.layer.{layer}"
        parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        query, key, value = (self._apply_dense(flow, part) for part in parts)
        query *= (self.dimensions // self._heads) ** -0.5
        seen = self._apply_dense(self._attend(query, key, value, lengths), f"{name}.attention.output.dense")
        flow = self._normalize(seen + flow, f"{name}.attention.output.LayerNorm")
        inner = _gelu(self._apply_dense(flow, f"{name}.intermediate.dense"))
        outer = self._apply_dense(inner, f"{name}.output.dense") + flow
        return self._normalize(outer, f"{name}.output.LayerNorm")

    def _attend(self, query: Matrix, key: Matrix, value: Matrix, lengths: Matrix) -> Matrix:
        """Let each token attend to the tokens of its own text; do texts of equal length together."""
        import numpy

        seen = numpy.empty_like(query)
        start = 0
        for length, count in zip(*numpy.unique(lengths, return_counts=True), strict=True):  # sorted
            end = start + length * count
            asks, answers, gives = (
                part[start:end].reshape(count, length, self._heads, -1).transpose(0, 2, 1, 3)
                for part in (query, key, value)
            )
            weight = asks @ answers.transpose(0, 1, 3, 2)
            weight -= weight.max(axis=-1, keepdims=True)
            numpy.exp(weight, out=weight)
            weight /= weight.sum(axis=-1, keepdims=True)
            seen[start:end] = (weight @ gives).transpose(0, 2, 1, 3).reshape(end - start, -1)
            start = end
        return seen

    def _apply_dense(self, flow: Matrix, name: str) -> Matrix:
        out = flow @ self._weights[f"{name}.weight"].T
        out += self._weights[f"{name}.bias"]
        return out

    def _normalize(self, flow: Matrix, name: str) -> Matrix:
        import numpy

        flow -= flow.mean(axis=1, keepdims=True)
        spread = numpy.einsum("ij,ij->i", flow, flow) / flow.shape[1]
        flow /= numpy.sqrt(spread + self._epsilon)[:, None]
        flow *= self._weights[f"{name}.weight"]
        flow += self._weights[f"{name}.bias"]
        return flow


def _gelu(flow: Matrix) -> Matrix:
    """Return GELU in its tanh form: numpy has no erf, and the two differ by less than a thousandth."""
    import numpy

    inner = flow * flow
    inner *= 0.044715 * 0.7978845608
    inner += 0.7978845608
    inner *= flow
    numpy.tanh(inner, out=inner)
    inner += 1
    inner *= flow
    inner *= 0.5
    return inner


def _map_weights(path: str) -> dict[str, Matrix]:
    """Map the arrays of a safetensors file: a length, a JSON object of names, types and offsets, then the bytes."""
    import json

    import numpy

    data = numpy.memmap(path, dtype=numpy.uint8, mode="r")
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    if not 8 < start <= len(data):
        raise ValueError("its beginning is damaged")
    arrays = {}
    for name, entry in json.loads(data[8:start].tobytes()).items():
        if entry.get("dtype") == "F32":
            first, end = entry["data_offsets"]
            arrays[name] = numpy.asarray(
                data[start + first : start + end].view("<f4").reshape(entry["shape"])
            )
    return arrays


# --- tokens -----------------------------------------------------------------------------

_LONGEST_WORD = 100
_CONTROLS = {each: None for each in (*range(32), 127) if each not in b"\t\n\r"}
_IDEOGRAPHS = (
    "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f"
)


class WordPiece:
    """A vocabulary, from a file with a piece on each line; the line's number is its token. Raises KeyError if the file
    lacks the tokens that begin and end a text."""

    def __init__(self, vocabulary: str) -> None:
        with open(vocabulary, encoding="utf-8", newline="\n") as file:
            self._tokens = {piece: number for number, piece in enumerate(file.read().split("\n"))}
        self._begin, self._end, self._unknown = (self._tokens[each] for each in ("[CLS]", "[SEP]", "[UNK]"))

    def __call__(self, text: str, most: int) -> list[int]:
        """Return at most `most` tokens, including the two that begin and end the text."""
        tokens = [self._begin]
        for word in _split_words(text):
            token = self._tokens.get(word)
            tokens += self._split_word(word) if token is None else (token,)
            if len(tokens) >= most:
                break
        return [*tokens[: most - 1], self._end]

    def _split_word(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                token = self._tokens.get(("##" if start else "") + word[start:end])
                if token is not None:
                    break
            else:
                return [self._unknown]
            pieces.append(token)
            start = end
        return pieces


def _split_words(text: str) -> Iterator[str]:
    in_ascii, ideograph = _patterns()
    if text.isascii():
        yield from (found[0] for found in in_ascii.finditer(text.translate(_CONTROLS).lower()))
        return
    from unicodedata import category, normalize

    kept = []
    for letter in text:
        kind = category(letter)[0]
        if kind == "Z" or letter in "\t\n\r":
            kept.append(" ")
        elif kind != "C" and letter != "\ufffd":
            kept.append(letter)
    apart = ideograph.sub(r" \g<0> ", "".join(kept))
    bare = "".join(each for each in normalize("NFD", apart) if category(each) != "Mn").lower()
    for chunk in bare.split():
        word = ""
        for letter in chunk:
            if category(letter)[0] == "P" or (letter < "\x7f" and not letter.isalnum()):
                if word:
                    yield word
                yield letter
                word = ""
            else:
                word += letter
        if word:
            yield word


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a word of ASCII, and of an ideograph."""
    return re.compile(r"[a-z0-9]+|[^\sa-z0-9]"), re.compile(f"[{_IDEOGRAPHS}]")
