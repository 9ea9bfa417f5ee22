"""``--arrivals trace``: the scv of arrivals is that of the times at which a log's requests were
sent, or were due."""

import json
import re
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway import read
from headway.errors import MeasurementError
from headway.lazy import loaded
from headway.models.inference.server import choose_form
from headway.models.measured.tools.kit import times
from headway.models.measured.tools.kit.spacing import Spacing
from headway.models.reading.arriving import LOGS
from headway.models.reading.hints import Hints
from headway.models.reading.recognise import TOOLS, read_measurements
from tests.support.command import headway, refusal

COUNT, RATE = 6000, 200.0
BEGIN = 1_795_742_491.0
SE = {"poisson": 2.0, "erlang": np.sqrt(0.75), "regular": 0.0}
"""Standard error of an scv times the square root of the requests, by the delta method: sqrt(mu4 -
sigma^4 - 4 mu3 sigma^2 + 4 sigma^6) for times of mean 1, with the central moments of the
exponential (1, 2, 9) and Erlang-2 (1/2, 1/2, 3/2) distributions."""
SCV = {"poisson": 1.0, "erlang": 0.5, "regular": 0.0}


def drawn(law, count=COUNT, rate=RATE, seed=1):
    """When requests are sent [s], and how long they take: many overtake one another."""
    chance = np.random.default_rng(seed)
    between = {
        "poisson": lambda: chance.exponential(1 / rate, count),
        "erlang": lambda: chance.gamma(2, 0.5 / rate, count),
        "regular": lambda: np.full(count, 1 / rate),
    }[law]()
    return np.cumsum(between), chance.exponential(0.05, count)


def by_end(sent, took):
    order = np.argsort(sent + took)
    return zip(sent[order].tolist(), took[order].tolist(), strict=True)


def vegeta(sent, took):
    return "".join(
        f"{round((BEGIN + s) * 1e6)}000,200,{round(t * 1e9)},0,612,,,{k},,GET,/,\n"
        for k, (s, t) in enumerate(by_end(sent, took))
    )


def vegeta_lines(sent, took):
    lines = (
        {
            "attack": "", "seq": k, "code": 200, "latency": round(t * 1e9), "error": "",
            "timestamp": datetime.fromtimestamp(BEGIN + s, UTC).isoformat(),
        }
        for k, (s, t) in enumerate(by_end(sent, took))
    )  # fmt: skip
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def pgbench(sent, took):
    """Latency counts from when a transaction was due; a lag of 2 ms is part of it."""
    rows = []
    for k, (s, t) in enumerate(by_end(sent, took)):
        end = round((BEGIN + s + t) * 1e6)
        rows.append(
            f"{k % 32} {k // 32 + 1} {round(t * 1e6)} 0 {end // 10**6} {end % 10**6} {1 + k % 2000}"
        )
    return "\n".join(rows) + "\n"


def k6(sent, took):
    """A point is stamped when its request ends; virtual users are free, so that it is open."""

    def point(metric, stamp, value):
        when = datetime.fromtimestamp(BEGIN + stamp, UTC).isoformat()
        return {"metric": metric, "type": "Point", "data": {"time": when, "value": value}}

    rows = [point("http_req_duration", s + t, 1e3 * t) for s, t in by_end(sent, took)]
    rows += [point("vus", sent[-1], 8), point("vus_max", sent[-1], 40)]
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)


def gatling(sent, took):
    users = [f"USER\tpage\tSTART\t{round(1e3 * (BEGIN + s))}\n" for s in sent]
    users += [f"USER\tpage\tEND\t{round(1e3 * (BEGIN + s))}\n" for s in sent + took]
    rows = (
        f"REQUEST\t\tpage\t{round(1e3 * (BEGIN + s))}\t{round(1e3 * (BEGIN + s + t))}\tOK\t\n"
        for s, t in by_end(sent, took)
    )
    return "RUN\tload\trun\t1795742491000\t \t3.11.5\n" + "".join([*users, *rows])


def jmeter(sent, took):
    rows = (
        f"{int(1e3 * (BEGIN + s))},{int(1e3 * t)},page,200,user {k},true,512,8\n"
        for k, (s, t) in enumerate(by_end(sent, took))
    )
    titles = "timeStamp,elapsed,label,responseCode,threadName,success,bytes,allThreads\n"
    return titles + "".join(rows)


WRITERS = {"vegeta.csv": vegeta, "vegeta.jsonl": vegeta_lines, "pgbench": pgbench, "k6": k6}


@pytest.mark.parametrize("law", SCV)
@pytest.mark.parametrize("name", WRITERS)
def test_the_scv_is_that_of_the_times_at_which_requests_were_sent(tmp_path, name, law):
    """Within 5 standard errors, and a rounding to 0.0001; that error is stated with it."""
    (tmp_path / name).write_text(WRITERS[name](*drawn(law)))
    test = read(tmp_path / name, arrivals="trace")
    error = SE[law] / np.sqrt(COUNT)
    (point,) = test.points
    assert point.arrival_scv == pytest.approx(SCV[law], abs=5 * error + 1e-4)
    assert point.gaps.count == COUNT - 1
    assert point.gaps.error == pytest.approx(error, rel=0.35, abs=1e-6)
    assert abs(point.gaps.correlation) < 5 / np.sqrt(COUNT) or law == "regular"
    assert sum("requests arrived with an scv of" in note for note in test.notes) == 1
    assert test.points[0].document()["arrival_scv"] == point.arrival_scv


@pytest.mark.parametrize(("name", "log"), [("gatling.log", gatling), ("run.jtl", jmeter)])
def test_logs_in_whole_milliseconds(tmp_path, name, log):
    """Requests 20 ms apart: rounding adds 1 / (6 x 20^2) at most. JMeter's were sent at a rate."""
    (tmp_path / name).write_text(log(*drawn("poisson", rate=50.0)))
    rate = 50 if name == "run.jtl" else ()
    (point,) = read(tmp_path / name, arrivals="trace", rate=rate).points
    assert point.arrival_scv == pytest.approx(1, abs=5 * 2 / np.sqrt(COUNT) + 1 / 2400)
    assert point.gaps.rounding == pytest.approx(1 / 2400, rel=0.1)


def test_a_part_of_a_run_and_requests_that_failed(tmp_path):
    """Regular for 15 s, then at random: each part has its own scv, whatever was answered."""
    regular, chance = drawn("regular", 3000), drawn("poisson", 3000, seed=2)
    sent = np.concatenate([regular[0], regular[0][-1] + chance[0]])
    text = vegeta(sent, np.concatenate([regular[1], chance[1]]))
    lines = text.splitlines()
    lines[::5] = [line.replace(",200,", ",503,", 1) for line in lines[::5]]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    (first,) = read(tmp_path / "log.csv", window="0s:14.9s", arrivals="trace").points
    (second,) = read(tmp_path / "log.csv", skip="15.1s", arrivals="trace").points
    assert first.errors > 500
    assert first.arrival_scv == 0
    assert second.arrival_scv == pytest.approx(1, abs=5 * 2 / np.sqrt(2900))


@given(st.lists(st.integers(0, 10_000), min_size=3, max_size=400), st.integers(1, 50))
def test_sums_are_those_of_the_whole_list_put_in_order(drawn_times, step):
    """However they are parted, as long as none is later than what is kept."""
    sent = np.sort(np.array(drawn_times, float))
    late = np.minimum(np.arange(sent.size) + 3, sent.size - 1)
    order = np.argsort(sent[late], kind="stable")
    spacing = Spacing()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(times, "CHUNK", 16)
        for begin in range(0, sent.size, step):
            spacing.extend(sent[order][begin : begin + step])
    found, between = spacing.gaps(1.0), np.diff(sent)
    if not between.any():
        assert found is None
        return
    assert found.count == between.size
    assert found.scv == pytest.approx(np.var(between) / np.mean(between) ** 2, abs=6e-5, rel=1e-6)


def test_requests_that_come_too_late_in_a_log_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(times, "CHUNK", 64)
    sent, took = drawn("poisson", 2000)
    took[:300] = 9.9
    (tmp_path / "log.csv").write_text(vegeta(sent, took))
    with pytest.raises(MeasurementError, match="too far out of the order in which they were sent"):
        read(tmp_path / "log.csv", arrivals="trace")


def test_what_has_no_single_requests_is_refused_in_one_line_that_says_what_does(tmp_path):
    (tmp_path / "a.csv").write_text("throughput_ops_s,response_ms\n1,2\n")
    (tmp_path / "few.csv").write_text(vegeta(*drawn("poisson", 60)))
    (tmp_path / "fast.log").write_text(gatling(*drawn("poisson", 3000, rate=2000.0)))
    for name, why in (
        ("a.csv", "the file does not list single requests"),
        ("few.csv", "it has 60 requests, but an scv needs 100"),
        ("fast.log", "its clock is too coarse for requests so near to each other"),
    ):
        said = refusal("read", str(tmp_path / name), "--arrivals", "trace")
        assert said.startswith(
            f"{tmp_path / name}: --arrivals trace needs a log of requests ({LOGS}"
        )
        assert said.endswith(f"but {why}; say constant, poisson or an scv")
    with pytest.raises(MeasurementError, match="not list single requests"):
        Hints(arrivals="trace").of(read_measurements(tmp_path / "a.csv"))


def test_every_kind_of_log_with_single_requests_is_named():
    kinds = [reader.kind for reader in map(loaded, TOOLS) if reader.log is not None]
    assert {kind.partition(" (")[0] for kind in kinds} == set(re.findall(r"[A-Za-z]\w+", LOGS)) - {
        "CSV", "JSON", "lines", "log", "NDJSON", "at", "rate",
    }  # fmt: skip


def test_a_closed_test_is_refused_as_with_other_arrivals(tmp_path):
    (tmp_path / "run.jtl").write_text(jmeter(*drawn("poisson")))
    said = refusal("read", str(tmp_path / "run.jtl"), "--arrivals", "trace")
    assert "--arrivals is for open tests" in said


def test_bursts_that_an_scv_does_not_tell_are_noted(tmp_path):
    """Two rates that take turns of 100 requests: short times follow short ones."""
    chance = np.random.default_rng(3)
    means = np.where(np.arange(COUNT) // 100 % 2, 0.009, 0.001)
    sent = np.cumsum(chance.exponential(means))
    (tmp_path / "log.csv").write_text(vegeta(sent, np.full(COUNT, 0.01)))
    test = read(tmp_path / "log.csv", arrivals="trace")
    assert any("times between requests are correlated" in note for note in test.notes)
    assert test.points[0].arrival_scv > 1.5


def write_sweep(folder, scv_of):
    """M/M/1 or D/M/1 of 4 ms, job by job, at four rates."""
    for rate in (60.0, 120.0, 170.0, 210.0):
        sent, _ = drawn(scv_of(rate), 12_000, rate, seed=int(rate))
        service = np.random.default_rng(7).exponential(4e-3, sent.size)
        done = np.empty(sent.size)
        free = 0.0
        for k in range(sent.size):
            free = max(free, sent[k]) + service[k]
            done[k] = free
        (folder / f"rate-{rate:.0f}.csv").write_text(vegeta(sent, done - sent))


@pytest.mark.parametrize("law", ["regular", "poisson"])
def test_fits_follow_the_scv_of_all_logs(tmp_path, law):
    """12,000 requests at each rate give the service time to 2% (3 standard errors of the mean
    response time at the highest)."""
    write_sweep(tmp_path, lambda _: law)
    test = read(tmp_path, arrivals="trace")
    assert len(test.points) == 4
    fit = choose_form(test.measurements, forms=["server-single"])
    assert fit.best.values["service_time"] == pytest.approx(4e-3, rel=0.02)
    shown = fit.best.model.inputs.get("arrival_scv", 1.0)
    assert shown == pytest.approx(SCV[law], abs=5 * SE[law] / np.sqrt(48_000) + 1e-4)


@pytest.mark.slow
def test_logs_that_differ_by_more_than_chance_are_not_fitted_as_one(tmp_path):
    write_sweep(tmp_path, lambda rate: "regular" if rate < 150 else "poisson")
    test = read(tmp_path, arrivals="trace")
    with pytest.raises(MeasurementError, match="arrived unlike at different loads, with an scv of"):
        choose_form(test.measurements, forms=["server-single"])
    failed = headway("fit", "server", "--data", str(tmp_path), "--arrivals", "trace")
    assert (failed.code, failed.err.count("\n")) == (2, 1)
