"""Parts of a graph: components with a formula for each of their numbers, and routes."""

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

from headway.models.language.formula import Formula
from headway.models.language.frozen import Kept
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.disciplines.table import DEFAULT
from headway.queueing.stations.abilities import Abilities, QueueChoice
from headway.records import dataclass

STATION_PARTS = (
    "visits",
    "arrival_rate",
    "throughput",
    "utilisation",
    "waiting_time",
    "response_time",
    "residence_time",
    "queue_length",
)
"""What formulas may use of a station besides its own numbers."""


@dataclass(frozen=True, eq=False)
class Component(Kept):
    """A station or link of the graph: its kind and a formula for each of its numbers.

    Parameters
    ----------
    kind
        Class of station, or LogGP.
    fields
        Formula of each number; several for a list, such as load-dependent rates.
    visits
        Visits of a job, by class ("" for every class); empty if routes determine them.
    service_times
        Service time by class, if classes differ.
    scvs
        Squared coefficient of variation of service times by class, if classes differ.
    labels
        Names of a pipeline's stages.
    discipline
        Order of service, where service times differ by class: `headway.queueing.Discipline`.
    branches
        For a fork, the stations to which it sends the parts of a request.
    platform
        The published machine whose numbers a link has, if it was given no others.
    blocking
        What becomes of jobs that find a station full, `headway.queueing.Blocking`.
    choice
        How a job chooses among the queues of a station.
    oldest
        Age of a request beyond which it is dropped when its turn comes [s]; None if it never is.
    """

    kind: type
    fields: Mapping[str, Formula | tuple[Formula, ...]]
    visits: Mapping[str, Formula] = field(default_factory=dict)
    service_times: Mapping[str, Formula] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    discipline: Discipline = DEFAULT
    branches: tuple[str, ...] = ()
    platform: str = ""
    scvs: Mapping[str, Formula] = field(default_factory=dict)
    blocking: str = ""
    choice: QueueChoice = QueueChoice.RANDOM
    oldest: Formula | None = None

    @cached_property
    def serves_as(self) -> type:
        """The kind whose laws apply under its discipline and choice: not always its own."""
        if self.choice is not QueueChoice.RANDOM:
            return getattr(self.kind, "chosen_as", None) or self.kind
        shared = self.discipline.shares and getattr(self.kind, "shared_as", None)
        return shared or self.kind

    @cached_property
    def can(self) -> Abilities:
        """What this kind of station can do under its discipline."""
        abilities: Abilities = self.serves_as.can  # type: ignore[attr-defined]
        return abilities.sorted() if self.discipline.by_size else abilities

    @property
    def label(self) -> str:
        """Its kind, and any discipline or choice that changes what the kind can do."""
        sorted_by = f" under discipline {self.discipline}" if self.discipline.by_size else ""
        chosen = self.choice is not QueueChoice.RANDOM
        return self.kind.__name__ + sorted_by + (f" with route {self.choice}" if chosen else "")

    @property
    def approximation(self) -> str:
        """What is approximate about this kind; empty if it is exact."""
        return str(getattr(self.serves_as, "approximation", ""))

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of its numbers, without lists."""
        return tuple(name for name, f in self.fields.items() if not isinstance(f, tuple))

    @cached_property
    def loses(self) -> bool:
        """Whether it loses jobs when full, rather than block them elsewhere."""
        return self.can.loses and not self.blocking

    def formulas(self) -> dict[str, tuple[Formula, ...]]:
        """All its formulas, by name."""
        own = {n: f if isinstance(f, tuple) else (f,) for n, f in self.fields.items()}
        own |= {f"visits[{c}]": (f,) for c, f in self.visits.items()}
        own |= {} if self.oldest is None else {"drop_older_than": (self.oldest,)}
        own |= {f"service_time[{c}]": (f,) for c, f in self.service_times.items()}
        return own | {f"scv[{c}]": (f,) for c, f in self.scvs.items()}


@dataclass(frozen=True)
class Route:
    """A route from one station to another, taken with a probability.

    Parameters
    ----------
    source, target, probability
        The stations that it joins, and the share of jobs that take it.
    job_class
        The class that takes it; empty for every class.
    becomes
        The class that a job changes into; empty if it does not change.
    """

    source: str
    target: str
    probability: Formula
    job_class: str = ""
    becomes: str = ""
