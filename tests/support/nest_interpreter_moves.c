#include "tests/support/nest_interpreter_state.h"

#include <string.h>

static struct nest_count *count_at(struct interpreter *machine, int tier, int space)
{
	return &machine->counts->at[tier - 1][space];
}

int instance_above(const struct interpreter *machine, int tier, int n, int outer)
{
	for (int b = tier; b < outer; b++)
		n /= (int)machine->blocks[b].size;
	return n;
}

bool words_equal(const struct words *a, const struct words *b)
{
	return a->count == b->count &&
	       (a->count == 0 || memcmp(a->at, b->at, (size_t)a->count * sizeof *a->at) == 0);
}

static bool may_share(const struct interpreter *machine, int tier, int space, int n, int m)
{
	int parent = machine->stores[tier][space].parent;
	if (machine->broken == RULE_MULTICAST)
		return false;
	if (machine->broken != RULE_GROUP_PARENT &&
		instance_above(machine, tier, n, parent) !=
			instance_above(machine, tier, m, parent))
		return false;
	if (machine->broken == RULE_BYPASS && instance_above(machine, tier, n, tier + 1) !=
						      instance_above(machine, tier, m, tier + 1))
		return false;
	for (int b = tier; b < parent && machine->broken != RULE_SPATIAL_REUSE; b++) {
		int64_t size = machine->blocks[b].size;
		if (machine->hierarchy->levels[b].no_spatial_reuse >> space & 1 &&
			instance_above(machine, tier, n, b) % size !=
				instance_above(machine, tier, m, b) % size)
			return false;
	}
	return true;
}

/* Finds the groups of instances: leader[n] is the first instance of n's group. */
static void find_groups(const struct interpreter *machine, int tier, int space,
	const struct words *sets, int *leader)
{
	for (int n = 0; n < machine->instances[tier]; n++) {
		leader[n] = sets[n].count ? n : -1;
		for (int m = 0; m < n && leader[n] == n; m++)
			if (leader[m] == m && words_equal(&sets[m], &sets[n]) &&
				may_share(machine, tier, space, n, m))
				leader[n] = m;
	}
}

/* True if n is the first of its group in its instance of an outer tier. */
static bool is_first_there(
	const struct interpreter *machine, int tier, const int *leader, int n, int outer)
{
	int there = instance_above(machine, tier, n, outer);
	for (int m = 0; m < n; m++)
		if (leader[m] == leader[n] && instance_above(machine, tier, m, outer) == there)
			return false;
	return true;
}

/* Levels that a group's words pass: counts by how many of their instances. */
static int instances_passed(
	const struct interpreter *machine, int tier, const int *leader, int first, int outer)
{
	int passed = 0;
	for (int n = first; n < machine->instances[tier]; n++)
		passed += leader[n] == first && is_first_there(machine, tier, leader, n, outer);
	return passed;
}

/* --- read-only words */

static int neighbour(const struct interpreter *machine, int tier, int n, int direction)
{
	const struct mesh *mesh = &machine->blocks[tier];
	int64_t place = n % mesh->size, first = n - place;
	int64_t x = place % mesh->x_size, y = place / mesh->x_size;
	int64_t y_size = mesh->size / mesh->x_size;
	static const int steps[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
	if (machine->broken == RULE_LINK_MESH) {
		place += steps[direction][0] + steps[direction][1];
		return place < 0 || place >= mesh->size ? -1 : (int)(first + place);
	}
	x += steps[direction][0];
	y += steps[direction][1];
	if (machine->broken == RULE_LINK_WRAP) {
		x = (x + mesh->x_size) % mesh->x_size;
		y = (y + y_size) % y_size;
	}
	if (x < 0 || x >= mesh->x_size || y < 0 || y >= y_size)
		return -1;
	return (int)(first + y * mesh->x_size + x);
}

/* Could a neighbour hand on what n enters? */
static bool is_linked(const struct interpreter *machine, int tier, int space, int n)
{
	const struct store *store = &machine->stores[tier][space];
	const struct words *theirs =
		machine->broken == RULE_LINK_PREVIOUS ? store->entering : store->before;
	for (int direction = 0; direction < 4; direction++) {
		int m = neighbour(machine, tier, n, direction);
		if (m >= 0 && m != n && theirs[m].count > 0 &&
			words_equal(&theirs[m], &store->entering[n]))
			return true;
	}
	return false;
}

/* Words that one instance of the parent reads for groups. */
static int words_read(
	const struct interpreter *machine, int tier, int space, const int *leader, int from)
{
	const struct store *store = &machine->stores[tier][space];
	bool overlap = machine->broken == RULE_OVERLAP;
	bool *read = overlap ? arena_array(machine->arena, bool, machine->elements[space]) : NULL;
	int words = 0;
	for (int n = 0; n < machine->instances[tier]; n++) {
		if (leader[n] != n || instance_above(machine, tier, n, store->parent) != from)
			continue;
		words += overlap ? 0 : store->entering[n].count;
		for (int i = 0; overlap && i < store->entering[n].count; i++) {
			bool *one = &read[store->entering[n].at[i]];
			words += !*one;
			*one = true;
		}
	}
	return words;
}

static void check_held(struct interpreter *machine, int tier, int space, const int *leader)
{
	const struct store *store = &machine->stores[tier][space];
	const struct store *parent = &machine->stores[store->parent][space];
	for (int n = 0; parent->parent && n < machine->instances[tier]; n++) {
		if (leader[n] < 0)
			continue;
		const struct words *held =
			&parent->held[instance_above(machine, tier, n, store->parent)];
		for (int i = 0, h = 0; i < store->entering[n].count; i++) {
			while (h < held->count && held->at[h] < store->entering[n].at[i])
				h++;
			machine->right &=
				h < held->count && held->at[h] == store->entering[n].at[i];
		}
	}
}

/* Takes those with a willing neighbour out of the groups where that saves reads. */
static void use_links(struct interpreter *machine, int tier, int space, int *leader)
{
	const struct store *store = &machine->stores[tier][space];
	int count = machine->instances[tier];
	struct words *rest = arena_array(machine->arena, struct words, count);
	int *rest_leader = arena_array(machine->arena, int, count);
	for (int n = 0; n < count; n++)
		if (!is_linked(machine, tier, space, n))
			rest[n] = store->entering[n];
	find_groups(machine, tier, space, rest, rest_leader);
	for (int from = 0; from < machine->instances[store->parent]; from++) {
		int before = words_read(machine, tier, space, leader, from);
		int after = words_read(machine, tier, space, rest_leader, from);
		if (after >= before && machine->broken != RULE_LINK_FEWER)
			continue;
		for (int n = 0; n < count; n++) {
			if (instance_above(machine, tier, n, store->parent) != from)
				continue;
			if (leader[n] >= 0 && rest_leader[n] < 0) {
				count_at(machine, tier, space)->links += store->entering[n].count;
				count_at(machine, tier, space)->reads += store->entering[n].count;
			}
			if (machine->broken != RULE_LINK_SERVED)
				leader[n] = rest_leader[n];
		}
	}
}

void words_come(struct interpreter *machine, int tier, int space)
{
	struct arena_mark mark = arena_mark(machine->arena);
	const struct store *store = &machine->stores[tier][space];
	int *leader = store->leader;
	find_groups(machine, tier, space, store->entering, leader);
	for (int n = 0; n < machine->instances[tier] && tier > 0; n++)
		count_at(machine, tier, space)->fills += store->entering[n].count;
	if (store->links)
		use_links(machine, tier, space, leader);
	check_held(machine, tier, space, leader);
	for (int from = 0; from < machine->instances[store->parent]; from++)
		count_at(machine, store->parent, space)->reads +=
			words_read(machine, tier, space, leader, from);
	for (int outer = tier + 1; outer <= store->parent; outer++) {
		if (!machine->stores[outer][space].passed)
			continue;
		for (int n = 0; n < machine->instances[tier]; n++) {
			if (leader[n] < 0 || !is_first_there(machine, tier, leader, n, outer))
				continue;
			count_at(machine, outer, space)->fills += store->entering[n].count;
			count_at(machine, outer, space)->reads += store->entering[n].count;
		}
	}
	arena_release(machine->arena, mark);
}

/* --- partial sums */

static int sum_number(const struct interpreter *machine, int space, int instance, int element)
{
	return instance * machine->elements[space] + element;
}

static bool reads_first(const struct interpreter *machine, int tier, int space)
{
	if (machine->broken == RULE_RMW ||
		(machine->broken == RULE_RMW_HOME && machine->stores[tier][space].parent == 0))
		return false;
	return machine->hierarchy->levels[tier - 1].rmw_first_update >> space & 1;
}

/* A sum on its way from the parent to instance n passes levels. */
static void pass_down(struct interpreter *machine, int tier, int space)
{
	for (int outer = tier + 1; outer <= machine->stores[tier][space].parent; outer++)
		if (machine->stores[outer][space].passed) {
			count_at(machine, outer, space)->fills++;
			count_at(machine, outer, space)->reads++;
		}
}

/* One read because sums drain. */
static void read_drained(struct interpreter *machine, int tier, int space)
{
	if (machine->broken == RULE_DRAIN_READ)
		return;
	count_at(machine, tier, space)->reads++;
	count_at(machine, tier, space)->drains++;
}

static void pass_up(struct interpreter *machine, int tier, int space, const int *leader, int first)
{
	for (int outer = tier + 1; outer <= machine->stores[tier][space].parent; outer++) {
		if (!machine->stores[outer][space].passed)
			continue;
		int passed = instances_passed(machine, tier, leader, first, outer);
		count_at(machine, outer, space)->updates += passed;
		for (int n = 0; n < passed && machine->broken != RULE_DRAIN_PASS; n++)
			read_drained(machine, outer, space);
	}
}

/* One update of one element of the parent's instance above n. */
static void add_to_parent(
	struct interpreter *machine, int tier, int space, int n, int element, int64_t value)
{
	int parent = machine->stores[tier][space].parent;
	struct store *to = &machine->stores[parent][space];
	struct nest_count *count = count_at(machine, parent, space);
	int at = sum_number(machine, space, instance_above(machine, tier, n, parent), element);
	count->updates++;
	count->reads += !to->has[at] && to->fresh[at] && reads_first(machine, parent, space);
	to->fresh[at] = false;
	to->sum[at] = value + (to->has[at] ? to->sum[at] : 0);
	to->has[at] = true;
}

void sums_return(struct interpreter *machine, int tier, int space)
{
	struct store *store = &machine->stores[tier][space];
	struct store *from = &machine->stores[store->parent][space];
	int *leader = store->leader;
	find_groups(machine, tier, space, store->entering, leader);
	for (int n = 0; n < machine->instances[tier]; n++)
		for (int i = 0; i < store->entering[n].count; i++) {
			int element = store->entering[n].at[i];
			int here = sum_number(machine, space, n, element);
			int there = sum_number(machine, space,
				instance_above(machine, tier, n, store->parent), element);
			store->has[here] = false;
			store->fresh[here] = true;
			store->sum[here] = 0;
			bool served = leader[n] == n || machine->broken == RULE_RETURN_ALL;
			if (!served || !(from->has[there] || machine->broken == RULE_FIRST_VISIT))
				continue;
			count_at(machine, store->parent, space)->reads += leader[n] == n;
			count_at(machine, tier, space)->fills++;
			pass_down(machine, tier, space);
			store->has[here] = true;
			store->fresh[here] = false;
			store->sum[here] = from->has[there] ? from->sum[there] : 0;
			if (machine->broken != RULE_RETURN_STAYS &&
				machine->broken != RULE_RETURN_ALL)
				from->has[there] = false;
		}
}

void sums_drain(struct interpreter *machine, int tier, int space)
{
	struct store *store = &machine->stores[tier][space];
	int *leader = store->leader;
	find_groups(machine, tier, space, store->leaving, leader);
	for (int n = 0; n < machine->instances[tier]; n++)
		if (leader[n] >= 0 && machine->broken == RULE_DRAIN_ALONE)
			leader[n] = n;
	for (int first = 0; first < machine->instances[tier]; first++) {
		if (leader[first] != first)
			continue;
		for (int i = 0; i < store->leaving[first].count; i++) {
			int element = store->leaving[first].at[i];
			int64_t value = 0;
			bool any = false;
			for (int n = first; n < machine->instances[tier]; n++) {
				int here = sum_number(machine, space, n, element);
				if (leader[n] != first)
					continue;
				any |= store->has[here];
				if (store->has[here] || machine->broken == RULE_DRAIN_ZERO)
					read_drained(machine, tier, space);
				value += store->has[here] ? store->sum[here] : 0;
				store->has[here] = store->fresh[here] = false;
			}
			if (!any && machine->broken == RULE_DRAIN_EMPTY)
				continue;
			int parent = store->parent;
			if (machine->stores[parent][space].has[sum_number(machine, space,
				    instance_above(machine, tier, first, parent), element)] &&
				machine->broken != RULE_DRAIN_MEETS)
				read_drained(machine, parent, space);
			add_to_parent(machine, tier, space, first, element, value);
			pass_up(machine, tier, space, leader, first);
		}
	}
}

void sums_update(struct interpreter *machine, int space, const int64_t *products)
{
	struct store *store = &machine->stores[0][space];
	struct store *to = &machine->stores[store->parent][space];
	int *leader = store->leader;
	find_groups(machine, 0, space, store->entering, leader);
	for (int n = 0; n < machine->instances[0]; n++)
		if (leader[n] >= 0 && machine->broken == RULE_MULTIPLIERS)
			leader[n] = n;
	for (int first = 0; first < machine->instances[0]; first++) {
		if (leader[first] != first)
			continue;
		int element = store->entering[first].at[0];
		int above = instance_above(machine, 0, first, store->parent);
		int64_t value = 0;
		for (int n = first; n < machine->instances[0]; n++)
			value += leader[n] == first ? products[n] : 0;
		if (to->has[sum_number(machine, space, above, element)] ||
			machine->broken == RULE_FIRST_UPDATE) {
			count_at(machine, store->parent, space)->reads++;
			pass_down(machine, 0, space);
		}
		add_to_parent(machine, 0, space, first, element, value);
		pass_up(machine, 0, space, leader, first);
	}
}
