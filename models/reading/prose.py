"""Files that stand among outputs and are none: licences, notes, scripts, pictures."""

import codecs
import re
from itertools import pairwise

_DATA = re.compile(r"\s*[{\[<]")
_SEPARATORS = (",", ";", "\t", "|")
_NUMBER = re.compile(r"\s*[-+]?\d[\d.,]*(?:[eE][-+]?\d+)?\s*%?\s*")
_ENCODED = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
_LOOKED_AT = 20_000


def is_no_measurement(content: bytes) -> bool:
    r"""Whether an unrecognised file contains no measurements, such as prose, a script or a picture.

    What is empty, compressed, in UTF-16, or looks like JSON, XML or a table may be one that is
    spoilt, or of a tool that is not known: it is not passed over.

    Examples
    --------
    >>> is_no_measurement(b"Permission is hereby granted, free of charge, to any person"), (
    ...     is_no_measurement(b"clients,rate\n8,120\n")
    ... )
    (True, False)
    """
    if not content.strip() or content.startswith(_ENCODED):
        return False
    if b"\0" in content:
        return True
    text = content[:_LOOKED_AT].decode("utf-8", "replace").removeprefix("\ufeff")
    return _DATA.match(text) is None and not _is_table(text)


def _is_table(text: str) -> bool:
    """Whether two lines that follow each other have as many cells, one of them a number."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return any(
        above.count(mark) == below.count(mark) > 0
        and any(map(_NUMBER.fullmatch, below.split(mark)))
        for above, below in pairwise(lines)
        for mark in _SEPARATORS
    )
