#ifndef CAMPAIGN_SWEEP_H
#define CAMPAIGN_SWEEP_H

#include "base/array.h"
#include "campaign/path.h"
#include "spec/reader.h"

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
 * A key with dots, or of the top of a file, is a path (path.h); any other is a parameter, which
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
const struct sweep_spec *sweep_read(
	struct arena *arena, const struct node *const *files, size_t count, struct diag *diag);

/* --- for sweep_read.c: one value of the map `vary:` and the like */

struct sweep_file {
	const char *path;
	const struct node *root; /* NULL: it was complained about */
};

struct sweep_reading {
	struct reading reading;
	struct sweep_spec *sweep;
	struct array(struct sweep_target) targets;
	struct array(struct sweep_file) files; /* that were read, each once */
};

/* The values of a target: a list, a range, {values, when}, {layers}.  False after complaining. */
bool sweep_values(struct sweep_reading *reading, size_t target, const struct node *node,
	struct sweep_axis *out);

/* One value as it stands in a list. */
bool sweep_value(struct sweep_reading *reading, size_t target, const struct node *node,
	struct sweep_value *out);

/* A spec beside the sweep's file; NULL after complaining. */
const struct node *sweep_file(struct sweep_reading *reading, const struct node *name);

#endif
