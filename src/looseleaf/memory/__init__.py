"""Memory: the one object users hold, by what is done with it: pages, talk, telling, finding, facts."""

from looseleaf.memory.memory import Memory

__all__ = ["Memory"]
