"""The prompt for a model: memory and window within a budget, with a reason for each part.

`snapshot` reads what there is to show, `prompts` makes it fit and writes the manifest, `prompt_log` keeps what it takes
to render a prompt again.
"""
