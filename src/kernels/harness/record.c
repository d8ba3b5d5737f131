/* What one rank found in one cell: its series, its verifications, the window, the status. */
#include "harness/record.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/memory.h"

const char *status_name(enum cell_status status)
{
    static const char *const names[] = {"ok", "unsupported", "helper_returned", "wrong_data"};
    return names[status];
}

struct series *record_series(struct record *record, const char *metric, const char *unit, int burst)
{
    assert(record->series_count < SERIES_MAX);
    struct series *series = &record->series[record->series_count++];
    *series = (struct series){.metric = metric,
                              .unit = unit,
                              .burst = burst,
                              .samples = allocate(SERIES_SAMPLES_MAX, sizeof(double))};
    return series;
}

void series_add(struct series *series, double sample)
{
    if (series->count < SERIES_SAMPLES_MAX) {
        series->samples[series->count++] = sample;
    } else {
        series->dropped++;
    }
}

void series_keep(struct record *record, struct series **series, const char *metric,
                 const char *unit, long long burst, double sample)
{
    if (*series == NULL) {
        *series = record_series(record, metric, unit, (int)burst);
    }
    series_add(*series, sample);
}

void record_status(struct record *record, enum cell_status status, const char *format, ...)
{
    if (status <= record->status) {
        return;
    }
    record->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(record->detail, sizeof record->detail, format, arguments);
    va_end(arguments);
}

void record_verification(struct record *record, struct verification verification)
{
    assert(record->verification_count < VERIFICATIONS_MAX);
    record->verifications[record->verification_count++] = verification;
}

void record_write_series(struct json *json, const struct record *record, int rank)
{
    for (size_t i = 0; i < record->series_count; i++) {
        const struct series *series = &record->series[i];
        json_open(json, '{');
        json_key_text(json, "metric", series->metric);
        json_key_text(json, "unit", series->unit);
        json_key_integer(json, "rank", rank);
        json_key_integer(json, "burst", series->burst);
        json_key_integer(json, "dropped", (long long)series->dropped);
        json_key(json, "samples");
        json_open(json, '[');
        for (size_t sample = 0; sample < series->count; sample++) {
            json_number(json, series->samples[sample]);
        }
        json_close(json, ']');
        json_close(json, '}');
    }
}

void record_write_window(struct json *json, const struct record *record)
{
    const struct window_facts *window = &record->window;
    json_open(json, '{');
    json_key_text(json, "model", window->model);
    json_key_text(json, "flavor", window->flavor);
    json_key(json, "size_bytes");
    if (window->size_bytes < 0) {
        json_null(json);
    } else {
        json_integer(json, window->size_bytes);
    }
    json_key(json, "info");
    if (window->info.length == 0) {
        json_null(json);
    } else {
        json_raw(json, window->info.bytes, window->info.length);
    }
    json_close(json, '}');
}

void record_write_verifications(struct json *json, const struct record *record)
{
    json_open(json, '[');
    for (size_t i = 0; i < record->verification_count; i++) {
        const struct verification *verification = &record->verifications[i];
        const char *first = verification->first_mismatch;
        json_open(json, '{');
        json_key_text(json, "name", verification->name);
        json_key_integer(json, "checked", verification->checked);
        json_key_integer(json, "errors", verification->errors);
        json_key_text(json, "first_mismatch", first[0] == '\0' ? NULL : first);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void record_drop_series(struct record *record)
{
    for (size_t i = 0; i < record->series_count; i++) {
        free(record->series[i].samples);
    }
    record->series_count = 0;
}

void record_free(struct record *record)
{
    record_drop_series(record);
    json_free(&record->window.info);
    json_free(&record->storage);
    *record = (struct record){0};
}
