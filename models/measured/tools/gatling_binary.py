"""Gatling's ``simulation.log`` as bytes (from 3.12 on): records of users, requests and groups.

A record has a letter for its kind and big-endian numbers; times are milliseconds from the start. A
word has its length, its bytes and a letter for their encoding; a repeated word is its
negative number.
"""

import re
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.reader import log_reader
from headway.models.measured.tools.gatling import Population, with_population
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.requests import Requests
from headway.models.measured.window import RunWindow

_HEAD = re.compile(r"\0{4}[\x05-\x20](?:[0-9]{1,2}\.){2}[0-9]")
_RUN, _REQUEST, _USER, _GROUP, _ERROR = range(5)
_MOST = 1_000_000  # letters of a word, and words of a list


@dataclass
class _Bytes:
    """The rest of the bytes."""

    content: bytes
    source: str
    place: int = 0
    words: set[int] = field(default_factory=set)

    def take(self, form: str) -> int:
        """The next number."""
        size = struct.calcsize(form)
        if self.place + size > len(self.content):
            raise self.wrong("the file ends within a record")
        (number,) = struct.unpack_from(form, self.content, self.place)
        self.place += size
        return int(number)

    def count(self) -> int:
        """The number of entries that follow."""
        entries = self.take(">i")
        if not 0 <= entries <= _MOST:
            msg = f"{entries} entries cannot follow"
            raise self.wrong(msg)
        return entries

    def word(self) -> None:
        """Skip a word."""
        length = self.count()
        self.place += length + bool(length)
        if self.place > len(self.content):
            raise self.wrong("the file ends within a word")

    def known(self) -> None:
        """Skip a word, or the number of an earlier one."""
        number = self.take(">i")
        if number > 0 and number not in self.words:
            self.words.add(number)
            self.word()
        elif -number not in self.words:
            msg = f"there is no cached word {abs(number)}"
            raise self.wrong(msg)

    def wrong(self, what: str) -> MeasurementError:
        return broken(f"{self.source}: byte {self.place}", what)


def _is_binary(text: str) -> bool:
    return _HEAD.match(text) is not None


def _points(lines: Iterable[str], source: str, window: RunWindow) -> Sequence[Point]:
    """The point of a simulation, from all its requests within a window."""
    try:
        left = _Bytes("".join(lines).encode("latin-1"), source)
    except UnicodeEncodeError:
        raise broken(source, "use the file as Gatling wrote it") from None
    _header(left)
    requests, users = Requests(1e-3, window), Population()
    while left.place < len(left.content):
        kind = left.take(">b")
        if kind == _REQUEST:
            requests.add(*_request(left))
        elif kind == _USER:
            users.add(*_user(left))
        elif kind in _PASSED:
            _PASSED[kind](left)
        else:
            msg = f"there is no record of kind {kind}"
            raise left.wrong(msg)
    return [with_population(requests.point("Gatling", source), users, requests)]


def _header(left: _Bytes) -> None:
    """Skip the version, the simulation, its start and description, scenarios, assertions."""
    left.take(">b")
    left.word()
    left.word()
    left.take(">q")
    left.word()
    for _ in range(left.count()):
        left.word()
    for _ in range(left.count()):
        left.place += left.count()


def _groups(left: _Bytes) -> None:
    for _ in range(left.count()):
        left.known()


def _request(left: _Bytes) -> tuple[int, int, bool]:
    """Start, time and success of a request."""
    _groups(left)
    left.known()
    start, end = left.take(">i"), left.take(">i")
    good = left.take(">b") == 1
    left.known()
    if not 0 <= start <= end:
        raise left.wrong("a request ends before it starts")
    return start, end - start, good


def _user(left: _Bytes) -> tuple[int, int]:
    """When a user came (1) or went (-1)."""
    left.take(">i")
    step = 1 if left.take(">b") else -1
    return left.take(">i"), step


def _group(left: _Bytes) -> None:
    _groups(left)
    for _ in range(3):
        left.take(">i")
    left.take(">b")


def _error(left: _Bytes) -> None:
    left.known()
    left.take(">i")


_PASSED: dict[int, Callable[[_Bytes], None]] = {_GROUP: _group, _ERROR: _error}

GATLING_BINARY = log_reader(
    "Gatling (3.12 on)",
    _is_binary,
    _points,
    "a log of requests (binary): users, rate and times of successful requests",
)
"""Reads Gatling's ``simulation.log`` of version 3.12 and later."""
