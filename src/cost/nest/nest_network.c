#include "cost/nest/nest_network.h"

#include <math.h>

/* One dataspace between a level and its children. */
struct passage {
	double entering; /* words into the network, from the level or, added up, to it */
	double children; /* words at the children */
	double sums;     /* words that return, each to one child */
	double links;    /* words between neighbours */
	double fanout;
};

static const struct nest_count *find_child(const struct nest_model *model,
	const struct nest_counts *counts, int i, int t, double *fanout)
{
	*fanout = model->prices[i].fanout_x * model->prices[i].fanout_y;
	for (int c = i - 1; c >= 0; c--) {
		if (counts->at[c][t].capacity)
			return &counts->at[c][t];
		*fanout *= model->prices[c].fanout_x * model->prices[c].fanout_y;
	}
	return NULL;
}

static struct passage find_passage(
	const struct nest_model *model, const struct nest_counts *counts, int i, int t)
{
	const struct nest_count *count = &counts->at[i][t];
	struct passage passage = {0};
	const struct nest_count *child = find_child(model, counts, i, t, &passage.fanout);
	if (model->shape->spaces[t].written) {
		passage.entering = (double)count->updates;
		passage.sums =
			child ? (double)child->fills : (double)count->reads - (double)count->drains;
		/* What came into the children, with a sum or without, leaves them. */
		passage.children = child ? (double)child->fills + (double)child->updates -
						   (double)child->reads + (double)child->drains
					 : (double)counts->computes;
		return passage;
	}
	passage.links = child ? (double)child->links : 0;
	passage.entering = (double)count->reads - (double)count->links;
	passage.children = child ? (double)child->fills - passage.links : (double)counts->computes;
	return passage;
}

static double hops_of(double fanout, double multicast)
{
	double across = sqrt(fanout), most = fmin(fmax(multicast, 1), fanout);
	return across * sqrt(most) + 0.5 * (across - sqrt(most)) - across / sqrt(most) + 0.5;
}

double nest_network_pj(const struct nest_model *model, enum counting counting,
	const struct nest_counts *counts, int i)
{
	const struct nest_level *level = &model->hierarchy->levels[i];
	double pj = 0;
	if (level->hop_pj == 0 && level->router_pj == 0)
		return 0;
	if (counting == COUNTING_TIMELOOP)
		return counts->hops[i] * level->hop_pj + counts->routers[i] * level->router_pj;
	for (int t = 0; t < model->shape->space_count; t++) {
		if (!counts->at[i][t].capacity)
			continue;
		struct passage passage = find_passage(model, counts, i, t);
		double each = hops_of(passage.fanout, 1), hops = passage.sums * each;
		double routers = passage.sums * (1 + each);
		if (passage.entering > 0) {
			each = hops_of(passage.fanout, passage.children / passage.entering);
			hops += passage.entering * each;
			routers += passage.entering * (1 + each);
		}
		pj += hops * level->hop_pj + routers * level->router_pj +
		      passage.links * (level->hop_pj + 2 * level->router_pj);
	}
	return pj;
}
