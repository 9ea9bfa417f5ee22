"""Files of measurements in every known kind, recognised by content; and bad ones refused."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import MeasurementError
from headway.models import Measurements, curve, data_path
from headway.models.files.shipped import data_rows
from headway.models.measured.runs import read_sfssum_csv
from headway.models.reading.recognise import read_any
from tests.support.command import headway, refusal

LADDIS = """SPEC SFS 1 Baseline Summary

097.LADDIS (an invented page)

Example Systems

     NFS             Average
     Throughput      NFS
     SPECnfs_A93     Response Time
     Ops/Sec         Milliseconds
     --------------- -------------
     50              2.5
     100             3.0

     200             7.25

SPEC SFS 1 Baseline Result:
   200 SPECnfs_A93 Ops/Sec @ 7.25 msec ==> 20 SPECnfs_A93 Users
Number of CPUs: 2
Memory: 256MB
Other Cache: 8MB NVRAM
Number of Load Generators: 6
Processes Per Load Generator: 4
# of Disks: 14
Fileset Size: 6.7GB
"""
SFS97 = """SPECsfs97_R1.v3 Result
=====================
Example Corp : Filer 9
SPECsfs97_R1.v3 = 3,000 Ops/Sec (Overall Response Time = 1.23 msec)
Throughput Response
ops/sec    msec
   1,000      0.6
   2,000      1.5
   3,000      2.8
Memory Size 3 GB
NVRAM Size 1 GB
Processor 2.0 GHz Example
# of Processors 2 cores, 2 chips, 1 core/chip
Number of Disks 64
Number of Processes per LG 12
"""
SFS2008 = SFS97.replace("SPECsfs97_R1.v3", "SPECsfs2008_nfs.v3").replace(",000", "000")
HTML = """<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.0//EN">
<html><head><title>SPECsfs2008 100 200</title><style>td {width: 7}</style></head><body>
<h1>SPECsfs2008_nfs.v3 Result</h1>
<p>Example Corp&nbsp;: Filer 9<br>SPECsfs2008_nfs.v3 = 3000 Ops/Sec (Overall Response Time = 1.23 msec)
<table><tr><th>Throughput<br>(ops/sec)<th>Response<br>(msec)</tr>
<tr><td>1000</td><td>0.6</td></tr><tr><td>2000<td>1.5<tr><td>3000</td><td>2.8</td></tr></table>
<table><tr><td>Memory Size<td>3 GB</table></body></html>
"""  # noqa: E501
STORAGE = """SPECstorage(TM) Solution 2020_swbuild Result
Example Inc. : Example A
SPECstorage Solution = 300 Builds (Overall Response Time = 1.00 msec)
Business Average
Metric Latency Builds Builds
(Builds) (msec) Ops/Sec MB/Sec
------------ ------------
100 | 0.5 | 50000 | 772
200 | 0.9 | 100000 | 1545
300 | 2.0 | 150000 | 2318
"""
SFSSUM_2008 = """            100     100     1.0    29984  300 NFS3 T 4   11537568   1 16  8  8 2008
INVALID     900     861    21.9   249562  290 NFS3 T 4  110116656   1 16  8  8 2008
"""
SFSSUM_CSV = """business,requested,achieved,avg_lat_ms,total_kbps,read_kbps,write_kbps,run_sec,clients,procs,avg_file_kb,cl_data_mib,start_data_mib,init_file_mib,max_file_mib,workload,valid
1,450.00,450.03,0.309,7263.3,3813.0,3450.2,300,10,500,3424,110,1105,1105,1205,EDA_BLENDED,
2,900.00,890.5,0.75,7263.3,3813.0,3450.2,300,10,500,3424,110,1105,1105,1205,EDA_BLENDED,INVALID_RUN
"""  # noqa: E501
SFSSUM_2020 = """  Business    Requested     Achieved     Avg Lat       Total   Read  Write   Run    #    Cl
    Metric      Op Rate      Op Rate        (ms)        KBps   KBps   KBps   Sec   Cl  Proc
         1       450.00      450.029       0.606     7271.0 3805.2 3465.8   300    1     5  3424  11051  11051 11051 12056 EDA_BLENDED
         2       900.00      890.000       0.900     7271.0 3805.2 3465.8   300    1     5  3424  11051  11051 11051 12056 EDA_BLENDED INVALID_RUN
"""  # noqa: E501
XML = """<?xml version="1.0" encoding="utf-8"?>
<summary id="1"><run time="1.0"><business_metric>1</business_metric>
<metric name="op rate" units="ops/s">450.00</metric>
<metric name="achieved rate" units="ops/s">450.029</metric>
<metric name="average latency" units="milliseconds">0.606</metric>
<metric name="clients">1</metric><benchmark name="EDA"/><valid_run/></run>
<run time="2.0"><business_metric>2</business_metric>
<metric name="op rate" units="ops/s">900.00</metric>
<metric name="achieved rate" units="ops/s">890.5</metric>
<metric name="average latency" units="milliseconds">0.90</metric></run></summary>
"""
SFSRES = """Aggregate Test Parameters:
    Requested Load (NFS operations/second) = 100
SFS Aggregate Results for 1 Client(s)
getattr      26.0%  25.8%     7749     7749      0     0.19     0.04      0.00   4.9%
write        10.0%  10.2%     3053     3706      2     4.51    19.49      0.16  45.9%
SFS NFS THROUGHPUT:     101 Ops/Sec   AVG. RESPONSE TIME:     1.0 Msec/Op
Aggregate Test Parameters:
    Requested Load (NFS operations/second) = 200
SFS Aggregate Results for 1 Client(s)
getattr      26.0%  26.1%    15595    15595      0     0.19     0.07      0.00   4.7%
SFS NFS THROUGHPUT:     200 Ops/Sec   AVG. RESPONSE TIME:     1.1 Msec/Op
"""


@pytest.mark.parametrize(
    ("text", "kind", "rates", "times", "resolution"),
    [
        (LADDIS, "SPEC result page", [50, 100, 200], [2.5e-3, 3e-3, 7.25e-3], 5e-5),
        (SFS97, "SPEC result page", [1000, 2000, 3000], [6e-4, 1.5e-3, 2.8e-3], 5e-5),
        (SFS2008, "SPEC result page", [1000, 2000, 3000], [6e-4, 1.5e-3, 2.8e-3], 5e-5),
        (HTML, "SPEC result page", [1000, 2000, 3000], [6e-4, 1.5e-3, 2.8e-3], 5e-5),
        (STORAGE, "SPEC result page", [5e4, 1e5, 1.5e5], [5e-4, 9e-4, 2e-3], 5e-5),
        (SFSSUM_2008, "sfssum", [100, 861], [1e-3, 21.9e-3], 5e-5),
        (SFSSUM_2020, "sfssum", [450.029, 890], [6.06e-4, 9e-4], 5e-7),
        (SFSSUM_CSV, "sfssum (CSV)", [450.03, 890.5], [3.09e-4, 7.5e-4], 5e-7),
        (XML, "sfssum (XML)", [450.029, 890.5], [6.06e-4, 9e-4], 5e-7),
        (SFSRES, "sfsres", [101, 200], [1e-3, 1.1e-3], 5e-5),
        ("throughput_ops_s,response_ms\n1,2.0\n", "CSV", [1], [2e-3], 5e-5),
    ],
)
def test_every_kind_is_recognised_by_its_content(text, kind, rates, times, resolution):
    measured = read_any(text, "file")

    assert measured.kind == kind
    np.testing.assert_allclose(measured.column("throughput").values, rates, rtol=1e-12)
    np.testing.assert_allclose(measured.column("response").values, times, rtol=1e-12)
    assert measured.column("response").resolution[0] == pytest.approx(resolution)


@pytest.mark.parametrize("text", [SFSSUM_2008, SFSSUM_2020, SFSSUM_CSV, XML])
def test_invalid_runs_are_kept_and_marked(text):
    measured = read_any(text, "sfssum")

    assert measured.labels["valid"] == ("yes", "no")
    assert measured.invalid == 1
    assert measured.column("requested").values[1] == 900


def test_disclosure_with_units():
    facts = read_any(LADDIS, "page").facts

    assert {name: f.value for name, f in facts.items() if f.value is not None} == {
        "peak": 200,
        "processors": 2,
        "memory": 256e6,
        "nvram": 8e6,
        "disks": 14,
        "load_generators": 6,
        "processes": 4,
        "file_set": 6.7e9,
    }
    facts = read_any(SFS97, "page").facts
    assert facts["system"].printed == "Example Corp : Filer 9"
    assert facts["overall_response_time"].value == pytest.approx(1.23e-3)
    assert facts["processors"].value == 2
    assert facts["memory"].unit.text == "GB"


def test_operations_of_sfsres():
    measured = read_any(SFSRES, "sfsres")

    assert measured.column("write_mean_ms").values[0] == pytest.approx(4.51e-3)
    assert np.isnan(measured.column("write_mean_ms").values[1])
    assert measured.column("getattr_deviation_ms").values.tolist() == pytest.approx([4e-5, 7e-5])
    assert measured.column("write_actual_mix").values[0] == pytest.approx(0.102)
    assert measured.column("write_errors").values[0] == 2


PAGES = {"laddis": LADDIS, "sfs97": SFS97, "html": HTML, "storage": STORAGE}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("sfs97", lambda t: t.replace("000      ", "k "), "no result table"),
        ("sfs97", lambda t: t + "\n".join(["", "Second", "10 1.0", "20 2.0"]), "two result tables"),
        ("sfs97", lambda t: t.replace("    msec", "    usec"), "contradict"),
        ("sfs97", lambda t: t.replace("   3,000      2.8\n", ""), "the table is complete"),
        ("laddis", lambda t: t.replace("Milliseconds", "msec (usec)"), "keep one unit"),
        ("html", lambda t: t.replace("<p>", "<script>evil()</script><p>"), "contains scripts"),
        ("html", lambda t: t.replace("<p>", "<p onclick='evil()'>"), "contains scripts"),
        ("html", lambda t: '<!ENTITY a "&b;&b;">' + t, "declares entities"),
    ],
)
def test_bad_pages(name, change, message):
    with pytest.raises(MeasurementError, match=message):
        read_any(change(PAGES[name]), "page")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (XML[:300], "incomplete or invalid XML"),
        ('<!DOCTYPE a [<!ENTITY b "c">]>' + XML.split("\n", 1)[1], "document type"),
        (XML.replace("milliseconds", "seconds"), "it needs milliseconds"),
        (SFSSUM_2008.replace(" 2008\nINV", "\nINV"), "check that the file is complete"),
        (SFSSUM_CSV.splitlines()[0], "it contains no run"),
        ("SFS Aggregate Results", "it contains no run"),
    ],
)
def test_bad_run_files(text, message):
    with pytest.raises(MeasurementError, match=message):
        read_any(text, "file")


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300), st.sampled_from([*PAGES.values(), XML, SFSSUM_CSV, SFSRES]))
def test_garbage_is_refused_in_one_line_or_read(noise, start):
    for text in (noise, start[: len(noise)] + noise, start[: -len(noise) or None] + noise):
        result = outcome(text)

        assert result.startswith("noise")
        assert "\n" not in result


def outcome(text):
    try:
        return f"noise: {len(read_any(text, 'noise'))} rows"
    except MeasurementError as refused:
        return str(refused)


def test_pages_from_files(tmp_path):
    old = tmp_path / "old.txt"
    old.write_bytes(SFS97.replace("Example Corp", "Soci\xe9t\xe9").encode("cp1252"))
    assert "Société" in Measurements.read(old).facts["system"].printed

    result = headway("signature", "sfs", old, "--json")
    assert result.code == 0, result

    big = tmp_path / "big.csv"
    with big.open("wb") as stream:
        stream.truncate(100_000_000)
    assert "100 MB are more than" in refusal("signature", "sfs", big)


def shipped():
    with data_path("sfs_results/index.csv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("row", shipped(), ids=lambda row: row["id"])
def test_overall_response_time_of_published_curves(row):
    """SFS prints two decimals of a millisecond; SPECstorage begins at the first point."""
    measured = Measurements.read(data_path(f"sfs_results/curves/{row['id']}.csv"))
    text = "\n".join(
        ["throughput_ops_s,response_ms,business_metric"]
        + [f"{x:g},{1e3 * y:.10g},1" for x, y in zip(*points(measured), strict=True)]
    )
    if row["id"].startswith("storage"):
        measured = Measurements.parse(text, "storage")

    signature = curve(measured).signature()

    assert signature.saturation_throughput == float(row["peak_ops_s"])
    if row["overall_response_ms"]:
        printed = float(row["overall_response_ms"])
        assert 1e3 * signature.overall_response_time == pytest.approx(printed, abs=0.01)


def points(measured):
    return measured.column("throughput").values, measured.column("response").values


@pytest.mark.parametrize("path", sorted(data_path("").rglob("*.csv")), ids=lambda path: path.stem)
def test_published_tables_are_read_as_csv_says(path):
    """One reader for all that is parted by commas; Python's own as witness."""
    with path.open(newline="", encoding="utf-8") as stream:
        expected = list(csv.DictReader(stream))

    assert data_rows(str(path.relative_to(data_path("")).with_suffix(""))) == expected


def test_runs_parted_by_commas_name_their_own_lines():
    """Quoted cells are one; a bad cell is named by the line that it stands in."""
    header = "Business,Requested,Achieved,Avg_Lat_ms" + ",x" * 12
    run = ["1", "100", "99", "1.5", *("7",) * 11, '"SWBUILD"']
    text = "\n".join([header, "", ",".join(run), ",".join([*run[:3], "slow", *run[4:]])])

    with pytest.raises(MeasurementError, match="sum.csv:4: response_ms is 'slow'"):
        read_sfssum_csv(text, "sum.csv")
    good = read_sfssum_csv(text.rpartition("\n")[0], "sum.csv")
    assert (good.lines, good.labels["workload"]) == ((3,), ("SWBUILD",))


def test_all_curves_ship():
    assert len(shipped()) == 24
    assert len(list(Path(data_path("sfs_results/curves")).glob("*.csv"))) == 24


def test_a_file_that_ships_is_called_by_its_place():
    place = "sfs_results/curves/laddis-1993q3-auspex-ns6000-8eth.csv"
    assert Measurements.read(data_path(place)).source == place
