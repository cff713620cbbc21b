#include "base/array.h"
#include "cost/graph/streaming.h"
#include "search/graph/stream.h"

#include <stdlib.h>
#include <string.h>

/*
 * Tilings are tried by ascending number of tiles, then passes, then factors.
 * Of those with the fewest HBM bytes so far only the ones that are faster than
 * all before are worth keeping: the answer is the first that is fast enough, and
 * whatever that means, it is one of these.
 */
struct record {
	int64_t tiles[OP_LOOPS_MOST];
	int order[OP_LOOPS_MOST];
	int64_t cycles, tile_count;
};

struct vector {
	int64_t tiles[OP_LOOPS_MOST];
	int64_t passes;
	size_t rank; /* lexicographic, among those of as many tiles */
};

struct vectors array(struct vector);

struct search {
	struct arena *arena;
	struct traffic_op traffic;
	struct loopnest *nest; /* of the traffic */
	struct divisors factors[OP_LOOPS_MOST];
	uint32_t signature[OP_LOOPS_MOST];
	int64_t room, least_room;
	int64_t least_hbm, best_hbm;
	uint64_t evaluations;
	struct array(struct record) records;
};

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Every number of tiles that some choice of factors gives, ascending. */
static struct divisors list_tile_counts(const struct search *search)
{
	int64_t *list = arena_array(search->arena, int64_t, 1);
	size_t count = 1;
	list[0] = 1;
	for (int l = 0; l < search->nest->loop_count; l++) {
		const struct divisors *factors = &search->factors[l];
		if (factors->count == 1)
			continue;
		int64_t *longer = arena_array(search->arena, int64_t, count * factors->count);
		size_t more = 0, kept = 0;
		for (size_t i = 0; i < count; i++)
			for (size_t j = 0; j < factors->count; j++)
				if (number_mul(list[i], factors->at[j], &longer[more]))
					more++;
		qsort(longer, more, sizeof *longer, by_number);
		for (size_t i = 0; i < more; i++)
			if (i == 0 || longer[i] != longer[kept - 1])
				longer[kept++] = longer[i];
		list = longer;
		count = kept;
	}
	return (struct divisors){list, count};
}

/* Factors of loops l, l + 1, .. whose product is `rest`, lexicographically. */
static void list_vectors(
	const struct search *search, int l, int64_t rest, struct vector *open, struct vectors *out)
{
	if (l == search->nest->loop_count) {
		if (rest != 1)
			return;
		open->rank = out->count;
		*array_add(search->arena, out) = *open;
		return;
	}
	int64_t passes = open->passes;
	for (size_t i = 0; i < search->factors[l].count; i++) {
		int64_t factor = search->factors[l].at[i];
		if (factor > rest)
			break;
		if (rest % factor)
			continue;
		open->tiles[l] = factor;
		open->passes = search->nest->loops[l].reduction ? passes * factor : passes;
		list_vectors(search, l + 1, rest / factor, open, out);
	}
	open->passes = passes;
}

static int by_passes(const void *a, const void *b)
{
	const struct vector *x = a, *y = b;
	if (x->passes != y->passes)
		return x->passes < y->passes ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The next permutation in lexicographic order; false after the last. */
static bool permute(int *list, int count)
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
static bool is_canonical(const struct search *search, const int *list, int count)
{
	for (int i = 0; i < count; i++)
		for (int j = i + 1; j < count; j++)
			if (list[i] > list[j] &&
				search->signature[list[i]] == search->signature[list[j]])
				return false;
	return true;
}

/* Tiled loops of a kind, ascending, then, at *end, the whole ones. */
static int list_loops(const struct search *search, bool reductions, int *list, int *tiled)
{
	int count = 0;
	for (int whole = 0; whole < 2; whole++) {
		for (int l = 0; l < search->nest->loop_count; l++) {
			const struct loopnest_loop *loop = &search->nest->loops[l];
			if (loop->reduction == reductions && (loop->tiles == 1) == whole)
				list[count++] = l;
		}
		if (!whole)
			*tiled = count;
	}
	return count;
}

static bool price(struct search *search, int64_t *best, int *order)
{
	int64_t hbm;
	search->evaluations++;
	if (!streaming_hbm(&search->traffic, &hbm))
		return false;
	if (hbm < *best) {
		*best = hbm;
		memcpy(order, search->nest->order, sizeof search->nest->order);
	}
	return *best <= search->least_hbm;
}

/* The least order of the fewest HBM bytes for the tiles that are set. */
static int64_t find_order(struct search *search, int *order)
{
	int outer[OP_LOOPS_MOST], inner_tiled, outer_tiled;
	int *inner = search->nest->order;
	int reductions = list_loops(search, true, inner, &inner_tiled);
	int others = list_loops(search, false, outer, &outer_tiled), kept[OP_LOOPS_MOST];
	int64_t best = INT64_MAX;
	memcpy(kept, outer, sizeof kept);
	do {
		if (!is_canonical(search, inner, inner_tiled))
			continue;
		memcpy(outer, kept, sizeof outer);
		do {
			if (!is_canonical(search, outer, outer_tiled))
				continue;
			memcpy(&inner[reductions], outer, (size_t)others * sizeof *outer);
			if (price(search, &best, order))
				return best;
		} while (permute(outer, outer_tiled));
	} while (permute(inner, inner_tiled));
	return best;
}

static bool is_faster(const struct search *search, int64_t cycles)
{
	size_t count = search->records.count;
	return count == 0 || cycles < search->records.at[count - 1].cycles;
}

static void set_tiles(struct search *search, const int64_t *tiles)
{
	for (int l = 0; l < search->nest->loop_count; l++)
		loopnest_tile(search->nest, l, tiles ? tiles[l] : 1);
}

static void try_vector(struct search *search, const struct vector *vector, int64_t tile_count)
{
	struct record record = {.tile_count = tile_count};
	int64_t room;
	set_tiles(search, vector->tiles);
	memcpy(record.tiles, vector->tiles, sizeof record.tiles);
	search->evaluations++;
	if (!streaming_room(&search->traffic, &room))
		return;
	search->least_room = number_min(search->least_room, room);
	if (room > search->room)
		return;
	if (search->best_hbm <= search->least_hbm &&
		(!streaming_estimate(&search->traffic, search->best_hbm, &record.cycles) ||
			!is_faster(search, record.cycles)))
		return;
	int64_t hbm = find_order(search, record.order);
	if (hbm > search->best_hbm || !streaming_estimate(&search->traffic, hbm, &record.cycles))
		return;
	if (hbm < search->best_hbm) {
		search->best_hbm = hbm;
		search->records.count = 0;
	}
	if (is_faster(search, record.cycles))
		*array_add(search->arena, &search->records) = record;
}

/* Cycles of the step if everything overlapped; 0: not countable. */
static int64_t find_bound(struct search *search)
{
	int64_t cycles;
	set_tiles(search, NULL);
	return streaming_bound(&search->traffic, search->best_hbm, &cycles) ? cycles : 0;
}

static bool is_settled(struct search *search)
{
	if (search->records.count == 0 || search->best_hbm > search->least_hbm)
		return false;
	int64_t bound = find_bound(search);
	return !is_faster(search, bound + bound / 8);
}

static const struct record *choose(struct search *search)
{
	size_t count = search->records.count, i = 0;
	if (count == 0)
		return NULL;
	int64_t bound = find_bound(search), most = bound + bound / 8;
	if (search->records.at[count - 1].cycles > most)
		most = search->records.at[count - 1].cycles + bound / 16;
	while (search->records.at[i].cycles > most)
		i++;
	return &search->records.at[i];
}

/* Which reads a loop moves; loops of joint dimensions are like no other. */
static uint32_t find_signature(const struct traffic_op *traffic, int l)
{
	uint32_t signature = 0;
	for (int i = 0; i < traffic->op->read_count; i++) {
		const struct footprint *footprint = &traffic->operands[i];
		if (traffic->in_lx >> i & 1)
			continue;
		if (footprint->simple >> l & 1)
			signature |= 1u << i;
		if (footprint->joint >> l & 1)
			signature |= 1u << (OP_READS_MOST + 1 + l);
	}
	return signature;
}

static bool open_search(
	struct search *search, const struct stream_question *question, struct arena *arena)
{
	search->arena = arena;
	search->room = arch_stream_capacity(question->arch);
	search->least_room = search->best_hbm = INT64_MAX;
	traffic_open(&search->traffic, question->arch, question->workload, question->op,
		question->mapping, question->in_lx);
	search->traffic.arriving = question->arriving;
	const struct traffic_op *traffic = &search->traffic;
	search->nest = &search->traffic.nest;
	uint32_t whole = traffic->operands[traffic->op->read_count].joint;
	for (int l = 0; l < search->nest->loop_count; l++) {
		const struct loopnest_loop *loop = &search->nest->loops[l];
		search->factors[l] =
			number_divisors(arena, whole >> l & 1 ? 1 : loop->units / loop->split);
		search->signature[l] = find_signature(traffic, l);
	}
	return streaming_least(&search->traffic, &search->least_hbm);
}

static void try_all(struct search *search)
{
	struct divisors counts = list_tile_counts(search);
	struct vectors vectors = {0};
	for (size_t i = 0; i < counts.count && !is_settled(search); i++) {
		struct vector open = {.passes = 1};
		vectors.count = 0;
		list_vectors(search, 0, counts.at[i], &open, &vectors);
		qsort(vectors.at, vectors.count, sizeof *vectors.at, by_passes);
		for (size_t v = 0; v < vectors.count; v++)
			try_vector(search, &vectors.at[v], counts.at[i]);
	}
}

struct stream_answer stream_tiles(const struct stream_question *question, struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);
	struct search *search = arena_new(arena, struct search);
	struct stream_answer answer = {.least_room = INT64_MAX};
	const struct record *record = NULL;
	if (open_search(search, question, arena)) {
		try_all(search);
		record = choose(search);
	}
	answer.least_room = search->least_room;
	answer.evaluations = search->evaluations;
	if (record) {
		answer.found = true;
		answer.hbm_bytes = search->best_hbm;
		answer.cycles = record->cycles;
		answer.tile_count = record->tile_count;
		memcpy(answer.tiles, record->tiles, sizeof answer.tiles);
		memcpy(answer.order, record->order, sizeof answer.order);
	}
	arena_release(arena, mark);
	return answer;
}
