#include "tests/support/nest_all.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"

#include <string.h>

enum { SLOTS_MOST = 2 * ARCH_LEVELS_MOST };

/* One row of loops. */
struct slot {
	int level, row;
	bool spatial;
};

/* An order of a slot's loops above 1, and which of them run along Y. */
struct arrangement {
	uint8_t order[SHAPE_DIMENSIONS_MOST], busy[SHAPE_DIMENSIONS_MOST];
	int busy_count;
	uint32_t y;
};
struct arrangements {
	size_t count, capacity;
	struct arrangement *at;
};

struct recursion {
	const struct nest_all *question;
	struct arena *arena;
	int dimension_count, slot_count;
	struct slot slots[SLOTS_MOST];
	struct arrangements **known[SLOTS_MOST]; /* by the dimensions with bounds above 1 */
	struct mapping mapping;
	uint64_t count;
	bool over;
};

static uint32_t *bounds_of(struct recursion *all, const struct slot *slot)
{
	struct mapping_row *row = &all->mapping.rows[slot->row];
	return slot->spatial ? row->spatial : row->temporal;
}

/* --- residency */

static void keep(struct recursion *all, int level, int t)
{
	const struct domain *domain = all->question->domain;
	const struct hierarchy *hierarchy = domain->hierarchy;
	if (level == hierarchy->level_count) {
		all->over |= ++all->count > all->question->most;
		if (!all->over)
			all->question->visit(all->question->user, &all->mapping);
		return;
	}
	if (t == domain->shape->space_count || !hierarchy->levels[level].storage) {
		keep(all, level + 1, 0);
		return;
	}
	int row = hierarchy->levels[level].row;
	uint32_t bit = 1u << row, before = all->mapping.residency[t];
	for (int kept = 0; kept < 2 && !all->over; kept++) {
		uint32_t against = kept ? domain->rows[row].bypass : domain->rows[row].keep;
		if (against >> t & 1)
			continue;
		all->mapping.residency[t] = kept ? before | bit : before & ~bit;
		keep(all, level, t + 1);
	}
	all->mapping.residency[t] = before;
}

/* --- orders and splits */

static bool order_is_legal(
	const struct row_domain *row, bool spatial, const uint8_t *order, int count)
{
	int inner = spatial ? row->spatial_inner : row->temporal_inner;
	int outer = spatial ? row->spatial_outer : row->temporal_outer;
	const uint8_t *first = spatial ? row->spatial_order : row->temporal_order;
	const uint8_t *last = spatial ? row->spatial_last : row->temporal_last;
	for (int i = 0; i < count; i++)
		if ((i < inner && order[i] != first[i]) ||
			(i >= count - outer && order[i] != last[i - (count - outer)]))
			return false;
	return true;
}

static void add_arrangement(struct recursion *all, uint32_t busy, const uint8_t *order, int along_x,
	struct arrangements *list)
{
	struct arrangement one = {.busy_count = 0};
	for (int i = 0; i < all->dimension_count; i++) {
		one.order[i] = order[i];
		if (busy >> order[i] & 1) {
			one.busy[one.busy_count++] = order[i];
			one.y |= (uint32_t)(i >= along_x) << order[i];
		}
	}
	for (size_t k = 0; k < list->count; k++)
		if (list->at[k].y == one.y &&
			memcmp(list->at[k].busy, one.busy, sizeof one.busy) == 0)
			return;
	*array_add(all->arena, list) = one;
}

static void permute(struct recursion *all, const struct slot *slot, uint32_t busy, uint8_t *order,
	int from, struct arrangements *list)
{
	const struct row_domain *row = &all->question->domain->rows[slot->row];
	int count = all->dimension_count;
	for (int i = from; i < count; i++) {
		uint8_t kept = order[from];
		order[from] = order[i];
		order[i] = kept;
		permute(all, slot, busy, order, from + 1, list);
		order[i] = order[from];
		order[from] = kept;
	}
	if (from < count || !order_is_legal(row, slot->spatial, order, count))
		return;
	if (!slot->spatial) {
		add_arrangement(all, busy, order, count, list);
		return;
	}
	for (int split = 0; split <= count; split++)
		if (row->split < 0 || row->split == split)
			add_arrangement(all, busy, order, split, list);
}

static const struct arrangements *arrangements_of(struct recursion *all, int s)
{
	const struct slot *slot = &all->slots[s];
	const uint32_t *bounds = bounds_of(all, slot);
	uint32_t busy = 0;
	for (int d = 0; d < all->dimension_count; d++)
		busy |= (uint32_t)(bounds[d] > 1) << d;
	struct arrangements **at = &all->known[s][busy];
	if (!*at) {
		uint8_t order[SHAPE_DIMENSIONS_MOST];
		for (int d = 0; d < all->dimension_count; d++)
			order[d] = (uint8_t)d;
		*at = arena_new(all->arena, struct arrangements);
		permute(all, slot, busy, order, 0, *at);
	}
	return *at;
}

static bool has_room(struct recursion *all, const struct slot *slot, uint32_t y)
{
	const struct nest_level *level = &all->question->domain->hierarchy->levels[slot->level];
	const uint32_t *bounds = bounds_of(all, slot);
	int64_t used[2] = {1, 1};
	for (int d = 0; d < all->dimension_count; d++)
		used[y >> d & 1] *= bounds[d];
	return used[0] <= level->fanout.x && used[1] <= level->fanout.y;
}

static void arrange(struct recursion *all, int s)
{
	if (s == all->slot_count) {
		keep(all, 0, 0);
		return;
	}
	const struct slot *slot = &all->slots[s];
	struct mapping_row *row = &all->mapping.rows[slot->row];
	const struct arrangements *list = arrangements_of(all, s);
	for (size_t k = 0; k < list->count && !all->over; k++) {
		const struct arrangement *one = &list->at[k];
		if (slot->spatial && !has_room(all, slot, one->y))
			continue;
		memcpy(slot->spatial ? row->spatial_order : row->temporal_order, one->order,
			sizeof one->order);
		if (slot->spatial)
			row->spatial_y = (uint16_t)one->y;
		arrange(all, s + 1);
	}
}

/* --- bounds */

/* `left` rounds are left to slot s and those outside it. */
static void bind(struct recursion *all, int d, int s, int64_t left)
{
	const struct domain *domain = all->question->domain;
	if (d == all->dimension_count) {
		arrange(all, 0);
		return;
	}
	if (s == all->slot_count) {
		if (left == 1)
			bind(all, d + 1, 0,
				d + 1 < all->dimension_count
					? domain->shape->dimensions[d + 1].extent
					: 1);
		return;
	}
	const struct slot *slot = &all->slots[s];
	const struct row_domain *row = &domain->rows[slot->row];
	const struct factor_domain *factor = slot->spatial ? &row->spatial[d] : &row->temporal[d];
	uint32_t *bound = &bounds_of(all, slot)[d];
	for (int64_t b = factor->least; b <= factor->most && b <= left && !all->over; b++) {
		if (left % b && !(domain->imperfect >> d & 1))
			continue;
		*bound = (uint32_t)b;
		bind(all, d, s + 1, number_ceil_div(left, b));
	}
	*bound = 1;
}

bool nest_all(const struct nest_all *question)
{
	const struct domain *domain = question->domain;
	const struct hierarchy *hierarchy = domain->hierarchy;
	struct recursion all = {.question = question,
		.arena = arena_open(),
		.dimension_count = domain->shape->dimension_count};
	all.mapping.loop_count = (uint8_t)all.dimension_count;
	all.mapping.level_count = (uint8_t)domain->arch->level_count;
	for (int r = 0; r < domain->arch->level_count; r++)
		for (int d = 0; d < all.dimension_count; d++) {
			struct mapping_row *row = &all.mapping.rows[r];
			row->spatial[d] = row->temporal[d] = 1;
			row->spatial_order[d] = row->temporal_order[d] = (uint8_t)d;
		}
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		all.slots[all.slot_count++] = (struct slot){i, level->block_row, true};
		if (level->storage)
			all.slots[all.slot_count++] = (struct slot){i, level->row, false};
	}
	for (int s = 0; s < all.slot_count; s++)
		all.known[s] = arena_array(
			all.arena, struct arrangements *, (size_t)1 << all.dimension_count);
	bind(&all, 0, 0, domain->shape->dimensions[0].extent);
	arena_close(all.arena);
	return !all.over;
}
