"""What fits to low loads say about high ones: coverage of bands, errors, saturation.

python -m tests.campaigns.extrapolations          the 24 shipped curves, as docs/accuracy has them
python -m tests.campaigns.extrapolations 0.8      fitted below 80% of the peak instead of 70%
python -m tests.campaigns.extrapolations --store  the same, stored under tests/data

For each curve the points below a share of its peak are fitted by `fit_server`, without options, and
the rest is predicted. The tests recompute the table from the stored results.

No constant or label names it; docs/accuracy/fits.md has its figures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from headway.kinds import FloatArray
from headway.models.files.shipped import data_path
from headway.models.inference.server import choose_form
from headway.models.measured.measurements import Measurements
from headway.models.signatures.sfs import curve
from tests import campaigns

PAGE = Path("tests/data/extrapolations.csv")
TITLES = ("curve", "load", "measured", "low", "middle", "high", "peak", "limit", "determined")
SHARE = 0.7
WRONG = 0.25  # relative error above which a prediction that counts as certain would mislead


@dataclass(frozen=True)
class Tried:
    """One curve: what was measured above the share, and the predictions there."""

    name: str
    load: FloatArray
    measured: FloatArray
    band: FloatArray
    peak: float
    limit: float
    determined: bool

    @property
    def holds(self) -> FloatArray:
        """Which measured points are in the band."""
        return np.asarray((self.band[0] <= self.measured) & (self.measured <= self.band[2]))

    @property
    def errors(self) -> FloatArray:
        """Absolute relative errors; infinite if no plausible curve sustains the load."""
        return np.asarray(np.abs(self.band[1] / self.measured - 1))


def curves() -> list[Path]:
    """The shipped curves, in order."""
    return sorted(Path(data_path("sfs_results/curves")).glob("*.csv"))


def tried(path: Path, share: float = SHARE) -> Tried:
    """Fit the points of a curve below a share of its peak, and predict the others."""
    table = Measurements.read(path)
    result = curve(table)
    rate, time = result.throughput.values, result.response_time.values
    peak = float(rate.max())
    high = rate >= share * peak
    fit = choose_form(table, high=float(rate[~high].max()))
    limit = fit.saturation
    assert limit is not None
    band = fit.predict(rate[high]).response_time
    return Tried(path.stem, rate[high], time[high], band, peak, limit.value, limit.determined)


def stored() -> list[Tried]:
    """The curves as they were last fitted."""
    by_name: dict[str, list[list[float]]] = {}
    for row in campaigns.stored_rows(PAGE):
        by_name.setdefault(row[TITLES[0]], []).append([float(row[title]) for title in TITLES[1:]])
    each = []
    for name, rows in by_name.items():
        load, measured, *band, peak, limit, determined = np.array(rows).T
        ends = float(peak[0]), float(limit[0]), bool(determined[0])
        each.append(Tried(name, load, measured, np.array(band), *ends))
    return each


def predicted_rows(each: Sequence[Tried]) -> Iterator[tuple[str, ...]]:
    """Rows of the file: one for each predicted point."""
    for one in each:
        ends = f"{one.peak:.6g}", f"{one.limit:.6g}", str(int(one.determined))
        for point in zip(one.load, one.measured, *one.band, strict=True):
            yield one.name, *(f"{number:.6g}" for number in point), *ends


def summary(each: Sequence[Tried]) -> dict[str, str]:
    """The lines of the table."""
    errors = np.concatenate([one.errors for one in each])
    holds = np.concatenate([one.holds for one in each])
    last = [one.holds[np.argmax(one.load)] for one in each]
    values = [one for one in each if one.determined]
    misled = [one for one in values if abs(one.limit / one.peak - 1) > WRONG]
    return {
        "points predicted": f"{errors.size}",
        "in the 95% band": f"{holds.mean():.1%}",
        "last point in the band": f"{np.mean(last):.0%}",
        "median error": f"{np.median(errors):.1%}",
        "saturation over peak, median": f"{np.median([one.limit / one.peak for one in each]):.2f}",
        "saturation determined": f"{len(values)} of {len(each)}",
        f"of these more than {WRONG:.0%} from the peak": f"{len(misled)}",
    }


def main() -> None:
    """Print the table."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("share", nargs="?", type=float, default=SHARE, help="of the peak")
    parser.add_argument("--store", action="store_true", help=f"write {PAGE}")
    options = parser.parse_args()
    each = []
    with campaigns.shared(options) as done:
        for one in done(partial(tried, share=options.share), curves()):
            each.append(one)
            print(
                f"{one.name:40} {one.holds.sum()} of {one.holds.size} in the band, "
                f"median error {np.median(one.errors):.1%}"
            )
    if options.store:
        campaigns.store(PAGE, TITLES, predicted_rows(each))
    print("\n".join(f"| {what} | {value} |" for what, value in summary(each).items()))


if __name__ == "__main__":
    campaigns.run(__spec__)
