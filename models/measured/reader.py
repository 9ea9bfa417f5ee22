"""What a reader of a kind of file is: how it knows its files, and how it reads them."""

from collections.abc import Callable
from dataclasses import dataclass

from headway.models.measured.measurements import Measurements


@dataclass(frozen=True)
class Reader:
    r"""Reads one kind of file into measurements.

    Parameters
    ----------
    kind
        What its files are called.
    recognises
        Whether a text is of this kind: something true if it is. Asked of every file, so it
        must be quick and must not fail.
    read
        Makes measurements of such a text and of its name for messages; raises
        `headway.errors.MeasurementError` for a spoilt one.

    Examples
    --------
    >>> def read(text, source):
    ...     return Measurements.parse(text.replace("|", ","), source)
    >>> bars = Reader("bars", lambda text: "|" in text, read)
    >>> bars.read("load_ops_s|response_ms\n100|3.4\n", "a.bars").column("response").values.tolist()
    [0.0034]
    """

    kind: str
    recognises: Callable[[str], object]
    read: Callable[[str, str], Measurements]
