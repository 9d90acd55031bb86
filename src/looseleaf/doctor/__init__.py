"""The doctor: what may keep a memory from working, looked at one by one, each as a value. Offline, and changes nothing.

No value of a key is ever told: only the names of variables are.
"""
