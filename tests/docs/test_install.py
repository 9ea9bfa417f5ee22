"""The ways to install: recipe, container and page say what setup.cfg says."""

import re

import yaml

import headway
from tests import pins
from tests.support.places import ROOT

CONDA = {"matplotlib": "matplotlib-base"}
"""Packages that conda-forge calls otherwise than PyPI, where what headway needs is smaller."""

RECIPE = yaml.safe_load((ROOT / "conda/recipe.yaml").read_text())
DOCKER = (ROOT / "Dockerfile").read_text()
PAGE = (ROOT / "docs/how-to/install.md").read_text()


def test_the_recipe_s_fields_are_those_of_setup():
    setup = pins.setup()
    metadata, options = setup["metadata"], setup["options"]
    needed = [pins.least(line) for line in options["install_requires"].strip().splitlines()]

    assert RECIPE["package"] == {"name": metadata["name"], "version": "${{ version }}"}
    assert RECIPE["context"]["version"] == headway.__version__
    python, *others = RECIPE["requirements"]["run"]
    assert python == f"python {options['python_requires']}"
    assert others == [f"{CONDA.get(name, name)} >={version}" for name, version in needed]
    assert RECIPE["build"]["python"]["entry_points"] == [
        setup["options.entry_points"]["console_scripts"].strip()
    ]
    about = RECIPE["about"]
    assert about["summary"] == metadata["description"]
    assert about["license"] == metadata["license_expression"]
    assert about["license_file"] == metadata["license_files"]
    (builder,) = re.findall(r'"(setuptools.*?)"', (ROOT / "pyproject.toml").read_text())[:1]
    assert f"{builder[:10]} {builder[10:]}" in RECIPE["requirements"]["host"]
    assert (ROOT / "conda" / RECIPE["source"]["path"] / "setup.cfg").is_file()


def test_the_container_is_of_a_python_that_setup_names_and_runs_its_command():
    (version,) = {*re.findall(r"^FROM python:([\d.]+)-slim", DOCKER, re.MULTILINE)}
    copied = re.findall(r"^COPY (\w[\w.]*) ", DOCKER, re.MULTILINE)

    assert version in pins.pythons()
    assert [(ROOT / name).is_file() for name in copied] == [True]
    assert 'ENTRYPOINT ["headway"]' in DOCKER
    assert "USER headway" in DOCKER
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert not {"LICENSE", "README.md", "setup.py", "models", "queueing"} & {*ignored}


def test_the_page_names_every_extra():
    extras = {*pins.setup()["options.extras_require"]} - {pins.DEVELOPERS}

    assert {*re.findall(r"'\.\[(\w+)\]'", PAGE)} == extras
