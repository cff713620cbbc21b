#include "sim/graph/sample.h"

#include "base/arena.h"
#include "base/random.h"
#include "sim/graph/data.h"
#include "sim/machine/kernel.h"

#include <inttypes.h>
#include <string.h>

enum { ELEMENTS_COMPARED = 8 };

/* The tile of one op: which sticks it finishes, and on which cores it has begun. */
struct tile_sample {
	enum { WAITING, RUNNING, DONE } state;
	const struct region *region;
	uint64_t cores;
};

struct sample {
	const struct program *program;
	uint64_t seed;
	struct shadow *shadow;
	struct faults *faults;
	struct data *data;         /* the scratchpads, with values where tiles read and write */
	struct tile_sample *tiles; /* by op */
	int count;
};

struct sample *sample_open(const struct program *program, const struct nests *nests, uint64_t seed,
	struct shadow *shadow, struct faults *faults, struct arena *arena)
{
	struct sample *sample = arena_new(arena, struct sample);
	*sample = (struct sample){.program = program,
		.seed = seed,
		.shadow = shadow,
		.faults = faults,
		.data = data_open_lx(program, nests, arena),
		.tiles = arena_array(arena, struct tile_sample, program->workload->op_count)};
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
	/* a stream for each element: where it begins is a number already */
	uint64_t seed = sample->seed ^ (uint64_t)tensor << 48;
	uint64_t number = random_open(seed, (uint64_t)at).state >> 32;
	return dtype == DTYPE_BOOL ? (float)(number % 2) : (float)(number % 5) - 2;
}

/* Gives every stick of a box the numbers of what the shadow says lies there. */
static void draw_box(struct sample *sample, int core, const struct box *box)
{
	char *memory = data_lx(sample->data, core);
	struct box_walk walk = box_first(box);
	do {
		struct content content = shadow_find(sample->shadow, core, walk.address);
		if (content.tensor < 0)
			continue;
		const struct layout *layout =
			&sample->program->workload->tensors[content.tensor].layout;
		struct image_stick stick = image_find(layout, content.stick);
		for (int lane = 0; lane < stick.lanes; lane++)
			kernel_store(layout->dtype,
				memory + walk.address + lane * dtype_stored_bytes(layout->dtype),
				draw(sample, content.tensor, stick.host + lane * stick.step));
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
	const struct layout *layout =
		&meaning->sample->program->workload->tensors[access->tensor].layout;
	int64_t index = access->linear.offset;
	for (int h = 0; access->pad && h < layout->host_rank; h++) {
		int64_t at = access->host[h].offset;
		for (int l = 0; l < meaning->op->loop_count; l++)
			at += access->host[h].loop[l] * meaning->at[l];
		if (at < 0 || at >= layout->host_size[h])
			return meaning->op->primitive->kind == OP_REDUCE
				       ? meaning->op->primitive->start
				       : 0;
		index += access->host[h].offset * layout->host_stride[h];
	}
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

/* Any element of a box of the output: where it lies, and the output's loops. */
static int64_t choose_element(struct random *random, const struct box *box, struct meaning *meaning)
{
	const struct op *op = meaning->op;
	const struct layout *layout =
		&meaning->sample->program->workload->tensors[box->tensor].layout;
	int64_t address = box->address, number = box->stick;
	for (int d = 0; d < box->rank; d++) {
		int64_t at = (int64_t)random_below(random, (uint64_t)box->count[d]);
		address += at * box->stride[d];
		number += at * box->step[d];
	}
	struct image_stick stick = image_find(layout, number);
	int64_t lane = (int64_t)random_below(random, (uint64_t)stick.lanes);
	if (layout->stick_dim >= 0)
		stick.coordinates[layout->stick_dim] += lane;
	for (int h = 0; h < layout->host_rank; h++)
		for (int l = 0; l < op->loop_count; l++)
			if (op->writes[0].host[h].loop[l])
				meaning->at[l] = stick.coordinates[h];
	return address + lane * dtype_stored_bytes(layout->dtype);
}

static void compare_tile(
	struct sample *sample, uint32_t instruction, int core, int number, const struct box *box)
{
	const struct workload *workload = sample->program->workload;
	const struct op *op = &workload->ops[number];
	enum dtype dtype = workload->tensors[box->tensor].layout.dtype;
	struct random random = random_open(sample->seed, (uint64_t)number);
	sample->tiles[number].state = DONE;
	sample->count++;
	for (int i = 0; i < ELEMENTS_COMPARED; i++) {
		struct meaning meaning = {
			.sample = sample, .op = op, .sum = (double)op->primitive->start};
		char expected[8] = {0};
		const char *got =
			data_lx(sample->data, core) + choose_element(&random, box, &meaning);
		visit_points(&meaning, 0);
		kernel_store(dtype, expected, tile_finish(op, (float)meaning.sum));
		if (memcmp(got, expected, (size_t)dtype_stored_bytes(dtype)) == 0)
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
	}
	return tile->state == RUNNING && region_equal(tile->region, &compute->write->region) &&
	       (!compute->accumulator_read || tile->cores >> core & 1);
}

void sample_compute(
	struct sample *sample, uint32_t number, const struct box *reads, const struct box *write)
{
	const struct instruction *instruction = &sample->program->instructions[number];
	const struct compute *compute = instruction->compute;
	struct tile_sample *tile = &sample->tiles[compute->op];
	int core = __builtin_ctzll(instruction->mask);
	if (!belongs(tile, compute, core))
		return;
	tile->cores |= UINT64_C(1) << core;
	for (int i = 0; i < compute->read_count; i++)
		draw_box(sample, core, &reads[i]);
	data_run(sample->data, instruction);
	if (compute->finish)
		compare_tile(sample, number, core, compute->op, write);
}

void sample_combine(struct sample *sample, uint32_t number, const struct box *output)
{
	const struct instruction *instruction = &sample->program->instructions[number];
	const struct combine *combine = instruction->combine;
	struct tile_sample *tile = &sample->tiles[combine->op];
	if (tile->state != RUNNING || !region_equal(tile->region, &combine->region))
		return;
	tile->state = DONE;
	for (int k = 0; k < combine->core_count; k++)
		if (!(tile->cores >> combine->cores[k] & 1))
			return;
	data_run(sample->data, instruction);
	compare_tile(sample, number, combine->cores[combine->core_count - 1], combine->op, output);
}
