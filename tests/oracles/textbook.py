"""Recursions as plain as textbooks print them, to hold ours against."""


def mean_value_analysis(demands, population, think_time):
    """Throughput of single servers and a delay, one more job at a time."""
    queues = [0.0] * len(demands)
    for jobs in range(1, population + 1):
        times = [d * (1 + q) for d, q in zip(demands, queues, strict=True)]
        throughput = jobs / (think_time + sum(times))
        queues = [throughput * time for time in times]
    return throughput
