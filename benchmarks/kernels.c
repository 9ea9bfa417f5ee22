/* The plain loops that benchmarks/bench_queueing.py and benchmarks/table.py measure headway by. */

#include <math.h>

void erlang_c(int points, int servers, const double *rate, const double *time, double *result)
{
    for (int i = 0; i < points; i++) {
        double load = rate[i] * time[i], inverse = 1 / load, value = 1;
        for (int k = 1; k <= servers; k++)
            value = 1 + k * inverse * value;
        result[i] = servers / (load + value * (servers - load));
    }
}

/* Exact mean value analysis of one class; queue has room for one number for each station. */
double mva(int stations, int population, const double *demand, double think, double *queue)
{
    double residence[64], rate = 0;
    for (int k = 0; k < stations; k++)
        queue[k] = 0;
    for (int n = 1; n <= population; n++) {
        double cycle = think;
        for (int k = 0; k < stations; k++) {
            residence[k] = demand[k] * (1 + queue[k]);
            cycle += residence[k];
        }
        rate = n / cycle;
        for (int k = 0; k < stations; k++)
            queue[k] = rate * residence[k];
    }
    return rate;
}

/* The same for many rows of demands. */
void mva_sweep(int points, int stations, int population, const double *demand, double think,
               double *queue, double *rate)
{
    for (int i = 0; i < points; i++)
        rate[i] = mva(stations, population, demand + i * stations, think, queue);
}

/* Exact mean value analysis of classes with jobs[c] each; queue has room for a number for each
   population and station. */
void mva_classes(int classes, int stations, const int *jobs, const double *demand,
                 const double *think, double *queue, double *rate)
{
    int stride[16], n[16] = {0}, states = 1;
    double residence[64];
    for (int c = classes - 1; c >= 0; c--) {
        stride[c] = states;
        states *= jobs[c] + 1;
    }
    for (int state = 0; state < states; state++) {
        double *here = queue + (long)state * stations;
        for (int k = 0; k < stations; k++)
            here[k] = 0;
        for (int c = 0; c < classes; c++) {
            if (n[c] == 0)
                continue;
            const double *before = queue + (long)(state - stride[c]) * stations;
            double cycle = think[c];
            for (int k = 0; k < stations; k++) {
                residence[k] = demand[c * stations + k] * (1 + before[k]);
                cycle += residence[k];
            }
            rate[c] = n[c] / cycle;
            for (int k = 0; k < stations; k++)
                here[k] += rate[c] * residence[k];
        }
        for (int c = classes - 1; c >= 0 && ++n[c] > jobs[c]; c--)
            n[c] = 0;
    }
}

/* Schweitzer's iteration until no queue changes by more than a share of the class's jobs; queue
   has room for classes * stations numbers, total for stations. Returns the steps it took. */
int schweitzer(int classes, int stations, double jobs, const double *demand, double think,
               double tolerance, double *queue, double *total, double *rate)
{
    double residence[256];
    for (int i = 0; i < classes * stations; i++)
        queue[i] = jobs / stations;
    for (int k = 0; k < stations; k++)
        total[k] = classes * jobs / stations;
    for (int step = 1;; step++) {
        double moved = 0;
        for (int c = 0; c < classes; c++) {
            double cycle = think, *own = queue + c * stations;
            for (int k = 0; k < stations; k++) {
                residence[k] = demand[c * stations + k] * (1 + total[k] - own[k] / jobs);
                cycle += residence[k];
            }
            rate[c] = jobs / cycle;
            for (int k = 0; k < stations; k++) {
                double next = rate[c] * residence[k], change = (next - own[k]) / jobs;
                change = change < 0 ? -change : change;
                moved = change > moved ? change : moved;
                own[k] = next;
            }
        }
        for (int k = 0; k < stations; k++) {
            total[k] = 0;
            for (int c = 0; c < classes; c++)
                total[k] += queue[c * stations + k];
        }
        if (moved < tolerance || step == 100000)
            return step;
    }
}

/* Jobs through stations in a row, each with one exponential server and a queue without limit, by
   Lindley's recursion: the mean time in the row. It keeps no calendar, no queue and no job. */
static double exponential(unsigned long long *state, double mean)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return -mean * log(((double)(*state >> 11) + 0.5) / 9007199254740992.0);
}

double tandem(int jobs, int stations, double gap, double time, double *free)
{
    unsigned long long state = 1;
    double now = 0, spent = 0;
    for (int k = 0; k < stations; k++)
        free[k] = 0;
    for (int j = 0; j < jobs; j++) {
        now += exponential(&state, gap);
        double here = now;
        for (int k = 0; k < stations; k++) {
            here = (here > free[k] ? here : free[k]) + exponential(&state, time);
            free[k] = here;
        }
        spent += here - now;
    }
    return spent / jobs;
}
