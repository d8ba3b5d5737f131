/* The header line: everything that is true of the launch. */
#include "harness/header.h"

#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/machine.h"
#include "harness/memory.h"
#include "harness/neighbour.h"
#include "harness/sharing.h"
#include "harness/software.h"
#include "harness/world.h"

#define LINE_SCHEMA "onesided/line/2"

extern char **environ;

/* Fold every run of white space, line ends too, into one blank. */
static void make_one_line(char *text)
{
    size_t length = 0;
    for (const char *rest = text; *rest != '\0'; rest++) {
        if (!isspace((unsigned char)*rest)) {
            text[length++] = *rest;
        } else if (length > 0 && text[length - 1] != ' ') {
            text[length++] = ' ';
        }
    }
    length -= length > 0 && text[length - 1] == ' ';
    text[length] = '\0';
}

static void write_value(struct json *json, const struct option_value *value)
{
    const struct option *option = value->option;
    const char *text = value->count == 0 ? NULL : value->texts[0];
    switch (option->kind) {
    case OPTION_FLAG:
        json_boolean(json, value->count > 0);
        break;
    case OPTION_INTEGER:
    case OPTION_NUMBER:
        if (text == NULL) {
            json_null(json);
        } else {
            json_number(json, strtod(text, NULL));
        }
        break;
    case OPTION_NUMBERS:
    case OPTION_CHOICE:
    case OPTION_TEXT:
        json_text(json, text);
        break;
    case OPTION_REPEATED:
        json_open(json, '[');
        for (size_t i = 0; i < value->count; i++) {
            json_text(json, value->texts[i]);
        }
        json_close(json, ']');
        break;
    }
}

static void write_parameters(struct json *json, const struct launch *launch)
{
    json_open(json, '{');
    json_key(json, "asked");
    json_open(json, '[');
    for (int i = 1; i < launch->argument_count; i++) {
        json_text(json, launch->arguments[i]);
    }
    json_close(json, ']');
    json_key(json, "resolved");
    json_open(json, '{');
    for (size_t i = 0; i < launch->options.count; i++) {
        json_key(json, launch->options.values[i].option->name);
        write_value(json, &launch->options.values[i]);
    }
    json_close(json, '}');
    json_close(json, '}');
}

/* Write the labels; return the launch model among them, "native" if there is none. */
static const char *write_labels(struct json *json, const struct options *options)
{
    const char *model = "native";
    const struct option_value *labels = options_list(options, "label");
    json_open(json, '{');
    for (size_t i = 0; i < labels->count; i++) {
        const char *value = strchr(labels->texts[i], '=');
        char *key = copy_text(labels->texts[i], (size_t)(value - labels->texts[i]));
        json_key_text(json, key, value + 1);
        model = strcmp(key, "launch_model") == 0 ? value + 1 : model;
        free(key);
    }
    json_close(json, '}');
    return model;
}

/* Write the resolved path of the file that a function came from. */
static void write_library_path(struct json *json, const char *function)
{
    /* Look it up by name: its address in the program could be an entry of the program itself. */
    void *symbol = dlsym(RTLD_DEFAULT, function);
    Dl_info found;
    char path[PATH_MAX];
    json_key(json, "library_path");
    if (symbol == NULL || dladdr(symbol, &found) == 0 || found.dli_fname == NULL) {
        json_null(json);
    } else {
        json_text(json, realpath(found.dli_fname, path) == NULL ? found.dli_fname : path);
    }
}

static void write_library(struct json *json)
{
    struct world_library library = world_library();
    make_one_line(library.version);
    json_open(json, '{');
    json_key_text(json, "library_version", library.version);
    json_key_text(json, "standard", library.standard);
    json_key_text(json, "standard_version", library.standard_version);
    json_key_text(json, "abi", library.abi[0] == '\0' ? NULL : library.abi);
    write_library_path(json, library.first_function);
    json_close(json, '}');
}

static void write_environment(struct json *json)
{
    // what libraries read (config/variables.yaml), except variables that tell a rank its place
    static const char *const prefixes[] = {
        "MPI",       "I_MPI_",       "OMPI_",        "PRTE_",  "PMIX_MCA", "UCX_",     "FI_",
        "HYDRA",     "ONESIDED_",    "LD_",          "OPAL_",  "ORTE_",    "OSHMEM_",  "SHMEM_",
        "SMA_",      "MV2_",         "MVAPICH_",     "MVP_",   "NEMESIS_", "PMIP_",    "ROMIO_",
        "CXI_",      "HCOLL_",       "HFI_",         "IBV_",   "IPATH_",   "KNEM_",    "MLX",
        "MXM_",      "OFI_",         "PSM",          "RDMAV_", "SHARP_",   "UC",       "XPMEM_",
        "GOMP_",     "HWLOC_",       "KMP_",         "OMP_",   "GLIBC_",   "JEMALLOC", "MALLOC_",
        "TCMALLOC_", "ASAN_OPTIONS", "UBSAN_OPTIONS"};
    json_open(json, '{');
    for (char **variable = environ; *variable != NULL; variable++) {
        const char *value = strchr(*variable, '=');
        for (size_t i = 0; value != NULL && i < sizeof prefixes / sizeof prefixes[0]; i++) {
            if (strncmp(*variable, prefixes[i], strlen(prefixes[i])) == 0) {
                char *name = copy_text(*variable, (size_t)(value - *variable));
                json_key_text(json, name, value + 1);
                free(name);
                break;
            }
        }
    }
    json_close(json, '}');
}

static void write_clock(struct json *json, const struct launch *launch)
{
    json_open(json, '{');
    json_key_text(json, "name", "CLOCK_MONOTONIC");
    json_key_number(json, "resolution_s", launch->clock.resolution_s);
    json_key_number(json, "overhead_s", launch->clock.overhead_s);
    json_key_boolean(json, "global", launch->clock_is_global);
    json_close(json, '}');
}

/* Collective. */
static void write_compute(struct json *json, const struct launch *launch)
{
    const double own = launch->compute.iterations_per_second;
    double *all = allocate((size_t)launch->ranks, sizeof own);
    world_gather(&own, all, sizeof own);
    json_open(json, '{');
    json_key(json, "iterations_per_second");
    json_open(json, '[');
    for (int rank = 0; rank < launch->ranks; rank++) {
        json_number(json, all[rank]);
    }
    json_close(json, ']');
    json_close(json, '}');
    free(all);
}

/* Collective. */
static void write_where(struct json *json, const struct launch *launch)
{
    json_key_integer(json, "ranks", launch->ranks);
    json_key(json, "processes");
    host_write_processes(json, &launch->host);
    json_key_integer(json, "machines", host_machines(&launch->host));
    json_key_integer(json, "cores", host_cores(&launch->host));
    json_key_integer(json, "cores_existing", host_existing_cores(&launch->host));
    json_key_number(json, "core_quota", host_quota(&launch->host));
    json_key_boolean(json, "oversubscribed", host_oversubscribed(&launch->host, NULL));
    json_key(json, "placement");
    json_open(json, '{');
    const char *asked = options_text(&launch->options, "placement");
    json_key_text(json, "asked", asked);
    json_key_text(json, "found", host_placement(&launch->host, asked));
    json_close(json, '}');
    json_key_integer(json, "threads_after_init", host_most_threads(&launch->host));
    const int readable = neighbour_may_read(&launch->host);
    json_key(json, "process_vm_readv");
    if (readable < 0) {
        json_null(json);
    } else {
        json_boolean(json, readable == 1);
    }
    sharing_write(json, &launch->host);
}

static void write_times(struct json *json, const struct launch *launch)
{
    const int tick_hz = machine_scheduler_tick_hz();
    json_key(json, "clock");
    write_clock(json, launch);
    json_key(json, "scheduler_tick_hz");
    if (tick_hz > 0) {
        json_integer(json, tick_hz);
    } else {
        json_null(json);
    }
    json_key(json, "compute");
    write_compute(json, launch);
}

void header_write(struct json *json, const struct launch *launch)
{
    char started_at[32];
    const time_t now = time(NULL);
    struct tm parts;
    strftime(started_at, sizeof started_at, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    json_open(json, '{');
    json_key_text(json, "type", "header");
    json_key_text(json, "schema", LINE_SCHEMA);
    json_key_text(json, "kernel", launch->kernel->name);
    json_key_text(json, "source_state", launch->kernel->source_state);
    json_key_text(json, "started_at", started_at);
    json_key(json, "parameters");
    write_parameters(json, launch);
    json_key(json, "labels");
    const char *launch_model = write_labels(json, &launch->options);
    json_key(json, "cells");
    json_open(json, '[');
    for (size_t i = 0; i < launch->grid.count; i++) {
        json_text(json, launch->grid.cells[i].id);
    }
    json_close(json, ']');
    json_key(json, "mpi");
    write_library(json);
    json_key(json, "thread_level");
    json_open(json, '{');
    json_key_text(json, "required", thread_level_name(launch->thread_required));
    json_key_text(json, "provided", thread_level_name(launch->thread_provided));
    json_close(json, '}');
    write_where(json, launch);
    if (launch->rank == 0) { /* only rank 0 writes the line */
        software_write_program(json);
    }
    software_write(json, launch->ranks);
    json_key(json, "environment");
    write_environment(json);
    write_times(json, launch);
    json_key_text(json, "launch_model", launch_model);
    json_close(json, '}');
}
