#include "tests/support/naive_drains.h"

#include "base/arena.h"

#include <string.h>

/* The loops around a level, and its tile. */
struct loops_around {
	const struct nest_case *nest;
	const struct dataspace *space;
	int64_t tile[SHAPE_DIMENSIONS_MOST];  /* indices that the loops inside run over */
	int64_t index[SHAPE_DIMENSIONS_MOST]; /* of the tile's first element */
	int count;
	struct {
		bool spatial;
		int dimension;
		int64_t bound, stride;
	} at[2 * ARCH_LEVELS_MOST * SHAPE_DIMENSIONS_MOST]; /* innermost first */
	bool *held, *next;                                  /* by element */
	int64_t elements, left;
};

static int64_t element_of(const struct loops_around *around, const int64_t *index)
{
	const struct shape *shape = &around->nest->shape;
	int64_t element = 0;
	for (int r = 0; r < around->space->rank_count; r++) {
		int64_t at = 0, size = 1;
		for (int d = 0; d < shape->dimension_count; d++) {
			int64_t coefficient = around->space->ranks[r].coefficient[d];
			at += coefficient * index[d];
			size += coefficient * (shape->dimensions[d].extent - 1);
		}
		element = element * size + at;
	}
	return element;
}

/* Marks the elements of the tile, dimension after dimension. */
static void mark_tile(struct loops_around *around, int d, int64_t *index)
{
	if (d == around->nest->shape.dimension_count) {
		around->next[element_of(around, index)] = true;
		return;
	}
	bool relevant = around->space->relevant >> d & 1;
	for (int64_t i = 0; i < (relevant ? around->tile[d] : 1); i++) {
		index[d] = around->index[d] + i;
		mark_tile(around, d + 1, index);
	}
}

static void take_step(struct loops_around *around, bool end)
{
	int64_t index[SHAPE_DIMENSIONS_MOST];
	memset(around->next, 0, (size_t)around->elements);
	if (!end)
		mark_tile(around, 0, index);
	for (int64_t e = 0; e < around->elements; e++)
		around->left += around->held[e] && !around->next[e];
	memcpy(around->held, around->next, (size_t)around->elements);
}

/* All iterations of the loops of a kind from k inwards. */
static void run(struct loops_around *around, int k, bool spatial)
{
	while (k >= 0 && around->at[k].spatial != spatial)
		k--;
	if (k < 0 && !spatial) {
		take_step(around, false);
		return;
	}
	if (k < 0) {
		run(around, around->count - 1, false);
		take_step(around, true);
		return;
	}
	int64_t *index = &around->index[around->at[k].dimension], first = *index;
	for (int64_t i = 0; i < around->at[k].bound; i++, *index += around->at[k].stride)
		run(around, k - 1, spatial);
	*index = first;
}

static void add_row(struct loops_around *around, const uint32_t *bounds, const uint8_t *order,
	bool spatial, bool inside, int64_t *stride)
{
	for (int n = 0; n < around->nest->shape.dimension_count; n++) {
		int d = order[n];
		if (!inside) {
			around->at[around->count].spatial = spatial;
			around->at[around->count].dimension = d;
			around->at[around->count].bound = bounds[d];
			around->at[around->count++].stride = stride[d];
		}
		stride[d] *= bounds[d];
		if (inside)
			around->tile[d] = stride[d];
	}
}

int64_t naive_drains(const struct nest_case *nest, int level, int t)
{
	struct arena *arena = arena_open();
	struct loops_around *around = arena_new(arena, struct loops_around);
	int64_t stride[SHAPE_DIMENSIONS_MOST], last[SHAPE_DIMENSIONS_MOST];
	around->nest = nest;
	around->space = &nest->shape.spaces[t];
	for (int d = 0; d < nest->shape.dimension_count; d++) {
		stride[d] = around->tile[d] = 1;
		last[d] = nest->shape.dimensions[d].extent - 1;
	}
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		const struct nest_level *at = &nest->hierarchy.levels[i];
		const struct mapping_row *block = &nest->mapping.rows[at->block_row],
					 *own = &nest->mapping.rows[at->row];
		add_row(around, block->spatial, block->spatial_order, true, i <= level, stride);
		add_row(around, own->temporal, own->temporal_order, false, i <= level, stride);
	}
	around->elements = element_of(around, last) + 1;
	around->held = arena_array(arena, bool, around->elements);
	around->next = arena_array(arena, bool, around->elements);
	run(around, around->count - 1, true);
	int64_t left = around->left;
	arena_close(arena);
	return left;
}
