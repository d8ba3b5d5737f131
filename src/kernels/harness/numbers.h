/* What a person is shown of many numbers. */
#ifndef ONESIDED_NUMBERS_H
#define ONESIDED_NUMBERS_H

#include <stddef.h>

/* Order them, the least first. */
void sort_numbers(double *numbers, size_t count);

/* Order them and return the median; NAN without any. */
double median_of(double *numbers, size_t count);

#endif
