"""Forms of traces, a row each, and the documents of a file."""

import json
import re
from collections.abc import Generator, Iterable, Iterator
from typing import Any

from headway.errors import MeasurementError
from headway.models.measured.spans.flat import FLAT
from headway.models.measured.spans.form import Form
from headway.models.measured.spans.jaeger import JAEGER
from headway.models.measured.spans.otlp import OTLP, UNDERSCORED
from headway.models.measured.spans.zipkin import ZIPKIN

FORMS = (UNDERSCORED, OTLP, JAEGER, ZIPKIN, *FLAT)
"""All forms, in the order in which they are tried."""


def form_of(text: str) -> Form | None:
    """The form of traces with which a text begins; None for any other text."""
    return next((form for form in FORMS if form.recognises(text)), None)


_NOT_BLANK = re.compile(r"\S")
_NEXT = re.compile(r"\s*([\],])\s*")
_DECODER = json.JSONDecoder()


def documents(lines: Iterable[str], source: str, opening: str = r"\[") -> Iterator[Any]:
    """One JSON document, or one on each line as collectors write them.

    Parameters
    ----------
    lines
        The lines of a file.
    source
        Its name, for messages.
    opening
        What precedes the elements of a list that count as a document each, so that a long file is
        not held in objects.

    Raises
    ------
    MeasurementError
        For text that is not JSON, with the line.

    Examples
    --------
    >>> list(documents(['{"a": 1}', "[2,", "3]"], "a.json"))
    [{'a': 1}, 2, 3]
    """
    listed = re.compile(opening)
    first = 0
    whole: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if not whole and line.startswith("{") and line.rstrip().endswith("}"):
            yield from _one_after_the_other(line, listed, number, source)
            continue
        first = first or number
        whole.append(line)
    if whole:
        text = "".join(whole)
        whole.clear()
        yield from _one_after_the_other(text, listed, first, source)


def _one_after_the_other(
    text: str, listed: re.Pattern[str], first: int, source: str
) -> Iterator[Any]:
    """Documents of a text; in most files a single one."""
    begin = 0
    try:
        while found := _NOT_BLANK.search(text, begin):
            opened = listed.match(text, found.start())
            if opened is None:
                document, begin = _DECODER.raw_decode(text, found.start())
                yield document
            else:
                begin = yield from _elements(text, found.start(), opened.end())
    except (ValueError, RecursionError) as error:
        raise _broken(error, first, source) from None


def _elements(text: str, begin: int, inside: int) -> Generator[Any, None, int]:
    """The elements of a list; returns where what holds it ends."""
    found = _NOT_BLANK.search(text, inside)
    at = last = found.start() if found else len(text)
    while text[last : last + 1] != "]":
        element, stop = _DECODER.raw_decode(text, at)
        yield element
        found = _NEXT.match(text, stop)
        if found is None:
            raise json.JSONDecodeError("", text, stop)
        last, at = found.start(1), found.end()
    rest = text[begin:inside] + text[last:]
    try:
        _, stop = _DECODER.raw_decode(rest)
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError("", text, last + error.pos - (inside - begin)) from None
    return last + stop - (inside - begin)


def _broken(error: Exception, first: int, source: str) -> MeasurementError:
    """The refusal of a text that is not JSON, whose first line has this number."""
    line = first + getattr(error, "lineno", 1) - 1
    mend = "leave that line out, or export the file again" if first > 1 else "export the file again"
    return MeasurementError(f"{source}:{line}: this JSON is invalid or truncated; {mend}")
