"""What a file seems to be if it is not a measurement, for the message that refuses it."""

import re

_BEGINNINGS = (
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"%PDF", "a PDF document; save its table as text or CSV"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"SQLite format 3", "an SQLite database; export its table as CSV"),
    (b"\x89HDF", "an HDF5 file; export its table as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Office document; save its table as CSV"),
)
"""How files other than text begin, and what each is."""

_STAMP = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d|\w{3} +\d+ \d\d:\d\d:\d\d"
_LINES = (
    (re.compile(rf"\s*\W?(?:{_STAMP}|(?:TRACE|DEBUG|INFO|WARN|ERROR)\b)"), "a log"),
    (re.compile(r"\s*\S+ \S+ \S+ \[\d\d/\w{3}/\d{4}:"), "a web server's access log"),
    (re.compile(r"\s*</?[\w!?]"), "XML"),
    (re.compile(r"\s*(?:- )?[\w.-]+:(?:\s|$)|\s*- "), "YAML"),
)
"""How most lines of a text begin, and what it is then."""

_SEEN = 40  # lines examined
_MOST = 0.6  # share of these that must begin so

READS = "a table with a header such as throughput_ops_s,response_ms"
"""What is read from files that no tool wrote."""


def looks_like_bytes(content: bytes) -> str:
    r"""What a file is if it is not text.

    Examples
    --------
    >>> looks_like_bytes(b"\x89PNG\r\n"), looks_like_bytes(b"\0\1\xff"), looks_like_bytes(b"r\xe9")
    ('a picture (PNG)', 'binary data', 'text in another encoding; save it as UTF-8')
    """
    for beginning, what in _BEGINNINGS:
        if content.startswith(beginning):
            return what
    return "binary data" if b"\0" in content else "text in another encoding; save it as UTF-8"


def looks_like_text(text: str) -> str:
    r"""What a text is if it is not a table.

    Examples
    --------
    >>> looks_like_text("2026-11-29 10:00:00 INFO started, at last\n10:00:01 WARN slow")
    'a log'
    >>> looks_like_text("Dear all,\nthe server was slow today.")
    'text without columns'
    """
    lines = [line for line in text.splitlines() if line.strip()][:_SEEN]
    if text.startswith("#!"):
        return "a script"
    for begins, what in _LINES:
        if sum(map(bool, map(begins.match, lines))) > _MOST * len(lines):
            return what
    return "text without columns"
