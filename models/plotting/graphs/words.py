"""How large words are before they are drawn."""

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from headway.models.plotting.pieces import LETTER

_INCH = 72.0  # points
_LINE = 1.22  # of a letter's size, from line to line


def size_of(words: str, size: float = LETTER) -> tuple[float, float]:
    r"""Width and height of lines of words [inches].

    Parameters
    ----------
    words
        Lines of text.
    size
        Of the letters, in points.

    Examples
    --------
    >>> size_of("two\nlines")[1] == 2 * size_of("line")[1]
    True
    """
    lines, font = words.split("\n"), FontProperties(size=size)
    wide = max(text_to_path.get_text_width_height_descent(x, font, ismath=False)[0] for x in lines)
    return float(wide) / _INCH, _LINE * size * len(lines) / _INCH
