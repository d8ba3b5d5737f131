/* What a person is shown of many numbers. */
#include "harness/numbers.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *first, const void *second)
{
    const double difference = *(const double *)first - *(const double *)second;
    return (difference > 0) - (difference < 0);
}

void sort_numbers(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof numbers[0], compare);
}

double median_of(double *numbers, size_t count)
{
    sort_numbers(numbers, count);
    return count == 0 ? NAN : 0.5 * (numbers[(count - 1) / 2] + numbers[count / 2]);
}
