"""A method of solution: a row in one table.

A row says what a method answers, what it needs of a network, its cost, its error, and its function.
Choosing, refusing, labelling and documenting methods all read these rows.
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
    """What methods solve: a network or a layered system."""

    @property
    def subject(self) -> Subject:
        """The kind of subject, which selects functions."""

    @property
    def found(self) -> dict[int, str]:
        """Needs of methods that it does not meet, by need, with the reason."""

    @property
    def kinds(self) -> tuple[Any, ...]:
        """Kinds of the stations, for one class of jobs; otherwise empty."""


LONGEST = 3600.0
"""Estimated time above which a method is refused, even if asked for [s]."""


class Answers(StrEnum):
    """What a method can answer."""

    MEANS = "means"
    NUMBERS = "numbers of jobs"
    TIMES = "percentiles"
    BOUNDS = "bounds"
    FORMULA = "closed form"


@dataclass(frozen=True)
class Need:
    """A property of networks that a method needs.

    Parameters
    ----------
    words
        The property in words, as in ``needs ...``.
    missing
        Function of the network, or its place, that returns in one line why the property is missing
        and how to mend it; empty if the network has it. ``{asked}`` in it stands for the method.
    far
        Whether a network without the property is of another kind altogether, so that this method is
        never the nearest.
    firm
        Whether no other method answers in place of this one if it is asked for.
    common
        Whether all methods of its kind have this need, so that lists do not repeat it.
    by_class
        Whether it is about classes that share stations; one class always meets it.

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
        """The unmet property as `missing` states it; cached, as many methods ask."""
        if self.by_class and network.kinds:
            return ""
        known: dict[int, str] = network.found
        why = known.get(id(self))
        if why is None:
            why = known[id(self)] = _of(self.missing, network)
        return why


@dataclass(frozen=True)
class Cost:
    """The cost of a method for a network.

    Parameters
    ----------
    memory, seconds
        Memory [B] and time [s] in total; the time is that of one machine, in Python alone. Patience
        refers to it, so that answers do not depend on whether kernels were built.
    obstacle
        Why the method is impossible; empty if it is possible.
    by_kernel
        Time if kernels were built and speed it up [s]; among exact methods the quickest on this
        machine is taken.

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
        """Time with the kernels that were built [s]."""
        return self.seconds if self.by_kernel is None else self.by_kernel

    @property
    def fits(self) -> bool:
        """Whether it is possible."""
        return not self.obstacle and self.memory <= LARGEST and self.here <= LONGEST


@dataclass(frozen=True)
class Error:
    """The error of an answer: none, or the largest relative errors that were measured.

    Parameters
    ----------
    throughput, response_time
        Largest measured relative errors [%]; 0 for exact, infinite if unknown.
    region
        The networks for which they were measured, in words.
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
        """Whether there is no error."""
        return self.throughput == self.response_time == 0

    def beside(self, other: "Error") -> "Error":
        """The error of something subject to both: the larger errors, and both regions."""
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
"""Solves a network; returns None if that turns out not to be possible, so another may try."""


@dataclass(frozen=True)
class MethodRow:
    """A method of solution.

    Parameters
    ----------
    name
        Name in ``--method``, JSON and labels.
    doc
        The method in one line.
    needs
        All its needs.
    run
        Function that solves a network, or its place as ``module:name``, or one for each form of a
        network. A single function serves classes that share stations, and one class as C = 1.
    answers
        The kinds of answer that it can give.
    error
        Its error for a network: an error, or a function (or its place) of the network; if the
        method takes a model, of the answer.
    cost
        Its cost for a network: a function or its place.
    otherwise
        Names of methods that answer in its place when it is asked for but a need is not met.
    least
        Shortest time of other methods for classes at which estimating this one is worth it [s].
    least_of_one
        The same for one class of jobs [s].
    unasked
        Function to try when the method was not asked for, if different.
    patience
        Longest time for which it is taken without being asked for [s].
    limits
        What a refusal says if it turns out not to be possible.
    approximates
        Whether it approximates by its nature, even for product forms.
    merges
        Whether it treats classes that turn into one another as one.
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
        """The kinds of subject that it solves."""
        if isinstance(self.run, Mapping):
            return frozenset(self.run)
        return frozenset({Subject.CLASSES, Subject.ONE_CLASS})

    @cached_property
    def _of_one_class(self) -> tuple[Need, ...]:
        return tuple(need for need in self.needs if not need.by_class)

    def missing(self, network: Solvable) -> str:
        """The first unmet need in one line; empty if the method applies."""
        if network.subject not in self.subjects:
            return f"method {self.name} is not for {network.subject}; use method auto"
        for need in self._of_one_class if network.kinds else self.needs:
            why = need.of(network)
            if why:
                return why
        return ""

    def lacks(self, network: Solvable) -> int:
        """Number of needs that a network does not meet."""
        apt = network.subject in self.subjects
        if not apt and (network.subject in APART or self.subjects <= APART):
            return _FAR * _FAR  # they do not even have the same numbers of classes
        far = 0 if apt else _FAR
        return far + sum(_FAR if need.far else 1 for need in self.needs if need.of(network))

    def ask(self, model: Any) -> Any:
        """Answer for a model, if the method takes one; refuse other answers."""
        run = self.run[Subject.MODEL] if isinstance(self.run, Mapping) else self.run
        return (loaded(run) if isinstance(run, str) else run)(model)

    def cost_of(self, network: Solvable) -> Cost:
        """The cost for a network."""
        cost: Cost = _of(self.cost, network)
        return cost

    def error_of(self, solved: Any) -> Error:
        """The error of its answer, by the network, or by its answer for a model."""
        error: Error = _of(self.error, solved)
        return error

    def solve(self, network: Solvable, *, unasked: bool = False) -> Any:
        """Solve a network that meets all needs; None if that turns out not to be possible."""
        run = self.unasked if unasked and self.unasked else self.run
        if isinstance(run, Mapping):
            run = run[network.subject]
        solve: Any = _loaded(run) if isinstance(run, str) else run
        return solve(network)


_loaded = cache(loaded)

_FAR = 100  # more than the number of near needs

APART = frozenset({Subject.LAYERED, Subject.TIMED})
"""Subjects that are not networks of stations with constant loads, and lack their properties."""


def _of(value: Any, solved: Any) -> Any:
    """A value of a row for what is solved: the value itself, or the result of its function."""
    found = _loaded(value) if isinstance(value, str) else value
    return found(solved) if callable(found) else found
