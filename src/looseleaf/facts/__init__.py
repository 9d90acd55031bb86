"""Facts: the ledger, the evidence behind each fact, and the placement of new ones."""
