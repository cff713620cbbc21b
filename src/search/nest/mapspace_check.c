#include "search/nest/mapspace_check.h"

#include "base/arena.h"
#include "constraints/constraints.h"

/* Explaining asks many questions; each may be this hard. */
enum { EXPLAIN_WORK_MOST = 200000 };

/* Sizes of a domain; `any_fanout`: with bounds that only the fan-out limits as large as they
 * like, as Timeloop counts them. */
static struct space_sizes sizes_of(
	struct factors_store *store, const struct domain *domain, bool any_fanout)
{
	struct domain *counted = arena_copy(store->arena, domain, sizeof *domain);
	const struct hierarchy *hierarchy = domain->hierarchy;
	for (int i = 0; any_fanout && i < hierarchy->level_count; i++) {
		struct row_domain *row = &counted->rows[hierarchy->levels[i].block_row];
		if (hierarchy->levels[i].fanout_x * hierarchy->levels[i].fanout_y == 1)
			continue;
		for (int d = 0; d < domain->shape->dimension_count; d++)
			if (row->spatial[d].most_by < 0)
				row->spatial[d].most = domain->shape->dimensions[d].extent;
	}
	const struct space *space = space_make_from(store, store->arena, counted);
	return space ? space_sizes(space, store->arena) : (struct space_sizes){0};
}

struct mapspace_check mapspace_check(const struct domain *machine,
	const struct constraints *constraints, const struct stopper *stopper, struct diag *diag,
	struct arena *arena)
{
	struct domain *domain = arena_copy(arena, machine, sizeof *machine);
	struct factors_store store = {.arena = arena};
	if (stopper)
		store.stopper = *stopper;
	struct mapspace_check check = {
		.arch = machine->arch,
		.shape = machine->shape,
		.hierarchy = machine->hierarchy,
		.domain = domain,
		.contradictory = !constraints_narrow(constraints, domain, diag),
	};
	check.machine = sizes_of(&store, machine, true);
	if (check.contradictory)
		return check;
	check.constrained = sizes_of(&store, domain, true);
	check.narrowed = sizes_of(&store, domain, false);
	check.feasible = feasible_find_from(&store, domain, 0, FEASIBLE_WORK_MOST);
	if (check.feasible.verdict != VERDICT_NO)
		return check;
	check.shortages = shortages_find(domain, EXPLAIN_WORK_MOST, stopper, arena);
	check.conflict = conflict_find(machine, constraints, EXPLAIN_WORK_MOST, stopper, arena);
	const struct constraints *members = &check.conflict.members;
	check.explained = arena_array(arena, const char *, members->count);
	for (size_t i = 0; i < members->count; i++)
		check.explained[i] = members->at[i].kind->explain(domain, &members->at[i], arena);
	return check;
}
