"""The command line: arguments and printing only. `main` is where it begins."""
