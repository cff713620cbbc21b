#ifndef SPEC_UNREAD_H
#define SPEC_UNREAD_H

#include "base/array.h"
#include "base/diag.h"
#include "base/names.h"

#include <stdbool.h>

/*
 * Keys of the specs that nothing reads, where Timeloop ignores what it does not
 * know.  They are collected over all files of a run and told in one note.
 */
struct arena;
struct node_entry;

struct unread_key {
	const char *key, *what; /* 'bank' in "architecture" */
	struct span span;
};

struct unread {
	struct array(struct unread_key) keys;
	struct names names;  /* of the keys: each is kept where it is met first */
	bool for_components; /* some say something of a component, which Accelergy may read */
};

void unread_add(struct arena *arena, struct unread *unread, const struct node_entry *entry,
	const char *what);

/* One note at the first of the keys; nothing where there are none. */
void unread_note(struct arena *arena, const struct unread *unread, struct diag *diag);

#endif
