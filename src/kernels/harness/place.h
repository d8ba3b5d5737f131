/* Files of kernels: the file system of a folder, their names, and files of dead processes. */
#ifndef ONESIDED_PLACE_H
#define ONESIDED_PLACE_H

#include <stddef.h>

/* The file system that a folder is on, and its device, as /proc/self/mountinfo has them, or
 * "unknown". */
void place_mounted(const char *folder, char *file_system, size_t file_system_bytes, char *device,
                   size_t device_bytes);

/* The name of this process's file in a folder. It has the host, the PID namespace and the number of
 * the process in this namespace. */
void place_name(const char *folder, char *path, size_t path_bytes);

/* Remove the files of processes of this host that have ended. */
void place_sweep(const char *folder);

#endif
