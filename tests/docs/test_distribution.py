"""What is handed to others: wheel, source archive, citation, hooks; `make dist` installs them."""

import configparser
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string

import pytest
import yaml

import headway
from tests.support.places import ROOT

FOLDERS = {"src/headway": "headway"} | {
    name: f"headway/{name}" for name in ("loggp", "queueing", "models", "cli")
}
SETUP = ("setup.cfg", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
SETUP += ("CHANGELOG.md",)
C_SOURCES, LIBRARY = (".c", ".h"), ".so"
BUILD = "from setuptools.build_meta import *; "
SOURCE, WHEEL = "build_sdist('out'); ", "build_wheel('out')"
# What the kernels do is tested as they were installed: here they need not be quick.
HASTY = '#!/bin/sh\nexec cc "$@" -O0\n'
needs_setuptools = pytest.mark.skipif(
    importlib.util.find_spec("setuptools") is None, reason="needs setuptools"
)


def shipped():
    """Every file of the package but what was compiled, as it stands in the clone, by its place."""
    for folder, place in FOLDERS.items():
        for path in (ROOT / folder).rglob("*"):
            made = "__pycache__" in path.parts or path.suffix == LIBRARY
            if path.is_file() and not made:
                yield f"{place}/{path.relative_to(ROOT / folder).as_posix()}", path


def build(place, what, **variables):
    """Wheel or source archive of a copy, or both, as an installer's build step makes them."""
    ignore = shutil.ignore_patterns("__pycache__", f"*{LIBRARY}")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, place / folder, ignore=ignore)
    for name in (*SETUP, "CITATION.cff"):
        shutil.copy(ROOT / name, place)
    command = [sys.executable, "-c", BUILD + what]
    environment = os.environ | variables
    run = subprocess.run(
        command, cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return sorted(place.glob("out/*"), key=lambda path: path.suffix)  # .gz, then .whl


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    compiler = tmp_path_factory.mktemp("compiler") / "cc"
    compiler.write_text(HASTY)
    compiler.chmod(0o755)
    source, wheel = build(tmp_path_factory.mktemp("clone"), SOURCE + WHEEL, CC=str(compiler))
    return source, wheel


@needs_setuptools
def test_the_wheel_holds_the_package_and_nothing_else(built):
    with zipfile.ZipFile(built[1]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        wanted = {place: path for place, path in shipped() if path.suffix not in C_SOURCES}
        same = {place: wheel.read(place) == path.read_bytes() for place, path in wanted.items()}

    compiled = {name for name in names if name.endswith(LIBRARY)}  # where there is a compiler
    assert names - compiled == set(same)
    assert len(compiled) <= 1
    assert all(same.values())


@needs_setuptools
def test_a_machine_without_a_compiler_gets_all_but_the_kernels(tmp_path):
    (made,) = build(tmp_path, WHEEL, CC="no-such-compiler")

    with zipfile.ZipFile(made) as wheel:
        names = wheel.namelist()
    assert "headway/queueing/compiled/library.py" in names
    assert not any(name.endswith(LIBRARY) for name in names)


@needs_setuptools
def test_the_source_archive_builds_the_same(built):
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    wanted = {path.relative_to(ROOT).as_posix() for _, path in shipped()}
    assert wanted | set(SETUP[:2]) | {"README.md", "LICENSE", "CITATION.cff"} <= names
    assert not any(name.startswith(("tests", "docs", "notebooks", "build")) for name in names)


@needs_setuptools
def test_the_wheel_says_what_it_is_and_needs(built):
    with zipfile.ZipFile(built[1]) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        result = message_from_string(wheel.read(name).decode())

    assert result["Version"] == headway.__version__
    assert result["License-Expression"] == "BSD-3-Clause"
    assert result["Description-Content-Type"] == "text/markdown"
    needed = {line for line in result.get_all("Requires-Dist") if "extra ==" not in line}
    assert len(needed) == len(options()["install_requires"].split())
    assert result.get_payload().strip() == (ROOT / "README.md").read_text().strip()


def options():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    return setup["options"]


def test_the_citation_is_of_this_version_and_licence():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())

    assert {"cff-version", "message", "title", "authors"} <= set(cited)  # what the format demands
    assert cited["cff-version"] == "1.2.0"
    assert cited["version"] == headway.__version__
    assert cited["license"] == "BSD-3-Clause"
    assert cited["authors"] == [{"name": "the headway developers"}]


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_hooks_run_what_make_runs(tmp_path):
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    hooks = {hook["id"]: hook for hook in repository["hooks"]}

    assert set(hooks) == {"lint", "types"}
    assert repository["repo"] == "local"
    assert "ruff check ." in plan(hooks["lint"], tmp_path)
    assert "ruff format --check ." in plan(hooks["lint"], tmp_path)
    assert ".venv/bin/mypy" in plan(hooks["types"], tmp_path)


def plan(hook, place):
    """What make would do for a hook, once everything is installed."""
    program, *targets = hook["entry"].split()
    assert program == "make"
    assert hook["language"] == "system"
    shutil.copy(ROOT / "Makefile", place)
    for name in ("setup.cfg", "pyproject.toml", "setup.py", "constraints.txt"):
        shutil.copy(ROOT / name, place)
    (place / ".venv").mkdir(exist_ok=True)
    (place / ".venv/.ready").touch()
    command = [program, "--dry-run", *targets]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=True).stdout
