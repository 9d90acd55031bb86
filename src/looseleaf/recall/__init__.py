"""Recall: find what answers a question, among everything said, done and written. `recall.py` joins the parts."""
