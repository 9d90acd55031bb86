"""What a model is told: the memory and the window as one prompt, within a budget, with a reason for each part.

`gather` reads what there is to show, `prompts` makes it fit and writes the manifest, `log` keeps what is needed to
render a prompt again, `why` says how a line came to be in one, `analyze` what prompts cost.
"""
