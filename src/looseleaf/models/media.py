"""Addresses of pictures, sounds and films: what they are, and the words that stand for one that is not taken."""

from __future__ import annotations

import binascii
import hashlib
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.messages import Message

DATA = re.compile(
    r"data:([a-z]+/[-+.\w]+)(?:;[-\w]+=[-\w]+)*;base64,([A-Za-z0-9+/_-]+={0,2})\Z", re.IGNORECASE
)

TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "heic": "image/heic",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
    "m4a": "audio/mp4",
    "mp4": "video/mp4",
    "mov": "video/quicktime",
    "webm": "video/webm",
    "mpeg": "video/mpeg",
}
"""By the ending of an address. Python's own table is read from the machine's files, and differs between machines."""

SHOWN_CHARS = 2000
"""The longest address that is told as text; what is longer is data, and its size and hash are told instead."""


def media_of(message: Message) -> list[tuple[str, str]]:
    """Kind and address of each, in the order of the message."""
    kinds = (("image", message.image_urls), ("audio", message.audio_urls), ("video", message.video_urls))
    return [(kind, address) for kind, addresses in kinds for address in addresses]


def data_of(address: str) -> tuple[str, str] | None:
    """Type and base64 of an address that is the thing itself; None for any other, and for what does not decode."""
    found = DATA.match(address)
    if found is None:
        return None
    body = found[2].translate({ord("-"): "+", ord("_"): "/"})
    try:
        binascii.a2b_base64(body, strict_mode=True)
    except binascii.Error:
        return None
    return found[1].lower(), body


def is_web(address: str, *schemes: str) -> bool:
    return any(address.startswith(f"{scheme}://") for scheme in schemes or ("https", "http"))


def type_of(address: str) -> str | None:
    """What the ending of an address says."""
    path = re.split(r"[?#]", address, maxsplit=1)[0]
    return TYPES.get(path.rpartition(".")[2].lower())


def in_words(kind: str, address: str) -> str:
    """What a model is told of something that its provider does not take."""
    if len(address) <= SHOWN_CHARS:
        return f"[{kind}: {_closed(address)}]"
    mark = hashlib.sha256(address.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"[{kind}: {_closed(address[:40])}… ({len(address)} characters, sha256 {mark}), not shown here]"


_OPEN = re.compile(r"[^!-Z\\^-~\u00a1-\U0010ffff]|[\[\]\u2000-\u206f\u3000\ud800-\udfff\ufeff\ufff0-\uffff]")
"""What could lead out of the brackets: these themselves, and whatever is a gap, a line's end, or does not show."""


def _closed(address: str) -> str:
    """The address with such characters as addresses write them: somebody else may have given it, and it has to stay
    an address to whoever reads it."""
    return _OPEN.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), address
    )
