#include "model/graph/iteration.h"

#include "base/arena.h"
#include "base/number.h"

static bool read_operands(struct arena *arena, struct iteration *iteration, const char **why)
{
	const struct op *op = iteration->op;
	for (int i = 0; i < iteration->operand_count; i++) {
		const struct access *access = op_operand(op, i);
		const struct tensor *tensor = &iteration->workload->tensors[access->tensor];
		struct coordinates *coordinates = &iteration->coordinates[i];
		iteration->layouts[i] = &tensor->layout;
		*coordinates = coordinates_make(&tensor->layout, op, access);
		const struct coordinate *stick = &coordinates->dims[coordinates->rank - 1];
		if (coordinate_fits_stick(stick, tensor->layout.per_stick))
			continue;
		*why = arena_format(arena,
			"the stick of '%s' is walked by %s; a device can walk a loop, or a loop "
			"modulo %d",
			tensor->name, coordinate_print(arena, op, stick), tensor->layout.per_stick);
		return false;
	}
	return true;
}

static void convert_sticks(struct iteration *iteration)
{
	for (int i = 0; i < iteration->operand_count; i++) {
		const struct coordinates *coordinates = &iteration->coordinates[i];
		const struct coordinate *stick = &coordinates->dims[coordinates->rank - 1];
		if (stick->part_count == 0)
			continue;
		int64_t *elements = &iteration->stick[stick->parts[0].loop];
		*elements = number_max(*elements, iteration->layouts[i]->per_stick);
	}
	for (int l = 0; l < iteration->loop_count; l++)
		iteration->size[l] = iteration->stick[l] ? number_ceil_div(iteration->range[l],
								   iteration->stick[l])
							 : iteration->range[l];
}

static void find_output_loops(struct iteration *iteration)
{
	const struct coordinates *output = &iteration->coordinates[iteration->operand_count - 1];
	for (int d = 0; d < output->rank - 1; d++)
		iteration->output_loops |= coordinate_loops(&output->dims[d]);
	iteration->all_output_loops =
		iteration->output_loops | coordinate_loops(&output->dims[output->rank - 1]);
}

const struct iteration *iteration_make(
	struct arena *arena, const struct workload *workload, const struct op *op, const char **why)
{
	struct iteration *iteration = arena_new(arena, struct iteration);
	iteration->workload = workload;
	iteration->op = op;
	iteration->loop_count = op->loop_count;
	iteration->operand_count = op->read_count + 1;
	for (int l = 0; l < op->loop_count; l++)
		iteration->range[l] = op->loops[l].extent;
	if (!read_operands(arena, iteration, why))
		return NULL;
	convert_sticks(iteration);
	find_output_loops(iteration);
	return iteration;
}

const struct tensor *iteration_tensor(const struct iteration *iteration, int operand)
{
	return &iteration->workload->tensors[op_operand(iteration->op, operand)->tensor];
}

static void share(const struct iteration *iteration, const int64_t *splits, int64_t *count)
{
	for (int l = 0; l < iteration->loop_count; l++)
		count[l] = number_max(iteration->range[l] / splits[l], 1);
}

int iteration_span_dim(const struct iteration *iteration, int operand, const int64_t *splits)
{
	int64_t count[OP_LOOPS_MOST];
	share(iteration, splits, count);
	const struct coordinates *coordinates = &iteration->coordinates[operand];
	for (int d = 0; d < coordinates->rank - 1; d++)
		if (coordinate_values(&coordinates->dims[d], count) > 1)
			return d;
	return -1;
}

int64_t iteration_span(const struct iteration *iteration, int operand, const int64_t *splits)
{
	const struct layout *layout = iteration->layouts[operand];
	int64_t bytes = dtype_host_bytes(layout->dtype);
	int outermost = iteration_span_dim(iteration, operand, splits);
	if (outermost < 0)
		return bytes;
	int64_t count[OP_LOOPS_MOST];
	share(iteration, splits, count);
	const struct coordinate *dim = &iteration->coordinates[operand].dims[outermost];
	if (!number_mul(bytes, coordinate_values(dim, count), &bytes))
		return INT64_MAX;
	for (int d = outermost + 1; d < layout->rank; d++)
		if (!number_mul(bytes, layout->size[d], &bytes))
			return INT64_MAX;
	return bytes;
}
