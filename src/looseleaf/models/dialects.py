"""Which dialect a provider speaks: one module for each shape. All of them pure: no SDK, no network, no clock."""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.models.dialect import Dialect

NAMES = ("openai", "openai-chat", "anthropic", "gemini", "ollama")


def dialect(name: str) -> Dialect:
    """The dialect of that name. Each is loaded when it is first spoken."""
    if name == "openai":
        from looseleaf.models.providers.openai_responses import DIALECT
    elif name == "openai-chat":
        from looseleaf.models.providers.openai_chat import DIALECT
    elif name == "anthropic":
        from looseleaf.models.providers.anthropic_dialect import DIALECT
    elif name == "gemini":
        from looseleaf.models.providers.gemini_dialect import DIALECT
    elif name == "ollama":
        from looseleaf.models.providers.ollama_dialect import DIALECT
    else:
        raise Refused(f"No model was asked: {name!r} is no dialect. Use one of {', '.join(NAMES)}.")
    return DIALECT
