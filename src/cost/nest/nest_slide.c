#include "cost/nest/nest_slide.h"

#include "base/checked.h"
#include "cost/nest/nest_entering.h"
#include "cost/nest/nest_offsets.h"

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
bool nest_slides(const struct dataspace *space, int dimension_count)
{
	for (int r = 0; r < space->rank_count; r++) {
		int dimensions = 0;
		for (int d = 0; d < dimension_count; d++)
			dimensions += space->ranks[r].coefficient[d] != 0;
		if (dimensions > 1)
			return true;
	}
	return false;
}

static const struct dataspace *space_of(const struct nest_slide *slide)
{
	return &slide->passage.model->shape->spaces[slide->passage.space];
}

static const struct nest_level *level_of(const struct nest_slide *slide, int level)
{
	return &slide->passage.model->hierarchy->levels[level];
}

static int64_t step_of(
	const struct dataspace *space, int r, const struct nest_loop *loop, bool *fits)
{
	return checked_mul(fits, space->ranks[r].coefficient[loop->dimension], loop->stride);
}

static void find_widths(const struct nest_slide *slide, bool *fits, int64_t *width)
{
	const struct nest_passage *passage = &slide->passage;
	const struct dataspace *space = space_of(slide);
	for (int r = 0; r < space->rank_count; r++) {
		width[r] = 1;
		for (int d = 0; passage->child >= 0 && d < passage->model->shape->dimension_count;
			d++)
			width[r] = checked_add(fits, width[r],
				checked_mul(fits, space->ranks[r].coefficient[d],
					passage->loops->tile[passage->child][d] - 1));
	}
}

/* --- links */

/* The block above the child: its loops along X, then along Y, and how much further the next
 * neighbour is where loop i goes on and those of its axis before it go back to 0. */
static bool find_mesh(struct nest_slide *slide, bool *fits)
{
	const struct nest_loops *loops = slide->passage.loops;
	const struct dataspace *space = space_of(slide);
	struct nest_mesh *mesh = &slide->mesh;
	int block = slide->passage.child + 1;
	mesh->loop_count = loops->own[block] - loops->block[block];
	if (mesh->loop_count > NEST_MESH_MOST)
		return false;
	mesh->loops = &loops->at[loops->block[block]];
	for (int r = 0; r < space->rank_count; r++) {
		int64_t back[2] = {0};
		for (int i = 0; i < mesh->loop_count; i++) {
			const struct nest_loop *loop = &mesh->loops[i];
			int64_t step = step_of(space, r, loop, fits);
			mesh->further[i][r] = step - back[loop->y];
			back[loop->y] = checked_add(
				fits, back[loop->y], checked_mul(fits, step, loop->bound - 1));
		}
	}
	return true;
}

/* Whether loop i of the mesh makes neighbours that are `by` further; or, with back, nearer. */
static bool is_neighbour(const struct nest_slide *slide, int i, const int64_t *by, bool back)
{
	int ranks = space_of(slide)->rank_count, r = 0;
	const int64_t *further = slide->mesh.further[i];
	while (r < ranks && further[r] == (back ? -by[r] : by[r]))
		r++;
	return r == ranks;
}

static bool gather(const struct nest_slide *slide, int from, int level,
	struct nest_offsets *offsets, int64_t *apart)
{
	const struct nest_loops *loops = slide->passage.loops;
	for (int i = from; i <= level; i++) {
		if (level_of(slide, i)->no_spatial_reuse >> slide->passage.space & 1) {
			*apart *= loops->fan[i];
			continue;
		}
		for (int k = loops->block[i]; k < loops->own[i]; k++) {
			if (offsets->loop_count == NEST_SPATIAL_MOST)
				return false;
			offsets->loops[offsets->loop_count++] = &loops->at[k];
		}
	}
	return true;
}

static bool count_groups(const struct nest_slide *slide, int level, bool *fits, int64_t *groups)
{
	struct nest_offsets offsets = {
		.space = space_of(slide),
		.dimension_count = slide->passage.model->shape->dimension_count,
	};
	int64_t apart = 1, distinct = 0;
	if (!gather(slide, slide->passage.child + 1, level, &offsets, &apart) ||
		!nest_offsets_count(&offsets, fits, &distinct))
		return false;
	*groups = checked_mul(fits, apart, distinct);
	return true;
}

/* Has an instance of the mesh a neighbour that is `by` further? */
static bool is_served(const struct nest_slide *slide, const int *index, const int64_t *by)
{
	const struct nest_loop *loops = slide->mesh.loops;
	for (int i = 0; i < slide->mesh.loop_count; i++) {
		bool first = true, last = true; /* do the loops before it stand at 0, at the end? */
		for (int k = 0; k < i; k++)
			if (loops[k].y == loops[i].y) {
				first &= index[k] == 0;
				last &= index[k] == loops[k].bound - 1;
			}
		if (last && index[i] < loops[i].bound - 1 && is_neighbour(slide, i, by, false))
			return true;
		if (first && index[i] > 0 && is_neighbour(slide, i, by, true))
			return true;
	}
	return false;
}

/*
 * Groups below a level that are left when instances are served whose neighbour is
 * `by` further, and how many of a mesh are served.  If a loop that is the first of its axis
 * makes the neighbours, all are served but those at its one end; else the
 * instances are tried one by one.
 */
static bool count_rest(const struct nest_slide *slide, const int64_t *by, int level, bool *fits,
	int64_t *groups, int64_t *served)
{
	const struct nest_mesh *mesh = &slide->mesh;
	struct nest_offsets offsets = {
		.space = space_of(slide),
		.dimension_count = slide->passage.model->shape->dimension_count,
	};
	int64_t all = slide->passage.loops->fan[slide->passage.child + 1], unserved = 1, apart = 1;
	bool simple = true;
	for (int i = 0; i < mesh->loop_count; i++) {
		bool neighbours =
			is_neighbour(slide, i, by, false) || is_neighbour(slide, i, by, true);
		simple &= !neighbours || i == 0 || mesh->loops[i].y != mesh->loops[i - 1].y;
		if (neighbours)
			continue;
		offsets.loops[offsets.loop_count++] = &mesh->loops[i];
		unserved *= mesh->loops[i].bound;
	}
	if (simple) {
		int64_t distinct = 0;
		*served = all - unserved;
		if (unserved == all)
			return true;
		if (!gather(slide, slide->passage.child + 2, level, &offsets, &apart) ||
			!nest_offsets_count(&offsets, fits, &distinct))
			return false;
		*groups = checked_mul(fits, apart, distinct);
		return true;
	}
	int index[NEST_OFFSETS_MOST];
	int chosen = 0;
	if (all > NEST_OFFSETS_MOST / mesh->loop_count)
		return false;
	for (int64_t n = 0; n < all; n++) {
		int *one = &index[chosen * mesh->loop_count];
		int64_t left = n;
		for (int i = 0; i < mesh->loop_count; i++) {
			one[i] = (int)(left % mesh->loops[i].bound);
			left /= mesh->loops[i].bound;
		}
		chosen += !is_served(slide, one, by);
	}
	*served = all - chosen;
	offsets.loop_count = 0;
	for (int i = 0; i < mesh->loop_count; i++)
		offsets.loops[offsets.loop_count++] = &mesh->loops[i];
	int64_t distinct = 0;
	if (!gather(slide, slide->passage.child + 2, level, &offsets, &apart) ||
		!nest_offsets_count_chosen(
			&offsets, mesh->loop_count, index, chosen, fits, &distinct))
		return false;
	*groups = checked_mul(fits, apart, distinct);
	return true;
}

/* What follows on what, and how often: keeps those that neighbours can make good. */
static bool note_shift(struct nest_slide *slide, const struct nest_entering *before,
	const struct nest_entering *now, int64_t times, bool *fits)
{
	int ranks = space_of(slide)->rank_count, i = 0;
	struct nest_shift shift = {0};
	if (times == 0 || !nest_entering_shift(ranks, before, now, shift.by))
		return true;
	while (i < slide->mesh.loop_count && !is_neighbour(slide, i, shift.by, false) &&
		!is_neighbour(slide, i, shift.by, true))
		i++;
	if (i == slide->mesh.loop_count)
		return true;
	shift.words = checked_mul(fits, times, nest_entering_words(ranks, now, fits));
	for (i = 0; i < slide->shift_count; i++)
		if (memcmp(slide->shifts[i].by, shift.by, sizeof shift.by) == 0) {
			slide->shifts[i].words =
				checked_add(fits, slide->shifts[i].words, shift.words);
			return true;
		}
	if (slide->shift_count == NEST_SHIFTS_MOST)
		return false;
	slide->shifts[slide->shift_count++] = shift;
	return true;
}

/* Leaves the shifts that save the parent reads, and counts the words they hand on. */
static bool settle_links(struct nest_slide *slide, int parent, bool *fits)
{
	int kept = 0;
	int64_t groups = 0;
	if (slide->shift_count && !count_groups(slide, parent, fits, &groups))
		return false;
	for (int i = 0; i < slide->shift_count; i++) {
		int64_t rest = groups, served = 0;
		if (!count_rest(slide, slide->shifts[i].by, parent, fits, &rest, &served))
			return false;
		if (rest >= groups)
			continue;
		slide->links = checked_add(
			fits, slide->links, checked_mul(fits, slide->shifts[i].words, served));
		slide->shifts[kept++] = slide->shifts[i];
	}
	slide->shift_count = kept;
	return true;
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
bool nest_slide_make(const struct nest_passage *passage, const int64_t *rounds, int parent,
	struct nest_slide *slide, bool *fits)
{
	const struct nest_loops *loops = passage->loops;
	slide->passage = *passage;
	slide->words = slide->links = slide->shift_count = 0;
	const struct dataspace *space = space_of(slide);
	int ranks = space->rank_count;
	int64_t width[SHAPE_RANKS_MOST], back[SHAPE_RANKS_MOST] = {0};
	int64_t shift[SHAPE_RANKS_MOST] = {0}, pace_shift[SHAPE_RANKS_MOST] = {0};
	find_widths(slide, fits, width);
	int64_t words = 1;
	for (int r = 0; r < ranks; r++)
		words = checked_mul(fits, words, width[r]);
	slide->words = checked_mul(fits, words, rounds[passage->pace]);
	if (!*fits || passage->child < 0 ||
		level_of(slide, passage->child)->no_temporal_reuse >> passage->space & 1)
		return true;
	bool links = nest_has_links(passage);
	if (links && !find_mesh(slide, fits))
		return false;
	struct tile_box tile, old;
	memcpy(tile.width, width, sizeof width);
	memset(tile.low, 0, sizeof tile.low);
	old = tile;
	struct nest_entering whole = nest_entering_of(ranks, &tile, NULL), paced = whole;
	for (int j = passage->pace; j < loops->count; j++) {
		const struct nest_loop *loop = &loops->at[j];
		if (loop->spatial)
			continue;
		int64_t times = (loop->bound - 1) * rounds[j + 1], stay = times;
		for (int r = 0; r < ranks; r++) {
			int64_t step = step_of(space, r, loop, fits);
			shift[r] = step - back[r];
			back[r] = checked_add(
				fits, back[r], checked_mul(fits, step, loop->bound - 1));
			stay = checked_mul(fits, stay,
				number_max(0, width[r] - (shift[r] < 0 ? -shift[r] : shift[r])));
		}
		if (!*fits)
			return true;
		slide->words -= stay;
		if (!links)
			continue;
		/* Where the tile at the step before begins at 0, this one begins at shift. */
		for (int r = 0; r < ranks; r++)
			old.low[r] = -shift[r];
		struct nest_entering now = nest_entering_of(ranks, &tile, &old), moved = now;
		nest_entering_move(ranks, &moved, shift, 1);
		bool noted;
		if (j == passage->pace) {
			paced = moved;
			memcpy(pace_shift, shift, sizeof shift);
			noted = note_shift(slide, &whole, &moved, 1, fits) &&
				note_shift(slide, &now, &moved, (loop->bound - 2) * rounds[j + 1],
					fits);
		} else {
			struct nest_entering last = paced;
			nest_entering_move(ranks, &last, pace_shift, -1);
			noted = note_shift(slide, &last, &moved, times, fits) &&
				note_shift(slide, &now, &paced, times, fits);
		}
		if (!noted)
			return false;
	}
	return settle_links(slide, parent, fits);
}

bool nest_slide_groups(const struct nest_slide *slide, int level, bool *fits, int64_t *words)
{
	int64_t groups = 0;
	if (!count_groups(slide, level, fits, &groups))
		return false;
	*words = checked_mul(fits, groups, slide->words);
	for (int i = 0; i < slide->shift_count; i++) {
		int64_t rest = 0, served;
		if (!count_rest(slide, slide->shifts[i].by, level, fits, &rest, &served))
			return false;
		*words -= checked_mul(fits, groups - rest, slide->shifts[i].words);
	}
	return true;
}
