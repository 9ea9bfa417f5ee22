"""Files of one run, one for each thread of its generator, joined before they are read."""

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from headway.errors import MeasurementError
from headway.models.measured.points import Point, placed_points
from headway.models.measured.reader import Join, LinesOf
from headway.models.measured.window import RunWindow
from headway.models.reading.gather import Content
from headway.models.reading.long import Long
from headway.models.reading.recognise import decoded, recognised
from headway.numerals import some_of
from headway.records import dataclass

_NUMBERED = re.compile(r"(?P<first>.+)\.(?P<number>\d{1,9})(?P<packed>(?:\.[a-z][a-z0-9]*)?)")
"""The name of a further file of a run, next to that of its first."""
_ANY = re.compile(r".+\.\d+(?:\.[a-z][a-z0-9]*)?")
_SHOWN = 3  # missing files listed in a message


@dataclass(frozen=True)
class Parts:
    """The files of one run.

    Parameters
    ----------
    kind, join
        The kind of each file, and how to join them.
    files
        The files, in the order of their numbers.
    """

    kind: str
    join: Join
    files: tuple[Content, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the files."""
        return tuple(name for name, _ in self.files)

    def points(self, advance: Callable[[], None], window: RunWindow) -> list[Point]:
        """The points of the run, under the name of its first file.

        Parameters
        ----------
        advance
            Called after each megabyte of a long file.
        window
            The part of the run that counts.

        Raises
        ------
        MeasurementError
            For a file that is damaged, missing, or of another run.
        """
        self._check_all_there()
        lines = [(name, _lines(name, content, advance)) for name, content in self.files]

        def make(files: list[LinesOf], _: str) -> list[Point]:
            return list(self.join(files, window))

        return placed_points(make, lines, self.names[0])

    def _check_all_there(self) -> None:
        """Refuse a run if a file is missing."""
        further = map(_NUMBERED.fullmatch, self.names[1:])
        numbers = {int(found["number"]) for found in further if found}
        missing = [str(number) for number in range(1, max(numbers)) if number not in numbers]
        if missing:
            msg = (
                f"{self.names[0]}: {len(self.names)} files are of one run, of which number "
                f"{some_of(missing, _SHOWN)} is missing; give all of them"
            )
            raise MeasurementError(msg)


def _lines(name: str, content: bytes | Long, advance: Callable[[], None]) -> Iterable[str]:
    if isinstance(content, Long):
        return content.lines(advance)
    return io.StringIO(decoded(content, name), newline="")


def with_parts(contents: Iterable[Content]) -> Iterator[tuple[str, bytes | Long | Parts]]:
    r"""Contents of files by name; those of one run are joined under the name of its first.

    Parameters
    ----------
    contents
        Files with their names. Files that may be of one run, such as ``log.17`` and ``log.17.1``,
        come last.

    Examples
    --------
    >>> row = b"0 1 916 0 1795742491 303157\n"
    >>> files = [("log.17", row), ("log.17.1", row), ("log.18", row), ("a.txt", row)]
    >>> [(name, isinstance(content, Parts)) for name, content in with_parts(files)]
    [('a.txt', False), ('log.17', True), ('log.18', False)]
    """
    kept: dict[str, _Part] = {}
    for name, content in contents:
        join = _join(content) if _ANY.fullmatch(name) else None
        # a thread that completed no request
        if join or (_NUMBERED.fullmatch(name) and not content):
            kept[name] = content, join
        else:
            yield name, content
    further = _further(kept)
    others = {name for group in further.values() for name, _ in group}
    for name, (content, join) in kept.items():
        if join and name in further:
            yield name, Parts(*join, ((name, content), *further[name]))
        elif name not in others:
            yield name, content


_Part: TypeAlias = tuple[bytes | Long, tuple[str, Join] | None]
"""A file that may be one of several of a run: its content, and how these are joined if known."""


def _further(kept: Mapping[str, _Part]) -> dict[str, list[Content]]:
    """The further files of each run in the order of their numbers, by the name of the first."""
    numbered: dict[str, dict[int, Content]] = {}
    for name, (content, join) in kept.items():
        part = _NUMBERED.fullmatch(name)
        first = part["first"] + part["packed"] if part else ""
        known = kept[first][1] if first in kept else None
        if part and known and join in (known, None):
            numbered.setdefault(first, {})[int(part["number"])] = name, content
    return {first: [group[n] for n in sorted(group)] for first, group in numbered.items()}


def _join(content: bytes | Long) -> tuple[str, Join] | None:
    """The kind of a file of which several may form a run, and how to join them."""
    start = content.head() if isinstance(content, Long) else content
    reader, _ = recognised(start.decode("latin-1"))
    return None if reader.join is None else (reader.kind, reader.join)
