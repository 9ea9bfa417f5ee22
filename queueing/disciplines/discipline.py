"""What a discipline declares about itself, once, for everything that needs to know."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from headway.errors import GraphError, InvalidParameter
from headway.kinds import FloatArray
from headway.records import dataclass

if TYPE_CHECKING:
    from headway.queueing.disciplines.arrivals import ArrivalView, Classes, Rule
    from headway.queueing.disciplines.offered import Offered
    from headway.queueing.markov.orders import Order

_Law = TypeVar("_Law")


class ProductForm(Enum):
    """The service times of classes for which a queue has a product form (BCMP, Kelly)."""

    ANY = "any times"
    ALIKE = "equal exponential times"
    NONE = "none"


class SojournLaw(Enum):
    """The distribution of response times that is known for open classes."""

    IN_ORDER = "that of a queue in order of arrival"
    SHARED = "that of servers that all jobs present share"
    HEAD_OF_LINE = "that of priorities without preemption, at the only queue"
    UNKNOWN = "none"


class Waiting(NamedTuple):
    """A waiting job in a simulation: its arrival number, its priority, and its service time [s]."""

    number: int
    priority: int
    work: float


Rank: TypeAlias = Callable[[Waiting], tuple[float, ...]]
"""The rank of a job in a queue; the smallest is served first."""


class Named(type):
    """Makes `Discipline("ps")`, `Discipline.SHARING` and `list(Discipline)` look up the table.

    This file is below the disciplines and does not import them: the table sets these functions when
    it is imported, as it is with any part of this package.
    """

    find: Callable[[str], "Discipline"]
    known: Callable[[], list["Discipline"]]
    constants: dict[str, str]

    def __call__(cls, name: str, *declared: Any, **also: Any) -> Any:
        """Make a discipline, or look one up if only its name is given."""
        if declared or also:
            return super().__call__(name, *declared, **also)
        return Named.find(name)

    def __getattr__(cls, name: str) -> "Discipline":
        """Look up one of headway's own disciplines by the name of its constant."""
        if name in Named.constants:
            return Named.find(Named.constants[name])
        raise AttributeError(name)

    def __iter__(cls) -> "Iterator[Discipline]":
        """All disciplines: headway's own, then those of other packages."""
        return iter(Named.known())


@dataclass(frozen=True, eq=False, repr=False)
class Discipline(str, metaclass=Named):
    """The discipline of a queue: a name, with all properties of the discipline.

    It is a string as in model files, so that ``discipline == "ps"`` compares. The name alone looks
    it up: ``Discipline("ps")``.

    Parameters
    ----------
    name
        Name in model files.
    doc
        Which job is served, for lists: ``the next job is drawn at random``.
    words
        Name in labels and refusals: ``random order``.
    how
        How it serves, in labels and refusals: ``in random order``.
    form, pool_form
        Service times for which it has a product form, with jobs of one priority, at one server and
        at several.
    in_turn
        Whether jobs start in order of arrival.
    by_priority
        Whether it depends on the priority of classes.
    among_equals
        Name of the discipline that it equals if all jobs have one priority; empty for itself.
    by_size
        Whether it depends on service times, so that mean waits differ from those in order of
        arrival even for a single class. `waits` is then used only for a single server that is the
        only queue, visited once by open jobs.
    interrupts
        Whether an arriving job may interrupt another, which later resumes where it stopped.
    shares
        Whether all jobs present share the servers.
    at_random
        Whether the next job is drawn at random from those waiting.
    scv
        Whether `waits` holds for service times of any scv at a single server.
    measured
        Whether errors of approximations were measured for it (docs/accuracy.md); other disciplines
        are refused without an exact solution.
    waits
        Mean waits of open classes at a station where they arrive as Poisson streams, shape
        (classes, points) [s].
    stay
        Time of a visit in approximate mean value analysis; None if not known.
    states
        Its states in a Markov chain, by number of servers, and by priorities if it depends on them;
        None if it has none.
    rank
        Rank of a job in a simulated queue; None for order of arrival, for shared servers, and for a
        discipline that cannot be simulated.
    times
        The distribution of response times that is known.
    jmt
        Name of the queue strategy in a JSIMg file.
    pmif
        Name of the scheduling policy in a PMIF file.

    Examples
    --------
    >>> Discipline("ps") == "ps", Discipline("ps") is Discipline.SHARING
    (True, True)
    >>> Discipline.PRIORITY.by_priority, Discipline.PRIORITY.interrupts
    (True, False)
    """

    name: str
    doc: str = ""
    words: str = ""
    how: str = ""
    form: ProductForm = ProductForm.NONE
    pool_form: ProductForm = ProductForm.NONE
    in_turn: bool = False
    by_priority: bool = False
    among_equals: str = ""
    by_size: bool = False
    interrupts: bool = False
    shares: bool = False
    at_random: bool = False
    scv: bool = False
    measured: bool = False
    waits: "Callable[[Offered], FloatArray] | None" = None
    stay: "Rule | None" = None
    states: "Callable[..., Order] | None" = None
    rank: Rank | None = None
    times: SojournLaw = SojournLaw.UNKNOWN
    jmt: str = ""
    pmif: str = ""

    def __new__(cls, name: str, *_: Any, **__: Any) -> "Discipline":
        """Make the string."""
        return super().__new__(cls, name)

    def open_waits(self, offered: "Offered") -> FloatArray:
        """Mean waits of open classes at one station, shape (classes, points) [s].

        Raises
        ------
        GraphError
            If they are not known; so do `visit_times` and `chain`.
        """
        return self._known(self.waits, "open classes")(offered)

    def visit_times(self, network: "Classes", k: int, arrival: "ArrivalView") -> FloatArray:
        """Time of a visit by approximate mean value analysis, shape (classes, points) [s]."""
        return self._known(self.stay, "closed classes")(network, k, arrival)

    def chain(self, priorities: tuple[int, ...]) -> "Callable[[int], Order]":
        """Its states in a Markov chain of classes with these priorities, by number of servers."""
        states = self._known(self.states, "the Markov chain of a network")
        return partial(states, priorities) if self.by_priority else states

    def turn(self, job: Waiting) -> tuple[float, ...]:
        """The rank of a waiting job; the smallest is served first."""
        return (job.number,) if self.rank is None else self.rank(job)

    def _known(self, law: _Law | None, what: str) -> _Law:
        if law is None:
            msg = f"there is no formula for {what} under discipline {self}; simulate it"
            raise GraphError(msg)
        return law

    def __reduce__(self) -> tuple[type["Discipline"], tuple[Any, ...]]:
        """Pickle it by what it declares."""
        return Discipline, tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        """The expression that looks it up."""
        return f"Discipline({str(self)!r})"

    def __post_init__(self) -> None:
        if self.by_size != (self.form is ProductForm.NONE):
            msg = (
                f"discipline {self}: it has a product form for equal exponential times (form) or "
                "looks at service times (by_size); declare one of them"
            )
            raise InvalidParameter(msg)

    @property
    def slows(self) -> bool:
        """Whether other jobs slow a job down in proportion to its work, as shared servers do."""
        return self.form is ProductForm.ANY

    @property
    def newest_first(self) -> bool:
        """Whether an arriving job interrupts all others."""
        return self.interrupts and not (self.by_priority or self.by_size)

    @property
    def unranked(self) -> "Discipline":
        """The discipline that it equals if all jobs have one priority."""
        return Discipline(self.among_equals) if self.among_equals else self

    @property
    def needs(self) -> str:
        """Where waits are known for a discipline that depends on service times; for refusals."""
        return (
            f"mean waits under discipline {self} ({self.words}) are known only where one server is "
            "the only queue, to which open jobs come once; simulate other networks"
        )

    @property
    def unlike(self) -> str:
        """Why it has no product form if service times differ by class."""
        return f"{self.words} with times that differ by class"
