"""Every figure that headway draws, made once from shipped or small data."""

from functools import cache

import numpy as np

from headway.loggp import LogGP
from headway.loggp.measuring.signature import issue_cost
from headway.models import (
    Measurements,
    ModelGraph,
    SlowdownPanel,
    catalogue_model,
    communication_figure,
    curve,
    data_path,
    message_map,
    published_communication,
    reproduce,
    size_model,
    slowdown_figure,
    what_all_take,
    what_it_takes,
)
from headway.models.analysis.balance import Balance, balance
from headway.models.analysis.growth import Growth, month
from headway.models.analysis.sensitivity import sensitivity
from headway.models.inference.side_by_side import SideBySide
from headway.models.reading.loadtest import read
from headway.models.signatures.collective import MeasuredCollective
from headway.models.signatures.loggp import MeasuredSizes, read_sizes
from headway.models.signatures.logp import MeasuredLogp
from headway.models.signatures.sfs import MeasuredSignature
from headway.models.signatures.storage import MeasuredStorage
from headway.models.sweeping.crossing.importance import global_sensitivity
from headway.queueing import MM1
from tests.support.fits import fit_server

RAID = Measurements.read(data_path("network_sensitivity/table_a_5_raid_performance.csv"))
SCSI = Measurements.read(data_path("network_sensitivity/table_a_1_scsi_performance.csv"))
MACHINE = LogGP(5e-6, 2e-6, 3e-6, 6e-6, 0)


def raid():
    return catalogue_model("nfs-server").with_preset("raid")


def grid_of_two():
    rates, counts = (grid.ravel() for grid in np.meshgrid([100.0, 600.0], [8.0, 28.0]))
    return raid().at(disks=counts).solve(rates)


def program():
    return catalogue_model("program-overhead").at(added_overhead=np.array([0.0, 1e-5, 2e-5]))


def loop():
    graph = ModelGraph("loop").station("cpu", MM1(0.1)).station("disk", MM1(0.01))
    graph = graph.station("tape", MM1(0.02)).route("cpu", "disk", 0.5).route("cpu", "tape", 0.2)
    return graph.route("disk", "cpu").route("tape", "cpu").at().closed(200)


def logp_text():
    """Costs of bursts that the law makes for a machine."""
    bursts, delays = (
        g.ravel() for g in np.meshgrid([1.0, 2, 4, 8, 16, 64, 128, 256], [0.0, 1e-5, 1e-4])
    )
    costs = [
        float(np.ravel(issue_cost(MACHINE, b, d, 4))[0])
        for b, d in zip(bursts, delays, strict=True)
    ]
    lines = [
        f"{b:g},{d * 1e6:g},{c * 1e6:.6g}" for b, d, c in zip(bursts, delays, costs, strict=True)
    ]
    return "burst_size,delay_us,cost_us\n" + "\n".join(lines) + "\n"


def logp():
    return MeasuredLogp.of(Measurements.parse(logp_text(), "bursts.csv"), 2 * (5e-6 + 5e-6), 4)


def sizes_text():
    """Times by message size with a break, and 1% noise."""
    rng = np.random.default_rng(3)
    all_sizes = [2**k for k in range(4, 21)]
    times = [(5 + 0.004 * size + (20 if size > 2000 else 0)) for size in all_sizes]
    lines = [
        f"{size},{time * (1 + 0.01 * rng.standard_normal()):.5g}"
        for size, time in zip(all_sizes, times, strict=True)
        for _ in range(5)
    ]
    return "size_bytes,time_us\n" + "\n".join(lines) + "\n"


def sizes():
    return MeasuredSizes.of(read_sizes(sizes_text(), "sizes.csv"), "sizes.csv", [])


def collectives_text():
    """Times of an all-gather on 2, 4 and 8, by a law."""
    return "operation,gpus,size_bytes,time_us\n" + "".join(
        f"all_gather,{n},{2**k},{5 + 2 * n + 2**k / 1e5}\n" for n in (2, 4, 8) for k in range(8, 20)
    )


def collective():
    files = [(collectives_text(), "collective.csv")]
    return MeasuredCollective.of(files, asked=[(8, 4096.0)])


def storage():
    return MeasuredStorage.of(read("mlperf_storage/runs.csv").points)


def panels():
    levels = np.array([0.0, 10.0, 20.0])
    laws = {"law": 1 + levels / 40, "other": 1 + levels / 30}
    return [SlowdownPanel(name, levels, 1 + levels / 35, laws) for name in ("a", "b", "c")]


def machines():
    model = catalogue_model("streaming-io")
    chosen = (model.with_preset(name) for name in ("sort-cluster", "sort-smp", "scan-cluster"))
    return Balance(tuple(balance(one).machines[0] for one in chosen))


FIGURES = {
    "comparison": lambda: raid().compare(RAID, low=490, high=1410).plot(),
    "open sweep": lambda: raid().solve(np.linspace(100, 1600, 16)).plot(),
    "closed sweep": lambda: raid().solve(population=np.arange(1, 60)).plot(),
    "sweep of two": lambda: grid_of_two().plot(),
    "program": lambda: program().solve().plot(),
    "fit": lambda: catalogue_model("nfs-server").with_preset("scsi").fit(
        SCSI, ["delay", "cpu_time", "disk_time", "touched_per_load"]
    ).plot(),
    "server": lambda: fit_server(SCSI).plot(),
    "servers": lambda: SideBySide((fit_server(SCSI), fit_server(RAID))).plot(),
    "sfs signature": lambda: MeasuredSignature.of(curve(RAID)).plot(),
    "logp signature": lambda: logp().plot(),
    "sizes": lambda: sizes().plot(),
    "collective": lambda: collective().plot(),
    "storage": lambda: storage().plot(),
    "tornado": lambda: sensitivity(raid().at(arrival_rate=1200.0)).plot(),
    "target": lambda: what_it_takes(
        raid().at(arrival_rate=1400.0), "response_time", 12e-3, "cpu_time"
    ).plot(),
    "targets": lambda: what_all_take(
        raid(), ["response_time<=10ms", "utilisation<=50%"], "arrival_rate"
    ).plot(),
    "size": lambda: size_model(
        raid().at(arrival_rate=1200.0), ["response_time<=14ms"], {"disks": range(4, 33)}, "disks"
    ).plot(),
    "sweep": lambda: raid().sweep(
        {"arrival_rate": range(100, 1500, 10), "disks": range(8, 40)},
        reduce=["quantiles=p50,p99", "exceeds(response_time, 20ms)"],
    ).plot(),
    "indices": lambda: global_sensitivity(
        raid(), ranges={"arrival_rate": [100, 500, 900], "cpu_time": [5e-4, 7e-4]}, samples=256
    ).plot(),
    "growth": lambda: Growth(machines(), 4e6, 0.3, month("2026-11")).plot(),
    "graph": lambda: raid().at(arrival_rate=1530).plot(),
    "loop": lambda: loop().plot(),
    "formula": lambda: raid().plot_formulas(),
    "timeline": lambda: catalogue_model("pipeline").at(transfer=1e4).solve().plot(),
    "balance": lambda: machines().plot(),
    "slowdowns": lambda: slowdown_figure(panels(), "added overhead [us]", columns=2),
    "communication": lambda: communication_figure(published_communication()),
    "message map": lambda: message_map([[0, 2, 1], [4, 0, 1], [1, 1, 0]], "three"),
    "reproduction": lambda: reproduce("thesis/table-5.1").plot(),
}  # fmt: skip
"""What draws each figure, by name."""


@cache
def figure(name):
    """A figure, drawn once for all tests that look at it and do not change it."""
    return FIGURES[name]()
