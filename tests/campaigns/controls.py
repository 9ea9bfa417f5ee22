"""How much of simulations' variance is explained by random variation of arrivals and services.

``python -m tests.campaigns.controls`` simulates replicas of ten stations in a row, each 80% busy,
and regresses mean response time and p99 on control variates with known means: the throughput and
the utilisation of each station. It prints the share of the variance that they explain, less the
share that as many meaningless numbers would. Where that share is small, estimating coefficients
costs more jobs than they save.
"""

import numpy as np

from benchmarks.tasks import row_of_stations
from headway.models.simulating import runs

PERCENT, COUNT = 99.0, 240


def explained(values, controls):
    """Adjusted share of the variance that a regression explains."""
    columns = np.column_stack([np.ones(len(values)), *controls])
    rest = values - columns @ np.linalg.lstsq(columns, values, rcond=None)[0]
    free = len(values) - columns.shape[1]
    return 1 - float(rest @ rest / free / values.var(ddof=1))


def main():
    """Print both shares."""
    model = row_of_stations()
    game = runs._game(model, (PERCENT,))
    played = [game.replica(game.planned, (PERCENT,), 1, number) for number in range(COUNT)]
    made = [each.results for each in played]
    names = ["throughput", *(f"{name}.utilisation" for name in model.graph.stations)]
    controls = [np.array([each[name] for each in made]) for name in names]
    for name in ("response_time", "response_time_p99"):
        values = np.array([each[name] for each in made])
        print(f"{name}: {100 * explained(values, controls):.0f}%")


if __name__ == "__main__":
    main()
