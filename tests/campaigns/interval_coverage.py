"""Coverage of 95% intervals of fits to simulated measurements.

``python -m tests.campaigns.interval_coverage`` fits again all curves whose results
`tests/data/interval_coverage.csv` contains (a minute), and prints the table of
docs/explanation/intervals.md; the tests recompute the table from that file.

No constant or label names it; docs/explanation/intervals.md has its figures.
"""

from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

from headway.models import catalogue_model, fit_model
from tests.campaigns import stored_or_simulated, stored_rows
from tests.support.fit_data import ONE, POOL, table

PAGE = Path("tests/data/interval_coverage.csv")
TITLES = ("model", "parameter", "seed", "inside")
NOISE = 0.03
_CLOSED = {"population": 40, "delay": 2e-3, "service_time": 1e-3, "servers": 1}
CASES = {
    "M/M/1": (ONE.at(s=1e-3), ["s"], np.linspace(100, 930, 8), 400),
    "M/M/m": (POOL.at(s=4e-3, servers=4), ["s"], np.linspace(100, 930, 8), 400),
    "cache": (
        catalogue_model("nfs-server").with_preset("scsi"),
        ["delay", "cpu_time", "touched_per_load"],
        np.linspace(100, 1050, 12),
        200,
    ),
    "closed": (
        catalogue_model("server-closed").at(_CLOSED),
        ["delay", "service_time"],
        np.linspace(100, 950, 10),
        200,
    ),
}


@cache
def exact(name):
    """Response times without noise [s]."""
    model, _, loads, _ = CASES[name]
    return model.compare(table(loads, np.full(len(loads), 5e-3))).predicted


def inside(name, seed):
    """Whether each interval of a curve contains the true value, by parameter."""
    model, free, loads, _ = CASES[name]
    noise = NOISE * np.random.default_rng(seed).standard_normal(len(loads))
    fit = fit_model(model, table(loads, exact(name) * (1 + noise)), free, starts=1)
    truth = {parameter: model.parameters[parameter].value for parameter in free}
    return {p: low <= truth[p] <= high for p, (low, high) in fit.ci95.items()}


def stored():
    """The stored fits: whether the value is inside, by model, parameter and seed."""
    return {
        (row["model"], row["parameter"], int(row["seed"])): row["inside"] == "1"
        for row in stored_rows(PAGE)
    }


def rows(results):
    """Rows of the table: model, parameter, curves, and intervals that contain the value."""
    curves = Counter((model, parameter) for model, parameter, _ in results)
    counts = Counter((m, p) for (m, p, _), is_inside in results.items() if is_inside)
    return [(*which, count, counts[which]) for which, count in curves.items()]


def lines(results):
    """The table as the page shows it."""
    yield "| model | parameter | curves | intervals that contain the true value | share |"
    yield "|---|---|---|---|---|"
    for model, parameter, curves, count in rows(results):
        yield f"| {model} | `{parameter}` | {curves} | {count} | {count / curves:.1%} |"


def _fitted():
    for name, (*_, curves) in CASES.items():
        for seed in range(curves):
            for parameter, is_inside in inside(name, seed).items():
                yield name, parameter, seed, int(is_inside)


def main():
    """Fit again, or only print what the file contains."""
    stored_or_simulated(__doc__, PAGE, TITLES, _fitted)
    print(*lines(stored()), sep="\n")


if __name__ == "__main__":
    main()
