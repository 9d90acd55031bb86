"""What explaining reads of an open memory. For type checkers only."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from looseleaf.facts.known_facts import Facts
    from looseleaf.pages.pages import Pages
    from looseleaf.place.notebook import Notebook
    from looseleaf.prompt.prompts import Prompts
    from looseleaf.store.context import Context
    from looseleaf.window.conversation import Conversation

    class Needs(Protocol):
        context: Context

        @property
        def conversation(self) -> Conversation: ...
        @property
        def known(self) -> Facts: ...
        @property
        def notebook(self) -> Notebook: ...
        @property
        def pages(self) -> Pages: ...
        @property
        def prompts(self) -> Prompts: ...
