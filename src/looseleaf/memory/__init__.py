"""Memory: the public object, its groups of verbs, and the wiring of its parts."""

from looseleaf.memory.memory import Memory

__all__ = ["Memory"]
