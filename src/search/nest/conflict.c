#include "search/nest/conflict.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "constraints/constraints.h"
#include "search/nest/relaxed.h"

struct filter {
	const struct domain *machine;
	const struct shape *shape;
	const struct hierarchy *hierarchy;
	uint64_t work_most;
	struct factors_store *store;
	struct infeasible_set *conflict;

	/* what is not asked for */
	uint32_t any_size, any_fill, any_fanout, any_extent;
};

/* The machine without the limits that are not asked for. */
static struct domain *open_domain(const struct filter *filter, struct arena *arena)
{
	struct arch *arch = arena_copy(arena, filter->machine->arch, sizeof *arch);
	for (int i = 0; i < filter->hierarchy->level_count; i++)
		if (filter->any_fanout >> i & 1) {
			/* narrowing asks the architecture */
			struct level *level = &arch->levels[filter->hierarchy->levels[i].block_row];
			level->fanout_x = level->fanout_y = FACTORS_EXTENT_MOST;
		}
	struct domain *domain = domain_make(arena, arch, filter->shape, filter->hierarchy);
	domain->imperfect = filter->machine->imperfect;
	domain->whole_homes = filter->machine->whole_homes;
	return domain;
}

static enum verdict ask(const struct filter *filter)
{
	struct arena *arena = arena_open();
	struct domain *domain = open_domain(filter, arena);
	enum verdict verdict = VERDICT_NO;
	if (constraints_agree(
		    &filter->conflict->members, filter->conflict->chosen, domain, arena)) {
		struct relaxed *relaxed = relaxed_open(arena, domain);
		for (int i = 0; i < relaxed->hierarchy.level_count; i++) {
			if (filter->any_size >> i & 1)
				relaxed_lift_size(relaxed, i);
			if (filter->any_fill >> i & 1)
				relaxed->hierarchy.levels[i].least_utilization = 0;
			if (filter->any_fanout >> i & 1)
				relaxed_lift_fanout(relaxed, i);
		}
		verdict = feasible_find_from(
			filter->store, &relaxed->domain, filter->any_extent, filter->work_most)
				  .verdict;
	}
	arena_close(arena);
	return verdict;
}

/* Leaves *bit out for good if nothing fits without it, either. */
static bool is_needed(struct filter *filter, uint32_t *mask, int bit)
{
	*mask |= UINT32_C(1) << bit;
	enum verdict verdict = ask(filter);
	if (verdict == VERDICT_NO)
		return false;
	*mask &= ~(UINT32_C(1) << bit);
	filter->conflict->open |= verdict == VERDICT_OPEN;
	return true;
}

static void filter_constraints(struct filter *filter)
{
	struct infeasible_set *conflict = filter->conflict;
	for (size_t i = 0; i < conflict->members.count; i++) {
		conflict->chosen[i] = false;
		enum verdict verdict = ask(filter);
		if (verdict == VERDICT_NO)
			continue;
		conflict->chosen[i] = true;
		conflict->open |= verdict == VERDICT_OPEN;
	}
}

/* Dimensions whose bounds a member sets. */
static uint32_t bounded_dimensions(const struct infeasible_set *conflict)
{
	uint32_t dimensions = 0;
	for (size_t i = 0; i < conflict->members.count; i++)
		for (int k = 0; conflict->chosen[i] && k < conflict->members.at[i].factor_count;
			k++)
			dimensions |= UINT32_C(1) << conflict->members.at[i].factors[k].dimension;
	return dimensions;
}

/* Whether something that is asked for gets better with larger bounds. */
static bool wants_more(const struct filter *filter)
{
	const struct infeasible_set *conflict = filter->conflict;
	for (size_t i = 0; i < conflict->members.count; i++)
		if (conflict->chosen[i] && conflict->members.at[i].part == PART_MACHINE)
			return true;
	return conflict->fills != 0;
}

static void filter_machine(struct filter *filter)
{
	struct infeasible_set *conflict = filter->conflict;
	for (int i = 0; i < filter->hierarchy->level_count; i++) {
		const struct nest_level *level = &filter->hierarchy->levels[i];
		if (level->size && level->least_utilization > 0 &&
			is_needed(filter, &filter->any_fill, i))
			conflict->fills |= UINT32_C(1) << i;
	}
	for (int i = 0; i < filter->hierarchy->level_count; i++) {
		const struct nest_level *level = &filter->hierarchy->levels[i];
		if (level->fanout_x * level->fanout_y > 1 &&
			is_needed(filter, &filter->any_fanout, i))
			conflict->fanouts |= UINT32_C(1) << i;
		if (level->size && is_needed(filter, &filter->any_size, i))
			conflict->sizes |= UINT32_C(1) << i;
	}
	if (wants_more(filter)) { /* with any extent, any bounds: that is not asked */
		conflict->extents = bounded_dimensions(conflict);
		return;
	}
	for (int d = 0; d < filter->shape->dimension_count; d++)
		if (filter->shape->dimensions[d].extent > 1 &&
			is_needed(filter, &filter->any_extent, d))
			conflict->extents |= UINT32_C(1) << d;
}

/* --- members */

struct members array(struct constraint);

static void add_factors(
	struct arena *arena, struct members *members, const struct constraint *constraint)
{
	for (int k = 0; k < constraint->factor_count; k++) {
		struct constraint *one = array_add(arena, members);
		*one = *constraint;
		one->factor_count = 1;
		one->factors = &constraint->factors[k];
		if (one->factors->span.source)
			one->span = one->factors->span;
	}
}

static void add_spaces(
	struct arena *arena, struct members *members, const struct constraint *constraint)
{
	for (int t = 0; t < SHAPE_SPACES_MOST; t++)
		if (constraint->spaces >> t & 1) {
			struct constraint *one = array_add(arena, members);
			*one = *constraint;
			one->spaces = UINT32_C(1) << t;
		}
}

/* What stands in one list but asks for several things is as many members. */
static struct constraints split(struct arena *arena, const struct constraints *constraints)
{
	struct members members = {0};
	for (size_t i = 0; i < constraints->count; i++) {
		const struct constraint *constraint = &constraints->at[i];
		const char *key = constraint->kind->key;
		if (!constraint->kind->narrow)
			continue;
		if (text_equal(key, "factors"))
			add_factors(arena, &members, constraint);
		else if (text_equal(key, "keep") || text_equal(key, "bypass"))
			add_spaces(arena, &members, constraint);
		else
			*array_add(arena, &members) = *constraint;
	}
	return (struct constraints){.count = members.count, .at = members.at};
}

struct infeasible_set conflict_find(const struct domain *machine,
	const struct constraints *constraints, uint64_t work_most, const struct stopper *stopper,
	struct arena *arena)
{
	struct infeasible_set conflict = {.members = split(arena, constraints)};
	conflict.chosen = arena_array(arena, bool, conflict.members.count);
	for (size_t i = 0; i < conflict.members.count; i++)
		conflict.chosen[i] = true;
	struct factors_store store = {.arena = arena};
	if (stopper)
		store.stopper = *stopper;
	struct filter filter = {.store = &store,
		.machine = machine,
		.shape = machine->shape,
		.hierarchy = machine->hierarchy,
		.work_most = work_most,
		.conflict = &conflict};
	enum verdict verdict = ask(&filter);
	conflict.found = verdict == VERDICT_NO;
	conflict.open = verdict == VERDICT_OPEN;
	if (conflict.found) {
		filter_constraints(&filter);
		filter_machine(&filter);
	}
	return conflict;
}
