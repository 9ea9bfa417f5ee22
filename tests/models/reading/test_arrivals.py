"""How requests arrived: told by files, or by the user, and followed by fits and predictions."""

import numpy as np
import pytest

from headway import read
from headway.errors import InvalidParameter, MeasurementError
from headway.models import Measurements, catalogue_model, parse_model
from headway.models.inference.server import choose_form
from headway.models.reading.hints import Hints
from headway.queueing.renewals.waits import renewal_wait
from tests.support.command import headway

SERVICE, DELAY = 10e-3, 2e-3
LOADS = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])


def curve(scv: float, servers: int = 1) -> Measurements:
    """A curve of GI/M/m without errors."""
    rates = LOADS * servers / SERVICE
    waits = renewal_wait(rates, SERVICE, servers, scv).mean
    times = (DELAY + SERVICE + waits).tolist()
    return Measurements.from_columns(rates.tolist(), times, source="curve")


@pytest.mark.slow
def test_a_curve_of_constant_arrivals_gives_its_server_if_that_is_said():
    """D/M/1 to 80% of saturation: the right server within 0.1%, and another if taken as random."""
    said = choose_form(Hints(arrivals="constant").of(curve(0.0)))
    assert said.form.model == "server-single"
    assert said.best.values["service_time"] == pytest.approx(SERVICE, rel=1e-3)
    assert said.best.model.parameters["arrival_scv"].value == 0
    assert choose_form(curve(0.0)).form.model != "server-single"


def test_poisson_arrivals_are_what_is_taken_where_nothing_is_said():
    poisson = Hints(arrivals="poisson").of(curve(1.0))
    forms = ["server-single", "server-pool"]
    plain, said = (choose_form(each, forms=forms) for each in (curve(1.0), poisson))
    assert plain.best.values == said.best.values
    assert "arrival_scv" not in said.best.model.parameters
    assert said.predict([90.0]).poisson is None


@pytest.mark.slow
def test_predictions_are_for_arrivals_as_measured_and_for_users():
    fit = choose_form(Hints(arrivals="constant").of(curve(0.0)))
    predictions = fit.predict([90.0], percentiles=[99])
    truth = {scv: DELAY + SERVICE + float(renewal_wait(90, SERVICE, 1, scv).mean) for scv in (0, 1)}
    assert predictions.response_time[1, 0] == pytest.approx(truth[0], rel=0.03)
    users = predictions.poisson
    assert users is not None
    assert users.response_time[0, 0] <= truth[1] <= users.response_time[2, 0]
    assert users.percentiles["response_time_p99"][1, 0] > predictions.percentiles[
        "response_time_p99"][1, 0]  # fmt: skip
    written_model = parse_model(fit.to_toml())
    again = written_model.solve(arrival_rate=90.0)
    assert again.response_time == pytest.approx(predictions.response_time[1, 0], rel=0.05)
    at_random = written_model.at(arrival_scv=1).solve(arrival_rate=90.0)
    assert at_random.response_time > 1.5 * again.response_time


WRK2 = """Running 4s test @ http://127.0.0.1:8090/
  1 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     9.00ms    4.00ms  40.00ms   70.00%
    Req/Sec   100.00     10.00   120.00     60.00%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    8.00ms
 75.000%   11.00ms
 90.000%   15.00ms
 99.000%   25.00ms
 99.900%   40.00ms
 99.990%   40.00ms
 99.999%   40.00ms
100.000%   40.00ms
----------------------------------------------------------
  400 requests in 4.00s, 60.00KB read
Requests/sec:    100.00
Transfer/sec:     15.00KB
"""


def test_tools_that_send_at_equal_intervals_say_so(tmp_path):
    (tmp_path / "R100.txt").write_text(WRK2)
    point = read(tmp_path / "R100.txt").points[0]
    assert point.arrival_scv == 0
    assert point.document()["arrival_scv"] == 0
    said = read(tmp_path / "R100.txt", arrivals="poisson")
    assert said.points[0].arrival_scv == 1


def test_what_says_nothing_of_arrivals_is_refused_in_one_line(tmp_path):
    (tmp_path / "a.csv").write_text("throughput_ops_s,response_ms\n1,2\n")
    failed = headway("read", str(tmp_path / "a.csv"), "--arrivals", "sometimes")
    assert failed.code == 2
    assert failed.err.count("\n") == 1
    assert "write constant, poisson" in failed.err
    (tmp_path / "c.csv").write_text("throughput_ops_s,response_ms,users\n10,100,1\n19,105,2\n")
    with pytest.raises(MeasurementError, match="--arrivals is for open tests"):
        read(tmp_path / "c.csv", arrivals="constant")
    with pytest.raises(InvalidParameter, match="arrivals are '-1'"):
        Hints(arrivals="-1")


def test_a_given_model_follows_how_requests_arrived():
    said = Hints(arrivals="0").of(curve(0.0))
    model = catalogue_model("server-single").at(delay=DELAY, service_time=SERVICE)
    errors = model.compare(said).summary["rms_relative_error"]
    assert errors < 1e-5
    assert model.compare(curve(0.0)).summary["rms_relative_error"] > 0.1
