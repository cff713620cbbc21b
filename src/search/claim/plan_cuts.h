#ifndef SEARCH_PLAN_CUTS_H
#define SEARCH_PLAN_CUTS_H

#include "search/joint/joint_space.h"

#include <stddef.h>

/*
 * What a relaxation tells apart at the cuts of a joint space (Christofides, Mingozzi, Toth 1981, call it a
 * projection of states).  A cut lies before each op and behind the last.
 *
 * A code says where a tensor is: 0 in HBM alone, 1 + 2 v in LX alone under view v, 2 + 2 v in both.  Of tensors that
 * cross few cuts all views are told apart, of others whether they are in LX (v is 0 then), of the rest nothing is
 * known: their code is 0.  A tensor has the same codes at all cuts.
 */
struct arena;

enum {
	PLAN_CROSSING_MOST = 16,     /* tensors at a cut */
	PLAN_ENTRIES_MOST = 1 << 20, /* states that are told apart at a cut */
};

enum plan_detail { DETAIL_NOTHING, DETAIL_PLACE, DETAIL_VIEWS };

/* The tensors that are there at a cut and still needed: made or first read before it, read or written
 * out behind it. */
struct plan_cut {
	int count, tensors[PLAN_CROSSING_MOST]; /* ascending */
	size_t unit[PLAN_CROSSING_MOST], size;  /* of indices by codes */
};

struct plan_cuts {
	const struct joint_space *space;
	int *first_use; /* by tensor: the first cut before which an option can have used it */
	int *last_use;  /* by tensor: the last op of an option that uses it */
	enum plan_detail *detail; /* by tensor */
	struct plan_cut *at;      /* op_count + 1 */
};

/* With at most `entries` states at a cut.  NULL, and *why: more tensors cross a cut than can be told apart. */
const struct plan_cuts *plan_cuts_make(
	const struct joint_space *space, size_t entries, struct arena *arena, const char **why);

static inline int plan_cut_find(const struct plan_cut *cut, int tensor)
{
	for (int k = 0; k < cut->count; k++)
		if (cut->tensors[k] == tensor)
			return k;
	return -1;
}

/* View -1: it is not in LX. */
static inline int plan_code(const struct plan_cuts *cuts, int tensor, bool in_hbm, int view)
{
	if (view < 0 || cuts->detail[tensor] == DETAIL_NOTHING)
		return 0;
	return 1 + 2 * (cuts->detail[tensor] == DETAIL_VIEWS ? view : 0) + in_hbm;
}

/* How many codes a tensor has. */
static inline int plan_code_count(const struct plan_cuts *cuts, int tensor)
{
	return 1 + plan_code(cuts, tensor, true, cuts->space->tensors[tensor].view_count - 1);
}

#endif
