#ifndef CAMPAIGN_PATH_H
#define CAMPAIGN_PATH_H

#include "spec/step.h"

/*
 * A place in the trees of specs, as users write it: `architecture.GLB.depth`.  The first word is a
 * key at the top of a file.  Each further word is the nearest thing below: a key of a map, a map
 * whose `name:` it is (`PE[0..11]` is named PE), or the number of an item of a list, from 0.
 */
struct arena;

enum { PATH_WORDS_MOST = 16, TRAIL_MOST = 2 * SPEC_DEPTH_MOST };

struct path {
	const char *text;
	struct span span;
	int count;
	const char *words[PATH_WORDS_MOST];
};

/* The steps from the root of a file to a node: entry `index[i]` of the map or list `at[i]`. */
struct trail {
	size_t file;
	int count;
	const struct node *at[TRAIL_MOST];
	size_t index[TRAIL_MOST];
};

/* False after complaining: an empty word, or too many. */
bool path_parse(struct arena *arena, const char *text, struct span span, struct diag *diag,
	struct path *out);

/* The node of a path in some files; false after complaining, with the nearest word, of a path that
 * hits nothing, or two things at the same depth. */
bool path_find(struct arena *arena, const struct path *path, const struct node *const *files,
	size_t count, struct diag *diag, struct trail *out);

/* The files that has the first word of a path at its top; `count` where none has. */
size_t path_file(const struct path *path, const struct node *const *files, size_t count);

/* The root of a file with another value at the end of the trail.  What leads there is copied, the
 * rest is shared; copies have weight 0. */
const struct node *trail_replace(
	struct arena *arena, const struct trail *trail, const struct node *value);

/* A root with a value at the path, word for word: maps that miss the keys get them. */
const struct node *path_create(struct arena *arena, const struct node *root,
	const struct path *path, const struct node *value);

#endif
