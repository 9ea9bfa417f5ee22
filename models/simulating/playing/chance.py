"""A score and a state as objects, and random numbers: the twin of ``chance.h``, in its order.

The k-th number of a stream is mix(key + k odd), by the finaliser of splitmix64. Samples that need
several numbers have a stream of their own each, so the k-th sample is the same whatever came
before.

Sources: Steele, Lea and Flood, OOPSLA 2014 (splitmix64); Marsaglia and Bray, SIAM Review 6(3), 1964
(normal); Marsaglia and Tsang, ACM TOMS 26(3), 2000 (gamma).
"""

from collections.abc import Sequence
from math import floor, fmod, log, sqrt
from operator import attrgetter
from typing import Any

from headway.models.simulating.playing.rows import (
    Branch,
    Class,
    Clock,
    Crowd,
    Event,
    Family,
    Gate,
    Job,
    Journey,
    Law,
    Queue,
    Size,
    Source,
    Station,
    Stream,
    Way,
    dtype_of,
)
from headway.models.simulating.playing.score import IntArray

_WORD = 2**64 - 1
_ODD = 0x9E3779B97F4A7C15


class Play:
    """A score and a state as objects, a row each."""

    def __init__(self, score: Sequence[Any], state: Sequence[Any]) -> None:
        self.station: list[Station] = _read(Station, score[0])
        self.class_: list[Class] = _read(Class, score[1])
        self.source: list[Source] = _read(Source, score[2])
        self.law: list[Law] = _read(Law, score[3])
        self.row: list[int] = score[4].tolist()
        self.way: list[Way] = _read(Way, score[5])
        self.speed: list[float] = score[6].tolist()
        self.pace: list[float] = score[7].tolist()
        self.visits: list[float] = score[8].tolist()
        self.branch: list[Branch] = _read(Branch, score[9])
        self.home: list[int] = score[10].tolist()
        self.size: list[Size] = _read(Size, score[11])
        self.table: list[float] = score[12].tolist()
        self.clock: Clock = _read(Clock, state[0])[0]
        self.queue: list[Queue] = _read(Queue, state[1])
        self.job: list[Job] = _read(Job, state[2])
        self.server: list[int] = state[3].tolist()
        self.at: list[int] = state[4].tolist()
        self.event: list[Event] = _read(Event, state[5])
        self.stream: list[Stream] = _read(Stream, state[6])
        self.gate: list[Gate] = _read(Gate, state[7])
        self.crowd: list[Crowd] = _read(Crowd, state[8])
        self.journey: list[Journey] = _read(Journey, state[9])
        self.left: list[int] = state[10].tolist()
        self.stations, self.classes = len(self.station), len(self.class_)
        self.sources, self.queues = len(self.source), len(self.queue)
        self.laws, self.rows = len(self.law), len(self.row) - 1
        self.now: float = self.clock.now
        self.hole = False

    def write(self, state: Sequence[Any]) -> None:
        """Write the state back."""
        _write(Clock, state[0], [self.clock])
        _write(Queue, state[1], self.queue)
        _write(Job, state[2], self.job)
        state[3][:], state[4][:] = self.server, self.at
        _write(Event, state[5], self.event)
        _write(Stream, state[6], self.stream)
        _write(Gate, state[7], self.gate)
        _write(Crowd, state[8], self.crowd)
        _write(Journey, state[9], self.journey)
        state[10][:] = self.left


def _read(row: type[Any], array: IntArray) -> list[Any]:
    return [row(*values) for values in array.view(dtype_of(row)).tolist()]


def _write(row: type[Any], array: IntArray, values: list[Any]) -> None:
    if values:
        array.view(dtype_of(row))[:] = list(map(attrgetter(*dtype_of(row).names or ()), values))


# Streams


def _mixed(z: int) -> int:
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _WORD
    return z ^ z >> 31


def _bits(key: int, k: int) -> int:
    return _mixed((key + k * _ODD) & _WORD)


def unit(key: int, k: int) -> float:
    """The k-th number of a stream, in (0, 1): an odd multiple of 2**-53."""
    return float(_bits(key, k) >> 11 | 1) * 2.0**-53


def _next_key(p: Play, stream: int) -> int:
    s = p.stream[stream]
    s.next += 1
    return _bits(s.key, s.next - 1)


def drawn(p: Play, stream: int) -> float:
    """The next number of a stream, in (0, 1)."""
    s = p.stream[stream]
    s.next += 1
    return unit(s.key, s.next - 1)


def rounds_stream(p: Play, class_: int) -> int:
    """The stream of the rounds of a class."""
    return p.laws + p.rows + class_


def choice_stream(p: Play, station: int) -> int:
    """The stream of choices among the queues of a station."""
    return p.laws + p.rows + p.classes + station


def order_stream(p: Play, station: int) -> int:
    """The stream of the order of service at a station."""
    return choice_stream(p, station) + p.stations


def size_stream(p: Play, source: int) -> int:
    """The stream of the sizes of a source's batches."""
    return order_stream(p, p.stations) + source


# Samples


def _normal(key: int, k: int) -> tuple[float, int]:
    while True:
        u, v = 2 * unit(key, k) - 1, 2 * unit(key, k + 1) - 1
        k += 2
        s = u * u + v * v
        if 0 < s < 1:
            return u * sqrt(-2 * log(s) / s), k


def _gamma_sample(shape: float, key: int) -> float:
    k, boost = 0, 1.0
    if shape < 1:
        boost = unit(key, k) ** (1 / shape)
        k, shape = 1, shape + 1
    d = shape - 1.0 / 3
    c = 1 / sqrt(9 * d)
    while True:
        x, k = _normal(key, k)
        v = 1 + c * x
        if v <= 0:
            continue
        v = v * v * v
        k += 1
        if log(unit(key, k - 1)) < 0.5 * x * x + d - d * v + d * log(v):
            return d * v * boost


def _by_rates(p: Play, law: Law, left: float) -> float:
    """Time to the next arrival by rates that change [s].

    The k-th rate of a table holds from its start on, and they repeat with a period. The integral of
    the rate from now on to then is exponential, of mean 1: whole periods of it first, then piece by
    piece.
    """
    count, first = int(law.second), int(law.first)
    start, rate = p.table[first : first + count], p.table[first + count : first + 2 * count]
    period, total, phase = law.third, p.table[first + 2 * count], fmod(p.now, law.third)
    whole = float(floor(left / total))
    gap, k = whole * period, count - 1
    left -= whole * total
    while k > 0 and start[k] > phase:
        k -= 1
    while True:
        passes = (start[k + 1] if k + 1 < count else period) - phase
        if left < rate[k] * passes:
            return gap + left / rate[k]
        left -= rate[k] * passes
        gap += passes
        k = k + 1 if k + 1 < count else 0
        phase = start[k]


def sample(p: Play, number: int) -> float:
    """The next time by a law [s]."""
    law = p.law[number]
    if law.kind == Family.CONSTANT:
        return law.first + law.shift
    if law.kind == Family.EXPONENTIAL:
        return law.shift - law.first * log(drawn(p, number))
    if law.kind == Family.GAMMA:
        return law.shift + law.second * _gamma_sample(law.first, _next_key(p, number))
    if law.kind == Family.TRACE:
        s = p.stream[number]
        s.next += 1
        return p.table[int(law.first) + (s.next - 1) % int(law.second)]
    if law.kind == Family.RATES:
        return _by_rates(p, law, -log(drawn(p, number)))
    u = drawn(p, number)
    if u < law.first:
        return law.shift - law.second * log(u / law.first)
    return law.shift - law.third * log((1 - u) / (1 - law.first))


def batch_size(p: Play, number: int) -> int:
    """Jobs of the next batch of a source: k or more with chance more**(k - 1), or by a table."""
    source = p.source[number]
    if source.more > 0:
        return 1 + int(log(drawn(p, size_stream(p, number))) / log(source.more))
    if source.sizes == 1:
        return p.size[source.size].jobs
    chance = drawn(p, size_stream(p, number))
    k, last = source.size, source.size + source.sizes - 1
    while k < last and chance >= p.size[k].chance:
        k += 1
    return p.size[k].jobs
