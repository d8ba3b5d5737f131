/* What the files of the kernel `round_trips` share. */
#ifndef ONESIDED_ROUND_TRIPS_EXPERIMENT_H
#define ONESIDED_ROUND_TRIPS_EXPERIMENT_H

#include <stdbool.h>

#include "harness/launch.h"
#include "mpi/helper.h"
#include "slots/bursts.h"
#include "wire/shared/message.h"

/* So many accesses have to take as long as the least one. */
#define ALIKE 3

/* What the target does during an access. */
struct target_state {
    const char *name;
    bool computes;                    /* for a set time, else it waits in MPI_Recv */
    bool probes;                      /* it comes to MPI meanwhile */
    const struct helper_kind *helper; /* a thread of the target that is in MPI meanwhile */
    bool has_ghost; /* accesses go to a further rank, which waits in MPI beside the target */
};
extern const struct target_state target_states[5];

struct experiment {
    struct slots slots;
    const struct synchronisation *synchronisation;
    const struct target_state *state;
    struct epoch epoch;
    struct transfer transfer; /* at the origin, of the first slot */
    bool is_target, is_origin;
    long long accesses;    /* of this window so far */
    double least_s[ALIKE]; /* of them, but for the first */
    double message_s;      /* the least of their messages */
    double until_s;        /* no more accesses after this moment */
    struct messages messages;
    struct series *message, *access, *after, *begin, *issue, *wait, *complete, *first;
};

/* At the target: what it does during an access; the moment at which it ends. */
double stay(struct experiment *experiment);

/* At the origin and the target, after an access: the target tells the origin that moment. */
double tell_end(const struct experiment *experiment, double end_s);

/* The origin, before a message and an access: each time it rests for another while. Without rests
 * another program on its core could make all accesses longer by the same time. */
void rest(const struct experiment *experiment);

/* At the origin: look at the time of an access, and at that of its message. */
void settle(struct experiment *experiment, double seconds, double message_s);

/* All ranks: does the origin know times that no other program has made longer? The least accesses
 * took as long then, and a message as long as in any cell before. Or has the cell had its time? */
bool is_settled(const struct experiment *experiment);

/* Collective: leave the reason in the record and return false if the cell cannot run here. */
bool is_supported(const struct experiment *experiment);

#endif
