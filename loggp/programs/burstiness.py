"""Estimate the burstiness of a program from its run times at several gaps.

`mixed_gap_run_time` is linear in the burstiness, so the fit is a weighted mean and needs no search.
"""

import numpy as np

from headway.errors import MeasurementError
from headway.kinds import Amount, FloatArray, check_positive
from headway.loggp.programs.laws import (
    burst_gap_run_time,
    mixed_gap_run_time,
    uniform_gap_run_time,
)
from headway.records import dataclass


@dataclass(frozen=True)
class GapRuns:
    """A program and its measured run times at several added gaps.

    Parameters
    ----------
    base_run_time
        Run time without an added gap [s].
    messages
        Messages of the busiest processor.
    gap
        Original gap of the machine [s].
    message_interval
        Mean interval between messages of a processor [s].
    added_gap, run_time
        Additions to the gap and measured run times [s], same length, positive.

    Raises
    ------
    MeasurementError
        If there are fewer than two runs, or gaps and run times differ in number.
    """

    base_run_time: float
    messages: float
    gap: float
    message_interval: float
    added_gap: FloatArray
    run_time: FloatArray

    def __post_init__(self) -> None:
        for name in ("added_gap", "run_time"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=float))
            check_positive(name, getattr(self, name))
        if self.added_gap.shape != self.run_time.shape or self.added_gap.ndim != 1:
            msg = (
                f"{self.added_gap.size} gaps but {self.run_time.size} run times; give one run "
                "time per gap"
            )
            raise MeasurementError(msg)
        if self.added_gap.size < 2:
            msg = f"{self.added_gap.size} run with an added gap; burstiness needs at least 2"
            raise MeasurementError(msg)

    def predicted(self, burstiness: Amount) -> Amount:
        """Run times of the mixture law at these gaps [s]."""
        return mixed_gap_run_time(
            self.base_run_time,
            self.messages,
            self.added_gap,
            self.gap,
            self.message_interval,
            burstiness,
        )


@dataclass(frozen=True)
class BurstinessFit:
    """A fitted burstiness and its errors.

    Parameters
    ----------
    burstiness
        Share of the messages in bursts, 0 to 1.
    relative_error
        Predicted over measured, minus 1, for each run.
    leave_one_out_error
        The same, each run predicted with the burstiness fitted to the other runs.
    """

    burstiness: float
    relative_error: FloatArray
    leave_one_out_error: FloatArray


def _extremes(runs: GapRuns) -> tuple[FloatArray, FloatArray]:
    """Run times of the even and the burst model, divided by the measured ones."""
    base, messages, added = runs.base_run_time, runs.messages, runs.added_gap
    even = uniform_gap_run_time(base, messages, added, runs.gap, runs.message_interval)
    burst = burst_gap_run_time(base, messages, added)
    return even / runs.run_time, burst / runs.run_time


def _share(products: Amount, squares: Amount) -> Amount:
    """Least squares for the position between even and burst, limited to 0 to 1."""
    return np.clip(products / squares, 0.0, 1.0)


def fit_burstiness(runs: GapRuns) -> BurstinessFit:
    """Fit the burstiness of a program to its run times by least squares of relative errors.

    Parameters
    ----------
    runs
        The program and its measured run times.

    Raises
    ------
    MeasurementError
        If the even and the burst model agree at all (or all but one) of the gaps, so that the
        burstiness is not determined.

    Examples
    --------
    >>> runs = GapRuns(10.0, 1e6, 5e-6, 15e-6, [10e-6, 50e-6], [15.0, 55.0])
    >>> round(fit_burstiness(runs).burstiness, 3)
    0.5
    """
    even, burst = _extremes(runs)
    span, shortfall = burst - even, 1.0 - even
    products, squares = span * shortfall, span**2
    others = squares.sum() - squares
    if np.any(others <= 1e-24):
        msg = (
            "burstiness is not determined: the even and the burst model agree at these gaps "
            "(messages already fill every gap); measure a program that sends less often"
        )
        raise MeasurementError(msg)
    share = float(_share(products.sum(), squares.sum()))
    left_out = _share(products.sum() - products, others)
    return BurstinessFit(share, even + share * span - 1.0, even + left_out * span - 1.0)
