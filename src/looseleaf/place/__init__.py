"""Placing: an entry's proposals become lines on pages.

`placer.py` puts entries on pages, `entry_pages.py` holds the page of review, `corrections.py` applies a person's
decisions.
"""
