#include "tests/support/nest_interpreter.h"

#include "tests/support/nest_interpreter_state.h"

#include <string.h>

const char *const nest_rule_names[NEST_RULES] = {
	[RULE_NONE] = "none",
	[RULE_MULTICAST] = "no multicast",
	[RULE_OVERLAP] = "overlapping sets are read once",
	[RULE_GROUP_PARENT] = "groups across parents",
	[RULE_BYPASS] = "groups end at bypassed levels",
	[RULE_HALO] = "halo refetched",
	[RULE_STATIONARY] = "nothing is stationary",
	[RULE_WORKLESS] = "tiles without work",
	[RULE_TAIL] = "tail not cut",
	[RULE_GAP] = "gaps are not data",
	[RULE_EVERY_STEP] = "multipliers without work read",
	[RULE_LINK] = "no links",
	[RULE_LINK_PREVIOUS] = "links without the previous step",
	[RULE_LINK_WRAP] = "links wrap around",
	[RULE_LINK_MESH] = "neighbours by number",
	[RULE_LINK_FEWER] = "links that save nothing",
	[RULE_LINK_PACE] = "links at any pace",
	[RULE_LINK_SERVED] = "linked words are read as well",
	[RULE_FIRST_VISIT] = "first visits read",
	[RULE_RETURN_ALL] = "sums return to all",
	[RULE_RETURN_STAYS] = "returned sums stay",
	[RULE_FIRST_UPDATE] = "first updates read",
	[RULE_MULTIPLIERS] = "multipliers update one by one",
	[RULE_DRAIN_READ] = "drains are not reads",
	[RULE_DRAIN_ZERO] = "zeros that drain are read",
	[RULE_DRAIN_MEETS] = "drains do not read the sum that is there",
	[RULE_DRAIN_PASS] = "drains that pass are not read",
	[RULE_DRAIN_ALONE] = "instances drain one by one",
	[RULE_DRAIN_EMPTY] = "zeros do not drain",
	[RULE_DRAIN_END] = "nothing drains at the end",
	[RULE_TEMPORAL_REUSE] = "temporal no_reuse ignored",
	[RULE_SPATIAL_REUSE] = "spatial no_reuse ignored",
	[RULE_LINK_TRANSFER] = "no_link_transfer ignored",
	[RULE_RMW] = "rmw_first_update ignored",
	[RULE_RMW_HOME] = "rmw_first_update ignored at home",
	[RULE_COALESCE] = "no_coalesce ignored",
	[RULE_COALESCE_HOME] = "no_coalesce at home",
	[RULE_HOME] = "homes hold tiles",
	[RULE_APART] = "sums end anywhere",
	[RULE_RING] = "no ring adds sums",
};

/* --- what is kept where */

static int find_pace(const struct interpreter *machine, int tier, uint32_t dimensions)
{
	int pace = -1;
	for (int k = 0; k < machine->turn_count; k++) {
		const struct turn *turn = &machine->turns[k];
		if (turn->level >= tier && turn->bound > 1 && dimensions >> turn->dimension & 1)
			pace = k;
	}
	return pace;
}

static struct words *make_sets(struct interpreter *machine, int tier, int room)
{
	struct words *sets = arena_array(machine->arena, struct words, machine->instances[tier]);
	for (int n = 0; n < machine->instances[tier]; n++)
		sets[n].at = arena_array(machine->arena, int, room);
	return sets;
}

static void open_store(struct interpreter *machine, int tier, int space)
{
	struct store *store = &machine->stores[tier][space];
	const struct dataspace *dataspace = &machine->shape->spaces[space];
	int64_t zeros[SHAPE_DIMENSIONS_MOST] = {0};
	int instances = machine->instances[tier];
	for (int outer = machine->tiers - 1; outer > tier; outer--)
		if (machine->stores[outer][space].moves)
			store->parent = outer;
	if (store->parent) {
		int room = find_tile(machine, tier, space, zeros, NULL);
		store->held = make_sets(machine, tier, room);
		store->entering = make_sets(machine, tier, room);
		store->before = make_sets(machine, tier, room);
		store->leaving = make_sets(machine, tier, room);
		store->leader = arena_array(machine->arena, int, instances);
	}
	if (dataspace->written && tier > 0) {
		size_t sums = (size_t)instances * (size_t)machine->elements[space];
		store->sum = arena_array(machine->arena, int64_t, sums);
		store->has = arena_array(machine->arena, bool, sums);
		store->fresh = arena_array(machine->arena, bool, sums);
		memset(store->fresh, store->parent == 0, sums);
	}
	if (tier == 0 || store->parent == 0)
		return;
	store->no_reuse = machine->hierarchy->levels[tier - 1].no_temporal_reuse >> space & 1 &&
			  machine->broken != RULE_TEMPORAL_REUSE;
	bool any_loop = store->no_reuse || machine->broken == RULE_STATIONARY;
	store->pace = find_pace(machine, tier, any_loop ? ~0u : dataspace->relevant);
	store->tile_pace = find_pace(machine, tier, dataspace->relevant);
	const struct nest_level *block = &machine->hierarchy->levels[tier];
	bool forbidden =
		(block->no_link_transfer >> space & 1 && machine->broken != RULE_LINK_TRANSFER) ||
		(block->no_spatial_reuse >> space & 1 && machine->broken != RULE_SPATIAL_REUSE);
	bool innermost = store->pace == find_pace(machine, tier, ~0u);
	store->links = !dataspace->written && !store->no_reuse && !forbidden &&
		       (innermost || machine->broken == RULE_LINK_PACE) &&
		       machine->broken != RULE_LINK;
}

static void open_stores(struct interpreter *machine, const struct mapping *mapping)
{
	for (int t = 0; t < machine->shape->space_count; t++) {
		bool is_home = true;
		for (int tier = machine->tiers - 1; tier > 0; tier--) {
			const struct nest_level *level = &machine->hierarchy->levels[tier - 1];
			struct store *store = &machine->stores[tier][t];
			store->kept = level->storage && mapping->residency[t] >> level->row & 1;
			if (!store->kept)
				continue;
			bool flag = level->no_coalesce >> t & 1;
			store->passed = flag && !is_home && machine->broken != RULE_COALESCE;
			store->moves = !store->passed;
			store->home = is_home;
			if (is_home)
				store->touched = arena_array(machine->arena, bool,
					(size_t)machine->instances[tier] *
						(size_t)machine->elements[t]);
			if (flag && is_home && machine->broken == RULE_COALESCE_HOME)
				store->passed = true;
			is_home = false;
			if (store->moves)
				open_store(machine, tier, t);
		}
		open_store(machine, 0, t);
	}
}

/* --- moving */

static bool is_move_step(const struct interpreter *machine, int pace)
{
	for (int k = pace + 1; k < machine->turn_count; k++)
		if (machine->turns[k].at > 0)
			return false;
	return true;
}

/* out = a without b */
static void subtract(const struct words *a, const struct words *b, struct words *out)
{
	out->count = 0;
	for (int i = 0, j = 0; i < a->count; i++) {
		while (j < b->count && b->at[j] < a->at[i])
			j++;
		if (j == b->count || b->at[j] != a->at[i])
			out->at[out->count++] = a->at[i];
	}
}

static void copy(const struct words *from, struct words *to)
{
	to->count = from->count;
	memcpy(to->at, from->at, (size_t)from->count * sizeof *to->at);
}

/* Moves the words that instance n gives up and those that it lacks, to hold `tile`. */
static void change(struct interpreter *machine, int tier, int space, int n, struct words *tile)
{
	struct store *store = &machine->stores[tier][space];
	const struct words nothing = {0};
	bool all = store->no_reuse ||
		   (machine->broken == RULE_HALO && !words_equal(tile, &store->held[n]));
	copy(&store->entering[n], &store->before[n]);
	subtract(&store->held[n], all ? &nothing : tile, &store->leaving[n]);
	subtract(tile, all ? &nothing : &store->held[n], &store->entering[n]);
	copy(tile, &store->held[n]);
}

static void leave(struct interpreter *machine, int tier, int space, bool end)
{
	struct arena_mark mark = arena_mark(machine->arena);
	struct store *store = &machine->stores[tier][space];
	int64_t index[SHAPE_DIMENSIONS_MOST], zeros[SHAPE_DIMENSIONS_MOST] = {0};
	int room = find_tile(machine, tier, space, zeros, NULL);
	bool flag_only = !end && store->no_reuse && !is_move_step(machine, store->tile_pace);
	struct words tile = {.at = arena_array(machine->arena, int, room)};
	for (int n = 0; n < machine->instances[tier]; n++) {
		find_indices(machine, tier, n, index);
		bool holds = has_work(machine, index) || machine->broken == RULE_WORKLESS;
		if (flag_only && !holds) { /* keeps what it holds */
			store->entering[n].count = store->leaving[n].count = 0;
			continue;
		}
		tile.count = !end && holds ? find_tile(machine, tier, space, index, tile.at) : 0;
		change(machine, tier, space, n, &tile);
	}
	if (machine->shape->spaces[space].written && !(end && machine->broken == RULE_DRAIN_END))
		sums_drain(machine, tier, space);
	arena_release(machine->arena, mark);
}

static void move(struct interpreter *machine)
{
	const struct shape *shape = machine->shape;
	for (int tier = 1; tier < machine->tiers; tier++)
		for (int t = 0; t < shape->space_count; t++) {
			const struct store *store = &machine->stores[tier][t];
			if (store->moves && store->parent && is_move_step(machine, store->pace))
				leave(machine, tier, t, false);
		}
	for (int tier = machine->tiers - 1; tier > 0; tier--)
		for (int t = 0; t < shape->space_count; t++) {
			const struct store *store = &machine->stores[tier][t];
			if (!store->moves || !store->parent || !is_move_step(machine, store->pace))
				continue;
			(shape->spaces[t].written ? sums_return : words_come)(machine, tier, t);
		}
}

static void move_out(struct interpreter *machine)
{
	for (int tier = 1; tier < machine->tiers; tier++)
		for (int t = 0; t < machine->shape->space_count; t++)
			if (machine->stores[tier][t].moves && machine->stores[tier][t].parent)
				leave(machine, tier, t, true);
}

/* --- multiplying */

/* The number that an element of an operand is: -3 .. 3, none of them special. */
static int64_t input(int space, int element)
{
	uint32_t mixed = ((uint32_t)element + 1) * 2654435761u + (uint32_t)space * 40503u;
	return (int64_t)((mixed >> 15) % 7) - 3;
}

static int64_t multiply(const struct interpreter *machine, const int64_t *index)
{
	int64_t product = 1;
	for (int t = 0; t < machine->shape->space_count; t++)
		if (!machine->shape->spaces[t].written)
			product *= input(t, element_of(machine, t, index));
	return product;
}

static void compute(struct interpreter *machine)
{
	struct arena_mark mark = arena_mark(machine->arena);
	const struct shape *shape = machine->shape;
	int64_t index[SHAPE_DIMENSIONS_MOST];
	int64_t *products = arena_array(machine->arena, int64_t, machine->instances[0]);
	for (int n = 0; n < machine->instances[0]; n++) {
		find_indices(machine, 0, n, index);
		bool works = has_work(machine, index);
		machine->counts->computes += works;
		machine->counts->compute_cycles += works && n == 0;
		machine->worked[0][n] |= works;
		products[n] = works ? multiply(machine, index) : 0;
		for (int t = 0; t < shape->space_count; t++) {
			struct words *word = &machine->stores[0][t].entering[n];
			bool reads = works || (machine->broken == RULE_EVERY_STEP &&
						      !shape->spaces[t].written);
			word->count = reads ? 1 : 0;
			word->at[0] = reads ? element_of(machine, t, index) : 0;
		}
	}
	for (int t = 0; t < shape->space_count; t++) {
		if (shape->spaces[t].written)
			sums_update(machine, t, products);
		else
			words_come(machine, 0, t);
	}
	arena_release(machine->arena, mark);
}

/* --- all steps */

/* All elements that the instance of a home has had in its tile, those of this step included. */
static int64_t touch(struct interpreter *machine, int tier, int space, int n, const int64_t *index)
{
	struct arena_mark mark = arena_mark(machine->arena);
	int elements = machine->elements[space], all = 0;
	bool *touched = machine->stores[tier][space].touched + (size_t)n * (size_t)elements;
	int *tile = arena_array(machine->arena, int, find_tile(machine, tier, space, index, NULL));
	int count = find_tile(machine, tier, space, index, tile);
	for (int k = 0; k < count; k++)
		touched[tile[k]] = true;
	for (int e = 0; e < elements; e++)
		all += touched[e];
	arena_release(machine->arena, mark);
	return all;
}

/* Records the instances that have work, and the sizes of the tiles. */
static void observe(struct interpreter *machine, int tier)
{
	int64_t index[SHAPE_DIMENSIONS_MOST];
	for (int n = 0; n < machine->instances[tier]; n++) {
		find_indices(machine, tier, n, index);
		if (!has_work(machine, index))
			continue;
		machine->worked[tier][n] = true;
		for (int t = 0; t < machine->shape->space_count; t++) {
			int64_t *capacity = &machine->counts->at[tier - 1][t].capacity;
			const struct store *store = &machine->stores[tier][t];
			bool gathers = store->home && machine->broken != RULE_HOME;
			int64_t size = !store->kept ? 0
				       : gathers    ? touch(machine, tier, t, n, index)
						    : find_tile(machine, tier, t, index, NULL);
			*capacity = size > *capacity ? size : *capacity;
		}
	}
}

/* A tuple is a step if its indices exist where all spatial ones are 0. */
static bool is_step(const struct interpreter *machine)
{
	int64_t index[SHAPE_DIMENSIONS_MOST];
	find_indices(machine, 0, 0, index);
	return has_work(machine, index);
}

static void take_step(struct interpreter *machine)
{
	for (int tier = 1; tier < machine->tiers; tier++) {
		int last = -1; /* the innermost turn outside */
		for (int k = 0; k < machine->turn_count; k++)
			if (machine->turns[k].level >= tier)
				last = k;
		if (is_move_step(machine, last))
			observe(machine, tier);
	}
	move(machine);
	compute(machine);
}

static bool next_tuple(struct interpreter *machine)
{
	for (int k = machine->turn_count - 1; k >= 0; k--) {
		struct turn *turn = &machine->turns[k];
		if (++turn->at < turn->bound)
			return true;
		turn->at = 0;
	}
	return false;
}

/* True if all blocks outside a tier in which two of its instances lie differently have a ring. */
static bool ring_joins(const struct interpreter *machine, int tier, int a, int b)
{
	for (int outer = tier; outer + 1 < machine->tiers; outer++) {
		int64_t size = machine->blocks[outer].size;
		bool ring = machine->hierarchy->levels[outer].ring && machine->broken != RULE_RING;
		if (a % size != b % size && !ring)
			return false;
		a /= (int)size;
		b /= (int)size;
	}
	return true;
}

/* Finds parts of one sum in several instances of its home, which give no result. */
static void find_parts(struct interpreter *machine, int tier, int space)
{
	int elements = machine->elements[space];
	const bool *has = machine->stores[tier][space].has;
	for (int e = 0; e < elements; e++)
		for (int a = 0; a < machine->instances[tier]; a++)
			for (int b = 0; b < a && has[a * elements + e]; b++)
				machine->apart |= has[b * elements + e] &&
						  machine->broken != RULE_APART &&
						  !ring_joins(machine, tier, a, b);
}

/* The einsum, without a machine. */
static void compare_with_einsum(struct interpreter *machine, int space)
{
	const struct shape *shape = machine->shape;
	int elements = machine->elements[space], home = machine->tiers - 1;
	int64_t *expected = arena_array(machine->arena, int64_t, elements);
	int64_t index[SHAPE_DIMENSIONS_MOST] = {0};
	for (int d = 0; d < shape->dimension_count;) {
		expected[element_of(machine, space, index)] += multiply(machine, index);
		for (d = 0; d < shape->dimension_count; d++) {
			if (++index[d] < shape->dimensions[d].extent)
				break;
			index[d] = 0;
		}
	}
	while (!machine->stores[home][space].kept)
		home--;
	find_parts(machine, home, space);
	for (int n = 0; n < machine->instances[home]; n++)
		for (int e = 0; e < elements; e++)
			if (machine->stores[home][space].has[n * elements + e])
				expected[e] -= machine->stores[home][space].sum[n * elements + e];
	for (int e = 0; e < elements; e++)
		machine->right &= expected[e] == 0;
}

bool nest_interpret_without(enum nest_rule rule, const struct hierarchy *hierarchy,
	const struct shape *shape, const struct mapping *mapping, struct nest_counts *out,
	bool *apart)
{
	struct arena *arena = arena_open();
	struct interpreter *machine = arena_new(arena, struct interpreter);
	*out = (struct nest_counts){0};
	machine->hierarchy = hierarchy;
	machine->shape = shape;
	machine->broken = rule;
	machine->arena = arena;
	machine->counts = out;
	machine->right = true;
	nest_lay_out(machine, mapping);
	open_stores(machine, mapping);
	do
		if (is_step(machine))
			take_step(machine);
	while (next_tuple(machine));
	move_out(machine);
	for (int tier = 0; tier < machine->tiers; tier++)
		for (int n = 0; n < machine->instances[tier]; n++)
			*(tier ? &out->utilized[tier - 1] : &out->utilized_computes) +=
				machine->worked[tier][n];
	for (int t = 0; t < shape->space_count; t++)
		if (shape->spaces[t].written)
			compare_with_einsum(machine, t);
	bool right = machine->right;
	*apart = machine->apart;
	arena_close(arena);
	return right;
}

bool nest_interpret(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct nest_counts *out)
{
	bool apart;
	return nest_interpret_without(RULE_NONE, hierarchy, shape, mapping, out, &apart) && !apart;
}
