#include "base/arena.h"
#include "lower/graph/lower.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "search/graph/stream.h"
#include "tests/support/adversary_case.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/plan_mutant.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/*
 * An adversary of proofs about whole plans: it changes a plan that is proven to be best at random,
 * in every field of a plan. No valid plan that results may be worth less than the proven bound,
 * unless it gains by a kind of decision that the claim names as fixed: without it, the gain is
 * lost. A counterexample is shrunk and printed; FINDINGS=DIR keeps it there, in the form of the
 * family `joint` of `make cases`.  MUTANTS= the number of changes of each plan; if N or TIMES sets
 * more graphs than the default, each graph has more mutants, too.  FIRST=G begins at graph G, so
 * that N graphs can be attacked in parts: a part draws what the whole draws.
 */
enum {
	GRAPHS = 40,
	MUTANTS = 500,
	MUTANTS_OF_MANY = 2000,
	WALK = 30,        /* changes before it begins again from the proven plan */
	CHANGES_MOST = 4, /* at once */
	LABELS = 60000,
	KIND_BITS = 32,
};

struct tally {
	long graphs, refused, proven, infeasible, untaken, mutants, built, valid, equal, beaten,
		left_out, torn;
	long kinds[MUTATIONS];
	long named[KIND_BITS]; /* by bit of enum joint_kind: better mutants that need it */
};

struct hunt {
	const struct adversary_case *of;
	const struct adversary_claim *claim;
	struct arena *arena;  /* of one plan */
	double off;           /* rounding of energies */
	unsigned start_kinds; /* of the proven plan, of those that the claim names as fixed */
};

/* The plan of a draft and its worth; NULL where it is not valid. */
static struct plan *judge(const struct hunt *hunt, const struct plan_draft *draft, double *worth)
{
	const char *why = NULL;
	struct plan *plan = draft_plan(draft, hunt->arena);
	if (!plan)
		return NULL;
	*worth = adversary_worth(hunt->of, plan, &why, hunt->arena);
	return why ? NULL : plan;
}

static bool beats(const struct hunt *hunt, double worth)
{
	return hunt->claim->infeasible || worth < hunt->claim->bound - hunt->off;
}

/* True if no phase of a program reaches over the end of a bundle: all of a bundle is done before the next begins. */
static bool bundles_are_apart(const struct plan *plan, const struct program *program)
{
	int bundle = 0;
	bool is_done = true;
	for (uint32_t i = 0; i < program->instruction_count; i++) {
		const struct instruction *at = &program->instructions[i];
		if (at->engine == ENGINE_SYNC) {
			is_done = true;
			continue;
		}
		if (plan->steps[at->step].bundle != bundle && !is_done)
			return false;
		bundle = plan->steps[at->step].bundle;
		is_done = false;
	}
	return true;
}

/* Counts a plan that is carried out otherwise than plans say. */
static bool can_run(const struct hunt *hunt, const struct plan *plan, struct tally *tally)
{
	const char *why = NULL;
	const struct program *program = lower_plan(plan, hunt->arena, &why);
	tally->torn += program && !bundles_are_apart(plan, program);
	return program;
}

/* As `check` has it: with an identity in every stick of memory. */
static bool runs(const struct hunt *hunt, const struct plan *plan)
{
	const char *why = NULL;
	const struct program *program = lower_plan(plan, hunt->arena, &why);
	struct sim_options options = {.mode = SIM_IDENTITY, .seed = 1};
	if (!program)
		return false;
	struct sim_result result = sim_run(program, &options, hunt->arena);
	return result.finished && !result.fault_count;
}

/* The kinds of decisions that a plan makes and the claim names as fixed. */
static unsigned kinds_left_out(const struct hunt *hunt, const struct plan_draft *draft)
{
	struct arena *arena = arena_open();
	const struct plan *plan = draft_plan(draft, arena);
	const char *space = hunt->claim->plan ? hunt->claim->plan->proof.space : NULL;
	unsigned kinds = plan ? adversary_left_out(plan, hunt->of->workload, space, arena) : 0;
	arena_close(arena);
	return kinds;
}

static bool only_beats(const struct plan_draft *draft, void *context)
{
	struct hunt hunt = *(struct hunt *)context;
	double worth = 0;
	hunt.arena = arena_open();
	const struct plan *plan = judge(&hunt, draft, &worth);
	bool holds = plan && beats(&hunt, worth) && runs(&hunt, plan);
	arena_close(hunt.arena);
	return holds;
}

/* Returns the kinds of decisions by which a better plan gains and that the claim names as fixed.  Changes that do not
 * gain are taken back, one at a time; each that is left is needed, and one of them makes a decision of such a kind. */
static unsigned find_excuse(
	struct hunt *hunt, const struct plan_draft *start, struct plan_draft *found)
{
	if (kinds_left_out(hunt, found))
		draft_shrink(start, found, only_beats, hunt);
	return kinds_left_out(hunt, found) & ~hunt->start_kinds;
}

static void count_excuse(struct tally *tally, unsigned kinds)
{
	tally->left_out++;
	for (int k = 0; k < KIND_BITS; k++)
		tally->named[k] += kinds >> k & 1;
}

static bool still_beats(const struct plan_draft *draft, void *context)
{
	const struct hunt *hunt = context;
	return !(kinds_left_out(hunt, draft) & ~hunt->start_kinds) && only_beats(draft, context);
}

static void report(struct hunt *hunt, const struct plan_draft *start, struct plan_draft found,
	uint64_t seed, long graph)
{
	double worth = 0;
	const char *folder = getenv("FINDINGS");
	struct arena *arena = arena_open();
	draft_shrink(start, &found, still_beats, hunt);
	struct hunt again = *hunt;
	again.arena = arena;
	const struct plan *plan = judge(&again, &found, &worth);
	const char *wrong = execute_exactly(plan, seed, arena);
	struct text text = text_open(arena);
	plan_write(plan, &text);
	struct text changes = text_open(arena);
	draft_differences(start, &found, &changes);
	const char *note = arena_format(arena,
		"SEED=%" PRIu64 ", graph %ld: %s; worth %.17g, bound %.17g (%.2f %%)%s\n"
		"executed: %s\nchanged: %s\n",
		seed, graph, hunt->claim->plan ? hunt->claim->plan->proof.space : "infeasible",
		worth, hunt->claim->bound, 100 * (hunt->claim->bound - worth) / hunt->claim->bound,
		hunt->claim->infeasible ? ", called infeasible" : "",
		wrong ? wrong : "as the model says", text_read(&changes));
	print_message(
		"%s%s%s%s\n", note, hunt->of->arch_yaml, hunt->of->workload_yaml, text_read(&text));
	if (folder)
		adversary_write(hunt->of, hunt->claim, plan,
			arena_format(arena, "%s/seed-%" PRIu64 "-%ld", folder, seed, graph), note);
	arena_close(arena);
}

/* One change or some; streaming tiles by what they cost now and then. */
static void change(struct random *random, const struct hunt *hunt, struct plan_draft *draft,
	struct tally *tally)
{
	int count = 1 + (int)draw_below(random, CHANGES_MOST);
	bool is_run = false;
	for (int i = 0; i < count; i++) {
		enum mutation mutation = draft_mutate(
			random, draft, !(hunt->of->aim.fixed & KIND_RELAY), hunt->arena);
		tally->kinds[mutation]++;
		is_run |= mutation == MUTATE_RUN && draft->run_count;
	}
	if (!draw_chance(random, is_run ? 2 : 4))
		return;
	const char *why;
	struct plan *plan = draft_plan(draft, hunt->arena);
	if (!plan || plan_check(plan, hunt->arena).count ||
		!stream_plan(plan, NULL, hunt->arena, &why))
		return;
	draft_take(plan, draft->workload, draft, hunt->arena);
}

/* False once it has found a plan that is better. */
static bool attack(struct random *random, struct hunt *hunt, const struct plan_draft *start,
	uint64_t seed, long graph, long mutants, struct tally *tally)
{
	struct plan_draft now = *start;
	double value = INFINITY;
	hunt->start_kinds = kinds_left_out(hunt, start);
	for (long i = 0; i < mutants; i++) {
		struct plan_draft next = i % WALK ? now : *start;
		double worth = 0;
		hunt->arena = arena_open();
		change(random, hunt, &next, tally);
		tally->mutants++;
		const struct plan *plan = judge(hunt, &next, &worth);
		bool found = plan && beats(hunt, worth);
		bool valid = plan && (found ? runs(hunt, plan) : can_run(hunt, plan, tally));
		arena_close(hunt->arena);
		if (i % WALK == 0) {
			now = *start;
			value = INFINITY;
		}
		if (!valid)
			continue;
		tally->valid++;
		tally->equal += worth == hunt->claim->bound;
		struct plan_draft least = next;
		unsigned excuse = found ? find_excuse(hunt, start, &least) : 0;
		if (excuse) {
			count_excuse(tally, excuse);
			continue;
		}
		if (found) {
			report(hunt, start, least, seed, graph);
			return false;
		}
		if (worth <= value * 1.1) {
			now = next;
			value = worth;
		}
	}
	return true;
}

/* A plan with everything in HBM, where none is proven. */
static void begin_plain(const struct adversary_case *of, struct plan_draft *draft)
{
	*draft = (struct plan_draft){
		.arch = of->arch, .workload = of->workload, .cores = of->planning.cores};
	for (size_t o = 0; o < of->workload->op_count; o++)
		draft->ops[o] = (struct draft_op){.begins_bundle = o > 0,
			.mapping = mapping_make(of->arch, &of->workload->ops[o])};
}

static void challenge(
	struct random *random, uint64_t seed, long graph, long mutants, struct tally *tally)
{
	struct arena *arena = arena_open();
	struct adversary_case of;
	struct plan_draft start;
	while (!adversary_draw(random, &of, arena))
		tally->refused++;
	tally->graphs++;
	struct adversary_claim claim = adversary_ask(&of, LABELS, arena);
	struct hunt hunt = {.of = &of,
		.claim = &claim,
		.off = of.aim.energy ? 64 * (double)of.aim.energy + 1e-12 * claim.bound : 0.5};
	tally->proven += claim.proven;
	tally->infeasible += claim.infeasible;
	begin_plain(&of, &start);
	bool taken = !claim.plan || draft_take(claim.plan, of.workload, &start, arena);
	if ((claim.proven || claim.infeasible) && taken)
		tally->beaten += !attack(random, &hunt, &start, seed, graph, mutants, tally);
	tally->untaken += claim.proven && !taken;
	arena_close(arena);
}

TEST(test_nothing_beats_what_is_proven)
{
	uint64_t seed = draws_seed(35);
	const char *given = getenv("MUTANTS");
	long graphs = draws(GRAPHS);
	const char *first = getenv("FIRST");
	long mutants = given ? atol(given) : graphs > GRAPHS ? MUTANTS_OF_MANY : MUTANTS;
	struct tally tally = {0};
	for (long g = first ? atol(first) : 0; tally.graphs < graphs; g++) {
		struct random random = random_open(seed, (uint64_t)g);
		challenge(&random, seed, g, mutants, &tally);
	}
	print_message(
		"%ld graphs (%ld draws refused), %ld proven, %ld of them not attacked, %ld infeasible; %ld mutants, "
		"%ld valid, %ld as good as the best, %ld better by what claims leave out; %ld proofs beaten, "
		"%ld bundles torn\n",
		tally.graphs, tally.refused, tally.proven, tally.untaken, tally.infeasible,
		tally.mutants, tally.valid, tally.equal, tally.left_out, tally.beaten, tally.torn);
	for (int k = 0; k < MUTATIONS; k++)
		print_message("  %s %ld", mutation_names[k], tally.kinds[k]);
	for (int k = 0; joint_kind_names[k]; k++)
		if (tally.named[k])
			print_message("  better by %s %ld", joint_kind_names[k], tally.named[k]);
	print_message("\n");
	assert_int_equal(tally.beaten, 0);
	assert_int_equal(tally.torn, 0);
	assert_int_equal(tally.untaken, 0);
	assert_true(!draws_are_many(graphs) ||
		    (tally.proven > graphs / 2 && tally.valid > tally.mutants / 20));
}
