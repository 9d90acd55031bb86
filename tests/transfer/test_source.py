"""Sources that somebody made to lead an import astray: nothing is written, and each is refused or told of."""

from __future__ import annotations

import gzip
import io
import os
import stat
import struct
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from growth import LINEAR, growth
from importing import tar_of, zip_of
from looseleaf.base.errors import Invalid, Refused
from looseleaf.transfer import archives as packs
from looseleaf.transfer.source import BrokenArchive, ImportSource
from tables import check_rows, in_folders

GOOD = {"notes/a.md": b"one", "notes/b.md": b"two"}
EVIL = (
    "../evil.md",
    "/etc/evil.md",
    "a/../../evil.md",
    "C:\\evil.md",
    "..\\evil.md",
    "c:evil.md",
    "bad\x07.md",
    "x\n.md",
)


def look(path: Path) -> tuple[dict[str, bytes], list[str]]:
    """All files of a source, read whole, and what was passed over."""
    with ImportSource(path) as source:
        found = {name: source.read(name, 1 << 20) or b"" for name in source.names()}
        return found, source.notes


@pytest.mark.parametrize("kind", ["folder", "zip", "tar", "tar.gz"])
def test_every_kind_gives_the_same_files(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"it.{kind}"
    if kind == "folder":
        (path / "notes").mkdir(parents=True)
        for name, data in GOOD.items():
            (path / name).write_bytes(data)
    elif kind == "zip":
        zip_of(path, {"notes/": b"", **GOOD})
    else:
        tar_of(path, {f"./{name}": data for name, data in GOOD.items()})
    assert look(path) == (GOOD, [])
    with ImportSource(path) as source:
        assert source.kind == kind.partition(".")[0]
        assert source.read("notes/a.md", 2) is None
        assert source.head("notes/a.md", 2) == b"on"
        assert all(source.modified(name) is not None for name in source.names())


def test_a_file_is_a_source_of_one(tmp_path: Path) -> None:
    (tmp_path / "talk.jsonl").write_bytes(b"{}")
    assert look(tmp_path / "talk.jsonl") == ({"talk.jsonl": b"{}"}, [])


# --- names -----------------------------------------------------------------------------------


def test_a_name_that_leads_out_is_no_name(tmp_path: Path) -> None:
    def check(tmp_path: Path, kind: str, name: str) -> None:
        path = tmp_path / "it"
        if kind == "zip":
            info = zipfile.ZipInfo("placeholder")
            info.filename = name  # as it is: the constructor would tidy it
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr(info, b"evil")
                archive.writestr("good.md", b"good")
        else:
            tar_of(path, {name: b"evil", "good.md": b"good"})
        found, notes = look(path)
        assert found == {"good.md": b"good"}
        assert len(notes) == 1
        assert "was passed over: the name" in notes[0]
        assert notes[0].isprintable()
        assert sorted(os.listdir(tmp_path)) == ["it"]

    check_rows(check, in_folders(tmp_path, product(["zip", "tar"], EVIL)))


def test_a_name_that_is_endless_is_no_name(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "it.zip", {"a/" * 40 + "x.md": b"deep", "y" * 2000: b"long", "ok.md": b"ok"})
    found, notes = look(path)
    assert found == {"ok.md": b"ok"}
    assert [note[-31:] for note in notes] == ["passed over: the name is too long."[-31:]] * 2
    assert all(len(note) < 300 for note in notes)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_of_two_files_of_one_name_the_first_counts(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "it"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.md", b"first")
            archive.writestr("a.md", b"second")
    else:
        with tarfile.open(path, "w") as tar:
            for data in (b"first", b"second"):
                info = tarfile.TarInfo("a.md")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    assert look(path) == (
        {"a.md": b"first"},
        ["'a.md' was passed over: the name occurs twice; the first file counts."],
    )


def test_names_that_differ_only_in_case_are_two_files(tmp_path: Path) -> None:
    assert look(zip_of(tmp_path / "it.zip", {"A.md": b"1", "a.md": b"2"})) == (
        {"A.md": b"1", "a.md": b"2"},
        [],
    )


# --- links and devices -------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and pipes")
def test_a_folder_is_not_left_through_a_link(tmp_path: Path) -> None:
    top, secret = tmp_path / "top", tmp_path / "secret"
    secret.mkdir()
    (secret / "key.md").write_text("key", encoding="utf-8")
    (top / "in").mkdir(parents=True)
    (top / "in" / "ok.md").write_text("ok", encoding="utf-8")
    (top / "link.md").symlink_to(secret / "key.md")
    (top / "folder").symlink_to(secret)
    os.mkfifo(top / "pipe")
    found, notes = look(top)
    assert found == {"in/ok.md": b"ok"}
    assert notes == [
        "'folder' was passed over: it is a link.",
        "'link.md' was passed over: it is a link.",
        "'pipe' was passed over: it is not a file.",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and pipes")
def test_a_file_that_became_a_link_meanwhile_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a", encoding="utf-8")
    with ImportSource(tmp_path) as source:
        (tmp_path / "a.md").unlink()
        (tmp_path / "a.md").symlink_to("/etc/passwd")
        with pytest.raises(BrokenArchive, match=r"a\.md was not read"):
            source.open("a.md")
        assert source.head("a.md") == b""


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and pipes")
def test_a_pipe_is_no_source(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "nothing", "\0"):
        with pytest.raises(Refused, match=r"Nothing was imported: .* cannot be read"):
            ImportSource(tmp_path / name if name != "\0" else f"{tmp_path}/\0")


def test_what_is_no_file_in_a_tar_is_passed_over(tmp_path: Path) -> None:
    def check(tmp_path: Path, kind: bytes) -> None:
        def change(info: tarfile.TarInfo) -> None:
            if info.name == "odd.md":
                info.type, info.linkname, info.size = kind, "/etc/passwd", 0

        path = tar_of(tmp_path / "it.tar", {"odd.md": b"", "ok.md": b"ok"}, change)
        found, notes = look(path)
        assert found == {"ok.md": b"ok"}
        assert len(notes) == 1

    check_rows(
        check,
        in_folders(
            tmp_path,
            [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE],
        ),
    )


def test_a_link_in_a_zip_is_passed_over(tmp_path: Path) -> None:
    link, device = zipfile.ZipInfo("link.md"), zipfile.ZipInfo("device")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    device.external_attr = (stat.S_IFCHR | 0o666) << 16
    with zipfile.ZipFile(tmp_path / "it.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr(device, b"")
        archive.writestr("ok.md", b"ok")
    assert look(tmp_path / "it.zip") == (
        {"ok.md": b"ok"},
        ["'link.md' was passed over: it is a link.", "'device' was passed over: it is not a file."],
    )


# --- bombs ---------------------------------------------------------------------------------------


def test_a_file_that_unpacks_to_far_too_much_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "HARMLESS", 100_000)
    path = zip_of(tmp_path / "it.zip", {"bomb.json": b" " * 2_000_000, "ok.json": b"{}" * 10})
    found, notes = look(path)
    assert set(found) == {"ok.json"}
    assert notes == ["'bomb.json' was passed over: it unpacks to far more than its size."]


def test_a_zip_of_many_files_that_unpacks_to_far_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "HARMLESS", 100_000)
    many = zip_of(tmp_path / "it.zip", {f"{number}.json": b" " * 99_000 for number in range(30)})
    with pytest.raises(Refused, match="unpacks to far more than its size"):
        ImportSource(many)
    few = zip_of(tmp_path / "few.zip", {"1.json": b" " * 99_000})
    assert len(look(few)[0]) == 1


def test_a_dot_in_a_name_hides_nothing(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "it.zip", {"a/./b.md": b"one", "././c.md": b"two", "/./d.md": b"evil"})
    found, notes = look(path)
    assert found == {"a/b.md": b"one", "c.md": b"two"}
    assert "is absolute" in notes[0]


def test_a_zip_that_lies_about_a_size_gives_no_more_than_it_says(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "it.zip", {"lie.json": b" " * 1_000_000})
    data = path.read_bytes().replace(struct.pack("<I", 1_000_000), struct.pack("<I", 1000))
    path.write_bytes(data)
    with ImportSource(path) as source:
        assert len(source.head("lie.json")) <= 1000
        with (
            pytest.raises(BrokenArchive, match="was not read to its end: Bad CRC"),
            source.open("lie.json") as stream,
        ):
            stream.read()


def test_a_tar_that_unpacks_to_far_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "HARMLESS", 100_000)
    path = tar_of(tmp_path / "it.tar.gz", {"bomb": b" " * 5_000_000, "after": b""})
    with pytest.raises(Refused, match="unpacks to far more than its size"):
        ImportSource(path)


def test_a_name_of_many_megabytes_in_a_tar_is_refused(tmp_path: Path) -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 1 << 34
    (tmp_path / "it.tar").write_bytes(header.tobuf(tarfile.GNU_FORMAT) + b"\0" * 4096)
    with pytest.raises(Refused, match=r"is a broken archive \(a name in it is longer than 16 MB\)"):
        ImportSource(tmp_path / "it.tar")


@pytest.mark.parametrize("kind", ["folder", "zip", "tar"])
def test_too_many_files_are_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "MOST_FILES", 20)
    path = tmp_path / "it"
    files = {f"{number}.md": b"" for number in range(21)}
    if kind == "folder":
        path.mkdir()
        for name in files:
            (path / name).touch()
    else:
        (zip_of if kind == "zip" else tar_of)(path, files)
    with pytest.raises(Refused, match=r"has more than 20 files\. Import a part of it"):
        ImportSource(path)


def zip_of_names(count: int, *, zip64: bool) -> bytes:
    """A zip of so many files without contents, made by hand: writing a million takes Python minutes."""
    body = struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", 20, 0, 0, 0, 0, 0, 0, 0, 1, 0) + b"x"
    entry = b"PK\x01\x02" + struct.pack("<HHHHHHIIIHHHHHII", 20, 20, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0)
    directory = b"".join(entry + b"%08x" % number for number in range(count))
    at = len(body)
    end = b""
    if zip64:
        sizes = struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, len(directory), at)
        end = b"PK\x06\x06" + sizes + b"PK\x06\x07" + struct.pack("<IQI", 0, at + len(directory), 1)
    few = min(count, 0xFFFF)
    size = 0xFFFFFFFF if zip64 else len(directory)
    end += b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, few, few, size, at, 0)
    return body + directory + end


@pytest.mark.parametrize("zip64", [True, False])
def test_a_million_entries_are_refused_before_they_are_listed(zip64: bool, tmp_path: Path) -> None:
    path = tmp_path / "it.zip"
    made = zip_of_names(10, zip64=zip64)
    path.write_bytes(made)
    with ImportSource(path) as source:  # what is made by hand is a zip
        assert len(source.names()) == 10
    few = zip_of_names(20_000, zip64=zip64)
    million = few[:31] + few[31 : 31 + 54 * 20_000] * 75
    tail = zip_of_names(0, zip64=zip64)[31:]
    size, count = 54 * 20_000 * 75, 1_500_000
    if zip64:
        tail = (
            tail[:24]
            + struct.pack("<QQQQ", count, count, size, 31)
            + tail[56:64]
            + struct.pack("<Q", 31 + size)
            + tail[72:]
        )
    else:
        tail = tail[:8] + struct.pack("<HHII", 0xFFFF, 0xFFFF, size, 31) + tail[20:]
    path.write_bytes(million + tail)
    with pytest.raises(Refused, match="has more than 200,000 files"):
        ImportSource(path)


# --- broken --------------------------------------------------------------------------------------


def test_an_encrypted_file_is_passed_over_and_said_to_be(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "it.zip", {"secret.md": b"secret", "ok.md": b"ok"})
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + at] |= 1
    path.write_bytes(data)
    found, notes = look(path)
    assert found == {"ok.md": b"ok"}
    assert notes == [
        "'secret.md' was passed over: it is encrypted; unpack it with its password, and import the folder."
    ]


def test_a_damaged_file_is_broken_and_the_others_are_read(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "it.zip", {"bad.md": os.urandom(5000), "ok.md": b"ok"})
    data = bytearray(path.read_bytes())
    data[100:140] = b"\0" * 40
    path.write_bytes(data)
    with ImportSource(path) as source:
        assert source.read("ok.md", 10) == b"ok"
        with pytest.raises(BrokenArchive, match=r"it\.zip: bad\.md was not read to its end"):
            source.read("bad.md", 10_000)


def test_a_packing_that_is_not_known_is_broken(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "it.zip", {"a.md": b"text"})
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        data[data.index(mark) + at] = 97
    path.write_bytes(data)
    with ImportSource(path) as source, pytest.raises(BrokenArchive, match=r"a\.md was not read"):
        source.open("a.md")


@pytest.mark.parametrize("head", [b"BZh91AY", b"\xfd7zXZ\0", b"7z\xbc\xaf'\x1c", b"Rar!\x1a\x07"])
def test_other_packings_are_refused_with_the_next_step(head: bytes, tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(head + b"\0" * 600)
    with pytest.raises(Invalid, match=r"the packing of .* is not supported\. Unpack it"):
        ImportSource(tmp_path / "it")


def test_a_broken_archive_is_refused(tmp_path: Path) -> None:
    def check(tmp_path: Path, data: bytes) -> None:
        (tmp_path / "it").write_bytes(data)
        with pytest.raises(Refused, match="is a broken archive"):
            ImportSource(tmp_path / "it")

    check_rows(
        check,
        in_folders(
            tmp_path,
            [
                b"PK\x03\x04" + b"\0" * 100,
                b"PK\x05\x06" + b"\xff" * 18,
                gzip.compress(b"no tar" * 200, mtime=0),
                gzip.compress(b"x" * 2000, mtime=0)[:40],
                b"\x1f\x8b" + b"\0" * 50,
                b"\x1f\x8b\x08\0\0\0\0\0\0\0" + zlib.compress(b"x")[2:-6],
            ],
        ),
    )


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir(mode=0)
    assert look(tmp_path) == ({}, ["'shut' was passed over: Permission denied."])


def test_folders_that_never_end_are_left(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 40)
    deep.mkdir(parents=True)
    (deep / "x.md").touch()
    found, notes = look(tmp_path)
    assert found == {}
    assert len(notes) == 1
    assert "it is too deep" in notes[0]


def test_an_archive_within_an_archive_stays_shut(tmp_path: Path) -> None:
    inner = zip_of(tmp_path / "inner.zip", {"a.md": b"one"}).read_bytes()
    assert look(zip_of(tmp_path / "outer.zip", {"inner.zip": inner})) == ({"inner.zip": inner}, [])


def test_reading_a_tar_takes_time_in_proportion(tmp_path: Path) -> None:
    def read_all(size: int) -> Callable[[], object]:
        files = {f"{number:05d}.md": b"text" * 50 for number in range(size)}
        path = tar_of(tmp_path / f"{size}.tar.gz", files)
        return lambda: look(path)

    assert growth(read_all, 30) < LINEAR
