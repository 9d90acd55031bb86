"""The verbs of the command line: what each one prints."""
