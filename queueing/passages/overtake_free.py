"""Passage time of a job that returns to no station, from the state in which it finds the network.

A job that arrives sees the network as it is in equilibrium with one job less (arrival theorem).
On an overtake-free path, the times at the stations are distributed as if the job found all of them
in that state at once. So E[exp(-s T)] is a ratio of normalising constants,

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

from dataclasses import dataclass

import numpy as np

from headway.queueing.passages.passage import Passage
from headway.queueing.times.absorption import is_overtake_free
from headway.queueing.times.laws import ComplexArray, gamma

NEARLY_CONSTANT = 0.01
"""Squared coefficient of variation by which a constant time is smoothed that only some jobs spend:
a jump in the distribution would be there otherwise. `STAYS_AS_ENTERED` was measured with it."""

_LEFT = -1


@dataclass(frozen=True)
class OvertakeFree:
    """A tagged job that visits each station of a passage once at most.

    Parameters
    ----------
    passage
        The network.
    order
        Its stations in topological order of the routes.

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

    def transform(self, s: ComplexArray) -> ComplexArray:
        """E[exp(-s T)], by one convolution a station and a set of paths that lead to it.

        `going` has, for each station where the job may be next, the series of the stations before
        it in the order, summed over the paths to it.
        """
        passage, base = self.passage, self.passage.at_delays(self.passage.others + 1)
        going: dict[int, ComplexArray] = {
            int(k): np.asarray(base * (passage.entries[k] + 0 * s))
            for k in np.flatnonzero(passage.entries)
        }
        nowhere = 1 - float(passage.entries.sum())
        if nowhere > 0:
            going[_LEFT] = np.asarray(base * (nowhere + 0 * s))
        for k in self.order:
            own, queue = going.pop(k, None), passage.queues[k]
            if queue is not None:
                going = {target: queue.times(series) for target, series in going.items()}
            if own is None:
                continue
            if queue is not None:
                own = queue.passed(own, s)
            else:
                own = np.asarray(own * gamma(passage.stations[k].own_time, NEARLY_CONSTANT)(s))
            targets = [(int(j), float(passage.onward[k, j])) for j in self.order]
            for target, chance in [*targets, (_LEFT, float(passage.leaving[k]))]:
                if chance > 0:
                    going[target] = going.get(target, 0) + chance * own
        return np.asarray(going[_LEFT][-1] / passage.constants[-1])


def cannot_overtake(passage: Passage) -> bool:
    """Whether `OvertakeFree` is exact.

    That holds for a single queue of any number of servers; for several if none is a delay, one path
    leads from each to each, and all have a single server but the first or last of a path.

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
