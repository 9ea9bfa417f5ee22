"""Outputs computed on demand: percentiles and distributions, by name."""

import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from headway.errors import InvalidParameter, nearest
from headway.kinds import Amount, check_domain
from headway.models.language.verbs import perform
from headway.models.solving.solutions.longer import OVER, parse_exceedance, station_longer
from headway.models.solving.solutions.queue_lengths import QueueLengths
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import of_class

PERCENTILE = "response_time_p"
"""Prefix of the names of percentiles."""

_NAME = re.compile(rf"(?:class (.+)\.)?{PERCENTILE}(\d+(?:\.\d+)?)", re.ASCII)
_DIGITS = 12

WAIT = "waiting_time_p"
"""Prefix of the names of a station's waiting-time percentiles."""

STATION_LAWS = ("empty_probability", "waiting_probability", "queue_length_variance")
"""Numbers of a station beside its means and waiting-time percentiles."""

_STATION = re.compile(rf"(.+)\.(?:({'|'.join(STATION_LAWS)})|{WAIT}(\d+(?:\.\d+)?))", re.ASCII)


@dataclass(frozen=True)
class StationOutput:
    """A number of a station that follows from a distribution.

    Parameters
    ----------
    station, part
        Whose it is, and what of it: one of `STATION_LAWS`, ``waiting_time_p95``, or
        ``waiting_time_over_10ms``.
    percent
        Of a percentile; None for others.
    time
        What a wait or a response exceeds [s]; None for others.

    Examples
    --------
    >>> StationOutput("disk", "empty_probability").name
    'disk.empty_probability'
    """

    station: str
    part: str
    percent: float | None = None
    time: float | None = None

    @property
    def name(self) -> str:
        """Its name in answers."""
        return f"{self.station}.{self.part}"


def parse_station_output(name: str, stations: Collection[str]) -> StationOutput | None:
    """Parse the name of an output that follows from a station's distribution.

    Parameters
    ----------
    name
        The name of any output.
    stations
        Names of the stations.

    Returns
    -------
    None for another output, and for an unknown station.

    Examples
    --------
    >>> parse_station_output("disk.waiting_time_p95.0", ["disk"]).name
    'disk.waiting_time_p95'
    >>> parse_station_output("disk.utilisation", ["disk"]) is None
    True
    """
    longer = station_longer(name, stations)
    if longer is not None:
        return StationOutput(longer[0], longer[1].part, time=longer[1].time)
    match = _STATION.fullmatch(name)
    if match is None or match[1] not in stations:
        return None
    if match[2]:
        return StationOutput(match[1], match[2])
    percent = float(match[3])
    return StationOutput(match[1], f"{WAIT}{percent:.{_DIGITS}g}", percent)


def percentile_name(percent: float) -> str:
    """Name of the time within which this percentage of the jobs completes.

    Examples
    --------
    >>> percentile_name(95.0), percentile_name(99.99999)
    ('response_time_p95', 'response_time_p99.99999')
    """
    return f"{PERCENTILE}{percent:.{_DIGITS}g}"


def parse_percentile(name: str, classes: Collection[str] = ()) -> tuple[float, str] | None:
    """The percentage in an output's name, and its name in answers.

    Parameters
    ----------
    name
        The name of any output.
    classes
        Names of the classes with percentiles.

    Returns
    -------
    None for another output, and for an unknown class.

    Examples
    --------
    >>> parse_percentile("response_time_p99.90"), parse_percentile("response_time_past")
    ((99.9, 'response_time_p99.9'), None)
    >>> parse_percentile("class web.response_time_p50", ["web"])
    (50.0, 'class web.response_time_p50')
    """
    match = _NAME.fullmatch(name)
    if match is None or match[1] not in (None, *classes):
        return None
    percent = float(match[2])
    part = percentile_name(percent)
    return percent, of_class(match[1], part) if match[1] else part


def parse_station_outputs(
    names: Iterable[str], stations: Collection[str]
) -> tuple[StationOutput, ...]:
    """The names of values that follow from distributions at stations.

    Examples
    --------
    >>> [one.name for one in parse_station_outputs(["disk.empty_probability", "x"], ["disk"])]
    ['disk.empty_probability']
    """
    outputs = (parse_station_output(name, stations) for name in names)
    return tuple(one for one in outputs if one)


def named_outputs(
    names: Iterable[str], known: Collection[str], classes: Collection[str], missing: str
) -> list[str]:
    """Names of outputs in answers.

    Parameters
    ----------
    names
        The requested names, which may include any percentile.
    known
        Names of all other outputs.
    classes
        Names of the classes with percentiles.
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
        percentile = parse_percentile(name, classes)
        if name not in known and percentile is None:
            msg = f"{missing} {name!r}{nearest(name, known)}"
            raise InvalidParameter(msg)
        full.append(percentile[1] if percentile else name)
    return full


def check_outputs(
    names: Iterable[str],
    known: Collection[str],
    classes: Collection[str],
    stations: Collection[str],
) -> None:
    """Refuse names that are neither in an answer nor computed on demand.

    Parameters
    ----------
    names
        The requested names.
    known, classes, stations
        Names of the outputs, of the classes of jobs, and of the stations.

    Raises
    ------
    InvalidParameter
        With the nearest names.

    Examples
    --------
    >>> check_outputs(["disk.waiting_time_p95", "throughput"], ["throughput"], (), ["disk"])
    """
    for name in names:
        if name in known or parse_percentile(name, classes) or parse_exceedance(name, classes):
            continue
        if parse_station_output(name, stations):
            continue
        parts = (*STATION_LAWS, f"{WAIT}95", "waiting_time_over_10ms")
        nearby = [*known, f"{PERCENTILE}95", f"{OVER}10ms"]
        nearby += [f"{s}.{part}" for s in stations for part in parts]
        msg = f"there is no number {name!r} to show{nearest(name, nearby)}"
        raise InvalidParameter(msg)


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

    @property
    @abstractmethod
    def stations(self) -> tuple[str, ...]:
        """Names of the stations."""

    @property
    @abstractmethod
    def classes(self) -> tuple[str, ...]:
        """Names of the classes of jobs."""

    def answering(self, *names: str) -> Self:
        """The same answer with requested outputs computed, such as ``response_time_p99``.

        Percentiles of the network, and of its stations ``disk.waiting_time_p95``,
        ``disk.empty_probability``, ``disk.waiting_probability`` and ``disk.queue_length_variance``;
        chances of longer times, ``response_time_over_10ms`` and ``disk.waiting_time_over_10ms``.

        Raises
        ------
        GraphError, InvalidParameter
            As for `with_percentile`.
        """
        percentiles = (parse_percentile(name, self.classes) for name in names)
        more = dict.fromkeys(one[0] for one in percentiles if one and one[1] not in self.values)
        laws = (parse_station_output(name, self.stations) for name in names)
        numbers = tuple(dict.fromkeys(one for one in laws if one and one.name not in self.values))
        longer = (parse_exceedance(name, self.classes) for name in names)
        chances = {one.part: one.time for one in longer if one and one.name not in self.values}
        answer = self.with_percentiles(more)
        answer = perform(answer, "exceedances", chances) if chances else answer
        complete: Self = perform(answer, "station_numbers", numbers) if numbers else answer
        return complete

    def with_percentile(self, percent: float) -> Self:
        """Add the time within which a share of the jobs completes.

        With several classes, for each and for all together. The answer states its accuracy.

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
        answer: Self = perform(self, "percentiles", percentages) if percentages else self
        return answer

    def queue_lengths(self, *stations: str) -> QueueLengths[Self]:
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
