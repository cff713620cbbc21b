#include "sim/graph/chip.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "base/random.h"
#include "model/graph/plan_check.h"
#include "sim/graph/reference.h"
#include "sim/machine/kernel.h"

#include <inttypes.h>
#include <string.h>

struct image_stick image_find(const struct layout *layout, int64_t stick)
{
	struct image_stick found = {.lanes = 1};
	for (int d = layout->rank - 2; d >= 0; d--) {
		int64_t at = stick % layout->size[d];
		stick /= layout->size[d];
		if (layout->part[d] == PART_WHOLE)
			found.coordinates[layout->host_dim[d]] = at;
		else if (layout->part[d] == PART_STICK_OUTER)
			found.coordinates[layout->host_dim[d]] = at * layout->per_stick;
	}
	for (int h = 0; h < layout->host_rank; h++)
		found.host += found.coordinates[h] * layout->host_stride[h];
	int along = layout->stick_dim;
	if (along >= 0) {
		int64_t left = layout->host_size[along] - found.coordinates[along];
		found.lanes = (int)number_min(left, layout->per_stick);
		found.step = layout->host_stride[along];
	}
	return found;
}

void image_pack(const struct layout *layout, int64_t stick, const void *array, void *memory)
{
	struct image_stick at = image_find(layout, stick);
	size_t bytes = (size_t)dtype_stored_bytes(layout->dtype);
	for (int lane = 0; lane < at.lanes; lane++)
		memcpy((char *)memory + (size_t)lane * bytes,
			(const char *)array + (size_t)(at.host + lane * at.step) * bytes, bytes);
}

void image_unpack(const struct layout *layout, int64_t stick, const void *memory, void *array)
{
	struct image_stick at = image_find(layout, stick);
	size_t bytes = (size_t)dtype_stored_bytes(layout->dtype);
	for (int lane = 0; lane < at.lanes; lane++)
		memcpy((char *)array + (size_t)(at.host + lane * at.step) * bytes,
			(const char *)memory + (size_t)lane * bytes, bytes);
}

struct data {
	const struct program *program;
	const struct nests *nests;
	int rank;
	struct arena *arena;
	kernel_function kernel;
	void **given; /* host arrays of what no instruction computes */
	void **made;  /* host arrays of what ops have made; NULL: nothing yet */
	float **sums; /* host arrays of outputs to which later iterations add; NULL: none yet */
	int64_t lx_bytes;
	char *hbm;
	char *lx[PROGRAM_CORES_MOST]; /* NULL: not used yet */
};

char *data_lx(struct data *data, int core)
{
	if (!data->lx[core])
		data->lx[core] = arena_alloc(data->arena, (size_t)data->lx_bytes);
	return data->lx[core];
}

/* The given values of a tensor, where it lies in HBM. */
static void put_given(struct data *data, int t)
{
	const struct layout *layout = &data->program->workload->tensors[t].layout;
	char *at = data->hbm + data->program->hbm[t];
	for (int64_t s = 0; s < layout->sticks; s++)
		image_pack(layout, s, data->given[t], at + s * layout->stick_bytes);
}

static void fill_hbm(struct data *data)
{
	const struct program *program = data->program;
	struct users users = users_make(data->arena, program->workload);
	for (size_t t = 0; t < program->workload->tensor_count; t++) {
		const struct tensor *tensor = &program->workload->tensors[t];
		int root = users_root(program->workload, &users, (int)t);
		if (tensor->producer < 0 && program->hbm[t] >= 0 &&
			(root < 0 || root == data->rank))
			put_given(data, (int)t);
	}
}

/* Everything that no instruction computes? */
static bool are_given(const struct workload *workload, void *const *inputs)
{
	for (size_t t = 0; t < workload->tensor_count; t++) {
		int producer = workload->tensors[t].producer;
		bool computed =
			producer >= 0 && workload->ops[producer].primitive->kind != OP_OPAQUE;
		if (!computed && !(inputs && inputs[t]))
			return false;
	}
	return true;
}

struct data *data_open_lx(
	const struct program *program, const struct nests *nests, struct arena *arena)
{
	const struct arch *arch = program->arch;
	struct data *data = arena_new(arena, struct data);
	*data = (struct data){.program = program,
		.nests = nests,
		.arena = arena,
		.kernel = kernel_apply,
		.made = arena_array(arena, void *, program->workload->tensor_count),
		.sums = arena_array(arena, float *, program->workload->tensor_count),
		.lx_bytes = arch->lx < 0 ? 0 : arch_lx(arch)->capacity};
	return data;
}

struct data *data_open(const struct program *program, int rank, const struct nests *nests,
	const struct sim_options *options, struct arena *arena)
{
	void *const *inputs = options->rank_inputs ? options->rank_inputs[rank] : options->inputs;
	struct data *data = data_open_lx(program, nests, arena);
	size_t tensors = program->workload->tensor_count;
	data->rank = rank;
	if (options->kernel)
		data->kernel = options->kernel;
	data->hbm = arena_alloc(arena, (size_t)program->hbm_bytes);
	data->given = arena_array(arena, void *, tensors);
	if (!are_given(program->workload, inputs))
		reference_inputs(program->workload, reference_seed(options->seed, rank),
			options->small_integers, arena, data->given);
	for (size_t t = 0; inputs && t < tensors; t++) {
		if (inputs[t])
			data->given[t] = inputs[t];
	}
	fill_hbm(data);
	return data;
}

static const struct layout *data_layout(const struct data *data, int tensor)
{
	return &data->program->workload->tensors[tensor].layout;
}

static char *made_of(struct data *data, int tensor)
{
	const struct layout *layout = data_layout(data, tensor);
	if (!data->made[tensor])
		data->made[tensor] = arena_alloc_array(data->arena, (size_t)layout_elements(layout),
			(size_t)dtype_stored_bytes(layout->dtype));
	return data->made[tensor];
}

/* Notes a box that an op has made, as it lies in LX. */
static void note_box(struct data *data, int tensor, const struct box *box, const char *memory)
{
	void *made = data->made[tensor];
	struct box_walk walk = box_first(box);
	do
		image_unpack(data_layout(data, tensor), walk.stick, memory + walk.address, made);
	while (box_next(box, &walk));
}

static struct box data_make_box(struct data *data, const struct region *region,
	const struct location *location, int64_t unit, int64_t size)
{
	struct box box;
	int64_t at;
	const char *why =
		box_make(data->program->workload, region, location, unit, size, &box, &at);
	if (why)
		BUG("%s, and the audit found nothing", why);
	return box;
}

static struct box lx_box(
	struct data *data, const struct region *region, const struct location *location)
{
	return data_make_box(data, region, location, STICK_BYTES, data->lx_bytes);
}

static struct box accumulator_box(
	struct data *data, const struct region *region, const struct location *location)
{
	int64_t unit = box_accumulator_unit(data_layout(data, region->tensor));
	return data_make_box(data, region, location, unit, data->lx_bytes);
}

static void copy_box(
	const struct box *from, const char *source, const struct box *to, char *destination)
{
	struct box_walk read = box_first(from), write = box_first(to);
	do
		memcpy(destination + write.address, source + read.address, STICK_BYTES);
	while (box_next(from, &read) && box_next(to, &write));
}

static void data_run_transfer(struct data *data, const struct instruction *instruction)
{
	const struct transfer *transfer = instruction->transfer;
	struct box lx = lx_box(data, &transfer->box->region, &transfer->box->lx);
	struct box hbm = data_make_box(data, &transfer->box->region, &transfer->hbm, STICK_BYTES,
		data->program->hbm_bytes);
	for (uint64_t mask = instruction->mask; mask; mask &= mask - 1) {
		char *memory = data_lx(data, __builtin_ctzll(mask));
		if (instruction->engine == ENGINE_DMA_IN)
			copy_box(&hbm, data->hbm, &lx, memory);
		else
			copy_box(&lx, memory, &hbm, data->hbm);
	}
}

void data_store(struct data *root, struct data *to, const struct instruction *instruction)
{
	const struct transfer *transfer = instruction->transfer;
	struct box lx = lx_box(root, &transfer->box->region, &transfer->box->lx);
	struct box hbm = data_make_box(
		to, &transfer->box->region, &transfer->hbm, STICK_BYTES, to->program->hbm_bytes);
	for (uint64_t mask = instruction->mask; mask; mask &= mask - 1)
		copy_box(&lx, data_lx(root, __builtin_ctzll(mask)), &hbm, to->hbm);
}

/* Between values and the sticks of a box, or an accumulator, which has every lane of its sticks as fp32. */
static void move_box(const struct op *op, const struct box *box, bool accumulator, char *memory,
	struct tile_operand *operand, bool load)
{
	enum dtype dtype = accumulator ? DTYPE_FP32 : operand->touch.layout->dtype;
	size_t bytes = (size_t)dtype_stored_bytes(dtype);
	struct box_walk walk = box_first(box);
	do {
		struct tile_lanes lanes = tile_find(operand, walk.stick);
		char *at = memory + walk.address + (size_t)lanes.lane * bytes;
		float *value = operand->values + lanes.at;
		for (int i = 0; load && i < lanes.count; i++)
			value[i * lanes.step] = kernel_load(dtype, at + (size_t)i * bytes);
		for (int i = 0; !load && i < lanes.count; i++) {
			float sum = value[i * lanes.step];
			kernel_store(dtype, at + (size_t)i * bytes,
				accumulator ? sum : tile_finish(op, sum));
		}
	} while (box_next(box, &walk));
}

static void open_operand(struct data *data, const struct op *op, const struct compute *compute,
	int operand, struct tile_operand *tile)
{
	if (!tile_open(data->program->workload, op, compute, operand, tile))
		BUG("a tile of '%s' leaves its arrays, and the audit found nothing", op->name);
	tile->values = arena_array(data->arena, float, tile->size);
	bool identity = op_operand(op, operand)->pad && op->primitive->kind == OP_REDUCE;
	for (int64_t i = 0; identity && i < tile->size; i++)
		tile->values[i] = op->primitive->start;
}

/* An opaque op is unknown inside; the reference gives its outputs. */
static void run_opaque(struct data *data, const struct op *op)
{
	for (int w = 0; w < op->write_count; w++)
		put_given(data, op->writes[w].tensor);
}

static const char *run_tile(struct data *data, const struct op *op, int step,
	const struct compute *compute, char *memory)
{
	const char *why = NULL;
	struct tile_operand reads[OP_READS_MOST], output;
	struct box accumulator = {0};
	for (int i = 0; i < compute->read_count; i++) {
		const struct operand_box *read = compute->reads[i];
		struct box box = lx_box(data, &read->region, &read->lx);
		open_operand(data, op, compute, read->operand, &reads[i]);
		move_box(op, &box, false, memory, &reads[i], true);
	}
	open_operand(data, op, compute, op->read_count, &output);
	if (compute->accumulator_read || compute->accumulator_write)
		accumulator = accumulator_box(data, &compute->write->region, compute->accumulator);
	if (compute->accumulator_read)
		move_box(op, &accumulator, true, memory, &output, true);
	else
		tile_start(op, &output);
	if (compute->nest)
		why = nests_compute(data->nests, step, compute, reads, &output, data->kernel);
	else
		tile_run(op, compute, reads, &output, data->kernel);
	if (compute->accumulator_write)
		move_box(op, &accumulator, true, memory, &output, false);
	if (compute->finish) {
		struct box box = lx_box(data, &compute->write->region, &compute->write->lx);
		move_box(op, &box, false, memory, &output, false);
		note_box(data, compute->write->region.tensor, &box, memory);
	}
	return why;
}

/* Between the values of an operand, a box of the host array, and where that lies in a memory, row by row.
 * `sums`: a host array that has them as they are before they are rounded; NULL: there is none.  `made`: one for what
 * is stored. */
static void move_whole(const struct op *op, char *memory, const struct whole_operand *whole,
	struct tile_operand *operand, bool load, float *sums, char *made)
{
	const struct touch *touch = &operand->touch;
	enum dtype dtype = touch->layout->dtype;
	int64_t at[LAYOUT_HOST_RANK_MOST];
	memcpy(at, touch->from, sizeof at);
	for (int64_t i = 0; i < operand->size;
		i++, touch_next(touch->layout->host_rank, touch->from, touch->to, at)) {
		int64_t place = 0, element = 0;
		bool inside = true;
		for (int h = 0; h < touch->layout->host_rank; h++) {
			place = place * whole->size[h] + at[h] - whole->first[h];
			element = element * touch->layout->host_size[h] + at[h];
			inside &= at[h] >= 0 && at[h] < touch->layout->host_size[h];
		}
		char *stored = memory + whole->address + place * dtype_stored_bytes(dtype);
		if (!inside)
			continue;
		if (load)
			operand->values[i] = sums ? sums[element] : kernel_load(dtype, stored);
		else
			kernel_store(dtype, stored, tile_finish(op, operand->values[i]));
		if (made)
			memcpy(made + element * dtype_stored_bytes(dtype), stored,
				(size_t)dtype_stored_bytes(dtype));
		if (sums)
			sums[element] = operand->values[i];
	}
}

static const char *run_whole(struct data *data, const struct op *op, int step,
	const struct compute *compute, char *lx, float *sums)
{
	struct tile_operand reads[OP_READS_MOST], output;
	const struct whole_operand *written = &compute->whole[op->read_count];
	for (int i = 0; i < op_operands(op); i++) {
		const struct whole_operand *whole = &compute->whole[i];
		open_operand(data, op, compute, i, i < op->read_count ? &reads[i] : &output);
		if (i < op->read_count)
			move_whole(op, whole->in_lx ? lx : data->hbm, whole, &reads[i], true, NULL,
				NULL);
	}
	if (compute->accumulator_read)
		move_whole(op, written->in_lx ? lx : data->hbm, written, &output, true, sums, NULL);
	const char *why = nests_compute(data->nests, step, compute, reads, &output, data->kernel);
	if (!why)
		move_whole(op, written->in_lx ? lx : data->hbm, written, &output, false, sums,
			data->made[written->tensor]);
	return why;
}

/* NULL: the compute has nothing to do with it. */
static char *lx_of(struct data *data, const struct instruction *instruction)
{
	const struct compute *compute = instruction->compute;
	bool uses = !compute->whole;
	for (int i = 0; !uses && i < op_operands(&data->program->workload->ops[compute->op]); i++)
		uses = compute->whole[i].in_lx;
	return uses ? data_lx(data, __builtin_ctzll(instruction->mask)) : NULL;
}

/* Sums are not rounded on their way through a nest, nor from one iteration to the next. */
static float *find_sums(struct data *data, const struct op *op, const struct compute *compute)
{
	if (!compute->whole || (compute->finish && !compute->accumulator_read))
		return NULL;
	int tensor = compute->whole[op->read_count].tensor;
	if (!data->sums[tensor])
		data->sums[tensor] =
			arena_array(data->arena, float, layout_elements(data_layout(data, tensor)));
	return data->sums[tensor];
}

static const char *data_run_compute(struct data *data, const struct instruction *instruction)
{
	const char *why = NULL;
	const struct compute *compute = instruction->compute;
	const struct op *op = &data->program->workload->ops[compute->op];
	char *memory = lx_of(data, instruction);
	float *sums = find_sums(data, op, compute);
	if (op->primitive->kind != OP_OPAQUE)
		made_of(data, op->writes[0].tensor);
	struct arena_mark mark = arena_mark(data->arena);
	if (op->primitive->kind == OP_OPAQUE)
		run_opaque(data, op);
	else if (compute->whole)
		why = run_whole(data, op, instruction->step, compute, memory, sums);
	else
		why = run_tile(data, op, instruction->step, compute, memory);
	arena_release(data->arena, mark);
	return why;
}

/* The sum of one element, from core to core. */
static float combine_lane(
	struct data *data, const struct combine *combine, int64_t address, int lane)
{
	float sum = 0;
	for (int k = 0; k < combine->core_count; k++) {
		const char *at = data_lx(data, combine->cores[k]) + address;
		float value = ((const float *)(const void *)at)[lane];
		sum = k == 0 ? value : combine->primitive->kernel(sum, value);
	}
	return sum;
}

static void data_run_combine(struct data *data, const struct combine *combine)
{
	const struct op *op = &data->program->workload->ops[combine->op];
	const struct layout *layout = data_layout(data, combine->region.tensor);
	made_of(data, combine->region.tensor);
	size_t bytes = (size_t)dtype_stored_bytes(layout->dtype);
	struct box accumulator = accumulator_box(data, &combine->region, &combine->accumulator);
	struct box output = lx_box(data, &combine->region, &combine->output);
	struct box_walk read = box_first(&accumulator), write = box_first(&output);
	char *memory = data_lx(data, combine->cores[combine->core_count - 1]);
	do {
		int lanes = image_find(layout, read.stick).lanes;
		for (int lane = 0; lane < lanes; lane++) {
			float sum = combine_lane(data, combine, read.address, lane);
			kernel_store(layout->dtype, memory + write.address + (size_t)lane * bytes,
				tile_finish(op, sum));
		}
	} while (box_next(&accumulator, &read) && box_next(&output, &write));
	note_box(data, combine->region.tensor, &output, memory);
}

static void run_send(struct data *data, int sender, const struct send *send)
{
	if (!send->from)
		return;
	struct box from = lx_box(data, &send->from->region, &send->from->lx);
	struct box to = lx_box(data, &send->to->region, &send->to->lx);
	const char *source = data_lx(data, sender);
	for (uint64_t m = send->receivers; m; m &= m - 1)
		copy_box(&from, source, &to, data_lx(data, __builtin_ctzll(m)));
}

const char *data_run(struct data *data, const struct instruction *instruction)
{
	if (instruction->mask == 0)
		return NULL;
	switch (instruction->engine) {
	case ENGINE_DMA_IN:
	case ENGINE_DMA_OUT:
		data_run_transfer(data, instruction);
		break;
	case ENGINE_COMPUTE:
		return data_run_compute(data, instruction);
	case ENGINE_RING:
		data_run_combine(data, instruction->combine);
		break;
	case ENGINE_UP:
	case ENGINE_DOWN:
		run_send(data, __builtin_ctzll(instruction->mask), instruction->send);
		break;
	case ENGINE_SYNC:
	case ENGINE_COUNT:
		break;
	}
	return NULL;
}

void **data_outputs(const struct data *data, struct arena *arena)
{
	const struct program *program = data->program;
	void **arrays = arena_array(arena, void *, program->workload->tensor_count);
	for (size_t t = 0; t < program->workload->tensor_count; t++) {
		const struct layout *layout = data_layout(data, (int)t);
		if (program->hbm[t] < 0)
			continue;
		arrays[t] = arena_alloc_array(arena, (size_t)layout_elements(layout),
			(size_t)dtype_stored_bytes(layout->dtype));
		const char *at = data->hbm + program->hbm[t];
		for (int64_t s = 0; s < layout->sticks; s++)
			image_unpack(layout, s, at + s * layout->stick_bytes, arrays[t]);
	}
	return arrays;
}

void **data_made(const struct data *data)
{
	return data->made;
}

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
static double read_drawn(const void *from, int tensor, int64_t at)
{
	const struct sample *sample = from;
	enum dtype dtype = sample->program->workload->tensors[tensor].layout.dtype;
	/* a stream for each element: where it begins is a number already */
	uint64_t seed = sample->seed ^ (uint64_t)tensor << 48;
	uint64_t number = random_open(seed, (uint64_t)at).state >> 32;
	return dtype == DTYPE_BOOL ? (double)(number % 2) : (double)(number % 5) - 2;
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
				(float)read_drawn(
					sample, content.tensor, stick.host + lane * stick.step));
	} while (box_next(box, &walk));
}

/* Any element of a box of the output: where it lies, and the output's loops. */
static int64_t choose_element(struct random *random, const struct box *box, struct op_point *point)
{
	const struct op *op = point->op;
	const struct layout *layout = &point->workload->tensors[box->tensor].layout;
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
			if (op->writes[0].host[h].coefficient[l])
				point->index[l] = stick.coordinates[h];
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
		struct op_point point = {.workload = workload,
			.op = op,
			.read = read_drawn,
			.from = sample,
			.in_fp32 = true};
		char expected[8] = {0};
		const char *got =
			data_lx(sample->data, core) + choose_element(&random, box, &point);
		op_point_compute(&point);
		kernel_store(dtype, expected, tile_finish(op, (float)point.value));
		if (memcmp(got, expected, (size_t)dtype_stored_bytes(dtype)) == 0)
			continue;
		fault_add(sample->faults, FAULT_VALUE, instruction, core, 0,
			"an element of the tile comes out as %g where the op means %g",
			(double)kernel_load(dtype, got), (double)kernel_load(dtype, expected));
		return;
	}
}

/* The op's first tile: is this compute a pass of it? */
static bool tile_sample_belongs(struct tile_sample *tile, const struct compute *compute, int core)
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
	if (!tile_sample_belongs(tile, compute, core))
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
