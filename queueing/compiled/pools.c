/* Threads of a pool at a station, with many callers: headway.queueing.layers.numerics.pools. */
#include <math.h>

#include "kernels.h"

#define NEGLIGIBLE 1e-12
#define ENDLESS 1e12
#define LARGE 1e200
#define LEAST 1e-290
#define STEEP 1e290
#define MOST 128
#define MANY 1000000
#define FACTORS 100.0
#define STEPS 60
#define EQUAL 1e-14

static double weight_of_full(int64_t waiting, double r)
{
    double term = 1, total = 1;
    if (waiting >= MANY / 2)
        return 1 / fmax(1 - (double)waiting * r, 1 / ENDLESS);
    for (int64_t left = waiting; left > 0; left--) {
        term *= (double)left * r;
        total += term;
        if (term < NEGLIGIBLE * total || total > ENDLESS)
            break;
    }
    return fmin(total, ENDLESS);
}

/* Ratios F_n / F_{n-1}, n = 1 to `upper`, of those who come from threads of pools above. */
static void from_above(int64_t upper, int64_t callers, double u, double r, double *ratios)
{
    double behind = (double)(callers - upper), p = u / (1 + u);
    double beta = weight_of_full(callers - upper, r), term = 1, last = 1, whole = 1, now = beta;
    for (int64_t j = 1; j <= upper; j++) {
        int64_t n = upper - j + 1;
        double then = now;
        term *= (behind - 1 + (double)j) / (double)j * p;
        last *= (behind + (double)j) / (double)j * p;
        whole += term;
        now = whole + (beta - 1) * last;
        ratios[n - 1] = (double)(callers - n + 1) / (1 + u) * then / now;
        if (now > LARGE) {
            term /= LARGE;
            last /= LARGE;
            whole /= LARGE;
            now /= LARGE;
        }
    }
}

static double beyond(int64_t count, const double *rises, double r)
{
    double term = 1, total = 1;
    for (int64_t n = 0; n < count; n++) {
        term *= rises[n] * r;
        total += term;
    }
    return fmin(total, ENDLESS);
}

/* Ratios of the coefficients of one class, `step` apart, from those of F, of which so many are
   known; these are overwritten, and b is room. */
static void ratios_of(int64_t most, int64_t known, double beta, double a, double d, ptrdiff_t step,
                      double *rises, double *b, double *ratios)
{
    double there = a / (a + d), away = d / (a + d), *weights = rises;
    int64_t at = 0;
    for (int64_t n = 1; n <= most; n++)
        rises[n - 1] = n <= known
            ? rises[n - 1] * (a + d) / (double)n * (n == most ? beta : 1) : 0;
    while (at < most && rises[at] >= 1)
        at++;
    /* from ratios to terms over the term `at`, in place: before it downwards, after it upwards */
    for (int64_t n = at; n > 0; n--)
        b[n - 1] = (n == at ? 1 : b[n]) / rises[n - 1];
    for (int64_t n = most; n > at; n--)
        weights[n] = rises[n - 1];
    weights[at] = 1;
    for (int64_t n = at + 1; n <= most; n++) {
        double term = weights[n] * weights[n - 1];
        weights[n] = term < LEAST ? 0 : term;
    }
    for (int64_t n = 0; n < at; n++)
        weights[n] = b[n] < LEAST ? 0 : b[n];
    for (int64_t k = 0; k <= most; k++)
        b[k] = 0;
    for (int64_t n = most; n >= 0; n--) {
        for (int64_t k = most - n; k > 0; k--)
            b[k] = b[k] * away + b[k - 1] * there;
        b[0] = b[0] * away + weights[n];
    }
    for (int64_t k = 1; k <= most; k++)
        ratios[(k - 1) * step] = b[k - 1] > 0 ? fmin(b[k] / b[k - 1], STEEP) : STEEP;
}

const char *pool_ratios(const Argument *given)
{
    const int64_t *waiting = given[3].counts.at;
    const double *odds = given[4].numbers.at, *elsewhere = given[5].numbers.at;
    const double *higher = given[6].numbers.at, *full = given[7].numbers.at;
    const double *all_full = given[8].numbers.at;
    ptrdiff_t classes = given[3].counts.size, room = given[10].numbers.size / 2;
    ptrdiff_t points = classes ? given[4].numbers.size / classes : 0;
    Counts threads = counts_of(given[0], classes, points);
    Counts above = counts_of(given[1], classes, points);
    Counts callers = counts_of(given[2], classes, points);
    double *rises = given[10].numbers.at, *b = rises + room;
    int64_t rows = 0;
    if (!threads.at || !above.at || !callers.at)
        return "pool_ratios: numbers of each class";
    for (ptrdiff_t c = 4; c < 9; c++)
        if (given[c].numbers.size != classes * points)
            return "pool_ratios: numbers of each class at each point";
    for (ptrdiff_t c = 0; c < classes; c++) {
        for (ptrdiff_t i = 0; i < points; i++) {
            int64_t own = count_at(threads, c, i), upper = count_at(above, c, i);
            if (own < 1 || own >= room || upper < 0 || upper >= room
                || count_at(callers, c, i) < (upper ? upper : own))
                return "pool_ratios: threads and callers of each class";
        }
        rows += points ? most_of(threads, c, points) : 0;
    }
    if (!points || given[9].numbers.size != rows * points)
        return "pool_ratios: room for each thread";
    for (ptrdiff_t c = 0, begin = 0; c < classes; begin += most_of(threads, c, points) * points, c++)
        for (ptrdiff_t i = 0; i < points; i++) {
            ptrdiff_t at = c * points + i;
            int64_t upper = count_at(above, c, i), count = count_at(callers, c, i);
            int64_t known = upper ? upper : count, most = count_at(threads, c, i);
            double beta = 1;
            if (upper) {
                from_above(upper, count, higher[at], all_full[at], rises);
                if (waiting[c] && upper > most)
                    beta = beyond(upper - most, rises + most, full[at]);
            } else {
                for (int64_t n = 0; n < most; n++)
                    rises[n] = (double)(count - n);
                if (waiting[c])
                    beta = weight_of_full(count - most, full[at]);
            }
            ratios_of(most, known, beta, odds[at], elsewhere[at], points, rises, b,
                      given[9].numbers.at + begin + i);
        }
    return NULL;
}

/* The rate of a number of jobs at a station of m servers, or with rates of its own. */
static double rate_of(double jobs, int64_t m, const double *rates, ptrdiff_t step)
{
    int64_t below = jobs < (double)m ? (int64_t)jobs : m;
    double low, high;
    if (!rates)
        return fmin(jobs, (double)m);
    low = below ? rates[(below - 1) * step] : 0;
    high = below < m ? rates[below * step] : low;
    return low + (jobs - (double)below) * (high - low);
}

/* Coefficients of a product with one more station, where there are others. */
static void with_station(int64_t m, double a, double others, const double *rates, ptrdiff_t step,
                         int64_t top, double *w, double *terms)
{
    terms[0] = 1;
    for (int64_t k = 1; k <= top; k++) {
        double there = (double)k + others;
        terms[k] = terms[k - 1] * a / (rate_of(there, m, rates, step) * (double)k / there);
    }
    for (int64_t n = top; n >= 0; n--) {
        double sum = 0;
        for (int64_t k = 0; k <= n; k++)
            sum += terms[k] * w[n - k];
        w[n] = sum;
    }
}

/* E n, and E f c(n), if each of some callers comes at the rate x. */
static double means(int64_t threads, const double *c, ptrdiff_t step, double f, int64_t callers,
                    double x, double *freed)
{
    double weight = 1, total = 1, mean = 0, sum = 0;
    double full = weight_of_full(callers - threads, x / (f * c[(threads - 1) * step]));
    for (int64_t n = 1; n <= threads; n++) {
        double rate = f * c[(n - 1) * step];
        weight *= (double)(callers - n + 1) * x / rate * (n == threads ? full : 1);
        total += weight;
        mean += (double)n * weight;
        sum += rate * weight;
        if (total > LARGE) {
            weight /= LARGE;
            total /= LARGE;
            mean /= LARGE;
            sum /= LARGE;
        }
    }
    *freed = sum / total;
    return mean / total;
}

static double surplus(int64_t threads, const double *c, ptrdiff_t step, int64_t callers, double x,
                      double logarithm)
{
    double freed, mean = means(threads, c, step, exp(logarithm), callers, x, &freed);
    return log(mean / freed);
}

/* The factor of c for which both are equal: secants of its logarithm, within a shrinking interval. */
static double factor_of(int64_t threads, const double *c, ptrdiff_t step, int64_t callers, double x)
{
    double low = -log(FACTORS), high = -low, at = 0, before = 0, last = 0, slope = -1;
    for (int n = 0; n < STEPS; n++) {
        double there = surplus(threads, c, step, callers, x, at), following;
        if (there > 0)
            low = at;
        else
            high = at;
        if (fabs(there) < EQUAL || high - low < EQUAL)
            break;
        if (n && at != before)
            slope = (there - last) / (at - before);
        following = slope < 0 ? at - there / slope : low;
        before = at;
        last = there;
        at = low < following && following < high ? following : (low + high) / 2;
    }
    return exp(at);
}

const char *pool_capacities(const Argument *given)
{
    const int64_t *begins = given[1].counts.at, *lower = given[3].counts.at;
    const double *loads = given[5].numbers.at, *others = given[6].numbers.at;
    const double *elsewhere = given[7].numbers.at, *coming = given[8].numbers.at;
    double *result = given[9].numbers.at, *c = result;
    double *bare = given[10].numbers.at, *w = given[11].numbers.at, *terms = w + MOST + 1;
    ptrdiff_t pools = given[1].counts.size - 1, stations = given[3].counts.size;
    ptrdiff_t points = pools > 0 ? given[7].numbers.size / pools : 0;
    Counts threads = counts_of(given[0], pools, points);
    Counts servers = counts_of(given[2], stations, points);
    Counts callers = counts_of(given[4], pools, points);
    int64_t rows = 0;
    if (!points || !threads.at || !servers.at || !callers.at
        || given[5].numbers.size != stations * points
        || given[6].numbers.size != stations * points || given[7].numbers.size != pools * points
        || given[8].numbers.size != pools * points || given[10].numbers.size != pools * points
        || given[11].numbers.size < 2 * (MOST + 1))
        return "pool_capacities: numbers of each pool and station at each point";
    for (ptrdiff_t p = 0; p < pools; p++) {
        for (ptrdiff_t i = 0; i < points; i++)
            if (count_at(threads, p, i) < 1 || count_at(callers, p, i) < count_at(threads, p, i))
                return "pool_capacities: threads and callers of pools";
        if (begins[p] < 0 || begins[p] > begins[p + 1] || begins[p + 1] > stations)
            return "pool_capacities: stations of pools";
        for (ptrdiff_t at = begins[p]; at < begins[p + 1]; at++)
            if (least_of(servers, at, points) < 1
                || (lower[at] >= 0 && lower[at] + most_of(servers, at, points) > rows))
                return "pool_capacities: lower pools before those above";
        rows += most_of(threads, p, points);
    }
    if (given[9].numbers.size != rows * points)
        return "pool_capacities: room for each thread";
    for (ptrdiff_t p = 0; p < pools; c += most_of(threads, p, points) * points, p++)
        for (ptrdiff_t i = 0; i < points; i++) {
            int64_t most = count_at(threads, p, i), top = most < MOST ? most : MOST;
            double further, factor;
            if (most == 1) { /* freed at this rate by definition */
                c[i] = bare[p * points + i] = 1;
                continue;
            }
            w[0] = 1;
            for (int64_t n = 1; n <= top; n++)
                w[n] = w[n - 1] * elsewhere[p * points + i] / (double)n;
            for (ptrdiff_t at = begins[p]; at < begins[p + 1]; at++)
                with_station(count_at(servers, at, i), loads[at * points + i],
                             others[at * points + i],
                             lower[at] < 0 ? NULL : result + lower[at] * points + i, points, top,
                             w, terms);
            for (int64_t n = 1; n <= top; n++)
                c[(n - 1) * points + i] = w[n - 1] / w[n];
            further = c[(top - 1) * points + i] - c[(top - 2) * points + i];
            for (int64_t n = top; n < most; n++)
                c[n * points + i] = c[(n - 1) * points + i] + further;
            bare[p * points + i] = c[(most - 1) * points + i];
            factor = factor_of(most, c + i, points, count_at(callers, p, i),
                               coming[p * points + i]);
            for (int64_t n = 0; n < most; n++)
                c[n * points + i] *= factor;
        }
    return NULL;
}
