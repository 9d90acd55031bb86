"""Values, names and rules that every package speaks of. Imports nothing from the packages above."""
