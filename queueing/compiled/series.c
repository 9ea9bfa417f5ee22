/* Convolution with a geometric series, of real or complex ratios: headway.queueing.closed.series. */
#include <float.h>
#include <math.h>

#include "kernels.h"

#define COLUMNS 32 /* columns handled side by side, for speed */

/* y(n) = x(n) + r y(n - 1) for each column, real and imaginary parts alternating; y overwrites x. */
const char *complex_geometric(const Argument *given)
{
    const double *ratio = given[0].numbers.at;
    double *series = given[1].numbers.at;
    ptrdiff_t width = given[0].numbers.size, size = given[1].numbers.size;
    if (width < 2 || width % 2 || size < width || size % width)
        return "complex_geometric: a complex ratio for each column of the series";
    for (ptrdiff_t start = 0; start < width; start += 2 * COLUMNS) {
        ptrdiff_t count = (width - start < 2 * COLUMNS ? width - start : 2 * COLUMNS) / 2;
        double real[COLUMNS], imaginary[COLUMNS], before[COLUMNS], turned[COLUMNS];
        for (ptrdiff_t i = 0; i < count; i++) {
            real[i] = ratio[start + 2 * i];
            imaginary[i] = ratio[start + 2 * i + 1];
            before[i] = series[start + 2 * i];
            turned[i] = series[start + 2 * i + 1];
        }
        for (double *row = series + width + start; row < series + size; row += width)
            for (ptrdiff_t i = 0; i < count; i++) {
                double kept = row[2 * i] + (real[i] * before[i] - imaginary[i] * turned[i]);
                turned[i] = row[2 * i + 1] + (real[i] * turned[i] + imaginary[i] * before[i]);
                row[2 * i] = before[i] = kept;
                row[2 * i + 1] = turned[i];
            }
    }
    return NULL;
}

/* Set numbers that have lost their digits to 0: processors are a hundred times slower with them. */
static inline double normal(double number)
{
    return fabs(number) < DBL_MIN ? 0 : number;
}

/* The same for real numbers. */
const char *real_geometric(const Argument *given)
{
    const double *ratio = given[0].numbers.at;
    double *series = given[1].numbers.at;
    ptrdiff_t width = given[0].numbers.size, size = given[1].numbers.size;
    if (width < 1 || size < width || size % width)
        return "real_geometric: a ratio for each column of the series";
    for (ptrdiff_t at = width; width == 1 && at < size; at++)
        series[at] = normal(series[at] + *ratio * series[at - 1]);
    for (double *row = series + width; width > 1 && row < series + size; row += width)
        for (ptrdiff_t i = 0; i < width; i++)
            row[i] = normal(row[i] + ratio[i] * row[i - width]);
    return NULL;
}
