"""Markdown pages: reading, editing, outside changes, and history."""
