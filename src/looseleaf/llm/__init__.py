"""Models as the memory sees them: how large their windows are, and how many tokens a text takes in them.

Importing the package loads nothing; each part brings in what it needs when it is used.
"""
