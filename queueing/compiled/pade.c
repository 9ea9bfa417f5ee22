/* A step of the forward equations of a queue: headway.queueing.transient.systems. */
#include "kernels.h"

#define ORDERS 2
#define POLES 64 /* at most */
#define MOMENTS 5

/* Solve the systems of all poles side by side; numbers of a state stand together. */
typedef struct {
    ptrdiff_t states, poles, moments, columns;
    double length;
    const double *came, *served, *pole, *seen;
    double *inverse[2], *factor[2], *found[MOMENTS][2]; /* real and imaginary parts */
} Systems;

/* Eliminate what comes from below: the inverse of each pivot, and the factor of the row before. */
static void eliminate(const Systems *s)
{
    ptrdiff_t poles = s->poles;
    double real[POLES], turned[POLES];
    for (ptrdiff_t p = 0; p < poles; p++) {
        real[p] = s->pole[6 * p];
        turned[p] = s->pole[6 * p + 1];
    }
    for (ptrdiff_t n = 0; n < s->states; n++) {
        double out = s->length * (s->came[n] + s->served[n]), back = s->length * s->served[n];
        double in = n ? s->length * s->came[n - 1] : 0;
        double *restrict by = s->factor[0] + n * poles, *restrict across = s->factor[1] + n * poles;
        double *restrict inverse = s->inverse[0] + n * poles;
        double *restrict other = s->inverse[1] + n * poles;
        for (ptrdiff_t p = 0; p < poles; p++) {
            by[p] = n ? in * inverse[p - poles] : 0;
            across[p] = n ? in * other[p - poles] : 0;
        }
        for (ptrdiff_t p = 0; p < poles; p++) {
            double one = -out - real[p] - by[p] * back, two = -turned[p] - across[p] * back;
            double norm = one * one + two * two;
            inverse[p] = one / norm;
            other[p] = -two / norm;
        }
    }
}

/* A row's right sides less the factors times the row before; each: a factor for each number. */
static inline void lowered(double *restrict real, double *restrict turned, ptrdiff_t row,
                           const double *by, const double *across, ptrdiff_t count, int each)
{
    const double *before = real - row, *other = turned - row;
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t f = each ? i : 0;
        real[i] -= by[f] * before[i] - across[f] * other[i];
        turned[i] -= by[f] * other[i] + across[f] * before[i];
    }
}

/* A row of the solution, from the row after it. */
static inline void raised(double *restrict real, double *restrict turned, ptrdiff_t row,
                          double back, const double *by, const double *across, ptrdiff_t count,
                          int each)
{
    const double *after = real + row, *other = turned + row;
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t f = each ? i : 0;
        double one = row ? real[i] - back * after[i] : real[i];
        double two = row ? turned[i] - back * other[i] : turned[i];
        real[i] = by[f] * one - across[f] * two;
        turned[i] = by[f] * two + across[f] * one;
    }
}

/* What a mean or a mean square gains while a state is held, and by jumps into it: of each average
   there are three rows, what is gained a second, by jumps, and by their squares. */
static double gained(const Systems *s, int moment, int part, ptrdiff_t n, ptrdiff_t at)
{
    ptrdiff_t before = at - s->poles * s->columns;
    int square = (moment - 1) % 2;
    const double *seen = s->seen + 3 * ((moment - 1) / 2) * s->states, *jumps = seen + s->states;
    const double *first = s->found[0][part], *below = square ? s->found[moment - 1][part] : first;
    double gain = seen[n] * below[at] + (n ? jumps[n - 1] * below[before] : 0);
    if (!square)
        return gain;
    return 2 * gain + (n ? jumps[s->states + n - 1] * first[before] : 0);
}

static void sides(const Systems *s, int moment, const double *state)
{
    ptrdiff_t columns = s->columns, row = s->poles * columns;
    double *real = s->found[moment][0], *turned = s->found[moment][1];
    for (ptrdiff_t n = 0; n < s->states; n++) {
        const double *now = state + (n * s->moments + moment) * columns;
        for (ptrdiff_t p = 0; p < s->poles; p++)
            for (ptrdiff_t b = 0; b < columns; b++) {
                ptrdiff_t at = n * row + p * columns + b;
                real[at] = now[b] - (moment ? s->length * gained(s, moment, 0, n, at) : 0);
                turned[at] = 0 - (moment ? s->length * gained(s, moment, 1, n, at) : 0);
            }
    }
}

static void solve(const Systems *s, int moment)
{
    ptrdiff_t poles = s->poles, columns = s->columns, row = poles * columns;
    for (ptrdiff_t n = 1; n < s->states; n++) {
        double *real = s->found[moment][0] + n * row, *turned = s->found[moment][1] + n * row;
        const double *by = s->factor[0] + n * poles, *across = s->factor[1] + n * poles;
        if (columns == 1)
            lowered(real, turned, row, by, across, poles, 1);
        else
            for (ptrdiff_t p = 0; p < poles; p++)
                lowered(real + p * columns, turned + p * columns, row, by + p, across + p, columns,
                        0);
    }
    for (ptrdiff_t n = s->states - 1; n >= 0; n--) {
        ptrdiff_t next = n + 1 < s->states ? row : 0;
        double back = next ? s->length * s->served[n + 1] : 0;
        double *real = s->found[moment][0] + n * row, *turned = s->found[moment][1] + n * row;
        const double *by = s->inverse[0] + n * poles, *across = s->inverse[1] + n * poles;
        if (columns == 1)
            raised(real, turned, next, back, by, across, poles, 1);
        else
            for (ptrdiff_t p = 0; p < poles; p++)
                raised(real + p * columns, turned + p * columns, next, back, by + p, across + p,
                       columns, 0);
    }
}

/* The real part of the weighted sum over some poles. */
static double summed(const Systems *s, int moment, ptrdiff_t at, ptrdiff_t from, ptrdiff_t to,
                     int weight)
{
    double sum = 0;
    for (ptrdiff_t p = from; p < to; p++) {
        const double *by = s->pole + 6 * p + weight;
        ptrdiff_t here = at + p * s->columns;
        sum += by[0] * s->found[moment][0][here] - by[1] * s->found[moment][1][here];
    }
    return sum;
}

/* The end of a step by the poles of either order, and the integral of the first moment over it. */
const char *pade_step(const Argument *given)
{
    Systems s = {.states = given[0].numbers.size, .poles = given[3].numbers.size / 6,
                 .moments = given[7].count, .columns = given[8].count,
                 .length = given[2].number, .came = given[0].numbers.at,
                 .served = given[1].numbers.at, .pole = given[3].numbers.at,
                 .seen = given[5].numbers.at};
    ptrdiff_t first = given[4].count, cells = given[6].numbers.size;
    const double *state = given[6].numbers.at;
    double *ends[ORDERS] = {given[9].numbers.at, given[10].numbers.at};
    double *spent = given[11].numbers.at, *work = given[12].numbers.at;
    if (s.states < 1 || s.poles < 1 || s.poles > POLES || s.moments < 1 ||
        s.moments > MOMENTS || s.moments % 2 == 0 ||
        s.columns < 1 || s.columns > cells || given[1].numbers.size != s.states ||
        given[3].numbers.size != 6 * s.poles || first < 0 || first > s.poles)
        return "pade_step: states, poles, moments, columns";
    if (cells % (s.moments * s.columns) || cells / (s.moments * s.columns) != s.states ||
        given[9].numbers.size != cells || given[10].numbers.size != cells ||
        given[11].numbers.size != cells / s.moments ||
        given[5].numbers.size != 3 * (s.moments / 2) * s.states ||
        given[12].numbers.size != s.poles * (4 * s.states + 2 * cells))
        return "pade_step: sizes of the arrays";
    for (int part = 0; part < 2; part++) {
        s.inverse[part] = work + part * s.states * s.poles;
        s.factor[part] = work + (2 + part) * s.states * s.poles;
        for (int m = 0; m < s.moments; m++)
            s.found[m][part] = work + s.poles * (4 * s.states +
                                                 (2 * m + part) * s.states * s.columns);
    }
    eliminate(&s);
    for (int m = 0; m < s.moments; m++) {
        sides(&s, m, state);
        solve(&s, m);
    }
    for (ptrdiff_t n = 0; n < s.states; n++)
        for (ptrdiff_t b = 0; b < s.columns; b++) {
            ptrdiff_t at = n * s.poles * s.columns + b;
            for (int m = 0; m < s.moments; m++) {
                ptrdiff_t cell = (n * s.moments + m) * s.columns + b;
                ends[0][cell] = summed(&s, m, at, 0, first, 2);
                ends[1][cell] = summed(&s, m, at, first, s.poles, 2);
            }
            spent[n * s.columns + b] = s.length * summed(&s, 0, at, 0, first, 4);
        }
    return NULL;
}
