"""The part of one agent's talk that a model still sees, kept within its budget.

`conversation.py` joins the parts, `window.py` reads the messages, `compact.py` shortens them.
"""
