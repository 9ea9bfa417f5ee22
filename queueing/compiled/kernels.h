/* What a kernel is given, and the kernels that there are: a row each in kernels.c. */
#ifndef HEADWAY_KERNELS_H
#define HEADWAY_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* A function that is called so often that the call would take as long as it does, or that is part of
   a wider one. */
#ifdef __GNUC__
#define INLINED static inline __attribute__((always_inline))
#else
#define INLINED static inline
#endif

/* A function of long loops, compiled again for processors that take four numbers at a time. Its
   results are the same: no sum is taken in another order, no product added without rounding. */
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

/* A kernel writes into the arrays it is given. It gives back nothing, or what was wrong. */
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
Kernel first_to_leave;
Kernel waits_of_one;
Kernel unanswered_steps;
Kernel flood_steps;
Kernel spans_laid_out;

#endif
