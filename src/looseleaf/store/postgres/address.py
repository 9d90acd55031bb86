"""Addresses of memories in a database: `postgresql://host/database?namespace=acme/agent-7`."""

from __future__ import annotations

import os
import re
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from looseleaf.base.errors import Invalid
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import canonical, is_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_UNCLEAR = re.compile(r"%(?![0-9A-Fa-f]{2})|%00|[\x00-\x20\x7f\ud800-\udfff]")

_HOST = r"(?:\[[0-9a-fA-F:.]+\]|[^:@\[\],]*)(?::\d{0,5})?"
_HOSTS = re.compile(rf"(?:[^:@]*(?::[^@:]*)?@)?{_HOST}(?:,{_HOST})*")
"""A name and a password, and one or more servers, one of which is the primary."""

_SERVER = re.compile(r"(?:\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::\d{1,5})?", re.ASCII)

_PLACE = frozenset({"host", "hostaddr", "port"})
"""What names a server besides the address's own part for that."""

_LONGEST = 200
"""Bytes of a namespace, fewer than an entry of a database's index may have."""


@frozen
class Address:
    """`url` connects, and may have a password; `namespace` is "" where the database as a whole is meant."""

    url: str
    namespace: str = ""
    direct: str = ""
    """Where the server itself is (HOST:PORT, or the folder of its socket), if `url` leads to a pooler that gives each
    transaction another connection (PgBouncer): locks and writes go there."""

    @property
    def where(self) -> str:
        """The address as it opens the same memory again, with the password if it has one."""
        return _join(self.url, self.namespace, self.direct)

    @property
    def shown(self) -> str:
        """The address as people may see it: without a password."""
        return _join(without_password(self.url), self.namespace)

    def of(self, namespace: str) -> Address:
        """Return the address of a memory of this database."""
        return Address(self.url, check_namespace(namespace), self.direct)

    @property
    def database(self) -> Address:
        """The address of the database as a whole."""
        return Address(self.url, "", self.direct)

    @property
    def options(self) -> str:
        """The settings for the server that the address itself asks for."""
        return dict(parse_qsl(urlsplit(self.url).query)).get("options", "")

    @property
    def direct_url(self) -> str:
        """What connects to the server itself."""
        if not self.direct:
            return self.url
        parts = urlsplit(self.url)
        user, at, _ = parts.netloc.rpartition("@")
        asked = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in _PLACE]
        host = self.direct
        if host.startswith("/"):
            asked, host = [*asked, ("host", host)], ""
        return _with_query(f"postgresql://{user}{at}{host}{parts.path}", asked)


def parse_address(where: str) -> Address:
    """Parse an address. A namespace that is missing stays "": a server has many memories."""
    if not is_address(where):
        raise Invalid(
            "This is not the address of a database. Give postgresql://host/database?namespace=NAME."
        )
    try:
        parts = urlsplit(where)
        asked = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        is_clear = _HOSTS.fullmatch(parts.netloc) and "@" not in parts.path and not parts.fragment
        if not is_clear or _UNCLEAR.search(where):
            raise ValueError  # the driver would take a part of a password for a name, and print it
    except ValueError:
        raise Invalid(
            f"The address {without_password(where)!r:.200} cannot be read. Give "
            "postgresql://host/database?namespace=NAME; in a name or password, write other characters as %XX."
        ) from None
    own = [(name, value) for name, value in asked if name in ("namespace", "pooler", "direct")]
    if len({name for name, _ in own}) != len(own):
        raise Invalid("The address names two namespaces or poolers. Give one.")
    more = dict(own)
    if more.get("pooler", "transaction") != "transaction":
        raise Invalid(
            "The address has pooler=… with something other than `transaction`. Write that, or leave it out."
        )
    direct = more.get("direct", "")
    is_server = direct.startswith("/") or _SERVER.fullmatch(direct) is not None
    if ("direct" in more) != ("pooler" in more) or ("direct" in more and not is_server):
        raise Invalid(
            "An address that goes through a pooler says where the server itself is, too, since locks and writes go "
            "there: …&pooler=transaction&direct=HOST:PORT."
        )
    url = _with_query(
        f"postgresql://{parts.netloc}{parts.path}", [pair for pair in asked if pair[0] not in more]
    )
    namespace = check_namespace(more["namespace"]) if "namespace" in more else ""
    return Address(url, namespace, direct)


def check_namespace(name: str) -> str:
    """Return a namespace in its one spelling, or refuse it: names of folders, joined by slashes."""
    try:
        found = canonical(name)
    except Invalid as error:
        raise Invalid(
            f"{name!r:.80} cannot be a namespace. Use names joined by slashes, as in acme/agent-7."
        ) from error
    if len(found.encode()) > _LONGEST:
        raise Invalid(f"The namespace {found!r:.40}… is longer than {_LONGEST} bytes. Use a shorter one.")
    return found


def without_password(url: str) -> str:
    """Return an address without its passwords, even one that cannot be parsed."""
    bare = re.sub(r"(?i)([?&](?:(?:ssl)?password|oauth_client_secret)=)[^&]*", r"\1", url)
    scheme, mark, rest = bare.partition("://")
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    user, at, host = authority.rpartition("@")
    if at:
        return f"{scheme}{mark}{user.partition(':')[0]}@{host}{rest[len(authority) :]}"
    name, colon, port = authority.partition(":")
    if colon and (not port.isdecimal() or "@" in rest.partition("?")[0]) and "@" in rest:
        return f"{scheme}{mark}{name}@{rest.rpartition('@')[2]}"  # a password with a / or ?: up to the last @
    return bare


def default_namespace() -> str:
    """Return the namespace that an address without one means."""
    return os.environ.get("LOOSELEAF_NAMESPACE", "") or "main"


def _with_query(url: str, asked: Sequence[tuple[str, str]]) -> str:
    query = urlencode(asked, safe="/", quote_via=quote)
    return f"{url}{'?' if query else ''}{query}"


def _join(url: str, namespace: str, direct: str = "") -> str:
    more = [f"namespace={quote(namespace, safe='/')}"] if namespace else []
    more += [f"pooler=transaction&direct={quote(direct, safe='/:')}"] if direct else []
    if not more:
        return url
    return f"{url}{'&' if '?' in url else '?'}{'&'.join(more)}"


def database_of(url: str) -> str:
    """Return the name of the database that an address names; "" if it leaves that to the server."""
    return unquote(urlsplit(url).path.lstrip("/"))
