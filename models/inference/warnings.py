"""Warnings about a fit: bounds, lack of fit, worse than a constant, invalid points."""

import numpy as np

from headway.kinds import FloatArray
from headway.models.inference.fit import Fit
from headway.models.language.scales import Scale
from headway.models.measured.matching import turns_away
from headway.numerals import digits

_LARGE = 0.1  # RMS relative error above which a fit is called bad
_NEXT_TO_NONE = 1e-3  # RMS relative error of a fit that follows all measurements
_JAGGED = 0.03  # RMS distance from the nearest rising curve
_CORRELATED = 0.98
# ratio of prediction to measurement from which a load is at the fit's saturation point
_SATURATED = 10.0
_APART = 1.2  # ratio of two counts from which the choice affects the other parameters
_WIDER = 1.5  # factor by which unequal errors must widen an interval to be reported
_TELLING = 5  # points beyond the number of free parameters from which residuals show their size
_FEW = 2  # points beyond the number of free parameters that are few
_RUNS_NEED = 7  # points from which signs of residuals are significant


def quick_warnings(fit: Fit, scale: Scale) -> list[str]:
    """Warnings that need no further fits, except about identifiability."""
    return [
        *_at_bounds(fit, scale),
        *_no_freedom(fit),
        *_worse_than_constant(fit),
        *_lack_of_fit(fit),
        *_correlated(fit),
        *_bends(fit),
        *_invalid(fit),
    ]


def costly_warnings(fit: Fit, scale: Scale) -> list[str]:
    """Warnings about other answers, unequal errors and left-out points."""
    return [
        *_other_answers(fit),
        *_open_counts(fit),
        *_unequal(fit, scale),
        *_extrapolates_badly(fit),
    ]


def _unequal(fit: Fit, scale: Scale) -> list[str]:
    """Say if errors of different sizes make intervals much wider."""
    if fit.uncertainty.degrees < _TELLING:
        return []
    wider = []
    for name, (low, high) in fit.robust_ci95.items():
        own = fit.ci95[name]
        if np.isfinite(high - low) and high - low > _WIDER * (own[1] - own[0]):
            wider.append(f"{name} {scale.ends(low, high, fit.model.parameters[name].unit)}")
    if not wider:
        return []
    return [
        f"errors vary in size along the curve; intervals that allow for this: {', '.join(wider)}"
    ]


def _at_bounds(fit: Fit, scale: Scale) -> list[str]:
    sentences = []
    for name, at_bound in zip(fit.free, fit.optimum.at_bound, strict=True):
        if at_bound:
            parameter = fit.model.parameters[name]
            bounds = fit.problem.scales[fit.free.index(name)]
            near_low = fit.values[name] - bounds.low <= bounds.high - fit.values[name]
            side, limit = ("lower", bounds.low) if near_low else ("upper", bounds.high)
            is_zero = limit <= 1e-6 * parameter.unit.scale
            shown = parameter.shown(0.0 if is_zero else limit, scale)
            sentences.append(
                f"{name} reached its {side} bound, {shown}: the data do not support this "
                "parameter, or the model lacks something"
            )
    return sentences


def _no_freedom(fit: Fit) -> list[str]:
    if fit.uncertainty.degrees > _FEW:
        return []
    if fit.uncertainty.degrees > 0:
        what = ("load" if fit.uncertainty.shift.by_load else "point") + "s" * (
            fit.uncertainty.degrees > 1
        )
        more = f"{fit.uncertainty.degrees} {what} more than free parameters"
        return [f"{more}: intervals are wide, and cover less than 95% where the curve has a kink"]
    return [
        "as many free parameters as points, so errors and intervals cannot be estimated; fix "
        "a parameter or add points"
    ]


def is_worse_than_constant(fit: Fit) -> bool:
    """Whether the mean of the measurements would fit better, if errors are worth mentioning."""
    outputs = len(fit.problem.outputs)
    weights = (fit.problem.share / fit.problem.sigma**2).reshape(outputs, -1)
    measured = fit.problem.measured.reshape(outputs, -1)
    mean = (weights * measured).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
    constant = float(np.sum(weights * (mean - measured) ** 2))
    rms: float = fit.comparison.summary["rms_relative_error"]
    return 2 * fit.optimum.cost >= constant and rms > _NEXT_TO_NONE


def _worse_than_constant(fit: Fit) -> list[str]:
    if not is_worse_than_constant(fit):
        return []
    return ["the fit is worse than a constant: this model does not describe these data"]


def _lack_of_fit(fit: Fit) -> list[str]:
    """Large errors, or errors whose signs come in runs that chance does not produce."""
    rms = fit.comparison.summary["rms_relative_error"]
    sentences = []
    if rms > _LARGE:
        sentences.append(f"lack of fit: RMS error {rms:.1%}; {_trait(fit, rms)}")
    order = np.argsort(fit.comparison.load.values, kind="stable")
    share = np.broadcast_to(fit.problem.share, fit.problem.used.shape)[:: fit.problem.loads]
    independent = (share == 1) | (np.arange(share.size) == share.argmin())  # one of the two halves
    for one in np.array(fit.comparison.each, object)[independent]:
        what = f" of {one.measured.header}" if independent.sum() > 1 else ""
        sentences += _runs(one.relative_error[order], what)
    return [*sentences, *_beyond_repeats(fit)]


def _beyond_repeats(fit: Fit) -> list[str]:
    """Say where the model misses the means of repeats by more than their scatter."""
    scatter = fit.pure_error
    if scatter is None or scatter.misfit.p is None or not scatter.misfit.is_lack_of_fit:
        return []
    size = f"by up to {scatter.misfit.factor - 1:.0%}" if scatter.misfit.factor < 2 else "by far"
    return [
        f"lack of fit: the model misses the means of repeated loads {size}, more than repeats "
        "scatter"
    ]


def _trait(fit: Fit, rms: float) -> str:
    """Say what in the curve no rising model can follow: it falls, or it is jagged.

    A model that does better than any rising curve is not rising; and another output may fit better.
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(fit.comparison.load.values, kind="stable")
    measured = fit.comparison.measured.values[order]
    rising = isotonic_regression(measured, weights=1 / measured**2).x
    missed = float(np.sqrt(np.mean((rising / measured - 1) ** 2)))
    if missed < _JAGGED:
        return "the model does not follow the shape of the curve"
    falls = measured[0] > 2 * measured.min() and int(measured.argmin()) > len(measured) // 2
    shape = "falls with load" if falls else "is jagged"
    errors = fit.comparison.relative_error[fit.comparison.counted]
    own = float(np.sqrt(np.mean(errors**2)))
    if missed > min(own, rms):
        return f"the curve {shape}"
    return f"the curve {shape}; no rising curve fits it better than {missed:.1%} RMS"


def _runs(errors: FloatArray, what: str) -> list[str]:
    """Wald and Wolfowitz's test of the number of runs of one sign, by its normal limit."""
    up, down = int((errors > 0).sum()), int((errors < 0).sum())
    total = up + down
    if total < _RUNS_NEED or min(up, down) < 2:
        return []
    runs = 1 + int((np.diff(np.sign(errors[errors != 0])) != 0).sum())
    mean = 1 + 2 * up * down / total
    variance = (mean - 1) * (mean - 2) / (total - 1)
    if runs < mean - 1.645 * np.sqrt(variance) - 0.5:  # one-sided at 5%
        return [
            f"lack of fit: the errors{what} are not random, so the model misses the shape of the "
            f"curve: {runs} runs of one sign, where chance gives {mean:.0f}"
        ]
    return []


def _correlated(fit: Fit) -> list[str]:
    correlations = np.nan_to_num(fit.uncertainty.correlations)
    pairs = np.argwhere(np.triu(np.abs(correlations) > _CORRELATED, 1))
    return [
        f"{fit.free[i]} and {fit.free[j]} are strongly correlated ({correlations[i, j]:+.3f}): "
        "the data determine only a combination of them"
        for i, j in pairs
    ]


def _other_answers(fit: Fit) -> list[str]:
    """Say that values far from the best ones fit not significantly worse."""
    others = len(fit.answers) - 1
    if not others:
        return []
    what = "another solution fits" if others == 1 else f"{others} other solutions fit"
    return [f"{what} about as well, with other values; the intervals include them all"]


def _open_counts(fit: Fit) -> list[str]:
    """Say which other counts fit: the other parameters are stated for the best one."""
    sentences = []
    for name in set(fit.problem.whole) & set(fit.ci95):
        low, high = fit.ci95[name]
        if high > _APART * low and len(fit.free) > 1:
            others = f"{name} from {digits(low)} to {digits(high)} fit about as well"
            sentences.append(f"{others}; the other intervals assume {digits(fit.values[name])}")
    return sentences


def _extrapolates_badly(fit: Fit) -> list[str]:
    missed = fit.leave_last_load_out
    if missed <= max(3 * fit.comparison.summary["rms_relative_error"], 0.25):
        return []
    near = missed < _SATURATED
    outcome = f"misses that load by {missed:.0%}" if near else "saturates before that load"
    return [f"do not extrapolate: a fit without the highest load {outcome}"]


def _bends(fit: Fit) -> list[str]:
    """Say if an open model meets a curve that bends back, or a test that fell behind its load."""
    explained = fit.model.is_closed or turns_away(fit.model)
    if explained or fit.comparison.output != "response_time":
        return []
    from headway.models.inference.closed_curves import closed_signs

    return closed_signs(fit.measurements)


def _invalid(fit: Fit) -> list[str]:
    count = fit.measurements.invalid
    return [f"the benchmark marks {count} points as invalid"] if count else []
