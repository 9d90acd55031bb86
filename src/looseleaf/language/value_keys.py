"""The key of a value: its words without all that does not distinguish values.

Two values of one relation with equal keys are the same value. Invariants: a key is its own key; words that reverse a
meaning (not, without, over), numbers and dates always stay in it; an alias is another name for the very same thing, and
what is merely alike or contained is none. Linear in the value.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from looseleaf.language.relations import relation_name
from looseleaf.language.tables import read_names, read_rows, read_words
from looseleaf.language.words import american, fold, is_eastern, is_number, plain, singular, stem, tokens
from looseleaf.text.lines import undoubted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    AliasTable = dict[tuple[str, ...], tuple[str, ...]]


# --- names and words from the tables ----------------------------------------------------


@cache
def aliases_of(kind: str) -> AliasTable:
    """Return, by the words of each other name, the words of the first; `kind` is a section of `aliases.txt`."""
    names = read_names("aliases", kind)
    return {tuple(other.split()): tuple(first.split()) for other, first in names.items()}


@cache
def lead_phrases() -> dict[str, frozenset[tuple[str, ...]]]:
    """Return, by relation, what a value may begin with and means the same without."""
    rows = read_rows("value_words", "leads")
    return {
        relation: frozenset(tuple(phrase.split("_")) for phrase in phrases)
        for relation, phrases in rows.items()
    }


@cache
def tail_words() -> dict[str, frozenset[str]]:
    """Return, by relation, what a value may end with."""
    return {relation: frozenset(words) for relation, words in read_rows("value_words", "tails").items()}


ANTONYMS = frozenset(frozenset(pair.split("/")) for pair in read_words("value_words", "antonyms"))
"""Of two wishes that differ in nothing but these, the newer holds."""


# --- keys -------------------------------------------------------------------------------

NAMES = frozenset(
    "name partner manager employer home hometown address nationality repository branch child sibling parent friend"
    " colleague religion gender".split()
)
"""Relations whose values are names: every word counts, in order and unchanged."""
SENTENCES = frozenset("rule plan goal appointment event decision note".split())
"""Relations whose values are sentences: word order counts, commas do not."""
_VERBAL = SENTENCES | frozenset("likes dislikes prefers hobby skill trait language".split()) | {"works on"}
_BAGS = frozenset(
    "likes dislikes prefers hobby skill trait pet owns uses allergy condition language diet role deadline"
    " speaks education".split()
) | {"works on"}
"""Relations whose values mean the same in another word order, unless they hold a word of `_TURNING`."""
_TURNING = frozenset(
    "over than instead rather before after to from into until vs versus then when if unless without except but not no"
    " -> →".split()
)
_FILLERS = frozenset(
    "a an the my his her their your our i user he she they of in on at for with really very quite just also is are am"
    " be been being currently that which as some and ist et y und auch".split()
)
_OWN_FILLERS = {
    "pet": frozenset({"named", "called"}),
    "education": frozenset({"from"}),
    "deadline": frozenset({"due", "by", "until", "deadline"}),
}
_ARTICLES = frozenset("le la les der das el los las un une ein eine una".split())
_SEPARATORS = frozenset(", ; 、 ， ； 。 & + and".split())
_TOOLS = frozenset("uses skill database framework hosting language decision".split()) | {
    "programming language",
    "test runner",
    "package manager",
}
_EMAIL = r"[^\s<>:,;()@]{1,64}@[^\s<>,;()@]{1,255}"
_URL = r"(?:(?:https?|ssh|git)://|git@)?(?:www\.)?([\w-]{1,63}(?:\.[\w-]{1,63}){1,8})[:/](\S+)"
_ZONE = r"(?:utc|gmt)\s?(?:([+-])\s?(\d{1,2})(?::?(\d\d))?)?"
_NOT_YEARS = frozenset("month months week weeks day days not under over almost nearly turning".split())
_PRONOUN = dict.fromkeys(("her", "hers"), "she") | dict.fromkeys(("him", "his"), "he")
_PRONOUN |= dict.fromkeys(("them", "their", "theirs"), "they")


def key(object: str, relation: str = "") -> str:
    """Return the normalized value. Equal keys under one relation mean the same value."""
    return _key_of(object, base_of(relation))


def same(a: str, b: str, relation: str = "") -> bool:
    base = base_of(relation)
    return _key_of(a, base) == _key_of(b, base)


def near(a: str, b: str, relation: str = "") -> bool:
    """Return whether two values are too similar to keep both without asking, yet not the same."""
    base = base_of(relation)
    one, other = _key_of(a, base), _key_of(b, base)
    if one == other:
        return False
    if one.replace(" ", "") == other.replace(" ", ""):
        return True  # birdwatching, bird watching
    left, right = parts_of(one), parts_of(other)
    if ("not" in left) != ("not" in right):
        return False
    shared, all_words = left & right, left | right
    numbers, others = _numbers_of(one), _numbers_of(other)
    if numbers and others and numbers != others:
        return False
    if shared and (left < right or right < left):
        return 2 * len(shared) >= len(all_words)
    if len(shared) > 0.7 * len(all_words):
        return True
    apart, against = left - right, right - left
    return len(apart) == 1 == len(against) and _is_misspelling(*apart, *against)


@lru_cache(8192)
def _numbers_of(key: str) -> frozenset[str]:
    return frozenset(word for word in parts_of(key) if is_number(word))


@lru_cache(1024)
def base_of(relation: str) -> str:
    """Return the relation without its owner: a sister's home compares like a home."""
    name = relation_name(relation).rpartition("'s ")[2] if relation else ""
    return "favorite" if name.startswith("favorite ") else name


_BRACKETS = r" \[[^\[\]]{4,40}\]"
"""The date that the program appended to a relative time."""


@lru_cache(8192)
def _key_of(value: str, base: str) -> str:
    value = undoubted(value)
    if base == "note":
        value = re.sub(_BRACKETS, "", value)
    made = _normalize_once(value, base)
    for _ in range(8):  # a step may expose what the next removes; two or three suffice
        again = _normalize_once(made, base)
        if again == made:
            break
        made = again
    return made


def _normalize_once(value: str, base: str) -> str:
    folded = fold(value)
    special = _SPECIAL.get(base)
    made = special(folded) if special is not None else None
    if made is None:
        made = _address_key(folded)
    if made is not None:
        return made
    words = [_strip_word(word) for word in tokens(folded)]
    if base == "name" and words.count(",") == 1:
        comma = words.index(",")
        words = words[comma + 1 :] + words[:comma]
    words = _replace_aliases(_trim(words, base), base)
    if base in NAMES:
        words = ["and" if word in ("&", "+") else word for word in words if word not in ",;、，；。"]
        return " ".join(words) or folded
    return ", ".join(_split_items(words, base)) or folded


def _strip_word(word: str) -> str:
    """Strip accents, the dots of an abbreviation, and a possessive 's."""
    word = plain(word)
    if "." in word and len(word) == 2 * word.count(".") + 1 and not is_number(word):
        return word.replace(".", "")
    return word[:-2] if word.endswith("'s") and len(word) > 3 and word not in ("it's", "let's") else word


def _trim(words: list[str], base: str) -> list[str]:
    """Drop leading and trailing words that the relation implies; never all of them."""
    leads, tails = lead_phrases().get(base, frozenset()), tail_words().get(base, frozenset())
    start, end = 0, len(words)
    while start < end - 1:
        if words[start] in _SEPARATORS or (base not in NAMES and words[start] in _ARTICLES):
            start += 1
            continue
        longest = min(4, end - 1 - start)
        step = next((n for n in range(longest, 0, -1) if tuple(words[start : start + n]) in leads), 0)
        if not step:
            break
        start += step
    while end > start + 1 and (words[end - 1] in tails or words[end - 1] in _SEPARATORS):
        end -= 1
    kept = words[start:end]
    if len(kept) == 1 < len(words) and (tuple(kept) in leads or kept[0] in tails):
        return words  # an older brother without a name: nothing else identifies him
    if kept and is_eastern(kept[0]):
        lead = next(
            (lead for lead in read_words("value_words", "eastern leads") if kept[0].startswith(lead)), ""
        )
        kept[0] = kept[0][len(lead) :] or kept[0]
    return kept


def _aliases_for(base: str) -> AliasTable:
    """Return the aliases for values of a relation."""
    tables: tuple[str, ...] = ("technical", "spellings", "negations")
    if base in NAMES:
        tables = ("places",) if base in ("home", "hometown", "nationality", "address") else ()
    elif base == "rule":
        tables += ("choices", "manners", "rules")
    elif base in ("prefers", "decision"):
        tables += ("choices", "manners")
    elif base == "role":
        tables += ("roles",)
    if base in ("language", "speaks"):
        tables += ("languages",)
    if base in _TOOLS:
        tables += ("narrow",)
    return _join_aliases(tables)


@lru_cache(32)
def _join_aliases(tables: tuple[str, ...]) -> AliasTable:
    """Join tables once for all relations that use them; there may be thousands."""
    return {
        tuple(_strip_word(part) for part in tokens(fold(" ".join(name)))): value
        for table in tables
        for name, value in aliases_of(table).items()
    }


def _replace_aliases(words: list[str], base: str) -> list[str]:
    names = _aliases_for(base)
    made: list[str] = []
    at = 0
    while at < len(words):
        for length in range(min(5, len(words) - at), 0, -1):
            name = names.get(tuple(words[at : at + length]))
            if name is not None:
                made.extend(name)
                at += length
                break
        else:
            made.append(words[at])
            at += 1
    return made or words


def _split_items(words: list[str], base: str) -> list[str]:
    form = stem if base in _VERBAL else singular
    turned = not _TURNING.isdisjoint(words) and base != "education"
    listed = base not in SENTENCES and base not in ("deadline", "pet", "education")
    fillers = (_FILLERS - {"for"} if base in SENTENCES else _FILLERS) | _OWN_FILLERS.get(base, frozenset())
    items: list[list[str]] = [[]]
    for word in words:
        if word in _SEPARATORS:
            if listed and items[-1]:
                items.append([])
        elif word not in fillers:
            items[-1].append(form(american(word)) if word.isalpha() else word)
    kept = [item for item in items if item]
    if not kept:
        return [" ".join(word for word in words if word not in _SEPARATORS)]
    if base == "language" and len(kept) == 1 and len(kept[0]) > 1:
        kept[0] = [word for word in kept[0] if word != "talk"]
    if base in _BAGS and not turned:
        kept = [sorted(set(item)) for item in kept]
    elif base in SENTENCES:
        kept = [_move_dates_last(item) for item in kept]
    joined = [" ".join(item) for item in kept]
    return joined if turned else sorted(set(joined))


def _move_dates_last(words: list[str]) -> list[str]:
    dates = [word for word in words if "-" in word[1:] and is_number(word)]
    return [word for word in words if word not in dates] + dates if len(dates) == 1 else words


@lru_cache(8192)
def parts_of(made: str) -> frozenset[str]:
    """Return the words of a key; for a run of Han or kana its pairs, its possible words."""
    parts: set[str] = set()
    for word in made.replace(",", " ").split():
        if is_eastern(word):
            parts.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        else:
            parts.add(word)
    return frozenset(parts)


def _is_misspelling(one: str, other: str) -> bool:
    """Return whether two words are one typo apart: a letter more, less, changed or two swapped, in a long enough
    word."""
    if min(len(one), len(other)) < 5 or abs(len(one) - len(other)) > 1 or max(len(one), len(other)) > 64:
        return False
    if not (one.isalpha() and other.isalpha()):
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    a, b = one[start:], other[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])


def _email_key(folded: str) -> str | None:
    found = re.search(_EMAIL, folded.removeprefix("mailto:"))
    return found[0].strip(".\"'") if found else None


def _phone_key(folded: str) -> str | None:
    digits = "".join(letter for letter in folded.replace("(0)", "") if letter.isdigit() or letter == "+")
    if len(digits) < 5:
        return None
    return "+" + digits[2:] if digits.startswith("00") else digits


def _pronouns_key(folded: str) -> str | None:
    words = (word for word in re.findall(r"[^\W\d_]+", folded) if word not in ("and", "uses", "or"))
    return "/".join(dict.fromkeys(_PRONOUN.get(word, word) for word in words)) or None


def _age_key(folded: str) -> str | None:
    words = tokens(folded)
    numbers = [word for word in words if is_number(word)]
    if len(numbers) != 1 or not numbers[0].isdigit() or not _NOT_YEARS.isdisjoint(words):
        return None
    return numbers[0]


def _zone_key(folded: str) -> str | None:
    found = re.fullmatch(_ZONE, folded)
    if found is None:
        return None
    hours, minutes = int(found[2] or 0), int(found[3] or 0)
    return f"utc{found[1]}{hours:02d}:{minutes:02d}" if hours or minutes else "utc"


def _address_key(folded: str) -> str | None:
    """Return the key of a URL, without its scheme; None for anything else."""
    if " " in folded or ("/" not in folded and ":" not in folded):
        return None
    found = re.fullmatch(_URL, folded)
    return f"{found[1]}/{found[2].rstrip('/').removesuffix('.git')}".rstrip("/") if found else None


_SPECIAL: dict[str, Callable[[str], str | None]] = {
    "email": _email_key,
    "phone": _phone_key,
    "pronouns": _pronouns_key,
    "age": _age_key,
    "time zone": _zone_key,
}
