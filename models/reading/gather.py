"""Collect files: one or many, folders, patterns, archives, and standard input."""

import glob
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from headway.errors import MeasurementError
from headway.models.files.archives import is_tar, is_zip, tar_members, zip_members
from headway.models.files.intake import check_allowed, is_given, read_bytes
from headway.models.files.packed import UnpackLimit, compression, stated, unpacking
from headway.models.files.shipped import data_path, shipped_name, shipped_or_own
from headway.models.measured.measurements import LARGEST_FILE
from headway.models.reading.frames import kind_of
from headway.models.reading.long import Long

LARGEST_ARCHIVE = 256_000_000
"""Most bytes to which an archive may unpack."""

MOST_FILES = 100_000
"""Most files read at once."""

MOST_MEMBERS = 10_000
"""Most files in one archive, including the archives in it."""

DEEPEST = 3
"""Deepest nesting of archives and compressed files: ``runs.zip/monday.tgz/run.jtl.gz``."""

_START = 512  # first bytes of a file, by which archives are recognised

Content = tuple[str, bytes | Long]
"""A file's name and content; a file too long to be read whole is read later."""


def gather(places: Sequence[str]) -> Iterator[Content]:
    """Read every file at given places, in the order of their names.

    Parameters
    ----------
    places
        Files, compressed or not; folders (with everything below them); patterns such as
        ``runs/*.json``; zip and tar archives; ``-`` for standard input; files that ship with
        headway, such as ``load_tests/wrk``.

    Raises
    ------
    MeasurementError
        For a place that does not exist, a file that cannot be read, and an archive that `unpacked`
        refuses.
    """
    for place in places:
        for path in _paths(place):
            yield from _contents(path)


def _contents(path: Path) -> Iterator[Content]:
    """The content of a file, or the files of an archive."""
    name, start = shipped_name(path), _start(path)
    long = Long(path, compression(start))
    if start and _is_archive(long, start):
        yield from unpacked(name, read_bytes(path, LARGEST_ARCHIVE))
    elif start and (long.packed or path.stat().st_size > LARGEST_FILE):
        content = long.whole(LARGEST_FILE)
        yield name, long if content is None else content
    else:
        yield from unpacked(name, read_bytes(path, LARGEST_FILE))


def _is_archive(long: Long, start: bytes) -> bool:
    """Whether a file, or what it unpacks to, is an archive."""
    head = long.head() if long.packed else start
    return (
        is_zip(start) or is_tar(head) or bool(long.packed and (compression(head) or is_zip(head)))
    )


def _start(path: Path) -> bytes:
    """The first bytes of a file; none if it cannot be read, or can be read only once."""
    if is_given(path) or not _is_file(path):
        return b""
    with suppress(OSError, ValueError):
        check_allowed(path)
        with path.open("rb") as file:
            return file.read(_START)
    return b""


def megabytes(places: Sequence[str]) -> int:
    """Megabytes of long files at given places, for the progress bar."""
    files = [path for place in places for path in _files(place)]
    sizes = {path: _size(path) for path in files}
    return sum(
        Long.steps_of(size)
        for path, size in sizes.items()
        if size > LARGEST_FILE or compression(_start(path))
    )


def _files(place: str) -> list[Path]:
    """Files of a place; none if it will be refused when it is read."""
    try:
        return _paths(place)
    except MeasurementError:
        return []


def _size(path: Path) -> int:
    return path.stat().st_size if _is_file(path) else 0


def _paths(place: str) -> list[Path]:
    """Files of one place, in the order of their names."""
    path = shipped_or_own(Path(place))
    try:
        check_allowed(path)
    except PermissionError as error:
        msg = f"{place}: cannot be read ({error.strerror})"
        raise MeasurementError(msg) from None
    if is_given(path) or _is_file(path):
        return [path]
    if os.path.isdir(path):  # noqa: PTH112 - takes any name at all
        files = sorted(p for p in path.rglob("*") if p.is_file() and not _hidden(p, path))
        nothing = "is a folder without files; give one with result files"
    else:
        files = _matching(place) or _matching(str(data_path(place)))
        nothing = (
            "there is no such file"
            if not glob.has_magic(place)
            else "matches no file; check the pattern"
        )
    if not files:
        msg = f"{place}: {nothing}"
        raise MeasurementError(msg)
    if len(files) > MOST_FILES:
        msg = (
            f"{place}: {len(files)} files are more than the limit of {MOST_FILES:,} in "
            "one sweep; read fewer at a time"
        )
        raise MeasurementError(msg)
    return files


def _matching(pattern: str) -> list[Path]:
    return sorted(Path(p) for p in glob.glob(pattern, recursive=True) if _is_file(Path(p)))  # noqa: PTH207


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 - takes any name at all


def _hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def unpacked(name: str, content: bytes) -> Iterator[Content]:
    """The files in an archive, and in archives inside it; a plain file as it is.

    A compressed file is treated as what it unpacks to.

    Raises
    ------
    MeasurementError
        For an archive that is damaged, unpacks to more than 256 MB, contains more than 10,000 files
        or archives more than three deep, or names files outside itself.

    Examples
    --------
    >>> list(unpacked("a.csv", b"load_ops_s"))
    [('a.csv', b'load_ops_s')]
    """
    yield from _opened(name, content, UnpackLimit(name, LARGEST_ARCHIVE, MOST_MEMBERS), 0)


def _opened(name: str, content: bytes, room: UnpackLimit, deep: int) -> Iterator[Content]:
    kind = compression(content)
    is_archive = bool(kind) or is_zip(content) or is_tar(content)
    if not is_archive or kind_of(content):  # a workbook is a zip file, but of its own kind
        yield name, content
        return
    if deep >= DEEPEST:
        msg = f"{name}: is an archive in {DEEPEST} others; unpack them"
        raise MeasurementError(msg)
    if is_zip(content):
        members = zip_members(content, name, LARGEST_FILE, room)
    elif kind:
        members = iter(_of_stream(name, content, kind, room))
    else:
        members = iter(tar_members(io.BytesIO(content), name, LARGEST_FILE, room))
    for inner, member in members:
        yield from _opened(f"{name}/{inner}" if inner else name, member, room, deep + 1)


def _of_stream(name: str, content: bytes, kind: str, room: UnpackLimit) -> list[tuple[str, bytes]]:
    """The files of a compressed tar archive, or a single file without a name of its own."""
    UnpackLimit(name, LARGEST_ARCHIVE).take(stated(content))
    with unpacking(io.BytesIO(content), kind, name, UnpackLimit(name, LARGEST_ARCHIVE)) as stream:
        if is_tar(stream.peek(_START)):
            return tar_members(stream, name, LARGEST_FILE, room)
        member = stream.read(LARGEST_FILE + 1)
        room.take(len(member))
    if len(member) > LARGEST_FILE:
        msg = f"{name}: unpacks to a file above the limit of {LARGEST_FILE / 1e6:.0f} MB"
        raise MeasurementError(msg)
    return [("", member)]
