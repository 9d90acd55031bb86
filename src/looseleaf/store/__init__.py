"""Durable bytes: streams (append-only logs of records) and documents (named bytes with a hash).

`protocol.py` defines a store, `files.py` is the one in a folder. Every store keeps three promises:

- an acknowledged `append`, `put`, `delete` or `publish` survives any crash;
- `put` and `delete` change a document only from the exact bytes that the caller read (`base`);
- a page's change and its journal record happen together or not at all.
"""

from __future__ import annotations

JOURNAL_SCHEMA = "journal.v1"
"""The schema of each journal record."""

JOURNAL = "journal"
"""The stream of every change; the only one that `put` and `delete` write to."""

COPIES = "views/heads"
"""A copy of each page as the program last left it. It has the new bytes before the page does (FORMAT §5.4)."""

TOMBSTONES = "tombstones"
"""The stream of forgotten texts: hashes only (FORMAT §17.5)."""

IMPORTS = "imports"
"""The stream of imports: hashes and counts only (FORMAT §18)."""
