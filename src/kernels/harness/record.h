/* What one rank found in one cell: its series, its verifications, the window, the status. */
#ifndef ONESIDED_RECORD_H
#define ONESIDED_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/json.h"
#include "harness/verification.h"

#define SERIES_SAMPLES_MAX 2000
#define SERIES_MAX 24
#define VERIFICATIONS_MAX 8
#define DETAIL_BYTES 256

/* A greater status dominates: ranks agree on the greatest. */
enum cell_status { CELL_OK, CELL_UNSUPPORTED, CELL_HELPER_RETURNED, CELL_WRONG_DATA };

struct series {
    const char *metric;
    const char *unit;
    int burst; /* operations of a sample */
    double *samples;
    size_t count;
    size_t dropped; /* samples after the series was full */
};

struct window_facts {
    const char *model; /* NULL: unknown */
    const char *flavor;
    long long size_bytes; /* at the target; -1: unknown */
    struct json info;     /* an object */
};

struct record {
    enum cell_status status;
    char detail[DETAIL_BYTES]; /* empty: none */
    struct window_facts window;
    struct json storage; /* an object; empty: the cell has no file (harness/storage.h) */
    struct series series[SERIES_MAX];
    size_t series_count;
    struct verification verifications[VERIFICATIONS_MAX];
    size_t verification_count;
    int helper_threads; /* that need a core beside this rank's own; -1: the rank sleeps; the harness
                           adds up the numbers of all ranks */
};

/* Begin a series. Metrics and units are literals: they are not copied. */
struct series *record_series(struct record *record, const char *metric, const char *unit,
                             int burst);
void series_add(struct series *series, double sample);
/* Add a sample; a series that is NULL begins with it: a burst's length is known only then. */
void series_keep(struct record *record, struct series **series, const char *metric,
                 const char *unit, long long burst, double sample);

/* Keep what this rank has verified. The harness adds up what all ranks have verified under one
 * name; any error makes the cell's data wrong. */
void record_verification(struct record *record, struct verification verification);

/* Raise the status (a lower status never replaces a higher one) with its reason in one line. */
__attribute__((format(printf, 3, 4))) void
record_status(struct record *record, enum cell_status status, const char *format, ...);

/* Write this rank's series, without brackets: commas join the series of several ranks. */
void record_write_series(struct json *json, const struct record *record, int rank);
void record_write_window(struct json *json, const struct record *record);
void record_write_verifications(struct json *json, const struct record *record);
/* Drop all series: the cell cannot run to its end. */
void record_drop_series(struct record *record);
void record_free(struct record *record);

const char *status_name(enum cell_status status);

#endif
