"""Placing: an entry's proposals become lines on pages.

`placer.py` puts entries on pages and fills the page of review, `corrections.py` applies a person's decisions.
"""
