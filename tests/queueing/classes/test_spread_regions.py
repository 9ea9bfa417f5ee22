"""Labels of closed classes in order of arrival, by how far their times are apart."""

import math

import numpy as np
import pytest

from headway.models import find_model
from headway.queueing import Discipline, JobClass, SharedStation, solve_multiclass
from headway.queueing.closed.measured import RATIOS, SCVS, WITHIN, Apart
from tests.brute import rows
from tests.campaigns.spread_regions import (
    BY_METHOD,
    PAGE,
    WIDE,
    drawn,
    lines,
    measured,
    regions,
    stored,
    wide,
)
from tests.support.pages import accuracy


@pytest.mark.parametrize("method", BY_METHOD)
def test_each_network_measured_is_within_its_label(method):
    networks = [*stored(), *stored(WIDE)]
    assert len(networks) > 1900
    for row in networks:
        for error, label in zip(row.errors(method), row.apart.errors(method), strict=True):
            assert math.isnan(error) or error <= label, row


@pytest.mark.parametrize("method", BY_METHOD)
def test_labels_are_the_largest_errors_of_their_regions(method):
    """Rounded up to a tenth, above 200% to a whole one; of all networks that were measured."""
    result = regions([*stored(), *stored(WIDE)], method)
    small = [(miss, miss.apart) for miss in rows.stored() if miss.method == method]
    for k, ratio in enumerate(RATIOS):
        for j, scv in enumerate(SCVS):
            inside = [m for m, far in small if far and far.ratio <= ratio and far.scv <= scv]
            errors = [(miss.throughput, miss.response_time) for miss in inside]
            most = np.max([result[ratio, scv][:2], *errors], axis=0)
            label = np.array(WITHIN[method][k][j])
            step = np.where(label > 200, 1.0, 0.1)
            assert ((most <= label) & (label <= most + step + 1e-9)).all()


@pytest.mark.parametrize(
    ("page", "drawing", "seed"),
    [*((PAGE, drawn, seed) for seed in (3, 9, 218)), *((WIDE, wide, n) for n in (4, 1003, 5002))],
)
def test_stored_errors_are_those_that_are_found(page, drawing, seed):
    """Six digits are stored; the equations of 218 are singular on the way: last bits count."""
    (row,) = (row for row in stored(page) if row.seed == seed)
    result = measured(seed, drawing)
    for name, value in vars(row).items():
        assert getattr(result, name) == pytest.approx(value, rel=1e-2, abs=1e-6, nan_ok=True), name


def test_the_page_has_the_table():
    page = accuracy()
    for line in lines(stored()):
        assert line in page, line


def test_answers_say_their_region():
    def solve(times, scvs, jobs=(3, 2)):
        cpu = SharedStation("cpu", times, (1, 1), discipline=Discipline.FCFS, scv=scvs)
        classes = [JobClass(n, None, p, 1.0) for n, p in zip("ab", jobs, strict=True)]
        return solve_multiclass([cpu], classes, "linearizer").approximation

    assert "up to 2 times apart and scv up to 2: throughput 15.2%" in solve((0.3, 0.2), (2.0, 0.5))
    assert "up to 32 times apart and scv up to 1: " in solve((0.3, 0.03), ())
    assert "(these are beyond that)" in solve((0.3, 0.2), (5.0, 0.5))
    assert "up to 2 times apart" in str(Apart(1.0, 1.0))


def test_the_peer_model_in_order_of_arrival_has_a_useful_label():
    model = find_model("tests/data/peer_models/fcfs.jsimg")
    assert "response time 31.3%" in model.solve().approximation
