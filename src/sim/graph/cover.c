#include "sim/graph/cover.h"

#include "base/arena.h"
#include "base/random.h"

/* For one op: sums[l][i] is the sum of the numbers of loop l's indices below i. */
struct cover_table {
	bool known;
	uint64_t *sums[OP_LOOPS_MOST];
};

struct cover {
	const struct workload *workload;
	struct arena *arena;
	struct cover_table *tables;
};

struct cover *cover_open(const struct workload *workload, struct arena *arena)
{
	struct cover *cover = arena_new(arena, struct cover);
	cover->workload = workload;
	cover->arena = arena;
	cover->tables = arena_array(arena, struct cover_table, workload->op_count);
	return cover;
}

static const struct cover_table *find_table(struct cover *cover, int number)
{
	const struct op *op = &cover->workload->ops[number];
	struct cover_table *table = &cover->tables[number];
	if (table->known)
		return table;
	table->known = true;
	for (int l = 0; l < op->loop_count; l++) {
		if (!op->loops[l].reduction)
			continue;
		struct random random = random_open((uint64_t)number, (uint64_t)l);
		uint64_t *sums = arena_array(cover->arena, uint64_t, op->loops[l].extent + 1);
		for (int64_t i = 0; i < op->loops[l].extent; i++)
			sums[i + 1] = sums[i] + (random_next(&random) | 1);
		table->sums[l] = sums;
	}
	return table;
}

uint64_t cover_part(struct cover *cover, const struct compute *compute)
{
	const struct op *op = &cover->workload->ops[compute->op];
	const struct cover_table *table = find_table(cover, compute->op);
	uint64_t part = 1;
	for (int l = 0; l < op->loop_count; l++) {
		const uint64_t *sums = table->sums[l];
		if (sums)
			part *= sums[compute->first[l] + compute->count[l]] -
				sums[compute->first[l]];
	}
	return part;
}

uint64_t cover_whole(struct cover *cover, int number)
{
	const struct op *op = &cover->workload->ops[number];
	const struct cover_table *table = find_table(cover, number);
	uint64_t whole = 1;
	for (int l = 0; l < op->loop_count; l++) {
		if (table->sums[l])
			whole *= table->sums[l][op->loops[l].extent];
	}
	return whole;
}
