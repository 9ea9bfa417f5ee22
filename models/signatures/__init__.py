"""What measured curves and tables say by themselves: SFS, LogP, LogGP."""
