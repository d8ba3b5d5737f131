/* The lanes of an exchange: communicators or windows, and memory, for its messages. */
#ifndef ONESIDED_LANES_H
#define ONESIDED_LANES_H

#include "slots/exchange.h"

/* Collective: open what exchange->lanes need; false, with the reason in the record, on failure. */
bool lanes_open(struct exchange *exchange);
void lanes_close(struct exchange *exchange);

/* An epoch of this rank's own for its loads and stores in all lanes. */
void lanes_begin_own(struct exchange *exchange);
void lanes_end_own(struct exchange *exchange);

#endif
