#include "search/certificate/certificate_floor.h"

#include <math.h>

/* In Timeloop's counting windows are handed on between neighbours at will and averages are
 * rounded: spatial loops over a window count nothing then, and one word of each instance may be
 * lost. */
struct site {
	const struct floor_cell *cell;
	int t, at;
	bool windows;
	uint32_t free; /* dimensions whose spatial loops count nothing */
	double all, instances;
};

static struct site site_of(const struct floor_cell *cell, int t, int at)
{
	const struct floor_frame *frame = cell->frame;
	const struct shape *shape = frame->search->shape;
	struct site site = {.cell = cell, .t = t, .at = at};
	site.windows = frame->timeloop && !frame->plain[t];
	site.free = site.windows ? frame->paired[t] : 0;
	site.all = site.instances = at < 0 ? cell->multipliers : cell->instances[at];
	for (uint32_t left = site.free; left; left &= left - 1) {
		int d = __builtin_ctz(left);
		double spatial = (double)(shape->dimensions[d].extent / cell->temporal[d]);
		site.instances /= spatial / (at < 0 ? 1 : cell->inside[at][d]);
	}
	return site;
}

static double inside(const struct site *site, int d)
{
	bool counts = site->at >= 0 && !(site->free >> d & 1);
	return counts ? site->cell->inside[site->at][d] : 1;
}

static double together(const struct site *site, double words)
{
	words *= site->instances;
	return site->windows ? fmax(words - site->all, 0) : words;
}

/* Words of one rank for X of each dimension, times what is spatial inside. */
static double words_of_rank(const struct site *site, int r, const double *touched)
{
	double words = 1;
	for (uint32_t left = site->cell->frame->own[site->t][r]; left; left &= left - 1) {
		int d = __builtin_ctz(left);
		words += touched[d] * inside(site, d) - 1;
	}
	return words;
}

static double distinct(const struct site *site, const double *touched)
{
	double words = 1;
	for (int r = 0; r < site->cell->frame->search->shape->spaces[site->t].rank_count; r++)
		words *= words_of_rank(site, r, touched);
	return words;
}

double words_entering(
	const struct floor_cell *cell, const struct floor_loops *loops, int j, int t, int at)
{
	struct site site = site_of(cell, t, at);
	const struct floor_loops *known = &loops[j];
	return together(&site, known->times[t] * distinct(&site, known->touched[t]));
}

double words_renewed(const struct floor_cell *cell, const struct floor_loops *loops, int t, int at)
{
	struct site site = site_of(cell, t, at);
	double tile[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < cell->frame->search->shape->dimension_count; d++)
		tile[d] = (double)loops->left[d];
	return together(&site, loops->outside * distinct(&site, tile));
}

double words_split(const struct floor_cell *cell, int t, int at, int child)
{
	const struct floor_frame *frame = cell->frame;
	const struct nest_search *search = frame->search;
	int inner = child < 0 ? -1 : frame->completions->level[child];
	double times = 1;
	for (int i = inner + 1; i <= frame->completions->level[at] && !frame->timeloop; i++) {
		if (!(search->hierarchy->levels[i].no_spatial_reuse >> t & 1))
			continue;
		for (int d = 0; d < search->shape->dimension_count; d++)
			if (!(search->shape->spaces[t].relevant >> d & 1))
				times *= cell->spatial[i][d];
	}
	return times;
}

double words_used(const struct floor_cell *cell, int t, int at)
{
	static const double once[SHAPE_DIMENSIONS_MOST] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	struct site site = site_of(cell, t, at);
	return together(&site, cell->steps * distinct(&site, once));
}
