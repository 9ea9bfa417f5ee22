/* Random streams, and samples from them. Static functions; include after the definition of Play, which
   holds the laws, the streams (those of the laws first), the time, and the table for laws with many
   numbers. */
#ifndef HEADWAY_CHANCE_H
#define HEADWAY_CHANCE_H

#include <math.h>

#include "rows.h"

/* Streams: the k-th number of a stream is mix(key + k odd), by the finaliser of splitmix64 (Steele,
   Lea and Flood, OOPSLA 2014). */

INLINED uint64_t mixed(uint64_t z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

INLINED uint64_t bits(uint64_t key, uint64_t k)
{
    return mixed(key + k * 0x9E3779B97F4A7C15u);
}

/* In (0, 1): odd multiples of 2**-53. */
INLINED double unit(uint64_t key, uint64_t k)
{
    return (double)(int64_t)(bits(key, k) >> 11 | 1) * 0x1p-53;
}

INLINED double drawn(Play *p, ptrdiff_t stream)
{
    Stream *s = &p->stream[stream];
    return unit((uint64_t)s->key, (uint64_t)s->next++);
}

/* Samples. A law that needs several numbers opens a stream for each sample, so the k-th sample does
   not depend on those before it. */

/* Polar method (Marsaglia and Bray 1964). */
static double normal(uint64_t key, uint64_t *k)
{
    for (;;) {
        double u = 2 * unit(key, (*k)++) - 1, v = 2 * unit(key, (*k)++) - 1, s = u * u + v * v;
        if (s < 1 && s > 0)
            return u * sqrt(-2 * log(s) / s);
    }
}

/* Marsaglia and Tsang, ACM TOMS 26(3), 2000; below 1 by U**(1 / shape) times that of shape + 1. */
static double gamma_sample(double shape, uint64_t key)
{
    uint64_t k = 0;
    double boost = 1;
    if (shape < 1) {
        boost = pow(unit(key, k++), 1 / shape);
        shape += 1;
    }
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = normal(key, &k), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (log(unit(key, k++)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v * boost;
    }
}

/* Time to the next arrival when rates change: each rate of a table holds from its start, and the table
   repeats after a period. The integral of the rate until the arrival is exponential with mean 1: take
   off whole periods first, then piece by piece. A table has starts, rates, and a period's integral. */
static double by_rates(const Play *p, const Law *law, double left)
{
    int64_t count = (int64_t)law->second, k = 0, beyond = count;
    const double *start = p->table + (int64_t)law->first, *rate = start + count;
    double period = law->third, total = rate[count], phase = fmod(p->now, period);
    double whole = floor(left / total), gap = whole * period;
    left -= whole * total;
    while (beyond - k > 1) {
        int64_t middle = k + (beyond - k) / 2;
        if (start[middle] > phase)
            beyond = middle;
        else
            k = middle;
    }
    for (;;) {
        double passes = (k + 1 < count ? start[k + 1] : period) - phase;
        if (left < rate[k] * passes)
            return gap + left / rate[k];
        left -= rate[k] * passes;
        gap += passes;
        k = k + 1 < count ? k + 1 : 0;
        phase = start[k];
    }
}

static double rarer_sample(Play *p, ptrdiff_t number)
{
    const Law *law = &p->law[number];
    Stream *s = &p->stream[number];
    if (law->kind == CONSTANT)
        return law->first + law->shift;
    if (law->kind == GAMMA)
        return law->shift +
               law->second * gamma_sample(law->first, bits((uint64_t)s->key, (uint64_t)s->next++));
    if (law->kind == TRACE)
        return p->table[(int64_t)law->first + s->next++ % (int64_t)law->second];
    if (law->kind == RATES)
        return by_rates(p, law, -log(drawn(p, number)));
    double u = drawn(p, number);
    if (u < law->first)
        return law->shift - law->second * log(u / law->first);
    return law->shift - law->third * log((1 - u) / (1 - law->first));
}

INLINED double sample(Play *p, ptrdiff_t number)
{
    const Law *law = &p->law[number];
    if (law->kind == EXPONENTIAL)
        return law->shift - law->first * log(drawn(p, number));
    return rarer_sample(p, number);
}

#endif
