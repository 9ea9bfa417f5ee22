"""What a method of solution is: a row of one table.

A row says what a method answers, what it needs of a network, what it costs, how far it may be
off, and which function it is. Whoever chooses, refuses, labels or documents a method reads its row.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from functools import cache, cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from headway.lazy import loaded
from headway.numerals import digits
from headway.queueing.methods.memory import LARGEST
from headway.queueing.network.subject import Subject as Subject
from headway.records import dataclass

if TYPE_CHECKING:
    from headway.queueing.network.network import Network
    from headway.queueing.network.result import Result


class Solvable(Protocol):
    """What methods solve: a network, or a layered system."""

    @property
    def subject(self) -> Subject:
        """What it is to the functions that solve it."""

    @property
    def found(self) -> dict[int, str]:
        """What it has not of the needs of methods, by need."""

    @property
    def kinds(self) -> tuple[Any, ...]:
        """Kinds of the stations of one class; empty for all else."""


LONGEST = 3600.0
"""Estimated time beyond which a method is refused, even when asked for [s]."""


class Answers(StrEnum):
    """What a method can answer."""

    MEANS = "means"
    NUMBERS = "numbers of jobs"
    TIMES = "percentiles"
    BOUNDS = "bounds"
    FORMULA = "closed form"


@dataclass(frozen=True)
class Need:
    """Something that a method needs of a network.

    Parameters
    ----------
    words
        What it is, as in ``needs ...``.
    missing
        Says in one line what is in the way, and how to mend it; empty where nothing is. In it
        ``{asked}`` stands for the method. A function of the network, or its place.
    far
        Whether a network that has it not is another matter altogether, so that the method is not
        the nearest.
    firm
        Whether no other method answers in its place, when this one is asked for.
    common
        Whether all methods of its kind have it, so that lists need not repeat it.
    by_class
        Whether it is of classes that share stations, so that one class always has it.

    Examples
    --------
    >>> from headway.queueing.methods.needs import CLOSED
    >>> CLOSED.words
    'a closed class'
    """

    words: str
    missing: str | Callable[["Network"], str]
    far: bool = False
    firm: bool = False
    common: bool = False
    by_class: bool = False

    def of(self, network: Solvable) -> str:
        """What a network has not, as `missing` says it; found once, as many methods ask."""
        if self.by_class and network.kinds:
            return ""
        known: dict[int, str] = network.found
        why = known.get(id(self))
        if why is None:
            why = known[id(self)] = _of(self.missing, network)
        return why


@dataclass(frozen=True)
class Cost:
    """What a method takes for a network.

    Parameters
    ----------
    memory, seconds
        In all [B], [s]; the time is that of one machine in Python alone, for comparison. Patience
        goes by it, so that what is answered does not depend on whether kernels were built.
    obstacle
        Why it cannot be had at all; empty if it can.
    by_kernel
        The time where kernels were built and save some [s]; of exact methods the one is taken that
        is the quickest here.

    Examples
    --------
    >>> Cost(8e6, 0.1).fits, Cost(2e9, 0.1).fits
    (True, False)
    """

    memory: float = 0.0
    seconds: float = 0.0
    obstacle: str = ""
    by_kernel: float | None = None

    @property
    def here(self) -> float:
        """The time with what was built [s]."""
        return self.seconds if self.by_kernel is None else self.by_kernel

    @property
    def fits(self) -> bool:
        """Whether it can be had."""
        return not self.obstacle and self.memory <= LARGEST and self.here <= LONGEST


@dataclass(frozen=True)
class Error:
    """How far an answer may be off: nothing, or the largest relative errors that were measured.

    Parameters
    ----------
    throughput, response_time
        Largest relative errors measured [%]; 0 where exact, infinite where nobody knows.
    region
        The networks among which they were measured, in words.
    measured_by
        Command that measures them.

    Examples
    --------
    >>> str(Error(2.4, 5.4)), str(Error())
    ('largest error measured: throughput 2.4%, response time 5.4%', 'exact')
    """

    throughput: float = 0.0
    response_time: float = 0.0
    region: str = ""
    measured_by: str = ""

    @property
    def exact(self) -> bool:
        """Whether there is none."""
        return self.throughput == self.response_time == 0

    def beside(self, other: "Error") -> "Error":
        """Of what has both: the larger of each, of the regions together."""
        if self.exact or other.exact:
            return other if self.exact else self
        return Error(
            max(self.throughput, other.throughput),
            max(self.response_time, other.response_time),
            "; ".join(dict.fromkeys(filter(None, (self.region, other.region)))),
            "; ".join(dict.fromkeys((self.measured_by, other.measured_by))),
        )

    def __str__(self) -> str:
        if self.exact:
            return "exact"
        if self.throughput == self.response_time == inf:
            return f"an approximation; its error is {self.region or 'not known'}"
        parts = {"throughput": self.throughput, "response time": self.response_time}
        each = ", ".join(
            f"{name} {digits(value)}%" if value < inf else f"{name} not known"
            for name, value in parts.items()
            if value
        )
        where = f" {self.region}" if self.region else ""
        return f"largest error measured{where}: {each}"


EXACT = Error()
"""The error of an exact method."""

Run: TypeAlias = Callable[["Network"], "Result | None"]
"""Solves a network; None where it turns out not to be possible, and another method may try."""


@dataclass(frozen=True)
class MethodRow:
    """A method of solution.

    Parameters
    ----------
    name
        As in ``--method``, JSON and labels.
    doc
        What it is, in one line.
    needs
        All that it needs of a network.
    run
        Solves a network: a function or its place as ``module:name``, or one for each form of a
        network. A single one serves classes that share stations, and one class as C = 1.
    answers
        What it can answer.
    error
        How far its answer for a network may be off: an error, or a function (or its place) of the
        network; of the answer, where the method takes a model.
    cost
        What it takes for a network; a function or its place.
    otherwise
        Names of the methods that answer, when this one is asked for and a network has not what it
        needs.
    least
        Time that another method takes for classes below which it is not worth an estimate [s].
    least_of_one
        The same for one class of jobs [s].
    unasked
        The function that is tried where nobody asked for this method, where that is another.
    patience
        Time up to which it is taken without being asked for [s].
    limits
        What a refusal says where it turns out not to be possible.
    approximates
        Whether it is an approximation by its nature, of product forms as well.
    merges
        Whether it takes classes that turn into one another as one.
    quick
        Whether hundreds of points of one class take a fraction of a second.

    Examples
    --------
    >>> from headway.queueing.methods.registry import method_named
    >>> method_named("linearizer").doc
    'approximate mean value analysis, corrected once (Linearizer)'
    """

    name: str
    doc: str
    needs: tuple[Need, ...]
    run: str | Run | Mapping[Subject, str | Callable[[Any], Any]]
    answers: frozenset[Answers] = frozenset({Answers.MEANS})
    error: str | Error | Callable[[Any], Error] = EXACT
    cost: str | Cost | Callable[["Network"], Cost] = field(default_factory=Cost)
    otherwise: tuple[str, ...] = ()
    least: float = 0.0
    least_of_one: float = 0.0
    unasked: str | Run | Mapping[Subject, str | Callable[[Any], Any]] = ""
    patience: float = inf
    limits: str = ""
    approximates: bool = False
    merges: bool = True
    quick: bool = False

    @cached_property
    def subjects(self) -> frozenset[Subject]:
        """What it solves."""
        if isinstance(self.run, Mapping):
            return frozenset(self.run)
        return frozenset({Subject.CLASSES, Subject.ONE_CLASS})

    @cached_property
    def _of_one_class(self) -> tuple[Need, ...]:
        return tuple(need for need in self.needs if not need.by_class)

    def missing(self, network: Solvable) -> str:
        """What is in its way, in one line; empty where it applies."""
        if network.subject not in self.subjects:
            return f"method {self.name} does not support {network.subject}; use method auto"
        for need in self._of_one_class if network.kinds else self.needs:
            why = need.of(network)
            if why:
                return why
        return ""

    def lacks(self, network: Solvable) -> int:
        """How many of its needs a network does not meet."""
        apt = network.subject in self.subjects
        if not apt and (network.subject in APART or self.subjects <= APART):
            return _FAR * _FAR  # they do not even have the same numbers
        far = 0 if apt else _FAR
        return far + sum(_FAR if need.far else 1 for need in self.needs if need.of(network))

    def ask(self, model: Any) -> Any:
        """Answer for a model, where the method takes one; refuses what it cannot answer."""
        run = self.run[Subject.MODEL] if isinstance(self.run, Mapping) else self.run
        return (loaded(run) if isinstance(run, str) else run)(model)

    def cost_of(self, network: Solvable) -> Cost:
        """What it takes for a network."""
        cost: Cost = _of(self.cost, network)
        return cost

    def error_of(self, solved: Any) -> Error:
        """How far its answer may be off, by the network, or by its answer for a model."""
        error: Error = _of(self.error, solved)
        return error

    def solve(self, network: Solvable, *, unasked: bool = False) -> Any:
        """Solve a network that has all it needs; None where that turns out not to be possible."""
        run = self.unasked if unasked and self.unasked else self.run
        if isinstance(run, Mapping):
            run = run[network.subject]
        solve: Any = _loaded(run) if isinstance(run, str) else run
        return solve(network)


_loaded = cache(loaded)

_FAR = 100  # more than there are needs that are near

APART = frozenset({Subject.LAYERED, Subject.TIMED})
"""What is no network of stations with constant loads, whose needs mean nothing to it."""


def _of(value: Any, solved: Any) -> Any:
    """A value of a row for what is solved: itself, or what its function gives."""
    found = _loaded(value) if isinstance(value, str) else value
    return found(solved) if callable(found) else found
