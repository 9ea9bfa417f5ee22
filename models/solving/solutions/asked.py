"""Outputs that are computed when they are asked for: percentiles, by their names."""

import re
from collections.abc import Collection, Iterable
from typing import Self

from headway.errors import InvalidParameter, nearest
from headway.kinds import check_domain
from headway.models.language.verbs import perform
from headway.models.structure.parts.keys import of_class

PERCENTILE = "response_time_p"
"""How the names of percentiles begin."""

_NAME = re.compile(rf"(?:class (.+)\.)?{PERCENTILE}(\d+(?:\.\d+)?)", re.ASCII)
_DIGITS = 12


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


def check_percent(percent: float) -> None:
    """Refuse a percentage that is not between 0 and 100, both out.

    Examples
    --------
    >>> check_percent(99.9)
    """
    check_domain("percentile", percent, lambda p: (p > 0) & (p < 100), "between 0 and 100")


class Asked:
    """An answer that more can be asked of."""

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
