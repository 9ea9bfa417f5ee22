"""What storage benchmarks wrote: cells as printed, spoilt texts refused in one line."""

import json

import pytest

from headway.models.reading.loadtest import points_of
from tests.support.tool_files import TOOLS, kind, points, refused

FIO = TOOLS / "fio"
SAMPLES = dict.fromkeys(sorted(FIO.glob("*.json")), "fio") | {
    TOOLS / "diskspd" / "diskspd-2.0.21a.xml": "diskspd",
    TOOLS / "sfssum" / "specsfs2014.xml": "sfssum (XML)",
    TOOLS / "vdbench" / "by_hand.html": "vdbench",
    TOOLS / "ior" / "ior-4.1.txt": "IOR",
    TOOLS / "ior" / "mdtest-4.1.txt": "mdtest",
    TOOLS / "elbencho" / "blocks.csv": "elbencho",
    TOOLS / "elbencho" / "files.csv": "elbencho",
    TOOLS / "elbencho" / "mix.csv": "elbencho",
}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_each_sample_is_known_for_what_it_is(path):
    assert kind(path.read_text()) == SAMPLES[path]
    assert {point.tool for point in points(path)} == {SAMPLES[path]}


def same(point, **cells):
    for name, value in cells.items():
        assert getattr(point, name) == pytest.approx(value, rel=1e-12), name


def test_fio_2_is_in_microseconds_and_bandwidth_in_kib():
    """fio 2.1.4: job 4 reads 317 I/O/s, lat 3146.50 us, clat p99 as printed, 1269 KiB/s."""
    by_name = {point.name: point for point in points(FIO / "fio-2.1.json")}
    assert list(by_name) == [
        "sequential_write write", "sequential_read read", "random_write_test write",
        "random_read_test read", "random_read_test_parallel read",
    ]  # fmt: skip
    read = by_name["random_read_test read"]
    same(read, throughput=317.0, response_time=3146.5e-6, duration=28.54, errors=0.0)
    assert read.percentiles[50.0] == pytest.approx(3280e-6)
    assert read.more == {"bandwidth_bytes_s": 1269 * 1024.0}
    assert (read.population, read.samples, read.loop) == (None, None, "closed")


def test_fio_2_17_tells_its_options_and_samples():
    read, write = points(FIO / "fio-2.17.json")
    same(read, throughput=8086.673998, response_time=245.531122e-6, samples=80891, duration=10.003)
    same(write, throughput=2457.017193, response_time=810.977136e-6, population=2.0)
    assert write.percentiles[1.0] == pytest.approx(402e-6)
    assert any("completion" in note for note in read.notes)


def test_fio_3_is_in_nanoseconds_and_depth_times_jobs_are_inside():
    """X R of a closed test is iodepth x numjobs, within 1% (2 s, 58,630 I/O)."""
    (point,) = points(FIO / "fio-3.33-depth-4.json")
    same(point, throughput=29256.487026, response_time=272911.50684e-9, population=8.0)
    same(point, samples=58630, duration=2.004, more={"bandwidth_bytes_s": 119834570.0})
    assert point.inside == pytest.approx(8.0, rel=0.01)
    assert point.utilisation == {"vda": pytest.approx(0.60060667)}


def test_fio_processes_reported_apart_are_one_point():
    """Rates add up; the mean is over all I/O; percentiles cannot be added."""
    (point,) = points(FIO / "fio-3.33-three-jobs.json")
    jobs = [
        job["read"] for job in json.loads((FIO / "fio-3.33-three-jobs.json").read_text())["jobs"]
    ]
    total = sum(job["total_ios"] for job in jobs)
    mean = sum(job["total_ios"] * job["lat_ns"]["mean"] for job in jobs) / total * 1e-9
    same(point, throughput=sum(job["iops"] for job in jobs), response_time=mean, samples=total)
    assert (point.population, point.percentiles) == (3.0, {})
    assert any("group_reporting" in note for note in point.notes)


def test_fio_plus_parts_reads_from_writes_and_knows_a_set_rate():
    read, write, trickle = points(FIO / "fio-3.33-plus.json")
    assert (read.name, write.name, trickle.name) == ("mixed read", "mixed write", "trickle read")
    same(write, throughput=5568.147778, response_time=322720.353985e-9, population=4.0)
    assert any("share" in note for note in write.notes)
    assert read.inside + write.inside == pytest.approx(4.0, rel=0.01)
    same(trickle, offered_rate=200.0, throughput=199.600798, population=1.0)
    assert trickle.loop == "open"


JOB = {"jobname": "a", "read": {"iops": 10.0, "runtime": 1000, "lat_ns": {"mean": 5e6}}}


def fio(**changed):
    options = {"job options": changed.pop("options")} if "options" in changed else {}
    return json.dumps({"fio version": "fio-3.33", "jobs": [{**JOB, **options, **changed}]})


@pytest.mark.parametrize(
    ("options", "population", "words"),
    [
        ({"iodepth": "8", "ioengine": "psync"}, 1.0, "one I/O at a time"),
        ({"iodepth": "8", "ioengine": "io_uring", "numjobs": "2"}, 16.0, ""),
        ({"iodepth": "$depth"}, None, ""),
    ],
)
def test_fio_depth_counts_where_the_engine_uses_it(options, population, words):
    (point,) = points_of(fio(options=options), "a.json")
    assert point.population == population
    assert words in " ".join(point.notes)


def test_fio_think_time_rates_and_errors():
    options = {"thinktime": "500", "rate_iops": "30,10", "numjobs": "2"}
    (point,) = points_of(fio(options=options, error=0, total_err=3), "a.json")
    same(point, think_time=5e-4, offered_rate=60.0, errors=3.0)
    (stopped,) = points_of(fio(error=5), "a.json")
    assert stopped.errors is None
    assert "it ended with error 5" in stopped.notes


def test_fio_warnings_before_the_json_and_merged_jobs():
    (point,) = points_of("fio: a warning\n" + fio(options={}), "a.json")
    assert point.population == 1.0
    (merged,) = points_of(fio(options={}, job_runtime=3000), "a.json")
    assert merged.population is None


def test_fio_run_times_that_no_clock_has_tell_no_number_of_jobs():
    runs = {"iops": 10.0, "runtime": 1e-300, "lat_ns": {"mean": 5e6}}
    (point,) = points_of(fio(options={}, job_runtime=1e300, read=runs), "a.json")
    assert point.population == 1.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (fio(read={"iops": 0}), "no job of this fio run finished an I/O"),
        ('{"fio version": "fio-3.33"}', "has no list of jobs"),
        (fio()[:-9], r"a.json:1: this JSON is invalid"),
        (fio(read={"iops": "many"}), "iops is 'many'"),
    ],
)
def test_spoilt_fio_is_refused(text, words):
    refused(text, words, "a.json")


def test_diskspd_adds_its_threads_up():
    """22,645 + 22,623 + 22,548 + 23,154 I/O in 30.02 s; 4 threads of 2; 3.20% busy."""
    (point,) = points(TOOLS / "diskspd" / "diskspd-2.0.21a.xml")
    same(point, samples=90970, duration=30.02, throughput=90970 / 30.02, population=8.0)
    same(point, more={"bandwidth_bytes_s": 90970 * 65536 / 30.02}, utilisation={"cpu": 0.032})
    assert (point.response_time, point.loop) == (None, "closed")
    assert any("-L" in note for note in point.notes)


LATENCY = """<Latency><AverageTotalMilliseconds>2.625</AverageTotalMilliseconds>
<Bucket><Percentile>0.000</Percentile><TotalMilliseconds>0.1</TotalMilliseconds></Bucket>
<Bucket><Percentile>99</Percentile><TotalMilliseconds>7.5</TotalMilliseconds></Bucket>
<Bucket><Percentile>100.000</Percentile><TotalMilliseconds>9</TotalMilliseconds></Bucket>
</Latency><Thread>"""


def test_diskspd_latencies_are_in_milliseconds_and_threads_may_share_targets():
    text = (TOOLS / "diskspd" / "diskspd-2.0.21a.xml").read_text()
    (point,) = points_of(text.replace("<Thread>", LATENCY, 1), "a.xml")
    same(point, response_time=2.625e-3, percentiles={99.0: 7.5e-3})
    (shared,) = points_of(text.replace("<ThreadCount>0<", "<ThreadCount>3<"), "a.xml")
    assert shared.population == 6.0


def test_spoilt_diskspd_is_refused():
    text = (TOOLS / "diskspd" / "diskspd-2.0.21a.xml").read_text()
    refused(text[:3000], "incomplete or invalid XML", "a.xml")
    refused(
        text.replace("<IOCount>", "<Other>").replace("</IOCount>", "</Other>"), "no I/O", "a.xml"
    )


def test_the_sfssum_of_sfs_2014_is_an_offered_rate():
    (point,) = points(TOOLS / "sfssum" / "specsfs2014.xml")
    same(point, offered_rate=500.0, throughput=500.05, response_time=1.48e-3, duration=300.0)
    assert (point.loop, point.population, point.name) == ("open", None, "SWBUILD")


def test_an_invalid_run_of_sfssum_says_so():
    text = (TOOLS / "sfssum" / "specsfs2014.xml").read_text().replace("<valid_run/>", "")
    (point,) = points_of(text, "a.xml")
    assert "invalid" in point.notes[0]


def test_vdbench_gives_the_averages_of_each_run():
    """The averages in the file; with two threads and a rate out of reach X R is 2 within 1%."""
    by_name = {point.name: point for point in points(TOOLS / "vdbench" / "by_hand.html")}
    same(by_name["rd1"], offered_rate=25000.0, throughput=125.0, response_time=16e-3)
    same(by_name["rd1"], population=2.0, more={"bandwidth_bytes_s": 0.4883 * 2**20})
    same(by_name["rd2"], offered_rate=50.0, throughput=50.5, utilisation={"cpu": 0.125})
    assert by_name["rd1"].inside == pytest.approx(2.0, rel=0.01)


def test_vdbench_as_fast_as_it_goes_is_closed():
    text = (TOOLS / "vdbench" / "by_hand.html").read_text().replace("25000.0000", "999988.0000")
    first = points_of(text, "a.html")[0]
    assert (first.loop, first.offered_rate) == ("closed", None)


def test_spoilt_vdbench_is_refused():
    text = (TOOLS / "vdbench" / "by_hand.html").read_text()
    refused(text[: text.index("avg_")], "no vdbench run finished", "a.html")
    refused(text[: text.index("avg_") + 40], r"a.html:\d+: \d+ cells under 29 titles", "a.html")


def test_ior_gives_each_repetition():
    measured = points(TOOLS / "ior" / "ior-4.1.txt")
    assert [point.name for point in measured] == ["write", "read"] * 3
    same(measured[0], throughput=13772.0, response_time=17e-6, population=2.0, duration=0.004647)
    same(measured[0], more={"bandwidth_bytes_s": 850.17 * 2**20})
    assert any("fastest" in note for note in measured[0].notes)


OLD_IOR = """tasks               : 1
xfersize            : 262144 bytes

access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ---------- ---------  --------   --------   --------   --------   ----
write     2004.51    1024.00    256.00     0.000014   0.000483   0.000002   0.000499   0
remove    -          -          -          -          -          -          0.000100   0
Max Write: 2004.51 MiB/sec (2101.88 MB/sec)
"""


def test_ior_3_has_bandwidth_alone():
    (point,) = points_of(OLD_IOR, "ior.txt")
    same(point, throughput=2004.51 * 4, population=1.0, duration=0.000499)
    assert (point.response_time, "bandwidth" in point.notes[0]) == (None, True)


def test_spoilt_ior_and_mdtest_are_refused():
    refused(OLD_IOR.partition("write")[0], "no IOR write or read finished", "ior.txt")
    refused(OLD_IOR.replace("   0.000499   0\n", "\n"), "ior.txt:6: 7 cells under 9", "ior.txt")
    refused(OLD_IOR.replace("2004.51", "0.00"), "transferred nothing", "ior.txt")
    text = (TOOLS / "ior" / "mdtest-4.1.txt").read_text()
    refused(text.partition("SUMMARY")[0], "let mdtest finish", "md.txt")


def test_mdtest_gives_the_mean_rate_of_each_operation():
    by_name = {point.name: point for point in points(TOOLS / "ior" / "mdtest-4.1.txt")}
    assert len(by_name) == 10
    same(by_name["File stat"], throughput=33386.752, population=2.0)
    assert by_name["File stat"].response_time is None
    assert by_name["File stat"].more["rate_deviation_ops_s"] == 130.134
    assert (by_name["Tree removal"].throughput, by_name["Tree removal"].population) == (58.921, 1.0)
    assert "mean of 2 iterations" in by_name["File stat"].notes


def test_elbencho_counts_blocks_up_to_the_last_thread():
    """53,110 IOPS [last] at 73 us [avg], 207 MiB/s; X R is near 2 threads of depth 2."""
    _, _, write, read = points(TOOLS / "elbencho" / "blocks.csv")
    same(write, throughput=53110.0, response_time=73e-6, population=4.0, duration=0.038)
    same(write, more={"bandwidth_bytes_s": 207 * 2.0**20}, utilisation={"cpu": 0.5})
    same(read, throughput=36410.0, response_time=108e-6)
    assert (write.name, read.name, write.loop) == ("WRITE", "READ", "closed")
    assert write.inside == pytest.approx(4.0, rel=0.05)


def test_elbencho_parts_the_reads_of_a_mix():
    write, read = points(TOOLS / "elbencho" / "mix.csv")
    assert (write.name, read.name) == ("RWMIX50 write", "RWMIX50 read")
    same(write, throughput=17365.0, response_time=100e-6)
    same(read, throughput=18198.0, response_time=120e-6)
    assert write.inside + read.inside == pytest.approx(4.0, rel=0.05)


def test_elbencho_counts_entries_where_no_blocks_are_moved():
    by_name = {point.name: point for point in points(TOOLS / "elbencho" / "files.csv")}
    assert list(by_name) == ["MKDIRS", "WRITE", "STAT", "READ", "RMFILES", "RMDIRS"]
    same(by_name["RMFILES"], throughput=83420.0, response_time=10e-6, samples=80, population=2.0)
    same(by_name["WRITE"], throughput=55058.0, response_time=5e-6)
    assert by_name["WRITE"].more["entry_latency_s"] == pytest.approx(20e-6)


def test_spoilt_elbencho_is_refused():
    text = (TOOLS / "elbencho" / "blocks.csv").read_text()
    titles, line = text.splitlines()[:2]
    refused(titles, "no elbencho phase", "a.csv")
    refused(f"{titles}\n{line[:90]}", r"a.csv:2: \d+ cells under 55 titles", "a.csv")
    refused(text.replace(",28757,28757,", ",28757,many,"), r"a.csv:2, IOPS \[last\]", "a.csv")


def test_summaries_of_ior_are_as_its_table():
    """As printed: 3418.3407 MiB/s and 56631.9527 operations/s; a latency of 0.0000 is none."""
    measured = points("ior", "ior-4.1.json")
    assert [point.name for point in measured] == ["write", "read"] * 2
    same(measured[0], throughput=56631.9527, duration=0.0011, population=2.0)
    assert (measured[0].response_time, measured[0].loop) == (None, "closed")
    same(measured[0], more={"bandwidth_bytes_s": 3418.3407 * 2**20})
    table = points("ior", "ior-4.1.csv")
    same(table[3], throughput=426765.4308, duration=0.0001, population=2.0)
    same(table[3], more={"bandwidth_bytes_s": 25811.1015 * 2**20})


def test_spoilt_summaries_of_ior_are_refused():
    text = (TOOLS / "ior" / "ior-4.1.json").read_text()
    refused(text[:2000], "ior.json:[0-9]+: this JSON is invalid", "ior.json")
    refused(text.replace('"iops"', '"ops"'), r"tests\[0\]: iops is missing", "ior.json")
    text = (TOOLS / "ior" / "ior-4.1.csv").read_text()
    refused(text[:-9], "ior.csv:5: 1[01] cells under 12 titles", "ior.csv")
    refused(text.partition("\n")[0], "no IOR write or read finished", "ior.csv")
