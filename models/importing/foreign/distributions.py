"""Means and squared coefficients of variation of the distributions in JSIMg files."""

import math
from collections.abc import Callable, Mapping

from headway.errors import ModelFileError
from headway.models.importing.foreign.network import ServiceTimes
from headway.models.importing.foreign.numbers import number
from headway.models.importing.foreign.parameters import ForeignParameter

_SAME = 1e-12
"""A squared coefficient of variation this close to 1 counts as that of exponential times."""

Read = Callable[[str], float]
"""The value of a distribution's parameter by its name."""


def times_of(entry: ForeignParameter, place: str) -> ServiceTimes | None:
    """Read the service times of a class; None if the file has none (``null``).

    Parameters
    ----------
    entry
        A ``ServiceTimeStrategy``.
    place
        For messages, such as ``shop.jsimg: Queue 1: service of web``.

    Raises
    ------
    ModelFileError
        For a distribution that is not supported, or parameters outside its domain.
    """
    if entry.kind == "ZeroServiceTimeStrategy":
        return ServiceTimes(0.0)
    if entry.value == "null" or not entry.parts:
        return None
    if entry.kind != "ServiceTimeStrategy":
        msg = f"{place}: a {entry.kind} is not supported; give a service time distribution"
        raise ModelFileError(msg)
    numbers = entry.part("distrPar")
    law = next((p.kind for _, p in entry.parts if p.name != "distrPar"), "")
    if numbers is None or law not in _LAWS:
        kinds = ", ".join(_LAWS)
        msg = (
            f"{place}: {law or 'a time without a distribution'} is not supported; use one of "
            f"{kinds}"
        )
        raise ModelFileError(msg)
    return _times(law, numbers, f"{place}: {law}")


def _reader(numbers: ForeignParameter, place: str) -> Read:
    return lambda name: number(numbers.text(name), f"{place}: {name}", -math.inf)


def _times(law: str, numbers: ForeignParameter, place: str) -> ServiceTimes:
    """Times of a distribution; refuses parameters that give no finite mean or variance."""
    try:
        mean, variance = _LAWS[law](_reader(numbers, place))
        scv = variance / mean**2 if mean > 0 else math.nan
    except (OverflowError, ZeroDivisionError):
        mean = scv = math.nan
    if not (math.isfinite(mean) and 0 <= scv < math.inf):
        msg = f"{place}: these parameters give no positive mean with a finite variance; change them"
        raise ModelFileError(msg)
    return ServiceTimes(mean, 1.0 if abs(scv - 1) < _SAME else scv)


def _rate(read: Read, name: str) -> float:
    value = read(name)
    return value if value > 0 else math.nan


def _exponential(read: Read) -> tuple[float, float]:
    mean = 1 / _rate(read, "lambda")
    return mean, mean**2


def _erlang(read: Read) -> tuple[float, float]:
    rate, phases = _rate(read, "alpha"), _rate(read, "r")
    return phases / rate, phases / rate**2


def _hyperexponential(read: Read) -> tuple[float, float]:
    share, first, second = read("p"), _rate(read, "lambda1"), _rate(read, "lambda2")
    if not 0 <= share <= 1:
        return math.nan, math.nan
    mean = share / first + (1 - share) / second
    return mean, 2 * (share / first**2 + (1 - share) / second**2) - mean**2


def _coxian(read: Read) -> tuple[float, float]:
    """Two phases; the service ends after the first with probability phi0."""
    first, second, ends = _rate(read, "lambda0"), _rate(read, "lambda1"), read("phi0")
    if not 0 <= ends <= 1:
        return math.nan, math.nan
    on = 1 - ends
    return 1 / first + on / second, 1 / first**2 + on * (1 + ends) / second**2


def _constant(read: Read) -> tuple[float, float]:
    return read("t"), 0.0


def _uniform(read: Read) -> tuple[float, float]:
    low, high = read("min"), read("max")
    if not 0 <= low <= high:
        return math.nan, math.nan
    return (low + high) / 2, (high - low) ** 2 / 12


def _gamma(read: Read) -> tuple[float, float]:
    shape, scale = _rate(read, "alpha"), _rate(read, "beta")
    return shape * scale, shape * scale**2


def _lognormal(read: Read) -> tuple[float, float]:
    middle, spread = read("mu"), _rate(read, "sigma") ** 2
    try:
        mean = math.exp(middle + spread / 2)
        return mean, math.expm1(spread) * mean**2
    except OverflowError:
        return math.nan, math.nan


def _pareto(read: Read) -> tuple[float, float]:
    shape, least = _rate(read, "alpha"), _rate(read, "k")
    if not shape > 2:
        return math.nan, math.inf
    return shape * least / (shape - 1), shape * least**2 / ((shape - 1) ** 2 * (shape - 2))


_LAWS: Mapping[str, Callable[[Read], tuple[float, float]]] = {
    "Exponential": _exponential,
    "Erlang": _erlang,
    "HyperExp": _hyperexponential,
    "CoxianDistr": _coxian,
    "DeterministicDistr": _constant,
    "Uniform": _uniform,
    "GammaDistr": _gamma,
    "Lognormal": _lognormal,
    "Pareto": _pareto,
}
"""Mean [s] and variance [s^2] of each distribution."""
