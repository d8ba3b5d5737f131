/* A rank that tries again and again, and lets other ranks go first. */
#ifndef ONESIDED_BACK_OFF_H
#define ONESIDED_BACK_OFF_H

/* Between two tries: call MPI, which makes progress. `calls` is the number of calls, at first 1; it
 * doubles with each try, so that a rank waits at most twice as long as it has to. From `most` calls
 * on, it stays as it is, and the core is offered to another rank. */
void back_off(int *calls, int most);

#endif
