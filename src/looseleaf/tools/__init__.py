"""The memory tools: what a model may do with a memory, each defined once."""
