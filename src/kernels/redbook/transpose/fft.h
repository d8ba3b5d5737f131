/* Fourier transforms of the columns of a matrix, for any order without a prime factor above 7.
 *
 * Their speed is not the question: a plain transform by decimation in time (Cooley and Tukey,
 * Mathematics of Computation 19, 1965), so that the kernels need no library. */
#ifndef ONESIDED_FFT_H
#define ONESIDED_FFT_H

#include <complex.h>
#include <stdbool.h>

typedef double complex complex_number;

struct fft {
    int order;
    complex_number *roots; /* exp(-2 pi i k / order), k from 0 */
    complex_number *spare; /* a column */
};

bool fft_is_supported(int order);
struct fft fft_open(int order);
void fft_close(struct fft *fft);

/* Transform so many columns, contiguous in memory, in place. */
void fft_columns(const struct fft *fft, complex_number *matrix, int columns);

/* The root with this exponent, which may be larger than `order`. */
static inline complex_number fft_root(const struct fft *fft, long long exponent)
{
    return fft->roots[exponent % fft->order];
}

#endif
