"""Pages for the tests of reports: made once, and read without a browser."""

from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser

import numpy as np

from headway.models import Measurements, catalogue_model, data_path
from headway.models.files.reading import parse_model
from headway.models.language.titles import header
from headway.models.reports.report import measured_report

RAID = data_path("network_sensitivity/table_a_5_raid_performance.csv")
SCSI = data_path("network_sensitivity/table_a_1_scsi_performance.csv")
VENDOR = data_path("sfs_results/curves/laddis-1994q3-auspex-ns7000-510-20eth.csv")
PROGRAM = "added_overhead_us,run_time_s\n0,7.8\n1,10.5\n10,32.9\n50,138\n100,270\n"
GAP = "added_gap_us,run_time_s\n0,7.8\n5,11.5\n25,40\n100,135\n"
FAMILIES = (
    "throughput_ops_s,added_overhead_us,response_ms\n"
    "300,0,3.4\n600,0,4.9\n900,0,8.8\n300,100,4.1\n600,100,7.5\n900,100,15.2\n"
)
MIXED = """
name = "mixed"
doc = "stations of other kinds, and a pool of 24 servers that no slider moves"
[parameters]
service_time = { value = "1 ms", min = "0 s" }
spread = { value = 0.5, min = 0 }
[stations.front]
kind = "MG1"
service_time = "service_time"
scv = "spread"
[stations.pool]
kind = "MMm"
service_time = "20 ms"
servers = 24
[stations.apart]
kind = "Parallel"
service_time = "3 * service_time"
servers = 6
[[routes]]
from = "front"
to = "pool"
probability = "where(spread > 0.2, 0.9, 0.5)"
[[routes]]
from = "front"
to = "apart"
probability = 0.1
"""
TAIL = "throughput_ops_s,p99_ms\n100,7.3\n300,8.9\n500,11.5\n700,17.9\n900,49\n"
LINE = """
name = "line"
[parameters]
delay = { value = "2 ms", min = "0 s" }
service_time = { value = "1 ms", min = "0 s" }
[stations.network]
kind = "Delay"
service_time = "delay"
[stations.cpu]
kind = "MM1"
service_time = "service_time"
[[routes]]
from = "network"
to = "cpu"
"""
CURVE = "throughput_ops_s,response_ms\n100,19\n300,20\n500,21\n700,24\n900,33\n"


def report(model, data, free=(), preset=None, y=None, **values):
    chosen = catalogue_model(model) if isinstance(model, str) else model
    chosen = chosen.with_preset(preset) if preset else chosen
    measured = Measurements.parse(data, "own.csv") if "\n" in str(data) else None
    return measured_report(chosen.at(values), measured or Measurements.read(data), free, y=y)


CASES = {
    "nfs-raid": lambda: report("nfs-server", RAID, preset="raid"),
    "nfs-scsi-fitted": lambda: report("nfs-server", SCSI, ("delay", "cpu_time"), "scsi"),
    "pool": lambda: report("server-pool", VENDOR, servers=8.0, service_time=1.6e-3),
    "server-fitted": lambda: report("server", VENDOR, ("delay", "service_time", "servers")),
    "cache": lambda: report("server-cache", VENDOR, servers=8.0, cached_load=2000.0),
    "contention": lambda: report("server-contention", RAID),
    "mixed": lambda: report(parse_model(MIXED, "mixed.toml"), CURVE),
    "program": lambda: report("program-overhead", PROGRAM, preset="radix"),
    "gap": lambda: report("program-gap", GAP, preset="em3d-write"),
    "families": lambda: report("nfs-server", FAMILIES, preset="raid"),
    "percentile": lambda: report(parse_model(LINE, "line.toml"), TAIL, y="p99_ms"),
    "closed": lambda: report("server-nfs", RAID, preset="raid"),
}
"""Reports by name; all but the closed one have a panel."""
QUICK = CASES.keys() - {"cache", "contention", "gap"}
"""Those of every run: the others are like pool and program."""


@lru_cache
def of_catalogue(name):
    """A model of the catalogue against data that it makes itself, 5% too high."""
    model = catalogue_model(name)
    model = model.with_preset(next(iter(model.presets))) if model.presets else model
    added = (p for p in model.parameters if p.startswith("added_"))
    load = next(added, next(iter(model.parameters)))
    load = "arrival_rate" if "arrival_rate" in model.parameters else load
    parameter = model.parameters[load]
    middle = float(parameter.value) or 10 * parameter.unit.scale
    if load == "arrival_rate":
        limit = float(model.solve().saturation_throughput)
        middle = 0.5 * limit if np.isfinite(limit) else middle  # a room never saturates
    loads = np.linspace(0.5, 1.5, 5) * middle
    has_own = "response_time" in model.graph.outputs or not model.graph.stations
    output = next(iter(model.graph.outputs)) if has_own else "response_time"
    values = np.broadcast_to(model.at({load: loads}).solve()[output], loads.shape)
    units = parameter.unit.dimension, model.meaning(output).unit.dimension
    titles = ",".join(map(header, (load, output), units))
    rows = [f"{x!r},{1.05 * y!r}" for x, y in zip(loads.tolist(), values.tolist(), strict=True)]
    data = Measurements.parse("\n".join([titles, *rows]), "own.csv")
    return measured_report(model, data, y=output)


@lru_cache
def made(name):
    return CASES[name]()


@lru_cache
def html(name):
    return made(name).to_html()


@dataclass
class Node:
    tag: str
    attributes: dict
    children: list = field(default_factory=list)
    words: list = field(default_factory=list)

    @property
    def text(self):
        return "".join(self.words)

    def every(self, *tags):
        for child in self.children:
            if not tags or child.tag in tags:
                yield child
            yield from child.every(*tags)


class Reader(HTMLParser):
    """Read a page into nodes; every element but the void ones has to be closed."""

    VOID = frozenset({"meta", "link", "input", "br", "img"})

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open = [Node("page", {})]

    def handle_starttag(self, tag, attrs):
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in self.VOID:
            self.open.append(node)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].children.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag):
        node = self.open.pop()
        assert node.tag == tag, f"{node.tag} is closed by {tag}"

    def handle_data(self, data):
        for node in self.open:
            node.words.append(data)


def parsed(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert [node.tag for node in reader.open] == ["page"]
    return reader.open[0]
