"""Coding agents that others wrote, with our hooks and our server."""
