"""The conversation of one agent: recorded, read back, told to a model within its budget, compacted.

`conversation.py` puts the parts together: `asked` and `record` write traces, `turns` reads them, `window` is what a
model is told, `draft` and `compact` make it shorter.
"""
