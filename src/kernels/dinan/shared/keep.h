/* Series that begin with their first sample: its burst is known only then. */
#ifndef ONESIDED_KEEP_H
#define ONESIDED_KEEP_H

#include "harness/record.h"

static inline void series_keep(struct record *record, struct series **series, const char *metric,
                               const char *unit, long long burst, double sample)
{
    if (*series == NULL) {
        *series = record_series(record, metric, unit, (int)burst);
    }
    series_add(*series, sample);
}

#endif
