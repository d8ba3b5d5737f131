/* A product of matrix and vector: the data of a task, and their verification. */
#include "redbook/matrix_vector/product.h"

#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"

#define NOTHING (-1) /* in the result before the product; no sum has this value */
#define CLASSES 64   /* of rows and of columns: an element depends only on its two classes */
#define GREATEST 16  /* greatest element of the vector; the least is 1 */

static uint32_t mixed(uint32_t number)
{
    number = (number ^ (number >> 15)) * 0x2C1B3C6Du;
    return number ^ (number >> 12);
}

static uint32_t class_of(int row_or_column)
{
    return mixed((uint32_t)row_or_column * 0x9E3779B1u) % CLASSES;
}

static int64_t matrix_element(uint32_t of_row, uint32_t of_column)
{
    return 1 + (of_row + of_column) % CLASSES;
}

static int64_t vector_element(int column, uint64_t sample)
{
    return 1 + mixed((uint32_t)column * 0xC2B2AE3Du + (uint32_t)sample * 0x27D4EB2Fu) % GREATEST;
}

static size_t matrix_bytes(const struct product *product)
{
    return (size_t)product->order * (size_t)product->columns * sizeof product->matrix[0];
}

/* Touch the data of one thread. */
static void touch_part(void *state, int number)
{
    struct product *product = state;
    const bool by_columns = product->variant->by_columns;
    const int count = by_columns ? product->columns : product->order;
    const int begin = share_begin(product, count, number);
    const int end = share_begin(product, count, number + 1);
    for (int j = by_columns ? begin : 0; j < (by_columns ? end : product->columns); j++) {
        double *column = product->matrix + (size_t)j * (size_t)product->order;
        for (int i = by_columns ? 0 : begin; i < (by_columns ? product->order : end); i++) {
            column[i] = (double)matrix_element(class_of(i), class_of(product->first + j));
        }
    }
    product->sums[number] = allocate_pages((size_t)product->order * sizeof product->sum[0]);
}

void product_open(struct product *product)
{
    const size_t columns = (size_t)product->columns, order = (size_t)product->order;
    product->matrix = allocate_untouched(matrix_bytes(product));
    product->vector = allocate_pages(columns * sizeof product->vector[0]);
    product->sum = allocate_pages(order * sizeof product->sum[0]);
    product->result = allocate_pages(columns * sizeof product->result[0]);
    pthread_mutex_init(&product->lock, NULL);
    product->team.state = product;
    team_open(&product->team);
    product->team.task = touch_part;
    team_run(&product->team);
}

void product_close(struct product *product)
{
    team_close(&product->team);
    pthread_mutex_destroy(&product->lock);
    for (int number = 0; number < product->team.count; number++) {
        free(product->sums[number]);
    }
    free(product->result);
    free(product->sum);
    free(product->vector);
    free_untouched(product->matrix, matrix_bytes(product));
}

void product_fill(struct product *product)
{
    product->sample++;
    for (int j = 0; j < product->columns; j++) {
        product->vector[j] = (double)vector_element(product->first + j, product->sample);
        product->result[j] = NOTHING;
    }
}

/* ---- Verification ---- */

static int64_t bits_of(double number)
{
    int64_t bits = 0;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* This task's part of the product with a sample's vector. The vector's elements are summed by the
 * class of their column, because all columns of a class are equal. */
static void sum_integers(const struct product *product, uint64_t sample, int64_t *sums)
{
    int64_t of_class[CLASSES] = {0};
    for (int j = 0; j < product->order; j++) {
        of_class[class_of(j)] += vector_element(j, sample);
    }
    for (int i = 0; i < product->columns; i++) {
        sums[i] = 0;
        for (uint32_t j = 0; j < CLASSES; j++) {
            sums[i] += of_class[j] * matrix_element(class_of(product->first + i), j);
        }
    }
}

void product_compare(struct product *product)
{
    int64_t *sums = allocate((size_t)product->columns, sizeof sums[0]);
    sum_integers(product, product->sample, sums);
    for (int i = 0; i < product->columns; i++) {
        verify_element(&product->found, bits_of(product->result[i]), bits_of((double)sums[i]),
                       (size_t)i, product->sample);
    }
    free(sums);
}
