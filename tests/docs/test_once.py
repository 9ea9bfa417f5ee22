"""Work done once a run is done once, by whichever process comes first."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.once import once_a_run


class Folders:
    def __init__(self, own):
        self.own = own

    def getbasetemp(self):
        return self.own


def ask(own, made):
    """What a worker with its own folder is given."""

    def make():
        with made.open("a") as file:
            file.write("made\n")
        return {"answer": 0.1}

    return once_a_run(Folders(own), "work", make)


def test_workers_share_what_the_first_made(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    own = [tmp_path / f"gw{i}" for i in range(3)]
    made = tmp_path / "made"
    with ThreadPoolExecutor(3) as workers:  # a lock holds an open file, not a process
        answers = list(workers.map(lambda folder: ask(folder, made), own))

    assert answers == [{"answer": 0.1}] * 3
    assert made.read_text() == "made\n"


def test_what_could_not_be_made_is_tried_again(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    with pytest.raises(ZeroDivisionError):
        once_a_run(Folders(tmp_path), "work", lambda: 1 / 0)

    assert once_a_run(Folders(tmp_path), "work", lambda: 1) == 1
