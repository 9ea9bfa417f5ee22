"""Layered systems with one client left out: what one who comes to a server sees of the others.

Mean value analysis solves a closed network of N by that of N - 1, in which those who are met wait
for each other only (Reiser and Lavenberg, JACM 27(2), 1980, 313-322). Here both are solved at once,
side by side: the system as it is, and a view without one client of each kind. In the view, waits
are those behind a member less. Whoever comes there has to see a system without two; it is taken to
be smaller than the view by the same factor as the view is than the whole, number by number, as the
Linearizer takes shares of queues to be the same (Chandy and Neuse, CACM 25(2), 1982, 126-134).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.sources import Sources
from headway.queueing.layers.numerics.stations import Column, Sums
from headway.queueing.playing.rows import IntArray

_MANY = 100  # clients of whom one makes no difference; chosen, for speed


class Views:
    """A system as it is, and without one client of each kind: columns side by side.

    Parameters
    ----------
    sources
        Of a system.
    column
        How a number becomes a row of all operating points.

    Attributes
    ----------
    members, of
        Of each source its members, and its view: 0, in which nobody is left out, where it has none.
        Another 0 stands last, for the source -1.
    count, points
        Views, and columns of each.
    """

    def __init__(self, sources: Sources, column: Column) -> None:
        self._column, self.points = column, len(column(0.0))
        self.members = np.array([one.population for one in sources.all])
        clients = [one.own is not None and not one.own.second for one in sources.all]
        few = np.array(clients, bool) & (self.members <= _MANY)
        self.of = np.append(few * np.cumsum(few), 0)
        self.count = 1 + int(few.sum())

    def column(self, value: Amount) -> FloatArray:
        """A number as a row of all operating points in each view."""
        return np.tile(self._column(value), self.count)

    def within(self, view: Sequence[int]) -> FloatArray:
        """Of rows, each of a view, 1 in the columns of that view, and 0 elsewhere."""
        here = np.array(view, int)[:, np.newaxis] == np.arange(self.count)
        return np.repeat(here.astype(float), self.points, axis=1)


class Meetings(Sums):
    """Sums of work as one who comes sees it: of the system without it, in each view.

    Parameters
    ----------
    groups
        Work of each sum by its row, with its weight.
    comers
        The source that sees each sum without one of its members; -1 for nobody.
    source
        Of the work in each row.
    views
        Of the system.
    """

    def __init__(
        self,
        groups: Sequence[Mapping[int, Amount]],
        comers: Sequence[int] | IntArray,
        source: IntArray,
        views: Views,
    ) -> None:
        super().__init__(groups, views.column)
        comer = np.array(comers, int)[self.sums]
        view = views.of[comer]
        each = np.tile(np.arange(views.count + 1), (len(view), 1))
        each[:, -1] = view
        self._each = self.rows[:, np.newaxis] * views.count + each
        self._seen, self._points = bool(view.any()), views.points
        own = (view > 0) & (source[self.rows] == comer)
        if own.any():
            gone = own / np.where(own, views.members[comer], 1.0)
            self.weights = self.weights * (1 - gone[:, np.newaxis])

    def at(self, values: FloatArray) -> FloatArray:
        """Values for each row of each sum, as many times less as in the view of who comes."""
        if not self._seen:
            return super().at(values)
        before = values.shape[:-2]
        each = values.reshape(*before, -1, self._points).take(self._each, axis=-2)
        whole, without = each[..., :1, :], each[..., -1:, :]
        factor = np.where(whole > 0, without / np.where(whole > 0, whole, 1.0), 1.0)
        return np.asarray((each[..., :-1, :] * factor).reshape(*before, len(self.rows), -1))
