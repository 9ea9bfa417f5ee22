"""Untrusted XML: no entities, no document types, and a limit on every size."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from headway.errors import MeasurementError, ModelFileError, quoted
from headway.models.files.archives import is_folder, is_zip, zip_entries, zip_members
from headway.models.files.intake import read_bytes
from headway.models.files.packed import GZIP, UnpackLimit, compression, unpacking

LARGEST_FILE = 10_000_000
"""Largest size of a file, and of the content of a compressed one [B]."""

MOST_ELEMENTS = 200_000
"""Most elements of a file; a station with a class takes about thirty in JSIMg, five in JMVA."""

DEEPEST = 40
"""Deepest nesting of elements."""

_FORBIDDEN = (b"<!DOCTYPE", b"<!ENTITY")
_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']""")
_PLAIN = ("utf-8", "iso-8859-1", "us-ascii")
_PIECE = 65536
_MOST_ENTRIES = 100  # of a compressed model: folders beside its file


def read_xml(path: Path) -> Element:
    """Read an XML file, compressed by gzip or zip or not.

    Raises
    ------
    ModelFileError
        For a file that cannot be read, is too large or too deeply nested, contains a document type
        or entities, has an encoding that could hide them, or is not XML.
    """
    return parse_xml(read_content(path), str(path))


def read_content(path: Path) -> bytes:
    """The bytes of a file, unpacked.

    Raises
    ------
    ModelFileError
        For a file that cannot be read, or is too large.
    """
    try:
        content = read_bytes(path, LARGEST_FILE)
    except MeasurementError as error:
        raise ModelFileError(str(error).replace("a table", "a model file")) from None
    return _unpacked(content, str(path))


def parse_xml(content: bytes, source: str) -> Element:
    r"""Parse the bytes of an XML file.

    Parameters
    ----------
    content, source
        Its bytes, and its name for messages.

    Examples
    --------
    >>> parse_xml(b"<model><parameters/></model>", "shop.jmva")[0].tag
    'parameters'
    >>> parse_xml(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "a.jmva")
    Traceback (most recent call last):
        ...
    headway.errors.ModelFileError: a.jmva: contains a document type; models need none: remove it
    """
    _check_encoding(content, source)
    if any(mark in content for mark in _FORBIDDEN):
        msg = f"{source}: contains a document type; models need none: remove it"
        raise ModelFileError(msg)
    try:
        return _parsed(content, source)
    except (ParseError, ValueError, LookupError) as error:
        if isinstance(error, ModelFileError):
            raise
        msg = f"{source}: not XML: {str(error)[:200]}; export the model again"
        raise ModelFileError(msg) from None


def _check_encoding(content: bytes, source: str) -> None:
    """Refuse encodings that could hide a document type."""
    declared = _ENCODING.match(content.removeprefix(b"\xef\xbb\xbf"))
    name = declared[1].decode("ascii", "replace").lower() if declared else "utf-8"
    if name not in _PLAIN or b"\x00" in content:
        encoding = quoted(name) if name not in _PLAIN else "one with two bytes a character"
        msg = f"{source}: its encoding is {encoding}; save it as one of {', '.join(_PLAIN)}"
        raise ModelFileError(msg)


def _parsed(content: bytes, source: str) -> Element:
    """Parse piece by piece, so that oversized files are refused early."""
    parser: XMLPullParser[Element] = XMLPullParser(("start", "end"))
    root: Element | None = None
    depth = count = 0
    for start in range(0, max(len(content), 1), _PIECE):
        parser.feed(content[start : start + _PIECE])
        for event, element in _events(parser):
            root = element if root is None else root
            depth += 1 if event == "start" else -1
            count += event == "start"
            _check_size(depth, count, source)
    parser.close()
    if root is None:
        msg = f"{source}: not XML: it is empty; export the model again"
        raise ModelFileError(msg)
    return root


def _events(parser: "XMLPullParser[Element]") -> Iterator[tuple[str, Element]]:
    """Starts and ends of elements only."""
    for event, element in parser.read_events():  # type: ignore[misc]
        if isinstance(element, Element):
            yield event, element


def _check_size(depth: int, count: int, source: str) -> None:
    if depth > DEEPEST:
        msg = f"{source}: elements are nested more than {DEEPEST} deep; this is not a model file"
        raise ModelFileError(msg)
    if count > MOST_ELEMENTS:
        msg = (
            f"{source}: contains more than {MOST_ELEMENTS} elements; use fewer stations or classes"
        )
        raise ModelFileError(msg)


def _unpacked(content: bytes, source: str) -> bytes:
    """Content of a compressed file, up to the limit for model files."""
    if not (compression(content) == GZIP or is_zip(content)):
        return content
    try:
        content = _whole(content, source)
    except MeasurementError:
        msg = f"{source}: cannot be decompressed; unpack it and give the XML file"
        raise ModelFileError(msg) from None
    if len(content) > LARGEST_FILE:
        msg = (
            f"{source}: unpacks to more than {LARGEST_FILE / 1e6:.0f} MB, the limit for model "
            "files; use a smaller one"
        )
        raise ModelFileError(msg)
    return content


def _whole(content: bytes, source: str) -> bytes:
    """Content of a compressed file; of more than the limit, a little more than that."""
    if not is_zip(content):
        with unpacking(io.BytesIO(content), GZIP, source) as stream:
            return stream.read(LARGEST_FILE + 1)
    entries = zip_entries(content, source, UnpackLimit(source, LARGEST_FILE, _MOST_ENTRIES))
    files = [entry for entry in entries if not is_folder(entry)]
    if len(files) != 1:
        msg = f"{source}: contains {len(files)} files; a compressed model has one"
        raise ModelFileError(msg)
    if files[0].file_size > LARGEST_FILE:
        return bytes(LARGEST_FILE + 1)
    room = UnpackLimit(source, LARGEST_FILE, _MOST_ENTRIES)
    return next(content for _, content in zip_members(content, source, LARGEST_FILE, room))
