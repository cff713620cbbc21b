/* Conflicting constraints: they cannot be met, and without any one of them they can. */
#include "base/arena.h"
#include "base/array.h"
#include "constraints/constraints.h"
#include "search/nest/mapspace_check.h"
#include "tests/support/draws.h"
#include "tests/support/nest_domain.h"
#include "tests/support/nest_fits.h"

#include <stdio.h>

#include "tests/test.h"

enum { MAPPINGS_MOST = 3000, CONSTRAINTS_MOST = 7 };

struct drawing {
	struct random *random;
	struct arena *arena;
	const struct domain *machine;
};

static int below(struct drawing *drawing, int bound)
{
	return (int)random_below(drawing->random, (uint64_t)bound);
}

static struct constraint draw_factors(struct drawing *drawing)
{
	static const enum relation relations[] = {
		RELATION_EQUAL, RELATION_AT_LEAST, RELATION_AT_MOST};
	const struct shape *shape = drawing->machine->shape;
	struct constraint constraint = {.kind = constraint_kind_find("factors"),
		.part = below(drawing, 3) ? PART_TEMPORAL : PART_SPATIAL,
		.row = below(drawing, drawing->machine->arch->level_count),
		.factor_count = 1 + below(drawing, 2)};
	struct constraint_factor *factors =
		arena_array(drawing->arena, struct constraint_factor, 2);
	for (int k = 0; k < constraint.factor_count; k++) {
		int d = below(drawing, shape->dimension_count);
		factors[k] = (struct constraint_factor){.dimension = d,
			.relation = relations[below(drawing, 3)],
			.bound = 1 + below(drawing, (int)shape->dimensions[d].extent)};
	}
	constraint.factors = factors;
	return constraint;
}

static struct constraint draw_constraint(struct drawing *drawing)
{
	uint32_t all = (1u << drawing->machine->shape->space_count) - 1;
	struct constraint constraint = {.kind = constraint_kind_find("parallelism"),
		.part = PART_MACHINE,
		.row = -1,
		.least = (1 + below(drawing, 4)) / 4.0};
	int kind = below(drawing, 9);
	if (kind == 0)
		return constraint;
	if (kind <= 4)
		return draw_factors(drawing);
	constraint =
		(struct constraint){.kind = constraint_kind_find(kind <= 7 ? "keep" : "bypass"),
			.part = PART_DATASPACE,
			.row = below(drawing, drawing->machine->arch->level_count),
			.spaces = 1 + (uint32_t)below(drawing, (int)all)};
	return constraint;
}

/* Some that do not contradict each other. */
static struct constraints draw_constraints(struct drawing *drawing)
{
	struct array(struct constraint) list = {0};
	int count = 1 + below(drawing, CONSTRAINTS_MOST);
	for (int i = 0; i < count; i++) {
		*array_add(drawing->arena, &list) = draw_constraint(drawing);
		struct constraints constraints = {.count = list.count, .at = list.at};
		struct domain *domain =
			arena_copy(drawing->arena, drawing->machine, sizeof *drawing->machine);
		if (!constraints_narrow(&constraints, domain, diag_open(drawing->arena)))
			list.count--;
	}
	return (struct constraints){.count = list.count, .at = list.at};
}

/* 1: some mapping fits what is chosen, 0: none does, -1: too many to try. */
static int try_all(struct arena *arena, const struct domain *machine,
	const struct constraints *members, const bool *chosen)
{
	struct domain *domain = arena_copy(arena, machine, sizeof *machine);
	if (!constraints_agree(members, chosen, domain, arena))
		return 0;
	const struct space *space = space_make(arena, domain);
	return nest_space_is_small(space, MAPPINGS_MOST) ? nest_any_fits(space) : -1;
}

static void expect_minimal(struct arena *arena, const struct domain *machine,
	const struct infeasible_set *conflict, long *tried)
{
	const struct constraints *members = &conflict->members;
	assert_int_not_equal(try_all(arena, machine, members, conflict->chosen), 1);
	for (size_t i = 0; i < members->count; i++) {
		if (!conflict->chosen[i])
			continue;
		conflict->chosen[i] = false;
		int fits = try_all(arena, machine, members, conflict->chosen);
		assert_int_not_equal(fits, 0);
		*tried += fits == 1;
		conflict->chosen[i] = true;
	}
}

/* The machine with no limits but these; levels by bit. */
static const struct domain *with_limits(struct arena *arena, const struct domain *machine,
	uint32_t sizes, uint32_t fills, uint32_t fanouts)
{
	struct hierarchy *hierarchy = arena_copy(arena, machine->hierarchy, sizeof *hierarchy);
	struct arch *arch = arena_copy(arena, machine->arch, sizeof *arch);
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct nest_level *level = &hierarchy->levels[i];
		if (!(sizes >> i & 1))
			level->size = 0;
		if (!(fills >> i & 1))
			level->store.least_utilization = 0;
		if (!(fanouts >> i & 1) && level->fanout.x * level->fanout.y > 1) {
			struct level *block = &arch->levels[level->block_row];
			level->fanout.x = level->fanout.y = 1 << 20;
			block->fanout.x = block->fanout.y = 1 << 20;
		}
	}
	return domain_make(arena, arch, machine->shape, hierarchy);
}

/* Checks that the named limits of the machine are enough for the conflict, and that each is
 * needed. */
static void expect_machine(struct arena *arena, const struct domain *machine,
	const struct infeasible_set *conflict, long *tried)
{
	const uint32_t named[] = {conflict->sizes, conflict->fills, conflict->fanouts};
	const struct domain *domain = with_limits(arena, machine, named[0], named[1], named[2]);
	assert_int_not_equal(try_all(arena, domain, &conflict->members, conflict->chosen), 1);
	for (int kind = 0; kind < 3; kind++)
		for (int i = 0; i < machine->hierarchy->level_count; i++) {
			uint32_t less[] = {named[0], named[1], named[2]};
			less[kind] &= ~(UINT32_C(1) << i);
			if (less[kind] == named[kind])
				continue;
			domain = with_limits(arena, machine, less[0], less[1], less[2]);
			int fits = try_all(arena, domain, &conflict->members, conflict->chosen);
			assert_int_not_equal(fits, 0);
			*tried += fits == 1;
		}
}

/* Draws a machine on which a mapping fits without constraints. */
static const struct domain *draw_machine(
	struct random *random, struct arena *arena, struct nest_case *nest)
{
	const struct domain *machine;
	do {
		struct nest_case_options options = {.spatial = true, .steps_most = 30};
		nest_case_draw(random, &options, nest);
		nest_domain_limit(random, nest);
		machine = nest_domain_free(arena, nest);
	} while (feasible_find(machine, FEASIBLE_WORK_MOST).verdict != VERDICT_YES);
	return machine;
}

BARE_TEST(without_any_one_of_them_a_mapping_fits)
{
	uint64_t seed = draws_seed(59);
	long count = draws(1500), found = 0, tried = 0, large = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct nest_case nest;
		const struct domain *machine = draw_machine(&random, arena, &nest);
		struct drawing drawing = {&random, arena, machine};
		struct constraints constraints = draw_constraints(&drawing);
		struct infeasible_set conflict =
			conflict_find(machine, &constraints, FEASIBLE_WORK_MOST, NULL, arena);
		assert_false(conflict.open);
		if (conflict.found) {
			size_t chosen = 0;
			for (size_t i = 0; i < conflict.members.count; i++)
				chosen += conflict.chosen[i];
			found++;
			large += chosen > 1;
			expect_minimal(arena, machine, &conflict, &tried);
			expect_machine(arena, machine, &conflict, &tried);
		}
		arena_close(arena);
	}
	printf("%ld conflicts, %ld of several constraints; %ld times one less was tried, and fits\n",
		found, large, tried);
	if (draws_are_many(count)) {
		assert_true(large > count / 100);
		assert_true(tried > count / 100);
	}
}
