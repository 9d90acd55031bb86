"""Secrets in text, found and replaced before anything is written: `[redacted github 3fa9c1]`.

The six digits are a keyed hash of the secret: a repeat can be recognized, and nothing else learned. Invariants: other
text stays byte for byte (text without a secret is the same object), and redacting twice changes nothing more.

A secret is known by its format (`data/secrets.txt`) or by the telling word it is assigned to. Text is untrusted: what
a pattern reads is bounded or not read again, so that time is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from operator import is_

from looseleaf.text.secret_table import expand, long_tokens, read_table
from looseleaf.text.telling import (
    character_classes,
    compiled,
    count_words,
    find_assigned,
    find_phrases,
    is_scrambled,
    is_secret,
    is_unfilled,
    lower,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from looseleaf.text.secret_table import Row, Span


_MARK = re.compile(r"\[redacted [a-z-]{2,16} [0-9a-f]{6}\]")


def without_marks(text: str) -> str:
    """Return a redacted text without the marks of its secrets."""
    return _MARK.sub("", text)


# --- whether a text in the format of a secret is one ---

_JUDGED = 300
"""How much of a secret is looked at to judge it."""


def fits(kind: str, secret: str, check: str, body: str) -> bool:
    """Return whether a text in the format of a secret meets a condition of its row. `body` has no prefix."""
    one_case = body.islower() or body.isupper()
    match check:
        case "-":
            return True
        case "value":
            return is_secret(secret, kind, quoted=True)
        case "docker":
            return ":" in _decode(secret)
        case "discord":
            return _decode(secret.partition(".")[0]).isdigit()
        case "jwt":
            return '"' in _decode(secret.partition(".")[0])
        case "cookie":
            return is_scrambled(secret) or (all(character_classes(secret)[:2]) and not count_words(secret))
        case "filled":
            return not is_unfilled(secret) and secret not in ("PASSWORD", "PASS", "PWD", "SECRET", "TOKEN")
        case "aws":  # the secret that goes with a key's name
            return not one_case and not count_words(secret) and _is_varied(secret)
        case "key" | "plain":
            return _is_varied(secret)
        case "words":
            return not count_words(secret)
        case "digit":
            return character_classes(body)[1]
        case "mixed":
            return not one_case and character_classes(body)[1] and not count_words(body)
        case "uuid":
            return bool(compiled("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch(body))
        case "random":
            return bool(long_tokens(secret.encode("utf-8", "surrogatepass"))) and _is_varied(secret)
    from looseleaf.text.checksums import CHECKS  # not at the top: few texts need it

    return CHECKS[check](secret)


def _is_varied(secret: str) -> bool:
    """Return whether no character makes up two fifths of it, as in `ghp_xxxxxxxx`."""
    return max(map(secret.count, set(secret))) * 5 < len(secret) * 2


def _decode(text: str) -> str:
    import base64  # not at the top: few texts need it

    padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
    try:
        plain = base64.b64decode(padded).decode("ascii")
    except ValueError:
        return ""
    return plain if plain.isprintable() else ""


# --- where they are ---

_BREAK = r"(?:\\?\r?\n|(?:\\r)?\\n)[ \t>|]{0,8}"
_ESCAPE = r"(?:\\[nrt]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\x1b\[[\d;]{1,5}m)\Z"


def _begins_token(text: str, at: int) -> bool:
    """Return whether a token may begin here: not inside a word, nor after a mark (which stands for one), yet after
    what only looks like a letter: the n of an escaped line end, the digits of %20 and \\u0022, the m that ends a color.
    """
    before = text[max(0, at - 8) : at]
    if compiled(r"[\w-]\Z").search(before):
        return bool(compiled(_ESCAPE).search(before))
    return not compiled(r"[0-9a-f]{6}\]\Z").search(before)


def _find_prefixed(text: str, row: Row) -> Iterator[Span]:
    """Yield the places of secrets with the prefix of a row, and what follows of them on the next lines."""
    _, kind, prefix, body, conditions = row
    alphabet, size = body.split()
    least, most = size.rstrip("+").split("-")[0], size.split("-")[-1]
    run = compiled(f"[{read_table().alphabets[alphabet]}]*")
    low, high = int(least), len(text) if most[-1] == "+" else int(most)
    checks = conditions.split()
    edge, apart = "edge" in checks, "apart" in checks
    checks = [each for each in checks if each not in ("edge", "apart")]
    at, end = text.find(prefix), 0
    while at >= 0:
        start = at + len(prefix)
        if start > end:  # else it is in the run that was read
            end = _end_of_run(text, start, run)
        stop, secret = end, text[at : min(end, start + _JUDGED)]
        if end - start < low or most[-1] == "+":
            stop, secret = _go_on(text, at, end, run, low + len(prefix), secret)
        if (
            low <= len(secret) - len(prefix) <= max(high, low)
            and stop - start <= high + 40
            and not (edge and not _begins_token(text, at))
            and not (apart and text[at - 1 : at].isalpha() and not _begins_token(text, at))
            and fits(kind, text[at:stop], "random", "")
            and all(fits(kind, secret, check, secret[len(prefix) :]) for check in checks)
        ):
            yield at, stop, kind
            start = end = stop
        at = text.find(prefix, start)


def _end_of_run(text: str, start: int, run: re.Pattern[str]) -> int:
    found = run.match(text, start)
    end = found.end() if found else start
    while end > start and text[end - 1] == ".":
        end -= 1  # which ends a sentence
    return end


def _go_on(text: str, at: int, end: int, run: re.Pattern[str], least: int, secret: str) -> tuple[int, str]:
    """Return the end of a secret that goes on in the next lines, and its text. A line goes on if the secret would be
    too short without it, or if it could be nothing else."""
    stop, whole = end, secret
    for _ in range(8):
        gap = compiled(_BREAK).match(text, stop)
        if not gap or stop - at < 8:
            break
        found = run.match(text, gap.end(), gap.end() + _JUDGED)
        piece = found[0] if found else ""
        short = len(whole) < least and len(piece) + len(whole) >= least and character_classes(piece)[1]
        if not (short or (len(piece) >= 16 and is_scrambled(piece))):
            break
        stop, whole = gap.end() + len(piece), whole + piece
    return (stop, whole) if len(whole) >= least else (end, secret)


def _find_spans(text: str, rows: Iterable[Row]) -> Iterator[Span]:
    words, near, phrases, told = [], [], [], []
    seen: set[tuple[str, str]] = set()
    for row in rows:
        section, kind, _, pattern, check = row
        if section == "words":
            words.append(row)
        elif section == "near":
            near.append(row)
        elif section == "told":
            told.append(row)
        elif section == "prefixes":
            yield from _find_prefixed(text, row)
        elif check == "phrase":
            phrases.append(row[2])
        elif (kind, pattern) not in seen:
            seen.add((kind, pattern))
            if check == "block":
                yield from _find_key_blocks(text, expand(pattern))
            else:
                yield from _find_shape(text, row, 0, len(text))
    if near:
        yield from _find_near(text, near)
    if phrases:
        yield from ((*place, "seed-phrase") for place in find_phrases(text, phrases))
    if words:
        yield from find_assigned(text, words)
    if told or any(row[1] == "password" for row in words):
        from looseleaf.text.told import find_told  # not at the top: few texts need it

        yield from find_told(text, told, words)


def _find_shape(text: str, row: Row, start: int, end: int) -> Iterator[Span]:
    _, kind, _, pattern, check = row
    for found in compiled(expand(pattern)).finditer(text, start, end):
        first, last = found.span(found.lastindex or 0)
        if fits(kind, text[first:last], check, text[first:last]):
            yield first, last, kind


_NEAR = 80
"""How far before a number its word may be."""


def _find_near(text: str, rows: list[Row]) -> Iterator[Span]:
    """Yield the places of numbers that are given by a word before them."""
    for number in compiled(r"\d{2,}(?<![a-z_.]..)").finditer(text):
        start = max(0, number.start() - _NEAR)
        before = text[start : number.start()].lower()
        for row in rows:
            at = before.rfind(row[2])
            if at >= 0:  # the word begins a little before what must be there
                yield from _find_shape(text, row, max(0, start + at - 24), number.end() + 24)


_PEM_HALF = (  # a key whose end was cut off: headers, whole lines, perhaps a last short one
    r"(?:\s{0,8}[A-Z][\w-]{1,30}: [^\n\\]{0,100}){0,4}"
    r"(?:(?:\s|\\{1,3}[nr]|%0[AaDd]|[\"',>|]){0,12}(?:[A-Za-z0-9+/=]|%[23][BDFbdf]){16,})+"
    r"(?:(?:\s|\\{1,3}[nr]|%0[AaDd]){1,4}[A-Za-z0-9+/]{1,15}={0,2}(?=\s*(?:$|\n|\\|[&%\"'])))?"
)
_PEM_LENGTH = 32_768  # no key is longer: an end that is farther away is another one's


def _find_key_blocks(text: str, pattern: str) -> Iterator[Span]:
    for here, then in pairwise([*compiled(pattern).finditer(text), None]):
        if not here or here[1] == "END":
            continue
        stop = then.start() if then else len(text)
        if then and then[1] == "END" and stop - here.end() < _PEM_LENGTH:
            if compiled("(?:[A-Za-z0-9+/]|%2[BFbf]){24}").search(text, here.end(), stop):
                yield here.start(), then.end(), "private-key"
        elif half := compiled(_PEM_HALF).match(text, here.end(), stop):
            yield here.start(), half.end(), "private-key"


# --- letters that are written in another way ---

_NO_WIDTH = (
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\ufeff"
)
_ALIKE = dict(
    zip(
        "АВЕКМНОРСТХУІЈЅаеорсухіјѕԁԛԝһΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανκρυ",
        "ABEKMHOPCTXYIJSaeopcyxijsdqwhABEZHIKMNOPTYXoavkpu",
        strict=True,
    )
)
_OTHER = "[\u0370-\u03ff\u0400-\u052f\uff01-\uff5e\U0001d400-\U0001d7ff]"
_UNSEEN = (  # what hides a secret from a pattern, or makes it look like another text
    rf"(?<=[!-~])[{_NO_WIDTH}]+(?=[!-~])|(?<=[\w.-]){_OTHER}+|{_OTHER}+(?=[\w-])"
    r"|[\uff10-\uff5a\U0001d400-\U0001d7ff]{8,}"
)
_CODED = (  # what JSON and Markdown, addresses and HTML make of a sign
    (
        r"\\(?:u00[2-7][\da-fA-F]|(?<=[\w+/=.~-]\\)(?=_)|(?<=[A-Za-z\d]\\)(?=-[A-Za-z\d])"
        r"|(?<=[A-Za-z\d+=]\\)(?=/[A-Za-z\d+/=]))"
    ),
    "%(?:2[145B-Fb-f]|3[ADad]|5[Ff]|7[CEce])",
    r"&#(?:x[2-7][\da-fA-F]|\d{2,3});",
)


def _fold(text: str, pattern: str) -> tuple[str, list[int], list[int]]:
    """Return the text as it is meant, and where its pieces begin there and here."""
    parts, there, here, size, done = [], [0], [0], 0, 0
    for found in compiled(pattern).finditer(text):
        meant = _meaning_of(found[0])
        parts += [text[done : found.start()], meant]
        size += found.start() - done
        there += [size, size + len(meant)]
        here += [found.start(), found.end()]
        size, done = size + len(meant), found.end()
    return "".join([*parts, text[done:]]), there, here


def _meaning_of(piece: str) -> str:
    if piece[0] == "%" or piece[:2] == "\\u":
        return chr(int(piece.lstrip("%\\u"), 16))
    if piece[0] == "&":
        import html  # not at the top: few texts need it

        return html.unescape(piece)
    if piece[0] == "\\" or piece[0] in _NO_WIDTH:
        return ""
    import unicodedata

    made = "".join(_ALIKE.get(sign) or unicodedata.normalize("NFKC", sign) for sign in piece)
    return made if len(made) == len(piece) else piece


_OTHER_LETTERS = bytes({*range(256)} - {*range(0xCD, 0xD5)})
"""All bytes but those that begin a letter of Greek or Cyrillic."""


def _has_unseen(text: str) -> bool:
    """Return quickly whether letters like ours, wide ones or signs without a width could be in the text."""
    data = text.encode("utf-8", "surrogatepass")
    wide = b"\xef\xbc" in data or b"\xef\xbd" in data or b"\xf0\x9d" in data
    return wide or bool(data.translate(None, _OTHER_LETTERS)) or any(sign in text for sign in _NO_WIDTH)


def _find_hidden(text: str) -> Iterator[Span]:
    """Yield the places of secrets that are written in another way."""
    ways = [each for each in _CODED if each[0] in text and compiled(each).search(text)]
    if not text.isascii() and _has_unseen(text) and compiled(_UNSEEN).search(text):
        ways.append(_UNSEEN)
    if ways:
        meant, there, here = _fold(text, "|".join(ways))
        rows = find_suspects(meant)
        if ways[-1] is not _UNSEEN:
            rows = [row for row in rows if row[0] != "words"]  # these are read as they are
        for start, end, kind in _find_spans(meant, rows):
            first, last = bisect_right(there, start) - 1, bisect_right(there, end) - 1
            yield here[first] + start - there[first], here[last] + end - there[last], kind


# --- texts and values ---


def find_suspects(text: str) -> list[Row]:
    """Return the rows of the table that the text calls for."""
    return read_table().find_suspects(text)


def redact(text: str, key: bytes) -> str:
    """Return the text with its secrets replaced; the same object if it holds none. The key has at most 64 bytes."""
    return _replace_spans(text, find_suspects(text), key)


def redact_value(value: Any, key: bytes) -> Any:
    """Return a JSON value with every string redacted; under a telling key, a string is judged as if assigned.

    Untouched values stay the same objects; a touched tuple becomes a list.
    """
    plain = repr(value)  # it holds all strings, and every literal unchanged
    rows = find_suspects(plain)
    coded = any(sign in plain for sign in "\\%&") or not plain.isascii()
    return _redact_inner(value, rows, key, "") if rows or coded else value


def _replace_spans(text: str, rows: Iterable[Row], key: bytes, again: int = 3) -> str:
    marks = [mark.span() for mark in _MARK.finditer(text)] if "[redacted " in text else []
    ends = [end for _, end in marks]
    merged: list[Span] = []
    for start, end, kind in sorted([*_find_spans(text, rows), *_find_hidden(text)]):
        after = bisect_right(ends, start)
        if after < len(marks) and marks[after][0] < end:
            continue  # it reads an earlier mark
        if merged and start < merged[-1][1]:
            first, last, other = merged.pop()
            start, end, kind = first, max(last, end), min(kind, other, key=read_table().kinds.index)
        merged.append((start, end, kind))
    parts, done = [], 0
    for start, end, kind in merged:
        parts += [text[done:start], _mark_of(text[start:end], kind, key)]
        done = end
    made = "".join([*parts, text[done:]]) if parts else text
    # A mark may reveal what a secret hid: a word that was its end, or one too far away.
    return _replace_spans(made, rows, key, again - 1) if parts and again else made


def _mark_of(secret: str, kind: str, key: bytes) -> str:
    import hashlib  # not at the top: most texts hold no secret

    digest = hashlib.blake2b(secret.encode("utf-8", "surrogatepass"), key=key).hexdigest()
    return f"[redacted {kind} {digest[:6]}]"


_COMMANDS = ("curl", "mysql", "mariadb", "sshpass", "login", "redis-cli")
_NAMES, _VALUES = ("name", "key", "parameterkey"), ("value", "parametervalue")
_INNER = (*_VALUES, "string", "default", "plaintext")  # what a telling key's own object calls its value


def _redact_inner(value: Any, rows: list[Row], key: bytes, lead: str) -> Any:
    """Redact a value. `lead` is the text that would precede it, if that could give it away."""
    if isinstance(value, str):
        judged = _redact_led(value, rows, key, lead) if lead else None
        if judged is not None:
            return judged
        low = lower(value)
        here = [row for row in rows if row[2] in value or row[2] in low]
        return _replace_spans(value, here, key)
    if isinstance(value, dict):
        made: dict[Any, Any] = {}
        named = next((value[name] for name in value if _is_one_of(name, _NAMES)), None)
        for name, inner in value.items():
            new = _redact_inner(name, rows, key, "") if isinstance(name, str) else name
            while new in made:
                new += "'"  # one of them was redacted earlier: keep both
            title = named if isinstance(named, str) and _is_one_of(name, _VALUES) else name
            own = _lead_of(title, rows, isinstance(inner, list | tuple))
            made[new] = _redact_inner(inner, rows, key, own or (lead if _is_one_of(name, _INNER) else ""))
        same = all(map(is_, made, value)) and all(map(is_, made.values(), value.values()))
        return value if same else made
    if isinstance(value, list | tuple):
        items: list[Any] = []
        command = ""
        if any(row[2] in _COMMANDS for row in rows):
            command = " ".join(item for item in value[:2] if isinstance(item, str) and len(item) < 40)
        last = ""
        for inner in _redact_key_lines(value, rows, key):  # one frame per level: as deep as JSON may be
            items += [_redact_inner(inner, rows, key, lead or _lead_in_list(last, inner, command, rows))]
            last = inner if isinstance(inner, str) and items[-1] is inner else ""
        return value if all(map(is_, items, value)) else items
    if lead and isinstance(value, int) and not isinstance(value, bool) and 100 <= value < 10**20:
        return _redact_led(str(value), rows, key, lead, value)
    return value


def _redact_led(text: str, rows: list[Row], key: bytes, lead: str, same: Any = None) -> Any:
    """Return the text as judged after its lead; None if it cannot be quoted there."""
    for left, right in [pair for pair in ('""', "''", "``", "“”") if pair[1] not in text][:1]:
        start = lead + left
        both = _replace_spans(start + text + right, rows, key)
        if both.startswith(start) and both[-1] == right:
            made = both[len(start) : -1]
            return made if made != text else text if same is None else same
    return same


def _is_one_of(name: object, names: tuple[str, ...]) -> bool:
    return isinstance(name, str) and name.lower() in names


def _lead_of(title: object, rows: list[Row], many: bool = False) -> str:
    low = lower(title).strip() if isinstance(title, str) else ""
    if not any(row[2] and row[2] in low for row in rows):
        return ""
    title = str(title).strip()
    return f'"{title[:-1] if many and low.endswith("passwords") else title}": '


def _lead_in_list(last: str, item: object, command: str, rows: list[Row]) -> str:
    """Return the lead of a list item: the option before it, the telling word, its command."""
    if not isinstance(item, str) or not (last or command):
        return ""
    known = any(name in command for name in _COMMANDS)
    if known and item[:1] == "-" and item[1:2] != "-":
        return f"{command} "
    if not compiled(r"-{0,2}[A-Za-z][\w.-]{0,40}").fullmatch(last):
        return ""
    if len(last) == 2:
        return f"{command} {last} " if known else f'"{last}", '
    return _lead_of(last, rows) if last[0] == "-" else _lead_of(last, rows).replace('": ', '", ')


def _redact_key_lines(value: Any, rows: list[Row], key: bytes) -> Any:
    """Return the items, with the lines of a private key replaced by its mark and empty lines."""
    pattern = next((expand(row[3]) for row in rows if row[2] == "-----BEGIN"), "")
    if not pattern or not any(isinstance(item, str) and "-----BEGIN" in item for item in value):
        return value
    items, lines, starts, at = list(value), [], [], 0
    for item in value:
        # Any other line ends the key.
        line = item if isinstance(item, str) and (len(item) < 100 or "-----" in item[-8:]) else "\n[]"
        starts.append(at)
        lines.append(line)
        at += len(line) + 1
    text = "\n".join(lines)
    for start, end, kind in _find_key_blocks(text, pattern):
        first, final = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
        between = "".join(lines[first + 1 : final])
        if first < final and not compiled(r"[^\w+/=:;,. \r-]|\w [a-z]").search(between):
            items[first] = items[first][: start - starts[first]] + _mark_of(text[start:end], kind, key)
            items[first + 1 : final] = [""] * (final - first - 1)
            items[final] = items[final][end - starts[final] :]
    return items
