"""The providers: how to reach each one, and its dialect."""
