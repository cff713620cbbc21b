#include "sim/transfer/copy_expected.h"

#include "sim/transfer/copy_combine.h"

#include <string.h>

/* An element of a buffer that had values at first. */
static void take(const struct copy_run *run, int buffer, const int64_t at[BROADCAST_RANK],
	int64_t shift, uint8_t *out)
{
	int64_t shifted[BROADCAST_RANK];
	memcpy(shifted, at, sizeof shifted);
	shifted[3] += shift;
	memcpy(out, copy_memory_at(run, buffer, shifted),
		(size_t)element_bytes(run->program->element));
}

/* Where the block of a member of the group comes from: what was copied into it, or itself. */
static int block_of(const struct copy_run *run, int member)
{
	const struct copy_program *program = run->program;
	int group = operation_is_pair(program->broadcast->operation)
			    ? 1
			    : (int)program->broadcast->ranks;
	int buffer = 1 + member;
	if (!program->buffers[buffer].written)
		return buffer;
	for (int other = 1 + group; other < program->buffer_count; other++)
		if (program->buffers[other].rank == program->buffers[buffer].rank)
			return other;
	return buffer;
}

static void reduce(const struct copy_run *run, const int64_t at[BROADCAST_RANK], uint8_t *out)
{
	const struct broadcast *b = run->program->broadcast;
	uint8_t value[8];
	take(run, block_of(run, (int)b->root), at, 0, out);
	for (int r = 0; r < b->ranks; r++) {
		if (r == b->root)
			continue;
		take(run, block_of(run, r), at, 0, value);
		copy_combine(run->program->element, b->reduction, out, value, 1);
	}
}

void copy_expected(
	const struct copy_run *run, int buffer, const int64_t at[BROADCAST_RANK], uint8_t *out)
{
	const struct broadcast *b = run->program->broadcast;
	int64_t rows = broadcast_block(b)[3];
	if (buffer > 0 && operation_pulls(b->operation))
		take(run, block_of(run, buffer - 1), at, 0, out);
	else if (buffer > 0)
		take(run, 0, at, b->operation == OPERATION_SCATTER ? (buffer - 1) * rows : 0, out);
	else if (b->operation == OPERATION_REDUCE)
		reduce(run, at, out);
	else if (b->operation == OPERATION_GATHER)
		take(run, block_of(run, (int)(at[3] / rows)), at, -(at[3] / rows * rows), out);
	else
		take(run, block_of(run, 0), at, 0, out);
	if (buffer > 0 && b->adds)
		copy_combine(run->program->element, REDUCTION_SUM, out,
			copy_memory_given(run, buffer, at), 1);
}
