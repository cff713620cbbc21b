#include "base/arena.h"
#include "base/number.h"
#include "base/wide.h"
#include "model/packing/buffer.h"
#include "search/engine/milp.h"
#include "solvers/place/packing.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * The order program of a packing.  For buffers i and j whose lives meet, one of z(i, j), "i lies
 * below j", and z(j, i) is 1; none if one of them is not kept, or takes the other's place.  With
 * sizes s in units and addresses x:
 *
 *	x_j >= x_i + s_i - M (1 - z(i, j));
 *	x_j >= sum over i in K of s_i z(i, j)           for every set K that lives at once, j in K;
 *	top >= x_j + s_j + sum over i in K of s_i z(j, i);
 *
 * less s_c where child c has its parent's place, both in K.  The top is the peak, or the capacity.  The second and
 * third are those of cliques.  They say at once what pairs say only in chains.
 *
 * All addresses are multiples of a unit: what alignments have in common, times what the sizes,
 * rounded up to that, have, if alignments allow.  A packing at lower addresses that are such
 * multiples exists wherever any packing does.  Reserved ranges are rounded outwards, but for a
 * buffer that ends in the unit in which a range begins.
 */
struct arena;
struct milp;

struct order_program {
	const struct packing *packing;
	struct milp *milp;
	int64_t unit;         /* bytes */
	const int *addresses; /* columns, by buffer: units / steps */
	const int64_t *steps; /* what the column of an address is multiplied with */
	const int *keeps;     /* columns, by buffer; -1: always kept */
	const int **takes;    /* columns, by buffer and its parent: lies in its place */
	double constant;      /* of the goal, without weights of kept buffers */
	double mass;          /* the columns of a point add up to no more */
};

static bool packing_touch(const struct packing *packing, size_t i, size_t j)
{
	return packing->buffers[i].size && packing->buffers[j].size && packing_meet(packing, i, j);
}

/* Counts the pairs of buffers, or buffers and ranges, that meet; no more than `most` + 1. */
static size_t order_pairs(const struct packing *packing, size_t most, struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);
	struct packing all = packing_with_reserved(packing, arena);
	size_t pairs = 0;
	for (size_t i = 0; i < all.count && pairs <= most; i++)
		for (size_t j = 0; j < i && j < packing->count && pairs <= most; j++)
			pairs += packing_touch(&all, i, j);
	arena_release(arena, mark);
	return pairs;
}

/* A column times a factor, plus a constant. */
struct ilp_term {
	int column; /* -1: none */
	double factor, constant;
};

struct ilp_item {
	int64_t size; /* units */
	double true_size;
	int64_t least, most; /* address, units */
	struct ilp_term address, keep;
};

struct order_build {
	struct order_program *program;
	const struct packing *packing;
	struct packing all; /* with reserved ranges */
	struct arena *arena;
	struct ilp_item *items;
	struct ilp_term *below; /* [i * count + j]: i lies below j */
	struct ilp_term top;
	int64_t capacity; /* bytes: no more than all on top of each other take */
	double padding;   /* units that the topmost may do without */
	struct ilp_term *row;
	size_t row_count;
};

static struct ilp_term ilp_number(double constant)
{
	return (struct ilp_term){-1, 0, constant};
}

static struct ilp_term order_build_binary(struct order_build *build)
{
	build->program->mass++;
	return (struct ilp_term){milp_column(build->program->milp, 0, 1, true, 0), 1, 0};
}

static void order_build_plus(struct order_build *build, struct ilp_term term, double factor)
{
	build->row[build->row_count++] =
		(struct ilp_term){term.column, term.factor * factor, term.constant * factor};
}

/* The terms so far add up to at least 0. */
static void row_end(struct order_build *build, bool equal)
{
	double constant = 0;
	for (size_t k = 0; k < build->row_count; k++)
		constant += build->row[k].constant;
	milp_row(build->program->milp, -constant, equal ? -constant : INFINITY);
	for (size_t k = 0; k < build->row_count; k++)
		if (build->row[k].column >= 0)
			milp_entry(
				build->program->milp, build->row[k].column, build->row[k].factor);
	build->row_count = 0;
}

/* --- units */

static int64_t packing_find_unit(const struct packing *packing)
{
	int64_t base = packing_common_step(packing), common = 0;
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		common = number_gcd(common, number_ceil_div(buffer->size, base));
		if (buffer->is_fixed)
			common = number_gcd(common, buffer->address / base);
	}
	for (size_t k = 0; k < packing->reserved_count; k++) {
		common = number_gcd(common, packing->reserved[k].from / base);
		common = number_gcd(common, number_ceil_div(packing->reserved[k].to, base));
	}
	for (size_t i = 0; i < packing->count; i++)
		if (common == 0 || common % (packing_step(packing, i) / base))
			return base;
	return base * common;
}

/* Returns the common multiple of the steps of all that may share an address; 0: it is larger than any address. */
static int64_t shared_step(const struct packing *packing, struct arena *arena)
{
	bool *shares = arena_array(arena, bool, packing->count);
	wide step = 1;
	for (size_t i = 0; i < packing->count; i++)
		for (size_t k = 0; k < packing->buffers[i].parent_count; k++)
			shares[i] = shares[packing->buffers[i].parents[k]] = true;
	for (size_t i = 0; i < packing->count; i++) {
		int64_t own = packing_step(packing, i);
		if (shares[i])
			step = step / number_gcd((int64_t)step, own) * own;
		if (step > PACKING_BYTES_MOST)
			return 0;
	}
	return (int64_t)step;
}

/* Returns the top of everything stacked on the fixed and reserved bytes, or the capacity. */
static int64_t packing_enough(const struct packing *packing, struct arena *arena)
{
	int64_t shared = shared_step(packing, arena);
	wide top = 0, sum = 0;
	if (!shared)
		return packing->capacity;
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		sum += (wide)buffer->size + number_max(shared, packing_step(packing, i));
		if (buffer->is_fixed && (wide)buffer->address + buffer->size > top)
			top = (wide)buffer->address + buffer->size;
	}
	for (size_t k = 0; k < packing->reserved_count; k++)
		if (packing->reserved[k].to > top)
			top = packing->reserved[k].to;
	return top + sum < packing->capacity ? (int64_t)(top + sum) : packing->capacity;
}

/* --- columns */

static bool make_item(struct order_build *build, size_t i)
{
	struct order_program *program = build->program;
	const struct buffer *buffer = &build->packing->buffers[i];
	struct ilp_item *item = &build->items[i];
	int64_t unit = program->unit, step = packing_step(build->packing, i);
	step = number_max(step / unit, 1);
	item->size = number_ceil_div(buffer->size, unit);
	item->true_size = (double)buffer->size / (double)unit;
	build->padding = fmax(build->padding, (double)item->size - item->true_size);
	bool possible = buffer->size <= build->capacity;
	if (possible)
		item->most = (build->capacity - buffer->size) / (unit * step) * step;
	if (buffer->is_fixed) {
		possible &= buffer->address >= 0 && buffer->address % (unit * step) == 0 &&
			    buffer->address / unit <= item->most;
		item->least = item->most = possible ? buffer->address / unit : 0;
	}
	possible &= !buffer->must_take_over || buffer->parent_count;
	((int64_t *)program->steps)[i] = step;
	int column = milp_column(program->milp, (double)(item->least / step),
		(double)(item->most / step), step > 1, 0);
	((int *)program->addresses)[i] = column;
	program->mass += (double)(item->most / step);
	item->address = (struct ilp_term){column, (double)step, 0};
	item->keep = ilp_number(1);
	((int *)program->keeps)[i] = -1;
	if (build->packing->goal == PACKING_SPILL) {
		item->keep = order_build_binary(build);
		((int *)program->keeps)[i] = item->keep.column;
		if (!possible)
			milp_fix(program->milp, item->keep.column, 0);
		return true;
	}
	return possible;
}

static void make_range(struct order_build *build, size_t i)
{
	const struct buffer *range = &build->all.buffers[i];
	struct ilp_item *item = &build->items[i];
	item->least = item->most = range->address / build->program->unit;
	item->size =
		number_ceil_div(range->address + range->size, build->program->unit) - item->least;
	item->address = ilp_number((double)item->least);
	item->keep = ilp_number(1);
}

/* --- rows */

/* Units from the address of what lies low to that of what lies high.  A range may begin within a
 * unit, behind the end of a buffer. */
static int64_t least_distance(const struct order_build *build, size_t low, size_t high)
{
	const struct buffer *a = &build->all.buffers[low], *b = &build->all.buffers[high];
	if (high < build->packing->count)
		return build->items[low].size;
	int64_t last = a->size > b->address ? -1 : (b->address - a->size) / build->program->unit;
	return build->items[high].least - last;
}

static void address_above(struct order_build *build, size_t low, size_t high, struct ilp_term below)
{
	const struct ilp_item *a = &build->items[low], *b = &build->items[high];
	int64_t distance = least_distance(build, low, high);
	double far = (double)(a->most + distance - b->least);
	order_build_plus(build, b->address, 1);
	order_build_plus(build, a->address, -1);
	order_build_plus(build, ilp_number(far - (double)distance), 1);
	order_build_plus(build, below, -far);
	row_end(build, false);
}

/* At most as often as `limit` is. */
static void no_more_than(struct order_build *build, struct ilp_term term, struct ilp_term limit)
{
	order_build_plus(build, limit, 1);
	order_build_plus(build, term, -1);
	row_end(build, false);
}

/* Returns the column that is 1 if i takes j's place; 0 if it may not. */
static struct ilp_term takes_place(const struct order_build *build, size_t i, size_t j)
{
	if (i >= build->packing->count)
		return ilp_number(0);
	const struct buffer *buffer = &build->packing->buffers[i];
	for (size_t k = 0; k < buffer->parent_count; k++)
		if ((size_t)buffer->parents[k] == j)
			return (struct ilp_term){build->program->takes[i][k], 1, 0};
	return ilp_number(0);
}

static void make_pair(struct order_build *build, size_t i, size_t j)
{
	size_t count = build->all.count;
	struct ilp_term *up = &build->below[i * count + j], *down = &build->below[j * count + i];
	const struct ilp_item *a = &build->items[i], *b = &build->items[j];
	struct ilp_term a_takes = takes_place(build, i, j), b_takes = takes_place(build, j, i);
	*up = order_build_binary(build);
	bool plain = a->keep.column < 0 && b->keep.column < 0 && a_takes.column < 0 &&
		     b_takes.column < 0;
	if (plain) {
		*down = (struct ilp_term){up->column, -1, 1};
	} else {
		*down = order_build_binary(build);
		order_build_plus(build, *up, 1);
		order_build_plus(build, *down, 1);
		order_build_plus(build, a_takes, 1);
		order_build_plus(build, b_takes, 1);
		order_build_plus(build, a->keep, -1);
		order_build_plus(build, b->keep, -1);
		order_build_plus(build, ilp_number(1), 1);
		row_end(build, false);
		for (int side = 0; side < 2; side++) {
			order_build_plus(build, side ? a->keep : b->keep, 1);
			order_build_plus(build, *up, -1);
			order_build_plus(build, *down, -1);
			order_build_plus(build, a_takes, -1);
			order_build_plus(build, b_takes, -1);
			row_end(build, false);
		}
	}
	address_above(build, i, j, *up);
	address_above(build, j, i, *down);
}

/* Column by column: a child at its parent's address. */
static void make_takes(struct order_build *build, size_t i)
{
	struct order_program *program = build->program;
	const struct buffer *child = &build->packing->buffers[i];
	const struct ilp_item *c = &build->items[i];
	int *columns = arena_array(build->arena, int, child->parent_count);
	program->takes[i] = columns;
	for (size_t k = 0; k < child->parent_count; k++) {
		const struct ilp_item *p = &build->items[child->parents[k]];
		struct ilp_term takes = order_build_binary(build);
		columns[k] = takes.column;
		double far = (double)number_max(c->most - p->least, p->most - c->least);
		for (int side = -1; side <= 1; side += 2) {
			order_build_plus(build, c->address, side);
			order_build_plus(build, p->address, -side);
			order_build_plus(build, ilp_number(far), 1);
			order_build_plus(build, takes, -far);
			row_end(build, false);
		}
		no_more_than(build, takes, c->keep);
		no_more_than(build, takes, p->keep);
	}
	if (!child->must_take_over)
		return;
	for (size_t k = 0; k < child->parent_count; k++)
		order_build_plus(build, (struct ilp_term){columns[k], 1, 0}, 1);
	order_build_plus(build, c->keep, -1);
	row_end(build, false);
}

static void minus_taken(struct order_build *build, const size_t *clique, size_t count)
{
	for (size_t k = 0; k < count; k++)
		for (size_t l = 0; l < count; l++)
			order_build_plus(build, takes_place(build, clique[k], clique[l]),
				(double)build->items[clique[k]].size);
}

/* Adds the rows of buffers that live at once: below each, above each, and all together. */
static void make_clique(struct order_build *build, const size_t *clique, size_t count)
{
	size_t all = build->all.count;
	for (size_t k = 0; k < count; k++) {
		size_t j = clique[k];
		const struct ilp_item *item = &build->items[j];
		order_build_plus(build, item->address, 1);
		for (size_t l = 0; l < count; l++)
			if (l != k)
				order_build_plus(build, build->below[clique[l] * all + j],
					-(double)build->items[clique[l]].size);
		minus_taken(build, clique, count);
		row_end(build, false);
		order_build_plus(build, build->top, 1);
		order_build_plus(build, ilp_number(build->padding), 1);
		order_build_plus(build, item->address, -1);
		order_build_plus(build, item->keep, -(double)item->size);
		for (size_t l = 0; l < count; l++)
			if (l != k)
				order_build_plus(build, build->below[j * all + clique[l]],
					-(double)build->items[clique[l]].size);
		minus_taken(build, clique, count);
		row_end(build, false);
	}
	order_build_plus(build, build->top, 1);
	order_build_plus(build, ilp_number(build->padding), 1);
	for (size_t k = 0; k < count; k++)
		order_build_plus(
			build, build->items[clique[k]].keep, -(double)build->items[clique[k]].size);
	minus_taken(build, clique, count);
	row_end(build, false);
}

/* Sets of buffers that live at once and are in no other such set begin where a buffer begins, and
 * hold no buffer that ends before another begins. */
static void make_cliques(struct order_build *build)
{
	const struct packing *packing = build->packing;
	size_t *clique = arena_array(build->arena, size_t, packing->count);
	for (size_t i = 0; i < packing->count; i++) {
		int64_t time = packing->buffers[i].start, first_end = INT64_MAX;
		size_t count = 0;
		bool named = false, largest = true;
		for (size_t j = 0; j < packing->count; j++) {
			const struct buffer *buffer = &packing->buffers[j];
			if (!buffer->size || buffer->start > time || buffer->end <= time)
				continue;
			named |= buffer->start == time && j < i;
			first_end = number_min(first_end, buffer->end);
			clique[count++] = j;
		}
		for (size_t j = 0; j < packing->count; j++) {
			const struct buffer *buffer = &packing->buffers[j];
			largest &= !(buffer->size && buffer->start < buffer->end &&
				     buffer->start > time && buffer->start < first_end);
		}
		if (count > 1 && !named && largest)
			make_clique(build, clique, count);
	}
}

static void make_goal(struct order_build *build)
{
	struct order_program *program = build->program;
	const struct packing *packing = build->packing;
	double weights = 0, capacity = (double)build->capacity / (double)program->unit;
	build->top = ilp_number(capacity);
	for (size_t i = 0; i < packing->count; i++)
		weights += (double)packing->buffers[i].weight;
	if (packing->goal == PACKING_PEAK) {
		build->top =
			(struct ilp_term){milp_column(program->milp, 0, capacity, false, 1), 1, 0};
		program->mass += capacity;
	}
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		if (packing->goal == PACKING_SPILL) {
			double cost = (double)(weights > 0 ? buffer->weight : buffer->size);
			milp_cost(program->milp, program->keeps[i], -cost);
			program->constant += cost;
		} else if (packing->goal == PACKING_PEAK) {
			order_build_plus(build, build->top, 1);
			order_build_plus(build, build->items[i].address, -1);
			order_build_plus(build, ilp_number(build->items[i].true_size), -1);
			row_end(build, false);
		}
	}
}

/* NULL if a buffer that must be placed cannot be with nothing elsewhere: *culprit is it.  All
 * parents must be lawful. */
static struct order_program *order_program_make(
	const struct packing *packing, struct arena *arena, size_t *culprit)
{
	struct order_program *program = arena_new(arena, struct order_program);
	struct packing all = packing_with_reserved(packing, arena);
	*program = (struct order_program){
		.packing = packing,
		.milp = milp_make(arena),
		.unit = packing_find_unit(packing),
		.addresses = arena_array(arena, int, packing->count),
		.steps = arena_array(arena, int64_t, packing->count),
		.keeps = arena_array(arena, int, packing->count),
		.takes = arena_array(arena, const int *, packing->count),
	};
	struct order_build build = {
		.program = program,
		.packing = packing,
		.all = all,
		.arena = arena,
		.capacity = packing_enough(packing, arena),
		.items = arena_array(arena, struct ilp_item, all.count),
		.below = arena_array(arena, struct ilp_term, all.count * all.count),
		.row = arena_array(arena, struct ilp_term, (all.count + 4) * (all.count + 4)),
	};
	for (size_t k = 0; k < all.count * all.count; k++)
		build.below[k] = ilp_number(0);
	for (size_t i = 0; i < packing->count; i++)
		if (!make_item(&build, i)) {
			*culprit = i;
			return NULL;
		}
	for (size_t i = packing->count; i < all.count; i++)
		make_range(&build, i);
	make_goal(&build);
	for (size_t i = 0; i < packing->count; i++)
		make_takes(&build, i);
	for (size_t i = 0; i < all.count; i++)
		for (size_t j = 0; j < i && j < packing->count; j++)
			if (packing_touch(&all, i, j))
				make_pair(&build, i, j);
	make_cliques(&build);
	return program;
}

/* Buffers at one address, by the child's claim; the point's address of the first of them. */
struct shared {
	double address;
	size_t root;
};

static int compare_shared(const void *left, const void *right)
{
	const struct shared *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->root > b->root) - (a->root < b->root);
}

static bool is_kept(const struct order_program *program, const double *values, size_t i)
{
	return program->keeps[i] < 0 || values[program->keeps[i]] > 0.5;
}

/* Returns the buffer whose place i takes, directly or through others; i if it takes none. */
static size_t root_of(const struct order_program *program, const double *values, size_t i)
{
	const struct buffer *buffer = &program->packing->buffers[i];
	for (size_t k = 0; k < buffer->parent_count; k++)
		if (values[program->takes[i][k]] > 0.5)
			return root_of(program, values, (size_t)buffer->parents[k]);
	return i;
}

/* The first address from `address` on that is good for buffer i beside what is placed. */
static int64_t packing_lift(const struct packing *packing, const struct placement *placement,
	const size_t *roots, size_t i, int64_t address)
{
	const struct buffer *buffer = &packing->buffers[i];
	for (size_t j = 0; j < packing->count; j++) {
		int64_t other = placement->addresses[j], size = packing->buffers[j].size;
		if (roots[j] != roots[i] && other != UNPLACED && size && buffer->size &&
			packing_meet(packing, i, j) && address < other + size &&
			other < address + buffer->size)
			address = other + size;
	}
	for (size_t k = 0; k < packing->reserved_count && buffer->size; k++)
		if (address < packing->reserved[k].to &&
			packing->reserved[k].from < address + buffer->size)
			address = packing->reserved[k].to;
	return packing_up(packing, i, address);
}

/* Returns an address as low as all that share it allow; the search ends past the capacity. */
static int64_t find_address(const struct packing *packing, const struct placement *placement,
	const size_t *roots, size_t root)
{
	int64_t address = 0, before = -1;
	for (size_t i = 0; i < packing->count; i++)
		if (roots[i] == root && packing->buffers[i].is_fixed)
			return packing->buffers[i].address;
	while (address != before && address <= packing->capacity) {
		before = address;
		for (size_t i = 0; i < packing->count; i++)
			if (roots[i] == root)
				address = packing_lift(packing, placement, roots, i, address);
	}
	return address;
}

/* The placement whose order a point has, each buffer as low as that allows. */
static void order_program_read(
	const struct order_program *program, const double *values, struct placement *placement)
{
	const struct packing *packing = program->packing;
	struct arena *arena = arena_open();
	struct shared *order = arena_array(arena, struct shared, packing->count);
	size_t *roots = arena_array(arena, size_t, packing->count), count = 0;
	for (size_t i = 0; i < packing->count; i++) {
		placement->addresses[i] = UNPLACED;
		roots[i] =
			is_kept(program, values, i) ? root_of(program, values, i) : packing->count;
		if (roots[i] == i)
			order[count++] = (struct shared){
				values[program->addresses[i]] * (double)program->steps[i], i};
	}
	if (count)
		qsort(order, count, sizeof *order, compare_shared);
	for (size_t k = 0; k < count; k++) {
		int64_t address = find_address(packing, placement, roots, order[k].root);
		for (size_t i = 0; i < packing->count; i++)
			if (roots[i] == order[k].root)
				placement->addresses[i] = address;
	}
	arena_close(arena);
}

/*
 * The order program , given to GLPK.  What a point says is put in whole numbers and
 * checked before it counts.  Beyond a few thousand pairs GLPK finds no point in any time that one
 * would wait, so larger packings are refused.
 */
enum { PAIRS_MOST = 3000, BUFFERS_MOST = 400, ROWS_OF_A_TICK = 64 };

struct ilp_asking {
	struct run *run;
	const struct order_program *program;
	struct placement *best, *draft;
	bool found;
	double value;
};

static bool go_on(void *user, uint64_t iterations, int rows)
{
	struct ilp_asking *asking = user;
	return run_spend(asking->run, 1 + iterations * (uint64_t)rows / ROWS_OF_A_TICK);
}

static bool ilp_placement_is_whole(const struct packing *packing, const struct placement *placement)
{
	for (size_t i = 0; i < packing->count; i++)
		if (placement->addresses[i] == UNPLACED && packing->goal != PACKING_SPILL)
			return false;
	return packing_check(packing, placement).a < 0;
}

static void place_ilp_found(void *user, const double *values)
{
	struct ilp_asking *asking = user;
	const struct packing *packing = asking->program->packing;
	order_program_read(asking->program, values, asking->draft);
	placement_note(packing, asking->draft);
	double value = packing_value(packing, asking->draft);
	if (!ilp_placement_is_whole(packing, asking->draft) ||
		(asking->found && value >= asking->value))
		return;
	struct placement *draft = asking->draft;
	asking->draft = asking->best;
	asking->best = draft;
	asking->value = value;
	asking->found = true;
}

/* The program's bound in bytes or weights, which are whole. */
static double place_ilp_bound(const struct ilp_asking *asking, double bound)
{
	const struct order_program *program = asking->program;
	const struct packing *packing = program->packing;
	double value = bound - milp_margin(program->mass, bound);
	if (packing->goal == PACKING_SPILL)
		return fmax(0, ceil(value + program->constant));
	bool whole = true;
	for (size_t i = 0; i < packing->count; i++)
		whole &= packing->buffers[i].size % program->unit == 0;
	double bytes =
		whole ? ceil(value) * (double)program->unit : ceil(value * (double)program->unit);
	return fmax(bytes, (double)packing_load(packing, run_arena(asking->run)));
}

static void ilp_asking_conclude(struct ilp_asking *asking, const struct milp_answer *answer)
{
	const struct packing *packing = asking->program->packing;
	if (answer->status == PROOF_NONE)
		run_complain(asking->run, false, -1, "ilp: GLPK gave up: %s", answer->fault);
	if (asking->found || packing->goal == PACKING_SPILL)
		packing_offer(asking->run, packing, asking->best);
	if (answer->status == PROOF_INFEASIBLE && !asking->found) {
		run_prove(asking->run, PROOF_INFEASIBLE, 0);
		return;
	}
	if (packing->goal == PACKING_FIT)
		return;
	double bound = answer->status == PROOF_NONE ? -INFINITY : answer->bound;
	bound = place_ilp_bound(asking, bound);
	if (asking->found)
		run_prove(asking->run, asking->value <= bound ? PROOF_OPTIMAL : PROOF_BOUND, bound);
}

static bool is_small(struct run *run, const struct packing *packing)
{
	size_t pairs = packing->count > BUFFERS_MOST
			       ? 0
			       : order_pairs(packing, PAIRS_MOST, run_arena(run));
	if (packing->count > BUFFERS_MOST)
		run_complain(run, true, -1, "ilp takes at most %d buffers, not %zu; use exact",
			BUFFERS_MOST, packing->count);
	else if (pairs > PAIRS_MOST)
		run_complain(run, true, -1,
			"ilp takes at most %d pairs of buffers that live at the same time; these %zu buffers have more; use exact",
			PAIRS_MOST, packing->count);
	return packing->count <= BUFFERS_MOST && pairs <= PAIRS_MOST;
}

static void ilp_run(struct run *run, const struct problem *problem)
{
	const struct packing *packing = problem->packing;
	size_t culprit = 0;
	if (!packing_declared(run, packing) || !packing_whole(run, packing) ||
		!is_small(run, packing))
		return;
	if (!packing->count) {
		packing_offer(run, packing, packing_open(run, packing));
		return;
	}
	struct ilp_asking asking = {.run = run,
		.program = order_program_make(packing, run_arena(run), &culprit),
		.best = packing_open(run, packing),
		.draft = packing_open(run, packing)};
	if (!asking.program) {
		run_complain(run, false, -1, "'%s' does not fit even alone",
			packing->buffers[culprit].name);
		run_prove(run, PROOF_INFEASIBLE, 0);
		return;
	}
	struct milp_wishes wishes = {.user = &asking, .go_on = go_on, .found = place_ilp_found};
	struct milp_answer answer = milp_solve(asking.program->milp, &wishes, run_arena(run));
	if (answer.values)
		place_ilp_found(&asking, answer.values);
	ilp_asking_conclude(&asking, &answer);
}

const struct solver place_ilp_solver = {
	.stage = STAGE_PLACE,
	.name = "ilp",
	.summary =
		"an integer program of which buffer lies below which; proves, for small packings",
	.proves = true,
	.run = ilp_run,
};
