"""What is redacted, what is left alone, and that no text can make it slow."""

from __future__ import annotations

import hashlib
import json
import re
from copy import deepcopy
from itertools import product
from random import Random
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import core
from growth import LINEAR, growth
from looseleaf.text.secret_table import read_table
from looseleaf.text.secrets import _replace_spans, redact, redact_value
from secret_lines import BASE62, BASE64, HEX, benign, planted
from tables import check_rows

KEY = b"a key of this memory"
MARK = re.compile(r"\[redacted ([a-z-]+) ([0-9a-f]{6})\]")
SEEDS = (1, 2)


def some(alphabet: str, size: int, seed: int = 7) -> str:
    return "".join(Random(seed).choices(alphabet, k=size))


def digits(secret: str, key: bytes = KEY) -> str:
    return hashlib.blake2b(secret.encode(), key=key).hexdigest()[:6]


def rows(table: str) -> list[str]:
    """Rows end with a line, or with a bar; what ends a line within a row is an arrow."""
    return [row.replace("↵", "\n") for line in table.splitlines() for row in line.split(" ¦ ")]


def leaks(secret: str, text: str, out: str) -> bool:
    """Whether eight characters or more of either end of the secret came through, and not from beside it."""
    beside = text.replace(secret, "")
    return any(end in out and end not in beside for end in (secret[:8], secret[-8:]))


# --- how much is found -----------------------------------------------------------------


def test_every_planted_secret_is_found_and_named() -> None:
    def check(seed: int) -> None:
        corpus = planted(seed)
        assert len(corpus) == 40
        assert len({kind for kind, _, _ in corpus}) >= 20
        missed = []
        for kind, secret, text in corpus:
            out = redact(text, KEY)
            if leaks(secret, text, out) or (kind, digits(secret)) not in MARK.findall(out):
                missed.append((kind, text, out))
        assert missed == []

    check_rows(check, SEEDS)


def test_every_planted_secret_is_found_in_a_value_too() -> None:
    def check(seed: int) -> None:
        for _, secret, text in planted(seed):
            values: list[Any] = [{"content": text}, [1, (text, None)], {text: True}]
            if text.startswith("{"):
                values.append(json.loads(text))
            for value in values:
                out = json.dumps(redact_value(value, KEY), ensure_ascii=False)
                assert json.dumps(secret, ensure_ascii=False)[1:-1] not in out
                assert MARK.search(out)

    check_rows(check, SEEDS)


def test_what_holds_no_secret_is_left_alone() -> None:
    def check(seed: int) -> None:
        lines = benign(seed)
        assert len(lines) == 2000
        assert [(line, redact(line, KEY)) for line in lines if redact(line, KEY) is not line] == []

    check_rows(check, SEEDS)


def test_nor_is_it_touched_as_one_document_or_as_a_value() -> None:
    def check(seed: int) -> None:
        lines = benign(seed)
        document = "\n".join(lines)
        assert redact(document, KEY) is document
        values = [
            json.loads(line)
            for line in lines
            if line.startswith("{") and line.endswith("}") and "\\" not in line
        ]
        assert len(values) > 100
        assert redact_value(values, KEY) is values

    check_rows(check, SEEDS)


# --- how it is said --------------------------------------------------------------------


PASSWORDS = """\
my password is {} ¦ the password: {} ¦ Password for ada: {} ¦ [sudo] password for ada: {}
The admin password has been changed to {}. ¦ the password for db.internal is {}
log in with password {} please ¦ password was “{}” ¦ **Password:** {} ¦ Password: `{}`
Das Passwort lautet {}! ¦ Kennwort: {} ¦ le mot de passe est {} ¦ la contraseña es {} ¦ 密码是{}，谢谢
パスワードは「{}」です ¦ Пароль: {} ¦ DB_PASSWORD={} ¦ export PGPASSWORD='{}' ¦ PASS={} ¦ db_pass: '{}'
--password {} --verbose ¦ password => '{}', ¦ password: str = "{}" ¦ spring.datasource.password={}
jdbc:mysql://db/app?user=ada&password={}&x=1 ¦ Server=db;User Id=sa;Password={};Encrypt=true
<password>{}</password> ¦ - name: DB_PASSWORD↵  value: {}↵ ¦ {"name": "DB_PASSWORD", "value": "{}"}
"{\\"password\\": \\"{}\\"}" ¦ login(('password', '{}')) ¦ curl -s -u 'ada:{}' https://example.com
pw: {} ¦ DB_PW={} ¦ password "{}" ¦ | user | ada |↵| **password** | {} |↵ ¦ Password:↵↵{}↵
variable "db_password" {↵  type = string↵  default = "{}"↵} ¦ {"password": {"type": "x", "value": "{}"}}
password%3D{}%26x%3D1 ¦ %22password%22%3A%22{}%22%7D ¦ &quot;password&quot;:&quot;{}&quot;,&quot;x&quot;:1
mysql -p{} app ¦ mysqldump -u root -p'{}' app ¦ sshpass -p '{}' ssh ada@host ¦ docker login -u ada -p {} host
redis-cli -h cache -a {} ping ¦ CREATE USER 'a'@'%' IDENTIFIED BY '{}'; ¦ ["mysql","--password","{}"]
ALTER USER a IDENTIFIED WITH mysql_native_password BY '{}' ¦ ["-u","ada:{}"] ¦ ALTER ROLE a PASSWORD '{}'
default login ada password {} ¦ amqp://ada:{}@queue.internal/ ¦ secret = '{}' ¦ client_secret: {}"""


def test_a_password_is_found_however_it_is_given() -> None:
    def check(given_as: str) -> None:
        for password in ("hunter2!Aa", "Tr0ub4dor&3", "p@ssw0rd99"):
            out = redact(given_as.replace("{}", password), KEY)
            assert MARK.sub("{}", out) == given_as.replace("{}!", "{}")  # which may well be a part of it

    check_rows(check, rows(PASSWORDS))


def test_a_weak_password_is_one_too() -> None:
    def check(text: str) -> None:
        out = redact(text.replace("{", "").replace("}", ""), KEY)
        assert MARK.sub("{}", out) == re.sub(r"\{.*\}", "{}", text)

    check_rows(
        check,
        rows(
            "password: {12345678} ¦ 'password': '{sunshine}' ¦ PASSWORD={letmein} "
            "¦ password: {Winter-24} ¦ pwd='{a$b^cd}'"
        ),
    )


KEYS = """\
X-Api-Key: {} ¦ request.header("X-Api-Key", "{}") ¦ the API key is {} ¦ access_token={}&expires=3600
"refresh_token": "{}" ¦ aws_secret_access_key = {} ¦ SECRET_KEY_BASE={} ¦ Authorization: Bearer {}
Authorization: token {} ¦ authorization: {} ¦ "Authorization", "Basic {}" ¦ use Bearer {} for it
private_key_data: {} ¦ access_token%3D{}%26x%3D1 ¦ &quot;api_key&quot;: &quot;{}&quot; ¦ "--with-token", "{}"
Cookie: a=b; sessionid={}; x=1 ¦ Set-Cookie: PHPSESSID={}; Path=/"""


def test_a_key_is_found_whole_however_long() -> None:
    def check(given_as: str, size: int) -> None:
        secret = some(BASE62, size)
        assert MARK.sub("{}", redact(given_as.replace("{}", secret), KEY)) == given_as

    check_rows(check, product(rows(KEYS), [32, 70, 500]))


LOOKALIKES = """\
password: string ¦ password is wrong! ¦ password = None ¦ password: 2024-05-01
password: ada@example.com ¦ password: /run/secrets/db1 ¦ password=request.form['password1']
password: z.string().min(8) ¦ password: Fixed in v1.2.3 ¦ key: a1b2c3d4e5f6a7b8
cache_key=ab12cd34ef56ab78 ¦ page_token=ab12cd34ef56ab78 ¦ --starting-token ab12cd34ef56ab78
arn:aws:secretsmanager:us-west-2:123456789012:secret:db-Ab12Cd ¦ private_key: PKCS7PrivateKeyTypes
pass=1 fail=0 ¦ compass='N45E12x!' ¦ print("pass `dtype=float64[2]`") ¦ la passe: a1b2c3d4!
Authorization: AWS4-HMAC-SHA256 Credential=ada ¦ http://[::1]:8080/a@b
sk-learn-contrib-project-template-2 ¦ xoxb-your-token-goes-here ¦ AKIAXXXXXXXXXXXXXXXX
token: 3f2a8b1c-1111-4222-8333-abcdefabcdef ¦ the password is required1 ¦ login as pw = sync_playwright().start()
| password | VARCHAR255 | ¦ | password | 12.345ms | ¦ Password:↵↵Section2 is next ¦ join(pwd, 'set-a1b2c.csv')
docker run --name mysql -p3306:3306 ¦ gcc -I/usr/include/mysql -pthread ¦ mysql -u root -p mydb2024
Cookie: theme=dark; session=abc ¦ {"auth": "basicauthentication"} ¦ Unexpected token 'abc123'
?key=ab12cd34 ¦ docker run -u 1000:1000
task-proj-some-long-name-that-goes-on-and-on-and-on-2 ¦ xsk-proj-a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4
password: &lt;Ab3d12&gt; ¦ -----BEGIN PRIVATE KEY----- is how it begins ¦ password: 10.0.0.1
"password": "hunter2!x was [redacted aws 12ab34] before" ¦ password: [redacted password 12ab34]"""


def test_what_only_looks_like_one_stays() -> None:
    def check(text: str) -> None:
        assert redact(text, KEY) is text

    check_rows(check, rows(LOOKALIKES))


def test_a_secret_key_beside_its_name_is_found_and_a_hash_there_is_not() -> None:
    name, secret, git = "AKIA" + "Q2W3E4R5T6Y7U2I3", some(BASE64, 39) + "9", some(HEX, 40)
    out = redact(f"{name}\n{secret}\n{git}\n", KEY)
    assert MARK.sub("MARK", out) == f"MARK\nMARK\n{git}\n"
    assert redact(f"{secret}\n{git}\n", KEY) == f"{secret}\n{git}\n"


def block(lines: int, label: str = "RSA PRIVATE KEY", end: str = "\n") -> str:
    body = [some(BASE64, 64, seed) for seed in range(lines)]
    return end.join([f"-----BEGIN {label}-----", *body, f"-----END {label}-----"])


def test_a_block_is_one_secret_however_its_lines_end() -> None:
    def check(label: str, end: str) -> None:
        pem = block(20, label, end)
        assert MARK.sub("MARK", redact(f"before {pem} after {pem}", KEY)) == "before MARK after MARK"
        half = pem.rsplit(f"{end}-----END", 1)[0]
        for tail in ("", "\nand so on", f"\n{pem}"):
            assert MARK.sub("MARK", redact(f"before {half}{tail}", KEY)) == "before MARK" + tail.replace(
                pem, "MARK"
            )

    check_rows(
        check,
        product(
            ["PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"],
            ["\n", "\r\n", "\\n", "\\\\n", " "],
        ),
    )


def test_a_block_is_found_in_an_address_and_when_its_end_is_cut_off_there() -> None:
    for safe in ("", "/+"):
        pem = quote(block(3), safe=safe)
        assert MARK.sub("MARK", redact(f"?pem={pem}&x=1", KEY)) == "?pem=MARK&x=1"
        assert MARK.sub("MARK", redact(f"?pem={pem.rsplit('%0A', 2)[0]}&x=1", KEY)) == "?pem=MARK&x=1"


@pytest.mark.parametrize("lines", [1, 3, 30])
def test_a_block_in_a_list_of_lines_is_one_secret_and_the_list_stays_as_long(lines: int) -> None:
    pem = block(lines)
    mark = redact(pem, KEY)
    rest = [""] * (lines + 1)
    assert redact_value(["cat", *pem.split("\n"), 1, "done"], KEY) == ["cat", mark, *rest, 1, "done"]
    assert redact_value([f"a {pem} b", "c"], KEY) == [f"a {mark} b", "c"]
    cut = redact_value({"out": pem.split("\n")[:-1]}, KEY)["out"]
    assert MARK.fullmatch(cut[0])
    assert cut[1:] == rest[1:]


def test_two_blocks_in_a_list_and_what_is_no_line_of_a_key_stays() -> None:
    pem, long = block(2).split("\n"), "All is well. " * 20
    mark = redact("\n".join(pem), KEY)
    assert redact_value([*pem, long, *pem], KEY) == [mark, "", "", "", long, mark, "", "", ""]
    told = ["-----BEGIN PRIVATE KEY-----", long, some(HEX, 40), "-----END PRIVATE KEY-----"]
    assert redact_value(told, KEY) is told


def test_a_project_key_is_found_behind_what_it_is_glued_to() -> None:
    def check(before: str) -> None:
        secret = f"sk-proj-{some(BASE62, 60)}"
        assert redact(before + secret, KEY) == f"{before}[redacted openai {digits(secret)}]"

    check_rows(check, ["key-", "x_", "1", "", "="])


def test_a_key_in_an_address_is_found() -> None:
    text = f"https://example.com/a?key={some(HEX, 32)}&x=1"
    assert MARK.sub("MARK", redact(text, KEY)) == "https://example.com/a?key=MARK&x=1"


def test_an_access_token_is_a_secret_though_it_looks_like_an_identifier() -> None:
    number = "3f2a8b1c-1111-4222-8333-abcdefabcdef"
    assert MARK.search(redact(f"access_token={number}", KEY))


def test_a_short_last_line_of_a_cut_key_goes_with_it_and_a_sentence_does_not() -> None:
    half = block(3).rsplit("\n", 1)[0]
    headed = half.replace("-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", 1)
    for cut in (half, headed):
        assert MARK.sub("MARK", redact(f"{cut}\nAb3+/x\n", KEY)) == "MARK\n"
        assert MARK.sub("MARK", redact(f"{cut}\nand then", KEY)) == "MARK\nand then"


def test_a_block_with_its_end_far_away_does_not_swallow_what_lies_between() -> None:
    first, between = block(2).rsplit("\n", 1)[0], "All is well.\n" * 4000
    out = redact(f"{first}\n{between}{block(1).splitlines()[-1]}", KEY)
    assert out.count(between) == 1
    assert first[40:] not in out


def test_a_key_in_base64_is_found_and_a_certificate_is_not() -> None:
    import base64

    for label in ("PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "CERTIFICATE"):
        text = "client-data: " + base64.b64encode(block(3, label).encode()).decode()
        assert bool(MARK.search(redact(text, KEY))) == (label != "CERTIFICATE")


# --- properties ------------------------------------------------------------------------

FORMATS = [(kind, secret) for kind, secret, text in planted(3)[:25] if kind != "discord"]
SURE = st.sampled_from(FORMATS)
ROWS = read_table().rows
LITERALS = [row[2] for row in ROWS if row[2]]
GLUE = (
    '= : \' " ` \\ \\n \\" _ - . / & ; , ( ) [ ] { } < > @ $ % %20 ! 1 a x= İ ß 密码 是 for is to password passwort '
    "token secret api_ page_ mot de passe twilio discord login curl -u a: :// user: @host Bearer Basic Authorization: "
    "--password PASSWORD= pass= hunter2 hunter2!x abc123def456 <password> </ value: [redacted AKIA ~ \u3000 \ud800 "
    "pw: | %3D %22 %26 &quot; mysql sshpass -p -pa1b2c3! -a redis-cli Cookie: sessionid= {default= %0A \n\n"
).split(" ")
HALVES = [
    half for _, secret, _ in planted(4) for half in (secret[: len(secret) // 2], secret[len(secret) // 2 :])
]
WHOLE = [secret for _, secret, _ in planted(5)]
PIECE = st.sampled_from([*GLUE, *LITERALS, *HALVES, *WHOLE, " ", "\n", "[redacted aws 12ab34]"]) | st.text(
    max_size=6
)
TEXT = st.lists(PIECE, max_size=14).map("".join)
ITEMS = [
    "mysql",
    "--password",
    "password",
    "-u",
    "-p",
    "-pa1b2c3!",
    "ada:hunter2x!",
    "hunter2x!",
    *block(2).split("\n"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT | st.sampled_from(ITEMS),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(TEXT | st.sampled_from(["password", "api_key", "Name", "Value"]), inner)
    ),
    max_leaves=8,
)
PLAIN = st.text(alphabet="aeiou ,.!?()\n", max_size=30)


@given(TEXT)
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text, KEY)
    assert redact(once, KEY) is once


@given(TEXT)
def test_what_is_untouched_is_the_same_object_and_what_is_touched_has_a_mark(text: str) -> None:
    out = redact(text, KEY)
    assert out is text or (
        out != text and len(MARK.findall(out)) > len(MARK.findall(text)) - text.count("[redacted")
    )


@given(TEXT)
def test_what_stands_between_the_marks_stood_there_before(text: str) -> None:
    rest = text
    for kept in MARK.split(redact(text, KEY))[::3]:
        at = rest.find(kept)
        assert at >= 0
        rest = rest[at + len(kept) :]


@given(PLAIN, SURE, PLAIN, SURE, PLAIN)
def test_a_secret_is_cut_out_exactly_and_a_repeat_is_recognised(
    before: str, one: tuple[str, str], between: str, two: tuple[str, str], after: str
) -> None:
    (kind, first), (other, second) = one, two
    text = f"{before} {first} {between} {second} {after} {first}"
    marks = [f"[redacted {kind} {digits(first)}]", f"[redacted {other} {digits(second)}]"]
    assert redact(text, KEY) == f"{before} {marks[0]} {between} {marks[1]} {after} {marks[0]}"
    assert digits(first) not in redact(text, b"another key")
    assert digits(first, b"another key") in redact(text, b"another key")


@core
@given(
    SURE,
    st.sampled_from(["", "(", '"', "'", "`", "=", "\\n", "%20", "\x1b[32m", "\\u0022", "/", ">"]),
    st.data(),
)
def test_nothing_of_a_secret_stays_whatever_it_leans_on(
    one: tuple[str, str], before: str, data: st.DataObject
) -> None:
    secret = one[1]
    after = data.draw(
        st.sampled_from(["", ")", '"', "'", "`", ",", ". ", "\\n", "&x=1", "<", "\x1b[0m", "]"])
    )
    text = f"{before}{secret}{after}"
    assert not leaks(secret, text, redact(text, KEY))


@given(TEXT)
def test_the_quick_look_misses_nothing_that_a_look_at_every_row_finds(text: str) -> None:
    assert redact(text, KEY) == _replace_spans(text, read_table().rows_for(text), KEY)


def test_the_kinds_are_named_once_and_fit_a_mark() -> None:
    assert len(read_table().kinds) == len(set(read_table().kinds)) >= 30
    assert all(MARK.fullmatch(f"[redacted {kind} 00ff99]") for kind in read_table().kinds)


# --- time ------------------------------------------------------------------------------

SIEGES = (
    "a| |sk-|sk-ant-|password=|PASS=|password |-----BEGIN |-----BEGIN PRIVATE KEY-----|eyJeyJ.|eyJaaaaaaaa.|eyJ|://:@"
    '|://a:a/|\\|password="|password is |password for a |api key |key|curl -u|12345678|AKIA|Bearer |discord M|_|-'
    "|[redacted a 123456]|密码是|<password>a</|password=a.|password=a@b.|1234567890:AA|SG.aaaaaaaaaaaaaaaa."
    "|login a password |Cookie: a=b; |Cookie:a;|ookie:|mysql -|mysql a |docker login |sshpass -p |identified by |auth"
    "|'auth':'|'-u', 'a:|?key=|password {|password {default|password%3D|password%22|%0A|password&quot;"
    "|pw: |pw |-----BEGIN%20PRIVATE%20KEY-----|-----BEGIN%20|redis-cli -a "
).split("|")
SIEGES = [siege for siege in (*SIEGES, "| password |", "Password:\n\n") if siege]


def check_text(siege: str) -> None:
    def work(size: int) -> Any:
        text = (siege * (size // len(siege) + 1))[:size]
        return lambda: redact(text, KEY)

    assert growth(work, 3000) < LINEAR


def check_list(siege: str) -> None:
    def work(size: int) -> Any:
        value = ["mysql", "-----BEGIN PRIVATE KEY-----", *[siege] * size, "hunter2!x"]
        return lambda: redact_value(value, KEY)

    assert growth(work, 300) < LINEAR


LISTED = ["--password", "password", "-u", "mysql", "-----BEGIN PRIVATE KEY-----", some(BASE64, 64), "curl -u"]


def test_hostile_text_and_a_hostile_list_take_time_in_proportion() -> None:
    check_rows(check_text, SIEGES[::30])
    check_rows(check_list, LISTED[:2])


@pytest.mark.long
def test_so_does_every_hostile_text_and_list() -> None:
    check_rows(check_text, SIEGES)
    check_rows(check_list, LISTED)


# --- values ----------------------------------------------------------------------------


@given(JSON)
def test_a_value_is_redacted_once_and_never_changed_in_place(value: Any) -> None:
    before = deepcopy(value)
    once = redact_value(value, KEY)
    assert value == before
    assert (once is value) == (once == value)
    assert redact_value(once, KEY) is once


@given(JSON)
def test_without_telling_keys_a_value_is_redacted_string_by_string(value: Any) -> None:
    assert redact_value([value], KEY) == [redact_value(value, KEY)]
    if isinstance(value, str):
        assert redact_value({"x": [value]}, KEY) == {"x": [redact(value, KEY)]}


def test_a_value_without_a_secret_is_the_same_object() -> None:
    def check(value: Any) -> None:
        assert redact_value(value, KEY) is value

    check_rows(
        check,
        [
            {"token": "the"},
            {"max_tokens": 5, "tokens": 120},
            {"password": ""},
            {"password": "<your password>"},
            {"password": None},
            {"next_token": None, "nextToken": some(BASE62, 30)},
            {"password": {"type": "string"}},
            {"password": "Passwort", "secret": True},
            {"passwords": 120000, "tokens": ["hunter2!x"]},
            ["password", "username", "address2"],
            ["--password", "--username", "sunshine"],
            ["docker", "build", "--secret", "id=npm2,src=/root/.npmrc"],
            ["docker", "run", "-u", "1000:1000000", "-p", "8080:8080"],
            {"password_changed_at": 1700000000, "password": True, "token": 1234567890},
            {"password": {"type": "string", "default": "string"}},
            {"password": 10**30},
            {"auth": "basicAuth", "auths": {"auth": "not base64 at all:"}, "x": {"auth": "dXNlcg=="}},
            ["it begins with -----BEGIN PRIVATE KEY-----", "and so on, and", "-----END PRIVATE KEY-----"],
            {"name": "region", "value": "hunter2!x"},
            {1: 2, None: 3, "x": [1.5, True, ("a",)]},
            {("a", f"hf_{some(BASE62, 34)}"): 1},  # no JSON: a key of another kind is left alone
            "plain",
        ],
    )


def test_a_value_under_a_telling_key_is_judged_by_it() -> None:
    def check(value: Any, wanted: Any) -> None:
        assert json.loads(MARK.sub("MARK", json.dumps(redact_value(value, KEY)))) == json.loads(
            json.dumps(wanted)
        )

    check_rows(
        check,
        [
            ({"password": "hunter2!x"}, {"password": "MARK"}),
            ({"password": "sunshine"}, {"password": "MARK"}),
            ({"password": ["hunter2!x", 1, "none"]}, {"password": ["MARK", 1, "none"]}),
            ({"password": "a\"b'c`1!"}, {"password": "MARK"}),
            ({"password": "back\\slash1!"}, {"password": "MARK"}),
            (
                {"env": [{"name": "DB_PASSWORD", "value": "hunter2x"}]},
                {"env": [{"name": "DB_PASSWORD", "value": "MARK"}]},
            ),
            (
                {"headers": {"Authorization": "Basic dXNlcjpwYXNz"}},
                {"headers": {"Authorization": "Basic MARK"}},
            ),
            ({"api_key": some(HEX, 30), "x": 1}, {"api_key": "MARK", "x": 1}),
            ({"key": f"hf_{some(BASE62, 34)}", "value": "pass"}, {"key": "MARK", "value": "pass"}),
            ({"password": "\"' curl -u a:hunter2!"}, {"password": "\"' curl -u a:MARK"}),
            (("https://ada:pw1@host", 2), ["https://ada:MARK@host", 2]),
            ({f"hf_{some(BASE62, 34)}": ("a",)}, {"MARK": ("a",)}),
            (["mysql", "--password", "sunshine", "app"], ["mysql", "--password", "MARK", "app"]),
            (["--api-key", some(BASE62, 30), "-v"], ["--api-key", "MARK", "-v"]),
            (["gh", "auth", "--with-token", some(BASE62, 30)], ["gh", "auth", "--with-token", "MARK"]),
            (["-u", "ada:hunter2x!"], ["-u", "ada:MARK"]),
            (["curl", "-s", "-u", "ada:sunshine"], ["curl", "-s", "-u", "ada:MARK"]),
            (["mysql", "-uroot", "-phunter2x!", "app"], ["mysql", "-uroot", "-pMARK", "app"]),
            (["docker", "login", "-u", "a", "-p", "sunshine"], ["docker", "login", "-u", "a", "-p", "MARK"]),
            (["sshpass", "-p", "letmein", "ssh"], ["sshpass", "-p", "MARK", "ssh"]),
            (["redis-cli", 1, "-a", "hunter2x!"], ["redis-cli", 1, "-a", "MARK"]),
            ([["X-Api-Key", some(BASE62, 30)]], [["X-Api-Key", "MARK"]]),
            (("password", "Tr0ub4dor3xyz"), ["password", "MARK"]),
            ({"Name": "DB_PASSWORD", "Value": "sunshine"}, {"Name": "DB_PASSWORD", "Value": "MARK"}),
            ({"VALUE": "sunshine", "KEY": "DB_PASSWORD"}, {"VALUE": "MARK", "KEY": "DB_PASSWORD"}),
            (
                {"ParameterKey": "DbPassword", "ParameterValue": "sunshine"},
                {"ParameterKey": "DbPassword", "ParameterValue": "MARK"},
            ),
            ({"password": {"value": "sunshine"}}, {"password": {"value": "MARK"}}),
            ({"secret": {"string": "s3cr3tive!"}}, {"secret": {"string": "MARK"}}),
            ({"password": 12345678}, {"password": "MARK"}),
            ({"passwords": ["sunshine", 12345678, 1]}, {"passwords": ["MARK", "MARK", 1]}),
            ({"PASSWORD ": "sunshine"}, {"PASSWORD ": "MARK"}),
            ({"auths": {"host": {"auth": "YWRhOnN1bnNoaW5l"}}}, {"auths": {"host": {"auth": "MARK"}}}),
            ({"Cookie": f"a=b; connect.sid={some(BASE62, 30)}"}, {"Cookie": "a=b; connect.sid=MARK"}),
            ({"password": f"a\"'`”{some(BASE62, 9)}1!"}, {"password": f"a\"'`”{some(BASE62, 9)}1!"}),
        ],
    )


def test_two_keys_that_become_one_are_both_kept() -> None:
    secret = f"hf_{some(BASE62, 34)}"
    mark = redact(secret, KEY)
    assert redact_value({mark: 1, secret: 2}, KEY) == {mark: 1, mark + "'": 2}


def test_a_value_may_be_as_deep_as_json_may() -> None:
    value: Any = {"password": "hunter2!x"}
    for _ in range(400):
        value = [{"x": value}]
    assert "hunter2" not in json.dumps(redact_value(value, KEY))
