/* What a cell fixes: floor_frame, floor_cell. */
#include "search/certificate/certificate_floor.h"

#include "cost/nest/nest_home.h"

#include <math.h>

static void describe(struct floor_frame *frame, int t)
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
		describe(&frame, t);
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
		double clusters =
			fmax(1, (double)(level->mesh_x * level->mesh_y / level->cluster_size));
		out->instances[j] = out->used[i];
		for (int a = 0; a < NEST_ACTIONS; a++)
			out->pj[j][a] = level->pj[a] * fmin(clusters / out->used[i], 1) /
					(double)level->block_size;
	}
}

/* Where a dataspace is, outermost first.  The home is one whatever its flags. */
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
