#include "cost/nest/nest_slide.h"

#include "base/checked.h"
#include "cost/nest/nest_entering.h"
#include "cost/nest/nest_offsets.h"

#include <stdlib.h>
#include <string.h>

/*
 * From one move step to the next one temporal loop, j, goes on, and those inside it,
 * down to the pace, go from their last iteration back to 0.  The tile shifts in each rank
 * by j's step less the sum of (bound - 1) x step of those.  Instances do so alike, so what
 * one enters is what another enters, as far away as their offsets are: a set is
 * identical only if the offsets are.
 *
 * Links.  Say b enters at this step what its neighbour a entered at the step before.  Were
 * their offsets the same, b would enter what it entered at the step before, and holds.
 * So the offsets differ.  Where every rank has one dimension, tiles of one level that
 * differ share nothing, and an element is in the tile of a at some steps and of b at
 * none.  (Under imperfect factors too: tiles only get smaller, and of two instances with
 * the same offset, one without work at the step before had work when the other entered
 * the tile, all inner loops at 0 then.)  So only ranks of two dimensions have links.
 */
static const struct dataspace *space_of(const struct nest_slide *slide)
{
	return &slide->passage.model->shape->spaces[slide->passage.space];
}

static const struct nest_level *level_of(const struct nest_slide *slide, int level)
{
	return &slide->passage.model->hierarchy->levels[level];
}

static int64_t mul(const struct nest_slide *slide, int64_t a, int64_t b)
{
	return checked_mul(slide->passage.fits, a, b);
}

static int64_t add(const struct nest_slide *slide, int64_t a, int64_t b)
{
	return checked_add(slide->passage.fits, a, b);
}

static int64_t step_of(const struct nest_slide *slide, int r, const struct nest_loop *loop)
{
	return mul(slide, space_of(slide)->ranks[r].coefficient[loop->dimension], loop->stride);
}

static void find_widths(const struct nest_slide *slide, int64_t *width)
{
	const struct nest_passage *passage = &slide->passage;
	const struct dataspace *space = space_of(slide);
	for (int r = 0; r < space->rank_count; r++) {
		width[r] = 1;
		for (int d = 0; passage->child >= 0 && d < passage->model->shape->dimension_count;
			d++)
			width[r] = add(slide, width[r],
				mul(slide, space->ranks[r].coefficient[d],
					passage->loops->tile[passage->child][d] - 1));
	}
}

/* --- links */

/* The block above the child: its loops along X, then along Y, and how much further the next
 * neighbour is where loop i goes on and those of its axis before it go back to 0. */
static void find_mesh(struct nest_slide *slide)
{
	const struct nest_loops *loops = slide->passage.loops;
	struct nest_mesh *mesh = &slide->mesh;
	int block = slide->passage.child + 1;
	mesh->loop_count = loops->own[block] - loops->block[block];
	mesh->loops = &loops->at[loops->block[block]];
	if (mesh->loop_count > NEST_MESH_MOST) {
		*slide->passage.countable = false;
		mesh->loop_count = 0;
	}
	for (int r = 0; r < space_of(slide)->rank_count; r++) {
		int64_t back[2] = {0};
		for (int i = 0; i < mesh->loop_count; i++) {
			const struct nest_loop *loop = &mesh->loops[i];
			int64_t step = step_of(slide, r, loop);
			mesh->further[i][r] = step - back[loop->y];
			back[loop->y] =
				add(slide, back[loop->y], mul(slide, step, loop->bound - 1));
		}
	}
}

/* Whether loop i of the mesh makes neighbours that are `by` further; or, with back, nearer. */
static bool is_ahead(const struct nest_slide *slide, int i, const int64_t *by, bool back)
{
	int ranks = space_of(slide)->rank_count, r = 0;
	const int64_t *further = slide->mesh.further[i];
	while (r < ranks && further[r] == (back ? -by[r] : by[r]))
		r++;
	return r == ranks;
}

static bool is_neighbour(const struct nest_slide *slide, int i, const int64_t *by)
{
	return is_ahead(slide, i, by, false) || is_ahead(slide, i, by, true);
}

/* Whether all are served but those at one end: the loops that make the neighbours are the first of
 * their axes. */
static bool is_simple(const struct nest_slide *slide, const int64_t *by)
{
	const struct nest_mesh *mesh = &slide->mesh;
	bool simple = true;
	for (int i = 1; i < mesh->loop_count; i++)
		simple &= mesh->loops[i].y != mesh->loops[i - 1].y || !is_neighbour(slide, i, by);
	return simple;
}

/* Has an instance of the mesh a neighbour that is `by` further? */
static bool is_served(const struct nest_slide *slide, const int *index, const int64_t *by)
{
	const struct nest_loop *loops = slide->mesh.loops;
	bool first[2] = {true, true}, last[2] = {true, true}; /* loops before at 0, at the end */
	for (int i = 0; i < slide->mesh.loop_count; i++) {
		int64_t end = loops[i].bound - 1;
		bool y = loops[i].y;
		if ((last[y] && index[i] < end && is_ahead(slide, i, by, false)) ||
			(first[y] && index[i] > 0 && is_ahead(slide, i, by, true)))
			return true;
		first[y] &= index[i] == 0;
		last[y] &= index[i] == end;
	}
	return false;
}

/* Those of the mesh that are not served, tried one by one: their indices; how many. */
static int find_unserved(const struct nest_slide *slide, const int64_t *by, int *index)
{
	const struct nest_mesh *mesh = &slide->mesh;
	int64_t all = slide->passage.loops->fan[slide->passage.child + 1];
	int count = 0;
	if (all > NEST_OFFSETS_MOST / mesh->loop_count)
		*slide->passage.countable = false;
	for (int64_t n = 0; n < all && *slide->passage.countable; n++) {
		int *one = &index[count * mesh->loop_count];
		int64_t left = n;
		for (int i = 0; i < mesh->loop_count; i++) {
			one[i] = (int)(left % mesh->loops[i].bound);
			left /= mesh->loops[i].bound;
		}
		count += !is_served(slide, one, by);
	}
	return count;
}

/* Spatial loops of the blocks that make different groups; how many times they are kept apart. */
static int64_t gather(const struct nest_slide *slide, int from, int level, const int64_t *by,
	struct nest_offsets *offsets)
{
	const struct nest_loops *loops = slide->passage.loops;
	int block = slide->passage.child + 1;
	int64_t apart = 1;
	for (int i = from; i <= level; i++) {
		if (level_of(slide, i)->no_spatial_reuse >> slide->passage.space & 1) {
			apart *= loops->fan[i];
			continue;
		}
		for (int k = loops->block[i]; k < loops->own[i]; k++) {
			if (by && i == block && is_neighbour(slide, k - loops->block[i], by))
				continue;
			if (offsets->loop_count == NEST_SPATIAL_MOST)
				*slide->passage.countable = false;
			else
				offsets->loops[offsets->loop_count++] = &loops->at[k];
		}
	}
	return apart;
}

/* Groups of the children in one instance of a level; where those are served whose neighbour is `by`
 * further (NULL: nobody is), of the others, and how many of a mesh are served. */
static int64_t count_groups(
	const struct nest_slide *slide, const int64_t *by, int level, int64_t *served)
{
	const struct nest_passage *passage = &slide->passage;
	const struct nest_mesh *mesh = &slide->mesh;
	struct nest_offsets offsets = {
		.space = space_of(slide),
	};
	int block = passage->child + 1, index[NEST_OFFSETS_MOST];
	int64_t distinct = 0, apart, unserved = 1;
	if (by && !is_simple(slide, by)) {
		unserved = find_unserved(slide, by, index);
		for (int i = 0; i < mesh->loop_count; i++)
			offsets.loops[offsets.loop_count++] = &mesh->loops[i];
		apart = gather(slide, block + 1, level, NULL, &offsets);
		*passage->countable &= nest_offsets_count_chosen(
			&offsets, mesh->loop_count, index, (int)unserved, passage->fits, &distinct);
	} else {
		for (int i = 0; by && i < mesh->loop_count; i++)
			unserved *= is_neighbour(slide, i, by) ? 1 : mesh->loops[i].bound;
		apart = gather(slide, block, level, by, &offsets);
		*passage->countable &= nest_offsets_count(&offsets, passage->fits, &distinct);
	}
	if (by)
		*served = passage->loops->fan[block] - unserved;
	return mul(slide, apart, distinct);
}

/* What follows on what, and how often: keeps those that neighbours can make good. */
static void note_shift(struct nest_slide *slide, const struct nest_entering *before,
	const struct nest_entering *now, int64_t times)
{
	int ranks = space_of(slide)->rank_count, i = 0;
	struct nest_shift shift = {0};
	if (times == 0 || !nest_entering_shift(ranks, before, now, shift.by))
		return;
	while (i < slide->mesh.loop_count && !is_neighbour(slide, i, shift.by))
		i++;
	if (i == slide->mesh.loop_count)
		return;
	shift.words = mul(slide, times, nest_entering_words(ranks, now, slide->passage.fits));
	for (i = 0; i < slide->shift_count; i++)
		if (memcmp(slide->shifts[i].by, shift.by, sizeof shift.by) == 0) {
			slide->shifts[i].words = add(slide, slide->shifts[i].words, shift.words);
			return;
		}
	if (slide->shift_count == NEST_SHIFTS_MOST)
		*slide->passage.countable = false;
	else
		slide->shifts[slide->shift_count++] = shift;
}

/* Leaves the shifts that save the parent reads, and counts the words they hand on. */
static void settle_links(struct nest_slide *slide, int parent)
{
	int kept = 0;
	int64_t groups = slide->shift_count ? count_groups(slide, NULL, parent, NULL) : 0;
	for (int i = 0; i < slide->shift_count; i++) {
		int64_t served;
		if (count_groups(slide, slide->shifts[i].by, parent, &served) >= groups)
			continue;
		slide->links = add(slide, slide->links, mul(slide, slide->shifts[i].words, served));
		slide->shifts[kept++] = slide->shifts[i];
	}
	slide->shift_count = kept;
}

bool nest_has_links(const struct nest_passage *passage)
{
	const struct nest_loops *loops = passage->loops;
	int child = passage->child;
	if (child < 0 || passage->pace == loops->count || loops->fan[child + 1] == 1)
		return false;
	const struct nest_level *level = &passage->model->hierarchy->levels[child];
	const struct nest_level *above = level + 1;
	if ((level->no_temporal_reuse | above->no_link_transfer | above->no_spatial_reuse) >>
			passage->space &
		1)
		return false;
	for (int k = loops->block[child + 1]; k < passage->pace; k++)
		if (!loops->at[k].spatial)
			return false;
	return true;
}

/* --- over all steps */

/* Long, as one walk over the loops carries what each rank has shifted by, and the boxes before and
 * now: none of it means anything without the rest. */
void nest_slide_make(const struct nest_passage *passage, const int64_t *rounds, int parent,
	struct nest_slide *slide)
{
	const struct nest_loops *loops = passage->loops;
	slide->passage = *passage;
	slide->words = 1;
	slide->links = slide->shift_count = 0;
	int ranks = space_of(slide)->rank_count;
	int64_t back[SHAPE_RANKS_MOST] = {0};
	int64_t shift[SHAPE_RANKS_MOST] = {0}, pace_shift[SHAPE_RANKS_MOST] = {0};
	struct tile_box tile = {0}, old;
	find_widths(slide, tile.width);
	for (int r = 0; r < ranks; r++)
		slide->words = mul(slide, slide->words, tile.width[r]);
	slide->words = mul(slide, slide->words, rounds[passage->pace]);
	if (!*passage->fits || nest_resets(passage->model, passage->child, passage->space))
		return;
	bool links = nest_has_links(passage);
	if (links)
		find_mesh(slide);
	old = tile;
	struct nest_entering whole = nest_entering_of(ranks, &tile, NULL), paced = whole;
	for (int j = passage->pace; j < loops->count; j++) {
		const struct nest_loop *loop = &loops->at[j];
		if (loop->spatial)
			continue;
		int64_t times = (loop->bound - 1) * rounds[j + 1], stay = times;
		for (int r = 0; r < ranks; r++) {
			int64_t step = step_of(slide, r, loop);
			shift[r] = step - back[r];
			back[r] = add(slide, back[r], mul(slide, step, loop->bound - 1));
			stay = mul(slide, stay, number_max(0, tile.width[r] - llabs(shift[r])));
		}
		if (!*passage->fits)
			return;
		slide->words -= stay;
		if (!links)
			continue;
		/* Where the tile at the step before begins at 0, this one begins at shift. */
		for (int r = 0; r < ranks; r++)
			old.low[r] = -shift[r];
		struct nest_entering now = nest_entering_of(ranks, &tile, &old), moved = now;
		nest_entering_move(ranks, &moved, shift, 1);
		if (j == passage->pace) {
			paced = moved;
			memcpy(pace_shift, shift, sizeof shift);
			note_shift(slide, &whole, &moved, 1);
			note_shift(slide, &now, &moved, (loop->bound - 2) * rounds[j + 1]);
		} else {
			struct nest_entering last = paced;
			nest_entering_move(ranks, &last, pace_shift, -1);
			note_shift(slide, &last, &moved, times);
			note_shift(slide, &now, &paced, times);
		}
	}
	settle_links(slide, parent);
}

int64_t nest_slide_groups(const struct nest_slide *slide, int level)
{
	int64_t groups = count_groups(slide, NULL, level, NULL);
	int64_t words = mul(slide, groups, slide->words);
	for (int i = 0; i < slide->shift_count; i++) {
		int64_t served, rest = count_groups(slide, slide->shifts[i].by, level, &served);
		words -= mul(slide, groups - rest, slide->shifts[i].words);
	}
	return words;
}
