"""The form chosen for curves that a known form made: a confusion matrix.

    python -m tests.campaigns.form_confusion             50 curves each form, 10 where the load is
                                                         a population: docs/accuracy/fits.md
    python -m tests.campaigns.form_confusion 5 server-p  5 curves each whose name begins so

Curves have 10 points and independent errors of 2% in response time. Parameters are drawn so that
what distinguishes a form from the simpler ones is visible: see `CASES`, where x_s is the load at
which the curve saturates, S the service time and D the delay.

No constant or label names it; docs/accuracy/fits.md has its figures.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from headway.models import Measurements, catalogue_model
from headway.models.inference.server import choose_form
from tests import campaigns

POINTS, NOISE, CURVES, FEWER = 10, 0.02, 50, 5
LIKELY = 0.05
"""AICc weight above which a form that is not chosen still counts as possibly right."""

POPULATIONS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
OPEN, BENT, UNBENT, POPULATION = "open", "bent", "not bent", "population"

Values = dict[str, float]


@dataclass(frozen=True)
class Case:
    """Curves that one form makes.

    Parameters
    ----------
    form
        Model of the catalogue.
    load
        Open; paced by a population beyond the load where the curve bends back, or up to there; or a
        population.
    draw
        Draws the parameters other than the load, from a service time [s] and a random generator.
    words
        A description of what is drawn.
    top
        Highest load as a share of the saturation load.
    """

    form: str
    load: str
    draw: Callable[[float, np.random.Generator], Values]
    words: str
    top: float = 0.95

    @property
    def name(self) -> str:
        return f"{self.form}, {self.load}"


def _delay(s, random, low=0.5, high=3.0):
    return {"service_time": s, "delay": s * random.uniform(low, high)}


def _servers(s, random):
    return {"service_time": s, "servers": random.uniform(2, 8)}


def _whole_servers(s, random, low=3, high=12):
    return _delay(s, random, 0.2, 1) | {"servers": float(random.integers(low, high + 1))}


def _contention(s, random):
    value = _servers(s, random) | {"delay": 0.0}
    return value | {"contention": random.uniform(2, 4) * s * s / value["servers"]}


def _batching(s, random):
    value = _servers(s, random) | {"delay": 0.0, "wake_up": s * random.uniform(2, 6)}
    return value | {"batching_load": random.uniform(0.1, 0.3) * value["servers"] / s}


def _cache(s, random):
    value = _servers(s, random) | {"delay": 0.0, "miss_time": s * random.uniform(1, 4)}
    return value | {"cached_load": random.uniform(0.25, 0.45) * value["servers"] / s}


def _step(s, random):
    value = _servers(s, random) | {"delay": 0.0, "step": s * random.uniform(1, 3)}
    return value | {"step_load": random.uniform(0.4, 0.6) * value["servers"] / s}


def _misses(s, random):
    growth = random.uniform(2, 4)
    return {
        "delay": s,
        "disk_time": s * random.uniform(3, 8),
        "full_load": random.uniform(3, 10) / s,
        "growth": growth,
    }


def _closed(s, random):
    result = _whole_servers(s, random, 2, 8)
    return result | {"population": float(round(result["servers"] * random.uniform(3, 8)))}


def _shares(s, random):
    return _servers(s, random) | _delay(s, random, 0, 1.5)


def _few_servers(s, random):
    return _whole_servers(s, random, 2, 8)


def _sometimes(s, random):
    return {"delay": float(s * random.uniform(0.5, 2) * random.integers(2)), "request_time": s}


def _wakeup(s, random):
    return _sometimes(s, random) | {"wake_up": s * random.uniform(0.5, 2)}


def _slowing(s, random):
    return _sometimes(s, random) | {"growth": random.uniform(0.05, 0.3)}


def _batch(s, random):
    largest = float(random.integers(6, 17))
    return {
        "batch_time": s,
        "request_time": s * random.uniform(0.02, 0.1),
        "largest_batch": largest,
    }


def _usl(s, random):
    shares = {"contention": random.uniform(0.05, 0.15), "coherence": random.uniform(2e-3, 1e-2)}
    return {"first_rate": 1 / s} | shares


CASES = (
    Case("server-single", OPEN, _delay, "D 0.5 to 3 S"),
    Case("server", OPEN, _shares, "2 to 8 servers, D 0 to 1.5 S"),
    Case("server-pool", OPEN, _whole_servers, "3 to 12 servers, D 0.2 to 1 S"),
    Case("server-contention", OPEN, _contention, "contention 2 to 4 S at x_s", 0.85),
    Case("server-misses", OPEN, _misses, "disk time 3 to 8 D, growth 2 to 4", 0.9),
    Case("server-cache", OPEN, _cache, "a cache for 0.25 to 0.45 x_s, misses 1 to 4 S", 0.85),
    Case("server-batching", OPEN, _batching, "wake-up 2 to 6 S, half at 0.1 to 0.3 x_s", 0.85),
    Case("server-step", OPEN, _step, "a step of 1 to 3 S at 0.4 to 0.6 x_s", 0.85),
    Case("server-closed", BENT, _closed, "2 to 8 servers, 3 to 8 clients each", 0.99),
    Case("server-closed", UNBENT, _closed, "2 to 8 servers, 3 to 8 clients each", 0.99),
    Case("server-single", POPULATION, _delay, "D 0.5 to 3 S"),
    Case("server-pool", POPULATION, _whole_servers, "3 to 12 servers, D 0.2 to 1 S"),
    Case("server-closed", POPULATION, _few_servers, "2 to 8 servers, D 0.2 to 1 S"),
    Case("server-wakeup", POPULATION, _wakeup, "wake-up 0.5 to 2 S, D 0 or 0.5 to 2 S"),
    Case("server-slowing", POPULATION, _slowing, "growth 0.05 to 0.3, D 0 or 0.5 to 2 S"),
    Case("server-batch", POPULATION, _batch, "batches of 6 to 16, each request 0.02 to 0.1 S"),
    Case("server-usl", POPULATION, _usl, "contention 0.05 to 0.15, coherence 0.002 to 0.01"),
)


def curve(case: Case, seed: int) -> Measurements:
    """Draw a form's parameters and noise, and measure its curve."""
    random = np.random.default_rng([seed, *case.name.encode()])
    values = case.draw(10 ** random.uniform(-3.3, -1.7), random)
    model = catalogue_model(case.form).at(values)
    if case.load == OPEN:
        inputs = {name: float(value) for name, value in model.inputs.items()}
        limit = float(model.form.saturation.evaluate(inputs))
        rates = np.linspace(0.1, 1, POINTS) * case.top * limit
        times = np.asarray(model.solve(arrival_rate=rates).response_time)
        noisy = times * _noise(random)
        return _table(case, ("throughput_ops_s", rates), ("response_s", noisy))
    if case.load == POPULATION:
        return _circulating(case, values, random)
    return _open_curve(case, values, random)


def _circulating(case: Case, values: Values, random: np.random.Generator) -> Measurements:
    """Response times of clients that do not think; throughput would be equivalent, N / R."""
    clients = np.array(POPULATIONS, float)
    model = catalogue_model(case.form).at({n: v for n, v in values.items() if n != "population"})
    model = model if model.is_closed else model.closed(1, 0.0)
    times = np.array([float(model.at(population=n).solve().response_time) for n in clients])
    return _table(case, ("population", clients), ("response_s", times * _noise(random)))


def _open_curve(case: Case, values: Values, random: np.random.Generator) -> Measurements:
    """Clients that think less and less; with a bend, three more points where throughput falls."""
    model = catalogue_model(case.form).at(values)
    most = float(model.at(think_time=0.0).solve().throughput)
    shares = np.linspace(0.1, case.top, POINTS if case.load == UNBENT else POINTS - 3)
    thinks = [_think(model, share * most) for share in shares]
    solved = [model.at(think_time=think).solve() for think in thinks]
    rates = np.array([float(one.throughput) for one in solved])
    times = np.array([float(one.response_time) for one in solved])
    if case.load == BENT:
        full = most * np.array([1.0, 0.98, 0.95])
        rates = np.concatenate([rates, full])
        times = np.concatenate([times, values["population"] / full])
    noisy = times * _noise(random)
    return _table(case, ("throughput_ops_s", rates), ("response_s", noisy))


def _think(model, rate: float) -> float:
    """The think time that gives a throughput, by bisection."""
    low, high = 0.0, float(model.inputs["population"]) / rate
    for _ in range(50):
        middle = (low + high) / 2
        faster = float(model.at(think_time=middle).solve().throughput) > rate
        low, high = (middle, high) if faster else (low, middle)
    return high


def _noise(random: np.random.Generator):
    return 1 + NOISE * random.standard_normal(POINTS)


def _table(case: Case, *columns) -> Measurements:
    titles = ",".join(title for title, _ in columns)
    rows = zip(*(values for _, values in columns), strict=True)
    text = "\n".join(",".join(f"{cell:.9g}" for cell in row) for row in rows)
    return Measurements.parse(f"{titles}\n{text}\n", f"{case.name}.csv")


def chosen(case: Case, seed: int) -> tuple[str, bool]:
    """The form chosen for a curve, and whether the one that made it may be right."""
    server = choose_form(curve(case, seed))
    weights = zip(server.candidates, server.weights, strict=True)
    return server.form.model, any(
        form.model == case.form and weight >= LIKELY for (form, _), weight in weights
    )


def main() -> None:
    """Print one line per form: how often it was chosen for its curves, and the other choices."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("curves", nargs="?", type=int, default=CURVES)
    parser.add_argument("begins", nargs="?", default="", help="how the form's name begins")
    options = parser.parse_args()
    counts = {
        case: _count(case, options.curves) for case in CASES if case.name.startswith(options.begins)
    }
    right, total = Counter(), Counter()
    print("| form that made them | drawn | chosen | may be right | chosen instead |")
    print("|---|---|---|---|---|")
    with campaigns.shared(options) as done:
        tasks = [(case, seed) for case, count in counts.items() for seed in range(count)]
        ends = done(_chosen, tasks)
        for case, count in counts.items():
            right[case.load] += _line(case, list(islice(ends, count)))
            total[case.load] += count
    for load, count in total.items():
        print(f"{load}: {right[load]} of {count}, {right[load] / count:.1%}")


def _count(case: Case, curves: int) -> int:
    return max(curves // FEWER, 1) if case.load == POPULATION else curves


def _chosen(task: tuple[Case, int]) -> tuple[str, bool]:
    return chosen(*task)


def _line(case: Case, ends: Sequence[tuple[str, bool]]) -> int:
    """Print the line of a form; return for how many curves it was chosen."""
    count = len(ends)
    others = Counter(form for form, _ in ends if form != case.form)
    hits, likely = count - others.total(), sum(form == case.form or may for form, may in ends)
    instead = ", ".join(f"{times} `{form}`" for form, times in others.most_common()) or "-"
    name = f"`{case.form}`, {case.load}"
    print(f"| {name} | {case.words} | {hits} of {count} | {likely} | {instead} |", flush=True)
    return hits


if __name__ == "__main__":
    campaigns.run(__spec__)
