/* Convolution for one class of jobs: headway.queueing.closed.convolution. */
#include "kernels.h"

#define LANES 8    /* points of one population handled side by side, for speed */
#define HUGE 1e200 /* a series that grows beyond this is scaled, as only ratios of its terms matter */

/* Arrays as in the Python version, [station][point]; the speeds of all stations one after another. */
typedef struct {
    ptrdiff_t points, singles, several, room;
    const double *mean, *ratio, *count, *load, *speeds, *crew;
    const int64_t *length, *width, *population;
    double *through, *single, *present, *working, *least, *work;
} Convolution;

/* The series x(0) = 1, x(n) = x(n - 1) load / rate(n); rates come in rows, the last of which holds for
   all larger n, or rate(n) is n. */
static inline void products(double *series, int64_t jobs, const double *load, const double *rates,
                            int64_t rows, ptrdiff_t row, ptrdiff_t column, const int lanes)
{
    for (int i = 0; i < lanes; i++)
        series[i] = 1;
    for (int64_t n = 1; n <= jobs; n++) {
        double largest = 0, *here = series + n * lanes;
        const double *rate = rates ? rates + (n < rows ? n - 1 : rows - 1) * row : 0;
        for (int i = 0; i < lanes; i++)
            here[i] = here[i - lanes] * (load[i] / (rate ? rate[i * column] : (double)n));
        for (int i = 0; i < lanes; i++)
            largest = here[i] > largest ? here[i] : largest;
        for (int i = 0; i < lanes && largest > HUGE; i++)
            if (here[i] > HUGE) {
                double scale = here[i];
                for (int64_t m = 0; m <= n; m++)
                    series[m * lanes + i] /= scale;
            }
    }
}

/* Convolve a series with a station's probabilities, which are geometric from its last speed on. */
static inline void times(const double *chances, int64_t length, const double *ratio,
                         const double *series, double *result, int64_t jobs, const int lanes)
{
    double tail[LANES] = {0};
    for (int64_t n = 0; n <= jobs; n++) {
        double *here = result + n * lanes;
        for (int i = 0; i < lanes; i++)
            here[i] = 0;
        for (int64_t m = 0; m < length && m <= n; m++)
            for (int i = 0; i < lanes; i++)
                here[i] += chances[m * lanes + i] * series[(n - m) * lanes + i];
        for (int i = 0; i < lanes && n >= length; i++) {
            tail[i] = ratio[i] * tail[i]
                      + chances[length * lanes + i] * series[(n - length) * lanes + i];
            here[i] += tail[i];
        }
    }
}

/* Points from p on, all with population N. For each station with its own speeds: its probabilities f
   and the series E of all other stations, so that G(N) is the sum of E(n) f(N - n). */
static inline void side_by_side(const Convolution *of, ptrdiff_t p, const int lanes)
{
    int64_t jobs = of->population[p];
    ptrdiff_t size = of->room * lanes, factors = of->several ? of->several : 1, first = 0;
    double *base = of->work, *chances = base + 3 * size;
    products(base, jobs, of->mean + p, NULL, 0, 0, 0, lanes);
    for (ptrdiff_t s = 0; s < of->singles; s++) {
        const double *ratio = of->ratio + s * of->points + p;
        const double *count = of->count + s * of->points + p;
        double most = 0;
        for (int i = 0; i < lanes; i++)
            most = count[i] > most ? count[i] : most;
        for (double round = 0; round < most; round++) {
            double grown[LANES];
            for (int i = 0; i < lanes; i++)
                grown[i] = round < count[i] ? ratio[i] : 0;
            for (int i = 0; i < lanes; i++)
                base[i] *= 1 - grown[i];
            for (int64_t n = 1; n <= jobs; n++)
                for (int i = 0; i < lanes; i++) {
                    double *here = base + n * lanes + i;
                    *here = (1 - grown[i]) * *here + grown[i] * here[-lanes];
                }
        }
    }
    for (int64_t m = 0; m < (jobs + 1) * lanes && !of->several; m++)
        chances[m] = m < lanes; /* as if the station were always empty */
    for (ptrdiff_t k = 0; k < of->several; k++) {
        ptrdiff_t width = of->width[k];
        products(chances + k * size, jobs, of->load + k * of->points + p,
                 of->speeds + first + (width > 1 ? p : 0), of->length[k], width, width > 1, lanes);
        first += of->length[k] * width;
    }
    for (ptrdiff_t k = 0; k < factors; k++) {
        const double *f = chances + k * size + jobs * lanes, *others = base;
        double *target = base + size;
        first = 0;
        for (ptrdiff_t j = 0; j < factors && factors > 1; j++) {
            ptrdiff_t width = of->width[j], length = of->length[j];
            const double *last = of->speeds + first + (length - 1) * width + (width > 1 ? p : 0);
            double ratio[LANES];
            for (int i = 0; i < lanes; i++)
                ratio[i] = of->load[j * of->points + p + i] / last[width > 1 ? i : 0];
            first += length * width;
            if (j == k)
                continue;
            times(chances + j * size, length, ratio, others, target, jobs, lanes);
            others = target;
            target = target == base + size ? base + 2 * size : base + size;
        }
        double top[LANES] = {0}, before[LANES] = {0}, present[LANES] = {0}, working[LANES] = {0};
        double crew[LANES];
        for (int i = 0; i < lanes; i++)
            crew[i] = of->several ? of->crew[k * of->points + p + i] : 1;
        for (int64_t n = 0; n <= jobs; n++)
            for (int i = 0; i < lanes; i++) {
                double number = (double)(jobs - n);
                double chance = others[n * lanes + i] * f[i - n * lanes];
                top[i] += chance;
                present[i] += number * chance;
                working[i] += (number < crew[i] ? number : crew[i]) * chance;
            }
        for (int64_t n = 0; n < jobs; n++)
            for (int i = 0; i < lanes; i++)
                before[i] += others[n * lanes + i] * f[i - (n + 1) * lanes];
        for (int i = 0; i < lanes && of->several; i++) {
            of->present[k * of->points + p + i] = present[i] / top[i];
            of->working[k * of->points + p + i] = working[i] / crew[i] / top[i];
        }
        if (k > 0)
            continue;
        for (int i = 0; i < lanes; i++) {
            of->through[p + i] = before[i] / top[i];
            of->least[p + i] = jobs > 0 && before[i] < top[i] ? before[i] : top[i];
        }
        for (ptrdiff_t s = 0; s < of->singles; s++) {
            double length[LANES] = {0}, mean[LANES] = {0};
            for (int64_t n = 1; n <= jobs; n++)
                for (int i = 0; i < lanes; i++) {
                    length[i] += others[(n - 1) * lanes + i];
                    length[i] *= of->ratio[s * of->points + p + i];
                    mean[i] += length[i] * f[i - n * lanes];
                }
            for (int i = 0; i < lanes; i++) {
                ptrdiff_t at = s * of->points + p + i;
                of->single[at] = mean[i] * of->count[at] / top[i];
            }
        }
    }
}

const char *closed_convolution(const Argument *given)
{
    Convolution of = {
        .points = given[0].numbers.size,
        .mean = given[0].numbers.at, .ratio = given[1].numbers.at, .count = given[2].numbers.at,
        .load = given[3].numbers.at, .speeds = given[4].numbers.at, .length = given[5].counts.at,
        .width = given[6].counts.at, .crew = given[7].numbers.at,
        .population = given[8].counts.at, .through = given[9].numbers.at,
        .single = given[10].numbers.at, .present = given[11].numbers.at,
        .working = given[12].numbers.at, .least = given[13].numbers.at,
        .work = given[14].numbers.at, .several = given[5].counts.size,
    };
    ptrdiff_t points = of.points, several = of.several, numbers = 0;
    if (points < 1 || given[8].counts.size != points || given[9].numbers.size != points
        || given[13].numbers.size != points || given[6].counts.size != several)
        return "closed_convolution: a point, and numbers for each";
    of.singles = given[1].numbers.size / points;
    if (given[1].numbers.size != of.singles * points
        || given[2].numbers.size != of.singles * points
        || given[10].numbers.size != of.singles * points
        || given[3].numbers.size != several * points || given[7].numbers.size != several * points
        || given[11].numbers.size != several * points || given[12].numbers.size != several * points)
        return "closed_convolution: numbers for each station and point";
    for (ptrdiff_t k = 0; k < several; k++) {
        if (of.length[k] < 1 || of.length[k] > given[4].numbers.size
            || (of.width[k] != 1 && of.width[k] != points))
            return "closed_convolution: speeds for one point, or for each";
        numbers += of.length[k] * of.width[k];
    }
    if (numbers != given[4].numbers.size)
        return "closed_convolution: as many speeds as there are";
    for (ptrdiff_t p = 0; p < points; p++) {
        if (of.population[p] < 0 || of.population[p] >= given[14].numbers.size)
            return "closed_convolution: populations for which there is room";
        of.room = of.population[p] >= of.room ? of.population[p] + 1 : of.room;
    }
    if (given[14].numbers.size < (3 + (several ? several : 1)) * LANES * of.room)
        return "closed_convolution: more room for work";
    for (ptrdiff_t p = 0; p < points;) {
        ptrdiff_t alike = 1;
        while (alike < LANES && p + alike < points && of.population[p + alike] == of.population[p])
            alike++;
        if (alike == LANES) {
            side_by_side(&of, p, LANES);
            p += LANES;
        } else {
            side_by_side(&of, p, 1);
            p++;
        }
    }
    return NULL;
}
