"""Models: stateless callers, one module for each provider. Its SDK is imported on the first call.

Importing this package loads nothing; each name below is loaded on first use.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.models.choice import choose
    from looseleaf.models.providers.anthropic import Anthropic
    from looseleaf.models.providers.command_line import ClaudeCode, Codex, GeminiCLI
    from looseleaf.models.providers.gemini import Gemini
    from looseleaf.models.providers.ollama import Ollama
    from looseleaf.models.providers.openai import OpenAI
    from looseleaf.models.providers.openai_chat import OpenAIChat
    from looseleaf.models.providers.scripted import ScriptedModel

__all__ = [
    "Anthropic",
    "ClaudeCode",
    "Codex",
    "Gemini",
    "GeminiCLI",
    "Ollama",
    "OpenAI",
    "OpenAIChat",
    "ScriptedModel",
    "choose",
]


def __getattr__(name: str) -> object:
    home: object
    if name == "Anthropic":
        from looseleaf.models.providers import anthropic as home
    elif name == "Gemini":
        from looseleaf.models.providers import gemini as home
    elif name == "Ollama":
        from looseleaf.models.providers import ollama as home
    elif name == "OpenAI":
        from looseleaf.models.providers import openai as home
    elif name == "OpenAIChat":
        from looseleaf.models.providers import openai_chat as home
    elif name == "ScriptedModel":
        from looseleaf.models.providers import scripted as home
    elif name in ("ClaudeCode", "Codex", "GeminiCLI"):
        from looseleaf.models.providers import command_line as home
    elif name == "choose":
        from looseleaf.models import choice as home
    else:
        raise AttributeError(f"module 'looseleaf.models' has no attribute {name!r}")
    return getattr(home, name)
