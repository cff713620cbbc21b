#include "solvers/map/exact/links.h"

#include <stdlib.h>

/* A child's tile and the places of its neighbours, by rank; the moves so far. */
struct link_moves {
	const struct dataspace *space;
	int64_t extent[SHAPE_RANKS_MOST], reach[SHAPE_RANKS_MOST];
	int64_t inside[SHAPE_RANKS_MOST]; /* steps of the loops inside, added up */
	int64_t first[SHAPE_RANKS_MOST];  /* the first move */
	bool moved;
	double whole, fresh; /* words of the tile; of the first move */
	int count;
	double innermost; /* words of the innermost loop's move */
	bool innermost_near, met;
};

/* Words that the next loop outwards brings; whether it leads from place to place. */
static double move_on(struct link_moves *moves, int d, int64_t stride, bool *near)
{
	const struct dataspace *space = moves->space;
	bool still = true, on = true;
	double shared = 1;
	*near = true;
	for (int r = 0; r < space->rank_count; r++) {
		int64_t step = space->ranks[r].coefficient[d] * stride;
		int64_t away = llabs(step - moves->inside[r]);
		still &= away == 0;
		on &= step - moves->inside[r] == moves->first[r];
		*near &= away <= moves->reach[r];
		shared *= away < moves->extent[r] ? (double)(moves->extent[r] - away) : 0;
		moves->inside[r] += step;
	}
	*near &= !still;
	if (still)
		return 0;
	if (!moves->moved) {
		moves->moved = true;
		moves->fresh = moves->whole - shared;
		for (int r = 0; r < space->rank_count; r++)
			moves->first[r] = moves->inside[r];
		return moves->fresh;
	}
	return on ? moves->fresh : moves->whole;
}

/* One more loop; true if its moves may be handed on. */
static bool hands_on(struct link_moves *moves, int d, int64_t stride)
{
	bool near;
	double words = move_on(moves, d, stride, &near);
	if (moves->count++ == 0) {
		moves->innermost = words;
		moves->innermost_near = near;
		moves->met = words == moves->whole;
		return moves->met && near;
	}
	if (words == 0 || words != moves->innermost)
		return false;
	return near || moves->innermost_near;
}

static bool follow_moves(const struct nest_view *view, const struct mapping *mapping, int child,
	const int64_t *left, struct link_moves *moves)
{
	const struct nest_frame *frame = view->frame;
	const struct nest_search *search = frame->search;
	int64_t temporal[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < search->shape->dimension_count; d++)
		temporal[d] = left[d];
	for (int j = child + 1; j < frame->count; j++) {
		const struct mapping_row *row =
			&mapping->rows[search->space->levels[frame->tiling[j]].row];
		for (int n = 0; n < search->shape->dimension_count; n++) {
			int d = row->temporal_order[n];
			if (row->temporal[d] == 1)
				continue;
			if (hands_on(moves, d, temporal[d] * (int64_t)view->inside[j][d]))
				return true;
			if (moves->count == 1 && moves->innermost == 0)
				return false;
			temporal[d] *= row->temporal[d];
		}
	}
	return false;
}

static struct link_moves open_moves(
	const struct nest_view *view, int space, int child, const int64_t *left)
{
	const struct nest_search *search = view->frame->search;
	const struct nest_level *block = &search->hierarchy->levels[view->frame->level[child] + 1];
	struct link_moves moves = {.space = &search->shape->spaces[space], .whole = 1};
	for (int r = 0; r < moves.space->rank_count; r++) {
		moves.extent[r] = 1;
		for (int d = 0; d < search->shape->dimension_count; d++) {
			int64_t coefficient = moves.space->ranks[r].coefficient[d];
			int64_t tile = left[d] * (int64_t)view->inside[child][d];
			uint32_t bound = view->mapping.rows[block->block_row].spatial[d];
			moves.extent[r] += coefficient * (tile - 1);
			moves.reach[r] += coefficient * tile * (int64_t)(bound - 1);
		}
		moves.whole *= (double)moves.extent[r];
	}
	return moves;
}

/* child -1: the multipliers.  Whether two dimensions of one rank are in a block further outwards, whose groups then
 * differ in size, so that links there change how many words a child has to share. */
static bool has_diagonals(const struct nest_view *view, int space, int child, int parent)
{
	const struct nest_frame *frame = view->frame;
	int next = child < 0 ? 0 : frame->level[child] + 1;
	for (int i = next + 1; i <= frame->level[parent]; i++) {
		int row = frame->search->hierarchy->levels[i].block_row;
		for (int r = 0; r < frame->search->shape->spaces[space].rank_count; r++) {
			int busy = 0;
			for (uint32_t own = frame->spaces[space].own[r]; own; own &= own - 1)
				busy += view->mapping.rows[row].spatial[__builtin_ctz(own)] > 1;
			if (busy > 1)
				return true;
		}
	}
	return false;
}

bool nest_links_around_multipliers(const struct nest_view *view, int space)
{
	const struct nest_space *known = &view->frame->spaces[space];
	const struct nest_chain *chain = &view->chains[space];
	if (view->direct || known->plain || !chain->count)
		return false;
	return !known->simple || has_diagonals(view, space, -1, chain->kept[chain->count - 1]);
}

bool nest_links_possible(const struct nest_view *view, const struct mapping *mapping,
	const struct nest_label *label, const int64_t *left, int space)
{
	const struct nest_frame *frame = view->frame;
	const struct nest_space *known = &frame->spaces[space];
	const struct nest_chain *chain = &view->chains[space];
	if (known->plain || !chain->count || chain->kept[0] <= label->boundary ||
		(chain->kept[chain->count - 1] > label->boundary && view->direct))
		return false;
	bool slides = label->innermost >= 0 && known->paired >> label->innermost & 1;
	if (!known->simple)
		return true;
	int k = 0;
	while (k + 1 < chain->count && chain->kept[k + 1] > label->boundary)
		k++;
	if (!frame->timeloop)
		return slides && k < chain->crossing_count &&
		       chain->crossings[k].level == label->boundary && chain->crossings[k].united;
	int parent = chain->kept[k], child = k + 1 < chain->count ? chain->kept[k + 1] : -1;
	if (child != label->boundary)
		return slides && child >= 0 && has_diagonals(view, space, child, parent);
	struct link_moves moves = open_moves(view, space, child, left);
	return follow_moves(view, mapping, child, left, &moves);
}
