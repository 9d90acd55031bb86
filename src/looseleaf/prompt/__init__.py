"""What a model is told: the memory and the window as one prompt, within a budget, with a reason for each part.

`snapshot` reads what there is to show, `prompts` makes it fit and writes the manifest, `prompt_log` keeps what is
needed to render a prompt again.
"""
