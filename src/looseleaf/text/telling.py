"""Telling words (`password`, `token`, …) and whether the value assigned to one is a secret."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.text.secret_table import Row

# There are primary keys, sort keys and keys of dictionaries too; and tokens that only mark a place.
_SECRET_KEYS = tuple(
    "api access account private secret auth authentication encryption signing master shared service admin app client "
    "storage subscription webhook recovery license licence product activation preshared global "
    # and what a key of these services is for
    "ably algolia alchemy anthropic assemblyai cloudflare cohere datadog deepgram deepseek fastly gemini groq heroku "
    "hetzner infura linode mailgun mistral netlify newrelic okta openai openrouter pagerduty pinecone postmark "
    "railway replicate rollbar sendgrid snyk stripe supabase together trello twilio upstash vercel vultr wandb".split()
)
_IDLE_TOKENS = (
    r"(?i)(?:next|forward|backward|page|pagination|continuation|sync|cursor|resume|start|starting|lock|change|request"
    r"|public[_-]?key|[be]os|pad|unk|sep|cls|mask|special)[ _-]?$"
)
_TYPE_HINT = (
    r":[ ]?(?:str|string|bytes|SecretStr|Optional\[str\]|any)(?:[ ]?\|[ ]?(?:None|null|undefined))?[ ]?="
)
_OF = (
    r"[ ](?:for|to|of|on|in|zum|zur|für|pour|de|del|para|per|della|do|da|van|voor|dla|для|от)[ ]"
    r"[^\n:=,;\"'?!\[]{1,40}?"
)
GIVES = (  # the rest of a name, and what stands between it and its value
    r"(?i)(?:[_-]?(?:access|key|base|value|token|string|text|prod|dev|test|staging|live|old|new|data|\d{1,2})"
    r"| (?:access key|key|value|token)|[ -](?:de |d['’])?api){0,3}(?:[\\\"'`\]*]|%22|&quot;|&#34;){0,6}(?:"
    r"(?P<pair>\s{0,2},?\s{0,4}\\{0,3}[\"']?value\\{0,3}[\"']?\s{0,2}[:=]\s{0,4}"
    r"|[ \t]{0,2}[:=]?[ \t]{0,2}\{[^{}\[]{0,200}?\b(?:default|value|string)\\{0,3}[\"']?\s{0,4}[:=]\s{0,4})"
    rf"|(?P<sign>\s{{0,4}}(?:{_TYPE_HINT}|:=|=>|->|={{1,3}}|[:：]|%3[ADad])\**[ \t\xa0\u3000]{{0,8}}"
    r"(?:(?:\r?\n|\\n)[ \t]{0,8}){0,2}(?:%20)?(?:%22|&quot;|&#34;)?)"
    rf"|(?P<said>(?:{_OF})?[ ]{{1,3}}(?:(?:(?:is|was|has been)[ ])?(?:set|changed|reset|updated)[ ]to"
    r"|(?:is|was|ist|lautet|war|est|es|era|è|é|to|jest|это)"
    r"(?:[ ](?:now|still|just|again|jetzt|maintenant|ahora|ora|agora|teraz|nu))?)[ ]{0,2}:?\s{1,3}"
    rf"|{_OF}:[ ]{{1,3}}|\s{{0,2}}(?:是|为|為|は|が|은|는)[:：]?\s{{0,2}})"
    r"|(?P<tag>>\s{0,4})|(?P<list>[,(]\s{0,2}(?=\\{0,3}[\"']))|(?P<cell>[ \t]{0,20}\|[ \t]{0,20})|(?P<gap>[ \t]{1,4})"
    r")(?:[bruf]{1,2}(?=[\"']))?(?P<quote>(?:\\{0,3}[\"'`“‘「『«])?)"
)
_CLOSING = {"“": "”", "‘": "’", "「": "」", "『": "』", "«": "»"}
_BARE = r"(?:[^\s\xa0\"'<>`\\”’»，；！？）\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3]|\\(?![nrtu\"'\\])){1,64}"
_CUT = r"&(?:#\w{1,5}|[lg]t|amp|quot|[lr][ds]quo|nbsp);|[&;,|](?=[\w. -]{1,30}[=:]|$)|\)(?=[.,;:)\]}]|$)"
_ENCODED_CUT = "%(?:2[026C]|3B|7D|0[AD])"
_MORE = r"(?:%s[^\s\"'<>`\\&;,|)]|\\/)*"
_UUID = "(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_UNFILLED = (  # a placeholder, a reference, a checksum, an address, a date
    r"(?i)[<{\[(]|&#?\w{1,8};|\$[a-z_({]|%\(|[:@!%#?&~*.-][a-z_.-]+%?\d?$|your[_ -]|my[_-]?(?:pass|secret|token)"
    r"|replace|insert[_ -]|enter[_ -]|example|placeholder|change[_-]?(?:me|it)|todo|redacted|env[.:]|vault:|arn:|ssm:"
    r"|id=\w|sha\d{1,3}[-:]|md5:|data:|[a-z][a-z+.-]{1,20}://|0x[0-9a-f]{40}$|\d{4}-\d\d?-\d\d?(?:\D|$)"
    r"|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){0,4}\.[a-z]{2,24}$"
)
_TECHNICAL = r"(?i)(?:base|sha|md|utf|aes|[rhep]s|argon|pbkdf|oauth|http|ipv|u?int|rfc|x|v)-?\d{1,5}[a-z-]*$"
_MEASURE = r"[\d.,:]+[A-Za-z%/]{0,6}"
_PART = r"(?:\.|->|::|\?\.)[A-Za-z_$][\w$]{0,30}"
_CODE = rf"[A-Za-z_$][\w$]{{0,30}}(?:{_PART})*[(\[{{]|[\w$]{{1,30}}(?:{_PART})+$"
_TRIVIAL = (
    "string number object boolean required optional hidden invalid missing default unknown disabled enabled expired "
    "plaintext encrypted private public undefined incorrect masked removed wachtwoord parola salasana geheim".split()
)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile on first use: most texts need no pattern."""
    return re.compile(pattern, re.ASCII)


def lower(text: str) -> str:
    """Return the text with small letters for our capitals, as long as it is. Others stay: that is faster."""
    return (
        text.lower()
        if text.isascii()
        else text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
    )


def _is_secret_key(text: str, at: int) -> bool:
    """Return whether what stands before makes a key (or a token) a secret one."""
    before = text[max(0, at - 20) : at].lower()
    return (before[:-1] if before[-1:] in tuple(" _.-") else before).endswith(_SECRET_KEYS)


def find_names(low: str, names: list[str]) -> list[tuple[int, int]]:
    """Return where each of these texts is, in the order of the places, and which one it is."""
    hits = []
    for number, name in enumerate(names):
        at = low.find(name)
        while at >= 0:
            hits.append((at, number))
            at = low.find(name, at + len(name))
    return sorted(hits)


def find_assigned(text: str, words: list[Row]) -> Iterator[tuple[int, int, str]]:
    """Yield the places and kinds of secrets assigned to one of these words."""
    done = 0
    for at, row in find_names(lower(text), [row[2] for row in words]):
        _, kind, _, pattern, _ = words[row]
        if at < done or (words[row][2] == "key" and not _is_secret_key(text, at)):
            continue
        if kind == "password" and text[at - 1 : at] == " " and (place := _find_told_before(text, at)):
            yield *place, kind
        word = compiled(pattern).match(text, at)
        gives = compiled(GIVES).match(text, word.end()) if word else None
        if word and gives:
            start, done = _find_value(text, text[max(0, at - 100) : at], word[0], kind, gives) or (done, done)
            if start < done:
                yield start, done, kind


_BEFORE = (
    r"(?i)(?<!\S)[\"'`“]?([^\s\"'`”]{6,64})[\"'`”]? (?:is|was|ist|est|es|è|é|as|als|for|für)(?: now)? "
    r"(?:my|our|the|your|his|her|mein|das|dein|unser|mon|le|notre|mi|la|minha|a|mijn|het)(?: [\w-]{2,16}){0,2} $"
)


_VERBS = (" is ", " was ", " ist ", " est ", " es ", " è ", " é ", " as ", " als ", " for ", " für ")


def _find_told_before(text: str, at: int) -> tuple[int, int] | None:
    """Return the place of a password that stands before the word: `… is my password`."""
    first, near = max(0, at - 110), text[max(0, at - 50) : at]
    if not any(verb in near for verb in _VERBS):
        return None
    found = compiled(_BEFORE).search(text, first, at)
    value = found[1].rstrip(",.") if found else ""
    return (found.start(1), found.start(1) + len(value)) if found and is_secret(value, "near", True) else None


_PHRASE = r"(?:(?<![^\s\"'`:：,;(\[=>.])|(?<=\\n))[a-zà-ÿ]{3,9}(?:[\s,\"'.)\d:-]{1,8}[a-zà-ÿ]{3,9}){11,39}(?![\w'-])"
_NO_SEED = frozenset(  # in no list of seed words
    "the and for are but not you your with from have has had was were would could should our his her its than "
    "their them these those been into did does said some which because phrase words mnemonic wallet recovery".split()
)


def find_phrases(text: str, names: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of the words that open a wallet: twelve or more, none an everyday one, near a telling word."""
    done = 0
    for at, _ in find_names(lower(text), names):
        for run in compiled(_PHRASE).finditer(text, max(done, at), at + 600):
            done = run.end()
            words = [*compiled("[a-zà-ÿ]{3,9}").finditer(text, *run.span())]
            breaks = [-1, *(at for at, word in enumerate(words) if word[0] in _NO_SEED), len(words)]
            for left, right in pairwise(breaks):
                if right - left > 12:
                    yield words[left + 1].start(), words[right - 1].end()


def _find_value(text: str, before: str, word: str, kind: str, gives: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the secret assigned to the word."""
    start, quote, tag = gives.end(), gives["quote"], gives["tag"]
    sign, pair = gives["sign"] or "", gives["pair"] or ""
    word, loud = word.lower(), word.isupper() and sign == "="
    if (
        (kind == "token" and compiled(_IDLE_TOKENS).search(before[-20:]))
        or (word == "passe" and before[-7:].lower() != "mot de ")
        or (word == "pass" and not ("=" in sign or (sign + pair and before[-1:] in tuple("_-\"'"))))
        or (kind == "secret" and "secretsmanager:" in before)
        or (tag and not compiled(r"<[\w:.-]*$").search(before))
    ):
        return None
    if word == "pass":  # an everyday word
        kind = "secret"
    elif kind == "authorization":
        if scheme := compiled("(?i)(basic|bearer|token|bot|apikey|key)[ ]{1,3}").match(text, start):
            start, quote, kind = scheme.end(), "", scheme[1].lower()
    elif gives["gap"] and compiled(r"\blogin\s{1,8}\S{1,64}\s{1,8}$").search(before):
        kind = "netrc"
    elif gives["cell"] or (gives["sign"] or "").count("\n") > 1:
        alone = compiled(r"\|[ \t]{0,20}[\w *`-]{0,30}$").search(before) if gives["cell"] else True
        kind = ("beside" if kind == "password" else kind) if alone else "hint"
    elif gives["list"] or (gives["gap"] and not compiled(r"--[\w-]*$").search(before)):
        if gives["gap"] and "code" not in word:
            kind = "near" if quote and kind == "password" else "hint"
        elif kind == "password":
            kind = "beside" if word != "pwd" else "hint"  # which is a folder, too
    found = None
    if quote:
        close = _CLOSING.get(quote[-1], quote[-1])
        escape = f"(?!{close})." if len(quote) > 1 else "."
        found = compiled(rf"(?:[^{close}\\\n]|\\{escape}){{1,128}}(?=\\{{0,3}}{close})").match(text, start)
    quoted = bool(found or tag)
    found = found or compiled(r"[^<\n]{1,128}(?=<\\?/)" if tag else _BARE).match(text, start)
    value = found[0] if found else ""
    cut = None if quoted else compiled(_ENCODED_CUT if "%" in sign else _CUT).search(value)
    value = value[: cut.start()] if cut else value
    long = not quoted and len(value) == 64  # there is more of it
    value = value if quoted or long else value.rstrip(".,;:)]}?" if gives["said"] else ".,;:)]}")
    stop, sure = start + len(value), False
    if compiled(_UUID).fullmatch(value):
        sure = _is_secret_key(before, len(before)) or (kind == "token" and before[-1:] in tuple("_-"))
        if kind == "token" and not sure:
            return None  # it names something
    elif word[:4] == "pass" and kind != "secret":
        end = _end_of_groups(text, start, before, word)
        told = not gives["gap"] and _is_told(text, stop, before, value) and not is_unfilled(value)
        stop, sure = max(stop, end), bool(end) or told
    if not sure and not is_secret(value, kind, quoted, bool(gives["said"]), loud):
        return None
    beyond = f"(?!{_ENCODED_CUT})" if "%" in sign else ""
    more = compiled(_MORE % beyond).match(text, stop) if long else None
    return start, more.end() if more else stop


_OWNED = r"(?i)(?:\b(?:my|our|mein|unser|mon|notre|mi|minha|mijn|moje)|wi-?fi|wlan)[ ]$"
_PREDICATE = (
    r"(?i)(?:\w+(?:ed|ing|able|ible|ive|less|ful|ly|ent|ant|ten|ct|id|ure)|secret|strong|simple|complex|public|unique"
    r"|stolen|unsafe|broken|shorter|longer|better|always|stored|nothing|correcte?|falsch|richtig|vergessen|sicher)$"
)


def _is_told(text: str, stop: int, before: str, value: str) -> bool:
    """Return whether a plain word is a password: it ends what is said, and says nothing of the password."""
    plain = compiled("(?u:[^\\W\\d_]){6,}(?:-(?u:[^\\W\\d_])+)*").fullmatch(value)
    ends = text[stop : stop + 2].rstrip(".,;!)\"' ")[:1] in ("", "\n")
    return bool(plain and ends and compiled(_OWNED).search(before) and not compiled(_PREDICATE).match(value))


def _end_of_groups(text: str, start: int, before: str, word: str) -> int:
    """Return the end of a password of several groups: those of an application, or the words of a passphrase."""
    pattern = ""
    if word == "passphrase":
        pattern = r"[a-z]{3,12}(?:[ -][a-z]{3,12}){3,9}(?=[\"'`.\n]|$)"
    elif before.lower().endswith(("app ", "app-specific ", "application ")):
        pattern = r"[a-z]{4}(?:[ -][a-z]{4}){3}(?![\w-])|[A-Za-z\d]{4}(?: [A-Za-z\d]{4}){5}(?!\w)"
    found = compiled(pattern).match(text, start) if pattern else None
    return found.end() if found and _NO_SEED.isdisjoint(found[0].split()) else 0


_GROUPS = r"[A-Z\d]{4,6}(?:-[A-Z\d]{4,6}){3,7}"


def character_classes(value: str) -> tuple[bool, bool, bool]:
    """Return whether it has letters, digits, and the signs that password rules ask for."""
    signs = not set("!@#$%^&*+=?~|").isdisjoint(value)
    digits = any("0" <= sign <= "9" for sign in value)
    return any(map(str.isalpha, value)), digits, signs


def is_unfilled(value: str) -> bool:
    filler = any(sign in value for sign in ("***", "•••", "xxxx", "XXXX", "…", "..."))
    filler = filler or len(set(value)) < 3 or bool(compiled(r"[{][\w{.]").search(value))
    return filler or bool(compiled(_UNFILLED).match(value))


def count_words(value: str) -> int:
    """Return the number of words and numbers it is made of (`db-cred-2`, `src/main2.py`, `TestFoo1`); 0 if it is
    not."""
    pieces = compiled(r"[\s._/\\:,;()-]+").split(value)
    return len(pieces) if all(map(compiled(r"(?u:[^\W\d_])*\d{0,4}").fullmatch, pieces)) else 0


def is_scrambled(value: str) -> bool:
    """Return whether letters in both cases and digits mix as at random, as in no word."""
    turns = len(compiled(r"[a-z](?=[A-Z0-9])|[0-9](?=[A-Za-z])|[A-Z](?=[0-9])").findall(value))
    return len(value) >= 16 and turns * 4 > len(value)


def _is_random(value: str) -> bool:
    """Return whether it is long, of one piece, and no word or number."""
    hexadecimal = len(value) >= 32 and compiled("(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)").fullmatch(value)
    return bool(hexadecimal or (compiled("[A-Za-z0-9+/=_-]{16,}").fullmatch(value) and is_scrambled(value)))


def is_secret(value: str, kind: str, quoted: bool, said: bool = False, loud: bool = False) -> bool:
    """Return whether a value assigned to a telling word is a secret, not a word, a name, code or a placeholder."""
    if kind == "netrc":
        return len(value) > 3 and not is_unfilled(value)
    if len(value) < 6 or is_unfilled(value) or compiled(_TECHNICAL).match(value):
        return False
    if any(map(str.isspace, value)):
        return kind == "password" and any(
            len(part) > 5 and all(character_classes(part)) for part in value.split()
        )
    if not (quoted or said) and compiled(_CODE).match(value) and not is_scrambled(value):
        return False
    if kind == "basic":
        return not value.islower()
    (letters, digits, signs), joined = character_classes(value), count_words(value)
    tells = compiled("(?i)pass|pwd|secret|token|key|kennwort|contrase|密码|パスワード").search(value)
    if kind == "hint":
        return letters and digits and (signs or _is_random(value))
    if kind == "near":
        return letters and digits and (signs or (joined < 2 and not tells))
    if kind == "beside":
        return letters and digits and (signs or not (joined or compiled(_MEASURE).fullmatch(value)))
    if kind not in ("password", "secret"):
        plain = (
            (not joined or compiled(_GROUPS).fullmatch(value))
            and set("[]{}()|^*\\").isdisjoint(value)
            and (quoted or not tells)
        )
        return (plain and letters and digits and len(value) >= 10) or is_scrambled(value)
    if not letters:
        return kind == "password" and (signs or value.isdigit())
    if not quoted and value.rstrip("0123456789").lower() in _TRIVIAL:
        return False
    if digits and joined < 2:
        return not joined or quoted or not tells
    if tells or (not digits and character_classes(value[1:-1])[2]):
        return not tells and (quoted or said)
    mixed = digits and not value.islower() and not value.isupper() and "_" not in value
    given = quoted or (loud and joined == 1) or (mixed and not said)
    dull = kind == "secret" or value.lower() in _TRIVIAL or "/" in value or "\\" in value
    return is_scrambled(value) or (given and not dull and (digits or joined == 1 or joined > 3))
