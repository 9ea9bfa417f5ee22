"""Programs on the machine: the cost of communication."""
