"""The balance of a machine: the load at which each resource saturates, and which one is first.

A machine is balanced for a phase of a program if all its resources saturate at the same load;
higher loads mean a better machine (Arpaci-Dusseau et al., section 6, Figure 9).
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.errors import GraphError
from headway.models.language.units import Unit
from headway.models.solving.solutions.limits import station_limits
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.tables.shown import Answer
from headway.numerals import settled
from headway.records import dataclass

ENDING = "_saturation"
PHASES = ("read", "write")
NEARLY = 1.15
"""Limits within this factor of the least are simultaneous: published loads are as inaccurate."""


@dataclass(frozen=True)
class ResourceLimit:
    """The load at which a resource saturates.

    Parameters
    ----------
    phase
        Phase of the program; empty if it has only one.
    resource
        The resource.
    load
        Disk rate, or rate of jobs, in SI; infinite for an unused resource.
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
        Name of the machine and program.
    limits
        A limit for each phase and resource.
    unit
        The unit the loads are shown in.
    notes
        Notes on the numbers.
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
        """The limits of a phase in rising order, without unused resources."""
        used = [x for x in self.limits if x.phase == phase and math.isfinite(x.load)]
        return sorted(used, key=lambda limit: settled(limit.load))

    def first(self, phase: str = "") -> str:
        """The resource that saturates first, and those that do so nearly at once."""
        ranked = self.order(phase)
        near = [x.resource for x in ranked if x.load <= NEARLY * ranked[0].load]
        return f"{near[0]} (nearly at once: {', '.join(near[1:])})" if near[1:] else near[0]

    def evenness(self, phase: str = "") -> float:
        """The least load as a share of the greatest; 1 for a balanced machine."""
        ranked = self.order(phase)
        return ranked[0].load / ranked[-1].load


@dataclass(frozen=True)
class Balance(Answer):
    """The loads at which resources saturate, for one or several machines.

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
    """Find the load at which each resource of a model saturates.

    Resources are the stations of a network, or the outputs of a model without stations whose
    names end in ``_saturation``; ``read_`` and ``write_`` before a name are phases.

    Parameters
    ----------
    model
        One operating point.
    presets
        Machines to compare; the model itself if empty.

    Raises
    ------
    GraphError
        For a model without resources, or with several operating points.

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
        msg = f"{model.name}: a balance needs one operating point; remove lists and ranges"
        raise GraphError(msg)
    named = [name for name in solution.outputs if name.endswith(ENDING)]
    limits = [_limit(name, solution[name]) for name in named] or _station_limits(solution)
    if not any(math.isfinite(limit.load) for limit in limits):
        msg = f"{model.name} has no resource that can saturate; add outputs such as cpu{ENDING}"
        raise GraphError(msg)
    shown = model.meaning(named[0] if named else "throughput").unit
    return Bars(model.title, tuple(limits), shown, tuple(_notes(solution, named)))


def _notes(solution: Solution, named: Sequence[str]) -> list[str]:
    """Note what the load means for several classes."""
    if named or not solution.shared:
        return []
    return ["the load is the total of all classes, in their present proportions"]


def _station_limits(solution: Solution) -> list[ResourceLimit]:
    return [ResourceLimit("", name, limit) for name, limit in station_limits(solution).items()]


def _limit(output: str, load: Any) -> ResourceLimit:
    phase, _, rest = output.removesuffix(ENDING).partition("_")
    if phase not in PHASES:
        phase, rest = "", output.removesuffix(ENDING)
    return ResourceLimit(phase, rest.replace("_", " "), float(np.ravel(load)[0]))
