"""The same passage time with very many jobs, whose numbers are followed in steps of g.

If stations are about equally busy, every number of jobs at each is likely, and a series has as many
terms as there are jobs. But such a series is smooth: with w = z**g, a term z**n between two steps
is nearly the cubic through four of them,

    z**n = w**b (l_0(u) w**-1 + l_1(u) + l_2(u) w + l_3(u) w**2),  u = n / g - b,  0 <= u < 1,

to (g log z)**4, with l_i Lagrange's weights at the nodes -1, 0, 1, 2 (in the first step 0, 1, 2, 3)
and log z about the inverse of the numbers of jobs. In a geometric tail, the sum of x**n z**n over n
= 0, 1, 2..., the part from a step b on becomes

    x**(g b) w**(b - 1) (B_0 + B_1 w + B_2 w**2 + B_3 w**3) / (1 - x**g w),
    B_i = sum over p = 0, 1... g - 1 of x**p l_i(p / g),

which is again a geometric tail. The rest is as in `headway.queueing.passages.overtake_free`, with N
/ g terms.

Source: Hildebrand, Introduction to Numerical Analysis, 2nd ed., 1974, chapter 3 (the cubic).
"""

from functools import cached_property
from math import comb

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.numerals import four_digits
from headway.queueing.passages.overtake_free import (
    OvertakeFree,
    Window,
    add_part,
    geometric_part,
)
from headway.queueing.passages.passage import Passage, PassageStation, QueueWeights
from headway.queueing.times.laws import ComplexArray
from headway.records import dataclass

MOST_TERMS = 16_000
"""Terms of all series together above which jobs are grouped: some 0.1 s for the 160 complex
numbers at which a transform is evaluated.
"""

FEW_TERMS = 1_000
"""The same for each of the independent visits of a job, whose law is evaluated at thousands. A
station then has about as many steps as those by which `GROUPED` was measured, or more.
"""

_FEWEST_STEPS = 4
"""Least mean number of jobs at a station, in steps of g. `GROUPED` of
`headway.queueing.passages.laws` was measured with both.
"""

_BESIDE = 3  # steps beside a window that cubics use
_TAP = 0.3  # time of one number of jobs below the servers, over that of a term of a tail


def overtake_free(passage: Passage, order: list[int], most: int = MOST_TERMS) -> OvertakeFree:
    """Follow every number of jobs, or steps of g if there would be more than ``most`` terms.

    Raises
    ------
    GraphError
        If the steps would be too long.

    Examples
    --------
    >>> from headway.queueing.passages.passage import PassageStation
    >>> one, cpu = np.ones(1), PassageStation("cpu", 1.0, 1, 1)
    >>> two = Passage((cpu,), one, 0 * one[None], one, 2, 0.0, 1.0, 2 * one)
    >>> isinstance(overtake_free(two, [0]), GroupedJobs)
    False
    """
    every = OvertakeFree(passage, order)
    group = 1
    while _terms(every, group) > most:
        group += -(-group // 4)
    if group == 1:
        return every
    if group * len(every.stages) * _FEWEST_STEPS > passage.population:
        msg = (
            f"percentiles of {four_digits(passage.population)} jobs at {len(every.stages)} "
            "queues that are about equally busy are not supported; reduce either"
        )
        raise GraphError(msg)
    return GroupedJobs(passage, order, every.windows, group)


def _terms(every: OvertakeFree, group: int) -> float:
    """Number of terms of series that depend on s, with jobs in groups."""
    passage, total, varies = every.passage, 0.0, False
    for (k, _), near, far in zip(every.stages, every.windows, every.windows[1:], strict=False):
        varies = varies or passage.own_visits[k] > 0
        queue = passage.queues[k]
        if varies and queue is not None:
            come, gone = ((stop - start) / group for start, stop in (near, far))
            total += (come + gone) * (1 + _TAP * min(queue.station.servers / group, come))
    return total


@dataclass(frozen=True)
class GroupedJobs(OvertakeFree):
    """A tagged job that visits each station at most once, with the other jobs in groups of g.

    Parameters
    ----------
    passage, order
        As in `OvertakeFree`.
    likely
        The windows of likely numbers of jobs.
    group
        g, jobs in a step, 2 or more.

    Examples
    --------
    >>> from headway.queueing.passages.passage import PassageStation
    >>> ones, onward, ends = np.ones(2), np.eye(2, k=1), np.eye(2)
    >>> ring = tuple(PassageStation(name, 1.0, 1, 1) for name in "ab")
    >>> ring = Passage(ring, ends[0], onward, ends[1], 201, 0.0, 0.99, 101 * ones)
    >>> likely = OvertakeFree(ring, [0, 1]).windows
    >>> near = GroupedJobs(ring, [0, 1], likely, 5).transform(np.array([0.01 + 0j])).real
    >>> bool(abs(near[0] * 1.01**202 - 1) < 1e-6)  # E[exp(-s T)] = 1 / (1 + s S)**(N + 1)
    True
    """

    likely: list[Window]
    group: int

    @cached_property
    def _numbers(self) -> tuple[int, int]:
        """The number of jobs of the first step, which may be negative, and the number of steps."""
        steps = max(-(-self.passage.others // self.group), _BESIDE)
        return self.passage.others - steps * self.group, steps + 1

    @cached_property
    def windows(self) -> list[Window]:
        """As in `OvertakeFree`, in steps."""
        first, steps = self._numbers
        fine = self.likely[:-1]
        low = [(start - first) // self.group - _BESIDE for start, _ in fine]
        high = [(stop - 1 - first) // self.group + 1 + _BESIDE for _, stop in fine]
        wide = [(max(a, 0), min(b, steps)) for a, b in zip(low, high, strict=True)]
        return [*wide, (steps - 1, steps)]

    @cached_property
    def _base(self) -> FloatArray:
        """Series of the jobs at delays, in steps."""
        start, stop = self.windows[0]
        first, steps = self._numbers
        low, high = max(first + start * self.group, 0), first + (stop - 1) * self.group + 1
        weights = self.passage.at_delays(high)[low:, 0].real
        series = np.zeros((steps, 1))
        place = (np.arange(low, high) - first) / self.group
        left = np.clip(np.floor(place).astype(int) - 1, 0, steps - 4)
        for node, share in enumerate(_cubic(place - left)):
            np.add.at(series[:, 0], left + node, share * weights)
        return series[start:stop]

    def _through(
        self,
        queue: QueueWeights | None,
        series: ComplexArray,
        near: Window,
        far: Window,
        turn: ComplexArray | None = None,
    ) -> ComplexArray:
        """As in `OvertakeFree`, in steps."""
        if queue is None:
            return super()._through(queue, series, near, far, turn)
        last = queue.station.servers - 1
        step, inside = divmod(last, self.group)
        ratio = np.atleast_1d(queue.busy * (1.0 if turn is None else turn))
        begins = max(step - 1, 0)
        begun = self._block(ratio, inside, step - begins)
        goes_on = self._block(ratio, 0, 1)
        columns = max(series.shape[1], len(ratio))
        kind = np.result_type(series, ratio)
        joined = np.zeros((len(series) + 3, columns), kind)
        come = near[0] + step, near[0] + step + len(joined)
        add_part(joined, goes_on, series, (0, len(series)), (0, len(joined)))
        tail = geometric_part(ratio**self.group, joined, come, far)
        result = tail * ratio ** (self.group - inside)
        add_part(result, begun, series, (near[0] + begins, near[1] + begins), far)
        result *= queue.head[last]
        add_part(result, self._heads[queue.station], series, near, far)
        return np.asarray(result)

    def _block(self, ratio: ComplexArray | FloatArray, inside: int, node: int) -> ComplexArray:
        """Sum of x**(p - inside) l_i(p / g) over p from `inside` to g - 1; p = 0 is at a node."""
        nodes = np.arange(4.0)
        values = _cubic(node + inside / self.group + nodes)
        weights = np.linalg.solve(np.vander(nodes, increasing=True), values.T).T
        sums = _moments(ratio, self.group - inside, self.group)
        return np.asarray(np.einsum("ij,jk->ik", weights, sums))

    @cached_property
    def _heads(self) -> dict[PassageStation, FloatArray]:
        """Weights of the numbers below the servers of each queue, in steps, shape (steps, 1)."""
        return {
            queue.station: self._head(queue.head[:-2]) for queue in self.passage.queues if queue
        }

    def _head(self, weights: FloatArray) -> FloatArray:
        place = np.arange(len(weights)) / self.group
        left = np.maximum(np.floor(place).astype(int) - 1, 0)
        taps = np.zeros((len(weights) // self.group + 4, 1))
        for node, share in enumerate(_cubic(place - left)):
            np.add.at(taps[:, 0], left + node, share * weights)
        return taps[: 0 if len(weights) == 0 else None]


def _cubic(place: FloatArray) -> FloatArray:
    """Lagrange's weights at the nodes 0, 1, 2, 3, shape (4, places)."""
    return np.array(
        [
            (1 - place) * (2 - place) * (3 - place) / 6,
            place * (2 - place) * (3 - place) / 2,
            place * (1 - place) * (3 - place) / -2,
            place * (1 - place) * (2 - place) / 6,
        ]
    )


def _moments(ratio: ComplexArray | FloatArray, count: int, group: int) -> ComplexArray:
    """Sums of (p / g)**j x**p over p = 0 ... count - 1, for j = 0, 1, 2, 3: by doubling."""
    total, block = np.zeros((2, 4, len(ratio)), ratio.dtype)
    block[0] = 1.0
    done, size, before, power = 0, 1, np.ones_like(ratio), ratio
    while done < count:
        if count & size:
            total = total + before * (_shifts(done / group) @ block)
            done, before = done + size, before * power
        block = block + power * (_shifts(size / group) @ block)
        size, power = 2 * size, power * power
    return np.asarray(total)


def _shifts(by: float) -> FloatArray:
    """Matrix from the powers of u to those of u + a, up to the third."""
    return np.array([[comb(j, i) * by ** max(j - i, 0) for i in range(4)] for j in range(4)])
