#ifndef SEARCH_PLAN_PASSES_H
#define SEARCH_PLAN_PASSES_H

#include "search/claim/plan_cuts.h"

/*
 * The steps of a joint space between states that plan_cuts.h tells apart, in units of 1 / scale of a value.
 *
 * A pass is all options with the same ops.  Options that ask the same of a state and lead to the same one are a
 * class; one that another is no worse than is left out.  An option costs its value and, for each tensor that no
 * step can have used in HBM before, its part of a full bundle of as many cores (plan_share).  A bundle costs
 * no less than these parts.
 *
 * Where a cut knows more of a tensor than the one before, the states behind a pass are told apart as before
 * it: pass_behind and pass_before lead from one to the other.
 */
struct arena;

struct pass_entry { /* what a code of a tensor before the pass adds to indices and to what LX has */
	size_t from, behind;
	int64_t bytes;
	uint32_t place, place_behind;
};

struct pass_entries {
	int count;
	struct pass_entry *at;
	const struct pass_entry **by_code; /* NULL: not this one */
};

struct pass_class {
	int64_t value, cost; /* cost: with the parts of bundles */
	int64_t room;        /* of LX, for what passes by */
	int cores, fresh;    /* tensors that are new to any bundle */
	bool ends_bundle;
	size_t behind;
	uint32_t place_behind;
	int asks[PLAN_CROSSING_MOST]; /* of the entries, by tensor of the first cut */
};

struct plan_pass {
	int first, end;
	size_t class_count;
	struct pass_class *classes;
	int behind[PLAN_CROSSING_MOST]; /* by tensor of the first cut: its number at the end; -1 */
	/* By tensor of the end: how many codes are told apart, and which of them, [code before * count + code
	 * at the end], a code before may be; NULL: the codes at the end. */
	int counts[PLAN_CROSSING_MOST];
	const bool *may_be[PLAN_CROSSING_MOST];
	size_t unit[PLAN_CROSSING_MOST], size;
	struct pass_entries
		*entries[PLAN_CROSSING_MOST]; /* by tensor of the first cut, by what is asked */
};

struct plan_edge { /* a step at a cut that changes one tensor's code */
	int from, to;
	int64_t cost;
	int cores, fresh;
};

struct plan_edges {
	size_t count;
	const struct plan_edge *at;
};

struct plan_passes {
	const struct joint_space *space;
	const struct plan_cuts *cuts;
	int64_t scale;
	const struct plan_pass *at;
	const size_t *first;                                  /* by op; op_count + 1 entries */
	const struct plan_edges (*edges)[PLAN_CROSSING_MOST]; /* by cut, then tensor */
};

/* NULL, and *why. */
const struct plan_passes *plan_passes_make(
	const struct plan_cuts *cuts, struct arena *arena, const char **why);

int64_t plan_share(const struct joint_space *space, int cores);

/* Of one tensor at a cut: evictions, relays, and drops of what is in HBM, too, and of what nobody needs any more. */
struct plan_edges plan_edges_make(const struct joint_space *space, int64_t scale, int cut,
	int tensor, const struct plan_codes *codes, bool *fits, struct arena *arena);

/* The least by states as they are told apart behind the pass, of values at its end; and back. */
const int64_t *pass_behind(const struct plan_passes *passes, const struct plan_pass *pass,
	const int64_t *end, struct arena *arena);
const int64_t *pass_end(const struct plan_passes *passes, const struct plan_pass *pass,
	const int64_t *behind, struct arena *arena);

/* All states from which an option of a class can be taken, and where it leads; of those only whose value in
 * `live` is no JOINT_NEVER. */
typedef void pass_visit(
	void *context, const struct pass_class *class, const struct pass_entry *state);
void pass_walk(const struct plan_passes *passes, const struct plan_pass *pass, pass_visit *visit,
	void *context);
void pass_walk_live(const struct plan_passes *passes, const struct plan_pass *pass,
	const int64_t *live, pass_visit *visit, void *context);

#endif
