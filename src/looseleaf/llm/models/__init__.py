"""Models: stateless callers, one small file for each provider's SDK, which is imported when it is first called.

Importing this loads nothing; the names below are loaded when they are first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.llm.models.anthropic import Anthropic
    from looseleaf.llm.models.choice import choose
    from looseleaf.llm.models.command_line import ClaudeCode, Codex, GeminiCLI
    from looseleaf.llm.models.gemini import Gemini
    from looseleaf.llm.models.ollama import Ollama
    from looseleaf.llm.models.openai import OpenAI, OpenAIChat
    from looseleaf.llm.models.scripted import ScriptedModel

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
        from looseleaf.llm.models.anthropic import Anthropic

        return Anthropic
    if name == "Gemini":
        from looseleaf.llm.models.gemini import Gemini

        return Gemini
    if name == "Ollama":
        from looseleaf.llm.models.ollama import Ollama

        return Ollama
    if name == "OpenAI":
        from looseleaf.llm.models.openai import OpenAI

        return OpenAI
    if name == "OpenAIChat":
        from looseleaf.llm.models.openai import OpenAIChat

        return OpenAIChat
    if name == "ScriptedModel":
        from looseleaf.llm.models.scripted import ScriptedModel

        return ScriptedModel
    if name in ("ClaudeCode", "Codex", "GeminiCLI"):
        from looseleaf.llm.models import command_line

        return getattr(command_line, name)
    if name == "choose":
        from looseleaf.llm.models.choice import choose

        return choose
    raise AttributeError(f"module 'looseleaf.llm.models' has no attribute {name!r}")
