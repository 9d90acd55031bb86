"""A story of three sessions, told to a real memory and shown with the real commands."""
