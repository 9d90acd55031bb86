"""Explain where things come from: why words are in a prompt (`why`), who wrote a line (`sources`), what was written
(`writes`), which promises were kept (`promises`), and what prompts cost (`prompt_costs`)."""
