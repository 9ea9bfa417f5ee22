/* Arguments of kernels, and all kernels; kernels.c has a row for each. */
#ifndef HEADWAY_KERNELS_H
#define HEADWAY_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* A function called so often that the call would cost as much as its work, or part of a wider one. */
#ifdef __GNUC__
#define INLINED static inline __attribute__((always_inline))
#else
#define INLINED static inline
#endif

/* A function with long loops, compiled a second time for processors that handle four numbers at once.
   Its results are the same: sums keep their order, and products are rounded before they are added. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) \
    && !defined(__SANITIZE_ADDRESS__)
#define WIDER __attribute__((target_clones("avx2", "default")))
#else
#define WIDER
#endif

/* One argument: an array of numbers or of whole numbers in C order, or a number. */
typedef union {
    struct { double *at; ptrdiff_t size; } numbers;
    struct { int64_t *at; ptrdiff_t size; } counts;
    double number;
    int64_t count;
} Argument;

/* Whole numbers of rows, which are the same at all points, or one for each point. */
typedef struct {
    const int64_t *at;
    ptrdiff_t across, along;
} Counts;

INLINED int64_t count_at(Counts of, ptrdiff_t row, ptrdiff_t point)
{
    return of.at[row * of.across + point * of.along];
}

/* Whole numbers of so many rows; with `at` NULL if there are neither as many nor one for each point. */
INLINED Counts counts_of(Argument given, ptrdiff_t rows, ptrdiff_t points)
{
    Counts found = {given.counts.at, 1, 0};
    if (given.counts.size == rows)
        return found;
    found.across = points;
    found.along = 1;
    if (given.counts.size != rows * points)
        found.at = NULL;
    return found;
}

/* The least and the most of a row, at any point. */
INLINED int64_t least_of(Counts of, ptrdiff_t row, ptrdiff_t points)
{
    int64_t least = count_at(of, row, 0);
    for (ptrdiff_t i = 1; i < points && of.along; i++)
        least = count_at(of, row, i) < least ? count_at(of, row, i) : least;
    return least;
}

INLINED int64_t most_of(Counts of, ptrdiff_t row, ptrdiff_t points)
{
    int64_t most = count_at(of, row, 0);
    for (ptrdiff_t i = 1; i < points && of.along; i++)
        most = count_at(of, row, i) > most ? count_at(of, row, i) : most;
    return most;
}

/* A kernel writes into the arrays that it is given. It returns NULL, or what was wrong. */
typedef const char *Kernel(const Argument *given);

Kernel inverse_polynomial;
Kernel one_class_recursion;
Kernel lattice_planes;
Kernel steady_steps;
Kernel closed_convolution;
Kernel passing_rounds;
Kernel play;
Kernel play_program;
Kernel explore_program;
Kernel balancing_sweeps;
Kernel complex_geometric;
Kernel real_geometric;
Kernel absorbing_steps;
Kernel careful_step;
Kernel finite_stations;
Kernel pool_ratios;
Kernel pool_capacities;
Kernel first_to_leave;
Kernel waits_of_one;
Kernel weighted_sums;
Kernel unanswered_steps;
Kernel flood_steps;
Kernel lives;
Kernel spans_laid_out;

#endif
