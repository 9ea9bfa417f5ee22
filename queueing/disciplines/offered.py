"""The load of open classes at a station where they arrive as Poisson streams."""

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.erlang.formulas import erlang_c
from headway.records import dataclass


@dataclass(frozen=True)
class Offered:
    """The load of open classes at a station, each of whose queues has m servers.

    Parameters
    ----------
    load
        Offered load of each class at a queue, shape (classes, points).
    times
        Mean service times [s], of the same shape.
    servers
        m, shape (points,).
    priority
        Priority of each class, 1 before 2; classes of one priority go in order of arrival.
    scv
        Squared coefficients of variation of the service times, of the same shape; exponential by
        default. Other values are for one server.
    """

    load: FloatArray
    times: FloatArray
    servers: FloatArray
    priority: tuple[int, ...]
    scv: FloatArray | None = None

    @property
    def left(self) -> FloatArray:
        """Mean rest of a service in progress, S (1 + scv) / 2 [s]."""
        return self.times if self.scv is None else self.times * (1 + self.scv) / 2

    @property
    def levels(self) -> list[Amount]:
        """Masks of the classes of each priority, the highest first, each of shape (classes,)."""
        ranks = np.array(self.priority)
        return [ranks == rank for rank in np.unique(ranks)]

    @property
    def given(self) -> FloatArray:
        """Servers that each class gets, after the classes of higher priority."""
        given, left = np.zeros(self.load.shape), self.servers
        for here in self.levels:
            load = self.load[here].sum(axis=0)
            got = np.minimum(load, left)
            some = np.where(load > 0, load, 1)
            given[here] = self.load[here] * np.where(load > 0, got / some, 0)
            left = left - got
        return given

    @property
    def in_service(self) -> FloatArray:
        """Mean wait in order of arrival times 1 - U, that is C(m, u) T / m with T the mean rest.

        For the servers that classes get, shape (points,) [s].
        """
        given = self.given
        load = given.sum(axis=0)
        some = load > 0
        mean = (given * self.left).sum(axis=0) / np.where(some, load, 1.0)
        full = load >= self.servers
        inside = np.where(some & ~full, load, self.servers / 2)
        chance = np.where(full, 1.0, np.asarray(erlang_c(self.servers, inside)))
        return np.asarray(np.where(some, chance, 0.0) * mean / self.servers)

    def share(self, here: Amount) -> FloatArray:
        """Share of the servers asked for by some classes, shape (points,)."""
        return np.asarray(self.load[here].sum(axis=0) / self.servers)


def while_stable(top: FloatArray, bottom: FloatArray, stable: Amount) -> FloatArray:
    """A quotient where the servers can carry the load, otherwise infinity."""
    return np.where(stable, top / np.where(stable, bottom, 1.0), np.inf)
