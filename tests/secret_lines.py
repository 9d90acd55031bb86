"""Lines with secrets in them and lines without, made by code from a seed: what redaction is measured on.

`planted` gives secrets of many kinds in the surroundings they are met in: what a user types, the arguments of a
tool (JSON), what a tool returned. `benign` gives what must be left alone: code, hashes, logs, placeholders and
talk about passwords. Nothing here is a real secret, and none stands in this file as text.
"""

from __future__ import annotations

import base64
import json
import re
import string
import uuid
from collections.abc import Callable
from functools import partial
from random import Random

HEX = "0123456789abcdef"
UPPER32 = string.ascii_uppercase + "234567"
BASE62 = string.ascii_letters + string.digits
BASE64 = BASE62 + "+/"
BASE64URL = BASE62 + "-_"

Planted = tuple[str, str, str]


# --- lines with a secret ---------------------------------------------------------------

_SHOWN = (
    "Here is my key, please use it: {}",
    "export LLM_CREDENTIAL={} # for the demo",
    "I get a 401 with {} — can you see why?",
    'client = Client("{}")\nprint(client.models())',
    "$ env | sort\nEDITOR=vim\nX_CRED={}\nHOME=/home/ada\n",
    '{{"path": ".env", "content": "DEBUG=1\\nX={}\\nPORT=8080\\n"}}',
    '{{"command": "curl -s -H \'X-Auth: {}\' https://api.example.com/v1/items | jq ."}}',
    "| name | value |\n| --- | --- |\n| prod | `{}` |\n",
    "2024-05-01T10:00:00Z ERROR upstream refused credential {} (401)",
    "config.yaml:\n  region: eu-west-1\n  credential: '{}'\n",
    "https://api.example.com/v1/items?page=2&cred={}&sort=asc",
    "The agent printed ({}), then stopped.",
)


def _text(rng: Random, alphabet: str, size: int) -> str:
    return "".join(rng.choices(alphabet, k=size))


def _password(rng: Random) -> str:
    """As people make them: a word bent a little, digits, a sign."""
    word = rng.choice(["Sunflower", "tr0mbone", "Maple", "glacier", "Otter", "piano", "Quartz", "helium"])
    digits = _text(rng, string.digits, rng.randint(2, 4))
    sign = rng.choice("!#$%&*+?^~")
    return rng.choice([f"{word}{sign}{digits}", f"{digits}{word}{sign}x", f"{word}{digits}{sign}Aa"])


def _formats(rng: Random) -> list[tuple[str, str]]:
    """Secrets that are known by their look alone."""
    pick, text = rng.choice, partial(_text, rng)
    slack = f"{text(string.digits, 11)}-{text(string.digits, 12)}-{text(BASE62, 24)}"
    number = rng.randint(10**17, 10**18)
    discord = base64.b64encode(str(number).encode()).decode().rstrip("=")
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    claims = json.dumps({"sub": text(string.digits, 9), "iat": rng.randint(10**9, 2 * 10**9)}).encode()
    jwt = f"{head}.{base64.urlsafe_b64encode(claims).decode().rstrip('=')}.{text(BASE64URL, 43)}"
    return [
        ("openai", f"sk-{text(BASE62, 20)}T3BlbkFJ{text(BASE62, 20)}"),
        ("openai", f"sk-{pick(['proj', 'svcacct'])}-{text(BASE64URL, 74)}T3BlbkFJ{text(BASE64URL, 74)}"),
        ("anthropic", f"sk-ant-{pick(['api03', 'admin01'])}-{text(BASE64URL, 93)}AA"),
        ("openrouter", f"sk-or-v1-{text(HEX, 64)}"),
        ("google", f"AIza{text(BASE64URL, 35)}"),
        ("google", pick([f"ya29.{text(BASE64URL, 140)}", f"GOCSPX-{text(BASE64URL, 28)}"])),
        ("aws", f"{pick(['AKIA', 'ASIA'])}{text(UPPER32, 16)}"),
        ("github", f"gh{pick('pousr')}_{text(BASE62, 36)}"),
        ("github", f"github_pat_{text(BASE62, 22)}_{text(BASE62, 59)}"),
        ("gitlab", f"glpat-{text(BASE64URL, 20)}"),
        ("slack", f"xox{pick('bp')}-{slack}"),
        (
            "slack",
            f"https://hooks.slack.com/services/T{text(UPPER32, 8)}/B{text(BASE62, 8)}/{text(BASE62, 24)}",
        ),
        ("stripe", f"{pick(['sk_live', 'rk_live', 'sk_test'])}_{text(BASE62, 24)}"),
        ("npm", f"npm_{text(BASE62, 36)}"),
        ("pypi", f"pypi-AgEIcHlwaS5vcmc{text(BASE64URL, 120)}"),
        ("huggingface", f"hf_{text(string.ascii_letters, 34)}"),
        ("sendgrid", f"SG.{text(BASE64URL, 22)}.{text(BASE64URL, 43)}"),
        ("telegram", f"{rng.randint(10**8, 10**10 - 1)}:AA{text(BASE64URL, 33)}"),
        ("discord", f"https://discord.com/api/webhooks/{number}/{text(BASE64URL, 68)}"),
        ("discord", f"{discord}.G{text(BASE64URL, 5)}.{text(BASE64URL, 38)}"),
        ("digitalocean", f"dop_v1_{text(HEX, 64)}"),
        ("shopify", f"shp{pick(['at', 'ca', 'pa', 'ss'])}_{text(HEX, 32)}"),
        ("databricks", f"dapi{text(HEX, 32)}"),
        ("jwt", jwt),
        ("age", f"AGE-SECRET-KEY-1{text('023456789ACDEFGHJKLMNPQRSTUVWXYZ', 58)}"),
    ]


def _block(rng: Random, kind: str) -> str:
    body = _text(rng, BASE64, rng.randint(600, 1600))
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    label = f"{kind} PRIVATE KEY".strip() if kind != "PGP" else "PGP PRIVATE KEY BLOCK"
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"])


def _in_context(rng: Random) -> list[Planted]:
    """Secrets that are known by what stands around them."""
    pick, text = rng.choice, partial(_text, rng)
    block = _block(rng, pick(["", "RSA", "EC", "OPENSSH", "PGP"]))
    escaped, cut = json.dumps(_block(rng, "RSA"))[1:-1], _block(rng, "OPENSSH").rsplit("\n", 1)[0]
    opaque, basic = text(BASE64URL, 40) + "7", base64.b64encode(f"ada:{_password(rng)}".encode()).decode()
    scheme = pick(["postgres", "mysql+pymysql", "amqps", "mongodb+srv", "rediss", "https"])
    said = ["my password is {}", "the password: {}", "The password for the staging box is {} now", "pwd = {}"]
    west = ["Das Passwort lautet {}.", "mot de passe : {}", "La contraseña es {}, gracias", "Kennwort: {}"]
    east = ["我的密码是{}，请不要外传", "密码：{}", "パスワードは{}です", "パスワード: {}"]
    typed = [
        "DB_PASSWORD={}\nDB_USER=ada",
        "mysql --user ada --password {} app",
        "password = '{}'\nport = 22",
    ]
    api = ['api_key: "{}"', "X-Api-Key: {}", "the API key is {}", "apiKey={}&q=tea"]
    found = [
        ("private-key", block, "Use this one for the deploy:\n\n{}\n\nand restart nginx."),
        ("private-key", escaped, '{"type": "service_account", "private_key": "{}\\n", "client_id": "1"}'),
        ("private-key", cut, "$ head -n 20 ~/.ssh/id_ed25519\n{}\n"),
        ("aws", text(BASE64, 39) + "9", f"AccessKeyId,SecretAccessKey\nAKIA{text(UPPER32, 16)},{{}}\n"),
        ("twilio", f"SK{text(HEX, 32)}", "twilio api:core:messages:create --account {} --to +4915112345678"),
        (
            "azure",
            text(BASE64, 86) + "==",
            "Protocol=https;AccountName=st1;AccountKey={};EndpointSuffix=x.net",
        ),
        ("azure", text(BASE62, 43) + "%3D", "https://st1.example.net/a.txt?sv=2022-11-02&sig={}&sp=r"),
        ("authorization", opaque, '{"method": "GET", "headers": {"Authorization": "Bearer {}"}}'),
        ("authorization", basic, "> GET /private HTTP/1.1\n> Authorization: Basic {}\n> Accept: */*"),
        (
            "url-password",
            _password(rng),
            f"DATABASE_URL={scheme}://ada:{{}}@db.internal:5432/app?ssl=require",
        ),
        ("password", _password(rng), "machine git.example.com\n  login ada\n  password {}\n"),
        ("password", _password(rng), pick(said)),
        ("password", _password(rng), pick(west)),
        ("password", _password(rng), pick(east)),
        ("password", _password(rng), '{"host": "db", "user": "ada", "password": "{}", "port": 5432}'),
        ("password", _password(rng), pick(typed)),
        ("api-key", text(HEX, 32), pick(api)),
    ]
    return [(kind, secret, around.replace("{}", secret)) for kind, secret, around in found]


def planted(seed: int = 1) -> list[Planted]:
    """Forty secrets: kind, the secret's own text, and the text it stands in."""
    rng = Random(seed)
    known: list[Planted] = []
    for kind, secret in _formats(rng):
        shown = rng.choice(_SHOWN).format(secret)
        known.append((kind, secret, f"discord bot: {shown}" if kind == "discord" else shown))
    context = _in_context(rng)
    rng.shuffle(context)
    return known + context[: 40 - len(known)]


# --- lines without one -----------------------------------------------------------------

_WORDS = (
    "account agent archive balance bench binary branch bridge buffer cache castle client cluster column config copper "
    "cursor daemon domain editor element engine event export factor filter folder forest format garden handler harbour "
    "history image index island journal kernel label ledger letter library lock machine market member module mountain "
    "network object option order packet page parser picture pipeline planet policy pool portal process project queue "
    "random record region result river route sample schema scope season section session shadow signal silver socket "
    "station status stream string summer symbol table target template ticket topic train user value vector view winter"
).split()
_TELLING = "password passwd secret token api_key apiKey access_token client_secret PASSWORD pwd".split()


def _snake(rng: Random) -> str:
    return "_".join(rng.choices(_WORDS, k=rng.randint(1, 3)))


def _camel(rng: Random) -> str:
    first, *rest = rng.choices(_WORDS, k=rng.randint(1, 3))
    return first + "".join(word.title() for word in rest)


def _path(rng: Random) -> str:
    ending = rng.choice([".py", ".ts", ".go", "", ".md", ".test.js", ".json", "-2.1.0.tar.gz"])
    root = rng.choice(["/usr/lib/", "src/", "./", "~/", "C:\\Users\\ada\\", "/home/ada/work/", "/var/log/"])
    return root + "/".join(rng.choices(_WORDS, k=rng.randint(1, 5))) + str(rng.randint(0, 99)) + ending


def _day(rng: Random) -> str:
    return f"{rng.randint(1999, 2030)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def _moment(rng: Random) -> str:
    hour, minute, second = rng.randint(0, 23), rng.randint(0, 59), rng.randint(0, 59)
    return f"{_day(rng)}T{hour:02}:{minute:02}:{second:02}.{rng.randint(0, 999):03}Z"


def _unfilled(rng: Random) -> str:
    """What stands where a secret would."""
    name, word = rng.choice(_TELLING), rng.choice(_WORDS)
    upper, digit = name.upper(), rng.randint(1, 9)
    sigils = f"${{{upper}}} ${upper} {{{name}}} %{upper}% [{name}] @{name} :{name} <{name}> {{{{{name}}}}} ${digit}"
    words = f"YOUR_{upper} your-{name}-here REPLACE_WITH_{upper} changeme null none env:{upper} <your-{name}-{digit}>"
    marks = "... … **** ******** xxxx XXXXXXXX xxxxxxxxxxxxxxxx •••••••• ---- ? %s"
    links = f"vault:{word}/data/{name}#{digit} op://{word}/{word}-{digit}/{name} projects/{word}-{digit}/secrets/{word}"
    spaced = [f"<your {name}>", "{{ secret }}", f"{{{{ {word}.{name} }}}}", f"$({word} get)", "!vault |", ""]
    return rng.choice([*sigils.split(), *words.split(), *marks.split(), *links.split(), *spaced])


_MADE: dict[str, Callable[[Random], object]] = {
    "name": lambda rng: rng.choice(_TELLING),
    "NAME": lambda rng: rng.choice(_TELLING).upper(),
    "word": lambda rng: rng.choice(_WORDS),
    "Word": lambda rng: rng.choice(_WORDS).title(),
    "kebab": lambda rng: _snake(rng).replace("_", "-"),
    "d": lambda rng: rng.randint(1, 9),
    "n": lambda rng: rng.randint(6, 99),
    "m": lambda rng: rng.randint(100, 9999),
    "big": lambda rng: rng.randint(10**9, 10**10),
    "float": lambda rng: rng.uniform(-1e6, 1e6),
    "uuid": lambda rng: uuid.UUID(int=rng.getrandbits(128), version=4),
    "ulid": lambda rng: "01" + _text(rng, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24),
    "bytes": lambda rng: base64.b64encode(rng.randbytes(rng.randint(60, 400))).decode(),
    "sum": lambda rng: base64.b64encode(rng.randbytes(64)).decode(),
}
_FIELDS = (
    {"snake": _snake, "camel": _camel, "path": _path, "day": _day, "moment": _moment, "unfilled": _unfilled}
    | {f"hex{size}": partial(_text, alphabet=HEX, size=size) for size in (7, 32, 40, 64)}
    | {f"b{size}": partial(_text, alphabet=BASE64, size=size) for size in (43, 64)}
    | {f"u{size}": partial(_text, alphabet=BASE64URL, size=size) for size in (24, 60)}
    | _MADE
)

_HASHES = """\
commit «hex40» ¦ «hex7» Fix the «word» of the «word» ¦ index «hex7»..«hex7» 100644 ¦ «hex64»  «path»
«hex32»  «path» ¦ sha256:«hex64» ¦ "sha256": "«hex64»", ¦ Merge: «hex7» «hex7»
      "integrity": "sha512-«sum»", ¦     --hash=sha256:«hex64» \\ ¦ FROM python@sha256:«hex64»
ETag: "«hex32»" ¦ uses: actions/checkout@«hex40» ¦ «word».«hex7».min.js
"resolved": "https://packages.example.org/«word»-«d».2.1.tgz#«hex40»", ¦ Fingerprint: SHA256:«b43»
![«word»](data:image/svg+xml;base64,«bytes») ¦ {"image": "data:image/png;base64,«bytes»"}
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI«b43» ada@«word»
-----BEGIN CERTIFICATE-----\\n«b64»\\n-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY----- «b64» -----END PUBLIC KEY-----"""

_IDENTIFIERS = """\
request_id=«uuid» user_id=«m» ¦ {"id": "«ulid»", "turn_id": "turn_000«d»"} ¦ "session_id": "«uuid»",
trace «hex32» span «hex7» ¦ Order number «big» shipped on «day». ¦ ISBN 978-3-16-1484«n»-«d»
IBAN DE«n» 5001 0517 «m» 7319 31 ¦ call_«u24» ¦ toolu_«u24» ¦ "id": "chatcmpl-«u24»",
arn:aws:iam::«big»99:role/«camel» ¦ i-0«hex7»«hex7» running t3.micro
Write to «word».«word»@example.com before «day» ¦ +49 151 «big» ¦ «float» «float» «big» 0x«hex7»
contract 0x«hex40» holds «n» tokens ¦ token: 0x«hex40» ¦ «word»,«word»,«n»,«day»,«uuid»,«float»"""

_PYTHON = """\
«name» = os.environ["«NAME»"] ¦ «name» = os.getenv('«NAME»', '') ¦ def check_«name»(«name»: str) -> bool:
    if not «name» or len(«name») < «n»: ¦ «name» = «name»s[«snake»] ¦ «name» = getpass.getpass()
self.«name» = «name» ¦ self._«name» = config.«snake».«name» ¦     «name»: str | None = None
«name» = «snake».get_«name»(«camel», timeout=«m»)
parser.add_argument("--«name»", help="the «name» of the «word»")
client = Client(«name»=«snake»_«name», retries=«d») ¦ assert response.json()["«name»"] == expected_«name»
tokens = tokenizer.encode(«snake»); token = tokens[«n»]
«name» = hashlib.sha256(«name».encode()).hexdigest() ¦ «name»_hash = bcrypt.hashpw(«name», bcrypt.gensalt())
raise ValueError("«name» must not be empty") ¦ «name» = secrets.token_urlsafe(«n»)
    password: SecretStr = Field(min_length=«n») ¦ «name» = Base64String.from_«snake»(«camel»)
password = models.CharField(max_length=«m») ¦ max_tokens=«m», temperature=0.«d»
for token, count in Counter(tokens).most_common(«n»): ¦ token = f"{«snake»}-{«camel»}"
secret = vault.read(path='«word»/«word»')['data'] ¦ «name» = settings.«NAME»  # from the environment
password2 = cleaned_data.get('password2') ¦ if password1 != password2: raise Mismatch(password1=password1)
«name» = «name»_for_«snake»_«d» ¦ login(user=user, «name»=new_«name»«d»)
assert login("ada", password=password) == "«word»\""""

_CODE = """\
const «name» = process.env.«NAME»; ¦ const { «name» } = req.body; ¦   «name»: string;
  «name»?: Uint8Array;
export function reset(«name»: string, «camel»: Map<string, number>): Promise<void> {
user.«name» = await hash(«name», «n»);
<input type="password" name="«name»" placeholder="Enter your password" autocomplete="current-password">
<label for="password">Password</label><p class="«kebab»-«d»">«word»</p>
func New«Word»(«name» string) (*Client, error) { return &Client{«name»: «name»}, nil }
«name» := os.Getenv("«NAME»") ¦ private final String «name»;
String «name» = request.getParameter("«name»"); ¦ char «name»[«m»]; memset(«name», 0, sizeof(«name»));
SELECT id, «name» FROM «snake» WHERE «name» = $1 AND id = «m»;
UPDATE users SET password = :password WHERE id = ?
CREATE TABLE «snake» (id INT, «name» VARCHAR(«m») NOT NULL); ¦ let «name» = std::env::var("«NAME»")?;
pub «name»: Option<String>, ¦ read -s -p 'Password: ' «name»; export «NAME»
echo "$«NAME»" | docker login -u $«word» --password-stdin ¦ «NAME»=$(cat /run/secrets/«word»«d»)
«NAME»_FILE=/run/secrets/«word»«d» ¦   password: ${{ secrets.«NAME» }}
  «name»: {{ .Values.«camel».«name» }} ¦   «name» = var.«snake»_«name»
        secretKeyRef: {name: «kebab»-«d», key: «name»} ¦   secretName: «kebab»-tls-«d»
!function(e,t){var n=e.«name»,r=t[«n»];return n&&r.«name»(e.«camel»,{token:n,key:r.k2})}(a,b);
a.«name»=function(t){return t.«camel»?i(t.«name»):"«word»"+o.b64(t)},a.v«d»="«n».0"
.«kebab»::after { content: '\\\\«m»'; color: #«hex7»; }
.sk-«kebab»-circle-container-wrapper .sk-child { margin: «n»px auto }
%«word» ALL=(ALL) NOPASSWD: /usr/bin/«word»«d» ¦ $password = $_POST["password"] ?? null;
if (password.length >= «n» && /[A-Z]/.test(password) && /\\\\d/.test(password)) {"""

_PLACEHOLDERS = """\
«name»=«unfilled» ¦ «name»: «unfilled» ¦ "«name»": "«unfilled»" ¦ export «NAME»=«unfilled»
my «name» is «unfilled» ¦ --«name» «unfilled» --verbose ¦ export OPENAI_API_KEY=sk-...
OPENAI_API_KEY=sk-proj-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
ANTHROPIC_API_KEY=sk-ant-api03-XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
curl -H 'Authorization: Bearer «unfilled»' https://api.example.com ¦ Authorization: Bearer <«name»>
postgres://user:${«NAME»}@localhost:5432/«word» ¦ mongodb://<user>:<password>@«word».example.net/test
redis://:****@«word»:6379/0 ¦ sk-your-«word»-key-here-«d»
A PEM file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.
-----BEGIN RSA PRIVATE KEY-----\\n...\\n-----END RSA PRIVATE KEY-----"""

_PROSE = """\
I forgot my password, please reset it
The password must be at least «n» characters long and contain a number. ¦ Your password is case-sensitive.
password is required ¦ Password: minimum «n» characters, one of them a digit
My password was rejected «n» times since «day» ¦ A password of «n»-character length is a 2-factor no-go
The password is «n»-characters long ¦ Is the token count «n» or «m»?
The secret of good tea is patience: «n» minutes at 80°C. ¦ The secret is out: «word» «word» comes on «day»!
The token is base64-encoded and RS256-signed, see RFC7519.
We hash the password with PBKDF2-HMAC-SHA256 and «n» rounds
password hashing moved from bcrypt to Argon2id in v«n».«d»
API key rotation is due on «day»; ask «word»@example.com
The API key is missing, so the «word» returned 401. ¦ access token expired at «moment» ¦ Token: «moment»
Refresh the access token every «n» minutes
Basic understanding of the «word» is enough; bearer of the news: «word»
Bearer authentication is used for the «kebab»-gateway-v«d»
Passwort vergessen? Klicken Sie hier, um es zurückzusetzen.
Das Passwort ist falsch. Das Kennwort muss mindestens «n» Zeichen haben.
Le mot de passe est obligatoire et doit contenir «n» caractères.
La contraseña es incorrecta; la contraseña debe tener «n» caracteres ¦ 我忘记了密码，请帮我重置。密码长度至少«n»位
密码是必填项，密码不能为空
パスワードを忘れました。パスワードは«n»文字以上です。 ¦ password reset for «word»@example.com requested at «moment»
The private key is stored in the HSM and never leaves the «word».
Where do I put the client secret? In «word».«word».toml? ¦ the password was changed on «day» by «word»
Passwords: «n» stored, «m» reused, 0 leaked ¦ tokens: «n» prompt + «m» completion = $0.«n»
It was «n» degrees in the «word», and the «word» was closed until «day».
Key: Value pairs; Secret: yes; Password: no; Token: optional
I pass: «word». You pass: «word». Pass «n» of «m». ¦ Nobody knows the password except «word» and «word».
What's your password policy? Mine is passwordless."""

_LOGS = """\
«moment» INFO  [«word»] «word» took «m»ms tokens=«m» ¦ «moment» WARN  «name» for user «m» expires «moment»
[«moment»] «word».«word»: «name» validation failed (code=«m»)
sshd[«m»]: Failed password for «word» from 10.0.«n».7 port 52«n» ssh2
sshd[«m»]: Accepted publickey for «word»: ED25519 SHA256:«b43» ¦   File "«path»", line «m», in get_«name»
    at «camel» («path»:«m»:«n») ¦     at com.example.«word».«Word»Page.check«Word»(«Word»Page.java:«m»)
--- PASS: Test«Word»«n» (0.«n»s) ¦ PASS src/«word»/«word»«d».test.ts ¦ PASS: «snake»_«n»
tests/test_«word».py::test_«name»_«word»[«n»-«snake»] PASSED [ «n»%]
127.0.0.1 - - [«day»] "GET /«word»/«word»?page=«n» HTTP/1.1" 200 «m»
Traceback (most recent call last): KeyError: '«name»' ¦ drwxr-xr-x  2 ada ada  4096 May  1 10:0«d» «path»
PWD=/home/ada/«word»«d»/«Word» ¦ Step «n»/99 : COPY «word» /«word»
Enter password:\\nLast login: «day» from 10.0.0.«n»"""

_RESULTS = """\
{"prompt_tokens": «m», "completion_tokens": «n», "total_tokens": «m»}
{"items": ["«word»", "«word»"], "next_token": null, "count": «n»}
{"items": [], "nextPageToken": "«u60»"} ¦ {"next_page_token": "«u60»", "kind": "«word»#list"}
{"token_type": "Bearer", "expires_in": «m», "scope": "«word»:«word»"} ¦ {"«name»": "", "user": "«word»"}
{"«name»": null, "user": "«word»"}
{"«name»": {"type": "string", "format": "password", "description": "The «name» of «word»"}}
{"password": "Password", "forgot_password": "Forgot your password?", "login": "Log in"}
{"password": "Passwort", "token": "the"} ¦ {"password": "Mot de passe", "secret": "Geheimnis"}
{"password": "Contraseña", "api_key": "Clave de API"} ¦ {"password": "パスワード", "email": "«word»@example.com"}
{"password": "must be at least «n» characters", "code": «m»}
{"bos_token": "<s>", "eos_token": "</s>", "pad_token": "[PAD]", "unk_token": "<|unk_12|>"}
{"token": "«word»", "logprob": «float», "bytes": [«n», «n»]}
{"tokenizer": "cl100k_base", "model": "«word»-«n»b-instruct-v0.«d»"}
{"key": "«uuid»", "cache_key": "«hex64»", "etag": "«hex32»"}
{"secret_name": "«kebab»-«d»", "secret_version": «n»} ¦ {"primary_key": "«snake»_«d»", "sort_key": "«ulid»"}
{"path": "«path»", "old_str": "«word»", "new_str": "«snake»"}
{"token": "color-gray-«m»", "value": "#«hex7»"}
{"private_key_id": "«hex40»", "client_email": "«word»@«word».example.com"}
{"secret": "projects/«word»-«n»/secrets/«snake»/versions/«d»"}"""

_ADDRESSES = """\
https://«word».example.com/«word»/«m»?q=«word»+«word»&lang=de#«word»
git clone git@github.com:«word»/«word».git ¦ ssh://git@«word».example.com:2222/«word».git
http://localhost:«m»/«word»@«word»/index.html ¦ http://«word»:«m»?email=ada@example.com
https://www.example.com/@«word»/«word»-«hex7» ¦ postgresql://localhost:5432/«word»?user=«word»
https://user@«word».example.com/«word» ¦ docker pull registry.example.com:5000/«word»/«word»@sha256:«hex64»
mailto:«word»@«word».example.org?subject=Your%20password%20reset
https://«word».example.com/reset-password?lang=en&step=«n» ¦ https://www.example.com/watch?v=«hex7»&t=«n»s
https://docs.example.com/d/«u60»/edit#gid=0 ¦ «path»"""

_FAMILIES = [
    family.replace("\n", " ¦ ").split(" ¦ ")
    for family in (_HASHES, _IDENTIFIERS, _PYTHON, _CODE, _PLACEHOLDERS, _PROSE, _LOGS, _RESULTS, _ADDRESSES)
]
_FIELD = re.compile("«([A-Za-z0-9]+)»")


def benign(seed: int = 1) -> list[str]:
    """Two thousand lines in which nothing is secret, an equal share of each family."""
    rng = Random(seed)

    def line(family: list[str]) -> str:
        template = rng.choice(family).replace("\\n", "\n")
        return _FIELD.sub(lambda field: str(_FIELDS[field[1]](rng)), template)

    return [line(_FAMILIES[count % len(_FAMILIES)]) for count in range(2000)]
