"""Martin's thesis: LogGP programs and calibration, and the NFS server."""

from headway.models import reproduction_machines, reproduction_nfs, reproduction_programs

TABLES = (
    *reproduction_machines.CALIBRATION,
    *reproduction_programs.TABLES,
    *reproduction_nfs.TABLES,
    *reproduction_machines.PIPELINES,
)
