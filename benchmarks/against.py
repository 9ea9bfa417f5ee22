"""Compare the speed of this tree with an earlier commit, in turns within one run.

``make benchmark-against REV=HEAD~1`` puts the commit into a temporary folder, starts one process
for each of the two trees with the same Python and packages, and lets them do each task of
`benchmarks.tasks` in turns. It prints least processor times and the median of the ratios of the
turns, and exits with 1 if a task has become slower than ``--at-most`` allows.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.tasks import TASKS

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("loggp", "queueing", "models", "cli")


@dataclass
class Tree:
    """A process that does tasks with the packages of a checkout."""

    folder: Path
    links: Path

    def __post_init__(self) -> None:
        """Lay out the checkout as one package, and start the process."""
        package = self.links / "headway"
        package.mkdir(parents=True)
        for file in (self.folder / "src/headway").iterdir():
            (package / file.name).symlink_to(file)
        for name in PACKAGES:
            (package / name).symlink_to(self.folder / name)
        path = os.pathsep.join([str(self.links), str(ROOT)])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.tasks"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        )

    def time(self, name: str) -> float | str:
        """Least processor time of a call [s], or what failed."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        try:
            return float(answer)
        except ValueError:
            return answer or "the process ended"

    def stop(self) -> None:
        """End the process."""
        self.process.communicate()


def compared(now: Tree, then: Tree, name: str, rounds: int) -> tuple[str, float]:
    """A line of the table, and the median ratio of the times now to those then."""
    turns = []
    for turn in range(rounds):
        order = (now, then) if turn % 2 else (then, now)
        pair = {id(tree): tree.time(name) for tree in order}
        each = pair[id(now)], pair[id(then)]
        if failed := [answer for answer in each if isinstance(answer, str)]:
            return f"{name:52}  {failed[0][:60]}", np.nan
        turns.append(each)
    times = np.array(turns, float)
    ratio = float(np.median(times[:, 0] / times[:, 1]))
    ours, theirs = times.min(axis=0) * 1e3
    return f"{name:52} {ours:10.3f} {theirs:10.3f} {ratio:7.2f}", ratio


def main(arguments: list[str]) -> int:
    """Print the table; 1 if a task has become slower than allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rev", help="the commit to compare with")
    parser.add_argument("--only", default="", help="tasks whose names contain this")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at-most", type=float, default=1.25, help="largest ratio that is allowed")
    chosen = parser.parse_args(arguments)
    slower = []
    with tempfile.TemporaryDirectory() as folder:
        then = Path(folder) / "then"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(then), chosen.rev], check=True)
        build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
        subprocess.run(build, cwd=then, capture_output=True, check=False)  # its kernels, as here
        trees = Tree(ROOT, Path(folder) / "links-now"), Tree(then, Path(folder) / "links-then")
        print(f"{'processor time of a call [ms]':52} {'now':>10} {chosen.rev[:10]:>10}   ratio")
        try:
            for name in (name for name in TASKS if chosen.only in name):
                line, ratio = compared(*trees, name, chosen.rounds)
                print(line, flush=True)
                slower += [name] if ratio > chosen.at_most else []
        finally:
            for tree in trees:
                tree.stop()
            subprocess.run([*git, "remove", "--force", str(then)], check=True)
    for name in slower:
        print(f"slower: {name}", file=sys.stderr)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
