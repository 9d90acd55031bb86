"""Fresh secrets of every kind, wherever they stand; and what is public, or only looks alike."""

from __future__ import annotations

import json
import re
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf.text.checksums import CHECKS
from looseleaf.text.secret_table import expand, read_table
from looseleaf.text.secrets import redact, redact_value
from secret_kinds import (
    BARE,
    SEED_WORDS,
    base58_check,
    bech32,
    grouped,
    leaks,
    luhn_digit,
    numbers,
    planted_everywhere,
    stellar,
    tokens,
    written_otherwise,
)
from secret_lines import BASE62, HEX
from tables import check_rows

KEY = b"a key of this memory"
MARK = re.compile(r"\[redacted ([a-z-]+) ([0-9a-f]{6})\]")


@given(st.integers(0, 10**9))
def test_of_a_hundred_fresh_secrets_at_most_two_come_through(seed: int) -> None:
    planted = [*planted_everywhere(seed)]
    assert len(planted) > 150
    kept = [(kind, text) for kind, secret, text in planted if leaks(secret, text, redact(text, KEY))]
    assert len(kept) * 50 <= len(planted), kept


def test_every_kind_is_found_in_all_surroundings_and_named() -> None:
    rng = Random(5)

    def check(made: tuple[str, str], around: str) -> None:
        kind, secret = made
        text = around.replace("{}", secret)
        out = redact(text, KEY)
        assert not leaks(secret, text, out), out
        assert [found for found, _ in MARK.findall(out)] == [kind]
        assert MARK.sub("{}", out).replace("{}=", "{}").replace("{}.", "{}") in (
            around,
            around.replace("{}.", "{}"),
        )

    check_rows(check, product(tokens(rng) + numbers(rng), BARE))


def test_every_kind_is_found_however_it_is_written() -> None:
    rng = Random(6)

    def check(kind: str, secret: str) -> None:
        for how, text in written_otherwise(rng, secret):
            out = redact(text, KEY)
            assert secret[-14:] not in out, (how, text, out)
            assert MARK.search(out), how

    check_rows(check, tokens(rng))


def test_every_kind_is_found_in_a_value() -> None:
    def check(kind: str, secret: str) -> None:
        out = redact_value({"rows": [{"note": f"see {secret}"}, secret]}, KEY)
        assert secret not in json.dumps(out)
        assert {found for found, _ in MARK.findall(json.dumps(out))} == {kind}

    check_rows(check, tokens(Random(7)))


def test_letters_that_only_look_like_ours_hide_nothing() -> None:
    for secret in ("ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6", "hvs.CAESIa1B2c3D4e5F6a1B2c3D4e5F6"):
        for ours, other in (("a", "а"), ("e", "е"), ("c", "с"), ("1", "１"), ("B", "𝐁")):
            out = redact(f"it is {secret.replace(ours, other)}, I think", KEY)
            assert MARK.sub("", out) == "it is , I think"
    assert MARK.search(redact("pass\u200bword: hunter2!Aa", KEY))


def test_a_token_that_was_wrapped_goes_with_its_next_lines() -> None:
    rng = Random(8)
    body = "".join(rng.choices(BASE62, k=150))
    wrapped = "\n".join(["sk-proj-" + body[:50], body[50:100], body[100:]])
    assert MARK.sub("{}", redact(f"key:\n{wrapped}\nand so on\n", KEY)) == "key:\n{}\nand so on\n"
    short = redact(f"npm_{body[:20]}\\\n  {body[20:36]}4\nHello", KEY)
    assert MARK.sub("{}", short) == "{}\nHello"
    assert MARK.sub("{}", redact("ghp_" + body[:36] + "\nPORT=8080\n", KEY)) == "{}\nPORT=8080\n"


PUBLIC = """\
pk_live_51H8xA2eZvKYlo2C0aBcDeFgHiJkLmNoPqRs ¦ sb_publishable_a1B2c3D4e5F6g7H8i9J0kL_a1B2c3D4
pk.eyJ1IjoiYWRhIiwiYSI6ImNrMTIzNDU2Nzg5MGFiYyJ9.aBcDeFgHiJkLmNoPqRsTuV ¦ pk-lf-3f2a8b1c-1111-4222-8333-abcdefabcdef
phc_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9J0abc ¦ price_1MoBy5LkdIwHu7ixZhnattbh ¦ cus_NffrFeUfNV2Hib
commit 9c11c7637e69cb4c9150a0eafb8cf85a1d2e3f40 ¦ md5 9f86d081884c7d659a2feaa0c55ad015
id 3f2a8b1c-1111-4222-8333-abcdefabcdef ¦ order no. 1234567890123 ¦ tracking 1Z999AA10123456784
ISBN 978-3-16-148410-0 ¦ call +49 151 23456789 or (555) 123-4567 ¦ 555-123-4567 ¦ on 2024-05-01 at 10:30:00
invoice 2023-000417 ¦ version 10.0.19045.3803 ¦ pin 3 of the chip ¦ the pinned versions are 1200 and 1300
IBAN DE00 3704 0044 0532 0130 00 ¦ 4539 1488 0343 6466 ¦ 000-12-3456 ¦ 900-12-3456 ¦ 1699999999999999
re_match_groups_with_names_2 ¦ test_that_the_parser_reads_12345678 ¦ live_migration_of_the_second_kind_2
the code is in module 12345 ¦ status code 404 ¦ exit code 1234 ¦ area code 90210 ¦ zip code: 90210 ¦ error code 1045
the gate code is 4411 ¦ Front door code 4711 ¦ The safe code of the office is 4711.
0x742d35Cc6634C0532925a3b844Bc454e4438f44e ¦ 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa
the seed of the tree grew in the garden and we all went out to look at it when the sun came up again
wallet and keys and phone and glasses were on the table next to the door where we left them last night
i planted seed mixes under the apple tree with some clover and they were growing before the winter came
my password is required ¦ my password is expired. ¦ my password is wrong ¦ password is my favorite word
recovery code path ¦ backup codes: see page 12 ¦ my token is missing ¦ the key is under the mat2
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ¦ hvs.your-token-goes-here-please ¦ AKIAXXXXXXXXXXXXXXXX"""


def test_what_is_public_or_only_looks_alike_stays() -> None:
    def check(text: str) -> None:
        assert redact(text, KEY) is text

    check_rows(check, [row for line in PUBLIC.splitlines() for row in line.split(" ¦ ")])


def test_a_number_with_a_wrong_check_digit_stays() -> None:
    rng = Random(9)
    for kind, number in numbers(rng):
        if kind in ("card", "iban"):
            last = number[-1]
            wrong = number[:-1] + str((int(last) + 5) % 10)
            assert redact(f"no. {wrong} it is", KEY) == f"no. {wrong} it is"


def test_checksums_know_the_right_ones_and_only_these() -> None:
    rng = Random(10)
    card = "4" + "".join(rng.choices("0123456789", k=14))
    right = {
        "luhn": card + luhn_digit(card),
        "luhn10": "811218-9876",
        "card": grouped(card + luhn_digit(card)),
        "iban": "GB33 BUKB 2020 1555 5555 55",
        "ssn": "536-22-8145",
        "cpf": "529.982.247-25",
        "ean": "756.9217.0769.85",
        "resident": "11010519491231002X",
        "fiscal": "RSSMRA85T10A562S",
        "steuer": "86095742719",
        "dni": "12345678Z",
        "nir": "185057800608491",
        "pesel": "44051401359",
        "bsn": "111222333",
        "verhoeff": "234567890124",
        "passport": "X1234567",
        "base58": base58_check(b"\x80" + rng.randbytes(32)),
        "bech32": bech32("nsec", [rng.randrange(32) for _ in range(52)]),
        "stellar": stellar(b"\x90" + rng.randbytes(32)),
    }
    wrong = right | {"ssn": "666-22-8145", "passport": "XABCD", "iban": "ZZ33BUKB20201555555555"}

    def check(name: str) -> None:
        assert CHECKS[name](right[name])
        text = wrong[name]
        if text == right[name]:
            at = max(at for at, sign in enumerate(text) if sign.isdigit())
            text = f"{text[:at]}{(int(text[at]) + 3) % 7 + 2}{text[at + 1 :]}"
        assert not CHECKS[name](text), text

    assert right.keys() == CHECKS.keys()
    check_rows(check, [(name,) for name in right])
    assert CHECKS["dni"]("X1234567L")
    assert not CHECKS["iban"]("GB33BUKB2020155555555")  # too short


NUMBERS = """\
BSN: {111222333} ¦ DNI {12345678Z} ¦ CPF {529.982.247-25} ¦ cpf: {52998224725} ¦ codice fiscale {RSSMRA85T10A562S}
numéro de sécu {1 85 05 78 006 084 91} ¦ Steuer-ID: {86 095 742 719} ¦ Aadhaar {2345 6789 0124} ¦ PESEL {44051401359}
National Insurance number: {AB 12 34 56 C} ¦ 身份证 {11010519491231002X} ¦ passport number is {X1234567}
driver's license {D1234567} ¦ AHV {756.9217.0769.85} ¦ personnummer {811218-9876} ¦ SIN {046 454 286}
CVV2: {812} ¦ use code {482913} to sign in ¦ G-{482913} is your verification code ¦ {48291} is my PIN
PIN码是{4711} ¦ unlock with pin {4711} ¦ Meine PIN: {4711}
{hunter2!Xy} is my password ¦ use {hunter2!Xy} as the password
my password is {iloveyou}. ¦ WiFi password: {correct-horse-battery} ¦ the passphrase is {correct horse battery staple}
app-specific password: {abcd-efgh-ijkl-mnop} ¦ application password: {AbCd 1234 EfGh 5678 IjKl 9012}
recovery codes: {a1b2c-d3e4f} ¦ FileVault recovery key: {392A-BEKR-2ESR-JBL7-2J2M-2PTC}
BitLocker: {590609-624301-059217-763537-217004-295931-486925-834103} ¦ snyk token {3f2a8b1c-1111-4222-8333-abcdefabcdef}
RAILWAY_TOKEN={3f2a8b1c-1111-4222-8333-abcdefabcdef} ¦ db.example.com:5432:app:ada:{x7Tq2mPz}"""


def test_numbers_of_persons_and_codes_are_found_beside_their_word() -> None:
    def check(text: str) -> None:
        out = redact(text.replace("{", "").replace("}", ""), KEY)
        assert MARK.sub("{}", out) == re.sub(r"\{.*\}", "{}", text)

    check_rows(check, [row for line in NUMBERS.splitlines() for row in line.split(" ¦ ")])


def test_a_number_under_a_telling_key_is_judged_by_it() -> None:
    out = redact_value({"pin": 4711, "cvv": "123", "port": 4711, "otp": 482913, "ssn": "536228145"}, KEY)
    assert json.loads(MARK.sub("MARK", json.dumps(out))) == {
        "pin": "MARK", "cvv": "MARK", "port": 4711, "otp": "MARK", "ssn": "MARK",
    }  # fmt: skip


@pytest.mark.parametrize("by", [" ", ", ", "\n", '", "'])
def test_the_words_of_a_wallet_are_one_secret(by: str) -> None:
    words = by.join(Random(11).sample(SEED_WORDS, 12))
    out = redact(f"Seed phrase: {words}\nThe rest of it stays.", KEY)
    assert MARK.sub("{}", out) == "Seed phrase: {}\nThe rest of it stays."
    eleven = words.rsplit(by, 1)[0]
    assert redact(f"Seed phrase: {eleven}.", KEY) == f"Seed phrase: {eleven}."


def test_the_table_is_whole() -> None:
    table = read_table()
    assert len(table.rows) > 500
    assert len(table.kinds) > 150

    def check(section: str, kind: str, name: str, pattern: str, conditions: str) -> None:
        assert MARK.fullmatch(f"[redacted {kind} 00ff99]")
        if section == "prefixes":
            alphabet, size = pattern.split()
            assert alphabet in table.alphabets
            assert re.fullmatch(r"\d+(\+|-\d+)?", size)
            assert int(re.split(r"\D", size)[0]) + len(name) >= 16  # as the quick look expects
        else:
            re.compile(expand(pattern), re.ASCII)

    check_rows(check, table.rows)


def test_hashes_beside_no_telling_word_stay() -> None:
    rng = Random(12)
    for size in (32, 40, 56, 64, 96, 128):
        digest = "".join(rng.choices(HEX, k=size))
        for text in (f"{digest}  a.txt", f"digest: {digest}", f"0x{digest}", f'"etag": "{digest}"'):
            assert redact(text, KEY) is text


TOLD = """\
You get into the NAS as admin, the password hasn't changed since we moved, it's still {Tangerine_Otter!3307B}.
ich hab das Kennwort gestern geändert in {Oma-Gerti-malt#2747} weil die IT genervt hat
l'identifiant c'est dupuis.m et le mot de passe c'est {TournesolBleu*226T}, merci
then type {maple-kettle-ladder#8173} to log in, please ¦ Netflix: lena@x.example / {Popcorn!Night8}
I changed my password yesterday, the new one is {Bluebird77} ¦ la clave del wifi sigue siendo {Gato*Verde19}
network Hall_Guest, then {Teekannemonster?1065e} underneath (it's the Wi-Fi one) ¦ WIFI:T:WPA;S:Box;P:{LcuVOkBaCocGfV};;
the guest account takes “{otter-lamp-river-9921}” as password ¦ hasło do wifi dalej {Zamek#Wawel12}
PUK after my kid typed nonsense, on the card it says {93849565}, do I type that? ¦ my PIN, that's {0471}, if they let me
PUK steht auf der Karte: {83920174} ¦ {4471} is what I chose as PIN ¦ PIN: {4 4 7 1} ¦ le code PIN, c'est {8841}
TWILIO_AUTH={a90e55adc5486bd1d7462f2a973d4aed} ¦ MISTRAL={7C8CM2pmHh8kc7DzoDraBOOT21oRhN8p}
Zone edit rights only: {yM5V5OGyYbS0iXKHNRRuK9c16WxUhcraaiO1LJgb}. Point www at the new one in Cloudflare.
Datadog wants the 32 character thing – {8706574601a4d7b6459e9f94be016f13} – then check the metrics
accounts: ['{0xe486a54a7764de59af3cece0b90afb4749f5c9eeb6759ab1adf0ecf1c1febc2b}']
I exported it from MetaMask, {e486a54a7764de59af3cece0b90afb4749f5c9eeb6759ab1adf0ecf1c1febc2b}
heroku auth:token gives {3f2a8b1c-1111-4222-8333-abcdefabcdef} and it works
2FA setup key is {JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP} ¦ authenticator setup: {JBSW Y3DP EHPK 3PXP QRST UVWX}
sessionid has the value {iyun6jimiya1tnpl25x2oe1cxmfayhls} there, can you reuse that cookie?"""


def test_what_is_told_some_words_away_is_found_and_only_that() -> None:
    def check(text: str) -> None:
        out = redact(text.replace("{", "").replace("}", ""), KEY)
        assert MARK.sub("{}", out) == re.sub(r"\{.*\}", "{}", text)

    check_rows(check, [row for line in TOLD.splitlines() for row in line.split(" ¦ ")])


SERVICES = "Cloudflare Hetzner Vercel PayPal Netlify Algolia Okta Mailgun Datadog Linode".split()


def test_of_a_hundred_tokens_near_the_name_of_a_service_at_most_five_come_through() -> None:
    rng, kept = Random(14), []
    for at in range(200):
        name, token = (
            SERVICES[at % len(SERVICES)],
            "".join(rng.choices(BASE62, k=rng.choice((24, 32, 40, 64)))),
        )
        for text in (
            f"{name} gave me {token} for it",
            f"Use {token}, it is for {name}.",
            f"{name}:\n{token}\nthanks",
        ):
            kept += [text] * (token in redact(text, KEY))
        for text in (f"{name} commit {token}", f"the public id at {name} is {token}"):
            assert redact(text, KEY) is text
    assert len(kept) <= 30, kept


WORDS = st.sampled_from(["Maple", "otter", "Regen", "Luna", "kettle", "Zamek"])


@given(WORDS, WORDS, st.sampled_from("!#$%&*?~"), st.integers(10, 9999), st.integers(0, 5))
def test_a_password_is_found_before_or_behind_its_word(
    one: str, two: str, sign: str, number: int, how: int
) -> None:
    secret = f"{one}{sign}{two}{number}"
    text = (
        "the password hasn't changed since May, it's still {} I think",
        "to log in please take {} and then the second one",
        "Passwort fürs NAS ist wie immer {} oder?",
        "try {} because that was the wifi one",
        "user,password\nada,{}\n",
        "| user | password |\n|---|---|\n| ada | {} |",
    )[how].replace("{}", secret)
    assert secret not in redact(text, KEY)
    assert MARK.sub(lambda _: secret, redact(text, KEY)) == text


@pytest.mark.parametrize("lead", ["GitHub recovery codes:\n", "My backup codes are ", "codes de secours : "])
@pytest.mark.parametrize(
    "codes", ["3246e-1a785, d91be-2c167, 83edf-a14fa", "3120 0777, 4648 3588 and 9310 9358"]
)
def test_every_code_of_a_list_is_found(lead: str, codes: str) -> None:
    assert MARK.sub("", redact(lead + codes, KEY)).rstrip(" ,and\n") == lead.strip()


HARMLESS = """\
I logged in at 10:30 and user #4412 complained about C#11 ¦ Use Windows11 to log in, not Windows10
The Google sheet is 1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms, share it with the team account
Our Heroku app id is 3f2a8b1c-1111-4222-8333-abcdefabcdef ¦ Our bank changed the PIN rules in 2023
I deployed commit 9c11c7637e69cb4c9150a0eafb8cf85a1d2e3f40 to Vercel ¦ My PIN letter arrived after 1500 days
tx 0xe486a54a7764de59af3cece0b90afb4749f5c9eeb6759ab1adf0ecf1c1febc2b is in my wallet
Backup finished: 12345678 files, 23456789 bytes ¦ backup: db-20240501 and db-20240502 are on the NAS
Datadog trace a90e55adc5486bd1d7462f2a973d4aed was slow ¦ postgres://USER:PASSWORD@HOST:5432/DBNAME
word word word word word word word word word word word word word word word word
We need eggs milk bread butter cheese apples onions garlic rice pasta sugar salt coffee
My email is lena.k+news99@mail.example, please log in with it ¦ --- PASS: TestRecord42 (0.59s)
I changed my password, it's at least 12 characters now ¦ name,password,age\\nada,required,33"""


def test_what_is_said_of_keys_and_numbers_stays() -> None:
    def check(text: str) -> None:
        assert redact(text, KEY) is text

    check_rows(
        check, [row.replace("\\n", "\n") for line in HARMLESS.splitlines() for row in line.split(" ¦ ")]
    )


def test_a_key_of_capitals_needs_no_digit() -> None:
    assert redact("it is AKIAQWERTYUIOPASDFGH, I think", KEY).startswith("it is [redacted aws ")
    assert redact("raise MAX_BUFFER_SIZE_LIMIT_ERROR", KEY) == "raise MAX_BUFFER_SIZE_LIMIT_ERROR"
