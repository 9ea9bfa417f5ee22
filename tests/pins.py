"""What the constraints pin: versions that install on every Python that setup.cfg names.

``python -m tests.pins`` lets uv resolve them for the oldest Python and the newest, and installs
nothing. ``python -m tests.pins --oldest > constraints-oldest.txt`` pins the oldest versions that
run headway, with what some tests need.
"""

import configparser
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
NEWEST, OLDEST = "constraints.txt", "constraints-oldest.txt"
TOOLS = (
    "hypothesis",
    "jsonschema",
    "nbclient",
    "nbformat",
    "polars",
    "pytest",
    "pytest-xdist",
    "pyyaml",
)
"""What the tests of `make test-oldest` need beside headway's own packages."""
DEVELOPERS = "dev"
"""The extra that installs what developers work with."""


def setup() -> configparser.ConfigParser:
    """What setup.cfg says."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def pythons() -> list[str]:
    """The first release of the oldest Python that is named, and the newest one."""
    text = setup()
    oldest = text["options"]["python_requires"].removeprefix(">=")
    named = re.findall(r":: 3\.(\d+)$", text["metadata"]["classifiers"], re.MULTILINE)
    return [f"{oldest}.0", f"3.{max(map(int, named))}"]


def used() -> list[str]:
    """What headway calls: what it needs, and what it uses where it is installed."""
    extras = setup()["options.extras_require"]
    return sorted({line for extra in extras if extra != DEVELOPERS for line in lines(extra)})


def requirements() -> list[str]:
    """What headway calls, and what its developers work with."""
    return sorted({*used(), *lines(DEVELOPERS)})


def lines(extra: str) -> list[str]:
    """What headway needs with an extra, as setup.cfg has it."""
    text = setup()
    needed = text["options"]["install_requires"] + text["options.extras_require"][extra]
    return needed.strip().splitlines()


def least(line: str) -> tuple[str, str]:
    """The name of a package in a line of setup.cfg, and its oldest version.

    Examples
    --------
    >>> least('Backports.zstd>=1.0; python_version < "3.14"')
    ('backports-zstd', '1.0')
    """
    name, _, version = line.partition(";")[0].partition(">=")
    return plain(name), version.strip()


def pins(text: str) -> dict[str, str]:
    """Versions by the names of packages, from lines such as ``numpy==2.4.6``."""
    pairs = (line.split("==") for line in text.splitlines() if line and line[0] not in "# ")
    return {plain(name): version for name, version in pairs}


def pinned(file: str) -> dict[str, str]:
    """What a file pins."""
    return pins((ROOT / file).read_text())


def plain(name: str) -> str:
    """A package's name as indexes write it.

    Examples
    --------
    >>> plain("Scipy_Stubs")
    'scipy-stubs'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def resolve(
    needed: Sequence[str], python: str, *options: str
) -> "subprocess.CompletedProcess[str]":
    """Let uv say what would be installed, from wheels only."""
    command = [
        *(sys.executable, "-m", "uv", "pip", "compile", "--no-header", "--no-annotate"),
        *("--only-binary", ":all:", "--python-version", python, *options, "-"),
    ]
    text = "\n".join(needed)
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def faults(python: str) -> Iterator[str]:
    """What does not hold of the constraints with a version of Python."""
    done = resolve(requirements(), python, "--constraints", str(ROOT / NEWEST))
    if done.returncode:
        yield done.stderr.strip()
    yield from (line for line in done.stderr.splitlines() if "is yanked" in line)
    missing = pins(done.stdout).items() - pinned(NEWEST).items()
    yield from (f"{NEWEST} does not pin {name}=={version}" for name, version in sorted(missing))


def oldest() -> str:
    """The oldest versions that setup.cfg allows, and the tools that the tests run with."""
    known = pinned(NEWEST)
    tools = [f"{name}=={known[name]}" for name in TOOLS]
    needed = [*used(), *tools]
    done = resolve(needed, pythons()[0], "--resolution", "lowest-direct")
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def main(arguments: Sequence[str]) -> int:
    """Print what does not hold; the exit code says whether anything does not."""
    if "--oldest" in arguments:
        sys.stdout.write(
            f"# The oldest versions that run headway; `make test-oldest` installs them.\n{oldest()}"
        )
        return 0
    found = [f"Python {python}: {fault}" for python in pythons() for fault in faults(python)]
    fine = f"{NEWEST}: every pin installs on Python {' and '.join(pythons())}"
    sys.stdout.write("\n".join(found or [fine]) + "\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
