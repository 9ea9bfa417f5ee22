"""Solutions of a model at its operating points."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError, HeadwayError, Saturated, UnknownParameter, nearest
from headway.kinds import Amount, Number, plain
from headway.models.language.digits import in_unit, with_unit
from headway.models.language.frozen import Frozen, Kept
from headway.models.language.units import Unit
from headway.models.solving.solutions.bounded import Bounded
from headway.models.solving.solutions.grid import OverGrid
from headway.models.solving.solutions.marks import QNA, Marks
from headway.models.solving.solutions.on_demand import OnDemand
from headway.models.solving.solutions.saturation import saturation_throughput
from headway.models.structure.model import Model
from headway.models.structure.outputs import Of, Request, read_output
from headway.models.structure.parts.keys import ANSWERED, OWN_VISITS, VISITS, of_class, station_at
from headway.models.structure.parts.regions import REGION_FULL
from headway.models.tables.shown import Answer
from headway.numerals import digits, first_largest
from headway.queueing.flows.laws import knee_population
from headway.records import dataclass

STATION_RESULTS = ("utilisation", "residence_time", "queue_length", "throughput")
SPREAD_RESULTS = ("arrival_scv", "departure_scv")
_FAILING = ("loss_probability", "goodput", "attempts", "abandonment", "wasted_work")
"""Results of networks in which requests may fail."""

CLASS_PARTS = ("throughput", "response_time")
_PER_SECOND = re.compile(r"([0-9.,]+(?:e[+-]?[0-9]+)?) /s\b")


@dataclass(frozen=True, eq=False)
class Solution(Kept, Answer, OverGrid, Bounded, OnDemand):
    """The solution of a model at one operating point or many.

    Parameters
    ----------
    model
        The solved model, with its inputs.
    values
        Every calculated number by name, such as ``cpu.utilisation``; SI, scalar or array.
    shape
        Shape of the operating points.
    marks
        Its method, approximation and saturation.
    requested
        The outputs that were computed on demand.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    >>> model.solve([0.0, 500.0])["node.queue_length"].tolist()  # U / (1 - U)
    [0.0, 1.0]
    """

    model: Model
    values: Mapping[str, Amount]
    shape: tuple[int, ...]
    marks: Marks = field(default_factory=Marks)
    requested: tuple[Request, ...] = ()

    def __post_init__(self) -> None:
        """Use the values as they are: large arrays are not copied again."""
        if not isinstance(self.values, Frozen):
            object.__setattr__(self, "values", Frozen(self.values))

    @property
    def _value(self) -> tuple[Amount, ...]:
        """Everything that determines the values: model, method and requested outputs."""
        return self.model, self.shape, self.method, frozenset(self.values)

    def __repr__(self) -> str:
        points = int(np.prod(self.shape))
        return f"Solution({self.model.name}, {points} point{'s' if points != 1 else ''})"

    def __getitem__(self, name: str) -> Number:
        """One output or component number at every operating point.

        Raises
        ------
        UnknownParameter
            For an unknown name, with the nearest ones.
        """
        _check_name(name)
        if name == "throughput":
            return self.throughput
        if name == "saturation_throughput":
            return self.saturation_throughput
        if name == "knee_population":
            return self.knee_population
        if name not in self.values:
            return self._over_points(self._on_demand(name))
        return self._over_points(self.values[name])

    def _on_demand(self, name: str) -> Amount:
        """An output that is computed on demand, such as a percentile."""
        request = read_output(name, self.classes, self.stations)
        if request is None or not request.output.compute:
            msg = f"{self.model.name} has no answer {name!r}{nearest(name, self._known)}"
            raise UnknownParameter(msg)
        return self.answering(name).values[request.name]

    @property
    def _known(self) -> list[str]:
        """Names of all available outputs."""
        parts = [f"{name}.{part}" for name in self.stations for part in self.station_parts]
        return [*self.outputs, *self.class_outputs, *parts]

    def _over_points(self, value: Amount) -> Number:
        spread: Number = plain(np.broadcast_to(np.asarray(value, float), self.shape))
        return spread

    @property
    def stations(self) -> tuple[str, ...]:
        """Names of the stations; empty for a model of a program.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> catalogue_model("nfs-server").with_preset("raid").solve(800).stations
        ('network', 'cpu', 'disks')
        """
        return tuple(self.model.graph.stations)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes of jobs; empty if the model has none."""
        return tuple(self.model.graph.classes)

    @property
    def shared(self) -> bool:
        """Whether several classes of jobs share the network."""
        return bool(self.model.network.graph.classes)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the results.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> ModelGraph("one").station("cpu", MM1(0.1)).at().solve(5).outputs
        ('throughput', 'response_time', 'saturation_throughput')
        """
        own = tuple(self.model.graph.outputs)
        computed = [one.name for one in self.requested if one.of is Of.NETWORK]
        if self.model.graph.layers:
            return ("throughput", "response_time", *computed, *own)
        if not self.stations:
            return own
        standard = ["throughput", "response_time"]
        if not self.shared:
            standard.append("saturation_throughput")
        if self.model.network.is_closed:
            standard.append("knee_population")
        standard += [name for name in _FAILING if name in self.values]
        standard += computed
        return (*standard, *(name for name in own if name not in standard))

    @property
    def class_outputs(self) -> tuple[str, ...]:
        """Names of the results by class, such as ``class web.response_time``."""
        return tuple(of_class(name, part) for name in self.classes for part in self.class_parts)

    @property
    def class_parts(self) -> tuple[str, ...]:
        """Results of each class: throughput, response time and requested percentiles."""
        computed = dict.fromkeys(one.part for one in self.requested if one.of is Of.CLASS)
        return (*CLASS_PARTS, *computed)

    @property
    def station_parts(self) -> tuple[str, ...]:
        """Results of each station; with propagated variability, also that of flows."""
        return (*STATION_RESULTS, *SPREAD_RESULTS) if self.method == QNA else STATION_RESULTS

    @property
    def station_requests(self) -> tuple[Request, ...]:
        """Numbers of stations that were computed on demand."""
        return tuple(one for one in self.requested if one.of is Of.STATION)

    @property
    def response_time(self) -> Number:
        """Mean response time [s]; infinite at a saturated point.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> ModelGraph("one").station("cpu", MM1(0.1)).at().solve([5, 12]).response_time.tolist()
        [0.2, inf]
        """
        return self["response_time"]

    @cached_property
    def throughput(self) -> Number:
        """Jobs completed [1/s]: the arrival rate, or the bottleneck's limit.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> ModelGraph("one").station("cpu", MM1(0.1)).at().solve([5, 12]).throughput.tolist()
        [5.0, 10.0]
        """
        rate = self._over_points(self.values.get(ANSWERED, self.values["throughput"]))
        if self.shared or not self.saturated.any():
            return rate
        most = np.minimum(rate, self.saturation_throughput)
        return self._over_points(np.where(self.saturated, most, rate))

    @cached_property
    def saturation_throughput(self) -> Number:
        """Throughput at which the first station is always busy [1/s].

        Raises
        ------
        GraphError
            With several classes, as it depends on their mix.
        """
        if self.shared:
            msg = (
                f"{self.model.name}: with several classes there is no single saturation "
                "throughput; raise the rate of one class until its rows are saturated"
            )
            raise GraphError(msg)
        network = self.model.network
        limit = saturation_throughput(network.graph, network.inputs)
        return self._over_points(limit)

    @property
    def is_open(self) -> bool:
        """Whether jobs arrive from outside, independently of the network.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").station("cpu", MM1(0.1)).at()
        >>> one.solve(5).is_open, one.solve(population=5).is_open
        (True, False)
        """
        return not (self.model.network.is_closed or self.shared)

    @property
    def method(self) -> str:
        """The method: open, qna, or a method for closed networks."""
        return self.marks.method

    @property
    def approximation(self) -> str:
        """A note on what is approximate; empty if the answer is exact."""
        return self.marks.approximation

    @cached_property
    def alternatives(self) -> tuple["Solution", ...]:
        """Solutions of the model's alternatives, for those that can be solved.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> catalogue_model("server-single").solve(200).alternatives
        ()
        """
        asked = [one.name for one in self.requested]
        solutions = []
        for one in self.model.alternatives:
            with suppress(HeadwayError):
                solutions.append(one.model.solve(method=self.marks.again).answering(*asked))
        return tuple(solutions)

    def demands(self) -> dict[str, Number]:
        """Service demand per server of each station that can be a bottleneck, D/m [s].

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MMm
        >>> two = ModelGraph("two").station("cpu", MMm(0.1, 2), visits=3)
        >>> round(two.at().solve(5).demands()["cpu"], 12)  # 3 * 0.1 / 2
        0.15
        """
        demands = {}
        for name in self.stations:
            most = station_at(name).of(self.values).capacity
            if not np.isinf(most).all():
                visits = VISITS.of(self.values)[name]
                demands[name] = self._over_points(np.asarray(visits) / most)
        return demands

    @cached_property
    def beyond_stations(self) -> Number:
        """The time that a formula for the response time adds to the time at stations [s]."""
        if "response_time" not in self.model.graph.outputs:
            return 0.0
        inside: Amount = sum(np.asarray(self[f"{name}.residence_time"]) for name in self.stations)
        return self._over_points(np.asarray(self["response_time"]) - inside)

    @cached_property
    def knee_population(self) -> Number:
        """Population from which the bottleneck limits the throughput: (Z + sum D) / max D/m."""
        inputs = self.model.network.inputs
        total: Amount = self.beyond_stations
        for name in self.stations:
            time = station_at(name).of(self.values).alone
            total = total + OWN_VISITS.of(self.values)[name] * time
        each = np.stack([np.zeros(self.shape), *map(np.asarray, self.demands().values())])
        if self.model.network.graph.blocks:
            each = 1 / np.asarray(self.saturation_throughput)[np.newaxis]
        with np.errstate(divide="ignore"):
            knee = knee_population(each.max(axis=0), total, inputs["think_time"])
        return self._over_points(knee)

    @cached_property
    def saturated(self) -> NDArray[np.bool_]:
        """Whether some station is saturated, by operating point.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> ModelGraph("one").station("cpu", MM1(0.1)).at().solve([5, 12]).saturated.tolist()
        [False, True]
        """
        if self.marks.saturated is not None:
            return np.broadcast_to(self.marks.saturated, self.shape)
        if not self.is_open:
            return np.zeros(self.shape, bool)
        over = np.zeros(self.shape, bool)
        stations = self.model.network.graph.stations
        for name in (n for n in self.stations if stations[n].can.saturates):
            over |= np.asarray(self[f"{name}.utilisation"]) >= 1
        return over

    @cached_property
    def bottleneck(self) -> NDArray[np.str_]:
        """The station or region with the largest demand per server, hence the busiest."""
        demands = {} if self.shared else self.demands()
        for name in self.model.graph.regions:
            demands[name] = self._over_points(1 / np.asarray(self.values[REGION_FULL.format(name)]))
        busy = {name: self[f"{name}.utilisation"] for name in self.stations}
        ranked = demands if demands.keys() >= {n for n in busy if np.any(busy[n])} else busy
        names = np.array(list(ranked or busy))
        loads = np.stack([np.asarray(load) for load in (ranked or busy).values()])
        return np.asarray(np.take(names, first_largest(loads, axis=0)))

    def require_stable(self) -> "Solution":
        """Return this solution, or refuse it if a point is saturated.

        Raises
        ------
        Saturated
            Naming the first saturated point's station, its utilisation and its limit.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> ModelGraph("one").station("cpu", MM1(0.1)).at().solve(12).require_stable()
        Traceback (most recent call last):
            ...
        headway.errors.Saturated: cpu: utilisation 1.20 at 12 requests/s;
        it saturates at 10 requests/s
        """
        message = self.saturation_message
        if message:
            raise Saturated(message)
        return self

    def point(self, position: int) -> "Solution":
        """One of the operating points, in flat order; the solution itself if it has only one."""
        if not self.shape:
            return self
        index = np.unravel_index(position, self.shape)
        inputs = {n: _pick(v, self.shape, index) for n, v in self.model.inputs.items()}
        return self.model.at(inputs).solve(method=self.marks.again)

    @property
    def unsolved_message(self) -> str:
        """Why the first point without an answer has none, in one line; empty if all have one."""
        return _per(self.marks.unsolved, self.model.meaning("throughput").unit)

    @property
    def saturation_message(self) -> str:
        """The problem at the first saturated point, in one line; empty if none is."""
        if self.shared or self.marks.overload:
            return _per(self.marks.overload, self.model.meaning("throughput").unit)
        if not self.saturated.any():
            return ""
        point = self.point(int(np.flatnonzero(self.saturated)[0]))
        name = str(point.bottleneck)
        rate = self.model.meaning("throughput").unit
        limit = float(np.asarray(point.saturation_throughput))
        return (
            f"{name}: utilisation {point[f'{name}.utilisation']:.2f} at "
            f"{digits(point.values['throughput'] / rate.scale)} {rate}; "
            f"it saturates at {with_unit(in_unit(limit, rate), rate)}"
        )


def _check_name(name: object) -> None:
    if not isinstance(name, str):
        msg = (
            f"answers have names, such as solution['throughput'], not {name!r}; "
            "solution.point(0) is the first operating point"
        )
        raise UnknownParameter(msg)


def _pick(value: Any, shape: tuple[int, ...], index: Any) -> Any:
    if np.ndim(value) == 0:
        return plain(value)
    return plain(np.broadcast_to(value, shape)[index])


def _per(message: str, rate: Unit) -> str:
    """A message with its rates per second converted to a unit that the model uses."""
    if rate.is_metric:
        return message
    return _PER_SECOND.sub(
        lambda n: with_unit(in_unit(float(n[1].replace(",", "")), rate), rate), message
    )
