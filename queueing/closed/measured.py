"""What approximations for closed networks miss, and the words that say so in every answer.

``python -m tests.approximation_errors`` measures: largest relative errors over random networks
that are solved exactly too (docs/accuracy.md has their distribution, medians and numbers).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from headway.numerals import digits
from headway.queueing.closed.demands import Method
from headway.queueing.closed.unlike import Apart

_NAMES = {Method.SCHWEITZER: "Bard-Schweitzer", Method.LINEARIZER: "Linearizer"}

MEASURED = {
    (Method.SCHWEITZER, "single"): (28.2, 39.2),
    (Method.LINEARIZER, "single"): (2.4, 5.4),
    (Method.SCHWEITZER, "pools"): (16.3, 19.8),
    (Method.LINEARIZER, "pools"): (6.4, 6),
}
"""Largest errors of throughputs and response times [%]."""

CLOSED_IN_ORDER = {Method.SCHWEITZER: (57.7, 211), Method.LINEARIZER: (43.3, 358)}
OPEN_IN_ORDER = 18.1
"""Largest errors where times differ by class at a queue in order of arrival [%].

Closed: of throughputs and response times, the largest of the latter where a job comes back at once
among open ones (``python -m tests.brute.campaign``); open: behind another such queue.
"""


OPEN_SPREAD = 20.4
"""Of open classes whose times are not exponential, of scvs from 0 to 4, behind another queue."""


@dataclass(frozen=True)
class Turns:
    """Names of stations that serve in order of arrival, and of those that do in random order."""

    in_order: tuple[str, ...] = ()
    at_random: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.in_order or self.at_random)


def closed_note(
    method: Method,
    *,
    pools: bool,
    in_order: Turns | Sequence[str] = (),
    spread: bool = False,
    apart: Apart | None = None,
) -> str:
    """The note on a closed network's approximation; empty for an exact method.

    Parameters
    ----------
    method
        How it was solved.
    pools
        Whether stations have several servers at one queue.
    in_order
        Stations that serve classes of different times in order of arrival, or in random order.
    spread
        Whether such times are not exponential.
    apart
        How far times are apart at stations in order of arrival, where all classes are closed.

    Examples
    --------
    >>> closed_note(Method.EXACT, pools=True)
    ''
    """
    if not method.approximate:
        return ""
    note = f"{_NAMES[method]} approximate mean value analysis"
    if not in_order:
        return f"{note}; {_largest(*MEASURED[method, 'pools' if pools else 'single'])}"
    note = f"{note} with {different_times(in_order, spread=spread)}"
    if apart is None:
        return f"{note}; {_largest(*CLOSED_IN_ORDER[method])}"
    return f"{note}; {_largest(*apart.errors(method), f' {apart}')}"


def open_note(in_order: Turns | Sequence[str], *, spread: bool = False) -> str:
    """The note on open classes with different times in order of arrival: what is approximate."""
    error = OPEN_SPREAD if spread else OPEN_IN_ORDER
    note = different_times(in_order, spread=spread)
    return f"{note}; largest error measured: response time {digits(error)} %"


def different_times(at: Turns | Sequence[str], *, spread: bool = False) -> str:
    """Words for stations whose turns no product form holds for; names alone are in order.

    Examples
    --------
    >>> different_times(Turns(("cpu",), ("disk",)))
    'cpu: first come first served, disk: served in random order, with times that differ by class'
    """
    turns = at if isinstance(at, Turns) else Turns(tuple(at))
    parts = [
        f"{', '.join(names)}: {word}"
        for names, word in (
            (turns.in_order, "first come first served"),
            (turns.at_random, "served in random order"),
        )
        if names
    ]
    other = " or are not exponential" if spread else ""
    comma = "," if len(parts) > 1 else ""
    return f"{', '.join(parts)}{comma} with times that differ by class{other}"


def _largest(rate: float, time: float, where: str = "") -> str:
    errors = f"throughput {digits(rate)} %, response time {digits(time)} %"
    return f"largest error measured{where}: {errors}"
