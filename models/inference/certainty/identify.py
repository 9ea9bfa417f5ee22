"""What the data can and cannot determine, in words, and what measurement would help."""

from collections.abc import Callable, Sequence

import numpy as np

from headway.kinds import FloatArray
from headway.models.inference.certainty.uncertainty import Uncertainty
from headway.models.inference.searching.problem import RELATIVE_NOISE, Problem
from headway.models.inference.searching.search import natural_scale
from headway.models.structure.model import Model
from headway.records import dataclass

RANK = 1e-6
"""Effect of a relative change, as a share of the largest effect, below which it counts as none."""

WEAK = 0.5
"""Relative standard error above which a parameter counts as not determined."""

FAR = 100.0
"""Factor by which a parameter must lie beyond what was measured to show in no measurement.

A part of a time that is less than a hundredth of it changes it by less than 1%; repeats of a load
differ as much (0.8% in ``load_tests/pool/two_workers``).
"""

_NOTHING = 1e-3  # share of its initial value below which a value has no scale of its own
_SHARE = 1e-3  # share of a combination that is worth naming
_HELPS = 0.8  # factor on the standard error that makes a measurement worth advising
_FARTHEST = 3.0  # farthest load that is advised, in multiples of the highest measured load
_LOADS = np.linspace(0.05, 0.98, 32)


@dataclass(frozen=True)
class Identified:
    """What the data determine.

    Parameters
    ----------
    undetermined
        Names of the parameters that are not determined.
    sentences
        Why they are not, and what would help.
    """

    undetermined: frozenset[str]
    sentences: tuple[str, ...]


def structure(problem: Problem, free: FloatArray) -> Identified:
    """Find combinations of parameters on which no prediction depends, by the Jacobian's rank.

    Parameters
    ----------
    problem
        The fit.
    free
        Values at which the Jacobian is taken.
    """
    effects = problem.jacobian(free) * natural_scale(problem, free)
    _, singular, right = np.linalg.svd(effects, full_matrices=True)
    strength = np.zeros(len(free))
    strength[: len(singular)] = singular
    silent = right[strength <= RANK * max(float(strength.max()), 1e-300)]
    lost: set[str] = set()
    sentences = []
    for way in silent:
        shares = {n: float(w) for n, w in zip(problem.names, way, strict=True) if abs(w) > _SHARE}
        lost |= set(shares)
        sentences.append(_silent_sentence(shares))
    return Identified(frozenset(lost), tuple(sentences))


def _silent_sentence(shares: dict[str, float]) -> str:
    if len(shares) == 1:
        name = next(iter(shares))
        return f"no prediction at these points depends on {name}; fix it"
    names = sorted(shares, key=lambda n: -abs(shares[n]))
    first = shares[names[0]]
    others = ", ".join(f"{n} by {shares[n] / first:+.2g}%" for n in names[1:])
    return (
        f"the data determine only a combination of {', '.join(names)}: changing {names[0]} by 1% "
        f"and {others} changes no prediction; fix one of them, or vary it in the measurements"
    )


def precision(
    problem: Problem, free: FloatArray, known: Uncertainty, rate_text: Callable[[float], str]
) -> Identified:
    """Name parameters with a standard error above half their value, and what would help.

    Parameters
    ----------
    problem, free
        The fit and its best values.
    known
        Their standard errors and correlations.
    rate_text
        A function that writes an arrival rate [1/s] with a unit.
    """
    errors = _relative_errors(problem, free, known)
    weak = [n for n, e in zip(problem.names, errors, strict=True) if not e < WEAK]
    sentences = []
    for name in weak:
        k = problem.names.index(name)
        error = f"{errors[k]:.0%}" if np.isfinite(errors[k]) else "unbounded"
        partner = _partner(problem.names, known, k)
        sentence = f"{name} is poorly determined (standard error {error}{partner})"
        sentences.append(f"{sentence}; {advice(problem, free, name, rate_text)}")
    return Identified(frozenset(weak), tuple(sentences))


def _relative_errors(problem: Problem, free: FloatArray, known: Uncertainty) -> FloatArray:
    """Standard errors relative to the values; to the initial value where a value is almost zero."""
    size, usual = np.abs(free), np.abs(problem.initial)
    return np.asarray(known.standard_errors / np.where(size > _NOTHING * usual, size, usual))


def out_of_reach(
    problem: Problem, free: FloatArray, at_bound: Sequence[bool], known: Uncertainty
) -> tuple[str, ...]:
    """Name parameters that are not determined and lie out of reach of the data.

    These are at a bound, or `FAR` times below or above all that was measured: a time compared with
    the interarrival and response times, a rate with their reciprocals, and a number with the jobs
    that these times and rates imply.

    Parameters
    ----------
    problem, free, at_bound
        The fit, its best values, and which of them are at a bound.
    known
        Their standard errors.
    """
    errors = _relative_errors(problem, free, known)
    return tuple(
        name
        for name, value, stopped, error in zip(
            problem.names, free.tolist(), at_bound, errors, strict=True
        )
        if not error < WEAK and (stopped or _is_far(problem, name, value))
    )


def _is_far(problem: Problem, name: str, value: float) -> bool:
    (least, most), (slowest, fastest) = problem.times, problem.rates
    low, high = min(least, 1 / fastest), max(most, 1 / slowest)
    power, data = problem.model.parameters[name].unit.dimension[:2]
    spans = {1: (low, high), -1: (1 / high, 1 / low), 0: (0.0, max(most * fastest, 1.0))}
    span = spans.get(power) if data == 0 else None
    return span is not None and not span[0] / FAR <= abs(value) <= FAR * span[1]


def _partner(names: Sequence[str], known: Uncertainty, k: int) -> str:
    correlation = np.abs(np.nan_to_num(known.correlations[k]))
    correlation[k] = 0.0
    if not correlation.size or correlation.max() < 0.9:
        return ""
    other = int(correlation.argmax())
    return f", correlation with {names[other]} {known.correlations[k, other]:+.2f}"


def advice(problem: Problem, free: FloatArray, name: str, rate_text: Callable[[float], str]) -> str:
    """Name the further load that would narrow a parameter's interval most if measured twice.

    Parameters
    ----------
    problem, free
        The fit and its best values.
    name
        The parameter.
    rate_text
        A function that writes an arrival rate [1/s] with a unit.
    """
    k = problem.names.index(name)
    rows = problem.jacobian(free)
    loads = candidate_loads(
        problem.model.at(dict(zip(problem.names, map(float, free), strict=True)))
    )
    if loads.size == 0:
        return f"fix {name}, or measure at loads where it matters"
    predicted, slopes = at_loads(problem, free, loads)
    usable = np.isfinite(predicted) & (predicted > 0)
    best, where = 1.0, 0.0
    before = _error(rows, k)
    for load, row in zip(
        loads[usable], slopes[usable] / predicted[usable, None] / RELATIVE_NOISE, strict=True
    ):
        gain = _error(np.vstack([rows, row, row]), k) / before
        if gain < best:
            best, where = gain, float(load)
    if best > _HELPS:
        return f"no single further load would help; fix {name}, or measure it separately"
    return f"two more points near {rate_text(where)} would reduce the error to {best:.0%} of this"


def _error(rows: FloatArray, k: int) -> float:
    """Standard error of a parameter, up to a factor, from rows of derivatives."""
    size = np.linalg.norm(rows, axis=0)
    scaled = rows / np.where(size == 0, 1.0, size)
    inverse = np.linalg.pinv(scaled.T @ scaled + 1e-14 * np.eye(len(size)))
    return float(np.sqrt(max(inverse[k, k], 1e-300))) / (float(size[k]) or 1.0)


def candidate_loads(model: Model) -> FloatArray:
    """Loads from 5% to 98% of saturation, or of three times the highest load if that is less.

    None if the load is not an arrival rate.
    """
    if "arrival_rate" not in model.parameters:
        return np.array([])
    loads = np.asarray(model.parameters["arrival_rate"].value, float)
    limit = float(np.max(np.asarray(model.solve().saturation_throughput)))
    return _LOADS * min(limit, _FARTHEST * float(loads.max()))


def at_loads(
    problem: Problem, free: FloatArray, loads: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The first output and its derivatives at other loads, all else as at the first point."""
    values = {
        n: (float(np.ravel(v)[0]) if np.ndim(v) else v) for n, v in problem.values(free).items()
    }
    values["arrival_rate"] = loads
    smooth = [n for n in problem.names if problem.relaxed or n not in problem.whole]
    slopes = problem.first(problem.evaluate.slopes(values, smooth).T)
    columns = dict(zip(smooth, slopes, strict=True))
    zero = np.zeros(loads.shape)
    stacked = np.stack([columns.get(name, zero) for name in problem.names], axis=-1)
    return problem.first(problem.evaluate.predict(values)), stacked
