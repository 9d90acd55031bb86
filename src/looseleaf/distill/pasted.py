"""A message without what was pasted into it: mails, logs, transcripts, texts to work on, memory that was recalled.

Line by line, in time linear in the message. What is left are stretches of the message as they stood.
"""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy

READ_CHARS = (10_000, 2_000)
"""Of a longer message so much is read at its beginning and its end: the rest nobody wrote by hand."""

_I = re.IGNORECASE
_TEXTS = (
    r"(?:e-?mail|mail|text|message|log|logs|letter|article|comment|post|review|essay|output|error|"
    r"paragraph|transcript|ad|listing|"
    r"cv|resume|bio|draft|story|poem|lyrics|passage|snippet|document|excerpt|conversation|note|contract|"
    r"stack ?trace|traceback|"
    r"tweet|quote|sentence|example|speech|chapter|report|mail|nachricht|brief|artikel|courriel|texte|"
    r"lettre|correo|texto|carta|"
    r"mensaje|data|dump|config|profile|description|abstract|json|csv|file|survey|response|answers?|"
    r"dialog(?:ue)?)"
)
_INTRODUCES = lazy(
    r"\b(?:translate|proofread|correct|rewrite|summari[sz]e|rephrase|paraphrase|improve|fix|edit|polish|"
    r"shorten|check|review|"
    r"classify|extract|parse|analy[sz]e|grade|write|übersetze|übersetz|korrigiere|fasse|traduis|traduisez|"
    r"corrige|résume|"
    r"traduce|traduzca|resume|say|repeat|spell|continue|complete)\b[^:\n：?.!]{0,80}(?::(?=\s|\Z)|：)"
    r"|\b(?:here(?:'s|’s| is| are| comes)|this is|below|following|see|got|received|found|hier "
    r"(?:ist|sind|kommen|kommt|folgen|folgt|die|der|das)|folgende|"
    r"voici|voilà|ci-dessous|aquí (?:están?|tienes|van?)|siguiente|pasted?|quoting|copied|what does|"
    rf"in)\b[^:\n：.!]{{0,60}}\b{_TEXTS}\b"
    r"[^:\n：.!]{0,60}(?:(?::(?=\s|\Z)|：)|\Z)"
    r"|\b(?:says|said|reads|states|wrote|writes|sagt|schrieb|dit|écrit|dice|escribió)\b[^:\n：]{0,40}[:：][ "
    r"\t]*\Z"
    r"|(?:翻译|润色|改写|总结|翻訳|要約|添削|修改|校对|校正)[^:\n：]{0,40}[:：]"
    r"|(?:这是|以下是|下面是|这里是|以下は|以下の|次の|これは)[^:\n：]{0,40}[:：]",
    _I,
)
_ASKS_OF = lazy(
    r"\b(?:translate|proofread|correct|rewrite|summari[sz]e|rephrase|improve|fix|edit|polish|shorten|check|"
    r"review|read|look at|"
    r"what do (?:you|they) (?:think|make|mean)|feedback on|grade|"
    rf"answer)\b[^:\n]{{0,60}}\b{_TEXTS}\b[^:\n]{{0,30}}[?.!]?[ \t]*\Z",
    _I,
)
_IS_RIGHT = lazy(
    r"\bis (?:this|it|the following)(?: sentence| phrase| text| paragraph| email| message)? "
    r"(?:correct|right|grammatical|ok|okay|good english|idiomatic)\b[^?\n]{0,30}\?",
    _I,
)
_HEADER = lazy(
    r"[ \t]*(?:from|to|subject|date|cc|sent|reply-to|von|an|betreff|de|à|objet|para|asunto) ?: \S", _I
)
_LETTER = lazy(
    r"[ \t]*(?:dear|hi|hello|sehr geehrte[r]?|liebe[r]?|cher|chère|bonjour|estimad[oa]s?|querid[oa]|尊敬的|"
    r"拝啓)\b[^.!?\n]{0,50}[,:，：]?[ \t]*\Z",
    _I,
)
_CLOSING = lazy(
    r"(?im)^[ \t]*(?:(?:kind|best|warm|many)? ?regards|sincerely|yours(?: \w+)?|best(?: wishes)?,|cheers,|"
    r"mit freundlichen grüßen|viele grüße|"
    r"cordialement|bien à vous|saludos|atentamente|敬具|此致)\b"
)
_LOGGED = lazy(
    r"[ \t]*(?:\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:|\[?[0-9]{2}:[0-9]{2}:[0-9]{2}|\[?(?:INFO|"
    r"WARN(?:ING)?|ERROR|DEBUG|TRACE|"
    r"FATAL|CRITICAL)\b|Traceback |File \"|at [\w.$]+\(|\$ |>>> |\.\.\. |[\w.-]+@[\w.-]+:|npm ERR|\+\+\+ |"
    r"--- |@@ )"
)
_SPEAKER = lazy(
    r"[ \t]*(?:\[?[0-9:. ]+\]? ?)?(?:[A-Z][\w.'-]{1,20}(?: [A-Z][\w.'-]{1,20})?|[a-z]{2,12})"
    r" ?[:：] ?\S"
)
_RULE = lazy(r"[ \t]*(?:-{3,}|={3,}|\*{3,}|_{3,}|\"{3})[ \t]*\r?\n?\Z")
_INDENTED = lazy(r"(?: {4,}|\t+)(?![ \t]*(?:[-*+•]|[0-9]{1,3}[.)])[ \t])")
_GREETING = lazy(
    r"[ \t]*(?:dear|hi|hello|hey|good (?:morning|day)|sehr geehrte|guten tag|hallo|cher|chère|bonjour|"
    r"madame|monsieur|estimad|hola|buenos días)\b",
    _I,
)
_RECALLED = lazy(r"[ \t]*<(/?)(?:recalled|memory|memories|looseleaf)[\w-]*[^<>\n]{0,200}>[ \t]*\Z", _I)


def own_words(text: str) -> list[str]:
    """Stretches of `text` that the user wrote for this message, in their order."""
    first, last = READ_CHARS
    if len(text) > first + last:
        return [*own_words(text[:first]), *_stretches(text[-last:].partition("\n")[2])]
    return _stretches(text)


def _stretches(text: str) -> list[str]:
    lines = text.splitlines(keepends=True)
    talks = sum(_SPEAKER.match(line) is not None for line in lines)
    headers = sum(_HEADER.match(line) is not None for line in lines)
    is_letter = _CLOSING.search(text) is not None
    kept: list[str] = []
    stretch: list[str] = []
    is_recalled = is_ruled = fenced = False
    rules = sum(_RULE.match(line) is not None for line in lines)
    for place, line in enumerate(lines):
        bare = line.rstrip("\r\n")
        mark = _RECALLED.match(bare)
        if mark:
            is_recalled = not mark[1]
        if bare.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        is_mail = (headers > 1 and _HEADER.match(bare)) or (is_letter and _LETTER.match(bare))
        is_mail = is_mail or (place > 0 and not lines[place - 1].strip() and _GREETING.match(bare))
        if rules > 1 and _RULE.match(bare):
            is_ruled = not is_ruled
        drop = (
            mark
            or is_recalled
            or is_ruled
            or (
                not is_mail
                and not fenced
                and (_LOGGED.match(bare) or _INDENTED.match(bare) or (talks > 2 and _SPEAKER.match(bare)))
            )
        )
        if drop:
            kept.append("".join(stretch))
            stretch = []
            continue
        begins = (
            None if fenced else _INTRODUCES.search(bare) or _ASKS_OF.search(bare) or _IS_RIGHT.search(bare)
        )
        has_more = begins is not None and (
            bare[begins.end() :].strip() or any(map(str.strip, lines[place + 1 :]))
        )
        if is_mail or (begins and has_more):
            stretch.append(bare[: begins.start()] if begins and not is_mail else "")
            break
        stretch.append(line)
    kept.append("".join(stretch))
    return [each for each in kept if each.strip()]
