#ifndef SUPPORT_LEAST_EDP_H
#define SUPPORT_LEAST_EDP_H

#include "model/machine/score.h"
#include "search/joint/joint_graph.h"

/*
 * The plan of least energy x latency, by weighted sums.  Every plan keeps wc L + we E >= V(wc, we), so all
 * plans are right of and above some lines; on a line the product is least at an end, so it is least at a
 * corner of these lines.  The corner of least product is cut off by a new line until that is no less than
 * the product of a plan.  (The least product of plans is at a corner of their convex hull, since the product
 * is quasi-concave; so this ends.)
 */
struct arena;
struct solver;

struct least_edp {
	const char *why; /* no plan exists; NULL */
	const struct plan *plan;
	struct score score;
	double bound; /* no plan of the space has less: pJ x cycles */
	int lines;
	bool proven;         /* each sum was */
	bool nests_unproven; /* the space may lack a better nest */
	size_t options;
};

/* The aim's weights are not read. */
struct least_edp least_edp(const struct joint_question *question, const struct solver *solver,
	uint64_t ticks, struct arena *arena);

#endif
