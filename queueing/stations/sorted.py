"""A station whose discipline depends on service times, with the mean waits that follow."""

from typing import Any, ClassVar

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, Quantity, is_symbolic, number, plain
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.disciplines.offered import Offered
from headway.queueing.stations.abilities import Abilities
from headway.queueing.stations.base import Station
from headway.records import dataclass


@dataclass(frozen=True)
class SortedStation(Station):
    """A station with the mean wait of a discipline that depends on service times: R = W + S.

    Parameters
    ----------
    kind
        The station without its discipline, with numbers or symbols.
    discipline
        Which jobs go first, by their service times.
    refused
        Why mean waits are not known in its network; empty if they are.

    Raises
    ------
    GraphError
        By `waiting_time`, if the law does not hold, and for symbols.
    """

    can: ClassVar[Abilities] = Abilities(shared=True)
    lawless: ClassVar[str] = "under its discipline only mean times are known"

    kind: Station
    discipline: Discipline
    refused: str = ""

    @property
    def service_time(self) -> Amount:  # type: ignore[override]
        """Service time of its kind [s]."""
        return number("service_time", self.kind.service_time)

    @property
    def count(self) -> Quantity:
        """Number of servers of its kind."""
        return self.kind.count

    @property
    def label(self) -> str:
        """Its kind, and its discipline."""
        return f"{self.kind.label} under discipline {self.discipline}"

    @property
    def bare(self) -> Station:
        """The station without its discipline."""
        return self.kind

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """Mean wait of all jobs by the law of the discipline [s]; infinite from saturation on."""
        scv: Any = self.kind.can.service_scv
        scv = number("scv", getattr(self.kind, scv)) if isinstance(scv, str) else scv
        if is_symbolic(arrival_rate, self.service_time, scv):
            msg = (
                f"mean waits under discipline {self.discipline} have no closed form; solve with "
                "numbers"
            )
            raise GraphError(msg)
        numbers: tuple[Any, ...] = (arrival_rate, self.service_time, self.count, scv)
        given = np.broadcast_arrays(*(np.asarray(each, float) for each in numbers))
        rates, times, servers, scvs = map(np.ravel, given)
        if self.refused or (servers != 1).any():
            raise GraphError(self.refused or self.discipline.needs)
        offered = Offered(rates[None] * times, times[None], servers, (1,), scvs[None])
        waits = self.discipline.open_waits(offered)[0]
        waits = np.where(offered.load[0] < 1, waits, np.inf)
        return plain(waits.reshape(given[0].shape))
