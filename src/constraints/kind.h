#ifndef CONSTRAINTS_KIND_H
#define CONSTRAINTS_KIND_H

#include "model/graph/plan.h"
#include "model/nest/constraint.h"
#include "spec/reader.h"

/*
 * A kind of constraint is defined in a file of this folder as
 *
 *	const struct constraint_kind constraint_<name> = {...};
 *
 * and the build finds it; kinds that differ in a word or two share a file.  `read` takes the value of the key, `narrow`
 * enters it into a domain, `check` compares a finished mapping with it, `explain` states it in a sentence.
 */
struct constraint_context {
	const struct reading *reading;
	const struct arch *arch;
	const struct shape *shape;
	bool timeloop;             /* must_iterate_over_dataspaces as Timeloop does it */
	const struct node *beside; /* the map that the key stands in */

	/* of graphs; shape is NULL then, unless a problem is one */
	const struct workload *workload;
	const struct node *target; /* the op or tensor; NULL: all */
};

/* Constraints that contradict each other or the machine. */
struct clash {
	int self; /* the constraint complained about */
	int by;   /* the other one; -1: the machine or an extent */
	int more_count;
	const int *more; /* all others that take part, when there are more than two */
	struct span span;
	const char *text; /* "'GLB' (temporal) cannot have M>=5 and M<=3" */
};

struct clashes {
	struct arena *arena;
	size_t count, capacity;
	struct clash *at;
};

/* Returns the added clash, whose other members the caller may set. */
struct clash *clash_add(struct clashes *clashes, int self, int by, struct span span,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

struct constraint_kind {
	const char *key;     /* in the spec: "factors" */
	const char *summary; /* one line for `lxplore list constraints` */
	unsigned parts;      /* bit p: may stand in part p */
	int round;           /* narrowed after all of lower rounds: 1 maximizes, 2 looks at that */

	/* Fills the payload; false after complaining. */
	bool (*read)(const struct constraint_context *context, const struct node *value,
		struct constraint *out);

	/* Narrows; `self` is the constraint's index.  What contradicts the domain is added to
	 * `clashes` and leaves the domain as it was.  NULL: narrows nothing. */
	void (*narrow)(struct domain *domain, const struct constraint *constraint, int self,
		struct clashes *clashes);

	/* Sets flags of levels.  NULL: sets none. */
	void (*flag)(struct hierarchy *hierarchy, const struct constraint *constraint);

	/* Why a mapping breaks it, or NULL.  Does not rely on `narrow`. */
	const char *(*check)(const struct domain *domain, const struct constraint *constraint,
		const struct mapping *mapping, struct arena *arena);

	/* The same for a plan of a graph; NULL: not for graphs. */
	const char *(*check_plan)(
		const struct constraint *constraint, const struct plan *plan, struct arena *arena);

	/* The requirement in a sentence; kinds of graphs need no domain. */
	const char *(*explain)(const struct domain *domain, const struct constraint *constraint,
		struct arena *arena);
};

extern const struct constraint_kind *const constraint_kinds[]; /* by key; NULL ends them */
const struct constraint_kind *constraint_kind_find(const char *key);

/* The place that a constraint applies to, for messages: "'GLB' (temporal)", "'PE' (spatial)", "'GLB'" for what it
 * keeps, "!Nothing", "the machine". */
const char *place_text(
	struct arena *arena, const struct domain *domain, const struct constraint *constraint);

/* The bounds of loop d in its row, of a domain and of a mapping. */
struct factor_domain *place_factor(
	struct domain *domain, const struct constraint *constraint, int d);
int64_t place_bound(const struct mapping *mapping, const struct constraint *constraint, int d);

/* "fans out", "computes": what a row without words is for. */
const char *place_use(const struct level *level);

/* "M, N": the dimensions or dataspaces of a mask. */
const char *place_dimensions(struct arena *arena, const struct shape *shape, uint32_t mask);
const char *place_spaces(struct arena *arena, const struct shape *shape, uint32_t mask);

/*
 * Adds a clash for every dimension whose loops, in all rows together, cannot make up its extent, and for every row
 * whose spatial loops do not fit its fan-out.  Exact with perfect factors: every set of divisors is tried.  A necessary
 * condition for dimensions that may be imperfect.
 */
void product_check(const struct domain *domain, struct clashes *clashes);

#endif
