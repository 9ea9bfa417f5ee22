"""MLPerf Storage: accelerators that compute for a published time, and ask for the next batch.

An accelerator computes for Z, waits for its batch for R, and computes again. Its utilisation is AU
= Z / (Z + R), so the wait is R = Z (1/AU - 1), and N of them train N AU / Z batches per second: a
closed network of N jobs with think time Z. A request is a batch.

Source: https://github.com/mlcommons/storage, releases v0.5 (aca225d) and v1.0 (cd848ba),
storage-conf/workload/*.yaml: `computation_time` and `batch_size`.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from headway.errors import MeasurementError
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.documents import amount, document, under
from headway.models.measured.tools.kit.numbers import filled, number
from headway.models.measured.tools.kit.text import begins, by_title, placed, recognised_by
from headway.numerals import digits, four_digits
from headway.records import dataclass

ACCELERATOR = "accelerator"
"""The name of the accelerators' utilisation, among the utilisations of a point."""

_TITLES = "submitter,system,workload,accelerator,accelerators,hosts,"
_PERCENT = 1e-2
_MEGABYTE = 2.0**20
"""The tool's MB, which is 1024 times 1024 bytes (argonne-lcf/dlio_benchmark,
utils/statscounter.py)."""
_WORKLOADS = {"unet3d": "unet3d", "unet": "unet3d", "resnet50": "resnet50", "resnet": "resnet50",
              "cosmoflow": "cosmoflow", "bert": "bert"}  # fmt: skip
_WORKLOAD = re.compile(rf"(?<![a-z0-9])({'|'.join(_WORKLOADS)})(?![a-z0-9])", re.IGNORECASE)
_MACHINE = re.compile(r"(?<![a-z0-9])(v100|a100|h100|b200|mi355x?)(?![a-z0-9])", re.IGNORECASE)
_BY_PATH = "folder names that say workload and accelerator, such as unet3d-h100"
_BY_COLUMN = "the columns workload and accelerator, or run"


@dataclass(frozen=True)
class PublishedWork:
    """The work on a batch that the benchmark prescribes for an accelerator.

    Parameters
    ----------
    compute
        The time Z for which it computes [s].
    batch
        Samples of a batch.
    """

    compute: float
    batch: int


PUBLISHED: Mapping[tuple[str, str], PublishedWork] = {
    ("unet3d", "v100"): PublishedWork(1.3604, 4),
    ("bert", "v100"): PublishedWork(0.968, 48),
    ("unet3d", "a100"): PublishedWork(0.636, 7),
    ("unet3d", "h100"): PublishedWork(0.323, 7),
    ("resnet50", "a100"): PublishedWork(0.435, 400),
    ("resnet50", "h100"): PublishedWork(0.224, 400),
    ("cosmoflow", "a100"): PublishedWork(0.00551, 1),
    ("cosmoflow", "h100"): PublishedWork(0.00350, 1),
}
"""By workload and accelerator; V100 of release v0.5, the others of v1.0."""


@dataclass(frozen=True)
class _Run:
    """What a run reports: N, hosts, AU as a share, samples and bytes per second."""

    accelerators: float
    hosts: float
    busy: float
    samples: float
    bandwidth: float | None
    system: str
    workload: str
    accelerator: str
    keys: str
    place: str

    def point(self) -> Point:
        """A closed test of batches, as far as its Z is known."""
        work = PUBLISHED.get((self.workload, self.accelerator))
        told = {
            "samples_ops_s": self.samples,
            "bandwidth_bytes_s": self.bandwidth,
            "machines": self.hosts,
        }
        made = partial(
            Point,
            "MLPerf Storage",
            Loop.CLOSED,
            population=self.accelerators,
            utilisation={ACCELERATOR: self.busy},
            more=filled(told),
            name=self.name,
            same_run=self.same_run,
        )
        if work is None:
            note = (
                f"no time of computation is published for workload {self.workload or 'unknown'} "
                f"on accelerator {self.accelerator or 'unknown'}: give {self.keys}"
            )
            return made(notes=(note,))
        return made(
            think_time=work.compute,
            throughput=self.samples / work.batch,
            response_time=work.compute * (1 / self.busy - 1),
            notes=(f"a request is a batch of {counted_samples(work.batch)}",),
        )

    @property
    def name(self) -> str:
        """The series of points to which it belongs."""
        hosts = f"{digits(self.hosts)} host{'s' * (self.hosts != 1)}"
        whose = f"{self.system}: " if self.system else ""
        machine = f" on {self.accelerator}" if self.accelerator else ""
        return f"{whose}{self.workload or 'unknown'}{machine}, {hosts}"

    @property
    def same_run(self) -> str:
        """What all hosts of one run report alike."""
        totals = (self.accelerators, self.hosts, self.busy, self.samples, self.bandwidth)
        return f"{self.name} {totals}"


def counted_samples(batch: int) -> str:
    """A number of samples in words.

    Examples
    --------
    >>> counted_samples(1), counted_samples(400)
    ('1 sample', '400 samples')
    """
    return f"{batch} sample{'s' * (batch != 1)}"


def _last(pattern: re.Pattern[str], text: str) -> str:
    """The last of some words in a text: folders nearer to the file say what it is."""
    found = pattern.findall(text.replace("_", "-"))
    return found[-1].lower() if found else ""


def _checked(run: _Run) -> _Run:
    """Refuse impossible numbers."""
    if not 0 < run.busy <= 1:
        msg = (
            f"{run.place}: accelerator utilisation is {four_digits(100 * run.busy)}%; it is above "
            "0 and at most 100%: check the file"
        )
        raise MeasurementError(msg)
    if run.samples <= 0 or run.accelerators < 1 or run.hosts < 1:
        msg = f"{run.place}: accelerators, hosts and samples must be positive; use a finished run"
        raise MeasurementError(msg)
    return run


def _summary(text: str, source: str) -> Sequence[Point]:
    parsed = document(text, source)
    metric = under(parsed, "metric")

    def needed(place: Mapping[str, Any], key: str) -> float:
        value = amount(place, key, source=source)
        if value is None:
            msg = f"{source}: {key} is missing; use the summary of a finished training run"
            raise MeasurementError(msg)
        return value

    bandwidth = amount(metric, "train_io_mean_MB_per_second", source=source, scale=_MEGABYTE)
    model = parsed.get("model")
    workload = _last(_WORKLOAD, model if isinstance(model, str) else source)
    first = "num_hosts" not in parsed and isinstance(model, str)  # v0.5 emulates only V100
    run = _Run(
        accelerators=needed(parsed, "num_accelerators"),
        hosts=amount(parsed, "num_hosts", source=source) or 1.0,
        busy=needed(metric, "train_au_mean_percentage") * _PERCENT,
        samples=needed(metric, "train_throughput_mean_samples_per_second"),
        bandwidth=bandwidth,
        system=_system(source),
        workload=_WORKLOADS.get(workload, ""),
        accelerator="v100" if first else _last(_MACHINE, source),
        keys=_BY_PATH,
        place=source,
    )
    return [_checked(run).point()]


def _system(source: str) -> str:
    """The folder of a system in the layout of the published results, if the file is in that."""
    parts = re.split(r"[/\\]", source)
    places = [k for k, part in enumerate(parts[:-2]) if part == "results"]
    return parts[places[-1] + 1] if places else ""


def _table(text: str, source: str) -> Sequence[Point]:
    titles: list[str] = []
    points: dict[str, Point] = {}
    for place, line in placed(text, source):
        if not line.strip():
            continue
        cells = next(csv.reader([line]))
        if not titles:
            titles = cells
            continue
        point = _checked(_row(by_title(titles, cells, place), place)).point()
        points.setdefault(f"{point.same_run} {cells[-1]}", point)
    if not points:
        msg = f"{source}: no run is below its titles; give a table with runs"
        raise MeasurementError(msg)
    return list(points.values())


def _row(row: Mapping[str, str], place: str) -> _Run:
    def cell(title: str) -> float:
        return number(row.get(title, ""), f"{place}, {title}")

    run = row.get("run", "")
    workload = _last(_WORKLOAD, row.get("workload") or run)
    return _Run(
        accelerators=cell("accelerators"),
        hosts=cell("hosts"),
        busy=cell("accelerator_utilisation_percent") * _PERCENT,
        samples=cell("throughput_samples_per_s"),
        bandwidth=cell("io_mb_per_s") * _MEGABYTE if row.get("io_mb_per_s") else None,
        system=row.get("system", ""),
        workload=_WORKLOADS.get(workload, ""),
        accelerator=_last(_MACHINE, row.get("accelerator") or run),
        keys=_BY_COLUMN,
        place=place,
    )


MLPERF_STORAGE = tool_reader(
    "MLPerf Storage",
    recognised_by('"num_accelerators"', '"metric"', '"train_au_'),
    _summary,
    "summary of a training run: accelerators, batches per second, think time and stall per batch, "
    "utilisation, bandwidth",
)
"""Reads ``summary.json``; all hosts of a run that report the same are one point."""
MLPERF_STORAGE_CSV = tool_reader(
    "MLPerf Storage (CSV)",
    begins(_TITLES),
    _table,
    "one point per run, as of its summary",
)
"""Reads a table with a row for each summary."""
