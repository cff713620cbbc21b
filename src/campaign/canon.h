#ifndef CAMPAIGN_CANON_H
#define CAMPAIGN_CANON_H

#include "spec/node.h"

#include <stdint.h>

/*
 * Equality of trees, however and wherever they are written: digests, texts on one line, and trees that differ in sizes
 * of storages alone.  Two trees of equal tags, keys in the same order, and scalars are equal.  A digest is FNV-1a with
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

#endif
