"""Where a memory lives. `protocol.py` says what a store is, `files.py` is the one in a folder.

A store keeps *streams* (append-only logs of records) and *documents* (named bytes with a hash). Three promises
carry everything above it:

- what `append`, `put`, `delete` or `publish` acknowledged is there after any crash;
- `put` and `delete` change a document only from the exact bytes the caller had read (`base`);
- a page's change and its journal record happen together or not at all.
"""

from __future__ import annotations

JOURNAL_SCHEMA = "journal.v1"
"""What each of its records says of its form."""

JOURNAL = "journal"
"""The stream that holds every change; the only one that `put` and `delete` write to."""

TOMBSTONES = "tombstones"
"""The stream of what was forgotten: hashes, and no words (FORMAT §17.5)."""

IMPORTS = "imports"
"""The stream of what was imported: hashes and counts, and no words (FORMAT §18)."""
