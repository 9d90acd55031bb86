"""Secrets as people tell them: the word stands some way before or after, or only the name of a service does.

What is told is judged by its own look first (a password that mixes letters, digits and signs, a token as at random, a
number of four to eight digits), then by what is said around it.
"""

from __future__ import annotations

from itertools import pairwise

from looseleaf.text.secret_table import SIGNED, read_table
from looseleaf.text.telling import (
    GIVES,
    character_classes,
    compiled,
    count_words,
    find_names,
    is_scrambled,
    is_secret,
    is_unfilled,
    lower,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.text.secret_table import Row, Span


def find_told(text: str, rows: list[Row], words: list[Row]) -> Iterator[Span]:
    """Yield the places of what is told near one of these words; `words` are the telling ones."""
    low = lower(text)
    names: dict[str, list[str]] = {}
    for row in rows:
        names.setdefault(row[1], []).append(row[2])
    if "password" in names:
        yield from _find_signed(text, low)
    if named := [row for row in words if row[1] == "password"]:
        yield from _find_named(text, low, named)
    if "pin" in names:
        yield from _find_pins(text, low, names["pin"])
    if "recovery-code" in names:
        yield from _find_codes(text, low, names["recovery-code"])
    if "token" in names:
        yield from _find_tokens(text, low)


_MARKS = "“”‘’„「」『』（），。、：！？–—…→"


def _outline(text: str, table: bytes) -> str:
    """Return the text with a letter for each class of signs, as long as it is."""
    if not text.isascii():
        text = text.replace("?", "!")
        for mark in _MARKS:
            text = text.replace(mark, " ")
    return text.encode("latin-1", "replace").translate(table).decode("ascii")


# --- passwords ---

_NO_PASSWORD = (  # an address, a version, a handle, a reference, a measure, a name that is computed
    r"(?i)[\w.+-]*@[\w.-]+$|[a-z]{1,3}#\d+$|(?:issue|ticket|invoice|order|section|chapter|room|track|unit|version)\W?\d"
    r"|[\w.-]+[=<>!~^]=?=|[\w.-]+=|--?[a-z]|[#$%&~@!+?*][\w.-]+$|[\d.,:+%€$£-]+[a-z%]{0,4}$|\w+\+{1,2}\d*$"
    r"|[a-z]+\?\w+=|\d+%|[\w-]+(?:\.[\w-]+)*\.[a-z-]{2,}(?:[#?]|$)|[^:]*:\d+$|c#|f#|\w{1,3}[&+]\w{1,3}$"
    r"|[\w.-]*#(?:section|page|l\d)|\S*%(?:[0-9a-f]{2}|[sdifr]\b)|\w+\*+$|\S*\.\*|fritz!"
    r"|(?:input|div|button|form|a|span)[#.]|\w+[*]\w{1,2}$"
)
_LINK = (  # what gives the next word, as at the end of `it is still `
    r"(?i)(?:\b(?:(?:it|that|this)(?:['’]?s|['’]ll be| is)|is|was|are|be|to|into|use|used|type|enter|try|one|now|still"
    r"|says?|said|reads|with|auf|in|ist|lautet|jetzt|nun|noch|nimm|c['’]est|est|toujours|désormais|maintenant|es|sigue"
    r"|siendo|ahora|era|è|sempre|ora|é|agora|ainda|jest|dalej|nadal|teraz|nu|steeds|nog|это|теперь|ещё|еще)"
    r"|[:：→>=–—]|->|还是|是|は|、|，)[ ]{0,2}[\"'`“‘«„「『(]?$"
)
_AS = r"[\"'`”’»“]?,? (?:is|was|as|als|ist|est|comme|es|como|è|come|é|for|für|jako)(?: [\w'’-]{1,12}){0,3} $"
_ACCESS = (
    r"(?:passw|passphrase|passcode|pwd\b|\bpw\b|kennwort|contrase|mot de passe|\bmdp\b|\bsenha|\bclave|\bhasł|\bhaslo"
    r"|parola|wachtwoord|lösenord|jelszó|şifre|парол|密码|密碼|口令|パスワード|비밀번호|κωδικ|mật khẩu|salasana"
    r"|heslo|adgangskode"
    r"|\blog(?:ged|ging)? ?(?:me |us |her |him )?(?:in|into|on)\b|\blogins?\b|\bsign(?:ed)? ?in\b"
    r"|get into|ssid|let you in|wi-?fi|wlan|hotspot|router|credential|einlogg|anmeld|zugang|benutzer|connecter"
    r"|connexion|identifiant|iniciar ses"
    r"|entra en|usuario|utente|usuário|zaloguj|logowan|inlogg|gebruiker|логин|войти|вайфа|登录|登入|ログイン|로그인"
    r"|username|user\b|unlock|[\w.+-]{1,40}@[\w-]{1,40}\.[\w.-]{2,40})"
)
_CODE = r"[={}<>;\\\[\]]|\(\)|\w\("
_FAR, _CLOSE = 130, 90
_TALK = 12
"""Lines of a talk: what has more is a document, whose lines have less to do with each other."""

_FOREIGN = SIGNED[:63] + b"a" + SIGNED[64:]
"""A letter that is not in Latin-1 becomes a question mark in an outline."""


def _find_signed(text: str, low: str) -> Iterator[Span]:
    """Yield the places of what only a password looks like, near a word for getting in."""
    outline = _outline(text, SIGNED if text.isascii() else _FOREIGN)
    at, done = outline.find("a!a"), 0
    while at >= 0:
        start, end = outline.rfind(" ", done, at) + 1 or done, outline.find(" ", at)
        done = end if end >= 0 else len(text)
        start = done - len(text[start:done].lstrip(",."))
        if 7 < done - start < 65:
            end = start + len(_without_end(text, text[start:done], done))
            if _looks_typed(text[start:end]) and _gives_access(text, low, start, end):
                yield start, end, "password"
        at = outline.find("a!a", done)


def _around(low: str, start: int, end: int, far: int, close: int) -> tuple[str, str]:
    """Return what is said before and after: in a document, on the same line and the one before."""
    before, behind = low[max(0, start - far) : start], low[end : end + close]
    if low.count("\n") > _TALK:
        before, behind = "\n".join(before.rsplit("\n", 2)[-2:]), behind.partition("\n")[0]
    return before.rpartition("\n\n")[2], behind.partition("\n\n")[0]


def _gives_access(text: str, low: str, start: int, end: int) -> bool:
    if text[start - 1 : start] in tuple("/=\\[{<;)]}") or text[end : end + 1] in tuple("/=\\[({<"):
        return False
    before, behind = _around(low, start, end, _FAR, _CLOSE)
    if "[redacted " in behind:
        return False
    words = [*compiled(_ACCESS).finditer(before)]
    if words and not compiled(_CODE).search(before, words[-1].end()):
        return True
    after = compiled(_ACCESS).search(behind)
    return bool(after and not compiled(_CODE).search(behind[: after.start()]))


_GIVEN = (
    r"(?<![^\s\"'`“‘«„「『(:：、，>→])(?:[^\s\"'`“”‘’«»„「」『』(){}\[\]<>\\;/、，。\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]){6,64}"
    r"(?![\[({<\\])"
)


def _find_named(text: str, low: str, named: list[Row]) -> Iterator[Span]:
    """Yield the places of passwords that are given some words after `password`, or beneath it in a table."""
    done = 0
    for at, number in find_names(low, [row[2] for row in named]):
        word = compiled(named[number][3]).match(text, at)
        if not word or (low[at].isascii() and low[word.end() : word.end() + 1].isalpha()):
            continue
        last = word.end()
        if word[0].lower() == "passe" and low[max(0, at - 7) : at] != "mot de ":
            continue
        if word[0] == "PASS" or (
            word[0] == "pass" and not compiled("user|login|mail|benutzer").search(low, max(0, at - 60), at)
        ):
            continue
        judged = compiled(GIVES).match(text, last) if word[0].lower() != "pass" else None
        yield from _find_column(text, at, last)
        stop = text.find("\n", last, last + _FAR)
        for found in compiled(_GIVEN).finditer(text, max(done, last), stop if stop >= 0 else last + _FAR):
            value = _without_end(text, found[0], found.end())
            begin, end = found.start(), found.start() + len(value)
            if compiled(_CODE).search(text, last, begin):
                break
            if judged and begin <= judged.end() <= end:
                continue  # it was assigned
            link = value.count("-") > 2 or compiled(_LINK).search(text, max(last, begin - 24), begin)
            if link and _looks_given(value):
                yield begin, end, "password"
                done = end
        before = compiled(r"(?<!\S)[\"'`“‘«„]?([^\s\"'`“”,]{6,64})" + _AS).search(text, max(0, at - 80), at)
        if before and _looks_given(before[1]):
            yield *before.span(1), "password"


def _find_column(text: str, at: int, last: int) -> Iterator[Span]:
    """Yield the places of what stands beneath the word in the column of a table."""
    start, end = text.rfind("\n", max(0, at - 200), at) + 1, text.find("\n", last, last + 200)
    head = text[start:end] if end >= 0 and at - start < 200 else ""
    by = next((sign for sign in "|\t;," if sign in head), "")
    if not by or not all(map(compiled(r"[\w \t*`\"'-]{0,40}").fullmatch, head.rstrip("\r").split(by))):
        return
    column, count = text.count(by, start, at), head.count(by)
    for _ in range(50):
        start, end = end + 1, text.find("\n", end + 1, end + 1000)
        line = text[start : end if end >= 0 else start + 1000]
        if line.count(by) != count:
            return
        cells = line.split(by)
        cell = cells[column].strip(" \t`\"'\r")
        if is_secret(cell, "near", quoted=True) and not compiled(_CODE).search(cell):
            begin = text.index(cell, start + sum(map(len, cells[:column])) + column)
            yield begin, begin + len(cell), "password"
        if end < 0:
            return


def _without_end(text: str, value: str, end: int) -> str:
    """Return a value without the signs that end its sentence."""
    value = value.rstrip(".,:")
    after = text[end : end + 2].strip(" ")
    return value.rstrip("!?.,:") if not after or after[0] in '\n"' or after[0].isupper() else value


def _looks_typed(value: str) -> bool:
    """Return whether it looks like a password by itself: letters, digits, and a sign among them."""
    letters, digits, _ = character_classes(value)
    if not (letters and digits and character_classes(value[1:])[2]) or sum(map(str.isalpha, value)) < 3:
        return False
    plain = value.strip("*_")
    return len(plain) > 7 and not is_unfilled(plain) and not compiled(_NO_PASSWORD).match(plain)


def _looks_given(value: str) -> bool:
    """Return whether it looks like a password if it is given as one."""
    if is_unfilled(value) or compiled(_NO_PASSWORD).match(value) or compiled("(?i)passw|polic").search(value):
        return False
    return (
        is_secret(value, "near", quoted=True)
        or bool(compiled(r"[A-Za-z]{3,}(?:[-_.][A-Za-z\d]+){1,8}[-_.]?\d{2,}[A-Za-z]?").fullmatch(value))
        or bool(compiled(r"[a-z]{3,}(?:-[a-z]{3,}){3,}(?:-\d+)?").fullmatch(value))
    )


# --- numbers of cards and phones ---

_NUMBER = r"\d(?:\d{3,7}|(?:[ .-]\d){3,5}|\d[ .]\d\d(?![ .]?\d))(?!\d)"
_YEAR = r"(?:19[5-9]|20[0-3])\d$"
_NOT_BEFORE = (
    r"(?i)(?:\b(?:ending|since|in|im|en|order|account|room|model|nr|no|number|year|version|port|until|by|gpio|about"
    r"|page)\.?\s?|[+$€£#./-]\s?|:|\d\s?)$"
)
_NOT_BEHIND = (
    r"\s?(?:%|€|\$|£|°|(?:(?i:euros?|eur|usd|dollars?|times|mal|pins?|people|users|years|days|hours|minutes|km"
    r"|mm|m|kg|g"
    r"|ms|mv|v|in india)\b))|[.,:/-]?\d|[\w/]"
)
_OTHER_NUMBER = (
    r"\d{2}|(?i:order|phone number|call|tracking|invoice|version|gpio|door|gate|postal|city|address|board)"
)
_OWN = (
    r"(?i)\b(?:my|meine?r?|our|the|his|her|their|your|ma|mon|la|le|il|mio|mi|meu|mijn|mój|card|karte|bank|sim|debit"
    r"|credit|giro|ec|voicemail|phone|handy|tablet|app|new|neue|old)[ -]$"
)
_NUMBER_BEFORE = (
    r"(?<![\w.,:/+$€£#-])(\d{4,8}) (?:(?:is|was|ist|war|est|es|è|é|as|als|comme|como|come|for|für|jako|to) |[(–—-] ?)"
    r"(?:[^\d\n.!?={}<>;]{0,50}?[ (-])?$"
)


def _find_pins(text: str, low: str, names: list[str]) -> Iterator[Span]:
    """Yield the places of numbers that are told some words before or after `PIN`."""
    for at, number in find_names(low, names):
        last = at + len(names[number])
        if (
            low[at - 1 : at].isalnum()
            or low[last : last + 1].isalpha()
            or text[at - 1 : at] in tuple("_.$-/")
        ):
            continue
        own = text[at:last] != "pin" or compiled(r"[ -]?(?i:code|karty|del|de|da)\b").match(text, last)
        if not own and not compiled(_OWN).search(text, max(0, at - 12), at):
            continue
        stop = text.find("\n\n", last, last + 100)
        for found in compiled(_NUMBER).finditer(text, last, stop if stop >= 0 else last + 100):
            start, end = found.span()
            between = text[last:start]
            if (
                not compiled(_NOT_BEHIND).match(text, end)
                and not compiled(_NOT_BEFORE).search(text, max(0, start - 12), start)
                and not compiled(_CODE).search(between)
                and not compiled(_OTHER_NUMBER).search(between)
                and not (compiled(_YEAR).match(found[0]) and not compiled(_LINK).search(between))
            ):
                yield start, end, "pin"
                break
        if before := compiled(_NUMBER_BEFORE).search(text, max(0, at - 75), at):
            yield *before.span(1), "pin"


# --- lists of codes ---

_CODES = (
    r"(?<![\w./-])(?:[A-Za-z\d]{4,6}-[A-Za-z\d]{4,6}(?:-[A-Za-z\d]{4,6})?|\d{3,5} \d{3,5}(?! ?\d)|[A-Za-z\d]{6,12})"
    r"(?![\w./-])"
)


_SPARE = (
    r"recover|back-?up|2fa|two-factor|scratch|emergency|one-time|secours|récup|recuper|respaldo|riserva|zapas|herst"
    r"|sicherung|ersatz|резервн|authenticator"
)


def _find_codes(text: str, low: str, names: list[str]) -> Iterator[Span]:
    """Yield the places of two or more codes of one shape after a word for recovery codes."""
    done = 0
    for at, number in find_names(low, names):
        start, last = max(done, at + len(names[number])), at + 700
        if not compiled(_SPARE).search(low, max(0, at - 40), start + 40):
            continue
        shapes: dict[str, list[tuple[int, int]]] = {}
        for found in compiled(_CODES).finditer(text, start, last):
            if compiled(r"\d|[A-Z]{6}").search(found[0]) and not compiled(r"(?:19|20)\d\d[ -]").match(
                found[0]
            ):
                shape = compiled("[A-Za-z0-9]").sub("0", found[0])
                shapes.setdefault(shape, []).append(found.span())
        for places in shapes.values():
            near = places[:1]
            for here, then in pairwise(places):
                if then[0] - here[1] > 24:
                    break
                near.append(then)
            if len(near) > 1:
                yield from ((*place, "recovery-code") for place in near)
                done = max(done, near[-1][1])


# --- tokens ---

_LETTERS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TOKENS = bytes(ord("a") if each in _LETTERS + b"_+/-" else 32 for each in range(256))
_LEAST = "a" * 19
_PUBLIC = (  # what is no secret by its first letters
    r"(?:toolu|call|msg|run|thread|asst|resp|job|usr|org|file|chatcmpl)[_-]|\S*(?:EXAMPLE|xmpl)|age1|(?:bc|tb"
    r"|ltc|addr|cosmos|npub|osmo)1|Qm[1-9A-HJ-Za-km-z]{44}|baf[yk]|pk[_.-]|AAAA[BCE]|PL[\w-]{32}$|UC[\w-]{22}$"
    r"|(?:price|cus|prod|sub|pi|ch|evt|in|acct|req|txn|cs|pm|si|ii|po|re|phc|seti)_|6L[\w-]{38}$|iVBOR|/9j/"
    r"|R0lGOD|MII|_ZN"
    r"|d09GM|[13][1-9A-HJ-NP-Za-km-z]{25,33}$|T[1-9A-HJ-NP-Za-km-z]{33}$|01[0-9A-HJKMNP-TV-Z]{24}$"
    r"|sb_publishable|src/|/"
)
_HARMLESS = (
    r"(?:\b(?:(?!sess)[a-z]*ids?|uuid|[a-z]*hash|sha-?\d*|md5|crc|commits?|revision|rev|digest|[a-z]*checksum|fingerprint|etag"
    r"|integrity|trace\w*|span\w*|tx|txn|transaction|contract|block|address|adresse|dirección|cid|ipfs|video|playlist"
    r"|sheet|spreadsheet|doc|document|folder|file|image|build|order|tracking|parcel|serial|row|record|object|container"
    r"|public\w*|publishable|site|öffentliche\w*|pub|signature|anonymous|certificate|cert|nonce|uid|guid|ulid|slug|part"
    r"|merkle|root|topic|bytes32|cache|ssh-[a-z\d]+|ed25519|blob|tree|merge\w*|cherry-pick|checkout|pod|request|ray"
    r"|correlation|identifier|kennung|example|sample|dummy|fake|mangled|base64|decode\w*|encoded|search-only"
    r"|channel|user"
    r"|customer|invoice|events?|query|instance|ami|tenant|subscription|model|layer|font)\b)"
)
_CLUES = (
    r"(?:token|\bkeys?\b|api|secret|credential|\bauth|passw|log ?in\b|logged|sign in|bearer|cookie|session|schlüssel"
    r"|zugang|\bclé\b|clave|chave|chiave|klucz|sleutel|ключ|токен|секрет|密钥|令牌"
    r"|トークン|キー|geheim|jeton|segredo|segreto|\botp\b|2fa|authenticator|\bpat\b)"
)
_HINTS = (
    r"(?:account|konto|compte|cuenta|staging|\bprod\b|production|admin|console|dashboard|deploy|\bs3\b|bucket|pipeline"
    r"|\bscopes?\b|expire|rotat|permission|\brights\b|webhook|integration|\bcli\b|\.env\b|settings|generated|revoke"
    r"|read-only|workspace|\bci\b|client|server|hidden|private|long one|plan\b|billing|quota|sandbox|access|sdk"
    r"|endpoint)"
)
_WALLET = r"wallet|priv|accounts?\b|metamask|signer|deployer|hardhat|foundry|phantom|secret|\bkeys?\b"
_TWO_FACTOR = r"2fa|totp|authenticator|\botp\b|secret|setup|guard"
_NAME = r"(?:^|\s)(?:export |set |\$env:)?[A-Z][A-Z0-9_]{2,40}=[\"']?$"
_LED = (
    r"(?:^|\n|[^\W\d_]['’]?[,:;.!?)…]{0,3}|[:–—>→=|-]|\d[.)]|\))[ \t]{1,3}[\"'`“‘«„(]?$"
    r"|(?:^|\n)[>|\"'`*-]?$|[:：=][\"'`“]?$"
)
_ASSIGNED = r"[\"'\])]\s{0,2}[:=]\s{0,2}[\"'`]?$|\w[\"']?=[\"']?$"
_TOLD_HEX = (
    r"(?:\b(?:it|that|this)(?:['’]?s| is)|\bis|\bist|\bone|\bthing|\best|[:–—-]|\bgot|\buse|\bwith|\bme|\bgives"
    r"|\bshows|\bsays)\s{1,3}"
    r"[\"'`“(]?$"
)


def _find_tokens(text: str, low: str) -> Iterator[Span]:
    """Yield the places of tokens as at random, near the name of a service or a word for a key."""
    outline, end = _outline(text, _TOKENS), 0
    while (start := outline.find(_LEAST, end)) >= 0:
        end = outline.find(" ", start)
        end = end if end >= 0 else len(text)
        value = text[start:end].rstrip("-") if end - start < 129 else ""
        look = _look_of(value) if compiled(r"\d|[A-Z][a-z][A-Z]").search(value) else ""
        if look and _is_told(text, low, start, value, look):
            yield start, start + len(value) + text[end : end + 2].count("="), "token"


def _look_of(value: str) -> str:
    """Return how a token looks: `mixed`, `low`, `up`, `hex`, `0x`, `uuid`; empty if it is none."""
    if compiled("[0-9a-f]{32,128}|[0-9A-F]{32,128}").fullmatch(value):
        return "hex" if len(value) in (32, 34, 40, 48, 64, 96, 128) and not value.isdigit() else ""
    if value[:2] == "0x":
        return "0x" if compiled("0x[0-9a-fA-F]{64}").fullmatch(value) else ""
    if compiled("(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch(value):
        return "uuid"
    if compiled("(?=[A-Z]*[2-7])[A-Z2-7]{16,64}").fullmatch(value) and not count_words(value):
        return "up"
    if not is_scrambled(value) or count_words(value) or max(map(value.count, set(value))) * 4 > len(value):
        return ""
    joined = any(sign in value for sign in "/_-")
    if joined and compiled("[a-z]{8}|[A-Z]{9}|^[a-z]+[_-][a-z]+[_-]").search(value):
        return ""
    digits = sum(map(str.isdigit, value))
    if value.islower():
        return "low" if digits > 2 and not joined and "+" not in value else ""
    return "mixed" if (digits or len(value) > 31) and not value.isupper() else ""


def _is_told(text: str, low: str, start: int, value: str, look: str) -> bool:
    """Return whether a token is given as a secret, or beside something that has one."""
    end, line = start + len(value), text[max(0, start - 60) : start]
    if (
        compiled(_PUBLIC).match(value)
        or is_unfilled(value.removeprefix("0x"))
        or compiled(r"={0,2}(?:[\w+/@=-]|\.\w|[:(]\S)").match(text, end)
        or not compiled(r"(?:^|[\s\"'`“‘«„(\[=>：])$").search(line)
        or _is_in_block(text, start, end)
    ):
        return False
    named = look == "0x" or compiled(_NAME).search(line)
    if not named and (not compiled(_LED).search(line) or compiled(_ASSIGNED).search(line)):
        return False
    before, behind = low[max(0, start - 260) : start], low[end : end + 160]
    if low.count("\n") > _TALK:
        before, behind = "\n".join(before.rsplit("\n", 2)[-2:]), behind.partition("\n")[0]
    last = before[-44:].rsplit("\n\n", 1)[-1]
    if compiled(_HARMLESS + r"[^a-z\d]{1,4}(?:[\w'’-]+[^\w]{1,3}){0,3}$").search(last):
        return False
    if look == "hex" and compiled(r"  ?[*]?\S*[./\\]\S").match(behind):
        return False  # a list of checksums
    if look in ("hex", "0x", "uuid") and compiled(_HARMLESS).search(before[-60:] + " " + behind[:40]):
        return False
    whole = compiled(r"\[redacted [a-z-]{2,16} [0-9a-f]{6}\]").sub("", f"{before} \n {behind}")
    service, clue = compiled(read_table().services).search(whole), compiled(_CLUES).search(whole)
    told: object
    match look:
        case "mixed":
            told = service or clue or compiled(_HINTS).search(whole)
        case "low":
            told = service or compiled(_CLUES).search(before[-80:] + behind[:50])
        case "hex":
            given = compiled(_CLUES).search(before[-60:]) and compiled(_TOLD_HEX).search(before)
            wallet = len(value) == 64 and compiled("metamask|wallet|ethereum|privat").search(whole)
            told = service or given or wallet
        case "0x":
            told = compiled(_WALLET).search(whole)
        case "uuid":
            told = service and clue and compiled(_TOLD_HEX).search(before)
        case _:
            told = clue and (service or compiled(_TWO_FACTOR).search(whole))
    return bool(told)


def _is_in_block(text: str, start: int, end: int) -> bool:
    """Return whether the line before or after is such a token as well: then it is data."""
    above = r"[A-Za-z0-9+/=]{40,}[\"',\\]{0,3}[ \t]*\r?\n[ \t]*[\"']?$"
    below = r"={0,2}[\"',\\]{0,3}[ \t]*\r?\n[ \t]*[\"']?[A-Za-z0-9+/=]{40,}"
    return bool(compiled(above).search(text, max(0, start - 140), start) or compiled(below).match(text, end))
