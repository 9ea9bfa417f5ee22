"""Archives and compressed files: read to their end, bounded while they are unpacked."""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile

import pytest

from headway.errors import MeasurementError, PackageError
from headway.lazy import loaded
from headway.models.files.archives import is_tar
from headway.models.files.packed import MOST_GROWTH, compression, unpacked_whole
from headway.models.measured.measurements import Measurements
from headway.models.reading import gather
from headway.models.reading.frames import text_of
from headway.models.reading.gather import MOST_MEMBERS, unpacked
from headway.models.reading.loadtest import read_load_test
from headway.models.reading.recognise import recognised
from tests.support.command import headway, refusal
from tests.support.limits import limited_time
from tests.support.tool_files import TOOLS as SAMPLES
from tests.support.tool_files import sample

TABLE = b"throughput_ops_s,response_ms\n100,1.5\n200,3\n"
JTL = "jmeter/jmeter-5.6.3.csv"
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def zip_of(*files, method=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return stream.getvalue()


def tar_of(*files, mode="w", form=tarfile.PAX_FORMAT, kind=tarfile.REGTYPE):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode, format=form) as archive:
        for name, content in files:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname, entry.size = kind, "elsewhere", len(content)
            archive.addfile(entry, io.BytesIO(content) if kind == tarfile.REGTYPE else None)
    return stream.getvalue()


def names(content, name="runs"):
    return [each.removeprefix(f"{name}/") for each, _ in unpacked(name, content)]


def refused(content, message, name="runs"):
    with pytest.raises(MeasurementError, match=message) as error:
        list(unpacked(name, content))
    assert "\n" not in str(error.value)


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 0x11]) + content[place + 1 :]


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_a_flipped_figure_in_a_compressed_archive_is_found(mode):
    """In stored blocks the text stands as it is; only the sum at the end tells."""
    content = tar_of(("a.csv", TABLE), ("z.bin", bytes(20_000)), mode=mode)
    assert names(content) == ["a.csv", "z.bin"]
    for place in range(20, len(content), max(1, len(content) // 40)):
        refused(flipped(content, place), "cannot be unpacked")


def test_a_damaged_tgz_is_read_to_its_end(tmp_path):
    content = gzip.compress(tar_of(("a.csv", TABLE), ("z.bin", bytes(20_000))), 0)
    path = tmp_path / "runs.tgz"
    path.write_bytes(content.replace(b"100,1.5", b"100,9.5"))
    assert "cannot be unpacked (gzip: Error -3" in refusal("read", path)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_corrupt_members_of_zips_are_refused_in_a_line(method):
    content = zip_of(("a.csv", TABLE * 30), method=method)
    assert names(content) == ["a.csv"]
    start = 30 + len("a.csv")
    end = content.index(b"PK\x01\x02")
    for place in range(start, end):
        try:  # some bits fill up, and change nothing
            assert dict(unpacked("runs", flipped(content, place))) == {"runs/a.csv": TABLE * 30}
        except MeasurementError as error:
            assert str(error).startswith("runs/a.csv: cannot be unpacked")  # noqa: PT017


@pytest.mark.parametrize("pack", [zip_of, tar_of])
def test_archives_cut_or_spoilt_anywhere_are_read_or_refused(pack):
    """A plain tar has no sum of its content; its headers have one each."""
    content = pack(("a.csv", TABLE), ("b.csv", TABLE))
    for place in range(0, len(content), 7):
        for spoilt in (content[:place], flipped(content, place)):
            try:
                list(unpacked("runs", spoilt))
            except MeasurementError as error:
                assert "\n" not in str(error)  # noqa: PT017


def test_a_spoilt_header_hides_no_later_file_of_a_tar():
    content = tar_of(("a.csv", TABLE), ("b.csv", TABLE), form=tarfile.USTAR_FORMAT)
    refused(flipped(content, 1024 + 3), r"cannot be unpacked \(bad checksum\)")


@pytest.mark.parametrize("ending", PACKERS)
def test_a_compressed_file_is_read(tmp_path, ending):
    path = tmp_path / f"run.jtl.{ending}"
    path.write_bytes(PACKERS[ending](sample(JTL).encode()))
    [plain] = read_load_test([str(SAMPLES / JTL)]).points
    [point] = read_load_test([str(path)]).points
    assert point.document() | {"file": ""} == plain.document() | {"file": ""}
    curve = tmp_path / f"curve.csv.{ending}"
    curve.write_bytes(PACKERS[ending](TABLE))
    assert Measurements.read(curve).column("response").values.tolist() == [0.0015, 0.003]
    assert "no problems found" in headway("audit", curve).out
    path.write_bytes(path.read_bytes()[:-9])
    assert "run.jtl" in refusal("read", path)


def test_a_long_compressed_log_is_read_line_by_line(tmp_path, monkeypatch):
    monkeypatch.setattr(gather, "LARGEST_FILE", 1000)
    path = tmp_path / "run.jtl.gz"
    path.write_bytes(gzip.compress(sample(JTL).encode()))
    [plain] = read_load_test([str(SAMPLES / JTL)]).points
    [point] = read_load_test([str(path)]).points
    assert point.document() | {"file": ""} == plain.document() | {"file": ""}
    path.write_bytes(gzip.compress(TABLE * 50))
    assert "it unpacks to more than the limit of 20 MB; split it" in refusal("read", path)


def test_zstd_is_read_or_its_package_named(tmp_path, monkeypatch):
    path = tmp_path / "curve.csv.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    monkeypatch.setattr("headway.models.files.packed._ZSTD", "no.such.module")
    line = refusal("read", path)
    assert line.endswith(
        "curve.csv.zst: is compressed by zstd, which needs no.such.module; "
        "install: python -m pip install no.such.module"
    )
    with pytest.raises(PackageError, match="needs no.such.module"):
        Measurements.read(path)


def test_zstd_gives_what_was_packed(tmp_path):
    zstd = pytest.importorskip(loaded("headway.models.files.packed:_ZSTD"))
    path = tmp_path / "curve.csv.zst"
    packed = zstd.compress(TABLE)
    path.write_bytes(packed)
    assert Measurements.read(path).column("response").values.tolist() == [0.0015, 0.003]
    path.write_bytes(packed[:-3])
    assert "cannot be unpacked (zstd: it ends too early)" in refusal("read", path)


def test_archives_in_archives_are_opened_three_deep():
    log = gzip.compress(TABLE)
    monday = tar_of(("run.csv.gz", log), mode="w:gz")
    week = zip_of(("monday.tgz", monday), ("notes.txt", b"none"))
    assert names(week) == ["monday.tgz/run.csv.gz", "notes.txt"]
    year = zip_of(("week.zip", week))
    refused(year, "is an archive in 3 others; unpack them")


def test_streams_that_follow_each_other_and_padding_are_one_file():
    for pack in PACKERS.values():
        assert unpacked_whole(pack(b"a") + pack(b"b") + bytes(512), "x", 9) == b"ab"
        with pytest.raises(MeasurementError, match="something else follows its end"):
            unpacked_whole(pack(b"a") + b"garbage", "x", 9)


@pytest.mark.parametrize("pack", [zip_of, tar_of])
def test_too_many_members_are_refused_before_they_are_read(pack):
    content = pack(*((f"{i}.csv", b"1") for i in range(MOST_MEMBERS + 1)))
    with limited_time(5, TimeoutError):
        refused(content, "contains more files than the limit of 10,000")


def test_bombs_are_refused_as_soon_as_they_grow(monkeypatch):
    """A size that a gzip file says itself is believed, if it is too large."""
    zeros = bytes(16_100_000)
    piece = gzip.compress(zeros)
    with limited_time(5, TimeoutError):
        refused(piece, f"unpacks to more than {MOST_GROWTH} times its size")
        refused(bz2.compress(zeros), "times its size")
        refused(piece[:-4] + struct.pack("<I", 300_000_000), "limit of 256 MB")
        monkeypatch.setattr(gather, "LARGEST_ARCHIVE", 1_000_000)
        refused(zip_of(*((f"{i}", zeros[:90_000]) for i in range(14))), "limit of 1 MB")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_that_says_a_smaller_size_is_refused_without_unpacking_all(method):
    content = zip_of(("a.csv", bytes(5_000_000)), method=method)
    true, false = struct.pack("<I", 5_000_000), struct.pack("<I", 40)
    refused(content.replace(true, false), "cannot be unpacked")


def test_encrypted_and_unusual_zips_are_named():
    content = bytearray(zip_of(("a.csv", TABLE)))
    entry = content.index(b"PK\x01\x02")
    content[entry + 8] |= 1
    refused(bytes(content), "runs/a.csv: is encrypted; unpack it and give its files")
    content[entry + 8] &= 0xFE
    content[entry + 10] = 9
    refused(bytes(content), r"its compression \(method 9\) is not supported")


def test_a_file_without_a_name_is_read_under_that_of_its_zip():
    content = zip_of(("x", TABLE))
    start = content.index(b"PK\x01\x02")
    names_gone = bytearray(content.replace(b"x", b""))
    for place in (26, start - 1 + 28):  # length of the name, in the file's head and the directory
        names_gone[place] = 0
    end = names_gone.index(b"PK\x05\x06")
    names_gone[end + 12 : end + 20] = struct.pack("<II", end - start + 1, start - 1)
    assert [name for name, _ in unpacked("runs", bytes(names_gone))] == ["runs"]


def test_a_workbook_that_unpacks_to_much_is_refused():
    parts = ("xl/workbook.xml", b""), ("xl/worksheets/sheet1.xml", bytes(1000))
    content = zip_of(*parts)
    grown = content.replace(struct.pack("<II", 1000, 24)[:4], struct.pack("<I", 400_000_000))
    with pytest.raises(MeasurementError, match="its sheets unpack to 400 MB, above the limit of"):
        text_of(grown, "book.xlsx")


@pytest.mark.parametrize("pack", [zip_of, tar_of])
@pytest.mark.parametrize("name", ["../evil.csv", "/etc/passwd", "a/../../b", "..\\evil.csv"])
def test_names_outside_an_archive_are_refused(pack, name):
    refused(pack((name, TABLE)), "outside the archive; pack it again")


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE]
)
def test_links_devices_and_folders_of_a_tar_are_left_out(kind):
    assert names(tar_of(("odd", b""), kind=kind)) == []


def test_links_of_a_zip_are_left_out():
    link = zipfile.ZipInfo("latest.csv")
    link.external_attr = 0o120777 << 16
    assert names(zip_of((link, b"a.csv"), ("a.csv", TABLE))) == ["a.csv"]


def test_files_with_holes_are_refused():
    """A few bytes that stand for terabytes of zeros."""
    content = tar_of(("a.csv", TABLE), form=tarfile.GNU_FORMAT)
    header = tarfile.TarInfo.frombuf(content[:512], "utf-8", "strict")
    header.type = tarfile.GNUTYPE_SPARSE
    refused(header.tobuf(tarfile.GNU_FORMAT) + content[512:], "is stored with holes")


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_of_every_form_of_tar_are_read(form):
    name = "/".join(["folder" * 9] * 3) + "/späte messung.csv"
    assert names(tar_of((name, TABLE), ("b.csv", TABLE), form=form)) == ["b.csv", name]


def test_pax_headers_that_lie_are_refused_in_time():
    """One digit after another cost expressions of the standard library minutes before 3.11.10."""
    for records in (b"1" * 200_000, b"8 path=a\n", b"12 size=-3\n\n", b"99999 path=a\n"):
        body = records + bytes(-len(records) % 512)
        header = tarfile.TarInfo("x")
        header.type, header.size = tarfile.XHDTYPE, len(records)
        with limited_time(5, TimeoutError):
            refused(header.tobuf() + body + tar_of(("a.csv", TABLE)), "cannot be unpacked")


def test_a_negative_size_in_a_tar_does_not_loop():
    block = bytearray(tarfile.TarInfo("a.csv").tobuf())
    block[124:136] = b"\xff" * 12
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    assert is_tar(bytes(block))
    refused(bytes(block) + tar_of(("a.csv", TABLE)), "a size below 0")


def test_what_only_looks_compressed_is_text():
    assert compression(b"BZhang,rate\n1,2\n") == ""
    assert compression(b"PK,rate\n") == ""
    assert names(b"PK,rate\n1,2\n") == ["runs"]


HEADS = (
    "\n",
    " ",
    "\t",
    "\r\n",
    " \n",
    "[",
    "{",
    "<",
    "#\n",
    "a,",
    "1 ",
    "[{",
    "- ",
    '{"a":',
    "<a ",
)


def test_recognisers_take_a_time_that_grows_with_the_text():
    """All 60 take some 0.05 s for the longest head; those that went back took 20 s."""
    with limited_time(10, TimeoutError):
        for piece in HEADS:
            recognised(piece * (64_000 // len(piece)))


def test_recognisers_see_the_first_lines_only(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "headway.models.reading.recognise._own", lambda text: seen.append(len(text)) or None
    )
    recognised("word,word\n" * 100_000)
    assert seen == [64_000]


@pytest.mark.parametrize(
    "text", ["[" * 9_000_000, "\n" * 25_000, '{"a":' * 1_800_000, "<a>" * 3_000_000]
)
def test_endless_brackets_and_lines_are_refused_at_once(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    with limited_time(5, TimeoutError):
        assert len(refusal("read", path)) < 300


def test_text_in_two_bytes_a_character_is_read(tmp_path):
    """As PowerShell writes what a tool prints."""
    path = tmp_path / "curve.csv"
    path.write_text(TABLE.decode(), encoding="utf-16")
    assert Measurements.read(path).column("response").values.tolist() == [0.0015, 0.003]
    path.write_bytes(path.read_bytes()[:-1])
    assert "not a text file" in refusal("read", path)


@pytest.mark.parametrize(
    "model",
    ["[parameters]\nKEY = 'x y'", "KEY = 'x'", "[stations.KEY]\nkind = 'MM1'\nservice_time = 3\n"
     "[[routes]]\nfrom = 'KEY'\nto = 'KEY'", "[stations.a]\nkind = 'KEY'", "'KEY KEY' = 3"],
)  # fmt: skip
def test_lines_of_errors_are_cut(tmp_path, model):
    path = tmp_path / "a.toml"
    path.write_text(f"name = 'a'\n{model}\n".replace("KEY", "k" * 5000))
    assert 20 < len(refusal("solve", path)) <= 1100
    assert len(refusal("solve", "server-single", f"--{'k' * 5000}")) <= 1100
