"""The store in PostgreSQL: many memories in one database, for many processes (docs/decisions/0024-postgresql.md).

A record is the line that the log file would hold, and a position in the log means what it means in a file: the number
of the segment, and the byte in it. So everything above the store is the same for both, and a memory moves between them
without a byte changed.
"""
