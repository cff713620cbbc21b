#include "base/arena.h"
#include "solvers/map/ilp_path.h"

#include <math.h>

struct ilp_product {
	int d, t, c, gate;
	uint64_t blocks;
	struct ilp_values values;
};

/* Adds the gate's column to the last row, or takes it from the row's other side. */
static double gate_constant(const struct ilp_tiles *tiles, int t, int gate)
{
	return gate < 0 || !tiles->chain[t];
}

static void enter_gate(struct ilp_tiles *tiles, int t, int gate, double coefficient)
{
	if (gate >= 0 && tiles->chain[t])
		milp_entry(tiles->milp, tiles->chain[t][gate], coefficient);
}

/* The second path of a product: flows between values, by bound and whether it counts. */
struct flow {
	struct ilp_tiles *tiles;
	struct ilp_path *path;
	struct array(int) * into; /* by value: columns that enter it */
};

static void count_or_not(struct ilp_tiles *tiles, int counted, const int *flows, int n)
{
	/* flows[2 * i]: free, flows[2 * i + 1]: counted; bounds above 1 */
	for (int which = 0; which < 2; which++) {
		milp_row(tiles->milp, -INFINITY, which ? 0 : 1);
		milp_entry(tiles->milp, counted, which ? -1 : 1);
		for (int i = 0; i < n; i++)
			if (flows[2 * i + which] >= 0)
				milp_entry(tiles->milp, flows[2 * i + which], 1);
	}
}

/* One row of loops; counted < 0: always (-1) or never (-2), else the column that says so. */
static void flow_through(
	struct flow *flow, const struct ilp_product *product, int row, int counted, bool first)
{
	struct ilp_tiles *tiles = flow->tiles;
	struct milp *milp = tiles->milp;
	struct ilp_path *path = flow->path;
	int count = path->count;
	size_t size = (size_t)(count * count);
	int *flows = arena_array(tiles->arena, int, size * 2); /* [(value, bound) * 2 + counts] */
	struct array(int) *next =
		(void *)arena_alloc_array(tiles->arena, (size_t)count, sizeof *flow->into);
	for (size_t i = 0; i < size; i++) {
		int v = (int)i / count, b = (int)i % count;
		flows[2 * i] = flows[2 * i + 1] = -1;
		bool here = first ? v == 0 : flow->into[v].count > 0;
		if (!here || !ilp_enter_bound(tiles, row, product->d, b, 0))
			continue;
		int64_t product_value = path->divisors[v] * path->divisors[b];
		bool whole = path->divisors[count - 1] % product_value == 0;
		if (b == 0 || counted != -1)
			flows[2 * i] = ilp_tiles_column(tiles, false);
		if (b > 0 && counted != -2 && whole)
			flows[2 * i + 1] = ilp_tiles_column(tiles, false);
		if (flows[2 * i] >= 0)
			*array_add(tiles->arena, &next[v]) = flows[2 * i];
		if (flows[2 * i + 1] >= 0)
			*array_add(tiles->arena, &next[ilp_path_find(path, product_value)]) =
				flows[2 * i + 1];
	}
	for (int v = 0; v < count; v++) { /* what enters a value leaves it */
		bool source = first && v == 0;
		if (!source && (first || !flow->into[v].count))
			continue;
		double constant = source ? gate_constant(tiles, product->t, product->gate) : 0;
		milp_row(milp, constant, constant);
		for (int i = 0; i < 2 * count; i++)
			if (flows[2 * v * count + i] >= 0)
				milp_entry(milp, flows[2 * v * count + i], 1);
		if (source)
			enter_gate(tiles, product->t, product->gate, -1);
		for (size_t i = 0; !source && i < flow->into[v].count; i++)
			milp_entry(milp, flow->into[v].at[i], -1);
	}
	bool gated = !gate_constant(tiles, product->t, product->gate);
	for (int b = 0; b < count; b++) { /* the bounds are those of the first path */
		milp_row(milp, gated ? -INFINITY : 0, 0);
		ilp_enter_bound(tiles, row, product->d, b, -1);
		for (int v = 0; v < count; v++)
			for (int which = 0; which < 2; which++)
				if (flows[2 * (v * count + b) + which] >= 0)
					milp_entry(milp, flows[2 * (v * count + b) + which], 1);
	}
	if (counted >= 0) {
		for (size_t i = 0; i < size; i += (size_t)count)
			flows[2 * i] = -1; /* bounds of 1 */
		count_or_not(tiles, counted, flows, (int)size);
	}
	flow->into = (void *)next;
	tiles->mass++;
}

static bool moves(const struct ilp_path *path, int row)
{
	for (int i = 0; i < path->count * path->count; i++)
		if (path->steps[row][i] >= 0 && i % path->count)
			return true;
	return false;
}

static const struct ilp_values *product_of(
	struct ilp_tiles *tiles, int d, const struct ilp_factors *factors)
{
	const struct ilp_frame *frame = tiles->frame;
	struct ilp_product *product = arena_new(tiles->arena, struct ilp_product);
	int c = factors->all >> d & 1 ? -1 : factors->c, rows = frame->row_count;
	int start = c < 0 ? 0 : frame->nest.tiling[c] + 1;
	*product = (struct ilp_product){.d = d, .t = factors->t, .c = c, .gate = factors->gate};
	for (int r = start; r < rows; r++)
		if (factors->blocks[d] >> r & 1 && moves(tiles->paths[d], r))
			product->blocks |= UINT64_C(1) << r;
	for (size_t i = 0; i < tiles->products.count; i++) {
		const struct ilp_product *other = tiles->products.at[i];
		if (other->d == d && other->c == product->c && other->blocks == product->blocks &&
			other->gate == product->gate &&
			(other->t == product->t || (product->c < 0 && product->gate < 0)))
			return &other->values;
	}
	*array_add(tiles->arena, &tiles->products) = product;
	const struct ilp_counted *counted =
		c < 0 ? NULL : ilp_counted(&tiles->orders, tiles->arena, factors->t, c);
	struct flow flow = {tiles, tiles->paths[d], NULL};
	bool first = true;
	for (int r = start; r < rows; r++) {
		if (!moves(tiles->paths[d], r))
			continue;
		int counts = product->blocks >> r & 1 ? -1 : -2;
		if (!ilp_spatial(frame, r))
			counts = -1;
		for (int j = 0; counted && j < frame->nest.count; j++)
			if (frame->nest.tiling[j] == r)
				counts = counted->loop[j][d];
		flow_through(&flow, product, r, counts, first);
		first = false;
	}
	struct array(struct ilp_value) list = {0};
	for (int v = 0; v < tiles->paths[d]->count && !first; v++) {
		if (!flow.into[v].count)
			continue;
		int column = ilp_tiles_column(tiles, false);
		milp_row(tiles->milp, 0, 0);
		milp_entry(tiles->milp, column, -1);
		for (size_t i = 0; i < flow.into[v].count; i++)
			milp_entry(tiles->milp, flow.into[v].at[i], 1);
		*array_add(tiles->arena, &list) =
			(struct ilp_value){column, (double)tiles->paths[d]->divisors[v]};
	}
	product->values = (struct ilp_values){list.count, list.at};
	tiles->mass++;
	return &product->values;
}

/* Nothing varies: one value, there with its gate. */
static struct ilp_values constant_values(struct ilp_tiles *tiles, const struct ilp_factors *factors)
{
	struct ilp_value *one = arena_new(tiles->arena, struct ilp_value);
	bool always = gate_constant(tiles, factors->t, factors->gate);
	*one = (struct ilp_value){always ? -1 : tiles->chain[factors->t][factors->gate], 1};
	return (struct ilp_values){1, one};
}

static struct ilp_values join(
	struct ilp_tiles *tiles, const struct ilp_values *const *lists, int count)
{
	struct ilp_combination combination = {.count = count};
	struct array(struct ilp_value) joined = {0};
	for (int i = 0; i < count; i++)
		combination.of[i] = lists[i]->count;
	if (ilp_combination_too_many(tiles, &combination))
		return (struct ilp_values){0};
	int stride = 1;
	do {
		double value = 1;
		for (int i = 0; i < count; i++)
			value *= lists[i]->at[combination.at[i]].value;
		int column = count == 1 ? lists[0]->at[combination.at[0]].column
					: ilp_tiles_column(tiles, false);
		*array_add(tiles->arena, &joined) = (struct ilp_value){column, value};
	} while (ilp_combination_next(&combination));
	for (int i = 0; i < count && count > 1; stride *= (int)lists[i++]->count)
		for (size_t n = 0; n < lists[i]->count; n++) {
			milp_row(tiles->milp, 0, 0);
			milp_entry(tiles->milp, lists[i]->at[n].column, -1);
			for (size_t k = 0; k < joined.count; k++)
				if (k / (size_t)stride % lists[i]->count == n)
					milp_entry(tiles->milp, joined.at[k].column, 1);
		}
	tiles->mass++;
	return (struct ilp_values){joined.count, joined.at};
}

struct ilp_values ilp_tiles_values(struct ilp_tiles *tiles, const struct ilp_factors *factors)
{
	const struct ilp_values *lists[SHAPE_DIMENSIONS_MOST];
	int count = 0;
	if (tiles->columns > tiles->most)
		return (struct ilp_values){0};
	for (int d = 0; d < tiles->frame->dimension_count; d++) {
		if (!(factors->dimensions >> d & 1) || !tiles->paths[d])
			continue;
		const struct ilp_values *values = product_of(tiles, d, factors);
		if (values->count)
			lists[count++] = values;
	}
	return count ? join(tiles, lists, count) : constant_values(tiles, factors);
}
