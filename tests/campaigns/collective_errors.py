"""Errors of the laws of collectives on the shipped times of GPUs: docs/accuracy/collectives.md.

    python -m tests.campaigns.collective_errors            five seconds

Each system, operation and type is fitted as a whole, and then from 2 and 4 GPUs alone, to predict
8. Then the model error of the bands is chosen on all systems but one so that they cover 95% there,
and the coverage of its bands is counted on the one left out.

`headway.loggp.programs.measured_collectives.MODEL_ERROR` names it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from headway.errors import MeasurementError
from headway.loggp import CollectiveFit, CollectiveTimes, fit_collective
from headway.loggp.programs.measured_collectives import MODEL_ERROR
from headway.models import data_path
from headway.models.reading.texts import file_text
from headway.models.signatures.collective_files import Chosen, chosen_times

SYSTEMS = {
    "A100 SXM, NCCL 2.27.3": "a100_sxm_2_27_3",
    "B200 SXM, NCCL 2.27.5": "b200_sxm_2_27_5",
    "GB200, NCCL 2.29.2": "gb200_2_29_2",
    "H100 SXM, NCCL 2.23": "h100_sxm_2_23",
    "H100 SXM, NCCL 2.29.2": "h100_sxm_2_29_2",
    "L40S, NCCL 2.27.3": "l40s_2_27_3",
}
OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "alltoall")
TYPES = ("half", "int8")
MEBIBYTE = 2.0**20
ERRORS = np.arange(0.0, 0.31, 0.01)
"""Model errors tried."""


@dataclass(frozen=True)
class Set:
    """One system, operation and type: its fit, and the predictions from 2 and 4 GPUs for 8."""

    system: str
    errors: np.ndarray
    covered: np.ndarray
    size: np.ndarray
    beyond: np.ndarray
    inside: np.ndarray
    refused: bool = False


def times_of(name: str) -> Iterator[CollectiveTimes]:
    """Times of each operation and type in a shipped file."""
    given = file_text(data_path(f"gpu_collectives/{name}.csv"))
    for operation in OPERATIONS:
        for datatype in TYPES:
            try:
                yield chosen_times([given], Chosen(operation, datatype))[0]
            except MeasurementError:
                continue  # not measured on this system


def _of(system: str, times: CollectiveTimes) -> Set:
    fit = fit_collective(times)
    points = list(zip(times.processors, times.size, times.time, strict=True))
    own = [fit.predicted(int(n), size) for n, size, _ in points]
    covered = np.array([p.low <= t <= p.high for p, (*_, t) in zip(own, points, strict=True)])
    eight = times.processors == 8
    empty = np.empty(0)
    if not eight.any():
        return Set(system, fit.errors, covered, empty, empty, empty)
    fewer = fit_collective(times.of(~eight))
    measured = times.of(eight)
    try:
        predicted = np.array([fewer.predicted(8, size).time for size in measured.size])
    except MeasurementError:
        return Set(system, fit.errors, covered, empty, empty, empty, refused=True)
    beyond = predicted / measured.time - 1
    return Set(system, fit.errors, covered, measured.size, beyond, _inside(fewer, measured))


def _inside(fit: CollectiveFit, measured: CollectiveTimes) -> np.ndarray:
    """Whether the bands contain each time at 8, with a row for each of the model errors."""
    level = fit.levels[-1]
    pairs = list(zip(measured.size, measured.time, strict=True))
    return np.array(
        [
            [low <= t <= high for s, t in pairs for low, high in [level.band(8, s, error)]]
            for error in ERRORS
        ]
    )


def sets() -> list[Set]:
    """All of them."""
    return [_of(system, times) for system, name in SYSTEMS.items() for times in times_of(name)]


def table(all_sets: Iterable[Set]) -> list[str]:
    """Lines of the page's table."""
    every = list(all_sets)
    lines = [
        "| system | sets | median error | bands hold | 8 from 2 and 4: below 1 MiB | from 1 MiB | "
        "bands hold |",
        "|---|---|---|---|---|---|---|",
    ]
    return (
        lines
        + [_line(system, [s for s in every if s.system == system]) for system in SYSTEMS]
        + [_line("all", every)]
    )


def _line(name: str, some: list[Set]) -> str:
    errors, covered = (np.concatenate([getattr(s, k) for s in some]) for k in ("errors", "covered"))
    cells = [name, str(len(some)), _percent(np.median(np.abs(errors))), _percent(covered.mean())]
    told = [s for s in some if s.beyond.size]
    if not told:
        refused = any(s.refused for s in some)
        return _row([*cells, *(["refused"] if refused else ["-"]) * 3])
    size, beyond = (np.concatenate([getattr(s, k) for s in told]) for k in ("size", "beyond"))
    small = size < MEBIBYTE
    at = int(np.argmin(np.abs(ERRORS - MODEL_ERROR)))
    inside = np.concatenate([s.inside[at] for s in told])
    halves = [_percent(np.median(np.abs(beyond[mask]))) for mask in (small, ~small)]
    return _row([*cells, *halves, _percent(inside.mean())])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def left_out(all_sets: Iterable[Set]) -> list[str]:
    """Lines of the table of bands whose model error was chosen without the system."""
    told = [s for s in all_sets if s.beyond.size]
    lines = ["| left out | model error of the others | bands hold |", "|---|---|---|"]
    for system in dict.fromkeys(s.system for s in told):
        others = np.concatenate([s.inside for s in told if s.system != system], axis=1)
        at = int(np.argmax(others.mean(axis=1) >= 0.95))
        own = np.concatenate([s.inside[at] for s in told if s.system == system])
        lines.append(_row([system, _percent(ERRORS[at]), _percent(own.mean())]))
    return lines


def main() -> None:
    """Print both tables."""
    every = sets()
    print("\n".join([*table(every), "", *left_out(every)]))


if __name__ == "__main__":
    main()
