/* One step of a queue's forward equations with error control: headway.queueing.transient.careful. */
#include <math.h>
#include <string.h>

#include "kernels.h"

#define POLES 64 /* at most */
#define MOMENTS 5
#define USUAL 6 /* room for the poles of both orders, a constant so that the compiler knows it */

static const double NEVER = 1e-300; /* an error this small counts as none */

/* The systems of all poles side by side; the numbers of one state stand together, a column each. The
   number of columns is even, as processors handle two at a time; a spare one is filled with 1. */
typedef struct {
    ptrdiff_t states, poles, wide, first, moments, columns; /* first: the order whose result counts */
    double length;
    double *came, *served;
    const double *pole, *seen;  /* for each sum: gains per second, by jumps, and by squares of jumps */
    ptrdiff_t numbers;          /* from one row of gains to the next */
    double *inverse[2], *factor[2], *found[MOMENTS][2]; /* real and imaginary parts */
} Systems;

/* Eliminate the entries from the row below: the inverse of each pivot, and the factor of the row before. */
static void eliminate(const Systems *s)
{
    ptrdiff_t wide = s->wide;
    double real[POLES], turned[POLES];
    for (ptrdiff_t p = 0; p < wide; p++) {
        real[p] = p < s->poles ? s->pole[6 * p] : 1;
        turned[p] = p < s->poles ? s->pole[6 * p + 1] : 0;
    }
    for (ptrdiff_t n = 0; n < s->states; n++) {
        double out = s->length * (s->came[n] + s->served[n]), back = s->length * s->served[n];
        double in = n ? s->length * s->came[n - 1] : 0;
        double *restrict by = s->factor[0] + n * wide, *restrict across = s->factor[1] + n * wide;
        double *restrict inverse = s->inverse[0] + n * wide;
        double *restrict other = s->inverse[1] + n * wide;
        for (ptrdiff_t p = 0; p < wide; p++) {
            by[p] = n ? in * inverse[p - wide] : 0;
            across[p] = n ? in * other[p - wide] : 0;
        }
        for (ptrdiff_t p = 0; p < wide; p++) {
            double one = -out - real[p] - by[p] * back, two = -turned[p] - across[p] * back;
            double norm = one * one + two * two;
            inverse[p] = one / norm;
            other[p] = -two / norm;
        }
    }
}

/* What a mean or a mean square gains at each pole while a state lasts, and by jumps into it; `before`
   is the distance from a row to the one before it, 0 at the first. */
static inline void gain(const Systems *s, int moment, ptrdiff_t n, ptrdiff_t at, ptrdiff_t before,
                        int part, double *sum, ptrdiff_t wide)
{
    int square = (moment - 1) % 2;
    const double *seen = s->seen + 3 * ((moment - 1) / 2) * s->numbers, *jumps = seen + s->numbers;
    double in = before ? jumps[n - 1] : 0, by = before ? jumps[s->numbers + n - 1] : 0;
    const double *first = s->found[0][part] + at;
    const double *below = square ? s->found[moment - 1][part] + at : first;
    for (ptrdiff_t p = 0; p < wide; p++)
        sum[p] = seen[n] * below[p];
    if (in != 0)
        for (ptrdiff_t p = 0; p < wide; p++)
            sum[p] += in * below[p - before];
    if (square)
        for (ptrdiff_t p = 0; p < wide; p++)
            sum[p] *= 2;
    if (square && by != 0)
        for (ptrdiff_t p = 0; p < wide; p++)
            sum[p] += by * first[p - before];
}

/* The right-hand sides for a moment, each reduced by the factor times the row before. */
static inline void lower(const Systems *s, int moment, const double *state, ptrdiff_t wide)
{
    ptrdiff_t columns = s->columns, row = wide * columns;
    double real[POLES], turned[POLES], sum[POLES];
    for (ptrdiff_t n = 0; n < s->states; n++) {
        const double *now = state + (n * s->moments + moment) * columns;
        const double *by = s->factor[0] + n * wide, *across = s->factor[1] + n * wide;
        for (ptrdiff_t b = 0; b < columns; b++) {
            ptrdiff_t at = n * row + b * wide;
            for (ptrdiff_t p = 0; p < wide; p++) {
                real[p] = now[b];
                turned[p] = 0;
            }
            if (moment) {
                gain(s, moment, n, at, n ? row : 0, 0, sum, wide);
                for (ptrdiff_t p = 0; p < wide; p++)
                    real[p] -= s->length * sum[p];
                gain(s, moment, n, at, n ? row : 0, 1, sum, wide);
                for (ptrdiff_t p = 0; p < wide; p++)
                    turned[p] -= s->length * sum[p];
            }
            if (n) {
                const double *one = s->found[moment][0] + at - row;
                const double *two = s->found[moment][1] + at - row;
                for (ptrdiff_t p = 0; p < wide; p++) {
                    real[p] -= by[p] * one[p] - across[p] * two[p];
                    turned[p] -= by[p] * two[p] + across[p] * one[p];
                }
            }
            memcpy(s->found[moment][0] + at, real, sizeof(double) * (size_t)wide);
            memcpy(s->found[moment][1] + at, turned, sizeof(double) * (size_t)wide);
        }
    }
}

/* The solution, from the last row up. */
static inline void lift(const Systems *s, int moment, ptrdiff_t wide)
{
    ptrdiff_t columns = s->columns, row = wide * columns;
    double real[POLES], turned[POLES];
    for (ptrdiff_t n = s->states - 1; n >= 0; n--) {
        int is_last = n + 1 == s->states;
        double back = is_last ? 0 : s->length * s->served[n + 1];
        const double *by = s->inverse[0] + n * wide, *across = s->inverse[1] + n * wide;
        for (ptrdiff_t b = 0; b < columns; b++) {
            double *one = s->found[moment][0] + n * row + b * wide;
            double *two = s->found[moment][1] + n * row + b * wide;
            memcpy(real, one, sizeof(double) * (size_t)wide);
            memcpy(turned, two, sizeof(double) * (size_t)wide);
            if (!is_last)
                for (ptrdiff_t p = 0; p < wide; p++) {
                    real[p] -= back * one[row + p];
                    turned[p] -= back * two[row + p];
                }
            for (ptrdiff_t p = 0; p < wide; p++) {
                double first = by[p] * real[p] - across[p] * turned[p];
                turned[p] = by[p] * turned[p] + across[p] * real[p];
                real[p] = first;
            }
            memcpy(one, real, sizeof(double) * (size_t)wide);
            memcpy(two, turned, sizeof(double) * (size_t)wide);
        }
    }
}

static void solve(const Systems *s, const double *state)
{
    eliminate(s);
    for (int m = 0; m < s->moments; m++)
        if (s->wide == USUAL) {
            lower(s, m, state, USUAL);
            lift(s, m, USUAL);
        } else {
            lower(s, m, state, s->wide);
            lift(s, m, s->wide);
        }
}

/* The real part of the weighted sum over some poles. */
static inline double summed(const Systems *s, int moment, ptrdiff_t at, ptrdiff_t from,
                            ptrdiff_t to, int weight)
{
    const double *restrict real = s->found[moment][0] + at;
    const double *restrict turned = s->found[moment][1] + at;
    double sum = 0;
    for (ptrdiff_t p = from; p < to; p++) {
        const double *by = s->pole + 6 * p + weight;
        sum += by[0] * real[p] - by[1] * turned[p];
    }
    return sum;
}

/* A window of numbers of jobs, and the range that it must not leave. */
typedef struct {
    ptrdiff_t first, states, floor, places; /* places; negative for no limit */
    double outside;
    ptrdiff_t margin;
} Window;

/* Cut states without probability, and leave room for growth at both ends. */
static void fit(Window *w, const double *chances, ptrdiff_t wider)
{
    double least = 0, below = 0, above = 0;
    ptrdiff_t low = 0, high = w->states - 1, room = 2 * w->margin, before = w->floor;
    for (ptrdiff_t n = 0; n < w->states; n++)
        least += chances[n];
    least *= w->outside;
    while (low < w->states && (below += chances[low]) <= least)
        low++;
    while (high >= 0 && (above += chances[high]) <= least)
        high--;
    if (low > high)
        low = high = 0;
    low += w->first;
    high += w->first + 1;
    if ((high - low) / 10 > room)
        room = (high - low) / 10;
    if ((ptrdiff_t)sqrt((double)high) > room)
        room = (ptrdiff_t)sqrt((double)high);
    room *= wider + 1;
    if (low - room > before)
        before = low - room;
    high += room;
    if (w->places >= 0 && high > w->places + 1)
        high = w->places + 1;
    if (high < w->floor + 1)
        high = w->floor + 1;
    w->first = before;
    w->states = high - before;
}

/* Whether there is probability at an end with further states beyond it. */
static int is_narrow(const Window *w, const Systems *s, const double *end)
{
    double most = w->outside * (w->states > 100 ? w->states : 100), sums[2] = {0, 0};
    ptrdiff_t margin = w->margin < w->states ? w->margin : w->states;
    for (ptrdiff_t n = 0; n < margin; n++)
        for (ptrdiff_t b = 0; b < s->columns; b++) {
            ptrdiff_t last = w->states - margin + n;
            sums[0] += fabs(end[n * s->moments * s->columns + b]);
            sums[1] += fabs(end[last * s->moments * s->columns + b]);
        }
    int has_more = w->places < 0 || w->first + w->states <= w->places;
    return (w->first > w->floor && sums[0] > most) || (has_more && sums[1] > most);
}

/* Write the final probabilities and the integral; returns by how much the other order differs. */
static double ended(const Systems *s, const Window *w, double mean, double *end, double *spent)
{
    double error = 0, wrong[MOMENTS] = {0}, squares[MOMENTS] = {0};
    for (ptrdiff_t n = 0; n < s->states; n++) {
        double off = 0;
        for (int m = 0; m < s->moments; m++)
            for (ptrdiff_t b = 0; b < s->columns; b++) {
                ptrdiff_t at = (n * s->columns + b) * s->wide;
                ptrdiff_t cell = (n * s->moments + m) * s->columns + b;
                double one = summed(s, m, at, 0, s->first, 2);
                double apart = fabs(one - summed(s, m, at, s->first, s->poles, 2));
                end[cell] = one;
                if (m == 0) {
                    off += apart;
                    spent[n * s->columns + b] = s->length * summed(s, 0, at, 0, s->first, 4);
                } else if (m % 2 == 0) {
                    wrong[m] += apart;
                    squares[m] += one;
                }
            }
        error += off * ((double)(w->first + n + 1) / (mean + 1));
    }
    for (int m = 2; m < s->moments; m += 2)
        if (wrong[m] / (1 + squares[m]) > error)
            error = wrong[m] / (1 + squares[m]);
    return error;
}

/* Lay out the window's arrays in the workspace; returns what is left of it. */
static const double *laid(Systems *s, const Window *w, const Window *old, const double *state,
                          const double *rates, double rate, double *work)
{
    ptrdiff_t row = s->moments * s->columns, before = old->first - w->first;
    ptrdiff_t from = before > 0 ? before : 0, to = before + old->states;
    if (to > s->states)
        to = s->states;
    double *cells = work;
    memset(cells, 0, sizeof(double) * (size_t)(s->states * row));
    if (to > from)
        memcpy(cells + from * row, state + (from - before) * row,
               sizeof(double) * (size_t)((to - from) * row));
    work += s->states * row;
    s->came = work, s->served = work + s->states;
    work += 2 * s->states;
    for (ptrdiff_t n = 0; n < s->states; n++) {
        s->came[n] = n + 1 < s->states ? rate : 0;
        s->served[n] = rates[w->first + n];
    }
    if (w->first > w->floor)
        s->served[0] = 0; /* nothing leaves the window */
    for (int part = 0; part < 2; part++) {
        s->inverse[part] = work + part * s->states * s->wide;
        s->factor[part] = work + (2 + part) * s->states * s->wide;
        for (int m = 0; m < s->moments; m++)
            s->found[m][part] = work + s->wide * (4 * s->states +
                                                  (2 * m + part) * s->states * s->columns);
    }
    return cells;
}

/* The longest step that the error allows: its end, and the integral of the first moment over it. */
const char *careful_step(const Argument *given)
{
    int64_t *window = given[0].counts.at;
    double *times = given[1].numbers.at, *end = given[12].numbers.at, *spent = given[13].numbers.at;
    const double *state = given[2].numbers.at, *rates = given[3].numbers.at;
    if (given[0].counts.size != 6 || given[1].numbers.size != 5)
        return "careful_step: the window, and its times";
    Window old = {.first = window[0], .states = window[1], .floor = window[2],
                  .places = window[3], .outside = times[4], .margin = given[8].count}, w = old;
    Systems s = {.poles = given[6].numbers.size / 6, .first = given[7].count,
                 .moments = given[9].count, .columns = given[10].count,
                 .pole = given[6].numbers.at, .numbers = given[3].numbers.size};
    s.wide = s.poles + s.poles % 2;
    double rate = given[5].number, left = times[1], mean = 0;
    ptrdiff_t row = s.moments * s.columns, sums = s.moments / 2;
    if (old.states < 1 || old.first < 0 || s.poles < 1 || s.poles > POLES || s.moments < 1 ||
        s.moments > MOMENTS || s.moments % 2 == 0 || s.columns < 1 ||
        given[6].numbers.size != 6 * s.poles || s.first < 0 || s.first > s.poles ||
        w.margin < 1 || old.floor < 0)
        return "careful_step: states, poles, moments, columns";
    if (given[2].numbers.size != old.states * row ||
        given[4].numbers.size != 3 * sums * s.numbers || given[14].numbers.size < old.states)
        return "careful_step: sizes of the arrays";
    double *chances = given[14].numbers.at; /* start again with the rest of the workspace */
    for (ptrdiff_t n = 0; n < old.states; n++) {
        chances[n] = 0;
        for (ptrdiff_t b = 0; b < s.columns; b++)
            chances[n] += state[n * row + b];
    }
    fit(&w, chances, window[4]);
    s.states = w.states;
    if (w.first + w.states > s.numbers || w.states * row > given[12].numbers.size ||
        w.states * s.columns > given[13].numbers.size ||
        given[14].numbers.size < w.states * (row + 2 + s.wide * (4 + 2 * row)))
        return "careful_step: sizes of the arrays";
    for (ptrdiff_t n = 0; n < old.states; n++)
        if (old.first + n >= w.first && old.first + n < w.first + w.states)
            mean += (double)(old.first + n) * chances[n];
    const double *cells = laid(&s, &w, &old, state, rates, rate, given[14].numbers.at);
    s.seen = sums ? given[4].numbers.at + w.first : given[4].numbers.at;
    window[0] = w.first, window[1] = w.states, window[5] = 0;
    for (;;) {
        double step = times[0], most = step < left / 2 ? step : left / 2;
        s.length = step >= left ? left : most;
        solve(&s, cells);
        double error = ended(&s, &w, mean, end, spent);
        times[3] = s.length;
        if (is_narrow(&w, &s, end)) {
            window[5] = 1;
            return NULL;
        }
        double ratio = 0.9 * pow(given[11].number / (error > NEVER ? error : NEVER), 1.0 / 8);
        times[0] = s.length * (ratio < 0.2 ? 0.2 : ratio > 5 ? 5 : ratio);
        if (!(error > given[11].number && s.length > times[2]))
            break;
    }
    for (ptrdiff_t n = 0; n < s.states; n++)
        for (ptrdiff_t b = 0; b < s.columns; b++)
            if (end[n * row + b] < 0)
                end[n * row + b] = 0;
    return NULL;
}
