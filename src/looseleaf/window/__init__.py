"""The talk of one agent that a model still sees: told within its budget, and compacted.

`conversation.py` puts the parts together; `window.py` is what a model is told, `compaction_fit.py` and `compact.py`
make it shorter.
"""
