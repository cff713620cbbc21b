#ifndef CAMPAIGN_SWEEP_H
#define CAMPAIGN_SWEEP_H

#include "base/array.h"
#include "spec/node.h"
#include "spec/reader.h"

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

/*
 * A `sweep:`, read: what varies, and how.
 *
 *	sweep:
 *	  name: sizes
 *	  specs: [../arch/gemmini.yaml]          # for all points; relative to this file
 *	  points:                                # an axis of named points
 *	    small: {pes: 4}
 *	    large: {pes: 16, search.seed: 2}
 *	  vary:                                  # each of them an axis; axes are crossed
 *	    problem: {layers: ../workloads/resnet50.yaml}
 *	    size: {from: 64, to: 256, factor: 2}
 *	    specs: [a.yaml, [b.yaml, c.yaml]]    # files of a point
 *	    search.solver.map: {values: [local, random], when: pes > 4}
 *	  zip: {m: [1, 2], n: [3, 4]}            # an axis; a list of such maps: several
 *	  set: {architecture.row.meshY: pes}     # derived by arithmetic
 *	  when: pes * size <= 2048               # points that do not are left out
 *
 * A key with dots, or of the top of a file, is a path; any other is a parameter, which
 * `set:` and `when:` use.  The last axis varies fastest.
 */
enum target_role { TARGET_PARAMETER, TARGET_PATH, TARGET_FILES };

/* Something that has a value in each point: a column of what is exported. */
struct sweep_target {
	enum target_role role;
	struct path path; /* its text is the column's name */
	bool used;        /* a parameter: in `set:` or `when:` */
};

struct sweep_value {
	size_t target;
	const char *label;
	const struct node *node; /* NULL: files */
	size_t file_count;
	const struct node *const *files;
};

struct sweep_option {
	const char *name; /* of a named point; NULL */
	size_t count;
	const struct sweep_value *values;
};

struct sweep_axis {
	size_t count;
	const struct sweep_option *options;
	const struct node *when; /* NULL: always; else in other points its targets have no value */
	bool ordered;            /* numbers, which have ends and a middle */
};

struct sweep_rule {
	size_t target;
	const struct node *value; /* arithmetic, or in quotes, a list or a map: as it is */
};

struct sweep_spec {
	struct arena *arena;
	struct diag *diag;
	const char *name;
	const struct node *map;
	size_t file_count; /* of all points: those of the command line and of `specs:` */
	const struct node *const *files;
	size_t target_count;
	struct sweep_target *targets;
	size_t axis_count;
	const struct sweep_axis *axes;
	size_t rule_count;
	const struct sweep_rule *rules;
	const struct node *when;     /* NULL: all points */
	struct variables *variables; /* of the specs; NULL */
};

/* The one `sweep:` of some files, each the root of a spec; NULL after complaining. */
extern const struct noun sweep_noun;
const struct sweep_spec *sweep_read(
	struct arena *arena, const struct node *const *files, size_t count, struct diag *diag);

#endif
