#ifndef CAMPAIGN_CRASH_H
#define CAMPAIGN_CRASH_H

#include "campaign/store.h"

/*
 * Points that take the program with them.  Where a signal such as SIGSEGV or SIGABRT ends a thread that explores a
 * point, its task and the signal are written into DIR/campaign.crashed, and the program begins anew with the arguments
 * that it had.  Who joins the campaign next keeps TASK_CRASHED as the result of such tasks: each of them is tried
 * once.  SIGKILL is nobody's fault that could be known: what it takes away is open again.
 */

/* From here on, for the campaign of a folder; `without` is an argument that the program does not get again. */
void crash_guard(const char *folder, const char *without);

/* The thread at hand explores a task, or none. */
void crash_begin(const char *spec);
void crash_end(void);

/* Keeps what was written by those before, as results of this version; how many. */
const char *crash_collect(struct store *store, const char *version, size_t *count);

#endif
