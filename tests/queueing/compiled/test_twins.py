"""Kernels in C and their twins in Python say the same, and a spoilt call touches no memory."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest
from scipy.sparse import csr_array

from headway.models.simulating.playing.run import arguments
from headway.models.simulating.playing.state import opening
from headway.queueing.compiled.library import LIBRARY, SWITCH, TWINS, compiled
from headway.queueing.layers import score as layers
from headway.queueing.layers.chain import Room, program_arguments
from headway.queueing.layers.numerics.finite import ROWS
from headway.queueing.layers.numerics.pools import HIGHEST, MANY, MOST
from headway.queueing.layers.program import program_of
from headway.queueing.playing.laws import law_of
from headway.queueing.playing.rows import IntArray, Law, Stream, rows
from headway.queueing.transient import careful
from headway.queueing.transient.systems import poles_of_orders
from tests.support.cases import mostly_slow
from tests.support.layered_systems import closed_meeting, closed_system
from tests.support.layers import layered_system, with_meeting
from tests.support.played import PLAYED

DIGITS = 1e-13  # both round each operation to 1e-16, in the same order or nearly so

Arguments = tuple[object, ...]


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _inverse_polynomial(seed: int) -> Arguments:
    servers, points = int(random(seed).integers(1, 129)), int(random(seed).integers(1, 1200))
    return servers, random(seed).uniform(1e-3, servers, points), np.empty(points)


def _one_class_recursion(seed: int) -> Arguments:
    """From none to half of the jobs, or on: some networks, each at several populations."""
    draw = random(seed)
    stations, networks = int(draw.integers(1, 6)), int(draw.integers(1, 20))
    each = draw.integers(0, 4, networks)
    begins = np.concatenate([[0], np.cumsum(each)])
    population = np.concatenate(
        [np.zeros(0, int), *(np.sort(draw.integers(0, 50, n)) for n in each)]
    )
    shape = stations, networks
    start, length = (0, np.zeros(shape)) if seed % 2 else (20, draw.uniform(0, 5, shape))
    network = (
        draw.uniform(0, 1, shape),
        1 / draw.integers(1, 3, shape),
        draw.uniform(0.1, 9, networks),
    )
    answers = np.zeros(population.size), np.zeros((stations, population.size))
    return *network, start, 40, begins, population, length, *answers


def _lattice_planes(seed: int) -> Arguments:
    draw = random(seed)
    classes, points, stations = (int(draw.integers(1, n)) for n in (5, 4, 6))
    largest = draw.integers(0, 6, (classes, points))
    sizes = largest.max(axis=1) + 1
    steps = np.array([*(np.prod(sizes[c + 1 : -1]) for c in range(classes - 1)), 0], int)
    planes = np.ones((2, points, steps.max() + np.prod(sizes[:-1], dtype=int), stations))
    demand = draw.uniform(0, 1, (classes, points, stations))
    network = (
        demand,
        demand / draw.integers(1, 3, stations),
        draw.uniform(0.1, 9, (classes, points)),
    )
    last = int(largest.sum(axis=0).max())
    return *network, largest, steps, 1, last + 1, *planes, np.zeros(classes, int)


def _of_populations(arguments: Arguments) -> list[object]:
    """The plane of a point's largest population, of which the kernel alone fills no other cells."""
    *_, largest, steps, _, stop, before, after, _ = arguments
    own = np.flatnonzero(largest.sum(axis=0) == stop - 1)
    last = (before, after)[(stop - 1) % 2]
    return [last[own, steps.max() + steps @ largest[:, own]]]


def _steady_steps(seed: int) -> Arguments:
    """From every class spread evenly; some classes have no jobs, some stations no visits."""
    draw = random(seed)
    classes, stations, points = (int(draw.integers(1, 7)) for _ in range(3))
    least = draw.uniform(0, 1, (classes, stations, points)) * (
        draw.random((classes, stations, 1)) > 0.2
    )
    think = draw.uniform(0.1, 9, (classes, points))
    population = draw.integers(0, 60, (classes, points)) * 1.0
    queue = np.repeat(population[:, None], stations, axis=1) / stations
    gain, extra = least / draw.uniform(0.5, 1, (stations, points)), np.ones((stations, points))
    found = extra + queue.sum(axis=0)
    rate = population / (think + (least * found).sum(axis=1))
    correction = draw.uniform(-0.01, 0, queue.shape)
    tolerances = np.full(int(draw.integers(1, 40)), 1e-9)
    course = np.ones(points), np.full(points, np.inf), np.zeros(1)
    work = np.empty((points + 4) * (classes + 1) * (stations + 1) + stations**2)
    given = gain, least, extra, correction, think, population, tolerances
    return *given, 0, rate, found, queue, *course, work


def _closed_convolution(seed: int) -> Arguments:
    """Speeds of pools, or any, for all points or for each; populations alike, and not."""
    draw = random(seed)
    points, singles, several = int(draw.integers(1, 40)), *map(int, draw.integers(0, 4, 2))
    lengths = draw.integers(1, 9, several)
    widths = np.where(draw.random(several) < 0.5, 1, points)
    each = [draw.uniform(1, 4, (n, w)) for n, w in zip(lengths, widths, strict=True)]
    population = np.full(points, 30) if seed % 2 else draw.integers(0, 30, points)
    network = (
        draw.uniform(0, 20, points),
        draw.uniform(0.1, 0.95, (singles, points)),
        draw.integers(1, 4, (singles, points)) * 1.0,
        draw.uniform(0.1, 0.95, (several, points)),
        np.concatenate([np.zeros(0), *(speeds.ravel() for speeds in each)]),
        lengths,
        widths,
        np.ceil(lengths[:, None] * draw.random((several, points))),  # a crew of no more than speeds
        population,
    )
    answers = (np.empty((n, points)) for n in (1, singles, several, several))
    rate, *others = answers
    work = np.empty(8 * (3 + max(several, 1)) * (int(population.max()) + 1))
    return *network, rate[0], *others, np.empty(points), work


def _passing_rounds(seed: int) -> Arguments:
    """Of routes that some leave by: rounds enough to settle, or a round of nobody."""
    draw = random(seed)
    rows, columns = int(draw.integers(1, 30)), 8 * int(draw.integers(1, 5))
    onward = draw.random((rows, rows)) * (draw.random((rows, rows)) < 0.3)
    onward *= draw.uniform(0, 0.9) / np.maximum(onward.sum(axis=1, keepdims=True), 0.1)
    starts = np.concatenate([[0], np.cumsum((onward > 0).sum(axis=1))])
    targets, weights = np.nonzero(onward)[1], onward[onward > 0]
    passing, first = draw.random((2, rows, columns))
    routes = starts.astype(np.int64), targets.astype(np.int64), weights
    return *routes, passing, first, 1e-15, 1000, first.copy(), np.ones(1, np.int64)


def _play(seed: int) -> Arguments:
    """Networks that fill every array, by turns; the state is that after 50 events."""
    names = ("every array", "unequal servers, fastest first", "fork, closed", "region, closed")
    score = PLAYED[names[seed % len(names)] if seed > 1 else names[0]]()
    state = opening(score, seed, 0, kept=True)
    TWINS["play"](*arguments(score, state), 1e9, 50)
    return (*arguments(score, state), 1e9, 300)


def _play_program(seed: int) -> Arguments:
    """Layered systems that use all that there is; the state is that after 50 events."""
    system = layered_system(seed)
    score = layers.score_of(with_meeting(system, seed) if seed % 3 == 1 else system)
    state = layers.opening(score, seed, 0)
    TWINS["play_program"](*layers.arguments(score, state, 1e9, 50))
    return layers.arguments(score, state, 1e9, 300)


def _explore_program(seed: int) -> Arguments:
    """States behind the first 30, of systems with all that a chain may have."""
    system = closed_meeting(seed) if seed % 3 == 1 else closed_system(seed)
    program = program_of(system)
    score = layers.score_of(system)
    room = Room(3000 if seed % 4 else 50, score, 40)
    given = program_arguments(score, program)
    TWINS["explore_program"](*given, *room.arrays(), 30)
    room.search["listed"] = 0  # the twin does without the table
    return *given, *room.arrays(), 200


def _balancing_sweeps(seed: int) -> Arguments:
    """Chains that reach all of their states, each with some moves out."""
    draw = random(seed)
    count = int(draw.integers(2, 40))
    flows = draw.uniform(0.1, 5, (count, count)) * (draw.random((count, count)) < 0.3)
    flows[np.arange(count), np.arange(count) - 1] = 1.0
    np.fill_diagonal(flows, 0.0)
    into = csr_array(flows)
    moves = into.indptr.astype(np.int64), into.indices.astype(np.int64), into.data
    return *moves, flows.sum(axis=0), draw.uniform(0, 1, count), int(draw.integers(1, 5))


def _complex_geometric(seed: int) -> Arguments:
    draw = random(seed)
    rows, columns = int(draw.integers(1, 90)), int(draw.integers(1, 80))
    return draw.uniform(-0.7, 0.7, 2 * columns), draw.uniform(-1, 1, 2 * columns * rows)


def _real_geometric(seed: int) -> Arguments:
    """Of few columns, of many, and of one that is very long."""
    draw = random(seed)
    rows, columns = int(draw.integers(1, 90)), int(draw.integers(1, 30)) if seed % 3 else 1
    rows += 20_000 * (seed == 3)
    return draw.uniform(0, 0.9, columns), draw.uniform(0, 1, columns * rows)


def _absorbing_steps(seed: int) -> Arguments:
    draw = random(seed)
    count = int(draw.integers(1, 40))
    moves = draw.uniform(0, 1, (count, count)) * (draw.random((count, count)) < 0.4)
    moves /= 1.2 * np.maximum(moves.sum(axis=0), 0.1)
    into = csr_array(moves)
    chain = into.indptr.astype(np.int64), into.indices.astype(np.int64), into.data
    inside = draw.uniform(0, 1, count)
    after, left, made = np.zeros(count), np.zeros(300), np.zeros(1, np.int64)
    return *chain, 1 - moves.sum(axis=0), inside, after, left, 1e-3, int(seed) % 9, made


def _careful_step(seed: int) -> Arguments:
    """Probabilities alone, or with two moments, of one start or several; with and without room."""
    draw = random(seed)
    states, columns = int(draw.integers(1, 40)), int(draw.integers(1, 5))
    moments = 1 + 2 * (seed % 3)
    first, places = int(draw.integers(0, 60)), -1
    if seed % 4 == 0:
        places = first + states - 1 + int(draw.integers(0, 3))
    state = draw.uniform(0, 1, (states, moments, columns)) / states / columns
    numbers, most = 500, 200
    rates, gains = draw.uniform(1, 9, numbers), draw.uniform(0, 1, (moments // 2, 3, numbers))
    window = np.array([first, states, draw.integers(0, first + 1), places, seed % 2, 0])
    times = np.array([draw.uniform(0.01, 9), draw.uniform(0.1, 3), 1e-9, 0.0, careful.OUTSIDE])
    poles, of_first = poles_of_orders()
    row = moments * columns
    work = np.empty(most * (row + 2 + (len(poles) + 1) * (4 + 2 * row)))
    by = poles, of_first, careful.MARGIN, moments, columns, float(10.0 ** draw.integers(-8, -2))
    ends = np.zeros(most * row), np.zeros(most * columns)
    return window, times, state, rates, gains, float(draw.uniform(0, 9)), *by, *ends, work


def _flood_steps(seed: int) -> Arguments:
    """A pulse of some, with what is dropped, and with a budget or without."""
    draw = random(seed)
    retries, steps = int(draw.integers(1, 5)), int(draw.integers(1, 400))
    wait = draw.integers(1, 90, (2, retries))
    queue = np.array([0.01, 0.1, draw.choice([0.05, np.inf]), 0.002, 0.8])
    clients = np.array([draw.uniform(0.5, 1), np.inf, np.inf, np.inf])
    if seed % 2:
        clients[1:] = draw.uniform(0.05, 0.5), 10.0, 20.0
    comes = np.zeros((retries + 1, steps + 1 + int(wait.max(initial=0))))
    comes[0] = draw.uniform(0.1, 1)
    comes[0, 0] += draw.uniform(0, 100)
    return queue, clients, wait, comes, np.zeros(steps), np.zeros(steps), np.zeros(1, np.int64)


def _lives(seed: int) -> Arguments:
    """A few states of a small server, with backoffs that vary, clients who give up, and limits."""
    draw = random(seed)
    servers, load = int(draw.integers(1, 6)), draw.uniform(0.4, 0.9)
    timeout, waiting = draw.uniform(0.5, 5), float(draw.choice([0, 3, 10, np.inf]))
    backoff = law_of(timeout * float(draw.choice([0.2, 0.5])), float(draw.choice([0.0, 0.4, 1.0])))
    laws = law_of(1 / (load * servers), 1.0), law_of(1.0, 1.0), backoff
    streams = [Stream(int(key)) for key in draw.integers(0, 2**62, 3)]
    how = (1.0, 1.0, 0.0) if seed % 2 else (0.8, 1.5, 0.5)
    budget = float(draw.choice([0.3, np.inf]))
    bad = 2.0 * servers, np.inf, np.inf, 9 * timeout, 4.0
    good = -1.0, 3.0 * servers, 4 * timeout, 0.0, 0.0
    ends, rush = (good, 0) if seed % 3 == 0 else (bad, 40)
    numbers = timeout, timeout * draw.uniform(0.5, 1.5), *ends, *how, 3.0, budget, 100.0, 10.0
    return (
        rows(Law, laws).view(np.int64),
        rows(Stream, streams).view(np.int64),
        np.array([*numbers, waiting]),
        np.array([rush, 3000, 5]),
        np.zeros(servers),
        np.zeros(int(max(waiting, 1)) if waiting < np.inf else 1),
        np.zeros(3 * 2000, np.int64),
        np.zeros(4),
    )


def _at_points(seed: int, counts: IntArray, points: int, least: int = 1) -> IntArray:
    """Whole numbers of rows: the same at all points, or up to as many at each."""
    if seed % 2:
        return counts
    each = random(seed).integers(least, counts[:, np.newaxis] + 1, (counts.size, points))
    each[:, 0] = counts
    return each


def _finite_stations(seed: int) -> Arguments:
    """One to four classes at each of a few stations, some with a law or with rates of their own."""
    draw = random(seed)
    stations, points = int(draw.integers(1, 5)), int(draw.integers(1, 4))
    each = draw.integers(0, 5, stations)
    begins = np.concatenate([[0], np.cumsum(each)])
    most = draw.integers(1, 2 + 20 * (seed % 3), begins[-1])
    servers = draw.integers(1, 9, stations)
    odds = 10 ** draw.uniform(-1, 1, (most.size, points))
    law = np.where(draw.random(most.size) < 0.5, np.cumsum(most) - most, -1)
    freed = np.where(draw.random(stations) < 0.5, np.cumsum(servers) - servers, -1)
    k = np.concatenate([np.arange(1, n + 1) for n in [0, *most]])[:, np.newaxis]
    ratios = np.repeat(odds, most, axis=0) * draw.uniform(0.5, 1, (k.size, points)) / k
    rates = np.concatenate([np.arange(1, m + 1) for m in servers])[:, np.newaxis] ** 0.8
    numbers = np.zeros((3, stations, points))
    room = np.zeros(ROWS * (int(most.sum()) + 1))
    results = *numbers, odds.copy(), odds.copy()
    given = odds, ratios, np.repeat(rates, points, axis=1)
    counts = _at_points(seed, servers, points), _at_points(seed, most, points)
    return begins, *counts, law, freed, *given, *results, room


def _first_to_leave(seed: int) -> Arguments:
    """With more servers than members at some stations."""
    begins, servers, most, *_ = _finite_stations(seed)
    odds, numbers = _finite_stations(seed)[5], _finite_stations(seed)[8]
    draw = random(seed + 1)
    nodes, weights = np.polynomial.laguerre.laggauss(12)
    service = 10 ** draw.uniform(-2, 1, odds.shape)
    work = np.zeros(10 * (len(most) + 2))
    given = begins, servers, most, odds, service, nodes, weights * np.exp(nodes)
    return *given, np.zeros_like(numbers), work


def _pool_ratios(seed: int) -> Arguments:
    """Callers from outside, clients, and threads of pools above, with a full pool or without."""
    draw = random(seed)
    classes, points = int(draw.integers(1, 5)), int(draw.integers(1, 4))
    threads = draw.integers(1, 2 + 30 * (seed % 2), classes)
    above = draw.integers(0, 2, classes) * draw.integers(1, 40, classes)
    callers = np.maximum(threads, above) + draw.integers(0, 30, classes)
    callers[0] = MANY
    shape = classes, points
    outside = callers[:, np.newaxis] / 10 ** draw.uniform(-1, 2, shape)
    odds, elsewhere, higher = 10 ** draw.uniform(-2, 0, (3, *shape)) / outside
    elsewhere *= draw.integers(0, 2, (classes, 1))
    full = draw.uniform(0, 1.2, (2, *shape)) / callers[:, np.newaxis]
    result, work = np.zeros((threads.sum(), points)), np.zeros(2 * (HIGHEST + 1))
    fewer = _at_points(seed // 2, threads, points), _at_points(seed // 2, above, points, 0)
    numbers = *fewer, callers, draw.integers(0, 2, classes)
    return *numbers, odds, elsewhere, higher, *full, result, work


def _pool_capacities(seed: int) -> Arguments:
    """Pools above others, of one thread to more than are followed."""
    draw = random(seed)
    pools, points = int(draw.integers(1, 4)), int(draw.integers(1, 4))
    threads = draw.integers(1, 2 + 70 * (seed % 3), pools)
    callers = np.where(draw.random(pools) < 0.5, MANY, threads + draw.integers(0, 30, pools))
    each = draw.integers(1, 4, pools)
    begins = np.concatenate([[0], np.cumsum(each)])
    servers, lower = draw.integers(1, 5, begins[-1]), np.full(begins[-1], -1)
    for pool in range(1, pools):
        servers[begins[pool]] = threads[pool - 1]
        lower[begins[pool]] = threads[: pool - 1].sum()
    loads, others = draw.uniform(0, 1, (2, begins[-1], points))
    others *= 5 * draw.integers(0, 2, (begins[-1], 1))
    elsewhere = draw.uniform(0, 1, (pools, points))
    coming = 10 ** draw.uniform(-2, 1, (pools, points)) / callers[:, np.newaxis]
    results = np.zeros((threads.sum(), points)), np.zeros((pools, points))
    fewer, m = _at_points(seed // 2, threads, points), _at_points(seed // 2, servers, points)
    for pool in range(1, pools):
        m[begins[pool]] = fewer[pool - 1]
    counts = fewer, begins, m, lower, callers
    given = loads, others, elsewhere, coming
    return *counts, *given, *results, np.zeros(2 * (MOST + 1))


def _waits_of_one(seed: int) -> Arguments:
    draw = random(seed)
    servers, points = int(draw.integers(1, 5)), int(draw.integers(1, 4))
    each = draw.integers(1, 4, servers)
    shape = each.sum(), points
    scv = np.where(draw.random(shape) < 0.3, 1.0, 10 ** draw.uniform(-2, 1, shape))
    kinds = draw.uniform(0, 1, shape), draw.uniform(0, 2, shape), scv
    away, result = draw.uniform(1, 9, (servers, points)), np.zeros((servers, points))
    begins = np.concatenate([[0], np.cumsum(each)])
    members = _at_points(seed, draw.integers(1, 30, servers), points)
    return begins, members, away, *kinds, result


def _weighted_sums(seed: int) -> Arguments:
    """Several tables of rows, with weights that are the same at all points or not."""
    draw = random(seed)
    sums, points = int(draw.integers(1, 6)), int(draw.choice([1, 3, 700]))
    tables, height = int(draw.integers(1, 4)), int(draw.integers(1, 8))
    each = draw.integers(1, 5, sums)
    begins = np.concatenate([[0], np.cumsum(each)])
    weights = draw.uniform(0, 1, (each.sum(), points if seed % 2 else 1))
    values = draw.uniform(0, 2, (tables, height, points))
    rows = draw.integers(0, height, each.sum())
    return rows, begins, weights, values, points, np.zeros((tables, sums, points))


def _unanswered_steps(seed: int) -> Arguments:
    """Attempts of which some wait, behind all jobs or behind few of them."""
    draw = random(seed)
    first, jobs = int(draw.integers(1, 5)), int(draw.integers(6, 40))
    rows = int(draw.integers(1, jobs - first))
    chances, served = draw.uniform(0, 0.3, (4, jobs)), draw.uniform(0, 1, jobs)
    waits = np.triu(draw.uniform(0, 1, (rows, jobs)), first)
    room = np.zeros(jobs), np.zeros_like(waits), np.zeros(jobs)
    steps = draw.uniform(0, 1, int(draw.integers(1, 30)))
    return *chances, 0.3, first, steps, served, waits, *room, np.zeros(jobs)


def _spans_laid_out(seed: int) -> Arguments:
    """Lines of spans in two layouts, in which some letters are changed, doubled or left out."""
    draw = random(seed)
    said = [{"key": "peer.service", "value": {"stringValue": "auth"}}, {"key": "size", "value": {}}]
    said[1]["value"] = {"doubleValue": 1.5 - seed}
    letters = bytearray()
    for k in range(30):
        span = {
            "traceId": f"{k:032x}", "spanId": f"{draw.integers(1 << 62) << 1:x}",
            "traceState": "ot=th:c", "parentSpanId": f"{k:x}"[: k % 2], "flags": 257,
            "name": "caf\u00e9", "kind": k % 6, "startTimeUnixNano": str(10**18 + k),
            "endTimeUnixNano": str(10**18 + 20), "attributes": said[: k % 3],
            "status": {"code": 2} if k % 5 else {},
        }  # fmt: skip
        optional = ["traceState", "parentSpanId", "flags", "status"]
        for left_out in draw.permutation(optional)[: k % 3]:
            del span[left_out]
        compact = (",", ":") if k % 2 else (", ", ": ")
        letters += json.dumps(span, ensure_ascii=False, separators=compact).encode() + b",\n"
    for place in draw.integers(len(letters), size=seed):
        letters[place : place + draw.integers(2)] = draw.choice([*b'"{}[],:\\0a '], 1).tolist()
    text = np.frombuffer(bytes(letters) + bytes(-len(letters) % 8), np.int64)
    return text, len(letters), np.zeros(1 + 31 * 16, np.int64)


MADE: dict[str, tuple[str, Callable[[int], Arguments]]] = {
    "inverse_polynomial": ("headway.queueing.erlang.blocking", _inverse_polynomial),
    "one_class_recursion": ("headway.queueing.closed.mva", _one_class_recursion),
    "lattice_planes": ("headway.queueing.classes.lattice_mva", _lattice_planes),
    "steady_steps": ("headway.queueing.closed.fixed_point", _steady_steps),
    "closed_convolution": ("headway.queueing.closed.convolution", _closed_convolution),
    "passing_rounds": ("headway.queueing.variability.passes", _passing_rounds),
    "play_program": ("headway.queueing.layers.loop", _play_program),
    "play": ("headway.models.simulating.playing.loop", _play),
    "explore_program": ("headway.queueing.layers.states.search", _explore_program),
    "balancing_sweeps": ("headway.queueing.markov.sweeps", _balancing_sweeps),
    "complex_geometric": ("headway.queueing.closed.series", _complex_geometric),
    "real_geometric": ("headway.queueing.closed.series", _real_geometric),
    "absorbing_steps": ("headway.queueing.times.uniformisation", _absorbing_steps),
    "careful_step": ("headway.queueing.transient.careful", _careful_step),
    "finite_stations": ("headway.queueing.layers.numerics.finite", _finite_stations),
    "first_to_leave": ("headway.queueing.layers.numerics.finite", _first_to_leave),
    "pool_ratios": ("headway.queueing.layers.numerics.pools", _pool_ratios),
    "pool_capacities": ("headway.queueing.layers.numerics.pools", _pool_capacities),
    "waits_of_one": ("headway.queueing.layers.numerics.finite", _waits_of_one),
    "weighted_sums": ("headway.queueing.layers.numerics.stations", _weighted_sums),
    "unanswered_steps": ("headway.queueing.retries.followed", _unanswered_steps),
    "flood_steps": ("headway.queueing.retries.tipping", _flood_steps),
    "lives": ("headway.queueing.retries.lives", _lives),
    "spans_laid_out": ("headway.models.measured.spans.layout", _spans_laid_out),
}
"""The module of each twin, and arguments by seed; results are the arrays that are written."""


def _states_and_moves(arguments: Arguments) -> list[object]:
    """What was found, without the words behind the last state, where the kernel tries."""
    search, words = arguments[8:10]
    return [search, words[: search[3]], arguments[10], *arguments[12:16]]


RESULTS: dict[str, Callable[[Arguments], list[object]]] = {
    "one_class_recursion": lambda arguments: [*arguments[-2:]],
    "lattice_planes": _of_populations,
    "steady_steps": lambda arguments: [*arguments[8:12], arguments[13]],
    "closed_convolution": lambda arguments: [*arguments[9:13]],
    "passing_rounds": lambda arguments: [*arguments[7:]],
    "explore_program": _states_and_moves,
    "careful_step": lambda arguments: [*arguments[:2], *arguments[12:14]],
    "finite_stations": lambda arguments: [*arguments[8:13]],
    "pool_ratios": lambda arguments: [arguments[9]],
    "pool_capacities": lambda arguments: [*arguments[9:11]],
    "first_to_leave": lambda arguments: [arguments[7]],
    "unanswered_steps": lambda arguments: [arguments[-1]],
    "lives": lambda arguments: [arguments[1], arguments[-1]],
}
"""What of the arguments is compared, where some of what is written has no meaning."""

built = pytest.mark.skipif(LIBRARY is None, reason="needs the kernels, which were not built")


@built
def test_each_kernel_has_a_twin_and_a_row_here():
    for module, _ in MADE.values():
        import_module(module)

    kernels = {name for name in dir(LIBRARY) if not name.startswith("_")}
    assert kernels == set(MADE)
    assert kernels <= set(TWINS)


@pytest.mark.skipif("HEADWAY_KERNELS" not in os.environ, reason="is for make sanitize")
def test_the_kernels_are_those_that_were_built_to_be_tested():
    assert os.environ["HEADWAY_KERNELS"] in LIBRARY.__file__


@built
@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("seed", mostly_slow(range(25), 3))
def test_a_kernel_does_what_its_twin_does(name, seed):
    module, arguments = MADE[name]
    import_module(module)
    ours, theirs = arguments(seed), arguments(seed)

    getattr(LIBRARY, name)(*ours)
    with np.errstate(all="ignore"):  # as those who call them do
        TWINS[name](*theirs)

    results = RESULTS.get(name, list)
    for one, other in zip(results(ours), results(theirs), strict=True):
        np.testing.assert_allclose(one, other, rtol=DIGITS, atol=0)


@built
@pytest.mark.parametrize("name", MADE)
def test_arrays_of_the_wrong_size_are_refused(name):
    import_module(MADE[name][0])
    arguments = MADE[name][1](1)
    arrays = [k for k, value in enumerate(arguments) if np.size(value) > 0 < np.ndim(value)]
    for k in arrays:
        short = [*arguments]
        short[k] = np.zeros(0, arguments[k].dtype)
        with pytest.raises(ValueError, match=name):
            getattr(LIBRARY, name)(*short)


@built
def test_spans_are_found_where_nothing_is_spoilt():
    """21 of 30, as the others end before they start; the last has no room."""
    found = _spans_laid_out(0)
    LIBRARY.spans_laid_out(*found)
    assert found[2][0] == 21
    with pytest.raises(ValueError, match="room for each span"):
        LIBRARY.spans_laid_out(*found[:2], np.zeros(20 * 16, np.int64))


@built
def test_routes_out_of_bounds_are_refused():
    starts, targets, *others = _passing_rounds(3)
    for spoilt in (starts + 1, starts[::-1].copy(), np.r_[0, 99, starts[2:]]):
        with pytest.raises(ValueError, match="the routes of each row"):
            LIBRARY.passing_rounds(spoilt, targets, *others)
    for place in (-1, starts.size - 1):
        with pytest.raises(ValueError, match="routes between the rows"):
            LIBRARY.passing_rounds(starts, np.full_like(targets, place), *others)


@built
def test_what_is_no_array_of_numbers_is_refused():
    kernel, load = LIBRARY.inverse_polynomial, np.ones(3)
    with pytest.raises(TypeError, match="3 arguments are needed, not 2"):
        kernel(2, load)
    with pytest.raises(TypeError, match="float64"):
        kernel(2, np.ones(3, np.float32), load)
    with pytest.raises(ValueError, match="contiguous"):
        kernel(2, np.ones((3, 2))[:, 0], load)
    with pytest.raises(TypeError):
        kernel(2, "loads", load)


def test_the_switch_keeps_to_python():
    script = "from headway.queueing.compiled.library import LIBRARY; print(LIBRARY)"
    environment = {**os.environ, SWITCH: "0"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True)

    assert done.stdout.decode().strip() == "None"


def test_a_twin_without_a_kernel_serves_itself():
    def nothing_like_it(result):
        result *= 2

    try:
        assert compiled(nothing_like_it) is nothing_like_it
    finally:
        TWINS.pop("nothing_like_it")
