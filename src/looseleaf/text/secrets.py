"""Secrets in text, found and replaced before anything is written: `[redacted github 3fa9c1]`.

The six digits are a keyed hash of the secret: a repeat can be recognized, and nothing else learned. Invariants: other
text stays byte for byte (text without a secret is the same object), and redacting twice changes nothing more.

A secret is known by its format (one table) or by the telling word it is assigned to. Text is untrusted: what a pattern
reads is bounded or not read again, so that time is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from itertools import pairwise
from operator import is_

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any


# --- telling words (`password`, `token`, …), and whether the value assigned to one is a secret ---

Row = tuple[str, str, str]
"""Kind, literal, pattern."""

WORDS: tuple[Row, ...] = (
    ("password", "pass", "(?i)pass(?:wor[dt]|wd|phrase|code|e)|(?<![a-z])pass"),
    ("password", "contrase", "(?i)contrase(?:n|ñ|Ñ|n\u0303)a"),
    *(("password", x, f"(?i){x}") for x in "kennwort 密码 密碼 口令 パスワード 비밀번호 ароль".split()),
    ("password", "pw", r"(?i)pwd|(?<![a-z\d])pw(?=[\s:=\"'])"),
    *((x, x, f"(?i){x}(?!s)") for x in ("secret", "token", "authorization")),
    ("api-key", "key", "(?i)key(?!s)"),
)
# There are primary keys, sort keys and keys of dictionaries too; and tokens that only mark a place.
_SECRET_KEYS = (
    r"(?i)(?:api|access|account|private|secret|auth|authentication|encryption|signing|master|shared|service|admin|app"
    r"|client|storage|subscription|webhook)[ _.-]?$"
)
_IDLE_TOKENS = (
    r"(?i)(?:next|forward|backward|page|pagination|continuation|sync|cursor|resume|start|starting|lock|change|request"
    r"|public[_-]?key|[be]os|pad|unk|sep|cls|mask|special)[ _-]?$"
)
_TYPE_HINT = (
    r":[ ]?(?:str|string|bytes|SecretStr|Optional\[str\]|any)(?:[ ]?\|[ ]?(?:None|null|undefined))?[ ]?="
)
_OF = r"[ ](?:for|to|of|on|in|zum|zur|für|pour|de|del|para)[ ][^\n:=,;\"'?!\[]{1,40}?"
_GIVES = (  # the rest of a name, and what stands between it and its value
    r"(?i)(?:[_-]?(?:access|key|base|value|token|string|text|prod|dev|test|staging|live|old|new|data|\d{1,2})"
    r"| (?:access key|key|value|token)){0,3}(?:[\\\"'`\]*]|%22|&quot;|&#34;){0,6}(?:"
    r"(?P<pair>\s{0,2},?\s{0,4}\\{0,3}[\"']?value\\{0,3}[\"']?\s{0,2}[:=]\s{0,4}"
    r"|[ \t]{0,2}[:=]?[ \t]{0,2}\{[^{}\[]{0,200}?\b(?:default|value|string)\\{0,3}[\"']?\s{0,4}[:=]\s{0,4})"
    rf"|(?P<sign>\s{{0,4}}(?:{_TYPE_HINT}|:=|=>|->|={{1,3}}|[:：]|%3[ADad])\**[ \t\xa0\u3000]{{0,8}}"
    r"(?:(?:\r?\n|\\n)[ \t]{0,8}){0,2}(?:%20)?(?:%22|&quot;|&#34;)?)"
    rf"|(?P<said>(?:{_OF})?[ ]{{1,3}}(?:(?:(?:is|was|has been)[ ])?(?:set|changed|reset|updated)[ ]to"
    r"|(?:is|was|ist|lautet|war|est|es|era)(?:[ ](?:now|still|just|again|jetzt|maintenant|ahora))?)[ ]{0,2}:?\s{1,3}"
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
    """Lower the text without changing its length: one letter would become two."""
    return text.replace("\u0130", "I").lower()


def find_assigned(text: str, words: list[Row]) -> Iterator[tuple[int, int, str]]:
    """Yield the places and kinds of secrets assigned to one of these words."""
    low, done = lower(text) if words else "", 0
    hits = [(hit.start(), kind, word) for kind, name, word in words for hit in compiled(name).finditer(low)]
    for at, kind, pattern in sorted(hits):
        word = compiled(pattern).match(text, at) if at >= done else None
        gives = compiled(_GIVES).match(text, word.end()) if word else None
        if word and gives:
            start, done = _find_value(text, text[max(0, at - 100) : at], word[0], kind, gives) or (done, done)
            if start < done:
                yield start, done, kind


def _find_value(text: str, before: str, word: str, kind: str, gives: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the secret assigned to the word."""
    start, quote, tag = gives.end(), gives["quote"], gives["tag"]
    sign, pair = gives["sign"] or "", gives["pair"] or ""
    word, loud = word.lower(), word.isupper() and sign == "="
    if (
        (kind == "api-key" and not compiled(_SECRET_KEYS).search(before[-20:]))
        or (kind == "token" and compiled(_IDLE_TOKENS).search(before[-20:]))
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
        if gives["gap"]:
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
    if (
        kind == "token"
        and compiled(_UUID).fullmatch(value)
        and not compiled(_SECRET_KEYS).search(before[-20:])
    ):
        return None  # it names something
    if not _is_secret(value, kind, quoted, bool(gives["said"]), loud):
        return None
    stop = start + len(value)
    beyond = f"(?!{_ENCODED_CUT})" if "%" in sign else ""
    more = compiled(_MORE % beyond).match(text, stop) if long else None
    return start, more.end() if more else stop


def fits(kind: str, secret: str) -> bool:
    """Return whether a text in the format of a secret is one."""
    if kind in ("authorization", "password"):
        return _is_secret(secret, kind, quoted=True)
    if kind == "docker" and not secret.startswith("dckr_"):
        return ":" in _decode(secret)
    if kind == "cookie":
        return _is_scrambled(secret) or (all(_character_classes(secret)[:2]) and not _count_words(secret))
    if kind == "url-password":
        return not _is_unfilled(secret)
    one_case = secret.islower() or secret.isupper()
    beside = kind == "aws" and len(secret) == 40  # the secret that goes with a key's name
    if (beside and one_case) or ((beside or kind == "openai") and _count_words(secret)):
        return False
    mixed = kind == "aws" or not one_case or _character_classes(secret)[1]
    return mixed and max(map(secret.count, set(secret))) * 5 < len(secret) * 2


def _decode(text: str) -> str:
    import base64  # not at the top: few texts need it

    try:
        plain = base64.b64decode(text + "=" * (-len(text) % 4)).decode("ascii")
    except ValueError:
        return ""
    return plain if plain.isprintable() else ""


def _character_classes(value: str) -> tuple[bool, bool, bool]:
    """Return whether it has letters, digits, and the signs that password rules ask for."""
    signs = not set("!@#$%^&*+=?~|").isdisjoint(value)
    return any(map(str.isalpha, value)), any(map(str.isdigit, value)), signs


def _is_unfilled(value: str) -> bool:
    filler = any(sign in value for sign in ("***", "•••", "xxxx", "XXXX", "…", "..."))
    filler = filler or len(set(value)) < 3 or bool(compiled(r"[{][\w{.]").search(value))
    return filler or bool(compiled(_UNFILLED).match(value))


def _count_words(value: str) -> int:
    """Return the number of words and numbers it is made of (`db-cred-2`, `src/main2.py`, `TestFoo1`); 0 if it is
    not."""
    pieces = compiled(r"[\s._/\\:,;()-]+").split(value)
    return len(pieces) if all(map(compiled(r"(?u:[^\W\d_])*\d{0,4}").fullmatch, pieces)) else 0


def _is_scrambled(value: str) -> bool:
    """Return whether letters in both cases and digits mix as at random, as in no word."""
    turns = len(compiled(r"[a-z](?=[A-Z0-9])|[0-9](?=[A-Za-z])|[A-Z](?=[0-9])").findall(value))
    return len(value) >= 16 and turns * 4 > len(value)


def _is_secret(value: str, kind: str, quoted: bool, said: bool = False, loud: bool = False) -> bool:
    """Return whether a value assigned to a telling word is a secret, not a word, a name, code or a placeholder."""
    if kind == "netrc":
        return len(value) > 3 and not _is_unfilled(value)
    if len(value) < 6 or _is_unfilled(value) or compiled(_TECHNICAL).match(value):
        return False
    if any(map(str.isspace, value)):
        return kind == "password" and any(
            len(part) > 5 and all(_character_classes(part)) for part in value.split()
        )
    if not (quoted or said) and compiled(_CODE).match(value) and not _is_scrambled(value):
        return False
    if kind == "basic":
        return not value.islower()
    (letters, digits, signs), joined = _character_classes(value), _count_words(value)
    tells = compiled("(?i)pass|pwd|secret|token|key|kennwort|contrase|密码|パスワード").search(value)
    if kind == "hint":
        return letters and digits and signs
    if kind == "near":
        return letters and digits and (signs or (joined < 2 and not tells))
    if kind == "beside":
        return letters and digits and (signs or not (joined or compiled(_MEASURE).fullmatch(value)))
    if kind not in ("password", "secret"):
        plain = not joined and set("[]{}()|^*\\").isdisjoint(value) and (quoted or not tells)
        return (plain and letters and digits and len(value) >= 10) or _is_scrambled(value)
    if not letters:
        return kind == "password" and (signs or value.isdigit())
    if not quoted and value.rstrip("0123456789").lower() in _TRIVIAL:
        return False
    if digits and joined < 2:
        return not joined or quoted or not tells
    if tells or (not digits and _character_classes(value[1:-1])[2]):
        return not tells and (quoted or said)
    mixed = digits and not value.islower() and not value.isupper() and "_" not in value
    given = quoted or (loud and joined == 1) or (mixed and not said)
    dull = kind == "secret" or value.lower() in _TRIVIAL or "/" in value or "\\" in value
    return _is_scrambled(value) or (given and not dull and (digits or joined == 1 or joined > 3))


if TYPE_CHECKING:
    Span = tuple[int, int, str]


_MARK = re.compile(r"\[redacted [a-z-]{2,16} [0-9a-f]{6}\]")


def without_marks(text: str) -> str:
    """Return a redacted text without the marks of its secrets."""
    return _MARK.sub("", text)


# Kind, literals of which one must be there, pattern: its group is the secret, or else the whole of it. `§` says that
# what was read so far begins a token: not inside a word, nor behind a mark (which stands for one), yet behind what
# only looks like a letter: the n of an escaped line end, the digits of %20 and \u0022, the m that ends a color.
# `␣` is a space, as it is or in an address; `¶` a value as it is typed to a shell: quoted, or with a digit in it.
_TABLE = r"""
anthropic    sk-ant-         sk-ant-[\w-]{20,}
openrouter   sk-or-          sk-or-[\w-]{20,}
openai       sk-             sk-§[\w-]{20,}
openai       sk-proj-,sk-svcacct-,sk-admin-             sk-(?<![A-Za-z]sk-)(?:proj|svcacct|admin)-[\w-]{40,}
groq         gsk_            gsk_[A-Za-z0-9]{40,}
xai          xai-            xai-§[A-Za-z0-9]{40,}
perplexity   pplx-           pplx-[A-Za-z0-9]{32,}
replicate    r8_             r8_§[A-Za-z0-9]{30,}
nvidia       nvapi-          nvapi-[\w-]{40,}
langsmith    lsv2_           lsv2_(?:pt|sk)_[0-9a-f_]{32,}
tavily       tvly-           tvly-[\w-]{20,}
pinecone     pcsk_           pcsk_\w{30,}
huggingface  hf_             hf_§[A-Za-z0-9]{30,}
google       AIza            AIza§[\w-]{30,}
google       ya29.,GOCSPX-   (?:ya29\.|GOCSPX-)[\w-]{20,}
aws          AKIA,ASIA       A[KS]IA§[A-Z2-7]{16}(?![\w+/-])
aws          AKIA,ASIA       (?<![\w+/=-])[A-Za-z0-9+/]{40}(?![\w+/=-])
github       ghp_,gho_,ghu_,ghs_,ghr_,github_pat_       g(?:h[pousr]|ithub_pat)_\w{30,}
gitlab       glpat-,gldt-,glrt-,glptt-,glcbt-           gl(?:pat|[dr]t|ptt|cbt)-[\w-]{20,}
slack        xapp-,xoxa-,xoxb-,xoxc-,xoxd-,xoxe-,xoxp-,xoxs-  x(?:app|ox[a-s])-[A-Za-z0-9-]{16,}
slack        hooks.slack.    (?:https?:\\?/\\?/)?hooks\.slack\.com\\?/[a-z]{3,20}(?:[\w-]|\\?/){20,}
stripe       k_live_,k_test_,whsec_                     (?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9+/=]{16,}
npm          npm_            npm_§[A-Za-z0-9]{30,}
pypi         pypi-           pypi-[\w-]{40,}
sendgrid     SG.             SG\.§[\w-]{16,64}\.[\w-]{16,}
telegram     :AA             (?:(?<!\d)|(?<=%\d\d)|(?<=\\u\d{4}))\d{8,10}:AA[\w-]{30,}
digitalocean _v1_            do[opr]_v1_[0-9a-f]{40,}
shopify      shpat_,shpca_,shppa_,shpss_                shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32,}
databricks   dapi            dapi§[0-9a-f]{32}(?:-\d{1,2})?(?!\w)
azure        AccountKey=     AccountKey=([A-Za-z0-9+/]{40,}={0,2})
azure        sig=            sig=([A-Za-z0-9+/%=_-]{40,})
docker       dckr_pat_       dckr_pat_[\w-]{20,}
docker       auth            auth(?<=["'_]auth)\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?([A-Za-z0-9+/]{8,}={0,2})(?![\w+/=-])
atlassian    ATATT3          ATATT3[\w=-]{40,}
notion       ntn_            ntn_§[A-Za-z0-9]{40,}
linear       lin_api_        lin_api_[A-Za-z0-9]{30,}
grafana      glsa_           glsa_\w{32,}
twilio       twilio          (?<![A-Za-z0-9])(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])
discord      discord         (?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}
discord      discord         (?:https?:\\?/\\?/)?(?:\w{2,8}\.)?discord(?:app)?\.com\\?/api(?:[\w-]|\\?/){50,}
age          AGE-SECRET-KEY- AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{40,}
jwt          eyJ             eyJ§[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}
private-key  -----BEGIN      -----(BEGIN|END)␣(?:[A-Z0-9]|␣){0,30}PRIVATE␣KEY(?:␣BLOCK)?-----
private-key  LS0tLS1CRUdJTi  LS0tLS1CRUdJTi(?:BQUklW|BFQyBQUklW|BSU0EgUFJJVk|BPUEVOU1NIIFBSSV|BFTkNSWVBU)[\w+/=]{40,}
url-password ://             ://[^\s:/@\["'<>`]{0,99}:(?!\d{2,5}[/;,?#&])([^\s/"'<>`]{1,256}|(?:[^\s/@"'<>`]|/(?!/)){1,256})@
authorization bearer         [Bb]earer {1,3}([\w.~+/=-]{16,})
cookie       ookie     ookie\W{1,4}(?:[^;\s"'\[]{1,240}; ?){0,9}?[\w.-]{0,20}(?i:sess|sid)[\w.-]{0,9}=([\w.%~+/-]{16,})
api-key      ?key=,&key=     [?&]key=([0-9a-fA-F]{32,})(?!\w)
password     mysql,mariadb   (?:mysql|maria)[\w-]{0,8} (?:[^\n|;\[]{0,80}? ["']?)??-p¶
password     sshpass         sshpass (?:[^\n|;\[]{0,40}? ["']?)??-p ?¶
password     login           (?:docker|podman|registry|az|oc|nerdctl|buildah) login (?:[^\n|;\[]{0,80}? ["']?)??-p ?¶
password     redis-cli       redis-cli (?:[^\n|;\[]{0,80}? ["']?)??-a ?¶
password     identified      (?i)identified (?:with [\w`'"]{1,40} )?by (?:password )?\\?["']([^\s"'\\]{6,128})
password     -u',-u"         ["']-u["'], ?["'][^\s:/"']{1,64}:(?=[^\s"']{0,60}?\d)([^\s"'\\]{6,128})
password     curl            curl [^\n|;\[]{0,80}?(?:-u|--user)[ =]{0,2}["']?[^\s:/"']{1,64}:([^\s"'\\]{6,128})
"""
_SPACE = "(?:[ +]|%20)"
_TYPED = r"(?:\\?[\"']([^\s\"'\\]{4,128})|(?=\S{0,60}?\d)([^\s\"'\\-][^\s\"'\\]{5,128}))"
_EDGE = (
    r"(?:(?<![\w-]%s)(?<![0-9a-f]{6}\]%s)|(?<=\\[nrt]%s)|(?<=%%[0-9A-Fa-f]{2}%s)|(?<=\\u[0-9A-Fa-f]{4}%s)"
    r"|(?<=\x1b\[\dm%s)|(?<=\x1b\[\d\dm%s))"
)


def _parse_table(table: str) -> Iterator[Row]:
    for line in table.strip().splitlines():
        kind, literals, pattern = line.split(maxsplit=2)
        start, edge, rest = pattern.partition("§")
        pattern = start + _EDGE % ((start,) * 7) + rest if edge else pattern
        pattern = pattern.replace("␣", _SPACE).replace("¶", _TYPED)
        yield from ((kind, literal, pattern) for literal in literals.split(","))


FORMATS = tuple(_parse_table(_TABLE))
_PEM_HALF = (  # a key whose end was cut off: headers, whole lines, perhaps a last short one
    r"(?:\s{0,8}[A-Z][\w-]{1,30}: [^\n\\]{0,100}){0,4}"
    r"(?:(?:\s|\\{1,3}[nr]|%0[AaDd]|[\"',>|]){0,12}(?:[A-Za-z0-9+/=]|%[23][BDFbdf]){16,})+"
    r"(?:(?:\s|\\{1,3}[nr]|%0[AaDd]){1,4}[A-Za-z0-9+/]{1,15}={0,2}(?=\s*(?:$|\n|\\|[&%\"'])))?"
)
_PEM_LENGTH = 32_768  # no key is longer: an end that is farther away is another one's

KINDS: tuple[str, ...] = tuple(dict.fromkeys(kind for kind, _, _ in FORMATS + WORDS))
"""Of two kinds that claim the same text, the first names it."""

_DULL = b"abcdefghijklmnopqrstuvwxyz0123456789 \n\r\t\"',"
_ENDS: dict[str, list[Row]] = {}
_SHAPES: list[tuple[bytes, bytes, Row]] = []
for _row in FORMATS + WORDS:
    _name = _row[1]
    if _name[-1] in "_-":
        _ENDS.setdefault(_name[:-1].rsplit(_name[-1], 1)[-1][-3:] + _name[-1], []).append(_row)
    else:
        _SHAPES.append((_name.encode().translate(None, _DULL), _name.encode(), _row))


def find_suspects(text: str) -> list[Row]:
    """Return the rows whose literal is in the text.

    Searching for each of some eighty would take longer than all the rest. Those that end with _ or - are looked up
    among the text before these signs, others first in the text without its lower-case letters.
    """
    data = text.encode("utf-8", "surrogatepass")
    outline, low = data.translate(None, _DULL), data.lower()
    ends = {part[-3:] + last for last in "_-" for part in text.split(last)[:-1]}
    ends |= {end[-3:] for end in ends}
    rows = [row for end in ends & _ENDS.keys() for row in _ENDS[end] if row[1] in text]
    return rows + [row for sign, name, row in _SHAPES if sign in outline and name in (data if sign else low)]


def _find_spans(text: str, rows: Iterable[Row]) -> Iterator[Span]:
    words = [row for row in rows if row in WORDS]
    for kind, pattern in dict.fromkeys((row[0], row[2]) for row in rows if row not in words):
        if pattern[0] == "-":
            yield from _find_key_blocks(text, pattern)
            continue
        for found in compiled(pattern).finditer(text):
            start, end = found.span(found.lastindex or 0)
            if fits(kind, text[start:end]):
                yield start, end, kind
    yield from find_assigned(text, words)


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


def redact(text: str, key: bytes) -> str:
    """Return the text with its secrets replaced; the same object if it holds none. The key has at most 64 bytes."""
    rows = find_suspects(text)
    return _replace_spans(text, rows, key) if rows else text


def redact_value(value: Any, key: bytes) -> Any:
    """Return a JSON value with every string redacted; under a telling key, a string is judged as if assigned.

    Untouched values stay the same objects; a touched tuple becomes a list.
    """
    rows = find_suspects(repr(value))  # it holds all strings, and every literal unchanged
    return _redact_inner(value, rows, key, "") if rows else value


def _replace_spans(text: str, rows: Iterable[Row], key: bytes, again: int = 3) -> str:
    marks = [mark.span() for mark in _MARK.finditer(text)] if "[redacted " in text else []
    ends = [end for _, end in marks]
    merged: list[Span] = []
    for start, end, kind in sorted(_find_spans(text, rows)):
        after = bisect_right(ends, start)
        if after < len(marks) and marks[after][0] < end:
            continue  # it reads an earlier mark
        if merged and start < merged[-1][1]:
            first, last, other = merged.pop()
            start, end, kind = first, max(last, end), min(kind, other, key=KINDS.index)
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
        here = [row for row in rows if row[1] in value or row[1] in low]
        return _replace_spans(value, here, key) if here else value
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
        if any(row[1] in _COMMANDS for row in rows):
            command = " ".join(item for item in value[:2] if isinstance(item, str) and len(item) < 40)
        last = ""
        for inner in _redact_key_lines(value, rows, key):  # one frame per level: as deep as JSON may be
            items += [_redact_inner(inner, rows, key, lead or _lead_in_list(last, inner, command, rows))]
            last = inner if isinstance(inner, str) and items[-1] is inner else ""
        return value if all(map(is_, items, value)) else items
    if lead and isinstance(value, int) and not isinstance(value, bool) and 10**5 <= value < 10**20:
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
    if not any(row[1] in low for row in rows):
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
    pattern = next((row[2] for row in rows if row[2][0] == "-"), "")
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
