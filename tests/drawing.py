"""How many examples a property draws: a hundred or more where `make test-long` runs it, a few where `make test` does.

Core properties do not ask: each run draws a hundred new ones. `tests/test_drawing.py` lists them.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

STEADY = "steady"
FEW = 16

core = settings(
    max_examples=100,
    derandomize=False,
    print_blob=True,  # a failure says how to run its example again, on any machine
    deadline=None,
    suppress_health_check=list(HealthCheck),  # a slow machine or an odd seed is no fault of the code
)
"""Put on a property that guards a promise, instead of `settings`. For a state machine: `settings(core,
stateful_step_count=…)`. An example that failed is kept in `.hypothesis`, and comes first in the next run."""


def few(examples: int) -> int:
    return min(examples, FEW) if settings.get_current_profile_name() == STEADY else examples
