"""Tool calls that a model writes into its text: what a block holds, and where one stands in a stream."""
