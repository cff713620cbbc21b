#include "search/nest/space.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"
#include "base/number.h"

#include <gmp.h>

/* The parts of an order: loops given as the innermost ones, free ones, loops given as the
 * outermost ones. */
struct order_parts {
	int inner, outer;
	const uint8_t *first, *last;
	uint32_t given; /* by dimension */
};

static const struct row_domain *space_row(
	const struct space *space, const struct tiling_level *level)
{
	return &space->domain->rows[level->row];
}

static struct order_parts parts_of(const struct space *space, const struct tiling_level *level)
{
	const struct row_domain *row = space_row(space, level);
	struct order_parts parts = {row->temporal_inner, row->temporal_outer, row->temporal_order,
		row->temporal_last, 0};
	if (level->spatial)
		parts = (struct order_parts){row->spatial_inner, row->spatial_outer,
			row->spatial_order, row->spatial_last, 0};
	for (int i = 0; i < parts.inner; i++)
		parts.given |= 1u << parts.first[i];
	for (int i = 0; i < parts.outer; i++)
		parts.given |= 1u << parts.last[i];
	return parts;
}

static const struct nest_level *space_block(
	const struct space *space, const struct tiling_level *level)
{
	return &space->domain->hierarchy->levels[level->level];
}

/* No count depends on the order of these loops. */
static bool has_one_form(const struct space *space, const struct tiling_level *level)
{
	const struct nest_level *block = space_block(space, level);
	if (level->spatial)
		return (block->fanout.x == 1 || block->fanout.y == 1) &&
		       !parts_of(space, level).given;
	for (int i = 0; i < level->level; i++)
		if (space->domain->hierarchy->levels[i].storage)
			return false;
	return true;
}

/* True if neighbours along one axis may hand words on, so that it counts which loop's iterations
 * are neighbours: tiles that overlap, or come again, as operands of multipliers do.  Those with
 * others beside them keep their operands from step to step in Timeloop's counting, so that
 * the order of the innermost temporal loops counts, too.  Where networks cost energy, words that
 * go another way do, and all of that may be further outside. */
static bool may_hand_on(const struct space *space, const struct tiling_level *level)
{
	const struct shape *shape = space->domain->shape;
	const struct hierarchy *hierarchy = space->domain->hierarchy;
	bool may = false, priced = false, fans = false;
	for (int t = 0; t < shape->space_count; t++)
		may |= dataspace_slides(&shape->spaces[t]);
	for (int i = 0; i < hierarchy->level_count; i++)
		may |= hierarchy->levels[i].no_temporal_reuse != 0;
	for (int i = 0; i < hierarchy->level_count; i++)
		priced |= hierarchy->levels[i].network.hop_pj > 0 ||
			  hierarchy->levels[i].network.router_pj > 0;
	if (level->spatial)
		return may || priced || level->level == 0;
	for (int i = 0; i <= (priced ? level->level : 0); i++)
		fans |= hierarchy->levels[i].fanout.x * hierarchy->levels[i].fanout.y > 1;
	return fans;
}

/*
 * The distinct orders and splits of one level under given factors.  Loops of bound above 1 are busy, the others
 * idle.
 */
struct free_loops {
	struct order_parts parts;
	int busy, idle; /* of the free ones */
	uint8_t busy_loops[SHAPE_DIMENSIONS_MOST], idle_loops[SHAPE_DIMENSIONS_MOST];
	uint64_t orders;
	int splits;

	/* A split by entries of the order: this many of the free ones along X, of them at least
	 * `least` busy ones.  -1: the split lies elsewhere. */
	int free_along_x, least;
	int entries_along_x; /* -1: depends on the choice */
};

static int busy_among(const uint32_t *bounds, const uint8_t *loops, int count)
{
	int busy = 0;
	for (int i = 0; i < count; i++)
		busy += bounds[loops[i]] > 1;
	return busy;
}

/* Finds the places at which X ends and Y begins. */
static void find_splits(const struct space *space, const struct tiling_level *level,
	const uint32_t *bounds, struct free_loops *loops)
{
	const struct nest_level *block = space_block(space, level);
	int count = space->domain->shape->dimension_count, split = space_row(space, level)->split;
	loops->splits = 1;
	loops->free_along_x = -1;
	loops->entries_along_x = split;
	if (split < 0 && block->fanout.y == 1)
		loops->entries_along_x = count;
	else if (split < 0 && block->fanout.x == 1)
		loops->entries_along_x = 0;
	else if (split < 0)
		loops->splits = 1 + loops->busy +
				busy_among(bounds, loops->parts.first, loops->parts.inner) +
				busy_among(bounds, loops->parts.last, loops->parts.outer);
	else if (split > loops->parts.inner && split < count - loops->parts.outer) {
		loops->free_along_x = split - loops->parts.inner;
		loops->least =
			loops->free_along_x > loops->idle ? loops->free_along_x - loops->idle : 0;
		int most = loops->free_along_x < loops->busy ? loops->free_along_x : loops->busy;
		if (block->fanout.y == 1)
			loops->least = most;
		else if (block->fanout.x > 1)
			loops->splits = most - loops->least + 1;
	}
}

static const uint32_t *mapping_level_bounds(
	const struct mapping *mapping, const struct tiling_level *level)
{
	const struct mapping_row *row = &mapping->rows[level->row];
	return level->spatial ? row->spatial : row->temporal;
}

static struct free_loops space_find_loops(
	const struct space *space, const struct tiling_level *level, const struct mapping *mapping)
{
	const uint32_t *bounds = mapping_level_bounds(mapping, level);
	struct free_loops loops = {.parts = parts_of(space, level), .orders = 1, .splits = 1};
	for (int d = 0; d < space->domain->shape->dimension_count; d++) {
		if (loops.parts.given >> d & 1)
			continue;
		if (bounds[d] > 1)
			loops.busy_loops[loops.busy++] = (uint8_t)d;
		else
			loops.idle_loops[loops.idle++] = (uint8_t)d;
	}
	if (!has_one_form(space, level) || may_hand_on(space, level))
		for (int i = 2; i <= loops.busy; i++)
			loops.orders *= (uint64_t)i;
	if (level->spatial)
		find_splits(space, level, bounds, &loops);
	return loops;
}

/* Permutation number `order` of the free busy loops. */
static void free_loops_permute(struct free_loops *loops, uint64_t order)
{
	for (int left = loops->busy; left > 1; left--) {
		int pick = left - 1 - (int)(order % (uint64_t)left);
		order /= (uint64_t)left;
		uint8_t loop = loops->busy_loops[pick];
		loops->busy_loops[pick] = loops->busy_loops[left - 1];
		loops->busy_loops[left - 1] = loop;
	}
}

static int space_append(uint8_t *order, int count, const uint8_t *loops, int added)
{
	for (int i = 0; i < added; i++)
		order[count + i] = loops[i];
	return count + added;
}

/* Gives one level its order, and split number `split` of it. */
static void space_place_loops(const struct space *space, const struct tiling_level *level,
	const struct free_loops *loops, int split, struct mapping *mapping)
{
	struct mapping_row *row = &mapping->rows[level->row];
	int busy = loops->busy, idle = 0, n = 0; /* before the free idle loops, or the split */
	if (loops->free_along_x >= 0) {
		busy = loops->least + split;
		idle = loops->free_along_x - busy;
	}
	uint8_t *out = level->spatial ? row->spatial_order : row->temporal_order;
	n = space_append(out, n, loops->parts.first, loops->parts.inner);
	n = space_append(out, n, loops->busy_loops, busy);
	n = space_append(out, n, loops->idle_loops, idle);
	n = space_append(out, n, loops->busy_loops + busy, loops->busy - busy);
	n = space_append(out, n, loops->idle_loops + idle, loops->idle - idle);
	n = space_append(out, n, loops->parts.last, loops->parts.outer);
	if (!level->spatial)
		return;
	int along_x = loops->entries_along_x;
	if (along_x < 0) /* the split-th busy loop is the last along X */
		for (along_x = 0; split > 0; along_x++)
			split -= row->spatial[out[along_x]] > 1;
	row->spatial_y = 0;
	for (int i = along_x; i < n; i++)
		row->spatial_y |= (uint16_t)(1u << out[i]);
}

uint64_t space_level_count(
	const struct space *space, const struct tiling_level *level, const struct mapping *mapping)
{
	struct free_loops loops = space_find_loops(space, level, mapping);
	return loops.orders * (uint64_t)loops.splits;
}

void space_level_arrange(const struct space *space, const struct tiling_level *level,
	uint64_t index, struct mapping *mapping)
{
	struct free_loops loops = space_find_loops(space, level, mapping);
	free_loops_permute(&loops, index / (uint64_t)loops.splits);
	space_place_loops(space, level, &loops, (int)(index % (uint64_t)loops.splits), mapping);
}

bool space_set_axes(const struct space *space, const struct tiling_level *level, uint32_t along_x,
	struct mapping *mapping)
{
	struct free_loops loops = space_find_loops(space, level, mapping);
	int split = __builtin_popcount(along_x), first = 0;
	for (int i = 0; i < loops.busy; i++) /* those along X before the others */
		if (along_x >> loops.busy_loops[i] & 1) {
			uint8_t loop = loops.busy_loops[i];
			loops.busy_loops[i] = loops.busy_loops[first];
			loops.busy_loops[first++] = loop;
		}
	if (loops.free_along_x >= 0)
		split = first - loops.least;
	if (loops.splits == 1)
		split = 0;
	if (split < 0 || split >= loops.splits)
		return false;
	space_place_loops(space, level, &loops, split, mapping);
	const struct mapping_row *row = &mapping->rows[level->row];
	for (int d = 0; d < space->domain->shape->dimension_count; d++)
		if (row->spatial[d] > 1 && (along_x >> d & 1) == (row->spatial_y >> d & 1))
			return false;
	return true;
}

static int space_among(const uint8_t *loops, int count, uint32_t mask)
{
	int found = 0;
	for (int i = 0; i < count; i++)
		found += mask >> loops[i] & 1;
	return found;
}

void space_level_follow(const struct space *space, const struct tiling_level *level,
	const uint8_t *order, uint32_t along_x, struct mapping *mapping)
{
	struct free_loops loops = space_find_loops(space, level, mapping);
	const uint32_t *bounds = mapping_level_bounds(mapping, level);
	uint32_t busy = 0, free = 0, axes[2] = {along_x, ~along_x};
	uint8_t wished[SHAPE_DIMENSIONS_MOST];
	int count = space->domain->shape->dimension_count, split = 0, n = 0;
	for (int i = 0; i < count; i++) {
		wished[i] = order[i];
		busy |= (uint32_t)(bounds[i] > 1) << i;
	}
	for (int i = 0; i < loops.busy; i++)
		free |= 1u << loops.busy_loops[i];
	if (!level->spatial)
		axes[0] = ~0u;
	for (int axis = 0; loops.orders > 1 && axis < 1 + level->spatial; axis++)
		for (int i = 0; i < count; i++)
			if ((free & axes[axis]) >> wished[i] & 1)
				loops.busy_loops[n++] = wished[i];
	if (loops.free_along_x >= 0)
		split = space_among(loops.busy_loops, loops.busy, along_x) - loops.least;
	else if (loops.splits > 1)
		split = __builtin_popcount(busy & along_x);
	split = split < 0 ? 0 : split < loops.splits ? split : loops.splits - 1;
	space_place_loops(space, level, &loops, split, mapping);
}

void space_set_orders(const struct space *space, struct mapping *mapping)
{
	for (int i = 0; i < space->level_count; i++) {
		if (space->levels[i].spatial)
			continue;
		struct free_loops loops = space_find_loops(space, &space->levels[i], mapping);
		space_place_loops(space, &space->levels[i], &loops, 0, mapping);
	}
}

static void set_residency(const struct space *space, const uint64_t bits[], struct mapping *mapping)
{
	for (int t = 0; t < space->domain->shape->space_count; t++)
		mapping->residency[t] = space->blank.residency[t];
	for (int i = 0; i < space->free_count; i++)
		if (bits[i / 64] >> i % 64 & 1)
			mapping->residency[space->free[i].space] |= 1u << space->free[i].row;
}

uint64_t space_residency_count(const struct space *space)
{
	return space->free_count < 64 ? UINT64_C(1) << space->free_count : UINT64_MAX;
}

uint64_t space_rest_count(const struct space *space, const struct mapping *mapping)
{
	uint64_t count = space_residency_count(space);
	for (int i = 0; i < space->level_count; i++) {
		struct free_loops loops = space_find_loops(space, &space->levels[i], mapping);
		if (__builtin_mul_overflow(count, loops.orders, &count) ||
			__builtin_mul_overflow(count, (uint64_t)loops.splits, &count))
			return UINT64_MAX;
	}
	return count;
}

enum { RESIDENCY_WORDS = (ARCH_LEVELS_MOST * SHAPE_SPACES_MOST + 63) / 64 };

void space_rest(const struct space *space, uint64_t index, struct mapping *mapping)
{
	uint64_t bits[RESIDENCY_WORDS] = {index}, kept = space_residency_count(space);
	set_residency(space, bits, mapping);
	index /= kept;
	for (int i = 0; i < space->level_count; i++) {
		struct free_loops loops = space_find_loops(space, &space->levels[i], mapping);
		uint64_t split = index % (uint64_t)loops.splits;
		index /= (uint64_t)loops.splits;
		free_loops_permute(&loops, index % loops.orders);
		space_place_loops(space, &space->levels[i], &loops, (int)split, mapping);
		index /= loops.orders;
	}
	if (index)
		BUG("there are not that many mappings with these factors");
}

void space_draw_rest(const struct space *space, struct random *random, struct mapping *mapping)
{
	uint64_t bits[RESIDENCY_WORDS];
	for (int i = 0; i < RESIDENCY_WORDS; i++)
		bits[i] = random_next(random);
	set_residency(space, bits, mapping);
	for (int i = 0; i < space->level_count; i++) {
		struct free_loops loops = space_find_loops(space, &space->levels[i], mapping);
		free_loops_permute(&loops, random_below(random, loops.orders));
		int split = (int)random_below(random, (uint64_t)loops.splits);
		space_place_loops(space, &space->levels[i], &loops, split, mapping);
	}
}

static void set_wide(mpz_t out, wide value)
{
	mpz_set_ui(out, (unsigned long)(value >> 64));
	mpz_mul_2exp(out, out, 64);
	mpz_add_ui(out, out, (unsigned long)(value & (wide)UINT64_MAX));
}

static const char *space_digits(struct arena *arena, const mpz_t number)
{
	char *text = arena_alloc(arena, mpz_sizeinbase(number, 10) + 2);
	return mpz_get_str(text, 10, number);
}

/* Loops of tiling level i whose order Timeloop's mapspace leaves open: all that no permutation
 * gives, for all bounds.  Those of the innermost tiling level have one order there, and so
 * have those of a fan-out along one axis if none is given. */
static int open_loops(const struct space *space, int i)
{
	const struct tiling_level *level = &space->levels[i];
	const struct row_domain *row = &space->domain->rows[level->row];
	const struct nest_level *block = &space->domain->hierarchy->levels[level->level];
	int given = level->spatial ? row->spatial_inner + row->spatial_outer
				   : row->temporal_inner + row->temporal_outer;
	bool line = block->fanout.x == 1 || block->fanout.y == 1;
	if (level->spatial ? !given && line : i == 0)
		return 0;
	return space->domain->shape->dimension_count - given;
}

static void count_choice(const struct space *space, enum space_choice choice, mpz_t out)
{
	int dimensions = space->domain->shape->dimension_count;
	mpz_t part;
	mpz_init(part);
	mpz_set_ui(out, 1);
	for (int d = 0; choice == CHOICE_FACTORS && d < dimensions; d++) {
		set_wide(part, factors_count(space->factors[d]));
		mpz_mul(out, out, part);
	}
	for (int i = 0; i < space->level_count; i++) {
		const struct tiling_level *level = &space->levels[i];
		if (choice == CHOICE_ORDERS) {
			mpz_fac_ui(part, (unsigned long)open_loops(space, i));
			mpz_mul(out, out, part);
		}
		if (choice == CHOICE_SPLITS && level->spatial &&
			space->domain->rows[level->row].split < 0)
			mpz_mul_ui(out, out, (unsigned long)dimensions + 1);
	}
	if (choice == CHOICE_RESIDENCY)
		mpz_mul_2exp(out, out, (unsigned long)space->free_count);
	mpz_clear(part);
}

struct space_sizes space_sizes(const struct space *space, struct arena *arena)
{
	struct space_sizes sizes = {0};
	mpz_t all, choice;
	mpz_init_set_ui(all, 1);
	mpz_init(choice);
	for (int d = 0; d < space->domain->shape->dimension_count; d++) {
		set_wide(choice, factors_count(space->factors[d]));
		sizes.dimensions[d] = space_digits(arena, choice);
	}
	for (int c = 0; c < CHOICE_COUNT; c++) {
		count_choice(space, (enum space_choice)c, choice);
		sizes.choices[c] = space_digits(arena, choice);
		mpz_mul(all, all, choice);
	}
	sizes.all = space_digits(arena, all);
	mpz_clear(choice);
	mpz_clear(all);
	return sizes;
}

const char *const space_choice_names[] = {"factors", "orders", "splits", "residency", NULL};

static void add_levels(struct space *space)
{
	const struct hierarchy *hierarchy = space->domain->hierarchy;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		if (fanout_count(&level->fanout) > 1)
			space->levels[space->level_count++] =
				(struct tiling_level){level->block_row, i, true};
		bool dummy =
			hierarchy->dummy_loops && domain_iterates(space->domain->arch, level->row);
		if (level->storage || dummy)
			space->levels[space->level_count++] = (struct tiling_level){
				hierarchy_loops_row(hierarchy, level), i, false};
	}
}

static void add_residency(struct space *space)
{
	const struct hierarchy *hierarchy = space->domain->hierarchy;
	const struct shape *shape = space->domain->shape;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		const struct row_domain *row = &space->domain->rows[level->row];
		for (int t = 0; level->storage && t < shape->space_count; t++) {
			if (row->keep >> t & 1)
				space->blank.residency[t] |= 1u << level->row;
			else if (!(row->bypass >> t & 1)) {
				space->free[space->free_count].row = (uint8_t)level->row;
				space->free[space->free_count++].space = (uint8_t)t;
			}
		}
	}
}

const struct space *space_make_from(
	struct factors_store *store, struct arena *arena, const struct domain *domain)
{
	struct space *space = arena_new(arena, struct space);
	const struct shape *shape = domain->shape;
	space->domain = domain;
	space->blank.loop_count = (uint8_t)shape->dimension_count;
	space->blank.level_count = (uint8_t)domain->arch->level_count;
	for (int r = 0; r < domain->arch->level_count; r++)
		for (int d = 0; d < shape->dimension_count; d++) {
			struct mapping_row *row = &space->blank.rows[r];
			row->spatial[d] = row->temporal[d] = 1;
			row->spatial_order[d] = row->temporal_order[d] = (uint8_t)d;
		}
	add_levels(space);
	add_residency(space);
	for (int d = 0; d < shape->dimension_count; d++) {
		struct factor_bounds bounds[FACTORS_LOOPS_MOST];
		for (int i = 0; i < space->level_count; i++) {
			const struct row_domain *row = space_row(space, &space->levels[i]);
			const struct factor_domain *factor =
				space->levels[i].spatial ? &row->spatial[d] : &row->temporal[d];
			bounds[i] = (struct factor_bounds){factor->least, factor->most};
		}
		space->factors[d] = factors_store_get(store, arena, shape->dimensions[d].extent,
			domain->imperfect >> d & 1, space->level_count, bounds);
		if (!space->factors[d])
			return NULL;
	}
	return space;
}

const struct space *space_listed(struct arena *arena, const struct space *space)
{
	struct space *listed = arena_copy(arena, space, sizeof *space);
	for (int d = 0; d < space->domain->shape->dimension_count; d++)
		listed->factors[d] = factors_listed(arena, space->factors[d]);
	return listed;
}

const struct space *space_make(struct arena *arena, const struct domain *domain)
{
	return space_listed(arena, space_make_from(NULL, arena, domain));
}

uint64_t space_factors_count(const struct space *space)
{
	wide count = 1;
	for (int d = 0; d < space->domain->shape->dimension_count; d++)
		if (__builtin_mul_overflow(count, factors_count(space->factors[d]), &count))
			count = (wide)UINT64_MAX; /* another factor of 0 may follow */
	return count < (wide)UINT64_MAX ? (uint64_t)count : UINT64_MAX;
}

void space_set_factors(
	const struct space *space, int dimension, const int64_t *bounds, struct mapping *mapping)
{
	for (int i = 0; i < space->level_count; i++) {
		struct mapping_row *row = &mapping->rows[space->levels[i].row];
		if (space->levels[i].spatial)
			row->spatial[dimension] = (uint32_t)bounds[i];
		else
			row->temporal[dimension] = (uint32_t)bounds[i];
	}
}

void space_factors(const struct space *space, uint64_t index, struct mapping *out)
{
	int64_t bounds[FACTORS_LOOPS_MOST];
	*out = space->blank;
	for (int d = space->domain->shape->dimension_count - 1; d >= 0; d--) {
		wide count = factors_count(space->factors[d]);
		bool small = count <= (wide)UINT64_MAX; /* else they are more than any index */
		factors_at(space->factors[d], small ? index % (uint64_t)count : index, bounds);
		space_set_factors(space, d, bounds, out);
		index = small ? index / (uint64_t)count : 0;
	}
	if (index)
		BUG("there are not that many factors");
}

void space_draw(const struct space *space, struct random *random, struct mapping *out)
{
	int64_t bounds[FACTORS_LOOPS_MOST];
	*out = space->blank;
	for (int d = 0; d < space->domain->shape->dimension_count; d++) {
		factors_draw(space->factors[d], random, bounds);
		space_set_factors(space, d, bounds, out);
	}
	space_draw_rest(space, random, out);
}

/* A factorization as far as it goes, from the innermost loop outwards. */
struct partial {
	int64_t left, inside;
	int64_t *values, *bounds;
};

struct partials array(struct partial);

struct tilings_walk {
	const struct tilings_question *question;
	struct tilings_work *work;
	struct arena *arena;
	int64_t extent;
	const struct factors *factors;
	int loop_count;
	int last_tile; /* the outermost loop whose tile is watched; -1 */
	bool exact_tiles;
	int sink; /* a free loop outside all watched tiles, which takes what is left; or -1 */
	bool divides;
};

/* An unwatched temporal loop that may have any bound takes what the loops inside it leave.  With
 * imperfect factors only as the last loop: what it leaves is then always 1. */
static int find_sink(const struct tilings_walk *finding)
{
	const struct space *space = finding->question->space;
	for (int loop = finding->loop_count - 1; loop > finding->last_tile; loop--) {
		const struct tiling_level *level = &space->levels[loop];
		const struct row_domain *row = &space->domain->rows[level->row];
		const struct factor_domain *factor =
			level->spatial ? &row->spatial[finding->question->dimension]
				       : &row->temporal[finding->question->dimension];
		if (!level->spatial && finding->question->watches[loop] == WATCH_NOT &&
			factor->most >= finding->extent)
			return loop;
		if (!finding->divides && factor->most > 1)
			return -1;
	}
	return -1;
}

/* Whatever completes b completes a, with values no greater. */
static bool tilings_walk_dominates(const struct tilings_walk *finding, int loop,
	const struct partial *a, const struct partial *b)
{
	const enum watch *watches = finding->question->watches;
	bool absorbed = loop < finding->sink &&
			(finding->divides ? a->left % b->left == 0 : a->left >= b->left);
	if (a->left != b->left && !absorbed)
		return false;
	if (loop < finding->last_tile &&
		(a->inside > b->inside || (finding->exact_tiles && a->inside != b->inside)))
		return false;
	for (int i = 0; i <= loop; i++) {
		if (watches[i] == WATCH_LEAST && a->values[i] > b->values[i])
			return false;
		if (watches[i] == WATCH_EXACT && a->values[i] != b->values[i])
			return false;
	}
	return true;
}

static bool is_dominated(const struct tilings_walk *finding, int loop, const struct partials *kept,
	const struct partial *candidate)
{
	for (size_t i = 0; i < kept->count; i++)
		if (tilings_walk_dominates(finding, loop, &kept->at[i], candidate))
			return true;
	return false;
}

/* Adds what is inside `loop` with one bound of it; what it makes superfluous goes. */
static void keep_partial(struct tilings_walk *finding, int loop, struct partials *kept,
	const struct partial *inner, int64_t bound, int64_t left)
{
	const struct tilings_question *question = finding->question;
	bool spatial = question->space->levels[loop].spatial;
	int64_t inside = inner->inside * bound, value = 0;
	if (question->watches[loop] != WATCH_NOT)
		value = spatial ? bound : number_min(inside, finding->extent);
	if (value && !question->room(question->context, question->dimension, loop, value))
		return;
	int64_t values[FACTORS_LOOPS_MOST], bounds[FACTORS_LOOPS_MOST];
	for (int i = 0; i < loop; i++) {
		values[i] = inner->values[i];
		bounds[i] = inner->bounds[i];
	}
	values[loop] = value;
	bounds[loop] = bound;
	struct partial candidate = {left, inside, values, bounds};
	finding->work->done += 1 + kept->count / 8;
	if (is_dominated(finding, loop, kept, &candidate))
		return;
	size_t count = 0;
	for (size_t i = 0; i < kept->count; i++)
		if (!tilings_walk_dominates(finding, loop, &candidate, &kept->at[i]))
			kept->at[count++] = kept->at[i];
	kept->count = count;
	size_t size = (size_t)finding->loop_count * sizeof *values;
	candidate.values = arena_copy(finding->arena, values, size);
	candidate.bounds = arena_copy(finding->arena, bounds, size);
	*array_add(finding->arena, kept) = candidate;
}

bool work_is_out(struct tilings_work *work)
{
	return stop_poll_ends(&work->poll, 1) || work->done > work->most;
}

/* All bounds of one loop after each of what is inside it. */
static struct partials pass_loop(
	struct tilings_walk *finding, int loop, const struct partials *inner)
{
	struct partials kept = {0};
	bool least = finding->question->watches[loop] != WATCH_EXACT && !finding->exact_tiles;
	for (size_t i = 0; i < inner->count; i++) {
		const struct partial *from = &inner->at[i];
		struct factor_step step = {0};
		while (factors_step(finding->factors, loop, from->left, step.last + 1, &step))
			for (int64_t bound = step.first; bound <= (least ? step.first : step.last);
				bound++) {
				if (work_is_out(finding->work))
					return kept;
				keep_partial(finding, loop, &kept, from, bound, step.left);
			}
	}
	return kept;
}

static struct tilings tilings_of(const struct tilings_walk *finding, const struct partials *found)
{
	struct tilings tilings = {found->count,
		arena_array(finding->arena, struct dimension_tiling, found->count),
		!work_is_out(finding->work)};
	for (size_t i = 0; i < found->count; i++)
		tilings.at[i] = (struct dimension_tiling){found->at[i].values, found->at[i].bounds};
	return tilings;
}

struct tilings tilings_find(
	const struct tilings_question *question, struct tilings_work *work, struct arena *arena)
{
	const struct space *space = question->space;
	struct tilings_walk finding = {
		.question = question,
		.work = work,
		.arena = arena,
		.extent = space->domain->shape->dimensions[question->dimension].extent,
		.factors = space->factors[question->dimension],
		.loop_count = space->level_count,
		.last_tile = -1,
		.divides = !(space->domain->imperfect >> question->dimension & 1),
	};
	for (int i = 0; i < space->level_count; i++)
		if (!space->levels[i].spatial && question->watches[i] != WATCH_NOT) {
			finding.last_tile = i;
			finding.exact_tiles |= question->watches[i] == WATCH_EXACT;
		}
	finding.sink = find_sink(&finding);
	struct partials partials = {0};
	*array_add(arena, &partials) = (struct partial){.left = finding.extent, .inside = 1};
	for (int loop = 0; loop < space->level_count; loop++)
		partials = pass_loop(&finding, loop, &partials);
	return tilings_of(&finding, &partials);
}
