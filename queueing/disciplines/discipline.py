"""What a discipline declares of itself, once, for all who ask how a queue is served."""

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
    """For which service times of its classes a queue has a product form (BCMP, Kelly)."""

    ANY = "any times"
    ALIKE = "equal exponential times"
    NONE = "none"


class SojournLaw(Enum):
    """Which distribution of response times is known for open classes."""

    IN_ORDER = "that of a queue in order of arrival"
    SHARED = "that of servers that all jobs present share"
    HEAD_OF_LINE = "that of priorities without preemption, at the only queue"
    UNKNOWN = "none"


class Waiting(NamedTuple):
    """A job that waits in a simulation: the number of its arrival, its priority, its work [s]."""

    number: int
    priority: int
    work: float


Rank: TypeAlias = Callable[[Waiting], tuple[float, ...]]
"""The rank of a job in a queue, of which the smallest is served first."""


class Named(type):
    """Lets `Discipline("ps")`, `Discipline.SHARING` and `list(Discipline)` find what the table has.

    This file stands below the disciplines and knows none of them: the table sets the functions
    when it is imported, which happens with any part of this room.
    """

    find: Callable[[str], "Discipline"]
    known: Callable[[], list["Discipline"]]
    constants: dict[str, str]

    def __call__(cls, name: str, *declared: Any, **also: Any) -> Any:
        """Make a discipline, or find the one that has a name if only that is given."""
        if declared or also:
            return super().__call__(name, *declared, **also)
        return Named.find(name)

    def __getattr__(cls, name: str) -> "Discipline":
        """Find a discipline of headway's own by the constant that its file calls it."""
        if name in Named.constants:
            return Named.find(Named.constants[name])
        raise AttributeError(name)

    def __iter__(cls) -> "Iterator[Discipline]":
        """All disciplines: headway's own, then those of other packages."""
        return iter(Named.known())


@dataclass(frozen=True, eq=False, repr=False)
class Discipline(str, metaclass=Named):
    """The discipline of a queue: a name that knows what follows from it.

    It is the text that model files have, so that ``discipline == "ps"`` compares. The name alone
    finds a discipline: ``Discipline("ps")``.

    Parameters
    ----------
    name
        As model files have it.
    doc
        Who is served, for lists: ``the next job is drawn at random``.
    words
        What it is called in labels and refusals: ``random order``.
    how
        How it serves, likewise: ``in random order``.
    form, pool_form
        For which service times of jobs of one priority it has a product form, at one server and at
        several.
    in_turn
        Whether jobs start in the order in which they come.
    by_priority
        Whether it goes by the priority of classes.
    among_equals
        The name of the discipline that it is where all jobs have one priority; its own if empty.
    by_size
        Whether it looks at service times, so that mean waits differ from those in order of arrival
        also for a single class; `waits` is then asked only where one server is the only queue, to
        which open jobs come once.
    interrupts
        Whether a job that comes may interrupt another, which resumes where it stopped.
    shares
        Whether all jobs present share the servers.
    at_random
        Whether the next job is drawn from those that wait.
    scv
        Whether `waits` holds for service times of any scv, at one server.
    measured
        Whether the errors of approximations were measured for it (docs/accuracy.md): other
        disciplines are refused where there is no exact solution.
    waits
        Mean waits of open classes at a station to which they come as Poisson streams, shape
        (classes, points) [s].
    stay
        Time of a visit in approximate mean value analysis; None if it has none.
    states
        Its states in a Markov chain by number of servers; if it goes by priority, by priorities
        and number of servers. None if it has none.
    rank
        Rank in the queue of a simulation; None in order of arrival, at shared servers, and for a
        discipline that is not simulated.
    times
        Which distribution of response times is known.
    jmt
        The queue strategy of a JSIMg file.
    pmif
        The scheduling policy of a PMIF file.

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
        """Make the text that it is."""
        return super().__new__(cls, name)

    def open_waits(self, offered: "Offered") -> FloatArray:
        """Mean waits of open classes at one station, shape (classes, points) [s].

        Raises
        ------
        GraphError
            Where they are not known, as in `visit_times` and `chain`.
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
        """The rank of a job that waits, of which the smallest is served first."""
        return (job.number,) if self.rank is None else self.rank(job)

    def _known(self, law: _Law | None, what: str) -> _Law:
        if law is None:
            msg = f"nothing is known of {what} under discipline {self}; simulate it"
            raise GraphError(msg)
        return law

    def __reduce__(self) -> tuple[type["Discipline"], tuple[Any, ...]]:
        """Restore it from what it declares."""
        return Discipline, tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        """Show the expression that finds it."""
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
        """Whether other jobs delay one in proportion to its own work, as shared servers do."""
        return self.form is ProductForm.ANY

    @property
    def newest_first(self) -> bool:
        """Whether a job that comes interrupts all others, whoever they are."""
        return self.interrupts and not (self.by_priority or self.by_size)

    @property
    def unranked(self) -> "Discipline":
        """The discipline that it is where all jobs have one priority."""
        return Discipline(self.among_equals) if self.among_equals else self

    @property
    def needs(self) -> str:
        """Where mean waits are known of a discipline that looks at service times; for refusals."""
        return (
            f"mean waits under discipline {self} ({self.words}) are known only where one server is "
            "the only queue, to which open jobs come once; simulate other networks"
        )

    @property
    def unlike(self) -> str:
        """Why it has no product form where service times differ by class."""
        return f"{self.words} with times that differ by class"
