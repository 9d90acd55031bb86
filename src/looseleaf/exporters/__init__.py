"""Ways out of a memory: the whole folder, its facts with their history, what was said as messages."""
