#ifndef SEARCH_PLAN_CUTS_H
#define SEARCH_PLAN_CUTS_H

#include "search/joint/joint_space.h"

/*
 * What a relaxation tells apart at the cuts of a joint space (Christofides, Mingozzi, Toth 1981, call it a
 * projection of states).  A cut lies before each op and behind the last.
 *
 * The views of a tensor are in groups: views that serve no use that is still to come which another one of less
 * room does not serve, too, are in the group of that one.  Groups only grow from cut to cut.  A code says where
 * a tensor is: 0 in HBM alone, 1 + 2 g in LX alone under a view of group g, 2 + 2 g in both.  Those that are
 * needed next are told apart by groups; further ones have one group for all views; of the rest nothing is
 * known (`anywhere`).
 */
struct arena;

enum {
	PLAN_CROSSING_MOST = 16,     /* tensors at a cut */
	PLAN_ENTRIES_MOST = 1 << 20, /* states that are told apart at a cut */
	PLAN_FOLLOWED_MOST = 6,      /* tensors of which bundles know the place */
};

enum { PLACE_IN_HBM, PLACE_IN_LX, PLACE_IN_BOTH, PLACE_COUNT };

struct plan_codes {
	int group_count, count;
	bool anywhere, has_place; /* bundles know the place */
	const uint16_t *group;    /* by view */
	const int64_t *bytes;     /* by group: the least in LX */
};

/* The tensors that are there at a cut and still needed: made or first read before it, read or written
 * out behind it. */
struct plan_cut {
	int count, tensors[PLAN_CROSSING_MOST]; /* ascending */
	struct plan_codes codes[PLAN_CROSSING_MOST];
	size_t unit[PLAN_CROSSING_MOST], size; /* of indices by codes */
	size_t place_unit[PLAN_CROSSING_MOST], place_size;
};

struct plan_cuts {
	const struct joint_space *space;
	int *first_use;      /* by tensor: the first cut before which an option can have used it */
	int *last_use;       /* by tensor: the last op of an option that uses it */
	struct plan_cut *at; /* op_count + 1 */
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
static inline int plan_code(const struct plan_codes *codes, bool in_hbm, int view)
{
	return view < 0 || !codes->group_count ? 0 : 1 + 2 * codes->group[view] + in_hbm;
}

static inline int plan_code_group(int code)
{
	return (code - 1) / 2; /* of what is in LX */
}

static inline int plan_code_place(const struct plan_codes *codes, int code)
{
	if (!codes->has_place || !code)
		return PLACE_IN_HBM;
	return code % 2 ? PLACE_IN_LX : PLACE_IN_BOTH;
}

#endif
