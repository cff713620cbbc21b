#include "cost/nest/nest_loops.h"

#include "base/checked.h"

bool nest_words(
	const struct dataspace *space, int dimension_count, const int64_t *extents, int64_t *out)
{
	bool fits = true;
	int64_t words = 1;
	for (int r = 0; r < space->rank_count; r++) {
		int64_t reach = 1;
		for (int d = 0; d < dimension_count; d++) {
			int64_t coefficient = space->ranks[r].coefficient[d];
			if (coefficient)
				reach = checked_add(&fits, reach,
					checked_mul(&fits, coefficient, extents[d] - 1));
		}
		words = checked_mul(&fits, words, reach);
	}
	*out = words;
	return fits;
}

static enum nest_verdict refuse(
	struct nest_score *score, enum nest_verdict verdict, int64_t asked, int64_t given)
{
	score->asked = asked;
	score->given = given;
	return verdict;
}

enum { FOURS = SHAPE_DIMENSIONS_MOST / 4 };

/* Loops while they are gathered: what the bounds inside multiply to, by dimension. */
struct loop_gathering {
	struct nest_loops *loops;
	int64_t inside[SHAPE_DIMENSIONS_MOST];
	int64_t extent[SHAPE_DIMENSIONS_MOST];
	uint32_t dimensions;
	bool fits; /* the bounds of every dimension so far */
	int dimension;
};

/* One loop outside all so far.  A bound that goes a round beyond the extent fits nothing. */
static void add_loop(struct loop_gathering *gathering, int dimension, int64_t bound, int level,
	bool spatial, bool y)
{
	int64_t *inside = &gathering->inside[dimension];
	/* Its last round begins inside the extent. */
	int64_t extent = gathering->extent[dimension];
	if (bound < 1 || bound > extent || (bound - 1) * *inside >= extent) {
		gathering->fits = false;
		gathering->dimension = dimension;
		return;
	}
	gathering->loops->at[gathering->loops->count++] =
		(struct nest_loop){bound, *inside, (uint8_t)dimension, (uint8_t)level, spatial, y};
	*inside *= bound;
}

static void add_block(struct loop_gathering *gathering, int dimension_count,
	const struct mapping_row *row, int level)
{
	struct nest_loops *loops = gathering->loops;
	int64_t fan[2] = {1, 1};
	uint32_t busy = nest_busy(row->spatial, FOURS, gathering->dimensions);
	for (int axis = 0; busy && axis < 2; axis++)
		for (int i = 0; i < dimension_count; i++) {
			int d = row->spatial_order[i];
			if (!(busy >> d & 1) || (row->spatial_y >> d & 1) != axis)
				continue;
			add_loop(gathering, d, row->spatial[d], level, true, axis);
			if (gathering->fits && !number_mul(fan[axis], row->spatial[d], &fan[axis]))
				fan[axis] = INT64_MAX;
		}
	loops->fan_x[level] = fan[0];
	loops->fan_y[level] = fan[1];
	if (!number_mul(fan[0], fan[1], &loops->fan[level]))
		loops->fan[level] = INT64_MAX;
}

static void take_extents(const struct loop_gathering *gathering, int dimension_count, int64_t *out)
{
	for (int d = 0; d < dimension_count; d++)
		out[d] = number_min(gathering->inside[d], gathering->extent[d]);
}

/* The product of all bounds of a dimension, as far as it fits. */
static int64_t product_of(
	const struct hierarchy *hierarchy, const struct mapping *mapping, int dimension)
{
	int64_t product = 1;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		const struct mapping_row *row =
			&mapping->rows[hierarchy_loops_row(hierarchy, level)];
		if (!number_mul(product, row->temporal[dimension], &product) ||
			!number_mul(product, mapping->rows[level->block_row].spatial[dimension],
				&product))
			return INT64_MAX;
	}
	return product;
}

static enum nest_verdict refuse_factors(const struct nest_model *model,
	const struct mapping *mapping, int dimension, struct nest_score *score)
{
	score->dimension = dimension;
	return refuse(score, NEST_FACTORS, product_of(model->hierarchy, mapping, dimension),
		model->shape->dimensions[dimension].extent);
}

/* Instances from the outermost level inwards, and whether each block has room for what it fans
 * out into: in all, else along X, else along Y. */
static enum nest_verdict count_instances(
	const struct nest_model *model, struct nest_loops *loops, struct nest_score *score)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	int64_t instances = 1;
	for (int i = hierarchy->level_count - 1; i >= 0; i--) {
		const struct nest_level *level = &hierarchy->levels[i];
		loops->instances[i] = instances;
		const int64_t asked[] = {loops->fan[i], loops->fan_x[i], loops->fan_y[i]};
		const int64_t given[] = {
			level->fanout_x * level->fanout_y, level->fanout_x, level->fanout_y};
		for (int k = 0; k < 3; k++)
			if (asked[k] > given[k]) {
				score->level = i;
				return refuse(score, NEST_FANOUT, asked[k], given[k]);
			}
		instances *= loops->fan[i];
	}
	loops->multipliers = instances;
	return NEST_FITS;
}

static enum nest_verdict find_homes(const struct nest_model *model, const struct mapping *mapping,
	struct nest_loops *loops, struct nest_score *score)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	for (int i = 0; i < hierarchy->level_count; i++)
		loops->kept[i] = 0;
	for (int t = 0; t < model->shape->space_count; t++) {
		loops->home[t] = -1;
		for (int i = 0; i < hierarchy->level_count; i++) {
			const struct nest_level *level = &hierarchy->levels[i];
			if (!level->storage || !(mapping->residency[t] >> level->row & 1))
				continue;
			loops->kept[i] |= (uint8_t)(1u << t);
			loops->home[t] = i;
		}
		if (loops->home[t] < 0) {
			score->space = t;
			return NEST_HOMELESS;
		}
	}
	return NEST_FITS;
}

enum nest_verdict nest_loops_make(const struct nest_model *model, const struct mapping *mapping,
	struct nest_loops *loops, struct nest_score *score)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	const struct shape *shape = model->shape;
	int dimension_count = shape->dimension_count;
	struct loop_gathering gathering = {
		.loops = loops, .dimensions = model->all_dimensions, .fits = true};
	for (int d = 0; d < dimension_count; d++) {
		gathering.inside[d] = 1;
		gathering.extent[d] = shape->dimensions[d].extent;
	}
	loops->count = 0;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		const struct mapping_row *row =
			&mapping->rows[hierarchy_loops_row(hierarchy, level)];
		take_extents(&gathering, dimension_count, loops->child[i]);
		loops->block[i] = loops->count;
		add_block(&gathering, dimension_count, &mapping->rows[level->block_row], i);
		take_extents(&gathering, dimension_count, loops->block_tile[i]);
		loops->own[i] = loops->count;
		uint32_t busy = nest_busy(row->temporal, FOURS, model->all_dimensions);
		for (int k = 0; busy && k < dimension_count; k++) {
			int d = row->temporal_order[k];
			if (busy >> d & 1)
				add_loop(&gathering, d, row->temporal[d], i, false, false);
		}
		take_extents(&gathering, dimension_count, loops->tile[i]);
	}
	loops->block[hierarchy->level_count] = loops->count;
	if (!gathering.fits)
		return refuse_factors(model, mapping, gathering.dimension, score);
	loops->perfect = true;
	for (int d = 0; d < dimension_count; d++) {
		if (gathering.inside[d] < gathering.extent[d])
			return refuse_factors(model, mapping, d, score);
		loops->perfect &= gathering.inside[d] == gathering.extent[d];
	}
	enum nest_verdict verdict = count_instances(model, loops, score);
	if (verdict == NEST_FITS)
		verdict = find_homes(model, mapping, loops, score);
	return verdict;
}

bool nest_passes(
	const struct nest_model *model, const struct nest_loops *loops, int level, int space)
{
	return level != loops->home[space] &&
	       (loops->kept[level] & model->hierarchy->levels[level].no_coalesce) >> space & 1;
}

bool nest_holds(
	const struct nest_model *model, const struct nest_loops *loops, int level, int space)
{
	return loops->kept[level] >> space & 1 && !nest_passes(model, loops, level, space);
}

bool nest_resets(const struct nest_model *model, int level, int space)
{
	return level < 0 || model->hierarchy->levels[level].no_temporal_reuse >> space & 1;
}

int nest_pace(const struct nest_model *model, const struct nest_loops *loops, int level, int space)
{
	bool all = nest_resets(model, level, space);
	uint32_t relevant = all ? UINT32_MAX : model->shape->spaces[space].relevant;
	int k = loops->block[level + 1];
	while (k < loops->count &&
		(loops->at[k].spatial || !(relevant >> loops->at[k].dimension & 1)))
		k++;
	return k;
}
