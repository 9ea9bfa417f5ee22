"""The text of a file, whatever it was: compressed, in another encoding, or Parquet."""

from pathlib import Path

from headway.models.files.intake import read_bytes
from headway.models.files.packed import unpacked_whole
from headway.models.files.shipped import shipped_or_own
from headway.models.measured.measurements import LARGEST_FILE
from headway.models.reading.recognise import decoded


def file_text(path: Path) -> tuple[str, str]:
    """The text of a file and its name: also of Parquet, compressed, or shipped with headway.

    Raises
    ------
    MeasurementError
        For a file that is missing, too large, or not text.
    PackageError
        For Parquet where pandas and pyarrow are not installed.
    """
    own = shipped_or_own(path)
    content = unpacked_whole(read_bytes(own, LARGEST_FILE), str(path), LARGEST_FILE)
    return decoded(content, str(path)), str(path)
