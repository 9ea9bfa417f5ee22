"""The published SFS curves that ship with headway, and the systems they describe."""

from headway.models.files.shipped import data_path, data_rows
from headway.models.measured.measurements import Measurements
from headway.records import dataclass


@dataclass(frozen=True)
class PublishedCurve:
    """A published result.

    Parameters
    ----------
    name
        Its identifier, which is its file's name.
    published
        Year and month or quarter, as text that sorts by time.
    vendor, system
        The vendor, and the system.
    curve
        Response times over throughputs.
    """

    name: str
    published: str
    vendor: str
    system: str
    curve: Measurements

    @property
    def year(self) -> int:
        """Year of publication."""
        return int(self.published[:4])


def published_curves() -> tuple[PublishedCurve, ...]:
    """Every shipped curve, oldest first.

    Examples
    --------
    >>> curves = published_curves()
    >>> len(curves), curves[0].year, curves[-1].year
    (24, 1993, 2025)
    """
    rows = sorted(data_rows("sfs_results/index"), key=lambda row: row["published"])
    return tuple(
        PublishedCurve(row["id"], row["published"], row["vendor"], row["model"], _curve(row["id"]))
        for row in rows
    )


def _curve(name: str) -> Measurements:
    text = data_path(f"sfs_results/curves/{name}.csv").read_text(encoding="utf-8")
    return Measurements.parse(text, name)
