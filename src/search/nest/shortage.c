#include "search/nest/shortage.h"

#include "base/array.h"
#include "base/number.h"
#include "cost/nest/nest_home.h"
#include "search/nest/fit.h"
#include "search/nest/relaxed.h"

#include <math.h>

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

static struct shortage blank(enum shortage_kind kind)
{
	return (struct shortage){
		.kind = kind, .level = -1, .dimension = -1, .space = -1, .alone = -1, .enough = -1};
}

/* A machine with one limit as it is and all others lifted, or as they are. */
static struct relaxed *others(
	struct shortage_search *finding, const struct shortage *kept, bool lifted)
{
	struct relaxed *relaxed = relaxed_open(finding->arena, finding->domain);
	for (int i = 0; lifted && i < relaxed->hierarchy.level_count; i++) {
		const struct nest_level *level = &relaxed->hierarchy.levels[i];
		bool fanout = kept->kind == SHORTAGE_FANOUT_X || kept->kind == SHORTAGE_FANOUT_Y;
		bool size = kept->kind == SHORTAGE_UTILIZATION;
		if (level->size && !(size && kept->level == i))
			relaxed_lift_size(relaxed, i);
		if (level->fanout_x * level->fanout_y > 1 && !(fanout && kept->level == i) &&
			kept->kind != SHORTAGE_PARALLELISM)
			relaxed_lift_fanout(relaxed, i);
	}
	if (lifted && kept->kind != SHORTAGE_PARALLELISM)
		relaxed->domain.least_parallelism = 0;
	return relaxed;
}

/* The same machine with another value of that limit. */
static void set(struct relaxed *relaxed, const struct shortage *limit, int64_t value)
{
	struct nest_level *level =
		limit->level >= 0 ? &relaxed->hierarchy.levels[limit->level] : NULL;
	switch (limit->kind) {
	case SHORTAGE_CAPACITY:
		relaxed_set_size(relaxed, limit->level, value);
		break;
	case SHORTAGE_FANOUT_X:
		relaxed_set_fanout(relaxed, limit->level, value, level->fanout_y);
		break;
	case SHORTAGE_FANOUT_Y:
		relaxed_set_fanout(relaxed, limit->level, level->fanout_x, value);
		break;
	case SHORTAGE_UTILIZATION: /* half a word less: as a double it is not above `value` */
		level->least_utilization = value ? ((double)value - 0.5) / (double)level->size : 0;
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

static bool fits(struct shortage_search *finding, const struct shortage *limit, int64_t value,
	bool lifted, struct mapping *witness)
{
	struct arena_mark mark = arena_mark(finding->arena);
	struct relaxed *relaxed = others(finding, limit, lifted);
	set(relaxed, limit, value);
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
	if (!fits(finding, limit, high, lifted, witness))
		return -1;
	for (int64_t step = 1; step < high - low; step *= 2) { /* near the given value first */
		if (fits(finding, limit, low + step, lifted, witness)) {
			high = low + step;
			break;
		}
		low += step;
	}
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;
		if (fits(finding, limit, middle, lifted, witness))
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
	if (!fits(finding, limit, low, lifted, NULL))
		return -1;
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;
		if (fits(finding, limit, middle, lifted, NULL))
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
	struct shortage limit = blank(kind);
	limit.level = level;
	limit.given = given;
	bool most = kind == SHORTAGE_UTILIZATION || kind == SHORTAGE_PARALLELISM;
	struct mapping witness;
	finding->open = false;
	if (!fits(finding, &limit, given, true, NULL))
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

/* What no machine would help with. */
static bool add_impossible(struct shortage_search *finding)
{
	const struct domain *domain = finding->domain;
	for (int d = 0; d < domain->shape->dimension_count; d++)
		if (!factors_count(finding->space->factors[d])) {
			struct shortage shortage = blank(SHORTAGE_FACTORS);
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
			struct shortage shortage = blank(SHORTAGE_HOME);
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
		if (level->fanout_x > 1)
			add_limit(&finding, SHORTAGE_FANOUT_X, i, level->fanout_x);
		if (level->fanout_y > 1)
			add_limit(&finding, SHORTAGE_FANOUT_Y, i, level->fanout_y);
		if (level->size)
			add_limit(&finding, SHORTAGE_CAPACITY, i, level->size);
		if (level->size && level->least_utilization > 0)
			add_limit(&finding, SHORTAGE_UTILIZATION, i,
				(int64_t)ceil(level->least_utilization * (double)level->size));
	}
	if (!impossible && domain->least_parallelism > 0)
		add_limit(&finding, SHORTAGE_PARALLELISM, -1,
			(int64_t)ceil(domain->least_parallelism *
				      (double)number_times(hierarchy->compute_mesh_x,
					      hierarchy->compute_mesh_y)));
	arena_close(finding.store.arena);
	return (struct shortages){finding.list.count, finding.list.at, finding.any_open};
}
