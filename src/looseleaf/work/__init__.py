"""Work that nobody waits for, where memories are in a database: jobs in a queue there, and the workers that take them
(docs/WORKERS.md)."""
