"""Texts to spoil: what ships with headway, the pages and signatures of the tests, small models."""

from functools import lru_cache
from pathlib import Path

from headway.models.files.shipped import data_path, model_names
from tests.models.reading import test_readers
from tests.support import figures
from tests.support.tool_files import sample, samples

_MOST_LINES = 30
_LONGEST = 20_000  # characters of what a tool wrote
_CATALOGUE = data_path("").parent / "catalogue"

NETGAUGE = "# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)\n" + (
    "".join(
        f"{size} 10 20.0 65.0 227.0 10.0 3.0 2.0 5.0 0.001 0.1\n" for size in range(1, 9000, 1024)
    )
)
CURVE = "throughput_ops_s,response_ms\n" + "".join(
    f"{x},{2 + x / 400:.2f}\n" for x in range(100, 900, 100)
)
CLOSED = "clients,throughput_ops_s,response_p95_ms\n" + "".join(
    f"{n},{n * 9},{n + 3}.0\n" for n in range(1, 9)
)
STATIONS = """name = "stations"
doc = "every kind"
[parameters]
s = "5 ms"
k = 4
arrival_rate = {value = "20 /s", min = 0}
total = {formula = "2 * s + max(s, 1e-3)", unit = "ms"}
[links.lan]
platform = "now"
[stations.cpu]
kind = "MMm"
servers = 2
service_time = "s"
[stations.room]
kind = "MMmK"
servers = 2
capacity = "k"
service_time = "2 * s"
[stations.disk]
kind = "MG1"
service_time = "6 ms"
scv = 0.5
[stations.fixed]
kind = "MD1"
service_time = "1 ms"
[stations.general]
kind = "GGm"
servers = 3
service_time = "3 ms"
arrival_scv = 1.5
scv = 0.5
[stations.pool]
kind = "LoadDependent"
rates = ["100 /s", "180 /s", "200 /s"]
[stations.wan]
kind = "Delay"
service_time = "total + lan.latency"
[[routes]]
from = "cpu"
to = "disk"
probability = 0.5
[[routes]]
from = "disk"
to = "cpu"
probability = "1 / k"
[[routes]]
from = "disk"
to = "room"
probability = 0.5
[[routes]]
from = "room"
to = "fixed"
[[routes]]
from = "fixed"
to = "general"
[[routes]]
from = "general"
to = "pool"
[[routes]]
from = "pool"
to = "wan"
[outputs]
double = {formula = "2 * response_time", unit = "ms", doc = "twice"}
[presets.fast]
s = "1 ms"
"""
CLASSES = """name = "classes"
[parameters]
n = 3
[stations.cpu]
kind = "MM1"
service_time = {a = "5 ms", b = "7 ms"}
visits = {a = 2, b = 1}
[stations.net]
kind = "Delay"
service_time = "1 ms"
visits = 1
[classes.a]
population = "n"
think_time = "10 ms"
[classes.b]
arrival_rate = "10 /s"
"""
PLAIN = """name = "plain"
[parameters]
service_time = {value = "5 ms", doc = "of a job"}
arrival_rate = "100 /s"
servers = 2
[stations.cpu]
kind = "MMm"
servers = "servers"
service_time = "service_time"
"""
LOOP = """name = "loop"
[parameters]
arrival_rate = "10 /s"
[stations.a]
kind = "MM1K"
capacity = 5
service_time = "20 ms"
[stations.b]
kind = "Parallel"
servers = 3
service_time = "10 ms"
[[routes]]
from = "a"
to = "b"
[[routes]]
from = "b"
to = "a"
probability = 0.2
"""
SHARED = """name = "shared"
[parameters]
jobs = {value = 4, min = 0}
[stations.cpu]
kind = "MMm"
servers = 2
service_time = {a = "5 ms", b = "5 ms"}
[stations.disk]
kind = "Delay"
service_time = {a = "1 ms", b = 0}
[[routes]]
from = "cpu"
to = "disk"
[classes.a]
arrival_rate = "30 /s"
[classes.b]
population = "jobs"
think_time = "1 s"
"""
CLOSED_LOOP = """name = "closed-loop"
[parameters]
population = 6
think_time = "50 ms"
[stations.a]
kind = "LoadDependent"
rates = [1, 5, 1]
visits = 1.5
[stations.b]
kind = "MM1"
service_time = "0.1 * (1 + throughput)"
visits = 2
"""
PROGRAM = """name = "program"
[links.lan]
latency = "5 us"
send_overhead = "2 us"
receive_overhead = "3 us"
gap = "6 us"
gap_per_byte = "0.01 us/B"
convention = "papers"
[pipelines.net]
stages = ["first", "second"]
occupancy = ["1 us", "2 us"]
gap_per_byte = ["1 ns/B", "2 ns/B"]
transfer = "64 KiB"
packet = "1 KiB"
[outputs.run_time]
formula = "net.total_time + lan.latency"
unit = "us"
"""
MODELS = (STATIONS, CLASSES, PLAIN, LOOP, SHARED, CLOSED_LOOP, PROGRAM)
"""Small models with every kind of station and component."""

COMMANDS = """models --json
show {model}
show {model} --toml
show nfs-server --preset raid --json
solve {model} --set arrival_rate=10:100:10
solve {model} --set s=1ms,2ms --csv
solve {plain} --set service_time=1ms:5ms:1ms --set servers=1,2,3
solve {plain} --closed 10 --think 5ms --percentile 95
solve {plain} --population 1:20 --method schweitzer --json
solve nfs-server --preset raid --set arrival_rate=200:1600:200
solve server-single --set arrival_rate=100 --set service_time=650us
balance nfs-server --preset raid --preset scsi
compare {plain} --data {curve} --from 100 --to 700
compare {plain} --data {closed} --x throughput --y response_p95 --json
compare server-single --data {curve} --closed 5 --think 1s
fit server-single --data {curve} --free service_time --bound service_time=1us:10ms
fit {plain} --data {curve} --free service_time --fix servers=2 --loss huber
fit server-single --data {curve} --free service_time --next --target response_time<=9ms --budget 3
next --target response_time<=9ms --budget 6 --from 10 --to 5000 {curve}
sensitivity {plain} --set arrival_rate=150
sensitivity {plain} --target response_time=6ms --solve-for service_time
signature sfs {curve} --x throughput --y response_ms --from 100 --csv
signature sfs {page} --json
signature logp {logp} --rtt 12.8us --window 4
signature loggp {sizes} --pin 64KiB
signature storage {curve} --utilisation 80%
signature collective {sizes} --operation all_gather --at n=8,size=1MiB
reproduce thesis/table-3.3 --errata"""
"""Command lines; names in braces stand for files."""

LOGS = (
    "jmeter/jmeter-5.6.3.csv", "jmeter/jmeter-5.6.3.xml", "k6/points.ndjson", "gatling/open.log",
    "locust/stats_history.csv", "hey/requests.csv",
)  # fmt: skip
"""Logs with a line for each request, which are read line by line."""

IMPORTED = sorted((Path(__file__).parents[1] / "data" / "peer_models").glob("*.jsimg"))
"""Models of another tool."""

QUANTITIES = (
    "650 us",
    "3.4ms",
    "12 kB",
    "800 op/s",
    "1.5",
    "40%",
    "2 MB*s/op",
    "1e-3 s",
    "5 us/message",
)
SWEEPS = ("1,2,5", "200:1400:100", "1ms:5ms:1ms", "0:1:0.1", "5:1:-2", "650us", "1,2,5 ms")
FORMULAS = (
    "1 - min(1, memory / touched)",
    "cpu_time + 2.4 * added_overhead",
    "where(x > 3, a ** 2, sqrt(b)) / cpu.utilisation",
    "ceil(n / 4) * (log(x) + exp(-y)) - abs(z)",
)  # fmt: skip


def _short(path):
    """The first lines of a shipped file."""
    return "\n".join(path.read_text(encoding="utf-8").splitlines()[:_MOST_LINES]) + "\n"


def _begin(text):
    """The first lines of what a tool wrote; JSON as it is."""
    if len(text) < _LONGEST or text.lstrip()[:1] == "{":
        return text
    return text[: text.rfind("\n", 0, _LONGEST) + 1] or text


@lru_cache(maxsize=1)
def texts():
    """Texts by what they are."""
    shipped = sorted(Path(data_path("")).glob("*/*.csv")) + sorted(
        data_path("").glob("*/curves/*.csv")
    )
    pages = [
        value
        for name, value in vars(test_readers).items()
        if name.isupper() and isinstance(value, str)
    ]
    models = [_short(_CATALOGUE / f"{name}.toml") for name in model_names()]
    whole = [(_CATALOGUE / f"{name}.toml").read_text(encoding="utf-8") for name in model_names()]
    tools = tuple(map(_begin, map(sample, samples())))
    return {
        "quantity": QUANTITIES,
        "sweep": SWEEPS,
        "formula": FORMULAS,
        "table": (CURVE, CLOSED, *map(_short, shipped)),
        "page": tuple(pages),
        "model": (*MODELS, *models, *whole),
        "sizes": (NETGAUGE, figures.sizes_text()),
        "collective": (*map(sample, samples("nccl")), figures.collectives_text()),
        "bursts": (figures.logp_text(),),
        "command": tuple(COMMANDS.splitlines()),
        "tool": tools,
        "archive": (CURVE, CLOSED, *tools),
        "log": tuple(map(_begin, map(sample, LOGS))),
        "import": tuple(path.read_text(encoding="utf-8") for path in IMPORTED),
    }
