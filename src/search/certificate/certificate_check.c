#include "search/certificate/certificate_check.h"

#include "base/arena.h"
#include "base/text.h"
#include "constraints/constraints.h"
#include "cost/nest/nest.h"
#include "model/nest/nest_mapping.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

/*
 * The outer choices of a mapspace of perfect factors: which levels keep what, and the
 * spatial bounds of every fan-out.  Each choice is a cell: all mappings that have it.
 * Together the cells are the whole space, and no mapping is in two of them.
 */
struct cell {
	uint64_t residency;      /* bits of space->free */
	const uint32_t *spatial; /* by spatial tiling level of the space, then dimension */
};

/*
 * Which cells there are: spatial bounds within the domain, no more of them in a block than it has
 * instances, divisors of the extents that temporal bounds of the domain can complete; any residency.
 */
struct cells {
	const struct space *space;
	const struct completions *completions;
};

/*
 * Rows of values that must beat every mapping of a cell.  cell_check finds out by a plain depth-first walk: from the
 * outermost storage level inwards one level's bounds, then its order, as long as the floor of what is chosen is not
 * beaten itself; whole mappings are evaluated by the model and checked against the constraints.
 */
struct target {
	size_t count; /* rows of values, of the search's objectives */
	const double *
		values; /* one row at least must be no greater, in each, than (1 + epsilon) times the mapping's */
	double epsilon;
};

enum cell_verdict {
	CELL_EXCLUDED,  /* by the floor of the cell alone, or nothing of it can fit */
	CELL_SEARCHED,  /* every mapping of it is beaten */
	CELL_BEATEN,    /* some mapping is not: *witness */
	CELL_UNCOUNTED, /* some mapping, *witness, has no counts */
	CELL_STOPPED,   /* the budget ended */
};

/* Data of all walks, made once. */
struct cell_walker {
	const struct nest_search *search;
	struct arena *arena, *scratch;
	struct completions *completions;
	struct floor_frame frame;
	uint64_t budget; /* steps; 0: any number */
	uint64_t steps;  /* bounds and evaluations */
	uint64_t evaluated;
	struct stop_poll poll;
};

static int space_dimensions(const struct space *space)
{
	return space->domain->shape->dimension_count;
}

static int bounds_count_of(const struct space *space)
{
	int count = 0;
	for (int i = 0; i < space->level_count; i++)
		count += space->levels[i].spatial ? space_dimensions(space) : 0;
	return count;
}

/* Its residency and spatial bounds; temporal bounds 1, orders as in space->blank. */
static void cell_set(const struct space *space, const struct cell *cell, struct mapping *out)
{
	const uint32_t *at = cell->spatial;
	*out = space->blank;
	for (int i = 0; i < space->level_count; i++)
		for (int d = 0; space->levels[i].spatial && d < space_dimensions(space); d++)
			out->rows[space->levels[i].row].spatial[d] = *at++;
	for (int i = 0; i < space->free_count; i++)
		if (cell->residency >> i & 1)
			out->residency[space->free[i].space] |= 1u << space->free[i].row;
}

static struct cells cells_make(struct arena *arena, const struct space *space)
{
	return (struct cells){space, completions_make(arena, space)};
}

static bool can_complete(const struct cells *cells, const int64_t *left)
{
	for (int d = 0; d < space_dimensions(cells->space); d++)
		if (!completions_make_up(
			    cells->completions, cells->completions->count - 1, d, left[d]))
			return false;
	return true;
}

static void set_extents(const struct space *space, int64_t *left)
{
	for (int d = 0; d < space_dimensions(space); d++)
		left[d] = space->domain->shape->dimensions[d].extent;
}

static int64_t instances_of(const struct space *space, int i)
{
	const struct nest_level *block = &space->domain->hierarchy->levels[space->levels[i].level];
	return fanout_count(&block->fanout);
}

/* All spatial bounds, fan-out by fan-out, dimension by dimension. */
struct spread {
	const struct cells *cells;
	bool (*visit)(const struct cell *cell, void *user); /* NULL: they are only counted */
	void *user;
	int bounds_count;
	uint32_t *bounds;
	int64_t left[SHAPE_DIMENSIONS_MOST];
	uint64_t count;
};

static bool visit_residencies(struct spread *spread)
{
	uint64_t count = space_residency_count(spread->cells->space);
	spread->count++;
	for (uint64_t r = 0; spread->visit && r < count; r++) {
		struct cell cell = {r, spread->bounds};
		if (!spread->visit(&cell, spread->user))
			return false;
	}
	return true;
}

/* Number `at` of the bounds stands at tiling level i; `room` instances of its block are left. */
static bool spread_over(struct spread *spread, int at, int i, int64_t room)
{
	const struct space *space = spread->cells->space;
	int count = space_dimensions(space), d = at % count;
	if (at == spread->bounds_count)
		return !can_complete(spread->cells, spread->left) || visit_residencies(spread);
	if (d == 0) {
		while (!space->levels[i].spatial)
			i++;
		room = instances_of(space, i);
	}
	const struct factor_domain *factor = &space->domain->rows[space->levels[i].row].spatial[d];
	const struct divisors *divisors = &spread->cells->completions->divisors[d];
	int64_t left = spread->left[d], most = number_min(number_min(left, room), factor->most);
	bool good = true;
	for (size_t k = 0; k < divisors->count && divisors->at[k] <= most && good; k++) {
		int64_t bound = divisors->at[k];
		if (left % bound || bound < factor->least)
			continue;
		spread->bounds[at] = (uint32_t)bound;
		spread->left[d] = left / bound;
		good = spread_over(spread, at + 1, d + 1 == count ? i + 1 : i, room / bound);
	}
	spread->left[d] = left;
	return good;
}

static bool spread_all(struct spread *spread)
{
	struct arena *arena = arena_open();
	spread->bounds_count = bounds_count_of(spread->cells->space);
	spread->bounds = arena_array(arena, uint32_t, spread->bounds_count);
	set_extents(spread->cells->space, spread->left);
	bool done = spread_over(spread, 0, 0, 0);
	arena_close(arena);
	return done;
}

/* UINT64_MAX: that many or more. */
static uint64_t cells_count(const struct cells *cells)
{
	struct spread spread = {.cells = cells};
	uint64_t count;
	bool fits = spread_all(&spread) && !__builtin_mul_overflow(spread.count,
						   space_residency_count(cells->space), &count);
	return fits ? count : UINT64_MAX;
}

/* Calls visit with every cell, those of the same spatial bounds together, until it says no; false
 * then.  There must be fewer than UINT64_MAX. */
static bool cells_each(
	const struct cells *cells, bool (*visit)(const struct cell *cell, void *user), void *user)
{
	struct spread spread = {.cells = cells, .visit = visit, .user = user};
	return spread_all(&spread);
}

/* Steps between two calls of the stopper. */
enum { STOP_STEPS = 1 << 16 };

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

/* The value of a mapping, or of a floor. */
static bool target_beats(
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

static bool cell_walk_beaten(const struct cell_walk *walk, const struct score *score)
{
	return target_beats(walk->target, &walk->walker->search->wishes.objectives, score);
}

static bool cell_walk_goes_on(const struct cell_walk *walk)
{
	return walk->verdict == CELL_SEARCHED;
}

static void cell_walk_spend(struct cell_walk *walk)
{
	struct cell_walker *walker = walk->walker;
	walker->steps++;
	bool stopped = stop_poll_ends(&walker->poll, 1);
	if (stopped || (walker->budget && walker->steps > walker->budget))
		walk->verdict = CELL_STOPPED;
}

static int walk_dimensions(const struct cell_walk *walk)
{
	return walk->walker->search->shape->dimension_count;
}

static const struct tiling_level *tiling_of(const struct cell_walk *walk, int j)
{
	const struct cell_walker *walker = walk->walker;
	return &walker->search->space->levels[walker->completions->tiling[j]];
}

static uint32_t *cell_bounds(struct cell_walk *walk, int j)
{
	return walk->mapping.rows[tiling_of(walk, j)->row].temporal;
}

static void try_mapping(struct cell_walk *walk)
{
	struct cell_walker *walker = walk->walker;
	const struct nest_search *search = walker->search;
	struct nest_counts counts;
	struct nest_score score;
	cell_walk_spend(walk);
	walker->evaluated++;
	enum nest_verdict verdict = nest_evaluate(search->model, &walk->mapping, &counts, &score);
	bool counted = verdict != NEST_OVERFLOW && verdict != NEST_UNCOUNTABLE;
	if (counted && verdict != NEST_FITS)
		return;
	struct score summary = nest_summary(search, &counts, &score);
	if (counted && cell_walk_beaten(walk, &summary))
		return;
	struct arena_mark mark = arena_mark(walker->scratch);
	const char *broken = constraints_check(
		search->constraints, search->domain, &walk->mapping, walker->scratch);
	arena_release(walker->scratch, mark);
	if (broken || !cell_walk_goes_on(walk))
		return;
	walk->verdict = counted ? CELL_BEATEN : CELL_UNCOUNTED;
	*walk->witness = walk->mapping;
}

/* Gives the remaining iterations to the innermost level, in every order that the space has there. */
static void walk_innermost(struct cell_walk *walk, const int64_t *left)
{
	const struct space *space = walk->walker->search->space;
	const struct tiling_level *level = tiling_of(walk, 0);
	for (int d = 0; d < walk_dimensions(walk); d++)
		cell_bounds(walk, 0)[d] = (uint32_t)left[d];
	uint64_t count = space_level_count(space, level, &walk->mapping);
	for (uint64_t i = 0; i < count && cell_walk_goes_on(walk); i++) {
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
	const uint32_t *bounds = cell_bounds(walk, j);
	uint32_t open = 0;
	for (uint8_t d = 0; d < walk_dimensions(walk); d++) {
		if (bounds[d] <= 1)
			continue;
		floor_loops_add(
			&walk->cell, &walk->loops[j], bounds, left, &d, 1, &walk->loops[j - 1]);
		struct score floor = floor_score(&walk->cell, walk->loops, j - 1, known);
		cell_walk_spend(walk);
		open |= (uint32_t)!cell_walk_beaten(walk, &floor) << d;
	}
	return open;
}

/* The innermost loop of a row with a bound above 1; 0 without any. */
static uint8_t innermost_of(const struct mapping_row *row, int walk_dimensions)
{
	for (int n = 0; n < walk_dimensions; n++)
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
	for (int d = 0; d < walk_dimensions(walk); d++)
		bounds[d] = row->temporal[d];
	uint64_t count = space_level_count(space, level, &walk->mapping);
	uint32_t open = UINT32_MAX;
	if (count > 1)
		open = find_innermost(walk, j, left, known);
	for (uint64_t i = 0; i < count && cell_walk_goes_on(walk); i++) {
		struct floor_known next = *known;
		space_level_arrange(space, level, i, &walk->mapping);
		if (!(open >> innermost_of(row, walk_dimensions(walk)) & 1))
			continue;
		floor_loops_add(&walk->cell, &walk->loops[j], bounds, left, row->temporal_order,
			walk_dimensions(walk), &walk->loops[j - 1]);
		struct score floor = floor_score(&walk->cell, walk->loops, j - 1, known);
		cell_walk_spend(walk);
		if (cell_walk_beaten(walk, &floor))
			continue;
		if (walk->windows && j > 1) {
			floor_count(&walk->cell, &walk->mapping, j - 1, left, &next);
			walk->walker->evaluated++;
			cell_walk_spend(walk);
			floor = floor_score(&walk->cell, walk->loops, j - 1, &next);
			if (cell_walk_beaten(walk, &floor))
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
	floor_loops_add(&walk->cell, &walk->loops[j], cell_bounds(walk, j), rest, NULL, 0,
		&walk->loops[j - 1]);
	struct score floor = floor_score(&walk->cell, walk->loops, j - 1, known);
	cell_walk_spend(walk);
	return cell_walk_beaten(walk, &floor);
}

/* The bounds of level j, dimension d and those after it, which are 1; `rest` is what stays
 * inside. */
static void walk_bounds(struct cell_walk *walk, int j, int d, const int64_t *left, int64_t *rest,
	const struct floor_known *known)
{
	const struct cell_walker *walker = walk->walker;
	if (d == walk_dimensions(walk)) {
		if (floor_fits(&walk->cell, j - 1, rest))
			walk_orders(walk, j, rest, known);
		return;
	}
	const struct divisors *divisors = &walker->completions->divisors[d];
	const struct factor_domain *factor =
		&walker->search->domain->rows[tiling_of(walk, j)->row].temporal[d];
	for (size_t k = 0;
		k < divisors->count && divisors->at[k] <= left[d] && cell_walk_goes_on(walk); k++) {
		int64_t bound = divisors->at[k];
		if (left[d] % bound || bound < factor->least || bound > factor->most ||
			!completions_make_up(walker->completions, j - 1, d, left[d] / bound))
			continue;
		cell_bounds(walk, j)[d] = (uint32_t)bound;
		rest[d] = left[d] / bound;
		if (bound == 1 || !too_much(walk, j, rest, known))
			walk_bounds(walk, j, d + 1, left, rest, known);
	}
	cell_bounds(walk, j)[d] = 1;
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
	for (int d = 0; d < walk_dimensions(walk); d++) {
		cell_bounds(walk, j)[d] = 1;
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
	for (int d = 0; d < walk_dimensions(walk); d++)
		busy |= (uint32_t)(bounds[d] > 1) << d;
	for (int t = 0; t < frame->search->shape->space_count; t++)
		shared |= frame->paired[t];
	bool ways = frame->flagged || walk->walker->search->model->priced_hops;
	return busy &&
	       ((frame->timeloop && (ways || level->level == 0)) || busy & shared ||
		       walk->walker->search->hierarchy->levels[level->level].fanout.systolic);
}

static bool axes_fit(const struct cell_walk *walk, const struct tiling_level *level)
{
	const struct nest_level *block = &walk->walker->search->hierarchy->levels[level->level];
	const struct mapping_row *row = &walk->mapping.rows[level->row];
	int64_t along[2] = {1, 1};
	for (int d = 0; d < walk_dimensions(walk); d++)
		along[row->spatial_y >> d & 1] *= row->spatial[d];
	return along[0] <= block->fanout.x && along[1] <= block->fanout.y;
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
	for (uint64_t k = 0; k < count && cell_walk_goes_on(walk); k++) {
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

static enum cell_verdict cell_check(struct cell_walker *walker, const struct cell *cell,
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
	cell_walk_spend(&walk);
	if (cell_walk_goes_on(&walk) && cell_walk_beaten(&walk, &floor))
		return CELL_EXCLUDED;
	if (cell_walk_goes_on(&walk))
		walk_places(&walk, 0);
	return walk.verdict;
}

static struct cell_walker cell_walker_open(const struct nest_search *search, uint64_t budget)
{
	struct cell_walker walker = {
		.search = search, .arena = arena_open(), .scratch = arena_open(), .budget = budget};
	walker.completions = completions_make(walker.arena, search->space);
	walker.frame = floor_frame_make(search, walker.completions);
	return walker;
}

static void cell_walker_close(struct cell_walker *walker)
{
	arena_close(walker->scratch);
	arena_close(walker->arena);
}

struct certificate_checker {
	const struct certificate *certificate;
	const struct nest_search *search;
	const struct certificate_checking *checking;
	struct arena *arena;
	struct certificate_result *result;
	struct cell_walker walker;
	struct cells cells;
	double *claimed; /* rows of the claim's target */
	size_t claimed_count;
};

__attribute__((format(printf, 3, 4))) static bool reject(
	struct certificate_checker *check, struct span span, const char *format, ...)
{
	char text[1024];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	check->result->answer = VERDICT_NO;
	check->result->span = span;
	check->result->why = arena_text(check->arena, text);
	return false;
}

/* A point's mapping as the space has it. */
static bool in_space(struct certificate_checker *check, const struct mapping *mapping)
{
	const struct space *space = check->search->space;
	const struct domain *domain = space->domain;
	for (int i = 0; i < space->level_count; i++) {
		const struct mapping_row *row = &mapping->rows[space->levels[i].row];
		const struct row_domain *may = &domain->rows[space->levels[i].row];
		for (int d = 0; d < domain->shape->dimension_count; d++) {
			bool spatial = space->levels[i].spatial;
			int64_t bound = spatial ? row->spatial[d] : row->temporal[d];
			const struct factor_domain *factor =
				spatial ? &may->spatial[d] : &may->temporal[d];
			if (bound < factor->least || bound > factor->most)
				return false;
		}
	}
	for (int t = 0; t < domain->shape->space_count; t++) {
		uint32_t must = space->blank.residency[t], may = must;
		for (int i = 0; i < space->free_count; i++)
			if (space->free[i].space == t)
				may |= 1u << space->free[i].row;
		if ((mapping->residency[t] & may) != mapping->residency[t] ||
			(mapping->residency[t] & must) != must)
			return false;
	}
	return true;
}

/* Returns the fault of a point, or NULL; *score becomes the score of its mapping. */
static const char *judge_mapping(struct certificate_checker *check,
	const struct certificate_point *point, struct score *score, const char **line)
{
	const struct nest_search *search = check->search;
	struct mapping mapping;
	struct nest_counts counts;
	struct nest_score found;
	bool perfect;
	const char *why = nest_mapping_parse(
		check->arena, search->arch, search->shape, point->mapping, &mapping);
	if (!why)
		why = nest_mapping_check(
			check->arena, search->arch, search->shape, &mapping, &perfect);
	if (!why && !perfect)
		why = "its factors do not divide";
	if (!why && !in_space(check, &mapping))
		why = "it is not a mapping of this space";
	if (!why)
		why = constraints_check(
			search->constraints, search->domain, &mapping, check->arena);
	if (why)
		return why;
	if (nest_evaluate(search->model, &mapping, &counts, &found) != NEST_FITS)
		return nest_verdict_text(check->arena, search->hierarchy, search->shape, &found);
	*score = nest_summary(search, &counts, &found);
	*line = nest_mapping_print(check->arena, search->arch, search->shape, &mapping);
	return NULL;
}

static bool check_values(struct certificate_checker *check, size_t i, const struct score *score)
{
	const struct certificate_point *point = &check->certificate->points[i];
	const struct objectives *objectives = &check->certificate->objectives;
	if (score->cycles != point->cycles)
		return reject(check, point->span,
			"point %zu takes %" PRId64 " cycles, not %" PRId64, i + 1, score->cycles,
			point->cycles);
	if (score->energy_pj != point->energy_pj)
		return reject(check, point->span, "point %zu takes %.17g pJ, not %.17g", i + 1,
			score->energy_pj, point->energy_pj);
	for (size_t k = 0; k < objectives->count; k++) {
		double value = objective_value(objectives->at[k], score);
		if (value != point->values[k])
			return reject(check, point->span, "point %zu has %s %.17g, not %.17g",
				i + 1,
				nest_objective_text(
					check->arena, objectives->at[k], check->search->hierarchy),
				value, point->values[k]);
	}
	return true;
}

static bool check_points(struct certificate_checker *check)
{
	const struct certificate *certificate = check->certificate;
	struct frontier frontier = frontier_open(certificate->objectives);
	for (size_t i = 0; i < certificate->point_count; i++) {
		const struct certificate_point *point = &certificate->points[i];
		struct point found = {.payload = (void *)point};
		const char *why = judge_mapping(check, point, &found.score, &found.key);
		if (why)
			return reject(check, point->span, "point %zu: %s", i + 1, why);
		if (!check_values(check, i, &found.score))
			return false;
		if (!text_equal(found.key, point->mapping))
			return reject(check, point->span,
				"point %zu is not written as mappings are: \"%s\"", i + 1,
				found.key);
		frontier_add(&frontier, check->arena, found);
	}
	for (size_t i = 0; i < certificate->point_count; i++)
		if (frontier.count != certificate->point_count ||
			frontier.points[i].payload != &certificate->points[i])
			return reject(check, certificate->points[i].span,
				"point %zu is beaten by another one, or not in its place", i + 1);
	return true;
}

static bool certificate_check_is_number(double value)
{
	return isfinite(value) && value >= 0;
}

static bool check_claim(struct certificate_checker *check)
{
	const struct certificate *certificate = check->certificate;
	size_t count = certificate->objectives.count;
	if (!certificate_check_is_number(certificate->epsilon))
		return reject(check, certificate->claim_span, "epsilon must be 0 or more");
	if (certificate->epsilon > NEST_EPSILON_MOST)
		return reject(check, certificate->claim_span,
			"epsilon is %g; it must be at most %g", certificate->epsilon,
			NEST_EPSILON_MOST);
	check->claimed_count = certificate->point_count;
	check->claimed = arena_array(check->arena, double, (certificate->point_count + 1) * count);
	for (size_t i = 0; i < certificate->point_count; i++)
		for (size_t k = 0; k < count; k++)
			check->claimed[i * count + k] = certificate->points[i].values[k];
	if (certificate->claim != PROOF_BOUND)
		return true;
	if (count != 1 || certificate->point_count != 1)
		return reject(check, certificate->claim_span,
			"a bound is of one objective, and of one point");
	double value = check->claimed[0];
	if (!certificate_check_is_number(certificate->bound) || certificate->bound > value)
		return reject(check, certificate->bound_span,
			"the bound %.17g is above the point, which has %.17g", certificate->bound,
			value);
	if (certificate->gap != value - certificate->bound)
		return reject(check, certificate->gap_span,
			"the gap between %.17g and the bound %.17g is %.17g, not %.17g", value,
			certificate->bound, value - certificate->bound, certificate->gap);
	check->claimed[0] = certificate->bound;
	return true;
}

static const char *certificate_checker_cell_text(
	struct certificate_checker *check, const struct cell *cell)
{
	struct mapping mapping;
	cell_set(check->search->space, cell, &mapping);
	return nest_mapping_print(
		check->arena, check->search->arch, check->search->shape, &mapping);
}

static const char *values_text(struct certificate_checker *check, const struct score *score)
{
	const struct objectives *objectives = &check->certificate->objectives;
	struct text text = text_open(check->arena);
	for (size_t k = 0; k < objectives->count; k++)
		text_add(&text, "%s%s %.17g", k ? ", " : "",
			nest_objective_text(
				check->arena, objectives->at[k], check->search->hierarchy),
			objective_value(objectives->at[k], score));
	return text_read(&text);
}

/* A mapping that nothing of the certificate beats. */
static bool reject_cell(
	struct certificate_checker *check, const struct cell *cell, const struct mapping *witness)
{
	const struct certificate *certificate = check->certificate;
	bool bound = certificate->claim == PROOF_BOUND;
	struct nest_counts counts;
	struct nest_score score;
	nest_evaluate(check->search->model, witness, &counts, &score);
	struct score summary = nest_summary(check->search, &counts, &score);
	return reject(check, bound ? certificate->bound_span : certificate->points_span,
		"%s: \"%s\" has %s, of the choice \"%s\"",
		bound                      ? "a mapping is below the bound"
		: certificate->point_count ? "a mapping is better"
					   : "a mapping fits",
		nest_mapping_print(
			check->arena, check->search->arch, check->search->shape, witness),
		values_text(check, &summary), certificate_checker_cell_text(check, cell));
}

static bool visit(const struct cell *cell, void *user)
{
	struct certificate_checker *check = user;
	struct certificate_result *result = check->result;
	struct target target = {check->claimed_count, check->claimed, check->certificate->epsilon};
	struct mapping witness;
	enum cell_verdict verdict = cell_check(&check->walker, cell, &target, &witness);
	if (check->checking->progress)
		check->checking->progress(
			check->checking->stopper.listener, result->done, result->choices);
	result->done += verdict == CELL_EXCLUDED || verdict == CELL_SEARCHED;
	result->excluded += verdict == CELL_EXCLUDED;
	if (verdict == CELL_BEATEN)
		return reject_cell(check, cell, &witness);
	if (verdict == CELL_UNCOUNTED || verdict == CELL_STOPPED)
		result->answer = VERDICT_OPEN;
	if (verdict == CELL_UNCOUNTED)
		result->why = arena_format(check->arena, "\"%s\" has no counts",
			nest_mapping_print(
				check->arena, check->search->arch, check->search->shape, &witness));
	return verdict == CELL_EXCLUDED || verdict == CELL_SEARCHED;
}

struct certificate_result certificate_check(
	const struct certificate_checking *checking, struct arena *arena)
{
	struct certificate_result result = {.answer = VERDICT_YES};
	struct certificate_checker check = {.cells = cells_make(arena, checking->search->space),
		.certificate = checking->certificate,
		.search = checking->search,
		.checking = checking,
		.arena = arena,
		.result = &result};
	if (!certificate_covers(checking->search)) {
		result.answer = VERDICT_OPEN;
		result.why = "its factors need not divide, which certificates do not cover";
		return result;
	}
	if (!check_points(&check) || !check_claim(&check))
		return result;
	result.choices = cells_count(&check.cells);
	if (result.choices == UINT64_MAX) {
		result.answer = VERDICT_OPEN;
		result.why = "the space has more choices than can be counted";
		return result;
	}
	check.walker = cell_walker_open(checking->search, checking->budget);
	check.walker.poll = (struct stop_poll){&checking->stopper, .every = STOP_STEPS};
	cells_each(&check.cells, visit, &check);
	result.steps = check.walker.steps;
	result.evaluated = check.walker.evaluated;
	cell_walker_close(&check.walker);
	return result;
}
