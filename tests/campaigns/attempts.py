"""How far method attempts is off: beside simulations of random servers whose clients ask again.

``python -m tests.campaigns.attempts --count 40`` draws servers of 1 to 8, timeouts of 3 to 15
service times, up to 4 retries after none to two timeouts of backoff, at 30 to 90% of the load up
to which the good state lasts (or of capacity), and prints the largest relative errors of throughput
and response time. Where a simulation tips over, or would take more than 30 s, its server is left
out. `headway.queueing.retries.methods` states them.
"""

import argparse

import numpy as np

from headway.errors import InvalidParameter, Saturated
from headway.models import ModelGraph
from headway.queueing import MMm
from headway.queueing.flows.clients import Clients
from headway.queueing.retries.times import TimedQueue
from headway.queueing.retries.tipping import folds


def drawn(number):
    """A random server, its clients and its load."""
    draw = np.random.default_rng(number)
    servers, timeout = int(draw.integers(1, 9)), draw.uniform(3.0, 15.0)
    numbers = {
        "timeout": timeout,
        "retries": int(draw.integers(1, 5)),
        "backoff": draw.choice([0.0, 0.5, 2.0]) * timeout,
        "jitter": draw.choice([0.0, 0.5]),
    }
    queue = TimedQueue(1.0, servers, timeout)
    found = folds(queue, Clients(**numbers))
    most = servers if found is None else min(found.tips, servers)
    return servers, numbers, draw.uniform(0.3, 0.9) * most


def error(number):
    """Relative errors of throughput and response time; None where the simulation tips over."""
    servers, numbers, load = drawn(number)
    model = ModelGraph("server").station("server", MMm(1.0, servers)).impatient(numbers)
    model = model.at(arrival_rate=load)
    solved = model.solve()
    try:
        found = model.simulate(0.01, seed=number + 1, at_most=30.0)
    except (Saturated, InvalidParameter):
        return None
    names = ("throughput", "response_time")
    return [abs(solved[name] / found[name].mean - 1) for name in names]


def main():
    """Print the largest errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40)
    errors = [one for one in map(error, range(parser.parse_args().count)) if one]
    print(len(errors), "servers; largest errors [%]:", *np.round(100 * np.max(errors, axis=0), 2))


if __name__ == "__main__":
    main()
