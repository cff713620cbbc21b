#include "solvers/place/ilp_order.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/wide.h"
#include "search/engine/milp.h"
#include "solvers/place/packing.h"

#include <math.h>
#include <stdlib.h>

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

struct making {
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

static struct ilp_term number(double constant)
{
	return (struct ilp_term){-1, 0, constant};
}

static struct ilp_term binary(struct making *making)
{
	making->program->mass++;
	return (struct ilp_term){milp_column(making->program->milp, 0, 1, true, 0), 1, 0};
}

static void plus(struct making *making, struct ilp_term term, double factor)
{
	making->row[making->row_count++] =
		(struct ilp_term){term.column, term.factor * factor, term.constant * factor};
}

/* The terms so far add up to at least 0. */
static void row_end(struct making *making, bool equal)
{
	double constant = 0;
	for (size_t k = 0; k < making->row_count; k++)
		constant += making->row[k].constant;
	milp_row(making->program->milp, -constant, equal ? -constant : INFINITY);
	for (size_t k = 0; k < making->row_count; k++)
		if (making->row[k].column >= 0)
			milp_entry(making->program->milp, making->row[k].column,
				making->row[k].factor);
	making->row_count = 0;
}

static bool touch(const struct packing *packing, size_t i, size_t j)
{
	return packing->buffers[i].size && packing->buffers[j].size && packing_meet(packing, i, j);
}

size_t order_pairs(const struct packing *packing, size_t most, struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);
	struct packing all = packing_with_reserved(packing, arena);
	size_t pairs = 0;
	for (size_t i = 0; i < all.count && pairs <= most; i++)
		for (size_t j = 0; j < i && j < packing->count && pairs <= most; j++)
			pairs += touch(&all, i, j);
	arena_release(arena, mark);
	return pairs;
}

/* --- units */

static int64_t find_unit(const struct packing *packing)
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

/* What all divide that may share an address; 0: it is larger than any address. */
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

/* Where everything lies on top of what is fixed and reserved, or the capacity. */
static int64_t enough(const struct packing *packing, struct arena *arena)
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

static bool make_item(struct making *making, size_t i)
{
	struct order_program *program = making->program;
	const struct buffer *buffer = &making->packing->buffers[i];
	struct ilp_item *item = &making->items[i];
	int64_t unit = program->unit, step = packing_step(making->packing, i);
	step = number_max(step / unit, 1);
	item->size = number_ceil_div(buffer->size, unit);
	item->true_size = (double)buffer->size / (double)unit;
	making->padding = fmax(making->padding, (double)item->size - item->true_size);
	bool possible = buffer->size <= making->capacity;
	if (possible)
		item->most = (making->capacity - buffer->size) / (unit * step) * step;
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
	item->keep = number(1);
	((int *)program->keeps)[i] = -1;
	if (making->packing->goal == PACKING_SPILL) {
		item->keep = binary(making);
		((int *)program->keeps)[i] = item->keep.column;
		if (!possible)
			milp_fix(program->milp, item->keep.column, 0);
		return true;
	}
	return possible;
}

static void make_range(struct making *making, size_t i)
{
	const struct buffer *range = &making->all.buffers[i];
	struct ilp_item *item = &making->items[i];
	item->least = item->most = range->address / making->program->unit;
	item->size =
		number_ceil_div(range->address + range->size, making->program->unit) - item->least;
	item->address = number((double)item->least);
	item->keep = number(1);
}

/* --- rows */

/* Units from the address of what lies low to that of what lies high.  A range may begin within a
 * unit, behind the end of a buffer. */
static int64_t least_distance(const struct making *making, size_t low, size_t high)
{
	const struct buffer *a = &making->all.buffers[low], *b = &making->all.buffers[high];
	if (high < making->packing->count)
		return making->items[low].size;
	int64_t last = a->size > b->address ? -1 : (b->address - a->size) / making->program->unit;
	return making->items[high].least - last;
}

static void address_above(struct making *making, size_t low, size_t high, struct ilp_term below)
{
	const struct ilp_item *a = &making->items[low], *b = &making->items[high];
	int64_t distance = least_distance(making, low, high);
	double far = (double)(a->most + distance - b->least);
	plus(making, b->address, 1);
	plus(making, a->address, -1);
	plus(making, number(far - (double)distance), 1);
	plus(making, below, -far);
	row_end(making, false);
}

/* At most as often as `limit` is. */
static void no_more_than(struct making *making, struct ilp_term term, struct ilp_term limit)
{
	plus(making, limit, 1);
	plus(making, term, -1);
	row_end(making, false);
}

/* Whether i takes j's place, as a column; 0 if it may not. */
static struct ilp_term take(const struct making *making, size_t i, size_t j)
{
	if (i >= making->packing->count)
		return number(0);
	const struct buffer *buffer = &making->packing->buffers[i];
	for (size_t k = 0; k < buffer->parent_count; k++)
		if ((size_t)buffer->parents[k] == j)
			return (struct ilp_term){making->program->takes[i][k], 1, 0};
	return number(0);
}

static void make_pair(struct making *making, size_t i, size_t j)
{
	size_t count = making->all.count;
	struct ilp_term *up = &making->below[i * count + j], *down = &making->below[j * count + i];
	const struct ilp_item *a = &making->items[i], *b = &making->items[j];
	struct ilp_term a_takes = take(making, i, j), b_takes = take(making, j, i);
	*up = binary(making);
	bool plain = a->keep.column < 0 && b->keep.column < 0 && a_takes.column < 0 &&
		     b_takes.column < 0;
	if (plain) {
		*down = (struct ilp_term){up->column, -1, 1};
	} else {
		*down = binary(making);
		plus(making, *up, 1);
		plus(making, *down, 1);
		plus(making, a_takes, 1);
		plus(making, b_takes, 1);
		plus(making, a->keep, -1);
		plus(making, b->keep, -1);
		plus(making, number(1), 1);
		row_end(making, false);
		for (int side = 0; side < 2; side++) {
			plus(making, side ? a->keep : b->keep, 1);
			plus(making, *up, -1);
			plus(making, *down, -1);
			plus(making, a_takes, -1);
			plus(making, b_takes, -1);
			row_end(making, false);
		}
	}
	address_above(making, i, j, *up);
	address_above(making, j, i, *down);
}

/* Column by column: a child at its parent's address. */
static void make_takes(struct making *making, size_t i)
{
	struct order_program *program = making->program;
	const struct buffer *child = &making->packing->buffers[i];
	const struct ilp_item *c = &making->items[i];
	int *columns = arena_array(making->arena, int, child->parent_count);
	program->takes[i] = columns;
	for (size_t k = 0; k < child->parent_count; k++) {
		const struct ilp_item *p = &making->items[child->parents[k]];
		struct ilp_term takes = binary(making);
		columns[k] = takes.column;
		double far = (double)number_max(c->most - p->least, p->most - c->least);
		for (int side = -1; side <= 1; side += 2) {
			plus(making, c->address, side);
			plus(making, p->address, -side);
			plus(making, number(far), 1);
			plus(making, takes, -far);
			row_end(making, false);
		}
		no_more_than(making, takes, c->keep);
		no_more_than(making, takes, p->keep);
	}
	if (!child->must_take_over)
		return;
	for (size_t k = 0; k < child->parent_count; k++)
		plus(making, (struct ilp_term){columns[k], 1, 0}, 1);
	plus(making, c->keep, -1);
	row_end(making, false);
}

static void minus_taken(struct making *making, const size_t *clique, size_t count)
{
	for (size_t k = 0; k < count; k++)
		for (size_t l = 0; l < count; l++)
			plus(making, take(making, clique[k], clique[l]),
				(double)making->items[clique[k]].size);
}

/* What lives at once: below each, above each, and all together. */
static void make_clique(struct making *making, const size_t *clique, size_t count)
{
	size_t all = making->all.count;
	for (size_t k = 0; k < count; k++) {
		size_t j = clique[k];
		const struct ilp_item *item = &making->items[j];
		plus(making, item->address, 1);
		for (size_t l = 0; l < count; l++)
			if (l != k)
				plus(making, making->below[clique[l] * all + j],
					-(double)making->items[clique[l]].size);
		minus_taken(making, clique, count);
		row_end(making, false);
		plus(making, making->top, 1);
		plus(making, number(making->padding), 1);
		plus(making, item->address, -1);
		plus(making, item->keep, -(double)item->size);
		for (size_t l = 0; l < count; l++)
			if (l != k)
				plus(making, making->below[j * all + clique[l]],
					-(double)making->items[clique[l]].size);
		minus_taken(making, clique, count);
		row_end(making, false);
	}
	plus(making, making->top, 1);
	plus(making, number(making->padding), 1);
	for (size_t k = 0; k < count; k++)
		plus(making, making->items[clique[k]].keep, -(double)making->items[clique[k]].size);
	minus_taken(making, clique, count);
	row_end(making, false);
}

/* Sets of buffers that live at once and are in no other such set begin where a buffer begins, and
 * hold no buffer that ends before another begins. */
static void make_cliques(struct making *making)
{
	const struct packing *packing = making->packing;
	size_t *clique = arena_array(making->arena, size_t, packing->count);
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
			make_clique(making, clique, count);
	}
}

static void make_goal(struct making *making)
{
	struct order_program *program = making->program;
	const struct packing *packing = making->packing;
	double weights = 0, capacity = (double)making->capacity / (double)program->unit;
	making->top = number(capacity);
	for (size_t i = 0; i < packing->count; i++)
		weights += (double)packing->buffers[i].weight;
	if (packing->goal == PACKING_PEAK) {
		making->top =
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
			plus(making, making->top, 1);
			plus(making, making->items[i].address, -1);
			plus(making, number(making->items[i].true_size), -1);
			row_end(making, false);
		}
	}
}

struct order_program *order_program_make(
	const struct packing *packing, struct arena *arena, size_t *culprit)
{
	struct order_program *program = arena_new(arena, struct order_program);
	struct packing all = packing_with_reserved(packing, arena);
	*program = (struct order_program){
		.packing = packing,
		.milp = milp_make(arena),
		.unit = find_unit(packing),
		.addresses = arena_array(arena, int, packing->count),
		.steps = arena_array(arena, int64_t, packing->count),
		.keeps = arena_array(arena, int, packing->count),
		.takes = arena_array(arena, const int *, packing->count),
	};
	struct making making = {
		.program = program,
		.packing = packing,
		.all = all,
		.arena = arena,
		.capacity = enough(packing, arena),
		.items = arena_array(arena, struct ilp_item, all.count),
		.below = arena_array(arena, struct ilp_term, all.count * all.count),
		.row = arena_array(arena, struct ilp_term, (all.count + 4) * (all.count + 4)),
	};
	for (size_t k = 0; k < all.count * all.count; k++)
		making.below[k] = number(0);
	for (size_t i = 0; i < packing->count; i++)
		if (!make_item(&making, i)) {
			*culprit = i;
			return NULL;
		}
	for (size_t i = packing->count; i < all.count; i++)
		make_range(&making, i);
	make_goal(&making);
	for (size_t i = 0; i < packing->count; i++)
		make_takes(&making, i);
	for (size_t i = 0; i < all.count; i++)
		for (size_t j = 0; j < i && j < packing->count; j++)
			if (touch(&all, i, j))
				make_pair(&making, i, j);
	make_cliques(&making);
	return program;
}
