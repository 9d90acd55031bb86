"""Names that all parts know: the user's own topic and page, the topic of the work, what waits, and how facts are
tagged."""

from __future__ import annotations

USER = "user"
PROJECT = "project"
PROFILE = "USER.md"
REVIEW = "review/pending.md"

IMPORTER = "import"
"""The agent for whom is recorded what was said elsewhere and nobody vouches for."""

TICKED = "ticked"
PINNED = "pinned"
APPROVED = "approved"
"""Tags of facts: ticked in review, not to be forgotten, and from review by a person's yes."""

ARCHIVE = "-archive"
"""How the topic of an archive ends."""
