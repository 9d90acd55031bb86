"""The words of dates in six languages, and the patterns that are made of them.

Every pattern is bounded and begins at a word, so that looking for them takes time linear in the text. `WORDS` gives
what a word means; which date that is on a given day, `language/dates.py` says.
"""

from __future__ import annotations

import re
from functools import cache

from looseleaf.text.moments import MONTH_NAMES
from looseleaf.text.patterns import NEVER, lazy, one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_WEEKDAYS = (
    "monday mon montag lundi lunes 一 月",
    "tuesday tue tues dienstag mardi martes 二 火",
    "wednesday wed mittwoch mercredi miércoles miercoles 三 水",
    "thursday thu thur thurs donnerstag jeudi jueves 四 木",
    "friday fri freitag vendredi viernes 五 金",
    "saturday sat samstag sonnabend samedi sábado sabado 六 土",
    "sunday sun sonntag dimanche domingo 日 天",
)
_NUMBERS = (
    "zero 零",
    "one a an ein eine einem einer einen un une uno una 一 1",
    "two zwei deux dos 二 两 couple",
    "three drei trois tres 三",
    "four vier quatre cuatro 四",
    "five fünf cinq cinco 五",
    "six sechs seis 六",
    "seven sieben sept siete 七",
    "eight acht huit ocho 八",
    "nine neun neuf nueve 九",
    "ten zehn dix diez 十",
    "eleven elf onze once 十一",
    "twelve zwölf douze doce 十二",
)
_UNITS = {
    "day": "day days tag tage tagen jour jours día días dia dias 天 日",
    "week": "week weeks woche wochen semaine semaines semana semanas 周 週間 星期",
    "month": "month months monat monate monaten mois mes meses 个月 個月 ヶ月 か月 カ月",
    "year": "year years jahr jahre jahren an ans année années año años ano anos 年",
    "weekend": "weekend week-end wochenende 周末 週末",
}
_SEASONS = {
    "spring": (3, "spring frühling frühjahr printemps primavera"),
    "summer": (6, "summer sommer été verano"),
    "autumn": (9, "autumn herbst automne otoño"),
    "winter": (12, "winter hiver invierno"),
}
_BEFORE = {
    1: "next nächste nächsten nächster nächstes próximo próxima proximo proxima",
    0: "this coming upcoming diese diesen dieser dieses diesem kommende kommenden kommender kommendes este "
    "esta ce "
    "cette cet",
    -1: "last past previous letzte letzten letzter letztes letztem vergangene vergangenen vergangenes "
    "pasado pasada",
}
_AFTER = {
    1: "prochain prochaine próximo próxima que\\ viene qui\\ vient",
    -1: "dernier dernière passé passée pasado pasada",
}
DAYS = {
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
    "day after tomorrow": 2,
    "yesterday": -1,
    "last night": -1,
    "the day before yesterday": -2,
    "day before yesterday": -2,
    "heute": 0,
    "übermorgen": 2,
    "gestern": -1,
    "vorgestern": -2,
    "aujourd'hui": 0,
    "demain": 1,
    "après-demain": 2,
    "hier": -1,
    "avant-hier": -2,
    "hoy": 0,
    "pasado mañana": 2,
    "ayer": -1,
    "anteayer": -2,
    "今天": 0,
    "今日": 0,
    "今晚": 0,
    "明天": 1,
    "明日": 1,
    "后天": 2,
    "大后天": 3,
    "明後日": 2,
    "あさって": 2,
    "昨天": -1,
    "昨日": -1,
    "前天": -2,
    "一昨日": -2,
    "おととい": -2,
}
SPANS = {
    "今年": ("year", 0),
    "明年": ("year", 1),
    "来年": ("year", 1),
    "后年": ("year", 2),
    "再来年": ("year", 2),
    "去年": ("year", -1),
    "昨年": ("year", -1),
    "前年": ("year", -2),
    "一昨年": ("year", -2),
    "来月": ("month", 1),
    "先月": ("month", -1),
    "今月": ("month", 0),
    "下个月": ("month", 1),
    "上个月": ("month", -1),
    "这个月": ("month", 0),
    "本月": ("month", 0),
}


def may_name_date(text: str) -> bool:
    """Whether a text has a digit or a word that any date needs; most sentences have neither, so no pattern for dates is
    compiled."""
    if not text.isascii() and max(text) >= "\u2e80":
        return True  # in scripts without spaces words cannot be told apart
    return not _needed().isdisjoint(_WORD.findall(text.casefold()))


_WORD = lazy(r"[^\W\d_]+|[0-9]")


@cache
def _needed() -> frozenset[str]:
    """The longest part of each word for a day, month, season or span of time, and the digits."""
    every = (*WEEKDAYS, *MONTHS, *SEASONS, *UNITS, *DAYS, "morgen", "mañana")
    parts = (_WORD.findall(word.casefold()) for word in every if word[0] < "\u2e80")
    return frozenset({*map(str, range(10)), *(max(part, key=len) for part in parts)})


def _places(groups: tuple[str, ...], start: int = 0) -> dict[str, int]:
    return {word: place for place, words in enumerate(groups, start) for word in words.split()}


WEEKDAYS = _places(_WEEKDAYS)
MONTHS = _places(MONTH_NAMES, 1)
NUMBERS = _places(_NUMBERS)
UNITS = {word: unit for unit, words in _UNITS.items() for word in words.split()} | {
    "fin de semana": "weekend"
}
SEASONS = {word: (first, name) for name, (first, words) in _SEASONS.items() for word in words.split()}
_PREFIXED = {word: sign for sign, words in _BEFORE.items() for word in words.split()}
_POSTFIXED = {word: sign for sign, words in _AFTER.items() for word in words.replace("\\ ", "_").split()}
SIGNS = {word.replace("_", " "): sign for word, sign in (_PREFIXED | _POSTFIXED).items()}


def _any(words: Iterable[str]) -> str:
    return one_of(re.escape(word).replace("_", " ") for word in words if word)


def _ascii_or_latin(words: Iterable[str]) -> list[str]:
    return [word for word in words if word[0] < "\u2e80"]


_WIDE_WEEKDAYS = "一二三四五六日天"
_WEEKDAY = _any(_ascii_or_latin(WEEKDAYS))
_LONG_WEEKDAY = _any(word for word in _ascii_or_latin(WEEKDAYS) if len(word) > 4)
_MONTH = _any(_ascii_or_latin(MONTHS))
_LONG_MONTH = _any(word for word in _ascii_or_latin(MONTHS) if len(word) > 3 or word in ("may", "mai"))
_UNIT = _any(word for word in _ascii_or_latin(UNITS) if UNITS[word] != "weekend")
_THING = _any(
    {
        *_ascii_or_latin(WEEKDAYS),
        *_ascii_or_latin(MONTHS),
        *_ascii_or_latin(SEASONS),
        *(word for word in _ascii_or_latin(UNITS) if word not in ("an", "day", "jour", "tag")),
    }
)
_NUMBER = rf"[0-9]{{1,3}}|a couple of|(?:{_any(_ascii_or_latin(NUMBERS))})"
_WIDE_NUMBER = r"(?:[0-9]{1,3}|十[一二]?|[一二两三四五六七八九])"
_YEAR = r"(?:19|20)[0-9]{2}"
_I = re.IGNORECASE

ISO = lazy(r"(?<![\w-])([0-9]{4})-([0-9]{2})(?:-([0-9]{2}))?(?![\w-])")
DAY_WORD = lazy(
    rf"\b(?:{_any(word for word in DAYS if word[0] < '⺀')})\b"
    # The German and the Spanish word also mean the morning.
    r"|(?<!\bguten )(?<!\bam )(?<!\bjeden )\b(?-i:morgen)\b|(?<!\bla )(?<!\bcada )(?<!\besta )\bmañana\b",
    _I,
)
WIDE_DAY = lazy(_any(word for word in DAYS if word[0] >= "⺀"), in_ascii=NEVER)
SIGNED = lazy(rf"\b(?:(?:el|la) )?({_any(_PREFIXED)}) ({_THING})\b", _I)
SIGNED_AFTER = lazy(rf"\b(?:(?:el|la|le) |l')?({_THING}) ({_any(_POSTFIXED)})\b", _I)
AHEAD = lazy(rf"\b(?:in|dans|dentro de|en) (?:about )?({_NUMBER}) ({_UNIT})\b(?! ago)", _I)
FROM_NOW = lazy(rf"\b({_NUMBER}) ({_UNIT}) from (?:now|today)\b", _I)
BACK = lazy(rf"\b(?:about )?({_NUMBER}) ({_UNIT}) ago\b", _I)
BACK_BEFORE = lazy(rf"\b(?:vor|hace|il y a) (?:etwa |unos )?({_NUMBER}) ({_UNIT})\b", _I)
MONTH_DAY = lazy(rf"\b({_MONTH})\.? (?:the )?([0-9]{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? ({_YEAR})\b)?", _I)
DAY_MONTH = lazy(
    rf"(?<![0-9]-[0-9]{{2}}-)\b(?:the )?([0-9]{{1,2}})(?:st|nd|rd|th|er|\.)? (?:of |de )?({_MONTH})\b"
    rf"(?:\.?,?(?: de| of)? ({_YEAR})\b)?",
    _I,
)
DAY_ALONE = lazy(
    r"\bon the ([0-9]{1,2})(?:st|nd|rd|th)\b(?! (?!at\b|in the (?:morning|evening|afternoon)|and\b|or\b|"
    r"so\b|but\b|for\b|"
    r"with\b|from\b|then\b)[a-z])",
    _I,
)
MONTH_YEAR = lazy(rf"\b({_LONG_MONTH})(?: de| of|,)? ({_YEAR})\b", _I)
IN_MONTH = lazy(
    r"\b(?:in|since|by|until|till|before|after|im|seit|bis|ab|en|depuis|desde|around|early|late|mid|from|"
    r"for)"
    rf" (?:early |late |mid-?)?({_LONG_MONTH})\b(?! [0-9])",
    _I,
)
IN_YEAR = lazy(
    r"\b(?:in|since|from|until|till|by|before|after|around|seit|im jahr|depuis|desde|en|bis|ab) "
    rf"({_YEAR})\b(?![-/.:]\w)",
    _I,
)
WEEKDAY = lazy(
    rf"(?<!\bevery )(?<!\beach )(?<!\bjeden )(?<!\bcada )(?<!\blos )(?<!\bchaque )(?<!\ble )(?<!\w-)"
    rf"\b(?:({_LONG_WEEKDAY})|(?:(?<=on )|(?<=by ))({_WEEKDAY}))\b(?!s\b)(?!-)",
    _I,
)
WIDE_WEEK_DAY = lazy(
    rf"(下下|下个?|上个?|这个?|本|来|先|今)?(?:周|星期|礼拜|週)(?:の)?([{_WIDE_WEEKDAYS}]|[月火水木金土日]曜日?)"
    r"|([月火水木金土日])曜日",
    in_ascii=NEVER,
)
WIDE_WEEK = lazy(
    r"(下下|下个?|上个?|这个?|本|来|先|今)(周末|週末|周|星期|礼拜|週)(?![一二三四五六日天]|の[月火水木金土日]曜)",
    in_ascii=NEVER,
)
WIDE_SPAN = lazy(_any(SPANS), in_ascii=NEVER)
WIDE_SHIFT = lazy(
    rf"({_WIDE_NUMBER})(天|日|周|週間|星期|个星期|个月|個月|ヶ月|か月|カ月|年)(之?后|以后|後|之?前|以前)",
    in_ascii=NEVER,
)
WIDE_DATE = lazy(
    r"(?:((?:19|20)[0-9]{2})年|(今年|明年|来年|去年|昨年)の?)?([0-9]{1,2})月(?:([0-9]{1,2})[日号])?|((?:19|20)[0-9]{2})年",
    in_ascii=NEVER,
)
