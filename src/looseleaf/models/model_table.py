"""The table of models: context sizes, vocabularies and prices, read from `data/models.json` on first use.

`model` never fails: a name without a row gets the nearest row (a dated, prefixed or tagged name of the same family), or
a cautious model of that name. `price_of` never guesses: `gpt-5-mini` is not `gpt-5` here, and a name without a row has
no price. `budget` never leaves a prompt without room: defaults give way, and given numbers are used as they are or
refused.
"""

from __future__ import annotations

from functools import cache

from looseleaf.base.errors import Invalid
from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.base.policy import Policy
    from looseleaf.base.replies import Usage


@frozen
class ModelInfo:
    """What filling a model's context needs to know.

    Texts are counted in `vocabulary`. Where the model's own is not available offline, the count of the nearest one is
    multiplied by `count_margin`, which covers prose, code and JSON. Measured over some forty kinds of text, in
    proportion to o200k_base:

    - Claude up to 4.6: 1.09 to 1.23 times as many tokens for English, code and JSON, 1.2 to 1.33 for German, Chinese
      and Japanese. Margin 1.3.
    - Claude from Opus 4.7 on, with its newer vocabulary: 1.4 to 1.66 for English, code and JSON, 1.7 for German.
      Margin 1.7.
    - Gemini 1.5 counts with Gemma 2's vocabulary, 2.0 and 2.5 with Gemma 3's: no margin. For later ones this is not
      always published. Margin 1.1.
    - An unpublished vocabulary (Grok, Nova…), one that is not at hand (Llama 4, MiniMax…), and an unknown model: the
      published ones give up to 1.2 times as many for prose, code and JSON. Margin 1.2.

    Greek, Korean, Vietnamese and emoji take up to 1.9 times as many with Claude, more than its margin. The provider's
    report after a call is exact; the margin only has to carry a prompt to its first call.
    """

    name: str
    max_context_tokens: int
    max_output_tokens: int
    default_compaction_ratio: float = 0.8
    default_safety_margin_tokens: int = 256
    vocabulary: str = "o200k_base"
    count_margin: float = 1.0


@frozen
class Budget:
    """A context and its shares: the answer, a safety margin, and the rest for the prompt."""

    max_context_tokens: int
    max_output_tokens: int
    safety_margin_tokens: int
    compaction_ratio: float

    @property
    def input(self) -> int:
        """Tokens that a prompt may take."""
        return self.max_context_tokens - self.max_output_tokens - self.safety_margin_tokens

    @property
    def early(self) -> int:
        """Above this, the window is compacted before the next call."""
        return int(self.compaction_ratio * self.input)


@frozen
class LongPrices:
    """For prompts above `above` tokens: factors on the price of the whole call, for reading and for writing."""

    above: int
    input: float
    output: float


@frozen
class Price:
    """US dollars for a million tokens: read, read from the provider's cache, put into it, and written."""

    input: float
    cached: float
    written: float
    output: float
    long: LongPrices | None = None


FREE = Price(0.0, 0.0, 0.0, 0.0)
MILLION = 1_000_000
CACHE_WRITE_RATE = 1.25
"""The price of putting a token into a cache, in proportion to reading it, where a provider charges for it at all."""


def _safety_margin(context: int) -> int:
    """Return a hundredth of the context: what a provider wraps around messages and tools grows with their number."""
    return max(256, context // 100)


UNKNOWN = ModelInfo("unknown", 200_000, 16_384, default_safety_margin_tokens=_safety_margin(200_000))
"""When no model is named. Counted exactly in o200k_base: callers who name none have a number of tokens in mind."""

UNKNOWN_CONTEXT = 8_192
"""Tokens of a named model without a row: mostly one that a server on this machine runs, with a context as small as its
memory. A prompt that is too long is cut there without a word; one that is too short costs a compaction."""


@cache
def _read_data() -> dict[str, Any]:
    import json
    import os

    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(folder, "data", "models.json"), encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
        return data


@cache
def known_models() -> dict[str, ModelInfo]:
    """Return every model in the table, by name."""
    return {
        name: ModelInfo(
            name,
            context,
            output,
            default_safety_margin_tokens=_safety_margin(context),
            vocabulary=group["vocabulary"],
            count_margin=group["count_margin"],
        )
        for group in _read_data()["models"]
        for context, output, names in group["sizes"]
        for name in names.split()
    }


@cache
def known_prices() -> dict[str, Price]:
    """Return every price in the table, by model name."""
    return {
        name: Price(read, cached, written, output, LongPrices(*group["long"]) if group["long"] else None)
        for group in _read_data()["prices"]
        for read, cached, written, output, names in group["rows"]
        for name in names.split()
    }


_LOCAL = frozenset(("ollama", "scripted"))
_VENDORS = frozenset(
    "openai azure anthropic google gemini models vertex bedrock xai x ai deepseek us eu apac global jp au".split()
)
"""Words that may stand before a model's name, on the way to the same model at the same price."""


def name_parts(name: str) -> tuple[str, ...]:
    """Split a name: `meta-llama/Llama-3.1-8B` and `llama3.1:8b` both end in llama, 3, 1, 8b."""
    import re

    return tuple(re.findall(r"[a-z]+|[0-9]+[a-z]*", name.lower()))


@cache
def _models_by_parts() -> dict[tuple[str, ...], ModelInfo]:
    return {name_parts(name): row for name, row in known_models().items()}


@cache
def _prices_by_parts() -> dict[tuple[str, ...], Price]:
    return {name_parts(name): row for name, row in known_prices().items()}


def model(name: str | None) -> ModelInfo:
    """Return the model of that name, or the nearest known one.

    The row has its own name: `gpt-5` for `openai/gpt-5-2025-08-07`. Names are compared by their parts (`llama3.1:8b` is
    llama, 3, 1, 8b), so spelling, a vendor before or a date after does not matter; a whole part must fit: `gpt-4` is
    not `gpt-4o`.
    """
    asked: Any = name
    if asked is not None and not isinstance(asked, str):
        raise Invalid(
            f"No model was chosen: {asked!r} is not a name. Give one, as in `gpt-5`, or leave it out."
        )
    if name is None or not name.strip():
        return UNKNOWN
    found = known_models().get(name) or _nearest_model(name_parts(name))
    return found or ModelInfo(name, UNKNOWN_CONTEXT, UNKNOWN_CONTEXT // 4, count_margin=1.2)


def _nearest_model(parts: tuple[str, ...]) -> ModelInfo | None:
    """Return the row whose name fits the most parts in a row; of equals, the one that fits first."""
    rows = _models_by_parts()
    lengths = range(min(len(parts), max(map(len, rows))), 0, -1)
    slices = (parts[start : start + size] for size in lengths for start in range(len(parts) - size + 1))
    return next((rows[each] for each in slices if each in rows), None)


def price_of(name: str | None, dialect: str | None = None) -> Price | None:
    """Return a model's price, or None if it is unknown. Models on this machine cost nothing; a model that Ollama runs
    elsewhere (`…-cloud`) does, at no published price per token."""
    parts = name_parts((name or "").rpartition("/")[2])
    if dialect in _LOCAL:
        return None if any(part.endswith("cloud") for part in parts) else FREE
    import re

    rows = _prices_by_parts()
    for start in range(len(parts)):
        for end in range(len(parts), start, -1):
            found = rows.get(parts[start:end])
            if found is not None:
                behind = "".join(f"{part} " for part in parts[end:])
                return found if re.fullmatch(rf"(?:(?:{_EDITION}) )*", behind) else None
        if parts[start] not in _VENDORS:
            return None
    return None


_EDITION = r"latest|preview|exp|beta|v \d+(?: \d+)?|\d{8}|\d{4}(?: \d\d \d\d)?|\d\d \d\d(?: \d{4})?|00\d|0"
"""Parts after a name that only say which edition of a model it is: a date, `latest`, `preview`, `v1:0`."""


def budget(
    model: ModelInfo,
    *,
    context_tokens: int | None = None,
    max_tokens: int | None = None,
    safety_margin_tokens: int | None = None,
    compaction_ratio: float | None = None,
) -> Budget:
    """Share out the context of `model`. Given numbers win over the model's own.

    `context_tokens` is the context that is really served: a local server may give a 128k model 8k.
    """
    given = {
        "context_tokens": context_tokens,
        "max_tokens": max_tokens,
        "safety_margin_tokens": safety_margin_tokens,
    }
    for what, value in given.items():
        least = 0 if what == "safety_margin_tokens" else 1
        if value is not None and (type(value) is not int or value < least):
            raise Invalid(
                f"No budget was made: {what} must be a whole number of at least {least}, not {value!r}. "
                "Leave it out to use the model's own."
            )
    ratio = model.default_compaction_ratio if compaction_ratio is None else compaction_ratio
    if type(ratio) not in (int, float) or not 0 < ratio <= 1:  # also nan
        raise Invalid(
            f"No budget was made: compaction_ratio must be above 0 and at most 1, not {ratio!r}. "
            f"Leave it out to use {model.default_compaction_ratio}."
        )
    context = model.max_context_tokens if context_tokens is None else context_tokens
    output, margin = max_tokens, safety_margin_tokens
    if output is None:
        output = model.max_output_tokens
        if context < model.max_context_tokens:
            output = max(1, min(output, context // 4))
        if output + (margin or 0) >= context:
            output = max(1, (context - (margin or 0)) // 2)
    if margin is None:
        # At most an eighth of the rest: a default margin never takes the room itself.
        margin = max(0, min(model.default_safety_margin_tokens, (context - output) // 8))
        if context < model.max_context_tokens:
            margin = min(margin, _safety_margin(context))
    shared = Budget(context, output, margin, float(ratio))
    if shared.input < 1:
        raise Invalid(
            f"No budget was made: of a context of {context:,} tokens, {output:,} for the answer and {margin:,} of "
            "safety margin leave nothing for the prompt. Give a smaller max_tokens or safety_margin_tokens, or a "
            "larger context_tokens."
        )
    return shared


def apply_settings(price: Price | None, policy: Policy) -> Price | None:
    """Return the price with the settings laid over it; None if the two together do not say enough.

    Where only the price of reading is set, a cached token costs as much, and one put into the cache a quarter more:
    rather too much than too little.
    """
    read, cached, output = policy.price_input, policy.price_cached, policy.price_output
    if read is None and cached is None and output is None:
        return price
    if price is None and (read is None or output is None):
        return None
    known = price or FREE
    long = known.long if read is None and output is None else None
    output = known.output if output is None else output
    if read is None:
        return Price(known.input, known.cached if cached is None else cached, known.written, output, long)
    return Price(read, read if cached is None else cached, read * CACHE_WRITE_RATE, output, long)


def cost_of(usage: Usage, price: Price) -> float:
    """Return the US dollars of one call. Tokens that a provider reports as cached or written count as a part of those
    read, also where it says otherwise."""
    read = max(0, usage.prompt_tokens)
    cached = min(max(0, usage.cached_tokens), read)
    written = min(max(0, usage.written_tokens), read - cached)
    spent = cached * price.cached + written * price.written + (read - cached - written) * price.input
    output = max(0, usage.output_tokens) * price.output
    if price.long is not None and read > price.long.above:
        spent, output = spent * price.long.input, output * price.long.output
    return (spent + output) / MILLION
