#include "solvers/map/uneven/view.h"

#include "base/number.h"
#include "cost/nest/nest_home.h"

#include <math.h>

static int64_t extent_of(const struct uneven_view *view, int d)
{
	return view->frame->search->shape->dimensions[d].extent;
}

/* The storage level around block i; `count` if there is none. */
static int level_around(const struct nest_frame *frame, int i)
{
	int j = 0;
	while (j < frame->count && frame->level[j] < i)
		j++;
	return j;
}

/* Blocks from the multipliers outwards. */
static void find_spatial(struct uneven_view *view)
{
	const struct nest_frame *frame = view->frame;
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	int dimension_count = frame->search->shape->dimension_count;
	for (int d = 0; d < dimension_count; d++) {
		int64_t inside = 1;
		for (int j = 0; j <= frame->count; j++)
			view->edge[j][d] = view->within_edge[j][d] = view->inside[j][d] = 1;
		for (int i = 0; i < hierarchy->level_count; i++) {
			uint32_t bound =
				view->mapping.rows[hierarchy->levels[i].block_row].spatial[d];
			int around = level_around(frame, i);
			if (bound > 1) {
				view->edge[around][d] = bound;
				view->within_edge[around][d] = inside;
			}
			inside *= bound;
			for (int j = around; j <= frame->count; j++)
				view->inside[j][d] = inside;
		}
		view->apart[frame->count][d] = 1;
		for (int j = frame->count - 1; j >= 0; j--) {
			double most = view->apart[j + 1][d];
			for (int i = frame->level[j] + 1;
				i < hierarchy->level_count && level_around(frame, i) == j + 1; i++)
				most = fmax(most, view->mapping.rows[hierarchy->levels[i].block_row]
							  .spatial[d]);
			view->apart[j][d] = most;
		}
	}
}

static void find_instances(struct uneven_view *view)
{
	const struct nest_search *search = view->frame->search;
	const struct hierarchy *hierarchy = search->hierarchy;
	double most[SHAPE_DIMENSIONS_MOST], all = 1, used[ARCH_LEVELS_MOST];
	for (int d = 0; d < search->shape->dimension_count; d++)
		most[d] = 1;
	for (int i = hierarchy->level_count - 1; i >= 0; i--) {
		const uint32_t *bounds = view->mapping.rows[hierarchy->levels[i].block_row].spatial;
		used[i] = all;
		view->utilized[i] = 1;
		for (int d = 0; d < search->shape->dimension_count; d++) {
			view->utilized[i] *= most[d];
			most[d] = fmax(most[d], bounds[d]);
			all *= bounds[d];
		}
	}
	for (int j = 0; j < view->frame->count; j++) {
		const struct nest_level *level = &hierarchy->levels[view->frame->level[j]];
		double instances = used[view->frame->level[j]];
		double clusters =
			fmax(1, (double)(level->mesh_x * level->mesh_y / level->cluster_size));
		double share = instances < clusters ? 1 : clusters / instances;
		view->instances[j] = instances;
		for (int a = 0; a < NEST_ACTIONS; a++)
			view->pj[j][a] = level->pj[a] * share / (double)level->block_size;
	}
}

void uneven_view_make(
	const struct nest_frame *frame, const struct mapping *mapping, struct uneven_view *out)
{
	const struct nest_search *search = frame->search;
	double block = 1;
	out->frame = frame;
	out->mapping = *mapping;
	out->cycles = 1;
	find_spatial(out);
	find_instances(out);
	for (int d = 0; d < search->shape->dimension_count; d++) {
		out->cycles *=
			(double)number_ceil_div(extent_of(out, d), out->inside[frame->count][d]);
		block *= mapping->rows[search->hierarchy->levels[0].block_row].spatial[d];
	}
	out->direct = !frame->timeloop || block == 1;
	for (int t = 0; t < search->shape->space_count; t++)
		uneven_view_keep(out, t);
}

void uneven_view_keep(struct uneven_view *view, int t)
{
	const struct nest_frame *frame = view->frame;
	view->chain_count[t] = 0;
	for (int j = frame->count - 1; j >= 0; j--) {
		int row = frame->search->hierarchy->levels[frame->level[j]].row;
		if (view->mapping.residency[t] >> row & 1)
			view->chain[t][view->chain_count[t]++] = j;
	}
	view->sums_apart[t] = !frame->timeloop && view->chain_count[t] &&
			      nest_home_parts(frame->search->hierarchy, frame->search->shape,
				      &view->mapping, t, frame->level[view->chain[t][0]]) > 1;
}

bool uneven_view_fits(const struct uneven_view *view, int j, const int64_t *rest)
{
	const struct nest_search *search = view->frame->search;
	const struct nest_level *level = &search->hierarchy->levels[view->frame->level[j]];
	if (!level->size)
		return true;
	double sum = 0;
	for (int t = 0; t < search->shape->space_count; t++) {
		if (!(view->mapping.residency[t] >> level->row & 1))
			continue;
		const struct dataspace *space = &search->shape->spaces[t];
		double words = 1;
		for (int r = 0; r < space->rank_count; r++) {
			double reach = 1;
			for (int d = 0; d < search->shape->dimension_count; d++) {
				double tile = fmin((double)extent_of(view, d),
					(double)rest[d] * (double)view->inside[j][d]);
				reach += (double)space->ranks[r].coefficient[d] * (tile - 1);
			}
			words *= reach;
		}
		sum += words;
	}
	return sum <= (double)level->size;
}

bool uneven_is_open(const struct uneven_view *view, const struct uneven_part *part, int d)
{
	uint32_t open = part->level == view->frame->count ? view->frame->search->domain->imperfect
							  : part->open[part->level + 1];
	return open >> d & 1;
}

int64_t uneven_cover(const struct uneven_view *view, int j, int d)
{
	return number_ceil_div(extent_of(view, d), view->inside[j][d]);
}
