/* Files of kernels: the file system of a folder, their names, and files of dead processes. */
#include "harness/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PREFIX_BYTES 128

/* A line: number, parent, major:minor, root, mount point, options, optional fields, "-", type,
 * source. The last line with the folder's device is the mount on top. */
static void read_line(const char *line, unsigned int major_, unsigned int minor_, char *file_system,
                      size_t file_system_bytes, char *device, size_t device_bytes)
{
    unsigned int found_major = 0, found_minor = 0;
    char type[64] = "", source[256] = "";
    const char *const rest = strstr(line, " - ");
    if (sscanf(line, "%*d %*d %u:%u", &found_major, &found_minor) == 2 && rest != NULL &&
        found_major == major_ && found_minor == minor_ &&
        sscanf(rest, " - %63s %255s", type, source) == 2) {
        snprintf(file_system, file_system_bytes, "%s", type);
        snprintf(device, device_bytes, "%s", source);
    }
}

void place_mounted(const char *folder, char *file_system, size_t file_system_bytes, char *device,
                   size_t device_bytes)
{
    struct stat found;
    char *line = NULL;
    size_t capacity = 0;
    snprintf(file_system, file_system_bytes, "unknown");
    snprintf(device, device_bytes, "unknown");
    FILE *const mounts = fopen("/proc/self/mountinfo", "re");
    if (mounts == NULL || stat(folder, &found) != 0) {
        found.st_dev = 0;
    }
    while (mounts != NULL && getline(&line, &capacity, mounts) > 0) {
        read_line(line, major(found.st_dev), minor(found.st_dev), file_system, file_system_bytes,
                  device, device_bytes);
    }
    free(line);
    if (mounts != NULL) {
        fclose(mounts);
    }
}

/* The beginning of the names of files of processes that this process can see. */
static void prefix(char *text)
{
    char host[65] = "";
    struct stat pids = {.st_ino = 0};
    gethostname(host, sizeof host - 1);
    stat("/proc/self/ns/pid", &pids);
    snprintf(text, PREFIX_BYTES, "onesided-%s-%llu-", host, (unsigned long long)pids.st_ino);
}

void place_name(const char *folder, char *path, size_t path_bytes)
{
    char begin[PREFIX_BYTES];
    prefix(begin);
    snprintf(path, path_bytes, "%s/%s%d", folder, begin, (int)getpid());
}

void place_sweep(const char *folder)
{
    char begin[PREFIX_BYTES];
    DIR *const files = opendir(folder);
    prefix(begin);
    for (const struct dirent *file; files != NULL && (file = readdir(files)) != NULL;) {
        if (strncmp(file->d_name, begin, strlen(begin)) == 0) {
            const pid_t process = (pid_t)atoi(file->d_name + strlen(begin));
            /* this process's number: an earlier process had it, too, and left the file */
            if (process == getpid() || (process > 0 && kill(process, 0) != 0 && errno == ESRCH)) {
                unlinkat(dirfd(files), file->d_name, 0);
            }
        }
    }
    if (files != NULL) {
        closedir(files);
    }
}
