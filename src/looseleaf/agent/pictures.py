"""Pictures and sounds that are files here: a provider cannot open them, so a request carries what they hold.

The log keeps the path. A file is sent only where its first bytes say that it is what it is taken for: an address may
stand in talk that came from elsewhere, and no other file leaves this machine by its name.
"""

from __future__ import annotations

import os

from looseleaf.errors import Refused
from looseleaf.talk import Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_BYTES = 20 * 1024 * 1024
"""Of one file: more than providers take."""

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
)


def absolute(given: Sequence[str] | str, kind: str) -> tuple[str, ...]:
    """Addresses as they are recorded. A path is looked at now: who asks about a picture should know if it is not
    there."""
    addresses = (given,) if isinstance(given, str) else tuple(given)
    return tuple(_checked(each, kind) for each in addresses)


def _checked(address: object, kind: str) -> str:
    if not isinstance(address, str):
        raise Refused(
            f"Nothing was asked: {kind} are paths, web addresses or data: addresses, as text, not "
            f"{type(address).__name__}. Write the bytes to a file, and give its path."
        )
    if "://" in address or address.startswith("data:"):
        return address
    path = os.path.abspath(os.path.expanduser(address))
    if not os.path.isfile(path):
        raise Refused(f"Nothing was asked: there is no file {path}. Give the path of one, or an address.")
    return path


def carried(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages, with what files hold in place of their paths."""
    for message in messages:
        if message.image_urls or message.audio_urls:
            members = {name: getattr(message, name) for name in Message.__match_args__}
            for name in ("image_urls", "audio_urls"):
                members[name] = tuple(map(_data, members[name]))
            message = Message(**members)
        yield message


def _data(address: str) -> str:
    """A `data:` address of a file that is a picture or a sound; anything else as it is."""
    if not os.path.isabs(address):
        return address
    try:
        if not os.path.isfile(address) or os.path.getsize(address) > MOST_BYTES:
            return address
        with open(address, "rb") as file:
            held = file.read(MOST_BYTES)
    except OSError:
        return address
    kind = _kind(held)
    if kind is None:
        return address
    import base64

    return f"data:{kind};base64,{base64.b64encode(held).decode()}"


def _kind(held: bytes) -> str | None:
    if held[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(held[8:12])
    return next((kind for begins, kind in _BEGINNINGS if held.startswith(begins)), None)
