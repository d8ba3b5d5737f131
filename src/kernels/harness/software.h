/* What a launch uses besides its MPI: compiler, processors, and the libraries that MPIs use. */
#ifndef ONESIDED_SOFTWARE_H
#define ONESIDED_SOFTWARE_H

#include "harness/json.h"

/* Collective: write "build", "transport_libraries" (of rank 0) and "processors" (of all ranks). */
void software_write(struct json *json, int ranks);

/* Write "program_sha256" and "container": the binary that runs, and the image that a variable of
 * the container runtime names. */
void software_write_program(struct json *json);

#endif
