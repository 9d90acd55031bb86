"""Build: views made from the log, the same bytes whenever they are made. `agents.py`: what each agent's compactions
kept; `topics.py`: the memory of each topic, and of all of them."""
