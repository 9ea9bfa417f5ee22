"""Every error a user can cause: what is wrong, where, and how to mend it, in one line.

Messages repeat text from files and command lines: `visible` and `quoted` make it fit to be shown.
"""

import re
import unicodedata
from collections.abc import Iterable

LONGEST = 60
"""Characters of strangers' text that a message repeats."""

LONGEST_LINE = 1000
"""Characters of a message, paths and lists of names included."""

_LONG_WORD = re.compile(rf"\S{{{4 * LONGEST},}}")


def visible(text: str, keep: str = "") -> str:
    r"""Write out what a terminal would obey rather than show: controls, and marks that turn text.

    Parameters
    ----------
    text
        From a file or a command line: names, titles, paths.
    keep
        Characters left as they are, such as the line breaks of prose.

    Examples
    --------
    >>> print(visible("red\x1b[31m"), visible("a\udcffb"), visible("10 µs"))
    red\x1b[31m a\udcffb 10 µs
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character, keep) for character in text)


def _shown(character: str, keep: str) -> str:
    if character in keep or not is_hidden(character):
        return character
    return character.encode("unicode_escape").decode("ascii")


def is_hidden(character: str) -> bool:
    r"""Whether a character is obeyed rather than shown: control, direction, or half of one.

    Examples
    --------
    >>> is_hidden("\x1b"), is_hidden("\u202e"), is_hidden("é"), is_hidden(" ")
    (True, True, False, False)
    """
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cs", "Zl", "Zp") or (kind == "Cf" and character not in _JOINERS)


_JOINERS = "\u00ad\u200c\u200d"
"""Marks that scripts need between letters, and that move nothing: hyphens, joiners."""


def quoted(text: str) -> str:
    r"""Text between quotes for a message, its middle left out where it is long.

    Examples
    --------
    >>> quoted("3 MB"), len(quoted("9" * 5000))
    ("'3 MB'", 65)
    """
    half = LONGEST // 2
    short = text if len(text) <= LONGEST else f"{text[:half]}...{text[-half:]}"
    return repr(short)


def shortened(line: str) -> str:
    """Cut a message that strangers' text makes long: its longest words first, then its middle.

    Examples
    --------
    >>> shortened("unknown key 'a'; remove it"), len(shortened("x" * 5000 + "; remove it"))
    ("unknown key 'a'; remove it", 133)
    """
    if len(line) <= LONGEST_LINE:
        return line
    half = LONGEST_LINE // 2
    line = _LONG_WORD.sub(lambda word: f"{word[0][:LONGEST]}...{word[0][-LONGEST:]}", line)
    return line if len(line) <= LONGEST_LINE else f"{line[:half]} ... {line[-half:]}"


def alike(name: str, known: Iterable[str]) -> str:
    """The known names that look like a wrong one, at most three; empty if none does.

    Examples
    --------
    >>> alike("cpu_tiem", ["cpu_time", "delay"]), alike("x", ["cpu_time"])
    ('cpu_time', '')
    """
    import difflib

    return ", ".join(difflib.get_close_matches(name[:200], sorted(known), 3, 0.6))


def nearest(name: str, known: Iterable[str]) -> str:
    """Say which known names a wrong one may have meant, as the end of a message.

    Examples
    --------
    >>> nearest("cpu_tiem", ["cpu_time", "delay"])
    '; did you mean cpu_time?'
    >>> nearest("x", ["cpu_time", "delay"])
    '; there are cpu_time, delay'
    """
    names = sorted(known)
    close = alike(name, names)
    if close:
        return f"; did you mean {close}?"
    shown = names if len(names) <= 12 else [*names[:12], "..."]
    return f"; there are {', '.join(shown)}" if names else ""


class HeadwayError(ValueError):
    """Base of the errors below: bad input, never a defect of headway itself.

    What a file or a command line brought into a message is shown with its controls written out,
    and what is very long is cut.
    """

    def __str__(self) -> str:
        return shortened(visible(super().__str__()))


class InvalidParameter(HeadwayError):
    """A value outside its law's domain, such as a service time of zero."""


class UnknownParameter(HeadwayError):
    """A name that nothing in the model bears."""


class UnknownModel(HeadwayError):
    """A model or preset that is neither in the catalogue nor a readable file."""


class UnitError(HeadwayError):
    """A unit that is not known, or is of the wrong dimension."""


class FormulaError(HeadwayError):
    """A formula that cannot be read, or holds what formulas may not hold."""


class GraphError(HeadwayError):
    """Stations, routes or bindings that do not make a network."""


class Saturated(HeadwayError):
    """An operating point that a station cannot sustain."""


class MeasurementError(HeadwayError):
    """Measured data that cannot be read or do not suffice."""


class ImpossiblePoint(MeasurementError):
    """A measured point with a number that cannot be, such as a negative time."""


class ModelFileError(HeadwayError):
    """A model file that breaks the format."""


class PackageError(HeadwayError):
    """Something that another package offers headway, and that cannot be used."""


class OutputError(HeadwayError):
    """A result that cannot be written where it was asked for."""


class WorkerError(HeadwayError):
    """Workers that cannot be reached, that die, or that cannot be given a task."""
