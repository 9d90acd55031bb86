"""What was said and done: traces, turns, entries, and the journal of every change."""
