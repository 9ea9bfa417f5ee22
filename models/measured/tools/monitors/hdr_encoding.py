"""HdrHistogram's encoding of counts: base64 of zlib of counts, in buckets of different widths.

headway decodes it itself because the package for it needs a compiler and another package; the
tests compare the two.
"""

import binascii
import struct
import zlib
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from headway.errors import MeasurementError

_HEAD = struct.Struct(">IiiiQQd")
_PACKED = struct.Struct(">Ii")
_V1, _V2 = 0x1C849301, 0x1C849303
_V1_PACKED, _V2_PACKED = 0x1C849302, 0x1C849304
_WORDS = {2: "h", 4: "i", 8: "q"}
LARGEST = 16_000_000
"""The most bytes that one interval may unpack to."""


class Bucket(NamedTuple):
    """Values that a histogram cannot distinguish: the lowest, and how many there are."""

    low: int
    width: int

    @property
    def middle(self) -> float:
        """Their value in a mean."""
        return self.low + self.width // 2

    @property
    def high(self) -> int:
        """Their value in a percentile."""
        return self.low + self.width - 1


class _Shape(NamedTuple):
    cookie: int
    length: int
    offset: int
    digits: int
    lowest: int
    highest: int
    ratio: float


def counts_of(packed: str, place: str) -> Counter[Bucket]:
    """Unpack the counts of one interval.

    Parameters
    ----------
    packed
        Text that starts with ``HIST``.
    place
        Its place, for messages.

    Raises
    ------
    MeasurementError
        For truncated or corrupt text, and versions other than 1 and 2.
    """
    try:
        shape, payload = _opened(b64decode(packed, validate=True))
        counts = Counter(dict(_buckets(shape, payload)))
    except (binascii.Error, zlib.error, struct.error, ValueError, IndexError) as error:
        msg = f"{place}: the histogram is truncated or corrupt ({error})"
        raise MeasurementError(msg) from None
    if any(count < 0 for count in counts.values()):
        msg = f"{place}: the histogram is corrupt (a count is negative)"
        raise MeasurementError(msg)
    return counts


def _opened(content: bytes) -> tuple[_Shape, bytes]:
    cookie, length = _PACKED.unpack_from(content)
    packed = content[_PACKED.size :]
    if cookie & ~0xF0 not in (_V1_PACKED, _V2_PACKED):
        msg = "its version is not 1 or 2"
        raise ValueError(msg)
    if length != len(packed):
        msg = f"{len(packed)} bytes instead of {length}"
        raise ValueError(msg)
    body = zlib.decompressobj().decompress(packed, LARGEST)
    shape = _Shape(*_HEAD.unpack_from(body))
    payload = body[_HEAD.size :]
    if shape.offset or not 0 <= shape.digits <= 5 or not 0 < shape.lowest < 2**60:
        msg = "it has no valid header"
        raise ValueError(msg)
    if shape.length != len(payload):
        msg = f"{len(payload)} bytes of counts instead of {shape.length}"
        raise ValueError(msg)
    return shape, payload


def _buckets(shape: _Shape, payload: bytes) -> Iterator[tuple[Bucket, int]]:
    """Buckets that are not empty, by the rule that divides each power of two evenly."""
    unit = shape.lowest.bit_length() - 1
    halves = max((2 * 10**shape.digits - 1).bit_length() - 1, 0)
    for index, count in _indexed(shape.cookie, payload):
        power = (index >> halves) - 1
        within = index & ((1 << halves) - 1)
        if power + unit > 64:
            msg = "it counts values beyond 64 bits"
            raise ValueError(msg)
        low = within if power < 0 else within + (1 << halves)
        width = 1 << (max(power, 0) + unit)
        yield Bucket(low * width, width), count


def _indexed(cookie: int, payload: bytes) -> Iterator[tuple[int, int]]:
    """Counts that are not zero, with their index."""
    if cookie & ~0xF0 == _V2:
        yield from _zigzag(payload)
    elif cookie & ~0xF0 == _V1 and (word := (cookie & 0xF0) >> 4) in _WORDS:
        counts = struct.unpack(f">{len(payload) // word}{_WORDS[word]}", payload)
        yield from ((index, count) for index, count in enumerate(counts) if count)
    else:
        msg = "its counts have an unknown width"
        raise ValueError(msg)


def _zigzag(payload: bytes) -> Iterator[tuple[int, int]]:
    """Numbers of one to nine bytes, seven bits each; a negative one stands for that many zeros."""
    index = place = 0
    while place < len(payload):
        value = shift = 0
        while True:
            byte = payload[place]
            place += 1
            if shift == 56:  # the ninth byte is whole
                value |= byte << shift
                break
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        count = (value >> 1) ^ -(value & 1)
        if count < 0:
            index -= count
        else:
            if count:
                yield index, count
            index += 1
