"""The method for closed networks in which requests fork."""

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.forks.closed import APPROXIMATION, SOME, solve_forked
from headway.queueing.forks.parts import some_needed
from headway.queueing.methods.method import Error
from headway.queueing.network.network import Network
from headway.queueing.network.result import Result, one_class_result
from headway.queueing.stations.rows import in_a_row

FORK_JOIN = "fork-join"


def error(network: Network) -> Error:
    """The error for a closed network with forks (``python -m tests.campaigns.closed_forks``)."""
    some = any(some_needed(station) for station in network.kinds)
    region = "up to 64 branches and 50 jobs"
    return Error(
        *((6.0, 12.0) if some else (4.0, 6.0)), region, "python -m tests.campaigns.closed_forks"
    )


def joined(network: Network) -> Result:
    """Solve one closed class at stations, some of which fork, by mean value analysis."""
    jobs, every = network.population[0], network.visits[0]
    own = every if network.own_visits is None else network.own_visits

    def row(value: Amount) -> FloatArray:
        return np.broadcast_to(np.asarray(value, float), network.shape).reshape(-1)

    laid = [in_a_row(station, row) for station in network.kinds]
    names = tuple(name or str(k) for k, name in enumerate(network.names))
    solution = solve_forked(
        dict(zip(names, laid, strict=True)),
        {names[fork]: [names[k] for k in parts] for fork, parts in network.branches.items()},
        dict(zip(names, every, strict=True)),
        dict(zip(names, own, strict=True)),
        jobs,
        network.think_time[0],
    )
    residence = np.where(jobs > 0, own * solution.response, 0.0)
    through = every * solution.throughput
    speeds = np.array([row(station.speedup) for station in network.kinds])
    used = through * network.service_times[0] / speeds
    label = SOME if any(some_needed(station) for station in laid) else APPROXIMATION
    return one_class_result(
        network.shape,
        FORK_JOIN,
        label,
        (solution.throughput, residence.sum(axis=0)),
        (used, through * solution.response, residence, solution.response, through),
    )
