"""The predictions of a fitted model at loads that were not measured."""

from functools import cached_property

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import Amount, FloatArray, Number
from headway.models.analysis.between import between_rows
from headway.models.inference.searching.problem import Problem
from headway.models.solving.evaluate import Predict, evaluator
from headway.models.solving.response_times.percentiles import at_a_pace, why_unknown
from headway.models.solving.throughput_driven import driven_evaluator
from headway.models.structure.model import Model
from headway.models.structure.outputs import percent_of, percentile_name
from headway.models.uncertain.beyond import acting_load
from headway.records import dataclass

THROUGHPUT = "throughput"
"""Name of the load of a closed model that paces itself to a measured throughput."""

RESPONSE_TIME = "response_time"
"""Name of the mean response time."""

LOADS = ("arrival_rate", "population", THROUGHPUT)
"""Loads over which a model can have a curve."""


def load_of(problem: Problem) -> str:
    """The load among `LOADS` that drives a fitted model; empty if there is none."""
    inputs = problem.model.inputs
    driven = (name for name in LOADS[:2] if np.ndim(inputs.get(name, 0.0)))
    return next(driven, THROUGHPUT if problem.model.is_closed else "")


def highest_measured(problem: Problem) -> float:
    """The highest load to which a model was fitted [SI]."""
    loads = np.ravel(np.asarray(problem.model.inputs[load_of(problem)], float))
    return float(loads[problem.first(problem.used)].max())


@dataclass(frozen=True)
class Elsewhere:
    """A fitted model at loads that were not measured.

    Parameters
    ----------
    problem
        The fit.
    loads
        Arrival rates or throughputs [1/s], or populations.
    arrival_scv
        Squared coefficient of variation of the interarrival times at these loads, for a model that
        has one; by default as measured.
    further
        Factor on each request beyond the highest measured arrival rate, a number for each set of
        free values; by default 1.

    Raises
    ------
    InvalidParameter
        For a load without a curve, and loads that are not above 0.
    """

    problem: Problem
    loads: FloatArray
    arrival_scv: float | None = None
    further: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.load not in LOADS:
            msg = (
                f"{self.problem.model.name} predicts only the measured points, not a "
                "curve over the load"
            )
            raise InvalidParameter(msg)
        if not (np.isfinite(self.loads) & (self.loads > 0)).all():
            raise InvalidParameter("a load to predict at must be above 0 and finite")
        if self.load == "population" and (self.loads != np.round(self.loads)).any():
            raise InvalidParameter("a population to predict at must be a whole number")

    @cached_property
    def load(self) -> str:
        """The load among `LOADS` that drives the model."""
        return load_of(self.problem)

    @cached_property
    def model(self) -> Model:
        """The model at these loads: think times interpolated, all else as at the first point."""
        measured = self.problem.model
        single = {n: float(np.ravel(v)[0]) for n, v in measured.inputs.items() if np.ndim(v)}
        own: dict[str, Number] = {}
        if self.load != THROUGHPUT:
            own = {self.load: self.loads, **(between_rows(measured, self.load, self.loads) or {})}
        if self.arrival_scv is not None:
            own["arrival_scv"] = self.arrival_scv
        return measured.at({**single, **own})

    def throughput(self, free: FloatArray) -> FloatArray:
        """Throughput [1/s], a row for each set of free values; NaN where it is not sustained."""
        if self.load == THROUGHPUT or (self.load == "arrival_rate" and not self._loses):
            return np.broadcast_to(self.loads, (*free.shape[:-1], self.loads.size))
        return self._of(self._throughput, free)

    def response_time(self, free: FloatArray) -> FloatArray:
        """Response time [s], a row for each set of free values; infinite if not sustained."""
        return self._of(self._response_time, free)

    def percentile(self, free: FloatArray, percent: float) -> FloatArray:
        """A percentile of the response time [s]; as `response_time`.

        The percentile of each population takes a Markov chain of its own. For many sets of free
        values it is taken as their mean times the ratio of percentile to mean for the median set.

        Raises
        ------
        GraphError, InvalidParameter
            If no percentile is known, with the reason; and for a percentage out of range.
        """
        name = percentile_name(percent)
        refused = None if self._percentiles else self.refusal(percent)
        if refused is not None:
            raise refused
        predict = self._percentiles.setdefault(name, self._evaluated(name))
        if self.load != "population" or free.ndim == 1:
            return self._of(predict, free)
        means = self.response_time(free)
        middle = free[np.argsort(means[:, -1])[len(free) // 2]]
        return np.asarray(means * self._of(predict, middle) / self.response_time(middle))

    def times(self, free: FloatArray, output: str) -> FloatArray:
        """Response time or a percentile of it [s], by its name; as `response_time`.

        Raises
        ------
        GraphError, InvalidParameter
            As for `percentile`.
        """
        percent = percent_of(output)
        return self.response_time(free) if percent is None else self.percentile(free, percent)

    def refusal(self, percent: float) -> GraphError | None:
        """Why a percentile of the response time is unknown; None if it is known.

        Raises
        ------
        InvalidParameter
            For a percentage out of range.
        """
        if self.load == THROUGHPUT:
            return at_a_pace(self.model.name)
        return why_unknown(self.problem.model.solve(), percent)

    @cached_property
    def _percentiles(self) -> dict[str, Predict]:
        return {}

    @property
    def _loses(self) -> bool:
        """Whether some arrivals are lost."""
        return "throughput" in self.problem.outputs

    def _of(self, predict: Predict, free: FloatArray) -> FloatArray:
        sets = free[None] if free.ndim == 1 else free
        columns: dict[str, Amount] = dict(zip(self.problem.names, sets.T[..., None], strict=True))
        if self.further is not None and self.load == "arrival_rate" and free.ndim > 1:
            weights = self.further[:, None]
            columns["arrival_rate"] = acting_load(
                self.loads, highest_measured(self.problem), weights
            )
        answers = np.asarray(predict({**self.model.inputs, **columns}), float)
        rows = np.broadcast_to(answers, (len(sets), self.loads.size))
        return rows[0] if free.ndim == 1 else rows

    @cached_property
    def _throughput(self) -> Predict:
        return self._evaluated("throughput")

    @cached_property
    def _response_time(self) -> Predict:
        if self.load == THROUGHPUT:
            nobody = np.zeros(self.loads.shape, bool)
            return driven_evaluator(self.model, self.loads, nobody, self.problem.names).predict
        return self._evaluated("response_time")

    def _evaluated(self, output: str) -> Predict:
        return evaluator(self.model, [output], (), self.problem.whole).predict
