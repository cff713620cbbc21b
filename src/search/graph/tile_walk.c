#include "search/graph/tile_walk.h"

#include "base/array.h"
#include "constraints/constraints.h"
#include "model/graph/box_nest.h"

#include <stdlib.h>
#include <string.h>

struct tile_vectors array(struct tile_vector);

/* Every number of tiles that some choice of factors gives, ascending. */
static struct divisors list_tile_counts(const struct tile_walk *walk)
{
	int64_t *list = arena_array(walk->arena, int64_t, 1);
	size_t count = 1;
	list[0] = 1;
	for (int l = 0; l < walk->traffic.nest.loop_count; l++) {
		const struct divisors *factors = &walk->factors[l];
		if (factors->count == 1)
			continue;
		int64_t *longer = arena_array(walk->arena, int64_t, count * factors->count);
		size_t more = 0;
		for (size_t i = 0; i < count; i++)
			for (size_t j = 0; j < factors->count; j++)
				if (number_mul(list[i], factors->at[j], &longer[more]))
					more++;
		list = longer;
		count = number_distinct(longer, more);
	}
	return (struct divisors){list, count};
}

/* Factors of loops l, l + 1, .. whose product is `rest`, lexicographically. */
static void list_vectors(const struct tile_walk *walk, int l, int64_t rest,
	struct tile_vector *open, struct tile_vectors *out)
{
	if (l == walk->traffic.nest.loop_count) {
		if (rest != 1)
			return;
		open->rank = out->count;
		*array_add(walk->arena, out) = *open;
		return;
	}
	int64_t passes = open->passes;
	for (size_t i = 0; i < walk->factors[l].count; i++) {
		int64_t factor = walk->factors[l].at[i];
		if (factor > rest)
			break;
		if (rest % factor)
			continue;
		open->tiles[l] = factor;
		open->passes = walk->traffic.nest.loops[l].reduction ? passes * factor : passes;
		list_vectors(walk, l + 1, rest / factor, open, out);
	}
	open->passes = passes;
}

static int by_passes(const void *a, const void *b)
{
	const struct tile_vector *x = a, *y = b;
	if (x->passes != y->passes)
		return x->passes < y->passes ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The next permutation in lexicographic order; false after the last. */
static bool tile_walk_permute(int *list, int count)
{
	int i = count - 2, j = count - 1;
	while (i >= 0 && list[i] > list[i + 1])
		i--;
	if (i < 0)
		return false;
	while (list[j] < list[i])
		j--;
	int kept = list[i];
	list[i] = list[j];
	list[j] = kept;
	for (i++, j = count - 1; i < j; i++, j--) {
		kept = list[i];
		list[i] = list[j];
		list[j] = kept;
	}
	return true;
}

/* Loops that move the same operands can change places: only one of these orders counts. */
static bool is_canonical(const struct tile_walk *walk, const int *list, int count)
{
	for (int i = 0; i < count && !walk->question->constraints; i++)
		for (int j = i + 1; j < count; j++)
			if (list[i] > list[j] &&
				walk->signature[list[i]] == walk->signature[list[j]])
				return false;
	return true;
}

/* Tiled loops of a kind, ascending, then, at *end, the whole ones. */
static int list_loops(const struct tile_walk *walk, bool reductions, int *list, int *tiled)
{
	int count = 0;
	for (int whole = 0; whole < 2; whole++) {
		for (int l = 0; l < walk->traffic.nest.loop_count; l++) {
			const struct loopnest_loop *loop = &walk->traffic.nest.loops[l];
			if (loop->reduction == reductions && (loop->tiles == 1) == whole)
				list[count++] = l;
		}
		if (!whole)
			*tiled = count;
	}
	return count;
}

/* True if constraints are about what the tiles decide: loops at the home, and, where an ideal array has
 * none, those at the scratchpad. */
static bool is_decided(const struct op_question *question, const struct constraint *constraint)
{
	const struct arch *arch = question->arch;
	return constraint->part == PART_TEMPORAL &&
	       (constraint->row == arch->hbm ||
		       (constraint->row == arch->lx && !op_has_inner_nest(arch, question->op)));
}

/* True if the tiles and the order that are set keep the constraints. */
static bool tile_walk_keeps(struct tile_walk *walk)
{
	const struct op_question *question = walk->question;
	const struct constraints *constraints = question->constraints;
	if (!constraints || !constraints->problem)
		return true;
	struct arena_mark mark = arena_mark(walk->arena);
	struct mapping mapping = *question->mapping;
	struct mapping_row *row = &mapping.rows[question->arch->lx];
	for (int l = 0; l < walk->traffic.nest.loop_count; l++) {
		row->temporal[l] = (uint32_t)walk->traffic.nest.loops[l].tiles;
		row->temporal_order[l] = (uint8_t)walk->traffic.nest.order[l];
	}
	struct mapping nest = box_nest(question->arch, question->workload, question->op,
		constraints->problem->shape, &mapping);
	bool good = true;
	for (size_t i = 0; good && i < constraints->count; i++)
		good = !is_decided(question, &constraints->at[i]) ||
		       !constraints_check_one(
			       constraints, i, constraints->problem, &nest, walk->arena);
	walk->constrained |= !good;
	arena_release(walk->arena, mark);
	return good;
}

void tile_walk_orders(struct tile_walk *walk, tile_visit *visit, void *context)
{
	int outer[OP_LOOPS_MOST], inner_tiled, outer_tiled;
	int *inner = walk->traffic.nest.order;
	int reductions = list_loops(walk, true, inner, &inner_tiled);
	int others = list_loops(walk, false, outer, &outer_tiled), kept[OP_LOOPS_MOST];
	memcpy(kept, outer, sizeof kept);
	do {
		if (!is_canonical(walk, inner, inner_tiled))
			continue;
		memcpy(outer, kept, sizeof outer);
		do {
			if (!is_canonical(walk, outer, outer_tiled))
				continue;
			memcpy(&inner[reductions], outer, (size_t)others * sizeof *outer);
			if (tile_walk_keeps(walk) && !visit(context))
				return;
		} while (tile_walk_permute(outer, outer_tiled));
	} while (tile_walk_permute(inner, inner_tiled));
}

void tile_walk_set(struct tile_walk *walk, const int64_t *tiles)
{
	for (int l = 0; l < walk->traffic.nest.loop_count; l++)
		loopnest_tile(&walk->traffic.nest, l, tiles ? tiles[l] : 1);
}

/* Returns the reads that a loop moves or brings pieces of, as bits; loops of joint dimensions have one of their own. */
static uint32_t find_signature(const struct traffic_op *traffic, int l)
{
	uint32_t signature = 0;
	for (int i = 0; i < traffic->op->read_count; i++) {
		const struct footprint *footprint = &traffic->operands[i];
		if (traffic->arriving.operands >> i & traffic->arriving.follows[i] >> l & 1)
			signature |= 1u << i;
		if (traffic->in_lx >> i & 1)
			continue;
		if (footprint->simple >> l & 1)
			signature |= 1u << i;
		if (footprint->joint >> l & 1)
			signature |= 1u << (OP_READS_MOST + 1 + l);
	}
	return signature;
}

void tile_walk_open(struct tile_walk *walk, const struct op_question *question, struct arena *arena)
{
	struct traffic_op *traffic = &walk->traffic;
	walk->arena = arena;
	walk->question = question;
	traffic_open(traffic, question->arch, question->workload, question->op, question->mapping,
		question->in_lx);
	traffic->arriving = question->arriving;
	uint32_t whole = traffic->operands[traffic->op->read_count].joint;
	for (int l = 0; l < traffic->nest.loop_count; l++) {
		const struct loopnest_loop *loop = &traffic->nest.loops[l];
		walk->factors[l] =
			number_divisors(arena, whole >> l & 1 ? 1 : loop->units / loop->split);
		walk->signature[l] = find_signature(traffic, l);
	}
}

void tile_walk_each(struct tile_walk *walk, tile_vector_visit *visit, void *context)
{
	struct divisors counts = list_tile_counts(walk);
	struct tile_vectors vectors = {0};
	bool goes_on = true;
	for (size_t i = 0; i < counts.count && goes_on; i++) {
		struct tile_vector open = {.tile_count = counts.at[i], .passes = 1};
		vectors.count = 0;
		list_vectors(walk, 0, counts.at[i], &open, &vectors);
		qsort(vectors.at, vectors.count, sizeof *vectors.at, by_passes);
		goes_on = visit(context, NULL);
		for (size_t v = 0; v < vectors.count && goes_on; v++)
			goes_on = visit(context, &vectors.at[v]);
	}
}
