"""HTML pages as plain text: one line per row or block, with a bar between cells."""

import re
from html.parser import HTMLParser

from headway.errors import MeasurementError, quoted

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = frozenset(
    (*_HEADINGS, "br", "caption", "div", "dd", "dl", "dt", "hr", "li", "p", "pre", "table", "tr")
)
_CELLS = frozenset(("td", "th"))
_HIDDEN = frozenset(("style", "title"))
_DANGEROUS = re.compile(r"<!ENTITY|<script\b|javascript:", re.IGNORECASE)
LONGEST = 2_000_000
"""The longest page [characters]; result pages have a tenth of it."""

_UNCLOSED = re.compile(r"<[A-Za-z/!?]")
_HANDLER = re.compile(r"<\w[^<>]*\son[a-z]+\s*=", re.IGNORECASE)

_HTML = re.compile(r"<!doctype html|<html\b|<body\b|<table\b", re.IGNORECASE)


def is_html(text: str) -> bool:
    """Whether a text is a page of HTML.

    Examples
    --------
    >>> is_html("<!DOCTYPE html><p>3 ms"), is_html("throughput_ops_s,response_ms")
    (True, False)
    """
    return bool(_HTML.search(text[:20_000]))


class _Lines(HTMLParser):
    """Collects the visible text of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self._hidden += tag in _HIDDEN
        if tag in _BLOCKS:
            self.parts.append("\n")
        elif tag in _CELLS:
            self.parts.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN and self._hidden > 0
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def html_as_text(page: str, source: str) -> str:
    """Extract the text of an HTML page; rows become lines, and bars separate their cells.

    Parameters
    ----------
    page, source
        The page, and its name for messages.

    Raises
    ------
    MeasurementError
        For a page that contains scripts or declares entities: a saved result needs neither.

    Examples
    --------
    >>> html_as_text("<table><tr><td>100<td>0.9<tr><td>200<td>1.1</table>", "page.html").split()
    ['|', '100', '|', '0.9', '|', '200', '|', '1.1']
    """
    if len(page) > LONGEST:
        msg = f"{source}: {len(page)} characters, more than the {LONGEST} allowed in a page"
        raise MeasurementError(msg)
    danger = _DANGEROUS.search(page) or _HANDLER.search(page)
    if danger:
        line = page.count("\n", 0, danger.start()) + 1
        what = "declares entities" if "ENTITY" in danger[0].upper() else "contains scripts"
        msg = f"{source}:{line}: the page {what}; save it as plain text and read that instead"
        raise MeasurementError(msg)
    parser = _Lines()
    parser.feed(page)
    if _UNCLOSED.match(parser.rawdata):  # otherwise the parser would try each character in turn
        msg = f"{source}: the page ends within {quoted(parser.rawdata[:40])}; save the whole page"
        raise MeasurementError(msg)
    parser.close()
    return "".join(parser.parts).replace("\xa0", " ")
