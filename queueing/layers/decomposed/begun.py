"""Other jobs that second phases find at processors.

While a first phase is served, its caller waits for the answer, and is at no other server. It is
still there when the second phase begins, and comes back to the servers after a while. At a server
to which a member comes r times per second, and where it is a share p of its time, it is away for
Z = (1 - p) / r and stays for R = p / r. If both are exponential, its probability of being there,
a time t after it was certainly away, is

    p (1 - exp(-theta t)),   theta = 1 / Z + 1 / R = r / (p (1 - p)).

Averaged over an exponential second phase of mean T, this is p theta T / (1 + theta T). So a second
phase finds the jobs that its first phase finds, with weight 1 / (1 + theta T), or the jobs that any
other job of its task would find. In order of arrival the first of its 1 + Y slices arrives when it
begins, so that weight is 1.

If a caller and a second phase arrive at one server at the same time, after the answer, the first to
be served is drawn: each of the two slices waits for the other with probability 1/2.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.sources import Sources, Work
from headway.queueing.layers.decomposed.works import State, Works
from headway.queueing.layers.numerics.stations import NEVER, Column, Sums, stacked
from headway.queueing.playing.rows import IntArray
from headway.records import dataclass

_ALWAYS = 1 - 1e-9  # largest share of the time that a member is at a server


@dataclass(frozen=True, eq=False)
class Begin:
    """A second phase at a processor, for one source of its callers.

    Parameters
    ----------
    second, first
        The work, and the first phase before it.
    places
        The places that the first phase comes to, with their shares.
    there
        The work of the same source at the processor, by row.
    """

    second: Work
    first: Work
    places: Mapping[int, Amount]
    there: Mapping[int, Amount]


class Begun:
    """All second phases at processors, by their callers.

    Parameters
    ----------
    begins
        Second phases, in the order of their work.
    rows
        The work that comes to processors.
    works, sources, column
        Of a system, and how a number becomes a row.
    """

    def __init__(
        self,
        begins: Sequence[Begin],
        rows: IntArray,
        works: Works,
        sources: Sources,
        column: Column,
    ) -> None:
        self.works, self.column = works, column
        at = {row: n for n, row in enumerate(rows.tolist())}
        self.first = np.array([works.index[one.first] for one in begins], int)
        each = np.array([works.index[one.second] for one in begins], int)
        self.second, self.starts, self.of = np.unique(each, return_index=True, return_inverse=True)
        self.rows = np.array([at[row] for row in self.second.tolist()], int)
        self.places = Sums([one.places for one in begins], column)
        self.there = Sums([one.there for one in begins], column)
        members = [sources.all[one.first.source].population for one in begins]
        self.members = stacked(members, column)
        self.shared = works.shared[self.second]
        self._read_ties(sources, at)

    def _read_ties(self, sources: Sources, at: Mapping[int, int]) -> None:
        """Calls whose answer brings a slice of the caller and one of the second phase together."""
        works, found = self.works, []
        seconds = {works.all[row].entry: row for row in self.second.tolist()}
        for row, work in enumerate(works.all):
            place = sources.processor(work.entry)
            one = sources.system.processors[place]
            if row not in at or works.shared[row] or np.any(one.servers != 1):
                continue
            for entry, calls in sources.calls(work.entry, second=work.second).items():
                if entry in seconds and sources.processor(entry) == place:
                    passed = sum(sources.system.entries[entry].forwards.values())
                    found.append((row, seconds[entry], calls * (1 - passed)))
        self.ties = [(at[one], at[two]) for one, two, _ in found]
        self.tied = np.array([(one, two) for one, two, _ in found], int).reshape(-1, 2).T
        self.answers = np.stack([self.column(calls) for *_, calls in found]) if found else None

    def met(
        self, now: State, found: FloatArray, values: FloatArray, each: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Delays with second phases that meet what they do, and those phases without callers.

        Parameters
        ----------
        now
            The state.
        found, values
            Delays of rows, and of places.
        each
            Visits of all work [1/s], and jobs that are there.

        Returns
        -------
        Delays of rows, and mean second phases while their callers wait for them, by row of the
        first phase [s].
        """
        works, rows = self.works, self.second
        visits, there = self.there.of(each) / self.members
        there = np.clip(there, NEVER, _ALWAYS)
        back = visits / (there * (1 - there)) * now.mean[rows][self.of]
        back = back / (1 + back)
        later = np.where(self.shared, 1.0, 1 - 1 / np.maximum(works.slices[rows], 1.0))
        often = np.maximum((now.cycles * works.often)[self.first], NEVER)
        first = self.places.of(values)
        usual = found[self.rows][self.of]
        mixed = first + back * later[self.of] * (usual - first)
        total = np.add.reduceat(often, self.starts)
        alone, mixed = (
            np.add.reduceat(often * np.array([first, mixed]), self.starts, axis=1) / total
        )
        result, longer = found.copy(), np.zeros_like(now.second)
        result[self.rows] = mixed
        longer[rows] = (mixed - alone) * np.where(self.shared, works.busy[rows], works.slices[rows])
        if self.answers is not None:
            self._add_ties(now, result)
        return result, now.second - longer[works.second] * works.lasts

    def _add_ties(self, now: State, waits: FloatArray) -> None:
        """Add the wait for the other of two slices that arrive together, on average of all."""
        works, (one, two) = self.works, self.tied
        assert self.answers is not None  # noqa: S101 - there are ties
        slices = np.maximum(works.slices, NEVER)
        rate, slice_ = now.cycles * works.often, works.busy / slices
        share = rate[one] * self.answers / np.maximum(rate[two], NEVER) / slices[two]
        usual = np.minimum(rate[two] * works.busy[two], 0.5)  # as often as it is met in any case
        after = self.answers / slices[one] * (0.5 - usual) * slice_[two]
        before = 0.5 * share * slice_[one]
        for n, (caller, second) in enumerate(self.ties):
            waits[second] += before[n]
            waits[caller] += after[n]
