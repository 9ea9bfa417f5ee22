"""Compressed files as streams, read to their end, where their checksums are, within limits."""

import io
import re
import struct
import sys
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, BinaryIO, Protocol

from headway.errors import HeadwayError, MeasurementError
from headway.lazy import needed

GZIP, BZIP2, XZ, ZSTD, DEFLATE, LZMA = "gzip", "bzip2", "xz", "zstd", "deflate", "LZMA"

_STARTS = {
    GZIP: re.compile(rb"\x1f\x8b\x08"),
    BZIP2: re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    XZ: re.compile(rb"\xfd7zXZ\0"),
    ZSTD: re.compile(rb"\x28\xb5\x2f\xfd"),
}
"""How a compressed file begins: RFC 1952, bzip2's block and end marks, the xz format, RFC 8878."""

MOST_GROWTH = 200
"""Unpacked bytes per packed byte above which a file is refused.

Measured (gzip, ``xz -9``): logs of requests 11 and 19, ten results of fio 16 and 22, all sample
outputs of tools 7 and 14. Bombs give about 1,000 (gzip) and more.
"""

_GROWN = 16_000_000
"""Bytes to which any file may unpack before its ratio counts."""

_MEMORY = 512 * 2**20
"""Most memory of a decompressor [B]; ``xz -9`` needs 65 MiB."""

_ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
_PIECE = 65536


class Machine(Protocol):
    """A decompressor: the interface of `bz2.BZ2Decompressor` and its siblings."""

    @property
    def eof(self) -> bool:
        """Whether its stream has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing is left to unpack."""

    @property
    def unused_data(self) -> bytes:
        """What follows the end of its stream."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Unpack at most a number of bytes."""


class _Zlib:
    """zlib with the interface of the others."""

    def __init__(self, bits: int) -> None:
        self._machine = zlib.decompressobj(bits)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._machine.eof

    @property
    def unused_data(self) -> bytes:
        return self._machine.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        machine = self._machine
        result = machine.decompress(machine.unconsumed_tail + data, max_length)
        self.needs_input = not machine.unconsumed_tail and len(result) < max_length
        return result


def _bzip2(_source: str) -> Machine:
    import bz2

    return bz2.BZ2Decompressor()


def _lzma(form: str, _source: str) -> Machine:
    import lzma

    return lzma.LZMADecompressor(getattr(lzma, form), memlimit=_MEMORY)


def _zstd(source: str) -> Machine:
    [module] = needed(f"{source}: is compressed by zstd", _ZSTD)
    machine: Machine = module.ZstdDecompressor()
    return machine


_MACHINES: Mapping[str, Callable[[str], Machine]] = {
    GZIP: lambda _: _Zlib(31),
    DEFLATE: lambda _: _Zlib(-15),
    BZIP2: _bzip2,
    XZ: partial(_lzma, "FORMAT_XZ"),
    LZMA: partial(_lzma, "FORMAT_ALONE"),
    ZSTD: _zstd,
}


def compression(content: bytes) -> str:
    r"""How a file is compressed, by its first bytes; empty if it is not.

    Examples
    --------
    >>> compression(b"\x1f\x8b\x08"), compression(b"BZhang,12")
    ('gzip', '')
    """
    return next((kind for kind, start in _STARTS.items() if start.match(content)), "")


class UnpackLimit:
    """What may still be unpacked from a file, and from the files in it.

    Parameters
    ----------
    source
        The file's name, for messages.
    most
        Most bytes.
    members
        Most files.
    """

    def __init__(self, source: str, most: int, members: int = 1) -> None:
        self._source, self._most, self._members = source, most, members
        self._bytes = self._files = 0

    def take(self, size: int) -> None:
        """Use part of the bytes allowed.

        Raises
        ------
        MeasurementError
            If there are not enough.
        """
        self._bytes += size
        if self._bytes > self._most:
            msg = (
                f"{self._source}: unpacks to more than the limit of {self._most / 1e6:.0f} MB; "
                "pack fewer or shorter files"
            )
            raise MeasurementError(msg)

    def add(self, files: int = 1) -> None:
        """Use part of the files allowed.

        Raises
        ------
        MeasurementError
            If there are not enough.
        """
        self._files += files
        if self._files > self._members:
            msg = (
                f"{self._source}: contains more files than the limit of {self._members:,}; pack "
                "fewer together"
            )
            raise MeasurementError(msg)


def damaged(source: str, why: str) -> MeasurementError:
    """The error for a file that cannot be unpacked."""
    return MeasurementError(f"{source}: cannot be unpacked ({why}); copy or pack it again")


class Unpacking(io.RawIOBase):
    """The content of a compressed file, from beginning to end.

    Parameters
    ----------
    file
        The compressed bytes.
    kind
        Its kind, as `compression` returns it.
    source
        The file's name, for messages.
    room
        What may be unpacked; None for a file that is read line by line.

    Raises
    ------
    MeasurementError
        While reading: for a file that is damaged or ends too early, unpacks to more than is
        allowed, or to more than 200 times its size.
    """

    def __init__(
        self, file: BinaryIO, kind: str, source: str, room: UnpackLimit | None = None
    ) -> None:
        super().__init__()
        self._file, self._kind, self._source, self._room = file, kind, source, room
        self._machine = _MACHINES[kind](source)
        self._taken = self._given = 0

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def close(self) -> None:
        """Close the file as well."""
        self._file.close()
        super().close()

    def readinto(self, buffer: Any, /) -> int:
        """Unpack as much as fits."""
        view = memoryview(buffer)
        try:
            data = self._next(len(view))
        except HeadwayError:
            raise
        # each module has errors of its own, and ValueError, and EOFError
        except Exception as error:
            raise self._damaged(str(error)) from None
        view[: len(data)] = data
        self._count(len(data))
        return len(data)

    def _next(self, most: int) -> bytes:
        while True:
            packed = self._packed()
            if self._machine.eof:
                return b""
            data = self._machine.decompress(packed, most)
            if data:
                return data

    def _packed(self) -> bytes:
        """The next packed bytes for the decompressor; a new one if another stream follows."""
        if self._machine.eof:
            rest = self._machine.unused_data + self._more()
            while rest and not rest.strip(b"\0"):  # tapes pad files with zeros
                rest = self._more()
            rest = rest.lstrip(b"\0")
            if rest and compression(rest) != self._kind:
                raise self._damaged("something else follows its end")
            if rest:
                self._machine = _MACHINES[self._kind](self._source)
            return rest
        if not self._machine.needs_input:
            return b""
        more = self._more()
        if not more:
            raise self._damaged("it ends too early")
        return more

    def _more(self) -> bytes:
        piece = self._file.read(_PIECE)
        self._taken += len(piece)
        return piece

    def _damaged(self, why: str) -> MeasurementError:
        return damaged(self._source, f"{self._kind}: {why[:100]}")

    def _count(self, size: int) -> None:
        self._given += size
        if self._room is not None:
            self._room.take(size)
        if self._given > _GROWN and self._given > MOST_GROWTH * self._taken:
            msg = (
                f"{self._source}: unpacks to more than {MOST_GROWTH} times its size, which "
                "measurements do not; check that this is the right file"
            )
            raise MeasurementError(msg)


def stated(content: bytes) -> int:
    """Unpacked size that a gzip file states at its end; 0 for any other file.

    With several streams it is the size of the last one, and sizes are modulo 2**32: never too
    large.
    """
    is_gzip = compression(content) == GZIP and len(content) > 18
    return int(struct.unpack("<I", content[-4:])[0]) if is_gzip else 0


def unpacking(
    file: BinaryIO, kind: str, source: str, room: UnpackLimit | None = None
) -> io.BufferedReader:
    """Open a compressed stream as `Unpacking`, buffered."""
    return io.BufferedReader(Unpacking(file, kind, source, room), _PIECE)


def unpacked_whole(content: bytes, source: str, largest: int) -> bytes:
    """Unpack a single compressed file; a file that is not compressed is returned as it is.

    Parameters
    ----------
    content, source
        Its bytes, and its name for messages.
    largest
        Most bytes to which it may unpack.

    Raises
    ------
    MeasurementError
        As `Unpacking`.

    Examples
    --------
    >>> import gzip
    >>> unpacked_whole(gzip.compress(b"load_ops_s"), "a.csv.gz", 1000)
    b'load_ops_s'
    """
    kind = compression(content)
    if not kind:
        return content
    with unpacking(io.BytesIO(content), kind, source, UnpackLimit(source, largest)) as stream:
        return stream.read()


def lzma_of_zip(data: bytes, size: int, *, marked: bool) -> bytes:
    """LZMA data of a zip file, with the header of an LZMA file.

    Parameters
    ----------
    data
        Version, length and properties of the stream, then the stream (APPNOTE 5.8.8).
    size, marked
        Unpacked size in bytes, and whether a marker shows the end.
    """
    if len(data) < 9 or struct.unpack_from("<H", data, 2)[0] != 5:
        msg = "no LZMA properties"
        raise ValueError(msg)
    return data[4:9] + (b"\xff" * 8 if marked else struct.pack("<Q", size)) + data[9:]
