/* A product of matrix and vector: the data of a task, and their verification.
 *
 * All elements are small whole numbers. So a double holds all products and all sums without
 * rounding, the result is the same in any order of summation, and every bit of it is compared. With
 * other numbers a sum of n products may differ from the true sum by n u / (1 - n u) times the sum
 * of the products' magnitudes, with u = 2^-53. This bound holds for every order, but within it a
 * flipped last bit, or the loss of a very small product, would not be found. */
#ifndef ONESIDED_PRODUCT_H
#define ONESIDED_PRODUCT_H

#include <pthread.h>

#include "harness/launch.h"
#include "mpi/team.h"

struct product;

/* How the threads of a task share its columns: a row of the axis. */
struct variant {
    const char *name;
    bool by_columns;                             /* a thread has whole columns; else some rows */
    void (*task)(void *product, int number);     /* THE TIMED LOOP of a thread */
    void (*accumulate)(struct product *product); /* all threads, into `sum` */
    bool creates; /* threads are created for each product; else once */
};

struct product {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct variant *variant;
    int order;      /* of the matrix */
    int columns;    /* of the matrix at a task; also its elements of vector and result */
    int first;      /* number of its first column */
    double *matrix; /* this task's columns, in Fortran's order */
    double *vector; /* its elements of the vector */
    double *sum;    /* its columns times its elements: a vector of full length */
    double *result; /* this task's part */
    struct team team;
    double *sums[TEAM_MAX]; /* of each thread */
    pthread_mutex_t lock;   /* of `sum` */
    int column;             /* the column of all threads */
    uint64_t sample;        /* from 1 */
    double total_s, reduce_scatter_s;
    struct series *total, *reduce_scatter;
    struct verification found;
};

/* Make the matrix and the threads' sums; the thread that uses a page touches it first. */
void product_open(struct product *product);
void product_close(struct product *product);

/* Set the vector of the next sample, and clear the result. */
void product_fill(struct product *product);

/* Compare every bit of this task's part of the result with a sum of integers. */
void product_compare(struct product *product);

/* The first of a thread's rows or columns, of `count`; the next thread's first is their end. */
static inline int share_begin(const struct product *product, int count, int number)
{
    return (int)((long long)count * number / product->team.count);
}

#endif
