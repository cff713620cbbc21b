#include "solvers/place/pack_pairs.h"

#include "base/array.h"

#include <stdbool.h>
#include <stdlib.h>

/* Up to so many sizes all parts of them are looked at, otherwise those of a few. */
enum { SIZES_MOST = 14, SOME_MOST = 20, SUMS_MOST = 20000, PAIRS_MOST = 20000 };

struct sum {
	int64_t sum;
	uint64_t part;
	int rank;
};

struct sums {
	int count;
	struct sum *at;
};

static int count_bits(uint64_t bits)
{
	return __builtin_popcountll(bits);
}

static int compare_ranks(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;
	if (a->rank != b->rank)
		return a->rank - b->rank;
	return (a->part > b->part) - (a->part < b->part);
}

static int compare_sums(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;
	if (a->sum != b->sum)
		return a->sum < b->sum ? -1 : 1;
	return compare_ranks(left, right);
}

static int compare_pairs(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;
	int low = __builtin_ctzll(a->ends), other_low = __builtin_ctzll(b->ends);
	if (low != other_low)
		return low - other_low;
	int size = count_bits(a->ends) + count_bits(a->begins);
	int other_size = count_bits(b->ends) + count_bits(b->begins);
	if (size != other_size)
		return size - other_size;
	if (a->ends != b->ends)
		return a->ends < b->ends ? -1 : 1;
	return (a->begins > b->begins) - (a->begins < b->begins);
}

/* All parts with at most `most` sizes more, from size k on. */
static void add_sums(
	struct sums *sums, const int64_t *sizes, int count, int k, struct sum sum, int most)
{
	if (sum.part && sums->count < SUMS_MOST)
		sums->at[sums->count++] = sum;
	for (; most > 0 && k < count; k++) {
		struct sum more = {sum.sum + sizes[k], sum.part | UINT64_C(1) << k, 0};
		add_sums(sums, sizes, count, k + 1, more, most - 1);
	}
}

static struct sums find_sums(const int64_t *sizes, int count, struct arena *arena)
{
	bool is_small = count <= SIZES_MOST;
	int most = is_small ? 1 << count : 2 * SUMS_MOST + 1;
	struct sums sums = {0, arena_array(arena, struct sum, most)};
	add_sums(&sums, sizes, count, 0, (struct sum){0},
		is_small             ? count
		: count <= SOME_MOST ? 4
				     : 3);
	struct sum all = {0};
	for (int k = 0; k < count; k++)
		all = (struct sum){all.sum + sizes[k], all.part | UINT64_C(1) << k, 0};
	for (int k = 0, parts = sums.count; !is_small && k < parts; k++)
		sums.at[sums.count++] =
			(struct sum){all.sum - sums.at[k].sum, all.part & ~sums.at[k].part, 0};
	if (!is_small)
		sums.at[sums.count++] = all;
	for (int k = 0; k < sums.count; k++) {
		int size = count_bits(sums.at[k].part);
		sums.at[k].rank = size < count - size ? size : count - size;
	}
	return sums;
}

/* The first sum that is no less. */
static int find_first(const struct sums *sums, int64_t sum)
{
	int low = 0, high = sums->count;
	while (low < high) {
		int middle = (low + high) / 2;
		if (sums->at[middle].sum < sum)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct pairs pairs_find(const int64_t *ends, int end_count, const int64_t *begins, int begin_count,
	struct arena *arena)
{
	struct arena *scratch = arena_open();
	struct sums left = find_sums(ends, end_count, scratch);
	struct sums right = find_sums(begins, begin_count, scratch);
	struct array(struct pair) all = {0};
	if (left.count)
		qsort(left.at, (size_t)left.count, sizeof *left.at, compare_ranks);
	if (right.count)
		qsort(right.at, (size_t)right.count, sizeof *right.at, compare_sums);
	for (int k = 0; k < left.count && all.count < PAIRS_MOST; k++)
		for (int r = find_first(&right, left.at[k].sum);
			r < right.count && right.at[r].sum == left.at[k].sum; r++)
			*array_add(scratch, &all) =
				(struct pair){left.at[k].part, right.at[r].part};
	if (all.count)
		qsort(all.at, all.count, sizeof *all.at, compare_pairs);
	struct pairs pairs = {.at = arena_copy(arena, all.at, all.count * sizeof *all.at)};
	int at = 0;
	for (int k = 0; k <= SIDE_MOST + 1; k++) {
		pairs.first[k] = at;
		while (at < (int)all.count && __builtin_ctzll(all.at[at].ends) == k)
			at++;
	}
	arena_close(scratch);
	return pairs;
}
