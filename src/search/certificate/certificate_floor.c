#include "search/certificate/certificate_check.h"

#include "cost/nest/nest_home.h"

#include <math.h>

static void floor_frame_describe(struct floor_frame *frame, int t)
{
	const struct shape *shape = frame->search->shape;
	const struct dataspace *space = &shape->spaces[t];
	uint32_t seen = 0;
	frame->plain[t] = true;
	for (int r = 0; r < space->rank_count; r++) {
		uint32_t rank = 0;
		for (int d = 0; d < shape->dimension_count; d++) {
			rank |= (uint32_t)(space->ranks[r].coefficient[d] != 0) << d;
			frame->plain[t] &= space->ranks[r].coefficient[d] <= 1;
		}
		bool several = rank & (rank - 1);
		frame->plain[t] &= !several && !(rank & seen);
		*(several ? &frame->paired[t] : &frame->alone[t]) |= rank;
		frame->own[t][r] = rank & ~seen;
		seen |= rank;
	}
}

struct floor_frame floor_frame_make(
	const struct nest_search *search, const struct completions *completions)
{
	struct floor_frame frame = {.search = search,
		.completions = completions,
		.timeloop = search->counting == COUNTING_TIMELOOP,
		.flagged = hierarchy_flagged(search->hierarchy),
		.update_flags = search->counting == COUNTING_TIMELOOP
					? hierarchy_update_flags(search->hierarchy)
					: 0};
	for (int t = 0; t < search->shape->space_count; t++)
		floor_frame_describe(&frame, t);
	return frame;
}

static void find_spatial(const struct mapping *mapping, struct floor_cell *out)
{
	const struct nest_search *search = out->frame->search;
	const struct completions *completions = out->frame->completions;
	const struct hierarchy *hierarchy = search->hierarchy;
	int count = search->shape->dimension_count, j = 0;
	double inside[SHAPE_DIMENSIONS_MOST], within[ARCH_LEVELS_MOST], fan = 1;
	for (int d = 0; d < count; d++)
		inside[d] = 1;
	for (int i = 0; i < hierarchy->level_count; i++) {
		for (int d = 0; d < count; d++) {
			double bound = mapping->rows[hierarchy->levels[i].block_row].spatial[d];
			out->spatial[i][d] = bound;
			inside[d] *= bound;
			fan *= bound;
		}
		within[i] = fan;
		if (j < completions->count && completions->level[j] == i) {
			for (int d = 0; d < count; d++)
				out->inside[j][d] = inside[d];
			j++;
		}
	}
	out->multipliers = fan;
	out->keep_nothing = !out->frame->timeloop || within[0] == 1;
	out->steps = 1;
	for (int d = 0; d < count; d++) {
		out->temporal[d] = search->shape->dimensions[d].extent / (int64_t)inside[d];
		out->steps *= (double)out->temporal[d];
	}
	for (int i = 0; i < hierarchy->level_count; i++)
		out->used[i] = fan / within[i];
}

static void find_prices(struct floor_cell *out)
{
	const struct completions *completions = out->frame->completions;
	for (int j = 0; j < completions->count; j++) {
		int i = completions->level[j];
		const struct nest_level *level = &out->frame->search->hierarchy->levels[i];
		double clusters = fmax(
			1, (double)(level->mesh_x * level->mesh_y / level->store.cluster_size));
		out->instances[j] = out->used[i];
		for (int a = 0; a < NEST_ACTIONS; a++)
			out->pj[j][a] = level->energies.pj[a] * fmin(clusters / out->used[i], 1) /
					(double)level->store.block_words;
	}
}

/* Lists the levels that keep a dataspace, outermost first. The home is one whatever its flags. */
static void find_kept(const struct mapping *mapping, int t, struct floor_cell *out)
{
	const struct floor_frame *frame = out->frame;
	out->kept_count[t] = 0;
	out->renews[t] = out->passes[t] = out->holds[t] = 0;
	for (int j = frame->completions->count - 1; j >= 0; j--) {
		const struct nest_level *level =
			&frame->search->hierarchy->levels[frame->completions->level[j]];
		if (!(mapping->residency[t] >> level->row & 1))
			continue;
		bool flags_count = !frame->timeloop && out->holds[t];
		bool passes = flags_count && level->no_coalesce >> t & 1;
		out->holds[t] |= 1u << j;
		out->passes[t] |= (uint32_t)passes << j;
		if (passes)
			continue;
		out->renews[t] |= (uint32_t)(flags_count && level->no_temporal_reuse >> t & 1) << j;
		out->kept[t][out->kept_count[t]++] = j;
	}
}

void floor_cell_make(
	const struct floor_frame *frame, const struct mapping *mapping, struct floor_cell *out)
{
	const struct nest_search *search = frame->search;
	out->frame = frame;
	out->homeless = out->apart = false;
	find_spatial(mapping, out);
	find_prices(out);
	for (int t = 0; t < search->shape->space_count; t++) {
		find_kept(mapping, t, out);
		out->homeless |= out->kept_count[t] == 0;
		if (frame->timeloop || !out->kept_count[t])
			continue;
		int home = frame->completions->level[out->kept[t][0]];
		out->apart |=
			nest_home_parts(search->hierarchy, search->shape, mapping, t, home) > 1;
	}
}

bool floor_fits(const struct floor_cell *cell, int j, const int64_t *left)
{
	const struct nest_search *search = cell->frame->search;
	const struct nest_level *level =
		&search->hierarchy->levels[cell->frame->completions->level[j]];
	double words = 0;
	for (int t = 0; t < search->shape->space_count; t++) {
		const struct dataspace *space = &search->shape->spaces[t];
		bool kept = cell->holds[t] >> j & 1;
		bool home = kept && cell->kept[t][0] == j && !cell->frame->timeloop;
		const int64_t *has = home && cell->frame->plain[t] ? cell->temporal : left;
		double tile = kept;
		for (int r = 0; r < space->rank_count; r++) {
			double box = 1;
			for (int d = 0; d < search->shape->dimension_count; d++)
				box += (double)space->ranks[r].coefficient[d] *
				       ((double)has[d] * cell->inside[j][d] - 1);
			tile *= box;
		}
		words += tile;
	}
	return !level->size || words <= (double)level->size;
}

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

static double site_together(const struct site *site, double words)
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

static double site_distinct(const struct site *site, const double *touched)
{
	double words = 1;
	for (int r = 0; r < site->cell->frame->search->shape->spaces[site->t].rank_count; r++)
		words *= words_of_rank(site, r, touched);
	return words;
}

/* Words of dataspace t into all instances of storage level `at` together, the loops outside level j
 * known; at = -1: the multipliers, without what they could keep. */
static double words_entering(
	const struct floor_cell *cell, const struct floor_loops *loops, int j, int t, int at)
{
	struct site site = site_of(cell, t, at);
	const struct floor_loops *known = &loops[j];
	return site_together(&site, known->times[t] * site_distinct(&site, known->touched[t]));
}

/* The same if all tiles of the level whose outer loops are `loops` enter again at every step of these. */
static double words_renewed(
	const struct floor_cell *cell, const struct floor_loops *loops, int t, int at)
{
	struct site site = site_of(cell, t, at);
	double tile[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < cell->frame->search->shape->dimension_count; d++)
		tile[d] = (double)loops->left[d];
	return site_together(&site, loops->outside * site_distinct(&site, tile));
}

/* Times that a word leaves level `at` for the next one further in that keeps it, -1: the multipliers, since no_reuse
 * (spatial) keeps those apart that have the same.  Exact counting; 1 without the flag. */
static double words_split(const struct floor_cell *cell, int t, int at, int child)
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

/* Words that all steps together need from level `at` when no level inside keeps the dataspace. */
static double words_used(const struct floor_cell *cell, int t, int at)
{
	static const double once[SHAPE_DIMENSIONS_MOST] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	struct site site = site_of(cell, t, at);
	return site_together(&site, cell->steps * site_distinct(&site, once));
}

/* Spatial loops of the array over a dimension along one axis; blocks with both axes are left out. */
static double bound_along(const struct floor_cell *cell, bool y, int d)
{
	const struct hierarchy *hierarchy = cell->frame->search->hierarchy;
	double product = 1;
	for (int i = hierarchy->array_inner; i < hierarchy->array_end; i++) {
		const struct nest_level *block = &hierarchy->levels[i];
		if ((y ? block->fanout.x : block->fanout.y) == 1)
			product *= cell->spatial[i][d];
	}
	return product;
}

static double floor_cell_along(const struct floor_cell *cell, bool y, uint32_t dimensions)
{
	double product = 1;
	for (int d = 0; d < cell->frame->search->shape->dimension_count; d++)
		product *= dimensions >> d & 1 ? bound_along(cell, y, d) : 1;
	return product;
}

/* Different tiles of a dataspace there at least.  Indices of a rank that adds dimensions make sums,
 * of which there are no fewer than from 0 on one dimension after the other. */
static double tiles_along(const struct floor_cell *cell, bool y, int t)
{
	double tiles = 1;
	for (int r = 0; r < cell->frame->search->shape->spaces[t].rank_count; r++) {
		double steps = 0;
		for (int d = 0; d < cell->frame->search->shape->dimension_count; d++)
			if (cell->frame->own[t][r] >> d & 1)
				steps += bound_along(cell, y, d) - 1;
		tiles *= 1 + steps;
	}
	return tiles;
}

/* A loop that some dataspace does not have makes PEs hand on. */
static double skew_of(const struct floor_cell *cell)
{
	const struct shape *shape = cell->frame->search->shape;
	double skew = 0;
	for (int y = 0; y < 2; y++) {
		bool hands_on = false;
		for (int t = 0; t < shape->space_count; t++)
			hands_on |= floor_cell_along(cell, y, ~shape->spaces[t].relevant) > 1;
		skew += hands_on ? floor_cell_along(cell, y, UINT32_MAX) - 1 : 0;
	}
	return skew;
}

/* Words that a PE loads.  Those of a plain dataspace are each loaded once, or this many tiles of at
 * least one iteration; so are windows. */
static double loads_of(const struct floor_cell *cell, int t, int at, double moves)
{
	const struct shape *shape = cell->frame->search->shape;
	double tiles = 1, words = 1;
	if (!cell->frame->plain[t])
		return moves;
	for (int d = 0; d < shape->dimension_count; d++)
		if (shape->spaces[t].relevant >> d & 1) {
			tiles *= (double)cell->temporal[d];
			words *= cell->inside[at][d];
		}
	return fmax(moves, tiles) * words;
}

/*
 * Cycles that a systolic array adds at least to every mapping of a cell: its passes, loads and
 * rate as far as they follow from blocks with one axis.  loops and j as for floor_score.
 */
static double floor_array(const struct floor_cell *cell, const struct floor_loops *loops, int j)
{
	const struct floor_frame *frame = cell->frame;
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	double passes = 1, load = 0, rate = 1;
	if (!hierarchy->array_end || frame->flagged)
		return 0;
	for (int t = 0; t < frame->search->shape->space_count; t++) {
		const struct dataspace *space = &frame->search->shape->spaces[t];
		int k = 0;
		if (!cell->kept_count[t])
			continue;
		while (k < cell->kept_count[t] &&
			frame->completions->level[cell->kept[t][k]] >= hierarchy->array_inner)
			k++;
		if (k == cell->kept_count[t]) {
			rate = fmax(rate,
				fmin(tiles_along(cell, false, t), tiles_along(cell, true, t)));
			continue;
		}
		if (k == 0)
			continue; /* it never comes from outside */
		int at = cell->kept[t][k];
		double moves = loops[at > j ? at : j].times[t];
		passes = fmax(passes, moves);
		if (!space->written)
			load += loads_of(cell, t, at, moves) * tiles_along(cell, true, t);
	}
	if (hierarchy->array_overlaps) /* loads hide behind steps, but only behind these */
		return skew_of(cell) + fmax(cell->steps * rate, load) - cell->steps;
	return passes * skew_of(cell) + load + cell->steps * (rate - 1);
}

/* Used words leave no gaps in the tiles of level j. */
static bool is_solid(const struct floor_cell *cell, int t, int j, const int64_t *left)
{
	const struct shape *shape = cell->frame->search->shape;
	uint32_t seen = 0; /* a loop over two ranks runs along a diagonal */
	for (int r = 0; r < shape->spaces[t].rank_count; r++) {
		const int64_t *coefficient = shape->spaces[t].ranks[r].coefficient;
		double reach = 0; /* words 0 .. reach are used */
		uint32_t rest = 0;
		for (int d = 0; d < shape->dimension_count; d++)
			if (coefficient[d] && (double)left[d] * cell->inside[j][d] > 1)
				rest |= 1u << d;
		if (rest & seen)
			return false;
		seen |= rest;
		while (rest) {
			int least = __builtin_ctz(rest);
			for (uint32_t other = rest; other; other &= other - 1)
				if (coefficient[__builtin_ctz(other)] < coefficient[least])
					least = __builtin_ctz(other);
			if ((double)coefficient[least] > reach + 1)
				return false;
			reach += (double)coefficient[least] *
				 ((double)left[least] * cell->inside[j][least] - 1);
			rest &= ~(1u << least);
		}
	}
	return true;
}

static void floor_frame_set_bounds(
	const struct floor_frame *frame, struct mapping *mapping, int j, const int64_t *left)
{
	const struct space *space = frame->search->space;
	for (int i = 0; i <= j; i++) {
		struct mapping_row *row =
			&mapping->rows[space->levels[frame->completions->tiling[i]].row];
		for (int d = 0; d < frame->search->shape->dimension_count; d++)
			row->temporal[d] = i ? 1 : (uint32_t)left[d];
	}
}

void floor_count(const struct floor_cell *cell, struct mapping *mapping, int j, const int64_t *left,
	struct floor_known *known)
{
	const struct floor_frame *frame = cell->frame;
	const struct nest_search *search = frame->search;
	const struct completions *completions = frame->completions;
	struct nest_counts counts;
	struct nest_score score;
	floor_frame_set_bounds(frame, mapping, j, left);
	enum nest_verdict verdict = nest_evaluate(search->model, mapping, &counts, &score);
	if (!nest_verdict_counts(verdict))
		return;
	int row = search->hierarchy->levels[completions->level[j]].row;
	for (int t = 0; t < search->shape->space_count; t++) {
		if (frame->plain[t] || search->shape->spaces[t].written ||
			!(mapping->residency[t] >> row & 1))
			continue;
		known->from[t] = j;
		known->solid[t] = is_solid(cell, t, j, left);
		for (int i = j; i < completions->count; i++) {
			const struct nest_count *count = &counts.at[completions->level[i]][t];
			known->reads[t][i] = (double)count->reads;
			known->fills[t][i] = (double)count->fills;
		}
	}
}

/* Sums of doubles err by less; a cycle more or less is not counted. */
#define CYCLES_MARGIN (1 - 1e-9)
#define SUMS_MARGIN (1 - 1e-13)

struct floor_loops floor_loops_none(const struct floor_cell *cell)
{
	const struct shape *shape = cell->frame->search->shape;
	struct floor_loops loops = {.outside = 1};
	for (int d = 0; d < shape->dimension_count; d++)
		loops.left[d] = cell->temporal[d];
	for (int t = 0; t < shape->space_count; t++) {
		loops.times[t] = 1;
		for (int d = 0; d < shape->dimension_count; d++)
			loops.touched[t][d] = (double)cell->temporal[d];
	}
	return loops;
}

/* The loops of one level inside the innermost one that moves tiles to a disjoint place. */
static uint32_t loops_inside(
	uint32_t busy, uint32_t alone, const uint8_t *order, int known, int dimension_count)
{
	uint32_t inside = 0;
	for (int n = 0; n < dimension_count && known > 0; n++) {
		uint32_t bit = 1u << order[n] & busy;
		if (bit & alone)
			return inside;
		inside |= bit;
		known -= bit != 0;
	}
	return inside | (busy & ~alone);
}

/* The innermost loop of a level that moves tiles to a disjoint place, if any does. */
static void find_times(const struct floor_frame *frame, int t, const uint32_t *bounds,
	const uint8_t *order, int known, struct floor_loops *out, double outside)
{
	int count = frame->search->shape->dimension_count;
	uint32_t busy = 0;
	for (int d = 0; d < count; d++)
		busy |= (uint32_t)(bounds[d] > 1) << d;
	if (!(busy & frame->alone[t]))
		return; /* it is further out, or there is none */
	uint32_t inside = loops_inside(busy, frame->alone[t], order, known, count);
	out->times[t] = outside;
	for (int d = 0; d < count; d++) {
		bool in = inside >> d & 1;
		out->touched[t][d] = (double)(out->left[d] * (in ? bounds[d] : 1));
		out->times[t] *= in ? 1 : bounds[d];
	}
}

void floor_loops_add(const struct floor_cell *cell, const struct floor_loops *outer,
	const uint32_t *bounds, const int64_t *left, const uint8_t *order, int known,
	struct floor_loops *out)
{
	const struct floor_frame *frame = cell->frame;
	int busy = 0;
	*out = *outer;
	for (int d = 0; d < frame->search->shape->dimension_count; d++) {
		busy += bounds[d] > 1;
		out->outside *= bounds[d];
		out->left[d] = left[d];
	}
	out->loose = known < busy;
	for (int t = 0; t < frame->search->shape->space_count; t++)
		find_times(frame, t, bounds, order, known, out, outer->outside);
}

/* Least counts, and energies of one dataspace. */
struct least {
	double reads[ARCH_LEVELS_MOST], fills[ARCH_LEVELS_MOST], updates[ARCH_LEVELS_MOST];
	double served[ARCH_LEVELS_MOST]; /* of the reads, those for a level inside */
};

static double floor_cell_entering(const struct floor_cell *cell, const struct floor_loops *loops,
	int j, int t, int at, int child)
{
	int known = child > j ? child : j;
	double words = words_entering(cell, loops, known, t, at);
	if (child >= 0 && cell->renews[t] >> child & 1)
		words = fmax(words, words_renewed(cell, &loops[known], t, at));
	return words;
}

/* Words that pass level `at`, each coming and going. */
static double floor_cell_passing(
	const struct floor_cell *cell, const struct floor_loops *loops, int j, int t, int at)
{
	int child = -1; /* the next one further in */
	for (int k = 0; k < cell->kept_count[t] && child < 0; k++)
		if (cell->kept[t][k] < at)
			child = cell->kept[t][k];
	return child < 0 ? words_used(cell, t, at)
			 : floor_cell_entering(cell, loops, j, t, at, child);
}

/* Words that the innermost level that keeps a dataspace serves to multipliers. */
static double to_multipliers(
	const struct floor_cell *cell, const struct floor_loops *loops, int j, int t, int last)
{
	double words = floor_cell_entering(cell, loops, j, t, last, -1);
	return cell->keep_nothing ? fmax(words, words_used(cell, t, last)) : words;
}

static void floor_cell_read_only(const struct floor_cell *cell, const struct floor_loops *loops,
	int j, int t, const struct floor_known *known, struct least *least)
{
	int count = cell->kept_count[t], from = known->from[t];
	if (cell->passes[t] || cell->renews[t])
		from = -1; /* levels inside ask for the words that pass, or keep those that enter again */
	for (int k = 0; k < count; k++) {
		int at = cell->kept[t][k], child = k + 1 < count ? cell->kept[t][k + 1] : -1;
		double reads = child < 0 ? to_multipliers(cell, loops, j, t, at)
					 : floor_cell_entering(cell, loops, j, t, at, child);
		reads *= words_split(cell, t, at, child);
		least->served[at] = child < 0 ? 0 : reads;
		double fills = k ? floor_cell_entering(cell, loops, j, t, at, at) : 0;
		if (from >= 0) {
			/* A word that enters level `from` is used before it leaves, so it passes
			 * every level inside.  Timeloop's counts of windows need not. */
			bool passes = known->solid[t] && !cell->frame->timeloop;
			double least_inside = passes ? known->fills[t][from] : 0;
			reads = fmax(reads, at > from ? known->reads[t][at] : least_inside);
			fills = fmax(fills, at >= from ? known->fills[t][at] : least_inside);
		}
		least->reads[at] = reads;
		least->fills[at] = k ? fills : 0;
	}
	for (int at = 0; at < cell->frame->completions->count; at++)
		if (cell->passes[t] >> at & 1)
			least->reads[at] = least->fills[at] =
				floor_cell_passing(cell, loops, j, t, at);
}

/*
 * Partial sums.  If the ranks of a dataspace are plain, e(k) words enter level k of those that keep it,
 * 0 its home, and e of the multipliers are the multiply-adds.  G(k) instances of level k, or
 * multipliers, drain the same words, so level k - 1 is updated e(k) / G(k) times.
 *
 * Timeloop's counting: all but one visit of each word that an instance has are preceded by a read,
 * and fill every child.
 *
 * `exact`: what is read for a child fills one child, and everything that fills or updates a level is
 * read there once; at home F words stay.  Words that enter a level without having been
 * filled come without a sum, and leave with one.  So level k sends r(k) = u(0) + .. + u(k) - e(1) - .. -
 * e(k) - F sums back to level k + 1, with u(k) = e(k + 1) / G(k + 1) updates; it reads u(k) + r(k -
 * 1), the home r(0).  Each e(k) lies between what the loops known so far ask for and what arrives from
 * inside.
 *
 * no_reuse (spatial) has groups come one after the other: level k - 1 is updated words_split(k) times as
 * often, and each time but the first reads the sum that is there; the first takes the sum that returns, so the r(k)
 * stay.  Where tiles leave at every step (temporal no_reuse), those further in may stay and have the sums,
 * so that zeros drain, which no level reads: nothing is known of the r(k).
 */
struct least_sums {
	int count;                                                    /* levels */
	double low[ARCH_LEVELS_MOST + 1], high[ARCH_LEVELS_MOST + 1]; /* e(1) .. e(count) */
	double group[ARCH_LEVELS_MOST + 1];                           /* G(1) .. G(count) */
	double updated[ARCH_LEVELS_MOST + 1];                         /* u(k - 1) / e(k) */
	double fresh[ARCH_LEVELS_MOST]; /* words of an instance, all instances together */
};

static struct least_sums find_sums(
	const struct floor_cell *cell, const struct floor_loops *loops, int j, int t)
{
	const struct shape *shape = cell->frame->search->shape;
	uint32_t relevant = shape->spaces[t].relevant;
	struct least_sums sums = {.count = cell->kept_count[t]};
	double macs = cell->steps * cell->multipliers;
	for (int k = 1; k <= sums.count; k++) {
		int outer = cell->kept[t][k - 1], at = k < sums.count ? cell->kept[t][k] : -1;
		sums.group[k] = 1;
		for (int d = 0; d < shape->dimension_count; d++)
			if (!(relevant >> d & 1))
				sums.group[k] *=
					cell->inside[outer][d] / (at < 0 ? 1 : cell->inside[at][d]);
		sums.updated[k] = words_split(cell, t, outer, at) / sums.group[k];
		sums.low[k] = at < 0 && cell->keep_nothing
				      ? macs
				      : floor_cell_entering(cell, loops, j, t, at, at);
	}
	sums.high[sums.count] = macs;
	for (int k = sums.count - 1; k >= 1; k--) {
		int at = cell->kept[t][k];
		bool known = at > j || (at == j && !loops[j].loose);
		sums.high[k] = known ? sums.low[k] : sums.high[k + 1] / sums.group[k + 1];
	}
	for (int k = 0; k < sums.count; k++) {
		int at = cell->kept[t][k];
		sums.fresh[k] = cell->instances[at];
		for (int d = 0; d < shape->dimension_count; d++)
			if (relevant >> d & 1)
				sums.fresh[k] *= (double)cell->temporal[d] * cell->inside[at][d];
	}
	return sums;
}

/* r(k) at least. */
static void sums_back(const struct least_sums *sums, double *back)
{
	double shift = -sums->fresh[0];
	for (int k = 0; k < sums->count; k++) {
		if (k)
			shift -= sums->high[k] * (1 - 1 / sums->group[k]);
		back[k] = fmax(sums->low[k + 1] / sums->group[k + 1] + shift, 0);
	}
}

static void floor_cell_written(const struct floor_cell *cell, const struct floor_loops *loops,
	int j, int t, struct least *least)
{
	struct least_sums sums = find_sums(cell, loops, j, t);
	double back[ARCH_LEVELS_MOST];
	sums_back(&sums, back);
	for (int k = 0; k < sums.count; k++) {
		int at = cell->kept[t][k];
		double updates = sums.low[k + 1] * sums.updated[k + 1], fills = 0, reads;
		if (cell->frame->timeloop) {
			reads = fmax(updates - sums.fresh[k], 0);
			fills = k ? fmax(sums.low[k] - sums.fresh[k], 0) : 0;
		} else {
			fills = k && !cell->renews[t] ? back[k - 1] : 0;
			reads = k ? fills + updates : fmax(updates - sums.fresh[0], 0);
		}
		least->reads[at] = reads;
		least->fills[at] = fills;
		least->updates[at] = updates;
	}
	for (int at = 0; at < cell->frame->completions->count; at++)
		if (cell->passes[t] >> at & 1)
			least->updates[at] = least->reads[at] =
				floor_cell_passing(cell, loops, j, t, at);
}

static double energy_of(const struct floor_cell *cell, const struct least *least)
{
	double pj = 0;
	for (int j = 0; j < cell->frame->completions->count; j++)
		pj += least->reads[j] * cell->pj[j][NEST_READ] +
		      least->fills[j] * cell->pj[j][NEST_FILL] +
		      least->updates[j] * cell->pj[j][NEST_UPDATE];
	return pj;
}

/* All dataspaces together. */
struct ports {
	double reads[ARCH_LEVELS_MOST], writes[ARCH_LEVELS_MOST]; /* scaled */
	double words[ARCH_LEVELS_MOST];
	double rows[ARCH_LEVELS_MOST];
};

static double floor_cell_add_space(const struct floor_cell *cell, const struct floor_loops *loops,
	int j, int t, const struct floor_known *known, struct ports *ports)
{
	const struct floor_frame *frame = cell->frame;
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	bool sums = frame->search->shape->spaces[t].written;
	struct least least = {.reads = {0}};
	if (frame->plain[t] ? sums && frame->update_flags >> t & 1
			    : sums || (frame->flagged && frame->timeloop))
		return 0;
	if (sums)
		floor_cell_written(cell, loops, j, t, &least);
	else
		floor_cell_read_only(cell, loops, j, t, known, &least);
	for (int i = 0; i < frame->completions->count; i++) {
		const struct nest_level *level = &hierarchy->levels[frame->completions->level[i]];
		/* At a home Timeloop counts nothing then. */
		if (frame->timeloop && level->no_coalesce >> t & 1)
			least.reads[i] = least.fills[i] = least.updates[i] = 0;
		double scale = level->rate_scale[t];
		double writes = least.fills[i] + least.updates[i];
		ports->reads[i] += least.reads[i] * scale;
		ports->writes[i] += writes * scale;
		ports->words[i] += least.reads[i] + writes;
		int64_t row = hierarchy_row_most(level, frame->search->shape, t);
		if (row && !frame->timeloop)
			ports->rows[i] += least.served[i] / (double)row;
	}
	return energy_of(cell, &least);
}

static double cycles_at(double words, double instances, struct ratio rate)
{
	return rate.num ? words * (double)rate.den / (instances * (double)rate.num) : 0;
}

static double floor_cell_leakage(const struct floor_cell *cell, double cycles)
{
	const struct hierarchy *hierarchy = cell->frame->search->hierarchy;
	double pj = 0;
	for (int i = 0; i < hierarchy->level_count; i++)
		pj += hierarchy->levels[i].energies.leak_pj * cycles *
		      cell->used[hierarchy->levels[i].gated_at];
	return pj;
}

static int64_t certificate_floor_whole(double value)
{
	return value < 0x1p62 ? (int64_t)value : INT64_MAX / 2;
}

struct score floor_score(const struct floor_cell *cell, const struct floor_loops *loops, int j,
	const struct floor_known *known)
{
	const struct nest_search *search = cell->frame->search;
	const struct completions *completions = cell->frame->completions;
	const struct hierarchy *hierarchy = search->hierarchy;
	struct ports ports = {.reads = {0}};
	struct score score = {.feasible = true};
	double pj = cell->steps * cell->multipliers * hierarchy->compute_pj, waiting = 0;
	for (int t = 0; t < search->shape->space_count; t++)
		pj += floor_cell_add_space(cell, loops, j, t, known, &ports);
	for (int i = 0; i < completions->count; i++) {
		const struct nest_level *level = &hierarchy->levels[completions->level[i]];
		double all = cell->instances[i], reads = ports.reads[i], writes = ports.writes[i];
		double rows = level->store.row_cycles.num
				      ? ports.rows[i] / all * ratio_double(level->store.row_cycles)
				      : 0;
		bool shared = level->store.shared_rate.num,
		     port = shared || level->store.read_rate.num;
		double of_reads = cycles_at(reads, all, level->store.read_rate);
		waiting = fmax(waiting, of_reads + (port && !shared ? rows : 0));
		waiting = fmax(waiting, cycles_at(writes, all, level->store.write_rate));
		waiting = fmax(waiting, cycles_at(reads + writes, all, level->store.shared_rate) +
						(shared ? rows : 0));
		score.accesses[completions->level[i]] =
			certificate_floor_whole(ports.words[i] * CYCLES_MARGIN);
	}
	double cycles =
		hierarchy_cycles_least(hierarchy, cell->steps) + floor_array(cell, loops, j);
	cycles = fmax(cycles, ceil(waiting * CYCLES_MARGIN));
	double leaking = cycles;
	for (int i = 0; i < hierarchy->level_count; i++)
		cycles += (double)(hierarchy->levels[i].store.fill_cycles +
				   hierarchy->levels[i].store.drain_cycles);
	int outermost = completions->level[completions->count - 1];
	double bits = (double)hierarchy->levels[outermost].store.word_bits;
	score.hbm_bytes = certificate_floor_whole(
		ports.words[completions->count - 1] * bits / 8 * CYCLES_MARGIN);
	score.cycles = certificate_floor_whole(cycles);
	score.energy_pj =
		(pj + floor_cell_leakage(cell, cell->frame->timeloop ? leaking : cycles)) *
		SUMS_MARGIN;
	return score;
}
