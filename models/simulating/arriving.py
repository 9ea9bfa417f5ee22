"""Write a plan's arrivals into a score: sources, laws of their gaps, batch sizes, tables."""

from itertools import accumulate
from math import sqrt

from headway.models.simulating.plan import Blueprint
from headway.models.simulating.playing.rows import Size, Source
from headway.models.simulating.streams import Stream
from headway.queueing.flows.courses import RateTable
from headway.queueing.playing.laws import law_of
from headway.queueing.playing.rows import Family, Law


class Arriving:
    """Sources as they are written, one after the other, with the tables that they refer to.

    Parameters
    ----------
    plan
        The plan whose streams are written.
    """

    def __init__(self, plan: Blueprint) -> None:
        self.sizes: list[Size] = []
        self.tables: list[float] = []
        streams = [(c, each) for c, jobs in enumerate(plan.classes) for each in jobs.arriving]
        self.sources = [self._source(c, each) for c, each in streams]
        self.laws = [self._law(each) for _, each in streams]

    def _source(self, c: int, stream: Stream) -> Source:
        row = Source(c, stream.station)
        if stream.batch is not None:
            row.more = stream.batch.more
            row.size, row.sizes = len(self.sizes), len(stream.batch.rows)
            sizes, chances = zip(*stream.batch.rows, strict=True) if row.sizes else ((), ())
            self.sizes += map(Size, accumulate(chances), sizes)
        return row

    def _law(self, stream: Stream) -> Law:
        """The law of the times between arrivals, or between batches."""
        if stream.gaps:
            return Law(Family.TRACE, self._table(stream.gaps), len(stream.gaps))
        if stream.changing is not None:
            return self._changing(stream.changing)
        mean = 1.0 if stream.batch is None else float(stream.batch.mean)
        return _gaps(stream.rate / mean, stream.scv)

    def _changing(self, table: RateTable) -> Law:
        numbers = (*table.starts, *table.rates, table.mean * table.period)
        return Law(Family.RATES, self._table(numbers), len(table.starts), table.period)

    def _table(self, numbers: tuple[float, ...]) -> float:
        """Write numbers into the table, and return where they begin."""
        self.tables += numbers
        return float(len(self.tables) - len(numbers))


def _gaps(rate: float, scv: float) -> Law:
    """Law of times between arrivals: above an scv of 1, hyperexponential with balanced means."""
    if scv <= 1:
        return law_of(1 / rate, scv)
    first = (1 + sqrt((scv - 1) / (scv + 1))) / 2
    return Law(Family.HYPEREXPONENTIAL, first, 1 / (2 * rate * first), 1 / (2 * rate * (1 - first)))
