"""Numbers of fits that cannot be: negative times, limits below what was measured, endless F."""

import re

import numpy as np
import pytest

from headway.models import Measurements, catalogue_model
from headway.models.analysis.audit import audit
from headway.models.inference.server import fit_server
from headway.models.inference.warnings import is_worse_than_constant, quick_warnings
from headway.models.language.scales import units_of
from headway.models.showing.fitted.fits import derivation

SLOWER = """clients,requests_per_s,latency_ms
8,528.9,15.27
16,532.2,30.44
32,524.4,61.38
64,505.6,126.88
128,508.6,272.43
256,500.0,568.44
"""
"""A server that does less with more clients."""

SINGLE = """clients,throughput_ops_s
1,60
2,120
4,220
8,400
12,440
16,490
"""


def quantity(server, begins):
    return next(q for q in server.quantities if q.name.startswith(begins))


def test_a_test_that_did_more_than_saturation_is_told_why():
    model = catalogue_model("server-slowing").closed(8, 0.0).at(delay=0, crowd=256)
    fit = model.fit(
        Measurements.parse(SLOWER, "curve.csv"), ["request_time", "growth"], x="clients"
    )
    line = next(line for line in derivation(fit, units_of(fit)) if line.startswith("bottleneck"))

    assert re.search(r"node, 100% busy .*; it saturates at 4\d\d(\.\d)? op/s with many", line)
    assert line.endswith("jobs present, which slow it down; 532.2 op/s was measured")


def test_more_than_a_model_explains_is_told_too():
    """A single server whose time is fixed beyond what was measured."""
    model = catalogue_model("server-single").closed(8, 0.0)
    curve = Measurements.parse(SLOWER, "curve.csv")
    fit = model.at(service_time="2.5 ms", delay=0).fit(curve, ["delay"], x="clients")
    assert "532.2 op/s was measured, which this model does not explain" in " ".join(
        str(fit).split()
    )


@pytest.mark.slow
def test_what_follows_from_one_parameter_has_its_interval():
    curve = Measurements.parse(SINGLE, "pods.csv")
    server = fit_server(curve, forms=["server-single", "server-pool"])
    time = quantity(server, "time per operation")
    alone = quantity(server, "saturation, this form only")
    assert (alone.low, alone.high) == pytest.approx((1 / time.high, 1 / time.low), rel=1e-12)
    assert quantity(server, "saturation throughput").low <= alone.value


@pytest.mark.parametrize("noise", [1.5, 3.0])
def test_a_time_is_not_negative_however_uncertain(noise):
    random = np.random.default_rng(5)
    loads = np.array([100.0, 200.0, 400.0, 600.0, 800.0])
    times = (1 + 1 / (1 - loads / 1000)) * np.exp(noise * random.standard_normal(5))
    rows = "\n".join(f"{x},{y:.5f}" for x, y in zip(loads, times, strict=True))
    curve = Measurements.parse(f"throughput_ops_s,response_ms\n{rows}\n", "wild.csv")
    server = fit_server(curve, forms=["server-single"])
    for name in ("base response time", "time per operation", "saturation throughput"):
        one = quantity(server, name)
        assert 0 <= one.low <= one.value <= one.high, name


def test_a_constant_is_not_held_against_what_follows_it():
    rows = "\n".join(f"{n},{1000 + 0.01 * (-1) ** k}" for k, n in enumerate((8, 16, 32, 64, 128)))
    curve = Measurements.parse(f"clients,throughput_ops_s\n{rows}\n", "flat.csv")
    model = catalogue_model("server-single").closed(8, 0.0).at(service_time="0.9 ms", delay=0)
    fit = model.fit(curve, ["service_time"], x="clients")
    assert fit.values["service_time"] == pytest.approx(1e-3, rel=1e-4)
    assert not is_worse_than_constant(fit)
    assert "worse than a constant" not in str(fit)


def test_no_rising_curve_is_said_to_fit_worse_than_the_model_does():
    """The model falls as the curve does, so that rising curves are no measure of it."""
    rows = "\n".join(f"{n},{1000 / (1 + 0.05 * n) * (1.25 if n % 3 else 0.8):.2f}"
                     for n in range(10, 130, 8))  # fmt: skip
    curve = Measurements.parse(f"clients,throughput_ops_s\n{rows}\n", "falls.csv")
    fit = catalogue_model("server-usl").fit(curve, ["first_rate", "contention", "coherence"])
    text = " ".join(quick_warnings(fit, units_of(fit)))
    assert "lack of fit: RMS error" in text
    told = re.search(r"no rising curve fits it better than ([\d.]+)%", text)
    own = fit.comparison.summary["rms_relative_error"]
    assert told is None or float(told[1]) / 100 <= own + 5e-4


def test_repeats_alike_to_the_last_digit_test_nothing():
    loads = np.repeat([100.0, 200.0, 400.0, 600.0, 800.0], 2)
    times = 2 + 1.07 / (1 - loads / 1000) + 0.1 * np.sin(loads)
    rows = "\n".join(f"{x},{y:.5f}" for x, y in zip(loads, times, strict=True))
    curve = Measurements.parse(f"throughput_ops_s,response_ms\n{rows}\n", "twice.csv")
    fit = catalogue_model("server-single").fit(curve, ["delay", "service_time"])
    assert fit.pure_error.misfit.f is None
    assert "F = " not in str(fit)
    assert "agree to the last digit" in " ".join(str(fit).split())


def test_a_large_gap_is_told_as_a_factor():
    text = "clients,throughput_ops_s,response_ms\n8,1000,663551.06\n16,1000,17.6\n"
    findings = [one.text for one in audit(Measurements.parse(text, "t.csv")).findings]
    gap = next(text for text in findings if "throughput times response time" in text)
    assert "82,940 times the population of" in gap
    assert "%" not in gap.split("clients did")[0]
