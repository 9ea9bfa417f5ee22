/* 1/B(m, a) for up to 128 servers m: headway.queueing.erlang.blocking. */
#include "kernels.h"

#define BLOCK 512 /* points at a time, few enough for the first-level cache */

/* servers m, loads a, results 1/B = m! v, v = sum over k = 0..m of a^(k - m) / k!, by Horner's
   rule in 1/a. */
WIDER const char *inverse_polynomial(const Argument *given)
{
    int64_t servers = given[0].count;
    const double *load = given[1].numbers.at;
    double *result = given[2].numbers.at, inverse[BLOCK], coefficient[129], factorial = 1;
    ptrdiff_t points = given[1].numbers.size;
    if (servers < 0 || servers > 128 || given[2].numbers.size != points)
        return "inverse_polynomial: up to 128 servers, and a result for each load";
    for (int64_t k = 1; k <= servers; k++)
        coefficient[k] = 1 / (factorial *= (double)k);
    for (ptrdiff_t start = 0; start < points; start += BLOCK) {
        ptrdiff_t size = points - start < BLOCK ? points - start : BLOCK;
        double *value = result + start;
        for (ptrdiff_t i = 0; i < size; i++)
            inverse[i] = 1 / load[start + i];
        for (ptrdiff_t i = 0; i < size; i++)
            value[i] = 1;
        for (int64_t k = 1; k <= servers; k++)
            for (ptrdiff_t i = 0; i < size; i++)
                value[i] = value[i] * inverse[i] + coefficient[k];
        for (ptrdiff_t i = 0; i < size; i++)
            value[i] *= factorial;
    }
    return NULL;
}
