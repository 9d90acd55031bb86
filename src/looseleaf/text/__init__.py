"""Characters and lines: patterns, times, diffs, secrets, and how untrusted text is shown. Pure."""
