#include "base/arena.h"
#include "base/fatal.h"
#include "base/random.h"
#include "base/text.h"
#include "cost/graph/cost.h"
#include "lower/graph/lower.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "search/drive/solver.h"
#include "search/graph/lx.h"
#include "search/graph/recipe.h"
#include "sim/graph/reference.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/mutable_program.h"
#include "tests/support/program_text.h"
#include "tests/support/ranks_arch.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tests/test.h"

/*
 * Small graphs with broadcasts on random ranks and links, with random staging tiles: the model
 * counts what the simulator does, every rank has the reference's results from inputs of its own,
 * and what is done to a program that brings data too early, too late or elsewhere is caught.
 */
static const char *draw_links(struct random *random, struct arena *arena, int ranks)
{
	static const char *const kinds[] = {
		"full", "ring", "bidirectional_ring", "tree", "root_only"};
	bool mesh = ranks == 4 && random_below(random, 3) == 0;
	struct text text = text_open(arena);
	text_add(&text, "topology: %s", mesh ? "mesh" : kinds[random_below(random, 5)]);
	text_add(&text, "%s", mesh ? ", dims: [2, 2]" : "");
	text_add(&text, ", ports: %s", random_below(random, 2) ? "one" : "all");
	if (random_below(random, 4))
		text_add(&text, ", latency: %dns", (int)random_below(random, 300));
	if (random_below(random, 4))
		text_add(&text, ", bandwidth: %dGB/s", 1 << random_below(random, 9));
	return text_read(&text);
}

static const struct arch *draw_arch(struct random *random, struct arena *arena)
{
	int ranks = 2 + (int)random_below(random, 4);
	struct ranks_arch machine = {
		.ranks = ranks,
		.cores = 1 << random_below(random, 3),
		.links = draw_links(random, arena, ranks),
		.load = (int)random_below(random, 50),
		.store = (int)random_below(random, 50),
		.sync = random_below(random, 3) ? 0 : (int)random_below(random, 20),
		.lx_bytes = 131072 << random_below(random, 3),
		.alignment = random_below(random, 3) ? 128 : 512,
	};
	return ranks_arch(arena, &machine);
}

static void add_broadcast(struct text *text, struct random *random, int ranks, const char *to,
	const char *from, const char *indices)
{
	text_add(text, "    - {op: \"%s[%s] = broadcast %s[%s]\", root: %d}\n", to, indices, from,
		indices, (int)random_below(random, (uint64_t)ranks));
}

/* Weights of one, two or three dimensions, what becomes of them, and an intermediate. */
static const struct workload *draw_workload(struct random *random, int ranks, struct arena *arena)
{
	struct text text = text_open(arena);
	static const char *const dtypes[] = {"fp16", "fp16", "fp32", "fp8"};
	text_add(&text,
		"workload:\n  name: drawn\n  dtype: %s\n"
		"  dimensions: {m: %d, k: %d, n: %d, h: %d}\n  ops:\n",
		dtypes[random_below(random, 3)], 1 + (int)random_below(random, 40),
		1 + (int)random_below(random, 150), 1 + (int)random_below(random, 150),
		1 + (int)random_below(random, 4));
	bool biased = random_below(random, 2), deep = random_below(random, 2);
	bool again = random_below(random, 2);
	add_broadcast(&text, random, ranks, "w", "w0", "k,n");
	text_add(&text, "    - z[m,k] = x[m,k] * 2\n    - c[m,n] = sum(k) z[m,k] * w[k,n]\n");
	if (biased) {
		add_broadcast(&text, random, ranks, "b", "b0", "n");
		text_add(&text, "    - d[m,n] = c[m,n] + b[n]\n");
	}
	if (deep) {
		add_broadcast(&text, random, ranks, "v", "v0", "h,m,n");
		text_add(&text, "    - e[h,m,n] = v[h,m,n] * %s[m,n]\n", biased ? "d" : "c");
	}
	if (again) {
		add_broadcast(&text, random, ranks, "cc", "c", "m,n");
		text_add(&text, "    - f[m,n] = cc[m,n] - %s[m,n]\n", biased ? "d" : "c");
	}
	const char *complaints;
	const struct workload *workload = workload_of_text(arena, text_read(&text), &complaints);
	if (!workload)
		BUG("%s\n%s", complaints, text_read(&text));
	return workload;
}

/* Any tile that fits, not only what is worth trying; sometimes what is. */
static const struct staging_menu *draw_menus(struct random *random, const struct arch *arch,
	const struct workload *workload, int64_t most, struct arena *arena)
{
	struct staging_menu *menus =
		arena_array(arena, struct staging_menu, workload->op_count + 1);
	size_t count = 0;
	if (random_below(random, 4) == 0)
		return staging_menus(arch, workload, 0, arena);
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		if (op->primitive->kind != OP_BROADCAST)
			continue;
		const struct layout *layout = &workload->tensors[op->reads[0].tensor].layout;
		struct sliding sliding = sliding_make(layout);
		struct staging staging = {
			.rows = sliding.outer * sliding.rows, .sticks = sliding.sticks};
		if (random_below(random, 5) || staging_bytes(&staging) > most) {
			staging.rows = 1 + (int64_t)random_below(random, (uint64_t)sliding.rows);
			staging.sticks =
				1 + (int64_t)random_below(random, (uint64_t)sliding.sticks);
		}
		while (staging_bytes(&staging) > most)
			staging.rows = 1, staging.sticks = number_ceil_div(staging.sticks, 2);
		int64_t bytes = number_align_up(
			staging_bytes(&staging), arch->levels[arch->lx].storage.alignment);
		int64_t tiles = number_min(4, staging_chunks(&sliding, &staging));
		tiles = number_min(1 + (int64_t)random_below(random, (uint64_t)tiles),
			number_max(1, most / bytes));
		struct staging_option *option = arena_new(arena, struct staging_option);
		*option = (struct staging_option){
			staging.rows, staging.sticks, (int)tiles, tiles * bytes, 0};
		menus[count++] = (struct staging_menu){op->name, 1, option};
	}
	return menus;
}

struct drawn {
	struct arena *arena;
	const struct arch *arch;
	const struct workload *workload;
	const struct plan *plan;
	const char *where;
};

static struct drawn draw(uint64_t seed, long i)
{
	static const char *const placers[] = {"greedy", "bestfit", "firstfit", "exact"};
	struct arena *arena = arena_open();
	struct random random = random_open(seed, (uint64_t)i);
	struct drawn drawn = {.arena = arena, .arch = draw_arch(&random, arena)};
	drawn.workload = draw_workload(&random, (int)drawn.arch->ranks, arena);
	drawn.where = arena_format(arena, "draw %ld of seed %" PRIu64, i, seed);
	struct planning planning = planning_default(drawn.arch);
	planning.lx_planning = random_below(&random, 8) > 0;
	planning.place_ticks = 2000;
	planning.menus =
		draw_menus(&random, drawn.arch, drawn.workload, planning.lx_capacity, arena);
	struct recipe recipe = {.arch = drawn.arch,
		.workload = drawn.workload,
		.planning = planning,
		.place = solver_find(STAGE_PLACE, placers[random_below(&random, 4)])};
	struct recipe_result made = recipe_plan(&recipe, arena);
	if (!made.plan)
		fail_msg("%s: %s", drawn.where, made.why);
	drawn.plan = made.plan;
	return drawn;
}

/* Sums are whole numbers, and all functions exact on them. */
static void compare_ranks(const struct drawn *drawn, const struct executed *executed)
{
	const struct workload *workload = drawn->plan->workload;
	struct users users = users_make(drawn->arena, workload);
	for (int r = 0; r < executed->program->ranks; r++)
		for (size_t t = 0; t < workload->tensor_count; t++) {
			const void *got = executed->result.rank_outputs[r][t];
			int root = users_root(workload, &users, (int)t);
			if (!got || (root >= 0 && root != r))
				continue;
			struct comparison comparison = reference_compare(
				&workload->tensors[t], executed->rank_expected[r][t], got);
			if (comparison.different)
				fail_msg("%s: rank %d: tensor '%s': %" PRId64 " of %" PRId64
					 " elements differ",
					drawn->where, r, workload->tensors[t].name,
					comparison.different, comparison.elements);
		}
}

static bool is_caught(const struct program *program, struct arena *arena)
{
	struct sim_options options = {.mode = SIM_IDENTITY};
	return sim_run(program, &options, arena).fault_count > 0;
}

struct met {
	long chunked, several, moved, broken;
	double ratio;
};

static void runs_as_the_model_says(const struct drawn *drawn, struct met *met)
{
	struct executed executed = execute_plan(drawn->plan, 7, true, drawn->arena);
	if (executed.why)
		fail_msg("%s: %s\n%s", drawn->where, executed.why,
			executed.program ? program_text(drawn->arena, executed.program) : "");
	compare_ranks(drawn, &executed);
	if (is_caught(executed.program, drawn->arena))
		fail_msg("%s: a fault with identities", drawn->where);
	assert_true(energy_of_counts(drawn->plan, &executed.result.counts, drawn->arena) ==
		    executed.cost.score.energy_pj);
	met->ratio = fmax(
		met->ratio, (double)executed.result.cycles / (double)executed.cost.score.cycles);
	for (int s = 0; s < drawn->plan->step_count; s++) {
		const struct staging *staging = drawn->plan->steps[s].staging;
		const struct op *op = &drawn->plan->workload->ops[drawn->plan->steps[s].op];
		if (!staging)
			continue;
		struct sliding sliding =
			sliding_make(&drawn->plan->workload->tensors[op->reads[0].tensor].layout);
		met->chunked += staging_chunks(&sliding, staging) > 1;
		met->several += staging->count > 1;
	}
	for (int i = 0; i < drawn->plan->residency_count; i++)
		met->moved += drawn->plan->residencies[i].place == PLACE_LX;
}

TEST(random_graphs_run_on_all_ranks)
{
	uint64_t seed = draws_seed(61);
	long count = draws(150);
	struct met met = {0};
	for (long i = 0; i < count; i++) {
		struct drawn drawn = draw(seed, i);
		runs_as_the_model_says(&drawn, &met);
		arena_close(drawn.arena);
	}
	print_message("%ld broadcasts in chunks, %ld through several tiles, %ld tensors in LX; "
		      "cycles up to %.2f of the model's\n",
		met.chunked, met.several, met.moved, met.ratio);
	assert_true(!draws_are_many(count) || (met.chunked && met.several && met.moved));
}

static const char *plan_text(const struct plan *plan, struct arena *arena)
{
	struct text text = text_open(arena);
	plan_write(plan, &text);
	return text_read(&text);
}

TEST(plans_come_back_from_their_files)
{
	uint64_t seed = draws_seed(62);
	long count = draws(60);
	for (long i = 0; i < count; i++) {
		struct drawn drawn = draw(seed, i);
		const char *text = plan_text(drawn.plan, drawn.arena);
		struct diag *diag = diag_open(drawn.arena);
		struct sheet *sheet = sheet_open(drawn.arena, diag);
		sheet_add(
			sheet, node_read_text(drawn.arena, "plan.yaml", text, strlen(text), diag));
		struct reading reading = sheet_reading(sheet);
		const struct plan *again =
			plan_read(&reading, sheet_find(sheet, "plan"), drawn.arch, drawn.workload);
		if (!again)
			fail_msg("%s: %s\n%s", drawn.where, complaints_text(drawn.arena, diag),
				text);
		assert_string_equal(plan_text(again, drawn.arena), text);
		arena_close(drawn.arena);
	}
}

/* Mutates one instruction of a broadcast; false if the change need not show. */
typedef bool mutation(struct mutable_program *mutant, uint32_t i);

static bool is_read_next(const struct program *program, int tensor, int step)
{
	if (step + 1 == program->step_count)
		return false;
	const struct op *op = &program->workload->ops[program->step_ops[step + 1]];
	for (int i = 0; i < op->read_count; i++)
		if (op->reads[i].tensor == tensor)
			return true;
	return false;
}

/* A load that does not wait for the tile's last store; a store that does not wait for its load. */
static bool forget_dependences(struct mutable_program *mutant, uint32_t i)
{
	struct instruction *head = mutant->instructions[i].head;
	for (size_t k = 0; k < head->dependence_count; k++) {
		const struct instruction *before =
			&mutant->program.instructions[head->dependences[k]];
		if (before->engine == ENGINE_SYNC || before->step != head->step)
			continue;
		head->dependence_count = 0;
		return true;
	}
	return false;
}

static bool send_elsewhere(struct mutable_program *mutant, uint32_t i)
{
	if (mutant->instructions[i].head->engine != ENGINE_DMA_OUT)
		return false;
	int *rank = &mutant->instructions[i].transfer->rank;
	*rank = (*rank + 1) % (mutant->program.ranks + 1);
	return true;
}

static bool keep_at_home(struct mutable_program *mutant, uint32_t i)
{
	struct mutable_instruction *instruction = &mutant->instructions[i];
	instruction->head->mask = 0;
	return true;
}

static bool shift_tile(struct mutable_program *mutant, uint32_t i)
{
	mutant->instructions[i].transfer_box->lx.address += STICK_BYTES;
	return true;
}

/* The phase ends before its last store does. */
static bool end_early(struct mutable_program *mutant, uint32_t i)
{
	const struct instruction *last = mutant->instructions[i].head;
	if (last->engine != ENGINE_DMA_OUT ||
		!is_read_next(&mutant->program, last->transfer->box->region.tensor, last->step))
		return false;
	for (uint32_t j = i + 1; j < mutant->program.instruction_count; j++) {
		struct instruction *sync = mutant->instructions[j].head;
		for (size_t k = 0; sync->engine == ENGINE_SYNC && k < sync->dependence_count; k++) {
			if (sync->dependences[k] != i)
				continue;
			mutant->instructions[j].dependences[k] =
				sync->dependences[sync->dependence_count - 1];
			sync->dependence_count--;
			return true;
		}
	}
	return false;
}

static void faults_are_caught(mutation *mutate, const char *what, uint64_t stream)
{
	uint64_t seed = draws_seed(stream);
	long count = draws(12), caught = 0;
	for (long d = 0; d < count; d++) {
		struct drawn drawn = draw(seed, d);
		const char *why;
		const struct program *program = lower_plan(drawn.plan, drawn.arena, &why);
		for (uint32_t i = 0; i < program->instruction_count; i++) {
			if (!program_broadcast(program, &program->instructions[i]) ||
				(program->instruction_count > 100 && i % 13))
				continue;
			struct arena_mark mark = arena_mark(drawn.arena);
			struct mutable_program *mutant = mutable_copy(drawn.arena, program);
			if (mutate(mutant, i)) {
				caught++;
				if (!is_caught(&mutant->program, drawn.arena))
					fail_msg("%s: %s: instruction %u is not caught\n%s",
						drawn.where, what, i,
						program_text(drawn.arena, &mutant->program));
			}
			arena_release(drawn.arena, mark);
		}
		arena_close(drawn.arena);
	}
	print_message("%s: %ld caught\n", what, caught);
	assert_true(!draws_are_many(count) || caught > 0);
}

TEST(what_does_not_wait_is_caught)
{
	faults_are_caught(forget_dependences, "dependences forgotten", 63);
}

TEST(what_reads_before_arrival_is_caught)
{
	faults_are_caught(end_early, "ended early", 64);
}

TEST(what_arrives_elsewhere_is_caught)
{
	faults_are_caught(send_elsewhere, "sent elsewhere", 65);
	faults_are_caught(keep_at_home, "not sent", 66);
	faults_are_caught(shift_tile, "another place in LX", 67);
}
