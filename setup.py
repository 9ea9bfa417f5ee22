"""The kernels in C, which installing builds where there is a compiler; all else is in setup.cfg."""

import sys
from pathlib import Path

from setuptools import Extension, setup

FOLDER = Path("queueing/compiled")
# Without contraction a kernel rounds as its twin in Python does, on any processor.
FLAGS = ["/std:c11"] if sys.platform == "win32" else ["-std=c11", "-O3", "-ffp-contract=off"]

setup(
    ext_modules=[
        Extension(
            "headway.queueing.compiled._kernels",
            sorted(map(str, FOLDER.glob("*.c"))),
            depends=sorted(map(str, FOLDER.glob("*.h"))),
            extra_compile_args=FLAGS,
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
