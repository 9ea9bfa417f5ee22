"""Caches by brute force: whole Markov chains, product forms, and requests followed one by one."""

from collections import OrderedDict
from itertools import permutations

import numpy as np
from scipy.special import roots_legendre


def chain_hit_ratio(policy, shares, size):
    """Hit ratio from the whole chain of what is in the cache, in order."""
    states = list(permutations(range(len(shares)), size))
    place = {state: k for k, state in enumerate(states)}
    moves = np.zeros((len(states), len(states)))
    for state in states:
        for item, share in enumerate(shares):
            for after, chance in _after(policy, state, item):
                moves[place[state], place[after]] += share * chance
    system = np.vstack([moves.T - np.eye(len(states)), np.ones(len(states))])
    there = np.linalg.lstsq(system, np.r_[np.zeros(len(states)), 1.0], rcond=None)[0]
    return sum(p * sum(shares[i] for i in state) for p, state in zip(there, states, strict=True))


def _after(policy, state, item):
    if item in state:
        moved = (item, *(i for i in state if i != item)) if policy == "lru" else state
        return [(moved, 1.0)]
    if policy == "random":
        return [((*state[:k], item, *state[k + 1 :]), 1 / len(state)) for k in range(len(state))]
    return [((item, *state[:-1]), 1.0)]


def lru_hit_ratio(shares, size):
    """Exact, after King: at an item's next request fewer than `size` others came since its last.

    The gap between is exponential in continuous time, whether others came is independent: a sum
    over Poisson-binomial chances, integrated by 40 spans of Gauss and Legendre in log t.
    """
    nodes, weights = roots_legendre(16)
    ends = np.linspace(np.log(1e-7), np.log(60 / shares.min()), 41)
    half = np.diff(ends)[:, None] / 2
    logs = (ends[:-1, None] + half * (1 + nodes)).ravel()
    time, weight = np.exp(logs), (half * weights).ravel() * np.exp(logs)
    hit = 0.0
    for own, share in enumerate(shares):
        fewer = np.zeros((size, len(time)))
        fewer[0] = 1.0
        for other in np.delete(shares, own):
            came = -np.expm1(-other * time)
            fewer[1:] = fewer[1:] * (1 - came) + fewer[:-1] * came
            fewer[0] *= 1 - came
        gaps = share * np.exp(-share * time) * weight
        hit += share * (gaps @ fewer.sum(axis=0))
    return hit


def random_hit_ratio(shares, size):
    """Exact for random replacement and FIFO, after Gelenbe: sets in proportion to products."""

    def symmetric(values):
        sums = np.zeros(size + 1)
        sums[0] = 1.0
        for value in values:
            sums[1:] += value * sums[:-1].copy()
        return sums

    scaled = shares / shares.max()
    whole = symmetric(scaled)[size]
    each = [x * symmetric(np.delete(scaled, i))[size - 1] for i, x in enumerate(scaled)]
    return float(shares @ np.array(each)) / whole


def simulated_hit_ratio(policy, shares, size, requests, seed):
    """Follow requests one by one; the first tenth warms up."""
    rng = np.random.default_rng(seed)
    numbers = rng.choice(len(shares), size=requests, p=shares).tolist()
    drops = rng.integers(size, size=requests).tolist()
    cache, slots, hits, warm = OrderedDict(), [], 0, requests // 10
    for number, item in enumerate(numbers):
        if item in cache:
            hits += number >= warm
            if policy == "lru":
                cache.move_to_end(item)
            continue
        if policy == "random":
            if len(slots) < size:
                slots.append(item)
            else:
                del cache[slots[drops[number]]]
                slots[drops[number]] = item
        elif len(cache) == size:
            cache.popitem(last=False)
        cache[item] = True
    return hits / (requests - warm)


def simulated_ttl(shares, lifetime, requests, seed, *, renewed):
    """The same with a lifetime in requests, which are Poisson: one a unit of time."""
    rng = np.random.default_rng(seed)
    numbers = rng.choice(len(shares), size=requests, p=shares).tolist()
    times = np.cumsum(rng.exponential(1.0, requests)).tolist()
    ends, hits, warm = {}, 0, requests // 10
    for number, (item, now) in enumerate(zip(numbers, times, strict=True)):
        hit = ends.get(item, 0.0) > now
        hits += hit and number >= warm
        if renewed or not hit:
            ends[item] = now + lifetime
    return hits / (requests - warm)
