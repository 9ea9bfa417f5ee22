"""Zip and tar archives: their files, one after another, within limits and without writing any."""

import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import BinaryIO

from headway.errors import HeadwayError, MeasurementError, quoted
from headway.models.files.packed import (
    BZIP2,
    DEFLATE,
    LZMA,
    ZSTD,
    UnpackLimit,
    damaged,
    lzma_of_zip,
    unpacking,
)

Member = tuple[str, bytes]
"""The name of a file in an archive, and its content."""

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_ENTRY = b"PK\x01\x02"
_METHODS = {8: DEFLATE, 12: BZIP2, 14: LZMA, 93: ZSTD}
"""Numbers that zip files use for compressions (APPNOTE 4.4.5); 0 is none."""

_ENCRYPTED, _MARKED = 0x1, 0x2
_BLOCK = 512
_LONGEST_NAME = 1_000_000
_ATTRIBUTES = "xgLK"
"""Types of entries that describe the next one: pax headers, long names and targets of links."""


def is_zip(head: bytes) -> bool:
    """Whether a file that begins like this is a zip archive."""
    return head.startswith(_ZIP_STARTS)


def is_tar(head: bytes) -> bool:
    r"""Whether a file that begins like this is a tar archive: its first block's sum is right.

    Examples
    --------
    >>> is_tar(b"load_ops_s,response_ms\n"), is_tar(bytes(512))
    (False, False)
    """
    try:
        tarfile.TarInfo.frombuf(head[:_BLOCK], "utf-8", "replace")
    except tarfile.HeaderError:
        return False
    return True


@contextmanager
def _readable(source: str) -> Iterator[None]:
    """Refuse what the standard library cannot read, whatever error it raises."""
    try:
        yield
    except HeadwayError:
        raise
    except Exception as error:
        raise damaged(source, str(error)[:100] or type(error).__name__) from None


def zip_entries(content: bytes, source: str, room: UnpackLimit) -> list[zipfile.ZipInfo]:
    """Read the directory of a zip archive.

    Raises
    ------
    MeasurementError
        For an archive that is damaged, or contains more files than allowed.
    """
    room.add(content.count(_ENTRY))  # before the directory is read, which takes time
    with _readable(source), zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.infolist()


def zip_members(content: bytes, source: str, largest: int, room: UnpackLimit) -> Iterator[Member]:
    """Unpack a zip archive, file by file in the order of their names.

    Parameters
    ----------
    content, source
        The archive, and its name for messages.
    largest
        Most bytes of one file.
    room
        What may be unpacked in all.

    Raises
    ------
    MeasurementError
        For an archive that is damaged, encrypted or too large, or names files outside itself.
    """
    entries = zip_entries(content, source, room)
    files = {entry.filename: entry for entry in entries if not _is_special(entry)}
    for name, entry in sorted(files.items()):
        _check_name(name, source)
        _check_size(entry.file_size, source, largest)
        room.take(entry.file_size)
    for name, entry in sorted(files.items()):
        with _readable(f"{source}/{name}"):
            member = _of_entry(content, entry, f"{source}/{name}")
        yield name, member


def is_folder(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry of a zip archive is a folder; its name may be empty."""
    return entry.filename.endswith("/")


def _is_special(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry is a folder or a link."""
    return is_folder(entry) or stat.S_ISLNK(entry.external_attr >> 16)


def _of_entry(content: bytes, entry: zipfile.ZipInfo, source: str) -> bytes:
    """One file of a zip archive, unpacked to the size stated in the directory."""
    if entry.flag_bits & _ENCRYPTED:
        msg = f"{source}: is encrypted; unpack it and give its files"
        raise MeasurementError(msg)
    packed = _packed(content, entry, source)
    if entry.compress_type == 0:
        member = packed
    elif (kind := _METHODS.get(entry.compress_type, "")) == "":
        msg = (
            f"{source}: its compression (method {entry.compress_type}) is not supported; pack it "
            "again with deflate"
        )
        raise MeasurementError(msg)
    else:
        if kind == LZMA:
            marked = bool(entry.flag_bits & _MARKED)
            packed = lzma_of_zip(packed, entry.file_size, marked=marked)
        with unpacking(io.BytesIO(packed), kind, source) as stream:
            member = stream.read(entry.file_size + 1)
    if len(member) != entry.file_size or zlib.crc32(member) != entry.CRC:
        raise damaged(source, "its size or CRC is not that of the directory")
    return member


def _packed(content: bytes, entry: zipfile.ZipInfo, source: str) -> bytes:
    """The bytes of a file as they are in a zip archive, after its local header."""
    start = entry.header_offset
    head = content[start : start + 30]
    if len(head) < 30 or not head.startswith(_ZIP_STARTS[0]):
        raise damaged(source, "the directory says a wrong place")
    name, more = struct.unpack("<HH", head[26:])
    begin = start + 30 + name + more
    return content[begin : begin + entry.compress_size]


def tar_members(stream: BinaryIO, source: str, largest: int, room: UnpackLimit) -> list[Member]:
    """Unpack a tar archive; links, devices and folders are left out.

    If a name is repeated, the last file counts, as when an archive is unpacked to disk.

    Parameters
    ----------
    stream
        The archive, already decompressed; it is read to its end, where its checksum is.
    source, largest, room
        As for `zip_members`.

    Raises
    ------
    MeasurementError
        For an archive that is damaged or too large, or names files outside itself.
    """
    files: dict[str, bytes] = {}
    told: dict[str, str] = {}
    while (header := _header(stream, source)) is not None:
        room.add()
        if header.type.decode("latin-1") in _ATTRIBUTES:
            told |= _told(header, stream, source)
            continue
        if header.isreg():
            name, size = told.get("path", header.name), _size(header, told, source)
            _check_entry(header, told, name, source)
            _check_size(size, source, largest)
            room.take(size)
            files[name] = _exactly(stream, size, source)
        elif header.type not in tarfile.SUPPORTED_TYPES:
            raise damaged(source, f"an entry of unknown type {header.type!r}")
        told = {}
    while stream.read(_BLOCK * 128):
        pass
    return sorted(files.items())


def _header(stream: BinaryIO, source: str) -> tarfile.TarInfo | None:
    """The next header; None at the end, which is a block of zeros or nothing."""
    block = stream.read(_BLOCK)
    if not block.strip(b"\0"):
        return None
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        raise damaged(source, str(error)) from None
    if header.size < 0:
        raise damaged(source, "a size below 0")
    return header


def _told(header: tarfile.TarInfo, stream: BinaryIO, source: str) -> dict[str, str]:
    """What an entry says of the next one, under pax's names."""
    if header.size > _LONGEST_NAME:
        raise damaged(source, "a name of more than a megabyte")
    data = _exactly(stream, header.size, source)
    if header.type == tarfile.GNUTYPE_LONGNAME:
        return {"path": _name(data.rstrip(b"\0"))}
    return _records(data, source) if header.type == tarfile.XHDTYPE else {}


def _records(data: bytes, source: str) -> dict[str, str]:
    """Records of a pax header: length, space, key, equals sign, value, line break."""
    records: dict[str, str] = {}
    start, data = 0, data.rstrip(b"\0")
    while start < len(data):
        space = data.find(b" ", start, start + 20)
        length = data[start:space] if space > start else b""
        end = start + int(length) if length.isdigit() else start
        key, equals, value = data[space + 1 : end - 1].partition(b"=")
        if not equals or not start < space < end <= len(data):
            raise damaged(source, "a broken pax header")
        records[_name(key)] = _name(value)
        start = end
    return records


def _name(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _size(header: tarfile.TarInfo, told: dict[str, str], source: str) -> int:
    """Bytes after a header: as its pax header says, or else as it says itself."""
    said = told.get("size", str(header.size))
    if not (said.isascii() and said.isdigit()):
        raise damaged(source, f"a size of {quoted(said)}")
    return int(said[:30])


def _exactly(stream: BinaryIO, size: int, source: str) -> bytes:
    """A number of bytes, and skip what fills their last block."""
    data = stream.read(size)
    filling = stream.read(-size % _BLOCK)
    if len(data) + len(filling) < size + -size % _BLOCK:
        raise damaged(source, "it ends too early")
    return data


def _check_entry(header: tarfile.TarInfo, told: dict[str, str], name: str, source: str) -> None:
    """Refuse sparse files, and names outside the archive."""
    if header.type == tarfile.GNUTYPE_SPARSE or any(key.startswith("GNU.sparse") for key in told):
        msg = f"{source}: {quoted(name)} is stored with holes; pack it without --sparse"
        raise MeasurementError(msg)
    _check_name(name, source)


def _check_name(name: str, source: str) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        msg = f"{source}: names {quoted(name)}, which is outside the archive; pack it again"
        raise MeasurementError(msg)


def _check_size(size: int, source: str, largest: int) -> None:
    if size > largest:
        msg = f"{source}: contains a file above the limit of {largest / 1e6:.0f} MB"
        raise MeasurementError(msg)
