#include "tests/support/naive_order.h"

#include "base/arena.h"
#include "base/array.h"

#include <stdlib.h>

/* One stick that an instruction touches; memory -1 is HBM. */
struct touched {
	uint32_t instruction;
	int memory;
	int64_t address;
	bool writes;
};

struct naive_order {
	const struct program *program;
	size_t count;
	bool *before; /* [a * count + b]: a ends before b starts */
	struct array(struct touched) touched;
};

static void touch_box(struct arena *arena, struct naive_order *order, uint32_t i, int memory,
	bool writes, const struct region *region, const struct location *location, int64_t unit)
{
	int64_t at[REGION_RANK_MOST] = {0};
	for (int d = 0; d >= 0;) {
		int64_t address = location->address;
		for (d = 0; d < region->rank; d++)
			address += at[d] * location->stride[d];
		for (int64_t piece = 0; piece < unit; piece += STICK_BYTES)
			*array_add(arena, &order->touched) =
				(struct touched){i, memory, address + piece, writes};
		for (d = region->rank - 1; d >= 0 && ++at[d] == region->count[d]; d--)
			at[d] = 0;
	}
}

static int64_t accumulator_unit(const struct program *program, int tensor)
{
	return 4 * (int64_t)program->workload->tensors[tensor].layout.per_stick;
}

/* An opaque op: whole tensors in HBM. */
static void touch_whole(struct arena *arena, struct naive_order *order, uint32_t i)
{
	const struct compute *compute = order->program->instructions[i].compute;
	const struct workload *workload = order->program->workload;
	const struct op *op = &workload->ops[compute->op];
	for (int o = 0; o < op_operands(op); o++) {
		const struct whole_operand *whole = &compute->whole[o];
		for (int64_t at = 0; at < whole->bytes; at += STICK_BYTES)
			*array_add(arena, &order->touched) =
				(struct touched){i, -1, whole->address + at, o >= op->read_count};
	}
}

static void touch_compute(struct arena *arena, struct naive_order *order, uint32_t i, int core)
{
	const struct compute *compute = order->program->instructions[i].compute;
	if (compute->whole)
		touch_whole(arena, order, i);
	for (int r = 0; r < compute->read_count; r++)
		touch_box(arena, order, i, core, false, &compute->reads[r]->region,
			&compute->reads[r]->lx, STICK_BYTES);
	if (!compute->write)
		return;
	const struct region *region = &compute->write->region;
	int64_t unit = accumulator_unit(order->program, region->tensor);
	if (compute->accumulator_read)
		touch_box(arena, order, i, core, false, region, compute->accumulator, unit);
	if (compute->accumulator_write)
		touch_box(arena, order, i, core, true, region, compute->accumulator, unit);
	if (compute->finish)
		touch_box(arena, order, i, core, true, region, &compute->write->lx, STICK_BYTES);
}

static void touch_all(struct arena *arena, struct naive_order *order, uint32_t i)
{
	const struct instruction *instruction = &order->program->instructions[i];
	const struct transfer *transfer = instruction->transfer;
	const struct combine *combine = instruction->combine;
	bool in = instruction->engine == ENGINE_DMA_IN;
	if (in || instruction->engine == ENGINE_DMA_OUT) {
		touch_box(arena, order, i, -1, !in, &transfer->box->region, &transfer->hbm,
			STICK_BYTES);
		for (int core = 0; core < PROGRAM_CORES_MOST; core++) {
			if (instruction->mask >> core & 1)
				touch_box(arena, order, i, core, in, &transfer->box->region,
					&transfer->box->lx, STICK_BYTES);
		}
	} else if (instruction->engine == ENGINE_COMPUTE) {
		touch_compute(arena, order, i, __builtin_ctzll(instruction->mask));
	} else if (instruction->engine == ENGINE_UP || instruction->engine == ENGINE_DOWN) {
		const struct send *send = instruction->send;
		if (!send->from)
			return;
		touch_box(arena, order, i, __builtin_ctzll(instruction->mask), false,
			&send->from->region, &send->from->lx, STICK_BYTES);
		for (uint64_t m = send->receivers; m; m &= m - 1)
			touch_box(arena, order, i, __builtin_ctzll(m), true, &send->to->region,
				&send->to->lx, STICK_BYTES);
	} else if (instruction->engine == ENGINE_RING) {
		for (int k = 0; k < combine->core_count; k++)
			touch_box(arena, order, i, combine->cores[k], false, &combine->region,
				&combine->accumulator,
				accumulator_unit(order->program, combine->region.tensor));
		touch_box(arena, order, i, combine->cores[combine->core_count - 1], true,
			&combine->region, &combine->output, STICK_BYTES);
	}
}

static int compare_places(const void *one, const void *two)
{
	const struct touched *a = one, *b = two;
	if (a->memory != b->memory)
		return a->memory < b->memory ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

struct naive_order *naive_order(struct arena *arena, const struct program *program)
{
	struct naive_order *order = arena_new(arena, struct naive_order);
	size_t n = program->instruction_count;
	order->program = program;
	order->count = n;
	order->before = arena_array(arena, bool, n *n);
	for (size_t b = 0; b < n; b++) {
		const struct instruction *instruction = &program->instructions[b];
		for (size_t k = 0; k < instruction->dependence_count; k++)
			order->before[instruction->dependences[k] * n + b] = true;
		for (size_t a = 0; a < b; a++) {
			const struct instruction *other = &program->instructions[a];
			if (other->engine == instruction->engine &&
				(other->mask & instruction->mask))
				order->before[a * n + b] = true;
		}
		touch_all(arena, order, (uint32_t)b);
	}
	qsort(order->touched.at, order->touched.count, sizeof *order->touched.at, compare_places);
	for (size_t via = 0; via < n; via++)
		for (size_t a = 0; a < n; a++)
			for (size_t b = 0; order->before[a * n + via] && b < n; b++)
				order->before[a * n + b] |= order->before[via * n + b];
	return order;
}

static enum order_change compare_pair(const struct naive_order *mutant, const uint32_t *origin,
	const struct naive_order *original, size_t i, size_t j)
{
	size_t n = mutant->count;
	if (!mutant->before[i * n + j] && !mutant->before[j * n + i])
		return ORDER_LOST;
	bool first = original->before[origin[i] * n + origin[j]];
	return first == mutant->before[i * n + j] ? ORDER_KEPT : ORDER_REVERSED;
}

enum order_change naive_order_compare(const struct naive_order *mutant, const uint32_t *origin,
	const struct naive_order *original)
{
	enum order_change worst = ORDER_KEPT;
	for (size_t i = 0; i < mutant->count; i++) {
		if (mutant->before[i * mutant->count + i])
			return ORDER_LOST;
	}
	for (size_t s = 0; s < mutant->touched.count; s++) {
		const struct touched *a = &mutant->touched.at[s];
		for (size_t t = s; t-- > 0;) {
			const struct touched *b = &mutant->touched.at[t];
			if (a->memory != b->memory || a->address != b->address)
				break;
			if (a->instruction == b->instruction || !(a->writes || b->writes))
				continue;
			enum order_change change = compare_pair(
				mutant, origin, original, a->instruction, b->instruction);
			worst = change > worst ? change : worst;
		}
	}
	return worst;
}
