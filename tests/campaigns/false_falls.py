"""How often throughput is said to fall where it only scatters.

python -m tests.campaigns.false_falls        the table of docs/accuracy/fits.md: 1,000 curves a cell
python -m tests.campaigns.false_falls 30     30 curves a cell

No constant or label names it; docs/accuracy/fits.md has its figures.
"""

import numpy as np

from headway.models.auditing.runs import falls
from headway.models.measured.points import Loop, Point
from tests import campaigns

CURVES, COUNTS, SCATTERS = 1000, (5, 7, 9, 12), (0.03, 0.05, 0.1, 0.3)


def sweep(rates, clients, **more):
    """A closed test with these rates."""
    pairs = zip(clients, rates, strict=False)
    return [
        Point("closed", Loop.CLOSED, population=float(n), throughput=float(x), **more)
        for n, x in pairs
    ]


def alarms(count: int, scatter: float, curves: int) -> float:
    """The share of curves said to fall; a third each is flat, saturates, or stops rising."""
    random = np.random.default_rng([count, int(scatter * 100)])
    loads = 2.0 ** np.arange(count)
    shapes = (np.ones(count), loads / (loads + 4), np.minimum(loads, 8))
    said = (
        any(falls(sweep(shapes[k % 3] * np.exp(scatter * noise), loads)))
        for k, noise in enumerate(random.standard_normal((curves, count)))
    )
    return sum(said) / curves


def main() -> None:
    """Print the table."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("curves", nargs="?", type=int, default=CURVES)
    curves = parser.parse_args().curves
    print(f"| points | {' | '.join(f'scatter of {s:.0%}' for s in SCATTERS)} |")
    print(f"|---|{'---|' * len(SCATTERS)}")
    for count in COUNTS:
        cells = " | ".join(f"{alarms(count, scatter, curves):.1%}" for scatter in SCATTERS)
        print(f"| {count} | {cells} |", flush=True)


if __name__ == "__main__":
    campaigns.run(__spec__)
