"""Labels of private lines: `Wife: Ana` and `Mortgage: 300,000` are no sentences, and their label tells most.

Some labels only a person has; others a server, a file or a company has as well (`Address: 10.0.0.1`). For these the
value decides: a name, a street with a number, a sum. A value that names what only the work has makes neither private.
"""

from __future__ import annotations

import re
from functools import cache

from looseleaf.language.tables import read_names, read_words
from looseleaf.language.words import fold, plain, singular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LEAD = re.compile(r"^(?:(?:the )?user's |(?:my|our|the|his|her|their|mein|meine|ma|mon|mi|il mio|la mia) )+")

_SIGNS = re.compile(
    r"[`{}<>_\\=|]|\w\(|\(\)|(?:^|\s)[~.]{0,2}/\w|(?i:0x[0-9a-f])|\d+\.\d+\.\d+\.\d+|:\d{2,5}\b|\b[A-Z]{2,}-\d"
    r"|[^\W\d_]{2,}\.[a-z]{2,4}\b(?!\.)"
)
"""Signs of a value that is no one's: code, a path, an address of a machine, a ticket, the name of a file."""

_PERSON = "of a person"
NO_PROOF = "also of the work: none"
_TITLE = re.compile(r"(?:dr|prof|mr|mrs|ms|mme|herr|frau)\b", re.IGNORECASE)
_COMPANY = re.compile(
    r"\b(?:inc|corp|corporation|ltd|llc|gmbh|ag|plc|s\.?a|s\.?r\.?l|b\.?v|kg|co|team|group)\b", re.IGNORECASE
)
_NAME_WORDS = 6
"""A value that begins with a capital is a name, or several, if it has at most so many words."""
_STREET = re.compile(
    r"\d+[a-z]?,? [^\W\d_]{3,}|[^\W\d_]{3,},? \d+|[㐀-鿿]+[市区路街号県町丁]|[가-힣]+[시구동로길](?![가-힣])|^\d{5}$"
)
_NUMBER = re.compile(r"(?:[\dA-Z+][ ()/.-]?)*(?:\d[ ()/.-]?){6,}\d")


@cache
def _labels(section: str) -> dict[str, str]:
    return {_form(name): kind for name, kind in read_names("private_labels", section).items()}


def _form(label: str) -> str:
    return " ".join(map(plain, fold(label).replace("_", " ").split()))


@cache
def _work() -> re.Pattern[str]:
    words = "|".join(map(re.escape, read_words("private_labels", "names of the work")))
    anywhere = "|".join(map(re.escape, read_words("private_labels", "names of the work, anywhere")))
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)|{anywhere}")


def kind_of_label(label: str) -> tuple[str, str]:
    """Return the private kind of a label, "" for most, and the section that says what its value has to be."""
    name = _LEAD.sub("", fold(label).strip(" *_`-"))
    owner, _, last = name.rpartition("'s ")
    if owner and (kind := _find(owner.rpartition("'s ")[2], _PERSON)):
        return kind, _PERSON  # `Sister's birthday`
    return next(
        ((kind, section) for section in (_PERSON, *_PROOFS) if (kind := _find(last, section))), ("", "")
    )


def _find(name: str, section: str) -> str:
    form = _form(name)
    labels = _labels(section)
    return labels.get(form) or labels.get(" ".join(map(singular, form.split())), "")


def is_of_work_value(value: str) -> bool:
    """True if a value names what a person has not: a table, a path, a port."""
    return bool(_SIGNS.search(value) or _work().search(value.casefold()))


def is_of_work_line(label: str, value: str) -> bool:
    """True if a label that the work has too stands there for the work."""
    kind, section = kind_of_label(label)
    return bool(kind) and section != _PERSON and (section == NO_PROOF or is_of_work_value(value))


def private_kind_of(label: str, value: str) -> str:
    """Return the private kind of a line with a label; "" if label and value together tell of no person."""
    kind, section = kind_of_label(label)
    if not kind or not any(map(str.isalnum, value)) or is_of_work_value(value):
        return ""
    return kind if section == _PERSON or _PROOFS[section](value.strip()) else ""


def _is_name(value: str) -> bool:
    first = value[0]
    is_named = first.isupper() or first >= _FIRST_EASTERN or _TITLE.match(value) is not None
    return is_named and len(value.split()) <= _NAME_WORDS and _COMPANY.search(value) is None


_FIRST_EASTERN = "⺀"
_PROOFS: dict[str, Callable[[str], object]] = {
    "also of the work: a name": _is_name,
    "also of the work: a place": _STREET.search,
    "also of the work: a number": _NUMBER.search,
    "also of the work: a sum": re.compile(r"\d").search,
    NO_PROOF: lambda value: False,  # its own words may tell, the label does not
}
"""What the value of a label must be that the work has too, by the section of the label."""
