"""Fresh secrets of every kind that is known by its look, and numbers of persons, made from a seed with right checksums.

Nothing here is a real secret. `planted_everywhere` puts each into the surroundings in which secrets are met.
"""

from __future__ import annotations

import base64
import hashlib
import json
import string
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from urllib.parse import quote

from secret_lines import BASE62, BASE64, BASE64URL, HEX, UPPER32

DIGITS, UPPER, LOWER = string.digits, string.ascii_uppercase, string.ascii_lowercase
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
SEED_WORDS = (
    "abandon absorb acid adult album anchor ankle apple arctic armor autumn badge banana basket beach bicycle bitter "
    "blanket bridge bronze cactus canyon castle cement cherry cinnamon citizen coconut copper cradle crystal dolphin "
    "donkey eagle echo elbow ember fabric falcon fiction galaxy garlic giraffe glacier hammer hazard humble iron ivory "
    "jungle kidney ladder lemon lizard magnet maple mosquito nephew oyster panther pepper quantum rabbit ribbon saddle"
).split()


def text(rng: Random, alphabet: str, size: int) -> str:
    return "".join(rng.choices(alphabet, k=size))


def base58_check(data: bytes) -> str:
    data += hashlib.sha256(hashlib.sha256(data).digest()).digest()[:4]
    number, made = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        made = BASE58[digit] + made
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + made


def bech32(head: str, values: list[int]) -> str:
    def polymod(values: list[int]) -> int:
        check = 1
        for value in values:
            top = check >> 25
            check = (check & 0x1FFFFFF) << 5 ^ value
            for bit, term in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
                check ^= term if top >> bit & 1 else 0
        return check

    wide = [ord(sign) >> 5 for sign in head] + [0] + [ord(sign) & 31 for sign in head]
    mod = polymod(wide + values + [0] * 6) ^ 1
    return f"{head}1" + "".join(
        BECH32[each] for each in values + [mod >> 5 * (5 - at) & 31 for at in range(6)]
    )


def stellar(data: bytes) -> str:
    check = 0
    for byte in data:
        check ^= byte << 8
        for _ in range(8):
            check = (check << 1 ^ 0x1021 * (check >> 15)) & 0xFFFF
    return base64.b32encode(data + check.to_bytes(2, "little")).decode()


def crc_token(rng: Random, prefix: str, size: int = 30) -> str:
    """A token of GitHub or npm: the last six characters are its checksum."""
    import zlib

    body = text(rng, BASE62, size)
    number, made = zlib.crc32(body.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        made = (DIGITS + UPPER + LOWER)[digit] + made
    return prefix + body + made


def luhn_digit(number: str) -> str:
    digits = [int(each) for each in number[::-1]]
    total = sum(digits[1::2]) + sum(digit * 2 - 9 * (digit > 4) for digit in digits[::2])
    return str(-total % 10)


def iban(rng: Random, country: str, body: str) -> str:
    rest = 98 - int("".join(str(int(sign, 36)) for sign in f"{body}{country}00")) % 97
    return f"{country}{rest:02}{body}"


def grouped(number: str, size: int = 4, by: str = " ") -> str:
    return by.join(number[at : at + size] for at in range(0, len(number), size))


def jwt(rng: Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head = part({"alg": rng.choice(["HS256", "RS256", "ES256"]), "typ": "JWT"})
    claims = part({"sub": text(rng, DIGITS, 9), "iat": rng.randint(10**9, 2 * 10**9)})
    return f"{head}.{claims}.{text(rng, BASE64URL, 43)}"


def tokens(rng: Random) -> list[tuple[str, str]]:
    """Secrets that are known by their look alone: kind, text."""
    t, pick = partial(text, rng), rng.choice
    b62, b64, url, hex_, low = (partial(t, each) for each in (BASE62, BASE64, BASE64URL, HEX, LOWER + DIGITS))
    up = partial(t, UPPER + DIGITS)

    def uid() -> str:
        return str(uuid.UUID(int=rng.getrandbits(128), version=4))

    number = base64.b64encode(t(DIGITS[1:], 18).encode()).decode().rstrip("=")
    return [
        ("anthropic", f"sk-ant-api03-{url(93)}AA"),
        ("openai", f"sk-proj-{url(74)}T3BlbkFJ{url(74)}"),
        ("openai", f"sk-{hex_(32)}"),
        ("openrouter", f"sk-or-v1-{hex_(64)}"),
        ("langfuse", f"sk-lf-{uid()}"),
        ("groq", f"gsk_{b62(52)}"),
        ("xai", f"xai-{b62(80)}"),
        ("perplexity", f"pplx-{b62(48)}"),
        ("replicate", f"r8_{b62(37)}"),
        ("nvidia", f"nvapi-{url(64)}"),
        ("langsmith", f"lsv2_pt_{hex_(32)}_{hex_(10)}"),
        ("tavily", f"tvly-dev-{b62(32)}"),
        ("pinecone", f"pcsk_{b62(6)}_{b62(62)}"),
        ("huggingface", f"hf_{t(string.ascii_letters, 34)}"),
        ("elevenlabs", f"sk_{hex_(48)}"),
        ("fireworks", f"fw_{b62(24)}"),
        ("together", f"tgp_v1_{url(43)}"),
        ("cerebras", f"csk-{low(48)}"),
        ("firecrawl", f"fc-{hex_(32)}"),
        ("jina", f"jina_{hex_(32)}{url(28)}"),
        ("voyage", f"pa-{url(43)}"),
        ("google", f"AIza{url(35)}"),
        ("google", f"ya29.a0{url(180)}"),
        ("google", f"GOCSPX-{url(28)}"),
        ("google", f"1//0g{url(60)}"),
        ("aws", f"{pick(['AKIA', 'ASIA'])}{t(UPPER32, 16)}"),
        ("aws", f"ABSK{b64(128)}="),
        ("alibaba", f"LTAI5t{b62(18)}"),
        ("digitalocean", f"{pick(['dop', 'doo', 'dor'])}_v1_{hex_(64)}"),
        ("azure", f"{b62(3)}8Q~{t(BASE62 + '_~.-', 33)}a"),
        ("azure", f"{b62(76)}AZDO{b62(4)}"),
        ("cloudflare", f"v1.0-{hex_(24)}-{hex_(146)}"),
        ("fly", f"fm2_lJPECAAAAAAA{b64(120)}"),
        ("render", f"rnd_{b62(32)}"),
        ("heroku", f"HRKU-{uid()}"),
        ("netlify", f"nfp_{b62(36)}"),
        ("vercel", f"vcp_{b62(56)}"),
        ("supabase", f"sbp_{hex_(40)}"),
        ("supabase", f"sb_secret_{url(22)}_{url(8)}"),
        ("neon", f"napi_{low(64)}"),
        ("planetscale", f"pscale_tkn_{url(43)}"),
        ("aiven", f"AVNS_{url(19)}"),
        ("databricks", f"dapi{hex_(32)}"),
        ("github", crc_token(rng, pick(["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]))),
        ("github", f"github_pat_{b62(22)}_{b62(59)}"),
        ("gitlab", f"{pick(['glpat', 'gldt', 'glptt', 'glft'])}-{url(20)}"),
        ("gitlab", f"glrt-t1_{url(20)}"),
        ("bitbucket", f"ATBB{b62(32)}"),
        ("atlassian", f"{pick(['ATATT3x', 'ATCTT3x'])}{url(180)}={hex_(8).upper()}"),
        ("npm", crc_token(rng, "npm_")),
        ("pypi", f"pypi-AgEIcHlwaS5vcmc{url(120)}"),
        ("rubygems", f"rubygems_{hex_(48)}"),
        ("nuget", f"oy2{low(43)}"),
        ("crates", f"cio{b62(32)}"),
        ("docker", f"{pick(['dckr_pat_', 'dckr_oat_'])}{url(27)}"),
        ("circleci", f"CCIPAT_{b62(22)}_{hex_(40)}"),
        ("buildkite", f"bkua_{hex_(40)}"),
        ("terraform", f"{b62(14)}.atlasv1.{url(67)}"),
        ("vault", f"{pick(['hvs', 'hvb', 'hvr'])}.CAESI{url(90)}"),
        ("pulumi", f"pul-{hex_(40)}"),
        ("doppler", f"dp.pt.{b62(43)}"),
        ("doppler", f"dp.st.prd.{b62(43)}"),
        ("onepassword", f"ops_eyJ{b64(240)}"),
        ("onepassword", f"A3-{up(6)}-{up(6)}-{up(5)}-{up(5)}-{up(5)}-{up(5)}"),
        ("bitwarden", f"0.{uid()}.{b62(30)}:{b64(22)}=="),
        ("sonar", f"{pick(['sqp', 'squ', 'sqa'])}_{hex_(40)}"),
        ("sentry", f"sntrys_eyJ{b64(120)}_{b64(43)}"),
        ("sentry", f"sntryu_{hex_(64)}"),
        ("grafana", f"glc_eyJ{b64(100)}="),
        ("grafana", f"glsa_{b62(32)}_{hex_(8)}"),
        ("newrelic", f"NRAK-{up(27)}"),
        ("dynatrace", f"dt0c01.{up(24)}.{up(64)}"),
        ("postman", f"PMAK-{hex_(24)}-{hex_(34)}"),
        ("figma", f"figd_{url(40)}"),
        ("linear", f"lin_api_{b62(40)}"),
        ("notion", f"ntn_{b62(46)}"),
        ("notion", f"secret_{b62(43)}"),
        ("airtable", f"pat{b62(14)}.{hex_(64)}"),
        ("asana", f"1/{t(DIGITS[1:], 16)}:{hex_(32)}"),
        ("shopify", f"{pick(['shpat', 'shpss', 'shpca', 'shppa'])}_{hex_(32)}"),
        ("slack", f"xox{pick('bpas')}-{t(DIGITS, 12)}-{t(DIGITS, 13)}-{b62(24)}"),
        ("slack", f"xapp-1-A{up(10)}-{t(DIGITS, 13)}-{hex_(64)}"),
        ("slack", f"https://hooks.slack.com/services/T{up(10)}/B{up(10)}/{b62(24)}"),
        ("discord", f"{number}.G{url(5)}.{url(38)}"),
        ("discord", f"https://discord.com/api/webhooks/{t(DIGITS[1:], 18)}/{url(68)}"),
        ("telegram", f"{t(DIGITS[1:], 10)}:AA{url(33)}"),
        ("twilio", f"SK{hex_(32)}"),
        ("sendgrid", f"SG.{url(22)}.{url(43)}"),
        ("mailgun", f"key-{hex_(32)}"),
        ("mailgun", f"{hex_(32)}-{hex_(8)}-{hex_(8)}"),
        ("mailchimp", f"{hex_(32)}-us{rng.randint(1, 21)}"),
        ("brevo", f"xkeysib-{hex_(64)}-{b62(16)}"),
        ("resend", f"re_{b62(8)}_{b62(24)}"),
        ("stripe", f"{pick(['sk_live', 'rk_live', 'sk_test'])}_{b62(99)}"),
        ("stripe", f"whsec_{b62(32)}"),
        ("square", f"EAAA{pick('El')}{url(59)}"),
        ("square", f"sq0csp-{url(43)}"),
        ("braintree", f"access_token$production${low(16)}${hex_(32)}"),
        ("plaid", f"access-production-{uid()}"),
        ("adyen", f"AQE{b64(150)}"),
        ("razorpay", f"rzp_live_{b62(14)}"),
        ("mollie", f"live_{b62(30)}"),
        ("tailscale", f"tskey-auth-k{b62(11)}CNTRL-{b62(32)}"),
        ("mapbox", f"sk.eyJ{b62(70)}.{url(22)}"),
        ("launchdarkly", f"{pick(['sdk', 'api'])}-{uid()}"),
        ("segment", f"sgp_{b62(64)}"),
        ("hubspot", f"pat-na1-{uid()}"),
        ("meta", f"EAAG{b62(180)}"),
        ("twitter", f"AAAAAAAAAAAAAAAAAAAAA{b62(80)}"),
        ("dropbox", f"sl.{url(135)}"),
        ("artifactory", f"AKCp{b62(69)}"),
        ("artifactory", f"cmVmdGtu{b62(56)}"),
        ("contentful", f"CFPAT-{url(43)}"),
        ("typeform", f"tfp_{b62(44)}_{b62(14)}"),
        ("jwt", jwt(rng)),
        ("age", f"AGE-SECRET-KEY-1{t(BECH32.upper(), 58)}"),
        ("hash", f"$2b$12${t(BASE62 + './', 53)}"),
        ("hash", f"$argon2id$v=19$m=65536,t=3,p=4${b64(22)}${b64(43)}"),
        ("hash", f"$apr1${b62(8)}${b62(22)}"),
        ("wif", base58_check(b"\x80" + rng.randbytes(32) + b"\x01")),
        ("wallet", base58_check(b"\x04\x88\xad\xe4" + rng.randbytes(74))),
        ("nostr", bech32("nsec", [rng.randrange(32) for _ in range(52)])),
        ("stellar", stellar(b"\x90" + rng.randbytes(32))),
    ]


def numbers(rng: Random) -> list[tuple[str, str]]:
    """Numbers of persons that are known alone, by their shape and check digits."""
    t = partial(text, rng)
    card = rng.choice(["4", "51", "55", "2720", "6011", "65"])
    card += t(DIGITS, 15 - len(card))
    amex = rng.choice(["34", "37"]) + t(DIGITS, 12)
    amex += luhn_digit(amex)
    ssn = f"{rng.randint(1, 665):03}-{rng.randint(1, 99):02}-{rng.randint(1, 9999):04}"
    return [
        ("card", card + luhn_digit(card)),
        ("card", grouped(card + luhn_digit(card), by=rng.choice(" -"))),
        ("card", f"{amex[:4]} {amex[4:10]} {amex[10:]}"),
        ("iban", iban(rng, "DE", t(DIGITS, 18))),
        ("iban", grouped(iban(rng, "GB", f"{t(UPPER, 4)}{t(DIGITS, 14)}"))),
        ("iban", grouped(iban(rng, "FR", f"{t(DIGITS, 10)}{t(UPPER + DIGITS, 11)}{t(DIGITS, 2)}"))),
        ("iban", iban(rng, "NL", f"{t(UPPER, 4)}{t(DIGITS, 10)}")),
        ("ssn", ssn),
    ]


_TOLD: tuple[tuple[str, str, Callable[[Random], str]], ...] = (
    ("pin", "my PIN is {}", lambda r: text(r, DIGITS, 4)),
    ("pin", "der PIN lautet {}.", lambda r: text(r, DIGITS, 4)),
    ("pin", "Der PIN für meine Karte ist {}.", lambda r: text(r, DIGITS, 4)),
    ("pin", "le code PIN est {}", lambda r: text(r, DIGITS, 4)),
    ("pin", "El PIN es {}, gracias", lambda r: text(r, DIGITS, 4)),
    ("pin", "Il PIN è {}", lambda r: text(r, DIGITS, 5)),
    ("pin", "O PIN é {}", lambda r: text(r, DIGITS, 4)),
    ("pin", "Mój PIN to {}", lambda r: text(r, DIGITS, 4)),
    ("pin", "mijn pincode is {}", lambda r: text(r, DIGITS, 5)),
    ("pin", "ПИН-код: {}", lambda r: text(r, DIGITS, 4)),
    ("pin", "我的PIN码是{}", lambda r: text(r, DIGITS, 6)),
    ("pin", "暗証番号は{}です", lambda r: text(r, DIGITS, 4)),
    ("pin", '{"pin": "{}"}', lambda r: text(r, DIGITS, 4)),
    ("card-code", "exp 12/27, CVV {}", lambda r: text(r, DIGITS, 3)),
    ("card-code", "the security code is {}", lambda r: text(r, DIGITS, 3)),
    ("card-code", "cvc: {}", lambda r: text(r, DIGITS, 3)),
    ("one-time-code", "Your verification code is {}.", lambda r: text(r, DIGITS, 6)),
    ("one-time-code", "OTP: {}", lambda r: text(r, DIGITS, 6)),
    ("one-time-code", "the unlock code is {}", lambda r: text(r, DIGITS, 4)),
    ("one-time-code", "Dein Bestätigungscode lautet {}", lambda r: text(r, DIGITS, 6)),
    ("one-time-code", "Votre code de vérification est {}", lambda r: text(r, DIGITS, 6)),
    ("one-time-code", "您的验证码是{}", lambda r: text(r, DIGITS, 6)),
    ("ssn", "SSN: {}", lambda r: f"{r.randint(1, 665):03}{r.randint(1, 99):02}{r.randint(1, 9999):04}"),
    ("seed-phrase", "my seed phrase is {}", lambda r: " ".join(r.sample(SEED_WORDS, 12))),
    ("seed-phrase", 'mnemonic = "{}"', lambda r: " ".join(r.sample(SEED_WORDS, 24))),
    (
        "seed-phrase",
        "Recovery phrase for the wallet: {}. Keep it safe.",
        lambda r: " ".join(r.sample(SEED_WORDS, 12)),
    ),
    ("seed-phrase", "Wallet backup:\n{}\n", lambda r: "\n".join(r.sample(SEED_WORDS, 12))),
    ("api-key", "ma clé API est {}", lambda r: text(r, BASE62, 32)),
    ("api-key", "Der API-Schlüssel lautet {}", lambda r: text(r, BASE62, 32)),
    ("api-key", "la chiave API è {}", lambda r: text(r, BASE62, 32)),
    ("api-key", "API-ключ: {}", lambda r: text(r, HEX, 32)),
    ("api-key", "API 密钥：{}", lambda r: text(r, HEX, 32)),
    ("api-key", "my Hetzner API key {}", lambda r: text(r, BASE62, 64)),
    ("api-key", "the ethereum private key is 0x{}", lambda r: text(r, HEX, 64)),
    ("api-key", "PrivateKey = {}=", lambda r: text(r, BASE64, 43)),
    ("password", "la clave es {}", lambda r: f"Sol{text(r, DIGITS, 4)}x"),
    ("password", "a senha é {}", lambda r: f"Praia{text(r, DIGITS, 3)}z"),
    ("password", "hasło: {}", lambda r: f"Zamek{text(r, DIGITS, 3)}q"),
    ("password", "het wachtwoord is {}", lambda r: f"Tulp{text(r, DIGITS, 4)}k"),
    ("token", "токен: {}", lambda r: text(r, BASE62, 32)),
    ("token", "トークンは{}です", lambda r: text(r, BASE62, 32)),
    ("url-password", "redis://default:{}@eu1.upstash.io:6379", lambda r: text(r, BASE62, 24)),
    ("totp", "otpauth://totp/ACME:ada?secret={}&issuer=ACME", lambda r: text(r, UPPER32, 32)),
)

BARE = (
    "I put {} into the settings and now it fails.",
    "Use {}, please.",
    "$ ./deploy.sh\nok\n{}\ndone in 3 s\n",
    '{"status": "ok", "data": ["{}", 3]}',
    "DEBUG=1\nX_VALUE={}\nPORT=8080\n",
    "2024-05-01T10:00:00Z INFO [worker] got {} from upstream (200)",
    "see `{}` (prod)",
    "**{}**",
    "[{}]",
    "<td>{}</td>",
)
"""Surroundings that tell nothing."""


def planted_everywhere(seed: int) -> Iterator[tuple[str, str, str]]:
    """Yield kind, secret and text: each in one of the surroundings, chosen by the seed."""
    rng = Random(seed)
    for kind, secret in tokens(rng) + numbers(rng):
        yield kind, secret, rng.choice(BARE).replace("{}", secret)
    for kind, around, make in _TOLD:
        secret = make(rng)
        yield kind, secret, around.replace("{}", secret)


def written_otherwise(rng: Random, secret: str) -> Iterator[tuple[str, str]]:
    """Yield the secret as other programs write it, or as one would hide it; and its name."""
    yield "escaped line ends", f"A=1\\n{secret}\\nB=2"
    yield "in an address", f"https://example.com/?q={quote(secret, safe='')}&x=1"
    yield "in Markdown", secret.replace("_", "\\_")
    yield "in quotes of JSON", json.dumps(json.dumps({"a": secret}))
    yield "with a color", f"\x1b[32m{secret}\x1b[0m"
    at = rng.randrange(2, len(secret) - 2)
    yield "with a sign that is not seen", f"{secret[:at]}\u200b{secret[at:]}"


def leaks(secret: str, around: str, out: str) -> bool:
    """Return whether the secret came through, or twelve characters of either end of a long one."""
    beside = around.replace(secret, "")
    ends = (secret[:12], secret[-12:]) if len(secret) > 16 else (secret,)
    return any(end in out and end not in beside for end in ends)
