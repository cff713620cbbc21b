#include "sim/graph/chip.h"

#include "base/arena.h"
#include "sim/machine/kernel.h"
#include "sim/nest/nest.h"

#include <inttypes.h>
#include <string.h>

enum { OPERANDS_MOST = OP_READS_MOST + 1 };

bool tile_open(const struct workload *workload, const struct op *op, const struct compute *compute,
	int operand, struct tile_operand *out)
{
	*out = (struct tile_operand){.size = 1};
	if (!touch_make(workload, op, compute, operand, &out->touch))
		return false;
	for (int h = out->touch.layout->host_rank - 1; h >= 0; h--) {
		out->stride[h] = out->size;
		out->size *= out->touch.to[h] - out->touch.from[h] + 1;
	}
	return true;
}

struct tile_lanes tile_find(const struct tile_operand *operand, int64_t stick)
{
	const struct touch *touch = &operand->touch;
	const struct layout *layout = touch->layout;
	struct image_stick at = image_find(layout, stick);
	struct tile_lanes lanes = {.count = at.lanes, .step = 1};
	for (int h = 0; h < layout->host_rank; h++) {
		int64_t first = at.coordinates[h];
		if (h == layout->stick_dim) {
			int64_t last = number_min(first + at.lanes - 1, touch->to[h]);
			int64_t begin = number_max(first, touch->from[h]);
			lanes.lane = (int)(begin - first);
			lanes.count = (int)number_max(0, last - begin + 1);
			lanes.step = operand->stride[h];
			first = begin;
		} else if (first < touch->from[h] || first > touch->to[h]) {
			return (struct tile_lanes){.step = 1};
		}
		lanes.at += (first - touch->from[h]) * operand->stride[h];
	}
	return lanes;
}

void tile_start(const struct op *op, struct tile_operand *output)
{
	for (int64_t i = 0; i < output->size; i++)
		output->values[i] = op->primitive->start;
}

float tile_finish(const struct op *op, float value)
{
	if (!op->primitive->mean)
		return value;
	int64_t elements = 1;
	for (int l = 0; l < op->loop_count; l++)
		elements *= op->loops[l].reduction ? op->loops[l].extent : 1;
	return value / (float)elements;
}

/* The loops that run, outermost first, and how far each moves in every operand's values. */
struct nest {
	int loop_count, operand_count; /* the output is the last operand */
	int64_t count[OP_LOOPS_MOST];
	int64_t stride[OP_LOOPS_MOST][OPERANDS_MOST];
	float *at[OPERANDS_MOST];
	kernel_function kernel;
};

static void nest_add_operand(struct nest *nest, const struct op *op, const struct compute *compute,
	int operand, const struct tile_operand *tile)
{
	int number = nest->operand_count++, at = 0;
	const struct access *access = op_operand(op, operand);
	int64_t base = 0;
	for (int h = 0; h < tile->touch.layout->host_rank; h++) {
		int64_t first = affine_value(&access->host[h], op->loop_count, compute->first);
		base += (first - tile->touch.from[h]) * tile->stride[h];
	}
	nest->at[number] = tile->values + base;
	for (int l = 0; l < op->loop_count; l++) {
		if (compute->count[l] == 1)
			continue;
		int64_t stride = 0;
		for (int h = 0; h < tile->touch.layout->host_rank; h++)
			stride += access->host[h].coefficient[l] * tile->stride[h];
		nest->count[at] = compute->count[l];
		nest->stride[at++][number] = stride;
	}
	nest->loop_count = at;
}

/* Ranks a loop as the innermost: best are elements side by side, none of which waits for a sum. */
static int rank_loop(const struct nest *nest, int l)
{
	int rank = nest->stride[l][nest->operand_count - 1] != 0;
	for (int o = 0; o < nest->operand_count; o++)
		rank += 2 * (nest->stride[l][o] == 0 || nest->stride[l][o] == 1);
	return rank;
}

static void move_best_inside(struct nest *nest)
{
	int best = nest->loop_count - 1, last = nest->loop_count - 1;
	for (int l = 0; l < last; l++) {
		int more = rank_loop(nest, l) - rank_loop(nest, best);
		if (more > 0 || (more == 0 && nest->count[l] > nest->count[best]))
			best = l;
	}
	if (last < 0 || best == last)
		return;
	int64_t count = nest->count[best], stride[OPERANDS_MOST];
	memcpy(stride, nest->stride[best], sizeof stride);
	for (int l = best; l < last; l++) {
		nest->count[l] = nest->count[l + 1];
		memcpy(nest->stride[l], nest->stride[l + 1], sizeof stride);
	}
	nest->count[last] = count;
	memcpy(nest->stride[last], stride, sizeof stride);
}

static void multiply_row(int64_t n, const float *restrict a, int64_t a_step,
	const float *restrict b, int64_t b_step, float *restrict out, int64_t step)
{
	if (step == 0) {
		float sum = *out;
		for (int64_t i = 0; i < n; i++)
			sum += a[i * a_step] * b[i * b_step];
		*out = sum;
	} else if (step == 1 && a_step == 0 && b_step == 1) {
		float factor = *a;
		for (int64_t i = 0; i < n; i++)
			out[i] += factor * b[i];
	} else {
		for (int64_t i = 0; i < n; i++)
			out[i * step] += a[i * a_step] * b[i * b_step];
	}
}

static void einsum_row(const struct nest *nest, int64_t n, const int64_t *stride)
{
	int reads = nest->operand_count - 1;
	if (reads == 2) {
		multiply_row(
			n, nest->at[0], stride[0], nest->at[1], stride[1], nest->at[2], stride[2]);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		float product = nest->at[0][i * stride[0]];
		for (int o = 1; o < reads; o++)
			product *= nest->at[o][i * stride[o]];
		nest->at[reads][i * stride[reads]] += product;
	}
}

static void map_row(const struct op *op, const struct nest *nest, int64_t n, const int64_t *stride)
{
	const float *a = nest->at[0], *b = nest->at[1];
	int reads = nest->operand_count - 1;
	float *out = nest->at[reads], constant = (float)op->constant;
	for (int64_t i = 0; i < n; i++) {
		float second = reads > 1 ? b[i * stride[1]] : constant;
		out[i * stride[reads]] = nest->kernel(op->primitive, a[i * stride[0]], second);
	}
}

static void reduce_row(
	const struct op *op, const struct nest *nest, int64_t n, const int64_t *stride)
{
	const float *in = nest->at[0];
	float *out = nest->at[1];
	for (int64_t i = 0; i < n; i++)
		out[i * stride[1]] =
			nest->kernel(op->primitive, out[i * stride[1]], in[i * stride[0]]);
}

static void run_row(const struct op *op, const struct nest *nest, int64_t n, const int64_t *stride)
{
	if (op->primitive->kind == OP_EINSUM)
		einsum_row(nest, n, stride);
	else if (op->primitive->kind == OP_REDUCE)
		reduce_row(op, nest, n, stride);
	else
		map_row(op, nest, n, stride);
}

static void run_loops(const struct op *op, struct nest *nest, int l)
{
	static const int64_t still[OPERANDS_MOST];
	if (nest->loop_count == 0) {
		run_row(op, nest, 1, still);
		return;
	}
	if (l + 1 == nest->loop_count) {
		run_row(op, nest, nest->count[l], nest->stride[l]);
		return;
	}
	for (int64_t i = 0; i < nest->count[l]; i++) {
		run_loops(op, nest, l + 1);
		for (int o = 0; o < nest->operand_count; o++)
			nest->at[o] += nest->stride[l][o];
	}
	for (int o = 0; o < nest->operand_count; o++)
		nest->at[o] -= nest->stride[l][o] * nest->count[l];
}

void tile_run(const struct op *op, const struct compute *compute, const struct tile_operand *reads,
	struct tile_operand *output, kernel_function kernel)
{
	struct nest nest = {.kernel = kernel};
	for (int i = 0; i < op->read_count; i++)
		nest_add_operand(&nest, op, compute, i, &reads[i]);
	nest_add_operand(&nest, op, compute, op->read_count, output);
	move_best_inside(&nest);
	run_loops(op, &nest, 0);
}

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
static struct executed_nest *nests_add_nest(struct nests *nests, const struct inner_nest *nest)
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

/* Executes a nest, and takes its steps of multipliers off those that are left. */
static void nests_execute(struct nests *nests, struct executed_nest *nest, uint64_t *left)
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
			*of_step = nests_add_nest(nests, nest);
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
		nests_execute(nests, nests->distinct[i], &left);
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

static struct nest_array_view tile_operand_view(const struct tile_operand *operand)
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
		values.views[i] = tile_operand_view(&reads[i]);
	values.views[op->read_count] = tile_operand_view(output);
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
