/* Where files of kernels are: the file system of a folder, their names, and those that were left.
 */
#ifndef ONESIDED_PLACE_H
#define ONESIDED_PLACE_H

#include <stddef.h>

/* The file system that a folder is on, and its device, as /proc/self/mountinfo has them; "unknown"
 * where it has not. */
void place_mounted(const char *folder, char *file_system, size_t file_system_bytes, char *device,
                   size_t device_bytes);

/* The name of this process's file in a folder: it has the host, the process and where that number
 * is one (its PID namespace). */
void place_name(const char *folder, char *path, size_t path_bytes);

/* Remove the files of processes of this host that are no more. */
void place_sweep(const char *folder);

#endif
