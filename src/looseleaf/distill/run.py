"""Running a distiller that somebody else wrote: it may raise, hang, or return anything. What came of it is said."""

from __future__ import annotations

import json

from looseleaf.core.gate import says
from looseleaf.talk import NOTED, Distilled, Noted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Event
    from typing import Any

    from looseleaf.talk import Distiller, Material, Trace

_LONGEST_SENTENCE = 400


class Watched:
    """Material, and a flag that is set when nobody waits any more for what is made of it."""

    def __init__(self, material: Material, cancel: Event) -> None:
        self._material = material
        self.cancel = cancel

    def traces(self) -> Iterator[Trace]:
        return self._material.traces()


def run(distiller: Distiller, material: Material, tokens: int, seconds: float) -> Distilled | str:
    """What it made, or the sentence that says why not. It is not waited for past its time; one that looks at the
    material's `cancel` stops asking then."""
    from threading import Event, Thread

    answer: list[Distilled | str] = []
    cancel = Event()

    def work() -> None:
        try:
            made: object = distiller.distill(Watched(material, cancel), tokens)
            answer.append(
                made if isinstance(made, Distilled) and not _fault(made) else f"returned {_fault(made)}"
            )
        except BaseException as error:  # noqa: BLE001 - somebody else's code may raise anything; what, is reported
            answer.append(f"raised {type(error).__name__}: {_said_by(error)}")

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        thread.join(seconds)
    finally:
        cancel.set()
    made = answer[0] if answer else f"took longer than {seconds:g} s"
    return _heard(made, material) if isinstance(made, Distilled) else f"{distiller.name} {made}"


def _heard(made: Distilled, material: Material) -> Distilled:
    """Where tools spoke, without the sentences that only they said: what is noted is told in every later prompt, as
    what was decided and is to be done."""
    noted = [each for name in NOTED for each in getattr(made, name)]
    if not noted or not any(trace.trace_type == "tool_result" for trace in material.traces()):
        return made
    unheard = {each.text for each in noted}
    for trace in material.traces():
        if unheard and not trace.trace_type.startswith("tool"):
            unheard = {text for text in unheard if not says(text, trace.content)}
    kept: dict[str, Any] = {name: getattr(made, name) for name in made.__match_args__}
    for name in NOTED:
        kept[name] = tuple(each for each in kept[name] if each.text not in unheard)
    return Distilled(**kept)


def redacted(made: Distilled, clean: Callable[[Any], Any]) -> Distilled:
    """Without secrets: a model may have been told one elsewhere."""
    kept: dict[str, Any] = {
        name: tuple(Noted(clean(each.text), each.source) for each in getattr(made, name)) for name in NOTED
    }
    kept |= {"model": made.model, "tokens": made.tokens, "cost": made.cost}
    return Distilled(clean(made.summary), clean(made.episode), tuple(map(clean, made.facts)), **kept)


def _said_by(error: BaseException) -> str:
    try:
        said = " ".join(str(error).split())
        return said if len(said) <= _LONGEST_SENTENCE else f"{said[:_LONGEST_SENTENCE].rpartition(' ')[0]} …"
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
