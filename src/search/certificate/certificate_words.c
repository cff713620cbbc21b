#include "search/certificate/certificate_words.h"

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

/* Words of one rank for X of each dimension, times what is spatial inside: X has all
 * temporal loops of level `top` and those inside, so indices are whole intervals if just the spatial
 * loops inside it are among them, too; or if there are no such temporal loops. */
static double words_of_rank(const struct site *site, int r, const double *touched, int top)
{
	const struct floor_cell *cell = site->cell;
	const int64_t *coefficient =
		cell->frame->search->shape->spaces[site->t].ranks[r].coefficient;
	uint32_t own = cell->frame->own[site->t][r], busy = 0;
	double several = 1, reach = 0; /* words 0 .. reach */
	bool whole = true;
	for (uint32_t left = own; left; left &= left - 1) {
		int d = __builtin_ctz(left);
		double within = inside(site, d), count = touched[d] * within;
		several += count - 1;
		whole &= top >= 0 &&
			 (cell->inside[top][d] == within || (touched[d] == 1 && site->at <= top));
		busy |= (uint32_t)(count > 1) << d;
	}
	while (whole && busy) {
		int least = __builtin_ctz(busy);
		for (uint32_t other = busy; other; other &= other - 1)
			if (coefficient[__builtin_ctz(other)] < coefficient[least])
				least = __builtin_ctz(other);
		whole = (double)coefficient[least] <= reach + 1;
		reach += (double)coefficient[least] * (touched[least] * inside(site, least) - 1);
		busy &= ~(1u << least);
	}
	return whole ? fmax(several, 1 + reach) : several;
}

static double distinct(const struct site *site, const double *touched, int top)
{
	double words = 1;
	for (int r = 0; r < site->cell->frame->search->shape->spaces[site->t].rank_count; r++)
		words *= words_of_rank(site, r, touched, top);
	return words;
}

/* The largest tile, with so many iterations inside. */
static double held(const struct site *site, const int64_t *left)
{
	const struct shape *shape = site->cell->frame->search->shape;
	const struct dataspace *space = &shape->spaces[site->t];
	double words = 1;
	for (int r = 0; r < space->rank_count; r++) {
		double box = 1;
		for (int d = 0; d < shape->dimension_count; d++)
			box += (double)space->ranks[r].coefficient[d] *
			       ((double)left[d] * inside(site, d) - 1);
		words *= box;
	}
	return words;
}

double words_entering(
	const struct floor_cell *cell, const struct floor_loops *loops, int j, int t, int at)
{
	struct site site = site_of(cell, t, at);
	const struct floor_loops *known = &loops[j];
	double words = known->times[t] * distinct(&site, known->touched[t], known->top[t]);
	if (cell->frame->plain[t])
		return together(&site, words);
	double tile = held(&site, known->left);
	for (int i = j; i + 1 < cell->frame->completions->count; i++) {
		double turns = loops[i].turns[t];
		if (turns < 1)
			continue;
		double all = distinct(&site, loops[i].turn[t], i + 1);
		words = fmax(words, turns * all - (turns - 1) * tile);
	}
	return together(&site, words);
}

double words_used(const struct floor_cell *cell, int t, int at)
{
	static const double once[SHAPE_DIMENSIONS_MOST] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	struct site site = site_of(cell, t, at);
	return together(&site, cell->steps * distinct(&site, once, -1));
}
