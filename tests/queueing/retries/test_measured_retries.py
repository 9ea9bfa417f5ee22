"""A measured server whose clients give up, as shipped: fitted where it is calm, and beyond."""

import csv

import numpy as np
import pytest

from headway.queueing.flows.clients import Clients
from headway.queueing.retries.attempts import states
from headway.queueing.retries.times import TimedQueue
from headway.queueing.retries.tipping import folds
from tests.house import ROOT

DATA = ROOT / "models" / "data" / "retries"
NEXT = 1e-4
"""Time that the server needs to begin its next service [s], as the data's own README says."""

TIMEOUT = 0.1


def table(name):
    """The columns of a file."""
    with (DATA / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


@pytest.fixture(scope="module")
def service():
    """Mean service time where it is calm [s]."""
    runs = table("attempts.csv")
    calm = runs["load_percent"] <= 60
    return 1e-3 * runs["service_mean_ms"][calm].mean() + NEXT


def answers(rates, service):
    """Mean response times of M/M/4 by Erlang's formula [s]."""
    loads = rates * service
    series = sum(loads**k / np.prod(np.arange(1, k + 1)) for k in range(4))
    last = loads**4 / 24 / (1 - loads / 4)
    return service + last / (series + last) * service / (4 - loads)


def test_the_service_time_is_as_the_page_says(service):
    page = (ROOT / "docs" / "how-to" / "will-retries-bring-it-down.md").read_text(encoding="utf-8")
    assert f"a request takes {1e3 * (service - NEXT):.2f} ms of service" in page
    assert f"--fix service_time={1e3 * service:.2f}ms" in page


def test_response_times_beyond_the_fit_are_within_a_tenth(service):
    calm, busy = table("calm.csv"), table("busy.csv")
    known = 1e-3 * calm["response_ms"] - answers(calm["throughput_ops_s"], service)
    beside = np.median(known)
    found = beside + answers(busy["throughput_ops_s"], service)
    errors = found / (1e-3 * busy["response_ms"]) - 1
    assert np.sqrt((errors**2).mean()) < 0.08
    assert np.median(errors) < 0.06
    repeats = busy["response_ms"].reshape(2, 3, 3)
    spread = (repeats.max(axis=2) / repeats.min(axis=2) - 1).max()
    assert round(100 * spread) == 14  # as the page says


def test_hardly_any_attempt_fails_below_the_tip_as_predicted(service):
    runs = table("attempts.csv")
    failed = (runs["attempts"] - runs["answered"]) / runs["attempts"]
    assert failed.max() < 1e-3
    queue = TimedQueue(service, 4, TIMEOUT)
    for retries in (0, 3):
        clients = Clients(timeout=TIMEOUT, retries=retries)
        most = runs["requests"].max() / 20
        good = states(most, clients, lambda rate: queue.at(rate).late, queue.saturation)[0]
        assert good.late < 1e-3
    tips = folds(queue, Clients(timeout=TIMEOUT, retries=3))
    assert tips.vanishes < runs["requests"].min() / 20 < runs["requests"].max() / 20 < tips.tips
