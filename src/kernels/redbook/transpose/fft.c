/* Fourier transforms of the columns of a matrix. */
#include "redbook/transpose/fft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"

#define RADIX_MAX 7

static int smallest_factor(int order)
{
    int factor = 2;
    while (factor <= RADIX_MAX && order % factor != 0) {
        factor++;
    }
    return factor;
}

bool fft_is_supported(int order)
{
    while (order > 1 && smallest_factor(order) <= RADIX_MAX) {
        order /= smallest_factor(order);
    }
    return order == 1;
}

struct fft fft_open(int order)
{
    struct fft fft = {.order = order,
                      .roots = allocate((size_t)order, sizeof fft.roots[0]),
                      .spare = allocate((size_t)order, sizeof fft.spare[0])};
    for (int k = 0; k < order; k++) {
        const double angle = -2 * acos(-1) * k / order;
        fft.roots[k] = CMPLX(cos(angle), sin(angle));
    }
    return fft;
}

void fft_close(struct fft *fft)
{
    free(fft->roots);
    free(fft->spare);
}

/* All numbers are finite, so a product needs no tests as C's own product has. */
static inline complex_number product(complex_number a, complex_number b)
{
    return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b),
                 creal(a) * cimag(b) + cimag(a) * creal(b));
}

/* Transform `order` elements of `from`, `stride` apart, into contiguous elements of `to`. */
static void transform(const struct fft *fft, const complex_number *from, complex_number *to,
                      int order, int stride)
{
    if (order == 1) {
        to[0] = from[0];
        return;
    }
    const int radix = smallest_factor(order), part = order / radix;
    for (int r = 0; r < radix; r++) {
        transform(fft, from + r * stride, to + r * part, part, radix * stride);
    }
    for (int k = 0; k < part; k++) {
        complex_number terms[RADIX_MAX];
        for (int r = 0; r < radix; r++) {
            terms[r] = product(to[r * part + k], fft->roots[r * k * stride]);
        }
        if (radix == 2) {
            to[k] = terms[0] + terms[1];
            to[k + part] = terms[0] - terms[1];
            continue;
        }
        for (int j = 0; j < radix; j++) {
            to[j * part + k] = terms[0];
            for (int r = 1; r < radix; r++) {
                to[j * part + k] += product(terms[r], fft_root(fft, r * j * part * stride));
            }
        }
    }
}

void fft_columns(const struct fft *fft, complex_number *matrix, int columns)
{
    const size_t column_bytes = (size_t)fft->order * sizeof matrix[0];
    for (int j = 0; j < columns; j++) {
        complex_number *column = matrix + (size_t)j * (size_t)fft->order;
        memcpy(fft->spare, column, column_bytes);
        transform(fft, fft->spare, column, fft->order, 1);
    }
}
