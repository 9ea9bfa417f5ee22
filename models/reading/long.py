"""Files too long to be read whole: their first lines, and all lines one by one."""

import codecs
import io
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from headway.errors import MeasurementError
from headway.models.files.packed import unpacking
from headway.models.measured.reader import HEAD
from headway.records import dataclass

_LONGEST_LINE = 1_000_000
_STEP = 1_000_000


@dataclass(frozen=True)
class Long:
    """A file that is read line by line.

    Parameters
    ----------
    path
        The file's path.
    packed
        How it is compressed; empty if it is not.
    """

    path: Path
    packed: str = ""

    @staticmethod
    def steps_of(size: int) -> int:
        """Progress in megabytes as the lines of a file with so many bytes on disk are read."""
        return size // _STEP

    def head(self) -> bytes:
        """The first lines, whole."""
        with self._opened() as file:
            content = file.read(HEAD)
        return content[: content.rfind(b"\n") + 1] or content

    def whole(self, most: int) -> bytes | None:
        """All of it; None if that is more than a number of bytes.

        Raises
        ------
        MeasurementError
            For a compressed file that is damaged.
        """
        if not self.packed and self.path.stat().st_size > most:
            return None
        with self._opened() as file:
            content = file.read(most + 1)
        return content if len(content) <= most else None

    def too_long(self, name: str, most: int) -> MeasurementError:
        """The error for a file whose reader takes only whole files."""
        size = "it unpacks to" if self.packed else f"{self.path.stat().st_size / 1e6:.0f} MB are"
        limit = f"more than the limit of {most / 1e6:.0f} MB"
        return MeasurementError(f"{name}: {size} {limit}; split it or thin it out")

    def lines(self, advance: Callable[[], None], longest: int = _LONGEST_LINE) -> Iterator[str]:
        """All lines.

        Parameters
        ----------
        advance
            Called after each megabyte of the file, compressed as it is.
        longest
            Most bytes of a line.

        Raises
        ------
        MeasurementError
            For a file that is not text in UTF-8, and for a line that is longer.
        """
        reported = 0
        with self.path.open("rb") as packed:
            file = unpacking(packed, self.packed, str(self.path)) if self.packed else packed
            content = iter(partial(file.readline, longest), b"")
            for number, line in enumerate(content, 1):
                yield self._decoded(line.removeprefix(codecs.BOM_UTF8), number, longest)
                while reported < packed.tell() // _STEP:
                    reported += 1
                    advance()

    def _opened(self) -> io.BufferedReader:
        """The file as a stream, unpacked."""
        file = self.path.open("rb")
        return unpacking(file, self.packed, str(self.path)) if self.packed else file

    def _decoded(self, line: bytes, number: int, longest: int) -> str:
        if len(line) >= longest:
            msg = (
                f"{self.path}:{number}: a line is longer than {longest / 1e6:.0f} MB; check that "
                "this is the right file"
            )
            raise MeasurementError(msg)
        try:
            return line.decode()
        except UnicodeDecodeError:
            msg = f"{self.path}:{number}: not a text file in UTF-8"
            raise MeasurementError(msg) from None
