#include "base/arena.h"
#include "base/fatal.h"
#include "base/random.h"
#include "model/graph/box_nest.h"
#include "model/graph/plan.h"
#include "model/graph/planning.h"
#include "search/drive/solver.h"
#include "tests/support/draws.h"
#include "tests/support/sample.h"
#include "tests/support/spyre.h"

#include <string.h>

#include "tests/test.h"

/*
 * The divisions of random ops: what `exhaustive` offers against all vectors of
 * factors, each looked at by itself; what `spyre` offers is among them.
 */
struct draw {
	struct arena *arena;
	const struct arch *arch;
	struct planning planning;
	const struct workload *workload;
};

static int below(struct random *random, int bound)
{
	return (int)random_below(random, (uint64_t)bound);
}

static struct draw make_draw(struct random *random)
{
	static const struct {
		enum op_kind kind;
		const char *operands, *loops;
	} shapes[] = {
		{OP_MAP, "mn->mn", "mn"},
		{OP_MAP, "bmn,.n->bmn", "bmn"},
		{OP_REDUCE, "mn->m.", "mn"},
		{OP_REDUCE, "mkn->..n", "nmk"},
		{OP_EINSUM, "mk,kn->mn", "mnk"},
		{OP_EINSUM, "bmk,bkn->bmn", "bmnk"},
	};
	static const int64_t sizes[] = {2, 3, 4, 6, 12, 30, 60, 64, 96, 128, 192, 320, 2048};
	static const enum dtype dtypes[] = {DTYPE_FP16, DTYPE_FP32, DTYPE_INT8};
	int s = below(random, sizeof shapes / sizeof *shapes);
	int64_t extents[OP_LOOPS_MOST];
	for (size_t l = 0; l < strlen(shapes[s].loops); l++)
		extents[l] = sizes[below(random, sizeof sizes / sizeof *sizes)];
	struct draw draw = {.arena = arena_open()};
	struct arch *arch = arena_copy(draw.arena, spyre_arch(draw.arena, 32), sizeof(struct arch));
	if (below(random, 4) == 0)
		arch->reduce_ring.reductions = NULL;
	draw.arch = arch;
	draw.planning = planning_default(draw.arch);
	draw.planning.cores = 1 + below(random, 32);
	draw.planning.strict = below(random, 2);
	draw.planning.k_fast = below(random, 2);
	draw.planning.span_limit = INT64_C(1) << (9 + below(random, 14));
	draw.workload = sample_op(draw.arena, shapes[s].kind, dtypes[below(random, 3)],
		shapes[s].operands, shapes[s].loops, extents);
	return draw;
}

static struct answer ask(const struct draw *draw, const char *solver)
{
	const struct problem problem = {
		.stage = STAGE_DIVIDE,
		.arch = draw->arch,
		.workload = draw->workload,
		.planning = &draw->planning,
	};
	return solve(solver_find(STAGE_DIVIDE, solver), &problem, 0, 1, draw->arena);
}

/* Sticks of a loop: of the output or of any read that has it last. */
static int64_t units(const struct workload *workload, int l)
{
	const struct op *op = workload->ops;
	int64_t most = 1;
	for (int i = 0; i < op_operands(op); i++) {
		const struct access *access = op_operand(op, i);
		const struct layout *layout = &workload->tensors[access->tensor].layout;
		if (!layout->sparse && access->host[layout->host_rank - 1].coefficient[l] &&
			layout->per_stick > most)
			most = layout->per_stick;
	}
	return (op->loops[l].extent + most - 1) / most;
}

static bool legal(const struct draw *draw, const struct iteration *iteration, const int64_t *splits)
{
	const struct op *op = draw->workload->ops;
	int64_t cores = 1;
	int reductions = 0;
	for (int l = 0; l < op->loop_count; l++) {
		if (units(draw->workload, l) % splits[l])
			return false;
		cores *= splits[l];
		reductions += op->loops[l].reduction && splits[l] > 1;
	}
	if (cores > draw->planning.cores ||
		(reductions > 0 && !draw->arch->reduce_ring.reductions) || reductions > 1)
		return false;
	for (int i = 0; draw->planning.strict && i < op_operands(op); i++)
		if (iteration_span(iteration, i, splits) > draw->planning.span_limit)
			return false;
	return true;
}

static bool splits_equal(
	const struct draw *draw, const struct mapping *mapping, const int64_t *splits)
{
	for (int l = 0; l < draw->workload->ops->loop_count; l++)
		if (mapping_split(draw->arch, mapping, l) != splits[l])
			return false;
	return true;
}

TEST(exhaustive_offers_all_legal_divisions_and_no_other)
{
	struct random random = random_open(draws_seed(31), 0);
	for (long n = draws(60); n > 0; n--) {
		struct draw draw = make_draw(&random);
		const struct op *op = draw.workload->ops;
		const char *why = NULL;
		const struct iteration *iteration =
			iteration_make(draw.arena, draw.workload, op, &why);
		struct answer answer = ask(&draw, "exhaustive");
		size_t at = 0;
		int64_t splits[OP_LOOPS_MOST], vectors = 1;
		for (int l = 0; l < op->loop_count; l++)
			vectors *= draw.planning.cores;
		for (int64_t v = 0; v < vectors; v++) {
			int64_t rest = v;
			for (int l = op->loop_count - 1; l >= 0; l--) {
				splits[l] = 1 + rest % draw.planning.cores;
				rest /= draw.planning.cores;
			}
			if (!legal(&draw, iteration, splits))
				continue;
			assert_true(at < answer.candidate_count);
			const struct mapping *mapping = answer.candidates[at++].mappings;
			assert_true(splits_equal(&draw, mapping, splits));
			assert_null(
				mapping_check(draw.arena, draw.arch, draw.workload, op, mapping));
		}
		assert_int_equal(at, answer.candidate_count);
		assert_int_equal(answer.complaint_count, at == 0);
		arena_close(draw.arena);
	}
}

static bool has_error(const struct answer *answer)
{
	for (size_t i = 0; i < answer->complaint_count; i++)
		if (answer->complaints[i].error)
			return true;
	return false;
}

TEST(spyre_offers_a_legal_division_or_an_error)
{
	struct random random = random_open(draws_seed(32), 0);
	for (long n = draws(400); n > 0; n--) {
		struct draw draw = make_draw(&random);
		const struct op *op = draw.workload->ops;
		struct answer made = ask(&draw, "spyre");
		struct answer all = ask(&draw, "exhaustive");
		assert_int_equal(made.candidate_count, 1);
		assert_null(mapping_check(draw.arena, draw.arch, draw.workload, draw.workload->ops,
			made.candidates[0].mappings));
		bool found = false;
		for (size_t i = 0; i < all.candidate_count; i++)
			found |= mapping_equal(
				all.candidates[i].mappings, made.candidates[0].mappings);
		/* A span may ask for a reduction that this machine cannot divide. */
		bool possible =
			draw.arch->reduce_ring.reductions ||
			mapping_reduction_split(draw.arch, op, made.candidates[0].mappings) == 1;
		if (!has_error(&made))
			assert_true(found == possible);
		else if (draw.planning.strict)
			assert_false(found);
		arena_close(draw.arena);
	}
}
