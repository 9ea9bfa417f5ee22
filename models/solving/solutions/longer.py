"""Chances of longer times, such as ``response_time_over_10ms``: their names, and what they ask."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from headway.models.language.units import quantity, unit
from headway.models.structure.parts.keys import of_class

OVER = "response_time_over_"
"""How the names of chances that a response takes longer begin."""

_TIME = r"(\d+(?:\.\d+)?)(ns|us|ms|s)"
_NAME = re.compile(rf"(?:class (.+)\.)?{OVER}{_TIME}", re.ASCII)
_STATION = re.compile(rf"(.+)\.(waiting|response)_time_over_{_TIME}", re.ASCII)
_DIGITS = 12


@dataclass(frozen=True)
class Longer:
    """A probability that is requested by name.

    Parameters
    ----------
    name, part
        As answers bear it, and that of the quantity alone.
    time
        What is exceeded [s].
    """

    name: str
    part: str
    time: float


def parse_exceedance(name: str, classes: Collection[str] = ()) -> Longer | None:
    """The probability of a longer response in an output's name.

    Parameters
    ----------
    name
        Of any output.
    classes
        Names of the classes of jobs whose chances can be asked for.

    Returns
    -------
    None for another output, and for a class that is none.

    Examples
    --------
    >>> exceedance = parse_exceedance("response_time_over_10.0ms")
    >>> exceedance.name, exceedance.time
    ('response_time_over_10ms', 0.01)
    >>> parse_exceedance("class web.response_time_over_2s", ["web"]).name
    'class web.response_time_over_2s'
    """
    match = _NAME.fullmatch(name)
    if match is None or match[1] not in (None, *classes):
        return None
    text, time = _read(match[2], match[3])
    part = f"{OVER}{text}"
    return Longer(of_class(match[1], part) if match[1] else part, part, time)


def station_longer(name: str, stations: Collection[str]) -> tuple[str, Longer] | None:
    """The station and the probability of a longer visit in an output's name.

    Examples
    --------
    >>> station, answer = station_longer("cpu.waiting_time_over_2.5ms", ["cpu"])
    >>> station, answer.part, answer.time
    ('cpu', 'waiting_time_over_2.5ms', 0.0025)
    """
    match = _STATION.fullmatch(name)
    if match is None or match[1] not in stations:
        return None
    text, time = _read(match[3], match[4])
    part = f"{match[2]}_time_over_{text}"
    return match[1], Longer(f"{match[1]}.{part}", part, time)


def is_longer(part: str) -> bool:
    """Whether the name of a part of an answer is that of such a chance.

    Examples
    --------
    >>> is_longer("waiting_time_over_10ms"), is_longer("waiting_time_p95")
    (True, False)
    """
    return re.search(rf"_time_over_{_TIME}$", part, re.ASCII) is not None


def _read(number: str, of: str) -> tuple[str, float]:
    text = f"{float(number):.{_DIGITS}g}{of}"
    return text, quantity(text, unit("s"))
