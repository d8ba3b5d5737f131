/* A file of a cell, on the storage that the cell asks for: a disk, or a tmpfs.
 *
 * Rank 0 makes the file, and the record says on which file system it really is. A cell cannot run
 * if the folder is on storage of another kind, has no room, or is not seen by other ranks. The file
 * is removed at the end. The file of a dead launch is removed by the next launch on this host with
 * the same folder. */
#ifndef ONESIDED_STORAGE_H
#define ONESIDED_STORAGE_H

#include <limits.h>
#include <stdint.h>

#include "harness/launch.h"

struct storage {
    const char *name;
    bool in_memory;
    const char *option; /* that names the folder */
};
enum { STORAGE_DISK, STORAGE_TMPFS, STORAGES };
extern const struct storage storages[STORAGES];

/* Rows of a kernel's axes and options. */
#define STORAGE_AXIS(fallback_) CHOICE_AXIS("storage", "where the file is", (fallback_), storages)
#define STORAGE_OPTIONS                                                                            \
    {.name = "disk-dir",                                                                           \
     .argument = "FOLDER",                                                                         \
     .help = "where files of the storage disk are made; no tmpfs",                                 \
     .kind = OPTION_TEXT,                                                                          \
     .fallback = "./"},                                                                            \
        {.name = "tmpfs-dir",                                                                      \
         .argument = "FOLDER",                                                                     \
         .help = "where files of the storage tmpfs are made",                                      \
         .kind = OPTION_TEXT,                                                                      \
         .fallback = "/dev/shm"}

struct stored {
    const struct storage *storage;
    const char *folder;
    long long bytes;
    bool is_here;         /* this rank sees the file */
    char path[PATH_MAX];  /* empty: there is none */
    char file_system[32]; /* "ext4" */
    char device[128];     /* "/dev/vda" */
    int64_t magic;        /* of the file system, as statfs tells it */
};

/* Collective: make a file of so many bytes, and write them all. If this is impossible, the record
 * says why, the same on all ranks, and the result is false. `only`: the one rank beside rank 0 that
 * needs to see the file; -1: all ranks. */
bool storage_open(struct stored *stored, const struct launch *launch, const struct cell *cell,
                  struct record *record, long long bytes, int only);

/* Collective: rank 0 removes the file, once all ranks are done with it. */
void storage_close(const struct stored *stored, const struct launch *launch);

/* Rank 0 records the type of the file system, as statfs tells it: the series `file_system`. */
void storage_record(const struct stored *stored, const struct launch *launch,
                    struct record *record);

/* How many bytes are free on the file's file system. */
long long storage_room_bytes(const struct stored *stored);

/* Write or read so many bytes at an offset, in as many calls as it takes; returns 0 or errno. A
 * read beyond the end of the file returns EIO. */
int storage_write(int descriptor, const void *data, long long bytes, long long offset);
int storage_read(int descriptor, void *data, long long bytes, long long offset);

#endif
