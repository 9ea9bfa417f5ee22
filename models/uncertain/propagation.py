"""Uncertain parameters carried through a model: every output with its 95% band."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property

import numpy as np

from headway.errors import HeadwayError, InvalidParameter, UnknownParameter
from headway.kinds import FloatArray, Number, plain
from headway.models.solving.response_times.percentiles import all_at_once
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.alternatives import able_to, weighted
from headway.models.structure.inputs import ARRIVAL_RATE, points_shape
from headway.models.structure.model import Model
from headway.models.tables.shown import Answer
from headway.models.uncertain.beyond import acting_rate, is_time, of_load
from headway.models.uncertain.importance import Importance, sobol_importance
from headway.models.uncertain.mixture import Member, mixture
from headway.models.uncertain.sampling import check_whole, joint
from headway.records import dataclass

LEAST_DRAWS, MOST_DRAWS = 100, 100_000
"""Fewest and most draws: fewer would have no reliable 2.5% quantile."""

MOST_SOLVED = 5_000_000
"""Largest product of draws and operating points."""

MOST_ONE_BY_ONE = 5_000
"""The same, if percentiles are found one by one."""

BAND = (0.025, 0.975)
"""Quantiles at the ends of a 95% band."""


@dataclass(frozen=True)
class Propagation(Answer):
    """A model's answers with 95% bands from its uncertain parameters.

    Parameters
    ----------
    solution
        The solution at the best values.
    members
        The draws of the model, and of each of its alternatives.
    drawn
        Solutions of each member at its draws: the first dimension is the draws, the others are the
        operating points.
    acting
        The same with loads beyond the highest measured one replaced by those that they act like.
    method, percents
        How it was solved, and the percentiles asked for.
    seed
        Seed of the draws.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    >>> uncertain = model.uncertain({"delay": ("0.8 ms", "1.2 ms")}).at(arrival_rate=500)
    >>> bands = uncertain.propagate(draws=1024)
    >>> bands, [round(end, 5) for end in bands.band("response_time")]
    (Propagation(server-single, 1 point, 1024 draws of delay), [0.0028, 0.0032])
    """

    solution: Solution
    members: tuple[Member, ...]
    drawn: tuple[Solution, ...]
    acting: tuple[Solution, ...]
    method: str
    percents: tuple[float, ...]
    seed: int

    def __repr__(self) -> str:
        points = int(np.prod(self.solution.shape))
        count = f"{points} point{'s' if points != 1 else ''}"
        names = ", ".join(self.samples)
        return f"Propagation({self.model.name}, {count}, {self.count} draws of {names})"

    @property
    def model(self) -> Model:
        """The model that was solved, with its operating points."""
        return self.solution.model

    @property
    def count(self) -> int:
        """Number of draws."""
        return sum(member.count for member in self.members)

    @property
    def samples(self) -> Mapping[str, FloatArray]:
        """Values drawn for the model's own parameters [SI], each of shape (draws,)."""
        return self.members[0].values

    def at_draws(self, name: str) -> FloatArray:
        """An output at every draw and operating point, for the members that have it.

        Results of stations and classes are the model's own, as others have other stations.
        """
        each = self.acting if is_time(name) else self.drawn
        own, *others = each if name in self.solution.outputs else each[:1]
        parts: list[FloatArray] = [np.asarray(own[name], float)]
        for other in others:
            with suppress(UnknownParameter):
                parts.append(np.asarray(other[name], float))
        return np.concatenate(parts)

    def band(self, name: str) -> tuple[Number, Number]:
        """Lower and upper end of an output's 95% band, by operating point [SI].

        Parameters
        ----------
        name
            An output, or a result of a station or class, such as ``cpu.utilisation``.

        Returns
        -------
        The ends; infinite if as many draws saturate, as infinity counts as larger than any number.
        NaN if a draw has no value.
        """
        low, high = band_of(self.at_draws(name))
        return plain(low), plain(high)

    @cached_property
    def saturated_share(self) -> FloatArray:
        """Share of the draws at which some station cannot keep up, by operating point."""
        if not self.solution.stations:
            return np.zeros(self.solution.shape)
        saturated = np.concatenate([each.saturated for each in self.acting])
        return np.asarray(saturated.mean(axis=0))

    @property
    def is_slow(self) -> bool:
        """Whether it has percentiles that are solved draw by draw."""
        return one_by_one(self.solution, self.percents)

    @cached_property
    def importance(self) -> Importance:
        """Share of each output's uncertainty by parameter; takes further solutions.

        With alternatives, it is that of the model alone. Percentiles that are found one by one are
        left out, as they would take too long.
        """
        percents = () if self.is_slow else self.percents
        model = weighted(self.model)[0].model
        plain = solved(model, self.method, percents)
        names = (*plain.outputs, *plain.class_outputs)

        def evaluate(values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
            count = next(iter(values.values())).size
            drawn = _at_draws(model, values, self.method, percents, count)
            return {name: np.reshape(drawn[name], (drawn.shape[0], -1)) for name in names}

        return sobol_importance(evaluate, joint(model), self.count, self.seed)


def band_of(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The quantiles of values along the first axis that enclose 95%.

    Examples
    --------
    >>> low, high = band_of(np.append(np.arange(40.0), np.inf))
    >>> low.item(), high.item()
    (1.0, 39.0)
    """
    ranked = np.sort(values, axis=0)
    none = np.isnan(ranked[-1])  # NaN is sorted last
    low, high = (np.where(none, np.nan, _quantile(ranked, share)) for share in BAND)
    return low, high


def _quantile(ranked: FloatArray, share: float) -> FloatArray:
    """Interpolated between two neighbouring values; infinite from an infinite one on."""
    place = share * (len(ranked) - 1)
    below = int(place)
    left, part = ranked[below], place - below
    if not part:
        return np.asarray(left)
    right = ranked[below + 1]
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(np.isinf(right), right, left + part * (right - left)))


def propagate(
    model: Model,
    count: int = 1000,
    seed: int = 1,
    method: str = "auto",
    percents: Sequence[float] = (),
) -> Propagation:
    """Solve a model at its best values, and at draws of its uncertain parameters, all at once.

    Parameters
    ----------
    model
        A model with its operating points, and with intervals of some parameters, alternatives, or
        both.
    count, seed
        Number of draws, from 100 to 100,000, and their seed.
    method
        The method for a closed network, as for `Model.solve`.
    percents
        Percentiles of the response time to add.

    Raises
    ------
    InvalidParameter
        If nothing is uncertain, an interval is open, there are too many points for so many draws,
        or a drawn value cannot be solved.
    """
    check_whole("draws", count, LEAST_DRAWS, MOST_DRAWS)
    able = able_to(model, lambda one: solved(one, method, percents))
    solution = solved(able, method, percents)
    _check_size(solution, count, percents)
    members = mixture(able, count, seed)
    drawn = tuple(_at_draws(m.model, m.values, method, percents, m.count) for m in members)
    if able.graph.layers and drawn[0].method != solution.method:
        solution = solved(able, drawn[0].method, percents)  # which bands of another miss
    acting = tuple(
        _as_acting(member, method, percents) or as_they_are
        for member, as_they_are in zip(members, drawn, strict=True)
    )
    return Propagation(solution, members, drawn, acting, method, tuple(percents), seed)


def _as_acting(member: Member, method: str, percents: Sequence[float]) -> Solution | None:
    """Solve a member with loads beyond the measured ones as they act; None without any."""
    rank = (1,) * len(points_shape(member.model.inputs))
    load = {name: values.reshape(-1, *rank) for name, values in of_load(member.values).items()}
    rates = acting_rate(member.model, load, member.further.reshape(-1, *rank))
    if rates is None:
        return None
    values = {name: drawn for name, drawn in member.values.items() if name != ARRIVAL_RATE}
    return _at_draws(member.model, values, method, percents, member.count, rates)


def one_by_one(solution: Solution, percents: Sequence[float]) -> bool:
    """Whether percentiles of a network must be solved point by point."""
    return bool(percents) and not all_at_once(solution)


def _check_size(solution: Solution, count: int, percents: Sequence[float]) -> None:
    """Refuse what would take too much time or memory."""
    points, slow = int(np.prod(solution.shape)), one_by_one(solution, percents)
    most = MOST_ONE_BY_ONE if slow else MOST_SOLVED
    if count * points > most:
        why = ", as this network needs percentiles point by point" if slow else ""
        fewer = f", or {most // points} draws" if most // points >= LEAST_DRAWS else ""
        msg = (
            f"{count} draws at {points} points are more than {most:,} to solve{why}; take fewer "
            f"points{fewer}"
        )
        raise InvalidParameter(msg)


def solved(model: Model, method: str, percents: Sequence[float]) -> Solution:
    """Solve a model, with percentiles."""
    return model.solve(method=method).with_percentiles(percents)


def _at_draws(
    model: Model,
    samples: Mapping[str, FloatArray],
    method: str,
    percents: Sequence[float],
    count: int,
    rates: FloatArray | None = None,
) -> Solution:
    """Solve a model at every draw and every operating point.

    Parameters
    ----------
    model
        A model without alternatives.
    samples
        Values drawn by parameter [SI]; none for a model that is certain, whose solution is repeated
        `count` times.
    method, percents
        As for `propagate`.
    count
        Number of draws.
    rates
        Arrival rates at every draw and operating point, if they differ between draws.

    Raises
    ------
    InvalidParameter
        With a note that a drawn value could not be solved.
    """
    shape = points_shape(model.inputs)
    columns = {name: drawn.reshape(-1, *(1,) * len(shape)) for name, drawn in samples.items()}
    if rates is not None:
        columns[ARRIVAL_RATE] = rates
    if not columns:
        name, value = next(iter(model.inputs.items()))
        columns = {name: np.broadcast_to(value, (count, *shape))}
    try:
        return solved(model.at(columns), method, percents)
    except HeadwayError as error:
        msg = (
            f"{model.name}: some drawn values cannot be solved ({error}); give the uncertain "
            "parameters bounds (min and max) that exclude them"
        )
        raise InvalidParameter(msg) from None
