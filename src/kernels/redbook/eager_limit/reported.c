/* Limits that an MPI library itself reports (MPI_T). */
#include "redbook/eager_limit/reported.h"

#include <mpi.h>

#include "mpi/checked.h"

/* Control variables of the libraries, and the series that each becomes. */
static const struct {
    const char *variable, *series;
} known[] = {
    {"MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", "mpir_cvar_ch4_shm_posix_iqueue_cell_size"},
    {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD", "mpir_cvar_ch4_ofi_eager_threshold"},
    {"MPIR_CVAR_INTEL_SHM_EAGER_THRESHOLD", "mpir_cvar_intel_shm_eager_threshold"},
    {"btl_sm_eager_limit", "btl_sm_eager_limit"},
    {"btl_vader_eager_limit", "btl_vader_eager_limit"},
    {"btl_tcp_eager_limit", "btl_tcp_eager_limit"},
};

/* Read a variable that is one number; false if it is not, or cannot be read now. */
static bool read_number(int index, double *value)
{
    MPI_Datatype type;
    MPI_T_enum values;
    MPI_T_cvar_handle handle;
    int verbosity = 0, binding = 0, scope = 0, count = 0, size = 0;
    int name_length = 0, text_length = 0;
    union {
        int number;
        long long large;
    } found = {.large = 0};
    CHECKED(MPI_T_cvar_get_info(index, NULL, &name_length, &verbosity, &type, &values, NULL,
                                &text_length, &binding, &scope));
    if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS) {
        return false;
    }
    CHECKED(MPI_Type_size(type, &size));
    /* Open MPI no longer reads the variable of a transport that it has closed. */
    const bool is_number = count == 1 &&
                           (size == (int)sizeof found.number || size == (int)sizeof found.large) &&
                           MPI_T_cvar_read(handle, &found) == MPI_SUCCESS;
    if (is_number) {
        *value = size == (int)sizeof found.number ? found.number : (double)found.large;
    }
    CHECKED(MPI_T_cvar_handle_free(&handle));
    return is_number;
}

void reported_limits(struct record *record)
{
    int provided = 0, index = 0;
    double value = 0;
    CHECKED(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (MPI_T_cvar_get_index(known[i].variable, &index) == MPI_SUCCESS &&
            read_number(index, &value)) {
            series_add(record_series(record, known[i].series, "count", 1), value);
        }
    }
    CHECKED(MPI_T_finalize());
}
