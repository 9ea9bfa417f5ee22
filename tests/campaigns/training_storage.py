"""The law of accelerators on published results of MLPerf Storage: docs/accuracy/mlperf-storage.md.

    python -m tests.campaigns.training_storage      prints the tables, three seconds

Each configuration is a system, a workload, an accelerator and a number of accelerators, run five
times. Where a system has three numbers of accelerators, the highest is left out and predicted from
the others.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.special import digamma

from headway.models import catalogue_model, data_path
from headway.models.auditing.accelerators import LAW, law_error
from headway.models.measured.points import Point
from headway.models.measured.tools.mlperf_storage import ACCELERATOR
from headway.models.reading.loadtest import read_load_test
from headway.models.signatures.storage import FedLoad, ceiling

STARTS = ((1e-3, 1e-5), (0.05, 1e-3), (0.3, 1e-2))
"""Delay and service time from which a fit starts, relative to the time of computation."""


@dataclass(frozen=True)
class Configuration:
    """Runs of one number of accelerators on one system."""

    name: str
    accelerators: int
    runs: tuple[Point, ...]

    @property
    def compute(self) -> float | None:
        """The published time of computation [s]."""
        return self.runs[0].think_time

    @property
    def busy(self) -> float:
        """Mean utilisation of the accelerators."""
        return float(np.mean([run.utilisation[ACCELERATOR] for run in self.runs]))

    @property
    def stalls(self) -> list[float]:
        """Stall of an accelerator for a batch, in each run [s]."""
        return [run.response_time for run in self.runs if run.response_time is not None]

    @property
    def error(self) -> float | None:
        """The largest error of the law."""
        errors = [error for run in self.runs if (error := law_error(run)) is not None]
        return max(errors, key=abs) if errors else None


def configurations() -> list[Configuration]:
    """All that ship, by system and number of accelerators."""
    groups: dict[tuple[str, float], list[Point]] = defaultdict(list)
    for point in read_load_test([str(data_path("mlperf_storage/runs.csv"))]).points:
        groups[point.name, point.load].append(point)
    return [
        Configuration(name, int(load), tuple(groups[name, load])) for name, load in sorted(groups)
    ]


def law(every: Sequence[Configuration]) -> Iterator[str]:
    """Lines of the table of stalls and errors of the law."""
    yield "| system, workload, hosts | accelerators | AU | stall of a batch [ms] | law |"
    yield "|---|---|---|---|---|"
    for one in every:
        stalls = (
            [f"{1e3 * each:.3g}" for each in (min(one.stalls), max(one.stalls))]
            if one.stalls
            else []
        )
        stall = "not known" if not stalls else " to ".join(dict.fromkeys(stalls))
        error = "-" if one.error is None else f"{100 * one.error:+.1f}%"
        named = f"**{error}**" if one.error is not None and abs(one.error) > LAW else error
        yield f"| {one.name} | {one.accelerators} | {100 * one.busy:.1f}% | {stall} | {named} |"


def counts(every: Sequence[Configuration]) -> str:
    """Number of configurations that obey the law."""
    errors = [one.error for one in every if one.error is not None]
    kept = sum(abs(error) <= LAW for error in errors)
    return (
        f"{len(every)} configurations: {kept} keep the law within 1% in every run, "
        f"{len(errors) - kept} do not and are named, {len(every) - len(errors)} have no known Z"
    )


def utilisation(accelerators: int, compute: float, delay: float, service: float) -> float:
    """Utilisation AU by the catalogue's closed model."""
    model = catalogue_model("training-storage")
    at = model.at(population=accelerators, compute_time=compute, delay=delay, service_time=service)
    return float(at.solve().values["compute.utilisation"])


def queued(lower: Sequence[Configuration], accelerators: int) -> float:
    """AU predicted by a delay and a queue, fitted to lower loads."""
    compute = lower[0].compute or 0.0

    def off(logs: np.ndarray) -> list[float]:
        delay, service = compute * np.exp(logs)
        return [utilisation(c.accelerators, compute, delay, service) - c.busy for c in lower]

    fits = [least_squares(off, np.log(start)) for start in STARTS]
    delay, service = compute * np.exp(min(fits, key=lambda fit: fit.cost).x)
    return utilisation(accelerators, compute, delay, service)


def barred(lower: Sequence[Configuration], accelerators: int) -> float:
    """AU predicted with a barrier after each batch: all wait as long as the longest of N waits.

    The mean of the largest of N exponential times is H_N = 1 + 1/2 + ... + 1/N times theirs, so the
    stall is a + b H_N, with a and b from two loads.
    """
    compute = lower[0].compute or 0.0
    waits = [compute * (1 / one.busy - 1) for one in lower[-2:]]
    longest = [harmonic(one.accelerators) for one in lower[-2:]]
    slope = (waits[1] - waits[0]) / (longest[1] - longest[0])
    return compute / (compute + waits[1] + slope * (harmonic(accelerators) - longest[1]))


def harmonic(number: int) -> float:
    """H_N."""
    return float(digamma(number + 1) - digamma(1))


def highest(lower: Sequence[Configuration], accelerators: int) -> float:
    """The largest AU that a closed network with the same lower loads can have."""
    loads = [FedLoad(one.accelerators, one.busy, None, None, None, None, 1) for one in lower]
    return ceiling(loads, accelerators)


def left_out(every: Sequence[Configuration]) -> Iterator[str]:
    """Lines of the table of the highest loads, which were left out."""
    yield (
        "| system, workload, hosts | accelerators | AU | a delay alone | a delay and a queue "
        "| a barrier | at most |"
    )
    yield "|---|---|---|---|---|---|---|"
    groups: dict[str, list[Configuration]] = defaultdict(list)
    for one in every:
        groups[one.name].append(one)
    for name, some in groups.items():
        if len(some) < 3 or some[0].compute is None:
            continue
        *lower, top = some
        told = [lower[-1].busy]
        told += [predict(lower, top.accelerators) for predict in (queued, barred, highest)]
        cells = [f"{100 * au:.1f}% ({100 * (au - top.busy):+.1f})" for au in told]
        loads = ", ".join(str(one.accelerators) for one in some)
        yield f"| {name} | {loads} | {100 * top.busy:.1f}% | {' | '.join(cells)} |"


def main() -> None:
    """Print the tables."""
    every = configurations()
    print("\n".join([counts(every), "", *law(every), "", *left_out(every)]))


if __name__ == "__main__":
    main()
