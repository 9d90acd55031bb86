"""How many examples a property draws: a hundred or more where `make test-long` runs it, a few where `make test` does.

Core properties do not ask: they draw as many as they say, new ones each time.
"""

from __future__ import annotations

from hypothesis import settings

STEADY = "steady"
FEW = 16


def few(examples: int) -> int:
    return min(examples, FEW) if settings.get_current_profile_name() == STEADY else examples
