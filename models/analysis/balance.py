"""The balance of a machine: the load at which each of its resources is full, and which is first.

A machine is balanced for a phase of a program when all its resources saturate at one load;
a higher set of loads is a better machine (Arpaci-Dusseau et al., section 6, Figure 9).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headway.errors import GraphError
from headway.models.language.units import Unit
from headway.models.solving.solutions.limits import station_limits
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.tables.shown import Answer

ENDING = "_saturation"
PHASES = ("read", "write")
NEARLY = 1.15
"""Limits within this factor of the least bind nearly at once: published loads are no surer."""


@dataclass(frozen=True)
class ResourceLimit:
    """The load at which a resource is full.

    Parameters
    ----------
    phase
        Phase of the program; empty where it has one only.
    resource
        What is full.
    load
        Disk rate, or rate of jobs, in SI; infinite for a resource that is not used.
    """

    phase: str
    resource: str
    load: float


@dataclass(frozen=True)
class Bars:
    """The limits of one machine and program.

    Parameters
    ----------
    title
        What it is.
    limits
        A limit for each phase and resource.
    unit
        The unit the loads are shown in.
    notes
        What is to be known of the numbers.
    """

    title: str
    limits: tuple[ResourceLimit, ...]
    unit: Unit
    notes: tuple[str, ...] = ()

    @property
    def phases(self) -> tuple[str, ...]:
        """The phases, in the model's order."""
        return tuple(dict.fromkeys(limit.phase for limit in self.limits))

    def order(self, phase: str = "") -> list[ResourceLimit]:
        """The limits of a phase, the first to be reached first; unused resources left out."""
        used = [x for x in self.limits if x.phase == phase and math.isfinite(x.load)]
        return sorted(used, key=lambda limit: limit.load)

    def first(self, phase: str = "") -> str:
        """The resource that is full first, and those that are full nearly at once."""
        ranked = self.order(phase)
        near = [x.resource for x in ranked if x.load <= NEARLY * ranked[0].load]
        return f"{near[0]} (nearly at once: {', '.join(near[1:])})" if near[1:] else near[0]

    def evenness(self, phase: str = "") -> float:
        """The least load as a share of the greatest; 1 is a balanced machine."""
        ranked = self.order(phase)
        return ranked[0].load / ranked[-1].load


@dataclass(frozen=True)
class Balance(Answer):
    """What saturates when, for one machine or several side by side.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> sort = balance(catalogue_model("streaming-io").with_preset("sort-workstation"))
    >>> sort.machines[0].first("read"), sort.machines[0].order("read")[-1].resource
    ('cpu', 'memory bus')
    """

    machines: tuple[Bars, ...]

    def __repr__(self) -> str:
        return f"Balance({', '.join(bars.title for bars in self.machines)})"


def balance(model: Model, presets: Sequence[str] = ()) -> Balance:
    """Find at which load each resource of a model is full.

    Resources are the stations of a network, or the outputs of a model without stations whose
    names end in ``_saturation``; ``read_`` and ``write_`` before a name are phases.

    Parameters
    ----------
    model
        One operating point.
    presets
        Machines to set side by side; the model as it is if there are none.

    Raises
    ------
    GraphError
        For a model that names no resource, or has several operating points.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> graph = ModelGraph("two").station("cpu", MM1(0.1), 1.0).station("disk", MM1(0.02), 2.0)
    >>> [(bar.resource, bar.load) for bar in balance(graph.at(arrival_rate=1)).machines[0].order()]
    [('cpu', 10.0), ('disk', 25.0)]
    """
    chosen = [model.with_preset(name) for name in presets] or [model]
    return Balance(tuple(_bars(one) for one in chosen))


def _bars(model: Model) -> Bars:
    solution = model.solve()
    if np.prod(solution.shape) != 1:
        msg = f"{model.name}: a balance is of one operating point; leave out lists and ranges"
        raise GraphError(msg)
    named = [name for name in solution.outputs if name.endswith(ENDING)]
    limits = [_limit(name, solution[name]) for name in named] or _station_limits(solution)
    if not any(math.isfinite(limit.load) for limit in limits):
        msg = f"{model.name} has no resource to saturate; name outputs such as cpu{ENDING}"
        raise GraphError(msg)
    shown = model.meaning(named[0] if named else "throughput").unit
    return Bars(model.title, tuple(limits), shown, tuple(_notes(solution, named)))


def _notes(solution: Solution, named: Sequence[str]) -> list[str]:
    """Say what the load is of several classes."""
    if named or not solution.shared:
        return []
    return ["the load is that of all classes together, in the proportion they have"]


def _station_limits(solution: Solution) -> list[ResourceLimit]:
    return [ResourceLimit("", name, limit) for name, limit in station_limits(solution).items()]


def _limit(output: str, load: Any) -> ResourceLimit:
    phase, _, rest = output.removesuffix(ENDING).partition("_")
    if phase not in PHASES:
        phase, rest = "", output.removesuffix(ENDING)
    return ResourceLimit(phase, rest.replace("_", " "), float(np.ravel(load)[0]))
