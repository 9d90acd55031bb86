"""Names that all parts know: the user's own topic and page, the topic of the work, what waits."""

from __future__ import annotations

USER = "user"
PROJECT = "project"
PROFILE = "USER.md"
REVIEW = "review/pending.md"
