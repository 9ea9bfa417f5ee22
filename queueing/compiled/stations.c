/* Finite stations, and one server of any law: headway.queueing.layers.numerics.finite. */
#include <math.h>

#include "kernels.h"

#define LEAST 1e-290
#define NEGLIGIBLE 1e-18
#define MARGIN 24
#define HALVINGS 20
#define TINY 1e-300
#define ENDLESS 1e20
#define SURELY (1 - 1e-9)
#define LOST 1e-30
#define ROOM 6 /* arrays of work */

/* Classes of one station at one point; numbers of one class after the other, `step` apart, and members
   `across`. A class
   has odds, or, from the row `law` on, ratios of its successive coefficients; otherwise `law` is -1.
   The rates c(k) of a station are min(k, m), or those given, c(m) with more. */
typedef struct {
    int64_t m, top;
    const double *rates;
    ptrdiff_t classes, step, across;
    const int64_t *most, *law;
    const double *odds, *ratios;
    double theta;
} Station;

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t most_in(const Station *of, ptrdiff_t c)
{
    return of->most[c * of->across];
}

static int64_t members_of(const Station *of)
{
    int64_t members = 0;
    for (ptrdiff_t c = 0; c < of->classes; c++)
        members += most_in(of, c);
    return members;
}

/* The rise from term j - 1 to j of the coefficients of a class, and of p(k) with one class. */
static inline double rise(const Station *of, ptrdiff_t c, int64_t j)
{
    double ratio = of->law[c] < 0
        ? (double)(most_in(of, c) - j + 1) * of->odds[c * of->step] / (double)j
        : of->ratios[(of->law[c] + j - 1) * of->step];
    return ratio * of->theta;
}

static inline double rate_of(const Station *of, int64_t k)
{
    int64_t busy = smaller(k, of->m);
    return of->rates ? of->rates[(busy - 1) * of->step] : (double)busy;
}

static inline double queueing(const Station *of, int64_t k)
{
    return (double)k / (rate_of(of, k) * of->theta);
}

/* The least number z with b_k <= z^k / k! for the coefficients of a class over the first. */
static double load_of(const Station *of, ptrdiff_t c)
{
    double load = 0;
    if (of->law[c] < 0)
        return (double)most_in(of, c) * of->odds[c * of->step];
    for (int64_t j = 1; j <= most_in(of, c); j++)
        load = fmax(load, (double)j * of->ratios[(of->law[c] + j - 1) * of->step]);
    return load;
}

/* Mean of k with the weights b_k z^k, over z; roughly for a class with a law of its own. */
static double gone(const Station *of, double z)
{
    double sum = 0;
    for (ptrdiff_t c = 0; c < of->classes; c++) {
        double load = load_of(of, c);
        sum += load / (1 + load * z / (double)most_in(of, c));
    }
    return sum;
}

static int64_t last(const Station *of, int64_t members)
{
    double load = gone(of, 0), weight = 1;
    int64_t k = 0;
    if (load >= rate_of(of, of->m))
        return members;
    while (k < members && weight > NEGLIGIBLE) {
        k++;
        weight *= load / rate_of(of, k);
    }
    return smaller(k + MARGIN, members);
}

static double scale(const Station *of, int64_t members)
{
    double low = 1, high = (double)members / (double)of->m;
    if (members <= of->m || gone(of, low) <= (double)of->m)
        return 1;
    for (int n = 0; n < HALVINGS; n++) {
        double middle = sqrt(low * high);
        if (gone(of, middle) > (double)of->m)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Terms 0 to size of one class over the largest; if it is `alone`, terms of p(k). */
static void coefficients(const Station *of, ptrdiff_t c, int alone, int64_t size, double *terms)
{
#define RISE(j) (rise(of, c, j) * (alone ? queueing(of, j) : 1))
    int64_t at = 0;
    while (at < size && RISE(at + 1) >= 1)
        at++;
    terms[at] = 1;
    for (int64_t j = at; j > 0; j--) {
        double term = terms[j] / RISE(j);
        terms[j - 1] = term < LEAST ? 0 : term;
    }
    for (int64_t j = at + 1; j <= size; j++) {
        double term = terms[j - 1] * RISE(j);
        terms[j] = term < LEAST ? 0 : term;
    }
#undef RISE
}

/* Coefficients b of all classes but one (none if -1), scaled, in b; `one` and `sum` are room. */
static void product(const Station *of, ptrdiff_t but, double *b, double *one, double *sum)
{
    int64_t size = 0;
    b[0] = 1;
    for (ptrdiff_t c = 0; c < of->classes; c++) {
        int64_t own = smaller(most_in(of, c), of->top), whole = smaller(size + own, of->top);
        double largest = 0;
        if (c == but)
            continue;
        coefficients(of, c, 0, own, one);
        for (int64_t k = 0; k <= whole; k++)
            sum[k] = 0;
        for (int64_t i = 0; i <= size; i++) {
            int64_t end = smaller(own, whole - i);
            double times = b[i], *to = sum + i;
            for (int64_t j = 0; j <= end && times > 0; j++)
                to[j] += times * one[j];
        }
        for (int64_t k = 0; k <= whole; k++)
            largest = fmax(largest, sum[k]);
        for (int64_t k = 0; k <= whole; k++)
            b[k] = sum[k] / largest < LEAST ? 0 : sum[k] / largest;
        size = whole;
    }
    for (int64_t k = size + 1; k <= of->top; k++)
        b[k] = 0;
}

/* p(k) up to a factor, and b_{k-1} / b_k; 0 where floating point numbers do not reach so far. */
static int weigh(const Station *of, const double *b, double *weights, double *before)
{
    int64_t at = 0, low = 0, high = of->top;
    double factor = 1, largest = 0;
    while (at < of->top && queueing(of, at + 1) < 1)
        at++;
    for (int64_t k = at;; k--) {
        weights[k] = b[k] > 0 ? b[k] * factor : 0;
        if (k == 0)
            break;
        factor /= queueing(of, k);
    }
    factor = 1;
    for (int64_t k = at + 1; k <= of->top; k++) {
        factor *= queueing(of, k);
        weights[k] = b[k] > 0 ? b[k] * factor : 0;
    }
    before[0] = 0;
    for (int64_t k = 1; k <= of->top; k++)
        before[k] = b[k] > 0 ? b[k - 1] / b[k] : 0;
    for (int64_t k = 0; k <= of->top; k++) {
        if (!isfinite(weights[k]))
            return 0;
        largest = weights[k] > largest ? weights[k] : largest;
    }
    while (b[low] == 0)
        low++;
    while (b[high] == 0)
        high--;
    return !((low > 0 && weights[low] > NEGLIGIBLE * largest)
             || (high < of->top && weights[high] > NEGLIGIBLE * largest));
}

static inline double log_sum(double a, double b)
{
    double large = a > b ? a : b, small = a > b ? b : a;
    return large == -INFINITY ? large : large + log1p(exp(small - large));
}

static void by_logarithms(const Station *of, double *b, double *one, double *sum, double *weights,
                          double *before)
{
    int64_t size = 0;
    double total = 0, largest = -INFINITY;
    b[0] = 0;
    for (ptrdiff_t c = 0; c < of->classes; c++) {
        int64_t own = smaller(most_in(of, c), of->top), whole = smaller(size + own, of->top);
        one[0] = 0;
        for (int64_t j = 1; j <= own; j++)
            one[j] = one[j - 1] + log(rise(of, c, j));
        for (int64_t k = 0; k <= whole; k++)
            sum[k] = -INFINITY;
        for (int64_t j = 0; j <= own; j++)
            for (int64_t i = 0; i <= smaller(size, whole - j); i++)
                sum[i + j] = log_sum(sum[i + j], one[j] + b[i]);
        for (int64_t k = 0; k <= whole; k++)
            b[k] = sum[k];
        size = whole;
    }
    for (int64_t k = 0; k <= of->top; k++) {
        total += k ? log(queueing(of, k)) : 0;
        weights[k] = b[k] + total;
        before[k] = k ? exp(b[k - 1] - b[k]) : 0;
        largest = weights[k] > largest ? weights[k] : largest;
    }
    for (int64_t k = 0; k <= of->top; k++)
        weights[k] = exp(weights[k] - largest);
}

/* Mean members of class c among k, n t_k by (2). */
static void presence(const Station *of, ptrdiff_t c, const double *before, double *there)
{
    int64_t at = 0;
    double a = of->odds[c * of->step] * of->theta;
    there[0] = 0;
    while (at < of->top && a * before[at + 1] <= 1) {
        at++;
        there[at] = a * before[at] * (1 - there[at - 1]);
    }
    if (at < of->top)
        there[of->top] = 1;
    for (int64_t k = of->top; k > at + 1; k--) {
        double u = a * before[k];
        there[k - 1] = u > 0 ? 1 - there[k] / u : 1;
    }
    for (int64_t k = 0; k <= of->top; k++)
        there[k] *= (double)most_in(of, c);
}

/* The same for a class with a law of its own, from the coefficients of all others. */
static void presence_by_law(const Station *of, ptrdiff_t c, double *b, double *one, double *sum,
                            double *there)
{
    int64_t own = smaller(most_in(of, c), of->top);
    product(of, c, b, one, sum);
    coefficients(of, c, 0, own, one);
    there[0] = 0;
    for (int64_t k = 1; k <= of->top; k++) {
        double all = 0, mine = 0;
        for (int64_t j = 0; j <= smaller(own, k); j++) {
            double weight = one[j] * b[k - j];
            all += weight;
            mine += (double)j * weight;
        }
        there[k] = all > 0 ? mine / all : there[k - 1];
    }
}

/* Mean of max(0, k - m + 1) without one member of a class, that is among k by `there`. */
static double fewer_of(const Station *of, const double *chances, const double *there)
{
    double total = 0, above = 0;
    for (int64_t k = 1; k <= of->top; k++) {
        double weight = there[k] * chances[k] * rate_of(of, k) / (double)k;
        total += weight;
        above += k > of->m ? weight * (double)(k - of->m) : 0;
    }
    return total > 0 ? above / total : 0;
}

/* Probabilities in weights; mean members of classes, and what is beyond without one of each. */
static void solve_station(Station *of, double *work, ptrdiff_t room, double *means, double *fewer)
{
    double *weights = work, *b = work + room, *one = b + room, *sum = one + room;
    double *before = sum + room, *there = before + room, total = 0;
    int64_t members = members_of(of);
    of->top = last(of, members);
    of->theta = 1;
    weights[0] = 1;
    if (of->classes == 1)
        coefficients(of, 0, 1, of->top, weights);
    else if (of->classes > 1) {
        of->theta = scale(of, members);
        product(of, -1, b, one, sum);
        if (!weigh(of, b, weights, before))
            by_logarithms(of, b, one, sum, weights, before);
    }
    for (int64_t k = 0; k <= of->top; k++)
        total += weights[k];
    for (int64_t k = 0; k <= of->top; k++)
        weights[k] /= total;
    for (ptrdiff_t c = 0; c < of->classes; c++) {
        double mean = 0;
        if (of->classes == 1)
            for (int64_t k = 0; k <= of->top; k++)
                there[k] = (double)k;
        else if (of->law[c] < 0)
            presence(of, c, before, there);
        else
            presence_by_law(of, c, b, one, sum, there);
        for (int64_t k = 0; k <= of->top; k++)
            mean += weights[k] * there[k];
        means[c * of->step] = mean;
        fewer[c * of->step] = fewer_of(of, weights, there);
    }
}

const char *finite_stations(const Argument *given)
{
    const int64_t *begins = given[0].counts.at, *law = given[3].counts.at, *at = given[4].counts.at;
    const double *odds = given[5].numbers.at, *ratios = given[6].numbers.at;
    const double *rates = given[7].numbers.at;
    double *beyond = given[8].numbers.at, *full = given[9].numbers.at;
    double *nearly = given[10].numbers.at, *work = given[13].numbers.at;
    ptrdiff_t stations = given[4].counts.size, classes = given[3].counts.size;
    ptrdiff_t points = stations ? given[8].numbers.size / stations : 0;
    ptrdiff_t size = stations * points, room = given[13].numbers.size / ROOM;
    Counts servers = counts_of(given[1], stations, points);
    Counts most = counts_of(given[2], classes, points);
    if (given[0].counts.size != stations + 1 || !size || !servers.at || !most.at
        || given[5].numbers.size != classes * points
        || given[6].numbers.size % points || given[7].numbers.size % points
        || given[11].numbers.size != classes * points
        || given[12].numbers.size != classes * points || given[8].numbers.size != size
        || given[9].numbers.size != size || given[10].numbers.size != size)
        return "finite_stations: numbers of each station and class at each point";
    for (ptrdiff_t q = 0; q < stations; q++)
        if (begins[q] < 0 || begins[q] > begins[q + 1] || begins[q + 1] > classes
            || least_of(servers, q, points) < 1)
            return "finite_stations: where the classes of stations begin, and their servers";
        else if (at[q] >= 0
                 && at[q] + most_of(servers, q, points) > given[7].numbers.size / points)
            return "finite_stations: rates of stations";
    for (ptrdiff_t c = 0; c < classes; c++)
        if (least_of(most, c, points) < 1
            || (law[c] >= 0
                && law[c] + most_of(most, c, points) > given[6].numbers.size / points))
            return "finite_stations: members of classes, and ratios of those with a law";
    for (ptrdiff_t q = 0; q < stations; q++) {
        Station of = {.classes = begins[q + 1] - begins[q], .step = points,
                      .across = most.across, .law = law + begins[q]};
        for (ptrdiff_t i = 0; i < points; i++) {
            double above = 0, busy = 0, near = 0;
            of.m = count_at(servers, q, i);
            of.most = most.at + begins[q] * most.across + i * most.along;
            of.odds = odds + begins[q] * points + i;
            of.ratios = ratios + i;
            of.rates = at[q] < 0 ? NULL : rates + at[q] * points + i;
            if (members_of(&of) >= room)
                return "finite_stations: room for all members";
            solve_station(&of, work, room, given[11].numbers.at + begins[q] * points + i,
                          given[12].numbers.at + begins[q] * points + i);
            for (int64_t k = of.m - 1; k <= of.top; k++) {
                near += work[k];
                busy += k < of.m ? 0 : work[k];
                above += (double)(k - of.m + 1) * work[k];
            }
            beyond[q * points + i] = above;
            full[q * points + i] = busy;
            nearly[q * points + i] = near;
        }
    }
    return NULL;
}

/* Probabilities that 0, 1, ... of n are in service, of which the mean is given. */
static void in_service(int64_t n, double mean, int64_t m, double *chance)
{
    double share = fmin(mean / (double)n, SURELY), odds = share / (1 - share);
    double sum = (double)n * log1p(-share);
    chance[0] = exp(sum);
    for (int64_t k = 1; k <= smaller(n, m); k++) {
        sum += log((double)(n - k + 1) * odds / (double)k);
        chance[k] = exp(sum);
    }
}

/* The probability that m are in service, and none of them has left by a time. */
static double still_there(int64_t m, ptrdiff_t classes, ptrdiff_t step, const int64_t *most,
                          ptrdiff_t across, const double *chances, const double *service,
                          double time, double *whole)
{
    double *next = whole + m + 1;
    int64_t low = 0, high = 0;
    whole[0] = 1;
    for (ptrdiff_t c = 0; c < classes; c++, chances += m + 1) {
        double stays = exp(-time / service[c * step]), power = 1;
        int64_t count = smaller(most[c * across], m), first = m, end = 0;
        int64_t top = high + count < m ? high + count : m;
        for (int64_t k = low; k <= top; k++)
            next[k] = 0;
        for (int64_t j = 0; j <= count; j++, power *= stays) {
            double one = chances[j] * power;
            if (one < LOST)
                continue;
            for (int64_t k = low; k <= high && j + k <= m; k++)
                next[j + k] += one * whole[k];
        }
        for (int64_t k = low; k <= top; k++) {
            whole[k] = next[k];
            if (next[k] > LOST) {
                first = k < first ? k : first;
                end = k;
            }
        }
        if (first > end)
            return 0;
        low = first;
        high = end;
    }
    return high == m ? whole[m] : 0;
}

const char *first_to_leave(const Argument *given)
{
    const int64_t *begins = given[0].counts.at;
    const double *abscissas = given[5].numbers.at, *weights = given[6].numbers.at;
    ptrdiff_t stations = given[0].counts.size - 1;
    ptrdiff_t points = stations > 0 ? given[7].numbers.size / stations : 0;
    ptrdiff_t classes = points ? given[3].numbers.size / points : 0;
    double *work = given[8].numbers.at;
    Counts servers = counts_of(given[1], stations, points);
    Counts most = counts_of(given[2], classes, points);
    if (!points || !servers.at || !most.at || given[3].numbers.size != classes * points
        || given[4].numbers.size != classes * points
        || given[5].numbers.size != given[6].numbers.size
        || given[7].numbers.size != stations * points)
        return "first_to_leave: numbers of each station and class at each point";
    for (ptrdiff_t q = 0; q < stations; q++) {
        ptrdiff_t own = begins[q + 1] - begins[q];
        if (begins[q] < 0 || own < 0 || begins[q + 1] > classes || least_of(servers, q, points) < 1)
            return "first_to_leave: where the classes of stations begin, and their servers";
        if (given[8].numbers.size < (most_of(servers, q, points) + 1) * (own + 2))
            return "first_to_leave: room for those in service";
        for (ptrdiff_t i = 0; i < points; i++) {
            const double *present = given[3].numbers.at + begins[q] * points + i;
            const double *service = given[4].numbers.at + begins[q] * points + i;
            const int64_t *here = most.at + begins[q] * most.across + i * most.along;
            int64_t m = count_at(servers, q, i);
            double total = 0, mean = 0, found = 0, known;
            for (ptrdiff_t c = 0; c < own; c++) {
                total += present[c * points];
                mean += present[c * points] * service[c * points];
            }
            mean = total > 0 ? mean / total / (double)m : 0;
            given[7].numbers.at[q * points + i] = mean;
            if (m == 1 || own <= 1 || !(mean > 0))
                continue;
            double *whole = work + own * (m + 1);
            for (ptrdiff_t c = 0; c < own; c++)
                in_service(here[c * most.across], (double)m * present[c * points] / total, m,
                           work + c * (m + 1));
            known = still_there(m, own, points, here, most.across, work, service, 0, whole);
            if (!(known > 0))
                continue;
            for (ptrdiff_t n = 0; n < given[5].numbers.size; n++)
                found += weights[n]
                         * still_there(m, own, points, here, most.across, work, service,
                                       mean * abscissas[n], whole);
            given[7].numbers.at[q * points + i] = mean * found / known;
        }
    }
    return NULL;
}

/* The sum of the twin, for one server. */
static double cycles(int64_t members, ptrdiff_t kinds, ptrdiff_t step, const double *share,
                     const double *mean, const double *scv, double away)
{
    double term = 1, total = 0;
    for (int64_t n = 1; n < members; n++) {
        double laplace = 0, rest = 0;
        for (ptrdiff_t j = 0; j < kinds * step; j += step) {
            double more = (double)n * (mean[j] / away) * scv[j], rate = log1p(more) / scv[j];
            laplace += share[j] * (scv[j] == 1 ? 1 / (1 + more) : exp(-rate));
            rest += share[j] * (scv[j] == 1 ? more / (1 + more) : -expm1(-rate));
        }
        term *= (double)(members - n) / (double)n * (rest / (laplace > TINY ? laplace : TINY));
        total += term;
        if (term < NEGLIGIBLE * NEGLIGIBLE * total || total > ENDLESS)
            break;
    }
    return total;
}

const char *waits_of_one(const Argument *given)
{
    const int64_t *begins = given[0].counts.at;
    ptrdiff_t servers = given[0].counts.size - 1;
    ptrdiff_t points = servers > 0 ? given[6].numbers.size / servers : 0;
    ptrdiff_t kinds = points ? given[3].numbers.size / points : 0, size = servers * points;
    Counts members = counts_of(given[1], servers, points);
    if (servers < 1 || !size || !members.at || given[2].numbers.size != size
        || given[6].numbers.size != size || given[3].numbers.size != kinds * points
        || given[4].numbers.size != kinds * points || given[5].numbers.size != kinds * points)
        return "waits_of_one: numbers of each server and kind of service at each point";
    for (ptrdiff_t q = 0; q < servers; q++) {
        if (begins[q] < 0 || begins[q] > begins[q + 1] || begins[q + 1] > kinds)
            return "waits_of_one: where the kinds of service begin";
        for (ptrdiff_t i = 0; i < points; i++) {
            ptrdiff_t at = begins[q] * points + i, own = begins[q + 1] - begins[q];
            const double *share = given[3].numbers.at + at, *mean = given[4].numbers.at + at;
            double away = given[2].numbers.at[q * points + i], work = 0, found;
            int64_t count = count_at(members, q, i);
            for (ptrdiff_t j = 0; j < own; j++)
                work += share[j * points] * mean[j * points];
            found = cycles(count, own, points, share, mean, given[5].numbers.at + at, away);
            given[6].numbers.at[q * points + i] =
                (double)(count - 1) * work - away * (found / (1 + found));
        }
    }
    return NULL;
}
