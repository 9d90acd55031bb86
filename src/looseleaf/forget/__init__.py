"""Forget: the memory becomes what it would have been without the source (FORMAT §17)."""
