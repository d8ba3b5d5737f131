/* The memory of a pattern with OpenSHMEM: symmetric. */
#include <stdlib.h>

#include "harness/memory.h"
#include "luecke/shared/pattern.h"
#include "openshmem/symmetric.h"

bool others_open(struct pattern *pattern)
{
    const size_t size_bytes =
        (size_t)pattern->blocks * (size_t)pattern->elements * sizeof pattern->data[0];
    pattern->others = allocate(1, sizeof *pattern->others);
    pattern->others->notice = symmetric_allocate(sizeof pattern->others->notice[0]);
    pattern->data = symmetric_allocate(size_bytes);
    pattern->result = pattern->kind->in_place ? pattern->data : allocate_pages(size_bytes);
    return true;
}

void others_close(struct pattern *pattern)
{
    if (!pattern->kind->in_place) {
        free(pattern->result);
    }
    symmetric_free(pattern->data);
    symmetric_free(pattern->others->notice);
    free(pattern->others);
}

/* Barriers separate a rank's own loads and stores from accesses. */
void others_begin_own(struct pattern *pattern)
{
    (void)pattern;
}

void others_end_own(struct pattern *pattern)
{
    (void)pattern;
}

void others_begin_trial(struct pattern *pattern)
{
    (void)pattern;
}
