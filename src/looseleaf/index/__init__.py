"""The search index: by words (SQLite's FTS5) and, with the extra `semantic`, by meaning (vectors).

A disposable view of the memory: it takes items and returns where they stand, never their text.
"""
