#include "tests/support/nest_problem.h"

#include "base/arena.h"
#include "base/text.h"
#include "search/drive/solver.h"
#include "tests/support/draws.h"
#include "tests/support/nest_domain.h"

#include <inttypes.h>
#include <string.h>

static uint64_t below(struct random *random, uint64_t bound)
{
	return random_below(random, bound);
}

/* --- machines */

static void draw_room(struct random *random, struct nest_level *level)
{
	level->size = 0;
	level->store.least_utilization = 0;
	if (!level->storage || draw_chance(random, 4))
		return;
	level->size = 1 + (int64_t)below(random, UINT64_C(4) << below(random, 15));
	if (draw_chance(random, 16))
		level->store.least_utilization = (double)(1 + below(random, 3)) / 4;
}

static void draw_prices(struct random *random, struct nest_level *level)
{
	static const double scales[] = {0.5, 1, 1, 2, 3};
	for (int a = 0; a < NEST_ACTIONS && draw_chance(random, 2); a++)
		level->energies.pj[a] *= (double)(1 + below(random, 200)) / 8;
	if (draw_chance(random, 4))
		level->store.cluster_size = 1 + (int64_t)below(random, 4);
	if (draw_chance(random, 4))
		for (int t = 0; t < SHAPE_SPACES_MOST; t++)
			level->rate_scale[t] = scales[below(random, 5)];
	if (draw_chance(random, 6))
		level->network.hop_pj = (double)below(random, 16) / 8;
	if (draw_chance(random, 6))
		level->network.router_pj = (double)below(random, 16) / 8;
	if (draw_chance(random, 8))
		level->store.fill_cycles = (int64_t)below(random, 100);
	if (draw_chance(random, 8))
		level->store.drain_cycles = (int64_t)below(random, 100);
}

/* Blocks with more room than the nest's own mapping needs: some unrollings fit, some do not. */
static void widen(struct random *random, struct hierarchy *hierarchy)
{
	int64_t x = 1, y = 1;
	for (int i = hierarchy->level_count - 1; i >= 0; i--) {
		struct nest_level *level = &hierarchy->levels[i];
		level->mesh_x = x;
		level->mesh_y = y;
		bool wider = draw_chance(random, 3);
		level->fanout.x += wider ? (int64_t)below(random, 4) : 0;
		level->fanout.y += wider ? (int64_t)below(random, 4) : 0;
		x *= level->fanout.x;
		y *= level->fanout.y;
	}
	hierarchy->compute_mesh_x = x;
	hierarchy->compute_mesh_y = y;
}

static void draw_machine(struct random *random, struct hierarchy *hierarchy)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct nest_level *level = &hierarchy->levels[i];
		draw_room(random, level);
		draw_prices(random, level);
		if (level->energies.leak_pj > 0 && draw_chance(random, 2))
			level->gated_at =
				i + (int)below(random, (uint64_t)(hierarchy->level_count - i));
	}
	hierarchy->compute_pj = (double)below(random, 9) / 2;
	if (draw_chance(random, 2))
		widen(random, hierarchy);
}

/* --- problems */

static const struct objectives wishes[] = {
	{1, {OBJECTIVE_EDP}},
	{1, {OBJECTIVE_ENERGY}},
	{1, {OBJECTIVE_LATENCY}},
	{1, {OBJECTIVE_HBM_BYTES}},
	{1, {OBJECTIVE_ACCESSES}},
	{2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}},
	{2, {OBJECTIVE_ENERGY, OBJECTIVE_ACCESSES}},
	{3, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY, OBJECTIVE_HBM_BYTES}},
};

static bool compile(struct nest_problem *problem)
{
	problem->domain = nest_domain_read(problem->arena, &problem->nest, problem->constraints);
	return problem->domain != NULL;
}

static void draw_objectives(struct random *random, struct nest_problem *problem)
{
	struct objectives *objectives = &problem->objectives;
	*objectives = wishes[below(random, sizeof wishes / sizeof *wishes)];
	const struct hierarchy *hierarchy = &problem->nest.hierarchy;
	uint64_t level;
	do
		level = below(random, (uint64_t)hierarchy->level_count);
	while (!hierarchy->levels[level].storage);
	for (size_t k = 0; k < objectives->count; k++)
		if (objectives->at[k] == OBJECTIVE_ACCESSES)
			objectives->at[k] += (enum objective)level;
}

struct nest_problem *nest_problem_draw(
	struct arena *arena, struct random *random, const struct nest_problems *class)
{
	struct nest_problem *problem = arena_new(arena, struct nest_problem);
	struct nest_case_options options = {.sliding = true,
		.bypass = true,
		.spatial = true,
		.flags = class->flags,
		.imperfect = class->imperfect,
		.steps_most = 100 << below(random, 10)};
	*problem = (struct nest_problem){.arena = arena, .constraints = "[]"};
	nest_case_draw(random, &options, &problem->nest);
	if (draw_chance(random, 2))
		nest_case_grow(random, 16 << below(random, 9), &problem->nest);
	draw_machine(random, &problem->nest.hierarchy);
	problem->counting = draw_chance(random, 2) ? COUNTING_EXACT : COUNTING_TIMELOOP;
	draw_objectives(random, problem);
	if (draw_chance(random, 2))
		compile(problem);
	else
		problem->domain = nest_domain_wish(
			arena, random, &problem->nest, class->flags, &problem->constraints);
	if (problem->domain && class->imperfect)
		problem->domain->imperfect = (uint32_t)(random_next(random) | random_next(random));
	return problem->domain ? problem : NULL;
}

struct nest_search nest_problem_search(
	const struct nest_problem *problem, const char *solver, uint64_t budget)
{
	const struct nest_case *nest = &problem->nest;
	return (struct nest_search){
		.arch = problem->domain->arch,
		.shape = &nest->shape,
		.hierarchy = &nest->hierarchy,
		.constraints = problem->domain->constraints,
		.domain = problem->domain,
		.space = space_make(problem->arena, problem->domain),
		.counting = problem->counting,
		.model = nest_model_make(
			problem->arena, &nest->hierarchy, &nest->shape, problem->counting),
		.wishes.objectives = problem->objectives,
		.solver = solver_find(STAGE_MAP, solver),
		.wishes.simulate = SIMULATE_NONE,
		.wishes.budget = budget,
		.wishes.seed = 1,
		.wishes.asker.jobs = 1,
	};
}

const char *nest_problem_text(const struct nest_problem *problem)
{
	struct text text = text_open(problem->arena);
	text_add(&text, "%s counting,", counting_names[problem->counting]);
	for (size_t k = 0; k < problem->objectives.count; k++)
		text_add(&text, " %s",
			nest_objective_text(problem->arena, problem->objectives.at[k],
				&problem->nest.hierarchy));
	text_add(&text, "\n%s%s\n", nest_case_text(problem->arena, &problem->nest),
		problem->constraints);
	return text_read(&text);
}

/* --- written otherwise */

static struct nest_problem *copy_of(const struct nest_problem *problem)
{
	return arena_copy(problem->arena, problem, sizeof *problem);
}

static void draw_places(struct random *random, int count, int *places)
{
	for (int i = 0; i < count; i++) {
		int j = (int)below(random, (uint64_t)i + 1);
		places[i] = places[j];
		places[j] = i;
	}
}

static uint32_t moved(uint32_t mask, const int *places, int count)
{
	uint32_t out = 0;
	for (int i = 0; i < count; i++)
		out |= (mask >> i & 1) << places[i];
	return out;
}

static void move_dimensions(struct shape *shape, const int *places)
{
	struct shape from = *shape;
	for (int d = 0; d < from.dimension_count; d++)
		shape->dimensions[places[d]] = from.dimensions[d];
	for (int t = 0; t < from.space_count; t++) {
		struct dataspace *space = &shape->spaces[t];
		space->relevant = moved(space->relevant, places, from.dimension_count);
		for (int r = 0; r < space->rank_count; r++)
			for (int d = 0; d < from.dimension_count; d++)
				space->ranks[r].coefficient[places[d]] =
					from.spaces[t].ranks[r].coefficient[d];
	}
}

static void move_spaces(struct nest_case *nest, const int *places)
{
	struct nest_case from = *nest;
	int count = nest->shape.space_count;
	for (int t = 0; t < count; t++)
		nest->shape.spaces[places[t]] = from.shape.spaces[t];
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		struct nest_level *level = &nest->hierarchy.levels[i];
		uint8_t *flags[] = {&level->no_temporal_reuse, &level->rmw_first_update,
			&level->no_coalesce, &level->no_spatial_reuse, &level->no_link_transfer};
		for (int f = 0; f < 5; f++)
			*flags[f] = (uint8_t)moved(*flags[f], places, count);
		for (int t = 0; t < count; t++)
			level->rate_scale[places[t]] = from.hierarchy.levels[i].rate_scale[t];
	}
}

struct nest_problem *nest_problem_reorder(const struct nest_problem *problem, struct random *random)
{
	struct nest_problem *out = copy_of(problem);
	int places[SHAPE_DIMENSIONS_MOST] = {0};
	draw_places(random, out->nest.shape.dimension_count, places);
	move_dimensions(&out->nest.shape, places);
	draw_places(random, out->nest.shape.space_count, places);
	move_spaces(&out->nest, places);
	return compile(out) ? out : NULL;
}

/* The fan-out stays where it is, directly above the level inside. */
struct nest_problem *nest_problem_pad(const struct nest_problem *problem, int above)
{
	struct nest_problem *out = copy_of(problem);
	struct hierarchy *hierarchy = &out->nest.hierarchy;
	int count = ++hierarchy->level_count, at = above + 1;
	memmove(hierarchy->levels + at + 1, hierarchy->levels + at,
		(size_t)(count - 1 - at) * sizeof *hierarchy->levels);
	struct nest_level *outside = &hierarchy->levels[at + 1], *idle = &hierarchy->levels[at];
	*idle = (struct nest_level){.name = "IDLE",
		.storage = true,
		.mesh_x = outside->mesh_x,
		.mesh_y = outside->mesh_y,
		.fanout.x = outside->fanout.x,
		.fanout.y = outside->fanout.y,
		.store = storage_unlimited,
		.gated_at = at,
		.no_spatial_reuse = outside->no_spatial_reuse,
		.no_link_transfer = outside->no_link_transfer};
	outside->fanout.x = outside->fanout.y = 1;
	outside->no_spatial_reuse = outside->no_link_transfer = 0;
	for (int t = 0; t < SHAPE_SPACES_MOST; t++)
		idle->rate_scale[t] = 1;
	for (int i = 0; i < count; i++) {
		hierarchy->levels[i].row = count - 1 - i;
		hierarchy->levels[i].block_row = count - i;
		if (i != at && hierarchy->levels[i].gated_at >= at)
			hierarchy->levels[i].gated_at++;
	}
	hierarchy->compute_row = count;
	for (size_t k = 0; k < out->objectives.count; k++)
		if (out->objectives.at[k] >= OBJECTIVE_ACCESSES + (enum objective)at)
			out->objectives.at[k]++;
	struct text text = text_open(out->arena);
	if (strcmp(out->constraints, "[]") != 0)
		text_add(&text, "%s", out->constraints);
	text_add(&text, "- {target: IDLE, type: dataspace, keep_only: []}\n"
			"- {target: IDLE, type: temporal, factors: [");
	for (int d = 0; d < out->nest.shape.dimension_count; d++)
		text_add(&text, "%s%s=1", d ? ", " : "", out->nest.shape.dimensions[d].name);
	text_add(&text, "]}\n");
	out->constraints = text_read(&text);
	return compile(out) ? out : NULL;
}

/* The lines of a text but for number `without`, in reverse if `back`. */
static const char *lines_of(struct arena *arena, const char *from, int without, bool back)
{
	const char *out = "";
	for (int n = 0; *from; n++) {
		const char *end = strchr(from, '\n');
		int length = (int)(end - from) + 1;
		if (n != without)
			out = back ? arena_format(arena, "%.*s%s", length, from, out)
				   : arena_format(arena, "%s%.*s", out, length, from);
		from = end + 1;
	}
	return *out ? out : "[]";
}

struct nest_problem *nest_problem_reverse(const struct nest_problem *problem)
{
	struct nest_problem *out = copy_of(problem);
	if (strcmp(out->constraints, "[]") != 0)
		out->constraints = lines_of(out->arena, out->constraints, -1, true);
	return compile(out) ? out : NULL;
}

struct nest_problem *nest_problem_relax(const struct nest_problem *problem, struct random *random)
{
	struct nest_problem *out = copy_of(problem);
	int count = 0;
	for (const char *at = out->constraints; (at = strchr(at, '\n')); at++)
		count++;
	if (count)
		out->constraints = lines_of(
			out->arena, out->constraints, (int)below(random, (uint64_t)count), false);
	for (int i = 0; i < out->nest.hierarchy.level_count; i++) {
		struct nest_level *level = &out->nest.hierarchy.levels[i];
		level->size *=
			level->store.least_utilization > 0 ? 1 : 1 + (int64_t)below(random, 2);
	}
	return compile(out) ? out : NULL;
}
