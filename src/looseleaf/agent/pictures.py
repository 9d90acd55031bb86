"""Pictures and sounds that are files here: a provider cannot open them, so a request carries what they hold.

The log keeps the path. A file is sent only where the program that runs gave it, and its first bytes say that it is what
it is taken for: a path may stand in talk that came from elsewhere, and no file leaves this machine by its name alone.
"""

from __future__ import annotations

import os

from looseleaf.base.errors import Refused
from looseleaf.base.messages import Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

MOST_BYTES = 20 * 1024 * 1024
"""Of all files of one request: more than most providers take. The last ones count first."""

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"ID3\x03", "audio/mpeg"),
    (b"ID3\x04", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"fLaC\x00", "audio/flac"),
    (b"OggS\x00", "audio/ogg"),
)


def absolute(given: Sequence[str] | str | None, kind: str) -> tuple[str, ...]:
    """Addresses as they are recorded. A path is looked at now: who asks about a picture should know if it is not
    there."""
    addresses = (given,) if isinstance(given, str) else tuple(given or ())
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


def carried(messages: Sequence[Message], given: Collection[str]) -> list[Message]:
    """The messages, with what files hold in place of the paths that were given."""
    left = MOST_BYTES
    found: list[Message] = []
    for message in reversed(messages):
        if given and (message.image_urls or message.audio_urls):
            members = {name: getattr(message, name) for name in Message.__match_args__}
            for name in ("image_urls", "audio_urls"):
                addresses = []
                for each in members[name]:
                    held = _held(each, left) if each in given else None
                    left -= len(held[1]) if held is not None else 0
                    addresses.append(_address(each, held))
                members[name] = tuple(addresses)
            message = Message(**members)
        found.append(message)
    return found[::-1]


def _held(path: str, most: int) -> tuple[str, bytes] | None:
    """The kind and the bytes of a file that is a picture or a sound, and not too large."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > most:
            return None
        with open(path, "rb") as file:
            held = file.read(most)
    except OSError:
        return None
    kind = _kind(held)
    return (kind, held) if kind is not None else None


def _address(path: str, held: tuple[str, bytes] | None) -> str:
    """A `data:` address, or the path as it is."""
    if held is None:
        return path
    import base64

    return f"data:{held[0]};base64,{base64.b64encode(held[1]).decode()}"


def _kind(held: bytes) -> str | None:
    if held[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(held[8:12])
    return next((kind for begins, kind in _BEGINNINGS if held.startswith(begins)), None)
