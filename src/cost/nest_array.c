#include "cost/nest_array.h"

#include "cost/checked.h"
#include "cost/nest_digits.h"
#include "cost/nest_offsets.h"

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
		.dimension_count = x->model->shape->dimension_count,
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

static bool holds(const struct counting_array *x, int level, int t)
{
	const struct nest_level *at = &x->model->hierarchy->levels[level];
	return x->loops->kept[level] >> t & 1 && !(at->no_coalesce >> t & 1);
}

/* The outermost level in the PEs that holds a dataspace; -1 if none does, or if it is never
 * anywhere else. */
static int level_inside(const struct counting_array *x, int t)
{
	int i = x->model->hierarchy->array_inner - 1;
	if (x->loops->home[t] <= i)
		return -1;
	while (i >= 0 && !holds(x, i, t))
		i--;
	return i;
}

/* How often the tiles of a level move: iterations of the loops from the innermost one outwards that
 * moves them.  Inner loops, spatial ones included, stand at 0. */
static int64_t moves_of(struct counting_array *x, int t, int level)
{
	const struct nest_loops *loops = x->loops;
	bool anew = x->model->hierarchy->levels[level].no_temporal_reuse >> t & 1;
	uint32_t relevant = anew ? UINT32_MAX : x->model->shape->spaces[t].relevant;
	int pace = loops->block[level + 1];
	while (pace < loops->count &&
		(loops->at[pace].spatial || !(relevant >> loops->at[pace].dimension & 1)))
		pace++;
	int64_t moves = 1;
	for (int d = 0; d < x->model->shape->dimension_count; d++) {
		struct nest_digits digits = nest_digits_make(x->model, loops, d, -1);
		int64_t picked[NEST_DIGITS_MOST];
		for (int k = 0; k < digits.count; k++) {
			const struct nest_digit *digit = &digits.at[k];
			picked[k] = !digit->spatial && digit->loop >= pace ? NEST_DIGIT_FREE : 0;
		}
		moves = checked_mul(&x->fits, moves, nest_digits_count(&digits, picked, 0).count);
	}
	return moves;
}

bool nest_array_make(const struct nest_model *model, const struct nest_loops *loops,
	const struct nest_counts *counts, struct nest_array *out)
{
	struct counting_array x = {model, loops, true};
	*out = (struct nest_array){.passes = 1};
	for (int y = 0; y < 2; y++) {
		struct nest_offsets all = loops_along(&x, -1, y);
		out->extent[y] = product_of(&x, &all);
		for (int t = 0; t < model->shape->space_count; t++)
			out->hands_on[y] |= tiles_along(&x, t, y) < out->extent[y];
	}
	for (int t = 0; t < model->shape->space_count; t++) {
		int level = level_inside(&x, t);
		if (level < 0)
			continue;
		int64_t moves = moves_of(&x, t, level);
		out->passes = number_max(out->passes, moves);
		if (model->shape->spaces[t].written)
			continue;
		int64_t words = checked_mul(
			&x.fits, counts->at[level][t].capacity, tiles_along(&x, t, true));
		out->load_cycles =
			checked_add(&x.fits, out->load_cycles, checked_mul(&x.fits, moves, words));
	}
	return x.fits;
}

bool nest_array_count(
	const struct nest_model *model, const struct mapping *mapping, struct nest_counts *counts)
{
	struct nest_loops loops;
	struct nest_score unused;
	struct nest_array array;
	counts->array_cycles = 0;
	if (!model->hierarchy->array_end)
		return true;
	if (nest_loops_make(model, mapping, &loops, &unused) != NEST_FITS ||
		!nest_array_make(model, &loops, counts, &array))
		return false;
	bool fits = true;
	int64_t skew = 0;
	for (int y = 0; y < 2; y++)
		skew += array.hands_on[y] ? array.extent[y] - 1 : 0;
	counts->array_cycles =
		checked_add(&fits, array.load_cycles, checked_mul(&fits, array.passes, skew));
	return fits;
}
