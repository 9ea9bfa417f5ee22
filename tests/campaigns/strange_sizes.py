"""How often sizes and bands hold for servers that no form of the catalogue describes.

    python -m tests.campaigns.strange_sizes                   25 servers of each kind
    python -m tests.campaigns.strange_sizes --servers 5 --kind pauses
    python -m tests.campaigns.strange_sizes --kind "ordinary pool"  which a form describes
    python -m tests.campaigns.strange_sizes --store FOLDER    also each size and each band, as CSV
    python -m tests.campaigns.strange_sizes --read FOLDER...  the tables of what was stored
    python -m tests.campaigns.strange_sizes --read A B --store tests/data/strange

Each server of `tests.support.strange_servers` is measured by simulation at eight loads up to 70% of
saturation, fitted without options, and sized with 95% confidence for a rate of 2 to 12 times the
one that a single server sustains within a limit: by its model file, and by the bands of all
plausible forms. Longer simulations show the size that it truly needs, and the response times at
higher loads.

`headway.models.uncertain.beyond.SPREAD` was chosen by seeds 0 to 17, 40 to 42, 100 to 107 and 200
to 207; the figures of docs/accuracy/fits.md are of 300 to 324, and the tests recompute them from
``tests/data/strange``.
"""

import re
import tempfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy.optimize import brentq

from headway.errors import HeadwayError, InvalidParameter
from headway.kinds import FloatArray
from headway.models import Measurements, read_model, size_model
from headway.models.inference.server import ServerFit, choose_form
from tests import campaigns
from tests.support.strange_servers import KINDS, TRIED, Server, poisson

LOADS = np.linspace(0.1, 0.7, 8)
RATIOS = (1.0, 1.1, 1.2, 1.3, 1.4)
REPLICAS = range(1, 61)
CONFIDENCE = 95
MEASURED = (20_000, 50_000)
"""Requests of the run at the highest load; the other runs last as long."""
SOUGHT, KNOWN = 100_000, 200_000
"""Requests of runs to find the load under a limit, and to find a mean beyond the measured loads."""
LONGER = {"pauses": 5}
"""Factor on these numbers, so that there are hundreds of pauses."""
SETTLING = 0.1
"""Share of a run that is discarded."""
BATCHES = 20
COLUMNS = {"response_time": "response_s", "response_time_p99": "response_s,p99_s"}
"""The columns that are fitted, by the output that has a limit."""

Statistic = Callable[[FloatArray], float]
STATISTICS: dict[str, Statistic] = {
    "response_time": lambda times: float(times.mean()),
    "response_time_p99": lambda times: float(np.percentile(times, 99)),
}


@dataclass(frozen=True)
class Sized:
    """The size answered, and the size needed; a row of the file."""

    kind: str
    seed: int
    output: str
    way: str
    needed: int
    reach: float  # load per replica at the size needed, over the highest measured load
    answer: int | None = None
    refusal: str = ""

    @property
    def holds(self) -> bool:
        return self.answer is not None and self.answer >= self.needed


@dataclass(frozen=True)
class Band:
    """A prediction of the mean, and the truth with its standard error; a row of the file."""

    kind: str
    seed: int
    form: str
    rms: float
    describes: bool
    ratio: float
    share: float  # of the saturation throughput
    truth: float
    error: float
    low: float
    middle: float
    high: float
    sustained: float

    @property
    def holds(self) -> bool:
        return self.low <= self.truth <= self.high

    @property
    def miss(self) -> float:
        return float(np.log(self.truth / self.middle))


@dataclass(frozen=True)
class Trial:
    """A server of a kind, by its seed."""

    kind: str
    seed: int

    @cached_property
    def server(self) -> Server:
        return TRIED[self.kind].drawn(self.random(0))

    def random(self, *purpose: int) -> np.random.Generator:
        return np.random.default_rng([list(TRIED).index(self.kind), self.seed, *purpose])

    def long(self, rate: float, requests: int, *purpose: int) -> FloatArray:
        """A run that gives the truth."""
        return self.run(rate, requests * LONGER.get(self.kind, 1), *purpose)

    def run(self, rate: float, requests: int, *purpose: int) -> FloatArray:
        """Response times of a run without its beginning; any rate uses the same random numbers."""
        random = self.random(*purpose)
        times = self.server.responses(poisson(rate, requests, random), random)
        return times[int(SETTLING * len(times)) :]

    @cached_property
    def measured(self) -> Measurements:
        """A load test: runs of equal length, each with its mean and its 99th percentile."""
        rates = LOADS * self.server.capacity
        requests = np.exp(self.random(1).uniform(*np.log(MEASURED)))
        rows = ["throughput_ops_s,response_s,p99_s"]
        for place, rate in enumerate(rates.tolist()):
            times = self.run(rate, int(requests * rate / rates[-1]), 2, place)
            rows.append(",".join([repr(rate), *(repr(of(times)) for of in STATISTICS.values())]))
        return Measurements.parse("\n".join(rows) + "\n", "measured.csv")

    def sustained(self, of: Statistic, limit: float) -> float:
        """The highest rate within a limit, nearly up to saturation [1/s]."""
        low, high = (share * self.server.capacity for share in (LOADS[0], 0.995))

        def spare(rate: float) -> float:
            return limit / of(self.long(rate, SOUGHT, 3)) - 1

        return high if spare(high) > 0 else float(brentq(spare, low, high, rtol=1e-3))

    def sizes(self, output: str) -> Iterator[Sized]:
        """Ask for a number of replicas, and find how many are needed."""
        of, random = STATISTICS[output], self.random(4, list(STATISTICS).index(output))
        light = of(self.long(LOADS[0] * self.server.capacity, SOUGHT, 3))
        limit, times = light * random.uniform(1.5, 5), random.uniform(2, 12)
        most = self.sustained(of, limit)
        needed = int(np.ceil(times))
        reach = times * most / needed / (LOADS[-1] * self.server.capacity)
        for way, asked in WAYS.items():
            about = self.kind, self.seed, output, way, needed, reach
            try:
                yield Sized(*about, asked(fitted(self, output), output, limit, times * most))
            except HeadwayError as error:
                yield Sized(*about, refusal=str(error))

    def bands(self) -> Iterator[Band]:
        """Bands of the mean from the highest measured load on, below saturation."""
        fit = fitted(self, "response_time")
        rms = float(fit.best.comparison.summary["rms_relative_error"])
        for place, ratio in enumerate(RATIOS):
            share = ratio * float(LOADS[-1])
            rate = share * self.server.capacity
            times = self.long(rate, KNOWN, 5, place)
            means = [part.mean() for part in np.array_split(times, BATCHES)]
            error = float(np.std(means, ddof=1) / BATCHES**0.5)
            predicted = fit.predict([rate])
            band = (float(end) for end in predicted.response_time[:, 0])
            about = self.kind, self.seed, fit.form.name, rms, fit.describes, ratio, share
            yield Band(*about, float(times.mean()), error, *band, float(predicted.sustained[0]))


@lru_cache(maxsize=len(COLUMNS))
def fitted(trial: Trial, output: str) -> ServerFit:
    """The forms that fit what was measured of a server."""
    return choose_form(trial.measured, y=COLUMNS[output])


def replicas(fit: ServerFit, output: str, limit: float, rate: float) -> int:
    """The fewest replicas that keep a limit at a rate, by a fitted server's model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fitted.toml"
        path.write_text(fit.to_toml(), encoding="utf-8")
        model = read_model(path).at(arrival_rate=rate)
    target = [f"{output}<={limit!r} s"]
    choose = {"replicas": REPLICAS}
    return int(size_model(model, target, choose, "replicas", CONFIDENCE).best.values["replicas"])


def replicas_by_bands(fit: ServerFit, output: str, limit: float, rate: float) -> int:
    """The fewest replicas that keep a limit with 95% confidence, by all plausible forms together.

    The upper end of a band is the value that 97.5% of the curves that sustain the load stay below.
    """
    sustaining = CONFIDENCE / 97.5

    def keeps(count: int) -> bool:
        predicted = fit.predict([rate / count])
        bands = {"response_time": predicted.response_time, **predicted.percentiles}
        return bool(predicted.sustained[0] >= sustaining and bands[output][2, 0] <= limit)

    place = bisect_left(REPLICAS, True, key=keeps)
    if place == len(REPLICAS):
        raise InvalidParameter("no number of replicas is sure enough")
    return REPLICAS[place]


WAYS: dict[str, Callable[[ServerFit, str, float, float], int]] = {
    "model file": replicas,
    "bands of all forms": replicas_by_bands,
}


def outcome(task: tuple[str, int]) -> tuple[list[Sized], list[Band]]:
    """Measure, fit, size and predict one server."""
    trial = Trial(*task)
    return [size for output in STATISTICS for size in trial.sizes(output)], list(trial.bands())


SIZE_TITLES = (
    "holds", "too few", "refused", "n/n*: median", "90%", "reach: median", "held to 1", "beyond 1",
)  # fmt: skip


def size_row(items: Sequence[Sized]) -> str:
    """A row of the table of sizes of a kind: shares of all; in `holds`, of those answered."""
    answered = [one for one in items if one.answer is not None]
    over = [one.answer / one.needed for one in answered if one.answer is not None]
    near, far = ([one for one in answered if (one.reach > 1) == beyond] for beyond in (False, True))
    middle, high = np.quantile(over, [0.5, 0.9]) if over else (np.nan, np.nan)
    holding = sum(one.holds for one in answered)
    cells = [
        f"{holding} of {len(answered)}",
        f"{len(answered) - holding}",
        f"{len(items) - len(answered)}",
        f"{middle:.2f}",
        f"{high:.2f}",
        f"{np.median([one.reach for one in items]):.2f}",
        *(f"{sum(one.holds for one in part)} of {len(part)}" for part in (near, far)),
    ]
    return " | ".join(cells)


def band_row(items: Sequence[Band]) -> str:
    """Share of bands that contain the truth, by the load over the highest measured one."""
    at = ([one.holds for one in items if one.ratio == ratio] for ratio in RATIOS)
    return " | ".join(f"{np.mean(holds):.0%}" for holds in at)


def report(sizes: Sequence[Sized], bands: Sequence[Band]) -> Iterator[str]:
    """The lines of the tables."""
    kinds = [kind for kind in TRIED if any(band.kind == kind for band in bands)]
    groups = [*((kind, {kind}) for kind in kinds), ("all", set(kinds))]
    for output, way in product(STATISTICS, WAYS):
        yield f"\n{output} by {way} | {' | '.join(SIZE_TITLES)}"
        asked = [size for size in sizes if (size.output, size.way) == (output, way)]
        for name, group in groups:
            yield f"{name} | {size_row([size for size in asked if size.kind in group])}"
    yield f"\nbands that hold the mean, by load | {' | '.join(map(str, RATIOS))}"
    for name, group in groups:
        yield f"{name} | {band_row([band for band in bands if band.kind in group])}"
    yield "\nlog of truth over prediction | 5% | 25% | 50% | 75% | 95% | sustained, median"
    for ratio in RATIOS:
        there = [band for band in bands if band.ratio == ratio]
        ends = np.quantile([band.miss for band in there], [0.05, 0.25, 0.5, 0.75, 0.95])
        numbers = " | ".join(f"{end:+.3f}" for end in ends)
        yield f"{ratio} | {numbers} | {np.median([band.sustained for band in there]):.0%}"
    refused = [size for size in sizes if size.refusal]
    reasons = Counter(re.sub(r"\d[\d.]*", "#", f"{one.way}: {one.refusal}") for one in refused)
    yield from (f"{count} refused by {why}" for why, count in reasons.most_common())


def summary(sizes: Sequence[Sized], bands: Sequence[Band]) -> dict[str, str]:
    """The lines of the page's table."""
    lines = {"servers": f"{len({(one.kind, one.seed) for one in bands})}"}
    for output in STATISTICS:
        asked = [one for one in sizes if (one.output, one.way) == (output, "model file")]
        answered = [one for one in asked if one.answer is not None]
        over = [one.answer / one.needed for one in answered if one.answer is not None]
        name = output.replace("response_time_", "").replace("_", " ")
        lines |= {
            f"{name}: sizes, of which refused": f"{len(asked)}, {len(asked) - len(answered)}",
            f"{name}: enough replicas": f"{np.mean([one.holds for one in answered]):.1%}",
            f"{name}: replicas over those needed, median": f"{np.median(over):.2f}",
            f"{name}: the same, 90% of them below": f"{np.quantile(over, 0.9):.2f}",
        }
    for ratio in RATIOS:
        held = np.mean([one.holds for one in bands if one.ratio == ratio])
        lines[f"bands that hold the mean, at {ratio} times the highest load"] = f"{held:.1%}"
    return lines


PLACE = Path("tests/data/strange")
SIZES, MISSES = "sizes.csv", "misses.csv"
Row = TypeVar("Row", Sized, Band)
_CELLS: dict[Any, Callable[[str], Any]] = {
    str: str,
    int: int,
    float: float,
    bool: "True".__eq__,
    int | None: lambda text: int(text) if text else None,
}
"""How a cell is read, by the type of its field."""


def store(path: Path, row: type[Row], items: Sequence[Row]) -> None:
    """Write rows with the names of their fields."""
    campaigns.store(path, [each.name for each in fields(row)], [astuple(one) for one in items])


def read(path: Path, row: type[Row]) -> list[Row]:
    """Read what `store` wrote."""
    return [
        row(*(_CELLS[each.type](line[each.name]) for each in fields(row)))
        for line in campaigns.stored_rows(path)
    ]


def main() -> None:
    """Print the tables."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("--servers", type=int, default=25, help="of each kind")
    parser.add_argument("--first", type=int, default=0, help="seed of the first server")
    parser.add_argument("--kind", action="append", choices=TRIED, help="only this; repeatable")
    parser.add_argument("--store", type=Path, metavar="FOLDER", help="for sizes.csv, misses.csv")
    parser.add_argument("--read", type=Path, metavar="FOLDER", nargs="+", help="what was stored")
    options = parser.parse_args()
    sizes = [size for folder in options.read or () for size in read(folder / SIZES, Sized)]
    bands = [band for folder in options.read or () for band in read(folder / MISSES, Band)]
    seeds = range(options.first, options.first + options.servers)
    tasks = [(kind, seed) for seed in seeds for kind in options.kind or KINDS]
    with campaigns.shared(options) as done:
        for sized, banded in done(outcome, [] if options.read else tasks):
            sizes += sized
            bands += banded
            answers = ", ".join(f"{size.answer or 'none'} for {size.needed}" for size in sized)
            print(f"{banded[0].kind} {banded[0].seed}: {banded[0].form}; {answers}", flush=True)
    if options.store:
        options.store.mkdir(parents=True, exist_ok=True)
        store(options.store / SIZES, Sized, sizes)
        store(options.store / MISSES, Band, bands)
    print("\n".join(report(sizes, bands)))
    print("\n".join(f"| {what} | {value} |" for what, value in summary(sizes, bands).items()))


if __name__ == "__main__":
    campaigns.run(__spec__)
