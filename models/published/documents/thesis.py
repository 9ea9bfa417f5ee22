"""Martin's thesis: LogGP programs and calibration, and the NFS server."""

from headway.models.published.documents import machines, nfs, programs

TABLES = (
    *machines.CALIBRATION,
    *programs.TABLES,
    *nfs.TABLES,
    *machines.PIPELINES,
)
