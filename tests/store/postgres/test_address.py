"""Addresses of memories in a database: read in one way, shown without a password, refused where a part is unclear."""

from __future__ import annotations

import pytest

from looseleaf.base.errors import Invalid
from looseleaf.store.postgres.address import check_namespace, parse_address, without_password
from tables import check_rows


def test_an_address_opens_the_same_memory_again_and_is_shown_without_its_password() -> None:
    def check(given: str, where: str, shown: str, namespace: str) -> None:
        address = parse_address(given)
        assert (address.where, address.shown, address.namespace) == (where, shown, namespace)
        assert parse_address(address.where) == address

    host = "postgresql://host/db"
    check_rows(
        check,
        [
            (host, host, host, ""),
            ("postgres://u:p@host/db", "postgresql://u:p@host/db", "postgresql://u@host/db", ""),
            (f"{host}?namespace=a/b", f"{host}?namespace=a/b", f"{host}?namespace=a/b", "a/b"),
            (f"{host}?namespace=a%2Fb", f"{host}?namespace=a/b", f"{host}?namespace=a/b", "a/b"),
            (f"{host}?namespace=Zo%C3%AB", f"{host}?namespace=Zo%C3%AB", f"{host}?namespace=Zo%C3%AB", "Zoë"),
            (f"{host}?host=/a%20b", f"{host}?host=/a%20b", f"{host}?host=/a%20b", ""),
            (f"{host}?password=secret&x=1", f"{host}?password=secret&x=1", f"{host}?password=&x=1", ""),
            (
                f"{host}?direct=db:5433&pooler=transaction",
                f"{host}?pooler=transaction&direct=db:5433",
                host,
                "",
            ),
            (
                "postgresql://u:p%40%2F@[::1]:5432/db",
                "postgresql://u:p%40%2F@[::1]:5432/db",
                "postgresql://u@[::1]:5432/db",
                "",
            ),
            ("postgresql://a:1,b:2/db", "postgresql://a:1,b:2/db", "postgresql://a:1,b:2/db", ""),
            ("postgresql:///db?host=/run", "postgresql:///db?host=/run", "postgresql:///db?host=/run", ""),
        ],
    )


def test_an_unclear_address_is_refused_and_no_part_of_its_password_is_shown() -> None:
    """The driver would take the rest of such a password for the name of a server, and print it."""

    def check(password: str) -> None:
        for given in (
            f"postgresql://user:{password}@host/db",
            f"postgresql://user:{password}@host:5432/db?x=1",
        ):
            with pytest.raises(Invalid) as refused:
                parse_address(given)
            assert str(refused.value).startswith("The address 'postgresql://user@host")
            assert "cannot be read" in str(refused.value)
            assert "cret" not in str(refused.value)

    check_rows(
        check,
        [
            "se/cret",
            "1/cret",
            "se?cret",
            "se#cret",
            "se@cret",
            "se%zcret",
            "se%00cret",
            "se cret",
            "se\ncret",
            "se:cret",
        ],
    )
    for odd in (
        "host=x",
        "postgresql://",
        "postgresql://h:port/d",
        "postgresql://h:123456/d",
        "postgresql://h/d?x",
    ):
        if odd != "postgresql://":
            with pytest.raises(Invalid):
                parse_address(odd)


def test_a_password_is_left_out_of_what_cannot_be_parsed() -> None:
    def check(given: str, shown: str) -> None:
        assert without_password(given) == shown

    check_rows(
        check,
        [
            ("postgresql://u:a@b@h/d", "postgresql://u@h/d"),
            ("postgresql://u:a/b@h/d", "postgresql://u@h/d"),
            ("postgresql://h:5432/d", "postgresql://h:5432/d"),
            ("postgresql://h/d?a=1&PASSWORD=x&b=2", "postgresql://h/d?a=1&PASSWORD=&b=2"),
            (
                'connection to server at "h", port 5432 failed',
                'connection to server at "h", port 5432 failed',
            ),
        ],
    )


def test_a_hostile_namespace_is_refused() -> None:
    def check(name: str) -> None:
        with pytest.raises(Invalid) as refused:
            check_namespace(name)
        assert len(str(refused.value)) < 400

    check_rows(
        check,
        [
            "",
            "/",
            "..",
            "a/../b",
            "/a",
            "a//b",
            "a/.",
            "a\0b",
            "a\nb",
            "a\\b",
            "\ud800",
            "x" * 300,
            "ä" * 101,
            "con",
            "a/b/",
        ],
    )


def test_two_names_for_one_thing_and_other_poolers_are_refused() -> None:
    for query in (
        "namespace=a&namespace=b",
        "pooler=transaction&pooler=transaction&direct=h",
        "pooler=session&direct=h",
        "pooler=transaction",
        "direct=h",
        "pooler=transaction&direct=",
        "pooler=transaction&direct=u@h",
        "pooler=transaction&direct=h/d",
    ):
        with pytest.raises(Invalid):
            parse_address(f"postgresql://h/d?{query}")


def test_the_server_behind_a_pooler_is_asked_for_the_same_database_as_the_same_role() -> None:
    def check(given: str, direct: str) -> None:
        assert parse_address(given).direct_url == direct

    check_rows(
        check,
        [
            ("postgresql://u:p@h/d?x=1", "postgresql://u:p@h/d?x=1"),
            (
                "postgresql://u:p@h:6432/d?x=1&pooler=transaction&direct=db:5432",
                "postgresql://u:p@db:5432/d?x=1",
            ),
            (
                "postgresql://u@/d?host=/run/pooler&port=6432&pooler=transaction&direct=/run/postgresql",
                "postgresql://u@/d?host=/run/postgresql",
            ),
            ("postgresql://h/d?pooler=transaction&direct=%5B::1%5D:5", "postgresql://[::1]:5/d"),
        ],
    )
