"""Service demands from measured utilisations: regression on the utilisation law, U = sum of X D.

Source: Denning and Buzen, *The operational analysis of queueing network models*, 1978, for the
law; Belsley, Kuh and Welsch, *Regression Diagnostics*, 1980, for strongly correlated rates.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.models.measured.cells import Observed
from headway.models.measured.columns import check_unit, find
from headway.models.measured.matching import Named, outputs_named
from headway.models.measured.measurements import Measurements
from headway.models.measured.roles import DELIVERED, UTILISATION, part_of
from headway.models.signatures.sfs import ALL, Range
from headway.models.tables.shown import Answer
from headway.records import dataclass

APART = 10.0
"""Variance inflation factor above which rates count as strongly correlated."""

_RANK = 1e-10


@dataclass(frozen=True)
class Demand:
    """Service demand of a kind of operation at a resource.

    Parameters
    ----------
    rate
        Column of the rate; empty for the share used without load.
    value, low, high
        Time [s], or a share of the resource, and its 95% interval.
    standard_error
        Standard error of the value.
    inflation
        Factor by which the other rates increase its variance.
    """

    rate: str
    value: float
    low: float
    high: float
    standard_error: float
    inflation: float


@dataclass(frozen=True)
class Use:
    """Service demands at one resource.

    Parameters
    ----------
    resource
        Column of its utilisation.
    demands
        One for each rate.
    idle
        Share of the resource used without load, from a line not forced through the origin.
    scatter
        Standard deviation of the measured utilisations about U = sum of X D.
    points
        Number of rows used.
    """

    resource: str
    demands: tuple[Demand, ...]
    idle: Demand
    scatter: float
    points: int

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings, a sentence each."""
        close = [d.rate for d in self.demands if d.inflation > APART]
        warnings = []
        if close:
            warnings.append(
                f"{' and '.join(close)} are strongly correlated, so only a sum of their demands "
                "is well determined; vary their mix"
            )
        if self.idle.low > 0 or self.idle.high < 0:
            warnings.append(
                f"{self.resource} would be {self.idle.value:.1%} without load "
                f"({self.idle.low:.1%} to {self.idle.high:.1%}): something else uses it, or "
                "demands vary with load"
            )
        return tuple(warnings)


@dataclass(frozen=True)
class MeasuredUse(Answer):
    r"""Service demands at every resource with measured utilisation.

    Examples
    --------
    >>> text = "throughput_ops_s,cpu_util_pct\n100,10\n200,20.2\n300,29.9\n400,40\n"
    >>> answer = MeasuredUse.of(Measurements.parse(text, "curve.csv"))
    >>> round(answer.resources[0].demands[0].value, 5)
    0.001
    """

    source: str
    resources: tuple[Use, ...]

    @classmethod
    def of(
        cls, measurements: Measurements, x: Named = None, y: Named = None, within: Range = ALL
    ) -> "MeasuredUse":
        """Regress utilisations on rates.

        Parameters
        ----------
        measurements
            With at least one column of utilisation, and one of a rate.
        x, y
            Columns of rates and utilisations; by default the throughput and all utilisations.
        within
            Range of the first rate to use [1/s].

        Raises
        ------
        MeasurementError
            For missing columns, too few rows, or linearly dependent rates.
        """
        rates = _rates(measurements, x)
        inside = np.asarray(within.holds(rates[0].values))
        resources = _utilisations(measurements, y)
        return cls(
            measurements.source,
            tuple(_use(measurements.source, each, rates, inside) for each in resources),
        )

    def __repr__(self) -> str:
        return f"MeasuredUse({self.source}: {', '.join(use.resource for use in self.resources)})"


def _rates(measurements: Measurements, x: Named) -> list[Observed]:
    names = outputs_named(measurements, x)
    rates = [measurements.column(name) for name in names]
    if not names:
        delivered = find(measurements, DELIVERED)
        rates = [measurements.column("throughput") if delivered is None else delivered]
    for rate in rates:
        check_unit(measurements.source, rate, DELIVERED.unit)
    if len({rate.header for rate in rates}) < len(rates):
        msg = f"{measurements.source}: --x names a rate twice; keep one"
        raise MeasurementError(msg)
    return rates


def _utilisations(measurements: Measurements, y: Named) -> list[Observed]:
    names = outputs_named(measurements, y)
    if names:
        columns = [measurements.column(name) for name in names]
    else:
        parts = [(column, part_of(column)) for column in measurements.columns.values()]
        columns = [
            column for column, part in parts if part is not None and part.role is UTILISATION
        ]
    if not columns:
        msg = (
            f"{measurements.source}: no column of utilisation, such as cpu_util; name one with --y"
        )
        raise MeasurementError(msg)
    for column in columns:
        check_unit(measurements.source, column, UTILISATION.unit)
    return columns


def _use(source: str, resource: Observed, rates: Sequence[Observed], inside: Any) -> Use:
    every = np.stack([rate.values for rate in rates], axis=1)
    kept = inside & np.isfinite(resource.values) & np.isfinite(every).all(axis=1)
    rate, share = every[kept], resource.values[kept]
    if share.size < len(rates) + 2:
        msg = (
            f"{source}: only {share.size} rows have {resource.header} and every rate; "
            f"{len(rates)} demands need at least {len(rates) + 2}"
        )
        raise MeasurementError(msg)
    titles = [one.header for one in rates]
    _check_apart(source, titles, rate)
    demands, scatter = _regressed(titles, rate, share)
    with_idle, _ = _regressed(["", *titles], np.column_stack([np.ones(len(share)), rate]), share)
    return Use(resource.header, demands, with_idle[0], scatter, int(share.size))


def _check_apart(source: str, titles: Sequence[str], rate: FloatArray) -> None:
    size = np.linalg.norm(rate, axis=0)
    if (size == 0).any():
        msg = f"{source}: {titles[int(size.argmin())]} is 0 in every row; leave it out"
        raise MeasurementError(msg)
    _, singular, ways = np.linalg.svd(rate / size, full_matrices=False)
    if singular[-1] <= _RANK * singular[0]:
        same = [t for t, w in zip(titles, ways[-1], strict=True) if abs(w) > np.sqrt(_RANK)]
        msg = (
            f"{source}: {' and '.join(same)} are in the same proportion in every row, so only a "
            "sum of their demands is determined; vary their mix, or use only one"
        )
        raise MeasurementError(msg)


def _regressed(
    titles: Sequence[str], rate: FloatArray, share: FloatArray
) -> tuple[tuple[Demand, ...], float]:
    """Least squares with Student's intervals, and the standard deviation about the fit."""
    from scipy.special import stdtrit

    size = np.linalg.norm(rate, axis=0)
    inverse = np.linalg.pinv((rate / size).T @ (rate / size))
    values = inverse @ ((rate / size).T @ share) / size
    degrees = len(share) - len(titles)
    scatter = float(np.sqrt(np.sum((share - rate @ values) ** 2) / degrees))
    inflation = np.diag(inverse)
    errors = scatter * np.sqrt(inflation) / size
    half = float(stdtrit(degrees, 0.975)) * errors
    columns = (values, values - half, values + half, errors, inflation)
    rows = zip(titles, *(column.tolist() for column in columns), strict=True)
    return tuple(Demand(*row) for row in rows), scatter
