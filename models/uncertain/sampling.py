"""Draws of uncertain parameters, which keep each parameter's interval and all correlations.

Each parameter is normal on either side of its value (or its logarithm is, if its interval is more
symmetric so): half of the draws lie below the value, 2.5% below the lower end of its interval and
2.5% above the upper end. A Gaussian copula joins them: correlations are those of their normal
scores.

Source: Nelsen, *An Introduction to Copulas*, 2006; Owen, *Scrambling Sobol' and Niederreiter-Xing
points*, 1998, for points that fill the space more evenly than random ones.
"""

import math
from collections.abc import Container, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.language.frozen import Kept
from headway.models.structure.correlations import check_correlations, correlation_matrix
from headway.models.structure.model import Model
from headway.models.structure.parts.counts import counts
from headway.records import dataclass

HALF = 1.959963984540054
"""Standard deviations from the middle of a normal law to the ends of its 95% interval."""

MOST_DRAWS = 1_000_000
"""Most draws at once."""

SCORE_BITS = 30
"""Binary digits of the points from which draws are made."""

_LEAST = 2.0**-33  # a scrambled point has no digits below this probability


@dataclass(frozen=True)
class SplitNormal:
    """The distribution of one parameter: normal on either side of its value.

    Parameters
    ----------
    value, low, high
        The middle, and the ends of the 95% interval [SI].
    minimum, maximum
        The bounds of the parameter.
    is_whole
        Whether it counts something.

    Examples
    --------
    >>> even = SplitNormal(1.0, 0.5, 2.0)
    >>> even.at(np.array([-HALF, 0.0, HALF])).round(12).tolist()
    [0.5, 1.0, 2.0]
    """

    value: float
    low: float
    high: float
    minimum: float = -math.inf
    maximum: float = math.inf
    is_whole: bool = False

    @property
    def is_logarithmic(self) -> bool:
        """Whether the interval is more symmetric in ratios than in differences."""
        if not 0 < self.low < self.value < self.high:
            return False
        ratios = math.log(self.high / self.value) / math.log(self.value / self.low)
        differences = (self.high - self.value) / (self.value - self.low)
        return abs(math.log(ratios)) < abs(math.log(differences))

    def at(self, scores: FloatArray) -> FloatArray:
        """Values at normal scores."""
        if self.is_logarithmic:
            low, middle, high = (math.log(end) for end in (self.low, self.value, self.high))
            values = np.exp(_two_sided(low, middle, high, scores))
        else:
            values = _two_sided(self.low, self.value, self.high, scores)
        inside = np.clip(values, self.minimum, self.maximum)
        return np.asarray(np.round(inside) if self.is_whole else inside)


def _two_sided(low: float, middle: float, high: float, scores: FloatArray) -> FloatArray:
    width = np.where(scores < 0, middle - low, high - middle) / HALF
    return np.asarray(middle + width * scores)


@dataclass(frozen=True, eq=False)
class Joint(Kept):
    """The joint distribution of a model's uncertain parameters.

    Parameters
    ----------
    marginals
        The distribution of each parameter, by name.
    correlations
        Correlations of their normal scores, shape (parameters, parameters).
    """

    marginals: Mapping[str, SplitNormal]
    correlations: FloatArray

    def values(self, independent: FloatArray, first: int = 0) -> dict[str, FloatArray]:
        """Values by name at independent normal scores.

        Parameters
        ----------
        independent
            Scores of shape (draws, parameters). Column 0 is the score of the parameter at index
            `first`; column 1 is the independent part of the parameter after it, and so on,
            cyclically.
        first
            Index of that parameter.
        """
        order = np.roll(np.arange(len(self.marginals)), -first)
        lower, names = triangle(self.correlations[np.ix_(order, order)]), list(self.marginals)
        scores = {
            names[place]: _mixed(own, independent) for place, own in zip(order, lower, strict=True)
        }
        return {name: marginal.at(scores[name]) for name, marginal in self.marginals.items()}

    def describe(self) -> dict[str, Any]:
        """Its JSON document."""
        marginals = {name: asdict(marginal) for name, marginal in self.marginals.items()}
        return {"parameters": marginals, "correlations": self.correlations.tolist()}


def _mixed(weights: FloatArray, columns: FloatArray) -> FloatArray:
    """Sum weighted columns one by one, so that a row does not depend on those beside it."""
    total = np.zeros(len(columns))
    for place in np.flatnonzero(weights):
        total += weights[place] * columns[:, place]
    return total


def triangle(correlations: FloatArray) -> FloatArray:
    """A lower triangle L with unit rows and L L' equal to these correlations, even if singular.

    Examples
    --------
    >>> triangle(np.array([[1.0, 0.6], [0.6, 1.0]])).round(12).tolist()
    [[1.0, 0.0], [0.6, 0.8]]
    """
    values, ways = np.linalg.eigh(correlations)
    root = ways * np.sqrt(np.maximum(values, 0.0))
    _, upper = np.linalg.qr(root.T)
    lower = (upper * np.where(np.diag(upper) < 0, -1.0, 1.0)[:, None]).T
    return np.asarray(lower / np.linalg.norm(lower, axis=1, keepdims=True))


def joint(model: Model, known: Container[str] = ()) -> Joint:
    """The joint distribution of a model's uncertain parameters.

    Parameters
    ----------
    model
        A model, some of whose parameters have 95% intervals.
    known
        Names of parameters to leave out.

    Raises
    ------
    InvalidParameter
        If no parameter has an interval, an interval is open, or the correlations are impossible.
    """
    uncertain = {
        name: parameter.interval
        for name, parameter in model.parameters.items()
        if parameter.interval is not None and name not in known
    }
    if not uncertain:
        some = next(iter(model.parameters), "NAME")
        msg = (
            f"{model.name}: no parameter is uncertain; write ci95 = [LOW, HIGH] beside {some} in "
            "its model file, or let fit --out write it"
        )
        raise InvalidParameter(msg)
    check_correlations(model.correlations, model.parameters)
    pairs = {pair: value for pair, value in model.correlations.items() if {*pair} <= {*uncertain}}
    marginals = {name: _marginal(model, name, *ends) for name, ends in uncertain.items()}
    return Joint(marginals, correlation_matrix(list(uncertain), pairs))


def _marginal(model: Model, name: str, low: float, high: float) -> SplitNormal:
    parameter, whole = model.parameters[name], counts(model.graph)
    value, limits = float(np.asarray(parameter.value)), (parameter.minimum, parameter.maximum)
    if name in model.drawn:
        ends = np.quantile(model.drawn[name], [0.025, 0.975])
        low, high = min(float(ends[0]), value), max(float(ends[1]), value)
    if math.isinf(low) or math.isinf(high):
        side = "upper" if math.isinf(high) else "lower"
        msg = (
            f"{name}: its 95% interval has no {side} end, so it cannot be sampled; give that "
            "end, or set a value to treat it as certain"
        )
        raise InvalidParameter(msg)
    return SplitNormal(value, low, high, *limits, name in whole)


def normal_scores(count: int, width: int, seed: int) -> FloatArray:
    """Independent, evenly spread normal numbers, shape (count, width).

    Raises
    ------
    InvalidParameter
        For a count that is not a whole number from 1 to a million, and a seed that is not a whole
        number of 0 or more.
    """
    count = check_whole("draws", count, 1, MOST_DRAWS)
    seed = check_whole("seed", seed, 0, 2**63)
    from scipy.stats.qmc import Sobol

    engine = Sobol(width, bits=SCORE_BITS, seed=np.random.default_rng(seed))
    return scores_at(engine.random_base2((count - 1).bit_length())[:count])


def scores_at(shares: FloatArray) -> FloatArray:
    """Normal scores of these probabilities, kept finite at the ends."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(shares, _LEAST, 1 - _LEAST)))


def check_whole(name: str, number: float, least: int, most: int) -> int:
    """Refuse a number that is not an integer, or is too small or large; return it as an int.

    Raises
    ------
    InvalidParameter
        With its name.
    """
    if not least <= number <= most or number != int(number):
        msg = f"{name} is {number}; it must be a whole number between {least} and {most}"
        raise InvalidParameter(msg)
    return int(number)


def draws(model: Model, count: int = 1000, seed: int = 1) -> dict[str, FloatArray]:
    """Draw values of all uncertain parameters of a model together.

    Parameters
    ----------
    model
        A model, some of whose parameters have 95% intervals; their correlations apply.
    count
        Number of sets of values, from 1 to a million.
    seed
        A whole number of 0 or more; the same seed gives the same draws.

    Returns
    -------
    SI values by parameter, `count` of each.

    Raises
    ------
    InvalidParameter
        If no parameter has an interval, or one has an unknown end.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    >>> drawn = draws(model.uncertain({"service_time": ("0.9 ms", "1.1 ms")}), 1024)
    >>> np.quantile(drawn["service_time"], [0.025, 0.5, 0.975]).round(5).tolist()
    [0.0009, 0.001, 0.0011]
    """
    count = check_whole("draws", count, 1, MOST_DRAWS)
    known = _resampled(model.drawn, count, check_whole("seed", seed, 0, 2**63))
    others = {n for n, p in model.parameters.items() if p.interval is not None} - known.keys()
    if known and not others:
        return known
    distribution = joint(model, known)
    width = len(distribution.marginals)
    return known | distribution.values(normal_scores(count, width, seed))


def _resampled(drawn: Mapping[str, FloatArray], count: int, seed: int) -> dict[str, FloatArray]:
    """A number of the sets of values that a model carries, each about as often as any other."""
    if not drawn:
        return {}
    sets = next(iter(drawn.values())).size
    rows = np.random.default_rng(seed).permutation(np.arange(count) * sets // count)
    return {name: values[rows] for name, values in drawn.items()}
