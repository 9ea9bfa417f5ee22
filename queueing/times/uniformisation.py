"""Time until an absorbing Markov chain ends, by uniformisation, and the size of chains followed.

A chain with transition rates Q among its states and rates r out of it makes steps at one rate
nu >= max(-q_ii): P = 1 + Q / nu is the matrix of a step. With p the distribution at the start, it
ends at step n with the probability a_n = p P**(n - 1) r / nu, and

    E[exp(-s T)] = sum over n of a_n (nu / (nu + s))**n.

Steps are made until few jobs are inside; from there on a_n decreases geometrically, as in the
limit, by the ratio of the last 50 steps.

Source: Jensen, Skandinavisk Aktuarietidskrift 36, 1953 (uniformisation).
"""

from functools import partial
from math import log
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from headway.kinds import FloatArray
from headway.queueing.compiled.library import compiled
from headway.queueing.erlang.poisson import poisson_near
from headway.queueing.times.laws import ComplexArray, Piece, TimeLaw, Transform

LAST = 50
"""Last steps over which the ratio of a_n is taken."""

_LEAST_STEPS = 120  # fewest steps, so that the last 50 come after the effects of the start
_STEPS = 1024  # steps made in one call, at least 120: Ctrl-C is checked between them
# standard deviations beyond which Poisson probabilities are below 1e-16 (Chernoff's bound)
_APART = 9.0
_AT_ONCE = 64  # powers of a transform that are summed at once: for speed

IntArray: TypeAlias = NDArray[np.int64]


class Truncation(NamedTuple):
    """How much of a tagged job's chain is kept, and the size up to which it is followed.

    Parameters
    ----------
    left_out
        Probability of the numbers of other jobs that are left out, at each end.
    inside
        Share of jobs still inside when the steps end.
    work
        Transitions times steps above which the chain is not followed: a limit for speed, at some
        3e8 a second.
    """

    left_out: float
    inside: float
    work: float

    def steps(self, steps_of_mean: float) -> float:
        """Steps until few jobs are inside, as if times were exponential: nu E[T] log(1 / inside).

        Examples
        --------
        >>> round(WHOLE.steps(100.0))
        1382
        """
        return steps_of_mean * -log(self.inside)

    def allows(self, moves: float, steps_of_mean: float, built: float = 0.0) -> bool:
        """Whether a chain is small enough to be followed.

        Parameters
        ----------
        moves
            Transitions between states.
        steps_of_mean
            nu E[T].
        built
            Number of steps that take as long as building the chain.
        """
        return bool(moves * (self.steps(steps_of_mean) + built) <= self.work)


WHOLE = Truncation(0.0, 1e-6, 3e9)
"""For all jobs in all states (`headway.queueing.passages.whole_chain`)."""

ONE_CLASS = Truncation(1e-9, 1e-6, 2e9)
"""For a tagged job in a closed network of one class, in order of arrival."""

AGGREGATED = ONE_CLASS._replace(left_out=1e-6)
"""The same for several classes, whose number has a longer tail if one of them is open."""

SHARED = tuple(Truncation(left_out, 1e-6, 7.9e8) for left_out in (1e-9, 2e-5, 2e-4))
"""At shared servers with jobs of several classes: `left_out` is the share of time in the states
that are left out, of the finest chain that can be followed.
"""

ONE_QUEUE = Truncation(1e-10, 1e-7, 5e8)
"""In an open network, at a single queue to which jobs return: exact, hence more work."""

LOOP = Truncation(1e-6, 1e-4, 5e8)
"""In an open network, at several stations to which jobs return."""


class AbsorbingChain(NamedTuple):
    """An absorbing Markov chain: arrays over its transitions, and over its states.

    Parameters
    ----------
    source, target, rate
        States before and after each transition, and its rate [1/s].
    exits
        Rate out of the chain from each state [1/s].
    start
        Initial probability of each state.

    Examples
    --------
    >>> two = AbsorbingChain(*np.array([[0], [1]]), np.ones(1), np.array([0, 1.0]), np.eye(2)[0])
    >>> round(two.law().mean, 9)
    2.0
    """

    source: NDArray[np.integer[Any]]
    target: NDArray[np.integer[Any]]
    rate: FloatArray
    exits: FloatArray
    start: FloatArray

    @property
    def leaving(self) -> FloatArray:
        """Rate at which each state is left, -q_ii [1/s]."""
        return np.asarray(np.bincount(self.source, self.rate, len(self.exits)) + self.exits)

    @property
    def pace(self) -> float:
        """Least rate of steps nu [1/s]."""
        return float(self.leaving.max())

    def without_dead_ends(self) -> "AbsorbingChain":
        """The chain without states that nothing leaves, as the states that follow are left out."""
        chain = self
        while not (goes_on := (chain.leaving > 0)[chain.target]).all():
            chain = chain._replace(
                source=chain.source[goes_on],
                target=chain.target[goes_on],
                rate=chain.rate[goes_on],
            )
        start = np.where(chain.leaving > 0, chain.start, 0.0)
        return chain._replace(start=start / start.sum())

    def law(self, mean: float | None = None, inside: float = 1e-6) -> TimeLaw:
        """Law of the time until the chain ends.

        Parameters
        ----------
        mean
            E[T] [s] to which the law is scaled; None to keep that of the chain.
        inside
            As in `Truncation`.
        """
        size, pace = len(self.exits), self.pace
        every = np.arange(size)
        places = np.append(self.target, every), np.append(self.source, every)
        chances = np.append(self.rate, pace - self.leaving) / pace
        moves = csr_array(coo_array((chances, places), (size, size)))
        steps = steps_out(moves, self.start, self.exits / pace, inside)
        law = law_of_steps(pace, steps)
        return law if mean is None else law_of_steps(pace * law.mean / mean, steps)


def steps_out(
    moves: Any, inside: FloatArray, share: FloatArray, few: float, least: int = _LEAST_STEPS
) -> FloatArray:
    """Probability a_n of leaving at each step, until few are inside.

    Parameters
    ----------
    moves
        P transposed: a sparse array by state after and before.
    inside
        Initial probability of each state.
    share
        Probability of leaving in a step, r / nu, by state; above 0 where everybody ends.
    few
        Share of jobs still inside when the steps end.
    least
        Steps that are made at least.
    """
    into = csr_array(moves)
    chain = into.indptr.astype(np.int64), into.indices.astype(np.int64), into.data
    now, after = np.array(inside, float), np.empty(len(inside))
    parts, made = list[FloatArray](), np.zeros(1, np.int64)
    while not parts or made[0] == _STEPS:
        left = np.empty(_STEPS)
        _absorbing_steps(*chain, share, now, after, left, few, least, made)
        parts.append(left[: made[0]])
        least = 0
    return np.concatenate(parts)


@compiled
def _absorbing_steps(
    starts: IntArray,
    sources: IntArray,
    chances: FloatArray,
    share: FloatArray,
    inside: FloatArray,
    after: FloatArray,
    left: FloatArray,
    few: float,
    least: int,
    made: IntArray,
) -> None:
    """Make at least `least` steps until few are inside, or the results are full.

    Parameters
    ----------
    starts, sources, chances
        P transposed, row after row.
    share, inside, few
        As for `steps_out`; `inside` and `after` are updated.
    left, made
        Which are written: a_1, a_2... and how many.
    """
    moves = csr_array((chances, sources, starts), (len(inside), len(inside)))
    made[0] = 0
    while made[0] < len(left) and (made[0] < least or inside.sum() > few):
        left[made[0]] = (share * inside).sum()  # not @: threads cost more
        after[:] = np.asarray(moves @ inside)
        inside[:] = after
        made[0] += 1


def law_of_steps(rate: float, steps: FloatArray) -> TimeLaw:
    """Law of a sum of exponential steps, a_n of n of them, that goes on geometrically.

    Parameters
    ----------
    rate
        nu [1/s].
    steps
        a_1, a_2... in proportion, 50 at least; if the last is 0, none go on.

    Examples
    --------
    >>> round(law_of_steps(1.0, 0.5 ** np.arange(1, 60)).mean, 9)
    2.0
    """
    ends = bool(steps[-1] == 0 or steps[-LAST] == 0)  # as where a single step is sure to end it
    falling = 0.0 if ends else float((steps[-1] / steps[-LAST]) ** (1 / (LAST - 1)))
    ratio = min(falling, 1 - 1e-9)
    beyond = float(steps[-1]) * ratio / (1 - ratio)
    total = float(steps.sum()) + beyond
    mean = float(steps @ np.arange(1, len(steps) + 1)) + beyond * (len(steps) + 1 / (1 - ratio))
    told = rate, steps / total, beyond / total, ratio
    sums = np.append(0.0, np.cumsum(told[1]))
    piece = Piece(0.0, _stepwise(*told), partial(_distribution_and_density, *told, sums))
    return TimeLaw((piece,), mean / total / rate)


def _distribution_and_density(
    rate: float, shares: FloatArray, beyond: float, ratio: float, sums: FloatArray, time: float
) -> tuple[float, float]:
    """P(T <= t) = sum over k of P(K = k) (a_1 + ... + a_k), of K steps by t, and the density.

    K follows Poisson's law of mean nu t, whose numbers beyond `_APART` deviations are left out;
    `sums` are 0, a_1, a_1 + a_2...
    """
    mean, count = rate * time, len(shares)
    least, chances = poisson_near(mean, _APART * (mean**0.5 + _APART))
    end = least + len(chances)
    left = ratio ** np.arange(max(least - count, 0), max(end - count, 0))  # beyond the last step
    until = np.append(sums[least : min(end, count)], sums[count] + beyond * (1 - left))
    following = np.append(shares[least:end], beyond * (1 - ratio) * left)
    return float(chances @ until), float(rate * chances @ following)


def _stepwise(rate: float, shares: FloatArray, beyond: float, ratio: float) -> Transform:
    """Sum over n of a_n z**n, z = rate / (rate + s), by Horner's scheme over blocks of powers."""
    filled = np.zeros(-(-len(shares) // _AT_ONCE) * _AT_ONCE)
    filled[: len(shares)] = shares
    blocks = filled.reshape(-1, _AT_ONCE)

    def law(s: ComplexArray) -> ComplexArray:
        step = rate / (rate + s)
        tail = beyond * step ** len(shares) * (1 - ratio) * step / (1 - ratio * step)
        powers = np.cumprod(np.broadcast_to(step, (_AT_ONCE, *step.shape)), axis=0)
        sums = np.einsum("ij,jk->ik", blocks, powers)  # not @: threads cost more than they give
        total = np.zeros_like(s)
        for block in sums[::-1]:
            total = total * powers[-1] + block
        return np.asarray(total + tail)

    return law
