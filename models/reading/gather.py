"""Files gathered: one or many, folders, patterns, archives, and what a shell pipes in."""

import glob
import io
import os
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from headway.errors import MeasurementError
from headway.models.files.intake import ARCHIVES, is_given, read_bytes
from headway.models.files.shipped import data_path, shipped_name, shipped_or_own
from headway.models.measured.measurements import LARGEST_FILE
from headway.models.reading.frames import kind_of
from headway.models.reading.long import Long

LARGEST_ARCHIVE = 256_000_000
"""Bytes that an archive may unpack to."""

MOST_FILES = 100_000
"""Files of one sweep."""

Content = tuple[str, bytes | Long]
"""A file's name, and what is in it; what is too long to be read whole is yet to be read."""


def gather(places: Sequence[str]) -> Iterator[Content]:
    """Read every file at some places, in the order of their names.

    Parameters
    ----------
    places
        Files, folders (with all below them), patterns such as ``runs/*.json``, zip and tar
        archives, ``-`` for standard input; what ships with headway, such as ``load_tests/wrk``.

    Raises
    ------
    MeasurementError
        For a place where nothing is, a file that cannot be read, an archive that unpacks beyond
        256 MB or names files outside itself.
    """
    for place in places:
        for path in _paths(place):
            yield from _contents(path)


def _contents(path: Path) -> Iterator[Content]:
    """What a file holds, or the files of an archive."""
    archive = _may_be_archive(path)
    name = shipped_name(path)
    if not archive and (long := _long(path)) is not None:
        yield name, long
        return
    yield from unpacked(name, read_bytes(path, LARGEST_ARCHIVE if archive else LARGEST_FILE))


def _long(path: Path) -> Long | None:
    """A file too long to be read whole; None of any other."""
    if is_given(path) or not _is_file(path) or path.stat().st_size <= LARGEST_FILE:
        return None
    return Long(path, path.stat().st_size)


def megabytes(places: Sequence[str]) -> int:
    """Megabytes of long files at some places, for the progress bar."""
    files = (long for place in places for path in _files(place) if (long := _long(path)))
    return sum(long.steps for long in files)


def _files(place: str) -> list[Path]:
    """Files of a place; none where it is refused as soon as it is read."""
    try:
        return [path for path in _paths(place) if not _may_be_archive(path)]
    except MeasurementError:
        return []


def _paths(place: str) -> list[Path]:
    """Files of one place, in the order of their names."""
    path = shipped_or_own(Path(place))
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


def _may_be_archive(path: Path) -> bool:
    return path.suffix.lower() in ARCHIVES


def unpacked(name: str, content: bytes) -> Iterator[Content]:
    """Give the files in an archive, or a plain file as it is.

    Raises
    ------
    MeasurementError
        For an archive that is broken, unpacks beyond 256 MB or names files outside itself.

    Examples
    --------
    >>> list(unpacked("a.csv", b"load_ops_s"))
    [('a.csv', b'load_ops_s')]
    """
    stream = io.BytesIO(content)
    try:
        if kind_of(content):  # a workbook is a zip of its own kind
            yield name, content
        elif zipfile.is_zipfile(stream):
            yield from _of_zip(name, stream)
        elif _is_tar(stream):
            yield from _of_tar(name, stream)
        else:
            yield name, content
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, RuntimeError) as error:
        msg = f"{name}: the archive cannot be unpacked ({error}); pack it again"
        raise MeasurementError(msg) from None


def _is_tar(stream: io.BytesIO) -> bool:
    stream.seek(0)
    try:
        with tarfile.open(fileobj=stream) as archive:
            return archive.next() is not None
    except (tarfile.TarError, EOFError, OSError):
        return False
    finally:
        stream.seek(0)


def _of_zip(name: str, stream: io.BytesIO) -> Iterator[Content]:
    with zipfile.ZipFile(stream) as archive:
        entries = sorted(
            (e for e in archive.infolist() if not e.is_dir()), key=lambda e: e.filename
        )
        _check(name, [(entry.filename, entry.file_size) for entry in entries])
        for entry in entries:
            with archive.open(entry) as file:
                yield f"{name}/{entry.filename}", _limited(name, file.read(LARGEST_FILE + 1))


def _of_tar(name: str, stream: io.BytesIO) -> Iterator[Content]:
    stream.seek(0)
    with tarfile.open(fileobj=stream) as archive:
        entries = sorted((e for e in archive if e.isfile()), key=lambda e: e.name)
        _check(name, [(entry.name, entry.size) for entry in entries])
        for entry in entries:
            file = archive.extractfile(entry)
            if file is not None:
                yield f"{name}/{entry.name}", _limited(name, file.read(LARGEST_FILE + 1))


def _check(name: str, entries: list[tuple[str, int]]) -> None:
    total = sum(size for _, size in entries)
    if total > LARGEST_ARCHIVE:
        msg = (
            f"{name}: unpacks to {total / 1e6:.0f} MB, above the limit of "
            f"{LARGEST_ARCHIVE / 1e6:.0f} MB"
        )
        raise MeasurementError(msg)
    for entry, _ in entries:
        parts = PurePosixPath(entry.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts:
            msg = f"{name}: names {entry!r}, which is outside the archive; pack it again"
            raise MeasurementError(msg)


def _limited(name: str, content: bytes) -> bytes:
    if len(content) > LARGEST_FILE:
        msg = f"{name}: contains a file above the limit of {LARGEST_FILE / 1e6:.0f} MB"
        raise MeasurementError(msg)
    return content
