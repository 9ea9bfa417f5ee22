"""What fits say about percentiles beyond the fitted loads, on the load tests that ship.

python -m tests.campaigns.tail_extrapolations          the sweeps, as docs/accuracy has them
python -m tests.campaigns.tail_extrapolations --store  the same, stored under tests/data

For each sweep with percentiles from the 95th to the 99th, `fit_server` gets, without options, the
points up to a load, if there are five loads or more, and predicts the percentiles at the next load,
if that is 1.1 to 1.35 times as high. Of repeats the median is used. The tests recompute the table
from the stored results.

No constant or label names it; docs/accuracy/fits.md has its figures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from headway.errors import HeadwayError
from headway.models.inference.server import choose_form
from headway.models.measured.points import Point
from headway.models.reading.hints import Hints
from headway.models.reading.loadtest import LoadTest, read_load_test
from tests import campaigns

PAGE = Path("tests/data/tail_extrapolations.csv")
TITLES = ("sweep", "fitted", "load", "percent", "measured", "low", "middle", "high")
SWEEPS = (
    "wrk", "k6", "fio", "pool/two_workers", "pool/four_workers", "pool/delay", "nginx/base.txt",
    "nginx/busy.txt", "redis/base.txt",
)  # fmt: skip
"""The sweeps under ``load_tests`` that have percentiles, and sustained loads close enough."""

ARRIVALS = {"k6": "poisson"}
"""Its script waits at random before each request; see ``load_tests/README.md``."""

TOO_MUCH = {"k6": 200.0}
"""Loads above the server's capacity, by the same page [1/s]."""

NEAREST, FARTHEST = 1.1, 1.35
FEWEST = 5
NEAR = 0.25


@dataclass(frozen=True)
class Predicted:
    """A percentile at a load beyond those that were fitted [s]."""

    sweep: str
    fitted: float
    load: float
    percent: float
    measured: float
    low: float
    middle: float
    high: float

    @property
    def error(self) -> float:
        """Absolute relative error of the middle of the band."""
        return abs(self.middle / self.measured - 1)

    @property
    def is_in_band(self) -> bool:
        """Whether the 95% band contains the measurement."""
        return self.low <= self.measured <= self.high


def steps(name: str) -> list[tuple[str, float, float]]:
    """The sweep, the highest load that is fitted, and the load of the prediction."""
    points = _sweep(name).points
    most = TOO_MUCH.get(name, np.inf)
    loads = sorted({point.load for point in points if point.load < most})
    pairs = list(pairwise(loads))[FEWEST - 1 :]
    return [(name, low, high) for low, high in pairs if NEAREST <= high / low <= FARTHEST]


def _sweep(name: str) -> LoadTest:
    return read_load_test([f"load_tests/{name}"], hints=Hints(arrivals=ARRIVALS.get(name, "")))


def _at(test: LoadTest, load: float) -> list[Point]:
    return [point for point in test.points if point.load == load]


def predicted(step: tuple[str, float, float]) -> list[Predicted]:
    """Fit a sweep up to a load, and predict the measurements at the next."""
    name, low, high = step
    test = _sweep(name)
    beyond = _at(test, high)
    shared = set.intersection(*(set(point.percentiles) for point in beyond))
    percents = sorted(percent for percent in shared if 95 <= percent <= 99)
    try:
        fit = choose_form(test.measurements, high=float(np.sqrt(low * high)))
        bands = fit.predict([high], percents).percentiles
    except HeadwayError as error:
        print(f"{name} at {high:.4g}: {error}")
        return []
    return [
        Predicted(
            name, low, high, percent,
            float(np.median([point.percentiles[percent] for point in beyond])),
            *(float(end) for end in bands[f"response_time_p{percent:g}"][:, 0]),
        )
        for percent in percents
    ]  # fmt: skip


def stored() -> list[Predicted]:
    """The last stored predictions."""
    rows = campaigns.stored_rows(PAGE)
    return [Predicted(row["sweep"], *(float(row[t]) for t in TITLES[1:])) for row in rows]


def rows_of(each: Sequence[Predicted]) -> Iterator[tuple[str, ...]]:
    """Rows of the file: one per percentile."""
    for one in each:
        yield one.sweep, *(f"{getattr(one, title):.6g}" for title in TITLES[1:])


def summary(each: Sequence[Predicted]) -> dict[str, str]:
    """The lines of the table."""
    near = np.array([one.error <= NEAR for one in each])
    holds = np.array([one.is_in_band for one in each])
    farther = [one.load / one.fitted for one in each]
    missed = [one for one in each if one.error > NEAR and not one.is_in_band]
    return {
        "percentiles predicted": f"{len(each)}",
        "sweeps": f"{len({one.sweep for one in each})}",
        "load over the highest fitted, median": f"{np.median(farther):.2f}",
        f"within {NEAR:.0%}": f"{near.sum()}",
        "in the 95% band": f"{holds.sum()}",
        "either of these": f"{(near | holds).sum()} ({(near | holds).mean():.0%})",
        "of the others too high": f"{sum(e.low > e.measured for e in missed)} of {len(missed)}",
        "median error": f"{np.median([one.error for one in each]):.1%}",
    }


def main() -> None:
    """Print the table."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("--store", action="store_true", help=f"write {PAGE}")
    options = parser.parse_args()
    tasks = [step for name in SWEEPS for step in steps(name)]
    each: list[Predicted] = []
    with campaigns.shared(options) as done:
        for found in done(predicted, tasks):
            each += found
            for one in found:
                print(
                    f"{one.sweep:28} p{one.percent:g} at {one.load:.4g}: {one.measured:.4g} s, "
                    f"predicted {one.middle:.4g} ({one.low:.4g} to {one.high:.4g})"
                )
    if options.store:
        campaigns.store(PAGE, TITLES, rows_of(each))
    print("\n".join(f"| {what} | {value} |" for what, value in summary(each).items()))


if __name__ == "__main__":
    campaigns.run(__spec__)
