"""What a provider's prompt cache would have known of a series of prompts: a model of it, pure and small.

A prompt is a list of token ids. As providers document it, a cache knows beginnings of earlier prompts in whole blocks
(of 128 tokens), counts a beginning only from a least length on (1,024 tokens), and forgets one that was not used for a
while (300 seconds; each use renews it). The invariant: a block counts as cached only if an earlier prompt that was sent
at most so long ago has the same block, and the same tokens before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

BLOCK = 128
LEAST = 1024
SECONDS = 300.0

Sent = tuple[float, Sequence[int]]
"""When a prompt was sent, in seconds, and its tokens."""


def cached_tokens(
    prompts: Iterable[Sent], *, block: int = BLOCK, least: int = LEAST, seconds: float = SECONDS
) -> list[int]:
    """How many tokens of each prompt the cache knew when it was sent; the prompts are in the order of their times."""
    used: dict[int, float] = {}
    found: list[int] = []
    for now, tokens in prompts:
        known, is_hit = 0, True
        for name in _names(tokens, block):
            is_hit = is_hit and now - used.get(name, float("-inf")) <= seconds
            known += is_hit
            used[name] = now
        found.append(known * block if known * block >= least else 0)
    return found


def _names(tokens: Sequence[int], block: int) -> Iterable[int]:
    """A name for each whole block, which says what stands in it and before it."""
    whole = range(0, len(tokens) - block + 1, block)
    hashes = (hash(tuple(tokens[start : start + block])) for start in whole)
    return accumulate(hashes, lambda before, own: hash((before, own)))


def cached_share(prompts: Sequence[Sent]) -> float:
    """Of all tokens that were sent, the part that the cache knew."""
    return sum(cached_tokens(prompts)) / max(1, sum(len(tokens) for _, tokens in prompts))
