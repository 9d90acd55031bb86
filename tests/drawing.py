"""How many examples a property draws: a hundred or more where `make test-long` runs it, a few where `make test` does.

Core properties draw new ones in each run: a hundred, or `COSTLY` of them in `make test` where a hundred take long.
`tests/test_drawing.py` lists them.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

STEADY = "steady"
FEW = 8
COSTLY = 25
"""What a core property draws in `make test` if each of its examples is a memory that lives: new ones each time, too."""

settings.register_profile(
    STEADY,
    derandomize=True,
    max_examples=8,
    deadline=None,  # machines are busy
    suppress_health_check=[HealthCheck.too_slow],
)
"""The same examples each time, and not too many: `make test` says the same of the same code."""

settings.register_profile(
    "free", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("free")
"""New examples, and more: what `make test-long` and plain `pytest` draw, which name no profile."""

core = settings(
    max_examples=100,
    derandomize=False,
    print_blob=True,  # a failure says how to run its example again, on any machine
    deadline=None,
    suppress_health_check=list(HealthCheck),  # a slow machine or an odd seed is no fault of the code
)
"""Put on a property that guards a promise, instead of `settings`. For a state machine: `settings(core,
stateful_step_count=…)`; for one that is costly: `settings(core, max_examples=few(100, COSTLY))`. An example that
failed is kept in `.hypothesis`, and comes first in the next run."""


def is_steady() -> bool:
    return settings.get_current_profile_name() == STEADY


def few(examples: int, at_most: int = FEW) -> int:
    return min(examples, at_most) if is_steady() else examples
