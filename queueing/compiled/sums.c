/* Weighted sums over rows: headway.queueing.layers.numerics.stations. */
#include "kernels.h"

#define BLOCK 512 /* columns at a time, so that rows used again are still near */

/* Sums of some columns; `points` is the length of all rows, and weights are `step` apart. */
WIDER static void sums_of(ptrdiff_t sums, const int64_t *begins, const int64_t *rows,
                          const double *weights, ptrdiff_t step, const double *values,
                          ptrdiff_t points, ptrdiff_t columns, double *result)
{
    for (ptrdiff_t s = 0; s < sums; s++) {
        double *to = result + s * points;
        for (ptrdiff_t i = 0; i < columns; i++)
            to[i] = 0;
        for (int64_t t = begins[s]; t < begins[s + 1]; t++) {
            const double *from = values + rows[t] * points, *weight = weights + t * step;
            if (step == 1)
                for (ptrdiff_t i = 0; i < columns; i++)
                    to[i] += *weight * from[i];
            else
                for (ptrdiff_t i = 0; i < columns; i++)
                    to[i] += weight[i] * from[i];
        }
    }
}

const char *weighted_sums(const Argument *given)
{
    const int64_t *rows = given[0].counts.at, *begins = given[1].counts.at;
    ptrdiff_t terms = given[0].counts.size, sums = given[1].counts.size - 1;
    ptrdiff_t points = (ptrdiff_t)given[4].count, of_weights = given[2].numbers.size, step, layers;
    if (sums < 1 || points < 1 || given[5].numbers.size % (sums * points))
        return "weighted_sums: room for each sum at each point";
    layers = given[5].numbers.size / (sums * points);
    if (!layers || given[3].numbers.size % (layers * points))
        return "weighted_sums: numbers of each row at each point";
    step = of_weights == terms ? 1 : points;
    if (of_weights != terms * step)
        return "weighted_sums: a weight of each term, at all points or at each";
    ptrdiff_t height = given[3].numbers.size / (layers * points);
    if (begins[0] != 0 || begins[sums] != terms)
        return "weighted_sums: terms of each sum";
    for (ptrdiff_t s = 0; s < sums; s++)
        if (begins[s] > begins[s + 1])
            return "weighted_sums: terms of each sum";
    for (ptrdiff_t t = 0; t < terms; t++)
        if (rows[t] < 0 || rows[t] >= height)
            return "weighted_sums: the row of each term";
    for (ptrdiff_t l = 0; l < layers; l++)
        for (ptrdiff_t at = 0; at < points; at += BLOCK) {
            ptrdiff_t columns = points - at < BLOCK ? points - at : BLOCK;
            sums_of(sums, begins, rows, given[2].numbers.at + (step == 1 ? 0 : at), step,
                    given[3].numbers.at + l * height * points + at, points, columns,
                    given[5].numbers.at + l * sums * points + at);
        }
    return NULL;
}
