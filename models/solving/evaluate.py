"""Predictions of a model at measured points, and their derivatives, for fits.

headway compiles an open network or a program from its closed form, with exact derivatives. Without
a closed form, it solves the model and uses finite differences.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache, partial, wraps
from types import MappingProxyType
from typing import Any, ParamSpec, Self

import numpy as np
from numpy.typing import ArrayLike

from headway.columns import distinct_columns
from headway.errors import HeadwayError
from headway.kinds import Amount, FloatArray
from headway.models.language.verbs import perform
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.graph import ModelGraph
from headway.models.structure.inputs import points_shape
from headway.models.structure.model import Model
from headway.models.structure.outputs import on_demand, read_output
from headway.records import dataclass

Given = ParamSpec("Given")
Values = Mapping[str, Amount]
Predict = Callable[[Values], FloatArray]
Slopes = Callable[[Values, Sequence[str]], FloatArray]
Both = Callable[[Values, Sequence[str]], tuple[FloatArray, FloatArray]]

_STEP = 1e-6  # relative step of a central difference: the cube root of a double's precision
_SWIFT_STEP = 1e-3  # relative step where results are accurate to only some 1e-8
_NO_FORM = (
    HeadwayError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    NotImplementedError,
)
# relative tolerance of the compiled form against the solver; beyond it, the solver is used
_AGREEMENT = 1e-9


@dataclass(frozen=True)
class Evaluator:
    """Predict outputs at every measured point: all points of the first output, then of the next.

    A parameter's values may be a column, shape (sets, 1): each set of values then has its own row.

    Parameters
    ----------
    predict
        Takes SI values by parameter, and returns the outputs by point, infinite where the model is
        saturated, shape (outputs * points,) or (sets, outputs * points).
    slopes
        Derivatives with respect to some parameters, shape (..., outputs * points, parameters).
    smooth
        Parameters whose derivatives come from the closed form; the others use differences.
    both
        Predictions and derivatives from one call of the solver; None where each has its own
        function.
    making
        Recreates it when unpickled: compiled functions cannot be pickled.
    """

    predict: Predict
    slopes: Slopes
    smooth: frozenset[str] = frozenset()
    both: Both | None = None
    making: "Callable[[], Evaluator] | None" = field(default=None, compare=False, repr=False)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle how to recreate it."""
        return super().__reduce__() if self.making is None else (self.making, ())


def travelling(make: Callable[Given, Evaluator]) -> Callable[Given, Evaluator]:
    """Make a function's result picklable, as the function and its arguments."""

    @wraps(make)
    def _made(*given: Given.args, **named: Given.kwargs) -> Evaluator:
        return replace(make(*given, **named), making=partial(_made, *given, **named))

    return _made


ADDED = "+"
"""Prefix of the name of an increment of a parameter, one per point."""


@travelling
def evaluator(
    model: Model,
    outputs: Sequence[str],
    names: Sequence[str],
    whole: Collection[str],
    added: Mapping[str, FloatArray] = MappingProxyType({}),
) -> Evaluator:
    """Compile a model for fitting, or fall back on solving it.

    Parameters
    ----------
    model
        The model with its arrays of measured points.
    outputs
        The measured outputs.
    names, whole
        Free parameters, and those that must be whole numbers, for which not every closed form has
        a derivative.
    added
        Increments of parameters, one entry per point.
    """
    if len(outputs) > 1 and on_demand(outputs):
        return _stacked([evaluator(model, [one], names, whole, added) for one in outputs])
    solved = each_once(solver_of(model, outputs), len(outputs))
    solved = _adding(solved) if added else solved
    more = {ADDED + name: values for name, values in added.items()}
    for wanted in (tuple(names), tuple(name for name in names if name not in whole)):
        compiled = _agreeing(model, outputs, wanted, solved, more)
        if compiled is not None:
            return compiled
    sizes = {n: abs(float(v)) for n, v in model.inputs.items() if not np.ndim(v)}
    domains = {n: (p.minimum, p.maximum) for n, p in model.parameters.items()}
    step = _SWIFT_STEP if on_demand(outputs) else _STEP
    both = differences(solved, sizes, domains, step)
    return Evaluator(solved, lambda values, names: both(values, names)[1], both=both)


def _agreeing(
    model: Model, outputs: Sequence[str], names: tuple[str, ...], solved: Predict, more: Values
) -> Evaluator | None:
    """Compile the closed form; None if there is none, or it disagrees with the solver."""
    if model.is_closed or model.graph.classes or model.graph.layers:
        return None
    try:
        key = GraphKey.of(model.graph)
        forms = (_compiled(key, output, names) for output in outputs)
        each = [one for one in forms if one is not None]
        if len(each) < len(outputs):
            return None
        compiled = adding(_stacked(each)) if more else _stacked(each)
        values = {**model.inputs, **more}
        same = np.allclose(compiled.predict(values), solved(values), rtol=_AGREEMENT, atol=0)
        compiled.slopes(values, names)
    except _NO_FORM:
        return None
    return compiled if same else None


@travelling
def adding(evaluate: Evaluator) -> Evaluator:
    """The evaluator, for values that may include increments such as ``+delay``."""

    def slopes(values: Values, names: Sequence[str]) -> FloatArray:
        return evaluate.slopes(_summed(values), names)

    return Evaluator(_adding(evaluate.predict), slopes, evaluate.smooth)


def _adding(predict: Predict) -> Predict:
    return lambda values: predict(_summed(values))


def _summed(values: Values) -> Values:
    plain = {name: value for name, value in values.items() if not name.startswith(ADDED)}
    more = {name[1:]: values[name] for name in values if name.startswith(ADDED)}
    return plain | {name: plain[name] + extra for name, extra in more.items()}


def _stacked(each: Sequence[Evaluator]) -> Evaluator:
    """Join the evaluators of several outputs: all points of one output before those of the next."""
    if len(each) == 1:
        return each[0]
    smooth = frozenset.intersection(*(one.smooth for one in each))
    shared = [one.both for one in each if one.both is not None]

    def both(values: Values, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        predicted, slopes = zip(*(one(values, names) for one in shared), strict=True)
        return np.concatenate(predicted, axis=-1), np.concatenate(slopes, axis=-2)

    return Evaluator(
        lambda values: np.concatenate([one.predict(values) for one in each], axis=-1),
        lambda values, names: np.concatenate([one.slopes(values, names) for one in each], axis=-2),
        smooth,
        both if len(shared) == len(each) else None,
    )


def each_once(predict: Predict, outputs: int) -> Predict:
    """The predictions, with repeated points solved only once.

    Parameters
    ----------
    predict
        A prediction that takes long.
    outputs
        Number of its outputs, with all points of the first before those of the next.

    Examples
    --------
    >>> rows = []
    >>> def squares(values):
    ...     rows.append(values["n"].size)
    ...     return values["n"] ** 2
    >>> each_once(squares, 1)({"n": np.array([2, 3, 2, 2])}).tolist(), rows
    ([4, 9, 4, 4], [2])
    """

    def once(values: Values) -> FloatArray:
        lines = {n: np.asarray(v) for n, v in values.items() if np.ndim(v) == 1 and np.size(v) > 1}
        if len({line.size for line in lines.values()}) != 1:
            return predict(values)
        first, back = distinct_columns(np.stack([*lines.values()]))
        if first.size == back.size:
            return predict(values)
        predicted = predict({**values, **{n: line[first] for n, line in lines.items()}})
        kept = predicted.reshape(*predicted.shape[:-1], outputs, first.size)[..., back]
        return np.asarray(kept.reshape(*predicted.shape[:-1], -1))

    return once


def solver_of(model: Model, outputs: Sequence[str]) -> Predict:
    """Predict by solving; a point that cannot be solved gives infinity."""

    def solved(values: Values) -> FloatArray:
        solution = model.at(dict(values)).solve()
        shape = points_shape({**model.inputs, **values}) or (1,)
        each = []
        for output in outputs:
            answer = np.asarray(_answer(solution, output), float)
            lost = solution.saturated | ~np.isfinite(answer) if solution.stations else False
            each.append(np.broadcast_to(np.where(lost, np.inf, answer), shape))
        return each[0] if len(each) == 1 else np.concatenate(each, axis=-1)

    def predict(values: Values) -> FloatArray:
        try:
            return solved(values)
        except HeadwayError:
            shape = points_shape({**model.inputs, **values}) or (1,)
        if len(shape) < 2 or shape[0] == 1:
            return np.full((*shape[:-1], len(outputs) * shape[-1]), np.inf)
        half = shape[0] // 2  # halving finds the set without an answer among many
        parts = slice(None, half), slice(half, None)
        return np.concatenate([predict(_of_sets(values, part)) for part in parts])

    return predict


def _answer(solution: Solution, output: str) -> Amount:
    request = read_output(output, solution.classes, solution.stations)
    if request is None or not request.output.search:
        return solution[output]
    answer: Amount = perform(solution, request.output.search, request.number)
    return answer


def _of_sets(values: Values, part: slice) -> dict[str, Amount]:
    """A selection of the sets of values, as columns."""
    return {n: v[part] if np.ndim(v) > 1 else v for n, v in values.items()}


def differences(
    predict: Predict,
    sizes: Mapping[str, float],
    domains: Mapping[str, tuple[float, float]],
    step: float = _STEP,
) -> Both:
    """Predictions and central differences, one-sided where a side is infinite or out of range.

    Parameters
    ----------
    predict
        A function that solves the model.
    sizes
        The scale of a value that became 0: its starting value [SI].
    domains
        Smallest and largest value of each parameter [SI].
    step
        Relative step.
    """

    def both(values: Values, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        if not names:
            here = predict(values)
            return here, np.zeros((*here.shape, 0))
        ends = {n: _neighbours(values[n], sizes.get(n, 0.0), domains[n], step) for n in names}
        sides = [{**values, n: end} for n in names for end in ends[n]]
        here, *beside = _side_by_side(predict, [values, *sides])
        pairs = zip(names, beside[::2], beside[1::2], strict=True)
        columns = [
            slope_between(low, here, up, values[n] - ends[n][0], ends[n][1] - values[n])
            for n, low, up in pairs
        ]
        return here, np.stack(columns, axis=-1)

    return both


def _neighbours(
    value: Amount, size: float, domain: tuple[float, float], relative: float
) -> tuple[Amount, Amount]:
    """Neighbours of a value, within its range; the value itself where a step leads to its end.

    A station may refuse the end of its parameter's range, such as a service time of 0.
    """
    largest = np.maximum(np.abs(value), size)
    step = relative * np.where(largest > 0, largest, relative)
    low, high = value - step, value + step
    return np.where(low > domain[0], low, value), np.where(high < domain[1], high, value)


def _side_by_side(predict: Predict, cases: Sequence[Values]) -> FloatArray:
    """Predictions for several values at once."""
    sets = max(np.shape(v)[0] if np.ndim(v) > 1 else 1 for v in cases[0].values())
    changed = [
        n for n in cases[0] if any(np.ndim(c[n]) > 1 or c[n] is not cases[0][n] for c in cases)
    ]
    columns = {n: [np.broadcast_to(c[n], (sets, 1)) for c in cases] for n in changed}
    predicted = predict({**cases[0], **{n: np.concatenate(each) for n, each in columns.items()}})
    split = predicted.reshape(len(cases), sets, -1)
    return split if any(np.ndim(v) > 1 for v in cases[0].values()) else split[:, 0]


def slope_between(
    below: ArrayLike, here: ArrayLike, above: ArrayLike, down: ArrayLike, up: ArrayLike
) -> FloatArray:
    """Slope between two neighbours of a point; one-sided if one of them is missing.

    Parameters
    ----------
    below, here, above
        Values of a function below, at and above the point; not finite if missing.
    down, up
        Distances below and above, 0 or more.

    Returns
    -------
    The slope; 0 if it cannot be computed.

    Examples
    --------
    >>> slope_between(1.0, 4.0, 9.0, 1.0, 1.0).item(), slope_between(1.0, 4.0, np.inf, 1, 1).item()
    (4.0, 3.0)
    """
    has_low, has_high = np.isfinite(below), np.isfinite(above)
    with np.errstate(invalid="ignore", divide="ignore"):
        rise = np.where(has_high, above, here) - np.where(has_low, below, here)
        slope = np.asarray(rise / (np.multiply(up, has_high) + np.multiply(down, has_low)))
    return np.where(np.isfinite(slope), slope, 0.0)


@dataclass(frozen=True)
class GraphKey:
    """A hashable wrapper of a graph, as graphs contain dicts."""

    text: str
    graph: ModelGraph = field(compare=False)

    @classmethod
    def of(cls, graph: ModelGraph) -> Self:
        """The key of a graph."""
        return cls(graph.content, graph)


@lru_cache(maxsize=256)
def _compiled(key: GraphKey, output: str, names: tuple[str, ...]) -> Evaluator | None:
    """Compile an output of a graph; None, also cached, if it has no closed form."""
    from headway.models.solving.symbolic import closed_form, offered_form

    graph = key.graph
    limited = [name for name, station in graph.stations.items() if station.can.saturates]
    try:
        offered = [offered_form(graph, name) for name in limited]
        return compiled_forms(closed_form(graph, output), offered, names)
    except _NO_FORM:
        return None


def _shape(values: Values) -> tuple[int, ...]:
    """The broadcast shape of values: points, or sets by points; one point if all are single."""
    return _together(frozenset(getattr(value, "shape", ()) for value in values.values()))


@lru_cache(maxsize=1024)  # a search uses the same few shapes at every step
def _together(shapes: frozenset[tuple[int, ...]]) -> tuple[int, ...]:
    return np.broadcast_shapes((1,), *shapes)


def compiled_forms(form: Amount, offered: Sequence[Amount], names: Sequence[str]) -> Evaluator:
    """Compile an output, where it is infinite, and its derivatives into functions of arrays.

    Parameters
    ----------
    form, offered
        SymPy expressions of the parameters: the output, and the load offered to each station
        relative to what it can serve.
    names
        Parameters with respect to which to differentiate.
    """
    from headway.models.solving.symbolic import numeric, symbol

    symbols = sorted({s for part in (form, *offered) for s in part.free_symbols}, key=str)
    arguments = [str(s) for s in symbols]
    value = numeric([form, *offered], symbols)
    slope = numeric([form.diff(symbol(name)) for name in names], symbols)

    def predict(values: Values) -> FloatArray:
        with np.errstate(all="ignore"):
            result, *shares = value(*[np.asarray(values[name], float) for name in arguments])
            for share in shares:
                result = np.where(np.greater_equal(share, 1), np.inf, result)
        shape, finite = _shape(values), np.isfinite(result)
        known = result if finite.all() else np.where(finite, result, np.inf)
        return known if np.shape(known) == shape else np.broadcast_to(known, shape)

    def slopes(values: Values, wanted: Sequence[str]) -> FloatArray:
        with np.errstate(all="ignore"):
            each = slope(*[np.asarray(values[name], float) for name in arguments])
        stacked = np.empty((*_shape(values), len(wanted)))
        for place, name in enumerate(wanted):
            stacked[..., place] = each[names.index(name)]
        finite = np.isfinite(stacked)
        return stacked if finite.all() else np.where(finite, stacked, 0.0)

    return Evaluator(predict, slopes, frozenset(names))
