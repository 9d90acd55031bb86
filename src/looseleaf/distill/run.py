"""Running a distiller that somebody else wrote: it may raise, hang, or return anything. What came of it is said."""

from __future__ import annotations

import json

from looseleaf.base.messages import NOTED, Distilled, Noted
from looseleaf.facts.gate import says
from looseleaf.language.own_words import own_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Event
    from typing import Any, TypeVar

    from looseleaf.base.messages import Distiller, Material, Trace

    T = TypeVar("T")

_LONGEST_SENTENCE = 400


def shown_to_a_model(material: Material) -> Iterator[Trace]:
    """What a model reads of a material: where that knows the difference, all but what is plainly forbidden."""
    read: Callable[[], Iterator[Trace]] = getattr(material, "for_a_model", material.traces)
    return read()


class Watched:
    """Material, and a flag that is set when nobody waits any more for what is made of it."""

    def __init__(self, material: Material, cancel: Event) -> None:
        self._material = material
        self.cancel = cancel

    def traces(self) -> Iterator[Trace]:
        return self._material.traces()

    def for_a_model(self) -> Iterator[Trace]:
        return shown_to_a_model(self._material)


class Missing:
    """In the place of a distiller that was asked for and is not there. The rules distill, and the entry says why: it is
    made again when there is one."""

    name = "missing"

    def __init__(self, why: str) -> None:
        self.why = why

    def distill(self, material: Material, tokens: int) -> Distilled:
        from looseleaf.base.errors import Refused

        raise Refused(self.why)


def run(distiller: Distiller, material: Material, tokens: int, seconds: float) -> Distilled | str:
    """What it made, or the sentence that says why not. It is not waited for past its time; one that looks at the
    material's `cancel` stops asking then."""
    if isinstance(distiller, Missing):
        return distiller.why
    from threading import Event

    cancel = Event()

    def work() -> Distilled | str:
        made: object = distiller.distill(Watched(material, cancel), tokens)
        return made if isinstance(made, Distilled) and not _fault(made) else f"returned {_fault(made)}"

    try:
        made = _in_time(work, seconds)
    finally:
        cancel.set()
    return _heard(made, material) if isinstance(made, Distilled) else f"{distiller.name} {made}"


def checked(
    check: Callable[[list[tuple[str, str]]], set[int]], pairs: list[tuple[str, str]], seconds: float
) -> set[int] | str:
    """What a second look says, or the sentence that says why there was none."""
    found = _in_time(lambda: check(pairs), seconds)
    return found if not isinstance(found, str) else f"it {found}"


def _in_time(work: Callable[[], T], seconds: float) -> T | str:
    """What custom code returns, or how it failed. It is not waited for past its time."""
    from threading import Thread

    answer: list[T | str] = []

    def run_it() -> None:
        try:
            answer.append(work())
        except BaseException as error:  # noqa: BLE001 - custom code may raise anything; what, is reported
            answer.append(f"raised {type(error).__name__}: {_said_by(error)}")

    thread = Thread(target=run_it, daemon=True)
    thread.start()
    thread.join(seconds)
    return answer[0] if answer else f"took longer than {seconds:g} s"


def _heard(made: Distilled, material: Material) -> Distilled:
    """Without the sentences that only tools said, or a text that the user pasted: what is noted is told in every later
    prompt, as what was decided and is to be done."""
    noted = [each for name in NOTED for each in getattr(made, name)]
    spoken = (
        [trace for trace in shown_to_a_model(material) if not trace.trace_type.startswith("tool")]
        if noted
        else []
    )
    if not noted:
        return made
    unheard = {each.text for each in noted}
    for trace in spoken:
        own = own_words(trace.content) if trace.trace_type == "user" else trace.content
        unheard = {text for text in unheard if not says(text, own)}
    kept: dict[str, Any] = {name: getattr(made, name) for name in made.__match_args__}
    for name in NOTED:
        kept[name] = tuple(each for each in kept[name] if each.text not in unheard)
    return Distilled(**kept)


def redacted(made: Distilled, clean: Callable[[Any], Any]) -> Distilled:
    """Without secrets: a model may have been told one elsewhere."""
    kept: dict[str, Any] = {
        name: tuple(
            Noted(clean(each.text), each.source, clean(each.replaces)) for each in getattr(made, name)
        )
        for name in NOTED
    }
    kept |= {"private": made.private, "model": made.model, "tokens": made.tokens, "cost": made.cost}
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
    texts: tuple[object, ...] = (
        (each.text, each.source, each.replaces) if isinstance(each, Noted) else (None,)
    )
    return all(type(text) is str for text in texts)
