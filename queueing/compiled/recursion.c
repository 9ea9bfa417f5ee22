/* Exact mean value analysis: headway.queueing.closed.mva, headway.queueing.classes.lattice_mva. */
#include "kernels.h"

#define LANES 8 /* networks handled side by side, so that their divisions overlap */

/* One class; arrays as in the Python version, [station][network] and [station][point]. */
typedef struct {
    ptrdiff_t stations, networks, points;
    const double *demand, *share, *think;
    int64_t start, stop;
    const int64_t *begin, *population;
    double *length, *rate, *queue;
} Recursion;

/* R = D (1 + Q / queues), X = n / (Z + sum of R), Q = X R; stored where n is a point's population. */
static inline void side_by_side(const Recursion *of, ptrdiff_t first, const int lanes)
{
    ptrdiff_t next[LANES], networks = of->networks;
    double *length = of->length + first, rate[LANES] = {0};
    for (int i = 0; i < lanes; i++)
        for (next[i] = of->begin[first + i]; next[i] < of->begin[first + i + 1]; next[i]++)
            if (of->population[next[i]] > of->start)
                break;
    for (int64_t n = of->start; n < of->stop;) {
        int64_t until = INT64_MAX; /* where the next point ends */
        for (int i = 0; i < lanes; i++)
            if (next[i] < of->begin[first + i + 1] && of->population[next[i]] < until)
                until = of->population[next[i]];
        if (until == INT64_MAX)
            return;
        for (until = until < of->stop ? until : of->stop; n < until;) {
            n++;
            for (int i = 0; i < lanes; i++)
                rate[i] = 0;
            for (ptrdiff_t at = 0; at < of->stations * networks; at += networks)
                for (int i = 0; i < lanes; i++) {
                    double ahead = 1 + length[at + i] * of->share[first + at + i];
                    length[at + i] = of->demand[first + at + i] * ahead;
                    rate[i] += length[at + i];
                }
            for (int i = 0; i < lanes; i++)
                rate[i] = (double)n / (rate[i] + of->think[first + i]);
            for (ptrdiff_t at = 0; at < of->stations * networks; at += networks)
                for (int i = 0; i < lanes; i++)
                    length[at + i] *= rate[i];
        }
        for (int i = 0; i < lanes; i++)
            for (; next[i] < of->begin[first + i + 1] && of->population[next[i]] <= n; next[i]++) {
                of->rate[next[i]] = rate[i];
                for (ptrdiff_t k = 0; k < of->stations; k++)
                    of->queue[k * of->points + next[i]] = length[k * networks + i];
            }
    }
}

const char *one_class_recursion(const Argument *given)
{
    Recursion of = {
        .demand = given[0].numbers.at, .share = given[1].numbers.at, .think = given[2].numbers.at,
        .start = given[3].count, .stop = given[4].count,
        .begin = given[5].counts.at, .population = given[6].counts.at,
        .length = given[7].numbers.at, .rate = given[8].numbers.at, .queue = given[9].numbers.at,
        .networks = given[2].numbers.size, .points = given[6].counts.size,
    };
    if (of.networks < 1 || given[5].counts.size != of.networks + 1)
        return "one_class_recursion: a network, and the first point of each";
    of.stations = given[0].numbers.size / of.networks;
    if (given[0].numbers.size != of.stations * of.networks
        || given[1].numbers.size != of.stations * of.networks
        || given[7].numbers.size != of.stations * of.networks || given[8].numbers.size != of.points
        || given[9].numbers.size != of.stations * of.points)
        return "one_class_recursion: each number by station and network, or point";
    for (ptrdiff_t j = 0; j < of.networks; j++)
        if (of.begin[j] < 0 || of.begin[j + 1] < of.begin[j] || of.begin[j + 1] > of.points)
            return "one_class_recursion: points in the order of networks";
    ptrdiff_t first = 0;
    for (; first + LANES <= of.networks; first += LANES)
        side_by_side(&of, first, LANES);
    for (; first < of.networks; first++)
        side_by_side(&of, first, 1);
    return NULL;
}

/* Several classes at one point: planes of populations with one total, with a row of stations in each cell. */
typedef struct {
    ptrdiff_t classes, stations, points, margin;
    const double *demand, *share, *think; /* of the point; of classes with a large stride */
    const int64_t *largest, *step;
    const double *before;
    double *after;
    int64_t *number;
} Plane;

static inline double product(const double *one, const double *other, ptrdiff_t size)
{
    double even = 0, odd = 0; /* two sums, which a processor can add at once */
    for (ptrdiff_t k = 0; k + 1 < size; k += 2) {
        even += one[k] * other[k];
        odd += one[k + 1] * other[k + 1];
    }
    return even + odd + (size % 2 ? one[size - 1] * other[size - 1] : 0);
}

/* 1 + Q / queues of one population: X_c = n_c / (Z_c + sum of R_c), R_c = D_c (1 + Q(n - e_c)). */
static void population(const Plane *of, ptrdiff_t cell)
{
    ptrdiff_t size = of->stations, far = of->points * size;
    double *restrict here = of->after + (of->margin + cell) * size;
    for (ptrdiff_t k = 0; k < size; k++)
        here[k] = 1;
    for (ptrdiff_t c = 0; c < of->classes; c++) {
        if (of->number[c] == 0)
            continue;
        const double *ahead = of->before + (of->margin + cell - of->step[c]) * size;
        const double *share = of->share + c * far;
        double cycle = of->think[c * of->points] + product(of->demand + c * far, ahead, size);
        double rate = (double)of->number[c] / cycle;
        for (ptrdiff_t k = 0; k < size; k++)
            here[k] += rate * share[k] * ahead[k];
    }
}

/* Populations with a given number of jobs of class c and later classes; the last class has the rest. */
static void fill(const Plane *of, ptrdiff_t c, ptrdiff_t cell, int64_t rest)
{
    if (c == of->classes - 1) {
        of->number[c] = rest;
        population(of, cell);
        return;
    }
    int64_t beyond = 0;
    for (ptrdiff_t d = c + 1; d < of->classes; d++)
        beyond += of->largest[d * of->points];
    int64_t most = rest < of->largest[c * of->points] ? rest : of->largest[c * of->points];
    for (int64_t n = rest > beyond ? rest - beyond : 0; n <= most; n++) {
        of->number[c] = n;
        fill(of, c + 1, cell + n * of->step[c], rest - n);
    }
}

const char *lattice_planes(const Argument *given)
{
    ptrdiff_t classes = given[4].counts.size, all = given[3].counts.size;
    ptrdiff_t points = classes ? all / classes : 0;
    if (points < 1 || all != points * classes || given[2].numbers.size != all
        || given[9].counts.size != classes)
        return "lattice_planes: a class, a point, and a number for each";
    ptrdiff_t stations = given[0].numbers.size / all, margin = 0;
    ptrdiff_t rows = stations ? given[7].numbers.size / points / stations : 0;
    if (given[0].numbers.size != stations * all || given[1].numbers.size != stations * all
        || given[7].numbers.size != rows * points * stations
        || given[8].numbers.size != given[7].numbers.size)
        return "lattice_planes: stations for each class, in two planes alike";
    const int64_t *largest = given[3].counts.at, *step = given[4].counts.at;
    for (ptrdiff_t c = 0; c < classes; c++) {
        if (step[c] < 0 || step[c] > rows || step[classes - 1])
            return "lattice_planes: steps within a plane, none of the last class";
        margin = step[c] > margin ? step[c] : margin;
    }
    for (ptrdiff_t p = 0; p < points; p++) {
        int64_t cell = margin;
        for (ptrdiff_t c = 0; c < classes; c++) {
            if (largest[c * points + p] < 0 || largest[c * points + p] > INT32_MAX)
                return "lattice_planes: populations that fit";
            cell += largest[c * points + p] * step[c];
            if (cell >= rows)
                return "lattice_planes: planes that hold their populations";
        }
    }
    for (ptrdiff_t p = 0; p < points; p++) {
        double *plane[2] = {given[7].numbers.at + p * rows * stations,
                            given[8].numbers.at + p * rows * stations};
        for (int64_t total = given[5].count; total < given[6].count; total++) {
            int64_t most = 0;
            for (ptrdiff_t c = 0; c < classes; c++)
                most += largest[c * points + p];
            int turn = (total - given[5].count) % 2;
            Plane of = {
                classes, stations, points, margin,
                given[0].numbers.at + p * stations, given[1].numbers.at + p * stations,
                given[2].numbers.at + p, largest + p, step,
                plane[turn], plane[!turn], given[9].counts.at,
            };
            if (total >= 1 && total <= most)
                fill(&of, 0, 0, total);
        }
    }
    return NULL;
}
