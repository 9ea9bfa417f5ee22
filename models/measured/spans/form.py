"""A form of traces: how its files are told from others, and how its spans are read."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from headway.models.measured.spans.span import (
    SAID,
    BrokenSpan,
    Span,
    broken_span,
    entries_of,
    text_at,
    wrong_with,
)

HEAD = 4000
"""Characters by which a form is told."""

MICRO = 1000
"""A microsecond [ns]."""

_HEXADECIMAL = re.compile(r"[0-9a-fA-F]+")
_HALF = 16  # hexadecimal digits of 64 bits


class Form(NamedTuple):
    """A form of traces.

    Parameters
    ----------
    name
        Its name, for people.
    recognises
        Whether a text that begins like this has this form.
    spans
        The spans of a file's documents; for an impossible span, what is wrong with it.
    rewritten
        The lines of a file, whose name is given too, with keys as `spans` knows them.
    opening
        What precedes the elements of a list that may be read one by one, each as a document.
    laid_out
        Whether its spans can be found in the text without parsing it
        (`headway.models.measured.spans.layout`).
    """

    name: str
    recognises: Callable[[str], bool]
    spans: Callable[[Iterable[Any], str], Iterator[Span | BrokenSpan]]
    rewritten: Callable[[Iterable[str], str], Iterable[str]] = lambda lines, _: lines
    opening: str = r"\["
    laid_out: bool = False


def marked(opening: str, *patterns: str) -> Callable[[str], bool]:
    """Whether a text begins with one of some characters, and has all of some patterns.

    Parameters
    ----------
    opening, patterns
        The characters, and regular expressions that its first 4000 characters contain.

    Examples
    --------
    >>> marked("[{", "trace")(' {"trace": 1}'), marked("[", "trace")('{"trace": 1}')
    (True, False)
    """
    marks = [re.compile(pattern) for pattern in patterns]

    def recognises(text: str) -> bool:
        head = text[:HEAD].lstrip()
        return head[:1] in tuple(opening) and all(mark.search(head) for mark in marks)

    return recognises


def checked(
    build: Callable[[Any, Any, str], Span], span: Any, about: Any, source: str
) -> Span | BrokenSpan:
    """A span, or what is wrong with it."""
    try:
        built = build(span, about, source)
    except BrokenSpan as error:
        return error
    why = wrong_with(built)
    return broken_span(source, built.trace, why) if why else built


def labels_at(
    document: Any, key: str, source: str, wanted: frozenset[str] = SAID
) -> dict[str, str]:
    """Attributes under a key with a plain value, by name, if they are among those wanted.

    Parameters
    ----------
    document, key
        An object, and the key of its attributes: a list as OTLP and Jaeger have it, or an object
        of fields, in whose names Jaeger writes ``@`` for points where it stores them.
    source
        Its file, for messages.
    wanted
        Names of attributes.

    Raises
    ------
    MeasurementError
        If it is neither.

    Examples
    --------
    >>> labels_at({"tag": {"span@kind": "server"}}, "tag", "a", frozenset(["span.kind"]))
    {'span.kind': 'server'}
    """
    held = document.get(key) if isinstance(document, dict) else None
    if isinstance(held, Mapping):
        held = [{"key": name.replace("@", "."), "value": value} for name, value in held.items()]
        return labels_of(held, wanted)
    return labels_of(entries_of(document, key, source), wanted)


def labels_of(attributes: list[Any], wanted: frozenset[str] = SAID) -> dict[str, str]:
    """Attributes with a plain value, by name, if they are among those wanted.

    Parameters
    ----------
    attributes
        OTLP attributes, or Jaeger tags.
    wanted
        Their names.

    Examples
    --------
    >>> labels_of([{"key": "http.route", "value": {"stringValue": "/check"}}])
    {'http.route': '/check'}
    """
    try:
        chosen = [each for each in attributes if each["key"] in wanted]
    except (KeyError, TypeError):  # not an object, without a name, or with a name that is not text
        chosen = [each for each in attributes if text_at(each, "key") in wanted]
    labels: dict[str, str] = {}
    for each in chosen:
        key, value = each["key"], each.get("value")
        while isinstance(value, dict):  # of one field, and of two where Go wrote its own structures
            value = next(iter(value.values()), "")
        if isinstance(value, str):
            labels[key] = value
        elif isinstance(value, int):
            labels[key] = str(value)
    return labels


def plain_trace(identifier: str) -> str:
    """The identifier of a trace as every tracer would write it: some add zeros, or capitals.

    Parameters
    ----------
    identifier
        It, in hexadecimal; any other text stays as it is.

    Examples
    --------
    >>> plain_trace("00AB12"), plain_trace("qrvM3Q==")
    ('ab12', 'qrvM3Q==')
    """
    hexadecimal = _HEXADECIMAL.fullmatch(identifier)
    return identifier.lower().lstrip("0") or "0" if hexadecimal else identifier


def caused(
    links: Sequence[tuple[str, str]], parent: str
) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    """The trace and the parent of a span by its links, the first of which counts, and the others.

    Spans with a parent in their own trace need no link; of these the trace is empty.

    Parameters
    ----------
    links
        The trace and the identifier of each span that it links to.
    parent
        The identifier of its parent; empty if there is none.

    Examples
    --------
    >>> caused([("a1", "01"), ("a2", "02")], ""), caused([("a1", "01")], "03")
    (('a1', '01', (('a2', '02'),)), ('', '03', (('a1', '01'),)))
    """
    if links and links[0][0] and nobody(parent) and not nobody(links[0][1]):
        return *links[0], tuple(links[1:])
    return "", parent, tuple(links)


def lower_half(plain: str) -> str:
    """The lower 64 of 128 bits of a trace's identifier, as `plain_trace` writes both.

    Parameters
    ----------
    plain
        The identifier, as `plain_trace` writes it; of 64 bits or other text there is no lower half.

    Examples
    --------
    >>> lower_half("463ac35c9f6413ad48485a3953bb6124"), lower_half("48485a3953bb6124")
    ('48485a3953bb6124', '')
    """
    if not _HALF < len(plain) <= 2 * _HALF or not _HEXADECIMAL.fullmatch(plain):
        return ""
    return plain[-_HALF:].lstrip("0")


def same_trace(one: str, other: str) -> bool:
    """Whether two identifiers are of one trace."""
    return one == other or plain_trace(one) == plain_trace(other)


def nobody(key: str) -> bool:
    """Whether an identifier stands for no span: empty, or only zeros.

    Parameters
    ----------
    key
        An identifier in hexadecimal, or of 64 bits in base 64, as Tempo writes it.

    Examples
    --------
    >>> nobody(""), nobody("AAAAAAAAAAA="), nobody("00000000000000a0")
    (True, True, False)
    """
    return not key.strip("0") or key == "AAAAAAAAAAA="
