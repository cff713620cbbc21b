#include "search/certificate/certificate_cell.h"

#include "base/arena.h"
#include "constraints/constraints.h"
#include "cost/nest/nest.h"

/* Steps between two questions whether to stop. */
enum { STEPS_UNASKED = 1 << 16 };

struct cell_walk {
	struct cell_walker *walker;
	const struct target *target;
	struct mapping mapping;
	struct mapping *witness; /* what was not beaten */
	struct floor_cell cell;
	struct floor_loops loops[ARCH_LEVELS_MOST]; /* outside level j */
	bool windows;                               /* some counts are made by the model */
	enum cell_verdict verdict;
};

bool target_beats(
	const struct target *target, const struct objectives *objectives, const struct score *score)
{
	for (size_t i = 0; i < target->count; i++) {
		const double *row = target->values + i * objectives->count;
		bool beats = true;
		for (size_t k = 0; k < objectives->count && beats; k++)
			beats = row[k] <=
				(1 + target->epsilon) * objective_value(objectives->at[k], score);
		if (beats)
			return true;
	}
	return false;
}

static bool beaten(const struct cell_walk *walk, const struct score *score)
{
	return target_beats(walk->target, &walk->walker->search->wishes.objectives, score);
}

static bool going(const struct cell_walk *walk)
{
	return walk->verdict == CELL_SEARCHED;
}

static void spend(struct cell_walk *walk)
{
	struct cell_walker *walker = walk->walker;
	walker->steps++;
	bool asked = walker->steps % STEPS_UNASKED == 0;
	if ((walker->budget && walker->steps > walker->budget) ||
		(asked && stopper_stops(&walker->stopper)))
		walk->verdict = CELL_STOPPED;
}

static int dimension_count(const struct cell_walk *walk)
{
	return walk->walker->search->shape->dimension_count;
}

static const struct tiling_level *tiling_of(const struct cell_walk *walk, int j)
{
	const struct cell_walker *walker = walk->walker;
	return &walker->search->space->levels[walker->completions->tiling[j]];
}

static uint32_t *bounds_of(struct cell_walk *walk, int j)
{
	return walk->mapping.rows[tiling_of(walk, j)->row].temporal;
}

static void try_mapping(struct cell_walk *walk)
{
	struct cell_walker *walker = walk->walker;
	const struct nest_search *search = walker->search;
	struct nest_counts counts;
	struct nest_score score;
	spend(walk);
	walker->evaluated++;
	enum nest_verdict verdict = nest_evaluate(search->model, &walk->mapping, &counts, &score);
	bool counted = verdict != NEST_OVERFLOW && verdict != NEST_UNCOUNTABLE;
	if (counted && verdict != NEST_FITS)
		return;
	struct score summary = nest_summary(search, &counts, &score);
	if (counted && beaten(walk, &summary))
		return;
	struct arena_mark mark = arena_mark(walker->scratch);
	const char *broken = constraints_check(
		search->constraints, search->domain, &walk->mapping, walker->scratch);
	arena_release(walker->scratch, mark);
	if (broken || !going(walk))
		return;
	walk->verdict = counted ? CELL_BEATEN : CELL_UNCOUNTED;
	*walk->witness = walk->mapping;
}

/* What is left goes to the innermost level, in every order that the space has there. */
static void walk_innermost(struct cell_walk *walk, const int64_t *left)
{
	const struct space *space = walk->walker->search->space;
	const struct tiling_level *level = tiling_of(walk, 0);
	for (int d = 0; d < dimension_count(walk); d++)
		bounds_of(walk, 0)[d] = (uint32_t)left[d];
	uint64_t count = space_level_count(space, level, &walk->mapping);
	for (uint64_t i = 0; i < count && going(walk); i++) {
		space_level_arrange(space, level, i, &walk->mapping);
		try_mapping(walk);
	}
}

static void walk_level(
	struct cell_walk *walk, int j, const int64_t *left, const struct floor_known *known);

/* The loops of level j that may be innermost there, with its bounds chosen. */
static uint32_t find_innermost(
	struct cell_walk *walk, int j, const int64_t *left, const struct floor_known *known)
{
	const uint32_t *bounds = bounds_of(walk, j);
	uint32_t open = 0;
	for (uint8_t d = 0; d < dimension_count(walk); d++) {
		if (bounds[d] <= 1)
			continue;
		floor_loops_add(
			&walk->cell, &walk->loops[j], bounds, left, &d, 1, &walk->loops[j - 1]);
		struct score floor = floor_score(&walk->cell, walk->loops, j - 1, known);
		spend(walk);
		open |= (uint32_t)!beaten(walk, &floor) << d;
	}
	return open;
}

/* The innermost loop of a row with a bound above 1; 0 without any. */
static uint8_t innermost_of(const struct mapping_row *row, int dimension_count)
{
	for (int n = 0; n < dimension_count; n++)
		if (row->temporal[row->temporal_order[n]] > 1)
			return row->temporal_order[n];
	return 0;
}

/* The orders of level j, its bounds chosen; `left` iterations stay inside. */
static void walk_orders(
	struct cell_walk *walk, int j, const int64_t *left, const struct floor_known *known)
{
	const struct space *space = walk->walker->search->space;
	const struct tiling_level *level = tiling_of(walk, j);
	const struct mapping_row *row = &walk->mapping.rows[level->row];
	uint32_t bounds[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < dimension_count(walk); d++)
		bounds[d] = row->temporal[d];
	uint64_t count = space_level_count(space, level, &walk->mapping);
	uint32_t open = UINT32_MAX;
	if (count > 1)
		open = find_innermost(walk, j, left, known);
	for (uint64_t i = 0; i < count && going(walk); i++) {
		struct floor_known next = *known;
		space_level_arrange(space, level, i, &walk->mapping);
		if (!(open >> innermost_of(row, dimension_count(walk)) & 1))
			continue;
		floor_loops_add(&walk->cell, &walk->loops[j], bounds, left, row->temporal_order,
			dimension_count(walk), &walk->loops[j - 1]);
		struct score floor = floor_score(&walk->cell, walk->loops, j - 1, known);
		spend(walk);
		if (beaten(walk, &floor))
			continue;
		if (walk->windows && j > 1) {
			floor_count(&walk->cell, &walk->mapping, j - 1, left, &next);
			walk->walker->evaluated++;
			spend(walk);
			floor = floor_score(&walk->cell, walk->loops, j - 1, &next);
			if (beaten(walk, &floor))
				continue;
		}
		walk_level(walk, j - 1, left, &next);
	}
}

/* True if the bounds of level j chosen so far are too much already: loops that are not chosen yet
 * count as inside, which is never worse than to have them at this level. */
static bool too_much(
	struct cell_walk *walk, int j, const int64_t *rest, const struct floor_known *known)
{
	floor_loops_add(&walk->cell, &walk->loops[j], bounds_of(walk, j), rest, NULL, 0,
		&walk->loops[j - 1]);
	struct score floor = floor_score(&walk->cell, walk->loops, j - 1, known);
	spend(walk);
	return beaten(walk, &floor);
}

/* The bounds of level j, dimension d and those after it, which are 1; `rest` is what stays
 * inside. */
static void walk_bounds(struct cell_walk *walk, int j, int d, const int64_t *left, int64_t *rest,
	const struct floor_known *known)
{
	const struct cell_walker *walker = walk->walker;
	if (d == dimension_count(walk)) {
		if (floor_fits(&walk->cell, j - 1, rest))
			walk_orders(walk, j, rest, known);
		return;
	}
	const struct divisors *divisors = &walker->completions->divisors[d];
	const struct factor_domain *factor =
		&walker->search->domain->rows[tiling_of(walk, j)->row].temporal[d];
	for (size_t k = 0; k < divisors->count && divisors->at[k] <= left[d] && going(walk); k++) {
		int64_t bound = divisors->at[k];
		if (left[d] % bound || bound < factor->least || bound > factor->most ||
			!completions_make_up(walker->completions, j - 1, d, left[d] / bound))
			continue;
		bounds_of(walk, j)[d] = (uint32_t)bound;
		rest[d] = left[d] / bound;
		if (bound == 1 || !too_much(walk, j, rest, known))
			walk_bounds(walk, j, d + 1, left, rest, known);
	}
	bounds_of(walk, j)[d] = 1;
	rest[d] = left[d];
}

static void walk_level(
	struct cell_walk *walk, int j, const int64_t *left, const struct floor_known *known)
{
	int64_t rest[SHAPE_DIMENSIONS_MOST];
	if (j == 0) {
		walk_innermost(walk, left);
		return;
	}
	for (int d = 0; d < dimension_count(walk); d++) {
		bounds_of(walk, j)[d] = 1;
		rest[d] = left[d];
	}
	walk_bounds(walk, j, 0, left, rest, known);
}

/* True if orders and axes of a block can change a count.  They do by links: neighbours hand on
 * windows, which takes a spatial loop over a dimension that shares a rank; in Timeloop's
 * counting multipliers hand on all they have, and networks cost energy by the way that words
 * go, and flags may do anything; a systolic array hands on, too. */
static bool places_matter(const struct cell_walk *walk, const struct tiling_level *level)
{
	const struct floor_frame *frame = &walk->walker->frame;
	const uint32_t *bounds = walk->mapping.rows[level->row].spatial;
	uint32_t busy = 0, shared = 0;
	for (int d = 0; d < dimension_count(walk); d++)
		busy |= (uint32_t)(bounds[d] > 1) << d;
	for (int t = 0; t < frame->search->shape->space_count; t++)
		shared |= frame->paired[t];
	bool ways = frame->flagged || walk->walker->search->model->priced_hops;
	return busy && ((frame->timeloop && (ways || level->level == 0)) || busy & shared ||
			       walk->walker->search->hierarchy->levels[level->level].systolic);
}

static bool axes_fit(const struct cell_walk *walk, const struct tiling_level *level)
{
	const struct nest_level *block = &walk->walker->search->hierarchy->levels[level->level];
	const struct mapping_row *row = &walk->mapping.rows[level->row];
	int64_t along[2] = {1, 1};
	for (int d = 0; d < dimension_count(walk); d++)
		along[row->spatial_y >> d & 1] *= row->spatial[d];
	return along[0] <= block->fanout_x && along[1] <= block->fanout_y;
}

/* Orders and axes of the fan-outs from tiling level i on, then the temporal loops. */
static void walk_places(struct cell_walk *walk, int i)
{
	const struct space *space = walk->walker->search->space;
	while (i < space->level_count && !space->levels[i].spatial)
		i++;
	if (i == space->level_count) {
		struct floor_known known;
		for (int t = 0; t < SHAPE_SPACES_MOST; t++)
			known.from[t] = -1;
		walk_level(walk, walk->walker->completions->count - 1, walk->cell.temporal, &known);
		return;
	}
	const struct tiling_level *level = &space->levels[i];
	bool all = places_matter(walk, level);
	uint64_t count = space_level_count(space, level, &walk->mapping);
	for (uint64_t k = 0; k < count && going(walk); k++) {
		space_level_arrange(space, level, k, &walk->mapping);
		if (!axes_fit(walk, level))
			continue;
		walk_places(walk, i + 1);
		if (!all)
			return;
	}
}

/* Nothing of the cell fits: not even tiles of one iteration. */
static bool nothing_fits(const struct cell_walk *walk)
{
	static const int64_t once[SHAPE_DIMENSIONS_MOST] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	int outermost = walk->walker->completions->count - 1;
	for (int j = 0; j <= outermost; j++)
		if (!floor_fits(&walk->cell, j, j < outermost ? once : walk->cell.temporal))
			return true;
	return walk->cell.homeless || walk->cell.apart;
}

enum cell_verdict cell_check(struct cell_walker *walker, const struct cell *cell,
	const struct target *target, struct mapping *witness)
{
	const struct shape *shape = walker->search->shape;
	struct cell_walk walk;
	struct floor_known known;
	walk.walker = walker;
	walk.target = target;
	walk.witness = witness;
	walk.verdict = CELL_SEARCHED;
	walk.windows = false;
	for (int t = 0; t < shape->space_count; t++) {
		walk.windows |= !walker->frame.plain[t] && !shape->spaces[t].written &&
				!(walker->frame.flagged && walker->frame.timeloop);
		known.from[t] = -1;
	}
	cell_set(walker->search->space, cell, &walk.mapping);
	floor_cell_make(&walker->frame, &walk.mapping, &walk.cell);
	if (nothing_fits(&walk))
		return CELL_EXCLUDED;
	int outermost = walker->completions->count - 1;
	walk.loops[outermost] = floor_loops_none(&walk.cell);
	struct score floor = floor_score(&walk.cell, walk.loops, outermost, &known);
	spend(&walk);
	if (going(&walk) && beaten(&walk, &floor))
		return CELL_EXCLUDED;
	if (going(&walk))
		walk_places(&walk, 0);
	return walk.verdict;
}

struct cell_walker cell_walker_open(const struct nest_search *search, uint64_t budget)
{
	struct cell_walker walker = {
		.search = search, .arena = arena_open(), .scratch = arena_open(), .budget = budget};
	walker.completions = completions_make(walker.arena, search->space);
	walker.frame = floor_frame_make(search, walker.completions);
	return walker;
}

void cell_walker_close(struct cell_walker *walker)
{
	arena_close(walker->scratch);
	arena_close(walker->arena);
}
