"""From what was said to what is known: what an entry proposes is placed on pages.

`placer.py` puts entries on pages, `review_page.py` asks a person, `corrections.py` does what a person says.
"""
