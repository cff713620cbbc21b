#include "search/nest/mapspace_check.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "constraints/constraints.h"
#include "cost/nest/nest_home.h"
#include "search/nest/factors.h"
#include "search/nest/feasible.h"

#include <math.h>

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
			level->fanout.x = level->fanout.y = FACTORS_EXTENT_MOST;
		}
	struct domain *domain = domain_make(arena, arch, filter->shape, filter->hierarchy);
	domain->imperfect = filter->machine->imperfect;
	domain->whole_homes = filter->machine->whole_homes;
	return domain;
}

static enum verdict ask_feasible(const struct filter *filter)
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
				relaxed->hierarchy.levels[i].store.least_utilization = 0;
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
static bool filter_is_needed(struct filter *filter, uint32_t *mask, int bit)
{
	*mask |= UINT32_C(1) << bit;
	enum verdict verdict = ask_feasible(filter);
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
		enum verdict verdict = ask_feasible(filter);
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

/* True if something that is asked for gets better with larger bounds. */
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
		if (level->size && level->store.least_utilization > 0 &&
			filter_is_needed(filter, &filter->any_fill, i))
			conflict->fills |= UINT32_C(1) << i;
	}
	for (int i = 0; i < filter->hierarchy->level_count; i++) {
		const struct nest_level *level = &filter->hierarchy->levels[i];
		if (fanout_count(&level->fanout) > 1 &&
			filter_is_needed(filter, &filter->any_fanout, i))
			conflict->fanouts |= UINT32_C(1) << i;
		if (level->size && filter_is_needed(filter, &filter->any_size, i))
			conflict->sizes |= UINT32_C(1) << i;
	}
	if (wants_more(filter)) { /* with any extent, any bounds: that is not asked */
		conflict->extents = bounded_dimensions(conflict);
		return;
	}
	for (int d = 0; d < filter->shape->dimension_count; d++)
		if (filter->shape->dimensions[d].extent > 1 &&
			filter_is_needed(filter, &filter->any_extent, d))
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

/* Splits the entries of a list that constrain several things into as many members. */
static struct constraints split_constraints(
	struct arena *arena, const struct constraints *constraints)
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
	struct infeasible_set conflict = {.members = split_constraints(arena, constraints)};
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
	enum verdict verdict = ask_feasible(&filter);
	conflict.found = verdict == VERDICT_NO;
	conflict.open = verdict == VERDICT_OPEN;
	if (conflict.found) {
		filter_constraints(&filter);
		filter_machine(&filter);
	}
	return conflict;
}

struct shortage_search {
	const struct domain *domain;
	const struct space *space;
	uint64_t work_most;
	struct arena *arena;
	struct factors_store store; /* of an arena of its own: questions give back theirs */
	bool any_open;
	bool open; /* a question about this limit was too hard: no more of them */
	struct array(struct shortage) list;
};

static struct shortage mapspace_check_blank(enum shortage_kind kind)
{
	return (struct shortage){
		.kind = kind, .level = -1, .dimension = -1, .space = -1, .alone = -1, .enough = -1};
}

/* A machine with one limit as it is and all others lifted, or as they are. */
static struct relaxed *shortage_search_others(
	struct shortage_search *finding, const struct shortage *kept, bool lifted)
{
	struct relaxed *relaxed = relaxed_open(finding->arena, finding->domain);
	for (int i = 0; lifted && i < relaxed->hierarchy.level_count; i++) {
		const struct nest_level *level = &relaxed->hierarchy.levels[i];
		bool fanout = kept->kind == SHORTAGE_FANOUT_X || kept->kind == SHORTAGE_FANOUT_Y;
		bool size = kept->kind == SHORTAGE_UTILIZATION;
		if (level->size && !(size && kept->level == i))
			relaxed_lift_size(relaxed, i);
		if (fanout_count(&level->fanout) > 1 && !(fanout && kept->level == i) &&
			kept->kind != SHORTAGE_PARALLELISM)
			relaxed_lift_fanout(relaxed, i);
	}
	if (lifted && kept->kind != SHORTAGE_PARALLELISM)
		relaxed->domain.least_parallelism = 0;
	return relaxed;
}

/* The same machine with another value of that limit. */
static void relaxed_set_member(struct relaxed *relaxed, const struct shortage *limit, int64_t value)
{
	struct nest_level *level =
		limit->level >= 0 ? &relaxed->hierarchy.levels[limit->level] : NULL;
	switch (limit->kind) {
	case SHORTAGE_CAPACITY:
		relaxed_set_size(relaxed, limit->level, value);
		break;
	case SHORTAGE_FANOUT_X:
		relaxed_set_fanout(relaxed, limit->level, value, level->fanout.y);
		break;
	case SHORTAGE_FANOUT_Y:
		relaxed_set_fanout(relaxed, limit->level, level->fanout.x, value);
		break;
	case SHORTAGE_UTILIZATION: /* half a word less: as a double it is not above `value` */
		level->store.least_utilization =
			value ? ((double)value - 0.5) / (double)level->size : 0;
		break;
	case SHORTAGE_PARALLELISM:
		relaxed->domain.least_parallelism =
			value ? ((double)value - 0.5) /
					(double)number_times(relaxed->hierarchy.compute_mesh_x,
						relaxed->hierarchy.compute_mesh_y)
			      : 0;
		break;
	default:
		break;
	}
}

static bool shortage_fits(struct shortage_search *finding, const struct shortage *limit,
	int64_t value, bool lifted, struct mapping *witness)
{
	struct arena_mark mark = arena_mark(finding->arena);
	struct relaxed *relaxed = shortage_search_others(finding, limit, lifted);
	relaxed_set_member(relaxed, limit, value);
	struct feasible feasible = {.verdict = VERDICT_OPEN};
	if (!finding->open)
		feasible = feasible_find_from(
			&finding->store, &relaxed->domain, 0, finding->work_most);
	arena_release(finding->arena, mark);
	finding->open |= feasible.verdict == VERDICT_OPEN;
	if (feasible.verdict == VERDICT_YES && witness)
		*witness = feasible.witness;
	return feasible.verdict == VERDICT_YES;
}

/* Beyond any tile that can be counted; beyond any fan-out that a mapping asks for. */
static int64_t most_of(enum shortage_kind kind)
{
	return kind == SHORTAGE_CAPACITY ? INT64_MAX - 1 : INT64_C(1) << 31;
}

/* The least value above `given` that fits; -1 if none does. */
static int64_t least_that_fits(struct shortage_search *finding, const struct shortage *limit,
	bool lifted, struct mapping *witness)
{
	int64_t low = limit->given, high = most_of(limit->kind); /* low does not fit, high does */
	if (!shortage_fits(finding, limit, high, lifted, witness))
		return -1;
	for (int64_t step = 1; step < high - low; step *= 2) { /* near the given value first */
		if (shortage_fits(finding, limit, low + step, lifted, witness)) {
			high = low + step;
			break;
		}
		low += step;
	}
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;
		if (shortage_fits(finding, limit, middle, lifted, witness))
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* The most below `given` that can be had; -1 if nothing can. */
static int64_t most_that_fits(
	struct shortage_search *finding, const struct shortage *limit, bool lifted)
{
	int64_t low = 0, high = limit->given; /* low fits, high does not */
	if (!shortage_fits(finding, limit, low, lifted, NULL))
		return -1;
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;
		if (shortage_fits(finding, limit, middle, lifted, NULL))
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The tile of a level under a mapping. */
static void take_tile(
	const struct shortage_search *finding, const struct mapping *mapping, struct shortage *out)
{
	const struct shape *shape = finding->domain->shape;
	for (int d = 0; d < shape->dimension_count; d++) {
		int64_t inside = 1;
		for (int loop = 0; loop < finding->space->level_count; loop++) {
			const struct tiling_level *level = &finding->space->levels[loop];
			const struct mapping_row *row = &mapping->rows[level->row];
			if (level->level <= out->level)
				inside *= level->spatial ? row->spatial[d] : row->temporal[d];
		}
		out->tile[d] = number_min(inside, shape->dimensions[d].extent);
	}
	int row = finding->domain->hierarchy->levels[out->level].row;
	struct fit_words words = {.homes = false};
	if (fit_minds_homes(finding->domain))
		fit_homes(finding->domain, mapping, &words);
	for (int t = 0; t < shape->space_count; t++) {
		bool home = words.homes &&
			    nest_home_level(finding->domain->hierarchy, mapping, t) == out->level;
		if (home)
			out->words[t] = words.home[out->level][t];
		else if (mapping->residency[t] >> row & 1)
			out->words[t] = fit_words(shape, t, out->tile);
	}
}

static void add_limit(
	struct shortage_search *finding, enum shortage_kind kind, int level, int64_t given)
{
	struct shortage limit = mapspace_check_blank(kind);
	limit.level = level;
	limit.given = given;
	bool most = kind == SHORTAGE_UTILIZATION || kind == SHORTAGE_PARALLELISM;
	struct mapping witness;
	finding->open = false;
	if (!shortage_fits(finding, &limit, given, true, NULL))
		limit.alone = most ? most_that_fits(finding, &limit, true)
				   : least_that_fits(finding, &limit, true, &witness);
	if (limit.alone >= 0 && kind == SHORTAGE_CAPACITY)
		take_tile(finding, &witness, &limit);
	limit.enough = most ? most_that_fits(finding, &limit, false)
			    : least_that_fits(finding, &limit, false, &witness);
	if (limit.enough >= 0 && kind == SHORTAGE_CAPACITY)
		take_tile(finding, &witness, &limit);
	finding->any_open |= finding->open;
	if (limit.alone >= 0 || limit.enough >= 0)
		*array_add(finding->arena, &finding->list) = limit;
}

/* Adds the constraints that no machine can meet. */
static bool add_impossible(struct shortage_search *finding)
{
	const struct domain *domain = finding->domain;
	for (int d = 0; d < domain->shape->dimension_count; d++)
		if (!factors_count(finding->space->factors[d])) {
			struct shortage shortage = mapspace_check_blank(SHORTAGE_FACTORS);
			shortage.dimension = d;
			*array_add(finding->arena, &finding->list) = shortage;
		}
	for (int t = 0; t < domain->shape->space_count; t++) {
		bool home = false;
		for (int i = 0; i < domain->hierarchy->level_count; i++) {
			const struct nest_level *level = &domain->hierarchy->levels[i];
			home |= level->storage && !(domain->rows[level->row].bypass >> t & 1);
		}
		if (!home) {
			struct shortage shortage = mapspace_check_blank(SHORTAGE_HOME);
			shortage.space = t;
			*array_add(finding->arena, &finding->list) = shortage;
		}
	}
	return finding->list.count > 0;
}

struct shortages shortages_find(const struct domain *domain, uint64_t work_most,
	const struct stopper *stopper, struct arena *arena)
{
	struct shortage_search finding = {.domain = domain,
		.work_most = work_most,
		.arena = arena,
		.store = {.arena = arena_open()}};
	const struct hierarchy *hierarchy = domain->hierarchy;
	if (stopper)
		finding.store.stopper = *stopper;
	finding.space = space_make_from(&finding.store, finding.store.arena, domain);
	finding.any_open = !finding.space;
	bool impossible = !finding.space || add_impossible(&finding);
	for (int i = 0; !impossible && i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		if (level->fanout.x > 1)
			add_limit(&finding, SHORTAGE_FANOUT_X, i, level->fanout.x);
		if (level->fanout.y > 1)
			add_limit(&finding, SHORTAGE_FANOUT_Y, i, level->fanout.y);
		if (level->size)
			add_limit(&finding, SHORTAGE_CAPACITY, i, level->size);
		if (level->size && level->store.least_utilization > 0)
			add_limit(&finding, SHORTAGE_UTILIZATION, i,
				(int64_t)ceil(
					level->store.least_utilization * (double)level->size));
	}
	if (!impossible && domain->least_parallelism > 0)
		add_limit(&finding, SHORTAGE_PARALLELISM, -1,
			(int64_t)ceil(domain->least_parallelism *
				      (double)number_times(hierarchy->compute_mesh_x,
					      hierarchy->compute_mesh_y)));
	arena_close(finding.store.arena);
	return (struct shortages){finding.list.count, finding.list.at, finding.any_open};
}

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
		if (hierarchy->levels[i].fanout.x * hierarchy->levels[i].fanout.y == 1)
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
