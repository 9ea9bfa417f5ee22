"""A measured LogP signature: cost of requests by burst size and delay, and its parameters."""

from functools import cached_property

import numpy as np

from headway.errors import HeadwayError, MeasurementError
from headway.kinds import FloatArray
from headway.loggp.measuring.estimates import ONCE, Estimate, Repeated
from headway.loggp.measuring.extraction import (
    LogPEstimate,
    read_signature,
    signature_misfit,
)
from headway.loggp.measuring.misfit import Misfit
from headway.loggp.measuring.signature import WINDOW
from headway.models.language.units import unit
from headway.models.measured.cells import Observed
from headway.models.measured.columns import wrong_unit
from headway.models.measured.measurements import Measurements
from headway.models.signatures.timings import Columns, columns_beside, counts_of, how_weighed
from headway.models.tables.shown import Answer
from headway.numerals import digits, times
from headway.records import dataclass

PARAMETERS = ("send_overhead", "receive_overhead", "gap", "latency")
ROUND_TRIP_NAMES = ("rtt", "round_trip", "round_trip_time")


@dataclass(frozen=True)
class MeasuredLogp(Answer):
    r"""Measurements of a LogP signature, and the estimated parameters.

    Parameters
    ----------
    source
        Where they come from.
    burst_size, delay, cost
        One entry per measurement: requests, and times [s].
    round_trip
        Round-trip times [s].
    estimate
        The parameters.
    left_out
        Number of rows with an empty cell.
    window
        Messages outstanding in each direction.
    repeated
        Number of repeats and their deviation, if rows are means.
    notes
        Which columns were used.

    Examples
    --------
    >>> text = "burst_size,delay_us,cost_us\n1,0,2\n64,0,6\n128,0,6\n64,9,14\n128,9,14\n"
    >>> MeasuredLogp.of(Measurements.parse(text, "now.csv"), 20e-6)
    MeasuredLogp(now.csv, 5 measurements)
    """

    source: str
    burst_size: FloatArray
    delay: FloatArray
    cost: FloatArray
    round_trip: FloatArray
    estimate: LogPEstimate
    left_out: int = 0
    window: int = WINDOW
    repeated: Repeated = ONCE
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, measurements: Measurements, round_trip: float | None = None, window: int = WINDOW
    ) -> "MeasuredLogp":
        r"""Estimate the parameters from measurements.

        Parameters
        ----------
        measurements
            With columns ``burst_size``, ``delay_us``, ``cost_us``, and optionally ``rtt_us``, in
            any order; ``sd_us``, ``median_us`` and ``repeats`` if a row summarises several.
        round_trip
            Round-trip time [s], if there is no such column.
        window
            Messages outstanding in each direction.

        Raises
        ------
        MeasurementError
            For missing columns or units, and if bursts or delays do not suffice; says which to add.

        Examples
        --------
        >>> text = "burst_size,delay_us,cost_us\n1,0,2\n64,0,6\n128,0,6\n64,9,14\n128,9,14\n"
        >>> answer = MeasuredLogp.of(Measurements.parse(text, "now.csv"), 20e-6)
        >>> round(answer.estimate.receive_overhead.value * 1e6, 6)
        3.0
        """
        burst, delay, cost = (
            _column(measurements, name) for name in ("burst_size", "delay", "cost")
        )
        beside = columns_beside(measurements, cost)
        cost = beside["median"] or cost
        columns = [burst.values, delay.values, cost.values, counts_of(beside, cost)]
        columns += [] if beside["sd"] is None else [beside["sd"].values]
        values = np.stack(columns)
        complete = np.asarray(np.isfinite(values).all(axis=0))
        if not complete.any():
            msg = (
                f"{measurements.source}: no row has burst_size, delay, cost and its other "
                "columns; complete at least one"
            )
            raise MeasurementError(msg)
        trips = _round_trips(measurements, round_trip)
        bursts, delays, costs, counts, *deviation = values[:, complete]
        repeated = Repeated(counts, deviation[0] if deviation else None)
        try:
            estimate = read_signature(bursts, delays, costs, trips, window, repeated)
        except HeadwayError as error:
            msg = f"{measurements.source}: {error}"
            raise MeasurementError(msg) from None
        left_out = int(complete.size - complete.sum())
        trip = None if round_trip is not None else measurements.find(ROUND_TRIP_NAMES)
        source, notes = measurements.source, _used(burst, delay, cost, trip, beside)
        return cls(
            source, bursts, delays, costs, trips, estimate, left_out, window, repeated, notes
        )

    def __repr__(self) -> str:
        return f"MeasuredLogp({self.source}, {self.cost.size} measurements)"

    @property
    def estimates(self) -> dict[str, Estimate]:
        r"""The four parameters by name.

        Examples
        --------
        The round trip of 20 us is twice 2 us to send, 3 us to receive, and 5 us of latency.

        >>> text = "burst_size,delay_us,cost_us\n1,0,2\n64,0,6\n128,0,6\n64,9,14\n128,9,14\n"
        >>> answer = MeasuredLogp.of(Measurements.parse(text, "now.csv"), 20e-6).estimates
        >>> {name: round(one.value * 1e6, 6) for name, one in answer.items()}
        {'send_overhead': 2.0, 'receive_overhead': 3.0, 'gap': 6.0, 'latency': 5.0}
        """
        return {name: getattr(self.estimate, name) for name in PARAMETERS}

    @cached_property
    def misfit(self) -> Misfit:
        r"""Misfit of the signature of the parameters to the measurements.

        Examples
        --------
        >>> text = "burst_size,delay_us,cost_us\n1,0,2\n64,0,6\n128,0,6\n64,9,14\n128,9,14\n"
        >>> MeasuredLogp.of(Measurements.parse(text, "now.csv"), 20e-6).misfit.is_lack_of_fit
        False
        """
        columns = (self.burst_size, self.delay, self.cost)
        return signature_misfit(self.estimate, *columns, self.window, self.repeated)

    @property
    def warnings(self) -> tuple[str, ...]:
        r"""Warnings about what the parameters do not explain.

        Examples
        --------
        >>> text = "burst_size,delay_us,cost_us\n1,0,2\n64,0,6\n128,0,6\n64,9,14\n128,9,14\n"
        >>> MeasuredLogp.of(Measurements.parse(text, "now.csv"), 20e-6).warnings
        ()
        """
        warnings = []
        if self.misfit.is_lack_of_fit:
            burst, delay = self._worst()
            warnings.append(
                f"lack of fit: these parameters miss bursts of {digits(burst)} at delay "
                f"{times(delay, self.misfit.measured)[0]} {self.misfit.words}"
            )
        if self.estimate.excess > 0:
            warnings.append(
                f"the overheads exceed half the round trip by {times(self.estimate.excess)[0]}: "
                "the latency is given as 0"
            )
        return tuple(warnings)

    def _worst(self) -> tuple[float, float]:
        """Burst size and delay with the largest misfit, in the order of `signature_misfit`."""
        places = np.unique(np.stack([self.delay, self.burst_size], axis=1), axis=0)
        delay, burst = places[self.misfit.worst]
        return float(burst), float(delay)


def _used(
    burst: Observed, delay: Observed, cost: Observed, trip: Observed | None, beside: Columns
) -> tuple[str, ...]:
    """Notes on the columns used; all costs have the same relative error."""
    parts = [f"burst size: {burst.header}", f"delay: {delay.header}"]
    parts += [] if trip is None else [f"round trip: {trip.header}"]
    pooled = "; the deviations pooled, relative to the cost" if beside["sd"] else ""
    return f"cost: {how_weighed(beside, cost)}{pooled}", ", ".join(parts)


def _column(measurements: Measurements, name: str) -> Observed:
    """A column with a checked unit: a time, or a plain count."""
    column = measurements.column(name)
    wanted = "" if name == "burst_size" else "us"
    if column.unit.dimension != unit(wanted).dimension:
        place, needs = f"{measurements.source}:1", f"one like {name}_us" if wanted else "none"
        raise wrong_unit(place, column, needs)
    return column


def _round_trips(measurements: Measurements, given: float | None) -> FloatArray:
    """Round-trip times: given, or from a column."""
    column = measurements.find(ROUND_TRIP_NAMES)
    if given is None and column is None:
        msg = f"{measurements.source}: no round-trip time; give --rtt 12.8us or a column rtt_us"
        raise MeasurementError(msg)
    if given is not None and column is not None:
        msg = f"{measurements.source}: has a column {column.header}; remove --rtt"
        raise MeasurementError(msg)
    if column is None or given is not None:
        return np.array([given], float)
    values = _column(measurements, column.name).values
    return values[np.isfinite(values)]
