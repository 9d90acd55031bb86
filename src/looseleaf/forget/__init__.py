"""Forgetting: the memory becomes what it would have been had the source never been there (FORMAT §17)."""
