"""Sweeps: the same numbers however they are cut, saved on the way, and equal to one solution."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from headway.errors import InvalidParameter, MeasurementError, OutputError, UnknownParameter
from headway.models import ModelGraph, catalogue_model, model_names
from headway.models.running.crews import crew_of
from headway.models.running.pool import workers
from headway.models.sweeping import saving, sweeping
from headway.models.sweeping.kernel import CLOSED, ONE_BY_ONE, OPEN
from headway.models.sweeping.sweeping import sweep_model
from headway.queueing import MM1, MMm
from tests.support.cases import mostly_slow

KEPT = ["moments", "quantiles=p50,p99", "exceeds(response_time, 20ms)", "most(response_time)"]


def server():
    return catalogue_model("nfs-server").with_preset("raid")


def plane(count=60):
    """Some hundred thousand points: several blocks, the last one short."""
    return {
        "arrival_rate": np.linspace(100, 1600, count),
        "cpu_time": np.linspace(4e-4, 9e-4, 60),
        "disks": range(8, 56),
    }


def swept(model=None, space=None, reduce=KEPT, **more):
    return sweep_model(model or server(), space or plane(), reduce=reduce, **more)


def bits(swept):
    """Every array of every state, as bytes."""
    return [
        {name: (array.dtype, array.tobytes()) for name, array in state.items()}
        for state in swept.states
    ]


def test_a_sweep_says_what_one_solution_says():
    space = plane(10)
    mesh = np.meshgrid(*(np.asarray([*v], float) for v in space.values()), indexing="ij")
    times = server().at(dict(zip(space, map(np.ravel, mesh), strict=True))).solve().response_time
    sweep, finite = swept(space=space), times[np.isfinite(times)]
    assert sweep.effort.points == times.size == 28_800
    assert sweep.value("mean") == pytest.approx(finite.mean(), rel=1e-12)
    assert sweep.value("sd") == pytest.approx(finite.std(), rel=1e-9)
    assert sweep.value("points above 20 ms") == np.count_nonzero(times > 0.02)
    exact = np.quantile(times, [0.5, 0.99], method="inverted_cdf")
    assert [sweep.value("p50"), sweep.value("p99")] == pytest.approx(exact, rel=2**-10)
    assert sweep.value("most") == times.max()


@pytest.mark.parametrize("chunk", [1, 2, 4])
def test_any_chunks_give_the_same_bits(chunk):
    assert bits(swept(chunk=chunk)) == bits(swept())


def test_any_number_of_workers_gives_the_same_bits():
    alone = bits(swept())
    for count in (3,):
        with workers(count) as crew:
            sweep = swept(executor=crew, chunk=1)
        assert bits(sweep) == alone
        assert sweep.effort.workers == count


def test_an_executor_of_the_standard_library_will_do():
    with ThreadPoolExecutor(2) as executor:
        assert bits(swept(executor=executor, chunk=1)) == bits(swept())


def test_what_takes_long_goes_to_all_cores_unless_told_who_works(monkeypatch):
    """Here threads, and no patience; what is left below it stays in this process."""
    with ThreadPoolExecutor(3) as executor:
        monkeypatch.setattr(sweeping, "every_core", lambda: crew_of(executor))
        assert swept(chunk=1).effort.workers == 1
        monkeypatch.setattr(sweeping, "PATIENCE", 0.0)
        sweep = swept(chunk=1)
    assert sweep.effort.workers == 3
    assert bits(sweep) == bits(swept(chunk=1, executor=ThreadPoolExecutor(1)))


@pytest.mark.parametrize(
    ("model", "output", "block"),
    [
        (lambda: server().closed(45), "response_time", CLOSED),
        (lambda: server(), "response_time_p99", OPEN),
        (
            lambda: ModelGraph("loop").station("cpu", MMm(0.001, 2)).route("cpu", "cpu", 0.5).at(),
            "response_time_p99",
            ONE_BY_ONE,
        ),
    ],
)
def test_blocks_suit_what_is_solved(model, output, block):
    """And do not depend on the chunks they are in: the same bits for all sizes."""
    rate = {"think_time": np.linspace(0, 1, 2 * block + 5)}
    if not model().is_closed:
        rate = {"arrival_rate": np.linspace(1, 150, 2 * block + 5)}
    values = [swept(model(), rate, ["moments"], outputs=(output,), chunk=c) for c in (1, 2)]
    assert values[0].effort.chunks > values[1].effort.chunks == 2
    assert bits(values[0]) == bits(values[1])


def stopped(after):
    """A progress that presses Ctrl-C after so many chunks."""
    calls = iter(range(10**6))

    def progress(*result):
        if next(calls) == after:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("name", mostly_slow(["sweep.npz", "sweep.parquet"], 1))
def test_what_ctrl_c_ends_goes_on_from_its_file(tmp_path, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    path, whole = tmp_path / name, swept()
    part = swept(chunk=1, out=path, progress=stopped(2))
    assert part.effort.interrupted
    assert 0 < part.effort.points < whole.effort.points
    assert "interrupted: of the first" in str(part)
    with pytest.raises(InvalidParameter, match="continue with --resume, or remove the file"):
        swept(out=path)
    rest = swept(chunk=2, out=path, resume=True)
    assert bits(rest) == bits(whole)
    assert not rest.effort.interrupted
    again = swept(out=path, resume=True)  # nothing is left to do
    assert bits(again) == bits(whole)
    assert again.effort.chunks == rest.effort.chunks


def test_two_sweeps_do_not_write_one_file(tmp_path):
    path = tmp_path / "sweep.npz"
    first, space = [], plane(4)

    def meanwhile(*_):
        if not first:
            first.append(path)
            with pytest.raises(
                OutputError, match=r"sweep\.npz: another process is writing it; wait"
            ):
                swept(space=space, out=path)
            with pytest.raises(OutputError, match="another process is writing it"):
                swept(space=space, out=path, resume=True)
            swept(space=space, out=tmp_path / "other.npz")

    swept(space=space, out=path, progress=meanwhile)
    assert first == [path]
    swept(space=space, out=path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other.npz", "sweep.npz"]


def test_a_name_that_no_file_can_have_is_refused(tmp_path):
    for name in ("a\0.npz", "x" * 300 + ".npz", "nowhere/sweep.npz"):
        with pytest.raises(OutputError, match="cannot be written"):
            swept(space=plane(4), out=tmp_path / name)


def test_ctrl_c_before_the_first_chunk_is_ctrl_c(monkeypatch):
    def pressed(_task):
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeping, "work", pressed)
    with pytest.raises(KeyboardInterrupt):
        swept()


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"model": server().at(delay=0.001)}, "model"),
        ({"space": plane(61)}, "space"),
        ({"reduce": ["moments"]}, "reductions"),
    ],
)
def test_another_sweep_does_not_go_on_from_a_file(tmp_path, other, what):
    path = tmp_path / "sweep.npz"
    swept(out=path)
    before = path.read_bytes()
    with pytest.raises(InvalidParameter, match=f"another {what}"):
        swept(out=path, resume=True, **other)
    assert path.read_bytes() == before


def test_another_version_does_not_go_on_from_a_file(tmp_path, monkeypatch):
    path = tmp_path / "sweep.npz"
    swept(out=path)
    monkeypatch.setattr("headway.__version__", "99.0")
    with pytest.raises(InvalidParameter, match=r"another headway \(.*, now 99\.0\)"):
        swept(out=path, resume=True)


def test_files_that_hold_no_sweep_are_refused(tmp_path):
    path = tmp_path / "sweep.npz"
    with pytest.raises(MeasurementError, match="leave out --resume"):
        swept(out=path, resume=True)
    for content in (b"", b"PK\x03\x04", b"no archive"):
        path.write_bytes(content)
        with pytest.raises(MeasurementError, match="does not contain a sweep"):
            swept(out=path, resume=True)
    np.savez(path, a=np.zeros(2))
    with pytest.raises(MeasurementError, match="does not contain a sweep"):
        swept(out=path, resume=True)
    with pytest.raises(InvalidParameter, match=r"must end in \.npz or \.parquet"):
        swept(out=tmp_path / "sweep.csv")
    with pytest.raises(InvalidParameter, match="--out FILE"):
        swept(resume=True)


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    """What was written before stands, and the sweep goes on from it."""
    path, whole = tmp_path / "sweep.npz", swept()
    monkeypatch.setattr(sweeping, "SAVED_EVERY", 0.0)
    monkeypatch.setattr(sweeping, "SAVED_SHARE", np.inf)
    real, calls = saving.write_whole, iter(range(100))

    def full(place, content):
        if next(calls) >= 2:
            msg = f"{place}: cannot be written (No space left on device)"
            raise OutputError(msg)
        real(place, content)

    monkeypatch.setattr(saving, "write_whole", full)
    with pytest.raises(OutputError, match="No space left"):
        swept(chunk=1, out=path)
    monkeypatch.setattr(saving, "write_whole", real)
    known = saving.load(path, saving.load(path, {}).of)
    assert 0 < known.effort.points < whole.effort.points
    assert bits(swept(out=path, resume=True)) == bits(whole)


def test_what_is_done_before_a_fault_is_kept(tmp_path):
    """Workers that are gone, or a point that cannot be solved, lose nothing that was done."""
    path = tmp_path / "sweep.npz"
    mm1 = ModelGraph("one").station("cpu", MM1(0.001)).at().closed(5)
    points = {"population": [5.0] * (3 * CLOSED) + [2.5] * 5}
    with pytest.raises(InvalidParameter, match="cannot be solved"):
        swept(mm1, points, ["moments"], out=path, chunk=1)
    known = saving.load(path, saving.load(path, {}).of)
    assert known.effort.points == 3 * CLOSED


def test_progress_counts_all_points():
    lines = []
    swept(chunk=1, progress=lambda done, size, rate: lines.append((done, size, rate)))
    done = [each[0] for each in lines]
    assert all(low < high for low, high in pairwise(done))
    assert done[-1] == lines[0][1] == 60 * 60 * 48
    assert all(rate > 0 for _, _, rate in lines)


def test_points_that_cannot_be_solved_are_named():
    mm1 = ModelGraph("one").station("cpu", MM1(0.001)).at().closed(5)
    with pytest.raises(InvalidParameter, match=f"points {CLOSED} to {CLOSED + 14} of the sweep"):
        swept(mm1, {"population": [5.0] * (CLOSED + 10) + [2.5] * 5}, ["moments"])


def test_many_jobs_are_solved_a_few_points_at_a_time():
    """A block has no more than 2^19 jobs in all, so that memory does not depend on them."""
    mm1 = ModelGraph("one").station("cpu", MM1(0.001)).at().closed(5)
    few = swept(mm1, {"population": [5.0] * (CLOSED + 1)}, ["moments"], chunk=1)
    many = swept(mm1, {"population": [5.0] * 64 + [10_000.0] * 32}, ["moments"], chunk=1)
    assert (few.effort.chunks, many.effort.chunks) == (2, 3)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"reduce": []}, InvalidParameter, "no reduction"),
        ({"reduce": ["median"]}, InvalidParameter, "there is no reduction"),
        ({"reduce": ["(response_time)"]}, InvalidParameter, "has no name"),
        ({"outputs": ["response"]}, InvalidParameter, "response_time"),
        ({"space": {"arrival_rat": [1.0]}}, UnknownParameter, "arrival_rate"),
        ({"chunk": 3}, InvalidParameter, "power of two"),
    ],
)
def test_what_cannot_be_swept_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        swept(**options)


@pytest.mark.parametrize("name", model_names())
def test_every_model_goes_to_another_process(name):
    model = catalogue_model(name)
    assert pickle.loads(pickle.dumps(model)) == model  # noqa: S301
