"""Fits: the right values, and words where the data do not suffice."""

import json

import numpy as np
import pytest

from headway.errors import MeasurementError
from headway.models import (
    Measurements,
    catalogue_model,
    parse_model,
)
from tests.support.fit_data import FREE, ONE, POOL, RAID, SCSI, TWO, noisy, table


def test_published_curve_to_three_percent(scsi):
    assert scsi.errors["max_relative_error"] < 0.03
    assert scsi.warnings == ()
    assert scsi.identified.undetermined == frozenset()
    assert scsi.problem.evaluate.smooth == set(FREE)


def test_exact_data_are_recovered():
    loads = np.linspace(100, 900, 9)
    true = TWO.at(delay=2e-3, s=1e-3)
    fit = TWO.at(delay=1.0, s=1e-5).fit(noisy(true, loads, noise=0), ["delay", "s"])

    # the search ends at 1e-12 relative changes
    assert fit.values == pytest.approx({"delay": 2e-3, "s": 1e-3}, rel=1e-7)
    assert fit.leave_one_out_rms < 1e-6


def test_servers_are_found_as_a_whole_number():
    loads = np.linspace(500, 7800, 14)
    true = POOL.at(s=1e-3, servers=8)
    fit = POOL.at(s=4e-3, servers=32).fit(noisy(true, loads, noise=1e-3), ["s", "servers"])

    assert fit.values["servers"] == 8
    assert fit.values["s"] == pytest.approx(1e-3, rel=0.01)  # noise 0.1%


def test_jacobian_is_exact(scsi):
    problem, free = scsi.problem, scsi.optimum.free
    for k, name in enumerate(scsi.free):
        step = 1e-6 * free[k] * np.eye(len(free))[k]
        slope = (problem.residuals(free + step) - problem.residuals(free - step)) / (2 * step[k])
        # central differences of step h are good to h**2 and to rounding over h
        np.testing.assert_allclose(problem.jacobian(free)[:, k], slope, rtol=1e-5, err_msg=name)


def test_saturation_stays_above_every_measured_load(scsi):
    limit = scsi.model.solve(arrival_rate=1053.0).saturation_throughput

    assert limit > 1053
    left_out = scsi.problem.without(np.arange(7) >= 4)
    assert np.isfinite(left_out.predict(scsi.optimum.free)).all()


def test_same_effect_is_told_before_and_after():
    model = catalogue_model("nfs-server").at(added_overhead="20us")
    fit = model.fit(Measurements.read(RAID), ["delay", "cpu_time", "messages_per_operation"])

    assert fit.identified.undetermined == {"cpu_time", "messages_per_operation"}
    assert "only a combination of" in fit.warnings[0]
    document = json.loads(fit.to_json())
    assert document["parameters"]["cpu_time"]["identifiable"] is False
    assert document["parameters"]["delay"]["identifiable"] is True
    assert document["parameters"]["cpu_time"]["standard_error"] is None


def test_what_has_no_effect_is_told():
    fit = catalogue_model("nfs-server").fit(
        Measurements.read(RAID), ["delay", "messages_per_operation"]
    )

    assert "no prediction at these points depends on messages_per_operation" in fit.warnings[0]


def test_advice_names_a_load_that_helps():
    loads = np.linspace(5, 30, 8)  # far below saturation at 1000
    true = TWO.at(delay=2e-3, s=1e-3)
    data = noisy(true, loads, seed=5)
    fit = TWO.at(delay=1e-3, s=5e-4).fit(data, ["delay", "s"])

    assert fit.identified.undetermined >= {"s"}
    assert "two more points near" in " ".join(fit.warnings)


def test_advice_names_a_load_in_the_unit_of_the_file():
    loads = np.linspace(5e3, 3e4, 8)  # far below saturation at a million
    data = noisy(TWO.at(delay=2e-6, s=1e-6), loads, seed=5)
    rows = zip(data.column("throughput").values, data.column("response").values, strict=True)
    text = "throughput_kops_s,response_ms\n" + "".join(f"{x / 1e3},{1e3 * y}\n" for x, y in rows)
    fit = TWO.at(delay=1e-6, s=5e-7).fit(Measurements.parse(text, "k.csv"), ["delay", "s"])

    assert "two more points near 88.2 kop/s" in " ".join(fit.identified.sentences)


def test_at_a_bound_says_so():
    model = catalogue_model("nfs-server").with_preset("scsi")
    fit = model.fit(Measurements.read(SCSI), ["cpu_time"], bounds={"cpu_time": (0, 7e-4)})

    assert fit.values["cpu_time"] == pytest.approx(7e-4)
    assert "upper bound, 0.7 ms" in " ".join(fit.warnings)


def test_worse_than_a_constant_says_so():
    data = table([100.0, 200, 300, 400, 500], [9e-3, 7e-3, 5e-3, 4e-3, 3e-3])
    fit = ONE.at(s=1e-3).fit(data, ["s"])

    assert any("worse than a constant" in text for text in fit.warnings)


def test_lack_of_fit_says_so():
    loads = np.linspace(50, 900, 16)
    data = table(loads, 1e-3 + 4e-6 * loads**1.0)
    fit = TWO.at(delay=1e-3, s=5e-4).fit(data, ["delay", "s"])

    assert any("lack of fit" in text for text in fit.warnings)


def test_resolution_weighs():
    """A point printed to one digit pulls less than one printed to three."""
    fine = "throughput_ops_s,response_ms\n100,1.11\n500,2.00\n"
    free = ["s"]
    both = Measurements.parse(fine + "800,9\n", "curve")
    alike = Measurements.parse(fine + "800,9.000\n", "curve")

    coarse = ONE.at(s=1e-3).fit(both, free).values["s"]
    exact = ONE.at(s=1e-3).fit(alike, free).values["s"]

    assert 1e-3 < coarse < exact


def test_a_model_of_a_program_is_fitted_too():
    program = parse_model(
        """
        name = "program"
        [parameters]
        base = { value = "1 s" }
        messages = { value = "10 message", min = 0 }
        overhead = { value = "0 us/message" }
        [outputs]
        run_time = { formula = "base + 2 * messages * overhead", unit = "s" }
        """
    )
    data = Measurements.parse(
        "overhead_us_per_message,run_time_s\n0,10.0\n10,11.1\n50,14.9\n100,20.1\n", "program"
    )

    fit = program.fit(data, ["base", "messages"])

    assert fit.values["base"] == pytest.approx(10, rel=0.01)
    assert fit.values["messages"] == pytest.approx(5e4, rel=0.02)
    assert fit.loads().size == 0
    assert fit.plot().axes


def test_equal_rows_do_not_count_twice():
    model = TWO.at(delay=1e-3, s=1e-4).at(arrival_rate=1.0)
    data = table([1.0, 1, 1, 2], [1e-3, 1e-3, 1e-3, 2e-3])

    assert model.fit(data, ["delay", "s"]).points == 4
    with pytest.raises(
        MeasurementError, match="3 free parameters need at least as many different points, not 2"
    ):
        catalogue_model("nfs-server").fit(data, ["delay", "cpu_time", "disk_time"])


@pytest.mark.parametrize("seed", range(4))
def test_counts_that_fit_as_well_are_in_the_interval(seed):
    """Four servers of 2.2 ms behind 2 ms: three fit nearly as well, and one does not."""
    pool = catalogue_model("server-pool").at(delay=2e-3, service_time=2.2e-3, servers=4)
    loads = np.array([200, 400, 600, 800, 1000, 1200, 1400, 1500, 1600, 1700.0])
    fit = pool.fit(noisy(pool, loads, seed, noise=0.02), ["delay", "service_time", "servers"])
    low, high = fit.ci95["servers"]

    assert 1 < low <= 4 <= high
    assert any(f"servers from {low:g} to {high:g} fit about as well" in w for w in fit.warnings)
