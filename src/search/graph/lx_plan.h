#ifndef GRAPH_LX_PLAN_H
#define GRAPH_LX_PLAN_H

#include "search/drive/solver.h"
#include "search/graph/lx_passes.h"

/*
 * LX planning: a workload and its division in, a plan out.
 *
 *	clones of inputs -> buffers -> placement solver -> checker -> plan -> bundles
 *
 * The solver's layout is checked by packing_check; a layout that fails is a bug of the solver and ends the program.
 * Staging tiles of broadcasts are among its buffers; if it leaves one out, tensors are packed again below them.  A
 * solver that keeps parts of lives gets uses with the buffers, and the plan gets evictions and reloads.  With
 * planning->lx_planning off, all tensors stay in HBM. The streaming tiles are chosen afterwards (stream.h).
 */
struct lx_layout {
	struct lx_graph graph; /* as the passes left it */
	struct lx_buffers buffers;
	const struct placement *placement; /* by buffer */
	const char *impossible; /* why staging tiles have no room: nothing is placed; NULL */
	const char *silent;     /* why the solver has no answer: nothing is placed; NULL */
	uint64_t ticks;
};

/* Up to the checker.  Once planning->stopper has said yes, what is not done by then is left out. */
struct lx_layout lx_layout(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, const struct planning *planning,
	const struct solver *solver, struct arena *arena);

/* Device bytes of all op outputs that got no address; inserted clones do not count. */
int64_t lx_unplaced_bytes(const struct lx_layout *layout);

struct lx_plan_result {
	struct plan *plan; /* NULL: a mapping cannot be carried out */
	const char *why;
	uint64_t ticks;
	size_t reason_count;
	const struct lx_reason *reasons; /* one for each tensor in HBM, by tensor */
};

struct lx_plan_result lx_plan(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, const struct planning *planning,
	const struct solver *solver, struct arena *arena);

#endif
