"""Some numeric tests as other processors would run them.

``python -m tests.processors`` takes from numpy the instructions that older processors lack, and
lets OpenBLAS use the kernels of other ones, with one thread and with two. One of them runs headway
without kernels of its own, as where no compiler built them.
"""

import importlib
import os
import subprocess
import sys
from dataclasses import dataclass

from headway.queueing.compiled.library import SWITCH

TESTS = (
    "queueing/test_caches",
    "queueing/classes/test_chains",
    "queueing/test_marginals",
    "models/solving/test_percentile_forms",
    "queueing/classes/test_recursion",
)
"""Tests of sums, of searches and of linear algebra: 10 s of a processor each time."""


@dataclass(frozen=True)
class Processor:
    """Another processor.

    Parameters
    ----------
    name
        What it is.
    lacks
        How the names of the instructions begin that numpy may not use there.
    core
        The processor whose kernels OpenBLAS takes.
    threads
        The threads of OpenBLAS.
    kernels
        Whether kernels in C are used, or their twins in Python.
    """

    name: str
    lacks: tuple[str, ...]
    core: str
    threads: int
    kernels: bool = True

    def environment(self) -> dict[str, str]:
        """What numpy, OpenBLAS and headway read when they are imported."""
        lacking = [name for name in instructions() if name.startswith(self.lacks)]
        return {
            "NPY_DISABLE_CPU_FEATURES": " ".join(lacking),
            "OPENBLAS_CORETYPE": self.core,
            "OPENBLAS_NUM_THREADS": str(self.threads),
            SWITCH: str(int(self.kernels)),
        }


PROCESSORS = (
    Processor("without AVX-512", ("AVX512", "X86_V4"), "Haswell", 1),
    Processor("without AVX", ("",), "Nehalem", 2, kernels=False),
)


def instructions() -> list[str]:
    """Those of this processor that numpy has code for beyond its least, by its names."""
    numpy = importlib.import_module("numpy._core._multiarray_umath")
    return [name for name in numpy.__cpu_dispatch__ if numpy.__cpu_features__[name]]


def main() -> int:
    """Run the tests as each of the processors; the exit code is that of the first that fails."""
    files = [f"tests/{name}.py" for name in TESTS]
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-m", "not slow", *files]
    for processor in PROCESSORS:
        sys.stdout.write(f"as a processor {processor.name}:\n")
        sys.stdout.flush()
        done = subprocess.run(command, env=os.environ | processor.environment(), check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
