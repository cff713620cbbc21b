#ifndef SIM_COPY_SIGNAL_H
#define SIM_COPY_SIGNAL_H

#include "lower/transfer/copy_program.h"

/*
 * Signals of ranks while a program runs: how often each was notified by when.  They are looked at
 * in the order of time: nobody asks about a time after which something still comes.
 */
struct arena;
struct copy_signals;

struct copy_signals *copy_signals_open(const struct copy_program *program, struct arena *arena);
void copy_signals_notify(struct copy_signals *signals, int signal, int64_t lands);

/* The first time from `from` on at which a wait goes on, as far as it is notified now; -1: none. */
int64_t copy_signals_passes(const struct copy_signals *signals, int signal, int64_t from);

/* Times that a stream notifies a signal over the whole program; of all streams together. */
int64_t copy_signals_by(const struct copy_signals *signals, int signal, size_t stream);
int64_t copy_signals_all(const struct copy_signals *signals, int signal);

#endif
