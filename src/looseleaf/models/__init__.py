"""Models: stateless callers, one small file for each provider's SDK, which is imported when it is first called.

Importing this loads nothing; the names below are loaded when they are first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.models.choice import choose
    from looseleaf.models.providers.anthropic import Anthropic
    from looseleaf.models.providers.command_line import ClaudeCode, Codex, GeminiCLI
    from looseleaf.models.providers.gemini import Gemini
    from looseleaf.models.providers.ollama import Ollama
    from looseleaf.models.providers.openai import OpenAI, OpenAIChat
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
    if name == "Anthropic":
        from looseleaf.models.providers.anthropic import Anthropic

        return Anthropic
    if name == "Gemini":
        from looseleaf.models.providers.gemini import Gemini

        return Gemini
    if name == "Ollama":
        from looseleaf.models.providers.ollama import Ollama

        return Ollama
    if name == "OpenAI":
        from looseleaf.models.providers.openai import OpenAI

        return OpenAI
    if name == "OpenAIChat":
        from looseleaf.models.providers.openai import OpenAIChat

        return OpenAIChat
    if name == "ScriptedModel":
        from looseleaf.models.providers.scripted import ScriptedModel

        return ScriptedModel
    if name in ("ClaudeCode", "Codex", "GeminiCLI"):
        from looseleaf.models.providers import command_line

        return getattr(command_line, name)
    if name == "choose":
        from looseleaf.models.choice import choose

        return choose
    raise AttributeError(f"module 'looseleaf.models' has no attribute {name!r}")
