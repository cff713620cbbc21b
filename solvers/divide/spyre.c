#include "search/drive/solver.h"

#include "solvers/divide/two_pass.h"

#include "base/arena.h"
#include "base/number.h"

#include <inttypes.h>

/*
 * The published division, op by op.  What it stores may lose or double splits;
 * a mapping never does: a split that our machine cannot run is not taken over.
 * Where no ring can combine a reduction, only a span limit divides it.
 */
struct op_division {
	struct run *run;
	const struct problem *problem;
	const struct iteration *iteration;
	int op;
	int64_t limit, cores;
	bool combines; /* what is left of a divided reduction can become one */
};

static void complain_of_span(const struct op_division *d, const struct two_pass *made, int operand,
	const int64_t *splits)
{
	struct arena *arena = run_arena(d->run);
	const struct iteration *iteration = d->iteration;
	const char *op = iteration->op->name, *tensor = iteration_tensor(iteration, operand)->name;
	int64_t span = iteration_span(iteration, operand, splits);
	struct span_padding padding =
		padding_find(arena, iteration, operand, made->least.splits, d->limit, d->cores);
	const char *remedy = "", *dimension = "";
	if (padding.loop >= 0) {
		const char *name = iteration->op->loops[padding.loop].name;
		dimension = arena_format(arena, " along '%s'", name);
		if (!padding.extent)
			remedy = arena_format(arena,
				"; no padding of '%s' helps on %" PRId64 " cores", name, d->cores);
		else if (iteration->stick[padding.loop])
			remedy = arena_format(arena,
				"; padding '%s' from %" PRId64 " to %" PRId64 " elements (%" PRId64
				" instead of %" PRId64 " sticks) would help",
				name, iteration->range[padding.loop], padding.extent, padding.size,
				iteration->size[padding.loop]);
		else
			remedy = arena_format(arena,
				"; padding '%s' from %" PRId64 " to %" PRId64 " would help", name,
				iteration->range[padding.loop], padding.extent);
	}
	run_complain(d->run, d->problem->planning->strict, d->op,
		"op '%s': a core would span %" PRId64 " bytes of '%s'%s, the limit is %" PRId64
		"%s",
		op, span, tensor, dimension, d->limit, remedy);
}

static void complain_of_reductions(const struct op_division *d, const struct two_pass *made)
{
	struct arena *arena = run_arena(d->run);
	const char *names = "";
	for (int l = 0; l < d->iteration->loop_count; l++)
		if (made->search.reductions >> l & 1)
			names = arena_format(arena, "%s%s'%s'", names, *names ? " and " : "",
				d->iteration->op->loops[l].name);
	run_complain(d->run, true, d->op,
		"op '%s': the span limit of %" PRId64
		" bytes asks to divide the reduction loops %s; "
		"at most one can be divided",
		d->iteration->op->name, d->limit, names);
}

/* What was read back, unless storing doubled a split: then what was meant. */
static void take(const struct op_division *d, const struct two_pass *made, int64_t *splits)
{
	const struct op *op = d->iteration->op;
	int64_t cores = 1;
	int reductions = 0;
	for (int l = 0; l < op->loop_count; l++) {
		cores *= made->final.splits[l];
		reductions += op->loops[l].reduction && made->final.splits[l] > 1;
	}
	bool doubled = cores > d->cores || reductions > 1;
	for (int l = 0; l < op->loop_count; l++) {
		splits[l] = doubled ? made->given[l] : made->final.splits[l];
		if (op->loops[l].reduction && !d->combines && made->least.splits[l] == 1)
			splits[l] = 1;
		int64_t units = op_units(d->problem->workload, op, l);
		if (units % splits[l] == 0)
			continue;
		run_complain(d->run, false, d->op,
			"op '%s': loop '%s' stays whole, %" PRId64 " does not divide its %" PRId64
			" indivisible units",
			op->name, op->loops[l].name, splits[l], units);
		splits[l] = 1;
	}
}

static void divide(struct op_division *d, int64_t *splits)
{
	struct arena *arena = run_arena(d->run);
	const struct planning *planning = d->problem->planning;
	const struct op *op = &d->problem->workload->ops[d->op];
	const char *why = NULL;
	for (int l = 0; l < op->loop_count; l++)
		splits[l] = 1;
	if (!core_row_divisible(op))
		return;
	d->iteration = iteration_make(arena, d->problem->workload, op, &why);
	if (!d->iteration) {
		run_complain(d->run, planning->strict, d->op, "op '%s': %s", op->name, why);
		return;
	}
	d->combines = ring_reduces(&d->problem->arch->reduce_ring, op->primitive->partial);
	struct two_pass made = two_pass_divide(
		arena, d->iteration, d->limit, d->cores, planning->k_fast && d->combines);
	run_spend(d->run, made.search.tried + 1);
	if (made.refused) {
		complain_of_reductions(d, &made);
		return;
	}
	take(d, &made, splits);
	for (int i = 0; i < d->iteration->operand_count; i++)
		if (iteration_span(d->iteration, i, splits) > d->limit)
			complain_of_span(d, &made, i, splits);
}

static void run_spyre(struct run *run, const struct problem *problem)
{
	const struct planning *planning = problem->planning;
	struct arena *arena = run_arena(run);
	int first = problem->op < 0 ? 0 : problem->op;
	int end = problem->op < 0 ? (int)problem->workload->op_count : first + 1;
	struct mapping *mappings = arena_array(arena, struct mapping, end - first);
	for (int o = first; o < end; o++) {
		if (!run_go_on(run, 1))
			return;
		int64_t splits[OP_LOOPS_MOST];
		struct op_division d = {
			.run = run,
			.problem = problem,
			.op = o,
			.limit = core_row_span(planning, &problem->workload->ops[o], true),
			.cores =
				core_row_cores(problem->arch, planning, &problem->workload->ops[o]),
		};
		divide(&d, splits);
		mappings[o - first] = core_row_mapping(
			problem->arch, planning, &problem->workload->ops[o], splits);
	}
	struct candidate candidate = {.stage = STAGE_DIVIDE, .mappings = mappings};
	run_offer(run, &candidate, 0);
}

const struct solver divide_spyre_solver = {
	.stage = STAGE_DIVIDE,
	.name = "spyre",
	.summary = "the published passes: least division for the span, then all cores",
	.purposes = FOR_GRAPHS,
	.run = run_spyre,
};
