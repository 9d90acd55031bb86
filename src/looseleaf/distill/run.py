"""Running a distiller that somebody else wrote: it may raise, hang, or return anything. What came of it is said."""

from __future__ import annotations

import json

from looseleaf.talk import NOTED, Distilled, Noted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from looseleaf.talk import Distiller, Material

_LONGEST_SENTENCE = 200


def run(distiller: Distiller, material: Material, tokens: int, seconds: float) -> Distilled | str:
    """What it made, or the sentence that says why not. It is not waited for past its time."""
    from threading import Thread

    answer: list[Distilled | str] = []

    def work() -> None:
        try:
            made: object = distiller.distill(material, tokens)
            answer.append(
                made if isinstance(made, Distilled) and not _fault(made) else f"returned {_fault(made)}"
            )
        except BaseException as error:  # noqa: BLE001 - somebody else's code may raise anything; what, is reported
            answer.append(f"raised {type(error).__name__}: {_said_by(error)}")

    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    made = answer[0] if answer else f"took longer than {seconds:g} s"
    return made if isinstance(made, Distilled) else f"{distiller.name} {made}"


def redacted(made: Distilled, clean: Callable[[Any], Any]) -> Distilled:
    """Without secrets: a model may have been told one elsewhere."""
    kept: dict[str, Any] = {
        name: tuple(Noted(clean(each.text), each.source) for each in getattr(made, name)) for name in NOTED
    }
    kept |= {"model": made.model, "tokens": made.tokens, "cost": made.cost}
    return Distilled(clean(made.summary), clean(made.episode), tuple(map(clean, made.facts)), **kept)


def _said_by(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())[:_LONGEST_SENTENCE]
    except Exception:  # noqa: BLE001 - even this is somebody else's code
        return "it cannot say what"


def _fault(made: object) -> str | None:
    """What is wrong with a distiller's answer: its types are what somebody else's code says they are."""
    if not isinstance(made, Distilled):
        return f"{type(made).__name__}, which is no Distilled"
    summary: object = made.summary
    if type(summary) is not str or not summary.strip():
        return "no summary"
    for name in NOTED:
        noted: object = getattr(made, name)
        if not isinstance(noted, tuple) or not all(_is_noted(each) for each in noted):
            return f"{name} that are not a tuple of Noted"
    try:
        json.dumps([list(made.facts), made.episode], allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return "facts or an episode that JSON cannot hold"
    return None


def _is_noted(each: object) -> bool:
    texts: tuple[object, ...] = (each.text, each.source) if isinstance(each, Noted) else (None,)
    return all(type(text) is str for text in texts)
