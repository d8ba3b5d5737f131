/* Reads and writes of rank 1, of a file that rank 0 has: requests, answers and verification. */
#include "redbook/remote_read/distant.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/memory.h"

/* ---- The content of the file: a function of the place ---- */

static int64_t value_at(const struct distant *own, long long element)
{
    return value_of_sample(own->content, (size_t)element);
}

/* The value that the writes of a sample leave in the file. */
static int64_t written_at(const struct distant *own, long long element)
{
    return value_of_sample(own->content + 1000003 * own->sample, (size_t)element);
}

void distant_fill_file(const struct distant *own)
{
    const long long elements = own->bytes / (long long)sizeof(int64_t);
    const int descriptor = open(own->stored.path, O_WRONLY | O_CLOEXEC);
    int64_t *values = allocate((size_t)elements, sizeof values[0]);
    for (long long place = 0; place < own->places; place++) {
        for (long long i = 0; i < elements; i++) {
            values[i] = value_at(own, place * elements + i);
        }
        const int error = storage_write(descriptor, values, own->bytes, place * own->bytes);
        if (error != 0) {
            watchdog_failed("pwrite", strerror(error));
        }
    }
    free(values);
    close(descriptor);
}

/* ---- The client ---- */

/* Before and after loads and stores of the slots. */
static void begin_own(struct distant *own)
{
    if (own->window.size_bytes > 0) {
        window_begin_own(&own->window, MPI_LOCK_SHARED);
    }
}

static void end_own(struct distant *own)
{
    if (own->window.size_bytes > 0) {
        window_end_own(&own->window);
    }
}

/* Put the data that an operation writes into its slot. */
static void put_data_into(struct distant *own, long long slot)
{
    const long long elements = own->bytes / (long long)sizeof(int64_t);
    int64_t *const data = (int64_t *)(answer_in(own, slot) + CODE_BYTES);
    for (long long i = 0; i < elements; i++) {
        data[i] = written_at(own, own->right[slot] * elements + i);
    }
}

void distant_choose(struct distant *own, long long burst)
{
    own->sample++;
    for (long long slot = 0; slot < burst; slot++) {
        own->right[slot] = own->next;
        own->next = (own->next + own->stride) % own->places;
        own->wanted[slot] = (struct wanted){.offset = own->right[slot] * own->bytes,
                                            .bytes = own->bytes,
                                            .slot = slot,
                                            .writes = own->writes};
    }
    if (own->launch->rank == CLIENT) {
        begin_own(own);
        memset(own->answers, 0, (size_t)(burst * own->slot_bytes));
        for (long long slot = 0; slot < burst && own->writes; slot++) {
            put_data_into(own, slot);
        }
        end_own(own);
    }
}

void distant_compare(struct distant *own, long long burst)
{
    const long long elements = own->bytes / (long long)sizeof(int64_t);
    begin_own(own);
    for (long long slot = 0; slot < burst; slot++) {
        const int64_t *const answer = (const int64_t *)answer_in(own, slot);
        const long long first = own->right[slot] * elements;
        verify_element(&own->data, answer[0], own->bytes, (size_t)slot, own->sample);
        for (long long i = 0; i < elements && !own->writes; i++) {
            verify_element(&own->data, answer[1 + i], value_at(own, first + i),
                           (size_t)(slot * elements + i), own->sample);
        }
    }
    end_own(own);
}

static void read_back(const struct distant *own, long long place, int64_t *values)
{
    const int error = storage_read(own->descriptor, values, own->bytes, place * own->bytes);
    if (error != 0) {
        watchdog_failed("pread", strerror(error));
    }
}

void distant_compare_file(struct distant *own, long long burst)
{
    const long long elements = own->bytes / (long long)sizeof(int64_t);
    int64_t *values = allocate((size_t)elements, sizeof values[0]);
    for (long long slot = 0; slot < burst; slot++) {
        read_back(own, own->right[slot], values);
        for (long long i = 0; i < elements; i++) {
            verify_element(&own->data, values[i], written_at(own, own->right[slot] * elements + i),
                           (size_t)(slot * elements + i), own->sample);
        }
    }
    free(values);
}

int64_t distant_sum_of_file(const struct distant *own)
{
    const long long elements = own->bytes / (long long)sizeof(int64_t);
    int64_t *values = allocate((size_t)elements, sizeof values[0]);
    uint64_t sum = 0;
    for (long long place = 0; place < own->places; place++) {
        read_back(own, place, values);
        for (long long i = 0; i < elements; i++) {
            sum = 31 * sum + (uint64_t)values[i];
        }
    }
    free(values);
    return (int64_t)sum;
}

void distant_ask_wrongly(struct distant *own, void (*ask)(struct distant *own, long long slot))
{
    const int64_t size = own->places * own->bytes;
    const struct wrong {
        struct wanted wanted;
        enum code code;
    } wrong[] = {
        {{.file = 1, .bytes = own->bytes}, NO_SUCH_FILE},
        {{.file = -1, .bytes = own->bytes}, NO_SUCH_FILE},
        {{.offset = size, .bytes = own->bytes}, NO_SUCH_OFFSET},
        {{.offset = -own->bytes, .bytes = own->bytes}, NO_SUCH_OFFSET},
        {{.offset = INT64_MAX - 7, .bytes = own->bytes}, NO_SUCH_OFFSET},
        {{.bytes = -1}, NO_SUCH_LENGTH},
        {{.bytes = own->bytes + 8}, NO_SUCH_LENGTH},
        {{.bytes = INT64_MAX}, NO_SUCH_LENGTH},
        {{.offset = size - 8, .bytes = own->bytes}, own->bytes > 8 ? NO_SUCH_LENGTH : 0},
        {{.bytes = own->bytes, .slot = own->slots}, NO_SUCH_SLOT},
        {{.bytes = own->bytes, .slot = -1}, NO_SUCH_SLOT},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (wrong[i].code != 0) {
            own->wanted[0] = wrong[i].wanted;
            own->wanted[0].writes = own->writes;
            begin_own(own);
            memset(answer_in(own, 0), 0, (size_t)own->slot_bytes);
            end_own(own);
            ask(own, 0);
            begin_own(own);
            const int64_t *const answer = (const int64_t *)answer_in(own, 0);
            verify_element(&own->refused, answer[0], wrong[i].code, 0, i);
            verify_element(&own->refused, answer[1], 0, 1, i); /* the answer has no data */
            end_own(own);
        }
    }
}

/* ---- The server ---- */

/* Check every number of a request, because it comes from another process. */
static int64_t check_wanted(const struct distant *own, const struct wanted *wanted)
{
    const int64_t size = own->places * own->bytes;
    if (wanted->file != 0) {
        return NO_SUCH_FILE;
    }
    if (wanted->offset < 0 || wanted->offset >= size) {
        return NO_SUCH_OFFSET;
    }
    if (wanted->bytes < 0 || wanted->bytes > own->bytes || wanted->bytes > size - wanted->offset) {
        return NO_SUCH_LENGTH;
    }
    if (wanted->slot < 0 || wanted->slot >= own->slots) {
        return NO_SUCH_SLOT;
    }
    return wanted->bytes;
}

static int64_t read_wanted(const struct distant *own, const struct wanted *wanted)
{
    const int64_t code = check_wanted(own, wanted);
    const int error =
        code < 0 ? 0 : storage_read(own->descriptor, own->reply + CODE_BYTES, code, wanted->offset);
    if (error != 0) {
        watchdog_failed("pread", strerror(error));
    }
    return code;
}

/* Get the data of a write from the slot of the client's window. */
static const void *fetch(const struct distant *own, const struct wanted *wanted, int client)
{
    char *const data = own->reply + CODE_BYTES;
    CHECKED(MPI_Get(data, (int)wanted->bytes, MPI_BYTE, client,
                    own->window.begins[client] + wanted->slot * own->slot_bytes + CODE_BYTES,
                    (int)wanted->bytes, MPI_BYTE, own->window.handle));
    CHECKED(MPI_Win_flush(client, own->window.handle));
    return data;
}

static int64_t write_wanted(const struct distant *own, const struct wanted *wanted,
                            const struct request *request)
{
    const bool is_sent = wanted->turn == 0;
    const int64_t code = check_wanted(own, wanted);
    if (code < 0 || (is_sent && request->payload_bytes != (size_t)code)) {
        return code < 0 ? code : NO_SUCH_LENGTH;
    }
    const void *data = is_sent ? request->payload : fetch(own, wanted, request->source);
    const int error = storage_write(own->descriptor, data, code, wanted->offset);
    if (error != 0) {
        watchdog_failed("pwrite", strerror(error));
    }
    return code;
}

void distant_answer(struct server *server, const struct request *request)
{
    const struct distant *own = server->state;
    struct wanted wanted;
    memcpy(&wanted, request->header, sizeof wanted);
    const int64_t code =
        wanted.writes ? write_wanted(own, &wanted, request) : read_wanted(own, &wanted);
    const long long bytes = CODE_BYTES + (code > 0 && !wanted.writes ? code : 0);
    memcpy(own->reply, &code, sizeof code);
    if (wanted.turn == 0) {
        server_answer(server, request, own->reply, (size_t)bytes);
    } else {
        const int64_t slot = code == NO_SUCH_SLOT ? 0 : wanted.slot;
        CHECKED(MPI_Put(own->reply, (int)bytes, MPI_BYTE, request->source,
                        own->window.begins[request->source] + slot * own->slot_bytes, (int)bytes,
                        MPI_BYTE, own->window.handle));
        notice_give(&own->notice, wanted.turn); /* flushes before and after */
    }
}
