"""The working state, `state.json`: the current goal, tasks and decisions, and the author of each value."""
