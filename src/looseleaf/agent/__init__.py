"""The agent: the loop in which memory makes the prompt, a model answers, tools run, and all of it is recorded."""
