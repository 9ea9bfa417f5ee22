"""How sure a fit is: standard errors, intervals that cover, bands, many starts."""

import math

import iminuit
import lmfit
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import least_squares

from headway.models import catalogue_model, fit_model
from headway.models.inference.certainty.uncertainty import profile_intervals
from headway.models.inference.searching.loss import Loss, loss_derivatives
from tests.support.fit_data import ONE, TWO, noisy, table


def test_standard_errors_agree_with_two_other_programs():
    loads = np.linspace(100, 900, 12)
    data = noisy(TWO.at(delay=2e-3, s=1e-3), loads, seed=3)
    fit = TWO.at(delay=1e-3, s=5e-4).fit(data, ["delay", "s"])
    rate, time = loads, data.column("response").values
    sigma = fit.problem.sigma

    def predicted(delay, s):
        return delay + s / (1 - rate * s)

    parameters = lmfit.create_params(delay=1.5e-3, s={"value": 8e-4, "max": 1.1e-3})
    other = lmfit.minimize(
        lambda p: (predicted(p["delay"].value, p["s"].value) - time) / sigma, parameters
    )
    third = iminuit.Minuit(
        lambda delay, s: float(np.sum(((predicted(delay, s) - time) / sigma) ** 2)),
        delay=1.5e-3,
        s=8e-4,
    )
    third.migrad()
    third.hesse()
    scale = math.sqrt(fit.uncertainty.variance)
    for name in ("delay", "s"):
        assert fit.values[name] == pytest.approx(other.params[name].value, rel=1e-4)
        assert fit.values[name] == pytest.approx(third.values[name], rel=1e-3)
        # they difference numerically
        assert fit.standard_errors[name] == pytest.approx(other.params[name].stderr, rel=0.02)
        assert fit.standard_errors[name] == pytest.approx(third.errors[name] * scale, rel=0.02)


def test_forty_starts_over_four_decades_find_the_optimum():
    loads = np.linspace(50, 950, 12)
    data = noisy(ONE.at(s=1e-3), loads, seed=1)
    starts = 10 ** np.random.default_rng(2).uniform(-5, -1, 40)

    values = [fit_model(ONE.at(s=start), data, ["s"], starts=1).values["s"] for start in starts]

    assert np.ptp(values) < 1e-8 * values[0]
    assert values[0] * loads.max() < 1


def test_intervals_near_a_bound_are_not_symmetric():
    loads = np.linspace(100, 900, 10)
    data = noisy(ONE.at(s=1e-3), loads, seed=4)
    model = TWO.at(delay=1e-3, s=5e-4)
    fit = model.fit(data, ["delay", "s"], bounds={"delay": (0.0, 1.0)})

    low, high = fit.ci95["delay"]
    assert low <= 1e-9
    assert high > 0
    assert fit.ci95["s"][0] < 1e-3 < fit.ci95["s"][1]


def test_bootstrap_agrees_with_t_intervals():
    data = noisy(TWO.at(delay=2e-3, s=1e-3), np.linspace(100, 900, 12), seed=7)
    model = TWO.at(delay=1e-3, s=5e-4)
    plain, again = model.fit(data, ["delay", "s"]), model.fit(data, ["delay", "s"], bootstrap=200)

    for name in ("delay", "s"):
        width = np.ptp(plain.ci95[name])
        # 200 rounds know a percentile to some 15%, and t is wider than the normal by 14%
        assert np.ptp(again.ci95[name]) == pytest.approx(width, rel=0.4)


def test_bands_widen_outside_the_data():
    data = noisy(TWO.at(delay=2e-3, s=1e-3), np.linspace(100, 600, 10), seed=8)
    fit = TWO.at(delay=1e-3, s=5e-4).fit(data, ["delay", "s"])

    low, middle, high = fit.predict([350.0, 900.0]).response_time

    assert (low < middle).all()
    assert (middle < high).all()
    assert (high / low)[1] > 1.5 * (high / low)[0]


def test_robust_loss_resists_an_outlier():
    loads = np.linspace(100, 900, 12)
    data = noisy(TWO.at(delay=2e-3, s=1e-3), loads, noise=0.005)
    times = data.column("response").values.copy()
    times[4] *= 3
    spoilt = table(loads, times)
    model = TWO.at(delay=1e-3, s=5e-4)

    plain = model.fit(spoilt, ["delay", "s"]).values["delay"]
    robust = model.fit(spoilt, ["delay", "s"], loss="cauchy").values["delay"]

    assert abs(robust - 2e-3) < 0.05 * 2e-3 < abs(plain - 2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy"])
def test_robust_intervals_cover_the_truth_among_outliers(loss):
    """Errors by Student's t of 3 degrees, which throws outliers; 60 trials, standard error 2.8%.

    The theory is for many points: 20 are few, so the band is wider than for least squares.
    """
    loads = np.linspace(50, 930, 20)
    model = TWO.at(delay=2e-3, s=1e-3)
    exact = np.asarray(model.solve(arrival_rate=loads).response_time)
    hits = {"delay": 0, "s": 0}
    for seed in range(60):
        errors = 0.02 * np.random.default_rng(seed).standard_t(3, len(loads))
        fit = model.fit(table(loads, exact * (1 + errors)), list(hits), loss=loss)
        for name, (low, high) in fit.ci95.items():
            hits[name] += low <= model.parameters[name].value <= high

    for name, count in hits.items():
        assert 0.86 <= count / 60 <= 0.99, (name, count)


@pytest.mark.parametrize("loss", Loss)
def test_profile_and_linear_intervals_agree_for_every_loss(loss):
    """Where much is known both say the same; a robust cost's curvature is taken on average."""
    loads = np.linspace(50, 800, 60)
    fit = TWO.at(delay=2e-3, s=1e-3).fit(
        noisy(TWO.at(delay=2e-3, s=1e-3), loads), ["delay", "s"], loss=loss
    )
    profiles = profile_intervals(fit.problem, fit.optimum, fit.uncertainty, fit.free)
    for name, ends in profiles.items():
        assert ends == pytest.approx(fit.ci95[name], abs=0.15 * np.ptp(fit.ci95[name]))


@given(st.floats(-1e3, 1e3).filter(lambda r: abs(abs(r) - 1) > 1e-3), st.sampled_from(list(Loss)))
def test_derivatives_of_losses_are_those_scipy_minimises(residual, loss):
    def cost(value):
        return least_squares(lambda x: x, [value], loss=loss.value, max_nfev=1).cost

    def slope(value):
        return loss_derivatives(np.array([value]), loss)[0][0]

    # central differences of step h, good to h**2 and to rounding over h
    h = 1e-4 * max(1, abs(residual))
    first, second = loss_derivatives(np.array([residual]), loss)
    assert first[0] == pytest.approx(
        (cost(residual + h) - cost(residual - h)) / (2 * h), rel=1e-4, abs=1e-6
    )
    assert second[0] == pytest.approx(
        (slope(residual + h) - slope(residual - h)) / (2 * h), rel=1e-4, abs=1e-6
    )


@pytest.mark.parametrize("loss", Loss)
def test_wild_residuals_leave_finite_uncertainty(loss):
    """Where every point is an outlier a robust cost has no curvature of its own."""
    model = catalogue_model("server-nfs")
    data = table([1.0, 1.091, 3.6, 2.8], [1.7e-3, 2e-3, 2.4e-3, 6.301e-3])

    fit = model.fit(data, ["overhead"], loss=loss)

    low, high = fit.ci95["overhead"]
    assert 0 <= low <= fit.values["overhead"] <= high
    assert any("lack of fit" in text for text in fit.warnings)
