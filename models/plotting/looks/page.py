"""The size of figures and their letters: everything is legible on a phone."""

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

WIDTH, LETTER = 6.0, 10.0
"""Width of figures [inches], and the least size of their letters [points].

At a width of 400 pixels, as on a phone, such letters are 9.3 pixels high; 9 pixels are legible.
"""

_INCH = 72.0  # points
_LINE = 1.22  # line spacing, relative to the size of the letters


def sheet(height: float) -> Figure:
    """An empty figure of the usual width.

    Parameters
    ----------
    height
        Its height [inches].

    Examples
    --------
    >>> sheet(4).get_size_inches().tolist()
    [6.0, 4.0]
    """
    return Figure(figsize=(WIDTH, height), layout="constrained")


def size_of(words: str, size: float = LETTER) -> tuple[float, float]:
    r"""Width and height of lines of words [inches].

    Parameters
    ----------
    words
        Lines of text.
    size
        Size of the letters, in points.

    Examples
    --------
    >>> size_of("two\nlines")[1] == 2 * size_of("line")[1]
    True
    """
    lines, font = words.split("\n"), FontProperties(size=size)
    wide = max(text_to_path.get_text_width_height_descent(x, font, ismath=False)[0] for x in lines)
    return float(wide) / _INCH, _LINE * size * len(lines) / _INCH
