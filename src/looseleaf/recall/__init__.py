"""Recall: finding what bears on a question, among everything that was said, done and written down.

`recall.py` puts the parts together.
"""
