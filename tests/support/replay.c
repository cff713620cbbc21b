
#include "tests/support/replay.h"
#include "base/arena.h"
#include "tests/support/sample.h"

#include <string.h>

#include "tests/test.h"

enum { GRANULE = STICK_BYTES };

static bool may_use(const struct replay *replay, int step, int core, int tensor, int64_t address)
{
	const struct program *program = replay->program;
	for (size_t a = 0; a < program->allotment_count; a++) {
		const struct allotment *allotment = &program->allotments[a];
		if ((allotment->tensor == -1 || allotment->tensor == tensor) &&
			allotment->cores >> core & 1 && allotment->from <= step &&
			step < allotment->to && address >= allotment->address &&
			address + GRANULE <= allotment->address + allotment->size)
			return true;
	}
	return false;
}

/* One granule is read or written: everything that it conflicts with came before. */
static void touch(struct replay *replay, int64_t i, int space, int64_t address, bool write,
	struct content content)
{
	assert_int_equal(address % GRANULE, 0);
	assert_in_range(address / GRANULE, 0, replay->granules[space] - 1);
	struct granule *granule = &replay->memories[space][address / GRANULE];
	if (space < REPLAY_CORES)
		assert_true(may_use(replay, replay->program->instructions[i].step, space,
			content.tensor, address));
	if (granule->writer >= 0 && granule->writer != i)
		assert_true(naive_happens_before(&replay->order, granule->writer, i));
	if (write) {
		for (size_t r = 0; r < granule->readers.count; r++)
			assert_true(
				granule->readers.at[r] == i ||
				naive_happens_before(&replay->order, granule->readers.at[r], i));
		granule->readers.count = 0;
		granule->writer = i;
		granule->content = content;
	} else {
		assert_int_equal(granule->content.tensor, content.tensor);
		assert_int_equal(granule->content.stick, content.stick);
		assert_int_equal(granule->content.partial, content.partial);
		*array_add(replay->arena, &granule->readers) = i;
	}
	*array_add(replay->arena, &replay->touches[i]) =
		(struct touch){space, address / GRANULE, write};
}

/* Goes to the next stick of a box. */
static bool next_stick(const struct region *box, int64_t *offset)
{
	for (int d = box->rank - 1; d >= 0; d--) {
		if (++offset[d] < box->count[d])
			return true;
		offset[d] = 0;
	}
	return false;
}

static int64_t stick_number(
	const struct replay *replay, const struct region *box, const int64_t *offset)
{
	const struct layout *layout = &replay->plan->workload->tensors[box->tensor].layout;
	int64_t number = 0;
	for (int d = 0; d < box->rank; d++) {
		assert_in_range(box->first[d] + offset[d], 0, layout->size[d] - 1);
		number = number * layout->size[d] + box->first[d] + offset[d];
	}
	return number;
}

/* `counts`, if given, gets one more for every stick of the box. */
static void touch_box(struct replay *replay, int64_t i, int space, const struct region *box,
	const struct location *location, bool write, int tensor, bool partial, int64_t *counts)
{
	int64_t offset[REGION_RANK_MOST] = {0};
	int per_stick = replay->plan->workload->tensors[tensor].layout.per_stick;
	int64_t unit = partial ? 4 * per_stick : GRANULE;
	do {
		int64_t address = location->address, number = stick_number(replay, box, offset);
		for (int d = 0; d < box->rank; d++)
			address += offset[d] * location->stride[d];
		for (int64_t part = 0; part < unit; part += GRANULE)
			touch(replay, i, space, address + part, write,
				(struct content){tensor, partial, number});
		if (counts)
			counts[number]++;
	} while (next_stick(box, offset));
}

/* Inputs, and what was never written, hold what they are. */
static void fill_hbm(struct replay *replay)
{
	for (size_t t = 0; t < replay->plan->workload->tensor_count; t++) {
		const struct layout *layout = &replay->plan->workload->tensors[t].layout;
		if (tensor_home(replay->plan->workload, (int)t) != (int)t)
			continue;
		int64_t address = replay->program->hbm[t];
		for (int64_t s = 0; address >= 0 && s < layout->sticks; s++) {
			struct granule *granule =
				&replay->memories[REPLAY_CORES][address / GRANULE + s];
			assert_int_equal(granule->content.tensor, -1);
			granule->content = (struct content){(int)t, false, s};
		}
	}
}

/* Every element of the tile lies in the boxes, and is computed for the first time. */
static void visit_elements(struct replay *replay, const struct compute *compute)
{
	const struct op *op = &replay->plan->workload->ops[compute->op];
	int64_t at[OP_LOOPS_MOST], total = op_points(op);
	memcpy(at, compute->first, (size_t)op->loop_count * sizeof *at);
	for (bool more = true; more;) {
		int64_t number = 0;
		for (int l = 0; l < op->loop_count; l++)
			number = number * op->loops[l].extent + at[l];
		assert_in_range(number, 0, total - 1);
		assert_int_equal(replay->computed[compute->op][number]++, 0);
		for (int i = 0; i < op_operands(op); i++) {
			const struct access *access = op_operand(op, i);
			const struct region *box = i < op->read_count ? &compute->reads[i]->region
								      : &compute->write->region;
			const struct layout *layout =
				&replay->plan->workload->tensors[access->tensor].layout;
			assert_int_equal(box->tensor, access->tensor);
			for (int d = 0; d < box->rank; d++) {
				int h = layout->host_dim[d];
				int64_t x = h < 0 ? 0 : access->host[h].offset;
				for (int l = 0; h >= 0 && l < op->loop_count; l++)
					x += access->host[h].coefficient[l] * at[l];
				if (layout->part[d] == PART_STICK_OUTER)
					x /= layout->per_stick;
				assert_in_range(
					x, box->first[d], box->first[d] + box->count[d] - 1);
			}
		}
		more = false;
		for (int l = op->loop_count - 1; l >= 0 && !more; l--) {
			more = ++at[l] < compute->first[l] + compute->count[l];
			if (!more)
				at[l] = compute->first[l];
		}
	}
}

/* An opaque op reads whole tensors in HBM, and writes its results there. */
static void run_opaque(struct replay *replay, int64_t i)
{
	const struct workload *workload = replay->plan->workload;
	const struct compute *compute = replay->program->instructions[i].compute;
	const struct op *op = &workload->ops[compute->op];
	for (int o = 0; o < op_operands(op); o++) {
		bool write = o >= op->read_count;
		int tensor = op_operand(op, o)->tensor;
		int64_t sticks = workload->tensors[tensor].layout.sticks;
		assert_int_equal(compute->whole[o].tensor, tensor);
		assert_int_equal(compute->whole[o].bytes, sticks * GRANULE);
		for (int64_t s = 0; s < sticks; s++) {
			touch(replay, i, REPLAY_CORES, compute->whole[o].address + s * GRANULE,
				write, (struct content){tensor_home(workload, tensor), false, s});
			if (write) {
				replay->made[tensor][s]++;
				replay->sent[tensor][s]++;
			}
		}
	}
}

static void run_compute(struct replay *replay, int64_t i, int core)
{
	const struct compute *compute = replay->program->instructions[i].compute;
	const struct op *op = &replay->plan->workload->ops[compute->op];
	if (op->primitive->kind == OP_OPAQUE) {
		run_opaque(replay, i);
		return;
	}
	visit_elements(replay, compute);
	for (int r = 0; r < compute->read_count; r++) {
		const struct operand_box *read = compute->reads[r];
		touch_box(replay, i, core, &read->region, &read->lx, false, read->region.tensor,
			false, NULL);
	}
	const struct region *box = &compute->write->region;
	if (compute->accumulator_read)
		touch_box(
			replay, i, core, box, compute->accumulator, false, box->tensor, true, NULL);
	if (compute->accumulator_write)
		touch_box(
			replay, i, core, box, compute->accumulator, true, box->tensor, true, NULL);
	if (compute->finish)
		touch_box(replay, i, core, box, &compute->write->lx, true, box->tensor, false,
			replay->made[box->tensor]);
}

static void run_combine(struct replay *replay, int64_t i)
{
	const struct combine *combine = replay->program->instructions[i].combine;
	const struct region *box = &combine->region;
	uint64_t mask = 0;
	for (int k = 0; k < combine->core_count; k++) {
		mask |= UINT64_C(1) << combine->cores[k];
		touch_box(replay, i, combine->cores[k], box, &combine->accumulator, false,
			box->tensor, true, NULL);
	}
	assert_true(mask == replay->program->instructions[i].mask);
	touch_box(replay, i, combine->cores[combine->core_count - 1], box, &combine->output, true,
		box->tensor, false, replay->made[box->tensor]);
}

static void run(struct replay *replay, int64_t i)
{
	const struct instruction *instruction = &replay->program->instructions[i];
	const struct transfer *transfer = instruction->transfer;
	int core =
		instruction->mask ? __builtin_ctzll(instruction->mask) : -1; /* a SYNC has none */
	switch (instruction->engine) {
	case ENGINE_DMA_IN:
		touch_box(replay, i, REPLAY_CORES, &transfer->box->region, &transfer->hbm, false,
			tensor_home(replay->plan->workload, transfer->box->region.tensor), false,
			NULL);
		for (int c = 0; c < REPLAY_CORES; c++) {
			if (instruction->mask >> c & 1)
				touch_box(replay, i, c, &transfer->box->region, &transfer->box->lx,
					true, transfer->lx_tensor, false, NULL);
		}
		break;
	case ENGINE_DMA_OUT:
		assert_true(instruction->mask == UINT64_C(1) << core);
		touch_box(replay, i, core, &transfer->box->region, &transfer->box->lx, false,
			transfer->lx_tensor, false, NULL);
		touch_box(replay, i, REPLAY_CORES, &transfer->box->region, &transfer->hbm, true,
			transfer->box->region.tensor, false,
			replay->sent[transfer->box->region.tensor]);
		break;
	case ENGINE_COMPUTE:
		assert_true(instruction->mask == UINT64_C(1) << core);
		run_compute(replay, i, core);
		break;
	case ENGINE_RING:
		run_combine(replay, i);
		break;
	default:
		break;
	}
}

static void open_memories(struct replay *replay)
{
	const struct program *program = replay->program;
	for (int m = 0; m <= REPLAY_CORES; m++) {
		int64_t lx = arch_lx(program->arch)->capacity;
		replay->granules[m] = (m < REPLAY_CORES ? lx : program->hbm_bytes) / GRANULE;
		replay->memories[m] =
			arena_array(replay->arena, struct granule, replay->granules[m]);
		for (int64_t g = 0; g < replay->granules[m]; g++) {
			replay->memories[m][g].content.tensor = -1;
			replay->memories[m][g].writer = -1;
		}
	}
	fill_hbm(replay);
}

struct replay *replay_run(
	struct arena *arena, const struct plan *plan, const struct program *program)
{
	struct replay *replay = arena_new(arena, struct replay);
	const struct workload *workload = plan->workload;
	*replay = (struct replay){
		.arena = arena,
		.plan = plan,
		.program = program,
		.touches = arena_alloc_array(
			arena, program->instruction_count, sizeof *replay->touches),
		.made = arena_array(arena, int64_t *, workload->tensor_count),
		.sent = arena_array(arena, int64_t *, workload->tensor_count),
		.computed = arena_array(arena, uint8_t *, workload->op_count),
	};
	for (size_t t = 0; t < workload->tensor_count; t++) {
		replay->made[t] = arena_array(arena, int64_t, workload->tensors[t].layout.sticks);
		replay->sent[t] = arena_array(arena, int64_t, workload->tensors[t].layout.sticks);
	}
	for (size_t o = 0; o < workload->op_count; o++)
		replay->computed[o] = arena_array(arena, uint8_t, op_points(&workload->ops[o]) + 1);
	replay->order = naive_happens_make(arena, program);
	open_memories(replay);
	for (size_t i = 0; i < program->instruction_count; i++)
		run(replay, (int64_t)i);
	return replay;
}

bool replay_conflict(const struct replay *replay, int64_t a, int64_t b)
{
	for (size_t i = 0; i < replay->touches[a].count; i++) {
		const struct touch *one = &replay->touches[a].at[i];
		for (size_t j = 0; j < replay->touches[b].count; j++) {
			const struct touch *other = &replay->touches[b].at[j];
			if (one->space == other->space && one->granule == other->granule &&
				(one->write || other->write))
				return true;
		}
	}
	return false;
}
