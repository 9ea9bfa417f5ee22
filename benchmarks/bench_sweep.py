"""Sweeps of many points, as ratios to solving arrays of them, and beside two sweeps by hand.

Run with ``make benchmark``; ``python benchmarks/bench_sweep.py 1e8`` takes that many points of the
open model instead, and tells how long a billion would take on all cores.
"""

import resource
import sys

import numpy as np
from timing import least, timed

from headway.models import catalogue_model
from headway.models.running.pool import workers
from headway.models.sweeping.axes import Steps
from headway.models.sweeping.spaces import Grid

REDUCE = ("moments", "quantiles=p50,p95,p99", "exceeds(response_time, 20ms)")
ARRAY = 2**15
"""Points of the array that a point is cheapest in."""

POINTS = 2**24


def plane(count):
    """Four parameters of nfs-server: so many rates, times 10 x 10 x 16 of the others."""
    return Grid(
        {
            "arrival_rate": Steps(100.0, 1400.0 * 1600 / count, count // 1600),
            "cpu_time": Steps(500e-6, 20e-6, 10),
            "delay": Steps(1e-3, 0.5e-3, 10),
            "disks": Steps(20.0, 1.0, 16),
        }
    )


def opened():
    """The model of the bare solution and of the sweep."""
    return catalogue_model("nfs-server").with_preset("raid")


def bare():
    """Processor time of a point in the array that suits it best [s]."""
    space = plane(POINTS)
    points = space.piece(0, ARRAY).points(0, ARRAY)
    model = opened()
    return least(lambda: model.at(points).solve().response_time, 50) / ARRAY


def by_dask(space, model, chunk=2**17):
    """The same three answers as one writes them with dask.array."""
    import dask.array as da

    numbers = da.arange(space.size, chunks=chunk)

    def times(own):
        first, after = int(own[0]), int(own[-1]) + 1
        return model.at(space.piece(first, after).points(first, after)).solve().response_time

    answers = numbers.map_blocks(times, dtype=float)
    finite = da.where(da.isfinite(answers), answers, np.nan)
    reductions = (
        da.nanmean(finite),
        da.nanstd(finite),
        (answers > 0.02).sum(),
        da.percentile(da.where(da.isfinite(answers), answers, 1e9), [50, 95, 99]),
    )
    return da.compute(*reductions, scheduler="processes", num_workers=2)


def some(space, model, first, after):
    """What a task of joblib gives back: every time, as one writes it by hand."""
    return model.at(space.piece(first, after).points(first, after)).solve().response_time


def by_joblib(space, model, chunk=2**17):
    """The same three answers as one writes them with joblib over solve: gathered, then reduced."""
    from joblib import Parallel, delayed

    starts = range(0, space.size, chunk)
    tasks = (delayed(some)(space, model, at, min(at + chunk, space.size)) for at in starts)
    times = np.concatenate(Parallel(n_jobs=2)(tasks))
    finite = times[np.isfinite(times)]
    shares = np.quantile(times, [0.5, 0.95, 0.99], method="inverted_cdf")
    return finite.mean(), finite.std(), np.count_nonzero(times > 0.02), shares


def peak():
    """Largest memory of this process and of any of its children [MB]."""
    sizes = (
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return [size / 1024 for size in sizes]


def test_a_point_of_a_sweep_costs_little_more_than_one_of_an_array(capsys):
    """Promised: at most 1.3 times the bare array solution, with three reductions."""
    model, space = opened(), plane(POINTS)
    swept = model.sweep(space, reduce=REDUCE)
    alone = bare()
    cost = least(lambda: model.sweep(space, reduce=REDUCE), 3) / space.size
    with capsys.disabled():
        print(
            f"\na point of open nfs-server, four parameters swept: {cost * 1e9:.0f} ns in a sweep "
            f"with three reductions, {alone * 1e9:.0f} ns in an array, ratio {cost / alone:.2f} "
            f"(promised 1.3); {1 / cost / 1e6:.1f} million points/s a core"
        )
    assert swept.effort.points == space.size


def test_two_workers_do_twice_as_much(capsys):
    """Promised: efficiency of at least 90%, on a machine that does nothing else."""
    model, space = opened(), plane(8 * POINTS)
    with workers(1) as one:
        model.sweep(plane(POINTS), reduce=REDUCE, executor=one)
        alone = timed(lambda: model.sweep(space, reduce=REDUCE, executor=one))
    with workers(2) as two:
        model.sweep(plane(POINTS), reduce=REDUCE, executor=two)
        both = timed(lambda: model.sweep(space, reduce=REDUCE, executor=two))
    with capsys.disabled():
        print(
            f"\n{space.size / 1e6:.0f} million points: {alone:.1f} s by one worker, {both:.1f} s "
            f"by two, efficiency {100 * alone / both / 2:.0f}% (promised 90)"
        )
    assert both > 0


def test_closed_points(capsys):
    """A closed nfs-server of 45 clients."""
    model = opened().closed(45)
    space = {"cpu_time": np.linspace(500e-6, 800e-6, 400), "think_time": np.linspace(0, 0.1, 500)}
    swept = model.sweep(space, reduce=REDUCE)
    hours = 1e7 / swept.effort.rate
    with capsys.disabled():
        print(
            f"\nclosed nfs-server, N = 45: {swept.effort.rate / 1e3:.0f} thousand points/s a core, "
            f"{100 * swept.effort.kernel_share:.0f}% of it solving; 10^7 would take {hours:.0f} s "
            "of one core"
        )
    assert swept.effort.points == 200_000


def test_beside_dask_array_and_joblib(capsys):
    """The same sweep by hand, on two processes each."""
    model, space = opened(), plane(POINTS)
    with workers(2) as crew:
        model.sweep(plane(2**20), reduce=REDUCE, executor=crew)
        ours = timed(lambda: model.sweep(space, reduce=REDUCE, executor=crew))
    ours_peak = peak()
    arrays = timed(lambda: by_dask(space, model))
    arrays_peak = peak()
    gathered = timed(lambda: by_joblib(space, model))
    with capsys.disabled():
        print(
            f"\n{space.size / 1e6:.0f} million points on two processes: sweep {ours:.1f} s, "
            f"dask.array {arrays:.1f} s, joblib {gathered:.1f} s; largest memory of the parent and "
            f"of a worker so far [MB]: {ours_peak}, {arrays_peak}, {peak()}"
        )
    assert ours > 0


def main():
    """As many points as asked for, on all cores."""
    count = int(float(sys.argv[1]))
    model, space = opened(), plane(count)
    with workers(2) as crew:
        model.sweep(plane(2**20), reduce=REDUCE, executor=crew)
        swept = model.sweep(space, reduce=REDUCE, executor=crew)
    effort = swept.effort
    print(swept)
    print(
        f"{effort.points:,} points in {effort.seconds:.1f} s on {effort.workers} workers, "
        f"{effort.rate / 1e6:.1f} million points/s a core; 10^9 in "
        f"{effort.seconds * 1e9 / effort.points:.0f} s; memory of parent and worker {peak()} MB"
    )


if __name__ == "__main__":
    main()
