"""A memory for LLM agents: a folder of Markdown that never loses what was said."""
