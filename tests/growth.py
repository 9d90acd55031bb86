"""How time grows with size: finds quadratic work without counting seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from timeit import repeat, timeit

LINEAR = 64
"""What `growth` must stay under: four times what linear work takes, a quarter of what quadratic work does."""


def growth(work: Callable[[int], Callable[[], object]], size: int) -> float:
    """How many times as long it takes for 16 times the size: 16 if the work is linear, 256 if it is quadratic.

    `work` prepares what is measured. Processor time, and the best of several, so that a busy machine counts little.
    """
    small, large = work(size), work(16 * size)
    ratios: list[float] = []
    while len(ratios) < 6 and min(ratios, default=LINEAR) >= LINEAR:
        reference = min(repeat(small, timer=time.process_time, number=1, repeat=5))
        ratios.append(timeit(large, timer=time.process_time, number=1) / reference)
    return min(ratios)
