"""Peak memory of simulations of 10^6, 10^7 and 10^8 events, each in a process of its own.

Run with ``python -m benchmarks.memory``; ``--most 1e7`` stops earlier. Two stations in a row, 80%
busy, with the time of each journey kept for percentiles; a hundred million events take about a
minute of a processor.
"""

import argparse
import resource
import subprocess
import sys

from headway.models import ModelGraph
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.playing.run import Run
from headway.models.simulating.scoring import score_of
from headway.queueing import MM1

EVENTS = (1e6, 1e7, 1e8)
EACH = 3  # events of a job: it arrives, and leaves two stations


def play(events: float) -> None:
    """Play about so many events, and print how many there were and the peak of memory [bytes]."""
    graph = ModelGraph("row").station("a", MM1(0.8)).station("b", MM1(0.8)).route("a", "b")
    run = Run(score_of(blueprint(graph.at(arrival_rate=1.0))), 1, 0, kept=True)
    run.play(events / EACH)
    run.counts.times().percentile(99)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(run.events, most * (1 if sys.platform == "darwin" else 1024))


def peak(events: float) -> tuple[int, int]:
    """Events played, and the peak of memory of a process that plays them [bytes]."""
    command = [sys.executable, "-m", "benchmarks.memory", "--play", str(events)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    played, most = map(int, done.stdout.split())
    return played, most


def main() -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=float, default=EVENTS[-1])
    parser.add_argument("--play", type=float, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.play:
        play(chosen.play)
        return
    print(f"{'events':>13} {'peak memory [MB]':>17} {'of the first':>13}")
    first = 0
    for events in (each for each in EVENTS if each <= chosen.most):
        played, most = peak(events)
        first = first or most
        print(f"{played:13,} {most / 1e6:17.1f} {most / first:13.3f}", flush=True)


if __name__ == "__main__":
    main()
