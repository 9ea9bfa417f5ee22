"""Fits whose work several processes share: the same numbers as in one."""

import pickle

import numpy as np
import pytest

from headway.models import Measurements, catalogue_model
from headway.models.inference.certainty.resampling import bootstrap
from tests.support.command import headway, refusal

CLOSED = "population,response_ms\n" + "\n".join(
    f"{n},{time}" for n, time in zip((1, 2, 4, 8, 16), (2.02, 2.51, 3.2, 5.1, 9.4), strict=True)
)
OPEN_CURVE = "throughput_ops_s,response_ms\n50,2.1\n100,2.3\n200,2.6\n300,3.4\n400,5.0\n"


def _nothing():
    """Show no progress."""


def test_a_bootstrap_is_the_same_whoever_refits(two_workers, scsi):
    rounds, lines = 21, []
    alone = bootstrap(scsi.problem, scsi.optimum, rounds, _nothing)
    shared = bootstrap(scsi.problem, scsi.optimum, rounds, lambda: lines.append(1), two_workers)
    assert len(lines) == rounds
    assert np.array_equal(alone.values, shared.values)
    assert np.array_equal(alone.errors, shared.errors, equal_nan=True)


@pytest.mark.parametrize("table", [OPEN_CURVE, CLOSED])
@pytest.mark.parametrize("jobs", [0, 20])
def test_a_problem_that_has_travelled_predicts_the_same_bits(table, jobs):
    model = catalogue_model("server-single").at(delay="1 ms", service_time="0.5 ms")
    model = model.closed(jobs, 0.05) if jobs and table is OPEN_CURVE else model
    fitted = model.fit(Measurements.parse(table, "curve"), ["delay", "service_time"])
    travelled = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - its own
    for way in ("predict", "slopes"):
        here, there = (
            getattr(fit.problem, way)(fitted.optimum.free) for fit in (fitted, travelled)
        )
        assert np.array_equal(here, there)
    assert travelled.ci95 == fitted.ci95


def test_a_model_is_fitted_with_a_callers_workers(two_workers):
    model = catalogue_model("server-single").at(delay="1 ms", service_time="0.5 ms")
    arguments = Measurements.parse(OPEN_CURVE, "curve"), ["delay", "service_time"]
    alone = model.fit(*arguments, bootstrap=20)
    assert model.fit(*arguments, bootstrap=20, executor=two_workers).ci95 == alone.ci95


@pytest.mark.parametrize("what", ["rounds", pytest.param("curves", marks=pytest.mark.slow)])
def test_commands_share_their_work_and_say_the_same(write, what):
    curve = write(OPEN_CURVE, "curve.csv")
    command = ("fit", "server-single", "--data", curve, "--free", "delay,service_time")
    command = (*command, "--set", "delay=1ms", "--set", "service_time=0.5ms", "--bootstrap", "4")
    if what == "curves":
        other = write(OPEN_CURVE.replace("5.0", "5.5"), "other.csv")
        command = ("fit", "server", "--data", curve, "--data", other, "--forms", "server-single")

    alone, shared = headway(*command), headway(*command, "--workers", "2")

    assert alone.code == 0
    assert (shared.code, shared.out, shared.err) == (0, alone.out, "")


def test_wrong_workers_are_refused(write):
    curve = write(OPEN_CURVE, "curve.csv")
    message = refusal("fit", "server", "--data", curve, "--workers", "0")
    assert message.startswith("0 workers: give 1 to ")
