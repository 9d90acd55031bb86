"""From what was said to what is known: material is distilled into an entry, and the entry placed on pages.

`facts.py` reads what is known, `material.py` what is to be distilled; `write.py` makes entries, `place.py` puts them on
pages, `review.py` asks a person, `curate.py` does what a person says.
"""
