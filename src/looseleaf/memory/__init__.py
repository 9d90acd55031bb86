"""Memory: the one object users hold, by what is done with it: pages, talk, window, finding, review."""

from looseleaf.memory.memory import Memory

__all__ = ["Memory"]
