#ifndef CAMPAIGN_CANON_H
#define CAMPAIGN_CANON_H

#include "campaign/store.h"
#include "spec/step.h"

#include <stdint.h>

/*
 * What a tree says, apart from how and where it is written: its digest, and its text on one line.
 * Two trees of equal tags, keys in the same order, and scalars are equal.  A digest is FNV-1a with
 * 128 bits.
 */
struct arena;

__extension__ typedef unsigned __int128 digest;

enum { DIGEST_TEXT = 33 };

digest digest_text(digest seed, const char *text);
void digest_print(digest value, char out[DIGEST_TEXT]);

/* Digests of nodes that stay for as long as it does, each computed once; others, of weight 0, are
 * looked through. */
struct canon;
struct canon *canon_open(struct arena *arena);
digest canon_digest(struct canon *canon, const struct node *node);

/* The same for files together: top-level keys in any order, but for equal ones; `sweep` says nothing. */
digest canon_digest_files(struct canon *canon, const struct node *const *files, size_t count);

/* "[latency, energy]"; a scalar as it is. */
const char *canon_text(struct arena *arena, const struct node *node);

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
