/* A file of a cell, on the storage that the cell asks for: a disk, or a tmpfs. */
#include "harness/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "harness/memory.h"
#include "harness/place.h"
#include "harness/watchdog.h"
#include "harness/world.h"

#define CHUNK_BYTES (1LL << 20)

const struct storage storages[STORAGES] = {
    [STORAGE_DISK] = {"disk", false, "disk-dir"},
    [STORAGE_TMPFS] = {"tmpfs", true, "tmpfs-dir"},
};

int storage_write(int descriptor, const void *data, long long bytes, long long offset)
{
    for (const char *from = data; bytes > 0;) {
        const ssize_t written = pwrite(descriptor, from, (size_t)bytes, offset);
        if (written <= 0) {
            return written < 0 ? errno : ENOSPC;
        }
        from += written;
        offset += written;
        bytes -= written;
    }
    return 0;
}

int storage_read(int descriptor, void *data, long long bytes, long long offset)
{
    for (char *to = data; bytes > 0;) {
        const ssize_t found = pread(descriptor, to, (size_t)bytes, offset);
        if (found <= 0) {
            return found < 0 ? errno : EIO;
        }
        to += found;
        offset += found;
        bytes -= found;
    }
    return 0;
}

long long storage_room_bytes(const struct stored *stored)
{
    struct statvfs found;
    return statvfs(stored->folder, &found) != 0
               ? 0
               : (long long)found.f_bavail * (long long)found.f_frsize;
}

/* ---- Rank 0: the file. `reason` says why it cannot be made, and is empty if it is made ---- */

/* Every file system in memory counts as a tmpfs, and none as a disk. */
static bool is_memory(int64_t magic)
{
    const int64_t tmpfs = 0x01021994, ramfs = 0x858458F6;
    return magic == tmpfs || magic == ramfs;
}

static void write_whole(const struct stored *stored, int descriptor, char *reason)
{
    char *nothing = allocate((size_t)CHUNK_BYTES, 1);
    int code = 0;
    for (long long at = 0; code == 0 && at < stored->bytes; at += CHUNK_BYTES) {
        const long long left = stored->bytes - at;
        code = storage_write(descriptor, nothing, left < CHUNK_BYTES ? left : CHUNK_BYTES, at);
    }
    free(nothing);
    if (code == ENOSPC || code == EDQUOT) {
        snprintf(reason, DETAIL_BYTES, "no space left: asked for %lld bytes on %s (%s), found %lld",
                 stored->bytes, stored->device, stored->file_system, storage_room_bytes(stored));
    } else if (code != 0) {
        snprintf(reason, DETAIL_BYTES, "%s: %s", stored->storage->option, strerror(code));
    }
}

static void make_file(struct stored *stored, char *reason)
{
    const long long room_bytes = storage_room_bytes(stored);
    if (room_bytes < stored->bytes) {
        snprintf(reason, DETAIL_BYTES, "no space left: asked for %lld bytes on %s (%s), found %lld",
                 stored->bytes, stored->device, stored->file_system, room_bytes);
        return;
    }
    place_name(stored->folder, stored->path, sizeof stored->path);
    const int descriptor = open(stored->path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor < 0) {
        snprintf(reason, DETAIL_BYTES, "asked for a file in %.100s, found: %s", stored->folder,
                 strerror(errno));
        return;
    }
    write_whole(stored, descriptor, reason);
    close(descriptor);
    if (reason[0] != '\0') {
        unlink(stored->path);
    }
}

static void find_and_make(struct stored *stored, char *reason)
{
    struct statfs found;
    if (statfs(stored->folder, &found) != 0) {
        snprintf(reason, DETAIL_BYTES, "asked for a file in %.100s, found: %s", stored->folder,
                 strerror(errno));
        return;
    }
    stored->magic = (int64_t)found.f_type;
    place_mounted(stored->folder, stored->file_system, sizeof stored->file_system, stored->device,
                  sizeof stored->device);
    if (is_memory(stored->magic) != stored->storage->in_memory) {
        snprintf(reason, DETAIL_BYTES, "asked for a %s, found %s (%.60s on %s)",
                 stored->storage->name, stored->file_system, stored->folder, stored->device);
        return;
    }
    place_sweep(stored->folder);
    make_file(stored, reason);
}

/* ---- All ranks ---- */

static void keep(const struct stored *stored, struct record *record)
{
    struct json *json = &record->storage;
    json_open(json, '{');
    json_key_text(json, "asked", stored->storage->name);
    json_key_text(json, "folder", stored->folder);
    json_key_text(json, "file_system", stored->file_system);
    json_key_text(json, "device", stored->device);
    json_close(json, '}');
}

bool storage_open(struct stored *stored, const struct launch *launch, const struct cell *cell,
                  struct record *record, long long bytes, int only)
{
    char reason[DETAIL_BYTES] = "";
    watchdog_phase = "storage";
    memset(stored, 0, sizeof *stored);
    stored->storage = cell_choice(cell, "storage");
    stored->folder = options_text(&launch->options, stored->storage->option);
    stored->bytes = bytes;
    if (launch->rank == 0) {
        find_and_make(stored, reason);
    }
    world_broadcast(reason, sizeof reason);
    world_broadcast(stored->path, sizeof stored->path);
    world_broadcast(stored->file_system, sizeof stored->file_system);
    world_broadcast(stored->device, sizeof stored->device);
    world_broadcast(&stored->magic, sizeof stored->magic);
    keep(stored, record);
    if (reason[0] != '\0') {
        record_status(record, CELL_UNSUPPORTED, "%s", reason);
        stored->path[0] = '\0';
        return false;
    }
    struct stat file;
    stored->is_here = stat(stored->path, &file) == 0 && file.st_size == bytes;
    const bool is_needed = only < 0 || only == launch->rank;
    const int blind = (int)world_greatest(is_needed && !stored->is_here ? launch->rank : -1);
    if (blind >= 0) {
        record_status(record, CELL_UNSUPPORTED, "rank %d does not see the file of rank 0 in %.100s",
                      blind, stored->folder);
        storage_close(stored, launch);
        stored->path[0] = '\0';
    }
    return blind < 0;
}

void storage_record(const struct stored *stored, const struct launch *launch, struct record *record)
{
    if (launch->rank == 0) {
        series_add(record_series(record, "file_system", "count", 1), (double)stored->magic);
    }
}

void storage_close(const struct stored *stored, const struct launch *launch)
{
    world_barrier();
    if (launch->rank == 0) {
        unlink(stored->path);
    }
}
