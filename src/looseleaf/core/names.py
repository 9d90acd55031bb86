"""Names that all parts know: the user's own topic and page, and the topic of the work."""

from __future__ import annotations

USER = "user"
PROJECT = "project"
PROFILE = "USER.md"
