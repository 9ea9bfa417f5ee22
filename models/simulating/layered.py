"""Layered services simulated: replicas of their event loop, and the results of each."""

from functools import partial
from math import inf

import numpy as np

from headway.errors import Saturated
from headway.models.simulating.game import Game
from headway.models.simulating.jobs import check_one_point
from headway.models.simulating.planning import Schedule
from headway.models.simulating.replica import Replica, Results
from headway.models.solving.layered.layered_values import layered_system, numbers_of
from headway.models.structure.model import Model
from headway.models.structure.outputs import percentile_name
from headway.queueing.layers.copies import per_copy, written_out
from headway.queueing.layers.growth import piling_up
from headway.queueing.layers.means import EntryMeans, LayeredMeans
from headway.queueing.layers.playing import LayeredRun, Window
from headway.queueing.layers.score import score_of
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.playing.times import Times

CYCLES = 10
"""Number of cycles of each client that make a replica long enough. Chosen."""

PILOT = 20_000
"""Events of the pilot. Chosen."""

LONGER = 4
"""Ratio of the time that counts to the warm-up. Chosen."""


def layered_game(model: Model) -> Game:
    """Plan the simulation of layered services.

    A pilot measures how many events a cycle has.

    Parameters
    ----------
    model
        A model with one operating point.

    Raises
    ------
    GraphError
        For services that cannot be simulated, several operating points, and queues that grow
        without limit.
    """
    check_one_point(model)
    system = layered_system(model)
    run, pilot = _run(system, 0, 0), PILOT
    run.play(inf, pilot)
    clients = sum(run.score.clients)
    cycles = sum(times.count for times in run.window().times)
    events = max(pilot, CYCLES * clients * run.events / max(cycles, 1))
    warm_up = run.now * events / run.events
    planned = Schedule(warm_up, LONGER * warm_up, (1 + LONGER) * events)
    return Game(partial(layered_replica, model), planned)


def layered_replica(
    model: Model, planned: Schedule, percentiles: tuple[float, ...], seed: int, number: int
) -> Replica:
    """Simulate once.

    Parameters
    ----------
    model
        A model with one operating point.
    planned, percentiles, seed, number
        As for `headway.models.simulating.replica.replica`.

    Raises
    ------
    Saturated
        For a queue of messages or of requests from outside that grows without limit.
    """
    system = layered_system(model)
    run = _run(system, seed, number)
    run.play(planned.warm_up)
    run.window()
    before = run.waiting
    run.play(planned.horizon)
    after, window = run.waiting, run.window()
    if name := piling_up(run.system, before, after, window.counts[0]):
        msg = (
            f"entry {name}: its queue grows without limit, so it cannot be simulated; send it "
            "less, or give its task more threads"
        )
        raise Saturated(msg)
    return Replica(_results(model, system, window, percentiles), run.events)


def _run(system: LayeredSystem, seed: int, number: int) -> LayeredRun:
    copies = written_out(system)
    return LayeredRun(copies, score_of(copies), seed, number)


def _results(
    model: Model, system: LayeredSystem, window: Window, percentiles: tuple[float, ...]
) -> Results:
    """Means by Little's law, from time integrals and counts, and percentiles of all cycles."""
    begun, answered, ended = np.maximum(window.counts, 1.0)
    waiting, first, second = window.areas
    rate = window.counts[1] / window.time
    columns = zip(rate, waiting / begun, first / answered, second / ended, strict=True)
    copies = written_out(system)
    entries = {
        name: EntryMeans(*map(float, each))
        for name, each in zip(copies.entries, columns, strict=True)
    }
    means = per_copy(LayeredMeans(copies, entries), system)
    layers = model.graph.layers
    assert layers is not None  # noqa: S101 - there is a system
    found = numbers_of(means, layers)
    values = model.graph.plan.run({**model.inputs, **found}, model.graph.outputs)
    results = {name: float(np.ravel(values[name])[0]) for name in (*found, *model.graph.outputs)}
    times = Times.of_all(window.times)
    return results | {percentile_name(p): times.percentile(p) for p in percentiles}
