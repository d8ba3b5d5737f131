/* A product of matrix and vector: what a task has of it, and what must become of it.
 *
 * All elements are small whole numbers, and so are their products and all sums of these: a double
 * has each of them without rounding. The result is then the same in whatever order it is summed,
 * and every bit of it is compared. Of other numbers a sum of n products differs from the true one
 * by no more than n u / (1 - n u) times the sum of their magnitudes, with u = 2^-53: that bound
 * holds for every order, but a flipped last bit, or a very small product that is lost, would hide
 * inside it. */
#ifndef ONESIDED_PRODUCT_H
#define ONESIDED_PRODUCT_H

#include <pthread.h>

#include "harness/launch.h"
#include "mpi/team.h"

struct product;

/* How the threads of a task share its columns: a row of the axis. */
struct variant {
    const char *name;
    bool by_columns;                             /* a thread has whole columns; else rows of each */
    void (*task)(void *product, int number);     /* THE TIMED LOOP of a thread */
    void (*accumulate)(struct product *product); /* all threads, into `sum` */
    bool creates; /* threads are created for each product; else they are there before */
};

struct product {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct variant *variant;
    int order;      /* of the matrix */
    int columns;    /* of it that a task has, and elements of the vector, and of the result */
    int first;      /* of the columns */
    double *matrix; /* this task's columns, in Fortran's order */
    double *vector; /* its elements */
    double *sum;    /* of this task's columns times its elements: as long as the result */
    double *result; /* what this task has of it */
    struct team team;
    double *sums[TEAM_MAX]; /* of each thread */
    pthread_mutex_t lock;   /* of `sum` */
    int column;             /* that all threads are in */
    uint64_t sample;        /* from 1 */
    double total_s, reduce_scatter_s;
    struct series *total, *reduce_scatter;
    struct verification found;
};

/* The matrix and the threads' sums, each touched first by the thread that uses it. */
void product_open(struct product *product);
void product_close(struct product *product);

/* The vector of the next sample, and a result that is none. */
void product_fill(struct product *product);

/* Compare every bit of this task's part of the result with a sum of integers. */
void product_compare(struct product *product);

/* The first of `count` rows or columns that a thread has; that of the next thread is their end. */
static inline int share_begin(const struct product *product, int count, int number)
{
    return (int)((long long)count * number / product->team.count);
}

#endif
