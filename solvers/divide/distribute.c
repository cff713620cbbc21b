#include "solvers/divide/distribute.h"

int64_t core_split(int64_t size, int64_t cores)
{
	int64_t split = cores;
	while (split > 1 && size % split)
		split--;
	return split;
}

/* Keeps `list` in descending size, equal sizes in the order they came. */
static void insert(int *list, int *count, const int64_t *size, int l)
{
	int at = (*count)++;
	while (at > 0 && size[list[at - 1]] < size[l]) {
		list[at] = list[at - 1];
		at--;
	}
	list[at] = l;
}

struct priorities priorities_make(
	int loop_count, const int64_t *size, uint32_t output_loops, const int64_t *least)
{
	struct priorities order = {0};
	bool reduction_divided = false;
	for (int l = 0; l < loop_count; l++) {
		bool output = output_loops >> l & 1;
		if (least[l] > 1)
			reduction_divided |= !output;
		else if (output)
			insert(order.output, &order.output_count, size, l);
		else
			insert(order.reduction, &order.reduction_count, size, l);
	}
	if (reduction_divided)
		order.reduction_count = 0;
	return order;
}

static void divide_reduction(
	const struct priorities *order, const int64_t *size, int64_t cores, int64_t *splits)
{
	int best = -1;
	int64_t most = 1;
	for (int i = 0; i < order->reduction_count; i++) {
		int64_t split = core_split(size[order->reduction[i]], cores);
		if (split > most) {
			most = split;
			best = order->reduction[i];
		}
	}
	if (best >= 0)
		splits[best] = most;
}

struct distribution distribute(int loop_count, const int64_t *size, uint32_t output_loops,
	const int64_t *least, int64_t cores)
{
	struct priorities order = priorities_make(loop_count, size, output_loops, least);
	struct distribution given = {.cores = 1};
	for (int l = 0; l < loop_count; l++) {
		given.splits[l] = 1;
		if (least[l] == 1)
			continue;
		if (cores < least[l]) {
			given.dropped |= UINT32_C(1) << l;
			continue;
		}
		given.splits[l] = least[l];
		cores /= least[l];
	}
	for (int i = 0; i < order.output_count; i++) {
		int64_t split = core_split(size[order.output[i]], cores);
		given.splits[order.output[i]] = split;
		cores /= split;
	}
	divide_reduction(&order, size, cores, given.splits);
	for (int l = 0; l < loop_count; l++)
		given.cores *= given.splits[l];
	return given;
}
