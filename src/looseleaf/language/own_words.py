"""Whose words a message holds: what the user wrote, and what was pasted or quoted.

One filter for all that is learned from a message: facts, decisions, tasks, goals, episodes, evidence. It reads line
by line, in linear time. Code, logs, mails, talk of others and texts to work on are not the user's words. After such a
text the message may return to the user's own words: that part is a zone of its own, `after`."""

from __future__ import annotations

import re
from functools import lru_cache

from looseleaf.base.immutable import frozen
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    ZoneName = Literal["own", "loose", "after"]

READ_CHARS = (20_000, 4_000)
"""How much of a longer message to read at its beginning and end: no one typed the rest."""

_WORDS_OF_ANOTHER = 4
"""At least this many words in quotation marks are someone else's; fewer are a name."""

_LOOSE_LINES = 4
"""A message with more lines may be a pasted text as a whole."""

_I = re.IGNORECASE


@frozen
class Zone:
    """A stretch of a message from `start` to `end`. `own`: written for it; `loose`: one of many lines without a sign
    of their author; `after`: after a lead-in or a pasted text, where only a reader of sentences can tell."""

    start: int
    end: int
    name: ZoneName


# --- lines that no one writes to an assistant ------------------------------------------

_HARD = lazy(
    r"[ \t]*(?:>|\||\[?[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]?\[?[0-9]{2}:|\]? \[?(?:INFO|WARN|ERROR|DEBUG|FATAL))|"
    r"\[?[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?\]|"
    r"[0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"|\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|CRITICAL|PANIC)\b[\]: ]|Traceback |File \"|at "
    r"[\w.$<>]+\(|\$ \w|>>> "
    r"|npm (?:ERR|WARN)|(?:\+\+\+|---) [\w/.]|@@ |diff --git|index [0-9a-f]{6,}|Caused by:|"
    r"\w+(?:\.\w+)*(?:Error|Exception)\b:?"
    r"|#{1,6} \S|\{\"|\[\{|</?[a-zA-Z!][^<>]*>|<\?|[{}\[\]();]+,?[ \t]*\Z|"
    r"(?:import|from|const|let|var|def|class|function|return|export|"
    r"public|private|SELECT|INSERT|UPDATE|"
    r"CREATE) [\w{*(].{0,200}[;:){]\s*\Z|-{3,}|={3,}|_{3,}|\*{3,}|BEGIN:|END:|\w+@\w+:\S*[$#]"
    r"|[\w.-]+ ?= ?[\"'\[{0-9].*\Z)"
)
_INDENTED = lazy(r"(?: {4,}+|\t++)(?![ \t]*(?:[-*+•]|[0-9]{1,3}[.)])[ \t])\S")
_CHANGED = lazy(r"[+-](?![+-])\s*\S")
_HEADER = lazy(
    r"[ \t]*\**(?:from|to|subject|date|cc|bcc|sent|reply-to|von|an|betreff|gesendet|datum|de|à|objet|"
    r"envoyé|para|asunto|"
    r"enviado|assunto|da|a|oggetto|inviato|van|aan|onderwerp|"
    r"verzonden|发件人|收件人|主题|主旨|差出人|宛先|件名|보낸사람|보낸 사람|받는사람|제목)"
    r"\** ?[:：] ?\S",
    _I,
)
_MAIL = lazy(
    r"[ \t]*\**(?:(?:subject|betreff|objet|asunto|assunto|oggetto|onderwerp|主题|主旨|件名|제목)\** ?[:：] ?\S"
    r"|(?:from|von|de|da|van|发件人|差出人|보낸 ?사람)\** ?[:：] ?[^\n@]{0,80}@|-{2,} ?(?:forwarded|original|"
    r"weitergeleitet|mensaje|message))",
    _I,
)
_SPEAKER = lazy(
    r"[ \t]*+(?:[\[(]?[0-9][0-9:. /-]{0,30}(?:am|pm)?[\])]? ?)?[\[*<]{0,2}[^\W\d_][\w.'’-]{0,20}(?: "
    r"[^\W\d_][\w.'’-]{0,20})?[\]*>]{0,2} ?[:：] ?\S",
    _I,
)
_NO_SPEAKER = lazy(
    r"[ \t]*(?:note|update|correction|edit|reminder|also|about|actually|btw|important|ps|p\.s|fyi|tldr|"
    r"question|context|"
    r"background|goal|task|problem|wichtig|hinweis|frage|ziel|info|nota|pregunta|domanda|attention|remarque|https?|"
    r"and|but|so|no|yes|ok|for \w+|one|two|first|second|my \w+|our \w+|the \w+|new \w+)\b",
    _I,
)
_OF_SELF = lazy(
    r"[ \t]*\**[A-ZÄÖÜÉ][a-zäöüßéèêçñ'’-]{1,20}(?: [A-ZÄÖÜÉ][a-zäöüßéèêçñ'’-]{1,20})?\** ?: ?"
    r"(?:I|I['’](?:m|ve|d|ll)|My|Ich|Mein|Meine|Je|J['’]\w+|Yo|Mi|Eu|Meu|Minha|Io|Ik|Mijn)\b"
)
"""A speaker named before a colon, in the first person: a line of talk, even if it is the only one."""
_HEADINGS = frozenset(
    "me myself done todo fixed "
    "fact facts situation setup status preference preferences constraint requirement requirements issue bug "
    "summary reason answer hint warning caveat disclaimer confession hello hi hey thanks thank please today now "
    "basically honestly story result conclusion plan plans idea location work job hobbies family backstory details "
    "detail reality truth case spoiler tip wish request bonus intro introduction profile bio personal person extra "
    "other others final finally disclosure remember memo topic need needs setting settings environment stack tools "
    "kontext hintergrund wunsch bitte fakt tatsache kurz contexte contexto resumen résumé".split()
)
"""Words before a colon that are no speaker, besides the names of relations."""

_GREETING = lazy(
    r"[ \t]*(?:dear|hi|hello|hey|good (?:morning|day)|sehr geehrte\w*|liebe[rs]?|guten tag|hallo|beste|"
    r"geachte|cher|chère|bonjour|"
    r"madame|monsieur|estimad[oa]s?|querid[oa]s?|hola|buenos días|olá|prezad[oa]s?|car[oa]s?|gentile|"
    r"egregi\w*|ciao|buongiorno)"
    r"\b[^.!?\n]{0,40}[,!:]?[ \t]*\Z|[ \t]*(?:尊敬的|亲爱的|拝啓|お世話に|안녕하세요).{0,30}\Z",
    _I,
)
_CLOSING = lazy(
    r"[ \t]*(?:(?:kind|best|warm|many)? ?regards|sincerely|yours\b|best wishes|best,|cheers,|mit "
    r"freundlichen grüßen|viele grüße|"
    r"liebe grüße|beste grüße|mfg|lg\b|cordialement|bien à vous|bisous|saludos|atentamente|un abrazo|"
    r"atenciosamente|abraços?,|"
    r"cordiali saluti|distinti saluti|saluti|met vriendelijke groet|groetjes?|敬具|此致|祝好|よろしくお願い|드림\Z)",
    _I,
)

_LETTER = lazy(
    r"[ \t]*(?:(?i:dear|sehr geehrte\w*|liebe[rs]?|gentile|egregi\w*|car[oa]s?|chère?s?|estimad[oa]s?|"
    r"querid[oa]s?|prezad[oa]s?|beste|geachte)\s[^,:\n]{1,30}[,:]\s*\S"
    r"|(?i:hi|hello|hey|hallo|hola|ciao|salut|bonjour|olá|oi|hoi) (?!Claude|ChatGPT|Gemini|Copilot|I\b|"
    r"I'm)[A-Z]\w+(?: [A-Z]\w+)?, (?=[A-Za-z]))"
    r"|[ \t]*(?:尊敬的|亲爱的|親愛的)[^，：:\n]{1,12}[，：:]|"
    r"[ \t]*(?:拝啓|お世話になって)|[ \t]*[^，,\n]{1,10}(?:님께|귀하)"
)
"""The salutation of a letter, with text after it on the line."""

# --- lines that bring a text -----------------------------------------------------------

_WORK = (
    r"translat\w*|proof-?read\w*|summari[sz]e\w*|rephrase|paraphrase|rewrite|re-?word|polish|shorten|"
    r"tl;?dr|classify|grammar|turn (?:this |it |that )?(?:in)?to|convert|"
    r"spell-?check|grade|(?:fix|correct|edit|check|improve|review|read|rate|analy[sz]e|make|answer|respond "
    r"to|reply to) (?:this|these|that|it|the|my|his|her|"
    r"their|following)\b|übersetz\w*|korrigier\w*|korrekturles\w*|fass\w*(?: \w+){0,3} zusammen|"
    r"formulier\w*|verbesser\w*|"
    r"tradui\w*|corrige\w*|résume\w*|reformule\w*|améliore\w*|relis\w*|traduc\w*|traduz\w*|tradur\w*|"
    r"correg\w*|resum\w*|reescrib\w*|"
    r"mejora\w*|revis[ae]\w*|reescrev\w*|melhor\w*|corrig\w*|riassum\w*|riscriv\w*|migliora\w*|vertaal\w*|"
    r"vertalen|corrigeer|verbeter|"
    r"contéstal\w*|respóndel\w*|responde-l\w*|réponds-\w*|rispondigli\w*|antworte (?:ihm|ihr|ihnen|darauf)|"
    r"herschrijf|samenvat\w*|vat \w+ samen"
)
_WIDE_WORK = (
    r"翻译|翻譯|润色|改写|总结|校对|修改一下|概括|回复一下|翻訳|"
    r"要約|添削|校正|訳して|直して|번역|요약|교정|고쳐|다듬"
)
_BRINGS = (
    r"here(?:'s|’s| is| are| comes| it is| you go| they are)|below|following|pasted?|paste|copied|quot(?:e|"
    r"ing)|forwarded|fwd|see (?:this|attached)"
    r"|(?:got|received|found|saw|reading|wrote|writes|sent|posted|says|said|told me|replied|answered|goes|"
    r"reads) (?:this|me|us|that|it|back|in|the following)\b"
    r"|this is (?:what|the|from|how)|(?:the|this|my|his|her|their|our|error|full) (?:e-?mail|mail|text|"
    r"message|log|logs|letter|article|comment|post|"
    r"review|output|error|traceback|stack ?trace|transcript|draft|essay|story|poem|lyrics|song|diff|patch|"
    r"readme|issue|ticket|thread|config|"
    r"bio|cv|resume|ad|minutes|notes|snippet|paragraph|chapter|survey|listing|tweet|agents\.md|claude\.md)\b"
    r"|hier (?:ist|sind|kommt|die|der|das|mal)|folgende[rsn]?|unten|schrieb|schreibt|bekam|bekommen|hat(?: "
    r"\w+){0,3} geschrieben|gefunden"
    r"|voici|voilà|ci-dessous|suivante?s?|reçu|m'a écrit|m'a envoyé|a dit|aquí (?:está|tienes|va|te)|abajo|"
    r"siguientes?|recibí|me (?:escribió|mandó|llegó|dijo)"
    r"|aqui (?:está|vai|tem)|abaixo|seguintes?|recebi|me (?:escreveu|mandou)|disse|ecco|qui sotto|"
    r"seguenti?|ricevuto|mi ha (?:scritto|mandato|detto)"
    r"|hier(?:onder| is| heb)|volgende|kreeg|ontvangen|schreef"
)
_WIDE_BRINGS = (
    r"以下|下面|如下|这是|這是|原文|收到(?:了)?|发(?:给|来)|帮我看|看一下这|写道|说[:：]|次の|これ(?:は|を)|届(?:い|き)|もらった|来た(?:メール|の)|"
    r"と(?:言|書)(?:わ|い|かれ)|아래|다음|이거(?:는|야)?|받았|왔(?:는데|어)|라고 (?:했|썼|말)"
)
_WORKS_ON = lazy(rf"\b(?:{_WORK})|{_WIDE_WORK}", _I)
_BRING = lazy(rf"\b(?:{_BRINGS})|{_WIDE_BRINGS}", _I)
_COLON = lazy(r"[:：]\s*\Z")
_OF_MINE = lazy(
    r"\b(?:my|our|mein\w*|unser\w*|mon|ma|mes|notre|nos|mi|mis|nuestr\w+|meus?|minhas?|noss\w+|mi[oae]|miei|nostr\w+|mijn|onze|"
    r"ons)(?: [\w-]+){1,3} ?[:：]\s*\Z|\b(?:(?:about|for|to) me|remember|notes?|stack|setup|rules?|preferences|facts|"
    r"conventions|context|background|fyi|basics|us)[:：]\s*\Z|(?:我|私|うち|내|우리|제|저희)[^\s，,]{0,10}[:：]\s*\Z",
    _I,
)
"""A line that ends in a colon and brings the user's own list: "my setup:"."""
_INLINE = lazy(
    rf"(?:\b(?:{_WORK})[^:\n：?!]{{0,80}}|(?:{_WIDE_WORK})[^:\n：?!]{{0,30}}|\b(?:says?|said|told (?:me|us|"
    rf"him|her)|wrote|writes|replied|asked|"
    r"answered|texted|e-?mailed|yelled|like|quote|sagt\w*|schrieb|meinte|schreibt|fragte|dit|écrit|"
    r"répond\w*|dice|dijo|escribió|disse|scriv\w*|scritto|"
    r"escreveu|falou|zei|zegt|schreef|vroeg)\b[^:\n：.!?]{0,40}|(?:说|說|写道|问|问我|告诉我|言った|言われた|と言う|曰く|말했\w*|"
    r"라고)[^:\n：。]{0,8}|\b(?:write|compose|draft|make up) (?:me )?(?:an?|some|two|three) "
    r"(?:\w+ ){0,3}(?:poem|song|story|haiku|limerick|rap|verse|lyrics|dialogue|scene|sketch|joke|tweet|slogan|novel|"
    r"sentence)\b[^:\n：.!?]{0,40})"
    r"(?<! so)[:：](?=\s|\Z|[\"“„«「『]|[^\x00-\x7f])",
    _I,
)
"""The rest of its line is someone else's, or a text to work on; and so may be all that follows."""
_HOW_TO_SAY = lazy(
    r"\b(?:how (?:do|would|can|should) (?:you|i|we|one) (?:say|write|spell|pronounce|translate)|what(?:'s| "
    r"is| does) .{0,20}\bmean|"
    r"is (?:this|it|the following)(?: \w+)? (?:correct|right|grammatical|good english|idiomatic)|wie sagt "
    r"man|comment (?:dit-on|on dit)|"
    r"cómo se dice|como se diz|come si dice|hoe zeg je)\b",
    _I,
)
_ASKS_ABOUT = lazy(
    rf"\b(?:{_WORK})|{_WIDE_WORK}|[↑☝]|(?:\A|\s)\^|\b(?:this|these|that|those|above|dies\w*|das|davon|darin|oben|ça|cela|ceci|"
    r"cette?|celui-ci|ci-dessus|est[aoe]s?|es[ao]s?|arriba|ist[ao]|iss[ao]|ess[ae]s?|acima|quest[aoie]|quell[aoi]|sopra|dit|"
    r"deze|dat|hierboven|continu[eaé]?|weiterschreiben|schreib\w* weiter|vervolg)\b|continúa|继续|繼續|続き|계속|"
    r"这|這|上面|これ|この|上の|それ|이거|이건|이 |위",
    _I,
)
"""A line that refers to a text: to the message before it, if that asked for nothing."""
_SENTENCE_END = lazy(r"[.!…](?=\s)|[。！]")
_QUOTED = lazy(
    r"(?:(?<=\n)|\A)[ \t]*\"[^\"]{1,2000}\"|\"[^\"\n]{1,2000}\"|“[^”]{1,2000}”|„[^“”]{1,2000}[“”]|"
    r"«[^»]{1,2000}»|»[^«»\n]{1,2000}«|‚[^‘’\n]{1,2000}[‘’]|```[^`]{1,2000}```|「[^」]{1,2000}」|『[^』]{1,2000}』|‹[^›\n]{1,2000}›"
    r"|(?<!\w)'[^'\n]{12,2000}'(?!\w)|(?<!\w)‘[^’\n]{12,2000}’|`[^`\n]{12,2000}`"
)
_WORD = lazy(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+", in_ascii=r"[^\W_]+")
_MARKS = frozenset("\"'`“„«»‚‹‘「『")
"""Characters that can open a quotation."""
_INSIDE = lazy(r"[^\n]")
_RECALLED = lazy(r"[ \t]*<(/?)(?:recalled|memory|memories|looseleaf)[\w-]*[^<>\n]{0,200}>[ \t]*\Z", _I)


class _Lines:
    """Properties of a message's lines, known before they are read one by one."""

    def __init__(self, lines: list[str]) -> None:
        self.count = sum(1 for line in lines if line.strip())
        has_colon = any(map(_has_colon, lines))
        self.headers = sum(_HEADER.match(line) is not None for line in lines) if has_colon else 0
        self.is_mail = self.headers > 0 and any(_MAIL.match(line) for line in lines)
        self.talk = self._find_speakers(lines) if has_colon else frozenset()
        self.last = max((at for at, line in enumerate(lines) if line.strip()), default=-1)
        closing = (at for at, line in enumerate(lines) if _CLOSING.match(line))
        self.last_closing = max(closing, default=-1) if self.count > 2 or self.is_mail else -1
        self.is_letter = self.count > 2 and self.last_closing >= 0
        self.is_diff = any(line.startswith(("diff --git", "@@ ", "+++ ")) for line in lines)
        self.is_asked_about = self._is_asked_about(lines[: self.last + 1])

    @staticmethod
    def _is_asked_about(lines: list[str]) -> bool:
        """Return whether the last paragraph is about the text before it, which asked for nothing."""
        at = next((at for at in range(len(lines) - 1, 0, -1) if not lines[at].strip()), None)
        before = lines[: len(lines) - 1 if at is None else at]
        if any("?" in line or "？" in line or _WORKS_ON.search(line) for line in before):
            return False
        asked = " ".join(lines[len(before) :])
        is_text = at is not None and len(_SENTENCE_END.findall(" ".join(before))) > 1
        return bool(before) and (
            _ASKS_ABOUT.search(asked) is not None or (is_text and "?" in asked.replace("？", "?"))
        )

    @staticmethod
    def _find_speakers(lines: list[str]) -> frozenset[int]:
        """Return the lines that name a speaker, if there are several."""
        spoken = [at for at, line in enumerate(lines) if _SPEAKER.match(line) and not _is_heading(line)]
        return frozenset(spoken if len(spoken) > 1 else [at for at in spoken if _OF_SELF.match(lines[at])])


def _is_heading(line: str) -> bool:
    """Return whether the words before a colon announce what follows, and are no speaker."""
    from looseleaf.language.relations import SYNONYMS

    label = line.partition(":")[0].strip(" \t*").casefold()
    return _NO_SPEAKER.match(line) is not None or label in SYNONYMS or label.split(" ")[0] in _HEADINGS


@lru_cache(256)
def zones(text: str) -> tuple[Zone, ...]:
    """Return the stretches of a message that are, or may be, the user's. `masked` removes quotes within them."""
    text = masked(text)
    first, last = READ_CHARS
    if len(text) <= first + last:
        return tuple(_split_zones(text, 0))
    end = text.find("\n", len(text) - last) + 1 or len(text)
    # No one types this much: the end may be the user's question, but it comes after pasted text.
    tail = (Zone(each.start, each.end, "after") for each in _split_zones(text[end:], end))
    return (*_split_zones(text[:first], 0), *tail)


@lru_cache(256)
def masked(text: str) -> str:
    """Return the message at the same length, with blanks for quotations that are more than a name."""
    if len(text) > sum(READ_CHARS):
        return _mask(text[: READ_CHARS[0]]) + text[READ_CHARS[0] :]
    return _mask(text)


def _mask(text: str) -> str:
    def blank(found: re.Match[str]) -> str:
        if len(_WORD.findall(found[0])) < _WORDS_OF_ANOTHER:
            return found[0]
        return found[0][0] + _INSIDE.sub(" ", found[0][1:-1]) + found[0][-1]

    return text if _MARKS.isdisjoint(text) else _QUOTED.sub(blank, text)


def _split_zones(text: str, offset: int) -> Iterator[Zone]:
    lines = text.splitlines(keepends=True)
    known = _Lines(lines)
    name: ZoneName = "loose" if known.count > _LOOSE_LINES else "own"
    fence, is_recalled, is_mail, opened_by = "", False, False, False
    at = offset
    for place, line in enumerate(lines):
        start, at = at, at + len(line)
        bare = line.strip()
        mark = _RECALLED.match(line.rstrip("\r\n")) if "<" in line else None
        if mark:
            is_recalled = not mark[1]
            continue
        opened = bare[:3] if bare.startswith(("```", "~~~")) else ""
        if opened and fence in ("", opened):
            fence = "" if fence else opened
            continue
        if not bare and not fence and name != "after" and opened_by:
            name = "after"  # a paragraph after a request may be its subject
        if not bare or fence or is_recalled:
            continue
        if is_mail and not _CLOSING.match(line):
            continue
        if is_mail:
            is_mail, name = False, "after"
            continue
        has_more = place < known.last
        has_header = known.is_mail and (_MAIL.match(line) or (known.headers > 1 and _HEADER.match(line)))
        is_letter = known.is_letter and place > 0 and _GREETING.match(line)
        if has_header or is_letter:
            is_mail = place < known.last_closing
            name = "after"
            continue
        if has_more and _LETTER.match(line):
            name = "after"
            continue
        if place in known.talk or _HARD.match(line) or (known.is_diff and _CHANGED.match(line)):
            name = "after" if place in known.talk or bare.startswith("#") or name == "after" else name
            continue
        if known.count > 1 and _INDENTED.match(line):
            continue
        opened_by = True
        is_text = name == "own" and known.is_asked_about and has_more
        yield from _split_line(line, start, "loose" if is_text else name)
        if has_more and (_find_inline(line) or _WORKS_ON.search(line) or _brings_text(line)):
            name = "after"


def _has_colon(text: str) -> bool:
    return ":" in text or "：" in text


def _find_inline(text: str) -> re.Match[str] | None:
    return _INLINE.search(text) if _has_colon(text) else None


def _brings_text(line: str) -> bool:
    """Return whether another text may follow a line."""
    return _BRING.search(line) is not None or (
        _COLON.search(line) is not None and _OF_MINE.search(line) is None
    )


def _split_line(line: str, start: int, name: ZoneName) -> Iterator[Zone]:
    """Yield a line up to where it brings another text, and the rest if that text is quoted."""
    inline = _find_inline(line)
    asks = _HOW_TO_SAY.search(line, 0, inline.end() if inline else len(line))
    if asks:
        yield Zone(start, start + asks.start(), name)
    elif inline is None:
        yield Zone(start, start + len(line), name)
    else:
        yield Zone(start, start + inline.end(), name)
        blank = _BLANK.match(line, inline.end())
        if blank:
            yield Zone(start + blank.end(), start + len(line), name)


_BLANK = lazy(r"\s*[\"“„«「『'‘]\s{8,}[\"“”»」』'’]")
"""A quotation, as `masked` leaves it."""


_ON_LANGUAGE = lazy(
    r"\b(?:translat\w*|proof-?read\w*|grammar|rephrase|paraphrase|re-?word|polish|shorten|spell-?check|summari[sz]\w*|"
    r"tl;?dr|(?:more|less) (?:formal|polite|friendly|casual)|(?:this|my) (?:sentence|text|letter|bio|cv)|"
    r"cover letter|make this|"
    r"übersetz\w*|korrigier\w*|tradui\w*|corrige\w*|traduc\w*|traduz\w*|tradur\w*|corrig\w*|vertaal\w*|vertalen)\b"
    r"|翻译|翻譯|润色|翻訳|添削|번역|교정",
    _I,
)


def works_on_language(text: str) -> bool:
    """Return whether a message asks for work on the wording of a text."""
    return _ON_LANGUAGE.search(text[:2000]) is not None


def speaks_of_text(text: str) -> bool:
    """Return whether a message asks for work on a text, brings one, or has lines that no one writes to an assistant."""
    text = text[:2000]
    if _WORKS_ON.search(text) is not None or _find_inline(text) is not None:
        return True
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return False
    known = _Lines(lines)
    is_odd = known.is_mail or known.is_diff or bool(known.talk) or known.is_asked_about
    return is_odd or any(map(_brings_text, lines[:-1])) or any(_HARD.match(line) for line in lines)


_PASTED = "\n·\n"


@lru_cache(64)
def own_words(text: str) -> str:
    """Return a message without text that was, or may have been, pasted."""
    kept: list[str] = []
    end = 0
    found, text = zones(text), masked(text)
    for zone in found:
        if zone.name == "after":
            continue
        if kept and text[end : zone.start].strip():
            kept.append(_PASTED)
        kept.append(text[zone.start : zone.end])
        end = zone.end
    return "".join(kept)
