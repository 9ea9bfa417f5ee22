"""All errors that a user can cause: what is wrong, where, and how to mend it, in one line.

Messages repeat text from files and command lines: `visible` and `quoted` make it fit to be shown.
"""

import re
import unicodedata
from collections.abc import Iterable

LONGEST = 60
"""Most characters of a stranger's text that a message repeats."""

LONGEST_LINE = 1000
"""Most characters of a message, including paths and lists of names."""

_LONG_WORD = re.compile(rf"\S{{{4 * LONGEST},}}")


def visible(text: str, keep: str = "") -> str:
    r"""Write out what a terminal would obey instead of show: control and direction characters.

    Parameters
    ----------
    text
        Text from a file or a command line: names, titles, paths.
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
    r"""Whether a terminal obeys a character instead of showing it: control, direction, half a pair.

    Examples
    --------
    >>> is_hidden("\x1b"), is_hidden("\u202e"), is_hidden("é"), is_hidden(" ")
    (True, True, False, False)
    """
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cs", "Zl", "Zp") or (kind == "Cf" and character not in _JOINERS)


_JOINERS = "\u00ad\u200c\u200d"
"""Marks that scripts need between letters, and that are harmless: soft hyphens and joiners."""


def quoted(text: str) -> str:
    r"""Text in quotes for a message, with its middle left out if it is long.

    Examples
    --------
    >>> quoted("3 MB"), len(quoted("9" * 5000))
    ("'3 MB'", 65)
    """
    half = LONGEST // 2
    short = text if len(text) <= LONGEST else f"{text[:half]}...{text[-half:]}"
    return repr(short)


def shortened(line: str) -> str:
    """Cut a message that a stranger's text makes long: first its longest words, then its middle.

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
    """At most three known names similar to a wrong one; empty if there are none.

    Examples
    --------
    >>> alike("cpu_tiem", ["cpu_time", "delay"]), alike("x", ["cpu_time"])
    ('cpu_time', '')
    """
    import difflib

    return ", ".join(difflib.get_close_matches(name[:200], sorted(known), 3, 0.6))


def nearest(name: str, known: Iterable[str]) -> str:
    """Which known names a wrong one may have meant, as the end of a message.

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
    """Base class of the errors below: bad input, never a defect of headway itself.

    Control characters from files and command lines are written out in messages, and very long text
    is cut.
    """

    def __str__(self) -> str:
        return shortened(visible(super().__str__()))


class InvalidParameter(HeadwayError):
    """A value outside its law's domain, such as a service time of zero."""


class UnknownParameter(HeadwayError):
    """A name that nothing in the model has."""


class UnknownModel(HeadwayError):
    """A model or preset that is neither in the catalogue nor a readable file."""


class UnitError(HeadwayError):
    """A unit that is not known, or is of the wrong dimension."""


class FormulaError(HeadwayError):
    """A formula that cannot be read, or contains what formulas may not contain."""


class GraphError(HeadwayError):
    """Stations, routes or bindings that do not make a network."""


class Saturated(HeadwayError):
    """An operating point that a station cannot sustain."""


class MeasurementError(HeadwayError):
    """Measured data that cannot be read or do not suffice."""


class ImpossiblePoint(MeasurementError):
    """A measured point with an impossible number, such as a negative time."""


class ModelFileError(HeadwayError):
    """A model file that breaks the format."""


class PackageError(HeadwayError):
    """A contribution of another package that headway cannot use."""


class OutputError(HeadwayError):
    """A result that cannot be written where it was asked for."""


class WorkerError(HeadwayError):
    """Workers that cannot be reached, that die, or that cannot be given a task."""
