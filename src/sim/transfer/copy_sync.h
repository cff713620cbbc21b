#ifndef SIM_COPY_SYNC_H
#define SIM_COPY_SYNC_H

#include "lower/transfer/copy_program.h"

/*
 * The flags and signals of a copy program while it runs, and who knows by them of whose instructions:
 * vector clocks (C. J. Fidge, Timestamps in message-passing systems that preserve the partial
 * ordering, 1988).  Each stream counts its own instructions; a flag hands on what the stream that set
 * it knew then, a signal what those knew without whose notices a wait for it cannot go on, in
 * whichever order they come.
 */
struct arena;
struct copy_sync;

/* `ordered`: also keeps who knows of what; else only when flags and signals are seen. */
struct copy_sync *copy_sync_open(
	const struct copy_program *program, bool ordered, struct arena *arena);

/* The next instruction of the stream begins. */
void copy_sync_step(struct copy_sync *sync, size_t stream);

/* A flag: instruction i of the stream sets it, to be seen from `at` on; when a wait for it can go
 * on, -1: it is not set; the wait goes on. */
void copy_flag_set(struct copy_sync *sync, int flag, size_t stream, size_t i, int64_t at);
int64_t copy_flag_seen(const struct copy_sync *sync, int flag);
void copy_flag_wait(struct copy_sync *sync, int flag, size_t stream);

/* Who set a flag last that nobody waited for; false: there is no such set. */
bool copy_flag_left(const struct copy_sync *sync, int flag, size_t *stream, size_t *i);

/* A signal: a notice lands at a time; the first time from `from` on at which a wait goes on, as far
 * as it is notified now, -1: none; the wait goes on, false: for other times of its notices it would
 * not for good. */
void copy_signal_notify(struct copy_sync *sync, int signal, size_t stream, int64_t lands);
int64_t copy_signal_passes(const struct copy_sync *sync, int signal, int64_t from);
bool copy_signal_await(struct copy_sync *sync, int signal, size_t stream);

/* When something was touched last: the stream, and which of its instructions; at 0: never. */
struct copy_touch {
	uint32_t stream, at;
};
struct copy_touch copy_sync_now(const struct copy_sync *sync, size_t stream);

/* True if that comes before what the stream now does. */
bool copy_sync_before(const struct copy_sync *sync, struct copy_touch touch, size_t stream);

#endif
