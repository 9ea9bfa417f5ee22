"""The answer of a simulation."""

from collections.abc import Mapping
from typing import Any

from headway.errors import UnknownParameter, nearest
from headway.models.language.frozen import Kept
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import of_class
from headway.models.structure.parts.regions import REGION_PARTS
from headway.models.tables.shown import Answer
from headway.queueing.playing.estimates import Estimate
from headway.records import dataclass

STATION_PARTS = ("utilisation", "blocked", "response_time", "queue_length", "throughput")
"""Results of a station; its response time is that of a visit."""

LAYER_PARTS = {
    "clients": ("throughput", "response_time"),
    "entries": ("throughput", "response_time", "waiting_time"),
    "tasks": ("throughput", "utilisation"),
    "processors": ("utilisation",),
}
"""Results of layered services, by kind of part."""


@dataclass(frozen=True)
class SimulationEffort:
    """The effort of a simulation.

    Parameters
    ----------
    seed
        Seed of all random numbers.
    half_width
        Requested relative half width of the 95% intervals.
    replicas
        Number of independent replicas.
    warm_up, window
        Simulated time of each replica that is discarded, and that counts [s].
    interrupted
        Whether it stopped before reaching the half width.
    """

    seed: int
    half_width: float
    replicas: int
    warm_up: float
    window: float
    interrupted: bool = False


@dataclass(frozen=True, eq=False)
class Simulation(Kept, Answer):
    """The answer to a model at one operating point by simulation, with intervals.

    Parameters
    ----------
    model
        The simulated model.
    estimates
        By name, such as ``response_time``, ``response_time_p95`` or ``cpu.utilisation``.
    effort
        Length, replicas and seed.
    notes
        Assumptions of the simulation beyond those of the model.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> simulation = ModelGraph("one").station("cpu", MM1(0.1)).at(arrival_rate=5).simulate(0.2)
    >>> simulation["response_time"].holds(0.2)
    True
    """

    model: Model
    estimates: Mapping[str, Estimate]
    effort: SimulationEffort
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Estimate:
        """One estimate.

        Raises
        ------
        UnknownParameter
            For an unknown name, with the nearest ones.
        """
        if name not in self.estimates:
            msg = f"{self.model.name} has no simulated {name!r}{nearest(name, self.estimates)}"
            raise UnknownParameter(msg)
        return self.estimates[name]

    def __repr__(self) -> str:
        return f"Simulation({self.model.name}, {self.effort.replicas} replicas)"

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the results of the whole system."""
        return tuple(name for name in self.estimates if "." not in name)

    @property
    def stations(self) -> dict[str, dict[str, Estimate]]:
        """Results of each station."""
        return {
            name: self._parts({part: f"{name}.{part}" for part in STATION_PARTS})
            for name in self.model.graph.stations
        }

    @property
    def regions(self) -> dict[str, dict[str, Estimate]]:
        """Results of each region with a limit."""
        return {
            name: self._parts({part: f"{name}.{part}" for part in REGION_PARTS})
            for name in self.model.graph.regions
        }

    @property
    def layers(self) -> dict[str, dict[str, dict[str, Estimate]]]:
        """Results of layered services: by kind of part, then by the part's name."""
        layers = self.model.graph.layers
        if layers is None:
            return {}
        keys = {kind: [layers.key(kind, n) for n in names] for kind, names in layers.told.items()}
        return {
            kind: {
                key: self._parts({part: f"{key}.{part}" for part in LAYER_PARTS[kind]})
                for key in each
            }
            for kind, each in keys.items()
            if each
        }

    @property
    def classes(self) -> dict[str, dict[str, Estimate]]:
        """Results of each class of jobs."""
        return {
            name: self._parts({part: of_class(name, part) for part in self.outputs})
            for name in self.model.graph.classes
        }

    def _parts(self, names: Mapping[str, str]) -> dict[str, Estimate]:
        return {part: self.estimates[n] for part, n in names.items() if n in self.estimates}

    @property
    def _value(self) -> tuple[Any, ...]:
        return self.model, tuple(self.estimates.items()), self.effort


def is_judged(name: str) -> bool:
    """Whether the requested half width applies to this estimate: to times and rates of journeys.

    Examples
    --------
    >>> [is_judged(name) for name in ("response_time", "class web.throughput", "cpu.utilisation")]
    [True, True, False]
    """
    return name.rpartition(".")[0].partition(" ")[0] in ("", "class") and name not in SHARES


BREAKER = ("breaker_refusals", "breaker_open", "breaker_openings")
"""What a circuit breaker does."""

SHARES = ("loss_probability", "abandonment", "wasted_work", *BREAKER)
"""Shares of jobs, of work or of time, which may be too small for a relative half width."""
