"""Real servers are fitted, changed in the model, and held to their measured selves once changed."""

import numpy as np
import pytest

from headway.models.files.shipped import data_rows
from headway.models.inference.server import fit_server
from headway.models.reading.loadtest import read_load_test

MODEL = {"pool": ["server-pool"], "lock": None}
"""Forms that compete before the change: for the pool the one with workers, else all."""
BEFORE = {"pool": "two_workers", "lock": "long"}
CHANGES = {
    "four_workers": lambda fit: fit.best.model.at(servers=4),
    "delay": lambda fit: fit.best.model.at(delay="20 ms"),
    "short": lambda fit: fit.best.model.at(service_time=fit.best.values["service_time"] - 3e-3),
}
COLUMNS = {"throughput": "throughput_ops_s", "response_time": "response_s"}

HELD = [
    ("pool", "four_workers", "throughput", 0.04, 0.02),
    ("pool", "four_workers", "response_time", 0.06, 0.02),
    ("pool", "delay", "throughput", 0.06, 0.03),
    ("pool", "delay", "response_time", 0.06, 0.03),
]
"""Largest and median relative error."""


def runs(pair, folder):
    return read_load_test([f"load_tests/{pair}/{folder}"]).measurements


@pytest.fixture(scope="module")
def fits():
    return {
        pair: fit_server(runs(pair, before), forms=MODEL[pair]) for pair, before in BEFORE.items()
    }


@pytest.mark.parametrize(("pair", "folder", "output", "worst", "median"), HELD)
def test_a_change_of_a_real_server_is_predicted(fits, pair, folder, output, worst, median):
    load = "population" if pair == "pool" else "throughput_ops_s"

    compared = CHANGES[folder](fits[pair]).compare(runs(pair, folder), x=load, y=COLUMNS[output])

    errors = np.abs(compared.relative_error)
    assert errors.max() < worst
    assert np.median(errors) < median


WRITTEN = [*((pair, folder) for pair, folder, *_ in HELD[::2]), ("lock", "short")]
"""The last has no runs: its change was never measured."""


@pytest.mark.parametrize(("pair", "folder"), WRITTEN)
def test_the_predictions_are_those_written_down_before_the_change(fits, pair, folder):
    rows = [row for row in data_rows(f"load_tests/{pair}/predicted") if row["folder"] == folder]
    load = "population" if pair == "pool" else "throughput_ops_s"
    loads = np.array([float(row[load]) for row in rows])
    parameter = "population" if pair == "pool" else "arrival_rate"

    solved = CHANGES[folder](fits[pair]).at(**{parameter: loads}).solve()

    for output, column in COLUMNS.items():
        if column != load:
            written = [float(row[column]) for row in rows]
            assert solved[output] == pytest.approx(written, rel=1e-3)
