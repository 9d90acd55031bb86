"""Views: built from the log, and rebuilt when deleted.

The same log makes the same bytes, in whatever order and process views are rebuilt, at once or entry by entry. That
holds for `GLOBAL_MEMORY.*`, `topics/`, `topics.json`, `facts/`, `facts.json`, and each agent's `episodic.jsonl` and
`semantic.jsonl`. Others are caches and may differ: `heads.json`, `heads/`, `tokens.sqlite`, `redistill/`,
`essentials.json`, and each agent's `turns.json` and `kept.json`.
"""
