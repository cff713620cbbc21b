#include "cost/nest/nest_array.h"

#include "base/number.h"
#include "cost/nest/nest_contexts.h"
#include "cost/nest/nest_exact.h"

#include <math.h>

struct counting_array {
	const struct nest_model *model;
	const struct nest_loops *loops;
	bool fits;
};

/* The loops of the array along one axis that are relevant to a dataspace, or all of them. */
static struct nest_offsets loops_along(const struct counting_array *x, int t, bool y)
{
	const struct hierarchy *hierarchy = x->model->hierarchy;
	struct nest_offsets offsets = {
		.space = t < 0 ? NULL : &x->model->shape->spaces[t],
	};
	for (int i = hierarchy->array_inner; i < hierarchy->array_end; i++)
		for (int k = x->loops->block[i]; k < x->loops->own[i]; k++) {
			const struct nest_loop *loop = &x->loops->at[k];
			bool relevant = t < 0 || offsets.space->relevant >> loop->dimension & 1;
			if (relevant && loop->y == y && offsets.loop_count < NEST_SPATIAL_MOST)
				offsets.loops[offsets.loop_count++] = loop;
		}
	return offsets;
}

static int64_t product_of(struct counting_array *x, const struct nest_offsets *offsets)
{
	int64_t product = 1;
	for (int i = 0; i < offsets->loop_count; i++)
		product = checked_mul(&x->fits, product, offsets->loops[i]->bound);
	return product;
}

/* Different tiles of a dataspace among the PEs along an axis; all of them, where the sums are
 * not known. */
static int64_t tiles_along(struct counting_array *x, int t, bool y)
{
	struct nest_offsets offsets = loops_along(x, t, y);
	int64_t tiles = product_of(x, &offsets), sums = tiles;
	const struct nest_shape_of *space = &x->model->spaces[t];
	if (!(space->boxed && space->plain) && offsets.loop_count &&
		nest_offsets_count(&offsets, &x->fits, &sums))
		tiles = sums;
	return tiles;
}

static bool is_held(const struct counting_array *x, int t)
{
	bool held = x->loops->home[t] < x->model->hierarchy->array_inner;
	for (int i = 0; i < x->model->hierarchy->array_inner; i++)
		held |= nest_holds(x->model, x->loops, i, t);
	return held;
}

/* The outermost level in the PEs that holds a dataspace; -1 if none does, or if it is never
 * anywhere else. */
static int level_inside(const struct counting_array *x, int t)
{
	int i = x->model->hierarchy->array_inner - 1;
	if (x->loops->home[t] <= i)
		return -1;
	while (i >= 0 && !nest_holds(x->model, x->loops, i, t))
		i--;
	return i;
}

/* Iterations of a loop and those around it; or of the loops inside it.  All others, spatial ones
 * included, stand at 0. */
static int64_t rounds_of(struct counting_array *x, int pace, bool inside)
{
	int64_t rounds = 1;
	for (int d = 0; d < x->model->shape->dimension_count; d++) {
		struct nest_digits digits = nest_digits_make(x->model, x->loops, d, -1);
		uint32_t free = 0;
		for (int k = 0; k < digits.count; k++) {
			const struct nest_digit *digit = &digits.at[k];
			free |= (uint32_t)(!digit->spatial && (digit->loop < pace) == inside) << k;
		}
		rounds = checked_mul(&x->fits, rounds, nest_digits_count(&digits, free).count);
	}
	return rounds;
}

static void find_extents(struct counting_array *x, struct nest_projection *out)
{
	out->skew_cycles = 0;
	for (int y = 0; y < 2; y++) {
		struct nest_offsets all = loops_along(x, -1, y);
		bool hands_on = false;
		out->extent[y] = product_of(x, &all);
		for (int t = 0; t < x->model->shape->space_count; t++) {
			out->spaces[t].along[y] = tiles_along(x, t, y) < out->extent[y];
			hands_on |= out->spaces[t].along[y];
		}
		out->skew_cycles += hands_on ? out->extent[y] - 1 : 0;
	}
}

static void find_rate(struct counting_array *x, struct nest_projection *out)
{
	out->rate = 1;
	for (int t = 0; t < x->model->shape->space_count; t++)
		if (!is_held(x, t))
			out->rate = number_max(out->rate,
				number_min(tiles_along(x, t, false), tiles_along(x, t, true)));
}

/* Tiles that are loaded: how often, and for how long each time. */
struct array_load {
	int64_t moves, cycles;
};

/* Those that move more often come first. */
static void add_load(struct array_load *loads, int count, struct array_load load)
{
	for (; count > 0 && loads[count - 1].moves < load.moves; count--)
		loads[count] = loads[count - 1];
	loads[count] = load;
}

static int64_t wait_for_all(struct counting_array *x, const struct array_load *loads, int count)
{
	int64_t cycles = 0;
	for (int i = 0; i < count; i++)
		cycles = checked_add(
			&x->fits, cycles, checked_mul(&x->fits, loads[i].moves, loads[i].cycles));
	return cycles;
}

/* All are loaded before the first pass; before another, one moves only together with all those that
 * move more often. */
static int64_t wait_for_rest(
	struct counting_array *x, const struct array_load *loads, int count, int64_t pass)
{
	int64_t cycles = 0, together = 0;
	for (int i = 0; i < count; i++) {
		int64_t fewer = i + 1 < count ? loads[i + 1].moves : 1;
		together = checked_add(&x->fits, together, loads[i].cycles);
		cycles = checked_add(&x->fits, cycles,
			checked_mul(
				&x->fits, loads[i].moves - fewer, number_max(0, together - pass)));
	}
	return checked_add(&x->fits, cycles, together);
}

/* All of *out but the loops and channels; the innermost loop that ends a pass. */
static int find_passes(
	struct counting_array *x, const struct nest_counts *counts, struct nest_projection *out)
{
	struct array_load loads[SHAPE_SPACES_MOST];
	int last = x->loops->count, count = 0;
	find_extents(x, out);
	find_rate(x, out);
	for (int t = 0; t < x->model->shape->space_count; t++) {
		int level = level_inside(x, t);
		if (level < 0)
			continue;
		int pace = nest_pace(x->model, x->loops, level, t);
		last = pace < last ? pace : last;
		if (x->model->shape->spaces[t].written)
			continue;
		int64_t cycles = checked_mul(
			&x->fits, counts->at[level][t].capacity, tiles_along(x, t, true));
		add_load(loads, count++, (struct array_load){rounds_of(x, pace, false), cycles});
	}
	out->passes = rounds_of(x, last, false);
	out->steps = rounds_of(x, last, true);
	out->overlap = x->model->hierarchy->array_overlaps;
	out->load_cycles = out->overlap ? wait_for_rest(x, loads, count,
						  checked_mul(&x->fits, out->steps, out->rate))
					: wait_for_all(x, loads, count);
	return last;
}

/* Cycles of the array, from when it begins to load until the last PE ends. */
static int64_t cycles_of(struct counting_array *x, const struct nest_counts *counts,
	const struct nest_projection *projection)
{
	int64_t skews = projection->overlap ? 1 : projection->passes;
	int64_t steps = projection->overlap
				? checked_mul(&x->fits, projection->passes, projection->steps)
				: counts->compute_cycles;
	int64_t cycles = checked_add(&x->fits, checked_mul(&x->fits, steps, projection->rate),
		checked_mul(&x->fits, skews, projection->skew_cycles));
	return checked_add(&x->fits, cycles, projection->load_cycles);
}

bool nest_array_count(
	const struct nest_model *model, const struct mapping *mapping, struct nest_counts *counts)
{
	struct nest_loops loops;
	struct nest_score unused;
	struct nest_projection projection;
	counts->array_cycles = 0;
	if (!model->hierarchy->array_end)
		return true;
	if (nest_loops_make(model, mapping, &loops, &unused) != NEST_FITS)
		return false;
	struct counting_array x = {model, &loops, true};
	find_passes(&x, counts, &projection);
	counts->array_cycles = cycles_of(&x, counts, &projection) - counts->compute_cycles;
	return x.fits;
}

/* --- projection */

static bool is_in_array(const struct hierarchy *hierarchy, const struct nest_loop *loop)
{
	return loop->spatial && loop->level >= hierarchy->array_inner &&
	       loop->level < hierarchy->array_end;
}

/* Loops of a pass: those of the array, and the temporal ones inside `last`. */
static bool project_loops(struct counting_array *x, int last, struct nest_projection *out)
{
	const struct hierarchy *hierarchy = x->model->hierarchy;
	int64_t pes[2] = {1, 1}, steps = 1;
	out->loop_count = 0;
	for (int k = 0; k < x->loops->count; k++) {
		const struct nest_loop *loop = &x->loops->at[k];
		bool time = !loop->spatial && k < last;
		if (!time && !is_in_array(hierarchy, loop))
			continue;
		if (out->loop_count == NEST_PROJECTED_MOST)
			return false;
		const struct nest_level *level = &hierarchy->levels[loop->level];
		struct nest_projected_loop *to = &out->loops[out->loop_count++];
		*to = (struct nest_projected_loop){.row = time ? level->row : level->block_row,
			.dimension = loop->dimension,
			.bound = loop->bound,
			.index = loop->stride};
		if (time) {
			to->time = steps;
			steps = checked_mul(&x->fits, steps, loop->bound);
			continue;
		}
		to->space[loop->y] = pes[loop->y];
		bool hands_on = false;
		for (int t = 0; t < x->model->shape->space_count; t++)
			hands_on |= out->spaces[t].along[loop->y];
		to->time = hands_on ? pes[loop->y] : 0;
		pes[loop->y] *= loop->bound;
	}
	return x->fits;
}

static enum nest_channel channel_of(struct counting_array *x, int t, const bool along[2])
{
	if (is_held(x, t))
		return NEST_STATIONARY;
	return along[0] || along[1] ? NEST_SYSTOLIC : NEST_DIRECT;
}

bool nest_array_project(const struct nest_model *model, const struct mapping *mapping,
	const struct nest_counts *counts, struct nest_projection *out)
{
	struct nest_loops loops;
	struct nest_score unused;
	if (!model->hierarchy->array_end ||
		nest_loops_make(model, mapping, &loops, &unused) != NEST_FITS)
		return false;
	struct counting_array x = {model, &loops, true};
	int last = find_passes(&x, counts, out);
	for (int t = 0; t < model->shape->space_count; t++)
		out->spaces[t].channel = channel_of(&x, t, out->spaces[t].along);
	return project_loops(&x, last, out) && x.fits;
}

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
