"""What is known, and what is true: the ledger of facts, their evidence, and where a new one goes."""
