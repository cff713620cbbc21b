#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "cost/graph/cost.h"
#include "model/packing/buffer.h"
#include "search/graph/lx.h"
#include "search/graph/stream.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/lookups.h"
#include "tests/support/random_graph.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>

#include "tests/test.h"

/*
 * Random graphs whose tensors live in LX for random parts of their lives: what
 * the placement says that it saves is what the plan saves in HBM bytes (at least that, if
 * an op reads a tensor twice), and the plan, run on data, does what the plain loop nests do.
 */
struct drawing {
	struct run *run;
	const struct packing *packing;
	struct placement *placement;
	struct array(struct residence_part) parts;
	int64_t top; /* all parts lie above each other */
};

/* The address of a new part; UNPLACED if nothing is free. */
static int64_t take_room(struct drawing *drawing, const struct buffer *buffer)
{
	int64_t address = number_align_up(drawing->top, drawing->packing->alignment);
	if (buffer->size > drawing->packing->capacity - address)
		return UNPLACED;
	drawing->top = address + buffer->size;
	return address;
}

/* Upon a parent, where one is there; else anywhere. */
static void draw_whole(struct drawing *drawing, size_t b)
{
	const struct buffer *buffer = &drawing->packing->buffers[b];
	int64_t *addresses = drawing->placement->addresses;
	for (size_t k = 0; k < buffer->parent_count; k++) {
		int parent = buffer->parents[k];
		bool taken = addresses[parent] == UNPLACED;
		for (size_t other = 0; other < drawing->packing->count; other++)
			taken |= drawing->placement->in_place_of[other] == parent;
		if (taken)
			continue;
		addresses[b] = addresses[parent];
		drawing->placement->in_place_of[b] = parent;
		return;
	}
	addresses[b] = take_room(drawing, buffer);
}

static void draw_parts(struct drawing *drawing, size_t b)
{
	const struct buffer *buffer = &drawing->packing->buffers[b];
	for (size_t u = 0; u + 1 < buffer->use_count;) {
		size_t length = run_random(drawing->run, 4);
		size_t last = u + length < buffer->use_count ? u + length : buffer->use_count - 1;
		if (last > u) {
			int64_t address = take_room(drawing, buffer);
			if (address == UNPLACED)
				return;
			*array_add(run_arena(drawing->run), &drawing->parts) =
				(struct residence_part){(int)b, buffer->uses[u].at,
					buffer->uses[last].at + 1, address};
		}
		u = last + 1;
	}
}

static struct placement *empty_placement(struct run *run, const struct packing *packing)
{
	struct placement *placement = arena_new(run_arena(run), struct placement);
	placement->count = packing->count;
	placement->addresses = arena_array(run_arena(run), int64_t, packing->count);
	placement->in_place_of = arena_array(run_arena(run), int, packing->count);
	for (size_t b = 0; b < packing->count; b++) {
		placement->addresses[b] = UNPLACED;
		placement->in_place_of[b] = -1;
	}
	return placement;
}

static void draw_run(struct run *run, const struct problem *problem)
{
	const struct packing *packing = problem->packing;
	struct placement *placement = empty_placement(run, packing);
	struct drawing drawing = {.run = run, .packing = packing, .placement = placement};
	for (size_t b = 0; b < packing->count; b++) {
		if (run_random(run, 3) == 0)
			draw_whole(&drawing, b);
		else
			draw_parts(&drawing, b);
	}
	placement->part_count = drawing.parts.count;
	placement->parts = drawing.parts.at;
	struct candidate candidate = {.stage = STAGE_PLACE, .placement = placement};
	run_offer(run, &candidate, 0);
}

static void leave_run(struct run *run, const struct problem *problem)
{
	struct candidate candidate = {
		.stage = STAGE_PLACE, .placement = empty_placement(run, problem->packing)};
	run_offer(run, &candidate, 0);
}

static const struct solver drawn = {
	.stage = STAGE_PLACE, .name = "drawn", .keeps_parts = true, .run = draw_run};
static const struct solver nothing = {
	.stage = STAGE_PLACE, .name = "nothing", .keeps_parts = true, .run = leave_run};

struct question {
	struct arena *arena;
	const struct arch *arch;
	const struct workload *workload;
	const struct mapping *mappings;
	struct planning planning;
};

static struct plan *make_plan(const struct question *question, const struct solver *solver)
{
	const char *why;
	struct lx_plan_result result = lx_plan(question->arch, question->workload,
		question->mappings, &question->planning, solver, question->arena);
	assert_non_null(result.plan);
	if (!stream_plan(result.plan, NULL, question->arena, &why))
		fail_msg("%s", why);
	return result.plan;
}

static int64_t hbm_bytes(const struct question *question, const struct plan *plan)
{
	struct score score;
	assert_true(cost_score(plan, question->arena, &score));
	return score.hbm_bytes;
}

/* Every operand fetches all of the tensor and each tile once. */
static bool fetches_whole(
	const struct question *question, const struct lx_layout *layout, const struct plan *all_hbm)
{
	struct counts counts;
	assert_true(cost_counts(all_hbm, question->arena, &counts));
	const struct packing *packing = &layout->buffers.packing;
	for (size_t b = 0; b < packing->count; b++) {
		int tensor = layout->buffers.tensors[b];
		int64_t bytes = layout->graph.workload->tensors[tensor].layout.bytes;
		for (int o = 0; o < all_hbm->step_count; o++) {
			const struct op *op = &all_hbm->workload->ops[o];
			for (int i = 0; i < op_operands(op); i++) {
				const int64_t *moved = counts.steps[o].bytes[i];
				if (op_operand(op, i)->tensor == tensor &&
					moved[TRAFFIC_HBM_READ] + moved[TRAFFIC_HBM_WRITE] != bytes)
					return false;
			}
		}
	}
	return true;
}

/* True if no op reads a tensor twice: for one that does, a reload saves one more transfer. */
static bool reads_once(const struct workload *workload)
{
	for (size_t o = 0; o < workload->op_count; o++)
		for (int i = 0; i < workload->ops[o].read_count; i++)
			for (int k = 0; k < i; k++)
				if (workload->ops[o].reads[i].tensor ==
					workload->ops[o].reads[k].tensor)
					return false;
	return true;
}

struct outcome {
	long exact, parts, sent, kept, reloads, in_place;
};

static void count_moves(const struct plan *plan, struct outcome *outcome)
{
	for (int s = 0; s < plan->step_count; s++) {
		const struct op *op = &plan->workload->ops[s];
		bool kept = op->move && plan->workload->tensors[op->writes[0].tensor].copy_of;
		outcome->sent += op->move == MOVE_EVICT && !kept;
		outcome->kept += op->move == MOVE_EVICT && kept;
		outcome->reloads += op->move == MOVE_RELOAD;
	}
	for (int i = 0; i < plan->residency_count; i++)
		outcome->in_place += plan->residencies[i].in_place_of >= 0;
}

static void check_saved(const struct question *question, long draw, struct outcome *outcome)
{
	struct plan *plan = make_plan(question, &drawn), *none = make_plan(question, &nothing);
	struct lx_layout layout = lx_layout(question->arch, question->workload, question->mappings,
		&question->planning, &drawn, question->arena);
	count_moves(plan, outcome);
	outcome->parts += (long)layout.placement->part_count;
	assert_true(fetches_whole(question, &layout, none));
	bool exact = reads_once(question->workload);
	outcome->exact += exact;
	int64_t saved = placement_saved(&layout.buffers.packing, layout.placement);
	int64_t less = hbm_bytes(question, none) - hbm_bytes(question, plan);
	if (exact ? saved != less : saved > less)
		fail_msg("draw %ld: the placement saves %" PRId64 " bytes, the plan %" PRId64, draw,
			saved, less);
}

static void check_run(const struct question *question, long draw)
{
	const char *why =
		execute_exactly(make_plan(question, &drawn), (uint64_t)draw, question->arena);
	if (why)
		fail_msg("draw %ld: %s", draw, why);
}

/* Maps of two matrices that were there before, so that most are read again and again. */
static const struct workload *draw_dense(struct random *random, struct arena *arena)
{
	struct text text = text_open(arena);
	uint64_t ops = 4 + random_below(random, 10);
	text_add(&text, "workload:\n  name: dense\n  dimensions: {m: 8, n: 64}\n  ops:\n");
	for (uint64_t o = 0; o < ops; o++) {
		uint64_t a = random_below(random, o + 2), b = random_below(random, o + 2);
		if (a == b && random_below(random, 8))
			text_add(&text, "    - t%d[m,n] = clone(t%d[m,n])\n", (int)o + 2, (int)a);
		else
			text_add(&text, "    - t%d[m,n] = t%d[m,n] - t%d[m,n]\n", (int)o + 2,
				(int)a, (int)b);
	}
	return workload_given(arena, text_read(&text));
}

static struct question draw_question(uint64_t seed, long draw, struct arena *arena)
{
	static const enum clone_split clones[] = {CLONE_OFF, CLONE_NONE, CLONE_READERS};
	struct random random = random_open(seed, (uint64_t)draw);
	struct question question = {.arena = arena};
	bool dense = random_below(&random, 3) > 0;
	question.arch = spyre_arch(arena, dense ? 1 : 1 << random_below(&random, 6));
	question.workload = dense ? draw_dense(&random, arena) : random_graph(&random, arena);
	question.planning = planning_default(question.arch);
	planning_lists("all", &question.planning.eligible, &question.planning.in_place);
	question.planning.clones = clones[random_below(&random, 3)];
	question.mappings = random_division(
		&random, question.arch, question.workload, &question.planning, arena);
	return question;
}

BARE_TEST(what_a_placement_saves_the_plan_saves)
{
	long count = draws(300);
	uint64_t seed = draws_seed(21);
	struct outcome outcome = {0};
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct question question = draw_question(seed, draw, arena);
		check_saved(&question, draw, &outcome);
		arena_close(arena);
	}
	print_message("%ld of %ld weigh exactly; %ld parts, %ld evictions that send, %ld that need "
		      "not, %ld reloads, %ld in place\n",
		outcome.exact, count, outcome.parts, outcome.sent, outcome.kept, outcome.reloads,
		outcome.in_place);
	if (!draws_are_many(count))
		return;
	assert_true(outcome.exact > count / 2);
	assert_true(outcome.sent > count / 20 && outcome.kept > count / 20);
	assert_true(outcome.reloads > count / 10 && outcome.in_place > count / 20);
}

BARE_TEST(what_comes_back_is_what_left)
{
	long count = draws(100);
	uint64_t seed = draws_seed(22);
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct question question = draw_question(seed, draw, arena);
		check_run(&question, draw);
		arena_close(arena);
	}
}

/* In a narrow LX what is placed whole is never better than what is best in parts. */
BARE_TEST(exact_saves_no_less_than_the_others)
{
	static const char *const others[] = {"greedy", "firstfit", "bestfit"};
	long count = draws(100), better = 0, parted = 0, asked = 0;
	uint64_t seed = draws_seed(23);
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct question question = draw_question(seed, draw, arena);
		question.planning.lx_capacity = 1024 * (1 + draw % 8);
		if (!reads_once(question.workload)) {
			arena_close(arena);
			continue;
		}
		struct plan *best = make_plan(&question, solver_find(STAGE_PLACE, "exact"));
		int64_t bytes = hbm_bytes(&question, best), least = INT64_MAX;
		for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
			const struct solver *other = solver_find(STAGE_PLACE, others[i]);
			int64_t more = hbm_bytes(&question, make_plan(&question, other));
			if (more < bytes)
				fail_msg("draw %ld: exact needs %" PRId64 " bytes, %s %" PRId64,
					draw, bytes, others[i], more);
			least = number_min(least, more);
		}
		struct outcome outcome = {0};
		count_moves(best, &outcome);
		asked++;
		better += bytes < least;
		parted += outcome.sent + outcome.kept > 0;
		arena_close(arena);
	}
	print_message("exact is better in %ld of %ld, and evicts in %ld\n", better, asked, parted);
	assert_true(!draws_are_many(count) || (better > count / 10 && parted > count / 20));
}
