"""Search: what can be found, by words (SQLite's FTS5) and, where the extra is installed, by meaning (vectors).

A view of the memory and nothing more: it is told what there is, and gives back where that stands.
"""
