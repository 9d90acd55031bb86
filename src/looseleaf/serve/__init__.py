"""Servers: a memory for programs that are not Python's, or not on this side of a pipe."""
