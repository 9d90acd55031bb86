"""Build: views made from the log. `agents.py`: what each agent's compactions kept; `build.py`: the memory of each
topic, and of all of them.

The same log makes the same bytes: whatever is deleted, in whatever order and process it is made again, at once or entry
by entry. That holds for `GLOBAL_MEMORY.*`, `topics/`, `topics.json`, `facts/`, `facts.json`, and each agent's
`episodic.jsonl` and `semantic.jsonl`. Others are caches, which only save work and may differ: `heads.json`, `heads/`,
`tokens.sqlite`, `redistill/`, `essentials.json`, and each agent's `turns.json` and `kept.json`.
"""
