#include "sim/graph/sample.h"

#include "base/arena.h"
#include "base/random.h"
#include "sim/graph/image.h"
#include "sim/graph/tile.h"
#include "sim/machine/kernel.h"

#include <inttypes.h>
#include <string.h>

enum { ELEMENTS_COMPARED = 8 };

/* The tile of one op: which sticks it finishes, and what each core has of it so far. */
struct tile_sample {
	enum { WAITING, RUNNING, DONE } state;
	const struct region *region;
	const struct compute *compute; /* one of its passes: they all have its output loops */
	float *sums[PROGRAM_CORES_MOST];
	int64_t size;
};

struct sample {
	const struct program *program;
	const struct nests *nests;
	uint64_t seed;
	struct shadow *shadow;
	struct faults *faults;
	struct arena *arena;
	struct tile_sample *tiles; /* by op */
	int count;
};

struct sample *sample_open(const struct program *program, const struct nests *nests, uint64_t seed,
	struct shadow *shadow, struct faults *faults, struct arena *arena)
{
	struct sample *sample = arena_new(arena, struct sample);
	sample->program = program;
	sample->nests = nests;
	sample->seed = seed;
	sample->shadow = shadow;
	sample->faults = faults;
	sample->arena = arena;
	sample->tiles = arena_array(arena, struct tile_sample, program->workload->op_count);
	return sample;
}

int sample_count(const struct sample *sample)
{
	return sample->count;
}

/* The number that element `at` of a tensor stands for. */
static float draw(const struct sample *sample, int tensor, int64_t at)
{
	enum dtype dtype = sample->program->workload->tensors[tensor].layout.dtype;
	struct random random = random_open(sample->seed ^ (uint64_t)tensor << 48, (uint64_t)at);
	uint64_t number = random_next(&random) >> 32;
	return dtype == DTYPE_BOOL ? (float)(number % 2) : (float)(number % 5) - 2;
}

/* What the stick in a place holds, into the lanes that the tile uses. */
static void draw_stick(const struct sample *sample, const struct content *content,
	const struct tile_lanes *lanes, float *values)
{
	const struct layout *layout = &sample->program->workload->tensors[content->tensor].layout;
	struct image_stick stick = image_find(layout, content->stick);
	for (int i = 0; i < lanes->count && lanes->lane + i < stick.lanes; i++)
		values[lanes->at + i * lanes->step] =
			draw(sample, content->tensor, stick.host + (lanes->lane + i) * stick.step);
}

static void draw_operand(
	struct sample *sample, int core, const struct box *box, struct tile_operand *operand)
{
	struct box_walk walk = box_first(box);
	do {
		struct tile_lanes lanes = tile_find(operand, walk.stick);
		struct content content = shadow_find(sample->shadow, core, walk.address);
		if (content.tensor >= 0)
			draw_stick(sample, &content, &lanes, operand->values);
	} while (box_next(box, &walk));
}

/* One element of the output, from the op's loops alone; `at` has the output's loops. */
struct meaning {
	const struct sample *sample;
	const struct op *op;
	int64_t at[OP_LOOPS_MOST];
	double sum;
};

static float read_element(const struct meaning *meaning, int operand)
{
	const struct access *access = op_operand(meaning->op, operand);
	int64_t index = access->linear.offset;
	for (int l = 0; l < meaning->op->loop_count; l++)
		index += access->linear.loop[l] * meaning->at[l];
	return draw(meaning->sample, access->tensor, index);
}

static void visit_point(struct meaning *meaning)
{
	const struct op *op = meaning->op;
	const struct primitive *primitive = op->primitive;
	double value = (double)read_element(meaning, 0);
	if (primitive->kind == OP_EINSUM) {
		for (int i = 1; i < op->read_count; i++)
			value *= (double)read_element(meaning, i);
		meaning->sum += value;
	} else if (primitive->kind == OP_REDUCE) {
		meaning->sum = (double)primitive->kernel((float)meaning->sum, (float)value);
	} else {
		meaning->sum = (double)primitive->kernel((float)value,
			op->read_count > 1 ? read_element(meaning, 1) : (float)op->constant);
	}
}

static void visit_points(struct meaning *meaning, int l)
{
	const struct op *op = meaning->op;
	if (l == op->loop_count) {
		visit_point(meaning);
		return;
	}
	if (!op->loops[l].reduction) {
		visit_points(meaning, l + 1);
		return;
	}
	for (int64_t i = 0; i < op->loops[l].extent; i++) {
		meaning->at[l] = i;
		visit_points(meaning, l + 1);
	}
}

/* Element number `number` of the comparison: any of the tile's. */
static void choose_element(const struct compute *compute, int number, struct meaning *meaning)
{
	struct random random = random_open(meaning->sample->seed, (uint64_t)number);
	for (int l = 0; l < meaning->op->loop_count; l++)
		meaning->at[l] = compute->first[l] +
				 (int64_t)random_below(&random, (uint64_t)compute->count[l]);
}

static int64_t find_value(const struct tile_operand *output, const struct meaning *meaning)
{
	const struct access *access = op_operand(meaning->op, meaning->op->read_count);
	int64_t at = 0;
	for (int h = 0; h < output->touch.layout->host_rank; h++) {
		int64_t coordinate = access->host[h].offset;
		for (int l = 0; l < meaning->op->loop_count; l++)
			coordinate += access->host[h].loop[l] * meaning->at[l];
		at += (coordinate - output->touch.low[h]) * output->stride[h];
	}
	return at;
}

static void compare_tile(struct sample *sample, uint32_t instruction, int core,
	const struct tile_sample *tile, const float *values)
{
	const struct workload *workload = sample->program->workload;
	const struct op *op = &workload->ops[tile->compute->op];
	struct tile_operand output;
	tile_open(workload, op, tile->compute, op->read_count, &output);
	enum dtype dtype = output.touch.layout->dtype;
	sample->count++;
	for (int number = 0; number < ELEMENTS_COMPARED; number++) {
		struct meaning meaning = {
			.sample = sample, .op = op, .sum = (double)op->primitive->start};
		char got[8] = {0}, expected[8] = {0};
		choose_element(tile->compute, number, &meaning);
		int64_t at = find_value(&output, &meaning);
		visit_points(&meaning, 0);
		kernel_store(dtype, got, tile_finish(op, values[at]));
		kernel_store(dtype, expected, tile_finish(op, (float)meaning.sum));
		if (memcmp(got, expected, sizeof got) == 0)
			continue;
		fault_add(sample->faults, FAULT_VALUE, instruction, core, 0,
			"an element of the tile comes out as %g where the op means %g",
			(double)kernel_load(dtype, got), (double)kernel_load(dtype, expected));
		return;
	}
}

/* The op's first tile: is this compute a pass of it? */
static bool belongs(struct tile_sample *tile, const struct compute *compute, int core)
{
	if (tile->state == WAITING && !compute->accumulator_read) {
		tile->state = RUNNING;
		tile->region = &compute->write->region;
		tile->compute = compute;
	}
	return tile->state == RUNNING && region_equal(tile->region, &compute->write->region) &&
	       (!compute->accumulator_read || tile->sums[core]);
}

static void run_pass(struct sample *sample, const struct op *op, int step,
	const struct compute *compute, int core, const struct box *boxes, float *sums)
{
	const struct workload *workload = sample->program->workload;
	struct tile_operand reads[OP_READS_MOST], output;
	struct arena_mark mark = arena_mark(sample->arena);
	for (int i = 0; i < compute->read_count; i++) {
		tile_open(workload, op, compute, compute->reads[i]->operand, &reads[i]);
		reads[i].values = arena_array(sample->arena, float, reads[i].size);
		draw_operand(sample, core, &boxes[i], &reads[i]);
	}
	tile_open(workload, op, compute, op->read_count, &output);
	output.values = sums;
	if (!compute->accumulator_read)
		tile_start(op, &output);
	if (compute->nest)
		nests_compute(sample->nests, step, compute, reads, &output, kernel_apply);
	else
		tile_run(op, compute, reads, &output, kernel_apply);
	arena_release(sample->arena, mark);
}

void sample_compute(struct sample *sample, uint32_t number, const struct box *reads)
{
	const struct instruction *instruction = &sample->program->instructions[number];
	const struct compute *compute = instruction->compute;
	const struct op *op = &sample->program->workload->ops[compute->op];
	struct tile_sample *tile = &sample->tiles[compute->op];
	int core = __builtin_ctzll(instruction->mask);
	if (!belongs(tile, compute, core))
		return;
	if (!tile->sums[core]) {
		struct tile_operand output;
		tile_open(sample->program->workload, op, compute, op->read_count, &output);
		tile->sums[core] = arena_array(sample->arena, float, output.size);
		tile->size = output.size;
	}
	run_pass(sample, op, instruction->step, compute, core, reads, tile->sums[core]);
	if (!compute->finish)
		return;
	compare_tile(sample, number, core, tile, tile->sums[core]);
	tile->state = DONE;
}

void sample_combine(struct sample *sample, uint32_t number)
{
	const struct combine *combine = sample->program->instructions[number].combine;
	struct tile_sample *tile = &sample->tiles[combine->op];
	if (tile->state != RUNNING || !region_equal(tile->region, &combine->region))
		return;
	tile->state = DONE;
	float *sums = tile->sums[combine->cores[0]];
	for (int k = 1; sums && k < combine->core_count; k++) {
		const float *others = tile->sums[combine->cores[k]];
		if (!others)
			return;
		for (int64_t i = 0; i < tile->size; i++)
			sums[i] = combine->primitive->kernel(sums[i], others[i]);
	}
	if (sums)
		compare_tile(sample, number, combine->cores[combine->core_count - 1], tile, sums);
}
