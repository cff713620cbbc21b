#include "cost/nest/nest_count.h"

#include "base/number.h"
#include "model/nest/shape.h"

#include <stdlib.h>
#include <string.h>

/*
 * The words that enter when a tile moves: the new box less the old one, a box with perhaps a
 * smaller one missing.  Equal sets have equal fields: if the rest is a box again, it is one
 * without a hole.
 */
struct nest_entering {
	bool any, hole;
	int64_t low[SHAPE_RANKS_MOST], width[SHAPE_RANKS_MOST];
	int64_t hole_low[SHAPE_RANKS_MOST], hole_width[SHAPE_RANKS_MOST];
};

struct tile_box {
	int64_t low[SHAPE_RANKS_MOST], width[SHAPE_RANKS_MOST];
};

/* *old may be NULL: nothing is held. */
static struct nest_entering nest_entering_of(
	int ranks, const struct tile_box *tile, const struct tile_box *old);

static int64_t nest_entering_words(int ranks, const struct nest_entering *entering, bool *fits);

static bool nest_entering_equal(
	int ranks, const struct nest_entering *a, const struct nest_entering *b);

/* Finds the shift from a to b, a set of the same form; false if it is not, or one is empty. */
static bool nest_entering_shift(
	int ranks, const struct nest_entering *a, const struct nest_entering *b, int64_t *shift);

/* The same set further on. */
static void nest_entering_move(
	int ranks, struct nest_entering *entering, const int64_t *by, int sign);

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
 * none.  This holds under imperfect factors too: tiles only get smaller.  Of two instances
 * with the same offset, one without work at the step before had work when the other entered
 * the tile, because all inner loops were at 0 then.  So only ranks of two dimensions have links.
 */
static const struct dataspace *nest_slide_space(const struct nest_slide *slide)
{
	return &slide->passage.model->shape->spaces[slide->passage.space];
}

static const struct nest_level *nest_slide_level(const struct nest_slide *slide, int level)
{
	return &slide->passage.model->hierarchy->levels[level];
}

static int64_t nest_slide_mul(const struct nest_slide *slide, int64_t a, int64_t b)
{
	return checked_mul(slide->passage.fits, a, b);
}

static int64_t slide_sum(const struct nest_slide *slide, int64_t a, int64_t b)
{
	return checked_add(slide->passage.fits, a, b);
}

static int64_t step_of(const struct nest_slide *slide, int r, const struct nest_loop *loop)
{
	return nest_slide_mul(slide, nest_slide_space(slide)->ranks[r].coefficient[loop->dimension],
		loop->stride);
}

static void find_widths(const struct nest_slide *slide, int64_t *width)
{
	const struct nest_passage *passage = &slide->passage;
	const struct dataspace *space = nest_slide_space(slide);
	for (int r = 0; r < space->rank_count; r++) {
		width[r] = 1;
		for (int d = 0; passage->child >= 0 && d < passage->model->shape->dimension_count;
			d++)
			width[r] = slide_sum(slide, width[r],
				nest_slide_mul(slide, space->ranks[r].coefficient[d],
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
	for (int r = 0; r < nest_slide_space(slide)->rank_count; r++) {
		int64_t back[2] = {0};
		for (int i = 0; i < mesh->loop_count; i++) {
			const struct nest_loop *loop = &mesh->loops[i];
			int64_t step = step_of(slide, r, loop);
			mesh->further[i][r] = step - back[loop->y];
			back[loop->y] = slide_sum(
				slide, back[loop->y], nest_slide_mul(slide, step, loop->bound - 1));
		}
	}
}

/* True if loop i of the mesh makes neighbours that are `by` further; or, with back, nearer. */
static bool is_ahead(const struct nest_slide *slide, int i, const int64_t *by, bool back)
{
	int ranks = nest_slide_space(slide)->rank_count, r = 0;
	const int64_t *further = slide->mesh.further[i];
	while (r < ranks && further[r] == (back ? -by[r] : by[r]))
		r++;
	return r == ranks;
}

static bool is_neighbour(const struct nest_slide *slide, int i, const int64_t *by)
{
	return is_ahead(slide, i, by, false) || is_ahead(slide, i, by, true);
}

/* True if all are served but those at one end: the loops that make the neighbours are the first of
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
static int64_t nest_slide_gather(const struct nest_slide *slide, int from, int level,
	const int64_t *by, struct nest_offsets *offsets)
{
	const struct nest_loops *loops = slide->passage.loops;
	int block = slide->passage.child + 1;
	int64_t apart = 1;
	for (int i = from; i <= level; i++) {
		if (nest_slide_level(slide, i)->no_spatial_reuse >> slide->passage.space & 1) {
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
 * further (NULL: none is), of the others, and how many of a mesh are served. */
static int64_t count_groups(
	const struct nest_slide *slide, const int64_t *by, int level, int64_t *served)
{
	const struct nest_passage *passage = &slide->passage;
	const struct nest_mesh *mesh = &slide->mesh;
	struct nest_offsets offsets = {
		.space = nest_slide_space(slide),
	};
	int block = passage->child + 1, index[NEST_OFFSETS_MOST];
	int64_t distinct = 0, apart, unserved = 1;
	if (by && !is_simple(slide, by)) {
		unserved = find_unserved(slide, by, index);
		for (int i = 0; i < mesh->loop_count; i++)
			offsets.loops[offsets.loop_count++] = &mesh->loops[i];
		apart = nest_slide_gather(slide, block + 1, level, NULL, &offsets);
		*passage->countable &= nest_offsets_count_chosen(
			&offsets, mesh->loop_count, index, (int)unserved, passage->fits, &distinct);
	} else {
		for (int i = 0; by && i < mesh->loop_count; i++)
			unserved *= is_neighbour(slide, i, by) ? 1 : mesh->loops[i].bound;
		apart = nest_slide_gather(slide, block, level, by, &offsets);
		*passage->countable &= nest_offsets_count(&offsets, passage->fits, &distinct);
	}
	if (by)
		*served = passage->loops->fan[block] - unserved;
	return nest_slide_mul(slide, apart, distinct);
}

/* Counts a shift from one step to the next; keeps those that neighbours can serve. */
static void note_shift(struct nest_slide *slide, const struct nest_entering *before,
	const struct nest_entering *now, int64_t times)
{
	int ranks = nest_slide_space(slide)->rank_count, i = 0;
	struct nest_shift shift = {0};
	if (times == 0 || !nest_entering_shift(ranks, before, now, shift.by))
		return;
	while (i < slide->mesh.loop_count && !is_neighbour(slide, i, shift.by))
		i++;
	if (i == slide->mesh.loop_count)
		return;
	shift.words =
		nest_slide_mul(slide, times, nest_entering_words(ranks, now, slide->passage.fits));
	for (i = 0; i < slide->shift_count; i++)
		if (memcmp(slide->shifts[i].by, shift.by, sizeof shift.by) == 0) {
			slide->shifts[i].words =
				slide_sum(slide, slide->shifts[i].words, shift.words);
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
		slide->links = slide_sum(
			slide, slide->links, nest_slide_mul(slide, slide->shifts[i].words, served));
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
	int ranks = nest_slide_space(slide)->rank_count;
	int64_t back[SHAPE_RANKS_MOST] = {0};
	int64_t shift[SHAPE_RANKS_MOST] = {0}, pace_shift[SHAPE_RANKS_MOST] = {0};
	struct tile_box tile = {0}, old;
	find_widths(slide, tile.width);
	for (int r = 0; r < ranks; r++)
		slide->words = nest_slide_mul(slide, slide->words, tile.width[r]);
	slide->words = nest_slide_mul(slide, slide->words, rounds[passage->pace]);
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
			back[r] = slide_sum(
				slide, back[r], nest_slide_mul(slide, step, loop->bound - 1));
			stay = nest_slide_mul(
				slide, stay, number_max(0, tile.width[r] - llabs(shift[r])));
		}
		if (!*passage->fits)
			return;
		slide->words -= stay;
		if (!links)
			continue;
		/* If the tile at the step before begins at 0, this one begins at shift. */
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
	int64_t words = nest_slide_mul(slide, groups, slide->words);
	for (int i = 0; i < slide->shift_count; i++) {
		int64_t served, rest = count_groups(slide, slide->shifts[i].by, level, &served);
		words -= nest_slide_mul(slide, groups - rest, slide->shifts[i].words);
	}
	return words;
}

enum { SLOTS = 2 * NEST_CHILDREN_MOST, NEIGHBOURS_MOST = 4 };

struct siblings {
	const struct nest_passage *passage;
	const struct dataspace *space;
	int dimension_count, level;
	bool links;
	bool *fits;
	struct nest_windows out;
	int64_t looks;

	struct nest_digits digits[SHAPE_DIMENSIONS_MOST];
	uint32_t spread[SHAPE_DIMENSIONS_MOST]; /* digits that children differ in */
	int64_t alike;                          /* children that do what the one looked at does */

	/* Children by their own digits, and their neighbours; -1: none. */
	int count;
	int64_t index[SHAPE_DIMENSIONS_MOST][NEST_CHILDREN_MOST];
	int neighbours[NEST_CHILDREN_MOST][NEIGHBOURS_MOST];

	struct nest_turn turn;
	struct nest_contexts contexts[SHAPE_DIMENSIONS_MOST];
	const struct nest_context *context[SHAPE_DIMENSIONS_MOST];
	struct nest_entering now[NEST_CHILDREN_MOST], before[NEST_CHILDREN_MOST];
	int slots[SLOTS];
};

/* --- children */

static bool is_spread(const struct siblings *siblings, int d, const struct nest_digit *digit)
{
	const struct nest_passage *passage = siblings->passage;
	const struct hierarchy *hierarchy = passage->model->hierarchy;
	if (!digit->spatial || digit->level > siblings->level ||
		hierarchy->levels[digit->level].no_spatial_reuse >> passage->space & 1)
		return false;
	bool slides = false;
	for (int r = 0; r < siblings->space->rank_count; r++) {
		uint32_t dimensions = affine_loops(&siblings->space->ranks[r]);
		slides |= dimensions >> d & 1 && dimensions & (dimensions - 1);
	}
	return slides || !(siblings->space->relevant >> d & 1);
}

static bool is_perfect(const struct nest_digits *digits)
{
	for (int i = 0; i < digits->count; i++)
		if (digits->at[i].tail < digits->at[i].bound - 1)
			return false;
	return digits->rest == digits->width;
}

/* A spatial loop that children looked at differ in. */
struct apart {
	int loop, dimension;
};

/* Finds neighbours in the block above the child, as far as they may share. */
static void find_neighbours(struct siblings *siblings, const struct apart *aparts, int apart_count)
{
	const struct nest_loops *loops = siblings->passage->loops;
	int block = siblings->passage->child + 1;
	for (int n = 0; n < siblings->count; n++)
		for (int side = 0; side < NEIGHBOURS_MOST; side++)
			siblings->neighbours[n][side] = -1;
	for (int axis = 0; axis < 2; axis++) {
		/* Numbers of children along the axis; one more on the way may change a loop that
		 * keeps children apart, and then nothing is shared. */
		for (int n = 0; n < siblings->count; n++) {
			int64_t step = 1, next = n;
			bool found = false, lost = false;
			for (int k = loops->block[block]; k < loops->own[block] && !found && !lost;
				k++) {
				if (loops->at[k].y != (axis == 1))
					continue;
				int64_t place = 1;
				int i = 0;
				while (i < apart_count && aparts[i].loop != k)
					place *= loops->at[aparts[i++].loop].bound;
				lost = i == apart_count;
				step = place;
				if (lost)
					continue;
				found = n / step % loops->at[k].bound < loops->at[k].bound - 1;
				next += found ? step : -step * (loops->at[k].bound - 1);
			}
			if (!found)
				continue;
			siblings->neighbours[n][2 * axis] = (int)next;
			siblings->neighbours[next][2 * axis + 1] = n;
		}
	}
}

static bool find_children(struct siblings *siblings)
{
	const struct nest_loops *loops = siblings->passage->loops;
	struct apart aparts[NEST_DIGITS_MOST];
	int apart_count = 0;
	siblings->count = 1;
	siblings->alike = 1;
	for (int d = 0; d < siblings->dimension_count; d++) {
		struct nest_digits *digits = &siblings->digits[d];
		*digits = nest_digits_make(
			siblings->passage->model, loops, d, siblings->passage->child);
		bool alike = !(siblings->space->relevant >> d & 1) && !siblings->links &&
			     is_perfect(digits);
		siblings->spread[d] = 0;
		memset(siblings->index[d], 0, sizeof siblings->index[d]);
		for (int i = 0; i < digits->count; i++) {
			if (!is_spread(siblings, d, &digits->at[i]))
				continue;
			siblings->spread[d] |= 1u << i;
			if (alike) {
				siblings->alike *= digits->at[i].bound;
				continue;
			}
			if (digits->at[i].bound > NEST_CHILDREN_MOST / siblings->count)
				return false;
			siblings->count *= (int)digits->at[i].bound;
			aparts[apart_count++] = (struct apart){digits->at[i].loop, d};
		}
	}
	for (int n = 0; n < siblings->count; n++) {
		int64_t left = n;
		for (int i = 0; i < apart_count; i++) {
			const struct nest_loop *loop = &loops->at[aparts[i].loop];
			siblings->index[aparts[i].dimension][n] +=
				left % loop->bound * loop->stride;
			left /= loop->bound;
		}
	}
	if (siblings->links)
		find_neighbours(siblings, aparts, apart_count);
	return true;
}

/* --- sets */

/* The tile of a child at one of the times; false if it has no work there. */
static bool find_tile(const struct siblings *siblings, int n, int time, struct tile_box *tile)
{
	int ranks = siblings->space->rank_count;
	if (time >= siblings->turn.times)
		return false;
	for (int r = 0; r < ranks; r++) {
		tile->low[r] = 0;
		tile->width[r] = 1;
	}
	for (int d = 0; d < siblings->dimension_count; d++) {
		int64_t index = siblings->context[d]->base[time] + siblings->index[d][n];
		int64_t indices = nest_indices_from(&siblings->digits[d],
			siblings->passage->model->shape->dimensions[d].extent, index);
		if (indices == 0)
			return false;
		for (int r = 0; r < ranks; r++) {
			int64_t coefficient = siblings->space->ranks[r].coefficient[d];
			if (!coefficient)
				continue;
			tile->low[r] = checked_add(siblings->fits, tile->low[r],
				checked_mul(siblings->fits, coefficient, index));
			tile->width[r] = checked_add(siblings->fits, tile->width[r],
				checked_mul(siblings->fits, coefficient, indices - 1));
		}
	}
	return true;
}

static void find_sets(struct siblings *siblings)
{
	int ranks = siblings->space->rank_count;
	for (int n = 0; n < siblings->count; n++) {
		struct tile_box tile[NEST_TIMES];
		bool works[NEST_TIMES];
		for (int time = 0; time < NEST_TIMES; time++)
			works[time] = find_tile(siblings, n, time, &tile[time]);
		siblings->now[n].any = siblings->now[n].hole = siblings->before[n].any = false;
		if (works[NEST_NOW])
			siblings->now[n] = nest_entering_of(ranks, &tile[NEST_NOW],
				works[NEST_BEFORE] ? &tile[NEST_BEFORE] : NULL);
		if (siblings->links && works[NEST_BEFORE])
			siblings->before[n] = nest_entering_of(ranks, &tile[NEST_BEFORE],
				works[NEST_EARLIER] ? &tile[NEST_EARLIER] : NULL);
	}
}

static bool is_linked(const struct siblings *siblings, int n)
{
	for (int side = 0; side < NEIGHBOURS_MOST; side++) {
		int from = siblings->neighbours[n][side];
		if (from >= 0 && nest_entering_equal(siblings->space->rank_count,
					 &siblings->before[from], &siblings->now[n]))
			return true;
	}
	return false;
}

static int slot_of(struct siblings *siblings, int n)
{
	const struct nest_entering *set = &siblings->now[n];
	uint64_t key = 0;
	for (int r = 0; r < siblings->space->rank_count; r++)
		key = (key ^ (uint64_t)set->low[r]) * 0x9e3779b97f4a7c15u + (uint64_t)set->width[r];
	int slot = (int)(key >> 40) % SLOTS;
	while (siblings->slots[slot] >= 0 && !nest_entering_equal(siblings->space->rank_count,
						     &siblings->now[siblings->slots[slot]], set))
		slot = (slot + 1) % SLOTS;
	return slot;
}

/* Words of different sets; with `rest` those that no neighbour has. */
static int64_t words_of_groups(struct siblings *siblings, const bool *served)
{
	int64_t words = 0;
	memset(siblings->slots, -1, sizeof siblings->slots);
	for (int n = 0; n < siblings->count; n++) {
		if (!siblings->now[n].any || (served && served[n]))
			continue;
		int slot = slot_of(siblings, n);
		if (siblings->slots[slot] >= 0)
			continue;
		siblings->slots[slot] = n;
		words = checked_add(siblings->fits, words,
			nest_entering_words(
				siblings->space->rank_count, &siblings->now[n], siblings->fits));
	}
	return words;
}

static void add_times(struct siblings *siblings, int64_t *sum, int64_t times, int64_t words)
{
	*sum = checked_add(siblings->fits, *sum, checked_mul(siblings->fits, times, words));
}

/* One context of all dimensions, and how often it is met. */
static void siblings_look(struct siblings *siblings, int64_t times)
{
	bool served[NEST_CHILDREN_MOST];
	int64_t entering = 0, handed_on = 0;
	find_sets(siblings);
	for (int n = 0; n < siblings->count; n++) {
		int64_t words = nest_entering_words(
			siblings->space->rank_count, &siblings->now[n], siblings->fits);
		entering = checked_add(siblings->fits, entering, words);
		served[n] = siblings->links && words && is_linked(siblings, n);
		if (served[n])
			handed_on = checked_add(siblings->fits, handed_on, words);
	}
	int64_t groups = words_of_groups(siblings, NULL);
	if (handed_on) {
		int64_t rest = words_of_groups(siblings, served);
		if (rest < groups) {
			add_times(siblings, &siblings->out.links, times, handed_on);
			groups = rest;
		}
	}
	add_times(siblings, &siblings->out.groups, times, groups);
	add_times(siblings, &siblings->out.entering, times,
		checked_mul(siblings->fits, entering, siblings->alike));
}

/* --- steps */

static bool look_at_turn(struct siblings *siblings, struct nest_turn turn)
{
	int chosen[SHAPE_DIMENSIONS_MOST] = {0};
	siblings->turn = turn;
	int64_t looks = siblings->count;
	for (int d = 0; d < siblings->dimension_count; d++) {
		if (!nest_contexts_find(siblings->passage, &siblings->digits[d],
			    siblings->spread[d], siblings->space->relevant >> d & 1, &turn,
			    &siblings->contexts[d]))
			return false;
		if (siblings->contexts[d].count == 0)
			return true;
		looks *= siblings->contexts[d].count;
		if (looks > NEST_LOOKS_MOST)
			return false;
	}
	siblings->looks += looks;
	if (siblings->looks > NEST_LOOKS_MOST)
		return false;
	int d;
	do {
		int64_t times = 1;
		for (d = 0; d < siblings->dimension_count; d++) {
			siblings->context[d] = &siblings->contexts[d].at[chosen[d]];
			times = checked_mul(siblings->fits, times, siblings->context[d]->count);
		}
		siblings_look(siblings, times);
		for (d = 0; d < siblings->dimension_count; d++) {
			if (++chosen[d] < siblings->contexts[d].count)
				break;
			chosen[d] = 0;
		}
	} while (d < siblings->dimension_count);
	return true;
}

static bool look_at_all_turns(struct siblings *siblings)
{
	const struct nest_loops *loops = siblings->passage->loops;
	int pace = siblings->passage->pace;
	if (nest_resets(
		    siblings->passage->model, siblings->passage->child, siblings->passage->space))
		return look_at_turn(siblings, (struct nest_turn){.times = 1});
	if (!look_at_turn(siblings, (struct nest_turn){.times = 1, .start = true}))
		return false;
	if (siblings->links &&
		!look_at_turn(siblings, (struct nest_turn){.times = 2, .start = true, .now = pace}))
		return false;
	for (int now = pace; now < loops->count; now++) {
		if (loops->at[now].spatial)
			continue;
		if (!siblings->links) {
			if (!look_at_turn(siblings, (struct nest_turn){.times = 2, .now = now}))
				return false;
			continue;
		}
		for (int before = pace; before < loops->count; before++)
			if (!loops->at[before].spatial &&
				!look_at_turn(siblings,
					(struct nest_turn){
						.times = 3, .now = now, .before = before}))
				return false;
	}
	return true;
}

struct nest_windows nest_windows_count(const struct nest_passage *passage, int level, bool links)
{
	struct siblings siblings;
	siblings.passage = passage;
	siblings.space = &passage->model->shape->spaces[passage->space];
	siblings.dimension_count = passage->model->shape->dimension_count;
	siblings.level = level;
	siblings.links = links;
	siblings.fits = passage->fits;
	siblings.out = (struct nest_windows){0};
	siblings.looks = 0;
	*passage->countable &= find_children(&siblings) && look_at_all_turns(&siblings);
	return siblings.out;
}

/* Everything of the tile but what is held of it. */
static struct nest_entering tile_box_without(
	int ranks, const struct tile_box *tile, const struct tile_box *held)
{
	struct nest_entering entering = {.any = true};
	int partial = 0, rank = 0;
	for (int r = 0; r < ranks; r++) {
		entering.low[r] = tile->low[r];
		entering.width[r] = tile->width[r];
		if (held->width[r] < tile->width[r]) {
			partial++;
			rank = r;
		}
	}
	if (partial == 0)
		entering.any = false;
	if (partial != 1) {
		entering.hole = partial > 1;
	} else if (held->low[rank] == tile->low[rank]) {
		entering.low[rank] += held->width[rank];
		entering.width[rank] -= held->width[rank];
	} else if (held->low[rank] + held->width[rank] == tile->low[rank] + tile->width[rank]) {
		entering.width[rank] -= held->width[rank];
	} else {
		entering.hole = true;
	}
	for (int r = 0; r < ranks && entering.hole; r++) {
		entering.hole_low[r] = held->low[r];
		entering.hole_width[r] = held->width[r];
	}
	return entering;
}

static struct nest_entering nest_entering_of(
	int ranks, const struct tile_box *tile, const struct tile_box *old)
{
	struct nest_entering entering = {.any = true};
	struct tile_box held;
	bool meets = old != NULL;
	for (int r = 0; r < ranks; r++) {
		entering.low[r] = tile->low[r];
		entering.width[r] = tile->width[r];
		if (!meets)
			continue;
		held.low[r] = number_max(tile->low[r], old->low[r]);
		held.width[r] =
			number_min(tile->low[r] + tile->width[r], old->low[r] + old->width[r]) -
			held.low[r];
		meets = held.width[r] > 0;
	}
	return meets ? tile_box_without(ranks, tile, &held) : entering;
}

static int64_t nest_entering_words(int ranks, const struct nest_entering *entering, bool *fits)
{
	int64_t words = entering->any, hole = entering->hole;
	for (int r = 0; r < ranks; r++) {
		words = checked_mul(fits, words, entering->width[r]);
		if (entering->hole)
			hole = checked_mul(fits, hole, entering->hole_width[r]);
	}
	return words - hole;
}

static bool nest_entering_shift(
	int ranks, const struct nest_entering *a, const struct nest_entering *b, int64_t *shift)
{
	if (!a->any || !b->any || a->hole != b->hole)
		return false;
	for (int r = 0; r < ranks; r++) {
		shift[r] = b->low[r] - a->low[r];
		if (a->width[r] != b->width[r])
			return false;
		if (a->hole && (b->hole_low[r] - a->hole_low[r] != shift[r] ||
				       a->hole_width[r] != b->hole_width[r]))
			return false;
	}
	return true;
}

static bool nest_entering_equal(
	int ranks, const struct nest_entering *a, const struct nest_entering *b)
{
	int64_t shift[SHAPE_RANKS_MOST];
	bool equal = nest_entering_shift(ranks, a, b, shift);
	for (int r = 0; equal && r < ranks; r++)
		equal = shift[r] == 0;
	return equal;
}

static void nest_entering_move(
	int ranks, struct nest_entering *entering, const int64_t *by, int sign)
{
	for (int r = 0; r < ranks; r++) {
		entering->low[r] += sign * by[r];
		entering->hole_low[r] += sign * by[r];
	}
}
