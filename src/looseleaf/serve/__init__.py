"""Servers: a memory for programs in other languages, or in other processes."""
