"""Every number of the design, in one place, each with the reason it has that value.

`looseleaf.toml` may override any of them by name; nothing else in the code holds a number
that a person could reasonably want to change.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@frozen
class Policy:
    # --- log files -----------------------------------------------------------------
    segment_bytes: int = 8 * 1024 * 1024
    """A log file this large is rotated: small enough to hash in milliseconds, large enough
    that years of talk are some hundred files."""

    body_bytes: int = 256 * 1024
    """A text longer than this leaves its line and becomes a file named by its hash."""

    # --- pages -----------------------------------------------------------------------
    page_bytes: int = 1024 * 1024
    """A page is something a person reads. Past a megabyte it is a data set, and is refused."""

    tool_bytes: int = 64 * 1024
    """What a tool reads or writes of a page at once: some 16,000 tokens, which clients still take as one answer. What a
    model could not read again it should not write."""

    settle_seconds: float = 1.0
    """How long a page that is suddenly empty or gone is looked at again before it is believed.
    Editors truncate and write, or rename away and create; the gap is well under a second."""

    quiet_seconds: float = 0.05
    """A page changed more recently than this may still be being written: read it again."""

    late_seconds: float = 30.0
    """How long displaced bytes are watched for an editor that still holds the old file open."""

    trust_external_edits: bool = True
    """Edits found on disk are a person's. Off where an agent has a shell: then they are anybody's."""

    # --- lock ------------------------------------------------------------------------
    lock_seconds: float = 60.0
    """Nothing holds the lock for longer than a disk takes; past this the holder hangs."""

    # --- the state -------------------------------------------------------------------
    state_tokens: int = 750
    """The state is in every prompt: past this, what is settled moves to pages. It is some ten decisions and twenty
    tasks; nobody keeps more in mind."""

    state_least_tokens: int = 250
    """What is left in the state when something moves: with less, the next decision would not know the last ones."""

    # --- the window ------------------------------------------------------------------
    tail_turns: int = 4
    """Turns that a compaction leaves as they are: what was said last is what is meant by "it"."""

    max_episodic_items: int = 3
    """Summaries that a snapshot shows. Older ones stay in their entries."""

    max_semantic_items: int = 20
    """Decisions, constraints and open work that a snapshot shows."""

    summary_tokens: int = 2000
    """The longest summary of one compaction; an eighth of the budget where that is less."""

    semantic_tokens: int = 1500
    """The longest list of what must be kept; an eighth of the budget where that is less."""

    compact_to: float = 0.5
    """The part of the budget that a compaction aims at: room for as much talk again before the next one."""

    prepare_ratio: float = 0.6
    """From this part of the budget on, a slow distiller begins in the background."""

    distill_seconds: float = 120.0
    """A distiller that takes longer is not waited for: the rules take over."""

    session_seconds: float = 3600.0
    """`looseleaf record` goes on in the last session if something was said in it within this time."""

    raw_bytes: int = 1024 * 1024
    """The longest `raw.md` of a compaction: past it the log itself is the readable copy."""

    # --- the profile -----------------------------------------------------------------
    profile_tokens: int = 1000
    """USER.md is in every prompt, whole: a page that is read in a minute, and under a hundredth of most contexts."""

    tidy_to: float = 0.8
    """The part of that which tidying aims at: room for some weeks, so that lines do not move at every fact."""

    tidy: bool = False
    """Whether USER.md is tidied by itself. Off: people do not expect lines to move."""

    tidy_days: float = 7.0
    """By itself at most so often: a person should find his page as he left it for a week."""

    # --- the prompt ------------------------------------------------------------------
    index_pages: int = 50
    """Pages that the index of a prompt lists, the last changed ones: about a thousand tokens. The others are found."""

    least_window_tokens: int = 500
    """Where talk has less room than this, a prompt shows the last of it, and nothing is compacted for it."""

    # --- recall ----------------------------------------------------------------------
    semantic: str = "off"
    """Whether meaning is compared too, and by what: `minilm` (in this process; needs the extra `semantic`), or the
    address of an endpoint and its model. Off: words do most of it, and nothing has to be loaded."""

    # --- the model: also for one agent, in a table [agents.<name>] ---------------------
    model: str | None = None
    """Whose context size counts. None: 200,000 tokens, until somebody says which model it is."""

    context_tokens: int | None = None
    """What the server really takes, where that is less than the model could."""

    max_tokens: int | None = None
    """Room kept for the answer. None: as much as the model can give."""

    safety_margin_tokens: int | None = None
    """Room kept for what is counted differently elsewhere. None: the model's own."""

    compaction_ratio: float | None = None
    """The part of the budget at which a compaction is asked for. None: the model's own (0.8)."""

    provider: str | None = None
    """Who is asked: anthropic, openai, openai-chat (and whatever speaks it), gemini, openrouter, deepseek, ollama; or a
    coding agent's own command line: claude-code, codex, gemini-cli. None: as the model's name says, else as the
    environment does (a key, a server on this machine)."""

    base_url: str | None = None
    """Where it is asked. None: the provider's own address."""

    distiller: str = "rules"
    """Who distills when nobody says: `rules`; `model`, the one of these settings and the environment; or one by its
    name, such as `claude-code`, `codex`, `gemini-cli` or `provider/model`. A model sends what was said to its provider,
    so it is asked for by name; `looseleaf chat` distills with the model that it talks to, which has heard it all."""

    verify: str = "words"
    """How what a model concluded is checked: by `words`, or with `model`, which is shown each claim that words do not
    prove, with its quote alone. A yes never makes it the user's word."""

    model_seconds: float = 300.0
    """The time limit of one call of a model. Long thinking takes minutes; what takes longer hangs."""

    model_retries: int = 4
    """How often a call that met a rate limit, a server's fault or a cut line is made again. 0: never."""

    # --- the agent -------------------------------------------------------------------
    agent_steps: int = 24
    """Calls of the model for one request: past that it runs in circles."""

    tool_seconds: float = 120.0
    """How long a tool is waited for. One that comes later is heard later."""

    reflect_steps: int = 6
    """Calls of the model in which a task is reflected on: read, write, mend, and an end."""

    reflect_tokens: int = 60_000
    """Tokens that reflecting on one task may take, read and written."""

    trim_chars: int = 200
    """What a model that distills is shown of a tool's result: memory is made of what people said."""

    # --- what may be spent ---------------------------------------------------------------
    day_tokens: int | None = None
    """Tokens, read and written, that models may take in a day (UTC) for this memory. Past it nobody is asked any more,
    and the rules distill."""

    day_cost: float | None = None
    """The same in US dollars, where prices are known."""

    price_input: float | None = None
    """US dollars for a million tokens read. None: as the table of prices says."""

    price_cached: float | None = None
    """The same for tokens that came from the provider's cache."""

    price_output: float | None = None
    """The same for tokens written."""


@frozen
class Ranking:
    """The weights of recall, one table for every kind of text. `benchmarks/tune_recall.py` finds them."""

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
    """What a word in the item before counts: an answer does not repeat the question."""

    after: float = 0.48
    """What a word in the item after counts: a reply names what was only pointed at."""

    second_before: float = 0.35
    """The same of the item before that."""

    second_after: float = 0.15
    """The same of the item after that."""

    context: float = 0.8
    """How soon a word that stands in the item and around it stops counting more: each word of the question found once
    is worth more than one of them found everywhere."""

    own: float = 0.2
    """What a word in the item itself counts besides: what it says more than what it is said next to."""

    session: float = 0.56
    """What the words of the whole session count: a talk about the matter."""

    session_repeats: float = 0.8
    """How soon a word repeated in a session stops counting more."""

    speaker: float = 0.7
    """How much more an item counts that was said by whom the question names."""

    company: float = 0.5
    """How much more an item counts of a session in which he speaks, whoever said it: things are told to him, too."""

    name: float = 0.2
    """What a speaker's name counts as a word in a text: it is mostly said to him, and hardly ever by him."""

    substance: float = 0.35
    """How much more a long item counts than one of no words: "Thanks!" stands next to many answers and is none."""

    little: float = 3.0
    """Terms with which an item has half of that."""

    date: float = 1.0
    """How much more an item counts that is of the time the question names."""

    dated: float = 1.5
    """What such an item has without any word of the question, as a part of the rarest word's weight."""

    days_before: float = 5.0
    """Days before the asked time after which an item counts a third: people announce things shortly before."""

    days_after: float = 20.0
    """Days after the asked time after which an item counts a third: people tell of things later than they happen."""

    recent: float = 0.02
    """How much more the newest item counts than an old one: decides between equals, and little else."""

    recent_days: float = 180.0
    """Days after which an item is no longer recent."""

    verbose: float = 0.4
    """How much less the assistant's items count where they are longer than the user's, as a power of how much longer,
    for themselves and for what stands beside them: long answers touch on everything, and what is asked for later is
    mostly what the user said."""

    tool: float = 0.8
    """What the output of a tool counts: it was looked at once, and can be asked for again."""

    fact: float = 1.25
    """What a fact counts: it was distilled, and has no neighbours that speak for it."""

    prose: float = 1.15
    """A paragraph of a page: written by a person, with few neighbours."""

    episode: float = 1.0
    """A summary of what was done."""

    day: float = 0.95
    """A day's page repeats its episodes."""

    entry: float = 1.0
    """A distillation."""

    quote: float = 0.8
    """The words in which a fact was said. Where only they match, what was said is the better answer."""

    summary: float = 0.6
    """A summary of talk that is here too, word for word: what was said is the better answer."""

    least: float = 0.4
    """The part of the best hit's strength below which there are no more hits: what follows is what stood beside it."""

    least_of_many: float = 0.25
    """The same for who asks for more than ten, or for what a budget has room for."""

    meaning: float = 0.9
    """What the likest meaning counts (the cosine, from the least to the most of the items at hand), as a part of the
    best strength by words."""

    meaning_around: float = 0.3
    """What the likeness of the items before and after counts beside an item's own."""

    covered: float = 0.148
    """The part of what is asked (its words by how rare they are, unknown ones the rarest) that must be found for an
    answer to be as likely as not. Of an unrelated question a part is found by chance, of most others far more."""

    crowd: float = 0.034
    """How much more than that for each time that there are 2.7 times as many items: chance finds more among more."""

    steep: float = 19.0
    """How fast it becomes surer with the part that is found."""

    alike: float = 0.335
    """The cosine of the likest item at which, by itself, an answer is as likely as not. It is the model's: this is
    that of MiniLM, for questions without names."""

    alike_steep: float = 25.0
    """How fast it becomes surer with the cosine."""

    by_words: float = 0.4
    """What the words found count beside the meaning: what both say is not said twice."""

    abstain: float = 0.35
    """Less sure than this, nothing is returned. Below it are nine of ten unrelated questions, and one in a hundred of
    the answers; those are the answers that hardly share a word with their questions."""


SETTINGS = frozenset(Policy.__annotations__)
OF_AGENTS = frozenset(
    "model context_tokens max_tokens safety_margin_tokens compaction_ratio tail_turns provider base_url".split()
)
"""Settings that may differ between the agents of one memory."""

_KINDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
_WANTED: dict[str, type] = {
    "model": str,
    "context_tokens": int,
    "max_tokens": int,
    "safety_margin_tokens": int,
    "compaction_ratio": float,
    "provider": str,
    "base_url": str,
    "day_tokens": int,
    "day_cost": float,
    "price_input": float,
    "price_cached": float,
    "price_output": float,
}
_COUNTS = frozenset(("model_retries",))
"""Numbers of times, which may be none."""
_RATIOS = frozenset(("compaction_ratio", "compact_to", "prepare_ratio", "tidy_to"))
_DAYS = frozenset(("tidy_days",))
_MOST_DOLLARS = 1e12
"""More is a mistake."""
_DOLLARS = frozenset(("day_cost", "price_input", "price_cached", "price_output"))
COMMAND_LINES = ("claude-code", "codex", "gemini-cli")
_PROVIDERS = ("anthropic", "openai", "openai-chat", "gemini", "openrouter", "deepseek", "ollama")
_CHOICES = {"verify": ("words", "model"), "provider": (*_PROVIDERS, *COMMAND_LINES)}
_OTHERWISE = {
    "day_tokens": "no ceiling",
    "day_cost": "no ceiling",
    "base_url": "the provider's own",
} | dict.fromkeys(("price_input", "price_cached", "price_output"), "what the table of prices says")
"""What holds where a setting is left out that has no value of its own. Of the others the model decides."""
_NEAR = 0.7
"""How alike a name must be to a setting to be a misspelling of it: two letters of seven may be wrong."""
_MOST_DAYS = 3650.0
"""Ten years: more is a mistake, or means never, which is said by turning the thing off."""

_LONGEST = 86_400.0
"""No wait of more than a day: it would be a mistake, and some systems cannot wait for longer than they can count."""


def policy_from(settings: dict[str, Any], where: str = "looseleaf.toml", agent: str | None = None) -> Policy:
    """The default policy with `settings` laid over it, and over those the ones of the agent; refuses names and types
    it does not know."""
    changed: dict[str, Any] = {}
    for name, value in settings.items():
        if name == "agents":
            changed |= _of_agent(value, where, agent)
        elif name not in SETTINGS:
            raise _unknown(where, name, name, SETTINGS | {"agents"})
    for name, value in settings.items():
        if name != "agents":
            changed.setdefault(name, _valid(where, name, value))
    return Policy(**changed)


def _of_agent(tables: Any, where: str, agent: str | None) -> dict[str, Any]:
    """The settings of one agent. Those of the others are looked at too: a typing error should not wait for its day."""
    own: dict[str, Any] = {}
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise Refused(
            f"The memory was not opened: in {where}, `agents` must be tables, as in [agents.main]. Mend that line."
        )
    for name, table in tables.items():
        for setting, value in table.items():
            if setting not in OF_AGENTS:
                raise _unknown(where, f"{name}.{setting}", setting, OF_AGENTS)
            valid = _valid(where, setting, value)
            if name == agent:
                own[setting] = valid
    return own


def _unknown(where: str, name: str, setting: str, known: frozenset[str]) -> Refused:
    from difflib import get_close_matches

    # What is a setting elsewhere is not misspelt.
    near = [] if setting in SETTINGS else get_close_matches(setting.lower(), sorted(known), 1, _NEAR)
    if near:
        meant = "[agents.main]" if near[0] == "agents" else near[0]
        advice = f"Did you mean `{meant}`? Mend that line, or delete it."
    else:
        advice = f"Delete that line, or use one of: {', '.join(sorted(known))}."
    return Refused(f"The memory was not opened: {where} sets {name!r}, which is no setting. {advice}")


def _valid(where: str, name: str, value: Any) -> Any:
    wanted: Any = _WANTED.get(name) or type(getattr(Policy(), name))
    if type(value) is not wanted and not (wanted is float and type(value) is int):
        raise _bad(where, name, f"must be {_KINDS[wanted]}, not {value!r}")
    if wanted in (str, bool):
        return _worded(where, name, value)
    if name in _DOLLARS:
        if not 0 <= value <= _MOST_DOLLARS:  # also what is no number (nan)
            raise _bad(where, name, f"must be an amount in US dollars, 0 or more, not {value!r}")
        return float(value)
    if name in _COUNTS and value < 0:
        raise _bad(where, name, f"must be 0 or more, not {value!r}")
    if not value > 0 and name not in _COUNTS:  # also what is no number (nan)
        raise _bad(where, name, f"must be greater than zero, not {value!r}")
    if name in _RATIOS:
        if value > 1:
            raise _bad(where, name, f"must be at most 1, not {value!r}")
    elif name in _DAYS:
        if value > _MOST_DAYS:
            raise _bad(where, name, f"must be at most {_MOST_DAYS:,.0f} days, not {value!r}")
    elif wanted is float and value > _LONGEST:
        raise _bad(where, name, f"must be at most {_LONGEST:,.0f} seconds, not {value!r}")
    return wanted(value)


def _worded(where: str, name: str, value: str | bool) -> str | bool:
    if name in _CHOICES and value not in _CHOICES[name]:
        raise _bad(where, name, f"must be one of {', '.join(_CHOICES[name])}, not {value!r}")
    if name == "distiller" and not is_distiller(str(value)):
        named = f"rules, model, {', '.join(COMMAND_LINES)}, or a model as in `ollama/llama3.2`"
        raise _bad(where, name, f"must be one of {named}, not {value!r}")
    if name == "base_url" and not _is_address(str(value)):
        # Not said again: an address may hold a password.
        raise _bad(
            where,
            name,
            "must be an address that begins with https:// or http://, with nothing else around it",
        )
    return value


def is_distiller(name: str) -> bool:
    """Whether the setting `distiller` may say so."""
    provider, _, model = name.partition("/")
    if name in ("rules", "model", *COMMAND_LINES):
        return True
    return provider in (*_PROVIDERS, *COMMAND_LINES) and bool(model.strip())


def _is_address(text: str) -> bool:
    scheme, _, rest = text.partition("://")
    is_plain = text.isprintable() and not any(each.isspace() for each in text)
    return (
        scheme.lower() in ("http", "https") and rest.strip("/") != "" and rest[0] not in "/?#:" and is_plain
    )


def _bad(where: str, name: str, fault: str) -> Refused:
    default = getattr(Policy(), name)
    otherwise = _OTHERWISE.get(name, "which the model decides") if default is None else default
    return Refused(
        f"The memory was not opened: in {where}, `{name}` {fault}. Mend that line, or delete it to have the default, "
        f"{otherwise}."
    )
