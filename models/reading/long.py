"""Files too long to be read whole: their first lines, and all of them one by one."""

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from headway.errors import MeasurementError

_HEAD = 64_000  # bytes in which a file shows whose it is
_LONGEST_LINE = 1_000_000
_STEP = 1_000_000


@dataclass(frozen=True)
class Long:
    """A file that is read line by line.

    Parameters
    ----------
    path
        A file.
    size
        What it holds, in bytes.
    """

    path: Path
    size: int

    @property
    def steps(self) -> int:
        """Megabytes reported as its lines are read."""
        return self.size // _STEP

    def head(self) -> bytes:
        """The first lines, whole."""
        with self.path.open("rb") as file:
            content = file.read(_HEAD)
        return content[: content.rfind(b"\n") + 1] or content

    def lines(self, advance: Callable[[], None]) -> Iterator[str]:
        """All lines.

        Parameters
        ----------
        advance
            Called after each megabyte.

        Raises
        ------
        MeasurementError
            For what is no text in UTF-8, and for a line of more than a megabyte.
        """
        reported = passed = 0
        with self.path.open("rb") as file:
            content = iter(partial(file.readline, _LONGEST_LINE), b"")
            for number, line in enumerate(content, 1):
                yield self._decoded(line.removeprefix(codecs.BOM_UTF8), number)
                passed += len(line)
                while reported < passed // _STEP:
                    reported += 1
                    advance()

    def _decoded(self, line: bytes, number: int) -> str:
        if len(line) >= _LONGEST_LINE:
            msg = (
                f"{self.path}:{number}: a line is longer than a megabyte; check that this is "
                "the right file"
            )
            raise MeasurementError(msg)
        try:
            return line.decode()
        except UnicodeDecodeError:
            msg = f"{self.path}:{number}: not a text file in UTF-8"
            raise MeasurementError(msg) from None
