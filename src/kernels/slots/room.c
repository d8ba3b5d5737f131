/* Room for the operations of a burst. */
#include "slots/room.h"

#include "harness/share.h"

/* Besides the pass, the library, the window and the values of the verification need memory. */
#define PARTS_OF_MEMORY 8

static long long lesser(long long a, long long b)
{
    return a < b ? a : b;
}

int slots_choose(const struct launch *launch, struct record *record, long long pass_bytes)
{
    const struct options *asked = &launch->options;
    const bool is_asked = options_text(asked, "memory-bytes") != NULL;
    const long long memory_bytes =
        is_asked ? options_integer(asked, "memory-bytes")
                 : (long long)share_of_memory(&launch->host) / PARTS_OF_MEMORY;
    if (pass_bytes > memory_bytes) {
        record_status(
            record, CELL_UNSUPPORTED, "a pass needs %lld bytes at a rank, %s %lld", pass_bytes,
            is_asked ? "--memory-bytes allows" : "its machine's memory allows", memory_bytes);
        return 0;
    }
    const long long held = options_integer(asked, "burst-bytes") / pass_bytes;
    const long long slots =
        lesser(lesser(held, memory_bytes / pass_bytes), options_integer(asked, "burst"));
    return slots < 1 ? 1 : (int)slots;
}
