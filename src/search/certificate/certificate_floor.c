#include "search/certificate/certificate_floor.h"

#include <math.h>

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
};

static double entering(const struct floor_cell *cell, const struct floor_loops *loops, int j, int t,
	int at, int child)
{
	int known = child > j ? child : j;
	double words = words_entering(cell, loops, known, t, at);
	if (child >= 0 && cell->renews[t] >> child & 1)
		words = fmax(words, words_renewed(cell, &loops[known], t, at));
	return words;
}

/* Words that pass level `at`, each coming and going. */
static double passing(
	const struct floor_cell *cell, const struct floor_loops *loops, int j, int t, int at)
{
	int child = -1; /* the next one further in */
	for (int k = 0; k < cell->kept_count[t] && child < 0; k++)
		if (cell->kept[t][k] < at)
			child = cell->kept[t][k];
	return child < 0 ? words_used(cell, t, at) : entering(cell, loops, j, t, at, child);
}

/* Words that the innermost level that keeps a dataspace serves to multipliers. */
static double to_multipliers(
	const struct floor_cell *cell, const struct floor_loops *loops, int j, int t, int last)
{
	double words = entering(cell, loops, j, t, last, -1);
	return cell->keep_nothing ? fmax(words, words_used(cell, t, last)) : words;
}

static void read_only(const struct floor_cell *cell, const struct floor_loops *loops, int j, int t,
	const struct floor_known *known, struct least *least)
{
	int count = cell->kept_count[t], from = known->from[t];
	if (cell->passes[t] || cell->renews[t])
		from = -1; /* levels inside ask for the words that pass, or keep those that enter anew */
	for (int k = 0; k < count; k++) {
		int at = cell->kept[t][k], child = k + 1 < count ? cell->kept[t][k + 1] : -1;
		double reads = child < 0 ? to_multipliers(cell, loops, j, t, at)
					 : entering(cell, loops, j, t, at, child);
		reads *= words_split(cell, t, at, child);
		double fills = k ? entering(cell, loops, j, t, at, at) : 0;
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
			least->reads[at] = least->fills[at] = passing(cell, loops, j, t, at);
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
 * read there once; at home F words stay.  Words that enter a level and were no fill come
 * without a sum, and leave with one.  So level k sends r(k) = u(0) + .. + u(k) - e(1) - .. -
 * e(k) - F sums back to level k + 1, with u(k) = e(k + 1) / G(k + 1) updates; it reads u(k) + r(k -
 * 1), the home r(0).  Each e(k) lies between what the loops known so far ask for and what arrives from
 * inside.
 *
 * no_reuse (spatial) has groups come one after the other: level k - 1 is updated words_split(k) times as
 * often, and each time but the first reads the sum that is there; the first takes the sum that returns, so the r(k)
 * stay.  Where tiles leave at every step (temporal no_reuse), those further in may stay and have the sums,
 * so that zeros drain, which nobody reads: nothing is known of the r(k).
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
		sums.low[k] =
			at < 0 && cell->keep_nothing ? macs : entering(cell, loops, j, t, at, at);
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

static void written(const struct floor_cell *cell, const struct floor_loops *loops, int j, int t,
	struct least *least)
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
			least->updates[at] = least->reads[at] = passing(cell, loops, j, t, at);
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
};

static double add_space(const struct floor_cell *cell, const struct floor_loops *loops, int j,
	int t, const struct floor_known *known, struct ports *ports)
{
	const struct floor_frame *frame = cell->frame;
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	bool sums = frame->search->shape->spaces[t].written;
	struct least least = {.reads = {0}};
	if (frame->plain[t] ? sums && frame->update_flags >> t & 1
			    : sums || (frame->flagged && frame->timeloop))
		return 0;
	if (sums)
		written(cell, loops, j, t, &least);
	else
		read_only(cell, loops, j, t, known, &least);
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
	}
	return energy_of(cell, &least);
}

static double cycles_at(double words, double instances, struct ratio rate)
{
	return rate.num ? words * (double)rate.den / (instances * (double)rate.num) : 0;
}

static double leakage(const struct floor_cell *cell, double cycles)
{
	const struct hierarchy *hierarchy = cell->frame->search->hierarchy;
	double pj = 0;
	for (int i = 0; i < hierarchy->level_count; i++)
		pj += hierarchy->levels[i].leak_pj * cycles *
		      cell->used[hierarchy->levels[i].gated_at];
	return pj;
}

static int64_t whole(double value)
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
		pj += add_space(cell, loops, j, t, known, &ports);
	for (int i = 0; i < completions->count; i++) {
		const struct nest_level *level = &hierarchy->levels[completions->level[i]];
		double all = cell->instances[i], reads = ports.reads[i], writes = ports.writes[i];
		waiting = fmax(waiting, cycles_at(reads, all, level->read_rate));
		waiting = fmax(waiting, cycles_at(writes, all, level->write_rate));
		waiting = fmax(waiting, cycles_at(reads + writes, all, level->shared_rate));
		score.accesses[completions->level[i]] = whole(ports.words[i] * CYCLES_MARGIN);
	}
	double cycles =
		hierarchy_cycles_least(hierarchy, cell->steps) + floor_array(cell, loops, j);
	cycles = fmax(cycles, ceil(waiting * CYCLES_MARGIN));
	double leaking = cycles;
	for (int i = 0; i < hierarchy->level_count; i++)
		cycles += (double)(hierarchy->levels[i].fill_cycles +
				   hierarchy->levels[i].drain_cycles);
	int outermost = completions->level[completions->count - 1];
	double bits = (double)hierarchy->levels[outermost].word_bits;
	score.hbm_bytes = whole(ports.words[completions->count - 1] * bits / 8 * CYCLES_MARGIN);
	score.cycles = whole(cycles);
	score.energy_pj =
		(pj + leakage(cell, cell->frame->timeloop ? leaking : cycles)) * SUMS_MARGIN;
	return score;
}
