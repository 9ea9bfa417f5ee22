"""The machine: LogGP's numbers, and what messages and transfers cost with them."""
