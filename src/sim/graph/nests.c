#include "sim/graph/nests.h"

#include "base/arena.h"
#include "sim/nest/nest.h"

#include <inttypes.h>
#include <string.h>

enum { FP32_BYTES = 4 };

/* Names, and where prices come from, play no part. */
static struct hierarchy without_names(const struct hierarchy *hierarchy)
{
	struct hierarchy plain;
	memcpy(&plain, hierarchy, sizeof plain);
	plain.compute_name = plain.compute_energy_source = plain.energy_source = NULL;
	for (int i = 0; i < plain.level_count; i++)
		plain.levels[i].name = plain.levels[i].energy_source = NULL;
	return plain;
}

static bool shapes_alike(const struct shape *a, const struct shape *b)
{
	bool alike = a->dimension_count == b->dimension_count && a->space_count == b->space_count;
	for (int d = 0; alike && d < a->dimension_count; d++)
		alike = a->dimensions[d].extent == b->dimensions[d].extent;
	for (int t = 0; alike && t < a->space_count; t++)
		alike = a->spaces[t].written == b->spaces[t].written &&
			a->spaces[t].rank_count == b->spaces[t].rank_count &&
			a->spaces[t].word_bits == b->spaces[t].word_bits &&
			memcmp(a->spaces[t].ranks, b->spaces[t].ranks, sizeof a->spaces[t].ranks) ==
				0;
	return alike;
}

/* True if two are one; padding that differs only has one executed twice. */
static bool nests_alike(const struct inner_nest *a, const struct inner_nest *b)
{
	if (!shapes_alike(a->shape, b->shape) || !mapping_equal(&a->mapping, &b->mapping))
		return false;
	struct hierarchy one = without_names(a->hierarchy), other = without_names(b->hierarchy);
	return memcmp(&one, &other, sizeof one) == 0;
}

/* The one of a step, which may be known already. */
static struct executed_nest *add_nest(struct nests *nests, const struct inner_nest *nest)
{
	const struct arch *arch = nests->program->arch;
	for (int i = 0; i < nests->count; i++)
		if (nests_alike(nests->distinct[i]->nest, nest))
			return nests->distinct[i];
	struct executed_nest *executed = arena_new(nests->arena, struct executed_nest);
	nests->distinct[nests->count++] = executed;
	executed->nest = nest;
	executed->home = arch->hbm < 0 ? -1 : hierarchy_level(nest->hierarchy, arch->hbm);
	executed->scratchpad = arch->lx < 0 ? -1 : hierarchy_level(nest->hierarchy, arch->lx);
	return executed;
}

static int64_t find_work(const struct executed_nest *nest)
{
	struct nest_counts counts = {0};
	enum nest_verdict verdict =
		nest_check(nest->nest->hierarchy, nest->nest->shape, &nest->nest->mapping, &counts);
	if (!nest_verdict_counts(verdict))
		return 0;
	return nest_check_work(nest->nest->hierarchy, nest->nest->shape, &nest->nest->mapping);
}

/* Steps x multipliers of what is executed with values, which is every tile. */
static int64_t find_work_with_values(const struct nests *nests)
{
	const struct program *program = nests->program;
	int64_t all = 0, one = 0;
	const struct executed_nest *latest = NULL;
	for (size_t i = 0; i < program->instruction_count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		if (instruction->engine != ENGINE_COMPUTE || !instruction->compute->nest)
			continue;
		const struct executed_nest *nest =
			nests_of(nests, instruction->step, instruction->compute);
		if (nest != latest)
			one = find_work(nest);
		latest = nest;
		if (!number_add(all, one, &all))
			return INT64_MAX;
	}
	return all;
}

static struct nest_sim_options find_options(const struct nests *nests)
{
	struct nest_sim_options options = {.timing = true,
		.fault = (enum nest_sim_fault)nests->options->nest_fault,
		.fault_at = nests->options->nest_fault_at};
	if (nests->options->stopper)
		options.stopper = *nests->options->stopper;
	return options;
}

/* What is left of the steps of multipliers becomes less by those that it takes. */
static void execute(struct nests *nests, struct executed_nest *nest, uint64_t *left)
{
	struct arena *arena = arena_open();
	struct nest_sim_options options = find_options(nests);
	options.steps_most = *left;
	nest->sim = nest_simulate(
		nest->nest->hierarchy, nest->nest->shape, &nest->nest->mapping, &options, arena);
	if (nest->sim.wrong)
		nest->sim.wrong = arena_text(nests->arena, nest->sim.wrong);
	if (!nest->sim.finished)
		nests->too_long = nest->sim.wrong;
	else if (*left)
		*left = nest->sim.work < *left ? *left - nest->sim.work : 1;

	arena_close(arena);
}

static int index_of(int step, bool resumes)
{
	return 2 * step + resumes;
}

struct nests *nests_open(
	const struct program *program, const struct sim_options *options, struct arena *arena)
{
	struct nests *nests = arena_new(arena, struct nests);
	*nests = (struct nests){.program = program, .options = options, .arena = arena};
	nests->by_step = arena_array(arena, struct executed_nest *, 2 * program->step_count);
	nests->distinct = arena_array(arena, struct executed_nest *, 2 * program->step_count);
	for (size_t i = 0; i < program->instruction_count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		if (instruction->engine != ENGINE_COMPUTE || !instruction->compute->nest)
			continue;
		const struct inner_nest *nest = instruction->compute->nest;
		struct executed_nest **of_step =
			&nests->by_step[index_of(instruction->step, nest->hierarchy->resumes)];
		if (!*of_step)
			*of_step = add_nest(nests, nest);
		nests->tiles++;
	}
	uint64_t left = options->steps_most;
	int64_t work = options->mode == SIM_DATA ? find_work_with_values(nests) : 0;
	if (left && work > (int64_t)left)
		nests->too_long = arena_format(arena,
			"its nests take %" PRId64 " steps of multipliers, and at most %" PRIu64
			" are taken",
			work, options->steps_most);
	if (left)
		left = number_max((int64_t)left - work, 1);
	for (int i = 0; i < nests->count && !nests->too_long; i++)
		execute(nests, nests->distinct[i], &left);
	return nests;
}

const struct executed_nest *nests_find(const struct nests *nests, int step, bool resumes)
{
	return nests->by_step[index_of(step, resumes)];
}

const struct executed_nest *nests_of(
	const struct nests *nests, int step, const struct compute *compute)
{
	bool resumes = compute->nest && compute->nest->hierarchy->resumes;
	return nests_find(nests, step, resumes);
}

static int64_t stored_bytes(const struct nests *nests, const struct op *op, int operand)
{
	int tensor = op_operand(op, operand)->tensor;
	return dtype_stored_bytes(nests->program->workload->tensors[tensor].layout.dtype);
}

/* Only the last update of a word, and only of a tile that finishes, writes an element. */
struct nest_bytes nests_bytes(const struct nests *nests, int step, const struct compute *compute)
{
	const struct executed_nest *nest = nests_of(nests, step, compute);
	const struct op *op = &nests->program->workload->ops[compute->op];
	const struct nest_count *count = nest->sim.counts.at[nest->scratchpad];
	const struct nest_count *sums = &count[op->read_count];
	struct nest_bytes bytes = {0};
	for (int i = 0; i < op->read_count; i++) {
		bytes.reads[i] = number_times(count[i].reads, stored_bytes(nests, op, i));
		bytes.read = number_plus(bytes.read, bytes.reads[i]);
	}
	int64_t loads = number_plus(sums->reads, compute->accumulator_read ? sums->capacity : 0);
	int64_t word = compute->finish ? stored_bytes(nests, op, op->read_count) : FP32_BYTES;
	bytes.again = number_times(FP32_BYTES, loads);
	bytes.read = number_plus(bytes.read, bytes.again);
	bytes.written = number_plus(number_times(FP32_BYTES, sums->updates - sums->capacity),
		number_times(word, sums->capacity));
	return bytes;
}

const char *nests_wrong(const struct nests *nests, const struct executed_nest *nest)
{
	if (nest->sim.verdict != NEST_FITS)
		return "its nest cannot be carried out";
	if (!nest->sim.right)
		return arena_format(nests->arena, "its nest, %s", nest->sim.wrong);
	return NULL;
}

static struct nest_array_view view_of(const struct tile_operand *operand)
{
	struct nest_array_view view = {.at = operand->values};
	for (int h = 0; h < operand->touch.layout->host_rank; h++) {
		view.size[h] = operand->touch.to[h] - operand->touch.from[h] + 1;
		view.stride[h] = operand->stride[h];
	}
	return view;
}

const char *nests_compute(const struct nests *nests, int step, const struct compute *compute,
	const struct tile_operand *reads, struct tile_operand *output, kernel_function kernel)
{
	const struct executed_nest *nest = nests_of(nests, step, compute);
	const struct op *op = &nests->program->workload->ops[compute->op];
	struct nest_values values = {.primitive = op->primitive,
		.constant = (float)op->constant,
		.kernel = kernel,
		.resumes = compute->accumulator_read};
	for (int l = 0; l < op->loop_count; l++)
		values.extents[l] = compute->count[l];
	for (int i = 0; i < op->read_count; i++)
		values.views[i] = view_of(&reads[i]);
	values.views[op->read_count] = view_of(output);
	struct nest_sim_options options = find_options(nests);
	options.data = true;
	options.timing = false;
	options.values = &values;
	struct arena *arena = arena_open();
	struct nest_sim sim = nest_simulate(
		nest->nest->hierarchy, nest->nest->shape, &nest->nest->mapping, &options, arena);
	const char *why = sim.finished ? NULL : arena_text(nests->arena, sim.wrong);
	arena_close(arena);
	return why;
}
