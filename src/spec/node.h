#ifndef SPEC_NODE_H
#define SPEC_NODE_H

#include "base/diag.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * A YAML file as an immutable tree in an arena.  Aliases and `<<` are resolved
 * while it is built (explicit keys win, earlier merges win), tags are kept,
 * keys are scalars and unique.  `<<<` merges as Accelergy's reader does: a map into
 * a map of the same key, a list behind a list; what has the tag !nomerge stays as
 * it is.  Scalars stay text: what `12` or `yes` means is decided by the typed read
 * that asks for it (reader.h).
 *
 * Files in libconfig syntax, as Timeloop's older ones, give the same tree (foreign.h).
 *
 * Under the top-level keys that Timeloop reads, a key given twice gets a note and
 * the first one counts, as in Timeloop; elsewhere it is an error.
 *
 * Refused with a clear error, and quickly: files over SPEC_BYTES_MOST, nesting over SPEC_DEPTH_MOST, trees over
 * SPEC_NODES_MOST nodes after aliases are followed, an alias inside its own anchor, duplicate keys, a second document,
 * an empty file, invalid UTF-8, a folder, Jinja templates but {{include_text('FILE')}}.  Written plans may have
 * PLAN_BYTES_MOST: a graph of one MiB has plans of several.
 */
enum {
	SPEC_BYTES_MOST = 1 << 20,
	PLAN_BYTES_MOST = 1 << 24,
	SPEC_DEPTH_MOST = 64,
	SPEC_NODES_MOST = 1000000,
};

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node;

struct node_entry {
	const char *key;
	struct span key_span;
	const struct node *value;
	bool merged; /* brought by `<<` or `<<<` */
};

struct node {
	enum node_kind kind;
	const char *tag;   /* "!Component"; NULL when none is written */
	const char *text;  /* scalar; "" when empty */
	bool quoted;       /* scalar written in quotes or as a block */
	struct span span;  /* where it is written; of an alias: where its anchor is */
	struct span alias; /* where the `*name` stands; source NULL: no alias */
	size_t count;
	const struct node *const *items;  /* list */
	const struct node_entry *entries; /* map, in the order written */
	const struct names *index;        /* keys of a large map by number of entry, or NULL */
	int height;                       /* levels of nodes below it, aliases followed */
	size_t weight;                    /* nodes in it, itself too, aliases followed */
};

struct arena;

/* NULL after complaining to `diag`.  "-" reads stdin.  Timeloop's printed loop nests read, too
 * (spec/foreign.h). */
const struct node *node_read_file(struct arena *arena, const char *path, struct diag *diag);

/* The same for a file that was read, of any length. */
const struct node *node_read_source(
	struct arena *arena, const struct source *source, struct diag *diag);

/* The same, where {{include_text('FILE')}} looks for files in `folders` (NULL ends them), too. */
const struct node *node_read_file_within(
	struct arena *arena, const char *path, const char *const *folders, struct diag *diag);

/* The same for text in memory; `name` stands in messages. */
const struct node *node_read_text(
	struct arena *arena, const char *name, const char *text, size_t length, struct diag *diag);

/* A scalar that stands in no YAML: the text of an option, a cell of a table. */
const struct node *node_scalar(struct arena *arena, const char *text, struct span span);

/* Returns the span in the file of bytes `from` up to `to` of a scalar's text; the whole
 * scalar's span if escapes or folded lines hide it. */
struct span node_part(const struct node *scalar, size_t from, size_t to);

/* Returns the kind of a node, for messages: "a map", "a list", "a word", "empty". */
const char *node_kind_name(const struct node *node);

/* True if a value says nothing: missing, null or a map without keys. */
bool node_is_empty(const struct node *node);

/* The number of a map's entry; -1 when the key is missing or `map` is not a map. */
int node_index(const struct node *map, const char *key);

/* Item i of a list; a scalar alone counts as a list of one. */
const struct node *node_item(const struct node *node, size_t i);

/* The value of a key of a map; NULL when it is missing or `map` is not a map. */
const struct node *node_find(const struct node *map, const char *key);

/*
 * Adds a word as a YAML scalar on one line: bare where every reader takes it for
 * the same word, in double quotes otherwise.  The word is UTF-8.
 */
void quote_yaml(struct text *text, const char *word);

#endif
