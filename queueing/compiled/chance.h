/* Random numbers of streams, and samples; static, for events.c alone. */
#ifndef HEADWAY_CHANCE_H
#define HEADWAY_CHANCE_H

#include <math.h>

#include "events.h"

/* Streams: the k-th number of a stream is mix(key + k odd), by the finaliser of splitmix64 (Steele,
   Lea and Flood, OOPSLA 2014). Streams stand in this order: a law each, a row of routes each, the
   rounds of each class, the choice among queues and the order at each station, and the sizes of
   batches of each source. */

static uint64_t mixed(uint64_t z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static uint64_t bits(uint64_t key, uint64_t k)
{
    return mixed(key + k * 0x9E3779B97F4A7C15u);
}

/* In (0, 1): odd multiples of 2**-53. */
static double unit(uint64_t key, uint64_t k)
{
    return (double)(int64_t)(bits(key, k) >> 11 | 1) * 0x1p-53;
}

static double drawn(Play *p, ptrdiff_t stream)
{
    Stream *s = &p->stream[stream];
    return unit((uint64_t)s->key, (uint64_t)s->next++);
}

static ptrdiff_t rounds_stream(const Play *p, int64_t class)
{
    return p->laws + p->rows + class;
}

static ptrdiff_t choice_stream(const Play *p, int64_t station)
{
    return p->laws + p->rows + p->classes + station;
}

static ptrdiff_t order_stream(const Play *p, int64_t station)
{
    return choice_stream(p, station) + p->stations;
}

static ptrdiff_t size_stream(const Play *p, int64_t source)
{
    return order_stream(p, p->stations) + source;
}

/* Samples. Who needs several numbers has a stream of its own for each sample, so the k-th sample is
   the same whatever came before. */

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

/* Time to the next arrival by rates that change: the k-th of a table holds from its start on, and
   they repeat with a period. The integral of the rate from now on to then is exponential, of mean 1:
   whole periods of it first, then piece by piece. A table: starts, rates, integral of a period. */
static double by_rates(const Play *p, const Law *law, double left)
{
    int64_t count = (int64_t)law->second, k = count - 1;
    const double *start = p->table + (int64_t)law->first, *rate = start + count;
    double period = law->third, total = rate[count], phase = fmod(p->now, period);
    double whole = floor(left / total), gap = whole * period;
    left -= whole * total;
    while (k > 0 && start[k] > phase)
        k--;
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

static double sample(Play *p, ptrdiff_t number)
{
    const Law *law = &p->law[number];
    Stream *s = &p->stream[number];
    if (law->kind == CONSTANT)
        return law->first + law->shift;
    if (law->kind == EXPONENTIAL)
        return law->shift - law->first * log(drawn(p, number));
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

/* Jobs of the next batch of a source: k or more with probability more**(k - 1), or by a table. */
static int64_t batch_size(Play *p, int64_t number)
{
    const Source *source = &p->source[number];
    if (source->more > 0)
        return 1 + (int64_t)(log(drawn(p, size_stream(p, number))) / log(source->more));
    if (source->sizes == 1)
        return p->size[source->size].jobs;
    double chance = drawn(p, size_stream(p, number));
    int64_t k = source->size, last = source->size + source->sizes - 1;
    while (k < last && chance >= p->size[k].chance)
        k++;
    return p->size[k].jobs;
}

#endif
