/* Approximate mean value analysis for stations whose speed does not depend on the jobs present:
   headway.queueing.closed.fixed_point. */
#include <math.h>

#include "kernels.h"

#define LONGEST 2.0 /* logarithm of the largest factor of a step */
#define EAGER 25    /* steps after which a shortened step may be whole again */
#define SHORT (1.0 / 64)
#define PLAIN 3 /* plain steps before Newton's */
#define ROUNDING 1e-13

/* X, v and Q: [class][point], [station][point] and [class][station][point]. */
typedef struct { double *rate, *found, *queue; } State;

typedef struct {
    ptrdiff_t classes, stations, points;
    const double *gain, *least, *extra, *correction, *think, *jobs;
    State now, next;
    /* of the current point: [class][station], [class], [station] and [station][station] */
    double *residence, *eased, *by_found, *by_rate; /* eased: 1 / (1 + g X / N) */
    double *cycle, *missed_jobs, *steep, *to_rate;
    double *offered, *missed_found, *to_found, *slow, *system;
} Steady;

/* The larger of two numbers; NaN if either is NaN. */
INLINED double larger(double one, double other)
{
    return one > other ? one : other >= one ? other : one + other;
}

/* R_ck = g (v_k + t) / (1 + g X_c / N_c), its sums, and their residuals. */
INLINED double around(const Steady *of, ptrdiff_t p)
{
    ptrdiff_t size = of->stations, points = of->points;
    double miss = 0;
    for (ptrdiff_t k = 0; k < size; k++)
        of->offered[k] = 0;
    for (ptrdiff_t c = 0; c < of->classes; c++) {
        double rate = of->now.rate[c * points + p], jobs = of->jobs[c * points + p];
        double some = jobs > 1 ? jobs : 1, sum = 0;
        for (ptrdiff_t k = 0; k < size; k++) {
            ptrdiff_t at = c * size + k, there = at * points + p;
            double gain = of->gain[there], eased = 1 / (1 + gain * (rate / some));
            double top = gain * (of->now.found[k * points + p] + of->correction[there]);
            double residence = larger(top * eased, of->least[there]);
            of->eased[at] = eased;
            of->residence[at] = residence;
            of->offered[k] += rate * residence;
            sum += residence;
        }
        of->cycle[c] = of->think[c * points + p] + sum;
        of->missed_jobs[c] = log(jobs > 0 ? rate * of->cycle[c] / some : 1);
        miss = larger(miss, fabs(of->missed_jobs[c]));
    }
    for (ptrdiff_t k = 0; k < size; k++) {
        of->offered[k] += of->extra[k * points + p];
        of->missed_found[k] = log(of->now.found[k * points + p] / of->offered[k]);
        miss = larger(miss, fabs(of->missed_found[k]));
    }
    return miss;
}

/* X_c = N_c / (Z_c + sum over k of R_ck). */
INLINED void plain(const Steady *of, ptrdiff_t p)
{
    ptrdiff_t size = of->stations, points = of->points;
    for (ptrdiff_t k = 0; k < size; k++)
        of->next.found[k * points + p] = 0;
    for (ptrdiff_t c = 0; c < of->classes; c++) {
        double rate = of->jobs[c * points + p] / (of->cycle[c] > 0 ? of->cycle[c] : 1);
        of->next.rate[c * points + p] = rate;
        for (ptrdiff_t k = 0; k < size; k++) {
            double queue = rate * of->residence[c * size + k];
            of->next.queue[(c * size + k) * points + p] = queue;
            of->next.found[k * points + p] += queue;
        }
    }
    for (ptrdiff_t k = 0; k < size; k++)
        of->next.found[k * points + p] += of->extra[k * points + p];
}

INLINED void subtract(double *restrict row, const double *restrict other, double factor,
                     ptrdiff_t start, ptrdiff_t stop)
{
    for (ptrdiff_t j = start; j < stop; j++)
        row[j] -= factor * other[j];
}

/* Solve a system of equations in place by elimination; 0 if it has no unique solution. */
INLINED int solve(double *system, double *wanted, ptrdiff_t size)
{
    for (ptrdiff_t k = 0; k < size; k++) {
        ptrdiff_t most = k;
        for (ptrdiff_t i = k + 1; i < size; i++)
            if (fabs(system[i * size + k]) > fabs(system[most * size + k]))
                most = i;
        if (system[most * size + k] == 0)
            return 0;
        for (ptrdiff_t j = k; j < size && most != k; j++) {
            double other = system[k * size + j];
            system[k * size + j] = system[most * size + j];
            system[most * size + j] = other;
        }
        double own = wanted[k], inverse = 1 / system[k * size + k];
        wanted[k] = wanted[most];
        wanted[most] = own;
        for (ptrdiff_t i = k + 1; i < size; i++) {
            double factor = system[i * size + k] * inverse;
            subtract(system + i * size, system + k * size, factor, k + 1, size);
            wanted[i] -= factor * wanted[k];
        }
    }
    for (ptrdiff_t k = size - 1; k >= 0; k--) {
        for (ptrdiff_t j = k + 1; j < size; j++)
            wanted[k] -= system[k * size + j] * wanted[j];
        wanted[k] /= system[k * size + k];
    }
    return 1;
}

/* Newton's step in logarithms; 0 where the equations do not determine it. */
INLINED int aim(const Steady *of, ptrdiff_t p)
{
    ptrdiff_t size = of->stations, points = of->points;
    for (ptrdiff_t j = 0; j < size * size; j++)
        of->system[j] = 0;
    for (ptrdiff_t k = 0; k < size; k++) {
        of->to_found[k] = of->missed_found[k];
        of->slow[k] = 0; /* here the sum over classes of how much each is slowed */
    }
    for (ptrdiff_t c = 0; c < of->classes; c++) {
        double *by_found = of->by_found + c * size, *by_rate = of->by_rate + c * size;
        double rate = of->now.rate[c * points + p], sum = 0;
        double cycle = of->cycle[c] > 0 ? of->cycle[c] : 1, often = 1 / cycle;
        for (ptrdiff_t k = 0; k < size; k++) {
            ptrdiff_t at = c * size + k, there = at * points + p;
            int waits = of->residence[at] > of->least[there];
            double slow = waits ? of->gain[there] * of->eased[at] : 0;
            by_rate[k] = of->residence[at] * (waits ? of->eased[at] : 1);
            sum += by_rate[k];
            by_found[k] = slow * (of->now.found[k * points + p] * often);
            of->slow[k] += rate * slow;
        }
        double steep = (of->think[c * points + p] + sum) / cycle;
        of->steep[c] = steep > 0 ? steep : 1;
        rate /= of->steep[c];
        for (ptrdiff_t k = 0; k < size; k++) {
            by_rate[k] *= rate / of->offered[k];
            of->to_found[k] += by_rate[k] * of->missed_jobs[c];
            subtract(of->system + k * size, by_found, -by_rate[k], 0, size);
        }
    }
    for (ptrdiff_t k = 0; k < size; k++)
        of->system[k * size + k] +=
            1 - of->now.found[k * points + p] * of->slow[k] / of->offered[k];
    if (!solve(of->system, of->to_found, size))
        return 0;
    for (ptrdiff_t c = 0; c < of->classes; c++) {
        double sum = 0;
        for (ptrdiff_t k = 0; k < size; k++)
            sum -= of->by_found[c * size + k] * of->to_found[k];
        of->to_rate[c] = -(of->missed_jobs[c] + sum) / of->steep[c];
    }
    return 1;
}

/* Take part of a step in logarithms, nowhere by more than a given factor. */
INLINED void go(const Steady *of, ptrdiff_t p, double part)
{
    ptrdiff_t size = of->stations, points = of->points;
    double longest = 0;
    for (ptrdiff_t c = 0; c < of->classes; c++)
        longest = larger(longest, fabs(of->to_rate[c]));
    for (ptrdiff_t k = 0; k < size; k++)
        longest = larger(longest, fabs(of->to_found[k]));
    double share = LONGEST / larger(longest, LONGEST);
    part *= share < 1 ? share : 1;
    for (ptrdiff_t k = 0; k < size; k++)
        of->next.found[k * points + p] =
            of->now.found[k * points + p] * exp(-part * of->to_found[k]);
    for (ptrdiff_t c = 0; c < of->classes; c++) {
        double rate = of->now.rate[c * points + p] * exp(part * of->to_rate[c]);
        of->next.rate[c * points + p] = rate;
        for (ptrdiff_t k = 0; k < size; k++) {
            ptrdiff_t at = c * size + k, there = at * points + p;
            double queue = of->now.queue[there];
            of->next.queue[there] = queue + part * (rate * of->residence[at] - queue);
        }
    }
}

/* The largest relative change of throughputs and queue lengths; the next state becomes the current one. */
INLINED double taken(const Steady *of)
{
    double moved = 0;
    ptrdiff_t flows = of->classes * of->points, places = of->stations * of->points;
    for (ptrdiff_t i = 0; i < flows; i++) {
        double next = of->next.rate[i];
        moved = larger(moved, fabs(next - of->now.rate[i]) / larger(next, 1e-300));
        of->now.rate[i] = next;
    }
    for (ptrdiff_t i = 0; i < places; i++) {
        double next = of->next.found[i];
        moved = larger(moved, fabs(next - of->now.found[i]) / next);
        of->now.found[i] = next;
    }
    for (ptrdiff_t i = 0; i < of->classes * places; i += of->points)
        for (ptrdiff_t p = 0; p < of->points; p++) {
            double jobs = of->jobs[i / places * of->points + p], next = of->next.queue[i + p];
            moved = larger(moved, fabs(next - of->now.queue[i + p]) / (jobs > 1 ? jobs : 1));
            of->now.queue[i + p] = next;
        }
    return moved;
}

/* One step of all points, each by its own fraction. */
INLINED double step(const Steady *of, int64_t number, double *part, double *worst)
{
    int clear = 1;
    for (ptrdiff_t p = 0; p < of->points && clear; p++) {
        double miss = around(of, p);
        if (number > PLAIN) {
            double longer = part[p] * (number < EAGER ? 2 : 1.05), shorter = part[p] / 2;
            int nearer = miss < larger(worst[p], ROUNDING);
            part[p] = nearer ? (longer < 1 ? longer : 1) : larger(shorter, SHORT);
        }
        worst[p] = miss;
        if (number < PLAIN)
            plain(of, p);
        else if ((clear = aim(of, p)))
            go(of, p, part[p]);
    }
    for (ptrdiff_t p = 0; p < of->points && !clear; p++) {
        around(of, p);
        plain(of, p);
    }
    return taken(of);
}

WIDER const char *steady_steps(const Argument *given)
{
    double *work = given[14].numbers.at;
    Steady of = {
        .gain = given[0].numbers.at, .least = given[1].numbers.at, .extra = given[2].numbers.at,
        .correction = given[3].numbers.at, .think = given[4].numbers.at,
        .jobs = given[5].numbers.at, .points = given[11].numbers.size,
        .now = {given[8].numbers.at, given[9].numbers.at, given[10].numbers.at},
    };
    ptrdiff_t points = of.points, flows = given[4].numbers.size, places = given[2].numbers.size;
    if (points < 1 || flows % points || places % points || given[12].numbers.size != points
        || given[13].numbers.size != 1 || given[6].numbers.size < 1)
        return "steady_steps: a point, a step, and numbers for each";
    ptrdiff_t classes = of.classes = flows / points, stations = of.stations = places / points;
    ptrdiff_t each = classes * stations, all = each * points;
    if (given[0].numbers.size != all || given[1].numbers.size != all
        || given[3].numbers.size != all || given[5].numbers.size != flows
        || given[8].numbers.size != flows || given[9].numbers.size != places
        || given[10].numbers.size != all)
        return "steady_steps: numbers by class, station and point";
    if (given[14].numbers.size
        < flows + places + all + 4 * each + stations + 4 * classes + 3 * stations
            + stations * stations)
        return "steady_steps: more room for work";
    double **rows[] = {&of.next.rate, &of.next.found, &of.next.queue, &of.residence, &of.eased,
                       &of.by_found, &of.by_rate, &of.slow, &of.cycle, &of.missed_jobs,
                       &of.steep, &of.to_rate, &of.offered, &of.missed_found, &of.to_found,
                       &of.system};
    ptrdiff_t sizes[] = {flows, places, all, each, each, each, each, stations, classes, classes,
                         classes, classes, stations, stations, stations, stations * stations};
    for (int i = 0; i < 16; i++) {
        *rows[i] = work;
        work += sizes[i];
    }
    double *part = given[11].numbers.at, *worst = given[12].numbers.at;
    for (ptrdiff_t i = 0; i < given[6].numbers.size; i++) {
        double moved = step(&of, given[7].count + i, part, worst), least = 1;
        for (ptrdiff_t p = 0; p < points; p++)
            least = part[p] < least ? part[p] : least;
        if (moved <= given[6].numbers.at[i] * least) {
            *given[13].numbers.at = 1;
            break;
        }
    }
    return NULL;
}
