"""Pools of threads with more callers than threads, against sums over the states of the law."""

from math import factorial, inf

import mpmath
import numpy as np
import pytest

from headway.queueing.layers.chain import by_chain
from headway.queueing.layers.decomposed.decomposition import by_layers
from headway.queueing.layers.flow import Choice, Step
from headway.queueing.layers.numerics.pools import (
    HIGHEST,
    MANY,
    MOST,
    pool_capacities,
    pool_ratios,
)
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.system import LayeredSystem
from tests.support.places import ROOT


def shop(threads, servers, rate, users=inf):
    """Pages of 100 ms on few servers with two calls of 20 ms, from outside or from users."""
    tasks = {"web": Task("few", threads), "db": Task("many", inf)}
    entries = {
        "page": Entry("web", Step("page", 0.1, calls={"read": 2.0}), rate if users == inf else 0.0),
        "read": Entry("db", Step("read", 0.02)),
    }
    if users < inf:
        tasks["users"] = Task("many", users, 1 / rate, clients=True)
        entries["use"] = Entry("users", Step("use", calls={"page": 1.0}, fixed=True))
    processors = {"few": Processor(servers), "many": Processor(inf)}
    return LayeredSystem("shop", processors, tasks, entries)


def by_birth_and_death(threads, servers, rate, users=inf):
    """Mean wait for a thread and mean time with one [s]: product form inside, queue outside.

    The rate is that of each user, if their number is given.
    """

    def states(n):
        """The normalising constant of n threads at the processor (0.1 s) or elsewhere (0.04 s)."""
        total = 0.0
        for k in range(n + 1):
            rates = [min(i, servers) for i in range(1, k + 1)]
            total += 0.1**k / np.prod(rates) * 0.04 ** (n - k) / factorial(n - k)
        return total

    leave = [states(n - 1) / states(n) for n in range(1, threads + 1)]
    most = min(users, 3000)
    chances = [1.0]
    for n in range(most):
        coming = rate if users == inf else (users - n) * rate
        chances.append(chances[-1] * coming / leave[min(n, threads - 1)])
    n, p = np.arange(most + 1), np.array(chances) / sum(chances)
    done = p[1:] @ np.array(leave)[np.minimum(n[1:], threads) - 1]
    return p @ np.maximum(n - threads, 0) / done, p @ np.minimum(n, threads) / done


@pytest.mark.parametrize(
    "given",
    [
        {"threads": 4, "servers": 1, "rate": 3.0},
        {"threads": 4, "servers": 1, "rate": 7.0},
        {"threads": 4, "servers": 1, "rate": 8.0},
        {"threads": 10, "servers": 1, "rate": 7.0},
        {"threads": 4, "servers": 2, "rate": 14.0},
        {"threads": 4, "servers": 1, "rate": 0.3, "users": 20},
        {"threads": 4, "servers": 1, "rate": 1.0, "users": 20},
        {"threads": 3, "servers": 2, "rate": 2.0, "users": 8},
    ],
    ids=str,
)
def test_a_pool_at_a_processor_with_fewer_servers(given):
    """Exact, as the law is that of the system, whose threads are a product form."""
    wait, time = by_birth_and_death(**given)
    page = by_layers(shop(**given)).entries["page"]
    assert float(page.first_phase) == pytest.approx(time, rel=3e-3)
    assert float(page.waiting_time) == pytest.approx(wait, rel=2e-2, abs=1e-4)


def test_the_page_says_the_times_of_this_law():
    page = (ROOT / "docs/explanation/pools-in-layers.md").read_text(encoding="utf-8")
    wait, time = by_birth_and_death(4, 1, 7.0)
    assert f"{wait + time:.3f} s at 7 requests/s, of which {wait:.3f} s" in page


def uneven(users, think_time, long):
    """Two threads on enough servers, held for 0.2 s in nine of ten requests, and else for long."""
    ways = Choice(((0.9, Step("short", 0.2)), (0.1, Step("long", long))))
    tasks = {"users": Task("many", users, think_time, clients=True), "web": Task("many", 2)}
    use = Entry("users", Step("use", calls={"page": 1.0}, fixed=True))
    entries = {"use": use, "page": Entry("web", ways)}
    return LayeredSystem("uneven", {"many": Processor(inf)}, tasks, entries)


@pytest.mark.parametrize(
    ("given", "share"),
    [
        ((16, 0.5, 2.0), 0.005),  # always full
        ((16, 0.5, 10.0), 0.005),
        ((16, 8.0, 2.0), 0.005),  # rarely full
        ((16, 8.0, 10.0), 0.01),
        ((16, 2.0, 10.0), 0.03),  # between both
        ((8, 2.0, 10.0), 0.07),
    ],
    ids=str,
)
def test_threads_that_are_held_for_uneven_times(given, share):
    """Throughput beside the whole chain; errors of 0.1, 0.1, 0.1, 0.4, 1.8 and 5.8%."""
    system = uneven(*given)
    right = float(by_chain(system, 1500).throughput("users"))
    assert float(by_layers(system).throughput("users")) == pytest.approx(right, rel=share)


def coefficients_of(threads, above, callers, waits, odds, elsewhere, higher, full, all_full):
    """Coefficients (4) by the sums (1) to (3), with 40 digits."""
    with mpmath.workdps(40):

        def falling(n, r):
            """Callers who come one after another, and wait beyond n."""
            return mpmath.nsum(
                lambda i: mpmath.ff(callers - n, i) * mpmath.mpf(r) ** i, [0, callers - n]
            )

        def asking(n):
            if not above:
                return mpmath.ff(callers, n)
            each = (
                mpmath.mpf(higher) ** i
                / mpmath.factorial(i)
                * mpmath.ff(callers, n + i)
                * (falling(above, all_full) if n + i == above else 1)
                for i in range(above - n + 1)
            )
            return mpmath.fsum(each)

        beta = mpmath.mpf(1)
        if waits:
            last = above or callers
            beta = mpmath.fsum(
                mpmath.mpf(full) ** (n - threads) * asking(n) / asking(threads)
                for n in range(threads, last + 1)
            )
        return [
            mpmath.fsum(
                asking(n)
                * mpmath.mpf(odds) ** k
                / mpmath.factorial(k)
                * mpmath.mpf(elsewhere) ** (n - k)
                / mpmath.factorial(n - k)
                * (beta if n == threads else 1)
                for n in range(k, threads + 1)
            )
            for k in range(threads + 1)
        ]


@pytest.mark.parametrize(
    "given",
    [
        (3, 0, 3, 0, 0.4, 0.7, 0.0, 0.0, 0.0),
        (3, 0, 12, 1, 0.1, 0.2, 0.0, 0.05, 0.0),
        (4, 0, 9, 1, 0.3, 0.0, 0.0, 0.3, 0.0),
        (3, 7, 30, 1, 0.02, 0.01, 0.05, 0.02, 0.01),
        (6, 6, 6, 1, 0.2, 0.1, 0.4, 0.1, 0.2),
    ],
    ids=str,
)
def test_coefficients_are_the_sums_of_the_law(given):
    counts, values = given[:4], given[4:]
    found, room = np.zeros((given[0], 1)), np.zeros(2 * (HIGHEST + 1))
    arrays = [np.array([n]) for n in counts], [np.array([[value]]) for value in values]
    pool_ratios(*arrays[0], *arrays[1], found, room)
    b = coefficients_of(*given)
    right = [float(b[k] / b[k - 1]) for k in range(1, given[0] + 1)]
    assert found.ravel() == pytest.approx(right, rel=1e-9)


def test_a_stream_from_outside_is_cut_off_at_the_threads():
    """M/M/1 with three threads: weights 0.8^k / k! up to 3, and those beyond counted as 3."""
    rate, found, room = 0.8 / MANY, np.zeros((3, 1)), np.zeros(2 * (HIGHEST + 1))
    nothing = np.zeros((1, 1))
    counts = (np.array([n]) for n in (3, 0, MANY, 1))
    one = np.array([[rate]])
    pool_ratios(*counts, one, nothing, nothing, one, nothing, found, room)
    assert found.ravel() == pytest.approx([0.8, 0.4, 0.8 / 3 / 0.2], rel=1e-4)


def capacities(threads, loads, elsewhere, coming, callers, others=0.0):
    """Rates of one pool at single servers, beside others."""
    found, bare = np.zeros((threads, 1)), np.zeros((1, 1))
    stations = np.array([0, len(loads)]), np.ones(len(loads), int), np.full(len(loads), -1)
    each = np.array(loads).reshape(-1, 1)
    beside = others + 0 * each
    values = each, beside, np.array([[elsewhere]]), np.array([[coming]])
    room = np.zeros(2 * (MOST + 1))
    pool_capacities(np.array([threads]), *stations, np.array([callers]), *values, found, bare, room)
    return found.ravel(), float(bare[0, 0])


def test_rates_rise_as_the_throughput_of_a_closed_network():
    """By mean value analysis of two stations and a delay."""
    queues, through = np.zeros(2), []
    loads = np.array([0.3, 0.2])
    for n in range(1, 7):
        times = loads * (1 + queues)
        through.append(n / (0.5 + times.sum()))
        queues = through[-1] * times
    found, bare = capacities(6, [0.3, 0.2], 0.5, 0.4, 20)
    assert found / found[0] == pytest.approx(np.array(through) / through[0], rel=1e-12)
    assert bare == pytest.approx(through[-1], rel=1e-12)


def test_clients_at_a_server_leave_a_share_of_it():
    """Three others: l threads get l / (l + 3) of the server."""
    w = [1.0]
    for n in range(1, 5):
        states = range(n + 1)
        rates = [np.prod([each / (each + 3) for each in range(1, k + 1)]) for k in states]
        w.append(sum(0.2**k / rates[k] * 0.4 ** (n - k) / factorial(n - k) for k in states))
    found, bare = capacities(4, [0.2], 0.4, 0.1, 30, others=3.0)
    right = [w[n - 1] / w[n] for n in range(1, 5)]
    assert found / found[0] == pytest.approx(np.array(right) / right[0], rel=1e-12)
    assert bare == pytest.approx(right[-1], rel=1e-12)


def test_threads_are_freed_as_often_as_their_mean_time_says():
    """E c(n) = E n for the numbers of threads that 9 callers keep busy, and c(T) = T if all are."""
    found, _ = capacities(3, [0.6], 0.2, 0.15, 9)
    weights = [1.0]
    for n in range(1, 10):
        weights.append(weights[-1] * (10 - n) * 0.15 / found[min(n, 3) - 1])
    p = np.array(weights) / sum(weights)
    busy = np.minimum(np.arange(10), 3)
    assert p[1:] @ found[busy[1:] - 1] == pytest.approx(p @ busy, rel=1e-9)
    always, _ = capacities(3, [0.6], 0.2, 1e3, 9)
    assert always[-1] == pytest.approx(3.0, rel=1e-3)


def test_points_solved_at_once_are_those_solved_alone():
    """Also where a pool below is full before its processor at some points only."""

    def system(demand):
        tasks = {"web": Task("few", 6), "db": Task("disks", 2)}
        entries = {
            "page": Entry("web", Step("page", demand, calls={"read": 2.0}), 6.0),
            "read": Entry("db", Step("read", 0.02, think_time=0.03)),
        }
        processors = {"few": Processor(1), "disks": Processor(2)}
        return LayeredSystem("shop", processors, tasks, entries)

    demands = np.array([0.01, 0.05, 0.1, 0.14])
    together = by_layers(system(demands)).entries["page"].first_phase
    alone = [float(by_layers(system(each)).entries["page"].first_phase) for each in demands]
    assert together == pytest.approx(alone, rel=1e-6)
