/* Room for the operations of a burst. */
#include "slots/room.h"

static long long lesser(long long a, long long b)
{
    return a < b ? a : b;
}

int slots_choose(const struct launch *launch, struct record *record, long long pass_bytes)
{
    const struct options *asked = &launch->options;
    const long long memory_bytes = options_integer(asked, "memory-bytes");
    if (pass_bytes > memory_bytes) {
        record_status(record, CELL_UNSUPPORTED,
                      "a pass needs %lld bytes at a rank, --memory-bytes allows %lld", pass_bytes,
                      memory_bytes);
        return 0;
    }
    const long long held = options_integer(asked, "burst-bytes") / pass_bytes;
    const long long slots =
        lesser(lesser(held, memory_bytes / pass_bytes), options_integer(asked, "burst"));
    return slots < 1 ? 1 : (int)slots;
}
