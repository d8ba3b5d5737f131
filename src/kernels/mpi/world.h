/* The communicator of a launch: a duplicate of MPI_COMM_WORLD that returns errors. */
#ifndef ONESIDED_MPI_WORLD_H
#define ONESIDED_MPI_WORLD_H

#include <mpi.h>

#include "harness/world.h"

extern MPI_Comm world_communicator;

#endif
