"""Ways to pack a text into an archive, and to spoil what comes of it."""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile

NAMES = (
    "a.csv",
    "runs/b.json",
    "b.csv",
    "c.txt",
    "d/e.csv",
    "f.csv",
    "g.csv",
    "../evil.csv",
    "/etc/c.csv",
    "d" * 90 + ".csv",
    "é.csv",
    "",
    "a.csv",
)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_FORMS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
_TYPES = (tarfile.REGTYPE,) * 6 + (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, b"S", b"z")
_SIZES = (0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 20_000_001, 300_000_000)


def _zipped(chance, content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", chance.choice(_METHODS)) as archive:
        for name in {chance.choice(NAMES) for _ in range(chance.randrange(1, 4))}:
            archive.writestr(name or "x", content)
    return stream.getvalue()


def _tarred(chance, content, mode="w"):
    stream = io.BytesIO()
    form = chance.choice(_FORMS)
    with tarfile.open(fileobj=stream, mode=mode, format=form) as archive:
        for _ in range(chance.randrange(1, 4)):
            entry = tarfile.TarInfo(chance.choice(NAMES))
            entry.type = chance.choice(_TYPES)
            entry.size = len(content) if entry.isreg() else 0
            entry.linkname = "a.csv"
            archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


PACKERS = (
    lambda _, content: gzip.compress(content, 1),
    lambda _, content: bz2.compress(content),
    lambda _, content: lzma.compress(content, preset=0),
    lambda _, content: b"\x28\xb5\x2f\xfd" + content[:200],
    _zipped,
    _zipped,
    _tarred,
    _tarred,
    lambda chance, content: _tarred(chance, content, "w:gz"),
    lambda chance, content: _tarred(chance, content, "w:xz"),
)
"""What makes an archive or a compressed file of a content; zstd is only pretended."""


def _flip(chance, content):
    place = chance.randrange(len(content))
    return content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :]


def _cut(chance, content):
    return content[: chance.randrange(len(content))]


def _lie(chance, content):
    """A false number of four bytes, as sizes and offsets are."""
    place = chance.randrange(max(1, len(content) - 60), len(content) + 1)
    place = chance.choice((place, chance.randrange(len(content))))
    return content[:place] + struct.pack("<I", chance.choice(_SIZES)) + content[place + 4 :]


def _twice(_chance, content):
    return content * 2


def _swell(chance, content):
    """A piece of it very often."""
    start = chance.randrange(len(content))
    piece = content[start : start + chance.choice((1, 46, 512))]
    return content[:start] + piece * (60_000 // max(1, len(piece))) + content[start:]


SPOILERS = (_flip, _flip, _flip, _cut, _lie, _lie, _twice, _swell)


def packed(chance, content):
    """An archive of a content, perhaps in another archive, perhaps spoilt."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 5))):
        content = chance.choice(PACKERS)(chance, content)
    for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
        content = chance.choice(SPOILERS)(chance, content or b"\0")
    return content
