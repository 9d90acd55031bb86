"""The providers: how each one is reached, and the dialect it speaks."""
