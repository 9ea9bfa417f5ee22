"""Distribution of the number of jobs of all classes at a station with a product form: exact.

The generating function of a station is F(s) with s = sum over classes of D_c z_c; open classes of
utilisation u make it F(s + u). The coefficient of z**N in its n-th term times the product of all
other stations is, up to normalisation, the probability of n jobs there. An arrival of class c finds
the network with one job of class c fewer (arrival theorem).

Source: Reiser and Kobayashi, IBM J. Res. Dev. 19, 1975; Lavenberg and Reiser, J. Appl. Prob.
17(4), 1980.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError, InvalidParameter
from headway.kinds import FloatArray
from headway.queueing.classes.lattice import lattice_for
from headway.queueing.classes.lattice_convolution import (
    LatticeStation,
    Speeds,
    thinking_jobs,
    within_capacity,
)
from headway.queueing.classes.methods import convolution_stations
from headway.queueing.classes.whole import whole_numbers
from headway.queueing.network.network import JobClass, Network, SharedStation, read_network
from headway.queueing.network.overload import find_overload, refuse_overload
from headway.queueing.network.product_form import lawless
from headway.queueing.numbers.laws import (
    MOST_NUMBERS,
    NumberLaw,
    delayed,
    moving,
    served,
    side_by_side,
)
from headway.queueing.stations.abilities import ServiceKind
from headway.records import dataclass

_NOTHING = 1e-18  # of the total: further terms are neglected, digits only
_LEAST = 1e-280  # a smaller total may have lost digits to underflow, and is refused


def class_marginal(
    stations: Sequence[SharedStation],
    classes: Sequence[JobClass],
    place: int,
    guess: FloatArray | None = None,
) -> NumberLaw:
    """The distribution of the number of jobs at a station, at one operating point.

    Parameters
    ----------
    stations, classes
        As for `headway.queueing.solve_multiclass`, with numbers.
    place
        Index of the station.
    guess
        Throughputs of the classes near the solution, shape (classes,) [1/s]; in principle any will
        do.

    Raises
    ------
    Saturated
        For open classes that some station cannot serve.
    GraphError
        For a station without a product form.
    InvalidParameter
        For a lattice of populations, or numbers of jobs, that are too large.

    Examples
    --------
    >>> cpu = SharedStation("cpu", service_times=(0.1, 0.2), visits=(1, 1))
    >>> web, batch = JobClass("web", arrival_rate=5.0), JobClass("batch", population=1)
    >>> law = class_marginal([cpu], [web, batch], place=0)
    >>> law.chances(3).round(9).tolist()  # the closed job is always there
    [0.0, 0.25, 0.25, 0.1875]
    """
    network = read_network(stations, classes)
    if network.shape != ():
        raise InvalidParameter(
            "headway computes job-count distributions at one operating point at a time; "
            "pass single values"
        )
    overload = find_overload(network)
    refuse_overload(overload)
    reason = lawless(network)
    if reason:
        raise GraphError(reason)
    jobs = network.population.sum()
    if jobs == 0:
        return _open_only(network, place, float(overload.load[place, 0]))
    return _StationMarginal(network, place, overload.load, guess).law()


def whole_marginal(network: Network, place: int) -> NumberLaw:
    """The distribution of the number of jobs of closed classes at a station, state by state.

    Parameters
    ----------
    network
        The network with the routes of its classes, at one operating point; small, and with
        exponential services.
    place
        Index of the station.

    Raises
    ------
    GraphError
        If there is no chain.

    Examples
    --------
    >>> from headway.queueing.network.routing import Routing
    >>> from headway.queueing import Discipline
    >>> ways = Routing(np.ones((2, 1, 1)), np.zeros((2, 1, 1, 2, 1)))
    >>> cpu = SharedStation("cpu", (1.0, 1.0), (1, 1), discipline=Discipline.FCFS)
    >>> two = [JobClass(c, population=1, think_time=1.0) for c in "ab"]
    >>> whole_marginal(read_network([cpu], two, ways), 0).head.round(9).tolist()
    [0.2, 0.4, 0.4]
    """
    chances = whole_numbers(network, place)
    if chances is None:
        raise GraphError(lawless(network) or "the network has no Markov chain")
    return NumberLaw(chances[0], waits=chances[1])


def _open_only(network: Network, place: int, load: float) -> NumberLaw:
    """Open classes only: their total depends on the total load, as for one class."""
    kind, count = network.stations[place].kind, int(network.servers[place, 0])
    if kind is ServiceKind.DELAY:
        return delayed(load)
    if kind is ServiceKind.PARALLEL:
        return side_by_side(count, load / count)
    if kind is ServiceKind.VARYING:
        ratios = load / network.speeds[place][:, 0]
        return moving(ratios, float(ratios[-1]))
    return served(count, load)


@dataclass(frozen=True)
class _Term:
    """Terms of n jobs at the station, unnormalised: for all jobs, and with a job fewer."""

    number: int
    here: float
    without: FloatArray


class _StationMarginal:
    """A station, and the product of all others over the lattice."""

    def __init__(
        self, network: Network, place: int, load: FloatArray, guess: FloatArray | None
    ) -> None:
        self.network, self.place = network, place
        self.closed: NDArray[np.bool_] = ~network.is_open & (network.population[:, 0] > 0)
        population = network.population[self.closed]
        which, speeds, taken, copies = convolution_stations(network, load)
        near = self._starting_throughputs(guess)
        others = self._others(which, speeds, copies, taken, near)
        self.lattice = lattice_for(population, max(len(which), 1))
        rate = within_capacity(others)
        self.rate = rate[:, 0]
        self.load = self.rate * network.demand[self.closed, place, 0]
        self.open = float(load[place, 0])
        series = thinking_jobs(self.lattice, rate * others.think_time)
        for row, k in enumerate(which):
            if k != place:
                series = LatticeStation(others, row, rate, self.lattice).times(series)
        self.others = series
        self.row = int(self.lattice.row(population)[0])

    def _starting_throughputs(self, guess: FloatArray | None) -> FloatArray:
        """Throughputs of the closed classes, for scaling: as given, or without waiting."""
        network, closed = self.network, self.closed
        if guess is not None:
            return np.asarray(np.maximum(np.asarray(guess, float)[closed][:, None], 1e-300))
        time = network.think_time[closed] + network.demand[closed].sum(axis=1)
        return np.asarray(network.population[closed] / time)

    def _others(
        self,
        which: list[int],
        speeds: tuple[FloatArray, ...],
        copies: FloatArray,
        taken: FloatArray,
        guess: FloatArray,
    ) -> Speeds:
        """Queues of the convolution, parallel ones separate; delays are added to think times."""
        network = self.network
        demand = network.demand[self.closed]
        away = network.is_delay.copy()
        away[self.place] = False
        still = network.think_time[self.closed] + demand[:, away].sum(axis=1)
        population = network.population[self.closed]
        return Speeds(demand[:, which] / copies, speeds, taken, still, population, guess)

    def law(self) -> NumberLaw:
        """Probabilities of 0, 1, 2... jobs, and the probability to wait."""
        terms = list(self._terms())
        here = np.array([term.here for term in terms])
        total = here.sum()
        if not (total > _LEAST and np.isfinite(total)):
            msg = (
                "convolution exceeded the range of floating-point numbers, so the "
                "probabilities are unknown; reduce the population"
            )
            raise InvalidParameter(msg)
        return NumberLaw(here / total, waits=self._waits(terms, here))

    def _terms(self) -> Iterator[_Term]:
        """Terms of n = 0, 1, 2... jobs, up to the last one or until the rest is negligible."""
        series, total, most = self.others, 0.0, int(self.network.population.sum())
        series = series * np.exp(-self.load.sum() - self.open)
        for number in range(MOST_NUMBERS):
            here, rows = float(series[self.row, 0]), self._fewer()
            yield _Term(number, here, series[rows, 0])
            total += here
            done = number >= most and here * (number + 1) <= _NOTHING * total
            if done or (number >= most and self.open == 0):
                return
            series = self._times_load(series) * self._coefficient_ratio(number + 1)
        msg = (
            f"more than {MOST_NUMBERS:,} jobs may be present, too many to list their probabilities"
        )
        raise InvalidParameter(msg)

    def _fewer(self) -> NDArray[np.intp]:
        """Rows of the populations with one job of each closed class fewer."""
        return np.array([fewer[self.row] for fewer in self.lattice.fewer])

    def _times_load(self, series: FloatArray) -> FloatArray:
        """Multiply a series by s + u."""
        result = self.open * series
        for share, fewer in zip(self.load, self.lattice.fewer, strict=True):
            result[:-1] += share * series[fewer]
        return np.asarray(result)

    def _coefficient_ratio(self, number: int) -> float:
        """Ratio of the n-th coefficient of F to the one before."""
        network, k = self.network, self.place
        kind, count = network.stations[k].kind, network.servers[k, 0]
        if kind is ServiceKind.DELAY:
            return 1 / number
        if kind is ServiceKind.PARALLEL:
            return float((number + count - 1) / (number * count))
        if kind is ServiceKind.VARYING:
            speeds = network.speeds[k][:, 0]
            return float(1 / speeds[min(number, len(speeds)) - 1])
        return float(1 / min(number, count))

    def _waits(self, terms: list[_Term], here: FloatArray) -> float:
        """Share of all arrivals that find no free server; NaN without arrivals."""
        network, k = self.network, self.place
        number = np.array([term.number for term in terms])
        busy = _none_free(network.stations[k].kind, network.servers[k, 0], number)
        without = np.array([term.without for term in terms])
        visits = network.visits[:, k, 0]
        coming, opened = visits[self.closed] * self.rate, float(network.rates[:, 0] @ visits)
        total = coming @ without.sum(axis=0) + opened * here.sum()  # X_c = rate_c G(N - 1_c) / G(N)
        waiting = coming @ (busy @ without) + opened * (busy @ here)
        return float(waiting / total) if total > 0 else np.nan


def _none_free(kind: ServiceKind, count: float, number: FloatArray) -> FloatArray:
    """Probability that an arrival that finds n jobs waits, by number."""
    if kind is ServiceKind.DELAY:
        return np.zeros(len(number))
    if kind is ServiceKind.VARYING:  # varying speeds do not say how many jobs are served at once
        return np.full(len(number), np.nan)
    if kind is ServiceKind.PARALLEL:
        return np.asarray(number / np.maximum(number + count - 1, 1))
    return np.asarray((number >= count).astype(float))
