"""Sync: this memory and a copy of it elsewhere become equal, in both directions (FORMAT §20.9).

`exchange.py` does it with a folder. A git remote and an rsync target are such a folder too, fetched before the exchange
and sent afterwards.
"""
