#ifndef SEARCH_LX_VIEWS_H
#define SEARCH_LX_VIEWS_H

#include "model/graph/plan_check.h"
#include "model/graph/planning.h"
#include "model/graph/view.h"
#include "model/graph/workload.h"

/*
 * Views: the slice of a tensor that each core needs.  An access under a mapping has a per-core view when every
 * divided loop that indexes the tensor walks one device dimension alone, from end to end, and cuts it into equal
 * parts of whole sticks; else a core does not touch a slice, and `why` says so.
 *
 * If the published code finds a view (by the loop's coefficient among the strides of the layout), and that view has
 * the bytes that a core touches, it is this one.  If two dimensions have one stride, the published code takes the
 * wrong one or stops at an assertion; here the view is right.
 */
struct arch;
struct arena;
struct mapping;

bool lx_view(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct mapping *mapping, int operand, struct arena *arena, struct view *out,
	const char **why);

/* Moves the view of the output of a divided reduction to its owners: the core of each sum whose part of the loop is
 * the first.  Nothing changes if no reduction is divided. */
void lx_leave_to_owners(const struct arch *arch, const struct op *op, const struct mapping *mapping,
	struct view *view);

/* One access of a tensor by an op. */
struct lx_use {
	int op, operand;
	bool write;
	bool opaque, broadcast; /* it uses the tensor in HBM */
	bool partial;           /* the op divides a reduction: cores hold parts of a sum */
	const char *why;        /* no view; NULL if there is one */
	int64_t cores;          /* of the op */
	struct view view;       /* cores: those of the op */
};

struct lx_uses {
	size_t count;
	const struct lx_use *at; /* in the order of ops, reads of an op before its write */
};

struct lx_uses lx_uses(const struct arch *arch, const struct workload *workload,
	const struct users *users, const struct mapping *mappings, int tensor, struct arena *arena);

/* The same device dimensions, cut alike, handed to cores alike; core counts aside. */
bool lx_same_slices(const struct view *a, const struct view *b);

/*
 * The published number of cores that share a tensor (get_ncores), -1 where its
 * users do not agree (core_div_mismatch).  It takes the largest user and so
 * takes for shared what one core alone has written; plans go by lx_residence.
 */
enum { LX_MISMATCH = -1 };
int64_t lx_core_count(const struct lx_uses *uses, int cores);

/*
 * The view under which a tensor can live in LX: its writer leaves every slice
 * whole on the cores that the view names, and every reader finds all it needs
 * on its own core.  `moved` says that the writer is a move, which can leave any
 * slice on any core: the readers then decide.  False, and *why, when there is
 * none.
 */
bool lx_residence(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, const struct lx_uses *uses, bool moved, struct arena *arena,
	struct view *out, const char **why);

/* "m/4 n/2 on 8 cores": how an op is divided, for messages. */
const char *lx_division(struct arena *arena, const struct arch *arch, const struct op *op,
	const struct mapping *mapping);

#endif
