"""Check digits and checksums of numbers and keys: whether a text that has the shape of one can be one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_IBANS = (  # the length of an account number in each country
    "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BR29BY28CH21CR22CY28CZ24DE22DK18DO28EE20EG29ES24FI18FO18FR27GB22GE22GI23GL18"
    "GR27GT28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MR27MT31MU30NL18NO15"
    "PK24PL28PS29PT25QA29RO24RS22SA24SC31SE24SI19SK24SM27ST25SV28TL23TN24TR26UA29VA22VG24XK20"
)


def _digits(text: str) -> list[int]:
    return [int(sign) for sign in text if "0" <= sign <= "9"]


def luhn(text: str) -> bool:
    """Return whether the last digit checks the others, as on a payment card."""
    digits = _digits(text)[::-1]
    doubled = sum(digit * 2 - 9 * (digit > 4) for digit in digits[1::2])
    return (sum(digits[::2]) + doubled) % 10 == 0 and len(set(digits)) > 1


def luhn10(text: str) -> bool:
    """Return whether the last ten digits are a personal number of Sweden."""
    digits = "".join(map(str, _digits(text)))[-10:]
    return luhn(digits) and 1 <= int(digits[2:4]) <= 12 and 1 <= int(digits[4:6]) % 60 <= 31


def card(text: str) -> bool:
    """Return whether it is the number of a payment card: an issuer's range, its length, and the check digit."""
    number = "".join(map(str, _digits(text)))
    two, four, size = int(number[:2]), int(number[:4]), len(number)
    return luhn(number) and (
        (number[0] == "4" and size in (13, 16, 19))
        or (size == 16 and (51 <= two <= 55 or 2221 <= four <= 2720 or 3528 <= four <= 3589))
        or (size == 15 and two in (34, 37))
        or (size == 14 and (two in (36, 38, 39) or 300 <= int(number[:3]) <= 305))
        or (16 <= size <= 19 and (two in (62, 65) or four == 6011 or 644 <= int(number[:3]) <= 649))
    )


def iban(text: str) -> bool:
    """Return whether it is an account number, of the length of its country."""
    number = text.replace(" ", "")
    at = _IBANS.find(number[:2])
    if at % 4 or _IBANS[at + 2 : at + 4] != str(len(number)):
        return False
    return int("".join(str(int(sign, 36)) for sign in number[4:] + number[:4])) % 97 == 1


def ssn(text: str) -> bool:
    """Return whether it may be a social security number of the United States."""
    number = "".join(map(str, _digits(text)))
    return (
        number[:3] not in ("000", "666") and number[0] != "9" and number[3:5] != "00" and number[5:] != "0000"
    )


def cpf(text: str) -> bool:
    """Return whether it is a taxpayer's number of Brazil."""
    digits = _digits(text)
    return len(set(digits)) > 1 and all(
        sum(digit * (size + 1 - at) for at, digit in enumerate(digits[:size])) * 10 % 11 % 10 == digits[size]
        for size in (9, 10)
    )


def ean(text: str) -> bool:
    """Return whether its thirteen digits check, as in an insurance number of Switzerland."""
    digits = _digits(text)
    return (sum(digits[::2]) + 3 * sum(digits[1::2])) % 10 == 0


def resident(text: str) -> bool:
    """Return whether it is a resident's number of China."""
    return "10X98765432"[sum(int(text[at]) * 2 ** (17 - at) for at in range(17)) % 11] == text[17].upper()


_FISCAL_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def fiscal(text: str) -> bool:
    """Return whether it is a tax code of Italy."""
    at = [int(sign) if sign.isdigit() else ord(sign) - 65 for sign in text]
    return chr(65 + (sum(_FISCAL_ODD[each] for each in at[:15:2]) + sum(at[1:15:2])) % 26) == text[15]


def steuer(text: str) -> bool:
    """Return whether it is a tax number of Germany."""
    *digits, last = _digits(text)
    product = 10
    for digit in digits:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == last and digits[0] != 0


def dni(text: str) -> bool:
    """Return whether it is an identity number of Spain."""
    text = text.replace("-", "").replace(" ", "")
    number = str("XYZ".index(text[0])) + text[1:-1] if text[0] in "XYZ" else text[:-1]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == text[-1]


def nir(text: str) -> bool:
    """Return whether it is a social security number of France."""
    text = text.replace(" ", "").replace("2A", "19").replace("2B", "18")
    return 97 - int(text[:13]) % 97 == int(text[13:])


def pesel(text: str) -> bool:
    """Return whether it is a person's number of Poland."""
    weights = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)
    return sum(weight * digit for weight, digit in zip(weights, _digits(text), strict=True)) % 10 == 0


def bsn(text: str) -> bool:
    """Return whether it is a citizen's number of the Netherlands."""
    weights = (9, 8, 7, 6, 5, 4, 3, 2, -1)
    return sum(weight * digit for weight, digit in zip(weights, _digits(text), strict=True)) % 11 == 0


def verhoeff(text: str) -> bool:
    """Return whether the last digit checks the others by Verhoeff's method, as in India."""
    check, turned = 0, list(range(10))
    for digit in _digits(text)[::-1]:
        one, other = check, turned[digit]
        if one < 5:
            check = (one + other) % 5 + 5 * (other > 4)
        else:
            check = (one - other) % 5 + 5 * (other < 5)
        turned = [turned[each] for each in (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)]
    return check == 0


def passport(text: str) -> bool:
    """Return whether it may be the number of a passport: digits enough, and no year."""
    return len(_digits(text)) >= 5


def base58(text: str) -> bool:
    """Return whether the last four bytes are the checksum of the others, as in keys of a wallet."""
    import hashlib  # not at the top: few texts need it

    number = 0
    for sign in text:
        number = number * 58 + _BASE58.index(sign)
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    padded = b"\0" * (len(text) - len(text.lstrip("1"))) + data
    return hashlib.sha256(hashlib.sha256(padded[:-4]).digest()).digest()[:4] == padded[-4:]


def bech32(text: str) -> bool:
    """Return whether the checksum after the last `1` is right."""
    head, _, body = text.lower().rpartition("1")
    values = [ord(sign) >> 5 for sign in head] + [0] + [ord(sign) & 31 for sign in head]
    values += [_BECH32.index(sign) for sign in body]
    check = 1
    for value in values:
        top, check = check >> 25, (check & 0x1FFFFFF) << 5 ^ value
        for bit, term in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= term if top >> bit & 1 else 0
    return check in (1, 0x2BC830A3)


def stellar(text: str) -> bool:
    """Return whether the last two bytes are the checksum of the others, as in a seed of Stellar."""
    import base64  # not at the top: few texts need it

    data, check = base64.b32decode(text), 0
    for byte in data[:-2]:
        check ^= byte << 8
        for _ in range(8):
            check = (check << 1 ^ 0x1021 * (check >> 15)) & 0xFFFF
    return check.to_bytes(2, "little") == data[-2:]


_ALL = (
    luhn,
    luhn10,
    card,
    iban,
    ssn,
    cpf,
    ean,
    resident,
    fiscal,
    steuer,
    dni,
    nir,
    pesel,
    bsn,
    verhoeff,
    passport,
)
CHECKS: dict[str, Callable[[str], bool]] = {
    check.__name__: check for check in (*_ALL, base58, bech32, stellar)
}
"""By the names that `data/secrets.txt` uses."""
