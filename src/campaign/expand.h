#ifndef CAMPAIGN_EXPAND_H
#define CAMPAIGN_EXPAND_H

#include "campaign/canon.h"
#include "campaign/sweep.h"
#include "spec/expr.h"
#include "spec/reader.h"
#include "spec/value.h"

#include <stdint.h>

/*
 * Values of a parameter as a range: {from: 4, to: 32, step: 4}, and in equal ratios {from: 16KiB,
 * to: 256KiB, factor: 2} or {from: 1, to: 1000, count: 7}.  Both ends are in it where the steps
 * meet them.  With `count`, values between whole ends are rounded to whole numbers.
 */
enum { RANGE_MOST = 1000000 };

struct range_value {
	bool given;
	struct value value;
};

struct value_range {
	struct range_value from, to, step, factor; /* without `from` it is not a range */
	int64_t count;                             /* 0: not given */
};
extern const struct noun range_noun; /* of struct value_range */

/* The values of a range, read from a map, as scalars, which stand where the range does; NULL after
 * complaining. */
const struct node *const *range_values(
	const struct reader *map, const struct value_range *range, size_t *count);

/* A value as a spec writes it, and its reader takes it for the same: "12", "16384B", "1.5GHz";
 * NULL if its unit has no name. */
const char *value_text(struct arena *arena, struct value value);

/*
 * The points of a sweep.  A point is a set of trees, those of the specs with its values set; points
 * whose trees are equal are one task.
 *
 * Tasks are ranked for who looks at a campaign before it has ended: ends of ordered axes come
 * first, then middles, quarters and so on; among these what is estimated as cheap.  The estimate is
 * the number of points of the loops of a problem, of a network the sum over its layers; of another
 * input the number of nodes of its specs.
 */
struct sweep_point {
	const char *name;          /* of the named points, "small/tiny"; "" */
	const char *const *labels; /* by target; NULL: it has no value here */
	size_t file_count;
	const struct node *const *files;
	int level; /* 0: at the ends of ordered axes, 1: in the middle .. */
};

enum point_fate { POINT_WRONG, POINT_LEFT_OUT, POINT_THERE };

/* Point by point; remembers where paths lead, so it belongs to one thread. */
struct expander;
struct expander *expander_open(struct arena *arena, const struct sweep_spec *sweep);

/* The combinations of options, with those that are left out; 0 after complaining of too many. */
enum { POINTS_MOST = 1000000 };
uint64_t expand_combinations(const struct sweep_spec *sweep);

/* One of them, in the arena given. */
enum point_fate expander_point(struct expander *expander, uint64_t combination, struct arena *arena,
	struct diag *diag, struct sweep_point *out);

struct expanded_task {
	digest spec;
	int level;
	double estimate;
	size_t first; /* of its points */
};

struct sweep_expansion {
	size_t point_count;
	const uint64_t *combinations; /* of the points */
	const size_t *task_of;        /* the points' tasks */
	size_t task_count;
	const struct expanded_task *tasks; /* as they are ranked */
	digest fingerprint;                /* of all that is here, and of all labels */
};

/* `settings` says what else decides on results.  False after complaining. */
bool expand(struct arena *arena, const struct sweep_spec *sweep, const char *settings,
	struct sweep_expansion *out);

/*
 * `when:` of a sweep: comparisons of arithmetic, `pes * rows <= 1024`, or of words, `solver ==
 * random`, joined by `and`, `or` and `not`, in parentheses where wanted.  A list holds where all
 * of it does.  What names a parameter that has no value does not hold.
 */
struct arena;

/* The parameters of a point. */
struct setting_values {
	struct arena *arena;
	struct diag *diag;
	const struct node *map;      /* names to nodes */
	struct variables *variables; /* the same, and those of the specs */
	const char *const *absent;   /* parameters without a value; NULL ends them */
	/* The words that a parameter can be, NULL ends them; NULL if it is not a parameter. */
	const char *const *(*words)(void *context, const char *parameter);
	void *context;
};

/* True if a text names a parameter that has no value. */
bool condition_misses(const struct setting_values *values, const char *text);

/* False after complaining. */
bool condition_read(const struct setting_values *values, const struct node *node, bool *holds);

#endif
