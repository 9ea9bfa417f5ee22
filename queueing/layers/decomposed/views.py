"""Layered systems with one client fewer: what an arriving job sees of the others.

Mean value analysis solves a closed network of N jobs from that of N - 1, in which the jobs that an
arrival meets wait only for each other (Reiser and Lavenberg, JACM 27(2), 1980, 313-322). Here both
are solved at once, side by side: the system itself, and for each kind of clients a view with one
client fewer, in which waits are those with one member fewer. A job arriving in a view has to see a
system with two fewer. Each number there is taken to be smaller than in the view by the same factor
as in the view over the system, as the Linearizer assumes for shares of queues (Chandy and Neuse,
CACM 25(2), 1982, 126-134).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.sources import Sources
from headway.queueing.layers.numerics.stations import Column, Sums, stacked
from headway.queueing.playing.rows import IntArray

MANY_CLIENTS = 100
"""Clients of which one fewer makes no difference; chosen, for speed."""


class Views:
    """A system, and its views with one client fewer of each kind, as columns side by side.

    Parameters
    ----------
    sources
        The sources of a system.
    column
        Function from a number to a row over all operating points.

    Attributes
    ----------
    populations, members, of
        For each source, its members, also as a row, and the number of its view, or 0 (the whole
        system) if it has none. A last 0 is for the source -1.
    count, points
        Number of views, and number of columns of each.
    """

    def __init__(self, sources: Sources, column: Column) -> None:
        self._column, self.points = column, len(column(0.0))
        clients = [one.own is not None and not one.own.second for one in sources.all]
        most = [np.max(one.population) for one in sources.all]
        few = np.array(clients, bool) & (np.array(most) <= MANY_CLIENTS)
        self.of = np.append(few * np.cumsum(few), 0)
        self.count = 1 + int(few.sum())
        self.populations = [one.population for one in sources.all]
        self.members = stacked(self.populations, self.column)

    def column(self, value: Amount) -> FloatArray:
        """A number as a row over all operating points, in each view."""
        if np.ndim(value) == 0:
            return np.full(self.count * self.points, value, float)
        return np.tile(self._column(value), self.count)

    def within(self, view: Sequence[int]) -> FloatArray:
        """For each row the columns of its view are 1, all others 0."""
        here = np.array(view, int)[:, np.newaxis] == np.arange(self.count)
        return np.repeat(here.astype(float), self.points, axis=1)


class Meetings(Sums):
    """Sums over work as an arriving job sees it in each view: in the system without that job.

    Parameters
    ----------
    groups
        Rows of work in each sum, with their weights.
    comers
        The source of the arriving job of each sum, which has one member fewer; -1 for none.
    source
        The source of the work in each row.
    views
        The views of the system.
    """

    def __init__(
        self,
        groups: Sequence[Mapping[int, Amount]],
        comers: Sequence[int] | IntArray,
        source: IntArray,
        views: Views,
    ) -> None:
        super().__init__(groups, views.column)
        self._empty = not any(groups)
        comer = np.array(comers, int)[self.sums]
        view = views.of[comer]
        each = np.tile(np.arange(views.count + 1), (len(view), 1))
        each[:, -1] = view
        self._each = self.rows[:, np.newaxis] * views.count + each
        self._seen, self._points = bool(view.any()), views.points
        own = (view > 0) & (source[self.rows] == comer)
        if own.any():
            mine = own[:, np.newaxis]
            self.weights = self.weights * (1 - mine / np.where(mine, views.members[comer], 1.0))

    def of(self, values: FloatArray) -> FloatArray:
        """Sums of values of the shape (..., rows, points)."""
        if self._empty:
            return np.zeros((*values.shape[:-2], len(self.begins) - 1, values.shape[-1]))
        return self.over(self.at(values)) if self._seen else super().of(values)

    def at(self, values: FloatArray) -> FloatArray:
        """Values of each term, reduced as from the system to the arriving job's view."""
        if not self._seen:
            return super().at(values)
        before = values.shape[:-2]
        each = values.reshape(*before, -1, self._points).take(self._each, axis=-2)
        whole, without = each[..., :1, :], each[..., -1:, :]
        factor = np.where(whole > 0, without / np.where(whole > 0, whole, 1.0), 1.0)
        return np.asarray((each[..., :-1, :] * factor).reshape(*before, len(self.rows), -1))
