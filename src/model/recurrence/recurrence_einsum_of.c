#include "base/arena.h"
#include "base/number.h"
#include "model/recurrence/recurrence_einsum.h"

#include <string.h>

static bool too_many(struct arena *arena, const char *name, int loops, const char **why)
{
	*why = arena_format(arena, "'%s' has %d loops, a recurrence at most %d", name, loops,
		RECURRENCE_LOOPS_MOST);
	return false;
}

bool recurrence_einsum_of_shape(struct arena *arena, const struct shape *shape,
	struct recurrence_einsum *einsum, struct recurrence *out, const char **why)
{
	*out = (struct recurrence){.loop_count = shape->dimension_count};
	*einsum = (struct recurrence_einsum){.sum = TERM_ADD};
	if (shape->dimension_count > RECURRENCE_LOOPS_MOST)
		return too_many(arena, shape->name, shape->dimension_count, why);
	for (int d = 0; d < shape->dimension_count; d++)
		out->loops[d] = (struct recurrence_loop){
			shape->dimensions[d].name, 0, shape->dimensions[d].extent};
	for (int written = 0; written < 2; written++)
		for (int t = 0; t < shape->space_count; t++) {
			const struct dataspace *space = &shape->spaces[t];
			if (space->written != written)
				continue;
			struct recurrence_operand *operand =
				&einsum->operands[einsum->operand_count++];
			*operand = (struct recurrence_operand){.name = space->name,
				.rank = space->rank_count,
				.span = space->span};
			for (int k = 0; k < space->rank_count; k++)
				memcpy(operand->place[k].at, space->ranks[k].coefficient,
					sizeof operand->place[k].at);
		}
	return true;
}

bool recurrence_einsum_sum(
	const struct primitive *primitive, bool has_constant, enum term_kind *out)
{
	*out = primitive == &primitive_max   ? TERM_MAX
	       : primitive == &primitive_min ? TERM_MIN
					     : TERM_ADD;
	return primitive->kind == OP_EINSUM || primitive == &primitive_sum || *out != TERM_ADD ||
	       (!has_constant && (primitive == &primitive_mul || primitive == &primitive_clone));
}

bool recurrence_einsum_of_op(struct arena *arena, const struct workload *workload,
	const struct op *op, struct recurrence_einsum *einsum, struct recurrence *out,
	const char **why)
{
	*einsum = (struct recurrence_einsum){0};
	*out = (struct recurrence){.loop_count = op->loop_count};
	if (!recurrence_einsum_sum(op->primitive, op->has_constant, &einsum->sum)) {
		*why = arena_format(
			arena, "'%s' is no sum of products, and no sum, max or min", op->name);
		return false;
	}
	if (op->loop_count > RECURRENCE_LOOPS_MOST)
		return too_many(arena, op->name, op->loop_count, why);
	for (int l = 0; l < op->loop_count; l++)
		out->loops[l] = (struct recurrence_loop){op->loops[l].name, 0, op->loops[l].extent};
	einsum->operand_count = op_operands(op);
	for (int i = 0; i < einsum->operand_count; i++) {
		const struct access *access = op_operand(op, i);
		const struct tensor *tensor = &workload->tensors[access->tensor];
		struct recurrence_operand *operand = &einsum->operands[i];
		*operand = (struct recurrence_operand){
			.name = tensor->name, .rank = tensor->layout.host_rank, .span = op->span};
		for (int k = 0; k < operand->rank; k++) {
			operand->place[k].constant = access->host[k].offset;
			memcpy(operand->place[k].at, access->host[k].loop,
				sizeof operand->place[k].at);
		}
	}
	return true;
}

void recurrence_einsum_squeeze(struct recurrence_einsum *einsum, struct recurrence *recurrence)
{
	int kept = 0;
	for (int i = 0; i < recurrence->loop_count; i++) {
		const struct recurrence_loop loop = recurrence->loops[i];
		/* The last one stays: a recurrence has a loop. */
		bool goes = loop.extent == 1 && recurrence->loop_count - i + kept > 1;
		for (int t = 0; t < einsum->operand_count; t++)
			for (int k = 0; k < einsum->operands[t].rank; k++) {
				struct loop_sum *place = &einsum->operands[t].place[k];
				int64_t by = place->at[i];
				place->at[i] = 0;
				if (goes)
					place->constant += by * loop.least;
				else
					place->at[kept] = by;
			}
		if (!goes)
			recurrence->loops[kept++] = loop;
	}
	recurrence->loop_count = kept;
}

bool recurrence_einsum_split(struct arena *arena, struct recurrence_einsum *einsum,
	struct recurrence *recurrence, int loop, int64_t size, const char **why)
{
	struct recurrence_loop *inner = &recurrence->loops[loop];
	int tiles = recurrence->loop_count;
	int64_t extent = inner->extent, least = inner->least;
	if (tiles == RECURRENCE_LOOPS_MOST) {
		*why = "splitting makes a loop more, and there are eight at most";
		return false;
	}
	recurrence->loops[recurrence->loop_count++] = (struct recurrence_loop){
		arena_format(arena, "%s_tile", inner->name), 0, number_ceil_div(extent, size)};
	*inner = (struct recurrence_loop){inner->name, 0, size};
	einsum->splits[einsum->split_count++] =
		(struct recurrence_split){loop, tiles, size, extent};
	for (int i = 0; i < einsum->operand_count; i++)
		for (int k = 0; k < einsum->operands[i].rank; k++) {
			struct loop_sum *place = &einsum->operands[i].place[k];
			place->constant += place->at[loop] * least;
			place->at[tiles] = place->at[loop] * size;
		}
	return true;
}
