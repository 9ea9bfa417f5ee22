"""The machine: LogGP parameters, and the cost of messages and transfers."""
