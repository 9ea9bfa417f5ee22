"""M^X/G/1 and M^X/M/m: published laws, whole Markov chains, and limits where they become others."""

import numpy as np
import pytest

from headway.errors import GraphError
from headway.queueing.erlang.formulas import erlang_c
from headway.queueing.flows.batch_sizes import BatchSizes
from headway.queueing.variability.batches import batch_wait

SIZES = {
    "constant": BatchSizes(constant=4.0),
    "geometric": BatchSizes(geometric=3.0),
    "table": BatchSizes(((1, 0.25), (2, 0.5), (7, 0.25))),
}


def chances(sizes, most):
    """Probability of each size, from 0 to the most."""
    if sizes.geometric is not None:
        q = 1 - 1 / sizes.geometric
        return np.r_[0, (1 - q) * q ** np.arange(most)]
    found = np.zeros(most + 1)
    for size, chance in sizes.rows:
        found[size] = chance
    return found


def bulk_queue(sizes, rate, servers, most=500):
    """Mean wait in M^X/M/m with services of 1 s, by its Markov chain cut at so many jobs."""
    size = chances(sizes, most)
    batches = rate / (size @ np.arange(most + 1))
    generator = np.zeros((most + 1, most + 1))
    for n in range(most + 1):
        generator[n, n + 1 :] += batches * size[1 : most + 1 - n]
        if n:
            generator[n, n - 1] = min(n, servers)
    np.fill_diagonal(generator, -generator.sum(axis=1))
    equations = np.vstack([generator.T, np.ones(most + 1)])
    found = np.linalg.lstsq(equations, np.r_[np.zeros(most + 1), 1.0], rcond=None)[0]
    return found @ np.arange(most + 1) / rate - 1


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize(("servers", "load"), [(1, 0.7), (2, 0.3), (3, 0.7), (6, 0.5)])
def test_means_are_those_of_the_chain(name, servers, load):
    """Up to what the chain cuts off: at 500 jobs less than 1e-9 of them."""
    exact = bulk_queue(SIZES[name], load * servers, servers)
    found = batch_wait(SIZES[name], load * servers, 1.0, 1.0, float(servers))
    assert found == pytest.approx(exact, rel=1e-7)


def test_carloads_wait_as_a_hand_calculates():
    """Four batches of 1, 2 or 3 an hour, 3 minutes each: 0.0333333 + 0.0520833 h."""
    sizes = BatchSizes(((1, 0.25), (2, 0.5), (3, 0.25)))
    assert batch_wait(sizes, 8.0, 0.05, 1.0, 1.0) == pytest.approx(0.0854167, abs=1e-7)


def test_single_jobs_are_those_of_pollaczek_and_khinchine():
    for scv in (0.0, 0.3, 1.0, 4.0):
        found = batch_wait(BatchSizes(constant=1.0), 0.8, 1.0, scv, 1.0)
        assert found == pytest.approx(0.8 * (1 + scv) / 2 / 0.2, rel=1e-12)


@pytest.mark.parametrize("servers", [2.0, 5.0, 40.0])
def test_single_jobs_at_several_servers_are_those_of_erlang(servers):
    load = 0.8 * servers
    found = batch_wait(BatchSizes(geometric=1.0), load, 1.0, 1.0, servers)
    assert found == pytest.approx(erlang_c(servers, load) / (servers - load), rel=1e-10)


def test_one_server_is_one_of_several():
    """The recursion of m servers and the law of one meet at m = 1, in one call of both."""
    found = batch_wait(SIZES["table"], np.array([0.5, 0.5]), 1.0, 1.0, np.array([1.0, 2.0]))
    assert found[0] == pytest.approx(batch_wait(SIZES["table"], 0.5, 1.0, 1.0, 1.0), rel=1e-12)


def test_in_an_empty_queue_jobs_wait_for_their_batch():
    """As nobody else comes: the mean over a batch of 4 of (0 + 1 + 2 + 3) / 4, or of two pairs."""
    assert batch_wait(SIZES["constant"], 1e-9, 1.0, 0.0, 1.0) == pytest.approx(1.5, rel=1e-6)
    alone = batch_wait(SIZES["constant"], 0.0, 1.0, 1.0, 2.0)
    assert alone == pytest.approx((0 + 0 + 0.5 + 1.0) / 4, rel=1e-6)
    assert batch_wait(SIZES["constant"], 0.0, 1.0, 1.0, 4.0) == pytest.approx(0.0, abs=1e-9)


def test_a_saturated_queue_grows():
    for servers in (1.0, 3.0):
        waits = batch_wait(SIZES["table"], np.array([0.5, 1.0, 2.0]) * servers, 1.0, 1.0, servers)
        assert np.isfinite(waits).tolist() == [True, False, False]


def test_each_point_has_its_sizes():
    sizes = BatchSizes(constant=np.array([1.0, 4.0]))
    for servers in (1.0, 3.0):
        both = batch_wait(sizes, 0.5, 1.0, 1.0, servers)
        each = [batch_wait(BatchSizes(constant=n), 0.5, 1.0, 1.0, servers) for n in (1.0, 4.0)]
        assert both == pytest.approx(each, rel=1e-12)


def test_service_at_several_servers_must_be_exponential():
    with pytest.raises(GraphError, match="make it an MMm, or simulate"):
        batch_wait(SIZES["table"], 0.5, 1.0, 0.5, 2.0)


def test_too_many_servers_are_refused():
    with pytest.raises(GraphError, match="more than 10,000 servers"):
        batch_wait(SIZES["table"], 0.5, 1.0, 1.0, 20_000.0)
