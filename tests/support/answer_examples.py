"""An answer of every kind, for tests of what all answers have in common.

The model has a delay in us and a service time in ms, so that an answer that takes the unit of each
number from its parameter, or from its own size, shows both.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from headway.models import (
    MeasuredLogp,
    MeasuredSizes,
    Measurements,
    Model,
    balance,
    curve,
    data_path,
    import_model,
    parse_model,
    read_sizes,
    reproduce,
    what_it_takes,
)
from headway.models.analysis.audit import audit
from headway.models.analysis.growth import Growth
from headway.models.analysis.joint import what_all_take
from headway.models.analysis.traces import Beside, TracesBeside
from headway.models.inference.builds import compare_builds
from headway.models.inference.forecast import Forecast
from headway.models.inference.limit_search import next_run
from headway.models.inference.server import fit_server
from headway.models.inference.side_by_side import SideBySide
from headway.models.over.days import Day
from headway.models.reading.loadtest import read_load_test
from headway.models.reports.alone import report_model
from headway.models.reports.kinds.audited import AuditReport
from headway.models.reports.kinds.builds import BuildsReport
from headway.models.reports.kinds.days import DayReport
from headway.models.reports.kinds.traced import TracesReport
from headway.models.reports.report import fitted_report, measured_report
from headway.models.signatures.sfs import MeasuredSignature
from headway.models.signatures.utilisation import MeasuredUse
from tests.support import figures
from tests.support.places import DATA

PEERS = DATA / "peer_models"
TEXT = """
name = "site"
[parameters]
arrival_rate = "700 /s"
delay = { value = "40 us", ci95 = ["30 us", "50 us"] }
service_time = { value = "1 ms", ci95 = ["0.98 ms", "1.03 ms"] }
buffer = "1048576 B"
[outputs.memory]
formula = "buffer * 2"
unit = "B"
[stations.wire]
kind = "Delay"
service_time = "delay"
[stations.cpu]
kind = "MM1"
service_time = "service_time"
[[routes]]
from = "wire"
to = "cpu"
"""
SERVICES = """
name = "services"
parameters = { arrival_rate = "20 /s", read = "5 ms" }
[processors.cpu]
[tasks.web]
processor = "cpu"
threads = 4
entries.page = { demand = "8 ms", calls = { look = 1.5 }, arrival_rate = "arrival_rate" }
[tasks.database]
processor = "cpu"
entries.look.demand = "read"
"""
LOADS = np.linspace(100.0, 900.0, 9)
USE = "throughput_ops_s,cpu_util_pct,disk_util_pct\n100,10,0.2\n200,20.2,0.41\n300,29.9,0.6\n"
BURSTS = """burst_size,delay_us,cost_us
1,0,1.400
2,0,1.400
64,0,6.867
128,0,7.234
1,16,17.400
2,16,17.400
64,16,19.531
128,16,19.566
"""
TIMES = ((64, 12.2), (256, 13.1), (1024, 17.0), (2048, 22.1), (4096, 32.4), (8192, 52.9))
TIMES += ((16384, 1133.7), (32768, 1199.4), (65536, 1330.2), (131072, 1592.6))


@cache
def site() -> Model:
    return parse_model(TEXT)


@cache
def measured(noise: float = 0.01) -> Measurements:
    """The site's own curve, each other point off by the noise."""
    times = np.asarray(site().solve(arrival_rate=LOADS).response_time)
    times = times * (1 + noise * (-1.0) ** np.arange(LOADS.size))
    rows = "".join(f"{x},{1e3 * y:.5f}\n" for x, y in zip(LOADS, times, strict=True))
    return Measurements.parse(f"throughput_ops_s,response_ms\n{rows}", f"curve-{noise}.csv")


@cache
def in_other_units() -> Measurements:
    """The site's curve in a unit that suits none of its times."""
    times = np.asarray(site().solve(arrival_rate=LOADS).response_time)
    rows = "".join(f"{x / 1e3},{1e9 * y:.0f}\n" for x, y in zip(LOADS, times, strict=True))
    return Measurements.parse(f"throughput_kops_s,response_ns\n{rows}", "curve-ns.csv")


@cache
def fitted() -> Any:
    return site().fit(measured(), ["delay", "service_time"])


@cache
def server(noise: float = 0.01) -> Any:
    return fit_server(measured(noise), forms=["server-single"])


def load_test() -> Any:
    """Four loads: few forms have so few parameters, which makes its fits quick."""
    runs = (f"load_tests/wrk/connections-{clients:02}.txt" for clients in (1, 2, 4, 8))
    return read_load_test([str(data_path(run)) for run in runs])


EXAMPLES: dict[str, Callable[[], Any]] = {
    "Model": site,
    "LoadTest": load_test,
    "Solution": lambda: site().solve(arrival_rate=[500.0, 900.0]),
    "QueueLengths": lambda: site().solve(arrival_rate=[500.0, 900.0]).queue_lengths("cpu"),
    "LayeredImport": lambda: import_model(DATA / "lqn" / "shop_with_results.lqnx"),
    "Import": lambda: import_model(PEERS / "open_1class_1stat_mm1k.jsimg"),
    "Propagation": lambda: site().at(arrival_rate=[500.0, 900.0]).propagate(100),
    "Simulation": lambda: site().simulate(half_width=0.2),
    "Check": lambda: site().check(half_width=0.2),
    "Comparison": lambda: site().compare(measured()),
    "Audit": lambda: audit(load_test()),
    "Balance": lambda: balance(site()),
    "Growth": lambda: Growth(balance(site()), 700.0, 0.3),
    "Sensitivity": lambda: site().sensitivity(),
    "Target": lambda: what_it_takes(site(), "response_time", 0.002, "service_time"),
    "JointTarget": lambda: what_all_take(
        site(), ["response_time<=2ms", "utilisation<=0.9"], "arrival_rate"
    ),
    "Size": lambda: site().size(
        ["response_time<=4ms"], {"delay": [1e-5, 5e-5], "service_time": [1e-3]}, "1 / delay"
    ),
    "Sweep": lambda: site().sweep(
        {"arrival_rate": LOADS, "delay": [1e-5, 5e-5]},
        reduce=["quantiles=p50,p99", "top(response_time, 2)", "exceeds(response_time, 2ms)"],
    ),
    "Fit": fitted,
    "ServerFit": server,
    "Predictions": lambda: fitted().predict([500.0, 950.0]),
    "NextLoads": lambda: fitted().next_loads(),
    "HighestLoad": lambda: fitted().highest_load("response_time<=4ms"),
    "NextRun": lambda: next_run(load_test(), "response_time<=50ms"),
    "Forecast": lambda: Forecast(fitted(), fitted().predict([500.0, 950.0])),
    "SideBySide": lambda: SideBySide((server(), server(0.02))),
    "MeasuredSignature": lambda: MeasuredSignature.of(curve(measured())),
    "MeasuredUse": lambda: MeasuredUse.of(Measurements.parse(USE, "use.csv")),
    "MeasuredSizes": lambda: MeasuredSizes.of(
        read_sizes("size_bytes,time_us\n" + "".join(f"{x},{y}\n" for x, y in TIMES), "sizes.csv")
    ),
    "MeasuredCollective": figures.collective,
    "MeasuredStorage": figures.storage,
    "MeasuredLogp": lambda: MeasuredLogp.of(Measurements.parse(BURSTS, "bursts.csv"), 20.1e-6),
    "Reproduction": lambda: reproduce("thesis/table-6.2"),
}
"""By the names that `headway.models.door` knows."""


def traced():
    """Response times of services in traces, beside their model."""
    parts = [
        Beside("calm", part, name, 500, time, 0.02 * time, 1.1 * time)
        for part, name, time in (
            ("all", "", 0.018),
            ("service", "web", 0.018),
            ("service", "database", 0.006),
        )
    ]
    return TracesBeside(parse_model(SERVICES), tuple(parts), {"calm": 20.0}, ())


PAGES: dict[str, Callable[[], list[Any]]] = {
    "Report": lambda: [
        measured_report(site(), measured(), ["delay", "service_time"]),
        measured_report(site(), measured()),
        fitted_report(server()),
        measured_report(site(), in_other_units(), ["service_time"]),
    ],
    "ModelReport": lambda: [
        report_model(site().at(arrival_rate=600.0)),
        report_model(site().closed(5).at(think_time=2.0)),
    ],
    "AuditReport": lambda: [AuditReport(audit(load_test()))],
    "DayReport": lambda: [
        DayReport(site().over(Day((0.0, 43200.0, 86400.0), (50.0, 300.0)), "9 ms"))
    ],
    "BuildsReport": lambda: [BuildsReport(compare_builds(load_test(), load_test()), load_test())],
    "TracesReport": lambda: [TracesReport(traced())],
}
"""Pages of every kind, by the names that `headway.models.door` knows."""
