"""Every number of the design, each with its reason.

`looseleaf.toml` may override any of them by name; no other code holds a number that a person could reasonably want to
change.
"""

from __future__ import annotations

from looseleaf.base.errors import Invalid
from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@frozen
class Policy:
    # --- log files -----------------------------------------------------------------
    segment_bytes: int = 8 * 1024 * 1024
    """A log file this large is rotated: small enough to hash in milliseconds, large enough
    that years of talk are some hundreds of files."""

    body_bytes: int = 256 * 1024
    """A text longer than this leaves its line and becomes a file named by its hash."""

    # --- pages -----------------------------------------------------------------------
    page_bytes: int = 1024 * 1024
    """People read pages. Past a megabyte it is a data set, and is refused."""

    tool_bytes: int = 64 * 1024
    """The most a tool reads or writes of a page at once: some 16,000 tokens, which clients still accept as one
    answer. A model should not write what it could not read again."""

    settle_seconds: float = 1.0
    """How long to re-check a page that is suddenly empty or gone. Editors truncate and write, or rename away and
    create; the gap is well under a second."""

    quiet_seconds: float = 0.05
    """An editor may still be writing a page that changed more recently than this: read it again."""

    late_seconds: float = 30.0
    """How long to watch displaced bytes for an editor that still has the old file open."""

    trust_external_edits: bool = True
    """Edits found on disk are a person's. Turn off where an agent has a shell: then anyone may have made them."""

    # --- lock ------------------------------------------------------------------------
    lock_seconds: float = 60.0
    """The longest wait for the lock. It is held only for disk writes; past this, the holder hangs."""

    # --- layers ----------------------------------------------------------------------
    layers: bool = True
    """Whether other memories are read under this one, and what is about the user is written to the home memory."""

    over: tuple[str, ...] | None = None
    """The memories that this one lies over, nearest first: paths, from its own folder on. None: `~/.looseleaf` under a
    project's `.looseleaf`, and none under any other."""

    trust_over: tuple[str, ...] | None = None
    """Only in the home memory's settings: folders whose memories may lie under a project's, also if a settings file
    that git tracks names them. Others may have written that one."""

    # --- teams -----------------------------------------------------------------------
    shared: bool = False
    """Whether several people talk to this memory (docs/TEAMS.md): nobody is "the user" here, and a rule of one person
    waits for a reviewer's yes."""

    # --- other copies ----------------------------------------------------------------
    sync: str | None = None
    """What `looseleaf sync` syncs with, if no place is named: a folder (from the memory's own on), a git remote, or
    an rsync target."""

    # --- the state -------------------------------------------------------------------
    state_tokens: int = 750
    """The state is in every prompt: past this, settled items move to pages. It fits some ten decisions and twenty
    tasks, as much as anyone keeps in mind."""

    state_least_tokens: int = 250
    """The least that stays in the state when something moves: with less, the next decision would not know the last."""

    # --- the window ------------------------------------------------------------------
    tail_turns: int = 4
    """Turns that a compaction leaves alone: "it" refers to what was said last."""

    max_episodic_items: int = 3
    """Summaries that a snapshot shows. Older ones stay in their entries."""

    max_semantic_items: int = 20
    """Decisions, constraints and open work that a snapshot shows."""

    summary_tokens: int = 2000
    """The longest summary of one compaction; an eighth of the budget where that is less."""

    semantic_tokens: int = 1500
    """The longest list of items to keep; an eighth of the budget where that is less."""

    compact_to: float = 0.5
    """The part of the budget that a compaction aims at: room for as much talk again before the next one."""

    prepare_ratio: float = 0.6
    """From this part of the budget on, a slow distiller starts in the background."""

    distill_seconds: float = 120.0
    """The time limit of a distiller; then the rules take over."""

    session_seconds: float = 3600.0
    """`looseleaf record` continues the last session if it had a message within this time."""

    raw_bytes: int = 1024 * 1024
    """The longest `raw.md` of a compaction: past it the log itself is the readable copy."""

    # --- the profile -----------------------------------------------------------------
    profile_tokens: int = 1000
    """USER.md is whole in every prompt: a page read in a minute, and under a hundredth of most contexts."""

    tidy_to: float = 0.8
    """The part of it that tidying aims at: room for some weeks, so that lines do not move at every fact."""

    tidy: bool = False
    """Whether USER.md is tidied automatically. Off: people do not expect lines to move."""

    tidy_days: float = 7.0
    """Tidy at most this often: people should find their page unchanged for a week."""

    # --- the prompt ------------------------------------------------------------------
    index_pages: int = 50
    """Pages in a prompt's index, the last changed ones: about a thousand tokens. Recall finds the others."""

    least_window_tokens: int = 500
    """Where talk has less room than this, a prompt shows its end, and no compaction starts."""

    # --- recall ----------------------------------------------------------------------
    semantic: str = "off"
    """Compare meaning too: `minilm` (in this process; needs the extra `semantic`), or an endpoint's address and its
    model. Off: words do most of it, and nothing has to be loaded."""

    recall_on_prompt: bool = True
    """Whether a coding agent's hook adds to a prompt what clearly bears on it: four lines at most, mostly none."""

    # --- the model: also for one agent, in a table [agents.<name>] ---------------------
    model: str | None = None
    """The model whose context size counts. None: 200,000 tokens. A name that the table of models lacks: 8,192."""

    context_tokens: int | None = None
    """The server's own limit, where it is not the model's, or the model is not known."""

    max_tokens: int | None = None
    """Room for the answer. None: the model's maximum."""

    safety_margin_tokens: int | None = None
    """Room for differences in counting. None: the model's own."""

    compaction_ratio: float | None = None
    """The part of the budget at which compaction starts. None: the model's own (0.8)."""

    provider: str | None = None
    """The provider: anthropic, openai, openai-chat (and compatible servers), gemini, openrouter, deepseek, ollama; or a
    coding agent's command line: claude-code, codex, gemini-cli. None: from the model's name, else from the environment
    (a key, a server on this machine)."""

    base_url: str | None = None
    """The provider's address. None: its default."""

    distiller: str = "rules"
    """The default distiller: `rules`; `model`, from these settings and the environment; or a named one, such as
    `claude-code`, `codex`, `gemini-cli` or `provider/model`. A model sends the talk to its provider, so it must be
    named; `looseleaf chat` distills with its own model, which has heard it all."""

    verify: str = "words"
    """How to check a model's conclusions: by `words`, or with `model`, which gets each claim that words do not prove,
    with its quote alone. A yes never makes it the user's word."""

    model_seconds: float = 300.0
    """The time limit of one model call. Long thinking takes minutes; a longer call hangs."""

    model_retries: int = 4
    """How often to retry a call after a rate limit, a server fault or a lost connection. 0: never."""

    # --- the agent -------------------------------------------------------------------
    agent_steps: int = 24
    """Model calls for one request: past that it runs in circles."""

    tool_seconds: float = 120.0
    """How long to wait for a tool. A later result is recorded later."""

    reflect_steps: int = 6
    """Model calls to reflect on a task: read, write, fix, and an end."""

    reflect_tokens: int = 60_000
    """Tokens to reflect on one task, read and written."""

    trim_chars: int = 200
    """Characters of a tool's result that a distilling model gets: memory is made of what people said."""

    # --- spending ---------------------------------------------------------------
    day_tokens: int | None = None
    """Tokens, read and written, that models may use per day (UTC) for this memory. Past that no model is called, and
    the rules distill."""

    day_cost: float | None = None
    """The same in US dollars, where prices are known."""

    price_input: float | None = None
    """US dollars per million tokens read. None: from the price table."""

    price_cached: float | None = None
    """The same for tokens from the provider's cache."""

    price_output: float | None = None
    """The same for tokens written."""


@frozen
class Ranking:
    """The weights of recall, the same for every kind of text. `benchmarks/tune_recall.py` finds them."""

    repeats: float = 0.96
    """How soon a word said twice stops counting more (k1 of BM25). Talk repeats for politeness, not for emphasis."""

    short_length: float = 0.4
    """How much length counts where items are short (b of BM25): a turn of thirty words is no less about its topic."""

    long_length: float = 0.75
    """The same where items are long: a message of a thousand words mentions everything once."""

    short_terms: float = 12.0
    """Terms of a short item on average: a turn of a chat between people."""

    long_terms: float = 150.0
    """Terms of a long item on average: an assistant's answer, a page. Between the two, the logarithm decides."""

    before: float = 0.55
    """The weight of a word in the previous item: an answer does not repeat the question."""

    after: float = 0.48
    """The weight of a word in the next item: a reply names what was only pointed at."""

    second_before: float = 0.35
    """The same for the item before that."""

    second_after: float = 0.15
    """The same for the item after that."""

    context: float = 0.8
    """How soon a word found in the item and around it stops counting more: each word of the question found once is
    worth more than one of them found everywhere."""

    own: float = 0.2
    """The extra weight of a word in the item itself: its own words count more than its neighbors'."""

    session: float = 0.56
    """The weight of the whole session's words: a talk about the matter."""

    session_repeats: float = 0.8
    """How soon a word repeated in a session stops counting more."""

    speaker: float = 0.7
    """How much more an item counts if the speaker is named in the question."""

    company: float = 0.5
    """How much more any item of a session with that speaker counts: people tell them things, too."""

    name: float = 0.2
    """The weight of a speaker's name as a word: others say it, hardly ever the speaker."""

    substance: float = 0.35
    """How much more a long item counts than an empty one: "Thanks!" is next to many answers and is none."""

    little: float = 3.0
    """Terms at which an item gets half of that."""

    date: float = 1.0
    """How much more an item counts from the time that the question names."""

    dated: float = 1.5
    """The strength of such an item without any word of the question, as a part of the rarest word's weight."""

    days_before: float = 5.0
    """Days before the named time at which an item counts a third: people announce things shortly before."""

    days_after: float = 20.0
    """Days after the named time at which an item counts a third: people report things after they happen."""

    recent: float = 0.02
    """How much more the newest item counts than an old one: only decides between equals."""

    recent_days: float = 180.0
    """Days after which an item is no longer recent."""

    verbose: float = 0.4
    """How much less the assistant's items count where they are longer than the user's, as a power of the ratio, for
    themselves and for their neighbors: long answers touch on everything, and later questions are mostly about what the
    user said."""

    tool: float = 0.8
    """The weight of a tool's output: it was used once, and the tool can run again."""

    fact: float = 1.25
    """The weight of a fact: it was distilled, and has no neighbors to support it."""

    prose: float = 1.15
    """A paragraph of a page: written by a person, with few neighbors."""

    episode: float = 1.0
    """A summary of what was done."""

    day: float = 0.95
    """A day's page repeats its episodes."""

    entry: float = 1.0
    """A distillation."""

    quote: float = 0.8
    """The words in which a fact was stated. Where only they match, the talk itself is the better answer."""

    summary: float = 0.6
    """A summary of talk that is also here word for word: the talk itself is the better answer."""

    least: float = 0.4
    """The part of the best hit's strength below which hits end: the rest are only its neighbors."""

    least_of_many: float = 0.25
    """The same when more than ten hits, or as many as fit a budget, are wanted."""

    meaning: float = 0.9
    """The weight of the closest meaning (the cosine, scaled over the items at hand), as a part of the best strength by
    words."""

    meaning_around: float = 0.3
    """The weight of the similarity of the items before and after, next to an item's own."""

    covered: float = 0.148
    """The part of a question (its words weighted by rarity, unknown ones the rarest) that must be found for an answer
    to be as likely as not. For an unrelated question a part is found by chance, for most others far more."""

    crowd: float = 0.034
    """How much more than that per factor 2.7 in items: chance finds more among more."""

    steep: float = 19.0
    """How fast confidence grows with the part that is found."""

    alike: float = 0.335
    """The cosine of the closest item at which, by itself, an answer is as likely as not. It depends on the model:
    this one is for MiniLM and questions without names."""

    alike_steep: float = 25.0
    """How fast confidence grows with the cosine."""

    by_words: float = 0.4
    """The weight of found words next to meaning: what both find does not count twice."""

    abstain: float = 0.35
    """Below this confidence, recall returns nothing. Below it are nine of ten unrelated questions, and one in a hundred
    answers: those that hardly share a word with their questions."""


SETTINGS = frozenset(Policy.__annotations__)
OF_AGENTS = frozenset(
    "model context_tokens max_tokens safety_margin_tokens compaction_ratio tail_turns provider base_url".split()
)
"""Settings that may differ between the agents of one memory."""

_KINDS = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    list: "a list of paths",
}
_TYPES = {"int": int, "float": float, "str": str, "bool": bool, "tuple[str, ...]": list}
_COUNTS = frozenset(("model_retries",))
"""Counts, which may be zero."""
_RATIOS = frozenset(("compaction_ratio", "compact_to", "prepare_ratio", "tidy_to"))
_DAYS = frozenset(("tidy_days",))
_MOST_DOLLARS = 1e12
"""More is a mistake."""
_DOLLARS = frozenset(("day_cost", "price_input", "price_cached", "price_output"))
COMMAND_LINES = ("claude-code", "codex", "gemini-cli")
_PROVIDERS = ("anthropic", "openai", "openai-chat", "gemini", "openrouter", "deepseek", "ollama")
_CHOICES = {"verify": ("words", "model"), "provider": (*_PROVIDERS, *COMMAND_LINES)}
_OTHERWISE = {
    **dict.fromkeys(("day_tokens", "day_cost"), "no ceiling"),
    **dict.fromkeys(("price_input", "price_cached", "price_output"), "what the table of prices says"),
    "base_url": "the provider's own",
    "over": "the home memory under a project's",
    "sync": "no place",
    "trust_over": "none",
}
"""The effect of leaving out a setting without a default. For the others the model decides."""
_LIKENESS = 0.7
"""How similar a name must be to a setting to be a misspelling of it: two letters of seven may be wrong."""
_MOST_DAYS = 3650.0
"""Ten years: more is a mistake, or means never, which turning the feature off says."""

_LONGEST = 86_400.0
"""No wait exceeds a day: it would be a mistake, and some systems cannot count longer waits."""


def policy_from(settings: dict[str, Any], where: str = "looseleaf.toml", agent: str | None = None) -> Policy:
    """Return the default policy with `settings` and then the agent's own laid over it; refuse unknown names and
    types."""
    changed: dict[str, Any] = {}
    for name, value in settings.items():
        if name == "agents":
            changed |= _read_agent_settings(value, where, agent)
        elif name not in SETTINGS:
            raise _unknown_setting_error(where, name, name, SETTINGS | {"agents"})
    own = {name: value for name, value in settings.items() if name != "agents"}
    return Policy(**{name: _check_setting(where, name, value) for name, value in own.items()} | changed)


def _read_agent_settings(tables: Any, where: str, agent: str | None) -> dict[str, Any]:
    """Return the settings of one agent. Those of the others are checked too, so that a typo shows at once."""
    own: dict[str, Any] = {}
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise Invalid(
            f"The memory was not opened: in {where}, `agents` must be tables, as in [agents.main]. Fix that line."
        )
    for name, table in tables.items():
        for setting, value in table.items():
            if setting not in OF_AGENTS:
                raise _unknown_setting_error(where, f"{name}.{setting}", setting, OF_AGENTS)
            valid = _check_setting(where, setting, value)
            if agent is not None and name in (agent, agent.partition("@")[0]):
                own[setting] = valid
    return own


def _unknown_setting_error(where: str, name: str, setting: str, known: frozenset[str]) -> Invalid:
    from difflib import get_close_matches

    # A setting of another table is not misspelled.
    near = [] if setting in SETTINGS else get_close_matches(setting.lower(), sorted(known), 1, _LIKENESS)
    if near:
        meant = "[agents.main]" if near[0] == "agents" else near[0]
        advice = f"Did you mean `{meant}`? Fix that line, or delete it."
    else:
        advice = f"Delete that line, or use one of: {', '.join(sorted(known))}."
    return Invalid(f"The memory was not opened: {where} sets {name!r}, which is not a setting. {advice}")


def _check_setting(where: str, name: str, value: Any) -> Any:
    wanted: Any = _TYPES[Policy.__annotations__[name].removesuffix(" | None")]
    if type(value) is not wanted and not (wanted is float and type(value) is int):
        raise _setting_error(where, name, f"must be {_KINDS[wanted]}, not {value!r}")
    if wanted is list:
        wrong = [
            each for each in value if type(each) is not str or not each.strip() or not each.isprintable()
        ]
        if wrong:
            raise _setting_error(
                where, name, f"must be {_KINDS[wanted]}, each a text with words in it, not {wrong[0]!r}"
            )
        return tuple(value)
    if wanted in (str, bool):
        return _check_text(where, name, value)
    if name in _DOLLARS:
        if not 0 <= value <= _MOST_DOLLARS:  # nan too
            raise _setting_error(where, name, f"must be an amount in US dollars, 0 or more, not {value!r}")
        return float(value)
    if name in _COUNTS and value < 0:
        raise _setting_error(where, name, f"must be 0 or more, not {value!r}")
    if not value > 0 and name not in _COUNTS:  # nan too
        raise _setting_error(where, name, f"must be greater than zero, not {value!r}")
    if name in _RATIOS:
        if value > 1:
            raise _setting_error(where, name, f"must be at most 1, not {value!r}")
    elif name in _DAYS:
        if value > _MOST_DAYS:
            raise _setting_error(where, name, f"must be at most {_MOST_DAYS:,.0f} days, not {value!r}")
    elif wanted is float and value > _LONGEST:
        raise _setting_error(where, name, f"must be at most {_LONGEST:,.0f} seconds, not {value!r}")
    return wanted(value)


def _check_text(where: str, name: str, value: str | bool) -> str | bool:
    if name in _CHOICES and value not in _CHOICES[name]:
        raise _setting_error(where, name, f"must be one of {', '.join(_CHOICES[name])}, not {value!r}")
    if name == "distiller" and not is_distiller(str(value)):
        named = f"rules, model, {', '.join(COMMAND_LINES)}, or a model as in `ollama/llama3.2`"
        raise _setting_error(where, name, f"must be one of {named}, not {value!r}")
    if name == "base_url" and not _is_address(str(value)):
        # Not repeated: an address may hold a password.
        fault = "must be an address that begins with https:// or http://, with nothing else around it"
        raise _setting_error(where, name, fault)
    return value


def is_distiller(name: str) -> bool:
    """Return whether the setting `distiller` accepts this name."""
    provider, _, model = name.partition("/")
    is_model = provider in (*_PROVIDERS, *COMMAND_LINES) and bool(model.strip())
    return is_model or name in ("rules", "model", *COMMAND_LINES)


def _is_address(text: str) -> bool:
    scheme, _, rest = text.partition("://")
    is_plain = text.isprintable() and not any(map(str.isspace, text))
    has_host = rest.strip("/") != "" and rest[0] not in "/?#:"
    return scheme.lower() in ("http", "https") and has_host and is_plain


def _setting_error(where: str, name: str, fault: str) -> Invalid:
    default = getattr(Policy(), name)
    otherwise = _OTHERWISE.get(name, "which the model decides") if default is None else default
    return Invalid(
        f"The memory was not opened: in {where}, `{name}` {fault}. Fix that line, or delete it to use the default, "
        f"{otherwise}."
    )
