"""Reading what tools wrote, as ratios within one run: 200 files of fio, a long log of JMeter."""

import json
import shutil
import time
from pathlib import Path

from benchmarks.bench_main_job import HEADWAY, side_by_side
from headway.models.reading.loadtest import read_load_test

FIO = Path(__file__).parent.parent / "tests/data/tools/fio/fio-3.33-plus.json"
HEADER = "timeStamp,elapsed,label,responseCode,threadName,success,bytes,allThreads\n"
FILES, ROWS = 200, 600_000


def test_two_hundred_files_of_fio(tmp_path, capsys):
    """Beyond start-up, against what Python's own JSON takes of it."""
    for i in range(FILES):
        shutil.copy(FIO, tmp_path / f"run-{i}.json")
    texts = [path.read_text() for path in tmp_path.iterdir()]
    begun = time.perf_counter()
    parsed = [json.loads(text) for text in texts]
    bare = time.perf_counter() - begun
    one, all_of_them = side_by_side(
        [[HEADWAY, "read", str(FIO), "--json"], [HEADWAY, "read", str(tmp_path), "--json"]], 5
    )
    more = all_of_them - one

    with capsys.disabled():
        print(
            f"\n{FILES} files of fio: {more * 1e3:.0f} ms beyond one ({one * 1e3:.0f} ms), ratio "
            f"{more / one:.2f} (promised 4); json.loads takes {bare * 1e3:.0f} ms of it"
        )
    assert len(parsed) == FILES


def test_a_long_log(tmp_path, capsys):
    """A log of JMeter line by line, against looking at its lines."""
    path = tmp_path / "long.jtl"
    rows = (f"{1700000000000 + 5 * i},{i % 90},/,200,u 1,true,9,8\n" for i in range(ROWS))
    path.write_text(HEADER + "".join(rows))
    begun = time.perf_counter()
    with path.open() as lines:
        count = sum(len(line.split(",")) == 8 for line in lines)
    bare = time.perf_counter() - begun
    begun = time.perf_counter()
    load_test = read_load_test([str(path)])
    ours = time.perf_counter() - begun

    with capsys.disabled():
        print(
            f"\n{count} rows of JMeter: {ours:.2f} s, to split them {bare:.2f} s, ratio "
            f"{ours / bare:.1f} (promised 30)"
        )
    assert load_test.points[0].samples == count - 1
