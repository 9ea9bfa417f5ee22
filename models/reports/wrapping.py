"""Formulas in pieces that fit on a line of a page, as browsers do not break MathML themselves."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator

WIDE, NARROW = 62.0, 30.0
"""Length of a line on a screen and on a telephone, in digits of a formula."""

_SMALL = 0.75  # size of a subscript or exponent, relative to the rest
_SPACED = 1.6  # width of an operator with the space around it, in digits
_GLUED = frozenset("),")
_OPENING = frozenset("({")

Pieces = list[ET.Element]


def wrapped(mathml: str, room: float) -> list[str]:
    """Break a formula where a line may end: before an operator, or after an opening bracket.

    A fraction that does not fit on a line is written with a slash.

    Parameters
    ----------
    mathml
        A single element, without the enclosing ``math``.
    room
        Length of a line, in digits.

    Returns
    -------
    The pieces in order, as MathML.

    Examples
    --------
    >>> formula = "<mrow><mi>a</mi><mo>=</mo><mi>b</mi><mo>+</mo><mi>c</mi></mrow>"
    >>> wrapped(formula, 9) == [formula]
    True
    >>> wrapped(formula, 3)[1:]
    ['<mrow><mi>b</mi></mrow>', '<mrow><mo form="infix">+</mo><mi>c</mi></mrow>']
    """
    root = ET.fromstring(mathml)  # noqa: S314 - written by SymPy's printer
    if _width(root) <= room:
        return [mathml]
    return [_row(piece) for piece in _pieces(root, room)]


def _row(piece: Pieces) -> str:
    """A piece as one row; an operator at its beginning keeps the space around it."""
    if piece[0].tag == "mo" and piece[0].text not in _OPENING:
        piece[0].set("form", "infix")
    return "<mrow>" + "".join(map(_written, piece)) + "</mrow>"


def _written(node: ET.Element) -> str:
    return ET.tostring(node, encoding="unicode")


def _width(node: ET.Element) -> float:
    """Approximate width of an element, in digits."""
    parts = [_width(child) for child in node]
    if node.tag == "mo":
        return len(node.text or "") if (node.text or "") in "(){}," else _SPACED
    if node.tag in ("mfrac", "mtable"):
        return max(parts, default=0.0)
    if node.tag in ("msub", "msup"):
        return parts[0] + _SMALL * sum(parts[1:])
    return len(node.text or "") * 0.9 + sum(parts)


def _pieces(node: ET.Element, room: float) -> list[Pieces]:
    """The pieces of an element; the element itself if it fits on a line."""
    if _width(node) <= room or node.tag not in ("mrow", "mfrac", "mtable", "mtr", "mtd"):
        return [[node]]
    if node.tag == "mfrac":
        above, below = node
        children = [*_bracketed(above), _operator("/"), *_bracketed(below)]
    else:
        children = list(node)
    return list(_joined(children, room))


def _bracketed(node: ET.Element) -> Pieces:
    """A part of a fraction as it is written beside a slash, in brackets if needed."""
    return [_operator("("), node, _operator(")")] if len(node) > 1 else [node]


def _operator(sign: str) -> ET.Element:
    """An operator that does not stretch with the elements beside it."""
    made = ET.Element("mo", stretchy="false")
    made.text = sign
    return made


def _joined(children: Pieces, room: float) -> Iterator[Pieces]:
    """Pieces of a row; an operator stays with what follows it, ``=`` with the left side."""
    pieces: list[Pieces] = []
    is_open = False
    for child in children:
        sign = (child.text or "") if child.tag == "mo" else ""
        parts = [[_operator(sign)]] if sign in _OPENING | _GLUED and sign else _pieces(child, room)
        if pieces and (is_open or sign in ("=", *_GLUED)):
            pieces[-1] = pieces[-1] + parts[0]
            parts = parts[1:]
        pieces += parts
        is_open = bool(sign) and sign != "=" and sign not in _GLUED
    yield from pieces
