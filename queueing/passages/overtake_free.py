"""Passage time of a job that returns to no station, from the state that it finds on arrival.

An arriving job sees the network in equilibrium with one job fewer (arrival theorem). On an
overtake-free path, the times at the stations are distributed as if the job found all of them in
that state at once. So E[exp(-s T)] is a ratio of normalising constants,

    E[exp(-s T)] = sum over paths p of P(p) G_p(s) / G,
    G_p(s) = sum over n_1 + n_2 + ... of the product over all stations k of f_k(n_k)
             times the product over k in p of t_k(s)**max(n_k - m_k + 1, 0) b_k(s),

with b_k(s) = 1 / (1 + s S_k) the transform of a service at station k and t_k(s) that of the time
between departures from its m_k busy servers. Exact for single servers in order of arrival; the same
formula approximates servers in parallel, and paths on which jobs can overtake.

Source: Schassberger and Daduna, "The time for a round trip in a cycle of exponential queues", JACM
30(1), 1983; Kelly and Pollett, "Sojourn times in closed queueing networks", Adv. Appl. Prob. 15(3),
1983; Boxma, Kelly and Konheim, "The product form for sojourn time distributions in cyclic
exponential queues", JACM 31(1), 1984.
"""

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.closed.series import geometric
from headway.queueing.passages.passage import Passage, QueueWeights
from headway.queueing.times.absorption import is_overtake_free
from headway.queueing.times.laws import ComplexArray, gamma
from headway.records import dataclass

NEARLY_CONSTANT = 0.01
"""Squared coefficient of variation that replaces 0 for a constant time spent by some jobs only,
as the distribution would have a jump. `STAYS_AS_ENTERED` was measured with it.
"""

_LEFT_OUT = 1e-15
"""Probability of the numbers of jobs left out at each end of each window. With them percentiles
change by 1e-11 at most, about as much as inversion errs: `tests.queueing.sojourn` compares."""

_SMALLEST = 1e-150  # of weights, of which the largest is about 1
_BLOCK = 1024  # weights added up at a time: for speed

_AT_ONCE = 1 << 16  # numbers in an array, for the second-level cache: speed only
_COLUMNS = 32  # least number of columns, as some work is done for each column at once: for speed
_SOON = 3  # lengths of a series above which its terms are summed one by one: for speed
_LEFT = -1

Window: TypeAlias = tuple[int, int]
"""First number of jobs in a window, and the first number above it."""


@dataclass(frozen=True)
class OvertakeFree:
    """A tagged job that visits each station of a passage at most once.

    Parameters
    ----------
    passage
        The network.
    order
        Its stations in the topological order of the routes.

    Examples
    --------
    >>> from headway.queueing.passages.passage import PassageStation
    >>> one, cpu = np.ones(1), PassageStation("cpu", 1.0, 1, 1)
    >>> two = Passage((cpu,), one, 0 * one[None], one, 2, 0.0, 1.0, 2 * one)
    >>> OvertakeFree(two, [0]).transform(np.array([1.0 + 0j])).real.tolist()
    [0.25]
    """

    passage: Passage
    order: list[int]

    @cached_property
    def stages(self) -> list[tuple[int, bool]]:
        """Lanes in the order in which they are convolved: station, and whether it is its last lane.

        Stations that the tagged job does not visit come first, as their series do not depend on s.
        """
        passage = self.passage
        order = sorted(self.order, key=lambda k: bool(passage.own_visits[k] > 0))
        counts = [(k, max(passage.stations[k].lanes, 1)) for k in order]
        return [(k, lane == count - 1) for k, count in counts for lane in range(count)]

    @cached_property
    def windows(self) -> list[Window]:
        """The likely total numbers of jobs, before the first stage and after each.

        With A_j(n) the series of the first j stages and B_j(n) that of the others, n jobs are at
        the first stages with probability A_j(n) B_j(N - 1 - n) / G(N - 1).
        """
        passage, size = self.passage, self.passage.others + 1
        nobody = np.zeros((size, 1))
        nobody[0] = 1.0
        queues = [passage.queues[k] for k, _ in self.stages]
        first, last = [passage.at_delays(size)], [nobody]
        for queue in queues[:-1]:
            first.append(first[-1] if queue is None else queue.lane(first[-1]))
        for queue in queues[:0:-1]:
            last.append(last[-1] if queue is None else queue.lane(last[-1]))
        last.append(last[-1] if queues[0] is None else queues[0].lane(last[-1]))
        likely = [
            _likely_window(_without_denormals(one[:, 0]) * _without_denormals(other[::-1, 0]))
            for one, other in zip(first, last[::-1][: len(first)], strict=True)
        ]
        return [*likely, (size - 1, size)]

    @cached_property
    def _base(self) -> FloatArray:
        """Series of the jobs at delays, within the likely numbers."""
        start, stop = self.windows[0]
        return np.asarray(self.passage.at_delays(stop)[start:])

    @cached_property
    def _steps(self) -> list[tuple[int, bool, Window, Window]]:
        """Stages with the windows before and after each."""
        ends = zip(self.stages, self.windows, self.windows[1:], strict=False)
        return [(k, last, near, far) for (k, last), near, far in ends]

    @cached_property
    def _apart(self) -> int:
        """Number of the first stages, which the tagged job does not visit."""
        return sum(not self.passage.own_visits[k] > 0 for k, _ in self.stages)

    @cached_property
    def _elsewhere(self) -> ComplexArray:
        """Series of the jobs at delays and at stations that the tagged job does not visit."""
        series: ComplexArray = np.asarray(self._base)
        for k, _, near, far in self._steps[: self._apart]:
            series = self._through(self.passage.queues[k], series, near, far)
        return series

    @cached_property
    def constant(self) -> float:
        """G(N - 1), computed within the same windows."""
        series = self._elsewhere
        for k, _, near, far in self._steps[self._apart :]:
            series = self._through(self.passage.queues[k], series, near, far)
        return float(series[-1, 0].real)

    def transform(self, s: ComplexArray) -> ComplexArray:
        """E[exp(-s T)], by one convolution for each station and set of paths that lead to it."""
        widest = max(stop - start for start, stop in self.windows)
        columns = max(_AT_ONCE // widest, _COLUMNS)
        parts = [self._of_some(s[k : k + columns]) for k in range(0, len(s), columns)]
        return np.concatenate(parts)

    def _of_some(self, s: ComplexArray) -> ComplexArray:
        """E[exp(-s T)] for few values of s, whose arrays fit into the cache.

        `going` has, for each station that the job may visit next, the series of the stations before
        it in the order, summed over the paths to it.
        """
        passage, base = self.passage, self._elsewhere
        going: dict[int, ComplexArray] = {
            int(k): np.asarray(base * passage.entries[k]) for k in np.flatnonzero(passage.entries)
        }
        nowhere = 1 - float(passage.entries.sum())
        if nowhere > 0:
            going[_LEFT] = np.asarray(base * nowhere)
        for k, ends, near, far in self._steps[self._apart :]:
            own, queue = going.pop(k, None) if ends else None, passage.queues[k]
            going = {j: self._through(queue, series, near, far) for j, series in going.items()}
            if own is None:
                continue
            station = passage.stations[k]
            if queue is not None:
                turn = 1 / (1 + s * station.time / station.servers)
                own = self._through(queue, own, near, far, turn) / (1 + s * station.own_time)
            else:
                own = self._through(None, own, near, far)
                own = np.asarray(own * gamma(station.own_time, NEARLY_CONSTANT)(s))
            targets = [(int(j), float(passage.onward[k, j])) for j in self.order]
            for target, chance in [*targets, (_LEFT, float(passage.leaving[k]))]:
                if chance > 0:
                    going[target] = going.get(target, 0) + chance * own
        return np.asarray(going[_LEFT][-1] / self.constant + 0 * s)

    def _through(
        self,
        queue: QueueWeights | None,
        series: ComplexArray,
        near: Window,
        far: Window,
        turn: ComplexArray | None = None,
    ) -> ComplexArray:
        """The part in the window `far` of `QueueWeights.lane` of a series in the window `near`."""
        if queue is None:
            return np.asarray(series[far[0] - near[0] : far[1] - near[0]])
        head, last = queue.head, queue.station.servers - 1
        ratio = np.atleast_1d(queue.busy * (1.0 if turn is None else turn))
        served = near[0] + last, near[1] + last
        result = np.asarray(head[last] * geometric_part(ratio, series, served, far))
        add_part(result, head[:last, None], series, near, far)
        return result


def _without_denormals(weights: FloatArray) -> FloatArray:
    """Weights whose products keep their digits: denormal numbers take a processor far longer."""
    return np.where(weights > _SMALLEST, weights, 0.0)


def _likely_window(weights: FloatArray) -> Window:
    """Numbers between those with probability `_LEFT_OUT` at each end."""
    total = float(weights.sum()) * _LEFT_OUT
    return _reaching(weights, total), len(weights) - _reaching(weights[::-1], total)


def _reaching(weights: FloatArray, total: float) -> int:
    """Index at which the cumulated weights reach a total: by blocks, then within one."""
    whole = len(weights) // _BLOCK * _BLOCK
    sums = np.cumsum(weights[:whole].reshape(-1, _BLOCK).sum(axis=1))
    block = int(np.searchsorted(sums, total))
    before = float(sums[block - 1]) if block else 0.0
    rest = weights[block * _BLOCK :][:_BLOCK] if block < len(sums) else weights[whole:]
    return block * _BLOCK + int(np.searchsorted(before + np.cumsum(rest), total))


def geometric_part(
    ratio: ComplexArray | FloatArray, series: ComplexArray | FloatArray, near: Window, far: Window
) -> ComplexArray:
    """The part in the window `far` of sum over m of r**(n - m) x(m), for x in the window `near`.

    Examples
    --------
    >>> geometric_part(np.array([0.5]), np.array([[1.0], [1.0]]), (0, 2), (1, 4)).ravel().tolist()
    [1.5, 0.75, 0.375]
    """
    # y(n) = x(n) + r y(n - 1) from n = far[0] on; what came long before it, by powers of r.
    if near[0] < far[0] < near[0] + _SOON * len(series):
        return geometric_part(ratio, series, near, (near[0], far[1]))[far[0] - near[0] :]
    width, columns = far[1] - far[0], max(series.shape[1], len(ratio))
    part: Any = np.zeros((width, columns), np.result_type(series, ratio))
    before = min(max(far[0] + 1 - near[0], 0), len(series))
    turns: Any = np.broadcast_to(ratio, (columns,))
    if before:
        come: Any = np.array(np.broadcast_to(series[:before], (before, columns)), part.dtype)
        part[0] = geometric(come, turns)[-1] * turns ** (far[0] + 1 - near[0] - before)
    after = series[before : max(before, far[1] - near[0])]
    place = near[0] + before - far[0]
    part[place : place + len(after)] += after[: max(width - place, 0)]
    return np.asarray(geometric(part, turns))


def add_part(
    result: ComplexArray,
    weights: ComplexArray | FloatArray,
    series: ComplexArray | FloatArray,
    near: Window,
    far: Window,
) -> None:
    """Add the part in the window `far` of sum over k of w(k) x(n - k), for x in the window `near`.

    Examples
    --------
    >>> result = np.zeros((3, 1))
    >>> add_part(result, np.array([[1.0], [2.0]]), np.ones((2, 1)), (0, 2), (0, 3))
    >>> result.ravel().tolist()
    [1.0, 3.0, 2.0]
    """
    least, most = far[0] - near[1] + 1, far[1] - near[0]
    for number in range(max(least, 0), min(most, len(weights))):
        low, high = max(near[0] + number, far[0]), min(near[1] + number, far[1])
        part = series[low - number - near[0] : high - number - near[0]]
        result[low - far[0] : high - far[0]] += weights[number] * part


def cannot_overtake(passage: Passage) -> bool:
    """Whether `OvertakeFree` is exact.

    It is for a single queue of any number of servers. For several, it is if none is a delay, there
    is one path at most between any two, and all but the first and last of a path have a single
    server.

    Examples
    --------
    >>> from headway.queueing.passages.passage import PassageStation
    >>> one, pool = np.ones(1), PassageStation("cpu", 1.0, 4, 1)
    >>> cannot_overtake(Passage((pool,), one, 0 * one[None], one, 9, 1.0, 2.0, 3 * one))
    True
    """
    queues = [k for k, station in enumerate(passage.stations) if not station.is_delay]
    if len(queues) < 2:
        return True
    within = [k for k in queues if passage.onward[k].any() and passage.onward[:, k].any()]
    single = all(passage.stations[k].servers == 1 for k in within)
    certain = len(queues) == len(passage.stations)
    return bool(single and certain and is_overtake_free(passage.onward > 0))
