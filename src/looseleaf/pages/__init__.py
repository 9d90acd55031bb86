"""Markdown pages: read, edited, found changed from outside, and their history."""
