/* What the files of the kernel `round_trips` share. */
#ifndef ONESIDED_ROUND_TRIPS_EXPERIMENT_H
#define ONESIDED_ROUND_TRIPS_EXPERIMENT_H

#include <stdbool.h>

#include "harness/launch.h"
#include "mpi/helper.h"
#include "slots/bursts.h"
#include "wire/shared/message.h"

/* The number of quickest accesses that have to take about the same time. */
#define ALIKE 3

/* What the target does during an access. */
struct target_state {
    const char *name;
    bool computes;                    /* for a set time; otherwise the target waits in MPI_Recv */
    bool probes;                      /* the target calls MPI during its compute */
    const struct helper_kind *helper; /* a thread of the target that is in MPI during the compute */
    bool has_ghost; /* accesses go to a ghost process: another rank, which waits in MPI */
};
extern const struct target_state target_states[5];

struct experiment {
    struct slots slots;
    const struct synchronisation *synchronisation;
    const struct target_state *state;
    struct epoch epoch;
    struct transfer transfer; /* of the first slot; only at the origin */
    bool is_target, is_origin;
    long long accesses;    /* number of accesses to this window so far */
    double least_s[ALIKE]; /* their least times, without the first access */
    double message_s;      /* the least time of their messages */
    double until_s;        /* no more accesses after this moment */
    struct messages messages;
    struct series *message, *access, *after, *begin, *issue, *wait, *complete, *first;
};

/* At the target: compute, if its state says so; return the moment at which the compute ends. */
double stay(struct experiment *experiment);

/* At the origin and the target, after an access: send that moment from the target to the origin. */
double tell_end(const struct experiment *experiment, double end_s);

/* At the origin, before a message and an access: rest, each time for a different length. Without
 * rests, another program on this core could make all accesses longer by the same time. In an
 * active epoch there is no rest, because the target may need the origin inside MPI. */
void rest(const struct experiment *experiment);

/* At the origin: keep the times of an access and of its message if they are among the least. */
void settle(struct experiment *experiment, double seconds, double message_s);

/* All ranks: tell whether the cell needs no further access. The least times of accesses must be
 * alike, and the least time of a message as in earlier cells; or the cell has had its time. */
bool is_settled(const struct experiment *experiment);

/* Collective: if the cell cannot run here, write the reason to the record and return false. */
bool is_supported(const struct experiment *experiment);

#endif
