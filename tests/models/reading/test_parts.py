"""Files of one run, one for each thread of its generator, are read as that run."""

import gzip

import numpy as np
import pytest

from headway import read
from headway.errors import MeasurementError
from headway.models.measured.points import Loop
from headway.models.reading import gather
from tests.support.command import headway, refusal

CLIENTS, EACH = 6, 60
NO_NOTES = {"notes": None, "file": None}


def rows_by_client(seed, lag=True):
    """Rows as pgbench writes them, by client: each waits 1 to 9 ms between transactions."""
    chance = np.random.default_rng(seed)
    by_client = {}
    for client in range(CLIENTS):
        took = chance.integers(500, 4000, EACH)
        ends = 1_795_742_491_000_000 + np.cumsum(took + chance.integers(1000, 9000, EACH))
        late = chance.integers(1, 300, EACH)
        by_client[client] = [
            (int(end), f"{client} {k + 1} {time} 0 {end // 10**6} {end % 10**6}{f' {lag_}' * lag}")
            for k, (end, time, lag_) in enumerate(zip(ends, took, late, strict=True))
        ]
    return by_client


def in_order(by_client, clients):
    rows = sorted(row for client in clients for row in by_client[client])
    return "".join(f"{text}\n" for _, text in rows)


def write_threads(folder, by_client, threads, name="pgbench_log.4711"):
    """Clients are dealt to threads in turn; the first thread's file has no number of its own."""
    folder.mkdir(exist_ok=True)
    paths = [folder / (f"{name}.{k}" if k else name) for k in range(threads)]
    for k, path in enumerate(paths):
        path.write_text(in_order(by_client, range(k, CLIENTS, threads)))
    return paths


@pytest.mark.parametrize("lag", [True, False])
@pytest.mark.parametrize("part", [{}, {"window": "0.05s:0.2s"}])
@pytest.mark.parametrize("longest", [20_000_000, 1000])
def test_the_files_of_all_threads_are_the_run_of_one(tmp_path, monkeypatch, lag, part, longest):
    monkeypatch.setattr(gather, "LARGEST_FILE", longest)
    by_client = rows_by_client(1, lag)
    alone, many = tmp_path / "alone", tmp_path / "many"
    alone.mkdir()
    (alone / "pgbench_log.4711").write_text(in_order(by_client, range(CLIENTS)))
    paths = write_threads(many, by_client, 3)

    (whole,), (joined,) = read(alone, **part).points, read(many, **part).points
    (listed,) = read(*reversed(paths), **part).points

    assert joined.document() | NO_NOTES == whole.document() | NO_NOTES
    assert listed.document() == joined.document()
    assert joined.population == CLIENTS
    assert joined.loop is (Loop.OPEN if lag else Loop.CLOSED)
    assert joined.file == str(paths[0])
    assert sum("3 files are one run" in note for note in joined.notes) == 1


def test_runs_of_one_folder_are_told_apart_by_the_number_of_their_process(tmp_path):
    """Threads 10 and 11 come after 9, not after 1; 471 and 4711 are processes of their own."""
    for name, seed in (("pgbench_log.471", 1), ("pgbench_log.4711", 2)):
        write_threads(tmp_path, rows_by_client(seed), 2, name)
    write_threads(tmp_path, rows_by_client(3), 6, "later.8.99")
    test = read(tmp_path)
    assert [point.samples for point in test.points] == [CLIENTS * EACH] * 3
    assert {point.population for point in test.points} == {CLIENTS}
    assert not test.left_out


def test_compressed_files_and_a_thread_that_completed_nothing(tmp_path):
    paths = write_threads(tmp_path / "plain", rows_by_client(1), 3)
    packed = tmp_path / "packed"
    packed.mkdir()
    for path in paths:
        (packed / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    (tmp_path / "plain" / "pgbench_log.4711.3").write_text("")
    (plain,), (unpacked,) = read(tmp_path / "plain").points, read(packed).points
    assert unpacked.document() | NO_NOTES == plain.document() | NO_NOTES
    assert any("4 files are one run" in note for note in plain.notes)


def test_one_file_of_several_says_whose_clients_it_has(tmp_path):
    paths = write_threads(tmp_path, rows_by_client(1), 2)
    point = read(paths[1]).points[0]
    assert point.population == CLIENTS / 2
    assert any("its clients are those of this file" in note for note in point.notes)


def test_a_run_with_a_missing_file_is_refused_in_one_line(tmp_path):
    paths = write_threads(tmp_path, rows_by_client(1), 3)
    paths[1].unlink()
    say = "2 files are of one run, of which number 1 is missing; give all of them"
    assert refusal("read", str(tmp_path)) == f"{paths[0]}: {say}; --skip-bad goes on without it"
    (tmp_path / "other.csv").write_text("throughput_ops_s,response_ms\n1,2\n")
    test = read(tmp_path, skip_bad=True)
    assert [each.file for each in test.left_out] == [str(paths[0]), str(paths[2])]


def test_files_of_other_runs_are_not_joined(tmp_path):
    """Repeats that a user numbered have the same clients."""
    folder = tmp_path
    for name in ("rate.80", "rate.80.1"):
        (folder / name).write_text(in_order(rows_by_client(1), range(CLIENTS)))
    with pytest.raises(MeasurementError, match=r"rate.80.*: client '.' is in .*rate.80.* too, so"):
        read(folder)
    assert headway("read", str(folder)).code == 2


def test_a_damaged_row_is_named_with_its_own_file(tmp_path):
    paths = write_threads(tmp_path, rows_by_client(1), 2)
    paths[1].write_text(paths[1].read_text() + "0 cut\n")
    with pytest.raises(MeasurementError, match=r"client '0' is in .*4711 too"):
        read(tmp_path)
    write_threads(tmp_path, rows_by_client(1), 2)
    paths[1].write_text(paths[1].read_text() + "1 cut\n")
    with pytest.raises(MeasurementError, match=rf"4711\.1:{3 * EACH + 1}: 2 cells, where rows"):
        read(tmp_path)
