"""The log: traces, turns, entries, and the journal of every change."""
