"""Outputs that are computed when they are asked for: percentiles and laws, by their names."""

import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from headway.errors import InvalidParameter, nearest
from headway.kinds import Amount, check_domain
from headway.models.language.verbs import perform
from headway.models.solving.solutions.longer import OVER, longer_asked, station_longer
from headway.models.solving.solutions.queue_lengths import QueueLengths
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import of_class

PERCENTILE = "response_time_p"
"""How the names of percentiles begin."""

_NAME = re.compile(rf"(?:class (.+)\.)?{PERCENTILE}(\d+(?:\.\d+)?)", re.ASCII)
_DIGITS = 12

WAIT = "waiting_time_p"
"""How the names of a station's percentiles of waiting begin."""

STATION_LAWS = ("empty_probability", "waiting_probability", "queue_length_variance")
"""What a station can be asked beside its means and percentiles of waiting."""

_STATION = re.compile(rf"(.+)\.(?:({'|'.join(STATION_LAWS)})|{WAIT}(\d+(?:\.\d+)?))", re.ASCII)


@dataclass(frozen=True)
class StationAsked:
    """A number of a station that follows from a law.

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
    >>> StationAsked("disk", "empty_probability").name
    'disk.empty_probability'
    """

    station: str
    part: str
    percent: float | None = None
    time: float | None = None

    @property
    def name(self) -> str:
        """The name as answers bear it."""
        return f"{self.station}.{self.part}"


def station_asked(name: str, stations: Collection[str]) -> StationAsked | None:
    """What an output's name asks of a station that follows from a law.

    Parameters
    ----------
    name
        Of any output.
    stations
        Names of the stations.

    Returns
    -------
    None for another output, and for a station that is none.

    Examples
    --------
    >>> station_asked("disk.waiting_time_p95.0", ["disk"]).name
    'disk.waiting_time_p95'
    >>> station_asked("disk.utilisation", ["disk"]) is None
    True
    """
    longer = station_longer(name, stations)
    if longer is not None:
        return StationAsked(longer[0], longer[1].part, time=longer[1].time)
    found = _STATION.fullmatch(name)
    if found is None or found[1] not in stations:
        return None
    if found[2]:
        return StationAsked(found[1], found[2])
    percent = float(found[3])
    return StationAsked(found[1], f"{WAIT}{percent:.{_DIGITS}g}", percent)


def percentile_name(percent: float) -> str:
    """Name of the time within which so many percent of the jobs are answered.

    Examples
    --------
    >>> percentile_name(95.0), percentile_name(99.99999)
    ('response_time_p95', 'response_time_p99.99999')
    """
    return f"{PERCENTILE}{percent:.{_DIGITS}g}"


def percentile_asked(name: str, classes: Collection[str] = ()) -> tuple[float, str] | None:
    """The percentage that an output's name asks for, and the name as answers bear it.

    Parameters
    ----------
    name
        Of any output.
    classes
        Names of the classes of jobs whose percentiles can be asked for.

    Returns
    -------
    None for another output, and for a class that is none.

    Examples
    --------
    >>> percentile_asked("response_time_p99.90"), percentile_asked("response_time_past")
    ((99.9, 'response_time_p99.9'), None)
    >>> percentile_asked("class web.response_time_p50", ["web"])
    (50.0, 'class web.response_time_p50')
    """
    found = _NAME.fullmatch(name)
    if found is None or found[1] not in (None, *classes):
        return None
    percent = float(found[2])
    part = percentile_name(percent)
    return percent, of_class(found[1], part) if found[1] else part


def numbers_asked(names: Iterable[str], stations: Collection[str]) -> tuple[StationAsked, ...]:
    """Those among the names of values that were asked of stations.

    Examples
    --------
    >>> [one.name for one in numbers_asked(["disk.empty_probability", "x"], ["disk"])]
    ['disk.empty_probability']
    """
    asked = (station_asked(name, stations) for name in names)
    return tuple(one for one in asked if one)


def named_outputs(
    names: Iterable[str], known: Collection[str], classes: Collection[str], missing: str
) -> list[str]:
    """Names of outputs as answers bear them.

    Parameters
    ----------
    names
        As they are asked for; percentiles, which no list holds all of, among them.
    known
        Names of all other outputs.
    classes
        Names of the classes of jobs whose percentiles can be asked for.
    missing
        How a message begins about a name that is none.

    Raises
    ------
    InvalidParameter
        With the nearest names.

    Examples
    --------
    >>> named_outputs(["throughput", "response_time_p99.0"], ["throughput"], (), "no output")
    ['throughput', 'response_time_p99']
    """
    found = []
    for name in names:
        asked = percentile_asked(name, classes)
        if name not in known and asked is None:
            msg = f"{missing} {name!r}{nearest(name, known)}"
            raise InvalidParameter(msg)
        found.append(asked[1] if asked else name)
    return found


def check_asked(
    names: Iterable[str],
    known: Collection[str],
    classes: Collection[str],
    stations: Collection[str],
) -> None:
    """Refuse names that no answer bears, and none can be asked for.

    Parameters
    ----------
    names
        As they are asked for.
    known, classes, stations
        Names of the outputs, of the classes of jobs, and of the stations.

    Raises
    ------
    InvalidParameter
        With the nearest names.

    Examples
    --------
    >>> check_asked(["disk.waiting_time_p95", "throughput"], ["throughput"], (), ["disk"])
    """
    for name in names:
        if name in known or percentile_asked(name, classes) or longer_asked(name, classes):
            continue
        if station_asked(name, stations):
            continue
        parts = (*STATION_LAWS, f"{WAIT}95", "waiting_time_over_10ms")
        nearby = [*known, f"{PERCENTILE}95", f"{OVER}10ms"]
        nearby += [f"{s}.{part}" for s in stations for part in parts]
        msg = f"there is no number {name!r} to show{nearest(name, nearby)}"
        raise InvalidParameter(msg)


def check_percent(percent: float) -> None:
    """Refuse a percentage that is not between 0 and 100, both out.

    Examples
    --------
    >>> check_percent(99.9)
    """
    check_domain("percentile", percent, lambda p: (p > 0) & (p < 100), "between 0 and 100")


class Asked:
    """An answer that more can be asked of."""

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
        """The same with what is to be computed of some names, such as ``response_time_p99``.

        Percentiles of the network, and of its stations ``disk.waiting_time_p95``,
        ``disk.empty_probability``, ``disk.waiting_probability`` and ``disk.queue_length_variance``;
        chances of longer times, ``response_time_over_10ms`` and ``disk.waiting_time_over_10ms``.

        Raises
        ------
        GraphError, InvalidParameter
            As for `with_percentile`.
        """
        asked = (percentile_asked(name, self.classes) for name in names)
        more = dict.fromkeys(one[0] for one in asked if one and one[1] not in self.values)
        laws = (station_asked(name, self.stations) for name in names)
        told = tuple(dict.fromkeys(one for one in laws if one and one.name not in self.values))
        longer = (longer_asked(name, self.classes) for name in names)
        chances = {one.part: one.time for one in longer if one and one.name not in self.values}
        found = self.with_percentiles(more)
        found = perform(found, "exceedances", chances) if chances else found
        more_told: Self = perform(found, "station_numbers", told) if told else found
        return more_told

    def with_percentile(self, percent: float) -> Self:
        """Add the time within which a share of the jobs is answered.

        Of several classes, of each and of all together. How exact it is, the answer says.

        Parameters
        ----------
        percent
            Between 0 and 100, e.g. 95: adds the output ``response_time_p95`` [s].

        Raises
        ------
        GraphError
            For a closed network, or where no distribution is known, with the reason.
        InvalidParameter
            For a percentage out of range.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> found = ModelGraph("one").station("cpu", MM1(0.1)).at().solve(5).with_percentile(95)
        >>> round(found["response_time_p95"], 6)  # 0.2 ln 20
        0.599146
        """
        return self.with_percentiles([percent])

    def with_percentiles(self, percents: Iterable[float]) -> Self:
        """Add several, as `with_percentile` adds one; what they follow is found once for all.

        Parameters
        ----------
        percents
            Each between 0 and 100.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> found = ModelGraph("one").station("cpu", MM1(0.1)).at().solve(5)
        >>> found.with_percentiles([50, 95]).outputs[-2:]
        ('response_time_p50', 'response_time_p95')
        """
        asked = tuple(percents)
        found: Self = perform(self, "percentiles", asked) if asked else self
        return found

    def queue_lengths(self, *stations: str) -> QueueLengths[Self]:
        """How many jobs are at stations: chances of 0, 1, 2..., by operating point.

        Exact where the solution is, for all kinds of station whose law is known; of several
        classes, all their jobs together. M/G/1's service is taken as gamma-distributed.

        Parameters
        ----------
        stations
            Names; every station if left out.

        Raises
        ------
        InvalidParameter
            For a name that is no station's.
        GraphError
            Where no law is known, as at a station with two moments only, with the reason.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").station("cpu", MM1(0.1)).at()
        >>> found = one.solve(population=2, think_time=1)
        >>> found.queue_lengths("cpu").chances("cpu").round(6).tolist()
        [0.819672, 0.163934, 0.016393]
        """
        found: QueueLengths[Self] = perform(self, "queue_lengths", stations)
        return found
