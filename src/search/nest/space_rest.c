#include "base/fatal.h"
#include "search/nest/space.h"

/* The parts of an order: loops given as the innermost ones, free ones, loops given as the
 * outermost ones. */
struct order_parts {
	int inner, outer;
	const uint8_t *first, *last;
	uint32_t given; /* by dimension */
};

static const struct row_domain *row_of(const struct space *space, const struct tiling_level *level)
{
	return &space->domain->rows[level->row];
}

static struct order_parts parts_of(const struct space *space, const struct tiling_level *level)
{
	const struct row_domain *row = row_of(space, level);
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

static const struct nest_level *block_of(
	const struct space *space, const struct tiling_level *level)
{
	return &space->domain->hierarchy->levels[level->level];
}

/* No count depends on the order of these loops. */
static bool has_one_form(const struct space *space, const struct tiling_level *level)
{
	const struct nest_level *block = block_of(space, level);
	if (level->spatial)
		return (block->fanout_x == 1 || block->fanout_y == 1) &&
		       !parts_of(space, level).given;
	for (int i = 0; i < level->level; i++)
		if (space->domain->hierarchy->levels[i].storage)
			return false;
	return true;
}

/* Whether neighbours along one axis may hand words on, so that it counts which loop's iterations
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
		priced |= hierarchy->levels[i].hop_pj > 0 || hierarchy->levels[i].router_pj > 0;
	if (level->spatial)
		return may || priced || level->level == 0;
	for (int i = 0; i <= (priced ? level->level : 0); i++)
		fans |= hierarchy->levels[i].fanout_x * hierarchy->levels[i].fanout_y > 1;
	return fans;
}

/*
 * What can be told apart at one level under given factors.  Loops of bound above 1
 * are busy, the others idle.
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

/* Where X ends and Y begins. */
static void find_splits(const struct space *space, const struct tiling_level *level,
	const uint32_t *bounds, struct free_loops *loops)
{
	const struct nest_level *block = block_of(space, level);
	int count = space->domain->shape->dimension_count, split = row_of(space, level)->split;
	loops->splits = 1;
	loops->free_along_x = -1;
	loops->entries_along_x = split;
	if (split < 0 && block->fanout_y == 1)
		loops->entries_along_x = count;
	else if (split < 0 && block->fanout_x == 1)
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
		if (block->fanout_y == 1)
			loops->least = most;
		else if (block->fanout_x > 1)
			loops->splits = most - loops->least + 1;
	}
}

static const uint32_t *bounds_of(const struct mapping *mapping, const struct tiling_level *level)
{
	const struct mapping_row *row = &mapping->rows[level->row];
	return level->spatial ? row->spatial : row->temporal;
}

static struct free_loops find_loops(
	const struct space *space, const struct tiling_level *level, const struct mapping *mapping)
{
	const uint32_t *bounds = bounds_of(mapping, level);
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
static void permute(struct free_loops *loops, uint64_t order)
{
	for (int left = loops->busy; left > 1; left--) {
		int pick = left - 1 - (int)(order % (uint64_t)left);
		order /= (uint64_t)left;
		uint8_t loop = loops->busy_loops[pick];
		loops->busy_loops[pick] = loops->busy_loops[left - 1];
		loops->busy_loops[left - 1] = loop;
	}
}

static int append(uint8_t *order, int count, const uint8_t *loops, int added)
{
	for (int i = 0; i < added; i++)
		order[count + i] = loops[i];
	return count + added;
}

/* Gives one level its order, and split number `split` of it. */
static void place(const struct space *space, const struct tiling_level *level,
	const struct free_loops *loops, int split, struct mapping *mapping)
{
	struct mapping_row *row = &mapping->rows[level->row];
	int busy = loops->busy, idle = 0, n = 0; /* before the free idle loops, or the split */
	if (loops->free_along_x >= 0) {
		busy = loops->least + split;
		idle = loops->free_along_x - busy;
	}
	uint8_t *out = level->spatial ? row->spatial_order : row->temporal_order;
	n = append(out, n, loops->parts.first, loops->parts.inner);
	n = append(out, n, loops->busy_loops, busy);
	n = append(out, n, loops->idle_loops, idle);
	n = append(out, n, loops->busy_loops + busy, loops->busy - busy);
	n = append(out, n, loops->idle_loops + idle, loops->idle - idle);
	n = append(out, n, loops->parts.last, loops->parts.outer);
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
	struct free_loops loops = find_loops(space, level, mapping);
	return loops.orders * (uint64_t)loops.splits;
}

void space_level_arrange(const struct space *space, const struct tiling_level *level,
	uint64_t index, struct mapping *mapping)
{
	struct free_loops loops = find_loops(space, level, mapping);
	permute(&loops, index / (uint64_t)loops.splits);
	place(space, level, &loops, (int)(index % (uint64_t)loops.splits), mapping);
}

bool space_set_axes(const struct space *space, const struct tiling_level *level, uint32_t along_x,
	struct mapping *mapping)
{
	struct free_loops loops = find_loops(space, level, mapping);
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
	place(space, level, &loops, split, mapping);
	const struct mapping_row *row = &mapping->rows[level->row];
	for (int d = 0; d < space->domain->shape->dimension_count; d++)
		if (row->spatial[d] > 1 && (along_x >> d & 1) == (row->spatial_y >> d & 1))
			return false;
	return true;
}

static int among(const uint8_t *loops, int count, uint32_t mask)
{
	int found = 0;
	for (int i = 0; i < count; i++)
		found += mask >> loops[i] & 1;
	return found;
}

void space_level_follow(const struct space *space, const struct tiling_level *level,
	const uint8_t *order, uint32_t along_x, struct mapping *mapping)
{
	struct free_loops loops = find_loops(space, level, mapping);
	const uint32_t *bounds = bounds_of(mapping, level);
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
		split = among(loops.busy_loops, loops.busy, along_x) - loops.least;
	else if (loops.splits > 1)
		split = __builtin_popcount(busy & along_x);
	split = split < 0 ? 0 : split < loops.splits ? split : loops.splits - 1;
	place(space, level, &loops, split, mapping);
}

void space_set_orders(const struct space *space, struct mapping *mapping)
{
	for (int i = 0; i < space->level_count; i++) {
		if (space->levels[i].spatial)
			continue;
		struct free_loops loops = find_loops(space, &space->levels[i], mapping);
		place(space, &space->levels[i], &loops, 0, mapping);
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
		struct free_loops loops = find_loops(space, &space->levels[i], mapping);
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
		struct free_loops loops = find_loops(space, &space->levels[i], mapping);
		uint64_t split = index % (uint64_t)loops.splits;
		index /= (uint64_t)loops.splits;
		permute(&loops, index % loops.orders);
		place(space, &space->levels[i], &loops, (int)split, mapping);
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
		struct free_loops loops = find_loops(space, &space->levels[i], mapping);
		permute(&loops, random_below(random, loops.orders));
		int split = (int)random_below(random, (uint64_t)loops.splits);
		place(space, &space->levels[i], &loops, split, mapping);
	}
}
