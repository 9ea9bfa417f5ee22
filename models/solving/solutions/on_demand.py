"""Outputs that are computed when they are asked for, such as percentiles and distributions."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Self

from headway.errors import InvalidParameter, nearest
from headway.kinds import Amount, check_domain
from headway.lazy import loaded
from headway.models.language.verbs import perform, who_does
from headway.models.structure.model import Model
from headway.models.structure.outputs import (
    OUTPUTS,
    Of,
    Request,
    on_demand,
    percentile_name,
)

if TYPE_CHECKING:
    from headway.models.solving.solutions.queue_lengths import QueueLengths
    from headway.queueing.times.laws import TimeLaw


def named_outputs(
    names: Iterable[str],
    known: Collection[str],
    classes: Collection[str],
    missing: str,
    stations: Collection[str] = (),
) -> list[str]:
    """Names of outputs in answers.

    Parameters
    ----------
    names
        The requested names, which may include outputs that are computed on demand.
    known
        Names of all other outputs.
    classes, stations
        Names of the classes of jobs, and of the stations.
    missing
        The beginning of the message about an unknown name.

    Raises
    ------
    InvalidParameter
        With the nearest names.

    Examples
    --------
    >>> named_outputs(["throughput", "response_time_p99.0"], ["throughput"], (), "no output")
    ['throughput', 'response_time_p99']
    """
    full = []
    for name in names:
        asked = on_demand([name], classes, stations)
        if name not in known and not asked:
            msg = f"{missing} {name!r}{nearest(name, [*known, *_examples(stations)])}"
            raise InvalidParameter(msg)
        full += [one.name for one in asked] or [name]
    return full


def _examples(stations: Collection[str]) -> list[str]:
    """A name of each output that is computed on demand."""
    rows = [row for row in OUTPUTS if row.compute]
    whole = [row.example for row in rows if row.of & Of.NETWORK]
    return [
        *whole,
        *(f"{s}.{row.example}" for s in stations for row in rows if row.of & Of.STATION),
    ]


def check_percent(percent: float) -> None:
    """Refuse a percentage that is not between 0 and 100, both excluded.

    Examples
    --------
    >>> check_percent(99.9)
    """
    check_domain("percentile", percent, lambda p: (p > 0) & (p < 100), "between 0 and 100")


class OnDemand:
    """An answer that can compute further outputs."""

    model: Model
    values: Mapping[str, Amount]
    shape: tuple[int, ...]
    requested: tuple[Request, ...]

    @property
    @abstractmethod
    def stations(self) -> tuple[str, ...]:
        """Names of the stations."""

    @property
    @abstractmethod
    def classes(self) -> tuple[str, ...]:
        """Names of the classes of jobs."""

    def answering(self, *names: str) -> Self:
        """The answer with requested outputs computed, such as ``response_time_p99``.

        Percentiles of the network, and of its stations ``disk.waiting_time_p95``,
        ``disk.empty_probability``, ``disk.waiting_probability`` and ``disk.queue_length_variance``;
        probabilities of longer times, ``response_time_over_10ms`` and
        ``disk.waiting_time_over_10ms``.

        Raises
        ------
        GraphError, InvalidParameter
            As for `with_percentile`.
        """
        requests = self._everywhere(on_demand(names, self.classes, self.stations))
        missing = [one for one in requests if one.name not in self.values]
        answer = self
        for compute, group in groupby(missing, lambda one: one.output.compute):
            place = loaded(compute) if ":" in compute else who_does(type(answer), compute)
            answer = place(answer, tuple(group))
        return replace(answer, requested=(*self.requested, *missing))  # type: ignore[type-var]

    def _everywhere(self, requests: Iterable[Request]) -> list[Request]:
        """Extend requests to the network and every class, in the order of answering."""
        whole: dict[str, Request] = {}
        for one in requests:
            both = one.of is not Of.STATION and one.output.of & Of.NETWORK
            each = [replace(one, owner="", of=Of.NETWORK)] if both else [one]
            if both and one.output.of & Of.CLASS:
                each += [replace(one, owner=name, of=Of.CLASS) for name in self.classes]
            whole |= {request.name: request for request in each}
        ranks = {row.compute: rank for rank, row in reversed([*enumerate(OUTPUTS)])}
        last = len(OUTPUTS)
        return sorted(whole.values(), key=lambda one: ranks.get(one.output.compute, last))

    def together(self, names: Iterable[str]) -> bool:
        """Whether requested outputs are computed for all operating points as one array.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> raid = catalogue_model("nfs-server").with_preset("raid").solve(800)
        >>> raid.together(["throughput"]), raid.together(["disks.empty_probability"])
        (True, False)
        """
        requests = on_demand(names, self.classes, self.stations)
        verbs = {one.output.together for one in requests}
        return all(verb and perform(self, verb) for verb in verbs)

    def with_percentile(self, percent: float) -> Self:
        """Add a percentile of the response time.

        With several classes, it is added for each and for all together. The answer states its
        accuracy.

        Parameters
        ----------
        percent
            Between 0 and 100, e.g. 95: adds the output ``response_time_p95`` [s].

        Raises
        ------
        GraphError
            If the distribution is unknown, with the reason.
        InvalidParameter
            For a percentage out of range.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> solution = ModelGraph("one").station("cpu", MM1(0.1)).at().solve(5).with_percentile(95)
        >>> round(solution["response_time_p95"], 6)  # 0.2 ln 20
        0.599146
        """
        return self.with_percentiles([percent])

    def with_percentiles(self, percents: Iterable[float]) -> Self:
        """Add several percentiles; their distribution is computed once.

        Parameters
        ----------
        percents
            Each between 0 and 100.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> solution = ModelGraph("one").station("cpu", MM1(0.1)).at().solve(5)
        >>> solution.with_percentiles([50, 95]).outputs[-2:]
        ('response_time_p50', 'response_time_p95')
        """
        percentages = tuple(percents)
        for percent in percentages:
            check_percent(percent)
        return self.answering(*map(percentile_name, percentages))

    def time_laws(self) -> "Sequence[Mapping[str, TimeLaw | None]]":
        """Laws of the response time, one mapping for each operating point in flat order.

        Returns
        -------
        By class of jobs, and for all jobs under ``""``; None where a station is saturated.

        Raises
        ------
        GraphError
            If the distribution is unknown, with the reason.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> [laws] = ModelGraph("one").station("cpu", MM1(0.1)).at().solve(5).time_laws()
        >>> laws[""].mean, round(laws[""].variance, 6)  # exponential of mean 0.2 s
        (0.2, 0.04)
        """
        laws: Sequence[Mapping[str, TimeLaw | None]] = perform(self, "time_laws")
        return laws

    def queue_lengths(self, *stations: str) -> "QueueLengths[Self]":
        """Number of jobs at stations: probabilities of 0, 1, 2..., by operating point.

        Exact if the solution is, for all kinds of station with a known distribution; with several
        classes, all their jobs together. Service at M/G/1 is assumed gamma-distributed.

        Parameters
        ----------
        stations
            Names; every station if left out.

        Raises
        ------
        InvalidParameter
            For a name that is not a station.
        GraphError
            If the distribution is unknown, as with only two moments, with the reason.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").station("cpu", MM1(0.1)).at()
        >>> solution = one.solve(population=2, think_time=1)
        >>> solution.queue_lengths("cpu").chances("cpu").round(6).tolist()
        [0.819672, 0.163934, 0.016393]
        """
        lengths: QueueLengths[Self] = perform(self, "queue_lengths", stations)
        return lengths
